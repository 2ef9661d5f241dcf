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
def uncollected(*, unless: bool = False) -> Iterator[None]:
    """Collect no garbage within this block (7%), ``unless`` code of others runs in it.

    Modules, suites and recordings are kept for the whole session: each search for garbage among
    them reads all of them and finds none. So what the block has made counts as old behind it, and
    only full collections, which are rare, look through it.
    """
    enabled = gc.isenabled() and not unless
    if enabled:
        gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()
            gc.unfreeze()  # into the oldest generation
            gc.enable()
