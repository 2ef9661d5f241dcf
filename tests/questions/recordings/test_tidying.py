"""Recordings without what no suite asks, and under other names: both replay as before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense.cassettes.storage import read_exchanges
from tests.commands.within import judgesense, measured
from tests.plugin.project import parity_suite

TABLE = '[tool.judgesense.judges.{}]\nprovider = "embedded"\nmodel = "clean"\n'
CASSETTE = Path("cassettes", "mine", "parity.jsonl")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Six items and a judge that is declared, recorded."""
    parity_suite(tmp_path)
    declare(tmp_path, "mine")
    measured(tmp_path, "mine", "parity.suite.toml", mode="record")
    return tmp_path


def declare(folder: Path, judge: str) -> None:
    (folder / "pyproject.toml").write_text(TABLE.format(judge))


def drop_items(folder: Path, *ids: str) -> None:
    path = folder / "parity.jsonl"
    items = map(json.loads, path.read_text().splitlines())
    path.write_text("".join(f"{json.dumps(i)}\n" for i in items if i["id"] not in ids))


def test_what_no_suite_asks_is_listed_and_then_dropped(project: Path) -> None:
    drop_items(project, "p2", "p5")
    before = (project / CASSETTE).read_bytes()
    estimates = measured(project, "mine", "parity.suite.toml").estimates
    listed = judgesense("recordings", "prune", cwd=project)
    # Two of six items in three wordings.
    assert listed.stdout == (
        f"{CASSETTE}: 6 of 18 trials, of p2, p5\n6 trials are asked by no suite; --yes drops them\n"
    )
    assert (project / CASSETTE).read_bytes() == before
    dropped = judgesense("recordings", "prune", "--yes", cwd=project)
    assert dropped.stdout.endswith("6 trials that no suite asks are dropped\n")
    trials = [exchange.trial for exchange in read_exchanges(project / CASSETTE)]
    assert len(trials) == 12
    assert not any("p2" in trial or "p5" in trial for trial in trials)
    assert measured(project, "mine", "parity.suite.toml").estimates == estimates
    again = judgesense("recordings", "prune", "--yes", cwd=project)
    assert again.stdout == "every recorded trial is asked by a suite\n"


def test_a_recording_of_which_nothing_is_asked_goes(project: Path) -> None:
    (project / "parity.suite.toml").unlink()
    done = judgesense("recordings", "prune", "cassettes", "--yes", cwd=project)
    assert done.returncode == 0, done.stderr
    assert not (project / CASSETTE).exists()


def test_where_nobody_knows_what_is_asked_nothing_is_dropped(project: Path) -> None:
    of_tests = project / "cassettes/mine/tests/a.jsonl"
    of_labels = project / "cassettes/mine/labels-parity.jsonl"
    of_another = project / "cassettes/other/parity.jsonl"
    for path in (of_tests, of_labels, of_another):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((project / CASSETTE).read_bytes())
    drop_items(project, "p1", "p2", "p3", "p4", "p5")
    done = judgesense("recordings", "prune", "--yes", cwd=project)
    assert "left alone, tests ask it: cassettes/mine/tests/a.jsonl" in done.stdout
    assert "left alone, a question about a suite: cassettes/mine/labels-parity.jsonl" in done.stdout
    assert "no judge 'other' is declared here (--judge-name NAME)" in done.stdout
    counts = [len(read_exchanges(path)) for path in (of_tests, of_labels, of_another)]
    assert counts == [18, 18, 18]
    assert len(read_exchanges(project / CASSETTE)) == 3
    judgesense("recordings", "prune", "--yes", "--judge-name", "other", cwd=project)
    assert len(read_exchanges(of_another)) == 3


def test_a_suite_that_cannot_be_read_stops_it(project: Path) -> None:
    drop_items(project, "p1")
    (project / "broken.suite.toml").write_text("name = \n")
    done = judgesense("recordings", "prune", "--yes", cwd=project)
    assert done.returncode == 3
    assert "broken.suite.toml" in done.stderr
    assert len(read_exchanges(project / CASSETTE)) == 18


def test_a_judge_gets_another_name(project: Path) -> None:
    estimates = measured(project, "mine", "parity.suite.toml").estimates
    content = (project / CASSETTE).read_bytes()
    done = judgesense("recordings", "move", "mine", "judge of ours", cwd=project)
    assert done.returncode == 0, done.stderr
    declare(project, '"judge of ours"')
    (folder,) = (project / "cassettes").iterdir()
    assert folder.name.startswith("judge-of-ours-")
    assert (folder / "parity.jsonl").read_bytes() == content
    moved = measured(project, "judge of ours", "parity.suite.toml").estimates
    assert [e.value for e in moved] == [e.value for e in estimates]


def test_a_suite_gets_another_name(project: Path) -> None:
    estimates = measured(project, "mine", "parity.suite.toml").estimates
    stopped = project / "cassettes/mine/parity.stopped.json"
    stopped.write_text("{}")
    done = judgesense("recordings", "move", "parity", "evenness", cwd=project)
    assert done.returncode == 0, done.stderr
    assert not (project / CASSETTE).exists()
    assert (project / "cassettes/mine/evenness.stopped.json").read_text() == "{}"
    suite = project / "parity.suite.toml"
    suite.write_text(suite.read_text().replace('name = "parity"', 'name = "evenness"'))
    suite.rename(project / "evenness.suite.toml")
    moved = measured(project, "mine", "evenness.suite.toml").estimates
    assert [e.value for e in moved] == [e.value for e in estimates]


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("nobody", "other", "no recorded judge and of no suite"),
        ("mine", "parity", "something is recorded under 'parity' already"),
        ("parity", "a/b", "is no name of a suite"),
    ],
)
def test_a_name_that_is_not_there_or_taken_is_an_error(
    project: Path, old: str, new: str, error: str
) -> None:
    taken = project / "cassettes/parity/parity.jsonl"
    if new == "parity":
        taken.parent.mkdir()
        taken.write_bytes((project / CASSETTE).read_bytes())
    before = sorted(project.rglob("*.jsonl"))
    done = judgesense("recordings", "move", old, new, cwd=project)
    assert done.returncode == 2
    assert error in done.stderr
    assert sorted(project.rglob("*.jsonl")) == before
