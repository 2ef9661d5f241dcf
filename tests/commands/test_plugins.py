"""Plugins on the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """From the text of a plugin to its name; each test has its own, for modules stay imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])

    def written(text: str) -> str:
        name = f"plugin_{tmp_path.name}"
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        return name

    return written


def test_the_list_of_commands_needs_no_plugin_to_be_right(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = EntryPoint("mine", "no_such_module_of_mine", "judgesense")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [wrong])
    for given in (["--version"], ["--help"], ["report", "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(given)
        assert ended.value.code == 0
    assert "the datasheet of what there is" in capsys.readouterr().out
    # A command that takes what plugins add says what is wrong with one.
    assert main(["plan", "--lint"]) == 2
    assert "plugin mine (no_such_module_of_mine) cannot be loaded" in capsys.readouterr().err


def test_a_measure_that_fails_is_an_error_of_what_is_computed_from_a_recording(
    plugin: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = plugin(
        "from pytest_judgesense.registry import Measure\n"
        "def pytest_judgesense_measures():\n"
        "    return [Measure('mine', 'lower', 'call', 'mine', lambda cell: 1 / 0)]\n"
    )
    assert main(["-p", name, "plan", "vacuum", "--judge-name", "embedded:clean"]) == 2
    error = capsys.readouterr().err
    assert f"measure 'mine' of plugin {name} could not be taken" in error
    assert "Traceback" not in error
