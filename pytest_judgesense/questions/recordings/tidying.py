"""Recordings without what nobody asks any more, and under other names of judges and suites.

What a suite asks is what it plans in any preset, as `carrying_over` counts it. Where nobody knows
what is asked, a recording is left alone, and it is said why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytest_judgesense.asking.carrying_over import in_every_preset
from pytest_judgesense.asking.stopping_point import STOPPED
from pytest_judgesense.cassettes.exchange import CARRIED, LOOK_UP, Exchange
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.storage import read_exchanges, rewrite
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.pytest_ini import usual_recordings
from pytest_judgesense.judges.resolving import declared_judges
from pytest_judgesense.judges.spec import JudgeSpec, slug_of
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.suites.below import suite_files_below
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.planning import LABELS, item_of, plan_trials, recording_aside
from pytest_judgesense.trial import grouped

_TESTS: Final = "tests"  # the folder of what tests ask with the fixture `judge`
_MOST_ITEMS: Final = 5


# --- what nobody asks any more --------------------------------------------------------------------


class PrunedRecording(NamedTuple):
    """What no suite asks of a recording.

    Attributes:
        path: the file; it goes where nothing is left of it.
        trials: how many are recorded.
        unasked: those that no suite asks.
    """

    path: Path
    trials: int
    unasked: tuple[str, ...]

    @property
    def line(self) -> str:
        """How much that is, and of which items."""
        items = [*dict.fromkeys(item_of(trial).partition("/")[2] for trial in self.unasked)]
        rest = len(items) - _MOST_ITEMS
        named = listed(items[:_MOST_ITEMS]) + (f" and {rest} more" if rest > 0 else "")
        return f"{self.path}: {len(self.unasked)} of {self.trials} trials, of {named}"


@dataclass(frozen=True)
class PruneQuestion:
    """Which recorded trials no suite of the project asks, in any preset.

    Attributes:
        paths: recordings, or folders of them; none for those of the place.
        judges: names of judges beside those that are declared, or that suites name; of one that is
            declared in Python no prompts are known.
        drops: whether they are dropped.
        place: the project of this folder.
    """

    paths: tuple[Path, ...] = ()
    judges: tuple[str, ...] = ()
    drops: bool = False
    place: Place = field(default_factory=Place)

    def answer(self) -> PruneAnswer:
        """What no suite asks; it is dropped if the question says so.

        Raises:
            SuiteError: a suite file of the project cannot be read: nobody knows what it asks.
            UsageError: a path is not there.
            CassetteError: a recording cannot be read or written, or another session records it.
        """
        pruned, left_alone = [], {}
        for path in self._recordings():
            why = self._why_left_alone(path)
            if why is not None:
                left_alone[path] = why
            elif (recording := self._pruned(path)).unasked:
                pruned.append(recording)
        return PruneAnswer(tuple(pruned), left_alone, self.drops)

    def _recordings(self) -> Iterator[Path]:
        for path in self.paths or (self.place.cassettes,):
            if path.is_dir():
                yield from sorted(path.rglob("*.jsonl"))
            elif path.is_file():
                yield path
            else:
                raise UsageError(
                    f"{path}: there is no such file or folder",
                    expected="a recording (.jsonl), or a folder of recordings",
                )

    def _why_left_alone(self, path: Path) -> str | None:
        if path.parent.name == _TESTS:
            return "tests ask it"
        if path.parent.name not in self._judges:
            return f"no judge {path.parent.name!r} is declared here (--judge-name NAME)"
        if any(path.stem.endswith(f"-{base}") for base in self._bases):
            return "a question about a suite"
        return None

    def _pruned(self, path: Path) -> PrunedRecording:
        """What no suite asks of one recording, dropped if that is wanted."""
        planned = self._asked_of(path.parent.name)

        def unasked_in(exchanges: Sequence[Exchange]) -> PrunedRecording:
            trials = dict.fromkeys(exchange.trial for exchange in exchanges)
            trials.pop(LOOK_UP, None)
            return PrunedRecording(path, len(trials), tuple(t for t in trials if t not in planned))

        recording = unasked_in(read_exchanges(path))
        if not (self.drops and recording.unasked):
            return recording
        with recording_alone(path, Recorder.here()):
            exchanges = read_exchanges(path)
            recording = unasked_in(exchanges)
            if len(recording.unasked) == recording.trials:
                path.unlink()
            else:
                unasked = {*recording.unasked}
                rewrite(path, [e for e in exchanges if e.trial not in unasked])
        return recording

    @cached_property
    def _suite_files(self) -> list[Path]:
        """The suites of the project; and the built-in ones, which share recordings, if one is."""
        built_in = builtin_suites()
        is_recorded = any(path.stem in built_in for path in self._recordings())
        built_in_files = built_in.values() if is_recorded else ()
        return [*suite_files_below(self.place.plans.root), *built_in_files]

    @cached_property
    def _bases(self) -> set[str]:
        kinds = self.place.registry.forms
        return {s.base for path in self._suite_files for s in in_every_preset(path, kinds)}

    @cached_property
    def _judges(self) -> dict[str, JudgeSpec | None]:
        """The judges that are known here, by the names of their folders."""
        registry, judges = self.place.registry, [*self.place.declared.values()]
        names: list[str] = []
        for path in suite_files_below(self.place.plans.root):
            judges += declared_judges(path.parent, registry.providers).values()
            names += next(in_every_preset(path, registry.forms)).judges
        for name in dict.fromkeys((*names, *self.judges)):
            with suppress(UsageError):
                judges += self.place.judges([name])
        of_python = dict.fromkeys(map(slug_of, self.judges))
        # A jury asks nothing: what stands under its name is of a judge that is not known.
        return of_python | {judge.slug: judge for judge in judges if judge.jury is None}

    def _asked_of(self, slug: str) -> set[str]:
        """The trials that suites ask a judge."""
        if slug not in self._asked:
            judge, kinds = self._judges[slug], self.place.registry.forms
            self._asked[slug] = {
                trial.id
                for path in self._suite_files
                for suite in in_every_preset(path, kinds, judge)
                for trial in plan_trials(suite)
            }
        return self._asked[slug]

    @cached_property
    def _asked(self) -> dict[str, set[str]]:
        return {}


@dataclass(frozen=True)
class PruneAnswer(QuestionAnswer):
    """What no suite asks.

    Attributes:
        recordings: those that hold such trials.
        left_alone: by recording, why nobody knows what is asked of it.
        dropped: whether these trials are dropped.
    """

    recordings: tuple[PrunedRecording, ...]
    left_alone: Mapping[Path, str]
    dropped: bool

    def lines(self) -> Iterator[str]:
        """A line for each recording, and what to do."""
        yield from (recording.line for recording in self.recordings)
        for why, paths in grouped(self.left_alone, self.left_alone.__getitem__).items():
            yield f"left alone, {why}: {listed(paths)}"
        trials = sum(len(recording.unasked) for recording in self.recordings)
        if not trials:
            yield "every recorded trial is asked by a suite"
        elif self.dropped:
            yield f"{trials} trials that no suite asks are dropped"
        else:
            yield f"{trials} trials are asked by no suite; --yes drops them"

    def to_dict(self) -> Mapping[str, Any]:
        """The trials by recording."""
        return {
            "unasked": {str(path): list(unasked) for path, _, unasked in self.recordings},
            "left_alone": {str(path): why for path, why in self.left_alone.items()},
            "dropped": self.dropped,
        }


# --- other names ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class MoveQuestion:
    """Recordings of a judge, or of a suite, under another name.

    Attributes:
        old: the name that they have, of a judge or of a suite.
        new: the name that they get.
        cassettes: the folder of the recordings.
    """

    old: str
    new: str
    cassettes: Path = field(default_factory=usual_recordings)

    def answer(self) -> MoveAnswer:
        """Move them: files, and the ids of trials in them.

        Raises:
            UsageError: nothing is recorded under the old name, or a judge and a suite have it; or
                something is under the new one.
            CassetteError: a recording cannot be read or written, or another session records it.
        """
        folder = self.cassettes / slug_of(self.old)
        is_judge, of_suite = folder.is_dir(), [*self._files_of_suite()]
        if is_judge == bool(of_suite):
            raise UsageError(
                f"{self.old!r} is the name of "
                + ("a judge and of a suite" if of_suite else "no recorded judge and of no suite"),
                found=listed([folder, *of_suite]) if of_suite else f"nothing in {self.cassettes}",
                expected=f"a folder of {self.cassettes}, or recordings OLD.jsonl in one",
                remedy="move the files of one of them by hand first"
                if of_suite
                else "name another, or their folder: --judge-cassettes DIR",
            )
        if of_suite and slug_of(self.new) != self.new:
            raise UsageError(
                f"{self.new!r} is no name of a suite",
                expected="letters, digits and . _ - alone: it is the name of a file",
            )
        moves = self._moves_of(folder) if is_judge else dict(self._moves_of_suite(of_suite))
        if taken := [new for new in moves.values() if new.exists()]:
            raise UsageError(
                f"something is recorded under {self.new!r} already",
                found=listed(taken),
                expected="a name that no recording has",
                remedy="judgesense recordings join joins recordings, prune drops what is not asked",
            )
        rename = _unchanged if is_judge else _renaming(self.old, self.new)
        self._move(moves, rename)
        return MoveAnswer(moves, is_judge)

    def _files_of_suite(self) -> Iterator[Path]:
        """What is recorded of the suite, with where it was stopped."""
        for name in (self.old, recording_aside(LABELS, self.old)):
            yield from sorted(self.cassettes.glob(f"*/{name}.jsonl"))
        for path in sorted(self.cassettes.glob(f"*/*{STOPPED}")):
            if path.name.removesuffix(STOPPED).partition("@")[0] == self.old:
                yield path

    def _moves_of(self, folder: Path) -> dict[Path, Path]:
        target = self.cassettes / slug_of(self.new)
        files = (path for path in sorted(folder.rglob("*")) if path.is_file())
        return {path: target / path.relative_to(folder) for path in files}

    def _moves_of_suite(self, files: Iterable[Path]) -> Iterator[tuple[Path, Path]]:
        aside = recording_aside(LABELS, self.old)
        for path in files:
            old, new = self.old, self.new
            if path.stem == aside:
                old, new = aside, recording_aside(LABELS, self.new)
            yield path, path.with_name(f"{new}{path.name.removeprefix(old)}")

    def _move(self, moves: Mapping[Path, Path], rename: Callable[[str], str]) -> None:
        """Move the files; all are read before the first one is written."""
        with ExitStack() as stack:
            tapes = {old: new for old, new in moves.items() if old.suffix == ".jsonl"}
            for path in sorted((*tapes, *tapes.values())):
                stack.enter_context(recording_alone(path, Recorder.here()))
            contents = {old: [_renamed(e, rename) for e in read_exchanges(old)] for old in tapes}
            for old, new in moves.items():
                new.parent.mkdir(parents=True, exist_ok=True)
                if rename is _unchanged or old not in contents:
                    old.replace(new)
                else:
                    rewrite(new, contents[old])
                    old.unlink()
        for folder in sorted({path.parent for path in moves}, reverse=True):
            if not any(folder.iterdir()):
                folder.rmdir()


def _unchanged(trial: str) -> str:
    return trial


def _renaming(old: str, new: str) -> Callable[[str], str]:
    """From the id of a trial under the old name to that under the new one."""
    names = {old: new, recording_aside(LABELS, old): recording_aside(LABELS, new)}

    def rename(trial: str) -> str:
        recording, slash, rest = trial.partition("/")
        return f"{names.get(recording, recording)}{slash}{rest}"

    return rename


def _renamed(exchange: Exchange, rename: Callable[[str], str]) -> Exchange:
    """An exchange under the new name, with the trial that it was carried over from."""
    headers = dict(exchange.response.headers)
    if CARRIED in headers:
        headers[CARRIED] = rename(headers[CARRIED])
    response = replace(exchange.response, headers=headers)
    return replace(exchange, trial=rename(exchange.trial), response=response)


@dataclass(frozen=True)
class MoveAnswer(QuestionAnswer):
    """What was moved.

    Attributes:
        moves: from the old file to the new one.
        is_judge: whether the name is that of a judge, and not of a suite.
    """

    moves: Mapping[Path, Path]
    is_judge: bool

    def lines(self) -> Iterator[str]:
        """A line for each file, and what is left to do."""
        yield from (f"{old} -> {new}" for old, new in self.moves.items())
        where = "pyproject.toml" if self.is_judge else "the suite's file"
        yield f"the name in {where} is yours to change; then all is replayed under the new one"

    def to_dict(self) -> Mapping[str, Any]:
        """The files."""
        return {"moved": {str(old): str(new) for old, new in self.moves.items()}}
