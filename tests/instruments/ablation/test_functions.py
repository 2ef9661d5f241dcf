"""Functions whose prompt is taken apart: given by a template or messages, and in their own code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_judgesense import measure
from pytest_judgesense.errors import UsageError
from tests import processes
from tests.instruments.ablation import project
from tests.instruments.ablation.project import N
from tests.plugin.project import ChatServer

_MODULE = """
import httpx
from openai import OpenAI

PROMPT = '''Care for evens.

Text: {{text}}
Reply YES or NO.'''
SYSTEM = "You judge numbers. Be kind."
# Nobody closes it.
client = httpx.Client(limits=httpx.Limits(max_keepalive_connections=0))

def _post(messages):
    body = {{"model": "m-1", "messages": messages}}
    reply = client.post("{url}/chat/completions", json=body).json()
    return reply["choices"][0]["message"]["content"]

def templated(text, template):
    return _post([{{"role": "user", "content": template.replace("{{{{text}}}}", text)}}])

def talking(messages):
    return _post(messages)

def own(text):
    user = PROMPT.format(text=text)
    return _post([{{"role": "system", "content": SYSTEM}}, {{"role": "user", "content": user}}])

def with_sdk(text):
    sdk = OpenAI(base_url="{url}", api_key="sk-own-0123456789abcdef", max_retries=0)
    user = PROMPT.format(text=text)
    messages = [{{"role": "system", "content": SYSTEM}}, {{"role": "user", "content": user}}]
    reply = sdk.chat.completions.create(model="m-1", messages=messages)
    return reply.choices[0].message.content

def by_id(text, template_id):
    return own(text)

def silent(text):
    return "YES"
"""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    served = ChatServer()
    served.reply = project.reply
    yield served
    served.close()


@pytest.fixture
def folder(tmp_path: Path, server: ChatServer) -> Path:
    project.write_suite(tmp_path)
    (tmp_path / "grader.py").write_text(_MODULE.format(url=server.base_url), encoding="utf-8")
    (tmp_path / "sentences.suite.toml").write_text(project.ABLATION, encoding="utf-8")
    return tmp_path


def declare(folder: Path, function: str) -> None:
    table = f'provider = "callable"\nmodel = "grader:{function}"\nconcurrency = 8'
    project.declare(folder, table)


def leave_out(folder: Path, *more: str) -> tuple[int, str, str]:
    words = ("why", "texts.suite.toml", "--leave-out", *more)
    done = processes.run("judgesense", *words, cwd=folder)
    return done.returncode, " ".join(done.stdout.split()), " ".join(done.stderr.split())


RECORD = ("--judge-mode", "record")


@pytest.mark.parametrize(
    "function",
    [
        pytest.param("templated", marks=pytest.mark.long),
        pytest.param("talking", marks=pytest.mark.long),
        "own",
        pytest.param("with_sdk", marks=pytest.mark.long),
    ],
)
def test_a_functions_prompt_is_taken_apart_recorded_and_replayed(
    folder: Path, server: ChatServer, function: str
) -> None:
    declare(folder, function)
    if function in ("own", "with_sdk"):
        code, _, error = leave_out(folder, *RECORD)
        assert code == 2
        assert "is in its own code, and is not known" in error
        command = "judgesense record texts.suite.toml --judge-name mine"
        assert f"record the suite first: {command}" in error
        assert processes.run(*command.split(), cwd=folder).returncode == 0
        assert len(server.asked) == N
        server.forget()
    code, shown, error = leave_out(folder, *RECORD)
    assert code == 0, error
    # A function of the template is given no system prompt: its sentences do nothing.
    # Two sentences a second time, and three times without the two others.
    assert len(server.asked) == N * (6 + 4) + 2 * N + 3 * N
    assert "s03 | Care for evens. | moves 50% of verdicts [" in shown
    assert "s04 | Reply YES or NO. | holds the form: 100% unparsed without it" in shown
    assert "s02 | Be kind. | no effect noticed" in shown
    server.close()
    code, replayed, error = leave_out(folder)
    assert code == 0, error
    tail = "of 4 sentences noticed"
    assert replayed.partition(tail)[2] == shown.partition(tail)[2]


def test_a_suite_file_names_the_command_to_a_function_with_its_own_prompt(
    folder: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    declare(folder, "own")
    with pytest.raises(UsageError) as refused:
        measure("mine", Path("sentences.suite.toml"), mode="record")
    words = " ".join(str(refused.value).split())
    assert "that of judge 'mine' is in its own code" in words
    assert "own(text), the same call for each of them" in words
    assert "judgesense why texts --leave-out --judge-name mine" in words
    assert server.asked == []


@pytest.mark.parametrize(
    ("function", "error"),
    [
        ("by_id", "which chooses a prompt by template_id"),
        pytest.param("silent", "recorded on texts by what it returned", marks=pytest.mark.long),
    ],
)
def test_a_prompt_that_no_request_shows_is_refused(
    folder: Path, server: ChatServer, function: str, error: str
) -> None:
    declare(folder, function)
    recorded = ("record", "texts.suite.toml", "--judge-name", "mine")
    assert processes.run("judgesense", *recorded, cwd=folder).returncode == 0
    asked = len(server.asked)
    code, _, told = leave_out(folder, *RECORD)
    assert code == 2
    assert error in told
    assert "give it a parameter template" in told
    assert len(server.asked) == asked
