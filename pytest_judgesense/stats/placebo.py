r"""Does an edit move a judge? The edited text against a placebo, paired by item.

A probe edits one side of a pair. Each call has a value within [0, 1]: 1 if the verdict is the
edited side, 0 if it is another (a tie with it), or for grades the place on the scale. With the mean
e of an item's calls under the edit and the mean p of as many under the placebo::

    effect = mean over items of (e - p),   within [-1, 1], above 0 if the edit draws verdicts

Interval and p-value are those of `stats.comparison.paired_difference`: the bounds of a share over
clusters, monotone in every verdict, and the test by swaps within clusters. A judge that the edit
says no more to than the placebo gives both arms by the same chances, so swapping them in an item
changes nothing. **That needs as many calls in either arm.** The mean of two calls less the mean of
four is skewed: at a rate of .9 that test was at or below .05 in 7 of 100 comparisons on 15 to 60
items, with two calls each in at most 5.5 (12,000 comparisons, 8 to 60 items, rates of .02 to .9).

**Which side is edited**: the rejected one (`side_to_edit`), where a verdict has room to move. It is
rejected by a separate asking, and that asking is never the placebo of the edit: on noise alone the
side that lost there wins afterwards as often as ever, which would count as an effect.

**How the slots are called** edits no side. The share of verdicts for the first slot, over both
orders of every item, under one naming of the slots less that under another is such a mean of paired
differences, and may lie on either side of 0: twice the smaller one-sided p-value, at most 1.

Edges: one cluster says nothing of the spread between clusters: `None`. An item without a verdict in
one of the arms has no difference; leave it out, and count it.

Reference: R. A. Fisher (1935), The Design of Experiments, ch. 3 (the test by swaps).
"""

from __future__ import annotations

import hashlib
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from pytest_judgesense.stats.comparison import Difference, paired_difference
from pytest_judgesense.stats.inputs import Clusters, check_within, finite_vector

# A content in the item's own order.
EditedSide: TypeAlias = Literal[1, 2]


class ProbeEffect(NamedTuple):
    """How far an edit, or another naming of the slots, moves verdicts.

    Attributes:
        edited: mean over items under the edit, or under the naming.
        reference: mean over the same items under the placebo, or under the usual naming.
        difference: of the two, with its bounds; above 0 where verdicts move to the edit.
        p: p-value of no effect; one-sided for an edit, two-sided for a naming.
    """

    edited: float
    reference: float
    difference: Difference
    p: float


def edit_effect(edited: ArrayLike, placebo: ArrayLike, clusters: Clusters) -> ProbeEffect | None:
    """Test whether an edit moves verdicts towards the edited side.

    Args:
        edited: mean of each item's calls under the edit, within [0, 1], shape (items,).
        placebo: mean of as many calls of each item under the placebo, of the same shape.
        clusters: cluster of each item.

    Returns:
        The effect; ``None`` with fewer than two clusters.

    Raises:
        ValueError: a mean is outside [0, 1], or lengths differ.
    """
    return _effect(edited, placebo, clusters, two_sided=False)


def naming_effect(named: ArrayLike, usual: ArrayLike, clusters: Clusters) -> ProbeEffect | None:
    """Test whether the names of the slots move verdicts to either slot.

    Args:
        named: share of each item's calls under a naming whose verdict is the first slot, within
            [0, 1], over both orders, shape (items,).
        usual: the same of as many calls under the usual naming.
        clusters: cluster of each item.

    Returns:
        The effect; ``None`` with fewer than two clusters.

    Raises:
        ValueError: a share is outside [0, 1], or lengths differ.
    """
    return _effect(named, usual, clusters, two_sided=True)


def _effect(
    edited: ArrayLike, reference: ArrayLike, clusters: Clusters, *, two_sided: bool
) -> ProbeEffect | None:
    moved, still = finite_vector(edited), finite_vector(reference)
    if moved.size != still.size:
        raise ValueError(f"both arms have every item, found {moved.size} and {still.size} means")
    check_within(np.concatenate([moved, still]), 0.0, 1.0)
    difference = paired_difference(moved - still, clusters)
    if difference is None:
        return None
    p = difference.p_better
    if two_sided:
        p = min(1.0, 2 * min(p, difference.p_worse))
    return ProbeEffect(float(moved.mean()), float(still.mean()), difference, p)


def side_to_edit(chosen: tuple[EditedSide | None, EditedSide | None], item: str) -> EditedSide:
    """The side that an asking rejected, in both orders together.

    Args:
        chosen: the content that was chosen in each order; ``None`` for a tie or no verdict.
        item: name of the item. Where the orders do not tell, the side is drawn by its digest: the
            same on every machine, and on half of the items either.
    """
    lead = chosen.count(1) - chosen.count(2)
    if lead == 0:
        return 1 if hashlib.sha256(item.encode()).digest()[0] % 2 else 2
    return 2 if lead > 0 else 1
