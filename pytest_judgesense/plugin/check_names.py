"""The built-in checks by name, with their lines in ``pytest --markers``.

Every run registers them as markers, and imports no registry for that: ``check_markers.txt`` is made
by docs/reference/generate.py from the instruments.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

_LINES: Final = Path(__file__).with_name("check_markers.txt").read_text("utf-8").splitlines()
CHECK_MARKERS: Final = {line.partition("(")[0]: line for line in _LINES}
