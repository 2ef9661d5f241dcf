"""What a page shows of a failing check."""

from __future__ import annotations

from pytest_judgesense.datasheets.datasheet import CheckLine, GatedNumber
from pytest_judgesense.report.failing_checks import _missed


def gate(temperature: float, outcome: str, value: float | None) -> GatedNumber:
    return GatedNumber("agreement", {"temperature": temperature}, 0.65, "at least", outcome, value)


def test_the_bar_that_the_sentence_is_about_is_drawn_first() -> None:
    # The sentence of the terminal takes the failing one that is farthest from its bar.
    gates = (
        gate(0.01, "pass", 0.9),
        gate(0.5, "inconclusive", 0.1),
        gate(1.0, "fail", 0.6),
        gate(2.0, "fail", 0.26),
    )
    line = CheckLine(
        check="agreement_floor[0.65]",
        measure="agreement",
        suite="temperature",
        condition={},
        bar=0.65,
        outcome="fail",
        policy="estimate",
        explanation="",
        gates=gates,
    )
    assert [one.condition["temperature"] for one in _missed(line)] == [2.0, 1.0, 0.5]
