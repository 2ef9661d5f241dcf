"""Judgments written as JudgeBench's files are the same judgments when they are read back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import LogError
from pytest_judgesense.instruments.debate.judgebench import DESIGN, exported, read_judgebench
from pytest_judgesense.instruments.debate.ranking import material_of
from pytest_judgesense.instruments.debate.replies import SIDES, parse_debate
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.trial import (
    Design,
    Failed,
    Judgment,
    JudgmentOutcome,
    Trial,
    Unparsed,
    Usage,
)

SCORES = {
    name: {"PRO": 7.5, "CON": 6} for name in ("argument_quality", "evidence", "clash", "weighing")
}
REPLY = {"scores": SCORES, "winner": "PRO", "confidence": 0.75, "short_reason": "clash"}


def judged(
    debate: str,
    run: int,
    *,
    topic: str = "tips",
    prompt: str = "p0",
    reply: str | None = json.dumps(REPLY),
    failed: str | None = None,
) -> Judgment:
    outcome, detail = parse_debate(reply or "")
    said: JudgmentOutcome = Failed(failed) if failed else outcome
    sides = ("one", "two")[:: 1 if debate.endswith("original") else -1]
    trial = Trial(
        id=f"house/{debate}/{prompt}/ab/r{run}",
        suite="house",
        item=debate,
        cluster=topic,
        template=prompt,
        replicate=run,
        condition={"category": "economy", "pro_model": sides[0], "con_model": sides[1]},
    )
    return Judgment(trial, "gpt: big/one", said, reply=reply, detail=detail, usage=Usage(9, 9))


JUDGMENTS = (
    judged("tips-original", 1),
    # Text around the object, and a winner that contradicts the scores, are flags.
    judged("tips-original", 2, reply="So: " + json.dumps({**REPLY, "winner": "CON"})),
    judged("tips-flipped", 1, reply='{"winner": "PRO", "scores": {'),
    judged("tips-flipped", 2, reply=None, failed="timeout: 60 s"),
    judged("tips-original", 1, prompt="p1"),
    judged("alone", 1, topic="alone", reply="I cannot say."),
    judged("Zürich/1", 1, topic="Zürich"),
)
ITEMS = {one.trial.item for one in JUDGMENTS}
CELL = Cell("gpt: big/one", "house", DESIGN, JUDGMENTS)
# Such as of a suite that asks for the stance of a text.
PLAIN = tuple(replace(one, detail=None) for one in JUDGMENTS)


def read_back(judgment: Judgment) -> Judgment:
    """As it comes from the form: its suite is called otherwise, tokens are not in it."""
    trial = judgment.trial
    own = f"judgebench/{trial.item}/{trial.template}/ab/r{trial.replicate}"
    return replace(judgment, trial=replace(trial, id=own, suite="judgebench"), usage=Usage())


def test_what_is_written_reads_back_as_the_same_judgments(tmp_path: Path) -> None:
    files, notices = exported([CELL])
    assert notices[0].startswith("4 of 4 debates are written without speeches")
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    found = {one.trial.id: one for one in read_judgebench(tmp_path)}
    assert found == {one.trial.id: one for one in map(read_back, JUDGMENTS)}
    # What came back is written as the same files once more.
    again = Cell(CELL.judge, "judgebench", DESIGN, tuple(found.values()))
    assert exported([again]).files == files


def test_there_is_one_file_a_run_in_the_form_of_judgebench() -> None:
    files, _ = exported([CELL])
    results = {name: json.loads(text) for name, text in files.items() if name.startswith("results")}
    assert len(results) == len(JUDGMENTS)
    folders = {name.split("/")[1].rpartition("-")[0] for name in results}
    assert folders == {"gpt-big-one_p0", "gpt-big-one_p1"}
    (value,) = [
        of
        for name, of in results.items()
        if "one_p0" in name and name.endswith("/tips-original_run0.json")
    ]
    assert value["debate_id"] == "tips-original"
    assert value["judge_model"] == "gpt: big/one"
    # The first of the runs: JudgeBench counts from 0.
    assert (value["judge_prompt"], value["run_number"]) == ("p0", 0)
    assert (value["winner"], value["confidence"], value["scores"]) == ("PRO", 0.75, SCORES)
    assert json.loads(files["debates/tips-flipped.json"]) == {
        "id": "tips-flipped",
        "pair_id": "tips",
        "category": "economy",
        "pro_model": "two",
        "con_model": "one",
    }
    assert json.loads(files["debate_ids.json"]) == sorted(ITEMS)
    # Seven of 2 configurations x 4 debates x 2 runs: what is not there was not planned.
    assert json.loads(files["config.json"]) == {
        "judge_models": ["gpt: big/one"],
        "judge_prompts": ["p0", "p1"],
        "debates": 4,
        "runs": 2,
        "complete": False,
    }
    # A name that no file can have is made one, and told apart by a digest.
    assert sum("Z-rich-1-" in name for name in files) == 2


def numbered(first: int) -> dict[str, str]:
    """A folder of JudgeBench: three runs of two configurations on a debate, the last one missing.

    The runs count from ``first``; planned are three of either configuration.
    """
    value = {"debate_id": "d", "judge_model": "j", "winner": "CON", "scores": SCORES}
    files = {
        f"results/j_{prompt}/d_run{first + run}.json": json.dumps(
            {**value, "judge_prompt": prompt, "run_number": first + run, "confidence": 0.5}
        )
        for prompt in ("p0", "p1")
        for run in range(3)
    }
    files["debate_ids.json"], files["config.json"] = '["d"]', '{"runs": 3}'
    del files[f"results/j_p1/d_run{first + 2}.json"]
    return files


@pytest.mark.parametrize("first", [0, 1])
def test_runs_are_written_with_the_numbers_that_they_were_imported_with(
    tmp_path: Path, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in numbered(first).items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert main(["import", "in", "-o", "log.jsonl"]) == 0
    assert main(["report", "log.jsonl", "--export", "judgebench=out"]) == 0
    assert main(["import", "out", "-o", "again.jsonl"]) == 0
    assert Path("again.jsonl").read_bytes() == Path("log.jsonl").read_bytes()
    written = {path: json.loads(path.read_text("utf-8")) for path in Path("out").rglob("*_run*")}
    keys = [(run["judge_prompt"], run["run_number"], run["winner"]) for run in written.values()]
    runs = range(first, first + 3)
    # The run without a file was planned: it is written as one without a winner.
    assert sorted(keys, key=lambda key: key[:2]) == [
        *(("p0", run, "CON") for run in runs),
        *(("p1", run, None if run == runs[-1] else "CON") for run in runs),
    ]
    assert all(path.stem.endswith(f"run{run['run_number']}") for path, run in written.items())


def test_what_the_form_cannot_hold_is_refused() -> None:
    other = Cell("j", "s", Design(kind="paraphrase", labels=("YES", "NO")), JUDGMENTS)
    with pytest.raises(LogError, match="no debates to write"):
        exported([other])
    stances = replace(other, design=replace(other.design, labels=SIDES), judgments=PLAIN)
    with pytest.raises(LogError, match="no debates to write"):
        exported([stances])
    assert exported([CELL, stances]) == exported([CELL])
    assert (material_of(stances), material_of(CELL) is None) == (None, False)
    twice = tuple(replace(one, trial=replace(one.trial, suite="next")) for one in JUDGMENTS)
    with pytest.raises(LogError, match="cannot hold two judgments"):
        exported([CELL, replace(CELL, suite="next", judgments=twice)])
    bare = replace(JUDGMENTS[0], detail=None)
    with pytest.raises(LogError, match="is not a judgment in JudgeBench's format"):
        exported([replace(CELL, judgments=(bare,))])
    taken = (judged("tips", 1), judged("tips-flipped", 1))
    with pytest.raises(LogError, match="debate tips-flipped cannot be written"):
        exported([replace(CELL, judgments=taken)])


def test_the_command_writes_the_files_and_reads_them_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.jsonl").write_text(
        "".join(f"{line}\n" for line in log_lines(JUDGMENTS, DESIGN)), encoding="utf-8"
    )
    assert main(["report", "log.jsonl", "--export", "judgebench=out"]) == 0
    assert "13 files written: out" in capsys.readouterr().out
    assert main(["import", "out", "-o", "again.jsonl"]) == 0
    assert (
        "7 judgments of gpt: big/one on judgebench; 3 state no verdict" in capsys.readouterr().out
    )
    assert main(["report", "log.jsonl", "--export", "judgebenhc=out"]) == 2
    assert "did you mean 'judgebench'?" in capsys.readouterr().err


def test_an_unparsed_reply_of_others_has_no_reason_and_a_wrong_one_is_an_error(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "results" / "c"
    folder.mkdir(parents=True)
    value = {"debate_id": "d", "judge_model": "j", "judge_prompt": "p", "run_number": 1}
    path = folder / "d_run1.json"
    path.write_text(json.dumps({**value, "winner": None}))
    assert [one.outcome for one in read_judgebench(tmp_path)] == [Unparsed("no winner recorded")]
    path.write_text(json.dumps({**value, "winner": None, "unparsed": 3}))
    with pytest.raises(LogError, match="unparsed"):
        list(read_judgebench(tmp_path))
