"""The datasheet as tables: LaTeX and comma-separated values."""

from __future__ import annotations

import csv
import io
import re

from pytest_judgesense.report.assembly import datasheet_text, sheet_of
from pytest_judgesense.report.view import view_of

from .test_terminal import estimate, gate, part


def text_of(suffix: str, **given: object) -> str:
    parts = [part(estimate(**given), checks=(gate(),))]
    return datasheet_text(suffix, view_of(sheet_of(parts, seed=0, mode="replay")))


def test_a_row_of_latex_holds_what_the_terminal_shows() -> None:
    lines = text_of(".tex").splitlines()
    assert (
        r"jss & 190/200 & 0.950 & {[0.893, 0.981]} & {[0.915, 0.975]} & "
        r"\textgreater{}= 0.9 PASS \\"
    ) in lines
    for rule in ("toprule", "midrule", "bottomrule"):
        assert rf"\{rule}" in lines


def test_no_word_of_others_commands_latex() -> None:
    given = {"condition": {"category": r"\input{x} 50% a_b & $c$ #1 ~^<>"}}
    text = text_of(".tex", **given)
    assert r"\input" not in text.replace(r"\textbackslash{}input", "")
    row = next(line for line in text.splitlines() if "50" in line and "textbackslash" in line)
    # Every special character stands behind a backslash, or is a name of one.
    plain = re.sub(r"\\(text[a-z]+\{\}|[{}$&#%_\\])", "", row)
    assert not re.search(r"[$#%_~^<>]", plain)
    assert plain.count("&") == 5  # six columns


def test_a_name_is_no_formula_of_a_spreadsheet() -> None:
    text = text_of(".csv", condition={"category": "x"}, flags=("=1+1",))
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["flags"] == "'=1+1"
    assert (row["value"], row["n"], row["condition"]) == ("0.95", "200", "category=x")
