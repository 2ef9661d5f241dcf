r"""What a part of a prompt does: verdicts without it against replicates of the whole prompt.

An item is asked m times under the whole prompt and f times (usually once) without a part. If the
part does nothing, all m + f replies of the item are exchangeable. So the test is that of
`stats.permutation`, within items, exact: T counts the pairs of a reply without the part and one of
the whole prompt that differ. With f = 1 each of the m + 1 replies of an item is the one without it
by the same chance, and T is their sum over items. A reply that is no verdict is a category of its
own. Replies of an item are independent of those of any other, so nothing is assumed of clusters.

**The effect** of the part, over the judge's own noise: with the share d of differing pairs between
the two prompts and the share w of differing pairs among the replies of the whole prompt, ::

    effect = max(0, mean over items of (d - w)),   0 in the mean where the part does nothing

Its upper bound is that of paired differences (`stats.comparison`): one-sided, over clusters, and
monotone, for no difference can grow and lower it. With 40 items of which none differ it is
``1 - .05^(1/40) = .072``. A verdict that turns outright adds 1 in a judge without noise; a judge
that errs in one of 20 replies differs from itself in .095 of pairs and adds ``1 - 2 x .095 = .81``.

**Holding the form**: replies are no verdict more often without the part. Given the number u of such
replies among the m + f of an item, those without the part are a hypergeometric draw; the p-value is
the chance of as many or more, over all items by convolution.

**Asking again.** One reply an item and part is little where verdicts are noisy. A part whose
p-value is at most .1 may be asked a second time (`worth_asking_again`), and is then tested with all
of its replies. Its p-value is then at most a level below .1 only where it would be so if every part
had been asked twice, so no level is exceeded.

**Dropping parts.** Each of two parts may do nothing alone because the other says the same, so all
that are not noticed are left out together, three replies an item, and tested as one part, in a
family of its own. They `may_be_dropped` if that is not noticed, and the one-sided 95% bound of the
effect lies at .10 or below, and below what .20 of verdicts would add that turn outright::

    upper <= min(.10, .20 (1 - 2 noise))

for noise hides what turns: with two labels and a noise w each verdict that turns adds 1 - 2w.
Where .20 turn the bound is that low in at most 5%, as far as it holds; at a noise of .5 never.

**Which of them?** Where together they do something, `group_search` looks for one smallest group of
them, by the bisection of prefixes in `stats.bisection` with a verdict on each item as one answer.

Over the parts of a prompt both p-values are adjusted by Holm, each test within its own family. A
part that cannot be tested, because no item has replies on both sides, stays in it with p = 1. A
part is noticed if either test finds it. Where every reply is a verdict the second one finds
nothing, so the chance of noticing a part that does nothing is alpha; otherwise at most two alpha.

References:
    R. A. Fisher (1935), The Design of Experiments, ch. 3 (permutation within items).
    S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, comb, log2
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_judgesense.stats.bisection import GroupSearch, VerdictByItem, begin_between
from pytest_judgesense.stats.comparison import end_of_test, holm
from pytest_judgesense.stats.dirichlet import share_bounds
from pytest_judgesense.stats.inputs import LEVEL, Clusters, cluster_codes, cluster_sums
from pytest_judgesense.stats.permutation import p_of_exchange

# Codes of replies: labels have 1, 2, ...
NO_REPLY, NO_VERDICT = -1, 0

_Codes: TypeAlias = NDArray[np.intp]
_Bounds: TypeAlias = Callable[[float], tuple[float, float]]

_ALPHA: Final = 0.05  # of a family of tests
WORTH_ASKING_AGAIN: Final = 0.1  # a p-value of the first asking; above any level that is tested
TOGETHER: Final = 3  # replies an item without all parts that are not noticed
DROPPED_AT: Final = 0.10  # the upper bound of an effect with which a part may be dropped
_TURNED: Final = 0.20  # share of verdicts that turn, which that bound excludes as well
_FEWEST_WHOLE: Final = 2  # replies of the whole prompt, without which an item has no noise to tell


@dataclass(frozen=True, slots=True)
class PartLeftOut:
    """What leaving out one part of a prompt does.

    Attributes:
        items: items with a reply without the part, and two or more of the whole prompt.
        differing: share of pairs of a reply without the part and one of the whole that differ.
        noise: share of pairs of replies of the whole prompt that differ, of the same items.
        effect: ``differing`` less ``noise``, at least 0.
        upper: one-sided 95% bound of it; ``None`` with fewer than two clusters.
        bounds: from a level to both one-sided bounds of it; ``None`` likewise.
        p: p-value of no effect on verdicts; ``p_adjusted``: by Holm, over the parts.
        no_verdict: share of the replies without the part that are no verdict.
        no_verdict_whole: share of the replies of the whole prompt that are none.
        p_form: p-value of no more replies without a verdict; ``p_form_adjusted``: by Holm.
        alpha: level of the step of Holm's adjustment at which ``p`` was tested.
    """

    items: int
    differing: float
    noise: float
    effect: float
    upper: float | None
    p: float
    p_adjusted: float
    no_verdict: float
    no_verdict_whole: float
    p_form: float
    p_form_adjusted: float
    bounds: _Bounds | None = field(default=None, repr=False, compare=False)
    alpha: float = _ALPHA

    def decided(self) -> tuple[float, float] | None:
        """The 95% interval of the effect, which excludes 0 exactly where verdicts move.

        ``None`` with fewer than two clusters.
        """
        if self.bounds is None:
            return None
        low, high = self.bounds((1 + LEVEL) / 2)
        if (low > 0) != (self.p_adjusted <= _ALPHA):
            low = max(0.0, end_of_test(self.effect, self.p, self.alpha))
        return min(low, self.effect), high

    def is_noticed(self, alpha: float = 0.05) -> bool:
        """Whether verdicts move without it, or more replies are none; alpha: of either family."""
        return min(self.p_adjusted, self.p_form_adjusted) <= alpha

    def may_be_dropped(self, alpha: float = 0.05) -> bool:
        """Whether nothing is noticed, and too much is excluded (see the module).

        Args:
            alpha: of either family of tests.
        """
        if self.upper is None or self.is_noticed(alpha):
            return False
        return self.upper <= min(DROPPED_AT, _TURNED * (1 - 2 * self.noise))


def parts_left_out(
    whole: ArrayLike, without: Sequence[ArrayLike], clusters: Clusters
) -> list[PartLeftOut | None]:
    """Test each part of a prompt, and bound its effect.

    Args:
        whole: codes of the replies of the whole prompt, shape (items, m), m of 2 or more: labels
            from 1, `NO_VERDICT` for a reply that is none, `NO_REPLY` where none came.
        without: for each part the codes of the replies without it, shape (items, f).
        clusters: cluster of each item.

    Returns:
        For each part what leaving it out does; ``None`` where no item has replies on both sides.

    Raises:
        ValueError: a shape is another one, or a code is below -1.
    """
    codes, _ = cluster_codes(clusters)
    first = _replies(whole, codes.size)
    if first.shape[1] < _FEWEST_WHOLE:
        msg = f"the whole prompt is asked {_FEWEST_WHOLE} times or more, found {first.shape[1]}"
        raise ValueError(msg)
    tested = [_tested(first, _replies(replies, codes.size), codes) for replies in without]
    moves = holm([1.0 if part is None else part.p for part in tested])
    forms = holm([1.0 if part is None else part.p_form for part in tested])
    return [
        None
        if part is None
        else replace(part, p_adjusted=move.p, p_form_adjusted=form.p, alpha=move.alpha)
        for part, move, form in zip(tested, moves, forms, strict=True)
    ]


def worth_asking_again(parts: Sequence[PartLeftOut | None]) -> list[int]:
    """The places of the parts that a second asking may show to do something (see the module).

    Args:
        parts: what `parts_left_out` gives after the first asking of each.
    """
    return [
        place
        for place, part in enumerate(parts)
        if part is not None and part.p <= WORTH_ASKING_AGAIN
    ]


def most_answers(parts: int) -> int:
    """How many answers, of all items each, the search for a group among parts takes at most.

    That is enough for three bisections of them in which every answer is as good as certain, and
    half as many again.
    """
    return ceil(4.5 * (ceil(log2(parts)) + 1)) if parts > 1 else 0


def group_search(whole: ArrayLike, together: ArrayLike, parts: int) -> GroupSearch:
    """The search for a smallest group among parts that do something together.

    The changes of its questions are the parts that are left out, by their place; what it learns is
    a verdict on each item (`verdicts_by_item`).

    Args:
        whole: codes of the replies of the whole prompt, as in `parts_left_out`.
        together: of those without all of the parts.
        parts: how many they are, one or more.
    """
    ends = verdicts_by_item(whole), verdicts_by_item(together)
    return begin_between(*ends, parts, most_answers(parts))


def verdicts_by_item(replies: ArrayLike) -> list[VerdictByItem]:
    """Each asking of a table of codes, shape (items, times): a verdict on every item."""
    return [
        tuple(None if code == NO_REPLY else code for code in column)
        for column in np.asarray(replies, dtype=np.intp).T.tolist()
    ]


def share_noticed(parts: Sequence[PartLeftOut | None], alpha: float = 0.05) -> float:
    """The mutation score of a prompt: the share of its parts whose removal is noticed.

    Args:
        parts: what `parts_left_out` gives, one or more; one that cannot be tested is not noticed.
        alpha: level of either family of tests.
    """
    return sum(part is not None and part.is_noticed(alpha) for part in parts) / len(parts)


def _replies(codes: ArrayLike, items: int) -> _Codes:
    replies = np.asarray(codes, dtype=np.intp)
    if replies.ndim != 2 or len(replies) != items:
        msg = f"replies have the shape ({items}, times asked), found {replies.shape}"
        raise ValueError(msg)
    if replies.size and replies.min() < NO_REPLY:
        raise ValueError(f"codes of replies are {NO_REPLY} or above, found {replies.min()}")
    return replies


def _tested(whole: _Codes, without: _Codes, clusters: _Codes) -> PartLeftOut | None:
    """What leaving out one part does, its p-values not adjusted yet."""
    usable = ((whole != NO_REPLY).sum(axis=1) >= _FEWEST_WHOLE) & (without != NO_REPLY).any(axis=1)
    if not usable.any():
        return None
    whole, without = whole[usable], without[usable]
    differing = _share_differing(whole, without)
    noise = _share_differing(whole, whole)
    codes, count = cluster_codes(clusters[usable])
    bounds = None
    if count >= 2:
        totals, sizes = cluster_sums([differing - noise], codes, count)
        # A difference within [-1, 1] as a share.
        bounds = partial(_bounds, (totals + sizes) / 2, sizes)
    p, p_form = p_of_exchange(_groups(whole, without)), _p_of_form(whole, without)
    return PartLeftOut(
        items=len(whole),
        differing=float(differing.mean()),
        noise=float(noise.mean()),
        effect=max(0.0, float((differing - noise).mean())),
        upper=None if bounds is None else bounds(LEVEL)[1],
        p=p,
        p_adjusted=p,
        no_verdict=_share_without_verdict(without),
        no_verdict_whole=_share_without_verdict(whole),
        p_form=p_form,
        p_form_adjusted=p_form,
        bounds=bounds,
    )


def _bounds(
    halves: NDArray[np.float64], sizes: NDArray[np.float64], level: float
) -> tuple[float, float]:
    """The bounds of an effect, which is at least 0, from the sums of shares by cluster."""
    ((low, high),) = share_bounds(halves, sizes, (level,))
    return max(0.0, 2 * low - 1), max(0.0, 2 * high - 1)


def _share_differing(whole: _Codes, halves: _Codes) -> NDArray[np.float64]:
    """By item the share of pairs of two replies that differ, one of either table.

    Of a table with itself no reply is paired with itself.
    """
    differ = whole[:, :, None] != halves[:, None, :]
    paired = (whole != NO_REPLY)[:, :, None] & (halves != NO_REPLY)[:, None, :]
    if halves is whole:
        paired &= ~np.eye(whole.shape[1], dtype=bool)
    share: NDArray[np.float64] = (differ & paired).sum(axis=(1, 2)) / paired.sum(axis=(1, 2))
    return share


def _share_without_verdict(replies: _Codes) -> float:
    return float((replies == NO_VERDICT).sum() / (replies != NO_REPLY).sum())


def _groups(whole: _Codes, without: _Codes) -> Iterator[tuple[list[int], list[int]]]:
    """The replies of each item that came, of the whole prompt and without the part."""
    for first, second in zip(whole.tolist(), without.tolist(), strict=True):
        yield (
            [code for code in first if code != NO_REPLY],
            [code for code in second if code != NO_REPLY],
        )


def _p_of_form(whole: _Codes, without: _Codes) -> float:
    """The chance of as many replies without a verdict where the part is left out, or more."""
    chance, number = np.ones(1), int((without == NO_VERDICT).sum())
    for first, second in _groups(whole, without):
        pooled = [*first, *second]
        bad, drawn = pooled.count(NO_VERDICT), len(second)
        if bad:
            ways = [
                comb(bad, of_bad) * comb(len(pooled) - bad, drawn - of_bad)
                for of_bad in range(min(bad, drawn) + 1)
            ]
            chance = np.convolve(chance, np.array(ways) / comb(len(pooled), drawn))
    return min(1.0, float(chance[number:].sum()))
