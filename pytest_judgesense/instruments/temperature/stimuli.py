"""Suites that ask each question at several temperatures, by several judge types and prompt styles.

Two candidates are compared in one call, with or without a reference answer; or each is graded in a
separate call, and the higher grade wins.

Whether a reply is exactly what its prompt prescribes is the strict measure of format. A template
with ``reply_keys`` asks for one JSON object and nothing around it: these keys and no others, the
last of which holds the verdict in a word that the prompt permits, or a whole grade. The reader of
verdicts is lenient: it takes a verdict from an object that is not closed, beside further keys or
from a bare number. Here each of these is an error, as in arXiv 2603.28304. The reply of a trial
with several calls holds one object for each; a reply that was repaired holds the malformed one too,
and is counted as malformed.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import StringConstraints

from pytest_judgesense.errors import listed
from pytest_judgesense.measures.cell import Cell, once_a_cell
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
from pytest_judgesense.trial import (
    TIE,
    Failed,
    Judgment,
    JudgmentOutcome,
    PrescribedReply,
    Trial,
    Unparsed,
    Verdict,
)


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


# How a reply deviates from its form.
NO_OBJECT: Final = "no JSON object"
NOT_CLOSED: Final = "JSON that is not closed or not valid"
AROUND: Final = "text around the JSON object"
OTHER_KEYS: Final = "other keys than prescribed"
OTHER_VALUE: Final = "a value that is not permitted"

_DECODER: Final = json.JSONDecoder(object_pairs_hook=list)


def deviation(reply: str, form: PrescribedReply, calls: int = 1) -> str | None:
    """How a reply of ``calls`` calls deviates from its form; ``None`` if it keeps it."""
    rest = reply.strip()
    for _ in range(calls):
        if "{" not in rest:
            return NO_OBJECT
        if not rest.startswith("{"):
            return AROUND
        try:
            pairs, end = _DECODER.raw_decode(rest)
        except (ValueError, RecursionError):  # of whatever the reply holds
            return NOT_CLOSED
        if sorted(key for key, _ in pairs) != sorted(form.keys):
            return OTHER_KEYS
        if not _permitted(dict(pairs), form):
            return OTHER_VALUE
        rest = rest[end:].strip()
    return AROUND if rest else None


def _permitted(values: Mapping[str, Any], form: PrescribedReply) -> bool:
    *reasons, verdict = (values[key] for key in form.keys)
    if not all(isinstance(reason, str) for reason in reasons):
        return False
    if form.values:
        return isinstance(verdict, str) and verdict in form.values
    return type(verdict) is int and str(verdict) in GRADES.labels


def word_count(reply: str | None) -> float:
    """The words of a reply; NaN if there is none."""
    return math.nan if reply is None else len(reply.split())


def reason_count(reply: str | None) -> float:
    """The words of a reply beside its verdict; NaN if there is no reply.

    Of JSON objects those of the strings under every key but the last, else all words.
    """
    if reply is None:
        return math.nan
    rest, words = reply.strip(), 0
    while rest:
        try:
            pairs, end = _DECODER.raw_decode(rest)
        except (ValueError, RecursionError):
            return words + len(rest.split())
        if not rest.startswith("{"):
            return words + len(rest.split())
        words += sum(len(text_of.split()) for _, text_of in pairs[:-1] if isinstance(text_of, str))
        rest = rest[end:].strip()
    return words


@once_a_cell
def deviations(cell: Cell) -> tuple[NDArray[np.intp], list[str]]:
    """For each judgment the code of its deviation, and what the codes stand for.

    -1 keeps the form; -2 cannot be told: the call failed, no form is prescribed, or the log does
    not hold the reply.
    """
    forms = {form.template: form for form in cell.design.forms}
    unknown = "unknown"

    def deviates(judgment: Judgment) -> str | None:
        trial, reply = judgment.trial, judgment.reply
        form = forms.get(trial.template)
        if form is None or reply is None or isinstance(judgment.outcome, Failed):
            return unknown
        return deviation(reply, form, 2 if trial.condition.get("judge_type") == "single" else 1)

    if not forms:
        return np.full(len(cell.judgments), -2, dtype=np.intp), []
    codes, reasons = cell.coded("deviation", deviates)
    place = reasons.index(unknown) if unknown in reasons else len(reasons)
    return np.where(codes == place, -2, codes).astype(np.intp), reasons


def form_codes(cell: Cell) -> NDArray[np.intp]:
    """For each judgment 0 if its reply keeps the form, 1 if not, -1 if that cannot be told."""
    codes = deviations(cell)[0]
    return np.where(codes == -2, -1, codes >= 0).astype(np.intp)


def broken(cell: Cell, _: Mapping[str, Any]) -> list[tuple[Judgment, ...]]:
    """The replies that do not keep their form, one each."""
    places = np.flatnonzero(deviations(cell)[0] >= 0)
    return [(cell.judgments[position],) for position in places.tolist()]
