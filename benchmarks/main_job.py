"""What the main job costs: ``pytest suites`` against reading its recordings and starting at all.

``python benchmarks/main_job.py [--quick] [--against PYTHON]``. The built-in suites are replayed for
the embedded judge ``clean``; what counts is CPU time, of processes that alternate. The yardstick is
a process that imports numpy and pytest and reads every line of the recordings by `json.loads`: no
run can do with less. Beside it stands what the imports of the run take alone.

``--against`` names the interpreter of another environment, whose installed version of the plugin
runs the same suites: from its own recordings, for their form may differ. Both are also run with
``-q``, which prints a line a judge: what is not printed is not computed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from reporting import Bar, conclude, print_table

from pytest_judgesense.suites.builtin import builtin_cassette

SUITES = (
    "coherence",
    "factuality",
    "preference",
    "relevance",
    "vacuum",
    "ladder",
    "criterion",
    "debate",
    "temperature",
)
QUICK = ("coherence", "factuality", "vacuum", "criterion", "debate")
# Where the plugin alone is loaded: other plugins of an environment are no cost of this one.
PLUGIN = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
RUN = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"
MODULES = (
    "import sys, pytest\ncode = pytest.main(sys.argv[2:])\n"
    "open(sys.argv[1], 'w').write('\\n'.join(sys.modules))\nsys.exit(code)\n"
)
IMPORTS = """
import importlib, sys
for name in open(sys.argv[1]).read().split():
    try:
        importlib.import_module(name)
    except Exception:
        pass
"""
YARDSTICK = """
import json, sys
import numpy, pytest
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            json.loads(line)
"""
BARS = {
    "run to yardstick": Bar("at most", 6.0),
    "imports to run": Bar("at most", 0.6),
    "run to the other version": Bar("at most", 1.03),
    "run -q to the other version": Bar("at most", 1.03),
}


def cpu_seconds(python: str, code: str, *arguments: str, cwd: str) -> float:
    """CPU time of a process and its children."""
    command = [python, "-c", code, *arguments]
    environment = {**os.environ, **PLUGIN}
    # Users have bytecode from the second run on; compiling all anew takes as long as the run.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=cwd, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer suites, within 50 s")
    parser.add_argument("--against", metavar="PYTHON", help="interpreter of another version")
    options = parser.parse_args()
    suites = QUICK if options.quick else SUITES
    rounds = 3 if options.quick else 7
    asked = ["-p", "no:cacheprovider", "-p", "pytest_judgesense.plugin"]
    asked += ["--judge-name", "embedded:clean"]
    asked += [word for suite in suites for word in ("--judge-suite", suite)]
    cassettes = [builtin_cassette(Path("clean", f"{suite}.jsonl")) for suite in suites]
    recordings = [str(path) for path in cassettes if path is not None]
    spent: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        names = str(Path(folder, "modules.txt"))
        cpu_seconds(sys.executable, MODULES, names, *asked, cwd=folder)  # warms caches as well
        jobs = {
            "run": (sys.executable, RUN, *asked),
            "imports": (sys.executable, IMPORTS, names),
            "yardstick": (sys.executable, YARDSTICK, *recordings),
        }
        if options.against:
            jobs["other version"] = (options.against, RUN, *asked)
            jobs["run -q"] = (sys.executable, RUN, "-q", *asked)
            jobs["other version -q"] = (options.against, RUN, "-q", *asked)
            cpu_seconds(*jobs["other version"], cwd=folder)
        for _ in range(rounds):
            for name, job in jobs.items():
                spent.setdefault(name, []).append(cpu_seconds(*job, cwd=folder))
    print(f"CPU time of {len(suites)} suites, {rounds} runs each, s\n")
    medians = {name: median(values) for name, values in spent.items()}
    print_table(
        ("process", "median", "least"),
        [(name, f"{medians[name]:.2f}", f"{min(values):.2f}") for name, values in spent.items()],
    )
    ratios: dict[str, float | None] = {
        "run to yardstick": medians["run"] / medians["yardstick"],
        "imports to run": medians["imports"] / medians["run"],
    }
    bars = {name: bar for name, bar in BARS.items() if name in ratios}
    if options.against:
        ratios["run to the other version"] = medians["run"] / medians["other version"]
        quiet = medians["run -q"] / medians["other version -q"]
        ratios["run -q to the other version"] = quiet
        bars = BARS
    return conclude("main_job", ratios, bars)


if __name__ == "__main__":
    sys.exit(main())
