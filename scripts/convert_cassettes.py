"""Convert cassettes of version 0.1 to the form in which shared texts stand in the cassette itself.

Run it from the checkout on folders or files: ``python scripts/convert_cassettes.py cassettes``. In
the old form, a body is a list of texts and of references to ``<cassette>.parts``, which is deleted.
What was sent and received stays byte for byte.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pytest_judgesense.cassettes.exchange import exchange_of
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.storage import rewrite
from pytest_judgesense.errors import CassetteError


def convert(path: Path) -> None:
    """Rewrite one cassette, which nobody may record into meanwhile."""
    with recording_alone(path, Recorder.here()):
        _convert(path)


def _convert(path: Path) -> None:
    beside = path.with_name(f"{path.name}.parts")
    parts: dict[str, str] = {}
    if beside.exists():
        for line in beside.read_bytes().splitlines():
            part = json.loads(line)
            parts[part["part"]] = part["text"]
    exchanges = []
    for line in path.read_bytes().splitlines():
        entry = json.loads(line)
        for message in (entry["request"], entry["response"]):
            message["body"] = joined(message["body"], parts)
        exchanges.append(exchange_of(json.dumps(entry)))
    rewrite(path, exchanges)
    beside.unlink(missing_ok=True)


def joined(body: Any, parts: dict[str, str]) -> Any:
    """The body whose pieces stand in an old line."""
    if not isinstance(body, list):
        return body
    return "".join(piece if isinstance(piece, str) else parts[piece["part"]] for piece in body)


for name in sys.argv[1:] or ["cassettes"]:
    place = Path(name)
    for cassette in sorted(place.rglob("*.jsonl")) if place.is_dir() else [place]:
        try:
            convert(cassette)
        except CassetteError as error:
            sys.exit(str(error))
