"""Judgments of temperature sweeps written down by hand, a word a series, or drawn by softmax."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_judgesense.instruments.temperature.instrument import REPORT
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.trial import (
    Condition,
    Design,
    Failed,
    Judgment,
    JudgmentOutcome,
    Trial,
    Unparsed,
    Verdict,
)
from tests.measures.building import cell_of

SWEEP = Design(kind="temperature", labels=("A", "B"), pairwise=True, others=True)
SLOTS = {"1": "A", "2": "B", "t": "tie"}
CONTENTS = {"1": "1", "2": "2", "t": "tie"}


def replicates(
    question: str,
    said: str,
    *,
    gold: str | None = "1",
    temperature: float = 0.5,
    judge_type: str = "pairwise",
    prompt_style: str = "direct",
    source: str = "human",
    failed: str = "timeout",
    detail: Mapping[int, Mapping[str, object]] | None = None,
    **more: str,
) -> Iterator[Judgment]:
    """One series: ``1``, ``2``, ``t`` a verdict, ``?`` unparsed, ``!`` failed, a letter each."""
    condition: Condition = {
        "judge_type": judge_type,
        "prompt_style": prompt_style,
        "temperature": temperature,
        "gold": source,
        **more,
    }
    for r, letter in enumerate(said, start=1):
        outcome: JudgmentOutcome
        if letter == "?":
            outcome = Unparsed("no JSON object")
        elif letter == "!":
            outcome = Failed(failed)
        else:
            outcome = Verdict(SLOTS[letter])
        template = f"{judge_type}-{prompt_style}"
        place = "/".join([template, *more.values(), "ab", f"t{temperature:g}", f"r{r}"])
        trial = Trial(
            id=f"temperature/{question}/{place}",
            suite="temperature",
            item=question,
            cluster=question,
            template=template,
            replicate=r,
            condition=condition,
            label=gold,
        )
        yield Judgment(trial, "j", outcome, CONTENTS.get(letter), detail=(detail or {}).get(r))


def swept(*series: Iterator[Judgment], seed: int = 0, design: Design = SWEEP) -> Cell:
    return cell_of("temperature", design, (j for one in series for j in one), seed)


def softmax_shares(evidence: float, temperature: float) -> dict[str, float]:
    """p(v) proportional to exp(a_v / T): the gold content has the evidence, the others none."""
    weight = math.exp(evidence / temperature)
    return {"1": weight / (weight + 2), "2": 1 / (weight + 2), "t": 1 / (weight + 2)}


def softmax_cell(
    seed: int,
    *,
    questions: int = 20,
    count: int = 10,
    evidence: tuple[float, ...] = (1.0,),
    temperatures: tuple[float, ...] = (1.0,),
    lost: float = 0.0,
) -> Cell:
    """A softmax judge; each question has one of ``evidence``, in turn; gold is content 1."""
    draw = random.Random(seed)

    def said(question: int, temperature: float) -> str:
        shares = softmax_shares(evidence[question % len(evidence)], temperature)
        letters = draw.choices(list(shares), list(shares.values()), k=count)
        return "".join("?" if draw.random() < lost * temperature else one for one in letters)

    return swept(
        *(
            replicates(f"q{question}", said(question, temperature), temperature=temperature)
            for question in range(questions)
            for temperature in temperatures
        ),
        seed=seed,
    )


def tables_of(cell: Cell) -> dict[str, list[Mapping[str, Any]]]:
    """The tables of a sweep by name; those of the analytic curves and of the search are apart."""
    estimates = estimate_all(cell)
    apart = ("temperature_analytic", "recommended_temperature")
    sections = [one for one in REPORT.sections if one.name not in apart]
    made = {one.name: one.rows(cell, estimates, None) for one in sections}
    return {name: list(rows) for name, rows in made.items() if rows is not None}


def rows_of(cell: Cell, name: str) -> list[Mapping[str, Any]]:
    (section,) = [one for one in REPORT.sections if one.name == name]
    return list(section.rows(cell, estimate_all(cell), None) or ())
