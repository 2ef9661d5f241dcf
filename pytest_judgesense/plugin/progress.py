"""The progress display of a long measurement."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from pytest_judgesense.judges.readable import unread_lines
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import SessionBudget, Throttle
from pytest_judgesense.measurement import Measurement
from pytest_judgesense.plugin.screen import columns_of
from pytest_judgesense.plugin.workers import A_LINE_S, Trace
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.display import erase_line, overwrite_line, write_line
from pytest_judgesense.text.layout import excerpt, indented, pace, within
from pytest_judgesense.trial import Failed, Judgment, Trial, Unparsed

Watch: TypeAlias = Callable[[Sequence[Trial]], Callable[[Judgment], None]]

# A shorter measurement shows nothing on a terminal.
_FIRST_S: Final = 1.0


@dataclass(slots=True)
class Measuring:
    """A measurement under way; counted by the thread that asks, read by the one that waits.

    Attributes:
        usd: spent by the session before it, as ``retries`` were made before it.
        decided: the checks that are decided, and how many there are.
    """

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
    decided: tuple[Sequence[str], int] | None = None

    def line(self, seconds: float, usd: float, retries: int) -> str:
        """Its progress after ``seconds``, the most important first, and what was spent by then."""
        parts = [f"{self.title}: {self.done:,} of {self.total:,}", pace(self.done, seconds)]
        if self.done and seconds > 0:
            parts.append(f"{_duration((self.total - self.done) * seconds / self.done)} left")
        parts.append(f"{self.failed:,} failed")
        if self.unread:
            parts.append(f"{self.unread:,} without a verdict")
        parts.append(f"{retries - self.retries:,} retried")
        if self.priced:
            parts.append(f"{usd - self.usd:.4f} USD")
        if self.decided:
            names, of = self.decided
            named = f": {', '.join(names)}" if names else ""
            parts.append(f"{len(names)} of {of} checks decided{named}")
        if self.throttle.serial:
            parts.append("one at a time (a sync function; concurrency = N asks N at once)")
        return ", ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if minutes else f"{rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


class Progress:
    """Shows the progress of a measurement, and at its end the replies that could not be parsed.

    On a terminal, progress is one line that is overwritten; elsewhere a line a minute, with ``-q``
    none. An xdist worker leaves it in the ``folder`` of its session, and its final lines in
    ``notes``, for the process that has the screen.
    """

    def __init__(
        self,
        config: pytest.Config,
        budget: SessionBudget,
        notes: list[str],
        folder: Path | None = None,
    ) -> None:
        self._budget, self._notes = budget, notes
        self._reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        is_worker = hasattr(config, "workerinput")
        self._screen: Any = None if is_worker else self._reporter
        self._trace = Trace(folder if is_worker else None)
        self._capture: Any = config.pluginmanager.get_plugin("capturemanager")
        if self._screen is None or (config.get_verbosity() < 0 and not self._screen.isatty):
            self._reporter = None
        self._columns = columns_of(config)
        self._measuring: Measuring | None = None

    @contextmanager
    def of(self, judge: JudgeSpec, suite: Suite, throttle: Throttle) -> Iterator[Watch]:
        """Follow a measurement, asked by ``throttle``; yields the ``watch`` of `measure`."""

        def watch(trials: Sequence[Trial]) -> Callable[[Judgment], None]:
            title, priced = f"judge {judge.name} on {suite.name}", judge.prices is not None
            spent = self._budget.usd, self._budget.retries
            under = self._measuring = Measuring(title, len(trials), priced, *spent, throttle)

            def count(judgment: Judgment) -> None:
                under.done += 1
                under.failed += isinstance(judgment.outcome, Failed)
                under.unread += isinstance(judgment.outcome, Unparsed)

            return count

        try:
            yield watch
        finally:
            under, self._measuring = self._measuring, None
            self._trace.remove()
            is_shown = under is not None and under.shown is not None
            if is_shown and self._reporter is not None and self._reporter.isatty:
                with self._uncaptured():
                    erase_line(self._reporter)

    def decided(self, checks: Sequence[str], of: int) -> None:
        """Note which checks, of how many, are decided where it may stop early."""
        if self._measuring is not None:
            self._measuring.decided = checks, of

    @property
    def left(self) -> int | None:
        """How many trials of the measurement have no answer yet; ``None`` before it asks."""
        under = self._measuring
        return None if under is None else under.total - (under.done - under.failed)

    def tick(self) -> None:
        """Write a line if one is due; called repeatedly by waiting code."""
        under, now = self._measuring, time.monotonic()
        if under is None or not under.total or now - under.started < _FIRST_S:
            return
        line = under.line(now - under.started, self._budget.usd, self._budget.retries)
        if self._screen is None:
            if under.shown is None or now - under.shown >= _FIRST_S:
                under.shown = now
                self._trace.leave(under.title, line)
            return
        if self._reporter is None:
            return
        before = under.started if under.shown is None else under.shown
        if not self._reporter.isatty and now - before < A_LINE_S:
            return
        with self._uncaptured():
            if under.shown is None:
                self._reporter.ensure_newline()
            if self._reporter.isatty:  # a second row of the terminal could not be overwritten
                overwrite_line(self._reporter, excerpt(line, self._columns - 1))
            else:
                write_line(self._reporter, line)
            self._reporter.flush()
        under.shown = now

    def ended(self, measurement: Measurement) -> None:
        """Show replies of a suite that was asked which cannot be read, at most three."""
        fresh = [
            judgment for judgment in measurement.judgments if judgment.trial.id in measurement.asked
        ]
        unread = sum(isinstance(judgment.outcome, Unparsed) for judgment in fresh)
        if not unread:
            return
        where = f"judge {measurement.judge.name} on {measurement.suite.name}"
        lines = [
            f"{where}: {unread:,} of {len(fresh):,} replies state no verdict, for instance",
            *(f"  {line}" for line in unread_lines(fresh)),
        ]
        if self._screen is None:
            self._notes += lines
        else:
            with self._uncaptured():
                write_lines(self._screen, lines)

    def interrupted(self, longest_s: float) -> None:
        """Say that calls in flight are waited for; the last ends within ``longest_s``."""
        if self._reporter is None or not longest_s:
            return
        line = "judgesense: interrupted; calls under way come to their end and are recorded, "
        line += f"within {longest_s:g} s; interrupt again to end at once"
        with self._uncaptured():
            write_lines(self._reporter, [line])

    def _uncaptured(self) -> Any:
        return self._capture.global_and_fixture_disabled() if self._capture else nullcontext()


def write_lines(reporter: Any, lines: Sequence[str]) -> None:
    """Write ``lines`` to the screen at once, below the current line and with its width."""
    reporter.ensure_newline()
    with within(reporter._tw.fullwidth):
        for line in lines:
            for part in indented(line.lstrip(), len(line) - len(line.lstrip())):
                write_line(reporter, part)
    reporter.flush()
