"""Where the shipped recordings stand in the checkout."""

from __future__ import annotations

from pathlib import Path

CASSETTES = Path(__file__).parents[1] / "cassettes"
