"""From a suite file to a `Suite`: read, validate, choose a preset. Errors name file and place."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_judgesense.errors import SuiteError, unknown_name
from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.suites.annotators import (
    drawn_by,
    persons_of,
    refuse_columns_of_people,
    refuse_spellings,
    with_answers,
    with_labels,
    without_labels,
)
from pytest_judgesense.suites.builtin import is_built_in
from pytest_judgesense.suites.from_lines import plain_items, with_systems
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.item_groups import with_groups
from pytest_judgesense.suites.labelled_texts import MatchedLabels, Uncounted, ids_by_text, matched
from pytest_judgesense.suites.people import PersonLabel, in_force, people_file, people_lines
from pytest_judgesense.suites.rules import pooled, verify, verify_labelled
from pytest_judgesense.suites.schema import PresetForm, SpaceForm, SuiteForm, is_of_people
from pytest_judgesense.suites.signatures import fields_taken
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.stimuli import Stimuli, not_of_the_form, read_lines, stimuli_of_bytes
from pytest_judgesense.suites.suite import CheckDeclaration, Kind, Material, Review, Suite, Template
from pytest_judgesense.trial import grouped

_Value = TypeVar("_Value", Template, DecisionSpace)

_HEADER: Final = re.compile(r"\s*\[([^\[\]]+)\]\s*(#.*)?$")  # of a table
_PART: Final = 1 << 20  # characters
# What a suite takes of the one that it is from.
_OF_ITEMS: Final = ("columns", "values", "messages", "groups")
_SETTINGS: Final = ("temperature", "max_tokens", "most_tokens", "top_p")
_KEY: Final = re.compile(r"\s*([\w-]+)\s*=")


def load_suite(
    path: Path, preset: str | None, kinds: Mapping[str, Kind], *, labelled: bool = True
) -> Suite:
    """The suite of a ``*.suite.toml`` file, without a ``preset`` with the design of the file.

    Args:
        path: of the file.
        preset: the name of one of its presets.
        kinds: those of suites that there are, by name.
        labelled: whether items must have the labels that their kind cannot do without.

    Raises:
        SuiteError: the file or its stimuli cannot be read or are not of the form.
        UsageError: unknown preset.
    """
    # Kinds that are put together on the spot cannot be told from others: nothing is kept for them.
    load = _load if isinstance(kinds, Hashable) else _load.__wrapped__
    suite = load(path.resolve(), preset, kinds)
    if labelled:
        verify_labelled(suite)
    return suite


def presets_of(path: Path, kinds: Mapping[str, Kind]) -> tuple[str, ...]:
    """Names of the presets that a suite file declares."""
    return tuple(_read_form(path, kinds)[0].presets)


def stimuli_of(suite: Suite) -> Path:
    """The file of the items that a suite file names."""
    form, _, _ = _read_form(suite.path, {suite.kind: suite.form})
    return suite.path.parent / form.stimuli.file


def items_of_bytes(suite: Suite, data: bytes, kinds: Mapping[str, Kind]) -> tuple[Item, ...]:
    """The items that a suite would have if these bytes were those of the file of its items.

    Raises:
        SuiteError: they are not of the form that the suite file says.
    """
    form, _, _ = _read_form(suite.path, kinds)
    preset = suite.name.partition("@")[2]
    chosen = form.presets[preset] if preset else PresetForm()
    stimuli, _ = stimuli_of_bytes(suite.path, _as_chosen(form, chosen), data)
    kind = kinds[form.kind]
    material = _material(kind, stimuli.form, suite.path.parent)
    return _items(suite.path, kind, stimuli, material, None)


@lru_cache(maxsize=64)
def _load(path: Path, preset: str | None, kinds: Mapping[str, Kind]) -> Suite:
    form, text, source = _read_form(path, kinds)
    if preset is not None and preset not in form.presets:
        raise unknown_name(f"preset of suite {form.name}", preset, form.presets)
    chosen = PresetForm() if preset is None else form.presets[preset]
    design, kind, space = form.design, kinds[form.kind], form.space
    pairs = design.pairs if chosen.pairs is None else chosen.pairs
    weights = design.weights
    stimuli, raw = read_lines(path, _as_chosen(form, chosen))
    material = _material(kind, stimuli.form, path.parent)
    items = _items(path, kind, stimuli, material, chosen.items or design.items)
    (lines, unfinished), by_columns = people_lines(people_file(path)), items
    fewer = chosen.items or design.items or chosen.probes or chosen.lengths
    labels = _matched(lines, items, whole=not fewer)
    answers = tuple(labels.counted.values())
    of_people, sources = [people_file(path)] * bool(lines), [source.path] if source else []
    items = with_answers(items, stimuli, answers) if answers else items
    refuse_spellings(
        form.name, (*persons_of(items), *(line.person for line in in_force(lines).values()))
    )
    suite = Suite(
        name=form.name if preset is None else f"{form.name}@{preset}",
        base=form.name,
        form=kind,
        path=path,
        digest="",
        description=form.description,
        space=_decision_space(space),
        system=form.system if chosen.system is None else chosen.system,
        templates=_templates(form, chosen),
        items=_of_each(with_systems(items, form), chosen.of_each),
        pairs=() if kind.sweeps else pairs if isinstance(pairs, str) else tuple(pairs),
        orders=(chosen.orders or design.orders) if space.pairwise else "ab",
        replicates=chosen.replicates or design.replicates,
        checks=_checks(path, form, preset, text),
        judges=tuple(form.judges),
        reviews=_reviews(form),
        reviewers=MappingProxyType(dict(form.reviewers)),
        temperature=design.temperature if chosen.temperature is None else chosen.temperature,
        max_tokens=design.max_tokens,
        most_tokens=chosen.most_tokens or design.most_tokens,
        structured=chosen.structured is True,
        ddof=int(design.variance == "n - 1"),
        weights=kind.weights if weights is None else weights.values,
        effect_threshold=design.effect_threshold,
        temperatures=tuple(sorted(chosen.temperatures or design.temperatures or ())),
        seed=design.seeds,
        top_p=design.top_p,
        early_stop=design.early_stop,
        accepted=tuple(form.stimuli.accepted),
        labelled=drawn_by(form, answers, by_columns),
        uncounted=replace(labels.uncounted, unfinished=unfinished),
        files=tuple(
            file.resolve()
            for file in (*(stimuli.files or (stimuli.file,)), *of_people, *sources, *material.files)
        ),
        source=source.name if source else "",
        was=form.was or "",
        material=material.value,
        messages=tuple(form.stimuli.messages or ()),
        calls=chosen.calls or design.calls or "joint",
    ).arranged
    digest = _digest(form, preset, raw, answers, material.text, texts=_asked_together(suite))
    return _completed(replace(suite, digest=digest), chosen, kinds)


def _completed(suite: Suite, chosen: PresetForm, kinds: Mapping[str, Kind]) -> Suite:
    """The suite with the items of the one it is pooled with, expanded by its kind and verified."""
    path = suite.path
    if chosen.pooled_with is not None:
        other = _load((path.parent / chosen.pooled_with).resolve(), None, kinds)
        suite = _with_items_of(other, suite)
    if is_built_in(path):
        suite = replace(suite, built_in=suite.items)
    suite = suite.expanded
    verify(suite)
    return suite


def _decision_space(form: SpaceForm) -> DecisionSpace:
    """The decision space that a suite file declares."""
    names = {label: tuple(names) for label, names in form.names.items()}
    return _value(
        DecisionSpace,
        form,
        labels=form.answers,
        score=form.range,
        names=MappingProxyType(names),
        criteria=form.graded,
        pass_mark=form.mark,
    )


def _items(
    path: Path, kind: Kind, stimuli: Stimuli, material: Material, number: int | None
) -> tuple[Item, ...]:
    """The items of the first ``number`` lines, with what people said of them in the file."""
    refuse_columns_of_people(path, stimuli)
    stimuli, labelled = without_labels(stimuli)
    taken = fields_taken(stimuli.form, path)
    lines = stimuli.lines[:number]
    stimuli = replace(stimuli, lines=lines, material=material.value, taken=taken)
    return with_groups(with_labels(kind.read(stimuli), stimuli, labelled), stimuli)


def _matched(
    lines: tuple[PersonLabel, ...], items: tuple[Item, ...], *, whole: bool
) -> MatchedLabels:
    """The lines of a file of people's labels by items; ``whole``: whether these are all there are.

    Of some of the items, nothing says whether the others are still there.
    """
    labels = matched(lines, ids_by_text(items) if lines else {})
    if whole:
        return labels
    return replace(labels, uncounted=Uncounted(labels.uncounted.of_other_texts))


def _material(kind: Kind, form: SuiteForm, folder: Path) -> Material:
    """What the kind makes items with beside the lines; nothing of most kinds."""
    return Material(None, "") if kind.material is None else kind.material(form, folder)


def _as_chosen(form: SuiteForm, chosen: PresetForm) -> SuiteForm:
    """The suite file with the probes of a preset, its lengths and controls, if it names any."""
    named = {"probes": chosen.probes, "lengths": chosen.lengths, "controls": chosen.controls}
    update = {key: value for key, value in named.items() if value is not None}
    if not update:
        return form
    return form.model_copy(update={"stimuli": form.stimuli.model_copy(update=update)})


def _with_items_of(other: Suite, suite: Suite) -> Suite:
    """``suite`` with the labelled items of another one, see `pooled`."""
    digest = _sha(f"{suite.digest} {other.digest}")
    files = (*suite.files, other.path, *other.files)
    return replace(suite, items=pooled(suite, other), digest=digest, files=files)


def _of_each(items: tuple[Item, ...], number: int | None) -> tuple[Item, ...]:
    """This many items of each cluster and condition, from the middle; all by default."""
    if number is None:
        return items
    alike = grouped(items, lambda item: (item.cluster, *sorted(item.condition.items())))
    chosen = set[str]()
    for of_each in alike.values():
        start = max(0, (len(of_each) - number) // 2)
        chosen.update(item.id for item in of_each[start : start + number])
    return tuple(item for item in items if item.id in chosen)


class _Source(NamedTuple):
    """The suite that another is made from."""

    name: str
    path: Path


def _read_form(path: Path, kinds: Mapping[str, Kind]) -> tuple[SuiteForm, str, _Source | None]:
    """A suite file, its text, and the suite that it is from, whose parts it has by then."""
    table, text = _read_table(path)
    place = table.get("stimuli", {}).get("from") if isinstance(table.get("stimuli"), dict) else None
    if not isinstance(place, str):
        return form_of(table, kinds, f"the suite file {path}"), text, None
    source = (path.parent / place).resolve()
    source_table, _ = _read_table(source)
    if "file" in table["stimuli"]:
        raise SuiteError(
            f"suite file {path} has items twice",
            found="file and from in [stimuli]",
            expected="one of them",
            remedy="take file out: the items of from are taken",
        )
    further = source_table.get("stimuli")
    if isinstance(further, dict) and "from" in further:
        raise SuiteError(
            f"suite file {path} cannot be made from {source}",
            found=f"a suite that is itself made from another: from = {further['from']!r}",
            expected="the suite that has the items",
            remedy="name that one in [stimuli] from",
        )
    form = form_of(source_table, kinds, f"the suite file {source}")
    kind = kinds.get(str(table.get("kind")))
    if kind is not None and not kind.derived:
        derived = ", ".join(name for name, kind in kinds.items() if kind.derived)
        raise SuiteError(
            f"suite file {path} has [stimuli] from",
            found=f'kind = "{kind.name}", which has items of its own',
            expected=f"a kind of suites that are made from others: {derived}",
            remedy="name the items by [stimuli] file",
        )
    if kinds[form.kind].items is not plain_items or form.space.criteria:
        raise SuiteError(
            f"suite file {path} cannot be made from {source}",
            found=f'kind = "{form.kind}"' + " with criteria" * bool(form.space.criteria),
            expected="a suite of pairs, or of single texts with one verdict",
            remedy="fix [stimuli] from",
        )
    whole = _joined(table, source_table, form, os.path.relpath(source.parent, path.parent))
    return form_of(whole, kinds, f"the suite file {path}"), text, _Source(form.name, source)


def _joined(
    table: Mapping[str, Any], source: Mapping[str, Any], form: SuiteForm, way: str
) -> dict[str, Any]:
    """``table`` with what it lacks of its ``source``, which lies in the folder ``way``."""
    first = next(n for n, template in enumerate(form.templates) if template.default)
    file = PurePath(way, form.stimuli.file).as_posix()
    items = {key: value for key, value in source["stimuli"].items() if key in _OF_ITEMS}
    if isinstance(columns := items.get("columns"), dict):
        # What people say is of the items as they are, and of no other suite.
        items["columns"] = {key: value for key, value in columns.items() if not is_of_people(key)}
    settings = {k: v for k, v in source.get("design", {}).items() if k in _SETTINGS}
    joined = {key: source[key] for key in ("system", "space") if key in source}
    joined |= {"templates": [source["templates"][first]], **table}
    joined["stimuli"] = {**items, **table["stimuli"], "file": file}
    return joined | {"design": settings | dict(table.get("design", {}))}


def _read_table(path: Path) -> tuple[dict[str, Any], str]:
    with SuiteError.instead_of(
        (OSError, ValueError),
        f"the suite file {path} cannot be read",
        expected="a TOML file in UTF-8",
        remedy="fix the file at that place",
    ):
        text = read_text(path)
        return toml_value(text), text


def form_of(table: Mapping[str, Any], kinds: Mapping[str, Kind], where: str) -> SuiteForm:
    """The suite file that is a ``table``, which errors call ``where``.

    Raises:
        SuiteError: a key or a value is wrong.
    """
    try:
        return SuiteForm.model_validate(table, context=kinds)
    except ValidationError as error:
        raise not_of_the_form(where, error, SuiteForm) from error


def _templates(form: SuiteForm, chosen: PresetForm) -> tuple[Template, ...]:
    wanted, ids = chosen.templates, [template.id for template in form.templates]
    for name in sorted(set(wanted) - set(ids)) if isinstance(wanted, list) else ():
        raise unknown_name(f"template of suite {form.name}", name, ids)
    if wanted == "all":
        wanted = [name for name in ids if name not in _own_templates(form)]
    return tuple(
        _value(
            Template,
            template,
            text=template.text.strip(),
            system=template.system and template.system.strip(),
            reply_keys=template.reply_keys and tuple(template.reply_keys),
        )
        for template in form.templates
        if (template.default if wanted is None else template.id in wanted)
    )


def _own_templates(form: SuiteForm) -> set[str]:
    """The templates that ask otherwise: a preset, or they themselves, have a system prompt.

    They count for the presets that name them alone.
    """
    named = {
        name
        for preset in form.presets.values()
        if preset.system is not None
        for name in _named(preset)
    }
    return named | {
        template.id
        for template in form.templates
        if template.system is not None and not template.default
    }


def _value(kind: type[_Value], form: BaseModel, **changes: Any) -> _Value:
    """The value of ``kind`` with what ``form`` has under the same names; else its defaults."""
    named = {f.name: getattr(form, f.name) for f in fields(kind) if hasattr(form, f.name)}
    return kind(**named | changes)


def _reviews(form: SuiteForm) -> tuple[Review, ...]:
    return tuple(
        Review(entry.pair, MappingProxyType(dict(entry.reviews))) for entry in form.equivalence
    )


def _checks(
    path: Path, form: SuiteForm, preset: str | None, text: str
) -> tuple[CheckDeclaration, ...]:
    table, checks = "checks", form.checks
    if preset and (replacing := form.presets[preset].checks) is not None:
        table, checks = f"presets.{preset}.checks", replacing
    declared, lines = [], _lines(text)
    for key, value in checks.items():
        # The same check with other arguments is in a list: jss_floor = [0.9, {...}].
        for arguments in value if isinstance(value, list) else [value]:
            match arguments:
                case dict():
                    named: dict[str, Any] = arguments
                case str() if key in ("no_regression", "no_drift"):
                    named = {"measure": arguments}
                case int() | float() if not isinstance(arguments, bool):
                    named = {"bar": float(arguments)}
                case _:
                    raise SuiteError(
                        f"check {key} in {path} has no bar",
                        found=repr(arguments),
                        expected=f"{key} = 0.9, or a table of its arguments",
                    )
            line = lines.get(f"{table}.{key}")
            declared.append(CheckDeclaration(key, MappingProxyType(dict(named)), line))
    return tuple(declared)


def _lines(text: str) -> dict[str, int]:
    """The line of each table and of each key that stands under the name of its table."""
    lines: dict[str, int] = {}
    current = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            current = header[1].strip()
            lines.setdefault(current, number)
        elif key := _KEY.match(line):
            lines.setdefault(f"{current}.{key[1]}", number)
    return lines


def _asked_together(suite: Suite) -> dict[str, str]:
    """By template the text that one call for all criteria shows, where the file marks its parts.

    Marks change no such question: a suite that gets some is the suite that it was.
    """
    if suite.apart is not None:
        return {}
    return {template.id: template.text for template in suite.templates if template.written}


def _with_text(template: Mapping[str, Any], text: str | None) -> dict[str, Any]:
    """A template of a file with another text, and the blanks that stand around its own."""
    if text is None:
        return dict(template)
    own: str = template["text"]
    start, end = len(own) - len(own.lstrip()), len(own.rstrip())
    return {**template, "text": own[:start] + text + own[end:]}


def _digest(
    form: SuiteForm,
    preset: str | None,
    raw: str,
    answers: Iterable[PersonLabel] = (),
    material: str = "",
    *,
    texts: Mapping[str, str],
) -> str:
    # The questions and how they are counted, without the bars, the judges and the description.
    # Reviews only count by what they exclude: one more that agrees changes no number.
    aside = {"checks", "judges", "description", "presets", "equivalence"}
    aside |= {"reviewers", "label_review", "was"}
    table = form.model_dump(mode="json", exclude=aside)
    own = _own_templates(form)
    used = set(_named(form.presets[preset])) if preset else set()
    table["templates"] = [
        _with_text(template, texts.get(template["id"]))
        for template in table["templates"]
        if template["default"] or template["id"] not in own - used
    ]
    design = _without(table["design"], *table["design"])
    # When asking ends changes no question.
    table["design"] = {key: value for key, value in design.items() if key != "early_stop"}
    # Rare keys are left out of the digests of suites without them.
    rarely = ("probes", "edits", "edited", "favourable", "family", "lengths", "padding")
    usual = ("columns", "values", "labelled", "source", "controls", "messages")
    stimuli = _without(table["stimuli"], *usual, *rarely)
    table["stimuli"] = {k: v for k, v in stimuli.items() if k not in ("accepted", "groups")}
    table["space"] = _without(table["space"], "criteria", "scales", "weights", "pass_mark", "score")
    rare = ("judge_type", "prompt_style", "system")
    # What a reply is to be exactly changes no question: the prompt says it.
    table["templates"] = [
        _without({k: v for k, v in template.items() if k != "reply_keys"}, *rare)
        for template in table["templates"]
    ]
    excluded = sorted(sorted(r.pair) for r in _reviews(form) if r.verdict == "NO")
    dumped = form.presets[preset].model_dump(mode="json", exclude={"checks"}) if preset else None
    chosen = dumped and _without(
        dumped,
        *("temperatures", "of_each", "system", "temperature", "most_tokens", "structured"),
        *("probes", "lengths", "controls", "calls"),
    )
    # Of the four as one list of JSON; the file, which is much longer, in parts.
    digest = hashlib.sha256(f'[{_json(table)}, {_json(chosen)}, "'.encode())
    for start in range(0, len(raw), _PART):
        digest.update(_json(raw[start : start + _PART])[1:-1].encode())
    digest.update(f'", {_json(excluded)}]'.encode())
    # How they are counted: labels of people ask nothing.
    labels = sorted([a.item, a.person, a.criterion, a.label] for a in answers if a.counts)
    digest.update(_json(labels).encode() if labels else b"")
    digest.update(material.encode())
    return digest.hexdigest()[:16]


def _named(preset: PresetForm) -> list[str]:
    """The templates that a preset names."""
    return preset.templates if isinstance(preset.templates, list) else []


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _without(table: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """``table`` without those of ``names`` that are not set."""
    return {k: value for k, value in table.items() if k not in names or value is not None}


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
