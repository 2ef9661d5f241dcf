"""Whether an estimate clears its bar, or its limit.

Where a check declares a limit, it decides, under ``estimate`` and ``confident`` alike: the outcome
is a pass if the one-sided 95% clustered bound clears the limit, inconclusive if the estimate alone
does, and a fail if not even that does. Missing replies count against the judge. The bar then only
adds words. Under ``refuted`` the limit takes the place of the bar.

A check with a bar alone is decided by the bar. Policy ``estimate``: the estimate decides; if the
clustered interval straddles the bar, the outcome carries a warning with the number of clusters that
would settle it. Policy ``confident``: the one-sided 95% clustered bound must clear the bar;
straddling is inconclusive. Policy ``refuted``: a check fails only if a bound lies beyond the bar on
the wrong side, at the level that Holm assigns to it among all bars of the session
(`refuting_alphas`); it passes as under ``confident``, and everything between is inconclusive and
tolerated.

Under each policy

- an unavailable estimate is inconclusive: a measure without a value cannot pass;
- a degenerate judge fails a stability check: the same answer to everything is not stability;
- missing replies never help: a bar that is missed if they all count against the judge is
  inconclusive, and bounds move as that moves the estimate. Where no such worst case is known, more
  than 5% of missing replies (or another share, `most_missing`) are inconclusive.

A bar on a sweep that names no temperature must be cleared at every temperature: a mean that clears
it may hide temperatures that do not.

Only ``pass`` passes, and under ``refuted`` tolerated outcomes. A bar that even an error-free judge
could not clear with confidence on the clusters of a suite cannot be decided: `lint_suite` reports
it before any call.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import cycle, islice
from typing import Final, Literal, NamedTuple, TypeAlias

from pytest_judgesense.checks.declaration import declare_check
from pytest_judgesense.checks.reach import can_clear
from pytest_judgesense.errors import UsageError
from pytest_judgesense.estimate import (
    Clustered,
    Estimate,
    bar_text,
    find_estimate,
    number_text,
)
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.check import Check
from pytest_judgesense.measures.estimation import estimate_all
from pytest_judgesense.measures.measure import NO_PROBABILITIES, Measure
from pytest_judgesense.registry import Registry
from pytest_judgesense.stats.agreement import clustered_kappa
from pytest_judgesense.stats.chances import ShareBar
from pytest_judgesense.stats.settle import clusters_to_settle, fewest_clusters
from pytest_judgesense.suites.finding import LintFinding
from pytest_judgesense.suites.planning import filled, plan_trials
from pytest_judgesense.suites.rules import lint_items, lint_prompts
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial

Policy: TypeAlias = Literal["estimate", "confident", "refuted"]
OutcomeWord: TypeAlias = Literal["pass", "fail", "inconclusive"]
# What is told of a close outcome: nothing, that it is, or also what would settle it. A session that
# shows less need not simulate how many clusters would.
Warned: TypeAlias = Literal["none", "close", "settled"]
# From whether to say what would settle it to the warning.
Warns: TypeAlias = Callable[[bool], str | None]

# The most replies that may be missing where no worst case of them is known.
MOST_MISSING: Final = 0.05
# The probability that a session fails under `refuted` although all judges meet their bars.
ALPHA: Final = 0.05
# The tails beyond an interval's end: the reported one, and the bound of policy `confident`.
_TWO_SIDED: Final = 0.025
_CONFIDENT: Final = 0.05
_STRADDLES: Final = "the interval straddles the bar"
_NOT_CLEARED: Final = "the 95% bound does not clear the limit"
TOO_FEW: Final = "there are too few clusters for an interval"


class Rule(NamedTuple):
    """How the checks of a session are decided.

    Attributes:
        most_missing: the most replies that may be missing where no worst case of them is known.
        alpha: under ``refuted``, one minus the level of the bound that must lie beyond a bar.
    """

    policy: Policy = "estimate"
    most_missing: float = MOST_MISSING
    alpha: float = ALPHA


@dataclass(frozen=True, slots=True)
class Finding:
    """One estimate against one bar, and against its limit if it has one.

    Attributes:
        limit: what cannot be accepted: it decides where there is one.
        reason: why the number alone does not decide, if so.
        said: the `warning`, or a function that makes it, because it takes a simulation.
        tolerated: whether it is inconclusive without failing: too few clusters to refute the bar or
            to prove that it holds.
    """

    estimate: Estimate
    bar: float
    measure: Measure
    outcome: OutcomeWord = "inconclusive"
    reason: str | None = None
    said: str | Warns | None = None
    tolerated: bool = False
    limit: float | None = None

    @property
    def decisive(self) -> float:
        """The number that decides: the limit, or a bar without one."""
        return self.bar if self.limit is None else self.limit

    @property
    def named(self) -> str:
        """What decides, in words: ``the limit 0.8``."""
        return f"the {'bar' if self.limit is None else 'limit'} {self.decisive:g}"

    @property
    def short_of_bar(self) -> bool:
        """Whether a measured value misses the bar, whatever the limit says."""
        value = self.estimate.value
        return value is not None and not (value >= self.bar if self.floor else value <= self.bar)

    @property
    def floor(self) -> bool:
        return self.measure.floor

    def warning(self, *, settled: bool = True) -> str | None:
        """That the interval straddles what decides; ``settled``: how many clusters settle it."""
        return self.said(settled) if callable(self.said) else self.said

    def clears(self, number: float) -> bool:
        """Whether a number lies on the right side of what decides, or on it."""
        return number >= self.decisive if self.floor else number <= self.decisive

    def far_bound(self, alpha: float) -> float | None:
        """The bound at ``1 - alpha`` towards the bar; ``None`` if it is not known at that level."""
        interval = self.estimate.clustered
        if interval is None:
            return None
        if interval.at:
            return interval.at(1 - alpha)[self.floor]
        if 1 - alpha > interval.level:
            return None  # read from a file, or of a plugin
        return interval.upper_bound if self.floor else interval.lower_bound

    def is_refuted(self, alpha: float) -> bool:
        """Whether even that bound lies on the wrong side of what decides."""
        bound = self.far_bound(alpha)
        return bound is not None and not self.clears(bound)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a check.

    Attributes:
        findings: one, or one for each bar of a composite check.
        beside: estimates shown for comparison.
        drawn_from: the findings that a summary finding is drawn from; empty if each is separate.
    """

    check: Check
    suite: str
    policy: Policy
    findings: tuple[Finding, ...]
    beside: tuple[Estimate, ...] = ()
    drawn_from: tuple[Finding, ...] = ()

    @property
    def bars(self) -> tuple[Finding, ...]:
        """Each bar that was compared with a separate estimate."""
        return self.drawn_from or self.findings

    @property
    def fails(self) -> bool:
        """Whether its test fails: it does not pass, and some reason is not tolerated."""
        return any(one.outcome != "pass" and not one.tolerated for one in self.findings)

    @property
    def outcome(self) -> OutcomeWord:
        """``fail`` if any bar fails, else ``inconclusive`` if any is, else ``pass``."""
        words = {finding.outcome for finding in self.findings}
        return "fail" if "fail" in words else "inconclusive" if "inconclusive" in words else "pass"

    def warnings(self, *, settled: bool = True) -> tuple[str, ...]:
        """The warnings of the findings; without ``settled`` none needs a simulation."""
        several = len(self.findings) > 1
        return tuple(
            f"at temperature {finding.estimate.condition['temperature']:g}: {warning}"
            if several and "temperature" in finding.estimate.condition
            else warning
            for finding in self.findings
            if (warning := finding.warning(settled=settled))
        )


def judge_check(
    check: Check,
    suite: str,
    estimates: tuple[Estimate, ...],
    policy: Policy = "estimate",
    most_missing: float = MOST_MISSING,
    alpha: float = ALPHA,
) -> Outcome:
    """The outcome of ``check`` on the estimates of a judge on a suite; see `Rule`."""
    rule = Rule(policy, most_missing, alpha)
    if check.kind.gates:
        return _judge_gate(check, suite, estimates, rule)
    assert check.kind.judge is not None, "regressions are judged together"
    outcome: Outcome = check.kind.judge(check, suite, estimates, rule)
    return outcome


def _judge_gate(check: Check, suite: str, estimates: tuple[Estimate, ...], rule: Rule) -> Outcome:
    """The outcome of a check of one measure."""
    assert check.of is not None, "a gate gates a measure"
    found = _at_every_temperature(check, estimates) or [
        find_estimate(estimates, check.measure, check.condition)
        or _not_there(check, suite, estimates)
    ]
    bar, limit = check.bars["bar"], check.limits.get("bar")
    findings = [judge_estimate(one, bar, check.of, rule, limit) for one in found]
    return Outcome(check, suite, rule.policy, tuple(findings))


def _at_every_temperature(check: Check, estimates: tuple[Estimate, ...]) -> list[Estimate]:
    """The estimates of a check without a temperature, if the suite varies temperatures."""
    if "temperature" in check.condition:
        return []
    wanted = dict(check.condition)
    return [
        one
        for one in estimates
        if one.measure == check.measure
        and "temperature" in one.condition
        and {k: v for k, v in one.condition.items() if k != "temperature"} == wanted
    ]


def _not_there(check: Check, suite: str, estimates: tuple[Estimate, ...]) -> Estimate:
    known = [dict(e.condition) for e in estimates if e.measure == check.measure]
    pooled = find_estimate(estimates, check.measure)
    if pooled is not None and pooled.unavailable:
        # If the pooled estimate has no meaning, those under conditions have none for the same
        # reason.
        reason = pooled.unavailable
    elif known:
        shown = "; ".join(
            ", ".join(f"{key}={value}" for key, value in condition.items()) or "pooled"
            for condition in known
        )
        reason = f"suite {suite} has no {check.measure} under this condition, but: {shown}"
    elif check.of is not None and check.of.soft:
        reason = NO_PROBABILITIES
    else:
        reason = f"suite {suite} does not measure {check.measure}"
    return Estimate(
        measure=check.measure, suite=suite, condition=dict(check.condition), unavailable=reason
    )


def judge_estimate(
    estimate: Estimate, bar: float, measure: Measure, rule: Rule, limit: float | None = None
) -> Finding:
    """One estimate against one bar, or against the limit if there is one."""
    policy, floor, interval = rule.policy, measure.floor, estimate.clustered
    open_ = Finding(estimate, bar, measure, limit=limit)

    def undecided() -> Finding:
        found = replace(open_, reason=TOO_FEW, tolerated=policy == "refuted")
        if interval is None:
            return found
        reason = _STRADDLES if limit is None else _NOT_CLEARED
        return replace(found, reason=reason, said=partial(_settling, open_, interval))

    if estimate.value is None:
        return replace(open_, reason=estimate.unavailable)
    if "degenerate" in estimate.flags and measure.stability:
        said = "degenerate: the judge gave one answer to everything"
        return replace(open_, outcome="fail", reason=said)
    # A censored value is the end of the measured range. A value above the range clears no ceiling;
    # a value at or below it may clear a bar that the end does not.
    value = math.inf if "right-censored" in estimate.flags else estimate.value
    clears = open_.clears(value)
    if "left-censored" in estimate.flags and not clears:
        return replace(open_, reason=f"nothing below {estimate.value:g} was run")
    level = f"{1 - rule.alpha:.2%}" if rule.alpha > 1e-4 else f"1 - {rule.alpha:.2g}"
    far = None
    if not clears:
        # An estimate that misses a limit fails; one that misses a bar alone may be inconclusive.
        if (
            policy == "confident"
            and limit is None
            and (
                interval is None
                or open_.clears(interval.upper_bound if floor else interval.lower_bound)
            )
        ):
            return undecided()
        if policy != "refuted":
            return replace(open_, outcome="fail", said=partial(_straddling, open_))
        far = open_.far_bound(rule.alpha)
        if far is not None and not open_.clears(far):
            reason = f"refuted: even the {level} bound, {far:.3f}, misses"
            return replace(open_, outcome="fail", reason=reason)
    worst = estimate.missing.lower_bound if floor else estimate.missing.upper_bound
    few = estimate.missing.share <= rule.most_missing
    breaks = worst is not None and not open_.clears(worst)
    if (worst is None or breaks) and (not few or (clears and breaks)):
        case = "no worst case is known" if worst is None else f"in the worst case it is {worst:.3f}"
        reason = f"{estimate.missing.share:.1%} of the replies are missing; {case}"
        return replace(open_, reason=reason, tolerated=policy == "refuted" and few)
    if policy == "estimate" and limit is None:
        return replace(open_, outcome="pass", said=partial(_straddling, open_))
    if interval and not clears:
        shown = "none so far out" if far is None else f"{far:.3f}"
        warning = f"missed, and not refuted: the {level} bound is {shown}"
        return replace(open_, said=warning, tolerated=True)
    if interval is None:
        return undecided()
    if open_.clears(_at_worst(open_, interval, value, worst)):
        return replace(open_, outcome="pass", said=below_bar(open_))
    if limit is not None and open_.clears(interval.lower_bound if floor else interval.upper_bound):
        gone = estimate.missing.unparsed + estimate.missing.failed
        reason = f"{gone} repl{'ies are' if gone > 1 else 'y is'} missing, and in the worst case "
        reason += _NOT_CLEARED
        return replace(open_, reason=reason, tolerated=policy == "refuted")
    return undecided()


def below_bar(finding: Finding) -> str | None:
    """That an estimate passes a limit and not its bar; ``None`` for any other."""
    if finding.limit is None or not finding.short_of_bar:
        return None
    side = "below" if finding.floor else "above"
    limit, bar = bar_text(finding.limit), bar_text(finding.bar)
    return f"passes the limit {limit}; {side} the bar {bar}"


def _at_worst(finding: Finding, interval: Clustered, value: float, worst: float | None) -> float:
    """The one-sided 95% bound if all missing replies count against the judge.

    Its distance from the worst end of the measure shrinks as that of the value does, so that it
    stays monotone.
    """
    end = finding.measure.bounds[not finding.floor]
    bound = interval.lower_bound if finding.floor else interval.upper_bound
    if worst is None or value in (worst, end):
        return bound
    return end + (bound - end) * (worst - end) / (value - end)


def refuting_alphas(
    findings: Sequence[Finding | None],
    alpha: float = ALPHA,
    quantities: Sequence[Hashable] | None = None,
) -> tuple[float, ...]:
    """The alpha that Holm assigns to each bar: a bound at one minus this refutes it.

    Holm (1979) rejects by p-values in ascending order. Here the p-value of a bar is the smallest
    alpha at which its bound refutes it, so bars are tested only at the few alphas that Holm uses:
    with r of m quantities refuted, all others are tested at ``alpha / (m - r)``, until r stops
    growing. The probability that any true bar is refuted is at most ``alpha``, for any dependence.

    Bars of one quantity count once, however many: its bound is wrong about any of them with the
    chance with which it is wrong at all. A quantity is refuted when all of its bars are: before
    that some of them may be true.

    Args:
        findings: of all bars of the session under ``refuted``; ``None`` for a bar that is counted
            and not tested.
        alpha: of the session.
        quantities: what each bar is about (see `quantity_of`); by default each bar is alone.

    References:
        S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
    """
    of = list(range(len(findings))) if quantities is None else list(quantities)
    open_ = Counter(of)  # bars of each quantity that are not refuted
    # A bound that passes at 95% is refuted at no level.
    left = {at: one for at, one in enumerate(findings) if one and one.outcome != "pass"}
    refuted: dict[int, float] = {}
    while True:
        each = alpha / max(1, len(+open_))
        now = {at: each for at, one in left.items() if one.is_refuted(each)}
        if not now:
            return tuple(refuted.get(at, each) for at in range(len(findings)))
        refuted |= now
        open_ -= Counter(of[at] for at in now)
        left = {at: one for at, one in left.items() if at not in now}


def quantity_of(finding: Finding) -> Hashable:
    """What a bar is about: a measure and its complement under one condition are one quantity."""
    measure = finding.measure
    return measure.complement or measure.name, frozenset(finding.estimate.condition.items())


def _straddling(finding: Finding, settled: bool) -> str | None:
    interval = finding.estimate.clustered
    if interval is None or not interval.lower < finding.decisive < interval.upper:
        return None
    return _settling(finding, interval, settled, _TWO_SIDED)


def _settling(
    finding: Finding, interval: Clustered, settled: bool, tail: float = _CONFIDENT
) -> str:
    """What straddles; ``settled``: how many clusters leave at most ``tail`` beyond what decides."""
    flags = finding.estimate.flags
    lower = number_text(interval.lower, flags, "lower end ")
    upper = number_text(interval.upper, flags, "upper end ")
    span = f"the 95% interval {lower} to {upper} straddles {finding.named}"
    clusters = _clusters_to_settle(finding, interval, tail) if settled else None
    if clusters is None:
        return span
    return f"{span}; about {clusters} clusters with such answers would settle it in 80%"


def _clusters_to_settle(finding: Finding, interval: Clustered, tail: float) -> int | None:
    """Clusters with which the bound at ``tail`` clears in 80%; ``None`` if unknown."""
    estimate, bar, folded = finding.estimate, finding.decisive, finding.measure.best == "half"
    value, a_share = estimate.value, folded or estimate.count is not None
    if value is None or interval.design_effect is None or not a_share:
        return None
    if math.isclose(value, bar, abs_tol=1e-9):
        return None
    gate = ShareBar(bar, confident=True, level=1 - tail, each=interval.each)
    if folded:
        share = 0.5 + value
        gate = replace(gate, folded=True) if value < bar else replace(gate, bar=0.5 + bar)
    elif value > bar:
        share = value
    else:
        share, gate = 1 - value, replace(gate, bar=1 - bar)
    size = max(1, round(estimate.n / interval.clusters))
    share = round(share, 12)  # the same for a rate and its complement
    return clusters_to_settle(gate, share, interval.design_effect, size, interval.clusters)


def lint_suite(suite: Suite, registry: Registry, *, texts: bool = True) -> tuple[LintFinding, ...]:
    """The findings of all rules in ``suite``, including its checks and bars; errors first.

    Without ``texts``, those that lie in the texts of the items alone are left out.
    """
    of_items = lint_items(suite) if texts else lint_prompts(suite)
    found = (*of_items, *_checks_and_bars(suite, registry))
    return tuple(sorted(found, key=lambda finding: finding.severity))


def _checks_and_bars(suite: Suite, registry: Registry) -> Iterator[LintFinding]:
    """Checks that cannot be declared, and bars that no judge could clear on these clusters."""
    trials = plan_trials(suite)
    all_asked = Counter(trial.cluster for trial in trials)
    for declaration in suite.checks:
        arguments = dict(declaration.arguments)
        try:
            check = declare_check(declaration.name, (), arguments, registry)
        except UsageError as error:
            given = ", ".join(f"{name} = {value!r}" for name, value in arguments.items())
            yield LintFinding(
                "error",
                "check",
                f"{declaration.name} of suite {suite.name}, line {declaration.line}",
                error.what,
                error.found or given,
                error.expected,
                error.remedy or f"fix the check in {suite.path}",
            )
            continue
        for measure, key, condition in _bars_of(check):
            part, asked = trials, all_asked
            if condition:
                part = tuple(t for t in trials if condition.items() <= t.condition.items())
                asked = Counter(trial.cluster for trial in part)
            clusters = len(asked)
            if measure.best is None or not clusters:
                continue
            # A limit decides where there is one.
            word = "limit" if key in check.limits else "bar"
            bar = check.limits.get(key, check.bars[key])
            needed = _needed(measure, bar, part, _in_proportion(asked, 1.0))
            if needed is None or needed > clusters:
                # Clusters of one unit need the most; few bars are close enough to be computed.
                sizes = _planned_sizes(measure, suite, part, asked)
                needed = _needed(measure, bar, part, sizes)
            if needed is not None and needed <= clusters:
                continue
            # A bar alone is an aim; of a limit the sizes are worth a word.
            uneven = " of unlike sizes" * (word == "limit" and len(set(asked.values())) > 1)
            yield LintFinding(
                "warning",
                f"undecidable-{word}",
                f"{check.id} of suite {suite.name}",
                f"so few clusters cannot clear the {word} with confidence",
                f"{clusters} clusters{uneven}",
                f"at least {needed} clusters"
                if needed
                else f"a {word} short of perfection: no number of items is enough for it",
                f"add items until there are {needed} clusters, or set a {word} that fewer can clear"
                if needed
                else f"set a {word} that a judge without error can clear",
            )


def _bars_of(check: Check) -> Iterator[tuple[Measure, str, dict[str, str | int | float]]]:
    """Measure and name of each bar of a check, and the condition of the trials behind it."""
    if not check.kind.gates:
        yield from check.kind.bars(check) if check.kind.bars else ()
        return
    assert check.of is not None, "a gate gates a measure"
    within = check.of.evidence.within if check.of.evidence else {}
    beside = ("polarity", "k", "prompt_pair")
    condition = {k: v for k, v in check.condition.items() if k not in beside}
    yield check.of, "bar", {**within, **condition}


def _planned_sizes(
    measure: Measure, suite: Suite, trials: Sequence[Trial], asked: Mapping[str, int]
) -> list[float]:
    """The units of each cluster that the design gives a measure, if every reply is read.

    If they depend on the answers, twice the numbers of trials in proportion, ``asked``: a bar needs
    the fewest clusters of two units each.
    """
    cell = Cell("", suite.name, suite.design, filled(suite.design, trials), 0, (measure,))
    found = next((one for one in estimate_all(cell) if one.measure == measure.name), None)
    if found is None or found.clustered is None:
        return _in_proportion(asked, 2.0)
    count = found.clustered.clusters
    each = found.clustered.each or found.n / count  # replicates add no weight
    if found.anew is None:
        return [each] * count
    units = Counter(found.anew().clusters).values()
    return [number * each * count / found.n for number in units]


def _in_proportion(asked: Mapping[str, int], mean: float) -> list[float]:
    """Sizes of clusters of this mean, in proportion to the trials ``asked`` in each."""
    scale = mean * len(asked) / sum(asked.values())
    return [number * scale for number in asked.values()]


def _needed(
    measure: Measure, bar: float, trials: Sequence[Trial], sizes: Sequence[float]
) -> int | None:
    """Fewest clusters of these sizes on which an error-free judge clears it with confidence.

    Beyond the suite's clusters their sizes are repeated in order, and for kappa, which depends on
    how often each label is right, their labels.
    """
    if bar == float(measure.floor):
        return None
    if measure.best != "kappa":
        return fewest_clusters(
            lambda count: can_clear(measure, bar, [*islice(cycle(sizes), count)])
        )
    return _needed_for_kappa(bar, _right_verdicts(trials))


# A session lints its suites at collection and again for the datasheet.
@lru_cache(maxsize=64)
def _needed_for_kappa(bar: float, right: tuple[tuple[str, ...], ...]) -> int | None:
    """For clusters with these right verdicts, which are repeated in order beyond them."""

    def clears(clusters: int) -> bool:
        every = range(clusters)
        words, of = zip(
            *((word, at) for at in every for word in right[at % len(right)]), strict=True
        )
        interval = clustered_kappa(words, words, of)
        # A few clusters may all have the same label.
        return interval is not None and interval.lower_bound >= bar

    return fewest_clusters(clears)


def _right_verdicts(trials: Sequence[Trial]) -> tuple[tuple[str, ...], ...]:
    """The verdicts of an error-free judge under one wording, by cluster; slots for pairs."""
    found: dict[str, list[str]] = defaultdict(list)
    turned = {"1": "2", "2": "1"}
    for trial in trials:
        if trial.template == trials[0].template and trial.label is not None:
            word = trial.label if trial.order != "ba" else turned.get(trial.label, trial.label)
            found[trial.cluster].append(word)
    return tuple(map(tuple, found.values())) or (("0",), ("1",))
