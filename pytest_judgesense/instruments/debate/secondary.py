r"""Tables beside the ranking of judge configurations: plain values, as datasheets hold them.

``ranking``, ``ranking_sensitivity`` (its winner under other weights and composites),
``ranking_thresholds`` (configurations in each band, as the thresholds stand and when one is moved),
``ranking_intervals`` (percentile bootstrap over topics, of ranks and of measures),
``ranking_recommendation`` (what the recommendation takes into account, see `ranking`),
``configuration_pairs`` and ``model_pairs`` (every two compared over topics, see `leaderboard`),
``configuration_agreement`` (share of the debates with one winner for each pair; Krippendorff's
nominal alpha over all configurations) and ``by_category`` (the measures by category of topics).

The secondary analyses describe, and decide nothing:

- ``anova``: repeated measures over topics, within factors model and prompt (`statsmodels` AnovaRM),
  of the instability that one topic shows: :math:`w_1` flip share + :math:`w_2` mean score variance
  + :math:`w_3` confidence variance. Side bias has no meaning on one topic. Without a correction for
  sphericity;
- ``post_hoc``: Student's paired t test over topics for each pair of configurations, of the same
  values; p Bonferroni-corrected for their number;
- ``post_hoc_models``: the same for each pair of models, of the mean over the prompts that all
  models have; p Bonferroni-corrected for the number of pairs of models;
- ``measure_correlation``: Pearson's r of the four components over configurations;
- ``measure_pca``: principal components of the standardised components (singular values).

If there are too few configurations, topics or differences, a table is ``unavailable`` with the
reason.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from pytest_judgesense.instruments.debate.estimators import COMPONENTS, Tally, components, rows_of
from pytest_judgesense.instruments.debate.measures import (
    DEGENERATE,
    INSTABILITY,
    RANK,
    SCORE_VARIANCE,
)
from pytest_judgesense.instruments.debate.ranking import (
    BANDS,
    RESAMPLES,
    Floats,
    Ranking,
    band_of,
    by_topic,
    ranking_of,
)
from pytest_judgesense.instruments.leaderboard import pair_rows
from pytest_judgesense.stats.krippendorff import krippendorff_alpha
from pytest_judgesense.stats.ranks import Standings
from pytest_judgesense.trial import grouped

# How far the thresholds of the bands are moved, to show their influence.
_MOVES: Final = {"repeat_flip_rate": (-0.05, 0.05), "side_bias": (-0.02, 0.02)}
_INSTALL: Final = "statsmodels is not installed: pip install 'pytest-judgesense[analysis]'"
_FEWEST: Final = 3  # configurations, to correlate measures over
# Of the variance: a component with less has a direction that depends on the machine's libraries.
_NOTHING: Final = 1e-12

_Rows = list[dict[str, Any]]
_Tallies = Mapping[str, Sequence[Tally]]


def analyses_of(
    suite: str, materials: Mapping[str, Mapping[str, Any]], seed: int, *, secondary: bool = False
) -> dict[str, _Rows]:
    """The ranking and its further tables, by name of the table; see `ranking_of`."""
    ranking, tallies = ranking_of(suite, dict(sorted(materials.items())), seed)
    ranked = {row.name: tallies[row.name] for row in ranking.rows}
    tables = {
        "ranking": _ranked(ranking),
        "ranking_basis": [_basis(ranking)],
        "ranking_sensitivity": [
            {"variant": v, "winner": w, "changed": c} for v, w, c in ranking.reliance
        ],
        "ranking_thresholds": list(_thresholds(ranking)),
        "configuration_agreement": _agreement(ranked),
        "by_category": list(_by_category(ranked, ranking.weights)),
        "configuration_pairs": _pairs(ranking.standings),
        "model_pairs": _pairs(ranking.models),
        "ranking_intervals": list(_intervals(ranking)),
        "ranking_recommendation": _recommended(ranking),
    }
    if not secondary:
        return tables
    names = sorted(ranked)
    topics, cells = _cells([ranked[name] for name in names], ranking.weights)
    return tables | {
        "anova": _anova(names, topics, cells),
        "post_hoc": _post_hoc(names, cells, "configurations"),
        "post_hoc_models": _post_hoc(*_by_model(names, cells), "models"),
        **_described(np.array([list(row.parts.values()) for row in ranking.rows])),
    }


def _pairs(compared: Standings | None) -> _Rows:
    return pair_rows(compared, INSTABILITY.name, -1) if compared else []


def _intervals(ranking: Ranking) -> Iterator[dict[str, Any]]:
    for row in ranking.rows:
        values = {RANK.name: row.rank, INSTABILITY.name: row.instability, **row.parts}
        for measure, ends in row.intervals.items():
            lower, upper = ends or (None, None)
            yield {
                "configuration": row.name,
                "measure": measure,
                "value": values[measure],
                "lower": lower,
                "upper": upper,
                "level": 0.95,
                **({} if ends else {"unavailable": "all topics are alike"}),
            }


def _recommended(ranking: Ranking) -> _Rows:
    candidates = ranking.candidates
    return [
        {
            "configuration": row.name,
            DEGENERATE: row.is_degenerate,
            "recommended": row.name == ranking.recommended,
            "recommended_by_ranks": row.name == next(iter(candidates)),
            "may_be_first": row.name in candidates,
            "sum_of_ranks": candidates.get(row.name),
            INSTABILITY.name: row.instability,
            SCORE_VARIANCE.name: row.parts[SCORE_VARIANCE.name],
            "prompt_disagreement": row.prompt_disagreement,
        }
        for row in ranking.rows
    ]


def _basis(ranking: Ranking) -> dict[str, Any]:
    """The basis of the ranking, what it leaves out, and what it recommends."""
    return {
        "weights": dict(zip(COMPONENTS, ranking.weights, strict=True)),
        "denominator": "n - 1" if ranking.ddof else "n",
        "debates": ranking.debates,
        "topics": ranking.topics,
        "runs": ranking.runs,
        "resamples": RESAMPLES,
        "excluded": dict(ranking.excluded),
        "recommendation": ranking.recommendation,
    }


def _ranked(ranking: Ranking) -> _Rows:
    return [
        {
            "rank": row.rank,
            "ranks": list(row.ranks),
            "configuration": row.name,
            DEGENERATE: row.is_degenerate,
            "instability": row.instability,
            **row.parts,
            "repeat_flip_band": row.band("repeat_flip_rate"),
            "side_bias_band": row.band("side_bias"),
            "rank_shares": list(row.shares),
            "left_out_ranks": list(row.left_out),
        }
        for row in ranking.rows
    ]


def _thresholds(ranking: Ranking) -> Iterator[dict[str, Any]]:
    """How many configurations are in each band, with the thresholds as they are and moved."""
    for measure, (low, high) in BANDS.items():
        down, up = _MOVES[measure]
        before = {row.name: row.band(measure) for row in ranking.rows}
        for moved in ((0.0, 0.0), (down, 0.0), (up, 0.0), (0.0, down), (0.0, up)):
            limits = low + moved[0], high + moved[1]
            after = {row.name: band_of(row.parts[measure], limits) for row in ranking.rows}
            counts = Counter(after.values())
            yield {
                "measure": measure,
                "low_below": round(limits[0], 4),
                "high_above": round(limits[1], 4),
                **{band: counts[band] for band in ("low", "medium", "high")},
                "moved": [name for name in after if after[name] != before[name]],
            }


def _agreement(tallies: _Tallies) -> _Rows:
    """Share of debates with one winner for each pair; in the last row alpha over all."""
    winners = {name: {t.debate: t.winner for t in some} for name, some in tallies.items()}
    rows: _Rows = []
    for first, other in combinations(winners, 2):
        pairs = [(winner, winners[other].get(debate)) for debate, winner in winners[first].items()]
        both = [a == b for a, b in pairs if a and b]
        share = sum(both) / len(both) if both else None
        rows.append({"pair": [first, other], "debates": len(both), "agreement": share})
    debates = dict.fromkeys(debate for of in winners.values() for debate in of)
    units = [[of.get(debate) for of in winners.values()] for debate in debates]
    alpha = krippendorff_alpha(units)
    return [*rows, {"krippendorff_alpha": alpha, "configurations": list(winners)}]


def _by_category(tallies: _Tallies, weights: Sequence[float]) -> Iterator[dict[str, Any]]:
    for category in sorted({t.category for some in tallies.values() for t in some} - {""}):
        for name, some in tallies.items():
            counted = [tally for tally in some if tally.category == category]
            parts = components(rows_of(counted).sum(axis=0))
            yield {
                "category": category,
                "configuration": name,
                "debates": len(counted),
                "instability": _finite(parts @ np.array(weights)),
                **{part: _finite(value) for part, value in zip(COMPONENTS, parts, strict=True)},
            }


def _cells(
    tallies: Sequence[Sequence[Tally]], weights: Sequence[float]
) -> tuple[list[str], Floats]:
    """Topics that all have, and the instability of each there, shape (configurations, topics)."""
    sums = [by_topic([tally for tally in some if tally.variances is not None]) for some in tallies]
    topics = [topic for topic in sums[0] if all(topic in of for of in sums)] if sums else []
    rows = np.array([[of[topic] for topic in topics] for of in sums], dtype=np.float64)
    cells = components(rows.reshape(len(sums), len(topics), 6))[..., :3]
    return topics, cells @ np.array(weights[:3])


def _unavailable(reason: str) -> _Rows:
    return [{"unavailable": reason}]


def _anova(names: Sequence[str], topics: Sequence[str], cells: Floats) -> _Rows:
    pairs = [name.rpartition(":")[::2] for name in names]
    models, prompts = ({pair[i] for pair in pairs} for i in (0, 1))
    within = [f for f, levels in (("model", models), ("prompt", prompts)) if len(levels) > 1]
    if not within or len(pairs) != len(models) * len(prompts):
        reason = "needs two or more models or prompts, each model under each prompt"
        return _unavailable(f"{reason}; found {len(names)} configurations")
    if len(topics) < 2:
        return _unavailable(f"needs two or more topics, found {len(topics)}")
    if np.ptp(cells) == 0:
        return _unavailable("all configurations are alike on all topics")
    try:
        from pandas import DataFrame
        from statsmodels.stats.anova import AnovaRM
    except ImportError:
        return _unavailable(_INSTALL)
    values = [
        {"topic": topic, "model": model, "prompt": prompt, "value": value}
        for (model, prompt), of in zip(pairs, cells.tolist(), strict=True)
        for topic, value in zip(topics, of, strict=True)
    ]
    table = AnovaRM(DataFrame(values), "value", "topic", within=within).fit().anova_table
    return [
        {
            "effect": str(effect).replace(":", " x "),
            "F": _finite(line["F Value"]),
            "df": float(line["Num DF"]),
            "df_error": float(line["Den DF"]),
            "p": _finite(line["Pr > F"]),
            "response": "instability of a topic, side bias left out",
            "topics": len(topics),
        }
        for effect, line in table.iterrows()
    ]


def _by_model(names: Sequence[str], cells: Floats) -> tuple[list[str], Floats]:
    """Models, and the mean of each topic over the prompts that all of them have."""
    prompts = grouped(names, lambda name: name.rpartition(":")[0])
    own = [{name.rpartition(":")[2] for name in some} for some in prompts.values()]
    common = set.intersection(*own) if own else set()
    if not common:
        return [], np.empty((0, cells.shape[1]))
    rows = [
        cells[[names.index(name) for name in some if name.rpartition(":")[2] in common]]
        for some in prompts.values()
    ]
    return list(prompts), np.stack([of_model.mean(axis=0) for of_model in rows])


def _post_hoc(names: Sequence[str], cells: Floats, of: str) -> _Rows:
    pairs = list(combinations(range(len(names)), 2))
    if not pairs or cells.shape[1] < 2:
        shape = " x ".join(map(str, cells.shape))
        return _unavailable(f"needs two {of} and two topics, found {shape}")
    rows: _Rows = []
    for i, j in pairs:
        differences = cells[i] - cells[j]
        row = {"pair": [names[i], names[j]], "difference": float(differences.mean())}
        row |= {"topics": len(differences), "t": None, "p_bonferroni": None}
        if np.ptp(differences) == 0:
            row["unavailable"] = "every topic differs alike"
        else:
            t, p = paired_t(differences)
            row |= {"t": t, "p_bonferroni": min(1.0, p * len(pairs))}
        rows.append({**row, "comparisons": len(pairs)})
    return rows


def _described(parts: Floats) -> dict[str, _Rows]:
    """Correlations and principal components of the components that differ."""
    count = len(parts)
    varying = [i for i in range(len(COMPONENTS)) if count and np.ptp(parts[:, i]) > 0]
    if count < _FEWEST or len(varying) < 2:
        reason = "fewer than two measures differ between configurations"
        if count < _FEWEST:
            reason = f"needs {_FEWEST} or more configurations, found {count}"
        return dict.fromkeys(("measure_correlation", "measure_pca"), _unavailable(reason))
    names, chosen = [COMPONENTS[i] for i in varying], parts[:, varying]
    scaled = (chosen - chosen.mean(axis=0)) / chosen.std(axis=0)
    matrix = scaled.T @ scaled / count  # of standardised columns: Pearson's r
    _, singular, loadings = np.linalg.svd(scaled, full_matrices=False)
    shares = singular**2 / (singular**2).sum()
    # The sign of a component is arbitrary: here its greatest loading is positive.
    signs = [np.sign(loading[np.abs(loading).argmax()]) for loading in loadings]

    def named(values: Floats) -> dict[str, float]:
        return dict(zip(names, values.tolist(), strict=True))

    return {
        "measure_correlation": [
            {"measure": name, **named(row), "configurations": count}
            for name, row in zip(names, matrix, strict=True)
        ],
        "measure_pca": [
            {
                "component": place + 1,
                "explained": float(shares[place]),
                **named(sign * loadings[place]),
                "configurations": count,
            }
            for place, sign in enumerate(signs)
            if shares[place] > _NOTHING
        ],
    }


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def paired_t(differences: NDArray[np.float64]) -> tuple[float, float]:
    r"""Student's t test of paired differences: the statistic t and its two-sided p-value.

    With differences d of n pairs, their mean m and standard deviation s (divisor n - 1)::

        t = m / (s / sqrt(n)),   p = 2 P(T <= -|t|),   T Student's t with n - 1 degrees of freedom

    `scipy.stats.ttest_rel` gives the same; importing `scipy.stats` takes longer than a replay.

    Reference: Student (1908), The probable error of a mean, Biometrika 6(1), 1-25.

    Args:
        differences: one a pair, shape (n,); two or more, not all equal.

    Returns:
        t, without a unit, and p within [0, 1].
    """
    n = len(differences)
    t = float(differences.mean() / (differences.std(ddof=1) / math.sqrt(n)))
    return t, float(2 * stdtr(n - 1, -abs(t)))
