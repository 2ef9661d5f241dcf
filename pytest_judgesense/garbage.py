"""When no garbage is collected: while much is made that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect no garbage within this block.

    Modules, suites and recordings are kept for the whole session, and no value of a log refers to
    one that refers to it. Each search for garbage among them reads all of them and finds none: a
    twentieth of a run that replays, and a quarter of reading millions of judgments.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def set_aside() -> Iterator[None]:
    """Search for no garbage among what exists already while this block runs; only among the new.

    For code of others that may leave garbage and runs long beside much that stays.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
