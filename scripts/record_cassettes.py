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
WHOLE = ("clean", "mixed")
PUBLISHED_ONLY = ("positional", "noisy")
TASKS = ("factuality", "coherence", "relevance", "preference")
PUBLISHED = [
    *(f"{name}@published" for name in TASKS),
    "vacuum",
    "debate",
    "ladder-fine",
    "ladder@published",
    "criterion@published",
    "rubric",
]


def record(judges: tuple[str, ...], suites: list[str]) -> None:
    """Record ``suites`` for ``judges``; checks may fail, errors may not."""
    command = [sys.executable, "-m", "pytest", "suites", "-q", "--judge-mode", "record"]
    command += ["-p", "no:cacheprovider", "-o", "addopts=", "--tb=line"]
    command += [part for name in judges for part in ("--judge-name", f"embedded:{name}")]
    command += [part for name in suites for part in ("--judge-suite", name)]
    if subprocess.run(command, cwd=CHECKOUT, check=False).returncode not in (0, 1):
        sys.exit("recording failed")


# Of probes a few: all of them are larger than any other recording.
record(("clean",), sorted({path.parent.name for path in SUITES.glob("*/*.toml")} - {"probe"}))
record(("clean",), ["probe@quick"])
record(
    ("mixed",),
    [*(p for p in PUBLISHED if "@" not in p), "ladder", "criterion", *TASKS],
)
record(WHOLE, ["factuality@inverted", "vacuum@both-arms"])
record(("clean",), [f"{name}@same-format" for name in TASKS])
record(("clean",), [f"{name}@published-three-runs" for name in TASKS])
# Debates are long, and what is not recorded of these judges is computed.
record(PUBLISHED_ONLY, [name for name in PUBLISHED if name != "debate"])
