from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.storage import Journal, read_exchanges, rewrite
from pytest_judgesense.errors import BrokenCassette, CassetteError


def exchange(trial: str, answer: str = "yes") -> Exchange:
    return Exchange(
        trial,
        1,
        RecordedRequest("POST", "https://h/", "{}"),
        RecordedResponse(200, {}, answer),
        "2026-01-31T12:00:00Z",
    )


def test_a_missing_file_holds_nothing_and_opening_creates_none(cassette: Path) -> None:
    assert read_exchanges(cassette) == []
    assert Journal(cassette).notice is None
    assert not cassette.parent.exists()


def test_lines_from_many_threads_stay_whole(cassette: Path) -> None:
    journal = Journal(cassette)
    wanted = {f"t{number}" for number in range(40)}
    threads = [
        threading.Thread(target=journal.append, args=(exchange(trial, "x" * 20_000),))
        for trial in wanted
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {entry.trial for entry in read_exchanges(cassette)} == wanted


def test_every_line_is_on_disk_at_once(cassette: Path) -> None:
    journal = Journal(cassette)
    journal.append(exchange("one"))
    assert read_exchanges(cassette) == [exchange("one")]


@pytest.mark.parametrize("line", [b"not json", b'{"trial": 1}', b"", b"\xff"])
def test_a_broken_line_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(exchange("a").to_line().encode() + b"\n" + line + b"\n")
    with pytest.raises(BrokenCassette) as caught:
        read_exchanges(path)
    assert caught.value.what.startswith(f"{path}:2:")
    assert caught.value.remedy


def test_a_torn_last_line_is_an_error_to_readers_and_mended_by_recorders(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    whole = exchange("a").to_line().encode() + b"\n"
    # Cut within "é": what is left is not even UTF-8.
    torn = exchange("é").to_line().encode()[:12]
    path.write_bytes(whole + torn)
    with pytest.raises(BrokenCassette, match=r"c\.jsonl:2: the last line is cut off"):
        read_exchanges(path)
    notice = Journal(path).notice
    assert notice is not None
    assert f"{len(torn)} bytes" in notice
    assert path.read_bytes() == whole


def test_a_whole_last_line_without_a_break_is_read_and_completed(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(exchange("a").to_line())
    assert read_exchanges(path) == [exchange("a")]
    journal = Journal(path)
    assert journal.notice is None
    journal.append(exchange("b"))
    assert [entry.trial for entry in read_exchanges(path)] == ["a", "b"]


def test_rewriting_replaces_the_file_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    rewrite(path, [exchange("a"), exchange("ü")])
    expected = f"{exchange('a').to_line()}\n{exchange('ü').to_line()}\n".encode()
    assert path.read_bytes() == expected
    before = path.stat().st_mtime_ns
    rewrite(path, [exchange("a"), exchange("ü")])
    assert path.stat().st_mtime_ns == before
    assert [file.name for file in tmp_path.iterdir()] == ["c.jsonl"]


def test_a_file_that_cannot_be_written_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "folder" / "c.jsonl")
    (tmp_path / "folder").write_text("a file where the folder should be")
    with pytest.raises(CassetteError, match="could not be recorded") as caught:
        journal.append(exchange("a"))
    assert "--judge-cassettes" in caught.value.remedy


def test_the_disk_is_made_to_keep_a_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[int] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        kept.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    path = tmp_path / "c.jsonl"
    journal = Journal(path)
    # Within a second of the first one, the second waits for what comes after it.
    monkeypatch.setattr("pytest_judgesense.cassettes.storage._SYNC_S", 1000.0)
    journal.append(exchange("one"))
    journal.append(exchange("two"))
    assert kept == [path.stat().st_ino, tmp_path.stat().st_ino]
    monkeypatch.setattr("pytest_judgesense.cassettes.storage._SYNC_S", 0.0)
    journal.append(exchange("three"))
    assert kept == [path.stat().st_ino, tmp_path.stat().st_ino, path.stat().st_ino]
    kept.clear()
    rewrite(path, read_exchanges(path))  # it is in its final form already
    assert kept == [path.stat().st_ino]
    rewrite(path, read_exchanges(path)[:1])
    assert kept[1:] == [path.stat().st_ino, tmp_path.stat().st_ino]


@pytest.mark.parametrize("status", [-1, -200, 1000, 10**20, 200.5, True, "200", None])
def test_a_status_that_is_none_is_an_error_that_names_the_line(
    tmp_path: Path, status: object
) -> None:
    path = tmp_path / "c.jsonl"
    line = json.loads(exchange("one").to_line())
    line["response"]["status"] = status
    path.write_text(f"{json.dumps(line)}\n")
    with pytest.raises(BrokenCassette, match=r"c\.jsonl:1: .*status"):
        read_exchanges(path)


@pytest.mark.parametrize(
    ("status", "answers"), [(0, False), (1, False), (199, False), (200, True), (399, True)]
)
def test_an_answer_has_the_status_of_one(status: int, answers: bool) -> None:
    recorded = exchange("one")
    response = replace(recorded.response, status=status)
    assert replace(recorded, response=response).answers is answers


@pytest.mark.parametrize("moment", ["9999-99-99T99:99:99Z", "2026-02-30T00:00:00Z"])
def test_a_moment_that_is_none_is_an_error_that_names_the_line(tmp_path: Path, moment: str) -> None:
    path = tmp_path / "c.jsonl"
    line = exchange("one").to_line()
    recorded = json.loads(line)["recorded_at"]
    path.write_text(f"{line.replace(recorded, moment)}\n")
    with pytest.raises(BrokenCassette, match=r"c\.jsonl:1: .*recorded_at"):
        read_exchanges(path)


@pytest.mark.parametrize("calls", [(2,), (1, 3), (2, 3)])
def test_a_trial_with_a_missing_call_is_broken_to_a_replay(
    tmp_path: Path, calls: tuple[int, ...]
) -> None:
    path = tmp_path / "c.jsonl"
    rewrite(path, [exchange("whole"), *(replace(exchange("t"), call=call) for call in calls)])
    missing = 1 if calls[0] == 2 else 2
    with pytest.raises(BrokenCassette, match=f"call {missing} of trial t is missing"):
        ReplayingCassette(path)
