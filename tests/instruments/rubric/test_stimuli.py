"""Suites of outputs to be graded: what their files say, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.checks.declaration import declare_check
from pytest_judgesense.errors import SuiteError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.report.log import log_line, read_log
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.rules import lint_items
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Criterion
from scripts import rubric_items
from tests.measures.building import perfect_judgments
from tests.suites.known import builtin_suites, load_suite

SPACE = 'labels = ["1", "2", "3"]\ncriteria = ["accuracy", "tone"]'
LINE = {"id": "o-a", "task": "Greet.", "output": "Good day.", "system": "old"}
ASKED = '{{output}}\nReply {"accuracy": N, "tone": N}, each from 1 to 3.'


def suite_of(
    folder: Path,
    *lines: Mapping[str, Any],
    space: str = SPACE,
    asked: str = ASKED,
    file: str = "items.jsonl",
    stimuli: str = "",
) -> Suite:
    text = "\n".join(json.dumps(line) for line in lines)
    if file.endswith(".csv"):
        rows = [list(lines[0]), *(list(line.values()) for line in lines)]
        text = "\n".join(",".join(map(str, row)) for row in rows)
    (folder / file).write_text(text, encoding="utf-8")
    path = folder / "s.suite.toml"
    path.write_text(
        f'schema = "judgesense/suite/1"\nname = "s"\nkind = "rubric"\n[space]\n{space}\n'
        f'[stimuli]\nfile = "{file}"\n{stimuli}\n'
        f"[[templates]]\nid = 't1'\ntext = '''{asked}'''\n",
        encoding="utf-8",
    )
    return load_suite(path)


def test_a_line_is_an_output_with_its_system_length_and_human_grades(tmp_path: Path) -> None:
    line = {**LINE, "human": {"accuracy": 3, "tone": "1"}, "reference": "Hello."}
    suite = suite_of(tmp_path, line)
    (trial,) = plan_trials(suite)
    assert trial.condition == {
        "words": 2,
        "system": "old",
        "human.accuracy": "3",
        "human.tone": "1",
    }
    assert suite.items[0].fields["reference"] == "Hello."
    scale = ("1", "2", "3")
    assert suite.design.criteria == (Criterion("accuracy", scale), Criterion("tone", scale))


def test_scales_weights_and_the_mark_travel_with_the_log(tmp_path: Path) -> None:
    space = (
        f'{SPACE}\nscales = {{ tone = ["no", "yes"] }}\nweights = {{ tone = 2 }}\npass_mark = 0.5'
    )
    suite = suite_of(tmp_path, {**LINE, "human": {"accuracy": 3, "tone": "YES"}}, space=space)
    log = tmp_path / "log.jsonl"
    (judgment,) = perfect_judgments(suite)
    log.write_text(log_line(judgment, suite.design) + "\n", encoding="utf-8")
    ((read, design),) = read_log(log)
    assert design == suite.design
    assert design is not None
    assert design.criteria[1] == Criterion("tone", ("no", "yes"), 2.0)
    assert design.pass_mark == 0.5
    assert read == judgment
    assert read.verdict == '{"accuracy": "3", "tone": "yes"}'


def test_a_table_of_ones_own_has_human_grades_in_columns(tmp_path: Path) -> None:
    row = {"nr": "7", "text": "Good day.", "human.accuracy": "2", "human.tone": ""}
    columns = 'columns = { id = "nr", output = "text" }'
    suite = suite_of(tmp_path, row, file="items.csv", stimuli=columns)
    (trial,) = plan_trials(suite)
    assert (trial.item, trial.condition) == ("7", {"words": 2, "human.accuracy": "2"})


def test_people_need_not_have_graded_everything_nor_written_whole_numbers(tmp_path: Path) -> None:
    """As pandas writes a column of whole numbers in which some are missing."""
    row = {"id": "7", "output": "Good day.", "human.accuracy": "2.0", "human.tone": ""}
    of_table = suite_of(tmp_path, row, file="items.csv")
    of_lines = suite_of(tmp_path, {**LINE, "human": {"accuracy": 2.0, "tone": None}})
    for suite in (of_table, of_lines):
        condition = suite.items[0].condition
        assert {k: v for k, v in condition.items() if "human" in k} == {"human.accuracy": "2"}


def test_people_may_give_what_lies_between_two_grades(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {**LINE, "human": {"accuracy": 2.5, "tone": "1,5"}})
    condition = suite.items[0].condition
    assert (condition["human.accuracy"], condition["human.tone"]) == ("2.5", "1.5")


def test_several_people_grade_a_criterion_in_columns_that_no_prompt_shows(tmp_path: Path) -> None:
    row = {"id": "7", "output": "Good day.", "anna": "2", "ben": "2.5", "carl": ""}
    columns = 'columns = { "people.accuracy" = ["anna", "ben"], "people.tone" = ["carl"] }'
    suite = suite_of(tmp_path, row, file="items.csv", stimuli=columns)
    (trial,) = plan_trials(suite)
    assert trial.people == {"accuracy": {"anna": "2", "ben": "2.5"}}
    assert set(suite.items[0].fields) == {"output", "task"}


@pytest.mark.parametrize(
    ("labels", "mark", "share"),
    [
        ('["1", "2", "3", "4", "5"]', "4", 0.75),
        ('["1", "2", "3", "4", "5"]', "3.5", 0.625),
        ('["0", "1", "2"]', '"1"', 0.5),
        # A number up to 1 is a share.
        ('["0", "1", "2"]', "1", 1.0),
        ('["poor", "fair", "good"]', '"fair"', 0.5),
    ],
)
def test_the_pass_mark_is_a_grade_of_the_scale_or_a_share(
    tmp_path: Path, labels: str, mark: str, share: float
) -> None:
    space = f'labels = {labels}\ncriteria = ["accuracy", "tone"]\npass_mark = {mark}'
    assert suite_of(tmp_path, LINE, space=space).design.pass_mark == share


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ('ceiling_share_limit = { bar = 0.5, criterion = "tome" }', "'tome'"),
        ("pass_mark_flips_bound = 0.1", "no pass_mark"),
        ("kappa_quadratic_floor = 0.1", "scales of their own"),
        ('kappa_quadratic_floor = { bar = 0.1, criterion = "overall" }', None),
        ("jss_floor = 0.1", None),
    ],
)
def test_lint_refuses_checks_that_nothing_could_decide(
    tmp_path: Path, check: str, said: str | None
) -> None:
    space = f'{SPACE}\nscales = {{ tone = ["no", "yes"] }}'
    suite = suite_of(tmp_path, LINE, space=space, stimuli=f"[checks]\n{check}")
    found = [
        one.found for one in lint_items(suite) if (one.severity, one.rule) == ("error", "check")
    ]
    assert [said in one for one in found] == [True] * (said is not None)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"space": f"{SPACE}\nscales = {{ style = ['a', 'b'] }}"}, "not of style"),
        ({"space": f"{SPACE}\npass_mark = 0"}, "pass_mark"),
        ({"space": f"{SPACE}\npass_mark = 4"}, "a grade above the lowest: 2, 3"),
        ({"space": f"{SPACE}\npass_mark = '1'"}, "a grade above the lowest: 2, 3"),
        ({"space": 'labels = ["1", "2"]\ncriteria = ["overall"]'}, "overall score"),
        ({"space": 'labels = ["1", "2"]\ncriteria = ["tone", "tone"]'}, "criteria must be unique"),
        ({"space": f"{SPACE}\ntie = true"}, "no pairwise, tie or abstain"),
        ({"asked": "Grade it."}, "does not show the output"),
        ({"human": {"accuracy": 9}}, "human grade of no scale"),
        ({"human": {"style": 1}}, "human grade of no scale"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    line = {**LINE, "human": change.pop("human", {})}
    with pytest.raises(SuiteError, match=said):
        suite_of(tmp_path, line, **change)


def test_lint_names_criteria_that_a_wording_forgets(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, LINE, asked='{{output}} Reply {"accuracy": N}.')
    found = {finding.rule: finding.severity for finding in lint_items(suite)}
    assert found["criteria"] == "error"


@pytest.mark.parametrize(
    ("space", "asked", "warned"),
    [
        (SPACE, ASKED, False),
        ('labels = ["0", "1", "2", "3"]', "{{output}} Grade it from 0 to 3.", False),
        (SPACE, "{{output}} Grade accuracy and tone.", True),
        # The suite's labels are the scale of no criterion: no reply uses them.
        (
            f'{SPACE}\nscales = {{ accuracy = ["no", "yes"], tone = ["low", "high"] }}',
            "{{output}} Is its accuracy good (yes or no), and is its tone low or high?",
            False,
        ),
        (f'{SPACE}\nscales = {{ tone = ["low", "high"] }}', ASKED, True),
    ],
)
def test_lint_asks_for_the_grades_that_replies_use(
    tmp_path: Path, space: str, asked: str, warned: bool
) -> None:
    suite = suite_of(tmp_path, LINE, space=space, asked=asked)
    assert ("template-labels" in {one.rule for one in lint_items(suite)}) is warned


def test_lint_finds_lengths_that_tell_the_grades(tmp_path: Path) -> None:
    lines = [
        {"id": f"o-{n}", "output": "word " * n, "human": {"accuracy": 1 + n // 5, "tone": 2}}
        for n in range(12)
    ]
    (finding,) = [f for f in lint_items(suite_of(tmp_path, *lines)) if f.rule == "length-shortcut"]
    assert finding.severity == "warning"


def test_the_built_in_outputs_are_what_their_parts_make() -> None:
    path = builtin_suites()["rubric"].parent / "items.jsonl"
    assert path.read_text(encoding="utf-8") == rubric_items.text_of_items()
    items = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert rubric_items.shortcut(items) < 0.1
    assert len({(item["cluster"], item["system"]) for item in items}) == len(items) == 40
    suite = load_suite(builtin_suites()["rubric"])
    assert not lint_items(suite)
    assert all(declare_check(one.name, (), one.arguments, BUILT_IN) for one in suite.checks)
