"""The tables of `judgesense paper debates`, on debates that are written down by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_judgesense import datasheet_of
from pytest_judgesense.instruments.debate.paper import PAPER
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.report.log import log_lines
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
    assert [row[:1] + row[4:] for row in found["configurations"].texts()] == [
        ["a:p0", "0.000", "0.000", "1", "yes, by ranks"],
        ["a:p1", "0.033", "0.367", "2", "no"],
        ["b:p0", "0.067", "0.733", "3", "no"],
        ["b:p1", "0.067", "0.733", "3", "no"],
    ]
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


def test_without_debates_there_is_no_table() -> None:
    cell = Cell("a", "debate@paper", replace(DEBATES, labels=("YES", "NO")), ())
    assert not list(PAPER.tables(None, [cell]))  # type: ignore[arg-type]
