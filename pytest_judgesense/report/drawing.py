"""From a figure to SVG: the only door to matplotlib.

Text stays text, and the same figure is the same bytes: no date, no random ids. Colours are written
as attributes, which a style sheet overrides: one drawing serves a light page and a dark one, and a
page that allows no inline style.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from typing import Any, Final
from xml.etree import ElementTree as ET

from pytest_judgesense.datasheets.figures import INK, PAPER, Figure

_FAINT: Final = "#d3dae2"
_WIDTH: Final = {False: 6.4, True: 9.6}  # at 72 dots an inch: 460 and 691 units
_LEGEND_LINE: Final = 0.22
_SVG: Final = "http://www.w3.org/2000/svg"
_XLINK: Final = "http://www.w3.org/1999/xlink"
_COLOURS: Final = ("fill", "stroke")
_SETTINGS: Final = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a judge's name may hold a dollar
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 11,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), INK),
    **dict.fromkeys(("axes.labelsize", "axes.titlesize", "legend.fontsize"), 11),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    **dict.fromkeys(("axes.linewidth", "hatch.linewidth"), 0.8),
    "grid.color": _FAINT,
    "grid.linewidth": 0.7,
    "hatch.color": PAPER,
}
# Names in a log may contain characters that XML cannot.
_NO_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def draw(figure: Figure) -> str:
    """The figure as an ``svg`` element."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    settings: dict[Any, Any] = {**_SETTINGS, "svg.hashsalt": figure.head.key}
    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()  # independent of this machine's settings
        mpl.rcParams.update(settings)
        # Letters that the font which measures text does not have are drawn by the browser's.
        warnings.simplefilter("ignore")
        heights = [panel.height for panel in figure.panels]
        canvas = Canvas(figsize=(_WIDTH[figure.wide], sum(heights)), layout="constrained")
        drawn = canvas.subplots(
            len(heights), 1, squeeze=False, gridspec_kw={"height_ratios": heights}
        )[:, 0]
        for panel, axes in zip(figure.panels, drawn, strict=True):
            panel.draw(axes)
        _add_legend(canvas, drawn)
        text = io.StringIO()
        canvas.savefig(text, format="svg", metadata={"Date": None})
    return _plain(text.getvalue(), figure)


def _add_legend(canvas: Any, panels: Any) -> None:
    """A sample of each named mark, once, where there are several; the canvas grows by it."""
    samples: dict[str, Any] = {}
    for axes in panels:
        for sample, name in zip(*axes.get_legend_handles_labels(), strict=True):
            samples.setdefault(name, sample)
    if len(samples) < 2:
        return
    longest = max(map(len, samples)) - 1
    columns = 1 if longest > 34 else 2 if longest > 18 else 3 if longest > 12 else 4
    width, height = canvas.get_size_inches()
    canvas.set_size_inches(width, height + _LEGEND_LINE * -(-len(samples) // columns))
    looks = {"loc": "outside lower left", "ncols": columns, "handlelength": 2.6}
    canvas.legend(list(samples.values()), list(samples), **looks)


def _plain(text: str, figure: Figure) -> str:
    """The drawing without parts that a page cannot use: styles, dates, ids, declarations."""
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _XLINK)
    root = ET.fromstring(_NO_XML.sub("\ufffd", text))  # noqa: S314 our own drawing
    key = f"fig-{figure.head.key}"
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"):
                parent.remove(child)
    # A repeated element takes its colours from each place of use, because a style sheet does not
    # reach into it.
    for path in root.iterfind(f".//{{{_SVG}}}defs/{{{_SVG}}}path"):
        style = dict(_attributes(path.attrib.pop("style", "")))
        path.attrib |= {name: value for name, value in style.items() if name not in _COLOURS}
    for element in root.iter():
        identifier = element.attrib.pop("id", None)
        if identifier in used:
            element.set("id", f"{key}-{identifier}")
        element.attrib |= dict(_attributes(element.attrib.pop("style", "")))
        for name, value in list(element.attrib.items()):
            if "#" in value and name != "id":
                moved = re.sub(r"url\(#", f"url(#{key}-", value)
                if name.endswith("href"):
                    moved = re.sub(r"^#", f"#{key}-", value)
                element.set(name, moved)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    named = {"role": "img", "aria-labelledby": f"{key}-title {key}-desc"}
    root.attrib |= {"stroke-linejoin": "round", **named}
    for place, (tag, words) in enumerate((("title", figure.finding), ("desc", figure.description))):
        element = ET.Element(f"{{{_SVG}}}{tag}", {"id": f"{key}-{tag}"})
        element.text = _NO_XML.sub("\ufffd", words)
        root.insert(place, element)
    return ET.tostring(root, encoding="unicode")


def _attributes(style: str) -> Iterator[tuple[str, str]]:
    """Declarations as attributes of presentation, which every one of them has but ``font``."""
    for declaration in style.split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if name == "font":
            size = re.search(r"(?<![\d.])([\d.]+)px", value)
            if "bold" in value or " 700 " in f" {value} ":
                yield "font-weight", "bold"
            if size:
                yield "font-size", size[1]
            yield "font-family", "DejaVu Sans, Verdana, sans-serif"
        elif name:
            yield name, value
