"""Long parts of bodies are kept once, beside the cassette, and nothing is lost by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.cassettes import journal
from pytest_judgesense.cassettes.bodies import cut, joined, part_digest, parts_path, with_references
from pytest_judgesense.cassettes.checking import check_cassettes
from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.journal import Journal, read_exchanges, rewrite
from pytest_judgesense.cassettes.tape import Tape
from pytest_judgesense.commands.merge import merge
from pytest_judgesense.errors import BrokenCassette, CassetteError

# One string of a body, between its quotes: 41 characters twice, so longer than a reference.
LONG = 'A speech, with "quotes" and a line\\u2028 end.' * 2
URL = "http://127.0.0.1/v1/chat/completions"


def exchange(trial: str, text: str = LONG, seed: int = 0) -> Exchange:
    body = json.dumps({"messages": [{"role": "user", "content": text}], "seed": seed})
    answer = RecordedResponse(200, {}, json.dumps({"said": trial}))
    return Exchange(trial, 1, RecordedRequest("POST", URL, body), answer, "2026-01-31T12:00:00Z")


@given(st.text(), st.text(min_size=80), st.text())
def test_a_body_is_what_it_was_before_it_was_cut(before: str, long: str, after: str) -> None:
    # As JSON, as text around JSON, and as text that only looks like it.
    for body in (json.dumps({before: [long, after]}), f'{before}":"{long}","{after}', long):
        parts = {part_digest(text): text for text in cut(body)}
        pieces = with_references(body, part_digest)
        assert joined([pieces] if isinstance(pieces, str) else pieces, parts) == body


def test_a_part_that_bodies_share_is_kept_once_and_comes_back_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    given_ones = [exchange(f"t{i}", seed=i) for i in range(9)]
    rewrite(path, given_ones)
    assert read_exchanges(path) == given_ones
    assert "A speech" not in path.read_text(encoding="utf-8")
    assert parts_path(path).read_text(encoding="utf-8").count("A speech") == 2  # LONG says it twice


def test_what_is_not_shared_stays_in_its_line_and_no_file_is_made(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    rewrite(path, [exchange("a", "x" * 300), exchange("b", "y" * 300)])
    assert not parts_path(path).exists()
    assert path.read_text(encoding="utf-8").count("x" * 300) == 1


def test_a_file_of_parts_that_nothing_needs_any_more_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    rewrite(path, [exchange("a"), exchange("b")])
    rewrite(path, [exchange("a")])
    assert not parts_path(path).exists()
    assert read_exchanges(path) == [exchange("a")]


def test_while_recording_a_line_is_whole_and_a_recorder_goes_on_with_parts(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    rewrite(path, [exchange("a"), exchange("b")])
    parts = parts_path(path).read_bytes()
    Journal(path).append(exchange("c"))
    assert path.read_text(encoding="utf-8").splitlines()[2] == exchange("c").to_line()
    assert parts_path(path).read_bytes() == parts
    assert read_exchanges(path) == [exchange("a"), exchange("b"), exchange("c")]


@pytest.mark.parametrize("damage", ["gone", "altered", "no json"])
def test_a_cassette_without_its_parts_is_broken_and_says_which(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "c.jsonl"
    rewrite(path, [exchange("a"), exchange("b")])
    beside = parts_path(path)
    if damage == "gone":
        beside.unlink()
        said = f"{path}:1: .*refers to part [0-9a-f]{{16}}, which is not beside the cassette"
    elif damage == "altered":
        beside.write_text(beside.read_text(encoding="utf-8").replace("speech", "screed"), "utf-8")
        said = f"{beside}:1"
    else:
        beside.write_bytes(b"nonsense\n")
        said = f"{beside}:1"
    with pytest.raises(BrokenCassette, match=said):
        read_exchanges(path)


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_rewriting_that_fails_at_any_step_leaves_a_readable_cassette(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    path = tmp_path / "c.jsonl"
    old = [exchange("a"), exchange("b")]
    new = [exchange("a", "n" * 200), exchange("b", "n" * 200)]
    rewrite(path, old)
    write, steps = journal.replace_content, []

    def until_the_disk_fails(target: Path, data: bytes) -> None:
        steps.append(target)
        if len(steps) == failing:
            raise CassetteError("the disk is full")
        write(target, data)

    monkeypatch.setattr(journal, "replace_content", until_the_disk_fails)
    # Three steps: parts of both, the lines, the new parts alone.
    with pytest.raises(CassetteError):
        rewrite(path, new)
    assert read_exchanges(path) == (old if failing < 3 else new)


def test_a_tape_replays_and_goes_on_recording_with_parts(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    ones = [exchange("a"), exchange("b")]
    rewrite(path, ones)
    tape = Tape.open(path, "replay")
    with tape.trial("b") as scope:
        found = tape.find(scope, "POST", URL, ones[1].request.body)
    assert found == ones[1]
    recording = Tape.open(path, "record", now=lambda: "2026-01-31T12:00:00Z")
    for trial in ("c", "d"):  # finished in between: parts that went are not taken for granted
        with recording.trial(trial) as scope:
            recording.record_call(scope, "m:f", [{"role": "user", "content": "w" * 200}], trial)
        recording.finish(["a", "b", "c", "d"])
    assert [one.trial for one in read_exchanges(path)] == ["a", "b", "c", "d"]


def test_cassettes_with_parts_are_joined_and_searched_for_secrets(tmp_path: Path) -> None:
    token = "sk-" + "a1B2" * 12
    for name, trials in (("one", "ab"), ("two", "bc")):
        rewrite(tmp_path / name / "c.jsonl", [exchange(trial) for trial in trials])
    merge([tmp_path / "one", tmp_path / "two"], tmp_path / "all")
    assert read_exchanges(tmp_path / "all" / "c.jsonl") == [exchange(trial) for trial in "abc"]
    assert not check_cassettes([tmp_path / "all"], {}).findings
    secret = tmp_path / "secret" / "c.jsonl"
    rewrite(secret, [exchange(trial, f"{LONG} {token}") for trial in "ab"])
    assert token not in secret.read_text(encoding="utf-8")
    found = check_cassettes([tmp_path / "secret"], {"MY_API_KEY": token})
    assert {finding.place for finding in found.findings} == {f"{secret}:1", f"{secret}:2"}
