"""What a session may spend and has spent, and how a long measurement tells how far it is.

The counts stand in a file where several processes share them: a limit is one of the session, not of
a worker of xdist.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from filelock import FileLock, Timeout

from pytest_judgesense.errors import LimitReached
from pytest_judgesense.judges.readable import unread_lines
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import NO_DEADLINE, Deadline, Limits, Throttle
from pytest_judgesense.measurement import Measurement
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Failed, Judgment, Trial, Unparsed

Watch: TypeAlias = Callable[[Sequence[Trial]], Callable[[Judgment], None]]

# A shorter measurement shows nothing on a terminal.
_FIRST_S: Final = 1.0
# Between lines that stay, as in the log of a CI job.
_A_LINE_S: Final = 60.0
# Sums of floats are off by less; a call at the very limit is still within it.
_ROUNDING_USD: Final = 1e-12
# A process holds the file of the limits for a millisecond, unless somebody has stopped it.
_LONGEST_BOOKING_S: Final = 30.0


@dataclass(slots=True)
class _Spent:
    """Calls made, USD that they have cost at most, and USD booked for calls under way."""

    calls: int = 0
    usd: float = 0.0
    booked: float = 0.0


class SessionBudget(Limits):
    """Counts calls and USD, and refuses the call that would pass a limit. Safe with threads.

    ``None`` sets no limit. ``shared`` is the folder that the processes of the session share. It has
    the ``deadline`` of the session.
    """

    def __init__(
        self,
        max_calls: int | None,
        max_cost: float | None,
        shared: Path | None = None,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        super().__init__(deadline)
        self._max_calls = max_calls
        self._max_cost = max_cost
        self._lock = threading.Lock()
        self._here = _Spent()
        limited = max_calls is not None or max_cost is not None
        self._file = shared / "spent.json" if shared and limited else None
        self._between: Any = (
            FileLock(self._file.with_suffix(".lock"), timeout=_LONGEST_BOOKING_S)
            if self._file
            else None
        )
        self.retries = 0

    @property
    def usd(self) -> float:
        """What calls have cost; where processes share a limit, none of them tells it."""
        return self._here.usd

    def take(self, spec: JudgeSpec, most_usd: float | None, *, patient: bool = False) -> bool:
        self.deadline.check()
        if self._max_cost is not None and most_usd is None:
            raise _unpriced(spec)
        most = most_usd or 0.0
        with self._spent() as spent:
            if self._max_calls is not None and spent.calls >= self._max_calls:
                raise LimitReached(
                    f"--judge-max-calls {self._max_calls} is reached",
                    found=f"{spent.calls} calls made in this session, retries counted",
                )
            most_of_all = (self._max_cost or 0.0) + _ROUNDING_USD
            if self._max_cost is not None and spent.usd + spent.booked + most > most_of_all:
                if patient and spent.usd + most <= most_of_all:
                    return False
                raise LimitReached(
                    f"--judge-max-cost {self._max_cost:g} is reached",
                    found=f"{spent.usd:.6f} USD spent in this session, and up to {most:.6f} USD "
                    "for the next call",
                )
            spent.calls += 1
            spent.booked += most
        return True

    def settle(self, most_usd: float | None, usd: float | None) -> None:
        """Replace what was booked by the cost; where that is not known the most is taken for it."""
        most = most_usd or 0.0
        with self._spent() as spent:
            spent.booked -= most
            spent.usd += most if usd is None else usd

    def retried(self) -> None:
        """Count a call that is made again."""
        self.retries += 1

    @contextmanager
    def _spent(self) -> Iterator[_Spent]:
        """What was spent, to be added to; nobody else comes in between."""
        with self._lock, self._held():
            if self._file is None:
                yield self._here
                return
            known = self._file.exists() and json.loads(self._file.read_text(encoding="utf-8"))
            spent = _Spent(**known or {})
            yield spent
            # In one step: a worker that is killed here leaves a whole file.
            new = self._file.with_suffix(".new")
            new.write_text(json.dumps(asdict(spent)), encoding="utf-8")
            new.replace(self._file)

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Hold the file against the other processes of the session."""
        if self._between is None:
            yield
            return
        try:
            self._between.acquire()
        except Timeout as error:
            raise LimitReached(
                "the limits of the session cannot be kept",
                found=f"{self._file} held by another process for {_LONGEST_BOOKING_S:g} s",
                expected="workers that note a call within moments",
                remedy="end that process, which may have been stopped, and run again",
            ) from error
        try:
            yield
        finally:
            self._between.release()


def _unpriced(spec: JudgeSpec) -> LimitReached:
    found, remedy = "a callable, whose tokens are not known", "limit it by --judge-max-calls"
    if spec.provider != "callable":
        found = "no prices"
        remedy = (
            f"give [tool.judgesense.judges.{spec.name}] prices = {{ prompt = ..., completion = "
            f"... }} in USD per million tokens, or {remedy}"
        )
    return LimitReached(
        f"--judge-max-cost cannot be kept for judge {spec.name!r}",
        found=found,
        expected="a limit that holds whatever is asked",
        remedy=remedy,
    )


@dataclass(slots=True)
class _Measuring:
    """A measurement under way; counted by the thread that asks, read by the one that waits."""

    title: str
    total: int
    priced: bool
    usd: float
    retries: int
    throttle: Throttle
    started: float = field(default_factory=time.monotonic)
    shown: float | None = None
    done: int = 0
    failed: int = 0
    unread: int = 0


class Progress:
    """Shows how far the measurement under way is, and at its end what could not be read.

    How far: on a terminal one line that is written over; elsewhere a line a minute. With ``-q``,
    and in the workers of xdist, nothing. What a worker has to say at an end is left in ``told``,
    for the process that has the screen.
    """

    def __init__(self, config: pytest.Config, budget: SessionBudget) -> None:
        self._budget = budget
        self._reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        self._screen: Any = None if hasattr(config, "workerinput") else self._reporter
        self._capture: Any = config.pluginmanager.get_plugin("capturemanager")
        if config.option.verbose < 0 or self._screen is None:
            self._reporter = None
        self.told: list[str] = []
        self._measuring: _Measuring | None = None

    @contextmanager
    def of(self, judge: JudgeSpec, suite: Suite, throttle: Throttle) -> Iterator[Watch]:
        """Follow a measurement, asked by ``throttle``; yields the ``watch`` of `measure`."""

        def watch(trials: Sequence[Trial]) -> Callable[[Judgment], None]:
            title, priced = f"judge {judge.name} on {suite.name}", judge.prices is not None
            spent = self._budget.usd, self._budget.retries
            under = self._measuring = _Measuring(title, len(trials), priced, *spent, throttle)

            def count(judgment: Judgment) -> None:
                under.done += 1
                under.failed += isinstance(judgment.outcome, Failed)
                under.unread += isinstance(judgment.outcome, Unparsed)

            return count

        try:
            yield watch
        finally:
            under, self._measuring = self._measuring, None
            is_shown = under is not None and under.shown is not None
            if is_shown and self._reporter is not None and self._reporter.isatty:
                with self._uncaptured():
                    self._reporter.rewrite("", erase=True)
                    self._reporter.write("\r", flush=True)

    def tick(self) -> None:
        """Write a line if it is time for one; called again and again by whoever waits."""
        under, now = self._measuring, time.monotonic()
        if self._reporter is None or under is None or not under.total:
            return
        before = under.started if under.shown is None else under.shown
        interval = 0.0 if self._reporter.isatty else _A_LINE_S
        if now - before < interval or now - under.started < _FIRST_S:
            return
        line = progress_line(
            under.title,
            under.done,
            under.total,
            now - under.started,
            usd=self._budget.usd - under.usd if under.priced else None,
            failed=under.failed,
            retried=self._budget.retries - under.retries,
            serial=under.throttle.serial,
            unread=under.unread,
        )
        with self._uncaptured():
            if under.shown is None:
                self._reporter.ensure_newline()
            if self._reporter.isatty:
                self._reporter.rewrite(line, erase=True)
            else:
                self._reporter.write_line(line)
            self._reporter.flush()
        under.shown = now

    def ended(self, measurement: Measurement) -> None:
        """Show replies of a suite that was asked which cannot be read, at most three."""
        lines = ended_lines(measurement)
        if self._screen is None:
            self.told += lines
        elif lines:
            with self._uncaptured():
                write_lines(self._screen, lines)

    def interrupted(self, longest_s: float) -> None:
        """Say that the calls under way are waited for, of which the last ends by ``longest_s``."""
        if self._reporter is None or not longest_s:
            return
        with self._uncaptured():
            line = (
                "judgesense: interrupted; calls under way come to their end and are recorded, "
                f"within {longest_s:g} s; interrupt again to end at once"
            )
            write_lines(self._reporter, [line])

    def _uncaptured(self) -> Any:
        return self._capture.global_and_fixture_disabled() if self._capture else nullcontext()


def ended_lines(measurement: Measurement) -> list[str]:
    """How many replies of a suite that was asked state no verdict, and three; none, no line."""
    asked = [one for one in measurement.judgments if one.trial.id in measurement.asked]
    unread = sum(isinstance(one.outcome, Unparsed) for one in asked)
    if not unread:
        return []
    where = f"judge {measurement.judge.name} on {measurement.suite.name}"
    return [
        f"{where}: {unread:,} of {len(asked):,} replies state no verdict, for instance",
        *(f"  {line}" for line in unread_lines(asked)),
    ]


def write_lines(reporter: Any, lines: Sequence[str]) -> None:
    """Write ``lines`` to the screen at once, below what stands there."""
    reporter.ensure_newline()
    for line in lines:
        reporter.write_line(line)
    reporter.flush()


def progress_line(
    title: str,
    done: int,
    total: int,
    seconds: float,
    *,
    usd: float | None,
    failed: int,
    retried: int,
    serial: bool = False,
    unread: int = 0,
) -> str:
    """How far a measurement is, in one line; ``usd`` is ``None`` without prices."""
    rate = done / seconds if seconds > 0 else 0.0
    parts = [f"{title}: {done:,} of {total:,}", f"{rate:.1f}/s"]
    if rate > 0:
        parts.append(f"{_duration((total - done) / rate)} left")
    if usd is not None:
        parts.append(f"{usd:.4f} USD")
    parts += [f"{failed:,} failed", f"{retried:,} retried"]
    if unread:
        parts.append(f"{unread:,} without a verdict")
    if serial:
        parts.append("one at a time (a sync function; concurrency = N asks N at once)")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
