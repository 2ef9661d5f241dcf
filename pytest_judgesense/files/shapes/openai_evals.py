"""Logs of OpenAI evals: a run and its events, one a line; a model-graded eval records choices.

The event ``metrics`` of a sample holds the choice of the last completion function of the run,
which grades what the others wrote. The sampling before it is the grader's, if its text has the
choice in it: a function need not record its calls.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.files.proposals import (
    FileShape,
    OpenQuestion,
    PossibleReading,
    Proposal,
    Setting,
)
from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.files.shapes.repeated import numbered, with_rows
from pytest_judgesense.files.shapes.settings import column, columns, words, words_of
from pytest_judgesense.files.tables import RowTable

_EVALS: Final = "openai/evals@4bfc1f58a821685acb40bb28ba54131740535046"
_CHOICE: Final = "data.choice"
_NO_CHOICE: Final = "__invalid__"
# What a run says of its events, and the columns that this becomes.
_JUDGE: Final = "completion_fn"
_EVAL: Final = "eval_name"
_REPLY: Final = "sampled"
_PROMPT: Final = "prompt"


def _proposal(table: RowTable) -> Proposal:
    choices = words_of(table, [_CHOICE])
    if not choices:
        return Proposal(
            (column("item", "sample_id", "a sample"),),
            no_judge="no event is the choice of a model-graded eval: code computed what it holds",
        )
    several = len(words_of(table, ["run_id"])) > 1
    item = "sample_id,run_id" if several else "sample_id"
    return Proposal(
        (
            column("item", item, "a sample" + ", written anew in each run" * several),
            column("cluster", "sample_id", "a sample"),
            *columns(table, {"suite": _EVAL}, "the eval of the run"),
            *columns(table, {"judge": _JUDGE}, "the last completion function of the run"),
            column("verdict", _CHOICE, "the grader's choice"),
            *words(table, (_CHOICE,), {_NO_CHOICE: ""}, "the reply held none of the choices"),
            *columns(table, {"score": "data.score"}, "what the eval counts it for"),
            *columns(table, {"reply": _REPLY, "prompt": _PROMPT}, "the call before the choice"),
        ),
        _asked_of_letters(choices.keys() - {_NO_CHOICE}, table.rows[0]),
    )


def _asked_of_letters(choices: Collection[str], example: Row) -> tuple[OpenQuestion, ...]:
    """The question what A and B are, if the grader chose nothing else; else none."""
    letters = ("A", "B")
    if not choices or not {*choices} <= {*letters}:
        return ()
    pair = (Setting("names", ("verdict", "slot")),)
    options = tuple(Setting("value", (letter, f"option {letter}")) for letter in letters)
    return (
        OpenQuestion(
            "are A and B two candidates, or two answers to a question about one text?",
            example,
            (
                PossibleReading(pair, "the grader prefers the candidate at this letter"),
                PossibleReading(options, "the grader gives one text the answer of this letter"),
            ),
        ),
    )


def _rows(table: RowTable) -> RowTable:
    """The choices, each with what the log says of its run; all events, if there are none."""
    choices = [*_choices(table)]
    if not choices:
        return with_rows(table, [row for row in table if row.value.get("type") is not None])
    return numbered(with_rows(table, choices), ("run_id", "sample_id"))


def _choices(table: RowTable) -> Iterator[Row]:
    runs: dict[str, Mapping[str, Any]] = {}
    run: Mapping[str, Any] = {}
    calls: dict[tuple[str, str], Mapping[str, Any]] = {}
    for row in table:
        if isinstance(spec := row.value.get("spec"), Mapping):
            run = runs[str(spec.get("run_id"))] = _of_run(spec)
        data, kind = row.value.get("data"), row.value.get("type")
        key = str(row.value.get("run_id")), str(row.value.get("sample_id"))
        if not isinstance(data, Mapping):
            continue
        if kind == "sampling":
            calls[key] = data
        elif kind == "metrics" and data.get("choice") is not None:
            of_run = runs.get(key[0], run)
            call = _call_cells(calls.get(key, {}), str(data["choice"]))
            yield replace(row, value={**row.value, **of_run, **call})


def _of_run(spec: Mapping[str, Any]) -> dict[str, Any]:
    functions = spec.get("completion_fns")
    stated = {_JUDGE: functions[-1]} if isinstance(functions, list) and functions else {}
    return {**stated, **({_EVAL: spec[_EVAL]} if spec.get(_EVAL) else {})}


def _call_cells(call: Mapping[str, Any], choice: str) -> dict[str, Any]:
    """The prompt and the reply of a call, if its reply makes the choice."""
    sampled = call.get("sampled")
    reply = sampled[0] if isinstance(sampled, list) and sampled else sampled
    if not isinstance(reply, str) or (choice != _NO_CHOICE and choice not in reply):
        return {}
    return {_REPLY: reply, **({_PROMPT: call["prompt"]} if call.get("prompt") else {})}


def _has_events(table: RowTable) -> bool:
    """Whether there is an event of the recorder, or the run that it begins with."""
    return table.has("event_id") or any(
        field_of(row.value, "spec.completion_fns") is not ... for row in table
    )


OPENAI_EVALS: Final = FileShape(
    "openai-evals",
    "a log of OpenAI evals (oaieval, JSON Lines of a run and its events)",
    (
        f"{_EVALS}:evals/record.py (Event, LocalRecorder)",
        f"{_EVALS}:evals/base.py (RunSpec)",
        f"{_EVALS}:evals/elsuite/modelgraded/classify.py (ModelBasedClassify.eval_sample)",
    ),
    ("sample_id", "type", "data"),
    _proposal,
    _rows,
    _has_events,
)
