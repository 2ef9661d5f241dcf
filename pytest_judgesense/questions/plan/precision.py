"""What a precision costs: where the variance of a suite lies, and the cheapest design."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, TypeAlias

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.registry import Instrument, Registry
from pytest_judgesense.stats.new_wordings import fewest_clusters
from pytest_judgesense.stats.settle import MOST_CLUSTERS
from pytest_judgesense.stats.variance import (
    REPLICATE,
    balanced_array,
    cheapest_split,
    variance_components,
)
from pytest_judgesense.trial import Failed

_Call: TypeAlias = tuple[str, str, str, str, int]  # cluster, item, template, order, replicate

_MOST: Final = 10  # templates, and replicates, of a design that is sought
_MOST_WORDINGS: Final = 30  # of one for new wordings
_FEWEST: Final = 10  # clusters of one


def split_lines(cell: Cell, half_width: float, registry: Registry = BUILT_IN) -> Iterator[str]:
    """The variance components of the call-level share, and the cheapest design for a precision."""
    name, scores = _scores(cell, registry.kinds[cell.design.kind])
    array = balanced_array(scores) if scores else None
    if not array or not (parts := variance_components(*array, {"item": "cluster"})):
        reason = "no item with a label and all of its calls" if not array else "nothing is varied"
        yield f"variance components: unavailable ({reason})"
        return
    factors = array[1]
    rest = "rest" if parts.confounded else REPLICATE
    shown = [" x ".join(f for f in factors if f in names) or rest for names in parts.variances]
    variances = zip(shown, parts.variances.values(), strict=True)
    yield f"variance of {name}: " + ", ".join(f"{source} {v:.4f}" for source, v in variances)
    pooled = (
        pooled_estimate for pooled_estimate in estimate_all(cell) if not pooled_estimate.condition
    )
    if estimate := next(
        (pooled_estimate for pooled_estimate in pooled if pooled_estimate.new_wordings), None
    ):
        yield _design_for_new_wordings(cell, estimate, half_width)
        return
    upto = range(1, _MOST + 1)
    choices = {"template": upto, REPLICATE: (1,) if parts.confounded else upto}
    fixed = {f: n for f, n in parts.levels.items() if f in factors[1:] and f != "template"}
    split = cheapest_split(parts, half_width, choices, scaled=factors[0], fixed=fixed)
    wanted = f"for a 95% interval of +/-{half_width:g}"
    if split is None:
        yield f"{wanted}: not within {_MOST} templates, {_MOST} replicates"
        return
    levels = [f"{split.levels[f]} {f}s" for f in (*factors, REPLICATE) if f in split.levels]
    yield f"{wanted}: {' x '.join(levels)} = {split.calls} calls (+/-{split.half_width:.3f})"


def _design_for_new_wordings(cell: Cell, estimate: Estimate, half_width: float) -> str:
    """The fewest calls with which the interval for new wordings is so narrow: its own model."""
    new_wordings, clustered = estimate.new_wordings, estimate.clustered
    assert new_wordings is not None
    assert new_wordings.at is not None
    assert clustered is not None
    each = len(cell.judgments) / (clustered.clusters * new_wordings.wordings)
    designs = []
    for wordings in range(2, _MOST_WORDINGS + 1):
        fewest = fewest_clusters(new_wordings.at, half_width, wordings, MOST_CLUSTERS)
        if fewest is not None:
            clusters = max(_FEWEST, fewest)
            designs.append((math.ceil(clusters * wordings * each), wordings, clusters))
    wanted = f"for {estimate.measure} within +/-{half_width:g} for new wordings"
    if not designs:
        return f"{wanted}: not within {_MOST_WORDINGS} wordings, {MOST_CLUSTERS:,} clusters"
    calls, wordings, clusters = min(designs)
    low, high = new_wordings.at(clusters, wordings)
    design = f"{wordings} wordings x {clusters} clusters = {calls} calls"
    return f"{wanted}: {design} (+/-{(high - low) / 2:.3f})"


def _scores(cell: Cell, kind: Instrument) -> tuple[str, dict[_Call, float]]:
    """The call-level share of the suite, and the score of every call received."""
    scores: dict[_Call, float] = {}
    for judgment in cell.judgments:
        trial, score = judgment.trial, kind.call_score(judgment)
        counts = trial.condition.get("arm") in (None, "baseline")
        if score is not None and counts and not isinstance(judgment.outcome, Failed):
            template = f"{trial.template}{trial.condition.get('temperature', '')}"
            scores[trial.cluster, trial.item, template, trial.order, trial.replicate] = score
    return kind.call_measure, scores
