"""The prompt, part by part, with what leaving each out does: rows of a datasheet, and its lines.

A row is a part of the prompt in its order. ``effect`` is over the judge's own ``noise`` with its
95% interval ``lower`` to ``upper``, whose lower end is above 0 exactly where verdicts move,
``most`` the one-sided bound where nothing is noticed; ``p`` by Holm, as ``p_form`` is;
``unparsed`` the share of replies without a verdict when it is left out, ``unparsed_whole`` with
the whole prompt. Of a part that is ``kept`` nothing is known.

The last row is that of all sentences that are not noticed, left out ``together``: their ids.
``smallest`` is a smallest group of them that does something, ``to_ask`` what is asked next to know
either, by their ids how often; ``dropped`` says whether they may be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

from pytest_judgesense.datasheets.sections import Estimates, Passage, TableRow, TableRows
from pytest_judgesense.instruments.ablation.estimators import GroupLeftOut, left_out
from pytest_judgesense.instruments.ablation.stimuli import (
    LeaveOneOut,
    PromptPart,
)
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.left_out import TOGETHER as TIMES_TOGETHER
from pytest_judgesense.stats.left_out import PartLeftOut
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import Toned, columns, excerpt, indented
from pytest_judgesense.text.shown_change import ends_text

TABLE: Final = "sentences"
_ALPHA: Final = 0.05
# An effect from here on has one mark more in the margin.
_STEPS: Final = (0.0, 0.1, 0.25, 0.5)
_FORM: Final = "form"
_MOST_NAMED: Final = 12  # sentences in a line of advice
_MARGIN: Final = 12  # columns before the text
_INDENT: Final = 6  # columns before a line of a suite


def rows(cell: Cell, _estimates: Estimates, suite: Suite | None) -> TableRows | None:
    """A row for each part of the prompt; of a log, which has no prompt, for each that is told."""
    tests = left_out(cell)
    if tests is None:
        return None
    expand = None if suite is None else suite.form.expand
    parts = (
        expand.parts(suite)
        if isinstance(expand, LeaveOneOut) and suite is not None
        else tuple(PromptPart(name, "", "") for name in tests.parts)
    )
    asked = {"items": tests.items, "whole_asked": tests.times}
    alone: list[TableRow] = [
        _row(part, tests.parts[part.id]) | asked
        if part.id in tests.parts
        else {"sentence": "", **_text_of(part), "finding": f"kept: {part.reason}"}
        for part in parts
        if part.reason or part.id in tests.parts
    ]
    return [*alone, *_rows_together(alone, tests.together, suite)]


def _rows_together(
    alone: TableRows,
    group: GroupLeftOut | None,
    suite: Suite | None,
) -> Iterator[TableRow]:
    """The row of what was left out together, or is to be; none where there is no such sentence."""
    if group is None:
        idle = [row["sentence"] for row in alone if _is_tested(row) and not _is_noticed(row)]
        expand = None if suite is None else suite.form.expand
        if isinstance(expand, LeaveOneOut) and suite is not None:
            idle = list(expand.separable(suite, idle))
        if idle:
            to_ask = {"+".join(idle): TIMES_TOGETHER}
            yield _named_together(idle) | {"to_ask": to_ask, "finding": "not asked together"}
        return
    row = _named_together(group.ids)
    if group.test is None:
        yield row | {"finding": "not tested: no item has replies with and without them"}
        return
    row |= _tested(group.test)
    row["dropped"] = group.test.may_be_dropped()
    if group.to_ask is not None:
        row["to_ask"] = {group.to_ask.name: group.to_ask.times}
    if group.of_smallest is not None:
        row["smallest"] = list(group.smallest)
        row["finding_of_smallest"] = _finding(_tested(group.of_smallest))
    yield row | {"finding": _finding(row)}


def _named_together(ids: Sequence[str]) -> dict[str, Any]:
    return {"sentence": "", "where": "", "text": "", "together": list(ids)}


def _text_of(part: PromptPart) -> dict[str, Any]:
    section = {"section": True} if part.is_section else {}
    return {"where": part.where, "text": part.text, **section}


def _row(part: PromptPart, test: PartLeftOut | None) -> dict[str, Any]:
    row = {"sentence": part.id, **_text_of(part)}
    if test is None:
        return row | {"finding": "not tested: no item has replies with and without it"}
    row |= _tested(test)
    return row | {"finding": _finding(row)}


def _tested(test: PartLeftOut) -> dict[str, Any]:
    """The numbers of a part, or of several."""
    lower, upper = test.decided() or (None, None)
    return {
        "effect": test.effect,
        "lower": lower,
        "upper": upper,
        "most": test.upper,
        "noise": test.noise,
        "p_unadjusted": test.p,
        "p": test.p_adjusted,
        "unparsed": test.no_verdict,
        "unparsed_whole": test.no_verdict_whole,
        "p_form": test.p_form_adjusted,
    }


def _finding(row: TableRow) -> str:
    """What leaving a part out was seen to do, in words."""
    if row["p_form"] <= _ALPHA:
        whole = f", {_percent(row['unparsed_whole'])} with it" if row["unparsed_whole"] else ""
        return f"holds the form: {_percent(row['unparsed'])} unparsed without it{whole}"
    if row["p"] <= _ALPHA:
        words = f"moves {_percent(row['effect'])} of verdicts"
        if row["lower"] is None:
            return words
        return f"{words} {ends_text((100 * row['lower'], 100 * row['upper']), '{:.0f}'.format)}"
    if row["most"] is None:
        return "no effect noticed"
    return f"no effect noticed; up to {_percent(row['most'])} possible"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def _is_tested(row: TableRow) -> bool:
    return row.get("p") is not None


def _is_together(row: TableRow) -> bool:
    """Whether a row is that of the sentences that are left out together."""
    return "together" in row


def _tested_alone(rows: TableRows) -> list[TableRow]:
    return [row for row in rows if _is_tested(row) and not _is_together(row)]


def _is_noticed(row: TableRow) -> bool:
    return _is_tested(row) and min(row["p"], row["p_form"]) <= _ALPHA


def _depth(row: TableRow) -> int:
    """How many marks stand in the margin: 1 to 4 by the effect, 0 where none is noticed."""
    return sum(row["effect"] >= step for step in _STEPS) if _is_noticed(row) else 0


def _mark(row: TableRow) -> str:
    """The margin of a part without colour: its form, or marks; a dot where nothing is noticed."""
    if not _is_tested(row):
        return ""
    if row["p_form"] <= _ALPHA:
        return _FORM
    return "#" * _depth(row) or "."


def sentence_lines(rows: TableRows) -> Iterator[str]:
    """A line a sentence that was left out, and what to do."""
    yield _summary(rows)
    for row in rows:
        if row["sentence"]:
            line = f"{row['sentence']} {row['finding']}"
            text = f": {row['text']}" if row["text"] else ""
            yield f"  {excerpt(line + text, columns() - _INDENT)}"
    yield from _advice(rows)


def prompt_lines(rows: TableRows) -> Iterator[str]:
    """The prompt with its margin, each part with what was found of it, and what to do."""
    where = ""
    for row in rows:
        if _is_together(row):
            continue
        if row["where"] != where:
            where = row["where"]
            yield from ("", *indented(f"{where}:", width=0))
        tone = "marked" if _is_noticed(row) else "" if row["sentence"] else "dim"
        first = f"{_mark(row):>4} {row['sentence']:<4}"
        for line in row["text"].splitlines():
            for wrapped in indented(line, width=_MARGIN):
                yield Toned(f"{first:<{_MARGIN - 2}}| {wrapped.strip()}", tone)
                first = ""
        if row["sentence"]:
            yield Toned(f"{first:<{_MARGIN - 2}}|   {row['finding']}", tone)
    yield ""
    for sentence in (_summary(rows), *_advice(rows)):
        yield from indented(sentence, width=0)


def _summary(rows: TableRows) -> str:
    tested = _tested_alone(rows)
    if not tested:
        return "no part of the prompt was tested"
    noticed = sum(map(_is_noticed, tested))
    most = max(tested, key=lambda row: row["items"])
    return (
        f"{noticed} of {len(tested)} sentences noticed on {most['items']} items, the whole prompt "
        f"asked {most['whole_asked']} times; two replies to it differ in "
        f"{_percent(most['noise'])} of pairs"
    )


def _advice(rows: TableRows) -> Iterator[str]:
    """Two or three sentences: what to do about what was found."""
    tested = _tested_alone(rows)
    idle = [row for row in tested if not _is_noticed(row)]
    form = [row for row in tested if row["p_form"] <= _ALPHA]
    if not tested:
        return
    items = max(row["items"] for row in tested)
    for row in filter(_is_together, rows):
        yield _advice_together(row, items, of_all=len(idle) == len(tested))
    if len(idle) < len(tested):
        moving = [row for row in tested if _is_noticed(row) and row not in form]
        if moving:
            yield f"{_these(moving)} move{'s' * (len(moving) == 1)} verdicts: reword with care"
    if form:
        yield (
            f"{_these(form)} hold{'s' * (len(form) == 1)} the form of a reply: keep "
            f"{_them(form)}, or ask for structured output"
        )


def _advice_together(row: TableRow, items: int, *, of_all: bool) -> str:
    """What to do about the sentences of which none is noticed alone.

    Args:
        row: of them, left out together.
        items: how many were asked.
        of_all: whether they are all sentences of the prompt.
    """
    ids = row["together"]
    do, pronoun = ("do", "them") if len(ids) > 1 else ("does", "it")
    how = "together" if len(ids) > 1 else "asked more often"
    alone = f"{_named(ids)} {do} nothing alone that {items} items notice"
    if not _is_tested(row):
        return (
            f"{alone}; {row['finding']}: keep {pronoun} until `judgesense why SUITE --leave-out "
            f"--judge-mode record` has left {pronoun} out"
        )
    if not _is_noticed(row):
        need = (
            "add items that do before a change of the prompt is gated by them"
            if of_all
            else f"add items that need {pronoun}"
        )
        bound = "" if row["most"] is None else f", with up to {_percent(row['most'])} possible"
        advice = "drop" if row["dropped"] else "keep"
        return f"{alone}, nor {how}{bound}: {advice} {pronoun}, or {need}"
    effect = f"{alone}; {how}: {row['finding']}"
    smallest = row.get("smallest", [])
    if len(ids) == 1:
        return f"{effect}: keep it"
    if not smallest:
        return f"{effect}; which of them do it is not told: keep them"
    keep = "it" if len(smallest) == 1 else "one of them or more"
    group = f"the smallest group that does something: {', '.join(smallest)}"
    return f"{effect}; {group} ({row['finding_of_smallest']}): keep {keep}"


def _these(rows: TableRows) -> str:
    return _named([row["sentence"] for row in rows])


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" * (len(names) > _MOST_NAMED)
    listed = ", ".join(names[:_MOST_NAMED]) + more
    if len(names) == 1:
        return f"this sentence ({listed})"
    return f"these {len(names)} sentences ({listed})"


def _them(rows: TableRows) -> str:
    return "it" if len(rows) == 1 else "them"


def brief(rows: TableRows) -> str:
    """A word in the line of the suite, where nothing is noticed."""
    tested = _tested_alone(rows)
    return "notices no sentence" if tested and not any(map(_is_noticed, tested)) else ""


def below(rows: TableRows) -> Iterator[str]:
    """The first thing to do, below the line of the suite."""
    yield from islice(_advice(rows), 1)


def passages(rows: TableRows) -> Iterator[Passage]:
    """The parts of the prompt for a page."""
    for row in rows:
        if row["text"]:
            name = f"{row['sentence']} {row['where']}" if row["sentence"] else ""
            is_form = _is_tested(row) and row["p_form"] <= _ALPHA
            depth = _depth(row) if row["sentence"] else None
            yield Passage(name, row["text"], row["finding"], depth, dashed=is_form)
