"""Importers and commands that plugins provide, on the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.registry import loaded
from tests.foreign import write_rows

# A kind that copies the importers and the commands of every built-in one.
COPIES = """
from dataclasses import replace

from pytest_judgesense.instruments.builtin import BUILT_IN


def pytest_judgesense_suite_kinds():
    return [
        replace(
            kind,
            name=f"my-{name}",
            form=lambda kind=kind, name=name: replace(kind.loaded(), name=f"my-{name}"),
            checks=(),
            importers=[one._replace(name=f"my-{one.name}") for one in kind.importers],
            commands=[one._replace(name=f"my-{one.name}") for one in kind.commands],
        )
        for name, kind in BUILT_IN.kinds.items()
    ]
"""
# A kind with one importer and one command, of which a test fills in the parts.
OWN = """
from pytest_judgesense.registry import Command, Importer, Kind, SuiteKind


def pytest_judgesense_suite_kinds():
    importers = [{importers}]
    commands = [{commands}]
    return [SuiteKind("own", Kind("own", list), importers=importers, commands=commands)]
"""
NOTHING_TO_ADD = "lambda parser: None"


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


def test_an_importer_of_a_plugin_reads_and_writes_as_a_built_in_one(
    plugin: Callable[[str], str], tmp_path: Path
) -> None:
    rows = [
        {"item": f"i{n}", "template": t, "verdict": v, "label": "A"}
        for n, verdicts in enumerate(("AA", "AB"))
        for t, v in zip(("t1", "t2"), verdicts, strict=True)
    ]
    write_rows(tmp_path / "rows.jsonl", rows)
    given = ["rows.jsonl", "--judge", "j", "--suite", "s"]
    assert main(["import", "table", *given, "-o", "own.jsonl"]) == 0
    use = ["-p", plugin(COPIES)]
    assert main([*use, "import", "my-table", *given, "-o", "copied.jsonl"]) == 0
    assert (tmp_path / "own.jsonl").read_text() == (tmp_path / "copied.jsonl").read_text()
    assert len((tmp_path / "own.jsonl").read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("kind", "command"),
    [(name, command) for name, kind in BUILT_IN.kinds.items() for command in kind.commands],
)
def test_a_command_of_a_plugin_takes_what_the_built_in_one_takes(
    kind: str, command: object, plugin: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = command.name  # type: ignore[attr-defined]
    use = ["-p", plugin(COPIES)]
    helps = []
    for given in ([name, "--help"], [*use, f"my-{name}", "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(given)
        assert ended.value.code == 0
        helps.append(" ".join(capsys.readouterr().out.replace(f"my-{name}", name).split()))
    assert helps[0] == helps[1]


def test_a_command_of_a_plugin_runs_with_its_options_and_finds_judges(
    plugin: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    add = "lambda parser: parser.add_argument('--to', required=True)"
    run = "lambda options, judges: [f'hello {options.to}, {judges([\"embedded:clean\"])[0].name}']"
    name = plugin(
        OWN.format(importers="", commands=f"Command('greet', 'say hello, 100%', {add}, {run})")
    )
    assert main(["-p", name, "greet", "--to", "you"]) == 0
    assert capsys.readouterr().out == "hello you, clean\n"
    with pytest.raises(SystemExit):
        main(["-p", name, "--help"])
    assert "say hello, 100%" in capsys.readouterr().out


def test_the_list_of_commands_needs_no_plugin_to_be_right(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = EntryPoint("mine", "no_such_module_of_mine", "judgesense")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [wrong])
    for given in (["--version"], ["--help"], ["report", "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(given)
        assert ended.value.code == 0
    assert "print the datasheet of judgment logs" in capsys.readouterr().out
    # Nothing but a plugin could know this command: what is wrong with the plugin is the reason.
    assert main(["greet"]) == 2
    assert "plugin mine (no_such_module_of_mine) cannot be loaded" in capsys.readouterr().err


WRONG = {
    "a command that fails": (
        "",
        f"Command('fails', '', {NOTHING_TO_ADD}, lambda *_: 1 / 0)",
        ["fails"],
        "command 'fails' of plugin {name} failed",
    ),
    "a command whose arguments fail": (
        "",
        "Command('fails', '', lambda parser: 1 / 0, lambda *_: [])",
        ["fails"],
        "command 'fails' of plugin {name} failed",
    ),
    "a command that is built in": (
        "",
        f"Command('report', '', {NOTHING_TO_ADD}, lambda *_: [])",
        ["fails"],
        "command 'report' of plugin {name} has a name that is taken",
    ),
    "something else for a command": (
        "",
        "'report'",
        ["fails"],
        "kind 'own' of plugin {name} is malformed",
    ),
    "an importer that fails": (
        "Importer('mine', lambda options: 1 / 0)",
        "",
        ["import", "mine", "rows.jsonl", "-o", "out.jsonl"],
        "importer 'mine' of plugin {name} failed",
    ),
    "an importer that gives nothing": (
        "Importer('mine', lambda options: None)",
        "",
        ["import", "mine", "rows.jsonl", "-o", "out.jsonl"],
        "importer 'mine' of plugin {name} failed",
    ),
    "an importer whose texts are none": (
        "Importer('mine', lambda options: None, lambda cells: 3)",
        "",
        ["report", "log.jsonl", "--export", "mine=out"],
        "importer 'mine' of plugin {name} cannot write its files",
    ),
    "an importer that is built in": (
        "Importer('llmbar', lambda options: None)",
        "",
        ["import", "llmbar", "rows.jsonl", "-o", "out.jsonl"],
        "importer 'llmbar' of plugin {name} has a name that is taken",
    ),
    "an importer that cannot write": (
        "Importer('mine', lambda options: None, lambda cells: 1 / 0)",
        "",
        ["report", "log.jsonl", "--export", "mine=out"],
        "importer 'mine' of plugin {name} cannot write its files",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_one_is_an_error_that_names_the_plugin(
    what: str, plugin: Callable[[str], str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    importers, commands, given, said = WRONG[what]
    name = plugin(OWN.format(importers=importers, commands=commands))
    write_rows(tmp_path / "rows.jsonl", [{"item": "i", "template": "t", "verdict": "A"}])
    table = ["import", "table", "rows.jsonl", "--judge", "j", "--suite", "s", "-o", "log.jsonl"]
    assert main(table) == 0
    assert main(["-p", name, *given]) != 0
    error = capsys.readouterr().err
    assert said.format(name=name) in error
    assert "Traceback" not in error
    assert not (tmp_path / "out.jsonl").exists()


def test_an_unknown_form_of_files_is_a_wrong_command_that_lists_all(
    plugin: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = plugin(OWN.format(importers="Importer('mine', print)", commands=""))
    assert main(["-p", name, "import", "mien", "rows.jsonl", "-o", "out.jsonl"]) == 2
    error = capsys.readouterr().err
    assert "there is no form of foreign files named 'mien'" in error
    assert "did you mean 'mine'" in error or "mine" in error.split("expected:")[1]


def test_all_importers_and_commands_can_be_copied(plugin: Callable[[str], str]) -> None:
    registry = loaded(BUILT_IN, [plugin(COPIES)])
    for part in ("importers", "commands"):
        own = getattr(BUILT_IN, part)
        assert set(getattr(registry, part)) == {*own, *(f"my-{name}" for name in own)}


@pytest.mark.parametrize("command", ["power", "plan"])
def test_a_measure_that_fails_is_an_error_of_what_is_computed_from_a_recording(
    command: str, plugin: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = plugin(
        "from pytest_judgesense.registry import Measure\n"
        "def pytest_judgesense_measures():\n"
        "    return [Measure('mine', 'lower', 'call', 'mine', lambda cell: 1 / 0)]\n"
    )
    assert main(["-p", name, command, "vacuum", "--judge-name", "embedded:clean"]) == 2
    error = capsys.readouterr().err
    assert f"measure 'mine' of plugin {name} could not be taken" in error
    assert "Traceback" not in error
