r"""Measures of scores: numbers within a range, beside numbers as labels.

With s the score of a call, l the label of its item, and w the width of the range::

    score_error       = mean |s - l| / w                        over calls with a label
    score_bias        = mean (s - l) / w                        over the same
    score_correlation = Spearman's rho of mean score and label  over items
    mark_agreement    = mean 1[s and l on one side of the mark] a reply without a score is on none
    wording_distance  = mean |s - s'| / w     over pairs of wordings of an item and replicate
    repeat_distance   = mean over an item's replicates, taken two at a time, of |s - s'| / w

Shares of the range are between 0 and 1, so that one bar and one margin mean the same on every
range; flags hold them in units of the score. A reply without a score is in no mean: the bounds of
the error and of the distances take it for none and for the whole range, those of the bias for the
lowest and the highest score. Two scores are never compared for equality.

Intervals are those of `stats.clustered` over clusters: of means of distances the proportion's, of
the bias Student's, of the correlation the jackknife's.

References:
    C. Spearman (1904), American Journal of Psychology 15, 72-101.
    C. J. Willmott, K. Matsuura (2005), Climate Research 30, 79-82 (mean absolute error).
    C. Gini (1912), Variabilita e mutabilita (the mean difference of what is taken two at a time).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Clustered, Estimate, Missing, compact
from pytest_judgesense.instruments.paraphrase.estimators import pair_positions
from pytest_judgesense.instruments.score import measures as of
from pytest_judgesense.measures.cell import (
    FAILED,
    VERDICT,
    Cell,
    Groups,
    Units,
    estimated,
    missing_of,
    once_a_cell,
    rate,
    unavailable,
)
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.every_suite import Group
from pytest_judgesense.stats.clustered import clustered_mean, clustered_statistic
from pytest_judgesense.stats.correlation import dense_ranks, spearman
from pytest_judgesense.stats.inputs import Floats, cluster_codes, first_positions
from pytest_judgesense.trial import Design, Judgment, ScoreRange, Trial, score_of_text

NO_LABELS: Final = "the items have no labels"
NO_SCORES: Final = "no reply states a score"
_NO_MARK: Final = "the suite has no pass mark; set pass_mark in [space]"
_ONE_WORDING: Final = "fewer than two templates were run on one item"
_ONE_REPLICATE: Final = "needs two or more replicates; set replicates in [design]"
_CONSTANT: Final = "undefined: scores or labels are all the same"
_ROUNDING: Final = 1e-9  # of a share of the range


class ScoreColumns(NamedTuple):
    """Scores and labels of the calls of a cell, as shares of the range; NaN for none.

    Attributes:
        scores: shape (judgments,); those that the range does not hold are none.
        labels: the same shape; people may give what the judge may not.
    """

    scores: Floats
    labels: Floats

    @property
    def errors(self) -> Floats:
        """Score less label."""
        return self.scores - self.labels


def range_of(design: Design) -> ScoreRange:
    """The range of a score."""
    assert design.score is not None, "a suite of scores has a range"
    return design.score


@once_a_cell
def columns_of(cell: Cell) -> ScoreColumns:
    """The scores and labels of a cell."""
    score_range = range_of(cell.design)

    def shares(name: str) -> Floats:
        codes, texts = cell.coded(name)
        numbers = [score_range.share(score_of_text(text)) for text in texts]
        return np.array([*numbers, math.nan])[codes]

    scores = shares("verdict")
    inside = (scores >= -_ROUNDING) & (scores <= 1 + _ROUNDING)
    return ScoreColumns(np.where(inside, scores, math.nan), shares("label"))


def share_of_range(design: Design, verdict: str) -> float:
    """The place of a score in its range, from 0 to 1; NaN for none."""
    return range_of(design).share(score_of_text(verdict))


def label_of_range(design: Design, trial: Trial) -> float:
    """The place of a trial's label in the range; NaN without one."""
    return range_of(design).share(score_of_text(trial.label))


def _read(cell: Cell) -> NDArray[np.bool_]:
    """Of each judgment whether it states a score."""
    return np.asarray((cell.outcomes == VERDICT) & ~np.isnan(columns_of(cell).scores))


def _labelled(cell: Cell) -> Groups:
    """The calls on items with a label, each by itself."""
    return cell.every_call().subset(~np.isnan(columns_of(cell).labels))


def error_and_bias(cell: Cell) -> list[Estimate]:
    """How far scores lie from the labels, and how far above them."""
    calls = _labelled(cell)
    if not calls.starts.size:
        return [
            unavailable(measure, cell, NO_LABELS) for measure in (of.SCORE_ERROR, of.SCORE_BIAS)
        ]
    errors = columns_of(cell).errors[calls.positions]
    # A label may lie beyond the range: people give what the judge may not.
    distances = np.minimum(np.abs(errors), 1.0)
    units = Units.of_groups(cell, calls, distances, usable=_read(cell))
    return [_mean(of.SCORE_ERROR, cell, units), _bias(cell, calls)]


def _bias(cell: Cell, calls: Groups) -> Estimate:
    columns, positions = columns_of(cell), calls.positions
    read = _read(cell)[positions]
    errors, clusters = columns.errors[positions], cell.cluster_codes[0][positions]
    missing = _bounds_of_bias(errors, columns.labels[positions], read, cell, positions)
    if not read.any():
        return unavailable(of.SCORE_BIAS, cell, NO_SCORES, missing=missing)
    value = float(errors[read].mean())
    interval = _bias_interval(errors[read], clusters[read])
    return estimated(
        of.SCORE_BIAS,
        cell,
        value=value,
        n=int(read.sum()),
        clustered=interval,
        missing=missing,
        flags=(*_in_units(cell, value, signed=True), *(() if interval else ("too few clusters",))),
    )


def _bias_interval(errors: Floats, clusters: NDArray[np.int32]) -> Clustered | None:
    """Student's interval; where all errors are one, the bounds of a mean of the range."""
    interval = clustered_mean(errors, clusters)
    if interval is None or interval.method != "constant":
        return interval
    return clustered_mean(np.clip(errors, -1.0, 1.0), clusters, (-1.0, 1.0))


def _bounds_of_bias(
    errors: Floats,
    labels: Floats,
    read: NDArray[np.bool_],
    cell: Cell,
    positions: NDArray[np.int32],
) -> Missing:
    """What is missing, with the bias if every missing score were the lowest, and the highest."""
    missing = missing_of(cell.outcomes[positions])
    total, unread_labels = float(errors[read].sum()), labels[~read]
    ends = [(total + float((end - unread_labels).sum())) / errors.size for end in (0.0, 1.0)]
    return replace(missing, lower_bound=ends[0], upper_bound=ends[1])


def correlation(cell: Cell) -> list[Estimate]:
    """Spearman's correlation of scores and labels, over items."""
    columns, usable = columns_of(cell), _read(cell)
    labelled = ~np.isnan(columns.labels)
    if not labelled.any():
        return [unavailable(of.SCORE_CORRELATION, cell, NO_LABELS)]
    missing = missing_of(cell.outcomes[labelled])
    rows = np.flatnonzero(usable & labelled)
    if not rows.size:
        return [unavailable(of.SCORE_CORRELATION, cell, NO_SCORES, missing=missing)]
    items, count = cluster_codes(cell.items[rows])
    sizes = np.bincount(items, minlength=count)
    means = [np.bincount(items, column[rows], count) / sizes for column in columns]
    first = rows[first_positions(items)]
    ranks = [dense_ranks(column) for column in means]
    value = spearman(*ranks)
    if math.isnan(value):
        return [unavailable(of.SCORE_CORRELATION, cell, _CONSTANT, missing=missing)]
    clusters = cell.cluster_codes[0][first]
    interval = clustered_statistic(spearman, ranks, clusters, (-1.0, 1.0))
    return [
        estimated(
            of.SCORE_CORRELATION,
            cell,
            value=value,
            n=count,
            clustered=interval,
            missing=missing,
            flags=() if interval else ("no interval over clusters",),
        )
    ]


def mark_agreement(cell: Cell) -> list[Estimate]:
    """Scores on the label's side of the pass mark; without a mark there is no estimate."""
    mark, calls, columns = cell.design.pass_mark, _labelled(cell), columns_of(cell)
    if mark is None or not calls.starts.size:
        reason = NO_LABELS if mark is not None else _NO_MARK
        return [unavailable(of.MARK_AGREEMENT, cell, reason)]
    passing = [column >= mark - _ROUNDING for column in columns]
    same = (passing[0] == passing[1]) & _read(cell)
    units = Units.of_groups(cell, calls, same[calls.positions], usable=cell.outcomes != FAILED)
    return [rate(of.MARK_AGREEMENT, cell, units)]


def wording_distance(cell: Cell) -> list[Estimate]:
    """How far the wording moves scores."""
    pairs, _ = pair_positions(cell)
    if not len(pairs):
        return [unavailable(of.WORDING_DISTANCE, cell, _ONE_WORDING)]
    first, second = columns_of(cell).scores[pairs].T
    units = Units.of_groups(cell, Groups.of_rows(pairs), np.abs(first - second), usable=_read(cell))
    return [_mean(of.WORDING_DISTANCE, cell, units, *_degenerate(cell))]


def repeat_distance(cell: Cell) -> list[Estimate]:
    """How far asking again moves scores."""
    groups = _repeated(cell)
    if not groups.starts.size:
        return [unavailable(of.REPEAT_DISTANCE, cell, _ONE_REPLICATE)]
    parts = np.split(columns_of(cell).scores[groups.positions], groups.starts[1:])
    distances = np.array([*map(mean_difference, parts)])
    units = Units.of_groups(cell, groups, distances, usable=_read(cell))
    return [_mean(of.REPEAT_DISTANCE, cell, units, *_degenerate(cell))]


def mean_difference(values: Floats) -> float:
    """The mean absolute difference of all pairs of two or more values; NaN if one is missing."""
    count = values.size
    # In order x_(0) <= ... <= x_(n - 1), value i is the greater one of i pairs.
    places = 2 * np.arange(count) - (count - 1)
    return float(places @ np.sort(values)) / (count * (count - 1) / 2)


def _repeated(cell: Cell) -> Groups:
    groups = cell.alike("template", "order")
    return groups.subset(groups.sizes > 1)


def _degenerate(cell: Cell) -> tuple[str, ...]:
    return ("degenerate",) * cell.degenerate


def _mean(measure: Measure, cell: Cell, units: Units, *flags: str) -> Estimate:
    """The mean of distances: no share of units, so it has no count and no binomial interval."""
    estimate = rate(measure, cell, units, nothing=NO_SCORES)
    if estimate.value is None:
        return estimate
    in_units = _in_units(cell, estimate.value)
    return replace(estimate, count=None, interval=None, flags=(*in_units, *flags))


def _in_units(cell: Cell, share: float, *, signed: bool = False) -> tuple[str, ...]:
    """A share of the range in units of the score; nothing where both are one number."""
    score_range = range_of(cell.design)
    if score_range.width == 1:
        return ()
    sign = "+" * (signed and share > 0)
    return (f"{sign}{compact(share * score_range.width)} on {' to '.join(score_range.ends)}",)


# --- the replies behind a number ------------------------------------------------------------------


def _farthest(cell: Cell, groups: Groups, distances: Floats) -> list[Group]:
    """The groups of judgments with a distance, the farthest apart first."""
    apart = np.flatnonzero(distances > 0)
    ranked = apart[np.argsort(-distances[apart], kind="stable")]
    every = list(cell.judged(groups))
    return [every[place] for place in ranked.tolist()]


def far_from_label(cell: Cell, _: Mapping[str, Any]) -> list[Group]:
    """Replies by their distance from the label."""
    distances = np.nan_to_num(np.abs(columns_of(cell).errors))
    return _farthest(cell, cell.every_call(), distances)


def apart_by_wording(cell: Cell, _: Mapping[str, Any]) -> list[Group]:
    """Replies under two wordings by the distance of their scores."""
    pairs, _numbers = pair_positions(cell)
    first, second = columns_of(cell).scores[pairs].T
    return _farthest(cell, Groups.of_rows(pairs), np.nan_to_num(np.abs(first - second)))


def apart_by_repeats(cell: Cell, _: Mapping[str, Any]) -> list[Group]:
    """Replicates by the distance of their scores."""
    groups = _repeated(cell)
    parts = np.split(columns_of(cell).scores[groups.positions], groups.starts[1:])
    return _farthest(cell, groups, np.nan_to_num([*map(mean_difference, parts)]))


def across_the_mark(cell: Cell, _: Mapping[str, Any]) -> list[Group]:
    """Replies that are on the other side of the mark, or on none."""
    mark = cell.design.pass_mark

    def on_another(judgment: Judgment) -> bool:
        texts = judgment.trial.label, judgment.verdict
        label, score = (range_of(cell.design).share(score_of_text(text)) for text in texts)
        if math.isnan(label) or mark is None:
            return False
        least = mark - _ROUNDING
        return math.isnan(score) or (label >= least) != (score >= least)

    return [(judgment,) for judgment in cell.judgments if on_another(judgment)]
