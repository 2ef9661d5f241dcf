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
  than 5% of missing replies (or another share, `most_missing`) are inconclusive;
- labels that people skipped never help either: bounds count them at their worst, and so does a bar
  that an estimate decides. Where they alone leave it open, it is said how many of them settle it.

A bar on a sweep that names no temperature must be cleared at every temperature: a mean that clears
it may hide temperatures that do not.

Only ``pass`` passes, and under ``refuted`` tolerated outcomes. A bar that even an error-free judge
could not clear with confidence on the clusters of a suite cannot be decided: `suite_faults` reports
it before any call.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal, NamedTuple, TypeAlias

from pytest_judgesense.estimate import (
    Clustered,
    Estimate,
    SkippedLabels,
    bar_text,
    find_estimate,
    labels_to_reach,
    number_text,
)
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.measures.definition import NO_PROBABILITIES, Measure
from pytest_judgesense.stats.chances import ShareBar
from pytest_judgesense.stats.settle import clusters_to_settle
from pytest_judgesense.suites.people import labels_settle

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


class DecisionRule(NamedTuple):
    """How the checks of a session are decided.

    Attributes:
        most_missing: the most replies that may be missing where no worst case of them is known.
        alpha: under ``refuted``, one minus the level of the bound that must lie beyond a bar.
    """

    policy: Policy = "estimate"
    most_missing: float = MOST_MISSING
    alpha: float = ALPHA


@dataclass(frozen=True, slots=True)
class Assessment:
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

    @property
    def value(self) -> float:
        """The measured number; a value above the measured range clears no ceiling."""
        assert self.estimate.value is not None, "no policy compares what was not measured"
        return math.inf if "right-censored" in self.estimate.flags else self.estimate.value

    @property
    def worst(self) -> float | None:
        """The number if all missing replies counted against the judge, if that is known."""
        missing = self.estimate.missing
        return missing.lower_bound if self.floor else missing.upper_bound

    def near_end(self, interval: Clustered) -> float:
        """The one-sided bound of an interval that has to clear what decides."""
        return interval.lower_bound if self.floor else interval.upper_bound

    def far_end(self, interval: Clustered) -> float:
        """The one-sided bound at the other end."""
        return interval.upper_bound if self.floor else interval.lower_bound

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
        return self.far_end(interval)

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
    findings: tuple[Assessment, ...]
    beside: tuple[Estimate, ...] = ()
    drawn_from: tuple[Assessment, ...] = ()

    @property
    def bars(self) -> tuple[Assessment, ...]:
        """Each bar that was compared with a separate estimate."""
        return self.drawn_from or self.findings

    @property
    def fails(self) -> bool:
        """Whether its test fails: it does not pass, and some reason is not tolerated."""
        return any(finding.outcome != "pass" and not finding.tolerated for finding in self.findings)

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
    """The outcome of ``check`` on the estimates of a judge on a suite; see `DecisionRule`."""
    rule = DecisionRule(policy, most_missing, alpha)
    if check.kind.gates:
        return _judge_gate(check, suite, estimates, rule)
    assert check.kind.judge is not None, "regressions are judged together"
    outcome: Outcome = check.kind.judge(check, suite, estimates, rule)
    return outcome


def _judge_gate(
    check: Check, suite: str, estimates: tuple[Estimate, ...], rule: DecisionRule
) -> Outcome:
    """The outcome of a check of one measure."""
    assert check.of is not None, "a gate gates a measure"
    own = _at_every_temperature(check, estimates) or [
        find_estimate(estimates, check.measure, check.condition)
        or _not_there(check, suite, estimates)
    ]
    bar, limit = check.bars["bar"], check.limits.get("bar")
    findings = [judge_estimate(estimate, bar, check.of, rule, limit) for estimate in own]
    return Outcome(check, suite, rule.policy, tuple(findings))


def _at_every_temperature(check: Check, estimates: tuple[Estimate, ...]) -> list[Estimate]:
    """The estimates of a check without a temperature, if the suite varies temperatures."""
    if "temperature" in check.condition:
        return []
    wanted = dict(check.condition)
    return [
        estimate
        for estimate in estimates
        if estimate.measure == check.measure
        and "temperature" in estimate.condition
        and {k: v for k, v in estimate.condition.items() if k != "temperature"} == wanted
    ]


def _not_there(check: Check, suite: str, estimates: tuple[Estimate, ...]) -> Estimate:
    conditions = [dict(e.condition) for e in estimates if e.measure == check.measure]
    pooled = find_estimate(estimates, check.measure)
    if pooled is not None and pooled.unavailable:
        # If the pooled estimate has no meaning, those under conditions have none for the same
        # reason.
        reason = pooled.unavailable
    elif conditions:
        shown = "; ".join(
            ", ".join(f"{key}={value}" for key, value in condition.items()) or "pooled"
            for condition in conditions
        )
        reason = f"suite {suite} has no {check.measure} under this condition, but: {shown}"
    elif check.of is not None and check.of.soft:
        reason = NO_PROBABILITIES
    else:
        reason = f"suite {suite} does not measure {check.measure}"
        if check.of is not None and check.of.needs:
            reason += f": {check.of.needed}"
    return Estimate(
        measure=check.measure, suite=suite, condition=dict(check.condition), unavailable=reason
    )


def judge_estimate(
    estimate: Estimate,
    bar: float,
    measure: Measure,
    rule: DecisionRule,
    limit: float | None = None,
) -> Assessment:
    """One estimate against one bar, or against the limit if there is one."""
    undecided = Assessment(estimate, bar, measure, limit=limit)
    if (assessment := _without_number(undecided)) is not None:
        return assessment
    if rule.policy == "refuted":
        return _refute(undecided, rule)
    if rule.policy == "confident" or limit is not None:
        return _with_confidence(undecided, rule)
    return _by_estimate(undecided, rule)


def _without_number(undecided: Assessment) -> Assessment | None:
    """The assessment of an estimate that no policy compares; ``None`` of any other."""
    estimate = undecided.estimate
    if estimate.value is None:
        return replace(undecided, reason=estimate.unavailable)
    if "degenerate" in estimate.flags and undecided.measure.stability:
        reason = "degenerate: the judge gave one answer to everything"
        return replace(undecided, outcome="fail", reason=reason)
    # The end of the measured range clears a bar or not; a value below it may clear what it misses.
    if "left-censored" in estimate.flags and not undecided.clears(estimate.value):
        return replace(undecided, reason=f"nothing below {estimate.value:g} was run")
    return None


def _by_estimate(undecided: Assessment, rule: DecisionRule) -> Assessment:
    """Policy ``estimate``, of a bar alone."""
    straddling = partial(_straddling, undecided)
    if not undecided.clears(undecided.value):
        return replace(undecided, outcome="fail", said=straddling)
    return (
        _too_many_missing(undecided, rule)
        or _missed_by_skips(undecided)
        or replace(undecided, outcome="pass", said=straddling)
    )


def _missed_by_skips(undecided: Assessment) -> Assessment | None:
    """Inconclusive where a bar is missed if skipped labels count against the judge."""
    skipped = undecided.estimate.skipped_labels
    if skipped is None:
        return None
    worst = skipped.lowest if undecided.floor else skipped.highest
    if undecided.clears(worst):
        return None
    settling = _settled_by_labels(undecided, skipped, worst, undecided.value)
    return replace(undecided, reason=f"in the worst case it is {worst:.3f}: {settling}")


def _settled_by_labels(
    undecided: Assessment, skipped: SkippedLabels, worst: float, as_labelled: float
) -> str:
    """How many of the skipped labels settle what is open at their worst, and not as labelled."""
    needed = labels_to_reach(
        undecided.decisive, skipped=skipped.count, worst=worst, as_labelled=as_labelled
    )
    return labels_settle(needed, skipped.count)


def _with_confidence(undecided: Assessment, rule: DecisionRule) -> Assessment:
    """Policy ``confident``, and that of a limit."""
    if undecided.clears(undecided.value):
        return _too_many_missing(undecided, rule) or _proven(undecided, rule)
    # An estimate that misses a limit fails; one that misses a bar alone may be inconclusive.
    interval = undecided.estimate.clustered
    straddles = interval is None or undecided.clears(undecided.far_end(interval))
    if undecided.limit is None and straddles:
        return _open(undecided, rule)
    return replace(undecided, outcome="fail", said=partial(_straddling, undecided))


def _refute(undecided: Assessment, rule: DecisionRule) -> Assessment:
    """Policy ``refuted``: only what a bound shows to be missed fails."""
    clears = undecided.clears(undecided.value)
    level = f"{1 - rule.alpha:.2%}" if rule.alpha > 1e-4 else f"1 - {rule.alpha:.2g}"
    far = None if clears else undecided.far_bound(rule.alpha)
    if far is not None and not undecided.clears(far):
        reason = f"refuted: even the {level} bound, {far:.3f}, misses"
        return replace(undecided, outcome="fail", reason=reason)
    if (assessment := _too_many_missing(undecided, rule)) is not None:
        return assessment
    if clears or undecided.estimate.clustered is None:
        return _proven(undecided, rule)
    shown = "none so far out" if far is None else f"{far:.3f}"
    warning = f"missed, and not refuted: the {level} bound is {shown}"
    return replace(undecided, said=warning, tolerated=True)


def _too_many_missing(undecided: Assessment, rule: DecisionRule) -> Assessment | None:
    """Inconclusive where missing replies may decide; ``None`` where they cannot."""
    missing, worst = undecided.estimate.missing, undecided.worst
    few = missing.share <= rule.most_missing
    breaks = worst is not None and not undecided.clears(worst)
    clears = undecided.clears(undecided.value)
    if (worst is not None and not breaks) or (few and not (clears and breaks)):
        return None
    case = "no worst case is known" if worst is None else f"in the worst case it is {worst:.3f}"
    reason = f"{missing.share:.1%} of the replies {missing.are}; {case}"
    return replace(undecided, reason=reason, tolerated=rule.policy == "refuted" and few)


def _proven(undecided: Assessment, rule: DecisionRule) -> Assessment:
    """A pass if the one-sided bound clears what decides, however missing replies would be."""
    interval = undecided.estimate.clustered
    if interval is None:
        return _open(undecided, rule)
    if undecided.clears(_at_worst(undecided, interval)):
        return replace(undecided, outcome="pass", said=below_bar(undecided))
    if undecided.limit is None or not undecided.clears(undecided.near_end(interval)):
        return _open(undecided, rule)
    missing = undecided.estimate.missing
    count = missing.unparsed + missing.failed
    silent = f"{count} repl{'ies are' if count > 1 else 'y is'} missing"
    if not count:
        silent = f"{missing.share:.1%} of the replies {missing.are}"
    reason = f"{silent}, and in the worst case {_NOT_CLEARED}"
    return replace(undecided, reason=reason, tolerated=rule.policy == "refuted")


def _open(undecided: Assessment, rule: DecisionRule) -> Assessment:
    """Inconclusive: the interval straddles what decides, or there is none."""
    interval, tolerated = undecided.estimate.clustered, rule.policy == "refuted"
    if interval is None:
        return replace(undecided, reason=TOO_FEW, tolerated=tolerated)
    reason = _STRADDLES if undecided.limit is None else _NOT_CLEARED
    skipped = undecided.estimate.skipped_labels
    if skipped and undecided.clears(as_labelled := undecided.near_end(skipped.as_labelled)):
        worst = undecided.near_end(interval)
        reason = f"{reason}: {_settled_by_labels(undecided, skipped, worst, as_labelled)}"
        return replace(undecided, reason=reason, tolerated=tolerated)
    settling = partial(_settling, undecided, interval)
    return replace(undecided, reason=reason, said=settling, tolerated=tolerated)


def below_bar(finding: Assessment) -> str | None:
    """That an estimate passes a limit and not its bar; ``None`` for any other."""
    if finding.limit is None or not finding.short_of_bar:
        return None
    side = "below" if finding.floor else "above"
    limit, bar = bar_text(finding.limit), bar_text(finding.bar)
    return f"passes the limit {limit}; {side} the bar {bar}"


def _at_worst(assessment: Assessment, interval: Clustered) -> float:
    """The one-sided 95% bound if all missing replies count against the judge.

    Its distance from the worst end of the measure shrinks as that of the value does, so that it
    stays monotone.
    """
    end = assessment.measure.bounds[not assessment.floor]
    bound, value, worst = assessment.near_end(interval), assessment.value, assessment.worst
    if worst is None or value in (worst, end):
        return bound
    return end + (bound - end) * (worst - end) / (value - end)


def refuting_alphas(
    findings: Sequence[Assessment | None],
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
    left = {
        place: finding
        for place, finding in enumerate(findings)
        if finding and finding.outcome != "pass"
    }
    refuted: dict[int, float] = {}
    while True:
        each = alpha / max(1, len(+open_))
        now = {place: each for place, finding in left.items() if finding.is_refuted(each)}
        if not now:
            return tuple(refuted.get(place, each) for place in range(len(findings)))
        refuted |= now
        open_ -= Counter(of[place] for place in now)
        left = {place: finding for place, finding in left.items() if place not in now}


def quantity_of(finding: Assessment) -> Hashable:
    """What a bar is about: a measure and its complement under one condition are one quantity."""
    measure = finding.measure
    return measure.complement or measure.name, frozenset(finding.estimate.condition.items())


def _straddling(finding: Assessment, settled: bool) -> str | None:
    interval = finding.estimate.clustered
    if interval is None or not interval.lower < finding.decisive < interval.upper:
        return None
    return _settling(finding, interval, settled, _TWO_SIDED)


def _settling(
    finding: Assessment, interval: Clustered, settled: bool, tail: float = _CONFIDENT
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


def _clusters_to_settle(finding: Assessment, interval: Clustered, tail: float) -> int | None:
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
