"""The files that hold the calls of judges in a session, and the commands that fill them."""

from __future__ import annotations

import os
import shlex
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.storage import read_exchanges, replace_content, rewrite
from pytest_judgesense.errors import OldRecording
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.plugin.settings import Settings
from pytest_judgesense.suites.builtin import builtin_cassette, builtin_suites
from pytest_judgesense.suites.suite import Suite


def recorder_of(config: pytest.Config) -> Recorder:
    """This process, for others that want to record what it records."""
    # What xdist tells its workers; without it the process is a session of its own.
    told = getattr(config, "workerinput", {})
    command = told.get("mainargv", sys.argv)
    return Recorder(told.get("testrunuid", uuid.uuid4().hex), os.getpid(), shlex.join(command))


def keep_recordings(live_folder: Path, kept: Path) -> None:
    """Keep in ``kept`` what a live session has recorded, also where a worker died recording it.

    Raises:
        CassetteError: it cannot be written there.
    """
    for path in sorted(live_folder.rglob("*.jsonl")):
        # Of a killed process the last line may be half a line.
        whole = path.read_bytes().rpartition(b"\n")
        data = b"".join(whole[:2])
        if data:
            if whole[2]:
                replace_content(path, data)
            # Read and written anew, for its lines may refer to the parts beside it.
            rewrite(kept / path.relative_to(live_folder), read_exchanges(path))


@dataclass(frozen=True)
class Recordings:
    """Where the cassettes of a session are.

    Attributes:
        settings: the session's options.
        live_folder: where a live session keeps its calls while it runs.
        recorder: this process, for others that want to record the same.
        started: when the session began: UTC, ISO 8601.
    """

    settings: Settings
    live_folder: Path | None
    recorder: Recorder
    started: str

    def cassette(self, judge: JudgeSpec, file: str) -> Path:
        """The file that a judge's calls are replayed from, or recorded into."""
        relative = Path(judge.slug) / file
        if self.settings.mode == "live":
            assert self.live_folder is not None, "a live session has a folder for its calls"
            return self.live_folder / relative
        own = self.settings.cassettes / relative
        if self.settings.mode == "replay" and not own.exists():
            return builtin_cassette(relative) or own
        return own

    @contextmanager
    def recording(self, judge: JudgeSpec, file: str) -> Iterator[Path]:
        """The cassette, held against other processes unless it is only replayed.

        Raises:
            CassetteError: another session records it.
        """
        path = self.cassette(judge, file)
        if self.settings.mode == "replay":
            yield path
            return
        with recording_alone(path, self.recorder):
            try:
                yield path
            finally:  # what was asked before an error was paid for as well
                if self.settings.mode == "live" and self.settings.save_live and path.exists():
                    rewrite(self.settings.save_live / judge.slug / file, read_exchanges(path))

    @contextmanager
    def recordings(self, judge: JudgeSpec, suite: Suite) -> Iterator[dict[str, Path]]:
        """The cassettes of a suite by name of the recording, held like one; see `recording`."""
        names = {
            suite.recorded_as(item, template)
            for item in suite.items
            for template in suite.templates
        }
        with ExitStack() as stack:
            # In alphabetical order: two processes that want the same two never wait in a circle.
            yield {
                name: stack.enter_context(self.recording(judge, f"{name}.jsonl"))
                for name in sorted(names)
            }

    def for_verifying(self) -> Recordings:
        """Those of trials that are asked again: shared in the session, deleted at its end."""
        return replace(self, settings=self.settings._replace(mode="live", save_live=None))

    def refuse_old(
        self, recorded_at: str | None, cassette: Path | None, what: str, command: str
    ) -> None:
        """Refuse a recording that is older than ``--judge-max-age``.

        What was recorded since the session began is never too old, whatever the limit.

        Args:
            recorded_at: its oldest answer; ``None`` if it has none.
            cassette: the file that holds that one.
            what: what was recorded, for the message.
            command: the command that records it, without its mode.

        Raises:
            OldRecording: it is older.
        """
        limit = self.settings.max_age
        if limit is None or recorded_at is None or self.settings.mode == "live":
            return
        age = (_moment(self.started) - _moment(recorded_at)) / timedelta(days=1)
        if age <= limit:
            return
        keep = os.path.relpath(self.settings.cassettes, self.settings.invocation)
        if keep.startswith(os.pardir):
            keep = str(self.settings.cassettes)
        raise OldRecording(
            f"the recording of {what} is {age:.1f} days old, --judge-max-age {limit:g} is passed",
            found=f"an answer of {recorded_at} in {cassette}",
            expected=f"answers of the last {limit:g} days",
            remedy=f"record it anew: {command} --judge-mode live --judge-save-live "
            f"{shlex.quote(keep)}",
        )

    def how_to_record(self, judge: JudgeSpec, suite: Suite) -> str:
        """The command that records what is missing."""
        return f"record it: {self.command(judge, suite)} --judge-mode record"

    def command(self, judge: JudgeSpec, suite: Suite) -> str:
        """The command that measures a judge on a suite."""
        own = suite.path.resolve() != builtin_suites().get(suite.base, Path()).resolve()
        what = shlex.quote(str(suite.path)) if own else ""
        # A file of the user's is named by its path; with a preset the option chooses that as well.
        named = "" if own and "@" not in suite.name else f"--judge-suite {suite.name}"
        parts = ["pytest", what, named, *self.options_of(judge)]
        return " ".join(part for part in parts if part)

    def options_of(self, judge: JudgeSpec) -> list[str]:
        """The options that a command needs to find this judge and its recordings again."""
        options = [f"--judge-name {shlex.quote(judge.called or judge.name)}"]
        if self.settings.cassettes != self.settings.rootdir / "cassettes":
            options.append(f"--judge-cassettes {shlex.quote(str(self.settings.cassettes))}")
        return options


def _moment(instant: str) -> datetime:
    return datetime.fromisoformat(instant)
