"""A command that has another name now says which."""

from __future__ import annotations

import pytest

from pytest_judgesense.commands import main as command_line


def test_an_old_name_is_an_error_with_the_new_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(command_line.RENAMED, "tries", "compare SUITE --prompts P1 P2")
    assert command_line.main(["tries", "a.txt"]) == 2
    told = capsys.readouterr().err
    assert "judgesense tries has another name" in told
    assert "expected: judgesense compare SUITE --prompts P1 P2" in told


def test_no_old_name_is_a_command() -> None:
    assert not command_line.RENAMED.keys() & command_line.COMMANDS.keys()
