"""The preview of an import: what the files are taken for, within a screen, and the one command."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from textwrap import wrap
from typing import Any, Final, NamedTuple

from pytest_judgesense.errors import JudgesenseError, UsageError, listed, printable
from pytest_judgesense.files.foreign_results import Imported
from pytest_judgesense.files.proposals import OpenQuestion, Setting, ShownSetting
from pytest_judgesense.questions.import_.chosen_options import option_words, settings_of
from pytest_judgesense.questions.import_.column_facts import ColumnFacts
from pytest_judgesense.questions.import_.look import Look, columns_used
from pytest_judgesense.questions.import_.verdict_counts import counts_of_verdicts
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.text.layout import columns as width_of_screen
from pytest_judgesense.trial import Design, Judgment, grouped

_MOST_COLUMNS: Final = 10
_HEAD: Final = ("column", "holds", "for example", "taken for")
_NAME: Final = 20
_HOLDS: Final = 15
_EXAMPLES: Final = 22
_EXAMPLE: Final = 12
_MOST_FIELDS: Final = 8
_CELL: Final = 40
_MOST_SUITES: Final = 3
# Options are aligned up to this width.
_OPTION: Final = 50
_WORDS_HERE: Final = "what these words mean here"


class AnsweredCommand(NamedTuple):
    """A command that answers all questions.

    Attributes:
        meanings: what the files say when they are read so, a sentence for each answer.
        command: as a shell takes it; empty where nothing of a judge is in the files then.
        problem: why the files cannot be read so; then there is no command.
    """

    meanings: tuple[str, ...]
    command: str
    problem: str = ""


@dataclass(frozen=True)
class Preview(QuestionAnswer):
    """What files are taken for.

    Attributes:
        look: at them.
        output: what they are to become, if the user says it.
        answered: the commands that answer all questions, by combinations of their readings.
        ranges: of the suites of numbers between which ends these lie, a sentence each.
    """

    look: Look
    output: Path | None = None
    answered: tuple[AnsweredCommand, ...] = ()
    ranges: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether nothing is left to ask."""
        return self.look.is_known

    def lines(self) -> Iterator[str]:
        """The columns and what each is taken for, what is not known, counts, and the command."""
        look = self.look
        yield _title(look)
        yield from _column_lines(look)
        yield from _other_settings(look)
        for note in look.notes:
            yield from _wrapped(f"note: {note}", "  ")
        if look.table is None and look.read is not None:  # what columns show of a table
            for notice in look.read.notices:
                yield from _wrapped(f"note: {notice}", "  ")
        for question in look.questions:
            yield from _question_lines(question)
        if look.no_judge:
            yield from _gold_lines(look)
            return
        yield from _counts(look)
        for sentence in self.ranges:
            yield from _wrapped(f"  {sentence}", "    ")
        if not look.questions and look.problem is None:
            yield ""
            yield from look.command(self.output or look.proposed_output).split("\n")
        elif look.questions:
            yield from self._commands()

    def _commands(self) -> Iterator[str]:
        """The commands that answer every question, and what each reads."""
        yield ""
        yield "one of these:"
        for meanings, command, problem in self.answered:
            yield from _wrapped(f"# {'; '.join(meanings)}", "#   ")
            if problem:
                yield from _wrapped(f"# cannot be read so: {problem}", "#   ")
            elif command:
                yield from command.split("\n")
            else:
                yield _items_command(self.look)

    def to_dict(self) -> Mapping[str, Any]:
        """What is taken for what, and what is asked."""
        look = self.look
        return {
            "form": look.form,
            "rows": 0 if look.table is None else len(look.table),
            "settings": [
                {"option": shown.setting.field, "value": shown.setting.value, "why": shown.why}
                for shown in (*look.implied, *look.shown)
            ],
            "questions": [
                {
                    "asks": question.asks,
                    "readings": [
                        {"options": option_words(reading.settings), "meaning": reading.meaning}
                        for reading in question.readings
                    ],
                }
                for question in look.questions
            ],
            "no_judge": look.no_judge,
            "notes": list(look.notes),
            "command": look.command(self.output or look.proposed_output) if self.is_known else "",
        }


def taken_lines(look: Look) -> Iterator[str]:
    """What the files show by themselves: the option that says it, and why, within a screen."""
    rows = []
    for option, alike in grouped(look.shown_by_itself, lambda shown: shown.setting.field).items():
        together = [alike] if option == "value" else [[shown] for shown in alike]
        for some in together:
            words = " ".join(map(quote, option_words(shown.setting for shown in some)))
            whys = dict.fromkeys(shown.why for shown in some)
            rows.append((words, _WORDS_HERE if option == "value" else "; ".join(whys)))
    width = min(max((len(words) for words, _ in rows), default=0), _OPTION)
    for words, why in rows:
        yield from _wrapped(f"  {words:<{width}}  {why}", "      ")


def _wrapped(text: str, indent: str) -> list[str]:
    """A text within a screen; its further lines are indented."""
    return wrap(
        printable(text),
        width_of_screen(),
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


def question_error(look: Look) -> JudgesenseError:
    """The error that asks what is not known of the files."""
    if look.no_judge:
        return UsageError(
            f"nothing in {look.given.path} is a judge's",
            found=look.no_judge,
            expected="a column of verdicts, or of replies that state one",
            remedy="name it: --map verdict=COLUMN; if only the replies are there, their column and "
            "the possible verdicts: --map reply=COLUMN --labels A,B,tie; or have a judge asked: "
            f"{_items_command(look)}",
        )
    if look.objection is not None:
        return look.objection
    question = look.questions[0]
    return UsageError(
        "; ".join(asked.asks for asked in look.questions),
        found=f"{question.example.where}: {_row_words(question.example.value)}",
        expected="; ".join(
            " or ".join(reading.meaning for reading in asked.readings) for asked in look.questions
        ),
        remedy="; and ".join(
            ", or ".join(" ".join(map(quote, option_words(r.settings))) for r in asked.readings)
            for asked in look.questions
        ),
    )


def _title(look: Look) -> str:
    path = listed(map(str, (look.given.path, *look.given.more)))
    if look.table is None:
        return f"{path}: {look.title}"
    rows = f"{_number(len(look.table), 'row')} of {look.table.how}"
    return f"{path}: {rows}{f', {look.title} (--format {look.form})' * bool(look.form)}"


# --- columns --------------------------------------------------------------------------------------


def _column_lines(look: Look) -> Iterator[str]:
    """A line a column that is used: what it holds, examples, what it is taken for and why."""
    if look.table is None:
        return
    used = columns_used(look)
    shown = [facts for name, facts in look.columns.items() if name in used]
    rest = [facts for name, facts in look.columns.items() if name not in used]
    room = max(_MOST_COLUMNS - len(shown), 0)
    beside, hidden = rest[:room], rest[room:]
    yield from _aligned(look, [*shown[: 2 * _MOST_COLUMNS], *beside])
    if hidden:
        yield f"  and {len(hidden)} more columns that are not used"


def _aligned(look: Look, columns: Sequence[ColumnFacts]) -> Iterator[str]:
    """Columns as the lines of a table, below what its cells are."""
    cells = [
        (
            _cut(facts.name, _NAME),
            _cut(facts.holds, _HOLDS),
            _cut(_examples(facts), _EXAMPLES),
            _role(look, facts.name),
        )
        for facts in columns
    ]
    rows = [_HEAD, *cells]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        yield _cut(f"  {line.rstrip()}", width_of_screen())


def _cut(text: str, width: int) -> str:
    plain = printable(text)
    return plain if len(plain) <= width else f"{plain[: width - 3]}..."


def _examples(facts: ColumnFacts) -> str:
    if facts.kind == "texts":
        return _cut(facts.examples[0], _EXAMPLES)
    return ", ".join(_cut(example, _EXAMPLE) for example in facts.examples)


def _role(look: Look, column: str) -> str:
    """What a column is taken for, and why."""
    said = [*look.implied, *look.shown]
    shown = {setting.setting for setting in said}
    of_user = [setting for setting in settings_of(look.given) if setting not in shown]
    said += [ShownSetting(setting, "as you say") for setting in of_user]
    roles = ((_role_of(setting, column), why) for setting, why in said)
    return "; ".join(f"{role}: {why}" for role, why in roles if role) or "-"


def _role_of(setting: Setting, column: str) -> str:
    """What a setting takes a column for; empty if it is about another."""
    if setting.field not in ("map", "grades", "people") or not isinstance(setting.value, tuple):
        return ""
    name, columns = map(str, setting.value)
    if column != columns and column not in columns.replace("+", ",").split(","):
        return ""
    return {"map": name, "grades": f"grade of {name}", "people": f"people on {name}"}[setting.field]


def _other_settings(look: Look) -> Iterator[str]:
    """The settings that take no column, with what shows them."""
    others = [s for s in (*look.implied, *look.shown) if not _takes_column(s)]
    for option, alike in grouped(others, lambda shown: shown.setting.field).items():
        words = " ".join(map(quote, option_words(shown.setting for shown in alike)))
        whys = dict.fromkeys(shown.why for shown in alike)
        why = _WORDS_HERE if option == "value" else "; ".join(whys)
        yield _cut(f"  {words}: {why}", width_of_screen())


def _takes_column(shown: ShownSetting) -> bool:
    return shown.setting.field in ("map", "grades", "people")


# --- what is not known ----------------------------------------------------------------------------


def _question_lines(question: OpenQuestion) -> Iterator[str]:
    yield from _wrapped(f"not known: {question.asks}", "  ")
    yield _cut(
        f"  {question.example.where}: {_row_words(question.example.value)}", width_of_screen()
    )
    for reading in question.readings:
        words = " ".join(map(quote, option_words(reading.settings)))
        yield from _wrapped(f"  {words}  {reading.meaning}", "      ")


def _row_words(row: Mapping[str, Any]) -> str:
    cells = [
        f"{name} {_cut(_cell_words(cell), _CELL)}" for name, cell in [*row.items()][:_MOST_FIELDS]
    ]
    return ", ".join(cells) + (", ..." if len(row) > _MOST_FIELDS else "")


def _cell_words(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    return json.dumps(cell, ensure_ascii=False, default=str)


def _gold_lines(look: Look) -> Iterator[str]:
    yield from _wrapped(f"no judge: {look.no_judge}", "  ")
    yield ""
    yield "have a judge asked about these items:"
    yield _items_command(look)


def _items_command(look: Look) -> str:
    by_itself = (shown.setting for shown in (*look.implied, *look.shown))
    said = (*by_itself, *settings_of(look.given))
    label = [setting for setting in said if setting in _labels(look)]
    words = ["--items", str(look.given.path), *option_words(label)]
    return f"judgesense init --callable MODULE:FUNCTION {' '.join(map(quote, words))}"


def _labels(look: Look) -> list[Setting]:
    """The settings that say where labels and clusters are, which `init` takes as well."""
    names = ("label", "cluster")
    return [Setting("map", pair) for pair in look.chosen.map if pair[0] in names]


# --- counts ---------------------------------------------------------------------------------------


def _counts(look: Look) -> Iterator[str]:
    read = look.read
    if read is None:
        return
    yield ""
    if not isinstance(read, Imported):
        yield f"a suite: {listed(map(str, read.files(look.proposed_output)))}"
        return
    yield counted([*read.judgments])
    yield from counts_of_verdicts(read.judgments, most=_MOST_SUITES)


def counted(judged: Sequence[tuple[Judgment, Design]]) -> str:
    """Counts of judgments: items, orders, replicates, judges, labels, and what is missing."""
    judgments = [judgment for judgment, _ in judged]
    trials = [judgment.trial for judgment in judgments]
    orders = Counter(trial.order for trial in trials)
    parts = [
        _number(len(judgments), "judgment"),
        _number(len({(trial.suite, trial.item) for trial in trials}), "item"),
    ]
    if len(orders) > 1:
        parts.append(f"orders ab {orders['ab']} and ba {orders['ba']}")
    for name, values in (
        ("replicate", {trial.replicate for trial in trials}),
        ("wording", {trial.template for trial in trials}),
        ("judge", {judgment.judge for judgment in judgments}),
        ("suite", {trial.suite for trial in trials}),
    ):
        if len(values) > 1:
            parts.append(_number(len(values), name))
    labelled = {(t.suite, t.item) for t in trials if t.label is not None or t.people}
    parts.append(f"labels of {_number(len(labelled), 'item')}" if labelled else "no labels")
    missing = sum(judgment.verdict is None for judgment in judgments)
    parts.append(f"{missing} without a verdict")
    return ", ".join(parts)


def _number(count: int, name: str) -> str:
    return f"{count} {name}{'s' * (count != 1)}"
