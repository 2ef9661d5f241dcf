"""Why a check came out as it did: one value, of which every text about it is made. Pure.

`check_line` is what the datasheet holds of it, `brief_lines` what FAILURES shows, `whole_text` all
that is known. Text of judges and prompts is untrusted: control characters are escaped.
"""

from __future__ import annotations

import difflib
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

from pytest_judgesense.checks.drift import DriftOutcome
from pytest_judgesense.checks.judgment_words import (
    MOST_SHOWN,
    content_words,
    failure_lines,
    group_words,
    items_words,
    judgment_words,
    number_words,
    verdict_words,
)
from pytest_judgesense.checks.judgments_against import (
    evidence_of,
    items_of,
    moved_against,
    spread,
)
from pytest_judgesense.checks.outcome import (
    Assessment,
    Outcome,
    OutcomeWord,
    Warned,
    below_bar,
)
from pytest_judgesense.checks.regression import ALPHA, SESSIONS, RegressionOutcome, Side
from pytest_judgesense.datasheets.datasheet import (
    AgainstBaseline,
    ChangedItem,
    CheckLine,
    GatedNumber,
    OverSessions,
)
from pytest_judgesense.errors import printable
from pytest_judgesense.estimate import Estimate, bar_text, compact, find_estimate, number_text
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.every_suite import Group
from pytest_judgesense.text.layout import columns, excerpt
from pytest_judgesense.text.shown_change import ends_text
from pytest_judgesense.trial import Failed, Judgment

# From the id of a trial to a text of it: what was asked about, or the whole prompt.
TextOf: TypeAlias = Callable[[str], str]
Sign: TypeAlias = Literal["at least", "at most", "before"]
# pytest may indent the text of a failing test by four.
_MARGIN: Final = 4
_LOOK_FURTHER: Final = "  look further: "
_NOTHING_CHANGED: Final = "nothing that is known of the judge changed then"
_NEW_HISTORY: Final = "an alarm stands; where the change is accepted, begin another history"
_NO_JUDGMENT: Final = "no single judgment speaks against it"
# Characters of what was asked, in an example; and of judgments shown briefly.
_ASKED: Final = 60
_BRIEF: Final = 2
# Of what changed since a baseline: lines, items that are spelt out, and characters of a text.
_MOST_CHANGES: Final = 12
_MOST_ITEMS: Final = 3
_LONGEST_TEXT: Final = 300


@dataclass(frozen=True)
class Explanation:
    """A check of bars with its outcome, and what explains it, found where a text needs it.

    Attributes:
        cell: the judgments behind it.
        question_of: what the judge was asked about in a trial, if it is known.
        contents_of: what was judged in a trial, in the item's own order, if it is known.
    """

    outcome: Outcome
    cell: Cell
    question_of: TextOf | None = None
    contents_of: Callable[[str], Sequence[str]] | None = None

    @property
    def summary(self) -> str:
        """One line: the result and the bar."""
        return "; ".join(map(_headline, self.outcome.findings))

    @property
    def verdict(self) -> str:
        return self.outcome.outcome

    def warnings(self, warned: Warned) -> tuple[str, ...]:
        """The warnings of the outcome: all, those that need no simulation, or none."""
        return () if warned == "none" else self.outcome.warnings(settled=warned == "settled")

    @property
    def against(self) -> AgainstBaseline | None:
        """What changed since a baseline; ``None`` where there is none."""
        return None

    @property
    def over(self) -> OverSessions | None:
        """What live sessions tell; ``None`` where the check is not over them."""
        return None

    @cached_property
    def _evidence(self) -> tuple[str, list[Group]]:
        return evidence_of(self.outcome, self.cell)

    @property
    def _open(self) -> list[Assessment]:
        return [assessment for assessment in self.outcome.findings if assessment.outcome != "pass"]

    @cached_property
    def _first(self) -> Assessment:
        """The bar that is missed most: the texts are about it."""

        def distance(assessment: Assessment) -> tuple[bool, float]:
            value = assessment.estimate.value or 0.0
            return assessment.outcome == "fail", abs(value - assessment.decisive)

        return max(self._open, key=distance)

    @cached_property
    def sentence(self) -> str:
        """What the judge does, in plain words with numbers; of a check that does not pass."""
        first = self._first
        estimate = first.estimate
        # A measure of several kinds may have a different sentence on each.
        of_kind = (measure for measure in self.cell.measures if measure.name == first.measure.name)
        sentence = next(of_kind, first.measure).said_of(estimate)
        condition = [
            pair
            for pair in estimate.condition.items()
            if pair not in self.outcome.check.narrowed.items()
        ]
        if condition and estimate.value is not None:
            sentence += f" ({', '.join(f'{key} {value}' for key, value in condition)})"
        # The sentence says if nothing was measured; other reasons are shown beside it.
        if estimate.value is not None and first.reason:
            sentence += f"; {first.reason}"
        if rest := len(self._open) - 1:
            sentence += f"; {rest} more bar{'s' * (rest > 1)} not met"
        return printable(sentence)

    @cached_property
    def measured(self) -> str:
        """The number, its interval and the bar; of a check that does not pass."""
        return printable(_measured(self._first, self.outcome.check.narrowed))

    @cached_property
    def example(self) -> str:
        """One judgment, or several that contradict each other; empty if none is known."""
        title, groups = self._evidence
        if not groups or not title:
            return ""
        return self._in_context(groups[0][0], group_words(groups[0]))

    def _in_context(self, judgment: Judgment, words: str) -> str:
        """``words`` about a judgment's item, with its label and what was asked about it."""
        trial = judgment.trial
        label = "" if trial.label is None else f", label {content_words(judgment, trial.label)}"
        question = self.question_of(trial.id) if self.question_of else ""
        about = f"; asked: {excerpt(question, _ASKED)}" if question else ""
        return printable(f"{trial.item}: {words}{label}{about}")

    def bars(self) -> Iterator[GatedNumber]:
        """The numbers with their bars, as a datasheet holds them."""
        for assessment in self.outcome.findings:
            sign: Sign = "at least" if assessment.floor else "at most"
            bar, limit = assessment.bar, assessment.limit
            yield _gated_number(assessment.estimate, bar, sign, assessment.outcome, limit)

    def brief(self) -> Iterator[str]:
        """What counts against the judge and how often; below it the first judgments."""
        title, groups = self._evidence
        shown = [judgment for group in spread(groups) for judgment in group][:_BRIEF]
        head, examples = f"{title}: {len(groups)}", list(self._shown_briefly(shown))
        if not examples:
            # Nothing was judged: why the calls failed speaks against the check.
            examples = list(failure_lines(self.cell.judgments))
            failed = sum(isinstance(judgment.outcome, Failed) for judgment in self.cell.judgments)
            head = f"calls that failed: {failed}"
        if not examples:
            # Such as one answer to everything.
            reasons = (assessment.reason for assessment in self._open if assessment.reason)
            head = "; ".join(dict.fromkeys((_NO_JUDGMENT, *reasons)))
        yield from (head, *(f"  {line}" for line in examples))

    def _shown_briefly(self, judgments: Sequence[Judgment]) -> Iterator[str]:
        """Each judgment with its question and its reply; a question is not repeated."""
        last_question, width = "", columns() - _MARGIN - 15
        for judgment in judgments:
            trial = judgment.trial.id
            yield f"{trial}: {judgment_words(judgment)}"
            question = self.question_of(trial) if self.question_of else ""
            if question and question != last_question:
                yield f"  asked:   {excerpt(question, width)}"
            last_question = question
            if judgment.reply is not None:
                yield f"  replied: {excerpt(judgment.reply, width) or '(nothing)'}"

    def lines(self, prompt_of: TextOf | None) -> Iterator[str]:
        """Estimate, interval, bar, counts and evidence."""
        for assessment in self.outcome.findings:
            yield "  " + _headline(assessment)
            yield from (f"    {line}" for line in _details(assessment))
        for estimate in self.outcome.beside:
            yield f"  beside it: {_name(estimate)} = {_value(estimate)}"
        yield from (f"  {line}" for line in failure_lines(self.cell.judgments))
        title, groups = self._evidence
        if groups:
            yield f"  {title}: {items_words(len(groups), items_of(groups))}"
            for group in islice(spread(groups), MOST_SHOWN):
                yield from _group_lines(group, prompt_of)
            if len(groups) > MOST_SHOWN:
                yield f"    ... and {len(groups) - MOST_SHOWN} more"


@dataclass(frozen=True)
class RegressionExplanation(Explanation):
    """The same of a check that compares with a baseline: the flips explain it."""

    outcome: RegressionOutcome  # type: ignore[assignment]

    @property
    def summary(self) -> str:
        """One line: old value, new value, and the verdict on the difference."""
        outcome, compared = self.outcome, self.outcome.comparison
        text = f"{_difference_text(outcome)}, margin {outcome.margin:g}: {outcome.verdict}"
        tells = outcome.verdict == "unchanged" or compared.identical
        excluded = compared.excluded() if tells else ""
        tested = _tested(outcome) if compared.difference else ""
        gained = compared.ungained if outcome.adjusted.gain.p <= ALPHA else None
        beside = ", ".join(filter(None, [gained, excluded, tested]))
        return f"{text} ({beside})" if beside else text

    @property
    def verdict(self) -> str:
        return self.outcome.verdict

    @cached_property
    def sentence(self) -> str:
        compared = self.outcome.comparison
        then, now = (
            None if value is None else compact(value, flags)
            for value, flags in zip(
                compared.values, (compared.old.flags, compared.new.flags), strict=True
            )
        )
        measure, verdict = self.outcome.check.measure, self.outcome.verdict
        against, summary = self.outcome.against, self.outcome.changes.summary
        if verdict == "regressed":
            moved = f"worse than {against}: {measure} {then} to {now}{_ends_text(self.outcome)}"
        else:
            why = f", {compared.blocked}" if compared.blocked else ""
            moved = f"{measure} {self._moved_words(then, now)}: {verdict}{why}"
        return printable(f"{moved}; {summary}" if summary else moved)

    def _moved_words(self, then: str | None, now: str | None) -> str:
        """What became of the measure since the baseline; ``None`` for what was not measured."""
        against = self.outcome.against
        if then is None and now is None:
            # A side that asks more may have a number of its own, which is not compared.
            of = " on the trials of both" if self._is_measured_by_one else ""
            return f"is measured neither at {against} nor now{of}"
        if then == now:
            return f"stayed at {now} since {against}"
        words = (value or "not measured" for value in (then, now))
        return f"went from {' to '.join(words)} since {against}"

    @property
    def _is_measured_by_one(self) -> bool:
        """Whether either side has the measure on all of its own trials."""
        check = self.outcome.check
        found = (
            find_estimate(side.estimates, check.measure, check.condition)
            for side in (self.outcome.old, self.outcome.new)
        )
        return any(estimate is not None and estimate.value is not None for estimate in found)

    @cached_property
    def measured(self) -> str:
        return printable(self.summary)

    @cached_property
    def example(self) -> str:
        if not self._changed:
            return ""
        old, new = (side.by_id[self._changed[0]] for side in (self.outcome.old, self.outcome.new))
        return self._in_context(new, f"{verdict_words(old)} before, {verdict_words(new)} now")

    @cached_property
    def _moved(self) -> tuple[tuple[str, ...], ...]:
        return moved_against(self.outcome)

    @cached_property
    def _changed(self) -> list[str]:
        """The trials whose verdicts moved units against the judge, without duplicates."""
        old, new = self.outcome.old.by_id, self.outcome.new.by_id
        trials = dict.fromkeys(trial for unit in self._moved for trial in unit)
        return [
            trial for trial in trials if judgment_words(old[trial]) != judgment_words(new[trial])
        ]

    @cached_property
    def against(self) -> AgainstBaseline:
        """What changed since the baseline and, of a check that does not pass, where it shows."""
        outcome, changes = self.outcome, self.outcome.changes
        lines = [_cut(printable(line)) for line in changes.lines[:_MOST_CHANGES]]
        if (more := len(changes.lines) - _MOST_CHANGES) > 0:
            lines.append(f"... and {more} lines more")
        against = AgainstBaseline(outcome.against, printable(changes.summary), tuple(lines))
        if outcome.outcome == "pass":
            return against
        new = outcome.new.by_id
        by_item = Counter(new[trial].trial.item for trial in self._changed)
        examples = tuple(
            self._changed_item(item, times) for item, times in by_item.most_common(_MOST_ITEMS)
        )
        return replace(against, moved=len(self._changed), items=len(by_item), examples=examples)

    def _changed_item(self, item: str, times: int) -> ChangedItem:
        """An item by the first of its trials that moved: what was asked and judged, and said."""
        old, new = self.outcome.old.by_id, self.outcome.new.by_id
        trial = next(id_ for id_ in self._changed if new[id_].trial.item == item)
        question = self.question_of(trial) if self.question_of else ""
        contents = tuple(self.contents_of(trial)) if self.contents_of else ()
        if contents == (question,):
            contents = ()
        elif " / ".join(contents) == question:
            question = ""  # the item has no texts beside what is judged
        both = old[trial], new[trial]
        before, now = (excerpt(judgment.reply or "", _LONGEST_TEXT) for judgment in both)
        return ChangedItem(
            item=printable(item),
            trial=printable(trial),
            times=times,
            question=excerpt(question, _LONGEST_TEXT),
            contents=tuple(excerpt(content, _LONGEST_TEXT) for content in contents),
            verdicts=(printable(judgment_words(both[0])), printable(judgment_words(both[1]))),
            replies=(before, now),
        )

    def bars(self) -> Iterator[GatedNumber]:
        old, new = self.outcome.comparison.old.value, self.outcome.comparison.new
        if old is not None:
            yield _gated_number(new, old, "before", self.outcome.outcome)

    def brief(self) -> Iterator[str]:
        """What changed, and the items that changed most often with both replies."""
        against, width = self.against, columns() - _MARGIN - 17
        yield from against.changes
        if not against.moved:
            yield _NO_JUDGMENT
            return
        yield f"{against.moved_words}; most often:"
        for example in against.examples:
            yield f"  {example.head}"
            for name, text in example.texts:
                yield f"    {name + ':':<10} {excerpt(text, width)}"

    def lines(self, prompt_of: TextOf | None) -> Iterator[str]:
        """The flips first, then the numbers and what changed."""
        outcome, compared = self.outcome, self.outcome.comparison
        title = "flipped for the worse"
        for line in flip_lines(self._moved, title, outcome.old, outcome.new, prompt_of):
            yield f"  {line}"
        yield f"  {self.summary}"
        yield from (f"  {text}" for text in (*outcome.warnings(), *compared.notes))
        yield "  what changed beside the verdicts:"
        changes = outcome.changes.lines or ["nothing that is known", SESSIONS]
        yield from (f"    {line}" for line in changes)


@dataclass(frozen=True)
class DriftExplanation(Explanation):
    """The same of a check over live sessions: since when, and what changed then, explain it."""

    outcome: DriftOutcome  # type: ignore[assignment]

    @property
    def summary(self) -> str:
        """One line: since when it is worse, or that there is no alarm."""
        return f"{_name(self.outcome.estimate)}: {self.outcome.course.headline()}"

    @property
    def over(self) -> OverSessions:
        """What the sessions tell."""
        return self.outcome.course.over()

    @cached_property
    def sentence(self) -> str:
        return printable("; ".join([self.summary, *self.over.changes]))

    @cached_property
    def measured(self) -> str:
        process = f"by the {self.over.process} process over {self.over.sessions} live sessions"
        return printable(
            f"{_name(self.outcome.estimate)} {_value(self.outcome.estimate)}, {process}"
        )

    @cached_property
    def example(self) -> str:
        return ""

    def bars(self) -> Iterator[GatedNumber]:
        values = self.outcome.course.values
        if values is not None:
            yield _gated_number(self.outcome.estimate, values[0], "before", self.outcome.outcome)

    def brief(self) -> Iterator[str]:
        """What changed in the judge at about that time."""
        changes, course = self.over.changes, self.outcome.course
        if course.alarm is None:
            yield course.blocked or _NO_JUDGMENT
            return
        yield "what changed then:" if changes else _NOTHING_CHANGED
        yield from (f"  {change}" for change in changes)
        yield _NEW_HISTORY

    def lines(self, prompt_of: TextOf | None) -> Iterator[str]:
        """The number, what is to be known beside it, and what changed."""
        yield f"  {self.measured}"
        yield from (f"  {text}" for text in self.outcome.warnings())
        yield from (f"  {line}" for line in self.brief())


def explanation_of(
    outcome: Outcome | RegressionOutcome | DriftOutcome,
    cell: Cell,
    question_of: TextOf | None = None,
    contents_of: Callable[[str], Sequence[str]] | None = None,
) -> Explanation:
    """The explanation of an outcome, of any kind."""
    if isinstance(outcome, DriftOutcome):
        return DriftExplanation(outcome, cell, question_of, contents_of)
    if isinstance(outcome, RegressionOutcome):
        return RegressionExplanation(outcome, cell, question_of, contents_of)
    return Explanation(outcome, cell, question_of, contents_of)


def check_line(
    explanation: Explanation,
    cleaned: Callable[[str], str] = str,
    *,
    warned: Warned = "settled",
) -> CheckLine:
    """The outcome of a check as stored in the datasheet; ``cleaned`` removes credentials."""
    outcome = explanation.outcome
    check, fails = outcome.check, outcome.outcome != "pass"
    return CheckLine(
        check=check.id,
        measure=check.measure,
        suite=outcome.suite,
        condition=dict(check.narrowed),
        bar=check.bar,
        outcome=outcome.outcome,
        policy=outcome.policy,
        explanation=explanation.summary,
        warnings=explanation.warnings(warned),
        sentence=cleaned(explanation.sentence) if fails else "",
        measured=cleaned(explanation.measured) if fails else "",
        example=cleaned(explanation.example) if fails else "",
        gates=tuple(explanation.bars()),
        limit=check.limit,
        against=explanation.against and explanation.against.with_texts(cleaned),
        over=explanation.over and explanation.over.with_texts(cleaned),
    )


def brief_lines(explanation: Explanation, look_further: str = "") -> Iterator[str]:
    """The first trials with question, reply, verdict and label, in a few lines.

    ``look_further`` is a command that shows more.
    """
    yield from map(printable, explanation.brief())
    if look_further:
        yield f"{_LOOK_FURTHER.lstrip()}{look_further}"


def whole_text(
    explanation: Explanation,
    judge: str,
    prompt_of: TextOf | None = None,
    look_further: str = "",
) -> str:
    """Why a check did not pass: estimate, interval, bar, counts, evidence, and where to look.

    ``prompt_of`` returns the prompt of a trial by its id, if prompts are known; ``look_further`` is
    a command that shows more.
    """
    outcome = explanation.outcome
    head = f"{outcome.check.id} of judge {judge} on {outcome.suite}: {explanation.verdict}"
    lines = [explanation.sentence, head, *explanation.lines(prompt_of)]
    lines += [f"{_LOOK_FURTHER}{look_further}"] * bool(look_further)
    return "\n".join(part for line in lines for part in _fitted(printable(line)))


def _fitted(line: str) -> list[str]:
    """``line`` wrapped; a command is not wrapped, so that it can be copied."""
    width = columns() - _MARGIN
    if len(line) <= width or line.startswith(_LOOK_FURTHER):
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_TEXT else f"{line[: _LONGEST_TEXT - 3]}..."


def _gated_number(
    estimate: Estimate, bar: float, sign: Sign, outcome: OutcomeWord, limit: float | None = None
) -> GatedNumber:
    ends = estimate.clustered
    lower, upper = (ends.lower, ends.upper) if ends else (None, None)
    condition, value = dict(estimate.condition), estimate.value
    return GatedNumber(estimate.measure, condition, bar, sign, outcome, value, lower, upper, limit)


def _measured(assessment: Assessment, narrowed: Mapping[str, Any]) -> str:
    """``jss 0.57 [0.44, 0.69], at least 0.90 wanted``, under the condition of the check."""
    estimate = assessment.estimate
    wanted = f"at {'least' if assessment.floor else 'most'} {bar_text(assessment.bar)} wanted"
    if assessment.limit is not None:
        wanted += f", limit {bar_text(assessment.limit)}"
    name = _name(replace(estimate, condition=narrowed))
    if estimate.value is None:
        return f"{name} N/A, {wanted}"
    text = f"{name} {compact(estimate.value, estimate.flags)}"
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


def _name(estimate: Estimate) -> str:
    condition = ", ".join(f"{key}={value}" for key, value in estimate.condition.items())
    return f"{estimate.measure} ({condition})" if condition else estimate.measure


def _value(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"unavailable ({estimate.unavailable})"
    return number_text(estimate.value, estimate.flags)


def _headline(assessment: Assessment) -> str:
    estimate = assessment.estimate
    sign = ">=" if assessment.floor else "<="
    text = f"{_name(estimate)} = {_value(estimate)}, wanted {sign} {assessment.bar:g}"
    limit = assessment.limit
    if assessment.outcome == "pass":
        passes = "" if limit is None else f": passes the limit {bar_text(limit)}"
        return f"{text}: {short}" if (short := below_bar(assessment)) else f"{text}{passes}"
    return f"{text}{'' if limit is None else f', limit {limit:g}'}: {assessment.outcome}"


def _details(assessment: Assessment) -> Iterator[str]:
    estimate, missing = assessment.estimate, assessment.estimate.missing
    if estimate.value is not None:
        if assessment.reason:
            yield assessment.reason
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
    # Of a number that passes its limit the headline says it.
    if (warning := assessment.warning()) and warning != below_bar(assessment):
        yield warning


def _group_lines(group: Group, prompt_of: TextOf | None) -> Iterator[str]:
    prompts = prompt_of and _differing([prompt_of(judgment.trial.id) for judgment in group])
    # A single call shows its stimulus; for several calls only the difference matters.
    width = (columns() - _MARGIN - 15) * (3 if len(group) == 1 else 1)
    for index, judgment in enumerate(group):
        yield f"    {judgment.trial.id}: {judgment_words(judgment)}"
        if prompts is not None:
            yield f"      asked:   {excerpt(prompts[index], width)}"
        if judgment.reply is not None:
            replied = excerpt(judgment.reply, columns() - _MARGIN - 15)
            yield f"      replied: {replied or '(nothing)'}"
        if stated := ", ".join(number_words(judgment.detail or {})):
            yield f"      stated:  {stated}"


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


def flip_lines(
    groups: Sequence[tuple[str, ...]],
    title: str,
    old: Side,
    new: Side,
    prompt_of: TextOf | None = None,
    shown: int = MOST_SHOWN,
) -> Iterator[str]:
    """Groups of trials by their ids, with the old and new verdicts side by side."""
    if not groups:
        return
    items = dict.fromkeys(new.by_id[trials[0]].trial.item for trials in groups)
    yield f"{title}: {items_words(len(groups), list(items))}"
    for trials in groups[:shown]:
        prompts = prompt_of and _differing([prompt_of(trial) for trial in trials])
        for index, trial in enumerate(trials):
            both = old.by_id[trial], new.by_id[trial]
            yield f"  {trial}: {' -> '.join(map(judgment_words, both))}"
            if prompts:
                yield f"    asked: {excerpt(prompts[index], columns() - _MARGIN - 15)}"
            half = (columns() - _MARGIN - 11) // 2
            then, now = (excerpt(judgment.reply or "(no reply)", half) for judgment in both)
            yield f"    {then:<{half}} | {now}"
    if len(groups) > shown:
        yield f"  ... and {len(groups) - shown} more"


def _ends_text(outcome: RegressionOutcome) -> str:
    """The difference with its bounds, in brackets."""
    compared = outcome.comparison
    ends = compared.interval(outcome.adjusted)
    if compared.difference is None or ends is None:
        return ""
    value = compared.sign * compared.difference.value
    return f" ({value:+.2f} {ends_text(ends, '{:+.2f}'.format)})"


def _difference_text(outcome: RegressionOutcome) -> str:
    """Old value, new value, their difference and the bounds that decided."""
    compared = outcome.comparison
    old, new = compared.old, compared.new
    values = [
        "unavailable" if value is None else number_text(value, estimate.flags)
        for value, estimate in zip(compared.values, (old, new), strict=True)
    ]
    text = f"{_name(new)} {values[0]} -> {values[1]}"
    ends = compared.interval(outcome.adjusted)
    if compared.identical:
        return f"{text}, no unit changed"
    if compared.difference is None or ends is None:
        return text
    value = compared.sign * compared.difference.value
    return f"{text}, difference {value:+.3f}, 95% bounds {ends_text(ends, '{:+.3f}'.format)}"


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
