"""What makes a session cheaper, each with what it saves of the CPU time of ``pytest suites``.

Imported before numpy, for a library of linear algebra reads its setting when it is loaded; one that
is loaded already keeps its own, and so does whoever has set it.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

# 6%: idle threads of OpenBLAS spin for 25 ms after each product, and now for half a millisecond.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")  # the power of two of processor cycles


@contextmanager
def uncollected(*, unless: bool = False, kept: bool = False) -> Iterator[None]:
    """Collect no garbage within this block (5%), ``unless`` code of others runs in it.

    Modules, suites and recordings are kept for the whole session: each search for garbage among
    them reads all of them and finds none. So what the block has made counts as old behind it, and
    only full collections, which are rare, look through it. What is ``kept`` no collection looks
    at, not even the one at the end of pytest (15%): where no test in Python runs in the session,
    that is nothing which somebody could want to be told of.
    """
    enabled = gc.isenabled() and not unless
    if enabled:
        gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()
            if not kept:
                gc.unfreeze()  # into the oldest generation
            gc.enable()
