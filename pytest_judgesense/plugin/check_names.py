"""The built-in checks by name, with their lines in ``pytest --markers``.

Every run registers them as markers, and imports no registry for that: ``check_markers.txt`` is made
by docs/reference/generate.py from the instruments. Each line has the room of the instrument that
gives the check, a tab, and the line of the marker; the checks of no room have an empty name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_name("check_markers.txt")
_LINES: Final = [line.partition("\t") for line in _FILE.read_text("utf-8").splitlines()]
CHECK_MARKERS: Final = {marker.partition("(")[0]: marker for _, _, marker in _LINES}
ROOMS_OF_CHECKS: Final = {marker.partition("(")[0]: room for room, _, marker in _LINES if room}
