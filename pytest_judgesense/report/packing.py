"""The evidence of a page: trials with their prompts and replies, packed.

It is columns of numbers that point into tables of texts, each text once, as JSON; compressed (zlib)
and in base64, it is unpacked by the browser.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_judgesense.checks.regression import Side, differs
from pytest_judgesense.datasheets.sections import ReportSection
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.trial import Failed, Judgment, Unparsed

# The page stays below 15 MB: with more evidence than this, long replies are cut.
_MOST_EVIDENCE: Final = 11_000_000
_CUT: Final = (20_000, 4_000, 1_000, 200)
_COLUMNS: Final = (
    "judge suite item template order replicate condition kind said chosen label right reply "
    "prompt trial oldKind oldSaid oldReply changed"
).split()


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """The judgments behind a datasheet; by judge and suite the prompt of each trial, if known, and
    the baseline.
    """

    cells: tuple[Cell, ...] = ()
    prompts: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    before: Mapping[tuple[str, str], Side] = field(default_factory=dict)


class _Texts(dict[str, int]):
    """Each text once, numbered as they come."""

    def number(self, text: str | None) -> int:
        return -1 if text is None else self.setdefault(text, len(self))


def packed(evidence: PageEvidence, sections: Sequence[ReportSection]) -> tuple[str, int | None]:
    """The evidence for the page, and at how many characters replies were cut, if they were."""
    for most in (None, *_CUT):
        text = json.dumps(_columns(evidence, most, sections), separators=(",", ":"))
        packed_text = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
        if len(packed_text) <= _MOST_EVIDENCE:
            break
    return packed_text, most


def _columns(
    evidence: PageEvidence, most: int | None, sections: Sequence[ReportSection]
) -> dict[str, Any]:
    words, replies, lines, prompts = _Texts(), _Texts(), _Texts(), _Texts()
    pieces: list[list[int]] = []
    rows: list[list[int]] = []
    flips: list[tuple[int, int, str]] = []

    def reply_of(judgment: Judgment) -> int:
        return replies.number(judgment.reply and judgment.reply[:most])

    for cell in evidence.cells:
        prompts_of_cell = evidence.prompts.get((cell.judge, cell.suite), {})
        before = evidence.before.get((cell.judge, cell.suite))
        row_of = {}
        for judgment in cell.all_judgments:
            trial = judgment.trial
            row_of[trial.id] = len(rows)
            prompt = prompts_of_cell.get(trial.id)
            if prompt is not None and prompt not in prompts:
                pieces.append([lines.number(line) for line in prompt.split("\n")])
            then = before.by_id.get(trial.id) if before else None
            rows.append(
                [
                    *map(words.number, (cell.judge, cell.suite, trial.item, trial.template)),
                    words.number(trial.order if cell.design.pairwise else ""),
                    trial.replicate,
                    words.number(", ".join(f"{k} {v}" for k, v in trial.condition.items())),
                    *_said(judgment, words),
                    words.number(judgment.chosen),
                    words.number(trial.label),
                    _is_right(cell, judgment),
                    reply_of(judgment),
                    prompts.number(prompt),
                    words.number(trial.id),
                    *(_said(then, words) if then else (-1, -1)),
                    reply_of(then) if then else -1,
                    int(differs(then, judgment)) if then else -1,
                ]
            )
        flips += [
            (row_of[a.trial.id], row_of[b.trial.id], kind) for a, b, kind in _flips(cell, sections)
        ]
    columns = zip(*rows, strict=True) if rows else ((),) * len(_COLUMNS)
    return {
        "words": list(words),
        "replies": list(replies),
        "lines": list(lines),
        "prompts": pieces,
        "rows": dict(zip(_COLUMNS, columns, strict=True)),
        "flips": flips,
    }


def _is_right(cell: Cell, judgment: Judgment) -> int:
    """1 for the label, 0 for another verdict, -1 without a label; a score is near it or far."""
    right = None if cell.design.score is not None else judgment.correct
    return -1 if right is None else int(right)


def _said(judgment: Judgment, words: _Texts) -> tuple[int, int]:
    """Kind (0 verdict, 1 unparsed, 2 failed) and the number of the value."""
    outcome = judgment.outcome
    if isinstance(outcome, Unparsed | Failed):
        return 1 + isinstance(outcome, Failed), words.number(outcome.reason)
    return 0, words.number(outcome.value)


def _flips(
    cell: Cell, sections: Sequence[ReportSection]
) -> Iterator[tuple[Judgment, Judgment, str]]:
    """Judgments of one question that contradict each other, and their differing factor."""
    for section in sections:
        yield from section.contradictions(cell)
    if cell.design.pairwise:
        for a, b in cell.both_orders():
            if a.chosen is not None and b.chosen is not None and a.chosen != b.chosen:
                yield a, b, "order"
    if cell.design.score is not None:
        return  # two scores are near each other or far, and seldom equal
    # Replicates, each with the first one of its question.
    first: dict[tuple[Any, ...], Judgment] = {}
    for judgment in cell.all_judgments:
        trial = judgment.trial
        condition = tuple(sorted(trial.condition.items()))
        if judgment.verdict is not None:
            earliest = first.setdefault(
                (trial.item, trial.template, trial.order, condition), judgment
            )
            if earliest.verdict != judgment.verdict:
                yield earliest, judgment, "replicate"
