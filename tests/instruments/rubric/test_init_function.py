"""``judgesense init --kind rubric``: a function that grades by criterion, and people's grades."""

from __future__ import annotations

import csv
import io
import shlex
import sys
import tomllib
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import measure
from pytest_judgesense.checks.suite_faults import lint_suite
from pytest_judgesense.commands.main import main
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.suites.loading import load_suite

N = 30
MODULE = """
def grade(question, answer):
    words = len(answer.split())
    return {"clarity": min(5, 1 + words // 8), "tone": 1 + words % 5}


def compare(question, first, second):
    return "1"
"""
GRADES = ("--grades", "clarity=anna_clarity+ben_clarity,tone=anna_tone")


def rows() -> list[dict[str, str]]:
    """Outputs of 1 to 30 words, of a clarity up to 4; Ben is half a grade kinder than Anna."""
    made = []
    for words in range(1, N + 1):
        clarity, tone = min(5, 1 + words // 8), 1 + words % 5
        made.append(
            {
                "question": f"Question {words}",
                "answer": " ".join(["word"] * words),
                "anna_clarity": str(clarity),
                "ben_clarity": str(clarity + 0.5),
                "anna_tone": str(tone),
            }
        )
    return made


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "myapp", raising=False)  # that of the test before
    (tmp_path / "myapp.py").write_text(MODULE, encoding="utf-8")
    write(rows())


def write(lines: Sequence[dict[str, str]]) -> None:
    with Path("items.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def init(*arguments: str, function: str = "myapp:grade") -> tuple[int, str]:
    printed = io.StringIO()
    command = ["init", "--callable", function, "--items", "items.csv", *arguments]
    with redirect_stdout(printed), redirect_stderr(printed):
        code = main(command)
    return code, printed.getvalue()


def suite() -> dict[str, Any]:
    return tomllib.loads(Path("suites/items/items.suite.toml").read_text(encoding="utf-8"))


def test_it_writes_a_suite_with_bars_limits_and_the_version_before() -> None:
    code, printed = init(*GRADES)
    assert code == 0, printed
    assert "clarity: people's grades in anna_clarity, ben_clarity: 30 of 30 items" in printed
    table = suite()
    assert (table["kind"], table["space"]["criteria"]) == ("rubric", ["clarity", "tone"])
    assert table["stimuli"]["columns"] == {
        "output": "answer",
        "people.clarity": ["anna_clarity", "ben_clarity"],
        "people.tone": ["anna_tone"],
    }
    checks = table["checks"]
    compared = checks.pop("no_regression")
    assert {entry["measure"] for entry in compared} == {"repeat_flip_rate", "human_kappa"}
    assert set(checks) == {
        "repeat_flip_rate_bound",
        "missing_grades_ceiling",
        "human_kappa_floor",
        "halo_bound",
    }
    assert checks["halo_bound"] == {"bar": 0.2, "limit": 0.4}
    assert all({"bar", "limit"} == set(bars) for bars in checks.values())
    judge = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["judgesense"]["judges"]
    assert judge["grade"]["arguments"] == {"answer": "output"}
    assert Path(".github/workflows/judges.yml").is_file()
    loaded = load_suite(Path("suites/items/items.suite.toml"), None, BUILT_IN.forms)
    assert not [one for one in lint_suite(loaded, BUILT_IN) if one.severity == "error"]
    assert loaded.items[0].people["clarity"] == {"anna_clarity": "1", "ben_clarity": "1.5"}


def test_a_judge_that_grades_as_people_do_passes_as_it_stands() -> None:
    code, printed = init(*GRADES)
    assert code == 0, printed
    sheet = measure("grade", Path("suites/items/items.suite.toml"), mode="record")
    assert {check.outcome for check in sheet.checks} == {"pass"}
    # People's mean clarity lies a quarter above the judge's, so of two criteria an eighth.
    assert "    generosity -0.12 [" in str(sheet)
    assert "(most: clarity -0.25)" in str(sheet)


def test_criteria_that_are_not_named_are_proposed() -> None:
    code, printed = init("--kind", "rubric")
    assert code == 2
    assert "columns with numbers: anna_clarity, ben_clarity, anna_tone" in printed
    (proposed,) = (line for line in printed.splitlines() if "say which: " in line)
    command = shlex.split(proposed.partition("say which: ")[2])
    # It is a command that runs, about columns that share what stands before the last underscore.
    assert command[-2:] == ["--grades", "anna=anna_clarity+anna_tone,ben=ben_clarity"]
    assert main(command[1:]) == 0


def test_a_criterion_that_nobody_has_graded_has_no_column() -> None:
    code, printed = init("--grades", "clarity=anna_clarity,depth")
    assert code == 0, printed
    assert "depth: no grades of people" in printed
    # The overall grade of people needs one of each, and halo two criteria.
    assert set(suite()["checks"]) - {"no_regression"} == {
        "repeat_flip_rate_bound",
        "missing_grades_ceiling",
    }


def test_few_items_have_bars_alone() -> None:
    write(rows()[:12])
    code, printed = init(*GRADES)
    assert code == 0, printed
    assert (suite()["checks"]["human_kappa_floor"], suite()["checks"]["halo_bound"]) == (0.4, 0.2)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((*GRADES, "--kind", "score"), "--grades is about grades by criterion"),
        (("--grades", "clarity=ana_clarity"), "did you mean 'anna_clarity'"),
        (("--grades", "clarity=answer"), "would be shown to the judge"),
        (("--grades", "tone=anna_tone,tone=ben_clarity"), "names tone twice"),
        (("--grades", "tone,depth"), "--labels 1,2,3,4,5"),
        ((*GRADES, "--labels", "1,2,3"), "a number from 1 to 3"),
        ((*GRADES, "--value", "fine=5"), "matches none of people's grades"),
        ((*GRADES, "--map", "label=anna_tone"), "one of id, cluster, system, output"),
    ],
)
def test_what_fits_nothing_is_refused_and_writes_nothing(
    arguments: tuple[str, ...], told: str
) -> None:
    code, printed = init(*arguments)
    assert (code, told in printed) == (2, True), printed
    assert not Path("suites").exists()


def test_which_text_is_graded_is_asked_for_where_several_could_be() -> None:
    lines = [{"question": "Q", "first": "a", "second": "b", "tone": str(n % 3)} for n in range(9)]
    write(lines)
    grades = ("--grades", "tone=tone")
    code, printed = init(*grades, function="myapp:compare")
    assert (code, "--map output=question" in printed) == (2, True), printed
    code, printed = init(*grades, "--map", "output=second", function="myapp:compare")
    assert code == 0, printed
    assert suite()["stimuli"]["columns"]["output"] == "second"
