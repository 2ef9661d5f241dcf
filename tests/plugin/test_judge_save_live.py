"""``--judge-save-live`` and its ini twin: the only thing that live mode writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.storage import read_exchanges, rewrite
from pytest_judgesense.plugin.recordings import save_recordings

from .project import TRIALS, Project, times_asked


@pytest.mark.parametrize("how", ["option", "ini"])
def test_what_was_asked_live_is_kept_and_can_be_replayed(project: Project, how: str) -> None:
    arguments = ["--judge-mode", "live", "--judge-save-live", "kept"]
    if how == "ini":
        project.pytester.makeini("[pytest]\njudge_save_live = kept\n")
        del arguments[2:]
    project.run("parity.suite.toml", *arguments).assert_outcomes(passed=1)
    kept = project.path / "kept" / "mine" / "parity.jsonl"
    assert len(kept.read_text(encoding="utf-8").splitlines()) == TRIALS
    assert not project.cassette.exists()

    project.server.forget()
    replayed = project.run("parity.suite.toml", "--judge-cassettes", "kept")
    replayed.assert_outcomes(passed=1)
    assert project.server.asked == []


def test_it_replaces_what_an_earlier_live_session_kept(project: Project) -> None:
    arguments = ["parity.suite.toml", "--judge-mode", "live", "--judge-save-live", "kept"]
    project.run(*arguments).assert_outcomes(passed=1)
    project.server.reply = lambda prompt: "YES"
    project.run(*arguments).assert_outcomes(failed=1)
    kept = (project.path / "kept" / "mine" / "parity.jsonl").read_text(encoding="utf-8")
    assert len(kept.splitlines()) == TRIALS
    assert '\\"content\\": \\"NO\\"' not in kept
    assert times_asked(project.server.prompts) == {2: TRIALS}


@pytest.mark.parametrize("mode", ["replay", "record"])
def test_other_modes_keep_nothing_there(project: Project, mode: str) -> None:
    project.record()
    result = project.run("parity.suite.toml", "--judge-mode", mode, "--judge-save-live", "kept")
    result.assert_outcomes(passed=1)
    assert not (project.path / "kept").exists()


def test_two_workers_keep_every_trial_once(project: Project) -> None:
    text = project.suite.read_text()
    project.suite.write_text(text.replace("jss_floor = 0.8", "jss_floor = 0.8\nkappa_floor = 0.5"))
    arguments = ["-n", "2", "--judge-mode", "live", "--judge-save-live", "kept"]
    project.run("parity.suite.toml", *arguments).assert_outcomes(passed=2)
    kept = (project.path / "kept" / "mine" / "parity.jsonl").read_text(encoding="utf-8")
    assert len(kept.splitlines()) == TRIALS
    assert times_asked(project.server.prompts) == {1: TRIALS}


def debate_of(trial: str) -> Exchange:
    """An exchange about a transcript that is long enough to be shared."""
    body = '{"messages":"' + "PRO says so. " * 20 + '"}'
    request = RecordedRequest("POST", "http://127.0.0.1/chat/completions", body)
    response = RecordedResponse(200, {}, '{"winner":"PRO"}')
    return Exchange(trial, 1, request, response, "2026-01-31T12:00:00Z")


@pytest.mark.parametrize("torn", ["", '{"trial": "debate/half'], ids=["whole", "torn"])
def test_what_is_kept_brings_the_texts_that_it_refers_to(tmp_path: Path, torn: str) -> None:
    live, kept = tmp_path / "live", tmp_path / "kept"
    path = live / "mine" / "debate.jsonl"
    asked = [debate_of(f"debate/{number}") for number in (1, 2)]
    rewrite(path, asked)
    assert path.read_text(encoding="utf-8").startswith('{"id": ')
    with path.open("a", encoding="utf-8") as file:
        file.write(torn)  # where a worker died

    save_recordings(live, kept)
    assert read_exchanges(kept / "mine" / "debate.jsonl") == asked
