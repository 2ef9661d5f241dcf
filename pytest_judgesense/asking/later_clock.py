"""The clock of a process set on, so that what depends on the day differs there.

By time-machine, which exchanges the functions of ``time`` and ``datetime`` in the running
interpreter; monotonic clocks, and with them timers, stay as they are. A clock that is read in
another way stays too: by another process, a database, or a library in C or Rust.
"""

from __future__ import annotations

import sys
from datetime import timedelta
from importlib.util import find_spec
from typing import Final

# Year, month and weekday differ: the longest year has 366 days, the longest month 31, and 397 days
# are 5 more than whole weeks. So does the hour, where a clock is put forward or back meanwhile too.
SET_ON_BY: Final = timedelta(days=397, hours=13)


def can_be_set_on() -> bool:
    """Whether there is a time-machine for this interpreter: for CPython alone."""
    return find_spec("time_machine") is not None


def set_on() -> None:
    """Set the clock of this process on, until it ends. It goes on running.

    Raises:
        ImportError: time-machine is not installed, or cannot be loaded.
    """
    without_pytest = "pytest" not in sys.modules
    if without_pytest:
        # As if it were not installed, for a plugin of time-machine's: it takes longer to load than
        # all else.
        sys.modules["pytest"] = None  # type: ignore[assignment]
    try:
        from time_machine import travel
    finally:
        if without_pytest:
            del sys.modules["pytest"]
    travel(SET_ON_BY).start()
