"""The cassettes, judgment logs or datasheets of several machines in one.

Joining recordings: shards of a CI run, or recordings of two machines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from pytest_judgesense.asking.carrying_over import (
    file_recorded_as,
    in_every_preset,
    in_recording_order,
)
from pytest_judgesense.asking.stopping_point import STOPPED
from pytest_judgesense.cassettes.exchange import Exchange
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.merging import join
from pytest_judgesense.cassettes.storage import read_exchanges, rewrite
from pytest_judgesense.errors import LogError, SuiteError, UsageError, listed
from pytest_judgesense.files.limits import json_value, numbered_lines
from pytest_judgesense.files.opening import open_text, read_text
from pytest_judgesense.files.output import write_text
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.report.datasheet_file import datasheet_object
from pytest_judgesense.report.joining import joined_datasheets
from pytest_judgesense.report.log import log_line, read_log
from pytest_judgesense.suites.planning import recording_of, trial_order
from pytest_judgesense.trial import Design, Judgment

_Order: TypeAlias = Callable[[Iterable[str]], Sequence[str]]


@dataclass(frozen=True)
class JoinQuestion:
    """Files of one kind, or folders: files with the same relative path are joined.

    Attributes:
        sources: cassettes, judgment logs or datasheets; or folders of them.
        target: what they become, a file or a folder.
        place: the project of this folder: its suites say in which order trials are planned.
    """

    sources: tuple[Path, ...]
    target: Path
    place: Place = field(default_factory=Place)

    def answer(self) -> JoinAnswer:
        """Join them. All are read before the first is written, and only sources are overwritten.

        Raises:
            UsageError: files of several kinds, files that are not there, or a target that exists.
            LogError: two files contradict each other, or one cannot be read.
            CassetteError: another session records what would be written.
        """
        groups = self._groups()
        _refuse_overwriting(groups)
        with ExitStack() as stack:
            for goal, paths in groups.items():
                # From before it is read until it is written: what a recording adds would be lost.
                if _kind(paths[0]) == "cassette":
                    stack.enter_context(recording_alone(goal, Recorder.here()))
            # A contradiction leaves everything as it was.
            contents = {
                goal: _joined(paths, partial(_planned_order, self.place, goal.parent.name))
                for goal, paths in groups.items()
            }
            for goal, content in contents.items():
                if isinstance(content, str):
                    write_text(goal, content)
                else:
                    rewrite(goal, content)
        return JoinAnswer({goal: len(paths) for goal, paths in groups.items()})

    def _groups(self) -> dict[Path, list[Path]]:
        """What is joined, by what it becomes, in the order of names."""
        if missing := [str(path) for path in self.sources if not path.exists()]:
            raise UsageError(
                f"{listed(missing)}: there is no such file or folder",
                expected="files of one kind, or folders",
                remedy="name those that exist; a shard without clusters records none",
            )
        files = [path for path in self.sources if not path.is_dir()]
        if len(files) == len(self.sources):
            return {self.target: files}
        if files:
            raise UsageError(
                "a file and a folder cannot be joined",
                found=f"the file {files[0]}",
                expected="files of one kind, or folders",
                remedy="name the folder that the file is in, or files alone",
            )
        groups: dict[Path, list[Path]] = defaultdict(list)
        for folder in self.sources:
            for path in sorted((*folder.rglob("*.json"), *folder.rglob("*.jsonl"))):
                groups[self.target / path.relative_to(folder)].append(path)
        if not groups:
            raise UsageError(
                f"{listed(self.sources)}: nothing that could be joined",
                expected="cassettes or judgment logs (.jsonl), or datasheets (.json)",
                remedy="name the folders that were recorded into, as --judge-cassettes did",
            )
        return dict(sorted(groups.items()))


@dataclass(frozen=True)
class JoinAnswer(QuestionAnswer):
    """What was written.

    Attributes:
        sizes: by file, of how many it was joined.
    """

    sizes: Mapping[Path, int]

    def lines(self) -> Iterator[str]:
        """A line for each file."""
        for goal, size in self.sizes.items():
            yield f"{size} file{'s' * (size > 1)} joined: {goal}"

    def to_dict(self) -> Mapping[str, Any]:
        """How many files each was joined of, by its path."""
        return {"joined": {str(goal): size for goal, size in self.sizes.items()}}


def _refuse_overwriting(groups: Mapping[Path, Sequence[Path]]) -> None:
    """Raise a `UsageError` for a target that exists and is no source."""
    sources = {path.resolve() for paths in groups.values() for path in paths}
    for goal in groups:
        if goal.exists() and goal.resolve() not in sources:
            raise UsageError(
                f"{goal} exists",
                expected="a new file",
                remedy="name another, or name it among the files to be joined as well",
            )


def _planned_order(place: Place, judge: str, trials: Iterable[str]) -> Sequence[str]:
    """The trials of a cassette as the project plans them; in reading order if it has no suite.

    ``judge`` is the folder of the cassette, which is named after its judge.
    """
    ordered = trial_order(trials)
    recording = recording_of(ordered[0]) if ordered else ""
    file = file_recorded_as(recording, place.plans.root)
    if file is None:
        return ordered
    judges = (declared for declared in place.declared.values() if declared.slug == judge)
    with suppress(SuiteError):
        suites = in_every_preset(file, place.registry.forms, next(judges, None))
        return in_recording_order(recording, ordered, suites)
    return ordered


def _joined(paths: Sequence[Path], order: _Order) -> str | list[Exchange]:
    """The text of the joined file, or the exchanges of the joined cassette."""
    kinds = {path: _kind(path) for path in paths}
    if len(set(kinds.values())) > 1:
        raise UsageError(
            "files of different kinds cannot be joined",
            found=listed(f"{path}: a {kind}" for path, kind in kinds.items()),
            expected="cassettes, judgment logs or datasheets",
        )
    match kinds[paths[0]]:
        case "datasheet":
            return joined_datasheets([(str(path), datasheet_object(path)) for path in paths])
        case "log":
            return _joined_logs(paths)
        case "stopping point":
            return _same(paths)
        case _:
            return join([(str(path), read_exchanges(path)) for path in paths], order)


def _same(paths: Sequence[Path]) -> str:
    """The text of files that have to be equal: where a suite was stopped."""
    texts = {path: read_text(path) for path in paths}
    if len({*texts.values()}) > 1:
        raise UsageError(
            f"{paths[0].name} says in two ways where the suite was stopped",
            found=listed(paths),
            expected="the same file in all, or in one of them alone",
            remedy="complete the recordings by --judge-mode record, without --judge-early-stop",
        )
    return texts[paths[0]]


def _kind(path: Path) -> str:
    """The kind of a file, by its suffix and the keys of its first line."""
    if path.name.endswith(STOPPED):
        return "stopping point"
    if path.suffix == ".json":
        return "datasheet"
    expected = "a cassette or a judgment log (.jsonl), or a datasheet (.json)"
    wrong = LogError.instead_of(
        (OSError, ValueError), f"{path} cannot be joined", expected=expected
    )
    with wrong, open_text(path) as file:
        lines = (line for _, line in numbered_lines(file, path, LogError))
        first = json_value(next(filter(str.strip, lines), "{}"))
    return "log" if isinstance(first, dict) and "judge" in first else "cassette"


def _joined_logs(paths: Iterable[Path]) -> str:
    """One log of several; judges and suites in alphabetical order.

    A judgment of two logs is the same in all but its latency and the time of its recording, which
    differ from run to run.
    """
    by_suite: dict[tuple[str, str], dict[str, tuple[Path, Judgment, Design]]] = defaultdict(dict)
    for path in paths:
        for judgment, design in read_log(path):
            trial = judgment.trial.id
            if design is None:
                raise LogError(
                    f"{path}: trial {trial} cannot be joined",
                    found="a line without a design",
                    expected="a log that pytest-judgesense has written",
                    remedy="give all logs to judgesense report, which joins them as they are",
                )
            of_suite = by_suite[judgment.judge, judgment.trial.suite]
            where, first, its = of_suite.setdefault(trial, (path, judgment, design))
            alike = replace(first, latency_s=judgment.latency_s, recorded_at=judgment.recorded_at)
            if (alike, its) != (judgment, design):
                raise LogError(
                    f"trial {trial} of judge {judgment.judge} appears twice",
                    found=f"{first.outcome} in {where}, {judgment.outcome} in {path}; "
                    "or their replies, labels or designs differ",
                    expected="the same judgment in both, or in one of them alone",
                    remedy="delete it from one of the two",
                )
            if first.latency_s is None and judgment.latency_s is not None:
                of_suite[trial] = (path, judgment, design)
    lines = (
        log_line(judgment, its)
        for key in sorted(by_suite)
        for _, judgment, its in by_suite[key].values()
    )
    return "".join(f"{line}\n" for line in lines)
