"""``judgesense import --grades``: a row a reply, a column a criterion, a column a person."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.files.foreign_results import Imported
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.import_.question import ImportQuestion
from pytest_judgesense.report.log import read_log
from pytest_judgesense.report.logged_cells import datasheet_of_cells
from tests.foreign import write_rows
from tests.measures.building import cell, estimate
from tests.questions.import_.test_look import look

# The judge is a step above the mean of people in clarity, and at it in tone.
TABLE = """id,thread,answer,clarity,anna,ben,tone,carl
1,a,Good day to you.,4,3,3,2,2
2,b,Hm.,3,2,2.0,1,1
3,c,Well then.,5,4,4.5,,3
"""
GRADES = ("--grades", "clarity=clarity,tone=tone", "--people", "clarity=anna+ben,tone=carl")
MAPPED = ("--map", "cluster=thread", "--map", "field.output=answer")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def imported(text: str, *arguments: str) -> tuple[int, str]:
    Path("t.csv").write_text(text, encoding="utf-8")
    return command("import", "t.csv", "-o", "log.jsonl", "--judge", "j", *arguments)


def command(*arguments: str) -> tuple[int, str]:
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            code = main([*arguments])
        except SystemExit as ended:
            code = int(ended.code or 0)
    return code, printed.getvalue()


def logged() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("log.jsonl").read_text("utf-8").splitlines()]


def cell_of_log() -> Cell:
    lines = list(read_log(Path("log.jsonl")))
    design = lines[0][1]
    assert design is not None
    return cell(design, (judgment for judgment, _ in lines))


def test_the_log_holds_grades_and_people_and_its_report_the_measures_of_rubrics() -> None:
    code, printed = imported(TABLE, *GRADES, *MAPPED, "--pass-mark", "4")
    assert code == 0, printed
    assert "grades are 1 to 5; --labels names another scale" in printed
    first, _, last = map(json.loads, Path("log.jsonl").read_text("utf-8").splitlines())
    assert json.loads(first["verdict"]) == {"clarity": "4", "tone": "2"}
    assert first["people"] == {"clarity": {"anna": "3", "ben": "3"}, "tone": {"carl": "2"}}
    assert (first["cluster"], first["condition"]) == ("a", {"words": 4})
    assert json.loads(last["verdict"]) == {"clarity": "5", "tone": None}
    of = cell_of_log()
    assert of.design.pass_mark == 0.75  # 4 of 1 to 5
    # 4 - 3, 3 - 2 and 5 - 4.25: 2.75 / 3.
    assert estimate(of, "human_bias", criterion="clarity").value == pytest.approx(2.75 / 3)
    assert estimate(of, "missing_grades").count == 1
    (judge,) = datasheet_of_cells([of], 0).judges
    names = {table["analysis"] for table in judge.analyses}
    assert {"grades", "criterion_pairs", "grades_beside_people"} <= names


def test_words_are_a_scale_that_is_said() -> None:
    table = "id,said,anna\n1,Good,good\n2,poor,fair\n3,broken,poor\n"
    grades = ("--grades", "tone=said", "--people", "tone=anna")
    code, printed = imported(table, *grades)
    assert (code, "--labels 1,2,3,4,5" in printed) == (2, True)
    code, printed = imported(table, *grades, "--labels", "poor,fair,good", "--value", "broken=")
    assert code == 0, printed
    assert "1 state no verdict" in printed
    of = cell_of_log()
    assert of.design.labels == ("poor", "fair", "good")
    # good and good, poor and fair: one step of two, once below.
    assert estimate(of, "human_bias").value == pytest.approx(-0.5)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--grades", "clarity=clear"), 2, "did you mean 'clarity'"),
        (("--grades", "clarity"), 2, "names no column for clarity"),
        (("--grades", "clarity="), 2, "is not of the form CRITERION=COLUMN"),
        (("--grades", "clarity=clarity", "--people", "tone=carl"), 2, "--grades tone=COLUMN"),
        (("--people", "tone=carl", "--map", "verdict=tone"), 2, "--people tone=carl"),
        ((*GRADES, "--map", "label=carl"), 2, "--map label is not used beside --grades"),
        ((*GRADES, "--map", "people.c=carl"), 2, "--map people.c is not used beside --grades"),
        ((*GRADES, "--labels", "1,2,tie"), 2, "no tie and no abstention"),
        ((*GRADES, "--labels", "1,2,3,4"), 3, "column clarity holds no grade"),
        ((*GRADES, "--pass-mark", "6"), 2, "a grade above the lowest: 2, 3, 4, 5"),
        (("--map", "verdict=tone", "--pass-mark", "4"), 2, "--pass-mark 4"),
    ],
)
def test_what_fits_nothing_is_refused_and_writes_nothing(
    arguments: tuple[str, ...], code: int, told: str
) -> None:
    ended, printed = imported(TABLE, *arguments)
    assert (ended, told in printed) == (code, True), printed
    assert not Path("log.jsonl").exists()


def test_a_row_that_is_there_twice_is_refused() -> None:
    code, printed = imported(f"{TABLE}1,a,Good day to you.,4,3,3,2,2\n", *GRADES)
    assert (code, "--map replicate=COLUMN" in printed) == (3, True), printed


def test_replicates_are_numbered_from_one_as_those_of_verdicts() -> None:
    table = "id,run,tone\n1,0,4\n1,1,5\n2,0,3\n"
    code, printed = imported(table, "--grades", "tone=tone", "--map", "replicate=run")
    assert (code, "0 is 1, 1 is 2" in printed) == (0, True), printed
    lines = map(json.loads, Path("log.jsonl").read_text("utf-8").splitlines())
    assert [line["trial"].rpartition("/")[2] for line in lines] == ["r1", "r2", "r1"]


def test_scores_of_criteria_are_refused_with_the_way_to_read_them() -> None:
    table = "id,of_tone,of_form\n1,0.85,1\n2,1,0\n3,,1\n"
    grades = ("--grades", "tone=of_tone,form=of_form")
    code, printed = imported(table, *grades)
    assert (code, "scores, and no grades of a scale, of tone" in printed) == (2, True), printed
    assert "0.85 in column of_tone" in printed
    assert "--map verdict=of_tone --suite tone" in printed
    advised = ("--lists", "of_{suite}=verdict", "--map", "verdict=verdict", "--map", "suite=suite")
    assert "--lists 'of_{suite}=verdict' --map verdict=verdict --map suite=suite" in printed
    code, printed = imported(table, *advised)
    assert code == 0, printed
    # 0.85 and 1 of tone, with an empty cell; 1, 0 and 1 of form.
    assert "  tone: mean 0.925 of 2, 0.85 to 1" in printed
    assert "  form: 1: 2, 0: 1" in printed


def test_a_row_without_a_grade_of_one_criterion_keeps_those_of_others() -> None:
    code, printed = imported("id,a,b\n1,1,\n2,2,3\n", "--grades", "a=a,b=b")
    assert code == 0, printed
    first = json.loads(Path("log.jsonl").read_text("utf-8").splitlines()[0])
    assert json.loads(first["verdict"]) == {"a": "1", "b": None}


def test_tables_without_grades_are_read_as_before() -> None:
    assert {one.name for one in BUILT_IN.variants} <= set(BUILT_IN.importers)
    code, printed = imported("item,verdict,label\n1,YES,NO\n2,NO,NO\n")
    assert (code, "2 judgments of j" in printed) == (0, True), printed


def test_grades_are_dotted_and_people_are_joined() -> None:
    """By hand: clarity of the judge 4 2 5, of anna 4 2 4, of ben 3 2 5: each agrees on 2 of 3."""
    grades = [4, 2, 5]
    rows = [{"id": n, "marks": {"clarity": {"score": g}}} for n, g in enumerate(grades, start=1)]
    write_rows(Path("g.jsonl"), rows)
    Path("wide.csv").write_text("id,anna,ben\n1,4,3\n2,2,2\n3,4,5\n", encoding="utf-8")
    long = "person,id,label\nanna,1,4\nben,1,3\nanna,2,2\nben,2,2\nanna,3,4\nben,3,5\n"
    Path("long.csv").write_text(long, encoding="utf-8")
    given = ("import", "g.jsonl", "-o", "log.jsonl")
    given += ("--grades", "clarity=marks.clarity.score")
    for more in (
        ("--join", "wide.csv=id", "--people", "clarity=anna+ben"),
        ("--join", "long.csv=id"),
    ):
        code, printed = command(*given, *more)
        assert code == 0, printed
        by_person = [line["people"]["clarity"] for line in logged()]
        assert by_person == [
            {"anna": "4", "ben": "3"},
            {"anna": "2", "ben": "2"},
            {"anna": "4", "ben": "5"},
        ]
    code, printed = command(*given, "--join", "wide.csv=id", "--people", "clarity=cleo")
    assert (code, "no column named 'cleo'" in printed) == (2, True)


def test_a_column_of_grades_has_another_reader() -> None:
    write_rows(Path("t.jsonl"), [{"id": n, "clarity": n, "tone": 4 - n} for n in (1, 2, 3)])
    of = look("t.jsonl")
    assert isinstance(of.read, Imported)
    assert [criterion.name for criterion in of.read.judgments[0][1].criteria] == ["clarity", "tone"]


def test_each_criterion_has_its_mean() -> None:
    grades = (("clarity", "c"), ("tone", "t"))
    options = ImportOptions(Path("own.csv"), map=(("item", "id"),), grades=grades, judge="j")
    Path("own.csv").write_text("id,c,t\n1,4,\n2,5,1\n", encoding="utf-8")
    assert ImportQuestion(options).answer().summary[1:] == (
        "  own, clarity: mean 4.5 of 2, 4 to 5",
        "  own, tone: mean 1 of 1, 1 to 1",
    )
