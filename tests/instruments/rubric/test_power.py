"""What `judgesense plan` says of the checks of a rubric before any call."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_judgesense.questions.plan.power import PowerAssumptions, powers
from pytest_judgesense.stats.chances import Chance
from pytest_judgesense.suites.suite import CheckDeclaration
from tests.suites.known import builtin_suites, load_suite


def test_a_plan_alone_knows_the_grades_of_a_rubric() -> None:
    bars = {"jss_floor": 0.7, "separability_floor": 0.5, "halo_bound": 0.5}
    checks = tuple(CheckDeclaration(name, {"bar": bar}) for name, bar in bars.items())
    suite = replace(load_suite(builtin_suites()["rubric"]), checks=checks)
    jss, separability, halo = powers(suite, PowerAssumptions())
    # Ten tasks are the clusters; imagined halfway from the bar of 0.7 to 1.
    assert (jss.value, jss.clusters) == (pytest.approx(0.85), 10)
    assert isinstance(jss.anew, Chance)
    assert separability.anew == "its units are made of several clusters"
    assert halo.anew == "halo is not a share of its units"
