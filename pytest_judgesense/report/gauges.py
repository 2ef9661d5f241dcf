"""Small figures as SVG, drawn by hand: a number against its bar, and a number over time. Pure.

Many of them are shown, one for each finding; large figures are in `drawing`. Their look is in the
page's style sheet: shapes have classes and no colours. All texts are digits and words of the page,
except those that are escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

from pytest_judgesense.datasheets.datasheet import GatedNumber
from pytest_judgesense.datasheets.figures import ends_of
from pytest_judgesense.errors import printable
from pytest_judgesense.estimate import Estimate, bar_text, compact, number_text

_SIGNS: Final = {"at least": "≥", "at most": "≤", "before": "before"}
_LETTER: Final = 6.2  # mean width of a digit at 11 px
# A gauge, and the chart of a measure over time.
_WIDTH, _HEIGHT, _EDGE, _TRACK, _BELOW = 224, 52, 10, 26, 48
_COURSE: Final = (320, 148)
# A strip of shares: the width of a bar, and the height of all.
_BAR, _STRIP = 12, 22
_FRAME: Final = (30, 34, 308, 122)  # left, top, right, bottom


# Numbers in files may have any size; larger ones are drawn at the end of the scale.
_FAR: Final = 1e15

_T = TypeVar("_T")


class Moment(NamedTuple):
    """A measure of a judge at one time; ``gate``: the bar that a check held it to."""

    judge: str
    estimate: Estimate
    gate: GatedNumber | None


def gauge(estimate: Estimate, gate: GatedNumber) -> str:
    """The estimate with its clustered interval on a scale, against its bar and its limit."""
    ends = estimate.clustered
    interval_ends = [ends.lower, ends.upper] if ends else []
    low, high = _reach([estimate.value, gate.bar, gate.limit, *interval_ends])

    def x(number: float) -> float:
        return _EDGE + _share(number, low, high) * (_WIDTH - 2 * _EDGE)

    def stripe(kind: str, from_: float, to: float, height: float) -> str:
        width = max(x(to) - x(from_), 0.0)
        return _tag("rect", kind, x=x(from_), y=_TRACK - height / 2, width=width, height=height)

    parts = [stripe("track", low, high, 8)]
    before = gate.sign == "before"
    if not before:
        # What is accepted, and over it what is wanted.
        marks = [("accepted", gate.limit)] if gate.limit is not None else []
        for kind, number in (*marks, ("zone", gate.bar)):
            cleared = (number, high) if gate.sign == "at least" else (low, number)
            parts.append(stripe(kind, *cleared, 8))
    words, place = "not measured", None
    if estimate.value is not None:
        words, place = compact(estimate.value, estimate.flags), x(estimate.value)
        words += " degenerate" * ("degenerate" in estimate.flags)
        parts += [stripe(f"range {gate.outcome}", ends.lower, ends.upper, 5)] if ends else []
        parts.append(_tag("circle", f"estimate {gate.outcome}", cx=place, cy=_TRACK, r=6))
        parts.append(_text("number", place, _BELOW, words))
    for end in (low, high):
        tick = f"{end:g}"
        room = (len(tick) + len(words)) * _LETTER / 2 + 6
        if place is None or abs(x(end) - place) > room:
            parts.append(_text("tick", x(end), _BELOW, tick))
    label = f"{estimate.measure} {words}"
    if ends:
        label += f", 95% interval {compact(ends.lower)} to {compact(ends.upper)}"
    place_of_bar, bar = x(gate.bar), compact(gate.bar) if before else bar_text(gate.bar)
    parts.append(
        _tag("line", "bar", x1=place_of_bar, x2=place_of_bar, y1=_TRACK - 12, y2=_TRACK + 12)
    )
    limit = ""
    if gate.limit is not None:
        limit = f", limit {bar_text(gate.limit)}"
        edge = x(gate.limit)
        parts.append(_tag("line", "limit", x1=edge, x2=edge, y1=_TRACK - 12, y2=_TRACK + 12))
    parts.append(_text("wanted", place_of_bar, 10, f"{_SIGNS[gate.sign]} {bar}{limit}"))
    label += f"; {gate.sign} {bar}{' wanted' * (not before)}{limit}"
    return _svg("gauge", _WIDTH, _HEIGHT, label, parts)


def course(name: str, moments: Sequence[Moment | None], first: str, last: str) -> str:
    """A measure over time at equal distances: a line, a band of its intervals, bar and limit.

    ``moments`` are ``None`` where it was not taken; ``first`` and ``last``: labels of the first and
    the last time.
    """
    there = [(place, moment) for place, moment in enumerate(moments) if moment]
    values = [
        (place, value) for place, moment in there if (value := moment.estimate.value) is not None
    ]
    spans = [
        (place, ends) for place, moment in there if (ends := ends_of(moment.estimate.clustered))
    ]
    gates = {place: moment.gate for place, moment in there if moment.gate}
    reached = (end for _, ends in spans for end in ends)
    bars = (number for gate in gates.values() for number in (gate.bar, gate.limit))
    low, high = _reach([*(value for _, value in values), *reached, *bars])
    left, top, right, bottom = _FRAME
    step = (right - left) / max(1, len(moments) - 1)

    def x(place: float) -> float:
        return left + place * step if len(moments) > 1 else (left + right) / 2

    def y(number: float) -> float:
        return bottom - _share(number, low, high) * (bottom - top)

    def points(along: Iterable[tuple[float, float]]) -> str:
        return " ".join(
            f"{_coordinate(x(place))},{_coordinate(y(number))}" for place, number in along
        )

    parts = []
    for number in (low, (low + high) / 2, high):
        parts.append(_tag("line", "grid", x1=left, x2=right, y1=y(number), y2=y(number)))
        height = y(number) + 4
        parts.append(_tag("text", "tick", f"{number:g}", x=left - 5, y=height, text_anchor="end"))
    for run in _runs(spans):
        # A measurement without neighbours has a band of a few units.
        wide = [
            (place + by, of)
            for place, of in run
            for by in ((0.0,) if len(run) > 1 else (-0.02, 0.02))
        ]
        around = [(p, of[1]) for p, of in wide] + [(p, of[0]) for p, of in reversed(wide)]
        parts.append(_tag("polygon", "band", points=points(around)))
    for place, gate in gates.items():
        xs = (max(left, x(place - 0.5)), min(right, x(place + 0.5)))
        xs = xs if len(moments) > 1 else (left, right)
        for kind, held_to in (("bar", gate.bar), ("limit", gate.limit)):
            if held_to is not None:
                height = y(held_to)
                parts.append(_tag("line", kind, x1=xs[0], x2=xs[1], y1=height, y2=height))
    parts += [_tag("polyline", "line", points=points(run)) for run in _runs(values)]
    flat = {place for place, moment in there if "degenerate" in moment.estimate.flags}
    for place, value in values:
        word = gates[place].outcome if place in gates else "plain"
        word += " degenerate" * (place in flat)
        parts.append(_tag("circle", f"estimate {word}", cx=x(place), cy=y(value), r=4))
    if flat:
        parts.append(_text("tick", x(min(flat)), top - 12, "hollow: degenerate", right))
    title = f"{name} over {len(moments)} measurements"
    if values:
        (_, then), (to, now) = values[0], values[-1]
        title += f", from {compact(then)} to {compact(now)}"
        parts.append(_text("number", x(to), y(now) - 9, compact(now), right))
    parts.append(_tag("text", "tick", first, x=left, y=142))
    if last != first:
        parts.append(_tag("text", "tick", last, x=right, y=142, text_anchor="end"))
    return _svg("course", *_COURSE, title, parts)


def _reach(numbers: Iterable[float | None]) -> tuple[float, float]:
    """The ends of a scale: those of a share or a correlation, or round numbers around the rest."""
    drawn = [min(max(number, -_FAR), _FAR) for number in numbers if number is not None] or [0.0]
    low, high = min(drawn), max(drawn)
    if low >= -1 and high <= 1:
        return (0.0, 1.0) if low >= 0 else (-1.0, 1.0)
    low = min(low, 0.0)
    size = 10.0 ** math.floor(math.log10(high - low))
    step = next(size * by for by in (0.5, 1.0, 2.5) if (high - low) / (size * by) <= 4)
    return math.floor(low / step) * step, math.ceil(high / step) * step


def _share(number: float, low: float, high: float) -> float:
    """The position of a number on a scale, from 0 to 1."""
    return (min(max(number, low), high) - low) / (high - low)


def _runs(points: Sequence[tuple[int, _T]]) -> Iterator[list[tuple[int, _T]]]:
    """Neighbours in time together; a measurement without the measure parts them."""
    run = list(points[:1])
    for before, after in pairwise(points):
        if after[0] != before[0] + 1:
            yield run
            run = []
        run.append(after)
    if run:
        yield run


def strip(shares: Sequence[float]) -> str:
    """Shares that add up to 1 as bars beside one another; their digits are the label."""
    bars = (
        _tag(
            "rect",
            "share",
            x=place * _BAR + 1,
            y=_STRIP - share * _STRIP,
            width=_BAR - 2,
            height=share * _STRIP,
        )
        for place, share in enumerate(shares)
    )
    floor = _tag("rect", "track", x=0, y=_STRIP, width=len(shares) * _BAR, height=1)
    label = ", ".join(map(number_text, shares))
    title = f"<title>{_escaped(label)}</title>"
    return _svg("strip", len(shares) * _BAR, _STRIP + 1, label, [title, floor, *bars])


def _text(kind: str, x: float, y: float, words: str, right: float = _WIDTH - 1) -> str:
    """Words centred on a place, moved so that they stay within the figure."""
    half = len(words) * _LETTER / 2
    middle = min(max(x, half + 1), right - half)
    return _tag("text", kind, words, x=middle, y=y, text_anchor="middle")


def _tag(name: str, kind: str, words: str = "", **attributes: float | str) -> str:
    shown = " ".join(
        f'{key.replace("_", "-")}="{value if isinstance(value, str) else _coordinate(value)}"'
        for key, value in attributes.items()
    )
    head = f'<{name} class="{kind}" {shown}'
    return f"{head}>{_escaped(words)}</{name}>" if words else f"{head}/>"


def _coordinate(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def _escaped(words: str) -> str:
    return escape(printable(words))


def _svg(kind: str, width: int, height: int, label: str, parts: Iterable[str]) -> str:
    return (
        f'<svg class="{kind}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{_escaped(label)}">{"".join(parts)}</svg>'
    )
