"""How often each verdict stands in what was imported, and the means of numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.questions.import_.question import ImportQuestion


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def summary(text: str, options: ImportOptions) -> tuple[str, ...]:
    Path("own.csv").write_text(text, encoding="utf-8")
    return ImportQuestion(options).answer().summary


def plain(*words: str) -> tuple[str, ...]:
    rows = "".join(f"{place},{word}\n" for place, word in enumerate(words))
    mapped = (("item", "id"), ("verdict", "said"))
    return summary(f"id,said\n{rows}", ImportOptions(Path("own.csv"), map=mapped, judge="j"))


def test_words_are_counted_by_suite() -> None:
    assert plain("True", "False", "False", "")[1:] == ("  own: False 2, True 1",)
    table = "id,task,said\n1,a,yes\n2,a,no\n1,b,no\n"
    mapped = (("item", "id"), ("verdict", "said"), ("suite", "task"))
    told = summary(table, ImportOptions(Path("own.csv"), map=mapped, judge="j"))
    assert told[1:] == ("  a: yes 1, no 1", "  b: no 1")


def test_six_words_are_named_and_the_others_counted() -> None:
    (line,) = plain("pear", *"zyxwvu", "pear")[1:]
    assert line == "  own: pear 2, z 1, y 1, x 1, w 1, v 1 and 1 more"


def test_numbers_have_a_mean_and_ends() -> None:
    # (1 + 2 + 5 + 5) / 4 and (0.25 + 0.5) / 2.
    assert plain("1", "2", "5", "5")[1:] == ("  own: mean 3.25 of 4, 1 to 5",)
    assert plain("0.25", "0.5", "")[1:] == ("  own: mean 0.375 of 2, 0.25 to 0.5",)


def test_long_words_and_control_characters_fit_the_line() -> None:
    (line,) = plain(*(f"\x1b{letter * 80}" for letter in "abcdef"))[1:]
    assert len(line) <= 100
    assert "\x1b" not in line
    # Of 30 characters each, two fit.
    assert line.endswith(" 1 and 4 more")
