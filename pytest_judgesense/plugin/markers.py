"""The markers: one a check. They parametrize over judges and run their check at any rate.

It also handles the collection: adds built-in suites, selects suites, reports mistakes. The module
is light: suite files are read only if one was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_judgesense.errors import JudgesenseError, UsageError, listed, unknown_name
from pytest_judgesense.plugin.activation import (
    FIXTURE,
    PLUGINS,
    asks_judges,
    check_names,
    is_marked,
)
from pytest_judgesense.plugin.ci import require_pass
from pytest_judgesense.plugin.messages import collect_error, ended_by_us
from pytest_judgesense.plugin.state import State, state_of
from pytest_judgesense.plugin.suite_names import SuiteNotFound, is_selected, split_name

if TYPE_CHECKING:
    from pytest_judgesense.measures.bar import Check
    from pytest_judgesense.suites.suite import Suite

EVALUATED: Final = pytest.StashKey[set[tuple[str, str | None]]]()
_KNOWN: Final = pytest.StashKey[list[str]]()


def checks_of(node: pytest.Item | Any) -> list[Check]:
    """The checks that a node's markers declare; `UsageError` for a wrong one."""
    from pytest_judgesense.checks.declaration import declare_check

    plugins, names = node.config.stash[PLUGINS], check_names(node.config)
    marks = [mark for mark in reversed(list(node.iter_markers())) if mark.name in names]
    checks = [
        declare_check(mark.name, mark.args, mark.kwargs, plugins.registry_for(mark.name))
        for mark in marks
    ]
    return list({(check.key, check.suite): check for check in checks}.values())


def suites_of(item: pytest.Item) -> list[str]:
    """Names of the suites that an item measures on; empty for an ordinary test."""
    if base := getattr(getattr(item, "suite", None), "base", None):
        return [base]
    try:
        return [check.suite for check in checks_of(item) if check.suite]
    except UsageError:
        return []


def _wrongly_marked(item: pytest.Item) -> UsageError | None:
    """The error of a check on a test that is not parametrized over judges; ``None`` for none."""
    import unittest

    if not (isinstance(item, pytest.Function) and is_marked(item)):
        return None
    if isinstance(item.cls, type) and issubclass(item.cls, unittest.TestCase):
        return UsageError(
            f"a check marks {item.nodeid}, a test of a unittest.TestCase",
            found="a class that pytest cannot parametrize over judges",
            expected="a test function, or a method of a plain class",
            remedy="move the check out of the TestCase",
        )
    spec = getattr(item, "callspec", None)
    names = check_names(item.config)
    late = [mark.name for mark in getattr(spec, "marks", ()) if mark.name in names]
    if late or FIXTURE not in getattr(spec, "params", ()):
        late_marker = "a marker that was added to the collected test"
        if late:
            late_marker = f"pytest.param(..., marks=pytest.mark.{late[0]}(...))"
        return UsageError(
            f"a check marks {item.nodeid} after it was parametrized over judges",
            found=late_marker,
            expected="a marker of the function, its class or its module",
            remedy="mark a function of its own",
        )
    return None


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Parametrize a test that has a check, or asks for a judge, over judges."""
    from pytest_judgesense.plugin.declared_check import DeclaredCheck

    state, node = state_of(metafunc.config), metafunc.definition
    judges = []
    try:
        checks = checks_of(node)
        pairs = list(_with_suites(node, checks))
        state.seen_suites.update(suite.base for suite, _ in pairs)
        named = dict.fromkeys(name for suite, _ in pairs for name in suite.judges)
        judges = state.run.measurements.judges(node.path, list(named))
        members = [
            DeclaredCheck(judge, suite, check)
            for judge in judges
            for suite, check in pairs
            if is_selected(suite.base, state.settings.suites)
        ]
        if members:
            state.run.family.declared.append(lambda: members)
    except UsageError as error:
        state.problems.append(f"{node.nodeid}: {error}")
    except JudgesenseError as error:
        raise collect_error(error) from error
    if FIXTURE not in metafunc.fixturenames:
        metafunc.fixturenames.append(FIXTURE)
    metafunc.parametrize(FIXTURE, judges, ids=[judge.slug for judge in judges], indirect=True)


def _with_suites(node: Any, checks: Sequence[Check]) -> Iterator[tuple[Suite, Check]]:
    """The checks whose suite is found; of another one the test tells, when it runs."""
    for check in checks:
        with suppress(SuiteNotFound):
            yield _suite(node, check), check


def _suite(node: Any, check: Check) -> Suite:
    if check.suite is None:
        from pytest_judgesense.suites.builtin import builtin_suites

        first = repr(check.measure) if check.kind.earlier else f"{check.bars['bar']:g}"
        raise UsageError(
            f"{check.name} does not say on which suite",
            expected="suite= one of: " + listed(builtin_suites()) + ", or a *.suite.toml path",
            remedy=f'write @pytest.mark.{check.name}({first}, suite="coherence")',
        )
    return state_of(node.config).run.measurements.suite(check.suite, node.path.parent)


def evaluate(item: pytest.Item, judge: Any, check: Check) -> None:
    """Evaluate one check; raises `CheckFailed` with the explanation if it does not pass.

    A failure that is known is noted, and ends the test when all of it is done.
    """
    __tracebackhide__ = True
    from pytest_judgesense.plugin.declared_check import DeclaredCheck

    run = state_of(item.config).run
    suite = _suite(item, check)
    # A check that compares judges takes those that the test runs over.
    rivals = run.measurements.judges(item.path, suite.judges) if check.judge else ()
    if run.family.only_saves(check):  # the test's own lines are what it is about
        run.measurements.shown(judge, suite)
        return
    with _going_on(item):
        require_pass(item, run, DeclaredCheck(judge, suite, check), rivals)


@contextmanager
def _going_on(item: pytest.Item) -> Iterator[None]:
    """Note the known failure that this block ends with, if any, for `ending_as_known`."""
    __tracebackhide__ = True
    try:
        yield
    except pytest.xfail.Exception as accepted:
        item.stash.setdefault(_KNOWN, []).append(str(accepted.msg))


@contextmanager
def ending_as_known(item: pytest.Item) -> Iterator[None]:
    """End a test as an expected failure where known failures were noted, and nothing else is wrong.

    At its end: what is known hides nothing of what is not.
    """
    __tracebackhide__ = True
    try:
        yield
    except BaseException:
        item.stash[_KNOWN] = []  # it may be run once more
        raise
    reasons, item.stash[_KNOWN] = item.stash.get(_KNOWN, []), []
    if reasons:
        with ended_by_us(item):
            pytest.xfail("; ".join(dict.fromkeys(reasons)))


@contextmanager
def run_declared_checks(item: pytest.Function) -> Iterator[None]:
    """Run the checks of a test's markers: before its body, or after one that has `judge_check`."""
    __tracebackhide__ = True
    if not is_marked(item):
        yield
        return
    # Other plugins may mark tests after all that looks at the collected ones.
    if wrong := _wrongly_marked(item):
        with ended_by_us(item):
            pytest.fail(str(wrong), pytrace=False)
    item.stash[EVALUATED] = set()
    # Of a shard every suite is recorded, and no body runs.
    if "judge_check" not in item.fixturenames or state_of(item.config).settings.shard:
        _run_rest(item)
    yield
    _run_rest(item)


def _run_rest(item: pytest.Function) -> None:
    """Run those checks of a test's markers that it has not run yet."""
    __tracebackhide__ = True
    # Not `funcargs`: a fixture that no test names is left out of them.
    judge = item.callspec.params[FIXTURE]
    failures, recorded = [], []
    for check in checks_of(item):
        if (check.key, check.suite) not in item.stash[EVALUATED]:
            item.stash[EVALUATED].add((check.key, check.suite))
            try:
                evaluate(item, judge, check)
            except (AssertionError, JudgesenseError) as error:
                failures.append(str(error))
            except pytest.skip.Exception as skipped:  # a part of its suite was recorded
                recorded.append(str(skipped))
    if failures:
        # Not one of our exceptions with a traceback: the explanation is the whole message.
        with ended_by_us(item):
            pytest.fail("\n\n".join(dict.fromkeys(failures)), pytrace=False)
    if recorded:
        with ended_by_us(item):
            pytest.skip("\n".join(dict.fromkeys(recorded)))


def modify_items(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the built-in suites' items, deselect other suites, report mistakes."""
    state = state_of(session.config)
    for argument in state.builtin:
        from pytest_judgesense.plugin.collection import builtin_items

        try:
            items.extend(builtin_items(session, argument))
        except pytest.UsageError as error:
            state.problems.append(error)
    if state.problems or any(map(is_marked, items)):
        state.problems += filter(None, map(_wrongly_marked, items))
    state.problems += state.plugins.late()
    # Only here: a run that asks no judge may be spread as it likes.
    asking = list(filter(asks_judges, items))
    if asking and (problem := state.problem_of_processes(asking)):
        state.problems.append(problem)
    if state.measures and (history := state.run.history):
        try:  # before anybody is asked
            _ = history.before
        except JudgesenseError as error:
            state.problems.append(error)
    _select(state, items)
    # Tests name their suites here and there: the notices of those that ran say what was not sent.
    by_tests = any(isinstance(item, pytest.Function) and asks_judges(item) for item in items)
    if state.measures and not state.problems and not by_tests:
        state.problems += state.run.family.unsent_prompts(with_builtin=bool(state.builtin))
    if state.measures and not state.problems:
        state.problems += state.run.family.lost_at_revision()
    state.report_problems(items)
    if state.measures and items:
        state.run.measurements.alone = not any(isinstance(item, pytest.Function) for item in items)


def _select(state: State, items: list[pytest.Item]) -> None:
    if not state.settings.suites or state.problems:
        return
    wanted = dict.fromkeys(split_name(name)[0] for name in state.settings.suites)
    collected = state.seen_suites
    state.problems += [
        unknown_name("suite here", base, collected) for base in wanted if base not in collected
    ]
    measured = [{split_name(name)[0] for name in suites_of(item)} for item in items]
    selected = [not bases or bool(bases & wanted.keys()) for bases in measured]
    if not all(selected):
        deselected = [item for item, keep in zip(items, selected, strict=True) if not keep]
        items[:] = [item for item, keep in zip(items, selected, strict=True) if keep]
        state.config.hook.pytest_deselected(items=deselected)
