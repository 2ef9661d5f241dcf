"""The built-in profiles of the embedded judge, and what all of them can do for any suite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pytest_judgesense.errors import unknown_name
from pytest_judgesense.judges.simulated import grading
from pytest_judgesense.judges.simulated.observer import Observer, Skill

SKILLS: Final[tuple[Skill, ...]] = (grading.repair, grading.judge_answers)

_OBSERVERS: Final = (
    Observer("clean", sensitivity=3.0, tie_criterion=1.5, strict_shift=0.5, heat=0.004),
    Observer(
        "mixed",
        sensitivity=1.2,
        tie_criterion=0.1,
        strict_shift=0.95,
        slot_bias=0.28,
        surface_preference=1.5,
        wording_sensitivity=0.2,
        lapse_rate=0.02,
        heat=0.008,
        style="Answer: {}",
    ),
    Observer(
        "positional",
        sensitivity=0.8,
        tie_criterion=0.3,
        strict_shift=0.8,
        slot_bias=1.6,
        surface_preference=0.3,
        wording_sensitivity=0.1,
        heat=0.006,
        style="**{}**",
    ),
    Observer(
        "noisy",
        sensitivity=0.8,
        tie_criterion=0.5,
        strict_shift=0.5,
        slot_bias=0.1,
        surface_preference=0.4,
        wording_sensitivity=0.9,
        lapse_rate=0.1,
        format_error_rate=0.05,
        heat=0.012,
        style="My verdict: {}.",
    ),
)
PROFILES: Final = {observer.name: replace(observer, skills=SKILLS) for observer in _OBSERVERS}


def observer_named(profile: str, skills: Sequence[Skill] = ()) -> Observer:
    """The built-in profile of that name.

    ``skills``, of kinds of suites with prompts of their own, come before those that it always has.

    Raises:
        UsageError: there is none; it says which there are.
    """
    if profile not in PROFILES:
        raise unknown_name("profile of the embedded judge", profile, PROFILES)
    known = PROFILES[profile]
    return replace(known, skills=(*skills, *known.skills)) if skills else known
