"""The files that hold the calls of judges in a session, and the commands that fill them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.storage import read_exchanges, replace_content
from pytest_judgesense.cassettes.writing import RecordingCassette, holds
from pytest_judgesense.errors import JudgesenseError, MissingRecording, OldRecording
from pytest_judgesense.files.opening import read_bytes
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.plugin.live_saving import saving_of, unfinished_folder
from pytest_judgesense.plugin.settings import Settings, SharedState
from pytest_judgesense.suites.builtin import builtin_cassette, builtin_suites
from pytest_judgesense.suites.loading import load_suite, presets_of
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Kind, Suite

# Clocks of two machines may differ, and so may what they take for UTC.
_MOST_DAYS_AHEAD: Final = 1.0


def recorder_of(config: pytest.Config) -> Recorder:
    """This process; as a worker of xdist with the session and the command of its controller."""
    own = Recorder.here()
    worker = getattr(config, "workerinput", {})
    command = shlex.join(worker["mainargv"]) if "mainargv" in worker else own.command
    return Recorder(worker.get("testrunuid", own.session), own.pid, command)


@dataclass(frozen=True)
class Recordings:
    """Where the cassettes of a session are; ``recorder``: this process, as others are shown it.

    ``written`` are those that this process has recorded into.
    """

    settings: Settings
    shared: SharedState
    recorder: Recorder
    written: set[Path] = field(default_factory=set)

    def cassette(self, judge: JudgeSpec, file: str) -> Path:
        """The file that a judge's calls are replayed from, or recorded into."""
        relative = Path(judge.slug) / file
        if saving := saving_of(self.settings, self.shared):
            return saving.path(relative)
        if self.settings.mode == "live":
            assert self.shared.live_folder, "a live session has a folder for its calls"
            return Path(self.shared.live_folder, relative)
        path = self.settings.cassettes / relative
        if self.settings.mode == "replay" and not path.exists():
            return builtin_cassette(relative) or path
        return path

    @contextmanager
    def recording(self, judge: JudgeSpec, file: str, suite: str = "test") -> Iterator[Path]:
        """The cassette, locked against other processes unless it is only replayed.

        ``suite`` tells suites apart that share it.
        """
        if saving := saving_of(self.settings, self.shared):
            with saving.asking(Path(judge.slug) / file, suite, self.recorder) as path:
                self.written.add(path)
                yield path
            return
        path = self.cassette(judge, file)
        if self.settings.mode == "replay":
            yield path
            return
        self.written.add(path)
        with recording_alone(path, self.recorder):
            yield path

    @contextmanager
    def recordings(self, judge: JudgeSpec, suite: Suite) -> Iterator[dict[str, Path]]:
        """The cassettes of a suite by name of the recording, as `recording` gives each."""
        key = f"{suite.name}-{suite.digest}"
        with ExitStack() as stack:
            # In alphabetical order: two processes that want the same two never wait in a circle.
            yield {
                name: stack.enter_context(self.recording(judge, f"{name}.jsonl", key))
                for name in suite.recordings
            }

    def keep_unfinished(self, cassettes: Iterable[Path]) -> None:
        """Keep what a limit ended in a live session with a history, see `unfinished_folder`."""
        if (folder := unfinished_folder(self.settings, self.shared)) is None:
            return
        assert self.shared.live_folder, "a live session has a folder for its calls"
        for path in cassettes:
            if path.exists():
                kept = folder / path.relative_to(self.shared.live_folder)
                kept.parent.mkdir(parents=True, exist_ok=True)
                replace_content(kept, read_bytes(path))
                self.written.add(kept)

    def remove_shown(self, credentials: Credentials) -> None:
        """Remove credentials that requests have shown later from everything that was recorded."""
        for path in sorted(self.written):
            if not path.exists() or not holds(path, credentials.shown):
                continue
            with recording_alone(path, self.recorder):
                RecordingCassette(path, secrets=credentials).remove_shown()

    def refuse_old(
        self, dates: tuple[str, str] | None, cassette: Path | None, recorded: str, command: str
    ) -> None:
        """Raise `OldRecording` if an answer is older than ``--judge-max-age``, or of the future.

        Recordings of the present session are never too old. ``dates`` are those of the oldest and
        the newest answer, ``cassette`` holds the oldest. For the message ``recorded`` says what
        was, and ``command`` records it.
        """
        limit = self.settings.max_age
        if limit is None or dates is None or self.settings.mode == "live":
            return
        oldest, newest = dates
        if (ahead := -self._days_since(newest)) > _MOST_DAYS_AHEAD:
            raise OldRecording(
                f"the recording of {recorded} is dated {ahead:.1f} days in the future: "
                "nothing says how old it is",
                found=f"an answer of {newest}",
                expected=f"answers of the last {limit:g} days",
                remedy=f"if the clock of this machine is right, record it again: {command} "
                "--judge-mode live --judge-save-live DIR",
            )
        age = self._days_since(oldest)
        if age <= limit:
            return
        folder = os.path.relpath(self.settings.cassettes, self.settings.invocation)
        if folder.startswith(os.pardir):
            folder = str(self.settings.cassettes)
        raise OldRecording(
            f"the recording of {recorded} is {age:.1f} days old, "
            f"--judge-max-age {limit:g} is passed",
            found=f"an answer of {oldest} in {cassette}",
            expected=f"answers of the last {limit:g} days",
            remedy=f"record it again: {command} --judge-mode live --judge-save-live "
            f"{shlex.quote(folder)}",
        )

    def _days_since(self, moment: str) -> float:
        """The days from then to the beginning of the session; of the future they are negative."""
        instant = datetime.fromisoformat
        return (instant(self.shared.started) - instant(moment)) / timedelta(days=1)

    def how_to_record(self, judge: JudgeSpec, suite: Suite) -> str:
        return f"record it: {self.command(judge, suite)} --judge-mode record"

    def largest_recorded(
        self, judge: JudgeSpec, path: Path, kinds: Mapping[str, Kind]
    ) -> Suite | None:
        """The largest design in a suite's file of which all trials of ``judge`` are recorded.

        This is the file's design or one of its presets, if it has checks; None if there is none.
        """
        largest, most = None, -1
        for preset in (None, *presets_of(path, kinds)):
            suite = load_suite(path, preset, kinds)
            if not suite.checks:  # a paper's, which `judgesense paper` prints
                continue
            planned = {trial.id for trial in plan_trials(suite_for_judge(suite, judge))}
            paths = [self.cassette(judge, f"{name}.jsonl") for name in suite.recordings]
            recorded = {exchange.trial for path in paths for exchange in read_exchanges(path)}
            if planned <= recorded and len(planned) > most:
                largest, most = suite, len(planned)
        return largest

    def with_what_is_recorded(
        self, error: JudgesenseError, judge: JudgeSpec, suite: Suite, kinds: Mapping[str, Kind]
    ) -> JudgesenseError:
        """``error``; for missing trials of ``suite``, with the command for the recorded preset.

        The preset is named but not used: a run measures only what was requested.
        """
        missing = isinstance(error, MissingRecording)
        largest = self.largest_recorded(judge, suite.path, kinds) if missing else None
        if largest is None:
            return error
        other = f"or measure what is recorded whole: {self.command(judge, largest)}"
        remedy = f"{error.remedy}\n            {other}"
        return MissingRecording(
            error.what, found=error.found, expected=error.expected, remedy=remedy
        )

    def command(self, judge: JudgeSpec, suite: Suite) -> str:
        builtin = suite.path.resolve() == builtin_suites().get(suite.base, Path()).resolve()
        # A file of the user's is named by its path; with a preset the option chooses that as well.
        parts = ["pytest"] if builtin else ["pytest", shlex.quote(str(suite.path))]
        if builtin or "@" in suite.name:
            parts.append(f"--judge-suite {suite.name}")
        return " ".join([*parts, *self.options_of(judge)])

    def options_of(self, judge: JudgeSpec) -> list[str]:
        """The options that a command needs to find this judge and its recordings again."""
        options = [f"--judge-name {shlex.quote(judge.called or judge.name)}"]
        if self.settings.cassettes != self.settings.rootdir / "cassettes":
            options.append(f"--judge-cassettes {shlex.quote(str(self.settings.cassettes))}")
        return options
