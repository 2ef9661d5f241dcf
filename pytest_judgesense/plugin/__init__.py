"""The pytest plugin: hooks and fixtures of a few lines each, that delegate.

Nothing heavy is imported here: installed in an environment, the plugin costs a run that does not
use it next to nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_judgesense.plugin import hookspecs
from pytest_judgesense.plugin.activation import (
    PLUGINS,
    STATE,
    asks_judges,
    is_asked_for,
    is_marked,
    may_record,
)
from pytest_judgesense.plugin.options import add_options

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_judgesense.judges.spec import JudgeSpec
    from pytest_judgesense.plugin.fixture_values import (
        AskableJudge,
        JudgeCheck,
        JudgeDatasheet,
    )

# The fixtures: pytest finds them by these names.
__all__ = ["_judgesense_judge", "judge", "judge_check", "judge_datasheet"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options."""
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Register the hooks that a ``conftest.py`` may implement."""
    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Where judges are recorded, see from now on what their modules open at their import."""
    if may_record(early_config):
        from pytest_judgesense.judges.opened_files import OPENED

        OPENED.watch()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the markers; create the plugin's state if it is used."""
    plugins = config.stash[PLUGINS] = hookspecs.Plugins(config)
    for line in plugins.marker_lines():
        config.addinivalue_line("markers", line)
    if is_asked_for(config):
        from pytest_judgesense.plugin.state import state_of

        state_of(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the state of the session."""
    if state := config.stash.get(STATE, None):
        state.close()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Before anything is collected, refuse an ini file that leaves out what it did not."""
    state = session.config.stash.get(STATE, None)
    if state and state.settings.revision is not None and not state.is_worker:
        from pytest_judgesense.plugin.selection import refuse_narrowed

        refuse_narrowed(session.config, state.settings)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect ``*.suite.toml``."""
    if file_path.name.endswith(".suite.toml"):
        from pytest_judgesense.plugin.startup import uncollected

        with uncollected():
            from pytest_judgesense.plugin.collection import SuiteFile
            from pytest_judgesense.suites.builtin import is_unpacked

        if is_unpacked(file_path):
            return None
        return SuiteFile.from_parent(parent, path=file_path)
    return None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize tests that have a check's marker or one of our fixtures over judges."""
    if asks_judges(metafunc.definition):
        from pytest_judgesense.plugin.markers import parametrize

        parametrize(metafunc)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the built-in suites that were asked for, select suites, and report wrong declarations."""
    if STATE in session.config.stash or any(map(is_marked, items)):
        from pytest_judgesense.plugin.startup import uncollected

        with uncollected():
            from pytest_judgesense.plugin.markers import modify_items

            modify_items(session, items)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what a worker has to tell, before xdist says that all is collected.

    Where judges are asked, note which: a key that is missing is found before the first call.
    """
    state = session.config.stash.get(STATE, None)
    if state and state.settings.asks and state.measures:
        from pytest_judgesense.plugin.collection import note_selected

        note_selected(state, session.items)
    if state and state.is_worker:
        state.tell_limits_of_markers(session.items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Run the checks that a test's markers declare, whether it uses a fixture or not."""
    asks = STATE in item.config.stash or is_marked(item)  # marked after the collection, perhaps
    if not asks or not isinstance(item, pytest.Function):
        return (yield)
    from pytest_judgesense.plugin.markers import ending_as_known, run_declared_checks

    with ending_as_known(item), run_declared_checks(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send results with the report of the test that measured them."""
    report = yield
    if (state := item.config.stash.get(STATE, None)) is None:
        return report
    if state.measures:
        from pytest_judgesense.plugin.ci import put_on
        from pytest_judgesense.plugin.messages import make_harmless, point_at

        if asks_judges(item):
            point_at(item, call, report)
            make_harmless(report, state.run.collected.cleaned)
            put_on(report, item)
    state.attach(report)
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the datasheets, once, where the reports arrive; the workers of xdist have ended."""
    if state := session.config.stash.get(STATE, None):
        state.write(session)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the datasheets."""
    if (state := config.stash.get(STATE, None)) is None:
        return
    from pytest_judgesense.plugin.screen import write
    from pytest_judgesense.text.display import write_annotation

    for title, lines in state.sections():
        write(terminalreporter, title, lines)
    for line in state.failures.annotation_lines(config.rootpath):
        write_annotation(terminalreporter, line)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say how judges are measured, where any are named."""
    state = config.stash.get(STATE, None)
    return state.header() if state else None


@pytest.fixture
def _judgesense_judge(request: pytest.FixtureRequest) -> JudgeSpec:
    """The judge of this run of the test; parametrized by the plugin."""
    spec: JudgeSpec = request.param
    return spec


@pytest.fixture
def judge_check(request: pytest.FixtureRequest, _judgesense_judge: JudgeSpec) -> JudgeCheck:
    """Call it: the checks of the test's markers, or a check that you name, with full explanation.

    ``judge_check()`` asserts the checks of the markers; ``judge_check("jss_floor", 0.9,
    suite="coherence")`` asserts that check.
    """
    from pytest_judgesense.plugin.fixture_values import JudgeCheck

    return JudgeCheck(request.node, _judgesense_judge)


@pytest.fixture
def judge_datasheet(request: pytest.FixtureRequest, _judgesense_judge: JudgeSpec) -> JudgeDatasheet:
    """Estimates for assertions of your own: ``judge_datasheet("jss", suite="coherence").value``."""
    from pytest_judgesense.plugin.fixture_values import JudgeDatasheet

    return JudgeDatasheet(request.node, _judgesense_judge)


@pytest.fixture
def judge(request: pytest.FixtureRequest, _judgesense_judge: JudgeSpec) -> Iterator[AskableJudge]:
    """The judge itself: ``judge.ask("...")``; in ``async def`` tests ``judge.ask_async("...")``.

    Its calls are recorded and replayed like all others.
    """
    __tracebackhide__ = True
    from pytest_judgesense.errors import JudgesenseError
    from pytest_judgesense.plugin.fixture_values import askable_judge

    try:
        with askable_judge(request.node, _judgesense_judge) as askable:
            yield askable
    except JudgesenseError as error:
        raise error.with_traceback(None) from None
