"""The tables of `judgesense paper jss`, on judgments that are written down by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sklearn.metrics import cohen_kappa_score

from pytest_judgesense import datasheet_of
from pytest_judgesense.datasheets.published_design import Table
from pytest_judgesense.instruments.paraphrase.paper import PAPER
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.trial import Design, Judgment
from tests.measures.building import judgment

WORDINGS = ("p1", "p2", "p3", "p4", "p5")
FACTUALITY = Design(kind="paraphrase", labels=("YES", "NO"), pairs="ring")
OPPOSITE = {"YES": "NO", "NO": "YES"}


def answered(judge: str, answers: dict[str, str]) -> Iterator[Judgment]:
    """The verdicts of five wordings on each item, as ``YNYNY``; of p4 YES means an error."""
    for item, letters in answers.items():
        for wording, letter in zip(WORDINGS, letters, strict=True):
            word = {"Y": "YES", "N": "NO"}[letter]
            is_inverted = wording == "p4"
            made = judgment(
                item,
                word,
                template=wording,
                condition={"polarity": "inverted"} if is_inverted else {},
                chosen=OPPOSITE[word] if is_inverted else word,
                pairwise=False,
            )
            yield replace(made, judge=judge, trial=replace(made.trial, suite="factuality@paper"))


# One that says YES to everything, and one that follows the facts but for p3 on the last two items.
JUDGES = {
    "always": dict.fromkeys("abcdef", "YYYYY"),
    "facts": {**dict.fromkeys("abc", "YYYNY"), "d": "NNNYN", "e": "NNYYN", "f": "YYNNY"},
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    log = tmp_path_factory.mktemp("jss") / "log.jsonl"
    judgments = [made for judge, answers in JUDGES.items() for made in answered(judge, answers)]
    log.write_text("".join(f"{line}\n" for line in log_lines(judgments, FACTUALITY)), "utf-8")
    sheet = datasheet_of(log)
    return {table.name: table for table in PAPER.tables(sheet, sheet.cells)}


def test_table_1_leaves_pairs_with_an_inverted_wording_out(tables: dict[str, Table]) -> None:
    rows = {str(row["judge"]): row for row in tables["table-1"].records()}
    # Of the five pairs of the ring p1~p2, p2~p3 and p5~p1 hold no p4: 18 on six items. Always YES
    # agrees in all of them; over 30 pairs, p4 remapped to NO, in 18.
    always = rows["always"]
    assert (always["JSS"], always["flips"], always["n"]) == (1.0, 0, 18)
    assert (always["kappa"], always["tier"]) == (None, "degenerate")
    assert always["JSS remapped"] == 18 / 30
    # On e and f p3 contradicts p2, once each; remapped it contradicts p4 as well.
    facts = rows["facts"]
    assert (facts["JSS"], facts["flips"], facts["n"]) == (16 / 18, 2, 18)
    assert facts["JSS remapped"] == 26 / 30
    pairs = [
        (answers[first], answers[second])
        for answers in JUDGES["facts"].values()
        for first, second in ((0, 1), (1, 2), (4, 0))
    ]
    assert facts["kappa"] == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    # 16 of 18 is 0.889: moderate.
    assert facts["tier"] == "moderate"
    assert "Pairs with an inverted wording (p4) are left out" in tables["table-1"].caption


def test_the_scores_by_task_are_those_of_table_1_and_section_4_3_has_all_three(
    tables: dict[str, Table],
) -> None:
    assert [row[1] for row in tables["jss-by-task"].rows] == [1.0, 16 / 18]
    raw, corrected, n, without, n_without = (2, 4, 6, 7, 8)
    always, facts = tables["polarity"].rows
    assert [always[i] for i in (raw, corrected, n, without, n_without)] == [1, 18 / 30, 30, 1, 18]
    # As the labels stand p4 contradicts p3 on a to d, and p5 on all six: 30 - 2 - 4 - 6.
    assert [facts[i] for i in (raw, corrected, n, without, n_without)] == [
        *(18 / 30, 26 / 30, 30, 16 / 18, 18)
    ]


def test_of_a_log_the_settings_are_not_known(tables: dict[str, Table]) -> None:
    assert [row[:3] for row in tables["settings"].texts()] == [
        ["always", "factuality", "N/A"],
        ["facts", "factuality", "N/A"],
    ]
    assert [row[3:] for row in tables["settings"].texts()] == [["N/A", "1"]] * 2
    assert "a judgment log does not hold it" in tables["settings"].notes[0]
