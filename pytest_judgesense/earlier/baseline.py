"""Earlier measurements that later sessions are compared with: baseline files and datasheets.

A baseline file holds judgments, not only estimates, so that a later session can be compared trial
by trial::

    {"schema": "judgesense/baseline/1", "seed", "versions",
     "judges": [{"identity": {...},
                 "suites": [{"suite", "digest", "design", "prompts", "recorded",
                             "judgments": [...]}]}]}

``digest`` covers items and design, not prompts: a changed prompt is compared with the old one on
the same trials. Each judgment is one line, so that a version-control diff shows which replies
have changed. The same judgments give the same bytes.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from pytest_judgesense.checks.regression import Changes, Side
from pytest_judgesense.datasheets.datasheet import SuiteSheet, digest, text_of
from pytest_judgesense.errors import LogError, UsageError, well_formed
from pytest_judgesense.files.limits import json_value
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.datasheet_file import SCHEMA as DATASHEET
from pytest_judgesense.report.datasheet_file import datasheet_from
from pytest_judgesense.report.log import (
    design_object,
    design_of_object,
    judgment_object,
    judgment_of_object,
)
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment, grouped

SCHEMA: Final = "judgesense/baseline/1"
# Keys of a judge's identity.
_IDENTITY: Final = ("name", "provider", "model", "base_url")
_DECODING: Final = ("temperature", "max_tokens", "seed", "top_p", "reasoning")
_BESIDE: Final = ("name", "own_prompts")
_FUNCTION: Final = "callable"
# Not part of a judgment: a replay measures neither.
_OF_A_RUN: Final = frozenset(("latency_s", "recorded_at"))


@dataclass(frozen=True)
class Measured:
    """One judge on one suite, from a file or from this session.

    Attributes:
        side: its estimates and, except for a datasheet, its judgments.
        digest: of items and design; ``None`` if not known.
        prompts: system prompt and templates in use; ``None`` if not known.
        recorded: when its first and its last reply were recorded; ``None`` if not known.
        analyses: the tables of a datasheet; ``material``: what it holds for comparisons of judges.
        max_tokens: the budget of a reply that was sent; ``None``: that of the identity.
    """

    judge: str
    suite: str
    identity: Mapping[str, Any]
    side: Side
    digest: str | None = None
    prompts: Mapping[str, Any] | None = None
    recorded: tuple[str, str] | None = None
    analyses: tuple[Mapping[str, Any], ...] = ()
    material: Mapping[str, Any] | None = None
    max_tokens: int | None = None


def stimuli_digest(suite: Suite) -> str:
    """Digest of items and design, without prompts."""
    value = [
        [suite.kind, suite.space.labels, suite.space.ordinal, suite.space.pairwise],
        [suite.orders, suite.replicates, suite.pairs],
        [
            [i.id, i.cluster, dict(i.fields), i.contents, i.label, dict(i.condition)]
            + [i.swapped] * bool(i.swapped)
            for i in suite.items
        ],
    ]
    return digest(value, 16)


class SavedSuite(NamedTuple):
    """One judge on one suite, as a baseline keeps it.

    Attributes:
        sheet: its part of the datasheet.
        stimuli: the `stimuli_digest`.
        cell: its judgments.
    """

    sheet: SuiteSheet
    stimuli: str
    cell: Cell


def baseline_text(parts: Iterable[SavedSuite], seed: int, versions: Mapping[str, str]) -> str:
    """The baseline file of a session."""
    by_name = {(part.sheet.judge, part.sheet.suite): part for part in parts}
    judges = grouped((by_name[key] for key in sorted(by_name)), lambda part: part.sheet.judge)
    entries = [
        f'{{"identity": {_json(dict(of_judge[0].sheet.identity))},\n"suites": [\n'
        + ",\n".join(map(_suite_text, of_judge))
        + "\n]}"
        for of_judge in judges.values()
    ]
    head = f'"schema": {_json(SCHEMA)},\n"seed": {seed},\n"versions": {_json(dict(versions))}'
    return f'{{{head},\n"judges": [\n' + ",\n".join(entries) + "\n]}\n"


def _suite_text(part: SavedSuite) -> str:
    sheet = part.sheet
    head = {
        "suite": sheet.suite,
        "digest": part.stimuli,
        "design": design_object(part.cell.design),
        "prompts": sheet.prompts.get(sheet.suite),
    }
    if sheet.max_tokens is not None:
        head["max_tokens"] = sheet.max_tokens
    # On a separate line: if the recording is repeated, only this line and changed replies differ.
    recorded = f'"recorded": {_json(sheet.recorded)}'
    judgments = ",\n".join(map(_judgment_text, part.cell.all_judgments))
    return f'{_json(head)[:-1]},\n{recorded},\n"judgments": [\n{judgments}\n]}}'


def _judgment_text(judgment: Judgment) -> str:
    fields = judgment_object(judgment)
    for name in _OF_A_RUN & fields.keys():
        del fields[name]
    return _json(fields)


def _json(value: Any) -> str:
    # A reply that was cut off may end in half of a surrogate pair, as in the log.
    return well_formed(json.dumps(value, ensure_ascii=False))


class _PromptsForm(BaseModel, extra="allow", frozen=True, defer_build=True):
    system: str | None = None
    templates: dict[str, str] = {}


class _SuiteForm(BaseModel, extra="forbid", frozen=True, defer_build=True):
    suite: str
    digest: str
    design: dict[str, Any]
    prompts: _PromptsForm | None
    recorded: tuple[str, str] | None = None
    max_tokens: int | None = None
    judgments: list[dict[str, Any]] = Field(min_length=1)


class _JudgeForm(BaseModel, extra="forbid", frozen=True, defer_build=True):
    identity: dict[str, Any]
    suites: list[_SuiteForm]


class _BaselineForm(BaseModel, extra="forbid", frozen=True, defer_build=True):
    schema_: Literal["judgesense/baseline/1"] = Field(alias="schema")
    seed: int
    versions: dict[str, str]
    judges: list[_JudgeForm] = Field(min_length=1)


def is_baseline(path: Path) -> bool:
    """Whether a file says that it is a baseline; `read_measured` tells what is wrong with it."""
    with suppress(OSError, ValueError):
        value = json_value(read_text(path))
        return isinstance(value, dict) and value.get("schema") == SCHEMA
    return False


def read_measured(path: Path, seed: int = 0, registry: Registry = BUILT_IN) -> list[Measured]:
    """The content of a baseline or a datasheet (``.json``); ``seed`` is that of the estimators.

    Raises a `UsageError` if there is no such file, a `LogError` if it cannot be read.
    """
    if not path.is_file():
        raise UsageError(
            f"there is no file {path}",
            expected="a baseline, or a datasheet",
            remedy="write one: pytest --judge-save-baseline PATH, or --judge-datasheet x.json",
        )
    with LogError.instead_of((OSError, ValueError), f"{path} cannot be read", expected="JSON"):
        value = json_value(read_text(path))
    schema = value.get("schema") if isinstance(value, dict) else None
    if schema == SCHEMA:
        return _of_baseline(path, value, seed, registry)
    if schema == DATASHEET:
        return _of_datasheet(path, value)
    raise LogError(
        f"{path} has another schema",
        found=repr(schema),
        expected=f"{SCHEMA!r} or {DATASHEET!r}",
        remedy="write it again with this version: pytest --judge-save-baseline PATH",
    )


def read_baseline(path: Path, seed: int = 0, registry: Registry = BUILT_IN) -> list[Measured]:
    """The content of a baseline; raises the errors of `read_measured`."""
    measured = read_measured(path, seed, registry)
    if any(each.digest is None for each in measured):
        raise LogError(f"{path} is not a baseline", expected=f"a JSON object with schema {SCHEMA}")
    return measured


def _of_baseline(
    path: Path, value: Mapping[str, Any], seed: int, registry: Registry
) -> list[Measured]:
    try:
        form = _BaselineForm.model_validate(value)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, p['loc'])) or 'file'}: {p['msg']}" for p in error.errors()[:3]
        )
        raise LogError(f"{path} is not of the form {SCHEMA}", found=problems) from error
    measured = []
    for judge in form.judges:
        name = str(judge.identity.get("name", ""))
        for of in judge.suites:
            where = f"{path}: judge {name}, suite {of.suite}"
            design = design_of_object(of.design, where)
            judgments = tuple(
                judgment_of_object(line, f"{where}, judgment {number}", registry)[0]
                for number, line in enumerate(of.judgments, start=1)
            )
            measures = registry.measures_on(design.kind, of.suite)
            side = Side.of(
                Cell.with_controls_apart(name, of.suite, design, judgments, seed, measures)
            )
            prompts = None if of.prompts is None else of.prompts.model_dump()
            texts = (of.digest, prompts, of.recorded)
            budget = of.max_tokens
            measured.append(
                Measured(name, of.suite, judge.identity, side, *texts, max_tokens=budget)
            )
    return measured


def _of_datasheet(path: Path, value: Mapping[str, Any]) -> list[Measured]:
    try:
        sheet = datasheet_from(value)
        return [
            Measured(
                judge.identity["name"],
                part.suite,
                {k: v for k, v in judge.identity.items() if k in (*_IDENTITY, *_DECODING)},
                Side(part.estimates),
                analyses=part.analyses,
                material=part.material,
                max_tokens=part.max_tokens,
            )
            for judge in sheet.judges
            for part in judge.parts
            if part.estimates
        ]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise LogError(
            f"{path} is not a datasheet that can be compared",
            found=f"no {error}"
            if isinstance(error, KeyError)
            else f"values of other kinds: {error}",
            expected="what --judge-datasheet wrote: judges with measures, parts and analyses",
            remedy="write it again",
        ) from error


def changes(old: Measured, new: Measured) -> Changes:
    """Differences of judge, decoding, prompt and suite."""
    changed = [
        key
        for key, value in old.identity.items()
        if key in new.identity and key not in _BESIDE and value != new.identity[key]
    ]
    # A function has settings where its requests show them: what is not known has not changed.
    if _FUNCTION in (old.identity.get("provider"), new.identity.get("provider")):
        changed = [
            key
            for key in changed
            if key not in _DECODING or None not in (old.identity[key], new.identity[key])
        ]
    lines, clauses = [], []
    for key in sorted(changed, key=_DECODING.__contains__):
        both = f"{text_of(old.identity[key])} -> {text_of(new.identity[key])}"
        lines.append(f"{'decoding' if key in _DECODING else 'judge'}: {key} {both}")
        clauses.append(f"the {key} changed: {both}")
    if old.prompts and new.prompts and old.prompts != new.prompts:
        diff = list(_prompt_diff(old.prompts, new.prompts))
        lines += ["prompt:", *(f"  {line}" for line in diff)]
        count = sum(line[:1] in ("+", "-") and line[:3] not in ("+++", "---") for line in diff)
        clauses.append(f"the prompt changed ({count} line{'s' * (count != 1)})")
    if old.digest and new.digest and old.digest != new.digest:
        lines.append(f"suite: its items or its design, digest {old.digest} -> {new.digest}")
        clauses.append("the suite changed: its items or its design")
    return Changes(tuple(lines), "; ".join(clauses))


def _prompt_diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    before, after = (
        {
            "system": side.get("system") or "",
            **{f"system of {name}": text for name, text in side.get("systems", {}).items()},
            **side.get("templates", {}),
        }
        for side in (old, new)
    )
    for name in dict.fromkeys([*before, *after]):
        then, now = (str(side.get(name, "")).splitlines() for side in (before, after))
        labels = f"{name} before", f"{name} now"
        yield from difflib.unified_diff(then, now, *labels, n=1, lineterm="")
