"""A wrong name anywhere: exit code 4 with the valid names and no traceback, under workers too."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .project import PYTHON_JUDGE, no_traceback, parity_suite, run


def _marked(mark: str) -> Callable[[pytest.Pytester], list[str]]:
    def write(pytester: pytest.Pytester) -> list[str]:
        pytester.makepyfile(test_one=f"import pytest\n\n@pytest.mark.{mark}\ndef test_it(): pass\n")
        return ["test_one.py", "--judge-name", "embedded:clean"]

    return write


def _suite(checks: str, *arguments: str) -> Callable[[pytest.Pytester], list[str]]:
    def write(pytester: pytest.Pytester) -> list[str]:
        parity_suite(pytester.path, checks=checks)
        return ["parity.suite.toml", *(arguments or ("--judge-name", "embedded:clean"))]

    return write


def _pyproject(table: str) -> Callable[[pytest.Pytester], list[str]]:
    def write(pytester: pytest.Pytester) -> list[str]:
        parity_suite(pytester.path)
        (pytester.path / "pyproject.toml").write_text(table)
        return ["parity.suite.toml"]

    return write


CASES: dict[str, tuple[Callable[[pytest.Pytester], list[str]], tuple[str, ...]]] = {
    "judge": (
        _suite("jss_floor = 0.8", "--judge-name", "cleen"),
        ("'cleen'", "embedded:clean", "openai:MODEL"),
    ),
    "profile": (
        _suite("jss_floor = 0.8", "--judge-name", "embedded:cleen"),
        ("'cleen'", "clean, mixed, noisy, positional", "did you mean 'clean'?"),
    ),
    "no judge": (
        _suite("jss_floor = 0.8", "-v"),
        ("there is no judge", "--judge-name embedded:clean", "[tool.judgesense.judges.mine]"),
    ),
    "marker's suite": (
        _marked('jss_floor(0.9, suite="nothing")'),
        ("test_one.py::test_it", "'nothing'", "coherence, criterion, debate, factuality"),
    ),
    "marker's preset": (
        _marked('jss_floor(0.9, suite="coherence@nothing")'),
        ("test_one.py::test_it", "'nothing'", "all-pairs, paper, paper-quick, published"),
    ),
    "marker's argument": (
        _marked('jss_floor(0.9, suit="coherence")'),
        ("test_one.py::test_it", "'suit'", "did you mean 'suite'?"),
    ),
    "marker without a suite": (
        _marked("jss_floor(0.9)"),
        ("test_one.py::test_it", "coherence, criterion, debate, factuality"),
    ),
    "marker without a bar": (
        _marked('jss_floor(suite="coherence")'),
        ("test_one.py::test_it", "no bar", "a number from 0 to 1"),
    ),
    "marker's bar": (
        _marked('side_bias_limit(0.7, suite="preference")'),
        ("test_one.py::test_it", "bar = 0.7", "a number from 0 to 0.5"),
    ),
    "marker's bars": (
        _marked("criterion_tradeoff(0.2, 0.8)"),
        ("test_one.py::test_it", "no distance_5"),
    ),
    "too many": (
        _marked('jss_floor(0.9, 0.8, suite="coherence")'),
        ("test_one.py::test_it", "too many arguments"),
    ),
    "suite's check": (
        _suite("jss_flor = 0.8"),
        ("parity.suite.toml:", "'jss_flor'", "did you mean 'jss_floor'?"),
    ),
    "suite's bar": (_suite("jss_floor = 1.8"), ("parity.suite.toml:", "bar = 1.8")),
    "suite's argument": (
        _suite("jss_floor = { bar = 0.8, distanse = 1 }"),
        ("parity.suite.toml:", "'distanse'", "did you mean 'distance'?"),
    ),
    "suite's check names a suite": (
        _suite('jss_floor = { bar = 0.8, suite = "coherence" }'),
        ("parity.suite.toml:", "no suite: its own is meant"),
    ),
    "judge's provider": (
        _pyproject('[tool.judgesense.judges.mine]\nprovider = "opnai"\nmodel = "m"\n'),
        ("'mine'", "openai"),
    ),
    "judge's key": (
        _pyproject('[tool.judgesense.judges.mine]\nprovider = "openai"\nmodell = "m"\n'),
        ("'mine'", "modell", "max_tokens"),
    ),
    "judge's profile": (
        _pyproject('[tool.judgesense.judges.mine]\nprovider = "embedded"\nmodel = "m"\n'),
        ("clean, mixed, noisy, positional",),
    ),
    "judge's prompt file": (
        _pyproject(
            '[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m"\n'
            'prompts.pairwise = { file = "nowhere.txt" }\n'
        ),
        ("'mine'", "nowhere.txt"),
    ),
    "no paraphrase": (
        _pyproject(
            '[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m"\n'
            "prompts.paraphrases = []\n"
        ),
        ("'mine'", "two or more wordings"),
    ),
    "broken pyproject": (_pyproject("[tool.judgesense\n"), ("pyproject.toml",)),
}


def _assert_told(result: pytest.RunResult, told: tuple[str, ...]) -> None:
    assert result.ret == pytest.ExitCode.USAGE_ERROR, result.stdout.str() + result.stderr.str()
    for text in told:
        assert text in result.stderr.str()
    no_traceback(result)


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_name_is_told_with_the_valid_ones(pytester: pytest.Pytester, case: str) -> None:
    write, told = CASES[case]
    _assert_told(run(pytester, *write(pytester)), told)


@pytest.mark.parametrize("case", ["profile", "marker's argument"])
def test_a_wrong_name_is_told_by_two_workers_too(pytester: pytest.Pytester, case: str) -> None:
    write, told = CASES[case]
    result = run(pytester, *write(pytester), "-n", "2")
    _assert_told(result, told)
    # Both workers met it; it is told once.
    assert result.stderr.str().count(told[1]) == 1


def test_nothing_runs_where_anything_is_wrong(pytester: pytest.Pytester) -> None:
    arguments = _marked('jss_floor(0.9, suite="nothing")')(pytester)
    pytester.makepyfile(test_two="def test_ordinary():\n    open('ran', 'w').close()\n")
    result = run(pytester, *arguments, "test_two.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert not (pytester.path / "ran").exists()


def test_all_wrong_markers_are_told_at_once(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_one=(
            "import pytest\n\n@pytest.mark.jss_floor(0.9, suite='one')\ndef test_a(): pass\n\n"
            "@pytest.mark.jss_floor(0.9, suite='two')\ndef test_b(): pass\n"
        )
    )
    result = run(pytester, "test_one.py", "--judge-name", "embedded:clean")
    _assert_told(result, ("test_one.py::test_a", "'one'", "test_one.py::test_b", "'two'"))


def test_an_unknown_marker_is_pytests_own_business(pytester: pytest.Pytester) -> None:
    arguments = _marked("jss_flor(0.9)")(pytester)
    result = run(pytester, *arguments, "--strict-markers")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*'jss_flor' not found in `markers`*"])


def test_a_judge_without_its_key_says_which_variable(pytester: pytest.Pytester) -> None:
    parity_suite(pytester.path)
    arguments = ["parity.suite.toml", "--judge-name", "openai:m", "--judge-mode", "record"]
    result = run(pytester, *arguments)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*OPENAI_API_KEY*", "*export OPENAI_API_KEY=*"])
    no_traceback(result)


def test_a_judge_function_that_cannot_be_imported_is_told_by_name(
    pytester: pytest.Pytester,
) -> None:
    parity_suite(pytester.path)
    arguments = ["--judge-name", "callable:nowhere:judge", "--judge-mode", "record"]
    result = run(pytester, "parity.suite.toml", *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: the function of judge 'callable:nowhere:judge' cannot be imported",
            "  found:    nowhere:judge: No module named 'nowhere'",
            "  remedy:   fix the name, or put its folder on pythonpath",
        ]
    )
    no_traceback(result)


@pytest.mark.parametrize("code", ["sys.exit(3)", "pytest.skip('x', allow_module_level=True)"])
def test_a_module_of_a_judge_that_ends_on_import_is_told(
    pytester: pytest.Pytester, code: str
) -> None:
    parity_suite(pytester.path)
    pytester.makepyfile(ending=f"import sys, pytest\n{code}\n")
    arguments = ["--judge-name", "callable:ending:judge", "--judge-mode", "record"]
    result = run(pytester, "parity.suite.toml", *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*'callable:ending:judge' cannot be imported: its module fails"])
    no_traceback(result)


def test_a_failing_judge_function_is_counted_not_raised(pytester: pytest.Pytester) -> None:
    parity_suite(pytester.path)
    pytester.makeconftest(PYTHON_JUDGE.replace("    number =", "    1 / 0\n    number ="))
    result = run(pytester, "parity.suite.toml", "--judge-mode", "record")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*18 failed*"])
    no_traceback(result)
