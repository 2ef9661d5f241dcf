"""A recording by two workers, as tasks of a Ray cluster on one machine, with and without a kill.

    python benchmarks/shards.py [--quick]

2,016 trials (``--quick``: 312) of an endpoint on 127.0.0.1 that answers after 50 ms: by one
process, by two, by two tasks of a local Ray cluster, and by the same while a worker is killed
(SIGKILL) after a third of the calls. Without Ray its rows are not measured, and say so.

Bars: the cassettes are the same bytes but for the dates in them; no trial is lost, none is asked
twice; with a kill, calls asked again are at most those under way in the worker.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from reporting import Bar, conclude, print_table

sys.path.insert(0, str(Path(__file__).parents[1]))

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.judge_table import judge_from_table
from pytest_judgesense.judges.trust import ANY_FILES
from pytest_judgesense.questions.record.question import RayTasks
from pytest_judgesense.questions.record.shards import Job, Processes, record_shard, run_job
from pytest_judgesense.suites.loading import load_suite
from tests.cassettes.killing import FastServer
from tests.commands.recordings import undated_bytes
from tests.plugin.project import parity_suite

CONCURRENCY: Final = 8
LATENCY_S: Final = 0.05
# Of 6 numbers under 4 wordings.
REPLICATES, QUICK_REPLICATES = 84, 13
WORDINGS: Final = (
    "Is {{number}} even?",
    "Tell whether {{number}} is an even number.",
    "Does {{number}} leave no rest when halved?",
    "Can {{number}} be divided by two?",
)


BARS: Final = {
    "two processes: lines that differ": Bar("at most", 0),
    "two processes: calls asked again": Bar("at most", 0),
    "two Ray tasks: lines that differ": Bar("at most", 0),
    "two Ray tasks: calls asked again": Bar("at most", 0),
    "a Ray worker killed: lines that differ": Bar("at most", 0),
    "a Ray worker killed: calls asked again, to those under way": Bar("at most", 1),
}


class Server(FastServer):
    """An endpoint that answers after 50 ms."""

    def __init__(self) -> None:
        super().__init__(slowest_s=LATENCY_S)
        self._random = self  # type: ignore[assignment]

    def random(self) -> float:
        return 1.0


def with_pid(place: str, *given: Any) -> Any:
    """`record_shard`, of which the process id is known."""
    _path, _sent, _lasting, number, *_ = given
    Path(place, str(number)).write_text(str(os.getpid()), encoding="utf-8")
    return record_shard(*given)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    replicates = QUICK_REPLICATES if parser.parse_args().quick else REPLICATES
    server = Server()
    try:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            return measured(server, replicates)
    finally:
        os.chdir("/")
        server.close()


def measured(server: Server, replicates: int) -> int:
    extra = f"[design]\nreplicates = {replicates}\n"
    suite = load_suite(parity_suite(Path(), wordings=WORDINGS, extra=extra), None, BUILT_IN.forms)
    table = {"provider": "openai", "model": "m-1", "base_url": server.base_url}
    job = Job(judge_from_table("mine", table, Path()), (suite,), 2, ANY_FILES, CONCURRENCY, 0)
    job = replace(job, path=tuple(sys.path))
    rows, tapes = [], {}
    asked: dict[str, int] = {}
    trials = 6 * len(WORDINGS) * replicates

    def row(name: str, shards: int, pool: Any, beside: Callable[[], None] | None = None) -> None:
        server.forget()
        # It ends with the process: a job that fails never gets to where it waits for.
        thread = threading.Thread(target=beside, daemon=True) if beside else None
        if thread:
            thread.start()
        with closing(pool):
            started = time.monotonic()
            outcome = run_job(replace(job, shards=shards), pool, Path(name))
            seconds = time.monotonic() - started
        if thread:
            thread.join()
        tapes[name] = undated_bytes(Path(name, "mine", "parity.jsonl"))
        asked[name] = len(server.asked)
        ideal = trials * LATENCY_S / CONCURRENCY / shards
        rows.append(
            (
                name,
                f"{outcome.answered:,} of {trials:,}",
                f"{len(server.asked):,}",
                str(outcome.lost),
                f"{seconds:.1f}",
                f"{ideal:.1f}",
            )
        )

    row("one process", 1, Processes(None, None))
    row("two processes", 2, Processes(None, None))
    if find_spec("ray") is None:
        print("Ray is not installed: its rows are not measured")
    else:
        row("two Ray tasks", 2, RayTasks("local", None, None))
        pool, pids = RayTasks("local", None, None), Path("pids").resolve()
        pids.mkdir()
        task = pool._ray.remote(max_retries=0)(with_pid)
        pool.begin = lambda *given: task.remote(str(pids), *given, pool._ask).future()  # type: ignore[method-assign]

        def kill() -> None:
            while len(server.asked) < trials // 3:
                time.sleep(0.005)
            os.kill(int((pids / "1").read_text(encoding="utf-8")), signal.SIGKILL)

        row("a Ray worker killed", 2, pool, kill)
    return told(rows, tapes, asked, trials)


def told(rows: list[Any], tapes: dict[str, Any], asked: dict[str, int], trials: int) -> int:
    head = ("recorded by", "trials recorded", "calls", "lost", "job, s", "ideal, s")
    print_table(head, rows)
    whole = tapes["one process"]
    ratios: dict[str, float | None] = {}
    for name in ("two processes", "two Ray tasks", "a Ray worker killed"):
        if name not in tapes:
            ratios |= dict.fromkeys((bar for bar in BARS if bar.startswith(name)), None)
            continue
        differ = sum(a != b for a, b in zip(whole, tapes[name], strict=False))
        ratios[f"{name}: lines that differ"] = differ + abs(len(whole) - len(tapes[name]))
        again = asked[name] - trials
        ratios[f"{name}: calls asked again"] = again
        ratios[f"{name}: calls asked again, to those under way"] = again / CONCURRENCY
    return conclude("shards", {bar: ratios[bar] for bar in BARS}, BARS)


if __name__ == "__main__":
    sys.exit(main())
