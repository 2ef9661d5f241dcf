"""What single replies say: agreement with the label, repeat flips, replies without a verdict.

Conventions::

    agreement        = mean 1[verdict = label] over replies received; an unparsed reply is not equal
    repeat_flip_rate = items (in one template and order) whose replicates name more than one
                       verdict / those with two or more parsed replicates
    unparsed_rate    = replies without a usable verdict / replies received
    failed_rate      = calls without a reply / calls

A failed call is no reply: it stands beside each other rate and in its worst-case bounds.
"""

from __future__ import annotations

from collections import defaultdict

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.measures.cell import Cell, Units, rate, unavailable
from pytest_judgesense.trial import Condition, Failed, Judgment, Unparsed

__all__ = ["repeat_flips", "reply_estimates"]


def reply_estimates(cell: Cell) -> list[Estimate]:
    """Agreement where items have labels, repeat flips of replicates, and what is missing."""
    estimates = []
    paraphrase = cell.design.kind == "paraphrase"
    if paraphrase:
        estimates.append(_agreement(cell))
    repeated = any(judgment.trial.replicate > 1 for judgment in cell.judgments)
    # Of debates it is measured by prompt as well: see `debate`. At several temperatures replicates
    # are no repetitions of one another.
    if cell.design.kind not in ("debate", "temperature") and (paraphrase or repeated):
        estimates.append(repeat_flips(cell))
    return [*estimates, _unparsed(cell), _failed(cell)]


def _received(judgment: Judgment) -> bool:
    return not isinstance(judgment.outcome, Failed)


def _agreement(cell: Cell) -> Estimate:
    labelled = [judgment for judgment in cell.judgments if judgment.trial.label is not None]
    if not labelled:
        return unavailable("agreement", cell, "the items have no labels")
    units = Units.collect(
        ((judgment,) for judgment in labelled),
        lambda judgment: float(judgment.correct is True),
        usable=_received,
    )
    return rate("agreement", cell, units)


def repeat_flips(cell: Cell, condition: Condition | None = None) -> Estimate:
    """Items whose replicates disagree, over the judgments of ``cell``."""
    repeats: dict[tuple[str, str, str], list[Judgment]] = defaultdict(list)
    for judgment in cell.judgments:
        trial = judgment.trial
        repeats[trial.item, trial.template, trial.order].append(judgment)
    groups = [tuple(group) for group in repeats.values() if len(group) > 1]
    if not groups:
        reason = "needs two or more replicates; set replicates in [design]"
        return unavailable("repeat_flip_rate", cell, reason, condition)
    enough = [
        group for group in groups if sum(judgment.verdict is not None for judgment in group) > 1
    ]

    def flips(*group: Judgment) -> float:
        return float(len({judgment.verdict for judgment in group} - {None}) > 1)

    units = Units.collect(enough, flips, usable=lambda _: True)
    every = Units.collect(groups, flips)
    units = Units(
        units.values,
        units.clusters,
        dropped=len(groups) - len(enough),
        unparsed=every.unparsed,
        failed=every.failed,
        calls=every.calls,
        # Replicates that agree so far, with one missing: a reply could still have disagreed.
        undecided=sum(
            not flips(*group) and any(judgment.verdict is None for judgment in group)
            for group in enough
        ),
        keys=units.keys,
    )
    return rate("repeat_flip_rate", cell, units, condition)


def _unparsed(cell: Cell) -> Estimate:
    units = Units.collect(
        ((judgment,) for judgment in cell.judgments),
        lambda judgment: float(isinstance(judgment.outcome, Unparsed)),
        usable=_received,
    )
    return rate("unparsed_rate", cell, units)


def _failed(cell: Cell) -> Estimate:
    units = Units.collect(
        ((judgment,) for judgment in cell.judgments),
        lambda judgment: float(not _received(judgment)),
        usable=lambda _: True,
    )
    return rate("failed_rate", cell, units)
