"""The fixtures: `judge_check`, `judge_datasheet` and `judge`. Light on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_judgesense.judges.spec import JudgeSpec
    from pytest_judgesense.plugin.fixture_values import AskableJudge, DatasheetReader

# pytest finds them by these names in the module of the plugin.
__all__ = ["_judgesense_judge", "judge", "judge_check", "judge_datasheet"]


@pytest.fixture
def _judgesense_judge(request: pytest.FixtureRequest) -> JudgeSpec:
    """The judge of this run of the test; parametrized by the plugin."""
    spec: JudgeSpec = request.param
    return spec


@pytest.fixture
def judge_check(
    request: pytest.FixtureRequest, _judgesense_judge: JudgeSpec
) -> Callable[..., None]:
    """Call it: the checks of the test's markers, or a check that you name, with full explanation.

    ``judge_check()`` asserts what the markers declare; ``judge_check("jss_floor", 0.9,
    suite="coherence")`` asserts that check.
    """
    from pytest_judgesense.plugin.fixture_values import checker

    return checker(request.node, _judgesense_judge)


@pytest.fixture
def judge_datasheet(
    request: pytest.FixtureRequest, _judgesense_judge: JudgeSpec
) -> DatasheetReader:
    """Estimates for assertions of your own: ``judge_datasheet("jss", suite="coherence").value``."""
    from pytest_judgesense.plugin.fixture_values import DatasheetReader

    return DatasheetReader(request.node, _judgesense_judge)


@pytest.fixture
def judge(request: pytest.FixtureRequest, _judgesense_judge: JudgeSpec) -> Iterator[AskableJudge]:
    """The judge itself: ``judge.ask("...")``; in ``async def`` tests ``judge.ask_async("...")``.

    What it is asked is recorded and replayed like everything else.
    """
    __tracebackhide__ = True
    from pytest_judgesense.errors import JudgesenseError
    from pytest_judgesense.plugin.fixture_values import askable_judge

    try:
        with askable_judge(request.node, _judgesense_judge) as asked:
            yield asked
    except JudgesenseError as error:
        raise error.with_traceback(None) from None
