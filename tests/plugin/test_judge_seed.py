"""``--judge-seed`` and its ini twin: the seed of every random draw of the estimators."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_judgesense import measure
from pytest_judgesense.plugin.state import state_of
from pytest_judgesense.report.datasheet_file import datasheet_json

from .project import Project, configured


def _bootstrap(sheet: dict[str, Any]) -> tuple[float, float]:
    measures = sheet["judges"][0]["measures"]
    (jss,) = [m for m in measures if m["measure"] == "jss" and not m["condition"]]
    assert "bootstrap" in jss["interval"]["method"]
    return jss["interval"]["lower"], jss["interval"]["upper"]


def test_a_seed_of_an_ini_file_is_that_of_the_session(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\njudge_seed = 7\n")
    assert state_of(configured(pytester, "--judge-mode", "replay")).settings.seed == 7


def test_the_seed_stands_in_the_datasheet_and_on_the_screen(project: Project) -> None:
    written = ("--judge-datasheet", "x.json")
    recording = ("parity.suite.toml", "--judge-mode", "record", *written)
    project.run(*recording).stdout.fnmatch_lines(["*95% clustered interval*; seed 0"])
    sheets = project.path / "x.json"
    assert json.loads(sheets.read_text(encoding="utf-8"))["seed"] == 0
    whole = project.run("parity.suite.toml", "--judge-seed", "41", "-vv", *written)
    assert "seed of intervals 41" in " ".join(whole.stdout.str().split())
    assert json.loads(sheets.read_text(encoding="utf-8"))["seed"] == 41


def of_seed(seed: int) -> str:
    """The datasheet of an embedded judge with this seed, as a file holds it."""
    return datasheet_json(measure("embedded:noisy", "coherence@published", seed=seed))


def test_seeds_move_resampled_intervals_and_no_estimate() -> None:
    files = [of_seed(seed) for seed in range(6)]
    sheets = [json.loads(file) for file in files]
    assert [sheet["seed"] for sheet in sheets] == [*range(6)]
    # An end of a percentile interval of 125 pairs is a multiple of 1/125, and 1,000 resamples do
    # not settle which: six seeds do not all give the same two.
    assert len({_bootstrap(sheet) for sheet in sheets}) > 1
    values = [[m["value"] for m in sheet["judges"][0]["measures"]] for sheet in sheets]
    assert all(value == values[0] for value in values)
    # And one seed gives the same each time.
    assert of_seed(5) == files[5]
