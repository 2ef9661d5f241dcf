"""The arrays that statistics take and give, by what their elements are."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
# Positions, and small whole numbers that stand for labels or clusters.
Codes: TypeAlias = NDArray[np.intp]
