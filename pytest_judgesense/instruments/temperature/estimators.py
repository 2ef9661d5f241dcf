"""Temperature and a judge (arXiv 2603.28304): agreement, consistency, errors, majorities.

For configurations and series see `sweep`. With verdicts y as contents, g the gold label, and a
reply without a verdict written as none::

    agreement            = mean 1[y = g] over replies received: an unparsed one is not equal
    agreement_parsed     = the same over parsed replies
    consistency          = 1 - 1/(n - 1) sum over adjacent parsed replicates 1[y_k != y_(k+1)],
                           a series each; those with n < 2 parsed replicates are left out
    pairwise_consistency = sum over verdicts v of C(n_v, 2) / C(n, 2): Fleiss's P of the series,
                           which does not depend on the order of the replicates
    majority_agreement   = the verdict of most of k replicates equals g: its mean over all sets of
                           k among the replies received, exactly (hypergeometric)
    error_rate           = replies without a verdict / replies received
    format_error_rate    = replies that do not keep the prescribed form / replies received, where
                           templates prescribe one (see `forms`)
    agreement_effect     = mean of the differences high - low, one for each question under one
                           prompt and model: its mean agreement over temperatures at and above the
                           threshold, less that below; ``agreement_parsed_effect`` and the like
                           are such differences too

In a vote a reply without a verdict has no voice. Verdicts with equally many votes share the vote,
as a fair draw among them would decide it; without a voice there is no verdict, which is not equal.
At k = 1 it is the agreement. Its price stands beside it: a single-answer trial is two calls.

Everything is estimated pooled, by each factor, by factor and temperature, and by configuration;
clusters are questions. What a provider refuses altogether (every trial of a configuration failed
with ``refused:``) is unavailable with its words, and left out of what is pooled, which says so.

A judge that gives one slot to everything, and is not right throughout, is consistent and says
nothing: it is flagged ``degenerate``.

Is a vote of several hot calls worth more than one cold call? (arXiv 2603.28304 proposes it.)

With a_c the agreement of one call at the lowest temperature of the grid and m_k that of a vote of k
replicates at a higher one (`estimators`: over all sets of k, exactly), both of one question under
one prompt::

    difference = mean (m_k - a_c)

over the questions and prompts that have k replies at the one and a reply at the other temperature.
Its interval is clustered by question. p is that of exchanging vote and call within whole questions
(`stats.ranks`), ``p_holm`` Holm's over all rows of the table; where the two disagree, the end next
to 0 is that of the test. ``calls`` are those that a verdict of
the vote takes in the mean, ``calls_cold`` those of the one verdict: two where answers are graded
one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from pytest_judgesense.estimate import Anew, Estimate, Missing
from pytest_judgesense.instruments.temperature import measures
from pytest_judgesense.instruments.temperature.effects import Row, Rows, effect_row
from pytest_judgesense.instruments.temperature.sweep import (
    FACTORS,
    FAILED,
    OUT,
    SOURCES,
    UNPARSED,
    VERDICT,
    Codes,
    Flags,
    Floats,
    Series,
    Sweep,
    Value,
    majority_shares,
    on,
    paired_differences,
    series_of,
    sweep_of,
)
from pytest_judgesense.measures.cell import Cell, Units, estimated, rate, unavailable
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.shared import AGREEMENT, FAILED_RATE, REFUSAL_RATE, UNPARSED_RATE
from pytest_judgesense.stats.clustered import clustered_mean
from pytest_judgesense.stats.comparison import Adjusted, agreeing_ends, holm
from pytest_judgesense.stats.ranks import p_of_swaps, share
from pytest_judgesense.trial import is_refusal

# Replicates that vote together.
VOTERS: Final = (1, 3, 5, 10)
_CALLS: Final = {"single": 2}


def _groupings(sweep: Sweep) -> list[tuple[str, ...]]:
    """The groups of estimates: pooled, each factor, with the temperature, and all together."""
    keys = [key for key in (*FACTORS, *SOURCES) if key in sweep.levels]
    several = [key for key in keys if key == "temperature" or len(sweep.levels[key][0]) > 1]
    groupings: list[tuple[str, ...]] = [(), *((key,) for key in several)]
    if "temperature" in several:
        groupings += [(key, "temperature") for key in several if key != "temperature"]
    return list(dict.fromkeys([*groupings, tuple(key for key in FACTORS if key in several)]))


def estimates(cell: Cell) -> list[Estimate]:
    """All of them: pooled first, then by temperature, by the other factors, and by configuration.

    Majorities and the effect of repair are given only pooled and by temperature.
    """
    sweep, series = sweep_of(cell), series_of(cell)
    by_measure: dict[str, list[Estimate]] = defaultdict(list)
    for keys in _groupings(sweep):
        codes, conditions = sweep.codes(keys)
        of_series = codes[series.first]
        for code, condition in enumerate(conditions):
            rows, of_group = np.flatnonzero(codes == code), np.flatnonzero(of_series == code)
            group = _Group(sweep, series, rows, of_group, condition)
            for estimate in group.estimates(whole=set(keys) <= {"temperature"}):
                by_measure[estimate.measure].append(estimate)
    outcomes = [outcome for outcome in measures.EFFECTS if outcome in series.values]
    effects = [_effect(sweep, series, outcome) for outcome in outcomes]
    return [*(estimate_of for some in by_measure.values() for estimate_of in some), *effects]


def _effect(sweep: Sweep, series: Series, outcome: str) -> Estimate:
    cell, measure = sweep.cell, measures.EFFECTS[outcome]
    if "temperature" not in sweep.levels:
        return unavailable(measure, cell, "no temperature is known")
    of, high = series.values[outcome], series.high
    values, questions = paired_differences(series, on(high, of), on(~high, of))
    if not values.size:
        return unavailable(measure, cell, "no question was asked on both sides of the threshold")
    return estimated(
        measure,
        cell,
        value=float(values.mean()),
        n=values.size,
        clustered=clustered_mean(values, questions, (-1.0, 1.0)),
        anew=lambda: Anew(
            [sweep.questions[code] for code in questions], [values], lambda total, n: total / n
        ),
        flags=(f"high from {sweep.threshold:g} on",),
    )


@dataclass(frozen=True)
class _Group:
    """The judgments (at ``rows``) and the series (``of_series``) under one condition."""

    sweep: Sweep
    series: Series
    rows: Codes
    of_series: Codes
    condition: Mapping[str, Value]

    def estimates(self, *, whole: bool) -> Iterator[Estimate]:
        """Every estimate of the group; some only where it is the ``whole``, or a temperature."""
        sweep, rows = self.sweep, self.rows
        state, gold, repair = sweep.state[rows], sweep.gold[rows], sweep.repair[rows]
        included, parsed, unparsed = state != OUT, state == VERDICT, state == UNPARSED
        received, labelled = parsed | unparsed, included & (gold >= 0)
        right = sweep.content[rows] == gold
        no_label = int((included & (gold < 0)).sum())
        notes: tuple[str, ...] = ()
        if no_label:
            notes = (f"{no_label} judgments without a gold label left out",)
        for measure, usable in ((AGREEMENT, received), (measures.AGREEMENT_PARSED, parsed)):
            if included.any() and not labelled.any():
                yield self._none(measure, "the items have no labels")
            else:
                yield self._of_calls(measure, labelled, usable, right, notes)
        yield self._consistency(measures.CONSISTENCY)
        yield self._consistency(measures.PAIRWISE_CONSISTENCY)
        yield self._of_calls(measures.ERROR_RATE, included, received, unparsed)
        form = sweep.form[rows]
        if sweep.cell.design.forms:
            formed = form >= 0
            yield self._of_calls(
                measures.FORMAT_ERROR_RATE, included & (formed | ~received), formed, form == 1
            )
        if whole:
            if repair.any():
                untouched = int((parsed & (repair == 0)).sum())
                notes = (
                    f"{int(repair.sum())} extra calls",
                    f"{untouched} well-formed replies left as they were",
                )
                before = unparsed | (repair > 0)
                yield self._of_calls(
                    measures.ERROR_RATE_BEFORE_REPAIR, included, received, before, notes
                )
            yield from map(self._majority, VOTERS)
        if not self.condition:
            yield self._of_calls(UNPARSED_RATE, included, received, unparsed)
            declines = np.array([*map(is_refusal, sweep.reasons), False])  # -1: nothing was said
            refused = unparsed & declines[sweep.reason[rows]]
            yield self._of_calls(REFUSAL_RATE, included, received, refused)
            yield self._of_calls(FAILED_RATE, included, included, state == FAILED)

    @cached_property
    def _counts(self) -> list[int]:
        """The judgments by state."""
        return [int(n) for n in np.bincount(self.sweep.state[self.rows], minlength=4)]

    @property
    def _flags(self) -> tuple[str, ...]:
        out = self._counts[OUT]
        return (f"{out} trials refused by the provider left out",) if out else ()

    def _units(
        self, of: Sweep | Series, positions: Codes, values: Floats | Flags, dropped: int
    ) -> Units:
        return Units(
            values.astype(np.float64),
            of.question[positions],
            dropped=dropped,
            unparsed=self._counts[UNPARSED],
            failed=self._counts[FAILED],
            calls=self.rows.size - self._counts[OUT],
            keys=tuple(of.keys[positions]) if of.keys.size else (),
            names=self.sweep.questions,
            unlike=int(np.unique(of.stratum[positions]).size),
        )

    def _missing(self, low: float | None = None, high: float | None = None) -> Missing:
        units = self._units(self.sweep, self.rows[:0], np.zeros(0), 0)
        return replace(units.missing(), lower_bound=low, upper_bound=high)

    def _none(
        self, measure: Measure, reason: str, condition: Mapping[str, Value] | None = None
    ) -> Estimate:
        if self.rows.size and self._counts[OUT] == self.rows.size:
            reason = self.sweep.reasons[self.sweep.reason[self.rows[0]]]
        under = self.condition if condition is None else condition
        return unavailable(measure, self.sweep.cell, reason, under, missing=self._missing())

    def _of_calls(
        self,
        measure: Measure,
        relevant: Flags,
        usable: Flags,
        values: Flags,
        notes: tuple[str, ...] = (),
    ) -> Estimate:
        """A rate over single judgments: ``usable`` ones of those that it asks about."""
        if not relevant.any():
            return self._none(measure, "no trial of this kind was run")
        counted, dropped = relevant & usable, int((relevant & ~usable).sum())
        units = self._units(self.sweep, self.rows[counted], values[counted], dropped)
        return rate(measure, self.sweep.cell, units, self.condition, flags=(*self._flags, *notes))

    def _consistency(self, measure: Measure) -> Estimate:
        values = self.series.values[measure.name][self.of_series]
        least, most = (ends[self.of_series] for ends in self.series.worst[measure.name])
        defined, bounded = np.isfinite(values), np.isfinite(least)
        if not defined.any():
            reason = "no question has two parsed replicates; set replicates in [design]"
            return self._none(measure, reason)
        units = self._units(self.series, self.of_series[defined], values[defined], 0)
        flags = self._flags
        if left_out := int(self.series.alive[self.of_series].sum() - defined.sum()):
            flags += (f"{left_out} left out: fewer than two parsed replicates",)
        if self._degenerate():
            flags += ("degenerate",)
        estimate = rate(measure, self.sweep.cell, units, self.condition, flags=flags)
        missing = self._missing(float(least[bounded].mean()), float(most[bounded].mean()))
        return replace(estimate, interval=None, missing=missing)

    def _degenerate(self) -> bool:
        """Whether one slot answers everything, and not because it is right throughout."""
        sweep = self.sweep
        rows = self.rows[sweep.state[self.rows] == VERDICT]
        slots = sweep.cell.coded("verdict")[0][rows]
        if not slots.size or slots.min() != slots.max():
            return False
        several = np.ptp(sweep.question[rows]) > 0
        return bool(several and (sweep.content[rows] != sweep.gold[rows]).any())

    def _majority(self, k: int) -> Estimate:
        series, measure = self.series, measures.MAJORITY_AGREEMENT
        condition = {**self.condition, "k": k}
        labelled = self.of_series[series.labelled[self.of_series] & series.alive[self.of_series]]
        replies = series.votes[labelled].sum(axis=1)
        voting = labelled[replies >= k]
        if not voting.size:
            most = int(replies.max(initial=0))
            reason = f"needs {k} replies to a question, found {most}; set replicates in [design]"
            return self._none(measure, reason, condition)
        shares = majority_shares(series.votes[voting], k)
        units = self._units(series, voting, shares, labelled.size - voting.size)
        calls = sorted({*calls_of(self.sweep, series)[voting].tolist()})
        price = " or ".join(str(k * each) for each in calls)
        flags = (*self._flags, f"{price} call{'s' * (price != '1')} a verdict")
        estimate = rate(measure, self.sweep.cell, units, condition, flags=flags)
        return replace(estimate, interval=None)


def calls_of(sweep: Sweep, series: Series) -> Codes:
    """The calls that a trial of each series takes, shape (series,)."""
    if "judge_type" not in sweep.levels:
        return np.ones(series.first.size, dtype=np.intp)
    values, codes = sweep.levels["judge_type"]
    return np.array([_CALLS.get(str(value), 1) for value in values])[codes[series.first]]


def vote_contrasts(sweep: Sweep, series: Series) -> Rows:
    """A row for each temperature above the lowest and each k that the replicates allow."""
    cold, *hotter = series.levels["temperature"][0]
    usable, each = series.alive & series.labelled, calls_of(sweep, series)
    single = on(usable & (series.temperature == cold), series.values["agreement"])
    replies = series.votes.sum(axis=1)
    rows: Rows = []
    for hot in hotter:
        for k in VOTERS:
            enough = usable & (series.temperature == hot) & (replies >= k)
            vote = np.full(enough.size, np.nan)
            vote[enough] = majority_shares(series.votes[enough], k)
            values, questions = paired_differences(series, vote, single)
            if not values.size:
                continue
            won, _ = paired_differences(series, vote, on(np.isfinite(single), np.zeros(vote.size)))
            head = {"temperature": hot, "cold": cold, "k": k, "vote": float(won.mean())}
            row = effect_row({**head, "single": float((won - values).mean())}, values, questions)
            row["p"] = _p_of_exchange(values, questions, series.seed)
            row["calls"] = float(k * each[enough].mean())
            row["calls_cold"] = float(each[np.isfinite(single)].mean())
            rows.append(row)
    adjusted = holm([row["p"] for row in rows])
    return [_decided(row, step) for row, step in zip(rows, adjusted, strict=True)]


def _decided(row: Row, step: Adjusted) -> Row:
    """The row with Holm's p, its interval holding 0 exactly where that is above .05."""
    decided = {**row, "p_holm": step.p}
    if row["lower"] is not None:
        ends = agreeing_ends(row["value"], (row["lower"], row["upper"]), row["p"], step)
        decided |= {"lower": ends[0], "upper": ends[1]}
    return decided


def _p_of_exchange(differences: Floats, questions: Codes, seed: int) -> float:
    sums, sizes = (
        np.bincount(questions, weights=of).astype(np.float64) for of in (differences, None)
    )
    won = np.stack([sums, sizes], axis=1)[sizes > 0]
    even = won * (0.0, 1.0)
    moved = won[:, 0] != 0
    return p_of_swaps(won[moved], even[moved], won.sum(axis=0), even.sum(axis=0), share, seed)
