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
        found = effect_row({**self.head, **self.sides}, self.values, self.questions, self.most)
        return {**found, **self.beside}


def effect_row(head: Row, values: Floats, questions: Codes, most: float | None = 1.0) -> Row:
    """A mean with its clustered interval; ``most``: how far a value can be from 0."""
    within = None if most is None else (-most, most)
    found = clustered_mean(values, questions, within) if values.size else None
    return {
        **head,
        "value": float(values.mean()) if values.size else None,
        "lower": found and found.lower,
        "upper": found and found.upper,
        "n": int(values.size),
        "questions": int(np.unique(questions).size),
        **({} if values.size else {"unavailable": "no question was asked on both sides"}),
    }


def effect_tables(pool: PooledSeries) -> tuple[Rows, Rows]:
    """The effects, overall and by level; and for each factor whether those of its levels differ."""
    contrasts = [*_aipw(pool), *_paired(pool)]
    of_levels = [
        one
        for one in contrasts
        if one.head["method"] != "pair" and one.head["group"] != "overall" and one.values.size
    ]
    key = itemgetter("method", "outcome", "group")
    moderated = [_moderation([*some]) for _, some in groupby(of_levels, lambda one: key(one.head))]
    tested = [row for method in ("aipw", "paired") for row in _family(moderated, method)]
    return [*(one.row for one in contrasts), *paper_effects(pool)], tested


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
            beside = [one for one in plain if one["outcome"] != other]
            family = [*beside, *(one for one in rows if one["outcome"] == outcome)]
        tested = [one for one in family if one["p"] is not None]
        adjusted = {
            (one["outcome"], one["factor"]): step.p
            for one, step in zip(tested, holm([one["p"] for one in tested]), strict=True)
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
    at = pool.temperature
    pairs = [
        ("pair", {"low": low, "high": high}, at == high, at == low)
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
            at = rows[within] & np.isfinite(of.psi)
            propensity = of.propensity[at]
            low, most = causal.CLIPPED
            beside: Row = {}
            if at.any():
                beside = {
                    "propensity_min": float(propensity.min()),
                    "propensity_max": float(propensity.max()),
                    "clipped": int(((propensity < low) | (propensity > most)).sum()),
                    "engine": causal.engine(),
                }
            yield _Contrast({**head, **group}, sides, of.psi[at], questions[at], None, beside)


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
    taken = pool.alive if within is None else pool.alive & within
    groups: list[tuple[Row, Flags]] = [(_OVERALL, taken)]
    groups += [({"group": key, "level": level}, of) for key, level, of in pool.several(*keys)]
    for group, rows in groups:
        at = np.flatnonzero(rows & taken)
        values = {name: pool.values[name][at] for name in outcomes_in(pool)}
        units, question = np.arange(at.size), pool.question[at]
        scores = causal.effect_scores(covariates[at], pool.high[at], values, units, pool.seed)
        for outcome in values:
            head = {"method": PAPER, "outcome": outcome, **group, **_sides(pool)}
            found = scores if isinstance(scores, str) else scores[outcome]
            if isinstance(found, str):
                nothing = dict.fromkeys(("value", "lower", "upper"))
                yield {**head, **nothing, "n": 0, "questions": 0, "unavailable": found}
                continue
            known = np.isfinite(found.psi)
            psi = found.psi[known]
            row = effect_row(head, psi, question[known], None)
            beside = {"clustered_lower": row["lower"], "clustered_upper": row["upper"]}
            ends = None
            if psi.size > 1:
                half = 1.96 * float(psi.std(ddof=1)) / math.sqrt(psi.size)
                ends = row["value"] - half, row["value"] + half
            row |= {"lower": ends and ends[0], "upper": ends and ends[1]}
            yield {**row, **beside, "interval": PAPER_INTERVAL}


def _moderation(levels: list[_Contrast]) -> Row:
    """The differences between the effects of levels, and Hotelling's test of them."""
    effects, head = np.array([one.values.mean() for one in levels]), levels[0].head
    named = [one.head["level"] for one in levels]
    _, codes = np.unique(np.concatenate([one.questions for one in levels]), return_inverse=True)
    parts = np.split(codes, np.cumsum([one.values.size for one in levels])[:-1])
    count, p = int(codes.max()) + 1, len(levels) - 1
    added = np.column_stack(
        [
            np.bincount(part, (one.values - one.values.mean()) / one.values.size, minlength=count)
            for one, part in zip(levels, parts, strict=True)
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
        at = np.flatnonzero(pool.alive & np.isfinite(y))
        found: Any = "no question has this outcome"
        if at.size:
            given = columns[at], y[at], pool.question[at], pool.seed
            found = causal.attributions(*given, [*of_factor.values()])
        if isinstance(found, str):
            table.append({"outcome": outcome, "unavailable": found})
            factors.append({"outcome": outcome, "unavailable": found})
            continue
        drawn = np.random.default_rng(pool.seed).permutation(at.size)[:_SHOWN]
        for place, (name, one) in enumerate(zip(one_hot, found, strict=False)):
            head = {"outcome": outcome, "feature": name}
            sizes = {"value": one.size, "direction": one.direction, "se": one.error}
            table.append({**head, **sizes, "n": int(at.size)})
            seen, shap = columns[at][drawn, place].tolist(), one.values[drawn].tolist()
            pairs = zip(seen, shap, strict=True)
            points += [{**head, "feature_value": x, "shap": value} for x, value in pairs]
        of_factors = found[len(one_hot) :]
        total = sum(one.size for one in of_factors)
        factors += [
            {
                "outcome": outcome,
                "factor": factor,
                "value": one.size,
                "se": one.error,
                "share": one.size / total if total else None,
                "n": int(at.size),
            }
            for factor, one in zip(of_factor, of_factors, strict=True)
        ]
    return table, factors, points
