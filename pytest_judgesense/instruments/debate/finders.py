"""The debates that count against a configuration: those whose runs, or prompts, differ. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations, zip_longest
from operator import attrgetter
from typing import Any

from pytest_judgesense.instruments.debate.estimators import Tally, scored, tallies_of, winner_of
from pytest_judgesense.instruments.debate.measures import WEIGHTS
from pytest_judgesense.measures import evidence
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.evidence import Find, Group
from pytest_judgesense.trial import Judgment, grouped


def _runs(cell: Cell) -> dict[tuple[str, str], list[Judgment]]:
    """The judgments by prompt and debate."""
    return grouped(cell.judgments, attrgetter("trial.template", "trial.item"))


def _about(cell: Cell, condition: Mapping[str, Any]) -> Cell:
    """The judgments under the prompts of a condition: prompts are templates."""
    pairs = {f"{a}-{b}": (a, b) for a, b in combinations(cell.templates, 2)}
    style = condition.get("prompt_style")
    prompts = pairs.get(str(condition.get("prompt_pair")), (style,) if style else cell.templates)
    return cell.of(j for j in cell.judgments if j.trial.template in prompts)


def _under_its_prompts(find: Find) -> Find:
    """A finder that sees the judgments under the prompts of the condition alone."""
    return lambda cell, condition: find(_about(cell, condition), condition)


def _that_add(size: Callable[[Cell, Tally, Mapping[str, Any]], float]) -> Find:
    """The runs of each debate under one prompt that add to a measure, those that add most first."""

    def find(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
        runs = _runs(cell)
        added = {
            (template, tally.debate): size(cell, tally, condition)
            for template, tallies in tallies_of(cell).items()
            for tally in tallies
        }
        most = sorted(added, key=lambda key: -added[key])
        return [tuple(runs[key]) for key in most if added[key] > 0]

    return _under_its_prompts(find)


def _score_variance(cell: Cell, tally: Tally, condition: Mapping[str, Any]) -> float:
    category = condition.get("category")
    if category is None or tally.variances is None:
        return tally.row[2]
    scores = scored(cell.judgments)[0]["scores"]
    return tally.variances[list(scores).index(str(category))]


def _instability(cell: Cell, tally: Tally, _: Mapping[str, Any]) -> float:
    flip, _counted, score, confidence, *_wins = tally.row
    weights = cell.design.weights or WEIGHTS
    return weights[0] * flip + weights[1] * score + weights[2] * confidence


repeats = _under_its_prompts(evidence.repeats)
positional = _under_its_prompts(evidence.positional)
score_variance = _that_add(_score_variance)
confidence_variance = _that_add(lambda _, tally, __: tally.row[3])
instability = _that_add(_instability)


def _as_won(runs: list[Judgment]) -> list[Judgment]:
    """The runs of a debate, those that name its winner first."""
    winner = winner_of(runs)
    return sorted(runs, key=lambda run: run.verdict != winner)


@_under_its_prompts
def prompts_apart(cell: Cell, _: Mapping[str, Any]) -> list[Group]:
    """The runs of each debate under two prompts that name different winners."""
    runs = _runs(cell)
    groups = []
    for debate in dict.fromkeys(debate for _, debate in runs):
        for pair in combinations(cell.templates, 2):
            first_runs, other = (runs.get((template, debate), []) for template in pair)
            winners = {winner_of(first_runs), winner_of(other)}
            if None not in winners and len(winners) > 1:
                # The winner's verdict under either prompt first: they contradict each other.
                pairs = zip_longest(_as_won(first_runs), _as_won(other))
                groups.append(tuple(run for pair in pairs for run in pair if run is not None))
    return groups
