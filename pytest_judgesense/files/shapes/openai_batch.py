"""The output of a batch of OpenAI, or of vLLM: a reply a line, of which a judge's are read.

The file holds no prompts, and the verdicts stand in the replies alone. Both interfaces are read: of
chat completions every choice is a replicate, of the Responses API the text of its messages. A
request that failed has an error in place of a reply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Final

from pytest_judgesense.files.flag_lines import flag_key
from pytest_judgesense.files.foreign_results import messages_of
from pytest_judgesense.files.proposals import FileShape, Proposal, ShownSetting
from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.files.shapes.repeated import numbered, with_rows
from pytest_judgesense.files.shapes.settings import column, columns
from pytest_judgesense.files.tables import RowTable

_REPLY: Final = "reply"
_MODEL: Final = "model"
# The parts of custom_id, where it names what was judged and by which criterion.
_JUDGED: Final = "judged"
_CRITERION: Final = "criterion"
_JOINTS: Final = ("__", "::", "|", "--", "#", "/", ":", "-", "_")
_MOST_CRITERIA: Final = 12
_OK: Final = 200
_LIMIT: Final = 300
_USAGE: Final = {
    "prompt_tokens": ("prompt_tokens", "input_tokens"),
    "completion_tokens": ("completion_tokens", "output_tokens"),
}
_NO_PROMPTS: Final = (
    "a batch's output holds no prompts: those of its input file are added by --join "
    "INPUT.jsonl=custom_id --map prompt=body.messages"
)


def _proposal(table: RowTable) -> Proposal:
    item: tuple[ShownSetting, ...] = (column("item", "custom_id", "the request"),)
    if table.has(_CRITERION):
        item = (
            column("item", _JUDGED, "what several requests are about"),
            column("suite", _CRITERION, "the part of custom_id by which replies state other flags"),
        )
    return Proposal(
        (
            *item,
            *columns(table, {"judge": _MODEL}, "the model that answered"),
            column("reply", _REPLY, "the text of the answer, which states the verdict"),
        ),
        notes=(_NO_PROMPTS,),
    )


def _rows(table: RowTable) -> RowTable:
    """A row a reply, with the model, the tokens and the error of the request."""
    models = dict.fromkeys(
        model for row in table if isinstance(model := _of_body(row, "model"), str)
    )
    only = next(iter(models)) if len(models) == 1 else "unknown"
    rows = [reply for row in table for reply in _replies(row, only)]
    return numbered(with_rows(table, _by_criterion(rows)), ("custom_id", _MODEL))


def _by_criterion(rows: list[Row]) -> list[Row]:
    """Rows with the two parts of ``custom_id``, where one of them is what is asked of the other.

    All parts occur together, and what replies say ("Relevance: True", "Grounded: True") goes by
    one of them.
    """
    names = [str(row.value["custom_id"]) for row in rows]
    for joint, is_last in product(_JOINTS, (True, False)):
        parts = [name.rpartition(joint) if is_last else name.partition(joint) for name in names]
        judged, criteria = ([part[place] for part in parts] for place in (0, 2))
        if not is_last:
            judged, criteria = criteria, judged
        if all(judged) and all(criteria) and _are_criteria(judged, criteria, rows):
            return [
                replace(row, value={**row.value, _JUDGED: item, _CRITERION: criterion})
                for row, item, criterion in zip(rows, judged, criteria, strict=True)
            ]
    return rows


def _are_criteria(judged: Sequence[str], criteria: Sequence[str], rows: Sequence[Row]) -> bool:
    count = len({*criteria})
    together = {*zip(judged, criteria, strict=True)}
    if not 2 <= count <= _MOST_CRITERIA or len(together) < count * len({*judged}):
        return False
    keys: dict[str, Counter[str]] = {}
    for criterion, row in zip(criteria, rows, strict=True):
        key = flag_key(row.value[_REPLY] or "")
        keys.setdefault(criterion, Counter()).update([key] if key else [])
    usual = [counted.most_common(1)[0][0] for counted in keys.values() if counted]
    return len(usual) == count and len({*usual}) > 1


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
