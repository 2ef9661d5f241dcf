"""Why a check came out as it did: one value, of which every text about it is made. Pure.

`check_line` is what the datasheet holds of it, `brief_lines` what FAILURES shows, `whole_text` all
that is known. Text of judges and prompts is untrusted: control characters are escaped.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from pytest_judgesense.checks.judgment_words import (
    MOST_SHOWN,
    content_words,
    failure_lines,
    group_words,
    items_words,
    judgment_words,
    number_words,
)
from pytest_judgesense.checks.judgments_against import (
    evidence_of,
    items_of,
    spread,
)
from pytest_judgesense.checks.outcome import (
    Assessment,
    Outcome,
    OutcomeWord,
    Warned,
    below_bar,
)
from pytest_judgesense.datasheets.datasheet import (
    AgainstBaseline,
    GatedNumber,
    OverSessions,
)
from pytest_judgesense.errors import printable
from pytest_judgesense.estimate import Estimate, bar_text, compact, number_text
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.every_suite import Group
from pytest_judgesense.text import numbers
from pytest_judgesense.text.layout import columns, excerpt
from pytest_judgesense.trial import Failed, Judgment

# From the id of a trial to a text of it: what was asked about, or the whole prompt.
TextOf: TypeAlias = Callable[[str], str]
Sign: TypeAlias = Literal["at least", "at most", "before"]
# pytest may indent the text of a failing test by four.
MARGIN: Final = 4
NO_JUDGMENT: Final = "no single judgment speaks against it"
# Characters of what was asked, in an example; and of judgments shown briefly.
_ASKED: Final = 60
_BRIEF: Final = 2


class NumberRow(NamedTuple):
    """A number of a check with the ends of its interval, as texts; empty for none."""

    measure: str
    value: str
    lower: str
    upper: str

    @classmethod
    def of(cls, estimate: Estimate) -> NumberRow:
        """An estimate as the datasheet shows it."""
        ends = numbers.interval(estimate.clustered, estimate.flags)
        lower, _, upper = ends.strip("[]").partition(", ")
        return cls(estimate.measure, numbers.value(estimate), lower, upper)


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

    def number_rows(self) -> list[NumberRow]:
        """What it is about, a row for each bar."""
        return [NumberRow.of(finding.estimate) for finding in self.outcome.findings]

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
            yield gated_number(assessment.estimate, bar, sign, assessment.outcome, limit)

    def brief(self) -> Iterator[str]:
        """What counts against the judge and how often; below it the first judgments."""
        title, groups = self._evidence
        shown = [judgment for group in spread(groups) for judgment in group][:_BRIEF]
        head, examples = f"{title}: {len(groups)}", list(self._shown_briefly(shown))
        if not examples:
            # Nothing was judged: why the calls failed speaks against the check.
            examples = list(failure_lines(self.cell.all_judgments))
            failed = sum(
                isinstance(judgment.outcome, Failed) for judgment in self.cell.all_judgments
            )
            head = f"calls that failed: {failed}"
        if not examples:
            # Such as one answer to everything.
            reasons = (assessment.reason for assessment in self._open if assessment.reason)
            head = "; ".join(dict.fromkeys((NO_JUDGMENT, *reasons)))
        yield from (head, *(f"  {line}" for line in examples))

    def _shown_briefly(self, judgments: Sequence[Judgment]) -> Iterator[str]:
        """Each judgment with its question and its reply; a question is not repeated."""
        last_question, width = "", columns() - MARGIN - 15
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
            yield f"  beside it: {named(estimate)} = {value_text(estimate)}"
        yield from (f"  {line}" for line in failure_lines(self.cell.all_judgments))
        title, groups = self._evidence
        if groups:
            yield f"  {title}: {items_words(len(groups), items_of(groups))}"
            for group in islice(spread(groups), MOST_SHOWN):
                yield from _group_lines(group, prompt_of)
            if len(groups) > MOST_SHOWN:
                yield f"    ... and {len(groups) - MOST_SHOWN} more"


def gated_number(
    estimate: Estimate, bar: float, sign: Sign, outcome: OutcomeWord, limit: float | None = None
) -> GatedNumber:
    """An estimate beside the bar, and the limit, that gate it."""
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
    name = named(replace(estimate, condition=narrowed))
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


def named(estimate: Estimate) -> str:
    """The measure of an estimate, with its condition."""
    condition = ", ".join(f"{key}={value}" for key, value in estimate.condition.items())
    return f"{estimate.measure} ({condition})" if condition else estimate.measure


def value_text(estimate: Estimate) -> str:
    """The number of an estimate with its interval, or why there is none."""
    if estimate.value is None:
        return f"unavailable ({estimate.unavailable})"
    return number_text(estimate.value, estimate.flags)


def _headline(assessment: Assessment) -> str:
    estimate = assessment.estimate
    sign = ">=" if assessment.floor else "<="
    text = f"{named(estimate)} = {value_text(estimate)}, wanted {sign} {assessment.bar:g}"
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
    prompts = prompt_of and differing([prompt_of(judgment.trial.id) for judgment in group])
    # A single call shows its stimulus; for several calls only the difference matters.
    width = (columns() - MARGIN - 15) * (3 if len(group) == 1 else 1)
    for index, judgment in enumerate(group):
        yield f"    {judgment.trial.id}: {judgment_words(judgment)}"
        if prompts is not None:
            yield f"      asked:   {excerpt(prompts[index], width)}"
        if judgment.reply is not None:
            replied = excerpt(judgment.reply, columns() - MARGIN - 15)
            yield f"      replied: {replied or '(nothing)'}"
        if stated := ", ".join(number_words(judgment.detail or {})):
            yield f"      stated:  {stated}"


def differing(prompts: list[str]) -> list[str]:
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
