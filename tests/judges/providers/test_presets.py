"""Endpoints that speak OpenAI's dialect with an accent of their own, each on a real server.

The bodies are of the forms that the endpoints document or send: Azure OpenAI's content filter and
retry-after-ms, Ollama's errors, vLLM's error objects, llama.cpp while it loads, OpenRouter's error
within a choice and the blanks that keep its connection, Bedrock's errors without an ``error``.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.cassettes.matching import normal_url
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.errors import JudgeError, SendingRefused, UsageError
from pytest_judgesense.judges import throttle as throttle_module
from pytest_judgesense.judges.client import open_client, unasked_endpoint
from pytest_judgesense.judges.judge_table import declared_judge
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.providers.builtin import BUILT_IN
from pytest_judgesense.judges.resolving import base_url_of, judge_from_name, key_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.trial import Failed, Usage
from tests.judges.endpoint import Endpoint, Script, endpoint

# name: default endpoint, variable of the key, header that carries it
PRESETS = {
    "azure": ("", "AZURE_OPENAI_API_KEY", ("api-key", "s3cret-key-0123")),
    "bedrock": (
        "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1",
        "AWS_BEARER_TOKEN_BEDROCK",
        ("authorization", "Bearer s3cret-key-0123"),
    ),
    "openrouter": (
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        ("authorization", "Bearer s3cret-key-0123"),
    ),
    "ollama": ("http://127.0.0.1:11434/v1", "", None),
    "vllm": ("http://127.0.0.1:8000/v1", "", None),
    "llamacpp": ("http://127.0.0.1:8080/v1", "", None),
}
MESSAGES = [{"role": "user", "content": "Which is better, A or B?"}]
USAGE = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle_module, "_FIRST_WAIT_S", 0.005)
    monkeypatch.setattr(throttle_module, "_LONGEST_WAIT_S", 0.02)


@pytest.fixture(autouse=True)
def _no_region(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)


def completion(text: str | None, finish: str = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "choices": [choice],
        "usage": USAGE,
        **more,
    }


def plays(*responses: tuple[int, Any] | tuple[int, Any, dict[str, str]]) -> Script:
    """The responses in turn, the last one for ever; a text as it is, anything else as JSON."""
    left = list(responses)

    def script(path: str, body: dict[str, Any]) -> tuple[int, str, bytes, dict[str, str]]:
        status, content, *headers = left.pop(0) if len(left) > 1 else left[0]
        text = content if isinstance(content, str) else json.dumps(content)
        return status, "application/json", text.encode(), dict(*headers)

    return script


def asked(judge: JudgeSpec, path: Path) -> Answer:
    tape = RecordingCassette(path)

    async def ask() -> Answer:
        async with open_client(judge, tape, concurrency=2) as client:
            return await client.ask("s/one", MESSAGES)

    answer = asyncio.run(ask())
    tape.finish(["s/one"])
    replaying = ReplayingCassette(path)

    async def again() -> Answer:
        async with open_client(judge, replaying, concurrency=2) as client:
            return await client.ask("s/one", MESSAGES)

    # A recording says the same; only it does not wait, and nobody is asked.
    assert asyncio.run(again()).reply == answer.reply
    return answer


def judge_at(server: Endpoint, provider: str, **table: Any) -> JudgeSpec:
    return declared_judge("mine", provider=provider, model="a/model", base_url=server.url, **table)


def test_every_endpoint_of_the_dialect_is_built_in() -> None:
    like_openai = {name for name, one in BUILT_IN.items() if one.chat_completions}
    assert set(PRESETS) == like_openai - {"openai", "embedded", "local"}
    assert set(BUILT_IN) - like_openai == {"anthropic"}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_knows_its_endpoint_and_the_variable_of_its_key(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, variable, _ = PRESETS[name]
    if not url:
        with pytest.raises(UsageError, match=r"https://NAME\.openai\.azure\.com/openai/v1"):
            judge_from_name(f"{name}:a/model")
        return
    judge = judge_from_name(f"{name}:a/model")
    assert (judge.name, judge.model, base_url_of(judge)) == (f"{name}:a/model", "a/model", url)
    monkeypatch.delenv(variable, raising=False) if variable else None
    assert key_of(judge) == (variable, None)


@pytest.mark.parametrize("name", PRESETS)
def test_it_is_asked_with_its_key_in_its_header_and_its_usage_is_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, variable, header = PRESETS[name]
    if variable:
        monkeypatch.setenv(variable, "s3cret-key-0123")
    with endpoint(plays((200, completion("A")))) as server:
        answer = asked(judge_at(server, name), tmp_path / "c.jsonl")
    assert answer.reply == Reply("A", Usage(12, 3), model="served-model")
    (request,) = server.asked
    assert request.path == "/v1/chat/completions"
    assert request.body["model"] == "a/model"
    keys = {n: v for n, v in request.headers.items() if n in ("authorization", "api-key")}
    assert keys == (dict([header]) if header else {})
    assert "s3cret" not in (tmp_path / "c.jsonl").read_text("utf-8")


@pytest.mark.parametrize("name", [name for name, (_, variable, _) in PRESETS.items() if variable])
def test_without_its_key_nobody_is_asked(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, variable, _ = PRESETS[name]
    monkeypatch.delenv(variable, raising=False)
    table = {"base_url": "https://mine.openai.azure.com/openai/v1"} if name == "azure" else {}
    judge = declared_judge("mine", provider=name, model="m", **table)
    with pytest.raises(JudgeError, match=variable):
        asked(judge, tmp_path / "c.jsonl")


def test_llama_cpp_is_asked_for_what_the_model_says_and_nothing_else(tmp_path: Path) -> None:
    with endpoint(plays((200, completion("A")))) as server:
        asked(judge_at(server, "llamacpp"), tmp_path / "c.jsonl")
        asked(judge_at(server, "llamacpp", top_p=0.9), tmp_path / "d.jsonl")
        asked(judge_at(server, "vllm"), tmp_path / "e.jsonl")
    neutral = {
        "top_k": 0,
        "top_p": 1,
        "min_p": 0,
        "cache_prompt": False,
        "repeat_penalty": 1,
        "presence_penalty": 0,
        "frequency_penalty": 0,
    }
    given, cut, vllm = (request.body for request in server.asked)
    assert {name: given.get(name) for name in neutral} == neutral
    assert {name: cut.get(name) for name in neutral} == neutral | {"top_p": 0.9}
    assert not set(neutral) & set(vllm)  # it takes no words that OpenAI does not know


AZURE_FILTER = {
    "error": {
        "message": "The response was filtered due to the prompt triggering Azure OpenAI's content "
        "management policy.",
        "type": None,
        "param": "prompt",
        "code": "content_filter",
        "status": 400,
        "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
    }
}
VLLM_GONE = {
    "object": "error",
    "message": "The model `a/model` does not exist.",
    "type": "NotFoundError",
    "param": None,
    "code": 404,
}
OLLAMA_GONE = {
    "error": {
        "message": 'model "a/model" not found, try pulling it first',
        "type": "api_error",
        "param": None,
        "code": None,
    }
}
LLAMACPP_LONG = {
    "error": {
        "code": 400,
        "message": "the request exceeds the available context size, try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 9000,
        "n_ctx": 4096,
    }
}


# What ends a judge that never answered (404, 403, 402) is raised, and what fails one trial is said.
@pytest.mark.parametrize(
    ("name", "status", "body", "said"),
    [
        ("azure", 400, AZURE_FILTER, "HTTP 400: The response was filtered"),
        ("azure", 404, {"error": {"code": "DeploymentNotFound", "message": "no such"}}, "no such"),
        ("ollama", 404, OLLAMA_GONE, 'HTTP 404: model "a/model" not found'),
        ("ollama", 404, {"error": "model 'm' not found"}, "HTTP 404: model 'm' not found"),
        ("vllm", 404, VLLM_GONE, "HTTP 404: The model `a/model` does not exist."),
        ("vllm", 422, {"detail": [{"msg": "Field required"}]}, "HTTP 422: .*Field required"),
        ("llamacpp", 400, LLAMACPP_LONG, "HTTP 400: the request exceeds the available context"),
        ("openrouter", 402, {"error": {"code": 402, "message": "Insufficient credits"}}, "credits"),
        ("bedrock", 403, {"Message": "Authentication failed"}, "HTTP 403: Authentication failed"),
        ("bedrock", 400, {"message": "The model ID is invalid."}, "HTTP 400: The model ID"),
    ],
)
def test_what_is_wrong_is_said_in_the_words_of_the_endpoint(
    name: str, status: int, body: Any, said: str, tmp_path: Path
) -> None:
    with endpoint(plays((status, body))) as server:
        judge = judge_at(server, name)
        if status in (400, 422):
            reply = asked(judge, tmp_path / "c.jsonl").reply
            assert isinstance(reply, Failed)
            with pytest.raises(AssertionError, match=said):
                raise AssertionError(reply.reason)
        else:
            with pytest.raises(JudgeError, match=said):
                asked(judge, tmp_path / "c.jsonl")
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("azure", (429, {"error": {"code": "429", "message": "slow"}}, {"retry-after-ms": "20"})),
        ("llamacpp", (503, {"error": {"code": 503, "message": "Loading model"}})),
        ("ollama", (503, {"error": "server busy, please try again"})),
        ("vllm", (500, {"object": "error", "message": "EngineCore died", "code": 500})),
        ("bedrock", (429, {"message": "Too many tokens, please wait before trying again."})),
        ("openrouter", (200, {"error": {"code": 502, "message": "Provider returned error"}})),
        (
            "openrouter",
            (
                200,
                {
                    "choices": [
                        {
                            "error": {"code": 502, "message": "Upstream broke off"},
                            "finish_reason": "error",
                            "message": {"role": "assistant", "content": ""},
                        }
                    ]
                },
            ),
        ),
    ],
)
def test_a_fault_that_may_pass_is_asked_again(name: str, first: Any, tmp_path: Path) -> None:
    with endpoint(plays(first, (200, completion("B")))) as server:
        answer = asked(judge_at(server, name), tmp_path / "c.jsonl")
    assert isinstance(answer.reply, Reply)
    assert (answer.reply.text, answer.retried, len(server.asked)) == ("B", 1, 2)


def test_an_error_within_a_choice_is_no_empty_reply(tmp_path: Path) -> None:
    broken = completion("", "error")
    broken["choices"][0]["error"] = {"code": 502, "message": "Upstream broke off"}
    with endpoint(plays((200, broken))) as server:
        reply = asked(judge_at(server, "openrouter", max_retries=0), tmp_path / "c.jsonl").reply
    assert reply == Failed("the endpoint reports an error: Upstream broke off")


def test_blanks_before_the_body_keep_a_connection_and_mean_nothing(tmp_path: Path) -> None:
    body = "\n         \n" * 40 + json.dumps(completion("A", provider="Some Upstream"))
    with endpoint(plays((200, body))) as server:
        answer = asked(judge_at(server, "openrouter"), tmp_path / "c.jsonl")
    assert answer.reply == Reply("A", Usage(12, 3), model="served-model")


def test_bedrock_is_asked_in_the_region_of_the_environment_and_replays_in_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judge = judge_from_name("bedrock:openai.gpt-oss-20b-1:0")
    url = "https://bedrock-runtime.{}.amazonaws.com/openai/v1"
    assert base_url_of(judge) == url.format("us-east-1")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    assert base_url_of(judge) == url.format("eu-west-1")
    monkeypatch.setenv("AWS_REGION", "us-west-2")  # which counts first, as with AWS's own clients
    assert unasked_endpoint(judge).base_url == url.format("us-west-2")
    same = {
        normal_url(url.format(region)) for region in ("us-east-1", "eu-west-1", "us-gov-west-1")
    }
    assert len(same) == 1
    other = (
        "https://bedrock-runtime.evil.example/openai/v1",
        "https://bedrock.us-east-1.amazonaws.com/",
    )
    assert [normal_url(one) for one in other] == list(other)


OWN = "https://bedrock-runtime.ap-south-1.amazonaws.com/openai/v1"


@pytest.mark.parametrize(
    ("name", "url", "allowed"),
    [
        ("azure", "https://mine.openai.azure.com/openai/v1", True),
        ("azure", "https://mine.openai.azure.com.evil.example/openai/v1", False),
        ("azure", "https://a.b.openai.azure.com/openai/v1", False),
        ("azure", "http://mine.openai.azure.com/openai/v1", False),
        ("azure", "https://mine.openai.azure.com:8443/openai/v1", False),
        ("azure", OWN, False),
        ("bedrock", OWN, True),
        ("bedrock", "https://bedrock-runtime.amazonaws.com/openai/v1", False),
        ("bedrock", "https://x.execute-api.us-east-1.amazonaws.com/openai/v1", False),
        ("openrouter", "https://openrouter.ai/api/v1", True),
        ("openrouter", "https://openrouter.example/api/v1", False),
        ("openai", "https://mine.openai.azure.com/openai/v1", False),
        ("ollama", "http://127.0.0.1:9999/v1", True),
        ("ollama", "https://ollama.example/v1", False),
        ("vllm", OWN, False),
    ],
)
def test_a_key_goes_to_the_hosts_of_its_provider_alone(
    name: str, url: str, allowed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUDGESENSE_ALLOW_HOSTS", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    judge = declared_judge("mine", provider=name, model="m", base_url=url)
    trust = Trust.of(tmp_path, ())
    if allowed:
        trust.refuse_host(judge, url, key_of(judge)[0])
    else:
        with pytest.raises(SendingRefused, match="its host is not that of its key's provider"):
            trust.refuse_host(judge, url, key_of(judge)[0])
