"""A check as a value (a measure with a bar), and the kinds of checks.

A bar is what is wanted; a limit beside it is what cannot be accepted, and decides where it stands.
The module is light, because markers are read at collection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final, NamedTuple

from pytest_judgesense.measures.definition import CONDITION_KEYS, Measure

# What a declaration says of a failure that is known; the three stand together.
KNOWN_ARGUMENTS: Final = ("known", "at", "until")
_KNOWN: Final = "known=, at=, until="


class KnownFailure(NamedTuple):
    """A failure that a declaration accepts for a while: it is no part of a check's id.

    Attributes:
        reason: why, in the words of whoever accepts it.
        at: the number that is accepted: what is shown to be worse fails all the same.
        until: the last day on which it is accepted, in UTC.
    """

    reason: str
    at: float
    until: date


class CheckKind(NamedTuple):
    """A check name: how the check is declared and how it is evaluated.

    Attributes:
        name: ``jss_floor``, ``no_regression``, ...
        arguments: the form of its arguments, for help and messages.
        declare: from ``(kind, args, kwargs, registry)`` to the `Check`; ``None`` for a gate (see
            `gate_of`) and for what every measure may have and `checks` declares: a ``regression``
            and a ``drift``.
        judge: from ``(check, suite, estimates, rule)`` to the `Outcome`; for a kind that
            ``compares``, from ``(check, kind, cells, rule)`` with the cells of all judges. ``None``
            for a gate, and for one against ``earlier`` sessions, which the session evaluates.
        bars: from a check to measure, name of the bar and condition of each of its bars, for lint;
            ``None`` for a gate, which has one, and if lint cannot compare it with an error-free
            judge.
        compares: whether it needs the results of several judges on the suite.
        regression: whether it compares a measure with a baseline.
        drift: whether it holds a measure against all sessions of a history.
        named_bars: whether its id shows the names of its bars, as in ``check[low=0.1]``.
        bare: keys of its condition whose values are in its id without the key.
        source: the plugin that provides it; empty for this package.
    """

    name: str
    arguments: str
    meaning: str
    declare: Callable[..., Check] | None
    judge: Callable[..., Any] | None
    bars: Callable[[Check], Any] | None = None
    measure: Measure | None = None
    compares: bool = False
    regression: bool = False
    drift: bool = False
    named_bars: bool = False
    bare: tuple[str, ...] = ()
    source: str = ""

    @property
    def earlier(self) -> bool:
        """Whether it holds a measure against earlier sessions, and its id names the measure."""
        return self.regression or self.drift

    @property
    def signature(self) -> str:
        return f"{self.name}({self.arguments})"

    @property
    def marker(self) -> str:
        """Its line in ``pytest --markers``."""
        measure, meaning, more = self.measure, self.meaning, ""
        if measure is not None:
            meaning = f"{measure.name} {'>=' if measure.floor else '<='} bar"
            suite = measure.suite and f"suite= is {measure.suite} by default"
            # Checks with the same bar on two suites share an id.
            named = suite or 'name one, suite="coherence"'
            more = f" {measure.name}: {measure.meaning}; {named}."
        # The list of conditions is the same for all checks.
        signature = self.signature.replace(_CONDITION, "**condition")
        return f"{signature}: fail unless {meaning}, for each judge.{more}"

    @property
    def gates(self) -> bool:
        """Whether it is the gate of a measure: one bar for its estimate."""
        return self.measure is not None and self.declare is None


_CONDITION = f"{'=, '.join(CONDITION_KEYS)}="


def gate_of(measure: Measure) -> CheckKind:
    """The check that gates ``measure``."""
    assert measure.check is not None, "a measure without a gate has no check"
    sign = ">=" if measure.floor else "<="
    return CheckKind(
        measure.check,
        f"bar, limit=, {_KNOWN}, suite=, {_CONDITION}",
        f"{measure.name} ({measure.meaning}) {sign} bar",
        None,
        None,
        measure=measure,
        source=measure.source,
    )


# The check that every measure with a direction has.
NO_REGRESSION = CheckKind(
    "no_regression",
    f"measure, margin=, suite=, {_CONDITION}",
    "no measure is worse than in --judge-baseline by more than the margin",
    None,
    None,
    regression=True,
)

# Another that every share with a direction may have. How its sessions are taken, days may differ
# (the default) or nothing but chance tells them apart, is in its id and no condition.
SESSIONS: Final = "sessions"
WAYS: Final = ("vary", "alike")
NO_DRIFT = CheckKind(
    "no_drift",
    f"measure, {SESSIONS}=, suite=, {_CONDITION}",
    "no measure has become worse over the live sessions of --judge-history",
    None,
    None,
    drift=True,
    bare=(SESSIONS,),
)


@dataclass(frozen=True, slots=True)
class Check:
    """A measure with a bar.

    Attributes:
        bars: the bar under the key ``bar``, or the named bars of a composite check.
        condition: the condition of the estimate; empty for the pooled one.
        suite: name of the suite, or ``None`` for the suite file that declares it.
        limits: the limits, by the names of those bars that have one: what cannot be accepted.
        shows_limits: whether its id names the limits, because another check has the same bars.
        known: the failure that its declaration accepts; ``None`` for none.
    """

    kind: CheckKind = field(repr=False, compare=False)
    measure: str
    bars: Mapping[str, float]
    condition: Mapping[str, str | int | float] = field(default_factory=dict)
    suite: str | None = None
    of: Measure | None = field(default=None, repr=False, compare=False)
    name: str = ""
    limits: Mapping[str, float] = field(default_factory=dict)
    shows_limits: bool = field(default=False, compare=False)
    known: KnownFailure | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.kind.name)

    @property
    def floor(self) -> bool:
        return self.of is not None and self.of.floor

    @property
    def judge(self) -> str | None:
        """The judge whose configuration it names; ``None`` for a check of every judge."""
        config = self.condition.get("config")
        return str(config).rpartition(":")[0] if config else None

    @property
    def narrowed(self) -> Mapping[str, str | int | float]:
        """The condition of the estimate; other keys only belong to the id."""
        return {key: value for key, value in self.condition.items() if key in CONDITION_KEYS}

    @property
    def id(self) -> str:
        """The check as in node ids: ``jss_floor[0.9]``, ``no_regression[jss,0.1]``."""
        return self.id_under(None)

    @property
    def key(self) -> str:
        """The id with its limits, so that no two checks of a suite share it."""
        return self.id if self.shows_limits else replace(self, shows_limits=True).id

    def id_under(self, preset: str | None) -> str:
        """The same with the preset of the suite, if any: ``jss_floor[0.9@published]``."""
        parts = [self.measure] if self.kind.earlier else []
        named = self.kind.named_bars
        parts += [f"{f'{key}=' if named else ''}{bar:g}" for key, bar in self.bars.items()]
        if self.shows_limits:
            parts += [f"{limit_name(key)}={limit:g}" for key, limit in self.limits.items()]
        parts += [
            str(value) if key in self.kind.bare else f"{key}={value}"
            for key, value in self.condition.items()
        ]
        return f"{self.name}[{','.join(parts)}{f'@{preset}' if preset else ''}]"

    @property
    def bar(self) -> float | dict[str, float]:
        """The bar as in datasheets: a number, or the named bars of a composite check."""
        if not self.bars:
            return {}
        return self.bars["bar"] if set(self.bars) == {"bar"} else dict(self.bars)

    @property
    def limit(self) -> float | dict[str, float] | None:
        """The limit in the form of the bar; ``None`` if there is none."""
        if not self.limits:
            return None
        return self.limits["bar"] if set(self.bars) == {"bar"} else dict(self.limits)


def limit_name(bar: str) -> str:
    """The argument for the limit that belongs to a bar: ``limit``, or ``distance_1_limit``."""
    return "limit" if bar == "bar" else f"{bar}_limit"


def told_apart(checks: Iterable[Check]) -> list[Check]:
    """``checks`` of a suite, with the limits in the ids of those that only they tell apart."""
    listed = list(checks)
    counted = Counter(check.id for check in listed)
    return [
        replace(check, shows_limits=True) if check.limits and counted[check.id] > 1 else check
        for check in listed
    ]
