"""Suites of debates (JudgeBench): which side wins, with scores and a confidence.

The judge is shown the resolution and the speeches, never who gave them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from pytest_judgesense.instruments.debate.measures import WEIGHTS
from pytest_judgesense.instruments.debate.replies import (
    CATEGORIES,
    REPLY_SCHEMA,
    SIDES,
    parse_debate,
)
from pytest_judgesense.suites.finding import LintFinding, Rule
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.schema import Slug, SuiteForm
from pytest_judgesense.suites.shortcuts import evidence, length
from pytest_judgesense.suites.stimuli import Stimuli
from pytest_judgesense.suites.suite import Kind, ReplyForm, Suite

# The speeches of a debate, in their order.
SPEECHES: Final = tuple(
    f"{side}_{speech}"
    for speech in ("constructive", "rebuttal", "summary")
    for side in ("pro", "con")
)
# How debaters may be told to argue, the usual style first.
STYLES: Final = {
    "analytical": "Argue by mechanism and consequence: name causes, trade-offs and conditions.",
    "creative": "Argue by images, analogies and unexpected angles that still bear on the point.",
    "persuasive": "Argue to win over an undecided listener: concrete, vivid and fair.",
    "technical": "Argue by definitions, orders of magnitude and findings, and say what they show.",
}

# Names and numbers of the debater who brings most of them, over those of the one with the fewest.
_MOST_DENSE: Final = 1.25
_HEADING: Final = re.compile(r"^\[(?=(?:PRO|CON) )", re.MULTILINE)

# The fields of a line that are conditions of the trials on a debate.
CONDITION: Final = ("category", "pro_model", "con_model")


# What `status` says of a debate that is: JudgeBench's word, and that of our own files.
COMPLETE: Final = ("complete", "completed")


def _in_capitals(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


class _Speech(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    side: Annotated[Literal["PRO", "CON"], BeforeValidator(_in_capitals)]
    speech_type: str
    content: str = Field(min_length=1)


class DebateLine(BaseModel):
    """A line with one debate, as JudgeBench writes it; further keys are ignored.

    ``pair_id`` links the two debates of a topic with exchanged sides: an id that both share, or
    the id of the other one.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: Slug
    resolution: str = Field(min_length=1)
    category: str | None = None
    pro_model: str
    con_model: str
    temperature: float | None = None
    prompt_style: str | None = None
    status: Literal["complete", "completed"] = "complete"
    speeches: list[_Speech]
    pair_id: str | None = None
    model_assignment: str | None = None
    created_at: str | float | None = None

    @model_validator(mode="after")
    def _whole(self) -> DebateLine:
        order = [(speech.side, speech.speech_type) for speech in self.speeches]
        if order != [(name[:3].upper(), name) for name in SPEECHES]:
            msg = "a debate has six speeches, in the order " + ", ".join(SPEECHES)
            raise ValueError(msg)
        return self


def debate_cluster(debate: str, pair: str | None, debates: Collection[str]) -> str:
    """The cluster of a debate: both assignments of a topic are one.

    ``pair`` is an id that both share, or the id of the other one of all ``debates``.
    """
    if pair is None:
        return debate
    return "+".join(sorted((debate, pair))) if pair in debates else pair


def transcript(speeches: Iterable[tuple[str, str]]) -> str:
    """Speeches as the judge reads them, each under a heading: ``[PRO rebuttal]``.

    They are given by type (``pro_rebuttal``) and content, in order.
    """
    return "\n".join(
        f"[{kind[:3].upper()} {kind[4:]}]\n{content.strip()}" for kind, content in speeches
    )


def _items(stimuli: Stimuli) -> Iterator[Item]:
    debates = stimuli.parse(DebateLine)
    ids = {debate.id for debate in debates}
    return (
        Item(
            id=line.id,
            cluster=debate_cluster(line.id, line.pair_id, ids),
            fields={
                "resolution": line.resolution,
                "transcript": transcript((s.speech_type, s.content) for s in line.speeches),
            },
            condition=line.model_dump(include={*CONDITION}, exclude_none=True),
        )
        for line in debates
    )


def _verify(form: SuiteForm) -> None:
    if form.space.pairwise or form.space.labels != list(SIDES):
        msg = 'a debate suite has [space] labels = ["PRO", "CON"], not pairwise'
        raise ValueError(msg)


def _evidence_density(suite: Suite) -> Iterator[LintFinding]:
    """Debaters of whom one brings more names and numbers: who wins by them is known beforehand."""
    spoken: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for item in suite.items:
        for part in _HEADING.split(item.fields["transcript"])[1:]:
            side, _, speech = part.partition("\n")
            debater = str(item.condition[f"{side[:3].lower()}_model"])
            spoken[debater] += evidence(speech)
            words[debater] += length(speech)
    density = {name: 100 * spoken[name] / count for name, count in words.items() if count}
    if len(density) > 1 and max(density.values()) > _MOST_DENSE * min(density.values()):
        yield LintFinding(
            "warning",
            "evidence-density",
            f"suite {suite.name}",
            "one debater brings more evidence than another in all debates",
            ", ".join(f"{name} {density[name]:.1f}" for name in sorted(density))
            + " names and numbers per 100 words",
            f"at most {_MOST_DENSE:g} times as much: otherwise a debater's habit decides",
            "let debaters differ by what they say, and bring as much for it",
        )


_SCORES: Final = ", ".join(f'"{name}": {{"PRO": 0, "CON": 0}}' for name in CATEGORIES)

DEBATE: Final = Kind(
    "debate",
    _items,
    line_forms=(DebateLine,),
    verify=_verify,
    rules=(Rule(_evidence_density, of_texts=True),),
    reply=ReplyForm(
        parse_debate,
        "The verdict is the winner of a debate, with scores by category and side and a "
        "confidence. Take over every value; one that the reply does not state makes it no "
        "verdict.",
        f'{{"scores": {{{_SCORES}}}, "winner": "PRO or CON", "confidence": 0.0}}.',
        REPLY_SCHEMA,
    ),
    weights=WEIGHTS,
)
