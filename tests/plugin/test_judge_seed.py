"""``--judge-seed`` and its ini twin: the seed of every random draw of the estimators."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .project import Project, flips_on_two, run


@pytest.fixture
def recorded(project: Project) -> Project:
    project.server.reply = flips_on_two
    project.record()
    return project


def _sheet(project: Project, *arguments: str) -> dict[str, Any]:
    result = project.run("parity.suite.toml", *arguments, "--judge-datasheet", "x.json")
    result.assert_outcomes(passed=1)
    return json.loads((project.path / "x.json").read_text(encoding="utf-8"))


def _bootstrap(sheet: dict[str, Any]) -> tuple[float, float]:
    measures = sheet["judges"][0]["measures"]
    (jss,) = [m for m in measures if m["measure"] == "jss" and not m["condition"]]
    assert "bootstrap" in jss["interval"]["method"]
    return jss["interval"]["lower"], jss["interval"]["upper"]


def test_the_default_seed_is_0_and_stands_in_the_datasheet(recorded: Project) -> None:
    sheet = _sheet(recorded)
    assert sheet["seed"] == 0
    assert sheet == _sheet(recorded, "--judge-seed", "0")


@pytest.mark.parametrize("how", ["option", "ini"])
def test_a_seed_is_used_and_stands_in_the_datasheet(recorded: Project, how: str) -> None:
    if how == "ini":
        recorded.pytester.makeini("[pytest]\njudge_seed = 7\n")
        assert _sheet(recorded)["seed"] == 7
    else:
        first, second = (_sheet(recorded, "--judge-seed", "7") for _ in range(2))
        assert first["seed"] == 7
        assert first == second


def test_seeds_move_resampled_intervals_and_no_estimate(pytester: pytest.Pytester) -> None:
    sheets = []
    for seed in range(6):
        run(
            pytester,
            *("--judge-suite", "coherence@published", "--judge-name", "embedded:noisy"),
            *("--judge-seed", str(seed), "--judge-datasheet", "x.json"),
        )
        sheets.append(json.loads((pytester.path / "x.json").read_text(encoding="utf-8")))
    # An end of a percentile interval of 125 pairs is a multiple of 1/125, and 1,000 resamples do
    # not settle which: six seeds do not all give the same two.
    assert len({_bootstrap(sheet) for sheet in sheets}) > 1
    values = [[m["value"] for m in sheet["judges"][0]["measures"]] for sheet in sheets]
    assert all(value == values[0] for value in values)


def test_the_summary_names_the_seed(recorded: Project) -> None:
    short = recorded.run("parity.suite.toml", "--judge-seed", "41")
    short.stdout.fnmatch_lines(["*95% clustered interval*; seed 41"])
    whole = recorded.run("parity.suite.toml", "--judge-seed", "41", "-vv")
    assert "seed of intervals 41" in " ".join(whole.stdout.str().split())
