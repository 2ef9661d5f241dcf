"""What becomes of a collection: built-in suites are added, suites selected, mistakes reported.

Light on purpose: suite files are read only where one was asked for.
"""

from __future__ import annotations

import pytest

from pytest_judgesense.errors import unknown_name
from pytest_judgesense.plugin.activation import any_marked
from pytest_judgesense.plugin.markers import asks_judges, refuse_test_cases, suites_of
from pytest_judgesense.plugin.state import State, state_of
from pytest_judgesense.plugin.suite_names import split_name


def modify_items(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the built-in suites' items, deselect other suites, report what was wrong.

    Raises:
        pytest.UsageError: a declaration is wrong, or a suite was named that nothing collects.
    """
    state = state_of(session.config)
    for argument in state.builtin:
        from pytest_judgesense.plugin.collection import builtin_items

        try:
            items.extend(builtin_items(session, argument))
        except pytest.UsageError as error:
            state.problems.append(str(error))
    if state.problems or any_marked(items):
        state.problems += refuse_test_cases(items)
    state.problems += state.plugins.late()
    # Only here: a run that asks no judge may be spread as it likes.
    problem = state.problem_of_workers()
    if problem and any(asks_judges(item) for item in items):
        state.problems.append(problem)
    _select(state, items)
    state.report_problems(items)


def _select(state: State, items: list[pytest.Item]) -> None:
    if not state.settings.suites or state.problems:
        return
    wanted = dict.fromkeys(split_name(name)[0] for name in state.settings.suites)
    state.problems += [
        str(unknown_name("suite here", base, state.seen_suites))
        for base in wanted
        if base not in state.seen_suites
    ]
    selected: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        bases = {split_name(name)[0] for name in suites_of(item)}
        (others if bases and not bases & wanted.keys() else selected).append(item)
    if others:
        items[:] = selected
        state.config.hook.pytest_deselected(items=others)
