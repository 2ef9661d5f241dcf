r"""What temperature does to a judge (arXiv 2603.28304): agreement, consistency, errors, majorities.

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
    agreement_effect     = mean of the differences high - low, one for each question under one
                           prompt and model: its mean agreement over temperatures at and above the
                           threshold, less that below; ``consistency_effect`` and
                           ``error_rate_effect`` are such differences too

In a vote a reply without a verdict has no voice. Verdicts with equally many votes share the vote,
as a fair draw among them would decide it; without a voice there is no verdict, which is not equal.
At k = 1 it is the agreement. Its price stands beside it: a single-answer trial is two calls.

Everything is estimated pooled, by each factor, by factor and temperature, and by configuration;
clusters are questions. What a provider refuses altogether (every trial of a configuration failed
with ``refused:``) is unavailable with its words, and left out of what is pooled, which says so.

A judge that gives one slot to everything, and is not right throughout, is consistent and says
nothing: it is flagged ``degenerate``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Estimate, Missing
from pytest_judgesense.instruments.temperature.measures import (
    AGREEMENT_PARSED,
    CONSISTENCY,
    EFFECTS,
    ERROR_RATE,
    ERROR_RATE_BEFORE_REPAIR,
    MAJORITY_AGREEMENT,
    PAIRWISE_CONSISTENCY,
)
from pytest_judgesense.instruments.temperature.sweep import (
    FACTORS,
    FAILED,
    OUT,
    SOURCES,
    UNPARSED,
    VERDICT,
    Series,
    Sweep,
    majority_share,
    paired_differences,
    series_of,
    sweep_of,
)
from pytest_judgesense.measures.cell import Cell, Units, rate, unavailable
from pytest_judgesense.measures.measure import Measure
from pytest_judgesense.measures.shared import AGREEMENT, FAILED_RATE, UNPARSED_RATE
from pytest_judgesense.stats.clustered import clustered_mean

# From which temperature on it is high, unless the suite says otherwise.
THRESHOLD: Final = 1.5
# Replicates that vote together.
VOTERS: Final = (1, 3, 5, 10)
_CALLS: Final = {"single": 2}
# Beyond so many judgments units are not paired: they would take more than the log itself.
_MOST_PAIRED: Final = 50_000

_Codes: TypeAlias = NDArray[np.intp]
_Array: TypeAlias = NDArray[np.float64]
_Value: TypeAlias = str | int | float


def groupings(sweep: Sweep) -> list[tuple[str, ...]]:
    """What is estimated apart: nothing, each factor, with the temperature, and all together."""
    levels = sweep.levels.items()
    several = [key for key, (values, _) in levels if len(values) > 1 or key == "temperature"]
    factors = [key for key in FACTORS if key in several]
    sources = [key for key in SOURCES if key in several]
    beside = [key for key in (*factors, *sources) if key != "temperature"]
    found: list[tuple[str, ...]] = [(), *((key,) for key in (*factors, *sources))]
    if "temperature" in factors:
        found += [(key, "temperature") for key in beside]
    return list(dict.fromkeys([*found, tuple(factors)]))


def estimates(cell: Cell) -> list[Estimate]:
    """All of them: pooled first, then by temperature, by the other factors, and by configuration.

    Majorities and the effect of the repair stand pooled and by temperature alone.
    """
    sweep = sweep_of(cell)
    series = series_of(sweep)
    names = _Keys(sweep, series)
    found: dict[str, list[Estimate]] = {}
    for keys in groupings(sweep):
        codes, conditions = sweep.codes(keys)
        of_series = codes[series.first]
        for code, condition in enumerate(conditions):
            group = _Group(sweep, series, names, codes == code, of_series == code, condition)
            for estimate in group.estimates(whole=set(keys) <= {"temperature"}):
                found.setdefault(estimate.measure, []).append(estimate)
    effects = [_effect(sweep, series, outcome) for outcome in EFFECTS]
    return [*(one for some in found.values() for one in some), *effects]


def threshold_of(sweep: Sweep) -> float:
    """From which temperature on it is high."""
    return sweep.cell.design.effect_threshold or THRESHOLD


def is_high(sweep: Sweep, series: Series) -> NDArray[np.bool_]:
    """Whether each series is at or above the threshold of the design."""
    values, codes = sweep.levels["temperature"]
    threshold = threshold_of(sweep)
    at = np.array([float(value) >= threshold for value in values], dtype=bool)
    return at[codes[series.first]]


def _effect(sweep: Sweep, series: Series, outcome: str) -> Estimate:
    cell, measure = sweep.cell, EFFECTS[outcome]
    if "temperature" not in sweep.levels:
        return unavailable(measure, cell, "no temperature is known")
    high = is_high(sweep, series)
    values, questions = paired_differences(series, outcome, high, ~high)
    if not values.size:
        return unavailable(measure, cell, "no question was asked on both sides of the threshold")
    return Estimate(
        measure=measure.name,
        suite=cell.suite,
        value=float(values.mean()),
        n=values.size,
        unit=measure.unit,
        clustered=clustered_mean(values, questions, lower=-1.0, upper=1.0),
        flags=(f"high from {threshold_of(sweep):g} on",),
    )


class _Keys:
    """The ids of judgments and series, made once; none beyond `_MOST_PAIRED` judgments."""

    def __init__(self, sweep: Sweep, series: Series) -> None:
        self._paired = len(sweep.cell.judgments) <= _MOST_PAIRED
        self.questions = tuple(sweep.questions)
        if self._paired:
            ids = [judgment.trial.id for judgment in sweep.cell.judgments]
            self._ids = np.array(ids, dtype=object)
            parts = np.split(self._ids[series.judgments], series.bounds[1:-1])
            self._series = np.array(["\n".join(part) for part in parts], dtype=object)

    def of_judgments(self, rows: _Codes) -> tuple[str, ...]:
        return tuple(self._ids[rows]) if self._paired else ()

    def of_series(self, at: _Codes) -> tuple[str, ...]:
        return tuple(self._series[at]) if self._paired else ()


class _Group:
    """The judgments and the series under one condition."""

    def __init__(
        self,
        sweep: Sweep,
        series: Series,
        keys: _Keys,
        rows: NDArray[np.bool_],
        of_series: NDArray[np.bool_],
        condition: Mapping[str, _Value],
    ) -> None:
        self._sweep, self._series, self._keys = sweep, series, keys
        self._condition = condition
        self._rows = np.flatnonzero(rows)
        self._units = np.flatnonzero(of_series)
        self._state = sweep.state[self._rows]
        self._out = int((self._state == OUT).sum())
        self._unparsed = int((self._state == UNPARSED).sum())
        self._failed = int((self._state == FAILED).sum())

    def estimates(self, *, whole: bool) -> Iterator[Estimate]:
        """Every estimate of the group; some only where it is the ``whole``, or a temperature."""
        sweep, state = self._sweep, self._state
        asked, received = state != OUT, (state == VERDICT) | (state == UNPARSED)
        gold = sweep.gold[self._rows]
        right = (sweep.content[self._rows] == gold).astype(np.float64)
        labelled = asked & (gold >= 0)
        nothing = "the items have no labels" if asked.any() else None
        no_label = int((asked & (gold < 0)).sum())
        notes: tuple[str, ...] = ()
        if no_label:
            notes = (f"{no_label} judgments without a gold label left out",)
        yield self._calls(AGREEMENT, labelled, received, right, notes, nothing)
        parsed = state == VERDICT
        yield self._calls(AGREEMENT_PARSED, labelled, parsed, right, notes, nothing)
        yield from self._consistencies()
        unparsed = (state == UNPARSED).astype(np.float64)
        yield self._calls(ERROR_RATE, asked, received, unparsed)
        if whole:
            repair = sweep.repair[self._rows]
            if repair.any():
                before = np.maximum(unparsed, repair > 0)
                untouched = int((parsed & (repair == 0)).sum())
                notes = (f"{int(repair.sum())} extra calls",)
                notes += (f"{untouched} well-formed replies left as they were",)
                yield self._calls(ERROR_RATE_BEFORE_REPAIR, asked, received, before, notes)
            for k in VOTERS:
                yield self._majority(k)
        if not self._condition:
            yield self._calls(UNPARSED_RATE, asked, received, unparsed)
            yield self._calls(FAILED_RATE, asked, asked, (state == FAILED).astype(np.float64))

    def _flags(self) -> tuple[str, ...]:
        if not self._out:
            return ()
        return (f"{self._out} trials refused by the provider left out",)

    def _none(
        self, measure: Measure, reason: str, condition: Mapping[str, _Value] | None = None
    ) -> Estimate:
        if self._out == self._rows.size and self._out:
            sweep = self._sweep
            reason = sweep.reasons[sweep.reason[self._rows[0]]]
        return unavailable(
            measure,
            self._sweep.cell,
            reason,
            self._condition if condition is None else condition,
            missing=self._missing(),
        )

    def _missing(self, low: float | None = None, high: float | None = None) -> Missing:
        calls = self._rows.size - self._out
        share = (self._unparsed + self._failed) / calls if calls else 0.0
        return Missing(self._unparsed, self._failed, low, high, share)

    def _calls(
        self,
        measure: Measure,
        asked: NDArray[np.bool_],
        usable: NDArray[np.bool_],
        values: _Array,
        notes: tuple[str, ...] = (),
        nothing: str | None = None,
    ) -> Estimate:
        """A rate over single judgments: ``usable`` ones of those that it asks about."""
        counted = asked & usable
        if not asked.any():
            return self._none(measure, nothing or "no trial of this kind was run")
        rows, sweep = self._rows[counted], self._sweep
        units = Units(
            values[counted],
            sweep.question[rows],
            dropped=int((asked & ~usable).sum()),
            unparsed=self._unparsed,
            failed=self._failed,
            calls=self._rows.size - self._out,
            keys=self._keys.of_judgments(rows),
            names=self._keys.questions,
        )
        flags = (*self._flags(), *notes)
        return rate(measure, sweep.cell, units, self._condition, flags=flags)

    def _consistencies(self) -> Iterator[Estimate]:
        series, at = self._series, self._units
        yield self._of_series(
            CONSISTENCY, series.consistency[at], series.least[at], series.most[at]
        )
        yield self._of_series(
            PAIRWISE_CONSISTENCY,
            series.pairwise[at],
            series.pairwise_least[at],
            series.pairwise_most[at],
        )

    def _of_series(self, measure: Measure, values: _Array, least: _Array, most: _Array) -> Estimate:
        known, asked = np.isfinite(values), np.isfinite(least)
        if not known.any():
            reason = "no question has two parsed replicates; set replicates in [design]"
            return self._none(measure, reason)
        units = self._of_questions(values[known], self._units[known])
        left_out = int(self._alive().sum() - known.sum())
        flags = self._flags()
        if left_out:
            flags += (f"{left_out} left out: fewer than two parsed replicates",)
        if self._degenerate():
            flags += ("degenerate",)
        estimate = rate(measure, self._sweep.cell, units, self._condition, flags=flags)
        missing = self._missing(float(least[asked].mean()), float(most[asked].mean()))
        return replace(estimate, interval=None, missing=missing)

    def _alive(self) -> NDArray[np.bool_]:
        alive: NDArray[np.bool_] = self._sweep.state[self._series.first[self._units]] != OUT
        return alive

    def _degenerate(self) -> bool:
        """Whether one slot answers everything, and not because it is right throughout."""
        sweep, rows = self._sweep, self._rows[self._state == VERDICT]
        slots = sweep.slot[rows]
        if not rows.size or slots.min() != slots.max():
            return False
        several = np.ptp(sweep.question[rows]) > 0
        return bool(several and (sweep.content[rows] != sweep.gold[rows]).any())

    def _of_questions(self, values: _Array, at: _Codes, dropped: int = 0) -> Units:
        return Units(
            values,
            self._series.question[at],
            dropped=dropped,
            unparsed=self._unparsed,
            failed=self._failed,
            calls=self._rows.size - self._out,
            keys=self._keys.of_series(at),
            names=self._keys.questions,
        )

    def _majority(self, k: int) -> Estimate:
        series, measure = self._series, MAJORITY_AGREEMENT
        condition = {**self._condition, "k": k}
        asked = self._units[series.labelled[self._units] & self._alive()]
        at = asked[series.votes[asked].sum(axis=1) >= k]
        if not at.size:
            most = int(series.votes[asked].sum(axis=1).max(initial=0))
            reason = f"needs {k} replies to a question, found {most}; set replicates in [design]"
            return self._none(measure, reason, condition)
        kinds, which = np.unique(series.votes[at], axis=0, return_inverse=True)
        shares = np.array(
            [majority_share(k, row[0], tuple(row[1:-1]), row[-1]) for row in kinds.tolist()]
        )
        units = self._of_questions(shares[which.ravel()], at, dropped=asked.size - at.size)
        estimate = rate(
            measure,
            self._sweep.cell,
            units,
            condition,
            flags=(*self._flags(), _price(k, calls_of(self._sweep, series)[at])),
        )
        return replace(estimate, interval=None)


def calls_of(sweep: Sweep, series: Series) -> _Codes:
    """The calls that a trial of each series takes, shape (series,)."""
    if "judge_type" not in sweep.levels:
        return np.ones(series.first.size, dtype=np.intp)
    values, codes = sweep.levels["judge_type"]
    return np.array([_CALLS.get(str(value), 1) for value in values])[codes[series.first]]


def _price(k: int, calls: _Codes) -> str:
    shown = " or ".join(str(k * each) for each in np.unique(calls))
    return f"{shown} call{'s' * (shown != '1')} a verdict"
