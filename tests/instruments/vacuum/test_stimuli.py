from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.errors import SuiteError
from tests.suites.linting import BALANCED, SLOTS, YES_NO, found, pairs, templates

TOML = SLOTS.format(more="tie = true\n") + templates("Better: A, B or tie? {{task}} {{a}} {{b}}")


def test_sides_are_identical_in_a_vacuum(tmp_path: Path) -> None:
    same = {"id": "s", "task": "T.", "texts": ["x ", " x"]}
    finding = found(tmp_path, TOML, [pairs(1)[0] | {"label": None}, same], "vacuum")["no-vacuum"]
    assert (finding.severity, finding.found) == ("error", "1 of 2 items")
    assert found(tmp_path, TOML, [same], "vacuum") == {}


def test_a_vacuum_has_two_candidates(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="a vacuum suite compares two candidates"):
        found(tmp_path, YES_NO + templates("Right? YES or NO. {{text}}"), BALANCED, "vacuum")
