"""A project in git, which shows and merges its recordings by trials, as a user sets it up."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.cassettes.listing import ATTRIBUTES, MERGING, SHOWING
from tests.commands.within import measured
from tests.plugin.project import parity_suite
from tests.repository import ENVIRONMENT, commit, repository

CASSETTE = Path("cassettes", "clean", "parity.jsonl")
WORDINGS = ("Is {{number}} even?", "Even: {{number}} or not?")


class GitProject:
    """A suite in a repository; its judge is embedded, so that no server and no code is needed."""

    def __init__(self, folder: Path, numbers: Iterable[int], *, driven: bool = True) -> None:
        self.folder = folder
        repository(folder)
        parity_suite(folder, wordings=WORDINGS, judges=["embedded:clean"])
        attributes = ATTRIBUTES if driven else "-text"
        (folder / ".gitattributes").write_text(f"cassettes/** {attributes}\n")
        if driven:
            for command in (SHOWING, MERGING):
                self.run(*shlex.split(command))
        self.ask_about(numbers)
        self.commit()

    def ask_about(self, numbers: Iterable[int], wording: str = "Is {{number}} even?") -> None:
        """Have the suite ask about these numbers, and record what is not recorded."""
        suite = self.folder / "parity.suite.toml"
        suite.write_text(suite.read_text().replace("Is {{number}} even?", wording))
        self.write_items(numbers)
        self.measured("record")

    def write_items(self, numbers: Iterable[int]) -> None:
        items = (
            {"id": f"i{n % 100:02}", "number": f"the number {n}", "label": "NO" if n % 2 else "YES"}
            for n in numbers
        )
        text = "".join(f"{json.dumps(item)}\n" for item in items)
        (self.folder / "parity.jsonl").write_text(text)

    def measured(self, mode: str = "replay") -> MeasuredDatasheet:
        return measured(self.folder, "embedded:clean", "parity.suite.toml", mode=mode)

    def commit(self) -> None:
        commit(self.folder)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program with ``judgesense`` of this environment on its path."""
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        return subprocess.run(
            command,
            cwd=self.folder,
            env=os.environ | ENVIRONMENT | {"PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def lines(self) -> list[bytes]:
        return (self.folder / CASSETTE).read_bytes().splitlines()
