"""`Judge`: a judge as a Python object, for ``conftest.py``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_judgesense.judges.providers.base import Provider
from pytest_judgesense.judges.spec import JudgeFunction, JudgeSpec, judge_from_table


def Judge(name: str, function: JudgeFunction | None = None, **settings: Any) -> JudgeSpec:
    """A judge, to be returned from ``pytest_judgesense_judges`` in a ``conftest.py``.

    Args:
        name: how tests and reports call it.
        function: any function, sync or async, that takes the messages (a list of ``{"role":
            ..., "content": ...}``) and returns the reply's text.
        settings: the keys of a table ``[tool.judgesense.judges.<name>]``; ``provider`` may be a
            `Provider` itself.

    Raises:
        UsageError: a setting is unknown or wrong.
    """
    if function is None:
        provider = settings.get("provider")
        if isinstance(provider, Provider):
            named = {**settings, "provider": provider.name}
            return judge_from_table(name, named, Path(), {provider.name: provider})
        return judge_from_table(name, settings, Path())
    module = getattr(function, "__module__", "?")
    target = f"{module}:{getattr(function, '__qualname__', type(function).__qualname__)}"
    table = {"provider": "callable", "model": target, **settings}
    return replace(judge_from_table(name, table, Path()), function=function)
