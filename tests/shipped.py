"""Where the shipped recordings stand in the checkout."""

from __future__ import annotations

from pathlib import Path

CASSETTES = Path(__file__).parents[1] / "cassettes"


def exchange_lines(path: Path) -> list[str]:
    """The lines of a cassette that hold an exchange; the others hold texts that several share."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [line for line in lines if not line.startswith('{"id": ')]
