"""How often checks fail an unchanged judge, and what they detect.

With recordings it uses the judge's totals, with only a plan assumed shares. The statistics are
in `stats.chances` and `stats.variance`. Units are found by estimating each cluster, and each
replicate of it, separately, so they are the same units that the check counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, TypeVar

from pytest_judgesense.checks.declaration import LISTING, declare_check
from pytest_judgesense.checks.outcome import (
    ALPHA,
    TOO_FEW,
    Assessment,
    Policy,
    judge_check,
    quantity_of,
)
from pytest_judgesense.checks.regression import Side, conditions_of_parts
from pytest_judgesense.errors import UsageError, unknown_name
from pytest_judgesense.estimate import Clustered, Estimate, Missing, find_estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measurement import cell_of
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all, estimates_where
from pytest_judgesense.registry import Registry
from pytest_judgesense.stats import chances
from pytest_judgesense.stats.chances import CAUGHT, Chance, ShareBar
from pytest_judgesense.stats.losses import (
    ASSUMED_CORRELATION,
    ASSUMED_RATE,
    PlannedComparison,
    correlation_kept,
    correlation_of_slots,
)
from pytest_judgesense.stats.settle import MOST_CLUSTERS, clusters_for_drop, fewest_clusters
from pytest_judgesense.suites.planning import filled, plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial, grouped

_Key = TypeVar("_Key")

_NEVER: Final = Chance(1.0, 1.0, 1.0)
_OF_ALL_REPLICATES: Final = "its units are made of all replicates"
_NO_BOUND: Final = "its interval has no bound at another level, which policy refuted needs"


@dataclass(frozen=True, slots=True)
class PowerAssumptions:
    """The parameters for a suite.

    Attributes:
        alpha: under ``refuted``, of all bars of the suite together; each is tried at the part that
            Holm leaves to the first.
        drop: a change for the worse that is to be stopped, above 0; ``None`` for none.
        half_width: of the 95% interval that a design is sought for, above 0.
        shares: for the plan alone, the assumed value of measures; any other is taken half-way
            between its bar and no error.
        correlation: for the plan alone, the intraclass correlation of the units of a cluster.
    """

    policy: Policy = "estimate"
    seed: int = 0
    drop: float | None = None
    half_width: float = 0.05
    shares: Mapping[str, float] = field(default_factory=dict)
    correlation: float = ASSUMED_CORRELATION
    registry: Registry = BUILT_IN
    alpha: float = ALPHA

    def __post_init__(self) -> None:
        for measure_name in self.shares:
            if measure_name not in (measures := self.registry.measures):
                raise unknown_name("measure", measure_name, measures, LISTING)
        if self.drop == 0 or self.half_width == 0:
            raise UsageError("a drop and a half-width are above 0", found="0")


@dataclass(frozen=True, slots=True)
class CheckPower:
    """The error rates of one check, or of one bar of a composite check.

    Attributes:
        name: the check's id, with the name of the bar behind it if it has several.
        value: estimated or assumed.
        clusters: 0 where nothing was measured.
        again: probability that it does not pass for the same judge on the same items; or why there
            is none.
        anew: the same on as many new items.
        drop: smallest change for the worse that it stops with 80% power, if units all over lose.
        whole: the same if whole clusters are lost.
        needed: clusters with which it passes today (95%) and stops the stated drop (80%);
            ``None`` where no drop was stated.
    """

    name: str
    value: float | None
    clusters: int
    again: Chance | str
    anew: Chance | str
    drop: float | str
    whole: float | str
    needed: int | str | None = None


def powers(suite: Suite, assumed: PowerAssumptions, cell: Cell | None = None) -> list[CheckPower]:
    """The error rates of every check of ``suite``; without a ``cell``, by the plan alone."""
    judged, rows = JudgedSuite(suite, assumed, cell), []
    compared = [
        part for check in judged.checks if check.kind.regression for part in judged.parts(check)
    ]
    absolute = [check for check in judged.checks if not check.kind.earlier]
    outcomes = [
        judge_check(check, suite.name, judged.estimates, assumed.policy) for check in absolute
    ]
    each = assumed.alpha / max(
        1, len({quantity_of(bar) for outcome in outcomes for bar in outcome.findings})
    )
    for check, outcome in zip(absolute, outcomes, strict=True):
        for finding in outcome.findings:
            of = finding.estimate
            narrowed = ",".join(f"{k}={v}" for k, v in of.condition.items() if k != "arm")
            bar = f"{check.name}: {of.measure}" + (f"[{narrowed}]" if narrowed else "")
            name = check.id if len(outcome.findings) == 1 else bar
            name += " (known)" if check.known else ""
            rows.append(judged.row(name, finding, each))
    quantities = {(check.measure, *sorted(check.condition.items())) for check in compared}
    return rows + [judged.compared_row(check, len(quantities)) for check in compared]


class JudgedSuite:
    """What is known of a suite: a judge's judgments, or by the plan alone their number.

    The parts of each cluster, and of each replicate of each cluster, are made once.
    """

    def __init__(self, suite: Suite, assumed: PowerAssumptions, cell: Cell | None = None) -> None:
        self.assumed, self.plan_alone = assumed, cell is None
        seed, registry = assumed.seed, assumed.registry
        if cell is None:  # of judgments that fill the design only the number of units is used
            planned = filled(suite.design, plan_trials(suite))
            cell = cell_of("", suite, planned, seed, registry)
        self.checks = [declare_check(c.name, (), dict(c.arguments), registry) for c in suite.checks]
        self.cell, self.estimates = cell, estimate_all(cell)

    @cached_property
    def _whole(self) -> dict[str, Cell]:
        return self._by(lambda trial: trial.cluster)

    @cached_property
    def _apart(self) -> dict[tuple[str, int], Cell]:
        return self._by(lambda trial: (trial.cluster, trial.replicate))

    def _by(self, key: Callable[[Trial], _Key]) -> dict[_Key, Cell]:
        groups = grouped(self.cell.all_judgments, lambda judgment: key(judgment.trial))
        return {whose: self.cell.of(group) for whose, group in groups.items()}

    def units(self, estimate: Estimate) -> list[tuple[float, int]]:
        """Sum and number of the estimate's units in each cluster that has any."""
        totals = (_units(part, estimate) for part in self._whole.values())
        return [total for total in totals if total[1]] if estimate.count is not None else []

    def parts(self, check: Check) -> list[Check]:
        """A check that compares the worst of several, under each of them; any other as it is."""
        measure = self.assumed.registry.named(check.measure)
        side = Side(self.estimates)
        conditions = conditions_of_parts(side, side, measure, check.condition)
        return [replace(check, condition=condition) for condition in conditions] or [check]

    def row(self, name: str, finding: Assessment, alpha: float) -> CheckPower:
        """The error rates against one bar, under ``refuted`` at the level ``alpha``."""
        estimate, interval = finding.estimate, finding.estimate.clustered
        clusters = interval.clusters if interval else 0
        if estimate.value is None:
            reason = str(estimate.unavailable)
            return CheckPower(name, None, 0, *[reason] * 4)
        if not self.plan_alone and finding.measure.stability and "degenerate" in estimate.flags:
            reason = "a degenerate judge never passes"
            return CheckPower(name, estimate.value, clusters, _NEVER, _NEVER, reason, reason)
        refuting = self.assumed.policy == "refuted"
        confident = not refuting and (
            self.assumed.policy == "confident" or finding.limit is not None
        )
        missing = 0.0 if self.plan_alone else _left_out(estimate.missing)
        folded, each = finding.measure.best == "half", interval.each if interval else None
        gate = ShareBar(finding.decisive, confident, folded, missing, each=each)
        if refuting:
            gate = replace(gate, refuting=True, level=1 - alpha)
            if interval and interval.at is None:
                return CheckPower(name, estimate.value, clusters, *[_NO_BOUND] * 4)
        if self.units(estimate):
            return self._share_row(name, finding, gate)
        reason = f"{estimate.measure} is not a share of its units"
        if estimate.count is not None:
            reason = "its units are made of several clusters"
        if self.plan_alone:
            return CheckPower(name, None, clusters, *[reason] * 4)
        anew: Chance | str = reason
        if interval and estimate.measure != "detection_threshold":
            ends = estimate.value, *_bounds(interval, gate)
            if not finding.floor:  # a number below a ceiling is its negative above a floor
                ends, gate = (-ends[0], -ends[2], -ends[1]), replace(gate, bar=-gate.bar)
            anew = chances.chance_of_estimate(gate, *ends, clusters)
        return CheckPower(name, estimate.value, clusters, reason, anew, reason, reason)

    def _share_row(self, name: str, finding: Assessment, gate: ShareBar) -> CheckPower:
        assumed, estimate, interval = self.assumed, finding.estimate, finding.estimate.clustered
        assert estimate.value is not None
        units = self.units(estimate)
        sizes = [n for _, n in units]
        # A ceiling counts the complement of its floor; the direction of a slot bias does not
        # matter.
        turned = 2 * sum(s for s, _ in units) < sum(sizes) if gate.folded else not finding.floor
        if not (gate.folded or finding.floor):
            gate = replace(gate, bar=1 - gate.bar)
        if finding.limit is not None and gate.confident and not gate.folded:
            # The bound of what was read, diluted by what is missing, must clear the limit.
            gate = replace(gate, bar=min(1.0, gate.bar / (1 - gate.missing)), missing=0.0)

        def share_of(value: float) -> float:
            return 0.5 + value if gate.folded else value if finding.floor else 1 - value

        again: Chance | str = "a plan alone has no replies"
        if self.plan_alone:
            value = assumed.shares.get(estimate.measure, (finding.bar + finding.floor) / 2)
            rho = assumed.correlation
            chance = chances.chance_at(gate, share_of(value), rho, sizes, assumed.seed)
            anew = Chance(chance, chance, chance)
        elif interval is None or interval.design_effect is None:
            reason = (
                TOO_FEW if interval is None else f"{estimate.measure} is no share over clusters"
            )
            return CheckPower(name, estimate.value, len(sizes), *[reason] * 4)
        else:
            value = estimate.value
            rho = chances.correlation(interval.design_effect, sizes)
            bounds = sorted(map(share_of, _bounds(interval, gate)))
            again = self._again(estimate, gate, bounds, turned=turned)
            totals = [n - s if turned else s for s, n in units]
            ends = share_of(interval.lower), share_of(interval.upper)
            anew = chances.chance_on_new_items(gate, totals, sizes, rho, ends, assumed.seed)
        found_drops = [
            chances.smallest_drop(gate, share_of(value), rho, sizes, assumed.seed, whole=whole)
            for whole in (False, True)
        ]
        scattered, on_whole = ["nothing is bad enough" if d is None else d for d in found_drops]
        needed: int | str | None = None
        if assumed.drop is not None:
            needed = _needed(gate, share_of(value), rho, sizes, assumed)
            if isinstance(needed, str) and finding.limit is not None:
                needed = needed.replace("the bar", "the limit")
        return CheckPower(name, value, len(sizes), again, anew, scattered, on_whole, needed)

    def _again(
        self, estimate: Estimate, gate: ShareBar, bounds: Sequence[float], *, turned: bool
    ) -> Chance | str:
        table = self._by_replicate(estimate)
        if isinstance(table, str):
            return table
        totals = [[n - s if turned else s for s, n in row] for row in table]
        return chances.chance_asked_again(
            gate, totals, [[n for _, n in row] for row in table], bounds
        )

    def _by_replicate(self, estimate: Estimate) -> list[list[tuple[float, int]]] | str:
        """Sum and number of the units by cluster and replicate; or why they are not apart."""
        clusters, replicates = map(dict.fromkeys, zip(*self._apart, strict=True))
        if len(replicates) < 2:
            return "needs two or more replicates; set replicates in [design]"
        if estimate.measure == "repeat_flip_rate" or estimate.unit == "question":
            return _OF_ALL_REPLICATES
        units = {key: _units(part, estimate) for key, part in self._apart.items()}
        table = [
            [units.get((cluster, r), (0.0, 0)) for r in sorted(replicates)] for cluster in clusters
        ]
        return [row for row in table if any(n for _, n in row)] or _OF_ALL_REPLICATES

    def compared_row(self, check: Check, tests: int) -> CheckPower:
        """The error rates of a check that compares with a baseline, among so many ``tests``."""
        assumed, condition = self.assumed, dict(check.condition)
        measure, name = assumed.registry.named(check.measure), check.id
        estimate = find_estimate(self.estimates, measure.name, condition)
        if estimate is None or estimate.value is None:
            reason = str(estimate.unavailable) if estimate else "not measured"
            return CheckPower(name, None, 0, *[reason] * 4)
        units, interval = self.units(estimate), estimate.clustered
        if not units or interval is None:
            reason = f"{measure.name} is not a share of its units" if not units else TOO_FEW
            value = None if self.plan_alone else estimate.value
            return CheckPower(name, value, len(units), *[reason] * 4)
        folded, sizes = measure.best == "half", [n for _, n in units]
        if self.plan_alone:
            rest = 0.0 if folded else 1 - ASSUMED_RATE
            value = assumed.shares.get(measure.name, 1 - rest if measure.floor else rest)
            rho = assumed.correlation
        else:
            value, rho = estimate.value, self._correlation(estimate, sizes)
        # What may be lost: of a slot bias the share of the other slot. A judge of which nothing
        # else is known differs from itself as its answers about contents do.
        share = 0.5 - value if folded else value if measure.floor else 1 - value
        if folded and self.plan_alone and share > 0:
            rho = correlation_of_slots(ASSUMED_RATE, rho, value)
        if share <= 0:
            return CheckPower(name, value, len(sizes), *["nothing is left to lose"] * 4)
        planned = PlannedComparison(
            *(share, rho, tuple(sizes), check.bars["margin"], tests),
            each=interval.each,
            folded=folded,
            confident=assumed.policy == "confident",
            seed=assumed.seed,
        )
        fails = planned.chance(0)
        drops = [planned.smallest_loss(whole=whole) for whole in (False, True)]
        scattered, on_whole = ["nothing is bad enough" if d is None else d for d in drops]
        needed = None if assumed.drop is None else _needed_to_compare(planned, assumed.drop)
        anew = "it is compared on the same items"
        return CheckPower(
            name, value, len(sizes), Chance(fails, fails, fails), anew, scattered, on_whole, needed
        )

    def _correlation(self, estimate: Estimate, sizes: Sequence[int]) -> float:
        """The part of the variance of a unit that stays when the same item is asked again."""
        interval, table = estimate.clustered, self._by_replicate(estimate)
        if isinstance(table, str):
            effect = interval.design_effect if interval else None
            return 0.0 if effect is None else chances.correlation(effect, sizes)
        totals, numbers = ([[unit[at] for unit in row] for row in table] for at in (0, 1))
        return correlation_kept(totals, numbers)


def _units(part: Cell, like: Estimate) -> tuple[float, int]:
    """Sum and number of units of the estimate of ``part`` that is like this one."""
    # There is a part for each item, and few of the measures are planned.
    estimates = estimates_where(part, lambda measure: measure.name == like.measure)
    same = find_estimate(estimates, like.measure, dict(like.condition))
    return (0.0, 0) if same is None or same.count is None else (same.count, same.n)


def _left_out(missing: Missing) -> float:
    """The share of the units that missing replies leave out."""
    low, high = missing.lower_bound, missing.upper_bound
    return missing.share if low is None or high is None else high - low


def _bounds(interval: Clustered, gate: ShareBar) -> tuple[float, float]:
    """The one-sided bounds at the level of the gate."""
    if gate.refuting and interval.at:
        return interval.at(gate.level)
    return interval.lower_bound, interval.upper_bound


def _needed(
    gate: ShareBar, share: float, rho: float, sizes: Sequence[int], assumed: PowerAssumptions
) -> int | str:
    assert assumed.drop is not None
    dropped = min(1.0, max(0.0, share + (assumed.drop if gate.folded else -assumed.drop)))
    if not gate.misses(dropped, dropped):
        return "after such a drop the judge is still within the bar"
    size = max(1, round(sum(sizes) / len(sizes)))
    fewest = clusters_for_drop(gate, share, dropped, rho, size, assumed.seed)
    return fewest or f"{MOST_CLUSTERS:,} clusters are not enough: it is too close to the bar"


def _needed_to_compare(planned: PlannedComparison, drop: float) -> int | str:
    if drop <= planned.margin:
        return "such a drop lies within the margin"
    if drop > planned.share:
        return "there is not so much to lose"
    size = max(1, round(sum(planned.sizes) / len(planned.sizes)))

    def enough(clusters: int) -> bool:
        return replace(planned, sizes=(size,) * clusters).chance(drop) >= CAUGHT

    fewest = fewest_clusters(enough)
    return fewest or f"{MOST_CLUSTERS:,} clusters are not enough: it is too close to the margin"
