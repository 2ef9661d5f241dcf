"""A kind is a value: what a built-in one does, it does under any name."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import measure
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.errors import SuiteError, UsageError
from pytest_judgesense.judges.calls import first_calls, judgment_of
from pytest_judgesense.judges.judge_table import declared_judge
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.questions.recordings.batch import requests_of
from pytest_judgesense.suites.finding import LintFinding, Rule
from pytest_judgesense.suites.from_lines import plain_items
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.loading import _load, load_suite
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.rules import lint_items
from pytest_judgesense.suites.stimuli import Stimuli
from pytest_judgesense.suites.suite import Kind, ParsedReply, ReplyForm, Settling, Suite, Template
from pytest_judgesense.trial import Judgment, Usage, Verdict

from .files import CONTENT, ITEMS, write_suite
from .known import KINDS, builtin_suites

JUDGE = judge_from_name("openai:gpt")


def _asked(suite: Suite) -> list[Any]:
    own = suite_for_judge(suite, JUDGE)
    judge = judge_for_suite(JUDGE, own)
    calls = first_calls(own, judge)
    asked = (
        # A form that is made for a suite has a reader of its own; what it asks for is the same.
        (trial, [replace(call, form=call.form and call.form[1:]) for call in calls(trial)])
        for trial in plan_trials(own)
    )
    return [judge.reply_schema, *asked]


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


def test_items_and_templates_may_be_asked_several_times(tmp_path: Path) -> None:
    def items(stimuli: Stimuli) -> list[Item]:
        first, *others = plain_items(stimuli)
        return [replace(first, times=2), *others]

    def whole_and_half(suite: Suite) -> tuple[Template, ...]:
        (first, *_) = suite.templates
        half = replace(first, id="half", text="{{text}}", edits=(("Is this right? ", ""),))
        return replace(first, times=3), half

    suite = _loaded(tmp_path, items=items, expand=whole_and_half)
    counts = Counter((trial.item, trial.template) for trial in plan_trials(suite))
    assert counts == {
        ("one", "t1"): 6,
        ("one", "half"): 2,
        **{(item, "t1"): 3 for item in ("two", "three")},
        **{(item, "half"): 1 for item in ("two", "three")},
    }
    assert len({trial.id for trial in plan_trials(suite)}) == sum(counts.values())
    # The prompts of a judge come before what a kind makes of them, and are made of once.
    own = suite_for_judge(suite, replace(JUDGE, system="Be brief."))
    assert [template.id for template in own.templates] == ["t1", "half"]
    assert suite_for_judge(own, JUDGE).templates == own.templates
    assert suite_for_judge(suite, JUDGE) is suite


def _derived(folder: Path, text: str, **fields: Any) -> Suite:
    _load.cache_clear()
    (folder / "pairs").mkdir(exist_ok=True)
    write_suite(folder / "pairs", CONTENT, ITEMS)
    (folder / "mine.suite.toml").write_text(text, "utf-8")
    kind = Kind("mine", **{"items": plain_items, "derived": True, **fields})
    return load_suite(folder / "mine.suite.toml", None, {**KINDS, "mine": kind})


FROM = """
schema = "judgesense/suite/1"
name = "mine"
kind = "mine"
[stimuli]
from = "pairs/tiny.suite.toml"
"""


def test_a_suite_that_is_from_another_has_its_items_and_first_prompt(tmp_path: Path) -> None:
    suite = _derived(tmp_path, FROM)
    source = load_suite(tmp_path / "pairs" / "tiny.suite.toml", None, KINDS)
    assert suite.items == source.items
    assert suite.templates == source.templates[:1]
    assert (suite.space, suite.system, suite.source) == (source.space, source.system, "tiny")
    assert source.path in suite.files
    # The prompts that a judge has for the source are those of this suite.
    paraphrases = {"tiny": ("Is it? {{text}}", "It is? {{text}}")}
    judge = replace(JUDGE, prompts=replace(JUDGE.prompts, paraphrases=paraphrases))
    (template,) = suite_for_judge(suite, judge).templates
    assert (template.id, template.text) == ("t1", "Is it? {{text}}")


def test_what_cannot_be_from_another_suite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"has \[stimuli\] from") as caught:
        _derived(tmp_path, FROM.replace('kind = "mine"', 'kind = "paraphrase"'))
    assert caught.value.found == 'kind = "paraphrase", which has items of its own'
    with pytest.raises(SuiteError, match="cannot be read"):
        _derived(tmp_path, FROM.replace("tiny", "absent"))
    with pytest.raises(SuiteError, match="has items twice"):
        _derived(tmp_path, FROM + 'file = "mine.csv"\n')
    with pytest.raises(SuiteError, match="cannot be made from") as caught:
        _derived(tmp_path, FROM.replace("pairs/tiny", "mine"))
    assert "itself made from another" in str(caught.value.found)


def test_texts_that_follow_from_answers_keep_their_trials(tmp_path: Path) -> None:
    def settled(
        suite: Suite, judgments: Sequence[Judgment], sent: Mapping[str, Sequence[str]]
    ) -> Suite:
        # Of the first trials alone, and nothing: a function that makes no request.
        assert sent == {"tiny/one/t1/ab/r1": [], "tiny/one/t2/ab/r1": []}
        right = {j.trial.item for j in judgments if j.verdict == "YES"}
        first, *others = suite.items
        texts = {"text": f"It is {first.id in right}."}
        return replace(suite, items=(first, *(replace(item, fields=texts) for item in others)))

    settling = Settling(lambda trial: trial.item == "one", settled)
    path = write_suite(tmp_path, CONTENT, ITEMS)
    suite = load_suite(path, None, KINDS)
    suite = replace(suite, form=replace(suite.form, settling=settling))
    asked: list[str] = []

    def judge(messages: list[dict[str, str]]) -> str:
        asked.append(messages[-1]["content"])
        return "YES"

    for mode, count in (("record", 6), ("replay", 0)):
        asked.clear()
        measure(declared_judge("mine", judge), suite, mode=mode, cassettes=tmp_path)
        assert len(asked) == count
    recorded = read_exchanges(tmp_path / "mine" / "tiny.jsonl")
    texts = {e.trial: json.loads(e.request.body)["messages"][-1]["content"] for e in recorded}
    # The first trials have the text as loaded, the others the one that followed.
    assert texts["tiny/one/t1/ab/r1"] == "Is this right? Ice floats."
    assert texts["tiny/two/t1/ab/r1"] == "Is this right? It is True."
    # A request that depends on an answer is in no batch.
    with pytest.raises(UsageError, match="depends on answers to it"):
        next(requests_of(JUDGE, suite))
