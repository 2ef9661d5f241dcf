"""Words of the profile: a dark current is faint from 0.05 on and strong from 0.2 on."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.profile import Word, some
from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT

WORDS: Final = (
    Word("vacuum-clean", some(DARK_CURRENT.name, lambda dark: dark <= 0.05)),
    Word("faint dark current", some(DARK_CURRENT.name, lambda dark: 0.05 < dark < 0.2)),
    Word("strong dark current", some(DARK_CURRENT.name, lambda dark: dark >= 0.2)),
)
