from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.prompts import judge_for_suite, render_messages, suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec, Prompts
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.suite import Suite, Template
from tests.suites.known import builtin_suites, load_suite

JUDGE = JudgeSpec("mine", "openai", "gpt")
ITEM = Item("i", "i", {"task": "Greet."}, ("Hello.", "Go."), "1", {"distance": 1})
TEMPLATE = Template("t", "{{task}}|{{a}}|{{b}}")


def _builtin(name: str) -> Suite:
    return load_suite(builtin_suites()[name])


def _with(**prompts: object) -> JudgeSpec:
    return replace(JUDGE, prompts=Prompts(**prompts))  # type: ignore[arg-type]


@pytest.fixture
def suite() -> Suite:
    return replace(_builtin("ladder"), system="Judge.", items=(ITEM,), templates=(TEMPLATE,))


@pytest.mark.parametrize(
    ("order", "user"), [("ab", "Greet.|Hello.|Go."), ("ba", "Greet.|Go.|Hello.")]
)
def test_the_order_decides_which_content_is_in_slot_a(suite: Suite, order: str, user: str) -> None:
    assert render_messages(suite, ITEM, TEMPLATE, order) == [  # type: ignore[arg-type]
        {"role": "system", "content": "Judge."},
        {"role": "user", "content": user},
    ]


def test_without_a_system_role_the_system_prompt_begins_the_user_turn(suite: Suite) -> None:
    # JudgeSense (arXiv 2604.23478).
    assert render_messages(suite, ITEM, TEMPLATE, "ab", system_role=False) == [
        {"role": "user", "content": "Judge.\n\nGreet.|Hello.|Go."}
    ]


@pytest.mark.parametrize("system_role", [True, False])
def test_without_a_system_prompt_there_is_the_user_turn_alone(
    suite: Suite, system_role: bool
) -> None:
    silent = replace(suite, system="")
    assert render_messages(silent, ITEM, TEMPLATE, "ab", system_role=system_role) == [
        {"role": "user", "content": "Greet.|Hello.|Go."}
    ]


def test_an_item_with_one_content_has_no_slots() -> None:
    item = Item("i", "i", {"text": "Some text."}, (), "3")
    messages = render_messages(_builtin("coherence"), item, Template("t", "<{{text}}>"), "ab")
    assert messages[-1] == {"role": "user", "content": "<Some text.>"}


def test_a_candidate_that_looks_like_a_placeholder_stays_a_candidate(suite: Suite) -> None:
    item = replace(ITEM, contents=("{{b}}", "{{task}}"))
    assert render_messages(suite, item, TEMPLATE, "ab")[-1]["content"] == "Greet.|{{b}}|{{task}}"


# --- a judge's own prompts ---------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(builtin_suites()))
def test_a_judge_without_prompts_is_asked_those_of_the_suite(name: str) -> None:
    suite = _builtin(name)
    own = suite_for_judge(suite, JUDGE)
    assert (own.templates, own.system) == (suite.templates, suite.system)


def test_a_judge_may_bring_its_system_prompt() -> None:
    assert suite_for_judge(_builtin("ladder"), replace(JUDGE, system="Mine.")).system == "Mine."
    assert suite_for_judge(_builtin("ladder"), replace(JUDGE, system="")).system == ""


@pytest.mark.parametrize("name", ["ladder", "vacuum"])
def test_a_pairwise_prompt_replaces_the_baseline_and_keeps_its_id(name: str) -> None:
    # Trials of the old and the new prompt pair up by their ids.
    own = suite_for_judge(_builtin(name), _with(pairwise="{{a}} or {{b}}?"))
    assert [(t.id, t.text) for t in own.templates] == [("baseline", "{{a}} or {{b}}?")]


def test_each_arm_of_a_criterion_suite_has_its_own_prompt() -> None:
    own = suite_for_judge(
        _builtin("criterion"), _with(pairwise="P{{a}}{{b}}", strict="S{{a}}{{b}}")
    )
    assert {t.condition["arm"]: t.text for t in own.templates} == {
        "baseline": "P{{a}}{{b}}",
        "strict": "S{{a}}{{b}}",
    }


def test_a_strict_prompt_alone_leaves_the_baseline_arm_as_it_is() -> None:
    suite = _builtin("criterion")
    own = suite_for_judge(suite, _with(strict="S{{a}}{{b}}"))
    assert own.templates[0] == suite.templates[0]
    assert own.templates[1].text == "S{{a}}{{b}}"


def test_pairwise_prompts_leave_paraphrase_suites_alone() -> None:
    suite = _builtin("preference")
    assert suite_for_judge(suite, _with(pairwise="{{a}}{{b}}", strict="{{a}}{{b}}")) == suite


def test_wordings_replace_the_templates_of_a_paraphrase_suite() -> None:
    wordings = ("One {{text}}", "Two {{text}}", "Three {{text}}")
    own = suite_for_judge(_builtin("coherence"), _with(paraphrases={"coherence": wordings}))
    assert [(t.id, t.text) for t in own.templates] == [
        ("t1", "One {{text}}"),
        ("t2", "Two {{text}}"),
        ("t3", "Three {{text}}"),
    ]
    assert {t.polarity for t in own.templates} == {"normal"}


def test_wordings_for_one_suite_leave_the_others_alone() -> None:
    suite = _builtin("factuality")
    judge = _with(paraphrases={"coherence": ("One {{text}}", "Two {{text}}")})
    assert suite_for_judge(suite, judge) == suite


def test_wordings_for_all_suites_yield_to_those_for_one() -> None:
    judge = _with(paraphrases={"*": ("x", "y"), "coherence": ("One {{text}}", "Two {{text}}")})
    assert suite_for_judge(_builtin("coherence"), judge).templates[0].text == "One {{text}}"


def test_a_preset_takes_the_wordings_of_its_suite() -> None:
    published = load_suite(builtin_suites()["coherence"], "published")
    judge = _with(paraphrases={"coherence": ("One {{text}}", "Two {{text}}")})
    assert len(suite_for_judge(published, judge).templates) == 2


def test_a_prompt_that_asks_for_an_unknown_field_lists_the_known_ones() -> None:
    judge = _with(paraphrases={"*": ("{{essay}}", "{{text}}")})
    with pytest.raises(UsageError) as caught:
        suite_for_judge(_builtin("coherence"), judge)
    assert caught.value.found == "{{essay}}"
    assert "{{text}}" in caught.value.expected
    assert "prompts.paraphrases = { coherence = [...] }" in caught.value.remedy


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("{{a}}", "{{a}}, but not {{b}}"),
        ("{a} or {b}", "no placeholder, which has two braces on each side, but not {{a}}, {{b}}"),
    ],
)
def test_a_pairwise_prompt_that_hides_a_candidate_is_an_error(prompt: str, found: str) -> None:
    with pytest.raises(UsageError, match="does not show what suite ladder compares") as caught:
        suite_for_judge(_builtin("ladder"), _with(pairwise=prompt))
    assert caught.value.found == found


@pytest.mark.parametrize("secret", ["label", "id", "distance", "level"])
def test_no_prompt_of_a_judge_can_ask_for_what_it_must_not_see(secret: str) -> None:
    with pytest.raises(UsageError):
        suite_for_judge(_builtin("ladder"), _with(pairwise=f"{{{{a}}}}{{{{b}}}}{{{{{secret}}}}}"))


@pytest.mark.parametrize(("declared", "asked"), [(16, 40), (256, 256)])
def test_a_judge_with_logprobs_has_tokens_enough_for_a_structured_reply(
    suite: Suite, declared: int, asked: int
) -> None:
    judge = JudgeSpec("j", "openai", "m", max_tokens=declared)
    assert judge_for_suite(replace(judge, logprobs=True), suite).max_tokens == asked
    assert judge_for_suite(judge, suite).max_tokens == declared
