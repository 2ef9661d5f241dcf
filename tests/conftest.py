"""What the tests are run with; and runs in the checkout that are none of these tests."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

# Who measures a judge in the checkout may have installed the plugin alone.
INSTALLED = find_spec("hypothesis") is not None
pytest_plugins = (
    ["pytester", "tests.costs", "tests.long", "tests.optional", "tests.session"]
    if INSTALLED
    else []
)


def measures_a_judge(config: pytest.Config) -> bool:
    """Whether the run names a built-in suite and no file: it is none of these tests."""
    return not config.args


def pytest_ignore_collect() -> bool | None:
    return None if INSTALLED else True


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if not INSTALLED and not measures_a_judge(config):
        terminalreporter.section("NOT RUN: the project's own tests")
        terminalreporter.write_line("the extra test is not installed: pip install -e '.[all,test]'")
