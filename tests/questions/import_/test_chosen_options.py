"""Options of an import put together, and as a command that a shell reads back."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.proposals import Setting
from pytest_judgesense.questions.import_.chosen_options import (
    command_line,
    option_words,
    settings_of,
    with_settings,
)

GIVEN = ImportOptions(Path("t.csv"), map=(("verdict", "own"),), value=(("Yes", "A"),), judge="j")


def test_a_setting_never_takes_the_place_of_what_is_said() -> None:
    shown = (
        Setting("map", ("verdict", "other")),
        Setting("map", ("item", "id")),
        Setting("value", ("YES", "B")),
        Setting("value", ("no", "B")),
        Setting("judge", "other"),
        Setting("suite", "s"),
        Setting("labels", ("A", "B")),
        Setting("join", ("people.csv", "id")),
    )
    chosen = with_settings(GIVEN, shown)
    assert chosen.map == (("verdict", "own"), ("item", "id"))
    assert chosen.value == (("Yes", "A"), ("no", "B"))
    assert (chosen.judge, chosen.suite, chosen.labels) == ("j", "s", ("A", "B"))
    assert chosen.join == ((Path("people.csv"), "id"),)


def test_what_is_said_is_settings_again() -> None:
    assert settings_of(GIVEN) == [
        Setting("map", ("verdict", "own")),
        Setting("value", ("Yes", "A")),
        Setting("judge", "j"),
    ]


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (Setting("map", ("verdict", "a=b")), ["--map", 'verdict="a=b"']),
        (Setting("value", ("A=B", "tie")), ["--value", '"A=B"=tie']),
        (Setting("value", ("error", "")), ["--value", "error="]),
        (Setting("value", ("-1", "")), ["--value=-1="]),
        (Setting("lists", ("run_{replicate}", "")), ["--lists", "run_{replicate}"]),
        (Setting("lists", ("votes", "run")), ["--lists", "votes=run"]),
        (Setting("labels", ("A", "B")), ["--labels", "A,B"]),
        (Setting("range", ("-1", "1")), ["--range=-1,1"]),
        (Setting("pass_mark", "4"), ["--pass-mark", "4"]),
        (Setting("reparse", True), ["--reparse"]),
        (Setting("scorer", ("a", "b")), ["--scorer", "a", "--scorer", "b"]),
    ],
)
def test_a_setting_is_the_words_of_its_option(setting: Setting, words: list[str]) -> None:
    assert option_words([setting]) == words


def test_a_command_is_what_a_shell_takes_apart_into_its_words() -> None:
    settings = [
        *(Setting("map", (f"field.{name}", f"the {name} text")) for name in ("a", "b", "c", "d")),
        Setting("grades", ("clarity", "c")),
        Setting("grades", ("tone", "t")),
    ]
    paths = (Path("my file's.csv"),)
    command = command_line(paths, settings, Path("out.jsonl"), "table")
    assert max(map(len, command.splitlines())) < 100
    words = shlex.split(command.replace("\\\n", " "))
    assert words[:5] == ["judgesense", "import", "my file's.csv", "--format", "table"]
    assert words[5:13:2] == ["--map"] * 4
    assert words[6] == "field.a=the a text"
    assert words[13:] == ["--grades", "clarity=c,tone=t", "-o", "out.jsonl"]


def test_a_field_that_no_column_holds_is_written_with_its_equals_sign() -> None:
    assert option_words([Setting("map", ("label", ""))]) == ["--map", "label="]
