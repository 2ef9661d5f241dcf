"""Measurements of the shipped recordings, and their datasheets with every declared check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from pytest_judgesense.asking.inquiry import UNRESTRICTED
from pytest_judgesense.cassettes.opening import Mode
from pytest_judgesense.checks.check_texts import check_line, explanation_of
from pytest_judgesense.checks.outcome import DecisionRule, Policy, judge_check
from pytest_judgesense.datasheets.datasheet import CheckLine, SuiteSheet
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measurement import Measurement, measure
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.suite import Suite
from tests.checks.known import declare_check
from tests.shipped import CASSETTES
from tests.suites.known import builtin_suites, load_suite, of_known_kinds, presets_of

WHOLE = tuple(sorted(builtin_suites()))
# Suites without such a preset are small: they are recorded whole.
PUBLISHED = tuple(
    f"{name}@published" if "published" in presets_of(path) else name
    for name, path in sorted(builtin_suites().items())
)


# Of these suites the quick preset of one profile is enough.
LARGE, QUICK = of_known_kinds("probe", "depth"), of_known_kinds("probe@quick", "depth@quick")


def _but(names: Iterable[str], *large: str) -> tuple[str, ...]:
    return tuple(name for name in names if name not in large)


# What the recordings of each profile cover.
SHIPPED = {
    "clean": (*_but(WHOLE, *LARGE), *QUICK, "factuality@inverted", "ladder-fine@pooled"),
    "mixed": (
        *_but(WHOLE, "temperature", *LARGE),
        "factuality@inverted",
        "ladder-fine@pooled",
    ),
    "noisy": _but(PUBLISHED, "temperature", *LARGE),
    "positional": _but(PUBLISHED, "temperature", *LARGE),
}


def suite_named(name: str) -> Suite:
    base, _, preset = name.partition("@")
    return load_suite(builtin_suites()[base], preset or None)


def recordings(suite: Suite, folder: Path) -> dict[str, Path]:
    """The cassettes that hold the trials of a suite, by name of the recording."""
    return {name: folder / f"{name}.jsonl" for name in suite.recordings}


def measured(
    judge: JudgeSpec,
    suite: Suite,
    cassettes: Mapping[str, Path],
    mode: Mode = "replay",
    seed: int = 0,
    registry: Registry = BUILT_IN,
) -> Measurement:
    loop = AskingLoop()
    try:
        asking = replace(UNRESTRICTED, how_to_record="record it: ...", registry=registry)
        return measure(judge, suite, cassettes, loop, mode=mode, seed=seed, asking=asking)
    finally:
        loop.close()


@cache
def replayed(profile: str, name: str) -> Measurement:
    suite = suite_named(name)
    judge = judge_from_name(f"embedded:{profile}")
    return measured(judge, suite, recordings(suite, CASSETTES / profile))


def checked(measurement: Measurement, policy: Policy = "estimate") -> SuiteSheet:
    """The part of a datasheet with the outcome of every check that the suite declares."""
    return measurement.sheet.with_checks(check_lines(measurement, policy))


def check_lines(measurement: Measurement, policy: Policy) -> Iterable[CheckLine]:
    suite = measurement.suite
    for declared in suite.checks:
        check = declare_check(declared.name, (), declared.arguments)
        if check.kind.compares:
            cells = {measurement.judge.slug: measurement.cell}
            outcome = check.kind.judge(check, suite.kind, cells, DecisionRule(policy))
        else:
            outcome = judge_check(check, suite.name, measurement.estimates, policy)
        yield check_line(explanation_of(outcome, measurement.cell))


def parts_of(profile: str, policy: Policy = "estimate") -> list[SuiteSheet]:
    return [checked(replayed(profile, name), policy) for name in SHIPPED[profile]]
