"""Words of the profile: how much of its prompt the judge was seen to go by."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.profile import Word, some
from pytest_judgesense.instruments.ablation.measures import MUTATION_SCORE

WORDS: Final = (
    Word("no sentence of the prompt noticed", some(MUTATION_SCORE.name, lambda score: score == 0)),
)
