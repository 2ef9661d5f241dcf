"""Words of the profile on the dark current, and on what false preference is made of.

With DC the dark current, RFP, SCS and PFP the raw, stable and positional false preference, a judge
with RFP >= 0.1 is presentation-conflicted if PFP > RFP / 2 and DC >= 0.2, else mixed if SCS and PFP
are both at least RFP / 4, else positional if PFP > RFP / 2. A dark current is faint from 0.05 on
and strong from 0.2 on, where none of these words stands.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.ladder.profile import shares_of_false_preference
from pytest_judgesense.profile import Estimates, Word, some


def _mostly_positional(estimates: Estimates) -> bool:
    shares = shares_of_false_preference(estimates)
    return shares is not None and shares[2] > shares[0] / 2


def _conflicted(estimates: Estimates) -> bool:
    return _mostly_positional(estimates) and _strong_dark(estimates)


def _mixed(estimates: Estimates) -> bool:
    shares = shares_of_false_preference(estimates)
    if shares is None or _conflicted(estimates):
        return False
    return min(shares[1:]) >= shares[0] / 4


def _positional(estimates: Estimates) -> bool:
    return _mostly_positional(estimates) and not (_conflicted(estimates) or _mixed(estimates))


def _position_named(estimates: Estimates) -> bool:
    return _conflicted(estimates) or _mixed(estimates) or _positional(estimates)


_strong_dark: Final = some("dark_current", lambda dark: dark >= 0.2)
_faint_dark: Final = some("dark_current", lambda dark: 0.05 < dark < 0.2)

WORDS: Final = (
    Word("presentation-conflicted", _conflicted),
    Word("mixed stable-positional", _mixed),
    Word("positional", _positional),
    Word("vacuum-clean", some("dark_current", lambda dark: dark <= 0.05)),
    Word("faint dark current", lambda e: _faint_dark(e) and not _position_named(e)),
    Word("strong dark current", lambda e: _strong_dark(e) and not _position_named(e)),
)
