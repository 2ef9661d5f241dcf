"""Garbage: what a session keeps is not looked through again, and that of tests is still told of."""

from __future__ import annotations

import pytest

from .project import BUILTIN, QUIET

# How many objects no collection looks at, when pytest has collected for the last time.
SPY = """
import gc
import pytest

@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    print("kept:", gc.get_freeze_count())
"""
# A cycle of which only a collection says that its end goes wrong.
LEAVING = """
class Broken:
    def __del__(self):
        raise ValueError("left behind")

def test_that_leaves_garbage():
    broken = Broken()
    broken.itself = broken
"""


def kept(result: pytest.RunResult) -> int:
    (line,) = [line for line in result.outlines if line.startswith("kept:")]
    return int(line.split()[1])


def test_a_session_of_suites_alone_keeps_what_it_has(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(SPY)
    result = pytester.runpytest_subprocess(*QUIET, "-s", *BUILTIN)
    result.assert_outcomes(passed=3)
    assert kept(result) > 10_000  # the modules of numpy alone are more


def test_garbage_of_a_test_in_python_is_told_of_after_a_measurement(
    pytester: pytest.Pytester,
) -> None:
    marked = "import pytest\n\n@pytest.mark.dark_current_ceiling(0.1, suite='vacuum')\n"
    # The garbage first, then a measurement.
    pytester.makepyfile(f"{LEAVING}\n{marked}def test_judge(): pass\n")
    options = ("-W", "error", "--judge-name", "embedded:clean")
    result = pytester.runpytest_subprocess(*QUIET, *options)
    result.assert_outcomes(passed=2)
    assert "left behind" in result.stderr.str()
