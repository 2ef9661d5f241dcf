"""``{{placeholder}}`` substitution: single pass, so that a stimulus is never read as a template."""

from __future__ import annotations

import string
from collections.abc import Mapping

__all__ = ["fill", "placeholders"]


# Single braces stay as they are: production prompts are full of JSON examples.
_DOUBLE_BRACES = r"""
    \{\{\s*(?P<named>[a-z][a-z0-9_]*)\s*\}\}
    | (?P<escaped>(?!)) | (?P<braced>(?!)) | (?P<invalid>(?!))
"""


class _Doubled(string.Template):
    # typeshed knows only the compiled form; string.Template compiles what a subclass gives it.
    pattern = _DOUBLE_BRACES  # type: ignore[assignment]


def placeholders(template: str) -> frozenset[str]:
    """Names of the placeholders of ``template``."""
    return frozenset(_Doubled(template).get_identifiers())


def fill(template: str, fields: Mapping[str, str]) -> str:
    """``template`` with every placeholder replaced; raises ``KeyError`` for an unknown one."""
    return _Doubled(template).substitute(fields)
