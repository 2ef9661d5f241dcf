"""``judgesense power``: how often checks fail an unchanged judge, and what they detect.

With recordings it uses the judge's totals, with only a plan assumed shares. The statistics are
in `stats.chances` and `stats.variance`. Units are found by estimating each cluster, and each
replicate of it, separately, so they are the same units that the check counts.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias, TypeVar, get_args

from pytest_judgesense.asking.inquiry import Asking
from pytest_judgesense.checks.declaration import LISTING, declare_check
from pytest_judgesense.checks.early_stop import Stopping
from pytest_judgesense.checks.outcome import (
    ALPHA,
    TOO_FEW,
    Assessment,
    DecisionRule,
    Policy,
    judge_check,
    quantity_of,
)
from pytest_judgesense.commands.options import (
    MANY,
    add_cassettes,
    number,
    place_of,
    registry_of,
    seed,
)
from pytest_judgesense.earlier.past import measured_now
from pytest_judgesense.errors import (
    CassetteError,
    CodeNotRun,
    MissingRecording,
    StaleRecording,
    UsageError,
    unknown_name,
)
from pytest_judgesense.estimate import Clustered, Estimate, Missing, find_estimate, number_text
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.trust import NO_CODE
from pytest_judgesense.measurement import cell_of, measure
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.questions.place import JUDGE
from pytest_judgesense.registry import Instrument, Registry
from pytest_judgesense.stats import chances
from pytest_judgesense.stats.chances import CAUGHT, Chance, ShareBar
from pytest_judgesense.stats.drift import PlannedSessions
from pytest_judgesense.stats.losses import (
    ASSUMED_CORRELATION,
    ASSUMED_RATE,
    PlannedComparison,
    correlation_kept,
    correlation_of_slots,
)
from pytest_judgesense.stats.new_wordings import fewest_clusters
from pytest_judgesense.stats.sequential import asked_together, expected_clusters, looks_of
from pytest_judgesense.stats.settle import MOST_CLUSTERS, clusters_for_drop
from pytest_judgesense.stats.settle import fewest_clusters as fewest_clusters_of
from pytest_judgesense.stats.variance import (
    REPLICATE,
    balanced_array,
    cheapest_split,
    variance_components,
)
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.planning import filled, plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import indented
from pytest_judgesense.trial import Failed, Trial, grouped

_Key = TypeVar("_Key")
_Call: TypeAlias = tuple[str, str, str, str, int]  # cluster, item, template, order, replicate

_NEVER: Final = Chance(1.0, 1.0, 1.0)
_OF_ALL_REPLICATES: Final = "its units are made of all replicates"
_NO_BOUND: Final = "its interval has no bound at another level, which policy refuted needs"
# Of the way from the bar to a judge without error; below 0 away from it.
_TRUTHS: Final = (1.0, 0.5, 0.0, -0.5, -1.0)
_MOST: Final = 10  # templates, and replicates, of a design that is sought
_MOST_WORDINGS: Final = 30  # of one for new wordings
_FEWEST: Final = 10  # clusters of one


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the suite, the judge and the assumptions."""
    option, share = parser.add_argument, number("share", float, 1)
    option("judge_suite", metavar="SUITE", help="a suite by name, NAME@PRESET, or its file")
    option("--judge-name", metavar="NAME", help=JUDGE)
    add_cassettes(parser)
    text = "what must clear a bar (default: the estimate)"
    option("--judge-policy", choices=get_args(Policy), default="estimate", help=text)
    text, alpha = "under refuted: the maximum chance to fail by luck", number("alpha", float, 0.5)
    option("--judge-alpha", type=alpha, default=ALPHA, metavar="A", help=text)
    option("--judge-seed", type=seed, default=0, metavar="N", help="seed of every random draw")

    def assumption(text: str) -> tuple[str, float]:
        name, _, value = text.partition("=")
        return name, share(value)

    text = "assumed value of a measure, instead of a recording; may be repeated"
    option("--assume", type=assumption, metavar="MEASURE=SHARE", help=text, **MANY)
    text = "correlation of the units within a cluster, if nothing is recorded (default: 0.3)"
    option("--correlation", type=share, default=ASSUMED_CORRELATION, metavar="RHO", help=text)
    option("--drop", type=share, metavar="D", help="the drop to be detected")
    option("--precision", type=share, default=0.05, metavar="H", help="half-width wanted")
    text = "how many calls to expect with --judge-early-stop, at several true values"
    option("--early-stop", action="store_true", help=text)


def run(options: argparse.Namespace, usd_a_trial: float | None = None) -> Iterator[str]:
    """Print how often checks fail an unchanged judge, and what they detect."""
    if options.early_stop and options.judge_policy == "refuted":
        raise UsageError(
            "--early-stop has no meaning under --judge-policy refuted",
            expected="estimate or confident",
        )
    assumed = assumptions_of(options)
    if options.judge_name is None or options.assume:
        suite = place_of(options).suite(options.judge_suite)
        yield from power_lines(suite, assumed)
    else:
        place = place_of(options)
        judge, suite = place.judge(options.judge_name), place.suite(options.judge_suite)
        yield from power_lines(suite, assumed, judge, options.judge_cassettes)
    if options.early_stop:
        yield from _early_stop(suite, assumed, usd_a_trial)


def assumptions_of(options: argparse.Namespace) -> PowerAssumptions:
    """The parameters that a command line states."""
    return PowerAssumptions(
        options.judge_policy,
        options.judge_seed,
        options.drop,
        options.precision,
        dict(options.assume),
        options.correlation,
        registry_of(options),
        options.judge_alpha,
    )


def _early_stop(
    suite: Suite, assumed: PowerAssumptions, usd_a_trial: float | None
) -> Iterator[str]:
    """How many trials to expect until each check is decided, at the assumed correlation.

    ``usd_a_trial``: the maximum cost of a trial; ``None`` if not known.
    """
    judged = _JudgedSuite(suite, assumed)
    trials = len(judged.cell.judgments)

    def priced(number: float) -> str:
        usd = "" if usd_a_trial is None else f" ({number * usd_a_trial:.4f} USD)"
        return f"{number:.0f}{usd}"

    every = f"early stop, policy {assumed.policy}: at most {priced(trials)} trials"
    yield f"{every}; expected until decided,"
    yield "by the true value (a suite stops when its last check is decided):"
    for check in judged.checks:
        findings: Sequence[Assessment] = ()
        if check.of is not None and not (check.kind.earlier or check.kind.compares):
            findings = judge_check(check, suite.name, judged.estimates, assumed.policy).findings
        finding = findings[0] if len(findings) == 1 else None
        sizes = [n for _, n in judged.units(finding.estimate)] if finding else []
        never = Stopping((check,), DecisionRule(assumed.policy)).never
        bounds = assumed.policy == "confident" or bool(check.limits)
        if never or not (sizes or bounds):
            yield f"  {check.id}: all {priced(trials)}: it is decided on all clusters"
        elif finding is None or len(sizes) < 2:
            yield f"  {check.id}: not planned: it is not a share with one bar"
        else:
            looks = Stopping(tuple(judged.checks), DecisionRule(assumed.policy)).looks
            by_value = _expected_trials(finding, sizes, trials, assumed, looks)
            shown = (f"{priced(number)} at {value:.3f}" for value, number in by_value.items())
            yield f"  {check.id}: {', '.join(shown)}"


def _expected_trials(
    finding: Assessment, sizes: Sequence[int], trials: int, assumed: PowerAssumptions, looks: str
) -> dict[float, float]:
    """The expected number of trials until a check of a share is decided, by the true value.

    Of all ``trials`` of the suite; ``sizes``: units of each cluster, planned as if all were of
    their mean; ``looks``: the policy of the suite's looks.
    """
    clusters, size = len(sizes), max(1, round(sum(sizes) / len(sizes)))
    bets = assumed.policy == "estimate" and finding.limit is None
    every = looks == "estimate"
    together = asked_together(clusters, trials) if every else 1
    # Of a distance from one half, the one side to which the judge leans.
    folded, bar = finding.measure.best == "half", finding.decisive
    bar = 0.5 - bar if folded else bar if finding.floor else 1 - bar
    best = 0.5 if folded else 1.0
    trials_by_value = {}
    for part in _TRUTHS:
        share = min(1.0, max(0.0, bar + part * (best - bar)))
        process = share, assumed.correlation, size, bar, looks_of(clusters, every=every)
        number = expected_clusters(*process, every=bets, together=together, seed=assumed.seed)
        value = 0.5 - share if folded else share if finding.floor else 1 - share
        trials_by_value[round(value, 12)] = trials * number / clusters
    return trials_by_value


def cassettes_of(judge: JudgeSpec, suite: Suite, cassettes: Path) -> dict[str, Path]:
    """The cassettes of the suite by recording, as pytest would find them."""
    return cassettes_in(cassettes, judge.slug, suite_for_judge(suite, judge).recordings)


def powers(suite: Suite, assumed: PowerAssumptions, cell: Cell | None = None) -> list[CheckPower]:
    """The error rates of every check of ``suite``; without a ``cell``, by the plan alone."""
    judged, rows = _JudgedSuite(suite, assumed, cell), []
    compared = [check for check in judged.checks if check.kind.regression]
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
            rows.append(judged.row(name, finding, each))
    quantities = {(check.measure, *sorted(check.condition.items())) for check in compared}
    return rows + [judged.compared_row(check, len(quantities)) for check in compared]


def shares_followed(suite: Suite, assumed: PowerAssumptions) -> dict[str, PlannedSessions]:
    """The shares that live sessions of a suite would follow, by measure, as they are planned.

    Those of its `no_drift` checks; without any, those that its other checks are about.
    """
    judged = _JudgedSuite(suite, assumed)
    checks = [check for check in judged.checks if check.kind.drift] or judged.checks
    planned = {}
    for check in checks:
        measure = check.of
        if measure is None or measure.bounds != (0.0, 1.0):
            continue
        estimate = find_estimate(judged.estimates, measure.name, check.narrowed)
        sizes = [n for _, n in judged.units(estimate)] if estimate else []
        rest = 1 - ASSUMED_RATE
        value = assumed.shares.get(measure.name, 1 - rest if measure.floor else rest)
        share = value if measure.floor else 1 - value
        if len(sizes) > 1 and 0 < share < 1 and assumed.correlation < 1:
            planned[measure.name] = PlannedSessions(share, assumed.correlation, tuple(sizes))
    return planned


class _JudgedSuite:
    """What is known of a suite: a judge's judgments, or by the plan alone their number.

    Estimates of each cluster, and of each replicate of each cluster, are made once.
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
    def _whole(self) -> dict[str, tuple[Estimate, ...]]:
        return self._by(lambda trial: trial.cluster)

    @cached_property
    def _apart(self) -> dict[tuple[str, int], tuple[Estimate, ...]]:
        return self._by(lambda trial: (trial.cluster, trial.replicate))

    def _by(self, key: Callable[[Trial], _Key]) -> dict[_Key, tuple[Estimate, ...]]:
        groups = grouped(self.cell.judgments, lambda judgment: key(judgment.trial))
        return {
            whose: estimate_all(replace(self.cell, judgments=tuple(group)))
            for whose, group in groups.items()
        }

    def units(self, estimate: Estimate) -> list[tuple[float, int]]:
        """Sum and number of the estimate's units in each cluster that has any."""
        totals = (_units(part, estimate) for part in self._whole.values())
        return [total for total in totals if total[1]] if estimate.count is not None else []

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


def _units(estimates: tuple[Estimate, ...], like: Estimate) -> tuple[float, int]:
    """Sum and number of units of the estimate that is like this one."""
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

    fewest = fewest_clusters_of(enough)
    return fewest or f"{MOST_CLUSTERS:,} clusters are not enough: it is too close to the margin"


def power_lines(
    suite: Suite,
    assumed: PowerAssumptions,
    judge: JudgeSpec | None = None,
    cassettes: Path = Path("cassettes"),
) -> Iterator[str]:
    """The error rates as a table, the reasons for its gaps, and the cheapest design.

    Without a judge, or where its verdicts are not to be had of its recording, as it would be asked
    now, by the plan alone.
    """
    cell: Cell | None = None
    stopped = lacking = ""
    if judge:
        cell, stopped, lacking = _recorded(judge, suite, assumed, cassettes)
    whose = f"judge {cell.judge}, {len(cell.judgments)} judgments" if cell else "the plan alone"
    yield f"{suite.name}, policy {assumed.policy}: {whose}"
    if stopped:
        yield f"  {stopped}"
    if judge and not cell:
        yield from indented(lacking, 2)
    like = "judges like this recording" if cell else "judges as assumed"
    yield f"chance not to pass (95% interval) for {like}; smallest drop detected in 80%,"
    yield "scattered over all units (drop) and on whole clusters (whole)"
    head = ["check", "now", "same items", "new items", "drop", "whole", "clusters"]
    table = [head + ([f"for {assumed.drop:g}"] if assumed.drop else [])]
    notes: dict[str, None] = {}

    def shown(value: Chance | float | str | None) -> str:
        if isinstance(value, str):
            notes[value] = None
            return f"({list(notes).index(value) + 1})"
        if isinstance(value, Chance):
            is_exact = value.lower == value.upper
            span = "" if is_exact else f" ({value.lower:.0%} to {value.upper:.0%})"
            return f"{value.value:.0%}{span}"
        if isinstance(value, int):
            return str(value)
        return "-" if value is None else number_text(value)

    for row in powers(suite, assumed, cell):
        values = (
            *(row.value, row.again, row.anew, row.drop, row.whole),
            *(row.clusters, row.needed),
        )
        table.append([row.name, *map(shown, values[: len(table[0]) - 1])])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        yield ("  " + "  ".join(map(str.ljust, line, widths))).rstrip()
    yield from (f"  ({i}) {note}" for i, note in enumerate(notes, start=1))
    if cell:
        yield from split_lines(cell, assumed.half_width, assumed.registry)


def _recorded(
    judge: JudgeSpec, suite: Suite, assumed: PowerAssumptions, cassettes: Path
) -> tuple[Cell | None, str, str]:
    """What is recorded of a judge; where it was stopped; and why, if none of it is to be had."""
    files = cassettes_of(judge, suite, cassettes)
    # A plan takes no longer where a suite is large.
    asking = Asking(trust=NO_CODE, registry=assumed.registry, computes=lambda _: False)
    lacking = f"not all trials of judge {judge.name} are recorded as they would be asked now"
    with closing(AskingLoop()) as loop, suppress(MissingRecording, StaleRecording):
        try:
            measurement = measure(
                judge, suite, files, loop, seed=assumed.seed, asking=asking
            ).sound()
        except CodeNotRun as error:
            lacking = f"{error.what}: {error.found}"
            # What a function returned says its verdicts, whatever it would do today.
            with suppress(CassetteError):
                paths = [path for path in files.values() if path.exists()]
                now, _ = measured_now(judge, suite, paths, assumed.seed, assumed.registry)
                cell = now.side.cell
                if cell and len(cell.judgments) == len(plan_trials(suite)):
                    return cell, "", ""
        else:
            stop = measurement.stop
            return measurement.cell, stop.said(suite.name) if stop else "", ""
    return None, "", lacking


def split_lines(cell: Cell, half_width: float, registry: Registry = BUILT_IN) -> Iterator[str]:
    """The variance components of the call-level share, and the cheapest design for a precision."""
    name, scores = _scores(cell, registry.kinds[cell.design.kind])
    array = balanced_array(scores) if scores else None
    if not array or not (parts := variance_components(*array, {"item": "cluster"})):
        reason = "no item with a label and all of its calls" if not array else "nothing is varied"
        yield f"variance components: unavailable ({reason})"
        return
    factors = array[1]
    rest = "rest" if parts.confounded else REPLICATE
    shown = [" x ".join(f for f in factors if f in names) or rest for names in parts.variances]
    variances = zip(shown, parts.variances.values(), strict=True)
    yield f"variance of {name}: " + ", ".join(f"{source} {v:.4f}" for source, v in variances)
    pooled = (
        pooled_estimate for pooled_estimate in estimate_all(cell) if not pooled_estimate.condition
    )
    if estimate := next(
        (pooled_estimate for pooled_estimate in pooled if pooled_estimate.new_wordings), None
    ):
        yield _design_for_new_wordings(cell, estimate, half_width)
        return
    upto = range(1, _MOST + 1)
    choices = {"template": upto, REPLICATE: (1,) if parts.confounded else upto}
    fixed = {f: n for f, n in parts.levels.items() if f in factors[1:] and f != "template"}
    split = cheapest_split(parts, half_width, choices, scaled=factors[0], fixed=fixed)
    wanted = f"for a 95% interval of +/-{half_width:g}"
    if split is None:
        yield f"{wanted}: not within {_MOST} templates, {_MOST} replicates"
        return
    levels = [f"{split.levels[f]} {f}s" for f in (*factors, REPLICATE) if f in split.levels]
    yield f"{wanted}: {' x '.join(levels)} = {split.calls} calls (+/-{split.half_width:.3f})"


def _design_for_new_wordings(cell: Cell, estimate: Estimate, half_width: float) -> str:
    """The fewest calls with which the interval for new wordings is so narrow: its own model."""
    new_wordings, clustered = estimate.new_wordings, estimate.clustered
    assert new_wordings is not None
    assert new_wordings.at is not None
    assert clustered is not None
    each = len(cell.judgments) / (clustered.clusters * new_wordings.wordings)
    designs = []
    for wordings in range(2, _MOST_WORDINGS + 1):
        fewest = fewest_clusters(new_wordings.at, half_width, wordings, MOST_CLUSTERS)
        if fewest is not None:
            clusters = max(_FEWEST, fewest)
            designs.append((math.ceil(clusters * wordings * each), wordings, clusters))
    wanted = f"for {estimate.measure} within +/-{half_width:g} for new wordings"
    if not designs:
        return f"{wanted}: not within {_MOST_WORDINGS} wordings, {MOST_CLUSTERS:,} clusters"
    calls, wordings, clusters = min(designs)
    low, high = new_wordings.at(clusters, wordings)
    design = f"{wordings} wordings x {clusters} clusters = {calls} calls"
    return f"{wanted}: {design} (+/-{(high - low) / 2:.3f})"


def _scores(cell: Cell, kind: Instrument) -> tuple[str, dict[_Call, float]]:
    """The call-level share of the suite, and the score of every call received."""
    scores: dict[_Call, float] = {}
    for judgment in cell.judgments:
        trial, score = judgment.trial, kind.call_score(judgment)
        counts = trial.condition.get("arm") in (None, "baseline")
        if score is not None and counts and not isinstance(judgment.outcome, Failed):
            template = f"{trial.template}{trial.condition.get('temperature', '')}"
            scores[trial.cluster, trial.item, template, trial.order, trial.replicate] = score
    return kind.call_measure, scores
