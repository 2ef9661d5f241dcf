"""Suites of texts that are scored: one number within a range for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pydantic import field_validator

from pytest_judgesense.instruments.paraphrase.stimuli import PARAPHRASE
from pytest_judgesense.instruments.score.measures import (
    MARK_AGREEMENT,
    WORDING_DISTANCE,
)
from pytest_judgesense.suites.finding import LintFinding, Rule
from pytest_judgesense.suites.from_lines import content_item, content_of_row
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.schema import ContentItem, SuiteForm, is_of_people
from pytest_judgesense.suites.space import number_of
from pytest_judgesense.suites.stimuli import Misfit, Stimuli, text_of
from pytest_judgesense.suites.suite import Kind, Suite
from pytest_judgesense.trial import score_text

SUITE: Final = "score"


class ScoreLine(ContentItem):
    """A line with one text that is scored: like a line of one content, its ``label`` a number."""

    @field_validator("label", mode="before")
    @classmethod
    def _number(cls, label: Any) -> Any:
        """The label as verdicts are written."""
        return label if label is None else _as_score(label)


def _as_score(label: Any) -> str:
    number = None if isinstance(label, bool) else number_of(text_of(label) or "")
    if number is None:
        raise ValueError("a label is a number")
    return score_text(number)


def _line_of_row(stimuli: Stimuli, row: dict[str, Any]) -> dict[str, Any] | Misfit:
    """The line of a row with a user's columns; an empty cell is no label."""
    values = {word.strip(): meant for word, meant in (stimuli.form.stimuli.values or {}).items()}
    stated = (text_of(row.get("label")) or "").strip()
    stated = values.get(stated, stated)
    if stated and number_of(stated) is None:
        return Misfit("label", repr(stated), "a number")
    line = content_of_row(stimuli, {**row, "label": None})
    if isinstance(line, Misfit):
        return line
    return line | {"label": stated or None}


def _items(stimuli: Stimuli) -> Iterator[Item]:
    return stimuli.named(map(content_item, stimuli.parse(ScoreLine, _line_of_row)))


def _verify(form: SuiteForm) -> None:
    if any(template.polarity == "inverted" for template in form.templates):
        raise ValueError("a score means one thing: no template is inverted")
    if of_people := [name for name in form.stimuli.columns or {} if is_of_people(name)]:
        raise ValueError(
            f"columns: the label of a score is one column, and {of_people[0]} names persons; write "
            'the mean of several people into one: label = "..."'
        )


def _needs(suite: Suite) -> Iterator[LintFinding]:
    """Checks have the pass mark, the labels or the wordings that they need."""
    missing = {
        str(MARK_AGREEMENT.check): ("a pass mark", suite.space.pass_mark is not None),
        str(WORDING_DISTANCE.check): ("two wordings", bool(suite.compared_pairs)),
    }
    for check in suite.checks:
        needed, is_there = missing.get(check.name, ("", True))
        if not is_there:
            yield LintFinding(
                "error",
                "check",
                f"{check.name} of suite {suite.name}, line {check.line}",
                f"needs {needed}",
                f"no {needed.partition(' ')[2]}",
                "pass_mark = ... in [space]" if "mark" in needed else "a second [[templates]]",
                f"fix {suite.path}",
            )


SCORE: Final = Kind(
    SUITE,
    _items,
    line_forms=(ScoreLine,),
    verify=_verify,
    rules=(*PARAPHRASE.rules, Rule(_needs)),
    waived=PARAPHRASE.waived,
    wordings=True,
    scored=True,
)
