"""What an item is called that has no id: by what it holds, so that its place does not matter."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from pytest_judgesense.errors import well_formed

_BY_TEXTS: Final = "x-"
_DIGITS: Final = 10


def name_by_texts(*texts: Any) -> str:
    """A name by the digest of texts, or of any other cells."""
    whole = json.dumps(texts, default=str, ensure_ascii=False)
    digest = hashlib.sha256(well_formed(whole).encode()).hexdigest()
    return f"{_BY_TEXTS}{digest[:_DIGITS]}"
