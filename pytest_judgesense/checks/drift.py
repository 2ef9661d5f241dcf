"""Whether a judge has become worse over its live sessions: the course of a measure. Pure.

The sessions of a course are those on the same items and design; a session of which more than 5% of
the replies are missing is left out, and one that is judged by itself is inconclusive then. The
process is Student's (`stats.drift`), where days may differ, confirmed by ranks, or, with
``sessions = "alike"``, the stratified one, which finds half the loss and alarms falsely where they
do: whether their spread contradicts it is tested and said, and so is an order of sessions that
neither allows for (`stats.night_order`). An alarm stands until another history is begun.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from pytest_judgesense.checks.outcome import MOST_MISSING, OutcomeWord, Policy
from pytest_judgesense.datasheets.datasheet import OverSessions
from pytest_judgesense.estimate import Estimate, compact
from pytest_judgesense.measures.bar import SESSIONS, WAYS, Check
from pytest_judgesense.stats.drift import (
    WAIT,
    Drift,
    drift_of,
    overdispersion_p,
    stratified_p,
    student_p,
)
from pytest_judgesense.stats.night_order import BLOCKS, OrderFound, order_of

if TYPE_CHECKING:
    from pytest_judgesense.datasheets.live_sessions import JudgeTotals, LiveSession, MeasureTotals

Way: TypeAlias = Literal["vary", "alike"]
PROCESSES: Final[Mapping[str, str]] = {WAYS[0]: "student", WAYS[1]: "stratified"}
# Sessions from which on a loss is found as a rule; see `benchmarks/drift.py`.
FEW: Final = 10
_CONTRADICTED: Final = 0.01  # p-value of "sessions are alike", looked at every night
_NEAR: Final = 1  # sessions around the most likely one in which a change is told


class CourseSession(NamedTuple):
    """A measure in one session.

    Attributes:
        who: who answered, as texts by what they say.
        totals: by cluster its sum, of which more is better, and its number of units.
        missing: share of its calls without a usable reply.
    """

    began_at: str
    who: Mapping[str, str]
    totals: Mapping[str, tuple[float, int]]
    missing: float

    @classmethod
    def of(
        cls, session: LiveSession, judge: JudgeTotals, measure: MeasureTotals, *, lower: bool
    ) -> CourseSession:
        """That of a line of a history; ``lower``: less of the measure is better."""
        totals = {
            cluster: (units - total if lower else total, units)
            for cluster, total, units in zip(
                judge.clusters, measure.sums, measure.units, strict=True
            )
        }
        return cls(session.began_at, judge.who, totals, measure.missing)

    @property
    def share(self) -> float:
        """The share of all units; NaN without any."""
        units = sum(number for _, number in self.totals.values())
        total = math.fsum(total for total, _ in self.totals.values())
        return min(1.0, total / units) if units else math.nan


@dataclass(frozen=True)
class Course:
    """A measure of a judge on a suite over its sessions, in their order.

    Attributes:
        sessions: all of them, those on other items left out.
        way: how they are taken.
        lower: whether less of the measure is better; the totals of the sessions are turned.
        conditional: whether the answers decide how many units count.
        others: how many sessions on other items or another design there are before.
        most_missing: of the replies of a session that counts.
        seed: of the draws that smooth ties.
    """

    measure: str
    condition: Mapping[str, Any]
    sessions: tuple[CourseSession, ...]
    lower: bool = False
    conditional: bool = False
    way: Way = "vary"
    others: int = 0
    most_missing: float = MOST_MISSING
    seed: int = 0

    @cached_property
    def counted(self) -> tuple[int, ...]:
        """The positions of the sessions that count."""
        return tuple(
            place
            for place, session in enumerate(self.sessions)
            if session.missing <= self.most_missing and not math.isnan(session.share)
        )

    @property
    def clusters(self) -> tuple[str, ...]:
        """All clusters of the sessions that count."""
        counted = (self.sessions[place] for place in self.counted)
        return tuple(dict.fromkeys(cluster for session in counted for cluster in session.totals))

    @cached_property
    def _totals(self) -> list[list[float]]:
        """By session that counts and cluster; NaN where units are missing."""
        most: dict[str, int] = {}
        counted = [self.sessions[place].totals for place in self.counted]
        for totals in counted:
            for cluster, (_, units) in totals.items():
                most[cluster] = max(units, most.get(cluster, 0))
        none = (math.nan, 0)
        return [
            [
                total if units == most[cluster] else math.nan
                for cluster in most
                for total, units in [totals.get(cluster, none)]
            ]
            for totals in counted
        ]

    @cached_property
    def blocked(self) -> str:
        """Why nothing can be said; empty if something can."""
        if not self.sessions:
            return "no session has it"
        last = self.sessions[-1]
        if last.missing > self.most_missing:
            return f"{last.missing:.0%} of the replies of the last session are missing"
        if len(self.sessions) - 1 not in self.counted:
            return "nothing was measured in the last session"
        if len(self.clusters) < 2:
            return "sessions are told apart by clusters, and there is one"
        if self.way == "alike" and self.conditional:
            return f'its answers decide how many units count: "{WAYS[0]}" takes their share'
        if self.way == "alike" and self._p is None:
            return f'{SESSIONS} = "{WAYS[1]}" takes totals that are counts of units'
        return ""

    @cached_property
    def _p(self) -> Any:
        if self.way == "alike":
            return stratified_p(self._totals, self.seed)
        return student_p(self._shares, len(self.clusters))

    @property
    def _shares(self) -> list[float]:
        return [self.sessions[place].share for place in self.counted]

    @cached_property
    def drift(self) -> Drift:
        """The wealth of betting on a loss, and the alarm, by positions among those that count."""
        never = self.way == "alike" and self.conditional
        if never or len(self.clusters) < 2 or self._p is None:
            return Drift(1.0, 1.0)
        return drift_of(self._p, self._shares, confirm=self.way == "vary", seed=self.seed)

    @cached_property
    def order(self) -> OrderFound:
        """Whether the order of the sessions contradicts what the alarm takes of them."""
        return order_of(self._shares, self.drift.since, self.seed)

    @property
    def alarm(self) -> int | None:
        """Position of the session that gave the alarm."""
        return None if self.drift.alarm is None else self.counted[self.drift.alarm]

    @property
    def since(self) -> int | None:
        """Position of the session with which the loss most likely began."""
        return None if self.drift.since is None else self.counted[self.drift.since]

    @cached_property
    def values(self) -> tuple[float, float] | None:
        """The measure before the loss and since; without a loss in all sessions and in the last.

        ``None`` without sessions that count.
        """
        if not self.counted:
            return None
        since = self.since
        before = [place for place in self.counted if since is None or place < since]
        after = [self.counted[-1]] if since is None else [p for p in self.counted if p >= since]
        first, last = (
            math.fsum(self.sessions[place].share for place in places) / len(places)
            for places in (before, after)
        )
        return (1 - first, 1 - last) if self.lower else (first, last)

    @cached_property
    def spread_p(self) -> float | None:
        """If sessions are taken as alike, the p-value of that, but for a loss that was found."""
        if self.way != "alike" or self._p is None or not self.counted:
            return None
        return overdispersion_p(self._totals, self.drift.since)

    def changes(self) -> Iterator[str]:
        """What of the judge's identity changed when the loss began, or a session beside it."""
        if (since := self.since) is None:
            return
        for place in range(max(1, since - _NEAR), min(len(self.sessions), since + _NEAR + 1)):
            before, now = self.sessions[place - 1].who, self.sessions[place].who
            for name in dict.fromkeys((*before, *now)):
                then, is_now = before.get(name, "none"), now.get(name, "none")
                if then != is_now:
                    yield f"{self.named(place)}: {name} {then} -> {is_now}"

    def named(self, place: int) -> str:
        """A session in words: its number, and its day."""
        return f"session {place + 1} ({self.sessions[place].began_at[:10]})"

    def doubts(self) -> Iterator[str]:
        """What is to be known beside the result."""
        if self.others:
            yield f"{self.others} earlier sessions on other items or another design do not count"
        if left := len(self.sessions) - len(self.counted):
            share = f"{self.most_missing:.0%}"
            yield f"sessions left out, for more than {share} of the replies are missing: {left}"
        p = self.spread_p
        if p is not None and p <= _CONTRADICTED:
            yield (
                f'sessions differ by more than chance (p {p:.2g}), which contradicts "{WAYS[1]}": '
                f'alarms may be false; take them as "{WAYS[0]}"'
            )
        if self.way == "vary" and len(self.counted) <= WAIT:
            yield (
                f"no bet yet: {WAIT} sessions show first how they differ, and there are "
                f"{len(self.counted)}"
            )
        elif len(self.counted) <= FEW:
            yield f"the first sessions find little: {len(self.counted)} say less than {FEW + 1}"
        if self.drift.unconfirmed:
            yield (
                f"wealth {self.drift.most:.3g} and no alarm: a few sessions made it, and no block "
                f"of the last 2 to {max(BLOCKS)} ranks far enough below all before"
            )
        yield from self._order_doubts()

    def _order_doubts(self) -> Iterator[str]:
        """What the order of the sessions shows of causes that alarms do not allow for."""
        if (p := self.order.neighbours) is not None:
            yield (
                f"neighbouring sessions are alike (p {p:.2g}), as in a season or in outages of "
                "several days: alarms come more often than promised, and may pass by themselves"
            )
        if (p := self.order.spread) is not None:
            yield (
                f"sessions came to differ more, or less, than they did (p {p:.2g}): alarms come "
                "more often than promised; look for what changed in how they are run"
            )

    def over(self) -> OverSessions:
        """The same for a datasheet."""
        since, alarm = self.since, self.alarm
        return OverSessions(
            process=PROCESSES[self.way],
            sessions=len(self.sessions),
            left_out=len(self.sessions) - len(self.counted),
            wealth=self.drift.wealth,
            alarm=None if alarm is None else alarm + 1,
            confirmed_by=self.drift.block,
            since=None if since is None else since + 1,
            since_at="" if since is None else self.sessions[since].began_at,
            changes=tuple(self.changes()),
            spread_p=self.spread_p,
        )

    def headline(self) -> str:
        """The result in one line."""
        if self.alarm is None or self.since is None:
            first = f"no alarm in {len(self.sessions)} sessions, wealth {self.drift.wealth:.2g}"
            return f"{first}; {self.blocked}" if self.blocked else first
        assert self.values is not None
        before, now = map(compact, self.values)
        return (
            f"worse since {self.named(self.since)}: {before} before, {now} since; "
            f"alarm in {self.named(self.alarm)}{self._by_block()}, wealth {self.drift.most:.3g}"
        )

    def _by_block(self) -> str:
        """Which sessions made the alarm; none are named where one may."""
        if self.drift.alarm is None or self.drift.block is None:
            return ""
        first = self.counted[self.drift.alarm + 1 - self.drift.block]
        return f" by the {self.drift.block} sessions since {self.named(first)}"


def course_of(
    sessions: Sequence[LiveSession],
    judge: str,
    suite: str,
    measure: str,
    condition: Mapping[str, Any] | None = None,
    way: Way = "vary",
    most_missing: float = MOST_MISSING,
    seed: int = 0,
) -> Course:
    """The course of a measure under exactly ``condition`` over those sessions that have it.

    Sessions count that have the items and the design of the last one.
    """
    under = dict(condition or {})
    having = [
        (session, of_judge, totals)
        for session in sessions
        for of_judge in [session.of(judge, suite)]
        if of_judge is not None
        for totals in of_judge.measures
        if totals.is_of(measure, under)
    ]
    last = having[-1] if having else None
    alike = [each for each in having if last and each[1].digest == last[1].digest]
    lower = last is not None and last[2].direction == "lower"
    return Course(
        measure=measure,
        condition=under,
        sessions=tuple(CourseSession.of(*each, lower=lower) for each in alike),
        lower=lower,
        conditional=last is not None and last[2].conditional,
        way=way,
        others=len(having) - len(alike),
        most_missing=most_missing,
        seed=seed,
    )


class DriftOutcome(NamedTuple):
    """The outcome of a `no_drift` check.

    Attributes:
        course: of its measure over the history and the present session.
        estimate: of the present session.
    """

    check: Check
    suite: str
    policy: Policy
    course: Course
    estimate: Estimate

    @property
    def outcome(self) -> OutcomeWord:
        if self.course.alarm is not None:
            return "fail"
        return "inconclusive" if self.course.blocked else "pass"

    @property
    def fails(self) -> bool:
        """Whether its test fails."""
        return self.outcome != "pass"

    def warnings(self, *, settled: bool = True) -> tuple[str, ...]:
        """What is to be known beside the result."""
        return tuple(self.course.doubts())
