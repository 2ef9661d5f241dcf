"""The datasheet as a value. Frozen; merged from parts.

A part (`SuiteSheet`) is one judge on one suite. Parts come from one process or from several; the
sheet that they merge to depends on their content alone, not on the order in which they came.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.trial import Failed, Judgment

# Settings that change what a judge can say, beside its prompts and its temperature.
_BUDGETS: Final = ("max_tokens", "reasoning")


@dataclass(frozen=True, slots=True)
class Calls:
    """Trials asked and replayed, and their tokens.

    Attributes:
        made: trials asked in this session.
        replayed: trials answered by a recording.
        retried: calls repeated after a fault.
        failed: trials without a reply.
        prompt_tokens: as the endpoint counted them; ``None`` where it did not.
        cost_usd: by the judge's prices; ``None`` without prices.
    """

    made: int = 0
    replayed: int = 0
    retried: int = 0
    failed: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None

    @classmethod
    def of(cls, judgments: Sequence[Judgment], *, made: int = 0, retried: int = 0) -> Calls:
        """The calls behind ``judgments``, of which ``made`` were asked and the rest replayed."""
        usages = [judgment.usage for judgment in judgments]
        prompt = [u.prompt_tokens for u in usages if u.prompt_tokens is not None]
        completion = [u.completion_tokens for u in usages if u.completion_tokens is not None]
        return cls(
            made=made,
            replayed=len(judgments) - made,
            retried=retried,
            failed=sum(isinstance(judgment.outcome, Failed) for judgment in judgments),
            prompt_tokens=sum(prompt) if prompt else None,
            completion_tokens=sum(completion) if completion else None,
        )

    def __add__(self, other: Calls) -> Calls:
        def both(name: str) -> Any:
            a, b = getattr(self, name), getattr(other, name)
            return b if a is None else a if b is None else a + b

        return Calls(**{one.name: both(one.name) for one in fields(self)})


@dataclass(frozen=True, slots=True)
class CheckLine:
    """A check with its outcome, as the datasheet holds it.

    Attributes:
        check: the check as node ids show it.
        bar: a number, or the named bars of a composite check.
        outcome: ``pass``, ``fail`` or ``inconclusive``.
        policy: ``estimate`` or ``confident``.
        explanation: the finding, in one line.
        condition: of the estimate that it gates.
        warnings: what would settle a close call.
    """

    check: str
    measure: str
    suite: str
    bar: float | Mapping[str, float]
    outcome: str
    policy: str
    explanation: str
    condition: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SuiteSheet:
    """One judge on one suite.

    Attributes:
        judge: the judge's name as files and node ids have it.
        prompts: the prompts that were in use, by suite; empty for a judgment log.
        suite_digest: ``None`` for a judgment log.
        served: models that the replies named.
        recorded: when the first and the last exchange were recorded.
        analyses: tables beside the estimates, plain values: ``{"analysis", "suite", "rows"}``.
        material: the plain values that a comparison of judges needs.
    """

    judge: str
    suite: str
    identity: Mapping[str, Any]
    prompts: Mapping[str, Any]
    suite_digest: str | None
    served: tuple[str, ...]
    recorded: tuple[str, str] | None
    estimates: tuple[Estimate, ...]
    calls: Calls
    checks: tuple[CheckLine, ...] = ()
    notices: tuple[str, ...] = ()
    analyses: tuple[Mapping[str, Any], ...] = ()
    material: Mapping[str, Any] | None = None

    @property
    def prompts_digest(self) -> str | None:
        """A short digest of the prompts; ``None`` where they are not known."""
        return digest(dict(self.prompts)) if self.prompts else None

    def with_checks(self, checks: Iterable[CheckLine]) -> SuiteSheet:
        """The same with these outcomes as well; the same check stands once."""
        known = {(line.check, line.suite): line for line in (*self.checks, *checks)}
        return replace(self, checks=tuple(known[key] for key in sorted(known)))


@dataclass(frozen=True, slots=True)
class JudgeSheet:
    """One judge on all suites that it was measured on, in alphabetical order."""

    judge: str
    identity: Mapping[str, Any]
    parts: tuple[SuiteSheet, ...]

    @property
    def name(self) -> str:
        """The judge as people call it."""
        return str(self.identity.get("name") or self.judge)

    @property
    def prompts(self) -> str | None:
        """A short digest of the prompts that were in use; ``None`` where they are not known."""
        return prompts_digest({part.suite: part.prompts_digest for part in self.parts})

    @property
    def changed(self) -> list[str]:
        """A notice where suites of the judge were answered by different models."""
        return changed_between({part.suite: part.served for part in self.parts})

    @property
    def calls(self) -> Calls:
        """The calls of all suites."""
        return sum((part.calls for part in self.parts), Calls())

    @property
    def recorded(self) -> tuple[str, str] | None:
        """When the first and the last exchange of all suites were recorded."""
        spans = [part.recorded for part in self.parts if part.recorded]
        return (min(a for a, _ in spans), max(b for _, b in spans)) if spans else None

    @property
    def served(self) -> tuple[str, ...]:
        """Models that the replies named."""
        return tuple(sorted({model for part in self.parts for model in part.served}))

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """The estimates of all suites."""
        return tuple(estimate for part in self.parts for estimate in part.estimates)

    @property
    def checks(self) -> tuple[CheckLine, ...]:
        """The checks of all suites."""
        return tuple(line for part in self.parts for line in part.checks)

    @property
    def analyses(self) -> tuple[Mapping[str, Any], ...]:
        """The tables of all suites."""
        return tuple(analysis for part in self.parts for analysis in part.analyses)


def state_of(mode: str, calls: Calls) -> str:
    """How judgments came: ``REPLAYED``, ``FRESH``, ``PARTLY FRESH`` or ``FROM LOGS``.

    A recording session asks what is missing: its judgments may be of both kinds.
    """
    if mode == "report":
        return "FROM LOGS"
    if mode == "live":
        return "FRESH"  # what a worker has asked, others find answered
    if not calls.made:
        return "REPLAYED"
    return "PARTLY FRESH" if calls.replayed else "FRESH"


def changed_within(model: str, served: Mapping[str, int]) -> list[str]:
    """A notice where the replies of one suite name several models, and so the judge has changed.

    A reply may name another model than was asked for: ``gpt-x`` is an alias of
    ``gpt-x-2026-01-01``.

    Args:
        model: the model that was asked for.
        served: how many replies name each model.
    """
    if len(served) < 2:
        return []
    models = " and ".join(f"{name} ({served[name]} replies)" for name in sorted(served))
    notice = f"the model behind {model} changed under this recording, its replies name {models}"
    return [f"{notice}: they do not describe one judge, record it anew"]


def changed_between(served: Mapping[str, Sequence[str]]) -> list[str]:
    """A notice where suites of one judge were answered by different models.

    Args:
        served: models that the replies named, by suite; suites without any are left out.
    """
    named = {suite: tuple(models) for suite, models in served.items() if models}
    if len(set(named.values())) < 2:
        return []
    answered = "; ".join(f"{suite} by {' and '.join(models)}" for suite, models in named.items())
    notice = f"the suites were answered by different models, {answered}"
    return [f"{notice}: they do not describe one judge, record them anew together"]


def setting_notices(identities: Iterable[Mapping[str, Any]]) -> list[str]:
    """A notice where judges of one run differ in a budget, which alone may set them apart.

    The budgets of callables and of judges of logs are unknown: they are left out.
    """
    known = [one for one in identities if one.get("provider") not in ("callable", "log")]
    notices = []
    for setting in _BUDGETS:
        by_value: dict[str, list[str]] = {}
        for identity in known:
            value = identity.get(setting)
            shown = "none" if value is None else str(value)
            by_value.setdefault(shown, []).append(str(identity.get("name")))
        if len(by_value) > 1:
            values = sorted(by_value, key=lambda one: (len(one), one))
            groups = "; ".join(f"{one}: {', '.join(by_value[one])}" for one in values)
            notices.append(
                f"the judges compared differ in {setting} ({groups}): it belongs to what a judge "
                "is, and may be all that sets them apart"
            )
    return notices


def prompts_digest(by_suite: Mapping[str, str | None]) -> str | None:
    """A short digest of the prompts of all suites; ``None`` where none of them is known.

    Made of the digests by suite, so that datasheets can be joined without the prompts themselves.
    """
    return digest(by_suite) if any(by_suite.values()) else None


def digest(value: Mapping[str, Any]) -> str:
    """Twelve digits that tell one plain value from another."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Datasheet:
    """The datasheets of all judges of a run.

    Attributes:
        analyses: tables that compare them, of the same form as those of a judge.
    """

    seed: int
    mode: str
    versions: Mapping[str, str]
    judges: tuple[JudgeSheet, ...]
    analyses: tuple[Mapping[str, Any], ...] = ()


def merge_parts(
    parts: Iterable[SuiteSheet], *, seed: int, mode: str, versions: Mapping[str, str]
) -> Datasheet:
    """The datasheet of all parts; parts of the same judge and suite differ only in their checks."""
    merged: dict[tuple[str, str], SuiteSheet] = {}
    for part in parts:
        key = (part.judge, part.suite)
        known = merged.get(key, part)
        # Of processes that share a recording, the one that made the calls counts them.
        fuller = max(known, part, key=lambda one: one.calls.made)
        merged[key] = fuller.with_checks((*known.checks, *part.checks))
    judges: dict[str, list[SuiteSheet]] = {}
    for key in sorted(merged):
        judges.setdefault(key[0], []).append(merged[key])
    return Datasheet(
        seed=seed,
        mode=mode,
        versions=versions,
        judges=tuple(
            JudgeSheet(judge, suites[0].identity, tuple(suites)) for judge, suites in judges.items()
        ),
    )
