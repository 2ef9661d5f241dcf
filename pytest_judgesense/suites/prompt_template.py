"""``{{placeholder}}`` substitution: single pass, so that a stimulus is never read as a template."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from functools import lru_cache

# Single braces stay as they are: production prompts are full of JSON examples.
_DOUBLE_BRACES = r"""
    \{\{\s*(?P<named>[a-z][a-z0-9_]*)\s*\}\}
    | (?P<escaped>(?!)) | (?P<braced>(?!)) | (?P<invalid>(?!))
"""


class _Doubled(string.Template):
    # typeshed knows only the compiled form; string.Template compiles what a subclass gives it.
    pattern = _DOUBLE_BRACES  # type: ignore[assignment]


@lru_cache(maxsize=64)  # one template is compared with every item of its suite
def placeholders(template: str) -> frozenset[str]:
    """Names of the placeholders of ``template``."""
    return frozenset(_Doubled(template).get_identifiers())


def fill(template: str, fields: Mapping[str, str]) -> str:
    """``template`` with every placeholder replaced; raises ``KeyError`` for an unknown one."""
    parts = list(_parts(template))
    parts[1::2] = [str(fields[name]) for name in parts[1::2]]
    return "".join(parts)


@lru_cache(maxsize=64)  # one template is filled for thousands of trials
def _parts(template: str) -> tuple[str, ...]:
    """The texts between the placeholders of ``template`` and, at odd places, their names."""
    parts, position = [], 0
    compiled: re.Pattern[str] = _Doubled.pattern  # type: ignore[assignment]
    for found in compiled.finditer(template):
        parts += [template[position : found.start()], found["named"]]
        position = found.end()
    return (*parts, template[position:])
