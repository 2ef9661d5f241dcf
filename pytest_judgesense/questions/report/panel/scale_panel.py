"""A panel of judges that grade or score: what it is worth, how far they lie apart, and where. Pure.

Of each judge one number on each item counts: the mean over the trials that all were asked and that
all answered by a number. Its error is the number less the label. A panel of labels counts who gives
the same one; numbers of two judges are hardly ever the same, and are not asked to be.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from pytest_judgesense.datasheets.published_design import Table, Value
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.estimate import compact
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.on_a_scale import (
    MeanShift,
    NumberedItem,
    NumberScale,
    common_scale,
    is_on_scale,
    mean_shifts,
    numbered_items,
)
from pytest_judgesense.questions.report.panel.votes import VotePrice
from pytest_judgesense.questions.report.panel.worth import (
    ERRORS,
    plain_worth,
    priced,
    worth_lines,
)
from pytest_judgesense.registry import Registry
from pytest_judgesense.stats.correlation import spearman
from pytest_judgesense.stats.effective_votes import EffectiveVotes, effective_votes_of_numbers
from pytest_judgesense.stats.inputs import Floats, NotEstimable

_PRICED: Final = "calls and tokens an item, USD a 1,000 items"


@dataclass(frozen=True)
class ScalePanel:
    """Judges that gave numbers to the items of a suite.

    Attributes:
        judges: their names.
        items: those that all of them gave a number, with the numbers.
        left_out: number of trials that not every judge was asked and answered by a number.
        prices: of each judge, in their order.
        seed: of the answer; nothing is drawn.
        later_labels: how many labels people gave when numbers were there already.
    """

    suite: str
    judges: tuple[str, ...]
    items: tuple[NumberedItem, ...]
    scale: NumberScale
    left_out: int
    prices: tuple[VotePrice, ...]
    seed: int
    later_labels: int = 0

    @cached_property
    def numbers(self) -> Floats:
        """Of each item and judge, shape (items, judges)."""
        return np.array([item.numbers for item in self.items], dtype=np.float64)

    @cached_property
    def labels(self) -> Floats:
        """Of each item; NaN without one."""
        return np.array([item.label for item in self.items], dtype=np.float64)

    @property
    def by_errors(self) -> bool:
        """Whether errors are correlated; else the numbers themselves."""
        return bool(np.isfinite(self.labels).any())

    @cached_property
    def errors(self) -> Floats:
        """Number less label of the items with a label, shape (labelled items, judges)."""
        labelled = np.isfinite(self.labels)
        return self.numbers[labelled] - self.labels[labelled, None]

    @cached_property
    def effective(self) -> EffectiveVotes | NotEstimable:
        """The effective number of votes."""
        if not self.by_errors:
            return effective_votes_of_numbers(self.numbers, [item.cluster for item in self.items])
        clusters = [item.cluster for item in self.items if not math.isnan(item.label)]
        return effective_votes_of_numbers(self.errors, clusters)

    @cached_property
    def shifts(self) -> tuple[MeanShift, ...]:
        """How far every two judges lie apart in the mean, the farthest first."""
        shifts = mean_shifts(self.judges, self.items, self.scale)
        return tuple(sorted(shifts, key=lambda shift: -abs(shift.value)))


def scale_panel(
    cells: Sequence[Cell],
    registry: Registry,
    prices: Sequence[VotePrice],
    seed: int,
    later_labels: int,
) -> ScalePanel:
    """The panel of the judges of some cells, which are of one suite and on one scale.

    Raises:
        UsageError: their scales differ, or no item has a number of every judge.
    """
    scale, names = common_scale([cell.design for cell in cells]), [cell.judge for cell in cells]
    if scale is None:
        raise UsageError(
            f"the judges of {cells[0].suite} do not answer on one scale",
            found=listed(f"{cell.judge}: {_answers_of(cell)}" for cell in cells),
            expected="numbers that mean the same for all of them",
            remedy="import the logs with the same scale: --labels LOWEST,...,HIGHEST",
        )
    items = numbered_items(cells, registry)
    if not items:
        raise UsageError(
            f"the judges have no trial of {cells[0].suite} in common that all gave a number",
            found=listed(f"{len(cell.judgments)} of {cell.judge}" for cell in cells),
            expected="the same items, templates and replicates, by the ids of the trials",
            remedy="ask them the same suite; imports of the same items: judgesense import ... "
            "--suite NAME",
        )
    every = {judgment.trial.id for cell in cells for judgment in cell.judgments}
    counted = {item.id for item in items}
    counted_trials = {j.trial.id for j in cells[0].judgments if j.trial.item in counted}
    left_out = len(every) - len(counted_trials)
    return ScalePanel(
        cells[0].suite, tuple(names), items, scale, left_out, tuple(prices), seed, later_labels
    )


def _answers_of(cell: Cell) -> str:
    return NumberScale.of(cell.design).name if is_on_scale(cell.design) else "labels"


# --- in words -------------------------------------------------------------------------------------


def sentences(panel: ScalePanel) -> Iterator[str]:
    """What a reader is told first."""
    labelled = int(np.isfinite(panel.labels).sum())
    against = f"{labelled} with a label" if labelled else "none with a label"
    yield (
        f"{len(panel.judges)} judges on {panel.suite}: {len(panel.items)} items with a number of "
        f"each ({panel.scale.name}), {against}"
    )
    if panel.left_out:
        yield f"left out: {panel.left_out:,} trials to which not every judge gave a number"
    if panel.later_labels:
        yield (
            f"{panel.later_labels:,} label{'s' * (panel.later_labels != 1)} came after the first "
            "number: if people saw numbers, errors are missed; label blind"
        )
    yield from worth_lines(panel.effective, panel.judges, _correlated(panel))
    yield from (shift.sentence for shift in panel.shifts[:1])


def _correlated(panel: ScalePanel) -> str:
    return ERRORS if panel.by_errors else "numbers"


def tables(panel: ScalePanel) -> Iterator[Table]:
    """Judges, the mean shift of every two, and the items on which they lie farthest apart."""
    yield _judges(panel)
    yield Table(
        "shifts",
        f"mean of the second less the first, {panel.scale.unit}",
        ("first", "second", "shift", "95% clustered", "items"),
        tuple(
            (
                shift.first,
                shift.second,
                shift.value,
                (shift.interval.lower, shift.interval.upper) if shift.interval else None,
                shift.items,
            )
            for shift in panel.shifts
        ),
        keys=2,
    )
    yield _apart(panel)


def _judges(panel: ScalePanel) -> Table:
    rows: list[tuple[Value, ...]] = []
    labels = panel.labels[np.isfinite(panel.labels)]
    for place, name in enumerate(panel.judges):
        errors = panel.errors[:, place] if panel.by_errors else np.zeros(0)
        is_labelled = bool(errors.size)
        rho = spearman(errors + labels, labels) if is_labelled else math.nan
        rows.append(
            (
                name,
                float(panel.numbers[:, place].mean()),
                float(errors.mean()) if is_labelled else None,
                float(np.abs(errors).mean()) if is_labelled else None,
                None if math.isnan(rho) else rho,
                *priced(panel.prices[place]),
            )
        )
    return Table(
        "judges",
        f"of each judge, {panel.scale.name}; bias, error and rank correlation against the labels",
        ("judge", "mean", "bias", "error", "rho", "calls", "tokens", "USD"),
        tuple(rows),
        ("error: mean absolute", _PRICED),
    )


def _apart(panel: ScalePanel) -> Table:
    spread = np.ptp(panel.numbers, axis=1)
    order = [row for row in np.argsort(-spread, kind="stable").tolist() if spread[row] > 0]
    rows = tuple(
        (
            panel.items[row].id,
            None if math.isnan(panel.items[row].label) else panel.items[row].label,
            float(spread[row]),
            ", ".join(
                f"{name} {compact(number)}"
                for name, number in zip(panel.judges, panel.items[row].numbers, strict=True)
            ),
        )
        for row in order
    )
    return Table(
        "disagreements",
        f"items by how far the judges lie apart, {panel.scale.unit}: {len(rows)} of "
        f"{len(panel.items)}",
        ("item", "label", "apart", "numbers"),
        rows,
    )


def to_plain(panel: ScalePanel, schema: str) -> dict[str, Any]:
    """What is printed, as JSON values, unrounded."""
    return {
        "schema": schema,
        "suite": panel.suite,
        "seed": panel.seed,
        "judges": list(panel.judges),
        "scale": panel.scale.name,
        "items": len(panel.items),
        "left_out": panel.left_out,
        "labels": {"items": int(np.isfinite(panel.labels).sum())},
        "effective_votes": plain_worth(panel.effective, panel.judges, _correlated(panel)),
        "shifts": [shift.to_dict() for shift in panel.shifts],
        "notices": [*sentences(panel)],
        "tables": {table.name: table.records() for table in tables(panel)},
    }
