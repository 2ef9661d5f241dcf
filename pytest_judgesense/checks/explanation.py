"""The explanation of a failing check, in lines of text. Pure.

Text of judges and prompts is untrusted: control characters are escaped.
"""

from __future__ import annotations

import difflib
import shlex
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from pytest_judgesense.checks.evidence import evidence_of, items_of, spread
from pytest_judgesense.checks.outcome import (
    Finding,
    Outcome,
    OutcomeWord,
    Warned,
    below_bar,
    lint_suite,
)
from pytest_judgesense.checks.regression import SESSIONS, Comparison, RegressionOutcome, Side
from pytest_judgesense.datasheet import CheckLine, Gate
from pytest_judgesense.errors import SuiteError, printable
from pytest_judgesense.estimate import Estimate, bar_text, compact, number_text
from pytest_judgesense.layout import columns, excerpt
from pytest_judgesense.limits import json_value
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.evidence import Group
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Failed, Judgment, Trial, Unparsed

# From the id of a trial to what was asked about: a text of its item.
QuestionOf: TypeAlias = Callable[[str], str]
# pytest may indent the text of a failing test by four.
_MARGIN = 4
_LOOK_FURTHER = "  look further: "
_SHOWN_GROUPS = 3
# Characters of a reply in an example, and of what was asked.
_QUOTED = 30
_ASKED = 60
# What may distinguish the trials of an example, in order of preference.
_AXES: Final[Mapping[str, Callable[[Trial], str]]] = {
    "order": lambda trial: f"order {trial.order}",
    "template": lambda trial: str(trial.template),
    "item": lambda trial: str(trial.item),
    "replicate": lambda trial: f"run {trial.replicate}",
}


class Statement(NamedTuple):
    """A check that does not pass, in plain words, one line each.

    Attributes:
        sentence: what the judge does, with numbers.
        measured: the number, its interval and the bar.
        example: one judgment, or several that contradict each other; empty if none is known.
    """

    sentence: str
    measured: str
    example: str


def summary(outcome: Outcome | RegressionOutcome) -> str:
    """One line: the result and the bar."""
    if isinstance(outcome, RegressionOutcome):
        return _regression_summary(outcome)
    return "; ".join(_headline(finding) for finding in outcome.findings)


def statement(
    outcome: Outcome | RegressionOutcome, cell: Cell, question_of: QuestionOf | None = None
) -> Statement:
    """The head of a check that does not pass: a sentence, the numbers and an example.

    ``question_of`` returns what the judge was asked about in a trial, if it is known.
    """
    if isinstance(outcome, RegressionOutcome):
        said = _regression_statement(outcome, question_of)
    else:
        said = _statement(outcome, cell, question_of)
    return Statement(*map(printable, said))


def line_of(
    outcome: Outcome | RegressionOutcome,
    cell: Cell,
    cleaned: Callable[[str], str] = str,
    question_of: QuestionOf | None = None,
    *,
    warned: Warned = "settled",
) -> CheckLine:
    """The outcome of a check as stored in the datasheet; ``cleaned`` removes credentials."""
    check = outcome.check
    said = Statement("", "", "")
    if outcome.outcome != "pass":
        said = statement(outcome, cell, question_of)
    return CheckLine(
        check=check.id,
        measure=check.measure,
        suite=outcome.suite,
        condition=dict(check.narrowed),
        bar=check.bar,
        outcome=outcome.outcome,
        policy=outcome.policy,
        explanation=summary(outcome),
        warnings=warnings_of(outcome, warned),
        gates=tuple(_gates(outcome)),
        limit=check.limit,
        **dict(zip(said._fields, map(cleaned, said), strict=True)),
    )


def warnings_of(outcome: Outcome | RegressionOutcome, warned: Warned) -> tuple[str, ...]:
    """The warnings of an outcome: all, those that need no simulation, or none."""
    return () if warned == "none" else outcome.warnings(settled=warned == "settled")


def _gates(outcome: Outcome | RegressionOutcome) -> Iterator[Gate]:
    if isinstance(outcome, RegressionOutcome):
        then, now = outcome.comparison.old.value, outcome.comparison.new
        if then is not None:
            yield _gate(now, then, "before", outcome.outcome)
        return
    for one in outcome.findings:
        sign: Literal["at least", "at most"] = "at least" if one.floor else "at most"
        yield _gate(one.estimate, one.bar, sign, one.outcome, one.limit)


def _gate(
    now: Estimate,
    bar: float,
    sign: Literal["at least", "at most", "before"],
    word: OutcomeWord,
    limit: float | None = None,
) -> Gate:
    ends = now.clustered
    lower, upper = (ends.lower, ends.upper) if ends else (None, None)
    return Gate(now.measure, dict(now.condition), bar, sign, word, now.value, lower, upper, limit)


def _statement(outcome: Outcome, cell: Cell, question_of: QuestionOf | None) -> Statement:
    open_ = [one for one in outcome.findings if one.outcome != "pass"]
    first = max(
        open_,
        key=lambda one: (one.outcome == "fail", abs((one.estimate.value or 0.0) - one.decisive)),
    )
    estimate = first.estimate
    # A measure of several kinds may have a different sentence on each.
    named = (one for one in cell.measures if one.name == first.measure.name)
    sentence = next(named, first.measure).said_of(estimate)
    beside = [
        one for one in estimate.condition.items() if one not in outcome.check.narrowed.items()
    ]
    if beside and estimate.value is not None:
        sentence += f" ({', '.join(f'{key} {value}' for key, value in beside)})"
    # The sentence says if nothing was measured; other reasons are shown beside it.
    if estimate.value is not None and first.reason:
        sentence += f"; {first.reason}"
    if others := len(open_) - 1:
        sentence += f"; {others} more bar{'s' * (others > 1)} not met"
    title, groups = evidence_of(outcome, cell)
    return Statement(
        sentence,
        _measured(first, outcome.check.narrowed),
        _example(groups[0], question_of) if groups and title else "",
    )


def short_evidence(
    outcome: Outcome | RegressionOutcome,
    cell: Cell,
    look_further: str = "",
    question_of: QuestionOf | None = None,
) -> Iterator[str]:
    """The first trials with question, reply, verdict and label, in a few lines for `explain`."""
    nothing = "no single judgment speaks against it"
    if isinstance(outcome, RegressionOutcome):
        then, now, ids = outcome.old.by_id, outcome.new.by_id, _changed(outcome)
        shown = [now[trial] for trial in ids[:2]]
        before = {trial: f"{said_of(then[trial])} -> " for trial in ids[:2]}
        examples = list(_shown_briefly(shown, question_of, before))
        head = f"another verdict: {len(ids)}" if ids else nothing
    else:
        title, groups = evidence_of(outcome, cell)
        shown = [judgment for group in spread(groups) for judgment in group][:2]
        examples = list(_shown_briefly(shown, question_of))
        head = f"{title}: {len(groups)}"
        if not examples:
            # Nothing was judged: why the calls failed speaks against the check.
            examples = list(failures(cell.judgments))
            failed = sum(isinstance(one.outcome, Failed) for one in cell.judgments)
            head = f"calls that failed: {failed}"
        if not examples:
            # Such as one answer to everything.
            open_ = (one for one in outcome.findings if one.outcome != "pass")
            reasons = (one.reason for one in open_ if one.reason)
            head = "; ".join(dict.fromkeys((nothing, *reasons)))
    yield printable(head)
    yield from (f"  {printable(line)}" for line in examples)
    if look_further:
        yield f"{_LOOK_FURTHER.lstrip()}{look_further}"


def _shown_briefly(
    judgments: Sequence[Judgment],
    question_of: QuestionOf | None,
    before: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[str]:
    """Each judgment with its question and its reply; a question is not repeated."""
    asked_before, width = "", columns() - _MARGIN - 15
    for judgment in judgments:
        trial = judgment.trial.id
        yield f"{trial}: {before.get(trial, '')}{said_of(judgment)}"
        asked = question_of(trial) if question_of else ""
        if asked and asked != asked_before:
            yield f"  asked:   {excerpt(asked, width)}"
        asked_before = asked
        if judgment.reply is not None:
            yield f"  replied: {excerpt(judgment.reply, width) or '(nothing)'}"


def _measured(finding: Finding, narrowed: Mapping[str, Any]) -> str:
    """``jss 0.57 [0.44, 0.69], at least 0.90 wanted``, under the condition of the check."""
    estimate = finding.estimate
    wanted = f"at {'least' if finding.floor else 'most'} {bar_text(finding.bar)} wanted"
    if finding.limit is not None:
        wanted += f", limit {bar_text(finding.limit)}"
    shown = replace(estimate, condition=narrowed)
    if estimate.value is None:
        return f"{_name(shown)} N/A, {wanted}"
    text = f"{_name(shown)} {compact(estimate.value, estimate.flags)}"
    if ends := estimate.clustered:
        lower = compact(ends.lower, estimate.flags, "lower end ")
        upper = compact(ends.upper, estimate.flags, "upper end ")
        text += f" [{lower}, {upper}]"
    text += f", {wanted}"
    missing = estimate.missing
    if (count := missing.unparsed + missing.failed) and missing.lower_bound is not None:
        low, high = compact(missing.lower_bound), compact(missing.upper_bound or 0.0)
        if low != high:
            text += f"; {count} repl{'ies' if count > 1 else 'y'} missing: {low} to {high}"
    return text


def _example(group: Group, question_of: QuestionOf | None) -> str:
    """One group of evidence in a line: an item, its replies and its label, and what was asked."""
    first = group[0]
    if len(group) == 1 and first.verdict is not None and first.reply is not None:
        said = f'replies "{excerpt(first.reply, _QUOTED)}"'
        if first.chosen not in (None, first.verdict):
            said += f", which is {_meant(first, first.chosen)}"
    elif len(group) == 1:
        said = _outcome_words(first)
    else:
        said = _contradiction(group)
    return _in_context(first, said, question_of)


def _in_context(judgment: Judgment, said: str, question_of: QuestionOf | None) -> str:
    """What is ``said`` of a judgment's item, with its label and what was asked about it."""
    trial = judgment.trial
    label = "" if trial.label is None else f", label {_meant(judgment, trial.label)}"
    asked = question_of(trial.id) if question_of else ""
    about = f"; asked: {excerpt(asked, _ASKED)}" if asked else ""
    return f"{trial.item}: {said}{label}{about}"


def _contradiction(group: Group) -> str:
    """What the first judgment of a group says, and the first that contradicts it."""
    first = group[0]
    other = next((one for one in group if one.verdict != first.verdict), group[1])
    axis = next(
        (of for of in _AXES.values() if of(first.trial) != of(other.trial)), _AXES["replicate"]
    )
    words = _unlike(first.verdict, other.verdict) or [_word(one) for one in (first, other)]
    if first.verdict == other.verdict and first.trial.order != other.trial.order:
        replies = "" if words[0] == words[1] else f": {words[0]}, {words[1]}"
        return f"{_verdict_word(first)} in both orders{replies}"
    return f"{axis(first.trial)} gives {words[0]}, {axis(other.trial)} gives {words[1]}"


def _unlike(first: str | None, other: str | None) -> list[str]:
    """The parts in which two verdicts of several parts differ; nothing of other verdicts."""
    try:
        both = [json_value(verdict or "") for verdict in (first, other)]
    except ValueError:
        return []
    if not all(isinstance(parts, dict) for parts in both):
        return []
    names = [name for name in {**both[0], **both[1]} if both[0].get(name) != both[1].get(name)]
    return [", ".join(f"{name} {parts.get(name)}" for name in names) for parts in both if names]


def _verdict_word(judgment: Judgment) -> str:
    return "no verdict" if judgment.verdict is None else excerpt(judgment.verdict, _QUOTED)


def _word(judgment: Judgment) -> str:
    """The verdict, and the reply where it says more."""
    verdict, reply = judgment.verdict, (judgment.reply or "").strip()
    if not reply or (
        verdict and (len(verdict) > _QUOTED or reply.casefold() == verdict.casefold())
    ):
        return _verdict_word(judgment)
    return f'{_verdict_word(judgment)} ("{excerpt(reply, _QUOTED)}")'


def _meant(judgment: Judgment, content: str | None) -> str:
    """A content of a pair as such; a label as it is."""
    is_pair = judgment.chosen is not None and "polarity" not in judgment.trial.condition
    return f"content {content}" if is_pair and content in ("1", "2") else str(content)


def _regression_statement(outcome: RegressionOutcome, question_of: QuestionOf | None) -> Statement:
    compared, name = outcome.comparison, outcome.check.measure
    then, now = (
        "not measured" if value is None else compact(value, flags)
        for value, flags in zip(
            compared.values, (compared.old.flags, compared.new.flags), strict=True
        )
    )
    moved = f"went from {then} to {now}" if then != now else f"stayed at {now}"
    sentence = f"{name} {moved} since the baseline: {outcome.verdict}"
    example = ""
    if changed := _changed(outcome):
        trial = changed[0]
        was, is_now = (_word(side.by_id[trial]) for side in (outcome.old, outcome.new))
        judgment = outcome.new.by_id[trial]
        example = _in_context(judgment, f"{was} before, {is_now} now", question_of)
    return Statement(sentence, _regression_summary(outcome), example)


def _changed(outcome: RegressionOutcome) -> list[str]:
    """The trials whose verdicts changed units for the worse, without duplicates."""
    then, now = outcome.old.by_id, outcome.new.by_id
    trials = dict.fromkeys(trial for unit in outcome.comparison.worse for trial in unit)
    return [one for one in trials if said_of(then[one]) != said_of(now[one])]


def explain(
    outcome: Outcome | RegressionOutcome,
    cell: Cell,
    judge: str,
    prompt_of: Callable[[str], str] | None = None,
    look_further: str = "",
) -> str:
    """Why a check did not pass: estimate, interval, bar, counts, evidence, and where to look.

    ``prompt_of`` returns the prompt of a trial by its id, if prompts are known; ``look_further`` is
    a command that shows more.
    """
    word: str = outcome.outcome
    if isinstance(outcome, RegressionOutcome):
        word, lines = outcome.verdict, _regression_lines(outcome, prompt_of)
    else:
        lines = _lines(outcome, cell, prompt_of)
    head = f"{outcome.check.id} of judge {judge} on {outcome.suite}: {word}"
    said = [statement(outcome, cell).sentence, head, *lines]
    said += [f"{_LOOK_FURTHER}{look_further}"] * bool(look_further)
    return "\n".join(part for line in said for part in _fitted(printable(line)))


def _fitted(line: str) -> list[str]:
    """``line`` wrapped; a command is not wrapped, so that it can be copied."""
    width = columns() - _MARGIN
    if len(line) <= width or line.startswith(_LOOK_FURTHER):
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)


def _lines(outcome: Outcome, cell: Cell, prompt_of: Callable[[str], str] | None) -> Iterator[str]:
    for finding in outcome.findings:
        yield "  " + _headline(finding)
        yield from (f"    {line}" for line in _details(finding))
    for estimate in outcome.beside:
        yield f"  beside it: {_name(estimate)} = {_value(estimate)}"
    yield from (f"  {line}" for line in failures(cell.judgments))
    title, groups = evidence_of(outcome, cell)
    if groups:
        items = items_of(groups)
        yield f"  {title}: {len(groups)}, on {len(items)} item{'s' * (len(items) != 1)}"
        for group in islice(spread(groups), _SHOWN_GROUPS):
            yield from _show(group, prompt_of)
        if len(groups) > _SHOWN_GROUPS:
            yield f"    ... and {len(groups) - _SHOWN_GROUPS} more"


def _name(estimate: Estimate) -> str:
    condition = ", ".join(f"{key}={value}" for key, value in estimate.condition.items())
    return f"{estimate.measure} ({condition})" if condition else estimate.measure


def _value(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"unavailable ({estimate.unavailable})"
    return number_text(estimate.value, estimate.flags)


def _headline(finding: Finding) -> str:
    estimate = finding.estimate
    sign = ">=" if finding.floor else "<="
    text = f"{_name(estimate)} = {_value(estimate)}, wanted {sign} {finding.bar:g}"
    if finding.outcome == "pass":
        return text if finding.limit is None else f"{text}: {_passing(finding, finding.limit)}"
    limit = "" if finding.limit is None else f", limit {finding.limit:g}"
    return f"{text}{limit}: {finding.outcome}"


def _passing(finding: Finding, limit: float) -> str:
    """What passing a limit says of the bar."""
    return below_bar(finding) or f"passes the limit {bar_text(limit)}"


def _details(finding: Finding) -> Iterator[str]:
    estimate, missing = finding.estimate, finding.estimate.missing
    if estimate.value is not None:
        if finding.reason:
            yield finding.reason
        counts = f"{estimate.n} {estimate.unit}s"
        if estimate.count is not None:
            counts = f"{round(estimate.count, 2):.12g} of {counts}"
        if interval := estimate.clustered:
            lower = number_text(interval.lower, estimate.flags, "lower end ")
            upper = number_text(interval.upper, estimate.flags, "upper end ")
            counts += f"; 95% interval [{lower}, {upper}] over {interval.clusters} clusters"
        yield counts
    if missing.unparsed or missing.failed:
        yield f"missing replies: {missing.unparsed} unparsed, {missing.failed} failed"
    # Of a finding that passes its limit the headline says it.
    if (warning := finding.warning()) and warning != below_bar(finding):
        yield warning


def failures(judgments: Iterable[Judgment]) -> Iterator[str]:
    """Why calls failed: the most frequent reasons with counts and one trial each."""
    by_reason: dict[str, list[str]] = {}
    for judgment in judgments:
        if isinstance(judgment.outcome, Failed):
            by_reason.setdefault(judgment.outcome.reason, []).append(judgment.trial.id)
    ranked = sorted(by_reason.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    for reason, trials in ranked[:_SHOWN_GROUPS]:
        yield f"{len(trials)} failed, the first {trials[0]}: {excerpt(reason, 160)}"
    if len(ranked) > _SHOWN_GROUPS:
        yield f"... and {len(ranked) - _SHOWN_GROUPS} more reasons of failed calls"


def _show(group: Group, prompt_of: Callable[[str], str] | None) -> Iterator[str]:
    asked = prompt_of and _differing([prompt_of(judgment.trial.id) for judgment in group])
    # A single call shows its stimulus; for several calls only the difference matters.
    width = (columns() - _MARGIN - 15) * (3 if len(group) == 1 else 1)
    for index, judgment in enumerate(group):
        yield f"    {judgment.trial.id}: {said_of(judgment)}"
        if asked is not None:
            yield f"      asked:   {excerpt(asked[index], width)}"
        if judgment.reply is not None:
            replied = excerpt(judgment.reply, columns() - _MARGIN - 15)
            yield f"      replied: {replied or '(nothing)'}"
        if stated := ", ".join(_numbers(judgment.detail or {})):
            yield f"      stated:  {stated}"


def _numbers(detail: Mapping[str, Any]) -> Iterator[str]:
    """The numbers that a reply states beside its verdict, by their names: measures read them."""
    for name, value in detail.items():
        if isinstance(value, float):
            yield f"{name} {value:g}"
        elif isinstance(value, int) and not isinstance(value, bool):
            yield f"{name} {value}"
        elif isinstance(value, Mapping) and any(isinstance(one, Mapping) for one in value.values()):
            yield from _numbers(value)
        elif isinstance(value, Mapping) and (inner := list(_numbers(value))):
            yield f"{name} {' '.join(inner)}"


def said_of(judgment: Judgment) -> str:
    """What a judgment says, and the label of its trial."""
    label = judgment.trial.label
    beside = "" if label is None else f" (label {_meant(judgment, label)})"
    return f"{_outcome_words(judgment)}{beside}"


def _outcome_words(judgment: Judgment) -> str:
    if isinstance(judgment.outcome, Unparsed):
        return f"unparsed ({excerpt(judgment.outcome.reason, 120)})"
    if isinstance(judgment.outcome, Failed):
        return f"failed ({excerpt(judgment.outcome.reason, 60)})"
    text, means = judgment.outcome.value, judgment.chosen
    return text if means in (None, text) else f"{text}, {_meant(judgment, means)}"


def _differing(prompts: list[str]) -> list[str]:
    """For each prompt the lines in which it differs from the first; all lines of a single prompt.

    If the prompts do not differ, their last lines are shown.
    """
    if len(prompts) == 1:
        return prompts
    lines = [prompt.splitlines() for prompt in prompts]
    shown = []
    for index, prompt in enumerate(lines):
        other = lines[0] if index else lines[1]
        matcher = difflib.SequenceMatcher(a=other, b=prompt, autojunk=False)
        spans = (prompt[a:b] for tag, _, _, a, b in matcher.get_opcodes() if tag != "equal")
        changed = [line for span in spans for line in span if line.strip()]
        shown.append(" / ".join(changed) or " ".join(prompt[-2:]))
    return shown


def _regression_lines(
    outcome: RegressionOutcome, prompt_of: Callable[[str], str] | None
) -> Iterator[str]:
    """The flips first, then the numbers and what changed."""
    compared = outcome.comparison
    title = "another verdict" if compared.better is None else "flipped for the worse"
    for line in flip_lines(compared.worse, title, outcome.old, outcome.new, prompt_of):
        yield f"  {line}"
    yield f"  {_regression_summary(outcome)}"
    yield from (f"  {text}" for text in (*outcome.warnings(), *compared.notes))
    yield "  what changed beside the verdicts:"
    yield from (f"    {line}" for line in outcome.changes or ["nothing that is known", SESSIONS])


def flip_lines(
    groups: Sequence[tuple[str, ...]],
    title: str,
    old: Side,
    new: Side,
    prompt_of: Callable[[str], str] | None = None,
    shown: int = _SHOWN_GROUPS,
) -> Iterator[str]:
    """Groups of trials by their ids, with the old and new verdicts side by side."""
    if not groups:
        return
    items = {new.by_id[ids[0]].trial.item for ids in groups}
    yield f"{title}: {len(groups)}, on {len(items)} item{'s' * (len(items) != 1)}"
    for ids in groups[:shown]:
        prompts = prompt_of and _differing([prompt_of(trial) for trial in ids])
        for index, trial in enumerate(ids):
            then, now = old.by_id[trial], new.by_id[trial]
            yield f"  {trial}: {said_of(then)} -> {said_of(now)}"
            if prompts:
                yield f"    asked: {excerpt(prompts[index], columns() - _MARGIN - 15)}"
            half = (columns() - _MARGIN - 11) // 2
            was, is_now = (excerpt(one.reply or "(no reply)", half) for one in (then, now))
            yield f"    {was:<{half}} | {is_now}"
    if len(groups) > shown:
        yield f"  ... and {len(groups) - shown} more"


def _regression_summary(outcome: RegressionOutcome) -> str:
    """One line: old value, new value, and the verdict on the difference."""
    comparison = outcome.comparison
    text = f"{_difference_text(comparison)}, margin {outcome.margin:g}: {outcome.verdict}"
    tells = outcome.verdict == "unchanged" or comparison.identical
    excluded = comparison.excluded() if tells else ""
    beside = [excluded, _tested(outcome) if comparison.difference else ""]
    said = ", ".join(part for part in beside if part)
    return f"{text} ({said})" if said else text


def _difference_text(comparison: Comparison) -> str:
    """Old value, new value, their difference and its interval."""
    old, new = comparison.old, comparison.new
    values = [
        "unavailable" if value is None else number_text(value, estimate.flags)
        for value, estimate in zip(comparison.values, (old, new), strict=True)
    ]
    text = f"{_name(new)} {values[0]} -> {values[1]}"
    ends = comparison.interval()
    if comparison.identical:
        return f"{text}, no unit changed"
    if comparison.difference is None or ends is None:
        return text
    value = comparison.sign * comparison.difference.value
    return f"{text}, difference {value:+.3f}, 95% interval [{ends[0]:+.3f}, {ends[1]:+.3f}]"


def _tested(outcome: RegressionOutcome) -> str:
    difference, adjusted = outcome.comparison.difference, outcome.adjusted
    assert difference is not None
    parts = [f"over {difference.clusters} clusters"]
    if outcome.comparison.identical:
        return parts[0]
    if difference.better is not None and difference.worse is not None:
        parts.append(f"{difference.worse:g} of {difference.n} worse, {difference.better:g} better")
    word, p = ("gain", adjusted.gain.p) if difference.value > 0 else ("loss", adjusted.loss.p)
    family = f", corrected for {adjusted.tests} comparisons" if adjusted.tests > 1 else ""
    parts.append(f"p {p:.3g} if there were no {word}{family}")
    return ", ".join(parts)


def lint_notices(suite: Suite, registry: Registry) -> tuple[str, ...]:
    """Lint warnings about ``suite``, one sentence each.

    Raises:
        SuiteError: lint finds errors, so the measures would not mean what they say.
    """
    # No text of a built-in suite has a finding: tests see to it, and reading all takes long.
    found = lint_suite(suite, registry, texts=suite.items is not suite.built_in)
    errors = [finding for finding in found if finding.severity == "error"]
    if errors:
        first, *others = errors
        more = [f"{finding.rule}: {finding.where}: {finding.what}" for finding in others]
        raise SuiteError(
            f"lint {first.rule}: suite {suite.name}, {first.where}: {first.what}",
            found="; ".join([first.found, *more]),
            expected=first.expected,
            remedy=f"{first.remedy}; all findings: judgesense lint {shlex.quote(str(suite.path))}",
        )
    return tuple(finding.line for finding in found)
