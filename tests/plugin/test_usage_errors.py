"""A wrong name anywhere: exit code 4 with the valid names and no traceback, under workers too."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.resolving import (
    declared_judges,
    function_of,
    judge_from_name,
    resolve_judges,
)

from .project import PYTHON_JUDGE, no_traceback, parity_suite, run

JUDGE = '[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m"\n'
PROFILES = "clean, mixed, noisy, positional"
SUITES = "coherence, criterion, debate, depth, factuality"


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["cleen"], ("'cleen'", "embedded:clean", "openai:MODEL")),
        (["embedded:cleen"], ("'cleen'", PROFILES, "did you mean 'clean'?")),
        (
            [],
            ("there is no judge", "--judge-name embedded:clean", "[tool.judgesense.judges.mine]"),
        ),
    ],
)
def test_a_wrong_name_of_a_judge_is_told_with_the_valid_ones(
    names: list[str], told: tuple[str, ...]
) -> None:
    with pytest.raises(UsageError) as error:
        resolve_judges(names, {}, {})
    for words in told:
        assert words in str(error.value)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (JUDGE.replace("openai", "opnai"), ("'mine'", "openai")),
        (JUDGE.replace("model", "modell"), ("'mine'", "modell", "max_tokens")),
        (JUDGE.replace("openai", "embedded"), (PROFILES,)),
        (f'{JUDGE}prompts.pairwise = {{ file = "nowhere.txt" }}\n', ("'mine'", "nowhere.txt")),
        (f"{JUDGE}prompts.paraphrases = []\n", ("'mine'", "two or more wordings")),
        ("[tool.judgesense\n", ("pyproject.toml",)),
    ],
)
def test_a_wrong_table_of_a_judge_is_told_with_what_is_valid(
    tmp_path: Path, table: str, told: tuple[str, ...]
) -> None:
    (tmp_path / "pyproject.toml").write_text(table)
    with pytest.raises(UsageError) as error:
        declared_judges(tmp_path)
    for words in told:
        assert words in str(error.value)


# Of every wrong mark the words that it is told with.
MARKS = {
    'jss_floor(0.9, suite="coherence@missing")': (
        "'missing'",
        "all-pairs, paper, paper-quick, published",
    ),
    'jss_floor(0.9, suit="coherence")': ("'suit'", "did you mean 'suite'?"),
    "jss_floor(0.9)": ("does not say on which suite", SUITES),
    'jss_floor(suite="coherence")': ("no bar", "a number from 0 to 1"),
    'side_bias_limit(0.7, suite="preference")': ("bar = 0.7", "a number from 0 to 0.5"),
    "criterion_tradeoff(0.2, 0.8)": ("no distance_5",),
    'jss_floor(0.9, 0.8, suite="coherence")': ("too many arguments",),
}
# And of every wrong line of checks in a suite's file.
LINES = {
    "jss_flor = 0.8": ("'jss_flor'", "did you mean 'jss_floor'?"),
    "jss_floor = 1.8": ("bar = 1.8",),
    "jss_floor = { bar = 0.8, distanse = 1 }": ("'distanse'", "did you mean 'distance'?"),
    'jss_floor = { bar = 0.8, suite = "coherence" }': ("no suite: its own is meant",),
}


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "n2"])
def test_all_that_is_wrong_is_told_at_once_and_nothing_runs(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    marked = [f"@pytest.mark.{mark}\ndef test_{n}(): pass\n" for n, mark in enumerate(MARKS)]
    pytester.makepyfile(
        test_marked="import pytest\n\n" + "\n".join(marked),
        test_ordinary="def test_ordinary():\n    open('ran', 'w').close()\n",
    )
    for number, line in enumerate(LINES):
        parity_suite(pytester.path, name=f"parity-{number}", checks=line)
    result = run(pytester, ".", "--judge-name", "embedded:clean", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR, result.stdout.str() + result.stderr.str()
    told = result.stderr.str()
    for number, words in enumerate(MARKS.values()):
        # Several workers meet each, which is told once.
        assert told.count(f"test_marked.py::test_{number}: ") == 1
        message = told.partition(f"test_marked.py::test_{number}: ")[2].partition("test_marked")[0]
        for text in words:
            assert text in message
    for number, words in enumerate(LINES.values()):
        assert f"parity-{number}.suite.toml:" in told
        for text in words:
            assert text in told
    no_traceback(result)
    assert not (pytester.path / "ran").exists()


def test_a_wrong_judge_ends_the_session(pytester: pytest.Pytester) -> None:
    parity_suite(pytester.path)
    result = run(pytester, "parity.suite.toml", "--judge-name", "cleen")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "'cleen'" in result.stderr.str()
    no_traceback(result)


def test_an_unknown_marker_is_pytests_own_business(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import pytest\n\n@pytest.mark.jss_flor(0.9)\ndef test_it(): pass\n")
    result = run(pytester, "--judge-name", "embedded:clean", "--strict-markers")
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
    pytester.makepyfile(ending=f"import sys, pytest\n{code}\n")
    pytester.syspathinsert()
    told = "'callable:ending:judge' cannot be imported: its module fails"
    with pytest.raises(UsageError, match=told):
        function_of(judge_from_name("callable:ending:judge"))


def test_a_failing_judge_function_is_counted_not_raised(pytester: pytest.Pytester) -> None:
    parity_suite(pytester.path)
    pytester.makeconftest(PYTHON_JUDGE.replace("    number =", "    1 / 0\n    number ="))
    result = run(pytester, "parity.suite.toml", "--judge-mode", "record")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*18 failed*"])
    no_traceback(result)
