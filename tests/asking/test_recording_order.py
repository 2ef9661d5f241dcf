"""A finished recording has its lines in the order of the plan: one item's change is local."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_judgesense.cassettes.storage import read_lines
from tests.commands.within import measured
from tests.plugin.project import parity_suite

CASSETTE = Path("cassettes", "mine", "parity.jsonl")
PRESET = """[presets.again]
replicates = 2
"""
JUDGE = """
import time
def judge(messages):
    text = messages[-1]["content"]
    time.sleep(int(text.split()[1]) % 3 / 50)  # answers come in another order than requests
    return "YES"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Six items whose ids follow from their texts, in two wordings."""
    parity_suite(
        tmp_path, wordings=("Is {{number}} even?", "Even: {{number}} or not?"), extra=PRESET
    )
    write_items(tmp_path, range(1, 7))
    (tmp_path / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "own:judge"\n'
    )
    (tmp_path / "own.py").write_text(JUDGE)
    return tmp_path


def write_items(folder: Path, numbers) -> None:
    items = ({"number": str(n), "label": "YES" if n % 2 == 0 else "NO"} for n in numbers)
    (folder / "parity.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in items))


def recorded(folder: Path, suite: str = "parity.suite.toml") -> list[str]:
    """The numbers that the trials of the recording ask about, in the order of its lines."""
    measured(folder, "mine", suite, mode="record")
    texts = (line.exchange.request.body for line in read_lines(folder / CASSETTE))
    return [re.findall(r"(?:Is |Even: )([0-9]+)", text)[-1] for text in texts]


def test_lines_stand_as_the_items_are_planned_whatever_their_ids(project: Path) -> None:
    # Digests of six texts are in this order with a chance of 1 in 720.
    numbers = recorded(project)
    assert numbers == [number for number in "123456" for _ in range(2)]


def test_an_edited_item_stands_behind_what_it_was_and_all_other_lines_stay(project: Path) -> None:
    recorded(project)
    before = (project / CASSETTE).read_bytes().splitlines()
    write_items(project, [1, 2, 33, 4, 5, 6])
    # The old item is no longer planned; prune drops it.
    assert recorded(project) == [n for n in ("1", "2", "3", "33", "4", "5", "6") for _ in range(2)]
    after = (project / CASSETTE).read_bytes().splitlines()
    assert [line for line in after if line in before] == before
    assert len(after) == len(before) + 2


def test_a_recording_that_adds_nothing_leaves_another_order_as_it_is(project: Path) -> None:
    recorded(project)
    path = project / CASSETTE
    reversed_lines = b"\n".join([*reversed(path.read_bytes().splitlines()), b""])
    path.write_bytes(reversed_lines)
    recorded(project)
    assert path.read_bytes() == reversed_lines


def test_the_order_does_not_hang_on_which_preset_was_recorded_first(project: Path) -> None:
    first = recorded(project), recorded(project, "parity.suite.toml@again")
    assert first[1] == [number for number in "123456" for _ in range(4)]
    trials = [line.head.trial for line in read_lines(project / CASSETTE)]
    (project / CASSETTE).unlink()
    recorded(project, "parity.suite.toml@again")
    recorded(project)
    assert [line.head.trial for line in read_lines(project / CASSETTE)] == trials
