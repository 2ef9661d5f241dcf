"""The embedded judge finds the passages that it knows, and loses those that it should."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_judgesense.instruments.depth.record_places import BREAK
from pytest_judgesense.instruments.depth.simulated import find_passage, place_in
from pytest_judgesense.judges.simulated.evidence import text_digest
from pytest_judgesense.judges.simulated.named_observers import observer_named
from pytest_judgesense.judges.simulated.observer import Observer
from tests.suites.known import builtin_suites, load_suite

SUITE = load_suite(builtin_suites()["depth"])
ITEMS = {item.id: item for item in SUITE.items}
PROMPT = SUITE.templates[0].text


def observer(**parameters: float) -> Observer:
    return replace(Observer("mine", **parameters), skills=(find_passage,))


def prompt_of(item: str) -> str:
    fields = ITEMS[item].fields
    return PROMPT.replace("{{record}}", fields["record"]).replace(
        "{{question}}", fields["question"]
    )


@pytest.mark.parametrize("number", range(1, 61, 7))
def test_a_passage_is_found_wherever_it_stands_and_not_seen_elsewhere(number: int) -> None:
    for item in (name for name in ITEMS if name.startswith(f"depth-{number:02}.")):
        assert observer().reply(prompt_of(item)) == ITEMS[item].label, item


def test_a_passage_is_overlooked_in_the_middle_of_what_is_long() -> None:
    forgetful = observer(lost_middle=1.0)
    for length in (2000, 16_000):
        for place in ("start", "end"):
            assert forgetful.reply(prompt_of(f"depth-01.{place}-{length}")) == "YES"
    assert forgetful.reply(prompt_of("depth-01.middle-16000")) == "NO"
    # At 2,000 tokens an eighth of the chance is left: of 60 passages 7.5, with a deviation of 2.6.
    replies = [forgetful.reply(prompt_of(item)) for item in ITEMS if item.endswith(".middle-2000")]
    assert 1 <= replies.count("NO") <= 15
    assert observer_named("mixed").lost_middle == 0.5
    assert observer_named("clean").lost_middle == 0.0


def test_a_place_is_a_share_of_what_stands_around_the_passage() -> None:
    known = [text_digest("The passage.")]
    parts = ["a" * 100, "The passage.", "b" * 100]
    assert place_in(BREAK.join(parts), known) == pytest.approx(0.5)
    assert place_in(BREAK.join(parts[1:]), known) == 0.0
    assert place_in(BREAK.join(parts[:2]), known) == 1.0
    assert place_in("The passage.", known) == 0.0
    assert place_in(BREAK.join(parts[::2]), known) is None


def test_a_question_that_is_not_known_is_for_other_skills() -> None:
    prompt = prompt_of("depth-01.start-2000")
    other = prompt.replace(ITEMS["depth-01.start-2000"].fields["question"], "Is it late?")
    assert observer().reply(prompt) == "YES"
    assert find_passage.__module__ not in observer().reply(other)
    plain = Observer("plain")
    assert observer().reply(other) == plain.reply(other)
