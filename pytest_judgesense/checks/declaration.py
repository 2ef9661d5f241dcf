"""A check: a measure with a bar, as a suite file or a marker declares it.

Light on purpose: markers are read at collection.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_judgesense.errors import UsageError, unknown_name
from pytest_judgesense.measures.catalogue import (
    BUILT_IN,
    CONDITION_KEYS,
    OUTCOMES,
    Catalogue,
    MeasureInfo,
    signature,
)

__all__ = ["CONDITION_KEYS", "Check", "declare_check", "default_margin", "signature"]

_TRADEOFF: Final = ("false_preference", "distance_1", "distance_5")
# Bars that are no shares: d' stays within 10 for any number of calls that can be paid for, and a
# threshold is a distance.
_RANGES: Final = {
    "kappa": (-1.0, 1.0),
    "kappa_quadratic": (-1.0, 1.0),
    "side_bias": (0.0, 0.5),
    "d_prime": (-10.0, 10.0),
    "detection_threshold": (0.0, 100.0),
    "instability": (0.0, math.inf),
    "score_variance": (0.0, 50.0),
    "at_least": (0.0, math.inf),
}
# Losses that do not count unless said otherwise, where 0.05 would be too little to be settled.
_MARGINS: Final = {"kappa": 0.1, "kappa_quadratic": 0.1, "d_prime": 0.5, "detection_threshold": 0.5}


@dataclass(frozen=True, slots=True)
class Check:
    """A measure with a bar.

    Attributes:
        name: ``jss_floor``, ``dark_current_ceiling``, ...
        measure: what is compared with the bar.
        bars: the bar under the key ``bar``, or the named bars of a composite check.
        condition: the condition of the estimate; empty for the pooled one.
        suite: name of the suite, or ``None`` where the suite file is the suite.
        info: what is known of the measure; ``None`` where the catalogue of this package says it.
    """

    name: str
    measure: str
    bars: Mapping[str, float]
    condition: Mapping[str, str | int | float] = field(default_factory=dict)
    suite: str | None = None
    info: MeasureInfo | None = field(default=None, repr=False, compare=False)

    @property
    def floor(self) -> bool:
        """Whether the bar is a floor."""
        return (self.info or BUILT_IN.info(self.measure)).direction == "higher"

    @property
    def judge(self) -> str | None:
        """The judge whose configuration it names; ``None`` for a check of any judge."""
        config = self.condition.get("config") if self.name == "ranked_first" else None
        return str(config).rpartition(":")[0] if config else None

    @property
    def narrowed(self) -> Mapping[str, str | int | float]:
        """The condition of the estimate: a configuration or an outcome is none, the id names it."""
        return {} if {"config", "outcome"} & self.condition.keys() else self.condition

    @property
    def id(self) -> str:
        """The check as node ids show it: ``jss_floor[0.9]``, ``no_regression[jss,0.05]``."""
        return self.id_under(None)

    def id_under(self, preset: str | None) -> str:
        """The same with the preset of the suite, if one is chosen: ``jss_floor[0.9@published]``."""
        if self.name == "ranked_first":
            parts = [str(self.condition["config"])]
            return f"{self.name}[{parts[0]}{f'@{preset}' if preset else ''}]"
        parts = [self.measure] if self.name == "no_regression" else []
        named = self.name == "recommended_temperature"
        parts += [f"{f'{key}=' if named else ''}{bar:g}" for key, bar in self.bars.items()]
        parts += [f"{key}={value}" for key, value in self.condition.items()]
        return f"{self.name}[{','.join(parts)}{f'@{preset}' if preset else ''}]"

    @property
    def bar(self) -> float | dict[str, float]:
        """The bar as datasheets hold it: a number, or the named bars of a composite check."""
        if not self.bars:
            return {}
        return self.bars["bar"] if set(self.bars) == {"bar"} else dict(self.bars)


def declare_check(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any], catalogue: Catalogue = BUILT_IN
) -> Check:
    """The check that a marker or a line of a suite file declares.

    Args:
        name: name of the check.
        args: positional arguments: the bar, or the bars of a composite check.
        kwargs: named arguments: ``bar``, ``suite`` and keys of a condition.
        catalogue: what is known of measures and checks.

    Raises:
        UsageError: the name, an argument or a bar is wrong; it lists the valid ones.
    """
    if name not in catalogue.checks:
        raise unknown_name("check", name, catalogue.checks)
    if name == "no_regression":
        return _no_regression(args, kwargs, catalogue)
    if name == "ranked_first":
        return _ranked_first(args, kwargs)
    if name == "recommended_temperature":
        return _recommended(args, kwargs)
    if name == "temperature_effect_bound":
        return _effect_bound(args, kwargs)
    bars_wanted = _TRADEOFF if name == "criterion_tradeoff" else ("bar",)
    given = _named(name, bars_wanted, args, kwargs)
    condition_keys = () if name == "criterion_tradeoff" else CONDITION_KEYS
    for key in given:
        if key not in (*bars_wanted, "suite", *condition_keys):
            raise unknown_name(f"argument of {name}", key, [*bars_wanted, "suite", *condition_keys])
    suite = given.pop("suite", None)
    info = catalogue.info(catalogue.checks[name])
    if suite is None:
        suite = "criterion" if name == "criterion_tradeoff" else info.suite
    return Check(
        name=name,
        measure=info.name,
        bars={bar: _bar(name, bar, given.pop(bar, None), info) for bar in bars_wanted},
        condition=given,
        suite=suite,
        info=info,
    )


def _no_regression(args: Sequence[Any], kwargs: Mapping[str, Any], catalogue: Catalogue) -> Check:
    given = _named("no_regression", ("measure", "margin"), args, kwargs)
    valid = ("measure", "margin", "suite", *CONDITION_KEYS)
    for key in given:
        if key not in valid:
            raise unknown_name("argument of no_regression", key, valid)
    measure = given.pop("measure", None)
    measures = catalogue.measures
    if not isinstance(measure, str) or measure not in measures:
        raise unknown_name("measure", str(measure), measures)
    info = measures[measure]
    if info.direction == "construct":
        raise UsageError(
            f"no_regression({measure!r}) has no direction",
            found=f"{measure} ({info.meaning}): whether more of it is better depends on the task",
            expected="one of: "
            + ", ".join(name for name, one in measures.items() if one.direction != "construct"),
            remedy="see how it has changed with: judgesense compare OLD NEW",
        )
    low, high = _range(info)
    margin = given.pop("margin", default_margin(info))
    number = isinstance(margin, int | float) and not isinstance(margin, bool)
    if not number or not 0 <= margin <= high - low:
        raise UsageError(
            "no_regression has no usable margin",
            found=f"margin = {margin!r}",
            expected=f"a number from 0 to {high - low:g}: the loss of {measure} that is no matter",
        )
    suite = given.pop("suite", None)
    bars = {"margin": float(margin)}
    return Check("no_regression", measure, bars, given, suite or info.suite, info)


def default_margin(info: MeasureInfo) -> float:
    """The loss that does not count where no margin is given: 0.05 of a rate."""
    return _MARGINS.get(info.name, 0.05) if info.margin is None else info.margin


def _range(info: MeasureInfo) -> tuple[float, float]:
    return info.bounds or _RANGES.get(info.name, (0.0, 1.0))


def _ranked_first(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Check:
    given = _named("ranked_first", ("config",), args, kwargs)
    for key in given:
        if key not in ("config", "suite"):
            raise unknown_name("argument of ranked_first", key, ["config", "suite"])
    config = given.get("config")
    if not isinstance(config, str) or not all(config.rpartition(":")):
        raise UsageError(
            "ranked_first names no configuration",
            found=repr(config),
            expected="a judge and a prompt, as in " + signature("ranked_first"),
            remedy='write ranked_first = { config = "clean:p0" }',
        )
    return Check(
        "ranked_first", "ranked_first", {}, {"config": config}, given.get("suite") or "debate"
    )


def _recommended(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Check:
    name, bars_wanted = "recommended_temperature", (*OUTCOMES, "at_least")
    given = _named(name, (), args, kwargs)
    for key in given:
        if key not in (*bars_wanted, "suite"):
            raise unknown_name(f"argument of {name}", key, [*bars_wanted, "suite"])
    infos = {bar: BUILT_IN.info(bar) for bar in bars_wanted}  # each is held against its measure
    bars = {bar: _bar(name, bar, given[bar], infos[bar]) for bar in bars_wanted if bar in given}
    if not bars.keys() & set(OUTCOMES):
        raise UsageError(
            f"{name} has no bar",
            found=", ".join(bars) or "no argument",
            expected="at least one of " + ", ".join(OUTCOMES) + ", as in " + signature(name),
            remedy=f"write {name} = {{ agreement = 0.8, error_rate = 0.05 }}",
        )
    return Check(name, name, bars, {}, given.get("suite") or "temperature")


def _effect_bound(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Check:
    name = "temperature_effect_bound"
    given = _named(name, ("outcome", "bar"), args, kwargs)
    for key in given:
        if key not in ("outcome", "bar", "suite"):
            raise unknown_name(f"argument of {name}", key, ["outcome", "bar", "suite"])
    outcome = given.get("outcome")
    if outcome not in OUTCOMES:
        raise unknown_name(f"outcome of {name}", str(outcome), OUTCOMES)
    bars = {"bar": _bar(name, "bar", given.get("bar"), BUILT_IN.info(BUILT_IN.checks[name]))}
    suite = given.get("suite") or "temperature"
    return Check(name, BUILT_IN.checks[name], bars, {"outcome": str(outcome)}, suite)


def _named(
    name: str, bars: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    if len(args) > len(bars):
        raise UsageError(
            f"{name} has too many arguments",
            found=f"{len(args)} without a name: {', '.join(map(repr, args))}",
            expected=signature(name),
        )
    positional = dict(zip(bars, args, strict=False))
    if twice := sorted(positional.keys() & kwargs.keys()):
        raise UsageError(f"{name} is given {twice[0]} twice", expected=signature(name))
    return {**positional, **kwargs}


def _bar(name: str, key: str, value: Any, info: MeasureInfo) -> float:
    low, high = _range(info)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise UsageError(
            f"{name} has no usable bar",
            found=f"{key} = {value!r}" if value is not None else f"no {key}",
            expected=f"a number from {low:g} to {high:g}, as in {signature(name)}",
        )
    return float(value)
