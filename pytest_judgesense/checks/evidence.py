"""The judgments that count against a judge in a failing check. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_judgesense.checks.outcome import Outcome
from pytest_judgesense.errors import ExtensionError
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.measures import evidence
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.evidence import Group
from pytest_judgesense.measures.measure import Measure

# Keys of an estimate's condition that trials do not have.
_BESIDE = ("polarity", "template_pair", "k", "outcome")


def evidence_of(outcome: Outcome, cell: Cell) -> tuple[str, list[Group]]:
    """The title of the judgments that count against a judge, and these judgments in groups.

    Groups are template pairs, canonical pairs, replicates or single calls, depending on the
    measure.
    """
    failing = [f for f in outcome.findings if f.outcome != "pass"] or list(outcome.findings)
    # A measure of several kinds may have different evidence on each.
    measure = failing[0].measure
    measure = next((one for one in cell.measures if one.name == measure.name), measure)
    return evidence_against(measure, failing[0].estimate, cell)


def evidence_against(measure: Measure, estimate: Estimate, cell: Cell) -> tuple[str, list[Group]]:
    """The same measure, as the kind of the cell's suite declares it."""
    known = measure.evidence
    if known is None:
        return _units_against(estimate, cell, floor=measure.floor)
    if estimate.value is None and known.whole:
        return known.title, []  # perhaps under a condition that the suite does not have
    if known.whole:
        return known.title, _found(measure, cell, estimate)
    condition = {key: value for key, value in estimate.condition.items() if key not in _BESIDE}
    asked = cell.where(**{**known.within, **condition})
    if pair := estimate.condition.get("template_pair"):
        two = str(pair).split("~")
        asked = asked.of(one for one in asked.judgments if one.trial.template in two)
    return known.title, _found(measure, asked, estimate)


def _found(measure: Measure, cell: Cell, estimate: Estimate) -> list[Group]:
    """The judgments that the evidence of a measure finds; a plugin is blamed for its errors."""
    assert measure.evidence is not None, "asked of measures with evidence"
    with ExtensionError.blaming(
        measure.source,
        f"evidence of measure {measure.name!r} of plugin {measure.source} cannot be found in "
        f"suite {cell.suite}",
        "a list of groups of judgments",
    ):
        return list(map(tuple, measure.evidence.find(cell, estimate.condition)))


def _units_against(estimate: Estimate, cell: Cell, *, floor: bool) -> tuple[str, list[Group]]:
    """The units that keep a measure from its best value, if the estimator returns units."""
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
    """The items of the groups in order, without duplicates."""
    return list(dict.fromkeys(group[0].trial.item for group in groups))


def spread(groups: Sequence[Group]) -> Iterator[Group]:
    """One group of each item, then the others."""
    first = {group[0].trial.item: at for at, group in reversed(list(enumerate(groups)))}
    yield from (groups[at] for at in sorted(first.values()))
    yield from (one for at, one in enumerate(groups) if first[one[0].trial.item] != at)
