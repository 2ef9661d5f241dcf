"""A judge served within a block, and the models that are known by name."""

from __future__ import annotations

import socket

import httpx
import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.local.models import MODELS
from pytest_judgesense.judges.simulated.named_observers import PROFILES
from pytest_judgesense.questions.serve.known_models import KnownModelsQuestion
from pytest_judgesense.questions.serve.serving import ServeQuestion

PROMPT = "<text>\nOne. Two.\n</text>\nRate from 1 to 5. Reply with one number from 1 to 5."


def test_the_embedded_judge_answers_within_the_block_and_not_after_it() -> None:
    body = {"model": "clean", "messages": [{"role": "user", "content": PROMPT}]}
    with ServeQuestion(0).answer() as answer:
        assert answer.to_dict()["models"] == [*PROFILES]
        url = f"{answer.base_url}/chat/completions"
        reply = httpx.post(url, json=body, timeout=10).json()
        # Two sentences without a common stem or a connective: cohesion 0, the lowest label.
        assert reply["choices"][0]["message"]["content"] == "1"
        assert "total_tokens" in reply["usage"]
    with pytest.raises(httpx.ConnectError):
        httpx.post(url, json=body, timeout=10)


def test_a_port_that_is_taken_is_a_wrong_argument() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(UsageError, match=f"port {port} cannot be served"),
            ServeQuestion(port).answer(),
        ):
            pass


def test_the_models_that_are_known_by_name_are_values() -> None:
    answer = KnownModelsQuestion().answer()
    assert answer.to_dict().keys() == MODELS.keys()
    assert len([*answer.lines()]) == 3 * len(MODELS)
