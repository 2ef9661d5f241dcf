"""What stands in for a key that is not set, and how it is known where it must not be sent."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

PLACEHOLDER: Final = "judgesense-placeholder-no-key"
# A letter case of its own would make it look like a secret.
_OF_A_VARIABLE: Final = re.compile(rf"{PLACEHOLDER}-([a-z0-9-]+)")


def placeholder_for(variable: str) -> str:
    """The text that a client is given in place of the key in an environment ``variable``."""
    return f"{PLACEHOLDER}-{variable.lower().replace('_', '-')}"


def variable_in(texts: Iterable[str]) -> str | None:
    """The variable whose placeholder one of the ``texts`` holds; ``None`` if there is none."""
    named = next(filter(None, map(_OF_A_VARIABLE.search, texts)), None)
    return named and named[1].upper().replace("-", "_")
