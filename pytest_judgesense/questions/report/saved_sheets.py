"""Datasheets and baselines, as their files (.json) hold them."""

from __future__ import annotations

from pathlib import Path

from pytest_judgesense.datasheets.datasheet import Calls, Datasheet, SuiteSheet
from pytest_judgesense.earlier.baseline import Measured, read_measured
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.datasheet_file import datasheet_from, datasheet_object


def saved_sheet(path: Path, seed: int, registry: Registry) -> Datasheet:
    """The datasheet of a file, or that of the judgments of a baseline.

    Raises:
        UsageError: there is no such file.
        LogError: it cannot be read.
    """
    measured = read_measured(path, seed, registry)
    if measured and all(saved.side.cell is None for saved in measured):
        return datasheet_from(datasheet_object(path))
    return sheet_of(map(_part, measured), seed=seed, mode="report", registry=registry)


def _part(saved: Measured) -> SuiteSheet:
    return SuiteSheet(
        judge=saved.judge,
        suite=saved.suite,
        identity=saved.identity,
        prompts={saved.suite: saved.prompts} if saved.prompts else {},
        suite_digest=saved.digest,
        recorded=saved.recorded,
        estimates=saved.side.estimates,
        calls=Calls.of(saved.side.cell.judgments if saved.side.cell else ()),
    )
