"""The styles of a drawing as attributes."""

from __future__ import annotations

import pytest

from pytest_judgesense.report.drawing import _attributes


@pytest.mark.parametrize(
    ("font", "is_bold"),
    [
        ("10px 'DejaVu Sans'", False),
        ("700 10px 'DejaVu Sans'", True),
        ("bold 10px 'DejaVu Sans'", True),
        ("10px 'Sans 700'", False),
    ],
)
def test_a_font_is_bold_by_its_word_or_weight(font: str, is_bold: bool) -> None:
    attributes = dict(_attributes(f"font: {font}; fill: #112233"))
    assert ("font-weight" in attributes) is is_bold
    assert (attributes["font-size"], attributes["fill"]) == ("10", "#112233")
