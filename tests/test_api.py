"""Measuring from Python: `pytest_judgesense.measure`, and the datasheet that it returns."""

from __future__ import annotations

import ast
import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from pytest_judgesense import Judge, measure
from pytest_judgesense.commands.main import main
from pytest_judgesense.datasheets.datasheet import JudgeSheet
from pytest_judgesense.errors import LimitReached, MissingRecording, UsageError
from pytest_judgesense.report.csv_tables import column_names
from tests.judges.endpoint import endpoint, says
from tests.plugin.project import parity_suite
from tests.sources import SOURCES, tree_of


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def even(messages: list[dict[str, str]]) -> str:
    """Right, but under the second wording always NO: 3 of 6 numbers are odd.

    Of the pairs of each even number (t1, t2) and (t2, t3) flip: 6 flips of 18 pairs, JSS 12/18.
    """
    text = messages[-1]["content"]
    number = int("".join(filter(str.isdigit, text)))
    return "YES" if number % 2 == 0 and not text.startswith("Tell") else "NO"


def test_a_datasheet_without_a_session(tmp_path: Path) -> None:
    suite = parity_suite(tmp_path)
    sheet = measure(Judge("mine", even), suite, mode="live")
    jss = next(one for one in sheet.estimates if one.measure == "jss" and not one.condition)
    assert (jss.count, jss.n) == (12, 18)
    (check,) = sheet.checks
    assert (check.check, check.outcome) == ("jss_floor[0.8]", "fail")
    assert check.sentence == "6 of 18 verdicts change with the wording"
    assert check.measured.startswith("jss 0.67 [")
    assert check.example == "p2: t1 gives YES, t2 gives NO, label YES; asked: 2"
    assert not (tmp_path / "cassettes").exists()


def test_the_prompt_of_a_function_is_what_it_sent(tmp_path: Path) -> None:
    suite = parity_suite(tmp_path, checks="agreement_floor = 0.8", wordings=["{{number}}?"])

    def measured(folder: str, prompt: str, mode: str = "record") -> JudgeSheet:
        def judge(number: str) -> str:
            body = {"messages": [{"role": "user", "content": prompt.format(number=number)}]}
            reply = httpx.post(f"{server.url}/chat/completions", json=body).json()
            return str(reply["choices"][0]["message"]["content"])

        (sheet,) = measure(Judge("mine", judge), suite, mode=mode, cassettes=folder).judges
        return sheet

    with endpoint(says("NO")) as server:
        first = measured("one", "Is {number} even?")
        assert first.prompts != measured("two", "Is the number {number} even?").prompts
        assert first.prompts == measured("three", "Is {number} even?", "live").prompts
    assert first.prompts == measured("one", "Is {number} even?", "replay").prompts
    assert first.parts[0].prompts["parity"]["templates"] == {"t1": "Is {{number}} even?"}
    # Half of the numbers are even, and the first of these is 2.
    assert first.checks[0].example == 'p2: replies "NO", label YES; asked: 2'


def test_of_a_function_without_requests_no_prompt_is_known(tmp_path: Path) -> None:
    sheet = measure(Judge("mine", even), parity_suite(tmp_path), mode="record")
    assert sheet.judges[0].prompts is None


def test_record_and_replay(tmp_path: Path) -> None:
    suite = parity_suite(tmp_path)
    with pytest.raises(MissingRecording, match="18 of 18 trials are not recorded"):
        measure(Judge("mine", even), suite)
    first = measure(Judge("mine", even), suite, mode="record")
    again = measure(Judge("mine", even), suite)
    assert first.estimates == again.estimates
    assert again.judges[0].calls.replayed == 18


def test_nothing_of_pytest_is_imported_and_a_table_comes_of_the_embedded_judge() -> None:
    pytest.importorskip("pandas")
    script = (
        "import sys, pytest_judgesense as j\n"
        "frame = j.measure('embedded:noisy', 'coherence').to_dataframe()\n"
        "print(len(frame), 'pytest' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=True
    )
    rows, imported = done.stdout.split()
    assert int(rows) > 10
    assert imported == "False"


def test_without_pandas_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = measure(Judge("mine", even), parity_suite(tmp_path), mode="live")
    monkeypatch.setitem(sys.modules, "pandas", None)  # as if it were not installed
    with pytest.raises(UsageError, match=r"pytest-judgesense\[dataframe\]"):
        sheet.to_dataframe()


def test_files_of_every_form(tmp_path: Path) -> None:
    sheet = measure([Judge("mine", even)], [parity_suite(tmp_path)], mode="live")
    for suffix in (".json", ".md", ".jsonl", ".csv", ".tex"):
        sheet.write(tmp_path / f"sheet{suffix}")
    entry = json.loads((tmp_path / "sheet.json").read_text())["judges"][0]
    with (tmp_path / "sheet.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == column_names()
    assert [float(row["value"]) for row in rows if row["value"]] == [
        one["value"] for one in entry["measures"] if one["value"] is not None
    ]
    assert rows[0]["checks"] == "jss_floor[0.8]: fail"


def test_a_notebook_shows_a_table_and_no_markup_of_others(tmp_path: Path) -> None:
    sheet = measure(Judge("<b>mine</b>", even), parity_suite(tmp_path), mode="live")
    shown = sheet._repr_html_()
    assert "&lt;b&gt;mine&lt;/b&gt;: 1 of 1 check fails" in shown
    assert "<b>" not in shown
    assert "<td>jss</td><td>12/18</td><td>0.667</td>" in shown


def test_printed_it_is_the_summary_and_a_line_in_a_list() -> None:
    sheet = measure("embedded:positional", "vacuum")
    assert repr(sheet) == (
        "<MeasuredDatasheet positional: 1 of 1 check fails: vacuum dark_current_ceiling[0.07]>"
    )
    printed = str(sheet).splitlines()
    assert len(printed) < 20
    assert "positional  1 of 1 check fails, 120 replies" in printed
    assert printed[-1].startswith("calls: 0 made, 120 replayed")


def test_a_function_is_a_judge_of_its_name(tmp_path: Path) -> None:
    suite = parity_suite(tmp_path)
    sheet = measure(even, suite, mode="live")
    assert [judge.judge for judge in sheet.judges] == ["even"]
    assert sheet.estimates == measure(Judge("even", even), suite, mode="live").estimates


@pytest.mark.parametrize(
    "given", [3, lambda messages: "YES", None], ids=["number", "lambda", "none"]
)
def test_what_has_no_name_is_no_judge(given: Any) -> None:
    with pytest.raises(UsageError, match=r"(?s)no judge that can be measured.*Judge\(.NAME., "):
        measure(given, "coherence")


def test_what_is_not_known_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no suite named 'cohrence'"):
        measure("embedded:clean", "cohrence")
    with pytest.raises(UsageError, match="two judges have one name"):
        measure(["embedded:clean", "embedded:clean"], "vacuum")
    with pytest.raises(UsageError, match="refuted"):
        measure("embedded:clean", "vacuum", policy="refuted")
    with pytest.raises(UsageError, match="mode 'recrod' is unknown"):
        measure("embedded:clean", "vacuum", mode="recrod")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("argument", "given", "told"),
    [
        *(("mode", one, "one of replay, record, live") for one in ("foo", None, True, ["replay"])),
        *(("policy", one, "one of estimate, confident") for one in ("foo", None, 1)),
        *(("seed", one, "a whole number, at least 0") for one in (-1, "1", None, 1.5, True)),
        *(("concurrency", one, "a whole number, at least 1") for one in (0, -1, "1", None, True)),
        *(("max_unparsed", one, "a whole number, at least 0") for one in (-1, "1", None, True)),
        *(("cassettes", one, "a path, as str or Path") for one in (3, b"cassettes", ["cassettes"])),
        ("registry", None, "a Registry"),
        ("suites", None, "the name of a suite"),
        ("suites", {"vacuum"}, "the name of a suite"),
        ("suites", [], "one suite or more"),
        ("judges", [], "one judge or more"),
        ("judges", {"embedded:clean"}, "a function, or a Judge"),
    ],
)
def test_an_argument_of_the_wrong_kind_is_refused_before_any_call(
    argument: str, given: Any, told: str, tmp_path: Path
) -> None:
    asked = []

    def judge(messages: list[dict[str, str]]) -> str:
        asked.append(messages)
        return "YES"

    taken = {"judges": judge, "suites": parity_suite(tmp_path), "mode": "record"}
    with pytest.raises(UsageError, match=told):
        measure(**(taken | {argument: given}))
    assert not asked


def test_a_judge_of_whom_no_reply_can_be_read_is_not_asked_for_everything(tmp_path: Path) -> None:
    asked = []

    def vague(messages: list[dict[str, str]]) -> str:
        asked.append(messages)
        return "hard to say"

    with pytest.raises(LimitReached, match=r"the first 2 .*\(max_unparsed=2\)") as stopped:
        measure(vague, parity_suite(tmp_path), mode="record", cassettes=tmp_path, max_unparsed=2)
    assert len(asked) == 2
    assert "max_unparsed=0 turns this limit off" in str(stopped.value)
    measure(vague, parity_suite(tmp_path), mode="record", cassettes=tmp_path, max_unparsed=0)
    assert len(asked) == 18  # 6 items in 3 wordings: what was recorded is not asked again


def test_a_seed_of_numpy_is_a_number() -> None:
    assert measure("embedded:clean", "vacuum@quick", seed=np.int64(3)).seed == 3  # type: ignore[arg-type]


def test_what_is_not_recorded_is_told_with_a_remedy_for_any_judge(tmp_path: Path) -> None:
    """A judge that is a function has no name that `measure` takes."""
    with pytest.raises(MissingRecording, match='the same call of measure with mode="record"'):
        measure(even, parity_suite(tmp_path))


def test_several_judges_end_in_who_is_most_stable_by_wording_and_by_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = measure(["embedded:clean", "embedded:mixed"], "preference")
    wording, order = sheet.closing
    assert wording.startswith("most stable by wording (jss on preference): ")
    assert order.startswith("most stable by order (order_positional on preference): ")
    sheet.write(tmp_path / "log.jsonl")
    assert main(["report", str(tmp_path / "log.jsonl")]) == 0
    shown = " ".join(line.strip() for line in capsys.readouterr().out.splitlines())
    assert wording in shown
    assert order in shown


def test_a_seed_that_is_not_given_is_0_everywhere() -> None:
    # Else the shell, pytest and Python would draw differently of the same recording.
    defaults = {
        (name, ast.unparse(default))
        for name, source in SOURCES.items()
        if "seed" in source
        for node in ast.walk(tree_of(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for argument, default in (
            *zip(reversed(node.args.args), reversed(node.args.defaults), strict=False),
            *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
        )
        if argument.arg == "seed" and default is not None
    }
    assert len(defaults) > 10
    assert {default for _, default in defaults} - {"..."} == {"0"}
