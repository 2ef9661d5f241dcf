"""Whether a judge has become worse: two measurements of one suite compared by trial. Pure.

Trials are paired by id, and units (calls, template pairs, canonical pairs) by their trials. Of
suites that differ the trials in both are compared, and it is said how many.
Differences are oriented so that higher is better. With Holm-adjusted p-values of swapping the two
measurements within clusters, the one-sided 95% lower bound of `stats.comparison`, and m the
margin::

    p of "no gain" <= 0.05                            improved
    lower bound > -m                                  unchanged: whatever is lost is no matter
    p of "no loss" <= 0.05                            regressed
    else                                              inconclusive, with the clusters needed

That nothing changed proves nothing by itself: on few clusters a loss that was not seen may be
there. What is excluded is said with the verdict.

Holm's family is every regression check of the session, separately for losses and gains; checks of
the same quantity, such as jss and flip_rate, count once, and what several measures of one judge on
one suite have in common counts once as well (`stats.joint_tests`). So a judge compared with itself
is called regressed in at most 5% of sessions, whatever their size, and improved in at most 5%.

The policy decides what fails. ``confident``: regressed and inconclusive, so that a pass shows that
the margin is not lost. The other policies: only regressed; inconclusive passes with a warning. What
cannot be compared (not measured, degenerate now and not before, more than 5% of the units lost to
missing replies) is inconclusive and fails under all policies. Fewer lost ones never help: for
"improved" and "unchanged" they count as what is worst.

The interval that is shown is the one that decided: both one-sided 95% bounds, which hold 0 exactly
where neither test rejects after Holm, within what two values of the measure may differ by.

The distance of a share from 1/2 (side bias) is compared by the share itself, which of then is
mirrored to lie above; so is a class bias. Informedness is compared as the weighted mean of calls
that it moves with. Measures that are not means of fixed units (kappa, d', thresholds, ...) are
tested by what a swap of each cluster changes, and have the jackknife's bounds. Where the most that
a cluster may move a measure is not known, its bound knows nothing of clusters that were not seen:
"unchanged" needs as many of them as exclude at 95% that a tenth changes. So it does where none of
their verdicts changed, and there is no difference to test. Measurements on different items, or
known only by their intervals, are compared unpaired, and the comparison says so.

What is the worst of several, such as the recall of all labels, is compared under each of them: the
worst may be another one now. It is regressed if one of them is.

Labels that people skipped are missing: an estimate has them at their worst as well. The comparison
is made with each of these, of which the farthest bounds and the largest p-values count. Where both
measurements have one set of labels, a skipped label is the same in both.

What counts decisions of tests (`Measure.decides`) is not compared: each decision may fall
otherwise by chance, with a rate of its own. Repeats that agree are no gain by themselves: a measure
that `gains_with` another is "improved" only where that one is known and has not fallen.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from pytest_judgesense.checks.outcome import MOST_MISSING, TOO_FEW, OutcomeWord, Policy
from pytest_judgesense.estimate import (
    Estimate,
    Observations,
    compact,
    find_estimate,
    labels_to_reach,
    number_text,
)
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.measures.calibration import confidence_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.measures.definition import NO_PROBABILITIES, Measure
from pytest_judgesense.stats import comparison
from pytest_judgesense.stats.joint_tests import SwapTest, adjusted
from pytest_judgesense.suites.people import labels_settle
from pytest_judgesense.trial import Judgment

ChangeVerdict: TypeAlias = Literal["improved", "unchanged", "regressed", "inconclusive"]
_Key: TypeAlias = tuple[str, tuple[tuple[str, Any], ...]]

ALPHA: Final = 0.05
NAMES: Final = ("baseline", "session")  # what the two measurements are called
# The most clusters that may change unseen where "unchanged" rests on the jackknife.
_UNSEEN: Final = 0.1
_NOT_COMPARED: Final = (
    "{} is not compared: it counts decisions of tests, each of which may fall otherwise by chance"
)
_NO_WIDTH: Final = "neither interval has a width, which tells nothing of how far it may move"
# Which part of a measure that is the worst of several a verdict is about.
_BY_NEWS: Final = ("regressed", "improved", "inconclusive", "unchanged")
_BY_CONFIDENCE: Final = ("regressed", "inconclusive", "improved", "unchanged")
# What two sessions cannot tell apart.
SESSIONS: Final = (
    "sessions may differ by themselves, which looks the same: compare with several baselines"
)


# A value as labelled, and with all skipped labels at 0 and at 1: the same where none was skipped.
_Cases: TypeAlias = tuple[float | None, float | None, float | None]
_AS_LABELLED, _LOWEST, _HIGHEST = range(3)
_NO_VALUE: Final = (None, None, None)


@dataclass(frozen=True)
class Side:
    """One of the two measurements: its estimates and, if known, its judgments."""

    estimates: tuple[Estimate, ...]
    cell: Cell | None = None

    @classmethod
    def of(cls, cell: Cell) -> Side:
        """The side of a cell, with its units."""
        return cls(estimate_all(cell), cell)

    @cached_property
    def by_id(self) -> dict[str, Judgment]:
        return {j.trial.id: j for j in self.cell.all_judgments} if self.cell else {}

    @cached_property
    def clusters(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(j.trial.cluster for j in self.by_id.values()))

    @cached_property
    def _common(self) -> dict[int, tuple[Side, Side]]:
        return {}

    def with_common(self, other: Side) -> tuple[Side, Side]:
        """Both sides, of the trials that are in both where some are not; see the module.

        As they are where one is known by its estimates alone, or too few trials are in both.
        """
        ids, other_ids = self.by_id.keys(), other.by_id.keys()
        both = ids & other_ids
        clusters = {self.by_id[i].trial.cluster for i in both}
        if ids == other_ids or len(clusters) < 2 or not self.cell or not other.cell:
            return self, other
        if id(other) not in self._common:
            old, new = (
                Side.of(cell.of(j for j in cell.all_judgments if j.trial.id in both))
                for cell in (self.cell, other.cell)
            )
            self._common[id(other)] = old, new
        return self._common[id(other)]

    def swapped_with(self, other: Side) -> dict[str, dict[_Key, _Cases]]:
        """For each cluster that differs the values of all estimates if it were as on the other.

        ``other`` has the same trials in the same clusters.
        """
        if id(other) not in self._swapped:
            cell, theirs = self.cell, other.by_id
            assert cell is not None, "a side without judgments is not taken apart"
            # A plugin's measure may use whole replies.
            by_reply = any(measure.source for measure in cell.measures)
            differing = {
                judgment.trial.cluster: None
                for judgment in cell.all_judgments
                if _is_another(judgment, theirs[judgment.trial.id], by_reply=by_reply)
            }

            def swapped(cluster: str) -> dict[_Key, _Cases]:
                judgments = (
                    theirs[judgment.trial.id] if judgment.trial.cluster == cluster else judgment
                    for judgment in cell.all_judgments
                )
                return {_key(of): _cases_of(of) for of in estimate_all(cell.of(judgments))}

            self._swapped[id(other)] = {cluster: swapped(cluster) for cluster in differing}
        return self._swapped[id(other)]

    @cached_property
    def _swapped(self) -> dict[int, dict[str, dict[_Key, _Cases]]]:
        return {}

    @cached_property
    def without(self) -> dict[str, dict[_Key, _Cases]]:
        """For each cluster the values of all estimates without its judgments."""
        cell = self.cell
        assert cell is not None, "a side without judgments is not taken apart"

        def rest(cluster: str) -> dict[_Key, _Cases]:
            remaining = cell.of(
                judgment for judgment in cell.all_judgments if judgment.trial.cluster != cluster
            )
            return {_key(estimate): _cases_of(estimate) for estimate in estimate_all(remaining)}

        return {cluster: rest(cluster) for cluster in self.clusters}


def _value_words(value: float | None) -> str:
    return "not measured" if value is None else number_text(value)


class Adjustment(NamedTuple):
    """The Holm-adjusted p-values of a comparison in its family.

    Attributes:
        loss: the adjusted p-value of "no loss"; ``gain`` that of "no gain".
        tests: number of quantities in the family.
        parts: those of its parts, where a comparison has any: ``loss`` and ``gain`` are then the
            smallest of theirs.
    """

    loss: comparison.Adjusted
    gain: comparison.Adjusted
    tests: int
    parts: tuple[Adjustment, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """A measure before and now.

    Attributes:
        old: the estimate of the baseline; ``new``: that of this session. Of suites that differ both
            are those of the trials in both.
        difference: new minus old, above 0 if better; ``None`` if nothing was tested.
        identical: whether nothing behind the measure has changed: no verdict, or none of its units.
        worse: the trial ids of each unit that got worse; without units, of trials with another
            verdict.
        better: the trial ids of each unit that got better; ``None`` without units.
        blocked: why it is inconclusive regardless of the numbers.
        names: what the two measurements are called in ``blocked`` and ``notes``.
        shared: both values over the units that both have, where these are not all units: the
            difference is theirs.
        ungained: why it is not called improved, whatever its numbers; ``None`` if nothing forbids.
        unseen: the share of the clusters that may change without having been seen to, where
            "unchanged" rests on their number.
        skipped: labels that are missing, which the difference counts at their worst.
        as_labelled: the difference if they were like the others; ``None`` if none are missing, or
            that is not known.
        parts: of a measure that is the worst of several, such as recall of labels, the comparison
            under each of them; the others fields are then those of the part that lost most.
    """

    of: Measure
    old: Estimate
    new: Estimate
    difference: comparison.Difference | None = None
    identical: bool = False
    worse: tuple[tuple[str, ...], ...] = ()
    better: tuple[tuple[str, ...], ...] | None = None
    blocked: str | None = None
    notes: tuple[str, ...] = ()
    names: tuple[str, str] = NAMES
    shared: tuple[float, float] | None = None
    unseen: float = 0.0
    ungained: str | None = None
    skipped: int = 0
    as_labelled: comparison.Difference | None = None
    parts: tuple[Comparison, ...] = ()

    @property
    def values(self) -> tuple[float | None, float | None]:
        """Both values, over the units behind the difference: what is shown beside it."""
        return self.shared or (self.old.value, self.new.value)

    @property
    def value_words(self) -> list[str | None]:
        """Both values as sentences have them; ``None`` for what was not measured."""
        return [
            None if value is None else compact(value, estimate.flags)
            for value, estimate in zip(self.values, (self.old, self.new), strict=True)
        ]

    def differs(self, a: Judgment, b: Judgment) -> bool:
        """Whether two judgments of one trial differ in what the measure uses.

        A plugin's measure may use whole replies.
        """
        if self.of.soft and (
            a.probabilities != b.probabilities or confidence_of(a) != confidence_of(b)
        ):
            return True
        return differs(a, b) or (bool(self.of.source) and a.reply != b.reply)

    @property
    def sign(self) -> int:
        """1 if higher is better or the direction depends, -1 if lower is better."""
        return -1 if self.of.direction == "lower" else 1

    @property
    def judged(self) -> bool:
        """Whether a difference of the measure may be called better or worse."""
        return self.of.comparable

    @property
    def of_two_judges(self) -> Comparison:
        """The same, tested by its bounds: two judges are not one that was measured twice."""
        return replace(self, difference=self.difference and self.difference.by_bounds())

    @cached_property
    def quantity(self) -> Hashable:
        """Equal for two measures that are the same quantity on these answers, such as jss and
        flip_rate.

        Also equal for two measures of the same unchanged units. Swapping the two measurements
        within clusters keeps equal quantities equal, so a family that counts them once keeps its
        level.
        """
        difference, units = self.difference, self.new.observations
        if units and (self.identical or (difference and difference.n)):
            change = difference and round(difference.value, 9)
            return tuple(units.keys), self.worse, self.better, change
        if difference:
            return (
                self.new.unit,
                difference.method,
                round(difference.value, 9),
                round(difference.p_worse, 9),
            )
        return _key(self.new)

    def interval(self, adjusted: Adjustment | None = None) -> tuple[float, float] | None:
        """Both one-sided 95% bounds of new minus old, in the measure's direction.

        With ``adjusted`` they are those that decided: they hold 0 exactly where neither a loss nor
        a gain is shown.
        """
        difference = self.difference
        if difference is None:
            return None
        if adjusted is None:
            ends = difference.ends(1 - 2 * ALPHA)
        else:
            ends = difference.decided(adjusted.loss, adjusted.gain)
        low, high = sorted(self.sign * end for end in ends)
        # No two values of a measure with a direction differ by more than its bounds.
        most = self.of.bounds[1] - self.of.bounds[0] if self.judged else math.inf
        most = max(most, abs(difference.value))
        return max(-most, low), min(most, high)

    def deciding(
        self, margin: float, adjusted: Adjustment, policy: Policy = "estimate"
    ) -> tuple[Comparison, Adjustment]:
        """The part that the verdict is about, with its p-values; itself where it has no parts.

        The first that regressed, that nothing can be said of, or that improved; under ``confident``
        one that is inconclusive stands before what improved. Of several the one with the smallest
        p-value.
        """
        if not self.parts:
            return self, adjusted
        order = _BY_CONFIDENCE if policy == "confident" else _BY_NEWS

        def place(part: tuple[Comparison, Adjustment]) -> tuple[bool, int, float]:
            of_part, its = part
            verdict = of_part.verdict(margin, its)
            blocked = verdict == "inconclusive" and not of_part.is_tested
            p = its.gain.p if verdict == "improved" else its.loss.p
            return verdict != "regressed" and not blocked, order.index(verdict), p

        part, its = min(zip(self.parts, adjusted.parts, strict=True), key=place)
        others = (
            f"{each.part_words} {' -> '.join(map(_value_words, each.values))}: "
            f"{each.verdict(margin, of_each)}"
            for each, of_each in zip(self.parts, adjusted.parts, strict=True)
            if each is not part
        )
        return replace(part, notes=(*part.notes, *others)), its

    @property
    def part_words(self) -> str:
        """Which part of the worst of several it is, such as ``recall (label=yes)``."""
        key = self.of.worst_over
        part = self.new.condition.get(key)
        return self.of.name if part is None else f"{self.of.name} ({key}={part})"

    @property
    def is_tested(self) -> bool:
        """Whether there are numbers that decide."""
        return self.blocked is None and (self.identical or self.difference is not None)

    def verdict(self, margin: float, adjusted: Adjustment) -> ChangeVerdict:
        """The verdict on the difference; see the module."""
        if self.parts:
            part, of_part = self.deciding(margin, adjusted)
            return part.verdict(margin, of_part)
        difference = self.difference
        if self.identical and difference is None and not self.blocked:
            return "unchanged" if self.unseen <= _UNSEEN else "inconclusive"
        if difference and not self.blocked:
            if adjusted.gain.p <= ALPHA and self.ungained is None:
                return "improved"
            if difference.lower(ALPHA) > -margin and self.unseen <= _UNSEEN:
                return "unchanged"
        return "regressed" if difference and adjusted.loss.p <= ALPHA else "inconclusive"

    def excluded(self) -> str:
        """What loss, or what share of changing clusters, is excluded at 95%, in words."""
        if self.blocked:
            return ""
        if self.unseen > _UNSEEN or (self.difference is None and self.identical):
            return f"a change in more than {self.unseen:.0%} of the clusters is excluded"
        if self.difference is None:
            return ""
        loss = max(0.0, -self.difference.lower(ALPHA))
        return f"a loss above {loss:.2g} is excluded" if loss else "a loss is excluded"

    def labels_needed(self, margin: float) -> int | None:
        """About how many of the skipped labels exclude a loss of the margin, if like the others.

        ``None`` where it is not the skipped labels alone that leave it open.
        """
        if self.difference is None or self.as_labelled is None or self.blocked:
            return None
        worst, as_labelled = self.difference.lower(ALPHA), self.as_labelled.lower(ALPHA)
        if not worst <= -margin < as_labelled or self.unseen > _UNSEEN:
            return None
        return labels_to_reach(-margin, skipped=self.skipped, worst=worst, as_labelled=as_labelled)

    def clusters_needed(self, margin: float, adjusted: Adjustment) -> int | None:
        """Clusters that would settle it in four of five cases; ``None`` if no number would.

        It assumes that the measured difference is the true one.
        """
        difference = self.difference
        if self.blocked or (difference is None and not self.identical):
            return None
        most = 0
        if self.unseen > _UNSEEN:
            most = math.ceil(math.log(ALPHA) / math.log1p(-_UNSEEN))
        if difference is None:
            return most
        if difference.value > -margin:
            enough = difference.clusters_to_clear(-margin, ALPHA)
        else:
            enough = difference.clusters_to_reject(adjusted.loss.alpha)
        return enough and max(enough, most)


def adjust(compared: Sequence[tuple[Hashable, Comparison | None]]) -> list[Adjustment]:
    """Holm's adjustment of a family of comparisons, or a stricter one; equal quantities count once.

    Each stands with what it compares, a judge on a suite; one that could not be measured is
    ``None``: it rejects nothing but is counted. Each part of a comparison counts for itself.
    """
    family = [
        (pair, part)
        for pair, of_measure in compared
        for part in (of_measure.parts if of_measure and of_measure.parts else (of_measure,))
    ]
    adjustments = iter(_adjusted_apart(family))
    joined = []
    for _, of_measure in compared:
        if of_measure is None or not of_measure.parts:
            joined.append(next(adjustments))
            continue
        parts = tuple(next(adjustments) for _ in of_measure.parts)
        loss, gain = (min(of_parts, key=lambda of: of.p) for of_parts in _losses_and_gains(parts))
        joined.append(Adjustment(loss, gain, parts[0].tests, parts))
    return joined


def _losses_and_gains(
    parts: Sequence[Adjustment],
) -> tuple[list[comparison.Adjusted], list[comparison.Adjusted]]:
    return [part.loss for part in parts], [part.gain for part in parts]


def _adjusted_apart(
    compared: Sequence[tuple[Hashable, Comparison | None]],
) -> list[Adjustment]:
    """The adjustment of comparisons without parts; see `stats.joint_tests`."""
    keys = [
        (pair, index if compared_measure is None else compared_measure.quantity)
        for index, (pair, compared_measure) in enumerate(compared)
    ]
    differences = {
        key: (key[0], compared_measure.difference if compared_measure else None)
        for key, (_, compared_measure) in zip(keys, compared, strict=True)
    }
    losses, gains = (
        dict(zip(differences, adjusted(tests, ALPHA), strict=True))
        for tests in (
            [_swap_test(pair, difference, sign) for pair, difference in differences.values()]
            for sign in (1, -1)
        )
    )
    return [Adjustment(losses[key], gains[key], len(differences)) for key in keys]


def _swap_test(pair: Hashable, difference: comparison.Difference | None, sign: int) -> SwapTest:
    """The test of "no loss", or, with the sign -1, that of "no gain"."""
    if difference is None:
        return SwapTest(1.0, pair)
    p = difference.p_worse if sign > 0 else difference.p_better
    if difference.swaps is None:
        return SwapTest(p, pair)
    totals, alone = difference.swaps
    return SwapTest(p, pair, {str(name): sign * of for name, of in totals.items()}, alone)


class Changes(NamedTuple):
    """What else than verdicts differs between two measurements.

    Attributes:
        lines: to be read.
        summary: one clause, where it was told from what was sent.
    """

    lines: tuple[str, ...] = ()
    summary: str = ""


class RegressionOutcome(NamedTuple):
    """The outcome of a `no_regression` check.

    Attributes:
        adjusted: the Holm-adjusted p-values.
        changes: other differences between the two than verdicts.
        against: what the old measurement is called.
    """

    check: Check
    suite: str
    policy: Policy
    comparison: Comparison
    adjusted: Adjustment
    old: Side
    new: Side
    changes: Changes = Changes()
    against: str = "the baseline"

    @property
    def margin(self) -> float:
        return self.check.bars["margin"]

    @property
    def verdict(self) -> ChangeVerdict:
        return self.comparison.verdict(self.margin, self.adjusted)

    @property
    def fails(self) -> bool:
        """Whether its test fails."""
        return self.outcome != "pass"

    @property
    def outcome(self) -> OutcomeWord:
        verdict, compared = self.verdict, self.comparison
        if verdict == "regressed":
            return "fail"
        if verdict != "inconclusive":
            return "pass"
        open_ = not compared.is_tested or self.policy == "confident"
        return "inconclusive" if open_ else "pass"

    def warnings(self, *, settled: bool = True) -> tuple[str, ...]:
        """What an inconclusive comparison cannot exclude; ``settled``: and what would do it."""
        if self.verdict != "inconclusive":
            return ()
        excluded = self.comparison.excluded()
        text = self.comparison.blocked or (
            f"a loss of {self.margin:g} is neither shown nor excluded"
            + (f", {excluded}" if excluded else "")
            + self._settling(settled)
        )
        return (text,)

    def _settling(self, settled: bool) -> str:
        """What would settle it, where that is known; ``settled``: also how many clusters."""
        if (labels := self.comparison.labels_needed(self.margin)) is not None:
            return f"; {labels_settle(labels, self.comparison.skipped)}"
        needed = settled and self.comparison.clusters_needed(self.margin, self.adjusted)
        return f"; about {needed} clusters would settle it in four of five cases" if needed else ""


def compare(
    old: Side,
    new: Side,
    measure: Measure,
    condition: Mapping[str, Any] | None = None,
    most_missing: float = MOST_MISSING,
    names: tuple[str, str] = NAMES,
    *,
    counts_gone: bool = False,
) -> Comparison:
    """The comparison of ``measure`` under exactly ``condition`` (default: the pooled one).

    If a larger share than ``most_missing`` of the old units is lost, nothing is decided. The
    reasons and notes call the two measurements by their ``names``. With ``counts_gone`` units whose
    trials are not asked any more count as what is worst for "improved" and "unchanged".
    """
    under = dict(condition or {})
    if parts := conditions_of_parts(old, new, measure, under):
        return in_parts(
            compare(old, new, measure, part, most_missing, names, counts_gone=counts_gone)
            for part in parts
        )
    whole = _estimate(old, measure, under) if counts_gone else None
    first, second = old.with_common(new)
    common = "" if first is old else _of_common(old, new, first, names)
    old, new = first, second
    then, now = (_estimate(side, measure, under) for side in (old, new))
    bare = Comparison(
        measure,
        then,
        now,
        names=names,
        notes=(common,) if common else (),
        ungained=_ungained(old, new, measure, under),
    )
    if measure.decides:
        return replace(bare, blocked=_NOT_COMPARED.format(measure.name))
    # Of the same verdicts a value is another where labels, or what is counted, differ.
    if then.value is not None and then.value == now.value and _identical(old, new, bare):
        return _nothing_changed(new, bare)
    for word, estimate in zip(names, (then, now), strict=True):
        if estimate.value is None:
            reason = f"the {word} has no {measure.name}: {estimate.unavailable}"
            return replace(bare, blocked=reason)
    if "degenerate" in now.flags and "degenerate" not in then.flags:
        reason = "degenerate: the judge now gives one answer to everything"
        return replace(bare, difference=_unpaired(then, now, bare.sign), blocked=reason)
    if _units(then) and _units(now) and not measure.conditional:
        paired = _paired(bare, most_missing, whole or then)
        if paired is not None:
            return paired
    elif shared := _folded(old, new, bare) or _jackknife(old, new, bare):
        return shared
    difference = _unpaired(then, now, bare.sign)
    blocked = None if difference else _why_none(then, now)
    notes = (*bare.notes, _why_unpaired(old, new))
    unpaired = replace(bare, difference=difference, blocked=blocked, notes=notes)
    if not (skipped := _skipped_in(then, now)):
        return unpaired
    as_labelled = _unpaired(_as_labelled(then), _as_labelled(now), bare.sign)
    return replace(
        unpaired,
        difference=difference and difference.over(_unpaired_at_worst(then, now, bare.sign)),
        skipped=skipped,
        as_labelled=as_labelled,
    )


def conditions_of_parts(
    old: Side, new: Side, measure: Measure, condition: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The conditions under which the worst of several is compared; none for any other measure."""
    key = measure.worst_over
    if not key or key in condition:
        return []
    then, now = (_parts_measured(side, measure.name, condition, key) for side in (old, new))
    # A label that nobody gives any more has no bias; of one whose items are gone nothing is known.
    parts = then if measure.floor else [part for part in then if part in now]
    return [{**condition, key: part} for part in parts]


def _parts_measured(
    side: Side, measure: str, condition: Mapping[str, Any], key: str
) -> list[str | int | float]:
    """Of which of the several a side has an estimate."""
    return [
        estimate.condition[key]
        for estimate in side.estimates
        if estimate.measure == measure
        and key in estimate.condition
        and {**condition, key: estimate.condition[key]} == estimate.condition
    ]


def in_parts(parts: Iterable[Comparison]) -> Comparison:
    """The comparison of the worst of several, of which the parts are."""
    compared = tuple(parts)
    if len(compared) == 1:
        return compared[0]

    def loss(part: Comparison) -> tuple[float, float]:
        difference = part.difference
        return (difference.p_worse, difference.value) if difference else (1.0, 0.0)

    return replace(min(compared, key=loss), parts=compared)


def _skipped_in(*estimates: Estimate) -> int:
    """How many labels are missing of estimates with labels of their own."""
    return sum(estimate.skipped_labels.count for estimate in estimates if estimate.skipped_labels)


def _as_labelled(estimate: Estimate) -> Estimate:
    """The estimate with the interval that it has if skipped labels were like the others."""
    skipped = estimate.skipped_labels
    return replace(estimate, clustered=skipped.as_labelled) if skipped else estimate


def _unpaired_at_worst(then: Estimate, now: Estimate, sign: int) -> list[comparison.Difference]:
    """The differences if skipped labels were 0 in one measurement, and 1 in the other.

    Chance is told apart from what is missing: distances to ends are counted from these values.
    """
    differences = (
        _unpaired(_as_if(then, before), _as_if(now, after), sign)
        for before, after in ((_LOWEST, _HIGHEST), (_HIGHEST, _LOWEST))
    )
    return [difference for difference in differences if difference is not None]


def _as_if(estimate: Estimate, case: int) -> Estimate:
    return replace(estimate, value=_cases_of(estimate)[case])


def _of_common(old: Side, new: Side, common: Side, names: tuple[str, str]) -> str:
    """What is compared of suites that differ."""
    trials = f"of {len(old.by_id)} trials of the {names[0]} and {len(new.by_id)} of the {names[1]}"
    return f"{trials} the {len(common.by_id)} in both are compared: {len(common.clusters)} clusters"


def _ungained(old: Side, new: Side, measure: Measure, condition: dict[str, Any]) -> str | None:
    """Why the measure is not called improved: what it gains with is not known, or has fallen."""
    beside = measure.gains_with
    if not beside:
        return None
    then, now = (_value_of(side, beside, condition) for side in (old, new))
    if then is None or now is None:
        return f"no gain, for {beside} is not known"
    if now < then:
        return f"no gain, for {beside} fell from {number_text(then)} to {number_text(now)}"
    return None


def _value_of(side: Side, name: str, condition: dict[str, Any]) -> float | None:
    """The value of a measure under a condition, or the pooled one where it has none under it."""
    for under in (condition, {}):
        estimate = find_estimate(side.estimates, name, under)
        if estimate is not None:
            return estimate.value
    return None


def _nothing_changed(side: Side, bare: Comparison) -> Comparison:
    """The comparison of a measure of which no unit changed."""
    units, interval = _units(bare.new), bare.new.clustered
    if units is None:
        return replace(
            bare,
            identical=True,
            difference=_folded_difference(bare) or _still(bare, side),
            unseen=unseen_share(len(side.clusters)),
        )
    each = interval.each if interval else None
    difference = comparison.paired_difference(
        [0.0] * len(units.values), units.codes, each, units.weights
    )
    return replace(
        bare,
        identical=True,
        difference=difference and difference.times(bare.new.proportion),
        blocked=None if difference else TOO_FEW,
    )


def _units(estimate: Estimate) -> Observations | None:
    """The units that an estimate is paired by: of it, or of the mean that it moves with."""
    return estimate.moving_units or estimate.observations


def _still(bare: Comparison, side: Side) -> comparison.Difference | None:
    """What no change of any cluster tells of a measure, if the most it may move by is known."""
    reach, count = bare.new.reach, len(side.clusters)
    if reach is None:
        return None
    return comparison.jackknife_difference(0.0, [0.0] * count, [False] * count, reach)


def unseen_share(clusters: int) -> float:
    """The share of clusters that is excluded at 95% if none of so many has it."""
    share: float = 1 - ALPHA ** (1 / clusters)
    return share


def _why_none(then: Estimate, now: Estimate) -> str:
    """Why two intervals tell no difference."""
    ends = [each.clustered for each in (then, now) if each.clustered]
    enough = len(ends) == 2 and min(interval.clusters for interval in ends) >= 2
    return _NO_WIDTH if enough else TOO_FEW


def _why_unpaired(old: Side, new: Side) -> str:
    if not old.by_id or not new.by_id:
        return "unpaired: without the judgments, the two intervals are compared"
    if old.by_id.keys() == new.by_id.keys():
        return "compared by the two intervals: no cluster by itself moves the difference"
    return "unpaired: the two were asked different trials"


def _cases_of(estimate: Estimate) -> _Cases:
    value, skipped = estimate.value, estimate.skipped_labels
    return (value, skipped.lowest, skipped.highest) if skipped else (value, value, value)


def _key(estimate: Estimate) -> _Key:
    return estimate.measure, tuple(sorted(estimate.condition.items()))


def _estimate(side: Side, measure: Measure, condition: dict[str, Any]) -> Estimate:
    estimate = find_estimate(side.estimates, measure.name, condition)
    if estimate is not None:
        return estimate
    reason = f"not measured{f' under {condition}' if condition else ''}"
    if measure.soft and not any(estimate.measure == measure.name for estimate in side.estimates):
        reason = NO_PROBABILITIES
    return Estimate(measure.name, "", condition, unavailable=reason)


def _identical(old: Side, new: Side, bare: Comparison) -> bool:
    """Whether all trials behind the measure exist on both sides with the same outcomes."""
    then, now = bare.old, bare.new
    if not old.by_id or not new.by_id:
        return False
    if (then.skipped_labels or now.skipped_labels) and not _one_set_of_labels(old, new):
        return False
    units_then, units_now = _units(then), _units(now)
    if units_then and units_now:
        if set(units_then.keys) != set(units_now.keys):
            return False
        ids = {trial for key in units_now.keys for trial in key.split("\n")}
    elif old.by_id.keys() != new.by_id.keys():
        return False
    else:
        ids = set(new.by_id)
    return not any(bare.differs(old.by_id[i], new.by_id[i]) for i in ids)


def _one_set_of_labels(old: Side, new: Side) -> bool:
    """Whether both have the same trials with the same labels, skipped ones among them."""

    def labels(side: Side) -> dict[str, tuple[Any, ...]]:
        trials = (judgment.trial for judgment in side.by_id.values())
        return {trial.id: (trial.people, trial.label, trial.skipped) for trial in trials}

    return labels(old) == labels(new)


def _is_another(a: Judgment, b: Judgment, *, by_reply: bool) -> bool:
    """Whether two judgments of one trial differ in what an estimate may use."""
    if differs(a, b) or (by_reply and a.reply != b.reply):
        return True
    return (a.chosen, a.detail, a.probabilities) != (b.chosen, b.detail, b.probabilities)


def differs(a: Judgment, b: Judgment) -> bool:
    """Whether two judgments of one trial have different verdicts, or only one has a verdict."""
    return (type(a.outcome), a.verdict) != (type(b.outcome), b.verdict)


def _paired(bare: Comparison, most_missing: float, whole: Estimate) -> Comparison | None:
    """Unit by unit; ``None`` if none has a partner. ``whole``: of all units of then that count."""
    then, now, every = (_units(estimate) for estimate in (bare.old, bare.new, whole))
    assert then is not None
    assert now is not None
    assert every is not None
    before = dict(zip(then.keys, then.values, strict=True))
    common = [index for index, key in enumerate(now.keys) if key in before]
    if not common:
        return None
    weights = _weights(now)
    change = {
        now.keys[i]: (
            bare.sign * (now.values[i] - before[now.keys[i]]),
            now.clusters[i],
            weights[i],
        )
        for i in common
    }
    values = [value for value, _, _ in change.values()]
    difference = _mean_change(bare, [*change.values()])
    gone = [place for place, key in enumerate(every.keys) if key not in change]
    if difference and gone and not bare.of.conditional:
        # Each lost unit as it would be at its worst: 0, or 1 where less is better.
        weights_then = _weights(every)
        worst = [
            (
                -every.values[place] if bare.sign > 0 else every.values[place] - 1,
                every.clusters[place],
                weights_then[place],
            )
            for place in gone
        ]
        difference = difference.at_worst(_mean_change(bare, [*change.values(), *worst]))
    lost, gained = len(then.keys) - len(common), len(now.keys) - len(common)
    blocked = None if difference else TOO_FEW
    if lost > most_missing * len(then.keys) and not blocked:
        was, is_ = bare.names
        blocked = f"{lost} of {len(then.keys)} units of the {was} have no partner in the {is_}"
    return replace(
        bare,
        difference=difference,
        identical=not any(values) and before.keys() == change.keys(),
        worse=tuple(tuple(key.split("\n")) for key, (value, *_) in change.items() if value < 0),
        better=tuple(tuple(key.split("\n")) for key, (value, *_) in change.items() if value > 0),
        blocked=blocked,
        notes=(*bare.notes, _unmatched(bare, lost, gained, len(common)))
        if lost or gained
        else bare.notes,
        shared=_shared(bare, before, change) if lost or gained else None,
    )


# A unit that is paired: how much better it is, its cluster, and what it weighs.
_Change: TypeAlias = tuple[float, str, float]


def _weights(units: Observations) -> list[float]:
    return [1.0] * len(units.values) if units.weights is None else units.weights.tolist()


def _mean_change(bare: Comparison, changes: Sequence[_Change]) -> comparison.Difference | None:
    """The difference of a measure by the changes of its units."""
    values, clusters, weights = zip(*changes, strict=True)
    each = bare.new.clustered.each if bare.new.clustered else None
    units = _units(bare.new)
    weighing = weights if units and units.weights is not None else None
    difference = comparison.paired_difference(values, clusters, each, weighing)
    return difference and difference.times(bare.new.proportion)


def _unmatched(bare: Comparison, lost: int, gained: int, common: int) -> str:
    """That some units have no partner, and what of."""
    was, is_ = bare.names
    note = f"{lost} units of the {was} and {gained} of the {is_} have no partner: what is compared"
    note += f" is the {common} in both; of all it is {number_text(bare.old.value or 0.0)}"
    return f"{note} and {number_text(bare.new.value or 0.0)}"


def _shared(
    bare: Comparison, before: Mapping[str, float], change: Mapping[str, _Change]
) -> tuple[float, float]:
    """Both values over the units that both have."""
    total = math.fsum(weight for _, _, weight in change.values())
    then = math.fsum(weight * before[key] for key, (_, _, weight) in change.items()) / total
    gained = bare.sign * math.fsum(weight * value for value, _, weight in change.values()) / total
    times = bare.new.proportion
    # The best value is 1, which is where all units are at 1.
    return 1 - times * (1 - then), 1 - times * (1 - then - gained)


def _same_design(old: Side, new: Side) -> bool:
    """Whether both have the same trials in the same clusters, and any."""
    if old.by_id.keys() != new.by_id.keys() or not new.by_id:
        return False
    return all(
        judgment.trial.cluster == old.by_id[i].trial.cluster for i, judgment in new.by_id.items()
    )


def _flipped(old: Side, new: Side, bare: Comparison) -> tuple[tuple[str, ...], ...]:
    """The trials with another verdict, each alone."""
    return tuple((i,) for i, j in new.by_id.items() if bare.differs(j, old.by_id[i]))


def _folded(old: Side, new: Side, bare: Comparison) -> Comparison | None:
    """By the share whose distance from 1/2 it is; ``None`` if that is not known, or they differ."""
    difference = _folded_difference(bare) if _same_design(old, new) else None
    if difference is None:
        return None
    return replace(bare, difference=difference, worse=_flipped(old, new, bare))


def _folded_difference(bare: Comparison) -> comparison.Difference | None:
    then, now = bare.old.folded_units, bare.new.folded_units
    if then is None or now is None:
        return None
    place = {name: code for code, name in enumerate(dict.fromkeys((*then.clusters, *now.clusters)))}

    def share(units: Observations) -> comparison.ClusteredShare:
        codes = [place[name] for name in units.clusters]
        return comparison.ClusteredShare.of_units(units.numbers, codes, len(place), units.weights)

    each = bare.new.clustered.each if bare.new.clustered else None
    difference = comparison.folded_difference(share(then), share(now), each)
    return difference and difference.times(bare.new.proportion)


def _jackknife(old: Side, new: Side, bare: Comparison) -> Comparison | None:
    """By leaving out one cluster at a time on both sides; ``None`` if they differ."""
    if not _same_design(old, new):
        return None
    one_set = _one_set_of_labels(old, new)
    values = _left_out(old, new, bare)
    changes = {
        (then, now): [_change(bare.sign, before[then], after[now]) for before, after in values]
        for then, now in _cases_to_compare(bare, one_set=one_set)
    }
    unseen = unseen_share(len(new.clusters))
    if not any(map(any, changes.values())):
        return replace(bare, identical=True, difference=_still(bare, new), unseen=unseen)
    flipped = _flipped(old, new, bare)
    changed = {new.by_id[i].trial.cluster for (i,) in flipped}
    both = bare.old.reach, bare.new.reach
    reach = None if None in both else max(of_side or 0.0 for of_side in both)
    differences = []
    for (then, now), (value, *left_out) in changes.items():
        may_move = changed if then == now else changed | _skipped_clusters(old, new)
        moved = [cluster in may_move for cluster in new.clusters]
        # What skipped labels add, if they were other ones then and now, no swap takes away.
        swapped = _swapped(old, new, bare, then) if then == now else None
        differences.append(comparison.jackknife_difference(value, left_out, moved, reach, swapped))
    as_labelled, *at_worst = differences
    worst = [difference for difference in at_worst if difference is not None]
    if as_labelled is None or len(worst) < len(at_worst):
        return None
    bare = replace(bare, worse=flipped, unseen=unseen)
    if not worst:
        return replace(bare, difference=as_labelled)
    skipped = _skipped_in(bare.new) if one_set else _skipped_in(bare.old, bare.new)
    difference = as_labelled.over(worst)
    return replace(bare, difference=difference, skipped=skipped, as_labelled=as_labelled)


def _left_out(old: Side, new: Side, bare: Comparison) -> list[tuple[_Cases, _Cases]]:
    """What both measurements are: of all clusters, and then without each of them."""
    key = _key(bare.new)
    return [
        (_cases_of(bare.old), _cases_of(bare.new)),
        *(
            (old.without[c].get(key, _NO_VALUE), new.without[c].get(key, _NO_VALUE))
            for c in new.clusters
        ),
    ]


def _swapped(old: Side, new: Side, bare: Comparison, case: int) -> list[float]:
    """The change with each cluster in turn swapped between the two measurements."""
    key, before, after = _key(bare.new), old.swapped_with(new), new.swapped_with(old)
    unchanged = {key: _cases_of(bare.old)}, {key: _cases_of(bare.new)}
    return [
        _change(
            bare.sign,
            before.get(cluster, unchanged[0]).get(key, _NO_VALUE)[case],
            after.get(cluster, unchanged[1]).get(key, _NO_VALUE)[case],
        )
        for cluster in new.clusters
    ]


def _cases_to_compare(bare: Comparison, *, one_set: bool) -> list[tuple[int, int]]:
    """Which case of the old measurement is compared with which of the new one.

    With ``one_set`` of labels a skipped label is the same in both.
    """
    if not _skipped_in(bare.old, bare.new):
        return [(_AS_LABELLED, _AS_LABELLED)]
    alike = [(case, case) for case in (_AS_LABELLED, _LOWEST, _HIGHEST)]
    return alike if one_set else [*alike, (_LOWEST, _HIGHEST), (_HIGHEST, _LOWEST)]


def _change(sign: int, before: float | None, after: float | None) -> float:
    """New less old, above 0 if better; NaN where one of them has no value."""
    return math.nan if before is None or after is None else sign * (after - before)


def _skipped_clusters(old: Side, new: Side) -> set[str]:
    return {
        judgment.trial.cluster
        for side in (old, new)
        for judgment in side.by_id.values()
        if judgment.trial.skipped
    }


def _unpaired(then: Estimate, now: Estimate, sign: int) -> comparison.Difference | None:
    a, b = then.clustered, now.clustered
    if a is None or b is None or then.value is None or now.value is None:
        return None
    (low, high), (low_now, high_now) = (
        sorted((sign * ends.lower, sign * ends.upper)) for ends in (a, b)
    )
    old, new = (sign * then.value, (low, high)), (sign * now.value, (low_now, high_now))
    return comparison.unpaired_difference(old, new, min(a.clusters, b.clusters), b.level)
