"""Where a passage stands in a record, and how long the record is."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

RecordPlace: TypeAlias = Literal["start", "middle", "end", "absent"]
# Those at which the passage stands, in the order of the record.
STANDING: Final[tuple[RecordPlace, ...]] = ("start", "middle", "end")
ABSENT: Final = "absent"
PLACES: Final[tuple[RecordPlace, ...]] = (*STANDING, "absent")

# Keys of the condition of a trial.
PLACE: Final = "place"
LENGTH: Final = "length"

# As plans count: a token of an English text has about four characters.
CHARACTERS_A_TOKEN: Final = 4
# Between the parts of a record: what a recording that they share keeps once.
BREAK: Final = "\n\n"
