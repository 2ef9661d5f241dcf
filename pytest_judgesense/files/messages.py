"""Chat messages as tools and APIs write them, read as the messages of a `conversation`.

Read are the messages of OpenAI's chat completions (``tool_calls``, ``role`` ``tool``, parts of a
content as a list, the older ``function_call``) and of its Responses API (``function_call`` and
other calls, ``function_call_output``), those of Inspect (``tool_calls`` with ``function`` and
``arguments``, the ``error`` of a tool, a ``tool_use`` with its ``result``), and Anthropic's
(``tool_use``, ``tool_result``); `message_forms` puts those of Gemini and LangChain into such forms.
Tools that an API runs itself are calls and results as others are, within one message of the
assistant: what it says before and after a result are two messages.

Reasoning is left out: it is no part of what was said. Parts that are no text, such as images, are
named with their digests. A message of which nothing is read, and which does not say that it says
nothing, is an error: its text may stand where it is not looked for.

Sources: openai-python 3.57.0, ``types/chat/chat_completion_message_param.py`` and
``types/responses/response_input_item_param.py``; inspect_ai 0.3, ``model/_chat_message.py``;
anthropic-sdk-python, ``types/message_param.py``, and ``types/*_tool_result_block.py`` of its tools.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_judgesense.errors import listed
from pytest_judgesense.files.conversation import (
    ASSISTANT,
    ROLES,
    TOOL,
    Attachment,
    Message,
    ToolCall,
    conversation_text,
    messages_in,
)
from pytest_judgesense.files.foreign_results import json_or_none, messages_of
from pytest_judgesense.files.rows import document_of

CONVERSATION: Final = "conversation"
"""What imports call the field of a conversation."""

_FUNCTION: Final = "function"
_TEXTS: Final = ("text", "input_text", "output_text")
_REASONING: Final = ("reasoning", "thinking", "redacted_thinking")
# Items of the Responses API: what calls a tool, of which some hold what it returned; the outputs of
# others; and what nobody says.
_CALLS: Final = (
    *("function_call", "custom_tool_call", "mcp_call", "web_search_call", "file_search_call"),
    *("code_interpreter_call", "shell_call", "apply_patch_call"),
)
_OUTPUTS: Final = tuple(f"{kind}_output" for kind in _CALLS)
_NOT_SAID: Final = (*_REASONING, "mcp_list_tools")
_ARGUMENTS: Final = ("arguments", "args", "input", "action", "queries", "code", "operation")
_RETURNED: Final = ("output", "outputs", "results", "result")
# Parts of a content that call a tool, or are what one returned: also `server_tool_use`,
# `mcp_tool_use`, `web_search_tool_result` and such.
_TOOL_USE: Final = "tool_use"
_TOOL_RESULT: Final = "tool_result"
_AS_OTHER_TOOLS: Final = (_TOOL_RESULT, "mcp_tool_result")
_ANSWERED: Final = ("tool_call_id", "tool_use_id", "call_id")
# Where messages have what is no text beside the content: OpenAI's, OpenRouter's and Ollama's.
_HELD_BESIDE: Final = ("audio", "images")
# Where the text of a message may stand that is in none of these forms.
_ELSEWHERE: Final = ("text", "contents", "parts", "output", "result", "value")
# How keys begin under which no message says anything.
_SAYING_NOTHING: Final = (
    *("role", "content", "tool_calls", "function_call", "annotations", "logprobs"),
    *("usage", "metadata", "response_metadata", "provider", "reasoning", "thinking"),
)
_DRAWN_ANEW: Final = ("id", *_ANSWERED)
_ENVELOPE: Final = "messages"
_DIGITS: Final = 12
_LONGEST_SHOWN: Final = 60
_EXPECTED: Final = (
    'a list of messages: [{"role": "user", "content": "..."}, {"role": "assistant", ...}]'
)


class NoConversation(ValueError):
    """A value is no list of chat messages.

    Attributes:
        found: what is wrong, with the number of the message, from 1.
        expected: what would be right.
    """

    def __init__(self, found: str, expected: str = _EXPECTED) -> None:
        super().__init__(f"{found}; expected {expected}")
        self.found = found
        self.expected = expected


def text_of_chat(value: Any) -> str:
    """The conversation that chat messages are, as a text: see `conversation_text`.

    Args:
        value: the list of messages, an object that has it under ``messages``, the JSON of either,
            or a text that is a conversation already.

    Raises:
        NoConversation: it is none of these, or a message is wrong.
    """
    if isinstance(value, str):
        if messages_in(value) is not None:
            return value
        try:
            value = document_of(value)
        except ValueError as error:
            raise NoConversation(f"a text that is no JSON: {_shown(value)}") from error
    if isinstance(value, dict) and _ENVELOPE in value:
        value = value[_ENVELOPE]
    return conversation_text(messages_of_chat(value))


def messages_of_chat(value: Any) -> tuple[Message, ...]:
    """The messages of a list of them; a `NoConversation` if it is none, or one is wrong."""
    if not isinstance(value, list):
        raise NoConversation(_kind(value))
    reader = _ChatReader()
    for number, entry in enumerate(value, start=1):
        reader.read(f"message {number}", entry)
    if not reader.messages:
        raise NoConversation("no message")
    return tuple(reader.messages)


def text_or_chat(value: Any) -> str | None:
    """Chat messages, or their JSON, as a conversation; a text as it is; ``None`` for others."""
    messages = json_or_none(value) if isinstance(value, str) else value
    try:
        return text_of_chat(messages)
    except NoConversation:
        return value if isinstance(value, str) else None


def last_content(value: Any) -> str | None:
    """What the last of several messages says; a text as it is; ``None`` for others."""
    messages = messages_of(json_or_none(value) if isinstance(value, str) else value)
    if messages is None:
        return value if isinstance(value, str) else None
    return messages[-1]["content"]


def is_chat(value: Any) -> bool:
    """Whether a value is a list of chat messages."""
    try:
        return isinstance(value, list) and bool(messages_of_chat(value))
    except NoConversation:
        return False


def holds_tools(messages: Sequence[Message]) -> bool:
    """Whether a tool is called, or answers."""
    return any(message.role == TOOL or message.calls for message in messages)


@dataclass
class _Draft:
    """What is read of a message, since a tool answered last within it."""

    role: str
    name: str = ""
    texts: list[str] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (self.texts or self.attachments or self.calls)

    def taken(self) -> Message:
        """What was read, as a message; the draft is empty then."""
        text, calls, attachments = "\n".join(self.texts), tuple(self.calls), tuple(self.attachments)
        self.texts, self.calls, self.attachments = [], [], []
        return Message(self.role, text, self.name, calls, attachments=attachments)


class _ChatReader:
    """The messages that were read so far, and the calls in them by their ids."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._by_id: dict[str, ToolCall] = {}
        self._unanswered: list[ToolCall] = []
        self._count = 0

    def read(self, where: str, entry: Any) -> None:
        """Enter a message, or an item of the Responses API."""
        if not isinstance(entry, dict):
            expected = 'an object with role and content: {"role": "user", "content": "..."}'
            raise NoConversation(f"{where} is {_kind(entry)}", expected)
        # Here, for a replay of items without conversations needs no forms of them.
        from pytest_judgesense.files.message_forms import in_a_read_form

        entry = in_a_read_form(entry)
        kind = entry.get("type")
        if "role" in entry:
            self._read_message(where, entry)
        elif kind in _CALLS:
            own_name = str(kind).removesuffix("_call")
            draft = _Draft(ASSISTANT, calls=[self._call(where, {"name": own_name, **entry})])
            self._read_returned(where, entry, draft)
            if not draft.is_empty:
                self.messages.append(draft.taken())
        elif kind in _OUTPUTS:
            self._answer(where, entry, entry.get("output"))
        elif kind not in _NOT_SAID:
            raise _without_role(where, entry)

    def _read_message(self, where: str, entry: Mapping[str, Any]) -> None:
        role = entry["role"]
        if role in (TOOL, _FUNCTION):
            if _is_text_elsewhere(entry):
                raise _without_content(where, entry)
            self._answer(where, entry, entry.get("content"))
            return
        if role not in ROLES:
            raise NoConversation(f"{where}: the role {_shown(role)}", _roles())
        name = entry.get("name")
        draft = _Draft(role, name if isinstance(name, str) else "")
        before, count = len(self.messages), self._count
        for part in _content(where, entry.get("content")):
            self._read_part(where, part, draft)
        if isinstance(refusal := entry.get("refusal"), str):
            draft.texts.append(refusal)
        calls = [call for call in _calls_of(where, entry) if not self._has_read(call, count)]
        draft.calls += [self._call(where, call) for call in calls]
        for part in _parts_under(entry, _HELD_BESIDE):
            if isinstance(transcript := part.get("transcript"), str):
                draft.texts.append(transcript)
            draft.attachments.append(_attachment(where, part))
        if draft.is_empty and len(self.messages) > before:
            return
        if draft.is_empty:
            if "content" not in entry or _is_text_elsewhere(entry):
                raise _without_content(where, entry)
            unread = [key for key in entry if not key.startswith(_SAYING_NOTHING)]
            draft.attachments += [_attachment(where, part) for part in _parts_under(entry, unread)]
        self.messages.append(draft.taken())

    def _has_read(self, call: Any, count: int) -> bool:
        """Whether a call, which some state in the content and beside it, is one since ``count``."""
        numbered = self._by_id.get(str(_id_of(call))) if isinstance(call, dict) else None
        return numbered is not None and numbered.number > count

    def _read_part(self, where: str, part: Mapping[str, Any], draft: _Draft) -> None:
        kind = str(part.get("type"))
        if (text := _text_of_part(part)) is not None:
            draft.texts.append(text)
        elif kind.endswith(_TOOL_USE):
            draft.calls.append(self._call(where, part))
            self._read_returned(where, part, draft)
        elif kind.endswith(_TOOL_RESULT):
            if not draft.is_empty:
                self.messages.append(draft.taken())
            result = _as_of_other_tools(part)
            self._answer(where, result, result.get("content"))
        elif kind not in _REASONING:
            draft.attachments.append(_attachment(where, part))

    def _read_returned(self, where: str, entry: Mapping[str, Any], draft: _Draft) -> None:
        """Enter what a call holds of what it returned, behind the draft with this call."""
        key = next((key for key in _RETURNED if entry.get(key) is not None), None)
        if key is None and not entry.get("error"):
            return
        call = draft.calls[-1]
        self.messages.append(draft.taken())
        self._answer(where, entry, entry.get(key) if key else None, call)

    def _call(self, where: str, call: Any) -> ToolCall:
        """A call of a tool, with the next number."""
        if not isinstance(call, dict):
            raise NoConversation(f"{where}: a tool call that is {_kind(call)}", "an object")
        # OpenAI has the function as an object, Inspect as its name.
        function = call.get(_FUNCTION) or call.get("custom") or call
        inner = function if isinstance(function, dict) else {**call, "name": function}
        name = inner.get("name")
        if not isinstance(name, str) or not name:
            raise NoConversation(f"{where}: a tool call without a name", "the name of its function")
        given = (inner.get(key) for key in _ARGUMENTS if key in inner)
        self._count += 1
        numbered = ToolCall(self._count, name, _as_json(next(given, None)))
        if (id_ := _id_of(call)) is not None:
            self._by_id[str(id_)] = numbered
        self._unanswered.append(numbered)
        return numbered

    def _answered(self, stated: str | None, name: str) -> ToolCall | None:
        """The call of an id; without one the oldest of the function that nothing has answered."""
        if stated is None:
            return next((call for call in self._unanswered if call.function == name), None)
        return self._by_id.get(stated)

    def _answer(
        self,
        where: str,
        entry: Mapping[str, Any],
        content: Any,
        call: ToolCall | None = None,
    ) -> None:
        """Enter what a tool returned, beside the ``call``, or that which it says it answers."""
        ids = (entry.get(key) for key in _ANSWERED)
        stated = next((str(id_) for id_ in ids if id_ is not None), None)
        own = (entry.get(key) for key in (_FUNCTION, "name"))
        name = next((name for name in own if isinstance(name, str) and name), "")
        call = call or self._answered(stated, name)
        if call in self._unanswered:
            self._unanswered.remove(call)
        texts, held = list[str](), list[Attachment]()
        for part in _content(where, content, of_tool=True):
            text = _text_of_part(part)
            if text is not None:
                texts.append(text)
            else:
                held.append(_attachment(where, part))
        error = entry.get("error")
        if error and not any(texts):
            texts = [_error_text(error)]
        self.messages.append(
            Message(
                TOOL,
                "\n".join(texts),
                name or (call.function if call else ""),
                answers=call.number if call else None,
                has_failed=bool(error) or entry.get("is_error") is True,
                attachments=tuple(held),
            )
        )


def _content(where: str, content: Any, *, of_tool: bool = False) -> Iterator[Mapping[str, Any]]:
    """The parts of a content; what a tool returns may be any JSON value."""
    if content is None:
        return
    if isinstance(content, str):
        yield {"type": "text", "text": content}
        return
    are_parts = isinstance(content, list) and all(map(_is_part, content))
    if of_tool and not are_parts:
        yield {"type": "text", "text": _as_json(content)}
        return
    if not are_parts:
        found = f"{where}: a content that is {_kind(content)}"
        if isinstance(content, list):
            wrong = next(part for part in content if not _is_part(part))
            found = f"{where}: a part of its content that is {_kind(wrong)}"
        expected = 'a text, null, or a list of parts: [{"type": "text", "text": "..."}]'
        raise NoConversation(found, expected)
    for part in content:
        yield {"type": "text", "text": part} if isinstance(part, str) else part


def _is_part(part: Any) -> bool:
    return isinstance(part, str) or (
        isinstance(part, dict) and (isinstance(part.get("type"), str) or _is_text(part))
    )


def _is_text(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("text"), str) and part.get("type", "text") in _TEXTS


def _text_of_part(part: Mapping[str, Any]) -> str | None:
    """The text of a part; ``None`` for parts that are none."""
    if _is_text(part):
        return str(part["text"])
    kind = part.get("type")
    # What code printed stands under `logs`.
    text = part.get(kind) if kind in ("refusal", "logs") else None
    return text if isinstance(text, str) else None


def _attachment(where: str, part: Mapping[str, Any]) -> Attachment:
    kind = str(part.get("type"))
    if kind in _TEXTS:
        raise NoConversation(f"{where}: a part of its content without a text", "a text in it")
    plain = kind.removeprefix("input_").removesuffix("_url")
    return Attachment(plain or "something", _digest(part))


def _digest(part: Mapping[str, Any]) -> str:
    """The digest of a part, without the ids that each run draws anew."""
    lasting = {key: value for key, value in part.items() if key not in _DRAWN_ANEW}
    whole = json.dumps(lasting, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(whole.encode()).hexdigest()[:_DIGITS]


def _as_of_other_tools(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """A result as a tool of one's own returns it: of a tool of the API its content is JSON."""
    content = part.get("content")
    if part["type"] in _AS_OTHER_TOOLS or isinstance(content, str):
        return part
    has_failed = isinstance(content, dict) and str(content.get("type")).endswith("_error")
    return {**part, "content": _as_json(_readable(content)), "is_error": has_failed}


def _readable(value: Any) -> Any:
    """A result without what is for the API alone: encrypted contents, and files as their bytes."""
    if isinstance(value, list):
        return [_readable(element) for element in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "base64":
        return {"type": str(value.get("media_type")), "digest": _digest(value)}
    return {
        key: _readable(inner) for key, inner in value.items() if not key.startswith("encrypted_")
    }


def _id_of(call: Mapping[str, Any]) -> Any:
    return call.get("call_id") or call.get("id")


def _parts_under(entry: Mapping[str, Any], keys: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """The objects and lists that a message has under some keys, as parts."""
    for key in keys:
        value = entry.get(key)
        parts = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
        for part in parts:
            inner = part if isinstance(part, dict) else {"value": part}
            yield {"type": key.removesuffix("s"), **inner}


def _is_text_elsewhere(entry: Mapping[str, Any]) -> bool:
    """Whether a message without a content has something where others have the text."""
    return entry.get("content") is None and any(map(entry.get, _ELSEWHERE))


def _without_role(where: str, entry: Mapping[str, Any]) -> NoConversation:
    if not isinstance(entry.get("type"), str):
        has = f"with {listed(list(map(str, entry))[:9])}" if entry else "that is empty"
        return NoConversation(f"{where}: an object {has}, without a role", _roles())
    return NoConversation(
        f"{where}: an object of the type {_shown(entry['type'])}, without a role",
        f"{_roles()}; or a type: message, {listed(_CALLS)} or the output of such a call",
    )


def _without_content(where: str, entry: Mapping[str, Any]) -> NoConversation:
    keys = [str(key) for key, value in entry.items() if value is not None]
    message = f'{{"role": {_shown(entry["role"])}, "content": "..."}}'
    return NoConversation(
        f"{where}: an object with {listed(keys[:9])}, without a content",
        f"its text under content, or null where it says nothing: {message}",
    )


def _calls_of(where: str, entry: Mapping[str, Any]) -> list[Any]:
    """The calls of a message, also the only one of the older form."""
    calls, older = entry.get("tool_calls"), entry.get("function_call")
    if calls is not None and not isinstance(calls, list):
        raise NoConversation(f"{where}: tool_calls that are {_kind(calls)}", "a list of calls")
    return [*(calls or ()), *([older] if older else ())]


def _as_json(value: Any) -> str:
    """Arguments as JSON: equal ones are equal texts, whether a log has them as JSON or as objects.

    A text that is no object or list of JSON stays as it is.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        try:
            read = document_of(value)
        except ValueError:
            return value
        if not isinstance(read, dict | list):
            return value
        value = read
    return json.dumps(value, ensure_ascii=False)


def _error_text(error: Any) -> str:
    """Why a tool failed, as Inspect says it: an object with a message."""
    message = error.get("message") if isinstance(error, dict) else None
    return message if isinstance(message, str) else _as_json(error)


def _roles() -> str:
    return f"a role: {listed(ROLES)}"


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return "nothing" if value is None else _shown(value)


def _shown(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
