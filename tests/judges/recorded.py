"""What a recording holds of the requests of judges."""

from __future__ import annotations

from pathlib import Path

from pytest_judgesense.cassettes.exchange import Exchange
from pytest_judgesense.cassettes.storage import read_exchanges


def requests_in(path: Path) -> list[Exchange]:
    """The recorded requests and their answers, without the lines of what functions returned."""
    return [exchange for exchange in read_exchanges(path) if not exchange.returns]
