"""What a session may spend and has spent, and how a long measurement tells how far it is.

The counts stand in a file where several processes share them: a limit is one of the session, not of
a worker of xdist.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from filelock import FileLock

from pytest_judgesense.errors import LimitReached
from pytest_judgesense.judges.client import Answer
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Limits
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Failed, Trial

Watch: TypeAlias = Callable[[Sequence[Trial]], Callable[[Answer], None]]

# A shorter measurement shows nothing on a terminal.
_FIRST_S: Final = 1.0
# Between lines that stay, as in the log of a CI job.
_A_LINE_S: Final = 60.0
# Sums of floats are off by less; a call at the very limit is still within it.
_ROUNDING_USD: Final = 1e-12


@dataclass(frozen=True, slots=True)
class _Spent:
    """Calls made, USD that they have cost at most, and USD booked for calls under way."""

    calls: int = 0
    usd: float = 0.0
    booked: float = 0.0


class SessionBudget(Limits):
    """Counts calls and USD, and refuses the call that would pass a limit. Safe with threads.

    Args:
        max_calls: the most calls in the session, retries counted; ``None`` sets no limit.
        max_cost: the most USD, by the judges' prices; ``None`` sets no limit.
        shared: folder that the processes of the session share; ``None`` for one process.
    """

    def __init__(
        self, max_calls: int | None, max_cost: float | None, shared: Path | None = None
    ) -> None:
        self._max_calls = max_calls
        self._max_cost = max_cost
        self._lock = threading.Lock()
        self._here = _Spent()
        if max_calls is None and max_cost is None:
            shared = None
        self._file = shared / "spent.json" if shared else None
        self._between = FileLock(shared / "spent.lock") if shared else None
        self.retries = 0

    @property
    def usd(self) -> float:
        """What calls of this process have cost."""
        return self._here.usd

    def take(self, spec: JudgeSpec, most_usd: float | None, *, patient: bool = False) -> bool:
        if self._max_cost is not None and most_usd is None:
            raise _unpriced(spec)
        most = most_usd or 0.0
        with self._spent() as (spent, change):
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
            change(calls=1, booked=most)
        return True

    def settle(self, most_usd: float | None, usd: float | None) -> None:
        """Replace what was booked by the cost; where that is not known the most is taken for it."""
        most = most_usd or 0.0
        with self._spent() as (_, change):
            change(booked=-most, usd=most if usd is None else usd)

    def retried(self) -> None:
        """Count a call that is made again."""
        self.retries += 1

    @contextmanager
    def _spent(self) -> Iterator[tuple[_Spent, Callable[..., None]]]:
        """What was spent, and what adds to it; nobody else comes in between."""
        with self._lock:
            if self._file is None or self._between is None:
                yield self._here, self._add_here
                return
            with self._between:
                yield _read(self._file), self._add_everywhere

    def _add_here(self, **by: float) -> None:
        self._here = _added(self._here, by)

    def _add_everywhere(self, **by: float) -> None:
        assert self._file is not None
        self._add_here(**by)
        # In one step: a worker that is killed here leaves a whole file.
        new = self._file.with_suffix(".new")
        new.write_text(json.dumps(asdict(_added(_read(self._file), by))), encoding="utf-8")
        new.replace(self._file)


def _read(file: Path) -> _Spent:
    return _Spent(**json.loads(file.read_text(encoding="utf-8"))) if file.exists() else _Spent()


def _added(spent: _Spent, by: Mapping[str, float]) -> _Spent:
    changed: dict[str, Any] = {name: getattr(spent, name) + amount for name, amount in by.items()}
    return replace(spent, **changed)


def _unpriced(spec: JudgeSpec) -> LimitReached:
    is_callable = spec.provider == "callable"
    return LimitReached(
        f"--judge-max-cost cannot be kept for judge {spec.name!r}",
        found="a callable, whose tokens are not known" if is_callable else "no prices",
        expected="a limit that holds whatever is asked",
        remedy="limit it by --judge-max-calls"
        if is_callable
        else f"give [tool.judgesense.judges.{spec.name}] prices = {{ prompt = ..., completion = "
        "... }} in USD per million tokens, or limit it by --judge-max-calls",
    )


@dataclass(slots=True)
class _Measuring:
    """A measurement under way; counted by the thread that asks, read by the one that waits."""

    title: str
    total: int
    priced: bool
    started: float
    shown: float
    usd: float
    retries: int
    done: int = 0
    failed: int = 0


class Progress:
    """Shows how far the measurement under way is.

    On a terminal one line that is written over; elsewhere a line a minute. With ``-q``, and in the
    workers of xdist, nothing.
    """

    def __init__(
        self,
        config: pytest.Config,
        budget: SessionBudget,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._budget = budget
        self._now = now
        self._reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        self._capture: Any = config.pluginmanager.get_plugin("capturemanager")
        if config.option.verbose < 0 or hasattr(config, "workerinput"):
            self._reporter = None
        self._measuring: _Measuring | None = None

    @contextmanager
    def of(self, judge: JudgeSpec, suite: Suite) -> Iterator[Watch]:
        """Follow a measurement; yields the ``watch`` of `measure`."""

        def watch(trials: Sequence[Trial]) -> Callable[[Answer], None]:
            now = self._now()
            under = self._measuring = _Measuring(
                title=f"judge {judge.name} on {suite.name}",
                total=len(trials),
                priced=judge.prices is not None,
                started=now,
                shown=now,
                usd=self._budget.usd,
                retries=self._budget.retries,
            )

            def count(answer: Answer) -> None:
                under.done += 1
                under.failed += isinstance(answer.reply, Failed)

            return count

        try:
            yield watch
        finally:
            self._wipe()
            self._measuring = None

    def tick(self) -> None:
        """Write a line if it is time for one; called again and again by whoever waits."""
        under, now = self._measuring, self._now()
        if self._reporter is None or under is None or not under.total:
            return
        if now - under.shown < _A_LINE_S and not self._reporter.isatty:
            return
        if now - under.started < _FIRST_S:
            return
        line = progress_line(
            under.title,
            under.done,
            under.total,
            now - under.started,
            usd=self._budget.usd - under.usd if under.priced else None,
            failed=under.failed,
            retried=self._budget.retries - under.retries,
        )
        with self._uncaptured():
            if under.shown == under.started:
                self._reporter.ensure_newline()
            if self._reporter.isatty:
                self._reporter.rewrite(line, erase=True)
            else:
                self._reporter.write_line(line)
            self._reporter.flush()
        under.shown = now

    def _wipe(self) -> None:
        under = self._measuring
        if self._reporter is None or under is None or under.shown == under.started:
            return
        if self._reporter.isatty:
            with self._uncaptured():
                self._reporter.rewrite("", erase=True)
                self._reporter.write("\r", flush=True)

    def _uncaptured(self) -> Any:
        return self._capture.global_and_fixture_disabled() if self._capture else nullcontext()


def progress_line(
    title: str,
    done: int,
    total: int,
    seconds: float,
    *,
    usd: float | None,
    failed: int,
    retried: int,
) -> str:
    """How far a measurement is, in one line.

    Args:
        title: what is measured.
        done: trials that have ended.
        total: trials to be asked.
        seconds: since the first was asked.
        usd: cost so far; ``None`` without prices.
        failed: trials without a reply.
        retried: calls made again.
    """
    rate = done / seconds if seconds > 0 else 0.0
    parts = [f"{title}: {done:,} of {total:,}", f"{rate:.1f}/s"]
    if rate > 0:
        parts.append(f"{_duration((total - done) / rate)} left")
    if usd is not None:
        parts.append(f"{usd:.4f} USD")
    parts += [f"{failed:,} failed", f"{retried:,} retried"]
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
