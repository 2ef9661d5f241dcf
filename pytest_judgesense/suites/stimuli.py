"""The lines of a stimuli file, as the suite that names it uses them.

A user's file (CSV, a JSON list, or any file with ``columns``) has names and labels of the user;
they are mapped to those of suites before a line is read, and every error uses the words of the
file: line, column, value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from glob import has_magic
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple, TypeVar, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from pytest_judgesense.errors import LogError, SuiteError, UsageError, did_you_mean, listed
from pytest_judgesense.files.limits import beyond, limits
from pytest_judgesense.files.messages import NoConversation, is_chat, text_of_chat
from pytest_judgesense.files.opening import read_bytes
from pytest_judgesense.files.rows import field_of
from pytest_judgesense.files.tables import (
    FILE_COLUMN,
    JSON,
    JSON_LINES,
    RowTable,
    exists,
    file_at,
    files_at,
    read_rows,
    table_of,
    unit_of,
)
from pytest_judgesense.suites.item import Item, item_id, named
from pytest_judgesense.suites.schema import STRATUM, SuiteForm
from pytest_judgesense.trial import as_whole

_Line = TypeVar("_Line", bound=BaseModel)

# The fields of the candidates of a pair.
_CANDIDATES: Final = ("a", "b")
# Errors shown in full; of the others only the number is given.
_MOST_SHOWN: Final = 3
# Of one file; each is a key or a value that somebody wrote.
_MOST_FAULTS: Final = 10


class Misfit(NamedTuple):
    """A fault of a line: the field (none for that of the line), what was found, what is valid."""

    field: str
    found: str
    expected: str


# From a row of a user's file to the line of a suite; or the fault.
Adapt = Callable[["Stimuli", dict[str, Any]], "dict[str, Any] | Misfit"]


@dataclass(frozen=True, slots=True)
class Stimuli:
    """The source of the items of a suite: those lines that the design uses, with their numbers.

    ``table_form``: that of the file, in the words of `files.tables`;
    ``user_names``: whether names and labels are those of the user, not of suites; ``material``:
    what the kind makes items with beside the lines; ``taken``: the fields that templates show or
    functions take; ``files``: those that ``file`` names, where it is a pattern of several, and
    ``where_by_number``: then the file of each number, and the line in it.
    """

    form: SuiteForm
    file: Path
    lines: Sequence[tuple[int, Any]]
    table_form: str = JSON_LINES
    user_names: bool = False
    material: Any = None
    taken: frozenset[str] | None = None
    files: tuple[Path, ...] = ()
    where_by_number: Mapping[int, str] = field(default_factory=dict)

    @property
    def rows(self) -> list[Any]:
        return [row for _, row in self.lines]

    @property
    def columns(self) -> Mapping[str, str]:
        """By field, the column of the file that holds it, where it is called otherwise."""
        return self.form.stimuli.renamed

    def parse(self, model: type[_Line], adapt: Adapt | None = None) -> list[_Line]:
        """The lines as values of ``model``, in their order; a user's lines by ``adapt``.

        The ``id`` of a value is ``None`` where the line states none and the model permits that.

        Raises:
            SuiteError: lines are not of the form, or repeat an id; it names them, at most three.
        """
        is_plain = not (self.user_names or self.form.stimuli.messages)
        if is_plain and (lines := self._parsed_at_once(model)):
            return lines
        parsed: list[tuple[int, _Line]] = []
        line_of: dict[str, int] = {}
        wrong: list[tuple[int, Misfit]] = []
        for number, row in self.lines:
            read = self._read(model, row, adapt)
            if isinstance(read, list):
                wrong += [(number, misfit) for misfit in read]
                continue
            identifier: str | None = read.id  # type: ignore[attr-defined]
            if identifier is not None and line_of.setdefault(identifier, number) != number:
                wrong.append((number, _repeated(identifier, self._short(line_of[identifier]))))
            else:
                parsed.append((number, read))
        if wrong:
            raise self._refused(wrong, [number for number, _ in parsed])
        return [line for _, line in parsed]

    def named(self, items: Iterable[Item], others: Collection[str] = ()) -> Iterator[Item]:
        """The items of its lines, in their order, with ids and places; see `suites.item.named`.

        Args:
            items: an item of each line.
            others: ids of items of the suite that other lines make.

        Raises:
            SuiteError: lines state the id of one of the others; it names them, at most three.
        """
        numbers = (number for number, _ in self.lines)
        numbered: Iterable[tuple[int, Item]] = zip(numbers, items, strict=True)
        if others:
            numbered = tuple(numbered)
            self._refuse_taken(numbered, others)
        placed = (
            item if item.id else replace(item, place=self._short(number))
            for number, item in numbered
        )
        return named(placed, self.taken, others)

    def _refuse_taken(self, numbered: Iterable[tuple[int, Item]], others: Collection[str]) -> None:
        """Raise a `SuiteError` for lines that state the id of another item."""
        taken = [(number, item.id) for number, item in numbered if item.id in others]
        if taken:
            wrong = [(number, _repeated(name, "an item")) for number, name in taken]
            raise self._refused(wrong, [])

    def names(self, lines: Sequence[Any]) -> Iterator[str]:
        """What errors call the items of parsed ``lines``: their ids, else their places."""
        for (number, _), line in zip(self.lines, lines, strict=True):
            yield line.id or f"in {self._short(number)}"

    def _parsed_at_once(self, model: type[_Line]) -> list[_Line]:
        """The lines if all are right: in half the time, and without a word about what is wrong."""
        try:
            lines = _of_many(model).validate_python(self.rows)
        except ValidationError:
            return []
        ids = [line.id for line in lines if line.id is not None]
        return lines if len({*ids}) == len(ids) else []

    def _read(self, model: type[_Line], row: Any, adapt: Adapt | None) -> _Line | list[Misfit]:
        if self.user_names and isinstance(row, dict):
            row = self._renamed(row)
        if self.form.stimuli.messages and isinstance(row, dict):
            row, wrong = _with_conversations(row, self.form.stimuli.messages)
            if wrong:
                return wrong
        if self.user_names and isinstance(row, dict):
            if compound := self._compound(model, row):
                return compound
            if adapt is not None:
                row = adapt(self, row)
        if isinstance(row, Misfit):
            return [row]
        try:
            return model.model_validate(row)
        except ValidationError as error:
            return [_misfit(problem, model) for problem in error.errors()]

    def _compound(self, model: type[BaseModel], row: Mapping[str, Any]) -> list[Misfit]:
        """The objects and lists in a user's row where an item has texts.

        What nobody takes may be anything: a file may have columns for others.
        """
        return [
            Misfit(field, _shown(value), _UNDECLARED if is_chat(value) else _SCALAR)
            for field, value in row.items()
            if isinstance(value, dict | list) and self._is_text(model, field)
        ]

    def _is_text(self, model: type[BaseModel], field: str) -> bool:
        of_people, dot, _ = field.partition(".")
        if form := model.model_fields.get(field):
            return not _holds_several(form.annotation)
        if (dot and of_people in model.model_fields) or field in self.columns:
            return True
        if field in _CANDIDATES and self.form.space.pairwise:
            return True
        return self.taken is None or field in self.taken

    def _renamed(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """``row`` by fields: a column that has none keeps its name."""
        reserved = {*self.columns, *holders(self.columns.values(), row)}
        mapped = {field: field_of(row, name) for field, name in self.columns.items()}
        fields = {field: value for field, value in mapped.items() if value is not ...}
        return fields | {name: value for name, value in row.items() if name not in reserved}

    def _refused(self, wrong: Sequence[tuple[int, Misfit]], right: Sequence[int]) -> SuiteError:
        """The error with lines, columns, values, and a valid line as example."""
        lines = dict.fromkeys(number for number, _ in wrong)
        shown = [
            f"{self._named(number)}, {self._place(misfit.field)}: {misfit.found}"
            for number, misfit in wrong[:_MOST_SHOWN]
        ]
        if len(wrong) > _MOST_SHOWN:
            shown.append(f"and {len(wrong) - _MOST_SHOWN} more")
        number, first = wrong[0]
        places = (
            self.place(number) if len(lines) == 1 else f"{len(lines)} {self.word}s of {self.file}"
        )
        verb = "is" if len(lines) == 1 else "are"
        return SuiteError(
            f"{places} cannot be read as items of suite {self.form.name}"
            if self.user_names
            else f"{places} {verb} not of the form judgesense/suite/1",
            found="\n            ".join(shown),
            expected=f"in {self._place(first.field)}: "
            f"{first.expected}{self._example(first, right)}",
            remedy=self._remedy(first),
        )

    @property
    def word(self) -> str:
        """What the number of a row counts: lines of a file, items of a list, rows of a sheet."""
        return "item" if self.table_form == JSON else unit_of(self.table_form)

    def place(self, number: int) -> str:
        """A row of the file, as errors place it."""
        return self.where_by_number.get(number) or place_of(self.file, number, self.word)

    def _named(self, number: int) -> str:
        """The same without folders."""
        where = self.where_by_number.get(number)
        return PurePath(where).name if where else place_of(Path(self.file.name), number, self.word)

    def _short(self, number: int) -> str:
        """A row of the file, or of which of several."""
        return self._named(number) if self.where_by_number else f"{self.word} {number}"

    def _place(self, field: str) -> str:
        """The name of a field in the file; of no field, the line."""
        if not field:
            return f"the whole {self.word}"
        name = self.columns.get(field, field)
        return f"{'key' if self.table_form in (JSON, JSON_LINES) else 'column'} {name}"

    def _example(self, misfit: Misfit, right: Sequence[int]) -> str:
        """The value in the first valid line."""
        rows = dict(self.lines)
        name = self.columns.get(misfit.field, misfit.field)
        for number in right:
            if (value := field_of(rows[number], name)) is not ...:
                return f"; {self._short(number)} has {_shown(value)}"
        return ""

    def _remedy(self, misfit: Misfit) -> str:
        where = "[stimuli] of the suite file"
        is_compound = misfit.field and misfit.found.startswith(_COMPOUND)
        if misfit.expected == _UNDECLARED:
            return f'say that it is a conversation: messages = ["{misfit.field}"] in {where}'
        if is_compound and misfit.expected in (_SCALAR, _STRING):
            return TO_TEXTS
        if misfit.field == "label" and self.user_names:
            labels = [label for label in self.form.space.labels if not self.form.space.pairwise]
            label = (labels or ["1"])[0]
            return f'fix the line, or map the value: values = {{ ... = "{label}" }} in {where}'
        if not misfit.field:
            return f"fix the {self.word}, or leave it out"
        if misfit.found == MISSING:
            return f'add it, or name its column: columns = {{ {misfit.field} = "..." }} in {where}'
        return (
            "fix the line"
            if self.user_names
            else "fix the named keys; all are listed by: judgesense explain suite-files"
        )


@cache
def _of_many(model: type[_Line]) -> TypeAdapter[list[_Line]]:
    return TypeAdapter(list[model])  # type: ignore[valid-type]


def place_of(file: Path, number: int, unit: str = "line") -> str:
    """A row of a file of items, as errors place it."""
    return f"{file}:{number}" if unit == "line" else f"{file}, {unit} {number}"


def holders(names: Iterable[str], row: Mapping[str, Any]) -> set[str]:
    """The columns of a row that hold fields of these ``names``: of ``a.b`` the column ``a``."""
    return {name if name in row else name.partition(".")[0] for name in names}


MISSING: Final = "missing"


def _misfit(problem: Any, form: type[BaseModel]) -> Misfit:
    """A complaint of pydantic in plain words."""
    field = str(problem["loc"][0]) if problem["loc"] else ""
    inner = ".".join(str(part) for part in problem["loc"][1:])
    complaint = problem["msg"].removeprefix("Value error, ")
    complaint = complaint[0].lower() + complaint[1:]
    if problem["type"] == "model_type":
        complaint = "an object with the keys of an item"
    if problem["type"] == "missing":
        return Misfit(field, MISSING, f"a value{f' at {inner}' if inner else ''}")
    if problem["type"] == "extra_forbidden":
        keys = sorted(form_at(form, problem["loc"][:-1]).model_fields)
        meant = did_you_mean(str(problem["loc"][-1]), keys)
        expected = "the keys that judgesense explain suite-files lists"
        return Misfit(
            field, "a key that is not known", f"{expected}; {meant}" if meant else expected
        )
    if is_chat(problem["input"]) and not inner:
        return Misfit(field, _shown(problem["input"]), _UNDECLARED)
    return Misfit(field, _shown(problem["input"]), complaint + (f" (at {inner})" if inner else ""))


def _repeated(identifier: str, holder: str) -> Misfit:
    found = f"{identifier!r}, which {holder} has"
    return Misfit("id", found, "every id once: trial ids are made of it")


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else json.dumps(value, default=str)
    if isinstance(value, dict | list):
        text = f"{kind_of_value(value)}: {text}"
    return text if len(text) <= 80 else f"{text[:77]}..."


# What is expected of a user's cell, and in pydantic's words of a field of a suite's own line.
_SCALAR: Final = "a text, a number, true or false"
_STRING: Final = "input should be a valid string"
# The same, of chat messages in a field of which the suite file does not say so.
_UNDECLARED: Final = "a text; a list of messages where [stimuli] names the field in messages"
# How `_shown` begins for a value with parts.
_COMPOUND: Final = ("an object: ", "a list: ")
# What becomes of such a value that is to be shown.
TO_TEXTS: Final = (
    "write it as a text, such as that of json.dumps, or make one of its parts a field of its own"
)


def kind_of_value(value: Any) -> str:
    """What a value with parts is called in errors."""
    return "an object" if isinstance(value, dict) else "a list"


def _holds_several(annotation: Any) -> bool:
    """Whether a declared type permits an object or a list."""
    declared = (get_origin(annotation) or annotation, *map(get_origin, get_args(annotation)))
    return any(
        isinstance(part, type) and issubclass(part, tuple | list | dict | BaseModel)
        for part in (*declared, *get_args(annotation))
    )


# --- conversations --------------------------------------------------------------------------------


def _with_conversations(
    row: Mapping[str, Any], fields: Iterable[str]
) -> tuple[dict[str, Any], list[Misfit]]:
    """``row`` with the conversations in these fields as texts; and what is wrong with them."""
    texts, wrong = dict(row), list[Misfit]()
    for name in fields:
        try:
            texts = _with_conversation(texts, name)
        except NoConversation as error:
            wrong.append(Misfit(name, error.found, error.expected))
    return texts, wrong


def _with_conversation(row: dict[str, Any], name: str) -> dict[str, Any]:
    """``row`` with the conversation in a field as a text; a `NoConversation` if it is none.

    A line of a suite's own form has the candidates of a pair in a list, and other texts in a table.
    """
    candidates, table = row.get("texts"), row.get("fields")
    if name in row:
        return {**row, name: text_of_chat(row[name])}
    if name in _CANDIDATES and isinstance(candidates, list):
        place = _CANDIDATES.index(name)
        texts = [text_of_chat(text) if n == place else text for n, text in enumerate(candidates)]
        return {**row, "texts": texts}
    if isinstance(table, dict) and name in table:
        return {**row, "fields": {**table, name: text_of_chat(table[name])}}
    raise NoConversation(MISSING)


# --- names and labels of a user's file ------------------------------------------------------------


def text_of(value: Any) -> str | None:
    """A scalar as text, ``4.0`` as ``4``; ``None`` for nothing and for other values."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int | float) or value == "":
        return None
    return str(value)


def stated_id(value: Any) -> str | None:
    """An id from a user's file, as ids are, with a digest where characters were lost; or none."""
    name = text_of(value)
    return None if name is None or not name.strip() else item_id(name)


def row_label(stimuli: Stimuli, value: Any, meanings: Mapping[str, str]) -> str | Misfit | None:
    """The label that a value means, by the suite's ``values``, else by ``meanings``; any case.

    An empty value is not a label, and neither is what ``values`` says means nothing.
    """
    text = (text_of(value) or "").strip()
    if not text:
        return None
    stated = stimuli.form.stimuli.values or {}
    for table in (stated, meanings):
        folded = {name.strip().casefold(): label for name, label in table.items()}
        if (label := folded.get(text.casefold(), folded.get(as_whole(text)))) is not None:
            return label or None
    return Misfit("label", repr(text), f"one of {listed(dict.fromkeys([*stated, *meanings]))}")


# --- files ----------------------------------------------------------------------------------------


def read_lines(path: Path, form: SuiteForm) -> tuple[Stimuli, str]:
    """All lines of the stimuli file that the suite file at ``path`` names, and their text.

    It may be a pattern of several, ``items/*.csv``, whose lines follow each other in the order of
    their names.
    """
    place = path.parent / form.stimuli.file
    file, _ = file_at(place)
    if has_magic(str(file)) and not exists(file):
        return _lines_of_files(path, form, place)
    with SuiteError.instead_of(
        OSError,
        f"the stimuli of suite {form.name} cannot be read",
        expected=f"JSON Lines, JSON, CSV or another table at {file}",
        remedy=f"fix [stimuli] file in {path}",
    ):
        data = read_bytes(file)
    return stimuli_of_bytes(path, form, data)


def stimuli_of_bytes(path: Path, form: SuiteForm, data: bytes) -> tuple[Stimuli, str]:
    """All lines of ``data``, those of the stimuli file that the suite at ``path`` names; its text.

    Raises:
        SuiteError: they are no rows, or too many.
    """
    file, part = file_at(path.parent / form.stimuli.file)
    with SuiteError.restating(LogError):
        table = table_of(data, file, part)
    return _stimuli_of_table(path, form, file, table), table.text


def _lines_of_files(path: Path, form: SuiteForm, place: Path) -> tuple[Stimuli, str]:
    """All lines of the files that match a pattern, and their texts.

    Of which file a line is, is known by a column where ``columns`` names it (``cluster = "file"``):
    items are known by what they hold, and not by the names of files.
    """
    try:
        with SuiteError.restating(LogError, UsageError):
            files = tuple(file for file, _ in files_at(place))
            is_named = FILE_COLUMN in form.stimuli.renamed.values()
            table = read_rows(place, are_named=is_named)
    except SuiteError as error:
        remedy = error.remedy or f"fix [stimuli] file in {path}"
        raise SuiteError(
            error.what, found=error.found, expected=error.expected, remedy=remedy
        ) from error
    rows = tuple(replace(row, number=number) for number, row in enumerate(table, start=1))
    stimuli = _stimuli_of_table(path, form, place, replace(table, rows=rows))
    where_by_number = {row.number: row.where for row in rows}
    return replace(stimuli, files=files, where_by_number=where_by_number), table.text


def _stimuli_of_table(path: Path, form: SuiteForm, file: Path, table: RowTable) -> Stimuli:
    """The lines of a table as those of the suite file at ``path``, whose ``file`` they are of."""
    if len(table) > limits().trials:
        where = table.rows[limits().trials].where
        raise beyond(SuiteError, f"{where}: one item too many", "trials", "more")
    if not table:
        raise SuiteError(f"{file} holds no items", expected="at least one line")
    stated = form.stimuli.columns is not None or form.stimuli.values is not None
    user_names = stated or table.form != JSON_LINES
    if user_names:
        _refuse_columns(path, form, file, table)
    lines = [(row.number, row.value) for row in table]
    return Stimuli(form, file, lines, table.form, user_names)


def _refuse_columns(path: Path, form: SuiteForm, file: Path, table: RowTable) -> None:
    """Raise `SuiteError` if ``columns`` names one that the file does not have."""
    columns = form.stimuli.renamed
    if missing := {field: name for field, name in columns.items() if not table.has(name)}:
        # A stratum is no text of a prompt: its field has this name, whatever columns there are.
        turned = all(table.has(field) and field != STRATUM for field in missing)
        raise SuiteError(
            f"columns of {path} names what {file.name} does not have",
            found=listed(f'{field} = "{name}"' for field, name in missing.items()),
            expected=f"the columns of {file.name}: {listed(table.columns)}",
            remedy="columns is the wrong way round: fields first, columns second"
            if turned
            else "fix [stimuli] columns",
        )


def not_of_the_form(where: str, error: ValidationError, form: type[BaseModel]) -> SuiteError:
    """The error that says which keys and values at ``where``, a ``form``, are wrong.

    Of a key that is not known it names those of its table, and the one that may be meant.
    """
    problems, expected, meant = [], [], []
    for problem in error.errors():
        place = ".".join(str(part) for part in problem["loc"]) or "(whole)"
        value = json.dumps(problem["input"], default=str)
        if problem["type"] != "extra_forbidden":
            problems.append(f"{place}: {problem['msg']} (got {value[:80]})")
            continue
        problems.append(f"{place}: no such key (got {value[:80]})")
        keys = sorted(form_at(form, problem["loc"][:-1]).model_fields)
        table = ".".join(part for part in problem["loc"][:-1] if isinstance(part, str))
        expected.append(f"the keys of {f'[{table}]' if table else 'the file'}: {', '.join(keys)}")
        meant.append(did_you_mean(str(problem["loc"][-1]), keys))
    shown = problems[:_MOST_FAULTS]
    if len(problems) > _MOST_FAULTS:
        shown.append(f"and {len(problems) - _MOST_FAULTS} more")
    return SuiteError(
        f"{where} is not of the form judgesense/suite/1",
        found="; ".join(shown),
        expected="; ".join(dict.fromkeys(expected))
        or "the keys and values that judgesense explain suite-files lists",
        remedy=" ".join(dict.fromkeys(filter(None, meant[:_MOST_FAULTS]))) or "fix the named keys",
    )


def form_at(form: type[BaseModel], place: Sequence[int | str]) -> type[BaseModel]:
    """The form of the table at a place of another, as far as one is declared there."""
    for part in place:
        field = form.model_fields.get(part) if isinstance(part, str) else None
        if field is not None and (inner := next(_forms_in(field.annotation), None)):
            form = inner
    return form


def _forms_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The forms that a declared type names, itself or within lists, tables and alternatives."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _forms_in(inner)
