"""What becomes of a collection: built-in suites are added, suites selected, mistakes reported.

Light on purpose: suite files are read only where one was asked for.
"""

from __future__ import annotations

import pytest

from pytest_judgesense.errors import unknown_name
from pytest_judgesense.plugin.markers import asks_judges, refuse_test_cases, suites_of
from pytest_judgesense.plugin.paths import split_name
from pytest_judgesense.plugin.state import State, state_of
from pytest_judgesense.plugin.using import any_marked

__all__ = ["complete_collection"]


def complete_collection(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the built-in suites' items, keep the selected suites, report what was wrong.

    Raises:
        pytest.UsageError: a declaration is wrong, or a suite was named that nothing collects.
    """
    state = state_of(session.config)
    _add_builtin(state, session, items)
    if state.problems or any_marked(items):
        state.problems += refuse_test_cases(items)
    state.problems += state.plugins.late()
    _refuse_workers(state, items)
    _select(state, items)
    state.report_problems(items)


def _add_builtin(state: State, session: pytest.Session, items: list[pytest.Item]) -> None:
    for argument in state.builtin:
        from pytest_judgesense.plugin.collection import builtin_items

        try:
            items.extend(builtin_items(session, argument))
        except pytest.UsageError as error:
            state.problems.append(str(error))


def _refuse_workers(state: State, items: list[pytest.Item]) -> None:
    # Only here: a run that asks no judge may be spread as it likes.
    problem = state.problem_of_workers()
    if problem and any(asks_judges(item) for item in items):
        state.problems.append(problem)


def _select(state: State, items: list[pytest.Item]) -> None:
    if not state.settings.suites or state.problems:
        return
    for name in state.settings.suites:
        base, _ = split_name(name)
        if base not in state.seen_suites:
            state.problems.append(str(unknown_name("suite here", base, state.seen_suites)))
    wanted = {split_name(name)[0] for name in state.settings.suites}
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        names = {split_name(name)[0] for name in suites_of(item)}
        (dropped if names and not names & wanted else kept).append(item)
    if dropped:
        items[:] = kept
        state.config.hook.pytest_deselected(items=dropped)
