"""``judgesense init --from-log`` on a rubric judge's log, whose replies hold several grades."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.errors import JudgesenseError
from tests.questions.init.test_from_log import line, log_of, of_log


def test_a_line_of_several_grades_makes_no_suite(tmp_path: Path) -> None:
    design = {
        "kind": "rubric",
        "labels": ["1", "2"],
        "ordinal": True,
        "criteria": [{"name": "tone", "labels": ["1", "2"], "weight": 1.0}],
    }
    log_of(tmp_path, line(1), {**line(2, "NO"), "design": design})
    told = r"give several grades each\n  found:    tone\n(?s:.)*its file has the criteria"
    with pytest.raises(JudgesenseError, match=told):
        of_log(tmp_path).answer()
    assert not (tmp_path / "suites").exists()
