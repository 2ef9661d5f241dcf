"""Cells of judgments on items that people labelled, and simulated judges with known parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.trial import (
    LABEL,
    Design,
    Judgment,
    Trial,
    Verdict,
    content_of_slot,
    majority,
)
from tests.measures.building import SLOTS, YES_NO, outcome_of

PASS_FAIL = replace(YES_NO, labels=("PASS", "FAIL"), labelled="random")
PAIRS = replace(SLOTS, labelled="random")


def item(
    name: str,
    *words: str,
    people: Mapping[str, str] | Sequence[str] = (),
    cluster: str = "",
    label: str | None = None,
    stratum: str = "",
    **condition: str,
) -> list[Judgment]:
    """The judge's answers on an item, one a replicate, and what people say of it.

    ``?`` is a reply without a verdict, ``!`` no reply. People of a list are called by their places.
    """
    votes = people if isinstance(people, Mapping) else dict(zip("abcdefgh", people, strict=False))
    said = {person: vote for person, vote in votes.items() if vote}
    return [
        Judgment(
            Trial(
                f"s/{name}/t1/ab/r{replicate}",
                "s",
                name,
                cluster or name,
                "t1",
                replicate=replicate,
                condition=condition,
                label=label or majority(said.values()),
                people={LABEL: said} if said else {},
                stratum=stratum,
            ),
            "j",
            outcome_of(word),
        )
        for replicate, word in enumerate(words, start=1)
    ]


def cell(design: Design, *of_items: Sequence[Judgment], seed: int = 0) -> Cell:
    """The judgments of a judge, with all measures of the kind of suites."""
    judgments = []
    for judgment in (one for of_item in of_items for one in of_item):
        outcome = judgment.outcome
        if design.pairwise and isinstance(outcome, Verdict):
            chosen = content_of_slot(outcome.value, judgment.trial.order)
            judgments.append(replace(judgment, chosen=chosen))
        else:
            judgments.append(judgment)
    return Cell("j", "s", design, tuple(judgments), seed, BUILT_IN.measures_on(design.kind))


def simulated(
    draw: np.random.Generator,
    *,
    items: int,
    labels: int,
    rate: float,
    recall: tuple[float, float],
    design: Design = PASS_FAIL,
    **condition: str,
) -> Cell:
    """A judge that finds each of two labels with a known chance; the first of a rate that is known.

    People are right; of the first ``labels`` items they say so.
    """
    first, other = ("A", "B") if design.pairwise else design.labels[:2]
    words = ("1", "2") if design.pairwise else (first, other)
    made = []
    for number in range(items):
        is_first = draw.random() < rate
        right = draw.random() < recall[0 if is_first else 1]
        answer = first if is_first == right else other
        said = [words[0 if is_first else 1]] if number < labels else []
        made.append(item(f"i{number}", answer, people=said, **condition))
    return cell(design, *made)


def slot_judge(
    draw: np.random.Generator, *, pairs: int, labels: int, bias: float, skill: float
) -> Cell:
    """A judge that answers A with a chance of ``bias``, else is right with a chance of ``skill``.

    Content 1 stands in slot A, and half of the contents 1 are better.
    """
    made = []
    for number in range(pairs):
        better = "1" if number % 2 else "2"
        right = draw.random() < skill
        honest = "A" if (better == "1") == right else "B"
        answer = "A" if draw.random() < bias else honest
        made.append(item(f"p{number}", answer, people=[better] if number < labels else []))
    return cell(PAIRS, *made)
