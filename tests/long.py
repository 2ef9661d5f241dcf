"""Tests marked ``long`` are left out, and the summary says so; `.ci/full` runs them.

They guard what is rare and take long; a cheaper test of the same stays in the gate. They run where
markers are chosen (``-m long``) and where a test is named by its id.
"""

from __future__ import annotations

import pytest

LEFT_OUT = pytest.StashKey[int]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.markexpr or any("::" in argument for argument in config.args):
        return
    left_out: list[pytest.Item] = []
    kept: list[pytest.Item] = []
    for item in items:
        (left_out if item.get_closest_marker("long") else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)
    _remember(config, len(left_out))
    if hasattr(config, "workeroutput"):
        config.workeroutput["long"] = len(left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Each worker of pytest-xdist collects everything; the summary is not theirs."""
    _remember(node.config, getattr(node, "workeroutput", {}).get("long", 0))  # type: ignore[attr-defined]


def _remember(config: pytest.Config, number: int) -> None:
    config.stash[LEFT_OUT] = max(number, config.stash.get(LEFT_OUT, 0))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if number := config.stash.get(LEFT_OUT, 0):
        terminalreporter.section(f"NOT RUN: {number} long tests")
        terminalreporter.write_line("pytest -n auto -m long runs them, and so does .ci/full")
