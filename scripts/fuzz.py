"""Give hostile texts to everything that reads untrusted text, for as long as one likes.

``python scripts/fuzz.py [--seconds N] [DOOR ...]``: each of `tests.fuzzing.DOORS` in turn, with a
new seed in each round. It ends with exit code 1 at the first text that does more than it may, which
Hypothesis has made as short as it can; else 0.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import sys
import time
import traceback
from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.fuzzing import DOORS, examples, knock

EXAMPLES = 200


def fuzz(door: str, number: int) -> None:
    """One round at one door; raises what a text did."""

    @seed(number)
    @settings(
        max_examples=examples(door, EXAMPLES),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(DOORS[door][1])
    def knocked(text: str) -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            knock(door, text)

    knocked()


def main() -> int:
    """Go on until the time is over, or something gets through."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("doors", nargs="*", metavar="DOOR", default=list(DOORS))
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    until = time.monotonic() + options.seconds
    for number in itertools.count(options.seed):
        for door in options.doors:
            if time.monotonic() > until:
                print(f"nothing got through in {number - options.seed} rounds")
                return 0
            try:
                fuzz(door, number)
            except Exception:  # noqa: BLE001 - whatever it is, it got through
                traceback.print_exc()
                print(f"{door}: something got through; again: --seed {number} '{door}'")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
