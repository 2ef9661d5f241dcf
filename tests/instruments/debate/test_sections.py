"""What the report shows of debates."""

from __future__ import annotations

import pytest

from pytest_judgesense.datasheets.figures import Head
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.debate.tables import _ranks
from pytest_judgesense.report.markdown import markdown
from pytest_judgesense.report.view import view_of
from tests.report.test_figures import figure, shipped_sheet
from tests.report.test_markdown import Seen, sheet


def test_the_names_of_its_tables_are_known() -> None:
    names = """anova by_category configuration_agreement measure_correlation measure_pca post_hoc
    ranking ranking_basis ranking_sensitivity ranking_thresholds""".split()
    assert set(names) <= set(BUILT_IN.report.titles)


def test_rankings_in_markdown_are_those_of_the_datasheet() -> None:
    value = sheet("clean", "mixed")
    page = Seen(markdown(view_of(value)))
    rows = next(one["rows"] for one in value.analyses if one["analysis"] == "ranking")
    known = {row["configuration"] for row in rows}
    # Those of the table of ranks, which the section has first.
    ranked = [row for row in page.rows if len(row) > 2 and row[1] in known][: len(rows)]
    assert [row[1] for row in ranked] == [row["configuration"] for row in rows]
    assert [row[2] for row in ranked] == [f"{row['instability']:.3f}" for row in rows]


@pytest.mark.long
def test_the_ranking_shows_the_distribution_of_ranks() -> None:
    found = figure("shipped", "ranking")
    rows = next(one["rows"] for one in shipped_sheet().analyses if one["analysis"] == "ranking")
    assert [row[0] for row in found.rows] == [row["configuration"] for row in rows]
    for drawn, known in zip(found.rows, rows, strict=True):
        assert drawn[2:] == (known["instability"], *known["rank_shares"])
        assert sum(map(float, drawn[3:])) == pytest.approx(1.0)  # type: ignore[arg-type]
    assert found.wide


def test_the_title_names_the_recommended_configuration_and_marks_one_side_throughout() -> None:
    base = next(one["rows"] for one in shipped_sheet().analyses if one["analysis"] == "ranking")
    first, second, *_ = base
    # The first one never flips, because it says PRO to everything: half of the side bias is all.
    rows = [
        {**first, "side_bias": 0.5, "rank_shares": [0.9, 0.1], "ranks": [1, 1]},
        {**second, "rank_shares": [0.1, 0.9], "ranks": [2, 2]},
    ]
    drawn = _ranks(Head("ranking", "8", "Debate ranking"), rows)
    assert drawn.rows[0][0] == f"{first['configuration']} (degenerate)"
    assert drawn.finding == (
        f"{first['configuration']} (degenerate) has the lowest instability and names one side "
        "throughout: first in 90.0% of resamples"
    )
    assert "(degenerate)" not in str(drawn.rows[1][0])
    # Of two of the same instability the table recommends the second one.
    even = [{**second, "rank": 1, "ranks": [1, 2], "configuration": name} for name in "ab"]
    head = Head("ranking", "8", "Debate ranking")
    shares = [{**row, "rank_shares": [0.6, 0.4]} for row in even]
    assert _ranks(head, shares, "b").finding == (
        "b has the lowest instability, not told apart from every other one: first in 60.0% of "
        "resamples"
    )
    told = [{**first, "ranks": [1, 1], "rank_shares": [1.0, 0.0]}, {**shares[1], "ranks": [2, 2]}]
    assert _ranks(head, told).finding == (
        f"{first['configuration']} is the most stable configuration: first in 100.0% of resamples"
    )
