"""``{{placeholder}}`` substitution: single pass, so that a stimulus is never read as a template."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Final

# Single braces stay as they are: production prompts are full of JSON examples.
_PLACEHOLDER: Final = re.compile(r"\{\{\s*([a-z][a-z0-9_]*)\s*\}\}", re.IGNORECASE)


def placeholders(template: str) -> frozenset[str]:
    """Names of the placeholders of ``template``."""
    return frozenset(_parts(template)[1::2])


def with_names(template: str, renamed: Mapping[str, str]) -> str:
    """``template`` with the placeholders that are called otherwise."""
    return _PLACEHOLDER.sub(
        lambda shown: f"{{{{{renamed[shown[1]]}}}}}" if shown[1] in renamed else shown[0], template
    )


def fill(template: str, fields: Mapping[str, str]) -> str:
    """``template`` with every placeholder replaced; raises ``KeyError`` for an unknown one."""
    form, values = _form(template)
    return form % values(fields)


@lru_cache(maxsize=64)
def _form(template: str) -> tuple[str, Callable[[Mapping[str, str]], object]]:
    """``template`` for ``%``, and what takes its values, one or a tuple, from the fields."""
    parts = _parts(template)
    form = "%s".join(part.replace("%", "%%") for part in parts[::2])
    return form, itemgetter(*parts[1::2]) if len(parts) > 1 else lambda _: ()


@lru_cache(maxsize=64)  # one template is filled for thousands of trials
def _parts(template: str) -> tuple[str, ...]:
    """The texts between the placeholders of ``template`` and, at odd places, their names."""
    return tuple(_PLACEHOLDER.split(template))
