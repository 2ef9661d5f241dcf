"""Placeholder credentials for a judge's own client during replay.

The client of a provider cannot be created without a key, even if it makes no request. So code of a
replayed trial, or of the import of its judge, reads a placeholder if a usual variable is not set;
so does a recording that reads recorded answers once more. Nothing is written to the environment:
other code, other tests, threads outside of a trial and child processes see it unchanged. A replayed
trial makes no connection (see `cassettes.offline`), and a recording refuses a request that holds a
placeholder, so one is sent to nobody.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from pytest_judgesense.cassettes.credentials import placeholder_for
from pytest_judgesense.cassettes.scope import current_scope

# Those of one way in alone: a key of Azure or of AWS would turn a client to another endpoint than
# it was recorded at.
_USUAL: Final = frozenset(
    """
    ANTHROPIC_API_KEY CEREBRAS_API_KEY CO_API_KEY COHERE_API_KEY DEEPSEEK_API_KEY FIREWORKS_API_KEY
    GEMINI_API_KEY GOOGLE_API_KEY GROQ_API_KEY HF_TOKEN MISTRAL_API_KEY NVIDIA_API_KEY
    OPENAI_API_KEY OPENROUTER_API_KEY PERPLEXITY_API_KEY REPLICATE_API_TOKEN TOGETHER_API_KEY
    XAI_API_KEY
    """.split()
)
# Two names of one key: a placeholder under one would have a client leave a key under the other.
_PAIRS: Final = (("CO_API_KEY", "COHERE_API_KEY"), ("GEMINI_API_KEY", "GOOGLE_API_KEY"))
# Clients are opened and closed in any order, so the reading is replaced once for all of them.
_ENVIRONMENT: Final = type(os.environ)
_read: Final = _ENVIRONMENT.__getitem__
_changing: Final = threading.Lock()
# The names of each client that is open.
_in_force: Final[list[frozenset[str]]] = []


@contextmanager
def placeholder_credentials(name: str | None = None) -> Iterator[None]:
    """Let trials that need no key read a placeholder for each usual one, and ``name``, not set.

    A variable that is set to nothing holds no key.
    """
    names = _USUAL | ({name} if name else set())
    _enter(names)
    try:
        yield
    finally:
        _leave(names)


def _enter(names: frozenset[str]) -> None:
    with _changing:
        _in_force.append(names)
        _ENVIRONMENT.__getitem__ = _read_or_placeholder  # type: ignore[method-assign]


def _leave(names: frozenset[str]) -> None:
    with _changing:
        _in_force.remove(names)
        if not _in_force:
            _ENVIRONMENT.__getitem__ = _read  # type: ignore[method-assign]


def _is_set(environment: Any, key: str) -> bool:
    try:
        return bool(_read(environment, key))
    except KeyError:
        return False


def _read_or_placeholder(environment: Any, key: Any) -> Any:
    scope = current_scope()
    if scope is None or not scope.needs_no_key or not any(key in names for names in _in_force):
        return _read(environment, key)
    same = next((pair for pair in _PAIRS if key in pair), (key,))
    if any(_is_set(environment, name) for name in same):
        return _read(environment, key)
    return placeholder_for(key)
