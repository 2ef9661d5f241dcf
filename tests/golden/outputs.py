"""What a run over every recorded suite of an embedded profile writes, as the golden files hold it.

One process a profile writes the JSON and the Markdown datasheet, the terminal's text with ``-vv``,
and the screen without it. What depends on the environment is replaced: versions, and the last bits
of a float (ten significant digits stay, and twelve decimals), which differ between processors. The
day is always the same.
"""

from __future__ import annotations

import gzip
import os
import re
import tempfile
from pathlib import Path
from typing import Final

from tests import processes
from tests.report.replaying import SHIPPED

FOLDER: Final = Path(__file__).parent
KINDS: Final = ("datasheet.json", "datasheet.md", "screen.txt", "terminal.txt")

_VERSION: Final = re.compile(r'("(?:pytest-judgesense|numpy|scipy|python)": )"[^"]+"')
_FLOAT: Final = re.compile(r"-?\d+\.\d{9,}(?:e[-+]\d+)?|-?\d(?:\.\d+)?e-\d+")
_SHEET: Final = re.compile(r"^=+ judge datasheet", re.MULTILINE)
_PYTEST: Final = re.compile(r"^=+ short test summary info|^=+ \d+ (?:passed|failed)", re.MULTILINE)


def outputs(profile: str) -> dict[str, str]:
    """The text of each of `KINDS`, from one run.

    Raises:
        RuntimeError: the run neither passed nor failed its checks.
    """
    with tempfile.TemporaryDirectory() as folder:
        asked = ["-vv", "--color=no", "-p", "no:cacheprovider"]
        for plugin in ("without_extras", "one_day", "first_screen"):
            asked += ["-p", f"tests.golden.{plugin}"]
        asked += ["--judge-name", f"embedded:{profile}"]
        for suite in SHIPPED[profile]:
            asked += ["--judge-suite", suite]
        for kind in KINDS[:2]:
            asked += ["--judge-datasheet", kind]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        environment |= {"COLUMNS": "80", "PYTHONPATH": str(processes.ROOT)}
        ran = processes.run("pytest", *asked, cwd=Path(folder), environment=environment)
        if ran.returncode not in (0, 1):
            raise RuntimeError(f"the run ended with {ran.returncode}\n{ran.stdout}\n{ran.stderr}")
        written = {kind: (Path(folder) / kind).read_text(encoding="utf-8") for kind in KINDS[:3]}
    # What stands before it is pytest's, with the versions of what is installed, and the failures.
    terminal = ran.stdout[_SHEET.search(ran.stdout).start() :]  # type: ignore[union-attr]
    found = written | {KINDS[3]: _PYTEST.split(terminal)[0]}
    here = f"{Path(folder).resolve()}{os.sep}"
    return {kind: independent(text.replace(here, "")) for kind, text in found.items()}


def golden(profile: str, kind: str) -> str:
    """The text of a golden file."""
    content = _path(profile, kind).read_bytes()
    return (gzip.decompress(content) if kind.endswith("json") else content).decode()


def renew(profile: str, kind: str, text: str) -> None:
    """Write a golden file; its bytes depend on ``text`` alone."""
    content = text.encode()
    compressed = gzip.compress(content, mtime=0) if kind.endswith("json") else content
    _path(profile, kind).write_bytes(compressed)


def _path(profile: str, kind: str) -> Path:
    return FOLDER / f"{profile}.{kind}{'.gz' if kind.endswith('json') else ''}"


def independent(text: str) -> str:
    """The text without what depends on the environment."""
    text = _VERSION.sub(r'\1"..."', text)
    return _FLOAT.sub(_rounded, text)


def _rounded(found: re.Match[str]) -> str:
    short = format(round(float(found[0]), 12), ".10g")
    # As a number that is whole exactly, which needs no rounding.
    return f"{short}.0" if short.lstrip("-").isdigit() else short
