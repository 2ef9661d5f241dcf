"""Opening the cassette that a mode asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from pytest_judgesense.cassettes.cassette import HOW_TO_RECORD
from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.cassettes.matching import ALL_OF_IT, Identity
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.writing import OnRecorded, RecordingCassette

# What a session does: it replays; it records what is missing; or it asks afresh, and what it
# records for that time is thrown away.
Mode: TypeAlias = Literal["replay", "record", "live"]


def open_cassette(
    path: Path,
    mode: Mode,
    *,
    secrets: Credentials | None = None,
    how_to_record: str = HOW_TO_RECORD,
    on_recorded: OnRecorded = lambda _path, _line: None,
    identity: Identity = ALL_OF_IT,
) -> ReplayingCassette | RecordingCassette:
    """The cassette of ``path``: one that replays in the mode ``replay``, else one that records.

    Raises:
        BrokenCassette: a line cannot be read.
    """
    if mode == "replay":
        return ReplayingCassette(
            path, secrets=secrets, how_to_record=how_to_record, identity=identity
        )
    return RecordingCassette(
        path,
        secrets=secrets,
        how_to_record=how_to_record,
        on_recorded=on_recorded,
        identity=identity,
    )
