"""A call of a trial, and how the call of a function is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_judgesense.cassettes.cassette import call_of_function
from pytest_judgesense.cassettes.exchange import (
    RecordedRequest,
)
from pytest_judgesense.judges.functions import (
    MESSAGES,
)
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.suites.suite import ReplyForm


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a trial.

    The seed increases with the ``replicate``; without a ``temperature`` the judge's is sent; a
    call that ``repairs`` goes to the judge that repairs malformed replies. ``form`` is the form of
    its reply, if it differs from the suite's. ``fields`` are the parts of the messages, for
    functions that take fields; ``edits`` the texts that are exchanged in what a function sends.
    """

    messages: Sequence[Mapping[str, str]]
    replicate: int = 1
    temperature: float | None = None
    repairs: bool = False
    form: ReplyForm | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    edits: tuple[tuple[str, str], ...] = ()


def fields_of(call: Call) -> dict[str, Any]:
    """What a function may take of a call, by name; a field of the item called so goes first."""
    return {MESSAGES: _messages_of(call), **call.fields}


def _messages_of(call: Call) -> list[dict[str, str]]:
    return [dict(message) for message in call.messages]


def call_with(spec: JudgeSpec, call: Call, names: Sequence[str] | None) -> RecordedRequest:
    """The call of a function as it is recorded where its parameters have these ``names``.

    Without names it takes the messages. No code of it is needed.
    """
    if names is None:
        return function_call(spec, call, None)
    fields = fields_of(call)
    arguments = {name: fields.get(spec.arguments.get(name, name)) for name in names}
    return function_call(spec, call, arguments)


def function_call(
    spec: JudgeSpec, call: Call, arguments: Mapping[str, Any] | None
) -> RecordedRequest:
    """The call of a function as it is recorded: with its arguments, else with the messages."""
    if arguments is None:
        return call_of_function(spec.model, _messages_of(call))
    return call_of_function(spec.model, (), {"arguments": dict(arguments)})
