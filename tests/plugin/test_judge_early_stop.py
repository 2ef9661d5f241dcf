"""``--judge-early-stop``, its ini twin, and ``early_stop = true`` of a suite.

The suite asks of 24 numbers, under three wordings, whether they are even: 72 trials in clusters of
three, with a look after each cluster. Its judge makes no mistake, so what is left can hardly pull
it below a floor of .8 when some 15 clusters are asked: the chance that none of five wrong ones is
among 15 of 24 is 0.003.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.plugin.settings import settings_of
from tests.repository import commit, repository

from .project import Project, RecordedOnce, even, no_traceback, parsed_config

CLUSTERS, WORDINGS = 24, 3
EARLY = "--judge-early-stop"
RECORD = ("parity.suite.toml", "--judge-mode", "record")


@pytest.fixture
def project(recorded_once: RecordedOnce) -> RecordedOnce:
    return recorded_once


@pytest.fixture
def long(project: RecordedOnce) -> RecordedOnce:
    """The project with 24 numbers."""
    write_numbers(project, CLUSTERS)
    return project


def write_numbers(project: Project, count: int) -> None:
    lines = [
        {"id": f"p{n}", "number": str(n), "label": "YES" if n % 2 == 0 else "NO"}
        for n in range(1, count + 1)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (project.path / "parity.jsonl").write_text(text)


def note_of(project: Project) -> Path:
    return project.cassette.with_name("parity.stopped.json")


def sheet_of(project: Project, name: str, *args: str) -> bytes:
    project.run("parity.suite.toml", "--judge-datasheet", f"{name}.json", *args)
    return (project.path / f"{name}.json").read_bytes()


def row_of(sheet: bytes) -> dict[str, Any]:
    """Where the one judge was stopped."""
    (judge,) = json.loads(sheet)["judges"]
    (row,) = [one["rows"][0] for one in judge["analyses"] if one["analysis"] == "early_stop"]
    return dict(row)


def jss_of(sheet: bytes) -> dict[str, Any]:
    (judge,) = json.loads(sheet)["judges"]
    (jss,) = [one for one in judge["measures"] if one["measure"] == "jss" and not one["condition"]]
    return dict(jss)


@pytest.mark.parametrize("how", ["option", "suite"])
def test_it_asks_whole_clusters_until_the_checks_are_decided(long: RecordedOnce, how: str) -> None:
    arguments = [EARLY]
    if how == "suite":
        text = long.suite.read_text().replace("[checks]", "[design]\nearly_stop = true\n[checks]")
        long.suite.write_text(text)
        arguments = []
    result = long.run(*RECORD, "--judge-datasheet", "x.json", *arguments)
    result.assert_outcomes(passed=1)
    no_traceback(result)
    row = row_of((long.path / "x.json").read_bytes())
    asked = row["looks"][row["look"] - 1]
    # By curtailment alone it would take the 20 clusters that make .8 of 24.
    assert 5 < asked < 20
    assert len(long.server.asked) == WORDINGS * asked
    assert len(long.lines()) == WORDINGS * asked
    assert sorted([*row["clusters"][:asked], *row["left_out"]]) == sorted(row["clusters"])
    assert len(set(row["clusters"])) == CLUSTERS
    result.stdout.fnmatch_lines([f"*stopped early: at look {row['look']} of {CLUSTERS}, after *"])


def recorded_until_stopped(project: RecordedOnce) -> bytes:
    """Record as far as the checks need; returns the note that says how far."""
    project.run_once(*RECORD, EARLY)
    project.server.forget()
    return note_of(project).read_bytes()


@pytest.mark.parametrize(
    ("at_once", "spread"),
    [
        pytest.param("16", "0", marks=pytest.mark.long),
        pytest.param("1", "2", marks=pytest.mark.long),
        ("16", "2"),
    ],
)
def test_a_stopped_recording_gives_the_same_bytes_however_it_is_replayed(
    long: RecordedOnce, at_once: str, spread: str
) -> None:
    recorded_until_stopped(long)
    first = sheet_of(long, "first", EARLY)
    args = (EARLY, "--judge-concurrency", at_once, "-n", spread)
    assert sheet_of(long, "again", *args) == first
    # Nor does it need the option, and a seed that draws another order is not asked for one.
    assert sheet_of(long, "plain") == first
    assert row_of(sheet_of(long, "seed", EARLY, "--judge-seed", "5"))["seed"] == 0
    assert long.server.asked == []


def test_what_was_asked_beyond_the_look_is_kept_and_left_out(project: Project) -> None:
    """40 clusters of three calls are asked two by two, with a look after each: at an odd one the
    recording holds a cluster more, which is no part of the estimate, nor asked again."""
    write_numbers(project, 40)
    # One wording goes wrong: the clusters of even numbers miss a floor of .8, the others do not. In
    # the order of seed 4 the suite stops after 23 of them.
    project.server.reply = lambda text: "NO" if text.startswith("Tell") else even(text)
    seed = ("--judge-seed", "4")
    sheet = sheet_of(project, "x", "--judge-mode", "record", EARLY, *seed)
    row = row_of(sheet)
    asked = row["looks"][row["look"] - 1]
    assert row["looks"] == list(range(1, 41))
    assert asked == 23
    assert len(project.server.asked) == len(project.lines()) == WORDINGS * (asked + 1)
    (judge,) = json.loads(sheet)["judges"]
    # What was asked beyond it was paid for: calls and tokens, of which nothing was replayed.
    calls = judge["calls"]
    assert (calls["made"], calls["replayed"]) == (WORDINGS * (asked + 1), 0)
    assert calls["completion_tokens"] == WORDINGS * (asked + 1)
    replayed = sheet_of(project, "y", EARLY, *seed)
    assert jss_of(replayed) == jss_of(sheet)
    (judge,) = json.loads(replayed)["judges"]
    assert judge["calls"]["replayed"] == WORDINGS * asked
    project.run(*RECORD)
    assert len(project.server.asked) == 40 * WORDINGS


def test_what_is_asked_depends_on_nobody_s_haste(long: RecordedOnce) -> None:
    """One call at a time, and sixteen of which some take longer, ask and stop alike."""
    notes, asked = [], []
    for at_once in ("1", "16"):
        long.server.reply = even
        long.server.delay_s = 0.002 if at_once == "16" else 0.0
        long.run(*RECORD, EARLY, "--judge-concurrency", at_once)
        notes.append(note_of(long).read_bytes())
        asked.append({json.loads(line)["trial"] for line in long.lines()})
        long.cassette.unlink()
        note_of(long).unlink()
    assert notes[0] == notes[1]
    assert asked[0] == asked[1]


def test_workers_ask_no_more_than_one_process(long: RecordedOnce) -> None:
    long.run(*RECORD, EARLY, "-n", "2")
    shared = note_of(long).read_bytes(), len(long.server.asked)
    long.cassette.unlink()
    note_of(long).unlink()
    assert shared == (recorded_until_stopped(long), len(long.lines()))


def test_recording_on_asks_the_rest_and_nothing_twice(long: RecordedOnce) -> None:
    recorded_until_stopped(long)
    before = long.lines()
    result = long.run(*RECORD)
    result.assert_outcomes(passed=1)
    assert 0 < len(before) < CLUSTERS * WORDINGS
    assert len(set(long.server.prompts)) == len(long.server.asked)
    assert len(long.server.asked) == CLUSTERS * WORDINGS - len(before)
    assert set(before) < set(long.lines())
    assert not note_of(long).exists()
    # The whole recording says what one says that was made at once.
    whole = sheet_of(long, "whole")
    assert jss_of(whole)["n"] == CLUSTERS * WORDINGS
    assert b"early" not in whole
    # With the option it stops where it stopped while it was recorded.
    assert row_of(sheet_of(long, "again", EARLY))["look"] * WORDINGS == len(before)


def test_the_interval_of_a_stopped_run_is_adjusted(long: RecordedOnce) -> None:
    recorded_until_stopped(long)
    early = jss_of(sheet_of(long, "early"))
    note_of(long).unlink()
    rows = [json.loads(line)["trial"].split("/")[1] for line in long.lines()]
    kept = [
        line
        for line in (long.path / "parity.jsonl").read_text().splitlines()
        if json.loads(line)["id"] in rows
    ]
    (long.path / "parity.jsonl").write_text("\n".join(kept) + "\n")
    fixed = jss_of(sheet_of(long, "fixed"))
    assert (early["value"], early["n"]) == (fixed["value"], fixed["n"])
    assert early["clustered"]["lower"] < fixed["clustered"]["lower"]
    assert early["clustered"]["method"] == f"repeated-{fixed['clustered']['method']}"
    assert early["interval"] == fixed["interval"]  # the paper's knows no looks


def test_a_report_of_its_log_says_that_intervals_are_not_adjusted(
    long: RecordedOnce, capsys: pytest.CaptureFixture[str]
) -> None:
    long.run(*RECORD, EARLY, "--judge-datasheet", "early.jsonl")
    lines = (long.path / "early.jsonl").read_text().splitlines()
    clusters = {json.loads(line)["cluster"] for line in lines}
    (left_out,) = {json.loads(line)["design"]["left_out"] for line in lines}
    items = (long.path / "parity.jsonl").read_text().splitlines()
    assert len(clusters) + left_out == len(items)  # each item is a cluster
    assert main(["report", str(long.path / "early.jsonl")]) == 0
    assert f"stopped early, with {left_out} clusters not asked" in " ".join(
        capsys.readouterr().out.split()
    )


def test_a_check_that_was_not_decided_says_so(long: RecordedOnce) -> None:
    """Between the floor of .8 and one of .99 lie more clusters than were asked."""
    recorded_until_stopped(long)
    long.suite.write_text(long.suite.read_text().replace("jss_floor = 0.8", "jss_floor = 0.99"))
    result = long.run("parity.suite.toml")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*inconclusive*", "*stopped early, before this was decided*"])


def test_it_comes_to_the_end_for_what_only_all_clusters_decide(long: RecordedOnce) -> None:
    """Kappa is no mean: no bet on it, and the datasheet says what kept it."""
    text = long.suite.read_text().replace("jss_floor = 0.8", "jss_floor = 0.8\nkappa_floor = 0.5")
    long.suite.write_text(text)
    result = long.run(*RECORD, EARLY)
    result.assert_outcomes(passed=2)
    assert len(long.server.asked) == CLUSTERS * WORDINGS
    result.stdout.fnmatch_lines(["*parity was asked completely: kappa_floor[[]0.5] needed it*"])


def test_under_confident_it_stops_at_one_of_four_looks(long: RecordedOnce) -> None:
    """A judge who flips on every second wording misses .95 by so much that three quarters tell."""
    long.suite.write_text(long.suite.read_text().replace("jss_floor = 0.8", "jss_floor = 0.95"))
    long.server.reply = lambda text: "NO" if text.startswith("Tell") else even(text)
    result = long.run(*RECORD, EARLY, "--judge-policy", "confident", "--judge-datasheet", "x.json")
    result.assert_outcomes(failed=1)
    row = row_of((long.path / "x.json").read_bytes())
    assert row["looks"] == [6, 12, 18, 24]
    assert len(long.server.asked) == WORDINGS * 6 * row["look"] < WORDINGS * CLUSTERS


def test_refuted_is_refused(pytester: pytest.Pytester) -> None:
    config = parsed_config(pytester, EARLY, "--judge-policy", "refuted")
    refused = "--judge-early-stop has no meaning under --judge-policy refuted"
    with pytest.raises(pytest.UsageError, match=refused):
        settings_of(config)


def test_a_note_that_was_edited_is_refused_with_a_remedy(long: RecordedOnce) -> None:
    recorded_until_stopped(long)
    note_of(long).write_text('{"policy": "estimate"}')
    result = long.run("parity.suite.toml")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*does not say where the recording was stopped*"])
    no_traceback(result)


def test_what_live_mode_keeps_is_kept_with_its_stop(long: RecordedOnce) -> None:
    args = ("--judge-mode", "live", "--judge-save-live", "cassettes")
    long.run("parity.suite.toml", EARLY, *args).assert_outcomes(passed=1)
    long.run("parity.suite.toml").assert_outcomes(passed=1)
    assert note_of(long).is_file()


@pytest.mark.parametrize("how", ["record", pytest.param("shards", marks=pytest.mark.long)])
def test_the_note_goes_whatever_completes_the_recording(
    long: RecordedOnce, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded_until_stopped(long)
    if how == "record":
        monkeypatch.chdir(long.path)
        assert main(["record", "parity.suite.toml", "--judge-name", "mine"]) == 0
    for number in (1, 2) if how == "shards" else ():
        long.run(*RECORD, "--judge-shard", f"{number}/2")
    assert len(long.lines()) == CLUSTERS * WORDINGS
    assert not note_of(long).exists()
    # A line that is lost from then on is missed, and no stop hides it.
    lines = long.cassette.read_text().splitlines(keepends=True)
    long.cassette.write_text("".join(lines[:-1]))
    result = long.run("parity.suite.toml")
    result.assert_outcomes(failed=1)
    assert "1 of 72 trials are not recorded" in result.stdout.str()


def test_a_stopped_recording_is_joined_with_others(
    long: RecordedOnce, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = recorded_until_stopped(long)
    monkeypatch.chdir(long.path)
    (long.path / "other" / "mine").mkdir(parents=True)
    assert main(["recordings", "join", "cassettes", "other", "-o", "joined"]) == 0
    assert (long.path / "joined/mine/parity.stopped.json").read_bytes() == note
    long.run("parity.suite.toml", "--judge-cassettes", "joined").assert_outcomes(passed=1)
    # Two that say different things are not joined.
    shutil.copytree(long.path / "cassettes", long.path / "other", dirs_exist_ok=True)
    said = note.replace(b'"look": ', b'"look": 1')
    (long.path / "other/mine/parity.stopped.json").write_bytes(said)
    assert main(["recordings", "join", "cassettes", "other", "-o", "again"]) == 2
    assert not (long.path / "again").exists()


def test_power_says_that_a_recording_was_stopped(
    long: RecordedOnce, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded_until_stopped(long)
    monkeypatch.chdir(long.path)
    assert main(["plan", "parity.suite.toml", "--judge-name", "mine"]) == 0
    assert "parity stopped early: at look " in " ".join(capsys.readouterr().out.split())


def test_the_remedy_of_a_stopped_recording_compares_and_so_asks_the_rest(
    long: RecordedOnce,
) -> None:
    suite = long.path / "parity.suite.toml"
    suite.write_text(suite.read_text() + 'no_regression = ["jss"]\n')
    recorded_until_stopped(long)
    repository(long.path)
    commit(long.path)
    screen = " ".join(long.run("parity.suite.toml", "--judge-baseline", "git:HEAD").outlines)
    assert "its recording was stopped early" in screen
    assert "--judge-mode record --judge-baseline git:HEAD" in screen
