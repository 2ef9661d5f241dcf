"""Replies of rubric judges written down by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.trial import (
    Criterion,
    Design,
    Failed,
    Judgment,
    JudgmentOutcome,
    Trial,
    Unparsed,
)
from pytest_judgesense.trial import Verdict as Said
from tests.measures.building import cell

FIVE = ("1", "2", "3", "4", "5")
TWO = Design(
    "rubric",
    FIVE,
    ordinal=True,
    criteria=(Criterion("accuracy", FIVE), Criterion("tone", FIVE)),
    pass_mark=0.75,
)


def reply(
    item: str,
    grades: Sequence[int | None] | str,
    *,
    template: str = "t1",
    replicate: int = 1,
    cluster: str | None = None,
    human: Sequence[int] = (),
    design: Design = TWO,
    **condition: Any,
) -> Judgment:
    """The grades of one reply, in the order of the criteria; ``?`` states none, ``!`` is none."""
    names = [one.name for one in design.criteria]
    outcome: JudgmentOutcome
    if isinstance(grades, str):
        outcome = Unparsed("no JSON object") if grades == "?" else Failed("timeout")
    else:
        given = {n: None if g is None else str(g) for n, g in zip(names, grades, strict=True)}
        outcome = Said(json.dumps(given))
    people = {f"human.{n}": str(g) for n, g in zip(names, human, strict=False)}
    trial = Trial(
        f"s/{item}/{template}/ab/r{replicate}",
        "s",
        item,
        cluster or item,
        template,
        replicate=replicate,
        condition={"words": 80, **people, **condition},
    )
    return Judgment(trial, "j", outcome)


def cell_of(judgments: Iterable[Judgment], design: Design = TWO) -> Cell:
    return cell(design, judgments)


def worded(answers: Mapping[str, Sequence[Any]], design: Design = TWO) -> Cell:
    """A cell of the replies to each item under t1, t2, ..."""
    return cell_of(
        (
            reply(item, grades, template=f"t{number}", design=design)
            for item, of_item in answers.items()
            for number, grades in enumerate(of_item, start=1)
        ),
        design,
    )
