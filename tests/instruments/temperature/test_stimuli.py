"""Temperature suites: how they are loaded and planned, what is refused, and the built-in one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import SuiteError
from pytest_judgesense.judges.calls import first_calls
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.suites.loading import _load
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.rules import lint_items
from tests.suites.files import CONTENT, GRADED, GRID, ITEMS, write_suite
from tests.suites.known import builtin_suites, load_suite

CLEAN = judge_from_name("embedded:clean")
BUILTIN = builtin_suites()["temperature"]


def _grid(folder: Path, toml: str = GRID, rows: list[dict[str, Any]] | None = None, **how: Any):
    return load_suite(write_suite(folder, toml, GRADED if rows is None else rows), **how)


def test_items_templates_temperatures_and_replicates_are_crossed(tmp_path: Path) -> None:
    suite = _grid(tmp_path)
    trials = plan_trials(suite)
    # 2 questions x 3 templates x 2 temperatures x 2 replicates, each in one order.
    assert len(trials) == len({trial.id for trial in trials}) == 24
    assert [trial.id for trial in trials if trial.item == "g2"][:4] == [
        "grid/g2/pair/ba/t0.01/r1",
        "grid/g2/pair/ba/t0.01/r2",
        "grid/g2/pair/ba/t2/r1",
        "grid/g2/pair/ba/t2/r2",
    ]
    by_id = {trial.id: trial for trial in trials}
    assert by_id["grid/g2/guided/ba/t2/r2"].condition == {
        "judge_type": "reference",
        "prompt_style": "reasoned",
        "temperature": 2.0,
        "gold": "judge:oracle",
    }
    assert {trial.cluster for trial in trials} == {"g1", "g2"}
    assert suite.design.kind == "temperature"


def test_answers_that_are_graded_one_by_one_have_no_order(tmp_path: Path) -> None:
    both = _grid(tmp_path, GRID.replace('"balanced"', '"both"'))
    orders = Counter((trial.template, trial.order) for trial in plan_trials(both))
    # 2 questions x 2 temperatures x 2 replicates.
    assert orders == {
        ("pair", "ab"): 8,
        ("pair", "ba"): 8,
        ("guided", "ab"): 8,
        ("guided", "ba"): 8,
        ("grade", "ab"): 8,
    }


def test_a_preset_has_temperatures_of_its_own(tmp_path: Path) -> None:
    suite = _grid(tmp_path, preset="one")
    assert {trial.condition["temperature"] for trial in plan_trials(suite)} == {1.5}
    assert suite.digest != _grid(tmp_path).digest


TWICE = GRID.replace('judge_type = "reference"', 'judge_type = "pairwise"').replace(
    'prompt_style = "reasoned"', 'prompt_style = "direct"'
)


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        (GRID.replace("tie = true\n", ""), "permits a tie"),
        (GRID.replace("temperatures = [2.0, 0.01]\n", ""), r"has \[design\] temperatures"),
        (GRID.replace("[2.0, 0.01]", "[2.0, 2.0]"), "temperatures must be unique"),
        (GRID.replace("[2.0, 0.01]", "[2.0, -0.01]"), "greater than or equal to 0"),
        (GRID.replace("[design]", "[design]\ntemperature = 0.5"), "and no temperature"),
        (GRID.replace('judge_type = "single"\n', ""), "a judge_type and a prompt_style"),
        (TWICE, "both together once"),
        (GRID.replace('kind = "temperature"', 'kind = "paraphrase"'), "belong to a temperature"),
        (GRID.replace("{{answer}}", "{{a}}"), "does not show the candidate"),
        (GRID.replace("({{reference}})", ""), "does not show the reference"),
    ],
)
def test_a_grid_that_cannot_be_asked_is_an_error(tmp_path: Path, toml: str, words: str) -> None:
    with pytest.raises(SuiteError, match=words):
        _grid(tmp_path, toml)


def test_what_only_this_kind_has_does_not_change_the_digest_of_the_others(tmp_path: Path) -> None:
    # As before there were temperature suites: a baseline of then compares with a suite of now.
    suite = load_suite(write_suite(tmp_path, CONTENT, ITEMS))
    assert suite.digest == "2e36dcf551670b33"


@pytest.mark.parametrize(
    ("gold", "command"), [("judge:oracle", "--judge-name oracle"), ("human", "--judge-name NAME")]
)
def test_a_missing_label_is_an_error_that_names_the_command_which_gives_it(
    tmp_path: Path, gold: str, command: str
) -> None:
    rows = [GRADED[0], {**GRADED[1], "label": None, "gold": gold}]
    with pytest.raises(SuiteError, match=f"judgesense label .*{command}"):
        _grid(tmp_path, rows=rows)
    assert _grid(tmp_path, rows=rows, labelled=False).items[1].label is None


def test_a_gold_that_is_nobody_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="gold"):
        _grid(tmp_path, rows=[{**GRADED[0], "gold": "judge:"}])


def test_lint_tells_of_labels_by_a_judge_and_of_a_grid_that_shows_nothing(tmp_path: Path) -> None:
    toml = GRID.replace("[2.0, 0.01]", "[2.0]").replace("replicates = 2", "replicates = 1")
    found = {(f.rule, f.found) for f in lint_items(_grid(tmp_path, toml))}
    assert ("gold", "1 of 2 by judge:oracle") in found
    assert ("temperature-design", "one temperature") in found
    assert ("temperature-design", "one replicate") in found


@pytest.mark.parametrize(
    ("element", "leak"),
    [
        ("the price of the twelve pencils", None),
        ("the price, 80 dollars", "80"),
        ("that it is never safe", "a negation"),
        ("the heavier of the two", None),
    ],
)
def test_lint_tells_of_elements_that_give_the_answer_away(
    tmp_path: Path, element: str, leak: str | None
) -> None:
    row = {**GRADED[0], "task": "What do 12 pencils cost?", "elements": ["the sum", element]}
    found = {f.rule: f for f in lint_items(_grid(tmp_path, rows=[row]))}
    assert ("element-leak" in found) is (leak is not None)
    if leak:
        assert found["element-leak"].found == f"1 items; in {row['id']}: {leak}"


def test_items_of_users_are_never_refused_for_what_their_answers_say(tmp_path: Path) -> None:
    sums = {**GRADED[0], "id": "g3", "texts": ["Distance = 1", "The better:\n\n1 is 2."]}
    equal = {**GRADED[0], "id": "g4", "texts": ["Four.", "Four."], "label": "tie"}
    rows = [*GRADED, sums, equal]
    found = {f.rule: f for f in lint_items(_grid(tmp_path, rows=rows))}
    assert {found[rule].severity for rule in ("marks", "identical-sides")} == {"warning"}
    assert found["marks"].found == "1 of 4 items; in g3: 'Distance = 1'"
    assert main(["plan", "--lint", str(tmp_path / "tiny.suite.toml")]) == 0
    silent = GRID.replace("[stimuli]", '[stimuli]\naccepted = ["marks", "identical-sides"]')
    _load.cache_clear()
    left = {f.rule for f in lint_items(_grid(tmp_path, silent, rows=rows))}
    assert {*found} - left == {"marks", "identical-sides"}


def test_accepting_texts_changes_no_digest(tmp_path: Path) -> None:
    digest = _grid(tmp_path).digest
    _load.cache_clear()
    assert _grid(tmp_path, GRID.replace("[stimuli]", '[stimuli]\naccepted = ["marks"]')).digest == (
        digest
    )


# --- the built-in suite ----------------------------------------------------------------------


LINES = [json.loads(x) for x in (BUILTIN.parent / "items.jsonl").read_text("utf-8").splitlines()]


def test_there_are_88_questions_a_third_of_each_label_and_of_each_difficulty() -> None:
    assert len({line["id"] for line in LINES}) == len(LINES) == 88
    assert Counter(line["label"] for line in LINES) == {"1": 30, "2": 30, "tie": 28}
    assert Counter(line["difficulty"] for line in LINES) == {"easy": 29, "medium": 30, "hard": 29}
    assert Counter(line["dataset"] for line in LINES) == {"everyday": 66, "instructions": 22}
    assert all(line["reference"] and line["elements"] for line in LINES)
    assert {line["gold"] for line in LINES} == {"author"}


def test_the_part_that_is_recorded_has_as_many_of_each_label_and_each_slot_is_right() -> None:
    trials = [t for t in plan_trials(load_suite(BUILTIN)) if t.template == "pairwise-direct"]
    right = Counter(
        t.label if t.label == "tie" else "A" if (t.label == "1") == (t.order == "ab") else "B"
        for t in trials
    )
    # 12 questions x 3 temperatures x 3 replicates, a third of them each. Which of the eight pairs
    # with a better answer are exchanged is decided by their texts: five have it in slot A.
    assert right == {"A": 45, "B": 27, "tie": 36}


def test_the_better_answer_is_the_longer_one_about_as_often_as_not() -> None:
    longer = Counter()
    for line in LINES:
        if line["label"] != "tie":
            first, second = (len(text.split()) for text in line["texts"])
            longer[(first > second) == (line["label"] == "1")] += first != second
    assert abs(longer[True] - longer[False]) <= 6, longer


def test_the_full_grid_makes_480_calls_a_question() -> None:
    suite = load_suite(BUILTIN, "full")
    calls = first_calls(suite, CLEAN)
    made = Counter(t.item for t in plan_trials(suite) for _ in calls(t))
    # 6 temperatures x 2 styles x 10 replicates x (1 + 2 + 1 calls).
    assert made == dict.fromkeys((line["id"] for line in LINES), 480)
