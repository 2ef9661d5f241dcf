"""The first screen: what a session prints below its tests, at each verbosity and width."""

from __future__ import annotations

import os
import re

import pytest

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.plugin.screen import datasheet_lines
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.view import View, view_of
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.text.layout import within
from tests import processes
from tests.report.replaying import checked, replayed
from tests.suites.known import absent_suites, builtin_suites, load_suite

from .project import Once, Project, even, parity_suite, run

TITLE = re.compile(r"=+ judge datasheet =+")
PAIRS = ("t1~t2", "t2~t3", "t3~t1")


# `failing` compares the two for checks that fail, and test_xdist.py for all that is measured.
in_one_process = pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.long)], ids=["plain", "n2"]
)


def datasheet_of(text: str) -> list[str]:
    """The lines below the title of the datasheet, up to what pytest prints next."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if TITLE.fullmatch(line))
    rest = lines[start + 1 :]
    end = next(n for n, line in enumerate(rest) if re.match(r"=+ |\d+ (passed|failed)", line))
    return rest[:end]


def failures_of(text: str) -> list[str]:
    """The lines of pytest's FAILURES."""
    return text.partition(" FAILURES ")[2].partition(" judge datasheet ")[0].splitlines()[1:-1]


def opposite_on_t2(prompt: str) -> str:
    """Perfect, but under the second wording always wrong.

    Of the three pairs of each of the 6 items (t1, t2) and (t2, t3) flip and (t3, t1) agrees: JSS
    6/18, and 12 of 18 verdicts are the label.
    """
    right = even(prompt)
    return {"YES": "NO", "NO": "YES"}[right] if prompt.startswith("Tell") else right


def twenty_failing(project: Project) -> None:
    """Two suites, on each of which a judge that is opposite on t2 fails 10 checks.

    jss, flip_rate, kappa and agreement, and the first three on either of the pairs that flip.
    """
    bars = {"jss_floor": 0.9, "flip_rate_bound": 0.1, "kappa_floor": 0.8}
    conditions = ["", *(f', template_pair = "{pair}"' for pair in PAIRS[:2])]
    checks = "\n".join(
        f"{name} = [" + ", ".join(f"{{bar = {bar}{condition}}}" for condition in conditions) + "]"
        for name, bar in bars.items()
    )
    for name in ("parity", "again"):
        parity_suite(project.path, name=name, checks=f"{checks}\nagreement_floor = 0.9")
    project.server.reply = opposite_on_t2
    assert project.run("--judge-mode", "record", ".").ret == 1


def test_the_shipped_suites_fit_a_screen_of_80_columns() -> None:
    environment = {**os.environ, "COLUMNS": "80"}
    absent = [f"--ignore=suites/{name}" for name in absent_suites()]
    ran = processes.run("pytest", "suites", *absent, cwd=processes.ROOT, environment=environment)
    lines = datasheet_of(ran.stdout)
    assert len(lines) <= 60
    assert [line for line in lines if len(line) > 80] == []
    # A verdict for each judge, and a line for each suite.
    suites = [load_suite(path) for path in builtin_suites().values()]
    checks = sum(len(suite.checks) for suite in suites)  # 38
    replies = sum(len(plan_trials(suite)) for suite in suites)  # 4,658
    assert f"clean  {checks} checks pass, {replies:,} replies (3 without a verdict)" in lines
    assert {line.split()[0] for line in lines if line.startswith("  ")} >= set(builtin_suites())


def test_a_judge_that_fails_twenty_checks_fits_170_lines(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    twenty_failing(project)
    result = project.run(".")
    result.assert_outcomes(failed=20)
    # Of FAILURES a title and a line each where an earlier check shows the same judgments.
    assert len(result.outlines) <= 170
    # Five sentences with their numbers, an example and a remedy; the others are a line each.
    lines = datasheet_of(result.stdout.str())
    assert "mine  20 of 20 checks fail, 36 replies" in lines
    assert len([line for line in lines if line.startswith("    what to do: ")]) == 5
    assert [line for line in lines if len(line) > 80] == []
    assert "  FAIL parity: 6 of 6 verdicts change with the wording (4 checks)" in lines
    # What lint has to say of the suites stands below what fails.
    (first, *_) = (n for n, line in enumerate(lines) if line.startswith("  notice: "))
    assert first > lines.index("  FAIL parity: 6 of 6 verdicts change with the wording (4 checks)")
    assert len(project.run(".", "-v").outlines) <= 250
    assert datasheet_of(project.run(".", "-q").stdout.str()) == [
        "mine: 20 of 20 checks fail: again agreement_floor[0.9], again flip_rate_bound..."
    ]


@pytest.fixture
def failing(flipping: Project, workers: tuple[str, ...], once: Once) -> pytest.RunResult:
    """What a session of two checks prints that the flips of `flipping` fail."""
    parity_suite(flipping.path, checks="jss_floor = 0.9\nflip_rate_bound = 0.1")
    return once.result(f"failing {workers}", lambda: flipping.run("parity.suite.toml", *workers))


MEASURED = "flip_rate 0.11 [0.00, 0.63], at most 0.10 wanted"


def test_a_failing_check_of_a_quiet_session_has_its_numbers(flipping: Project) -> None:
    # The summary is a line.
    parity_suite(flipping.path, checks="flip_rate_bound = 0.1")
    assert flipping.run("parity.suite.toml", "-q").stdout.str().count(MEASURED) == 1


def test_a_failing_check_is_a_sentence_with_its_number_an_example_and_a_remedy(
    failing: pytest.RunResult,
) -> None:
    lines = datasheet_of(failing.stdout.str())
    start = lines.index("  FAIL parity: 2 of 18 verdicts change with the wording")
    # The interval is that of tests/plugin/test_terminal.
    assert lines[start + 1 : start + 4] == [
        f"    {MEASURED}; jss_floor[0.9] too",
        "    e.g. p2: t1 gives YES, t2 gives NO, label YES; asked: 2",
        "    what to do: judgesense explain flip_rate",
    ]
    assert lines[start + 4].startswith("  parity  FAIL   jss 16/18 .89 [.37, 1.00]  kappa")
    assert failing.stdout.str().count(MEASURED) == 1


def test_failures_carry_the_evidence_and_nothing_stands_twice(
    failing: pytest.RunResult, workers: tuple[str, ...]
) -> None:
    text = failing.stdout.str()
    evidence = failures_of(text)
    assert len([line for line in evidence if line.startswith("____")]) == 2
    assert [line for line in evidence if not line.startswith(("____", "[gw"))][:6] == [
        "flips: 2",
        "  parity/p2/t1/ab/r1: YES (label YES)",
        "    asked:   2",
        "    replied: YES",
        "  parity/p2/t2/ab/r1: NO (label YES)",
        "    replied: NO",
    ]
    # The flips that speak against both checks stand at the first of them in each process.
    if not workers:
        assert evidence.count("flips: 2, as for parity.suite.toml::mine::jss_floor[0.9]") == 1
        assert evidence.count("  parity/p2/t1/ab/r1: YES (label YES)") == 1
    assert "change with the wording" not in "\n".join(evidence)
    assert "parity/p2/t1" not in "\n".join(datasheet_of(text))


def test_the_short_summary_carries_the_sentence(failing: pytest.RunResult) -> None:
    name = "FAILED parity.suite.toml::mine::jss_floor[0.9]"
    assert f"{name} - 2 of 18 verdicts change with the wording" in failing.outlines


@in_one_process
def test_calls_that_fail_say_why_in_failures(project: Project, workers: tuple[str, ...]) -> None:
    parity_suite(project.path, checks="agreement_floor = 0.9")
    project.server.status = lambda _: 400
    result = project.run("parity.suite.toml", "--judge-mode", "record", *workers)
    said = [line for line in failures_of(result.stdout.str()) if not line.startswith(("__", "[gw"))]
    assert said[0] == "calls that failed: 18"
    # The body of the answer is the reason: YES of three numbers, NO of three.
    assert said[1].startswith("  9 failed, the first parity/p1/t1/ab/r1: HTTP 400: ")
    assert said[2].startswith("  9 failed, the first parity/p2/t1/ab/r1: HTTP 400: ")


@pytest.mark.parametrize(
    "style",
    [
        "long",
        "line",
        *(pytest.param(style, marks=pytest.mark.long) for style in ("short", "native", "no")),
    ],
)
def test_tb_is_respected(flipping: Project, style: str) -> None:
    parity_suite(flipping.path, checks="jss_floor = 0.9")
    text = flipping.run("parity.suite.toml", f"--tb={style}").stdout.str()
    said = "parity.suite.toml:*: 2 of 18 verdicts change with the wording"
    found = [line for line in failures_of(text) if line.strip()]
    if style == "no":
        assert " FAILURES " not in text
    elif style == "line":
        assert [re.sub(r":\d+:", ":*:", line) for line in found] == [said]
    else:
        # At length the whole explanation, else its first pieces.
        assert ("  jss = 0.889, wanted >= 0.9: fail" in found) is (style == "long")
        assert ("flips: 2" in found) is (style != "long")


def test_no_summary_is_respected(flipping: Project) -> None:
    shown = flipping.run("parity.suite.toml", "--no-summary").stdout.str()
    assert "judge datasheet" not in shown


def test_what_passes_is_green_told_and_called_a_close_call(flipping: Project) -> None:
    # An interval from .37 to 1: it passes a bar of .8 that it straddles.
    coloured = flipping.run("parity.suite.toml", "-rA", "--color=yes").stdout.str()
    assert "\x1b[32mmine  1 check passes, 18 replies\x1b[0m" in coloured
    shown = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert "PASSED parity.suite.toml::mine::jss_floor[0.8]" in shown
    assert "mine  1 check passes, 18 replies" in datasheet_of(shown)
    assert re.search(r"^  parity  close  jss 16/18", shown, re.MULTILINE)
    # What would settle it follows on request: see test_terminal.py.
    assert "clusters with such answers" not in shown


@pytest.fixture(scope="module")
def mixed() -> View:
    """The datasheet of a judge on two suites of the package, which passes some checks."""
    parts = [checked(replayed("mixed", name)) for name in ("coherence", "vacuum")]
    return view_of(sheet_of(parts, seed=0, mode="replay"), BUILT_IN)


@pytest.mark.parametrize("columns", [60, 72, 80, 100, 160])
@pytest.mark.parametrize("verbosity", [-1, 0, 1, 2])
def test_any_width_from_60_columns(mixed: View, columns: int, verbosity: int) -> None:
    with within(columns):
        lines = list(datasheet_lines(mixed, (), verbosity))
    assert lines
    assert [line for line in lines if len(line) > min(columns, 100)] == []


def test_what_fails_is_red_where_pytest_has_colours(flipping: Project) -> None:
    parity_suite(flipping.path, checks="jss_floor = 0.9")
    text = flipping.run("parity.suite.toml", "--color=yes").stdout.str()
    assert "\x1b[31m  FAIL parity: 2 of 18 verdicts change with the wording\x1b[0m" in text
    assert "\x1b[31mmine  1 of 1 check fails, 18 replies\x1b[0m" in text


@in_one_process
def test_what_was_not_measured_stands_once(project: Project, workers: tuple[str, ...]) -> None:
    """Three checks on a suite without a recording: one reason, in FAILURES and in a line."""
    parity_suite(project.path, checks="jss_floor = 0.9\nflip_rate_bound = 0.1\nkappa_floor = 0.8")
    result = project.run("parity.suite.toml", *workers)
    result.assert_outcomes(failed=3)
    text = result.stdout.str()
    said = "18 of 18 trials are not recorded, the first is parity/p1/t1/ab/r1"
    # Each worker explains what its checks share once.
    assert 1 <= failures_of(text).count(said) <= 1 + bool(workers)
    if not workers:
        first = "as for parity.suite.toml::mine::jss_floor[0.9]"
        assert failures_of(text).count(first) == 2
    lines = datasheet_of(text)
    assert "mine  3 checks not measured" in lines
    (told,) = [line for line in lines if "NOT MEASURED" in line]
    assert told.startswith(f"  NOT MEASURED parity: {said}"[:70])


def test_every_check_stands_among_the_tables_with_v(pytester: pytest.Pytester) -> None:
    asked = ("--judge-suite", "temperature", "--judge-name", "embedded:clean")
    result = run(pytester, "-v", *asked)
    tables = result.stdout.str().partition("judge datasheet")[2]
    assert "    temperature_effect_bound[0.4,outcome=agreement]: PASS\n" in tables


def test_the_tables_of_a_suite_stand_with_v(flipping: Project) -> None:
    lines = datasheet_of(flipping.run("parity.suite.toml", "-v").stdout.str())
    row = next(line for line in lines if line.startswith("    jss"))
    assert row.split()[:3] == ["jss", "16/18", "0.889"]
    assert row.endswith(">= 0.8 PASS")
    # The pairs of wordings are conditions: they follow with -vv, see test_terminal.py.
    assert not any("t1~t2" in line for line in lines)
