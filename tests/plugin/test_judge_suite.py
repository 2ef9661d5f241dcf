"""``--judge-suite`` and its ini twin: choosing suites, and built-in suites without a path."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

import pytest_judgesense
from pytest_judgesense.errors import UsageError
from pytest_judgesense.plugin.state import state_of
from tests.shipped import CASSETTES
from tests.suites.known import builtin_suites, load_suite

from .project import PYTHON_JUDGE, configured, ids, no_traceback, parity_suite, run

COHERENCE = ["--judge-suite", "coherence", "--judge-name", "embedded:clean"]
COHERENCE_IDS = [
    "judgesense/coherence.suite.toml::clean::jss_floor[0.9]",
    "judgesense/coherence.suite.toml::clean::flip_rate_bound[0.1]",
]


def builtin_arguments(pytester: pytest.Pytester, *arguments: str) -> list[tuple[str, ...]]:
    """The built-in suites that a session takes from its arguments, and the rest of their ids."""
    builtin = state_of(configured(pytester, *arguments)).builtin
    return [(argument.nodeid, *argument.names) for argument in builtin]


def test_a_builtin_suite_runs_in_an_empty_folder(pytester: pytest.Pytester) -> None:
    assert ids(run(pytester, *COHERENCE, "--collect-only", "-q")) == COHERENCE_IDS
    result = run(pytester, *COHERENCE, "-v")
    result.assert_outcomes(passed=2)
    for name in COHERENCE_IDS:
        assert f"{name} PASSED" in result.stdout.str()


def test_the_id_of_a_builtin_item_can_be_pasted_back(pytester: pytest.Pytester) -> None:
    # By a worker, which is given the arguments anew; by one process the id of a preset is below.
    asked = (COHERENCE_IDS[1], "--judge-name", "embedded:clean", "-v", "-n", "1")
    result = run(pytester, *asked)
    result.assert_outcomes(passed=1)
    assert f"PASSED {COHERENCE_IDS[1]}" in result.stdout.str()


def test_the_suite_alone_may_be_pasted_too(pytester: pytest.Pytester) -> None:
    # It names embedded:clean itself.
    path = "judgesense/coherence.suite.toml"
    assert builtin_arguments(pytester, path) == builtin_arguments(pytester, *COHERENCE) == [(path,)]
    result = run(pytester, f"{path}::clean", "--collect-only", "-q")
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
    assert builtin_arguments(pytester) == [
        ("judgesense/vacuum.suite.toml",),
        ("judgesense/coherence.suite.toml",),
    ]


def test_a_suite_and_its_preset_run_side_by_side_and_its_ids_paste_back(
    pytester: pytest.Pytester,
) -> None:
    suites = ["--judge-suite", "coherence", "--judge-suite", "coherence@published"]
    judge = ["--judge-name", "embedded:clean"]
    result = run(pytester, *suites, *judge, "-rA")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        ["  coherence  *jss 200/200*", "  coherence@published  *jss 125/125*"]
    )
    passed = [line.split(" ")[1] for line in result.outlines if line.startswith("PASSED ")]
    (whole, of_preset) = passed[:2], passed[2:]
    assert whole == COHERENCE_IDS
    assert all(name.endswith("@published]") for name in of_preset)
    pasted = run(pytester, of_preset[0], *judge)
    pasted.assert_outcomes(passed=1)
    # 25 items, 5 templates in a ring: 125 pairs.
    pasted.stdout.fnmatch_lines(["*jss *125/125*"])


def test_with_a_path_it_selects_among_suites_and_marked_tests_and_keeps_others(
    pytester: pytest.Pytester,
) -> None:
    parity_suite(pytester.path / "suites", name="parity")
    parity_suite(pytester.path / "suites", name="oddity")
    pytester.makeconftest(PYTHON_JUDGE)
    pytester.makepyfile(
        test_one="""
        import pytest

        @pytest.mark.jss_floor(0.8, suite="suites/parity.suite.toml")
        def test_parity(): pass

        @pytest.mark.dark_current_ceiling(0.1)
        def test_vacuum(): pass

        def test_ordinary(): pass
        """
    )
    asked = ("--judge-suite", "vacuum", "--judge-suite", "oddity")
    result = run(pytester, "suites", "test_one.py", *asked, "--collect-only", "-q")
    assert ids(result) == [
        "suites/oddity.suite.toml::mine::jss_floor[0.8]",
        "test_one.py::test_vacuum[mine]",
        "test_one.py::test_ordinary",
    ]


@pytest.mark.parametrize("where", ["empty", "path"])
def test_an_unknown_suite_is_a_usage_error_with_the_valid_names(
    pytester: pytest.Pytester, where: str
) -> None:
    arguments = ["--judge-suite", "coherense"]
    valid = "coherence"
    if where == "path":
        parity_suite(pytester.path)
        pytester.makeconftest(PYTHON_JUDGE)
        arguments += ["parity.suite.toml"]
        valid = "parity"
    result = run(pytester, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*'coherense'*", f"*expected: one of: *{valid}*"])
    no_traceback(result)


@pytest.mark.parametrize(
    ("ini", "arguments", "found", "valid"),
    [
        ("judge_suite = coherense", (), "'coherense'", "coherence"),
        ("", ("judgesense/nothing.suite.toml",), "'nothing'", "coherence, criterion, debate"),
    ],
)
def test_an_unknown_builtin_suite_is_refused_before_the_session(
    pytester: pytest.Pytester, ini: str, arguments: tuple[str, ...], found: str, valid: str
) -> None:
    pytester.makeini(f"[pytest]\n{ini}\n")
    with pytest.raises(pytest.UsageError) as refused:
        configured(pytester, *arguments)
    assert found in str(refused.value)
    assert f"expected: one of: {valid}" in str(refused.value)


def test_an_unknown_preset_is_a_usage_error_with_the_valid_names() -> None:
    with pytest.raises(UsageError, match="'nothing'") as refused:
        load_suite(builtin_suites()["coherence"], "nothing")
    assert "all-pairs, paper, paper-quick, published" in str(refused.value)


def test_a_file_of_that_very_path_is_the_users(pytester: pytest.Pytester) -> None:
    path = "judgesense/coherence.suite.toml"
    parity_suite(pytester.path / "judgesense", name="coherence")
    config = configured(pytester, path, "--judge-name", "embedded:clean")
    assert state_of(config).builtin == []
    assert config.args == [path]


def test_the_error_for_a_name_says_how_ones_own_suite_is_named(pytester: pytest.Pytester) -> None:
    """Without a path, names are those of built-in suites, whatever `testpaths` collects."""
    parity_suite(pytester.path)
    pytester.makeini("[pytest]\ntestpaths = .\n")
    with pytest.raises(pytest.UsageError) as refused:
        configured(pytester, "--judge-suite", "parity")
    remedy = "  remedy:   name a built-in suite of the list, or give the path of your own: pytest "
    assert f"{remedy}PATH --judge-suite parity" in str(refused.value)


@pytest.mark.parametrize(
    "name",
    [
        "relevance",
        pytest.param("preference", marks=pytest.mark.long),
        pytest.param("coherence@published", marks=pytest.mark.long),
    ],
)
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
