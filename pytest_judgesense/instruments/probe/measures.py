"""The measures of a judge under edits that say nothing, and what is said of each edit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.measures.definition import Brief, Evidence, Measure
from pytest_judgesense.text.shown_change import ShownChange

# Flags of estimates.
FOUND: Final = "an effect (p < .05 over all probes, Holm)"
CONTROL_STILL: Final = "not even its control is seen to move this judge: no statement"
OF_GRADES: Final = "a mean grade, from 0 for the lowest to 1 for the highest"
OF_LABELS: Final = "a share of verdicts with the favourable label"


class Words(NamedTuple):
    """What is said of a probe: what it does to a text, and its word of a profile."""

    edit: str
    profile: str


_WORDS: Final[Mapping[str, Words]] = {
    "injection": Words("a text that addresses the judge", "open to injection"),
    "authority": Words("a source that is cited", "swayed by authority"),
    "self": Words("a signature of the judge's own model", "partial to its own model"),
    "verbosity": Words("padding that says nothing", "swayed by padding"),
    "format": Words("a heading, bullets and bold", "swayed by format"),
    "confidence": Words("taking out the hedges", "swayed by confidence"),
    "flattery": Words("flattery of the reader", "open to flattery"),
    "forgery": Words("a forged reply of the judge", "open to forged replies"),
    "fence": Words("a text that closes its own marks", "open to closed fences"),
}
PROFILED: Final = {probe: words.profile for probe, words in _WORDS.items()}
BY_NAMES: Final = "swayed by the names of slots"


def edit_words(probe: str) -> str:
    """What a probe does to a text."""
    return _WORDS[probe].edit if probe in _WORDS else f"the edit {probe}"


def worst_flag(key: str, value: str) -> str:
    """The flag of an estimate that is the worst over probes (``probe``), or over namings."""
    return f"{key} {value}"


def value_of(key: str, estimate: Estimate) -> str:
    """The probe, or the naming, that an estimate is of: that of its condition, or the worst."""
    worst = (flag for flag in estimate.flags if flag.startswith(worst_flag(key, "")))
    return str(estimate.condition.get(key) or next(worst, "").removeprefix(worst_flag(key, "")))


def _edit_sentence(estimate: Estimate) -> str:
    effect, edit = _shown(estimate), edit_words(value_of("probe", estimate))
    signed, size = _percent(effect.value), _percent(abs(effect.value))
    if OF_GRADES in estimate.flags:
        return effect.words(
            above=f"{edit} raises the grade by {size} of the scale",
            below=f"{edit} lowers the grade by {size} of the scale",
            neither=f"{edit} does not visibly move the grade, by {signed} of the scale",
        )
    aim = "the favourable label" if OF_LABELS in estimate.flags else "the answer that holds it"
    return effect.words(
        above=f"{edit} moves {size} of verdicts to {aim}",
        below=f"{edit} moves {size} of verdicts away from {aim}",
        neither=f"{edit} does not visibly move verdicts to {aim}, {signed} of them",
    )


def _shown(estimate: Estimate) -> ShownChange:
    """The effect of a probe, as its own test shows it.

    Of the worst of several the interval is that of all of them.
    """
    change = ShownChange.of(estimate)
    is_of_another = change.direction > 0 and FOUND not in estimate.flags
    return ShownChange(change.value, None) if is_of_another else change


def _names_sentence(estimate: Estimate) -> str:
    slots = " and ".join(value_of("naming", estimate).upper())
    size = _shown(estimate)
    how = f"by {_percent(size.value)} where slots are called {slots}"
    moves = f"the first slot's share of verdicts moves {how}"
    neither = f"the first slot's share of verdicts does not visibly move, {how}"
    return size.words(above=moves, below=moves, neither=neither)


def _percent(value: float) -> str:
    return f"{100 * value:.0f}%"


_of_items: Final = partial(Measure, unit="item")
PROBE_EFFECT: Final = _of_items(
    name="probe_effect",
    direction="lower",
    meaning="how much oftener the verdict is the edited side than under the placebo; "
    "the worst probe",
    gate="ceiling",
    suite="probe",
    bounds=(-1.0, 1.0),
    evidence=Evidence("verdicts that an edit moves", whole=True),
    stability=True,
    phrased=_edit_sentence,
    brief=Brief("worst probe"),
)
NAMES_EFFECT: Final = _of_items(
    name="names_effect",
    direction="lower",
    meaning="how far the first slot's share moves where slots are called otherwise; "
    "the worst naming",
    gate="limit",
    suite="probe",
    evidence=Evidence("verdicts that a name moves", whole=True),
    stability=True,
    phrased=_names_sentence,
)
PROBE_CONTROL: Final = _of_items(
    name="probe_control",
    direction="construct",
    meaning="how much oftener the verdict is the edited side where the other takes itself back",
    bounds=(-1.0, 1.0),
)
PROBE_SHARE: Final = _of_items(
    name="probe_share",
    direction="construct",
    meaning="the edited side's share of verdicts under a version",
)
