"""Where a text has long rows of bytes of one kind, and which known blocks of bytes it holds.

Both use only what the standard library does with a text as a whole, so that a byte costs some
nanoseconds: a text is translated to two signs, and a row of one of them is found by leaps.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final

# Of these keys consist, and so do base64, hexadecimal and what is percent-encoded.
OF_ROWS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~+/%"
# A row of so many bytes holds a whole block, wherever it begins.
SHORTEST_ROW: Final = 15
_BLOCK: Final = 8
_LONGEST_STEP: Final = 4
# Rows that are nearer to one another than this are taken together, with what is between them.
_REGION: Final = 512
# What belongs to a row may stand so far before it: `signature=`, `Bearer `.
_BEFORE_ROW: Final = 12
_PART: Final = 1 << 16
# Signs for the bytes of a kind, and for all others.
_INSIDE, _OUTSIDE = b"x", b" "


def parts_of(text: bytes, overlap: int) -> Iterator[tuple[int, bytes]]:
    """``text`` in parts that stay in the cache, each with so many bytes of the next one.

    With each part comes where it begins.
    """
    size = max(_PART, overlap)
    for start in range(0, max(1, len(text) - overlap), size):
        yield start, text[start : start + size + overlap]


@lru_cache(maxsize=16)
def _signs_of(kind: bytes) -> bytes:
    return bytes((_INSIDE if octet in kind else _OUTSIDE)[0] for octet in range(256))


def stretches(text: bytes, kind: bytes, shortest: int) -> Iterator[tuple[int, int]]:
    """From where to where ``text`` has only bytes of ``kind``, at least ``shortest`` of them."""
    signs, row = text.translate(_signs_of(kind)), _INSIDE * shortest
    start = signs.find(row)
    while start >= 0:
        end = signs.find(_OUTSIDE, start + shortest)
        end = len(text) if end < 0 else end
        yield start, end
        start = signs.find(row, end)


def around_rows(text: bytes, kind: bytes) -> bytes:
    """The parts of ``text`` that hold all its rows of bytes of ``kind``, with blanks between."""
    signs, row = text.translate(_signs_of(kind)), _INSIDE * SHORTEST_ROW
    parts = []
    end = 0
    start = signs.find(row)
    while start >= 0:
        first = max(end, start - _BEFORE_ROW)
        # The row at the end of a part is a whole one.
        end = signs.find(_OUTSIDE, start + _REGION)
        end = len(text) if end < 0 else end
        parts.append(text[first:end])
        start = signs.find(row, end)
    return b" ".join(parts)


def blocks_of(row: bytes, step: int) -> tuple[int, ...]:
    """The blocks of ``row`` of which `blocks_in` finds one in any text that holds the row."""
    return tuple(
        int.from_bytes(row[start : start + _BLOCK], sys.byteorder) for start in range(_BLOCK * step)
    )


def longest_step(shortest: int) -> int:
    """How many blocks of a text may be taken as one if rows have at least ``shortest`` bytes."""
    return min(_LONGEST_STEP, (shortest - _BLOCK + 1) // _BLOCK)


def blocks_in(text: bytes, known: AbstractSet[int], step: int) -> Collection[int]:
    """Those ``known`` blocks that stand in ``text`` where each ``step``-th block of it begins."""
    padded = memoryview(text + bytes(-len(text) % _BLOCK)).cast("Q")[::step]
    return () if known.isdisjoint(padded) else known & set(padded)
