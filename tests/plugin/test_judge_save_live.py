"""``--judge-save-live`` and its ini twin: the only thing that live mode writes."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from pytest_judgesense.errors import CassetteError
from pytest_judgesense.plugin.live_saving import LiveSaving
from tests.cassettes.test_disk import mounted
from tests.shipped import exchange_lines

from .project import TRIALS, Project, measured, no_traceback, recorded, times_asked
from .test_interrupt import started, to_all
from .test_two_recorders import holding, mine

SAVE = ("parity.suite.toml", "--judge-mode", "live", "--judge-save-live", "cassettes")


def test_what_was_asked_live_is_kept_and_can_be_replayed(project: Project) -> None:
    project.pytester.makeini("[pytest]\njudge_save_live = kept\n")
    project.run("parity.suite.toml", "--judge-mode", "live").assert_outcomes(passed=1)
    kept = project.path / "kept" / "mine" / "parity.jsonl"
    assert len(kept.read_text(encoding="utf-8").splitlines()) == TRIALS
    assert not project.cassette.exists()

    project.server.forget()
    sheet = measured(project, cassettes="kept")
    assert [line.outcome for line in sheet.checks] == ["pass"]
    assert project.server.asked == []


def test_it_replaces_what_an_earlier_session_kept(project: Project) -> None:
    measured(project, mode="record", cassettes="kept")
    project.server.reply = lambda prompt: "YES"
    arguments = ("--judge-mode", "live", "--judge-save-live", "kept")
    project.run("parity.suite.toml", *arguments).assert_outcomes(failed=1)
    kept = (project.path / "kept" / "mine" / "parity.jsonl").read_text(encoding="utf-8")
    assert len(kept.splitlines()) == TRIALS
    assert '\\"content\\": \\"NO\\"' not in kept
    assert times_asked(project.server.prompts) == {2: TRIALS}


@pytest.mark.parametrize("mode", ["record", pytest.param("replay", marks=pytest.mark.long)])
def test_other_modes_keep_nothing_there(project: Project, mode: str) -> None:
    recorded(project)
    result = project.run("parity.suite.toml", "--judge-mode", mode, "--judge-save-live", "kept")
    result.assert_outcomes(passed=1)
    assert not (project.path / "kept").exists()


def test_two_workers_keep_every_trial_once(project: Project) -> None:
    text = project.suite.read_text()
    project.suite.write_text(text.replace("jss_floor = 0.8", "jss_floor = 0.8\nkappa_floor = 0.5"))
    arguments = ["-n", "2", "--judge-mode", "live", "--judge-save-live", "kept"]
    project.run("parity.suite.toml", *arguments).assert_outcomes(passed=2)
    kept = (project.path / "kept" / "mine" / "parity.jsonl").read_text(encoding="utf-8")
    assert len(kept.splitlines()) == TRIALS
    assert times_asked(project.server.prompts) == {1: TRIALS}


def test_nothing_is_asked_if_another_session_records_there(project: Project) -> None:
    recorded(project)
    before = files_below(project.path / "cassettes")
    with holding(project.cassette):
        result = project.run(*SAVE)
    result.assert_outcomes(failed=1)
    assert "is being recorded by another session" in result.stdout.str()
    assert "--judge-save-live" in result.stdout.str()
    assert project.server.asked == []
    assert files_below(project.path / "cassettes") == before
    no_traceback(result)


RELATIVE = Path("mine/parity.jsonl")


def test_a_place_where_another_session_records_first_is_refused_too(tmp_path: Path) -> None:
    saving = LiveSaving(tmp_path / "kept", tmp_path / "judgesense-live-notes")
    (tmp_path / "kept/mine").mkdir(parents=True)
    with (
        holding(tmp_path / "kept" / RELATIVE),
        pytest.raises(CassetteError, match="is being recorded by another session"),
        saving.asking(RELATIVE, "parity", mine()),
    ):
        pass
    assert files_below(tmp_path) == {}


def test_a_folder_in_the_place_of_a_recording_is_refused(tmp_path: Path) -> None:
    saving = LiveSaving(tmp_path / "kept", tmp_path / "judgesense-live-notes")
    (tmp_path / "kept" / RELATIVE).mkdir(parents=True)
    with (
        pytest.raises(CassetteError, match="cannot be recorded: nothing was asked") as caught,
        saving.asking(RELATIVE, "parity", mine()),
    ):
        pass
    assert caught.value.found == "a folder of this name"
    assert "--judge-save-live" in caught.value.remedy


# In record mode, which keeps where it replays, the same is refused by the cassette:
# tests/cassettes/test_disk.py.
@pytest.mark.parametrize(
    "existing",
    [
        pytest.param("nothing", marks=pytest.mark.long),
        pytest.param("folder", marks=pytest.mark.long),
        "recording",
    ],
)
def test_nothing_is_asked_if_the_place_is_read_only(project: Project, existing: str) -> None:
    with mounted(project.path / "kept", "size=64k") as kept:
        if existing != "nothing":
            (kept / "mine").mkdir()
        if existing == "recording":
            recorded(project, cassettes=str(kept))
        subprocess.run(["mount", "-o", "remount,ro", str(kept)], check=True)
        before = files_below(kept)
        result = project.run(*SAVE[:-1], "kept")
        result.assert_outcomes(failed=1)
        assert project.server.asked == []
        assert files_below(kept) == before
    assert "read-only" in result.stdout.str().lower()
    assert "--judge-save-live" in result.stdout.str()
    no_traceback(result)


def test_nothing_is_asked_if_a_file_is_in_the_place_of_a_folder(project: Project) -> None:
    (project.path / "kept").mkdir()
    (project.path / "kept" / "mine").write_text("no folder")
    result = project.run(*SAVE[:-1], "kept")
    result.assert_outcomes(failed=1)
    assert project.server.asked == []
    assert "--judge-save-live" in result.stdout.str()
    no_traceback(result)


@pytest.mark.long
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "n2"])
@pytest.mark.parametrize("is_recorded", [False, True], ids=["new", "recorded"])
def test_what_a_killed_session_has_paid_is_a_recording(
    project: Project, is_recorded: bool, workers: tuple[str, ...]
) -> None:
    folder = project.path / "cassettes"
    if is_recorded:
        recorded(project)
    before = files_below(folder)
    project.server.delay_s = 0.1
    with started(project, *SAVE, "--judge-concurrency", "2", *workers, asked=9) as process:
        to_all(process, signal.SIGKILL)
        process.wait()
    asked = len(project.server.asked)
    found = files_below(folder)
    assert before.items() <= found.items(), "what was recorded is as it was"
    (path,) = found.keys() - before.keys()
    kept = len(exchange_lines(folder / path))
    assert asked - 2 <= kept <= asked, "all but the two calls that were under way"
    if is_recorded:
        (folder / path).replace(project.cassette)
    # What it lacks is asked, and nothing else.
    project.server.delay_s = 0
    project.server.forget()
    project.run("parity.suite.toml", "--judge-mode", "record").assert_outcomes(passed=1)
    assert len(project.server.asked) == TRIALS - kept
    # The next live session asks all of it again.
    project.server.forget()
    project.run(*SAVE).assert_outcomes(passed=1)
    assert times_asked(project.server.prompts) == {1: TRIALS}
    project.server.forget()
    project.run("parity.suite.toml").assert_outcomes(passed=1)
    assert project.server.asked == []


def test_what_a_killed_session_left_is_neither_replayed_nor_lost(project: Project) -> None:
    recorded(project)
    project.server.delay_s = 0.1
    with started(project, *SAVE, "--judge-concurrency", "2", asked=9) as process:
        to_all(process, signal.SIGKILL)
        process.wait()
    found = files_below(project.path / "cassettes")
    (left,) = (name for name in found if name.parent.name.startswith("judgesense-live-"))
    project.server.delay_s = 0
    project.server.forget()
    result = project.run(*SAVE)
    result.assert_outcomes(passed=1)
    assert times_asked(project.server.prompts) == {1: TRIALS}
    assert files_below(project.path / "cassettes")[left] == found[left]
    assert f"{project.path / 'cassettes' / left} was left by a live session" in result.stdout.str()


@pytest.mark.parametrize(
    "workers",
    [pytest.param((), id="plain"), pytest.param(("-n", "2"), id="n2", marks=pytest.mark.long)],
)
def test_a_part_replaces_no_recording_and_is_kept(
    project: Project, workers: tuple[str, ...]
) -> None:
    recorded(project)
    before = project.cassette.read_bytes()
    project.server.reply = lambda prompt: "YES"
    result = project.run(*SAVE, "--judge-max-calls", "5", *workers)
    result.assert_outcomes(failed=1)
    assert project.cassette.read_bytes() == before
    (beside,) = project.cassette.parent.glob("*/parity.jsonl")
    assert len(exchange_lines(beside)) == 5
    shown = result.stdout.str()
    assert f"{project.cassette} is as it was" in shown
    assert str(beside) in shown
    # As it is said there.
    beside.replace(project.cassette)
    project.server.forget()
    sheet = measured(project, mode="record")
    assert [line.outcome for line in sheet.checks] == ["fail"]
    assert len(project.server.asked) == TRIALS - 5


@pytest.mark.long
def test_a_recording_that_two_suites_share_is_replaced_if_both_were_asked(
    project: Project,
) -> None:
    # A ladder's baseline is asked and recorded for the criterion as well.
    project.path.joinpath("parity.suite.toml").unlink()
    names = ("ladder", "criterion")
    arguments = [part for name in names for part in ("--judge-suite", name)]
    arguments += ["--judge-name", "embedded:clean", "--judge-mode", "live"]
    arguments += ["--judge-save-live", "kept"]
    folder = project.path / "kept" / "clean"
    assert project.run(*arguments, "--judge-seed", "1").ret in (0, 1)
    first = files_below(folder)
    assert {f"{name}.jsonl" for name in names} <= {path.name for path in first}
    assert project.run(*arguments).ret in (0, 1)
    assert files_below(folder).keys() == first.keys()
    # The two suites do not get their calls, and what was there of either stays.
    again = files_below(folder)
    assert project.run(*arguments, "--judge-max-calls", "30").ret == 1
    kept = files_below(folder)
    assert again.items() <= kept.items()
    assert kept.keys() - again.keys()


def test_an_interrupted_session_says_where_its_answers_are(project: Project) -> None:
    recorded(project)
    before = project.cassette.read_bytes()
    project.server.delay_s = 0.1
    with started(project, *SAVE, "--judge-concurrency", "2") as process:
        to_all(process, signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    (beside,) = project.cassette.parent.glob("*/parity.jsonl")
    assert str(beside) in output
    assert len(exchange_lines(beside)) == len(project.server.asked)
    assert project.cassette.read_bytes() == before


def files_below(folder: Path) -> dict[Path, bytes]:
    """The files in a folder and the folders in it, by relative path; without locks."""
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }
