"""A judge as declared: provider, model, decoding settings, prompts. Frozen."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from pytest_judgesense.cassettes.bodies import MOST_BYTES
from pytest_judgesense.errors import UsageError, unknown_name
from pytest_judgesense.files import read_text
from pytest_judgesense.judges.local.models import BY_NAME, JUDGES, name_of
from pytest_judgesense.judges.providers.base import PROVIDERS, SPEAK_OPENAI, Provider
from pytest_judgesense.judges.simulated.profiles import observer_named

# Of the messages, or of fields of a suite; its return is read as a reply (see `judges.functions`).
JudgeFunction: TypeAlias = Callable[..., Any]

# Replies of a model on this machine depend on a seed; calls share the processors.
_LOCAL: Final[Mapping[str, Any]] = {"seed": 0, "timeout_s": 600.0}
# A day: no call is waited for without end, and no timer takes an infinite number.
LONGEST_CALL_S: Final = 86_400.0
_NOT_IN_A_SLUG: Final = re.compile(r"[^A-Za-z0-9._-]+")
# Names of devices on Windows, in every folder and with any suffix.
_DEVICE: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Prices:
    """USD per million tokens."""

    prompt: Annotated[float, Field(ge=0)]
    completion: Annotated[float, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class Prompts:
    """A judge's own prompts; each replaces templates of the suites.

    Attributes:
        pairwise: replaces the templates that compare two texts, those of the strict arm excepted.
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
        spec: that other judge, once its name is resolved.
    """

    judge: str | None = None
    temperature: float = 0.0
    spec: JudgeSpec | None = None


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """Everything that makes a judge the judge that it is.

    Attributes:
        name: how the user calls it.
        provider: one of `PROVIDERS`, or the name of one that a plugin adds.
        model: model name, embedded profile, or ``package.module:function``.
        function: for ``callable`` judges given as a Python object.
        base_url: endpoint, without the path of the call; ``None`` for the provider's own.
        api_key_env: environment variable with the key; ``None`` for the provider's usual one.
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
        threads: that compute the replies of a ``local`` model; ``None`` for one a processor.
        context: tokens that a prompt and its reply may have together, of a ``local`` model;
            ``None`` for 4096.
        logprobs: whether the log-probabilities of the reply's tokens are asked for.
        options: settings that only a plugin's provider knows; part of the judge's identity.
        plugin_provider: that provider; ``None`` for a built-in one.
        concurrency: calls under way at once; ``None`` for the session's, and for one at a time
            where the judge is a synchronous function.
        arguments: ``callable``: by parameter of the function, the field of the suite that it is
            given; those that are called like a field need none.
        folder: where the judge is declared: its function is looked for there as well.
    """

    name: str
    provider: str
    model: str
    function: JudgeFunction | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = 0.0
    max_tokens: int = 256
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
    plugin_provider: Provider | None = field(default=None, repr=False)
    concurrency: int | None = None
    arguments: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    folder: Path | None = field(default=None, repr=False, compare=False)

    @property
    def gives_structure(self) -> bool:
        """Whether it is asked for structured output: as declared, else where it surely exists."""
        if self.structured is not None:
            return bool(self.structured)
        return self.provider in ("anthropic", "openai") and self.base_url is None

    @property
    def slug(self) -> str:
        """The name as in node ids and file names.

        Characters outside ``[A-Za-z0-9._-]`` become ``-``; then a digest keeps different names
        different. A name that is invalid for a folder on Windows is prefixed with ``judge-``.
        """
        clean = _NOT_IN_A_SLUG.sub("-", self.name).strip("-.") or "judge"
        if _DEVICE.fullmatch(clean):
            clean = f"judge-{clean}"
        if clean == self.name:
            return clean
        return f"{clean}-{hashlib.sha256(self.name.encode()).hexdigest()[:6]}"

    @property
    def settings(self) -> dict[str, Any]:
        """The decoding settings, for datasheets; they are part of the judge's identity."""
        optional = {
            "top_p": self.top_p,
            "structured": self.structured,
            "logprobs": self.logprobs or None,
            "repair": self.repair
            and {"judge": self.repair.judge, "temperature": self.repair.temperature},
            "options": dict(self.options) or None,
            "arguments": dict(self.arguments) or None,
        }
        return {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "reasoning": self.reasoning,
            "seed": self.seed,
            **{name: value for name, value in optional.items() if value is not None},
        }


class _Form(BaseModel):
    # Built when a table is read: many judges have none.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class _File(_Form):
    file: str


class _PromptsForm(_Form):
    pairwise: str | _File | None = None
    strict: str | _File | None = None
    paraphrases: list[str | _File] | dict[str, list[str | _File]] | None = None


class _RepairForm(_Form):
    judge: str | None = None
    temperature: float = Field(default=0.0, ge=0, allow_inf_nan=False)


def _known_provider(value: str, info: ValidationInfo) -> str:
    known = (*PROVIDERS, *sorted(info.context or ()))
    if value in known:
        return value
    raise ValueError(
        f"there is no provider {value!r}, but: {', '.join(known)}; -p loads plugins with more"
    )


class _JudgeForm(_Form):
    provider: Annotated[str, AfterValidator(_known_provider)]
    model: str | None = None
    function: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = Field(default=0.0, ge=0)
    max_tokens: int = Field(default=256, ge=1)
    reasoning: str | int | None = None
    seed: Annotated[int, Strict()] | Literal[False] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | Literal[False] | None = None
    system: str | None = None
    system_role: bool = True
    timeout_s: float = Field(default=120.0, gt=0, le=LONGEST_CALL_S)
    max_body_bytes: Annotated[int, Strict()] = Field(default=MOST_BYTES, ge=1)
    max_retries: int = Field(default=5, ge=0)
    requests_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    tokens_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    structured: Annotated[bool, Strict()] | Literal["json"] | None = None
    threads: Annotated[int, Strict()] | None = Field(default=None, ge=1)
    context: Annotated[int, Strict()] | None = Field(default=None, ge=256)
    logprobs: bool = False
    options: dict[str, Any] = {}
    concurrency: Annotated[int, Strict()] | None = Field(default=None, ge=1)
    arguments: dict[str, str] = {}
    prompts: _PromptsForm = Field(default_factory=_PromptsForm)
    prices: Prices | None = None
    repair: bool | _RepairForm = False

    @model_validator(mode="after")
    def _belongs_together(self) -> _JudgeForm:
        if self.provider == "callable":
            if ":" not in (self.model or self.function or ""):
                raise ValueError('a callable judge has model = "package.module:function"')
            if self.repair:
                raise ValueError(
                    "a callable judge brings its replies into form itself: repair is not for it"
                )
        elif self.model is None:
            raise ValueError("model is missing")
        elif self.arguments:
            raise ValueError("arguments are those of a function: they are for a callable judge")
        if self.provider == "azure" and self.base_url is None:
            raise ValueError(
                "an azure judge has base_url = https://NAME.openai.azure.com/openai/v1, with the "
                "name of your resource"
            )
        if self.structured and self.provider == "callable":
            raise ValueError(
                "structured is for judges that are asked over HTTP, not for a function"
            )
        if self.structured == "json" and self.provider not in SPEAK_OPENAI:
            raise ValueError(
                'structured = "json" is the JSON mode of OpenAI-compatible endpoints: structured = '
                f"true asks {self.provider} for its structured output"
            )
        if self.provider != "local" and (self.threads or self.context):
            raise ValueError("threads and context are for the provider local, which runs the model")
        if self.logprobs and self.provider in ("anthropic", "callable"):
            raise ValueError(
                f"logprobs is for OpenAI-compatible endpoints, which state them; {self.provider} "
                "has none"
            )
        if self.provider not in PROVIDERS:
            return self  # a plugin's provider validates its own settings
        if self.options:
            raise ValueError(f"options are for the provider of a plugin, not for {self.provider}")
        kind = {"openai": str, "anthropic": int}.get(self.provider)
        if self.reasoning is not None and type(self.reasoning) is not kind:
            raise ValueError(
                'reasoning is a word for openai ("low"), a number of tokens for anthropic'
            )
        if isinstance(self.reasoning, int) and not 0 < self.reasoning < self.max_tokens:
            raise ValueError("reasoning leaves tokens for the answer: it is below max_tokens")
        return self


def judge_from_table(
    name: str,
    table: Mapping[str, Any],
    folder: Path,
    providers: Mapping[str, Provider] = MappingProxyType({}),
) -> JudgeSpec:
    """The judge of a table ``[tool.judgesense.judges.<name>]``, as read from TOML.

    ``{file = "..."}`` prompts are looked up in ``folder``; ``providers`` are those of plugins.

    Raises:
        UsageError: a key or a value is wrong; it lists the valid ones.
    """
    try:
        form = _JudgeForm.model_validate(table, context=providers)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc'])) or 'table'}: {problem['msg']}"
            for problem in error.errors()
        )
        raise UsageError(
            f"judge {name!r} is declared wrongly",
            found=problems,
            expected="the keys " + ", ".join(sorted(_JudgeForm.model_fields)),
            remedy=f"fix [tool.judgesense.judges.{name}]",
        ) from error
    model = form.model or form.function or ""
    if form.provider == "embedded":
        observer_named(model)
    elif form.provider == "local":
        name_of(model)
    resolved: dict[str, Any] = {"model": model, "prompts": _prompts(name, form.prompts, folder)}
    # Models that reason refuse a temperature of 0: unless one is asked for, none is sent.
    if form.reasoning is not None and "temperature" not in form.model_fields_set:
        resolved["temperature"] = None
    # The embedded judge is deterministic for a seed: without one, all replicates would be equal.
    if form.provider == "embedded" and form.seed is None:
        resolved["seed"] = 0
    if form.provider == "local":
        resolved |= {key: _LOCAL[key] for key in _LOCAL.keys() - form.model_fields_set}
    repair = _RepairForm() if form.repair is True else form.repair
    resolved["repair"] = Repair(repair.judge, repair.temperature) if repair else None
    settings = {key: getattr(form, key) for key in _JudgeForm.model_fields if key != "function"}
    plugged = providers.get(form.provider)
    return JudgeSpec(name=name, plugin_provider=plugged, folder=folder, **settings | resolved)


def Judge(name: str, function: JudgeFunction | None = None, **settings: Any) -> JudgeSpec:
    """A judge, to be returned from ``pytest_judgesense_judges`` in a ``conftest.py``.

    Args:
        name: how tests and reports call it.
        function: any function, sync or async. It takes the messages (a list of ``{"role": ...,
            "content": ...}``), or fields of the suite by the names of its parameters or by
            ``arguments``; it returns a text, a label, a bool, an Enum, a number or a dictionary.
        settings: the keys of a table ``[tool.judgesense.judges.<name>]``; ``provider`` may be a
            `Provider` itself.

    Raises:
        UsageError: a setting is unknown or wrong.
    """
    if function is not None:
        called = getattr(function, "__qualname__", type(function).__qualname__)
        target = f"{getattr(function, '__module__', '?')}:{called}"
        table = {"provider": "callable", "model": target, **settings}
        return replace(judge_from_table(name, table, Path()), function=function, folder=None)
    provider = settings.get("provider")
    if isinstance(provider, Provider):
        named = {**settings, "provider": provider.name}
        return judge_from_table(name, named, Path(), {provider.name: provider})
    return judge_from_table(name, settings, Path())


def comes_along(judge: JudgeSpec) -> bool:
    """Whether the judge is exactly a language model with shipped recordings."""
    return judge.name in JUDGES and judge == judge_from_name(judge.name)


def judge_from_name(
    name: str, providers: Mapping[str, Provider] = MappingProxyType({})
) -> JudgeSpec:
    """The judge of a ``provider:model`` name with default settings; `UsageError` otherwise.

    An embedded judge has the name of its profile, which is its whole identity; a local judge has
    that of its model, and can be selected by it.
    """
    if name in JUDGES:
        model, more = JUDGES[name]
        known = {"provider": "local", "model": model, **BY_NAME, **more}
        spec = judge_from_table(name, known, Path(), providers)
        return replace(spec, called=f"local:{name}" if name == model else name)
    provider, _, model = name.partition(":")
    if (provider not in PROVIDERS and provider not in providers) or not model:
        asked = [*PROVIDERS, *providers]
        raise unknown_name("judge or provider", name, [f"{one}:MODEL" for one in asked])
    table: dict[str, Any] = {"provider": provider, "model": model}
    shown = name
    if provider == "embedded":
        shown = model
    elif provider == "local":
        shown, table = name_of(model), {**table, **BY_NAME}
    spec = judge_from_table(shown, table, Path(), providers)
    return replace(spec, called=name)


def _prompts(name: str, form: _PromptsForm, folder: Path) -> Prompts:
    files: list[Path] = []

    def read(value: str | _File) -> str:
        if isinstance(value, str):
            return value
        path = folder / value.file
        with UsageError.instead_of(
            (OSError, UnicodeDecodeError),
            f"a prompt of judge {name!r} cannot be read",
            expected=f"a text file in UTF-8 at {path}",
        ):
            text = read_text(path)
        files.append(path.resolve())
        return text

    given = form.paraphrases or {}
    by_suite = {"*": given} if isinstance(given, list) else given
    for values in by_suite.values():
        if len(values) < 2:
            raise UsageError(
                f"prompts.paraphrases of judge {name!r} has nothing to compare",
                found=f"{len(values)} wording",
                expected="two or more wordings of the same prompt",
            )
    return Prompts(
        pairwise=None if form.pairwise is None else read(form.pairwise),
        strict=None if form.strict is None else read(form.strict),
        paraphrases={suite: tuple(map(read, values)) for suite, values in by_suite.items()},
        files=tuple(files),
    )


def prompts_digest(texts: Mapping[str, Any]) -> str:
    """A short digest of the prompts that were in use, by suite."""
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:12]
