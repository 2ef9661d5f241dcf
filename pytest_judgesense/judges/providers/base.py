"""The definition of a provider: from messages to a request, from a response to a reply.

Light on purpose: plugins that add a provider import it when pytest starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pytest_judgesense.errors import ExtensionError, JudgesenseError
from pytest_judgesense.trial import Failed, Token, Usage

if TYPE_CHECKING:
    from pytest_judgesense.judges.spec import JudgeSpec

_NAME: Final = re.compile(r"[a-z][a-z0-9_-]*")
# What judges have in place of a provider: a Python function, or a judgment log.
NO_PROVIDERS: Final = ("callable", "log")


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


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider, built in or added by a plugin; judges name it by ``provider = "NAME"``.

    It is asked by one request a trial, which is recorded and replayed: it never sees whether
    anybody is asked.

    Attributes:
        name: lower-case letters, digits, ``-`` and ``_``.
        build: from the judge with the suite's settings, base URL, key (``None`` without one),
            messages and seed (``None`` for none) to the request. The same arguments must give the
            same URL and body, because recordings are found by them. ``options`` of the judge are
            settings of this provider only.
        parse: from the status and the body of a response to the reply, or to `Failed`.
        default_base_url: where judges without ``base_url`` are asked.
        default_key_env: the environment variable with the key; empty if none is needed.
        hosts: other hosts that are the provider's own, as a regular expression: a judge's key may
            go there although the project alone says so.
        chat_completions: whether it is asked for OpenAI's chat completions: it then has JSON mode,
            and batch files can be written for it.
        source: the plugin that added it; set when it is added.

    Raises:
        ValueError: the name is not valid in ``NAME:model``, or there is no base URL.
    """

    name: str
    build: Callable[
        [JudgeSpec, str, str | None, Sequence[Mapping[str, str]], int | None], HttpRequest
    ]
    parse: Callable[[int, str], Reply | Failed]
    default_base_url: str
    default_key_env: str = ""
    hosts: str = ""
    chat_completions: bool = False
    source: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            msg = f"the name of a provider is like my-provider, not {self.name!r}"
            raise ValueError(msg)
        if not self.default_base_url.startswith(("http://", "https://")):
            msg = f"provider {self.name} has the base URL {self.default_base_url!r}, which is none"
            raise ValueError(msg)

    def request(
        self,
        spec: JudgeSpec,
        base_url: str,
        key: str | None,
        messages: Sequence[Mapping[str, str]],
        seed: int | None,
    ) -> HttpRequest:
        """The request that asks ``messages``.

        Raises:
            ExtensionError: the plugin gave none; it names the plugin.
        """
        try:
            made: object = self.build(spec, base_url, key, messages, seed)
        except JudgesenseError:
            raise
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # it may skip, or exit
            # Not its text: it may quote the key.
            raise self._error("cannot build a request", type(error).__name__) from error
        if not isinstance(made, HttpRequest):
            raise self._error("returned something that is not a request", type(made).__name__)
        return made

    def read(self, status: int, body: str) -> Reply | Failed:
        """The content of the response; `Failed` if the plugin could not parse it.

        Raises:
            ExtensionError: the plugin gave something else; it names the plugin.
        """
        if status == 206:
            return Failed("a partial response (HTTP 206) to a request for a whole one")
        try:
            found: object = self.parse(status, body)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever an endpoint sends is a failed call
            shown = " ".join(body.split())[:200]
            return Failed(
                f"HTTP {status}: {shown}"
                if status >= 300
                else f"provider {self.name} cannot read the response, {type(error).__name__}: "
                f"{shown}"
            )
        if not isinstance(found, Reply | Failed):
            raise self._error("returned something that is not a reply", type(found).__name__)
        if isinstance(found, Reply) and not isinstance(found.text, str | None):
            text = type(found.text).__name__
            raise self._error("returned a reply whose text is no text", f"text: {text}")
        return found

    def _error(self, what: str, found: str) -> ExtensionError:
        return ExtensionError(
            f"provider {self.name!r}{f' of plugin {self.source}' if self.source else ''} {what}",
            found=found,
            expected="an HttpRequest of build, and a Reply or Failed of parse",
            remedy="fix the plugin",
        )
