"""Suites for people to label, and the command that serves the page, as a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Criterion
from tests.suites.files import CONTENT, PAIRWISE, write_suite
from tests.suites.known import load_suite

# A scale of the suite, and one of its own.
ACCURACY = Criterion("accuracy", ("1", "2", "3", "4", "5"))
TONE = Criterion("tone", ("fail", "pass"))


def graded_suite(folder: Path, number: int, *criteria: Criterion) -> Suite:
    """A suite of texts that are graded by criteria, whatever kind of suites does so."""
    rows = [{"id": f"g{n}", "text": f"text {n}"} for n in range(number)]
    suite = load_suite(write_suite(folder, CONTENT, rows))
    return replace(suite, space=DecisionSpace(ACCURACY.labels, criteria=criteria))


def rows_of_pairs(number: int) -> list[dict[str, Any]]:
    """Pairs whose texts say which content they are; the first one is labelled as the better."""
    return [
        {"id": f"p{n}", "task": f"Task {n}.", "texts": [f"one of {n}", f"two of {n}"], "label": "1"}
        for n in range(number)
    ]


def pairs_in(folder: Path, number: int = 30) -> Path:
    """A suite of pairs, ``suites/pairs/pairs.suite.toml``."""
    home = folder / "suites" / "pairs"
    home.mkdir(parents=True)
    path = write_suite(home, PAIRWISE, rows_of_pairs(number))
    return path.rename(home / "pairs.suite.toml")


class LabelCommand:
    """``judgesense label`` as a process, with the address of its page."""

    def __init__(self, folder: Path, *arguments: str, person: str = "anna") -> None:
        command = [sys.executable, "-m", "pytest_judgesense.commands", "label"]
        suite = "suites/pairs/pairs.suite.toml"
        self._process = subprocess.Popen(
            [*command, suite, "--person", person, "--no-browser", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.read_url()

    def read_url(self) -> None:
        """Take the next line for the address; a notice may stand before it."""
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()

    def limit_files(self, size: int) -> None:
        """Let the process write no file beyond a size, in bytes, from now on."""
        import resource  # not on Windows

        hard = resource.RLIM_INFINITY
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (size, hard))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def end(self, number: int = 0) -> tuple[int, list[str]]:
        """Send a signal, or none, and wait: the exit code and the lines after the address."""
        if number:
            self._process.send_signal(number)
        output, _ = self._process.communicate(timeout=60)
        return self._process.returncode, output.split("\n")

    def kill(self) -> None:
        assert self.end(signal.SIGKILL)[0] == -signal.SIGKILL

    def state(self) -> dict[str, Any]:
        return asked(f"{self.url}state")[1]

    def answer(self, value: str) -> dict[str, Any]:
        """Answer the item that comes next; what comes then."""
        body = {"place": self.state()["place"], "values": {"": value}, "note": ""}
        status, state = asked(f"{self.url}answer", body)
        assert status == 200
        return state


def asked(
    url: str, body: object = None, headers: dict[str, str] | None = None
) -> tuple[int, dict[str, Any]]:
    """Status and JSON of a request, as the page sends it; ``headers`` are set in place of its."""
    sent = {"Origin": url[: url.index("/", 8)], "Content-Type": "application/json"}
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {**sent, **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())
