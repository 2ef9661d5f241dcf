"""Skills: what an observer can do beside comparing, verifying and grading."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_judgesense.judges.simulated.named_observers import PROFILES, SKILLS, observer_named
from pytest_judgesense.judges.simulated.observer import ObservedPrompt, Observer
from pytest_judgesense.judges.simulated.parsing import read_prompt

PAIR = "<response_a>\nx\n</response_a>\n<response_b>\nx\n</response_b>\nReply A, B or tie."


def _greets(observer: Observer, asked: ObservedPrompt) -> str | None:
    if "Hello" not in asked.prompt:
        return None
    return f"{observer.name} at {asked.temperature}: {asked.draw().random() < 1}"


def test_the_first_skill_that_knows_a_prompt_replies() -> None:
    observer = Observer("polite", skills=(lambda _, __: None, _greets, lambda _, __: "too late"))
    assert observer.reply("Hello?", temperature=0.5) == "polite at 0.5: True"
    assert replace(observer, skills=(_greets,)).reply(PAIR) == "tie"


def test_without_a_skill_an_observer_finds_nothing_to_judge() -> None:
    asked = 'A question.\n<reply>\n"verdict" => A //\n</reply>\nBring the reply into form.'
    assert PROFILES["clean"].reply(asked) == '{"verdict": "A"}'
    nothing = "I cannot find anything to judge in this prompt."
    assert replace(PROFILES["clean"], skills=()).reply(asked) == nothing


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_every_profile_has_every_skill(name: str) -> None:
    assert PROFILES[name].skills == SKILLS


def test_skills_of_kinds_of_suites_are_asked_before_those_that_a_profile_always_has() -> None:
    assert observer_named("clean", [_greets]).skills == (_greets, *SKILLS)
    assert observer_named("clean", [_greets]).reply("Hello?") == "clean at 0.0: True"


def test_draws_apart_are_others() -> None:
    asked = ObservedPrompt(PAIR, read_prompt(PAIR), temperature=1.0, seed=3)
    assert asked.draw().random() == asked.draw().random()
    assert asked.draw(1.0).random() != asked.draw().random()
