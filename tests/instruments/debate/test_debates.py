"""Debates as JudgeBench writes them become a suite, are measured, exported and read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import measure
from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import LogError
from pytest_judgesense.instruments.debate.judgebench import read_judgebench
from pytest_judgesense.judges.calls import judgment_of
from pytest_judgesense.judges.judge_table import judge_from_table
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.trial import Design, Judgment
from tests.suites.known import load_suite

# The keys of a debate in the paper (section 5.1), in its order.
KEYS = (
    *("id", "resolution", "pro_model", "con_model", "temperature", "prompt_style", "status"),
    *("speeches", "pair_id", "model_assignment", "created_at"),
)
CREATED = 1760000000.25


@pytest.fixture
def papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The built-in debates as the paper stores them: a file each, pairs by the other's id."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "data" / "debates"
    folder.mkdir(parents=True)
    source = builtin_suites()["debate"].parent / "debates.jsonl"
    for line in source.read_text(encoding="utf-8").splitlines():
        debate = json.loads(line)
        topic, _, which = debate["id"].rpartition("-")
        other = {"original": "flipped", "flipped": "original"}[which]
        debate |= {"status": "complete", "pair_id": f"{topic}-{other}", "created_at": CREATED}
        write(folder / f"{debate['id']}.json", {key: debate[key] for key in KEYS})
    return tmp_path / "data"


def write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def texts(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.json*")}


def answered(suite_file: Path) -> tuple[Cell, ...]:
    """Judgments on the suite by a judge that replies the same to all; recorded second by second."""
    suite = load_suite(suite_file)
    judge = judge_from_table("fixed", {"provider": "openai", "model": "fixed"}, Path())
    sides = {name: {"PRO": 6, "CON": 5} for name in ("argument_quality", "evidence", "clash")}
    said = {"scores": sides | {"weighing": {"PRO": 5, "CON": 5}}, "winner": "PRO"}
    reply = Reply(json.dumps({**said, "confidence": 0.5, "short_reason": "clash"}))
    judgments: list[Judgment] = []
    for number, trial in enumerate(plan_trials(suite)):
        at = f"2026-01-31T12:{number // 60:02}:{number % 60:02}Z"
        judgments.append(judgment_of(suite, judge, trial, Answer(reply), at))
    labels = tuple(suite.space.labels)
    design = Design("debate", labels, pairs="all", weights=suite.weights)
    return (Cell("fixed", suite.name, design, tuple(judgments)),)


def logged(cells: tuple[Cell, ...]) -> None:
    lines = (line for cell in cells for line in log_lines(cell.judgments, cell.design))
    Path("log.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def exported_and_read_back() -> Mapping[str, bytes]:
    """The export of the log; read back, as debates and as results, it gives the same bytes."""
    suite = ["--judge-suite", "mine/mine.suite.toml"]
    assert main(["report", "log.jsonl", "--export", "judgebench=out", *suite]) == 0
    debates = ["--format", "debates"]
    assert main(["import", "out", *debates, "-o", "again/mine.suite.toml"]) == 0
    again = [Path("again", file.name) for file in sorted(Path("mine").iterdir())]
    assert len(again) == 2
    assert [file.read_bytes() for file in again] == [
        Path("mine", file.name).read_bytes() for file in again
    ]
    assert main(["import", "out", "-o", "log.jsonl"]) == 0
    assert main(["report", "log.jsonl", "--export", "judgebench=twice", *suite]) == 0
    assert texts(Path("twice")) == texts(Path("out"))
    return texts(Path("out"))


def test_debates_of_the_paper_are_imported_measured_exported_and_read_back(
    papers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Writing a file for good takes 12 ms: six debates here, all fifty in the long test.
    topics = ("gun-control", "gambling-ban", "private-jets")
    ids = [f"{topic}-{which}" for topic in topics for which in ("original", "flipped")]
    write(papers / "debate_ids.json", ids)
    assert main(["import", "data", "-o", "mine"]) == 0
    assert "1 suite or preset, 0 errors" in capsys.readouterr().out
    built_in, own = load_suite(builtin_suites()["debate"]), load_suite(Path("mine/mine.suite.toml"))
    for name in ("templates", "replicates", "temperature", "max_tokens", "weights"):
        assert getattr(own, name) == getattr(built_in, name)
    assert [one.name for one in own.checks] == [one.name for one in built_in.checks]
    assert own.judges == ()
    cells = answered(Path("mine/mine.suite.toml"))
    assert len(cells[0].judgments) == 6 * 3 * 3
    logged(cells)
    files = exported_and_read_back()
    assert "without speeches" not in capsys.readouterr().out
    # The results, the debates, the list of these and the settings.
    assert len(files) == 54 + 6 + 2
    trial = cells[0].judgments[51].trial
    name = f"results/fixed_{trial.template}/{trial.item}_run{trial.replicate - 1}.json"
    # 1769860800 s after 1970 it was 2026-01-31T12:00:00Z; this one came 51 s later.
    assert json.loads(files[name])["timestamp"] == 1769860800 + 51
    debate = json.loads(files["debates/gun-control-original.json"])
    assert tuple(debate) == KEYS
    assert (debate["status"], len(debate["speeches"]), debate["created_at"]) == (
        *("complete", 6),
        CREATED,
    )
    assert json.loads(files["debate_ids.json"]) == ids
    assert json.loads(files["config.json"])["complete"] is True


@pytest.mark.long
@pytest.mark.usefixtures("papers")
def test_fifty_debates_are_recorded_and_say_when_not_when_they_were_written() -> None:
    assert main(["import", "data", "-o", "mine"]) == 0
    path = "mine/mine.suite.toml"
    measure("embedded:clean", path, mode="record", cassettes="tapes")
    sheet = measure("embedded:clean", path, cassettes="tapes")
    lines = Path("tapes/clean/mine.jsonl").read_text(encoding="utf-8").splitlines()
    moments = {one["trial"]: one["recorded_at"] for one in map(json.loads, lines) if "trial" in one}
    assert {j.trial.id: j.recorded_at for j in sheet.cells[0].judgments} == moments
    logged(sheet.cells)
    assert len(exported_and_read_back()) == 50 * 3 * 3 + 50 + 2


def test_what_is_not_complete_is_left_out_and_listed_debates_count(
    papers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = papers / "debates" / "gun-control-original.json"
    debate = json.loads(path.read_text(encoding="utf-8"))
    write(path, {**debate, "status": "generating"})
    ids = ["gun-control-original", "gambling-ban-flipped", "gambling-ban-original"]
    write(papers / "debate_ids.json", {"debate_ids": ids})
    assert main(["import", str(papers), "-o", "few.suite.toml"]) == 0
    shown = capsys.readouterr().out
    assert "1 debates are not complete and are left out, the first is" in shown
    lines = Path("few.debates.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == ids[1:]
    # A file of one debate, in the words of other writers, and one that is no debate.
    for speech in debate["speeches"]:
        speech["side"] = speech["side"].lower()
    write(path, debate)
    assert main(["import", str(path), "-o", "one.suite.toml"]) == 0
    write(path, {**debate, "speeches": debate["speeches"][1:]})
    assert main(["import", str(path), "-o", "one.suite.toml"]) == 3
    assert "a debate has six speeches" in capsys.readouterr().err
    write(path, {**debate, "status": "failed"})
    assert main(["import", str(path), "-o", "one.suite.toml"]) == 3
    assert "there are no complete debates" in capsys.readouterr().err
    write(papers / "debate_ids.json", ["gun-control-orignal"])
    assert main(["import", str(papers), "-o", "few.suite.toml"]) == 2
    assert "did you mean 'gun-control-original'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("timestamp", "moment"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (86400.5, "1970-01-02T00:00:00.500000Z"),
        ("1970-01-01T01:00:00+01:00", "1970-01-01T00:00:00Z"),
        (None, None),
    ],
)
def test_the_time_of_a_result_is_kept(tmp_path: Path, timestamp: Any, moment: str | None) -> None:
    file = tmp_path / "results" / "c" / "d_run1.json"
    file.parent.mkdir(parents=True)
    names = {"debate_id": "d", "judge_model": "j", "judge_prompt": "p", "run_number": 1}
    write(file, {**names, "winner": None, "timestamp": timestamp})
    assert [judgment.recorded_at for judgment in read_judgebench(tmp_path)] == [moment]
    write(file, {**names, "winner": None, "timestamp": "noon"})
    with pytest.raises(LogError, match="timestamp is malformed"):
        list(read_judgebench(tmp_path))
