"""``judgesense init --from-log`` on a rubric judge's log, whose replies hold several grades."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.commands.init import start_from_log
from pytest_judgesense.errors import JudgesenseError
from tests.commands.test_init_log import line, log_of, options


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
        list(start_from_log(options(tmp_path)))
    assert not (tmp_path / "suites").exists()
