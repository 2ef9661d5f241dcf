"""``--judge-verify`` and its ini twin: recorded trials are asked again, nothing is rewritten.

What is drawn, compared and said is tested in tests/checks/test_verifying.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_judgesense.checks.verifying import sampled
from pytest_judgesense.trial import Judgment

from .project import TRIALS, WORDINGS, Project, even, parity_suite, recorded, times_asked

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


def test_a_judge_that_did_not_change_has_changed_no_verdict(project: Project) -> None:
    parity_suite(project.path, checks=TWO_CHECKS)
    parity_suite(project.path, name="other")
    sheet = recorded(project, "other.suite.toml", "parity.suite.toml")
    chosen = ("--judge-verify", "5", "--judge-seed", "3", "-n", "2")
    result = project.run(".", *LIVE, *chosen)
    result.assert_outcomes(passed=3)
    shown = _flat(result)
    assert "judge mine on other: 0 of 5 verdicts changed" in shown
    assert "judge mine on parity: 0 of 5 verdicts changed" in shown
    # Clopper-Pearson of 0 of 5: the upper end is 1 - 0.025^(1/5) = 0.522.
    assert shown.count("95% interval [0.000, 0.522] (Clopper-Pearson); no p-value") == 2
    assert shown.count("5 of 18 recorded trials asked again (seed 3), 0 unparsed, 0 failed") == 2
    assert NO_LONGER not in shown
    # Three checks, up to two workers: each trial of the two samples once.
    wanted = [prompt for cell in sheet.cells for prompt in _prompts_of(cell.judgments, 5, seed=3)]
    assert sorted(project.server.prompts) == sorted(wanted)


def _prompts_of(judgments: Sequence[Judgment], count: int, seed: int) -> list[str]:
    """The prompts of the sample of a suite of `parity_suite`."""
    return [
        WORDINGS[int(trial.template[1:]) - 1].replace("{{number}}", trial.item[1:])
        + "\nReply YES or NO and nothing else."
        for trial in sampled(judgments, count, seed)
    ]


def test_the_ini_file_asks_for_it_too(project: Project) -> None:
    recorded(project)
    project.pytester.makeini("[pytest]\njudge_verify = 1000\njudge_mode = live\n")
    result = project.run("parity.suite.toml", *LIVE[2:])
    # Of fewer trials all are asked.
    assert "judge mine on parity: 0 of 18 verdicts changed" in _flat(result)
    assert times_asked(project.server.prompts) == {1: TRIALS}


def test_changed_verdicts_are_shown_side_by_side_and_change_no_datasheet(project: Project) -> None:
    parity_suite(project.path, checks=TWO_CHECKS)
    recorded(project)
    project.run("parity.suite.toml", "--judge-datasheet", "replayed.json")
    # The words of a judge reach the terminal harmless.
    project.server.reply = lambda prompt: f"{odd(prompt)}, I say\x1b\x07"
    before = project.cassette.read_bytes()
    asked = ("--judge-verify", "18", "--judge-datasheet", "verified.json")
    result = project.run("parity.suite.toml", *LIVE, *asked)
    # What decides is what was recorded.
    result.assert_outcomes(passed=2)
    shown = result.stdout.str()
    assert "judge mine on parity: 18 of 18 verdicts changed" in shown
    assert "no p-value" in shown
    assert "REPLAYED, recorded" in _flat(result)
    lines = [line.strip() for line in shown.splitlines()]
    at = lines.index("parity/p2/t1/ab/r1")
    fresh = r"fresh NO: NO, I say\\x1b\\x07"
    assert re.fullmatch(rf"recorded YES: YES +\| {fresh}", lines[at + 1])
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert times_asked(project.server.prompts) == {1: TRIALS}
    assert max(map(len, _section(result))) <= 100
    replayed, verified = (
        (project.path / f"{name}.json").read_bytes() for name in ("replayed", "verified")
    )
    assert verified == replayed
    assert project.cassette.read_bytes() == before


def _section(result: pytest.RunResult) -> list[str]:
    lines = result.outlines
    start = next(
        i for i, line in enumerate(lines) if re.fullmatch("=+ judge verification =+", line)
    )
    stop = next(i for i, line in enumerate(lines) if i > start and line.startswith("==="))
    return lines[start + 1 : stop]


@pytest.mark.long
def test_nothing_is_rewritten(project: Project, workers: tuple[str, ...]) -> None:
    recorded(project)
    before = _files(project)
    project.server.reply = odd
    saving = ("--judge-save-live", "cassettes")
    project.run("parity.suite.toml", *LIVE, "--judge-verify", "4", *saving, *workers)
    assert _files(project) == before


@pytest.mark.long
def test_with_replicates_a_changed_judge_is_no_longer_the_one_recorded(
    project: Project, workers: tuple[str, ...]
) -> None:
    with_replicates(project)
    recorded(project)
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
    recorded(project)
    shown = _flat(project.run("parity.suite.toml", *LIVE, "--judge-verify", "10"))
    assert "0 of 10 verdicts changed" in shown
    assert "p = 1.0000: no more than its recorded replicates differ among themselves" in shown
    assert NO_LONGER not in shown


def test_failed_calls_are_counted_and_compared_with_nothing(project: Project) -> None:
    project.declare("max_retries = 0")
    parity_suite(project.path, checks=TWO_CHECKS)
    recorded(project)
    project.server.close()
    result = project.run("parity.suite.toml", *LIVE, "--judge-verify", "5")
    result.assert_outcomes(passed=2)
    shown = _flat(result)
    assert "0 of 0 verdicts changed nothing was answered, so nothing can be said" in shown
    assert "0 unparsed, 5 failed" in shown


def test_what_is_unparsed_left_out_by_a_limit_and_served_by_another_model_is_told(
    project: Project,
) -> None:
    recorded(project)
    project.server.model = "served-2"
    project.server.reply = lambda _prompt: "I would rather not."
    limit = ("--judge-verify", "5", "--judge-max-calls", "2")
    shown = _flat(project.run("parity.suite.toml", *LIVE, *limit))
    assert "2 of 2 verdicts changed" in shown
    assert "2 unparsed, 0 failed, 3 left out by a limit" in shown
    assert "fresh unparsed (" in shown
    assert "served as served-1 when recorded, now as served-2" in shown
    assert len(project.server.asked) == 2


def test_a_missing_recording_is_the_error_that_it_always_is(project: Project) -> None:
    result = project.run("parity.suite.toml", *LIVE, "--judge-verify", "2")
    result.assert_outcomes(failed=1)
    assert "18 of 18 trials are not recorded" in result.stdout.str()
    assert project.server.asked == []


def test_a_recording_that_is_too_old_fails_and_is_verified_all_the_same(project: Project) -> None:
    recorded(project)
    project.age(40)
    limit = ("--judge-verify", "2", "--judge-max-age", "30")
    result = project.run("parity.suite.toml", *LIVE, *limit)
    result.assert_outcomes(failed=1)
    assert "40.0 days old" in result.stdout.str()
    assert "0 of 2 verdicts changed" in result.stdout.str()
