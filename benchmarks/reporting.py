"""What the benchmarks share: how they time, and the table and the JSON line that they print."""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Job: TypeAlias = Callable[[], object]
Ratios: TypeAlias = dict[str, float | None]
Bars: TypeAlias = "dict[str, Bar]"


@dataclass(frozen=True)
class Bar:
    """A limit for a ratio: ``at most`` or ``at least`` so much."""

    kind: str
    limit: float

    def holds(self, value: float | None) -> bool:
        """Whether a ratio clears it; one that was not measured does not."""
        if value is None:
            return False
        return value <= self.limit if self.kind == "at most" else value >= self.limit


def seconds_each(jobs: Mapping[str, Job | Sequence[Job]], rounds: int) -> dict[str, float]:
    """The least CPU time of each job over several rounds, in seconds.

    All jobs run in every round, so that a busy machine slows all of them and not one; and CPU time
    does not count what other processes take. What shares a core does slow a job: of one that is
    given in parts each part counts with its own best round, for short ones are left alone at times.
    """
    parts = {name: job if isinstance(job, Sequence) else [job] for name, job in jobs.items()}
    best = {name: [float("inf")] * len(job) for name, job in parts.items()}
    for _ in range(rounds):
        for name, job in parts.items():
            for number, part in enumerate(job):
                gc.collect()
                started = time.process_time()
                part()
                taken = time.process_time() - started
                best[name][number] = min(best[name][number], taken)
    return {name: sum(taken) for name, taken in best.items()}


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table in Markdown, its columns aligned."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for number, line in enumerate(lines):
        print("| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |")
        if number == 0:
            print("|-" + "-|-".join("-" * width for width in widths) + "-|")


def counted_by_seed(seeds: int, counts: Mapping[str, tuple[int, Bar]]) -> tuple[Ratios, Bars]:
    """Print in how many seeds each thing was so, and give it as shares with their bars.

    Args:
        seeds: how many there are.
        counts: by what it is, in how many seeds it was so, and the bar of its share.
    """
    print_table(("what", "seeds"), [(name, str(count)) for name, (count, _) in counts.items()])
    ratios: Ratios = {name: count / seeds for name, (count, _) in counts.items()}
    return ratios, {name: bar for name, (_, bar) in counts.items()}


def conclude(benchmark: str, ratios: Mapping[str, float | None], bars: Mapping[str, Bar]) -> int:
    """Print ratios with their bars, then the JSON line; the exit code: 0 if all are cleared."""
    print()
    print_table(
        ("ratio", "measured", "bar", ""),
        [
            (
                name,
                "not measured" if (value := ratios[name]) is None else f"{value:.3g}",
                f"{bar.kind} {bar.limit:g}",
                "ok" if bar.holds(value) else "MISSED",
            )
            for name, bar in bars.items()
        ],
    )
    ok = all(bar.holds(ratios[name]) for name, bar in bars.items())
    print(
        json.dumps(
            {
                "benchmark": benchmark,
                "ratios": {
                    name: None if value is None else round(value, 4)
                    for name, value in ratios.items()
                },
                "bars": {name: {bar.kind: bar.limit} for name, bar in bars.items()},
                "ok": ok,
            }
        )
    )
    return 0 if ok else 1


def run_parts(
    benchmark: str,
    described: str,
    quick_help: str,
    parts: Iterable[Callable[..., tuple[Ratios, Bars]]],
) -> int:
    """Run a benchmark of several parts, each given ``quick`` and printing its table.

    Returns:
        The exit code, as `conclude` has it.
    """
    parser = argparse.ArgumentParser(description=described.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help=quick_help)
    quick = parser.parse_args().quick
    ratios: Ratios = {}
    bars: Bars = {}
    for part in parts:
        measured, limits = part(quick=quick)
        ratios |= measured
        bars |= limits
    return conclude(benchmark, ratios, bars)
