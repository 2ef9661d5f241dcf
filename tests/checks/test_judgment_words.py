"""What single judgments say in words: of requests that failed, of reasoning that differs."""

from __future__ import annotations

import pytest

from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.checks.judgment_words import contradicted_lines, swallowed_lines
from pytest_judgesense.trial import REASONED, Judgment, Trial, Verdict


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


def test_reasoning_that_concludes_otherwise_is_counted_with_an_example() -> None:
    trials = [Trial(f"s/a/t1/ab/r{n}", "s", "a", "a", "t1", "ab", n) for n in (1, 2, 3)]
    plain, *contradicted = (
        Judgment(trial, "mine", Verdict("A"), detail=detail)
        for trial, detail in zip(trials, [None, {REASONED: "B"}, {REASONED: "B"}], strict=True)
    )
    assert list(contradicted_lines([plain])) == []
    assert next(contradicted_lines([plain, *contradicted])) == (
        "2 replies conclude in the reasoning with another verdict than the JSON states, which "
        "counts, the first s/a/t1/ab/r2: reasoning B, JSON A"
    )
    (line,) = contradicted_lines(contradicted[:1])
    assert line.startswith("1 reply concludes in the reasoning")
