r"""Several tests by one set of swaps: Holm's adjustment, and what the swaps themselves know more.

Measures of one suite move together: six items of a rare class that are lost lower its recall,
informedness and agreement alike. Holm's adjustment takes that for three chances of a false alarm.
Under swaps within clusters it is known how they move together: a swap of cluster c turns the sign
of what c adds to every measure at once. With R the hypotheses that are not rejected yet, p the
smallest p-value among them and p*_j that of measure j under a random pattern of signs, the adjusted
p-value is the probability that any of them gets as small by chance (Westfall and Young)::

    P( min over j in R of p*_j <= p )

never above Holm's ``|R| p``, and the same level for an unchanged judge. Of tests that are not of
one set of swaps (another suite, another judge, a fold, pseudo-values, two intervals) nothing is
known together: their probabilities are added, a test alone with its p.

The order in which the patterns of one measure count is that of their sums; p* is the share of
patterns with a lower sum, and half of those with the same. Where every cluster is one unit the
pattern that is seen counts half, as in `stats.comparison`; elsewhere it counts whole, so that the
level is exact. Up to `_ENUMERATED` clusters that differ all patterns are counted; of more so many
are drawn, always the same ones, and the one that was seen is among them; with more than
`EXACT_CLUSTERS` the sums are those of their normal limit.

References:
    P. H. Westfall, S. S. Young (1993), Resampling-Based Multiple Testing, ch. 2 (step-down minP).
    S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
    B. Phipson, G. K. Smyth (2010), Statistical Applications in Genetics 9:39 (drawn patterns, the
    one that was seen among them).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.stats.comparison import EXACT_CLUSTERS, Adjusted, holm
from pytest_judgesense.stats.inputs import Floats

_ENUMERATED: Final = 12  # clusters of which all patterns are counted
_DRAWN: Final = 2**12  # patterns of more
_SEED: Final = 1993
_ROUNDING: Final = 1e-9


class SwapTest(NamedTuple):
    """One hypothesis of a family, "nothing is lost".

    Attributes:
        p: its own p-value.
        among: of the tests that are made by the same swaps, such as those of a judge on a suite.
        totals: what each cluster that differs adds to the difference, below 0 for a loss; ``None``
            where the test is not one by swaps, or nothing is known of them.
        alone: whether every cluster is one unit.
    """

    p: float
    among: Hashable = None
    totals: Mapping[str, float] | None = None
    alone: bool = False


def adjusted(tests: Sequence[SwapTest], alpha: float = 0.05) -> list[Adjusted]:
    """The adjusted p-values of a family; see the module.

    Args:
        tests: one for each hypothesis.
        alpha: level of the family.

    Returns:
        For each, in the same order, the adjusted p-value, at most Holm's, and a level of its bound:
        its own p-value is at most that level exactly if it is rejected.
    """
    by_holm = holm([test.p for test in tests], alpha)
    in_doubt = (test.p <= alpha < of_holm.p for test, of_holm in zip(tests, by_holm, strict=True))
    if not any(in_doubt):
        return by_holm
    family = _Family(tests)
    left = sorted(range(len(tests)), key=lambda place: (family.places[place], tests[place].p))
    result, so_far = by_holm[:], 0.0
    while left and so_far <= alpha:  # what is left is not rejected, as by Holm
        first = left[0]
        so_far = max(so_far, min(1.0, family.chance_of_any(left)))
        result[left.pop(0)] = _joined(tests[first].p, so_far, by_holm[first], alpha)
    return result


def _joined(p: float, joint: float, of_holm: Adjusted, alpha: float) -> Adjusted:
    """The smaller of two adjusted p-values, with a level that agrees with it."""
    if joint >= of_holm.p:
        return of_holm
    smaller = max(p, joint)
    level = alpha * p / smaller
    return Adjusted(smaller, max(level, p) if smaller <= alpha else min(level, of_holm.alpha))


class _Family:
    """The hypotheses of a family, with the patterns of signs of those by the same swaps.

    Attributes:
        places: of each hypothesis how far below all patterns that of the data lies: p itself where
            there are no patterns.
    """

    def __init__(self, tests: Sequence[SwapTest]) -> None:
        self._tests = tests
        self.places = [test.p for test in tests]
        self._columns: dict[Hashable, list[int]] = {}
        self._of_patterns: dict[Hashable, Floats] = {}
        for place, test in enumerate(tests):
            if test.totals is not None:
                self._columns.setdefault(test.among, []).append(place)
        for among, columns in self._columns.items():
            of_patterns = _places_of(_sums([tests[place].totals or {} for place in columns]))
            self._of_patterns[among] = of_patterns
            for place, of_data in zip(columns, of_patterns[0].tolist(), strict=True):
                self.places[place] = of_data

    def chance_of_any(self, left: Sequence[int]) -> float:
        """The probability that any of these gets as far down as the first of them, by chance."""
        first, chance = left[0], 0.0
        far = self.places[first] + _ROUNDING
        for among, columns in self._columns.items():
            among_left = [column for column, place in enumerate(columns) if place in left]
            if among_left:
                least = self._of_patterns[among][:, among_left].min(axis=1)
                below = float((least <= far).mean())
                if self._tests[first].alone and first in columns:
                    below -= float((np.abs(least - self.places[first]) <= _ROUNDING).mean()) / 2
                chance += below
        return chance + far * sum(self._tests[place].totals is None for place in left)


def _sums(totals: Sequence[Mapping[str, float]]) -> Floats:
    """The sum of each measure under each pattern of signs, that of the data first.

    Shape (patterns, measures).
    """
    every = sorted({name for of_measure in totals for name in of_measure})
    names = {name: place for place, name in enumerate(every)}
    table = np.zeros((len(names), len(totals)))
    for column, of_measure in enumerate(totals):
        for name, total in of_measure.items():
            table[names[name], column] = total
    table = table[table.any(axis=1)]
    scale = np.abs(table).sum(axis=0)
    table = table / np.where(scale > 0, scale, 1.0)
    if len(table) <= EXACT_CLUSTERS:
        return np.asarray(_signs(len(table)) @ table)
    variances, directions = np.linalg.eigh(table.T @ table)
    spread = directions * np.sqrt(np.maximum(variances, 0.0))
    normal = np.random.default_rng(_SEED).standard_normal((_DRAWN, len(totals)))
    sums = normal @ spread.T
    sums[0] = table.sum(axis=0)
    return np.asarray(sums)


def _signs(clusters: int) -> Floats:
    """Patterns of signs, that of the data first, shape (patterns, clusters)."""
    if clusters <= _ENUMERATED:
        return np.array([*product((1.0, -1.0), repeat=clusters)])
    return _drawn_signs()[:clusters].T.astype(np.float64)


@lru_cache(maxsize=1)
def _drawn_signs() -> NDArray[np.int8]:
    """The signs of so many clusters as are not left to their limit, those of the data first."""
    rng = np.random.default_rng(_SEED)
    signs = 2 * rng.integers(0, 2, (EXACT_CLUSTERS, _DRAWN), dtype=np.int8) - 1
    signs[:, 0] = 1
    return np.asarray(signs, dtype=np.int8)


def _places_of(sums: Floats) -> Floats:
    """Of each sum the share of patterns below it, and half of those with the same sum."""
    places = np.empty_like(sums)
    for column, of_measure in enumerate(sums.T):
        order = np.argsort(of_measure)
        ordered = of_measure[order]
        starts = np.append(np.flatnonzero(np.diff(ordered, prepend=-np.inf) > _ROUNDING), len(sums))
        alike = np.diff(starts)
        places[order, column] = np.repeat((starts[:-1] + alike / 2) / len(sums), alike)
    return places
