"""What the embedded judge knows of built-in texts, and in which form it replies."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_judgesense.judges.simulated import key
from pytest_judgesense.judges.simulated.observer import Observer
from pytest_judgesense.judges.simulated.parsing import written
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Verdict
from scripts import update_key
from tests.suites.known import builtin_suites, load_suite

PLAIN = Observer("plain")
YES_NO = DecisionSpace(("YES", "NO"))


def pair(a: str, b: str) -> str:
    return (
        "<request>\nWhich river flows through Vienna?\n</request>\n"
        f"<response_a>\n{a}\n</response_a>\n"
        f"<response_b>\n{b}\n</response_b>\nReply with A or B and nothing else."
    )


def test_the_key_is_what_the_script_makes_of_the_suites() -> None:
    assert json.loads(update_key.KEY.read_text("utf-8")) == update_key.key_of_suites()


def test_the_key_holds_digests_and_numbers_alone() -> None:
    for digest, number in json.loads(update_key.KEY.read_text("utf-8")).items():
        assert re.fullmatch("[0-9a-f]{16}", digest)
        assert -1 <= number <= 5  # five elements of a ladder are the most, a lead may be negative


def test_a_known_text_is_judged_by_the_key_and_an_unknown_one_by_its_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer, echo = "The Danube.", "Vienna has a river that flows."
    assert PLAIN.reply(pair(answer, echo)) == "B"  # which takes up the words of the request
    known = {key.text_digest(answer): 3.0, key.text_digest(echo): 0.0}
    monkeypatch.setattr(key, "_key", lambda: known)
    assert (PLAIN.reply(pair(answer, echo)), PLAIN.reply(pair(echo, answer))) == ("A", "B")
    # White space apart it is the same text; with another word it is not.
    assert PLAIN.reply(pair(" The  Danube.\n", echo)) == "A"
    assert PLAIN.reply(pair("The Danube, yes.", echo)) == "B"


def test_errors_and_levels_are_known_too(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {key.text_digest("It is."): 0.0, key.text_digest("It was."): 2.0}
    monkeypatch.setattr(key, "_key", lambda: known | {key.text_digest("A. B."): 0.75})
    asked = "<question>\nIs it?\n</question>\n<answer>\n{}\n</answer>\nReply with YES or NO."
    assert PLAIN.reply(asked.format("It is.")) == "YES"
    assert PLAIN.reply(asked.format("It was.")) == "NO"
    # 0.75 of the way from 1 to 5.
    assert PLAIN.reply("<text>\nA. B.\n</text>\nGrade it from 1 to 5.") == "4"


@pytest.mark.parametrize(
    ("instruction", "reply"),
    [
        ("Reply with YES or NO and nothing else.", None),
        ('a JSON object: {"verdict": "YES"} or {"verdict": "NO"}', '{"verdict": "YES"}'),
        ("in double square brackets: [[YES]] or [[NO]].", "[[YES]]"),
        (
            'Then write "Verdict: YES" on the last line.',
            "That is how it looks to me.\nVerdict: YES",
        ),
        ("The first line of your reply holds YES or NO alone.", "YES"),
    ],
)
def test_the_form_that_a_prompt_asks_for_is_kept_and_read(
    instruction: str, reply: str | None
) -> None:
    assert written("YES", instruction) == reply
    if reply:
        assert parse_reply(reply, YES_NO) == Verdict("YES")


@pytest.mark.parametrize("name", ["coherence", "factuality", "preference", "relevance"])
def test_every_wording_of_the_four_tasks_is_answered_in_a_form_that_is_read(name: str) -> None:
    suite = load_suite(builtin_suites()[name])
    for template in suite.templates:
        instruction = " ".join(template.text.split())
        for label in suite.space.labels:
            said = written(label, instruction) or label
            assert parse_reply(said, suite.space) == Verdict(label), template.id


def test_no_text_is_known_in_two_ways() -> None:
    # The script ends where two suites say different things of one text.
    assert len(update_key.key_of_suites()) > 700
    assert Path(update_key.CHECKOUT, "suites").is_dir()
