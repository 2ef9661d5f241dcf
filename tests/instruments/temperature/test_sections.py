"""The tables of a temperature sweep on a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_judgesense.checks.outcome import judge_check
from pytest_judgesense.datasheets.datasheet import CheckLine
from pytest_judgesense.instruments.temperature import causal
from pytest_judgesense.instruments.temperature.instrument import REPORT
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.logged_cells import datasheet_of_cells
from pytest_judgesense.report.terminal import datasheet_lines
from pytest_judgesense.report.view import view_of
from pytest_judgesense.text.layout import WIDTH
from tests.checks.known import declare_check, summary
from tests.instruments.temperature.sweeps import replicates, softmax_cell, swept


@pytest.fixture(autouse=True)
def without_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causal, "installed", lambda _: False)


def lines_of(cell: Cell, *checks: tuple[str, dict[str, object]]) -> list[str]:
    (judge,) = datasheet_of_cells([cell]).judges
    (part,) = judge.parts
    lines = []
    for name, given in checks:
        check = declare_check(name, (), given)
        outcome = judge_check(check, part.suite, part.estimates)
        lines.append(
            CheckLine(
                check.id,
                check.measure,
                part.suite,
                check.bar,
                outcome.outcome,
                "estimate",
                summary(outcome),
                condition=dict(check.condition),
            )
        )
    return list(
        datasheet_lines(view_of(sheet_of([part.with_checks(lines)], seed=0, mode="report")))
    )


def test_a_sweep_fits_the_terminal_and_shows_the_table_by_temperature() -> None:
    lines = lines_of(softmax_cell(0, temperatures=(0.01, 0.5, 1.5, 3.0), lost=0.1))
    assert [line for line in lines if len(line) > WIDTH] == []
    assert all(line.isprintable() for line in lines)
    text = "\n".join(lines)
    for temperature in ("0.01", "0.5", "1.5", "3"):
        assert f"    temperature {temperature} " in text
        assert f"agreement of a vote of k at temperature {temperature}:" in text
    assert "correlation of the means of temperatures: temperature and agreement -" in text
    assert "effect of >= 1.5 on agreement, paired: -" in text
    assert " ".join(text.split()).count("pip install 'pytest-judgesense[causal]'") == 1
    # By temperature it stands in the table, not among the measures once more.
    # The measure and its effect, what their calls are worth, and the paired effect in words.
    assert text.count("agreement_parsed") == 5


def test_the_numbers_of_the_table_are_those_of_a_hand() -> None:
    cell = swept(
        replicates("q1", "11", temperature=0.5),
        replicates("q2", "12", temperature=0.5),
        replicates("q1", "2?", temperature=2.0),
        replicates("q2", "22", temperature=2.0),
    )
    lines = lines_of(cell)
    # At 0.5 the first replicates are right in both questions, the second ones in one: mean 3/4,
    # deviation (1/4 + 1/4) / sqrt(2); consistency 1 and 0. At 2 one question has two parsed.
    cold = next(line for line in lines if "temperature 0.5" in line)
    assert cold.split() == (
        "temperature 0.5 4 0.750 (0.354) 0.750 (0.354) 0.500 (0.707) 0.000 (0.000)".split()
    )
    hot = next(line for line in lines if "temperature 2 " in line)
    assert hot.split() == (
        "temperature 2 4 0.000 (0.000) 0.000 (0.000) 1.000 0.250 (0.354)".split()
    )
    said = "excluded: 1 of 8 calls (12.5%): 1 unparsed, no JSON object"
    assert any(line.strip() == said for line in lines)


def test_a_check_of_every_temperature_stands_below_and_one_of_a_temperature_at_its_row() -> None:
    cell = softmax_cell(0, temperatures=(0.01, 3.0))
    lines = lines_of(
        cell,
        ("agreement_floor", {"bar": 0.9}),
        ("agreement_floor", {"bar": 0.9, "temperature": 0.01}),
        ("recommended_temperature", {"agreement": 0.9}),
    )
    text = "\n".join(lines)
    assert "    agreement_floor[0.9]: FAIL" in text
    (own,) = [line for line in lines if ">= 0.9 PASS" in line]
    assert own.split()[:2] == ["temperature", "0.01"]
    assert "recommended_temperature[agreement=0.9]: PASS" in text
    assert "recommended_temperature = 0.010, wanted >= 0.01" in text


def sweep_lines(name: str, rows: list[dict[str, Any]]) -> list[str]:
    (section,) = [one for one in REPORT.sections if one.name == name]
    return list(section.lines(rows))


def test_the_effect_with_the_extra_names_n_and_propensities() -> None:
    row = {
        "method": "aipw",
        "outcome": "agreement",
        "group": "overall",
        "level": "all",
        "low": "< 1.5",
        "high": ">= 1.5",
        "value": -0.1234,
        "lower": -0.2,
        "upper": -0.05,
        "n": 120,
        "questions": 30,
        "propensity_min": 0.4,
        "propensity_max": 0.6,
        "clipped": 0,
    }
    (line,) = sweep_lines("temperature_effects", [row])
    assert line == (
        "effect of >= 1.5 on agreement, aipw: -0.123 [-0.200, -0.050], n 120 of 30 questions, "
        "propensities 0.40 to 0.60, 0 clipped"
    )
    found = {"outcome": "agreement", "feature": "temperature", "value": 0.2, "direction": -1.0}
    assert sweep_lines("temperature_attributions", [{**found, "se": 0.01, "n": 9}]) == [
        "the fitted model of agreement uses (mean |SHAP|): temperature 0.200 (se 0.010, down)"
    ]


def test_the_recommended_temperature_of_both_policies() -> None:
    rows = [
        {
            "check": "recommended_temperature[agreement=0.8,error_rate=0.05]",
            "temperature": temperature,
            "recommended": temperature == 1,
            "recommended_confident": False,
        }
        for temperature in (0.5, 1.0)
    ]
    assert sweep_lines("recommended_temperature", rows) == [
        "recommended temperature (agreement=0.8,error_rate=0.05): 1; with confidence none"
    ]
    assert sweep_lines("recommended_temperature", []) == []
    assert list(sweep_lines("temperature_attribution_points", [{}])) == []
