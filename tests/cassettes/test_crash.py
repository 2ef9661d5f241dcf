"""Recordings that are killed: what was answered is on disk, and only the rest is asked again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.storage import Journal, read_exchanges, rewrite
from pytest_judgesense.errors import BrokenCassette

from .killing import RECORD, TRIALS, FastServer, Nursery, Tally, kill_a_recording, undated
from .killing import write_project as project

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    opened = Nursery()
    yield opened
    opened.close()


@pytest.fixture
def server() -> Iterator[FastServer]:
    opened = FastServer()
    yield opened
    opened.close()


def exchange(trial: str, answer: str = "yes") -> Exchange:
    return Exchange(
        trial,
        1,
        RecordedRequest("POST", "https://h/", "{}"),
        RecordedResponse(200, {}, answer),
        "2026-01-31T12:00:00Z",
    )


# SIGKILL, SIGINT and SIGTERM take turns. The harness tears the last line after the kills 3 and 9.
@pytest.mark.parametrize(
    ("kills", "gently", "torn"), [(4, 2, 1), pytest.param(10, 6, 2, marks=pytest.mark.long)]
)
def test_kills_at_random_moments_lose_only_what_was_in_flight(
    nursery: Nursery, server: FastServer, tmp_path: Path, kills: int, gently: int, torn: int
) -> None:
    # A recording of 1,000 calls at concurrency 32, killed so often and then finished.
    # benchmarks/kill.py kills 200 times, over twenty of them.
    tally = Tally()
    finished = kill_a_recording(nursery, server, tmp_path / "killed", 1, kills, tally)
    assert tally.faults == []
    assert tally.kills == kills
    assert tally.gently == gently
    assert tally.lost_gently == 0
    assert tally.repaired == tally.torn >= torn
    lines = [line for line in finished.splitlines() if not line.startswith(b'{"id": ')]
    assert len(lines) == TRIALS
    # In trial order: n0/t1, n0/t2, ... n249/t4, whatever it took.
    trials = [json.loads(line)["trial"] for line in lines]
    assert trials == [f"even/n{n}/t{t}/ab/r1" for n in range(250) for t in range(1, 5)]


def test_a_killed_recording_is_finished_as_if_it_had_not_been(
    nursery: Nursery, server: FastServer, tmp_path: Path
) -> None:
    # 25 items x 4 wordings: enough for three waves of 32.
    whole = project(tmp_path / "whole", server.base_url, items=25)
    nursery.start(tmp_path / "whole", *RECORD)
    assert nursery.wait() == 0
    server.forget()

    killed = project(tmp_path / "killed", server.base_url, items=25)
    pid = nursery.start(tmp_path / "killed", *RECORD)
    until = time.monotonic() + 60
    while server.answered < 50:
        assert time.monotonic() < until
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    assert nursery.wait() == -signal.SIGKILL
    assert len(read_exchanges(killed)) >= 50 - 32
    nursery.start(tmp_path / "killed", *RECORD)
    assert nursery.wait() == 0
    assert undated(killed.read_bytes()) == undated(whole.read_bytes())

    # Recorded once more, nothing is asked and the file is not even touched.
    server.forget()
    before = whole.read_bytes(), whole.stat().st_mtime_ns, whole.stat().st_ino
    nursery.start(tmp_path / "whole", *RECORD)
    assert nursery.wait() == 0
    assert (whole.read_bytes(), whole.stat().st_mtime_ns, whole.stat().st_ino) == before
    assert server.asked == []


DIES_IN_MID_WRITE = """
import resource, signal, sys
from pathlib import Path
from pytest_judgesense.cassettes.storage import Journal
from tests.cassettes.test_crash import exchange
path, limit = Path(sys.argv[1]), int(sys.argv[2])
journal = Journal(path)
journal.append(exchange("first"))
# The kernel writes up to the limit, then kills: the process dies within one line.
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
journal.append(exchange("second", "é" * 1000))
"""


@pytest.mark.parametrize("into", [1, 10, 200, 999, 1000])
def test_a_process_that_dies_within_a_line_leaves_a_torn_line_that_is_cut_off(
    tmp_path: Path, into: int
) -> None:
    path = tmp_path / "c.jsonl"
    first = exchange("first").to_line().encode() + b"\n"
    done = subprocess.run(
        [sys.executable, "-c", DIES_IN_MID_WRITE, str(path), str(len(first) + into)], check=False
    )
    assert done.returncode == -signal.SIGXFSZ
    torn = path.read_bytes().removeprefix(first)
    assert torn == exchange("second", "é" * 1000).to_line().encode()[:into]
    with pytest.raises(BrokenCassette, match=r"c\.jsonl:2: the last line is cut off"):
        read_exchanges(path)

    journal = Journal(path)
    assert path.read_bytes() == first
    assert journal.notice == (
        f"{path}:2: the last line was cut off in mid-write ({into} bytes); "
        "removed it, its call is made again"
    )
    journal.append(exchange("second"))
    assert [entry.trial for entry in read_exchanges(path)] == ["first", "second"]


@pytest.mark.parametrize("zeros", [b"\0" * 100, b'{"trial": "a\0\0'])
def test_zeros_that_a_loss_of_power_left_are_cut_off(tmp_path: Path, zeros: bytes) -> None:
    path = tmp_path / "c.jsonl"
    whole = exchange("a").to_line().encode() + b"\n"
    path.write_bytes(whole + zeros)
    assert Journal(path).notice
    assert path.read_bytes() == whole


def test_every_cut_of_a_line_is_seen_as_torn_or_as_whole(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    whole = exchange("a").to_line().encode() + b"\n"
    line = exchange('b"\\{', 'quote " brace } backslash \\ é').to_line().encode()
    for cut in range(1, len(line) + 1):
        path.write_bytes(whole + line[:cut])
        journal = Journal(path)
        if cut < len(line):
            assert journal.notice, line[:cut]
            assert path.read_bytes() == whole
        else:
            assert journal.notice is None
            assert path.read_bytes() == whole + line + b"\n"


def test_what_a_process_killed_while_it_finished_has_left_is_cleared_away(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    line = exchange("a").to_line().encode() + b"\n"
    # Allows the journal's one line, and kills in the middle of the copy that holds two.
    code = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from pytest_judgesense.cassettes.storage import rewrite\n"
        "from tests.cassettes.test_crash import exchange\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(line) + 9}, {len(line) + 9}))\n"
        "rewrite(Path(sys.argv[1]), [exchange('a'), exchange('b')])\n"
    )
    path.write_bytes(line)
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == -signal.SIGXFSZ
    assert path.read_bytes() == line
    assert len(list(tmp_path.iterdir())) == 2

    rewrite(path, [exchange("a"), exchange("b")])
    assert [file.name for file in tmp_path.iterdir()] == ["c.jsonl"]
    assert len(read_exchanges(path)) == 2
