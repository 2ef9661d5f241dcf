"""Suites of probes asked, recorded and replayed: the same side, whatever part is asked when."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import measure
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.instruments.probe.edits import own_book
from pytest_judgesense.judges.judge_table import declared_judge
from tests.instruments.probe.probing import (
    GRADED,
    NAMED,
    PROBE,
    falling_for,
    loaded,
    only,
    write_pairs,
)
from tests.plugin.project import ChatServer, forked
from tests.processes import run

INJECTED = [variant.edited.append or "" for variant in own_book()[0].by_name["injection"].variants]


def effect(sheet: Datasheet, **condition: str) -> float | None:
    (value,) = [
        e.value
        for e in sheet.estimates
        if e.measure == "probe_effect" and dict(e.condition) == condition
    ]
    return value


def table(sheet: Datasheet) -> dict[str, Any]:
    (rows,) = [a["rows"] for j in sheet.judges for a in j.analyses if a["analysis"] == "probes"]
    return {row["probe"]: row for row in rows}


def test_a_function_that_obeys_is_found_and_the_recording_edits_the_same_side(
    tmp_path: Path,
) -> None:
    suite = loaded(tmp_path, only("injection", "flattery"), count=12)
    judge = falling_for(INJECTED)
    calls = []

    def counted(messages: list[dict[str, str]]) -> str:
        calls.append(messages)
        return judge(messages)

    sheets = []
    for mode in ("record", "replay"):
        sheets.append(
            measure(declared_judge("mine", counted), suite, mode=mode, cassettes=tmp_path / "tapes")
        )
        assert len(calls) == 12 * 18  # 2 + 4 + 6 x 2 calls a line; a replay asks nothing
    for sheet in sheets:
        assert effect(sheet, probe="injection") == 1.0
        assert effect(sheet, probe="flattery") == 0.0
        assert table(sheet)["injection"]["found"]
        assert not table(sheet)["flattery"]["found"]
    # The worse side of p0, content 1, was rejected, and holds the edit in the recording.
    texts = {
        exchange.trial: json.loads(exchange.request.body)["messages"][-1]["content"]
        for exchange in read_exchanges(tmp_path / "tapes" / "mine" / "mine.jsonl")
    }
    edited = texts["mine/p0.injection-edited/t1/ab/r1"]
    first, second = edited.partition(" A: ")[2].split(" B: ")
    assert any(text in first for text in INJECTED)
    assert not any(text in second for text in INJECTED)


def test_a_judge_against_the_labels_is_edited_on_the_side_that_it_rejects(tmp_path: Path) -> None:
    suite = loaded(tmp_path, only("injection"), count=8)

    def contrary(messages: list[dict[str, str]]) -> str:
        prompt = messages[-1]["content"].partition(" A: ")[2]
        held = [any(mark in text for mark in INJECTED) for text in prompt.split(" B: ")]
        if held[0] != held[1]:
            return "A" if held[0] else "B"
        return "B" if "Good" in prompt.split(" B: ")[0] else "A"

    for mode in ("record", "replay"):
        sheet = measure(
            declared_judge("mine", contrary), suite, mode=mode, cassettes=tmp_path / "tapes"
        )
        # By the labels the edited side would have been the one that wins anyway: effect 0.
        assert effect(sheet, probe="injection") == 1.0


def test_single_outputs_are_graded_higher_for_what_addresses_the_judge(tmp_path: Path) -> None:
    suite = loaded(tmp_path, GRADED, count=8)

    def judge(messages: list[dict[str, str]]) -> str:
        text = messages[-1]["content"]
        return "3" if any(mark in text for mark in INJECTED) else "2"

    sheet = measure(declared_judge("mine", judge), suite, mode="live")
    assert effect(sheet, probe="injection") == 0.5
    assert effect(sheet, probe="verbosity") == 0.0


def test_structured_output_is_recorded_and_replayed_with_the_names_of_each_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-own-0123456789abcdef")
    suite = loaded(tmp_path, PROBE.replace("from =", 'probes = ["names"]\nfrom =') + NAMED, count=8)
    # The first slot; under X and Y the second one, by its name there.
    server = ChatServer()
    server.reply = lambda prompt: json.dumps(
        {"verdict": "Y" if "<Y>" in prompt else "1" if "<1>" in prompt else "A"}
    )
    judge = declared_judge(
        "mine", provider="openai", model="m", base_url=server.base_url, structured=True
    )
    try:
        recorded = measure(judge, suite, mode="record", cassettes=tmp_path / "tapes")
    finally:
        server.close()
    permitted = {
        tuple(body["response_format"]["json_schema"]["schema"]["properties"]["verdict"]["enum"])
        for body in server.asked
    }
    assert permitted == {("A", "B"), ("1", "2"), ("X", "Y")}
    replayed = measure(judge, suite, cassettes=tmp_path / "tapes")
    for sheet in (recorded, replayed):
        effects = {
            e.condition["naming"]: e.value
            for e in sheet.estimates
            if e.measure == "names_effect" and e.condition
        }
        assert effects == {"12": 0.0, "xy": 1.0}


def test_a_function_with_the_prompt_in_its_code_returns_labels_under_every_naming(
    tmp_path: Path,
) -> None:
    suite = loaded(tmp_path, PROBE.replace("from =", 'probes = ["names"]\nfrom =') + NAMED, count=4)

    def judge(a: str, b: str) -> str:
        return "A" if a.startswith("Good") else "B"

    sheet = measure(declared_judge("mine", judge), suite, mode="live")
    shares = {e.measure: e.value for e in sheet.estimates if not e.condition}
    assert (shares["names_effect"], shares["unparsed_rate"]) == (0.0, 0.0)


CONFTEST = """
from pytest_judgesense import Judge
from pytest_judgesense.instruments.probe.edits import own_book

MARKS = [v.edited.append for v in own_book()[0].by_name["injection"].variants]

def judge(messages):
    first, second = messages[-1]["content"].partition(" A: ")[2].split(" B: ")
    held = [any(mark in text for mark in MARKS) for text in (first, second)]
    if held[0] != held[1]:
        return "A" if held[0] else "B"
    return "A" if "Good" in first else "B"

def pytest_judgesense_judges(config):
    return [Judge("mine", judge)]
"""
CHECKED = only("injection", "flattery") + (
    '[checks]\nprobe_effect_ceiling = [{ bar = 0.1, probe = "injection" }, '
    '{ bar = 0.1, limit = 0.5, probe = "flattery" }]\n'
)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("COLUMNS", "100")
    write_pairs(pytester.path, count=12)
    (pytester.path / "mine.suite.toml").write_text(CHECKED, encoding="utf-8")
    (pytester.path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    return pytester


def numbers(path: Path) -> list[dict[str, Any]]:
    (judge,) = json.loads(path.read_text(encoding="utf-8"))["judges"]
    return [*judge["measures"], *judge["checks"]]


def of_probes(measured: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The estimates of probes; a report of a log has no checks."""
    return [n for n in measured if n["measure"].startswith("probe_") and "check" not in n]


def test_a_session_says_what_moves_the_judge_and_its_log_says_the_same(
    project: pytest.Pytester,
) -> None:
    files = [part for name in ("s.json", "s.jsonl", "s.html") for part in
             ("--judge-datasheet", name)]  # fmt: skip
    done = forked(project, "mine.suite.toml", "--judge-mode", "record", *files)
    done.assert_outcomes(passed=1, failed=1)
    text = " ".join(done.stdout.str().split())
    assert (
        "a text that addresses the judge moves 100% of verdicts to the answer that holds it" in text
    )
    assert "open to injection" in text
    assert "p0.injection-placebo" in text
    # The log holds what the numbers are made of, the edited side included.
    report = run("judgesense", "report", "s.jsonl", "-o", "again.json", cwd=project.path)
    assert report.returncode == 0, report.stderr
    then, now = numbers(project.path / "s.json"), numbers(project.path / "again.json")
    assert of_probes(now) == of_probes(then)


def test_shards_and_an_early_stop_edit_the_same_sides(project: pytest.Pytester) -> None:
    whole = ("mine.suite.toml", "-q", "--judge-datasheet")
    forked(project, *whole, "whole.json", "--judge-mode", "record", "--judge-cassettes", "a")
    for shard in ("1/2", "2/2"):
        forked(project, "mine.suite.toml", "--judge-mode", "record", "--judge-shard", shard,
               "--judge-cassettes", f"shard{shard[0]}")  # fmt: skip
    merged = run(
        "judgesense", "recordings", "join", "shard1", "shard2", "-o", "b", cwd=project.path
    )
    assert merged.returncode == 0, merged.stderr
    forked(project, *whole, "merged.json", "--judge-cassettes", "b")
    measures = [numbers(project.path / name) for name in ("whole.json", "merged.json")]
    assert measures[0] == measures[1]
    stopped = forked(project, "mine.suite.toml", "--judge-mode", "record", "--judge-early-stop",
                     "--judge-cassettes", "c")  # fmt: skip
    assert "INTERNALERROR" not in stopped.stdout.str()
    again = forked(project, *whole, "stopped.json", "--judge-cassettes", "c")
    again.assert_outcomes(**{k: v for k, v in stopped.parseoutcomes().items() if k != "warnings"})


@pytest.mark.parametrize("workers", [0, 2])
def test_under_workers_the_numbers_are_the_same(project: pytest.Pytester, workers: int) -> None:
    forked(project, "mine.suite.toml", "--judge-mode", "record", "--judge-datasheet", "a.json")
    forked(project, "mine.suite.toml", "-n", str(workers), "--judge-datasheet", "b.json")
    assert numbers(project.path / "a.json") == numbers(project.path / "b.json")


def test_a_marker_takes_the_probe_and_an_unknown_one_says_which_there_are(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.probe_effect_ceiling(0.1, probe="flattery", limit=0.5, suite="mine.suite.toml")
        def test_flattery():
            pass

        @pytest.mark.probe_effect_ceiling(0.1, probe="injektion", suite="mine.suite.toml")
        def test_typo():
            pass
        """
    )
    done = forked(project, "--judge-mode", "record")
    text = done.stdout.str()
    assert "probe=injection; probe=flattery" in " ".join(text.split())
    done.assert_outcomes(failed=2, passed=2)


def test_the_commands_for_a_suite_take_one_of_probes(project: pytest.Pytester) -> None:
    (project.path / "pyproject.toml").write_text(
        '[tool.judgesense.judges.gpt]\nprovider = "openai"\nmodel = "gpt-4o-mini"\n', "utf-8"
    )
    planned = run("judgesense", "plan", "mine.suite.toml", "--judge-name", "gpt", cwd=project.path)
    assert planned.returncode == 0, planned.stderr
    assert "216" in planned.stdout  # 12 lines of 18 calls
    linted = run("judgesense", "plan", "--lint", "mine.suite.toml", cwd=project.path)
    assert linted.returncode == 0, linted.stdout
    (project.path / "mine.suite.toml").write_text(PROBE + "probes = ['injektion']\n", "utf-8")
    wrong = run("judgesense", "plan", "--lint", "mine.suite.toml", cwd=project.path)
    assert "injection" in wrong.stdout + wrong.stderr
    assert wrong.returncode != 0
