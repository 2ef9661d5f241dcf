"""The embedded judge, or a language model of this machine, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.local.llama_server import served
from pytest_judgesense.judges.local.models import name_of
from pytest_judgesense.judges.simulated.endpoint import serving
from pytest_judgesense.judges.simulated.named_observers import PROFILES, observer_named
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.question import QuestionAnswer

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
