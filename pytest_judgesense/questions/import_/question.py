"""What foreign files hold: judgments, which become a log, or items, which become a suite."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import LogError, UsageError, listed, unknown_name
from pytest_judgesense.files.foreign_results import Imported, ImportedSuite, short_named
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.questions.import_.option_words import noting, refuse_unused
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.registry import Importer, Registry
from pytest_judgesense.report.log import log_line
from pytest_judgesense.trial import LONGEST_NAME, TEMPERATURE, Design, Judgment, grouped

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
        judgments = tuple((short_named(judgment), design) for judgment, design in swept.judgments)
        notices = (*read.notices, *sweeps, *_cut_names(swept, judgments))
        text = "".join(f"{log_line(*line)}\n" for line in judgments)
        summary = (_summary(judgments), *map(str, read.totals))
        return ImportAnswer(notices, summary, {self.output: text}, judgments)

    def _read(self) -> Imported | ImportedSuite:
        """What the importer of the form reads, by all options that were given."""
        importer, options = self._importer(), self.options
        if not options.path.exists():
            raise UsageError(
                f"there is nothing to import at {options.path}",
                found="no such file or folder",
                expected=f"what `judgesense import {self.form}` reads",
            )
        _refuse_several_columns(options)
        _refuse_named_twice(options, _OF_ALL_ROWS)
        noted, read_names = noting(options)
        read = importer.read(noted)
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
        if judgment.trial.suite in swept:
            sweep = replace(design, kind=kind.name, others=True, pairs=())
            design = designs.setdefault(read_design, sweep)
        judgments.append((judgment, design))
    notices = [
        f"suite {suite} is a sweep of temperatures: {', '.join(f'{step:g}' for step in steps)}"
        for suite, steps in swept.items()
    ]
    return replace(read, judgments=tuple(judgments)), notices
