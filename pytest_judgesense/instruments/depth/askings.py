r"""What a judge finds of each passage, by place and length; with the drops and their tests. Pure.

An *asking* is one passage under one template, in one replicate: at every length it is asked at each
place, and without the passage. A call is 1 where its verdict is the first label of the space ("it
is there"), else 0. With x_k that of place k and a that of the record without the passage, both of
one length::

    recall less false alarms    mean of (x_k - a)                         passages at place k
    drop at place k             mean of (mean of x_j, j not k,  - x_k)    askings of that length
    false alarms                mean of a                                 records without a passage

An asking with a call that states no verdict has no drop at that length, for the test compares as
many verdicts at every place; a length of which fewer than two clusters have one has no drops.
Worst cases: a missing call finds the passage, or does not, whichever moves the number more.

Tests and bounds of drops are those of `stats.matched_shares`; Holm's p is over all places and
lengths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from pytest_judgesense.estimate import Missing
from pytest_judgesense.instruments.depth.record_places import ABSENT, LENGTH, PLACE, STANDING
from pytest_judgesense.measures.cell import Cell, missing_among, once_a_cell
from pytest_judgesense.stats.comparison import Adjusted, end_of_test, holm
from pytest_judgesense.stats.inputs import LEVEL
from pytest_judgesense.stats.matched_shares import PlaceDrop, place_drops
from pytest_judgesense.trial import Judgment

ALPHA: Final = 0.05


class Spot(NamedTuple):
    """A place of records of one length, in tokens."""

    place: str
    length: int


@dataclass(frozen=True)
class PassageAsking:
    """A passage under one template, in one replicate.

    Attributes:
        cluster: of its item.
        calls: by the spot; those that were made.
        sees: of each whether its verdict is that the passage is there; ``None`` for no verdict.
    """

    cluster: str
    calls: Mapping[Spot, Judgment]
    sees: Mapping[Spot, bool | None]

    def stands(self, length: int) -> list[bool | None]:
        """Whether the passage is found at each place of a length, in the order of `STANDING`."""
        return [self.sees.get(Spot(place, length)) for place in STANDING]


class PlacedPassage(NamedTuple):
    """A passage at its place, beside the record of that length without it."""

    asking: PassageAsking
    call_with: Judgment
    call_without: Judgment
    is_seen: bool | None
    is_false_alarm: bool | None

    @property
    def gain(self) -> float | None:
        """1 for a passage that is found, less 1 for a false alarm; ``None`` for no verdict."""
        if self.is_seen is None or self.is_false_alarm is None:
            return None
        return float(self.is_seen) - float(self.is_false_alarm)

    def gain_if(self, *, seen: bool, alarmed: bool) -> float:
        """The same if calls without a verdict said so."""
        hit = seen if self.is_seen is None else self.is_seen
        alarm = alarmed if self.is_false_alarm is None else self.is_false_alarm
        return float(hit) - float(alarm)


class MeasuredDrop(NamedTuple):
    """The drop at a spot, before it is one of several.

    Attributes:
        at: the shares at the place and elsewhere, their difference, and its test.
        askings: with a verdict at every place of the length.
        left_out: those without.
        missing: calls without a verdict, and the drop in the worst cases.
    """

    spot: Spot
    at: PlaceDrop
    askings: int
    left_out: int
    missing: Missing


@dataclass(frozen=True)
class Drop:
    """How much more seldom passages are found at one place than at the others of its length.

    ``tested``: Holm's p-value over all places and lengths.
    """

    measured: MeasuredDrop
    tested: Adjusted

    @property
    def spot(self) -> Spot:
        return self.measured.spot

    @property
    def value(self) -> float:
        return self.measured.at.difference.value

    @property
    def is_found(self) -> bool:
        """Whether the place is worse than the others, with Holm over all."""
        return self.tested.p <= ALPHA and self.value > 0

    @property
    def ends(self) -> tuple[float, float]:
        """The 95% interval, which lies above 0 exactly where the drop is found."""
        low, high = self.measured.at.difference.ends(LEVEL)
        if (low > 0) != self.is_found:
            low = end_of_test(self.value, self.measured.at.p, self.tested.alpha)
        return min(low, self.value), high


@once_a_cell
def askings(cell: Cell) -> tuple[PassageAsking, ...]:
    """The askings of a cell, in the order of its judgments."""
    present = cell.design.labels[0]
    calls: dict[tuple[str, str, int], dict[Spot, Judgment]] = {}
    for judgment in cell.judgments:
        trial, condition = judgment.trial, judgment.trial.condition
        if PLACE not in condition or LENGTH not in condition:
            continue
        spot = Spot(str(condition[PLACE]), int(condition[LENGTH]))
        line = trial.item.removesuffix(f".{spot.place}-{spot.length}")
        calls.setdefault((line, trial.template, trial.replicate), {})[spot] = judgment
    return tuple(
        PassageAsking(
            next(iter(of_asking.values())).trial.cluster,
            of_asking,
            {spot: _says(present, judgment) for spot, judgment in of_asking.items()},
        )
        for of_asking in calls.values()
    )


def _says(label: str, judgment: Judgment) -> bool | None:
    return None if judgment.verdict is None else judgment.verdict == label


def lengths_of(cell: Cell) -> list[int]:
    """The lengths of the records of a cell, the shortest first."""
    return sorted({spot.length for asking in askings(cell) for spot in asking.calls})


def spots_of(cell: Cell) -> list[Spot]:
    """The places of the records of a cell at which passages stand, by length."""
    return [Spot(place, length) for length in lengths_of(cell) for place in STANDING]


def passages_at(cell: Cell, spots: Iterable[Spot]) -> Iterator[PlacedPassage]:
    """The passages at some spots, of which the record without the passage was asked as well."""
    for spot in spots:
        without = Spot(ABSENT, spot.length)
        for asking in askings(cell):
            if spot in asking.calls and without in asking.calls:
                calls = asking.calls[spot], asking.calls[without]
                yield PlacedPassage(asking, *calls, asking.sees[spot], asking.sees[without])


@once_a_cell
def drops(cell: Cell) -> tuple[Drop, ...]:
    """The drop at every place of every length, by length; of a length with one cluster none.

    With the drops of `spots_of` that are not among these, nothing is known of the worst one.
    """
    measured = [drop for length in lengths_of(cell) for drop in _drops_at(cell, length)]
    adjusted = holm([drop.at.p for drop in measured], ALPHA)
    return tuple(map(Drop, measured, adjusted))


def _drops_at(cell: Cell, length: int) -> Iterator[MeasuredDrop]:
    asked = asked_everywhere(cell, length)
    whole = [asking for asking in asked if None not in asking.stands(length)]
    hits = np.array([asking.stands(length) for asking in whole], dtype=np.float64)
    of_length = place_drops(hits, [asking.cluster for asking in whole]) if whole else None
    for place, drop in zip(STANDING, of_length or (), strict=False):
        spot = Spot(place, length)
        counts = len(whole), len(asked) - len(whole)
        yield MeasuredDrop(spot, drop, *counts, missing_at(cell, spot))


def asked_everywhere(cell: Cell, length: int) -> list[PassageAsking]:
    """The askings that were asked at every place of a length."""
    spots = {Spot(place, length) for place in STANDING}
    return [asking for asking in askings(cell) if spots <= asking.calls.keys()]


def missing_at(cell: Cell, spot: Spot) -> Missing:
    """The calls of a length without a verdict, and the drop at one of its places with them."""
    asked, number = asked_everywhere(cell, spot.length), STANDING.index(spot.place)

    def drop_if(here: bool, elsewhere: bool) -> float:
        filled = np.array([asking.stands(spot.length) for asking in asked], dtype=np.float64)
        rest = np.delete(filled, number, axis=1)
        rest[np.isnan(rest)] = elsewhere
        at = np.where(np.isnan(filled[:, number]), here, filled[:, number])
        return float((rest.mean(axis=1) - at).mean())

    if not asked:
        return Missing()
    return replace(
        missing_among(_calls_at(asked, spot.length)),
        lower_bound=drop_if(here=True, elsewhere=False),
        upper_bound=drop_if(here=False, elsewhere=True),
    )


def missing_anywhere(cell: Cell) -> Missing:
    """The calls of all places and lengths without a verdict, without worst cases."""
    lengths = lengths_of(cell)
    calls = [c for length in lengths for c in _calls_at(asked_everywhere(cell, length), length)]
    return missing_among(calls)


def _calls_at(asked: Iterable[PassageAsking], length: int) -> list[Judgment]:
    return [asking.calls[Spot(place, length)] for asking in asked for place in STANDING]
