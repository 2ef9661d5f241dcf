"""The texts of two candidates in the rows of a log: those of slots, or the contents of an item.

A field ``a`` may hold the text that the judge was shown first in that row, which changes places
with the order, or the text of the item's first candidate, whatever the order. In order ``ab`` both
are the same; in order ``ba`` they are opposites, and the wrong reading gives every label to the
other text. So it is stated (``--names a=slot``, or by the row itself), or rows of one item in both
orders show it, or the rows are not taken.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.files.synonyms import candidate_pairs
from pytest_judgesense.trial import Order

SLOT: Final = "slot"
CONTENT: Final = "content"
# How much of two texts is shown: a little before the first difference, and what follows.
_BEFORE: Final = 20
_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class TextsOfRow:
    """What a row of a log holds of an item.

    Attributes:
        where: its place, for errors.
        order: in which the candidates were shown.
        texts: by field.
        names: what the row itself says of fields of candidates: `SLOT` or `CONTENT`.
    """

    where: str
    item: str
    order: Order
    texts: Mapping[str, str]
    names: Mapping[str, str]

    def naming_of(self, pair: tuple[str, str]) -> str | None:
        """What the row itself says of two fields, said of one or of both."""
        return next((self.names[field] for field in pair if field in self.names), None)


@dataclass(frozen=True, slots=True)
class OpenNaming:
    """A field of which nobody says whether it names slots or contents.

    Attributes:
        field: as ``--names`` takes it: ``verdict``, ``label``, or the first of two fields of texts.
        subject: what it is, in words.
        first_word: that of the first candidate.
        evidence: what the rows show of it; empty for nothing.
        shown: `SLOT` or `CONTENT`, where all that the rows show says so; else empty.
    """

    field: str
    subject: str
    first_word: str
    evidence: str
    shown: str = ""


@dataclass(frozen=True, slots=True)
class TextNaming:
    """What the fields of two candidates' texts are in the rows of a suite.

    Attributes:
        pairs: the fields, that of the first candidate before that of the second.
        by_field: `SLOT` or `CONTENT`, where rows do not say it themselves.
        open: pairs of which it is not known.
        notices: what rows have shown, one sentence each.
    """

    pairs: tuple[tuple[str, str], ...]
    by_field: Mapping[str, str]
    open: tuple[OpenNaming, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def fields(self) -> frozenset[str]:
        """The fields of all pairs."""
        return frozenset(field for pair in self.pairs for field in pair)

    def in_own_order(self, row: TextsOfRow) -> dict[str, str]:
        """The texts of a row, those of candidates in the item's own order."""
        texts = dict(row.texts)
        for first, second in self.pairs:
            naming = row.naming_of((first, second)) or self.by_field.get(first)
            if row.order == "ba" and naming == SLOT and {first, second} <= texts.keys():
                texts[first], texts[second] = texts[second], texts[first]
        return texts


def naming_of_texts(
    suite: str, rows: Sequence[TextsOfRow], stated: Mapping[str, str]
) -> TextNaming:
    """What the fields of two candidates' texts are in the rows of a suite.

    Args:
        suite: its name, for messages.
        rows: all of it.
        stated: by field, what the user says of it; said of one field, it holds for both.

    Raises:
        UsageError: the user says two things of one pair, or other things than a row.
    """
    pairs = candidate_pairs(dict.fromkeys(field for row in rows for field in row.texts))
    by_field: dict[str, str] = {}
    open_namings, notices = [], []
    for pair in pairs:
        naming = _stated_of(pair, rows, stated)
        unsaid = [row for row in rows if _is_unsaid(row, pair)]
        if naming is None and unsaid:
            counts = _by_rows(pair, rows, unsaid)
            evidence = _evidence(pair, counts)
            if len(counts) == 1:
                (naming,) = counts
                fields = " and ".join(pair)
                notices.append(f"the texts {fields} of suite {suite} are {naming}s: {evidence}")
            else:
                subject = f"texts {' and '.join(pair)}"
                open_namings.append(OpenNaming(pair[0], subject, pair[0], evidence))
        if naming is not None:
            by_field |= dict.fromkeys(pair, naming)
    return TextNaming(tuple(pairs), by_field, tuple(open_namings), tuple(notices))


def _is_unsaid(row: TextsOfRow, pair: tuple[str, str]) -> bool:
    """Whether a row's texts may be in either order, and it does not say in which."""
    return row.order == "ba" and row.naming_of(pair) is None and {*pair} <= row.texts.keys()


def _stated_of(
    pair: tuple[str, str], rows: Iterable[TextsOfRow], stated: Mapping[str, str]
) -> str | None:
    namings = {field: stated[field] for field in pair if field in stated}
    if not namings:
        return None
    options = " ".join(f"--names {field}={naming}" for field, naming in namings.items())
    if len({*namings.values()}) > 1:
        raise UsageError(
            "the texts of two candidates are named in two ways",
            found=options,
            expected="both as slots, or both as contents",
        )
    naming = next(iter(namings.values()))
    for row in rows:
        if row.naming_of(pair) not in (naming, None):
            raise UsageError(
                f"{options} contradicts the log",
                found=f"{row.where}: {pair[0]} is a {row.naming_of(pair)}, as source.names says",
                expected="what the log says of its own texts",
                remedy="leave the option out; what a file that was imported holds is said to "
                "judgesense import",
            )
    return naming


def _by_rows(
    pair: tuple[str, str], rows: Iterable[TextsOfRow], unsaid: Iterable[TextsOfRow]
) -> Counter[str]:
    """How many items show slots, and how many contents: their rows hold the same two texts."""
    first, second = pair
    in_ab: dict[str, set[tuple[str | None, str | None]]] = defaultdict(set)
    for row in rows:
        if row.order == "ab":
            in_ab[row.item].add((row.texts.get(first), row.texts.get(second)))
    shown: dict[str, set[str]] = defaultdict(set)
    for row in unsaid:
        texts = row.texts[first], row.texts[second]
        if texts[0] != texts[1]:  # two equal texts are the same in any order
            shown[row.item] |= {CONTENT} if texts in in_ab[row.item] else set()
            shown[row.item] |= {SLOT} if texts[::-1] in in_ab[row.item] else set()
    return Counter(naming for namings in shown.values() for naming in namings)


def _evidence(pair: tuple[str, str], counts: Mapping[str, int]) -> str:
    """What items that were judged in both orders show, in words; empty for nothing."""
    if not counts:
        return ""
    return (
        f"{' and '.join(pair)} change places with the order in {counts.get(SLOT, 0)} of "
        f"{sum(counts.values())} items that were judged in both"
    )


class NamingAskedFor(UsageError):
    """It is open whether words or texts name slots or contents; `open_namings` says which."""

    open_namings: tuple[OpenNaming, ...] = ()


def naming_asked_for(suite: str, open_namings: Sequence[OpenNaming]) -> NamingAskedFor:
    """The error that asks what each of ``open_namings`` names."""
    *before, last = [naming.subject for naming in open_namings]
    subjects = f"{', '.join(before)} and {last}" if before else last
    word = open_namings[0].first_word
    error = NamingAskedFor(
        f"it is open whether the {subjects} of suite {suite} name slots or contents: the "
        "candidates changed places",
        found="; ".join(filter(None, (naming.evidence for naming in open_namings)))
        or "nothing that shows it",
        expected=f"slots ({word} is the candidate that the judge saw first) or contents ({word} "
        "is the first candidate of the item, whatever the order)",
        remedy="say it: "
        + "; and ".join(
            f"--names {naming.field}=slot, or --names {naming.field}=content"
            for naming in open_namings
        ),
    )
    error.open_namings = tuple(open_namings)
    return error


def difference(suite: str, rows: Iterable[TextsOfRow], remedy: str) -> LogError | None:
    """The error for an item of which two rows hold different texts; ``None`` if none does.

    A field that a row does not hold differs from none.
    """
    by_field: dict[tuple[str, str], TextsOfRow] = {}
    for row in rows:
        for field, text in row.texts.items():
            earlier = by_field.setdefault((row.item, field), row)
            if earlier.texts[field] != text:
                part, other = _parts_that_differ(earlier.texts[field], text)
                return LogError(
                    f"{field} of item {row.item[:80]} of suite {suite} differs between two rows",
                    found=f"{earlier.where}: {part}; {row.where}: {other}",
                    expected="the same in every row of an item",
                    remedy=remedy,
                )
    return None


def _parts_that_differ(one: str, other: str) -> tuple[str, str]:
    """The part of each text that shows where the two differ."""
    same = sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False)))
    start = max(same - _BEFORE, 0)
    dots = "..." * (start > 0)
    return f"{dots}{one[start:][:_SHOWN]!r}", f"{dots}{other[start:][:_SHOWN]!r}"
