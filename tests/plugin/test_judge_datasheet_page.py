"""``--judge-datasheet x.html``: the page of a session."""

from __future__ import annotations

import pytest

from pytest_judgesense.report import page
from tests.report.pages import Page
from tests.suites.known import of_known_kinds

from .project import (
    TRIALS,
    RecordedOnce,
    even,
    flips_on_two,
    no_traceback,
    parity_suite,
    run,
)


@pytest.fixture
def project(recorded_once: RecordedOnce) -> RecordedOnce:
    return recorded_once


def read(project: RecordedOnce) -> pytest.RunResult:
    """The page of a judge that flips once."""
    parity_suite(project.path, checks="jss_floor = 0.8\nagreement_floor = 1.0")
    project.server.reply = flips_on_two
    project.record()
    return project.run_once("parity.suite.toml", "--judge-datasheet", "out/x.html")


def test_the_page_holds_prompts_replies_and_flips(project: RecordedOnce) -> None:
    result = read(project)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["datasheet written: *x.html"])
    whole = Page((project.path / "out" / "x.html").read_text(encoding="utf-8"))
    found = whole.evidence
    assert len(found["rows"]["trial"]) == TRIALS
    assert "Is 1 even?" in found["lines"]
    # 2 flips of 18 pairs; see `flips_on_two`.
    assert [kind for _, _, kind in found["flips"]] == ["wording", "wording"]
    rows = {row[0].partition("same")[0]: row for row in whole.tables["Measures of mine on parity"]}
    assert rows["jss"][1:3] == ["16/18", "0.889"]


def test_a_wrong_verdict_stands_with_its_question_its_reply_and_its_label(
    project: RecordedOnce,
) -> None:
    read(project).stdout.fnmatch_lines(
        [
            "replies that are not the label: 1",
            "  parity/p2/t2/ab/r1: NO (label YES)",
            "    asked:   2",
            "    replied: NO",
        ]
    )
    text = (project.path / "out" / "x.html").read_text(encoding="utf-8")
    exhibit = text.partition('<div class="exhibit">')[2].partition("</details>")[0]
    assert '<span class="said">NO (label YES)</span>' in exhibit
    assert ">Tell whether 2 is an even number." in exhibit
    assert ">NO</pre>" in exhibit


def test_the_baseline_stands_beside_it(project: RecordedOnce) -> None:
    project.record("--judge-save-baseline", "b.json")
    project.cassette.unlink()
    project.server.reply = lambda prompt: "NO" if prompt.startswith("Is 2 ") else even(prompt)
    project.record()
    result = project.run(
        "parity.suite.toml", "--judge-baseline", "b.json", "--judge-datasheet", "x.html"
    )
    result.assert_outcomes(passed=1)
    whole = Page((project.path / "x.html").read_text(encoding="utf-8"))
    found = whole.evidence
    changed = [i for i, one in enumerate(found["rows"]["changed"]) if one == 1]
    assert [found["words"][found["rows"]["trial"][i]] for i in changed] == ["parity/p2/t1/ab/r1"]
    assert found["words"][found["rows"]["oldSaid"][changed[0]]] == "YES"
    rows = {row[1]: row for row in whole.tables["mine in the baseline and in this session"][1:]}
    # p2 under t1 flips against t2 and t3: 16 of 18 pairs stay.
    assert rows["jss"][2:4] == ["1.000", "0.889"]


def test_prompts_on_the_page_hold_no_credential(
    project: RecordedOnce, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-4f9a7c1e8b2d6035"
    monkeypatch.setenv("MY_API_KEY", secret)
    project.declare('api_key_env = "MY_API_KEY"\n' + f'system = "Answer. Key: {secret}"')
    project.record("--judge-datasheet", "x.html")
    text = (project.path / "x.html").read_text(encoding="utf-8")
    found = Page(text).evidence
    assert secret not in text
    assert not [line for line in found["lines"] if secret in line]
    assert "Answer. Key: [secret: MY_API_KEY]" in found["lines"]


def test_without_what_draws_it_one_line_says_what_to_install(
    project: RecordedOnce, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "find_spec", lambda name: None)
    project.record()
    result = project.run(
        "parity.suite.toml", "--judge-datasheet", "x.html", "--judge-datasheet", "x.json"
    )
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (error,) = _errors(result)
    assert error == (
        f"ERROR: {project.path / 'x.html'} cannot be written: jinja2 not installed; "
        "pip install 'pytest-judgesense[html]'"
    )
    no_traceback(result)
    assert not (project.path / "x.html").exists()
    assert (project.path / "x.json").stat().st_size


@pytest.mark.long
def test_a_page_is_written_without_what_the_extras_of_analyses_bring(
    pytester: pytest.Pytester,
) -> None:
    """As `pip install 'pytest-judgesense[all]'` leaves an environment."""
    pytester.makeconftest(
        "import sys\n"
        "for name in ('lightgbm', 'shap', 'statsmodels', 'pandas'):\n"
        "    sys.modules[name] = None\n"
    )
    result = run(
        pytester,
        *(f"--judge-suite={name}" for name in of_known_kinds("temperature", "debate")),
        *("--judge-name", "embedded:clean"),
        *("--judge-datasheet", "x.html", "--judge-datasheet", "x.json"),
    )
    assert result.ret == pytest.ExitCode.OK, result.stdout.str()[-2000:] + result.stderr.str()
    assert "lightgbm is not installed" in (pytester.path / "x.json").read_text(encoding="utf-8")
    text = (pytester.path / "x.html").read_text(encoding="utf-8")
    assert "lightgbm is not installed" in text
    assert "<svg" in text


@pytest.fixture(autouse=True)
def _the_renderer_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A conftest of an inner session replaces it in this process."""
    monkeypatch.setattr(page, "page_text", page.page_text)


# A renderer that fails.
BROKEN_PAGE = """
from pytest_judgesense.report import page

def broken(*_):
    raise AttributeError("odd")

page.page_text = broken
"""


@pytest.mark.long
def test_an_output_that_fails_costs_nothing_but_itself(project: RecordedOnce) -> None:
    project.record()
    project.pytester.makeconftest(BROKEN_PAGE)
    forms = ("html", "md", "json", "jsonl")
    options = [word for form in forms for word in ("--judge-datasheet", f"x.{form}")]
    save = ("--judge-save-baseline", "b.json")
    result = project.run("parity.suite.toml", *options, *save)
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.INTERNAL_ERROR
    (error,) = _errors(result)
    assert error.startswith(f"ERROR: {project.path / 'x.html'} cannot be written: AttributeError: ")
    assert error.endswith("(-v shows where)")
    no_traceback(result)
    result.stdout.fnmatch_lines(["*jss *18/18*", "baseline written: *"])
    written = {path.name for path in project.path.iterdir()}
    assert {"x.md", "x.json", "x.jsonl", "b.json"} <= written
    assert not {name for name in written if name.endswith((".html", ".tmp"))}

    whole = project.run("parity.suite.toml", "-vv")
    whole.stdout.fnmatch_lines(["*jss *18/18*"])
    verbose = project.run("parity.suite.toml", "-v", "--judge-datasheet", "x.html")
    verbose.stdout.fnmatch_lines(
        ["ERROR: *x.html cannot be written: *", "ERROR: Traceback *", "*conftest.py*"]
    )


def test_what_the_terminal_cannot_show_costs_no_file(
    project: RecordedOnce, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pytest_judgesense.report import summary

    project.record()
    monkeypatch.setattr(summary, "summary_lines", lambda *given, **named: 1 // 0)
    result = project.run("parity.suite.toml", "--judge-datasheet", "x.json")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.INTERNAL_ERROR
    (error,) = _errors(result)
    assert error.startswith("ERROR: judge datasheet cannot be shown: ZeroDivisionError: ")
    result.stdout.fnmatch_lines(["datasheet written: *x.json"])
    assert (project.path / "x.json").stat().st_size


def test_a_failed_output_leaves_the_exit_status_of_failed_tests(project: RecordedOnce) -> None:
    project.server.reply = lambda prompt: "YES"
    project.pytester.makeconftest(BROKEN_PAGE)
    written = ("--judge-datasheet", "x.html")
    result = project.run("parity.suite.toml", "--judge-mode", "record", *written)
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def _errors(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.startswith("ERROR: ")]
