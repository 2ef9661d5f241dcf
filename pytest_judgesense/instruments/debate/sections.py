"""What the report shows of debates: the ranking of judge configurations."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.measures.measure import later
from pytest_judgesense.sections import Comparison, Report

_ROOM: Final = "pytest_judgesense.instruments.debate"
_TABLES: Final = f"{_ROOM}.tables"

REPORT: Final = Report(
    comparisons=(
        Comparison(
            "ranking",
            later(_TABLES, "ranking"),
            later(_TABLES, "board"),
            later(_TABLES, "board_lines"),
            names=(
                "ranking_basis",
                "ranking_sensitivity",
                "ranking_thresholds",
                "configuration_agreement",
                "by_category",
            ),
            secondary=("anova", "post_hoc", "measure_correlation", "measure_pca"),
            kinds=("debate",),
            material=later(f"{_ROOM}.ranking", "material_of"),
            figures=later(_TABLES, "ranking_figures"),
            apart=True,
        ),
    ),
)
