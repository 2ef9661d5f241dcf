r"""Tables beside the measures of a temperature sweep: plain values, as in datasheets.

``temperature_table``: mean and standard deviation by temperature, judge type and prompt style, and
by the margins of these (``all``), by model and by source of the gold label where there are several:
of agreement and error rate over the replicates (the rate of each replicate over the questions), of
consistency over the questions. Standard deviations divide by n - 1; one value has none.

``temperature_correlations``: Pearson's r of temperature, agreement, consistency and error rate:
over the means of the temperatures (``means``, by model as well), and over the series (``rows``).

``temperature_effects``: what a temperature at or above the threshold changes in each outcome,
overall and by level of each factor, by three methods: ``aipw`` (see `causal`), ``paired`` (the mean
difference within a question, prompt and model), and ``pair``, the same between any two
temperatures. The sweep is a full factorial, so the three estimate one thing; ``aipw`` is
right also where a log is not. Intervals are clustered by question.

``temperature_attributions`` and ``temperature_attribution_points``: SHAP values of an outcome model
(see `causal`), and a sample of them to be drawn.

``temperature_majority``: agreement of a vote of k at each temperature, and its calls.
``temperature_errors``: replies without a verdict and calls without a reply, by reason.

What cannot be had is ``unavailable``, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.temperature import causal
from pytest_judgesense.instruments.temperature.estimators import (
    calls_of,
    is_high,
    threshold_of,
)
from pytest_judgesense.instruments.temperature.measures import EFFECTS, MAJORITY_AGREEMENT
from pytest_judgesense.instruments.temperature.sweep import (
    FACTORS,
    FAILED,
    OUT,
    SOURCES,
    UNPARSED,
    VERDICT,
    Series,
    Sweep,
    paired_differences,
    series_of,
    sweep_of,
)
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.clustered import clustered_mean

ALL: Final = "all"
_SHOWN: Final = 100  # points of an attribution that are drawn
_REASONS: Final = 20  # of a temperature; the rest is summed up
_CORRELATED: Final = ("temperature", *EFFECTS)

_Array = NDArray[np.float64]
_Codes = NDArray[np.intp]
_Rows = list[dict[str, Any]]


def temperature_tables(cell: Cell, estimates: Sequence[Estimate]) -> Mapping[str, _Rows]:
    """All tables of a cell by name, made once; none where no temperature is known."""
    return cell.once("tables", lambda: _tables(cell, estimates))


def _rows_of(name: str) -> Callable[[Cell, Sequence[Estimate], object], _Rows | None]:
    return lambda cell, estimates, _suite: temperature_tables(cell, estimates).get(name)


table_rows = _rows_of("temperature_table")
correlations_rows = _rows_of("temperature_correlations")
effects_rows = _rows_of("temperature_effects")
attributions_rows = _rows_of("temperature_attributions")
attribution_points_rows = _rows_of("temperature_attribution_points")
majority_rows = _rows_of("temperature_majority")
errors_rows = _rows_of("temperature_errors")


def _tables(cell: Cell, estimates: Sequence[Estimate]) -> dict[str, _Rows]:
    sweep = sweep_of(cell) if cell.judgments else None
    if sweep is None or "temperature" not in sweep.levels:
        return {}
    series = series_of(sweep)
    return {
        "temperature_table": list(_table(sweep, series)),
        "temperature_correlations": list(_correlations(sweep, series)),
        "temperature_effects": [
            *_aipw(sweep, series, cell.seed),
            *_paired(sweep, series),
            *_pairs(sweep, series),
        ],
        **_attributions(sweep, series, cell.seed),
        "temperature_majority": list(_majority(sweep, series, estimates)),
        "temperature_errors": list(_errors(sweep)),
    }


def _several(sweep: Sweep, keys: Sequence[str]) -> list[str]:
    return [key for key in keys if key in sweep.levels and len(sweep.levels[key][0]) > 1]


def _table(sweep: Sweep, series: Series) -> Iterator[dict[str, Any]]:
    """Rows by the three factors, then margins, then the same by each source."""
    known = [key for key in FACTORS if key in sweep.levels]
    kinds = [key for key in known if key != "temperature"]
    for source in (None, *_several(sweep, SOURCES)):
        for size in range(len(kinds), -1, -1):
            for chosen in combinations(kinds, size):
                for keys in ((*chosen, "temperature"), chosen):
                    yield from _rows(sweep, series, (*keys, source) if source else keys)


def _rows(sweep: Sweep, series: Series, keys: Sequence[str]) -> Iterator[dict[str, Any]]:
    codes, conditions = sweep.codes(keys)
    count = len(conditions)
    state = sweep.state
    replicates, replicate = np.unique(sweep.replicate, return_inverse=True)
    width = replicates.size
    place = codes * width + replicate.reshape(-1)

    def sums(of: NDArray[np.bool_]) -> _Array:
        return np.bincount(place[of], minlength=count * width).reshape(count, width).astype(float)

    parsed = state == VERDICT
    received = parsed | (state == UNPARSED)
    labelled = sweep.gold >= 0
    right = parsed & labelled & (sweep.content == sweep.gold)
    rates = {
        "agreement": (sums(right), sums(received & labelled)),
        "agreement_parsed": (sums(right), sums(parsed & labelled)),
        "error_rate": (sums(received & ~parsed), sums(received)),
    }
    of_series = codes[series.first]
    asked = np.bincount(codes[state != OUT], minlength=count)
    for code, condition in enumerate(conditions):
        row: dict[str, Any] = {key: condition.get(key, ALL) for key in FACTORS}
        row |= {key: condition[key] for key in SOURCES if key in condition}
        row["n"] = int(asked[code])
        for name, (ones, all_) in rates.items():
            some = all_[code] > 0
            row |= _spread(name, ones[code][some] / all_[code][some])
        values = series.consistency[of_series == code]
        row |= _spread("consistency", values[np.isfinite(values)])
        yield row


def _spread(name: str, values: _Array) -> dict[str, float | None]:
    return {
        f"{name}_mean": float(values.mean()) if values.size else None,
        f"{name}_sd": float(values.std(ddof=1)) if values.size > 1 else None,
    }


def _correlations(sweep: Sweep, series: Series) -> Iterator[dict[str, Any]]:
    temperature = _temperatures(sweep)[series.first]
    columns = {"temperature": temperature} | {name: series.outcome(name) for name in EFFECTS}
    parts: list[tuple[dict[str, Any], NDArray[np.bool_]]] = [
        ({}, np.ones(temperature.size, dtype=bool))
    ]
    for key in _several(sweep, ("model",)):
        values, codes = sweep.levels[key]
        parts += [({key: v}, codes[series.first] == i) for i, v in enumerate(values)]
    for condition, within in parts:
        found, at = np.unique(temperature[within], return_inverse=True)
        means = {name: _means(values[within], at, found.size) for name, values in columns.items()}
        for level, table in (("means", means), ("rows", columns)):
            if level == "rows" and condition:
                continue
            for x, y in combinations(_CORRELATED, 2):
                both = np.isfinite(table[x]) & np.isfinite(table[y])
                r = _pearson(table[x][both], table[y][both])
                yield {"level": level, **condition, "x": x, "y": y, "r": r, "n": int(both.sum())}


def _means(values: _Array, at: _Codes, count: int) -> _Array:
    known = np.isfinite(values)
    n = np.bincount(at[known], minlength=count)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.bincount(at[known], values[known], minlength=count)
        return np.where(n > 0, total / n, np.nan)


def _pearson(x: _Array, y: _Array) -> float | None:
    """Pearson's r; ``None`` for fewer than three pairs, or where one does not vary."""
    if x.size < 3 or np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _temperatures(sweep: Sweep) -> _Array:
    values, codes = sweep.levels["temperature"]
    return np.array([float(value) for value in values])[codes]


def _groups(sweep: Sweep, series: Series) -> Iterator[tuple[dict[str, Any], NDArray[np.bool_]]]:
    """The whole, and each level of each factor beside the temperature."""
    yield {"group": "overall", "level": ALL}, np.ones(series.first.size, dtype=bool)
    for key in _several(sweep, ("judge_type", "prompt_style", "model")):
        values, codes = sweep.levels[key]
        for code, value in enumerate(values):
            yield {"group": key, "level": value}, codes[series.first] == code


def _row(
    head: dict[str, Any], values: _Array, questions: _Codes, *, bounded: bool = True
) -> dict[str, Any]:
    """A mean with its clustered interval; ``bounded`` where no value is beyond 1."""
    ends = (-1.0, 1.0) if bounded else (None, None)
    found = clustered_mean(values, questions, lower=ends[0], upper=ends[1]) if values.size else None
    return {
        **head,
        "value": float(values.mean()) if values.size else None,
        "lower": found and found.lower,
        "upper": found and found.upper,
        "n": int(values.size),
        "questions": int(np.unique(questions).size),
        **({} if values.size else {"unavailable": "no question was asked on both sides"}),
    }


def _sides(sweep: Sweep) -> dict[str, str]:
    threshold = threshold_of(sweep)
    return {"low": f"< {threshold:g}", "high": f">= {threshold:g}"}


def _paired(sweep: Sweep, series: Series) -> Iterator[dict[str, Any]]:
    high = is_high(sweep, series)
    for outcome in EFFECTS:
        for group, within in _groups(sweep, series):
            values, questions = paired_differences(series, outcome, within & high, within & ~high)
            head = {"method": "paired", "outcome": outcome, **group, **_sides(sweep)}
            yield _row(head, values, questions)


def _pairs(sweep: Sweep, series: Series) -> Iterator[dict[str, Any]]:
    grid = sweep.levels["temperature"][0]
    temperature = _temperatures(sweep)[series.first]
    for outcome in EFFECTS:
        for group, within in _groups(sweep, series):
            for low, high in combinations(grid, 2):
                values, questions = paired_differences(
                    series,
                    outcome,
                    within & (temperature == high),
                    within & (temperature == low),
                )
                head = {"method": "pair", "outcome": outcome, **group, "low": low, "high": high}
                yield _row(head, values, questions)


def _one_hot(sweep: Sweep, series: Series) -> tuple[list[str], _Array]:
    """Columns of the factors beside the temperature, and their names."""
    names: list[str] = []
    columns: list[_Array] = []
    for key in _several(sweep, ("judge_type", "prompt_style", "model")):
        values, codes = sweep.levels[key]
        names += [f"{key}={value}" for value in values]
        of_series = codes[series.first]
        columns += [(of_series == code).astype(np.float64) for code in range(len(values))]
    return names, np.stack(columns, axis=1) if columns else np.zeros((series.first.size, 1))


def _alive(sweep: Sweep, series: Series) -> NDArray[np.bool_]:
    alive: NDArray[np.bool_] = sweep.state[series.first] != OUT
    return alive


def _aipw(sweep: Sweep, series: Series, seed: int) -> Iterator[dict[str, Any]]:
    within = _alive(sweep, series)
    _, covariates = _one_hot(sweep, series)
    high = is_high(sweep, series)
    questions = series.question[within]
    scores = causal.effect_scores(
        covariates[within],
        high[within],
        {name: series.outcome(name)[within] for name in EFFECTS},
        questions,
        seed,
    )
    for outcome in EFFECTS:
        head = {"method": "aipw", "outcome": outcome}
        if isinstance(scores, str) or isinstance(scores[outcome], str):
            reason = scores if isinstance(scores, str) else scores[outcome]
            overall = {"group": "overall", "level": ALL, **_sides(sweep)}
            nothing = dict.fromkeys(("value", "lower", "upper"))
            yield {**head, **overall, **nothing, "n": 0, "questions": 0, "unavailable": reason}
            continue
        of = scores[outcome]
        assert not isinstance(of, str)
        for group, rows in _groups(sweep, series):
            at = rows[within] & np.isfinite(of.psi)
            propensity = of.propensity[at]
            low, most = causal.CLIPPED
            row = _row({**head, **group, **_sides(sweep)}, of.psi[at], questions[at], bounded=False)
            if at.any():
                row |= {
                    "propensity_min": float(propensity.min()),
                    "propensity_max": float(propensity.max()),
                    "clipped": int(((propensity < low) | (propensity > most)).sum()),
                    "engine": causal.engine(),
                }
            yield row


def _attributions(sweep: Sweep, series: Series, seed: int) -> dict[str, _Rows]:
    names, columns = _one_hot(sweep, series)
    temperature = _temperatures(sweep)[series.first]
    names = ["temperature", *names]
    columns = np.column_stack([temperature, columns])[:, : len(names)]
    table: _Rows = []
    points: _Rows = []
    for outcome in EFFECTS:
        y = series.outcome(outcome)
        at = np.flatnonzero(_alive(sweep, series) & np.isfinite(y))
        found = (
            causal.attributions(columns[at], y[at], series.question[at], seed)
            if at.size
            else "no question has this outcome"
        )
        if isinstance(found, str):
            table.append({"outcome": outcome, "unavailable": found})
            continue
        drawn = np.random.default_rng(seed).permutation(at.size)[:_SHOWN]
        for name, column, one in zip(names, columns[at].T, found, strict=True):
            table.append(
                {
                    "outcome": outcome,
                    "feature": name,
                    "value": one.size,
                    "direction": one.direction,
                    "se": one.error,
                    "n": int(at.size),
                }
            )
            points += [
                {"outcome": outcome, "feature": name, "feature_value": x, "shap": shap}
                for x, shap in zip(column[drawn].tolist(), one.values[drawn].tolist(), strict=True)
            ]
    return {"temperature_attributions": table, "temperature_attribution_points": points}


def _majority(
    sweep: Sweep, series: Series, estimates: Sequence[Estimate]
) -> Iterator[dict[str, Any]]:
    each = calls_of(sweep, series)
    temperature = _temperatures(sweep)[series.first]
    for one in estimates:
        if one.measure != MAJORITY_AGREEMENT.name or "temperature" not in one.condition:
            continue
        at, k = temperature == one.condition["temperature"], int(one.condition["k"])
        yield {
            "temperature": one.condition["temperature"],
            "k": k,
            "agreement": one.value,
            "lower": one.clustered and one.clustered.lower,
            "upper": one.clustered and one.clustered.upper,
            "n": one.n,
            "calls": float(k * each[at].mean()),
            **({"unavailable": one.unavailable} if one.value is None else {}),
        }


def _errors(sweep: Sweep) -> Iterator[dict[str, Any]]:
    values, codes = sweep.levels["temperature"]
    words = {UNPARSED: "unparsed", FAILED: "failed", OUT: "refused"}
    for code, temperature in enumerate(values):
        for state, word in words.items():
            at = (codes == code) & (sweep.state == state)
            counts = np.bincount(sweep.reason[at], minlength=len(sweep.reasons))
            ranked = sorted(
                np.flatnonzero(counts).tolist(), key=lambda i: (-counts[i], sweep.reasons[i])
            )
            for index in ranked[:_REASONS]:
                reason, n = sweep.reasons[index], int(counts[index])
                yield {"temperature": temperature, "outcome": word, "reason": reason, "n": n}
            if rest := int(sum(counts[index] for index in ranked[_REASONS:])):
                reason = f"{len(ranked) - _REASONS} other reasons"
                yield {"temperature": temperature, "outcome": word, "reason": reason, "n": rest}
