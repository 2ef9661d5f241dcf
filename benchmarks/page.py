"""The page with 20,000 judgments: its size, and how quick its filters are in a browser.

``python benchmarks/page.py [--quick]``. Simulated judges of several wordings; each reply is a label
and sixty words of reasons; prompts and replies are words without a pattern that compresses well.
The times are those of the page's own script, between a change of a filter and the list that it
makes; the browser is the system's Chromium, without which they are not measured.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from reporting import Bar, conclude, print_table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.report.logged_cells import datasheet_of_cells
from pytest_judgesense.report.packing import PageEvidence
from pytest_judgesense.report.page import page_text
from pytest_judgesense.report.view import view_of
from pytest_judgesense.trial import Design, Judgment, Trial, Verdict
from tests.report.browser import Opened, browser, chromium

JUDGES, ITEMS, TEMPLATES = 4, 1000, 5
BARS = {
    "file, MB": Bar("at most", 15),
    "filter, ms": Bar("at most", 100),
    "search, ms": Bar("at most", 400),
}


def words(draw: random.Random, count: int, known: list[str]) -> str:
    """Text of so many words."""
    return " ".join(draw.choices(known, k=count))


def measured(seed: int) -> PageEvidence:
    """20,000 judgments with their prompts."""
    draw = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    known = ["".join(draw.choices(letters, k=draw.randint(2, 9))) for _ in range(5000)]
    texts = [f"Question {n}\n{words(draw, 120, known)}" for n in range(ITEMS)]
    frames = [words(draw, 40, known) for _ in range(TEMPLATES)]
    design = Design("paraphrase", ("YES", "NO"), pairs="all")
    cells, prompts = [], {}
    for judge in (f"judge-{n}" for n in range(JUDGES)):
        judgments = []
        for item in range(ITEMS):
            usual = draw.random() < 0.5
            for t in range(TEMPLATES):
                said = "YES" if usual != (draw.random() < 0.1) else "NO"
                trial = Trial(f"s/i{item}/t{t}/ab/r1", "s", f"i{item}", f"i{item}", f"t{t}")
                reply = f"{words(draw, 60, known)}\n{said}"
                judgments.append(Judgment(trial, judge, Verdict(said), reply=reply))
        cells.append(Cell(judge, "s", design, tuple(judgments), seed))
        prompts[judge, "s"] = {
            f"s/i{item}/t{t}/ab/r1": f"{frames[t]}\n{texts[item]}\nReply YES or NO."
            for item in range(ITEMS)
            for t in range(TEMPLATES)
        }
    return PageEvidence(tuple(cells), prompts)


def milliseconds(page: Any, name: str, value: str, kind: str) -> float:
    """Between a change of a filter and its list; of words, the pause in typing left out."""
    return float(
        page.evaluate(
            """([name, value, kind]) => new Promise(done => {
                const one = document.getElementById("f-" + name);
                const from = performance.now();
                one.value = value;
                if (kind === "change") {
                    one.dispatchEvent(new Event("change", {bubbles: true}));
                    document.getElementById("count").getBoundingClientRect();
                    done(performance.now() - from);
                } else {
                    new MutationObserver((_, watch) => {
                        watch.disconnect();
                        done(performance.now() - from - 120);
                    }).observe(document.getElementById("records"), {childList: true});
                    one.dispatchEvent(new Event("input", {bubbles: true}));
                }
            })""",
            [name, value, kind],
        )
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    rounds = 5 if parser.parse_args().quick else 20
    evidence = measured(0)
    sheet = datasheet_of_cells(evidence.cells)
    started = time.process_time()
    text = page_text(view_of(sheet), evidence)
    writing = time.process_time() - started
    times: dict[str, list[float]] = {"filter": [], "search": []}
    opening = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.html"
        path.write_text(text, encoding="utf-8", newline="\n")
        size = path.stat().st_size / 1e6
        if chromium() is not None:
            with browser() as started_browser:
                begun = time.perf_counter()
                with Opened(started_browser, path) as opened:
                    opening = time.perf_counter() - begun
                    for n in range(rounds):
                        judge = str(n % 2) if n % 2 else ""
                        times["filter"].append(milliseconds(opened.page, "judge", judge, "change"))
                        typed = "abcdefghij"[n % 10] + "e"
                        times["search"].append(milliseconds(opened.page, "text", typed, "input"))
    trials = JUDGES * ITEMS * TEMPLATES
    print(f"A page of {trials:,} judgments\n")
    medians = {name: median(some) if some else None for name, some in times.items()}
    print_table(
        ("what", "measured"),
        [
            ("file, MB", f"{size:.1f}"),
            ("made in, s of CPU", f"{writing:.1f}"),
            ("opened in, s", "not measured" if opening is None else f"{opening:.1f}"),
            *(
                (f"{name}, ms", "not measured" if ms is None else f"{ms:.0f}")
                for name, ms in medians.items()
            ),
        ],
    )
    ratios = {"file, MB": size, **{f"{name}, ms": ms for name, ms in medians.items()}}
    return conclude("page", ratios, BARS)


if __name__ == "__main__":
    sys.exit(main())
