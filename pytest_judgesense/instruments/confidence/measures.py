"""The measures of stated confidence, and what is said of them."""

from __future__ import annotations

from functools import partial
from typing import Final

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.measures.definition import Brief, Evidence, Measure
from pytest_judgesense.text.shown_change import ShownChange

# Flags of an estimate whose interval lies on one side of 0.
OVERCONFIDENT: Final = "overconfident"
UNDERCONFIDENT: Final = "underconfident"
_NEEDS: Final = (
    'labels: columns = { label = "..." } under [stimuli]; and a judge that states `confidence` or '
    "`probabilities`"
)


def overconfidence_words(change: ShownChange) -> str:
    """What a judge says of itself, by its overconfidence."""
    size = f"{100 * abs(change.value):.0f} points"
    return change.words(
        above=f"the judge's confidence is {size} above its share of right verdicts",
        below=f"the judge's confidence is {size} below its share of right verdicts",
        neither="the judge's confidence is not visibly off its share of right verdicts, by "
        f"{100 * change.value:+.0f} points",
    )


def _sentence(estimate: Estimate) -> str:
    return overconfidence_words(ShownChange.of(estimate))


_stated: Final = partial(Measure, unit="call", soft=True, needs=_NEEDS)
OVERCONFIDENCE: Final = _stated(
    "overconfidence",
    "lower",
    meaning="mean of the stated confidence less the share of right verdicts",
    gate="ceiling",
    bounds=(0.0, 1.0),
    margin=0.05,
    evidence=Evidence("wrong verdicts, the surest first", whole=True),
    phrased=_sentence,
    brief=Brief("overconfidence"),
)
# Neither is gated: a verdict that turns right where the judge was unsure of it raises the score.
BRIER_SCORE: Final = _stated(
    "brier_score",
    "construct",
    meaning="squared distance of the stated confidence from what came true; 0 is best",
)
BRIER_RESOLUTION: Final = _stated(
    "brier_resolution",
    "construct",
    meaning="how far the stated confidence tells right verdicts from wrong ones (Murphy)",
)
