"""The built-in providers are values like those of plugins."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.judge_table import judge_from_table
from pytest_judgesense.judges.providers.builtin import EMBEDDED, OPENAI, provider_of
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.spec import JudgeSpec, Provider
from pytest_judgesense.registry import extended, hooks_of

MESSAGES = [{"role": "user", "content": "A or B?"}]
NAMES = sorted(BUILT_IN.providers)


class Copies:
    """A plugin that provides every built-in provider under another name."""

    @staticmethod
    def pytest_judgesense_providers() -> list[Provider]:
        return [replace(one, name=f"my-{one.name}") for one in BUILT_IN.providers.values()]


def request_of(judge: JudgeSpec) -> dict[str, Any]:
    made = provider_of(judge).request(judge, "https://judge.example", "k", MESSAGES, 3)
    return {"url": made.url, "headers": dict(made.headers), "body": json.loads(made.body)}


@pytest.mark.parametrize("name", NAMES)
def test_a_plugin_could_provide_each(name: str) -> None:
    registry = extended(BUILT_IN, hooks_of([("mine", Copies)]))
    table = {"model": "clean", "base_url": "https://judge.example", "seed": 7}
    if name == "local":
        table["model"] = "smollm2-135m"
    own, copied = (
        judge_from_table("j", {**table, "provider": one}, Path(), registry.providers)
        for one in (name, f"my-{name}")
    )
    assert copied.api is not None
    assert copied.api.source == "mine"
    assert request_of(own) == request_of(copied)
    answer = json.dumps({"choices": [{"message": {"content": "A"}}], "content": []})
    assert provider_of(own).read(200, answer) == copied.api.read(200, answer)


@pytest.mark.parametrize("name", NAMES)
def test_a_judge_is_the_same_where_it_is_sent(name: str) -> None:
    # To the processes and the tasks that record shards of a suite.
    table = {"provider": name, "model": "smollm2-135m" if name == "local" else "clean"}
    judge = judge_from_table("j", {**table, "base_url": "https://judge.example"}, Path())
    assert pickle.loads(pickle.dumps(judge)) == judge


@pytest.mark.parametrize("name", NAMES)
def test_a_provider_that_is_not_there_is_unknown(name: str) -> None:
    providers: dict[str, Provider] = {}
    with pytest.raises(UsageError, match="there is no judge named"):
        judge_from_name(f"{name}:clean", providers)
    with pytest.raises(UsageError, match=f"there is no provider '{name}', but: callable"):
        judge_from_table("j", {"provider": name, "model": "clean"}, Path(), providers)


def test_a_judge_carries_the_provider_that_it_names() -> None:
    registry = extended(BUILT_IN, hooks_of([("mine", Copies)]))
    for name in ("my-openai", "openai", "embedded"):
        judge = judge_from_name(f"{name}:clean", registry.providers)
        assert provider_of(judge) is judge.api is registry.providers[name]
    # One that is made in Python names a built-in one.
    assert provider_of(JudgeSpec("j", "embedded", "clean")) is EMBEDDED
    assert (EMBEDDED.build, EMBEDDED.parse) == (OPENAI.build, OPENAI.parse)


def test_a_callable_has_none() -> None:
    with pytest.raises(KeyError):
        provider_of(JudgeSpec("j", "callable", "m:f"))
