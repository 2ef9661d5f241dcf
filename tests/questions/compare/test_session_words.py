"""The words of a change: points of a hundred, and the interval as the sentence counts."""

from __future__ import annotations

from pytest_judgesense.questions.compare.attribution import Move
from pytest_judgesense.questions.compare.session_words import points
from pytest_judgesense.stats.betting import Bets


def test_an_interval_ends_at_0_and_not_at_minus_0() -> None:
    ends = Bets(1.0, 1.0, None, None, 20, lower=-0.5, upper=0.001)
    assert points(Move(0.5, 0.3, -0.2, 20, ends)) == "20 points less [0, 50]"
