"""The measures of a judge on its prompt, whole and without each of its parts, and their words."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.profile import Word, some
from pytest_judgesense.measures.definition import Brief, Measure

MUTATION_SCORE: Final = Measure(
    "mutation_score",
    "higher",
    "sentence",
    "the suite notices that the sentence is left out of the prompt",
    gate="floor",
    suite=None,
    sentence="{count} of {n} sentences of the prompt are noticed when they are left out",
    decides=True,
    brief=Brief("mutation score"),
)
SENTENCE_EFFECT: Final = Measure(
    "sentence_effect",
    "construct",
    "item",
    "verdicts that differ without the sentence, beyond the judge's own noise",
    quiet=True,
)
OWN_NOISE: Final = Measure(
    "own_noise",
    "lower",
    "item",
    "two replies to the same whole prompt differ",
    gate="ceiling",
    best="units",
    sentence="two replies to one prompt differ in {value} of pairs",
)


WORDS: Final = (
    Word("no sentence of the prompt noticed", some(MUTATION_SCORE.name, lambda score: score == 0)),
)
