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
        # Cut off by a machine that stopped.
        ("p2,anna,2,,,rand", "6 cells"),
        ("p2,anna,2,,,random,2026-11-27T01:00:00Z,0123", "text = '0123'"),
        ('p2,anna,2,,"as far', "unexpected end of data"),
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


def test_a_line_that_is_cut_off_inside_a_quote_has_a_remedy(path: Path) -> None:
    path.write_text(HEADER + LINE + 'p2,anna,2,,"as far\nas I')
    with pytest.raises(SuiteError) as caught:
        read_people(path)
    assert "the row of line 3, or delete it if it is cut off" in caught.value.remedy


def test_other_columns_are_an_error(path: Path) -> None:
    path.write_text("item,person,label\np1,anna,2\n")
    with pytest.raises(SuiteError, match=r":1 is not a line") as caught:
        read_people(path)
    assert f"columns {', '.join(COLUMNS)}" in str(caught.value)


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
