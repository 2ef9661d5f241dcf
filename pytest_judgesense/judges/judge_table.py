"""From a table ``[tool.judgesense.judges.<name>]``, or its settings in Python, to a judge."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from pytest_judgesense.cassettes.bodies import MOST_BYTES
from pytest_judgesense.cassettes.matching import is_of_the_prompt
from pytest_judgesense.errors import UsageError, did_you_mean, listed
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.judges.functions import refuse_python
from pytest_judgesense.judges.local import name_of
from pytest_judgesense.judges.providers.base import JURY, provider_names
from pytest_judgesense.judges.providers.builtin import BUILT_IN
from pytest_judgesense.judges.simulated.named_observers import observer_named
from pytest_judgesense.judges.spec import (
    DEFAULT_BUDGET,
    JudgeFunction,
    JudgeSpec,
    Jury,
    JuryRule,
    Prices,
    Prompts,
    Provider,
    Repair,
    table_of,
)
from pytest_judgesense.suites.schema import Number, Whole

# Replies of a model on this machine depend on a seed; calls share the processors.
_LOCAL: Final[Mapping[str, Any]] = {"seed": 0, "timeout_s": 600.0}
# A day: no call is waited for without end, and no timer takes an infinite number.
LONGEST_CALL_S: Final = 86_400.0
# What pydantic puts among the keys of a fault: the alternatives of a union.
_OF_PYDANTIC: Final = re.compile(
    r"_\w+|str|int|float|bool|constrained-\w+|function-\w+\[.*|literal\[.*|list\[.*|dict\[.*"
)


def _refuse_others(value: object) -> object:
    if value is not False:  # 0 is equal to it
        raise ValueError("not false, which sends none")
    return value


# In place of a setting that is not to be sent.
_NotSent = Annotated[Literal[False], BeforeValidator(_refuse_others)]


class _Form(BaseModel):
    # Built when a table is read: many judges have none.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class _File(_Form):
    file: str


class _PromptsForm(_Form):
    pairwise: str | _File | None = None
    strict: str | _File | None = None
    paraphrases: list[str | _File] | dict[str, list[str | _File]] | None = None


class _PricesForm(_Form):
    """USD per million tokens."""

    prompt: Number = Field(ge=0, allow_inf_nan=False)
    completion: Number = Field(ge=0, allow_inf_nan=False)


class _RepairForm(_Form):
    judge: str | None = None
    temperature: Annotated[Number, Field(ge=0, allow_inf_nan=False)] | _NotSent = 0.0


def _known_provider(value: str, info: ValidationInfo) -> str:
    names = provider_names(info.context or ())
    if value in names:
        return value
    raise ValueError(
        f"there is no provider {value!r}, but: {', '.join(names)}; -p loads plugins with more"
    )


def _ignorable(field: str) -> str:
    place, _, name = field.partition(".")
    if place not in ("body", "query") or not all(name.split(".")):
        raise ValueError(
            f"{field!r} is no field of a request: body.NAME of its JSON, deeper ones by more dots, "
            "or query.NAME of its URL"
        )
    if is_of_the_prompt(field):
        raise ValueError(
            f"{field!r} is the model or a part of the prompt: what changes there is another request"
        )
    return field


class _JudgeForm(_Form):
    provider: Annotated[str, AfterValidator(_known_provider)]
    model: str | None = None
    function: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: Annotated[Number, Field(ge=0, allow_inf_nan=False)] | _NotSent | None = 0.0
    max_tokens: Whole = Field(default=DEFAULT_BUDGET, ge=1)
    reasoning: str | Whole | None = None
    seed: Whole | _NotSent | None = None
    top_p: Annotated[Number, Field(gt=0, le=1)] | _NotSent | None = None
    system: str | None = None
    system_role: Annotated[bool, Strict()] = True
    timeout_s: Number = Field(default=120.0, gt=0, le=LONGEST_CALL_S)
    max_body_bytes: Whole = Field(default=MOST_BYTES, ge=1)
    max_retries: Whole = Field(default=5, ge=0)
    requests_per_minute: Number | None = Field(default=None, gt=0, allow_inf_nan=False)
    tokens_per_minute: Number | None = Field(default=None, gt=0, allow_inf_nan=False)
    structured: Annotated[bool, Strict()] | Literal["json"] | None = None
    threads: Whole | None = Field(default=None, ge=1)
    context: Whole | None = Field(default=None, ge=256)
    logprobs: Annotated[bool, Strict()] = False
    options: dict[str, Any] = {}
    concurrency: Whole | None = Field(default=None, ge=1)
    arguments: dict[str, str] = {}
    installed: Annotated[bool, Strict()] = False
    prompts: _PromptsForm = Field(default_factory=_PromptsForm)
    prices: _PricesForm | None = None
    repair: Annotated[bool, Strict()] | _RepairForm = False
    calls: Literal["http", "function"] = "http"
    code: Literal["recorded", "any"] = "recorded"
    ignore: list[Annotated[str, AfterValidator(_ignorable)]] = []
    was: str = ""

    @model_validator(mode="after")
    def _belongs_together(self, info: ValidationInfo) -> _JudgeForm:
        api: Provider | None = (info.context or {}).get(self.provider)
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
        elif self.installed:
            raise ValueError("installed is about a function's code: it is for a callable judge")
        elif self.calls != "http":
            raise ValueError('calls = "function" is for a callable judge: others make requests')
        elif self.code != "recorded":
            raise ValueError('code = "any" is for a callable judge: others have none')
        if self.provider == "azure" and self.base_url is None:
            raise ValueError(
                "an azure judge has base_url = https://NAME.openai.azure.com/openai/v1, with the "
                "name of your resource"
            )
        if self.structured and self.provider == "callable":
            raise ValueError(
                "structured is for judges that are asked over HTTP, not for a function"
            )
        if self.structured == "json" and not (api and api.chat_completions):
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
        if api and self.provider not in BUILT_IN:
            return self  # a plugin's provider validates its settings
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


class _JuryForm(_Form):
    """A judge whose verdicts are made of those of others."""

    members: list[str] = Field(min_length=2)
    rule: JuryRule | None = None
    quorum: Whole | None = Field(default=None, ge=1)
    was: str = ""

    @model_validator(mode="after")
    def _belongs_together(self) -> _JuryForm:
        if twice := sorted({name for name in self.members if self.members.count(name) > 1}):
            raise ValueError(f"{listed(map(repr, twice))} is named twice: a member has one vote")
        if self.quorum is not None and self.quorum > len(self.members):
            raise ValueError(
                f"quorum: {self.quorum} of {len(self.members)} members can never state a verdict"
            )
        return self


# The tables within a judge's table.
_FORMS: Final[Mapping[str, type[_Form]]] = {
    "prompts": _PromptsForm,
    "prices": _PricesForm,
    "repair": _RepairForm,
}


def _form_of(fault: Any, form: type[_Form]) -> type[_Form]:
    """The form of the table that a fault lies in, within a table of ``form``."""
    place = fault["loc"]
    return _FORMS.get(str(place[0]), form) if len(place) > 1 else form


def _said(fault: Any) -> str:
    """A fault of a table: its key, and what is wrong, without names of classes here."""
    keys = [key for key in map(str, fault["loc"]) if not _OF_PYDANTIC.fullmatch(key)]
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "extra_forbidden":
        message = "no such key"
    elif fault["type"] == "missing":
        message = "is missing"
    elif fault["type"] in ("model_type", "dict_type"):
        message = "has to be a table"
    return f"{'.'.join(keys)}: {message}" if keys else message


def judge_from_table(
    name: str,
    table: Mapping[str, Any],
    folder: Path,
    providers: Mapping[str, Provider] = BUILT_IN,
) -> JudgeSpec:
    """The judge of a table ``[tool.judgesense.judges.<name>]``, as read from TOML.

    ``{file = "..."}`` prompts are looked up in ``folder``; the table names one of ``providers``.

    Raises:
        UsageError: a key or a value is wrong; it lists the valid ones.
    """
    if "members" in table:
        return _jury_of(name, table)
    try:
        form = _JudgeForm.model_validate(table, context=providers)
    except ValidationError as error:
        raise _declared_wrongly(name, error, _JudgeForm) from error
    model = form.model or form.function or ""
    if form.provider == "embedded":
        observer_named(model)
    elif form.provider == "local":
        name_of(model)
    elif form.provider == "callable":
        refuse_python(name, model, model.partition(":")[0])
    resolved: dict[str, Any] = {"model": model, "prompts": _prompts(name, form.prompts, folder)}
    resolved["ignore"] = tuple(form.ignore)
    # Models that reason refuse a temperature of 0: unless one is asked for, none is sent.
    reasons = form.reasoning is not None and "temperature" not in form.model_fields_set
    if reasons or form.temperature is False:
        resolved["temperature"] = None
    # The embedded judge is deterministic for a seed: without one, all replicates would be equal.
    if form.provider == "embedded" and form.seed is None:
        resolved["seed"] = 0
    if form.provider == "local":
        resolved |= {key: _LOCAL[key] for key in _LOCAL.keys() - form.model_fields_set}
    repair = _RepairForm() if form.repair is True else form.repair
    resolved["repair"] = None
    if repair:
        temperature = None if repair.temperature is False else repair.temperature
        resolved["repair"] = Repair(repair.judge, temperature)
    if form.prices:
        resolved["prices"] = Prices(form.prices.prompt, form.prices.completion)
    settings = {key: getattr(form, key) for key in _JudgeForm.model_fields if key != "function"}
    api = providers.get(form.provider)
    return JudgeSpec(name=name, api=api, folder=folder, **settings | resolved)


def _declared_wrongly(name: str, error: ValidationError, form: type[_Form]) -> UsageError:
    """The error of a table of ``form`` that has faults."""
    faults = error.errors()
    within = _form_of(faults[0], form)
    keys = ", ".join(sorted(within.model_fields))
    of = "" if within is form else f" of {faults[0]['loc'][0]},"
    meant = [
        did_you_mean(str(fault["loc"][-1]), _form_of(fault, form).model_fields)
        for fault in faults
        if fault["type"] == "extra_forbidden"
    ]
    kind = "jury" if form is _JuryForm else "judge"
    return UsageError(
        f"{kind} {name!r} is declared wrongly",
        found="; ".join(map(_said, faults)),
        expected=f"the keys{of} {keys}",
        remedy="; ".join(filter(None, [f"fix {table_of(name)}", *meant])),
    )


def _jury_of(name: str, table: Mapping[str, Any]) -> JudgeSpec:
    """The jury of a table with ``members``, whose names are resolved later.

    Raises:
        UsageError: a key or a value is wrong; it lists the valid ones.
    """
    members = table["members"]
    given: list[JudgeSpec] = []
    if isinstance(members, list):
        given = [member for member in members if isinstance(member, JudgeSpec)]
        members = [m.name if isinstance(m, JudgeSpec) else m for m in members]
    try:
        form = _JuryForm.model_validate({**table, "members": members})
    except ValidationError as error:
        raise _declared_wrongly(name, error, _JuryForm) from error
    jury = Jury(tuple(form.members), form.rule, form.quorum, tuple(given))
    return JudgeSpec(name, JURY, ", ".join(form.members), jury=jury, was=form.was)


def declared_judge(
    name: str,
    function: JudgeFunction | None = None,
    source: Path | None = None,
    /,
    **settings: Any,
) -> JudgeSpec:
    """The judge that Python code declares, see `Judge`; ``source`` is the file of that code.

    Raises:
        UsageError: a setting is unknown or wrong.
    """
    if function is not None:
        called = getattr(function, "__qualname__", type(function).__qualname__)
        target = f"{getattr(function, '__module__', '?')}:{called}"
        # Code may give any function; a table may not name every one.
        table = {"provider": "callable", "model": "given:function", **settings}
        spec = judge_from_table(name, table, Path())
        model = target if "model" not in settings else spec.model
        return replace(spec, model=model, function=function, folder=None, source=source)
    provider, providers = settings.get("provider"), BUILT_IN
    if isinstance(provider, Provider):
        settings["provider"] = provider.name
        providers = {**BUILT_IN, provider.name: provider}
    return replace(judge_from_table(name, settings, Path(), providers), source=source)


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
            remedy=f"write it, or name another file in {table_of(name)}",
        ):
            text = read_text(path)
        files.append(path.resolve())
        return text

    texts = {} if form.paraphrases is None else form.paraphrases
    by_suite = {"*": texts} if isinstance(texts, list) else texts
    for values in by_suite.values():
        if not values:
            raise UsageError(
                f"prompts.paraphrases of judge {name!r} is empty",
                found="no wording",
                expected="the prompt; two or more wordings of it, where a suite compares them",
            )
    return Prompts(
        pairwise=None if form.pairwise is None else read(form.pairwise),
        strict=None if form.strict is None else read(form.strict),
        paraphrases={suite: tuple(map(read, values)) for suite, values in by_suite.items()},
        files=tuple(files),
    )
