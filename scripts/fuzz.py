"""Give hostile texts to everything that reads untrusted text, for as long as one likes.

``python scripts/fuzz.py [--seconds N] [DOOR ...]``: each of `tests.fuzzing.DOORS` in turn, with a
new seed in each round; the first rounds give few texts, so that each door soon has some. It ends
with exit code 1 at the first text that does more than it may, which Hypothesis has made as short as
it can, or where a door had none when the time was over; else 0. ``--atheris``, where that is
installed, lets the branches that a text reaches choose the next one: each door has its share of the
seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed, settings

sys.path.insert(0, str(Path(__file__).parents[1]))

if "--atheris" in sys.argv:
    import atheris

    # One by one: of what is imported by way of other packages it counts nothing.
    read = ("replies", "report.log", "report.markdown", "suites.loading", "cassettes.redaction")
    with atheris.instrument_imports(include=["pytest_judgesense"]):
        for module in (*read, "cassettes.storage", "cassettes.batch_files", "commands.main"):
            import_module(f"pytest_judgesense.{module}")

from tests.fuzzing import DOORS, GOOD, PIECES, examples, knock

EXAMPLES = 200
# Of a reader, in the round of seed 0; twice as many in that of seed 1.
FIRST_EXAMPLES = 10


def _knocking(door: str, number: int) -> Callable[..., Any]:
    """A round at one door, which raises what a text did."""

    @seed(number)
    @settings(
        max_examples=examples(door, min(EXAMPLES, FIRST_EXAMPLES << min(number, 10))),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(DOORS[door][1])
    def knocked(text: str) -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            knock(door, text)

    return knocked


def guided(door: str, seconds: int) -> bool:
    """Whether nothing got through at one door, in a process that the fuzzer ends.

    It begins with the texts that are read without a complaint, and knows the words of all doors.
    """

    def one(data: bytes) -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            knock(door, data.decode("utf-8", "replace"))

    with tempfile.TemporaryDirectory() as name:
        words, corpus = Path(name, "words"), Path(name, "corpus")
        corpus.mkdir()
        for number, text in enumerate(GOOD):
            (corpus / str(number)).write_text(text, encoding="utf-8")
        pieces = (piece.encode("utf-8", "replace") for piece in PIECES)
        short = (
            "".join(f"\\x{byte:02x}" for byte in piece) for piece in pieces if len(piece) <= 64
        )
        words.write_text("".join(f'"{piece}"\n' for piece in short))
        if not (child := os.fork()):
            bounds = [f"-max_total_time={seconds}", "-max_len=8192", f"-dict={words}", str(corpus)]
            atheris.Setup([sys.argv[0], *bounds], one)
            atheris.Fuzz()
        return os.waitpid(child, 0)[1] == 0


def main() -> int:
    """Go on until the time is over, or something gets through."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("doors", nargs="*", metavar="DOOR", default=list(DOORS))
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--atheris", action="store_true", help="guided by coverage")
    options = parser.parse_args()
    if options.atheris:
        share = max(1, int(options.seconds / len(options.doors)))
        through = [door for door in options.doors if not guided(door, share)]
        print(f"something got through: {through}" if through else "nothing got through")
        return int(bool(through))
    until = time.monotonic() + options.seconds
    knocked: Counter[str] = Counter()
    for number in itertools.count(options.seed):
        for door in options.doors:
            if time.monotonic() > until:
                left = [one for one in options.doors if not knocked[one]]
                print(f"nothing got through in {sum(knocked.values())} rounds at doors")
                print(
                    f"no time was left for: {', '.join(left)}" if left else "every door had texts"
                )
                return int(bool(left))
            try:
                _knocking(door, number)()
            except Exception:  # noqa: BLE001 - whatever it is, it got through
                traceback.print_exc()
                print(f"{door}: something got through; again: --seed {number} '{door}'")
                return 1
            knocked[door] += 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
