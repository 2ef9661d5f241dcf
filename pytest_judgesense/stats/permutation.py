r"""Are fresh replies exchangeable with recorded ones? An exact permutation test within groups.

A group is one question that was asked several times: R recorded replies and f fresh ones, of
whatever categories. If nothing changed between the two, which f of the R + f replies are the fresh
ones is a matter of chance: each of the C(R + f, f) choices is equally likely, independently in
every group. The statistic counts disagreements between fresh and recorded replies of a group::

    T = sum over groups g, fresh replies j, recorded replies i of g of [x_gj != x_gi]
    p = P(T' >= T), the fresh replies of every group drawn anew from its R + f

With c_a replies of category a in a group, of which f_a are drawn as the fresh ones, its part of T
is ``sum_a f_a (R - c_a + f_a)``, and ``prod_a C(c_a, f_a)`` draws lead there. So the distribution
in a group is counted in whole numbers, and that of T is the convolution of all groups: every
permutation counts, none is drawn at random. Its sums are of positive floats, so the p-value is
exact but for a relative rounding of about 1e-12.

A worked example: a group with the recorded replies YES, YES and the fresh reply NO. Drawn as the
fresh one, NO disagrees with 2 replies, and each YES with 1: T is 2 with probability 1/3, else 1.
One such group has p = 1/3, two have p = 1/9, three p = 1/27 = 0.037, however many groups beside
them never disagree.

Edges: a group with one category, and one with a single reply on both sides, has only one value of
T and says nothing. Without any group that could say something p is 1. A group without a recorded
or without a fresh reply is an error.

References:
    R. A. Fisher (1935), The Design of Experiments, ch. 3 (permutation within pairs).
    E. S. Edgington, P. Onghena (2007), Randomization Tests, 4th ed., ch. 7 (within blocks).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import comb

import numpy as np


def p_of_exchange(groups: Iterable[tuple[Sequence[Hashable], Sequence[Hashable]]]) -> float:
    """Test whether fresh replies disagree with recorded ones more than these among themselves.

    Args:
        groups: the recorded and the fresh replies of each question, by category.

    Returns:
        The p-value: probability of T or more disagreements, in pairs of a fresh and a recorded
        reply, if fresh and recorded replies are exchangeable.

    Raises:
        ValueError: a group has no recorded or no fresh reply.
    """
    whole = np.ones(1)
    disagreements = least = 0
    for recorded, fresh in groups:
        if not recorded or not fresh:
            raise ValueError(
                "a group has at least one recorded and one fresh reply, "
                f"found {len(recorded)} and {len(fresh)}"
            )
        disagreements += sum(verdict != other for verdict in fresh for other in recorded)
        sizes = sorted(Counter((*recorded, *fresh)).values())
        ways = _ways(tuple(sizes), len(fresh))
        least += min(ways)
        if len(ways) > 1:
            draws = comb(len(recorded) + len(fresh), len(fresh))
            part = [ways.get(total, 0) / draws for total in range(min(ways), max(ways) + 1)]
            whole = np.convolve(whole, part)
    beyond = disagreements - least
    return 1.0 if beyond == 0 else min(1.0, float(whole[beyond:].sum()))


# Groups of a session have few sizes of categories, and those again and again.
@lru_cache(maxsize=4096)
def _ways(sizes: tuple[int, ...], fresh: int) -> Mapping[int, int]:
    """In how many ways so many fresh replies can be drawn, by what they add to T.

    Args:
        sizes: replies of each category, recorded and fresh ones together.
        fresh: how many of them are fresh.
    """
    recorded = sum(sizes) - fresh
    reached: Counter[tuple[int, int]] = Counter({(0, 0): 1})  # replies drawn, T so far
    for size in sizes:
        further: Counter[tuple[int, int]] = Counter()
        for (drawn, so_far), ways in reached.items():
            for more in range(min(size, fresh - drawn) + 1):
                added = more * (recorded - size + more)
                further[drawn + more, so_far + added] += ways * comb(size, more)
        reached = further
    return {total: ways for (drawn, total), ways in reached.items() if drawn == fresh}
