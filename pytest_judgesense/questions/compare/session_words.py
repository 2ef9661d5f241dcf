"""What moved between two sessions, in words and as a table, and by which column outputs differ.

A column tells the outputs of two sessions apart by what was asked: one that the user names; else
questions, which are all texts that the judge was shown but the outputs.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.synonyms import candidates_among, column_of
from pytest_judgesense.questions.compare.attribution import Move, Movement, Scoring, Within
from pytest_judgesense.questions.compare.judged_session import JudgedSession, columns_of, shown_of
from pytest_judgesense.questions.compare.within_strata import Strata
from pytest_judgesense.stats.betting import ALARM
from pytest_judgesense.text.layout import indented
from pytest_judgesense.trial import Failed, Judgment, Unparsed

# Of the outputs of the session that has fewer: questions that both happen to share decide only if
# they are so many. All outputs say more than a few of them.
_LEAST_SHARED: Final = 0.5


def strata_of(
    column: str | None, sessions: tuple[JudgedSession, JudgedSession], *, pairwise: bool
) -> Strata | None:
    """What tells outputs apart by what was asked; ``None`` where nothing does.

    Args:
        column: that the user names.
        sessions: the reference, and now.
        pairwise: whether two outputs are compared.

    Raises:
        UsageError: a session does not have the column, or it holds the outputs themselves.
    """
    shown = dict.fromkeys(
        name
        for session in sessions
        for judgment in session.judgments
        for name in shown_of(judgment)
    )
    outputs = _outputs_among(shown, pairwise=pairwise)
    if column is None:
        return _questions([name for name in shown if name not in outputs], outputs, pairwise)
    _refuse_column(column, outputs, sessions)
    return Strata(column, lambda judgment: columns_of(judgment).get(column, "").strip() or None)


def _refuse_column(
    column: str, outputs: Collection[str], sessions: tuple[JudgedSession, JudgedSession]
) -> None:
    """Raise a `UsageError` if a session does not have the column, or it holds the outputs."""
    if column in outputs:
        raise UsageError(
            f"column {column!r} holds the outputs: of equal ones nothing could have moved",
            found="the texts that were judged",
            expected="a column of what was asked, such as the question or its kind",
            remedy="name that one, or leave --strata out",
        )
    for session in sessions:
        names = dict.fromkeys(
            name for judgment in session.judgments for name in columns_of(judgment)
        )
        if column not in names:
            raise UsageError(
                f"{session.where} has no column {column!r} of its outputs",
                found=listed(names) or "no text that was shown, and no condition",
                expected="a column that both sessions have",
                remedy="import the log with it: "
                f"judgesense import FILE --map condition.{column}=COLUMN",
            )


def _outputs_among(shown: Collection[str], *, pairwise: bool) -> set[str]:
    """The names of the texts that were judged, as far as their names tell it."""
    output = column_of("output", shown)
    candidates = candidates_among(shown) if pairwise else None
    return {*(candidates or ()), *(() if output is None else (output,))}


def _questions(asked: Sequence[str], outputs: Collection[str], pairwise: bool) -> Strata | None:
    """The texts that were shown but for the outputs; ``None`` where these are not told apart."""
    if not asked or not (pairwise or outputs):
        return None

    def question(judgment: Judgment) -> str | None:
        shown = shown_of(judgment)
        return json.dumps([shown.get(name) for name in asked]) if shown else None

    return Strata(", ".join(asked), question, _LEAST_SHARED)


_HEAD: Final = ("", "then", "now", "change", "interval", "loss", "gain", "called after")


def movement_lines(
    movement: Movement, scoring: Scoring, sessions: tuple[JudgedSession, JudgedSession]
) -> Iterator[str]:
    """One sentence, the scores behind it, and what is to be known of them."""
    yield from indented(_verdict(movement, scoring), width=0)
    yield ""
    reference, now = sessions
    yield from indented(f"judge {now.judge}; then: {reference.where}; now: {now.where}", width=0)
    cells = [_HEAD, *(_row(name, move) for name, move in named_moves(movement).items())]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield f"  {'  '.join(padded)}".rstrip()
    yield from indented(
        f"loss, gain: the wealth of bets on them, looked at after every cluster; at {ALARM:g} one "
        "is called. Any is called falsely in at most 5%, and all intervals hold in 95%",
        width=2,
    )
    for notice in (*notices_of_sessions(sessions), *_notices_of_strata(movement)):
        yield from indented(f"notice: {notice}", width=0)


def named_moves(movement: Movement) -> dict[str, Move]:
    """The scores that are shown, by what they are of."""
    moves = {"anchors": movement.anchors}
    if movement.agreement is not None:
        moves["anchors, agreement"] = movement.agreement
    moves["fresh outputs"] = movement.fresh
    if movement.within is not None and movement.told_from_asked:
        return {
            **moves,
            "fresh, within strata": movement.within.scores,
            "within less anchors": movement.beyond,
        }
    return {**moves, "fresh less anchors": movement.beyond}


def notices_of_sessions(sessions: tuple[JudgedSession, JudgedSession]) -> Iterator[str]:
    """Judges that are not the same, and replies without a verdict, which have no score."""
    reference, now = sessions
    if reference.judge != now.judge:
        yield f"the verdicts of then are those of {reference.judge}"
    for word, session in zip(("then", "now"), sessions, strict=True):
        if session.beside not in ("", now.judge):
            yield f"anchors, {word}: the judge that was asked is {session.beside}"
        anchors = [judgment for of_item in session.anchors.values() for judgment in of_item]
        for what, judgments in (("anchors", anchors), ("fresh outputs", [*session.judgments])):
            missing = sum(isinstance(j.outcome, Unparsed | Failed) for j in judgments)
            if missing:
                yield f"{what}, {word}: {missing} of {len(judgments)} replies state no verdict"


def points(move: Move) -> str:
    """``15 points less [9, 21]``: of 100, with the interval as the sentence counts."""
    change = round(100 * move.change)
    sign = -1 if change < 0 else 1
    text = f"{abs(change)} point{'s' * (abs(change) != 1)} {'less' if sign < 0 else 'more'}"
    if move.bets is None:
        return text
    low, high = sorted(100 * sign * end for end in (move.bets.lower, move.bets.upper))
    return f"{text} [{round(low)}, {round(high)}]"


def _verdict(movement: Movement, scoring: Scoring) -> str:
    """What moved, in one sentence."""
    anchors = movement.anchors
    judge = f"on {anchors.clusters} frozen anchors it {_moved(anchors, scoring)}"
    if movement.agreement is not None:
        judge += f", and agrees with people in {points(movement.agreement)}"
    outputs = f"they {_moved(movement.beyond, scoring, many=True)} beyond that"
    which = "the outputs, or what was asked,"
    if movement.within is not None and movement.told_from_asked:
        outputs = f"within {_strata_words(movement.within)} {outputs}"
        which = "the outputs"
    return {
        "judge": f"the judge moved: {judge}; the outputs are not seen to have: {outputs}",
        "system": f"{which} moved; the judge is not seen to have: {judge}; of the outputs, "
        f"{outputs}",
        "both": f"the judge moved, and so did {which.rstrip(',')}: {judge}; of the outputs, "
        f"{outputs}",
        "none": f"neither is seen to have moved: {judge}; of the outputs, {outputs}",
    }[movement.verdict]


def _strata_words(within: Within) -> str:
    """``2 strata of kind``."""
    count = within.pairs.strata
    return f"{count} strat{'um' if count == 1 else 'a'} of {within.column}"


def _moved(move: Move, scoring: Scoring, *, many: bool = False) -> str:
    text = points(move)
    if scoring.pairwise:
        return f"have content 1 win in {text}" if many else f"lets content 1 win in {text}"
    verb = "pass" if scoring.passes else "score"
    if many:
        return f"{verb} {text}"
    return f"{verb}{'es' if scoring.passes else 's'} {text}"


def _row(name: str, move: Move) -> tuple[str, ...]:
    sides = ("" if value is None else f"{value:.3f}" for value in (move.then, move.now))
    change = f"{round(move.change, 3) + 0.0:+.3f}"
    bets = move.bets
    if bets is None:
        return (name, *sides, change, "", "", "", "")
    called = [
        f"{word} {place} of {bets.steps}"
        for word, place in (("loss", bets.lost_at), ("gain", bets.gained_at))
        if place is not None
    ]
    wealths = (f"{wealth:.3g}" for wealth in (bets.loss, bets.gain))
    ends = f"[{bets.lower:+.3f}, {bets.upper:+.3f}]"
    return (name, *sides, change, ends, *wealths, ", ".join(called) or f"none of {bets.steps}")


def _notices_of_strata(movement: Movement) -> Iterator[str]:
    """Why outputs are not told from what was asked; outputs that no stratum compares."""
    within = movement.within
    if within is None:
        if movement.system:
            yield (
                "what was asked is not known: with a column of it (--strata COLUMN: the question, "
                "or its kind), outputs are compared within it"
            )
        return
    if not within.decides:
        yield (
            f"too few pairs within strata of {within.column} to tell the outputs from what was "
            f"asked: {len(within.pairs.then)}, and {within.needed} are needed"
        )
        return
    for word, alone, count in zip(
        ("then", "now"), within.pairs.alone, within.pairs.clusters, strict=True
    ):
        if alone:
            yield (
                f"fresh outputs, {word}: {alone} of {count} clusters have no counterpart in "
                f"{within.column}, and say nothing of the outputs"
            )
