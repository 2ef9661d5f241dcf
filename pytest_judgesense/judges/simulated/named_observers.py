"""The built-in profiles of the embedded judge, and the skills that all of them have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.errors import unknown_name
from pytest_judgesense.judges.simulated import grading
from pytest_judgesense.judges.simulated.observer import Observer, Skill

SKILLS: Final[tuple[Skill, ...]] = (grading.repair, grading.judge_answers)

# In the order of the parameters of `Observer`: s, c, c', b, f, w, the rates of lapses and of format
# errors, the heat and the style; then, of grades on a rubric, leniency, halo and length preference;
# and the chance to obey a text.
_PARAMETERS: Final[Mapping[str, tuple[Any, ...]]] = {
    "clean": (3.0, 1.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.004, "{}"),
    "mixed": (1.2, 0.1, 0.95, 0.28, 1.5, 0.2, 0.02, 0.0, 0.008, "Answer: {}", 0.4, 0.9, 0.6, 0.3),
    "positional": (0.8, 0.3, 0.8, 1.6, 0.3, 0.1, 0.0, 0.0, 0.006, "**{}**", 2.2),
    "noisy": (0.8, 0.5, 0.5, 0.1, 0.4, 0.9, 0.1, 0.05, 0.012, "My verdict: {}."),
}
PROFILES: Final = {
    name: replace(Observer(name, *parameters), skills=SKILLS)
    for name, parameters in _PARAMETERS.items()
}


def observer_named(profile: str, skills: Sequence[Skill] = ()) -> Observer:
    """The built-in profile of that name.

    ``skills``, of kinds of suites with other prompts, come before those that it always has.

    Raises:
        UsageError: unknown profile; the error lists the known ones.
    """
    if profile not in PROFILES:
        raise unknown_name("profile of the embedded judge", profile, PROFILES)
    observer = PROFILES[profile]
    return replace(observer, skills=(*skills, *observer.skills)) if skills else observer
