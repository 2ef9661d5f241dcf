"""Which judgments stand behind a number: the flips, the false preferences, the misses. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final, TypeAlias

from pytest_judgesense.checks.outcome import Outcome
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.debate.estimators import WEIGHTS, Tally, tallies_of, winner_of
from pytest_judgesense.instruments.ladder.estimators import other_conflict
from pytest_judgesense.instruments.paraphrase.estimators import (
    meaning,
    paraphrase_pairs,
    upper_half,
)
from pytest_judgesense.measures.cell import Cell, no_preference
from pytest_judgesense.measures.order import DECOMPOSITION
from pytest_judgesense.trial import Failed, Judgment, Unparsed

__all__ = ["Group", "evidence_of"]

Group: TypeAlias = tuple[Judgment, ...]


def evidence_of(outcome: Outcome, cell: Cell) -> tuple[str, list[Group]]:
    """What to call the judgments that speak against a check, and those judgments in groups.

    Groups are template pairs, canonical pairs, replicates or single calls, as the measure has it.
    """
    failing = [f for f in outcome.findings if f.outcome != "pass"] or list(outcome.findings)
    estimate = failing[0].estimate
    if cell.catalogue.info(estimate.measure).estimate is not None:
        return _units_against(estimate, cell, floor=failing[0].floor)
    title, find = _FINDERS.get(estimate.measure, ("replies without a verdict", _unparsed))
    if estimate.condition.get("polarity") == "raw":
        find = _raw_flips
    beside = ("polarity", "template_pair", "k", "outcome")
    condition = {key: value for key, value in estimate.condition.items() if key not in beside}
    if condition.get("subset") is None and estimate.measure in _SAME_QUALITY:
        condition |= {"subset": "same", "distance": 0}
    elif estimate.measure in _UNEQUAL:
        condition["subset"] = "same"
    elif estimate.measure == "filler_preference":
        condition["subset"] = "filler"
    elif cell.design.kind == "debate":
        # No trial is under these: prompts are templates, and the category is one of the scores.
        condition = {}
    if category := estimate.measure == "score_variance" and estimate.condition.get("category"):
        find = _debates(lambda cell, tally: _score_variance(cell, tally, str(category)))
    asked = cell.where(**condition)
    if templates := _templates(estimate, cell):
        asked = [judgment for judgment in asked if judgment.trial.template in templates]
    return title, find(replace(cell, judgments=tuple(asked)))


def _templates(estimate: Estimate, cell: Cell) -> tuple[str, ...]:
    """The templates that an estimate is about; none where it is about all."""
    condition = estimate.condition
    if pair := condition.get("template_pair"):
        return tuple(str(pair).split("~"))
    if cell.design.kind != "debate":
        return ()
    pairs = {f"{a}-{b}": (a, b) for a, b in combinations(cell.templates, 2)}
    one = condition.get("prompt_style")
    return pairs.get(str(condition.get("prompt_pair")), (str(one),) if one else ())


def _units_against(estimate: Estimate, cell: Cell, *, floor: bool) -> tuple[str, list[Group]]:
    """Of a plugin's measure: the units that keep it from the best value, where they are known."""
    units, by_id = estimate.observations, {one.trial.id: one for one in cell.judgments}
    if units is None:
        return "replies without a verdict", _unparsed(cell)
    against = [
        tuple(by_id[trial] for trial in key.split("\n"))
        for key, value in zip(units.keys, units.values, strict=True)
        if (value < 1 if floor else value > 0)
    ]
    return f"{estimate.unit}s that speak against it", against


def _flips(cell: Cell) -> list[Group]:
    return _differing_pairs(cell, lambda judgment: meaning(cell, judgment))


def _raw_flips(cell: Cell) -> list[Group]:
    return _differing_pairs(cell, lambda judgment: judgment.verdict)


def _half_flips(cell: Cell) -> list[Group]:
    labels, at = cell.design.labels, upper_half(cell)
    return _differing_pairs(cell, lambda j: str(labels.index(str(meaning(cell, j))) >= at))


def _two_steps_apart(cell: Cell) -> list[Group]:
    place = {label: position for position, label in enumerate(cell.design.labels)}
    return [
        (a, b)
        for a, b in _flips(cell)
        if abs(place[str(meaning(cell, a))] - place[str(meaning(cell, b))]) > 1
    ]


def _differing_pairs(cell: Cell, say: Callable[[Judgment], str | None]) -> list[Group]:
    return [
        (a, b)
        for a, b in paraphrase_pairs(cell)
        if a.verdict is not None and b.verdict is not None and say(a) != say(b)
    ]


def _repeats(cell: Cell) -> list[Group]:
    repeats: dict[tuple[object, ...], list[Judgment]] = defaultdict(list)
    for judgment in cell.judgments:
        trial = judgment.trial
        where = (trial.condition.get("temperature"), trial.condition.get("model"))
        repeats[trial.item, trial.template, trial.order, *where].append(judgment)
    return [
        tuple(group)
        for group in repeats.values()
        if len({judgment.verdict for judgment in group} - {None}) > 1
    ]


def _pairs(*terms: str) -> Callable[[Cell], list[Group]]:
    def find(cell: Cell) -> list[Group]:
        return [
            (ab, ba)
            for ab, ba in cell.both_orders(cell.judgments)
            if ab.verdict is not None
            and ba.verdict is not None
            and any(DECOMPOSITION[term](ab, ba) for term in terms)
        ]

    return find


def _conflicts(cell: Cell) -> list[Group]:
    return [
        (ab, ba)
        for ab, ba in cell.both_orders(cell.judgments)
        if ab.verdict is not None and ba.verdict is not None and other_conflict(ab, ba)
    ]


def _debates(size: Callable[[Cell, Tally], float]) -> Callable[[Cell], list[Group]]:
    """The runs of each debate under one prompt that add to a measure, those that add most first."""

    def find(cell: Cell) -> list[Group]:
        runs = _runs(cell)
        added = {
            (template, tally.debate): size(cell, tally)
            for template, tallies in tallies_of(cell).items()
            for tally in tallies
        }
        return [runs[key] for key in sorted(added, key=lambda key: -added[key]) if added[key] > 0]

    return find


def _runs(cell: Cell) -> dict[tuple[str, str], Group]:
    """The judgments by prompt and debate."""
    runs: dict[tuple[str, str], Group] = defaultdict(tuple)
    for judgment in cell.judgments:
        runs[judgment.trial.template, judgment.trial.item] += (judgment,)
    return runs


def _score_variance(cell: Cell, tally: Tally, category: str | None = None) -> float:
    if category is None or tally.variances is None:
        return tally.row[2]
    scores = next(judgment.detail["scores"] for judgment in cell.judgments if judgment.detail)
    return tally.variances[list(scores).index(category)]


def _instability(cell: Cell, tally: Tally) -> float:
    flip, _, score, confidence, *_ = tally.row
    weights = cell.design.weights or WEIGHTS
    return weights[0] * flip + weights[1] * score + weights[2] * confidence


def _disagreeing_prompts(cell: Cell) -> list[Group]:
    runs = _runs(cell)
    groups = []
    for debate in dict.fromkeys(debate for _, debate in runs):
        for pair in combinations(cell.templates, 2):
            one, other = (runs.get((template, debate), ()) for template in pair)
            winners = {winner_of(one), winner_of(other)}
            if None not in winners and len(winners) > 1:
                groups.append((*one, *other))
    return groups


def _calls(holds: Callable[[Judgment], bool]) -> Callable[[Cell], list[Group]]:
    def find(cell: Cell) -> list[Group]:
        return [(judgment,) for judgment in cell.judgments if holds(judgment)]

    return find


def _decisive(judgment: Judgment) -> bool:
    return judgment.verdict is not None and not no_preference(judgment)


def _missed(judgment: Judgment) -> bool:
    return judgment.verdict is not None and judgment.correct is False


def _not_right(judgment: Judgment) -> bool:
    return judgment.correct is False


def _wrong(judgment: Judgment) -> bool:
    return _missed(judgment) and _decisive(judgment)


def _filler_chosen(judgment: Judgment) -> bool:
    return judgment.chosen == "2"


def _missed_by_tie(judgment: Judgment) -> bool:
    return judgment.trial.label in ("1", "2") and no_preference(judgment)


_unparsed: Final = _calls(lambda judgment: isinstance(judgment.outcome, Unparsed))
_SAME_QUALITY: Final = (
    "raw_false_preference",
    "positional_false_preference",
    "one_sided_commit",
    "other_conflict",
)
_UNEQUAL: Final = (
    "target_sensitivity",
    "target_sensitivity_decisive",
    "wrong_choice",
    "miss_by_tie",
    "d_prime",
    "detection_threshold",
)
_FINDERS: Final[dict[str, tuple[str, Callable[[Cell], list[Group]]]]] = {
    "jss": ("flips", _flips),
    "flip_rate": ("flips", _flips),
    "kappa": ("flips", _flips),
    "kappa_quadratic": ("flips", _flips),
    "jss_binary": ("flips over the cut", _half_flips),
    "within_one_agreement": ("flips of two steps and more", _two_steps_apart),
    "repeat_flip_rate": ("items whose replicates disagree", _repeats),
    "agreement": ("wrong verdicts", _calls(_missed)),
    "agreement_parsed": ("wrong verdicts", _calls(_missed)),
    "majority_agreement": ("wrong verdicts", _calls(_missed)),
    "consistency": ("questions whose replicates disagree", _repeats),
    "pairwise_consistency": ("questions whose replicates disagree", _repeats),
    "recommended_temperature": ("replies that are not right", _calls(_not_right)),
    "temperature_effect": ("replies that are not right", _calls(_not_right)),
    "dark_current": ("preferences where there is nothing to judge", _calls(_decisive)),
    "raw_false_preference": ("preferences between equals", _calls(_decisive)),
    "positional_false_preference": ("pairs won by a slot", _pairs("positional")),
    "one_sided_commit": ("pairs decided in one order only", _pairs("one_sided")),
    "other_conflict": ("pairs in conflict otherwise", _conflicts),
    "target_sensitivity": ("better candidates missed", _calls(_missed)),
    "target_sensitivity_decisive": ("worse candidates chosen", _calls(_wrong)),
    "wrong_choice": ("worse candidates chosen", _calls(_wrong)),
    "miss_by_tie": ("better candidates missed by a tie", _calls(_missed_by_tie)),
    "d_prime": ("better candidates missed", _calls(_missed)),
    "detection_threshold": ("better candidates missed", _calls(_missed)),
    "filler_preference": ("padded texts chosen", _calls(_filler_chosen)),
    "side_bias": ("pairs won by a slot", _pairs("positional")),
    "order_positional": ("pairs won by a slot", _pairs("positional")),
    "order_one_sided": ("pairs decided in one order only", _pairs("one_sided")),
    "instability": ("debates whose runs differ", _debates(_instability)),
    "score_variance": ("debates whose scores vary", _debates(_score_variance)),
    "confidence_variance": (
        "debates whose confidence varies",
        _debates(lambda _, tally: tally.row[3]),
    ),
    "prompt_disagreement": (
        "debates with another winner under another prompt",
        _disagreeing_prompts,
    ),
    "unparsed_rate": ("replies without a verdict", _unparsed),
    "failed_rate": ("calls without a reply", _calls(lambda j: isinstance(j.outcome, Failed))),
}


def items_of(groups: Sequence[Group]) -> list[str]:
    """The items of the groups, each once, in order."""
    return list(dict.fromkeys(group[0].trial.item for group in groups))
