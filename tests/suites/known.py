"""Suites as the project itself loads them: with the built-in kinds."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.registry import Instrument, Registry
from pytest_judgesense.suites import builtin, loading
from pytest_judgesense.suites.suite import Suite

KINDS = BUILT_IN.forms


def registry_of(kinds: Iterable[Instrument]) -> Registry:
    """What the package has if it provides these kinds alone, with what joins every kind."""
    return Registry.of_instruments(kinds, joined=BUILT_IN.joined)


def load_suite(path: Path, preset: str | None = None, *, labelled: bool = True) -> Suite:
    return loading.load_suite(path, preset, KINDS, labelled=labelled)


@cache
def builtin_suites() -> dict[str, Path]:
    """The built-in suites of the kinds that there are."""
    return {
        name: path
        for name, path in builtin.builtin_suites().items()
        if tomllib.loads(path.read_text("utf-8"))["kind"] in KINDS
    }


def of_known_kinds(*names: str) -> tuple[str, ...]:
    """Of built-in suites, named with a preset or without, those of the kinds that there are.

    An instrument is its room: where that is deleted, what is tested of several suites is tested of
    the others. `tests.test_deletion` says where a suite of such a room may be named.
    """
    known = builtin_suites()
    return tuple(name for name in names if name.partition("@")[0] in known)


def absent_suites() -> list[str]:
    """The built-in suites whose kind nothing gives; none, as long as no room is deleted."""
    return sorted(builtin.builtin_suites().keys() - builtin_suites().keys())


def absent_measures() -> set[str]:
    """The measures that have a page and that nothing gives: those of rooms that are deleted."""
    pages = Path(__file__).parents[2] / "docs" / "measures"
    return {path.stem for path in pages.glob("*.md")} - set(BUILT_IN.measures)


def presets_of(path: Path) -> tuple[str, ...]:
    return loading.presets_of(path, KINDS)
