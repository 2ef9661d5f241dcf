"""The markers: one a check. They parametrize over judges and run their check at any rate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_judgesense.errors import JudgesenseError, UsageError
from pytest_judgesense.measures.measure import CONDITION_KEYS
from pytest_judgesense.plugin.activation import FIXTURE, PLUGINS, is_marked
from pytest_judgesense.plugin.ci import require_pass
from pytest_judgesense.plugin.state import State, state_of
from pytest_judgesense.plugin.suite_names import is_selected

if TYPE_CHECKING:
    from pytest_judgesense.judges.spec import JudgeSpec
    from pytest_judgesense.measures.check import Check
    from pytest_judgesense.plugin.hookspecs import Plugins
    from pytest_judgesense.suites.suite import Suite

# Checks with the same bar on two suites share an id.
_NAME_ONE: Final = 'name one, suite="coherence"'
EVALUATED: Final = pytest.StashKey[set[tuple[str, str | None]]]()


def marker_lines(plugins: Plugins) -> Iterator[str]:
    """The text of ``pytest --markers`` for every check.

    Raises:
        pytest.UsageError: a check of a plugin is wrong.
    """
    try:
        checks = plugins.for_markers.checks
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error
    for kind in checks.values():
        measure = kind.measure
        if measure is None:
            yield f"{_short(kind.signature)}: fail unless {kind.meaning}, for each judge."
            continue
        suite = measure.suite and f"suite= is {measure.suite} by default"
        sign = ">=" if measure.floor else "<="
        yield (
            f"{_short(kind.signature)}: fail unless {measure.name} {sign} bar, for each judge. "
            f"{measure.name}: {measure.meaning}; {suite or _NAME_ONE}."
        )


def _short(signature: str) -> str:
    # The list of conditions is the same for all checks.
    return signature.replace(f"{'=, '.join(CONDITION_KEYS)}=", "**condition")


def asks_judges(item: pytest.Item) -> bool:
    """Whether an item is a check, or a test that has a judge."""
    return is_marked(item) or FIXTURE in getattr(item, "fixturenames", ())


def checks_of(node: pytest.Item | Any) -> list[Check]:
    """The checks that a node's markers declare; `UsageError` for a wrong one."""
    from pytest_judgesense.checks.declaration import declare_check

    registry = node.config.stash[PLUGINS].for_markers
    found = {
        (check.id, check.suite): check
        for mark in reversed(list(node.iter_markers()))
        if mark.name in registry.checks
        for check in (declare_check(mark.name, mark.args, mark.kwargs, registry),)
    }
    return list(found.values())


def suites_of(item: pytest.Item) -> list[str]:
    """Names of the suites that an item measures on; empty for an ordinary test."""
    suite = getattr(item, "suite", None)
    if suite is not None and hasattr(suite, "base"):
        return [suite.base]
    try:
        return [check.suite for check in checks_of(item) if check.suite]
    except UsageError:
        return []


def refuse_test_cases(items: list[pytest.Item]) -> list[str]:
    """The errors of checks on a ``unittest.TestCase``, which cannot be parametrized."""
    import unittest

    return [
        str(
            UsageError(
                f"a check marks {item.nodeid}, a test of a unittest.TestCase",
                found="a class that pytest cannot parametrize over judges",
                expected="a test function, or a method of a plain class",
                remedy="move the check out of the TestCase",
            )
        )
        for item in items
        if is_marked(item)
        and isinstance(cls := getattr(item, "cls", None), type)
        and issubclass(cls, unittest.TestCase)
    ]


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Parametrize a test that has a check, or asks for a judge, over judges."""
    state, node = state_of(metafunc.config), metafunc.definition
    judges = []
    try:
        checks = checks_of(node)
        suites = [_suite(node, check) for check in checks]
        state.seen_suites.update(suite.base for suite in suites)
        named = dict.fromkeys(name for suite in suites for name in suite.judges)
        judges = state.run.judges(node.path, list(named))
        _declare_regressions(state, judges, suites, checks)
    except UsageError as error:
        state.problems.append(f"{node.nodeid}: {error}")
    except JudgesenseError as error:
        raise pytest.Collector.CollectError(str(error)) from error
    if FIXTURE not in metafunc.fixturenames:
        metafunc.fixturenames.append(FIXTURE)
    metafunc.parametrize(FIXTURE, judges, ids=[judge.slug for judge in judges], indirect=True)


def _declare_regressions(
    state: State, judges: list[JudgeSpec], suites: list[Suite], checks: list[Check]
) -> None:
    """Enter the regression checks of a test into the session's family."""
    from pytest_judgesense.plugin.regression import Member

    members = [
        Member(judge, suite, check)
        for judge in judges
        for suite, check in zip(suites, checks, strict=True)
        if check.kind.regression and is_selected(suite.base, state.settings.suites)
    ]
    if members and state.settings.baseline is not None:
        state.run.regressions.append(lambda: members)


def _suite(node: Any, check: Check) -> Suite:
    if check.suite is None:
        from pytest_judgesense.suites.builtin import builtin_suites

        first = repr(check.measure) if check.kind.regression else f"{check.bars['bar']:g}"
        raise UsageError(
            f"{check.name} does not say on which suite",
            expected="suite= one of: " + ", ".join(builtin_suites()) + ", or a *.suite.toml path",
            remedy=f'write @pytest.mark.{check.name}({first}, suite="coherence")',
        )
    return state_of(node.config).run.suite(check.suite, node.path.parent)


def evaluate(item: pytest.Item, judge: Any, check: Check) -> None:
    """Evaluate one check; raises `CheckFailed` with the explanation if it does not pass."""
    __tracebackhide__ = True
    from pytest_judgesense.plugin.regression import Member

    run = state_of(item.config).run
    suite = _suite(item, check)
    # A check that compares judges takes those that the test runs over.
    rivals = run.judges(item.path, suite.judges) if check.judge else ()
    require_pass(item, run, Member(judge, suite, check), rivals)


@contextmanager
def run_declared_checks(item: pytest.Function) -> Iterator[None]:
    """Run the checks of a test's markers: before its body, or after one that has `judge_check`."""
    __tracebackhide__ = True
    if not is_marked(item):
        yield
        return
    item.stash[EVALUATED] = set()
    later = "judge_check" in item.fixturenames
    if not later:
        _run_all(item)
    yield
    if later:
        _run_all(item)


def _run_all(item: pytest.Function) -> None:
    __tracebackhide__ = True
    # Not `funcargs`: a fixture that no test names is left out of them.
    judge = item.callspec.params[FIXTURE]
    failures = []
    for check in checks_of(item):
        if (check.id, check.suite) not in item.stash[EVALUATED]:
            item.stash[EVALUATED].add((check.id, check.suite))
            try:
                evaluate(item, judge, check)
            except (AssertionError, JudgesenseError) as error:
                failures.append(str(error))
    if failures:
        # Not an exception of ours with a traceback: the explanation is the whole message.
        pytest.fail("\n\n".join(dict.fromkeys(failures)), pytrace=False)
