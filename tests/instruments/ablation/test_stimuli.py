"""Suites of a prompt and what is left of it: which prompts they ask, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.api import measure
from pytest_judgesense.errors import SuiteError
from pytest_judgesense.instruments.ablation.stimuli import ABLATION as KIND
from pytest_judgesense.instruments.ablation.stimuli import LeaveOneOut, LeftOutTogether, SentText
from pytest_judgesense.judges.judge_table import judge_from_table
from pytest_judgesense.judges.prompts import render_messages, suite_for_judge
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.rules import lint_items
from pytest_judgesense.suites.suite import Suite
from tests.instruments.ablation.project import ABLATION, PROMPT, SUITE, SYSTEM, write_suite
from tests.suites.known import load_suite


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    write_suite(tmp_path)
    (tmp_path / "sentences.suite.toml").write_text(ABLATION, "utf-8")
    return load_suite(tmp_path / "sentences.suite.toml")


def prompts_of(suite: Suite) -> dict[str, tuple[str, ...]]:
    """By template, the messages of the first item."""
    item = suite.items[0]
    return {
        template.id: tuple(m["content"] for m in render_messages(suite, item, template, "ab"))
        for template in suite.templates
    }


def test_the_prompt_is_asked_whole_six_times_and_without_each_sentence_once(suite: Suite) -> None:
    whole = PROMPT.replace("{{text}}", "The number 0.")
    assert prompts_of(suite) == {
        "whole": (SYSTEM, whole),
        "s01": ("Be kind.", whole),
        "s02": ("You judge numbers.", whole),
        "s03": (SYSTEM, whole.replace("Care for evens.\n\n", "")),
        "s04": (SYSTEM, whole.replace("\nReply YES or NO.", "")),
    }
    trials, name = [trial.id for trial in plan_trials(suite)][:10], suite.items[0].id
    assert trials == [
        *(f"sentences/{name}/whole/ab/r{n}" for n in range(1, 7)),
        *(f"sentences/{name}/s0{n}/ab/r1" for n in range(1, 5)),
    ]
    assert plan_trials(suite)[6].condition == {"sentence": "s01"}
    assert lint_items(suite) == ()


def test_the_parts_stand_in_their_order_with_where_and_why(suite: Suite) -> None:
    assert [tuple(part) for part in KIND.expand.parts(suite)] == [  # type: ignore[union-attr]
        ("s01", "system", "You judge numbers.", "", False),
        ("s02", "system", "Be kind.", "", False),
        ("s03", "prompt", "Care for evens.", "", False),
        ("", "prompt", "Text: {{text}}", "holds {{text}}", False),
        ("s04", "prompt", "Reply YES or NO.", "", False),
    ]


def test_the_prompt_of_a_judge_takes_the_place_of_the_suites(suite: Suite) -> None:
    judge = judge_from_table(
        "mine",
        {
            "provider": "openai",
            "model": "m",
            "system": "",
            "prompts": {"paraphrases": {"texts": ["Rate {{text}} as YES or NO. Think. Be quick."]}},
        },
        Path(),
    )
    own = suite_for_judge(suite, judge)
    assert prompts_of(own) == {
        "whole": ("Rate The number 0. as YES or NO. Think. Be quick.",),
        "s01": ("Rate The number 0. as YES or NO. Be quick.",),
        "s02": ("Rate The number 0. as YES or NO. Think.",),
    }


def test_a_system_prompt_that_is_one_sentence_is_left_out_whole(tmp_path: Path) -> None:
    write_suite(tmp_path, SUITE.replace(SYSTEM, "You judge numbers."))
    (tmp_path / "sentences.suite.toml").write_text(ABLATION, "utf-8")
    suite = load_suite(tmp_path / "sentences.suite.toml")
    assert [len(messages) for messages in prompts_of(suite).values()] == [2, 1, 2, 2]
    assert lint_items(suite) == ()


def test_a_prompt_without_a_sentence_of_its_own_is_refused(tmp_path: Path) -> None:
    write_suite(tmp_path, SUITE.replace(PROMPT, "{{text}} YES or NO?").replace(SYSTEM, ""))
    (tmp_path / "sentences.suite.toml").write_text(ABLATION, "utf-8")
    suite = load_suite(tmp_path / "sentences.suite.toml")
    (finding, *_) = lint_items(suite)
    assert (finding.severity, finding.rule) == ("error", "no-sentence")
    assert finding.found == "'{{text}} YES or NO?' holds {{text}}"
    # That of a judge may have one.
    table = {"provider": "openai", "model": "m", "system": "Be fair."}
    judge = judge_from_table("mine", table, Path())
    assert lint_items(suite_for_judge(suite, judge)) == ()
    with pytest.raises(SuiteError, match="no sentence that could be left out"):
        measure("embedded:clean", suite)


def test_a_suite_takes_one_prompt_apart(tmp_path: Path) -> None:
    write_suite(tmp_path)
    template = '[[templates]]\nid = "{}"\ntext = "{{{{text}}}} {}. YES or NO?"\n'
    more = template.format("a", "Be fair") + template.format("b", "Be kind")
    (tmp_path / "sentences.suite.toml").write_text(ABLATION + more, "utf-8")
    with pytest.raises(SuiteError) as caught:
        load_suite(tmp_path / "sentences.suite.toml")
    assert "takes one prompt apart" in str(caught.value)


def test_sentences_of_requests_are_exchanged_where_all_requests_have_them(suite: Suite) -> None:
    requests = [f"Care. {n} Be {n % 2}.\n\nText: The number {n}.\nGo." for n in range(4)]
    masked = "Care. 1 Be 1.\n\nText: {{text}}\nGo."
    texts = (
        SentText("system", "Be fair. Stop.", ["Be fair. Stop."] * 4),
        SentText("system", "Go.", ["Go."] * 4),
        SentText("prompt", masked, requests),
    )
    expand = LeaveOneOut(2, texts)
    assert [(part.id, part.text, part.reason) for part in expand.parts(suite)] == [
        ("s01", "Be fair.", ""),
        ("s02", "Stop.", ""),
        ("", "Go.", "stands in several messages"),
        ("s03", "Care.", ""),
        ("", "1 Be 1.", "not the same in every request"),
        ("", "Text: {{text}}", "holds {{text}}"),
        ("s04", "Go.", ""),
    ]
    whole, first, second, third, fourth = expand(suite)
    assert (whole.times, whole.edits) == (2, ())
    assert first.edits == (("Be fair. ", ""),)
    assert second.edits == ((" Stop.", ""),)
    assert third.edits == (("Care. ", ""),)
    # The item stands before it, and the line break between them is in every request.
    assert fourth.edits == (("\nGo.", ""),)
    assert "Care." not in third.text
    assert "Be fair." in third.text


def test_a_part_in_the_middle_of_a_request_is_exchanged_with_its_blanks(suite: Suite) -> None:
    text = "One.\n\nTwo. Three {{text}}"
    message = SentText("prompt", text, [text.replace("{{text}}", f"{n}") for n in range(3)])
    _, _, second = LeaveOneOut(6, (message,))(suite)
    assert second.edits == (("\n\nTwo. ", "\n\n"),)


def test_parts_that_are_worth_it_are_asked_twice(suite: Suite) -> None:
    templates = LeaveOneOut(3, twice=frozenset({"s02"}))(suite)
    assert [template.times for template in templates] == [3, 1, 2, 1, 1]


def test_parts_left_out_together_are_exchanged_as_they_stand(suite: Suite) -> None:
    text = "One. Two.\n\nThree. {{text}}\nFour."
    requests = [text.replace("{{text}}", f"{number}") for number in range(3)]
    texts = (SentText("system", "Go. Stop.", ["Go. Stop."] * 3), SentText("system", text, requests))
    groups = (LeftOutTogether(("s02", "s03", "s04", "s06"), 3), LeftOutTogether(("s03",), 1))
    *_, several, single = LeaveOneOut(6, texts, together=groups)(suite)
    # Those that follow one another share their blanks.
    assert several.edits == ((" Stop.", ""), ("One. Two.\n\n", ""), ("\nFour.", ""))
    assert (several.id, several.times) == ("without-s02+s03+s04+s06", 3)
    assert several.condition == {"together": "s02+s03+s04+s06"}
    assert several.text == "Go.\n\nThree. {{text}}"
    assert single.edits == (("One. ", ""),)


def test_a_section_around_a_sentence_that_is_kept_is_not_left_out(tmp_path: Path) -> None:
    prompt = "# Rules\nBe fair. Be kind.\n\n# Task\nRate {{text}} as YES or NO."
    write_suite(tmp_path, SUITE.replace(PROMPT, prompt).replace(SYSTEM, "You judge."))
    (tmp_path / "sentences.suite.toml").write_text(ABLATION, "utf-8")
    suite = load_suite(tmp_path / "sentences.suite.toml")
    expand = LeaveOneOut()
    assert [part.text for part in expand.parts(suite) if part.id] == [
        "You judge.",
        "# Rules",
        "Be fair.",
        "Be kind.",
    ]
    assert expand.separable(suite, ["s01", "s02", "s03"]) == ("s01", "s03")
    every = ("s01", "s02", "s03", "s04")
    assert expand.separable(suite, every) == every
    *_, without = LeaveOneOut(together=(LeftOutTogether(every, 3),))(suite)
    assert (without.system, without.text) == ("", "# Task\nRate {{text}} as YES or NO.")
