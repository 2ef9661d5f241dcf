"""Suites of outputs that are graded on a rubric, one reply for all criteria."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from pytest_judgesense.errors import SuiteError, listed
from pytest_judgesense.instruments.paraphrase.stimuli import PARAPHRASE
from pytest_judgesense.instruments.rubric.apart import APART, EACH
from pytest_judgesense.instruments.rubric.grades import (
    HUMAN,
    OVERALL,
    SYSTEM,
    WORDS,
    human,
)
from pytest_judgesense.instruments.rubric.measures import ORDINAL, PASS_MARK_FLIPS, SUITE
from pytest_judgesense.instruments.rubric.replies import grade_of, reply_form
from pytest_judgesense.suites.finding import LintFinding, Rule
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.rules import hidden
from pytest_judgesense.suites.schema import ItemText, Slug, SuiteForm
from pytest_judgesense.suites.shortcuts import FEWEST_ITEMS, length
from pytest_judgesense.suites.space import position
from pytest_judgesense.suites.stimuli import Misfit, Stimuli, stated_id, text_of
from pytest_judgesense.suites.suite import Kind, Suite

# Rank correlation of length and human grade from which length is a way to the grades.
_MOST_LENGTH: Final = 0.3
OUTPUT: Final = "output"


class RubricLine(BaseModel):
    """A line with one output; further keys are texts that templates may name.

    ``human`` holds human grades by criterion, or under ``overall`` that of one overall score, and
    null where nobody has graded; on a scale of numbers they may lie between two grades. ``system``
    is the system that produced the output. Outputs on one task share a ``cluster``.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, ItemText] = Field(init=False)

    id: Slug | None = None
    output: ItemText
    task: str = ""
    reference: str | None = None
    system: str | None = None
    human: dict[str, str | int | float | None] = {}
    cluster: str | None = None


def _line_of_row(_stimuli: Stimuli, row: dict[str, Any]) -> dict[str, Any] | Misfit:
    """The line of a row with a user's columns: human grades are in ``human.CRITERION``."""
    optional = {*RubricLine.model_fields} - {OUTPUT}
    line: dict[str, Any] = {"id": stated_id(row.get("id"))}
    people: dict[str, Any] = {}
    for name, value in row.items():
        text = text_of(value)
        if name.startswith(HUMAN):
            people |= {} if text is None else {name.removeprefix(HUMAN): text}
        elif name not in ("id", "human") and not (name in optional and text is None):
            line[name] = text or ""
    human = row.get("human")
    line["human"] = human if isinstance(human, dict) else people
    return line


def _items(stimuli: Stimuli) -> Iterator[Item]:
    return stimuli.named(_of_lines(stimuli))


def _of_lines(stimuli: Stimuli) -> Iterator[Item]:
    criteria = stimuli.form.space.graded
    scales = {criterion.name: criterion.labels for criterion in criteria} or {
        OVERALL: tuple(stimuli.form.space.labels)
    }
    lines = stimuli.parse(RubricLine, _line_of_row)
    for called, line in zip(stimuli.names(lines), lines, strict=True):
        condition: dict[str, str | int | float] = {WORDS: length(line.output)}
        if line.system is not None:
            condition[SYSTEM] = line.system
        for name, value in line.human.items():
            if value is None:  # nobody has graded it
                continue
            grade = _human_grade(value, scales[name]) if name in scales else None
            if grade is None:
                raise SuiteError(
                    f"item {called} of suite {stimuli.form.name} has a human grade of no scale",
                    found=f"{name} = {value!r}",
                    expected="; ".join(f"{n}: {listed(of)}" for n, of in scales.items()),
                    remedy="fix the grade, or [space]",
                )
            condition[HUMAN + name] = grade
        fields = {**line.__pydantic_extra__, "task": line.task}
        if line.reference is not None:
            fields["reference"] = line.reference
        # The graded text is the last.
        fields[OUTPUT] = line.output
        name = line.id or ""
        yield Item(name, line.cluster or name, fields, (), None, condition)


def _human_grade(value: object, labels: Sequence[str]) -> str | None:
    """The grade of a scale that a person gave, or a number between two; ``None`` for neither."""
    grade = grade_of(value, labels)
    text = str(value).strip().replace(",", ".")
    return text if grade is None and not math.isnan(position(text, labels)) else grade


def _verify(form: SuiteForm) -> None:
    if form.space.pairwise or form.space.tie or form.space.abstain:
        raise ValueError(f"a {SUITE} suite grades one output: no pairwise, tie or abstain")
    if any(template.polarity == "inverted" for template in form.templates):
        raise ValueError(f"grades of a {SUITE} suite mean one thing: no template is inverted")
    if OVERALL in (form.space.criteria or ()):
        raise ValueError(f"{OVERALL!r} is the name of the overall score, not of a criterion")
    calls = (form.design.calls, *(preset.calls for preset in form.presets.values()))
    if EACH in calls and len(form.space.criteria or ()) < 2:
        raise ValueError(f'calls = "{EACH}" asks for each of several criteria: [space] criteria')


def _shows_output(suite: Suite) -> Iterator[LintFinding]:
    """Templates show the output."""
    for template in suite.templates:
        yield from hidden(suite, template, "candidates", "the output", {OUTPUT})


def _names_criteria(suite: Suite) -> Iterator[LintFinding]:
    """Every wording asks for every criterion."""
    for template in suite.templates:
        text = template.text.casefold()
        if left := [c.name for c in suite.space.criteria if c.name.casefold() not in text]:
            yield LintFinding(
                "error",
                "criteria",
                f"template {template.id} of suite {suite.name}",
                "does not ask for all criteria",
                f"nothing of {listed(left)}",
                "the name of each criterion, as the reply is to have it",
                "name them in the template: a reply is read by these names",
            )


def _checks_of_grades(suite: Suite) -> Iterator[LintFinding]:
    """Checks name a criterion that there is, and have the pass mark or the scale that they need."""
    names, scales = (
        [criterion.name for criterion in suite.space.criteria],
        {o.name for o in ORDINAL},
    )
    one_of = f"criterion = one of {', '.join(map(repr, (*names, OVERALL)))}"
    for check in suite.checks:
        measure, criterion = check.name.rpartition("_")[0], check.arguments.get("criterion")
        if criterion not in (None, OVERALL, *names):
            problem, stated, expected = (
                "names an unknown criterion",
                f"criterion = {criterion!r}",
                one_of,
            )
        elif measure == PASS_MARK_FLIPS.name and suite.space.pass_mark is None:
            problem, stated = "needs a pass mark", "no pass_mark in [space]"
            expected = f"a grade, such as pass_mark = {json.dumps(suite.space.labels[-2])}"
        elif names and criterion is None and not suite.design.ordinal and measure in scales:
            problem, stated, expected = (
                "needs one scale",
                "criteria with scales of their own",
                one_of,
            )
        else:
            continue
        where = f"{check.name} of suite {suite.name}, line {check.line}"
        yield LintFinding("error", "check", where, problem, stated, expected, f"fix {suite.path}")


def _length_shortcut(suite: Suite) -> Iterator[LintFinding]:
    """Human grades that correlate with the length of an output."""
    from pytest_judgesense.stats.correlation import spearman  # numpy: only lint needs it

    words, grades = [], []
    for item in suite.items:
        if shares := human(suite.design, item.condition, item.people).values():
            words.append(float(item.condition[WORDS]))
            grades.append(sum(shares) / len(shares))
    if len(words) < FEWEST_ITEMS:
        return
    rho = spearman(words, grades)
    if not math.isnan(rho) and abs(rho) > _MOST_LENGTH:
        yield LintFinding(
            "warning",
            "length-shortcut",
            f"suite {suite.name}",
            "the length of an output predicts its human grades",
            f"a rank correlation of {rho:.2f} over {len(words)} items",
            f"at most {_MOST_LENGTH} either way",
            "add short good outputs and long poor ones; length_dependence holds human grades fixed",
        )


RUBRIC: Final = Kind(
    SUITE,
    _items,
    line_forms=(RubricLine,),
    verify=_verify,
    rules=(
        *PARAPHRASE.rules,
        Rule(_shows_output, loading=True),
        *map(Rule, (_names_criteria, _checks_of_grades, _length_shortcut)),
    ),
    waived=PARAPHRASE.waived,
    wordings=True,
    reply=reply_form,
    keys=("calls",),
    apart=APART,
)
