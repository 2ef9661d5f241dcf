"""The figures as values: their findings, the numbers that they are drawn from, what is absent."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from functools import cache
from typing import Any

import pytest
from matplotlib.figure import Figure as Canvas

from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.figures import (
    Absent,
    Figure,
    Panel,
    beside,
    curve,
    percent,
    shown,
)
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.temperature.causal import unusable
from pytest_judgesense.instruments.temperature.figures import swarm_of
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.drawing import draw
from pytest_judgesense.report.page import csv_of
from pytest_judgesense.report.view import view_of
from tests.claims import refuse_unshown_claims
from tests.instruments.temperature.tables_by_hand import (
    ATTRIBUTIONS,
    NOT_INSTALLED,
    POINTS,
    TABLE,
    UNAVAILABLE_ATTRIBUTIONS,
    UNAVAILABLE_EFFECTS,
    temperature_sheet,
)
from tests.suites.known import of_known_kinds

from .replaying import LARGE, PUBLISHED, SHIPPED, replayed

SVG = "{http://www.w3.org/2000/svg}"


@cache
def shipped_sheet() -> Datasheet:
    parts = [
        replayed(profile, name).sheet
        for profile in SHIPPED
        for name in PUBLISHED
        if name not in ("temperature", "rubric", *LARGE) or name in SHIPPED[profile]
    ]
    return sheet_of(parts, seed=0, mode="replay")


@cache
def figures_of(kind: str) -> dict[str, Figure | Absent]:
    sheet = shipped_sheet() if kind == "shipped" else temperature_sheet()
    return {one.head.key: one for one in view_of(sheet).figures}


def figure(kind: str, key: str) -> Figure:
    found = figures_of(kind)[key]
    assert isinstance(found, Figure), found
    return found


def axes_of(found: Figure) -> list[Any]:
    """The axes of each panel, drawn on."""
    canvas = Canvas()
    axes = list(canvas.subplots(len(found.panels), 1, squeeze=False)[:, 0])
    for panel, on in zip(found.panels, axes, strict=True):
        panel.draw(on)
    return axes


def marks(found: Figure, panel: int = 0) -> list[Any]:
    """What is drawn of a panel at one point each."""
    return [line for line in axes_of(found)[panel].lines if len(line.get_xdata()) == 1]


def estimate(judge: str, suite: str, measure: str, **condition: object) -> Estimate:
    (found,) = [
        one
        for sheet in shipped_sheet().judges
        if sheet.judge == judge
        for one in sheet.estimates
        if (one.suite, one.measure, dict(one.condition)) == (suite, measure, condition)
    ]
    return found


def test_every_figure_of_the_issue_is_there_or_says_what_would_give_it() -> None:
    numbers = [one.head.number for one in figures_of("shipped").values()]
    # Tables of judges come before comparisons of them.
    rooms = [*["10"] * len(of_known_kinds("rubric")), *["8"] * len(of_known_kinds("debate"))]
    assert numbers == ["1", "2", "3", "4", "5", "6", "7a", "7b", "7c", "7d", *rooms]
    absent = {one.head.number for one in figures_of("shipped").values() if isinstance(one, Absent)}
    # Without the system's libgomp no tree grows, and 7d says so.
    assert absent == ({"7d"} if unusable("lightgbm") else set())
    drawn = {o.head.number for o in figures_of("heat").values() if isinstance(o, Figure)}
    assert drawn == {"7a", "7b", "7c", "7d"}
    for one in figures_of("heat").values():
        if isinstance(one, Absent):
            assert "--judge-suite" in one.reason


def test_the_titles_of_all_shipped_recordings_hold_their_intervals() -> None:
    titles = [
        figure.finding for figure in figures_of("shipped").values() if isinstance(figure, Figure)
    ]
    assert len(titles) > 8
    for title in titles:
        # A configuration of debates is called the most stable by its range of ranks.
        if "most stable configuration" not in title:
            refuse_unshown_claims(title)


def test_the_metrology_map_holds_all_judges_with_the_estimates_of_the_datasheet() -> None:
    found = figure("shipped", "metrology")
    # `positional` says A to everything, and is marked.
    drawn = ["clean", "mixed", "noisy", "positional (degenerate)"]
    assert [row[0] for row in found.rows] == drawn
    for judge_drawn, dark, lower, upper, n, stable, *_ in found.rows:
        judge = str(judge_drawn).removesuffix(" (degenerate)")
        known = estimate(judge, "vacuum", "dark_current")
        assert known.clustered is not None
        ends = (known.clustered.lower, known.clustered.upper)
        assert (dark, lower, upper, n) == (known.value, *ends, known.n)
        pairs = estimate(judge, "ladder@published", "stable_cross_sensitivity")
        assert stable == pairs.value
    # Areas of marks: sensitivity at distance 1, above that of the least mark.
    sizes = [line.get_markersize() for line in marks(found)]
    near = [
        estimate(judge, "ladder@published", "target_sensitivity", distance=1).value
        for judge in ("clean", "mixed", "noisy", "positional")
    ]
    assert sizes == [6 + 12 * (value or 0.0) ** 0.5 for value in near]
    places = [(line.get_xdata()[0], line.get_ydata()[0]) for line in marks(found)]
    assert places == [(row[1], row[5]) for row in found.rows]
    # `positional` always names a winner, `clean` never does where there is nothing.
    assert found.finding == (
        "positional (degenerate) names a winner in 100.0% of calls with nothing to judge, "
        "clean in 0.0%"
    )


def test_psychometric_curves_have_wilson_bars_and_say_which_thresholds_are_censored() -> None:
    found = figure("shipped", "psychometric")
    assert [one.get_title("left") for one in axes_of(found)] == ["ladder@published", "ladder-fine"]
    known = estimate("noisy", "ladder@published", "target_sensitivity", distance=2)
    assert known.interval is not None
    assert known.interval.method == "wilson"
    row = ("noisy", "ladder@published", 2.0, known.value)
    assert (*row, known.interval.lower, known.interval.upper, known.n) in found.rows
    thresholds = {
        row[0]: row[3] for row in found.rows if row[1:3] == ("ladder-fine", "75% threshold")
    }
    assert thresholds["noisy"] == "> 0.75"
    large = [line.get_marker() for line in marks(found, 1) if line.get_markersize() == 11]
    assert large == ["d", "d", ">", ">"]  # clean, mixed; noisy and positional
    reference = axes_of(found)[0].lines[0]
    assert list(reference.get_ydata()) == [0.75, 0.75]


def test_the_decomposition_adds_up_to_all_pairs() -> None:
    found = figure("shipped", "decomposition")
    for row in found.rows:
        # Stable, positional, one-sided, none: every pair is one of these; "other" is what of the
        # false preference they leave unexplained.
        stable, positional, one_sided, other, none = (float(cell or 0) for cell in row[1:6])
        assert stable + positional + one_sided + none == pytest.approx(1.0)
        assert other == pytest.approx(0.0)
    assert found.finding.startswith("positional prefers the same slot in both orders in 100.0%")
    # Each judge has a bar under the baseline prompt and one under the strict prompt (Figure 3).
    names = [str(row[0]).removesuffix(", strict") for row in found.rows]
    assert names[::2] == names[1::2]
    assert sorted(name.split()[0] for name in names[::2]) == sorted(SHIPPED)[: len(names) // 2]
    strict = next(row for row in found.rows if row[0] == "noisy, strict")
    for place, measure in ((1, "stable_cross_sensitivity"), (5, "no_preference")):
        known = estimate("noisy", "criterion@published", measure, arm="strict")
        assert (strict[place], strict[6]) == (known.value, known.n)


def test_the_criterion_tradeoff_leads_from_baseline_to_strict() -> None:
    found = figure("shipped", "criterion")
    assert [row[1] for row in found.rows] == ["baseline", "strict"] * 4
    drawn = {(line.get_xdata()[0], line.get_ydata()[0]) for line in marks(found)}
    (axes,) = axes_of(found)
    assert axes.get_xlabel() == "raw false preference (share of calls)"
    assert axes.get_ylabel() == "sensitivity at distance 1 (share of calls)"
    for judge, arm, false, _, _, _, near, *_ in found.rows:
        assert (false, near) in drawn
        for place, measure, more in (
            (false, "raw_false_preference", {}),
            (near, "target_sensitivity", {"distance": 1}),
        ):
            known = estimate(str(judge), "criterion@published", measure, arm=arm, **more)
            assert place == known.value


def test_position_and_wording_name_the_worst_judge() -> None:
    place = figure("shipped", "position")
    # 1 less 0; the lower end of the one less the upper end of the other, and the other way round.
    assert place.finding == "Position outweighs content for positional: 1.000 [0.391, 1.000]"
    wording = figure("shipped", "wording")
    # Of noisy on rubric, of those that ship: 166 of 460 pairs of grades, see its datasheet.
    stay, judge, suite = min(
        (one.value, sheet.judge, one.suite)
        for sheet in shipped_sheet().judges
        for one in sheet.estimates
        if one.measure == "jss" and not one.condition and one.value is not None
    )
    assert wording.finding.startswith(f"The lowest JSS is that of {judge} on {suite}: {stay:.3f} [")
    assert [one.get_title("left") for one in axes_of(wording)] == ["by task", "judge by task"]


def test_temperatures_leave_margins_out_and_name_the_greatest_loss() -> None:
    found = figure("heat", "temperature")
    assert len(found.rows) == len(TABLE)
    # The farthest two temperatures, and not the largest difference, which is that of 0 and 1.
    assert found.finding == (
        "Agreement of hot falls from temperature 0 to 2: -0.125 [-0.210, -0.040]"
    )
    agreement, consistency, errors = (axes.lines for axes in axes_of(found))
    assert [len(line.get_xdata()) for line in agreement] == [3, 2]
    assert [len(line.get_xdata()) for line in consistency] == [3, 1]  # one is not measured
    assert list(errors[1].get_ydata()) == [0.0, 0.25]


def test_correlations_effects_and_attributions() -> None:
    assert figure("heat", "correlations").finding == (
        "The largest r measured is that of temperature and agreement: -0.750, without an interval"
    )
    texts = axes_of(figure("heat", "correlations"))[0].texts
    assert {text.get_position(): text.get_text() for text in texts} == {
        (0, 1): "-0.750",
        (1, 0): "-0.750",
        (1, 2): "0.500",
        (2, 1): "0.500",
        (0, 0): "1.000",
    }
    effects = figure("heat", "effects")
    assert effects.finding == "A high temperature lowers agreement: -0.125 [-0.200, -0.050]"
    _, names = axes_of(effects)[0].get_legend_handles_labels()
    assert list(dict.fromkeys(names)) == [" aipw", " paired", " pair"]  # no value, no mark
    assert len(effects.rows) == 6
    bees = figure("heat", "attributions")
    assert bees.finding == "The fitted model of agreement uses temperature most: mean |SHAP| 0.080"
    points = list(swarm_of(POINTS))
    assert len(points) == 180
    assert {depth for _, _, depth in points} == {0.0, 0.5, 1.0}
    assert all(abs(y - round(y)) <= 0.4 + 1e-12 for _, y, _ in points)
    assert len(axes_of(bees)[0].collections[0].get_offsets()) == 180


def test_the_depth_of_a_point_is_the_rank_of_its_value() -> None:
    # 1, 8 and 16 are the first, second and third of three values; points stand by their effect.
    effects = {16: -0.2, 1: 0.1, 8: 0.3}
    rows = [{"feature": "f", "feature_value": v, "shap": effect} for v, effect in effects.items()]
    assert [(x, depth) for x, _, depth in swarm_of(rows)] == [(-0.2, 1), (0.1, 0), (0.3, 0.5)]


def test_without_the_extra_effects_and_attributions_say_how_to_install_it() -> None:
    sheet = temperature_sheet(
        temperature_effects=UNAVAILABLE_EFFECTS,
        temperature_attributions=UNAVAILABLE_ATTRIBUTIONS,
        temperature_attribution_points=[],
    )
    found = {one.head.key: one for one in view_of(sheet).figures}
    for key in ("effects", "attributions"):
        absent = found[key]
        assert isinstance(absent, Absent)
        assert "pip install 'pytest-judgesense[causal]'" in absent.reason
    assert isinstance(found["temperature"], Figure)


def test_an_outcome_that_cannot_be_attributed_stands_in_the_table_with_its_reason() -> None:
    sheet = temperature_sheet(temperature_attributions=[*ATTRIBUTIONS, UNAVAILABLE_ATTRIBUTIONS[2]])
    found = {one.head.key: one for one in view_of(sheet).figures}["attributions"]
    assert isinstance(found, Figure)
    assert found.columns[2:] == ("outcome", "feature", "mean |SHAP|", "se", "unavailable")
    assert found.rows[0][2:] == ("agreement", "temperature", 0.08, 0.01, None)
    assert found.rows[-1][2:] == ("error_rate", None, None, None, NOT_INSTALLED)


@pytest.mark.parametrize(
    ("rate", "text"),
    [(0.6576, "65.8%"), (1.0, "100.0%"), (0.0, "0.0%"), (0.0004, "0.0%"), (-0.0312, "-3.1%")],
)
def test_percentages_have_the_digits_of_the_rate(rate: float, text: str) -> None:
    assert percent(rate) == text
    digits = shown(rate).replace(".", "").lstrip("-0")
    assert text.rstrip("%").replace(".", "").lstrip("-0") == digits


@pytest.mark.parametrize(
    "text",
    ["a;=cmd()", "a;  =cmd()", "a\t=cmd()", 'a;"=cmd()"', "a;+1", "a;@x", "b;c;-1+2", '"";=1'],
)
def test_no_formula_begins_where_a_spreadsheet_parts_cells_otherwise(text: str) -> None:
    line = csv_of(("name",), [(text,)]).splitlines()[1]
    for separator in ";\t":
        for cell in line.split(separator):
            assert not cell.strip(' "').startswith(("=", "+", "-", "@")), line


def test_csv_of_other_texts_is_as_it_was() -> None:
    for text in ("a; b", "a - b", "x=1;y=2", "1; 2", "a;b-c"):
        assert text in csv_of(("name",), [(text,)])


def test_csv_holds_unrounded_numbers_and_no_formula() -> None:
    text = csv_of(
        ("name", "value"),
        [
            ("=HYPERLINK(1)", 1 / 3),
            ("+1", -0.5),
            ("-x", None),
            ("@y", 2),
            (" =z", 0),
            ("a,b\x1b", 1),
        ],
    )
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[1:] == [
        ["'=HYPERLINK(1)", repr(1 / 3)],
        ["+1", "-0.5"],  # a number is none, as text either
        ["'-x", ""],
        ["'@y", "2"],
        ["' =z", "0"],
        ["a,b\\x1b", "1"],
    ]


@pytest.mark.parametrize("kind", ["shipped", pytest.param("heat", marks=pytest.mark.long)])
def test_drawings_are_the_same_bytes_keep_text_and_hold_no_style(kind: str) -> None:
    for one in figures_of(kind).values():
        if isinstance(one, Absent):
            continue
        svg = draw(one)
        root = ET.fromstring(svg)
        texts = {element.text for element in root.iter(f"{SVG}text")}
        assert {axes.get_xlabel() for axes in axes_of(one)} - {""} <= texts
        assert root.find(f"{SVG}title").text == one.finding  # type: ignore[union-attr]
        assert not any("style" in element.attrib for element in root.iter())
        assert not any(element.tag == f"{SVG}style" for element in root.iter())
        own = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
        assert len(own) == len(set(own))
        assert all(name.startswith(f"fig-{one.head.key}-") for name in own)
        referred = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', svg))
        assert referred <= set(own)


def test_a_drawing_is_the_same_whatever_a_machine_has_set() -> None:
    import matplotlib as mpl

    one = figure("shipped", "position")
    drawn = draw(one)
    with mpl.rc_context({"lines.linewidth": 9, "font.size": 30, "svg.fonttype": "path"}):
        assert draw(one) == drawn
        assert mpl.rcParams["lines.linewidth"] == 9  # and it is left as it was


def test_names_that_are_long_or_odd_are_drawn() -> None:
    one = figure("shipped", "metrology")
    names = ["$x_1$", "_hidden", "判断者", "n" * 500]

    def drawing(axes: Any) -> None:
        for number, name in enumerate(names):
            curve(axes, number, [0.0, 1.0], [0.0, 1.0], name)
            beside(axes, number, 0.5, 0.5, name)

    svg = draw(one._replace(panels=(Panel(drawing),)))
    texts = [element.text for element in ET.fromstring(svg).iter(f"{SVG}text")]
    for name in ("$x_1$", "_hidden", "判断者", "n" * 27 + "…" + "n" * 12):
        # At the mark, and in the legend.
        assert sum((text or "").strip() == name for text in texts) == 2, name
