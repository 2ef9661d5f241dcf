"""Several datasheets joined into one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from pytest_judgesense.datasheet import SuiteSheet, merge_parts
from pytest_judgesense.errors import LogError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.report.assembly import compared
from pytest_judgesense.report.codec import SCHEMA, datasheet_from, datasheet_json, part_to_plain

_HEAD: Final = ("seed", "mode", "versions")
_LINES: Final = {"measures": "estimates", "checks": "checks", "analyses": "analyses"}
_COMPARED: Final = frozenset(name for one in BUILT_IN.comparisons for name in one.all_names)
_SECONDARY: Final = frozenset(name for one in BUILT_IN.comparisons for name in one.secondary)

# By kind, then the judge, the suite, the name and the condition, as far as there are such: a value,
# and the first datasheet that holds it.
_Everything: TypeAlias = dict[tuple[str, ...], tuple[Any, str]]


def joined_datasheets(sheets: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """One datasheet as JSON text of several: that of one session that had measured everything.

    ``sheets`` are JSON objects, each with its name for messages.

    Raises:
        LogError: a value is in two of them with different content; the error names both.
    """
    known: _Everything = {}
    secondary = False
    for name, value in sheets:
        try:
            sheet = datasheet_from(value)
        except (KeyError, ValueError) as error:
            raise LogError(
                f"{name} is not a datasheet that can be joined",
                found=f"{type(error).__name__}: {error}",
                expected=f"a datasheet {SCHEMA} with the parts of every judge",
                remedy="write it again with --judge-datasheet",
            ) from error
        for key in _HEAD:
            _agree(known, ("head", key), getattr(sheet, key), name, key)
        for judge in sheet.judges:
            what = f"what judge {judge.judge} is"
            _agree(known, ("judge", judge.judge), judge.identity, name, what)
            secondary |= any(one["analysis"] in _SECONDARY for one in judge.analyses)
            for part in judge.parts:
                _add(known, part, name)
    head = {key: known["head", key][0] for key in _HEAD}
    joined = merge_parts(_parts(known), **head)
    return datasheet_json(compared(joined, BUILT_IN, secondary=secondary))


def _add(known: _Everything, part: SuiteSheet, source: str) -> None:
    """Enter what a datasheet holds of a judge on a suite."""
    whose, of = (part.judge, part.suite), f"suite {part.suite} of judge {part.judge}"
    bare = replace(part, estimates=(), checks=(), analyses=())
    first, where = known.setdefault(("suite", *whose), (bare, source))
    # The session that made the calls counts them; a session that replayed them does not.
    calls = max(first.calls, part.calls, key=lambda one: one.made)
    known["suite", *whose] = replace(first, calls=calls), where
    _agree(known, ("suite", *whose), replace(bare, calls=calls), source, of)
    for kind, name, condition, line in _lines(part):
        within = json.dumps(dict(condition), sort_keys=True)
        what = f"{kind} {name} {within} on {of}"
        _agree(known, (kind, *whose, name, within), line, source, what)


def _lines(part: SuiteSheet) -> Iterator[tuple[str, str, Mapping[str, Any], Any]]:
    """The estimates, checks and tables of a part, each with its kind, name and condition."""
    yield from (("measures", one.measure, one.condition, one) for one in part.estimates)
    yield from (("checks", one.check, one.condition, one) for one in part.checks)
    for table in part.analyses:
        # A comparison of the judges of one session is made again for all of them.
        if table["analysis"] not in _COMPARED:
            yield "analyses", table["analysis"], {}, table


def _parts(known: _Everything) -> Iterator[SuiteSheet]:
    for (kind, *whose), (bare, _) in known.items():
        if kind == "suite":
            lines = {
                field: tuple(one for key, (one, _) in known.items() if key[:3] == (kind, *whose))
                for kind, field in _LINES.items()
            }
            yield replace(bare, **lines)


def _agree(known: _Everything, key: tuple[str, ...], value: Any, source: str, what: str) -> None:
    """Enter ``value`` under ``key``; an existing value must be the same."""
    first, where = known.setdefault(key, (value, source))
    if first != value:
        one, other = part_to_plain(first), part_to_plain(value)
        raise LogError(
            f"two datasheets do not agree on {what}",
            found=f"{_short(one, other)} in {where}, {_short(other, one)} in {source}",
            expected="the same in both, or in one of them alone",
            remedy="measure it again from the same recordings, with the same seed and versions",
        )


def _short(value: Any, other: Any) -> str:
    """``value``; for an object, only the parts that differ from ``other``."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        value = {key: value[key] for key in value if value[key] != other.get(key, ...)}
    return json.dumps(value, ensure_ascii=False)[:200]
