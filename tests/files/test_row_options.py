"""NAME=VALUE with any text on both sides, and the options by which rows are read."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

import pytest

from pytest_judgesense.commands.options import add_row_options, row_options_of
from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.assignments import NotTwoTexts, assigned, option_words, written
from pytest_judgesense.files.row_options import RowOptions, read_as_told, refuse_repeats


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("yes=1", ("yes", "1")),
        ("n/a=", ("n/a", "")),
        ('"A=B"=tie', ("A=B", "tie")),
        ('x="a=b"', ("x", "a=b")),
        ('"a=b"="c=d"', ("a=b", "c=d")),
        ('"say ""A=B"""=tie', ('say "A=B"', "tie")),
        ('"A=B"=', ("A=B", "")),
        ('5" disk=no', ('5" disk', "no")),
        ("A>>B=A", ("A>>B", "A")),
        ("two\nlines=A", ("two\nlines", "A")),
    ],
)
def test_any_text_may_stand_on_both_sides(text: str, sides: tuple[str, str]) -> None:
    """What holds an equals sign is quoted, and quotes in it are doubled."""
    assert assigned(text) == sides


@pytest.mark.parametrize("text", ["", "A", "=A", '"A=B"', "=", "A=B=tie", "a=b=c=d"])
def test_what_is_not_two_texts_is_refused(text: str) -> None:
    """No equals sign, nothing before it, or several without quotes."""
    with pytest.raises(NotTwoTexts):
        assigned(text)


def test_several_equals_signs_are_refused_with_both_forms_that_work() -> None:
    """Whoever pastes one of the two into a shell is understood."""
    with pytest.raises(NotTwoTexts) as refusal:
        assigned("A=B=tie")
    proposed = shlex.split(str(refusal.value).partition(" write ")[2])
    assert proposed == ['"A=B"=tie', "or", 'A="B=tie"']
    assert [assigned(form) for form in proposed[::2]] == [("A=B", "tie"), ("A", "B=tie")]


@pytest.mark.parametrize(
    "sides", [("A=B", "tie"), ('"', "="), ("a", 'b"c'), ('"a"', '""'), ("=", ""), ("-1", "x y")]
)
def test_what_is_written_is_read_back_also_by_a_shell(sides: tuple[str, str]) -> None:
    """An option that a remedy proposes gives the same two texts."""
    assert assigned(written(*sides)) == sides
    parser = argparse.ArgumentParser()
    add_row_options(parser, "files")
    given = parser.parse_args(shlex.split(option_words("--value", *sides)))
    assert row_options_of(given).value == (sides,)


def test_all_five_options_are_read_and_written_alike() -> None:
    """Those of a command line, as words, are the same command line."""
    line = (
        "--map item=q.id --map label=said --value '\"A=B\"=tie' --value n/a= --names label=slot "
        "--lists runs=replicate --lists 'run_{n}' --join people.csv=id --join '\"a=b.csv\"=id'"
    )
    parser = argparse.ArgumentParser()
    add_row_options(parser, "files")
    row_options = row_options_of(parser.parse_args(shlex.split(line)))
    assert row_options == RowOptions(
        map=(("item", "q.id"), ("label", "said")),
        value=(("A=B", "tie"), ("n/a", "")),
        names=(("label", "slot"),),
        lists=(("runs", "replicate"), ("run_{n}", "")),
        join=((Path("people.csv"), "id"), (Path("a=b.csv"), "id")),
    )
    assert row_options.as_words == line
    assert row_options.is_given
    assert not RowOptions().is_given


def test_two_things_said_of_one_name_are_refused() -> None:
    """The last one would hide the other."""
    with pytest.raises(UsageError, match="--value says two things of A=B") as refusal:
        refuse_repeats(RowOptions(value=(("A=B", "tie"), ("A=B", "A"))))
    assert refusal.value.found == "--value '\"A=B\"=tie' --value '\"A=B\"=A'"


def test_rows_are_reshaped_and_joined_by_one_function(tmp_path: Path) -> None:
    """Two runs of each of two rows, and what a person said of them."""
    log, said = tmp_path / "log.csv", tmp_path / "said.csv"
    log.write_text("id,run_1,run_2\nq1,A,B\nq2,B,B\n", encoding="utf-8")
    said.write_text("id,person,label\nq1,anna,A\nq2,anna,B\n", encoding="utf-8")
    row_options = RowOptions(lists=(("run_{replicate}", "verdict"),), join=((said, "id"),))
    assert row_options.makes_rows
    assert [[*row.value.values()] for row in read_as_told(row_options, log)] == [
        ["q1", "1", "A", "A"],
        ["q1", "2", "B", "A"],
        ["q2", "1", "B", "B"],
        ["q2", "2", "B", "B"],
    ]
