"""Padding: what a record holds beside its passage. One pool serves all items of a suite.

A pool is a table with a ``text`` on each line, and its ``genre`` where there are several: records
of a genre are padded with texts of that genre alone. An item begins in the pool at one of a few
places, by its name, and goes on from there: its records of all lengths and places have the same
texts in the same order, and none has a text twice. Recordings hold once what several prompts share,
texts that always follow each other as one: the fewer places to begin at, the shorter they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytest_judgesense.errors import LogError, SuiteError, listed
from pytest_judgesense.files.opening import read_bytes
from pytest_judgesense.files.tables import file_at, table_of
from pytest_judgesense.instruments.depth.record_places import BREAK, CHARACTERS_A_TOKEN, RecordPlace
from pytest_judgesense.suites.stimuli import text_of

# The pool that comes with the package; scripts/depth_padding.py writes it.
OWN_POOL: Final = Path(__file__).with_name("padding.jsonl")
# A passage in the middle has a text on either side.
_FEWEST: Final = 2
# By how much of it padding may be off a length: a record that is more off is one of another length.
_MOST_OFF: Final = 0.25
# How much longer or shorter the record without the passage may be, of the one with it. A text of
# ours in place of a short passage is .34 at 500 tokens, the shortest length of the built-in suite.
_MOST_APART: Final = 0.4
# At which items begin in the pool.
_STARTS: Final = 4


class Padding(NamedTuple):
    """The texts of a pool.

    Attributes:
        by_genre: the texts of each genre, in the order of the file; under ``""`` all of them.
        path: of the file.
        text: all of the file, for the digest of suites.
    """

    by_genre: Mapping[str, tuple[str, ...]]
    path: Path
    text: str

    def of_item(self, item: str, genre: str, length: int, passage: str) -> tuple[str, ...]:
        """The texts that pad the records of an item to a length, which the passage adds to.

        Args:
            item: its name, which says where in the pool it begins.
            genre: of its record; empty for texts of every genre.
            length: of the texts together, in tokens.
            passage: of its records.

        Returns:
            As many texts as come nearest to the length, at least two, and one more, which stands in
            for the passage in the record without it: no length tells which record that is.

        Raises:
            SuiteError: the pool has no texts of the genre, too few, or texts so long that none of
                them make a record of the length, or that lengths tell the record without a passage.
        """
        pool = self._of_genre(genre, item)
        turn = int(hashlib.sha256(item.encode()).hexdigest(), 16) % _STARTS
        start = turn * len(pool) // _STARTS
        texts = (*pool[start:], *pool[:start])
        sizes = [*accumulate(len(text) + len(BREAK) for text in texts)]
        wanted = length * CHARACTERS_A_TOKEN
        nearest = min(range(len(texts)), key=lambda last: abs(sizes[last] - wanted))
        count = max(_FEWEST, nearest + 1)
        if sizes[-1] < wanted or len(texts) <= count:
            raise self._too_short(genre, length, sum(map(len, texts)) // CHARACTERS_A_TOKEN)
        size, with_passage = sizes[count - 1], sizes[count - 1] + len(passage)
        apart = abs(len(texts[count]) - len(passage))
        if abs(size - wanted) > _MOST_OFF * wanted or apart > _MOST_APART * with_passage:
            raise self._too_coarse(item, length, count, with_passage, size + len(texts[count]))
        return texts[: count + 1]

    def _of_genre(self, genre: str, item: str) -> tuple[str, ...]:
        if genre in self.by_genre:
            return self.by_genre[genre]
        raise SuiteError(
            f"item {item} cannot be padded",
            found=f"genre {genre!r}, of which {self.path} has no text",
            expected=f"one of {listed(name for name in self.by_genre if name) or 'no genre'}",
            remedy="fix the genre of the item, or name padding of your own: [stimuli] padding",
        )

    def _too_short(self, genre: str, length: int, tokens: int) -> SuiteError:
        kind = f" of genre {genre!r}" if genre else ""
        return SuiteError(
            f"the padding {self.path} is too short for records of {length} tokens",
            found=f"about {tokens} tokens of texts{kind} that differ, at {CHARACTERS_A_TOKEN} "
            "characters a token",
            expected="texts enough that no record holds one twice",
            remedy="add texts to it, or ask at smaller lengths: [stimuli] lengths = [...]",
        )

    def _too_coarse(
        self, item: str, length: int, count: int, with_passage: int, without: int
    ) -> SuiteError:
        present, absent = (size // CHARACTERS_A_TOKEN for size in (with_passage, without))
        return SuiteError(
            f"the texts of the padding {self.path} are too long for records of {length} tokens",
            found=f"of {count} texts a record of about {present} tokens for item {item}, and one "
            f"of {absent} without its passage",
            expected=f"padding within {_MOST_OFF:.0%} of the length, and both records within "
            f"{_MOST_APART:.0%} of each other",
            remedy="split the texts, or ask at greater lengths: [stimuli] lengths = [...]",
        )


def placed(passage: str, texts: Sequence[str], place: RecordPlace) -> str:
    """A record: the passage at its place among the texts, all but the last, which stands in for it.

    Without the passage it is all texts.
    """
    parts = list(texts[:-1])
    before = {"start": 0, "middle": len(parts) // 2, "end": len(parts)}
    if place not in before:
        return BREAK.join(texts)
    parts.insert(before[place], passage)
    return BREAK.join(parts)


def read_padding(path: Path) -> Padding:
    """The pool of a file, which is a table of any kind.

    Raises:
        SuiteError: it cannot be read, or a line has no text.
    """
    file, part = file_at(path)
    with SuiteError.instead_of(
        OSError,
        f"the padding {path} cannot be read",
        expected="JSON Lines, JSON, CSV or another table with a column text",
        remedy="fix [stimuli] padding",
    ):
        data = read_bytes(file)
    with SuiteError.restating(LogError):
        table = table_of(data, file, part)
    by_genre: dict[str, list[str]] = {"": []}
    for row in table:
        text = _text_at(row.value, "text")
        if not text:
            raise SuiteError(
                f"{row.where} is no padding",
                found="no text",
                expected="a column text, and a column genre where records are of several kinds",
                remedy="fix the line, or leave it out",
            )
        for genre in {"", _text_at(row.value, "genre")}:
            by_genre.setdefault(genre, []).append(text)
    # A text that stands in the file several times counts once: no record has one twice.
    differing = {genre: tuple(dict.fromkeys(texts)) for genre, texts in by_genre.items()}
    return Padding(differing, file, table.text)


def _text_at(row: Mapping[str, Any], column: str) -> str:
    return (text_of(row.get(column)) or "").strip()


@cache
def own_padding() -> Padding:
    """The pool that comes with the package."""
    return read_padding(OWN_POOL)
