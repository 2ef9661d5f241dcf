"""``judgesense report --history``: what live sessions tell, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.datasheets.live_sessions import LiveSession, append_session, session_text
from tests.live import live, nights


def written(path: Path, sessions: list[LiveSession]) -> str:
    path.write_text("".join(f"{session_text(session)}\n" for session in sessions))
    return str(path)


@pytest.fixture
def worse(tmp_path: Path) -> str:
    return written(tmp_path / "h.jsonl", nights(14, 6, served="m-2"))


@pytest.mark.parametrize("way", ["vary", "alike"])
def test_an_alarm_is_exit_code_1_and_says_since_when_and_what_changed(
    worse: str, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "--history", worse, "--sessions", way]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "mine on parity: 20 sessions, 2026-01-01 to 2026-01-20"
    assert lines[1].startswith("  agreement  0.985 -> 0.405  wealth ")
    assert lines[1].endswith(" ALARM")
    text = " ".join(" ".join(lines).split())
    assert "worse since session 15 (2026-01-15): 0.98 before, 0.41 since; alarm in session" in text
    assert "changed then: session 15 (2026-01-15): served as m-1 -> m-2" in text
    assert "1 alarm in 1 course;" in text
    process = {"vary": "Student's process", "alike": "stratified process"}[way]
    assert process in text


def test_an_unchanged_judge_is_exit_code_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "--history", written(tmp_path / "h.jsonl", nights(30, 0))]) == 0
    text = capsys.readouterr().out
    assert "no alarm" in text
    assert "0 alarms" in text


def test_the_first_sessions_and_days_that_differ_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = written(tmp_path / "few.jsonl", nights(3, 0))
    assert main(["report", "--history", few]) == 0
    assert "no bet yet" in capsys.readouterr().out
    swinging = [live(n, [5 - 2 * (n % 2)] * 20) for n in range(12)]
    main(
        [
            "report",
            "--history",
            written(tmp_path / "swinging.jsonl", swinging),
            "--sessions",
            "alike",
        ]
    )
    assert 'contradicts "alike"' in " ".join(capsys.readouterr().out.split())


def test_one_measure_of_one_judge_on_one_suite(
    tmp_path: Path, worse: str, capsys: pytest.CaptureFixture[str]
) -> None:
    other = live(40, [1] * 20, measure="jss")
    append_session(Path(worse), other)
    both = ["report", "--history", worse, "--judge-name", "mine", "--judge-suite", "parity"]
    assert main([*both, "--measure", "jss"]) == 0
    text = capsys.readouterr().out
    assert "jss" in text
    assert "agreement" not in text
    assert main([*both, "--measure", "kappa"]) == 2
    assert "there is no measure in" in capsys.readouterr().err
    # Each of them is there, but not together.
    append_session(Path(worse), live(41, [1] * 20, judge="yours"))
    assert main(["report", "--history", worse, "--judge-name", "yours", "--measure", "jss"]) == 2
    text = capsys.readouterr().err
    assert "has all that is named" in text
    assert "together, such as mine parity agreement" in text


def test_wrong_files_are_told_from_wrong_commands(
    tmp_path: Path, worse: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "--history", str(tmp_path / "none.jsonl")]) == 2
    assert "there is no file" in capsys.readouterr().err
    assert main(["report", "--history", written(tmp_path / "empty.jsonl", [])]) == 3
    assert "holds no session" in capsys.readouterr().err
    with Path(worse).open("a") as file:
        file.write("{}\n")
    assert main(["report", "--history", worse]) == 3
    assert "h.jsonl:21 is no live session" in capsys.readouterr().err


def test_a_session_that_may_miss_more_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sessions = nights(14, 0)
    sessions += [live(n, [2] * 20, missing=0.08) for n in range(14, 20)]
    file = written(tmp_path / "h.jsonl", sessions)
    assert main(["report", "--history", file]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "not said" in text
    assert "8% of the replies of the last session are missing" in text
    assert main(["report", "--history", file, "--judge-max-missing", "0.1"]) == 1


def test_a_session_that_was_cut_off_is_told_and_not_counted(
    worse: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(worse)
    file.write_bytes(file.read_bytes() + b'{"schema": "judge')
    assert main(["report", "--history", worse]) == 1
    text = " ".join(capsys.readouterr().out.split())
    # Twenty sessions, as without it.
    assert f"{worse}:21: the last line was cut off in mid-write (17 bytes), and is not" in text
    assert "mine on parity: 20 sessions" in text


def test_what_it_tells_is_written_as_json(
    tmp_path: Path, worse: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "x.json"
    assert main(["report", "--history", worse, "-o", str(out)]) == 1
    assert f"history written: {out}" in capsys.readouterr().out
    (course,) = json.loads(out.read_text(encoding="utf-8"))["courses"]
    assert (course["judge"], course["suite"], course["since"]) == ("mine", "parity", 15)
    assert main(["report", "--history", worse, "-o", "x.html"]) == 2
    assert "a file that ends in .json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["h.jsonl", "--history"], "a history is reported on by itself"),
        (["--panel", "--history"], "a history is reported on by itself"),
        (["--alpha", "0.2", "--history"], "--alpha says nothing of --history"),
    ],
)
def test_a_history_is_reported_on_by_itself(
    arguments: list[str], words: str, worse: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", *arguments, worse]) == 2
    assert words in capsys.readouterr().err


def test_without_a_file_both_forms_are_proposed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report"]) == 2
    told = capsys.readouterr().err
    assert "no file is named" in told
    assert "--history FILE" in told
    assert main(["report", "log.jsonl", "--measure", "jss"]) == 2
    assert "--measure says nothing of a datasheet" in capsys.readouterr().err
    assert main(["report", "log.jsonl", "--judge-suite", "parity"]) == 2
    assert "--judge-suite with --export or --panel or --history" in capsys.readouterr().err
