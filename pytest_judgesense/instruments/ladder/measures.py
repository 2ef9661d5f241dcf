"""The measures of a judge on a ladder of controlled quality, its criterion, and their words.

With DC the dark current, RFP, SCS and PFP the raw, stable and positional false preference: a judge
with RFP >= 0.1 is presentation-conflicted if PFP > RFP / 2 and DC >= 0.2, else mixed if SCS and PFP
are both at least RFP / 4, else positional if PFP > RFP / 2. Each of these says more than a faint or
strong dark current, and stands in its place. Sensitive is a judge from 75% at distance 1 on.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from pytest_judgesense.datasheets.profile import Estimates, Word, one_of, some, values
from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT
from pytest_judgesense.measures.definition import Brief, Evidence, Measure, alone
from pytest_judgesense.measures.every_suite import missed
from pytest_judgesense.measures.shared import ABSTAIN_RATE, TIE_RATE

# Same-quality pairs, unless an estimate names another subset; and pairs with a better text.
_EQUAL: Final = {"subset": "same", "distance": 0}
_UNEQUAL: Final = {"subset": "same"}
_MISSED: Final = Evidence("better candidates missed", missed, _UNEQUAL)
_WRONG: Final = Evidence("worse candidates chosen", within=_UNEQUAL)

_measure: Final = partial(Measure, unit="call")
_construct: Final = partial(_measure, direction="construct")
_floor: Final = partial(_measure, direction="higher", gate="floor", suite="ladder")
_ceiling: Final = partial(_measure, direction="lower", gate="ceiling", suite="ladder")
_share: Final = partial(_ceiling, best="units")
_PAIR: Final = "canonical pair"

RAW_FALSE_PREFERENCE: Final = _share(
    name="raw_false_preference",
    meaning="a winner is named between candidates of the same quality",
    evidence=Evidence("preferences between equals", within=_EQUAL),
    sentence="the judge prefers one of two equals in {count} of {n} calls",
    brief=Brief("RFP"),
)
STABLE_CROSS_SENSITIVITY: Final = _construct(
    name="stable_cross_sensitivity",
    unit=_PAIR,
    meaning="same-quality pairs: the same content wins in both orders",
)
POSITIONAL_FALSE_PREFERENCE: Final = _share(
    name="positional_false_preference",
    unit=_PAIR,
    meaning="same-quality pairs: the same slot wins in both orders",
    evidence=Evidence("pairs won by a slot", within=_EQUAL),
    sentence="the position decides {count} of {n} comparisons of equals",
    brief=Brief("PFP"),
)
ONE_SIDED_COMMIT: Final = _share(
    name="one_sided_commit",
    unit=_PAIR,
    meaning="same-quality pairs: a winner in just one of the orders",
    evidence=Evidence("pairs decided in one order only", within=_EQUAL),
    sentence="{count} of {n} comparisons of equals have a winner in one order only",
)
OTHER_CONFLICT: Final = _share(
    name="other_conflict",
    unit=_PAIR,
    meaning="same-quality pairs: false preference that no other term explains",
    evidence=Evidence("pairs in conflict otherwise", within=_EQUAL),
    sentence="{count} of {n} comparisons of equals conflict in another way",
)
NO_PREFERENCE: Final = _construct(
    name="no_preference", unit=_PAIR, meaning="same-quality pairs: a tie in both orders"
)
TARGET_SENSITIVITY: Final = _floor(
    name="target_sensitivity",
    meaning="the better candidate is chosen (a tie is wrong)",
    evidence=_MISSED,
    best="units",
    ranked=alone,
    sentence="the better text is not chosen in {rest} of {n} calls",
    brief=Brief("sens. d1", {"distance": 1}),
)
TARGET_SENSITIVITY_DECISIVE: Final = _floor(
    name="target_sensitivity_decisive",
    meaning="the better candidate is chosen, of the answers that name a winner",
    evidence=_WRONG,
    conditional=True,
    sentence="the worse text wins {rest} of {n} decided calls",
)
WRONG_CHOICE: Final = _share(
    name="wrong_choice",
    meaning="the worse candidate is chosen",
    evidence=_WRONG,
    sentence="the worse text is chosen in {count} of {n} calls",
)
D_PRIME: Final = _floor(
    name="d_prime",
    meaning="distance between better-first and better-second calls, in standard deviations",
    # Within 10 for any number of calls that can be paid for.
    bounds=(-10.0, 10.0),
    margin=0.5,
    evidence=_MISSED,
    sentence="better and worse texts are {value} standard deviations apart to the judge",
)
DETECTION_THRESHOLD: Final = _ceiling(
    name="detection_threshold",
    meaning="smallest distance at which the better candidate is chosen three times out of four",
    bounds=(0.0, 100.0),  # a distance, no share
    margin=0.5,
    evidence=_MISSED,
    sentence="the better text is chosen three times out of four only from distance {value} on",
    brief=Brief("D75"),
)
FILLER_PREFERENCE: Final = _share(
    name="filler_preference",
    meaning="a text padded with empty phrases is chosen over the same without",
    evidence=Evidence("padded texts chosen", within={"subset": "filler"}),
    sentence="empty padding wins {count} of {n} calls",
    brief=Brief("padding"),
)
PLAIN_PREFERENCE: Final = _construct(
    name="plain_preference", meaning="the text without padding is chosen over the padded"
)
MISS_BY_TIE: Final = _share(
    name="miss_by_tie",
    meaning="a tie is chosen although one candidate is better",
    evidence=Evidence("better candidates missed by a tie", within=_UNEQUAL),
    sentence="a tie hides the better text in {count} of {n} calls",
)
CRITERION_SHIFT: Final = _construct(
    name="criterion_shift",
    meaning="tie rate under the strict prompt minus that under the baseline prompt",
    brief=Brief("shift"),
)

# Taken on ladders and on criteria.
OF_BOTH: Final = (
    RAW_FALSE_PREFERENCE,
    STABLE_CROSS_SENSITIVITY,
    POSITIONAL_FALSE_PREFERENCE,
    ONE_SIDED_COMMIT,
    NO_PREFERENCE,
    OTHER_CONFLICT,
    TARGET_SENSITIVITY,
    TARGET_SENSITIVITY_DECISIVE,
    WRONG_CHOICE,
    MISS_BY_TIE,
    D_PRIME,
    TIE_RATE,
    ABSTAIN_RATE,
    DETECTION_THRESHOLD,
)


_PREFERENCES: Final = (RAW_FALSE_PREFERENCE, STABLE_CROSS_SENSITIVITY, POSITIONAL_FALSE_PREFERENCE)
_strong_dark: Final = some(DARK_CURRENT.name, lambda dark: dark >= 0.2)


def _position(estimates: Estimates) -> str | None:
    """The word for the composition of the false preference, if there is enough of it."""
    preferences = [values(estimates, measure.name) for measure in _PREFERENCES]
    if not all(preferences) or preferences[0][0] < 0.1:
        return None
    raw, stable, positional = (of_suites[0] for of_suites in preferences)
    mostly_positional = positional > raw / 2
    if mostly_positional and _strong_dark(estimates):
        return "presentation-conflicted"
    if min(stable, positional) >= raw / 4:
        return "mixed stable-positional"
    return "positional" if mostly_positional else None


WORDS: Final = (
    *one_of(
        _position,
        "presentation-conflicted",
        "mixed stable-positional",
        "positional",
        first=1,
        instead_of=("faint dark current", "strong dark current"),
    ),
    Word("sensitive", some(TARGET_SENSITIVITY.name, lambda rate: rate >= 0.75, distance=1)),
    Word("insensitive", some(TARGET_SENSITIVITY.name, lambda rate: rate < 0.75, distance=1)),
)
