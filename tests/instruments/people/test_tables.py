"""What the report shows of people: their agreement, verdicts by label, rates, ranks, a figure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_judgesense.datasheets.datasheet import Calls, Datasheet, SuiteSheet
from pytest_judgesense.datasheets.figures import Figure
from pytest_judgesense.datasheets.sections import TableRows
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.people.tables import (
    confusion_lines,
    corrected_lines,
    rate_figures,
    rate_notices,
)
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.terminal import pooled_lines
from pytest_judgesense.report.view import view_of
from pytest_judgesense.trial import Judgment
from tests.claims import PARAMETERS, Ends

from .labelled import PASS_FAIL, cell, item, simulated

NOBODY_KNOWS = "no item has labels of two people, so nobody knows how often they err"
OF_PEOPLE = ("people_agreement", "people_confusion", "corrected_rates", "people_standing")


def rows_of(of: Cell, name: str) -> TableRows:
    tables = BUILT_IN.report.analyses(of, estimate_all(of))
    return next(table["rows"] for table in tables if table["analysis"] == name)


def lines_of(of: Cell, name: str) -> list[str]:
    section = next(section for section in BUILT_IN.report.sections if section.name == name)
    return list(section.lines(rows_of(of, name)))


def sheet(*cells: Cell) -> Datasheet:
    parts = [
        SuiteSheet(
            of.judge,
            of.suite,
            {"name": of.judge, "provider": "log", "model": of.judge},
            estimates=(estimates := estimate_all(of)),
            calls=Calls.of(of.judgments),
            analyses=BUILT_IN.report.analyses(of, estimates),
        )
        for of in cells
    ]
    return sheet_of(parts, seed=0, mode="report")


SIX = cell(
    PASS_FAIL,
    item("a", "PASS", people={"anna": "PASS", "ben": "PASS"}),
    item("b", "?", people={"anna": "PASS", "ben": "PASS"}),
    item("c", "FAIL", people={"anna": "FAIL", "ben": "FAIL"}),
    item("d", "PASS", people={"anna": "FAIL", "ben": "FAIL"}),
    item("e", "PASS", people={"anna": "PASS", "ben": "FAIL"}),
    item("f", "PASS", people={"anna": "PASS"}),
)


def test_without_labels_of_people_there_is_no_table_of_theirs_and_no_figure() -> None:
    of = cell(PASS_FAIL, item("a", "PASS", label="PASS"), item("b", "FAIL", label="PASS"))
    tables = {a["analysis"]: a["rows"] for a in BUILT_IN.report.analyses(of, estimate_all(of))}
    # What the judge says by the items' own labels is told as such.
    assert tables.keys() & {*OF_PEOPLE} == {"people_confusion"}
    assert list(confusion_lines(tables["people_confusion"])) == [
        "where the label is PASS, the judge says: PASS 1, FAIL 1"
    ]
    assert list(rate_figures(sheet(of))) == []


def test_agreement_among_people() -> None:
    whole, pair = rows_of(SIX, "people_agreement")
    assert (whole["persons"], whole["labels"], whole["labelled"]) == (2, 11, 6)
    assert (whole["by_several"], whole["without_majority"]) == (5, 1)
    assert whole["agreement"] == 0.8
    # Coincidences of five pairs: PASS 5, FAIL 5 of 10, two of them apart. D_o = 2/10,
    # D_e = 2 * 25 / 90: alpha = 1 - 0.2 / (5/9) (Krippendorff 2011).
    assert whole["alpha"] == pytest.approx(1 - 0.2 / (5 / 9))
    assert whole["lower"] < whole["alpha"] < whole["upper"]
    assert whole["confusion"] == {"PASS": {"PASS": 2, "FAIL": 1}, "FAIL": {"PASS": 1, "FAIL": 2}}
    assert pair == {"people": ["anna", "ben"], "items": 5, "alike": 4}
    first, second = lines_of(SIX, "people_agreement")
    assert "2 people, 6 of 6 items labelled, 5 by several, 1 without a majority" in first
    assert second.startswith("people agree in 80.0% of pairs, Krippendorff's alpha 0.640 [")


def test_a_single_person_is_no_people() -> None:
    alone = cell(PASS_FAIL, item("a", "PASS", people={"anna": "PASS"}))
    assert lines_of(alone, "people_agreement") == [
        "people: 1 person, 1 of 1 items labelled, 0 by several"
    ]


def test_verdicts_by_the_label_of_people() -> None:
    passed, failed = rows_of(SIX, "people_confusion")
    assert passed["verdicts"] == {"PASS": 2, "FAIL": 0}
    assert passed["without_verdict"] == 1
    assert failed["verdicts"] == {"PASS": 1, "FAIL": 1}
    assert lines_of(SIX, "people_confusion") == [
        "where people say PASS, the judge says: PASS 2, no verdict 1",
        "where people say FAIL, the judge says: PASS 1, FAIL 1",
    ]


def biased(judge: str = "j") -> Cell:
    of = simulated(np.random.default_rng(8), items=200, labels=80, rate=0.5, recall=(1.0, 0.6))
    return replace(of, judge=judge)


def test_rates_are_shown_with_the_raw_one_and_that_of_the_labels() -> None:
    (row,) = rows_of(biased(), "corrected_rates")
    assert row["biased"]
    assert not row["adds_nothing"]
    assert row["labels_alone_lower"] < row["lower"] < row["value"] < row["raw"]
    line, of_people = lines_of(biased(), "corrected_rates")
    assert "raw 0.700, biased (on labels 0.163 [0.070, 0.262]), from 80 labels of 200" in line
    assert of_people == f"labels of people: {NOBODY_KNOWS}"
    section = next(
        section for section in BUILT_IN.report.sections if section.name == "corrected_rates"
    )
    assert section.below is not None
    assert [*section.below([row])] == []  # a notice says it
    (below,) = section.below([row | {"biased": False}])
    assert below.startswith("corrected rate 0.5")
    assert "(raw 0.7" in below
    refused = cell(
        replace(PASS_FAIL, labelled=None), item("a", "PASS", people=["PASS"]), item("b", "PASS")
    )
    (line,) = lines_of(refused, "corrected_rates")
    assert line.startswith("corrected rate: N/A, raw 1.000: the suite does not say")


def labelled_by_two(system: str = "") -> list[list[Judgment]]:
    """100 outputs of which the judge passes all but ten; 50 are labelled by two people.

    Both pass 38, both fail 4, and they disagree on 8: D = 0.16, so 1 - 2 e = sqrt(0.68) = 0.8246
    and e = 0.0877. The labels alone pass (38 + 4) / 50 = 0.84: without errors
    0.5 + 0.34 / 0.8246 = 0.912.
    """
    said = [("PASS", "PASS")] * 38 + [("FAIL", "FAIL")] * 4 + [("PASS", "FAIL")] * 8
    about = {"system": system} if system else {}
    return [
        item(
            f"{system}i{n}",
            "FAIL" if n % 10 == 0 else "PASS",
            people=said[n] if n < 50 else (),
            **about,
        )
        for n in range(100)
    ]


def test_what_people_err_stands_beside_the_rate() -> None:
    of = cell(PASS_FAIL, *labelled_by_two())
    (row,) = rows_of(of, "corrected_rates")
    assert (row["disagreement"], row["error"]) == pytest.approx((0.16, (1 - 0.68**0.5) / 2))
    stretched = 0.5 + (row["value"] - 0.5) / 0.68**0.5
    assert row["without_errors"] == pytest.approx(stretched)
    assert row["without_errors_lower"] < row["value"] < stretched < row["without_errors_upper"]
    line = lines_of(of, "corrected_rates")[1]
    assert line.startswith(
        "corrected rate: if people err independently and as often on either label, each errs in "
        "0.088 [0.0"
    )
    assert "(two disagree on 0.16 of 50), and the rate is 0.91 [0." in line
    assert line.endswith("; if together, they err more")
    section = next(
        section for section in BUILT_IN.report.sections if section.name == "corrected_rates"
    )
    assert section.brief is not None
    assert "; 0.91 [0." in section.brief([row])
    assert section.brief([row]).endswith(" if people err independently)")
    # A datasheet of before has no such columns.
    of_before = {key: row[key] for key in [*row][: [*row].index("people_err")]}
    assert [*section.lines([of_before])] == lines_of(of, "corrected_rates")[:1]
    assert section.brief([of_before]).endswith(f"(raw {row['raw']:.2f})")


def test_each_system_has_its_range_and_what_nobody_knows_is_said_once() -> None:
    both = cell(PASS_FAIL, *labelled_by_two("new"), *labelled_by_two("old"))
    ranges = [line for line in lines_of(both, "corrected_rates") if "two disagree" in line]
    heads = ["corrected rate:", "corrected rate (system new):", "corrected rate (system old):"]
    assert [line[: len(head)] for line, head in zip(ranges, heads, strict=True)] == heads
    alone = cell(
        PASS_FAIL,
        *(
            item(f"{system}{n}", "PASS", people=["PASS" if n % 4 else "FAIL"], system=system)
            for system in ("new", "old")
            for n in range(40)
        ),
    )
    lines = lines_of(alone, "corrected_rates")
    assert len(lines) == 4  # three rates
    assert lines[3] == f"labels of people: {NOBODY_KNOWS}"


def test_the_first_screen_says_whether_the_rate_is_that_of_people() -> None:
    (notice,) = rate_notices(biased())
    assert notice.startswith("the judge's rate 0.7")
    assert " is biased: people would give 0.5" in notice
    made = [
        item(f"i{n}", ("FAIL", "PASS")[n % 2], people=[("PASS", "FAIL")[n % 4 > 1]] * (n < 40))
        for n in range(60)
    ]
    coin = next(iter(rate_notices(cell(PASS_FAIL, *made))))
    assert coin.startswith("the judge adds nothing to the labels: people would give 0.50 [")
    unsaid = next(iter(rate_notices(cell(replace(PASS_FAIL, labelled=None), *made))))
    assert 'add labelled = "random"' in unsaid
    few = next(iter(rate_notices(SIX)))
    assert few.startswith("no corrected rate beside the judge's own 0.80: ")


def test_of_many_rates_the_first_screen_tells_the_one_with_most_bias() -> None:
    # Of 40 outputs each system passes 20. The judge is right of "fair", passes 30 of "low" and all
    # of "high"; pooled it is 90/120 instead of 0.5.
    made = [
        item(f"{name}{n}", "PASS" if n < passed else "FAIL", people=[("PASS", "FAIL")[n >= 20]],
             system=name)
        for name, passed in (("fair", 20), ("high", 40), ("low", 30))
        for n in range(40)
    ]  # fmt: skip
    of = cell(PASS_FAIL, *made)
    (notice,) = rate_notices(of)
    assert notice.startswith("the judge's rate (system high) 1.00 is biased: ")
    # The first rate, which no notice tells, keeps its line.
    section = next(
        section for section in BUILT_IN.report.sections if section.name == "corrected_rates"
    )
    assert section.below is not None
    (line,) = section.below(rows_of(of, "corrected_rates"))
    assert line.startswith("corrected rate 0.50")


def test_skipped_items_stand_on_the_first_screen_and_in_the_table() -> None:
    words = "2 drawn items were skipped: 0 for the lower end of the interval, 1 for the upper"
    # The judge is right of all: nothing but the skipped items is to be told.
    made = [
        item(f"i{n}", ("PASS", "FAIL")[n % 2], people=[("PASS", "FAIL")[n % 2]] * (n < 40))
        for n in range(60)
    ]
    for place in (40, 41):
        made[place] = [replace(j, trial=replace(j.trial, skipped=True)) for j in made[place]]
    right = cell(PASS_FAIL, *made)
    assert [*rate_notices(right)] == [words]
    assert f"corrected rate: {words}" in lines_of(right, "corrected_rates")
    made[:40] = [item(f"i{n}", "PASS", people=[("PASS", "FAIL")[n % 2]]) for n in range(40)]
    (notice,) = rate_notices(cell(PASS_FAIL, *made))
    assert notice.startswith("the judge's rate 0.8")
    assert notice.endswith(words)


def test_a_judge_that_gives_one_label_adds_nothing_and_its_zeros_are_shown() -> None:
    made = [item(f"i{n}", "PASS", people=[("PASS", "FAIL")[n % 2]] * (n < 40)) for n in range(60)]
    always = cell(PASS_FAIL, *made)
    (notice,) = rate_notices(always)
    assert notice.startswith("the judge's rate 1.00 is biased: people would give 0.50 [")
    assert notice.endswith("; the judge adds nothing to the labels")
    (judge,) = view_of(sheet(always)).judges
    numbers = {line.split()[0]: line for line in pooled_lines(judge) if line.split()[1:]}
    assert " 0/20 " in numbers["recall"]
    assert " 0.000 " in numbers["informedness"]
    assert "unparsed_rate" not in numbers


def test_the_figure_names_the_rate_that_is_farthest_away() -> None:
    (figure,) = rate_figures(sheet(biased()))
    assert isinstance(figure, Figure)
    assert figure.finding == (
        "j on s: verdicts lie above the labels of people: 0.163 [0.070, 0.262]"
    )
    assert len(figure.rows) == 1
    assert len(figure.columns) == len(figure.rows[0])


def worded(of: Cell) -> Cell:
    """The same answers under a second wording, so that judges have a JSS to be ranked by."""
    again = [
        replace(one, trial=replace(one.trial, template="t2", id=f"{one.trial.id}/t2"))
        for one in of.judgments
    ]
    return replace(of, judgments=(*of.judgments, *again))


def test_of_one_wording_judges_are_ranked_by_agreement_once() -> None:
    of = simulated(np.random.default_rng(2), items=30, labels=30, rate=0.5, recall=(0.9, 0.9))
    tables = {
        table["analysis"]: table["rows"] for table in BUILT_IN.report.analyses(of, estimate_all(of))
    }
    assert tables["standing"][0]["measure"] == "agreement"
    assert "people_standing" not in tables


def test_judges_are_ranked_by_their_agreement_with_people() -> None:
    draw = np.random.default_rng(2)
    good = worded(simulated(draw, items=120, labels=120, rate=0.5, recall=(0.97, 0.97)))
    # The same items and labels, half of which a coin answers.
    answers = np.random.default_rng(3).random(len(good.judgments)) < 0.5
    poor = replace(
        good,
        judge="coin",
        judgments=tuple(
            replace(one, judge="coin", outcome=replace(one.outcome, value="PASS")) if coin else one
            for one, coin in zip(good.judgments, answers, strict=True)
        ),
    )
    tables = {table["analysis"]: table["rows"] for table in sheet(good, poor).analyses}
    best, other = tables["people_leaderboard"]
    assert [best["judge"], other["judge"]] == ["j", "coin"]
    assert (best["ranks"], other["ranks"]) == ([1, 1], [2, 2])
    assert tables["people_judge_pairs"][0]["told_apart"]
    comparison = next(c for c in BUILT_IN.report.comparisons if c.name == "people_leaderboard")
    assert comparison.brief is not None
    shown = {name: tables[name] for name in comparison.all_names}
    assert list(comparison.brief("s", shown)) == ["s, agreement with people: 1 j; 2 coin"]
    assert comparison.board("s", shown).title == "By agreement with people on"
    assert any("1       j" in str(line) for line in comparison.lines("s", shown))


def test_the_words_of_the_profile() -> None:
    words = {word.text: word for word in BUILT_IN.report.words}
    told = [estimate_all(of) for of in (biased(), SIX)]
    assert [bool(words["biased against people"].texts(es)) for es in told] == [True, True]
    assert [bool(words["uninformative"].texts(es)) for es in told] == [False, True]


@PARAMETERS
def test_a_raw_rate_is_biased_where_the_interval_of_its_bias_shows_it(
    value: float, ends: Ends, allowed: str
) -> None:
    lower, upper = ends or (None, None)
    row = {"condition": {}, "raw": 0.7, "value": 0.6, "lower": 0.5, "upper": 0.7, "labels": 9}
    row |= {"labels_alone": 0.6, "labels_alone_lower": 0.5, "labels_alone_upper": 0.7, "items": 9}
    row |= {"bias": None if ends is None else value, "bias_lower": lower, "bias_upper": upper}
    (line,) = corrected_lines([row | {"biased": True, "skipped": 0}])
    assert ("biased" in line) == (allowed != "neither")
