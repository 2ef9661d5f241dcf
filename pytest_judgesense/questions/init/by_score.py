"""A function that returns a score, with its items, for ``judgesense init``.

A score is a number with decimals, or with more than twelve levels. Its range is told from the
labels; the user names another one by ``--labels LOW,HIGH``, and the mark by ``--pass-mark``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.shared import UNPARSED_RATE
from pytest_judgesense.questions.init.from_function import (
    Columns,
    Connected,
    Items,
    by_columns,
    cluster_sizes,
    command_of,
    conversations_among,
    id_column,
    read_items,
    words_without_a_label,
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
from pytest_judgesense.registry import FirstCheck, Instrument
from pytest_judgesense.report.number_designs import score_range
from pytest_judgesense.suites.space import number_of
from pytest_judgesense.trial import ScoreRange, score_of_text, score_text

_ENDS: Final = 2


@dataclass(frozen=True)
class ScoreConnection:
    """How a function that scores, its items and their labels belong together.

    Attributes:
        instrument: what measures the suite.
        columns: the column of each field, where it is called otherwise.
        fields: those that the function takes.
        label: the column of the labels; ``None`` without one.
        values: what words in it mean.
        ends: the numbers that the function may return.
        pass_mark: the number from which a text passes; ``None`` for none.
        numbers: the labels.
        sizes: items of each cluster.
    """

    instrument: Instrument
    columns: Mapping[str, str]
    fields: Sequence[str]
    label: str | None
    values: Mapping[str, str]
    ends: ScoreRange
    pass_mark: float | None
    numbers: Sequence[float]
    sizes: Sequence[int]
    messages: Sequence[str] = ()

    @property
    def kind(self) -> str:
        """Of the suite."""
        return self.instrument.name

    @property
    def arguments(self) -> Mapping[str, str]:
        """Every parameter is called like its field."""
        return {}

    @property
    def checks(self) -> list[FirstCheck]:
        """Those that the labels and the mark allow."""
        labelled, marked = bool(self.numbers), self.pass_mark is not None
        return first_checks(self.instrument, labelled=labelled, marked=marked)

    def recognised(self) -> Iterator[str]:
        """What was connected, in lines, before any cost."""
        for name in self.fields:
            yield f"{name} is column {self.columns.get(name, name)}"
        if column := self.columns.get("id"):
            yield f"items are called by column {column}"
        if self.numbers:
            least, most = score_text(min(self.numbers)), score_text(max(self.numbers))
            count = f"{len(self.numbers)} numbers from {least} to {most}"
            yield f"labels are in column {self.label}: {count}"
            yield from words_without_a_label(self.values)
        else:
            yield "no column with labels: the error is not gated; --map label=COLUMN names one"
        low, high = self.ends.ends
        yield f"answers are scores from {low} to {high}; --labels LOW,HIGH names other ends"
        if self.pass_mark is not None:
            yield f"a text passes from {score_text(self.pass_mark)} on"

    def table(self, name: str, file: str) -> dict[str, Any]:
        """The suite file as a table."""
        space = space_table(self.ends, self.pass_mark)
        question = f"Answer with a number from {' to '.join(self.ends.ends)}."
        return suite_table(
            name,
            space,
            stimuli_table(file, self.fields, self.columns, self.values, self.messages),
            {"t1": f"{shown_texts(self.fields, question)}\n"},
            [UNPARSED_RATE],
            self.sizes,
            kind=self.kind,
            of_kind=self.checks,
        )

    def suite_text(self, name: str, file: str, called: str) -> str:
        """The suite file, as somebody would write it by hand."""
        table = self.table(name, file)
        comments = {
            "head": f"{called} on the items of {Path(file).name}, each as it is.",
            "space": f"The numbers that the function may return.{self._mark_comment}",
            "stimuli": "Fields by column; the label is a number.",
            "design": f"Asked: {asked_words(table, sum(self.sizes))}",
            "templates": "How reports show an item; the function builds its own prompt.",
        }
        counts: dict[str | None, str] = {c.measure.check: c.counts for c in self.checks}
        counts[UNPARSED_RATE.check] = "return values without a number of the range"
        return written_suite(
            table, comments, counts, compared_words(table, self.sizes, len(self.numbers))
        )

    @property
    def _mark_comment(self) -> str:
        """How a mark is named, where there is none."""
        if self.pass_mark is not None or not self.numbers:
            return ""
        at_mark = [check for check in self.instrument.first_scores if check.at_mark]
        lines = (f"{check.measure.check} = {check.bar:g}" for check in at_mark)
        middle = score_text(self.ends.low + self.ends.width / 2)
        return (
            f"\n# With pass_mark = {middle} texts pass from {middle} on, and [checks] may have\n"
            f"# {'; '.join(lines)}."
        )


def first_checks(
    instrument: Instrument, *, labelled: bool, marked: bool, wordings: bool = False
) -> list[FirstCheck]:
    """The checks of a first suite: those that labels, a pass mark and wordings allow."""
    return [
        check
        for check in instrument.first_scores
        if (labelled or not check.labelled)
        and (marked or not check.at_mark)
        and (wordings or not check.wordings)
    ]


def space_table(ends: ScoreRange, pass_mark: float | None) -> dict[str, Any]:
    """``[space]`` of a suite of scores."""
    low, high = ends
    mark = {} if pass_mark is None else {"pass_mark": _plain(pass_mark)}
    return {"score": {"low": _plain(low), "high": _plain(high)}, **mark}


def _plain(number: float) -> int | float:
    """A whole number without a point."""
    return int(number) if float(number).is_integer() else number


def connected_or_score(
    function: Callable[..., Any], items: Items, options: FunctionOptions
) -> Connected:
    """How a function of pairs, labels, grades or a score and its items belong together.

    Raises:
        UsageError: see `from_function.connected`; or the range of the score is not known.
    """
    columns = Columns.of(function, items, options)
    if not columns.is_score or BUILT_IN.scoring is None:
        refuse_mark(options)
        return by_columns(columns, items, options)
    return _connection(columns, items, options, BUILT_IN.scoring)


def refuse_mark(options: FunctionOptions) -> None:
    """Raise a `UsageError` for a pass mark of a function that returns no score."""
    if options.pass_mark is not None:
        raise UsageError(
            f"--pass-mark {options.pass_mark} is not used",
            found=f"{options.function} returns no score",
            expected="a function that returns numbers with decimals, or of many levels",
            remedy=f"leave it out; or say that it is one: {command_of(options)} --kind "
            f"{BUILT_IN.scoring.name if BUILT_IN.scoring else 'score'} --labels LOW,HIGH",
        )


def _connection(
    columns: Columns, items: Items, options: FunctionOptions, instrument: Instrument
) -> ScoreConnection:
    ends = _ends(columns, options)
    beside = dict(columns.beside)
    by_field = {**columns.by_parameter, **beside}
    if column := id_column(items, {*by_field.values()}):
        by_field["id"] = column
    connection = ScoreConnection(
        instrument,
        {name: column for name, column in by_field.items() if name != column},
        list(columns.by_parameter),
        columns.label,
        columns.values,
        ends,
        _mark(options, ends),
        (),
        (),
        conversations_among(items, columns.by_parameter, by_field),
    )
    table = connection.table("items", items.named)
    read = read_items(table, connection.fields, items, options)
    numbers = [score_of_text(item.label) for item in read if item.label is not None]
    return replace(connection, numbers=numbers, sizes=cluster_sizes(read))


def _ends(columns: Columns, options: FunctionOptions) -> ScoreRange:
    """The range that is named, else the shortest usual one that holds all labels."""
    stated = options.labels or columns.meanings
    numbers = [number for number in map(number_of, stated) if number is not None]
    if len(numbers) < len(stated) or len({*numbers}) < _ENDS:
        words = listed(dict.fromkeys(word for word in stated if number_of(word) is None))
        raise UsageError(
            f"the range of the scores of {options.function} is not known",
            found=words or f"{len({*numbers})} different numbers",
            expected="labels that are numbers, or both ends",
            remedy=f"name the ends: {command_of(options)} --labels 0,1; what is no label: "
            "--value WORD=",
        )
    if options.labels:
        return ScoreRange(min(numbers), max(numbers))
    return score_range(numbers)


def _mark(options: FunctionOptions, ends: ScoreRange) -> float | None:
    if options.pass_mark is None:
        return None
    mark = number_of(options.pass_mark)
    if mark is None or not ends.low < mark <= ends.high:
        raise UsageError(
            f"--pass-mark {options.pass_mark} is no mark of these scores",
            found=options.pass_mark,
            expected=f"a number above {ends.ends[0]}, up to {ends.ends[1]}",
        )
    return mark
