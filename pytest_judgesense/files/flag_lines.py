"""Lines of replies that say of something whether it is so: ``Relevance: True``."""

from __future__ import annotations

import re
from typing import Final

FLAG: Final = re.compile(
    r"(?:^|[:-] )[^\w\n]{0,8}(?P<key>[^\W\d_]\w{1,30}(?: \w{1,20}){0,2})[*_`]{0,3} ?: ?[*_`]{0,3}"
    r"(?P<word>true|false|yes|no|pass|fail|passed|failed)[*_`.!]{0,4}$",
    re.IGNORECASE | re.MULTILINE,
)
"""The end of a line, which a name or a bullet may begin."""


def flag_key(text: str) -> str:
    """What the flags of a text are about, in small letters; empty without one, or with several."""
    keys = {flag["key"].casefold() for flag in FLAG.finditer(text)}
    return keys.pop() if len(keys) == 1 else ""
