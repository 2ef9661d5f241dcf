"""From a figure to SVG: the only door to matplotlib.

Text stays text, and the same figure is the same bytes: no date, no random ids. Colours are written
as attributes, which a style sheet overrides: so one drawing serves a light page and a dark one, and
stands alone as a file. There are no ``style`` attributes: a page that allows no inline style can
hold it.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

from pytest_judgesense.datasheet.page_figures import Axis, Figure, Mark, Panel, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["INK", "PALETTE", "draw"]

# Okabe and Ito's hues, darkened until each has a contrast of 4.5 to white.
PALETTE: Final = ("#0060a8", "#b84300", "#00745a", "#a03a78", "#806000", "#4b49b6", "#56606b")
# Of pieces of a bar: the last is what is right, and nothing to look at.
_PIECES: Final = (*PALETTE[:4], "#c3ccd6")
INK: Final = "#1d2733"
_FAINT: Final = "#d3dae2"
_PAPER: Final = "#ffffff"
_SHAPES: Final = "osD^vPX"
_SWARM: Final = 40  # more marks than this are a cloud
_DASHES: Final = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))
_HATCHES: Final = ("", "//", "..", "xx", "")
_CENSORED: Final = {"left": "<", "right": ">", "at": "d"}
# Light to dark, and the two directions of a correlation; neither changes with the page.
_DEEP: Final = ("#eef4fa", "#0a4a80")
_NEGATIVE: Final = ("#fdf1ea", "#9a3b00")
_WIDTH: Final = {False: 6.4, True: 9.6}  # at 72 dots an inch: 460 and 691 units
_SVG: Final = "http://www.w3.org/2000/svg"
_XLINK: Final = "http://www.w3.org/1999/xlink"
_LONGEST: Final = 40
_COLOURS: Final = ("fill", "stroke")
_SETTINGS: Final = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a judge's name may hold a dollar
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": 10,
    "axes.titlesize": 10,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": _FAINT,
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "hatch.linewidth": 0.8,
    "hatch.color": _PAPER,
}


def draw(figure: Figure) -> str:
    """The figure as an ``svg`` element."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    settings: dict[Any, Any] = {**_SETTINGS, "svg.hashsalt": figure.head.key}
    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()  # whatever this machine's own settings are
        mpl.rcParams.update(settings)
        # Letters that the font which measures text does not have are drawn by the browser's.
        warnings.simplefilter("ignore")
        heights = [_height(panel) for panel in figure.panels]
        legend = _legend_of(figure)
        longest = max((len(name) for name in legend), default=0)
        columns = 1 if longest > 34 else 2 if longest > 18 else 3 if longest > 12 else 4
        below = 0.22 * -(-len(legend) // columns)
        size = (_WIDTH[figure.wide], sum(heights) + below)
        canvas = Canvas(figsize=size, layout="constrained")
        axes = canvas.subplots(
            len(heights), 1, squeeze=False, gridspec_kw={"height_ratios": heights}
        )
        for panel, on in zip(figure.panels, axes[:, 0], strict=True):
            _draw_panel(panel, on)
        if legend:
            canvas.legend(
                list(legend.values()),
                [
                    f" {_fitting(name)}" for name in legend
                ],  # a name that begins with _ would be left out
                loc="outside lower left",
                ncols=columns,
                handlelength=2.6,
            )
        text = io.StringIO()
        canvas.savefig(text, format="svg", metadata={"Date": None})
    return _plain(text.getvalue(), figure)


def _height(panel: Panel) -> float:
    if panel.kind == "points" and not panel.y.ticks:
        return 3.9
    rows = len(panel.y.ticks)
    each = 0.34
    if panel.kind == "points":
        each = max(0.42, 0.17 * len(panel.series))
    slanted = 0.5 if panel.kind == "heat" and not _short(panel.x.ticks) else 0.0
    return 0.95 + each * max(rows, 2) + slanted


def _fitting(name: str) -> str:
    """A name as long as a figure has room for; its table has it whole."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 13]}…{name[-12:]}"


def _short(ticks: Sequence[str]) -> bool:
    return sum(map(len, ticks)) <= 44


def _legend_of(figure: Figure) -> dict[str, Any]:
    """A sample of each named series, once."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    found: dict[str, Any] = {}
    for panel in figure.panels:
        for series in panel.series:
            if not series.name or series.name in found:
                continue
            colour = _colour(series.style)
            if panel.kind == "bars":
                found[series.name] = Patch(
                    facecolor=_PIECES[series.style % len(_PIECES)],
                    hatch=_HATCHES[series.style % len(_HATCHES)],
                    edgecolor=_PAPER,
                )
            else:
                found[series.name] = Line2D(
                    [],
                    [],
                    color=colour,
                    marker=_SHAPES[series.style % len(_SHAPES)],
                    linestyle=_DASHES[series.style % len(_DASHES)] if series.joined else "",
                )
    return found if len(found) > 1 else {}


def _colour(style: int) -> str:
    return PALETTE[style % len(PALETTE)]


def _draw_panel(panel: Panel, on: Axes) -> None:
    {"points": _points, "bars": _bars, "heat": _heat}[panel.kind](panel, on)
    on.set_xlabel(panel.x.label)
    on.set_ylabel(panel.y.label)
    if panel.title:
        on.set_title(panel.title, loc="left", fontweight="bold")
    for which, axis in (("x", panel.x), ("y", panel.y)):
        _scale(on, which, axis)


def _scale(on: Axes, which: str, axis: Axis) -> None:
    if axis.ticks:
        places = range(len(axis.ticks))
        if which == "x":
            slanted = not _short(axis.ticks)
            on.set_xticks(
                places,
                [_fitting(name) for name in axis.ticks],
                rotation=35 if slanted else 0,
                ha="right" if slanted else "center",
            )
        else:
            on.set_yticks(places, [_fitting(name) for name in axis.ticks])
            on.set_ylim(len(axis.ticks) - 0.5, -0.5)  # the first on top
    elif axis.ends:
        (on.set_xlim if which == "x" else on.set_ylim)(*axis.ends)


def _points(panel: Panel, on: Axes) -> None:
    on.grid(visible=True, axis="x" if panel.y.ticks else "both")
    on.set_axisbelow(True)
    for which, place in panel.lines:
        if which == "diagonal":
            on.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=(0, (2, 2)))
        else:
            line = on.axvline if which == "x" else on.axhline
            line(place, color=INK, linewidth=0.8, linestyle=(0, (2, 2)))
    for series in panel.series:
        _series(series, on)


def _series(series: Series, on: Axes) -> None:
    colour, shape = _colour(series.style), _SHAPES[series.style % len(_SHAPES)]
    marks = series.marks
    if series.joined and len(marks) > 1:
        dashes = _DASHES[series.style % len(_DASHES)]
        on.plot([m.x for m in marks], [m.y for m in marks], color=colour, linestyle=dashes)
    if len(marks) > _SWARM:
        fills = [_shade(_DEEP, 0.25 + 0.75 * (mark.size or 0.0)) for mark in marks]
        xs, ys = [mark.x for mark in marks], [mark.y for mark in marks]
        on.scatter(xs, ys, s=16, c=fills, edgecolors=INK, linewidths=0.3, zorder=3)
        return
    for index, mark in enumerate(marks):
        for ends, across in ((mark.across, True), (mark.along, False)):
            if ends is not None:
                place = [mark.y, mark.y] if across else [mark.x, mark.x]
                xy = (ends, place) if across else (place, ends)
                on.plot(*xy, color=colour, linewidth=1.1, solid_capstyle="butt", zorder=2)
        if mark.shape:
            on.plot(
                [mark.x],
                [mark.y],
                marker=_CENSORED[mark.shape],
                color=colour,
                markersize=11,
                markerfacecolor="none",
                markeredgewidth=1.6,
                linestyle="",
                zorder=4,
                clip_on=False,
            )
            continue
        on.plot(
            [mark.x],
            [mark.y],
            marker=shape,
            color=colour,
            markersize=6 if mark.size is None else 6 + 12 * mark.size**0.5,
            # Of two joined marks the first is where it comes from.
            markerfacecolor="none" if series.joined and mark.label and index == 0 else colour,
            markeredgewidth=1.4,
            linestyle="",
            zorder=3,
            clip_on=False,
        )
    _label(marks, on, colour)


def _label(marks: Sequence[Mark], on: Axes, colour: str) -> None:
    for index, mark in enumerate(marks):
        if mark.label:
            right = mark.x > 0.75
            below = index % 2 == 1  # the two ends of a line do not write over one another
            on.annotate(
                _fitting(mark.label),
                (mark.x, mark.y),
                xytext=(-9 if right else 9, -15 if below else 9),
                textcoords="offset points",
                ha="right" if right else "left",
                color=colour,
            )


def _bars(panel: Panel, on: Axes) -> None:
    reached = [0.0] * len(panel.y.ticks)
    for series in panel.series:
        for mark in series.marks:
            row = int(mark.y)
            on.barh(
                row,
                mark.x,
                left=reached[row],
                height=0.62,
                color=_PIECES[series.style % len(_PIECES)],
                edgecolor=_PAPER,
                hatch=_HATCHES[series.style % len(_HATCHES)],
                linewidth=0.8,
            )
            reached[row] += mark.x
    on.spines["left"].set_visible(False)
    on.tick_params(axis="y", length=0)


def _heat(panel: Panel, on: Axes) -> None:
    from matplotlib.patches import Rectangle

    for mark in (mark for series in panel.series for mark in series.marks):
        depth = mark.size or 0.0
        fill = _shade(_NEGATIVE if depth < 0 else _DEEP, abs(depth))
        on.add_patch(
            Rectangle((mark.x - 0.5, mark.y - 0.5), 1, 1, facecolor=fill, edgecolor=_PAPER)
        )
        on.text(
            mark.x,
            mark.y,
            mark.label,
            ha="center",
            va="center",
            fontsize=8 if len(panel.x.ticks) > 8 else 9,
            color="#fdfdfd" if abs(depth) > 0.55 else "#10151b",
        )
    on.set_xlim(-0.5, len(panel.x.ticks) - 0.5)
    for spine in on.spines.values():
        spine.set_visible(False)
    on.tick_params(length=0)


def _shade(ends: tuple[str, str], depth: float) -> str:
    low, high = (tuple(int(end[i : i + 2], 16) for i in (1, 3, 5)) for end in ends)
    depth = min(1.0, max(0.0, depth))
    mixed = (round(a + (b - a) * depth) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _plain(text: str, figure: Figure) -> str:
    """The drawing without what a page cannot take: styles, dates, ids of others, declarations."""
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _XLINK)
    root = ET.fromstring(text)  # noqa: S314 our own drawing
    key = f"fig-{figure.head.key}"
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"):
                parent.remove(child)
    # What is drawn many times takes its colours from each place where it is drawn: a style sheet
    # does not reach into it.
    for path in root.iterfind(f".//{{{_SVG}}}defs/{{{_SVG}}}path"):
        kept = [one for one in _attributes(path.attrib.pop("style", "")) if one[0] not in _COLOURS]
        path.attrib |= dict(kept)
    for element in root.iter():
        own = element.attrib.pop("id", None)
        if own in used:
            element.set("id", f"{key}-{own}")
        for name, value in _attributes(element.attrib.pop("style", "")):
            element.set(name, value)
        for name, value in list(element.attrib.items()):
            if "#" in value and name != "id":
                moved = re.sub(r"url\(#", f"url(#{key}-", value)
                if name.endswith("href"):
                    moved = re.sub(r"^#", f"#{key}-", value)
                element.set(name, moved)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("stroke-linejoin", "round")
    root.set("role", "img")
    root.set("aria-labelledby", f"{key}-title {key}-desc")
    for place, (tag, words) in enumerate((("title", figure.finding), ("desc", figure.reading))):
        element = ET.Element(f"{{{_SVG}}}{tag}", {"id": f"{key}-{tag}"})
        element.text = words
        root.insert(place, element)
    return ET.tostring(root, encoding="unicode")


def _attributes(style: str) -> Iterator[tuple[str, str]]:
    """Declarations as attributes of presentation, which every one of them has but ``font``."""
    for declaration in style.split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if name == "font":
            size = re.search(r"([\d.]+)px", value)
            if "bold" in value or " 700 " in f" {value} ":
                yield "font-weight", "bold"
            if size:
                yield "font-size", size[1]
            yield "font-family", "DejaVu Sans, Verdana, sans-serif"
        elif name:
            yield name, value
