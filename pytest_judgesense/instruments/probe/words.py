"""Words of the profile: each names a probe that moves the judge, with Holm over all probes."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.probe.measures import (
    BY_NAMES,
    FOUND,
    NAMES_EFFECT,
    PROBE_EFFECT,
    PROFILED,
)
from pytest_judgesense.profile import Estimates, Word, pooled


def _moved_by(probe: str) -> Word:
    def holds(estimates: Estimates) -> bool:
        of_probe = pooled(estimates, PROBE_EFFECT.name, probe=probe)
        return any(FOUND in estimate.flags for estimate in of_probe)

    return Word(PROFILED[probe], holds)


def _by_names(estimates: Estimates) -> bool:
    return any(FOUND in e.flags for e in estimates if e.measure == NAMES_EFFECT.name)


WORDS: Final = (*map(_moved_by, PROFILED), Word(BY_NAMES, _by_names))
