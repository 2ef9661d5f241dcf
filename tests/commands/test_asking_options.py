"""Every command that asks a model has its limits, its modes, its plan and its seed alike."""

from __future__ import annotations

import argparse

import pytest

from pytest_judgesense.commands.main import COMMANDS, build_parser

# `record` is a recording: it has no mode, draws nothing at random, and has a deadline beside.
ASKING = ("compare", "why", "label", "paper", "record")
LIMITS = {"--judge-max-calls", "--judge-max-cost", "--judge-concurrency", "--judge-max-unparsed"}
MODES = {"--judge-mode", "--judge-seed", "-o", "--output"}
PLACES = {"--judge-cassettes", "--judge-name", "--plan"}


def options_of(command: str) -> dict[str, argparse.Action]:
    """The options of a command, by every name that they have."""
    parser = build_parser([command])
    (commands,) = (
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    )
    actions = commands.choices[command]._actions
    return {name: action for action in actions for name in action.option_strings}


@pytest.mark.parametrize("command", ASKING)
def test_it_has_limits_a_plan_and_recordings(command: str) -> None:
    assert options_of(command).keys() >= LIMITS | PLACES


@pytest.mark.parametrize("command", [command for command in ASKING if command != "record"])
def test_it_replays_unless_it_is_told_to_ask(command: str) -> None:
    options = options_of(command)
    assert options.keys() >= MODES
    assert options["--judge-mode"].default == "replay"
    assert options["--judge-max-calls"].default is None
    assert options["--judge-max-cost"].default is None


def test_the_others_ask_nobody() -> None:
    others = (command for command in COMMANDS if command not in ASKING)
    assert [command for command in others if "--judge-max-calls" in options_of(command)] == []
