"""Judge Datasheet (arXiv 2606.15610) as one design: vacuum, the ladder, and the strict criterion.

Its Table 3 is a row a judge; Table 4 sets the strict prompt against the baseline prompt on the same
calls; Table 6 has every number with its count and its interval: eleven rows under the baseline
prompt and, where the strict one was run, eleven under that. The strict prompt is run on distances
0, 1 and 5 and on no vacuum: it has no dark current and no threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final, NamedTuple

from pytest_judgesense.datasheets.datasheet import Datasheet, JudgeSheet, SuiteSheet
from pytest_judgesense.datasheets.profile import sketch
from pytest_judgesense.datasheets.published_design import Arm, Paper, Table, Value
from pytest_judgesense.datasheets.sent_settings import settings_table
from pytest_judgesense.estimate import Estimate, censored_text, find_estimate
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
_ARMS: Final = ("baseline", "strict")


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
# On the criterion's calls, under either prompt. Of pairs of the same quality NP is the share in
# which both orders tie; "decided right" is the accuracy among the calls that are no tie.
_TABLE_4: Final = (
    _Column("RFP", "criterion", "raw_false_preference"),
    _Column("tie rate at 0", "criterion", "tie_rate", _EQUAL),
    _Column("delta 1", "criterion", "target_sensitivity", _NEAR),
    _Column("missed by tie at 1", "criterion", "miss_by_tie", _NEAR),
    _Column("wrong at 1", "criterion", "wrong_choice", _NEAR),
    _Column("delta 5", "criterion", "target_sensitivity", _FAR),
    _Column("NP", "criterion", "no_preference"),
    _Column("decided right at 1", "criterion", "target_sensitivity_decisive", _NEAR),
    _Column("decided right at 5", "criterion", "target_sensitivity_decisive", _FAR),
)
_TABLE_6: Final = (
    *_TABLE_3[:2],
    _Column("tie rate at 0", "ladder", "tie_rate", _EQUAL),
    _Column("delta 1", "ladder", "target_sensitivity", _NEAR),
    _Column("tie rate at 1", "ladder", "tie_rate", _NEAR),
    _Column("delta 5", "ladder", "target_sensitivity", _FAR),
    _Column("tie rate at 5", "ladder", "tie_rate", _FAR),
    _THRESHOLD,
    _Column("d' at 5", "ladder", "d_prime", _FAR),
    *_TABLE_3[2:4],
)
_STRICT: Final[Condition] = {"arm": "strict"}
# The same under the strict prompt.
_TABLE_6_STRICT: Final = tuple(
    column._replace(
        heading=f"{column.heading}, strict",
        suite="criterion",
        condition={**column.condition, **_STRICT},
    )
    for column in _TABLE_6
)
# What the design does not run under the strict prompt.
_NOT_RUN_STRICT: Final = {
    DARK_CURRENT.name: "the strict prompt is not run on vacuum",
    _THRESHOLD.measure: "the strict prompt is not run at distances 2 to 4",
}
# Why a row has no count, or no interval, though it has an estimate.
_NO_PROPORTION: Final = "no proportion: no count, and no Wilson interval"
_OPEN: Final = "no proportion: no count; no interval, for all resamples are alike"
_CURVE: Final = "no proportion: no count"


def tables(sheet: Datasheet, cells: Sequence[Cell]) -> Iterator[Table]:
    """Tables 3, 4 and 6 and the settings, judges in the order of the datasheet."""
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
        notes=tuple(
            note
            for judge in sheet.judges
            for note in _missing(judge, judge.name, (*_TABLE_3, _THRESHOLD))
        ),
    )
    yield Table(
        "table-4",
        "Baseline against strict tie prompt on the same calls: raw false preference (RFP) and tie "
        "rate at distance 0, target sensitivity, misses by a tie and wrong choices at distance 1, "
        "target sensitivity at distance 5, pairs of the same quality without a preference in "
        "either order (NP), accuracy among the calls that are no tie at distances 1 and 5 (decided "
        "right), and the difference (strict less baseline).",
        ("judge", "prompt", *(column.heading for column in _TABLE_4)),
        tuple(row for judge in sheet.judges for row in _arms(judge)),
        notes=tuple(
            note
            for judge, arm in product(filter(_has_strict, sheet.judges), _ARMS)
            for note in _missing(judge, f"{judge.name}, {arm}", _columns_of(judge, arm), arm)
        )
        + tuple(
            f"{judge.name}: the baseline is that of the ladder's calls."
            for judge in filter(_has_strict, sheet.judges)
            if _columns_of(judge, "baseline") is not _TABLE_4
        ),
        keys=2,
    )
    yield Table(
        "table-6",
        "Every number with its count, its 95% interval (Wilson's score interval; of the threshold "
        "the bootstrap over tasks), its unit, and why something of it is N/A; under the baseline "
        "prompt and, where it was run, under the strict one.",
        ("judge", "measure", "estimate", "95% interval", "count", "n", "unit", "N/A because"),
        tuple(row for judge in sheet.judges for row in _counted(judge)),
        notes=("N/A: the last column says why.",),
        digits=4,
        keys=2,
    )
    yield settings_table(sheet, cells, "suite", lambda suite: suite.partition("@")[0])


def _part(judge: JudgeSheet, suite: str) -> SuiteSheet | None:
    """What a judge was measured by on a suite, whichever its preset."""
    return next((part for part in judge.parts if part.suite.partition("@")[0] == suite), None)


def _find(judge: JudgeSheet, column: _Column, **more: str) -> Estimate | None:
    part = _part(judge, column.suite)
    condition = {**column.condition, **more}
    return None if part is None else find_estimate(part.estimates, column.measure, condition)


def _value(judge: JudgeSheet, column: _Column, **more: str) -> float | None:
    estimate = _find(judge, column, **more)
    return None if estimate is None else estimate.value


def _threshold(judge: JudgeSheet) -> Value:
    """With ``<=`` or ``>`` where it is censored."""
    estimate = _find(judge, _THRESHOLD)
    return None if estimate is None else _censored(estimate)


def _censored(estimate: Estimate) -> Value:
    if estimate.value is None:
        return None
    beyond = censored_text(estimate.value, estimate.flags)
    return estimate.value if beyond is None else beyond


def _ends(estimate: Estimate) -> Value:
    """The interval of the paper; a text is an end that is censored."""
    if (ends := estimate.interval) is None:
        return None
    lower = censored_text(ends.lower, estimate.flags, "lower end in the paper ")
    upper = censored_text(ends.upper, estimate.flags, "upper end in the paper ")
    return (ends.lower if lower is None else lower, ends.upper if upper is None else upper)


def _why(judge: JudgeSheet, column: _Column, **more: str) -> str:
    """Why a number is not there."""
    if column in _TABLE_6_STRICT and column.measure in _NOT_RUN_STRICT:
        return _NOT_RUN_STRICT[column.measure]
    estimate = _find(judge, column, **more)
    if estimate is not None and estimate.unavailable is not None:
        return estimate.unavailable
    part = _part(judge, column.suite)
    return f"{column.suite} was not run{'' if part is None else ' in this way'}"


def _missing(
    judge: JudgeSheet, name: str, columns: Sequence[_Column], arm: str | None = None
) -> Iterator[str]:
    """A sentence for each number that is not there."""
    for column in columns:
        condition = _condition(column, arm)
        if _value(judge, column, **condition) is None:
            yield f"N/A: {name}, {column.heading}: {_why(judge, column, **condition)}."


def _has_strict(judge: JudgeSheet) -> bool:
    return any(_value(judge, column, arm="strict") is not None for column in _TABLE_4)


def _columns_of(judge: JudgeSheet, arm: str) -> tuple[_Column, ...]:
    """The numbers of Table 4 under a prompt.

    The criterion's baseline calls are those of the ladder: where it was run under the strict prompt
    alone, these are taken.
    """
    is_there = any(_value(judge, column, arm=arm) is not None for column in _TABLE_4)
    if is_there or arm != "baseline" or _part(judge, "ladder") is None:
        return _TABLE_4
    return tuple(column._replace(suite="ladder") for column in _TABLE_4)


def _condition(column: _Column, arm: str | None) -> dict[str, str]:
    """What a number of an arm has beside its own condition; the ladder has one arm."""
    return {} if arm is None or column.suite == "ladder" else {"arm": arm}


def _arms(judge: JudgeSheet) -> Iterator[tuple[Value, ...]]:
    arms = {
        arm: [
            _value(judge, column, **_condition(column, arm)) for column in _columns_of(judge, arm)
        ]
        for arm in _ARMS
    }
    if not _has_strict(judge) and _columns_of(judge, "baseline") is not _TABLE_4:
        return
    if not any(value is not None for values in arms.values() for value in values):
        return
    for arm, values in arms.items():
        yield (judge.name, arm, *values)
    pairs = zip(*arms.values(), strict=True)
    moved = [None if None in two else (two[1] or 0.0) - (two[0] or 0.0) for two in pairs]
    yield (judge.name, "difference", *moved)


def _counted(judge: JudgeSheet) -> Iterator[tuple[Value, ...]]:
    """The rows of Table 6 of a judge."""
    for column in (*_TABLE_6, *(_TABLE_6_STRICT if _has_strict(judge) else ())):
        estimate = _find(judge, column)
        if estimate is None or estimate.value is None:
            yield (judge.name, column.heading, *([None] * 5), _why(judge, column))
            continue
        yield (
            *(judge.name, column.heading, _censored(estimate), _ends(estimate)),
            None if estimate.count is None else round(estimate.count),
            *(estimate.n, estimate.unit, _why_incomplete(estimate)),
        )


def _why_incomplete(estimate: Estimate) -> str:
    """Why an estimate has no count or no interval; empty if it has both."""
    if estimate.measure == _THRESHOLD.measure:
        return _OPEN if estimate.interval is None else _CURVE
    return "" if estimate.interval is not None else _NO_PROPORTION


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
