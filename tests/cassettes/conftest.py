"""Fixtures of the cassette tests: an endpoint, a path, and tapes upon it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.writing import RecordingCassette

from .endpoint import Endpoint

INSTANT = "2026-01-31T12:00:00Z"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    yield server
    server.close()


@pytest.fixture
def cassette(tmp_path: Path) -> Path:
    return tmp_path / "judge" / "suite.jsonl"


@pytest.fixture
def open_cassette(cassette: Path) -> Callable[..., Cassette]:
    def opened(mode: str, **options: object) -> Cassette:
        if mode == "replay":
            return ReplayingCassette(cassette, **options)  # type: ignore[arg-type]
        return RecordingCassette(cassette, now=lambda: INSTANT, **options)  # type: ignore[arg-type]

    return opened
