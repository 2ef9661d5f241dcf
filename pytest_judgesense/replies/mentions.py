"""What a mention of a label stands for, and the characters that stand for mentions.

A *reading* is what a piece of text names: a verdict, or the reason why it is none (a number
beyond the scale, several labels at once).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from pytest_judgesense.judgment import Unparsed, Verdict

__all__ = ["Mentions", "Reading"]

Reading: TypeAlias = Verdict | Unparsed


@dataclass(slots=True)
class Mentions:
    """The private-use characters that stand for readings in one marked text."""

    readings: list[Reading] = field(default_factory=list)
    _codes: dict[Reading, str] = field(default_factory=dict)

    FIRST: Final = 0xE000
    MOST: Final = 0x1000

    def code(self, reading: Reading) -> str:
        """The character for ``reading``; beyond 4,096 different ones, the last stands for all."""
        if reading not in self._codes:
            if len(self.readings) == self.MOST:
                return chr(self.FIRST + self.MOST - 1)
            self._codes[reading] = chr(self.FIRST + len(self.readings))
            self.readings.append(reading)
        return self._codes[reading]

    def __getitem__(self, code: str) -> Reading:
        return self.readings[ord(code) - self.FIRST]
