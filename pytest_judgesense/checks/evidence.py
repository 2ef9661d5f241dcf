"""Which judgments stand behind a failing check. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_judgesense.checks.outcome import Outcome
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.measures import evidence
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.evidence import Group
from pytest_judgesense.measures.measure import Measure

# What an estimate is about beside the condition of trials.
_BESIDE = ("polarity", "template_pair", "k", "outcome")


def evidence_of(outcome: Outcome, cell: Cell) -> tuple[str, list[Group]]:
    """What to call the judgments that speak against a check, and those judgments in groups.

    Groups are template pairs, canonical pairs, replicates or single calls, as the measure has it.
    """
    failing = [f for f in outcome.findings if f.outcome != "pass"] or list(outcome.findings)
    # The evidence of a measure that several kinds have may be another one on each.
    measure = failing[0].measure
    measure = next((one for one in cell.measures if one.name == measure.name), measure)
    return evidence_against(measure, failing[0].estimate, cell)


def evidence_against(measure: Measure, estimate: Estimate, cell: Cell) -> tuple[str, list[Group]]:
    """The same of one measure, as the kind of the cell's suite has it."""
    known = measure.evidence
    if known is None:
        return _units_against(estimate, cell, floor=measure.floor)
    if known.whole:
        return known.title, known.find(cell, estimate.condition)
    condition = {key: value for key, value in estimate.condition.items() if key not in _BESIDE}
    asked = cell.where(**{**known.within, **condition})
    if pair := estimate.condition.get("template_pair"):
        asked = [judgment for judgment in asked if judgment.trial.template in str(pair).split("~")]
    return known.title, known.find(replace(cell, judgments=tuple(asked)), estimate.condition)


def _units_against(estimate: Estimate, cell: Cell, *, floor: bool) -> tuple[str, list[Group]]:
    """The units that keep a measure from its best value, where the estimator gives them."""
    units, by_id = estimate.observations, {one.trial.id: one for one in cell.judgments}
    if units is None:
        return "replies without a verdict", evidence.unparsed(cell, {})
    against = [
        tuple(by_id[trial] for trial in key.split("\n"))
        for key, value in zip(units.keys, units.values, strict=True)
        if (value < 1 if floor else value > 0)
    ]
    return f"{estimate.unit}s that speak against it", against


def items_of(groups: Sequence[Group]) -> list[str]:
    """The items of the groups, each once, in order."""
    return list(dict.fromkeys(group[0].trial.item for group in groups))
