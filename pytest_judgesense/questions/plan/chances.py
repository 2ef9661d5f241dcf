"""The chance that each check of a suite fails, the drop that it detects, and a precision's price.

Of each the values and the words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from pytest_judgesense.asking.inquiry import Asking
from pytest_judgesense.earlier.past import measured_now
from pytest_judgesense.errors import CassetteError, CodeNotRun, MissingRecording, StaleRecording
from pytest_judgesense.estimate import Estimate, number_text
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.trust import NO_CODE
from pytest_judgesense.measurement import measure, measurement_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.questions.plan.power import CheckPower, PowerAssumptions, powers
from pytest_judgesense.questions.pricing import cassettes_of
from pytest_judgesense.registry import Instrument, Registry
from pytest_judgesense.stats.chances import Chance
from pytest_judgesense.stats.new_wordings import fewest_clusters
from pytest_judgesense.stats.settle import MOST_CLUSTERS
from pytest_judgesense.stats.variance import (
    REPLICATE,
    balanced_array,
    cheapest_split,
    variance_components,
)
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import indented
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
    scores_by_cluster = array[0]
    if (scores_by_cluster == scores_by_cluster[:1]).all():
        # The components of what was never seen to differ are 0: no number of clusters follows.
        yield f"{wanted}: not known, as no two {factors[0]}s here differ in {name}"
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


_Shown: TypeAlias = Chance | float | str | None

_HEAD: Final = ("check", "now", "same items", "new items", "drop", "whole", "clusters")


class RecordedVerdicts(NamedTuple):
    """What is recorded of a judge on a suite.

    Attributes:
        cell: the verdicts; ``None`` where they are not to be had.
        stopped: where the recording was stopped; empty where it was not.
        lacking: why there are none.
    """

    cell: Cell | None = None
    stopped: str = ""
    lacking: str = ""


@dataclass(frozen=True)
class SuiteChances:
    """The error rates of all checks of a suite.

    Attributes:
        suite: its name.
        assumed: the parameters.
        judge: whose recording they come from; ``None`` where they come from the plan alone.
        judgments: of the recording.
        notes: where the recording was stopped, or why none is used, as lines.
        checks: a row each.
        precision: where the variance of the recording lies, and the cheapest design for a
            precision, as lines; empty for the plan alone.
    """

    suite: str
    assumed: PowerAssumptions
    judge: str | None
    judgments: int
    notes: tuple[str, ...]
    checks: tuple[CheckPower, ...]
    precision: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """The error rates as a table, the reasons for its gaps, and the cheapest design."""
        is_recorded = self.judge is not None
        whose = f"judge {self.judge}, {self.judgments} judgments"
        source = whose if is_recorded else "the plan alone"
        yield f"{self.suite}, policy {self.assumed.policy}: {source}"
        yield from self.notes
        like = "judges like this recording" if is_recorded else "judges as assumed"
        yield f"chance not to pass (95% interval) for {like}; smallest drop detected in 80%,"
        yield "scattered over all units (drop) and on whole clusters (whole)"
        yield from self._table_lines()
        yield from self.precision

    def _table_lines(self) -> Iterator[str]:
        drop = self.assumed.drop
        head = [*_HEAD, *([f"for {drop:g}"] if drop else [])]
        table, notes = [head], _Notes()
        for row in self.checks:
            values: tuple[_Shown, ...] = (
                *(row.value, row.again, row.anew, row.drop, row.whole),
                *(row.clusters, row.needed),
            )
            table.append([row.name, *map(notes.shown, values[: len(head) - 1])])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for cells in table:
            yield ("  " + "  ".join(map(str.ljust, cells, widths))).rstrip()
        yield from notes.lines()

    def to_dict(self) -> Mapping[str, Any]:
        return {
            "policy": self.assumed.policy,
            "judge": self.judge,
            "judgments": self.judgments,
            "notes": [note.strip() for note in self.notes],
            "checks": [check_row(check) for check in self.checks],
            "precision": list(self.precision),
        }


class _Notes:
    """The reasons for gaps of a table, numbered as they come."""

    def __init__(self) -> None:
        self._reasons: dict[str, None] = {}

    def shown(self, value: _Shown) -> str:
        """A cell of the table; of a reason its number."""
        if isinstance(value, str):
            self._reasons[value] = None
            return f"({list(self._reasons).index(value) + 1})"
        if isinstance(value, Chance):
            is_exact = value.lower == value.upper
            span = "" if is_exact else f" ({value.lower:.0%} to {value.upper:.0%})"
            return f"{value.value:.0%}{span}"
        if isinstance(value, int):
            return str(value)
        return "-" if value is None else number_text(value)

    def lines(self) -> Iterator[str]:
        yield from (f"  ({i}) {reason}" for i, reason in enumerate(self._reasons, start=1))


def check_row(check: CheckPower) -> dict[str, Any]:
    """A check as plain values: a chance with its interval, or the reason why there is none."""
    values = asdict(check)
    row: dict[str, Any] = {"check": values.pop("name"), **values}
    for name in ("again", "anew"):
        chance = getattr(check, name)
        if isinstance(chance, Chance):
            row[name] = {"value": chance.value, "lower": chance.lower, "upper": chance.upper}
    return row


def chances_of(
    suite: Suite,
    assumed: PowerAssumptions,
    judge: JudgeSpec | None = None,
    cassettes: Path = Path("cassettes"),
) -> SuiteChances:
    """The error rates of the checks of a suite.

    Without a judge, or where its verdicts are not to be had of its recording, as it would be asked
    now, by the plan alone.
    """
    recorded = _recorded(judge, suite, assumed, cassettes) if judge else RecordedVerdicts()
    cell = recorded.cell
    notes = [f"  {recorded.stopped}"] if recorded.stopped else []
    if judge and not cell:
        notes += indented(recorded.lacking, 2)
    return SuiteChances(
        suite.name,
        assumed,
        cell.judge if cell else None,
        len(cell.all_judgments) if cell else 0,
        tuple(notes),
        tuple(powers(suite, assumed, cell)),
        tuple(split_lines(cell, assumed.half_width, assumed.registry)) if cell else (),
    )


def _recorded(
    judge: JudgeSpec, suite: Suite, assumed: PowerAssumptions, cassettes: Path
) -> RecordedVerdicts:
    """What is recorded of a judge, as it would be asked now."""
    seed = assumed.seed
    # A plan takes no longer where a suite is large.
    asking = Asking(trust=NO_CODE, registry=assumed.registry, computes=lambda _: False)
    lacking = f"not all trials of judge {judge.name} are recorded as they would be asked now"
    with closing(AskingLoop()) as loop, suppress(MissingRecording, StaleRecording):
        try:
            measurement = measurement_of(
                judge,
                lambda asked: measure(
                    *(asked, suite, cassettes_of(asked, suite, cassettes), loop),
                    seed=seed,
                    asking=asking,
                ),
            ).sound()
        except CodeNotRun as error:
            lacking = f"{error.what}: {error.found}"
            if cell := _returned(judge, suite, assumed, cassettes):
                return RecordedVerdicts(cell)
        else:
            stop = measurement.stop
            return RecordedVerdicts(measurement.cell, stop.said(suite.name) if stop else "")
    return RecordedVerdicts(lacking=lacking)


def _returned(
    judge: JudgeSpec, suite: Suite, assumed: PowerAssumptions, cassettes: Path
) -> Cell | None:
    """The verdicts by what a function returned, whatever it would do today, if all are there."""
    with suppress(CassetteError):
        now, _ = measured_now(judge, suite, cassettes, assumed.seed, assumed.registry)
        cell = now.side.cell
        if cell and len(cell.all_judgments) == len(plan_trials(suite)):
            return cell
    return None
