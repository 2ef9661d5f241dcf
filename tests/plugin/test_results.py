"""What a worker of xdist sends its controller: values, as JSON between the two alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_judgesense.checks.verifying import Change, Verification
from pytest_judgesense.datasheets.datasheet import SuiteSheet
from pytest_judgesense.plugin.results import (
    MeasuredPart,
    Results,
    results_of,
    without_credentials,
)
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.datasheet_file import datasheet_json
from pytest_judgesense.trial import RequestCount
from tests.report.replaying import SHIPPED, parts_of

PROFILES = [
    pytest.param(name, marks=() if name == "noisy" else pytest.mark.long)
    for name in sorted(SHIPPED)
]


def sent(*sheets: SuiteSheet) -> Results:
    verified = Verification(
        *("j", "s", 0, 9, 3, 3, 0, 0, 0),
        changes=(Change("s/a", "YES", "Yes.", "NO", "No."),),
        p_value=None,
        groups=0,
        served=(("m",), ()),
    )
    parts = tuple(
        MeasuredPart(sheet, {"s/a": RequestCount(2, 1, 1)}, {"jss_floor[0.9]": "ff"})
        for sheet in sheets
    )
    return Results(parts, (verified,), notes=("a line",), questions={"made": 1, "failed": 0})


@pytest.mark.parametrize("profile", PROFILES)
def test_results_survive_being_sent(profile: str) -> None:
    results = sent(*parts_of(profile))
    assert results_of(results.text()) == results


def test_nothing_is_sent_where_nothing_was_measured() -> None:
    assert not Results()
    assert Results(notes=("a line",))


def test_a_datasheet_of_sent_parts_is_the_datasheet_of_the_parts() -> None:
    parts = parts_of("noisy")
    received = [part.sheet for part in results_of(sent(*parts).text()).parts]
    assert datasheet_json(sheet_of(received, seed=3, mode="replay")) == datasheet_json(
        sheet_of(parts, seed=3, mode="replay")
    )


def test_a_credential_that_is_found_later_is_removed_from_everything_that_was_sent() -> None:
    secret = "sk-0123456789abcdefghij"
    sheet = replace(parts_of("noisy")[0], notices=(f"key {secret}",))
    part = MeasuredPart(sheet, {}, {}, log=(f'{{"reply": "{secret}"}}',), prompts=(secret,))
    (clean,) = without_credentials([part], {secret: "API_KEY"})
    assert secret not in Results((clean,)).text()
    assert (clean.sheet.estimates, clean.key) == (sheet.estimates, part.key)
