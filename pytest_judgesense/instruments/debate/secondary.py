r"""Tables beside the ranking of judge configurations: plain values, as datasheets hold them.

``ranking``, ``ranking_sensitivity`` (its winner under other weights and composites),
``ranking_thresholds`` (configurations in each band, as the thresholds stand and when one is moved),
``configuration_agreement`` (share of the debates with one winner for each pair; Krippendorff's
nominal alpha over all configurations) and ``by_category`` (the measures by category of topics).

The secondary analyses describe, and decide nothing:

- ``anova``: repeated measures over topics, within factors model and prompt (`statsmodels` AnovaRM),
  of the instability that one topic shows: :math:`w_1` flip share + :math:`w_2` mean score variance
  + :math:`w_3` confidence variance. Side bias has no meaning on one topic. Without a correction for
  sphericity;
- ``post_hoc``: Student's paired t test over topics for each pair of configurations, of the same
  values; p Bonferroni-corrected for their number;
- ``measure_correlation``: Pearson's r of the four components over configurations;
- ``measure_pca``: principal components of the standardised components (singular values).

What too few configurations, topics or differences do not allow is ``unavailable``, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.instruments.debate.estimators import COMPONENTS, Tally, components
from pytest_judgesense.instruments.debate.ranking import (
    BANDS,
    RESAMPLES,
    Ranked,
    Ranking,
    band_of,
    ranking_of,
)
from pytest_judgesense.stats.agreement import krippendorff_alpha
from pytest_judgesense.stats.paired import paired_t

# By how much the thresholds of the bands are moved, to show what hangs on them.
_MOVES: Final = {"repeat_flip_rate": (-0.05, 0.05), "side_bias": (-0.02, 0.02)}
_INSTALL: Final = "statsmodels is not installed: pip install 'pytest-judgesense[analysis]'"
_FEWEST: Final = 3  # configurations, to correlate measures over

_Array = NDArray[np.float64]


def analyses_of(
    suite: str, materials: Mapping[str, Mapping[str, Any]], seed: int
) -> dict[str, list[dict[str, Any]]]:
    """The ranking, and what stands beside it, by name of the table; see `ranking_of`."""
    ranking, tallies = ranking_of(suite, dict(sorted(materials.items())), seed)
    ranked = {row.name: tallies[row.name] for row in ranking.rows}
    return {
        "ranking": [_row(row) for row in ranking.rows],
        "ranking_basis": [_basis(ranking)],
        "ranking_sensitivity": [
            {"variant": v, "winner": w, "changed": c} for v, w, c in ranking.reliance
        ],
        "ranking_thresholds": list(_thresholds(ranking)),
        "configuration_agreement": _agreement(ranked),
        "by_category": list(_by_category(ranked, ranking.weights)),
    }


def _basis(ranking: Ranking) -> dict[str, Any]:
    """What the ranking was made of, what it leaves out, and what it recommends."""
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


def _row(row: Ranked) -> dict[str, Any]:
    return {
        "rank": row.rank,
        "configuration": row.name,
        "instability": row.instability,
        **row.parts,
        "repeat_flip_band": row.band("repeat_flip_rate"),
        "side_bias_band": row.band("side_bias"),
        "rank_shares": list(row.shares),
        "left_out_ranks": list(row.left_out),
    }


def _thresholds(ranking: Ranking) -> Iterator[dict[str, Any]]:
    """How many configurations lie in each band, as thresholds stand and when one is moved."""
    for measure, (low, high) in BANDS.items():
        down, up = _MOVES[measure]
        limits = [(low, high), (low + down, high), (low + up, high), (low, high + down)]
        before = {row.name: row.band(measure) for row in ranking.rows}
        for one in [*limits, (low, high + up)]:
            after = {row.name: band_of(row.parts[measure], one) for row in ranking.rows}
            counts = Counter(after.values())
            yield {
                "measure": measure,
                "low_below": round(one[0], 4),
                "high_above": round(one[1], 4),
                **{band: counts[band] for band in ("low", "medium", "high")},
                "moved": [name for name in after if after[name] != before[name]],
            }


def _agreement(
    tallies: Mapping[str, Sequence[Tally]],
) -> list[dict[str, Any]]:
    """Share of debates with one winner for each pair; in the last row alpha over all."""
    winners = {name: {t.debate: t.winner for t in some} for name, some in tallies.items()}
    rows: list[dict[str, Any]] = []
    names = list(winners)
    for index, one in enumerate(names):
        for other in names[index + 1 :]:
            both = [
                (winners[one][debate], winners[other].get(debate))
                for debate in winners[one]
                if winners[one][debate] and winners[other].get(debate)
            ]
            share = sum(a == b for a, b in both) / len(both) if both else None
            rows.append({"pair": [one, other], "debates": len(both), "agreement": share})
    debates = list(dict.fromkeys(debate for of in winners.values() for debate in of))
    units = [[of.get(debate) for of in winners.values()] for debate in debates]
    rows.append({"krippendorff_alpha": krippendorff_alpha(units), "configurations": names})
    return rows


def _by_category(
    tallies: Mapping[str, Sequence[Tally]], weights: Sequence[float]
) -> Iterator[dict[str, Any]]:
    categories = sorted({tally.category for some in tallies.values() for tally in some} - {""})
    for category in categories:
        for name, some in tallies.items():
            rows = [tally.row for tally in some if tally.category == category]
            parts = components(np.array(rows, dtype=np.float64).reshape(-1, 6).sum(axis=0))
            known = bool(np.isfinite(parts).all())
            yield {
                "category": category,
                "configuration": name,
                "debates": len(rows),
                "instability": float(parts @ np.array(weights)) if known else None,
                **{
                    measure: float(part) if np.isfinite(part) else None
                    for measure, part in zip(COMPONENTS, parts, strict=True)
                },
            }


def secondary_of(
    suite: str, materials: Mapping[str, Mapping[str, Any]], seed: int
) -> dict[str, list[dict[str, Any]]]:
    """The secondary analyses by name of the table; see `ranking_of` for the arguments."""
    ranking, tallies = ranking_of(suite, dict(sorted(materials.items())), seed)
    names = sorted(row.name for row in ranking.rows)
    topics, cells = _cells({name: tallies[name] for name in names}, ranking.weights)
    parts = np.array([list(row.parts.values()) for row in ranking.rows]).reshape(-1, 4)
    correlated = [_correlation(parts), _pca(parts)]
    found = [_anova(names, topics, cells), _post_hoc(names, cells), *correlated]
    return {table["analysis"]: _flat(table) for table in found}


def _flat(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows with what holds for all of them in each, or in the only one."""
    common = {key: value for key, value in table.items() if key not in ("analysis", "rows")}
    return [{**row, **common} for row in table["rows"]] or [common]


def _cells(
    tallies: Mapping[str, Sequence[Tally]], weights: Sequence[float]
) -> tuple[list[str], _Array]:
    """Topics that every configuration has, and the instability that each shows.

    Returns:
        The topics, and values of the shape (configurations, topics).
    """
    by_topic: list[dict[str, list[tuple[float, ...]]]] = []
    for some in tallies.values():
        rows: dict[str, list[tuple[float, ...]]] = {}
        for tally in some:
            if tally.variances is not None:
                rows.setdefault(tally.cluster, []).append(tally.row)
        by_topic.append(rows)
    topics = [t for t in by_topic[0] if all(t in rows for rows in by_topic)] if by_topic else []
    sums = np.array([[np.sum(rows[t], axis=0) for t in topics] for rows in by_topic])
    cells = components(sums.reshape(len(by_topic), len(topics), 6))[..., :3]
    return topics, cells @ np.array(weights[:3])


def _unavailable(name: str, reason: str) -> dict[str, Any]:
    return {"analysis": name, "unavailable": reason, "rows": []}


def _anova(names: Sequence[str], topics: Sequence[str], cells: _Array) -> dict[str, Any]:
    pairs = [name.rpartition(":")[::2] for name in names]
    models = sorted({model for model, _ in pairs})
    prompts = sorted({prompt for _, prompt in pairs})
    within = [f for f, levels in (("model", models), ("prompt", prompts)) if len(levels) > 1]
    if not within or len(pairs) != len(models) * len(prompts):
        reason = "needs two or more models or prompts, each model under each prompt"
        return _unavailable("anova", f"{reason}; found {len(names)} configurations")
    if len(topics) < 2:
        return _unavailable("anova", f"needs two or more topics, found {len(topics)}")
    if np.ptp(cells) == 0:
        return _unavailable("anova", "all configurations are alike on all topics")
    try:
        from pandas import DataFrame
        from statsmodels.stats.anova import AnovaRM
    except ImportError:
        return _unavailable("anova", _INSTALL)
    rows = [
        {"topic": topic, "model": model, "prompt": prompt, "value": value}
        for (model, prompt), values in zip(pairs, cells.tolist(), strict=True)
        for topic, value in zip(topics, values, strict=True)
    ]
    table = AnovaRM(DataFrame(rows), "value", "topic", within=within).fit().anova_table
    return {
        "analysis": "anova",
        "response": "instability of a topic, side bias left out",
        "topics": len(topics),
        "rows": [
            {
                "effect": str(effect).replace(":", " x "),
                "F": _finite(line["F Value"]),
                "df": float(line["Num DF"]),
                "df_error": float(line["Den DF"]),
                "p": _finite(line["Pr > F"]),
            }
            for effect, line in table.iterrows()
        ],
    }


def _post_hoc(names: Sequence[str], cells: _Array) -> dict[str, Any]:
    pairs = list(combinations(range(len(names)), 2))
    if not pairs or cells.shape[1] < 2:
        reason = (
            f"needs two configurations and two topics, found {' x '.join(map(str, cells.shape))}"
        )
        return _unavailable("post_hoc", reason)
    rows = []
    for i, j in pairs:
        differences = cells[i] - cells[j]
        row: dict[str, Any] = {
            "pair": [names[i], names[j]],
            "difference": float(differences.mean()),
            "topics": len(differences),
        }
        if np.ptp(differences) == 0:
            row |= {"t": None, "p_bonferroni": None, "unavailable": "every topic differs alike"}
        else:
            t, p = paired_t(differences)
            row |= {"t": t, "p_bonferroni": min(1.0, p * len(pairs))}
        rows.append(row)
    return {"analysis": "post_hoc", "comparisons": len(pairs), "rows": rows}


def _varying(parts: _Array) -> tuple[list[str], _Array]:
    """The components that differ between configurations, standardised."""
    kept = [i for i in range(parts.shape[1]) if np.ptp(parts[:, i]) > 0]
    chosen = parts[:, kept]
    return [COMPONENTS[i] for i in kept], (chosen - chosen.mean(axis=0)) / chosen.std(axis=0)


def _too_few(name: str, parts: _Array) -> dict[str, Any] | None:
    if len(parts) < _FEWEST:
        reason = f"needs {_FEWEST} or more configurations, found {len(parts)}"
        return _unavailable(name, reason)
    if len(_varying(parts)[0]) < 2:
        return _unavailable(name, "fewer than two measures differ between configurations")
    return None


def _correlation(parts: _Array) -> dict[str, Any]:
    if missing := _too_few("measure_correlation", parts):
        return missing
    names, scaled = _varying(parts)
    matrix = (scaled.T @ scaled / len(scaled)).tolist()  # of standardised columns: Pearson's r
    rows = [
        {"measure": n, **dict(zip(names, r, strict=True))}
        for n, r in zip(names, matrix, strict=True)
    ]
    return {"analysis": "measure_correlation", "configurations": len(parts), "rows": rows}


def _pca(parts: _Array) -> dict[str, Any]:
    if missing := _too_few("measure_pca", parts):
        return missing
    names, scaled = _varying(parts)
    _, singular, loadings = np.linalg.svd(scaled, full_matrices=False)
    shares = singular**2 / (singular**2).sum()
    rows = []
    for index, (share, loading) in enumerate(zip(shares, loadings, strict=True), start=1):
        # The sign of a component is arbitrary: here its greatest loading is positive.
        sign = np.sign(loading[np.abs(loading).argmax()])
        weights = dict(zip(names, (sign * loading).tolist(), strict=True))
        rows.append({"component": index, "explained": float(share), **weights})
    return {"analysis": "measure_pca", "configurations": len(parts), "rows": rows}


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
