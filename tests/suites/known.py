"""Suites as the project itself loads them: with the built-in kinds."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.suites import builtin, loading
from pytest_judgesense.suites.suite import Suite

KINDS = BUILT_IN.forms


def load_suite(path: Path, preset: str | None = None, *, labelled: bool = True) -> Suite:
    return loading.load_suite(path, preset, KINDS, labelled=labelled)


def builtin_suites() -> dict[str, Path]:
    """The built-in suites of the kinds that there are."""
    return {
        name: path
        for name, path in builtin.builtin_suites().items()
        if tomllib.loads(path.read_text("utf-8"))["kind"] in KINDS
    }


def presets_of(path: Path) -> tuple[str, ...]:
    return loading.presets_of(path, KINDS)
