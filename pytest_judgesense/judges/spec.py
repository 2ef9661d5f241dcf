"""A judge as declared: provider, model, decoding settings, prompts; and what a provider is. Frozen.

A provider builds the requests of such judges, so the two are declared together. Light on purpose:
plugins that add a provider import it when pytest starts.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from pytest_judgesense.cassettes.bodies import MOST_BYTES
from pytest_judgesense.errors import ExtensionError, JudgesenseError, UsageError, listed, told_apart
from pytest_judgesense.judges.providers.base import JURY, HttpRequest, Reply
from pytest_judgesense.trial import Failed

# Of the messages, or of fields of a suite; its return is read as a reply (see `judges.functions`).
JudgeFunction: TypeAlias = Callable[..., Any]

# Tokens of a reply, for judges that declare no number.
DEFAULT_BUDGET: Final = 256
# Judges that cost nothing: of providers that run on this machine, and juries, of which the members
# are paid for.
FREE: Final = ("embedded", "local", JURY)
_PROVIDER_NAME: Final = re.compile(r"[a-z][a-z0-9_-]*")
_NOT_IN_A_SLUG: Final = re.compile(r"[^A-Za-z0-9._-]+")
# Names of devices on Windows, in every folder and with any suffix.
_LONGEST_SLUG: Final = 120
_DEVICE: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


class Prices(NamedTuple):
    """USD per million tokens."""

    prompt: float
    completion: float


@dataclass(frozen=True, slots=True)
class Prompts:
    """A judge's prompts; each replaces templates of the suites.

    Attributes:
        pairwise: replaces the template that compares two texts, those of the strict arm excepted;
            where a suite compares several wordings, ``paraphrases`` replace them.
        strict: replaces those of the strict arm.
        paraphrases: by suite name, the wordings that replace all templates of that suite; under the
            key ``*`` for every suite that compares wordings and is not named.
        files: those that they were read from, links resolved.
    """

    pairwise: str | None = None
    strict: str | None = None
    paraphrases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: tuple[Path, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Repair:
    """Who brings the malformed replies of a judge into form.

    Attributes:
        judge: another judge, by its declared name or as ``provider:model``; ``None``: the same.
        temperature: of the repair; ``None`` sends none.
        spec: that other judge, once its name is resolved.
    """

    judge: str | None = None
    temperature: float | None = 0.0
    spec: JudgeSpec | None = None


# How the verdicts of a jury's members make its own.
JuryRule: TypeAlias = Literal["majority", "mean"]


@dataclass(frozen=True, slots=True)
class Jury:
    """Judges whose verdicts make one, see `judges.jury`.

    Attributes:
        members: their names, as declared or as ``provider:model``.
        rule: ``None`` for the one that fits a suite: the mean of grades and scores, else the
            majority.
        quorum: how many of them must state a verdict; ``None`` for all.
        judges: the members that are known: all of them once their names are resolved, before that
            those that Python code has given.
    """

    members: tuple[str, ...]
    rule: JuryRule | None = None
    quorum: int | None = None
    judges: tuple[JudgeSpec, ...] = ()

    @property
    def least(self) -> int:
        """How many members must state a verdict."""
        return len(self.members) if self.quorum is None else self.quorum


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """Everything that makes a judge the judge that it is.

    Attributes:
        name: how the user calls it.
        provider: the name of one, built in or added by a plugin; ``callable`` for a function.
        model: model name, embedded profile, or ``package.module:function``.
        function: for ``callable`` judges given as a Python object.
        base_url: endpoint, without the path of the call; ``None`` for the provider's default.
        api_key_env: environment variable with the key; ``None`` for the provider's usual one.
        temperature: ``None`` sends none, which a table says by ``false``.
        reasoning: how much the judge may think first: a word for ``openai``
            (``reasoning_effort``), tokens for ``anthropic`` (``thinking``); ``None`` sends nothing.
        seed: request seed of the first replicate, later ones count up; ``None`` sends none unless a
            suite asks for seeds, ``False`` never sends one.
        top_p: share of the probability that a reply is drawn from; ``None`` and ``False`` as above.
        system: replaces the suites' system prompt; ``None`` keeps it.
        system_role: ``False`` puts the system prompt at the beginning of the user turn.
        timeout_s: seconds until a call counts as failed, from its beginning to the last byte of its
            answer, or to the return of a function.
        max_body_bytes: the most that the body of an answer may have, on the wire and decoded.
        max_retries: how often a call is made again after a fault that may pass.
        requests_per_minute: the most calls in any minute; ``None`` sets no limit.
        tokens_per_minute: the most tokens in any minute, a call counted before it is made: a
            quarter of its characters, and ``max_tokens``.
        called: the argument of ``--judge-name`` for it, if not the name.
        structured: ``True``: all suites except temperature sweeps ask for structured output with a
            JSON schema; ``"json"``: in JSON mode, for endpoints without schemas; ``None``: only
            suites whose replies are JSON ask for it, and only at the provider's own endpoint.
        reply_schema: the JSON schema of the reply that is asked for; set by the suite.
        repair: who brings malformed replies into form; ``None`` leaves them as they are.
        threads: that compute the replies of a ``local`` model; ``None`` for one
            fewer than the processors, and at least one.
        context: tokens that a prompt and its reply may have together, of a ``local`` model;
            ``None`` for 4096, or what the longest prompt of a suite needs.
        logprobs: whether the log-probabilities of the reply's tokens are asked for.
        options: settings that only a plugin's provider knows; part of the judge's identity.
        api: that provider; ``None`` for the built-in one of this name, and for a function.
        concurrency: calls under way at once; ``None`` for the session's, and for one at a time
            where the judge is a synchronous function.
        arguments: ``callable``: by parameter of the function, the field of the suite that it is
            given; those that are called like a field need none.
        folder: ``callable``: the folder of its project, where it is declared: code there is judged.
        installed: ``callable``: its code is what is installed, and not the project's.
        calls: ``callable``: what is recorded of it: its requests (``http``), or only what it
            returns (``function``), and then a replay does not run it.
        code: ``callable``: ``any`` takes what it returned without a request whatever its code is
            now; ``recorded`` only of the code that it came from.
        source: the file of the Python code that declares the judge; ``None`` of a table's.
        ignore: fields of its requests that change on each run, as ``body.user`` or ``query.t``:
            two requests that differ in these alone are the same.
        was: the name of the judge that it takes the place of, by which its recordings stand at
            earlier revisions; empty for none.
        jury: whose verdicts make those of a ``jury``, which is never asked itself; ``None`` for a
            judge that is.
    """

    name: str
    provider: str
    model: str
    function: JudgeFunction | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = 0.0
    max_tokens: int = DEFAULT_BUDGET
    reasoning: str | int | None = None
    seed: int | Literal[False] | None = None
    top_p: float | Literal[False] | None = None
    system: str | None = None
    system_role: bool = True
    timeout_s: float = 120.0
    max_body_bytes: int = MOST_BYTES
    max_retries: int = 5
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    prompts: Prompts = Prompts()
    prices: Prices | None = None
    called: str | None = None
    structured: bool | Literal["json"] | None = None
    reply_schema: Mapping[str, Any] | None = None
    repair: Repair | None = None
    threads: int | None = None
    context: int | None = None
    logprobs: bool = False
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    api: Provider | None = field(default=None, repr=False)
    concurrency: int | None = None
    arguments: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    folder: Path | None = field(default=None, repr=False, compare=False)
    installed: bool = False
    calls: Literal["http", "function"] = "http"
    code: Literal["recorded", "any"] = "recorded"
    source: Path | None = field(default=None, repr=False, compare=False)
    ignore: tuple[str, ...] = ()
    was: str = field(default="", compare=False)
    jury: Jury | None = None

    @property
    def members(self) -> tuple[JudgeSpec, ...]:
        """The judges whose verdicts make its own; none of a judge that is asked itself."""
        return self.jury.judges if self.jury else ()

    @property
    def asked_judges(self) -> tuple[JudgeSpec, ...]:
        """Who is asked: its members, or it alone."""
        return self.members or (self,)

    @property
    def by_return(self) -> bool:
        """Whether a function is recorded by what it returns alone, whatever it asks."""
        return self.calls == "function"

    @property
    def gives_structure(self) -> bool:
        """Whether it is asked for structured output: as declared, else where it surely exists."""
        if self.structured is not None:
            return bool(self.structured)
        return self.provider in ("anthropic", "openai") and self.base_url is None

    @property
    def slug(self) -> str:
        """The name as in node ids and file names, see `slug_of`."""
        return slug_of(self.name)

    @property
    def settings(self) -> dict[str, Any]:
        """The decoding settings, for datasheets; they are part of the judge's identity.

        Of a jury, whose members have such settings, its rule and its quorum.
        """
        if self.jury is not None:
            return {"rule": self.jury.rule, "quorum": self.jury.least}
        optional = {
            "top_p": self.top_p,
            "structured": self.structured,
            "logprobs": self.logprobs or None,
            "repair": self.repair
            and {"judge": self.repair.judge, "temperature": self.repair.temperature},
            "options": dict(self.options) or None,
            "arguments": dict(self.arguments) or None,
            "calls": self.calls if self.by_return else None,
            "code": self.code if self.code == "any" else None,
            "ignore": list(self.ignore) or None,
        }
        return {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "reasoning": self.reasoning,
            "seed": self.seed,
            **{name: value for name, value in optional.items() if value is not None},
        }


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
        if not _PROVIDER_NAME.fullmatch(self.name):
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
            request: object = self.build(spec, base_url, key, messages, seed)
        except JudgesenseError:
            raise
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # it may skip, or exit
            # Not its text: it may quote the key.
            raise self._error("cannot build a request", type(error).__name__) from error
        if not isinstance(request, HttpRequest):
            raise self._error("returned something that is not a request", type(request).__name__)
        return request

    def read(self, status: int, body: str) -> Reply | Failed:
        """The content of the response; `Failed` if the plugin could not parse it.

        Raises:
            ExtensionError: the plugin gave something else; it names the plugin.
        """
        if status == 206:
            return Failed("a partial response (HTTP 206) to a request for a whole one")
        try:
            reply: object = self.parse(status, body)
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
        if not isinstance(reply, Reply | Failed):
            raise self._error("returned something that is not a reply", type(reply).__name__)
        if isinstance(reply, Reply) and not isinstance(reply.text, str | None):
            text = type(reply.text).__name__
            raise self._error("returned a reply whose text is no text", f"text: {text}")
        return reply

    def _error(self, fault: str, present: str) -> ExtensionError:
        return ExtensionError(
            f"provider {self.name!r}{f' of plugin {self.source}' if self.source else ''} {fault}",
            found=present,
            expected="an HttpRequest of build, and a Reply or Failed of parse",
            remedy="fix the plugin",
        )


def refuse_jury(judge: JudgeSpec, what: str) -> None:
    """Raise `UsageError` if a judge is a jury; ``what`` cannot be done with one."""
    if judge.jury is not None:
        raise UsageError(
            f"{what}: {judge.name!r} is a jury",
            found=f"its verdicts are made of those of {listed(judge.jury.members)}",
            expected="a judge that is asked itself",
            remedy="name one of its members",
        )


def table_of(name: str) -> str:
    """The head of a judge's table in ``pyproject.toml``, as TOML writes it."""
    key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)
    return f"[tool.judgesense.judges.{key}]"


def prompts_digest(texts: Mapping[str, Any]) -> str:
    """A short digest of the prompts that were in use, by suite."""
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:12]


def slug_of(name: str) -> str:
    """The name of a judge as in node ids and file names.

    Characters outside ``[A-Za-z0-9._-]`` become ``-``; then a digest keeps different names
    different, as it does behind what is cut off: folders have names of at most 255 bytes. One that
    is invalid for a folder on Windows is prefixed with ``judge-``.
    """
    clean = _NOT_IN_A_SLUG.sub("-", name).strip("-.") or "judge"
    if _DEVICE.fullmatch(clean):
        clean = f"judge-{clean}"
    return told_apart(clean[:_LONGEST_SLUG], name)
