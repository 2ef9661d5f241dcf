"""From a suite file to a `Suite`: read, validate, choose a preset. Errors name file and place."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_judgesense.errors import SuiteError, unknown_name
from pytest_judgesense.suites.consistency import (
    pooled,
    verify_chain,
    verify_gold,
    verify_lengths,
    verify_suite,
)
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.schema import (
    ContentItem,
    DebateLine,
    GradedItem,
    LadderTask,
    PairItem,
    PresetForm,
    QuarterTask,
    SuiteForm,
    WeightsForm,
)
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.stimuli import (
    content_item,
    debate_item,
    graded_item,
    ladder_items,
    pair_item,
    quarter_items,
)
from pytest_judgesense.suites.suite import (
    CheckDeclaration,
    Item,
    Review,
    Suite,
    SuiteKind,
    Template,
)

__all__ = ["load_suite", "presets_of", "stimuli_of"]

_Line = TypeVar("_Line", bound=BaseModel)


def load_suite(
    path: Path,
    preset: str | None = None,
    kinds: tuple[SuiteKind, ...] = (),
    *,
    labelled: bool = True,
) -> Suite:
    """The suite of a ``*.suite.toml`` file.

    Args:
        path: the suite file.
        preset: name of one of its presets; ``None`` for the design as it stands.
        labelled: whether every item of a temperature suite must have its label.
        kinds: the kinds of suites that plugins add.

    Raises:
        SuiteError: the file or its stimuli cannot be read or are not of the form.
        UsageError: there is no such preset.
        ExtensionError: the plugin that added its kind is wrong; it names the plugin.
    """
    suite = _load(path.resolve(), preset, kinds)
    if labelled:
        verify_gold(suite)
    return suite


def presets_of(path: Path, kinds: tuple[SuiteKind, ...] = ()) -> tuple[str, ...]:
    """Names of the presets that a suite file declares."""
    return tuple(_read_form(path, kinds)[0].presets)


def stimuli_of(path: Path) -> Path:
    """The JSON Lines file that a suite file names."""
    return path.parent / _read_form(path, ())[0].stimuli.file


@lru_cache(maxsize=64)
def _load(path: Path, preset: str | None, kinds: tuple[SuiteKind, ...] = ()) -> Suite:
    form, text = _read_form(path, kinds)
    chosen = _preset(form, preset)
    rows, raw = _read_stimuli(path, form)
    own = next((kind for kind in kinds if kind.name == form.kind), None)
    if own is None:
        tasks, items = _items(path, form, rows, chosen)
    else:
        tasks = ()
        items = own.read([row for _, row in rows[: chosen.items]], path.parent / form.stimuli.file)
    if not items:
        raise SuiteError(
            f"suite {form.name} has no items",
            found=f"distances = {form.stimuli.distances}, subsets = {form.stimuli.subsets}",
            expected="distances from 0 to 5; subsets other than same have distance 0",
            remedy=f"mend [stimuli] in {path}",
        )
    templates = _templates(form, chosen)
    suite = Suite(
        name=form.name if preset is None else f"{form.name}@{preset}",
        base=form.name,
        kind=form.kind,
        path=path,
        digest=_digest(form, preset, raw),
        description=form.description,
        space=_space(form),
        system=form.system,
        templates=templates,
        items=items,
        pairs=_pairs(form, chosen),
        orders=(chosen.orders or form.design.orders) if form.space.pairwise else "ab",
        replicates=chosen.replicates or form.design.replicates,
        checks=_checks(path, form, preset, text),
        judges=tuple(form.judges),
        reviews=_reviews(form),
        tasks=tasks,
        temperature=form.design.temperature,
        max_tokens=form.design.max_tokens,
        ddof=int(form.design.variance == "n - 1"),
        weights=_weights(form),
        effect_threshold=form.design.effect_threshold,
        temperatures=tuple(sorted(chosen.temperatures or form.design.temperatures or ())),
        seed=form.design.seeds,
        top_p=form.design.top_p,
    )
    if chosen.pooled_with is not None:
        ladder = _load((path.parent / chosen.pooled_with).resolve(), None, kinds)
        digest = _sha(f"{suite.digest} {ladder.digest}")
        suite = replace(suite, items=pooled(suite, ladder), digest=digest)
    verify_suite(suite)
    if own is not None:
        own.look_at(suite, plan_trials(suite))
    return suite


def _read_form(path: Path, kinds: tuple[SuiteKind, ...]) -> tuple[SuiteForm, str]:
    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SuiteError(
            f"the suite file {path} cannot be read",
            found=str(error),
            expected="a TOML file in UTF-8",
            remedy="mend the file at that place",
        ) from error
    try:
        return SuiteForm.model_validate(table, context={kind.name for kind in kinds}), text
    except ValidationError as error:
        raise _not_of_the_form(f"the suite file {path}", error) from error


def _not_of_the_form(where: str, error: ValidationError) -> SuiteError:
    problems = []
    for problem in error.errors():
        place = ".".join(str(part) for part in problem["loc"]) or "(whole)"
        value = json.dumps(problem["input"], default=str)
        problems.append(f"{place}: {problem['msg']} (got {value[:80]})")
    return SuiteError(
        f"{where} is not of the form judgesense/suite/1",
        found="; ".join(problems),
        expected="the keys and values that docs/suites.md lists",
        remedy="mend the named keys",
    )


def _preset(form: SuiteForm, preset: str | None) -> PresetForm:
    if preset is None:
        return PresetForm()
    if preset not in form.presets:
        raise unknown_name(f"preset of suite {form.name}", preset, form.presets)
    return form.presets[preset]


def _read_stimuli(path: Path, form: SuiteForm) -> tuple[list[tuple[int, Any]], str]:
    file = path.parent / form.stimuli.file
    try:
        raw = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SuiteError(
            f"the stimuli of suite {form.name} cannot be read",
            found=str(error),
            expected=f"JSON Lines in UTF-8 at {file}",
            remedy=f"mend [stimuli] file in {path}",
        ) from error
    rows = []
    # Not splitlines(): a text may hold a Unicode line separator inside a JSON string.
    for number, line in enumerate(raw.split("\n"), start=1):
        if line.strip():
            try:
                rows.append((number, json.loads(line)))
            except json.JSONDecodeError as error:
                raise SuiteError(
                    f"{file}:{number} is not JSON", found=str(error), expected="one object a line"
                ) from error
    if not rows:
        raise SuiteError(f"{file} holds no items", expected="at least one line")
    return rows, raw


def _parse(
    path: Path, form: SuiteForm, rows: Sequence[tuple[int, Any]], model: type[_Line]
) -> list[_Line]:
    parsed = []
    seen: dict[str, int] = {}
    for number, row in rows:
        where = f"{path.parent / form.stimuli.file}:{number}"
        try:
            line = model.model_validate(row)
        except ValidationError as error:
            raise _not_of_the_form(where, error) from error
        identifier: str = line.id  # type: ignore[attr-defined]
        if identifier in seen:
            raise SuiteError(
                f"{where} repeats an id",
                found=f"{identifier!r}, which line {seen[identifier]} has",
                expected="every id once: trial ids are made of it",
            )
        seen[identifier] = number
        parsed.append(line)
    return parsed


def _items(
    path: Path, form: SuiteForm, rows: list[tuple[int, Any]], chosen: PresetForm
) -> tuple[tuple[LadderTask | QuarterTask, ...], tuple[Item, ...]]:
    rows = rows[: chosen.items or form.design.items or len(rows)]
    if form.kind in ("ladder", "criterion"):
        file, stimuli = str(path.parent / form.stimuli.file), form.stimuli
        if stimuli.steps == "quarter":
            quarters = tuple(_parse(path, form, rows, QuarterTask))
            _verify_tasks(quarters, file)
            return quarters, tuple(quarter_items(quarters, stimuli.distances))
        tasks = tuple(_parse(path, form, rows, LadderTask))
        _verify_tasks(tasks, file)
        return tasks, tuple(ladder_items(tasks, stimuli.distances, stimuli.subsets))
    if form.kind == "debate":
        debates = _parse(path, form, rows, DebateLine)
        ids = {debate.id for debate in debates}
        return (), tuple(debate_item(debate, ids) for debate in debates)
    if form.kind == "temperature":
        return (), tuple(graded_item(line) for line in _parse(path, form, rows, GradedItem))
    if form.space.pairwise:
        return (), tuple(pair_item(line) for line in _parse(path, form, rows, PairItem))
    lines = _parse(path, form, rows, ContentItem)
    known = {template.id for template in form.templates}
    for line in lines:
        if unknown := sorted(set(line.inverted) - known):
            raise SuiteError(
                f"item {line.id} of suite {form.name} inverts a template that is not there",
                found=repr(unknown[0]),
                expected="of " + ", ".join(sorted(known)),
            )
    return (), tuple(content_item(line) for line in lines)


def _verify_tasks(tasks: Sequence[LadderTask | QuarterTask], file: str) -> None:
    for task in tasks:
        verify_chain(task, file)
        verify_lengths(task, file)


def _templates(form: SuiteForm, chosen: PresetForm) -> tuple[Template, ...]:
    ids = [template.id for template in form.templates]
    if chosen.templates is None:
        wanted = {template.id for template in form.templates if template.default}
    elif chosen.templates == "all":
        wanted = set(ids)
    else:
        wanted = set(chosen.templates)
        for name in sorted(wanted - set(ids)):
            raise unknown_name(f"template of suite {form.name}", name, ids)
    return tuple(
        Template(
            template.id,
            template.text.strip(),
            template.polarity,
            template.arm,
            template.shared_with,
            template.judge_type,
            template.prompt_style,
        )
        for template in form.templates
        if template.id in wanted
    )


def _pairs(form: SuiteForm, chosen: PresetForm) -> str | tuple[tuple[str, str], ...]:
    if form.kind == "temperature":
        return ()  # its templates ask in different ways on purpose
    pairs = chosen.pairs if chosen.pairs is not None else form.design.pairs
    return pairs if isinstance(pairs, str) else tuple((a, b) for a, b in pairs)


def _weights(form: SuiteForm) -> tuple[float, float, float, float] | None:
    given = form.design.weights or (WeightsForm() if form.kind == "debate" else None)
    if given is None:
        return None
    return (given.flip, given.score_variance, given.confidence_variance, given.side_bias)


def _space(form: SuiteForm) -> DecisionSpace:
    space = form.space
    names = {label: tuple(names) for label, names in space.names.items()}
    return DecisionSpace(
        labels=tuple(space.labels),
        ordinal=space.ordinal,
        pairwise=space.pairwise,
        tie=space.tie,
        abstain=space.abstain,
        names=MappingProxyType(names),
        cut=space.cut,
    )


def _reviews(form: SuiteForm) -> tuple[Review, ...]:
    return tuple(
        Review(entry.pair, MappingProxyType(dict(entry.reviews))) for entry in form.equivalence
    )


def _checks(
    path: Path, form: SuiteForm, preset: str | None, text: str
) -> tuple[CheckDeclaration, ...]:
    own = form.presets[preset].checks if preset else None
    table, checks = (
        (f"presets.{preset}.checks", own) if own is not None else ("checks", form.checks)
    )
    declared = []
    for key, value in checks.items():
        # The same check with other arguments stands in a list: jss_floor = [0.9, {...}].
        for arguments in value if isinstance(value, list) else [value]:
            if key == "no_regression" and isinstance(arguments, str):
                arguments = {"measure": arguments}  # noqa: PLW2901 - as if it were written so
            if isinstance(arguments, bool) or not isinstance(arguments, int | float | dict):
                raise SuiteError(
                    f"check {key} in {path} has no bar",
                    found=repr(arguments),
                    expected=f"{key} = 0.9, or a table of its arguments",
                )
            named: Mapping[str, Any] = (
                arguments if isinstance(arguments, dict) else {"bar": float(arguments)}
            )
            line = _line(text, table, key)
            declared.append(CheckDeclaration(key, MappingProxyType(dict(named)), line))
    return tuple(declared)


def _line(text: str, table: str, key: str) -> int | None:
    """The line on which ``key`` stands in ``[table]``, for reports; ``None`` if it is elsewhere."""
    current = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[([^\[\]]+)\]\s*(#.*)?$", line):
            current = header[1].strip()
            if current == f"{table}.{key}":
                return number
        elif current == table and re.match(rf"\s*{re.escape(key)}\s*=", line):
            return number
    return None


def _digest(form: SuiteForm, preset: str | None, raw: str) -> str:
    # What is asked and how it is counted; not the bars, nor the judges, nor the description. Of the
    # reviews only what they exclude: one more that agrees changes no number.
    aside = {"checks", "judges", "description", "presets", "equivalence"}
    asked = form.model_dump(mode="json", exclude=aside)
    asked["design"] = {key: value for key, value in asked["design"].items() if value is not None}
    # What only temperature suites have is left out of the digests of the others.
    asked["templates"] = [_without(own, "judge_type", "prompt_style") for own in asked["templates"]]
    excluded = sorted(sorted(r.pair) for r in _reviews(form) if r.verdict == "NO")
    dumped = form.presets[preset].model_dump(mode="json", exclude={"checks"}) if preset else None
    chosen = dumped and _without(dumped, "temperatures")
    text = json.dumps([asked, chosen, raw, excluded], sort_keys=True, ensure_ascii=False)
    return _sha(text)


def _without(table: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """``table`` without those of ``names`` that are not set."""
    return {k: value for k, value in table.items() if k not in names or value is not None}


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
