"""Threads of linear algebra that sleep when there is nothing to do.

The threads of OpenBLAS, of which numpy and scipy bring one library each, spin for 25 ms of
processor time after they start and after each product. Products here are small, and far between: a
tenth of a run that measures went into waiting for the next. They wait for half a millisecond now.

Imported before numpy, for a library reads the setting when it is loaded; one that is loaded already
keeps its own, and so does whoever has set it.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")  # the power of two of processor cycles
