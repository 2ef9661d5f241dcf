"""Several datasheets joined into one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from pytest_judgesense.datasheets.sections import ComparedJudge, compare
from pytest_judgesense.errors import LogError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.report.datasheet_file import (
    DERIVED,
    SCHEMA,
    refuse_other_kinds,
    sheet_text,
    summed_up,
)

_NAMES: Final = {
    "measures": "measure",
    "checks": "check",
    "not_compared": "check",
    "analyses": "analysis",
}
_MAYBE: Final = ("not_compared",)  # an entry that is left out if it is empty
_KINDS: Final = ("parts", *_NAMES)


def joined_datasheets(sheets: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """One datasheet as JSON text of several: that of one session that had measured everything.

    ``sheets`` are JSON objects, each with its name for messages.

    Raises:
        LogError: a value is in two of them with different content; the error names both.
    """
    everything: _Everything = {}
    of_extras = {name for compared in BUILT_IN.report.comparisons for name in compared.secondary}
    secondary = False
    for name, sheet in sheets:
        try:
            refuse_other_kinds(sheet)
            for key in ("seed", "mode", "versions"):
                _agree(everything, ("head", key), sheet[key], name, key)
            for entry in sheet["judges"]:
                _add(everything, entry, name)
                secondary |= any(line["analysis"] in of_extras for line in entry["analyses"])
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            raise LogError(
                f"{name} is not a datasheet that can be joined",
                found=f"{type(error).__name__}: {error}",
                expected=f"a datasheet {SCHEMA} with the parts of every judge",
                remedy="write it again with --judge-datasheet",
            ) from error
    head = {key[1]: entry.value for key, entry in everything.items() if key[0] == "head"}
    slugs = sorted(key[1] for key in everything if key[0] == "judge")
    judges, entries = [], []
    for slug in slugs:
        identity = everything["judge", slug].value
        parts, measures, checks, not_compared, analyses = (
            _lines(everything, kind, slug) for kind in _KINDS
        )
        for part in parts:
            judge = ComparedJudge(slug, identity["name"], part.get("material"), analyses)
            judges.append((part["suite"], judge))
        entries.append(summed_up(identity, parts, measures, checks, not_compared, analyses))
    comparisons = BUILT_IN.report.comparisons
    compared = compare(comparisons, judges, head.get("seed", 0), secondary=secondary)
    return sheet_text(head, entries, compared)


@cache
def _names_of_comparisons() -> frozenset[str]:
    return frozenset(
        name for compared in BUILT_IN.report.comparisons for name in compared.all_names
    )


class _Known(NamedTuple):
    value: Any
    source: str


# By kind, then the judge, the suite, the name and the condition, as far as there are such.
_Everything: TypeAlias = dict[tuple[str, ...], _Known]


def _agree(
    everything: _Everything, key: tuple[str, ...], value: Any, source: str, about: str
) -> None:
    """Enter ``value`` under ``key``; an existing value must be the same."""
    first = everything.setdefault(key, _Known(value, source))
    if first.value != value:
        raise LogError(
            f"two datasheets do not agree on {about}",
            found=f"{_short(first.value, value)} in {first.source}, "
            f"{_short(value, first.value)} in {source}",
            expected="the same in both, or in one of them alone",
            remedy="measure it again from the same recordings, with the same seed and versions",
        )


def _short(value: Any, other: Any) -> str:
    """``value``; for an object, only the parts that differ from ``other``."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        value = {key: value[key] for key in value if value[key] != other.get(key, ...)}
    return json.dumps(value, ensure_ascii=False)[:200]


def _add(everything: _Everything, entry: Mapping[str, Any], source: str) -> None:
    """Enter what a datasheet holds of a judge."""
    slug = entry["parts"][0]["judge"]
    named = f"judge {slug}"
    identity = {k: v for k, v in entry["judge"].items() if k not in DERIVED}
    _agree(everything, ("judge", slug), identity, source, f"what {named} is")
    for part in entry["parts"]:
        key = ("parts", slug, part["suite"])
        first = everything.setdefault(key, _Known(part, source))
        # The session that made the calls counts them; a session that replayed them does not.
        fuller = max(first.value, part, key=lambda part_of_file: part_of_file["calls"]["made"])
        counted = {"calls": fuller["calls"], "state": fuller["state"]}
        everything[key] = _Known({**first.value, **counted}, first.source)
        _agree(everything, key, {**part, **counted}, source, f"suite {part['suite']} of {named}")
    for kind, names in _NAMES.items():
        for line in entry.get(kind, ()) if kind in _MAYBE else entry[kind]:
            suite, name = line["suite"], line[names]
            if kind == "analyses" and name in _names_of_comparisons():
                continue  # it compares the judges of one session, and is made again for all of them
            condition = json.dumps(line.get("condition", {}), sort_keys=True)
            about = f"{kind} {name} {condition} on suite {suite} of {named}"
            _agree(everything, (kind, slug, suite, name, condition), line, source, about)


def _lines(everything: _Everything, kind: str, slug: str) -> list[Any]:
    # By suite; within it measures as the estimators give them, checks by their names.
    of_judge = [key for key in everything if key[:2] == (kind, slug)]
    most = 4 if _NAMES.get(kind) == "check" else 3
    return [everything[key].value for key in sorted(of_judge, key=lambda key: key[:most])]
