"""Conversations of 300 messages with tools: imported, made a suite, asked, recorded, replayed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import pytest_judgesense
from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.conversation import messages_in
from pytest_judgesense.questions.init.by_score import connected_or_score
from pytest_judgesense.questions.init.from_function import Connection, items_of
from pytest_judgesense.questions.init.suite_file import FunctionOptions
from tests.long_conversations import FORGED, Chat, inspect_log, openai_chat
from tests.suites.known import load_suite

PROMPT = "<conversation>\n{{conversation}}\n</conversation>\nWas it found? Answer YES or NO.\n"
NUMBER = 4


def _log_of(folder: Path, form: str) -> Path:
    """A foreign file of judgments, in a form."""
    if form == "inspect":
        path = folder / "agents.json"
        path.write_text(json.dumps(inspect_log(NUMBER)), encoding="utf-8")
        return path
    path = folder / "agents.jsonl"
    words = ("YES", "NO")
    rows = [
        {
            "id": f"i{seed}",
            "messages": openai_chat(seed=seed),
            "verdict": words[seed % 2],
            "gold": words[seed % 2],
            "judge": "m",
        }
        for seed in range(NUMBER)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["inspect", "openai"])
def test_long_conversations_are_imported_asked_recorded_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.chdir(tmp_path)
    log, prompt = _log_of(tmp_path, form), tmp_path / "prompt.txt"
    prompt.write_text(PROMPT, encoding="utf-8")
    label = ["--label", "checked"] if form == "inspect" else []
    assert main(["import", str(log), "-o", "log.jsonl", *label]) == 0
    assert main(["init", "--from-log", "log.jsonl", "--template", str(prompt)]) == 0
    suite = load_suite(tmp_path / "suites" / "agents" / "agents.suite.toml")
    assert suite.messages == ("conversation",)
    for item in suite.items:
        messages = messages_in(item.fields["conversation"]) or ()
        assert len(messages) == 300
        assert messages[-1].text == FORGED
        assert sum(len(message.calls) for message in messages) == 100
    recorded = pytest_judgesense.measure("embedded:clean", suite, mode="record", cassettes="c")
    replayed = pytest_judgesense.measure("embedded:clean", suite, cassettes="c")
    # Each item under three wordings, three times.
    assert recorded.judges[0].calls.made == replayed.judges[0].calls.replayed == 36
    assert recorded.estimates == replayed.estimates


def test_both_forms_are_the_same_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts: dict[str, list[str]] = {}
    for form in ("inspect", "openai"):
        main(["import", str(_log_of(tmp_path, form)), "-o", f"{form}.jsonl"])
        lines = Path(f"{form}.jsonl").read_text(encoding="utf-8").splitlines()
        texts[form] = [json.loads(line)["source"]["fields"]["conversation"] for line in lines]
    assert texts["inspect"] == texts["openai"]


def test_samples_of_a_question_and_an_answer_have_no_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither has one whose messages are wrong, which is told."""
    monkeypatch.chdir(tmp_path)
    log = inspect_log(3, 6)
    log["samples"][0]["messages"] = [
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "content": "In Lyon."},
    ]
    log["samples"][1]["messages"][2]["role"] = "robot"
    Path("agents.json").write_text(json.dumps(log), encoding="utf-8")
    assert main(["import", "agents.json", "-o", "log.jsonl"]) == 0
    lines = Path("log.jsonl").read_text(encoding="utf-8").splitlines()
    assert ["conversation" in json.loads(line)["source"]["fields"] for line in sorted(lines)] == [
        False,
        False,
        True,
    ]
    told = capsys.readouterr()
    assert 'conversations left out: 1; agents.json, sample 2: message 3: the role "robot"' in (
        told.out + told.err
    )


def found(conversation: Chat, criterion: str) -> str:
    """A judge in code, as it takes what it judges."""
    return "YES" if criterion in json.dumps(conversation) else "NO"


def _connected(folder: Path, rows: list[dict[str, Any]]) -> Connection:
    items = folder / "items.jsonl"
    items.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    options = FunctionOptions(function="judges:found", items=items, map=(("conversation", "chat"),))
    connection = connected_or_score(found, items_of(options), options)
    assert isinstance(connection, Connection)
    return connection


def test_a_function_is_connected_with_a_column_of_messages(tmp_path: Path) -> None:
    words = ("YES", "NO")
    rows = [
        {"chat": openai_chat(6, n), "criterion": "Lyon", "label": words[n % 2]} for n in range(4)
    ]
    connection = _connected(tmp_path, rows)
    assert "conversation is column chat, a conversation" in connection.recognised()
    text = connection.suite_text("own", "items.jsonl", "judges:found")
    (tmp_path / "own.suite.toml").write_text(text, encoding="utf-8")
    suite = load_suite(tmp_path / "own.suite.toml")
    assert suite.messages == ("conversation",)
    assert len(messages_in(suite.items[0].fields["conversation"]) or ()) == 6
    rows[1]["chat"] = [{"role": "robot"}]
    with pytest.raises(UsageError, match="has a list in chat") as raised:
        _connected(tmp_path, rows)
    assert "a list of chat messages in every row" in raised.value.expected
