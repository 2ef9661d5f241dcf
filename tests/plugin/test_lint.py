"""Lint at collection: errors stop the run, warnings stand in the datasheet."""

from __future__ import annotations

import json

import pytest

from .project import Project, no_traceback, parity_suite

TWINS = ("Is {{number}} even?", "Is {{number}} even?")


# In the gate test_usage_errors.py has errors that workers meet.
@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.long)], ids=["plain", "n2"]
)
def test_an_error_stops_the_run_before_anyone_is_asked(
    project: Project, workers: tuple[str, ...]
) -> None:
    parity_suite(project.path, wordings=TWINS)
    result = project.run("parity.suite.toml", "--judge-mode", "record", *workers)
    assert result.ret != 0
    text = result.stdout.str()
    assert "lint identical-sides" in text
    assert "remedy:" in text
    assert project.server.asked == []
    no_traceback(result)


def test_an_error_of_a_markers_suite_fails_its_test(project: Project) -> None:
    parity_suite(project.path, wordings=TWINS)
    project.pytester.makepyfile(
        test_it="import pytest\n"
        "@pytest.mark.jss_floor(0.5, suite='parity.suite.toml')\ndef test_one(): pass\n"
    )
    result = project.run("test_it.py", "--judge-mode", "record")
    assert result.ret == 1
    assert "lint identical-sides" in result.stdout.str()
    assert project.server.asked == []


def test_warnings_are_printed_and_kept_in_the_datasheet(project: Project) -> None:
    recording = ("--judge-mode", "record", "--judge-datasheet", "sheet.json")
    result = project.run("parity.suite.toml", *recording)
    assert result.ret == 0
    # 18 pairs on 6 numbers; K clusters that agree clear 0.8 from K = 12 on.
    notice = "  notice: parity: lint undecidable-bar: jss_floor?0.8? *"
    result.stdout.fnmatch_lines([notice])
    project.run("parity.suite.toml", "-n", "1").stdout.fnmatch_lines([notice])
    whole = project.run("parity.suite.toml", "-vv")
    assert "notice: lint undecidable-bar" in whole.stdout.str()
    sheet = json.loads((project.path / "sheet.json").read_text(encoding="utf-8"))
    (notice,) = sheet["judges"][0]["parts"][0]["notices"]
    assert "6 clusters; add items until there are 12 clusters" in notice
