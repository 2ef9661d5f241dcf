"""Judgments and cells written down by hand, for tests of measures, checks and datasheets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import (
    Condition,
    Design,
    Failed,
    Judgment,
    JudgmentOutcome,
    Order,
    Trial,
    Unparsed,
    Verdict,
    content_of_slot,
)

YES_NO = Design(kind="paraphrase", labels=("YES", "NO"))
GRADES = Design(kind="paraphrase", labels=("1", "2", "3", "4", "5"), ordinal=True)
SLOTS = Design(kind="paraphrase", labels=("A", "B"), pairwise=True)
VACUUM = Design(kind="vacuum", labels=("A", "B"), pairwise=True)
LADDER = Design(kind="ladder", labels=("A", "B"), pairwise=True)
CRITERION = Design(kind="criterion", labels=("A", "B"), pairwise=True)


def outcome_of(word: str) -> JudgmentOutcome:
    """``?`` is a reply without a verdict, ``!`` no reply; anything else is a verdict."""
    return {"?": Unparsed("states no verdict"), "!": Failed("timeout")}.get(word) or Verdict(word)


def judgment(
    item: str,
    word: str,
    *,
    template: str = "t1",
    order: Order = "ab",
    replicate: int = 1,
    cluster: str | None = None,
    condition: Condition | None = None,
    label: str | None = None,
    chosen: str | None = None,
    reply: str | None = None,
    pairwise: bool = True,
) -> Judgment:
    """One judgment; a pairwise verdict is mapped from its slot to its content."""
    outcome = outcome_of(word)
    if chosen is None and pairwise and isinstance(outcome, Verdict):
        chosen = content_of_slot(word, order)
    trial = Trial(
        id=f"s/{item}/{template}/{order}/r{replicate}",
        suite="s",
        item=item,
        cluster=cluster or item,
        template=template,
        order=order,
        replicate=replicate,
        condition=condition or {},
        label=label,
    )
    return Judgment(trial, "j", outcome, chosen=chosen, reply=reply)


def worded(
    answers: Mapping[str, Sequence[str]], *, replicate: int = 1, label: str | None = None
) -> list[Judgment]:
    """Judgments of one-content items: for each item its answers under t1, t2, ..."""
    return [
        judgment(item, word, template=f"t{t}", replicate=replicate, label=label, pairwise=False)
        for item, words in answers.items()
        for t, word in enumerate(words, start=1)
    ]


def both_orders(
    name: str, slots: Iterable[tuple[str, str]], *, of_cluster: int = 1, **given: Any
) -> list[Judgment]:
    """Canonical pairs by their slot answers in the orders ab and ba, ``of_cluster`` a cluster."""
    orders: tuple[Order, Order] = ("ab", "ba")
    return [
        judgment(
            f"{name}{i}", word, order=order, cluster=f"{name}-cluster{i // of_cluster}", **given
        )
        for i, answers in enumerate(slots)
        for order, word in zip(orders, answers, strict=True)
    ]


def climb(distance: float, slots: Iterable[tuple[str, str]], **given: Any) -> list[Judgment]:
    """Pairs at a distance, content 1 the better one, five to a task."""
    where = {"distance": distance, "subset": "same", **given}
    return both_orders(f"d{distance}-", slots, condition=where, label="1", of_cluster=5)


def cell(design: Design, judgments: Iterable[Judgment], seed: int = 0) -> Cell:
    return cell_of("s", design, judgments, seed)


def cell_of(suite: str, design: Design, judgments: Iterable[Judgment], seed: int = 0) -> Cell:
    """The judgments of a judge on a suite of a built-in kind, with all measures of that kind."""
    measures = BUILT_IN.measures_on(design.kind)
    return Cell.with_controls_apart("j", suite, design, tuple(judgments), seed, measures)


def estimate(of: Cell, measure: str, **condition: object) -> Estimate:
    found = find_estimate(estimate_all(of), measure, condition)
    assert found is not None, f"{measure} under {condition} was not estimated"
    return found


def perfect_judgments(suite: Suite, judge: str = "perfect") -> tuple[Judgment, ...]:
    """What a judge without error says on a suite: the label, and a tie where nothing differs."""
    return tuple(_perfect(suite, judge, trial) for trial in plan_trials(suite))


def debate_detail(confidence: float = 0.9, **scores: tuple[float, float]) -> dict[str, Any]:
    """What a judgment on a debate holds beside the winner; 7 to 5 in categories not given."""
    given = (
        dict.fromkeys(("argument_quality", "evidence", "clash", "weighing"), (7.0, 5.0)) | scores
    )
    return {
        "scores": {name: {"PRO": pro, "CON": con} for name, (pro, con) in given.items()},
        "confidence": confidence,
        "short_reason": "because",
        "flags": [],
    }


def _perfect(suite: Suite, judge: str, trial: Trial) -> Judgment:
    if suite.kind == "debate":
        # The same winner in every run and under every prompt; in half of the topics PRO's side.
        topics = list(dict.fromkeys(item.cluster for item in suite.items))
        winner = "PRO" if topics.index(trial.cluster) % 2 else "CON"
        return Judgment(trial, judge, Verdict(winner), detail=debate_detail())
    if suite.space.criteria:
        grades = {one.name: trial.condition[f"human.{one.name}"] for one in suite.space.criteria}
        return Judgment(trial, judge, Verdict(json.dumps(grades)))
    if not suite.space.pairwise:
        assert trial.label is not None
        labels = suite.space.labels
        if trial.condition.get("polarity") != "inverted":
            return Judgment(trial, judge, Verdict(trial.label))
        opposite = labels[len(labels) - 1 - labels.index(trial.label)]
        return Judgment(trial, judge, Verdict(opposite), chosen=trial.label)
    if trial.label in (None, "tie"):
        return Judgment(trial, judge, Verdict("tie"), chosen="tie")
    first = (trial.label == "1") == (trial.order == "ab")
    return Judgment(trial, judge, Verdict("A" if first else "B"), chosen=trial.label)
