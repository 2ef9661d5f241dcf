"""When a suite may stop early: which of its checks are decided by the clusters measured so far.

Clusters are called whole, in an order drawn by the seed; the suite stops at the first look at which
every check is decided. With a look after every cluster, several small clusters are called together;
calls beyond the look stay in the recording, and are left out of the estimates. All of this depends
only on the suite, the policy, the seed and the replies, not on the number of concurrent calls or
the order of answers.

Policy ``estimate``: a check is decided if the run to its end would almost certainly say the same
(`stats.sequential`): curtailment, and betting at the level `DISAGREEMENT`. That needs a measure
that is a mean over units whose number the design decides. Any other (kappa, d', a threshold, a rate
of those answers that...) is decided at the end, and the suite comes to it. A missing reply counts
against the judge where the check would pass, and for it where it would fail.

Policy ``confident``, and any check with a limit: it is decided if the bound that gates, at the
level left for this look, clears the bar or limit, or if the opposite bound misses it. Any measure
with such bounds can be decided early. Bounds are looked at four times, so a suite with a limit has
these four looks.

``no_regression``, ``no_drift`` and checks that compare judges are decided on all clusters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

from pytest_judgesense.checks.outcome import (
    Assessment,
    DecisionRule,
    Outcome,
    OutcomeWord,
    judge_check,
)
from pytest_judgesense.estimate import Estimate, distance_from_half, find_estimate, share_of
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.stats import sequential
from pytest_judgesense.suites.planning import filled
from pytest_judgesense.trial import TIE, Trial, grouped

UNDECIDED: Final = "the recording was stopped early, before this was decided: record the rest"
_STOPPED: Final = ("policy", "seed", "looks", "look", "clusters")


@dataclass(frozen=True)
class Looks:
    """The order in which all clusters are called, drawn by the seed, and the looks.

    Attributes:
        policy: ``estimate`` (a look after every cluster), or ``confident`` (four), also where
            limits let bounds decide under ``estimate``.
        looks: numbers of clusters, ascending; the last one is all of them.
        together: number of looks whose clusters are called together.
    """

    policy: str
    seed: int
    order: tuple[str, ...]
    looks: tuple[int, ...]
    together: int = field(default=1, compare=False)

    @classmethod
    def of(cls, trials: Sequence[Trial], policy: str, seed: int) -> Looks:
        """The plan of a suite; strata are the labels and conditions of its clusters."""
        by_cluster = _by_cluster(trials)
        strata = [
            frozenset((trial.label, frozenset(trial.condition.items())) for trial in of_cluster)
            for of_cluster in by_cluster.values()
        ]
        names = list(by_cluster)
        order = tuple(names[place] for place in sequential.drawn_order(strata, seed))
        every = policy == "estimate"
        together = sequential.asked_together(len(order), len(trials)) if every else 1
        return cls(policy, seed, order, sequential.looks_of(len(order), every=every), together)

    def until(self, look: int) -> tuple[str, ...]:
        """The clusters that are called up to a look (from 1)."""
        return self.order[: self.looks[look - 1]]

    def asked_for(self, look: int) -> int:
        """The look up to which clusters are called in order to reach ``look``."""
        return min(-(-look // self.together) * self.together, len(self.looks))


class Stop(NamedTuple):
    """A run that was stopped at a look, before all clusters were asked."""

    looks: Looks
    look: int

    @property
    def asked(self) -> tuple[str, ...]:
        return self.looks.until(self.look)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The clusters left out, in the order in which they would have been called."""
        return self.looks.order[len(self.asked) :]

    def to_plain(self) -> dict[str, Any]:
        """As stored beside a recording."""
        of = self.looks
        values = (of.policy, of.seed, list(of.looks), self.look, list(of.order))
        return dict(zip(_STOPPED, values, strict=True))

    @classmethod
    def from_plain(cls, value: Mapping[str, Any], clusters: set[str]) -> Stop:
        """The inverse of `to_plain`, for a suite with these clusters.

        Raises:
            ValueError, KeyError, TypeError: the value is malformed.
        """
        policy, seed, looks, look, order = (value[name] for name in _STOPPED)
        drawn_looks = Looks(str(policy), int(seed), tuple(map(str, order)), tuple(map(int, looks)))
        ascends = list(drawn_looks.looks) == sorted({*drawn_looks.looks}) and drawn_looks.looks[
            :1
        ] > (0,)
        if not (
            ascends
            and drawn_looks.looks[-1] == len(drawn_looks.order)
            and 0 < look < len(drawn_looks.looks)
        ):
            msg = "looks ascend to the number of clusters, and it stopped before the last one"
            raise ValueError(msg)
        if clusters != {*drawn_looks.order}:
            raise ValueError("it names other clusters than the suite has")
        return cls(drawn_looks, int(look))

    def adjusted(self, estimates: Iterable[Estimate], trials: Sequence[Trial]) -> tuple[Any, ...]:
        """``estimates`` so far with the clustered intervals that hold at this look, if any.

        ``trials``: all those of the suite.
        """
        by_cluster = _by_cluster(trials)
        keys = {key for trial in trials for key in trial.condition}

        def at_this_look(estimate: Estimate) -> Estimate:
            if estimate.clustered is None:
                return estimate
            wanted = {(k, v) for k, v in estimate.condition.items() if k in keys}
            of = {
                name
                for name, trials in by_cluster.items()
                if any(wanted <= set(trial.condition.items()) for trial in trials)
            } or set(by_cluster)
            sizes = [sum(name in of for name in self.looks.until(n + 1)) for n in range(self.look)]
            fractions = tuple(sorted({number / len(of) for number in sizes if number}))
            every = self.looks.policy == "estimate"
            cut = (
                sequential.adjusted(estimate.clustered, fractions, every=every)
                if fractions
                else None
            )
            return replace(estimate, clustered=cut)

        return tuple(map(at_this_look, estimates))

    def said(self, suite: str) -> str:
        """One sentence for readers of a datasheet."""
        count, order = len(self.asked), len(self.looks.order)
        shown = ", ".join(self.left_out[:3])
        more = order - count - 3
        rest = f" and {more} more" if more > 0 else ""
        return (
            f"{suite} stopped early: at look {self.look} of {len(self.looks.looks)}, after {count} "
            f"of {order} clusters, in the order of seed {self.looks.seed}; left out are "
            f"{shown}{rest}; clustered intervals are adjusted for the looks"
        )


class Stopping(NamedTuple):
    """All checks that the session declares on a suite for one judge: decided, it may stop.

    ``tell`` is called at each look with the decided checks and the number of all checks.
    """

    checks: tuple[Check, ...]
    rule: DecisionRule
    tell: Callable[[Sequence[str], int], None] = lambda _decided, _all: None

    @property
    def looks(self) -> str:
        """The policy of the looks: bounds are looked at less often than estimates."""
        limits = any(check.limits for check in self.checks)
        return "confident" if limits else self.rule.policy

    @property
    def never(self) -> list[str]:
        """The checks that need all clusters: with them the suite cannot stop early."""
        return [check.id for check in self.checks if not _can_stop(check, self.rule.policy)]

    def undecided(self, cell: Cell, stop: Stop, trials: Sequence[Trial]) -> list[str]:
        """The checks that the clusters in ``cell`` do not decide; if there are none, it may stop.

        ``stop``: the current look; ``trials``: all those of the suite.
        """
        wanted = {check.measure for check in self.checks}
        bounds_decide = stop.looks.policy != "estimate"
        measures = tuple(measure for measure in cell.measures if measure.name in wanted)
        # An estimator that several measures share returns all of them.
        estimates = estimate_all(replace(cell, measures=measures))
        if bounds_decide:
            estimates = stop.adjusted(estimates, trials)
        decided, open_ = list[str](), list[str]()
        for check in self.checks:
            outcome = judge_check(check, cell.suite, estimates, *self.rule)
            word = decided_word(outcome, cell, stop, trials)
            (open_ if word is None else decided).append(check.id)
        self.tell(decided, len(self.checks))
        return open_


def held(outcome: Outcome, cell: Cell, stop: Stop, trials: Sequence[Trial]) -> Outcome:
    """``outcome`` on a stopped run: inconclusive if the clusters do not decide it."""
    if outcome.policy == "refuted" or decided_word(outcome, cell, stop, trials) is not None:
        return outcome
    findings = tuple(
        finding
        if finding.outcome == "inconclusive"
        else replace(finding, outcome="inconclusive", reason=UNDECIDED, said=None)
        for finding in outcome.findings
    )
    return replace(outcome, findings=findings)


def _can_stop(check: Check, policy: str) -> bool:
    if check.kind.earlier or check.kind.compares:
        return False
    if policy == "confident" or (policy == "estimate" and set(check.limits) == set(check.bars)):
        return True
    return (
        policy == "estimate"
        and check.kind.measure is not None
        and not check.kind.measure.conditional
    )


def decided_word(
    outcome: Outcome, cell: Cell, stop: Stop, trials: Sequence[Trial]
) -> OutcomeWord | None:
    """The outcome of the check, if the other clusters cannot change it; see the module."""
    word = outcome.outcome
    if word == "inconclusive" or not _can_stop(outcome.check, outcome.policy):
        return None
    # The same answer to everything so far need not stay the same.
    if any("degenerate" in finding.estimate.flags for finding in outcome.findings):
        return None
    words = [
        _by_bounds(finding)
        if outcome.policy == "confident" or finding.limit is not None
        else _Bet(finding, cell, stop, trials).word
        for finding in outcome.findings
    ]
    decided = "fail" if "fail" in words else "pass" if set(words) == {"pass"} else None
    return word if word == decided else None


def _by_bounds(finding: Assessment) -> OutcomeWord | None:
    """The outcome that bounds decide: an estimate may miss a limit that the rest would clear."""
    if finding.limit is None or finding.outcome != "fail":
        return finding.outcome
    if (interval := finding.estimate.clustered) is None:
        return None
    opposite = interval.upper_bound if finding.floor else interval.lower_bound
    return None if finding.clears(opposite) else "fail"


@dataclass(frozen=True)
class _Bet:
    """One estimate against one bar; the question is what all clusters would say."""

    finding: Assessment
    cell: Cell
    stop: Stop
    trials: Sequence[Trial]

    @cached_property
    def word(self) -> OutcomeWord | None:
        estimate, bar = self.finding.estimate, self.finding.bar
        of = estimate.anew() if estimate.anew is not None and estimate.value is not None else None
        if of is None or of.value not in (share_of, distance_from_half) or len(of.columns) != 1:
            return None
        values = [float(value) for value in of.columns[0]]
        if not all(0 <= value <= 1 for value in values):
            return None
        complements = [1 - value for value in values]
        if of.value is distance_from_half:
            # The share must lie within the bar on both sides of one half.
            sides = [(values, 0.5 - bar), (complements, 0.5 - bar)]
        else:
            sides = [(values, bar) if self.finding.floor else (complements, 1 - bar)]
        level = sequential.DISAGREEMENT / len(sides)
        outcomes_of_sides = [
            self._side(good, list(of.clusters), floor, level) for good, floor in sides
        ]
        if "fail" in outcomes_of_sides:
            return "fail"
        return "pass" if set(outcomes_of_sides) == {"pass"} else None

    def _side(
        self, good: Sequence[float], clusters: Sequence[str], bar: float, level: float
    ) -> OutcomeWord | None:
        sums: dict[str, float] = defaultdict(float)
        units = Counter(clusters)
        for name, value in zip(clusters, good, strict=True):
            sums[name] += value
        if units.keys() - set(self.stop.asked) or (most := self._most_units(units)) is None:
            return None
        ordered = [name for name in self.stop.looks.order if most[name]]
        names = [name for name in self.stop.asked if most[name]]
        if not names:
            return None
        gone = self._with_missing
        sizes = [most[name] for name in ordered]
        least, greatest = [], []
        for name in names:
            total = most[name] if name in gone else units[name]
            least.append(sums[name] - bar * total)
            greatest.append(sums[name] + total - units[name] - bar * total)
        if sequential.clears(least, sizes, bar, level)[-1]:
            return "pass"
        return "fail" if sequential.misses(greatest, sizes, bar, level)[-1] else None

    @cached_property
    def _with_missing(self) -> set[str]:
        graded = bool(self.cell.design.criteria)  # a reply may lack a grade of them
        return {
            judgment.trial.cluster
            for judgment in self.cell.all_judgments
            if judgment.verdict is None or (graded and "null" in judgment.verdict)
        }

    def _most_units(self, units: Mapping[str, int]) -> dict[str, int] | None:
        """The largest number of units that each cluster of the suite can have; or ``None``.

        Clusters of the same structure without a missing reply have the same number. If there is no
        such cluster yet, the design tells how many it has, provided that it is right about those
        that were asked.
        """
        forms = {name: _form(trials) for name, trials in _by_cluster(self.trials).items()}
        places: dict[Any, set[int]] = defaultdict(set)
        for name in self.stop.asked:
            if name not in self._with_missing:
                places[forms[name]].add(units[name])
        if not places or any(len(numbers) > 1 for numbers in places.values()):
            return None
        most = {name: max(places.get(form, ()), default=-1) for name, form in forms.items()}
        if -1 in most.values():
            planned = self._planned_units
            if any(number not in (-1, planned[name]) for name, number in most.items()):
                return None
            most = {name: planned[name] for name in most}
        return most if all(units[name] <= most[name] for name in units) else None

    @cached_property
    def _planned_units(self) -> Counter[str]:
        """The units of each cluster if every reply states its answer."""
        of, answers = self.finding.estimate, filled(self.cell.design, self.trials)
        measures = tuple(measure for measure in self.cell.measures if measure.name == of.measure)
        cell = self.cell
        planned = Cell.with_controls_apart(
            cell.judge, cell.suite, cell.design, answers, cell.seed, measures
        )
        estimates = estimate_all(planned)
        estimate = find_estimate(estimates, of.measure, of.condition)
        return Counter(estimate.anew().clusters if estimate and estimate.anew else ())


def _by_cluster(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    return grouped(trials, lambda trial: trial.cluster)


def _form(trials: Iterable[Trial]) -> Any:
    """What determines a cluster's number of units: its trials by item, without names."""
    items: dict[str, Counter[Any]] = defaultdict(Counter)
    for trial in trials:
        kind = trial.label is None, trial.label == TIE, frozenset(trial.condition.items())
        items[trial.item][trial.template, trial.order, trial.replicate, kind] += 1
    return frozenset(Counter(frozenset(item.items()) for item in items.values()).items())
