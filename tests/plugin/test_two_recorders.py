"""Two processes and one cassette: another session is refused, a worker of this one waits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.storage import rewrite
from pytest_judgesense.errors import CassetteError
from pytest_judgesense.questions.recordings.joining import JoinQuestion

from .project import (
    QUIET,
    TRIALS,
    WORDINGS,
    Project,
    even,
    measured,
    no_traceback,
    parity_suite,
    recorded,
    times_asked,
)

RECORD = ("parity.suite.toml", "--judge-mode", "record", "--judge-concurrency", "2")


@contextmanager
def recording(project: Project) -> Iterator[subprocess.Popen[str]]:
    """A session that is recording; slow, so that it still does when the next one comes."""
    project.server.delay_s = 0.5
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *QUIET, *RECORD],
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        until = time.monotonic() + 60
        while not project.server.asked:
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < until
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_second_session_is_refused_and_told_who_records(project: Project) -> None:
    wordings = [f"Say: {wording}" for wording in WORDINGS]
    parity_suite(project.path, name="other", wordings=wordings)
    goes_on = threading.Event()

    def reply(prompt: str) -> str:
        if not prompt.startswith("Say"):
            goes_on.wait(60)
        return even(prompt)

    project.server.reply = reply
    with recording(project) as first:
        result = project.run(*RECORD)
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            [
                f"*{project.cassette} is being recorded by another session",
                f"*found: *process {first.pid} (*pytest*parity.suite.toml --judge-mode record*",
                "*remedy: *wait until it has ended*",
            ]
        )
        no_traceback(result)
        # Sessions that record different suites do not meet.
        project.server.delay_s = 0
        project.run("other.suite.toml", *RECORD[1:]).assert_outcomes(passed=1)
        assert first.poll() is None
        goes_on.set()
        output, _ = first.communicate(timeout=60)
    # The second one disturbed nothing: the first has asked each trial once and is whole.
    assert first.returncode == 0, output
    assert times_asked(project.server.prompts) == {1: 2 * TRIALS}
    assert len(project.lines()) == TRIALS
    assert {file.name for file in project.cassette.parent.iterdir()} == {
        "other.jsonl",
        "parity.jsonl",
    }
    # And the second one, started again, finds everything.
    project.server.forget()
    measured(project, mode="record")
    assert project.server.asked == []


def test_a_session_that_replays_is_not_refused(project: Project) -> None:
    recorded(project)
    with holding(project.cassette):
        project.run("parity.suite.toml").assert_outcomes(passed=1)


@pytest.mark.parametrize("mode", ["record", pytest.param("live", marks=pytest.mark.long)])
def test_workers_of_one_session_wait_for_each_other(project: Project, mode: str) -> None:
    text = project.suite.read_text()
    checks = "jss_floor = 0.8\nflip_rate_bound = 0.2\nkappa_floor = 0.5\nagreement_floor = 0.5"
    project.suite.write_text(text.replace("jss_floor = 0.8", checks))
    # 18 trials one by one take 18 x 0.1 = 1.8 s, longer than a foreign holder is waited for.
    project.server.delay_s = 0.1
    arguments = ["--judge-mode", mode, "--judge-concurrency", "1", "-n", "2", "--dist", "load"]
    project.run("parity.suite.toml", *arguments).assert_outcomes(passed=4)
    assert times_asked(project.server.prompts) == {1: TRIALS}


# The lock itself, between real processes.

HOLD = """
import os, sys
from pathlib import Path
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
recorder = Recorder(sys.argv[2], os.getpid(), "pytest of the other")
with recording_alone(Path(sys.argv[1]), recorder):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holding(path: Path, session: str = "theirs") -> Iterator[subprocess.Popen[str]]:
    """A process that holds ``path`` until its standard input is closed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), session],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()


def mine(session: str = "ours") -> Recorder:
    return Recorder(session, os.getpid(), "pytest of mine")


def test_the_holder_is_named_within_moments(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    with holding(path) as other:
        started = time.monotonic()
        with pytest.raises(CassetteError) as caught, recording_alone(path, mine()):
            pass
        assert time.monotonic() - started < 5
    assert caught.value.found == f"process {other.pid} (pytest of the other)"


def test_a_worker_of_the_same_session_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    with holding(path, "ours") as other:
        assert other.stdin
        # Longer than anybody else is waited for.
        timer = threading.Timer(1.5, other.stdin.close)
        started = time.monotonic()
        timer.start()
        with recording_alone(path, mine()):
            assert time.monotonic() - started >= 1.5
        timer.join()


def test_a_link_to_a_cassette_is_the_same_cassette(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with (
        holding(tmp_path / "c.jsonl"),
        pytest.raises(CassetteError),
        recording_alone(tmp_path / "link" / "c.jsonl", mine()),
    ):
        pass


def test_a_holder_that_was_killed_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    with holding(path) as other:
        other.kill()
        other.wait()
        with recording_alone(path, mine()):
            pass


def test_what_a_killed_holder_wrote_is_not_taken_for_the_next_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "c.jsonl"
    with holding(path) as killed:
        killed.kill()
        killed.wait()
    told = tmp_path / ".c.jsonl.holder"
    stale = told.read_text()
    assert json.loads(stale)["pid"] == killed.pid
    with holding(path, "ours") as other:
        # As if this worker had the lock and had not yet come to say so.
        told.write_text(stale)
        assert other.stdin
        timer = threading.Timer(1.5, other.stdin.close)
        timer.start()
        with recording_alone(path, mine()):
            pass
        timer.join()


def test_a_lock_that_cannot_be_made_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with (
        pytest.raises(CassetteError, match="cannot be locked") as caught,
        recording_alone(tmp_path / "file" / "c.jsonl", mine()),
    ):
        pass
    assert "--judge-cassettes" in caught.value.remedy


def test_two_temporary_directories_are_one_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.jsonl"
    with holding(path):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "another"))
        monkeypatch.setenv("TMPDIR", str(tmp_path / "another"))
        with pytest.raises(CassetteError, match="another session"), recording_alone(path, mine()):
            pass


def test_a_link_to_a_cassette_has_the_lock_of_the_cassette(tmp_path: Path) -> None:
    link, path = tmp_path / "link.jsonl", tmp_path / "c.jsonl"
    link.symlink_to(path)
    with (
        holding(path),
        pytest.raises(CassetteError, match="another session"),
        recording_alone(link, mine()),
    ):
        pass


@pytest.mark.parametrize("name", ["lock", "holder"])
def test_what_lies_under_the_name_of_a_lock_is_not_followed(tmp_path: Path, name: str) -> None:
    kept = tmp_path / "kept"
    kept.write_text("mine")
    (tmp_path / f".c.jsonl.{name}").symlink_to(kept)
    with suppress(CassetteError), recording_alone(tmp_path / "c.jsonl", mine()):
        pass
    assert kept.read_text() == "mine"


def test_nothing_is_joined_into_a_cassette_that_is_being_recorded(tmp_path: Path) -> None:
    path, other = tmp_path / "c.jsonl", tmp_path / "other.jsonl"
    rewrite(path, [])
    rewrite(other, [])
    with holding(path), pytest.raises(CassetteError, match="another session"):
        JoinQuestion((path, other), path).answer()
