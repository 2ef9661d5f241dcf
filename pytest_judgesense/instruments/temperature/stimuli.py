"""Suites that ask each question at several temperatures, by several judge types and prompt styles.

Two candidates are compared in one call, with or without a reference answer; or each is graded in a
separate call, and the higher grade wins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from pydantic import StringConstraints

from pytest_judgesense.errors import listed
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.finding import LintFinding, Rule, some
from pytest_judgesense.suites.from_lines import ELEMENTS, with_elements
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.rules import hidden
from pytest_judgesense.suites.schema import PairItem, Slug, SuiteForm, two_candidates
from pytest_judgesense.suites.shortcuts import facts
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.stimuli import Stimuli
from pytest_judgesense.suites.suite import (
    Kind,
    ParsedReply,
    Question,
    ReplyForm,
    Suite,
    one_question,
)
from pytest_judgesense.trial import TIE, JudgmentOutcome, Trial, Unparsed, Verdict


class GradedItem(PairItem):
    """A line with a pair, a reference answer, and the source of the label.

    ``gold`` is ``human``; ``author`` if the pair was written for the label; or ``judge:NAME`` if a
    reference judge gave it. ``elements`` are what a full answer states, shown below the reference.
    ``dataset`` distinguishes several collections of questions.
    """

    reference: str | None = None
    gold: Annotated[str, StringConstraints(pattern=r"^(human|author|judge:.+)$")] = "human"
    elements: tuple[str, ...] = ()
    dataset: Slug | None = None


def _items(stimuli: Stimuli) -> Iterator[Item]:
    return stimuli.named(_of_lines(stimuli))


def _of_lines(stimuli: Stimuli) -> Iterator[Item]:
    for line in stimuli.parse(GradedItem):
        fields = dict(line.fields) | {"task": line.task}
        if line.reference is not None:
            fields["reference"] = with_elements(line.reference, line.elements)
        yield Item(
            id=line.id or "",
            cluster=line.cluster or line.id or "",
            fields=fields,
            contents=line.texts,
            label=line.label,
            condition={"gold": line.gold} | ({"dataset": line.dataset} if line.dataset else {}),
        )


def _verify(form: SuiteForm) -> None:
    if not form.space.tie or form.space.abstain:
        raise ValueError("a temperature suite permits a tie and no abstention: [space] tie = true")
    if not form.design.temperatures or form.design.temperature is not None:
        raise ValueError(
            "a temperature suite has [design] temperatures = [...], and no temperature"
        )
    if any(len(set(grid)) < len(grid) for grid in form.grids if grid):
        raise ValueError("temperatures must be unique")
    prompts = {
        template.id: (template.judge_type, template.prompt_style) for template in form.templates
    }
    # A preset may ask with other templates than the suite.
    chosen = [preset.templates for preset in form.presets.values() if preset.templates is not None]
    asked_together = [[template.id for template in form.templates if template.default]]
    asked_together += [[*prompts] if some == "all" else some for some in chosen]
    compared = [[prompts[name] for name in some if name in prompts] for some in asked_together]
    once = all(len(set(some)) == len(some) for some in compared)
    if not once or not all(a and b for a, b in prompts.values()):
        raise ValueError("each template has a judge_type and a prompt_style, both together once")
    two_candidates(form)


def _reference_shown(suite: Suite) -> Iterator[LintFinding]:
    for template in suite.templates:
        if template.condition["judge_type"] == "reference":
            more = ', or judge_type = "pairwise"'
            yield from hidden(suite, template, "reference", "the reference", {"reference"}, more)


def _labelled(suite: Suite) -> Iterator[LintFinding]:
    for item in suite.items:
        if item.label is None:
            gold = str(item.condition["gold"])
            name = gold.removeprefix("judge:") if gold.startswith("judge:") else "NAME"
            yield LintFinding(
                "error",
                "gold",
                f"item {item.id} of suite {suite.name}",
                "has no label",
                f"gold = {gold!r}, and no label",
                "the better answer, 1, 2 or tie: agreement is counted against it",
                f"write it by hand, or have a judge give it: judgesense label {suite.path} "
                f"--judge-name {name} --judge-mode record -o FILE",
            )


def _grid(suite: Suite) -> Iterator[LintFinding]:
    """A grid on which an effect of temperature cannot be seen."""
    for few, fault, remedy in (
        (len(suite.temperatures) < 2, "one temperature", "add temperatures to [design]"),
        (suite.replicates < 2, "one replicate", "set replicates in [design]: 2 or more"),
    ):
        if few:
            yield LintFinding(
                "warning",
                "temperature-design",
                f"suite {suite.name}",
                "what the temperature does cannot be measured",
                fault,
                "two or more temperatures, each asked twice or more",
                remedy,
            )


def _gold(suite: Suite) -> Iterator[LintFinding]:
    """Labels that a judge has given."""
    gold_counts = Counter(str(item.condition["gold"]) for item in suite.items)
    if judged := {gold: n for gold, n in gold_counts.items() if gold.startswith("judge:")}:
        yield LintFinding(
            "warning",
            "gold",
            f"suite {suite.name}",
            "labels were given by a judge",
            ", ".join(f"{n} of {len(suite.items)} by {gold}" for gold, n in judged.items()),
            "labels that people gave",
            "read agreement with them as agreement with that judge",
        )


_FEW: Final = frozenset("23456")


def _element_leak(suite: Suite) -> Iterator[LintFinding]:
    """Elements that state their answer instead of only naming it: a number, or a negation."""
    leaks = {}
    for item in suite.items:
        _, _, listed_elements = item.fields.get("reference", "").partition(ELEMENTS)
        task_facts = facts(item.fields["task"])
        stated = facts(listed_elements)
        elements = [
            fact
            for kind in ("numbers", "negations")
            for fact in sorted(stated[kind] - task_facts[kind])
            if fact not in _FEW  # "each of the two" counts, and states nothing
        ]
        if elements:
            leaks[item.id] = elements
    if leaks:
        first, elements = next(iter(leaks.items()))
        yield LintFinding(
            "warning",
            "element-leak",
            f"items {some(leaks)}",
            "the list of what a full answer states gives the answer away",
            f"{len(leaks)} items; in {first}: {listed(elements)}",
            "elements that name what is to be stated: the price, and not 80 dollars",
            "reword the elements",
        )


# The labels for grading one candidate.
GRADES: Final = DecisionSpace(tuple(str(grade) for grade in range(1, 11)), ordinal=True)

GRADE: Final = ReplyForm(
    lambda text, truncated: (parse_reply(text, GRADES, truncated=truncated), None),
    "The verdict is a whole number from 1 to 10.",
    '{"score": 0} with it.',
)
_ONE_BY_ONE: Final = (Question("1", GRADE), Question("2", GRADE))


def _questions(suite: Suite, trial: Trial) -> tuple[Question, ...]:
    single = trial.condition.get("judge_type") == "single"
    return _ONE_BY_ONE if single else one_question(suite, trial)


def _compared(trial: Trial, outcomes: Sequence[JudgmentOutcome]) -> ParsedReply:
    """The verdict of two grades: the slot of the higher one, a tie where they are equal."""
    grades: dict[str, int] = {}
    problems = []
    for content, outcome in zip("12", outcomes, strict=True):
        if isinstance(outcome, Verdict):
            grades[content] = int(outcome.value)
        else:
            problems.append(f"{outcome.reason} (answer {content})")
    if problems:
        return Unparsed("; ".join(problems)), {"grades": grades}
    slots = ("A", "B") if trial.order == "ab" else ("B", "A")
    better = TIE if grades["1"] == grades["2"] else slots[grades["1"] < grades["2"]]
    return Verdict(better), {"grades": grades}


TEMPERATURE: Final = Kind(
    "temperature",
    _items,
    line_forms=(GradedItem,),
    verify=_verify,
    rules=(Rule(_reference_shown, loading=True), Rule(_grid), Rule(_gold), Rule(_element_leak)),
    labelled=Rule(_labelled),
    sweeps=True,
    questions=_questions,
    combine=_compared,
)
