"""``--judge-cassettes`` and its ini twin: where recordings are looked up and written."""

from __future__ import annotations

import hashlib
import shutil

import pytest

from tests.shipped import CASSETTES, exchange_lines

from .project import TRIALS, Project, run


@pytest.fixture
def project(recorded_once: Project) -> Project:
    return recorded_once


def test_recordings_are_written_to_and_replayed_from_the_folder(project: Project) -> None:
    arguments = ["--judge-cassettes", "kept/tapes"]
    project.record(*arguments)
    tape = project.path / "kept" / "tapes" / "mine" / "parity.jsonl"
    assert len(tape.read_text().splitlines()) == TRIALS
    assert not project.cassette.exists()
    project.run("parity.suite.toml", *arguments).assert_outcomes(passed=1)
    assert project.server.asked == []


def test_the_default_is_the_folder_cassettes_of_rootdir(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = project.path / "deep"
    inside.mkdir()
    monkeypatch.chdir(inside)
    result = project.run("../parity.suite.toml", "--judge-mode", "record", "--rootdir", "..")
    result.assert_outcomes(passed=1)
    assert project.cassette.exists()


def test_an_own_recording_goes_before_the_shipped_one(pytester: pytest.Pytester) -> None:
    arguments = ["--judge-suite", "coherence", "--judge-name", "embedded:clean"]
    own = pytester.path / "cassettes" / "clean" / "coherence.jsonl"
    own.parent.mkdir(parents=True)
    own.write_text("")
    result = run(pytester, *arguments, "-v")
    # What it lacks is computed, for the judge is in the process, and a notice counts it.
    result.assert_outcomes(passed=2)
    assert "200 of 200" in " ".join(result.stdout.str().split())
    own.unlink()
    shipped = " ".join(run(pytester, *arguments, "-v").stdout.str().split())
    assert "200 of 200" not in shipped


def test_recording_never_writes_to_the_installation(pytester: pytest.Pytester) -> None:
    shipped = CASSETTES / "noisy" / "vacuum.jsonl"
    before = hashlib.sha256(shipped.read_bytes()).hexdigest()
    modified = shipped.stat().st_mtime_ns
    arguments = ["--judge-suite", "vacuum", "--judge-name", "embedded:noisy"]
    result = run(pytester, *arguments, "--judge-mode", "record")
    assert result.ret in (0, 1)
    own = pytester.path / "cassettes" / "noisy" / "vacuum.jsonl"
    assert len(exchange_lines(own)) == 120  # 60 pairs in both orders
    assert hashlib.sha256(shipped.read_bytes()).hexdigest() == before
    assert shipped.stat().st_mtime_ns == modified


def test_the_command_of_a_missing_recording_names_the_folder(project: Project) -> None:
    result = project.run("parity.suite.toml", "--judge-cassettes", "elsewhere")
    result.assert_outcomes(failed=1)
    assert f"--judge-cassettes {project.path / 'elsewhere'}" in result.stdout.str()


def test_a_moved_folder_of_recordings_still_serves(project: Project) -> None:
    project.record()
    shutil.move(project.path / "cassettes", project.path / "archive")
    result = project.run("parity.suite.toml", "--judge-cassettes", "archive")
    result.assert_outcomes(passed=1)
    assert project.server.asked == []
