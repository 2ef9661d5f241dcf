"""Several datasheets joined into one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pytest_judgesense.errors import LogError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.report.codec import DERIVED, SCHEMA, sheet_text, summed_up
from pytest_judgesense.sections import Entrant, compare

_NAMES: Final = {"measures": "measure", "checks": "check", "analyses": "analysis"}
_KINDS: Final = ("parts", *_NAMES)
_COMPARED: Final = frozenset(name for one in BUILT_IN.comparisons for name in one.all_names)
_SECONDARY: Final = frozenset(name for one in BUILT_IN.comparisons for name in one.secondary)


def joined_datasheets(sheets: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """One datasheet as JSON text of several: that of one session that had measured everything.

    ``sheets`` are JSON objects, each with its name for messages.

    Raises:
        LogError: a value is in two of them with different content; the error names both.
    """
    head: dict[str, _Known] = {}
    judges: dict[str, _Joined] = {}
    for name, sheet in sheets:
        try:
            for key in ("seed", "mode", "versions"):
                _agree(head, key, sheet[key], name, key)
            for entry in sheet["judges"]:
                slug = entry["parts"][0]["judge"]
                judges.setdefault(slug, _Joined(slug)).add(entry, name)
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise LogError(
                f"{name} is not a datasheet that can be joined",
                found=f"{type(error).__name__}: {error}",
                expected=f"a datasheet {SCHEMA} with the parts of every judge",
                remedy="write it again with --judge-datasheet",
            ) from error
    ordered = [judges[slug] for slug in sorted(judges)]
    entrants = (found for one in ordered for found in one.entrants())
    secondary = any(joined.has_secondary for joined in ordered)
    said = {key: known.value for key, known in head.items()}
    compared = compare(BUILT_IN.comparisons, entrants, said.get("seed", 0), secondary=secondary)
    return sheet_text(said, [joined.entry() for joined in ordered], compared)


class _Known(NamedTuple):
    value: Any
    source: str


def _agree(known: dict[Any, _Known], key: Any, value: Any, source: str, what: str) -> None:
    """Enter ``value`` under ``key``; an existing value must be the same."""
    first = known.setdefault(key, _Known(value, source))
    if first.value != value:
        raise LogError(
            f"two datasheets do not agree on {what}",
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


class _Joined:
    """A judge's entry, growing as datasheets are joined."""

    def __init__(self, slug: str) -> None:
        self._slug = slug
        self.has_secondary = False
        self._identity: dict[str, _Known] = {}
        self._of: dict[str, dict[tuple[str, ...], _Known]] = {kind: {} for kind in _KINDS}

    def add(self, entry: Mapping[str, Any], source: str) -> None:
        named = f"judge {self._slug}"
        identity = {k: v for k, v in entry["judge"].items() if k not in DERIVED}
        _agree(self._identity, "identity", identity, source, f"what {named} is")
        for part in entry["parts"]:
            self._add_part(part, source, f"suite {part['suite']} of {named}")
        for kind, names in _NAMES.items():
            for line in entry[kind]:
                name = line[names]
                if kind == "analyses" and name in _COMPARED:
                    # It compares the judges of one session, so it is made again for all of them.
                    self.has_secondary |= name in _SECONDARY
                    continue
                condition = json.dumps(line.get("condition", {}), sort_keys=True)
                what = f"{kind} {name} {condition} on suite {line['suite']} of {named}"
                _agree(self._of[kind], (line["suite"], name, condition), line, source, what)

    def _add_part(self, part: Mapping[str, Any], source: str, what: str) -> None:
        key, parts = (part["suite"],), self._of["parts"]
        first = parts.setdefault(key, _Known(part, source))
        # The session that made the calls counts them; a session that replayed them does not.
        fuller = max(first.value, part, key=lambda one: one["calls"]["made"])
        counted = {"calls": fuller["calls"], "state": fuller["state"]}
        parts[key] = _Known({**first.value, **counted}, first.source)
        _agree(parts, key, {**part, **counted}, source, what)

    def entrants(self) -> Iterator[tuple[str, Entrant]]:
        """Each suite, with the judge's data for comparisons on it."""
        name, analyses = self._identity["identity"].value["name"], self._lines("analyses")
        for part in self._lines("parts"):
            yield part["suite"], Entrant(self._slug, name, part.get("material"), analyses)

    def entry(self) -> dict[str, Any]:
        """The judge's entry in the joined datasheet."""
        return summed_up(self._identity["identity"].value, *map(self._lines, _KINDS))

    def _lines(self, kind: str) -> list[Any]:
        # By suite; within it measures as the estimators give them, checks by their names.
        known, most = self._of[kind], 2 if kind == "checks" else 1
        return [known[key].value for key in sorted(known, key=lambda key: key[:most])]
