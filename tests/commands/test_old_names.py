"""The commands that there are, and that an old name says which one it is now."""

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


def test_the_commands_stand_in_the_order_of_a_first_week_within_a_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first_week = "init plan compare why report label correct import explain paper"
    assert list(command_line.COMMANDS) == [*first_week.split(), "recordings", "record", "serve"]
    monkeypatch.setenv("COLUMNS", "100")
    # A terminal of 100 columns shows 40 lines beside the prompt.
    assert len(command_line.build_parser().format_help().splitlines()) <= 40
