"""``{{placeholder}}`` substitution: single pass, so that a stimulus is never read as a template."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

# Single braces stay as they are: production prompts are full of JSON examples.
_PLACEHOLDER: Final = re.compile(r"\{\{\s*([a-z][a-z0-9_]*)\s*\}\}", re.IGNORECASE)


def placeholders(template: str) -> frozenset[str]:
    """Names of the placeholders of ``template``."""
    return frozenset(_parts(template)[1::2])


def fill(template: str, fields: Mapping[str, str]) -> str:
    """``template`` with every placeholder replaced; raises ``KeyError`` for an unknown one."""
    parts = list(_parts(template))
    parts[1::2] = [str(fields[name]) for name in parts[1::2]]
    return "".join(parts)


@lru_cache(maxsize=64)  # one template is filled for thousands of trials
def _parts(template: str) -> tuple[str, ...]:
    """The texts between the placeholders of ``template`` and, at odd places, their names."""
    return tuple(_PLACEHOLDER.split(template))
