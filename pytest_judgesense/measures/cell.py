"""A cell: the judgments of one judge on one suite, and how they are grouped. Pure.

Every family of measures takes a `Cell` and returns estimates. What is missing is decided here
once: a judgment without a verdict takes part in no rate, and every rate says how many did not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Anew, Estimate, Interval, Missing, Observations, share_of
from pytest_judgesense.measures.measure import Measure
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.inputs import Clusters
from pytest_judgesense.stats.proportions import wilson
from pytest_judgesense.suites.planning import trial_order
from pytest_judgesense.trial import ABSTAIN, TIE, Condition, Design, Failed, Judgment, Unparsed

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Cell:
    """The judgments of one judge on one suite.

    Attributes:
        judgments: all of them, in trial order.
    """

    judge: str
    suite: str
    design: Design
    judgments: tuple[Judgment, ...]
    seed: int = 0
    measures: tuple[Measure, ...] = field(default=(), repr=False, compare=False)

    @cached_property
    def _made(self) -> dict[str, Any]:
        return {}

    def once(self, name: str, make: Callable[[], _Value]) -> _Value:
        """What ``make`` gives, made once for the cell: several measures share it."""
        if name not in self._made:
            self._made[name] = make()
        value: _Value = self._made[name]
        return value

    @cached_property
    def templates(self) -> tuple[str, ...]:
        """Template ids in reading order (``t2`` before ``t10``), however a log is sorted."""
        return tuple(trial_order({judgment.trial.template for judgment in self.judgments}))

    @cached_property
    def degenerate(self) -> bool:
        """Whether the judge used one label, or one slot, for everything that it answered."""
        verdicts = {judgment.verdict for judgment in self.judgments} - {None}
        answered = sum(judgment.verdict is not None for judgment in self.judgments)
        return len(verdicts) == 1 and answered > 1

    def where(self, **condition: object) -> list[Judgment]:
        """Judgments whose trial has all of ``condition``."""
        return [
            judgment
            for judgment in self.judgments
            if all(judgment.trial.condition.get(key) == value for key, value in condition.items())
        ]

    def values_of(self, key: str) -> list[str | int | float]:
        """The values of a condition key that occur, in order."""
        found = {
            judgment.trial.condition[key]
            for judgment in self.judgments
            if key in judgment.trial.condition
        }
        return sorted(found, key=lambda value: (isinstance(value, str), value))

    def both_orders(self, judgments: Iterable[Judgment]) -> list[tuple[Judgment, Judgment]]:
        """Judgments of one item, template, temperature and replicate in both orders."""
        found: dict[tuple[object, ...], dict[str, Judgment]] = defaultdict(dict)
        for judgment in judgments:
            trial = judgment.trial
            at = trial.condition.get("temperature")
            found[trial.item, trial.template, at, trial.replicate][trial.order] = judgment
        return [(two["ab"], two["ba"]) for two in found.values() if len(two) == 2]


def no_preference(judgment: Judgment) -> bool:
    """Whether a pairwise judgment prefers neither content: a tie, or a valid abstention."""
    return judgment.chosen in (TIE, ABSTAIN)


def answered(judgment: Judgment) -> bool:
    """Whether the reply states a verdict."""
    return judgment.verdict is not None


@dataclass(frozen=True)
class Units:
    """What a rate is taken over: a value and a cluster for each unit, and what is missing.

    Attributes:
        values: one number in [0, 1] a unit.
        clusters: the cluster of each unit, by its name or a code.
        dropped: units left out because a reply in them is missing.
        undecided: units of value 0 that count although a reply in them is missing, which could
            still have made them 1.
        unparsed: such replies without a verdict, in calls; ``failed``: calls without a reply.
        keys: for each unit the ids of its trials, one a line; empty where they are not known.
        names: the names of the clusters by code, where they are codes.
    """

    values: NDArray[np.float64]
    clusters: Clusters
    dropped: int = 0
    unparsed: int = 0
    failed: int = 0
    calls: int = 0
    undecided: int = 0
    keys: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @classmethod
    def collect(
        cls,
        groups: Iterable[tuple[Judgment, ...]],
        value: Callable[..., float],
        *,
        usable: Callable[[Judgment], bool] = answered,
        weight: int = 1,
    ) -> Units:
        """Units from groups of judgments, one value a group.

        Args:
            groups: the judgments of each unit (one call, two orders, two templates).
            value: from the judgments of a group to its value in [0, 1].
            usable: a group with a judgment that is not usable is dropped, and counted.
            weight: calls that one group stands for, where the unit is the call.
        """
        groups = list(groups)
        kept = [group for group in groups if all(map(usable, group))]
        outcomes = {call.trial.id: call.outcome for group in groups for call in group}
        return cls(
            values=np.array([value(*group) for group in kept], dtype=np.float64),
            clusters=[group[0].trial.cluster for group in kept],
            dropped=weight * (len(groups) - len(kept)),
            unparsed=sum(isinstance(outcome, Unparsed) for outcome in outcomes.values()),
            failed=sum(isinstance(outcome, Failed) for outcome in outcomes.values()),
            calls=len(outcomes),
            keys=tuple("\n".join(call.trial.id for call in group) for group in kept),
        )

    @classmethod
    def of_calls(
        cls,
        judgments: Iterable[Judgment],
        value: Callable[[Judgment], float],
        *,
        usable: Callable[[Judgment], bool] = answered,
    ) -> Units:
        """Units that are single calls; see `collect`."""
        return cls.collect(((judgment,) for judgment in judgments), value, usable=usable)

    @property
    def observations(self) -> Observations | None:
        """The units as two measurements are paired by."""
        if len(self.keys) != len(self.values):
            return None
        return Observations(self.keys, tuple(self.values.tolist()), self._cluster_names)

    def anew(self) -> Anew:
        """What their mean is taken of."""
        return Anew(self._cluster_names, [self.values], share_of)

    @property
    def _cluster_names(self) -> tuple[str, ...]:
        clusters = (
            np.array(self.names, dtype=object)[np.asarray(self.clusters)]
            if self.names
            else self.clusters
        )
        return tuple(map(str, clusters))

    def missing(self, *, bounded: bool = True) -> Missing:
        """The missing replies, with the worst cases of the rate over all units if ``bounded``."""
        total = len(self.values) + self.dropped
        known = float(self.values.sum())
        share = (self.unparsed + self.failed) / self.calls if self.calls else 0.0
        if not total or not bounded:
            return Missing(self.unparsed, self.failed, share=share)
        low, high = known / total, (known + self.dropped + self.undecided) / total
        return Missing(self.unparsed, self.failed, low, high, share)


def missing_of(judgments: Sequence[Judgment]) -> Missing:
    """What is missing of ``judgments`` where no bound follows from it: counts and share."""
    unparsed = sum(isinstance(one.outcome, Unparsed) for one in judgments)
    failed = sum(isinstance(one.outcome, Failed) for one in judgments)
    return Missing(unparsed, failed, share=(unparsed + failed) / max(1, len(judgments)))


def estimated(
    measure: Measure, cell: Cell, condition: Condition | None = None, **fields: Any
) -> Estimate:
    """The estimate of a measure on a cell; ``fields``: others of an `Estimate`."""
    return Estimate(measure.name, cell.suite, dict(condition or {}), unit=measure.unit, **fields)


def unavailable(
    measure: Measure, cell: Cell, reason: str, condition: Condition | None = None, **fields: Any
) -> Estimate:
    """The estimate of a measure that has no value here, with the reason."""
    return estimated(measure, cell, condition, unavailable=reason, **fields)


def rate(
    measure: Measure,
    cell: Cell,
    units: Units,
    condition: Condition | None = None,
    *,
    interval: Callable[[NDArray[np.float64]], Interval] | None = None,
    flags: tuple[str, ...] = (),
    nothing: str = "no trial of this kind was run",
) -> Estimate:
    """The mean of the units with its interval (Wilson's, or the ``interval`` of the source
    paper) and the clustered one; ``nothing``: the reason where there is not even a missing unit.
    """
    n = len(units.values)
    missing = units.missing()
    if n == 0:
        reason = f"all {units.dropped} units lack a verdict" if units.dropped else nothing
        return unavailable(measure, cell, reason, condition, missing=missing, flags=flags)
    count = float(units.values.sum())
    return estimated(
        measure,
        cell,
        condition,
        value=count / n,
        count=count,
        n=n,
        interval=interval(units.values) if interval else wilson(count, n),
        clustered=clustered_proportion(units.values, units.clusters),
        missing=missing,
        flags=flags,
        observations=units.observations,
        anew=units.anew,
    )
