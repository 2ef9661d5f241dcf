"""Leaderboards of all kinds: the ranks that judges may have, and every two of them compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.figures import Figure
from pytest_judgesense.datasheets.sections import TableRow, TableRows, tables_named
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.paraphrase.tables import wording_figures
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.definition import alone
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.datasheet_file import datasheet_json
from pytest_judgesense.report.joining import joined_datasheets
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.report.logged_cells import datasheet_of_cells
from pytest_judgesense.report.markdown import markdown
from pytest_judgesense.report.terminal import datasheet_lines, ranking_lines
from pytest_judgesense.report.view import view_of
from pytest_judgesense.trial import Design, Judgment
from tests import processes
from tests.measures.building import (
    CRITERION,
    GRADES,
    LADDER,
    VACUUM,
    YES_NO,
    both_orders,
    cell,
    cell_of,
    climb,
    worded,
)


def named(name: str, of: Cell) -> Cell:
    return replace(of, judge=name, judgments=tuple(replace(j, judge=name) for j in of.judgments))


def sheet_of(design: Design, **judges: Iterable[Judgment]) -> Datasheet:
    return datasheet_of_cells([named(name, cell(design, of)) for name, of in judges.items()])


def table(sheet: Datasheet, name: str) -> TableRows:
    ((_, _, rows),) = tables_named(sheet, name)
    return rows


def flips(count: int, items: int = 40) -> list[Judgment]:
    """YES and NO in turn, and another verdict under the second wording on so many items."""
    steady: Mapping[str, Sequence[str]] = {
        f"i{k:02}": (("YES", "YES"), ("NO", "NO"))[k % 2] for k in range(items)
    }
    return worded({**steady, **{f"i{k:02}": ("YES", "NO") for k in range(count)}})


def ranks(rows: TableRows) -> list[tuple[str, list[int] | None]]:
    return [(row["judge"], row["ranks"]) for row in rows]


def labelled(wrong: int, wordings: int = 1) -> list[Judgment]:
    """Forty items with the label YES; so many get NO, under every wording."""
    return worded(
        {f"i{k:02}": ["NO" if k < wrong else "YES"] * wordings for k in range(40)}, label="YES"
    )


def test_judges_of_one_wording_are_ranked_by_agreement() -> None:
    """JSS compares wordings: of one there is none, whatever prompts two judges have."""
    sheet = sheet_of(YES_NO, poor=labelled(20), good=labelled(1), better=labelled(0))
    assert ranks(table(sheet, "leaderboard")) == [
        ("better", [1, 2]),
        ("good", [1, 2]),
        ("poor", [3, 3]),
    ]
    assert [row["value"] for row in table(sheet, "leaderboard")] == [1.0, 39 / 40, 20 / 40]
    # The units are those of the test below, so are the p-values.
    p_values = [row["p"] for row in table(sheet, "judge_pairs")]
    assert p_values == pytest.approx([1.0, 6 / 2**20, 4 / 2**19], rel=2e-3)
    (best,) = table(sheet, "best_judge")
    assert best["verdict"].startswith("best by agreement: no clear difference between better and")


def test_without_labels_one_wording_ranks_nobody() -> None:
    sheet = sheet_of(YES_NO, a=flips(0)[::2], b=flips(0)[::2])
    assert tables_named(sheet, "leaderboard") == []


def test_a_judge_with_wordings_of_its_own_is_not_ranked_by_another_measure() -> None:
    two = labelled(3, wordings=2)
    sheet = sheet_of(YES_NO, alone=labelled(3), both=two, more=two)
    assert ranks(table(sheet, "leaderboard")) == [
        ("alone", [1, 1]),
        ("both", None),
        ("more", None),
    ]
    reasons = {row["left_out"] for row in table(sheet, "leaderboard")[1:]}
    assert reasons == {"measured by jss, not by agreement"}


def test_judges_that_are_not_told_apart_share_a_range_of_ranks() -> None:
    sheet = sheet_of(YES_NO, poor=flips(20), good=flips(1), better=flips(0))
    assert ranks(table(sheet, "leaderboard")) == [
        ("better", [1, 2]),
        ("good", [1, 2]),
        ("poor", [3, 3]),
    ]
    first, second, third = table(sheet, "judge_pairs")
    # One cluster that differs (p 1); 20 that all speak for one judge, 19 likewise. A bound reaches
    # 0 where the unseen cluster weighs as much as the 20: P(G(1) > G(20)) = 2^-20, on either side;
    # with Holm's 3 and 2.
    assert (first["first"], first["second"], first["p"]) == ("better", "good", 1.0)
    assert [second["p"], third["p"]] == pytest.approx([6 / 2**20, 4 / 2**19], rel=2e-3)
    assert second["difference"] == pytest.approx(20 / 40)
    assert [row["told_apart"] for row in (first, second, third)] == [False, True, True]


def test_the_sentence_says_what_would_settle_it() -> None:
    sheet = sheet_of(YES_NO, good=flips(1), better=flips(0))
    (best,) = table(sheet, "best_judge")
    assert best["judge"] is None
    # One of 40 differs, so s / T is 1: Student's test would take 40 * 7.848879 + 1.92 = 316; what
    # is not seen takes more.
    assert best["verdict"] == (
        "most stable by jss: no clear difference between better and good (on 40 clusters that all "
        "were asked); about 358 clusters like these would show it in four of five cases"
    )
    settled = sheet_of(YES_NO, poor=flips(20), better=flips(0))
    (best,) = table(settled, "best_judge")
    assert best["judge"] == "better"
    assert best["verdict"].startswith("most stable by jss: better, better than every other one")


def test_the_tier_of_the_paper_stands_beside_that_of_the_interval() -> None:
    def of_wordings(wordings: int) -> list[Judgment]:
        return worded({f"i{k:02}": (("YES", "NO")[k % 2],) * wordings for k in range(40)})

    # Without a flip the interval for new wordings reaches down to 0.955 of ten wordings and to
    # 0.860 of five (tests/stats/test_new_wordings.py); two have none.
    judges = {"ten": of_wordings(10), "five": of_wordings(5), "two": flips(2)}
    rows = table(sheet_of(YES_NO, **judges), "leaderboard")
    assert {row["judge"]: (row["tier"], row["tier in the paper"]) for row in rows} == {
        "ten": ("high", "high"),
        "five": ("moderate or high", "high"),
        "two": (None, "high"),
    }
    (two,) = [row for row in rows if row["judge"] == "two"]
    assert two["kappa"] == pytest.approx(0.9, abs=0.01)


def test_a_degenerate_judge_is_left_out_and_one_judge_is_no_leaderboard() -> None:
    constant = worded({f"i{k}": ["3", "3"] for k in range(5)})
    steady = worded({f"i{k}": [str(k + 1)] * 2 for k in range(5)})
    rows = table(sheet_of(GRADES, z=constant, y=steady, x=steady), "leaderboard")
    assert ranks(rows) == [("x", [1, 2]), ("y", [1, 2]), ("z", None)]
    assert rows[-1]["left_out"] == "degenerate: one label throughout"
    assert tables_named(sheet_of(GRADES, x=steady), "leaderboard") == []
    assert tables_named(sheet_of(GRADES, x=constant, y=constant), "leaderboard") == []
    (best,) = table(sheet_of(GRADES, x=constant, y=steady), "best_judge")
    assert best["verdict"] == "most stable by jss: y, the only one that can be ranked"


def published(task: str) -> dict[str, float]:
    """The JSS of each judge of Table 1 of JudgeSense on a task."""
    path = Path(__file__).parents[1] / "data" / "published.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["judgesense"]["rows"]
    return {row["judge"]: row["jss"] for row in rows if row["task"] == task}


def test_the_spread_over_judges_is_that_of_the_published_table() -> None:
    # Flips of 375 pairs on coherence, Table 1 of JudgeSense: 230, 81, 32 and 3. So
    # (375 - 3) / 375 - (375 - 230) / 375 = 227 / 375; as printed 0.992 - 0.387.
    counts = {"gemini-2.5-flash": 230, "gpt-4o-mini": 81, "gpt-4o": 32, "claude-sonnet-4-5": 3}
    sheet = sheet_of(YES_NO, **{name: flips(count, 375) for name, count in counts.items()})
    (row,) = table(sheet, "judge_spread")
    assert (row["judges"], row["spread"]) == (4, pytest.approx(227 / 375))
    assert (row["least"], row["most"]) == ("gemini-2.5-flash", "claude-sonnet-4-5")
    printed = published("coherence").values()
    assert row["spread"] == pytest.approx(max(printed) - min(printed), abs=1e-3)
    text = " ".join(" ".join(datasheet_lines(view_of(sheet))).split())
    assert (
        "spread of jss over 4 judges: 0.605, from 0.387 (gemini-2.5-flash) to 0.992 "
        "(claude-sonnet-4-5)" in text
    )
    assert "spread of jss over 4 judges: 0.605" in markdown(view_of(sheet))


def test_the_spread_leaves_degenerate_judges_out_and_says_what_it_is_with_them() -> None:
    # Of five items x flips on one and y on two: 4/5 - 3/5. One label throughout is JSS 1: 1 - 3/5.
    def graded(flipped: int) -> list[Judgment]:
        return worded({f"i{k}": [str(k + 1), str(k + 1 - (k < flipped) or 2)] for k in range(5)})

    constant = worded({f"i{k}": ["3", "3"] for k in range(5)})
    sheet = sheet_of(GRADES, x=graded(1), y=graded(2), z=constant)
    (row,) = table(sheet, "judge_spread")
    assert (row["judges"], row["least"], row["most"], row["left_out"]) == (2, "y", "x", ["z"])
    assert (row["spread"], row["paper_spread"]) == pytest.approx((0.2, 0.4))
    text = " ".join(" ".join(datasheet_lines(view_of(sheet))).split())
    assert "to 0.800 (x); with z, as in the paper: 0.400" in text
    alone_placed = table(sheet_of(GRADES, x=graded(1), z=constant), "judge_spread")
    assert alone_placed[0]["spread"] is None
    # Where one answer to everything is not the best value, nothing is spread.
    dark = both_orders("v", [("A", "B")] * 3)
    assert tables_named(sheet_of(VACUUM, a=dark, b=dark), "judge_spread") == []


def test_suites_with_more_ordinal_labels_come_first() -> None:
    # As coherence does in the tables of JudgeSense, whatever the suites are called.
    yes_no, graded = flips(1), worded({f"i{k}": [str(k + 1)] * 2 for k in range(5)})
    cells = [
        named(judge, cell_of(suite, design, of))
        for judge in ("a", "b")
        for suite, design, of in (
            ("truth", YES_NO, yes_no),
            ("answers", YES_NO, yes_no),
            ("wholeness", GRADES, graded),
        )
    ]
    sheet = datasheet_of_cells(cells)
    order = ["wholeness", "answers", "truth"]
    assert [suite for _, suite, _ in tables_named(sheet, "leaderboard")] == order
    lines = list(datasheet_lines(view_of(sheet)))
    assert [line.split(",")[0].strip() for line in lines if line.endswith(", by jss")] == order
    (figure,) = wording_figures(sheet)
    assert isinstance(figure, Figure)
    assert list(dict.fromkeys(row[1] for row in figure.rows)) == order
    parts = [
        (
            judge,
            json.loads(datasheet_json(datasheet_of_cells(c for c in cells if c.judge == judge))),
        )
        for judge in ("a", "b")
    ]
    assert joined_datasheets(parts) == datasheet_json(sheet)


def test_where_lower_is_better_the_lowest_is_first_and_differences_keep_their_sign() -> None:
    dark = both_orders("v", [("A", "B")] * 30)
    clean = both_orders("v", [("tie", "tie")] * 30)
    sheet = sheet_of(VACUUM, dark=dark, clean=clean)
    assert ranks(table(sheet, "leaderboard")) == [("clean", [1, 1]), ("dark", [2, 2])]
    (pair,) = table(sheet, "judge_pairs")
    assert (pair["first"], pair["difference"]) == ("clean", -1.0)
    assert table(sheet, "best_judge")[0]["verdict"].startswith("best by dark_current: clean")


def test_ladders_are_ranked_by_sensitivity_over_tasks() -> None:
    sharp, dull = climb(1, [("A", "B")] * 50), climb(1, [("A", "B"), ("B", "A")] * 25)
    sheet = sheet_of(LADDER, dull=dull, sharp=sharp)
    (pair,) = table(sheet, "judge_pairs")
    # Five pairs to a task: 10 tasks, all better by the same sharp judge.
    assert (pair["measure"], pair["clusters"]) == ("target_sensitivity", 10)
    assert 0.03 < pair["p"] < 0.05


def test_where_arms_are_not_pooled_judges_are_ranked_on_the_first_of_them() -> None:
    arm = {"arm": "strict"}
    sharp, dull = (climb(1, [slots] * 60, **arm) for slots in (("A", "B"), ("B", "A")))
    rows = table(sheet_of(CRITERION, dull=dull, sharp=sharp), "leaderboard")
    assert [row["measure"] for row in rows] == ["target_sensitivity (strict)"] * 2
    assert ranks(rows) == [("sharp", [1, 1]), ("dull", [2, 2])]


def test_missing_replies_are_of_their_judge_alone() -> None:
    silent = [replace(j) for j in flips(0)]
    missing = worded({f"i{k:02}": ["?", "YES"] for k in range(5)})
    kept = {j.trial.id: j for j in (*silent, *missing)}
    sheet = sheet_of(YES_NO, a=flips(0), b=kept.values())
    (pair,) = table(sheet, "judge_pairs")
    assert pair["clusters"] == 35
    assert [row["n"] for row in table(sheet, "leaderboard")] == [40, 35]


def test_a_measure_of_a_plugin_ranks_judges_of_its_kind() -> None:
    def ranked(of: Cell) -> Cell:
        measures = [
            m._replace(ranked=alone if m.name == "agreement" else None) for m in of.measures
        ]
        return replace(of, measures=tuple(measures))

    right = [cell(YES_NO, worded({f"i{k}": ["YES"]}, label="YES")) for k in range(8)]
    wrong = [cell(YES_NO, worded({f"i{k}": ["NO"]}, label="YES")) for k in range(8)]
    cells = [
        named(name, ranked(cell(YES_NO, [j for one in of for j in one.judgments])))
        for name, of in (("wrong", wrong), ("right", right))
    ]
    sheet = datasheet_of_cells(cells)
    rows = table(sheet, "leaderboard")
    assert [row["measure"] for row in rows] == ["agreement"] * 2
    assert ranks(rows) == [("right", [1, 1]), ("wrong", [2, 2])]


def test_the_screen_shows_ranges_pairs_and_the_verdict() -> None:
    lines = list(datasheet_lines(view_of(sheet_of(YES_NO, good=flips(1), better=flips(0)))))
    end = lines[lines.index("judges compared") :]
    assert end[1] == "  s, by jss"
    assert [line.split()[:4] for line in end if line.startswith("    1 to 2")] == [
        ["1", "to", "2", "better"],
        ["1", "to", "2", "good"],
    ]
    text = " ".join(" ".join(end).split())
    assert "most stable by jss: no clear difference between better and good" in text
    assert "better and good: +0.025 [-0.072, 0.132], p 1, no clear difference" in text
    assert max(map(len, lines)) <= 100


def test_many_pairs_are_told_by_the_first_of_them() -> None:
    judges = {f"j{k}": flips(k) for k in range(5)}
    lines = " ".join(datasheet_lines(view_of(sheet_of(YES_NO, **judges))))
    assert lines.count(", no clear difference") == 6
    assert "4 more pairs are in the JSON of the datasheet" in lines


def test_markdown_shows_the_same_board_for_measures_with_and_without_columns_beside() -> None:
    page = markdown(view_of(sheet_of(YES_NO, good=flips(1), better=flips(0))))
    assert "| ranks | judge | n | jss | 95% clustered | kappa | tier | tier in the paper |" in page
    assert "| 1 to 2 | `better` | 40 | 1.000 |" in page
    dark = both_orders("v", [("A", "B")] * 3)
    bare = markdown(view_of(sheet_of(VACUUM, a=dark, b=both_orders("v", [("?", "!")] * 3))))
    assert "left out: all 6 units lack a verdict" in bare


def test_a_joined_datasheet_compares_the_judges_of_all_parts() -> None:
    whole = datasheet_json(sheet_of(YES_NO, a=flips(0), b=flips(9), c=flips(20)))
    parts = [sheet_of(YES_NO, a=flips(0), c=flips(20)), sheet_of(YES_NO, b=flips(9))]
    named_parts = [(str(k), json.loads(datasheet_json(one))) for k, one in enumerate(parts)]
    assert joined_datasheets(named_parts) == whole


def test_the_units_by_cluster_are_data_and_not_shown() -> None:
    sheet = sheet_of(YES_NO, a=flips(2))
    ((_, _, (row,)),) = tables_named(sheet, "standing")
    assert row["clusters"]["i00"] == [0.0, 1.0]
    assert sum(hits for hits, _ in row["clusters"].values()) == 38
    (part,) = view_of(sheet).judges[0].parts
    assert "standing" not in {one["analysis"] for one in part.tables}


@pytest.mark.parametrize("kind", BUILT_IN.kinds)
def test_measures_that_rank_have_a_direction_and_units_that_are_paired(kind: str) -> None:
    ranked = [one for one in BUILT_IN.measures_on(kind) if one.ranked]
    assert all(one.direction != "construct" and not one.conditional for one in ranked)


def log(path: Path, *cells: Cell) -> Path:
    path.write_text("\n".join(line for of in cells for line in log_lines(of.judgments, of.design)))
    return path


def row_of(output: str, judge: str) -> TableRow:
    (line,) = [line for line in output.splitlines() if f"  {judge} " in line and " n " in line]
    return {"ranks": line.split(f" {judge} ")[0].strip()}


def test_compare_ranks_the_judges_of_one_file_or_of_two(tmp_path: Path) -> None:
    good, poor = (named(n, cell(YES_NO, flips(k))) for n, k in (("good", 0), ("poor", 15)))
    both = log(tmp_path / "both.jsonl", good, poor)
    done = processes.run("judgesense", "compare", both, cwd=tmp_path)
    assert done.returncode == 0
    assert (row_of(done.stdout, "good"), row_of(done.stdout, "poor")) == (
        {"ranks": "1"},
        {"ranks": "2"},
    )
    sheet = tmp_path / "sheet.json"
    sheet.write_text(datasheet_json(datasheet_of_cells([good, poor])))
    assert processes.run("judgesense", "compare", sheet, cwd=tmp_path).stdout == done.stdout
    # Two files of different judges: compared trial by trial, and ranked together.
    one, other = log(tmp_path / "good.jsonl", good), log(tmp_path / "poor.jsonl", poor)
    two = processes.run("judgesense", "compare", one, other, cwd=tmp_path)
    assert two.stdout.endswith(done.stdout)
    assert two.stdout.startswith("judges good and poor, suite s")
    alone_ = processes.run("judgesense", "compare", one, cwd=tmp_path)
    assert alone_.returncode == 2
    assert "there are no judges to rank" in alone_.stderr


def budgeted(sheet: Datasheet, **budgets: int) -> Datasheet:
    """The judges with what they may say at the most."""
    judges = []
    for of in sheet.judges:
        identity = {"name": of.judge, "provider": "openai", "max_tokens": budgets[of.judge]}
        parts = tuple(replace(part, identity=identity) for part in of.parts)
        judges.append(replace(of, identity=identity, parts=parts))
    return replace(sheet, judges=tuple(judges))


NOTICE = "notice: the compared judges differ in max_tokens (16: plain; 4096: thinker)"


def test_every_section_that_compares_judges_says_where_their_budgets_differ(tmp_path: Path) -> None:
    sheet = sheet_of(YES_NO, plain=flips(1), thinker=flips(9))
    apart = budgeted(sheet, plain=16, thinker=4096)
    alike = budgeted(sheet, plain=16, thinker=16)
    file = tmp_path / "sheet.json"
    for of, times in ((apart, 1), (alike, 0)):
        file.write_text(datasheet_json(of))
        compared = processes.run("judgesense", "compare", file, cwd=tmp_path).stdout
        for text in ("\n".join(datasheet_lines(view_of(of))), compared):
            assert " ".join(text.split()).count(NOTICE) == times
        # The same where a comparison has a section of its own, above the datasheet.
        boards = tuple(replace(board, apart=True) for board in BUILT_IN.report.comparisons)
        known = Registry((), BUILT_IN.report._replace(comparisons=boards))
        ranking = ranking_lines(view_of(of, known))
        assert " ".join(" ".join(ranking).split()).count(NOTICE) == times
    # A log does not say what a judge could spend.
    file.write_text(datasheet_json(budgeted(sheet_of(YES_NO, plain=flips(1)), plain=16)))
    other = log(tmp_path / "other.jsonl", named("other", cell(YES_NO, flips(3))))
    two = processes.run("judgesense", "compare", file, other, cwd=tmp_path).stdout
    assert "s, by jss" in two
    assert "differ in max_tokens" not in two
