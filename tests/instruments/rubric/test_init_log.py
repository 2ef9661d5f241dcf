"""``judgesense init --from-log`` on a rubric judge's log, whose replies hold several grades."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense.errors import JudgesenseError
from tests.questions.init.test_from_log import line, log_of, made, of_log


def test_a_line_of_several_grades_makes_no_suite(tmp_path: Path) -> None:
    design = {
        "kind": "rubric",
        "labels": ["1", "2"],
        "ordinal": True,
        "criteria": [
            {"name": name, "labels": ["1", "2"], "weight": 1.0} for name in ("tone", "form")
        ],
    }
    log_of(tmp_path, line(1), {**line(2, "NO"), "design": design})
    told = r"give several grades each\n  found:    tone, form\n(?s:.)*its file has the criteria"
    with pytest.raises(JudgesenseError, match=told):
        of_log(tmp_path).answer()
    assert not (tmp_path / "suites").exists()


def test_a_single_criterion_is_a_plain_grade(tmp_path: Path) -> None:
    labels = [str(grade) for grade in range(1, 6)]
    design = {
        "kind": "rubric",
        "labels": labels,
        "ordinal": True,
        "criteria": [{"name": "tone", "labels": labels, "weight": 1.0}],
    }
    lines = [
        # Of two people the label is their mean, 3.5, with halves upwards: 4.
        {
            **line(n, json.dumps({"tone": str(n)})),
            "people": {"tone": {"anna": "3", "ben": "4"}},
            "design": design,
        }
        for n in range(1, 6)
    ]
    log_of(tmp_path, *lines)
    suite = made(tmp_path)
    assert (suite.space.labels, suite.space.ordinal) == (tuple(labels), True)
    assert {item.label for item in suite.items} == {"4"}
