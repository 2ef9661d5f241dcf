"""What holds for every command: its exit codes, its help, and the words that a shell completes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import build_parser, main
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.plugin.options import OPTIONS
from tests.plugin.project import parity_suite


def _parsers(
    parser: ArgumentParser, name: str = "judgesense"
) -> Iterator[tuple[str, ArgumentParser]]:
    """``parser`` and those of its commands, by the words that lead to them."""
    yield name, parser
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for word, inner in action.choices.items():
                yield from _parsers(inner, f"{name} {word}")


PARSERS = dict(_parsers(build_parser()))


@pytest.mark.parametrize("name", PARSERS)
def test_everything_that_a_command_takes_has_help(name: str) -> None:
    for action in PARSERS[name]._actions:
        if isinstance(action, _SubParsersAction):
            told = {choice.dest: choice.help for choice in action._choices_actions}
            assert set(told) == set(action.choices)
            assert all(told.values()), told
        else:
            assert action.help, action


def test_every_option_of_pytest_has_help(pytester: pytest.Pytester) -> None:
    group = pytester.parseconfigure()._parser.getgroup("judgesense")
    helped = {name for one in group.options if one.attrs().get("help") for name in one.names()}
    assert helped == {f"--{option.name}" for option in OPTIONS}


# --- exit codes ----------------------------------------------------------------------------------

JUDGE = ("--judge-name", "embedded:clean")
# What there is none of, of everything that a command is given a name or a path of.
UNKNOWN = [
    "init --callable own:judge --items none.csv",
    "report none.jsonl",
    "explain none",
    "compare none.json",
    "compare none.json other.json",
    "compare none --prompts none.txt other.txt",
    "compare none --judges embedded:clean embedded:noisy",
    "compare coherence --judges none.jsonl embedded:noisy",
    "correct none.jsonl --calibration none.json",
    "correct none --labels none.csv --drawn random",
    "plan --lint none",
    "plan --lint none.suite.toml",
    "plan --lint coherence@none",
    *(f"import none --format {kind} -o out" for kind in BUILT_IN.importers),
    "serve --get none",
    "recordings show none.jsonl",
    "recordings merge none.jsonl none.jsonl none.jsonl",
    "recordings diff none.jsonl other.jsonl",
    "recordings diff git:HEAD none",
    "recordings prune none",
    "recordings move none other",
    "recordings check none.jsonl",
    "recordings check none",
    "recordings join none.json -o out.json",
    "recordings join none.jsonl -o out.jsonl",
    "recordings join none -o out",
    "plan none",
    "plan none.suite.toml",
    "why none --judge-name embedded:clean",
    "report --history none.jsonl",
    "compare none.jsonl --anchors none",
    "compare none.jsonl other.jsonl --anchors coherence",
    "compare none coherence --anchors preference",
    "report none.jsonl --panel",
    "report none --panel",
]
UNKNOWN += ["why none --leave-out --judge-name embedded:clean"] * (BUILT_IN.leave_out is not None)
ASKING = [
    "label --wordings {}",
    "label {} -o out",
    "plan {}",
    "record {}",
    "recordings batch export {} -o out",
    "recordings batch import {} none.jsonl",
]
UNKNOWN += [
    f"{command.format(suite)} {' '.join(JUDGE)}"
    for command in ASKING
    for suite in ("none", "none.suite.toml", "coherence@none")
]


@pytest.mark.parametrize("command", UNKNOWN)
def test_a_name_or_a_file_that_is_not_there_is_a_wrong_command(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text("def judge(a, b):\n    return 'a'\n")
    assert main(command.split()) == 2
    assert "none" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["own.py"]


def test_every_command_that_reads_stands_in_the_table() -> None:
    # It runs built-in suites, and is not given the name of a file that it reads.
    without = {"paper"}
    commands = {
        name.removeprefix("judgesense ")
        for name, parser in PARSERS.items()
        if parser._subparsers is None
    }
    tried = {name for name in commands for line in UNKNOWN if f"{line} ".startswith(f"{name} ")}
    assert commands - tried <= without


@pytest.mark.parametrize(
    "command", ["plan --lint {}", "plan {} --judge-name embedded:clean", "plan {}"]
)
def test_a_file_that_cannot_be_read_is_broken(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.suite.toml").write_text("schema = 1")
    assert main(command.format("broken.suite.toml").split()) == 3


# --- completion ----------------------------------------------------------------------------------


RECORDINGS = "--help -h batch check diff join merge move prune show".split()


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("judgesense pl", ["plan"]),
        ("judgesense recordings ", RECORDINGS),
        ("judgesense plan --judge-n", ["--judge-name"]),
        ("judgesense import x.csv --valu", ["--value"]),
        ("judgesense label --judge-mode re", ["record", "replay"]),
    ],
)
def test_a_shell_completes(line: str, completed: list[str]) -> None:
    """By bash itself, with what `register-python-argcomplete judgesense` prints."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("completion takes bash")
    # Those of this environment: a machine may have another argcomplete, and no judgesense.
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    words = line.split(" ")
    script = f"""
        eval "$(register-python-argcomplete judgesense)"
        COMP_LINE='{line}' COMP_POINT={len(line)} COMP_TYPE=9
        COMP_WORDS=({line}) COMP_CWORD={len(words) - 1}
        $(complete -p judgesense | sed 's/.*-F \\([^ ]*\\).*/\\1/') judgesense
        printf '%s\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        [bash, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )
    assert sorted(word.strip() for word in done.stdout.split()) == completed, done.stderr


# --- code of the project -------------------------------------------------------------------------

PLUGIN = """
def pytest_judgesense_providers():
    from pytest_judgesense.registry import HttpRequest, Provider

    def build(*given):
        return HttpRequest("POST", "", {}, b"")

    return [Provider("plain", build, lambda status, body: None, "https://example.com", "KEY")]
"""


TABLES = {"pyproject.toml": "tool.pytest.ini_options", ".pytest.toml": "pytest"}


@pytest.mark.parametrize("ini", ["pyproject.toml", "pytest.ini", ".pytest.toml", ".pytest.ini"])
@pytest.mark.parametrize(
    "command", ["plan --lint parity.suite.toml", "plan parity.suite.toml --judge-name plain:small"]
)
def test_plugins_are_found_on_pythonpath(
    command: str, ini: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "src").mkdir()
    # No name twice: what is imported once stays.
    name = f"own_{command.partition(' ')[0]}_{ini.replace('.', '_')}"
    (tmp_path / "src" / f"{name}.py").write_text(PLUGIN)
    parity_suite(tmp_path)
    (tmp_path / ini).write_text(
        f'[{TABLES[ini]}]\npythonpath = ["src"]\n'
        if ini in TABLES
        else "[pytest]\npythonpath = src\n"
    )
    assert main(["-p", name, *command.split()]) == 0
