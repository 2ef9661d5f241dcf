"""Criteria in one call or each in a call of its own: prompts, calls and their outcome. Pure.

A template is written for both. Marks say which part of it is for what; parts do not nest, and marks
that stand alone on a line take the line with them:

=================================  ================================================================
``{{#accuracy}}...{{/accuracy}}``  about the criterion ``accuracy``: left out of the other calls
``{{#joint}}...{{/joint}}``        for one call that asks for all criteria
``{{#each}}...{{/each}}``          for calls that ask for one criterion
``{{>grades}}``                    the reply, ``{"accuracy": N, "tone": "fail" or "pass"}``, with
                                   the criteria that the call asks for
=================================  ================================================================

A call for one criterion under a template without ``{{>grades}}`` ends with a sentence that asks for
this one alone: the template may show a reply with all of them.

The verdict of a trial holds the grades of all its calls. A call whose reply has no grade leaves
this one missing; a trial without any is `Unparsed`, for the reasons of its replies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from pytest_judgesense.errors import SuiteError, listed
from pytest_judgesense.instruments.rubric.replies import form_of_criterion
from pytest_judgesense.suites.space import grades_in, verdict_of_grades
from pytest_judgesense.suites.suite import Apart, ParsedReply, Question, Suite, Template, derived
from pytest_judgesense.trial import Criterion, JudgmentOutcome, Unparsed, Verdict, is_number

JOINT: Final = "joint"
EACH: Final = "each"
_REPLY: Final = "grades"
_NAME: Final = r"\s*([A-Za-z0-9][\w.-]*)\s*\}\}"
# Alone on a line, which goes with it; or within a line.
_MARK: Final = re.compile(
    rf"^[ \t]*\{{\{{\s*([#/]){_NAME}[ \t]*(?:\n|\Z)|\{{\{{\s*([#/>]){_NAME}", re.MULTILINE
)
_ALONE: Final = (
    "\n\nIn this reply grade by one criterion alone: {name}. Reply with one JSON object and "
    "nothing around it: {reply}"
)


class _Part(NamedTuple):
    """A part of a template.

    Attributes:
        about: a criterion or a manner of asking; empty for what every call shows.
        text: empty where the form of the reply stands.
        is_reply: whether it does.
    """

    about: str
    text: str
    is_reply: bool = False


def arranged(suite: Suite, template: Template) -> Template:
    """The template with the text for all criteria, or with one for each.

    Raises:
        SuiteError: its marks do not fit each other, or the criteria.
    """
    criteria, written = suite.space.criteria, template.written or template.text
    if not criteria:
        return template
    parts = list(_parts(suite, template, written))
    is_marked = len(parts) > 1
    by_criterion = {}
    if suite.calls == EACH:
        by_criterion = {criterion.name: _alone(parts, criterion, suite) for criterion in criteria}
    return replace(
        template,
        text=_shown(parts, {EACH}, criteria) if is_marked else written,
        written=written if is_marked else "",
        by_criterion=by_criterion,
    )


def _alone(parts: Sequence[_Part], criterion: Criterion, suite: Suite) -> str:
    """The text of a call that asks for one criterion."""
    others = {other.name for other in suite.space.criteria} - {criterion.name}
    text = _shown(parts, {*others, JOINT}, (criterion,))
    if any(part.is_reply for part in parts):
        return text
    return text + _ALONE.format(name=criterion.name, reply=_reply_shown((criterion,)))


def _shown(parts: Sequence[_Part], left_out: Collection[str], asked: Sequence[Criterion]) -> str:
    """The text of a call that asks for some criteria, without the parts that are left out."""
    texts = (
        _reply_shown(asked) if part.is_reply else part.text
        for part in parts
        if part.about not in left_out
    )
    return "".join(texts).strip()


def _reply_shown(asked: Sequence[Criterion]) -> str:
    """The reply that a prompt asks for: N for a number of the scale, and else its words."""
    return "{" + ", ".join(f"{_quoted(c.name)}: {_grade_shown(c.labels)}" for c in asked) + "}"


def _grade_shown(labels: Sequence[str]) -> str:
    return "N" if all(map(is_number, labels)) else " or ".join(map(_quoted, labels))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _parts(suite: Suite, template: Template, written: str) -> Iterator[_Part]:
    """The parts of a template in their order; of one without marks it is the only one."""
    names = (*(criterion.name for criterion in suite.space.criteria), JOINT, EACH)
    about, end = "", 0
    for mark in _MARK.finditer(written):
        sign, name = mark[1] or mark[3], mark[2] or mark[4]
        yield _Part(about, written[end : mark.start()])
        end = mark.end()
        if sign == ">" and name == _REPLY:
            yield _Part(about, "", is_reply=True)
            continue
        fits = name == about if sign == "/" else sign == "#" and not about
        if name not in names or not fits:
            raise _faulty(suite, template, mark[0].strip(), names, about)
        about = name if sign == "#" else ""
    if about:
        raise _faulty(suite, template, "no end", names, about)
    yield _Part("", written[end:])


def _faulty(
    suite: Suite, template: Template, shown: str, names: Sequence[str], about: str
) -> SuiteError:
    return SuiteError(
        f"template {template.id} of suite {suite.name} has a mark that fits nothing",
        found=shown + (f" within the part about {about}" if about else ""),
        expected=f"{{{{#NAME}}}}...{{{{/NAME}}}}, not nested, with one of {listed(names)}; or "
        f"{{{{>{_REPLY}}}}}",
        remedy=f"fix it in {suite.path}, or in the prompts of the judge",
    )


@derived
def questions(suite: Suite) -> tuple[Question, ...]:
    """A call for each criterion."""
    criteria = suite.space.criteria
    return tuple(
        Question(reply=form_of_criterion(criterion, criteria), criterion=criterion.name)
        for criterion in criteria
    )


def combined(criteria: Sequence[Criterion], outcomes: Sequence[JudgmentOutcome]) -> ParsedReply:
    """The verdict with the grades of all calls; without any grade why there is none."""
    grades: dict[str, str | None] = {}
    reasons: dict[str, str] = {}
    for criterion, outcome in zip(criteria, outcomes, strict=True):
        grades[criterion.name] = None
        if isinstance(outcome, Verdict):
            grades[criterion.name] = grades_in(outcome.value)[criterion.name]
        else:
            reasons[criterion.name] = outcome.reason
    if len(reasons) < len(criteria):
        return Verdict(verdict_of_grades(grades)), None
    if len({*reasons.values()}) == 1:
        return Unparsed(reasons[criteria[0].name]), None  # a refusal stays one
    return Unparsed("; ".join(f"{reason} ({name})" for name, reason in reasons.items())), None


APART: Final = Apart(arranged, questions, combined)
