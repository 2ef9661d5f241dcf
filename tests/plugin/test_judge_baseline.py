"""``--judge-baseline`` and its ini twin: a judge held against what it said before."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .project import SPREAD_AT_NIGHT, WORDINGS, Project, even, no_traceback, parity_suite, run

GATED = 'no_regression = ["jss", "agreement"]'


GATES_NOTHING = "--judge-baseline b.json: no check was compared with it (no_regression is)"


def always_yes(prompt: str) -> str:
    """Wrong on the numbers 1, 3 and 5, whatever the wording; one answer throughout."""
    return "YES"


def drifted(prompt: str) -> str:
    """Wrong on all six numbers under the second wording: two pairs of each item flip."""
    right = even(prompt)
    wrong = "NO" if right == "YES" else "YES"
    return wrong if prompt.startswith("Tell") else right


@pytest.fixture
def project(recorded_once: Project) -> Project:
    return recorded_once


@pytest.fixture
def gated(project: Project) -> Project:
    """A project with a baseline ``b.json`` of a perfect judge, and no recording of another."""
    parity_suite(project.path, checks=GATED)
    project.record("--judge-save-baseline", "b.json")
    project.cassette.unlink()
    return project


def hold(project: Project, *args: str | Path) -> pytest.RunResult:
    return project.run("parity.suite.toml", "--judge-baseline", "b.json", *args)


@SPREAD_AT_NIGHT
def test_the_same_judge_of_few_items_is_no_proof_under_any_workers(
    gated: Project, workers: tuple[str, ...]
) -> None:
    gated.record()
    # Six items without a change exclude a loss above 0.42 alone: no proof.
    strict = hold(gated, *workers, "--judge-policy", "confident")
    strict.assert_outcomes(failed=2)
    result = hold(gated, *workers, "--judge-datasheet", "x.json")
    result.assert_outcomes(passed=2)
    sheet = json.loads((gated.path / "x.json").read_text(encoding="utf-8"))
    lines = sheet["judges"][0]["checks"]
    assert [line["check"] for line in lines] == [
        "no_regression[agreement,0.1]",
        "no_regression[jss,0.1]",
    ]
    assert lines[0]["bar"] == {"margin": 0.1}
    assert all("no unit changed" in line["explanation"] for line in lines)
    assert all("a loss above 0.42 is excluded" in line["explanation"] for line in lines)


@SPREAD_AT_NIGHT
def test_a_judge_that_drifted_fails_and_shows_its_flips_first(
    gated: Project, workers: tuple[str, ...]
) -> None:
    gated.server.reply = drifted
    gated.record()
    result = hold(gated, *workers, "-vv")
    result.assert_outcomes(failed=2)
    # Of each of 6 items two of three pairs flip: 12 of 18, all for the worse. The swaps of 6
    # clusters explain that once in 2^6 = 0.0156; the family has 2 checks: 0.0312 after Holm.
    result.stdout.fnmatch_lines(
        [
            "no_regression?jss,0.1? of judge mine on parity: regressed",
            "  flipped for the worse: 12, on 6 items",
            "    parity/p1/t1/ab/r1: NO (label NO) -> NO (label NO)",
            "    parity/p1/t2/ab/r1: NO (label NO) -> YES (label NO)",
            "*NO  * | YES",
            "*jss 1.000 -> 0.333, difference -0.667,*",
            "*what changed beside the verdicts:",
            "*nothing that is known",
        ]
    )
    no_traceback(result)
    short = hold(gated, *workers)
    short.stdout.fnmatch_lines(
        [
            "  FAIL parity: worse than the baseline: jss 1.00 to 0.33 (-0.67 [[]*",
            "    jss 1.000 -> 0.333, difference -0.667,*",
        ]
    )
    assert GATES_NOTHING not in short.outlines


def test_the_family_is_what_is_declared_and_not_what_is_selected(gated: Project) -> None:
    # The 8 checks are of 4 quantities: jss (three times, and as flip_rate), agreement, kappa, and
    # replies without a verdict (in two ways, neither changed). All that changed falls with the same
    # six items, so by few patterns of swaps: less than 4 * 2^-6 = 0.0625, whatever is selected.
    many = '"jss", "agreement", "flip_rate", "kappa", "unparsed_rate", "failed_rate"'
    more = '{measure = "jss", margin = 0.06}, {measure = "jss", margin = 0.07}'
    parity_suite(gated.path, checks=f"no_regression = [{many}, {more}]")
    gated.server.reply = drifted
    gated.record()
    decided = re.compile(
        r"margin 0\.06: regressed \([^)]*p ([\d.]+) if there were no loss, ([^)]*)\)"
    )
    whole, part = (
        decided.search(re.sub(r"\s+", " ", hold(gated, *selected, "-vv").stdout.str()))
        for selected in ((), ("-k", "0.06", "--lf"))
    )
    assert whole is not None
    assert part is not None
    assert whole.groups() == part.groups()
    assert part[2] == "corrected for 4 comparisons"
    assert 2**-6 <= float(part[1]) < 4 * 2**-6


def test_a_changed_prompt_is_compared_on_the_same_trials_and_its_diff_is_shown(
    gated: Project,
) -> None:
    wordings = (WORDINGS[0], "Tell whether the number {{number}} is even.", WORDINGS[2])
    parity_suite(gated.path, checks=GATED, wordings=wordings)
    gated.server.reply = drifted
    gated.record()
    result = hold(gated, "-vv")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*flipped for the worse: 12, on 6 items",
            "*prompt:",
            "*-Tell whether {{number}} is an even number.",
            "*+Tell whether the number {{number}} is even.",
        ]
    )
    assert "unpaired" not in result.stdout.str()
    text = " ".join(result.stdout.str().split())
    assert re.search(
        r"worse than the baseline: jss 1\.00 to 0\.33 \([^)]*\); the prompt changed \(2 lines\)",
        text,
    )


def test_of_several_judges_each_is_held_against_its_own_name(gated: Project) -> None:
    text = (gated.path / "pyproject.toml").read_text()
    (gated.path / "pyproject.toml").write_text(text + text.replace('"mine"', '"other"'))
    gated.record()
    result = hold(gated)
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["*b.json has no judge 'other'", "*found: *mine"])
    no_traceback(result)


@SPREAD_AT_NIGHT
def test_a_baseline_that_gates_nothing_is_told(gated: Project, workers: tuple[str, ...]) -> None:
    parity_suite(gated.path, checks=f"jss_floor = 0.5\n{GATED}")
    gated.record()
    assert GATES_NOTHING in hold(gated, "-q", "-k", "jss_floor", *workers).outlines
    gated.pytester.makeini("[pytest]\njudge_baseline = b.json\n")
    by_ini = gated.run("parity.suite.toml", "-k", "jss_floor", *workers)
    assert "no check was compared" not in by_ini.stdout.str()


def test_a_baseline_that_only_an_ini_file_names_is_missed_by_the_checks_alone(
    gated: Project,
) -> None:
    gated.pytester.makeini("[pytest]\njudge_baseline = c.json\n")
    gated.pytester.makepyfile("def test_other(): pass")
    gated.record()
    result = gated.run()
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*there is no file *c.json"])


def test_one_label_throughout_is_no_improvement(gated: Project) -> None:
    gated.server.reply = always_yes
    gated.record()
    result = hold(gated)
    # Agreement has fallen on 3 of 6 numbers, which swaps explain once in 8: not known, and passes.
    result.assert_outcomes(failed=1, passed=1)
    assert "degenerate" in result.stdout.str()


def test_markers_hold_their_checks_too(gated: Project) -> None:
    gated.pytester.makepyfile(
        """
        import pytest

        @pytest.mark.no_regression("jss", suite="parity.suite.toml")
        @pytest.mark.no_regression("agreement", margin=0.5, suite="parity.suite.toml")
        def test_marked(): pass

        def test_called(judge_check):
            judge_check("no_regression", "jss", suite="parity.suite.toml")
        """
    )
    gated.record()
    file = next(gated.path.glob("test_*.py"))
    run(gated.pytester, file, "--judge-save-baseline", "c.json").assert_outcomes(passed=2)
    gated.cassette.unlink()
    gated.server.reply = drifted
    gated.record()
    result = run(gated.pytester, file, "--judge-baseline", "b.json")
    result.assert_outcomes(failed=2)
    assert "agreement" in result.stdout.str()
