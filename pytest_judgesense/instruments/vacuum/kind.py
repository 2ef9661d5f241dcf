"""What the instrument gives through the hooks."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.vacuum.measures import MEASURES
from pytest_judgesense.registry import SuiteKind

KINDS: Final = (SuiteKind("vacuum", measures=MEASURES),)
