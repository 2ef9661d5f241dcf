r"""Which of n ordered changes turns a verdict? A bisection that expects noise.

Two ends, A and B, differ by the changes 0 to n - 1. A hybrid has some of them made; hybrid k the
first k, so hybrid 0 is A and hybrid n is B. The search is a value: `question` says which changes to
make, `learn` gives the search with one verdict more. Nothing is drawn, so the same verdicts lead
through the same questions.

**Are the ends told apart?** A and B are asked in turn, 3 to 10 times each. From the third answers
on Fisher's exact test (Freeman and Halton's, with more than two labels) compares the two rows of
counts: its p-value is the chance, with both margins fixed, of a table that is at most as probable
as the one seen. They differ at the first look at which it is at most 0.04, or 0.02 where three or
more labels were seen. With that two ends of one distribution of two labels are told apart at any of
the eight looks with a chance of at most 0.0286 (enumerated over all rates; the most is at one
half), and of three to ten labels in at most 0.039 of 3,000 simulated searches. Asking ends early
where even ten answers each, all of one label from here on at A and all of another at B, would not
reach the level; that can only lower it.

**Where does it turn?** If the cause is change c - 1 (place c), hybrids below c answer as A does and
the others as B does. Both distributions are unknown, with Dirichlet priors of 1/2 for each label
seen; so with the counts a(c) of all answers below place c and b(c) of all others::

    P(c | answers)  ~  P(c) D(a(c)) D(b(c)),   D(x) = Beta(x + 1/2) / Beta(1/2, ..., 1/2)

with the multivariate Beta function. The next question is the hybrid at the posterior's median,
until one place holds 0.95.

**Does it turn there?** That posterior knows of one cause alone: where several changes add, it holds
a place between them. So the hybrids just before the likeliest place and just with it are asked
afresh, eight times each in turn, where it holds 0.95, or at least half and no more calls are left.
The change is named if Fisher's test, one-sided, gives at most 0.05: the verdict whose share differs
most between the ends against all others, in the direction that the ends have. Of 16 answers with
one chance it does so in at most 0.0140 (enumerated over all chances), whatever the other changes
do. If it does not, the answers count for the posterior, and the search goes on, to three such tests
at most: an innocent change is named in at most 0.042.

**Is it enough alone?** Then that change is always made, and those before it are in question: hybrid
k has it and the first k of them. Place 0 says that it is enough by itself, with a prior of one
half; place c that change c - 1 is needed with it, and then the search goes on before that one. The
changes after it are not needed, for the verdict turns without them. So the set that it ends with is
the smallest of those that it meets, if making more changes never turns the verdict back. It is
complete once the same test, afresh, tells it from itself without each of its changes, and seven of
eight of those answers with it are turned: a set that turns half of them passes in at most 0.0352.

**Many items at once** (`begin_between`): an answer is then a verdict on each item, and the ends are
answers that are there already. Not every item tells the ends apart, so with a chance of one half
all answers of an item have one distribution, with all their counts n in place of a(c) and b(c)::

    P(c | answers)  ~  P(c) product over items of (D(n) + D(a(c)) D(b(c))) / 2

References:
    R. A. Fisher (1935), Journal of the Royal Statistical Society 98, 39-54 (the exact test).
    G. H. Freeman, J. H. Halton (1951), Biometrika 38, 141-149 (of tables larger than 2 x 2).
    M. Horstein (1963), IEEE Transactions on Information Theory 9, 136-143 (the posterior's median).
    A. Zeller, R. Hildebrandt (2002), IEEE Transactions on Software Engineering 28, 183-200 (the
    smallest change that still fails).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import product
from math import comb, log
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

FEWEST, MOST = 3, 10  # answers of each end before the bisection
HOLDS: Final = 0.95  # the posterior of a place that is named
# Of Fisher's test at one look, by the number of labels: two, or more.
LEVEL_OF_TWO, LEVEL_OF_MORE = 0.04, 0.02
_PRIOR: Final = 0.5  # of each label
_ALONE: Final = 0.5  # prior of a change being enough by itself
AFRESH: Final = 8  # answers on each side of a contrast
CONTRAST_CALLS: Final = 2 * AFRESH
_LEVEL_OF_CONTRAST: Final = 0.05
# With a chance of 0.0140 each, three tests of innocent changes name one in at most 0.042.
_TESTS_OF_TURN: Final = 3
_WORTH_A_TEST: Final = 0.5  # the posterior that the last calls are spent on
_ENOUGH: Final = 7 / 8  # share of turned verdicts with a set that is complete
_TELLS: Final = 0.5  # prior of one of many items telling the ends apart

# The changes that are made, in ascending order.
Hybrid: TypeAlias = tuple[int, ...]
# Of each item that is asked the verdict; ``None`` where none came.
VerdictByItem: TypeAlias = tuple[Hashable | None, ...]
_Counts: TypeAlias = tuple[tuple[int, int], ...]  # of each label, at A and at B


@dataclass(frozen=True, slots=True)
class HybridVerdict:
    """A hybrid that was asked, and its verdict: a label, or whatever stands for a reply without."""

    hybrid: Hybrid
    verdict: Hashable


@dataclass(frozen=True, slots=True)
class TurnedVerdict:
    """The verdict whose share differs most between the ends.

    Attributes:
        label: the verdict.
        is_gained: whether it is said more often at B than at A.
    """

    label: Hashable
    is_gained: bool

    @classmethod
    def between(cls, at_a: Sequence[Hashable], at_b: Sequence[Hashable]) -> TurnedVerdict:
        """Of two rows of one length; of verdicts that differ alike one that is gained."""
        first, second = Counter(at_a), Counter(at_b)
        gains = {label: second[label] - first[label] for label in (*second, *first)}
        label = max(gains, key=lambda label: (abs(gains[label]), gains[label]))
        return cls(label, gains[label] > 0)


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two hybrids that are asked afresh, eight times each, in turn.

    Attributes:
        turned: the verdict that is counted.
        without: the hybrid without the changes in question; ``made``: with them.
        answers: their verdicts so far, the first of them without the changes.
    """

    turned: TurnedVerdict
    without: Hybrid
    made: Hybrid
    answers: tuple[Hashable, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether both have been asked eight times."""
        return len(self.answers) == CONTRAST_CALLS

    @property
    def question(self) -> Hybrid:
        """The hybrid to ask next."""
        return self.made if len(self.answers) % 2 else self.without

    @property
    def counts(self) -> tuple[int, int]:
        """How often the turned verdict was said, without the changes and with them."""
        without, with_changes = self.answers[::2], self.answers[1::2]
        return without.count(self.turned.label), with_changes.count(self.turned.label)

    @property
    def turned_with(self) -> int:
        """How many of the eight answers with the changes are turned."""
        _, turned_verdicts = self.counts
        return turned_verdicts if self.turned.is_gained else AFRESH - turned_verdicts

    @property
    def p(self) -> float:
        """The one-sided p-value of Fisher's exact test; 1 before it is over."""
        if not self.is_over:
            return 1.0
        few, many = self.counts if self.turned.is_gained else self.counts[::-1]
        return _one_sided(few, many)

    @property
    def is_confirmed(self) -> bool:
        """Whether the changes turn the verdict."""
        return self.p <= _LEVEL_OF_CONTRAST

    def learn(self, verdict: Hashable) -> Contrast:
        """The contrast with the verdict on its question."""
        return replace(self, answers=(*self.answers, verdict))


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """How often the turned verdict was said with the first so many changes made.

    Attributes:
        made: how many changes.
        count: how often it was said; ``asked``: of so many answers.
    """

    made: int
    count: int
    asked: int


@dataclass(frozen=True, slots=True)
class Cause:
    """What a search has come to so far.

    Attributes:
        outcome: ``named`` (the change was told apart afresh), ``unconfirmed`` (it was asked afresh
            and not told apart: one change turns the verdict, or several do), ``noise`` (the ends
            are not told apart) or ``undecided`` (the budget is spent, or the search goes on).
        p_ends: Fisher's p-value of the two ends when they were last compared; 1 before.
        change: the change at which the verdict most probably turns, from 0; ``None`` until the ends
            are told apart.
        probability: of that change.
        span: first and last of the fewest changes that hold 0.95 together.
        alone: whether that change is enough by itself; ``None`` if it is not known.
        needed: the changes that were told apart afresh, in ascending order: the one that is named,
            or a complete set.
        complete: whether these are enough without any other.
        calls: verdicts that it took.
        turn: the last contrast just before the change and just with it.
        members: the contrasts of the last set that was found, with and without each change.
        turned: the verdict that is counted; ``None`` until the ends are told apart.
        curve: the share of the turned verdict along the path; empty until the ends are told apart.
    """

    outcome: Literal["noise", "named", "unconfirmed", "undecided"]
    p_ends: float
    change: int | None
    probability: float
    span: tuple[int, int] | None
    alone: bool | None
    needed: Hybrid
    complete: bool
    calls: int
    turn: Contrast | None = None
    members: tuple[Contrast, ...] = ()
    turned: TurnedVerdict | None = None
    curve: tuple[CurvePoint, ...] = ()


@dataclass(frozen=True, slots=True)
class _Stage:
    """A bisection: with none of ``rest`` made the verdict is as at A, with all of it as at B.

    Attributes:
        fixed: the changes that are needed, made in every hybrid.
        rest: the changes in question, in order.
        as_a: answers before this stage that count as those of A; ``as_b``: of B.
        placed: of each answer of this stage the number of changes of the rest, and its verdicts.
    """

    fixed: Hybrid
    rest: Hybrid
    as_a: tuple[VerdictByItem, ...]
    as_b: tuple[VerdictByItem, ...]
    placed: tuple[tuple[int, VerdictByItem], ...] = ()

    def posterior(self) -> NDArray[np.float64]:
        """The probability of each place, shape (changes of the rest + 1,)."""
        chance = _log_prior(len(self.rest) + 1, alone=bool(self.fixed))
        items = len(self.as_a[0])
        for item in range(items):
            chance = chance + self._log_chance_of(item, tells=_TELLS if items > 1 else 1.0)
        weights = np.exp(chance - chance.max())
        return np.asarray(weights / weights.sum())

    def _log_chance_of(self, item: int, *, tells: float) -> NDArray[np.float64]:
        """Log of the chance of the verdicts on an item by place, but for a constant.

        Args:
            item: which of those that are asked.
            tells: prior of its telling the ends apart.
        """
        at_a, at_b = ([answer[item] for answer in end] for end in (self.as_a, self.as_b))
        placed = [(length, answer[item]) for length, answer in self.placed]
        verdicts = dict.fromkeys((*at_a, *at_b, *(verdict for _, verdict in placed)))
        verdicts.pop(None, None)
        codes = {verdict: code for code, verdict in enumerate(verdicts)}
        counts = np.zeros((len(self.rest) + 1, max(2, len(codes))))
        for length, verdict in placed:
            if verdict is not None:
                counts[length, codes[verdict]] += 1
        first, second = (
            np.bincount(
                [codes[verdict] for verdict in end if verdict is not None],
                minlength=counts.shape[1],
            )
            for end in (at_a, at_b)
        )
        below = np.cumsum(counts, axis=0) - counts
        apart = _log_chance(first + below) + _log_chance(second + counts.sum(axis=0) - below)
        if tells == 1:
            return apart
        alike = _log_chance(first + second + counts.sum(axis=0))
        return np.asarray(np.logaddexp(log(tells) + apart, log(1 - tells) + alike))

    def length(self) -> int:
        """How many changes of the rest the next question makes: those up to the median place."""
        # All of them answer as B, and none of them as A where nothing is fixed.
        least = 1 if not self.fixed else 0
        up_to = np.cumsum(self.posterior())[least:-1]
        return least + int(np.abs(up_to - 0.5).argmin())

    def hybrid(self) -> Hybrid:
        """The next question."""
        return tuple(sorted((*self.fixed, *self.rest[: self.length()])))

    def learn(self, answer: VerdictByItem) -> _Stage:
        """The stage with the answer to its question."""
        return self.with_placed((self.length(), answer))

    def with_placed(self, *placed: tuple[int, VerdictByItem]) -> _Stage:
        """The stage with more answers, each a number of changes of the rest and its verdicts."""
        return replace(self, placed=(*self.placed, *placed))

    def before(self, place: int) -> _Stage:
        """The bisection of what is needed beside the change at a place, 1 or higher."""
        return _Stage(
            tuple(sorted((*self.fixed, self.rest[place - 1]))),
            self.rest[: place - 1],
            (*self.as_a, *(answer for length, answer in self.placed if length < place)),
            (*self.as_b, *(answer for length, answer in self.placed if length >= place)),
        )


@dataclass(frozen=True, slots=True)
class CauseSearch:
    """A search as far as its answers lead; `begin` begins one.

    Attributes:
        changes: number of changes that lead from A to B.
        budget: the most verdicts that it takes.
        answers: verdicts so far, in the order in which they came.
        p_ends: Fisher's p-value of the two ends when they were last compared; 1 before.
        is_noise: whether the ends were given up.
        stages: the bisections so far, each of them as it ended; the last one goes on. There is one
            until its change is confirmed.
        turns: the contrasts just before the likeliest change and just with it.
        members: the contrasts of a set with and without each of its changes.
    """

    changes: int
    budget: int
    answers: tuple[HybridVerdict, ...] = ()
    p_ends: float = 1.0
    is_noise: bool = False
    stages: tuple[_Stage, ...] = ()
    turns: tuple[Contrast, ...] = ()
    members: tuple[Contrast, ...] = ()

    @property
    def ends(self) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...]]:
        """The verdicts at A and at B that Fisher's test of the ends compares."""
        if self.stages:
            as_a, as_b = self.stages[0].as_a, self.stages[0].as_b
            return tuple(verdict for (verdict,) in as_a), tuple(verdict for (verdict,) in as_b)
        verdicts = tuple(answer.verdict for answer in self.answers)
        return verdicts[::2], verdicts[1::2]

    @property
    def is_confirmed(self) -> bool:
        """Whether a change was told apart afresh."""
        return bool(self.turns and self.turns[-1].is_confirmed)

    @property
    def is_complete(self) -> bool:
        """Whether the changes that are needed are enough without any other."""
        if not self._is_set_found or self._members_left:
            return False
        turned = [contrast.turned_with for contrast in self._contrasts_of_set]
        return sum(turned) >= _ENOUGH * AFRESH * len(turned)

    @property
    def has_given_up(self) -> bool:
        """Whether no change was told apart afresh, and a larger budget would not go on."""
        return (
            len(self.turns) == _TESTS_OF_TURN and self.turns[-1].is_over and not self.is_confirmed
        )

    @property
    def question(self) -> Hybrid | None:
        """The hybrid to ask next; ``None`` where the search is over."""
        if self.is_noise or self._left == 0:
            return None
        if not self.stages:
            return tuple(range(self.changes)) if len(self.answers) % 2 else ()
        if (contrast := self._contrast) is not None:
            return contrast.question
        return None if self._is_settled else self.stages[-1].hybrid()

    def learn(self, verdict: Hashable) -> CauseSearch:
        """The search with the verdict on its question.

        Raises:
            ValueError: the search is over.
        """
        hybrid = self.question
        if hybrid is None:
            raise ValueError(f"a search that is over learns nothing, found {verdict!r}")
        search = replace(self, answers=(*self.answers, HybridVerdict(hybrid, verdict)))
        if not search.stages:
            search = search._compare_ends()
        elif self._contrast is not None:
            search = search._learn_contrast(verdict)
        else:
            search = search._bisect(search.stages[-1].learn((verdict,)))
        return search._begin_contrast()

    def _compare_ends(self) -> CauseSearch:
        """The search after a verdict on an end."""
        at_a, at_b = self.ends
        if len(at_a) != len(at_b) or len(at_a) < FEWEST:
            return self
        search = replace(self, p_ends=p_of_rows(at_a, at_b))
        if _told_apart(at_a, at_b):
            first, second = (tuple((verdict,) for verdict in end) for end in (at_a, at_b))
            stage = _Stage((), tuple(range(self.changes)), first, second)
            return replace(search, stages=(stage,))
        return replace(search, is_noise=_is_hopeless(at_a, at_b))

    def _bisect(self, last: _Stage) -> CauseSearch:
        """The search with another last stage, and those that follow once a change is confirmed."""
        stages = _bisected(last) if self.is_confirmed else [last]
        return replace(self, stages=(*self.stages[:-1], *stages))

    def _begin_contrast(self) -> CauseSearch:
        """The search, with a contrast begun where one is due and can be paid for."""
        if not self.stages or self._contrast is not None:
            return self
        if not self.is_confirmed:
            return self._begin_turn()
        left = self._members_left
        has_failed = any(not member.is_confirmed for member in self.members)
        if not self._is_set_found or has_failed or not left:
            return self
        if self._left < CONTRAST_CALLS * len(left):
            return self
        needed = self.stages[-1].fixed
        without = tuple(change for change in needed if change != left[0])
        return replace(self, members=(*self.members, Contrast(self._turned, without, needed)))

    def _begin_turn(self) -> CauseSearch:
        change, probability = self._likeliest
        is_last = self._left == CONTRAST_CALLS and probability >= _WORTH_A_TEST
        is_due = probability >= HOLDS and self._left >= CONTRAST_CALLS
        if len(self.turns) == _TESTS_OF_TURN or not (is_due or is_last):
            return self
        before, with_change = tuple(range(change)), tuple(range(change + 1))
        return replace(self, turns=(*self.turns, Contrast(self._turned, before, with_change)))

    def _learn_contrast(self, verdict: Hashable) -> CauseSearch:
        """The search after a verdict on the contrast that goes on."""
        if not self.is_confirmed:
            *earlier, turn = self.turns
            turn = turn.learn(verdict)
            search = replace(self, turns=(*earlier, turn))
            return search._end_turn(turn) if turn.is_over else search
        *earlier, member = self.members
        return replace(self, members=(*earlier, member.learn(verdict)))

    def _end_turn(self, turn: Contrast) -> CauseSearch:
        """The search after a contrast of the likeliest change: bisecting before it, or again."""
        change = len(turn.without)
        placed = ((change + place % 2, (verdict,)) for place, verdict in enumerate(turn.answers))
        stage = self.stages[0].with_placed(*placed)
        if not self.is_confirmed:
            return replace(self, stages=(stage,))
        return replace(self, stages=(stage, *_bisected(stage.before(change + 1))))

    @property
    def _left(self) -> int:
        return self.budget - len(self.answers)

    @property
    def _turned(self) -> TurnedVerdict:
        return TurnedVerdict.between(*self.ends)

    @property
    def _likeliest(self) -> tuple[int, float]:
        """The change at which the verdict most probably turns, and its probability."""
        if self.is_confirmed:
            change = len(self.turns[-1].without)
            return change, float(self.stages[0].posterior()[change + 1])
        posterior = self.stages[0].posterior()
        return int(posterior.argmax()) - 1, float(posterior.max())

    @property
    def _contrast(self) -> Contrast | None:
        """The contrast that goes on."""
        latest = [*self.turns[-1:], *self.members[-1:]]
        return next((contrast for contrast in latest if not contrast.is_over), None)

    @property
    def _is_set_found(self) -> bool:
        """Whether changes were found that answer as B does without any other."""
        return self.is_confirmed and bool(self.stages[-1].posterior()[0] >= HOLDS)

    @property
    def _contrasts_of_set(self) -> list[Contrast]:
        """The contrasts of the changes that were found with all of them but one."""
        needed = self.stages[-1].fixed
        return [contrast for contrast in (*self.turns, *self.members) if contrast.made == needed]

    @property
    def _members_left(self) -> Hybrid:
        """The changes of the set that are not confirmed by leaving them out."""
        confirmed = {
            change
            for contrast in self._contrasts_of_set
            if contrast.is_confirmed
            for change in {*contrast.made} - {*contrast.without}
        }
        return tuple(change for change in self.stages[-1].fixed if change not in confirmed)

    @property
    def _is_settled(self) -> bool:
        """Whether no further bisection is of use."""
        if self.is_confirmed:
            return self._is_set_found
        return len(self.turns) == _TESTS_OF_TURN or self._likeliest[1] >= HOLDS

    @property
    def cause(self) -> Cause:
        """What it has come to so far."""
        if not self.stages:
            outcome: Literal["noise", "undecided"] = "noise" if self.is_noise else "undecided"
            calls = len(self.answers)
            return Cause(outcome, self.p_ends, None, 0.0, None, None, (), False, calls)
        change, probability = self._likeliest
        needed = self.stages[-1].fixed if self.is_complete else (change,)
        return Cause(
            self._outcome(),
            self.p_ends,
            change,
            probability,
            _span(self.stages[0].posterior()[1:]),
            self._is_enough_alone(),
            needed if self.is_confirmed else (),
            self.is_complete,
            len(self.answers),
            self.turns[-1] if self.turns else None,
            tuple(self._contrasts_of_set) if self._is_set_found else (),
            self._turned,
            self._curve(),
        )

    def _outcome(self) -> Literal["named", "unconfirmed", "undecided"]:
        if self.is_confirmed:
            return "named"
        return "unconfirmed" if self.turns and self.turns[-1].is_over else "undecided"

    def _is_enough_alone(self) -> bool | None:
        if not self.is_confirmed:
            return None
        if self.is_complete:
            return len(self.stages[-1].fixed) == 1
        return False if self.stages[1].posterior()[0] <= 1 - HOLDS else None

    def _curve(self) -> tuple[CurvePoint, ...]:
        calls, counts = Counter[int](), Counter[int]()
        turned = self._turned.label
        for answer in self.answers:
            changes = len(answer.hybrid)
            if answer.hybrid == tuple(range(changes)):
                calls[changes] += 1
                counts[changes] += answer.verdict == turned
        return tuple(
            CurvePoint(changes, counts[changes], calls[changes]) for changes in sorted(calls)
        )


@dataclass(frozen=True, slots=True)
class GroupSearch:
    """A search for the changes that are needed together, by many items; see `begin_between`.

    Attributes:
        budget: the most answers that it takes.
        stages: the bisections so far, each of them as it ended; the last one goes on.
        items: how many are asked at once.
        answers: how many it has learned of.
    """

    budget: int
    stages: tuple[_Stage, ...]
    items: int
    answers: int = 0

    @property
    def needed(self) -> Hybrid:
        """The changes that are needed as far as it is known, in ascending order."""
        return self.stages[-1].fixed

    @property
    def is_complete(self) -> bool:
        """Whether these are enough without any other."""
        return bool(self.stages[-1].posterior()[0] >= HOLDS)

    @property
    def question(self) -> Hybrid | None:
        """The hybrid to ask next; ``None`` where the search is over."""
        if self.is_complete or self.answers >= self.budget:
            return None
        return self.stages[-1].hybrid()

    def learn(self, answer: VerdictByItem) -> GroupSearch:
        """The search with the verdicts of all items on its question.

        Raises:
            ValueError: the search is over, or the verdicts are not those of its items.
        """
        if self.question is None:
            raise ValueError(f"a search that is over learns nothing, found {answer!r}")
        if not isinstance(answer, tuple) or len(answer) != self.items:
            raise ValueError(f"an answer has the verdicts of {self.items} items, found {answer!r}")
        *earlier, last = self.stages
        stages = (*earlier, *_bisected(last.learn(answer)))
        return replace(self, stages=stages, answers=self.answers + 1)


def _bisected(stage: _Stage) -> Iterator[_Stage]:
    """A stage, and those after it where a place holds."""
    yield stage
    posterior = stage.posterior()
    place = int(posterior.argmax())
    if place and posterior[place] >= HOLDS:
        yield from _bisected(stage.before(place))


def _span(posterior: NDArray[np.float64]) -> tuple[int, int]:
    """First and last of the fewest changes that hold the cause together."""
    likely = np.argsort(-posterior, kind="stable")
    fewest = int((np.cumsum(posterior[likely]) < HOLDS).sum()) + 1
    return int(likely[:fewest].min()), int(likely[:fewest].max())


def begin(changes: int, budget: int) -> CauseSearch:
    """A search for the cause among ``changes`` that takes at most ``budget`` verdicts.

    Raises:
        ValueError: there is no change, or the budget does not even compare the ends.
    """
    if changes < 1:
        raise ValueError(f"a search has at least one change, found {changes}")
    if budget < 2 * FEWEST:
        raise ValueError(
            f"a search takes {2 * FEWEST} verdicts or more, found a budget of {budget}"
        )
    return CauseSearch(changes, budget)


def begin_between(
    at_a: Sequence[VerdictByItem], at_b: Sequence[VerdictByItem], changes: int, budget: int
) -> GroupSearch:
    """A search between two ends that are known to differ, by the verdicts on many items at once.

    Args:
        at_a: answers at A, each with a verdict on every item; ``None`` for one that never came.
        at_b: answers at B.
        changes: number of changes that lead from A to B.
        budget: the most answers that it takes beside them.

    Raises:
        ValueError: there is no change, no answer at an end, or an answer lacks an item.
    """
    if changes < 1:
        raise ValueError(f"a search has at least one change, found {changes}")
    sizes = {len(answer) for answer in (*at_a, *at_b)}
    if not (at_a and at_b) or len(sizes) != 1 or sizes == {0}:
        raise ValueError(
            f"both ends have answers with the verdicts of the same items, found {len(at_a)} and "
            f"{len(at_b)} answers of {sorted(sizes)} items"
        )
    stage = _Stage((), tuple(range(changes)), tuple(at_a), tuple(at_b))
    return GroupSearch(budget, stages=tuple(_bisected(stage)), items=sizes.pop())


def p_of_rows(at_a: Sequence[Hashable], at_b: Sequence[Hashable]) -> float:
    """The p-value of Fisher's exact test of two rows of verdicts, of any labels.

    Args:
        at_a: verdicts at one end.
        at_b: verdicts at the other end.

    Returns:
        The chance, given both margins, of a table that is at most as probable; 1 with an empty row.
    """
    return _fisher(_counts(at_a, at_b))


@cache
def _one_sided(few: int, many: int) -> float:
    """Fisher's one-sided p-value of so many answers of eight, and of eight others."""
    table = np.array([[few, AFRESH - few], [many, AFRESH - many]])
    # Half of scipy, which a replay does without.
    from scipy.stats import fisher_exact

    return float(fisher_exact(table, alternative="less").pvalue)


def _counts(at_a: Sequence[Hashable], at_b: Sequence[Hashable]) -> _Counts:
    first, second = Counter(at_a), Counter(at_b)
    return tuple(sorted((first[label], second[label]) for label in {*first, *second}))


@lru_cache(maxsize=65536)
def _fisher(counts: _Counts) -> float:
    drawn = sum(first for first, _ in counts)
    ways_here = 1
    # In whole numbers: a table's chance is the product of these ways over all ways.
    reached: Counter[tuple[int, int]] = Counter({(0, 1): 1})
    for first, second in counts:
        ways_here *= comb(first + second, first)
        further: Counter[tuple[int, int]] = Counter()
        for (so_far, ways), tables in reached.items():
            for more in range(min(first + second, drawn - so_far) + 1):
                further[so_far + more, ways * comb(first + second, more)] += tables
        reached = further
    rare = sum(
        ways * tables
        for (total, ways), tables in reached.items()
        if total == drawn and ways <= ways_here
    )
    return rare / comb(sum(map(sum, counts)), drawn)


def _told_apart(at_a: Sequence[Hashable], at_b: Sequence[Hashable]) -> bool:
    level = LEVEL_OF_TWO if len({*at_a, *at_b}) <= 2 else LEVEL_OF_MORE
    return p_of_rows(at_a, at_b) <= level


def _is_hopeless(at_a: Sequence[Hashable], at_b: Sequence[Hashable]) -> bool:
    """Whether no answers that are still to come, of one label at each end, tell them apart."""
    left = MOST - len(at_a)
    if left == 0:
        return True
    labels = [*dict.fromkeys((*at_a, *at_b)), object()]
    return not any(
        _told_apart([*at_a, *[first] * left], [*at_b, *[second] * left])
        for first, second in product(labels, labels)
        if first is not second
    )


def _log_prior(size: int, *, alone: bool) -> NDArray[np.float64]:
    """The prior of each place; place 0 has one only where a change may be enough alone."""
    with np.errstate(divide="ignore"):
        if size == 1:
            return np.zeros(1)
        first = _ALONE if alone else 0.0
        return np.asarray(np.log(np.append(first, np.full(size - 1, (1 - first) / (size - 1)))))


def _log_chance(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log of D in the module; labels in the last axis."""
    shapes, labels = counts + _PRIOR, counts.shape[-1]
    of_prior = labels * gammaln(_PRIOR) - gammaln(labels * _PRIOR)
    return np.asarray(gammaln(shapes).sum(axis=-1) - gammaln(shapes.sum(axis=-1)) - of_prior)
