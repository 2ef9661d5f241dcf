"""The cassettes, judgment logs or datasheets of several machines in one.

Joining recordings: shards of a CI run, or recordings of two machines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, TypeAlias

from pytest_judgesense.asking.carrying_over import (
    file_recorded_as,
    in_every_preset,
    in_recording_order,
)
from pytest_judgesense.asking.stopping_point import STOPPED
from pytest_judgesense.cassettes.exchange import LOOK_UP, Exchange, in_final_form
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.matching import digest_of
from pytest_judgesense.cassettes.storage import read_exchanges, rewrite
from pytest_judgesense.errors import CassetteError, LogError, SuiteError, UsageError, listed
from pytest_judgesense.files.limits import json_value, numbered_lines
from pytest_judgesense.files.opening import open_text, read_text
from pytest_judgesense.files.output import write_text
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.report.datasheet_file import datasheet_object
from pytest_judgesense.report.joining import joined_datasheets
from pytest_judgesense.report.log import log_line, read_log
from pytest_judgesense.suites.planning import recording_of, trial_order
from pytest_judgesense.trial import Design, Judgment, grouped

_Order: TypeAlias = Callable[[Iterable[str]], Sequence[str]]

# Characters of an answer in a message.
_LONGEST: Final = 160


def join(
    parts: Sequence[tuple[str, Iterable[Exchange]]],
    order: Callable[[Iterable[str]], Sequence[str]],
) -> list[Exchange]:
    """One recording from several: each trial once, in ``order``, independent of the order of parts.

    Two recordings of a trial agree if their answers are the same, or those of one are the first of
    the other, because a recording may have been interrupted. Errors of all recordings are kept.
    Look-ups are those of all parts, the earliest answer of each.
    Each of the ``parts`` has a name, for messages; ``order`` sorts ids of trials.

    Raises:
        CassetteError: a trial is recorded twice, and the recordings do not agree.
    """
    joined: dict[str, tuple[str, list[Exchange]]] = {}
    look_ups: list[Exchange] = []
    for name, exchanges in parts:
        by_call = sorted(exchanges, key=attrgetter("returns", "call"))
        by_trial = grouped(by_call, attrgetter("trial"))
        look_ups += by_trial.pop(LOOK_UP, [])
        for trial, of_trial in by_trial.items():
            first, earlier = joined.get(trial, (name, of_trial))
            joined[trial] = first, _agreed(earlier, of_trial, first, name)
    every = [*_earliest(look_ups), *chain.from_iterable(lines for _, lines in joined.values())]
    return list(in_final_form(every, order(joined)))


def _earliest(look_ups: Iterable[Exchange]) -> list[Exchange]:
    """Each look-up once, numbered, independent of their order."""
    by_request: dict[str, Exchange] = {}
    for exchange in sorted(look_ups, key=attrgetter("recorded_at", "response.body")):
        by_request.setdefault(digest_of(exchange.request), exchange)
    ordered = (by_request[digest] for digest in sorted(by_request))
    return [replace(exchange, call=call) for call, exchange in enumerate(ordered, start=1)]


def _agreed(
    earlier: list[Exchange], later: list[Exchange], first: str, second: str
) -> list[Exchange]:
    for a, b in zip(_answers(earlier), _answers(later), strict=False):
        if _content(a) != _content(b):
            raise CassetteError(
                f"trial {a.trial} is recorded twice, and not alike",
                found=f"{_shown(a, b)} in {first}, {_shown(b, a)} in {second}",
                expected="one recording of a trial, or several that agree",
                remedy="delete the lines of this trial from one of the two",
            )
    # Equal except for their dates: the earlier one, so that the order of the parts does not matter.
    fuller, rest = sorted(
        (earlier, later),
        key=lambda exchanges: (
            -len(_answers(exchanges)),
            -len(exchanges),
            [e.recorded_at for e in exchanges],
        ),
    )
    contents = {_content(exchange) for exchange in fuller if not exchange.answers}
    more = [e for e in rest if not (e.answers or e.returns or _content(e) in contents)]
    returned = [exchange for exchange in (*fuller, *rest) if exchange.returns][:1]
    # Errors come before the answer that was given in the end.
    calls = [*more, *(exchange for exchange in fuller if not exchange.returns)]
    numbered = (replace(exchange, call=call) for call, exchange in enumerate(calls, start=1))
    return [*numbered, *returned]


def _answers(exchanges: Iterable[Exchange]) -> list[Exchange]:
    return [exchange for exchange in exchanges if exchange.answers]


def _content(exchange: Exchange) -> tuple[str, int, str | bytes]:
    return digest_of(exchange.request), exchange.response.status, exchange.response.body


def _shown(exchange: Exchange, other: Exchange) -> str:
    """When it was recorded, and its answer, around the place where that of ``other`` differs."""
    text, against = _text(exchange), _text(other)
    if len(text) > _LONGEST:
        pairs = enumerate(zip(text, against, strict=False))
        alike = next(
            (place for place, (own, other_octet) in pairs if own != other_octet),
            min(len(text), len(against)),
        )
        begin = max(0, min(alike - _LONGEST // 4, len(text) - _LONGEST))
        end = begin + _LONGEST
        text = "... " * (begin > 0) + text[begin:end] + " ..." * (end < len(text))
    return f"{exchange.recorded_at}: {exchange.response.status} {text}"


def _text(exchange: Exchange) -> str:
    body = exchange.response.body
    return " ".join(body.split()) if isinstance(body, str) else f"{len(body)} bytes"


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
