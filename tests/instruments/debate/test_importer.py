"""The JudgeBench importer: its own format, and the variants in which the format is met."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import LogError
from pytest_judgesense.instruments.debate.estimators import tallies_of
from pytest_judgesense.instruments.debate.judgebench import DESIGN, read_judgebench
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.trial import Failed, Judgment, Unparsed, Verdict

SCORES = {
    "argument_quality": {"PRO": 7, "CON": 6},
    "evidence": {"PRO": 6, "CON": 6},
    "clash": {"PRO": 8, "CON": 5},
    "weighing": {"PRO": 5, "CON": 5},
}


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def judged(debate: str, run: int, winner: str | None = "PRO", **other: Any) -> dict[str, Any]:
    return {
        "debate_id": debate,
        "judge_model": "model-x",
        "judge_prompt": "p0",
        "run_number": run,
        "judgment": '{"winner": "CON"}',
        "winner": winner,
        "scores": SCORES,
        "confidence": 0.8,
        "short_reason": "clash",
        "timestamp": 1760000000.5,
        **other,
    }


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """As others write it: pairs by the id of the other debate, no category, runs from 0."""
    for debate, pair, pro, con in (("d1", "d2", "a", "b"), ("d2", "d1", "b", "a")):
        speeches = [{"side": "PRO", "speech_type": "pro_constructive", "content": "..."}]
        value = {"id": debate, "pair_id": pair, "pro_model": pro, "con_model": con}
        write(tmp_path / "debates" / f"{debate}.json", {**value, "speeches": speeches})
        for run in range(2):
            file = tmp_path / "results" / "model-x_p0" / f"{debate}_run{run}.json"
            write(file, judged(debate, run, "PRO" if debate == "d1" or run else "CON"))
    return tmp_path


def test_foreign_pairs_are_one_cluster_and_runs_count_from_one(foreign: Path) -> None:
    judgments = list(read_judgebench(foreign))
    assert [judgment.trial.id for judgment in judgments] == [
        f"judgebench/{debate}/p0/ab/r{run}" for debate in ("d1", "d2") for run in (1, 2)
    ]
    assert {judgment.trial.cluster for judgment in judgments} == {"d1+d2"}
    assert {judgment.judge for judgment in judgments} == {"model-x"}
    assert judgments[0].trial.condition == {"pro_model": "a", "con_model": "b"}
    assert judgments[0].detail is not None
    assert judgments[0].detail["scores"]["clash"] == {"PRO": 8.0, "CON": 5.0}


def test_what_is_imported_is_measured(foreign: Path) -> None:
    cell = Cell("model-x", "judgebench", DESIGN, tuple(read_judgebench(foreign)))
    one, other = tallies_of(cell)["p0"]
    # d1: PRO twice; d2: CON, then PRO. All runs have the same scores.
    assert (one.winner, other.winner) == ("PRO", None)
    assert (one.row, other.row) == ((0, 1, 0, 0, 2, 2), (1, 1, 0, 0, 1, 2))


def test_a_shared_pair_id_and_runs_from_one_are_taken_as_they_are(tmp_path: Path) -> None:
    for debate in ("x-original", "x-flipped"):
        value = {"id": debate, "pair_id": "x", "category": "law", "pro_model": "a"}
        write(tmp_path / "debates" / f"{debate}.json", value)
        write(tmp_path / "results" / "c" / f"{debate}_run1.json", judged(debate, 1))
    judgments = list(read_judgebench(tmp_path))
    assert {(j.trial.cluster, j.trial.replicate) for j in judgments} == {("x", 1)}
    assert judgments[0].trial.condition["category"] == "law"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"winner": None}, "no winner recorded"),
        ({"winner": "TIE"}, "no winner: 'TIE'"),
        ({"confidence": 80}, "out of range: confidence = 80"),
        ({"scores": {k: v for k, v in SCORES.items() if k != "clash"}}, "missing: scores.clash"),
        ({"scores": None}, "not a number: scores"),
    ],
)
def test_what_a_judgment_lacks_is_counted_with_its_reason(
    tmp_path: Path, changed: dict[str, Any], reason: str
) -> None:
    write(tmp_path / "results" / "c" / "d_run1.json", {**judged("d", 1), **changed})
    assert [j.outcome for j in read_judgebench(tmp_path)] == [Unparsed(reason)]


def test_planned_runs_without_a_file_are_failed_and_counted(foreign: Path) -> None:
    write(foreign / "debate_ids.json", ["d1", "d3"])
    write(foreign / "config.json", {"num_runs": 3})
    judgments = {j.trial.id.removeprefix("judgebench/"): j for j in read_judgebench(foreign)}
    failed = {name for name, j in judgments.items() if isinstance(j.outcome, Failed)}
    # The third run of d1, and all of d3; d2 has more than was planned and is kept.
    assert failed == {"d1/p0/ab/r3", "d3/p0/ab/r1", "d3/p0/ab/r2", "d3/p0/ab/r3"}
    assert len(judgments) == 4 + 4


@pytest.mark.parametrize("run", [-1, 10**30])
def test_a_run_that_no_log_can_hold_is_refused(foreign: Path, run: int) -> None:
    write(foreign / "results" / "model-x_p0" / "d2_run2.json", judged("d2", run))
    with pytest.raises(LogError, match=r"(?s)d2_run2\.json: run_number.*from 0 to"):
        list(read_judgebench(foreign))


def test_more_planned_runs_than_the_limit_of_trials_are_refused(foreign: Path) -> None:
    write(foreign / "debate_ids.json", ["d1", "d3"])
    write(foreign / "config.json", {"num_runs": 10**30})
    with pytest.raises(LogError, match=r"(?s)config\.json: too many runs.*LIMITS=trials"):
        list(read_judgebench(foreign))


def test_replies_are_read_anew_on_request(foreign: Path) -> None:
    def outcomes(**options: bool) -> set[object]:
        return {type(j.outcome) for j in read_judgebench(foreign, **options)}

    assert outcomes() == {Verdict}
    assert outcomes(reparse=True) == {Unparsed}  # the replies hold a winner and no scores


def test_a_run_that_stands_twice_and_a_malformed_file_are_errors(foreign: Path) -> None:
    write(foreign / "results" / "again" / "d1_run0.json", judged("d1", 0))
    with pytest.raises(LogError, match="are the same run"):
        list(read_judgebench(foreign))
    write(foreign / "results" / "again" / "d1_run0.json", judged("d1", 0, run_number="zero"))
    with pytest.raises(LogError, match="run_number is malformed"):
        list(read_judgebench(foreign))
    with pytest.raises(LogError, match="no JudgeBench results"):
        list(read_judgebench(foreign / "debates"))


def test_the_command_writes_a_log_that_is_ranked(
    foreign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = foreign / "log.jsonl"
    assert main(["import", str(foreign), "-o", str(log)]) == 0
    assert main(["report", "--ranking", str(log)]) == 0
    shown = capsys.readouterr().out
    assert "4 judgments of model-x on judgebench; 0 state no verdict" in shown
    # Flips: d2 of two debates; PRO 3 of 4; no variance: 3 * 0.5 + 2 * 0.25.
    row = next(line for line in shown.splitlines() if "model-x:p0" in line)
    assert row.split()[:7] == ["1", "model-x:p0", "2.000", "50.0%", "high", "25.0%", "high"]


def test_a_log_keeps_scores_confidence_and_reason(foreign: Path) -> None:
    from pytest_judgesense.report.log import log_lines, read_log

    before: list[Judgment] = list(read_judgebench(foreign))
    log = foreign / "log.jsonl"
    log.write_text("".join(f"{line}\n" for line in log_lines(before, DESIGN)), encoding="utf-8")
    assert [(judgment, design) for judgment, design in read_log(log)] == [
        (judgment, DESIGN) for judgment in before
    ]
    line = json.loads(log.read_text(encoding="utf-8").splitlines()[0])
    assert (line["scores"]["weighing"], line["confidence"]) == ({"PRO": 5.0, "CON": 5.0}, 0.8)
