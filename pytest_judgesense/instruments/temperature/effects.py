r"""The changes at a high temperature: effects by two methods, moderation, attributions.

All of it is taken of the series of a `PooledSeries`: of one judge, or of several on the same
questions.

A level of a factor (a judge type, a prompt style, a model, a data set) has an effect of its own.
Whether these differ is one question for each factor: with m the effects of its L levels, D their
differences to the first, and V the covariance of D over the K questions, which are the clusters::

    V_D = K / (K - 1) sum over questions c of g_c g_c',   g_c = what c adds to D - mean
    F   = (K - p) / (p (K - 1)) D' V_D^-1 D,   p = L - 1,   with p and K - p degrees of freedom

Hotelling's test; of two levels it is the square of Student's t of the paired differences. By each
method the factors and outcomes are one family: ``p_holm`` is Holm's.

An outcome that restates another (agreement over parsed replies, errors of format) stands in its
place in a family of its own.

``aipw_paper`` is the estimate of the paper: rows are split and taken for independent, each subgroup
is fitted anew, and the interval is ``1.96 s / sqrt(N)`` with s the deviation of the scores.

The importance of a factor is that of all its columns together: of each unit the SHAP values of its
one-hot columns are summed, and the mean of the absolute sums is taken, for two levels of one factor
share what they say between their columns in any way. ``share`` is its part of the sum over factors.

References:
    H. Hotelling (1931), The Annals of Mathematical Statistics 2, 360-378.
    S. Lundberg, S.-I. Lee (2017), NeurIPS 30 (SHAP values add up).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.special import fdtrc

from pytest_judgesense.instruments.temperature import causal
from pytest_judgesense.instruments.temperature.measures import EFFECTS, RESTATED
from pytest_judgesense.instruments.temperature.sweep import (
    COVARIATES,
    Codes,
    Flags,
    Floats,
    PooledSeries,
    on,
    paired_differences,
)
from pytest_judgesense.stats.clustered import clustered_mean
from pytest_judgesense.stats.comparison import holm

ALL: Final = "all"
_OVERALL: Final = {"group": "overall", "level": ALL}
_SHOWN: Final = 100  # points of an attribution that are drawn
# The method of the paper, and its interval.
PAPER: Final = "aipw_paper"
PAPER_INTERVAL: Final = "1.96 s / sqrt N"

Row = dict[str, Any]
Rows = list[Row]


class _Contrast(NamedTuple):
    """An effect, unit by unit.

    Attributes:
        head: its method, its outcome and its group.
        sides: the temperatures that are compared.
        values: of each unit, ``questions`` their clusters.
        most: how far a value can be from 0, where that is known.
        beside: what else is said of it.
    """

    head: Row
    sides: Row
    values: Floats
    questions: Codes
    most: float | None = 1.0
    beside: Mapping[str, Any] = {}

    @property
    def row(self) -> Row:
        row = effect_row({**self.head, **self.sides}, self.values, self.questions, self.most)
        return {**row, **self.beside}


def effect_row(head: Row, values: Floats, questions: Codes, most: float | None = 1.0) -> Row:
    """A mean with its clustered interval; ``most``: how far a value can be from 0."""
    within = None if most is None else (-most, most)
    interval = clustered_mean(values, questions, within) if values.size else None
    return {
        **head,
        "value": float(values.mean()) if values.size else None,
        "lower": interval and interval.lower,
        "upper": interval and interval.upper,
        "n": int(values.size),
        "questions": int(np.unique(questions).size),
        **({} if values.size else {"unavailable": "no question was asked on both sides"}),
    }


def effect_tables(pool: PooledSeries) -> tuple[Rows, Rows]:
    """The effects, overall and by level; and for each factor whether those of its levels differ."""
    contrasts = [*_aipw(pool), *_paired(pool)]
    of_levels = [
        contrast
        for contrast in contrasts
        if contrast.head["method"] != "pair"
        and contrast.head["group"] != "overall"
        and contrast.values.size
    ]
    key = itemgetter("method", "outcome", "group")
    moderated = [
        _moderation([*some]) for _, some in groupby(of_levels, lambda contrast: key(contrast.head))
    ]
    tested = [row for method in ("aipw", "paired") for row in _family(moderated, method)]
    return [*(contrast.row for contrast in contrasts), *paper_effects(pool)], tested


def outcomes_in(pool: PooledSeries) -> list[str]:
    """The outcomes whose effects can be taken: of errors of format where a form is prescribed."""
    return [outcome for outcome in EFFECTS if outcome in pool.values]


def _family(moderated: Rows, method: str) -> Iterator[Row]:
    """Rows of a method with Holm's p, of every outcome once."""
    rows = [row for row in moderated if row["method"] == method]
    plain = [row for row in rows if row["outcome"] not in RESTATED]
    for row in rows:
        outcome = row["outcome"]
        family = plain
        if (other := RESTATED.get(outcome)) is not None:
            beside = [row_beside for row_beside in plain if row_beside["outcome"] != other]
            family = [
                *beside,
                *(tested_row for tested_row in rows if tested_row["outcome"] == outcome),
            ]
        tested = [tested_row for tested_row in family if tested_row["p"] is not None]
        adjusted = {
            (tested_row["outcome"], tested_row["factor"]): step.p
            for tested_row, step in zip(
                tested, holm([tested_row["p"] for tested_row in tested]), strict=True
            )
        }
        yield {**row, "p_holm": adjusted.get((outcome, row["factor"]))}


def _groups(pool: PooledSeries) -> Iterator[tuple[Row, Flags]]:
    """The whole, and each level of each factor beside the temperature."""
    yield _OVERALL, np.ones(pool.question.size, dtype=bool)
    for key, value, within in pool.several(*COVARIATES):
        yield {"group": key, "level": value}, within


def _sides(pool: PooledSeries) -> Row:
    return {"low": f"< {pool.threshold:g}", "high": f">= {pool.threshold:g}"}


def _paired(pool: PooledSeries) -> Iterator[_Contrast]:
    """Differences within questions: on both sides of the threshold, and by pair of temperatures."""
    temperature = pool.temperature
    pairs = [
        ("pair", {"low": low, "high": high}, temperature == high, temperature == low)
        for low, high in combinations(pool.levels["temperature"][0], 2)
    ]
    for compared in ([("paired", _sides(pool), pool.high, ~pool.high)], pairs):
        for outcome in outcomes_in(pool):
            for group, within in _groups(pool):
                for method, sides, high, low in compared:
                    head = {"method": method, "outcome": outcome, **group}
                    ends = (on(within & side, pool.values[outcome]) for side in (high, low))
                    yield _Contrast(head, sides, *paired_differences(pool, *ends))


def _one_hot(pool: PooledSeries) -> dict[str, tuple[str, Floats]]:
    """Columns of the factors other than temperature by name, each with its factor."""
    return {
        f"{key}={value}": (key, within.astype(np.float64))
        for key, value, within in pool.several(*COVARIATES)
    }


def _aipw(pool: PooledSeries) -> Iterator[_Contrast]:
    within, questions = pool.alive, pool.question[pool.alive]
    columns = [column for _, column in _one_hot(pool).values()] or [np.zeros(within.size)]
    scores = causal.effect_scores(
        np.column_stack(columns)[within],
        pool.high[within],
        {name: pool.values[name][within] for name in outcomes_in(pool)},
        questions,
        pool.seed,
    )
    for outcome in outcomes_in(pool):
        head, sides = {"method": "aipw", "outcome": outcome}, _sides(pool)
        of = scores if isinstance(scores, str) else scores[outcome]
        if isinstance(of, str):
            nothing = np.zeros(0), questions[:0], None
            yield _Contrast({**head, **_OVERALL}, sides, *nothing, {"unavailable": of})
            continue
        for group, rows in _groups(pool):
            usable = rows[within] & np.isfinite(of.psi)
            propensity = of.propensity[usable]
            low, most = causal.CLIPPED
            beside: Row = {}
            if usable.any():
                beside = {
                    "propensity_min": float(propensity.min()),
                    "propensity_max": float(propensity.max()),
                    "clipped": int(((propensity < low) | (propensity > most)).sum()),
                    "engine": causal.engine(),
                }
            yield _Contrast(
                {**head, **group}, sides, of.psi[usable], questions[usable], None, beside
            )


def paper_effects(
    pool: PooledSeries, within: Flags | None = None, keys: Sequence[str] = COVARIATES
) -> Iterator[Row]:
    """AIPW on rows that count as independent, fitted anew in each group: the estimate of the paper.

    The interval of its scores that is clustered by question stands beside the paper's.

    Args:
        pool: the units.
        within: those that are taken; all by default.
        keys: the factors whose levels are groups.
    """
    columns = [column for _, column in _one_hot(pool).values()] or [np.zeros(pool.alive.size)]
    covariates = np.column_stack(columns)
    selected = pool.alive if within is None else pool.alive & within
    groups: list[tuple[Row, Flags]] = [(_OVERALL, selected)]
    groups += [({"group": key, "level": level}, of) for key, level, of in pool.several(*keys)]
    for group, rows in groups:
        positions = np.flatnonzero(rows & selected)
        values = {name: pool.values[name][positions] for name in outcomes_in(pool)}
        units, question = np.arange(positions.size), pool.question[positions]
        scores = causal.effect_scores(
            covariates[positions], pool.high[positions], values, units, pool.seed
        )
        for outcome in values:
            head = {"method": PAPER, "outcome": outcome, **group, **_sides(pool)}
            of_outcome = scores if isinstance(scores, str) else scores[outcome]
            if isinstance(of_outcome, str):
                nothing = dict.fromkeys(("value", "lower", "upper"))
                yield {**head, **nothing, "n": 0, "questions": 0, "unavailable": of_outcome}
                continue
            defined = np.isfinite(of_outcome.psi)
            psi = of_outcome.psi[defined]
            row = effect_row(head, psi, question[defined], None)
            beside = {"clustered_lower": row["lower"], "clustered_upper": row["upper"]}
            ends = None
            if psi.size > 1:
                half = 1.96 * float(psi.std(ddof=1)) / math.sqrt(psi.size)
                ends = row["value"] - half, row["value"] + half
            row |= {"lower": ends and ends[0], "upper": ends and ends[1]}
            yield {**row, **beside, "interval": PAPER_INTERVAL}


def _moderation(levels: list[_Contrast]) -> Row:
    """The differences between the effects of levels, and Hotelling's test of them."""
    effects, head = np.array([contrast.values.mean() for contrast in levels]), levels[0].head
    named = [contrast.head["level"] for contrast in levels]
    _, codes = np.unique(
        np.concatenate([contrast.questions for contrast in levels]), return_inverse=True
    )
    parts = np.split(codes, np.cumsum([contrast.values.size for contrast in levels])[:-1])
    count, p = int(codes.max()) + 1, len(levels) - 1
    added = np.column_stack(
        [
            np.bincount(
                part,
                (contrast.values - contrast.values.mean()) / contrast.values.size,
                minlength=count,
            )
            for contrast, part in zip(levels, parts, strict=True)
        ]
    )
    row = {
        "method": head["method"],
        "outcome": head["outcome"],
        "factor": head["group"],
        "least": float(effects.min()),
        "least_at": named[int(effects.argmin())],
        "most": float(effects.max()),
        "most_at": named[int(effects.argmax())],
        "range": float(np.ptp(effects)),
        "questions": count,
        "F": None,
        "df": p,
        "df_error": count - p,
        "p": None,
    }
    if p < 1 or count <= p:
        return {**row, "unavailable": f"{len(levels)} levels and {count} questions are too few"}
    differences = effects[1:] - effects[0]
    spread = added[:, 1:] - added[:, :1]
    covariance = count / (count - 1) * spread.T @ spread
    if np.linalg.matrix_rank(covariance, hermitian=True) < p:
        return {**row, "unavailable": "the differences do not vary between questions"}
    distance = float(differences @ np.linalg.solve(covariance, differences))
    statistic = (count - p) / (p * (count - 1)) * distance
    return {**row, "F": statistic, "p": float(fdtrc(p, count - p, statistic))}


def attribution_tables(pool: PooledSeries) -> tuple[Rows, Rows, Rows]:
    """SHAP values by feature and by factor, and points of them that are drawn."""
    one_hot = {"temperature": ("temperature", pool.temperature), **_one_hot(pool)}
    columns = np.column_stack([column for _, column in one_hot.values()])
    of_factor: dict[str, list[int]] = {}
    for place, (factor, _) in enumerate(one_hot.values()):
        of_factor.setdefault(factor, []).append(place)
    table: Rows = []
    factors: Rows = []
    points: Rows = []
    for outcome in outcomes_in(pool):
        y = pool.values[outcome]
        usable = np.flatnonzero(pool.alive & np.isfinite(y))
        attributed: Any = "no question has this outcome"
        if usable.size:
            arguments = columns[usable], y[usable], pool.question[usable], pool.seed
            attributed = causal.attributions(*arguments, [*of_factor.values()])
        if isinstance(attributed, str):
            table.append({"outcome": outcome, "unavailable": attributed})
            factors.append({"outcome": outcome, "unavailable": attributed})
            continue
        drawn = np.random.default_rng(pool.seed).permutation(usable.size)[:_SHOWN]
        for place, (name, attribution) in enumerate(zip(one_hot, attributed, strict=False)):
            head = {"outcome": outcome, "feature": name}
            sizes = {
                "value": attribution.size,
                "direction": attribution.direction,
                "se": attribution.error,
            }
            table.append({**head, **sizes, "n": int(usable.size)})
            feature_values, shap = (
                columns[usable][drawn, place].tolist(),
                attribution.values[drawn].tolist(),
            )
            pairs = zip(feature_values, shap, strict=True)
            points += [{**head, "feature_value": x, "shap": value} for x, value in pairs]
        of_factors = attributed[len(one_hot) :]
        total = sum(attribution.size for attribution in of_factors)
        factors += [
            {
                "outcome": outcome,
                "factor": factor,
                "value": attribution.size,
                "se": attribution.error,
                "share": attribution.size / total if total else None,
                "n": int(usable.size),
            }
            for factor, attribution in zip(of_factor, of_factors, strict=True)
        ]
    return table, factors, points


def factor_points(pool: PooledSeries) -> tuple[Rows, dict[str, str]]:
    """Points of the SHAP values by factor, to be drawn; and outcomes without any, with the reason.

    The value of a factor is its level, the number of the temperature or a name.
    """
    one_hot = {"temperature": ("temperature", pool.temperature), **_one_hot(pool)}
    columns = np.column_stack([column for _, column in one_hot.values()])
    of_factor: dict[str, list[int]] = {}
    for place, (factor, _) in enumerate(one_hot.values()):
        of_factor.setdefault(factor, []).append(place)
    points: Rows = []
    reasons: dict[str, str] = {}
    for outcome in outcomes_in(pool):
        usable = np.flatnonzero(pool.alive & np.isfinite(pool.values[outcome]))
        attributed: Any = "no question has this outcome"
        if usable.size:
            y, questions = pool.values[outcome][usable], pool.question[usable]
            arguments = columns[usable], y, questions, pool.seed, [*of_factor.values()]
            attributed = causal.attributions(*arguments, resamples=0)
        if isinstance(attributed, str):
            reasons[outcome] = attributed
            continue
        drawn = np.random.default_rng(pool.seed).permutation(usable.size)[:_SHOWN]
        for factor, attribution in zip(of_factor, attributed[len(one_hot) :], strict=True):
            levels, codes = pool.levels[factor]
            named = [levels[code] for code in codes[usable][drawn].tolist()]
            values = attribution.values[drawn].tolist()
            points += [
                {"outcome": outcome, "feature": factor, "feature_value": level, "shap": value}
                for level, value in zip(named, values, strict=True)
            ]
    return points, reasons
