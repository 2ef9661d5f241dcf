"""Which language models are known by name, and which of them are on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_judgesense.judges.local.models import MODELS, Model
from pytest_judgesense.questions.question import QuestionAnswer


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
