"""The output of a batch of OpenAI, or of vLLM: a reply a line, of which a judge's are read.

The file holds no prompts, and which verdicts a reply may state is told by the replies alone. Both
interfaces are read: of chat completions every choice is a replicate, of the Responses API the text
of its messages. A request that failed has an error in place of a reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.files.foreign_results import json_or_none, messages_of
from pytest_judgesense.files.proposals import (
    FileShape,
    OpenQuestion,
    Proposal,
    Setting,
    ShownSetting,
)
from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.files.shapes.letters import asked_of_letters
from pytest_judgesense.files.shapes.repeated import numbered, with_rows
from pytest_judgesense.files.shapes.settings import column, columns, words_of
from pytest_judgesense.files.shapes.stated_labels import StatedLabels, stated_labels
from pytest_judgesense.files.tables import RowTable

_REPLY: Final = "reply"
_VERDICT: Final = "verdict"
_FENCED: Final = re.compile(r"\s*```(?:json)?\s*(\{.*\})\s*```\s*", re.DOTALL)
_LONGEST_VERDICT: Final = 40
_MODEL: Final = "model"
_OK: Final = 200
_LIMIT: Final = 300
# What a judge's reply in JSON may call its verdict, the likelier first.
_VERDICTS: Final = (
    "verdict", "winner", "rating", "score", "grade", "label", "decision", "preference", "choice",
    "judgment", "judgement", "answer", "criteria_met",
)  # fmt: skip
_USAGE: Final = {
    "prompt_tokens": ("prompt_tokens", "input_tokens"),
    "completion_tokens": ("completion_tokens", "output_tokens"),
}
_OTHER_LABELS: Final = "--labels names the verdicts that a reply may state, if these are not all"
_NO_PROMPTS: Final = (
    "a batch's output holds no prompts: those of its input file are added by --join "
    "INPUT.jsonl=custom_id --map prompt=body.messages"
)


def _proposal(table: RowTable) -> Proposal:
    questions: tuple[OpenQuestion, ...]
    if table.has(_VERDICT):
        read = [column("verdict", _VERDICT, "replies are JSON, with a field for it")]
        questions = asked_of_letters(words_of(table, [_VERDICT]), table.rows[0])
        notes = [_NO_PROMPTS]
    else:
        labels = stated_labels([text for row in table if (text := row.value.get(_REPLY))])
        questions = asked_of_letters(
            labels.labels, table.rows[0], _settings(labels), _of_options(labels)
        )
        read = [] if questions else [ShownSetting(s, labels.why) for s in _settings(labels)]
        notes = [_NO_PROMPTS, *([_OTHER_LABELS] if labels.labels else [])]
    return Proposal(
        (
            column("item", "custom_id", "the request"),
            *columns(table, {"judge": _MODEL}, "the model that answered"),
            column("reply", _REPLY, "the text of the answer"),
            *read,
        ),
        questions,
        tuple(notes),
    )


def _settings(labels: StatedLabels) -> list[Setting]:
    if not labels.labels:
        return []
    return [
        Setting("labels", labels.labels),
        *(Setting("value", meaning) for meaning in labels.meanings),
    ]


def _of_options(labels: StatedLabels) -> list[Setting]:
    """The labels A and B as options, as `asked_of_letters` renames them."""
    return [Setting("labels", tuple(f"option {label}" for label in labels.labels))]


def _with_verdicts(rows: Sequence[Row]) -> list[Row]:
    """Rows with what their replies state in a field, if all of them are JSON with such a field."""
    objects = {
        place: _object_of(reply)
        for place, row in enumerate(rows)
        if (reply := row.value.get(_REPLY)) is not None
    }
    keys = (key for key in _VERDICTS if all(_is_short(o.get(key)) for o in objects.values()))
    key = next(keys, None) if objects else None
    if key is None:
        return [*rows]
    return [
        replace(row, value={**row.value, _VERDICT: objects.get(place, {}).get(key)})
        for place, row in enumerate(rows)
    ]


def _object_of(reply: str) -> Mapping[str, Any]:
    """The object that a reply is, fenced or not; an empty one for any other reply."""
    fenced = _FENCED.fullmatch(reply)
    value = json_or_none(fenced[1] if fenced else reply)
    return value if isinstance(value, dict) else {}


def _is_short(value: Any) -> bool:
    is_number = isinstance(value, bool | int | float)
    return is_number or (isinstance(value, str) and len(value) <= _LONGEST_VERDICT)


# --- replies --------------------------------------------------------------------------------------


def _rows(table: RowTable) -> RowTable:
    """A row a reply, with the model, the tokens and the error of the request."""
    models = dict.fromkeys(
        model for row in table if isinstance(model := _of_body(row, "model"), str)
    )
    only = next(iter(models)) if len(models) == 1 else "unknown"
    rows = [reply for row in table for reply in _replies(row, only)]
    return numbered(with_rows(table, _with_verdicts(rows)), ("custom_id", _MODEL))


def _of_body(row: Row, name: str) -> Any:
    return field_of(row.value, f"response.body.{name}")


def _replies(row: Row, model: str) -> Iterator[Row]:
    stated = _of_body(row, "model")
    cells: dict[str, Any] = {
        "custom_id": row.value.get("custom_id"),
        _MODEL: stated if isinstance(stated, str) else model,
    }
    if failure := _failure(row):
        yield replace(row, value={**cells, _REPLY: None, "failed": failure})
        return
    for place, text in enumerate(_texts(row)):
        tokens = _tokens(row) if place == 0 else {}
        yield replace(row, value={**cells, _REPLY: text, "failed": None, **tokens})


def _texts(row: Row) -> list[str | None]:
    """The texts of the answers: of several choices, or of the messages of a response."""
    choices, output = _of_body(row, "choices"), _of_body(row, "output")
    if isinstance(choices, list):
        return [_text_of(field_of(choice, "message.content")) for choice in choices] or [None]
    messages = [
        part for part in (output if isinstance(output, list) else ())
        if isinstance(part, Mapping) and part.get("type") == "message"
    ]  # fmt: skip
    texts = [_text_of(message.get("content")) for message in messages]
    return ["".join(filter(None, texts)) or None]


def _text_of(content: Any) -> str | None:
    messages = messages_of([{"content": content}])
    return messages[0]["content"] if messages else None


def _tokens(row: Row) -> dict[str, Any]:
    usage = _of_body(row, "usage")
    if not isinstance(usage, Mapping):
        return {}
    return {
        name: count
        for name, keys in _USAGE.items()
        if isinstance(count := next((usage[key] for key in keys if key in usage), None), int)
    }


def _failure(row: Row) -> str:
    """Why a request has no answer; empty if it has one."""
    status = field_of(row.value, "response.status_code")
    is_answered = isinstance(_of_body(row, "choices"), list) or isinstance(
        _of_body(row, "output"), list
    )
    if is_answered and (not isinstance(status, int) or _OK <= status < _LIMIT):
        return ""
    for name in ("response.body.error.message", "error.message", "error.code", "error"):
        reason = field_of(row.value, name)
        if isinstance(reason, str) and reason.strip():
            return reason
    return f"status {status}" if isinstance(status, int) else "no answer"


OPENAI_BATCH: Final = FileShape(
    "openai-batch",
    "the output of a batch of OpenAI (chat completions or the Responses API)",
    (
        "OpenAI's specification of its API: BatchRequestOutput (custom_id, response, error)",
        "openai-python 3.57.0: openai/types/chat/chat_completion.py",
        "openai-python 3.57.0: openai/types/responses/response.py",
    ),
    ("custom_id", "response", "response.status_code"),
    _proposal,
    _rows,
)
