"""The texts of a check that was evaluated: in the datasheet, in FAILURES, and whole."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from pytest_judgesense.checks.explanation import MARGIN, Explanation, TextOf
from pytest_judgesense.checks.known import breach_of
from pytest_judgesense.checks.outcome import (
    Outcome,
    Warned,
)
from pytest_judgesense.datasheets.datasheet import (
    CheckLine,
    KnownState,
)
from pytest_judgesense.errors import printable
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.text.layout import columns

if TYPE_CHECKING:
    from pytest_judgesense.checks.drift import DriftOutcome
    from pytest_judgesense.checks.regression import RegressionOutcome

_LOOK_FURTHER: Final = "  look further: "


def explanation_of(
    outcome: Outcome | RegressionOutcome | DriftOutcome,
    cell: Cell,
    question_of: TextOf | None = None,
    contents_of: Callable[[str], Sequence[str]] | None = None,
) -> Explanation:
    """The explanation of an outcome, of any kind."""
    if isinstance(outcome, Outcome):
        return Explanation(outcome, cell, question_of, contents_of)
    # What compares with earlier sessions is imported where there is a baseline or a history.
    from pytest_judgesense.checks.earlier_explanation import explanation_of_earlier

    return explanation_of_earlier(outcome, cell, question_of, contents_of)


def check_line(
    explanation: Explanation,
    cleaned: Callable[[str], str] = str,
    *,
    warned: Warned = "settled",
) -> CheckLine:
    """The outcome of a check as stored in the datasheet; ``cleaned`` removes credentials."""
    outcome = explanation.outcome
    check, fails = outcome.check, outcome.outcome != "pass"
    return CheckLine(
        check=check.id,
        measure=check.measure,
        suite=outcome.suite,
        condition=dict(check.narrowed),
        bar=check.bar,
        outcome=outcome.outcome,
        policy=outcome.policy,
        explanation=explanation.summary,
        warnings=explanation.warnings(warned),
        sentence=cleaned(explanation.sentence) if fails else "",
        measured=cleaned(explanation.measured) if fails else "",
        example=cleaned(explanation.example) if fails else "",
        gates=tuple(explanation.bars()),
        limit=check.limit,
        against=explanation.against and explanation.against.with_texts(cleaned),
        over=explanation.over and explanation.over.with_texts(cleaned),
        known=_known_state(outcome, cleaned),
    )


def _known_state(
    outcome: Outcome | RegressionOutcome | DriftOutcome, cleaned: Callable[[str], str]
) -> KnownState | None:
    """The failure that is known, held against its number; what a baseline adds is not in it."""
    failure = outcome.check.known
    if failure is None:
        return None
    assert isinstance(outcome, Outcome), "a comparison with earlier sessions is never known"
    breach = breach_of(outcome, failure)
    return KnownState(cleaned(failure.reason), failure.at, failure.until.isoformat(), breach)


def brief_lines(explanation: Explanation, look_further: str = "") -> Iterator[str]:
    """The first trials with question, reply, verdict and label, in a few lines.

    ``look_further`` is a command that shows more.
    """
    yield from map(printable, explanation.brief())
    if look_further:
        yield f"{_LOOK_FURTHER.lstrip()}{look_further}"


def whole_text(
    explanation: Explanation,
    judge: str,
    prompt_of: TextOf | None = None,
    look_further: str = "",
) -> str:
    """Why a check did not pass: estimate, interval, bar, counts, evidence, and where to look.

    ``prompt_of`` returns the prompt of a trial by its id, if prompts are known; ``look_further`` is
    a command that shows more.
    """
    outcome = explanation.outcome
    head = f"{outcome.check.id} of judge {judge} on {outcome.suite}: {explanation.verdict}"
    lines = [explanation.sentence, head, *explanation.lines(prompt_of)]
    lines += [f"{_LOOK_FURTHER}{look_further}"] * bool(look_further)
    return "\n".join(part for line in lines for part in _fitted(printable(line)))


def _fitted(line: str) -> list[str]:
    """``line`` wrapped; a command is not wrapped, so that it can be copied."""
    width = columns() - MARGIN
    if len(line) <= width or line.startswith(_LOOK_FURTHER):
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)
