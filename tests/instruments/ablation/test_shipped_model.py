"""What a real small model does with the sentences of a built-in prompt, replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main


def test_a_small_model_does_not_go_by_the_levels_of_a_rubric(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["ablate", "smollm2-135m", "coherence", "--items", "9", "-o", "x.json"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    # Every text gets a 1, by all six replies; without the last sentence four of nine do not.
    assert "1 of 9 sentences noticed on 9 items" in words
    assert "### s09 | Reply with one number from 1 to 5 and nothing else." in words
    assert "moves 44% of verdicts [" in words
    sheet = json.loads((tmp_path / "x.json").read_text("utf-8"))["judges"][0]
    (table,) = (table for table in sheet["analyses"] if table["analysis"] == "sentences")
    levels = [row for row in table["rows"] if row["text"][:2] in ("5:", "4:", "3:", "2:", "1:")]
    assert len(levels) == 5
    assert all(row["finding"].startswith("no effect noticed") for row in levels)
