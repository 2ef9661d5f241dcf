"""Why a check against earlier sessions came out as it did: a baseline, or a history. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from pytest_judgesense.checks.drift import DriftOutcome
from pytest_judgesense.checks.explanation import (
    MARGIN,
    NO_JUDGMENT,
    Explanation,
    NumberRow,
    TextOf,
    differing,
    gated_number,
    named,
    value_text,
)
from pytest_judgesense.checks.judgment_words import (
    MOST_SHOWN,
    items_words,
    judgment_words,
    verdict_words,
)
from pytest_judgesense.checks.judgments_against import moved_against
from pytest_judgesense.checks.regression import (
    ALPHA,
    SESSIONS,
    RegressionOutcome,
    Side,
)
from pytest_judgesense.datasheets.datasheet import (
    AgainstBaseline,
    ChangedItem,
    GatedNumber,
    MeasuredChange,
    OverSessions,
)
from pytest_judgesense.errors import printable
from pytest_judgesense.estimate import find_estimate, number_text
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.text.layout import columns, excerpt
from pytest_judgesense.text.shown_change import ends_text

_NOTHING_CHANGED: Final = "nothing that is known of the judge changed then"
_NEW_HISTORY: Final = "an alarm stands; where the change is accepted, begin another history"
# Of what changed since a baseline: lines, items that are spelt out, and characters of a text.
_MOST_CHANGES: Final = 12
_MOST_ITEMS: Final = 3
_LONGEST_TEXT: Final = 300


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
        then, now = compared.value_words
        measure, verdict = compared.part_words, self.outcome.verdict
        against, summary = self.outcome.against, self.outcome.changes.summary
        if verdict == "regressed":
            moved = f"worse than {against}: {self._change.words}"
        else:
            why = f", {compared.blocked}" if compared.blocked else ""
            moved = f"{measure} {self._moved_words(then, now)}: {verdict}{why}"
        return printable(f"{moved}; {summary}" if summary else moved)

    @cached_property
    def _change(self) -> MeasuredChange:
        """What became of the measure."""
        outcome, compared = self.outcome, self.outcome.comparison
        then, now = (value or "not measured" for value in compared.value_words)
        ends = compared.interval(outcome.adjusted)
        difference = compared.sign * compared.difference.value if compared.difference else None
        low, high = ends or (None, None)
        return MeasuredChange(
            outcome.verdict,
            named(compared.new),
            *compared.values,
            difference,
            low,
            high,
            printable(f"{named(compared.new)} {then} to {now}{_ends_text(outcome)}"),
        )

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

    def number_rows(self) -> list[NumberRow]:
        """What it is now, less what it was then."""
        compared, measure = self.outcome.comparison, self.outcome.check.measure
        ends = compared.interval(self.outcome.adjusted)
        if compared.difference is None or ends is None:
            return [NumberRow(measure, "+0.000" if compared.identical else "", "", "")]
        difference = compared.sign * compared.difference.value
        return [NumberRow(measure, *(f"{number:+.3f}" for number in (difference, *ends)))]

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
        against = AgainstBaseline(
            outcome.against, printable(changes.summary), tuple(lines), change=self._change
        )
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
            yield gated_number(new, old, "before", self.outcome.outcome)

    def brief(self) -> Iterator[str]:
        """What changed, and the items that changed most often with both replies."""
        against, width = self.against, columns() - MARGIN - 17
        yield from against.changes
        if not against.moved:
            yield NO_JUDGMENT
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
        return f"{named(self.outcome.estimate)}: {self.outcome.course.headline()}"

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
            f"{named(self.outcome.estimate)} {value_text(self.outcome.estimate)}, {process}"
        )

    def number_rows(self) -> list[NumberRow]:
        """What it is in the present session."""
        return [NumberRow.of(self.outcome.estimate)]

    @cached_property
    def example(self) -> str:
        return ""

    def bars(self) -> Iterator[GatedNumber]:
        values = self.outcome.course.values
        if values is not None:
            yield gated_number(self.outcome.estimate, values[0], "before", self.outcome.outcome)

    def brief(self) -> Iterator[str]:
        """What changed in the judge at about that time."""
        changes, course = self.over.changes, self.outcome.course
        if course.alarm is None:
            yield course.blocked or NO_JUDGMENT
            return
        yield "what changed then:" if changes else _NOTHING_CHANGED
        yield from (f"  {change}" for change in changes)
        yield _NEW_HISTORY

    def lines(self, prompt_of: TextOf | None) -> Iterator[str]:
        """The number, what is to be known beside it, and what changed."""
        yield f"  {self.measured}"
        yield from (f"  {text}" for text in self.outcome.warnings())
        yield from (f"  {line}" for line in self.brief())


def explanation_of_earlier(
    outcome: RegressionOutcome | DriftOutcome,
    cell: Cell,
    question_of: TextOf | None,
    contents_of: Callable[[str], Sequence[str]] | None,
) -> Explanation:
    """The explanation of an outcome against earlier sessions; see `explanation_of`."""
    if isinstance(outcome, DriftOutcome):
        return DriftExplanation(outcome, cell, question_of, contents_of)
    return RegressionExplanation(outcome, cell, question_of, contents_of)


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
        prompts = prompt_of and differing([prompt_of(trial) for trial in trials])
        for index, trial in enumerate(trials):
            both = old.by_id[trial], new.by_id[trial]
            yield f"  {trial}: {' -> '.join(map(judgment_words, both))}"
            if prompts:
                yield f"    asked: {excerpt(prompts[index], columns() - MARGIN - 15)}"
            half = (columns() - MARGIN - 11) // 2
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
    text = f"{named(new)} {values[0]} -> {values[1]}"
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


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_TEXT else f"{line[: _LONGEST_TEXT - 3]}..."
