from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.providers.builtin import ANTHROPIC, OPENAI
from pytest_judgesense.judges.spec import JudgeSpec, Provider
from pytest_judgesense.trial import Failed, Token, Usage

SPEC = JudgeSpec("j", "openai", "gpt", temperature=0.2, max_tokens=16)
MESSAGES = [{"role": "system", "content": "Judge."}, {"role": "user", "content": "A or B? é"}]


def _body(wire: Provider, spec: JudgeSpec = SPEC, seed: int | None = None) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(wire.request(spec, "http://x", "k", MESSAGES, seed).body)
    return body


# --- requests --------------------------------------------------------------------------------


def test_an_openai_request_has_every_setting_in_its_place() -> None:
    request = OPENAI.request(SPEC, "http://x/v1/", "k", MESSAGES, 7)
    assert (request.method, request.url) == ("POST", "http://x/v1/chat/completions")
    assert dict(request.headers) == {
        "Content-Type": "application/json",
        "Authorization": "Bearer k",
    }
    assert json.loads(request.body) == {
        "model": "gpt",
        "messages": MESSAGES,
        "temperature": 0.2,
        "max_tokens": 16,
        "seed": 7,
    }


def test_an_anthropic_request_has_the_system_prompt_apart_and_no_seed() -> None:
    request = ANTHROPIC.request(SPEC, "http://x", "k", MESSAGES, 7)
    assert (request.method, request.url) == ("POST", "http://x/v1/messages")
    assert dict(request.headers) == {
        "Content-Type": "application/json",
        "anthropic-version": "2023-06-01",
        "x-api-key": "k",
    }
    assert json.loads(request.body) == {
        "model": "gpt",
        "system": "Judge.",
        "messages": [MESSAGES[1]],
        "temperature": 0.2,
        "max_tokens": 16,
    }


@pytest.mark.parametrize("base", ["http://x", "http://x/", "http://x/v1", "http://x/v1/"])
def test_an_anthropic_base_url_may_end_in_the_version(base: str) -> None:
    request = ANTHROPIC.request(SPEC, base, None, MESSAGES, None)
    assert request.url == "http://x/v1/messages"


@pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC])
def test_what_is_not_set_is_not_sent(wire: Provider) -> None:
    assert "temperature" not in _body(wire, replace(SPEC, temperature=None))
    assert "seed" not in _body(wire)


def test_reasoning_is_sent_as_each_provider_has_it_and_not_unless_it_is_set() -> None:
    asked = _body(OPENAI, replace(SPEC, reasoning="low"))
    assert (asked["reasoning_effort"], asked["max_completion_tokens"]) == ("low", 16)
    assert "max_tokens" not in asked
    thinking = _body(ANTHROPIC, replace(SPEC, reasoning=8))["thinking"]
    assert thinking == {"type": "enabled", "budget_tokens": 8}
    assert not {"reasoning_effort", "max_completion_tokens"} & _body(OPENAI).keys()
    assert "thinking" not in _body(ANTHROPIC)


def test_log_probabilities_are_asked_for_with_all_alternatives_that_there_may_be() -> None:
    asked = _body(OPENAI, replace(SPEC, logprobs=True))
    assert asked == _body(OPENAI) | {"logprobs": True, "top_logprobs": 20}


@pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC])
def test_a_temperature_of_zero_is_sent(wire: Provider) -> None:
    assert _body(wire, replace(SPEC, temperature=0.0))["temperature"] == 0.0


def test_a_seed_of_zero_is_sent() -> None:
    assert _body(OPENAI, seed=0)["seed"] == 0


def test_an_anthropic_request_without_system_messages_has_no_system_key() -> None:
    request = ANTHROPIC.request(SPEC, "http://x", None, MESSAGES[1:], None)
    assert "system" not in json.loads(request.body)


@pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC])
def test_without_a_key_no_credential_is_sent(wire: Provider) -> None:
    headers = wire.request(SPEC, "http://x", None, MESSAGES, None).headers
    assert {name.lower() for name in headers} <= {"content-type", "anthropic-version"}


@pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC])
def test_the_key_stands_in_a_header_and_neither_in_url_nor_body(wire: Provider) -> None:
    request = wire.request(SPEC, "http://x", "sk-hidden", MESSAGES, None)
    assert "sk-hidden" not in request.url
    assert b"sk-hidden" not in request.body


@pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC])
def test_equal_requests_have_equal_bytes_readable_in_a_cassette(wire: Provider) -> None:
    bodies = {wire.request(SPEC, "http://x", "k", MESSAGES, 1).body for _ in range(3)}
    assert len(bodies) == 1
    assert "é".encode() in bodies.pop()


# --- replies ---------------------------------------------------------------------------------


def openai(message: Any, finish: str | None = "stop", **more: Any) -> str:
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}], **more})


def anthropic(content: Any, stop: str | None = "end_turn", **more: Any) -> str:
    return json.dumps({"content": content, "stop_reason": stop, **more})


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def test_an_openai_reply_with_everything() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6}
    body = openai({"content": "A"}, model="gpt-x", usage=usage)
    assert OPENAI.read(200, body) == Reply("A", Usage(5, 1), model="gpt-x")


@pytest.mark.parametrize(
    ("indices", "text"),
    [
        ((1, 0), "B"),
        ((2, 1, 0), "C"),
        ((0, 1), "A"),
        # Without an index, or with none that is one, a choice counts by its place.
        ((None, None), "A"),
        (("1", True), "A"),
    ],
)
def test_choices_are_taken_by_their_index(indices: tuple[Any, ...], text: str) -> None:
    choices = [
        {"index": index, "message": {"content": content}, "finish_reason": "stop"}
        for index, content in zip(indices, "ABC", strict=False)
    ]
    assert OPENAI.read(200, json.dumps({"choices": choices})) == Reply(text)


def test_an_anthropic_reply_with_everything() -> None:
    body = anthropic([_text("A")], model="claude-x", usage={"input_tokens": 5, "output_tokens": 1})
    assert ANTHROPIC.read(200, body) == Reply("A", Usage(5, 1), model="claude-x")


def test_what_the_endpoint_did_not_count_is_none_and_not_zero() -> None:
    assert OPENAI.read(200, openai({"content": "A"})) == Reply("A", Usage(None, None))
    assert ANTHROPIC.read(200, anthropic([_text("A")])) == Reply("A", Usage(None, None))


@pytest.mark.parametrize("content", ["", None])
@pytest.mark.parametrize(
    ("message", "details"),
    [
        ({}, {"completion_tokens_details": {"reasoning_tokens": 16}}),
        ({"reasoning_content": "First, "}, {}),  # DeepSeek's, without a count of its own
    ],
)
def test_a_budget_that_went_into_reasoning_is_counted(
    content: str | None, message: dict[str, Any], details: dict[str, Any]
) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 16, **details}
    reply = OPENAI.read(200, openai({"content": content, **message}, usage=usage, finish="length"))
    assert isinstance(reply, Reply)
    assert (reply.text or "", reply.truncated) == ("", True)
    assert reply.usage == Usage(5, 16, 16)


def test_a_lone_thinking_block_is_reasoning_alone() -> None:
    usage = {"input_tokens": 5, "output_tokens": 16}
    thinking = {"type": "thinking", "thinking": "First, ", "signature": "s"}
    reply = ANTHROPIC.read(200, anthropic([thinking], usage=usage, stop_reason="max_tokens"))
    assert reply == Reply(None, Usage(5, 16, 16), truncated=True)


@pytest.mark.parametrize("usage", [None, [], "5", {"prompt_tokens": "5", "input_tokens": True}])
def test_a_malformed_usage_costs_the_count_and_not_the_reply(usage: Any) -> None:
    assert OPENAI.read(200, openai({"content": "A"}, usage=usage)) == Reply("A")
    assert ANTHROPIC.read(200, anthropic([_text("A")], usage=usage)) == Reply("A")


def test_a_model_that_is_no_name_is_left_out() -> None:
    assert OPENAI.read(200, openai({"content": "A"}, model={"id": 1})) == Reply("A")
    assert ANTHROPIC.read(200, anthropic([_text("A")], model=["m"])) == Reply("A")


def test_text_parts_are_joined_and_other_parts_left_out() -> None:
    parts = [_text("Verdict: "), {"type": "image_url", "image_url": {}}, "loose", _text("A")]
    assert OPENAI.read(200, openai({"content": parts})) == Reply("Verdict: A")


@pytest.mark.parametrize("text", [None, ["A"], 4, True, {"value": "A"}])
def test_a_part_whose_text_is_no_text_says_nothing(text: Any) -> None:
    # Written out, `["A"]` would be a verdict that nobody stated.
    parts = [{"type": "text", "text": text}]
    assert OPENAI.read(200, openai({"content": parts})) == Reply(None)
    assert ANTHROPIC.read(200, anthropic(parts)) == Reply(None)


def test_thinking_blocks_are_no_part_of_the_reply() -> None:
    blocks = [{"type": "thinking", "thinking": "B?"}, _text("A"), _text("."), {"type": "tool_use"}]
    assert ANTHROPIC.read(200, anthropic(blocks)) == Reply("A.")


def test_a_reply_at_the_end_of_its_budget_is_truncated() -> None:
    assert OPENAI.read(200, openai({"content": "Both are"}, "length")) == Reply(
        "Both are", truncated=True
    )
    assert ANTHROPIC.read(200, anthropic([_text("Both are")], "max_tokens")) == Reply(
        "Both are", truncated=True
    )


def test_a_budget_that_was_spent_on_thinking_is_no_refusal() -> None:
    assert OPENAI.read(200, openai({"content": None}, "length")) == Reply(None, truncated=True)
    thinking = [{"type": "thinking", "thinking": "..."}]
    assert ANTHROPIC.read(200, anthropic(thinking, "max_tokens")) == Reply(None, truncated=True)


def test_a_refusal_has_no_text_and_the_words_of_the_judge() -> None:
    refusal = "I cannot help with that."
    for content in (None, ""):
        body = openai({"content": content, "refusal": refusal})
        assert OPENAI.read(200, body) == Reply(None, refused=refusal)


def test_a_filtered_reply_is_a_refusal() -> None:
    reply = OPENAI.read(200, openai({"content": None}, "content_filter"))
    assert isinstance(reply, Reply)
    assert reply.text is None
    assert reply.refused is not None
    assert "content_filter" in reply.refused


def test_an_anthropic_refusal_says_its_stop_reason() -> None:
    assert ANTHROPIC.read(200, anthropic([], "refusal")) == Reply(
        None, refused="stop_reason refusal"
    )


def test_an_empty_text_is_a_reply_and_not_a_refusal() -> None:
    assert OPENAI.read(200, openai({"content": ""})) == Reply("")
    assert ANTHROPIC.read(200, anthropic([_text("")])) == Reply("")


# --- tokens ----------------------------------------------------------------------------------


def tokens(content: Any) -> str:
    choice = {"message": {"content": "A"}, "logprobs": {"content": content}}
    return json.dumps({"choices": [choice]})


def stated(text: Any, logprob: Any, *top: Any) -> dict[str, Any]:
    return {"token": text, "logprob": logprob, "bytes": None, "top_logprobs": list(top)}


def test_tokens_are_read_with_the_probabilities_in_their_places() -> None:
    # -9999 is how OpenAI states a token that is not among the likeliest; 1e-7 is a rounded 0.
    body = tokens([stated("A", -9999.0, stated("B", 1e-7), stated(" A", math.log(0.25)))])
    reply = OPENAI.read(200, body)
    assert isinstance(reply, Reply)
    (token,) = reply.tokens
    assert token.text == "A"
    assert dict(token.top) == pytest.approx({"B": 1.0, " A": 0.25, "A": 0.0})


@pytest.mark.parametrize(
    "content",
    [
        None,
        {},
        "A",
        [5],
        [stated(5, -1.0)],
        [stated("A", None)],
        [stated("A", 0.5)],
        [stated("A", float("nan"))],
        [stated("A", True)],
        [stated("x" * 201, -1.0)],
        [stated("A", -1.0, stated("B", -2.0)), "gap"],
        # Endpoints that ignore `top_logprobs`: the drawn token alone is no certainty.
        [stated("A", -0.1)],
        [{"token": "A", "logprob": -0.1}],
    ],
)
def test_tokens_that_cannot_be_read_cost_the_probabilities_and_not_the_reply(content: Any) -> None:
    assert OPENAI.read(200, tokens(content)) == Reply("A")


def test_alternatives_that_cannot_be_read_cost_themselves_alone() -> None:
    reply = OPENAI.read(200, tokens([stated("A", 0, stated("B", -(10**400)), stated(1, 1), 7)]))
    assert reply == Reply("A", tokens=(Token("A", (("B", 0.0), ("A", 1.0))),))


def test_tokens_that_read_alike_are_one_word_and_one_that_is_stated_twice_is_itself() -> None:
    # "A" and " A", as endpoints state them that cut blanks off; and the drawn one once more.
    top = [stated("A", math.log(0.5)), stated("B", math.log(0.25)), stated("A", math.log(0.125))]
    reply = OPENAI.read(200, tokens([stated("A", math.log(0.5), *top, top[0])]))
    assert isinstance(reply, Reply)
    assert dict(reply.tokens[0].top) == pytest.approx({"A": 0.5 + 0.125, "B": 0.25})


def test_of_endless_tokens_only_the_beginning_is_read() -> None:
    many = [stated("B", -1.0)] * 60
    reply = OPENAI.read(200, tokens([stated("A", -1.0, *many)] * 5000))
    assert isinstance(reply, Reply)
    assert len(reply.tokens) == 4096


# --- failures --------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC])
@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (429, '{"error": {"message": "slow\\n down"}}', "HTTP 429: slow down"),
        (400, '{"error": "wrong"}', "HTTP 400: wrong"),
        (502, "<html>bad  gateway</html>", "HTTP 502: <html>bad gateway</html>"),
        (500, "", "HTTP 500: "),
        (401, '{"detail": "no"}', 'HTTP 401: {"detail": "no"}'),
    ],
)
def test_an_error_status_fails_with_the_message_of_the_endpoint(
    wire: Provider, status: int, body: str, reason: str
) -> None:
    assert wire.read(status, body) == Failed(reason)


@pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC])
def test_an_error_status_fails_even_with_a_reply_in_its_body(wire: Provider) -> None:
    body = openai({"content": "A"}, content=[_text("A")])
    assert isinstance(wire.read(500, body), Failed)


@pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC])
def test_an_error_that_comes_with_status_200_fails(wire: Provider) -> None:
    body = '{"error": {"message": "overloaded"}}'
    assert wire.read(200, body) == Failed("the endpoint reports an error: overloaded")


@pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC])
def test_a_null_error_is_none(wire: Provider) -> None:
    body = openai({"content": "A"}, error=None, content=[_text("A")])
    assert wire.read(200, body) == Reply("A")


@pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC])
@pytest.mark.parametrize("body", ["", "<html>", '{"choices": [', "[" * 100_000])
def test_what_is_not_json_fails(wire: Provider, body: str) -> None:
    reply = wire.read(200, body)
    assert isinstance(reply, Failed)
    assert reply.reason.startswith("the response is not JSON")


@pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC])
@pytest.mark.parametrize("body", ["[]", "null", "5", '"A"'])
def test_what_is_no_object_fails(wire: Provider, body: str) -> None:
    assert wire.read(200, body) == Failed(f"the response is not a JSON object: {body!r}")


@pytest.mark.parametrize(
    "body",
    [
        "{}",
        '{"choices": []}',
        '{"choices": null}',
        '{"choices": {}}',
        '{"choices": [null]}',
        '{"choices": ["A"]}',
        '{"choices": [{"message": null}]}',
        '{"choices": [{"message": "A"}]}',
        '{"choices": [{"text": "A"}]}',
    ],
)
def test_an_openai_response_without_a_message_fails(body: str) -> None:
    assert OPENAI.read(200, body) == Failed("the response has no choices[0].message")


@pytest.mark.parametrize("content", [{"text": "A"}, 5, True])
def test_an_openai_content_that_is_no_text_fails(content: Any) -> None:
    reply = OPENAI.read(200, openai({"content": content}))
    assert isinstance(reply, Failed)
    assert reply.reason.startswith("choices[0].message.content is a ")


@pytest.mark.parametrize("content", [None, "A", {"type": "text"}, 5])
def test_an_anthropic_response_without_blocks_fails(content: Any) -> None:
    assert ANTHROPIC.read(200, anthropic(content)) == Failed("the response has no content blocks")


@pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC])
def test_a_long_error_page_is_cut_short(wire: Provider) -> None:
    reply = wire.read(500, "x" * 10_000)
    assert isinstance(reply, Failed)
    assert len(reply.reason) < 300


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                """
                choices message content logprobs token logprob top_logprobs usage text type error
                model
                """.split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from([200, 204, 302, 404, 500]))
def test_reading_never_raises_whatever_an_endpoint_sends(value: Any, status: int) -> None:
    message = {
        "choices": [{"message": {"content": value, "refusal": value}, "finish_reason": value}]
    }
    blocks = {"content": [{"type": "text", "text": value}, value], "usage": value, "model": value}
    for sent in (value, message, blocks, {**message, "usage": value, "model": value}):
        body = json.dumps(sent)
        for wire in (OPENAI, ANTHROPIC):
            reply = wire.read(status, body)
            assert isinstance(reply, Reply | Failed)
            if isinstance(reply, Reply):
                assert reply.text is None or isinstance(reply.text, str)
                assert reply.model is None or isinstance(reply.model, str)


@given(st.text(), st.sampled_from([200, 500]))
def test_reading_never_raises_whatever_the_text(body: str, status: int) -> None:
    assert isinstance(OPENAI.read(status, body), Failed)
    assert isinstance(ANTHROPIC.read(status, body), Failed)
