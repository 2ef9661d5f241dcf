"""What the page for labels shows of a function's prompt: what was sent, and no answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.cassettes.cassette import call_of_function
from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.label.label_sample import (
    NO_REQUEST,
    NOTHING_SENT,
    SentQuestions,
    drawn_at_random,
)
from pytest_judgesense.questions.label.sitting import Sitting
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial
from tests.checks.test_sent import chat
from tests.suites.files import PAIRWISE, write_suite
from tests.suites.known import load_suite

FUNCTION = JudgeSpec("own", "callable", "myapp:judge")
TEMPLATE = PAIRWISE.replace("{{task}} {{a}} {{b}}", "{{task}} {{a}} {{b}} A placeholder.")


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    rows = [
        {
            "id": f"p{n}",
            "task": f"Task {n}.",
            "fields": {"source": f"a place that nobody sends, the {n}th"},
            "texts": [f"one of {n}", f"two of {n}"],
            "label": "1",
        }
        for n in range(6)
    ]
    return load_suite(write_suite(tmp_path, TEMPLATE, rows))


def record(suite: Suite, sent: Callable[[Trial, dict[str, str]], list[RecordedRequest]]) -> Path:
    """Write what a function sends in each trial, each answered by A; the folder of recordings."""
    items = {item.id: item for item in suite.items}
    cassettes = suite.path.parent / "cassettes"
    lines = [
        Exchange(
            trial.id, call, request, RecordedResponse(200, {}, "A"), "2026-01-31T12:00:00Z"
        ).to_line()
        for trial in plan_trials(suite)
        for call, request in enumerate(sent(trial, items[trial.item].texts(trial.order)), start=1)
    ]
    path = cassettes / FUNCTION.slug / f"{suite.base}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(lines) + "\n")
    return cassettes


def state(suite: Suite, cassettes: Path, *judges: JudgeSpec) -> dict[str, Any]:
    sent = SentQuestions.of(suite, judges or [FUNCTION], cassettes)
    return Sitting(suite, "anna", drawn_at_random(suite, 0), 0, sent=sent).state()


def test_the_page_shows_what_was_sent_and_no_template(suite: Suite) -> None:
    cassettes = record(
        suite,
        lambda _, of: [
            chat(f"Task: {of['task']}\n{of['a']} or {of['b']}?\n{of['b']}", system="Be fair.")
        ],
    )
    page = state(suite, cassettes)
    assert page["question"] == "Be fair.\nTask: [task]\n[first] or [second]?"
    assert [name for name, _ in page["fields"]] == ["task"]
    assert page["notice"] == ""
    assert "placeholder" not in json.dumps(page)


def test_a_later_request_which_may_quote_the_answer_is_not_shown(suite: Suite) -> None:
    cassettes = record(
        suite,
        lambda _, of: [chat(f"{of['task']} Which?"), chat(f"You said A of {of['task']} Sure?")],
    )
    assert state(suite, cassettes)["question"] == "[task] Which?"


def test_an_item_that_is_not_recorded_shows_what_the_others_were_sent(suite: Suite) -> None:
    first = drawn_at_random(suite, 0).items[0].id
    cassettes = record(
        suite,
        lambda trial, of: [] if trial.item == first else [chat(f"Which?\n{of['task']}\n{of['a']}")],
    )
    page = state(suite, cassettes)
    assert page["question"] == "Which?"
    assert [name for name, _ in page["fields"]] == ["task"]


def test_before_anything_is_recorded_the_page_says_so(suite: Suite) -> None:
    page = state(suite, suite.path.parent / "cassettes")
    assert (page["question"], page["notice"]) == ("", NOTHING_SENT)
    # What the template shows: nothing else is known of the function.
    assert [name for name, _ in page["fields"]] == ["task"]
    assert len(page["candidates"]) == 2


def test_of_a_function_without_requests_it_is_shown_what_it_was_given(suite: Suite) -> None:
    cassettes = record(
        suite,
        lambda _, of: [call_of_function("myapp:judge", (), {"arguments": {"q": of["task"]}})],
    )
    page = state(suite, cassettes)
    assert (page["question"], page["notice"]) == ("", NO_REQUEST)
    assert [name for name, _ in page["fields"]] == ["task"]


def test_where_nothing_is_sent_as_it_stands_the_fields_are_those_that_are_taken(
    suite: Suite,
) -> None:
    cassettes = record(suite, lambda _, of: [chat(f"Which?\n{of['task'][::-1]}")])
    page = state(suite, cassettes)
    assert page["question"] == "Which?"
    assert [name for name, _ in page["fields"]] == ["task"]


def test_templates_that_a_judge_is_sent_are_shown_as_they_are(suite: Suite) -> None:
    provider = JudgeSpec("other", "openai", "m-1")
    assert SentQuestions.of(suite, [FUNCTION, provider], Path("cassettes")) is None
    assert SentQuestions.of(suite, [], Path("cassettes")) is None
    page = Sitting(suite, "anna", drawn_at_random(suite, 0), 0).state()
    assert page["question"] == "[task] [first] [second] A placeholder."
    assert page["notice"] == ""
