"""The options that several commands share."""

from __future__ import annotations

import argparse

from pytest_judgesense.commands.options import add_judge


def test_a_command_is_asked_of_one_judge_unless_it_takes_several() -> None:
    of_one, of_several = argparse.ArgumentParser(), argparse.ArgumentParser()
    add_judge(of_one)
    add_judge(of_several, several=True)
    assert of_one.parse_args(["--judge-name", "a"]).judge_name == "a"
    assert of_one.parse_args([]).judge_name is None
    twice = ["--judge-name", "a", "--judge-name", "b"]
    assert of_several.parse_args(twice).judge_name == ["a", "b"]
    assert of_several.parse_args([]).judge_name == []
