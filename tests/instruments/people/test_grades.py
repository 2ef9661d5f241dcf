"""People grade criteria: in the files of items, and against the grades of a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from tests.instruments.rubric.graded import TWO, cell_of, reply
from tests.measures.building import estimate
from tests.suites.test_annotators import lines, load

GRADES = """
schema = "judgesense/suite/1"
name = "graded"
kind = "rubric"
[space]
labels = ["1", "2", "3", "4", "5"]
criteria = ["clarity", "tone"]
[stimuli]
file = "items.jsonl"
[[templates]]
id = "t1"
text = "Grade clarity and tone of {{output}}"
"""


def test_grades_by_criterion_may_be_halves_and_means(tmp_path: Path) -> None:
    text = "output,anna,ben,tones\nText.,4,3.5,\nMore.,5,,2.25\n"
    columns = 'columns = { "people.clarity" = ["anna", "ben"], "people.tone" = ["tones"] }\n'
    suite = load(tmp_path, GRADES, "own.csv", text, columns)
    assert [dict(item.people) for item in suite.items] == [
        {"clarity": {"anna": "4", "ben": "3.5"}},
        {"clarity": {"anna": "5"}, "tone": {"tones": "2.25"}},
    ]
    rows = {"id": "a", "output": "Text.", "people": {"clarity": [4, 3.5], "tone": {"ben": 2}}}
    (item,) = load(tmp_path, GRADES, "own.jsonl", lines(rows)).items
    assert item.people == {"clarity": {"1": "4", "2": "3.5"}, "tone": {"ben": "2"}}


@pytest.mark.parametrize(
    ("people", "found"), [({"clarity": [6]}, "'6'"), ({"wit": [3]}, "people.wit"), ([3], "people")]
)
def test_grades_beyond_the_scale_and_of_no_criterion(
    tmp_path: Path, people: Any, found: str
) -> None:
    with pytest.raises(SuiteError) as caught:
        load(tmp_path, GRADES, "own.jsonl", lines({"id": "a", "output": "T.", "people": people}))
    assert caught.value.found == found
    assert "1 to 5" in caught.value.expected or "people.clarity" in caught.value.expected


def graded(*replies: tuple[Sequence[int | None], Mapping[str, Sequence[str]]]) -> Cell:
    """The judge's grades of accuracy and tone, and what people say by criterion."""
    judgments = []
    for number, (grades, people) in enumerate(replies):
        judgment = reply(f"i{number}", grades)
        said = {
            criterion: dict(zip(("anna", "ben", "cleo"), of_people, strict=False))
            for criterion, of_people in people.items()
        }
        judgments.append(replace(judgment, trial=replace(judgment.trial, people=said)))
    return cell_of(judgments, replace(TWO, labelled="random"))


def test_each_criterion_is_compared_with_the_grades_of_people() -> None:
    of = graded(
        ([4, 2], {"accuracy": ["4", "4"]}),
        ([5, 2], {"accuracy": ["3.5"]}),  # nearest is 4, halves upwards
        ([2, 3], {"accuracy": ["1", "2", "2"]}),  # a mean of 5/3, nearest to 2
        ([None, 3], {"accuracy": ["1"], "tone": ["3"]}),
        ([1, 1], {}),
    )
    recall = estimate(of, "recall", criterion="accuracy", label="4")
    assert (recall.count, recall.n) == (1, 2)
    missed = estimate(of, "recall", criterion="accuracy", label="1")
    assert (missed.value, missed.missing.unparsed) == (0.0, 1)
    assert estimate(of, "recall", criterion="tone").n == 1
    kappa = estimate(of, "people_kappa_quadratic", criterion="accuracy")
    assert kappa.n == 3
    assert [e for e in estimate_all(of) if e.measure == "recall" and not e.condition] == []


def test_the_corrected_grade_is_the_mean_place_with_halves() -> None:
    # The judge gives tone 5 where people say 4.5 and 1 where they say 1.5: shares 0.875 and 0.125.
    made = [([3, 5], {"tone": ["4.5"]} if n < 20 else {}) for n in range(40)]
    made += [([3, 1], {"tone": ["1", "2"]} if n < 20 else {}) for n in range(40)]
    rate = estimate(graded(*made), "corrected_rate", criterion="tone")
    assert rate.value == pytest.approx(0.5)
    assert estimate(graded(*made), "corrected_rate", criterion="tone", label="5").value is not None


def test_people_of_one_criterion_say_nothing_of_another() -> None:
    of = graded(([4, 2], {"accuracy": ["4"]}), ([4, 2], {"accuracy": ["4"]}))
    told = {e.condition.get("criterion") for e in estimate_all(of) if e.measure == "people_kappa"}
    assert told == {"accuracy"}
