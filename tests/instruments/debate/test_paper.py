"""The tables of `judgesense paper debates`, on debates that are written down by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import binom

from pytest_judgesense import datasheet_of
from pytest_judgesense.datasheets.figures import Figure
from pytest_judgesense.instruments.debate.paper import PAPER
from pytest_judgesense.instruments.debate.tables import ranking_figures
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.report.datasheet_file import datasheet_json
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.report.markdown import markdown, tables_markdown
from pytest_judgesense.report.view import view_of
from pytest_judgesense.trial import Judgment
from tests.instruments.debate.test_estimators import DEBATES, runs


def judged(judge: str, prompt: str, flips: int) -> list[Judgment]:
    """Ten topics of two debates, three runs; in so many topics a run of one debate differs."""
    return [
        replace(judgment, judge=judge)
        for topic in range(10)
        for place, words in enumerate(("PPC" if topic < flips else "PPP", "CCC"))
        for judgment in runs(
            f"d{topic}-{place}",
            words,
            template=prompt,
            topic=f"t{topic}",
            models=("x", "y")[:: 1 - 2 * place],
        )
    ]


def test_configurations_prompts_and_models_have_a_table_each(tmp_path: Path) -> None:
    judgments = [
        *(one for prompt, flips in (("p0", 0), ("p1", 2)) for one in judged("a", prompt, flips)),
        *(one for prompt, flips in (("p0", 4), ("p1", 4)) for one in judged("b", prompt, flips)),
    ]
    log = tmp_path / "log.jsonl"
    lines = (line for line in log_lines(judgments, DEBATES))
    log.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    sheet = datasheet_of(log)
    found = {table.name: table for table in PAPER.tables(sheet, sheet.cells)}
    # Flips k = 0, 2 and 4 of 20 debates; CON gains a run of 60 by each: 3 k / 20 + 2 k / 60.
    shown = [[*row[:1], *row[4:6], *row[7:]] for row in found["configurations"].texts()]
    assert shown == [
        ["a:p0", "0.000", "0.000", "1", "yes, by ranks", ""],
        ["a:p1", "0.033", "0.367", "2", "no", ""],
        ["b:p0", "0.067", "0.733", "3", "no", ""],
        ["b:p1", "0.067", "0.733", "3", "no", ""],
    ]
    # All topics of a:p0 are alike: its ranks have an interval, which all resamples share, and its
    # measures have none. A topic of b:p0 has no flip, or one of two: 3 k / 20 + 2 k / 60 for the k
    # of ten drawn topics that have one, binomial with 0.4: its 2.5% and 97.5% points are 1 and 7.
    intervals = {row[0]: row[1:] for row in found["intervals"].rows}
    assert intervals["a:p0"] == (None, None, None, None, None, (1, 1))
    binomial = [binom.ppf(tail, 10, 0.4) for tail in (0.025, 0.975)]
    assert intervals["b:p0"][4] == pytest.approx([k * (3 / 20 + 2 / 60) for k in binomial])
    assert found["configurations"].rows[2][6] == intervals["b:p0"][4]
    # Most runs name the same side throughout.
    assert [row[:3] for row in found["prompts"].texts()] == [
        ["a", "p0-p1", "0.000"],
        ["b", "p0-p1", "0.000"],
    ]
    # Of a topic 3 / 2 for a flip in one of its two debates; the mean over prompts of a is 0.75 in
    # two topics, of b 1.5 in four.
    ((first, second, difference, *_),) = found["models"].texts()
    assert (first, second, difference) == ("a", "b", f"{-(1.5 * 4 - 0.75 * 2) / 10:.3f}")
    assert len(found["pairs"].rows) == 6


def test_a_configuration_that_names_one_side_throughout_is_marked_in_table_and_figure(
    tmp_path: Path,
) -> None:
    # PRO in all runs of all debates: no flip, no variance, side bias 1 - 1/2 and instability 2 / 2;
    # the other one flips in every debate and names either side alike often: 3 * 1.
    one_side = [
        replace(judgment, judge="a")
        for topic in range(4)
        for judgment in runs(f"d{topic}", "PPP", template="p0", topic=f"t{topic}")
    ]
    flipping = [
        replace(judgment, judge="b")
        for topic in range(4)
        for judgment in runs(f"d{topic}", "PCPC"[topic % 2 :][:3], template="p0", topic=f"t{topic}")
    ]
    log = tmp_path / "log.jsonl"
    lines = log_lines([*one_side, *flipping], DEBATES)
    log.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    sheet = datasheet_of(log)
    configurations = next(PAPER.tables(sheet, sheet.cells))
    assert [[row[0], row[5], *row[8:]] for row in configurations.texts()] == [
        ["a:p0", "1.000", "yes, by ranks", "degenerate"],
        ["b:p0", "3.000", "no", ""],
    ]
    assert "a:p0 is recommended by its instability and is degenerate" in configurations.notes[-1]
    # A configuration that is alike on all topics has no interval.
    assert "N/A: all topics are alike." in configurations.notes
    (figure,) = ranking_figures(sheet)
    assert isinstance(figure, Figure)
    assert figure.finding.startswith(
        "a:p0 (degenerate) has the lowest instability and names one side throughout: "
    )
    page = markdown(view_of(sheet, sheet.registry))
    assert "`a:p0 (degenerate)`" in page
    assert "recommended: a:p0 (degenerate: it names one side in every judgment), the lowest" in page
    assert "| `degenerate` |" in "".join(tables_markdown([configurations]))
    written = json.loads(datasheet_json(sheet))["judges"][0]["analyses"]
    rows = next(table["rows"] for table in written if table["analysis"] == "ranking")
    assert [(row["configuration"], row["degenerate"]) for row in rows] == [
        ("a:p0", True),
        ("b:p0", False),
    ]


def test_a_configuration_counts_all_debates_that_it_has_judged_itself(tmp_path: Path) -> None:
    # b has judged the last of four debates once, so that the two are compared on three. On its own
    # four a flips in one and names PRO in 7 of 12 runs: 3 / 4 + 2 / 12.
    words = {"a": ["PPP", "CCC", "PPP", "CPC"], "b": ["PPC", "CCC", "PPP", "P"]}
    judgments = [
        replace(made, judge=judge)
        for judge, of_debates in words.items()
        for topic, said in enumerate(of_debates)
        for made in runs(f"d{topic}", said, template="p0", topic=f"t{topic}")
    ]
    log = tmp_path / "log.jsonl"
    lines = log_lines(judgments, DEBATES)
    log.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    sheet = datasheet_of(log)
    table = next(PAPER.tables(sheet, sheet.cells))
    rows = {str(row["configuration"]): row for row in table.records()}
    assert (rows["a:p0"]["flip rate"], rows["b:p0"]["flip rate"]) == (1 / 4, 1 / 3)
    assert rows["a:p0"]["instability"] == pytest.approx(3 / 4 + 2 / 12)
    # b: 3 / 3 for the flip, and 6 PRO of 10.
    assert rows["b:p0"]["instability"] == pytest.approx(1 + 2 * 0.1)
    assert [row["rank"] for row in table.records()] == [1, 2]
    # On the three a does not flip: PRO in 6 of 9.
    compared = "compare on the 3 of 4 debates that every configuration has judged twice; there a:p0"
    assert any(compared in note for note in table.notes)


def test_without_debates_there_is_no_table() -> None:
    cell = Cell("a", "debate@paper", replace(DEBATES, labels=("YES", "NO")), ())
    assert not list(PAPER.tables(None, [cell]))  # type: ignore[arg-type]
