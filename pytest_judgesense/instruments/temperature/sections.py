"""What the report shows of a sweep over the temperature."""

from __future__ import annotations

from typing import Any, Final

from pytest_judgesense.measures.measure import later
from pytest_judgesense.sections import Report, ReportSection

_ROOM: Final = "pytest_judgesense.instruments.temperature"
_WORDS: Final = f"{_ROOM}.words"
_FIGURES: Final = f"{_ROOM}.figures"


def _section(name: str, **given: Any) -> ReportSection:
    rows = later(f"{_ROOM}.tables", f"{name}_rows")
    return ReportSection(f"temperature_{name}", rows, kinds=("temperature",), **given)


REPORT: Final = Report(
    sections=(
        _section(
            "table",
            lines=later(_WORDS, "table_lines"),
            figures=later(_FIGURES, "by_temperature"),
            covers=("temperature", "judge_type", "prompt_style", "gold", "model"),
            every="temperature",
        ),
        _section(
            "correlations",
            lines=later(_WORDS, "correlation_lines"),
            figures=later(_FIGURES, "correlations"),
        ),
        _section(
            "effects", lines=later(_WORDS, "effect_lines"), figures=later(_FIGURES, "effects")
        ),
        _section(
            "attributions",
            lines=later(_WORDS, "attribution_lines"),
            figures=later(_FIGURES, "attributions"),
        ),
        _section("attribution_points", only_drawn=True),
        _section("majority", lines=later(_WORDS, "majority_lines")),
        _section("errors", lines=later(_WORDS, "error_lines")),
        ReportSection(
            "recommended_temperature",
            later(f"{_ROOM}.checks", "recommended_rows"),
            later(_WORDS, "recommendation_lines"),
        ),
    ),
)
