"""``--judge-verify`` and its ini twin: recorded trials are asked again, nothing is rewritten."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .project import TRIALS, Project, even, parity_suite, times_asked

LIVE = ("--judge-mode", "live", "-p", "no:cacheprovider")
NO_LONGER = "this judge is no longer the one recorded"
TWO_CHECKS = "jss_floor = 0.8\nagreement_floor = 0.5"


def odd(prompt: str) -> str:
    """The opposite of a perfect judge."""
    return "NO" if even(prompt) == "YES" else "YES"


def with_replicates(project: Project, replicates: int = 3) -> None:
    """The suite with so many replicates of each of its 18 questions."""
    design = f"[design]\nreplicates = {replicates}\n"
    parity_suite(project.path, checks=TWO_CHECKS, extra=design)


def _flat(result: pytest.RunResult) -> str:
    return " ".join(result.stdout.str().split())


def _files(project: Project) -> dict[Path, bytes]:
    """Everything but what the session itself is run with, and keeps of its output."""
    kept = (path for path in project.path.rglob("*") if path.suffix in (".jsonl", ".json", ".toml"))
    return {path: path.read_bytes() for path in kept}


@pytest.mark.parametrize("how", ["option", "ini"])
def test_a_judge_that_did_not_change_has_changed_no_verdict(
    project: Project, workers: tuple[str, ...], how: str
) -> None:
    parity_suite(project.path, checks=TWO_CHECKS)
    project.record()
    arguments = [*LIVE, "--judge-verify", "5", *workers]
    if how == "ini":
        project.pytester.makeini("[pytest]\njudge_verify = 5\njudge_mode = live\n")
        arguments = [*LIVE[2:], *workers]
    result = project.run("parity.suite.toml", *arguments)
    result.assert_outcomes(passed=2)
    shown = _flat(result)
    assert "judge mine on parity: 0 of 5 verdicts changed" in shown
    # Clopper-Pearson of 0 of 5: the upper end is 1 - 0.025^(1/5) = 0.522.
    assert "95% interval [0.000, 0.522] (Clopper-Pearson); no p-value" in shown
    assert "5 of 18 recorded trials asked again (seed 0), 0 unparsed, 0 failed" in shown
    assert NO_LONGER not in shown
    # Two checks, up to two workers: each trial of the sample once.
    assert times_asked(project.server.prompts) == {1: 5}


def test_changed_verdicts_are_shown_side_by_side(
    project: Project, workers: tuple[str, ...]
) -> None:
    parity_suite(project.path, checks=TWO_CHECKS)
    project.record()
    project.server.reply = lambda prompt: f"{odd(prompt)}, I say now"
    result = project.run("parity.suite.toml", *LIVE, "--judge-verify", "18", *workers)
    # What decides is what was recorded.
    result.assert_outcomes(passed=2)
    shown = result.stdout.str()
    assert "judge mine on parity: 18 of 18 verdicts changed" in shown
    assert "no p-value" in shown
    lines = [line.strip() for line in shown.splitlines()]
    at = lines.index("parity/p2/t1/ab/r1")
    assert re.fullmatch(r"recorded YES: YES +\| fresh NO: NO, I say now", lines[at + 1])
    assert times_asked(project.server.prompts) == {1: TRIALS}
    assert max(map(len, _section(result))) <= 100


def _section(result: pytest.RunResult) -> list[str]:
    lines = result.outlines
    start = next(
        i for i, line in enumerate(lines) if re.fullmatch("=+ judge verification =+", line)
    )
    stop = next(i for i, line in enumerate(lines) if i > start and line.startswith("==="))
    return lines[start + 1 : stop]


@pytest.mark.long
def test_nothing_is_rewritten(project: Project, workers: tuple[str, ...]) -> None:
    project.record()
    before = _files(project)
    project.server.reply = odd
    saving = ("--judge-save-live", "cassettes")
    project.run("parity.suite.toml", *LIVE, "--judge-verify", "4", *saving, *workers)
    assert _files(project) == before


def test_the_datasheet_is_that_of_a_replay(project: Project, workers: tuple[str, ...]) -> None:
    project.record()
    project.server.reply = odd
    project.run("parity.suite.toml", "--judge-datasheet", "replayed.json")
    asked = ("--judge-verify", "4", "--judge-datasheet", "verified.json")
    result = project.run("parity.suite.toml", *LIVE, *asked, *workers)
    replayed, verified = (
        (project.path / f"{n}.json").read_bytes() for n in ("replayed", "verified")
    )
    assert verified == replayed
    assert "REPLAYED, recorded" in _flat(result)


@pytest.mark.long
def test_with_replicates_a_changed_judge_is_no_longer_the_one_recorded(
    project: Project, workers: tuple[str, ...]
) -> None:
    with_replicates(project)
    project.record()
    project.server.reply = odd
    result = project.run("parity.suite.toml", *LIVE, "--judge-verify", "10", *workers)
    result.assert_outcomes(passed=2)
    shown = _flat(result)
    assert "judge mine on parity: 10 of 10 verdicts changed" in shown
    assert f"p < 0.0001: {NO_LONGER}" in shown
    assert "10 of 54 recorded trials asked again" in shown
    assert len(project.server.asked) == 10


def test_with_replicates_an_unchanged_judge_is_the_one_recorded(project: Project) -> None:
    with_replicates(project)
    project.record()
    shown = _flat(project.run("parity.suite.toml", *LIVE, "--judge-verify", "10"))
    assert "0 of 10 verdicts changed" in shown
    assert "p = 1.0000: no more than its recorded replicates differ among themselves" in shown
    assert NO_LONGER not in shown


def test_a_judge_that_always_changes_its_mind_is_still_the_one_recorded(project: Project) -> None:
    with_replicates(project)
    answers = iter(["YES", "NO"] * 100)
    project.server.reply = lambda _prompt: next(answers)
    # One after the other: of three replicates in a row, two are alike and one is not.
    project.record("--judge-concurrency", "1")
    project.server.reply = odd
    shown = _flat(project.run("parity.suite.toml", *LIVE, "--judge-verify", "4"))
    found = re.search(r"exact permutation test within \d questions: p = (\S+): no more", shown)
    assert found, shown
    assert float(found[1]) > 0.05


def test_the_sample_follows_from_the_seed(project: Project) -> None:
    project.record()
    asked = {}
    for name, seed in (("one", "1"), ("again", "1"), ("other", "2")):
        project.server.forget()
        project.run("parity.suite.toml", *LIVE, "--judge-verify", "6", "--judge-seed", seed)
        asked[name] = sorted(project.server.prompts)
        assert len(asked[name]) == 6
    assert asked["one"] == asked["again"] != asked["other"]


def test_of_fewer_trials_all_are_asked(project: Project) -> None:
    project.record()
    shown = _flat(project.run("parity.suite.toml", *LIVE, "--judge-verify", "1000"))
    assert "0 of 18 verdicts changed" in shown
    assert times_asked(project.server.prompts) == {1: TRIALS}


def test_each_judge_on_each_suite_has_a_sample_of_its_own(project: Project) -> None:
    parity_suite(project.path, name="other")
    project.record()
    project.run("other.suite.toml", "--judge-mode", "record").assert_outcomes(passed=1)
    project.server.forget()
    shown = _flat(project.run(".", *LIVE, "--judge-verify", "3"))
    assert "judge mine on other: 0 of 3" in shown
    assert "judge mine on parity: 0 of 3" in shown
    assert len(project.server.asked) == 6


def test_unparsed_replies_are_counted_and_have_changed(project: Project) -> None:
    project.record()
    project.server.reply = lambda _prompt: "I would rather not."
    shown = _flat(project.run("parity.suite.toml", *LIVE, "--judge-verify", "5"))
    assert "5 of 5 verdicts changed" in shown
    assert "5 unparsed, 0 failed" in shown
    assert "fresh unparsed (" in shown


def test_failed_calls_are_counted_and_compared_with_nothing(
    project: Project, workers: tuple[str, ...]
) -> None:
    project.declare("max_retries = 0")
    parity_suite(project.path, checks=TWO_CHECKS)
    project.record()
    project.server.close()
    result = project.run("parity.suite.toml", *LIVE, "--judge-verify", "5", *workers)
    result.assert_outcomes(passed=2)
    shown = _flat(result)
    assert "0 of 0 verdicts changed nothing was answered, so nothing can be said" in shown
    assert "0 unparsed, 5 failed" in shown


def test_what_a_limit_leaves_out_is_counted(project: Project) -> None:
    project.record()
    limit = ("--judge-verify", "5", "--judge-max-calls", "2")
    shown = _flat(project.run("parity.suite.toml", *LIVE, *limit))
    assert "0 of 2 verdicts changed" in shown
    assert "0 failed, 3 left out by a limit" in shown
    assert len(project.server.asked) == 2


def test_another_model_behind_the_alias_is_told(project: Project) -> None:
    project.record()
    project.server.model = "served-2"
    shown = _flat(project.run("parity.suite.toml", *LIVE, "--judge-verify", "2"))
    assert "served as served-1 when recorded, now as served-2" in shown


def test_a_missing_recording_is_the_error_that_it_always_is(project: Project) -> None:
    result = project.run("parity.suite.toml", *LIVE, "--judge-verify", "2")
    result.assert_outcomes(failed=1)
    assert "18 of 18 trials are not recorded" in result.stdout.str()
    assert project.server.asked == []


def test_a_recording_that_is_too_old_fails_and_is_verified_all_the_same(project: Project) -> None:
    project.record()
    project.age(40)
    limit = ("--judge-verify", "2", "--judge-max-age", "30")
    result = project.run("parity.suite.toml", *LIVE, *limit)
    result.assert_outcomes(failed=1)
    assert "40.0 days old" in result.stdout.str()
    assert "0 of 2 verdicts changed" in result.stdout.str()


def test_words_of_a_judge_reach_the_terminal_harmless(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.record()
    project.server.reply = lambda prompt: f"{odd(prompt)}\x1b]0;owned\x07"
    # Wide enough for the whole reply beside the one that is recorded.
    monkeypatch.setenv("COLUMNS", "120")
    shown = project.run("parity.suite.toml", *LIVE, "--judge-verify", "18").stdout.str()
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\\x1b]0;owned" in shown
