"""Suites of long records asked, recorded and replayed; what recordings and plans hold of them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from pytest_judgesense import measure
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.judges.judge_table import declared_judge
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.questions.pricing import quote_of_all
from tests.instruments.depth.records import SUITE, TEXTS, loaded
from tests.plugin.project import ChatServer
from tests.shipped import CASSETTES
from tests.suites.known import builtin_suites, load_suite

CHECKS = """
[checks]
depth_recall_floor = { bar = 0.8, limit = 0.3 }
depth_drop_ceiling = { bar = 0.1, limit = 0.45 }
depth_false_alarm_ceiling = { bar = 0.1, limit = 0.45 }
"""


def estimate_of(sheet: Datasheet, measure_name: str, **condition: str | int) -> Estimate:
    estimate = find_estimate(sheet.estimates, measure_name, condition)
    assert estimate is not None
    return estimate


def outcomes(sheet: Datasheet) -> dict[str, str]:
    return {line.check: line.outcome for of_judge in sheet.judges for line in of_judge.checks}


def place_shown(prompt: str) -> tuple[int, int] | None:
    """Which part of its record the passage is, of how many; ``None`` where it is left out."""
    record = prompt.partition("<record>\n\n")[2].partition("\n\n</record>")[0]
    parts = record.split("\n\n")
    place = next((n for n, part in enumerate(parts) if part.startswith("Caller")), None)
    return None if place is None else (place, len(parts))


def is_in_a_longer_middle(place: int, parts: int) -> bool:
    """Whether a passage stands in the middle of a record of 200 tokens, not of 100."""
    return parts > 6 and 0 < place < parts - 1


def losing(prompt: str) -> str:
    """A judge that finds every passage but those in the middle of the longer records."""
    shown = place_shown(prompt)
    return "NO" if shown is None or is_in_a_longer_middle(*shown) else "YES"


def test_a_judge_that_loses_the_middle_is_found_live_and_in_replay(tmp_path: Path) -> None:
    suite = loaded(tmp_path, SUITE + CHECKS, count=10)
    server = ChatServer()
    server.reply = losing
    judge = declared_judge("mine", provider="openai", model="m", base_url=server.base_url)
    try:
        recorded = measure(judge, suite, mode="record", cassettes=tmp_path / "tapes")
    finally:
        server.close()
    sheets = [recorded, measure(judge, suite, cassettes=tmp_path / "tapes")]
    for sheet in sheets:
        # In every item the middle of 200 tokens is missed and nothing else.
        assert estimate_of(sheet, "depth_drop", place="middle", length=200).value == 1.0
        assert estimate_of(sheet, "depth_drop", place="middle", length=100).value == 0.0
        assert estimate_of(sheet, "depth_false_alarm").value == 0.0
        assert outcomes(sheet) == {
            "depth_recall_floor[0.8]": "pass",
            "depth_drop_ceiling[0.1]": "fail",
            "depth_false_alarm_ceiling[0.1]": "pass",
        }
    # All three places are found at 100 tokens, two at 200.
    assert estimate_of(sheets[0], "depth_recall").value == (3 + 2) / 6
    (tape,) = (tmp_path / "tapes").rglob("*.jsonl")
    recorded = tape.read_text(encoding="utf-8")
    assert all(recorded.count(text) <= 1 for text in TEXTS)


def test_a_judge_that_always_says_yes_fails_by_its_false_alarms(tmp_path: Path) -> None:
    suite = loaded(tmp_path, SUITE + CHECKS, count=10)
    sheet = measure(declared_judge("yes", lambda messages: "YES"), suite, mode="live")
    assert outcomes(sheet)["depth_false_alarm_ceiling[0.1]"] == "fail"
    assert outcomes(sheet)["depth_recall_floor[0.8]"] == "fail"


def finding(prompt: str) -> str:
    """A judge that finds .85 of passages, .3 fewer in the middle of longer records, as a digest."""
    draw = int(hashlib.sha256(prompt.encode()).hexdigest()[:8], 16) / 16**8
    shown = place_shown(prompt)
    if shown is None:
        return "YES" if draw < 0.05 else "NO"
    return "YES" if draw < (0.55 if is_in_a_longer_middle(*shown) else 0.85) else "NO"


def test_a_loss_at_an_endpoint_is_found_and_no_other(tmp_path: Path) -> None:
    # One draw of 60 items; benchmarks/depth.py has twenty, of the built-in suite.
    suite = loaded(tmp_path, SUITE, count=60)
    server = ChatServer()
    server.reply = finding
    judge = declared_judge("mine", provider="openai", model="m", base_url=server.base_url)
    try:
        sheet = measure(judge, suite, mode="live", concurrency=16)
    finally:
        server.close()
    assert len(server.asked) == 60 * 8
    (rows,) = [
        part["rows"]
        for of_judge in sheet.judges
        for part in of_judge.analyses
        if part["analysis"] == "depth_by_place"
    ]
    assert [(row["place"], row["length"]) for row in rows if row["dropped"]] == [("middle", 200)]


def test_the_shipped_recording_holds_padding_once_and_stays_small() -> None:
    tape = CASSETTES / "clean" / "depth.jsonl"
    lines = tape.read_text(encoding="utf-8").splitlines()
    shared = [line for line in map(json.loads, lines) if "id" in line]
    pieces = [piece for line in shared for piece in line["text"].split("\n\n")]
    longer = [piece for piece in pieces if len(piece) > 200]
    assert len({*longer}) == len(longer)
    # Whole prompts would be 19 MB.
    assert tape.stat().st_size < 1_500_000


def test_a_model_that_is_run_here_has_a_context_for_the_longest_record() -> None:
    local = judge_from_name("local:smollm2-135m")
    whole, quick = (load_suite(builtin_suites()["depth"], preset) for preset in (None, "quick"))
    longest = max(len(item.fields["record"]) for item in whole.items)
    context = judge_for_suite(local, whole).context
    # At three characters a token, with the question, the reply and a step of 1,024 to spare.
    assert context is not None
    assert longest / 3 < context < longest / 3 + 2 * 1024
    assert judge_for_suite(local, quick).context is None, "the usual 4,096 are enough"
    stated = replace(local, context=32_768)
    assert judge_for_suite(stated, whole).context == 32_768
    assert judge_for_suite(judge_from_name("openai:gpt-4o-mini"), whole).context is None


def test_a_plan_counts_the_tokens_of_long_records() -> None:
    suite = load_suite(builtin_suites()["depth"])
    judge = judge_from_name("openai:gpt-4o-mini")
    asked = suite_for_judge(suite, judge)
    quote = quote_of_all(judge_for_suite(judge, asked), asked)
    assert quote.calls == 480
    # 240 records of 2,000 tokens and as many of 16,000, a passage on top of each.
    assert 240 * 18_000 < quote.prompt_tokens < 240 * 18_000 * 1.05
