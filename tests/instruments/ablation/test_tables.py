"""How a line of advice names sentences."""

from __future__ import annotations

import pytest

from pytest_judgesense.instruments.ablation.tables import _named


@pytest.mark.parametrize(
    ("count", "start", "end"),
    [
        (1, "this sentence (s0", "(s0)"),
        (12, "these 12 sentences (s0, s1", "s10, s11)"),
        (13, "these 13 sentences (s0, s1", "s10, s11 and 1 more)"),
    ],
)
def test_up_to_twelve_sentences_are_named(count: int, start: str, end: str) -> None:
    text = _named([f"s{number}" for number in range(count)])
    assert text.startswith(start)
    assert text.endswith(end)
