"""A panel of judges in sentences, tables and JSON values. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_judgesense.datasheets.published_design import Table, Value
from pytest_judgesense.errors import listed
from pytest_judgesense.estimate import Clustered, compact
from pytest_judgesense.questions.report.panel.votes import JudgePanel, VotePrice
from pytest_judgesense.stats.effective_votes import EffectiveVotes
from pytest_judgesense.stats.inputs import LEVEL, NotEstimable
from pytest_judgesense.stats.selective import Selective
from pytest_judgesense.stats.subsets import FOLDS, BestPanel
from pytest_judgesense.trial import grouped

SCHEMA: Final = "judgesense/panel/1"
_A_THOUSAND: Final = 1000
_PRICED: Final = "calls and tokens an item, USD a 1,000 items"
# Where the bound on the error does not hold for the items without a label.
_NOT_DRAWN: Final[Mapping[str | None, str]] = {
    "chosen": "somebody chose the labelled items: the error on others is not bounded by them",
    "stratified": "the labelled items were drawn by strata, and are counted without weights: the "
    "error on all items is not bounded by them",
    None: "nobody says how the labelled items were drawn: if not by chance, the error on others is "
    'not bounded by them (labelled = "random" in [stimuli])',
}


# --- sentences ------------------------------------------------------------------------------------


def sentences(panel: JudgePanel) -> Iterator[str]:
    """What a reader is told first."""
    of = panel.ballots
    labelled = int(of.labelled.sum())
    against = f"{labelled} with {panel.labels_of}" if labelled else "none with a label"
    yield (
        f"{len(of.judges)} judges on {panel.suite}: {len(of.items)} items that all were asked "
        f"({len(of.common):,} trials each), {against}"
    )
    if of.left_out:
        yield f"left out: {of.left_out:,} trials that not every judge was asked and replied to"
    if panel.later_labels:
        yield (
            f"{panel.later_labels:,} label{'s' * (panel.later_labels != 1)} came after the first "
            "vote: if people saw votes, errors are missed and the error below is not bounded; "
            "label blind"
        )
    yield from _worth(panel)
    yield from _decided(panel)


def _worth(panel: JudgePanel) -> Iterator[str]:
    worth, names = panel.effective, panel.ballots.judges
    if isinstance(worth, NotEstimable):
        yield f"effective votes: not known: {worth.reason}"
        return
    by = (
        f"correlation of {'errors' if panel.by_errors else 'verdicts'} {compact(worth.correlation)}"
    )
    ends = f" {_ends(worth.interval)}" if worth.interval else ""
    value = f"{worth.value:.2f}" if math.isfinite(worth.value) else "no bound"
    yield f"effective votes: {value}{ends} of {len(worth.counted)} ({by} in the mean)"
    if len(worth.counted) < len(names):
        alike = [name for place, name in enumerate(names) if place not in worth.counted]
        what = "errors" if panel.by_errors else "verdicts"
        yield f"not counted, {what} alike on all items outside one cluster: {listed(alike)}"
    if not panel.by_errors:
        yield (
            "without labels verdicts are correlated, and judges that are right together look as "
            "if they depended on each other: label items (judgesense label)"
        )


def _decided(panel: JudgePanel) -> Iterator[str]:
    selective, of = panel.selective, panel.ballots
    if selective is None:
        return
    head = f"at an error of at most {panel.alpha:g} ({LEVEL:.0%} confidence, {panel.labels_of})"
    if isinstance(selective, NotEstimable):
        yield f"{head}: not known: {selective.reason}"
        return
    if (step := selective.chosen) is None:
        yield f"{head}: the panel decides nothing, all items go to people"
    else:
        decided = panel.decided_at(step.votes)
        yield (
            f"{head}: {step.votes} of {len(of.judges)} votes decide {decided} of {len(of.items)} "
            f"items ({decided / len(of.items):.0%}), {step.wrong} of {step.decided} with a label "
            f"wrongly; {len(of.items) - decided} go to people"
        )
    if not of.labelled.all() and of.drawn in _NOT_DRAWN:
        yield _NOT_DRAWN[of.drawn]


def _ends(interval: Clustered) -> str:
    return f"[{interval.lower:.2f}, {interval.upper:.2f}]"


# --- tables ---------------------------------------------------------------------------------------


def tables(panel: JudgePanel) -> Iterator[Table]:
    """Judges, sizes, votes needed, categories, and the items on which they disagree."""
    yield _judges(panel)
    if panel.sizes and not isinstance(panel.sizes, NotEstimable):
        yield _sizes(panel, panel.sizes)
    if isinstance(panel.selective, Selective):
        yield _votes_needed(panel, panel.selective)
    yield from _disagreements(panel)


def _judges(panel: JudgePanel) -> Table:
    of = panel.ballots
    is_right = of.votes == of.labels[:, None]
    top = panel.top[0]
    rows: list[tuple[Value, ...]] = []
    for place, name in enumerate(of.judges):
        votes, price = of.votes[:, place], panel.prices[place]
        right = float(is_right[of.labelled, place].mean()) if panel.by_errors else None
        alone = int(((votes >= 0) & (top >= 0) & (votes != top)).sum())
        rows.append((name, right, alone, int((votes < 0).sum()), *_priced(price)))
    return Table(
        "judges",
        f"votes of each judge; right: share of the items with {panel.labels_of}"
        if panel.by_errors
        else "votes of each judge",
        ("judge", "right", "against most", "no vote", "calls", "tokens", "USD"),
        tuple(rows),
        ("no vote: as often one answer as another, or no verdict", _PRICED),
    )


def _sizes(panel: JudgePanel, sizes: Sequence[BestPanel]) -> Table:
    rows = tuple(
        (
            len(best.judges),
            "+".join(panel.ballots.judges[judge] for judge in best.judges),
            best.held_out,
            best.gain,
            best.ends,
            *_priced(panel.price_of(best.judges)),
        )
        for best in sizes
    )
    return Table(
        "sizes",
        f"majority of the best panel of each size against {panel.labels_of}; gain over one judge",
        ("size", "panel", "right", "gain", "95%", "calls", "tokens", "USD"),
        rows,
        (
            f"right and gain on items that had no say in the choice ({FOLDS} folds of clusters)",
            "answers with equally many votes share an item",
        ),
        keys=2,
    )


def _priced(price: VotePrice) -> tuple[Value, ...]:
    usd = None if price.usd is None else price.usd * _A_THOUSAND
    calls = round(price.calls, 1)
    tokens = None if price.tokens is None else round(price.tokens)
    return int(calls) if calls.is_integer() else calls, tokens, usd


def _votes_needed(panel: JudgePanel, selective: Selective) -> Table:
    judges, items = len(panel.ballots.judges), len(panel.ballots.items)
    rows = tuple(
        (
            f"{step.votes} of {judges}",
            panel.decided_at(step.votes) / items,
            step.wrong,
            step.decided,
            step.wrong / step.decided if step.decided else None,
            "yes" if step.allowed else "no",
        )
        for step in selective.steps
    )
    return Table(
        "votes-needed",
        "what the panel decides, by the votes that one answer needs; wrong: of those with a label",
        ("votes", "decided", "wrong", "of", "error", f"at most {panel.alpha:g}"),
        rows,
    )


def _disagreements(panel: JudgePanel) -> Iterator[Table]:
    of, split = panel.ballots, {*panel.split.tolist()}
    by_category = grouped(range(len(of.items)), lambda row: of.items[row].category)
    if len(by_category) > 1:
        yield Table(
            "categories",
            "items on which not all judges have the same vote, by category",
            ("category", "disagree", "items", "share"),
            tuple(
                (name, count := len(split.intersection(rows)), len(rows), count / len(rows))
                for name, rows in sorted(by_category.items())
            ),
        )
    rows = tuple(
        (of.items[row].id, of.items[row].category, of.items[row].label, *_votes_of(panel, row))
        for row in panel.split.tolist()
    )
    yield Table(
        "disagreements",
        f"items on which not all judges have the same vote, the most divided first: {len(rows)} of "
        f"{len(of.items)}",
        ("item", "category", "label", "votes", "against most"),
        rows,
    )


def _votes_of(panel: JudgePanel, row: int) -> tuple[str, str]:
    """``YES (4), NO (1), none (1)``, and who has no vote for the first of them."""
    of, top = panel.ballots, int(panel.top[0][row])
    words = ["none" if vote < 0 else of.answers[vote] for vote in of.votes[row].tolist()]
    counts = sorted(Counter(words).items(), key=lambda pair: (pair[0] == "none", -pair[1], pair[0]))
    against = [
        name for name, vote in zip(of.judges, of.votes[row].tolist(), strict=True) if vote != top
    ]
    shown = ", ".join(f"{word} ({count})" for word, count in counts)
    return shown, "no majority" if top < 0 else ", ".join(against)


# --- as values ------------------------------------------------------------------------------------


def to_plain(panel: JudgePanel) -> dict[str, Any]:
    """What is printed, as JSON values, unrounded."""
    of, worth = panel.ballots, panel.effective
    return {
        "schema": SCHEMA,
        "suite": panel.suite,
        "seed": panel.seed,
        "alpha": panel.alpha,
        "judges": list(of.judges),
        "items": len(of.items),
        "trials": len(of.common),
        "left_out": of.left_out,
        "labels": {
            "items": int(of.labelled.sum()),
            "of": ("people" if of.by_people else "suite") if panel.by_errors else None,
            "drawn": of.drawn,
        },
        "effective_votes": _worth_of(worth, panel)
        if isinstance(worth, EffectiveVotes)
        else {"value": None, "unavailable": worth.reason},
        "notices": [*sentences(panel)],
        "tables": {table.name: rows_of(table) for table in tables(panel)},
    }


def _worth_of(worth: EffectiveVotes, panel: JudgePanel) -> dict[str, Any]:
    names = panel.ballots.judges
    return {
        "value": worth.value if math.isfinite(worth.value) else None,
        "of": len(worth.counted),
        "by": "errors" if panel.by_errors else "verdicts",
        "correlation": worth.correlation,
        "interval": worth.interval
        and {
            name: getattr(worth.interval, name)
            for name in ("method", "lower", "upper", "level", "clusters")
        },
        "pairs": [
            {"judges": [names[a], names[b]], "correlation": float(worth.pairs[a, b])}
            for a in worth.counted
            for b in worth.counted
            if a < b
        ],
    }


def rows_of(table: Table) -> list[dict[str, Any]]:
    """The rows of a table as values by column."""
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]
