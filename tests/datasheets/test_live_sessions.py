"""The file of live sessions: read, appended to by several, and kept when a line is broken."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_judgesense.datasheets.live_sessions import (
    append_session,
    read_history,
    session_text,
    sessions_before,
)
from pytest_judgesense.errors import LogError, UsageError
from tests.live import live

# Appends so many sessions, one after another, to the same file as others do.
APPENDER = """
import sys
from pathlib import Path
from pytest_judgesense.datasheets.live_sessions import append_session
from tests.live import live
first = int(sys.argv[2])
for number in range(first, first + 5):
    assert append_session(Path(sys.argv[1]), live(number, [3, 4]))
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "nightly" / "h.jsonl"


def test_what_is_appended_is_read_in_the_order_of_its_days(file: Path) -> None:
    assert sessions_before(file) == ()
    sessions = [live(n, [3, 4.5]) for n in (2, 1, 3)]
    assert all(append_session(file, session) for session in sessions)
    assert [session.session for session in read_history(file).sessions] == ["s1", "s2", "s3"]
    assert read_history(file).sessions[1] == sessions[0]
    assert file.read_text(encoding="utf-8").count("\n") == 3
    assert '"sums": [3, 4.5]' in file.read_text(encoding="utf-8")
    assert sorted(path.name for path in file.parent.iterdir()) == ["h.jsonl"]


def test_a_session_is_appended_once(file: Path) -> None:
    assert append_session(file, live(1, [3, 4]))
    before = file.read_bytes()
    assert not append_session(file, live(1, [3, 4]))
    assert file.read_bytes() == before


def test_two_that_append_at_once_lose_nothing(file: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", APPENDER, str(file), str(first)])
        for first in (0, 5)
    ]
    assert [process.wait(60) for process in processes] == [0, 0]
    assert sorted(session.session for session in read_history(file).sessions) == [
        f"s{number}" for number in range(10)
    ]


@pytest.mark.parametrize(
    ("broken", "found"),
    [
        ("{", "Expecting property name"),
        ('{"schema": "judgesense/history/2"}', "schema: Input should be"),
        ("[]", "line: Input should be"),
        ('{"a":' * 500, "nested|Expecting"),
    ],
)
def test_a_broken_line_is_named_and_the_file_is_kept(file: Path, broken: str, found: str) -> None:
    append_session(file, live(1, [3, 4]))
    with file.open("a", encoding="utf-8") as history:
        history.write(f"{broken}\n")
    before = file.read_bytes()
    for use in (lambda: read_history(file).sessions, lambda: append_session(file, live(2, [3, 4]))):
        with pytest.raises(LogError, match=found) as raised:
            use()
        assert raised.value.what == f"{file}:2 is no live session"
        assert "delete the line" in raised.value.remedy
    assert file.read_bytes() == before


def test_a_line_that_was_cut_off_is_left_out_and_taken_out(file: Path) -> None:
    append_session(file, live(1, [3, 4]))
    whole = file.read_bytes()
    for size in range(1, len(whole) - 1):
        file.write_bytes(whole + whole[:size])
        sessions, unfinished = read_history(file)
        assert len(sessions) == 1
        assert unfinished == (2, len(whole), size)
    # All but its brace at the end, and the line break.
    cut = f"{file}:2: the last line was cut off in mid-write ({len(whole) - 2} bytes)"
    said = append_session(file, live(2, [3, 4]))
    assert said == [f"{cut}, and is not counted: removed it", f"session appended: {file}"]
    assert len(read_history(file).sessions) == 2


def test_a_whole_line_without_its_end_is_a_session(file: Path) -> None:
    append_session(file, live(1, [3, 4]))
    whole = file.read_bytes()
    # A whole line without its end, as an editor may leave it, is one all the same.
    file.write_bytes(whole.rstrip(b"\n"))
    assert append_session(file, live(2, [3, 4]))
    assert len(read_history(file).sessions) == 2


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"sums": [3]}, "a sum and a number for each cluster"),
        ({"sums": [3, 6]}, "a sum lies between 0 and its units"),
        ({"units": [5, 10**400]}, "units lie between 0 and 1,000,000"),
        ({"sums": [3, -1]}, "a sum lies between 0 and its units"),
        ({"sums": [3, float("nan")]}, "a sum lies between 0 and its units"),
        ({"direction": "construct"}, "direction"),
        ({"missing": 2}, "missing"),
        ({"more": 1}, "more"),
    ],
)
def test_edited_totals_are_refused(file: Path, change: dict[str, object], found: str) -> None:
    value = json.loads(session_text(live(1, [3, 4])))
    value["measured"][0]["measures"][0] |= change
    file.parent.mkdir()
    file.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(LogError, match=found):
        read_history(file)


def test_a_session_that_is_there_twice_is_refused(file: Path) -> None:
    append_session(file, live(1, [3, 4]))
    file.write_bytes(file.read_bytes() * 2)
    with pytest.raises(LogError, match=":2 is a session that the file has already"):
        read_history(file)


def test_what_is_no_file_of_its_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        read_history(tmp_path / "h.jsonl")
    with pytest.raises(LogError, match="cannot be read"):
        read_history(tmp_path)
    outside, folder = tmp_path / "outside.jsonl", tmp_path / "project"
    folder.mkdir()
    (folder / "h.jsonl").symlink_to(outside)
    with pytest.raises(LogError, match="is a link that leads out of its folder"):
        append_session(folder / "h.jsonl", live(1, [3, 4]))
    assert not outside.exists()
