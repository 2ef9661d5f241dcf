"""JudgeBench for debates as one design: 25 topics, two assignments, three prompts, three runs.

Its main table has the configurations of judge and prompt with the parts of the instability and
their rank; further ones set the prompts of a judge, and the judges, against one another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.published_design import (
    Arm,
    ItemWriting,
    LogForm,
    Paper,
    Table,
    Value,
    WriterCalls,
    WritingOrder,
    WrittenItems,
)
from pytest_judgesense.datasheets.sections import TableRows
from pytest_judgesense.datasheets.sent_settings import settings_table
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.instruments.debate.judgebench import is_of_judgebench, results_at
from pytest_judgesense.instruments.debate.measures import (
    CONFIDENCE_VARIANCE,
    DEGENERATE,
    INSTABILITY,
    PROMPT_DISAGREEMENT,
    RANK,
    SCORE_DELTA,
    SCORE_VARIANCE,
    is_degenerate,
)
from pytest_judgesense.instruments.debate.ranking import RESAMPLES, material_of
from pytest_judgesense.instruments.debate.replies import holds_debates
from pytest_judgesense.instruments.debate.secondary import analyses_of
from pytest_judgesense.instruments.debate.stimuli import DEBATE, STYLES
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.shared import REPEAT_FLIP_RATE, SIDE_BIAS

_DEBATES, _PROMPTS, _RUNS = 50, ("p0", "p1", "p2"), 3
_PARTS: Final = (REPEAT_FLIP_RATE, SCORE_VARIANCE, CONFIDENCE_VARIANCE, SIDE_BIAS)
_HEADINGS: Final = {
    REPEAT_FLIP_RATE.name: "flip rate",
    SCORE_VARIANCE.name: "score variance",
    CONFIDENCE_VARIANCE.name: "confidence variance",
    SIDE_BIAS.name: "side bias",
    INSTABILITY.name: "instability",
    RANK.name: "rank",
}


def tables(sheet: Datasheet, cells: Sequence[Cell]) -> Iterator[Table]:
    """Configurations by rank, their intervals, prompts of each judge, judges against each other."""
    # With the post hoc tests, which a datasheet holds where it is written as a file.
    of_judges = ((cell.judge, material_of(cell)) for cell in cells)
    materials = {judge: material for judge, material in of_judges if material is not None}
    if not materials:
        return
    analyses = analyses_of(cells[0].suite, materials, sheet.seed, secondary=True)
    yield _configurations(sheet, [*filter(holds_debates, cells)], analyses)
    yield _intervals(analyses["ranking_intervals"])
    yield Table(
        "prompts",
        "Two prompts of one judge: the share of debates whose winners differ, with its 95% "
        "interval, the number of debates that both decide, and the mean distance of the scores.",
        ("judge", "prompts", "disagreement", "95% interval", "n", "score delta"),
        tuple(_prompts(sheet)),
        keys=2,
    )
    for name, unit, caption in (
        ("models", "post_hoc_models", "Judges compared, by the mean over their prompts"),
        ("pairs", "post_hoc", "Configurations compared"),
    ):
        yield Table(
            name,
            f"{caption}: difference of the instability of a topic (side bias left out, which has "
            "no meaning on one topic), paired t test over topics, p corrected by Bonferroni.",
            ("first", "second", "difference", "t", "p (Bonferroni)", "topics"),
            tuple(
                (
                    *row["pair"],
                    *(row[key] for key in ("difference", "t", "p_bonferroni", "topics")),
                )
                for row in analyses[unit]
                if "pair" in row
            ),
            notes=_not_tested(analyses[unit]),
            keys=2,
        )
    debates = {(cell.judge, cell.suite) for cell in cells if holds_debates(cell)}
    yield settings_table(
        sheet,
        cells,
        "suite",
        lambda suite: suite.partition("@")[0],
        lambda judge: [part for part in judge.parts if (judge.name, part.suite) in debates],
    )


def _not_tested(rows: TableRows) -> tuple[str, ...]:
    """Why there are no tests, or not of all pairs."""
    reasons = dict.fromkeys(
        f"N/A: {row['unavailable']}." if "pair" in row else str(row["unavailable"])
        for row in rows
        if "unavailable" in row
    )
    return tuple(reasons)


class _Configuration(NamedTuple):
    """A judge under a prompt, on all debates that it has judged itself.

    Attributes:
        name: ``judge:prompt``.
        parts: of the instability, in the order of their columns.
        instability: their weighted sum.
        rank: by it, from 1; equal ones share the better rank.
    """

    name: str
    parts: tuple[float | None, ...]
    instability: float
    rank: int

    @property
    def is_degenerate(self) -> bool:
        """Whether it names one side in every judgment."""
        side_bias = self.parts[_PARTS.index(SIDE_BIAS)]
        return side_bias is not None and is_degenerate(side_bias)


def _by_rank(sheet: Datasheet, cells: Sequence[Cell]) -> list[_Configuration]:
    """The configurations with an instability, the lowest first."""
    values = {
        name: (tuple(parts), instability)
        for name, (*parts, instability) in _values_of(sheet, cells)
        if instability is not None
    }
    # Rounded: sums in another order do not separate equal values.
    rounded = {name: round(instability, 12) for name, (_, instability) in values.items()}
    ranked = [
        _Configuration(name, *values[name], 1 + sum(other < own for other in rounded.values()))
        for name, own in rounded.items()
    ]
    return sorted(ranked, key=lambda configuration: (configuration.rank, configuration.name))


def _values_of(sheet: Datasheet, cells: Sequence[Cell]) -> Iterator[tuple[str, list[float | None]]]:
    """The parts and the instability of each configuration, as they are measured."""
    estimates = {
        (judge.name, part.suite): part.estimates for judge in sheet.judges for part in judge.parts
    }
    for cell in cells:
        for prompt in cell.templates:
            condition = {"prompt_style": prompt} if len(cell.templates) > 1 else {}
            measured = [
                find_estimate(estimates[cell.judge, cell.suite], measure.name, condition)
                for measure in (*_PARTS, INSTABILITY)
            ]
            values = [None if estimate is None else estimate.value for estimate in measured]
            yield f"{cell.judge}:{prompt}", values


def _configurations(
    sheet: Datasheet, cells: Sequence[Cell], analyses: Mapping[str, TableRows]
) -> Table:
    """Every configuration with its instability, its rank and what is said of it."""
    recommendation = {row["configuration"]: row for row in analyses["ranking_recommendation"]}
    ends = _ends(analyses["ranking_intervals"])
    configurations = _by_rank(sheet, cells)
    recommended = _recommended(configurations, recommendation)
    return Table(
        "configurations",
        "Configurations of judge and prompt by their instability: repeat flips, variance of scores "
        "and of confidence over runs, side bias, their weighted sum with its bootstrap interval "
        "over topics, the rank, and which configuration is recommended (the lowest instability). "
        "Beside it the one with the lowest sum of ranks among those that may be the most stable. "
        "One that names one side in every judgment (side bias 0.5) is degenerate.",
        (
            *("configuration", *(_HEADINGS[part.name] for part in _PARTS)),
            *("instability", "instability, 95%", "rank", "recommended", "flags"),
        ),
        tuple(
            (
                *(configuration.name, *configuration.parts, configuration.instability),
                ends.get((configuration.name, INSTABILITY.name)),
                configuration.rank,
                _choice(
                    yes=configuration.name == recommended,
                    by_ranks=_is(recommendation, configuration.name, "recommended_by_ranks"),
                ),
                DEGENERATE if configuration.is_degenerate else "",
            )
            for configuration in configurations
        ),
        notes=tuple(_notes(analyses, configurations, recommended, _debates(cells))),
    )


def _recommended(
    configurations: Sequence[_Configuration], recommendation: Mapping[str, Mapping[str, Any]]
) -> str | None:
    """That of the lowest instability; of equal ones that of the ranking."""
    lowest = [configuration.name for configuration in configurations if configuration.rank == 1]
    ranked_first = [name for name in lowest if _is(recommendation, name, "recommended")]
    return next(iter([*ranked_first, *lowest]), None)


def _is(recommendation: Mapping[str, Mapping[str, Any]], name: str, how: str) -> bool:
    """Whether the ranking says so of a configuration; not of one that it leaves out."""
    return bool(recommendation.get(name, {}).get(how))


def _debates(cells: Sequence[Cell]) -> int:
    """How many debates there are."""
    return len({judgment.trial.item for cell in cells for judgment in cell.judgments})


def _intervals(rows: TableRows) -> Table:
    """The bootstrap intervals of every configuration."""
    measures = (*_PARTS, INSTABILITY, RANK)
    ends = _ends(rows)
    return Table(
        "intervals",
        "Bootstrap intervals (95%) of the configurations: percentiles over "
        f"{RESAMPLES:,} resamples of whole topics, the same ones for every configuration.",
        ("configuration", *(_HEADINGS[measure.name] for measure in measures)),
        tuple(
            (name, *(ends.get((name, measure.name)) for measure in measures))
            for name in dict.fromkeys(row["configuration"] for row in rows)
        ),
        notes=_alike(rows),
    )


def _alike(rows: TableRows) -> tuple[str, ...]:
    """Why intervals are not there."""
    reasons = dict.fromkeys(str(row["unavailable"]) for row in rows if row["lower"] is None)
    return tuple(f"N/A: {reason}." for reason in reasons)


def _ends(rows: TableRows) -> dict[tuple[str, str], tuple[float, float]]:
    """The intervals by configuration and measure; those of ranks are whole numbers."""
    return {
        (row["configuration"], row["measure"]): (
            (int(row["lower"]), int(row["upper"]))
            if row["measure"] == RANK.name
            else (row["lower"], row["upper"])
        )
        for row in rows
        if row["lower"] is not None
    }


def _choice(*, yes: bool, by_ranks: bool) -> str:
    return ", ".join(["yes"] * yes + ["by ranks"] * by_ranks) or "no"


def _notes(
    analyses: Mapping[str, TableRows],
    configurations: Sequence[_Configuration],
    recommended: str | None,
    debates: int,
) -> Iterator[str]:
    for row in analyses["ranking_basis"]:
        yield f"Variances divide by {row['denominator']}."
        yield from (f"Not compared: {name}, {reason}." for name, reason in row["excluded"].items())
    rows = analyses["ranking_intervals"]
    yield from _alike([row for row in rows if row["measure"] == INSTABILITY.name])
    compared = sum(int(row["debates"]) for row in analyses["ranking_basis"])
    # Nothing is compared where no debate was judged twice by all of them.
    if 0 < compared < debates:
        first = next(
            row["configuration"] for row in analyses["ranking_recommendation"] if row["recommended"]
        )
        yield (
            f"Intervals, ranks by their sum and figure 8 compare on the {compared} of {debates} "
            f"debates that every configuration has judged twice; there {first} is the lowest."
        )
    for configuration in configurations:
        if configuration.name == recommended and configuration.is_degenerate:
            yield (
                f"{recommended} is recommended by its instability and is degenerate: it names one "
                "side in every judgment, which is no stability."
            )


def _prompts(sheet: Datasheet) -> Iterator[tuple[Value, ...]]:
    for judge in sheet.judges:
        for part in judge.parts:
            for estimate in part.estimates:
                pair = estimate.condition.get("prompt_pair")
                if estimate.measure != PROMPT_DISAGREEMENT.name or pair is None:
                    continue
                ends = estimate.interval
                delta = find_estimate(part.estimates, SCORE_DELTA.name, estimate.condition)
                yield (
                    judge.name,
                    str(pair),
                    estimate.value,
                    None if ends is None else (ends.lower, ends.upper),
                    estimate.n,
                    None if delta is None else delta.value,
                )


# Models that debate: few sessions have them.
def _planned_debates(order: WritingOrder) -> list[WriterCalls]:
    from pytest_judgesense.instruments.debate.generation import planned_debates

    return planned_debates(order)


def _written_debates(order: WritingOrder) -> WrittenItems:
    from pytest_judgesense.instruments.debate.generation import written_debates

    return written_debates(order)


PAPER: Final = Paper(
    "debates",
    "JudgeBench for debates: which judge configuration is the most stable?",
    "JudgeBench for debates: stability of LLM judges of debates under repeated runs, prompts and "
    "exchanged sides",
    tuple(
        Arm(
            f"{_DEBATES} debates, prompt {prompt}, {_RUNS} runs",
            "debate@paper",
            _DEBATES * _RUNS,
            _DEBATES * _RUNS,
        )
        for prompt in _PROMPTS
    ),
    tables,
    writing=ItemWriting("debates", tuple(STYLES), _planned_debates, _written_debates),
    kinds=(DEBATE.name,),
    forms=(LogForm("folders of JudgeBench's results", is_of_judgebench, results_at),),
    measured_by={
        **{part.name.replace("_", " "): part.name for part in (*_PARTS, INSTABILITY)},
        "flip rate": REPEAT_FLIP_RATE.name,
        "score delta": SCORE_DELTA.name,
        **dict.fromkeys(("disagreement", "95% interval"), PROMPT_DISAGREEMENT.name),
    },
)
