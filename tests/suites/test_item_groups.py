"""The groups of items: by which fields, and what is said where a field is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from tests.suites.known import load_suite

TEXT = """
schema = "judgesense/suite/1"
name = "answers"
kind = "paraphrase"
[space]
labels = ["YES", "NO"]
[stimuli]
file = "items.csv"
{stimuli}
[[templates]]
id = "t1"
text = "Is it right? {{{{answer}}}} YES or NO."
"""
ROWS = "answer,language,writer,label\nyes,de,gpt-4o,YES\nno, en ,,NO\nmay be,,me,NO\n"


def loaded(folder: Path, stimuli: str = "", rows: str = ROWS) -> Suite:
    (folder / "items.csv").write_text(rows, encoding="utf-8")
    path = folder / "answers.suite.toml"
    path.write_text(TEXT.format(stimuli=stimuli), encoding="utf-8")
    return load_suite(path)


def groups(suite: Suite) -> list[dict[str, str]]:
    return [dict(trial.groups) for trial in plan_trials(suite)]


@pytest.mark.parametrize(
    ("stimuli", "expected"),
    [
        ('groups = ["writer"]', [{"writer": "gpt-4o"}, {}, {"writer": "me"}]),
        # Blanks around a group are no part of it.
        ("", [{"language": "de"}, {"language": "en"}, {}]),
        ("groups = []", [{}, {}, {}]),
        (
            'groups = ["author"]\ncolumns = { author = "writer" }',
            [{"author": "gpt-4o"}, {}, {"author": "me"}],
        ),
    ],
    ids=["named", "language by itself", "none", "another column"],
)
def test_items_belong_to_the_groups_of_their_fields(
    tmp_path: Path, stimuli: str, expected: list[dict[str, str]]
) -> None:
    assert groups(loaded(tmp_path, stimuli)) == expected


def test_items_without_a_language_have_no_groups_by_themselves(tmp_path: Path) -> None:
    suite = loaded(tmp_path, rows="answer,label\nyes,YES\nno,NO\n")
    assert groups(suite) == [{}, {}]


def test_a_field_that_no_item_has_is_an_error_with_those_that_they_have(tmp_path: Path) -> None:
    with pytest.raises(SuiteError) as refused:
        loaded(tmp_path, 'groups = ["langage"]')
    words = str(refused.value)
    assert "no groups by langage" in words
    assert "answer, language, writer; did you mean 'language'?" in words


def test_a_field_that_is_named_twice_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="every field once"):
        loaded(tmp_path, 'groups = ["writer", "writer"]')


def test_groups_are_no_other_questions(tmp_path: Path) -> None:
    plain, by_writer = loaded(tmp_path, "groups = []"), loaded(tmp_path, 'groups = ["writer"]')
    assert plain.digest == by_writer.digest
    assert [item.digest for item in plain.items] == [item.digest for item in by_writer.items]
