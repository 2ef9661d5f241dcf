"""A panel of judges on the same items: what it is worth, what it decides, where it disagrees. Pure.

Counted are the trials that all judges were asked and replied to, and of each judge one vote on each
item. Its vote is what it says most often, over both orders, all wordings and replicates; where two
answers are equally often there is none, so a judge that always takes the first slot has no vote on
a pair that is shown in both orders. A reply without a verdict is no vote, and neither is an
abstention, nor a tie where there are labels and none of them is a tie. An item is wrong by a judge
as far as its replies are not the label: that is a share of them, and a reply without a verdict is
not the label. Prices are those that the caller knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.errors import LogError, UsageError, listed
from pytest_judgesense.measures.calibration import answer_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.effective_votes import EffectiveVotes, effective_votes
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.selective import Selective, most_votes, selective_verdicts
from pytest_judgesense.stats.subsets import BestPanel, best_panels
from pytest_judgesense.trial import ABSTAIN, TIE, Failed, Judgment, Trial, grouped

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AskedItem:
    """An item that all judges were asked.

    Attributes:
        label: ``None`` without one, and where people labelled it because somebody chose it although
            chance drew others.
        category: of the item; empty if the suite has none.
    """

    id: str
    cluster: str
    label: str | None
    category: str


@dataclass(frozen=True)
class Ballots:
    """The votes of judges on the same items.

    Attributes:
        judges: their names.
        items: those that all of them were asked.
        answers: what they say, by code: the labels first, in their order.
        votes: the code of each vote, -1 for none, shape (items, judges).
        errors: of each judge's replies on an item the share that is not the label, the same shape;
            NaN without a label.
        shares: of each judge's replies on an item the share that gives an answer, shape (items,
            judges, answers).
        common: the ids of the trials that all were asked.
        left_out: number of those that only some of them were, or that one did not reply to.
        by_people: whether people gave the labels; else the suite states them.
        drawn: how the items were drawn that people labelled; ``None`` if nobody says.
    """

    judges: tuple[str, ...]
    items: tuple[AskedItem, ...]
    answers: tuple[str, ...]
    votes: NDArray[np.intp]
    errors: _Floats
    shares: _Floats
    common: frozenset[str]
    left_out: int
    by_people: bool
    drawn: str | None

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Of each item whether it has a label."""
        return np.array([item.label is not None for item in self.items])

    @property
    def labels(self) -> NDArray[np.intp]:
        """The code of each item's label; -1 without one."""
        code = {answer: place for place, answer in enumerate(self.answers)}
        return np.array([-1 if i.label is None else code[i.label] for i in self.items])

    @property
    def clusters(self) -> list[str]:
        """The cluster of each item."""
        return [item.cluster for item in self.items]


def ballots_of(cells: Sequence[Cell]) -> Ballots:
    """The votes of the judges of some cells, which are of one suite.

    Raises:
        UsageError: replies grade several criteria, the cells have no trial in common, or one asks
            for slots and another for labels.
        LogError: a trial has several labels.
    """
    first = cells[0]
    for cell in cells:
        if cell.design.criteria or cell.design.pairwise != first.design.pairwise:
            raise UsageError(
                f"there is no vote of judge {cell.judge} on {cell.suite}",
                found="grades of several criteria"
                if cell.design.criteria
                else f"pairwise is {cell.design.pairwise}, of judge {first.judge} "
                f"{first.design.pairwise}",
                expected="one verdict a reply, of the same form for all judges",
                remedy="compare judges of rubrics: judgesense compare LOG",
            )
    replied = [
        {j.trial.id: j for j in cell.judgments if not isinstance(j.outcome, Failed)}
        for cell in cells
    ]
    every = {judgment.trial.id for cell in cells for judgment in cell.judgments}
    common = reduce(lambda ids, of: ids & of.keys(), replied, set(every))
    if not common:
        raise UsageError(
            f"the judges have no trial of {first.suite} in common",
            found=listed(
                f"{len(of)} of {cell.judge}" for cell, of in zip(cells, replied, strict=True)
            ),
            expected="the same items, templates, orders and replicates, by the ids of the trials",
            remedy="ask them the same suite; imports of the same items: judgesense import ... "
            "--suite NAME",
        )
    drawn = next((c.design.labelled for c in cells if c.design.labelled is not None), None)
    labels = {id_: _label([of[id_].trial for of in replied], drawn) for id_ in common}
    in_order = (judgment.trial for judgment in first.judgments if judgment.trial.id in common)
    questions = grouped(in_order, lambda trial: (trial.item, labels[trial.id]))
    items = tuple(
        AskedItem(item, of[0].cluster, label, str(of[0].condition.get("category", "")))
        for (item, label), of in questions.items()
    )
    replies = [
        [[of[trial.id] for of in replied] for trial in trials] for trials in questions.values()
    ]
    trials = [judgment.trial for cell in cells for judgment in cell.judgments]
    answers = _answers(first, items, replies)
    return Ballots(
        tuple(cell.judge for cell in cells),
        items,
        answers,
        *_counted(answers, items, replies),
        common=frozenset(common),
        left_out=len(every) - len(common),
        by_people=drawn is not None or any(trial.people for trial in trials),
        drawn=drawn,
    )


def _label(trials: Sequence[Trial], drawn: str | None) -> str | None:
    """The label of a trial, which the logs agree on that have one."""
    labels = {trial.label for trial in trials} - {None}
    if len(labels) > 1:
        raise LogError(
            f"trial {trials[0].id} has another label in the log of each judge",
            found=listed(sorted(filter(None, labels))),
            expected="one label",
            remedy="import the logs again with the same labels",
        )
    if not labels or (any(trial.picked for trial in trials) and drawn != "chosen"):
        return None
    return labels.pop()


def _counted(
    answers: Sequence[str],
    items: Sequence[AskedItem],
    replies: Sequence[Sequence[Sequence[Judgment]]],
) -> tuple[NDArray[np.intp], _Floats, _Floats]:
    """Votes, errors and shares (see `Ballots`), from the replies by item, trial and judge."""
    code = {answer: place for place, answer in enumerate(answers)}
    shape = len(items), len(replies[0][0])
    votes = np.full(shape, -1, dtype=np.intp)
    errors, shares = np.full(shape, np.nan), np.zeros((*shape, len(answers)))
    labels = {item.label for item in items if item.label is not None}
    no_votes = {ABSTAIN, TIE} - labels if labels else {ABSTAIN}
    for row, (item, of_item) in enumerate(zip(items, replies, strict=True)):
        for column, of_judge in enumerate(zip(*of_item, strict=True)):
            counts = Counter(map(answer_of, of_judge))
            if item.label is not None:
                errors[row, column] = 1 - counts[item.label] / len(of_judge)
            for answer, count in counts.items():
                if answer is not None:
                    shares[row, column, code[answer]] = count / len(of_judge)
            answer = _most_often(counts)
            if answer is not None and answer not in no_votes:
                votes[row, column] = code[answer]
    return votes, errors, shares


def _most_often(counts: Counter[str | None]) -> str | None:
    """What is counted most often; ``None`` for a tie."""
    (answer, most), *others = counts.most_common(2)
    return None if others and others[0][1] == most else answer


def _answers(
    cell: Cell,
    items: Sequence[AskedItem],
    replies: Sequence[Sequence[Sequence[Judgment]]],
) -> tuple[str, ...]:
    """What is said, and what the labels are: as the suite has them in order, then others."""

    def every() -> Iterator[str]:
        yield from ("1", "2") if cell.design.pairwise else cell.design.labels
        yield from sorted(item.label for item in items if item.label is not None)
        stated = (answer_of(j) for of_item in replies for trial in of_item for j in trial)
        yield from sorted(answer for answer in stated if answer is not None)

    return tuple(dict.fromkeys(every()))


@dataclass(frozen=True, slots=True)
class VotePrice:
    """What a vote of a judge takes, in the mean over the items.

    Attributes:
        calls: trials.
        tokens: of prompts and replies; ``None`` if the endpoint gives no count.
        usd: ``None`` if no prices are known.
    """

    calls: float
    tokens: float | None
    usd: float | None


@dataclass(frozen=True)
class JudgePanel:
    """Judges on the items of a suite that all of them were asked.

    Attributes:
        prices: of each judge, in their order.
        alpha: the error that is allowed among what the panel decides.
        seed: of the folds.
        later_labels: how many labels people gave when votes were there already; the rest is not
            known to be blind either.
    """

    suite: str
    ballots: Ballots
    prices: tuple[VotePrice, ...]
    alpha: float
    seed: int
    later_labels: int = 0

    @cached_property
    def by_errors(self) -> bool:
        """Whether errors are correlated; else verdicts."""
        return bool(self.ballots.labelled.any())

    @cached_property
    def effective(self) -> EffectiveVotes | NotEstimable:
        """The effective number of votes."""
        of = self.ballots
        if not self.by_errors:
            return effective_votes(of.shares, of.clusters)
        return effective_votes(of.errors[of.labelled], self._labelled_clusters)

    @cached_property
    def sizes(self) -> tuple[BestPanel, ...] | NotEstimable:
        """The best panel of each size; empty without labels."""
        of = self.ballots
        if not self.by_errors:
            return ()
        rows = of.labelled
        return best_panels(of.votes[rows], of.labels[rows], self._labelled_clusters, self.seed)

    @cached_property
    def selective(self) -> Selective | NotEstimable | None:
        """From how many votes on it decides; ``None`` without labels."""
        of = self.ballots
        if not self.by_errors:
            return None
        rows = of.labelled
        return selective_verdicts(
            of.votes[rows], of.labels[rows], self._labelled_clusters, self.alpha
        )

    @cached_property
    def top(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Of each item the answer with most votes, -1 for none, and how many it has."""
        return most_votes(self.ballots.votes)

    @cached_property
    def split(self) -> NDArray[np.intp]:
        """The items on which not all judges have the same vote, the most divided first."""
        votes = self.top[1]
        rows = np.flatnonzero(votes < len(self.ballots.judges))
        return rows[np.argsort(votes[rows], kind="stable")]

    def decided_at(self, votes: int) -> int:
        """How many of all items have so many votes for one answer."""
        return int((self.top[1] >= votes).sum())

    def price_of(self, judges: Sequence[int]) -> VotePrice:
        """What an item takes of several judges."""
        of = [self.prices[judge] for judge in judges]
        tokens = [price.tokens for price in of if price.tokens is not None]
        usd = [price.usd for price in of if price.usd is not None]
        return VotePrice(
            sum(price.calls for price in of),
            sum(tokens) if len(tokens) == len(of) else None,
            sum(usd) if len(usd) == len(of) else None,
        )

    @property
    def _labelled_clusters(self) -> list[str]:
        return [item.cluster for item in self.ballots.items if item.label is not None]

    @property
    def labels_of(self) -> str:
        """Whose labels they are."""
        return "people's labels" if self.ballots.by_people else "the suite's labels"
