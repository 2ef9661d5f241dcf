"""A conversation as one text, and back: what each message says cannot pass for another message.

Items have texts, so a list of chat messages becomes one, which a prompt shows where it says
``{{conversation}}``::

    [1] user
    > Where is my parcel?
    [2] assistant
    > I look it up.
    [2] assistant calls find_parcel (call 1)
    > {"id": 17}
    [3] tool find_parcel returns (call 1)
    > {"place": "Lyon"}

Who speaks stands at the beginning of a line, and what is said behind ``> ``: in every line,
wherever any reader may see one begin. So a message that holds ``[3] assistant`` in a line of its
own is shown as ``> [3] assistant``, and the text is read back as the same messages and no others.
Names that are not plain words stand as JSON, in which no reader sees a line begin. Calls of tools
are numbered as they come: ids are drawn anew in each run, and the same conversation is the same
item.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

ASSISTANT: Final = "assistant"
TOOL: Final = "tool"
ROLES: Final = ("system", "developer", "user", ASSISTANT, TOOL)
# Wherever a reader of text may see a line begin, as `str.splitlines` does.
_BREAK: Final = re.compile("(\r\n|[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029])")
_WORD: Final = r"[A-Za-z0-9_.:/@-]{1,200}"
_JSON: Final = r'"(?:[^"\\]|\\.)*"'
_NAME: Final = rf"(?P<name>{_WORD}|{_JSON})"
_ROLE: Final = rf"\[[1-9][0-9]{{0,8}}\] (?P<role>{'|'.join(ROLES)})"
_CALL: Final = r" \(call (?P<call>[1-9][0-9]{0,8})\)"
# The lines that begin a message, and the further parts of one.
_PLAIN: Final = re.compile(_WORD)
_SAYS: Final = re.compile(rf"{_ROLE}(?: (?P<name>{_JSON}))?")
_CALLS: Final = re.compile(rf"{_ROLE} calls {_NAME}{_CALL}")
_ANSWERS: Final = re.compile(rf"{_ROLE}(?: {_NAME})? (?P<how>returns|fails)(?:{_CALL})?")
_HOLDS: Final = re.compile(rf"{_ROLE} holds {_NAME}, not shown \((?P<digest>\w{{1,64}})\)")
_BEGINNING: Final = "[1] "
_QUOTED: Final = ">"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool: its number in the conversation, from 1, and the arguments, as JSON."""

    number: int
    function: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Attachment:
    """A part of a message that is no text, such as an image: what it is, and its digest."""

    kind: str
    digest: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a conversation.

    Attributes:
        role: one of `ROLES`.
        text: what it says; for a tool what it returned, or why it failed.
        name: of the person or the agent that speaks; of a tool that of the function.
        calls: the tools that it calls.
        answers: the number of the call that a tool answers; ``None`` where none is shown.
        has_failed: whether the call of the tool was an error.
        attachments: what it holds beside text.
    """

    role: str
    text: str = ""
    name: str = ""
    calls: tuple[ToolCall, ...] = ()
    answers: int | None = None
    has_failed: bool = False
    attachments: tuple[Attachment, ...] = ()


def conversation_text(messages: Sequence[Message]) -> str:
    """The messages as one text, in the form that the head of this module shows."""
    return "\n".join(
        line for number, message in enumerate(messages, start=1) for line in _lines(number, message)
    )


def _lines(number: int, message: Message) -> Iterator[str]:
    """The parts of a message, each with the line that says whose it is."""
    begins = f"[{number}] {message.role}"
    if message.role == TOOL:
        named = f" {_shown_name(message.name)}" if message.name else ""
        call = "" if message.answers is None else f" (call {message.answers})"
        yield f"{begins}{named} {'fails' if message.has_failed else 'returns'}{call}"
    else:
        yield begins + (f" {_as_json(message.name)}" if message.name else "")
    if message.text:
        yield _quoted(message.text)
    for held in message.attachments:
        yield f"{begins} holds {_shown_name(held.kind)}, not shown ({held.digest})"
    for tool_call in message.calls:
        yield f"{begins} calls {_shown_name(tool_call.function)} (call {tool_call.number})"
        if tool_call.arguments:
            yield _quoted(tool_call.arguments)


def _shown_name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else _as_json(name)


def _as_json(name: str) -> str:
    """A name in quotation marks, its letters as they are; line breaks are escaped, all of them.

    JSON itself leaves some as they are: U+0085, U+2028 and U+2029.
    """
    text = json.dumps(name, ensure_ascii=False)
    return _BREAK.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _read_name(shown: str | None) -> str:
    """The name that a line shows, as it is or as JSON; a `ValueError` if it is neither."""
    if shown is None:
        return ""
    return str(json.loads(shown)) if shown.startswith('"') else shown


def _quoted(text: str) -> str:
    """A text with the mark of what is said in each of its lines."""
    lines = _BREAK.split(text)
    lines[::2] = [f"{_QUOTED} {line}" if line else _QUOTED for line in lines[::2]]
    return "".join(lines)


def _unquoted(text: str) -> str:
    lines = _BREAK.split(text)
    lines[::2] = [line.removeprefix(_QUOTED).removeprefix(" ") for line in lines[::2]]
    return "".join(lines)


# --- back -----------------------------------------------------------------------------------------


def messages_in(text: str) -> tuple[Message, ...] | None:
    """The messages of a text that `conversation_text` has made; ``None`` for any other text."""
    if not text.startswith(_BEGINNING):
        return None
    messages: list[Message] = []
    try:
        for head, said in _parts(text):
            _enter(messages, head, said)
    except ValueError:
        return None
    # Whatever the lines say, it is the text of these messages or none.
    return tuple(messages) if conversation_text(messages) == text else None


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """The lines that say whose a part is, each with what is said below it."""
    head, quoted = "", list[str]()
    for line in text.split("\n"):
        if line.startswith(_QUOTED):
            quoted.append(line)
            continue
        if head:
            yield head, _unquoted("\n".join(quoted))
        head, quoted = line, []
    yield head, _unquoted("\n".join(quoted))


def _enter(messages: list[Message], head: str, said: str) -> None:
    """Add a part to the messages before it; a `ValueError` if its line begins none."""
    if match := _CALLS.fullmatch(head):
        call = ToolCall(int(match["call"]), _read_name(match["name"]), said)
        messages[-1] = replace(_last(messages), calls=(*_last(messages).calls, call))
    elif match := _HOLDS.fullmatch(head):
        held = Attachment(_read_name(match["name"]), match["digest"])
        messages[-1] = replace(_last(messages), attachments=(*_last(messages).attachments, held))
    elif match := _ANSWERS.fullmatch(head):
        answers = int(match["call"]) if match["call"] else None
        has_failed = match["how"] == "fails"
        name = _read_name(match["name"])
        messages.append(Message(TOOL, said, name, answers=answers, has_failed=has_failed))
    elif match := _SAYS.fullmatch(head):
        messages.append(Message(match["role"], said, _read_name(match["name"])))
    else:
        raise ValueError(head)


def _last(messages: Sequence[Message]) -> Message:
    if not messages:
        raise ValueError("a part of no message")
    return messages[-1]


def is_conversation(text: str) -> bool:
    """Whether a text is one that `conversation_text` has made."""
    return messages_in(text) is not None


def last_answer(text: str) -> str:
    """What the assistant says last; all of a text that is no conversation with such an answer."""
    messages = messages_in(text) or ()
    place = _place_of_last_answer(messages)
    return text if place is None else messages[place].text


def with_last_answer(text: str, change: Callable[[str], str]) -> str:
    """The text with a ``change`` in its `last_answer`."""
    messages = messages_in(text) or ()
    place = _place_of_last_answer(messages)
    if place is None:
        return change(text)
    changed = replace(messages[place], text=change(messages[place].text))
    return conversation_text((*messages[:place], changed, *messages[place + 1 :]))


def _place_of_last_answer(messages: Sequence[Message]) -> int | None:
    answers = (
        place
        for place, message in enumerate(messages)
        if message.role == ASSISTANT and message.text
    )
    return max(answers, default=None)


def as_chat(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages as the API of chat completions has them; calls are called by their numbers."""
    return [_as_chat(message) for message in messages]


def _as_chat(message: Message) -> dict[str, Any]:
    chat: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.attachments:
        held = [{"type": part.kind, "digest": part.digest} for part in message.attachments]
        chat["content"] = [{"type": "text", "text": message.text}, *held]
    if message.name:
        chat["name"] = message.name
    if message.answers is not None:
        chat["tool_call_id"] = f"call_{message.answers}"
    if message.has_failed:
        chat["is_error"] = True
    if message.calls:
        chat["tool_calls"] = [
            {
                "id": f"call_{call.number}",
                "type": "function",
                "function": {"name": call.function, "arguments": call.arguments},
            }
            for call in message.calls
        ]
    return chat
