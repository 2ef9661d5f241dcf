"""The file of people's labels: lines are read, counted, withdrawn and appended one by one."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.people import (
    COLUMNS,
    PersonLabel,
    append_people,
    in_force,
    labelled_text,
    people_file,
    people_lines,
    read_people,
)

TEXT = "0123456789abcdef"
FIRST = PersonLabel("p1", "anna", "2", "", "", "random", "2026-11-27T01:00:00Z", TEXT)
HEADER = "item,person,label,criterion,note,drawn,labelled_at,text\n"
LINE = f"p1,anna,2,,,random,2026-11-27T01:00:00Z,{TEXT}\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return people_file(tmp_path / "pairs.suite.toml")


def test_it_stands_beside_the_suite_and_need_not_exist(path: Path) -> None:
    assert path.name == "pairs.people.csv"
    assert read_people(path) == ()


def test_lines_are_appended_and_never_changed(path: Path) -> None:
    assert append_people(path, lambda before: [FIRST]) == (FIRST,)
    assert path.read_text() == HEADER + LINE
    noted = replace(FIRST, item="p2", label="tie", note='both "fine",\nas far as I see')
    append_people(path, lambda before: [noted] if before == (FIRST,) else [])
    assert path.read_bytes().startswith((HEADER + LINE).encode())
    assert read_people(path) == (FIRST, noted)
    assert [answer.line for answer in read_people(path)] == [2, 3]
    # Nothing is left beside it, and nothing is written if there is nothing to append.
    size = path.stat().st_size
    assert append_people(path, lambda before: []) == (FIRST, noted)
    assert (path.stat().st_size, list(path.parent.iterdir())) == (size, [path])


def test_the_last_line_of_an_item_a_person_and_a_criterion_counts() -> None:
    answers = [
        FIRST,
        replace(FIRST, person="ben", label="1"),
        replace(FIRST, item="p2", label="skipped"),
        replace(FIRST, label="1"),
        replace(FIRST, item="p3", criterion="tone", label="4"),
        replace(FIRST, item="p3", criterion="facts", label="5"),
        replace(FIRST, person="ben", label=""),
    ]
    counted = in_force(answers)
    assert [(*key, answer.label) for key, answer in counted.items()] == [
        ("p2", "anna", "", "skipped"),
        ("p1", "anna", "", "1"),
        ("p3", "anna", "tone", "4"),
        ("p3", "anna", "facts", "5"),
    ]
    assert [answer.counts for answer in counted.values()] == [False, True, True, True]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (f"p1,anna,2,,,drawn,2026-11-27T01:00:00Z,{TEXT}\n", "drawn = 'drawn'"),
        (f"p1,anna,2,,,random,27.11.2026,{TEXT}\n", "labelled_at = '27.11.2026'"),
        (f"p1,Anna Maria,2,,,random,2026-11-27T01:00:00Z,{TEXT}\n", "person = 'Anna Maria'"),
        (f",anna,2,,,random,2026-11-27T01:00:00Z,{TEXT}\n", "item = ''"),
        ("p1,anna,2,,,random,2026-11-27T01:00:00Z,\n", "text = ''"),
        # Short lines with a line break, and what an editor left: nothing that was cut off.
        ("p2,anna,2,,,rand\n", "6 cells"),
        ("p2,anna,2,,,random,2026-11-27T01:00:00Z,0123\n", "text = '0123'"),
        ("p2,anna,2,,,random,27.11.2026,0123456789abcdef", "labelled_at = '27.11.2026'"),
        ("p2,anna,2,,,random,2026-11-27T01:00:00Z,ice", "text = 'ice'"),
        # A quote that was opened by hand in a line that is whole.
        (f'p2,anna,2,,"as far,random,2026-11-27T01:00:00Z,{TEXT}\n', "unexpected end of data"),
    ],
)
def test_a_line_that_is_none_is_named_and_nothing_is_appended_to_it(
    path: Path, line: str, found: str
) -> None:
    path.write_text(HEADER + LINE + line)
    with pytest.raises(SuiteError, match=r"pairs\.people\.csv:3 ") as caught:
        read_people(path)
    assert found in str(caught.value)
    with pytest.raises(SuiteError):
        append_people(path, lambda before: [FIRST])
    assert path.read_text() == HEADER + LINE + line


@pytest.mark.parametrize("line_break", [b"\n", b"\r\n"])
def test_a_last_line_that_was_cut_off_anywhere_is_left_out_and_taken_out(
    path: Path, line_break: bytes
) -> None:
    answer = replace(FIRST, item="p2", note='both "fine",\nas far as I see, \u00e9\n')
    append_people(path, lambda before: [answer])
    last = path.read_bytes().removeprefix(HEADER.encode()).replace(b"\n", line_break)
    whole = (HEADER + LINE).encode().replace(b"\n", line_break)
    # Without the line break and with it, the line is whole.
    for size in range(1, len(last) - len(line_break)):
        path.write_bytes(whole + last[:size])
        # The third line of the file, of which so many bytes are there.
        assert people_lines(path) == ((FIRST,), (3, len(whole), size))
        assert append_people(path, lambda before: [answer]) == (FIRST, answer)
        assert path.read_bytes() == whole + last.replace(line_break, b"\n")
    path.write_bytes(whole + last.removesuffix(line_break))
    assert people_lines(path) == ((FIRST, answer), None)


@pytest.mark.parametrize(
    "note",
    ["=1+1", "+1 for this", "@anna", "-no", "'=1+1", " =1", "''x", "-1", "a\x07b", '\'"x"', "a\nb"],
)
def test_a_note_begins_no_formula_and_is_read_back_as_it_was(path: Path, note: str) -> None:
    answer = replace(FIRST, note=note)
    append_people(path, lambda before: [answer])
    assert read_people(path) == (answer,)
    assert len(path.read_text().splitlines()) == 2
    assert "\x07" not in path.read_text()
    cell = path.read_text().split("\n")[1].split(",")[4]
    # A number stays one: a spreadsheet calculates nothing of it.
    assert cell == "-1" or cell.lstrip()[:1] not in {*"=+-@"}


def test_zeros_of_a_machine_that_lost_its_power_are_no_line(path: Path) -> None:
    path.write_bytes((HEADER + LINE).encode() + bytes(4096))
    labels, unfinished = people_lines(path)
    assert labels == (FIRST,)
    assert unfinished is not None
    assert unfinished.notice(path) == (
        f"{path}:3: the last line was cut off in mid-write (4096 bytes), and is not counted"
    )


@pytest.mark.parametrize("size", range(1, len(HEADER)))
def test_a_header_that_was_cut_off_is_written_again(path: Path, size: int) -> None:
    path.write_text(HEADER[:size])
    append_people(path, lambda before: [FIRST])
    assert path.read_text() == HEADER + LINE


def test_a_character_that_is_cut_off_elsewhere_is_a_fault(path: Path) -> None:
    path.write_bytes((HEADER + LINE).encode() + b"caf\xc3\n")
    with pytest.raises(SuiteError, match="cannot be read"):
        read_people(path)


_FILLED = """
import resource
import sys

sys.dont_write_bytecode = True  # a compiled module would be cut off as well
from pathlib import Path
from pytest_judgesense.errors import SuiteError
from pytest_judgesense.suites.people import PersonLabel, append_people

path, most = Path(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
kept = 0
for number in range(100):
    answer = PersonLabel(f"p{number}", "anna", "2", "", "n" * 90, "random",
                         "2026-11-27T01:00:00Z", "0123456789abcdef")
    try:
        append_people(path, lambda before: [answer])
    except SuiteError as error:
        assert "cannot be written" in error.what, error
        continue
    kept += 1
print(kept)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of the size of a file there")
@pytest.mark.parametrize("most", range(1, 600, 83))
def test_where_there_is_no_room_the_file_stays_as_it_was(path: Path, most: int) -> None:
    """The header has 58 bytes and a line 147: of 582 bytes 3 answers are kept, and no part."""
    command = [sys.executable, "-c", _FILLED, str(path), str(most)]
    filled = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    whole = len(HEADER) + len(LINE) + 90
    kept = max(0, (most - len(HEADER)) // (whole - len(HEADER)))
    assert filled.stdout == f"{kept}\n"
    assert len(path.read_bytes()) == (len(HEADER) + kept * (whole - len(HEADER))) * (kept > 0)
    assert people_lines(path).unfinished is None
    append_people(path, lambda before: [FIRST])
    assert len(read_people(path)) == kept + 1


def test_a_quote_that_was_opened_by_hand_has_a_remedy(path: Path) -> None:
    path.write_text(HEADER + LINE + f'p2,anna,2,,"as far\n{LINE}')
    with pytest.raises(SuiteError) as caught:
        read_people(path)
    assert "the row of line 3, or delete it if it is cut off" in caught.value.remedy


def test_other_columns_are_an_error(path: Path) -> None:
    path.write_text("item,person,label\np1,anna,2\n")
    with pytest.raises(SuiteError, match=r":1 is not a line") as caught:
        read_people(path)
    assert f"columns {', '.join(COLUMNS)}" in str(caught.value)


def test_of_many_columns_ten_are_shown(path: Path) -> None:
    names = ",".join(f"c{number}" for number in range(1000))
    path.write_text(f"{names}\nx{',' * 999}\n")
    with pytest.raises(SuiteError) as caught:
        read_people(path)
    assert caught.value.found.endswith("c8, c9 and 990 more")


def test_a_file_that_does_not_say_which_texts_were_labelled_is_left_as_it_is(path: Path) -> None:
    content = HEADER.replace(",text", "") + LINE.replace(f",{TEXT}", "")
    path.write_text(content)
    with pytest.raises(SuiteError, match="does not say which texts people labelled") as caught:
        read_people(path)
    assert "move the file aside, and label again" in caught.value.remedy
    with pytest.raises(SuiteError, match="does not say which texts"):
        append_people(path, lambda before: [FIRST])
    assert path.read_text() == content


def test_a_text_is_named_whatever_the_id_of_its_item(tmp_path: Path) -> None:
    """By the first 16 of the 64 digits of the digest of what is shown."""
    item = Item("one", "one", {"text": "Ice."}, taken=frozenset({"text"}))
    assert labelled_text(item) == item.digest[:16]
    same = replace(item, id="two", cluster="two", fields={"text": "Ice.", "author": "anna"})
    assert labelled_text(same) == labelled_text(item)
    assert labelled_text(replace(item, fields={"text": "Ice!"})) != labelled_text(item)


def test_what_a_spreadsheet_wrote_is_read_and_not_appended_to(path: Path) -> None:
    path.write_bytes(("\ufeff" + HEADER.replace(",", ";") + LINE.replace(",", ";")).encode())
    assert read_people(path) == (FIRST,)
    with pytest.raises(SuiteError, match=r":1 is not a line"):
        append_people(path, lambda before: [FIRST])


def test_an_editor_may_leave_out_the_last_line_break(path: Path) -> None:
    path.write_text(HEADER + LINE.rstrip("\n"))
    append_people(path, lambda before: [replace(FIRST, label="1")])
    assert [answer.label for answer in read_people(path)] == ["2", "1"]


def test_a_link_out_of_the_folder_is_not_written_through(path: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / path.name).symlink_to(outside / "new.csv")
    with pytest.raises(SuiteError, match="leads out of its folder"):
        append_people(inside / path.name, lambda before: [FIRST])
    assert list(outside.iterdir()) == []


_WRITER = """
import sys
from pathlib import Path
from pytest_judgesense.suites.people import PersonLabel, append_people

path, person = Path(sys.argv[1]), sys.argv[2]
for number in range(20):
    # Each item once, whoever comes first.
    append_people(path, lambda before: [] if f"p{number}" in {b.item for b in before} else [
        PersonLabel(
            f"p{number}", person, "1", "", "", "random", "2026-11-27T01:00:00Z", "0" * 16)])
"""


def test_processes_take_turns(path: Path) -> None:
    """Between reading and appending nobody else appends: 20 items are answered once each."""
    command = [sys.executable, "-c", _WRITER, str(path)]
    writers = [subprocess.Popen([*command, person]) for person in ("anna", "ben", "cleo")]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    items = [answer.item for answer in read_people(path)]
    assert sorted(items) == sorted(f"p{number}" for number in range(20))


def test_an_answer_that_could_not_be_read_is_not_written(path: Path) -> None:
    append_people(path, lambda before: [FIRST])
    with pytest.raises(SuiteError, match="person"):
        append_people(path, lambda before: [replace(FIRST, person="=anna")])
    assert read_people(path) == (FIRST,)
