r"""Variance components of a score by the analysis of variance, and the cheapest design from them.

Scores stand in a balanced array with one axis a factor and replicates as the last axis. The
factors are crossed; one may be nested in another (items in clusters), and then its effects are
pooled with their interactions with it. All factors are random: the mean is meant for other items
and other wordings too. For a set S of factors (closed: with a nested factor goes the one that it
is nested in)::

    SS_S        sum of the squared effects of S (of all sets whose closure is S)
    E MS_S    = var_rep + sum over S' containing S of c(S') var_S'
    c(S')     = number of scores / product of the levels of the factors in S'

These equations are solved from the largest set downwards (the method of moments). A negative
solution, which only says that a component is small, is kept while solving and given as 0. With one
replicate var_rep cannot be separated from the largest interaction: their sum stands as
``replicate``. A factor of one level was not varied, and has no component.

The mean over n_f levels of each factor and r replicates has the variance::

    V = sum over S of var_S / product of n_f over S  +  var_rep / (r product of all n_f)

so that with everything else fixed V = a / n + b in the number n of clusters, and the smallest n for
a half-width h at level L is ``ceil(a / ((h / z)^2 - b))``; where b alone is too large, no number of
clusters is enough: more wordings are needed.

References:
    R. L. Brennan (2001), Generalizability Theory, ch. 3 (expected mean squares) and 4 (designs).
    S. R. Searle, G. Casella, C. E. McCulloch (1992), Variance Components, ch. 4 (balanced data).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from pytest_judgesense.stats.inputs import LEVEL

REPLICATE: Final = "replicate"

# Components that are not seen in one recording may still be there, and a normal interval of a mean
# over a handful of clusters does not cover.
_FEWEST: Final = 10

_Set: TypeAlias = frozenset[str]


@dataclass(frozen=True, slots=True)
class Components:
    """Variance components of a score.

    Attributes:
        variances: by set of factors, largest sets last; `REPLICATE` alone for the replicates.
        levels: levels of each factor that was varied, replicates included.
        confounded: whether the largest interaction is part of the replicates' component.
    """

    variances: Mapping[_Set, float]
    levels: Mapping[str, int]
    confounded: bool

    def of_mean(self, levels: Mapping[str, int]) -> float:
        """Variance of the mean over so many levels of each factor (1 where none is given)."""
        every = {name: levels.get(name, 1) for name in self.levels}
        total = 0.0
        for factors, variance in self.variances.items():
            over = self.levels if REPLICATE in factors else factors
            total += variance / math.prod(every[name] for name in over)
        return total


@dataclass(frozen=True, slots=True)
class Split:
    """A design: levels of each factor, the number of calls, and the half-width that it gives."""

    levels: Mapping[str, int]
    calls: int
    half_width: float


def variance_components(
    scores: ArrayLike, factors: Sequence[str], nested: Mapping[str, str] | None = None
) -> Components | None:
    """Variance components of a balanced array of scores.

    Args:
        scores: finite numbers, one axis for each of ``factors`` in their order, then replicates.
        factors: names of the crossed factors.
        nested: for a nested factor the one that it is nested in.

    Returns:
        The components; ``None`` if no factor has two levels.

    Raises:
        ValueError: the array has another number of axes, or is empty or not finite.
    """
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != len(factors) + 1 or not array.size or not np.isfinite(array).all():
        msg = f"scores are finite, with an axis a factor and one of replicates, found {array.shape}"
        raise ValueError(msg)
    *sizes, replicates = array.shape
    levels = {name: size for name, size in zip(factors, sizes, strict=True) if size > 1}
    if not levels:
        return None
    array = array.reshape([*levels.values(), replicates])
    means = array.mean(axis=-1)
    squares, freedom = _sums_of_squares(means, list(levels), nested or {})
    within = 0.0
    if replicates > 1:
        within = float(((array - means[..., None]) ** 2).sum()) / (means.size * (replicates - 1))
    solved: dict[_Set, float] = {}
    for factors_ in sorted(squares, key=len, reverse=True):
        above = sum(
            _coefficient(levels, other, replicates) * variance
            for other, variance in solved.items()
            if factors_ < other
        )
        mean_square = replicates * squares[factors_] / freedom[factors_]
        coefficient = _coefficient(levels, factors_, replicates)
        solved[factors_] = (mean_square - within - above) / coefficient
    confounded = replicates == 1
    largest = max(solved, key=len)
    if confounded:
        within = solved.pop(largest)
    variances = {factors_: max(0.0, solved[factors_]) for factors_ in sorted(solved, key=len)}
    variances[frozenset({REPLICATE})] = max(0.0, within)
    return Components(variances, {**levels, REPLICATE: replicates}, confounded)


def balanced_array(
    scores: Mapping[tuple[str, str, str, str, int], float],
) -> tuple[NDArray[np.float64], tuple[str, ...]] | None:
    """The scores of calls as an array for `variance_components`.

    Items that lack a call which others have are left out; of clusters of unequal size, so are the
    items beyond the smallest. An order that is one an item is a part of the item.

    Args:
        scores: by cluster, item, template, presentation order and replicate.

    Returns:
        The array and the names of its factors: ``item``, or ``cluster`` and ``item`` where
        clusters have several items, then ``template`` and ``order``; ``None`` if no item has all
        calls, or calls are not crossed.
    """
    orders: dict[str, set[str]] = {}
    for _, item, _, order, _ in scores:
        orders.setdefault(item, set()).add(order)
    one_each = all(len(orders_of_item) == 1 for orders_of_item in orders.values())
    items: dict[tuple[str, str], dict[tuple[str, str, int], float]] = {}
    for (cluster, item, template, order, replicate), score in scores.items():
        call = template, "" if one_each else order, replicate
        items.setdefault((cluster, item), {})[call] = score
    calls = sorted({call for by_call in items.values() for call in by_call})
    shape = [len({call[axis] for call in calls}) for axis in range(3)]
    rows: dict[str, list[list[float]]] = {}
    for (cluster, _), by_call in items.items():
        if len(by_call) == len(calls):
            rows.setdefault(cluster, []).append([by_call[call] for call in calls])
    if not rows or len(calls) != math.prod(shape):
        return None
    fewest = min(map(len, rows.values()))
    array = np.array([scores[:fewest] for scores in rows.values()])
    array = array.reshape(len(rows), fewest, *shape)
    if max(map(len, rows.values())) == 1:
        return array[:, 0], ("item", "template", "order")
    return array, ("cluster", "item", "template", "order")


def _sums_of_squares(
    means: NDArray[np.float64], names: Sequence[str], nested: Mapping[str, str]
) -> tuple[dict[_Set, float], dict[_Set, int]]:
    """Sums of squared effects of cell means, and degrees of freedom, by closed set of factors."""
    squares: dict[_Set, float] = {}
    freedom: dict[_Set, int] = {}
    subsets = (combinations(names, size) for size in range(1, len(names) + 1))
    for chosen in map(frozenset, chain.from_iterable(subsets)):
        effect = means
        for axis, name in enumerate(names):
            average = effect.mean(axis=axis, keepdims=True)
            effect = effect - average if name in chosen else average
        cells = math.prod(means.shape[i] for i, name in enumerate(names) if name not in chosen)
        closed = chosen | {nested[name] for name in chosen if nested.get(name) in names}
        degrees = math.prod(means.shape[i] - 1 for i, name in enumerate(names) if name in chosen)
        squares[closed] = squares.get(closed, 0.0) + cells * float((effect**2).sum())
        freedom[closed] = freedom.get(closed, 0) + degrees
    return squares, freedom


def _coefficient(levels: Mapping[str, int], factors: _Set, replicates: int) -> int:
    return replicates * math.prod(n for name, n in levels.items() if name not in factors)


def cheapest_split(
    components: Components,
    half_width: float,
    choices: Mapping[str, Sequence[int]],
    *,
    scaled: str,
    fixed: Mapping[str, int] | None = None,
) -> Split | None:
    """The design of fewest calls whose mean has the normal interval of at most ``half_width``.

    Args:
        components: what the score varies by.
        half_width: of the interval at `LEVEL`; above 0.
        choices: numbers to choose from for factors (and `REPLICATE`).
        scaled: the factor whose number follows from the rest: the clusters.
        fixed: numbers of further factors that stay as they are.

    Returns:
        The design, ties going to fewer replicates; ``None`` if no choice reaches the precision.

    Raises:
        ValueError: ``half_width`` is not above 0.
    """
    if not half_width > 0:
        raise ValueError(f"a half-width is above 0, found {half_width!r}")
    quantile = float(ndtri((1 + LEVEL) / 2))
    wanted = (half_width / quantile) ** 2
    splits = []
    names = [name for name in choices if name in components.levels or name == REPLICATE]
    for numbers in product(*(choices[name] for name in names)):
        levels = {**(fixed or {}), **dict(zip(names, numbers, strict=True))}
        once = components.of_mean({**levels, scaled: 1})
        # V = a / n + b: b is what is left with clusters without number.
        never = components.of_mean({**levels, scaled: 10**12})
        if never >= wanted:
            continue
        clusters = max(_FEWEST, math.ceil((once - never) / (wanted - never) * (1 - 1e-12)))
        design = {**levels, scaled: clusters}
        reached = quantile * math.sqrt(components.of_mean(design))
        splits.append(Split(design, math.prod(design.values()), reached))
    return min(
        splits, key=lambda split: (split.calls, split.levels.get(REPLICATE, 1)), default=None
    )
