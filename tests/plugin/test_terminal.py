"""What ``-vv`` shows: the whole datasheet, and checks that explain themselves at length."""

from __future__ import annotations

import re

import pytest

from pytest_judgesense.plugin.state import state_of

from .project import BUILTIN, Project, configured, flips_on_two, parity_suite, run

TITLE = "judge datasheet"


def _summary(result: pytest.RunResult) -> list[str]:
    """The lines between the title of the datasheet and what pytest prints next."""
    lines = result.outlines
    (start,) = [n for n, line in enumerate(lines) if re.fullmatch(f"=+ {TITLE} =+", line)]
    rest = lines[start + 1 :]
    end = next(n for n, line in enumerate(rest) if re.match(r"=+ |\d+ passed", line))
    return rest[:end]


def test_the_summary_is_printed_once_and_the_same_under_any_workers_and_colours(
    pytester: pytest.Pytester,
) -> None:
    result, by_workers = (run(pytester, *BUILTIN, "-n", n, "-vv") for n in ("0", "2"))
    result.assert_outcomes(passed=3)
    by_workers.assert_outcomes(passed=3)
    summary = _summary(result)
    assert sum(line.startswith("judge clean") for line in summary) == 1
    assert _summary(by_workers) == summary
    coloured = run(pytester, *BUILTIN, "--color=yes", "-vv").stdout.str()
    assert "\x1b" not in result.stdout.str()
    assert "\x1b" in coloured
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured).splitlines()
    assert [line for line in summary if line not in stripped] == []


def test_the_summary_says_who_was_measured_how_and_with_what_result(flipping: Project) -> None:
    parity_suite(flipping.path, checks="jss_floor = 0.8\nagreement_floor = 0.95")
    result = flipping.run("parity.suite.toml", "-vv")
    # A close call is a line of the report and no warning.
    result.assert_outcomes(passed=1, failed=1, warnings=0)
    summary = "\n".join(_summary(result))
    for part in (
        "judge mine  openai:m-1",
        "temperature 0",
        "served as",
        "REPLAYED, recorded 20",
        "seed of intervals 0",
        "profile:",
        "0 made, 18 replayed, 0 failed, 180 prompt tokens, 18 completion tokens",
        "straddles the bar 0.8",
        "t1~t2",  # the pairs of wordings are conditions
    ):
        assert part in summary, part
    assert re.search(r"prompts [0-9a-f]{12}", summary)
    # 16 of 18 pairs and 17 of 18 verdicts; see `flips_on_two`.
    assert re.search(r"jss +16/18 +0\.889 +\[.*\] +\[.*\] +>= 0\.8 PASS", summary)
    assert re.search(r"agreement +17/18 +0\.944 +\[.*\] +\[.*\] +>= 0\.95 FAIL", summary)
    # Not measured is N/A with its reason, never 0.
    assert re.search(r"repeat_flip_rate: N/A, needs two or more replicates", summary)


def test_fresh_judgments_are_called_fresh(project: Project) -> None:
    result = project.run("parity.suite.toml", "--judge-mode", "live", "-vv")
    summary = "\n".join(_summary(result))
    assert "FRESH" in summary
    assert "REPLAYED" not in summary
    assert "18 made, 0 replayed" in summary


def test_judges_stand_one_below_the_other_and_no_line_is_longer_than_100_columns(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    suites = ["factuality", "coherence", "relevance", "preference", "vacuum", "ladder", "criterion"]
    chosen = [part for name in suites for part in ("--judge-suite", f"{name}")]
    judges = ["--judge-name", "embedded:mixed", "--judge-name", "embedded:clean"]
    result = run(pytester, *chosen, *judges, "-vv")
    summary = _summary(result)
    heads = [line.split()[1] for line in summary if line.startswith("judge ")]
    assert heads == ["clean", "mixed"]
    assert [line for line in summary if len(line) > 100] == []
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


# In the gate the summary above is that of two workers, and test_screen.py has their FAILURES.
@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.long)], ids=["plain", "n2"]
)
def test_a_failing_check_explains_itself_and_names_a_command_that_works(
    flipping: Project, workers: tuple[str, ...]
) -> None:
    parity_suite(flipping.path, checks="jss_floor = 0.9")
    result = flipping.run("parity.suite.toml", *workers, "-vv")
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
    found = re.search(r"look further: pytest '(.*)' (--\S+) (\S+)", result.stdout.str())
    assert found
    flipping.run(*found.groups()).assert_outcomes(failed=1)
    assert (flipping.path / found[3]).exists()


def test_many_flips_are_a_few_and_the_rest_counted(project: Project) -> None:
    # t2 answers the opposite of t1 and t3: (t1, t2) and (t2, t3) flip on all six items, 12 of 18.
    project.server.reply = lambda prompt: (
        {"YES": "NO", "NO": "YES"}[flips_on_two(prompt.replace("Tell whether", "Is"))]
        if prompt.startswith("Tell")
        else flips_on_two(prompt)
    )
    result = project.run("parity.suite.toml", "--judge-mode", "record", "-vv")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["  jss = 0.333, wanted >= 0.8: fail", "  flips: 12, on 6 items", "    ... and 9 more"]
    )


def test_the_header_says_how_judges_are_measured(pytester: pytest.Pytester) -> None:
    config = configured(pytester, "--judge-mode", "record", "--judge-name", "mine")
    header = state_of(config).header()
    assert header is not None
    assert re.fullmatch(r"judgesense \S+: record, judges: mine, seed 0", header)
