"""SIGTERM as an interrupt, for whoever makes calls: those in flight are paid for, and recorded.

In a file of its own: every command begins with it, and most need no event loop.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType


def take_sigterm() -> Callable[[], None]:
    """Let SIGTERM interrupt like Ctrl-C, unless it has another handler.

    Returns:
        What undoes it.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        return lambda: None
    signal.signal(signal.SIGTERM, _interrupt)
    return _give_back


def _give_back() -> None:
    if signal.getsignal(signal.SIGTERM) is _interrupt:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt("SIGTERM")
