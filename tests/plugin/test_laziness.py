"""No work for those who do not use it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.plugin.hookspecs import CHECK_MARKERS
from tests.suites.known import absent_measures

from .project import PYTHON_JUDGE, parity_suite

HEAVY = ("numpy", "scipy", "pydantic", "vcr", "httpx", "filelock", "urllib3")

SPY = f"""
import sys

def pytest_unconfigure(config):
    print("heavy:", *[name for name in {HEAVY!r} if name in sys.modules])
    print("ours:", len([name for name in sys.modules if name.startswith("pytest_judgesense")]))
"""
# What pytest lists on request; the list of its options stands for them in the gate.
LISTS = ("--markers", "--fixtures")
# Other plugins of this environment import what they like.
ALONE = ("-p", "no:asyncio", "-p", "no:hypothesispytest", "-p", "no:xdist", "-p", "no:anyio", "-s")


@pytest.fixture
def ordinary(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project that has nothing to do with judges."""
    pytester.makeconftest(SPY)
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("n", [1, 2])
        def test_it(n, tmp_path): pass
        """
    )
    return pytester


def _line(result: pytest.RunResult, head: str) -> str:
    (line,) = [line for line in result.outlines if line.startswith(head)]
    return line.removeprefix(head).strip()


def test_a_run_without_suites_and_markers_imports_nothing_heavy_and_the_least_of_the_plugin(
    ordinary: pytest.Pytester,
) -> None:
    result = ordinary.runpytest_subprocess(*ALONE)
    result.assert_outcomes(passed=2)
    assert _line(result, "heavy:") == ""
    # The package, its plugin, the hooks of others and the names of the checks, the options, and
    # whether it is used: no module more.
    assert _line(result, "ours:") == "5"


def test_the_names_of_markers_are_those_of_the_checks() -> None:
    # A name of no check costs a run that uses it a look at the registry, and nothing else: those of
    # an instrument that is deleted may be left over.
    assert set(BUILT_IN.checks) <= set(CHECK_MARKERS)
    if not absent_measures():
        assert set(CHECK_MARKERS) == set(BUILT_IN.checks)


def test_a_run_with_a_marker_imports_what_measures(ordinary: pytest.Pytester) -> None:
    # The counterpart of the test above: the spy sees heavy modules where they are.
    ordinary.makepyfile(
        test_marked="import pytest\n\n@pytest.mark.dark_current_ceiling(1)\ndef test_it(): pass\n"
    )
    result = ordinary.runpytest_subprocess(*ALONE, "--judge-name", "embedded:clean")
    result.assert_outcomes(passed=3)
    assert {"numpy", "pydantic"} <= set(_line(result, "heavy:").split())


@pytest.mark.parametrize(
    "arguments", [("--help",), *(pytest.param((name,), marks=pytest.mark.long) for name in LISTS)]
)
def test_help_imports_nothing_heavy(ordinary: pytest.Pytester, arguments: tuple[str, ...]) -> None:
    result = ordinary.runpytest_subprocess(*ALONE, *arguments)
    assert result.ret == 0
    assert _line(result, "heavy:") == ""


def test_a_run_without_suites_and_markers_prints_nothing_of_ours(
    ordinary: pytest.Pytester,
) -> None:
    (ordinary.path / "conftest.py").unlink()
    result = ordinary.runpytest_subprocess("-p", "no:asyncio", "-v")
    result.assert_outcomes(passed=2)
    # pytest itself lists all installed plugins in its header.
    shown = [line for line in result.outlines if not line.startswith("plugins: ")]
    assert not [line for line in shown if "judge" in line.lower()]
    assert result.stderr.str() == ""
    assert not (ordinary.path / "cassettes").exists()


def test_it_can_be_switched_off(ordinary: pytest.Pytester) -> None:
    parity_suite(ordinary.path)
    result = ordinary.runpytest_subprocess(*ALONE, "-p", "no:judgesense")
    result.assert_outcomes(passed=2)
    assert _line(result, "heavy:") == ""
    refused = ordinary.runpytest_subprocess(*ALONE, "-p", "no:judgesense", "--judge-mode", "live")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*unrecognized arguments: --judge-mode*"])


@pytest.mark.parametrize(
    ("modules", "spared"),
    [
        ("pytest_judgesense, pytest_judgesense.plugin", HEAVY),
        # What a recording of a function starts afresh, up to three times, to prove itself.
        ("pytest_judgesense.asking.proving", ("numpy", "scipy", "pytest")),
    ],
)
def test_importing_it_imports_nothing_heavy(modules: str, spared: tuple[str, ...]) -> None:
    code = f"import sys, {modules}; print([name for name in {spared!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_replay_imports_no_more_than_it_takes(pytester: pytest.Pytester) -> None:
    # A session over one suite pays for the room of its kind, and for no other.
    spared = ("scipy.optimize", "scipy.stats", "filelock", "tenacity", "vcr", "aiohttp", "httpx")
    pytester.makeconftest(
        f"""
import sys

def pytest_unconfigure():
    print("spared:", *[name for name in {spared!r} if name in sys.modules])
    ours = [name for name in sys.modules if name.startswith("pytest_judgesense")]
    print("ours:", len(ours))
    rooms = [name.split(".")[2] for name in ours if name.endswith(".instrument")]
    print("rooms:", *rooms)
"""
    )
    result = pytester.runpytest_subprocess(
        *ALONE, "--judge-suite", "vacuum", "--judge-name", "embedded:clean"
    )
    assert result.ret == 0
    assert _line(result, "spared:") == ""
    assert _line(result, "rooms:") == "vacuum"
    assert int(_line(result, "ours:")) <= 198


def test_the_thread_of_the_calls_is_ended_with_the_session(pytester: pytest.Pytester) -> None:
    parity_suite(pytester.path)
    pytester.makeconftest(
        PYTHON_JUDGE
        + """
import threading
import pytest

def _threads():
    return sorted(thread.name for thread in threading.enumerate())

def pytest_sessionfinish():
    print("\\nduring:", _threads())

@pytest.hookimpl(wrapper=True)
def pytest_unconfigure():
    yield
    print("after:", _threads())
"""
    )
    result = pytester.runpytest_subprocess(*ALONE, "parity.suite.toml", "--judge-mode", "record")
    result.assert_outcomes(passed=1)
    assert "judgesense-asking" in _line(result, "during:")
    assert "judgesense-asking" not in _line(result, "after:")
