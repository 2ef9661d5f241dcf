"""A function that grades outputs by several criteria, with its items, for ``judgesense init``.

Which criteria there are, and which columns hold people's grades of each, is said by ``--grades``;
the error that asks for it proposes what the numbers in the file look like.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.assignments import option_words
from pytest_judgesense.files.foreign_results import columns_named
from pytest_judgesense.files.synonyms import column_of
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.questions.init.from_function import (
    Items,
    cell_of,
    columns_beside,
    columns_taken,
    command_of,
    conversations_among,
    id_column,
    refuse_compound,
    refuse_gaps,
)
from pytest_judgesense.questions.init.suite_file import (
    FunctionOptions,
    asked_words,
    compared_words,
    shown_texts,
    suite_table,
    written_suite,
)
from pytest_judgesense.registry import FirstCheck, FirstSuite
from pytest_judgesense.suites.schema import PEOPLE
from pytest_judgesense.suites.space import number_of, whole_scale
from pytest_judgesense.suites.stimuli import text_of
from pytest_judgesense.trial import is_number

# What a column may be besides the text of a parameter, the graded text and people's grades.
_BESIDE: Final = ("id", "cluster", "system")


@dataclass(frozen=True)
class GradedConnection:
    """How a function that grades by criteria, its items and people's grades belong together.

    Attributes:
        kind: of suites.
        first_suite: how suites of the kind begin.
        arguments: by parameter its field, where the two are called otherwise.
        columns: the column of each field, where it is called otherwise.
        fields: those that the function takes.
        people: by criterion the columns of people's grades.
        graded: by criterion how many items have a grade of people.
        labels: the scale, the lowest grade first.
        values: what words of people mean on it.
        sizes: items of each cluster.
        messages: the fields that hold conversations.
    """

    kind: str
    first_suite: FirstSuite
    arguments: Mapping[str, str]
    columns: Mapping[str, str]
    fields: Sequence[str]
    people: Mapping[str, Sequence[str]]
    graded: Mapping[str, int]
    labels: Sequence[str]
    values: Mapping[str, str]
    sizes: Sequence[int]
    messages: Sequence[str] = ()

    def recognised(self) -> Iterator[str]:
        """What was connected, in lines, before any cost."""
        parameters = {field: name for name, field in self.arguments.items()}
        for name in self.fields:
            yield f"{parameters.get(name, name)} is column {self.columns.get(name, name)}"
        if column := self.columns.get("id"):
            yield f"items are called by column {column}"
        for criterion, persons in self.people.items():
            count = f"{self.graded[criterion]} of {sum(self.sizes)} items"
            where = f"people's grades in {', '.join(persons)}: {count}"
            yield f"{criterion}: {where if persons else 'no grades of people'}"
        yield f"grades are {self.labels[0]} to {self.labels[-1]}; --labels names another scale"

    @property
    def checks(self) -> list[FirstCheck]:
        """Those that its criteria and people's grades allow."""
        graded = sum(bool(count) for count in self.graded.values())
        whole = graded == len(self.people)  # the overall grade of people needs one of each
        return [
            check
            for check in self.first_suite.checks
            if not check.labelled or (whole and graded >= check.criteria)
        ]

    def table(self, name: str, file: str) -> dict[str, Any]:
        """The suite file as a table."""
        example = json.dumps(dict.fromkeys(self.people, 0)).replace(": 0", ": N")
        question = f"Grade it by each criterion: {example}, each N one of {', '.join(self.labels)}."
        columns: dict[str, Any] = dict(self.columns)
        columns |= {f"{PEOPLE}.{name}": list(of) for name, of in self.people.items() if of}
        # JSON Lines are read as a user's own if the suite file names columns.
        columns = columns or {self.first_suite.output: self.first_suite.output}
        more: dict[str, Any] = {"values": dict(self.values)} if self.values else {}
        more |= {"messages": list(self.messages)} if self.messages else {}
        return suite_table(
            name,
            {"labels": list(self.labels), "criteria": list(self.people)},
            {"file": file, "columns": columns, **more},
            {"t1": f"{shown_texts(self.fields, question)}\n"},
            (),
            self.sizes,
            kind=self.kind,
            of_kind=self.checks,
        )

    def suite_text(self, name: str, file: str, called: str) -> str:
        """The suite file, as somebody would write it by hand."""
        table = self.table(name, file)
        mark = self.labels[-2]
        quoted = mark if is_number(mark) and int(mark) > 1 else json.dumps(mark)
        held = any(check.labelled for check in self.checks)
        graded = max(self.graded.values(), default=0) if held else 0
        return written_suite(
            table,
            {
                "head": f"{called} on the items of {Path(file).name}, each as it is.",
                "space": "The scale, the lowest grade first, and the criteria. With\n"
                f"# pass_mark = {quoted} outputs pass from grade {mark} on.",
                "stimuli": "Fields by column; under people.CRITERION a column a person.",
                "design": f"Asked: {asked_words(table, sum(self.sizes))}",
                "templates": "How reports show an item; the function builds its own prompt.",
            },
            {str(check.measure.check): check.counts for check in self.checks},
            compared_words(table, self.sizes, graded),
        )


def connected(
    function: Callable[..., Any],
    items: Items,
    options: FunctionOptions,
    kind: str,
    first_suite: FirstSuite,
) -> GradedConnection:
    """How ``function`` and ``items`` belong together, with what the user says about both.

    Raises:
        UsageError: a parameter has no column, or criteria, output or scale are not known; it shows
            the command that helps.
    """
    beside = (*_BESIDE, first_suite.output)
    by_parameter = columns_taken(function, items, options, beside)
    refuse_gaps(items, by_parameter)
    beside_texts = columns_beside(options, by_parameter)
    mapped = {name: column for name, column in beside_texts.items() if name in _BESIDE}
    output = _output(by_parameter, first_suite.output, options)
    people = _people(items, {*by_parameter.values(), *mapped.values()}, options)
    of_people = [column for persons in people.values() for column in persons]
    refuse_compound(items, [*mapped.values(), *of_people], by_parameter.values())
    words = {word for of in people.values() for column in of for word in items.values(column)}
    _refuse_values(words, options)
    labels = options.labels or _scale(words, options)
    graded = {output: first_suite.output}
    by_field = {graded.get(name, name): column for name, column in by_parameter.items()} | mapped
    if column := id_column(items, {*by_field.values(), *of_people}):
        by_field["id"] = column
    cluster = mapped.get("cluster", "cluster")
    clusters = (text_of(cell_of(row, cluster)) or row.where for row in items.rows)
    return GradedConnection(
        kind,
        first_suite,
        graded if output != first_suite.output else {},
        {name: column for name, column in by_field.items() if name != column},
        [name for name in by_field if name not in _BESIDE],
        people,
        {
            criterion: sum(any(text_of(cell_of(row, of)) for of in persons) for row in items.rows)
            for criterion, persons in people.items()
        },
        labels,
        dict(options.value),
        tuple(Counter(clusters).values()),
        conversations_among(items, (name for name in by_field if name not in _BESIDE), by_field),
    )


def _output(by_parameter: Mapping[str, str], output: str, options: FunctionOptions) -> str:
    """The parameter that takes the graded text."""
    column = dict(options.map).get(output)
    if output in by_parameter:
        return output
    if column is not None:
        named = [name for name, of in by_parameter.items() if of == column]
    else:
        only = list(by_parameter) if len(by_parameter) == 1 else []
        named = only or [name for name in [column_of(output, by_parameter)] if name]
    if not named:
        first = next(iter(by_parameter.values()))
        raise UsageError(
            f"which text {options.function} grades is not known",
            found=listed(f"{name} (column {of})" for name, of in by_parameter.items()),
            expected="one parameter that takes the output",
            remedy=f"name its column: {command_of(options)} {option_words('--map', output, first)}",
        )
    return named[0]


def _people(
    items: Items, shown_columns: set[str], options: FunctionOptions
) -> dict[str, tuple[str, ...]]:
    """By criterion the columns of people's grades."""
    if not options.grades:
        numbers = [
            name for name in items.columns if name not in shown_columns and _is_graded(items, name)
        ]
        proposed: dict[str, list[str]] = {}
        for name in numbers:
            proposed.setdefault(name.rpartition("_")[0] or name, []).append(name)
        grades = ",".join(f"{name}={'+'.join(of)}" for name, of in proposed.items())
        remedy = f"say which: {command_of(options)} --grades "
        raise UsageError(
            f"the criteria by which {options.function} grades are not known",
            found=f"columns with numbers: {listed(numbers) or 'none'}",
            expected="--grades CRITERION=COLUMN,... with people's grades, several columns with + "
            "between them; a criterion alone, where nobody has graded",
            remedy=remedy + (grades or "clarity,accuracy --labels 1,2,3,4,5"),
        )
    people: dict[str, tuple[str, ...]] = {}
    for criterion, columns in options.grades:
        if criterion in people:
            raise UsageError(
                f"--grades names {criterion} twice",
                found=f"{criterion}={'+'.join(people[criterion])} and {criterion}={columns}",
                expected=f"each criterion once, several columns with +: {criterion}=anna+ben",
            )
        named = columns_named(columns, items) if columns else []
        if shown := [column for column in named if column in shown_columns]:
            raise UsageError(
                f"people's grades of {criterion} would be shown to the judge",
                found=f"column {shown[0]}, which is mapped to a field",
                expected="a column that holds grades alone",
            )
        people[criterion] = tuple(named)
    return people


def _is_graded(items: Items, column: str) -> bool:
    """Whether a column holds numbers that may be grades, several of them the same."""
    words = items.values(column)
    return bool(words) and None not in map(number_of, words) and len({*words}) < len(words)


def _refuse_values(words: Collection[str], options: FunctionOptions) -> None:
    folded = {word.casefold() for word in words}
    for value, meaning in options.value:
        if value.strip().casefold() not in folded:
            raise UsageError(
                f"{option_words('--value', value, meaning)} matches none of people's grades",
                found=listed(sorted(words)) or "no grades of people",
                expected="SAID=MEANT: a word in their columns, and the grade it means",
            )


def _scale(words: Collection[str], options: FunctionOptions) -> list[str]:
    """The whole numbers from the least to the greatest grade of people."""
    scale = whole_scale(words)
    if scale is None:
        raise UsageError(
            f"the scale on which {options.function} grades is not known",
            found=listed(sorted(words)) or "no grades of people",
            expected="whole numbers, or the scale with its lowest grade first",
            remedy=f"name it: {command_of(options)} --labels 1,2,3,4,5",
        )
    return [*scale]


def kinds_that_begin() -> dict[str, FirstSuite]:
    """The kinds whose suites begin so, by name."""
    return {
        name: instrument.first_suite
        for name, instrument in BUILT_IN.kinds.items()
        if instrument.first_suite is not None
    }
