"""Whether a recording replays, as `proving` tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_judgesense.cassettes.exchange import Exchange
from pytest_judgesense.errors import UnprovenRecording


@dataclass(frozen=True)
class Proof:
    """Whether a recording replays.

    Attributes:
        error: what does not replay, and why; ``None`` if all does.
        notices: remarks for readers.
        look_ups: requests that were found to be look-ups, by digest.
        is_cut_off: whether no network was there for anybody.
    """

    error: UnprovenRecording | None = None
    notices: tuple[str, ...] = ()
    look_ups: Mapping[str, Exchange] = field(default_factory=dict)
    is_cut_off: bool = False
