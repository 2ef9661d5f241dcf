"""What single replies say: agreement with the label, repeat flips, replies without a verdict.

Conventions::

    agreement        = mean 1[verdict = label] over replies received; an unparsed reply is not equal
    repeat_flip_rate = items (in one template and order) whose replicates name more than one
                       verdict / those with two or more parsed replicates
    unparsed_rate    = replies without a usable verdict / replies received
    refusal_rate     = replies that decline to judge / replies received, a part of these
    failed_rate      = calls without a reply / calls

A failed call is no reply: it stands beside each other rate and in its worst-case bounds.

A refusal is a reply of which the reader or the endpoint says so (`replies`); logs of others may say
``refused``. Of several answers to one trial, graded one by one, one that is refused suffices.

Of calls on pairs, W the content that is chosen::

    tie_rate     = mean 1[W = tie]             abstain_rate = mean 1[W = abstain]

Both prefer neither content, but only a tie is a judgment of the pair.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.measures import shared
from pytest_judgesense.measures.cell import Cell, Units, answered, rate, unavailable
from pytest_judgesense.measures.measure import Measure
from pytest_judgesense.trial import ABSTAIN, TIE, Condition, Failed, Judgment, Unparsed

# How the reasons of replies that decline to judge begin: those of readers, and those of logs.
_REFUSED = ("refusal", "refused")


def _received(judgment: Judgment) -> bool:
    return not isinstance(judgment.outcome, Failed)


def agreement(cell: Cell) -> list[Estimate]:
    """Agreement with the label, where items have one."""
    labelled = [judgment for judgment in cell.judgments if judgment.trial.label is not None]
    if not labelled:
        return [unavailable(shared.AGREEMENT, cell, "the items have no labels")]
    units = Units.of_calls(labelled, lambda judgment: judgment.correct is True, usable=_received)
    return [rate(shared.AGREEMENT, cell, units)]


def repeat_flips_of_replicates(cell: Cell) -> list[Estimate]:
    """Repeat flips, where anything was asked more than once."""
    repeated = any(judgment.trial.replicate > 1 for judgment in cell.judgments)
    return repeat_flips(cell) if repeated else []


def repeat_flips(cell: Cell) -> list[Estimate]:
    """Repeat flips; unavailable where nothing was asked more than once."""
    return [repeat_flip_rate(cell)]


def repeat_flip_rate(cell: Cell, condition: Condition | None = None) -> Estimate:
    """Items whose replicates disagree, over the judgments of ``cell``."""
    repeats: dict[tuple[str, str, str], list[Judgment]] = defaultdict(list)
    for judgment in cell.judgments:
        trial = judgment.trial
        repeats[trial.item, trial.template, trial.order].append(judgment)
    groups = [tuple(group) for group in repeats.values() if len(group) > 1]
    if not groups:
        reason = "needs two or more replicates; set replicates in [design]"
        return unavailable(shared.REPEAT_FLIP_RATE, cell, reason, condition)
    return rate_of_disagreement(shared.REPEAT_FLIP_RATE, cell, groups, condition)


def rate_of_disagreement(
    measure: Measure,
    cell: Cell,
    groups: Sequence[tuple[Judgment, ...]],
    condition: Condition | None = None,
) -> Estimate:
    """How many ``groups`` of two judgments or more name different verdicts."""
    enough = [group for group in groups if sum(map(answered, group)) > 1]
    every = Units.collect(groups, disagree)
    units = replace(
        Units.collect(enough, disagree, usable=lambda _: True),
        unparsed=every.unparsed,
        failed=every.failed,
        calls=every.calls,
        dropped=len(groups) - len(enough),
        # Judgments that agree so far, with one missing: a reply could still have disagreed.
        undecided=sum(not disagree(*group) and not all(map(answered, group)) for group in enough),
    )
    return rate(measure, cell, units, condition)


def disagree(*group: Judgment) -> bool:
    """Whether judgments name more than one verdict."""
    return len({judgment.verdict for judgment in group} - {None}) > 1


def unparsed(cell: Cell) -> list[Estimate]:
    """Replies without a verdict, of those received."""
    units = Units.of_calls(
        cell.judgments, lambda judgment: isinstance(judgment.outcome, Unparsed), usable=_received
    )
    return [rate(shared.UNPARSED_RATE, cell, units)]


def is_refusal(reason: str) -> bool:
    """Whether the reason of an `Unparsed` says that the judge declined to judge."""
    return any(one.startswith(_REFUSED) for one in reason.split("; "))


def refused(judgment: Judgment) -> bool:
    """Whether a judgment is a reply that declines to judge."""
    return isinstance(judgment.outcome, Unparsed) and is_refusal(judgment.outcome.reason)


def refusals(cell: Cell) -> list[Estimate]:
    """Replies that decline to judge, of those received."""
    return [
        rate(shared.REFUSAL_RATE, cell, Units.of_calls(cell.judgments, refused, usable=_received))
    ]


def failed(cell: Cell) -> list[Estimate]:
    """Calls without a reply, of all."""
    units = Units.of_calls(
        cell.judgments, lambda judgment: not _received(judgment), usable=lambda _: True
    )
    return [rate(shared.FAILED_RATE, cell, units)]


def chosen_rate(
    measure: Measure, cell: Cell, judgments: Iterable[Judgment], condition: Condition, content: str
) -> Estimate:
    """Share of the calls that choose a content: ``1``, ``2``, ``tie`` or ``abstain``."""
    units = Units.of_calls(judgments, lambda judgment: judgment.chosen == content)
    return rate(measure, cell, units, condition)


def tie_and_abstain_rate(
    cell: Cell, judgments: Iterable[Judgment], condition: Condition
) -> list[Estimate]:
    """Shares of the calls that answer a tie, and that abstain."""
    judgments = list(judgments)
    return [
        chosen_rate(shared.TIE_RATE, cell, judgments, condition, TIE),
        chosen_rate(shared.ABSTAIN_RATE, cell, judgments, condition, ABSTAIN),
    ]


def tie_rates(cell: Cell) -> list[Estimate]:
    """The same over all calls."""
    return tie_and_abstain_rate(cell, cell.judgments, {})
