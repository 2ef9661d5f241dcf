"""The kinds of suites that the project itself brings, and how those of plugins join them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pytest_judgesense.instruments.debate.stimuli import DEBATE
from pytest_judgesense.instruments.ladder.stimuli import CRITERION, LADDER
from pytest_judgesense.instruments.paraphrase.stimuli import PARAPHRASE
from pytest_judgesense.instruments.temperature.stimuli import TEMPERATURE
from pytest_judgesense.instruments.vacuum.stimuli import VACUUM
from pytest_judgesense.suites.kind import Kind

KINDS: Final = (PARAPHRASE, VACUUM, LADDER, CRITERION, DEBATE, TEMPERATURE)


def known_kinds(added: Iterable[Kind] = ()) -> Mapping[str, Kind]:
    """The built-in kinds and those that plugins add, by name."""
    return {kind.name: kind for kind in (*KINDS, *added)}
