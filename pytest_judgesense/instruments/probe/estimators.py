"""The effects of probes as estimates, with their companions and evidence; see `readings`. Pure.

``probe_effect`` and ``names_effect`` without a condition are those of the worst probe, with the
highest ends and worst cases of all: a bar on them holds for every one of them. A naming moves
verdicts to either slot, so its effect is a size, and its interval that of the signed difference,
folded. The evidence are the verdicts that an edit moves, each beside that under the placebo.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from pytest_judgesense.estimate import Clustered, Estimate
from pytest_judgesense.instruments.probe import measures as of
from pytest_judgesense.instruments.probe.edited_side import EDITED, PLACEBO
from pytest_judgesense.instruments.probe.readings import (
    Arms,
    ProbeResult,
    missing_calls,
    moved_calls,
    readings,
)
from pytest_judgesense.measures.cell import Cell, estimated, unavailable
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.differences import interval_of, outermost, outermost_cases
from pytest_judgesense.measures.every_suite import Group
from pytest_judgesense.measures.order import in_size
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.comparison import Difference
from pytest_judgesense.trial import Condition

_ONE_CLUSTER: Final = "fewer than two clusters have a verdict both with the edit and without"
_NO_EDIT: Final = "no probe of this suite edits a text"
_NO_NAMES: Final = "no prompt of this suite names its slots: {{name_a}} and {{name_b}}"


def probe_effects(cell: Cell) -> Iterator[Estimate]:
    """The effect of each edit, the worst first."""
    edits = [reading for reading in readings(cell) if not reading.naming]
    single = [_effect(of.PROBE_EFFECT, cell, reading) for reading in edits]
    yield from _with_the_worst(of.PROBE_EFFECT, cell, single, edits, _NO_EDIT)


def names_effects(cell: Cell) -> Iterator[Estimate]:
    """The effect of each naming of the slots, the worst first."""
    if not cell.design.pairwise:
        return
    namings = [reading for reading in readings(cell) if reading.naming]
    single = [_effect(of.NAMES_EFFECT, cell, reading) for reading in namings]
    yield from _with_the_worst(of.NAMES_EFFECT, cell, single, namings, _NO_NAMES)


def _with_the_worst(
    measure: Measure,
    cell: Cell,
    single: Sequence[Estimate],
    read: Sequence[ProbeResult],
    nothing: str,
) -> Iterator[Estimate]:
    measured = [
        (estimate, reading)
        for estimate, reading in zip(single, read, strict=True)
        if estimate.value is not None
    ]
    of_each = [estimate.missing for estimate in single]
    missing = outermost_cases(missing_calls(reading.arms for reading in read), of_each, max)
    if len(measured) < len(single) or not measured:
        reasons = (estimate.unavailable for estimate in single if estimate.value is None)
        yield unavailable(measure, cell, str(next(reasons, nothing)), missing=missing)
    else:
        worst, reading = max(measured, key=lambda pair: pair[0].value or 0.0)
        named = ("naming", reading.naming) if reading.naming else ("probe", reading.probe)
        intervals = [estimate.clustered for estimate, _ in measured]
        yield replace(
            worst,
            condition={},
            clustered=outermost([interval for interval in intervals if interval is not None], max),
            missing=missing,
            flags=(of.worst_flag(*named), *worst.flags),
            # Another probe may be the worst of other items.
            anew=None,
        )
    yield from single


def _effect(measure: Measure, cell: Cell, reading: ProbeResult) -> Estimate:
    condition: Condition = {"probe": reading.probe}
    if reading.naming:
        condition = {"naming": reading.naming}
    effect, missing = reading.arms.effect, reading.arms.missing
    if effect is None:
        return unavailable(measure, cell, _ONE_CLUSTER, condition, missing=missing)
    signed = estimated(
        measure,
        cell,
        condition,
        value=effect.difference.value,
        n=reading.arms.items,
        clustered=_decided(reading, effect.difference),
        missing=missing,
        flags=tuple(_flags(cell, reading)),
        anew=reading.arms.anew,
    )
    return in_size(signed) if reading.naming else signed


def _flags(cell: Cell, reading: ProbeResult) -> Iterator[str]:
    if cell.degenerate:
        yield "degenerate"
    if not cell.design.pairwise:
        yield of.OF_LABELS if reading.arms.of_labels else of.OF_GRADES
    if reading.is_found:
        yield of.FOUND
    elif reading.control_moves is False:
        yield of.CONTROL_STILL
    if left := reading.lines - len(reading.arms.calls):
        yield f"{left} of {reading.lines} items take no part: the edit changes nothing there"


def _decided(reading: ProbeResult, difference: Difference) -> Clustered:
    """The interval of an effect, with the ends that its test leaves; bounds of gates stay."""
    interval = interval_of(difference)
    lower, upper = reading.ends or (interval.lower, interval.upper)
    return replace(interval, lower=lower, upper=upper)


def companions(cell: Cell) -> Iterator[Estimate]:
    """What each control does, and the edited side's share under each version."""
    for reading in readings(cell):
        if reading.naming:
            continue
        condition: Condition = {"probe": reading.probe}
        if reading.control is not None:
            effect = reading.control.effect
            yield (
                unavailable(of.PROBE_CONTROL, cell, _ONE_CLUSTER, condition)
                if effect is None
                else estimated(
                    of.PROBE_CONTROL,
                    cell,
                    condition,
                    value=effect.difference.value,
                    n=reading.control.items,
                    clustered=interval_of(effect.difference),
                    missing=reading.control.missing,
                )
            )
        for version, place in ((PLACEBO, 0), (EDITED, 1)):
            yield _share(cell, reading.arms, place, {**condition, "version": version})


def _share(cell: Cell, arms: Arms, place: int, condition: Condition) -> Estimate:
    """The mean over lines of their calls' values."""
    values, clusters = [], []
    for line, calls in arms.calls.items():
        stated = [value for call in calls if (value := call.values[place]) is not None]
        if stated:
            values.append(float(np.mean(stated)))
            clusters.append(arms.clusters[line])
    if not values:
        return unavailable(of.PROBE_SHARE, cell, _ONE_CLUSTER, condition)
    return estimated(
        of.PROBE_SHARE,
        cell,
        condition,
        value=float(np.mean(values)),
        n=len(values),
        clustered=clustered_proportion(values, clusters),
    )


def moved_by_edits(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Pairs of judgments, placebo and edited; without a ``probe`` of the one that moves most."""
    return _moved(cell, "probe", condition)


def moved_by_names(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Pairs of judgments, under A and B and under other names of the slots."""
    return _moved(cell, "naming", condition)


def _moved(cell: Cell, key: str, condition: Mapping[str, Any]) -> list[Group]:
    def of_condition(reading: ProbeResult) -> bool:
        return bool(reading.naming) == (key == "naming") and condition.get(key) in (
            None,
            getattr(reading, key),
        )

    chosen = [r for r in readings(cell) if of_condition(r) and r.value is not None]
    if not chosen:
        return []
    worst = max(chosen, key=lambda reading: reading.value or 0.0)
    return [(call.before, call.after) for call in moved_calls(worst)]
