"""Where any of many short literals may stand in bytes, found in one pass whatever the bytes are.

Up to seven groups of literals have a bit each. A table for each of the first four places of a
literal says which groups accept a byte there; where the four have a bit in common, a literal of
that group may begin. Bytes are looked up by `bytes.translate`, and the results are combined by
numpy: both take about a nanosecond a byte, however many literals there are. After J. Bos and
others, "Teddy" in Hyperscan (https://github.com/intel/hyperscan).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Places: TypeAlias = npt.NDArray[np.intp]
_Octets: TypeAlias = npt.NDArray[np.uint8]
_Flags: TypeAlias = npt.NDArray[np.bool_]

_WIDTH: Final = 4
ANY: Final = bytes(range(256))
# Beside the bits of the groups: a byte of a run.
_RUN: Final = 0x80
# Bytes are searched in parts that stay in the cache of the processor.
_PART: Final = 1 << 17
# In the second table: a byte of a name.
_NAME: Final = 0x80
_TOP_BIT: Final = np.uint8(7)
_GROUPS: Final = np.uint8(0x7F)
# A run is so long, as `Candidates.in_run` counts.
RUN_BYTES: Final = 16


class Literals:
    """The literals to be found: for each the bit of its group, and the bytes at its places.

    A literal of fewer places than four accepts any byte after them. ``of_runs`` are the bytes that
    runs consist of. Those of the groups ``at_edges`` are found only where a run begins, and none of
    ``of_names`` is before them unless a backslash is before that.
    """

    def __init__(
        self,
        literals: Iterable[tuple[int, Sequence[bytes]]],
        of_runs: bytes,
        of_names: bytes = b"",
        at_edges: int = 0,
    ) -> None:
        tables = [bytearray(256) for _ in range(_WIDTH)]
        self._at_edges = np.uint8(at_edges)
        for byte in of_runs:
            tables[0][byte] = _RUN
        for byte in of_names:
            tables[1][byte] = _NAME
        for bit, places in literals:
            for number, table in enumerate(tables):
                for byte in places[number] if number < len(places) else ANY:
                    table[byte] |= bit
        self._tables = [bytes(table) for table in tables]

    def find(self, data: bytes) -> Candidates:
        """The places of ``data`` where literals may begin."""
        # One byte before the data, so that each has a neighbour.
        padded = b"".join((b" ", data, bytes(_WIDTH + RUN_BYTES)))
        parts = [
            self._found_in(padded[start : start + _PART + 1 + _WIDTH + RUN_BYTES], start)
            for start in range(0, max(1, len(data)), _PART)
        ]
        places, bits, runs = map(np.concatenate, zip(*parts, strict=True))
        return Candidates(np.frombuffer(padded, np.uint8)[1:], runs, places, bits)

    def _found_in(self, part: bytes, start: int) -> tuple[Places, _Octets, _Octets]:
        """The places of a part that begins at ``start``, with their groups, and its runs."""
        # Each place is one further on.
        size = len(part) - 1 - _WIDTH - RUN_BYTES
        first, second = self._translated(part, 0)[1:], self._translated(part, 1)
        runs, width = first & np.uint8(_RUN), 1
        while width < RUN_BYTES:
            runs = runs[:-width] & runs[width:]
            width *= 2
        runs = runs[:size]
        octets = np.frombuffer(part, np.uint8)
        masks = first[:size] & second[2 : size + 2] & _GROUPS
        within = second[:size] >> _TOP_BIT
        within[1:] &= octets[: len(within[1:])] != ord("\\")
        within[:1] = 0  # what is before its neighbour is not of this part
        within |= (runs >> _TOP_BIT) ^ np.uint8(1)
        masks &= ~(within * self._at_edges)
        left = masks != 0
        # Where few places are left, they are looked at one by one.
        if np.count_nonzero(left) * 16 > size:
            masks &= self._mask(part, 2, size)
            masks &= self._mask(part, 3, size)
            places = np.flatnonzero(masks)
            return places + start, masks[places], runs
        places = np.flatnonzero(left)
        bits = masks[places]
        for number in (2, 3):
            bits &= np.frombuffer(self._tables[number], np.uint8)[octets[places + number + 1]]
        left = bits != 0
        return places[left] + start, bits[left], runs

    def _mask(self, part: bytes, number: int, size: int) -> _Octets:
        return self._translated(part, number)[number + 1 : size + number + 1]

    def _translated(self, part: bytes, number: int) -> _Octets:
        return np.frombuffer(part.translate(self._tables[number]), np.uint8)


class Candidates:
    """The places where literals may begin, in order."""

    def __init__(self, octets: _Octets, runs: _Octets, places: Places, bits: _Octets) -> None:
        self._octets, self._runs = octets, runs
        self._places, self._bits = places, bits

    def of(self, bits: int) -> Places:
        """The places of these groups."""
        places: Places = self._places[(self._bits & bits) != 0]
        return places

    def beginning_with(self, places: Places, words: Sequence[bytes]) -> list[int]:
        """Those of ``places`` that begin with one of ``words``, of four bytes each."""
        places = self.with_pairs(places, {word[:2] for word in words})
        places = self.with_pairs(places + 2, {word[2:] for word in words}) - 2
        exact, octets = set(words), self._octets
        return [
            place for place in map(int, places) if octets[place : place + _WIDTH].tobytes() in exact
        ]

    def are(self, places: Places, among: bytes) -> _Flags:
        """Which of ``places`` have one of these bytes; of those outside of the data none has."""
        table = np.zeros(256, bool)
        table[list(among)] = True
        inside = (places >= 0) & (places < len(self._octets))
        among_them: _Flags = inside & table[self._octets[np.where(inside, places, 0)]]
        return among_them

    def with_pairs(self, places: Places, pairs: Iterable[bytes]) -> Places:
        """Those of ``places`` that begin with one of ``pairs``, of two bytes each."""
        table = np.zeros(2**16, bool)
        table[[first << 8 | second for first, second in pairs]] = True
        octets = self._octets
        first = octets[places].astype(np.uint16) << np.uint16(8)
        begun: Places = places[table[first | octets[places + 1]]]
        return begun

    def ends_of_short_lines(self, most: int) -> Places:
        """The line ends, plain or escaped, with another one at most so many bytes behind."""
        ends_of_parts = []
        for start in range(0, len(self._octets), _PART):
            part = self._octets[start : start + _PART + 1]
            ends = part[:_PART] == ord("\n")
            slashes = part[:-1] == ord("\\")
            if slashes.any():
                ends[: len(slashes)] |= slashes & (part[1:] == ord("n"))
            ends_of_parts.append(np.flatnonzero(ends) + start)
        places = np.concatenate(ends_of_parts)
        apart = np.diff(places)
        # Two bytes are an escaped end itself, and a blank line hides nothing.
        return places[:-1][(apart > len("\\n")) & (apart <= most)]

    @property
    def has_runs(self) -> bool:
        """Whether there is any run."""
        return bool(self._runs.any())

    def in_run(self, places: Places) -> _Flags:
        """At which of ``places`` a run, or the last 16 bytes or more of one, begins."""
        runs = self._runs
        inside = (places >= 0) & (places < len(runs))
        begins: _Flags = inside & (runs[np.where(inside, places, 0)] != 0)
        return begins


def clusters(places: Places, apart: int) -> list[tuple[int, int]]:
    """First and last of ``places`` that stand at most ``apart`` from one another."""
    if len(places) == 0:
        return []
    ends = np.flatnonzero(np.diff(places) > apart)
    firsts = places[np.concatenate(([0], ends + 1))]
    lasts = places[np.concatenate((ends, [len(places) - 1]))]
    return [(int(first), int(last)) for first, last in zip(firsts, lasts, strict=True)]


def joined_places(first: Places, second: Places) -> Places:
    """The places of both, in order."""
    return np.union1d(first, second) if len(second) else first
