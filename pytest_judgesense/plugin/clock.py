"""The clock of pytest-timeout, stopped while a test waits for a provider or for another recorder.

How long a provider takes says nothing of the test. pytest-timeout offers two hooks by which any
plugin may set and cancel its timer; they are followed here, and called again around each wait: what
was left when the wait began is what is left when it ends. Where pytest-timeout is not installed
nothing calls them. Light on purpose.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import pytest

__all__ = ["Clock"]

# A timer set to 0 would never fire.
_LEAST_S: Final = 0.001


class _Timer(NamedTuple):
    item: pytest.Item
    settings: Any  # a named tuple of pytest-timeout; `timeout` are the seconds left
    since: float
    thread: int


class Clock:
    """Follows the timer of the running test; a plugin of its own."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._running: _Timer | None = None
        self._halted: _Timer | None = None
        self._waits = 0

    @pytest.hookimpl(optionalhook=True, wrapper=True)
    def pytest_timeout_set_timer(
        self, item: pytest.Item, settings: Any
    ) -> Generator[None, object, object]:
        """Note that a timer runs."""
        done = yield
        self._running = _Timer(item, settings, time.monotonic(), threading.get_ident())
        return done

    @pytest.hookimpl(optionalhook=True, wrapper=True)
    def pytest_timeout_cancel_timer(self, item: pytest.Item) -> Generator[None, object, object]:
        """Note that it does no longer, and that none is to go on after a wait."""
        done = yield
        self._running = self._halted = None
        return done

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """No time passes for pytest-timeout while this block runs; blocks may overlap.

        A timer can be set by the thread of the tests alone: elsewhere nothing happens.
        """
        timer = self._running or self._halted
        if timer is None or timer.thread != threading.get_ident():
            yield
            return
        self._halt()
        self._waits += 1
        try:
            yield
        finally:
            self._waits -= 1
            if not self._waits:
                self._go_on()

    def _halt(self) -> None:
        timer = self._running
        if timer is None:
            return
        left = timer.settings.timeout - (time.monotonic() - timer.since)
        self._config.hook.pytest_timeout_cancel_timer(item=timer.item)
        settings = timer.settings._replace(timeout=max(left, _LEAST_S))
        self._halted = timer._replace(settings=settings)

    def _go_on(self) -> None:
        timer, self._halted = self._halted, None
        if timer is not None:
            self._config.hook.pytest_timeout_set_timer(item=timer.item, settings=timer.settings)
