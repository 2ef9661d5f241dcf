"""A kind is a value: what a built-in one does, it does under any name."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.judges.calls import first_calls, judgment_of
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.suites.finding import LintFinding, Rule
from pytest_judgesense.suites.items import plain_items
from pytest_judgesense.suites.kind import Kind, ParsedReply, ReplyForm
from pytest_judgesense.suites.loading import _load, load_suite
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.rules import lint_items
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Usage, Verdict

from .files import CONTENT, ITEMS, write_suite
from .known import KINDS, builtin_suites

JUDGE = judge_from_name("openai:gpt")


def _asked(suite: Suite) -> list[Any]:
    own = suite_for_judge(suite, JUDGE)
    judge = judge_for_suite(JUDGE, own)
    calls = first_calls(own, judge)
    return [judge.reply_schema, *((trial, calls(trial)) for trial in plan_trials(own))]


@pytest.mark.parametrize("name", sorted(builtin_suites()))
def test_a_kind_under_another_name_asks_the_same(tmp_path: Path, name: str) -> None:
    path = builtin_suites()[name]
    suite = load_suite(path, None, KINDS)
    renamed = replace(suite.form, name="copied")
    # Beside its own folder, a suite file may name stimuli of another suite.
    shutil.copytree(path.parent.parent, tmp_path / "suites")
    file = tmp_path / "suites" / path.parent.name / path.name
    text = file.read_text("utf-8")
    file.write_text(text.replace(f'kind = "{suite.kind}"', 'kind = "copied"'), "utf-8")
    copied = load_suite(file, None, {"copied": renamed})
    assert copied.kind == "copied"
    assert _asked(copied) == _asked(suite)
    assert lint_items(copied) == lint_items(suite)


def _loaded(folder: Path, **fields: Any) -> Suite:
    """The suite of the tests as one of a kind of its own."""
    _load.cache_clear()
    kind = Kind("mine", **{"items": plain_items, **fields})
    path = write_suite(folder, CONTENT.replace("paraphrase", "mine"), ITEMS)
    return load_suite(path, None, {"mine": kind})


def test_what_a_kind_objects_to_stands_in_the_error_of_the_suite_file(tmp_path: Path) -> None:
    def verify(form: Any) -> None:
        raise ValueError(f"{form.name} is too small")

    with pytest.raises(SuiteError, match="tiny is too small"):
        _loaded(tmp_path, verify=verify)


def _finding(suite: Suite) -> list[LintFinding]:
    return [LintFinding("error", "mine", f"suite {suite.name}", "is wrong", "x", "y", "z")]


def test_a_finding_at_loading_is_its_error_and_any_other_one_of_lint(tmp_path: Path) -> None:
    with pytest.raises(SuiteError) as caught:
        _loaded(tmp_path, rules=(Rule(_finding, loading=True),))
    error = caught.value
    assert (error.what, error.found, error.expected) == ("suite tiny is wrong", "x", "y")
    suite = _loaded(tmp_path, rules=(Rule(_finding),))
    assert _finding(suite)[0] in lint_items(suite)


def test_a_rule_that_only_a_labelled_suite_fulfils_is_put_aside_for_labelling(
    tmp_path: Path,
) -> None:
    rule = Rule(_finding)
    with pytest.raises(SuiteError, match="suite tiny is wrong"):
        _loaded(tmp_path, labelled=rule)
    kind = Kind("mine", plain_items, labelled=rule)
    assert load_suite(tmp_path / "tiny.suite.toml", None, {"mine": kind}, labelled=False).items


def test_a_reply_of_a_form_of_its_own_is_read_by_it(tmp_path: Path) -> None:
    def read(text: str, truncated: bool) -> ParsedReply:
        return Verdict("YES" if text == "aye" else "NO"), {"cut": truncated}

    suite = _loaded(tmp_path, reply=ReplyForm(read, "", ""))
    judgment = judgment_of(suite, JUDGE, plan_trials(suite)[0], Answer(Reply("aye", Usage(1, 1))))
    assert (judgment.outcome, judgment.detail) == (Verdict("YES"), {"cut": False})
