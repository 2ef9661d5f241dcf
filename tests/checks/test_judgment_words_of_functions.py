"""A verdict of a function all of whose requests failed."""

from __future__ import annotations

import pytest

from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.checks.judgment_words import swallowed_lines
from pytest_judgesense.trial import Judgment, Trial, Verdict


@pytest.mark.parametrize(("statuses", "is_told"), [((429, 429), True), ((429, 200), False)])
def test_a_verdict_in_spite_of_failed_requests_is_told(
    statuses: tuple[int, ...], is_told: bool
) -> None:
    trial = Trial("s/a/t1/ab/r1", "s", "a", "a", "t1", "ab", 1, {}, None)
    judgment = Judgment(trial, "mine", Verdict("NO"))
    request = RecordedRequest("POST", "http://x/v1", "{}")
    exchanges = [
        Exchange(trial.id, number, request, RecordedResponse(status, {}, "{}"), "")
        for number, status in enumerate(statuses, start=1)
    ]
    lines = list(swallowed_lines([judgment], {trial.id: exchanges}))
    assert len(lines) == is_told
    assert all("HTTP 429, and NO: let it raise the error" in line for line in lines)
