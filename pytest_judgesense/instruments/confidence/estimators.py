"""How sure a judge says that it is, against how often it is right, over calls with labels. Pure.

With c how sure a call is of its verdict (`measures.calibration.confidence_of`: what the reply
states, else the probability of the verdict), and o 1 if the verdict is the label, else 0::

    overconfidence    = mean (c - o)
    brier_score       = mean (c - o)^2
    brier_resolution  = Murphy's resolution of c (`stats.brier`)

An abstention is no claim to be right, and is left out. Other calls that state no confidence, or one
that is none, are missing: c may be anything from 0 to 1, and o as well where there is no verdict.
No measure is there where no call states any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Anew, Estimate, Missing, share_of
from pytest_judgesense.instruments.confidence import measures as of
from pytest_judgesense.measures.calibration import confidence_of
from pytest_judgesense.measures.cell import (
    FAILED,
    VERDICT,
    Cell,
    Units,
    estimated,
    missing_of,
    once_a_cell,
    rate,
    unavailable,
)
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.every_suite import Group
from pytest_judgesense.replies.confidence import UNUSABLE
from pytest_judgesense.stats.brier import confidence_bins, resolution, resolution_interval
from pytest_judgesense.stats.clustered import clustered_excess
from pytest_judgesense.text.shown_change import ShownChange
from pytest_judgesense.trial import ABSTAIN, Judgment

_WITHIN: Final = (-1.0, 1.0)

_Reals = NDArray[np.float64]


class Claims(NamedTuple):
    """The calls of a cell whose items have labels, and how sure each says that it is.

    Attributes:
        labelled: of each judgment of the cell, whether its item has a label.
        abstained: of each judgment, whether it is an abstention, which claims nothing.
        confidences: of each judgment; NaN where it states none.
        right: of each judgment, 1 if its verdict is the label, else 0.
        unusable: what calls with a label state that is no confidence.
    """

    labelled: NDArray[np.bool_]
    abstained: NDArray[np.bool_]
    confidences: _Reals
    right: _Reals
    unusable: tuple[str, ...]

    @property
    def stated(self) -> NDArray[np.bool_]:
        """Of each judgment, whether it has a label and states a confidence."""
        return self.labelled & ~np.isnan(self.confidences)

    @property
    def unstated(self) -> NDArray[np.bool_]:
        """Of each judgment, whether it has a label and no confidence, and is no abstention."""
        return self.labelled & ~self.abstained & np.isnan(self.confidences)


@once_a_cell
def claims(cell: Cell) -> Claims | None:
    """The claims of a cell; ``None`` where no call states a confidence, or none has a label."""
    judgments = cell.judgments
    if cell.design.score is not None or cell.design.criteria:
        return None
    if not any(map(_says_how_sure, judgments)):
        return None
    labelled = np.array([judgment.trial.label is not None for judgment in judgments])
    if not labelled.any():
        return None
    confidences = [_confidence(judgment) for judgment in judgments]
    unusable = [(judgment.detail or {}).get(UNUSABLE) for judgment in judgments]
    return Claims(
        labelled,
        np.array([judgment.verdict == ABSTAIN for judgment in judgments]),
        np.array([np.nan if sure is None else sure for sure in confidences]),
        np.array([bool(judgment.correct) for judgment in judgments], dtype=np.float64),
        tuple(str(why) for why, has in zip(unusable, labelled, strict=True) if why and has),
    )


def _says_how_sure(judgment: Judgment) -> bool:
    """Whether a judgment has a confidence, or what is meant as one."""
    if (judgment.detail or {}).get(UNUSABLE):
        return True
    return confidence_of(judgment) is not None


def _confidence(judgment: Judgment) -> float | None:
    return None if judgment.verdict == ABSTAIN else confidence_of(judgment)


def confidence_estimates(cell: Cell) -> Iterator[Estimate]:
    """Overconfidence, Brier score and resolution; nothing where no call states a confidence."""
    made = claims(cell)
    if made is None:
        return
    if not made.stated.any():
        for measure in (of.OVERCONFIDENCE, of.BRIER_SCORE, of.BRIER_RESOLUTION):
            yield _none_stated(measure, cell, made)
        return
    yield _overconfidence(cell, made)
    yield _brier_score(cell, made)
    yield _resolution(cell, made)


def _none_stated(measure: Measure, cell: Cell, made: Claims) -> Estimate:
    reason = f"no call with a label states a confidence ({int(made.labelled.sum())} calls)"
    if made.unusable:
        reason = f"no call with a label states a usable confidence: {made.unusable[0]}"
    return unavailable(measure, cell, reason, missing=missing_of(cell.outcomes[made.labelled]))


def _missing(cell: Cell, made: Claims) -> Missing:
    """The calls with a label that state no confidence, as a share of those that claim anything."""
    unstated, stated = int(made.unstated.sum()), int(made.stated.sum())
    return replace(missing_of(cell.outcomes[made.labelled]), share=unstated / (unstated + stated))


def _worst_cases(cell: Cell, made: Claims) -> tuple[float, float]:
    """The least and the greatest overconfidence that calls without a confidence leave possible."""
    answered = cell.outcomes[made.unstated] == VERDICT
    right = made.right[made.unstated]
    least = np.where(answered, -right, _WITHIN[0])
    most = np.where(answered, 1 - right, _WITHIN[1])
    stated = (made.confidences - made.right)[made.stated]
    calls = stated.size + right.size
    low, high = ((float(stated.sum() + end.sum()) / calls) for end in (least, most))
    # A right verdict that states nothing could only lower the mean: it must not help.
    return min(low, float(stated.mean())), max(high, float(stated.mean()))


def _units(cell: Cell, made: Claims, values: _Reals) -> Units:
    """The labelled calls that claim anything, of which those that state a confidence count."""
    calls = cell.every_call().subset(made.stated | made.unstated)
    return Units.of_groups(cell, calls, values[calls.positions], usable=made.stated)


def _flags(made: Claims) -> tuple[str, ...]:
    """How many calls are left out, and why."""
    labelled, stated = int(made.labelled.sum()), int(made.stated.sum())
    flags: tuple[str, ...] = ()
    if labelled > stated:
        flags = (f"{labelled - stated} of {labelled} calls state no confidence",)
    if made.unusable:
        number = f"{len(made.unusable)} of them one that is none"
        flags += (f"{number}: {made.unusable[0]}",)
    return flags


def _overconfidence(cell: Cell, made: Claims) -> Estimate:
    excess = made.confidences - made.right
    units = _units(cell, made, (1 + excess) / 2)
    values = excess[made.stated]
    value = float(values.mean())
    low, high = _worst_cases(cell, made)
    interval = clustered_excess(values, units.clusters, _WITHIN, units.unlike)
    way = ShownChange.within(value, interval).words(
        above=of.OVERCONFIDENT, below=of.UNDERCONFIDENT, neither=""
    )
    return estimated(
        of.OVERCONFIDENCE,
        cell,
        value=value,
        n=values.size,
        clustered=interval,
        missing=replace(_missing(cell, made), lower_bound=low, upper_bound=high),
        flags=(*filter(None, (way,)), *_flags(made)),
        # The mean of (1 + excess) / 2 moves half as far.
        moving_units=units.observations,
        proportion=2.0,
        anew=lambda: Anew(units.cluster_names, [values], share_of),
    )


def _brier_score(cell: Cell, made: Claims) -> Estimate:
    units = _units(cell, made, (made.confidences - made.right) ** 2)
    estimate = rate(of.BRIER_SCORE, cell, units, flags=_flags(made))
    share = _missing(cell, made).share
    return replace(estimate, missing=replace(estimate.missing, share=share))


def _resolution(cell: Cell, made: Claims) -> Estimate:
    stated = made.stated
    bins, right = confidence_bins(made.confidences[stated]), made.right[stated]
    return estimated(
        of.BRIER_RESOLUTION,
        cell,
        value=resolution(bins, right),
        n=right.size,
        clustered=resolution_interval(bins, right, cell.cluster_codes[0][stated]),
        missing=_missing(cell, made),
        flags=("one confidence in every call",) * (int(bins.max()) == 0),
    )


def surest_wrong(cell: Cell, _: Mapping[str, Any]) -> list[Group]:
    """Wrong verdicts that state a confidence, the surest first."""
    made = claims(cell)
    if made is None:
        return []
    wrong = np.flatnonzero(made.stated & (made.right == 0) & (cell.outcomes != FAILED))
    surest = wrong[np.argsort(-made.confidences[wrong], kind="stable")]
    return [(cell.judgments[place],) for place in surest.tolist()]
