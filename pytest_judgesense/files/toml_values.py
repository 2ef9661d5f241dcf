"""Values as TOML writes them in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def toml_text(value: Any) -> str:
    """A text, a number, a list or a table as TOML writes it in one line."""
    if isinstance(value, Mapping):
        return (
            "{ "
            + ", ".join(f"{toml_key(key)} = {toml_text(inner)}" for key, inner in value.items())
            + " }"
        )
    if isinstance(value, list):
        return f"[{', '.join(map(toml_text, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """A key as TOML writes it."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_text(name)
