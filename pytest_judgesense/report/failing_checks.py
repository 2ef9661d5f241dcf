"""The failing checks of a judge on a page, with figures and judgments. Pure.

A finding is one sentence, which several checks may share. It has a gauge for each number that
missed its bar, gauges of the same measure under each condition, and a few groups of judgments: two
that contradict each other side by side, with differing words marked. Texts are judges' and suites':
they are compared word by word after what both begin and end with is taken off, and what remains
only where that is little work, so that no text takes long.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby, islice
from operator import itemgetter
from typing import Final, NamedTuple

from pytest_judgesense.checks.judgment_words import judgment_words
from pytest_judgesense.checks.judgments_against import evidence_against, items_of, spread
from pytest_judgesense.datasheets.datasheet import (
    AgainstBaseline,
    CheckLine,
    GatedNumber,
    SuiteSheet,
)
from pytest_judgesense.errors import printable_lines
from pytest_judgesense.estimate import Clustered, Estimate, find_estimate
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.gauges import gauge
from pytest_judgesense.report.packing import PageEvidence
from pytest_judgesense.report.view import JudgeView, RowView
from pytest_judgesense.trial import Judgment

# Words of each text that are compared, and pairs of equal ones among them: where there are more,
# all that lies between the common ends is marked.
MOST_WORDS: Final = 400
MOST_PAIRS: Final = 4_000
_WORD: Final = re.compile(r"\s*\S+|\s+$")


class Piece(NamedTuple):
    """A part of a text, and whether the other text lacks it."""

    text: str
    marked: bool


def contrasted(text: str, other: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces; joined they are the texts. Blanks that differ are not marked."""
    texts = [_WORD.findall(each) for each in (text, other)]
    a, b = ([word.strip() for word in words] for words in texts)
    shorter = min(len(a), len(b))
    start = next((index for index in range(shorter) if a[index] != b[index]), shorter)
    room = shorter - start
    end = next((index for index in range(room) if a[-1 - index] != b[-1 - index]), room)
    first, second = (words[start : len(words) - end] for words in (a, b))
    counts = Counter(second)
    few = max(len(first), len(second)) <= MOST_WORDS
    few = few and sum(counts[word] for word in first) <= MOST_PAIRS
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    same = matcher.get_matching_blocks() if few else []
    return (
        _pieces(texts[0], start, end, [(block.a, block.size) for block in same]),
        _pieces(texts[1], start, end, [(block.b, block.size) for block in same]),
    )


def _pieces(
    words: Sequence[str], start: int, end: int, same: Sequence[tuple[int, int]]
) -> list[Piece]:
    """The words in pieces; the pieces between ``start`` and ``end`` are marked if they differ."""
    shared = set(range(start)) | set(range(len(words) - end, len(words)))
    shared |= {start + place + by for place, size in same for by in range(size)}
    marks = [place not in shared and bool(word.strip()) for place, word in enumerate(words)]
    return [
        Piece("".join(word for word, _ in run), marked)
        for marked, run in groupby(zip(words, marks, strict=True), key=itemgetter(1))
    ]


# For each finding and for a page: so the judgments take less than 4 MB, whatever their length.
_MOST_SHOWN: Final = 3
MOST_EXHIBITS: Final = 80
_LONGEST: Final = 2_000
_MOST_CONDITIONS: Final = 24


@dataclass(frozen=True, slots=True)
class ShownJudgment:
    """One judgment of a group: its trial, its verdict, and its texts in pieces, if known."""

    place: str
    said: str
    prompt: Sequence[Piece]
    reply: Sequence[Piece]


@dataclass(frozen=True, slots=True)
class Finding:
    """What checks say of a failing judge in one sentence, with its evidence.

    Attributes:
        gauges: one for each number that missed its bar: its words, and SVG.
        apart: the same measure under each condition: its words, and a gauge.
        title: of the judgments, with their number.
        groups: some of them: the item, and one side or two.
        excerpts: where they are not at hand, what the check itself says of them: heads, and texts.
    """

    lines: tuple[CheckLine, ...]
    gauges: tuple[tuple[str, str], ...]
    apart: tuple[tuple[str, str], ...]
    title: str
    groups: tuple[tuple[str, tuple[ShownJudgment, ...]], ...]
    excerpts: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()

    @property
    def first(self) -> CheckLine:
        """The check that speaks for all."""
        return self.lines[0]

    @property
    def sentence(self) -> str:
        return self.first.sentence or self.first.explanation

    @property
    def measure(self) -> str:
        """The measure that `judgesense explain` has a page for."""
        missed = _missed(self.first)
        return missed[0].measure if missed else self.first.measure


def findings_of(
    judge: JudgeView, evidence: PageEvidence, registry: Registry, room: int = MOST_EXHIBITS
) -> Iterator[Finding]:
    """The failing checks of a judge, in the order of the datasheet.

    ``room``: how many groups of judgments may be shown.
    """
    failing = judge.failing
    shown = min(_MOST_SHOWN, max(1, room // max(1, len(failing))))
    parts = {part.suite: part for part in judge.sheet.parts}
    cells = {(cell.judge, cell.suite): cell for cell in evidence.cells}
    for index, lines in enumerate(failing):
        part = parts[lines[0].suite]
        key = (judge.sheet.name, part.suite)
        missed = [gate for line in lines for gate in _missed(line)]
        drawn = [(estimate, gate) for gate in missed if (estimate := _estimate_of(part, gate))]
        title, groups = "", list[tuple[Judgment, ...]]()
        cell, against = cells.get(key), lines[0].against
        if against is not None:
            title, groups = against.moved_words, _then_and_now(against, key, evidence)
        elif missed and cell:
            title, groups = _groups(missed[0], part, cell, registry)
            title = f"{title}: {len(groups):,}, on {len(items_of(groups)):,} items" * bool(groups)
        prompts = evidence.prompts.get(key, {})
        most = shown if index * shown < room else 0
        yield Finding(
            lines,
            tuple((RowView(estimate, ()).name, gauge(estimate, gate)) for estimate, gate in drawn),
            tuple(_apart(part, drawn[0][1])) if drawn else (),
            title,
            tuple(islice((_exhibit(group, prompts) for group in spread(groups)), most)),
            tuple((item.head, tuple(item.texts)) for item in against.examples)
            if against and not groups
            else (),
        )


def _missed(line: CheckLine) -> list[GatedNumber]:
    """The bars that are not met, the one that the line's sentence is about first."""
    missed = (gate for gate in line.gates if gate.outcome != "pass")
    return sorted(
        missed, key=lambda gate: (gate.outcome != "fail", -abs((gate.value or 0.0) - gate.decisive))
    )


def _estimate_of(part: SuiteSheet, gate: GatedNumber) -> Estimate | None:
    """The estimate of a gate; for comparisons of suites or settings, the numbers of the gate."""
    estimate = find_estimate(part.estimates, gate.measure, gate.condition)
    if estimate is None and gate.value is not None:
        estimate = Estimate(gate.measure, part.suite, dict(gate.condition), gate.value)
        if gate.lower is not None and gate.upper is not None:
            both = (gate.lower, gate.upper)
            estimate = replace(estimate, clustered=Clustered("", *both, 0.95, 0, None, None, *both))
    return estimate


def _apart(part: SuiteSheet, gate: GatedNumber) -> Iterator[tuple[str, str]]:
    """The measure under one more condition: each wording, each distance."""
    if gate.sign == "before":
        return
    wanted = dict(gate.condition).items()
    estimates = (
        (estimate, estimate.value)
        for estimate in part.estimates
        if estimate.measure == gate.measure
        and estimate.value is not None
        and len(estimate.condition) == len(wanted) + 1
        and wanted <= dict(estimate.condition).items()
    )
    for estimate, value in islice(estimates, _MOST_CONDITIONS):
        held_to = gate.decisive
        cleared = value >= held_to if gate.sign == "at least" else value <= held_to
        own_gate = replace(gate, outcome="pass" if cleared else "fail")
        yield RowView(estimate, ()).condition, gauge(estimate, own_gate)


def _then_and_now(
    against: AgainstBaseline, key: tuple[str, str], evidence: PageEvidence
) -> list[tuple[Judgment, ...]]:
    """The judgments of the baseline and of now that a check tells of, where both are at hand."""
    before = evidence.before.get(key)
    cell = next((cell for cell in evidence.cells if (cell.judge, cell.suite) == key), None)
    if before is None or cell is None:
        return []
    now = {judgment.trial.id: judgment for judgment in cell.all_judgments}
    trials = (example.trial for example in against.examples)
    return [
        (before.by_id[trial], now[trial])
        for trial in trials
        if trial in now and trial in before.by_id
    ]


def _groups(
    gate: GatedNumber, part: SuiteSheet, cell: Cell, registry: Registry
) -> tuple[str, list[tuple[Judgment, ...]]]:
    """The title of the judgments that count against a number, and those judgments."""
    measures = {
        measure.name: measure for measure in registry.measures_on(cell.design.kind, cell.suite)
    }
    measure = measures.get(gate.measure)
    estimate = _estimate_of(part, gate)
    if measure is None or estimate is None:
        return "", []
    if measure.evidence is None or measure.evidence.find is None:
        # Units stay in the process that has counted them, which may have been another one.
        again = find_estimate(measure.estimator(cell), gate.measure, gate.condition)
        estimate = again or estimate
    return evidence_against(measure, estimate, cell)


def _exhibit(
    group: tuple[Judgment, ...], prompts: Mapping[str, str]
) -> tuple[str, tuple[ShownJudgment, ...]]:
    """The item of a group, and its first judgment with the first that contradicts it."""
    first, *rest = group
    other = min(rest, key=lambda judgment: judgment.outcome == first.outcome, default=None)
    if other is None:
        prompt, reply = _shown(prompts.get(first.trial.id)), _shown(first.reply)
        question = [Piece(prompt, marked=False)] if prompt else []
        alone = ShownJudgment(
            _place(first), judgment_words(first), question, [Piece(reply, marked=False)]
        )
        return first.trial.item, (alone,)
    both = (first, other)
    questions = contrasted(*(_shown(prompts.get(judgment.trial.id)) for judgment in both))
    reply_texts = ("(no reply)" if judgment.reply is None else judgment.reply for judgment in both)
    replies = contrasted(*map(_shown, reply_texts))
    heads = (_place(first), _place(other))
    if first.trial.id == other.trial.id:  # of the baseline and of this session
        heads, questions = ("baseline", "now"), ([], questions[1])
    sides = zip(heads, map(judgment_words, both), questions, replies, strict=True)
    return first.trial.item, tuple(ShownJudgment(*side) for side in sides)


def _shown(text: str | None) -> str:
    """A text for the page: its lines, with invisible characters escaped, and cut if long."""
    if text is None:
        return ""
    shown = printable_lines(text[:_LONGEST])
    return shown if len(text) <= _LONGEST and len(shown) <= _LONGEST else f"{shown[:_LONGEST]} …"


def _place(judgment: Judgment) -> str:
    trial = judgment.trial
    condition = ", ".join(f"{key} {value}" for key, value in trial.condition.items())
    parts = [
        f"wording {trial.template}",
        f"order {trial.order}" if judgment.chosen is not None else "",
        condition,
        f"run {trial.replicate}" if trial.replicate > 1 else "",
    ]
    return ", ".join(filter(None, parts))
