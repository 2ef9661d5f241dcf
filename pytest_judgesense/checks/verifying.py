r"""Is the judge still the recorded one? A sample of recorded trials is called again. Pure.

The sample is the N recorded trials (those with a reply) whose ids, hashed with the seed, come
first. So the same seed gives the same sample on every machine, and a larger N adds to it.

If trials of the sample were recorded two or more times (replicates of one item, template and
order), an exact permutation test (`stats.permutation`) compares a fresh reply with all recorded
ones of its question: a judge at a temperature above 0 varies anyway, and only a larger change shows
a different judge. Without replicates this variation is unknown: k of N have changed, with the exact
interval (Clopper-Pearson), and there is no p-value.

An unparsed reply is a reply: a change from or to a verdict counts. A failed call says nothing about
the judge: it is counted and not compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytest_judgesense.stats.proportions import clopper_pearson
from pytest_judgesense.text.layout import columns, excerpt, indented
from pytest_judgesense.trial import Failed, Judgment, Trial, Unparsed, grouped

NO_LONGER: Final = "this judge is no longer the one recorded"

_LEVEL: Final = 0.05
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Change:
    """A verdict that differs from the recorded one."""

    trial: str
    recorded: str
    recorded_reply: str
    fresh: str
    fresh_reply: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of calling recorded trials again.

    Attributes:
        recorded: recorded trials with a reply, from which the sample was drawn.
        compared: trials of the sample that were answered again.
        left_out: trials that a limit of the user left out.
        p_value: of the permutation test; ``None`` without recorded replicates.
        groups: number of questions tested.
        served: models named in the recorded and the fresh replies.
    """

    judge: str
    suite: str
    seed: int
    recorded: int
    sampled: int
    compared: int
    unparsed: int
    failed: int
    left_out: int
    changes: tuple[Change, ...]
    p_value: float | None
    groups: int
    served: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


def sampled(judgments: Iterable[Judgment], count: int, seed: int) -> list[Trial]:
    """The trials to call again, in the order of ``judgments``; all if there are fewer."""
    trials = [judgment.trial for judgment in judgments if _has_reply(judgment)]

    def drawn(trial: Trial) -> bytes:
        return hashlib.sha256(f"{seed}:{trial.id}".encode()).digest()

    chosen = {trial.id for trial in sorted(trials, key=drawn)[:count]}
    return [trial for trial in trials if trial.id in chosen]


def compare(
    recorded: Sequence[Judgment],
    trials: Sequence[Trial],
    fresh: Sequence[Judgment],
    judge: str,
    suite: str,
    seed: int,
    served: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
) -> Verification:
    """The changes from the recorded judgments to fresh ones of a sample of ``trials``."""
    from pytest_judgesense.stats.permutation import p_of_exchange

    by_id = {judgment.trial.id: judgment for judgment in recorded}
    replied = [judgment for judgment in fresh if _has_reply(judgment)]
    pairs = [(by_id[judgment.trial.id], judgment) for judgment in replied]
    groups = _groups(recorded, replied)
    return Verification(
        judge=judge,
        suite=suite,
        seed=seed,
        recorded=sum(map(_has_reply, recorded)),
        sampled=len(trials),
        compared=len(replied),
        unparsed=sum(isinstance(judgment.outcome, Unparsed) for judgment in replied),
        failed=len(fresh) - len(replied),
        left_out=len(trials) - len(fresh),
        changes=tuple(
            Change(now.trial.id, _said(then), then.reply or "", _said(now), now.reply or "")
            for then, now in pairs
            if then.verdict != now.verdict
        ),
        p_value=p_of_exchange(groups) if groups else None,
        groups=len(groups),
        served=served,
    )


def _groups(
    recorded: Iterable[Judgment], fresh: Iterable[Judgment]
) -> list[tuple[list[str | None], list[str | None]]]:
    """Recorded and fresh verdicts (``None``: unparsed) of each question that was asked again.

    Empty if no trial of the sample was recorded twice.
    """

    def question(judgment: Judgment) -> tuple[object, ...]:
        trial = judgment.trial
        return trial.item, trial.template, trial.order, trial.condition.get("temperature")

    then, now = (grouped(filter(_has_reply, some), question) for some in (recorded, fresh))
    groups = [
        (
            [judgment.verdict for judgment in then[question]],
            [judgment.verdict for judgment in replies],
        )
        for question, replies in now.items()
    ]
    return groups if any(len(replicates) > 1 for replicates, _ in groups) else []


def _has_reply(judgment: Judgment) -> bool:
    return not isinstance(judgment.outcome, Failed)


def _said(judgment: Judgment) -> str:
    outcome = judgment.outcome
    return (
        f"unparsed ({outcome.reason})" if isinstance(outcome, Unparsed) else str(judgment.verdict)
    )


def verification_from_plain(value: Mapping[str, Any]) -> Verification:
    """The verification from its JSON fields, as a worker process sends them."""
    then, now = value["served"]
    changes = tuple(Change(**change) for change in value["changes"])
    return Verification(**{**value, "changes": changes, "served": (tuple(then), tuple(now))})


def verification_lines(fresh: Verification) -> Iterator[str]:
    """The findings in lines of at most 100 columns; text of judges is escaped."""
    yield from indented(
        f"judge {fresh.judge} on {fresh.suite}: {len(fresh.changes)} of {fresh.compared} verdicts "
        f"changed",
        width=0,
    )
    yield from indented(_finding(fresh), width=2)
    counts = [
        f"{fresh.sampled} of {fresh.recorded} recorded trials asked again (seed {fresh.seed})",
        f"{fresh.unparsed} unparsed",
        f"{fresh.failed} failed",
    ]
    if fresh.left_out:
        counts.append(f"{fresh.left_out} left out by a limit")
    yield from indented(", ".join(counts), width=2)
    then, now = (", ".join(models) for models in fresh.served)
    if then != now and now:
        yield from indented(
            f"served as {then or 'nothing named'} when recorded, now as {now}", width=2
        )
    for change in fresh.changes[:_SHOWN]:
        yield from indented(change.trial, width=2)
        width = (columns() - 4 - 3) // 2
        then = excerpt(f"recorded {change.recorded}: {change.recorded_reply}", width)
        now = excerpt(f"fresh {change.fresh}: {change.fresh_reply}", width)
        yield f"    {then:<{width}} | {now}".rstrip()
    if len(fresh.changes) > _SHOWN:
        yield f"  ... and {len(fresh.changes) - _SHOWN} more"


def _finding(fresh: Verification) -> str:
    if not fresh.compared:
        return "nothing was answered, so nothing can be said"
    if fresh.p_value is None:
        interval = clopper_pearson(len(fresh.changes), fresh.compared)
        return (
            f"95% interval [{interval.lower:.3f}, {interval.upper:.3f}] (Clopper-Pearson); no "
            "p-value: without recorded replicates nothing says how often this judge changes its "
            "mind by itself"
        )
    p_value = "p < 0.0001" if fresh.p_value < 1e-4 else f"p = {fresh.p_value:.4f}"
    test = f"exact permutation test within {fresh.groups} questions: {p_value}"
    if fresh.p_value < _LEVEL:
        return f"{test}: {NO_LONGER}"
    return f"{test}: no more than its recorded replicates differ among themselves"
