"""Which judge configuration is the most stable: a ranking with its evidence (JudgeBench).

A configuration is a judge with one prompt, named ``judge:prompt``. Configurations are compared on
the debates that all of them have judged twice or more, by instability (see `debate`): lower is
better. Each rank is shown with

- the ranks that it may have: configurations are compared in pairs over whole topics, after Holm
  (`stats.ranks`), and topics in which two are swapped are the units of the test;
- its distribution over 1,000 bootstrap resamples of topics: whole topics are drawn with
  replacement, the same ones for every configuration. Equal instabilities share the better rank;
- percentile intervals (95%), from the same resamples, of its rank, its instability and the
  components. They describe: the clustered intervals beside the measures gate. One without a width,
  where all topics are alike, is none;
- the ranks that it takes when one debate is left out;
- its bands: repeat flips below 10%, 10 to 30%, above; side bias below 5%, 5 to 15%, above.

The winner is tried against other weights (each halved, doubled, left out) and other composites:
all components in units of their standard deviation, and the mean of the ranks by each component.

**Models** are compared by the mean instability of their configurations, over the prompts that all
of them have, in pairs over whole topics like configurations: all prompts of a topic are swapped at
once. Their p-values are Holm's over the pairs of models.

**Recommended** is the configuration with the lowest instability, as in the paper. Beside it stands
another one where it differs: of the configurations that may be the most stable (none is told apart
from them as better), the one with the lowest sum of three ranks among these: by instability, by
score variance, and by prompt disagreement, the share of debates in which another prompt of its
judge has another winner, in the mean over these prompts. Equal sums are told apart by the
instability. So one that is no worse in all three, and better in one, is never passed over. Prompt
disagreement takes no part where it is unknown of one of them, as of judges with one prompt. Of
configurations with the same lowest instability it is the one by ranks that is recommended.

A configuration that names one side throughout (side bias 0.5) is marked ``degenerate`` wherever it
is shown, recommended or not: one answer to everything is no stability.

A configuration without a usable debate is left out, with the reason.

Between two prompts of one judge::

    prompt_disagreement = debates whose winners differ / debates; a prompt's winner is that of most
                          runs, and a debate in which either is undecided is left out and counted
    score_delta         = mean over sides and categories of |mean score a - mean score b|; mean over
                          debates
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.debate.estimators import (
    COMPONENTS,
    Tally,
    components,
    mean_over_debates,
    rows_of,
    score_matrix,
    scored,
    tallies_of,
    units_of,
    winner_of,
)
from pytest_judgesense.instruments.debate.measures import (
    DEGENERATE,
    INSTABILITY,
    PROMPT_DISAGREEMENT,
    RANK,
    SCORE_DELTA,
    SCORE_VARIANCE,
    WEIGHTS,
    is_degenerate,
)
from pytest_judgesense.instruments.debate.replies import holds_debates
from pytest_judgesense.measures.cell import Cell, rate, unavailable
from pytest_judgesense.measures.shared import SIDE_BIAS
from pytest_judgesense.stats.ranks import Standings, standings
from pytest_judgesense.stats.redraw import drawn_counts
from pytest_judgesense.trial import Judgment, grouped

RESAMPLES: Final = 1000
BANDS: Final = {"repeat_flip_rate": (0.10, 0.30), "side_bias": (0.05, 0.15)}

Floats = NDArray[np.float64]
# The judgments of one debate under two prompts.
_Pair = tuple[Sequence[Judgment], Sequence[Judgment]]


class Ranked(NamedTuple):
    """One configuration in the ranking.

    Attributes:
        name: ``judge:prompt``.
        rank: by instability, from 1; equal ones share the better rank.
        parts: the components of the instability by name.
        shares: share of the resamples in which it has rank 1, 2, ...
        left_out: the best and the worst rank when one debate is left out.
        ranks: the least and the greatest rank that it may have.
        prompt_disagreement: share of debates in which another prompt of its judge has another
            winner; ``None`` without one.
        intervals: from the resamples, of ``rank``, ``instability`` and each component; ``None``
            where all topics are alike.
    """

    name: str
    rank: int
    instability: float
    parts: Mapping[str, float]
    shares: tuple[float, ...]
    left_out: tuple[int, int]
    ranks: tuple[int, int]
    prompt_disagreement: float | None
    intervals: Mapping[str, tuple[float, float] | None]

    def band(self, measure: str) -> str:
        """``low``, ``medium`` or ``high``: of repeat flips or of side bias."""
        return band_of(self.parts[measure], BANDS[measure])

    @property
    def is_degenerate(self) -> bool:
        """Whether it names one side in every judgment."""
        return is_degenerate(self.parts[SIDE_BIAS.name])


@dataclass(frozen=True, slots=True)
class Ranking:
    """All configurations, the most stable one first.

    Attributes:
        excluded: configurations left out, with the reason.
        weights: of the components; ``ddof``: what variances take off n.
        rows: the configurations by rank, then by name.
        debates: number of debates they are compared on; ``topics``: number of topics.
        runs: the most runs that any debate has.
        reliance: what the winner depends on, one row a variant: name, winner, whether it is
            another than the ranking's.
        standings: the comparison of every two of them; ``None`` without any.
        models: that of every two models; ``None`` without two that have a prompt in common.
    """

    suite: str
    excluded: Mapping[str, str]
    weights: tuple[float, ...]
    ddof: int
    rows: tuple[Ranked, ...] = ()
    debates: int = 0
    topics: int = 0
    runs: int = 0
    reliance: tuple[tuple[str, str, bool], ...] = ()
    standings: Standings | None = None
    models: Standings | None = None

    def find(self, name: str) -> Ranked | None:
        """The configuration of that name."""
        return next((row for row in self.rows if row.name == name), None)

    @property
    def recommended(self) -> str:
        """The configuration with the lowest instability; of equal ones the first by `candidates`.

        There is one, if there are rows.
        """
        lowest = [row.name for row in self.rows if row.rank == 1]
        return next((name for name in self.candidates if name in lowest), lowest[0])

    @property
    def candidates(self) -> dict[str, int]:
        """Those that may be the most stable, with sums of three ranks, the lowest sum first."""
        some = [row for row in self.rows if row.ranks[0] == 1]
        columns: list[list[float | None]] = [
            [row.instability for row in some],
            [row.parts[SCORE_VARIANCE.name] for row in some],
            [row.prompt_disagreement for row in some],
        ]
        complete = np.array([column for column in columns if None not in column], dtype=np.float64)
        sums = _ranks(complete).sum(axis=0).tolist()
        # Those of equal sums stay in the order of their instability.
        ordered = sorted(zip(sums, some, strict=True), key=lambda pair: pair[0])
        return {row.name: total for total, row in ordered}

    @property
    def recommendation(self) -> str:
        """The configuration to choose, and why, in one sentence."""
        if not self.rows or self.standings is None:
            return "no configuration can be recommended: none has debates with two parsed runs"
        best = next(row for row in self.rows if row.name == self.recommended)
        again = sum(winner == best.name for _, winner, _ in self.reliance)
        ranks = " to ".join(map(str, dict.fromkeys(best.left_out)))
        lowest = ", the lowest instability" * (len(self.rows) > 1)
        text = (
            f"recommended: {best.name}{_mark(best)}{lowest}: {_three(best)}; first in "
            f"{best.shares[0]:.1%} of {RESAMPLES:,} resamples of topics, rank {ranks} when a "
            f"debate is left out, first under {again} of {len(self.reliance)} other weightings; "
            f"repeat flips {best.band('repeat_flip_rate')}, side bias {best.band('side_bias')}"
        )
        name, *rest = self.candidates
        if rest:
            by_ranks = next(row for row in self.rows if row.name == name)
            other = f"{name}{_mark(by_ranks)} ({_three(by_ranks)})"
            by_sum = "the same one" if by_ranks is best else other
            text += f"; by the sum of ranks in these three, among {len(rest) + 1} that may be "
            text += f"the most stable: {by_sum}"
        if len(self.rows) > 1:
            text += f"; {self.standings.verdict('most stable')}"
        return text


def _mark(row: Ranked) -> str:
    """What stands behind its name in a sentence, if there is something."""
    return f" ({DEGENERATE}: it names one side in every judgment)" if row.is_degenerate else ""


def _three(row: Ranked) -> str:
    """What the rule of ranks compares, in words."""
    robust = row.prompt_disagreement
    other = "" if robust is None else f", other winners under other prompts {robust:.1%}"
    variance = row.parts[SCORE_VARIANCE.name]
    return f"instability {row.instability:.3f}, score variance {variance:.3f}{other}"


def rank(
    suite: str,
    tallies: Mapping[str, Sequence[Tally]],
    *,
    weights: Sequence[float] = WEIGHTS,
    ddof: int = 0,
    seed: int = 0,
) -> Ranking:
    """The ranking of configurations, from the tallies of every debate by their names.

    ``weights`` are those of the `COMPONENTS`, the published ones by default; ``ddof`` is what the
    variances in the tallies took off n, and ``seed`` that of the resamples.
    """
    usable = {
        name: {tally.debate: tally for tally in some if tally.variances is not None}
        for name, some in sorted(tallies.items())
    }
    excluded = {name: "no debate with two parsed runs" for name, some in usable.items() if not some}
    names = [name for name in usable if name not in excluded]
    shared = [d for d in usable[names[0]] if all(d in usable[n] for n in names)] if names else []
    if not shared:
        excluded |= dict.fromkeys(names, "no debate that all configurations have judged twice")
        return Ranking(suite, excluded, tuple(weights), ddof)
    compared = [[usable[name][debate] for debate in shared] for name in names]
    topics = [tally.cluster for tally in compared[0]]
    rows = np.stack([rows_of(some) for some in compared])
    sums, vector = rows.sum(axis=1), np.array(weights)
    parts = components(sums)
    ranks = _ranks(values := parts @ vector)
    drawn_parts = components(_resampled(rows, topics, seed))
    drawn_values = drawn_parts @ vector
    drawn = _ranks(drawn_values)
    left = _ranks(components(sums[:, None] - rows).swapaxes(0, 1) @ vector)
    stand = standings(
        dict(zip(names, map(by_topic, compared), strict=True)),
        lambda summed: -(components(summed) @ vector),
        seed=seed,
    )

    ranked = tuple(
        Ranked(
            names[i],
            int(ranks[i]),
            float(values[i]),
            dict(zip(COMPONENTS, parts[i].tolist(), strict=True)),
            tuple(float(np.mean(drawn[:, i] == place + 1)) for place in range(len(names))),
            (int(left[:, i].min()), int(left[:, i].max())),
            stand.ranks[names[i]],
            _prompt_disagreement(names[i], {name: usable[name] for name in names}, shared),
            _intervals(drawn_values[:, i], drawn_parts[:, i], drawn[:, i]),
        )
        for i in sorted(range(len(names)), key=lambda i: (ranks[i], names[i]))
    )
    winners = {
        variant: min(zip(score.tolist(), names, strict=True))[1]
        for variant, score in _variants(parts, vector)
    }
    return Ranking(
        suite,
        excluded,
        tuple(weights),
        ddof,
        ranked,
        len(shared),
        len(set(topics)),
        max(tally.runs for some in compared for tally in some),
        tuple((variant, name, name != ranked[0].name) for variant, name in winners.items()),
        stand,
        _models(dict(zip(names, compared, strict=True)), vector, seed),
    )


def _intervals(
    values: Floats, parts: Floats, ranks: NDArray[np.intp]
) -> dict[str, tuple[float, float] | None]:
    """The intervals of a configuration from its resamples: rank, instability and components."""
    resampled = {INSTABILITY.name: values, **dict(zip(COMPONENTS, parts.T, strict=True))}
    of_measures = {name: _percentiles(drawn, "linear") for name, drawn in resampled.items()}
    # A rank is a whole number, and the same one in all resamples is a finding.
    return {
        RANK.name: _percentiles(ranks, "inverted_cdf"),
        **{name: ends if ends[0] < ends[1] else None for name, ends in of_measures.items()},
    }


def _percentiles(drawn: Floats | NDArray[np.intp], method: Any) -> tuple[float, float]:
    lower, upper = np.quantile(drawn, (0.025, 0.975), method=method)
    return float(lower), float(upper)


def _prompt_disagreement(
    name: str, tallies: Mapping[str, Mapping[str, Tally]], debates: Sequence[str]
) -> float | None:
    judge, _, _ = name.rpartition(":")
    shares = []
    for other, of_other in tallies.items():
        if other != name and other.rpartition(":")[0] == judge:
            pairs = [(tallies[name][debate].winner, of_other[debate].winner) for debate in debates]
            if decided := [first != another for first, another in pairs if first and another]:
                shares.append(sum(decided) / len(decided))
    return sum(shares) / len(shares) if shares else None


def _models(tallies: Mapping[str, Sequence[Tally]], weights: Floats, seed: int) -> Standings | None:
    """The models by the mean instability over the prompts that all of them have."""
    names = grouped(tallies, lambda name: name.rpartition(":")[0])
    prompts = [{name.rpartition(":")[2] for name in some} for some in names.values()]
    common = sorted(set.intersection(*prompts))
    if len(prompts) < 2 or not common:
        return None
    rows = {}
    for judge in names:
        by_prompt = [by_topic(tallies[f"{judge}:{prompt}"]) for prompt in common]
        rows[judge] = {
            topic: [number for of in by_prompt for number in of[topic]] for topic in by_prompt[0]
        }

    def value(summed: Floats) -> Floats:
        of_prompts = components(summed.reshape(*summed.shape[:-1], len(common), -1)) @ weights
        mean: Floats = -of_prompts.mean(axis=-1)
        return mean

    return standings(rows, value, seed=seed)


def by_topic(tallies: Sequence[Tally]) -> dict[str, list[float]]:
    """The summed rows of the tallies of each topic."""
    topics = grouped(tallies, attrgetter("cluster"))
    return {topic: rows_of(some).sum(axis=0).tolist() for topic, some in topics.items()}


def _ranks(values: Floats) -> NDArray[np.intp]:
    """Ranks along the last axis, from 1: one more than the number of lower values."""
    # Rounded: sums in another order must not separate equal values.
    rounded = np.round(values, 12)
    lower: NDArray[np.intp] = (rounded[..., None, :] < rounded[..., :, None]).sum(axis=-1)
    return 1 + lower


def _resampled(rows: Floats, topics: Sequence[str], seed: int) -> Floats:
    """Summed rows of each resample, shape (resamples, configurations, columns)."""
    codes = np.unique(topics, return_inverse=True)[1]
    count = int(codes.max()) + 1
    by_topic = np.stack([rows[:, codes == code].sum(axis=1) for code in range(count)], axis=1)
    times = drawn_counts(count, RESAMPLES, [seed])
    summed: Floats = np.einsum("bk,ckx->bcx", times, by_topic)
    return summed


def _variants(parts: Floats, weights: Floats) -> Iterator[tuple[str, Floats]]:
    for index, name in enumerate(COMPONENTS):
        for change, factor in (("halved", 0.5), ("doubled", 2.0), ("left out", 0.0)):
            moved = weights.copy()
            moved[index] *= factor
            yield f"{name} {change}", parts @ moved
    yield "all weights 1", parts.sum(axis=1)
    spread = parts.std(axis=0)
    scaled = (parts - parts.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    yield "components in standard deviations", scaled.sum(axis=1)
    yield "mean of the ranks by component", _ranks(parts.T).mean(axis=0)


def band_of(value: float, limits: tuple[float, float]) -> str:
    """``low`` below the first limit, ``medium`` up to the second, ``high`` above."""
    low, high = limits
    return "low" if value < low else "medium" if value <= high else "high"


def material_of(cell: Cell) -> dict[str, Any] | None:
    """The data of a judge for the ranking, as plain values; ``None`` without debates."""
    if not holds_debates(cell):
        return None
    return {
        "ddof": cell.design.ddof,
        "weights": list(cell.design.weights or WEIGHTS),
        "prompts": {
            template: [tally.to_line() for tally in some]
            for template, some in tallies_of(cell).items()
        },
    }


def ranking_of(
    suite: str, materials: Mapping[str, Mapping[str, Any]], seed: int
) -> tuple[Ranking, dict[str, list[Tally]]]:
    """The ranking of several judges' configurations, and the tallies behind it.

    ``materials`` are the results of `material_of`, by judge; the weights of the first apply to all.
    """
    first = next(iter(materials.values()))
    weights, ddof = first["weights"], first["ddof"]
    other = [judge for judge, material in materials.items() if material["ddof"] != ddof]
    tallies = {
        f"{judge}:{prompt}": [Tally.from_line(line) for line in lines]
        for judge, material in materials.items()
        if judge not in other
        for prompt, lines in material["prompts"].items()
    }
    ranking = rank(suite, tallies, weights=weights, ddof=ddof, seed=seed)
    reasons = dict.fromkeys(other, "its variances have another denominator")
    return replace(ranking, excluded={**ranking.excluded, **reasons}), tallies


def prompt_estimates(cell: Cell) -> list[Estimate]:
    """The effect of another prompt on the judgment of debates: pooled, then by pair of prompts."""
    pairs = list(combinations(cell.templates, 2))
    if not pairs:
        reason = "needs two or more prompts"
        return [
            unavailable(measure, cell, reason) for measure in (PROMPT_DISAGREEMENT, SCORE_DELTA)
        ]
    by_debate = [
        grouped(some, attrgetter("trial.template"))
        for some in grouped(cell.judgments, attrgetter("trial.item")).values()
    ]
    comparisons = [(pairs, {}), *(([(a, b)], {"prompt_pair": f"{a}-{b}"}) for a, b in pairs)]
    runs = [
        ([(of.get(a, []), of.get(b, [])) for of in by_debate for a, b in some], condition)
        for some, condition in comparisons
    ]
    return [find(cell, *of) for find in (_disagreement, _score_delta) for of in runs]


def _disagreement(cell: Cell, pairs: Sequence[_Pair], condition: dict[str, str]) -> Estimate:
    values, clusters, undecided = [], [], 0
    both: list[bool] = []
    for first, second in filter(all, pairs):
        first_winner, other = winner_of(first), winner_of(second)
        if first_winner is None or other is None:
            undecided += 1
        else:
            values.append(float(first_winner != other))
            clusters.append(first[0].trial.cluster)
        verdicts = {j.trial.replicate: j.verdict for j in second}
        runs = [(j.verdict, verdicts.get(j.trial.replicate)) for j in first]
        both += [x != y for x, y in runs if x is not None and y is not None]
    flags = [f"run by run {sum(both) / len(both):.3f} of {len(both)}"] if both else []
    flags += [f"{undecided} undecided left out"] if undecided else []
    units = units_of(cell, values, clusters, undecided)
    return rate(PROMPT_DISAGREEMENT, cell, units, condition, flags=tuple(flags))


def _score_delta(cell: Cell, pairs: Sequence[_Pair], condition: dict[str, str]) -> Estimate:
    values = []
    for pair in pairs:
        scores = [list(map(score_matrix, scored(runs))) for runs in pair]
        if all(scores):
            first_scores, other = (np.mean(of, axis=0) for of in scores)
            values.append((float(np.abs(first_scores - other).mean()), pair[0][0].trial.cluster))
    reason = "no debate was scored under both prompts"
    return mean_over_debates(SCORE_DELTA, cell, condition, values, 10.0, reason=reason)
