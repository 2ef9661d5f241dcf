"""Groups of items asked, recorded and replayed: the check, the files, and the notices."""

from __future__ import annotations

import json
from pathlib import Path

from pytest_judgesense import measure
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.judges.judge_table import declared_judge
from pytest_judgesense.report.log import log_line, read_log
from pytest_judgesense.suites.suite import Suite
from tests.plugin.project import ChatServer
from tests.suites.known import load_suite

SUITE = """
schema = "judgesense/suite/1"
name = "answers"
kind = "paraphrase"
[space]
labels = ["YES", "NO"]
[stimuli]
file = "items.jsonl"
groups = ["language", "author"]
[[templates]]
id = "t1"
text = "Is it right? <language>{{language}}</language> {{answer}} YES or NO."
[checks]
group_gap_ceiling = [{ bar = 0.2 }, { bar = 0.2, limit = 0.6, group_field = "author" }]
"""


def loaded(folder: Path) -> Suite:
    lines = [
        json.dumps(
            {
                "id": f"{language}{n}",
                "answer": f"answer {n}",
                "language": language,
                "author": "gpt-4o" if n % 2 else "claude-3",
                "label": "YES",
            }
        )
        for language in ("de", "en", "sw")
        for n in range(20)
    ]
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = folder / "answers.suite.toml"
    path.write_text(SUITE, encoding="utf-8")
    return load_suite(path)


def slighting(prompt: str) -> str:
    """A judge that gives no text in one language its due."""
    return "NO" if "<language>sw</language>" in prompt else "YES"


def outcomes(sheet: Datasheet) -> dict[str, str]:
    return {line.check: line.outcome for of_judge in sheet.judges for line in of_judge.checks}


def test_a_judge_that_slights_a_language_is_found_live_and_in_replay(tmp_path: Path) -> None:
    suite = loaded(tmp_path)
    server = ChatServer()
    server.reply = slighting
    judge = declared_judge("mine", provider="openai", model="gpt-4o-mini", base_url=server.base_url)
    try:
        recorded = measure(judge, suite, mode="record", cassettes=tmp_path / "tapes")
    finally:
        server.close()
    for sheet in (recorded, measure(judge, suite, cassettes=tmp_path / "tapes")):
        # All of sw is wrong, all else right; by author as many are wrong as right.
        whole = find_estimate(sheet.estimates, "group_gap")
        by_author = find_estimate(sheet.estimates, "group_gap", {"group_field": "author"})
        assert whole is not None
        assert by_author is not None
        assert (whole.value, by_author.value) == (1.0, 0.0)
        assert outcomes(sheet) == {
            "group_gap_ceiling[0.2]": "fail",
            "group_gap_ceiling[0.2,group_field=author]": "pass",
        }
        (of_judge,) = sheet.judges
        (table,) = [part for part in of_judge.analyses if part["analysis"] == "by_group"]
        named = [(row["field"], row["group"]) for row in table["rows"] if row["named"]]
        assert named == [("language", "sw")]
        (part,) = of_judge.parts
        (family,) = [notice for notice in part.notices if "of one family" in notice]
        assert "GPT (OpenAI), with who wrote 30 of 60 items (gpt-4o)" in family


def test_a_log_holds_the_groups_of_its_items(tmp_path: Path) -> None:
    suite = loaded(tmp_path)
    sheet = measure("embedded:clean", suite, mode="live", cassettes=tmp_path / "tapes")
    (cell,) = sheet.cells
    judgments = cell.judgments
    path = tmp_path / "log.jsonl"
    lines = [log_line(judgment, suite.design) for judgment in judgments]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert json.loads(lines[0])["groups"] == {"language": "de", "author": "claude-3"}
    assert [judgment.trial.groups for judgment, _ in read_log(path)] == [
        judgment.trial.groups for judgment in judgments
    ]
