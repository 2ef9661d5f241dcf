"""Messages of Gemini and LangChain, as their packages write them, are the same conversation."""

from __future__ import annotations

import pytest

from pytest_judgesense.files.messages import messages_of_chat, text_of_chat

TEXT = """\
[1] user
> Where?
[2] assistant
> I look.
[2] assistant calls find (call 1)
> {"id": 17}
[3] tool find returns (call 1)
> {"place": "Lyon"}
[4] assistant
> In Lyon."""
RESPONSE = {"name": "find", "response": {"place": "Lyon"}}
# `types.Content.model_dump_json(by_alias=True, exclude_none=True)` of google-genai 3.6.1.
GEMINI = [
    {"role": "user", "parts": [{"text": "Where?"}]},
    {
        "role": "model",
        "parts": [
            {"text": "He asks for a parcel.", "thought": True},
            {"text": "I look."},
            {"functionCall": {"args": {"id": 17}, "name": "find"}},
        ],
    },
    {"role": "user", "parts": [{"functionResponse": RESPONSE}]},
    {"role": "model", "parts": [{"text": "In Lyon."}]},
]
# `model_dump(mode="json")` of the same, and of fields that are null one or two.
GEMINI_IN_PYTHON = [
    {"role": "user", "parts": [{"text": "Where?", "thought": None}]},
    {
        "role": "model",
        "parts": [
            {"text": "He asks for a parcel.", "thought": True},
            {"text": "I look.", "function_call": None},
            {"text": None, "function_call": {"id": None, "args": {"id": 17}, "name": "find"}},
        ],
    },
    {"role": "user", "parts": [{"text": None, "function_response": {"id": None, **RESPONSE}}]},
    {"role": "model", "parts": [{"text": "In Lyon.", "thought": None}]},
]
# `model_dump()` of langchain-core 1.8.3; of Anthropic a call stands in the content as well.
LANGCHAIN = [
    {"content": "Where?", "additional_kwargs": {}, "type": "human", "name": None, "id": None},
    {
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "find", "input": {"id": 17}},
        ],
        "type": "ai",
        "tool_calls": [{"name": "find", "args": {"id": 17}, "id": "t1", "type": "tool_call"}],
        "invalid_tool_calls": [],
    },
    {
        "content": '{"place": "Lyon"}',
        "type": "tool",
        "name": "find",
        "tool_call_id": "t1",
        "status": "success",
    },
    {"content": "In Lyon.", "type": "ai", "tool_calls": [], "usage_metadata": None},
]
# `messages_to_dict`, and `dumpd` of the same.
BELOW_DATA = [{"type": message["type"], "data": message} for message in LANGCHAIN]
BELOW_KWARGS = [
    {"lc": 1, "type": "constructor", "id": ["langchain"], "kwargs": message}
    for message in LANGCHAIN
]


@pytest.mark.parametrize(
    "messages", [GEMINI, GEMINI_IN_PYTHON, LANGCHAIN, BELOW_DATA, BELOW_KWARGS]
)
def test_every_form_is_the_same_conversation(messages: object) -> None:
    assert text_of_chat(messages) == TEXT


def test_code_that_gemini_runs_and_files_are_told() -> None:
    image = {"mimeType": "image/png", "data": "aGk="}
    parts = [
        {"inlineData": image},
        {"executableCode": {"language": "PYTHON", "code": "1/0"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "ZeroDivisionError"}},
    ]
    (message, result) = messages_of_chat([{"role": "model", "parts": parts}])
    assert [held.kind for held in message.attachments] == ["image/png"]
    assert [(call.function, call.arguments) for call in message.calls] == [
        ("code_execution", "1/0")
    ]
    assert (result.text, result.answers, result.has_failed) == ("ZeroDivisionError", 1, True)


def test_a_tool_of_langchain_that_failed_has_failed() -> None:
    failed = {"content": "no", "type": "tool", "name": "find", "status": "error"}
    assert text_of_chat([failed]) == "[1] tool find fails\n> no"
