"""A pytest plugin: `screen.txt` holds what the session would print without -v.

The session has measured and written all the same, so that its output need not be made twice.
"""

from pathlib import Path

import pytest

from pytest_judgesense.plugin.activation import STATE


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(config: pytest.Config) -> None:
    state = config.stash[STATE]
    state.verbosity = 0
    shown = [line for title, lines in state.sections() for line in (f"== {title}", *lines)]
    Path("screen.txt").write_text("\n".join((*shown, "")), encoding="utf-8")
