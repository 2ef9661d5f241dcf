"""Whether a reply is exactly what its prompt prescribes: the strict measure of format.

A template with ``reply_keys`` asks for one JSON object and nothing around it: these keys and no
others, the last of which holds the verdict in a word that the prompt permits, or a whole grade. The
reader of verdicts is lenient: it takes a verdict from an object that is not closed, beside further
keys or from a bare number. Here each of these is an error, as in arXiv 2603.28304.

The reply of a trial with several calls holds one object for each; a reply that was repaired holds
the malformed one too, and is counted as malformed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.instruments.temperature.stimuli import GRADES
from pytest_judgesense.measures.cell import Cell, once_a_cell
from pytest_judgesense.trial import Failed, Judgment, PrescribedReply

# How a reply deviates from its form.
NO_OBJECT: Final = "no JSON object"
NOT_CLOSED: Final = "JSON that is not closed or not valid"
AROUND: Final = "text around the JSON object"
OTHER_KEYS: Final = "other keys than prescribed"
OTHER_VALUE: Final = "a value that is not permitted"

_DECODER: Final = json.JSONDecoder(object_pairs_hook=list)


def deviation(reply: str, form: PrescribedReply, calls: int = 1) -> str | None:
    """How a reply of ``calls`` calls deviates from its form; ``None`` if it keeps it."""
    rest = reply.strip()
    for _ in range(calls):
        if "{" not in rest:
            return NO_OBJECT
        if not rest.startswith("{"):
            return AROUND
        try:
            pairs, end = _DECODER.raw_decode(rest)
        except (ValueError, RecursionError):  # of whatever the reply holds
            return NOT_CLOSED
        if sorted(key for key, _ in pairs) != sorted(form.keys):
            return OTHER_KEYS
        if not _permitted(dict(pairs), form):
            return OTHER_VALUE
        rest = rest[end:].strip()
    return AROUND if rest else None


def _permitted(values: Mapping[str, Any], form: PrescribedReply) -> bool:
    *reasons, verdict = (values[key] for key in form.keys)
    if not all(isinstance(reason, str) for reason in reasons):
        return False
    if form.values:
        return isinstance(verdict, str) and verdict in form.values
    return type(verdict) is int and str(verdict) in GRADES.labels


def word_count(reply: str | None) -> float:
    """The words of a reply; NaN if there is none."""
    return math.nan if reply is None else len(reply.split())


def reason_count(reply: str | None) -> float:
    """The words of a reply beside its verdict; NaN if there is no reply.

    Of JSON objects those of the strings under every key but the last, else all words.
    """
    if reply is None:
        return math.nan
    rest, words = reply.strip(), 0
    while rest:
        try:
            pairs, end = _DECODER.raw_decode(rest)
        except (ValueError, RecursionError):
            return words + len(rest.split())
        if not rest.startswith("{"):
            return words + len(rest.split())
        words += sum(len(text_of.split()) for _, text_of in pairs[:-1] if isinstance(text_of, str))
        rest = rest[end:].strip()
    return words


@once_a_cell
def deviations(cell: Cell) -> tuple[NDArray[np.intp], list[str]]:
    """For each judgment the code of its deviation, and what the codes stand for.

    -1 keeps the form; -2 cannot be told: the call failed, no form is prescribed, or the log does
    not hold the reply.
    """
    forms = {form.template: form for form in cell.design.forms}
    unknown = "unknown"

    def deviates(judgment: Judgment) -> str | None:
        trial, reply = judgment.trial, judgment.reply
        form = forms.get(trial.template)
        if form is None or reply is None or isinstance(judgment.outcome, Failed):
            return unknown
        return deviation(reply, form, 2 if trial.condition.get("judge_type") == "single" else 1)

    if not forms:
        return np.full(len(cell.judgments), -2, dtype=np.intp), []
    codes, reasons = cell.coded("deviation", deviates)
    place = reasons.index(unknown) if unknown in reasons else len(reasons)
    return np.where(codes == place, -2, codes).astype(np.intp), reasons


def form_codes(cell: Cell) -> NDArray[np.intp]:
    """For each judgment 0 if its reply keeps the form, 1 if not, -1 if that cannot be told."""
    codes = deviations(cell)[0]
    return np.where(codes == -2, -1, codes >= 0).astype(np.intp)


def broken(cell: Cell, _: Mapping[str, Any]) -> list[tuple[Judgment, ...]]:
    """The replies that do not keep their form, one each."""
    places = np.flatnonzero(deviations(cell)[0] >= 0)
    return [(cell.judgments[position],) for position in places.tolist()]
