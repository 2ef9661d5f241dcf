"""A panel of judges on the same items: what it is worth, what it decides, where it disagrees. Pure.

Every number comes from the votes of `ballots`; prices are those that the caller knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.questions.report.panel.ballots import Ballots
from pytest_judgesense.stats.effective_votes import EffectiveVotes, effective_votes
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.selective import Selective, most_votes, selective_verdicts
from pytest_judgesense.stats.subsets import BestPanel, best_panels


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
