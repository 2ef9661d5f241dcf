"""A request to a provider, and a reply of a judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from pytest_judgesense.trial import Token, Usage

# What a judge has in place of a provider whose verdicts are made of those of others.
JURY: Final = "jury"
# What judges have in place of a provider: a Python function, a judgment log, or members.
NO_PROVIDERS: Final = ("callable", "log", JURY)


def provider_names(providers: Iterable[str]) -> list[str]:
    """What ``provider = "NAME"`` may be: one of ``providers``, or a Python function."""
    return sorted({"callable", *providers})


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it goes out; ``headers`` hold the key and are never recorded."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """A judge's reply, and the ``model`` that it names.

    Attributes:
        text: the reply; ``None`` where the endpoint gave none (a refusal, a filter, a budget
            that was spent on thinking).
        truncated: whether the endpoint cut it off at the token budget.
        refused: that and why the judge or a filter declined, in the endpoint's words.
        tokens: those of the reply with their likeliest alternatives, where the endpoint gives
            them; they need not join to the text.
    """

    text: str | None
    usage: Usage = Usage()
    truncated: bool = False
    refused: str | None = None
    model: str | None = None
    tokens: tuple[Token, ...] = ()
