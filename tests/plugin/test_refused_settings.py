"""Settings that a model does not take: left out by ``false``, and named where it refuses them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import SuiteError
from tests.plugin.project import ChatServer, Project, no_traceback, parity_suite
from tests.suites.known import load_suite


class ReasoningServer(ChatServer):
    """Refuses what models that reason refuse, in the words of OpenAI."""

    def __init__(self) -> None:
        super().__init__()
        self.status = lambda prompt: 400 if self._refused(self.asked[-1]) else 200

    def _refused(self, body: dict[str, Any]) -> str | None:
        if body.get("temperature", 1) != 1:
            return (
                f"Unsupported value: 'temperature' does not support {body['temperature']} with "
                "this model. Only the default (1) value is supported."
            )
        if "max_tokens" in body:
            return (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' instead."
            )
        return None

    def answer(self, body: dict[str, Any]) -> bytes:
        answered = super().answer(body)
        if refused := self._refused(body):
            return json.dumps({"error": {"message": refused}}).encode()
        return answered


@pytest.fixture
def server() -> Iterator[ChatServer]:
    served = ReasoningServer()
    yield served
    served.close()


def test_no_temperature_is_sent_where_it_is_false(project: Project) -> None:
    project.declare("temperature = false\ntop_p = false\nseed = false")
    project.run("parity.suite.toml", "--judge-mode", "record")
    for name in ("temperature", "top_p", "seed"):
        assert name not in project.server.asked[0]


def test_a_refused_temperature_says_what_to_set(project: Project) -> None:
    result = project.run("parity.suite.toml", "--judge-mode", "record")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*judge 'mine' cannot be asked",
            "*found: *HTTP 400: Unsupported value: 'temperature' does not support 0.0 *",
            "*remedy: *[[]tool.judgesense.judges.mine[]]: temperature = false; *",
        ]
    )
    no_traceback(result)
    # So it is with every trial: none of the other 17 is asked.
    assert len(project.server.asked) == 1


def test_a_refused_budget_says_what_to_set_and_that_works(project: Project) -> None:
    project.declare("temperature = false")
    result = project.run("parity.suite.toml", "--judge-mode", "record")
    result.stdout.fnmatch_lines(['*remedy: *reasoning = "low"*max_completion_tokens*'])
    assert len(project.server.asked) == 1
    project.declare('reasoning = "low"')
    project.run("parity.suite.toml", "--judge-mode", "record").assert_outcomes(passed=1)
    assert project.server.asked[-1]["max_completion_tokens"] == 256


@pytest.mark.parametrize("setting", ["temperature = false", "replicates = true", "top_p = true"])
def test_a_suite_takes_numbers_alone(tmp_path: Path, setting: str) -> None:
    suite = parity_suite(tmp_path, extra=f"[design]\n{setting}\n")
    with pytest.raises(SuiteError) as refused:
        load_suite(suite)
    assert setting.split(maxsplit=1)[0] in str(refused.value)
    assert "valid" in str(refused.value)
