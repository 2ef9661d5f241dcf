"""Outputs of two sessions held against each other within strata: where both were asked alike.

A stratum is what a column says of an output: its question, or the kind of its question. Where the
mix of strata changes alone, outputs within one stratum score as before, so their pairs have a
change of 0 on average, whatever the mix is.

A cluster is one unit, and is in one pair at most. One that both sessions have by name, such as a
thread, is held against itself, in the strata that it has in both; an output that is a cluster by
itself is another one in each session, whatever number it has there. The others are held against
those of the same strata: as many pairs as the session with fewer of them has, each of consecutive
parts of both, in an order that is drawn. A cluster of several strata counts each of them alike,
however many items it has there. What has no counterpart says nothing.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple, TypeAlias, TypeVar

from pytest_judgesense.stats.betting import FEWEST, in_steps
from pytest_judgesense.stats.sequential import drawn_order
from pytest_judgesense.suites.planning import trial_order
from pytest_judgesense.trial import Judgment, grouped

_Value = TypeVar("_Value")
# Of each cluster the mean score in each of its strata.
ByStratum: TypeAlias = Mapping[str, Mapping[str, float]]
_StrataOfCluster: TypeAlias = frozenset[str]


@dataclass(frozen=True, slots=True)
class Strata:
    """What tells outputs apart by what was asked.

    Attributes:
        column: that holds it.
        of: the stratum of a judgment; ``None`` where its row has none.
        least_share: of the clusters of the session that has fewer, those that must be in pairs.
    """

    column: str
    of: Callable[[Judgment], str | None]
    least_share: float = 0.0

    def needed(self, clusters: tuple[int, int]) -> int:
        """From how many pairs on they say whether the outputs moved.

        Args:
            clusters: number of clusters of the reference and of now.
        """
        return max(FEWEST, math.ceil(self.least_share * min(clusters)))


class Pairs(NamedTuple):
    """Pairs of clusters within strata, in the order in which they are looked at.

    Attributes:
        then: the score of each pair in the reference.
        now: now.
        strata: number of strata that the pairs are of.
        clusters: number of clusters with a score, of the reference and of now.
        alone: those of them that are in no pair.
    """

    then: Sequence[float]
    now: Sequence[float]
    strata: int
    clusters: tuple[int, int]
    alone: tuple[int, int]


class _Pair(NamedTuple):
    strata: _StrataOfCluster
    then: float
    now: float


def by_stratum(
    scored: Iterable[tuple[Judgment, float]],
    stratum: Callable[[Judgment], str | None],
    session: str,
) -> dict[str, dict[str, float]]:
    """Of each cluster and stratum the mean over items of the mean of their scores.

    A cluster of which no judgment has a stratum has none.

    Args:
        scored: judgments with their scores.
        stratum: that of a judgment; ``None`` where its row has none.
        session: its name, which tells its outputs from those of the other one.
    """
    scores_of: dict[tuple[str, str | None, str], list[float]] = defaultdict(list)
    for judgment, score in scored:
        trial = judgment.trial
        kind = session if trial.cluster == trial.item else "cluster"
        cluster = f"{kind} {trial.cluster}"
        scores_of[cluster, stratum(judgment), trial.item].append(score)
    of_items: dict[str, dict[str, list[float]]] = {}
    for (cluster, name, _), scores in scores_of.items():
        of_cluster = of_items.setdefault(cluster, {})
        if name is not None:
            of_cluster.setdefault(name, []).append(fmean(scores))
    return {
        cluster: {name: fmean(means) for name, means in of_cluster.items()}
        for cluster, of_cluster in of_items.items()
    }


def pairs_within(then: ByStratum, now: ByStratum, seed: int) -> Pairs:
    """The pairs of two sessions.

    Args:
        then: the clusters of the reference.
        now: those of now.
        seed: of the order in which clusters come.
    """
    both = {name for name in then.keys() & now.keys() if then[name].keys() & now[name].keys()}
    pairs = {name: _with_itself(then[name], now[name]) for name in both}
    alike = [
        grouped((name for name in side if side[name] and name not in both), _strata_in(side))
        for side in (then, now)
    ]
    paired = [len(both), len(both)]
    for strata in alike[0].keys() & alike[1].keys():
        names = [of_side[strata] for of_side in alike]
        steps = min(map(len, names))
        before, after = (
            in_steps(drawn({name: fmean(side[name].values()) for name in of_side}, seed), steps)
            for side, of_side in zip((then, now), names, strict=True)
        )
        word = json.dumps(sorted(strata))
        for place in range(steps):
            pair = _Pair(strata, float(before[place]), float(after[place]))
            pairs[f"strata {word} {place}"] = pair
        paired = [count + len(of_side) for count, of_side in zip(paired, names, strict=True)]
    in_order = drawn(pairs, seed)
    return Pairs(
        [pair.then for pair in in_order],
        [pair.now for pair in in_order],
        len({name for pair in in_order for name in pair.strata}),
        (len(then), len(now)),
        (len(then) - paired[0], len(now) - paired[1]),
    )


def drawn(of: Mapping[str, _Value], seed: int) -> list[_Value]:
    """The values in an order drawn by the seed: the same for the same names, whatever they hold.

    Neither the order of a log, which may be sorted by verdict, nor the verdicts move it.
    """
    names = trial_order(of)
    order = drawn_order([""] * len(names), seed)
    return [of[names[place]] for place in order]


def _with_itself(then: Mapping[str, float], now: Mapping[str, float]) -> _Pair:
    strata = frozenset(then.keys() & now.keys())
    return _Pair(strata, fmean(then[name] for name in strata), fmean(now[name] for name in strata))


def _strata_in(side: ByStratum) -> Callable[[str], _StrataOfCluster]:
    return lambda cluster: frozenset(side[cluster])
