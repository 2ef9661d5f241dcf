"""Scores moved between two sessions: did the judge move, or what it judges?

Pure. The judge is asked about anchors again: outputs that never change. What it says of them now
and then tells what the judge did; what fresh outputs changed beyond that, what the product did.
Each is an e-process over clusters, looked at after every one (`stats.betting`).

Fresh outputs also change because other things are asked. They are told from what was asked only
where both sessions were asked alike: then pairs within strata (`within_strata`) take the
place of all of them. Else what moved is the outputs, or what was asked.

The score of a verdict lies within 0 to 1: 1 for a label that passes, else 0; on a scale its place,
from the lowest grade to the highest; of a pair 1 where content 1 wins, a half for a tie. A cluster
has the mean of its items, an item that of its replicates. An anchor is compared where both sessions
asked the same of it: under the same template, in the same order. A reply without a verdict has no
score, and is counted.

With labels of people half of the stake on the judge is on its agreement: of pairs and single labels
whether the verdict is the label, of a scale 1 less their distance. There a reply that states no
verdict agrees in nothing, and only one that never came is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final, TypeAlias, TypeVar

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.questions.compare.within_strata import (
    Pairs,
    Strata,
    by_stratum,
    drawn,
    pairs_within,
)
from pytest_judgesense.stats.betting import FEWEST, Bets, bets_beyond, bets_on, in_steps
from pytest_judgesense.trial import ABSTAIN, TIE, Design, Failed, Judgment

_Name = TypeVar("_Name")
# From a judgment to a number within 0 to 1; ``None`` for none.
Score: TypeAlias = Callable[[Judgment], float | None]
# The judgments of each item.
ByItem: TypeAlias = Mapping[str, Sequence[Judgment]]

_CONTENTS: Final = {"1": 1.0, TIE: 0.5, "2": 0.0}


@dataclass(frozen=True, slots=True)
class Scoring:
    """How verdicts are scored.

    Attributes:
        labels: the answers, in order.
        passes: those that pass; empty on a scale, and of pairs.
        pairwise: whether two contents are compared.
    """

    labels: tuple[str, ...]
    passes: tuple[str, ...] = ()
    pairwise: bool = False

    @classmethod
    def of(cls, designs: Mapping[str, Design], passes: Sequence[str] = ()) -> Scoring:
        """How the verdicts of suites are scored, all of them alike.

        A log that states no design has the labels that occur in it: those of the others are
        possible too.

        Args:
            designs: by the name of the suite.
            passes: the labels that pass, where the user has named them.

        Raises:
            UsageError: nothing says which label is the better one; what is named is none; or the
                suites have no common scale.
        """
        _refuse_criteria(designs)
        every = tuple(dict.fromkeys(label for of in designs.values() for label in of.labels))
        widest = max(designs.values(), key=lambda design: len(design.labels))
        pairwise = {design.pairwise for design in designs.values()}
        if len(pairwise) > 1 or not (passes or widest.pairwise or {*every} <= {*widest.labels}):
            raise UsageError(
                "the outputs and the anchors are not scored alike",
                found="; ".join(f"{suite}: {listed(of.labels)}" for suite, of in designs.items()),
                expected="verdicts of one kind",
                remedy="name the suites of a log that are meant: --suite NAME",
            )
        if passes and (widest.pairwise or not {*passes} <= {*every}):
            raise UsageError(
                "what passes is no answer of the judge",
                found=",".join(passes),
                expected="nothing: a pair scores by whether content 1 wins"
                if widest.pairwise
                else f"one or more of {listed(every)}",
            )
        if not (passes or widest.pairwise or widest.ordinal):
            raise UsageError(
                "nothing says which verdict is the better one",
                found=listed(every),
                expected="the labels that pass",
                remedy="name them: --passes LABEL,...",
            )
        return cls(every if passes else widest.labels, tuple(passes), widest.pairwise)

    def score(self, judgment: Judgment) -> float | None:
        """The score of a judgment; ``None`` without a verdict, and for an abstention."""
        return self._place(judgment.chosen if self.pairwise else judgment.verdict)

    def agreement(self, judgment: Judgment, label: str) -> float | None:
        """How near a judgment is to a label, from 0 to 1; ``None`` for a reply that never came."""
        if isinstance(judgment.outcome, Failed):
            return None
        answer = judgment.chosen if self.pairwise else judgment.verdict
        if self.pairwise or self.passes:
            return float(answer == label)
        places = self._place(answer), self._place(label)
        return 0.0 if None in places else 1 - abs((places[0] or 0.0) - (places[1] or 0.0))

    def _place(self, answer: str | None) -> float | None:
        if self.pairwise:
            return _CONTENTS.get(answer or "")
        if answer not in self.labels or answer == ABSTAIN:
            return None
        if self.passes:
            return float(answer in self.passes)
        return self.labels.index(answer) / (len(self.labels) - 1)


def _refuse_criteria(designs: Mapping[str, Design]) -> None:
    for suite, design in designs.items():
        if design.criteria:
            raise UsageError(
                f"{suite} grades several criteria, and one score is followed here",
                found=listed(criterion.name for criterion in design.criteria),
                expected="verdicts of one label, or one grade, each",
            )


@dataclass(frozen=True, slots=True)
class Move:
    """A score then and now, as means over clusters.

    Attributes:
        then: in the reference; ``None`` where only the change has a meaning.
        now: now, likewise.
        change: now less then.
        clusters: that were compared.
        bets: on the change; ``None`` where nobody bets.
    """

    then: float | None
    now: float | None
    change: float
    clusters: int
    bets: Bets | None = None

    @property
    def plain(self) -> dict[str, Any]:
        """As JSON values."""
        bets = self.bets
        sides = {"then": self.then, "now": self.now, "change": self.change}
        if bets is None:
            return {**sides, "clusters": self.clusters}
        return {
            **sides,
            "interval": {"lower": bets.lower, "upper": bets.upper},
            "clusters": self.clusters,
            "wealth": {"loss": bets.loss, "gain": bets.gain},
            "lost_at": bets.lost_at,
            "gained_at": bets.gained_at,
            "steps": bets.steps,
        }


@dataclass(frozen=True, slots=True)
class Within:
    """Fresh outputs within strata that both sessions have.

    Attributes:
        column: that holds the strata.
        pairs: of their clusters.
        needed: number of pairs from which they decide.
    """

    column: str
    pairs: Pairs
    needed: int

    @property
    def decides(self) -> bool:
        """Whether the pairs are enough to tell the outputs from what was asked."""
        return len(self.pairs.then) >= self.needed

    @property
    def scores(self) -> Move:
        """Of the pairs, of which there is one at least; nobody bets on these alone."""
        then, now = fmean(self.pairs.then), fmean(self.pairs.now)
        return Move(then, now, now - then, len(self.pairs.then))

    @property
    def plain(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "column": self.column,
            "strata": self.pairs.strata,
            "pairs": len(self.pairs.then),
            "alone": dict(zip(("then", "now"), self.pairs.alone, strict=True)),
            "needed": self.needed,
            "decides": self.decides,
            **(self.scores.plain if self.decides else {}),
        }


@dataclass(frozen=True, slots=True)
class Movement:
    """What moved.

    Attributes:
        anchors: the scores of the anchors.
        agreement: the same against the labels of people; ``None`` without.
        fresh: the scores of fresh outputs; nobody bets on these alone.
        beyond: what fresh outputs changed by beyond the anchors, within strata where these decide.
        within: the fresh outputs within strata; ``None`` where none are known.
    """

    anchors: Move
    agreement: Move | None
    fresh: Move
    beyond: Move
    within: Within | None = None

    @property
    def told_from_asked(self) -> bool:
        """Whether the outputs are told from what was asked."""
        return self.within is not None and self.within.decides

    @property
    def judge(self) -> bool:
        """Whether the judge moved, up or down."""
        return _called(self.anchors) or _called(self.agreement)

    @property
    def system(self) -> bool:
        """Whether what it judges moved, up or down: the outputs, or else what was asked too."""
        return _called(self.beyond)

    @property
    def verdict(self) -> str:
        """``none``, ``judge``, ``system`` or ``both``."""
        return {
            (False, False): "none",
            (True, False): "judge",
            (False, True): "system",
            (True, True): "both",
        }[self.judge, self.system]

    @property
    def worse(self) -> bool:
        """Whether something got worse; a judge that moved towards people did not."""
        nearer = self.agreement is not None and _side(self.agreement, lost=False)
        judge = _side(self.agreement) or (_side(self.anchors) and not nearer)
        return judge or _side(self.beyond)


def _called(move: Move | None) -> bool:
    return move is not None and move.bets is not None and move.bets.called


def _side(move: Move | None, *, lost: bool = True) -> bool:
    if move is None or move.bets is None:
        return False
    return (move.bets.lost_at if lost else move.bets.gained_at) is not None


def attributed(
    anchors: tuple[ByItem, ByItem],
    fresh: tuple[Sequence[Judgment], Sequence[Judgment]],
    clusters: Mapping[str, str],
    labels: Mapping[str, str],
    scoring: Scoring,
    seed: int = 0,
    strata: Strata | None = None,
) -> Movement:
    """What moved between the reference and now.

    Args:
        anchors: judgments of the anchors by item, of the reference and of now.
        fresh: judgments of fresh outputs, of the reference and of now.
        clusters: the cluster of each anchor.
        labels: the labels of people for anchors; those of too few are not used.
        scoring: how verdicts are scored.
        seed: of the order in which clusters are looked at.
        strata: what tells fresh outputs apart by what was asked, where something does.

    Raises:
        UsageError: there are too few anchors, or fresh outputs, to call anything.
    """
    then, now = _paired(anchors, clusters, lambda _: scoring.score)
    sides = [_by_cluster(of_session, scoring.score) for of_session in fresh]
    refuse_few(len(now), len(sides[0]), len(sides[1]), "with a verdict")
    labelled = _labelled(anchors, clusters, labels, scoring)
    stake = 1.0 if labelled is None else 0.5
    of_anchors = _paired_move(then, now, seed, stake)
    agreement = None if labelled is None else _paired_move(labelled[0], labelled[1], seed, stake)
    before: Sequence[float]
    after: Sequence[float]
    before, after = (drawn(means, seed) for means in sides)
    of_fresh = Move(fmean(before), fmean(after), fmean(after) - fmean(before), len(after))
    change, within = of_fresh.change, None
    if strata is not None:
        within = _within(fresh, scoring, strata, seed)
        if within.decides:
            before, after, change = within.pairs.then, within.pairs.now, within.scores.change
    steps = min(len(before), len(after))
    of_outputs = in_steps(after, steps) - in_steps(before, steps)
    bets = bets_beyond(of_outputs, _changes(then, now, seed))
    beyond = Move(None, None, change - of_anchors.change, min(steps, len(now)), bets)
    return Movement(of_anchors, agreement, of_fresh, beyond, within)


def _within(
    fresh: tuple[Sequence[Judgment], Sequence[Judgment]],
    scoring: Scoring,
    strata: Strata,
    seed: int,
) -> Within:
    then, now = (
        by_stratum(
            ((j, score) for j in judgments if (score := scoring.score(j)) is not None),
            strata.of,
            session,
        )
        for session, judgments in zip(("then", "now"), fresh, strict=True)
    )
    pairs = pairs_within(then, now, seed)
    return Within(strata.column, pairs, strata.needed(pairs.clusters))


def refuse_few(anchors: int, then: int, now: int, which: str = "") -> None:
    """Raise an error where nothing could be called.

    Args:
        anchors: clusters of anchors in both sessions.
        then: clusters of fresh outputs of the reference.
        now: those of now.
        which: of them are counted, in words.
    """
    counts = {"anchors": anchors, "fresh outputs of then": then, "fresh outputs of now": now}
    for name, count in counts.items():
        if count < FEWEST:
            raise UsageError(
                f"there are too few clusters of {name}",
                found=f"{count} {which}".strip(),
                expected=f"{FEWEST} or more: fewer could not call a loss of half of all points",
                remedy="freeze more outputs"
                if name == "anchors"
                else "take more outputs into the log or suite of that session",
            )


def _labelled(
    anchors: tuple[ByItem, ByItem],
    clusters: Mapping[str, str],
    labels: Mapping[str, str],
    scoring: Scoring,
) -> tuple[dict[str, float], dict[str, float]] | None:
    """The agreement of each cluster, then and now; ``None`` where too few have a label."""

    def agrees(item: str) -> Score:
        return lambda judgment: scoring.agreement(judgment, labels[item])

    then, now = ({item: of[item] for item in of if item in labels} for of in anchors)
    sides = _paired((then, now), clusters, agrees)
    return sides if len(sides[1]) >= FEWEST else None


def _paired(
    anchors: tuple[ByItem, ByItem], clusters: Mapping[str, str], score: Callable[[str], Score]
) -> tuple[dict[str, float], dict[str, float]]:
    """Of each cluster the mean then and now, of what both sessions asked and answered."""
    of_clusters: tuple[dict[str, list[float]], ...] = defaultdict(list), defaultdict(list)
    for item in anchors[0].keys() & anchors[1].keys():
        then, now = (_by_question(side[item], score(item)) for side in anchors)
        if both := sorted(then.keys() & now.keys()):
            for of_cluster, means in zip(of_clusters, (then, now), strict=True):
                of_cluster[clusters[item]].append(fmean(means[question] for question in both))
    before, after = (_means(of_cluster) for of_cluster in of_clusters)
    return before, after


def _by_question(judgments: Iterable[Judgment], score: Score) -> dict[tuple[str, str], float]:
    """By template and order, the mean score of the replicates."""
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    for judgment in judgments:
        if (number := score(judgment)) is not None:
            scores[judgment.trial.template, judgment.trial.order].append(number)
    return _means(scores)


def _by_cluster(judgments: Iterable[Judgment], score: Score) -> dict[str, float]:
    """Of each cluster the mean over its items of the mean of their judgments."""
    of_items: dict[tuple[str, str], list[float]] = defaultdict(list)
    for judgment in judgments:
        if (number := score(judgment)) is not None:
            of_items[judgment.trial.cluster, judgment.trial.item].append(number)
    of_clusters: dict[str, list[float]] = defaultdict(list)
    for (cluster, _), numbers in of_items.items():
        of_clusters[cluster].append(fmean(numbers))
    return _means(of_clusters)


def _means(of: Mapping[_Name, Sequence[float]]) -> dict[_Name, float]:
    # The sum of `fmean` is exact, so it does not depend on the order of a log.
    return {name: fmean(numbers) for name, numbers in of.items()}


def _changes(then: Mapping[str, float], now: Mapping[str, float], seed: int) -> list[float]:
    return [
        after - before for before, after in zip(drawn(then, seed), drawn(now, seed), strict=True)
    ]


def _paired_move(
    then: Mapping[str, float], now: Mapping[str, float], seed: int, stake: float
) -> Move:
    changes = _changes(then, now, seed)
    means = fmean(then.values()), fmean(now.values()), fmean(changes)
    return Move(*means, len(changes), bets_on(changes, stake))
