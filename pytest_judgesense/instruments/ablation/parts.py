"""The parts of a prompt: its sentences, list items and sections, as places in the text. Pure.

A *section* is a Markdown heading with what stands under it, up to the next heading of its rank, or
what stands between two tags, each on a line of its own. With two parts or more in it a section is a
part beside those; with one or none it is that part. What holds a ``{{placeholder}}`` is kept: so is
what such a section is headed by, and a line without a word. A block of code is one part.

A sentence ends at ``.``, ``!``, ``?`` or an ellipsis before a blank and anything but a small
letter, and at the full stops of Chinese and Japanese. A line with a placeholder ends with it, if
the next one does not begin with a small letter. Other line breaks end nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from pytest_judgesense.suites.prompt_template import placeholders

_HEADING: Final = re.compile(r"\s{0,3}(#{1,6})\s+\S")
_ITEM: Final = re.compile(
    r"\s*(?:[-*+\u2022]|\d{1,3}(?:[.):]|\s+[-\u2013=](?=\s))|[A-Za-z][.)])\s+\S"
)
_FENCE: Final = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_TAG: Final = re.compile(r"\s*<([A-Za-z][\w.:-]*)(?:\s[^<>]*)?>\s*")
_STOP: Final = r"""[.!?\u2026][)"'\u201d\u2019\]*_`]*"""
_END: Final = re.compile(rf"({_STOP})\s+(?=[^\sa-z])|[\u3002\uff01\uff1f]+")
# What no sentence ends with, although a full stop stands behind it.
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|mr|mrs|ms|dr|prof|fig|approx|resp)\.$", re.IGNORECASE
)
# The number of an item within a line: "Look at: 1. Order".
_NUMBERED: Final = re.compile(r"(?:^|[:;.!?]\s)\s*\d{1,2}\.$")
_WORD: Final = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text.

    Attributes:
        start: where it begins, and ``end`` where it ends, without the blanks around it.
        reason: why it is never left out; empty where it is.
        is_section: whether other parts stand within it.
    """

    start: int
    end: int
    reason: str = ""
    is_section: bool = False


class _Line(NamedTuple):
    start: int
    end: int
    text: str
    is_code: bool
    ends_code: bool = False


class _Section(NamedTuple):
    """Places in the list of lines: its heading or tag, what stands within, and the closing tag."""

    first: int
    end: int
    closes: bool


def parts_of(text: str) -> tuple[Part, ...]:
    """The parts of a text in their order, a section before those that stand within it.

    What stands in none of them is white space.
    """
    lines = _lines(text)
    return tuple(_read(text, lines, 0, len(lines)))


def without(text: str, part: Part) -> str:
    """The text without a part: what stood before and behind it is joined with their wider gap.

    That is at most one blank line.
    """
    before, behind = text[: part.start], text[part.end :]
    head, tail = before.rstrip(), behind.lstrip()
    return head + gap_left(text, part) + tail


def without_all(text: str, parts: Iterable[Part]) -> str:
    """The text without several parts, of which one may stand within another."""
    for run in reversed(runs_of(text, parts)):
        text = without(text, run)
    return text


def runs_of(text: str, parts: Iterable[Part]) -> list[Part]:
    """The parts in their order; those with nothing but blanks between them are one."""
    runs: list[Part] = []
    for part in sorted(parts, key=lambda part: part.start):
        last = runs[-1] if runs else None
        if last is not None and not text[last.end : part.start].strip():
            runs[-1] = Part(last.start, max(last.end, part.end))
        else:
            runs.append(Part(part.start, part.end))
    return runs


def gap_left(text: str, part: Part) -> str:
    """The white space that takes the place of a part and of that around it."""
    before, behind = text[: part.start], text[part.end :]
    first, second = before[len(before.rstrip()) :], behind[: len(behind) - len(behind.lstrip())]
    if first == before:
        return first if second != behind else ""
    if second == behind:
        return second
    lines = min(2, max(first.count("\n"), second.count("\n")))
    if not lines:
        return first or second
    # What follows keeps its indentation, or takes that of what it takes the place of.
    return "\n" * lines + (second if "\n" in second else first).rpartition("\n")[2]


def _lines(text: str) -> list[_Line]:
    lines, start, fence = [], 0, ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        is_code = bool(fence or mark)
        ends = bool(fence and mark and line.strip() == mark[1] and mark[1].startswith(fence))
        lines.append(_Line(start, start + len(line.rstrip()), line.rstrip(), is_code, ends))
        fence = "" if ends else fence or (mark[1] if mark else "")
        start += len(line)
    return lines


def _read(text: str, lines: Sequence[_Line], place: int, end: int) -> Iterator[Part]:
    """The parts of the lines from ``place`` to ``end``."""
    while place < end:
        line = lines[place]
        if not line.text.strip():
            place += 1
        elif line.is_code:
            last = place
            while last + 1 < end and lines[last + 1].is_code and not lines[last].ends_code:
                last += 1
            yield _part(text, line.start, lines[last].end)
            place = last + 1
        elif (section := _section(lines, place, end)) is not None:
            yield from _of_section(text, lines, section)
            place = section.end
        else:
            last = _last_of_block(lines, place, end)
            span = _indented(line), lines[last].end
            if _ITEM.match(line.text):
                yield _part(text, *span)
            else:
                yield from _sentences(text, *span)
            place = last + 1


def _section(lines: Sequence[_Line], place: int, end: int) -> _Section | None:
    """The section that begins at ``place``, if one does."""
    line = lines[place]
    if heading := _HEADING.match(line.text):
        for later in range(place + 1, end):
            other = None if lines[later].is_code else _HEADING.match(lines[later].text)
            if other and len(other[1]) <= len(heading[1]):
                return _Section(place, later, closes=False)
        return _Section(place, end, closes=False)
    if tag := _TAG.fullmatch(line.text):
        for later in range(place + 1, end):
            if lines[later].text.strip() == f"</{tag[1]}>":
                return _Section(place, later + 1, closes=True)
    return None


def _of_section(text: str, lines: Sequence[_Line], section: _Section) -> Iterator[Part]:
    head, last = lines[section.first], section.end - section.closes
    whole = Part(_indented(head), _last_written(lines, section))
    within = list(_read(text, lines, section.first + 1, last))
    reason = _reason(text[whole.start : whole.end]).replace("holds", "is around")
    if not reason and len(within) < 2:
        yield whole
        return
    if reason:
        yield replace(whole, end=head.end, reason=reason)
    else:
        yield replace(whole, is_section=True)
    yield from within
    if section.closes:
        closing = lines[last]
        yield Part(_indented(closing), closing.end, reason or f"closes {head.text.strip()}")


def _last_written(lines: Sequence[_Line], section: _Section) -> int:
    """Where the last line of a section ends that is not blank."""
    return next(
        line.end for line in reversed(lines[section.first : section.end]) if line.text.strip()
    )


def _last_of_block(lines: Sequence[_Line], place: int, end: int) -> int:
    """The last line of the list item or paragraph that begins at ``place``."""
    is_item = bool(_ITEM.match(lines[place].text))
    last = place
    while last + 1 < end:
        line = lines[last + 1]
        if not line.text.strip() or line.is_code or _ITEM.match(line.text):
            break
        if _section(lines, last + 1, end) is not None:
            break
        if is_item and not line.text[0].isspace() and not line.text[0].islower():
            break
        last += 1
    return last


def _sentences(text: str, start: int, end: int) -> Iterator[Part]:
    """The sentences of a paragraph, each where it stands."""
    for first, last in _runs(text, start, end):
        begin = first
        for match in _END.finditer(text, first, last):
            stop = match.end(1) if match[1] else match.end()
            so_far = text[begin : match.start() + 1]
            if match[1] and (_ABBREVIATION.search(so_far) or _NUMBERED.search(so_far)):
                continue
            yield _part(text, begin, stop)
            begin = match.end()
        if text[begin:last].strip():
            yield _part(text, begin, last)


def _runs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The lines of a paragraph, parted behind those that hold a placeholder."""
    begin = start
    for match in re.finditer(r"\s+", text[start:end]):
        if "\n" not in match[0]:
            continue
        before, behind = start + match.start(), start + match.end()
        line = text[begin:before].rpartition("\n")[2]
        if placeholders(line) and not text[behind : behind + 1].islower():
            yield begin, before
            begin = behind
    yield begin, end


def _part(text: str, start: int, end: int) -> Part:
    end = start + len(text[start:end].rstrip())
    start += len(text[start:end]) - len(text[start:end].lstrip())
    return Part(start, end, _reason(text[start:end]))


def _reason(text: str) -> str:
    """Why a text is never left out; empty where it may be."""
    if names := placeholders(text):
        return "holds " + ", ".join("{{" + name + "}}" for name in sorted(names))
    return "" if _WORD.search(text) else "no word"


def _indented(line: _Line) -> int:
    """Where the text of a line begins."""
    return line.start + len(line.text) - len(line.text.lstrip())
