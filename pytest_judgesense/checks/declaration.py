"""From a marker or a line of a suite file to a check."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pytest_judgesense.checks.known import utc_day, with_known
from pytest_judgesense.errors import UsageError, listed, unknown_name
from pytest_judgesense.measures.bar import (
    KNOWN_ARGUMENTS,
    SESSIONS,
    WAYS,
    Check,
    CheckKind,
    limit_name,
)
from pytest_judgesense.measures.definition import CONDITION_KEYS, Measure
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.suite import Suite

# The command that lists all measures and checks.
LISTING: Final = "judgesense explain"
# A bar of a measure without an upper bound is a number that a file can hold.
_MOST: Final = sys.float_info.max


def declare_check(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any], registry: Registry
) -> Check:
    """The check that a marker or a line of a suite file declares.

    Raises:
        UsageError: the name, an argument or a bar is wrong; it lists the valid ones.
    """
    if name not in registry.checks:
        raise unknown_name("check", name, registry.checks, LISTING)
    kind = registry.checks[name]
    earlier = _regression if kind.regression else _drift
    declare = kind.declare or (earlier if kind.earlier else _gate)
    own = {key: argument for key, argument in kwargs.items() if key not in KNOWN_ARGUMENTS}
    check: Check = declare(kind, args, own, registry)
    of_failure = {
        key: kwargs[key] for key in KNOWN_ARGUMENTS if key in kwargs and kwargs[key] is not None
    }
    return with_known(check, of_failure, utc_day()) if of_failure else check


def declare_check_on(
    suite: Suite, name: str, arguments: Mapping[str, Any], registry: Registry
) -> Check:
    """The check that a line of a suite file declares; raises as `declare_check`."""
    try:
        return declare_check(name, (), arguments, registry.for_suite(suite))
    except UsageError:
        # A check on what the suite has nothing for; and a wrong name is told among all names.
        return declare_check(name, (), arguments, registry)


def _gate(kind: CheckKind, args: Sequence[Any], kwargs: Mapping[str, Any], _: Registry) -> Check:
    """The check of one measure against one bar."""
    arguments = named_arguments(kind, ("bar",), args, kwargs, ("limit", "suite", *CONDITION_KEYS))
    measure = kind.measure
    assert measure is not None, "a gate gates a measure"
    suite = arguments.pop("suite", None)
    bars, limits = bars_and_limits(kind, arguments, {"bar": measure})
    return Check(
        kind, measure.name, bars, arguments, suite or measure.suite, measure, limits=limits
    )


def _regression(
    kind: CheckKind, args: Sequence[Any], kwargs: Mapping[str, Any], registry: Registry
) -> Check:
    """The check of one measure against its baseline."""
    arguments = named_arguments(
        kind, ("measure", "margin"), args, kwargs, ("suite", *CONDITION_KEYS)
    )
    measure = _directed(kind, arguments, registry)
    low, high = measure.bounds
    margin = arguments.pop("margin", measure.margin)
    number = isinstance(margin, int | float) and not isinstance(margin, bool)
    if not number or not 0 <= margin <= min(high - low, _MOST):
        raise UsageError(
            "no_regression has no usable margin",
            found=f"margin = {margin!r}",
            expected=f"a number from 0 to {high - low:g}: a loss of {measure.name} that does not "
            "matter",
        )
    suite = arguments.pop("suite", None)
    bars = {"margin": float(margin)}
    return Check(kind, measure.name, bars, arguments, suite or measure.suite, measure)


def _drift(
    kind: CheckKind, args: Sequence[Any], kwargs: Mapping[str, Any], registry: Registry
) -> Check:
    """The check of one measure against all sessions of a history."""
    arguments = named_arguments(
        kind, ("measure",), args, kwargs, (SESSIONS, "suite", *CONDITION_KEYS)
    )
    measure = _directed(kind, arguments, registry)
    if measure.bounds != (0.0, 1.0):
        raise UsageError(
            f"{kind.name} is about shares",
            found=f"{measure.name}, from {measure.bounds[0]:g} to {measure.bounds[1]:g}",
            expected="a measure that is a share of units, such as agreement or jss",
        )
    if (how := arguments.get(SESSIONS)) not in (None, *WAYS):
        raise UsageError(
            f"{kind.name} has no usable {SESSIONS}",
            found=f"{SESSIONS} = {how!r}",
            expected=f"{' or '.join(map(repr, WAYS))}: whether days may differ (the default)",
        )
    if how == WAYS[0]:  # it is in no id, as where nothing is said
        del arguments[SESSIONS]
    suite = arguments.pop("suite", None)
    return Check(kind, measure.name, {}, arguments, suite or measure.suite, measure)


def _directed(kind: CheckKind, arguments: dict[str, Any], registry: Registry) -> Measure:
    """The measure that a check against earlier sessions names, taken out of its arguments.

    Raises:
        UsageError: there is none of that name, or it cannot be compared.
    """
    name, measures = arguments.pop("measure", None), registry.measures
    if not isinstance(name, str) or name not in measures:
        raise unknown_name("measure", str(name), measures, LISTING)
    measure = measures[name]
    if not measure.comparable:
        why = "whether more of it is better depends on the task"
        if measure.decides:
            why = "it counts decisions of tests, each of which may fall otherwise by chance"
        raise UsageError(
            f"{kind.name}({name!r}) cannot be compared"
            if measure.decides
            else f"{kind.name}({name!r}) has no direction",
            found=f"{name} ({measure.meaning}): {why}",
            expected="one of: "
            + ", ".join(name for name, of_name in measures.items() if of_name.comparable),
            remedy="see how it has changed with: judgesense compare OLD NEW",
        )
    return measure


def named_arguments(
    kind: CheckKind,
    bars: Sequence[str],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    more: Sequence[str] = ("suite",),
) -> dict[str, Any]:
    """The arguments of a check by name.

    Raises:
        UsageError: there are too many, one is given twice, is not known, or is a list or a table.
    """
    if len(args) > len(bars):
        raise UsageError(
            f"{kind.name} has too many arguments",
            found=f"{len(args)} without a name: {listed(map(repr, args))}",
            expected=kind.signature,
        )
    positional = dict(zip(bars, args, strict=False))
    if twice := sorted(positional.keys() & kwargs.keys()):
        raise UsageError(f"{kind.name} is given {twice[0]} twice", expected=kind.signature)
    arguments = {**positional, **kwargs}
    for key, value in arguments.items():
        if key not in (*bars, *more):
            valid = [*bars, *more, *(() if kind.earlier else KNOWN_ARGUMENTS)]
            raise unknown_name(f"argument of {kind.name}", key, valid)
        if not isinstance(value, str | int | float | None):
            raise UsageError(
                f"{kind.name} takes a number or a text for {key}",
                found=f"a {type(value).__name__}: {value!r}"[:80],
                expected=kind.signature,
            )
    return arguments


def bars_and_limits(
    kind: CheckKind, arguments: dict[str, Any], measures: Mapping[str, Measure]
) -> tuple[dict[str, float], dict[str, float]]:
    """The bars and the limits among the arguments of a check, which are taken out of them.

    A limit alone is the bar as well: nothing beyond what can be accepted is wanted.

    Args:
        kind: of the check.
        arguments: of the check.
        measures: the measure of each bar, by its name; all of them must be given.

    Raises:
        UsageError: a number is missing or outside the bounds of its measure, or a limit lies on the
            wrong side of its bar.
    """
    bars, limits = {}, {}
    for key, measure in measures.items():
        name = limit_name(key)
        bar, limit = arguments.pop(key, None), arguments.pop(name, None)
        bars[key] = bar_of(kind, key, limit if bar is None else bar, measure)
        if limit is None:
            continue
        limits[key] = bar_of(kind, name, limit, measure)
        if (limits[key] > bars[key]) if measure.floor else (limits[key] < bars[key]):
            most = "most" if measure.floor else "least"
            raise UsageError(
                f"{kind.name} has its limit on the wrong side of its bar",
                found=f"{key} = {bars[key]:g}, {name} = {limits[key]:g}",
                expected=f"a limit of at {most} {bars[key]:g}: the bar is what is wanted, "
                "the limit is what cannot be accepted",
                remedy=f"write {key} = {limits[key]:g}, {name} = {bars[key]:g}",
            )
    return bars, limits


def bar_of(kind: CheckKind, key: str, value: Any, measure: Measure) -> float:
    """A bar or a limit as a number within the bounds of its measure; else a `UsageError`."""
    low, high = measure.bounds
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not max(low, -_MOST) <= value <= min(high, _MOST):
        raise UsageError(
            f"{kind.name} has no usable {'limit' if key.endswith('limit') else 'bar'}",
            found=f"{key} = {value!r}" if value is not None else f"no {key}",
            expected=f"a number from {low:g} to {high:g}, as in {kind.signature}",
        )
    return float(value)
