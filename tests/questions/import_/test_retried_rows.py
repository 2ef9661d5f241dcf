"""Rows of failed calls that were made again, among those of answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.questions.import_.look import looked_at


@pytest.mark.parametrize("fails_first", [True, False])
def test_a_failed_call_is_superseded_by_an_answer_of_its_key(
    tmp_path: Path, fails_first: bool
) -> None:
    # 3 questions by 2 methods: 6 answers; q1/short failed once and has an answer, q2/short failed
    # twice and has none: of 6 + 1 + 2 - 1 rows 6 stay, 5 with an answer.
    answers = [
        {"question_id": f"q{item}", "method": method, "winner": "yn"[item % 2].upper(), "raw": "{}"}
        for item in (0, 1, 2)
        for method in ("long", "short")
        if (item, method) != (2, "short")
    ]
    failed = [
        {"question_id": name, "method": "short", "winner": None, "error": f"reset {number}"}
        for number, name in enumerate(("q1", "q2", "q2"))
    ]
    rows = [*failed, *answers] if fails_first else [*answers, *failed]
    path = tmp_path / "calls.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    look = looked_at(ImportOptions(path), None, BUILT_IN)
    assert look.problem is None
    assert look.read is not None
    assert dict(look.chosen.map)["item"] == "question_id,method"
    assert dict(look.chosen.map)["failed"] == "error"
    verdicts = [judgment.verdict for judgment, _ in look.read.judgments]
    assert len(verdicts) == 6
    assert verdicts.count(None) == 1
    assert any("2 rows without a verdict are left out" in note for note in look.notes)
