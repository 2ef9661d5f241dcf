"""Messages of Gemini and LangChain, in the forms that `pytest_judgesense.files.messages` reads.

Gemini has the parts of a content under ``parts``, without types, and calls the assistant
``model``; its keys are in camel case, and of its Python package in snake case. LangChain has a type
(``human``, ``ai``) in place of a role, beside the content, as its ``model_dump`` writes it, or with
all fields under ``data`` (`messages_to_dict`) or ``kwargs`` (``dumpd``).

Sources: google-genai 3.6.1, ``types.Content`` and ``types.Part``; langchain-core 1.8.3,
``messages/utils.py``, ``messages/tool.py`` and ``load/dump.py``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pytest_judgesense.files.conversation import ASSISTANT, TOOL

_USER: Final = "user"
_OF_GEMINI: Final = {"model": ASSISTANT, _USER: _USER, "function": _USER}
_OF_LANGCHAIN: Final = {
    "human": _USER,
    "HumanMessageChunk": _USER,
    "ai": ASSISTANT,
    "AIMessageChunk": ASSISTANT,
    "system": "system",
    TOOL: TOOL,
}
_CODE: Final = "code_execution"
_CAPITAL: Final = re.compile("(?=[A-Z])")


def in_a_read_form(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message of Gemini or LangChain with role and content; any other as it is."""
    return _of_gemini(entry) if "role" in entry else _of_langchain(entry)


def _of_gemini(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    role, parts = entry["role"], entry.get("parts")
    are_of_gemini = isinstance(parts, list) and all(
        isinstance(part, dict) and "type" not in part for part in parts
    )
    if not are_of_gemini or not isinstance(role, str) or entry.get("content") is not None:
        return entry
    return {"role": _OF_GEMINI.get(role, role), "content": [*map(_part, parts or ())]}


def _part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """A part with its type, as Anthropic has them; one of which nothing is known as it is."""
    stated = _in_snake_case(part)
    if stated.get("thought"):
        return {"type": "thinking"}
    if "text" in stated:
        return {"type": "text", "text": stated["text"]}
    for kind, value in stated.items():
        if isinstance(value, dict) and kind in _KINDS:
            return _KINDS[kind](value)
    return part


def _in_snake_case(value: Mapping[str, Any]) -> dict[str, Any]:
    """What an object states, whether its keys are those of the API or of its Python package."""
    stated = ((key, inner) for key, inner in value.items() if inner is not None)
    return {_CAPITAL.sub("_", key).lower(): inner for key, inner in stated}


def _call(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**value, "type": "tool_use"}


def _response(value: Mapping[str, Any]) -> Mapping[str, Any]:
    stated = {"tool_use_id": value.get("id"), "name": value.get("name")}
    return {**stated, "type": "tool_result", "content": value.get("response")}


def _code(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "tool_use", "name": _CODE, "input": value.get("code")}


def _output_of_code(value: Mapping[str, Any]) -> Mapping[str, Any]:
    has_failed = value.get("outcome") != "OUTCOME_OK"
    stated = {"name": _CODE, "content": value.get("output")}
    return {**stated, "type": "tool_result", "is_error": has_failed}


def _file(value: Mapping[str, Any]) -> Mapping[str, Any]:
    stated = _in_snake_case(value)
    return {**stated, "type": str(stated.get("mime_type", "file"))}


_KINDS: Final = {
    "function_call": _call,
    "function_response": _response,
    "executable_code": _code,
    "code_execution_result": _output_of_code,
    "inline_data": _file,
    "file_data": _file,
}


def _of_langchain(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = (entry[key] for key in ("data", "kwargs") if isinstance(entry.get(key), dict))
    message = next(inner, entry)
    role = _OF_LANGCHAIN.get(str(message.get("type") or entry.get("type")))
    if role is None or "content" not in message:
        return entry
    return {**message, "role": role, "is_error": message.get("status") == "error"}
