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

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.temperature import causal
from pytest_judgesense.instruments.temperature.estimators import calls_of
from pytest_judgesense.instruments.temperature.measures import EFFECTS, MAJORITY_AGREEMENT
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
    means_of,
    paired_differences,
    series_of,
    sweep_of,
)
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.clustered import clustered_mean

ALL: Final = "all"
_OVERALL: Final = {"group": "overall", "level": ALL}
_SHOWN: Final = 100  # points of an attribution that are drawn
_REASONS: Final = 20  # of a temperature; the rest is summed up

_Row = dict[str, Any]
_Rows = list[_Row]


def temperature_tables(cell: Cell, estimates: Sequence[Estimate]) -> Mapping[str, _Rows]:
    """All tables of a cell by name, made once; none where no temperature is known."""
    return cell.once("tables", lambda: _tables(cell, estimates))


def rows(name: str, cell: Cell, estimates: Sequence[Estimate], _: object) -> _Rows | None:
    """The table of that name."""
    return temperature_tables(cell, estimates).get(name)


def _tables(cell: Cell, estimates: Sequence[Estimate]) -> dict[str, _Rows]:
    sweep = sweep_of(cell)
    if "temperature" not in sweep.levels:
        return {}
    series = series_of(sweep)
    return {
        "temperature_table": list(_table(sweep, series)),
        "temperature_correlations": list(_correlations(sweep, series)),
        "temperature_effects": [*_aipw(sweep, series), *_paired(sweep, series)],
        **_attributions(sweep, series),
        "temperature_majority": list(_majority(sweep, series, estimates)),
        "temperature_errors": list(_errors(sweep)),
    }


def _several(sweep: Sweep, *keys: str) -> list[str]:
    return [key for key in keys if key in sweep.levels and len(sweep.levels[key][0]) > 1]


def _table(sweep: Sweep, series: Series) -> Iterator[_Row]:
    """Rows by the three factors, then margins, then the same by each source."""
    kinds = [key for key in FACTORS if key in sweep.levels and key != "temperature"]
    for source in ((), *((key,) for key in _several(sweep, *SOURCES))):
        for size in range(len(kinds), -1, -1):
            for chosen in combinations(kinds, size):
                for keys in ((*chosen, "temperature"), chosen):
                    yield from _spreads(sweep, series, (*keys, *source))


def _spreads(sweep: Sweep, series: Series, keys: Sequence[str]) -> Iterator[_Row]:
    codes, conditions = sweep.codes(keys)
    replicates, replicate = np.unique(sweep.replicate, return_inverse=True)
    shape = len(conditions), replicates.size
    place = codes * replicates.size + replicate.reshape(-1)

    def sums(of: Flags) -> Floats:
        return np.bincount(place[of], minlength=shape[0] * shape[1]).reshape(shape).astype(float)

    parsed, unparsed = sweep.state == VERDICT, sweep.state == UNPARSED
    labelled = sweep.gold >= 0
    right = parsed & labelled & (sweep.content == sweep.gold)
    rates = {
        "agreement": (sums(right), sums((parsed | unparsed) & labelled)),
        "agreement_parsed": (sums(right), sums(parsed & labelled)),
        "error_rate": (sums(unparsed), sums(parsed | unparsed)),
    }
    of_series = codes[series.first]
    asked = np.bincount(codes[sweep.state != OUT], minlength=len(conditions))
    for code, condition in enumerate(conditions):
        row: _Row = {key: condition.get(key, ALL) for key in FACTORS}
        row |= {key: condition[key] for key in SOURCES if key in condition}
        row["n"] = int(asked[code])
        for name, (ones, all_) in rates.items():
            some = all_[code] > 0
            row |= _spread(name, ones[code][some] / all_[code][some])
        values = series.values["consistency"][of_series == code]
        row |= _spread("consistency", values[np.isfinite(values)])
        yield row


def _spread(name: str, values: Floats) -> dict[str, float | None]:
    return {
        f"{name}_mean": float(values.mean()) if values.size else None,
        f"{name}_sd": float(values.std(ddof=1)) if values.size > 1 else None,
    }


def _levels(sweep: Sweep, series: Series, *keys: str) -> Iterator[tuple[str, Value, Flags]]:
    """Each level of each of the ``keys`` that has several, and the series of it."""
    for key in _several(sweep, *keys):
        values, codes = sweep.levels[key]
        for code, value in enumerate(values):
            yield key, value, codes[series.first] == code


def _correlations(sweep: Sweep, series: Series) -> Iterator[_Row]:
    columns = {"temperature": series.temperature} | {name: series.values[name] for name in EFFECTS}
    found, at = np.unique(series.temperature, return_inverse=True)

    def of(level: str, table: Mapping[str, Floats], **condition: Value) -> Iterator[_Row]:
        for x, y in combinations(table, 2):
            both = np.isfinite(table[x]) & np.isfinite(table[y])
            r = _pearson(table[x][both], table[y][both])
            yield {"level": level, **condition, "x": x, "y": y, "r": r, "n": int(both.sum())}

    def means(within: Flags) -> dict[str, Floats]:
        return {name: means_of(v[within], at[within], found.size) for name, v in columns.items()}

    yield from of("means", means(np.ones(at.size, dtype=bool)))
    yield from of("rows", columns)
    for _, model, within in _levels(sweep, series, "model"):
        yield from of("means", means(within), model=model)


def _pearson(x: Floats, y: Floats) -> float | None:
    """Pearson's r; ``None`` for fewer than three pairs, or where one does not vary."""
    if x.size < 3 or np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _groups(sweep: Sweep, series: Series) -> Iterator[tuple[_Row, Flags]]:
    """The whole, and each level of each factor beside the temperature."""
    yield _OVERALL, np.ones(series.first.size, dtype=bool)
    for key, value, within in _levels(sweep, series, "judge_type", "prompt_style", "model"):
        yield {"group": key, "level": value}, within


def _effect(head: _Row, values: Floats, questions: Codes, most: float | None = 1.0) -> _Row:
    """A mean with its clustered interval; ``most``: how far a value can be from 0."""
    least = None if most is None else -most
    found = clustered_mean(values, questions, lower=least, upper=most) if values.size else None
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
    return {"low": f"< {sweep.threshold:g}", "high": f">= {sweep.threshold:g}"}


def _paired(sweep: Sweep, series: Series) -> Iterator[_Row]:
    """Differences within questions: on both sides of the threshold, and by pair of temperatures."""
    at = series.temperature
    pairs = [
        ("pair", {"low": low, "high": high}, at == high, at == low)
        for low, high in combinations(sweep.levels["temperature"][0], 2)
    ]
    for compared in ([("paired", _sides(sweep), series.high, ~series.high)], pairs):
        for outcome in EFFECTS:
            for group, within in _groups(sweep, series):
                for method, sides, high, low in compared:
                    head = {"method": method, "outcome": outcome, **group, **sides}
                    found = paired_differences(series, outcome, within & high, within & low)
                    yield _effect(head, *found)


def _one_hot(sweep: Sweep, series: Series) -> dict[str, Floats]:
    """Columns of the factors beside the temperature, by name."""
    levels = _levels(sweep, series, "judge_type", "prompt_style", "model")
    return {f"{key}={value}": within.astype(np.float64) for key, value, within in levels}


def _aipw(sweep: Sweep, series: Series) -> Iterator[_Row]:
    within, questions = series.alive, series.question[series.alive]
    columns = [*_one_hot(sweep, series).values()] or [np.zeros(series.first.size)]
    scores = causal.effect_scores(
        np.column_stack(columns)[within],
        series.high[within],
        {name: series.values[name][within] for name in EFFECTS},
        questions,
        sweep.cell.seed,
    )
    for outcome in EFFECTS:
        head = {"method": "aipw", "outcome": outcome}
        of = scores if isinstance(scores, str) else scores[outcome]
        if isinstance(of, str):
            head |= {**_OVERALL, **_sides(sweep)}
            nothing = dict.fromkeys(("value", "lower", "upper"))
            yield {**head, **nothing, "n": 0, "questions": 0, "unavailable": of}
            continue
        for group, rows in _groups(sweep, series):
            at = rows[within] & np.isfinite(of.psi)
            propensity = of.propensity[at]
            low, most = causal.CLIPPED
            row = _effect({**head, **group, **_sides(sweep)}, of.psi[at], questions[at], None)
            if at.any():
                row |= {
                    "propensity_min": float(propensity.min()),
                    "propensity_max": float(propensity.max()),
                    "clipped": int(((propensity < low) | (propensity > most)).sum()),
                    "engine": causal.engine(),
                }
            yield row


def _attributions(sweep: Sweep, series: Series) -> dict[str, _Rows]:
    named = {"temperature": series.temperature, **_one_hot(sweep, series)}
    columns, seed = np.column_stack([*named.values()]), sweep.cell.seed
    table: _Rows = []
    points: _Rows = []
    for outcome in EFFECTS:
        y = series.values[outcome]
        at = np.flatnonzero(series.alive & np.isfinite(y))
        found: Any = "no question has this outcome"
        if at.size:
            found = causal.attributions(columns[at], y[at], series.question[at], seed)
        if isinstance(found, str):
            table.append({"outcome": outcome, "unavailable": found})
            continue
        drawn = np.random.default_rng(seed).permutation(at.size)[:_SHOWN]
        for (name, column), one in zip(named.items(), found, strict=True):
            head = {"outcome": outcome, "feature": name}
            sizes = {"value": one.size, "direction": one.direction, "se": one.error}
            table.append({**head, **sizes, "n": int(at.size)})
            drawn_pairs = zip(column[at][drawn].tolist(), one.values[drawn].tolist(), strict=True)
            points += [{**head, "feature_value": x, "shap": shap} for x, shap in drawn_pairs]
    return {"temperature_attributions": table, "temperature_attribution_points": points}


def _majority(sweep: Sweep, series: Series, estimates: Sequence[Estimate]) -> Iterator[_Row]:
    each = calls_of(sweep, series)
    for one in estimates:
        if one.measure != MAJORITY_AGREEMENT.name or "temperature" not in one.condition:
            continue
        at, k = one.condition["temperature"], int(one.condition["k"])
        yield {
            "temperature": at,
            "k": k,
            "agreement": one.value,
            "lower": one.clustered and one.clustered.lower,
            "upper": one.clustered and one.clustered.upper,
            "n": one.n,
            "calls": float(k * each[series.temperature == at].mean()),
            **({"unavailable": one.unavailable} if one.value is None else {}),
        }


def _errors(sweep: Sweep) -> Iterator[_Row]:
    values, codes = sweep.levels["temperature"]
    words = {UNPARSED: "unparsed", FAILED: "failed", OUT: "refused"}
    for code, temperature in enumerate(values):
        for state, word in words.items():
            said = sweep.reason[(codes == code) & (sweep.state == state)]
            counts = np.bincount(said, minlength=len(sweep.reasons)).tolist()
            known = zip(sweep.reasons, counts, strict=True)
            ranked = sorted(((reason, n) for reason, n in known if n), key=lambda r: (-r[1], r[0]))
            shown, rest = ranked[:_REASONS], ranked[_REASONS:]
            if rest:
                shown.append((f"{len(rest)} other reasons", sum(n for _, n in rest)))
            for reason, n in shown:
                yield {"temperature": temperature, "outcome": word, "reason": reason, "n": n}
