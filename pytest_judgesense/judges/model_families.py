"""Families of models, by their names: is a judge of one family with who wrote what it judges?

Models of one family share their makers and much of their training, and judges prefer texts of their
own kind: A. Panickssery, S. R. Bowman, S. Feng (2024), "LLM Evaluators Recognize and Favor Their
Own Generations", NeurIPS 37, https://arxiv.org/abs/2404.13076.

A name is known by how a part of it begins: ``openai/gpt-4o-mini`` and ``GPT 4o`` by ``gpt``. Names
that are not in the table are of no known family: nothing is guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import SYSTEM


class ModelFamily(NamedTuple):
    """Models of one maker that are called alike.

    Attributes:
        name: the family, with its maker.
        beginnings: how a part of such a model's name begins, in lower case.
        unless: parts of names that begin so and are models of others.
    """

    name: str
    beginnings: tuple[str, ...]
    unless: tuple[str, ...] = ()


# How names of models begin; beside each maker stands its list of models.
FAMILIES: Final = (
    ModelFamily(
        "GPT (OpenAI)",
        ("gpt", "chatgpt", "o1", "o3", "o4", "davinci"),
        # https://platform.openai.com/docs/models
        unless=("j", "neo", "neox"),
    ),
    ModelFamily(
        "Claude (Anthropic)",
        ("claude",),
        # https://docs.anthropic.com/en/docs/about-claude/models
    ),
    ModelFamily(
        "Gemini and Gemma (Google)",
        ("gemini", "gemma", "palm"),
        # https://ai.google.dev/gemini-api/docs/models
    ),
    ModelFamily(
        "Llama (Meta)",
        ("llama", "codellama"),
        # https://www.llama.com/docs/model-cards-and-prompt-formats
    ),
    ModelFamily(
        "Mistral (Mistral AI)",
        ("mistral", "mixtral", "ministral", "codestral", "magistral", "pixtral", "devstral"),
        # https://docs.mistral.ai/getting-started/models
    ),
    # https://qwen.readthedocs.io
    ModelFamily("Qwen (Alibaba)", ("qwen", "qwq")),
    # https://api-docs.deepseek.com
    ModelFamily("DeepSeek (DeepSeek)", ("deepseek",)),
    # https://docs.cohere.com/docs/models
    ModelFamily("Command (Cohere)", ("command", "aya")),
    # https://docs.x.ai/docs/models
    ModelFamily("Grok (xAI)", ("grok",)),
    # https://huggingface.co/microsoft
    ModelFamily("Phi (Microsoft)", ("phi",)),
    # https://docs.aws.amazon.com/nova
    ModelFamily("Nova (Amazon)", ("nova",)),
    # https://huggingface.co/HuggingFaceTB
    ModelFamily("SmolLM (Hugging Face)", ("smollm",)),
)
# Fields that say who wrote what is judged, beside those that make groups.
AUTHORS: Final = ("author", "author_1", "author_2", "model")
_PARTS: Final = re.compile(r"[^a-z0-9]+")
# What may follow a beginning: a version, as in gpt4 and phi3, or nothing.
_VERSION: Final = re.compile(r"[0-9]*[a-z]?")


@lru_cache(maxsize=1024)  # items are many, and their authors few
def family_of(model: str) -> ModelFamily | None:
    """The family of a model by its name; ``None`` if it is not known.

    A route before the name, such as ``openrouter/meta-llama/``, is no part of it; the first part of
    it that is known decides.
    """
    parts = _PARTS.split(model.lower().rpartition("/")[2])
    for part in parts:
        for family in FAMILIES:
            if _begins(part, family) and not {*family.unless} & {*parts}:
                return family
    return None


def _begins(part: str, family: ModelFamily) -> bool:
    return any(
        part.startswith(beginning) and _VERSION.fullmatch(part.removeprefix(beginning))
        for beginning in family.beginnings
    )


def family_notices(suite: Suite, judge: str, models: Iterable[str]) -> Iterator[str]:
    """What a reader must know where a judge and authors of items are of one family.

    Args:
        suite: that was judged.
        judge: its name.
        models: what the judge is called: the model that is asked for, and those that replied.
    """
    of_judge = {family: model for model in models if (family := family_of(model)) is not None}
    if not of_judge:
        return
    by_item = [{author: family_of(author) for author in _authors(item)} for item in suite.items]
    for family, model in of_judge.items():
        written = [
            sorted(author for author, of_author in authors.items() if of_author == family)
            for authors in by_item
        ]
        if count := sum(map(bool, written)):
            most = Counter(chain.from_iterable(written)).most_common(1)[0][0]
            yield (
                f"{suite.name}: judge {judge} ({model}) is of one family, {family.name}, with who "
                f"wrote {count} of {len(suite.items)} items ({most}), and models favour texts of "
                "their own kind: compare authors by groups under [stimuli]"
            )


def _authors(item: Item) -> set[str]:
    """What an item says of who wrote it."""
    named = (item.fields.get(field, "") for field in AUTHORS)
    produced_by = str(item.condition.get(SYSTEM, ""))
    return {text.strip() for text in (*named, produced_by, *item.groups.values()) if text.strip()}
