"""What makes a session cheaper, each with what it saves of the CPU time of ``pytest suites``.

The figures are medians of alternating processes with and without it (``benchmarks/main_job.py``).
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected(*, unless: bool = False) -> Iterator[None]:
    """Collect no garbage within this block, ``unless`` code of others runs in it.

    Modules, suites and recordings are kept for the whole session, and no value of a log refers to
    one that refers to it. Each search for garbage among them reads all of them and finds none.
    """
    enabled = gc.isenabled() and not unless
    if enabled:
        gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
