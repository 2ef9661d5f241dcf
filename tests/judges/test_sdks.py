"""The SDKs of providers as they are: recorded with a key, replayed on a machine that has none.

Each judge makes its client while its module is imported, as most code does, against an endpoint on
127.0.0.1 that is gone when it is replayed. `.ci/full` installs the SDKs that the gate does not.
"""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from pytest_judgesense.cassettes.credentials import PLACEHOLDER
from tests import processes
from tests.judges.endpoint import Endpoint, endpoint
from tests.judges.provider import chat_of, message_of
from tests.plugin.project import TRIALS, even, parity_suite


class Sdk(NamedTuple):
    """A package, the variable of its key, and a judge upon it; ``{url}`` is the endpoint."""

    package: str
    key: str
    code: str


_CHAT: Final = """
def judge(messages):
    answer = client.chat.completions.create(model="m-1", messages=messages)
    return answer.choices[0].message.content
"""
SDKS: Final = (
    Sdk(
        "openai",
        "OPENAI_API_KEY",
        'import openai\nclient = openai.OpenAI(base_url="{url}/v1")\n' + _CHAT,
    ),
    Sdk(
        "anthropic",
        "ANTHROPIC_API_KEY",
        """
import anthropic
client = anthropic.Anthropic(base_url="{url}")
def judge(messages):
    answer = client.messages.create(model="m-1", max_tokens=16, messages=messages)
    return answer.content[0].text
""",
    ),
    Sdk(
        "litellm",
        "OPENAI_API_KEY",
        """
import litellm
def judge(messages):
    answer = litellm.completion(model="openai/m-1", api_base="{url}/v1", messages=messages)
    return answer.choices[0].message.content
""",
    ),
    Sdk(
        "mistralai",
        "MISTRAL_API_KEY",
        """
import os
try:
    from mistralai.client import Mistral
except ImportError:  # before version 2
    from mistralai import Mistral
client = Mistral(server_url="{url}", api_key=os.environ["MISTRAL_API_KEY"])
def judge(messages):
    return client.chat.complete(model="m-1", messages=messages).choices[0].message.content
""",
    ),
    Sdk(
        "google.genai",
        "GEMINI_API_KEY",
        """
from google import genai
client = genai.Client(http_options=genai.types.HttpOptions(base_url="{url}"))
def judge(messages):
    return client.models.generate_content(model="m-1", contents=messages[-1]["content"]).text
""",
    ),
    Sdk(
        "cohere",
        "CO_API_KEY",
        """
import cohere
client = cohere.ClientV2(base_url="{url}")
def judge(messages):
    return client.chat(model="m-1", messages=messages).message.content[0].text
""",
    ),
)


def _answer(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """What a provider answers, each in its own form: all of 10 tokens asked and 1 replied."""
    if path.endswith(":generateContent"):
        parts = [{"text": even(body["contents"][-1]["parts"][-1]["text"])}]
        content = {"role": "model", "parts": parts}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 1, "totalTokenCount": 11}
        candidates = [{"content": content, "finishReason": "STOP", "index": 0}]
        return {"candidates": candidates, "usageMetadata": usage, "modelVersion": "served"}
    text = even(str(body["messages"][-1]["content"]))
    if path.endswith("/v2/chat"):
        message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
        tokens = {"tokens": {"input_tokens": 10, "output_tokens": 1}}
        return {"id": "1", "message": message, "finish_reason": "COMPLETE", "usage": tokens}
    if path.endswith("/v1/messages"):
        return message_of(text) | {"usage": {"input_tokens": 10, "output_tokens": 1}}
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    return chat_of(text) | {"usage": usage}


def _script(path: str, body: dict[str, Any]) -> tuple[int, str, bytes]:
    """All of the providers at one address."""
    answer = _answer(path.partition("?")[0], body)
    return 200, "application/json", json.dumps(answer).encode()


def keys_of(served: Endpoint) -> list[str]:
    """The credentials that have reached it, one a request."""
    names = ("authorization", "x-api-key", "x-goog-api-key")
    given = (next(filter(None, map(asked.headers.get, names)), "") for asked in served.asked)
    return [key.removeprefix("Bearer ") for key in given]


# Beside the suite: whoever else runs in the session reads the environment as it is.
BESIDE = """
import os, threading

def test_nobody_else_sees_a_placeholder(judge_datasheet):
    assert judge_datasheet("jss", suite="parity.suite.toml").value == 1.0
    assert "{placeholder}" not in "".join(map(str, map(os.environ.get, {names})))
    assert "{placeholder}" not in "".join(os.environ.values())
"""
KEY: Final = "own-0123456789abcdef0123456789abcdef"


def pytest_in(folder: Path, environment: dict[str, str], *arguments: str) -> Any:
    return processes.run(
        "pytest",
        *arguments,
        cwd=folder,
        environment=environment,
        merged=True,
        plugins=processes.PLUGINS[:1],
    )


def keyless() -> dict[str, str]:
    """The environment without any provider's key, and without the network while litellm loads."""
    without = ("_API_KEY", "_BASE_URL", "_API_BASE")
    kept = {name: value for name, value in os.environ.items() if not name.endswith(without)}
    return kept | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}


def project(folder: Path, code: str, table: str = "") -> None:
    (folder / "graders.py").write_text(code)
    (folder / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "graders:judge"\n' + table
    )
    parity_suite(folder)


# Each takes seconds to import; in the gate test_any_client.py records and replays the others.
@pytest.mark.parametrize(
    "sdk",
    [
        pytest.param(sdk, id=sdk.package, marks=() if sdk.package == "openai" else pytest.mark.long)
        for sdk in SDKS
    ],
)
def test_an_sdk_is_recorded_with_a_key_and_replayed_without(sdk: Sdk, tmp_path: Path) -> None:
    try:
        found = importlib.util.find_spec(sdk.package)
    except ModuleNotFoundError:  # of the package that it is part of
        found = None
    if found is None:
        pytest.skip(f"{sdk.package} is not installed")
    names = [other.key for other in SDKS]
    beside = BESIDE.replace("{placeholder}", PLACEHOLDER).replace("{names}", repr(names))
    (tmp_path / "test_beside.py").write_text(beside)

    with endpoint(_script) as served:
        project(tmp_path, sdk.code.replace("{url}", served.url.removesuffix("/v1")))
        recorded = pytest_in(
            tmp_path, keyless() | {sdk.key: KEY}, "parity.suite.toml", "--judge-mode", "record"
        )
    assert recorded.returncode == 0, recorded.stdout
    # The user's own key, and no other.
    assert keys_of(served) == [KEY] * TRIALS
    cassette = (tmp_path / "cassettes" / "mine" / "parity.jsonl").read_text()
    assert KEY not in cassette

    replayed = pytest_in(tmp_path, keyless(), "parity.suite.toml", "test_beside.py")
    assert replayed.returncode == 0, replayed.stdout
    assert "2 passed" in replayed.stdout
    # The tokens are those of the recorded answers: 18 of 10 and 1.
    assert f"0 made, {TRIALS} replayed, {11 * TRIALS} tokens" in replayed.stdout
    assert PLACEHOLDER not in replayed.stdout


AZURE: Final = """
import openai
client = openai.AzureOpenAI(
    azure_endpoint="{url}", api_version="2024-10-21", azure_deployment="m-1"
)
"""


def test_a_key_that_is_not_stood_in_for_is_one_usage_error_of_four_lines(
    tmp_path: Path,
) -> None:
    name = "AZURE_OPENAI_API_KEY"
    with endpoint(_script) as served:
        project(tmp_path, AZURE.replace("{url}", served.url.removesuffix("/v1")) + _CHAT)
        parity_suite(tmp_path, checks="jss_floor = 0.8\nflip_rate_bound = 0.2")
        recorded = pytest_in(
            tmp_path, keyless() | {name: KEY}, "parity.suite.toml", "--judge-mode", "record"
        )
    assert recorded.returncode == 0, recorded.stdout
    lines = pytest_in(tmp_path, keyless(), "parity.suite.toml", "-q").stdout.splitlines()
    start = next(n for n, line in enumerate(lines) if "cannot be imported: its module" in line)
    assert [line.split()[0] for line in lines[start + 1 : start + 4]] == [
        "found:",
        "expected:",
        "remedy:",
    ]
    assert name in lines[start + 1]
    assert "Traceback" not in "\n".join(lines)
    assert sum("found:" in line for line in lines) == 1  # of two checks, told once
    # With the titles, "as for" below the second, and a line for each check.
    assert len(lines) == 15, "\n".join(lines)  # with the titles and a line for each check
