"""The files of the project, and those that the plugin writes, on every system alike."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path, PurePosixPath

import pytest

from pytest_judgesense.judges.judge_table import declared_judge

ROOT = Path(__file__).parents[2]
# https://learn.microsoft.com/en-us/windows/win32/fileio/naming-a-file
FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$')
RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
# MAX_PATH is 260; this leaves 100 for the folder of the checkout.
LONGEST = 160


def _allowed(name: str) -> bool:
    return not FORBIDDEN.search(name) and not RESERVED.fullmatch(name)


def _tracked() -> list[PurePosixPath]:
    """Files under version control; in an unpacked source distribution all that is not made here."""
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False, text=True
    )
    if done.returncode == 0 and done.stdout:
        return [PurePosixPath(name) for name in done.stdout.split("\0") if name]
    made = {"__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".ruff_cache", "build", "dist"}
    return [
        PurePosixPath(path.relative_to(ROOT).as_posix())
        for top in ("pytest_judgesense", "suites", "cassettes", "templates", "tests", "docs")
        for path in (ROOT / top).rglob("*")
        if path.is_file() and not made & set(path.parts)
    ]


TRACKED = _tracked()


def test_there_are_files_to_look_at() -> None:
    assert {"pytest_judgesense", "suites", "cassettes"} <= {path.parts[0] for path in TRACKED}


def test_files_are_utf8_with_line_feeds() -> None:
    wrong = []
    for path in TRACKED:
        if not (ROOT / path).is_file():
            continue  # removed, and not committed yet
        if path.suffix in (".png", ".gz", ".eval"):
            continue  # pictures, golden datasheets, and a log of Inspect as it writes them
        content = (ROOT / path).read_bytes()
        try:
            content.decode("utf-8")
        except UnicodeDecodeError:
            wrong.append(path)
        if b"\r" in content or content.startswith(b"\xef\xbb\xbf"):
            wrong.append(path)
    assert wrong == []


def test_git_checks_them_out_with_line_feeds_everywhere() -> None:
    lines = (ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()
    assert "* text=auto eol=lf" in lines


def test_names_are_allowed_on_windows() -> None:
    parts = {part for path in TRACKED for part in path.parts}
    assert sorted(part for part in parts if not _allowed(part)) == []
    assert [str(path) for path in TRACKED if len(str(path)) > LONGEST] == []
    # Upper and lower case are one there.
    assert [name for name, n in Counter(str(p).lower() for p in TRACKED).items() if n > 1] == []


@pytest.mark.parametrize(
    "name", ["con", "NUL", "aux.1", "COM1", "lpt9.x", "prn", "a/b:c", "a. ", "."]
)
def test_the_folder_of_a_judge_may_be_called_so_on_windows(name: str) -> None:
    slug = declared_judge(name, provider="openai", model="m").slug
    assert _allowed(slug), slug
