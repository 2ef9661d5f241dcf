"""What foreign files hold: judgments, which become a log, or items, which become a suite.

They are looked at first, and only what is known is read. An option that no importer has read is
refused, for the user would take it to have worked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from shlex import quote
from typing import Any, Final

from pytest_judgesense.errors import JudgesenseError, LogError, UsageError, listed
from pytest_judgesense.files.foreign_results import Imported, short_named
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.row_options import refuse_repeats
from pytest_judgesense.files.tables import is_there
from pytest_judgesense.questions.import_.chosen_options import with_settings
from pytest_judgesense.questions.import_.look import Look, looked_at
from pytest_judgesense.questions.import_.number_ranges import with_number_designs
from pytest_judgesense.questions.import_.preview import (
    AnsweredCommand,
    Preview,
    question_error,
    taken_lines,
)
from pytest_judgesense.questions.import_.unread_replies import notice_of_unread
from pytest_judgesense.questions.import_.verdict_counts import counts_of_verdicts
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.log import log_line
from pytest_judgesense.trial import LONGEST_NAME, TEMPERATURE, Design, Judgment, grouped

# Fields that an option gives to all rows: beside a column of them rows repeat a trial.
_OF_ALL_ROWS: Final = frozenset({"judge", "suite", "replicate"})

# An answer may raise a question, which is answered likewise, so many times.
_MOST_ROUNDS: Final = 5
# So many commands that answer all questions are printed.
_MOST_COMMANDS: Final = 4


@dataclass(frozen=True)
class ImportQuestion:
    """What foreign files say in our terms.

    Attributes:
        options: the files, and how they are read.
        output: the judgment log, or the suite file, that they become; by default one that is called
            as the first file, in the current folder.
        form: of the files, as importers and shapes are called; by default they are recognised.
        place: the project of this folder, whose plugins give importers.
    """

    options: ImportOptions
    output: Path | None = None
    form: str | None = None
    place: Place = field(default_factory=Place)

    def preview(self) -> Preview:
        """What the files are taken for; nothing is written.

        Raises:
            UsageError, LogError: as for `answer`, where no row can be looked at.
        """
        look = self._look()
        ranges: list[str] = []
        if look.importer.plain and isinstance(look.read, Imported) and not look.read.objections:
            swept, _ = _as_sweeps(look.read, self.place.registry)
            _, ranges = with_number_designs(swept, self.place.registry, look)
        return Preview(look, self.output, self._answered(look), tuple(ranges))

    def _answered(self, look: Look) -> tuple[AnsweredCommand, ...]:
        """The commands that answer all that is asked, by each combination of readings.

        After so many, further questions are answered by their first readings.
        """
        if not look.questions:
            return ()
        output = self.output or look.proposed_output
        commands: list[AnsweredCommand] = []
        open_looks: list[tuple[Look, tuple[str, ...]]] = [(look, ())]
        while open_looks:
            asking, meanings = open_looks.pop()
            is_last = len(open_looks) + len(commands) >= _MOST_COMMANDS - 1
            if not asking.questions or len(meanings) >= _MOST_ROUNDS:
                problem = "" if asking.problem is None else asking.problem.what
                command = "" if asking.no_judge or problem else asking.command(output)
                commands.append(AnsweredCommand(meanings, command, problem))
                continue
            readings = asking.questions[0].readings[: 1 if is_last else 2]
            for reading in reversed(readings):
                told = (*meanings, reading.meaning)
                options = with_settings(asking.given, reading.settings)
                try:
                    answered = looked_at(options, self.form, self.place.registry)
                except JudgesenseError as error:  # no command is printed that fails
                    commands.append(AnsweredCommand(told, "", error.what))
                else:
                    open_looks.append((answered, told))
        return tuple(dict.fromkeys(commands))

    def answer(self) -> ImportAnswer:
        """Read the files; nothing is written.

        Raises:
            UsageError: no such form is known, nothing is there, an option is not about it, or
                something that only the owner of the files knows is not said.
            LogError: a file is malformed, or holds no judgment.
        """
        return self.answer_to(self._look())

    def answer_to(self, look: Look) -> ImportAnswer:
        """What files become that were looked at; errors as for `answer`."""
        if not look.is_known:
            raise question_error(look)
        if look.problem is not None:
            raise look.problem
        assert look.read is not None
        output = self.output or look.proposed_output
        if not isinstance(look.read, Imported):
            return ImportAnswer((*look.read.notices,), (), look.read.files(output))
        if look.read.objections:
            raise look.read.objections[0]
        if not look.read.judgments:
            raise LogError(
                f"{self.options.path} holds no judgment", found="no record", expected="at least one"
            )
        return self._log_of(look.read, look, output)

    def _log_of(self, read: Imported, look: Look, output: Path) -> ImportAnswer:
        unread = notice_of_unread(read.judgments, look.given, look.chosen, look.implied)
        swept, sweeps = _as_sweeps(read, self.place.registry)
        if look.importer.plain:
            swept, numbers = with_number_designs(swept, self.place.registry, look)
            sweeps += numbers
        judgments = tuple((short_named(judgment), design) for judgment, design in swept.judgments)
        more = (note for note in look.notes if note not in read.notices)
        notices = (*read.notices, *more, *sweeps, *_cut_names(swept, judgments), *unread)
        text = "".join(f"{log_line(*line)}\n" for line in judgments)
        summary = (_summary(judgments), *counts_of_verdicts(judgments), *map(str, read.totals))
        steps = next_steps(judgments, output)
        taken = tuple(taken_lines(look))
        return ImportAnswer(notices, summary, {output: text}, judgments, steps, taken)

    def _as_written_before(self, missing: Path) -> str:
        """How a command is written today that names the form of the files first."""
        is_form = str(missing) in self.place.registry.importers and self.options.more
        return f"the form is an option: --format {missing}, or nothing" if is_form else ""

    def _look(self) -> Look:
        options = self.options
        if missing := next((p for p in (options.path, *options.more) if not is_there(p)), None):
            raise UsageError(
                f"there is nothing to import at {missing}",
                found="no such file or folder",
                expected="a file or folder of results, or a table with a row for each judgment",
                remedy=self._as_written_before(missing),
            )
        _refuse_several_columns(options)
        refuse_repeats(options)
        _refuse_named_twice(options, _OF_ALL_ROWS)
        look = looked_at(options, self.form, self.place.registry)
        if look.problem is None:
            _refuse_named_twice(options)
        return look


@dataclass(frozen=True)
class ImportAnswer(QuestionAnswer):
    """What the files became.

    Attributes:
        notices: ignored fields and assumptions, one sentence each.
        summary: what was read, verdicts by suite, and the totals that the files state.
        files: what is to be written, by path.
        judgments: those of the log, each with the design of its suite; none of a suite.
        next_steps: the commands that come next, or why one cannot.
        taken: what the files show by themselves, as lines: the option that says it, and why.
    """

    notices: tuple[str, ...]
    summary: tuple[str, ...]
    files: Mapping[Path, str]
    judgments: tuple[tuple[Judgment, Design], ...] = ()
    next_steps: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()

    @property
    def suites(self) -> list[Path]:
        """The suite files among those that are to be written."""
        return [path for path in self.files if path.name.endswith(".suite.toml")]

    def lines(self, again: Container[Path] = ()) -> Iterator[str]:
        """What is taken for what, notices, what was read and written, and what comes next.

        Args:
            again: the files that take the place of what an import of the same sources wrote.
        """
        if self.taken:
            yield "taken as the file shows it:"
            yield from self.taken
        yield from (f"notice: {notice}" for notice in self.notices)
        yield from self.summary
        for path in self.files:
            yield f"written{' again' * (path in again)}: {path}"
        yield from (f"next: {step}" for step in self.next_steps)

    def to_dict(self) -> Mapping[str, Any]:
        """What was read, and the files that it makes."""
        return {
            "judges": sorted({judgment.judge for judgment, _ in self.judgments}),
            "suites": sorted({judgment.trial.suite for judgment, _ in self.judgments}),
            "judgments": len(self.judgments),
            "unparsed": _without_verdict(self.judgments),
            "notices": list(self.notices),
            "files": [str(path) for path in self.files],
            "next": list(self.next_steps),
        }


def next_steps(judgments: Sequence[tuple[Judgment, Design]], log: Path) -> tuple[str, ...]:
    """The commands that come after an import, or why one cannot."""
    report = f"judgesense report {quote(str(log))}"
    suite = f"judgesense init --from-log {quote(str(log))}"
    sources = [(judgment.detail or {}).get("source") or {} for judgment, _ in judgments]
    if any(len(design.criteria) > 1 for _, design in judgments):
        return report, "no suite is made of this log: its replies give several grades each"
    fields = dict.fromkeys(name for source in sources for name in source.get("fields") or ())
    is_of_pairs = any(design.pairwise for _, design in judgments)
    if is_of_pairs and not {"a", "b"} <= fields.keys():  # whole prompts have one order
        return report, (
            "no suite is made of this log: it does not hold the texts of two candidates; "
            "--map field.a=COLUMN --map field.b=COLUMN add them"
        )
    if not is_of_pairs and any(source.get("prompt") for source in sources):
        return report, suite
    if fields:
        names = ", ".join(f"{{{{{name}}}}}" for name in fields)
        return report, f"{suite} --template FILE, a prompt with {names}"
    missing = "no suite is made of this log: it holds no texts; --map field.NAME=COLUMN adds one"
    return report, missing


def _summary(judgments: Collection[tuple[Judgment, Design]]) -> str:
    judges = sorted({judgment.judge for judgment, _ in judgments})
    suites = sorted({judgment.trial.suite for judgment, _ in judgments})
    count = f"{len(judgments)} judgment{'s' * (len(judgments) != 1)}"
    unparsed = _without_verdict(judgments)
    return f"{count} of {', '.join(judges)} on {', '.join(suites)}; {unparsed} state no verdict"


def _without_verdict(judgments: Collection[tuple[Judgment, Design]]) -> int:
    return sum(judgment.verdict is None for judgment, _ in judgments)


def _cut_names(read: Imported, judgments: Collection[tuple[Judgment, Design]]) -> Iterator[str]:
    """Whether names were too long and are cut."""
    both = zip(judgments, read.judgments, strict=True)
    if changed := sum(cut is not whole for (cut, _), (whole, _) in both):
        yield (
            f"names of more than {LONGEST_NAME} characters (items, clusters and such) are cut to "
            f"their beginning and a digest; judgments with such names: {changed}"
        )


def _refuse_several_columns(options: ImportOptions) -> None:
    for column, lists in grouped(options.lists, itemgetter(0)).items():
        if len(lists) > 1:
            raise UsageError(
                f"--lists names column {column} more than once",
                found=listed(names for _, names in lists),
                expected="each column once, with a name for each depth of lists in lists",
                remedy=f"--lists {column}={','.join(names for _, names in lists)}",
            )
    for name, pairs in grouped(options.map, itemgetter(0)).items():
        named = [column for _, column in pairs]
        if len(named) > 1:  # the last one would hide the others
            raise UsageError(
                f"--map names several columns for the {name}",
                found=listed(named),
                expected="one column for each field",
                remedy="import once for each column, named by --judge, and join the logs by "
                "judgesense recordings join",
            )


def _refuse_named_twice(options: ImportOptions, names: Collection[str] | None = None) -> None:
    for name, column in options.map:
        if names is not None and name not in names:
            continue
        if column and (option := vars(options).get(name)) is not None:
            raise UsageError(
                f"the {name} is given twice",
                found=f"--{name} {option} and --map {name}={column}",
                expected="one of the two",
            )


def _as_sweeps(read: Imported, registry: Registry) -> tuple[Imported, list[str]]:
    """The judgments, with the design of a sweep where each holds its temperature; and notices."""
    kind = next((kind for kind in registry.forms.values() if kind.sweeps), None)
    temperatures: dict[str, set[Any]] = defaultdict(set)
    for judgment, _ in read.judgments:
        trial = judgment.trial
        temperatures[trial.suite].add(trial.condition.get(TEMPERATURE))
    swept = {
        suite: sorted(steps)
        for suite, steps in temperatures.items()
        if all(isinstance(step, float) for step in steps)
    }
    if kind is None or not swept:
        return read, []
    designs: dict[Design, Design] = {}
    judgments = []
    for judgment, read_design in read.judgments:
        design = read_design
        if judgment.trial.suite in swept and read_design.kind != kind.name:
            sweep = replace(design, kind=kind.name, others=True, pairs=())
            design = designs.setdefault(read_design, sweep)
        judgments.append((judgment, design))
    notices = [
        f"suite {suite} is a sweep of temperatures: {', '.join(f'{step:g}' for step in steps)}"
        for suite, steps in swept.items()
    ]
    return replace(read, judgments=tuple(judgments)), notices
