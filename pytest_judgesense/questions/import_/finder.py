"""The state of looking at the columns of a table: which are free, what the others are taken for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.judgment_fields import of_one_order
from pytest_judgesense.files.proposals import OpenQuestion, PossibleReading, Setting, ShownSetting
from pytest_judgesense.files.rows import name_words
from pytest_judgesense.files.tables import RowTable
from pytest_judgesense.questions.import_ import role_words as words_of
from pytest_judgesense.questions.import_.column_facts import ColumnFacts

_FEW: Final = 4
_TOGETHER: Final = "+"
_JOINED: Final = ","


@dataclass
class Finder:
    """What the columns of a table are taken for, one after the other.

    Attributes:
        table: the rows.
        columns: all of the table, by name.
        given: what the user says, and the shape of the file.
        joined: the columns of files that were joined.
        taken: the settings that were shown.
        questions: what is not known.
        notes: what a reader has to know besides.
        no_judge: why there is nothing of a judge in the table; empty where a judge speaks.
        fields: by field of a judgment the column that holds it; an empty text where none does.
        free: the columns that are taken for nothing yet.
    """

    table: RowTable
    columns: dict[str, ColumnFacts]
    given: ImportOptions
    joined: frozenset[str]
    taken: list[ShownSetting] = field(default_factory=list)
    questions: list[OpenQuestion] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    no_judge: str = ""

    def __post_init__(self) -> None:
        self.fields: dict[str, str] = dict(self.given.map)
        graded = (*self.given.grades, *self.given.people)
        used = {part for _, names in (*self.given.map, *graded) for part in columns_in(names)}
        self.free = {name: facts for name, facts in self.columns.items() if name not in used}

    def take(self, name: str, column: str, why: str) -> None:
        """Take a column, or several with commas between them, for a field of a judgment."""
        self.also(name, column, why)
        for part in columns_in(column):
            self.free.pop(part, None)

    def also(self, name: str, column: str, why: str) -> None:
        """Take a column for a field; it stays free for another."""
        self.taken.append(ShownSetting(Setting("map", (name, column)), why))
        self.fields[name] = column

    def show(self, option: str, value: tuple[str, ...], why: str) -> None:
        """Take a setting of another kind than a field's column."""
        self.taken.append(ShownSetting(Setting(option, value), why))

    def ask(self, asks: str, readings: Iterable[PossibleReading], row: int = 0) -> None:
        """Ask a question, of which two readings differ on a row."""
        first, second = readings
        self.questions.append(OpenQuestion(asks, self.table.rows[row], (first, second)))

    def named(self, words: Collection[str]) -> list[ColumnFacts]:
        """The free columns with one of these words in their names."""
        return [facts for facts in self.free.values() if words_in(facts, words)]

    def says(self, name: str) -> bool:
        """Whether it is known what holds a field, or what it is of all rows."""
        return name in self.fields or getattr(self.given, name, None) is not None

    def column_of(self, name: str) -> ColumnFacts | None:
        """The column that holds a field."""
        return self.columns.get(self.fields.get(name, ""))

    def shown_of(self, option: str) -> list[Any]:
        """What an option was shown to hold."""
        return [shown.setting.value for shown in self.taken if shown.setting.field == option]

    @property
    def is_graded(self) -> bool:
        """Whether a judge gave grades by criterion."""
        return bool(self.given.grades or self.shown_of("grades"))

    @property
    def labels(self) -> tuple[str, ...]:
        """The possible verdicts that are read from replies; none where a column holds verdicts."""
        shown = self.shown_of("labels")
        return self.given.labels or (shown[0] if shown else ())

    @property
    def has_answers(self) -> bool:
        """Whether it is known what the judge said."""
        is_wide = any(map(of_one_order, self.fields))
        is_said = bool(self.fields.get("verdict"))
        return self.is_graded or is_wide or is_said or bool(self.labels)

    @property
    def renamed(self) -> dict[str, str]:
        """By a word of the file, in small letters, what the user or the shape says it means."""
        return {word.casefold(): meaning for word, meaning in self.given.value}


def columns_in(names: str) -> list[str]:
    """The columns that a setting names: the whole text, and what stands between its signs."""
    return [names, *(part for joint in names.split(_TOGETHER) for part in joint.split(_JOINED))]


def words_in(facts: ColumnFacts, words: Collection[str]) -> set[str]:
    """Those of ``words`` that stand in the name of a column."""
    return {*facts.words} & {*words}


def few(words: Sequence[str]) -> str:
    """The first of some words."""
    shown = ", ".join(words[:_FEW])
    return f"{shown}, ..." if len(words) > _FEW else shown


# --- what names and words say of answers ----------------------------------------------------------

_RIGHT: Final = ("answer", "label", "option", "choice", "response", "verdict")
_BY_JUDGE_ALONE: Final = 2
_OF_JUDGES: Final = ("verdict", "judgment", "judgement")
# Whose answer a column holds that is no verdict beside others.
_WHOSE_ANSWERS: Final = frozenset(
    "predicted pred true suggested model correct gold right reference expected final given "
    "original student system baseline ground truth target".split()
)
_PREFERRED: Final = words_of.OF_PAIRS - {"chosen"}


def is_of_people(facts: ColumnFacts) -> bool:
    """Whether the name of a column says that people, or the right answers, stand in it."""
    is_right = "correct" in facts.own_words and bool({*facts.own_words} & {*_RIGHT})
    of_people = words_in(facts, words_of.PEOPLE)
    if of_people == {"majority"} and words_in(facts, _OF_JUDGES):
        return False  # that of several runs of a judge
    if of_people == {"annotator"} and facts.kind == "words" and names_models(facts):
        return False  # a model annotated
    return bool(of_people) or is_right


def is_answer_of_judged(facts: ColumnFacts) -> bool:
    """Whether a column is called as an answer that was judged, or as the right one.

    Beside others of its kind it holds no verdict: ``predicted_answer`` and ``true_answer``.
    """
    others = {*facts.words} - {"answer", "answers"}
    is_answer = len(others) < len({*facts.words})
    return is_answer and bool(others) and others <= _WHOSE_ANSWERS


def answers_of_judged(columns: Iterable[ColumnFacts]) -> list[str]:
    """The columns of answers that were judged, where several stand beside what was said of them."""
    named = [*columns]
    answers = [facts.name for facts in named if is_answer_of_judged(facts)]
    said = (
        facts
        for facts in named
        if facts.name not in answers and facts.kind == "words" and says_answers(facts)
    )
    return answers if len(answers) > 1 and any(said) else []


def names_models(facts: ColumnFacts) -> bool:
    """Whether each cell of a column is the name of a language model."""
    return all({*name_words(name)} & words_of.MODELS for name in facts.different)


def says_answers(facts: ColumnFacts) -> bool:
    """Whether a column holds the usual words of verdicts, whatever its name."""
    said = {word.casefold() for word in facts.different}
    usual = said & (words_of.VOCABULARY | words_of.WORDS_OF_PAIRS.keys())
    return facts.kind == "true or false" or (facts.kind == "words" and 2 * len(usual) > len(said))


def _is_name(facts: ColumnFacts) -> bool:
    """Whether a column names something, such as a model, and not what was preferred."""
    is_called_so = facts.own_words[-1:] in [("model",), ("id",), ("name",)]
    return is_called_so and facts.kind == "words" and not words_in(facts, _PREFERRED)


def weight_of(facts: ColumnFacts) -> int:
    """How well the name of a column says that it holds a judge's answers; 0 if it cannot."""
    if not facts.may_answer or words_in(facts, words_of.COUNTS) or _is_name(facts):
        return 0
    best = max((words_of.ANSWERS.get(word, 0) for word in facts.own_words), default=0)
    by_judge = words_in(facts, words_of.JUDGE)
    is_id = bool(words_in(facts, words_of.IDS - {"no", "number", "num"}))
    if best:
        return 0 if is_id and facts.is_unique else best + bool(by_judge)
    speaks = (facts.are_numbers or says_answers(facts)) and not is_id
    return _BY_JUDGE_ALONE if by_judge and speaks else 0
