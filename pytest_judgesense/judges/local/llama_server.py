"""A language model served by llama.cpp from inside this process, on 127.0.0.1.

The server is that of llama.cpp, in the wire format of OpenAI; the only door to it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from pytest_judgesense.errors import JudgeError
from pytest_judgesense.judges.local.models import PARALLEL_CALLS, file_of, name_of

CONTEXT: Final = 4096
# The server's log is silenced completely; faults are raised.
_SILENT: Final = -1


@contextmanager
def served(
    model: str, *, threads: int | None = None, context: int | None = None, port: int = 0
) -> Iterator[str]:
    """Serve ``model`` within the block; the base URL for a client.

    Args:
        model: a known name, or the path of a GGUF file.
        threads: that compute; ``None`` for `default_threads`.
        context: tokens that a prompt and its reply may have together; ``None`` for `CONTEXT`.
        port: where it listens; 0 for one that the system chooses.

    Raises:
        JudgeError: the model is missing or cannot be served, or the server is not installed.
        UsageError: no model of that name is known.
    """
    llama = _llama()
    path = file_of(model)
    parameters = llama.CommonParams()
    parameters.model.path = str(path)
    parameters.model_alias = {name_of(model)}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_parallel = PARALLEL_CALLS
    parameters.n_ctx = context or CONTEXT
    threads = threads or default_threads()
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.ui = False
    parameters.warmup = False
    parameters.verbosity = _SILENT
    try:
        server = llama.Server(parameters)
    except RuntimeError as error:
        raise JudgeError(
            f"the model {model} cannot be served",
            found=f"{error} ({path}{f', port {port}' if port else ''})",
            expected="a model in GGUF that llama.cpp knows, and a port that is free",
            remedy="try the file with llama.cpp itself, or take another model",
        ) from error
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server  # which ends it


def default_threads() -> int:
    """One fewer than the processors that this process may use, and at least one.

    The threads of a model spin while they wait for one another: where anything else runs, as the
    session itself does, one for each processor is several times slower.
    """
    if hasattr(os, "sched_getaffinity"):
        usable = len(os.sched_getaffinity(0))
    else:
        usable = os.cpu_count() or 1
    return max(1, usable - 1)


def _llama() -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise JudgeError(
            "a model on this machine cannot be asked",
            found=f"no llama.cpp in this environment: {error}",
            expected="the package xllamacpp; replaying recordings needs none",
            remedy="pip install 'pytest-judgesense[local]'",
        ) from error
    return xllamacpp
