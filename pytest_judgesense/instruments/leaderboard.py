"""Which judge is best on a suite: ranks, and how many clusters would settle open ones.

On a suite of any kind judges are ranked by the first of its measures that is `Measure.ranked`; of
one wording, which has no JSS, by their agreement with the labels. A section holds the data for it:
by cluster, how many units count, and of how many. So a datasheet compares judges of several
processes or files without their judgments. The comparison (`stats.ranks`) is paired over whole
clusters, with Holm-adjusted p-values over all pairs of judges.

A degenerate judge has no place where one answer to everything would pass for the best value.

For a measure of stability the spread over the judges is shown with the ranks (JudgeSense, arXiv
2604.23478: how far wording separates judges, task by task). With m_j that of judge j::

    spread       = max m_j - min m_j        over the judges that have a place
    paper_spread = the same                 over all that have a value, degenerate ones too

It grows with the number of judges, and with the error of each. Suites with more ordinal labels come
first: these show shifts that two labels hide, so coherence leads the tables of the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pytest_judgesense.datasheets.sections import (
    Board,
    ComparedJudge,
    Digits,
    Estimates,
    TableRow,
    TableRows,
)
from pytest_judgesense.errors import printable
from pytest_judgesense.estimate import Clustered, Estimate, Observations, find_estimate, number_text
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.definition import Measure, alone
from pytest_judgesense.measures.shared import AGREEMENT
from pytest_judgesense.stats.inputs import LEVEL
from pytest_judgesense.suites.suite import Suite, template_pairs
from pytest_judgesense.text import shown_change
from pytest_judgesense.text.estimate_columns import (
    CLUSTERED,
    COUNTS,
    VALUE,
    shown_columns,
    terminal_cells,
)
from pytest_judgesense.text.layout import indented, row

if TYPE_CHECKING:
    from pytest_judgesense.stats.ranks import Standings

# The table that holds the data of a judge's rank.
STANDING: Final = "standing"
_SHOWN_PAIRS: Final = 6
# The columns of every row of a leaderboard; the others are beside the rank.
_RANK_COLUMNS: Final = frozenset(
    ("rank", "ranks", "judge", "measure", "value", "n", "lower", "upper", "left_out")
)


def rank_data(cell: Cell, estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """The data of a judge's rank; empty if no measure ranks judges."""
    ranking = _ranking(cell, estimates)
    if ranking is None:
        return None
    measure, estimate = ranking
    under = f" ({', '.join(map(str, estimate.condition.values()))})" if estimate.condition else ""
    beside = dict((measure.ranked or alone)(estimates))
    left_out = beside.pop("left_out", None) or estimate.unavailable
    if not left_out and measure.stability and "degenerate" in estimate.flags:
        left_out = "degenerate: one answer to everything"
    elif not left_out and estimate.observations is None:
        left_out = "its units are not known"
    ends = estimate.clustered
    return [
        {
            "measure": f"{measure.name}{under}",
            "higher": measure.floor,
            "stable": measure.stability,
            "labels": len(cell.design.labels) * cell.design.ordinal,
            "value": estimate.value,
            "n": estimate.n,
            "lower": ends and ends.lower,
            "upper": ends and ends.upper,
            "left_out": left_out,
            "beside": beside,
            "clusters": {} if left_out else _by_cluster(estimate.observations),
            "aspects": _aspects(cell, estimates),
        }
    ]


def _ranking(cell: Cell, estimates: Estimates) -> tuple[Measure, Estimate] | None:
    """The measure that ranks judges, with its estimate; ``None`` if none does.

    The pooled estimate; on suites that pool nothing, such as two arms, the first of the widest.
    """
    compares = bool(template_pairs(cell.templates, cell.design.pairs))
    ranked = (m for m in cell.measures if m.ranked and (compares or not m.of_wordings))
    agreement = (measure for measure in cell.measures if measure.name == AGREEMENT.name)
    for measure in (*ranked, *agreement):
        of_measure = [estimate for estimate in estimates if estimate.measure == measure.name]
        if of_measure:
            return measure, min(of_measure, key=lambda estimate: len(estimate.condition))
    return None


def _aspects(cell: Cell, estimates: Estimates) -> dict[str, dict[str, Any]]:
    """The data to compare a judge over several suites: by aspect, measure and clusters."""
    rows = {}
    for measure in cell.measures:
        pooled = find_estimate(estimates, measure.name) if measure.aspect else None
        if pooled is None or pooled.observations is None or "degenerate" in pooled.flags:
            continue
        of = {"measure": measure.name, "higher": measure.floor}
        rows[measure.aspect] = {**of, "clusters": _by_cluster(pooled.observations)}
    return rows


def most_stable(compared_judges: Iterable[tuple[str, ComparedJudge]], seed: int) -> Iterator[str]:
    """Which judge is the most stable, a sentence an aspect: over all suites that all were asked.

    A judge that gives the same answer to everything is not ranked. Clusters of different suites are
    separate, even if they have the same text.
    """
    by_judge: dict[str, dict[tuple[str, str], TableRow]] = {}
    for suite, compared_judge in compared_judges:
        for ranked in _standings(suite, [compared_judge]).values():
            values_of_judge = by_judge.setdefault(compared_judge.name, {})
            values_of_judge |= {
                (aspect, suite): of for aspect, of in ranked.get("aspects", {}).items()
            }
    aspects = dict.fromkeys(
        aspect for values_of_judge in by_judge.values() for aspect, _ in values_of_judge
    )
    for aspect in aspects:
        suites_of = {
            name: {s for a, s in values_of_judge if a == aspect}
            for name, values_of_judge in by_judge.items()
        }
        suites_of = {name: suites for name, suites in suites_of.items() if suites}
        common = sorted(set.intersection(*suites_of.values())) if suites_of else []
        if len(suites_of) < 2 or not common:
            continue
        first = by_judge[next(iter(suites_of))][aspect, common[0]]
        sign = 1 if first["higher"] else -1
        clusters = {
            name: {
                f"{suite}\n{cluster}": sums
                for suite in common
                for cluster, sums in by_judge[name][aspect, suite]["clusters"].items()
            }
            for name in suites_of
        }
        stand = _compared(clusters, sign, seed)
        on = common[0] if len(common) == 1 else f"{len(common)} suites"
        yield stand.verdict(f"most stable by {aspect} ({first['measure']} on {on})")


def _compared(
    clusters: Mapping[str, Mapping[str, Sequence[float]]], sign: int, seed: int
) -> Standings:
    """Judges compared by their shares; ``sign``: -1 where less is better."""
    # Not before there are judges to compare: it takes scipy.
    from pytest_judgesense.stats.ranks import share, shortfall, standings

    return standings(clusters, share if sign > 0 else shortfall, seed=seed)


def _by_cluster(units: Observations | None) -> dict[str, list[float]]:
    """The sum and the number of the units of each cluster, in the order in which they begin."""
    if units is None:
        return {}
    sums, sizes = (np.bincount(units.codes, of).tolist() for of in (units.numbers, None))
    begun = dict.fromkeys(units.codes.tolist())
    return {str(units.names[code]): [sums[code], float(sizes[code])] for code in begun}


def leaderboard(
    suite: str,
    compared_judges: Sequence[ComparedJudge],
    seed: int,
    _secondary: bool = False,
    *,
    standing: str = STANDING,
) -> Mapping[str, TableRows]:
    """The judges of a suite with their ranks, every pair of them, and which one is best.

    Judges that cannot be ranked come last, with the reason. ``standing``: the table with the data
    of the ranks.
    """
    row_by_judge = _standings(suite, compared_judges, standing)
    placed = {name: of for name, of in row_by_judge.items() if of["left_out"] is None}
    if len(row_by_judge) < 2 or not placed:
        return {}
    first = next(iter(placed.values()))
    for name, of in [*placed.items()]:
        if of["measure"] != first["measure"]:  # it has other wordings, of its own
            other = f"measured by {of['measure']}, not by {first['measure']}"
            row_by_judge[name] = {**placed.pop(name), "left_out": other}
    measure, sign = first["measure"], 1 if first["higher"] else -1
    stand = _compared({name: of["clusters"] for name, of in placed.items()}, sign, seed)
    rows = [
        {"rank": stand.rank(name), "ranks": list(ends), **_row(name, placed[name])}
        for name, ends in stand.ranks.items()
    ]
    rows += [
        {"rank": None, "ranks": None, **_row(name, of)}
        for name, of in row_by_judge.items()
        if name not in placed
    ]
    best_by = f"{'most stable' if first['stable'] else 'best'} by {measure}"
    return {
        "leaderboard": rows,
        "judge_pairs": pair_rows(stand, measure, sign),
        "best_judge": [
            {"measure": measure, "judge": stand.best, "verdict": stand.verdict(best_by)}
        ],
        **(
            {"judge_spread": spread}
            if first["stable"] and (spread := _spread(row_by_judge))
            else {}
        ),
    }


def _standings(
    suite: str, compared_judges: Iterable[ComparedJudge], standing: str = STANDING
) -> dict[str, TableRow]:
    return {
        judge.name: table["rows"][0]
        for judge in sorted(compared_judges, key=lambda judge: judge.name)
        for table in judge.analyses
        if (table["analysis"], table["suite"]) == (standing, suite)
    }


def most_labels(suite: str, compared_judges: Sequence[ComparedJudge]) -> int:
    """The ordinal labels of a suite; 0 without an order, and where a file does not say."""
    return max(
        (of.get("labels", 0) for of in _standings(suite, compared_judges).values()), default=0
    )


def _spread(row_by_judge: Mapping[str, TableRow]) -> TableRows:
    """The spread of the judges; no row if fewer than two have a value."""
    values = {name: of["value"] for name, of in row_by_judge.items() if of["value"] is not None}
    placed = [name for name in values if row_by_judge[name]["left_out"] is None]
    if len(values) < 2 or not placed:
        return []
    least, most = (end(placed, key=values.__getitem__) for end in (min, max))
    return [
        {
            "measure": row_by_judge[least]["measure"],
            "judges": len(placed),
            "spread": values[most] - values[least] if len(placed) > 1 else None,
            "least": least,
            "lowest": values[least],
            "most": most,
            "highest": values[most],
            "left_out": [name for name in values if name not in placed],
            "paper_spread": max(values.values()) - min(values.values()),
        }
    ]


def _row(name: str, of: TableRow) -> dict[str, Any]:
    return {"judge": name, **{key: of[key] for key in of if key in _RANK_COLUMNS}, **of["beside"]}


def pair_rows(stand: Standings, measure: str, sign: int) -> list[dict[str, Any]]:
    """Every two judges; ``sign``: -1 where lower values of ``measure`` are better, else 1."""
    pairs = []
    for pair in stand.pairs:
        ends = sorted(sign * end for end in pair.interval) if pair.interval else (None, None)
        pairs.append(
            {
                "first": pair.first,
                "second": pair.second,
                "measure": measure,
                "difference": None if pair.difference is None else sign * pair.difference + 0.0,
                "lower": ends[0],
                "upper": ends[1],
                "p": pair.p,
                "told_apart": pair.apart,
                "clusters": pair.clusters,
                "clusters_that_differ": pair.differ,
                "clusters_needed": pair.needed,
            }
        )
    return pairs


def ranks_text(ranks: Sequence[int]) -> str:
    """The ranks that a judge may have: ``1``, or ``1 to 2``."""
    return " to ".join(map(str, dict.fromkeys(ranks)))


def ends_text(of: TableRow) -> str:
    """The ends of an interval; empty if there is none."""
    if of["lower"] is None:
        return ""
    return shown_change.ends_text((of["lower"], of["upper"]))


def _estimate_of(of: TableRow) -> Estimate:
    """The number of a row, to be shown in the columns of estimates: what a row has of one."""
    ends = None
    if of["lower"] is not None:
        lower, upper = of["lower"], of["upper"]
        ends = Clustered("", lower, upper, LEVEL, 0, None, None, lower, upper)
    return Estimate(
        of["measure"],
        "",
        value=of["value"],
        n=of["n"],
        clustered=ends,
        unavailable=of["left_out"] if of["value"] is None else None,
    )


def _beside(of: TableRow) -> dict[str, str]:
    return {
        key: number_text(value) if isinstance(value, float) else str(value or "")
        for key, value in of.items()
        if key not in _RANK_COLUMNS
    }


def board(_suite: str, tables: Mapping[str, TableRows]) -> Board:
    """The leaderboard for Markdown, with the pairs below it."""
    rows = tables["leaderboard"]
    measure = rows[0]["measure"]
    estimates = list(map(_estimate_of, rows))
    further = [
        column
        for column in shown_columns()
        if column not in (COUNTS, VALUE)
        and (column is CLUSTERED or any(map(column.text, estimates)))
    ]
    numbers = ("n", measure, *(column.head for column in further))
    # The reason for leaving a judge out takes the last column, if need be a further one.
    heads = ("ranks", "judge", *numbers, *(_beside(rows[0]) or [""]))
    cells = [
        ("", of["judge"], *[""] * (len(heads) - 3), f"left out: {of['left_out']}")
        if of["ranks"] is None
        else (
            Digits(ranks_text(of["ranks"])),
            of["judge"],
            Digits(of["n"]),
            Digits(VALUE.text(estimate)),
            *(Digits(column.text(estimate)) for column in further),
            *(map(Digits, _beside(of).values()) if heads[-1] else [""]),
        )
        for of, estimate in zip(rows, estimates, strict=True)
    ]
    return Board(f"By {measure} on", heads, tuple(cells), tuple(_notes(tables)))


def _notes(tables: Mapping[str, TableRows]) -> Iterator[str]:
    yield tables["best_judge"][0]["verdict"]
    yield from map(_spread_words, tables.get("judge_spread", ()))
    yield from pair_words(tables["judge_pairs"])


def _spread_words(of: TableRow) -> str:
    measure = of["measure"]
    if of["spread"] is None:
        words = f"spread of {measure} over judges: N/A, {of['least']} is the only one ranked"
    else:
        words = f"spread of {measure} over {of['judges']} judges: {number_text(of['spread'])}, "
        words += f"from {number_text(of['lowest'])} ({of['least']}) "
        words += f"to {number_text(of['highest'])} ({of['most']})"
    if of["left_out"]:
        words += f"; with {', '.join(of['left_out'])}, as in the paper: "
        words += number_text(of["paper_spread"])
    return words


def pair_words(pairs: TableRows) -> Iterator[str]:
    """Every two judges in words, the first ones of many."""
    yield from map(_pair_words, pairs[:_SHOWN_PAIRS])
    if len(pairs) > _SHOWN_PAIRS:
        yield f"{len(pairs) - _SHOWN_PAIRS} more pairs are in the JSON of the datasheet"


def _pair_words(of: TableRow) -> str:
    names = f"{of['first']} and {of['second']}"
    if of["difference"] is None:
        return f"{names}: no cluster that both were asked"
    if not of["clusters_that_differ"]:
        return f"{names}: alike in all {of['clusters']} clusters"
    ends = None if of["lower"] is None else (of["lower"], of["upper"])
    change = shown_change.ShownChange(of["difference"], ends)
    numbers = f"{f'{change.value:+.3f} {ends_text(of)}'.rstrip()}, p {of['p']:.3g}"
    if of["told_apart"] and change.is_shown:
        return f"{names}: differ by {numbers}"
    return f"{names}: {numbers}, no clear difference"


def brief(suite: str, tables: Mapping[str, TableRows]) -> Iterator[str]:
    """The judges of a suite by their ranks, in one line."""
    rows = tables["leaderboard"]
    ranked = brief_ranks((of["ranks"], of["judge"]) for of in rows if of["ranks"] is not None)
    left_out = [of["judge"] for of in rows if of["ranks"] is None]
    out = f"; left out {', '.join(left_out)}" if left_out else ""
    yield f"{suite}, {rows[0]['measure']}: {ranked}{out}"


def brief_ranks(ranked: Iterable[tuple[Sequence[int], str]]) -> str:
    """``1 clean; 2 to 3 mixed, noisy``: judges of the same ranks together."""
    together: dict[str, list[str]] = {}
    for ranks, name in ranked:
        together.setdefault(ranks_text(ranks), []).append(name)
    return "; ".join(f"{ranks} {', '.join(names)}" for ranks, names in together.items())


def board_lines(suite: str, tables: Mapping[str, TableRows]) -> Iterator[str]:
    """The leaderboard on a terminal."""
    rows = tables["leaderboard"]
    yield from indented(f"{suite}, by {rows[0]['measure']}", width=2)
    for of in rows:
        if of["ranks"] is None:
            yield from indented(f"left out: {of['judge']}, {of['left_out']}", width=4)
            continue
        yield from row(
            printable(f"    {ranks_text(of['ranks']):<7} {of['judge']}"),
            terminal_cells(_estimate_of(of)),
        )
        beside = [f"{key} {text}" for key, text in _beside(of).items() if text]
        yield from indented(", ".join(beside), width=12)
    for note in _notes(tables):
        yield from indented(note, width=4)
