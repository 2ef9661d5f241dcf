"""``judgesense lint`` looks at the checks of a suite as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from tests.plugin.project import parity_suite


@pytest.mark.parametrize(
    ("checks", "wordings", "said"),
    [
        ("jss_flor = 0.9", ("Is {{number}} even?", "Even: {{number}}?"), "named 'jss_flor'"),
        ("jss_floor = 10", ("Is {{number}} even?", "Even: {{number}}?"), "error check: jss_floor"),
        ("jss_floor = 0.9", ("Is {{number}} even?",), "error one-wording: jss_floor"),
    ],
)
def test_a_check_that_cannot_be_decided_is_an_error(
    checks: str,
    wordings: tuple[str, ...],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = parity_suite(tmp_path, checks=checks, wordings=wordings)
    assert main(["lint", str(path)]) == 1
    shown = capsys.readouterr().out
    assert said in shown
    assert "1 error" in shown


def test_one_wording_without_a_check_of_wordings_is_fine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = parity_suite(tmp_path, checks="agreement_floor = 0.6", wordings=("Is {{number}} even?",))
    assert main(["lint", str(path)]) == 0
    assert "0 errors" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command", [["report", "none.jsonl"], ["compare", "none.json"], ["lint", "none.suite.toml"]]
)
def test_a_file_that_is_not_there_is_a_wrong_command_as_an_unknown_suite(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(command) == 2
    assert main(["lint", "nosuchsuite"]) == 2
