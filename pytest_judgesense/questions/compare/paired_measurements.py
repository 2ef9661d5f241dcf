"""What was measured in both of two measurements, measure by measure, with a verdict for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from pytest_judgesense.checks import regression
from pytest_judgesense.checks.reference import Reference
from pytest_judgesense.checks.regression import Adjustment, Comparison
from pytest_judgesense.earlier.baseline import Measured, changes
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.registry import Registry

# What the two measurements are called: of one judge, and of two judges.
_NAMES: Final = ("old measurement", "new measurement")
_NAMES_OF_TWO: Final = ("first judge", "second judge")
# The verdicts on two judges, by the verdicts on one judge that was measured twice.
_OF_TWO: Final = {
    "regressed": "differ: first better",
    "improved": "differ: second better",
    "unchanged": "alike",
    "inconclusive": "no clear difference",
}


class AtRevision(NamedTuple):
    """A judge on a suite at a revision.

    Attributes:
        changes: what differs in what was sent, in the code and in the items, in lines.
        reference: it, as checks compare with it.
    """

    changes: tuple[str, ...]
    reference: Reference


@dataclass(frozen=True)
class ComparedMeasure:
    """A measure in both measurements.

    Attributes:
        comparison: its values, and their difference.
        adjustment: the p-values in the family of all measures; ``None`` without a direction.
        verdict: on one judge ``regressed``, ``improved``, ``unchanged``, ``inconclusive`` or ``not
            judged``; on two judges which one is better.
    """

    comparison: Comparison
    adjustment: Adjustment | None
    verdict: str

    @property
    def is_measured(self) -> bool:
        """Whether either side has a value: what neither has is no difference."""
        old, new = self.comparison.old, self.comparison.new
        return old.value is not None or new.value is not None

    @property
    def change(self) -> float | None:
        """New less old, in the unit of the measure; ``None`` if nothing was tested."""
        difference = self.comparison.difference
        # Plus 0.0: no difference has no sign.
        return self.comparison.sign * difference.value + 0.0 if difference else None

    @property
    def p(self) -> float | None:
        """The p-value of "no loss", adjusted for all measures; ``None`` if nothing was tested."""
        if self.comparison.difference is None or self.adjustment is None:
            return None
        return self.adjustment.loss.p

    def to_dict(self) -> dict[str, Any]:
        """Its values, with plain keys."""
        old, new = self.comparison.values
        lower, upper = self.comparison.interval(self.adjustment) or (None, None)
        return {
            "measure": self.comparison.new.measure,
            "condition": dict(self.comparison.new.condition),
            "old": old,
            "new": new,
            "change": self.change,
            "lower": lower,
            "upper": upper,
            "no_loss_p": self.p,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class ComparedSuite:
    """A judge on a suite, measured twice; or two judges on it.

    Attributes:
        then: the old measurement, or that of the first judge.
        now: the new one, or that of the second judge.
        measures: that either of them has.
        at_revision: what is known of ``then`` if it is that of a revision.
    """

    then: Measured
    now: Measured
    measures: tuple[ComparedMeasure, ...]
    at_revision: AtRevision | None = None

    @property
    def of_two_judges(self) -> bool:
        """Whether they are two judges: neither got worse."""
        return self.then.judge != self.now.judge

    @property
    def changes(self) -> tuple[str, ...]:
        """What differs in judge, decoding, prompt and suite, in lines."""
        return changes(self.then, self.now).lines

    @property
    def in_both(self) -> tuple[str, ...]:
        """The ids of the trials that both have."""
        return tuple(trial for trial in self.now.side.by_id if trial in self.then.side.by_id)

    @property
    def flips(self) -> tuple[str, ...]:
        """Those of them whose verdicts differ."""
        old, new = self.then.side.by_id, self.now.side.by_id
        return tuple(trial for trial in self.in_both if regression.differs(old[trial], new[trial]))

    @property
    def worse(self) -> bool:
        """Whether a measure got worse."""
        return any(measure.verdict == "regressed" for measure in self.measures)


def compared_suites(
    old: Sequence[Measured],
    new: Sequence[Measured],
    margin: float | None,
    registry: Registry,
    at_revision: Mapping[tuple[str, str], AtRevision],
) -> tuple[ComparedSuite, ...]:
    """What is in both measurements.

    Args:
        old: what was measured before.
        new: what is measured now.
        margin: the loss that is tolerated; ``None`` for the default of each measure.
        registry: the instruments and plugins in use.
        at_revision: by judge and suite, the old measurements that are those of a revision.

    Raises:
        UsageError: no judge and suite is in both.
    """
    pairs = _pairs(old, new)
    if not pairs:
        raise UsageError(
            "there is nothing to compare: no judge and suite is in both",
            found=f"{names_of(old)} against {names_of(new)}",
            expected="a suite of one name in both, of one judge, or of the only judge of each",
            remedy="give logs that you import one name: judgesense import ... --suite NAME",
        )
    earlier = [at_revision.get((now.judge, now.suite)) for _, now in pairs]
    comparisons = [
        (place, comparison)
        for place, (then, now) in enumerate(pairs)
        for comparison in _comparisons(then, now, earlier[place], registry)
    ]
    # Holm's family: the measures with a direction, of all suites.
    family = [(place, comparison) for place, comparison in comparisons if comparison.judged]
    adjustments = iter(regression.adjust(family))
    measures: list[list[ComparedMeasure]] = [[] for _ in pairs]
    for place, comparison in comparisons:
        adjustment = next(adjustments) if comparison.judged else None
        then, now = pairs[place]
        verdict = _verdict(comparison, adjustment, margin)
        if then.judge != now.judge:
            verdict = _OF_TWO.get(verdict, verdict)
        measures[place].append(ComparedMeasure(comparison, adjustment, verdict))
    return tuple(
        ComparedSuite(then, now, tuple(measures[place]), earlier[place])
        for place, (then, now) in enumerate(pairs)
    )


def names_of(measured: Sequence[Measured]) -> str:
    """Judges and suites, as an error names them."""
    return listed(f"{of_suite.judge} on {of_suite.suite}" for of_suite in measured) or "nothing"


def _pairs(old: Sequence[Measured], new: Sequence[Measured]) -> list[tuple[Measured, Measured]]:
    """The same judge in both, or the only judge of each, on the same suite."""
    alone = len({m.judge for m in old}) == len({m.judge for m in new}) == 1
    then = {("" if alone else m.judge, m.suite): m for m in old}
    keyed = [(("" if alone else m.judge, m.suite), m) for m in new]
    return [(then[key], now) for key, now in keyed if key in then]


def _comparisons(
    then: Measured, now: Measured, earlier: AtRevision | None, registry: Registry
) -> Iterator[Comparison]:
    """Of two measurements of a suite, every measure under its widest conditions."""
    two_judges = then.judge != now.judge
    names = _NAMES_OF_TWO if two_judges else _NAMES
    for name, condition in _measures_in(then, now, registry):
        measure = registry.named(name)
        if earlier is None:
            comparison = regression.compare(then.side, now.side, measure, condition, names=names)
        else:
            comparison = earlier.reference.compare(now.side, measure, condition, names=names)
        yield comparison.of_two_judges if two_judges else comparison


def _measures_in(
    old: Measured, new: Measured, registry: Registry
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each measure under its widest conditions: narrower ones would only enlarge Holm's family, and
    so would a quiet measure without anything to report.
    """
    conditions_of: dict[str, list[dict[str, Any]]] = defaultdict(list)
    every = (*new.side.estimates, *old.side.estimates)
    telling = {
        estimate.measure
        for estimate in every
        if estimate.value or not registry.named(estimate.measure).quiet
    }
    for estimate in every:
        condition = dict(estimate.condition)
        if estimate.measure in telling and condition not in conditions_of[estimate.measure]:
            conditions_of[estimate.measure].append(condition)
    for measure, conditions in conditions_of.items():
        fewest = min(map(len, conditions))
        yield from ((measure, condition) for condition in conditions if len(condition) == fewest)


def _verdict(comparison: Comparison, adjustment: Adjustment | None, margin: float | None) -> str:
    if adjustment is None:
        return "not judged"
    if comparison.old.value is None or comparison.new.value is None:
        return "inconclusive"
    return comparison.verdict(comparison.of.margin if margin is None else margin, adjustment)
