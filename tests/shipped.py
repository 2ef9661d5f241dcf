"""Where the shipped recordings stand in the checkout."""

from __future__ import annotations

import shutil
from pathlib import Path

from pytest_judgesense.cassettes.bodies import parts_path

CASSETTES = Path(__file__).parents[1] / "cassettes"


def copy_cassette(source: Path, target: Path) -> None:
    """Copy a cassette with the parts that it refers to."""
    shutil.copyfile(source, target)
    if parts_path(source).exists():
        shutil.copyfile(parts_path(source), parts_path(target))
