"""Labels beside whole numbers of others are those of people."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.report.test_number_designs import imported, value


def test_whole_grades_are_grades_and_their_labels_those_of_people(tmp_path: Path) -> None:
    table = pd.DataFrame({"item": range(4), "verdict": [3, 5, 8, 9], "label": [4, 5, 7, 9]})
    cell, _ = imported(table, tmp_path)
    # From the least to the greatest: 3 to 9. Errors in steps are 1, 0, 1, 0.
    assert cell.design.labels == tuple("3456789")
    assert value(cell, "human_error") == pytest.approx(0.5)
    assert value(cell, "ceiling_share") == pytest.approx(1 / 4)
