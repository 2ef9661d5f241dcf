"""What foreign files hold: judgments, which become a log, or items, which become a suite.

An option that no importer has read is refused, for the user would take it to have worked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pytest_judgesense.errors import LogError, UsageError, listed, unknown_name
from pytest_judgesense.files.foreign_results import Imported, ImportedSuite, short_named
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.tables import is_there
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.registry import Importer, Registry
from pytest_judgesense.report.log import log_line
from pytest_judgesense.report.number_designs import of_numbers
from pytest_judgesense.trial import LONGEST_NAME, TEMPERATURE, Design, Judgment, grouped

_TOOLS: Final = "inspect, promptfoo, deepeval"
_ROWS: Final = f"table, {_TOOLS}"
NUMBERS: Final = f"{_TOOLS}, with numbers as grades"
_BY_COLUMN: Final = "the column of the {}; of a table --map {}=COLUMN"


class OptionWords(NamedTuple):
    """What is said of an option.

    Attributes:
        needs: the forms, and what their files must hold.
        does: what it does to them.
    """

    needs: str
    does: str

    def __str__(self) -> str:
        return f"{self.needs}: {self.does}"


OPTION_WORDS: Final[Mapping[str, OptionWords]] = MappingProxyType(
    {
        "reparse": OptionWords(
            "llmbar, judgebench", "parse recorded completions again; ignore recorded verdicts"
        ),
        "variant": OptionWords("llmbar", "only this variant of the prompt; may be repeated"),
        "pairs": OptionWords(
            "judgesense, with a decision log",
            "the file of its pairs, which has their templates, polarity, clusters and gold labels",
        ),
        "leave_out": OptionWords(
            "judgesense, with the pairs",
            "leave out the pairs with this template, such as t4; may be repeated",
        ),
        "validation": OptionWords(
            "judgesense, with a pair file",
            "a file of reviews of its pairs, which become those of the templates; may be repeated",
        ),
        "map": OptionWords(
            _ROWS,
            "the column that holds a field of a judgment, a.b for field b of objects in column a; "
            "may be repeated",
        ),
        "value": OptionWords(
            _ROWS, "what a verdict or label is called here, or nothing; may be repeated"
        ),
        "names": OptionWords(
            _ROWS,
            "whether a verdict, a label or a text (a of field.a) of two candidates that changed "
            "places names the slot as the judge saw it, or the content; may be repeated",
        ),
        "labels": OptionWords(
            "table, without a column of verdicts",
            "the possible verdicts, to be read from the replies; with tie and abstain where these "
            "are permitted",
        ),
        "grades": OptionWords("table", "the judge's grades, a column a criterion"),
        "people": OptionWords(
            "table, with --grades", "people's grades, of each criterion a column a person"
        ),
        "pass_mark": OptionWords("table, with --grades", "the grade from which an output passes"),
        "lists": OptionWords(
            "table",
            "a column that holds a list: each member is a row, with its place, from 1, in columns "
            "of these names, one for each depth of lists in lists; or columns that are called "
            "alike, run_{replicate}, each a row; may be repeated",
        ),
        "join": OptionWords(
            "table",
            "a file with more columns of the rows, such as people's labels, and the column of both "
            "that tells them; may be repeated",
        ),
        "replicate": OptionWords("table", "the replicate of all rows"),
        "judge": OptionWords(_ROWS, "the judge of all rows"),
        "suite": OptionWords(f"games, {_ROWS}", "the suite of all rows"),
        "cluster": OptionWords(_TOOLS, _BY_COLUMN.format("cluster", "cluster")),
        "order": OptionWords(
            _TOOLS, _BY_COLUMN.format("order of two candidates, ab or ba", "order")
        ),
        "label": OptionWords(_TOOLS, _BY_COLUMN.format("grade that a person gave", "label")),
        "scorer": OptionWords(
            _TOOLS, "only this scorer, metric or type of assertion; may be repeated"
        ),
        "scale": OptionWords(NUMBERS, "read scores as steps, 0 to N, from 0 to 1"),
        "threshold": OptionWords(NUMBERS, "read scores as pass, from T on, and fail"),
    }
)
"""By the field of `ImportOptions`; the option's name has hyphens."""


def option_name(field: str) -> str:
    """The option that gives a field."""
    return f"--{field.replace('_', '-')}"


def noting(options: ImportOptions) -> tuple[ImportOptions, set[str]]:
    """The options, and the names of those that have been read, which grow with every look at one.

    Who looks at all at once has read all.
    """
    read_names: set[str] = set()

    class Noting(ImportOptions):
        def __getattribute__(self, name: str) -> Any:
            read_names.add(name)
            return super().__getattribute__(name)

    noted = Noting(**{field.name: getattr(options, field.name) for field in fields(options)})
    read_names.clear()
    return noted, read_names


def refuse_unused(
    options: ImportOptions, read_names: Collection[str], form: str, what: str
) -> None:
    """Raise a `UsageError` for an option that was given and that the importer has not read.

    Args:
        options: as they were given.
        read_names: of the fields that were read.
        form: of the foreign files.
        what: they were read as.
    """
    if "__dict__" in read_names:
        return
    for option in fields(options):
        value = getattr(options, option.name)
        is_given = not (value is None or value is False or value == ())
        if option.name not in OPTION_WORDS or option.name in read_names or not is_given:
            continue
        name = option_name(option.name)
        given = _as_given(value if option.default == () else (value,))
        raise UsageError(
            f"{name} is not used: {options.path} was read as {what} of the form {form}",
            found=name if value is True else f"{name} {given}",
            expected=str(OPTION_WORDS[option.name]),
            remedy=f"leave out {name}, or import a file that it is for",
        )


def _as_given(values: Collection[Any]) -> str:
    parts = (value if isinstance(value, tuple) else (value,) for value in values)
    return ", ".join("=".join(map(str, part)) for part in parts)


# Fields that an option gives to all rows: beside a column of them rows repeat a trial.
_OF_ALL_ROWS: Final = frozenset({"judge", "suite", "replicate"})


@dataclass(frozen=True)
class ImportQuestion:
    """What foreign files say in our terms.

    Attributes:
        form: of the files, as importers call it.
        options: the files, and how they are read.
        output: the judgment log, or the suite file, that they become.
        place: the project of this folder, whose plugins give importers.
    """

    form: str
    options: ImportOptions
    output: Path
    place: Place = field(default_factory=Place)

    def answer(self) -> ImportAnswer:
        """Read the files; nothing is written.

        Raises:
            UsageError: no such form is known, nothing is there, or an option is not about it.
            LogError: a file is malformed, or holds no judgment.
        """
        read = self._read()
        if not isinstance(read, Imported):
            return ImportAnswer((*read.notices,), (), read.files(self.output))
        if not read.judgments:
            raise LogError(
                f"{self.options.path} holds no judgment", found="no record", expected="at least one"
            )
        if read.objections:
            raise read.objections[0]
        swept, sweeps = _as_sweeps(read, self.place.registry)
        if self._importer().plain:
            swept, numbers = _as_numbers(swept, self.place.registry)
            sweeps += numbers
        judgments = tuple((short_named(judgment), design) for judgment, design in swept.judgments)
        notices = (*read.notices, *sweeps, *_cut_names(swept, judgments))
        text = "".join(f"{log_line(*line)}\n" for line in judgments)
        summary = (_summary(judgments), *map(str, read.totals))
        return ImportAnswer(notices, summary, {self.output: text}, judgments)

    def _read(self) -> Imported | ImportedSuite:
        """What the importer of the form reads, by all options that were given."""
        importer, options = self._importer(), self.options
        if missing := next((p for p in (options.path, *options.more) if not is_there(p)), None):
            raise UsageError(
                f"there is nothing to import at {missing}",
                found="no such file or folder",
                expected=f"what `judgesense import {self.form}` reads",
            )
        _refuse_several_columns(options)
        _refuse_named_twice(options, _OF_ALL_ROWS)
        noted, read_names = noting(options)
        read = importer.read(noted)
        if options.more and "more" not in read_names:
            raise UsageError(
                f"files of the form {self.form} are imported one by one",
                found=listed((options.path, *options.more)),
                expected="one file or folder",
                remedy="import each, and join the logs by judgesense recordings join",
            )
        what = "judgments" if isinstance(read, Imported) else "a suite"
        refuse_unused(options, read_names, self.form, what)
        _refuse_named_twice(options)
        return read

    def _importer(self) -> Importer:
        registry = self.place.registry
        if self.form not in registry.importers:
            raise unknown_name("form of foreign files", self.form, registry.importers)
        variants = (other for other in registry.variants if other.name == self.form)
        chosen = (other for other in variants if getattr(self.options, other.option))
        return next(chosen, registry.importers[self.form])


@dataclass(frozen=True)
class ImportAnswer(QuestionAnswer):
    """What the files became.

    Attributes:
        notices: ignored fields and assumptions, one sentence each.
        summary: what was read, and the totals that the files state.
        files: what is to be written, by path.
        judgments: those of the log, each with the design of its suite; none of a suite.
    """

    notices: tuple[str, ...]
    summary: tuple[str, ...]
    files: Mapping[Path, str]
    judgments: tuple[tuple[Judgment, Design], ...] = ()

    @property
    def suites(self) -> list[Path]:
        """The suite files among those that are to be written."""
        return [path for path in self.files if path.name.endswith(".suite.toml")]

    def lines(self) -> Iterator[str]:
        """The notices, what was read, and the files that were written."""
        yield from (f"notice: {notice}" for notice in self.notices)
        yield from self.summary
        yield from (f"written: {path}" for path in self.files)

    def to_dict(self) -> Mapping[str, Any]:
        """What was read, and the files that it makes."""
        return {
            "judges": sorted({judgment.judge for judgment, _ in self.judgments}),
            "suites": sorted({judgment.trial.suite for judgment, _ in self.judgments}),
            "judgments": len(self.judgments),
            "unparsed": _without_verdict(self.judgments),
            "notices": list(self.notices),
            "files": [str(path) for path in self.files],
        }


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
        if (option := vars(options).get(name)) is not None:
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


def _as_numbers(read: Imported, registry: Registry) -> tuple[Imported, list[str]]:
    """The judgments, with the designs of grades and scores where verdicts are such; and notices."""
    by_suite = grouped(read.judgments, lambda judged: judged[0].trial.suite)
    judgments: list[tuple[Judgment, Design]] = []
    notices = []
    for suite, of_suite in by_suite.items():
        design = of_suite[0][1]
        numbered = of_numbers([judgment for judgment, _ in of_suite], design, registry)
        if numbered is None:
            judgments += of_suite
            continue
        judgments += [(judgment, numbered[1]) for judgment in numbered[0]]
        if (ends := numbered[1].score) is not None:
            notices.append(
                f"suite {suite} has scores of {' to '.join(ends.ends)}: errors are shares of that "
                "range; equality is not asked"
            )
    return replace(read, judgments=tuple(judgments)), notices
