"""A cell: the judgments of one judge on one suite, and how they are grouped. Pure.

Every family of measures takes a `Cell` and returns estimates. Missing replies are handled here: a
judgment without a verdict is in no rate, and every rate counts them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from itertools import count
from operator import attrgetter
from typing import Any, Final, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import (
    Anew,
    Estimate,
    Interval,
    Missing,
    Observations,
    share_of,
    share_of_weights,
)
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.inputs import Clusters, joint_codes
from pytest_judgesense.stats.proportions import wilson
from pytest_judgesense.suites.planning import trial_order
from pytest_judgesense.trial import CONTROL, Condition, Design, Failed, Judgment, Unparsed, Verdict

_Value = TypeVar("_Value")
# A code of each judgment, and what the codes stand for.
Column: TypeAlias = tuple[NDArray[np.int32], list[Any]]

VERDICT, UNPARSED, FAILED = range(3)
_KINDS: Final[dict[type, int]] = {Verdict: VERDICT, Unparsed: UNPARSED, Failed: FAILED}
# What all measures may count judgments by; see `Cell.coded`.
_COLUMNS: Final[Mapping[str, Callable[[Judgment], Any]]] = {
    "item": attrgetter("trial.item"),
    "cluster": attrgetter("trial.cluster"),
    "template": attrgetter("trial.template"),
    "order": attrgetter("trial.order"),
    "replicate": attrgetter("trial.replicate"),
    "label": attrgetter("trial.label"),
    "temperature": lambda judgment: judgment.trial.condition.get("temperature"),
    # Whether it is said of the prompt whether its labels mean the opposite.
    "has_polarity": lambda judgment: bool(judgment.trial.condition.get("polarity")),
    "verdict": attrgetter("verdict"),
    "chosen": attrgetter("chosen"),
    # What a label is compared with: the content that the verdict points at, else the verdict.
    "answer": lambda judgment: judgment.verdict if judgment.chosen is None else judgment.chosen,
}


@dataclass(frozen=True)
class Cell:
    """The judgments of one judge on one suite.

    Attributes:
        judgments: all of them but those of controls, in trial order; those of a cell that is made
            of another may be made when they are looked at.
        controls: those of controls, which no measure counts but those that are about them.
    """

    judge: str
    suite: str
    design: Design
    judgments: Sequence[Judgment]
    seed: int = 0
    measures: tuple[Measure, ...] = field(default=(), repr=False, compare=False)
    controls: tuple[Judgment, ...] = ()
    _computed: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def with_controls_apart(
        cls,
        judge: str,
        suite: str,
        design: Design,
        judgments: Sequence[Judgment],
        seed: int = 0,
        measures: tuple[Measure, ...] = (),
    ) -> Self:
        """The cell of all judgments of a judge on a suite, those of its controls by themselves."""
        items, controls = _controls_apart(judgments)
        return cls(judge, suite, design, items, seed, measures, controls)

    @property
    def all_judgments(self) -> Sequence[Judgment]:
        """Those of items, then those of controls: in trial order, for controls are asked last."""
        return (*self.judgments, *self.controls) if self.controls else self.judgments

    def once(self, name: str, make: Callable[[], _Value]) -> _Value:
        """The result of ``make``, computed once for the cell and shared by measures."""
        if name not in self._computed:
            self._computed[name] = make()
        value: _Value = self._computed[name]
        return value

    def coded(self, name: str, read: Callable[[Judgment], Any] | None = None) -> Column:
        """What ``read`` says of each judgment, as codes, and the value of each code.

        Computed once under the ``name``, which by itself says what to read if it is one of
        `_COLUMNS`. Codes are in the order of first appearance; ``None`` is -1.
        """

        def make() -> Column:
            # Maps and a defaultdict: a value that has a code already costs no line of Python.
            code_of: dict[Any, int] = defaultdict(count().__next__, {None: -1})
            codes = map(code_of.__getitem__, map(read or _COLUMNS[name], self.judgments))
            column = np.fromiter(codes, dtype=np.int32, count=len(self.judgments))
            return column, list(code_of)[1:]

        return self.once(column_key(name), make)

    @property
    def items(self) -> NDArray[np.int32]:
        """The item of each judgment, as a code."""
        return self.once("items", lambda: self.coded("item")[0])

    @cached_property
    def cluster_codes(self) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        """The cluster of each judgment as a code, and the names by code: codes sort like names."""
        return in_order_of_names(*self.coded("cluster"))

    @property
    def outcomes(self) -> NDArray[np.int8]:
        """The outcome of each judgment: `VERDICT`, `UNPARSED` or `FAILED`."""

        def make() -> NDArray[np.int8]:
            kinds = (_KINDS[type(judgment.outcome)] for judgment in self.judgments)
            return np.fromiter(kinds, dtype=np.int8, count=len(self.judgments))

        return self.once("outcomes", make)

    def alike(self, *columns: str) -> Groups:
        """The judgments of one item that are alike in ``columns``, as `coded` names them."""
        return Groups.alike(self.items, *(self.coded(name)[0] for name in columns))

    def every_call(self) -> Groups:
        """Each judgment as a separate group."""
        return Groups.of_rows(np.arange(len(self.judgments), dtype=np.int32)[:, None])

    @cached_property
    def templates(self) -> tuple[str, ...]:
        """Template ids in natural order (``t2`` before ``t10``), however a log is sorted."""
        return tuple(trial_order(set(self.coded("template")[1])))

    @cached_property
    def degenerate(self) -> bool:
        """Whether the judge gave the same label, or the same slot, in all its answers."""
        codes, verdicts = self.coded("verdict")
        return len(verdicts) == 1 and int((codes >= 0).sum()) > 1

    def of(self, judgments: Iterable[Judgment]) -> Self:
        """The cell of some of its judgments; without controls unless they are among these."""
        if not self.controls:
            return replace(self, judgments=tuple(judgments))
        items, controls = _controls_apart(tuple(judgments))
        return replace(self, judgments=items, controls=controls)

    def where(self, **condition: object) -> Self:
        """The cell of the judgments whose trial matches all of ``condition``."""
        wanted = condition.items()
        return self.of(
            judgment
            for judgment in self.all_judgments
            if wanted <= judgment.trial.condition.items()
        )

    def having(self, name: str, *values: object) -> NDArray[np.bool_]:
        """Of each judgment whether what `coded` knows under the name is one of ``values``."""
        codes, names = self.coded(name)
        return np.isin(codes, [code for code, value in enumerate(names) if value in values])

    def values_of(self, key: str) -> list[str | int | float]:
        """The values of a condition key, in order."""
        conditions = (judgment.trial.condition for judgment in self.judgments)
        given_values = [condition[key] for condition in conditions if key in condition]
        return sorted(
            {*comparable(given_values)}, key=lambda value: (isinstance(value, str), value)
        )

    def judged(self, groups: Groups) -> Iterator[tuple[Judgment, ...]]:
        """The judgments of each group."""
        parts = np.split(groups.positions, groups.starts[1:]) if groups.starts.size else []
        return (tuple(map(self.judgments.__getitem__, part.tolist())) for part in parts)

    def order_pairs(self) -> Groups:
        """Judgments of one item, template, temperature and replicate in both orders, ``ab`` first.

        By their positions in the cell; `both_orders` has the judgments themselves.
        """
        temperature = self.coded("temperature")[0]
        template, replicate = self.coded("template")[0], self.coded("replicate")[0]
        question = joint_codes(self.items, template, temperature + 1, replicate)
        rows = np.full((int(question.max(initial=-1)) + 1, 2), -1, dtype=np.int32)
        for side, order in enumerate(("ab", "ba")):
            positions = np.flatnonzero(self.having("order", order))
            rows[question[positions], side] = positions
        return Groups.of_rows(rows[(rows >= 0).all(axis=1)])

    def both_orders(self) -> list[tuple[Judgment, Judgment]]:
        """Judgments of one item, template, temperature and replicate in both orders."""
        return [(ab, ba) for ab, ba in self.judged(self.order_pairs())]


def _controls_apart(
    judgments: Sequence[Judgment],
) -> tuple[Sequence[Judgment], tuple[Judgment, ...]]:
    """The judgments of items, and those of controls."""
    controls = tuple(j for j in judgments if CONTROL in j.trial.condition)
    if not controls:
        return judgments, ()
    return tuple(j for j in judgments if CONTROL not in j.trial.condition), controls


def once_a_cell(make: Callable[[Cell], _Value]) -> Callable[[Cell], _Value]:
    """``make``, whose result is computed once for each cell."""

    @wraps(make)
    def computed(cell: Cell) -> _Value:
        return cell.once(f"{make.__module__}.{make.__qualname__}", lambda: make(cell))

    return computed


def column_key(name: str) -> str:
    """What a column is called among what is computed once for a cell."""
    return f"column {name}"


def in_order_of_names(
    codes: NDArray[np.int32], names: Sequence[str]
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Codes that sort like what they stand for, and the names by code."""
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names) + 1, dtype=np.int32)
    place[order], place[-1] = np.arange(len(names)), -1
    return place[codes], tuple(names[code] for code in order)


class Groups(NamedTuple):
    """Groups of judgments of a cell, by their positions in it.

    Attributes:
        positions: group after group, shape (calls,).
        starts: where each group begins, shape (groups,); none is empty.
    """

    positions: NDArray[np.int32]
    starts: NDArray[np.intp]

    @classmethod
    def of_rows(cls, rows: NDArray[Any]) -> Groups:
        """Groups of one size, a row each."""
        return cls(rows.ravel().astype(np.int32), np.arange(0, rows.size, rows.shape[1]))

    @classmethod
    def alike(cls, *codes: NDArray[Any]) -> Groups:
        """The judgments with equal codes, in the order of the first ones."""
        same = joint_codes(*codes)
        positions = np.argsort(same, kind="stable").astype(np.int32)
        starts = np.flatnonzero(np.diff(same[positions], prepend=-1))
        return cls(positions, starts)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The judgments of each group."""
        return np.diff(self.starts, append=self.positions.size)

    def subset(self, which: NDArray[np.bool_]) -> Groups:
        """A selection of the groups."""
        if which.all():
            return self
        sizes = self.sizes
        starts = np.cumsum(sizes[which]) - sizes[which]
        return Groups(self.positions[np.repeat(which, sizes)], starts)

    def of_each(self, reduce: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
        """A value of each judgment, reduced by ``reduce`` within each group."""
        if not self.starts.size:
            return values[:0]
        reduced: NDArray[Any] = reduce.reduceat(values[self.positions], self.starts)
        return reduced


def _asked(judgment: Judgment) -> tuple[str, str, str]:
    """What is asked of a judge, whichever replicate it is."""
    return judgment.trial.item, judgment.trial.template, judgment.trial.order


def answered(judgment: Judgment) -> bool:
    """Whether the reply states a verdict."""
    return isinstance(judgment.outcome, Verdict)


@dataclass(frozen=True)
class Units:
    """The units of a rate: a value and a cluster for each unit, and the missing replies.

    Attributes:
        values: one number in [0, 1] for each unit.
        clusters: the cluster of each unit, by name or code.
        dropped: units left out because of a missing reply.
        undecided: units of value 0 that count although a reply is missing that could have made them
            1.
        unparsed: missing replies without a verdict, in calls; ``failed``: calls without a reply.
        keys: for each unit the ids of its trials, one per line, or a function that returns them;
            empty if not known.
        names: the names of the clusters by code, if ``clusters`` are codes.
        unlike: how many units there are if replicates are counted once: those of one item in the
            same wordings and orders; ``None`` if all are unlike.
        weights: what each unit weighs in the mean, 1 on average; ``None`` if all weigh the same.
    """

    values: NDArray[np.float64]
    clusters: Clusters
    dropped: int = 0
    unparsed: int = 0
    failed: int = 0
    calls: int = 0
    undecided: int = 0
    keys: tuple[str, ...] | Callable[[], tuple[str, ...]] = ()
    names: tuple[str, ...] = ()
    unlike: int | None = None
    weights: NDArray[np.float64] | None = None

    @classmethod
    def of_groups(
        cls,
        cell: Cell,
        groups: Groups,
        values: NDArray[Any],
        *,
        usable: NDArray[np.bool_] | None = None,
        strata: NDArray[Any] | None = None,
    ) -> Units:
        """Units from groups of judgments of a cell, by arrays: a `collect` for many judgments.

        Args:
            cell: the cell of the judgments.
            groups: the judgments of each unit.
            values: one value in [0, 1] for each group.
            usable: for each judgment of the cell, as in `collect`; default: those with a verdict.
            strata: a code of each judgment of the cell; the mean of the units is then the mean of
                the means of their strata. Default: all units weigh the same.
        """
        usable = cell.outcomes == VERDICT if usable is None else usable
        complete = groups.of_each(np.logical_and, usable).astype(bool)
        called = np.zeros(len(cell.judgments), dtype=bool)
        called[groups.positions] = True
        counts = np.bincount(cell.outcomes[called], minlength=3)
        codes, names = cell.cluster_codes
        units = groups.subset(complete)
        first = units.positions[units.starts]
        # Estimates keep them: of units that are all the calls they are those of the cell.
        each = first.size == codes.size and bool((first[1:] > first[:-1]).all())

        def keys() -> tuple[str, ...]:
            return tuple("\n".join(call.trial.id for call in unit) for unit in cell.judged(units))

        return cls(
            values=values[complete].astype(np.float64),
            clusters=codes if each else codes[first],
            dropped=int((~complete).sum()),
            unparsed=int(counts[UNPARSED]),
            failed=int(counts[FAILED]),
            calls=int(counts.sum()),
            keys=keys,
            names=names,
            unlike=_unlike(cell, units),
            weights=None if strata is None else stratum_weights(strata[first]),
        )

    @classmethod
    def collect(
        cls,
        groups: Iterable[tuple[Judgment, ...]],
        value: Callable[..., float],
        *,
        usable: Callable[[Judgment], bool] = answered,
    ) -> Units:
        """Units from groups of judgments, one value for each group.

        Args:
            groups: the judgments of each unit (one call, two orders, two templates).
            value: from the judgments of a group to its value in [0, 1].
            usable: a group with an unusable judgment is dropped and counted.
        """
        groups = list(groups)
        complete = [group for group in groups if all(map(usable, group))]
        calls = {call.trial.id: call for group in groups for call in group}
        outcomes = [type(call.outcome) for call in calls.values()]
        return cls(
            values=np.array([value(*group) for group in complete], dtype=np.float64),
            clusters=[group[0].trial.cluster for group in complete],
            dropped=len(groups) - len(complete),
            unparsed=outcomes.count(Unparsed),
            failed=outcomes.count(Failed),
            calls=len(outcomes),
            keys=lambda: tuple("\n".join(call.trial.id for call in group) for group in complete),
            unlike=len({tuple(map(_asked, group)) for group in complete}),
        )

    @classmethod
    def of_calls(
        cls, cell: Cell, values: NDArray[Any], *, usable: NDArray[np.bool_] | None = None
    ) -> Units:
        """Units that are the calls of a cell, a value each; see `of_groups`."""
        return cls.of_groups(cell, cell.every_call(), values, usable=usable)

    @property
    def observations(self) -> Observations | None:
        """The units for pairing two measurements."""
        keys = self.keys
        if not callable(keys) and len(keys) != len(self.values):
            return None
        codes, names = self.clusters, self.names
        if not names:
            names = tuple(dict.fromkeys(map(str, self.clusters)))
            index = {name: code for code, name in enumerate(names)}
            codes = np.array([index[str(name)] for name in self.clusters], dtype=np.intp)
        made_of = keys if callable(keys) else lambda: keys
        return Observations(self.values, codes, names, made_of, self.weights)

    @property
    def mean(self) -> float:
        """Of the values, as they weigh."""
        mean = float(self.weighted.sum()) / len(self.values)
        if self.weights is None:
            return mean
        # A sum of weights may be rounded beyond the number of units, and no share is above 1.
        return min(max(mean, float(self.values.min())), float(self.values.max()))

    @property
    def weighted(self) -> NDArray[np.float64]:
        """The values times what they weigh."""
        return self.values if self.weights is None else self.values * self.weights

    def anew(self) -> Anew:
        """The data of their mean, for resampling."""
        if self.weights is None:
            return Anew(self.cluster_names, [self.values], share_of)
        return Anew(self.cluster_names, [self.weighted, self.weights], share_of_weights)

    @property
    def cluster_names(self) -> tuple[str, ...]:
        clusters = (
            np.array(self.names, dtype=object)[np.asarray(self.clusters)]
            if self.names
            else self.clusters
        )
        return tuple(map(str, clusters))

    def missing(self, *, bounded: bool = True) -> Missing:
        """The missing replies, with the worst cases of the rate over all units if ``bounded``."""
        total = len(self.values) + self.dropped
        total_value = float(self.weighted.sum())
        share = (self.unparsed + self.failed) / self.calls if self.calls else 0.0
        if not total or not bounded:
            return Missing(self.unparsed, self.failed, share=share)
        low, high = total_value / total, (total_value + self.dropped + self.undecided) / total
        return Missing(self.unparsed, self.failed, low, high, share)


def stratum_weights(strata: NDArray[Any]) -> NDArray[np.float64] | None:
    """What units weigh so that their strata weigh the same; ``None`` if units do as well."""
    _, stratum, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    if np.unique(sizes).size < 2:
        return None
    weights: NDArray[np.float64] = strata.size / (sizes.size * sizes[stratum])
    return weights


def _unlike(cell: Cell, units: Groups) -> int:
    """How many units there are if replicates are counted once.

    A unit is told by its first and its last call: their item, wordings and orders.
    """
    if not units.starts.size:
        return 0

    def make() -> NDArray[np.intp]:
        # The code of no value is -1.
        return joint_codes(cell.items, cell.coded("template")[0] + 1, cell.coded("order")[0] + 1)

    questions = cell.once("questions", make)
    of_calls = questions[units.positions]
    last = units.starts + units.sizes - 1
    return int(joint_codes(of_calls[units.starts], of_calls[last]).max()) + 1


def missing_of(outcomes: NDArray[np.int8]) -> Missing:
    """What is missing of `Cell.outcomes` where no bound follows from it: counts and share."""
    unparsed, failed = (int((outcomes == kind).sum()) for kind in (UNPARSED, FAILED))
    return Missing(unparsed, failed, share=(unparsed + failed) / max(1, outcomes.size))


def missing_among(calls: Iterable[Judgment]) -> Missing:
    """What is missing of some calls, as of all by `missing_of`."""
    return missing_of(np.array([_KINDS[type(call.outcome)] for call in calls], dtype=np.int8))


def estimated(
    measure: Measure, cell: Cell, condition: Condition | None = None, **fields: Any
) -> Estimate:
    """The estimate of a measure on a cell; ``fields``: further fields of an `Estimate`."""
    return Estimate(measure.name, cell.suite, dict(condition or {}), unit=measure.unit, **fields)


def unavailable(
    measure: Measure, cell: Cell, reason: str, condition: Condition | None = None, **fields: Any
) -> Estimate:
    """The estimate of a measure without a value, with the reason."""
    return estimated(measure, cell, condition, unavailable=reason, **fields)


def _compact(values: NDArray[np.float64]) -> NDArray[Any]:
    """The same numbers in a byte each where they are 0 and 1: there may be millions."""
    small = values.astype(np.int8)
    return small if np.array_equal(small, values) else values


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
    """The mean of the units with its interval (Wilson's, or the ``interval`` of the source paper)
    and the clustered one; ``nothing``: the reason if there is not even a missing unit.
    """
    n = len(units.values)
    missing = units.missing()
    if n == 0:
        reason = f"all {units.dropped} units lack a verdict" if units.dropped else nothing
        return unavailable(measure, cell, reason, condition, missing=missing, flags=flags)
    share = units.mean
    weights = units.weights
    return estimated(
        measure,
        cell,
        condition,
        value=share,
        # A mean of the shares of strata is no number of units.
        count=float(units.values.sum()) if weights is None else None,
        n=n,
        interval=interval(units.values) if interval else wilson(share * n, n),
        clustered=clustered_proportion(units.values, units.clusters, units.unlike, weights),
        missing=missing,
        flags=flags,
        observations=units.observations,
        # It outlives the units, and has no use for what gives their keys.
        anew=replace(units, keys=(), values=_compact(units.values)).anew,
    )


def comparable(values: list[Any]) -> list[Any]:
    """Values of a condition; lists and objects, which a log by hand may state, as text."""
    try:
        hash(tuple(values))
    except TypeError:
        return [value if isinstance(value, str | int | float) else str(value) for value in values]
    return values
