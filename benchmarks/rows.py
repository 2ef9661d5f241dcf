"""The reader of rows: opening tables of 100,000 rows, over the standard library's own readers.

``csv.DictReader`` and ``json.loads`` a line, each of the same file, in one process and in turn; the
least time of each counts, so that a busy machine disturbs both alike.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from reporting import Bar, conclude, print_table

from pytest_judgesense.files.tables import read_rows

COUNT = 100_000
BAR = Bar("at most", 3.0)


def rows() -> Iterator[dict[str, Any]]:
    """Judgments as people keep them: a question, a reply, a verdict and a score."""
    for number in range(COUNT):
        yield {
            "id": str(number),
            "question": f"What is item {number} like?",
            "reply": f"It is like {number * 7 % 101}, they say: the first is better.",
            "order": "ab" if number % 2 else "ba",
            "verdict": "AB"[number % 3 == 0],
            "score": str(number % 10),
        }


def nested() -> Iterator[dict[str, Any]]:
    """The same with marks in objects, which the reader looks at twice."""
    for row in rows():
        yield {**row, "marks": {"clarity": {"score": 4, "why": "it reads well"}}}


def write(folder: Path) -> dict[str, tuple[Path, Callable[[Path], list[Any]]]]:
    """The tables by what they are, each with the reader of the standard library."""
    table, lines, deep = (folder / name for name in ("t.csv", "t.jsonl", "deep.jsonl"))
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*next(rows())])
        writer.writeheader()
        writer.writerows(rows())
    for path, made in ((lines, rows()), (deep, nested())):
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(row)}\n" for row in made)
    return {"CSV": (table, by_csv), "JSON Lines": (lines, by_json), "nested": (deep, by_json)}


def by_csv(path: Path) -> list[Any]:
    """The rows as ``csv.DictReader`` gives them."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def by_json(path: Path) -> list[Any]:
    """The rows as ``json.loads`` gives them."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def least(rounds: int, path: Path, reader: Callable[[Path], list[Any]]) -> tuple[float, float]:
    """The least processor time of our reader and of the other, taken in turn."""
    ours = theirs = float("inf")
    for _ in range(rounds):
        begun = time.process_time()
        count = len(read_rows(path))
        middle = time.process_time()
        same = len(reader(path))
        ours, theirs = min(ours, middle - begun), min(theirs, time.process_time() - middle)
        if not count == same == COUNT:
            raise SystemExit(f"{path.name}: {count} rows, and {same} by the other reader")
    return ours, theirs


def main() -> int:
    """Print a table and one line of JSON; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    rounds = 3 if parser.parse_args().quick else 9
    ratios, shown = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for name, (path, reader) in write(Path(folder)).items():
            ours, theirs = least(rounds, path, reader)
            ratios[name] = ours / theirs
            shown.append((name, f"{ours:.2f}", f"{theirs:.2f}", f"{ratios[name]:.2f}"))
    print_table(("rows", "ours, s", "standard library, s", "ratio"), shown)
    return conclude("rows", ratios, dict.fromkeys(ratios, BAR))


if __name__ == "__main__":
    sys.exit(main())
