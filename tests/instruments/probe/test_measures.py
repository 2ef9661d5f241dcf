"""What the measures of probes say beside their intervals."""

from __future__ import annotations

import pytest

from pytest_judgesense.instruments.probe.measures import FOUND, NAMES_EFFECT, PROBE_EFFECT
from pytest_judgesense.measures.definition import Measure
from tests.claims import PARAMETERS, Ends, claims, said_by


@pytest.mark.parametrize(
    ("measure", "condition"),
    [(PROBE_EFFECT, {"probe": "verbosity"}), (NAMES_EFFECT, {"naming": "xy"})],
    ids=lambda given: given.name if isinstance(given, Measure) else "",
)
@PARAMETERS
def test_an_effect_is_claimed_where_its_interval_shows_it(
    measure: Measure, condition: dict[str, str], value: float, ends: Ends, allowed: str
) -> None:
    assert claims(said_by(measure, value, ends, FOUND, **condition)) == (allowed != "neither")
