"""The table of docs/people.md, simulated anew."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.prediction_powered import LabelledSample, corrected_rate

PAGE = Path(__file__).parents[3] / "docs" / "people.md"
ROWS = re.findall(r"^\| (\d+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE.read_text("utf-8"), re.MULTILINE)


def test_the_page_has_its_table_and_few_words() -> None:
    assert [labels for labels, _, _ in ROWS] == ["30", "50", "100", "200"]
    assert len(PAGE.read_text("utf-8").split()) <= 800


@pytest.mark.parametrize(("labels", "alone", "with_judge"), ROWS)
def test_the_widths_are_those_of_500_outputs(labels: str, alone: str, with_judge: str) -> None:
    draw, widths = np.random.default_rng(int(labels)), []
    for _ in range(40):
        people = (draw.random(500) < 0.5).astype(float)
        judge = np.where(draw.random(500) < 0.9, people, 1 - people)
        labelled = np.where(np.arange(500) < int(labels), people, np.nan)
        rate = corrected_rate(LabelledSample(judge, labelled, np.arange(500)))
        assert not isinstance(rate, NotEstimable)
        ends = rate.labels_only_interval, rate.interval
        widths.append([(interval.upper - interval.lower) / 2 for interval in ends])
    # A mean of 40 widths, told with two decimals.
    assert np.mean(widths, axis=0) == pytest.approx([float(alone), float(with_judge)], abs=0.008)
