"""Words of the profile: how much of its prompt the judge was seen to go by."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.ablation.measures import MUTATION_SCORE
from pytest_judgesense.profile import Word, some

WORDS: Final = (
    Word("no sentence of the prompt noticed", some(MUTATION_SCORE.name, lambda score: score == 0)),
)
