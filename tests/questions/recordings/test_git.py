"""Recordings in git: what changes, what it shows, and what two branches recorded, merged."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.errors import BrokenCassette
from tests.commands.within import measured
from tests.questions.recordings.git_project import CASSETTE, GitProject


def changed(diff: str) -> list[str]:
    """The lines of a diff that are added or removed."""
    lines = diff.splitlines()
    return [line for line in lines if line[:1] in ("+", "-") and line[:3] not in ("+++", "---")]


def trials_of(project: GitProject) -> list[str]:
    return [exchange.trial for exchange in read_exchanges(project.folder / CASSETTE)]


def test_of_sixty_items_the_edited_one_changes_and_git_shows_its_verdicts(tmp_path: Path) -> None:
    project = GitProject(tmp_path, range(1, 61))
    project.ask_about([*range(1, 31), 131, *range(32, 61)])  # the item i31 asks about 131 now
    in_bytes = changed(project.run("git", "diff", "--no-textconv", "--", str(CASSETTE)).stdout)
    # Two wordings, each with one line that goes and one that comes.
    assert len(in_bytes) == 4
    assert all('"trial": "parity/i31/' in line for line in in_bytes)
    shown = changed(project.run("git", "diff", "--", str(CASSETTE)).stdout)
    assert [line.split("  ")[:2] for line in shown] == [
        ["-i31", "t1"],
        ["-i31", "t2"],
        ["+i31", "t1"],
        ["+i31", "t2"],
    ]
    assert [line.endswith("the number 31 even?]") for line in shown[::2]] == [True, False]


def test_two_branches_with_different_items_are_merged(tmp_path: Path) -> None:
    project = GitProject(tmp_path, range(1, 13))
    project.run("git", "switch", "-qc", "theirs")
    project.ask_about([*range(1, 12), 112])
    project.commit()
    project.run("git", "switch", "-q", "main")
    project.ask_about([101, *range(2, 13)])
    project.commit()
    merge = project.run("git", "merge", "-q", "theirs", "-m", "both")
    assert merge.returncode == 0, merge.stdout + merge.stderr
    # As if one branch had recorded all: nothing is left to ask, and the numbers are the same.
    sheet = project.measured()
    whole = GitProject(tmp_path / "whole", [101, *range(2, 12), 112])
    assert sheet.estimates == whole.measured().estimates
    assert [*map(_undated, project.lines)] == [*map(_undated, whole.lines)]


def _undated(line: bytes) -> bytes:
    return line.partition(b'"recorded_at"')[0]


def test_what_both_branches_asked_anew_is_asked_again(tmp_path: Path) -> None:
    project = GitProject(tmp_path, range(1, 7))
    project.run("git", "switch", "-qc", "theirs")
    project.ask_about([1, 2, 203, 4, 5, 6])
    project.commit()
    project.run("git", "switch", "-q", "main")
    project.ask_about([1, 2, 103, 4, 5, 6])
    project.commit()
    merge = project.run("git", "merge", "theirs")
    # The items conflict as texts, and a person has to choose; the recording does not.
    assert "CONFLICT (content): Merge conflict in parity.jsonl" in merge.stdout
    assert f"conflict in {CASSETTE.as_posix()}" not in merge.stdout
    assert "asked anew on both sides, with different answers, and dropped" in merge.stderr
    assert "parity/i03/t1/ab/r1, parity/i03/t2/ab/r1" in merge.stderr
    project.write_items([1, 2, 103, 4, 5, 6])
    assert "parity/i03/t1/ab/r1" not in trials_of(project)
    assert len(trials_of(project)) == 10
    project.measured("record")
    whole = GitProject(tmp_path / "whole", [1, 2, 103, 4, 5, 6])
    assert project.measured().estimates == whole.measured().estimates
    assert trials_of(project) == trials_of(whole)


def test_what_one_branch_deleted_is_deleted(tmp_path: Path) -> None:
    project = GitProject(tmp_path, range(1, 7))
    project.run("git", "switch", "-qc", "theirs")
    path = project.folder / CASSETTE
    path.write_bytes(b"".join(b"%s\n" % line for line in project.lines if b"/i02/" not in line))
    project.commit()
    project.run("git", "switch", "-q", "main")
    project.ask_about([1, 2, 3, 4, 5, 6], wording="Tell if {{number}} is even.")
    project.commit()
    merge = project.run("git", "merge", "-q", "theirs", "-m", "both")
    assert merge.returncode == 0, merge.stdout
    # Of i02 one wording was asked anew, and the other was left as it was.
    assert "asked anew on the other, and still there: parity/i02/t1/ab/r1\n" in merge.stderr
    assert [trial for trial in trials_of(project) if "i02" in trial] == ["parity/i02/t1/ab/r1"]
    assert len(trials_of(project)) == 11


def test_a_conflict_names_the_two_commands_that_cure_it(tmp_path: Path) -> None:
    project = GitProject(tmp_path, range(1, 7), driven=False)
    project.run("git", "switch", "-qc", "theirs")
    project.ask_about([1, 2, 3, 104, 5, 6])
    project.commit()
    project.run("git", "switch", "-q", "main")
    project.ask_about([1, 2, 103, 4, 5, 6])
    project.commit()
    assert project.run("git", "merge", "theirs").returncode
    project.write_items([1, 2, 103, 104, 5, 6])
    with pytest.raises(BrokenCassette, match="git has left a conflict here") as raised:
        measured(project.folder, "embedded:clean", "parity.suite.toml")
    commands = [line.strip() for line in raised.value.remedy.splitlines()[:2]]
    assert [command.split()[:2] for command in commands] == [["git", "config"], ["git", "checkout"]]
    # The attributes may stand in a file of the clone alone.
    (project.folder / ".git/info/attributes").write_text("cassettes/** merge=judgesense\n")
    for command in commands:
        done = project.run("sh", "-c", command)
        assert done.returncode == 0, done.stderr
    assert len(project.measured().cells[0].judgments) == 12


def test_what_is_no_recording_is_a_conflict_and_nothing_is_changed(tmp_path: Path) -> None:
    project = GitProject(tmp_path, range(1, 7))
    project.run("git", "switch", "-qc", "theirs")
    (project.folder / CASSETTE).write_bytes(b"".join(b"%s\n" % x for x in project.lines) + b"{}\n")
    project.commit()
    project.run("git", "switch", "-q", "main")
    project.ask_about([1, 2, 103, 4, 5, 6])
    project.commit()
    before = project.lines
    merge = project.run("git", "merge", "theirs")
    assert f"CONFLICT (content): Merge conflict in {CASSETTE.as_posix()}" in merge.stdout
    assert f"{CASSETTE.as_posix()} (theirs):13: the line cannot be read" in merge.stderr
    assert project.lines == before
