"""A function and a file of items, both as they are, connected for ``judgesense init``.

A parameter takes the column of its name. What else a column or a label may be called is told by
`synonyms`; everything else is asked for, by an error that shows the option to add.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias, get_args

from pytest_judgesense.checks.suite_faults import lint_suite
from pytest_judgesense.errors import LogError, SuiteError, UsageError, listed, unknown_name
from pytest_judgesense.files.assignments import option_words
from pytest_judgesense.files.messages import is_chat
from pytest_judgesense.files.opening import read_bytes
from pytest_judgesense.files.own_order import ORDERS, CandidateColumns, in_own_order
from pytest_judgesense.files.row_options import read_as_told
from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.files.synonyms import TIES, candidates_among, column_of, no_and_yes
from pytest_judgesense.files.tables import (
    FILE_COLUMN,
    JSON_LINES,
    RowTable,
    file_at,
    files_at,
    read_rows,
)
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.functions import MESSAGES, TEMPLATE, TEMPLATE_ID, parameters_of
from pytest_judgesense.measures.shared import (
    AGREEMENT,
    ORDER_POSITIONAL,
    REPEAT_FLIP_RATE,
    UNPARSED_RATE,
)
from pytest_judgesense.questions.init.suite_file import (
    FunctionOptions,
    asked_words,
    compared_words,
    shown_texts,
    stimuli_table,
    suite_table,
    written_suite,
)
from pytest_judgesense.registry import LabelChecks, LabelledItem
from pytest_judgesense.suites.answer_kinds import (
    MOST_GRADES,
    SCORE,
    ContentKind,
    answers_of,
    inferred_answers,
    is_whole,
    odd_among_numbers,
)
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.loading import form_of, load_suite
from pytest_judgesense.suites.stimuli import (
    TO_TEXTS,
    Stimuli,
    kind_of_value,
    text_of,
)
from pytest_judgesense.trial import TIE, as_whole

AnswerKind: TypeAlias = Literal["pairwise"] | ContentKind

ANSWER_KINDS: Final[tuple[AnswerKind, ...]] = ("pairwise", *get_args(ContentKind))

# What rows that no file holds as they are, or none that is plain text, are copied to.
MADE_ITEMS: Final = "items.jsonl"
# What a column may be besides the text of a parameter.
_BESIDE: Final = ("label", "id", "cluster", "category")
# What imports call the id; and the order in which two candidates were shown.
_ITEM: Final = "item"
_ORDER: Final = "order"
_OF_SUITES: Final = frozenset({TEMPLATE, TEMPLATE_ID, MESSAGES})
_PLACEHOLDER: Final = re.compile(r"[a-z][a-z0-9_]*", re.IGNORECASE)
_MOST_LABELS: Final = MOST_GRADES
_LONGEST_SHOWN: Final = 80


@dataclass(frozen=True)
class Items:
    """A file of items.

    Attributes:
        file: its path.
        table: its rows.
        part: what of the file they are, as behind ``#``; empty for all.
        is_made: whether the rows are not those that a suite reads in the file itself: those of
            lists in it, or rows beside which other files or other orders were taken.
    """

    file: Path
    table: RowTable
    part: str = ""
    is_made: bool = False

    @property
    def rows(self) -> Sequence[Row]:
        """The rows, in their order."""
        return self.table.rows

    @property
    def columns(self) -> Sequence[str]:
        """The columns that any of the rows has."""
        return self.table.columns

    @property
    def named(self) -> str:
        """What a suite file in the same folder calls the file."""
        return f"{self.file.name}#{self.part}" if self.part else self.file.name

    @property
    def as_lines(self) -> str:
        """The rows as JSON Lines."""
        lines = (json.dumps(dict(row.value), ensure_ascii=False) for row in self.rows)
        return "".join(f"{line}\n" for line in lines)

    def has(self, column: str) -> bool:
        """Whether a row has a column, which may be ``a.b``, field b of the objects in a."""
        return self.table.has(column)

    def values(self, column: str | None) -> list[str]:
        """The texts in a column, without empty cells; none without a column."""
        texts = (text_of(cell_of(row, column)) for row in self.rows)
        return [text.strip() for text in texts if text and text.strip()]


def cell_of(row: Row, column: str | None) -> Any:
    """The value of a row in a column; ``None`` if it has none."""
    value = ... if column is None else field_of(row.value, column)
    return None if value is ... else value


class Connected(Protocol):
    """A function and items that belong together."""

    @property
    def kind(self) -> str:
        """What the function returns."""

    @property
    def arguments(self) -> Mapping[str, str]:
        """By parameter its field, where the two are called otherwise."""

    def recognised(self) -> Iterator[str]:
        """What was connected, in lines, before any cost."""

    def suite_text(self, name: str, file: str, called: str) -> str:
        """The suite file, as somebody would write it by hand."""


@dataclass(frozen=True)
class Connection:
    """How a function and its items belong together.

    Attributes:
        arguments: by parameter its field, where the two are called otherwise.
        columns: the column of each field.
        values: the meaning of values in the label column, if not obvious.
        fields: those that the function takes.
        names: how the function may call a label.
        counts: how many items have each label.
        sizes: items of each cluster.
        of_labels: what the suite holds about single labels.
        messages: the fields that hold conversations.
    """

    kind: AnswerKind
    arguments: Mapping[str, str]
    columns: Mapping[str, str]
    values: Mapping[str, str]
    labels: Sequence[str]
    fields: Sequence[str]
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    label: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    sizes: Sequence[int] = ()
    of_labels: LabelChecks = LabelChecks()
    messages: Sequence[str] = ()

    def recognised(self) -> Iterator[str]:
        """What was connected, in lines, before any cost."""
        return recognised(self)

    def suite_text(self, name: str, file: str, called: str) -> str:
        """The suite file, as somebody would write it by hand."""
        return suite_text(self, name, file, called)


def items_of(options: FunctionOptions) -> Items:
    """The items of a file, or of several that a pattern names.

    Raises:
        UsageError: it cannot be read, or holds none.
    """
    file, part = file_at(options.items)
    with UsageError.restating(LogError):
        if options.makes_rows:
            return made_items(Items(file, read_as_told(options, options.items), part))
        # As the suite will read it: of which file a row is, is no part of an item.
        is_named = FILE_COLUMN in dict(options.map).values()
        table = read_rows(options.items, are_named=is_named)
    if not table:
        raise UsageError(f"{options.items} holds no items", expected="a row for every item")
    return Items(file, table, part)


def made_items(items: Items) -> Items:
    """Items whose rows are written to a file of their own, and counted as they stand there.

    Rows that were members of one list have one id, which is then what they share: their cluster.
    """
    ids, notes = items.values("id"), items.table.notes
    is_shared = len({*ids}) < len(ids) and "cluster" not in items.columns
    if is_shared:
        notes = (*notes, "rows with one id are one cluster")
    rows = [
        replace(
            row,
            number=number,
            value={
                "cluster" if name == "id" and is_shared else name: cell
                for name, cell in row.value.items()
            },
        )
        for number, row in enumerate(items.rows, start=1)
    ]
    columns = dict.fromkeys(chain.from_iterable(row.value for row in rows))
    table = replace(
        items.table,
        rows=tuple(rows),
        columns=tuple(columns),
        form=JSON_LINES,
        is_plain_text=False,
        notes=notes,
    )
    return replace(items, table=table, is_made=True)


class Columns(NamedTuple):
    """What the columns of a file are to a function.

    Attributes:
        by_parameter: the column of each parameter.
        beside: the columns of what an item has besides, by field.
        label: the column of the labels; ``None`` without one.
        values: what words in that column mean, if not obvious; empty for what is no label.
        meanings: the labels, as often as they stand there.
        sides: the parameters of two answers, where it takes two.
        kind: of the answers of the function.
    """

    by_parameter: Mapping[str, str]
    beside: Mapping[str, str]
    label: str | None
    values: Mapping[str, str]
    meanings: Sequence[str]
    sides: tuple[str, str] | None
    kind: AnswerKind

    @property
    def is_score(self) -> bool:
        """Whether the function returns numbers that no list of labels holds."""
        return self.kind == SCORE

    @classmethod
    def of(cls, function: Callable[..., Any], items: Items, options: FunctionOptions) -> Columns:
        """Those of ``items``, with what the user says about both.

        Raises:
            UsageError: a parameter has no column, or a column is none of what is said of it.
        """
        column_by_parameter = columns_taken(function, items, options)
        refuse_gaps(items, column_by_parameter)
        beside = columns_beside(options, column_by_parameter)
        used = {*column_by_parameter.values(), *beside.values()}
        free = [column for column in items.columns if column not in used]
        label = beside.get("label") or column_of("label", free)
        if label:
            beside["label"] = label
        refuse_compound(items, beside.values(), column_by_parameter.values())
        labels, values = options.labels, dict(options.value)
        _refuse_labels(labels)
        _refuse_values(items, label, values, options)
        if not labels:
            said = {word.casefold() for word in values}
            odd = odd_among_numbers(items.values(label))
            values |= dict.fromkeys((word for word in odd if word.casefold() not in said), "")
        by_word = {word.strip().casefold(): meaning for word, meaning in values.items()}
        meanings = [by_word.get(word.casefold(), as_whole(word)) for word in items.values(label)]
        meanings = [*filter(None, meanings)]
        sides = candidates_among(column_by_parameter)
        of_words = inferred_answers(labels or meanings, are_all=bool(labels)).kind
        inferred: AnswerKind = "pairwise" if sides else of_words
        kind = _answer_kind(options.kind) or inferred
        return cls(column_by_parameter, beside, label, values, meanings, sides, kind)


def connected(function: Callable[..., Any], items: Items, options: FunctionOptions) -> Connection:
    """How ``function`` and ``items`` belong together, with what the user says about both.

    Raises:
        UsageError: a parameter has no column, labels are not known, or items are wrong; it shows
            both sides and the command that helps.
    """
    return by_columns(Columns.of(function, items, options), items, options)


def by_columns(columns: Columns, items: Items, options: FunctionOptions) -> Connection:
    """The same, once it is known what the columns are.

    Raises:
        UsageError: labels are not known, or items are wrong.
    """
    by_parameter, label, kind = columns.by_parameter, columns.label, columns.kind
    beside = dict(columns.beside)
    if kind == "pairwise":
        connection = _of_pairs(items, by_parameter, columns.sides, label, options)
    else:
        content: ContentKind = "labels" if columns.is_score else kind
        words = options.labels or answers_of(columns.meanings, content)
        if not 2 <= len(words) <= _MOST_LABELS:
            used = {*by_parameter.values(), *beside.values()}
            raise _unknown_answers(items, label, len(words), used, options)
        connection = _of_contents(by_parameter, kind, words)
    if column := id_column(items, {*connection.columns.values(), *beside.values()}):
        beside["id"] = column
    of_fields = {**connection.columns, **beside}
    renamed = {name: column for name, column in of_fields.items() if name != column}
    connection = replace(
        connection,
        columns=renamed,
        values={**connection.values, **columns.values},
        label=label,
        messages=conversations_among(items, connection.fields, renamed),
    )
    table = suite_table_of(connection, "items", items.named)
    return _counted(connection, read_items(table, connection.fields, items, options))


def id_column(items: Items, used: Collection[str]) -> str | None:
    """The column that gives the items their ids, if the file has none for them.

    The first that has a value in every row, another one in each, without blanks, and is not one of
    those ``used`` as a text, a label or a person. Without one, items are known by their texts.
    """
    if "id" in items.columns:
        return None
    for column in items.columns:
        values = items.values(column)
        if (
            column not in used
            and len(items.rows) == len(values) == len({*values})
            and not any(re.search(r"\s", value) for value in values)
        ):
            return column
    return None


def _answer_kind(name: str | None) -> AnswerKind | None:
    """The kind of answers of this name.

    Raises:
        UsageError: there is none.
    """
    if name is not None and name not in ANSWER_KINDS:
        raise unknown_name("kind of answers", name, ANSWER_KINDS)
    return next((kind for kind in ANSWER_KINDS if kind == name), None)


def columns_beside(options: FunctionOptions, by_parameter: Collection[str]) -> dict[str, str]:
    """The columns of what an item has beside the texts of parameters, by field.

    Imports call the id of an item ``item``.
    """
    return {
        "id" if name == _ITEM else name: column
        for name, column in options.map
        if name not in by_parameter and name != _ORDER
    }


def in_own_order_of_items(
    function: Callable[..., Any],
    items: Items,
    options: FunctionOptions,
) -> Items:
    """Items of pairs in their own order, where their rows say in which order they were shown.

    Raises:
        UsageError: an option is about nothing, or it is open what texts and label are there.
    """
    by_parameter = columns_taken(function, items, options)
    beside = columns_beside(options, by_parameter)
    order = dict(options.map).get(_ORDER) or (_ORDER if _is_order(items) else "")
    sides = candidates_among(by_parameter)
    is_pair = sides is not None and _ORDER not in by_parameter
    label = beside.get("label") or column_of("label", [*items.columns])
    if not order or sides is None or not is_pair:
        if options.names or dict(options.map).get(_ORDER):
            raise UsageError(
                "--names is about two candidates that changed places",
                found="no parameters of two candidates" if sides is None else "no order",
                expected="two answers, and a column of the order in which they were shown: "
                "--map order=COLUMN (ab or ba)",
            )
        return items
    first, second = sides
    columns = CandidateColumns(
        order,
        {first: (by_parameter[first], by_parameter[second])},
        {"label": (label,)} if label else {},
        dict(options.value),
    )
    # Said of one of two texts, it holds for both.
    names = {first if field == second else field: naming for field, naming in options.names}
    table, is_turned = in_own_order(items.table, columns, names)
    return made_items(replace(items, table=table)) if is_turned else items


def _is_order(items: Items) -> bool:
    """Whether a column holds the order in which candidates were shown."""
    return items.has(_ORDER) and {*items.values(_ORDER)} <= {*ORDERS}


def command_of(options: FunctionOptions) -> str:
    """The user's command, to be repeated with more options."""
    words = ["judgesense", "init", "--callable", options.function, "--items", str(options.items)]
    words += ["--kind", options.kind] if options.kind else []
    words += ["--labels", ",".join(options.labels)] if options.labels else []
    words += ["--pass-mark", options.pass_mark] if options.pass_mark else []
    grades = (f"{name}={of}" if of else name for name, of in options.grades)
    words += ["--grades", ",".join(grades)] if options.grades else []
    folder = [str(options.folder)] if options.folder != Path() else []
    return " ".join(filter(None, (shlex.join(words), options.as_words, shlex.join(folder))))


def columns_taken(
    function: Callable[..., Any],
    items: Items,
    options: FunctionOptions,
    beside: Sequence[str] = _BESIDE,
) -> dict[str, str]:
    """The column of each parameter: the one that the user says, else that of its name.

    ``beside``: what else a column may be.
    """
    mapped = dict(options.map)
    parameters = parameters_of(function) or []
    names = [parameter.name for parameter in parameters]
    shown = f"{options.function.rpartition(':')[2]}({', '.join(names)})"
    both = f"parameters: {', '.join(names) or 'none'}; columns: {listed(items.columns)}"
    for name, column in mapped.items():
        if not items.has(column) or name not in {*names, *beside, _ITEM, _ORDER}:
            raise UsageError(
                f"{option_words('--map', name, column)} matches nothing",
                found=both,
                expected=f"PARAMETER=COLUMN; or one of {listed(beside)} in place of a parameter",
                remedy="fix the name",
            )
    column_by_parameter = {
        name: mapped.get(name, name) for name in names if name in mapped or name in items.columns
    }
    required = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
    if missing := [name for name in required if name not in {*column_by_parameter, *_OF_SUITES}]:
        more = " ".join(f"--map {name}=COLUMN" for name in missing)
        raise UsageError(
            f"{shown} asks for what {items.file.name} does not have",
            found=f"no column for {listed(missing)}",
            expected=f"a column for each parameter; {items.file.name} has {listed(items.columns)}",
            remedy=f"say which: {command_of(options)} {more}",
        )
    if not column_by_parameter:
        raise UsageError(
            f"{shown} takes nothing of {items.file.name}",
            found=both,
            expected="a parameter for each text that is judged",
            remedy="name the column of a parameter: --map PARAMETER=COLUMN",
        )
    return column_by_parameter


def refuse_gaps(items: Items, column_by_parameter: Mapping[str, str]) -> None:
    """Refuse a row that lacks the text of a parameter; an empty text is one."""
    for row in items.rows:
        for name, column in column_by_parameter.items():
            if cell_of(row, column) is None:
                raise UsageError(
                    f"{row.where} has no {column}, which the function takes as {name}",
                    found="null, or no such field",
                    expected="a text for each parameter, in every row",
                    remedy='fill it in ("" is an empty text), or leave the row out',
                )


def conversations_among(
    items: Items, fields: Iterable[str], columns: Mapping[str, str]
) -> list[str]:
    """Those fields of which every row holds a list of chat messages; ``columns`` by field."""
    return [
        name
        for name in fields
        if all(is_chat(cell_of(row, columns.get(name, name))) for row in items.rows)
    ]


def refuse_compound(items: Items, columns: Collection[str], shown: Collection[str] = ()) -> None:
    """Refuse an object or a list in one of ``columns``, or of those ``shown``: an item has texts.

    What is shown may be a conversation in every row.
    """
    conversations = conversations_among(items, shown, {})
    texts = [column for column in shown if column not in conversations]
    for row in items.rows:
        for column in (*columns, *texts):
            if isinstance(value := cell_of(row, column), dict | list):
                raise UsageError(
                    f"{row.where} has {kind_of_value(value)} in {column}",
                    found=json.dumps(value, ensure_ascii=False)[:_LONGEST_SHOWN],
                    expected="a text, a number, true or false in every column that is used; or a "
                    "list of chat messages in every row of it",
                    remedy=TO_TEXTS,
                )


def _refuse_labels(labels: Sequence[str]) -> None:
    """Refuse ``labels`` that are too few or too many, not different, or dots for others."""
    dots = any(not re.search(r"\w", label) or ".." in label for label in labels)
    if labels and (dots or not 2 <= len({*labels}) == len(labels) <= _MOST_LABELS):
        raise UsageError(
            "--labels does not name the possible answers",
            found=",".join(labels),
            expected=f"2 to {_MOST_LABELS} labels, each once, such as YES,NO or 1,2,3,4,5",
        )


def _refuse_values(
    items: Items, label: str | None, values: Mapping[str, str], options: FunctionOptions
) -> None:
    """Refuse the meaning of a value that the column of labels does not have."""
    words = {word.casefold(): word for word in items.values(label)}
    for value, meaning in values.items():
        if value.strip().casefold() not in words:
            option = option_words("--value", value, meaning)
            more = ", ..." if len(words) > _MOST_LABELS else ""
            shown = f"{', '.join([*words.values()][:_MOST_LABELS])}{more}"
            raise UsageError(
                f"{option} matches nothing in column {label}"
                if label
                else f"{option} is about labels, and {items.file.name} has no known column of them",
                found=shown if label else f"columns: {listed(items.columns)}",
                expected="SAID=MEANT: a value of the column of labels, and the label it means",
                remedy=f"fix it, or name the column: {command_of(options)} --map label=COLUMN",
            )


def _of_pairs(
    items: Items,
    column_by_parameter: Mapping[str, str],
    sides: tuple[str, str] | None,
    label: str | None,
    options: FunctionOptions,
) -> Connection:
    if sides is None:
        raise UsageError(
            f"{options.function} compares two answers, and no two of its parameters are called "
            "alike",
            found=listed(column_by_parameter),
            expected="two that differ in one word, such as answer_a and answer_b",
            remedy="name them so, or judge one answer at a time: --kind labels",
        )
    fields = {sides[0]: "a", sides[1]: "b"}
    if (task := column_of("task", column_by_parameter)) and task not in sides:
        fields[task] = "task"
    words = {word.casefold(): word for word in items.values(label)}
    meanings = dict.fromkeys(TIES, TIE)
    for first, second in filter(None, (candidates_among({*words} - {*TIES, TIE}), sides)):
        meanings |= {first.casefold(): "1", second.casefold(): "2"}
    # What every suite of pairs reads as it stands.
    usual = {"1", "2", "a", "b", *(column_by_parameter[side].casefold() for side in sides)}
    return Connection(
        kind="pairwise",
        arguments={name: field for name, field in fields.items() if name != field},
        columns={fields.get(name, name): column for name, column in column_by_parameter.items()},
        values={words[word]: meanings[word] for word in meanings if word in {*words} - usual},
        labels=("A", "B"),
        fields=[fields.get(name, name) for name in column_by_parameter],
        names={"A": [sides[0], "1", "first"], "B": [sides[1], "2", "second"]},
    )


def _unknown_answers(
    items: Items, label: str | None, count: int, used: Collection[str], options: FunctionOptions
) -> UsageError:
    """The error of items without labels, with the first column that may hold such."""
    different = {name: {*items.values(name)} for name in items.columns if name not in used}
    may_be = [
        name
        for name, words in different.items()
        if 2 <= len(words) <= _MOST_LABELS and 2 * len(words) <= len(items.rows)
    ]
    found = f"{count} labels in column {label}" if label else "no column called label"
    if may_be and not label:
        found += f"; {may_be[0]} holds {listed(sorted(different[may_be[0]]))}"
    mapped = option_words("--map", "label", may_be[0] if may_be else "COLUMN")
    return UsageError(
        f"the possible answers of {options.function} are not known",
        found=found,
        expected=f"a column of 2 to {_MOST_LABELS} labels or grades, or of numbers",
        remedy=f"name it: {command_of(options)} {mapped}; or the answers: --labels YES,NO",
    )


def _of_contents(
    column_by_parameter: Mapping[str, str],
    kind: ContentKind,
    answers: Sequence[str],
) -> Connection:
    if kind == "grades" and not is_whole(answers):
        raise UsageError(
            "--kind grades is about whole numbers",
            found=listed(answers),
            expected="grades such as 1,2,3,4,5",
            remedy="leave --kind out, or name the grades: --labels 1,2,3,4,5",
        )
    names = no_and_yes(answers) if kind == "labels" else {}
    fields = list(column_by_parameter)
    return Connection(kind, {}, column_by_parameter, {}, answers, fields, names)


def read_items(
    table: Mapping[str, Any], fields: Sequence[str], items: Items, options: FunctionOptions
) -> tuple[Item, ...]:
    """The items as the suite will have them.

    Args:
        table: the suite file as a table.
        fields: those that the function takes.
        items: the file of the items.
        options: what the user says, for a remedy.
    """
    try:
        form = form_of(table, BUILT_IN.forms, f"what {items.file.name} makes")
        stimuli = Stimuli(
            form,
            items.file,
            [(row.number, row.value) for row in items.rows],
            items.table.form,
            user_names=True,
            taken=frozenset(fields),
        )
        return BUILT_IN.forms[form.kind].read(stimuli)
    except SuiteError as error:
        remedy = error.remedy
        if "values = {" in remedy:  # it is about a label
            remedy = "fix the lines, or say what a value means: "
            remedy += f"{command_of(options)} --value SAID=MEANT"
        raise as_usage(error, remedy) from error


def cluster_sizes(items: Iterable[Item]) -> tuple[int, ...]:
    """How many items each cluster has."""
    return tuple(Counter(item.cluster for item in items).values())


def _counted(connection: Connection, read: Sequence[Item]) -> Connection:
    """``connection`` with the count of each label, once every item has been read."""
    labelled = [LabelledItem(item.label, item.cluster) for item in read if item.label is not None]
    counts = Counter(item.label for item in labelled)
    return replace(
        connection,
        counts=dict(sorted(counts.items())),
        sizes=cluster_sizes(read),
        of_labels=BUILT_IN.label_checks(labelled) if connection.kind == "labels" else LabelChecks(),
    )


def as_usage(error: SuiteError, remedy: str) -> UsageError:
    """The error of a suite as one of the command that would write it."""
    return UsageError(error.what, found=error.found, expected=error.expected, remedy=remedy)


def recognised(connection: Connection) -> Iterator[str]:
    """What was connected, in lines, before any cost."""
    parameters = {field: name for name, field in connection.arguments.items()}
    for name in connection.fields:
        of_messages = ", a conversation" * (name in connection.messages)
        taken = connection.columns.get(name, name)
        yield f"{parameters.get(name, name)} is column {taken}{of_messages}"
    if column := connection.columns.get("id"):
        yield f"items are called by column {column}"
    if connection.label is None:
        yield "no column with labels: agreement is not gated; --map label=COLUMN names one"
        return
    # The two contents of a pair by the names of their parameters.
    names = connection.names
    of_pairs = connection.kind == "pairwise"
    sides = {"1": names["A"][0], "2": names["B"][0]} if of_pairs else {}
    counted = (f"{sides.get(label, label)} {n}" for label, n in connection.counts.items())
    yield f"labels are in column {connection.label}: {', '.join(counted) or 'none'}"
    yield from words_without_a_label(connection.values)
    if connection.kind == "grades":
        scale = f"{connection.labels[0]} to {connection.labels[-1]}"
        yield f"answers are whole numbers from {scale}; --labels names others"
    for answer, named in names.items() if not of_pairs else ():
        yield f"{answer} is also what the function calls {', '.join(named)}"


def words_without_a_label(values: Mapping[str, str]) -> Iterator[str]:
    """Words of the column of labels that are none, with the option that gives one a meaning."""
    for word in (word for word, meaning in values.items() if not meaning):
        yield f"{word} is no label; {option_words('--value', word, 'LABEL')} says which it is"


def suite_table_of(connection: Connection, name: str, file: str) -> dict[str, Any]:
    """The suite file as a table."""
    space: dict[str, Any] = {"labels": list(connection.labels)}
    if connection.kind == "pairwise":
        space |= {"pairwise": True, "tie": True}
    if connection.kind == "grades":
        space |= {"ordinal": True}
    if connection.names:
        space["names"] = {label: list(names) for label, names in connection.names.items()}
    stimuli = stimuli_table(
        file, connection.fields, connection.columns, connection.values, connection.messages
    )
    gated = [ORDER_POSITIONAL if connection.kind == "pairwise" else REPEAT_FLIP_RATE]
    gated += [AGREEMENT, UNPARSED_RATE] if connection.counts else [UNPARSED_RATE]
    # The wording by which reports show an item; it names the labels that may be answered.
    question = f"Answer with one of: {', '.join(connection.labels)}."
    if connection.kind == "pairwise":
        question = "Which is better? Answer A, B or tie."
    shown = [name for name in connection.fields if _PLACEHOLDER.fullmatch(name)]
    text = shown_texts(sorted(shown, key=lambda name: name in ("a", "b")), question)
    return suite_table(
        name,
        space,
        stimuli,
        {"t1": f"{text}\n"},
        gated,
        connection.sizes,
        of_labels=connection.of_labels.checks,
    )


def suite_text(connection: Connection, name: str, file: str, called: str) -> str:
    """The suite file, as somebody would write it by hand."""
    table = suite_table_of(connection, name, file)
    return written_suite(
        table,
        {
            "head": f"{called} on the items of {Path(file).name}, each as it is.",
            "space": "The possible answers of the function.",
            "stimuli": "Fields by column, and what a label means.",
            "design": f"Asked: {asked_words(table, sum(connection.sizes))}",
            "templates": "How reports show an item; the function builds its own prompt.",
        },
        {
            ORDER_POSITIONAL.check: "pairs in which the same slot wins in both orders",
            REPEAT_FLIP_RATE.check: "items on which the replicates disagree",
            AGREEMENT.check: "the verdict is the label",
            UNPARSED_RATE.check: "return values without a verdict",
            **{check.measure.check: check.counts for check in connection.of_labels.checks},
        },
        compared_words(
            table, connection.sizes, sum(connection.counts.values()), connection.of_labels
        ),
    )


def refuse_faults(connection: Connected, items: Items, name: str, called: str) -> None:
    """Raise a `UsageError` if the suite would be refused when it is asked."""
    with TemporaryDirectory() as folder:
        copy = Path(folder, MADE_ITEMS if items.is_made else items.file.name)
        copies = {copy: items.as_lines.encode()} if items.is_made else {}
        for file, _ in [] if items.is_made else files_at(items.file):
            copies[Path(folder, file.name)] = read_bytes(file)
        for place, data in copies.items():
            place.write_bytes(data)
        path = Path(folder, f"{name}.suite.toml")

        def named(text: str) -> str:
            """``text`` with the user's own file, and the suite file as it will be called."""
            return text.replace(str(copy), str(items.file)).replace(str(path), path.name)

        named_file = copy.name if items.is_made else items.named
        path.write_text(connection.suite_text(name, named_file, called), encoding="utf-8")
        try:
            suite = load_suite(path, None, BUILT_IN.forms)
        except SuiteError as fault:
            remedy = f"{fault.remedy or 'fix it'}; then run judgesense init again"
            raise as_usage(fault, remedy).with_texts(named) from fault
        findings = lint_suite(suite, BUILT_IN)
    if error := next((finding for finding in findings if finding.is_fatal), None):
        raise UsageError(
            f"{items.file}, {error.where}: {error.what}",
            found=error.found,
            expected=error.expected,
            remedy=f"{error.remedy}; then run judgesense init again",
        ).with_texts(named)
