"""Why a verdict flipped: a search with its verdicts, in the words of a screen and in a file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.questions.why.flip import Flip, FlipEnd, PromptPath, label_of
from pytest_judgesense.stats.bisection import (
    AFRESH,
    LEVEL_OF_TWO,
    Cause,
    CauseSearch,
    Contrast,
    p_of_rows,
)
from pytest_judgesense.text.layout import indented
from pytest_judgesense.trial import content_of_slot

_UNITS: Final = {"words": "word", "sentences": "sentence"}
# Of the answers of both ends, from which share on one slot is what the judge names.
_MOSTLY: Final = 0.75


def ends_words(flip: Flip) -> str:
    """Which trial, of which judge, and what both ends say."""
    old, new = (f"{end.name} ({label_of(end.judgment)})" for end in (flip.old, flip.new))
    return f"{flip.old.judgment.trial.id}, judge {flip.judge.name}: {old} and {new}"


def changes_words(path: PromptPath) -> str:
    """How far the two prompts are apart."""
    count, unit = len(path.changes), _UNITS[path.unit]
    return f"1 {unit} differs" if count == 1 else f"{count} {unit}s differ"


def verdicts_at_ends(search: CauseSearch) -> tuple[list[str], list[str]]:
    """The verdicts at the old and at the new end that were compared."""
    old, new = ([str(verdict) for verdict in verdicts] for verdicts in search.ends)
    return old, new


def cause_lines(flip: Flip, path: PromptPath, search: CauseSearch) -> Iterator[str]:
    """Whether the ends were told apart, and what turns the verdict."""
    cause = search.cause
    at_old, at_new = verdicts_at_ends(search)
    yield from indented(
        f"asked again: {_answers(flip.old, at_old)}; {_answers(flip.new, at_new)} "
        f"(Fisher's exact test: p {cause.p_ends:.3g})",
        width=2,
    )
    if cause.outcome == "noise":
        yield from indented(_noise(flip, at_old, at_new), width=2)
    elif cause.change is None:
        yield from indented(
            "undecided: the answers do not tell the two ends apart yet; raise --judge-max-calls",
            width=2,
        )
    else:
        yield from _place_lines(flip, path, search)


def _answers(end: FlipEnd, verdicts: Sequence[str]) -> str:
    counts = ", ".join(f"{label} {count}" for label, count in Counter(verdicts).most_common())
    return f"{end.name}: {counts}"


def _noise(flip: Flip, at_old: Sequence[str], at_new: Sequence[str]) -> str:
    """What ends that answer alike say: the slot decides, or nothing does."""
    if flip.of_orders:
        contents = [
            [content_of_slot(verdict, end.judgment.trial.order) for verdict in verdicts]
            for end, verdicts in ((flip.old, at_old), (flip.new, at_new))
        ]
        label, count = Counter((*at_old, *at_new)).most_common(1)[0]
        share = count / (len(at_old) + len(at_new))
        if share >= _MOSTLY and p_of_rows(*contents) <= LEVEL_OF_TWO:
            return (
                f"the slot decides: the judge says {label} in {count} of "
                f"{len(at_old) + len(at_new)} answers, whichever text stands there; no word of the "
                "texts turns it"
            )
    return (
        "noise: asked again, both ends answer alike, so the flip is the judge's own and no change "
        "of the prompt explains it; judgesense explain repeat_flip_rate"
    )


def _place_lines(flip: Flip, path: PromptPath, search: CauseSearch) -> Iterator[str]:
    cause = search.cause
    if cause.outcome != "named":
        yield from _unconfirmed_lines(path, search)
        return
    assert cause.change is not None, "a change is named"
    assert cause.turn is not None, "a change is named once it was asked afresh"
    unit, of = _UNITS[path.unit], len(path.changes)
    yield from indented(
        f"it turns at {unit} {cause.change + 1} of {of} that differ: "
        f"{_afresh(cause.turn, 'just before it', 'just with it')}; {cause.calls} answers in all",
        width=2,
    )
    yield from _diff_lines(flip, path, cause.needed)
    yield from indented(_alone(cause, unit), width=2)


def _afresh(contrast: Contrast, without: str, made: str) -> str:
    """What a contrast came to, in words."""
    before, after = contrast.counts
    return (
        f"asked afresh, the judge says {contrast.turned.label} in {before} of {AFRESH} answers "
        f"{without} and in {after} of {AFRESH} {made} (one-sided p {contrast.p:.2g})"
    )


def _unconfirmed_lines(path: PromptPath, search: CauseSearch) -> Iterator[str]:
    """That no change is named, why, and the share of the turned verdict along the path."""
    cause = search.cause
    assert cause.turned is not None, "the ends are told apart"
    unit = _UNITS[path.unit]
    if cause.turn is None:
        evidence = "no change was likely enough to be asked afresh"
    else:
        place = f"{unit} {len(cause.turn.made)} of {len(path.changes)}"
        evidence = _afresh(cause.turn, f"just before {place}", "just with it")
    advice = "raise --judge-max-calls"
    if search.has_given_up:
        advice = "several seem to add: take longer steps with --by sentences, or read the curve"
    yield from indented(
        f"not confirmed: one change or several turn it; {evidence}, {cause.calls} answers in all; "
        f"{advice}",
        width=2,
    )
    yield f"  {cause.turned.label} with the first {unit}s changed, the last of them in brackets:"
    for point in cause.curve:
        change = path.changes[point.made - 1] if point.made else None
        last = "" if change is None else f"  [{' '.join((change.added or change.removed).split())}]"
        yield from _hanging(f"    {point.made:>4}  ", f"{point.count} of {point.asked}{last}")


def _alone(cause: Cause, unit: str) -> str:
    """Whether the change that is named is enough, and with which others."""
    if cause.complete and len(cause.needed) == 1:
        return f"this {unit} is enough alone: {_afresh_alone(cause.members[0])}"
    if cause.complete:
        with_all = sum(contrast.counts[1] for contrast in cause.members)
        fewer = ", ".join(str(contrast.counts[0]) for contrast in cause.members)
        return (
            f"these {len(cause.needed)} {unit}s together are enough: asked afresh, the judge says "
            f"{cause.members[0].turned.label} in {with_all} of {AFRESH * len(cause.members)} "
            f"answers with them, and in {fewer} of {AFRESH} each without one of them"
        )
    if cause.members:
        afresh = (
            _afresh_alone(cause.members[-1])
            if len(cause.members[-1].made) == 1
            else _afresh(cause.members[-1], "without one of those found with it", "with them")
        )
        return f"whether this {unit} is enough alone is not confirmed: {afresh}"
    if cause.alone is False:
        return (
            f"this {unit} is not enough alone, and which others before it are needed is not "
            "confirmed: raise --judge-max-calls"
        )
    return f"whether this {unit} is enough alone is not confirmed: raise --judge-max-calls"


def _afresh_alone(contrast: Contrast) -> str:
    return _afresh(contrast, "with no change", "with no other change")


def _diff_lines(flip: Flip, path: PromptPath, changes: Iterable[int]) -> Iterator[str]:
    """The changes in their surroundings, with the verdict on both sides."""
    old, new = label_of(flip.old.judgment), label_of(flip.new.judgment)
    width = max(len(old), len(new))
    for before, removed, added, after in path.around([*changes]):
        yield ""
        for sign, label, text in (("-", old, removed), ("+", new, added)):
            marked = f"[{' '.join(text.split())}]" if text.strip() else "[]"
            words = " ".join((*before.split(), marked, *after.split()))
            yield from _hanging(f"    {sign} {label:<{width}}  ", words)
    yield ""


def _hanging(head: str, text: str) -> Iterator[str]:
    lines = [*indented(text, width=len(head))]
    yield head + lines[0].strip()
    yield from lines[1:]


@dataclass(frozen=True)
class FlipAnswer(QuestionAnswer):
    """Which change turns the verdict, or that none does.

    Attributes:
        flip: the two ends.
        path: the changes between their prompts.
        search: the verdicts on hybrids of the two, and what they have come to.
    """

    flip: Flip
    path: PromptPath
    search: CauseSearch

    called: ClassVar[str] = "cause"  # in the line about its file

    @property
    def cause(self) -> Cause:
        """What turns the verdict, as far as the answers tell."""
        return self.search.cause

    def lines(self) -> Iterator[str]:
        """The ends, how far they are apart, and what the search has come to."""
        yield from indented(ends_words(self.flip), width=0)
        yield f"  {changes_words(self.path)}"
        yield from cause_lines(self.flip, self.path, self.search)

    def to_dict(self) -> Mapping[str, Any]:
        """The ends, the changes, what was asked of each, and what it came to."""
        cause, search = self.cause, self.search
        return {
            "judge": self.flip.judge.name,
            "ends": self._plain_ends(),
            "unit": self.path.unit,
            "changes": [
                {"part": change.part, "removed": change.removed, "added": change.added}
                for change in self.path.changes
            ],
            "outcome": cause.outcome,
            "p_ends": cause.p_ends,
            "change": cause.change,
            "probability": cause.probability,
            "span": None if cause.span is None else list(cause.span),
            "alone": cause.alone,
            "needed": list(cause.needed),
            "complete": cause.complete,
            "afresh": [_plain_contrast(contrast) for contrast in (*search.turns, *search.members)],
            "turned": None if cause.turned is None else cause.turned.label,
            "curve": [
                {"made": point.made, "count": point.count, "asked": point.asked}
                for point in cause.curve
            ],
            "answers": [
                {"made": list(answer.hybrid), "verdict": answer.verdict}
                for answer in search.answers
            ],
        }

    def text(self, path: Path) -> str:
        """What a file of the answer holds.

        Raises:
            UsageError: it is to be in another form than JSON.
        """
        if path.suffix != ".json":
            raise UsageError(
                "the cause of a flip cannot be written in this form",
                found=f"the suffix {path.suffix!r}",
                expected="a file that ends in .json",
            )
        return json.dumps(self.to_dict(), indent=2) + "\n"

    def _plain_ends(self) -> list[dict[str, Any]]:
        ends = zip((self.flip.old, self.flip.new), verdicts_at_ends(self.search), strict=True)
        return [
            {
                "name": end.name,
                "trial": end.judgment.trial.id,
                "recorded": label_of(end.judgment),
                "asked_again": verdicts,
            }
            for end, verdicts in ends
        ]


def _plain_contrast(contrast: Contrast) -> dict[str, Any]:
    """Eight answers without a change and eight with it, as a file holds them."""
    without, made = contrast.counts
    return {
        "without": {"made": list(contrast.without), "count": without, "asked": AFRESH},
        "with": {"made": list(contrast.made), "count": made, "asked": AFRESH},
        "p": contrast.p,
        "confirmed": contrast.is_confirmed,
    }
