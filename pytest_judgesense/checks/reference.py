"""An earlier measurement as checks compare with it, where items and labels have changed. Pure.

What was measured then counts as it was, and what cannot be found again counts against the one who
wants to pass:

* **Edited items**, known by their ids, stay units. A loss with them, or without them, is a loss.
* **Labels** that have changed are those of then and those of now: a loss under either is a loss. A
  label that was removed counts as it was. So is the **design**: the pairs of wordings that are
  compared, the cut of a scale, a pass mark, weights; and which items are one **cluster**.
* Where labels have been **renamed**, and verdicts of then have a label that there is no more,
  nothing is compared: in the words of now each of them would be wrong.
* **Units that are gone**, and verdicts that are missing now less those that were missing then, are
  counted. Above a twentieth of the units of then, or with the edited ones above a fifth, nothing is
  decided, whatever the policy: so many could hide a loss of about that size.

Where the judge is known to be the one of then, what is gone or edited is no way around the
comparison: it is said, and the items that are as they were are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from pytest_judgesense.checks.outcome import MOST_MISSING
from pytest_judgesense.checks.regression import (
    NAMES,
    Comparison,
    Side,
    compare,
    conditions_of_parts,
    in_parts,
)
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.estimate import find_estimate, number_text
from pytest_judgesense.measures.cell import answered
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.suites.item import Item
from pytest_judgesense.trial import SYSTEM, Design, Judgment, Trial

# Trials by their ids, with other labels than their judgments have.
Relabelled: TypeAlias = Mapping[str, Trial]
# The measurement of then, and that of today.
_Sides: TypeAlias = tuple[Side, Side]

MOST_LOST: Final = 1 / 20
MOST_EDITED: Final = 1 / 5
_NOTHING_LEFT: Final = "no item has the texts of then"
# What of a design decides what is counted, and not what a judge is asked or may answer.
_COUNTED: Final = (
    *("pairs", "excluded", "unsure", "cut", "ddof", "weights", "effect_threshold", "pass_mark"),
    *("criteria", "forms", "labelled"),
)


class ComparedLabels(NamedTuple):
    """Under which labels trials of today are compared.

    Attributes:
        now: the trials that lack a label that they had: with that label.
        then: the trials whose labels, or whose clusters, have changed: with those of then.
    """

    now: Relabelled
    then: Relabelled

    @classmethod
    def of(cls, trials: Iterable[tuple[Trial, Item, Item]]) -> ComparedLabels:
        """The labels of trials, each with its item as it was and as it is."""
        now: dict[str, Trial] = {}
        then: dict[str, Trial] = {}
        trials = [*trials]
        regrouped = clusters_differ((before, after) for _, before, after in trials)
        for trial, item_then, item_now in trials:
            kept, before = _with_removed(trial, item_then), _as_then(trial, item_then, item_now)
            if not regrouped:  # they may have other names
                before = replace(before, cluster=kept.cluster)
            if kept != trial:
                now[trial.id] = kept
            if before != kept:
                then[trial.id] = before
        return cls(now, then)


def is_relabelled(then: Item, now: Item) -> bool:
    """Whether an item has a label and had another one."""
    return None not in (then.right, now.right) and then.right != now.right


def label_changes(items: Iterable[tuple[Item, Item]]) -> tuple[list[str], list[str]]:
    """The ids of the items that have another label, and of those that have none any more.

    Args:
        items: each as it was and as it is.
    """
    pairs = [*items]
    changed = [now.id for then, now in pairs if is_relabelled(then, now)]
    removed = [now.id for then, now in pairs if then.right and not now.right]
    return changed, removed


def clusters_differ(items: Iterable[tuple[Item, Item]]) -> bool:
    """Whether other items are one cluster now than then; each item as it was and as it is."""
    pairs = {(then.cluster, now.cluster) for then, now in items}
    return not len(pairs) == len({then for then, _ in pairs}) == len({now for _, now in pairs})


def _with_removed(trial: Trial, then: Item) -> Trial:
    """A trial with the labels that its item had and has not any more."""
    people = {
        criterion: {**then.people.get(criterion, {}), **trial.people.get(criterion, {})}
        for criterion in {**then.people, **trial.people}
    }
    label = then.right if trial.label is None else trial.label
    return replace(
        trial, label=label, people=people, condition={**then.condition, **trial.condition}
    )


def _as_then(trial: Trial, then: Item, now: Item) -> Trial:
    """A trial with the labels of then: also grades of people, which are part of its condition."""
    condition = {name: of for name, of in trial.condition.items() if name not in now.condition}
    return replace(
        trial,
        label=then.right,
        cluster=then.cluster,
        people=then.people,
        stratum=then.stratum,
        picked=then.picked,
        skipped=then.skipped,
        groups=then.groups,
        condition={**then.condition, **condition},
    )


def design_as_then(then: Design, now: Design, templates: Mapping[str, str]) -> Design | None:
    """The design of today, counted as it was.

    Args:
        then: as it was.
        now: as it is.
        templates: by the id of then, the id of now of each wording that is still there.

    Returns:
        ``None`` where nothing is counted otherwise, or where other answers may be given, so that
        those of today cannot be counted as then.
    """

    def renamed(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        return tuple((templates[a], templates[b]) for a, b in pairs if {a, b} <= templates.keys())

    assert not isinstance(then.pairs, str), "the design of a suite lists its pairs"
    moved = replace(
        then,
        pairs=renamed(then.pairs),
        excluded=renamed(then.excluded),
        unsure=renamed(then.unsure),
        forms=tuple(
            replace(form, template=templates[form.template])
            for form in then.forms
            if form.template in templates
        ),
    )
    counted = replace(now, **{name: getattr(moved, name) for name in _COUNTED})
    return counted if counted != now and _answers(then) == _answers(now) else None


def _answers(design: Design) -> tuple[object, ...]:
    """What decides which answers there are."""
    criteria = tuple((criterion.name, criterion.labels) for criterion in design.criteria)
    return design.kind, design.labels, design.ordinal, design.pairwise, criteria


def refuse_renamed_labels(
    suite: str,
    then: Design,
    judgments: Iterable[Judgment],
    now: Design,
    *,
    at: str,
    lists_all: bool = True,
) -> None:
    """Refuse verdicts that say nothing in the labels of today.

    Labels in another order, more of them, and some less that no verdict or item of then has, are no
    reason. Nor are the ends of a range, of which verdicts are numbers.

    Args:
        suite: its name.
        then: the design of then.
        judgments: of then, of the trials that are compared.
        now: the design of today.
        at: where the old verdicts are, such as ``at main``.
        lists_all: whether the design of today has all labels that there are; else it may have been
            read off a log that does not show all of them, and another label may be another one.

    Raises:
        UsageError: a verdict, or the label of an item, is one that is no label now.
    """
    if then.score is not None or now.score is not None:
        return
    given = {
        label for judgment in judgments for label in (judgment.verdict, judgment.trial.label)
    }.intersection(then.labels)
    lost = given.difference(now.labels)
    if not lost or (not lists_all and (now.ordinal or lost != given)):
        return
    raise UsageError(
        f"suite {suite} has other labels now than {at}: verdicts under other labels cannot be "
        "compared",
        found=f"labels {listed(then.labels)} {at}; {listed(now.labels)} now",
        expected="all labels that were given then among those of now",
        remedy="judge both under the same labels; or start anew: rename the labels in a commit of "
        "its own, record it, and compare later changes with that",
    )


class Losses(NamedTuple):
    """What of the units of then is not there, or not as it was.

    Attributes:
        units: of the measure, then.
        gone: those of trials that are not asked any more.
        silent: those whose verdicts are missing now, less those whose verdicts were missing then.
        edited: those of items with other texts.
    """

    units: int
    gone: int
    silent: int
    edited: int

    @property
    def words(self) -> str:
        """What is lost, by cause; empty for nothing."""
        lost = max(0, self.silent)
        counts = {"gone": self.gone, "without a verdict now": lost, "edited": self.edited}
        parts = [f"{number} {word}" for word, number in counts.items() if number]
        return f"of {self.units} units {', '.join(parts)}" if parts else ""

    @property
    def are_too_many(self) -> bool:
        """Whether they could hide a loss."""
        lost = self.gone + max(0, self.silent)
        return (
            lost > MOST_LOST * self.units or lost + self.edited > MOST_EDITED * self.units
        ) and lost + self.edited > 0


@dataclass(frozen=True)
class Reference:
    """An earlier measurement.

    Attributes:
        side: all its judgments: those of trials that are asked again under the trials of today.
        edited: ids of the trials of today whose items have other texts than then.
        labels: under which the trials of today are compared.
        design: of today, with what was counted then; ``None`` if that is the same.
        same_judge: whether the judge is known to be the one of then.
        blocked: why nothing is decided, whatever the numbers; empty for no reason.
    """

    side: Side
    edited: frozenset[str] = frozenset()
    labels: ComparedLabels = ComparedLabels(MappingProxyType({}), MappingProxyType({}))
    design: Design | None = None
    same_judge: bool = False
    blocked: str = ""
    _ways: dict[int, tuple[_Sides, list[_Sides]]] = field(default_factory=dict, repr=False)

    def compare(
        self,
        new: Side,
        measure: Measure,
        condition: Mapping[str, Any] | None,
        most_missing: float = MOST_MISSING,
        names: tuple[str, str] = NAMES,
    ) -> Comparison:
        """The comparison of a measure with today's: the worst of those that count."""
        under = dict(condition or {})
        if parts := conditions_of_parts(self.side, new, measure, under):
            return in_parts(self.compare(new, measure, part, most_missing, names) for part in parts)
        whole, sides = self._sides(new)
        gone = not self.same_judge
        compared = [
            compare(old, now, measure, under, most_missing, names, counts_gone=gone)
            for old, now in sides
        ]
        measured = [each for each in compared if each.old.value is not None or each.blocked is None]
        comparison = _worst(measured or compared)
        notes = [*comparison.notes]
        if words := self._both(compared[0], compared[-1]):
            notes.append(words)
        losses = losses_of(*whole, self.edited, measure, under)
        nothing = _NOTHING_LEFT if self.edited and not self._has_same(new) else ""
        if nothing and self.same_judge:
            comparison = replace(comparison, difference=None)  # other texts may be harder
        blocked = "; ".join(filter(None, [nothing, self.blocked, comparison.blocked])) or None
        if losses.words and (self.same_judge or not losses.are_too_many):
            notes.append(losses.words)
        elif losses.words:
            reason = f"{losses.words}: more than could be missing without hiding a loss"
            blocked = "; ".join(filter(None, [reason, blocked]))
        return replace(comparison, notes=tuple(notes), blocked=blocked)

    def _sides(self, new: Side) -> tuple[_Sides, list[_Sides]]:
        """Both sides whole, and in each way that counts: those with today's labels first."""
        if id(new) not in self._ways:
            whole = _relabelled(self.side, new, self.labels.now)
            ways = [whole]
            if self.edited and self._has_same(new):
                without = _without(*whole, self.edited)
                # Of the same judge other texts may be harder: what it says of them is no change.
                ways = [without] if self.same_judge else [whole, without]
            if self.labels.then or self.design:
                ways += [
                    _as_designed(*_relabelled(*way, self.labels.then), self.design) for way in ways
                ]
            self._ways[id(new)] = whole, ways
        return self._ways[id(new)]

    def _has_same(self, new: Side) -> bool:
        """Whether any trial about the texts of then is asked again."""
        return any(id_ in self.side.by_id for id_ in new.by_id if id_ not in self.edited)

    def _both(self, now: Comparison, then: Comparison) -> str:
        """The values as they are counted now and then, where these differ."""
        if not (self.labels.then or self.design) or now.values == then.values:
            return ""
        as_then, as_now = (
            " -> ".join("none" if value is None else number_text(value) for value in each.values)
            for each in (then, now)
        )
        words = {"labels": bool(self.labels.then), "design": self.design is not None}
        changed = " and ".join(word for word, differs in words.items() if differs)
        return (
            f"under the {changed} of then {as_then}, of now {as_now}; "
            f"change the {changed} in a separate commit"
        )


class RelabelledFile(NamedTuple):
    """A measurement of a file whose trials have other labels than in a later one.

    Attributes:
        reference: it, as the later one is compared with it.
        items: of the trials in both, each as it was and as it is, by id.
    """

    reference: Reference
    items: Mapping[str, tuple[Item, Item]]

    @classmethod
    def of(cls, old: Side, new: Side) -> RelabelledFile | None:
        """The measurement ``old``; ``None`` if no label differs, or if only one has any labels.

        A log that nobody labelled is compared by what it holds.
        """
        then = {id_: of.trial for id_, of in old.by_id.items() if id_ in new.by_id}
        now = {id_: new.by_id[id_].trial for id_ in then}
        if _has_labels(then) != _has_labels(now):
            return None
        pairs = {id_: (_item_of(then[id_]), _item_of(now[id_])) for id_ in then}
        if not any(_labels_differ(*items) for items in pairs.values()):
            return None
        labels = ComparedLabels.of((now[id_], *items) for id_, items in pairs.items())
        side = _relabelled(old, new, now)[0]
        # Nothing is decided on what is gone: of two files those trials are compared that both have.
        reference = Reference(side, labels=labels, same_judge=True)
        return cls(reference, {before.id: (before, after) for before, after in pairs.values()})


def _has_labels(trials: Mapping[str, Trial]) -> bool:
    return any(trial.label is not None or trial.people for trial in trials.values())


def _item_of(trial: Trial) -> Item:
    """The item of a trial without its texts: what is said of it, and not what was judged."""
    return Item(
        trial.item,
        trial.cluster,
        {},
        label=trial.label,
        condition={name: of for name, of in trial.condition.items() if name != SYSTEM},
        people=trial.people,
        stratum=trial.stratum,
        picked=trial.picked,
        skipped=trial.skipped,
        groups=trial.groups,
    )


def _labels_differ(then: Item, now: Item) -> bool:
    """Whether people said something else of an item: also by grades, which are conditions."""
    if (then.right, then.people, then.skipped) != (now.right, now.people, now.skipped):
        return True
    return any(now.condition.get(name, of) != of for name, of in then.condition.items())


def _as_designed(old: Side, new: Side, design: Design | None) -> _Sides:
    """Both sides, counted as a design says."""

    def designed(side: Side) -> Side:
        if design is None or side.cell is None:
            return side
        return Side.of(replace(side.cell, design=design))

    return designed(old), designed(new)


def _relabelled(old: Side, new: Side, trials: Relabelled) -> _Sides:
    """Both sides with the labels of these trials."""

    def relabelled(side: Side) -> Side:
        if not trials or side.cell is None:
            return side
        return Side.of(
            side.cell.of(
                replace(judgment, trial=trials.get(judgment.trial.id, judgment.trial))
                for judgment in side.cell.all_judgments
            )
        )

    return relabelled(old), relabelled(new)


def _without(old: Side, new: Side, trials: frozenset[str]) -> _Sides:
    """Both sides without the judgments of these trials."""

    def without(side: Side) -> Side:
        if side.cell is None:
            return side
        left = (each for each in side.cell.all_judgments if each.trial.id not in trials)
        return Side.of(side.cell.of(left))

    return without(old), without(new)


def _worst(compared: list[Comparison]) -> Comparison:
    """The comparison with the most evidence of a loss, whose gains hold in all the others too."""
    decided = [each for each in compared if each.difference is not None]
    if len(decided) < 2:
        return next((each for each in compared if each.blocked), (decided or compared)[0])
    worst = min(decided, key=lambda each: each.difference.p_worse if each.difference else 1.0)
    difference = worst.difference
    assert difference is not None, "it is one of those that were decided"
    for other in decided:
        if other is not worst:
            difference = difference.at_most(other.difference)
    blocked = next((each.blocked for each in compared if each.blocked), None)
    identical = all(each.identical for each in compared)
    return replace(worst, difference=difference, blocked=blocked, identical=identical)


def losses_of(
    old: Side, new: Side, edited: frozenset[str], measure: Measure, condition: Mapping[str, Any]
) -> Losses:
    """What of the units of a measure is not there, or not as it was."""
    before, now = (_units(side, measure, condition) for side in (old, new))
    again = [unit for unit in before if all(trial in new.by_id for trial in unit)]
    lost, gained = (
        sum(
            unit not in units and not all(answered(side.by_id[trial]) for trial in unit)
            for unit in other_units
        )
        for units, other_units, side in (
            (now, again, new),
            (before, [u for u in now if all(trial in old.by_id for trial in u)], old),
        )
    )
    of_edited = sum(not edited.isdisjoint(unit) for unit in again)
    return Losses(len(before), len(before) - len(again), lost - gained, of_edited)


def _units(
    side: Side, measure: Measure, condition: Mapping[str, Any]
) -> dict[tuple[str, ...], None]:
    """The trials of each unit; of a measure without units, each trial with a verdict."""
    estimate = find_estimate(side.estimates, measure.name, condition)
    if estimate is not None and estimate.observations is not None:
        return dict.fromkeys(tuple(key.split("\n")) for key in estimate.observations.keys)
    return dict.fromkeys((id_,) for id_, judgment in side.by_id.items() if answered(judgment))
