"""Record the shipped cassettes of the embedded judge anew, over real HTTP on 127.0.0.1.

Run it from the checkout after a change of a built-in suite or of the embedded judge:
``python scripts/record_cassettes.py``. What is recorded already and still fits is kept.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
SUITES = CHECKOUT / "suites"
TASKS = ("factuality", "coherence", "relevance", "preference")
PUBLISHED = [*(f"{name}@published" for name in TASKS), "vacuum", "rubric"]


def record(judges: tuple[str, ...], suites: list[str]) -> None:
    """Record ``suites`` for ``judges``; checks may fail, errors may not."""
    command = [sys.executable, "-m", "pytest", "suites", "-q", "--judge-mode", "record"]
    command += ["-p", "no:cacheprovider", "-o", "addopts=", "--tb=line"]
    command += [part for name in judges for part in ("--judge-name", f"embedded:{name}")]
    command += [part for name in suites for part in ("--judge-suite", name)]
    if subprocess.run(command, cwd=CHECKOUT, check=False).returncode not in (0, 1):
        sys.exit("recording failed")


record(("clean",), sorted({path.parent.name for path in SUITES.glob("*/*.toml")} - {"probe"}))
# All of it would weigh more than the other suites together; the rest is computed.
record(("clean",), ["probe@short", "probe@attacks"])
record(("mixed",), [*TASKS, "vacuum", "rubric", "debate", "ladder", "ladder-fine", "criterion"])
record(("clean", "mixed"), ["factuality@inverted", "vacuum@both-arms"])
record(("clean", "mixed"), ["rubric@each"])
record(("clean",), [f"{name}@same-format" for name in TASKS])
record(("clean",), [f"{name}@published-three-runs" for name in TASKS])
record(("clean", "mixed", "noisy", "positional"), ["depth@quick", "factuality@leniency"])
# What is large and not recorded of these judges is computed.
record(("noisy",), [*PUBLISHED, "debate", "ladder-fine"])
record(("positional",), PUBLISHED)
