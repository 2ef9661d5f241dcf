"""What a real small model does with the sentences of a built-in prompt, replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main

WORDS = ("why", "coherence", "--leave-out", "--items", "9", "--judge-name")


def test_a_small_model_does_not_go_by_the_levels_of_a_rubric(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*WORDS, "smollm2-135m", "-o", "x.json"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    # Every text gets a 1, by all six replies; without the last sentence four of nine do not.
    assert "1 of 9 sentences noticed on 9 items" in words
    assert "### s09 | Reply with one number from 1 to 5 and nothing else." in words
    assert "moves 44% of verdicts [" in words
    # The recording is older than the askings together, so nothing is said of dropping.
    assert "not asked together: keep them" in words
    assert "drop" not in words
    sheet = json.loads((tmp_path / "x.json").read_text("utf-8"))["judges"][0]
    (table,) = (table for table in sheet["analyses"] if table["analysis"] == "sentences")
    levels = [row for row in table["rows"] if row["text"][:2] in ("5:", "4:", "3:", "2:", "1:")]
    assert len(levels) == 5
    assert all(row["finding"].startswith("no effect noticed") for row in levels)


def test_a_larger_one_goes_by_the_task_and_the_best_level_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*WORDS, "qwen2.5-coder-0.5b"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "2 of 9 sentences noticed on 9 items" in words
    assert "two replies to it differ in 0% of pairs" in words
    # Without the task, or the best level, every one of nine verdicts is another one.
    assert "#### s03 | Rate the coherence of the text from 1 to 5 by this rubric:" in words
    assert "#### s04 | 5: All sentences belong to one line of thought" in words
    assert words.count("moves 100% of verdicts [33, 100]") == 2
