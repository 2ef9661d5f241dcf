"""For all tests: what has to be loaded before any test is collected, and what did not run."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.datasheet.browser import MISSING, chromium
from tests.shared_data import LLMBAR

pytest_plugins = ["pytester"]

# Whether an example is quick enough says something of the machine, and nothing of the project.
settings.register_profile("untimed", settings(), deadline=None)
settings.load_profile("untimed")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly, whatever the verbosity, which tests had nothing to read or no browser."""
    if not LLMBAR.is_dir():
        terminalreporter.section("NOT RUN: tests on real judgments")
        terminalreporter.write_line(f"there is no LLMBar at {LLMBAR}")
        terminalreporter.write_line("set JUDGESENSE_SHARED to the folder that holds data/llmbar")
    if chromium() is None:
        terminalreporter.section("NOT RUN: tests of pages in a browser")
        terminalreporter.write_line(MISSING)
