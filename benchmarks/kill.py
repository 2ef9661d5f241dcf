"""Kill recordings and count what is lost: 200 kills over 20 recordings of 1,000 calls.

    python benchmarks/kill.py [--quick]

Each recording asks 1,000 trials at concurrency 32 of a server on 127.0.0.1 that counts calls, is
killed at ten seeded random moments, by SIGKILL, SIGINT and SIGTERM in turn, recorded on after each,
and finished. After every kill what is on disk is what was asked, but for at most the 32 calls under
way at SIGKILL, and for none at SIGINT and SIGTERM; the next session
asks exactly what is missing, none twice, none skipped; a torn last line is cut off, with a notice;
all finished files are the same but for their dates. ``--quick`` begins recordings for 10 s.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.cassettes.killing import (
    CONCURRENCY,
    TRIALS,
    FastServer,
    Nursery,
    Tally,
    kill_a_recording,
    undated,
)

RECORDINGS, KILLS = 20, 10
QUICK_S = 10


def main() -> int:
    parser = argparse.ArgumentParser(description="kill recordings and count what is lost")
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    quick = parser.parse_args().quick
    tally = Tally()
    finished: set[bytes] = set()
    started = time.monotonic()
    server, nursery = FastServer(), Nursery()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(RECORDINGS):
                if quick and time.monotonic() - started > QUICK_S:
                    break
                place = Path(folder) / str(seed)
                cassette = kill_a_recording(nursery, server, place, seed, KILLS, tally)
                finished.add(undated(cassette))
    finally:
        nursery.close()
        server.close()
    seconds = time.monotonic() - started

    print(f"{'recordings of 1,000 calls':<44}{tally.recordings:>8}")
    print(f"{'kills, of which SIGINT and SIGTERM':<44}{f'{tally.kills}, {tally.gently}':>8}")
    print(f"{'most calls lost by SIGKILL (32 under way)':<44}{tally.most_lost:>8}")
    print(f"{'calls lost by SIGINT and SIGTERM':<44}{tally.lost_gently:>8}")
    print(f"{'calls asked again, of all':<44}{tally.asked_again:>8}")
    print(f"{'torn last lines, repaired':<44}{f'{tally.torn}, {tally.repaired}':>8}")
    print(f"{'different finished files':<44}{len(finished):>8}")
    print(f"{'faults':<44}{len(tally.faults):>8}")
    print(f"{'seconds':<44}{seconds:>8.1f}")
    for fault in tally.faults:
        print(f"FAULT {fault}")

    # Each ratio with its bar: the least and the most that it may be.
    kills = tally.recordings * KILLS
    ratios = {
        "kills_of_planned": (tally.kills / kills, 1, 1),
        "most_lost_of_in_flight": (tally.most_lost / CONCURRENCY, 0, 1),
        "lost_by_sigint_and_sigterm": (tally.lost_gently / kills, 0, 0),
        "repaired_of_torn": (tally.repaired / tally.torn if tally.torn else 1.0, 1, 1),
        "files_that_differ": (len(finished) - 1, 0, 0),
        "faults_per_kill": (len(tally.faults) / kills, 0, 0),
    }
    result = {
        "benchmark": "kill",
        "quick": quick,
        "kills": tally.kills,
        "calls": tally.recordings * TRIALS,
        "asked_again": tally.asked_again,
        "seconds": round(seconds, 1),
        "ratios": {name: round(value, 4) for name, (value, _, _) in ratios.items()},
        "bars": {name: [least, most] for name, (_, least, most) in ratios.items()},
        "ok": all(least <= value <= most for value, least, most in ratios.values()),
    }
    print(json.dumps(result))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
