"""Real judgments that are not part of the project: tests that read them skip, loudly, without."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_CHECKOUT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("JUDGESENSE_SHARED", _CHECKOUT.parent / "shared"))
LLMBAR = SHARED / "data" / "llmbar"

needs_llmbar = pytest.mark.skipif(
    not LLMBAR.is_dir(),
    reason=f"NOT RUN: the LLMBar judgments are not at {LLMBAR} (JUDGESENSE_SHARED names the place)",
)

# Logs that others published, laid out as scripts/gallery.py tells.
GALLERY = Path(os.environ.get("JUDGESENSE_GALLERY", _CHECKOUT.parent / "gallery-files"))

needs_gallery = pytest.mark.skipif(
    not GALLERY.is_dir(),
    reason=f"NOT RUN: published logs are not at {GALLERY} (JUDGESENSE_GALLERY names the place)",
)
