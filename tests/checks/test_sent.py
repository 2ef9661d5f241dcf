from __future__ import annotations

import json
from typing import Any

from pytest_judgesense.cassettes.exchange import RETURN, RecordedRequest
from pytest_judgesense.checks.sent import SentChange, changes_sent

URL = "http://127.0.0.1:1/v1/chat/completions"


def post(body: dict[str, Any], url: str = URL) -> RecordedRequest:
    return RecordedRequest("POST", url, json.dumps(body))


def chat(prompt: str, system: str | None = None, **settings: Any) -> RecordedRequest:
    messages = [{"role": "user", "content": prompt}]
    if system is not None:
        messages.insert(0, {"role": "system", "content": system})
    return post({"model": "m-1", "messages": messages} | settings)


def changed(
    old: list[RecordedRequest], new: list[RecordedRequest]
) -> list[tuple[str, tuple[str, ...]]]:
    pairs = [([before], [after], {}) for before, after in zip(old, new, strict=True)]
    return [(change.part, change.lines) for change in changes_sent(pairs)]


PROMPT = "You compare two answers.\nQuestion: {}\n{}\nAnswer: {}"
ITEMS = ["what is water", "who was Ada", "why is the sky blue"]


def prompts(rule: str) -> list[RecordedRequest]:
    return [chat(PROMPT.format(item, rule, item[::-1])) for item in ITEMS]


def test_equal_requests_have_no_change() -> None:
    assert changes_sent([([chat("p")], [chat("p")], {})]) == []


def test_the_shared_part_of_a_prompt_is_shown_once() -> None:
    assert changed(prompts("Be fair."), prompts("Be strict.")) == [
        ("prompt", ("- Be fair.", "+ Be strict."))
    ]


def test_an_added_line_is_no_change_of_the_others() -> None:
    old = [chat(f"Compare.\n{item}") for item in ITEMS]
    new = [chat(f"Compare.\nThink first.\n{item}") for item in ITEMS]
    assert changed(old, new) == [("prompt", ("+ Think first.",))]


def test_a_prompt_of_one_line_is_compared_word_by_word() -> None:
    old = [chat(f"Compare the two answers to {item} and name the better one") for item in ITEMS]
    new = [chat(f"Compare the two answers to {item} and name the worse one") for item in ITEMS]
    assert changed(old, new) == [("prompt", ("- the better one", "+ the worse one"))]


def test_a_change_of_some_trials_says_of_how_many() -> None:
    change = changes_sent(
        [([chat(f"{i} a")], [chat(f"{i} b" if i < 2 else f"{i} a")], {}) for i in range(5)]
    )[0]
    assert (change.trials, change.of) == (2, 5)
    assert change.summary == "the prompt changed (2 lines, in 2 of 5 trials)"


def test_a_system_prompt_that_is_added_or_left_out_is_no_change_of_the_prompt() -> None:
    without, with_one = chat("p"), chat("p", "Be brief.")
    assert changed([without], [with_one]) == [("system prompt", ("+ Be brief.",))]
    assert changed([with_one], [without]) == [("system prompt", ("- Be brief.",))]


def test_each_call_of_a_trial_counts() -> None:
    cheap, strong = post({"model": "m-1", "n": 1}), post({"model": "m-2", "n": 1})
    other = post({"model": "m-3", "n": 1})
    (change,) = changes_sent([([cheap, strong], [other, strong], {})])
    assert change.summary == "the model changed: model m-1, then m-2 -> m-3, then m-2"
    assert [change.part for change in changes_sent([([cheap], [cheap, cheap], {})])] == ["calls"]


def test_what_differs_in_nothing_else_is_not_called_equal() -> None:
    def roles(*names: str) -> RecordedRequest:
        return post({"messages": [{"role": name, "content": name[0]} for name in names]})

    def said_by(role: str) -> RecordedRequest:
        return post({"messages": [{"role": role, "content": "p"}]})

    expected = [("settings", ("roles, order or form of the messages",))]
    assert changed([roles("system", "user")], [roles("user", "system")]) == expected
    assert changed([said_by("user")], [said_by("assistant")]) == expected
    spaced = RecordedRequest("POST", URL, '{"messages":  [{"content": "p", "role": "user"}]}')
    assert changed([said_by("user")], [spaced]) == []


def test_every_part_is_named_and_nothing_else() -> None:
    old = chat("p", "Be brief.", temperature=0)
    cases = {
        "model": post(json.loads(str(old.body)) | {"model": "m-2"}),
        "system prompt": chat("p", "Be exact.", temperature=0),
        "settings": chat("p", "Be brief.", temperature=0.5),
        "reply form": chat("p", "Be brief.", temperature=0, response_format={"type": "json"}),
        "endpoint": RecordedRequest("POST", URL.replace("127", "128"), old.body),
    }
    for part, new in cases.items():
        assert [change.part for change in changes_sent([([old], [new], {})])] == [part]
    assert changed([old], [cases["model"]]) == [("model", ("model m-1 -> m-2",))]
    assert changed([old], [cases["settings"]]) == [("settings", ("temperature 0 -> 0.5",))]


def test_a_setting_that_is_no_longer_sent_is_named() -> None:
    assert changed([chat("p", seed=1)], [chat("p")]) == [("settings", ("seed 1 -> not sent",))]


def test_the_model_in_a_path_is_a_model() -> None:
    # Gemini and Bedrock name it there.
    body = {"contents": [{"role": "user", "parts": [{"text": "p"}]}]}
    base = "https://host/v1beta/models/{}:generateContent"
    old, new = (post(body, base.format(name)) for name in ("flash-1", "flash-2"))
    assert changed([old], [new]) == [("model", ("model flash-1 -> flash-2",))]


def test_the_forms_of_other_providers() -> None:
    anthropic = {"model": "c", "system": "s", "messages": [{"role": "user", "content": "p"}]}
    assert changed([post(anthropic)], [post(anthropic | {"system": "t"})])[0][0] == "system prompt"
    gemini = {
        "contents": [{"parts": [{"text": "p"}]}],
        "generationConfig": {"temperature": 0, "responseMimeType": "text/plain"},
    }
    form = gemini | {"generationConfig": {"temperature": 0, "responseMimeType": "application/json"}}
    assert changed([post(gemini)], [post(form)])[0][0] == "reply form"
    responses = {"model": "m", "instructions": "s", "input": "p"}
    assert changed([post(responses)], [post(responses | {"input": "q"})])[0][0] == "prompt"


def test_the_number_of_calls_counts_and_a_return_is_none() -> None:
    returned = RecordedRequest(RETURN, "python:judge", "")
    one_call, two_calls = [chat("p"), returned], [chat("p"), chat("p"), returned]
    assert changes_sent([(one_call, [chat("p")], {})]) == []
    (change,) = [c for c in changes_sent([(one_call, two_calls, {})]) if c.part == "calls"]
    assert change.lines == ("calls of a trial 1 -> 2",)


def test_a_body_that_is_no_json_is_a_prompt() -> None:
    old, new = (RecordedRequest("POST", URL, text) for text in ("plain old", "plain new"))
    assert [change.part for change in changes_sent([([old], [new], {})])] == ["prompt"]


def test_a_long_diff_is_cut() -> None:
    old = [chat("\n".join(f"line {i} of the old" for i in range(100)))]
    new = [chat("\n".join(f"{i}. something else entirely" for i in range(100)))]
    ((_, lines),) = changed(old, new)
    assert len(lines) == 40
    assert lines[-1] == "... and 161 lines more"


def test_the_summary_is_one_clause() -> None:
    change = SentChange("model", ("model a -> b",), 3, 3)
    assert change.summary == "the model changed: model a -> b"


def test_texts_of_an_item_are_no_part_of_the_prompt() -> None:
    """They change from trial to trial, and stand wherever the prompt has them."""
    old = [chat(f"Tell whether {n} is even.") for n in range(9)]
    new = [chat(f"Quickly: {n}, even or odd?") for n in range(9)]
    items = [{"number": str(n)} for n in range(9)]
    (change,) = changes_sent([([o], [n], i) for o, n, i in zip(old, new, items, strict=True)])
    assert change.lines == (
        "- Tell whether {{number}} is even.",
        "+ Quickly: {{number}}, even or odd?",
    )


def test_a_short_text_of_an_item_is_a_word_of_its_own() -> None:
    old, new = chat("Rate 1 to 15: 1"), chat("Rate from 1 to 15: 1")
    (change,) = changes_sent([([old], [new], {"text": "1"})])
    # 15 is no text of the item, and 1 is, wherever it stands.
    assert change.lines == ("- Rate {{text}}", "+ Rate from {{text}}")
