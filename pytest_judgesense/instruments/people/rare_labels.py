"""What a first suite holds about labels of which one is rare, for ``judgesense init``. Pure.

Where one of two to seven labels has less than a third of the items, a judge that never gives it
agrees with most labels, and one that loses half of it changes agreement little. So each label of at
least eight items has a check of its recall, informedness has one, and both are compared with the
version before.

The bar of informedness is the strictest of a few round numbers that a judge without error clears
with confidence, and the limit what it still clears once it has lost the first of the clusters with
an item of the rarest label, rounded down to a multiple of 0.05: as for shares, whose bars and
limits follow from their numbers of items.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np

from pytest_judgesense.instruments.people import measures as of
from pytest_judgesense.registry import FirstCheck, LabelChecks, LabelledItem
from pytest_judgesense.stats.inputs import NotEstimable

FEWEST_ITEMS: Final = 8
"""Of a label, for a check of its recall: fewer exclude little."""
_MOST_LABELS: Final = 7
_RARE: Final = 1 / 3
_BARS: Final = (0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
_STEP: Final = 0.05
_ROOM: Final = 0.1
_TINY: Final = 1e-9
_MARGIN: Final = 0.15
# Of the judge for whom chances are told.
_FOUND: Final = 0.9
_RIGHT: Final = 0.97


def label_checks(items: Sequence[LabelledItem]) -> LabelChecks | None:
    """The checks that labels of which one is rare ask for, or why there are none.

    Args:
        items: those with a label.

    Returns:
        ``None`` where no label is rare, and of labels that are one alone or more than seven.
    """
    counts = dict(sorted(Counter(item.label for item in items).items()))
    if not 2 <= len(counts) <= _MOST_LABELS or min(counts.values()) >= len(items) * _RARE:
        return None
    enough = [label for label, count in counts.items() if count >= FEWEST_ITEMS]
    few = [f"{label} ({count})" for label, count in counts.items() if count < FEWEST_ITEMS]
    notes = [f"A check of recall takes {FEWEST_ITEMS} items of a label: none of {', '.join(few)}."]
    if not enough:
        return LabelChecks((), (*notes, "So nothing here sees whether a rare label is lost."))
    informed = [check for check in [_informedness(items)] if check is not None]
    return LabelChecks(
        (*(_recall(label, items) for label in enough), *informed),
        tuple(notes) if few else (),
        partial(_loss_lines, counts, enough),
    )


def _recall(label: str, items: Sequence[LabelledItem]) -> FirstCheck:
    by_cluster = Counter(item.cluster for item in items if item.label == label)
    return FirstCheck(
        of.RECALL,
        "the judge finds what is labelled so",
        margin=_MARGIN,
        condition={"label": label},
        sizes=tuple(by_cluster.values()),
    )


def _informedness(items: Sequence[LabelledItem]) -> FirstCheck | None:
    """``None`` where all items of a label are one cluster: nothing bounds its recall."""
    bound, with_loss = _bound(items, lost=False), _bound(items, lost=True)
    if bound is None or with_loss is None:
        return None
    bar = next((bar for bar in _BARS if bound >= bar), _BARS[-1])
    limit = math.floor(with_loss / _STEP + _TINY) * _STEP
    limit = round(min(limit, bar - _ROOM), 4)
    return FirstCheck(
        of.INFORMEDNESS,
        "0 is a judge that does not look, 1 one that is always right",
        bar=bar,
        limit=limit if limit > 0 else None,
        margin=_MARGIN,
    )


def _bound(items: Sequence[LabelledItem], *, lost: bool) -> float | None:
    """The lower one-sided 95% bound of a judge that is right, but for one cluster if so said."""
    from pytest_judgesense.stats.informedness import informedness

    counts = Counter(item.label for item in items)
    rarest = min(counts, key=lambda label: (counts[label], label))
    first = next(item.cluster for item in items if item.label == rarest)
    result = informedness(
        right=np.array([not lost or item.cluster != first for item in items], dtype=np.float64),
        labels=[item.label for item in items],
        clusters=[item.cluster for item in items],
        classes=sorted(counts),
    )
    assert not isinstance(result, NotEstimable), "every label has an item"
    return None if result.interval is None else result.interval.lower_bound


def _loss_lines(
    counts: Mapping[str, int], enough: Sequence[str], replicates: int, tests: int
) -> Iterator[str]:
    """How often the loss of half of a label is found, a line for each, with what is assumed.

    Args:
        counts: items of each label.
        enough: the labels that have a check.
        replicates: calls on each item.
        tests: comparisons of the family.
    """
    from pytest_judgesense.stats.lost_class import chance_of_half_lost

    yield "Half of what was found of a label being lost is seen so often, of a judge that found"
    yield f"{_FOUND:.0%} of it and was right about {_RIGHT:.0%} of the others:"
    for label in enough:
        chance = chance_of_half_lost(
            counts[label],
            sum(counts.values()) - counts[label],
            classes=len(counts),
            sensitivity=_FOUND,
            specificity=_RIGHT,
            replicates=replicates,
            tests=tests,
        )
        yield f"  {label}: {chance:.0%} (on {counts[label]} items)"
