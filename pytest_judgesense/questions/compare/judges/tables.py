"""The tables of two judges on one suite: measures, verdicts that moved, marks. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_judgesense.datasheets.published_design import Table, Value
from pytest_judgesense.questions.compare.judges.model_change import (
    FAIL,
    PASS,
    ModelChange,
    ScoredTrials,
)
from pytest_judgesense.questions.compare.variants import word_of
from pytest_judgesense.stats.kept_mark import KeptMark

MOVED: Final = "moved"
_NO_VERDICT: Final = "no verdict"


def tables(model_change: ModelChange) -> Iterator[Table]:
    """Measures of both, verdicts that moved, marks, and the items that no mark keeps."""
    yield _measures(model_change)
    yield _moved(model_change)
    if isinstance(model_change.matched, KeptMark) and model_change.scale is not None:
        yield _marks(model_change.scale, model_change.matched)
        yield _not_kept(model_change.scale, model_change.matched)


def _measures(model_change: ModelChange) -> Table:
    rows = tuple(
        (
            word_of(change.measure),
            *change.values,
            change.difference,
            change.ends,
            f"{change.pair.p:.3g}",
            change.verdict or "not told apart",
        )
        for change in model_change.measures.changes
    )
    return Table(
        "measures",
        "of both; change and interval over whole clusters, p by Holm over all lines",
        ("measure", "old", "new", "change", "95% clustered", "p", "verdict"),
        rows,
    )


def _moved(model_change: ModelChange) -> Table:
    design = model_change.old.design
    words = [FAIL, PASS] if design.criteria else [*design.labels]
    seen = {word for pair in model_change.moves for word in pair if word is not None}
    words = [*words, *sorted(seen - {*words})]
    missing: list[str | None] = [None] if any(None in pair for pair in model_change.moves) else []
    columns = [*words, *missing]

    def row(old: str | None) -> tuple[Value, ...]:
        counts = [model_change.moves[old, new] for new in columns]
        total = sum(counts)
        return (old or _NO_VERDICT, *counts, counts[columns.index(old)] / total)

    what = (
        "slots" if design.pairwise else "sides of the old mark" if design.criteria else "verdicts"
    )
    return Table(
        MOVED,
        f"trials by the old verdict (lines) and the new one (columns); {what}",
        ("old", *(word or _NO_VERDICT for word in columns), "kept"),
        tuple(row(old) for old in columns if any(model_change.moves[old, new] for new in columns)),
    )


def _marks(scale: ScoredTrials, matched: KeptMark) -> Table:
    """The marks of a scale of labels; of other scores those that the sentences name."""
    named = {rate.mark: rate for rate in (matched.nearest, matched.fewest)}
    shown = matched.marks or [named[mark] for mark in sorted(named)]
    return Table(
        "marks",
        f"of the new judge, beside the old pass rate of {matched.old_rate:.3f}",
        ("mark", "passes", "change", "95% clustered", "pass to fail", "fail to pass"),
        tuple(
            (
                scale.word(rate.mark),
                rate.rate,
                rate.change,
                rate.ends,
                rate.lost,
                rate.gained,
            )
            for rate in shown
        ),
    )


def _not_kept(scale: ScoredTrials, matched: KeptMark) -> Table:
    rows = tuple(
        (
            both.old.trial.id,
            PASS if passed else FAIL,
            FAIL if passed else PASS,
            scale.word(score),
        )
        for both, passed, score, lost in zip(
            scale.trials, scale.passed, scale.scores, matched.not_kept.tolist(), strict=True
        )
        if lost
    )
    return Table(
        "not-kept",
        f"trials whose side no such mark keeps: {len(rows)} of {len(scale.trials)}",
        ("trial", "old", "new", "new score"),
        rows,
    )
