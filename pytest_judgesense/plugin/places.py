"""The files that hold a judge's calls, the commands that fill them, and asking beside them."""

from __future__ import annotations

import os
import shlex
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.cassettes.journal import read_exchanges, replace_content, rewrite
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.tape import Tape
from pytest_judgesense.checks.verifying import Verification, compare, sampled
from pytest_judgesense.errors import LimitReached, OldRecording, unknown_name
from pytest_judgesense.judges.asking import Answer
from pytest_judgesense.judges.calls import judgment_of
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.prompts import judge_for_suite
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.session import AskedOn
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.traffic import Traffic
from pytest_judgesense.measurement import Measurement, ask_all, models_named
from pytest_judgesense.plugin.options import Settings
from pytest_judgesense.plugin.paths import split_name
from pytest_judgesense.suites.builtin import builtin_cassette, builtin_suites
from pytest_judgesense.suites.kind import Kind
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import recording_of
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial

__all__ = ["Places", "ask_again", "keep_recordings", "recorder_of", "suite_named"]


def suite_named(name: str, near: Path, root: Path, kinds: Mapping[str, Kind]) -> Suite:
    """The suite of a marker's ``suite=``: a path, a suite of the project, or a built-in one.

    Args:
        name: what the marker says, with a preset or without.
        near: the folder of the test.
        root: the project's root folder.
        kinds: the kinds of suites that there are, by name.

    Raises:
        UsageError: there is none; it lists the known names.
        SuiteError: its file is wrong.
    """
    base, preset = split_name(name)
    if base.endswith(".suite.toml"):
        for folder in (near, root):
            if (folder / base).is_file():
                return load_suite(folder / base, preset, kinds)
    own = root / "suites" / base / f"{base}.suite.toml"
    if own.is_file():
        return load_suite(own, preset, kinds)
    known = builtin_suites()
    if base not in known:
        raise unknown_name("suite", base, known)
    return load_suite(known[base], preset, kinds)


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
class Places:
    """Where the cassettes of a session are.

    Attributes:
        settings: the session's options.
        live_folder: where a live session keeps its calls while it runs.
        recorder: this process, for others that want to record the same.
        started: when the session began: UTC, ISO 8601.
        waiting: entered while others that record are waited for.
    """

    settings: Settings
    live_folder: Path | None
    recorder: Recorder
    started: str
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext

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
        with ExitStack() as held:
            with self.waiting():
                held.enter_context(recording_alone(path, self.recorder))
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

    def for_verifying(self) -> Places:
        """The places of trials that are asked again: shared in the session, kept nowhere."""
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


def ask_again(
    measurement: Measurement,
    cassettes: Mapping[str, Path],
    loop: AskingLoop,
    traffic: Traffic,
    *,
    count: int,
    concurrency: int,
    credentials: Credentials,
) -> Verification:
    """Ask some trials of a replayed measurement again, and compare.

    Args:
        measurement: what the recordings say.
        cassettes: files for what is asked now, not the recordings, by name of the recording.
        loop: where calls run.
        traffic: the judge's calls so far.
        count: the most trials to ask.
        concurrency: calls under way at once.
        credentials: what the session knows of secrets; it is added to.

    Raises:
        JudgeError: the judge cannot be asked.
        UsageError: a function of the judge is wrong.
    """
    judge, suite, seed = measurement.judge, measurement.suite, measurement.seed
    asked_as = judge_for_suite(judge, suite)
    trials = sampled(measurement.judgments, count, seed)
    secrets = credentials_of(judge, credentials)
    answers: dict[str, Answer] = {}
    by_tape = []
    for recording, path in cassettes.items():
        part = [trial for trial in trials if recording_of(trial.id) == recording]
        tape = Tape.open(path, "record", secrets=secrets)
        by_tape.append((tape, part))
        asked = loop.run(
            ask_all(asked_as, suite, part, tape, traffic, concurrency, _tell_nobody, AskedOn())
        )
        for trial, answer in zip(part, asked, strict=True):
            if not isinstance(answer, LimitReached):
                answers[trial.id] = answer
    answered = [trial for trial in trials if trial.id in answers]
    fresh = [judgment_of(suite, judge, trial, answers[trial.id]) for trial in answered]
    named = models_named(judge, answers.values(), by_tape).values()
    served = (measurement.served, tuple(sorted(set().union(*named))))
    return compare(measurement.judgments, trials, fresh, judge.slug, suite.name, seed, served)


def _tell_nobody(trial: Trial, answer: Answer) -> None:
    pass


def _moment(instant: str) -> datetime:
    return datetime.fromisoformat(instant)
