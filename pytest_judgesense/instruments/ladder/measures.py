"""What a judge reports on a ladder of controlled quality, and under which criterion."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT
from pytest_judgesense.measures.check import CheckKind
from pytest_judgesense.measures.measure import Evidence, Measure, later
from pytest_judgesense.measures.shared import ORDER, REPLIES, TIE_RATE

_ROOM: Final = "pytest_judgesense.instruments.ladder"
_EVIDENCE: Final = "pytest_judgesense.measures.evidence"
_LADDER: Final = later(f"{_ROOM}.estimators", "ladder_estimates")
_CRITERION: Final = later(f"{_ROOM}.estimators", "criterion_estimates")
_SUITE: Final = "ladder"
# Same-quality pairs, unless an estimate names another subset; pairs of which one is better.
_EQUAL: Final = {"subset": "same", "distance": 0}
_UNEQUAL: Final = {"subset": "same"}
_MISSED: Final = Evidence("better candidates missed", later(_EVIDENCE, "missed"), _UNEQUAL)
_WRONG: Final = Evidence("worse candidates chosen", later(_EVIDENCE, "wrong"), _UNEQUAL)

RAW_FALSE_PREFERENCE: Final = Measure(
    "raw_false_preference",
    "lower",
    "call",
    "a winner is named between candidates of the same quality",
    _LADDER,
    "ceiling",
    _SUITE,
    evidence=Evidence("preferences between equals", later(_EVIDENCE, "decisive"), _EQUAL),
    best="units",
)
STABLE_CROSS_SENSITIVITY: Final = Measure(
    "stable_cross_sensitivity",
    "construct",
    "canonical pair",
    "same-quality pairs: the same content wins in both orders",
    _LADDER,
)
POSITIONAL_FALSE_PREFERENCE: Final = Measure(
    "positional_false_preference",
    "lower",
    "canonical pair",
    "same-quality pairs: the same slot wins in both orders",
    _LADDER,
    "ceiling",
    _SUITE,
    evidence=Evidence("pairs won by a slot", later(_EVIDENCE, "positional"), _EQUAL),
    best="units",
)
ONE_SIDED_COMMIT: Final = Measure(
    "one_sided_commit",
    "lower",
    "canonical pair",
    "same-quality pairs: a winner in just one of the orders",
    _LADDER,
    "ceiling",
    _SUITE,
    evidence=Evidence("pairs decided in one order only", later(_EVIDENCE, "one_sided"), _EQUAL),
    best="units",
)
OTHER_CONFLICT: Final = Measure(
    "other_conflict",
    "lower",
    "canonical pair",
    "same-quality pairs: false preference that no other term explains",
    _LADDER,
    "ceiling",
    _SUITE,
    evidence=Evidence(
        "pairs in conflict otherwise", later(f"{_ROOM}.estimators", "other_conflicts"), _EQUAL
    ),
    best="units",
)
NO_PREFERENCE: Final = Measure(
    "no_preference",
    "construct",
    "canonical pair",
    "same-quality pairs: a tie in both orders",
    _LADDER,
)
TARGET_SENSITIVITY: Final = Measure(
    "target_sensitivity",
    "higher",
    "call",
    "the better candidate is chosen (a tie is wrong)",
    _LADDER,
    "floor",
    _SUITE,
    evidence=_MISSED,
    best="units",
)
TARGET_SENSITIVITY_DECISIVE: Final = Measure(
    "target_sensitivity_decisive",
    "higher",
    "call",
    "the better candidate is chosen, of the answers that name a winner",
    _LADDER,
    "floor",
    _SUITE,
    evidence=_WRONG,
    conditional=True,
)
WRONG_CHOICE: Final = Measure(
    "wrong_choice",
    "lower",
    "call",
    "the worse candidate is chosen",
    _LADDER,
    "ceiling",
    _SUITE,
    evidence=_WRONG,
    best="units",
)
D_PRIME: Final = Measure(
    "d_prime",
    "higher",
    "call",
    "distance between better-first and better-second calls, in standard deviations",
    _LADDER,
    "floor",
    _SUITE,
    # Within 10 for any number of calls that can be paid for.
    bounds=(-10.0, 10.0),
    margin=0.5,
    evidence=_MISSED,
)
DETECTION_THRESHOLD: Final = Measure(
    "detection_threshold",
    "lower",
    "call",
    "smallest distance at which the better candidate is chosen three times of four",
    _LADDER,
    "ceiling",
    _SUITE,
    # A distance, no share.
    bounds=(0.0, 100.0),
    margin=0.5,
    evidence=_MISSED,
)
FILLER_PREFERENCE: Final = Measure(
    "filler_preference",
    "lower",
    "call",
    "a text padded with empty phrases is chosen over the same without",
    _LADDER,
    "ceiling",
    _SUITE,
    evidence=Evidence(
        "padded texts chosen",
        later(f"{_ROOM}.estimators", "fillers_chosen"),
        {"subset": "filler"},
    ),
    best="units",
)
PLAIN_PREFERENCE: Final = Measure(
    "plain_preference",
    "construct",
    "call",
    "the text without padding is chosen over the padded",
    _LADDER,
)
MISS_BY_TIE: Final = Measure(
    "miss_by_tie",
    "lower",
    "call",
    "a tie is chosen although one candidate is better",
    _LADDER,
    "ceiling",
    _SUITE,
    evidence=Evidence(
        "better candidates missed by a tie", later(_EVIDENCE, "missed_by_tie"), _UNEQUAL
    ),
    best="units",
)
CRITERION_SHIFT: Final = Measure(
    "criterion_shift",
    "construct",
    "call",
    "tie rate under the strict prompt less that under the baseline prompt",
    _CRITERION,
)

# Taken on ladders and on criteria.
EVERY: Final = (
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
    DETECTION_THRESHOLD,
)
LADDER_MEASURES: Final = (
    *(measure.taken_by(_LADDER) for measure in EVERY),
    FILLER_PREFERENCE,
    PLAIN_PREFERENCE,
    *ORDER,
    *REPLIES,
)
CRITERION_MEASURES: Final = (
    *(measure.taken_by(_CRITERION) for measure in (*EVERY, DARK_CURRENT)),
    CRITERION_SHIFT,
    *ORDER,
    *REPLIES,
)

CRITERION_TRADEOFF: Final = CheckKind(
    "criterion_tradeoff",
    "false_preference, distance_1, distance_5, suite=",
    "under a strict prompt raw_false_preference <= the first bar, and target_sensitivity at "
    "distances 1 and 5 >= the others",
    later(f"{_ROOM}.checks", "declare_tradeoff"),
    later(f"{_ROOM}.checks", "judge_tradeoff"),
    later(f"{_ROOM}.checks", "bars_of_tradeoff"),
)
