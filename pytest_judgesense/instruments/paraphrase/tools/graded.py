"""Grades that tools have logged, to judgments.

An output that was graded is an item. The test that it answers is its cluster: outputs of several
runs of one test are not independent. The same judge, asked again with the same prompt about the
same test, has answered a replicate. A grade in words is a verdict as it is; whole numbers make a
scale; fractions are read as the user says (``--scale``, ``--threshold``), or left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeAlias, TypeGuard

from pytest_judgesense.errors import LogError, UsageError, listed, unknown_name
from pytest_judgesense.files.assignments import option_words
from pytest_judgesense.files.foreign_results import Imported, Total
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.tables import malformed
from pytest_judgesense.instruments.paraphrase.foreign_table import judgments_of, with_columns
from pytest_judgesense.instruments.paraphrase.judgment_reader import refuse_fields
from pytest_judgesense.suites.answer_kinds import odd_among_numbers
from pytest_judgesense.suites.item import item_id
from pytest_judgesense.trial import Design, grouped

Grade: TypeAlias = str | bool | float | None

PASS: Final = ("pass", "fail")
# Inspect's letters by value: correct, partly, incorrect, no answer.
_LETTERS: Final = ("C", "P", "I", "N")
_ROUNDED: Final = 1e-6
# What a judge is called that a file does not name.
_UNKNOWN: Final = "unknown"
# No grade is as high; below it every whole number is one as a float too.
_MOST: Final = 10**15
# By field of a judgment, the column with the value from the tool's file.
_TOOL_COLUMNS: Final = {
    name: f"({name})"
    for name in (
        *("suite", "item", "cluster", "judge", "verdict", "label", "failed", "reply"),
        *("replicate", "prompt_tokens", "completion_tokens", "latency_s", "source"),
    )
}


@dataclass(frozen=True, slots=True)
class Graded:
    """A grade as a tool has logged it.

    Attributes:
        where: its place in the file, for errors.
        suite: name of the suite, one for each criterion and scale.
        item: the output that was graded.
        test: id of the test; the cluster, unless a column is named for it.
        grade: in the judge's terms; ``None`` where its reply stated none.
        score: the same as the number that the tool works with.
        human: the grade that a person has put in its place.
        failed: why there is no reply.
        prompt: the judge's prompt.
        fields: the texts in it that differ from one grade to the next.
        offered: all grades in words that the judge was offered, where the file says so.
        columns: further values of the test, for ``--cluster`` and ``--map``.
    """

    where: str
    suite: str
    item: str
    test: str
    judge: str
    grade: Grade = None
    score: float | None = None
    human: Grade = None
    failed: str | None = None
    reply: str | None = None
    prompt: Sequence[Mapping[str, str]] | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    tokens: tuple[int | None, int | None] = (None, None)
    latency_s: float | None = None
    offered: tuple[str, ...] = ()
    columns: Mapping[str, Any] = field(default_factory=dict)


class GradeScale(NamedTuple):
    """How the grades of a suite become verdicts.

    Attributes:
        labels: all that there are; empty: those that occur.
        word: from a grade to the verdict, and its name in errors.
    """

    labels: tuple[str, ...]
    ordinal: bool
    word: Callable[[Grade, str], str]


def imported(
    graded: Sequence[Graded],
    options: ImportOptions,
    *,
    notices: Iterable[str] = (),
    totals: Iterable[Total] = (),
) -> Imported:
    """The judgments of grades, with the user's ``options``.

    Raises:
        UsageError: an option names something that does not exist.
        LogError: there are no grades, or one does not fit the options.
    """
    mapping, _ = with_columns(dict(options.map))
    values = dict(options.value)
    for name in ("cluster", "order", "label"):
        if (column := getattr(options, name)) is not None:
            mapping[name] = column
    refuse_fields(mapping)
    _refuse_columns(mapping, graded)
    graded, unread = _without_odd_words(graded)
    notes = [*notices, *unread]
    scales: dict[str, GradeScale] = {}
    for suite, part in grouped(graded, attrgetter("suite")).items():
        grades = [grade for grading in part for grade in (grading.grade, grading.human)]
        scale = _scale(grades, [word for grading in part for word in grading.offered], options)
        if isinstance(scale, GradeScale):
            scales[suite] = scale
        else:
            notes.append(f"{suite} is left out: {scale}")
    read = [grading for grading in graded if grading.suite in scales]
    if not read:
        raise LogError(
            f"{options.path} holds no grade of a model that can be read",
            found="; ".join(notes) or "none",
            expected="at least one output that a model has graded",
            remedy="let a model grade outputs in the tool, and import the file that it writes then",
        )
    for suite, part in grouped(read, attrgetter("suite")).items():
        if changed := sum(grading.human is not None for grading in part):
            notes.append(f"{suite}: {changed} grades that people have changed are labels")
    if options.judge is None and any(grading.judge == _UNKNOWN for grading in read):
        notes.append("the file does not say which model graded: --judge names it")
    if "cluster" not in mapping:
        notes.append("each test is a cluster; --cluster COLUMN names what belongs together")
    columns = _TOOL_COLUMNS | mapping
    rows = [_row(*replicate, scales, options.judge) for replicate in _replicates(read)]
    designs = {suite: _design(scale, values) for suite, scale in scales.items() if scale.labels}
    imported_rows = judgments_of(rows, columns, {}, values, designs, names=dict(options.names))
    for judgment, design in imported_rows.judgments:
        label = judgment.trial.label
        if label is not None and not design.pairwise and label not in design.labels:
            raise UsageError(
                f"the label {label!r} of {judgment.trial.id} is not a verdict of its suite",
                expected=f"one of {listed(design.labels)}",
                remedy=f"say what it means: {option_words('--value', label, design.labels[0])}",
            )
    is_ordered = "order" in mapping or "first" in mapping
    if not is_ordered and any(design.pairwise for _, design in imported_rows.judgments):
        notes.append("no order is stated: every pair is taken for ab; --order COLUMN says it")
    return replace(imported_rows, notices=(*notes, *imported_rows.notices), totals=tuple(totals))


def _without_odd_words(graded: Sequence[Graded]) -> tuple[list[Graded], list[str]]:
    """Grades of which the few words among numbers are none, and a notice of each such word.

    Inspect writes ``I`` where a reply does not hold the grade that is looked for.
    """
    read: list[Graded] = []
    notices = []
    for suite, part in grouped(graded, attrgetter("suite")).items():
        stated = [grading.grade for grading in part if isinstance(grading.grade, str)]
        odd = {*odd_among_numbers([text.strip() for text in stated])}
        for word in sorted(odd):
            count = sum(text.strip() == word for text in stated)
            notices.append(
                f"{suite}: {count} of {len(part)} grades are {word}, beside numbers: the replies "
                "state no verdict, and are unread"
            )
        read += (
            replace(grading, grade=None) if str(grading.grade).strip() in odd else grading
            for grading in part
        )
    return read, notices


def chosen(
    named: Sequence[tuple[str, Graded]], options: ImportOptions, singular: str, several: str
) -> tuple[list[Graded], list[str]]:
    """The grades under the names that ``--scorer`` gives, or all; and a notice of the others.

    ``one`` and ``several`` say what a name is of.

    Raises:
        UsageError: ``--scorer`` gives a name that no grade has.
    """
    names = tuple(dict.fromkeys(name for name, _ in named))
    for name in options.scorer:
        if name not in names:
            raise unknown_name(singular, name, names)
    left = [name for name in names if options.scorer and name not in options.scorer]
    wanted = [grade for name, grade in named if name not in left]
    return wanted, [f"{several} that were not asked for: {', '.join(left)}"] * bool(left)


def _refuse_columns(mapping: Mapping[str, str], graded: Sequence[Graded]) -> None:
    column_names = dict.fromkeys(name for grading in graded for name in grading.columns)
    for name, column in mapping.items():
        if graded and column not in column_names:
            raise UsageError(
                f"nothing in the file is called {column}, which was named for the {name}",
                found=listed(column_names) or "tests that say nothing else of themselves",
                expected="what the tests of the file say of themselves",
                remedy="name one of them, or leave it out",
            )


def _scale(
    grades: Iterable[Grade], offered: Iterable[str], options: ImportOptions
) -> GradeScale | str:
    """How such grades become verdicts; a text says why they do not."""
    stated = [grade for grade in grades if grade is not None]
    if not stated:
        return "none of its replies states a grade"
    if all(isinstance(grade, bool) for grade in stated):
        return GradeScale(PASS, ordinal=False, word=lambda grade, _: PASS[not grade])
    if all(isinstance(grade, str) for grade in stated):
        words = {*(str(grade).strip() for grade in stated), *offered}
        letters = tuple(x for x in _LETTERS if x in words or x in ("C", "I"))
        labels = letters if words <= set(_LETTERS) else ()
        return GradeScale(labels, ordinal=False, word=lambda grade, _: str(grade).strip())
    numbers = [float(g) for g in stated if isinstance(g, int | float) and not isinstance(g, bool)]
    if len(numbers) < len(stated):
        return "its grades are words as well as numbers"
    if options.threshold is not None:
        least = options.threshold
        return GradeScale(
            PASS, ordinal=False, word=lambda grade, _: PASS[float(grade or 0) < least]
        )
    if options.scale is not None:
        steps = tuple(map(str, range(options.scale + 1)))
        return GradeScale(steps, ordinal=True, word=_steps(options.scale))
    if odd := [number for number in numbers if not number.is_integer()]:
        return (
            f"its grades are fractions, such as {odd[0]:.6g}; --scale N reads them as N steps "
            "from 0 to 1, --threshold T as pass and fail"
        )
    return GradeScale((), ordinal=True, word=lambda grade, _: str(int(grade or 0)))


def _steps(count: int) -> Callable[[Grade, str], str]:
    def word(grade: Grade, where: str) -> str:
        step = float(grade or 0) * count
        if not 0 <= round(step) <= count or abs(step - round(step)) > _ROUNDED * count:
            raise LogError(
                f"{where}: a grade lies between the steps of the scale",
                found=f"{grade}",
                expected=f"a multiple of 1/{count}, from 0 to 1",
                remedy="choose another --scale, or --threshold T: pass from T on",
            )
        return str(round(step))

    return word


def _design(scale: GradeScale, values: Mapping[str, str]) -> Design:
    labels = dict.fromkeys(values.get(label, label) for label in scale.labels)
    labels.pop("", None)  # of a grade that is none
    return Design("paraphrase", tuple(labels), scale.ordinal, pairs="all")


def _replicates(graded: Iterable[Graded]) -> Iterator[tuple[Graded, str, int]]:
    """Each grade with its item and its number: of one prompt about one test, all are one item.

    A tool keeps no prompt where the grader gave no reply: of the same fields it is that of another.
    """
    graded = list(graded)
    prompts: dict[Any, set[str]] = {}
    for grading in graded:
        if grading.prompt:
            prompts.setdefault(_about(grading), set()).add(json.dumps(grading.prompt))
    last: dict[Any, tuple[str, int]] = {}
    for grading in graded:
        alike = {json.dumps(grading.prompt)} if grading.prompt else prompts.get(_about(grading), ())
        shown = next(iter(alike)) if len(alike) == 1 else f"item {grading.item}"
        key = grading.suite, grading.judge, grading.test, shown
        item, number = last.get(key, (item_id(grading.item), 0))
        last[key] = item, number + 1
        yield grading, item, number + 1


def _about(grading: Graded) -> tuple[str, ...]:
    """What was graded, by whom: without fields nothing tells two of one test apart."""
    return (
        grading.suite,
        grading.judge,
        grading.test,
        json.dumps(dict(grading.fields) if grading.fields else grading.item),
    )


def _row(
    grading: Graded, item: str, replicate: int, scales: Mapping[str, GradeScale], judge: str | None
) -> Row:
    def word(grade: Grade) -> str | None:
        return None if grade is None else scales[grading.suite].word(grade, grading.where)

    source = {
        **({"score": grading.score} if grading.score is not None else {}),
        **({"prompt": list(grading.prompt)} if grading.prompt else {}),
        **({"fields": dict(grading.fields)} if grading.fields else {}),
    }
    cells = (
        *(
            grading.suite,
            item,
            grading.test,
            judge or grading.judge,
            word(grading.grade),
            word(grading.human),
        ),
        *(grading.failed, grading.reply, replicate, *(count or None for count in grading.tokens)),
        *(grading.latency_s, source),
    )
    return Row(
        grading.where, {**grading.columns, **dict(zip(_TOOL_COLUMNS.values(), cells, strict=True))}
    )


def number_of(value: Any, where: str) -> float | None:
    """A number of a file; ``None`` for a missing one and for NaN.

    Raises:
        LogError: it is not a number, or too large.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _MOST:
        raise malformed(where, value if isinstance(value, str) else str(value)[:80], "a number")
    return float(value)


def text_of(value: Any) -> str:
    """A value as a prompt shows it: a text as it is, others as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def count_of(value: Any) -> int | None:
    """A number of tokens; ``None`` if there is none or it is impossible."""
    return value if isinstance(value, int) and 0 < value < 10**12 else None


def table_of(value: Any) -> dict[str, Any]:
    """A value that is an object, as it is; an empty one for any other."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """A value that is a list, as it is; an empty one for any other."""
    return value if isinstance(value, list) else []


def is_figure(value: Any) -> TypeGuard[float]:
    """Whether a value is a number that a count or a mean can be."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _MOST
