"""The ranking of judge configurations on debates, in tables, words and a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.sections import (
    Board,
    ComparedJudge,
    Digits,
    TableRows,
    tables_named,
)
from pytest_judgesense.errors import printable
from pytest_judgesense.instruments.debate.measures import is_degenerate
from pytest_judgesense.instruments.leaderboard import brief_ranks, pair_words, ranks_text
from pytest_judgesense.text.layout import columns, headed, indented

_MOST_RANKS: Final = 20
# The columns with their widths: the rank, the name, and numbers.
_WIDTHS: Final = {
    "ranks": 8,
    "configuration": 18,
    "instability": 13,
    "flips": 14,
    "side bias": 14,
    "score var": 11,
    "conf var": 10,
    "first": 8,
}


def ranking(
    suite: str, compared_judges: Sequence[ComparedJudge], seed: int, secondary: bool
) -> Mapping[str, TableRows]:
    """The ranking and its further tables, by name of the table."""
    materials = {
        judge.judge: judge.material for judge in compared_judges if judge.material is not None
    }
    if not materials:
        return {}
    # Not before there are debates: the analyses take scipy.
    from pytest_judgesense.instruments.debate.secondary import analyses_of

    return analyses_of(suite, materials, seed, secondary=secondary)


def _texts(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        ranks_text(row["ranks"]),
        _marked(row),
        f"{row['instability']:.3f}",
        f"{row['repeat_flip_rate']:.1%} {row['repeat_flip_band']}",
        f"{row['side_bias']:.1%} {row['side_bias_band']}",
        f"{row['score_variance']:.3f}",
        f"{row['confidence_variance']:.4f}",
        f"{row['rank_shares'][0]:.1%}",
    )


def _marked(row: Mapping[str, Any]) -> str:
    """The name of a configuration, marked where it names one side in every judgment."""
    name = str(row["configuration"])
    return f"{name} {fig.MARK}" if is_degenerate(float(row["side_bias"])) else name


def _notes(tables: Mapping[str, TableRows]) -> Iterator[str]:
    basis = tables["ranking_basis"][0]
    for name, reason in basis["excluded"].items():
        yield f"left out: {name}, {reason}"
    yield basis["recommendation"]
    yield from pair_words([of for of in tables["model_pairs"] if of["told_apart"]])
    yield from pair_words(tables["configuration_pairs"])


def board(_suite: str, tables: Mapping[str, TableRows]) -> Board:
    """The ranking for Markdown."""
    return Board(
        "Ranking on",
        tuple(_WIDTHS),
        tuple(
            (Digits(rank), name, *map(Digits, texts))
            for rank, name, *texts in map(_texts, tables["ranking"])
        ),
        tuple(_notes(tables)),
    )


def board_lines(suite: str, tables: Mapping[str, TableRows]) -> Iterator[str]:
    """The ranking on a terminal."""
    rows, basis = tables["ranking"], tables["ranking_basis"][0]
    yield from headed(
        f"suite {suite}",
        [
            f"{len(rows)} configurations",
            f"{basis['debates']} debates of {basis['topics']} topics",
            f"{basis['runs']} run{'s' * (basis['runs'] != 1)}",
            f"variances over {basis['denominator']}",
            f"weights {', '.join(f'{weight:g}' for weight in basis['weights'].values())}",
        ],
    )
    yield from _columns(*_WIDTHS)
    for row in rows:
        rank, name, *texts = _texts(row)
        # Bands are as wide as the widest of them.
        flips, bias = (f"{share} {band:<6}" for share, band in map(str.split, texts[1:3]))
        yield from _columns(rank, printable(name), texts[0], flips, bias, *texts[3:])
    for note in _notes(tables):
        yield from indented(note, width=2)


def _columns(rank: str, name: str, *values: str) -> Iterator[str]:
    """A row of the ranking; a narrow terminal leaves its last columns out, which files hold."""
    first, second, *widths = _WIDTHS.values()
    if len(name) > second:
        yield from indented(name, width=8)
        name = ""
    line = f" {rank:>{first}}  {name:<{second}}"
    for text, width in zip(values, widths, strict=True):
        if len(line) + width > columns():
            break
        line += f"{text:>{width}}"
    yield line.rstrip()


def brief(suite: str, tables: Mapping[str, TableRows]) -> Iterator[str]:
    """The configurations by their ranks, in one line, and which one is recommended."""
    rows = tables["ranking"]
    ranked = brief_ranks((row["ranks"], _marked(row)) for row in rows)
    yield f"{suite}, instability: {ranked}"


def ranking_figures(sheet: Datasheet) -> Iterator[fig.Found]:
    """In which share of resamples each configuration takes which rank."""
    tables = [(suite, rows) for _, suite, rows in tables_named(sheet, "ranking") if rows]
    recommended = {
        suite: str(row["configuration"])
        for _, suite, rows in tables_named(sheet, "ranking_recommendation")
        for row in rows
        if row["recommended"]
    }
    if not tables:
        head = fig.Head("ranking", "8", "Debate ranking")
        yield fig.Absent(
            head, "It needs debates that were judged repeatedly: --judge-suite debate."
        )
    for index, (suite, rows) in enumerate(tables):
        head = fig.Head(
            f"ranking-{index + 1}" if index else "ranking", "8", f"Debate ranking: {suite}"
        )
        yield _ranks(head, rows, recommended.get(suite))


def _ranks(head: fig.Head, rows: TableRows, recommended: str | None = None) -> fig.Figure:
    """The figure of a ranking; it names the recommended configuration, the first one by default."""
    names = [str(row["configuration"]) for row in rows]
    best = names.index(recommended) if recommended in names else 0
    shares = [tuple(map(float, row["rank_shares"])) for row in rows]
    ranks = [str(place + 1) for place in range(len(rows))]
    few = len(rows) <= _MOST_RANKS  # more numbers than these would overlap
    instability_of = {
        (place, line): (share, fig.shown(share) if share >= 0.0005 and few else "")
        for line, of_ranks in enumerate(shares)
        for place, share in enumerate(of_ranks)
    }
    of_all = [(printable(_marked(row)), row["rank"], float(row["instability"])) for row in rows]
    lines = [f"{name}  {fig.shown(instability)}" for name, _, instability in of_all]

    def draw(axes: Any) -> None:
        fig.heat(axes, ranks, lines, instability_of)
        fig.labels(axes, "rank", "configuration")

    if is_degenerate(float(rows[best]["side_bias"])):
        standing = "has the lowest instability and names one side throughout"
    elif rows[best]["ranks"][1] == 1:
        standing = "is the most stable configuration"
    else:
        standing = "has the lowest instability, not told apart from every other one"
    first = fig.percent(shares[best][0])
    return fig.Figure(
        head,
        f"{of_all[best][0]} {standing}: first in {first} of resamples",
        "Each line is a configuration, the most stable on top: in which share of resamples of "
        "topics it takes which rank. Instability is the number behind its name. The title names "
        "the recommended one.",
        (fig.Panel(draw, fig.height_of_rows(len(rows), names=ranks)),),
        ("configuration", "rank", "instability", *(f"share of rank {rank}" for rank in ranks)),
        tuple((*of, *share) for of, share in zip(of_all, shares, strict=True)),
        wide=True,
    )
