"""What is said of a change, everywhere in the package, against the interval beside it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.unchanged import SUITES, Reply
from pytest_judgesense.checks.regression import Side, adjust, compare
from pytest_judgesense.datasheets.figures import Figure
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.leaderboard import pair_words
from pytest_judgesense.instruments.temperature.measures import EFFECT_SIZE
from pytest_judgesense.instruments.temperature.tables import votes_lines
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.shared import SOFT_POSITION_EFFECT
from pytest_judgesense.report.view import view_of
from pytest_judgesense.stats.comparison import Adjusted, agreeing_ends, holm, paired_difference
from pytest_judgesense.stats.left_out import parts_left_out
from pytest_judgesense.stats.ranks import compared, family
from pytest_judgesense.text.shown_change import ShownChange, end_text, ends_text, farthest
from tests.claims import (
    CLAIMS,
    PARAMETERS,
    PRINTED,
    Ends,
    claims,
    clustered,
    refuse_unshown_claims,
    said_by,
)
from tests.instruments.temperature.tables_by_hand import EFFECTS, temperature_sheet
from tests.sources import SOURCES, tree_of

WORDS = {"above": "it rises", "below": "it falls", "neither": "it does not visibly change"}


@PARAMETERS
def test_a_sentence_claims_what_its_interval_shows(value: float, ends: Ends, allowed: str) -> None:
    change = ShownChange(value, ends)
    assert change.words(**WORDS) == WORDS[allowed]
    assert change.sentence(**WORDS).startswith(f"{WORDS[allowed]}: {value:.3f}")
    assert change.is_shown == (allowed != "neither")


def test_the_numbers_behind_a_sentence_are_its_interval_or_say_that_there_is_none() -> None:
    title = ShownChange(-0.162, (-0.385, 0.135)).sentence(
        above="Heat raises agreement",
        below="Heat lowers agreement",
        neither="Heat does not visibly change agreement",
    )
    assert title == "Heat does not visibly change agreement: -0.162 [-0.385, 0.135]"
    assert ShownChange(0.5, None).numbers() == "0.500, without an interval"


@given(
    st.floats(-1, 1, allow_nan=False),
    st.floats(0, 1, allow_nan=False),
    st.floats(0, 1, allow_nan=False),
    st.sampled_from([str, "{:.3f}".format, "{:+.2f}".format, "{:.0f}".format]),
)
def test_what_is_printed_holds_0_exactly_where_the_interval_does(
    value: float, below: float, above: float, text_of: Callable[[float], str]
) -> None:
    change = ShownChange(value, (value - below, value + above))
    assert change.ends is not None
    low, high = map(float, ends_text(change.ends, text_of).strip("[]").split(", "))
    assert (low > 0 or high < 0) == change.is_shown
    assert change.direction == (low > 0) - (high < 0)


def test_an_end_close_to_0_is_not_printed_as_0() -> None:
    assert end_text(0.0004) == "0.0004"
    assert end_text(-0.0004, "{:+.3f}".format) == "-0.0004"
    assert end_text(0.004, "{:+.2f}".format) == "+0.004"
    assert (end_text(0.0), end_text(0.0006)) == ("0.000", "0.001")


def test_two_estimates_differ_where_their_intervals_lie_apart_however_they_depend() -> None:
    def measured(value: float, lower: float, upper: float) -> Estimate:
        return Estimate("m", "s", value=value, clustered=clustered(lower, upper))

    then = measured(0.2, 0.1, 0.3)
    # .6 - .3 and .8 - .1
    assert ShownChange.between(then, measured(0.7, 0.6, 0.8)) == (
        pytest.approx(0.5),
        (pytest.approx(0.3), pytest.approx(0.7)),
    )
    assert not ShownChange.between(then, measured(0.4, 0.25, 0.6)).is_shown
    assert ShownChange.between(then, Estimate("m", "s", value=1.0)).ends is None
    with pytest.raises(ValueError, match="nothing was asked"):
        ShownChange.of(Estimate("m", "s", unavailable="nothing was asked"))


def test_the_farthest_change_is_one_that_is_shown_where_any_is() -> None:
    wide, narrow = ShownChange(0.9, (-0.1, 1.0)), ShownChange(-0.2, (-0.3, -0.1))
    assert farthest([(wide, "wide"), (narrow, "narrow")]) == (narrow, "narrow")
    assert farthest([(ShownChange(0.1, None), "near"), (wide, "wide")])[1] == "wide"


# --- what decides, and the interval beside it -----------------------------------------------------


@given(
    st.floats(-0.9, 0.9).filter(lambda value: abs(value) > 1e-6),
    st.floats(1e-3, 1),
    st.floats(1e-9, 1),
    st.integers(1, 9),
)
def test_an_interval_holds_0_exactly_where_the_test_in_its_family_does_not_reject(
    value: float, half: float, p: float, others: int
) -> None:
    adjusted = holm([p, *[1.0] * others])[0]
    low, high = agreeing_ends(value, (value - half, value + half), p, adjusted)
    assert low <= value <= high
    # At the level itself the end of the test is 0, but for rounding.
    if abs(adjusted.p - 0.05) > 1e-9:
        assert (low > 0 or high < 0) == (adjusted.p <= 0.05)


def test_two_judges_are_told_apart_exactly_where_their_interval_excludes_0() -> None:
    rng, apart = np.random.default_rng(3), 0
    for _ in range(30):
        rates = rng.uniform(0.3, 1.0, 4)
        rows = {
            f"j{judge}": {
                str(item): (float(rng.random() < rate), 1.0)
                for item in range(int(rng.integers(9, 60)))
            }
            for judge, rate in enumerate(rates)
        }
        names = sorted(rows)
        pairs = family([compared(a, b, rows) for a in names for b in names if a < b])
        for pair in pairs:
            if pair.interval is not None:
                low, high = pair.interval
                assert (low > 0 or high < 0) == pair.apart, pair
                apart += pair.apart
    assert apart > 20  # of 180 pairs: the assertion saw both


@given(st.lists(st.integers(-2, 2), min_size=2, max_size=30), st.sampled_from([0.01, 0.05, 0.2]))
def test_two_judges_differ_by_bounds_exactly_where_their_interval_excludes_0(
    halves: list[int], alpha: float
) -> None:
    difference = paired_difference([half / 2 for half in halves], range(len(halves)))
    assert difference is not None
    of_two = difference.by_bounds()
    assert (of_two.p_better < alpha) == (difference.lower(alpha - 1e-8) > 0)
    assert (of_two.p_worse < alpha) == (difference.upper(alpha - 1e-8) < 0)


def test_a_sentence_of_a_prompt_moves_verdicts_exactly_where_its_interval_excludes_0() -> None:
    rng, moving = np.random.default_rng(4), 0
    for _ in range(60):
        items = int(rng.integers(3, 40))
        whole = 1 + (rng.random((items, 3)) < 0.1)
        parts = [1 + (rng.random((items, 1)) < turned) for turned in rng.uniform(0.05, 0.5, 4)]
        for part in parts_left_out(whole, parts, [str(item) for item in range(items)]):
            assert part is not None
            ends = part.decided()
            assert ends is not None
            assert (ends[0] > 0) == (part.p_adjusted <= 0.05), part
            moving += part.p_adjusted <= 0.05
    assert moving > 20


def worse_by(reply: Reply, lost: float) -> Reply:
    """The same judge, whose chances are lower."""
    return lambda trial, chance, rng: reply(trial, chance - lost, rng)


IN_THE_GATE = {"pairs"}


@pytest.mark.parametrize(
    "suite",
    # In the gate: pairs, whose sides are counted too.
    [
        pytest.param(suite, marks=() if suite in IN_THE_GATE else pytest.mark.long)
        for suite in SUITES
    ],
)
def test_no_verdict_on_any_measure_stands_beside_bounds_that_contradict_it(suite: str) -> None:
    design, plan, reply = SUITES[suite]
    rng, seen = np.random.default_rng(5), set[str]()
    measures = BUILT_IN.measures_on(design.kind)
    for before, after in ((0.0, 0.0), (0.0, 0.6), (0.6, 0.0)):
        trials = plan(20, rng)
        then, now = (
            Side.of(
                Cell(
                    "judge",
                    "s",
                    design,
                    tuple(worse_by(reply, lost)(trial, 0.9, rng) for trial in trials),
                    0,
                    measures,
                )
            )
            for lost in (before, after)
        )
        for measure in measures:
            if measure.comparable:
                seen.update(verdicts_held(then, now, measure))
    assert seen & {"improved", "regressed"}  # there were verdicts to hold


def verdicts_held(then: Side, now: Side, measure: Measure) -> Iterator[str]:
    comparison = compare(then, now, measure)
    (adjusted,) = adjust([("judge", comparison)])
    comparison, adjusted = comparison.deciding(measure.margin, adjusted)
    verdict, ends = comparison.verdict(measure.margin, adjusted), comparison.interval(adjusted)
    if ends is not None and not comparison.blocked:
        low, high = sorted(comparison.sign * end for end in ends)
        if verdict == "improved":
            assert low > 0, measure.name
        if verdict == "regressed":
            assert high < 0, measure.name
        if verdict == "unchanged":
            assert low > -measure.margin, measure.name
        if verdict == "inconclusive" and comparison.ungained is None:
            assert low <= 0, measure.name
        yield verdict


# --- sentences of sections, and of checks that fail -----------------------------------------------


def vote(value: float, ends: Ends) -> str:
    lower, upper = ends or (None, None)
    row = {"temperature": 1.0, "cold": 0.0, "k": 3, "value": value, "lower": lower, "upper": upper}
    (line,) = votes_lines([row | {"p_holm": 0.01, "calls": 3.0, "calls_cold": 1.0}])
    return line


def pair(value: float, ends: Ends) -> str:
    lower, upper = ends or (None, None)
    row = {"first": "a", "second": "b", "difference": value, "lower": lower, "upper": upper}
    beside = {"p": 0.01, "told_apart": True, "clusters": 9, "clusters_that_differ": 5}
    (line,) = pair_words([row | beside])
    return line.replace("differ by", "better or worse by").replace("no clear", "not told, no")


SENTENCES: dict[str, Callable[[float, Ends], str]] = {
    **{
        measure.name: lambda value, ends, measure=measure: said_by(measure, value, ends)  # type: ignore[misc]
        for measure in (EFFECT_SIZE, SOFT_POSITION_EFFECT)
    },
    "a vote": vote,
    "two judges": pair,
}


@pytest.mark.parametrize("sentence", SENTENCES.values(), ids=SENTENCES.keys())
@PARAMETERS
def test_sentences_of_sections_and_checks_claim_what_their_interval_shows(
    sentence: Callable[[float, Ends], str], value: float, ends: Ends, allowed: str
) -> None:
    text = sentence(value, ends)
    assert claims(text) == (allowed != "neither"), text


# --- titles of figures ----------------------------------------------------------------------------


@PARAMETERS
def test_titles_of_temperatures_claim_what_their_interval_shows(
    value: float, ends: Ends, allowed: str
) -> None:
    lower, upper = ends or (None, None)
    changed = {"value": value, "lower": lower, "upper": upper}
    sheet = temperature_sheet(temperature_effects=[row | changed for row in EFFECTS])
    titles = {
        figure.head.key: figure.finding
        for figure in view_of(sheet).figures
        if isinstance(figure, Figure)
    }
    for key in ("temperature", "effects"):
        refuse_unshown_claims(titles[key])
        assert bool(PRINTED.search(titles[key])) == (ends is not None)
        assert ("visibly" in titles[key]) == (allowed == "neither"), titles[key]


def _figure_modules() -> list[str]:
    """The modules of instruments that draw."""
    draws = "from pytest_judgesense.datasheets import figures as fig"
    of_rooms = (name for name in SOURCES if name.startswith("instruments."))
    return [name for name in of_rooms if draws in SOURCES[name] and "paper" not in name]


def _what_draws(tree: ast.Module) -> ast.Module:
    """The functions of a module that draw, without those that write lines of the terminal."""

    def draws(node: ast.AST) -> bool:
        return any(isinstance(part, ast.Name) and part.id == "fig" for part in ast.walk(node))

    return ast.Module([node for node in tree.body if draws(node)], [])


# Axis labels, notes of what is missing, and the styles of marks are no titles.
_NO_TITLES = {"labels", "Head", "Absent", "curve", "point", "beside", "get", "grid"}


def _loose_claims(tree: ast.AST) -> Iterator[str]:
    """Texts that claim a change and are given to nothing that takes an interval."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        inside: list[ast.AST] = []
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if name in _NO_TITLES | {"sentence", "words"}:
                inside = [node]
            elif name == "Figure":
                inside = [*node.args[2:], *node.keywords]  # how to read it, panels, tables
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and ast.get_docstring(
            node
        ):
            inside = [node.body[0]]
        skipped.update(id(part) for top in inside for part in ast.walk(top))
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in skipped and CLAIMS.search(node.value):  # type: ignore[attr-defined, arg-type]
            yield node.value  # type: ignore[attr-defined, misc]


_ALLOWED = {
    # Of configurations by their ranges of ranks, which are those of pairs that are told apart.
    "is the most stable configuration",
    "lower",  # the key of an end of an interval
    "better candidate chosen (share of calls)",  # an axis
}


def test_no_title_claims_a_change_without_giving_its_interval() -> None:
    modules = _figure_modules()
    assert {"instruments.ladder.figures", "instruments.temperature.figures"} <= {*modules}
    loose = {
        text for name in modules for text in _loose_claims(_what_draws(tree_of(SOURCES[name])))
    }
    # A room may be deleted, and its words with it.
    assert loose <= _ALLOWED
    # What it looks for is found where it stands.
    assert [*_loose_claims(ast.parse('finding = f"Heat lowers agreement by {value}"'))]


def test_an_adjusted_p_value_of_one_test_is_its_own() -> None:
    # The interval of 95% of a lone test at p = .04: its end next to 0 is .3 (1 - 1.960 / 2.054).
    low, high = agreeing_ends(0.3, (-0.1, 0.7), 0.04, Adjusted(0.04, 0.05))
    assert (low, high) == (pytest.approx(0.3 * (1 - 1.95996 / 2.05375), abs=1e-4), 0.7)
    # At p = .2 an interval that excludes 0 is widened to .3 (1 - 1.960 / 1.282).
    low, _ = agreeing_ends(0.3, (0.1, 0.7), 0.2, Adjusted(0.2, 0.05))
    assert low == pytest.approx(0.3 * (1 - 1.95996 / 1.28155), abs=1e-4)
