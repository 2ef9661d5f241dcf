"""Whom the calls of a trial go to, what they send, and what a response says.

A judge is asked on a line of its own. One whose malformed replies another judge repairs has a
second line, for that one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import urlsplit

from pytest_judgesense.cassettes.exchange import NO_RESPONSE, Exchange, as_bytes
from pytest_judgesense.cassettes.matching import is_loopback
from pytest_judgesense.errors import JudgeError
from pytest_judgesense.judges.embedded.server import serving
from pytest_judgesense.judges.resolving import key_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.statuses import kind_of_status
from pytest_judgesense.judges.traffic import Traffic
from pytest_judgesense.judges.wire import HttpRequest, Reply, wire_for
from pytest_judgesense.judgment import Failed, Usage

if TYPE_CHECKING:
    from pytest_judgesense.judges.connections import Connections

__all__ = ["Call", "Course", "Line", "fault_of", "line_of", "open_line", "request_of", "text_of"]

# Where the embedded judge stands in recordings: its port is an accident of the run.
_EMBEDDED_URL: Final = "http://127.0.0.1/v1"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a trial.

    Attributes:
        messages: what is asked.
        replicate: of the trial; its seed counts up with it.
        temperature: ``None`` for the judge's own.
        mends: whether it goes to whoever repairs the judge's replies.
    """

    messages: Sequence[Mapping[str, str]]
    replicate: int = 1
    temperature: float | None = None
    mends: bool = False


# The calls of a trial: each is given what came of it before the next one is said.
Course: TypeAlias = Generator[Call, Reply | Failed, None]


@dataclass(frozen=True, slots=True)
class Line:
    """Whom calls go to, and how.

    Attributes:
        spec: the judge.
        base_url: where it is asked.
        traffic: its calls so far.
        key: what it is asked with.
        connections: those to it; ``None`` where recordings answer.
        at: the judge at other temperatures than its own, as they come up.
    """

    spec: JudgeSpec
    base_url: str
    traffic: Traffic
    key: str | None = None
    connections: Connections | None = None
    at: dict[float, JudgeSpec] = field(default_factory=dict)

    def spec_of(self, call: Call) -> JudgeSpec:
        """The judge as the call asks it."""
        if call.temperature is None:
            return self.spec
        if call.temperature not in self.at:
            self.at[call.temperature] = replace(self.spec, temperature=call.temperature)
        return self.at[call.temperature]

    def request_of(self, call: Call) -> HttpRequest:
        """What the call sends."""
        return request_of(
            self.spec_of(call), call.messages, call.replicate, self.base_url, self.key
        )

    def read(self, found: Exchange) -> Reply | Failed:
        """What a recorded exchange says."""
        text = text_of(as_bytes(found.response.body))
        if found.response.status == NO_RESPONSE:
            return Failed(text)
        return wire_for(self.spec).read(found.response.status, text)

    def usd(self, usage: Usage) -> float | None:
        """What tokens cost; ``None`` where that is not known."""
        if self.spec.provider == "embedded":
            return 0.0
        prices = self.spec.prices
        if prices is None or usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        return (
            usage.prompt_tokens * prices.prompt + usage.completion_tokens * prices.completion
        ) / 1e6

    def cost(self, reply: Reply | Failed) -> float | None:
        """What a call has cost; ``None`` where the endpoint does not say and may charge it."""
        if isinstance(reply, Reply):
            return self.usd(reply.usage)
        return 0.0 if reply.reason.startswith("HTTP ") else None


def base_url_of(spec: JudgeSpec) -> str:
    if spec.provider == "embedded":
        return spec.base_url or _EMBEDDED_URL
    if spec.provider == "callable":
        return ""  # it asks whom it likes
    return spec.base_url or wire_for(spec).default_base_url


def request_of(
    spec: JudgeSpec,
    messages: Sequence[Mapping[str, str]],
    replicate: int = 1,
    base_url: str | None = None,
    key: str | None = None,
) -> HttpRequest:
    """What a judge with a provider is sent for ``messages``, at its own URL unless one is given."""
    seed = None if spec.seed is None or spec.seed is False else spec.seed + replicate - 1
    url = base_url_of(spec) if base_url is None else base_url
    return wire_for(spec).request(spec, url, key, messages, seed)


def fault_of(spec: JudgeSpec) -> Callable[[int, str | bytes], str | None]:
    """What is wrong with a response that holds no reply in spite of its status; see `CallScope`."""

    def fault(status: int, body: str | bytes) -> str | None:
        if kind_of_status(status) != "answer":
            return None  # the status says it
        reply = wire_for(spec).read(status, text_of(as_bytes(body)))
        return "no reply in the response" if isinstance(reply, Failed) else None

    return fault


def text_of(body: bytes) -> str:
    """The text of a body."""
    # JSON is UTF-8 whatever a header says; so a recorded answer reads like the one that came.
    return body.decode("utf-8", "replace")


def line_of(spec: JudgeSpec, traffic: Traffic) -> Line:
    """The line to a judge whom nobody asks: its recordings answer, or it is a function."""
    return Line(spec, base_url_of(spec), traffic, key_of(spec)[1])


async def open_line(
    stack: AsyncExitStack, spec: JudgeSpec, traffic: Traffic, concurrency: int
) -> Line:
    """The connections to a judge, and its server if it is the embedded one."""
    base_url = base_url_of(spec)
    name, key = key_of(spec)
    local = spec.provider == "embedded" or is_loopback(urlsplit(base_url).hostname or "")
    if key is None and name and not local:
        raise JudgeError(
            f"judge {spec.name!r} has no key to be asked with",
            found=f"no environment variable {name}",
            expected=f"the key of {base_url} in {name}",
            remedy=f"export {name}=..., or name another variable by api_key_env",
        )
    if spec.provider == "embedded" and spec.base_url is None:
        base_url = stack.enter_context(serving()).base_url
    # aiohttp and all that comes with it are for those who ask.
    from pytest_judgesense.judges.connections import Connections

    connections = Connections(concurrency, base_url, spec.timeout_s)
    await stack.enter_async_context(connections)
    return Line(spec, base_url, traffic, key, connections)
