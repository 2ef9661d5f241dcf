"""Recall, drops and false alarms on long records as estimates, with their evidence; see `askings`.

``depth_drop`` without a condition is that of the worst place and length, with the highest ends and
worst cases of all: a bar on it holds for every one of them, and where one of them is not measured,
it is not either. ``depth_recall`` and ``depth_false_alarm`` without a condition are those of all
records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from pytest_judgesense.estimate import Anew, Estimate, share_of
from pytest_judgesense.instruments.depth import measures as of
from pytest_judgesense.instruments.depth.askings import (
    Drop,
    PassageAsking,
    PlacedPassage,
    Spot,
    askings,
    drops,
    lengths_of,
    missing_anywhere,
    missing_at,
    passages_at,
    spots_of,
)
from pytest_judgesense.instruments.depth.record_places import ABSENT, LENGTH, PLACE, STANDING
from pytest_judgesense.measures.cell import (
    Cell,
    Units,
    estimated,
    missing_among,
    rate,
    unavailable,
)
from pytest_judgesense.measures.differences import interval_of, outermost, outermost_cases
from pytest_judgesense.measures.every_suite import Group
from pytest_judgesense.stats.comparison import paired_difference
from pytest_judgesense.trial import Condition, Judgment

_NO_PASSAGE: Final = "no record with a passage was asked beside one without it"
_NO_VERDICTS: Final = "no passage has a verdict both where it stands and where it does not"
_ONE_CLUSTER: Final = "fewer than two clusters have a verdict at every place of a length"


def recalls(cell: Cell) -> Iterator[Estimate]:
    """Passages that are found, less false alarms: of all, then by place and length."""
    spots = spots_of(cell)
    yield _recall(cell, spots, {})
    for spot in spots:
        yield _recall(cell, [spot], _condition(spot))


def _condition(spot: Spot) -> Condition:
    return {PLACE: spot.place, LENGTH: spot.length}


def _recall(cell: Cell, spots: Sequence[Spot], condition: Condition) -> Estimate:
    passages = list(passages_at(cell, spots))
    if not passages:
        return unavailable(of.DEPTH_RECALL, cell, _NO_PASSAGE, condition)
    calls = [call for passage in passages for call in (passage.call_with, passage.call_without)]
    missing = replace(
        missing_among(calls),
        lower_bound=_gain_if(passages, seen=False),
        upper_bound=_gain_if(passages, seen=True),
    )
    stated = [(p, gain) for p in passages if (gain := p.gain) is not None]
    if not stated:
        return unavailable(of.DEPTH_RECALL, cell, _NO_VERDICTS, condition, missing=missing)
    gains = np.array([gain for _, gain in stated])
    clusters = tuple(passage.asking.cluster for passage, _ in stated)
    difference = paired_difference(gains, clusters)
    return estimated(
        of.DEPTH_RECALL,
        cell,
        condition,
        value=float(gains.mean()),
        n=len(stated),
        clustered=None if difference is None else interval_of(difference),
        missing=missing,
        anew=lambda: Anew(clusters, [gains], share_of),
    )


def _gain_if(passages: Sequence[PlacedPassage], *, seen: bool) -> float:
    """The recall if missing calls saw their passages and raised no false alarm; or neither."""
    gains = [passage.gain_if(seen=seen, alarmed=not seen) for passage in passages]
    return sum(gains) / len(gains)


def drop_estimates(cell: Cell) -> Iterator[Estimate]:
    """The drop at each place of each length, the worst first."""
    measured = {drop.spot: drop for drop in drops(cell)}
    single = {
        spot: _drop(cell, measured[spot])
        if spot in measured
        else unavailable(
            of.DEPTH_DROP, cell, _ONE_CLUSTER, _condition(spot), missing=missing_at(cell, spot)
        )
        for spot in spots_of(cell)
    }
    yield _worst_drop(cell, single, measured)
    yield from single.values()


def _worst_drop(
    cell: Cell, single: Mapping[Spot, Estimate], measured: Mapping[Spot, Drop]
) -> Estimate:
    of_each = [estimate.missing for estimate in single.values()]
    missing = outermost_cases(missing_anywhere(cell), of_each, max)
    if not measured or measured.keys() != single.keys():
        return unavailable(of.DEPTH_DROP, cell, _ONE_CLUSTER, missing=missing)
    worst = max(measured, key=lambda spot: measured[spot].value)
    intervals = [estimate.clustered for estimate in single.values()]
    return replace(
        single[worst],
        condition={},
        clustered=outermost([interval for interval in intervals if interval is not None], max),
        missing=missing,
        flags=(of.worst_flag(*worst), *single[worst].flags),
        # Another place may be the worst of other items.
        anew=None,
    )


def _drop(cell: Cell, drop: Drop) -> Estimate:
    measured = drop.measured
    interval = interval_of(measured.at.difference)
    lower, upper = drop.ends
    return estimated(
        of.DEPTH_DROP,
        cell,
        _condition(drop.spot),
        value=drop.value,
        n=measured.askings,
        clustered=replace(interval, lower=lower, upper=upper),
        missing=measured.missing,
        flags=tuple(_flags(cell, drop)),
        anew=lambda: _anew(cell, drop.spot),
    )


def _flags(cell: Cell, drop: Drop) -> Iterator[str]:
    if cell.degenerate:
        yield "degenerate"
    if drop.is_found:
        yield of.FOUND
    if left := drop.measured.left_out:
        yield f"{left} askings take no part: one of their calls at this length has no verdict"


def _anew(cell: Cell, spot: Spot) -> Anew:
    """The differences of the askings at a spot, for resampling."""
    whole = [asking for asking in askings(cell) if None not in asking.stands(spot.length)]
    stands = np.array([asking.stands(spot.length) for asking in whole], dtype=np.float64)
    number = STANDING.index(spot.place)
    differences = np.delete(stands, number, axis=1).mean(axis=1) - stands[:, number]
    return Anew(tuple(asking.cluster for asking in whole), [differences], share_of)


def false_alarms(cell: Cell) -> Iterator[Estimate]:
    """Records without the passage that are said to hold it: of all, then by length."""
    without = cell.where(**{PLACE: ABSENT})
    conditions: list[Condition] = [{LENGTH: length} for length in lengths_of(cell)]
    for condition in ({}, *conditions):
        part = without.where(**condition)
        said = part.having("verdict", cell.design.labels[0])
        yield rate(of.DEPTH_FALSE_ALARM, part, Units.of_calls(part, said), condition)


def alarm(judgment: Judgment) -> float | None:
    """1 for a passage that is seen where there is none, else 0; ``None`` where it stands."""
    if judgment.trial.condition.get(PLACE) != ABSENT or judgment.correct is None:
        return None
    return float(not judgment.correct)


# --- evidence -------------------------------------------------------------------------------------


def missed(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Calls at a place, of all or of a condition, that do not find the passage."""
    return [
        (passage.call_with,)
        for passage in passages_at(cell, _spots(cell, condition))
        if passage.is_seen is False
    ]


def _spots(cell: Cell, condition: Mapping[str, Any]) -> list[Spot]:
    return [
        spot
        for spot in spots_of(cell)
        if condition.get(PLACE, spot.place) == spot.place
        and condition.get(LENGTH, spot.length) == spot.length
    ]


def dropped(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """A call that finds a passage and one that misses it there; without a place, at the worst."""
    of_condition = [drop for drop in drops(cell) if drop.spot in _spots(cell, condition)]
    if not of_condition:
        return []
    spot = max(of_condition, key=lambda drop: drop.value).spot
    pairs = (_found_elsewhere(asking, spot) for asking in askings(cell))
    return [pair for pair in pairs if pair]


def _found_elsewhere(asking: PassageAsking, spot: Spot) -> Group:
    """The call of an asking that finds the passage elsewhere, and the one that misses it here."""
    if asking.sees.get(spot) is not False:
        return ()
    for place in STANDING:
        other = Spot(place, spot.length)
        if asking.sees.get(other):
            return asking.calls[other], asking.calls[spot]
    return ()
