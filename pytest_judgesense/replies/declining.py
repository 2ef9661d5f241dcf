"""Replies that decline: abstentions, which a decision space may permit, and refusals."""

from __future__ import annotations

import re
from typing import Final

_ABSTAINS: Final = re.compile(
    r"\b(?:(?:i|we) (?:cannot|can't|can not|could not|couldn't|am unable to|am not able to"
    r"|are unable to)|i'm (?:unable|not able) to|it is (?:impossible|not possible) to|unable to)"
    r"(?: (?:fairly|reliably|really|properly|make an?|reach an?|objectively|possibly)){0,3}"
    r" (?:judge|decide|determine|choose|say|tell|compare|judge?ment|decision|determination"
    r"|verdict)\b"
    r"|\bi (?:must |will |would |have to |choose to )?abstain\b"
    r"|\b(?:insufficient|not enough) (?:information|context|evidence) (?:to|for)\b",
    re.IGNORECASE,
)
_REFUSES: Final = re.compile(
    r"\b(?:(?:i'm|i am) (?:very |so |really )?sorry|my apologies|i apologi[sz]e|sorry, (?:but )?i"
    r"|as an ai|as a (?:large )?language model"
    r"|i (?:can't|cannot|can not|won't|will not|am unable to|am not able to|must decline|decline)"
    r"|i'm (?:unable|not able)|against my (?:programming|guidelines|principles))(?!\w)",
    re.IGNORECASE,
)


def abstains(text: str) -> bool:
    """Whether ``text`` says that it cannot be judged."""
    return _ABSTAINS.search(text) is not None


def refuses(text: str) -> bool:
    """Whether ``text`` declines to answer at all."""
    return _REFUSES.search(text) is not None
