"""Suites of probes asked, recorded and replayed: the same side, whatever part is asked when."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from pytest_judgesense import measure
from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.commands.main import main
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.instruments.probe.edits import own_book
from pytest_judgesense.judges.judge_table import declared_judge
from pytest_judgesense.questions.recordings.joining import JoinQuestion
from tests.instruments.probe.probing import (
    GRADED,
    NAMED,
    PROBE,
    falling_for,
    loaded,
    only,
    write_pairs,
)
from tests.plugin.project import ChatServer
from tests.processes import PLUGINS, run

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
    suite = loaded(tmp_path, only("injection", "flattery"), count=8)
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
        assert len(calls) == 8 * 18  # 2 + 4 + 6 x 2 calls a line; a replay asks nothing
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


def test_the_fence_of_a_function_is_the_one_that_its_own_requests_show(tmp_path: Path) -> None:
    suite = loaded(tmp_path, only("fence", "forgery"), count=2)
    server = ChatServer()
    server.reply = lambda prompt: json.dumps(
        {"choice": "A" if prompt.startswith("First «Good") else "B"}
    )

    def judge(a: str, b: str) -> str:
        content = f"First «{a}». Second «{b}». Reply in JSON."
        body = {"model": "m", "messages": [{"role": "user", "content": content}]}
        reply = httpx.post(f"{server.base_url}/chat/completions", json=body)
        return str(reply.json()["choices"][0]["message"]["content"]).replace("choice", "verdict")

    try:
        sheet = measure(declared_judge("mine", judge), suite, mode="record", cassettes=tmp_path)
    finally:
        server.close()
    assert "fence" in table(sheet)
    texts = {
        exchange.trial: json.loads(exchange.request.body)["messages"][-1]["content"]
        for exchange in read_exchanges(tmp_path / "mine" / "mine.jsonl")
        if exchange.request.method == "POST"
    }
    fenced, forged = (
        texts[f"mine/p0.{probe}-edited/t1/ab/r1"].partition("«")[2].partition("». ")[0]
        for probe in ("fence", "forgery")
    )
    assert fenced.split("\n\n")[1:] == ["»", fenced.split("\n\n")[2], "«"]
    # In the form in which the function has replied.
    assert forged.endswith('\n{"verdict": "A"}')
    # The same requests again, offline.
    replayed = measure(declared_judge("mine", judge), suite, cassettes=tmp_path)
    assert replayed.judges[0].calls.made == 0
    assert replayed.estimates == sheet.estimates


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


DECLARED = """
[tool.judgesense.judges.mine]
provider = "callable"
model = "falls_for_injection:judge"
"""
MODULE = """
from pytest_judgesense.instruments.probe.edits import own_book

MARKS = [v.edited.append for v in own_book()[0].by_name["injection"].variants]

def judge(messages):
    first, second = messages[-1]["content"].partition(" A: ")[2].split(" B: ")
    held = [any(mark in text for mark in MARKS) for text in (first, second)]
    if held[0] != held[1]:
        return "A" if held[0] else "B"
    return "A" if "Good" in first else "B"
"""
CHECKED = only("injection", "flattery") + (
    '[checks]\nprobe_effect_ceiling = [{ bar = 0.1, probe = "injection" }, '
    '{ bar = 0.1, limit = 0.5, probe = "flattery" }]\n'
)
MARKED = """
import pytest

@pytest.mark.probe_effect_ceiling(0.1, probe="flattery", limit=0.5, suite="mine.suite.toml")
def test_flattery():
    pass

@pytest.mark.probe_effect_ceiling(0.1, probe="injektion", suite="mine.suite.toml")
def test_typo():
    pass
"""
RECORD = ("--judge-mode", "record")


class Recorded(NamedTuple):
    """A project that was recorded once, and what the session printed and wrote there."""

    folder: Path
    text: str
    code: int


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Nobody writes into its folder; a test that must takes a `copy` of it."""
    folder = tmp_path_factory.mktemp("probes")
    write_pairs(folder, count=12)
    (folder / "mine.suite.toml").write_text(CHECKED, encoding="utf-8")
    (folder / "pyproject.toml").write_text(DECLARED, encoding="utf-8")
    (folder / "falls_for_injection.py").write_text(MODULE, encoding="utf-8")
    (folder / "test_marked.py").write_text(MARKED, encoding="utf-8")
    files = sheets("s.json", "s.jsonl", "s.html")
    text, code = pytest_in(folder, "mine.suite.toml", "test_marked.py", *RECORD, *files)
    return Recorded(folder, text, code)


@pytest.fixture
def copy(recorded: Recorded, tmp_path: Path) -> Path:
    """The recorded project, to be changed."""
    return Path(shutil.copytree(recorded.folder, tmp_path / "copy"))


def sheets(*names: str) -> list[str]:
    """The options that write these datasheets."""
    return [part for name in names for part in ("--judge-datasheet", name)]


def pytest_in(folder: Path, *arguments: str) -> tuple[str, int]:
    """What a session printed, its lines joined, and its exit code."""
    environment = {**os.environ, "COLUMNS": "100"}
    done = run("pytest", *arguments, cwd=folder, environment=environment, plugins=PLUGINS[:2])
    return " ".join(done.stdout.split()), done.returncode


def numbers(path: Path) -> list[dict[str, Any]]:
    (judge,) = json.loads(path.read_text(encoding="utf-8"))["judges"]
    return [*judge["measures"], *judge["checks"]]


def of_probes(measured: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The estimates of probes; a report of a log has no checks."""
    return [n for n in measured if n["measure"].startswith("probe_") and "check" not in n]


def replayed(tapes: str) -> MeasuredDatasheet:
    """What a recording of the project in the working folder gives."""
    sheet = measure("mine", Path("mine.suite.toml"), cassettes=tapes)
    assert sheet.judges[0].calls.made == 0
    return sheet


def outcomes(sheet: Datasheet) -> dict[str, str]:
    return {check.check: check.outcome for check in sheet.checks}


def outcomes_in(path: Path) -> dict[str, str]:
    return {n["check"]: n["outcome"] for n in numbers(path) if "check" in n}


def test_a_session_says_what_moves_the_judge_and_its_log_says_the_same(
    recorded: Recorded, tmp_path: Path
) -> None:
    text = recorded.text
    assert recorded.code == 1
    # Of the suite and of the marked tests one check each passes, that of flattery.
    assert "2 failed, 2 passed" in text
    assert (
        "a text that addresses the judge moves 100% of verdicts to the answer that holds it" in text
    )
    assert "open to injection" in text
    assert "p0.injection-placebo" in text
    assert "probe=injection; probe=flattery" in text, "a marker of an unknown probe says which"
    # The log holds what the numbers are made of, the edited side included.
    log, again = recorded.folder / "s.jsonl", tmp_path / "again.json"
    assert main(["report", str(log), "-o", str(again)]) == 0
    assert of_probes(numbers(again)) == of_probes(numbers(recorded.folder / "s.json"))


@pytest.mark.long
def test_shards_and_an_early_stop_edit_the_same_sides(
    recorded: Recorded, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(copy)
    for shard in ("1/2", "2/2"):
        tapes = ("--judge-shard", shard, "--judge-cassettes", f"shard{shard[0]}")
        pytest_in(copy, "mine.suite.toml", *RECORD, *tapes)
    JoinQuestion((copy / "shard1", copy / "shard2"), copy / "joined").answer()
    whole, joined = replayed("cassettes"), replayed("joined")
    assert joined.estimates == whole.estimates
    assert joined.checks == whole.checks
    # The same as in the session that recorded them, without shards.
    checks = outcomes_in(recorded.folder / "s.json")
    assert {check: checks[check] for check in outcomes(whole)} == outcomes(whole)
    early = ("--judge-early-stop", "--judge-cassettes", "stopped")
    text, _ = pytest_in(copy, "mine.suite.toml", *RECORD, *early, *sheets("stopped.json"))
    assert "INTERNALERROR" not in text
    assert outcomes(replayed("stopped")) == outcomes_in(copy / "stopped.json")


@pytest.mark.long
def test_under_workers_the_numbers_are_the_same(recorded: Recorded, copy: Path) -> None:
    pytest_in(copy, "mine.suite.toml", "test_marked.py", "-n", "2", *sheets("b.json"))
    assert numbers(copy / "b.json") == numbers(recorded.folder / "s.json")


def test_the_commands_for_a_suite_take_one_of_probes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_pairs(tmp_path, count=12)
    (tmp_path / "mine.suite.toml").write_text(CHECKED, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.judgesense.judges.gpt]\nprovider = "openai"\nmodel = "gpt-4o-mini"\n', "utf-8"
    )
    assert main(["plan", "mine.suite.toml", "--judge-name", "gpt"]) == 0
    assert "216" in capsys.readouterr().out  # 12 lines of 18 calls
    assert main(["plan", "--lint", "mine.suite.toml"]) == 0
    capsys.readouterr()
    (tmp_path / "wrong.suite.toml").write_text(PROBE + "probes = ['injektion']\n", "utf-8")
    assert main(["plan", "--lint", "wrong.suite.toml"]) != 0
    assert "injection" in "".join(capsys.readouterr())
