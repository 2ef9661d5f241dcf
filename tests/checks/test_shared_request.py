"""What requests share: the same for other items, another for another prompt, setting or form."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_judgesense.cassettes.exchange import (
    CALL,
    Exchange,
    RecordedRequest,
    RecordedResponse,
)
from pytest_judgesense.checks.shared_request import (
    SentTrial,
    SharedRequest,
    different_settings,
    request_shared,
    shared_of,
)
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.suites.planning import plan_trials
from tests.checks.test_sent import chat
from tests.report.replaying import suite_named

PROMPT = "Judge the answer.\nQuestion: {question}\nAnswer: {answer}\nReply PASS or FAIL."
FEW = [(f"what is number {n}", f"it is the number {n} and {n + 1}") for n in range(12)]
OTHERS = [(f"who was king {n} of old", f"nobody knows of king {n}\nor asks") for n in range(30)]


def asked(
    texts: list[tuple[str, str]], prompt: str = PROMPT, wording: str = "t1", **settings: Any
) -> list[SentTrial]:
    return [
        SentTrial(
            question,
            wording,
            [chat(prompt.format(question=question, answer=answer), **settings)],
            {"question": question, "answer": answer},
        )
        for question, answer in texts
    ]


FIRST = shared_of(asked(FEW, temperature=0.0))


def test_other_items_share_the_same_and_no_text_stands_in_it() -> None:
    assert shared_of(asked(OTHERS, temperature=0.0)) == FIRST
    assert FIRST.settings == {"temperature": "0.0"}
    assert len(FIRST.prompt) == len(FIRST.form) == 12


@pytest.mark.parametrize(
    "prompt",
    [
        PROMPT.replace("Judge", "Grade"),
        PROMPT.replace("Answer: ", "Reply: "),  # the line of an item
        PROMPT + "\nBe strict.",
        "Reply PASS or FAIL.\nQuestion: {question}\nAnswer: {answer}\nJudge the answer.",
    ],
    ids=["a line", "a line of an item", "one more", "another order"],
)
def test_another_prompt_is_another_digest(prompt: str) -> None:
    other = shared_of(asked(OTHERS, prompt, temperature=0.0))
    assert other.prompt != FIRST.prompt
    assert (other.settings, other.form) == (FIRST.settings, FIRST.form)


def test_a_prompt_that_changed_for_some_of_the_trials_is_another() -> None:
    strict = PROMPT + "\nBe strict."
    mixed = asked(OTHERS[:24], temperature=0.0) + asked(OTHERS[24:], strict, temperature=0.0)
    assert shared_of(mixed).prompt != FIRST.prompt


def test_a_function_that_shortens_its_texts_is_told_by_the_lines_around_them() -> None:
    def shortened(texts: list[tuple[str, str]], rule: str) -> SharedRequest:
        cut = [(question[:-2], answer[:-2]) for question, answer in texts]
        sent = asked(cut, f"{rule}\n{PROMPT}")
        whole = [{"question": q, "answer": a} for q, a in texts]
        return shared_of([trial._replace(texts=of) for trial, of in zip(sent, whole, strict=True)])

    # Of 200 items no two have a line in common; a digit is cut off, so that many of ten would.
    texts = [(f"what is {n:>6} ??", f"{n:>6} it is !!") for n in range(200)]
    later = [(f"who is {n:>6} ??", f"{n:>6} she is !!") for n in range(300)]
    assert shortened(texts, "Be fair.") == shortened(later, "Be fair.")
    assert shortened(texts, "Be fair.") != shortened(later, "Be kind.")


def test_every_wording_counts() -> None:
    other = PROMPT.replace("Judge", "Grade")
    both = shared_of([*asked(FEW), *asked(FEW, other, "t2")])
    assert both.prompt != shared_of(asked(FEW)).prompt
    assert both.prompt == shared_of([*asked(OTHERS, other, "t9"), *asked(OTHERS)]).prompt


def test_seeds_and_fields_that_the_judge_ignores_are_no_settings() -> None:
    sent = [
        entry for n in range(3) for entry in asked(FEW, temperature=0.0, seed=n, user=f"run {n}")
    ]
    assert shared_of(sent, {"user"}).settings == {"temperature": "0.0"}
    assert shared_of(sent).settings == {
        "temperature": "0.0",
        "user": "run 0 or run 1 or run 2",
    }
    # A name of each request is none that trials share.
    single = [e for n, texts in enumerate(FEW) for e in asked([texts], request=f"id {n}")]
    assert shared_of(single).settings == {}


def test_a_schema_is_a_form_of_reply() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": {"enum": ["PASS"]}}}
    with_schema = shared_of(asked(FEW, temperature=0.0, response_format=form))
    assert with_schema.form != FIRST.form
    assert (with_schema.prompt, with_schema.settings) == (FIRST.prompt, FIRST.settings)


def test_settings_are_told_apart_by_name() -> None:
    assert different_settings({"temperature": "0.0", "top_p": "1"}, {"temperature": "1.0"}) == [
        "temperature 0.0 -> 1.0",
        "top_p 1 -> not sent",
    ]
    assert different_settings({"a": "1"}, {"a": "1"}) == []


def test_only_answered_requests_count_and_a_function_without_any_is_not_known() -> None:
    suite = suite_named("coherence@published")
    trials, judge = plan_trials(suite), JudgeSpec("prod", "openai", "m-1", ignore=("body.user",))

    def shared(*requests: tuple[RecordedRequest, int]) -> SharedRequest | None:
        recorded = {
            trial.id: [
                Exchange(trial.id, 1, request, RecordedResponse(status, {}, "{}"), "")
                for request, status in requests
            ]
            for trial in trials
        }
        return request_shared(judge, suite, trials, recorded)

    answered = shared((chat("Judge.", user="me"), 200))
    assert answered is not None
    assert answered.settings == {}
    assert shared((chat("Another."), 500), (chat("Judge."), 200)) == answered
    assert shared((chat("Judge."), 500)) is None
    assert shared((RecordedRequest(CALL, "python:own:judge", "{}"), 200)) is None
