"""The embedded judge on debates: what it perceives follows from the transcript alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_judgesense.instruments import builtin
from pytest_judgesense.instruments.debate.replies import REPLY_SCHEMA, parse_debate
from pytest_judgesense.instruments.debate.simulated import (
    judge_debate,
    shares,
    speak,
    speech_wanted,
)
from pytest_judgesense.instruments.debate.stimuli import transcript
from pytest_judgesense.judges.prompts import judge_for_suite, render_messages, suite_for_judge
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.providers.builtin import BUILT_IN
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.simulated.endpoint import answer, chances
from pytest_judgesense.judges.simulated.named_observers import observer_named
from pytest_judgesense.judges.simulated.observer import Observer
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.trial import Verdict
from tests.suites.known import builtin_suites, load_suite

RESOLUTION = "Rivers need guardians."
PRO = "Poisoned fish kill herons. Lawyers defend silent water. Mayors forget distant valleys."
CON = "Judges lack hydrology training. Farmers lose irrigation licences. Budgets cannot stretch."


def profile(name: str) -> Observer:
    return observer_named(name, [speak, judge_debate])


def told(pro_rebuttal: str, con_rebuttal: str, pro_summary: str = "", con_summary: str = "") -> str:
    return transcript(
        [
            ("pro_constructive", PRO),
            ("con_constructive", CON),
            ("pro_rebuttal", pro_rebuttal),
            ("con_rebuttal", con_rebuttal),
            ("pro_summary", pro_summary),
            ("con_summary", con_summary),
        ]
    )


def test_shares_count_what_each_side_takes_up() -> None:
    found = shares(
        RESOLUTION,
        told(
            "Hydrology training is a course for judges; irrigation licences stay with farmers.",
            "We think otherwise.",
            "Fish and herons, lawyers and water: and budgets follow.",
        ),
    )
    # CON's terms: judge, lack, hydrolog, train; farmer, lose, irrig, licenc; budget, cannot,
    # stretch: of 11 PRO's rebuttal takes up 6, and 3 * 6 / 11 is more than 1. CON takes up none.
    assert found["clash"] == {"PRO": 1.0, "CON": 0.0}
    # PRO answers two of CON's three points by two stems or more; CON answers none.
    assert found["evidence"] == {"PRO": 1.0, "CON": pytest.approx(1 / 3)}
    # PRO comes back to two of its points; CON to none.
    assert found["argument_quality"] == {"PRO": pytest.approx(2 / 3), "CON": 0.0}
    # PRO's summary touches CON's budgets.
    assert found["weighing"] == {"PRO": pytest.approx(1 / 3), "CON": 0.0}


def test_exchanged_sides_have_exchanged_shares() -> None:
    one = shares(RESOLUTION, told("Farmers keep irrigation licences.", "Herons eat other fish."))
    swapped = {"PRO": "CON", "CON": "PRO"}
    other = transcript(
        [
            ("pro_constructive", CON),
            ("con_constructive", PRO),
            ("pro_rebuttal", "Herons eat other fish."),
            ("con_rebuttal", "Farmers keep irrigation licences."),
        ]
    )
    assert shares(RESOLUTION, other) == {
        category: {swapped[side]: share for side, share in of.items()}
        for category, of in one.items()
    }


def prompt(text: str, instruction: str = "Who has won? Reply with JSON.") -> str:
    head = f"<resolution>\n{RESOLUTION}\n</resolution>\n\n<transcript>\n{text}\n</transcript>"
    return f"{head}\n\n{instruction}"


CLEAR = told("Judges learn hydrology; farmers keep irrigation licences; budgets stretch.", "No.")


def test_without_temperature_runs_are_alike_and_the_side_that_answers_wins() -> None:
    for observer in (profile("clean"), profile("mixed")):
        quiet = replace(observer, lapse_rate=0.0, wording_sensitivity=0.0)
        replies = {quiet.reply(prompt(CLEAR), seed=seed) for seed in range(5)}
        assert len(replies) == 1
        assert parse_debate(replies.pop())[0] == Verdict("PRO")


def test_noise_grows_with_the_temperature_and_falls_with_the_sensitivity() -> None:
    def distinct(observer: Observer, temperature: float) -> int:
        return len(
            {observer.reply(prompt(CLEAR), temperature=temperature, seed=s) for s in range(40)}
        )

    clean = profile("clean")
    assert distinct(clean, 0.001) < distinct(clean, 0.1)
    assert distinct(clean, 0.03) < distinct(replace(clean, sensitivity=0.3), 0.03)


def test_equal_requests_get_equal_replies() -> None:
    noisy = profile("noisy")
    ask = {"temperature": 0.7, "seed": 3}
    assert noisy.reply(prompt(CLEAR), **ask) == noisy.reply(prompt(CLEAR), **ask)


def test_format_errors_are_of_kinds_that_a_reader_counts() -> None:
    broken = replace(profile("clean"), format_error_rate=1.0)
    reasons = {
        str(getattr(parse_debate(broken.reply(prompt(CLEAR), seed=s))[0], "reason", "none"))
        for s in range(40)
    }
    assert reasons == {
        "truncated JSON",
        "missing: scores.evidence",
        "out of range: scores.clash.PRO = 12.0",
        "no JSON object",
    }


def test_the_names_of_debaters_and_the_topic_never_reach_a_judge() -> None:
    suite = load_suite(builtin_suites()["debate"])
    for item in suite.items:
        for template in suite.templates:
            sent = " ".join(m["content"] for m in render_messages(suite, item, template, "ab"))
            assert "debater" not in sent
            assert item.id not in sent
            assert item.cluster not in sent


def test_a_speech_is_asked_for_by_side_kind_and_limit() -> None:
    asked = "Write the CON rebuttal, against the resolution, in at most 250 words."
    assert speech_wanted(asked) == ("CON", "rebuttal", 250)
    assert speech_wanted("Who has won the debate?") is None
    text = profile("clean").reply(prompt(told("", ""), asked), seed=1)
    assert "They say" in text or "Our ground" in text
    assert profile("clean").reply(prompt(told("", ""), asked), seed=1) == text
    short = prompt(told("", ""), asked.replace("250", "7"))
    assert len(profile("clean").reply(short).split()) == 7


# --- how a debate suite asks -----------------------------------------------------------------


def asked_as(**table: object) -> JudgeSpec:
    suite = load_suite(builtin_suites()["debate"])
    judge = replace(judge_from_name("openai:m"), **table)  # type: ignore[arg-type]
    return judge_for_suite(judge, suite_for_judge(suite, judge))


def test_debates_are_asked_at_the_temperature_and_with_the_budget_of_their_design() -> None:
    assert (asked_as().temperature, asked_as().max_tokens) == (0.1, 800)
    assert asked_as(temperature=None).temperature is None
    assert asked_as(max_tokens=4000).max_tokens == 4000
    other = load_suite(builtin_suites()["vacuum"])
    judge = judge_from_name("openai:m")
    assert judge_for_suite(judge, other) == judge


@pytest.mark.parametrize(
    ("table", "structured"),
    [
        ({}, True),
        ({"provider": "anthropic"}, True),
        ({"base_url": "http://127.0.0.1:1/v1"}, False),
        ({"base_url": "http://127.0.0.1:1/v1", "structured": True}, True),
        ({"structured": False}, False),
        ({"provider": "embedded", "model": "clean"}, False),
    ],
)
def test_structured_output_is_asked_for_where_it_surely_exists_or_is_declared(
    table: dict[str, object], structured: bool
) -> None:
    assert (asked_as(**table).reply_schema is not None) is structured


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_structured_reply_is_read_like_one_in_the_text(provider: str) -> None:
    spec = asked_as(provider=provider, model="clean", structured=True)
    messages = [{"role": "user", "content": prompt(CLEAR)}]
    body = json.loads(BUILT_IN[provider].request(spec, "http://x", None, messages, 0).body)
    if provider == "openai":
        form = body["response_format"]["json_schema"]
        assert (form["strict"], form["schema"]) == (True, REPLY_SCHEMA)
        path = "/v1/chat/completions"
    else:
        assert body["tools"][0]["input_schema"] == REPLY_SCHEMA
        assert body["tool_choice"] == {"type": "tool", "name": body["tools"][0]["name"]}
        path = "/v1/messages"
    status, sent = answer(path, body, profile)
    reply = BUILT_IN[provider].read(status, json.dumps(sent))
    assert isinstance(reply, Reply)
    assert reply.text is not None
    assert parse_debate(reply.text)[0] == Verdict("PRO")


def test_verdicts_on_debates_have_no_probabilities() -> None:
    suite = load_suite(builtin_suites()["debate"])
    trial = plan_trials(suite)[0]
    item = next(item for item in suite.items if item.id == trial.item)
    template = next(one for one in suite.templates if one.id == trial.template)
    messages = render_messages(suite, item, template, trial.order)
    prompt = "\n\n".join(message["content"] for message in messages)
    assert chances(observer_named("clean", builtin.BUILT_IN.skills), prompt) == {}
