"""From parts to a datasheet, from several to one, and to files chosen by suffix."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from pytest_judgesense import __version__
from pytest_judgesense.datasheet.codec import (
    SCHEMA,
    datasheet_json,
    part_from_plain,
    sheet_text,
    summed_up,
)
from pytest_judgesense.datasheet.sheet import Datasheet, SuiteSheet, merge_parts
from pytest_judgesense.datasheet.standing import LEADERBOARD
from pytest_judgesense.errors import LogError, UsageError

if TYPE_CHECKING:
    from pytest_judgesense.datasheet.page import Evidence

__all__ = [
    "assemble",
    "counted_once",
    "datasheet_text",
    "joined_datasheets",
    "sheet_of",
    "versions",
]

# What a judge's entry sums up of its parts, beside what the judge is.
_SUMS: Final = frozenset({"served", "prompts", "suites", "state", "recorded"})
_NAMES: Final = {"measures": "measure", "checks": "check", "analyses": "analysis"}


def versions() -> dict[str, str]:
    """Versions of what computes the numbers."""
    return {
        "pytest-judgesense": __version__,
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "python": platform.python_version(),
    }


def assemble(
    parts: Iterable[Mapping[str, Any]], *, seed: int, mode: str, secondary: bool = False
) -> Datasheet:
    """The datasheet of parts as plain values."""
    plain = [part_from_plain(part) for part in parts]
    return sheet_of(plain, seed=seed, mode=mode, secondary=secondary)


def counted_once(
    parts: Sequence[tuple[Mapping[str, Any], Mapping[str, int]]],
) -> list[dict[str, Any]]:
    """Parts in which each call counts once, though suites share trials (the baseline of a ladder).

    A trial that several suites hold counts as made in the first one by name and as replayed in the
    others, whichever of them was measured first.

    Args:
        parts: for each its plain values, and the trials that the session asked for it, with how
            often they were retried.
    """
    owners: dict[tuple[str, str], str] = {}
    for sheet, asked in parts:
        for trial in asked:
            key = (sheet["judge"], trial)
            owners[key] = min(owners.get(key, sheet["suite"]), sheet["suite"])
    counted = []
    for sheet, asked in parts:
        retried = [
            times
            for trial, times in asked.items()
            if owners[sheet["judge"], trial] == sheet["suite"]
        ]
        calls = sheet["calls"]
        answered = calls["made"] + calls["replayed"]
        made = {"made": len(retried), "replayed": answered - len(retried), "retried": sum(retried)}
        counted.append({**sheet, "calls": {**calls, **made}})
    return counted


def sheet_of(
    parts: Iterable[SuiteSheet], *, seed: int, mode: str, secondary: bool = False
) -> Datasheet:
    """The datasheet of parts; ``secondary``: with the analyses that take an optional package."""
    sheet = merge_parts(parts, seed=seed, mode=mode, versions=versions())
    materials: dict[str, dict[str, Any]] = {}
    for part in (part for judge in sheet.judges for part in judge.parts):
        if part.material is not None:
            materials.setdefault(part.suite, {})[part.judge] = part.material
    return replace(sheet, analyses=_analyses(materials, seed, secondary=secondary))


def _analyses(
    materials: Mapping[str, Mapping[str, Any]], seed: int, *, secondary: bool
) -> dict[str, list[dict[str, Any]]]:
    """What compares judges, by suite."""
    found = {}
    for suite, of_judges in sorted(materials.items()):
        # Not before they are needed: a run without debates must not wait for them.
        from pytest_judgesense.instruments.debate.secondary import analyses_of, secondary_of

        found[suite] = analyses_of(suite, of_judges, seed)
        if secondary:
            found[suite] += secondary_of(suite, of_judges, seed)
    return found


def datasheet_text(
    suffix: str,
    sheet: Datasheet,
    logs: Sequence[Sequence[str]] = (),
    missed: Sequence[str] = (),
    evidence: Evidence | None = None,
) -> str:
    """``sheet`` in the form that the suffix of its file chooses.

    Args:
        suffix: ``.json`` or ``.md``: the datasheet; ``.html``: a page of it; ``.jsonl``: the
            judgment log.
        sheet: the datasheet.
        logs: lines of the judgment log, a sequence for each judge and suite.
        missed: what was to be measured and was not, for people.
        evidence: the judgments, for a page.

    Raises:
        UsageError: the suffix is unknown, or what draws a page is not installed.
    """
    if suffix == ".json":
        return datasheet_json(sheet)
    if suffix == ".md":
        from pytest_judgesense.datasheet.handout import markdown

        return markdown(sheet, missed)
    if suffix == ".html":
        from pytest_judgesense.datasheet.page import page_text

        return page_text(sheet, evidence)
    if suffix == ".jsonl":
        return "".join(f"{line}\n" for lines in logs for line in lines)
    raise UsageError(
        "a datasheet cannot be written in this form",
        found=f"the suffix {suffix!r}",
        expected=".json, .html for a page, .md, or .jsonl for the judgment log",
        remedy="name a file that ends in .json, .html, .md or .jsonl",
    )


def joined_datasheets(sheets: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """One datasheet as JSON text of several: that of one session that had measured everything.

    Args:
        sheets: for each its name, for messages, and the object of its JSON.

    Raises:
        LogError: something stands in two of them, and differs; names what, and both.
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
                f"{name} is no datasheet that can be joined",
                found=f"{type(error).__name__}: {error}",
                expected=f"a datasheet {SCHEMA} with the parts of every judge",
                remedy="write it again with --judge-datasheet",
            ) from error
    materials: dict[str, dict[str, Any]] = {}
    for slug, suite, material in (found for one in judges.values() for found in one.materials()):
        materials.setdefault(suite, {})[slug] = material
    secondary = any(joined.has_secondary for joined in judges.values())
    analyses = _analyses(materials, head["seed"].value, secondary=secondary) if materials else {}
    return sheet_text(
        {key: known.value for key, known in head.items()},
        [judges[slug].entry(analyses) for slug in sorted(judges)],
    )


@dataclass(frozen=True, slots=True)
class _Known:
    value: Any
    source: str


def _agree(known: dict[Any, _Known], key: Any, value: Any, source: str, what: str) -> None:
    """Enter ``value`` under ``key``; what stands there already must be the same."""
    first = known.setdefault(key, _Known(value, source))
    if first.value != value:
        raise LogError(
            f"two datasheets do not agree on {what}",
            found=f"{_short(first.value, value)} in {first.source}, "
            f"{_short(value, first.value)} in {source}",
            expected="the same in both, or in one of them alone",
            remedy="measure it anew from the same recordings, with the same seed and versions",
        )


def _short(value: Any, other: Any) -> str:
    """``value``; of an object, only what differs from ``other``."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        value = {key: value[key] for key in value if value[key] != other.get(key, ...)}
    return json.dumps(value, ensure_ascii=False)[:200]


class _Joined:
    """A judge's entry, growing as datasheets are joined."""

    def __init__(self, slug: str) -> None:
        self._slug = slug
        self.has_secondary = False
        self._identity: dict[str, _Known] = {}
        self._of: dict[str, dict[tuple[str, ...], _Known]] = {
            kind: {} for kind in ("parts", "measures", "checks", "analyses")
        }

    def add(self, entry: Mapping[str, Any], source: str) -> None:
        named = f"judge {self._slug}"
        identity = {k: v for k, v in entry["judge"].items() if k not in _SUMS}
        _agree(self._identity, "identity", identity, source, f"what {named} is")
        for part in entry["parts"]:
            self._add_part(part, source, f"suite {part['suite']} of {named}")
        ranked = {part["suite"] for part in entry["parts"] if part.get("material")}
        for kind in ("measures", "checks", "analyses"):
            for line in entry[kind]:
                name = line[_NAMES[kind]]
                if kind == "analyses" and line["suite"] in ranked and "lines" not in line:
                    # It compares the judges of one session: of all of them it is made anew.
                    self.has_secondary |= name == "anova"
                    continue
                if name == LEADERBOARD:
                    continue  # drawn up anew, of the judges of all sheets
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

    def materials(self) -> Iterator[tuple[str, str, Any]]:
        """Judge, suite and material of each part that a ranking needs."""
        for known in self._of["parts"].values():
            if known.value.get("material"):
                yield self._slug, known.value["suite"], known.value["material"]

    def entry(self, analyses: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any]:
        def of(kind: str) -> list[Any]:
            # By suite; within it measures as the estimators give them, checks by their names.
            keys = sorted(self._of[kind], key=lambda key: key[: 2 if kind == "checks" else 1])
            return [self._of[kind][key].value for key in keys]

        return summed_up(
            self._identity["identity"].value,
            of("parts"),
            of("measures"),
            of("checks"),
            [
                *of("analyses"),
                *(one for (suite,) in sorted(self._of["parts"]) for one in analyses.get(suite, ())),
            ],
        )
