"""What a session compares a judge with: no session."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.earlier.baseline import SavedSuite, baseline_text, stimuli_digest
from pytest_judgesense.errors import JudgesenseError, UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measurement import Measurement
from pytest_judgesense.plugin.against_baseline import SavedBaseline
from pytest_judgesense.plugin.declared_check import DeclaredCheck
from pytest_judgesense.plugin.settings import resolve
from tests.checks.known import declare_check
from tests.report.replaying import replayed, suite_named

ALONE = {"clean"}


@pytest.fixture(scope="module")
def now() -> Measurement:
    """The judge ``clean`` on the suite ``coherence``."""
    return replayed("clean", "coherence")


@pytest.fixture(scope="module")
def check(now: Measurement) -> DeclaredCheck:
    return DeclaredCheck(now.judge, now.suite, declare_check("no_regression", ("jss",), {}))


@pytest.fixture
def saved(now: Measurement, tmp_path: Path) -> Path:
    """A baseline of the same."""
    part = SavedSuite(now.sheet, stimuli_digest(now.suite), now.cell)
    path = tmp_path / "b.json"
    path.write_text(baseline_text([part], 0, {}), encoding="utf-8")
    return path


def of_file(path: Path) -> SavedBaseline:
    return SavedBaseline(path, 0, BUILT_IN)


def test_the_file_gives_back_what_was_measured(
    saved: Path, check: DeclaredCheck, now: Measurement
) -> None:
    then = of_file(saved).then(check, ALONE)
    assert then.side.estimates == now.estimates
    changes = of_file(saved).changes(check, then, now)
    assert changes.summary == ""


def test_one_judge_is_held_against_the_only_one_whatever_its_name(
    saved: Path, check: DeclaredCheck, now: Measurement
) -> None:
    heir = check._replace(judge=replace(now.judge, name="heir"))
    then = of_file(saved).then(heir, {"heir"})
    assert then.judge == "clean"
    hotter = replace(now, judge=replace(heir.judge, temperature=0.5))
    lines = "\n".join(of_file(saved).changes(heir, then, hotter).lines)
    assert "decoding: temperature 0.0 -> 0.5" in lines


def test_of_several_judges_each_is_held_against_its_own_name(
    saved: Path, check: DeclaredCheck, now: Measurement
) -> None:
    other = check._replace(judge=replace(now.judge, name="other"))
    both = {"clean", "other"}
    assert of_file(saved).then(check, both).judge == "clean"
    with pytest.raises(JudgesenseError, match=r"b\.json has no judge 'other'") as caught:
        of_file(saved).then(other, both)
    assert caught.value.found == "clean"


def test_renamed_labels_are_told_before_other_items(saved: Path, check: DeclaredCheck) -> None:
    suite = check.suite
    renamed = replace(suite, space=replace(suite.space, labels=("GOOD", "BAD")))
    with pytest.raises(UsageError, match="other labels now than in the baseline"):
        of_file(saved).then(check._replace(suite=renamed), ALONE)


def test_another_suite_is_an_error_that_lists_those_of_the_file(
    saved: Path, check: DeclaredCheck
) -> None:
    other = check._replace(suite=suite_named("vacuum"))
    with pytest.raises(JudgesenseError, match=r"b\.json has no suite vacuum of judge") as caught:
        of_file(saved).then(other, ALONE)
    assert caught.value.found == "coherence"


def test_another_design_is_an_error_that_shows_both_digests(
    saved: Path, check: DeclaredCheck, now: Measurement
) -> None:
    twice = replace(now.suite, replicates=now.suite.replicates + 1)
    with pytest.raises(JudgesenseError, match="suite coherence is not the one that") as caught:
        of_file(saved).then(check._replace(suite=twice), ALONE)
    digests = stimuli_digest(now.suite), stimuli_digest(twice)
    assert caught.value.found == "suite digest {} in the baseline, {} now".format(*digests)


def _of_another_schema(text: str) -> str:
    return text.replace("judgesense/baseline/1", "judgesense/baseline/2")


def _with_a_wrong_judgment(text: str) -> str:
    file = json.loads(text)
    file["judges"][0]["suites"][0]["judgments"][3]["order"] = "sideways"
    return json.dumps(file)


def _cut_off(text: str) -> str:
    return text[:-9]


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (_of_another_schema, ("judgesense/baseline/2", "judgesense/baseline/1")),
        (_with_a_wrong_judgment, ("judgment 4", "'order' is wrong")),
        (_cut_off, ("b.json cannot be read",)),
    ],
)
def test_a_damaged_file_is_an_error_that_names_the_place(
    saved: Path, damage: Callable[[str], str], told: tuple[str, ...], check: DeclaredCheck
) -> None:
    saved.write_text(damage(saved.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(JudgesenseError) as caught:
        of_file(saved).then(check, ALONE)
    assert [words for words in told if words not in str(caught.value)] == []


def test_a_file_that_is_not_there_is_an_error_that_says_how_to_write_it(
    tmp_path: Path, check: DeclaredCheck
) -> None:
    with pytest.raises(JudgesenseError, match=r"there is no file .*c\.json") as caught:
        of_file(tmp_path / "c.json").then(check, ALONE)
    assert caught.value.remedy.startswith("write one: pytest --judge-save-baseline PATH")


def test_a_measure_without_a_direction_is_refused() -> None:
    with pytest.raises(UsageError, match="no direction"):
        declare_check("no_regression", ("tie_rate",), {})


def test_a_revision_without_a_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pytest.UsageError, match="names no revision; expected git:REF"):
        resolve({"judge-baseline": "git:"}, tmp_path, tmp_path)
