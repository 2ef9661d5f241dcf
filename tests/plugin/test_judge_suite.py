"""``--judge-suite`` and its ini twin: choosing suites, and built-in suites without a path."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

import pytest_judgesense
from tests.shipped import CASSETTES
from tests.suites.known import builtin_suites

from .project import PYTHON_JUDGE, Project, ids, no_traceback, parity_suite, run

COHERENCE = ["--judge-suite", "coherence", "--judge-name", "embedded:clean"]
COHERENCE_IDS = [
    "judgesense/coherence.suite.toml::clean::jss_floor[0.9]",
    "judgesense/coherence.suite.toml::clean::flip_rate_bound[0.1]",
]


def test_a_builtin_suite_runs_in_an_empty_folder(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    result = run(pytester, *COHERENCE, *workers, "-v")
    result.assert_outcomes(passed=2)
    shown = result.stdout.str()
    for name in COHERENCE_IDS:
        assert f"{name} PASSED" in shown or f"PASSED {name}" in shown, shown


def test_the_id_of_a_builtin_item_can_be_pasted_back(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    assert ids(run(pytester, *COHERENCE, "--collect-only", "-q")) == COHERENCE_IDS
    result = run(pytester, COHERENCE_IDS[1], "--judge-name", "embedded:clean", *workers, "-v")
    result.assert_outcomes(passed=1)
    assert "flip_rate_bound[0.1]" in result.stdout.str()


def test_the_suite_alone_may_be_pasted_too(pytester: pytest.Pytester) -> None:
    # It names embedded:clean itself.
    result = run(pytester, "judgesense/coherence.suite.toml", "--collect-only", "-q")
    assert ids(result) == COHERENCE_IDS
    result = run(pytester, "judgesense/coherence.suite.toml::clean", "--collect-only", "-q")
    assert ids(result) == COHERENCE_IDS


@pytest.mark.long
def test_ids_begin_alike_when_the_installation_lies_inside_rootdir(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An installation as the wheel makes it, in a virtual environment inside the project.
    site = pytester.path / "venv" / "lib" / "site-packages"
    package = site / "pytest_judgesense"
    source = Path(pytest_judgesense.__file__).parent
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    with zipfile.ZipFile(package / "data.zip", "w") as archive:
        for path in builtin_suites()["coherence"].parent.iterdir():
            archive.write(path, f"suites/coherence/{path.name}")
        for path in (CASSETTES / "clean").glob("coherence.jsonl*"):
            archive.write(path, f"cassettes/clean/{path.name}")
    monkeypatch.setenv("PYTHONPATH", str(site))
    pytester.makeconftest(
        "import pytest_judgesense\n"
        "def pytest_report_header():\n    return 'from ' + pytest_judgesense.__file__\n"
    )
    listed = pytester.runpytest_subprocess(*COHERENCE, "--collect-only", "-q")
    assert ids(listed) == COHERENCE_IDS
    pasted = pytester.runpytest_subprocess(COHERENCE_IDS[0], "--judge-name", "embedded:clean", "-v")
    pasted.stdout.fnmatch_lines([f"from {package}*"])
    pasted.assert_outcomes(passed=1)
    assert COHERENCE_IDS[0] in pasted.stdout.str()


def test_the_ini_twin_names_builtin_suites_too(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\njudge_suite = vacuum coherence\njudge_name = embedded:clean\n")
    found = {name.split("::")[0] for name in ids(run(pytester, "--collect-only", "-q"))}
    assert found == {"judgesense/vacuum.suite.toml", "judgesense/coherence.suite.toml"}


def test_a_preset_stands_in_the_id_and_pastes_back(pytester: pytest.Pytester) -> None:
    arguments = ["--judge-suite", "coherence@published", "--judge-name", "embedded:clean"]
    result = run(pytester, *arguments, "--collect-only", "-q")
    listed = ids(result)
    assert len(listed) == 2
    assert all(name.endswith("@published]") for name in listed)
    pasted = run(pytester, listed[0], "--judge-name", "embedded:clean")
    pasted.assert_outcomes(passed=1)
    # 25 items, 5 templates in a ring: 125 pairs.
    pasted.stdout.fnmatch_lines(["*jss *125/125*"])


def test_a_suite_and_its_preset_may_run_side_by_side(pytester: pytest.Pytester) -> None:
    arguments = ["--judge-suite", "coherence", "--judge-suite", "coherence@published"]
    result = run(pytester, *arguments, "--judge-name", "embedded:clean")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        ["  coherence  *jss 200/200*", "  coherence@published  *jss 125/125*"]
    )


def test_with_a_path_it_selects_among_what_is_collected(pytester: pytest.Pytester) -> None:
    parity_suite(pytester.path / "suites", name="parity")
    parity_suite(pytester.path / "suites", name="oddity")
    pytester.makeconftest(PYTHON_JUDGE)
    result = run(pytester, "suites", "--judge-suite", "oddity", "--collect-only", "-q")
    assert ids(result) == ["suites/oddity.suite.toml::mine::jss_floor[0.8]"]


def test_it_selects_among_marked_tests_and_keeps_others(pytester: pytest.Pytester) -> None:
    parity_suite(pytester.path)
    pytester.makeconftest(PYTHON_JUDGE)
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.jss_floor(0.8, suite="parity.suite.toml")
        def test_parity(): pass

        @pytest.mark.dark_current_ceiling(0.1)
        def test_vacuum(): pass

        def test_ordinary(): pass
        """
    )
    result = run(pytester, ".", "--judge-suite", "vacuum", "--collect-only", "-q", "-k", "test_")
    names = [name.split("::", 1)[1] for name in ids(result)]
    assert names == ["test_vacuum[mine]", "test_ordinary"]


@pytest.mark.parametrize(
    ("where", "workers"),
    [("empty", ()), ("path", ()), ("ini", ()), ("path", ("-n", "2"))],
    ids=["empty", "path", "ini", "path-n2"],
)
def test_an_unknown_suite_is_a_usage_error_with_the_valid_names(
    pytester: pytest.Pytester, where: str, workers: tuple[str, ...]
) -> None:
    arguments = ["--judge-suite", "coherense"]
    valid = "coherence"
    if where == "path":
        parity_suite(pytester.path)
        pytester.makeconftest(PYTHON_JUDGE)
        arguments += ["parity.suite.toml"]
        valid = "parity"
    elif where == "ini":
        pytester.makeini("[pytest]\njudge_suite = coherense\n")
        arguments = []
    result = run(pytester, *arguments, *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*'coherense'*", f"*expected: one of: *{valid}*"])
    no_traceback(result)


def test_an_unknown_preset_is_a_usage_error_with_the_valid_names(
    pytester: pytest.Pytester,
) -> None:
    result = run(pytester, "--judge-suite", "coherence@nothing")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*'nothing'*", "*all-pairs, paper, paper-quick, published*"])
    no_traceback(result)


def test_an_unknown_builtin_path_is_a_usage_error_with_the_valid_names(
    pytester: pytest.Pytester,
) -> None:
    result = run(pytester, "judgesense/nothing.suite.toml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*'nothing'*", "*coherence, criterion, debate, factuality*"])
    no_traceback(result)


def test_a_file_of_that_very_path_is_the_users(pytester: pytest.Pytester) -> None:
    parity_suite(pytester.path / "judgesense", name="coherence")
    pytester.makeconftest(PYTHON_JUDGE)
    result = run(pytester, "judgesense/coherence.suite.toml", "--collect-only", "-q")
    assert ids(result) == ["judgesense/coherence.suite.toml::mine::jss_floor[0.8]"]


def test_the_error_for_a_name_says_how_ones_own_suite_is_named(project: Project) -> None:
    """Without a path, names are those of built-in suites, whatever `testpaths` collects."""
    project.pytester.makeini("[pytest]\ntestpaths = .\n")
    remedy = "  remedy:   name a built-in suite of the list, or give the path of your own: pytest "
    result = project.run("--judge-suite", "parity")
    assert f"{remedy}PATH --judge-suite parity" in result.errlines
    project.record()
    project.run(".", "--judge-suite", "parity").assert_outcomes(passed=1)
    project.pytester.makepyfile(
        "import pytest\n\n@pytest.mark.jss_floor(0.8, suite='parity')\ndef test_it(): pass\n"
    )
    told = "  remedy:   name a suite of the list, or the path of your own *.suite.toml"
    assert told in project.run(".").errlines


@pytest.mark.parametrize("name", ["preference", "relevance", "coherence@published"])
def test_the_embedded_judge_needs_no_recording(pytester: pytest.Pytester, name: str) -> None:
    """Not recorded for this profile, or in part: in an empty folder, the same by two workers."""
    sheets = []
    for workers in ("0", "2"):
        given = ("--judge-suite", name, "--judge-name", "embedded:positional", "-n", workers)
        result = run(pytester, *given, "--judge-datasheet", "sheet.json")
        assert result.ret in (0, 1)
        assert "not recorded in" not in result.stdout.str()
        assert "trials are not recorded, the first" not in result.stdout.str()
        sheets.append((pytester.path / "sheet.json").read_bytes())
    assert sheets[0] == sheets[1]
    assert not (pytester.path / "cassettes").exists()
