"""What a foreign form has no place for, under one key of its rows that only this package writes.

An export reads back what it writes: whatever a judgment would then lack or have otherwise is
written beside it, so that an import of it gives the same judgment. Rows of others have no such key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from functools import lru_cache
from typing import Any, Final

from pydantic import TypeAdapter

from pytest_judgesense.files.foreign_results import moment_of
from pytest_judgesense.files.rows import Row
from pytest_judgesense.trial import (
    Design,
    Failed,
    Judgment,
    JudgmentOutcome,
    Trial,
    Unparsed,
    Usage,
    Verdict,
)

KEY: Final = "judgesense"
DESIGN: Final = "design"
LINE: Final = "line"
_OUTCOMES: Final[Mapping[str, type[Verdict | Unparsed | Failed]]] = {
    "verdict": Verdict,
    "unparsed": Unparsed,
    "failed": Failed,
}
_TRIAL: Final = tuple(of_trial.name for of_trial in fields(Trial))
_BESIDE: Final = ("judge", "chosen", "reply", "latency_s", "probabilities", "mass", "recorded_at")


def own_fields(judgment: Judgment, read: Judgment) -> dict[str, Any]:
    """What of a judgment a reader of the row alone would not know, as JSON values.

    Args:
        judgment: what is exported.
        read: what the row is read as.
    """
    own = {
        name: _plain(getattr(judgment.trial, name))
        for name in _TRIAL
        if _text(getattr(judgment.trial, name)) != _text(getattr(read.trial, name))
    }
    if judgment.outcome != read.outcome:
        own |= {
            name: getattr(judgment.outcome, fields(kind)[0].name)
            for name, kind in _OUTCOMES.items()
            if isinstance(judgment.outcome, kind)
        }
    own |= {
        name: _plain(getattr(judgment, name))
        for name in _BESIDE
        if _text(getattr(judgment, name)) != _text(getattr(read, name))
    }
    if judgment.usage != read.usage:
        own["usage"] = {name: n for name, n in asdict(judgment.usage).items() if n is not None}
    if _text(judgment.detail) != _text(read.detail):
        own["detail"] = judgment.detail
    return own


def _text(value: Any) -> str:
    """A value as a line of a log has it: 1 and 1.0 differ there, and so do orders of keys."""
    return json.dumps(_plain(value))


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def with_own_fields(read: Judgment, own: Mapping[str, Any], row: Row) -> Judgment:
    """The judgment that was exported, from what the row is read as and its own fields.

    Raises:
        LogError: a field is malformed; it names the row.
    """
    if not own:
        return read
    trial = {name: own[name] for name in _TRIAL if name in own}
    beside = {name: own[name] for name in (*_BESIDE, "detail") if name in own}
    try:
        outcome: JudgmentOutcome = read.outcome
        for name, kind in _OUTCOMES.items():
            if name in own:
                outcome = _valid(kind, {fields(kind)[0].name: own[name]})
        usage = _valid(Usage, own["usage"]) if "usage" in own else read.usage
        changed = _valid(Trial, {**_shallow(read.trial), **trial})
        judgment = replace(read, trial=changed, outcome=outcome, usage=usage, **beside)
        return _checked(judgment)
    except (ValueError, TypeError) as error:  # pydantic's are such, too
        raise row.wrong(KEY, "the fields that `judgesense report --export` wrote") from error


def design_of(row: Row) -> Design | None:
    """The design of the suite that a row states; ``None`` if it states none."""
    own = own_of(row)
    if DESIGN not in own:
        return None
    try:
        design: Design = _valid(Design, own[DESIGN])
    except ValueError as error:
        raise row.wrong(KEY, "the design that `judgesense report --export` wrote") from error
    return design


def own_of(row: Row) -> Mapping[str, Any]:
    """The own fields of a row; none of rows of others."""
    own = row.value.get(KEY)
    return own if isinstance(own, dict) else {}


def plain_design(design: Design) -> dict[str, Any]:
    """A design as JSON values, without what is as usual."""
    usual = {of_design.name: of_design.default for of_design in fields(Design)}
    return {name: value for name, value in asdict(design).items() if value != usual[name]}


def _shallow(trial: Trial) -> dict[str, Any]:
    return {name: getattr(trial, name) for name in _TRIAL}


def _checked(judgment: Judgment) -> Judgment:
    """The judgment, its fields of the types that they are declared with."""
    texts = (judgment.judge, judgment.chosen, judgment.reply, judgment.recorded_at)
    numbers = (judgment.latency_s, judgment.mass)
    if not all(isinstance(text, str | None) for text in texts):
        raise TypeError(texts)
    if not all(isinstance(number, int | float | None) for number in numbers):
        raise TypeError(numbers)
    if not all(isinstance(of, Mapping | None) for of in (judgment.detail, judgment.probabilities)):
        raise TypeError(judgment.detail, judgment.probabilities)
    if judgment.recorded_at is not None:
        moment_of(judgment.recorded_at)
    return judgment


@lru_cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _valid(kind: Any, value: Any) -> Any:
    return _adapter(kind).validate_python(value)
