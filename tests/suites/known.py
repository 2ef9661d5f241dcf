"""Suites as the project itself loads them: with the built-in kinds."""

from __future__ import annotations

from pathlib import Path

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.suites import loading
from pytest_judgesense.suites.suite import Suite

KINDS = BUILT_IN.forms


def load_suite(path: Path, preset: str | None = None, *, labelled: bool = True) -> Suite:
    return loading.load_suite(path, preset, KINDS, labelled=labelled)


def presets_of(path: Path) -> tuple[str, ...]:
    return loading.presets_of(path, KINDS)
