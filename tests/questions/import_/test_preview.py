"""The preview: within a screen, and complete."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.questions.import_.preview import Preview, taken_lines
from pytest_judgesense.questions.import_.question import ImportQuestion
from tests.foreign import game_row, write_rows

SCREEN = (24, 100)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def preview(rows: list[dict[str, Any]], **options: Any) -> Preview:
    write_rows(Path("t.jsonl"), rows)
    return ImportQuestion(ImportOptions(Path("t.jsonl"), **options)).preview()


ROWS = [
    {"id": n, "question": f"What is {n} and {n}?", "said": "yes", "gold": ("yes", "no")[n % 2]}
    for n in (1, 2, 3)
]


def test_it_says_what_columns_hold_what_they_are_and_the_command() -> None:
    assert str(preview(ROWS)) == (
        "t.jsonl: 3 rows of JSON Lines\n"
        "  column    holds    for example       taken for\n"
        "  id        1 to 3   1, 2, 3           item: a row each\n"
        "  question  text     What is 1 and 1?  field.question: a text\n"
        "  said      1 word   yes               verdict: 1 value: yes\n"
        "  gold      2 words  no, yes           label: 2 values: no, yes\n"
        "\n"
        "3 judgments, 3 items, labels of 3 items, 0 without a verdict\n"
        "  t: yes 3\n"
        "\n"
        "judgesense import t.jsonl --map verdict=said --map label=gold --map item=id \\\n"
        "  --map field.question=question -o t.judgments.jsonl"
    )


def test_what_the_user_says_is_shown_as_such() -> None:
    lines = [*preview(ROWS, map=(("verdict", "gold"),)).lines()]
    assert "verdict: as you say" in next(line for line in lines if line.startswith("  gold"))


def test_a_wide_table_shows_what_is_used_and_counts_the_rest() -> None:
    rows = [{f"meta_{k}": k * n for k in range(40)} | ROWS[n - 1] for n in (1, 2, 3)]
    lines = [*preview(rows).lines()]
    assert len(lines) <= SCREEN[0]
    assert max(map(len, lines)) <= SCREEN[1]
    # Ten columns are shown: the four that are used, and six of the forty others.
    assert "  and 34 more columns that are not used" in lines


def test_long_cells_and_control_characters_fit_the_line() -> None:
    rows = [{"id": n, "verdict": "yes", "text": "a\x1b[31m very\nlong text " * 40} for n in (1, 2)]
    lines = [*preview(rows).lines()]
    assert max(map(len, lines)) <= SCREEN[1]
    assert not any("\x1b" in line or "\n" in line for line in lines)


def test_a_question_shows_its_row_and_a_command_for_each_reading() -> None:
    of = preview([{"id": n, "score": n, "rating": 4 - n} for n in (1, 2, 3)])
    lines = [*of.lines()]
    place = lines.index("not known: which column is what the judge said: score, rating?")
    assert lines[place + 1 : place + 4] == [
        "  t.jsonl:1: id 1, score 1, rating 3",
        "  --map verdict=score  it said 1",
        "  --map verdict=rating  it said 3",
    ]
    assert lines[-5:] == [
        "one of these:",
        "# it said 1",
        "judgesense import t.jsonl --map verdict=score --map item=id -o t.judgments.jsonl",
        "# it said 3",
        "judgesense import t.jsonl --map verdict=rating --map item=id -o t.judgments.jsonl",
    ]
    told = of.to_dict()
    assert (told["command"], len(told["questions"])) == ("", 1)
    assert told["questions"][0]["readings"][0]["options"] == ["--map", "verdict=score"]


def test_labels_alone_are_items_for_a_judge() -> None:
    lines = [
        *preview([{"id": n, "question": f"Is {n} even?", "gold": "yes"} for n in (1, 2)]).lines()
    ]
    assert lines[-4] == ("no judge: no column holds what a judge said; gold holds what people said")
    assert lines[-1] == (
        "judgesense init --callable MODULE:FUNCTION --items t.jsonl --map label=gold"
    )


def test_a_tool_s_file_shows_its_counts_and_the_command() -> None:
    lines = [*preview([game_row("p", "A>B", "A>B", None)]).lines()]
    assert lines == [
        "t.jsonl: of the form games",
        "",
        "2 judgments, 1 item, orders ab 1 and ba 1, labels of 1 item, 1 without a verdict",
        "  t: A 1",
        "",
        "judgesense import t.jsonl --format games -o t.judgments.jsonl",
    ]


def test_all_of_it_is_values_too() -> None:
    told = preview(ROWS).to_dict()
    assert (told["form"], told["rows"], told["questions"]) == ("", 3, [])
    assert {"option": "map", "value": ("item", "id"), "why": "a row each"} in told["settings"]
    assert told["command"].startswith("judgesense import t.jsonl")


def test_commands_answer_every_question_and_run() -> None:
    # Two models answer each question: which column is the verdict, and who is the model, is open.
    rows = [
        {"id": n // 2, "model": ("x", "y")[n % 2], "score": n % 3, "rating": 2 - n % 3}
        for n in range(6)
    ]
    of = preview(rows)
    assert len(of.look.questions) == 2
    # Two questions of two readings each.
    assert len(of.answered) == 4
    assert "# it said 0; x wrote what was judged" in [*of.lines()]
    for _, command, _ in of.answered:
        # What a shell makes of it: the lines are joined, and the file is written.
        assert main(shlex.split(command.replace("\\\n", ""))[1:]) == 0
        Path("t.judgments.jsonl").unlink()


def test_what_a_file_shows_is_told_in_lines_within_a_screen() -> None:
    rows = [{"id": n, "gold": "A>B", "winner": "A>B", "text": "a b c d e f"} for n in range(6)]
    lines = [*taken_lines(preview(rows).look)]
    assert any(line.startswith("  --map verdict=winner ") for line in lines)
    assert any("what these words mean here" in line for line in lines)
    assert max(map(len, lines)) <= SCREEN[1]
