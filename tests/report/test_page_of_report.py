"""The page of judgments that no check gates: the answer first, and whole on a narrow screen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.checks.regression import Side
from pytest_judgesense.datasheets.datasheet import CheckLine
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.report.logged_cells import datasheet_of_cells
from pytest_judgesense.report.packing import PageEvidence
from pytest_judgesense.report.page import page_text
from pytest_judgesense.report.passing_judges import remarks
from pytest_judgesense.report.view import View, view_of
from pytest_judgesense.trial import Judgment
from tests.measures.building import SLOTS, both_orders

from .browser import MISSING, Opened, browser, chromium

# By judge what it replies to 20 pairs in both orders. The label is content 1: slot A, then slot B.
# `leaning` names slot A both times in 12 of 20; `careful` in 1; `fixed` says A to everything.
REPLIES = {
    "careful": [("A", "B")] * 19 + [("A", "A")],
    "leaning": [("A", "B")] * 8 + [("A", "A")] * 12,
    "fixed": [("A", "A")] * 20,
}


def cell(judge: str, replies: list[tuple[str, str]]) -> Cell:
    judgments = (
        replace(judgment, judge=judge) for judgment in both_orders("p", replies, label="1")
    )
    measures = BUILT_IN.measures_on("paraphrase", "pairs")
    return Cell(judge, "pairs", SLOTS, tuple(_in_suite(judgments)), 0, measures)


def _in_suite(judgments: Iterator[Judgment]) -> Iterator[Judgment]:
    for judgment in judgments:
        yield replace(judgment, trial=replace(judgment.trial, suite="pairs"))


@cache
def view() -> View:
    return view_of(datasheet_of_cells([cell(*one) for one in REPLIES.items()]))


def text_of(page: str) -> str:
    """The words of a page, without what it brings along."""
    body = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


@cache
def page() -> str:
    return page_text(view(), PageEvidence(tuple(cell(*one) for one in REPLIES.items())))


def test_the_head_says_which_judge_is_useless_and_which_is_best() -> None:
    (head,) = re.findall(r"<h1[^>]*>(.*?)</h1>", page())
    assert head == "One answer to everything: fixed"
    assert "most stable by order (order_positional on pairs): careful" in text_of(page())


def test_that_there_are_no_checks_is_said_once() -> None:
    words = text_of(page()).lower()
    assert words.count("no checks") == 1
    assert "not gated" not in words
    assert "gates nothing" not in words
    assert "no check was" not in words


def test_each_judge_has_what_is_worst_about_it_how_bad_that_is_and_what_to_do() -> None:
    judges = {judge.sheet.name: judge for judge in view().judges}
    careful, leaning, fixed = (judges[name] for name in REPLIES)
    (told,) = remarks(leaning)
    # Position: 12 of 20, whose interval begins farther from 0 than that of 12 wrong verdicts of 40
    # does from 1.
    assert told.sentence == "the position decides 12 of 20 comparisons"
    assert told.measured.startswith("order_positional 0.60 [")
    assert (told.explain, told.check) == ("order_positional", "order_positional_bound")
    assert "degenerate" in remarks(fixed)[0].sentence
    # One pair of 20 may be chance: nothing stands out.
    assert remarks(careful) == []
    words = text_of(page())
    assert "pairs: the position decides 12 of 20 comparisons" in words
    assert "judgesense explain order_positional" in words


def test_the_four_worst_suites_stand_out() -> None:
    (leaning,) = (judge for judge in view().judges if judge.sheet.name == "leaning")
    (part,) = leaning.parts
    parts = tuple(replace(part, part=replace(part.part, suite=f"s{place}")) for place in range(6))
    # All are as bad: the first four in the order of the suites.
    remarked = remarks(replace(leaning, parts=parts))
    assert [remark.suite for remark in remarked] == ["s0", "s1", "s2", "s3"]


def test_a_judge_with_checks_is_told_by_its_bars() -> None:
    (judge, *_) = view().judges[1:]
    gated = CheckLine("jss_floor[0.9]", "jss", "pairs", 0.9, "pass", "estimate", "")
    part = replace(judge.sheet.parts[0], checks=(gated,))
    assert remarks(replace(judge, sheet=replace(judge.sheet, parts=(part,)))) == []


def test_the_figure_of_measures_has_every_judge_and_the_numbers_of_the_datasheet() -> None:
    assert 'id="figure-measures"' in page()
    assert "fixed (degenerate)" in page()
    agreement = find_estimate(view().judges[0].sheet.estimates, "agreement")
    assert agreement is not None
    assert agreement.value == pytest.approx(39 / 40)


def test_then_and_now_begins_with_what_moved() -> None:
    before = Side(estimate_all(cell("leaning", REPLIES["careful"])))
    now = cell("leaning", REPLIES["leaning"])
    sheet = datasheet_of_cells([now])
    shown = page_text(view_of(sheet), PageEvidence((now,), {}, {("leaning", "pairs"): before}))
    table = shown[shown.index("in the baseline and in this session") :]
    rows = re.findall(r"<tr[^>]*><td>pairs</td>.*?</tr>", table[: table.index("</table>")])
    assert len(rows) > 4
    moved = ["moved" in row for row in rows]
    assert moved[0]
    assert moved == sorted(moved, reverse=True)
    # What neither measured (the effect of the wording, of which there is one) is left out.
    assert not any("N/A" in row for row in rows)


# --- in a browser ---------------------------------------------------------------------------------

in_browser = pytest.mark.skipif(chromium() is None, reason=MISSING)


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path: Path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page(), encoding="utf-8", newline="\n")
    with browser() as started, Opened(started, path, width=390) as opened:
        yield opened.page


@in_browser
@pytest.mark.parametrize(
    "words",
    [
        "One answer to everything: fixed",
        "most stable by order",
        "the judge gives one answer to everything (degenerate)",
        "the position decides 12 of 20 comparisons",
        "judgesense explain order_positional",
        "No checks: nothing on this page passes or fails",
    ],
)
def test_nothing_that_is_said_is_hidden_at_390_pixels(narrow: Any, words: str) -> None:
    found = narrow.get_by_text(words, exact=False)
    assert found.count() > 0
    assert all(found.nth(at).is_visible() for at in range(found.count()))


@in_browser
def test_everything_lies_within_390_pixels(narrow: Any) -> None:
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 390
    edges = narrow.evaluate(
        "[...document.querySelectorAll('figure svg, h1, h2, h3, p, li')]"
        ".map(one => one.getBoundingClientRect().right)"
    )
    assert max(edges) <= 390
    hidden = narrow.evaluate(
        "[...document.querySelectorAll('.drawing, details[open] > .scroll')]"
        ".filter(one => one.scrollWidth > one.clientWidth + 1).length"
    )
    assert hidden == 0


@in_browser
def test_the_answer_is_on_the_first_screen(narrow: Any) -> None:
    # 844 pixels are those of a telephone of this width.
    for words in ("One answer to everything: fixed", "most stable by order"):
        assert narrow.get_by_text(words).first.bounding_box()["y"] < 844
