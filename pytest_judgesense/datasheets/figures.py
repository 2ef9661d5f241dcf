"""The figures of a page as values, and what they share when drawing.

Panels draw on the matplotlib axes that they are given; only `report.drawing` imports matplotlib.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from pytest_judgesense.datasheets.datasheet import Datasheet, JudgeSheet
from pytest_judgesense.datasheets.profile import pooled
from pytest_judgesense.errors import printable, shortened
from pytest_judgesense.estimate import Clustered, Estimate, Interval, number_text

Value: TypeAlias = "str | int | float | None"
Found: TypeAlias = "Figure | Absent"
IntervalEnds: TypeAlias = tuple[float, float] | None
Draw: TypeAlias = Callable[[Any], None]

# Okabe and Ito's hues, darkened to a contrast of at least 4.5 with white.
PALETTE: Final = ("#0060a8", "#b84300", "#00745a", "#a03a78", "#806000", "#4b49b6", "#56606b")
INK: Final = "#1d2733"
PAPER: Final = "#ffffff"
# Stands behind the name of a judge that gave one answer to everything, in every figure.
MARK: Final = "(degenerate)"
# Keeps marks at either end of a rate off the frame.
_SHARE: Final = (-0.03, 1.03)
# Pieces of a bar: the last one, in grey, is what is right.
_PIECES: Final = (*PALETTE[:4], "#c3ccd6")
_HATCHES: Final = ("", "//", "..", "xx", "")
_SHAPES: Final = "osD^vPX"
_DASHES: Final = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))
_DOTTED: Final = {"color": INK, "linewidth": 0.8, "linestyle": (0, (2, 2))}
# Light to dark, and the two directions of a correlation; the same on a light and a dark page.
_DEEP: Final = ("#eef4fa", "#0a4a80")
_NEGATIVE: Final = ("#fdf1ea", "#9a3b00")
_LONGEST: Final = 40
_SLANTED: Final = 44  # longer axis labels are slanted


class Head(NamedTuple):
    """The name of a figure: in links and files, by its number, and in words."""

    key: str
    number: str
    name: str


class Panel(NamedTuple):
    """One pair of axes and their height in inches."""

    draw: Draw
    height: float = 3.9


class Figure(NamedTuple):
    """A figure: its panels from top to bottom, and its table, with unrounded numbers.

    Attributes:
        finding: its title.
        description: how to read it, in a sentence or two.
        wide: whether it takes the full width of the page.
    """

    head: Head
    finding: str
    description: str
    panels: tuple[Panel, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    wide: bool = False


class Absent(NamedTuple):
    """A figure without numbers, and what would provide them."""

    head: Head
    reason: str


def shown(value: Value) -> str:
    """A table cell; every rendering shows its number in the same way."""
    if value is None:
        return "N/A"
    return number_text(value) if isinstance(value, float) else str(value)


def percent(rate: float) -> str:
    """A rate in percent, with the same digits as elsewhere."""
    text = number_text(rate)
    sign, digits = text[: -len(text.lstrip("-"))], text.lstrip("-").replace(".", "")
    return f"{sign}{digits[:-1].lstrip('0') or '0'}.{digits[-1]}%"


def is_degenerate(judge: JudgeSheet, *suites: str | None) -> bool:
    """Whether a judge gave one answer to everything on one of these suites.

    Its pooled estimates say so by a flag: ``degenerate``, or one slot, content or answer
    ``throughout``.
    """
    flags = (
        flag
        for estimate in judge.estimates
        if estimate.suite in suites and not estimate.condition
        for flag in estimate.flags
    )
    return any(flag == "degenerate" or flag.endswith(" throughout") for flag in flags)


def name_of(judge: JudgeSheet, *suites: str | None) -> str:
    """The judge's display name, safe to draw, and `MARK` where it is degenerate on these suites."""
    name = shortened(printable(judge.name))
    return f"{name} {MARK}" if is_degenerate(judge, *suites) else name


def called(sheet: Datasheet, judge: str, suite: str) -> str:
    """The display name on a suite of the judge that has this name; of no judge, its name."""
    by_name = {judge.name: judge for judge in sheet.judges}
    return name_of(by_name[judge], suite) if judge in by_name else printable(judge)


def suite_of(sheet: Datasheet, measure: str, **condition: object) -> str | None:
    """The suite on which most judges have ``measure``; if several, the first by name."""
    estimates = (pooled(judge.estimates, measure, **condition) for judge in sheet.judges)
    counts = Counter(estimate.suite for of_judge in estimates for estimate in of_judge)
    return min(counts, key=lambda suite: (-counts[suite], suite), default=None)


def find(judge: JudgeSheet, suite: str | None, measure: str, **condition: object) -> Any:
    """The estimate if its value is a number, else ``None``."""
    estimate = pooled(judge.estimates, measure, **condition)
    return next((estimate for estimate in estimate if estimate.suite == suite), None)


def ends_of(interval: Interval | Clustered | None) -> IntervalEnds:
    """Both ends of an interval, if there is one."""
    return None if interval is None else (interval.lower, interval.upper)


def cells(estimate: Estimate | None) -> tuple[Value, ...]:
    """Value, ends of the clustered interval, n."""
    if estimate is None:
        return (None,) * 4
    return estimate.value, *(ends_of(estimate.clustered) or (None, None)), estimate.n


def named(quantity: str) -> tuple[str, ...]:
    """The columns of `cells`."""
    return quantity, f"{quantity}, lower", f"{quantity}, upper", f"{quantity}, n"


def fitting(name: str) -> str:
    """A name cut to the room in a figure; the table has it in full."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 13]}…{name[-12:]}"


def labels(axes: Any, x: str, y: str, title: str = "") -> None:
    """Set the labels of the axes and the title of the panel."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title, loc="left", fontweight="bold")


def shares(axes: Any, which: str = "xy") -> None:
    """A grid; the axes named in ``which`` go from 0 to 1."""
    axes.grid(visible=True)
    axes.set_axisbelow(True)
    for name in which:
        getattr(axes, f"set_{name}lim")(*_SHARE)


def dotted(axes: Any, **line: float) -> None:
    """A reference line at ``x=`` or ``y=``; without either, the diagonal."""
    if not line:
        axes.plot([0, 1], [0, 1], **_DOTTED)
    for which, place in line.items():
        (axes.axvline if which == "x" else axes.axhline)(place, **_DOTTED)


def ticks(axes: Any, which: str, names: Sequence[str]) -> None:
    """Names at the integer positions of an axis, the first on top."""
    shown_names = [fitting(name) for name in names]
    if which == "y":
        axes.set_yticks(range(len(names)), shown_names)
        axes.set_ylim(len(names) - 0.5, -0.5)
    else:
        turned = {"rotation": 35, "ha": "right"} if _are_slanted(names) else {}
        axes.set_xticks(range(len(names)), shown_names, **turned)


def _are_slanted(names: Sequence[str]) -> bool:
    return sum(map(len, names)) > _SLANTED


def height_of_rows(rows: int, each: float = 0.34, names: Sequence[str] = ()) -> float:
    """The height of a panel with this number of rows above an axis of names."""
    return 0.95 + each * max(rows, 2) + 0.5 * _are_slanted(names)


def curve(axes: Any, number: int, xs: Sequence[float], ys: Sequence[float], name: str = "") -> None:
    """A line through points, in the style of that number; ``name`` is for the legend."""
    looks = {"color": PALETTE, "linestyle": _DASHES, "marker": _SHAPES}
    style = {key: _of(styles, number) for key, styles in looks.items()}
    axes.plot(xs, ys, markersize=6, clip_on=False, **style, **_named(name))


def faint_curve(axes: Any, xs: Sequence[float], ys: Sequence[float], name: str = "") -> None:
    """A thin grey line, one of many that share a ``name`` in the legend."""
    axes.plot(xs, ys, color=_PIECES[-1], linewidth=0.9, zorder=1, clip_on=False, **_named(name))


def point(
    axes: Any,
    number: int,
    x: float,
    y: float,
    *,
    across: IntervalEnds = None,
    along: IntervalEnds = None,
    size: float | None = None,
    name: str = "",
    **style: Any,
) -> None:
    """A mark in the style of that number, with an area from 0 to 1; ``name`` is for the legend.

    Intervals along x (``across``) and along y (``along``) are drawn with it; ``style`` overrides
    properties of matplotlib's line.
    """
    colour = _of(PALETTE, number)
    for xs, ys in ((across, (y, y)), ((x, x), along)):
        if xs and ys:
            axes.plot(xs, ys, color=colour, linewidth=1.1, solid_capstyle="butt", zorder=2)
    looks = {
        "marker": _of(_SHAPES, number),
        "color": colour,
        "markersize": 6 if size is None else 6 + 12 * size**0.5,
        "markeredgewidth": 1.4,
        "linestyle": "",
        "zorder": 3,
        "clip_on": False,
    }
    axes.plot([x], [y], **{**looks, **style}, **_named(name))


def beside(axes: Any, number: int, x: float, y: float, text: str, *, below: bool = False) -> None:
    """Text beside a mark, on the side with room for it."""
    right = x > 0.75
    axes.annotate(
        fitting(text),
        (x, y),
        xytext=(-9 if right else 9, -15 if below else 9),
        textcoords="offset points",
        ha="right" if right else "left",
        color=_of(PALETTE, number),
    )


def swarm(axes: Any, points: Iterable[tuple[float, float, float]]) -> None:
    """A cloud of points, darker for a higher third number (0 to 1)."""
    xs, ys, depths = zip(*points, strict=True)
    fills = [shade(0.25 + 0.75 * depth) for depth in depths]
    axes.scatter(xs, ys, s=16, c=fills, edgecolors=INK, linewidths=0.3, zorder=3)


def bars(axes: Any, names: Sequence[str], pieces: Sequence[tuple[str, Sequence[float]]]) -> None:
    """One stacked bar for each name; each piece has a label and its length in every bar."""
    reached = [0.0] * len(names)
    for number, (name, lengths) in enumerate(pieces):
        axes.barh(
            range(len(names)),
            lengths,
            left=reached,
            height=0.62,
            color=_of(_PIECES, number),
            edgecolor=PAPER,
            hatch=_of(_HATCHES, number),
            linewidth=0.8,
            **_named(name),
        )
        reached = [height + length for height, length in zip(reached, lengths, strict=True)]
    ticks(axes, "y", names)
    axes.set_xlim(0.0, 1.0)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def heat(
    axes: Any,
    columns: Sequence[str],
    rows: Sequence[str],
    values: Mapping[tuple[int, int], tuple[float, str]],
) -> None:
    """A map of cells: by column and row the depth from -1 to 1 and the text."""
    words = {"ha": "center", "va": "center", "fontsize": 8 if len(columns) > 8 else 10}
    for (x, y), (depth, text) in values.items():
        corners = [x - 0.5, x + 0.5, x + 0.5, x - 0.5], [y - 0.5, y - 0.5, y + 0.5, y + 0.5]
        axes.fill(*corners, facecolor=shade(depth), edgecolor=PAPER)
        axes.text(x, y, text, color="#fdfdfd" if abs(depth) > 0.55 else "#10151b", **words)
    ticks(axes, "x", columns)
    ticks(axes, "y", rows)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)


def shade(depth: float) -> str:
    """A colour, darker with the distance of ``depth`` from 0, of another hue below 0."""
    ends = _NEGATIVE if depth < 0 else _DEEP
    low, high = (tuple(int(end[i : i + 2], 16) for i in (1, 3, 5)) for end in ends)
    share = min(1.0, abs(depth))
    mixed = (round(a + (b - a) * share) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _of(styles: Sequence[Any], number: int) -> Any:
    return styles[number % len(styles)]


def _named(name: str) -> dict[str, str]:
    # matplotlib leaves names that begin with _ out of the legend.
    return {"label": f" {fitting(name)}"} if name else {}
