"""The prompts of a function, from its requests: the same for other items."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_judgesense.cassettes.exchange import (
    CALL,
    RETURN,
    Exchange,
    RecordedRequest,
    RecordedResponse,
)
from pytest_judgesense.checks.shared_request import (
    SentPrompt,
    SentTrial,
    item_texts,
    prompts_sent,
    shared_prompts,
    texts_held,
)
from pytest_judgesense.files.messages import text_of_chat
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.trial import Trial
from tests.checks.test_sent import chat, post
from tests.report.replaying import suite_named

PROMPT = "Question: {question} A: {a} B: {b}\nGive 1 to 5."
MASKED = "Question: {{question}} A: {{a}} B: {{b}}\nGive 1 to 5."


def pair(n: int) -> dict[str, str]:
    """The texts of an item, the candidates short enough to be words of a prompt."""
    return {"question": f"What is number {n} of the list?", "a": str(n), "b": str(n + 100)}


def sent(
    numbers: range, prompt: str | Callable[[int], str] = PROMPT, wording: str = "t1"
) -> list[SentTrial]:
    return [
        SentTrial(
            f"i{n}",
            wording,
            [chat((prompt if isinstance(prompt, str) else prompt(n)).format(**pair(n)))],
            pair(n),
        )
        for n in numbers
    ]


def shared(trials: list[SentTrial]) -> tuple[SentPrompt, ...]:
    (of_wording,) = shared_prompts(trials).values()
    return of_wording.shared


def test_the_texts_of_items_are_places_also_where_they_are_words_of_the_prompt() -> None:
    # Items 1 and 5 have candidates that the prompt names: "Give {{a}} to 5." of the first is read
    # as the others have it.
    assert shared(sent(range(20))) == (SentPrompt("", MASKED),)


@pytest.mark.parametrize("numbers", [range(2), range(1, 3), range(4, 40), range(200)])
def test_other_items_have_the_same_prompt(numbers: range) -> None:
    assert shared(sent(numbers)) == (SentPrompt("", MASKED),)


def test_the_order_of_items_and_how_often_each_is_asked_change_nothing() -> None:
    trials = sent(range(20), lambda n: PROMPT if n % 2 else f"{PROMPT}\nBe strict.")
    shuffled = random.Random(1).sample(trials * 3, 60)
    # Ten items each: of equal number, they are sorted.
    both = (SentPrompt("", MASKED), SentPrompt("", f"{MASKED}\nBe strict."))
    assert shared(trials) == shared(shuffled) == both


@pytest.mark.parametrize(("strict", "known"), [(2, True), (1, False)])
def test_a_prompt_of_a_tenth_of_the_items_counts(strict: int, known: bool) -> None:
    """2 of 20 are a tenth, and two; 1 is neither."""
    trials = sent(range(20), lambda n: f"{PROMPT}\nBe strict." if n < strict else PROMPT)
    assert (SentPrompt("", f"{MASKED}\nBe strict.") in shared(trials)) is known


def test_what_single_items_show_is_no_part_of_it() -> None:
    trials = sent(range(20), lambda n: f"{PROMPT}\nRequest {n + 5000}.\nFair.")
    assert shared(trials) == (SentPrompt("", f"{MASKED}\nFair."),)


def test_of_many_prompts_those_of_most_items_count() -> None:
    """Each of 20 prompts is that of 5 of 100 items, which is less than a tenth."""
    trials = sent(range(100), lambda n: f"{PROMPT}\n" + "\n".join(f"Rule {k}." for k in rules(n)))
    assert len(shared(trials)) == 20


def rules(n: int) -> list[int]:
    """Two of seven: one of 20 pairs, so that each rule is that of a tenth of the items."""
    pairs = [(a, b) for a in range(7) for b in range(a)][:20]
    return list(pairs[n % 20])


def test_system_prompts_later_calls_and_other_apis_count() -> None:
    first, second = sent(range(3)), sent(range(3), "Now for {a}.")
    several = [
        one._replace(requests=[chat("Begin.", system="Be fair."), *two.requests])
        for one, two in zip(first, second, strict=True)
    ]
    assert shared(several) == (SentPrompt("Be fair.", "Begin.\nNow for {{a}}."),)
    own = [
        one._replace(requests=[post({"query": f"Judge {one.texts['question']}", "top_k": 5})])
        for one in first
    ]
    assert shared(own) == (SentPrompt("", "query: Judge {{question}}"),)


def test_texts_stand_in_a_body_of_json_as_well() -> None:
    texts = [{"question": f'Say "number {n}"\nof the list', "a": "x"} for n in range(4)]
    trials = [
        SentTrial(str(n), "t1", [chat(json.dumps({"to judge": of["question"]}))], of)
        for n, of in enumerate(texts)
    ]
    assert shared(trials) == (SentPrompt("", '{"to judge": "{{question}}"}'),)


def test_an_item_has_its_own_prompt_as_far_as_others_have_its_lines() -> None:
    trials = sent(range(20), lambda n: f"{PROMPT}\nOf {n}: go.\n{'Be strict.' * (n < 4)}")
    by_item = shared_prompts(trials)["t1"].by_item
    assert by_item["i3"] == SentPrompt("", f"{MASKED}\nOf {{{{a}}}}: go.\nBe strict.")
    assert by_item["i4"] == SentPrompt("", f"{MASKED}\nOf {{{{a}}}}: go.")


def test_fields_that_nobody_takes_are_no_texts_of_a_prompt_unless_they_are_long() -> None:
    fields = {"task": "Add.", "level": "fair", "context": "a text of more than twenty"}
    item = Item("i", "i", fields, ("one", "two"), taken=frozenset(["task"]))
    assert item_texts(item, "ba") == {
        "task": "Add.",
        "context": "a text of more than twenty",
        "a": "two",
        "b": "one",
    }
    assert "level" in item_texts(replace(item, taken=None), "ab")


# --- as a datasheet has them ----------------------------------------------------------------------


def of_suite(request: RecordedRequest, status: int = 200) -> dict[str, Any]:
    suite = suite_named("coherence@published")
    trials = plan_trials(suite)
    recorded = {
        trial.id: [Exchange(trial.id, 1, request, RecordedResponse(status, {}, "{}"), "")]
        for trial in trials
    }
    return prompts_sent(suite, trials, recorded)


def test_a_datasheet_has_the_prompts_of_each_wording() -> None:
    prompts = of_suite(chat("Grade.", system="Be fair."))
    wordings = {template.id for template in suite_named("coherence@published").templates}
    assert prompts == {
        "system": "",
        "templates": dict.fromkeys(wordings, "Grade."),
        "systems": dict.fromkeys(wordings, "Be fair."),
    }


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (RecordedRequest(CALL, "python:own:judge", '{"messages": [{"content": "Grade."}]}'), 200),
        (RecordedRequest(RETURN, "python:own:judge", "{}"), 200),
        (chat("Grade."), 500),
        (chat(""), 200),
    ],
    ids=["what it was given", "what it returned", "no answer", "no text"],
)
def test_without_a_request_no_prompt_is_known(request_: RecordedRequest, status: int) -> None:
    assert of_suite(request_, status) == {}


def test_a_conversation_is_held_in_whatever_form_it_was_sent() -> None:
    """All that is said in it was sent; a part of it is not the whole."""
    said = ["Where is the parcel of Monday?", "It is in Lyon since yesterday."]
    messages = [
        {"role": role, "content": text}
        for role, text in zip(("user", "assistant"), said, strict=True)
    ]
    fields = {"conversation": text_of_chat(messages), "task": "Was it found?"}
    item, trial = Item("i", "i", fields), Trial("s/i/t1/ab/r1", "s", "i", "i", "t1")
    assert texts_held(item, trial, json.dumps(messages)) == {"conversation": fields["conversation"]}
    assert texts_held(item, trial, f"Was it found? {said[0]}") == {"task": "Was it found?"}
