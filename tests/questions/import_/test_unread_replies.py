"""Columns of texts of which most state no verdict, and columns of verdicts that hold texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.questions.import_.question import ImportAnswer, ImportQuestion
from tests.foreign import write_rows

SAID = ("It rains.", "It snows.", "No idea at all.", "I say: 4")
TEXTS = tuple(f"The answer of candidate {n} is as good as one may wish it to be." for n in range(4))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def answer_of(column: str, cells: tuple[str, ...], **options: Any) -> ImportAnswer:
    write_rows(Path("own.jsonl"), [{"id": n, column: text} for n, text in enumerate(cells)])
    return ImportQuestion(ImportOptions(Path("own.jsonl"), judge="j", **options)).answer()


def test_replies_that_nobody_named_and_that_state_nothing_are_an_error() -> None:
    with pytest.raises(UsageError, match="3 of 4 replies state none of 1,2,3,4,5") as told:
        answer_of("reply", SAID, labels=tuple("12345"))
    assert str(told.value.found).count("'") == 6  # three replies, quoted
    assert "--map verdict=COLUMN" in str(told.value.remedy)


def test_replies_that_the_user_names_are_read_with_a_notice() -> None:
    named = (("item", "id"), ("reply", "out"))
    answer = answer_of("out", SAID, labels=tuple("12345"), map=named)
    assert answer.notices[-1].startswith("3 of 4 replies state none of 1,2,3,4,5, for instance")
    assert answer.to_dict()["unparsed"] == 3


def test_half_of_the_replies_is_enough() -> None:
    answer = answer_of("reply", ("Verdict: 2", "4", "?", "Well."), labels=tuple("12345"))
    assert not any("state none of" in notice for notice in answer.notices)


def test_a_grade_that_stands_on_several_lines_is_one_and_told() -> None:
    replies = ("Team x\nScore: 3\nTeam y\nScore: 3", "Score: 4", "Score: 2", "Score: 5")
    answer = answer_of("reply", replies, labels=tuple("12345"))
    assert [judgment.verdict for judgment, _ in answer.judgments] == ["3", "4", "2", "5"]
    assert answer.notices[-1].startswith("1 of 4 replies state the same grade on several lines")


def test_long_texts_are_no_verdicts() -> None:
    named = (("item", "id"), ("verdict", "said"))
    with pytest.raises(UsageError, match="4 of 4 have more than 8 words") as told:
        answer_of("said", TEXTS, map=named)
    assert "--map reply=said --labels" in str(told.value.remedy)
    # One text throughout is the word of a judge who says it so.
    assert len(answer_of("said", TEXTS[:1] * 4, map=named).judgments) == 4
    assert len(answer_of("said", (*TEXTS[:1], "yes", "no"), map=named).judgments) == 3


def test_hundreds_of_words_of_which_most_stand_once_are_no_verdicts() -> None:
    named = (("item", "id"), ("verdict", "said"))
    words = (*(f"w{number}" for number in range(201)), *["right"] * 99)
    with pytest.raises(UsageError, match="202 are different, and 201 of these stand there once"):
        answer_of("said", words, map=named)
    # The same words twice, such as names of systems, return.
    assert len(answer_of("said", words[:201] * 2, map=named).judgments) == 402
    # So do numbers, of which any may be a score.
    scores = tuple(str(number / 1000) for number in range(300))
    assert len(answer_of("said", scores, map=named).judgments) == 300
