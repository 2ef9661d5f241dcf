"""The judgments that count against a judge in a failing check. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from pytest_judgesense.checks.outcome import Outcome
from pytest_judgesense.errors import ExtensionError
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.measures.cell import Cell, answered
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.every_suite import Find, Group
from pytest_judgesense.trial import Unparsed, grouped

if TYPE_CHECKING:
    from pytest_judgesense.checks.regression import RegressionOutcome

# Keys of an estimate's condition that trials do not have.
_BESIDE = ("polarity", "template_pair", "k", "outcome")
# Kinds of changed verdicts that are tried, the most frequent ones: each takes an estimate.
_MOST_KINDS: Final = 24


def evidence_of(outcome: Outcome, cell: Cell) -> tuple[str, list[Group]]:
    """The title of the judgments that count against a judge, and these judgments in groups.

    Groups are template pairs, canonical pairs, replicates or single calls, depending on the
    measure.
    """
    failing = [f for f in outcome.findings if f.outcome != "pass"] or list(outcome.findings)
    # A measure of several kinds may have different evidence on each.
    measure = failing[0].measure
    measure = next((own for own in cell.measures if own.name == measure.name), measure)
    return evidence_against(measure, failing[0].estimate, cell)


def evidence_against(measure: Measure, estimate: Estimate, cell: Cell) -> tuple[str, list[Group]]:
    """The same measure, as the kind of the cell's suite declares it."""
    evidence = measure.evidence
    if evidence is None or evidence.find is None:
        return _units_against(measure, estimate, cell)
    if estimate.value is None and evidence.whole:
        return evidence.title, []  # perhaps under a condition that the suite does not have
    if evidence.whole:
        return evidence.title, _found(measure.source, measure.name, evidence.find, cell, estimate)
    condition = {key: value for key, value in estimate.condition.items() if key not in _BESIDE}
    part = cell.where(**{**evidence.within, **condition})
    if pair := estimate.condition.get("template_pair"):
        two = str(pair).split("~")
        part = part.of(judgment for judgment in part.judgments if judgment.trial.template in two)
    return evidence.title, _found(measure.source, measure.name, evidence.find, part, estimate)


def _found(source: str, measure: str, find: Find, cell: Cell, estimate: Estimate) -> list[Group]:
    """The judgments that ``find`` finds; a plugin is blamed for its errors."""
    with ExtensionError.blaming(
        source,
        f"evidence of measure {measure!r} of plugin {source} cannot be found in suite {cell.suite}",
        "a list of groups of judgments",
    ):
        return list(map(tuple, find(cell, estimate.condition)))


def _units_against(measure: Measure, estimate: Estimate, cell: Cell) -> tuple[str, list[Group]]:
    """The units that keep a measure from its best value: those that the estimate itself counts."""
    if estimate.value is None:
        silent = (judgment for judgment in cell.judgments if isinstance(judgment.outcome, Unparsed))
        return "replies without a verdict", [(judgment,) for judgment in silent]
    title = (
        measure.evidence.title if measure.evidence else f"{estimate.unit}s that speak against it"
    )
    units = estimate.observations
    if units is None:
        return title, []
    by_id = {judgment.trial.id: judgment for judgment in cell.all_judgments}
    against = [
        tuple(by_id[trial] for trial in key.split("\n"))
        for key, value in zip(units.keys, units.values, strict=True)
        if (value < 1 if measure.floor else value > 0)
    ]
    # A wrong verdict tells more than a reply without one, which may count against a judge as well.
    return title, sorted(against, key=lambda group: not all(map(answered, group)))


def moved_against(outcome: RegressionOutcome) -> tuple[tuple[str, ...], ...]:
    """The trials of each unit that moved in the direction that counts against the judge.

    A measure without units is asked itself: changed verdicts are grouped by what was said then and
    now (and by what the measure's condition tells apart), and a group counts if the number would be
    better with its old verdicts. If none does by itself, all do together.
    """
    compared = outcome.comparison
    old, new = outcome.old.with_common(outcome.new)
    if compared.better is not None or new.cell is None or compared.new.value is None:
        return compared.worse
    cell, name, condition = new.cell, compared.of.name, compared.new.condition
    measure = next((own for own in cell.measures if own.name == name), compared.of)

    def kind(unit: tuple[str, ...]) -> tuple[object, ...]:
        then, now = old.by_id[unit[0]], new.by_id[unit[0]]
        verdicts = (then.verdict, then.chosen, now.verdict, now.chosen, now.trial.label)
        return *verdicts, *(now.trial.condition.get(key) for key in condition)

    def loses(units: Sequence[tuple[str, ...]]) -> bool:
        taken_back = {trial: old.by_id[trial] for unit in units for trial in unit}
        without = cell.of(taken_back.get(j.trial.id, j) for j in cell.all_judgments)
        estimate = find_estimate(measure.estimator(without), name, condition)
        if estimate is None or estimate.value is None:
            return False
        return compared.sign * (estimate.value - (compared.new.value or 0.0)) > 0

    kinds = sorted(grouped(compared.worse, kind).values(), key=len, reverse=True)
    lost = {unit for units in kinds[:_MOST_KINDS] if loses(units) for unit in units}
    return tuple(unit for unit in compared.worse if unit in lost) or compared.worse


def items_of(groups: Sequence[Group]) -> list[str]:
    """The items of the groups in order, without duplicates."""
    return list(dict.fromkeys(group[0].trial.item for group in groups))


def spread(groups: Sequence[Group]) -> Iterator[Group]:
    """One group of each item, then the others."""
    first = {group[0].trial.item: place for place, group in reversed(list(enumerate(groups)))}
    yield from (groups[place] for place in sorted(first.values()))
    yield from (group for place, group in enumerate(groups) if first[group[0].trial.item] != place)
