"""A failing check explains itself in the terse way of a good assertion. Pure: lines of text.

Text of judges and of prompts is untrusted: control characters are shown as escapes.
"""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Callable, Iterable, Iterator

from pytest_judgesense.checks.evidence import Group, evidence_of, items_of
from pytest_judgesense.checks.outcome import Finding, Outcome
from pytest_judgesense.errors import printable
from pytest_judgesense.judgment import Failed, Judgment, Unparsed
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.estimate import Estimate, number_text

__all__ = ["explain", "failures", "summary"]

# Of 100 columns; pytest may put a margin of four before them.
_WIDTH = 96
_LOOK_FURTHER = "  look further: "
_SHOWN_GROUPS = 3


def _cut(text: str, width: int) -> str:
    line = printable(" ".join(text.split()))
    return line if len(line) <= width else line[: width - 3] + "..."


def summary(outcome: Outcome) -> str:
    """One line: what came out, against which bar."""
    return "; ".join(_headline(finding) for finding in outcome.findings)


def explain(
    outcome: Outcome,
    cell: Cell,
    judge: str,
    prompt_of: Callable[[str], str] | None = None,
    look_further: str = "",
) -> str:
    """Why a check did not pass: estimate, interval, bar, counts, evidence, and where to look.

    Args:
        outcome: what came of the check.
        cell: the judgments behind it.
        judge: name of the judge.
        prompt_of: from a trial id to the prompt that was sent, where prompts are known.
        look_further: a command that shows more.
    """
    lines = _lines(outcome, cell, judge, prompt_of, look_further)
    return "\n".join(part for line in lines for part in _fitted(printable(line)))


def _fitted(line: str) -> list[str]:
    """``line`` in lines that fit; a command stays whole, for it is pasted back."""
    if len(line) <= _WIDTH or line.startswith(_LOOK_FURTHER):
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, _WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def _lines(
    outcome: Outcome,
    cell: Cell,
    judge: str,
    prompt_of: Callable[[str], str] | None,
    look_further: str,
) -> Iterator[str]:
    yield f"{outcome.check.id} of judge {judge} on {outcome.suite}: {outcome.outcome}"
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
        for group in _spread(groups):
            yield from _show(group, prompt_of)
        if len(groups) > _SHOWN_GROUPS:
            yield f"    ... and {len(groups) - _SHOWN_GROUPS} more"
    if look_further:
        yield f"{_LOOK_FURTHER}{look_further}"


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
    return text if finding.outcome == "pass" else f"{text}: {finding.outcome}"


def _details(finding: Finding) -> Iterator[str]:
    estimate = finding.estimate
    if estimate.value is None:
        yield from _missing(estimate)
        return
    if finding.reason:
        yield finding.reason
    counts = f"{estimate.n} {estimate.unit}s"
    if estimate.count is not None:
        counts = f"{estimate.count:.12g} of {counts}"
    if estimate.clustered:
        interval = estimate.clustered
        counts += (
            f"; 95% interval [{number_text(interval.lower, estimate.flags, 'lower end ')}, "
            f"{number_text(interval.upper, estimate.flags, 'upper end ')}] "
            f"over {interval.clusters} clusters"
        )
    yield counts
    yield from _missing(estimate)
    if finding.warning:
        yield finding.warning


def _missing(estimate: Estimate) -> Iterator[str]:
    missing = estimate.missing
    if missing.unparsed or missing.failed:
        yield f"missing replies: {missing.unparsed} unparsed, {missing.failed} failed"


def failures(judgments: Iterable[Judgment]) -> Iterator[str]:
    """Why calls failed: the most frequent reasons, each with its count and one trial."""
    by_reason: dict[str, list[str]] = {}
    for judgment in judgments:
        if isinstance(judgment.outcome, Failed):
            by_reason.setdefault(judgment.outcome.reason, []).append(judgment.trial.id)
    ranked = sorted(by_reason.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    for reason, trials in ranked[:_SHOWN_GROUPS]:
        yield f"{len(trials)} failed, the first {trials[0]}: {_cut(reason, 160)}"
    if len(ranked) > _SHOWN_GROUPS:
        yield f"... and {len(ranked) - _SHOWN_GROUPS} more reasons of failed calls"


def _spread(groups: list[Group]) -> list[Group]:
    """A few groups, of different items where there are any."""
    by_item = {group[0].trial.item: group for group in reversed(groups)}
    chosen = list(by_item.values())[::-1][:_SHOWN_GROUPS]
    rest = [group for group in groups if group not in chosen]
    return (chosen + rest)[:_SHOWN_GROUPS]


def _show(group: Group, prompt_of: Callable[[str], str] | None) -> Iterator[str]:
    asked = prompt_of and _differing([prompt_of(judgment.trial.id) for judgment in group])
    # A call that stands alone shows its stimulus; of several only their difference is of interest.
    width = (_WIDTH - 15) * (3 if len(group) == 1 else 1)
    for index, judgment in enumerate(group):
        yield f"    {judgment.trial.id}: {_said(judgment)}"
        if asked is not None:
            yield f"      asked:   {_cut(asked[index], width)}"
        if judgment.reply is not None:
            yield f"      replied: {_cut(judgment.reply, _WIDTH - 15) or '(nothing)'}"


def _said(judgment: Judgment) -> str:
    if isinstance(judgment.outcome, Unparsed):
        return f"unparsed ({printable(judgment.outcome.reason)})"
    if isinstance(judgment.outcome, Failed):
        return f"failed ({_cut(judgment.outcome.reason, 60)})"
    wanted = judgment.trial.label
    means = judgment.chosen
    text = judgment.outcome.value
    if means is not None and means != text:
        text += f", content {means}"
    return f"{text} (label {wanted})" if wanted is not None else text


def _differing(prompts: list[str]) -> list[str]:
    """Of each prompt the lines in which it differs from the first; all of a single one.

    Prompts that do not differ show their last lines.
    """
    if len(prompts) == 1:
        return prompts
    lines = [prompt.splitlines() for prompt in prompts]
    shown = []
    for index, own in enumerate(lines):
        other = lines[0] if index else lines[1]
        matcher = difflib.SequenceMatcher(a=other, b=own, autojunk=False)
        changed = [
            line
            for tag, _, _, start, end in matcher.get_opcodes()
            if tag != "equal"
            for line in own[start:end]
        ]
        shown.append(" / ".join(line for line in changed if line.strip()) or " ".join(own[-2:]))
    return shown
