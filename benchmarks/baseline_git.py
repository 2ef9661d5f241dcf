"""What a baseline costs that is read from git: ``--judge-baseline git:REF``, beside a replay.

``python benchmarks/baseline_git.py [--quick]``. The suite that ``judgesense init`` writes, on 30
items, is recorded for the embedded judge and committed to a repository of 500 commits with 200 MB
of other files. Then it is replayed, with the baseline of 400 commits before and without one, in
turn. The times are CPU time of a process and of the git that it starts, the least of several. A
baseline may take a second replay and 2 s.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from reporting import Bar, conclude, print_table

ROUNDS, QUICK_ROUNDS = 5, 2
ITEMS, COMMITS, BACK = 30, 500, 400
FILES, FILE_BYTES = 2000, 100_000
MOST_S = 2.0
NAME = f"baseline to one replay and {MOST_S:g} s"
PLUGIN = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "pytest_judgesense.plugin"}
PYTEST = ("pytest", "-q", "-p", "no:cacheprovider", "suites")


def run(folder: Path, module: str, *arguments: str) -> float:
    """CPU seconds of a command, with what it starts."""
    environment = os.environ | PLUGIN | {"PYTHONPYCACHEPREFIX": str(folder.parent / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with (folder.parent / "output.txt").open("w+") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        assert process.returncode == 0, output.read()
    return usage.ru_utime + usage.ru_stime


def write_project(folder: Path) -> None:
    """A judge, a suite and its recording."""
    run(folder, "pytest_judgesense.commands", "init")
    items = folder / "suites" / "answers" / "items.jsonl"
    rows = [json.loads(line) for line in items.read_text(encoding="utf-8").splitlines()]
    more = [rows[n % len(rows)] | {"id": f"item-{n}"} for n in range(ITEMS)]
    items.write_text("".join(f"{json.dumps(row)}\n" for row in more), encoding="utf-8")
    run(folder, *PYTEST, "--judge-mode", "record")


def history(folder: Path) -> Iterator[bytes]:
    """The commits as `git fast-import` reads them: the project in the first, a change in each."""
    noise = random.Random(0)
    paths = (path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file())
    files = {p.as_posix(): (folder / p).read_bytes() for p in paths if p.parts[0] != ".git"}
    for number in range(COMMITS):
        message = f"commit {number}".encode()
        yield b"commit refs/heads/main\ncommitter a <a@example.org> %d +0000\n" % (10**9 + number)
        yield b"data %d\n%s\n" % (len(message), message)
        new = {f"src/module_{number}.txt": message}
        if number == 0:
            new |= files
        elif number <= FILES // 10:  # ten a commit
            new |= {f"data/{number}/{n}.bin": noise.randbytes(FILE_BYTES) for n in range(10)}
        for path, content in new.items():
            yield b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(content), content)


def write_history(folder: Path) -> None:
    git = [str(shutil.which("git")), "-C", str(folder)]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    importing = [*git, "-c", "core.compression=0", "fast-import", "--quiet"]
    with subprocess.Popen(importing, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.writelines(history(folder))
    assert process.returncode == 0
    subprocess.run([*git, "reset", "-q", "--hard"], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds, within 50 s")
    rounds = QUICK_ROUNDS if parser.parse_args().quick else ROUNDS
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "project")
        folder.mkdir()
        write_project(folder)
        write_history(folder)
        jobs = {"replay": (), "with a baseline": ("--judge-baseline", f"git:main~{BACK}")}
        best = dict.fromkeys(jobs, float("inf"))
        for _ in range(rounds):
            for name, more in jobs.items():
                best[name] = min(best[name], run(folder, *PYTEST, *more))
    print_table(("job", "CPU s"), [(name, f"{taken:.2f}") for name, taken in best.items()])
    ratio = (best["with a baseline"] - best["replay"]) / (best["replay"] + MOST_S)
    return conclude("baseline_git", {NAME: ratio}, {NAME: Bar("at most", 1.0)})


if __name__ == "__main__":
    sys.exit(main())
