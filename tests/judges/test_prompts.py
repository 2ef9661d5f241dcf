from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.prompts import (
    judge_for_suite,
    render_messages,
    sent_prompts,
    suite_for_judge,
    unsent_error,
    unsent_notices,
    unsent_prompts,
)
from pytest_judgesense.judges.spec import JudgeSpec, Prompts
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.suite import Suite, Template
from tests.suites.known import builtin_suites, load_suite, of_known_kinds

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


def _one_wording(name: str) -> Suite:
    suite = _builtin(name)
    return replace(suite, templates=suite.templates[:1])


def test_pairs_under_one_wording_are_asked_the_pairwise_prompt() -> None:
    own = suite_for_judge(_one_wording("preference"), _with(pairwise="{{a}}{{b}}"))
    (template,) = own.templates
    assert (template.id, template.text) == (_builtin("preference").templates[0].id, "{{a}}{{b}}")


def test_wordings_by_the_name_of_a_suite_come_before_the_pairwise_prompt() -> None:
    judge = _with(pairwise="{{a}}{{b}}", paraphrases={"preference": ("{{b}} {{a}}",)})
    own = suite_for_judge(_one_wording("preference"), judge)
    assert [t.text for t in own.templates] == ["{{b}} {{a}}"]


def test_one_wording_replaces_one_and_not_several() -> None:
    judge = _with(paraphrases={"coherence": ("One {{text}}",)})
    own = suite_for_judge(_one_wording("coherence"), judge)
    assert [t.text for t in own.templates] == ["One {{text}}"]
    with pytest.raises(UsageError, match="has one wording, and suite coherence compares") as caught:
        suite_for_judge(_builtin("coherence"), judge)
    assert caught.value.found == f"1 wording in place of {len(_builtin('coherence').templates)}"


# Which prompts are sent where: by the table of docs/judges.md.
@pytest.mark.parametrize(
    ("prompts", "name", "sent"),
    [
        ({"pairwise": "{{a}}{{b}}"}, "ladder", ["prompts.pairwise"]),
        *(
            case
            for name in of_known_kinds("debate")
            for case in (
                ({"pairwise": "{{a}}{{b}}"}, name, []),
                ({"paraphrases": {name: ("x", "y")}}, name, [f"prompts.paraphrases.{name}"]),
                ({"paraphrases": {"*": ("x", "y")}}, name, []),
            )
        ),
        ({"pairwise": "{{a}}{{b}}"}, "preference", []),
        ({"pairwise": "{{a}}{{b}}"}, "coherence", []),
        ({"pairwise": "{{a}}{{b}}"}, "temperature", []),
        ({"strict": "{{a}}{{b}}"}, "vacuum", []),
        ({"strict": "{{a}}{{b}}"}, "criterion", ["prompts.strict"]),
        (
            {"pairwise": "{{a}}{{b}}", "strict": "{{a}}{{b}}"},
            "criterion",
            ["prompts.pairwise", "prompts.strict"],
        ),
        ({"paraphrases": {"*": ("x", "y")}}, "coherence", ["prompts.paraphrases"]),
        ({"paraphrases": {"*": ("x", "y")}}, "vacuum", []),
        ({"paraphrases": {"vacuum": ("x", "y")}}, "vacuum", []),
        (
            {"paraphrases": {"*": ("x", "y"), "coherence": ("x", "y")}},
            "coherence",
            ["prompts.paraphrases.coherence"],
        ),
    ],
)
def test_which_prompts_are_sent(prompts: dict[str, object], name: str, sent: list[str]) -> None:
    assert sent_prompts(_builtin(name), _with(**prompts)) == sent


def test_what_no_suite_sends_is_said_with_what_each_suite_sends() -> None:
    judge = _with(pairwise="{{a}}{{b}}", paraphrases={"factuality": ("x",)})
    suites = [_builtin("preference"), _builtin("coherence")]
    unsent = unsent_prompts(judge, suites)
    assert unsent == ["prompts.pairwise", "prompts.paraphrases.factuality"]
    error = unsent_error(judge, suites, unsent)
    of_preference, of_coherence = (len(suite.templates) for suite in suites)
    assert error.found == (
        "prompts.pairwise, prompts.paraphrases.factuality; "
        f"preference shows pairs under {of_preference} wordings of its own; "
        f"coherence shows one text a call under {of_coherence} wordings of its own"
    )
    assert "prompts.paraphrases = { preference = [...] }" in error.remedy
    assert "[tool.judgesense.judges.mine]" in error.remedy
    assert unsent_prompts(judge, [*suites, _builtin("vacuum"), _builtin("factuality")]) == []


def test_a_suite_that_sends_none_of_a_judges_prompts_says_so() -> None:
    judge = _with(pairwise="{{a}}{{b}}")
    (notice,) = unsent_notices(judge, _builtin("coherence"))
    assert notice.startswith("prompts.pairwise of judge mine not sent: coherence shows one text")
    assert list(unsent_notices(judge, _builtin("vacuum"))) == []
    assert list(unsent_notices(JUDGE, _builtin("coherence"))) == []


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


@pytest.mark.parametrize(
    ("changes", "budget"),
    [
        ({}, 20),  # the default of 256 is no declaration
        ({"max_tokens": 16}, 16),
        ({"max_tokens": 1024}, 1024),  # a reasoning judge that says so by its budget
        ({"reasoning": "low"}, 256),
    ],
)
def test_most_tokens_is_the_budget_of_judges_that_do_not_reason(
    suite: Suite, changes: dict[str, object], budget: int
) -> None:
    judge = replace(JUDGE, **changes)  # type: ignore[arg-type]
    assert judge_for_suite(judge, replace(suite, most_tokens=20)).max_tokens == budget


@pytest.mark.skipif("factuality" not in builtin_suites(), reason="its room is not there")
def test_a_preset_may_ask_with_a_system_prompt_and_a_temperature_of_its_own() -> None:
    path = builtin_suites()["factuality"]
    whole, paper = load_suite(path), load_suite(path, "paper")
    assert paper.system != whole.system
    assert (whole.temperature, paper.temperature, paper.most_tokens) == (None, 0, 20)
    assert {t.id for t in whole.templates}.isdisjoint(t.id for t in paper.templates)
