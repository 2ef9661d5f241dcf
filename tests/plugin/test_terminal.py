"""What ``-vv`` shows: the whole datasheet, and checks that explain themselves at length."""

from __future__ import annotations

import re

import pytest

from .project import BUILTIN, Project, flips_on_two, parity_suite, run

TITLE = "judge datasheet"


def _summary(result: pytest.RunResult) -> list[str]:
    """The lines between the title of the datasheet and what pytest prints next."""
    lines = result.outlines
    (start,) = [n for n, line in enumerate(lines) if re.fullmatch(f"=+ {TITLE} =+", line)]
    rest = lines[start + 1 :]
    end = next(n for n, line in enumerate(rest) if re.match(r"=+ |\d+ passed", line))
    return rest[:end]


@pytest.fixture(scope="module")
def first_summary() -> list[list[str]]:
    """The summary of the first of several equal sessions."""
    return []


def test_the_summary_is_printed_once_and_the_same_under_any_workers(
    pytester: pytest.Pytester, workers: tuple[str, ...], first_summary: list[list[str]]
) -> None:
    result = run(pytester, *BUILTIN, *workers, "-vv")
    result.assert_outcomes(passed=3)
    summary = _summary(result)
    first_summary.append(summary)
    assert summary == first_summary[0]
    assert sum(line.startswith("judge clean") for line in summary) == 1


def test_the_summary_says_who_was_measured_how_and_with_what_result(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    project.server.reply = flips_on_two
    parity_suite(project.path, checks="jss_floor = 0.8\nagreement_floor = 0.95")
    project.record()
    summary = "\n".join(_summary(project.run("parity.suite.toml", "-vv")))
    for part in (
        "judge mine  openai:m-1",
        "temperature 0",
        "served as",
        "REPLAYED, recorded 20",
        "seed of intervals 0",
        "profile:",
        "0 made, 18 replayed, 0 failed, 180 prompt tokens, 18 completion tokens",
    ):
        assert part in summary, part
    assert re.search(r"prompts [0-9a-f]{12}", summary)
    # 16 of 18 pairs and 17 of 18 verdicts; see `flips_on_two`.
    assert re.search(r"jss +16/18 +0\.889 +\[.*\] +\[.*\] +>= 0\.8 PASS", summary)
    assert re.search(r"agreement +17/18 +0\.944 +\[.*\] +\[.*\] +>= 0\.95 FAIL", summary)
    # Not measured is N/A with its reason, never 0.
    assert re.search(r"repeat_flip_rate: N/A, needs two or more replicates", summary)


@pytest.mark.parametrize("mode", ["record", "live"])
def test_fresh_judgments_are_called_fresh(project: Project, mode: str) -> None:
    result = project.run("parity.suite.toml", "--judge-mode", mode, "-vv")
    summary = "\n".join(_summary(result))
    assert "FRESH" in summary
    assert "REPLAYED" not in summary
    assert "18 made, 0 replayed" in summary


def test_no_line_is_longer_than_100_columns(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    suites = ["factuality", "coherence", "relevance", "preference", "vacuum", "ladder", "criterion"]
    chosen = [part for name in suites for part in ("--judge-suite", f"{name}")]
    judges = ["--judge-name", "embedded:clean", "--judge-name", "embedded:mixed"]
    result = run(pytester, *chosen, *judges, "-vv")
    assert [line for line in _summary(result) if len(line) > 100] == []
    explained = result.stdout.str().partition(TITLE)[0]
    assert "of judge mixed on" in explained
    # A command stands on one line whatever its length: it is there to be pasted.
    too_long = [
        line
        for line in explained.splitlines()
        if len(line) > 100
        # Lines of pytest itself hold paths of this machine.
        and not line.startswith(("  look further: ", "plugins: ", "platform ", "rootdir: "))
        and "::" not in line
    ]
    assert too_long == [], too_long


def test_long_names_and_replies_do_not_widen_the_summary(project: Project) -> None:
    name = "a-judge-with-" + "a-very-long-name-" * 6 + "indeed"
    project.declare(name=name)
    project.server.reply = lambda prompt: "so many words " * 40
    result = project.run("parity.suite.toml", "--judge-mode", "record")
    result.assert_outcomes(failed=1)
    # A word cannot be broken: only the line that it fills alone may be wider.
    assert [line for line in _summary(result) if len(line) > 100 and name not in line] == []


def test_it_reads_the_same_with_and_without_colour(pytester: pytest.Pytester) -> None:
    plain = run(pytester, *BUILTIN, "--color=no")
    coloured = run(pytester, *BUILTIN, "--color=yes")
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured.stdout.str())
    for line in _summary(plain):
        assert "\x1b" not in line
        assert line in stripped.splitlines()


def test_a_failing_check_explains_itself(project: Project, workers: tuple[str, ...]) -> None:
    project.server.reply = flips_on_two
    parity_suite(project.path, checks="jss_floor = 0.9")
    project.record()
    result = project.run("parity.suite.toml", *workers, "-vv")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "2 of 18 verdicts change with the wording",
            "jss_floor?0.9? of judge mine on parity: fail",
            # estimate and bar; counts and interval (see test_terminal's datasheet for 16/18)
            "  jss = 0.889, wanted >= 0.9: fail",
            "    16 of 18 template pairs; 95% interval ?0.368, 1.000? over 6 clusters",
            "  flips: 2, on 1 item",
            "    parity/p2/t1/ab/r1: YES (label YES)",
            "      asked:   Is 2 even?*",
            "      replied: YES",
            "    parity/p2/t2/ab/r1: NO (label YES)",
            "      asked:   Tell whether 2 is an even number.*",
            "      replied: NO",
            "  look further: pytest 'parity.suite.toml::mine::jss_floor?0.9?' --judge-*",
        ]
    )


def test_the_command_that_a_failing_check_names_works(project: Project) -> None:
    project.server.reply = flips_on_two
    parity_suite(project.path, checks="jss_floor = 0.9")
    project.record()
    shown = project.run("parity.suite.toml").stdout.str()
    found = re.search(r"look further: pytest '(.*)' (--\S+) (\S+)", shown)
    assert found
    project.run(*found.groups()).assert_outcomes(failed=1)
    assert (project.path / found[3]).exists()


def test_many_flips_are_a_few_and_the_rest_counted(project: Project) -> None:
    # t2 answers the opposite of t1 and t3: (t1, t2) and (t2, t3) flip on all six items, 12 of 18.
    project.server.reply = lambda prompt: (
        {"YES": "NO", "NO": "YES"}[flips_on_two(prompt.replace("Tell whether", "Is"))]
        if prompt.startswith("Tell")
        else flips_on_two(prompt)
    )
    project.record()
    result = project.run("parity.suite.toml", "-vv")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["  jss = 0.333, wanted >= 0.8: fail", "  flips: 12, on 6 items", "    ... and 9 more"]
    )


def test_replies_cannot_write_to_the_terminal(project: Project) -> None:
    project.server.reply = lambda prompt: "\x1b]0;owned\x07" + flips_on_two(prompt)
    parity_suite(project.path, checks="jss_floor = 0.9")
    shown = project.run("parity.suite.toml", "--judge-mode", "record").stdout.str()
    assert "\x1b]0;" not in shown
    assert "\x07" not in shown


def test_the_header_says_how_judges_are_measured(project: Project) -> None:
    result = project.run("parity.suite.toml", "--judge-mode", "record", "--judge-name", "mine")
    result.stdout.fnmatch_lines(["judgesense *: record, judges: mine, seed 0"])


def test_judges_stand_one_below_the_other(pytester: pytest.Pytester) -> None:
    arguments = ["--judge-suite", "coherence", "--judge-name", "embedded:mixed"]
    summary = _summary(run(pytester, *arguments, "--judge-name", "embedded:clean", "-vv"))
    heads = [line.split()[1] for line in summary if line.startswith("judge ")]
    assert heads == ["clean", "mixed"]


def test_a_close_call_is_a_line_of_the_report_and_no_warning(project: Project) -> None:
    project.record()
    result = project.run("parity.suite.toml", "-vv")
    result.assert_outcomes(passed=1, warnings=0)
    result.stdout.fnmatch_lines(["*straddles the bar 0.8*"])
