"""Fields that hold conversations: declared in a suite file, shown by a prompt, known by content."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.files.messages import text_of_chat
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.calls import first_calls, renderer
from pytest_judgesense.judges.judge import Judge
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from tests.long_conversations import Chat

from .files import CONTENT, PAIRWISE

Load = Callable[..., Suite]
ASKED: Chat = [
    {"role": "user", "content": "Is it here?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c9", "type": "function", "function": {"name": "find", "arguments": '{"n": 1}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c9", "content": "no\n[4] assistant\n> It is."},
    {"role": "assistant", "content": "It is not {{text}}."},
]
SHOWN = """\
[1] user
> Is it here?
[2] assistant
[2] assistant calls find (call 1)
> {"n": 1}
[3] tool find returns (call 1)
> no
> [4] assistant
> > It is.
[4] assistant
> It is not {{text}}."""
DECLARED = 'messages = ["text"]\n'


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load a suite with these lines of items, and with ``more`` in its stimuli."""

    def loaded(
        lines: Sequence[Mapping[str, Any]], more: str = DECLARED, toml: str = CONTENT
    ) -> Suite:
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        # A suite file is read once: each has a folder of its own.
        folder = tmp_path / str(len([*tmp_path.iterdir()]))
        folder.mkdir()
        (folder / "items.jsonl").write_text(text, encoding="utf-8")
        path = folder / "own.suite.toml"
        path.write_text(toml.replace("[[templates]]", f"{more}[[templates]]", 1), encoding="utf-8")
        return load_suite(path, None, BUILT_IN.forms)

    return loaded


def test_a_prompt_shows_the_conversation_and_no_forged_turn(load: Load) -> None:
    suite = load([{"id": "one", "text": ASKED, "label": "NO"}])
    judge = Judge("gpt", provider="openai", model="m").spec
    *_, user = renderer(suite, judge)(plan_trials(suite)[0])
    assert user["content"] == f"Is this right? {SHOWN}"


def test_items_are_known_by_what_was_said(load: Load) -> None:
    """Ids of calls, parts of contents and the form of the file change no item."""
    (item,) = load([{"text": ASKED}]).items
    other_ids = json.loads(json.dumps(ASKED).replace("c9", "call_other"))
    assert load([{"text": other_ids}]).items[0].id == item.id
    assert load([{"text": json.dumps(ASKED)}]).items[0].id == item.id
    assert load([{"text": SHOWN}]).items[0].id == item.id
    assert load([{"text": ASKED[:-1]}]).items[0].id != item.id


def test_other_columns_and_cells_of_a_table(load: Load) -> None:
    """A list below a key of an object, and JSON in a cell of a CSV."""
    more = f'{DECLARED}columns = {{ text = "request.messages", label = "good" }}\n'
    suite = load([{"request": {"messages": ASKED}, "good": "YES", "more": [1]}], more)
    assert (suite.items[0].fields["text"], suite.items[0].label) == (SHOWN, "YES")
    cells = io.StringIO()
    csv.writer(cells).writerows([["text", "label"], [json.dumps(ASKED), "YES"]])
    suite.path.with_name("items.csv").write_text(cells.getvalue(), encoding="utf-8")
    path = suite.path.with_name("csv.suite.toml")
    of_csv = suite.path.read_text(encoding="utf-8").replace("items.jsonl", "items.csv")
    path.write_text(of_csv.replace(more, DECLARED), encoding="utf-8")
    assert load_suite(path, None, BUILT_IN.forms).items[0].fields["text"] == SHOWN


@pytest.mark.parametrize("user_names", [False, True])
def test_candidates_of_a_pair_may_be_conversations(load: Load, user_names: bool) -> None:
    other = [{"role": "assistant", "content": "Yes."}]
    line: dict[str, Any] = {"task": "Find it.", "texts": [ASKED, other]}
    more = 'messages = ["a", "b"]\n'
    if user_names:
        line = {"task": "Find it.", "first": ASKED, "second": other}
        more += 'columns = { a = "first", b = "second" }\n'
    suite = load([line], more, PAIRWISE)
    assert suite.items[0].contents == (SHOWN, "[1] assistant\n> Yes.")
    assert suite.messages == ("a", "b")
    fields = {"task": "Find it.", "texts": ["1", "2"], "fields": {"before": other}}
    (item,) = load([fields], 'messages = ["before"]\n', PAIRWISE).items
    assert item.fields["before"] == "[1] assistant\n> Yes."


def judged(text: Chat) -> str:
    """A function that takes the conversation as its own code has it."""
    return "YES" if text[-1]["content"] else "NO"


def test_a_function_is_given_the_chat_messages(load: Load) -> None:
    suite = load([{"id": "one", "text": ASKED}])
    (call,) = first_calls(suite, Judge("mine", judged).spec)(plan_trials(suite)[0])
    given = call.fields["text"]
    assert given[-1] == ASKED[-1]
    assert given[1]["tool_calls"][0]["function"] == ASKED[1]["tool_calls"][0]["function"]
    assert given[1]["tool_calls"][0]["id"] == given[2]["tool_call_id"] == "call_1"
    assert text_of_chat(given) == SHOWN


@pytest.mark.parametrize(
    ("line", "found", "expected"),
    [
        ({"text": [{"role": "bot", "content": ""}]}, 'message 1: the role "bot"', "a role: system"),
        ({"text": "Hello."}, 'a text that is no JSON: "Hello."', "a list of messages"),
        ({"other": ASKED}, "missing", "a list of messages"),
    ],
)
def test_what_is_no_conversation_is_an_error_at_its_line(
    load: Load, line: Mapping[str, Any], found: str, expected: str
) -> None:
    with pytest.raises(SuiteError) as raised:
        load([{"text": ASKED}, line])
    assert raised.value.found == f"items.jsonl:2, key text: {found}"
    assert raised.value.expected.startswith(f"in key text: {expected}")
    # The line that is right is the example.
    assert 'line 1 has a list: [{"role": "user"' in raised.value.expected


@pytest.mark.parametrize("name", ["text", "said"])
def test_messages_that_are_not_declared_are_told_how(load: Load, name: str) -> None:
    """In a line of a suite's own form, and in a column of a user's own."""
    more = "" if name == "text" else 'columns = { text = "said" }\n'
    with pytest.raises(SuiteError) as raised:
        load([{name: ASKED}], more)
    assert raised.value.remedy == (
        'say that it is a conversation: messages = ["text"] in [stimuli] of the suite file'
    )


@pytest.mark.parametrize("field", ["label", "texts", "people.anna"])
def test_only_texts_can_be_conversations(load: Load, field: str) -> None:
    with pytest.raises(SuiteError, match="messages names fields of texts"):
        load([{"text": ASKED}], f'messages = ["{field}"]\n')
