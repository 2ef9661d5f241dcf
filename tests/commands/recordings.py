"""What the tests of batches share: the command line in this process, and live recordings."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.commands.main import main
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.spec import JudgeSpec
from tests.report.replaying import measured, recordings, suite_named

JUDGE = "embedded:mixed"
SUITE = "coherence@published"
NAMED = (SUITE, "--judge-name", JUDGE)
CASSETTE = Path("cassettes/mixed/coherence.jsonl")


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def undated(path: Path) -> list[dict[str, Any]]:
    """The lines of a cassette but for when they were recorded."""
    lines = [json.loads(exchange.to_line()) for exchange in read_exchanges(path)]
    return [{**line, "recorded_at": None} for line in lines]


def undated_bytes(path: Path) -> list[bytes]:
    """The bytes of a cassette, line by line, but for those that say when it was recorded."""
    return re.sub(rb'(?<="recorded_at": ")[^"]+(?="}\n)', b"", path.read_bytes()).splitlines()


def recorded_live(folder: Path, name: str = SUITE, judge: JudgeSpec | None = None) -> Path:
    """Record the embedded judge as ``--judge-mode record`` does, over HTTP; the cassette."""
    suite = suite_named(name)
    files = recordings(suite, folder / "live")
    measured(judge or judge_from_name(JUDGE), suite, files, mode="record")
    assert all(read_exchanges(path) for path in files.values())
    return files[suite.base]


def told(capsys: Any, *arguments: object) -> tuple[int, str, str]:
    """Exit code, output and errors of a command."""
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err
