"""Judge Datasheet (arXiv 2606.15610) as one design: vacuum, the ladder, and the strict criterion.

Its Table 3 is a row a judge; Table 4 sets the strict prompt against the baseline prompt on the same
calls; Table 6 has every number with its count and its interval. Dark current is that of the
baseline prompt alone: the paper runs no vacuum under the strict one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final, NamedTuple

from pytest_judgesense.datasheets.datasheet import Datasheet, JudgeSheet
from pytest_judgesense.datasheets.profile import sketch
from pytest_judgesense.datasheets.published_design import Arm, Paper, Table, Value
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.instruments.ladder.measures import WORDS as LADDER_WORDS
from pytest_judgesense.instruments.ladder.stimuli import CRITERION, LADDER
from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT
from pytest_judgesense.instruments.vacuum.measures import WORDS as VACUUM_WORDS
from pytest_judgesense.instruments.vacuum.stimuli import VACUUM
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.trial import Condition

_POOLED: Final[Condition] = {}
_NEAR: Final[Condition] = {"distance": 1}
_FAR: Final[Condition] = {"distance": 5}
_EQUAL: Final[Condition] = {"distance": 0}


class _Column(NamedTuple):
    """A number of a judge: its heading, the suite, the measure and its condition."""

    heading: str
    suite: str
    measure: str
    condition: Condition = _POOLED


_TABLE_3: Final = (
    _Column("DC", DARK_CURRENT.suite or "", DARK_CURRENT.name),
    _Column("RFP", "ladder", "raw_false_preference"),
    _Column("SCS", "ladder", "stable_cross_sensitivity"),
    _Column("PFP", "ladder", "positional_false_preference"),
    _Column("delta 1", "ladder", "target_sensitivity", _NEAR),
    _Column("delta 5", "ladder", "target_sensitivity", _FAR),
)
_THRESHOLD: Final = _Column("delta 75", "ladder", "detection_threshold")
# On the criterion's calls, under either prompt.
_TABLE_4: Final = (
    _Column("RFP", "criterion", "raw_false_preference"),
    _Column("tie rate at 0", "criterion", "tie_rate", _EQUAL),
    _Column("delta 1", "criterion", "target_sensitivity", _NEAR),
    _Column("missed by tie at 1", "criterion", "miss_by_tie", _NEAR),
    _Column("wrong at 1", "criterion", "wrong_choice", _NEAR),
    _Column("delta 5", "criterion", "target_sensitivity", _FAR),
)
_TABLE_6: Final = (
    *_TABLE_3[:2],
    _Column("tie rate at 0", "ladder", "tie_rate", _EQUAL),
    *_TABLE_3[4:],
    _THRESHOLD,
    _Column("d' at 5", "ladder", "d_prime", _FAR),
    *_TABLE_3[2:4],
)


def tables(sheet: Datasheet, _cells: Sequence[Cell]) -> Iterator[Table]:
    """Tables 3, 4 and 6, judges in the order of the datasheet."""
    yield Table(
        "table-3",
        "Judges as instruments: dark current (DC) on true vacuum; raw (RFP), stable (SCS) and "
        "positional (PFP) false preference on pairs of the same quality; target sensitivity at "
        "distances 1 and 5; the distance that is detected three times out of four (delta 75); and "
        "the profile.",
        ("judge", *(column.heading for column in _TABLE_3), _THRESHOLD.heading, "profile"),
        tuple(
            (
                judge.name,
                *(_value(judge, column) for column in _TABLE_3),
                _threshold(judge),
                sketch((*VACUUM_WORDS, *LADDER_WORDS), judge.estimates) or None,
            )
            for judge in sheet.judges
        ),
    )
    yield Table(
        "table-4",
        "Baseline against strict tie prompt on the same calls: raw false preference (RFP) and tie "
        "rate at distance 0, target sensitivity, misses by a tie and wrong choices at distance 1, "
        "target sensitivity at distance 5, and the difference (strict less baseline).",
        ("judge", "prompt", *(column.heading for column in _TABLE_4)),
        tuple(row for judge in sheet.judges for row in _arms(judge)),
        keys=2,
    )
    yield Table(
        "table-6",
        "Every number with its count, its 95% interval (Wilson's score interval; of the threshold "
        "the bootstrap over tasks) and its unit.",
        ("judge", "measure", "estimate", "95% interval", "count", "n", "unit"),
        tuple(
            _counted(judge.name, column.heading, estimate)
            for judge, column in product(sheet.judges, _TABLE_6)
            if (estimate := _find(judge, column)) is not None
        ),
        digits=4,
        keys=2,
    )


def _find(judge: JudgeSheet, column: _Column, **more: str) -> Estimate | None:
    part = next((p for p in judge.parts if p.suite.partition("@")[0] == column.suite), None)
    condition = {**column.condition, **more}
    return None if part is None else find_estimate(part.estimates, column.measure, condition)


def _value(judge: JudgeSheet, column: _Column, **more: str) -> float | None:
    estimate = _find(judge, column, **more)
    return None if estimate is None else estimate.value


def _threshold(judge: JudgeSheet) -> Value:
    """With ``<=`` or ``>`` where it is censored."""
    estimate = _find(judge, _THRESHOLD)
    return None if estimate is None else _censored(estimate)


def _censored(threshold: Estimate) -> Value:
    signs = {"left-censored": "<= ", "right-censored": "> "}
    sign = next((signs[flag] for flag in threshold.flags if flag in signs), "")
    return f"{sign}{threshold.value:g}" if sign else threshold.value


def _arms(judge: JudgeSheet) -> Iterator[tuple[Value, ...]]:
    arms = {
        arm: [_value(judge, column, arm=arm) for column in _TABLE_4]
        for arm in ("baseline", "strict")
    }
    if not any(value is not None for values in arms.values() for value in values):
        return
    for arm, values in arms.items():
        yield (judge.name, arm, *values)
    pairs = zip(*arms.values(), strict=True)
    moved = [None if None in two else (two[1] or 0.0) - (two[0] or 0.0) for two in pairs]
    yield (judge.name, "difference", *moved)


def _counted(judge: str, heading: str, estimate: Estimate) -> tuple[Value, ...]:
    ends = estimate.interval
    count = None if estimate.count is None else round(estimate.count)
    value = _censored(estimate) if estimate.measure == _THRESHOLD.measure else estimate.value
    interval = None if ends is None else (ends.lower, ends.upper)
    return (judge, heading, value, interval, count, estimate.n, estimate.unit)


PAPER: Final = Paper(
    "datasheet",
    "LLM Judges Have Dark Current: A Psychometric Datasheet for LLM-as-a-Judge Evaluation",
    "LLM Judges Have Dark Current: A Psychometric Datasheet for LLM-as-a-Judge Evaluation. "
    "arXiv:2606.15610",
    (
        # 60 pairs in both orders.
        Arm("true vacuum", "vacuum@paper", 120, 120),
        # Ten tasks: 15 pairs of two of six levels, 6 levels and their rewordings, both orders.
        Arm("ladder, distances 1 to 5", "ladder@paper", 300, 300),
        Arm("same quality, same elements", "ladder@paper", 120, 120),
        Arm("same quality, other elements", "ladder@paper", 60, 60, beyond=True),
        Arm("filler controls", "ladder@paper", 40, 40, beyond=True),
        # Distances 0, 1 and 5: 6, 5 and 1 pairs a task.
        Arm("strict prompt, distances 0, 1 and 5", "criterion@paper", 240, 240),
        Arm(
            "baseline prompt, the same calls as of the ladder, which asks them once",
            "criterion@paper",
            240,
            240,
        ),
    ),
    tables,
    kinds=(VACUUM.name, LADDER.name, CRITERION.name),
    measured_by={
        column.heading: column.measure for column in (*_TABLE_3, *_TABLE_4, *_TABLE_6, _THRESHOLD)
    },
    why_absent={
        "95% interval": "the paper prints none, or both ends lie beyond the ladder",
        "count": "it is no share of a count",
    },
)
