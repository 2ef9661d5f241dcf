"""``judgesense recordings join``: what several machines recorded and measured, as if one had."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.storage import read_exchanges, rewrite
from tests import processes
from tests.commands.recordings import told
from tests.commands.within import measured
from tests.shipped import CASSETTES

SHIPPED = CASSETTES / "mixed" / "coherence.jsonl"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def merged(capsys, *paths: object, to: str) -> str:
    code, out, err = told(capsys, "recordings", "join", *paths, "-o", to)
    assert code == 0, err
    return out


def refused(capsys, *paths: object, code: int = 3, to: str = "out.jsonl") -> str:
    """The error of a merge that writes nothing."""
    before = sorted(Path().rglob("*"))
    found, _, err = told(capsys, "recordings", "join", *paths, "-o", to)
    assert found == code, err
    assert sorted(Path().rglob("*")) == before
    return err


def exchange(answer: str, *, call: int = 1, asked: str = "{}", status: int = 200, day: int = 1):
    request = RecordedRequest("POST", "https://judge.example/v1/chat/completions", asked)
    response = RecordedResponse(status, {}, answer)
    return Exchange("s/i/t1/ab/r1", call, request, response, f"2026-01-{day:02}T12:00:00Z")


def cassettes(*parts: list[Exchange]) -> list[Path]:
    paths = [Path(f"shard-{number}.jsonl") for number in range(1, len(parts) + 1)]
    for path, exchanges in zip(paths, parts, strict=True):
        rewrite(path, exchanges)
    return paths


def test_overlapping_cassettes_become_the_one_that_they_are_parts_of(capsys):
    whole = read_exchanges(SHIPPED)
    chance = random.Random(11)
    parts: list[list[Exchange]] = [[], [], []]
    for one in whole:
        for number in chance.sample(range(3), k=chance.choice([1, 1, 2])):
            parts[number].append(one)
    for part in parts:
        chance.shuffle(part)
    assert sum(map(len, parts)) > len(whole) > max(map(len, parts))
    paths = cassettes(*parts)

    for number, order in enumerate(permutations(paths)):
        out = merged(capsys, *order, to=f"out-{number}.jsonl")
        assert out == f"3 files joined: out-{number}.jsonl\n"
        assert Path(f"out-{number}.jsonl").read_bytes() == SHIPPED.read_bytes()


@pytest.mark.parametrize(
    "other",
    [exchange("no"), exchange("yes", asked='{"prompt": "new"}'), exchange("yes", status=201)],
    ids=["answer", "request", "status"],
)
def test_two_recordings_that_contradict_one_another_are_named(capsys, other):
    paths = cassettes([exchange("yes")], [other])

    err = refused(capsys, *paths)

    assert "trial s/i/t1/ab/r1 is recorded twice, and not alike" in err
    assert "shard-1.jsonl" in err
    assert "shard-2.jsonl" in err


def test_long_answers_are_shown_where_they_differ(capsys):
    head, tail = (
        '{"id": "x", "choices": [{"message": {"content": "' + "w " * 200,
        '"}}]}' + " " * 200,
    )
    paths = cassettes([exchange(f"{head}YES{tail}z")], [exchange(f"{head}NO{tail}z")])
    error = refused(capsys, *paths)
    assert "w YES" in error
    assert "w NO" in error


def test_the_same_answer_of_two_days_counts_once_and_is_the_earlier(capsys):
    paths = cassettes([exchange("yes", day=2)], [exchange("yes", day=1)])

    merged(capsys, *paths, to="one.jsonl")
    merged(capsys, *reversed(paths), to="other.jsonl")

    assert read_exchanges(Path("one.jsonl")) == [exchange("yes", day=1)]
    assert Path("one.jsonl").read_bytes() == Path("other.jsonl").read_bytes()


def test_a_recording_that_was_interrupted_yields_to_the_whole_one(capsys):
    # One shard has the first of two calls, another both; a third got an error and no answer.
    first, second = exchange("one"), exchange("two", call=2, asked='{"then": 1}')
    error = exchange("slow down", status=429)
    paths = cassettes([first], [first, second], [error])

    for number, order in enumerate(permutations(paths)):
        merged(capsys, *order, to=f"out-{number}.jsonl")
        # The error is evidence; it came before the answers that the judge gave in the end.
        assert read_exchanges(Path(f"out-{number}.jsonl")) == [
            error,
            replace(first, call=2),
            replace(second, call=3),
        ]


def test_joining_again_changes_nothing(capsys):
    error = exchange("slow down", status=429)
    paths = cassettes([error, exchange("yes", call=2)], [exchange("yes")])
    merged(capsys, *paths, to="once.jsonl")

    merged(capsys, "once.jsonl", *paths, to="twice.jsonl")

    assert Path("twice.jsonl").read_bytes() == Path("once.jsonl").read_bytes()
    assert len(read_exchanges(Path("once.jsonl"))) == 2


@pytest.fixture(scope="module")
def sessions(tmp_path_factory) -> Path:
    """One session with everything, and the same split over three machines."""
    folder = tmp_path_factory.mktemp("sessions")
    mixed, clean = "embedded:mixed", "embedded:clean"
    suites = ["coherence", "vacuum"]
    (folder / "whole").mkdir()
    named = ("--judge-name", mixed, "--judge-name", clean)
    asked = ("--judge-suite", "coherence", "--judge-suite", "vacuum")
    sheets = ("--judge-datasheet", "sheet.json", "--judge-datasheet", "sheet.jsonl")
    done = processes.run("pytest", "-q", *named, *asked, *sheets, cwd=folder / "whole")
    assert done.returncode in (0, 1), done.stdout + done.stderr
    parts = {
        # Judge mixed on coherence stands in two of them.
        "shard-1": ([mixed], suites[:1]),
        "shard-2": ([mixed], suites),
        "shard-3": ([clean], suites),
    }
    for name, (judges, measured_on) in parts.items():
        (folder / name).mkdir()
        sheet = measured(folder / name, judges, measured_on)
        for suffix in ("json", "jsonl"):
            sheet.write(folder / name / f"sheet.{suffix}")
    return folder


SHARDS = ("shard-1", "shard-2", "shard-3")


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_the_files_of_shards_become_those_of_one_session(capsys, sessions, suffix):
    whole = (sessions / "whole" / f"sheet.{suffix}").read_bytes()
    paths = [sessions / name / f"sheet.{suffix}" for name in SHARDS]
    assert all(path.read_bytes() != whole for path in paths)

    for number, order in enumerate(permutations(paths)):
        merged(capsys, *order, to=f"out-{number}.{suffix}")
        assert Path(f"out-{number}.{suffix}").read_bytes() == whole


def test_folders_are_joined_file_by_file(capsys, sessions):
    for name in SHARDS:
        folder = Path(name)
        folder.mkdir()
        for suffix in ("json", "jsonl"):
            (folder / f"sheet.{suffix}").write_bytes(
                (sessions / name / f"sheet.{suffix}").read_bytes()
            )
    for folder, part in zip(SHARDS, (slice(0, 150), slice(100, 200), slice(0, 0)), strict=True):
        if exchanges := read_exchanges(SHIPPED)[part]:
            rewrite(Path(folder) / "cassettes" / "mixed" / "coherence.jsonl", exchanges)

    out = merged(capsys, *SHARDS, to="all")

    assert out.splitlines() == [
        "2 files joined: all/cassettes/mixed/coherence.jsonl",
        "3 files joined: all/sheet.json",
        "3 files joined: all/sheet.jsonl",
    ]
    assert Path("all/cassettes/mixed/coherence.jsonl").read_bytes() == SHIPPED.read_bytes()
    for suffix in ("json", "jsonl"):
        whole = (sessions / "whole" / f"sheet.{suffix}").read_bytes()
        assert Path(f"all/sheet.{suffix}").read_bytes() == whole


def test_checks_that_ran_on_different_machines_are_joined(capsys, sessions):
    one = sheet(sessions, "shard-2")
    checks = one["judges"][0]["checks"]
    assert len(checks) > 1
    paths = []
    for number in (0, 1):
        half = {**one["judges"][0], "checks": checks[number::2]}
        paths.append(written({**one, "judges": [half]}, f"{number}.json"))

    merged(capsys, *reversed(paths), to="out.json")

    assert Path("out.json").read_bytes() == (sessions / "shard-2" / "sheet.json").read_bytes()


def test_the_session_that_made_the_calls_counts_them(capsys, sessions):
    replayed, made = sheet(sessions, "shard-1"), sheet(sessions, "shard-1")
    (judge,) = made["judges"]
    count = judge["calls"]["replayed"]
    for calls in (judge["calls"], judge["parts"][0]["calls"]):
        calls |= {"made": count, "replayed": 0}
    paths = [written(replayed, "replayed.json"), written(made, "made.json")]

    merged(capsys, *paths, to="out.json")

    assert json.loads(Path("out.json").read_text()) == made


def sheet(sessions: Path, name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((sessions / name / "sheet.json").read_text(encoding="utf-8"))
    return value


def written(value: dict[str, Any], name: str) -> Path:
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    Path(name).write_text(text, encoding="utf-8")
    return Path(name)


def _seed(value: dict[str, Any]) -> None:
    value["seed"] = 1


def _version(value: dict[str, Any]) -> None:
    value["versions"]["numpy"] = "0.1"


def _measure(value: dict[str, Any]) -> None:
    next(m for m in value["judges"][0]["measures"] if m["measure"] == "jss")["value"] = 0.5


def _check(value: dict[str, Any]) -> None:
    value["judges"][0]["checks"][0]["outcome"] = "inconclusive"


def _model(value: dict[str, Any]) -> None:
    value["judges"][0]["judge"]["model"] = "other"


def _prompts(value: dict[str, Any]) -> None:
    value["judges"][0]["parts"][0]["prompts"] = "0123456789ab"


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (_seed, ("seed", "0 in", "1 in")),
        (_version, ("versions", '"0.1"')),
        (_measure, ("measures jss", "on suite coherence of judge mixed", '"value": 0.5')),
        (_check, ("checks ", "on suite coherence of judge mixed", "inconclusive")),
        (_model, ("what judge mixed is", '"model": "other"')),
        (_prompts, ("suite coherence of judge mixed", "0123456789ab")),
    ],
)
def test_datasheets_that_disagree_are_an_error_that_names_it(capsys, sessions, change, names):
    value = sheet(sessions, "shard-1")
    change(value)
    path = written(value, "changed.json")

    err = refused(capsys, sessions / "shard-2" / "sheet.json", path, to="out.json")

    assert "two datasheets do not agree on" in err
    for name in (*names, "changed.json", "shard-2"):
        assert name in err


def test_logs_that_disagree_are_an_error_that_names_the_judgment(capsys, sessions):
    lines = (sessions / "shard-1" / "sheet.jsonl").read_text(encoding="utf-8").splitlines()
    changed = json.loads(lines[3])
    changed["verdict"] = "5" if changed["verdict"] != "5" else "1"
    Path("changed.jsonl").write_text(json.dumps(changed) + "\n", encoding="utf-8")

    err = refused(capsys, sessions / "shard-1" / "sheet.jsonl", "changed.jsonl")

    assert f"trial {changed['trial']} of judge mixed appears twice" in err
    assert "changed.jsonl" in err


def test_a_log_with_the_time_of_a_reply_agrees_with_its_replay(capsys, sessions):
    lines = (sessions / "shard-1" / "sheet.jsonl").read_text(encoding="utf-8").splitlines()
    timed = json.dumps({**json.loads(lines[0]), "latency_s": 0.25}) + "\n"
    Path("timed.jsonl").write_text(timed, encoding="utf-8")

    merged(capsys, sessions / "shard-1" / "sheet.jsonl", "timed.jsonl", to="out.jsonl")

    out = Path("out.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(out[0])["latency_s"] == 0.25
    assert out[1:] == lines[1:]


def test_files_of_different_kinds_are_a_wrong_command(capsys, sessions):
    err = refused(capsys, SHIPPED, sessions / "shard-1" / "sheet.jsonl", code=2)

    assert "a cassette" in err
    assert "a log" in err


def test_a_file_and_a_folder_are_a_wrong_command(capsys, sessions):
    assert "the file" in refused(capsys, sessions / "shard-1", SHIPPED, code=2, to="out")


def test_what_is_not_there_or_holds_nothing_is_a_wrong_command(capsys, sessions):
    err = refused(capsys, sessions / "shard-1", "shard-9", code=2, to="out")
    assert "shard-9: there is no such file or folder" in err
    Path("empty").mkdir()
    assert "nothing that could be joined" in refused(capsys, "empty", code=2, to="out")
    # A shard without clusters leaves an empty folder, or none.
    assert "1 file joined: " in merged(capsys, sessions / "shard-1", "empty", to="out")


def test_a_target_that_exists_is_not_overwritten_unless_it_is_a_source(capsys):
    (path,) = cassettes([exchange("yes")])
    Path("out.jsonl").write_text("mine")

    assert "out.jsonl exists" in refused(capsys, path, code=2)

    rewrite(Path("out.jsonl"), read_exchanges(SHIPPED)[:1])
    merged(capsys, path, "out.jsonl", to="out.jsonl")
    assert len(read_exchanges(Path("out.jsonl"))) == 2


def test_a_contradiction_in_one_file_leaves_all_files_of_folders_unwritten(capsys):
    for shard, answer in (("one", "yes"), ("two", "no")):
        rewrite(Path(shard) / "a.jsonl", [exchange("alike")])
        rewrite(Path(shard) / "b.jsonl", [exchange(answer)])

    refused(capsys, "one", "two", to="all")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.json", "{"),
        ("x.json", "[]"),
        ("x.json", '{"schema": "judgesense/datasheet/1", "seed": 0}'),
        ("x.jsonl", "{"),
        ("x.jsonl", '{"judge": 1}\n'),
        ("x.jsonl", '{"trial": "s"}\n'),
    ],
)
def test_a_broken_file_is_named(capsys, name, text):
    Path(name).write_text(text)

    err = refused(capsys, name, to=f"out{Path(name).suffix}")

    assert name in err
