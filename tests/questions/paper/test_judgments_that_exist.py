"""A paper's tables from judgments that exist: the same as of the run, and of the authors' forms."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from pytest_judgesense import paper
from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.questions.paper.answer import PaperAnswer
from pytest_judgesense.questions.paper.judgments_that_exist import LoggedPaperQuestion
from tests.foreign import decision_row, pair_rows, write_rows
from tests.questions.paper.printed_papers import (
    Recorded,
    assert_same_tables,
    assert_spoken_of,
    notes,
    recorded_designs,
    table,
    texts,
    written,
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return recorded_designs(tmp_path_factory)


@pytest.mark.parametrize(
    "name", ["jss", "datasheet", pytest.param("temperature", marks=pytest.mark.long)]
)
def test_the_log_of_a_design_gives_the_same_tables_byte_for_byte(
    name: str, recorded: Recorded
) -> None:
    assert_same_tables(*recorded(name))


def test_settings_that_a_log_does_not_hold_are_not_available(recorded: Recorded) -> None:
    of_run, log = recorded("jss")
    asked, stated = (table(answer, "settings") for answer in (of_run, paper("jss", log=log)))
    # 20 tokens at temperature 0 are what every request had; runs are counted in the log.
    assert {(row["temperature"], row["max tokens"], row["runs"]) for row in asked} == {(0.0, 20, 3)}
    assert {(row["temperature"], row["max tokens"], row["runs"]) for row in stated} == {
        (None, None, 3)
    }
    assert "a judgment log does not hold it" in notes(paper("jss", log=log))


def test_the_seed_is_that_of_the_question(recorded: Recorded) -> None:
    _, log = recorded("jss")
    intervals = [
        [row["95% interval"] for row in table(paper("jss", log=[log], seed=seed), "table-1")]
        for seed in (0, 7)
    ]
    assert intervals[0] != intervals[1]


# --- the authors' forms ---------------------------------------------------------------------------


def test_decisions_give_table_1_and_their_pairs_the_score_without_the_inverted_wording() -> None:
    # Three runs of every pair of factuality; YES throughout.
    pairs = write_rows(Path("pairs.jsonl"), pair_rows("factuality"))
    rows = [decision_row(pair, run, "YES", "YES") for pair in range(1, 126) for run in (1, 2, 3)]
    decisions = write_rows(Path("decisions.jsonl"), rows)
    (alone,) = table(paper("jss", log=decisions), "table-1")
    assert (alone["JSS"], alone["n"], alone["JSS remapped"]) == (1.0, 375, None)
    # In each pair of the ring two of five rows hold the inverted wording: 75 of 125 do not, in
    # three runs 225. Remapped, the 150 with it differ: 225 of 375 are equal.
    (with_pairs,) = table(paper("jss", log=[decisions, pairs]), "table-1")
    assert (with_pairs["JSS"], with_pairs["n"]) == (1.0, 225)
    assert with_pairs["JSS remapped"] == 225 / 375
    told = notes(paper("jss", log=decisions))
    assert "N/A: JSS remapped: no wording is known to be inverted" in told
    assert "N/A: coherence, relevance, preference: there are no judgments on such a suite" in told
    # The two timestamps of a row are one, and so are those of all rows.
    assert alone["seconds"] == 0
    with pytest.raises(LogError, match="holds pairs, and no judgment"):
        paper("jss", log=pairs)


def test_an_import_of_decisions_gives_the_tables_of_the_decisions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [decision_row(pair, 1, "YES", "NO" if pair % 5 else "YES") for pair in range(1, 26)]
    rows[3] |= {"normalized_b": "UNCLEAR", "flipped": None}
    rows[4] |= {"error": "HTTP 500", "prompt_b_raw": "ERROR: HTTP 500"}
    decisions = write_rows(Path("judgesense-decisions.jsonl"), rows)
    of_decisions = paper("jss", log=decisions)
    exported_again(of_decisions, "jss")
    again = paper("jss", log=Path("exported/decisions.jsonl"))
    assert texts(again.tables) == texts(of_decisions.tables)
    assert written(again, Path("b.jsonl")).read_bytes() == Path("a.jsonl").read_bytes()
    assert capsys.readouterr().err == ""


def exported_again(answer: PaperAnswer, form: str) -> None:
    """Write the log of an answer, and it as files of a form below ``exported``."""
    log = written(answer, Path("a.jsonl"))
    assert main(["report", str(log), "--export", f"{form}=exported"]) == 0


def test_a_table_of_replies_gives_the_tables_of_the_study() -> None:
    head = "question_id,model,judge_type,prompt,temperature,run,winner,gold"
    # Two repeats: at 0.1 both right, at 2 one of them; B is the right answer, the second one.
    lines = [
        f"q{question},{model},pairwise,direct,{at},{run},{said},B"
        for model in ("a", "b")
        for question in range(10)
        for at, words in (("0.1", "BB"), ("2", "BC"))
        for run, said in enumerate(words)
    ]
    Path("sweep.csv").write_text("\n".join([head, *lines]), encoding="utf-8")
    answer = paper("temperature", log="sweep.csv")
    rows = {(row["judge"], row["T"]): row for row in table(answer, "table-1")}
    assert (rows["a", "0.1"]["AGR"], rows["a", "0.1"]["CON"]) == (1.0, 1.0)
    # By run the agreement is 1 and 0, and the two repeats of each question differ.
    assert (rows["b", "2"]["AGR"], rows["b", "2"]["CON"], rows["b", "2"]["n"]) == (0.5, 0.0, 20)
    assert {row["ERR form"] for row in rows.values()} == {None}
    assert "N/A: ERR form, ERR form sd: no form of the replies is prescribed" in notes(answer)
    told = " ".join(LoggedPaperQuestion("temperature", (Path("sweep.csv"),)).notices())
    assert "judge_model is column model" in told


def test_an_export_of_a_sweep_is_imported_as_the_same_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["paper", "temperature", "--plan", "--judge-name", "embedded:mixed"]) == 0
    Path("sweep.csv").write_text(
        "item,judge,temperature,replicate,verdict,label,judge_type,error,reply\n"
        "q1,j,0.5,1,A,A,pairwise,,text\nq1,j,2,1,C,A,pairwise,,\nq2,j,0.5,1,,tie,pairwise,,no\n"
        "q2,j,2,1,,tie,pairwise,HTTP 500,\n",
        encoding="utf-8",
    )
    exported_again(paper("temperature", log="sweep.csv"), "temperature")
    (first, *_) = map(json.loads, Path("exported/replies.jsonl").read_text("utf-8").splitlines())
    assert (first["judge_result"], first["label"], first["temperature"]) == ("A", "A", 0.5)
    assert (
        main(["import", "exported/replies.jsonl", "--format", "temperature", "-o", "b.jsonl"]) == 0
    )
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()
    outcomes = [
        [line.get(name) for name in ("verdict", "unparsed", "failed")]
        for line in map(json.loads, Path("b.jsonl").read_text("utf-8").splitlines())
    ]
    assert outcomes == [
        ["A", None, None],
        ["tie", None, None],
        [None, "recorded as nothing", None],
        [None, None, "HTTP 500"],
    ]
    assert capsys.readouterr().err == ""


def test_what_a_table_needs_and_a_log_lacks_has_its_reason(recorded: Recorded) -> None:
    _, log = recorded("datasheet")
    lines = log.read_text(encoding="utf-8").splitlines()
    of_ladder = [line for line in lines if json.loads(line)["suite"].startswith("ladder")]
    Path("ladder.jsonl").write_text("\n".join(of_ladder), encoding="utf-8")
    answer = paper("datasheet", log="ladder.jsonl")
    (row,) = table(answer, "table-3")
    assert row["DC"] is None
    assert row["RFP"] is not None
    told = notes(answer)
    assert "N/A: vacuum, criterion: there are no judgments on such a suite" in told
    assert_spoken_of(answer)


# --- the command ----------------------------------------------------------------------------------


def test_the_command_prints_and_writes_what_python_has(
    recorded: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    of_run, log = recorded("jss")
    assert main(["paper", "jss", "--log", str(log), "-o", "x.csv", "-o", "x.tex"]) == 0
    shown = capsys.readouterr().out
    assert "noisy on factuality@paper-quick: 75 judgments" in shown
    assert "\n".join(paper("jss", log=log).table_lines()) in shown
    rows = list(csv.DictReader(Path("x.csv").read_text("utf-8").splitlines()))
    assert [float(row["JSS"]) for row in rows] == [row["JSS"] for row in table(of_run, "table-1")]
    assert r"\label{tab:jss-table-1}" in Path("x.tex").read_text("utf-8")


def test_what_does_not_fit_is_said(recorded: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    _, log = recorded("jss")
    for arguments, told in (
        (["jss", "--log", str(log), "--quick"], "judgments that exist are not asked for again"),
        (["jss", "--log", "nowhere.jsonl"], "there is no judgment log at nowhere.jsonl"),
        (["datasheet", "--log", str(log)], "there are no judgments of the paper datasheet"),
    ):
        assert main(["paper", *arguments]) == 2
        assert told in capsys.readouterr().err
    Path("other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(UsageError, match="neither a judgment log nor a form of this paper"):
        paper("temperature", log="other.csv")
    with pytest.raises(UsageError, match="not asked for again"):
        paper("jss", "embedded:mixed", log=log)
