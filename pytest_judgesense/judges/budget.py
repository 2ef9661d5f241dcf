"""The limits and the spending of a session.

The counts are in a file if several processes share them: a limit is for the session, not for an
xdist worker.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import LimitReached
from pytest_judgesense.judges.spec import JudgeSpec, table_of
from pytest_judgesense.judges.throttle import NO_DEADLINE, Deadline, Limits

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
        self._between: Any = None
        if self._file:
            from filelock import FileLock  # no replay needs it

            self._between = FileLock(self._file.with_suffix(".lock"), timeout=_LONGEST_BOOKING_S)
        self.retries = 0

    @property
    def usd(self) -> float:
        """The cost of the calls so far; not known if processes share a limit."""
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
        """Replace the booked cost by the real one; if that is unknown, the maximum stays."""
        most = most_usd or 0.0
        with self._spent() as spent:
            spent.booked -= most
            spent.usd += most if usd is None else usd

    def retried(self) -> None:
        """Count a call that is made again."""
        self.retries += 1

    @contextmanager
    def _spent(self) -> Iterator[_Spent]:
        """The running totals, held against other threads and processes while they are changed."""
        if self._file is None:
            with self._lock:
                yield self._here
            return
        from filelock import Timeout

        try:
            with self._lock, self._between:
                known = self._file.exists() and json.loads(self._file.read_text(encoding="utf-8"))
                spent = _Spent(**known or {})
                yield spent
                # In one step: a worker that is killed here leaves a whole file.
                new = self._file.with_suffix(".new")
                new.write_text(json.dumps(asdict(spent)), encoding="utf-8")
                new.replace(self._file)
        except Timeout as error:
            raise LimitReached(
                "the limits of the session cannot be kept",
                found=f"{self._file} held by another process for {_LONGEST_BOOKING_S:g} s",
                expected="workers that note a call within moments",
                remedy="end that process, which may have been stopped, and run again",
            ) from error


def _unpriced(spec: JudgeSpec) -> LimitReached:
    found, remedy = "a callable, whose tokens are not known", "limit it by --judge-max-calls"
    if spec.provider != "callable":
        found = "no prices"
        remedy = (
            f"give {table_of(spec.name)} prices = {{ prompt = ..., completion = "
            f"... }} in USD per million tokens, or {remedy}"
        )
    return LimitReached(
        f"--judge-max-cost cannot be kept for judge {spec.name!r}",
        found=found,
        expected="a limit that holds whatever is asked",
        remedy=remedy,
    )
