"""Every built-in measure has its page, and the page says what its value says."""

from __future__ import annotations

import re

import pytest

from pytest_judgesense.instruments.builtin import BUILT_IN
from tests.docs.blocks import DOCS

FOLDER = DOCS / "measures"
HEADINGS = [
    "What it means",
    "Formula",
    "Source",
    "How to read it",
    "When it misleads",
    "What to do when it fails",
]
DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "construct": "depends"}


def test_no_measure_is_without_a_page_and_no_page_without_a_measure() -> None:
    assert {path.stem for path in FOLDER.glob("*")} == set(BUILT_IN.measures)


@pytest.mark.parametrize("name", BUILT_IN.measures)
def test_a_page_has_its_parts(name: str) -> None:
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# `{name}`\n")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS
    for part in re.split(r"^## .+$", text, flags=re.MULTILINE)[1:]:
        assert part.strip(), "a heading without words"
    info = BUILT_IN.measures[name]
    head = re.fullmatch(r"Unit: (.+?); (.+?); check: (.+?); suites: (.+)\.", text.splitlines()[2])
    assert head is not None, text.splitlines()[2]
    unit, direction, gate, suites = head.groups()
    assert (unit, direction) == (info.unit, DIRECTIONS[info.direction])
    assert gate == (f"`{info.check}`" if info.check else "none")
    assert suites
    # Whatever a formula begins with is the measure of the page.
    formula = text.split("## Formula")[1].split("## Source")[0]
    assert re.search(rf"^{name} = ", formula, re.MULTILINE)
    # Without a check nothing fails: the page says so where a remedy would stand.
    assert ("It has no check" in text) == (info.gate is None)
