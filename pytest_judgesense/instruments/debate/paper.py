"""JudgeBench for debates as one design: 25 topics, two assignments, three prompts, three runs.

Its main table has the configurations of judge and prompt with the parts of the instability and
their rank; further ones set the prompts of a judge, and the judges, against one another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

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
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.instruments.debate.judgebench import has_results, results_at
from pytest_judgesense.instruments.debate.measures import (
    CONFIDENCE_VARIANCE,
    DEGENERATE,
    INSTABILITY,
    PROMPT_DISAGREEMENT,
    RANK,
    SCORE_DELTA,
    SCORE_VARIANCE,
)
from pytest_judgesense.instruments.debate.ranking import RESAMPLES, material_of
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
    yield _configurations(analyses)
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
            notes=tuple(row["unavailable"] for row in analyses[unit] if "pair" not in row),
            keys=2,
        )


def _configurations(analyses: Mapping[str, TableRows]) -> Table:
    """Every configuration with its instability, its rank and what is said of it."""
    recommendation = {row["configuration"]: row for row in analyses["ranking_recommendation"]}
    ends = _ends(analyses["ranking_intervals"])
    return Table(
        "configurations",
        "Configurations of judge and prompt by their instability: repeat flips, variance of scores "
        "and of confidence over runs, side bias, their weighted sum with its bootstrap interval "
        "over topics, the rank, and which configuration is recommended (the lowest instability). "
        "Beside it the one with the lowest sum of ranks among those that may be the most stable. "
        "One that names one side in every judgment (side bias 0.5) is degenerate.",
        (
            *("configuration", "flip rate", "score variance", "confidence variance", "side bias"),
            *("instability", "instability, 95%", "rank", "recommended", "flags"),
        ),
        tuple(
            (
                row["configuration"],
                *(row[part.name] for part in _PARTS),
                row[INSTABILITY.name],
                ends.get((row["configuration"], INSTABILITY.name)),
                row["rank"],
                _choice(recommendation[row["configuration"]]),
                DEGENERATE if row[DEGENERATE] else "",
            )
            for row in analyses["ranking"]
        ),
        notes=tuple(_notes(analyses)),
    )


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


def _choice(row: Mapping[str, Any]) -> str:
    words = {"recommended": "yes", "recommended_by_ranks": "by ranks"}
    return ", ".join(word for key, word in words.items() if row[key]) or "no"


def _notes(analyses: Mapping[str, TableRows]) -> Iterator[str]:
    for row in analyses["ranking_basis"]:
        yield f"Variances divide by {row['denominator']}."
        yield from (f"Left out: {name}, {reason}." for name, reason in row["excluded"].items())
    rows = analyses["ranking_intervals"]
    yield from _alike([row for row in rows if row["measure"] == INSTABILITY.name])
    for row in analyses["ranking_recommendation"]:
        if row["recommended"] and row[DEGENERATE]:
            yield (
                f"{row['configuration']} is recommended by its instability and is degenerate: it "
                "names one side in every judgment, which is no stability."
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
    forms=(LogForm("folders of JudgeBench's results", has_results, results_at),),
    measured_by={
        **{part.name.replace("_", " "): part.name for part in (*_PARTS, INSTABILITY)},
        "flip rate": REPEAT_FLIP_RATE.name,
        "score delta": SCORE_DELTA.name,
        **dict.fromkeys(("disagreement", "95% interval"), PROMPT_DISAGREEMENT.name),
    },
)
