"""For all tests: what has to be set before any of them is collected, and what did not run."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile

import pytest
from hypothesis import settings

from tests.conftest import measures_a_judge
from tests.judges.local.known import missing
from tests.processes import freeze_for_good, share_certificates
from tests.report.browser import MISSING, chromium
from tests.shared_data import LLMBAR

# Sessions within tests are no step of a job of GitHub Actions, though the tests may be.
for _name in [name for name in os.environ if name.startswith("GITHUB_")]:
    del os.environ[_name]

# A job that a shell has put in the background ignores Ctrl-C, and so would whatever tests start
# and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Where no bytecode may stand beside the sources, the processes that tests start, a hundred modules
# each, have a folder for it that goes with the session.
if sys.dont_write_bytecode and sys.pycache_prefix is None:
    sys.pycache_prefix = tempfile.mkdtemp(prefix="judgesense-bytecode-")
    sys.dont_write_bytecode = False
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    atexit.register(shutil.rmtree, sys.pycache_prefix, ignore_errors=True)

share_certificates()

# Whether an example is quick enough says something of the machine, and nothing of the project.
# `.ci/full` looks longer: --hypothesis-profile long.
settings.register_profile("long", deadline=None, max_examples=500)
settings.register_profile("untimed", deadline=None, max_examples=25)
settings.load_profile("untimed")


def pytest_collection_finish() -> None:
    """What stays to the end is not looked at again whenever garbage is collected.

    pytest collects it at the end, and several tests do: half a second each otherwise.
    """
    freeze_for_good()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say loudly, whatever the verbosity, what could not be run for want of data or packages."""
    if measures_a_judge(config):
        return
    if not LLMBAR.is_dir():
        terminalreporter.section("NOT RUN: tests on real judgments")
        terminalreporter.write_line(f"there is no LLMBar at {LLMBAR}")
        terminalreporter.write_line("set JUDGESENSE_SHARED to the folder that holds data/llmbar")
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = {str(one.longrepr[2]) for one in skipped if isinstance(one.longrepr, tuple)}
    for what, words in (
        ("pages of docs", "is not run: there is no"),
        ("tests of what the system cannot load", "cannot be loaded"),
        ("tests of libraries that are missing", "is not installed"),
    ):
        if told := sorted(reason for reason in reasons if words in reason):
            terminalreporter.section(f"NOT RUN: {what}")
            for reason in told:
                terminalreporter.write_line(reason.removeprefix("Skipped: "))
    if reason := missing():
        terminalreporter.section("NOT RUN: tests of a language model on this machine")
        terminalreporter.write_line(reason)
    if chromium() is None:
        terminalreporter.section("NOT RUN: tests of pages in a browser")
        terminalreporter.write_line(MISSING)
