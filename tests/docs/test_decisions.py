"""The files that docs/decisions.md cites are there."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.docs.blocks import DOCS, ROOT

# A path with a suffix; of a module of the package it begins inside of it.
CITED = re.compile(r"`([\w.-]+(?:/[\w.-]+)+\.\w+)`")


def test_every_file_that_is_cited_exists() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False, text=True
    )
    if listed.returncode or not listed.stdout:
        pytest.skip("the test of docs/decisions.md is not run: there is no `git ls-files` here")
    files = set(listed.stdout.split("\0"))
    cited = set(CITED.findall((DOCS / "decisions.md").read_text(encoding="utf-8")))
    assert "benchmarks/startup.py" in cited
    assert [name for name in sorted(cited) if not {name, f"pytest_judgesense/{name}"} & files] == []
