"""The command line: what it prints and how it exits, as a process where one is needed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from pytest_judgesense.files.shapes import SHAPES
from pytest_judgesense.instruments.builtin import BUILT_IN
from tests import processes
from tests.commands.within import judgesense as run
from tests.shared_data import LLMBAR, needs_llmbar


def _line(item: str, template: str, order: str, verdict: str, chosen: str) -> str:
    return json.dumps(
        {
            "trial": f"toy/{item}/{template}/{order}/r1",
            "judge": "toy-judge",
            "suite": "toy",
            "item": item,
            "template": template,
            "order": order,
            "label": "1",
            "verdict": verdict,
            "chosen": chosen,
        }
    )


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    lines = [
        _line(item, template, order, *said)
        for item in ("i1", "i2")
        for template in ("t1", "t2")
        for order, said in (("ab", ("A", "1")), ("ba", ("B", "1")))
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_report_prints_a_datasheet_within_100_columns(log):
    done = run("report", log)

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "judge toy-judge  log:toy-judge"
    # 2 items x 2 orders x 1 template pair, no flip; 4 canonical pairs, the same content each time.
    assert any(re.match(r"    jss +4/4 +1\.000", line) for line in lines)
    assert any(re.match(r"    order_stable +4/4 +1\.000", line) for line in lines)
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("columns", [60, 80])
def test_report_keeps_to_the_columns_of_the_terminal(log, columns):
    narrow = {**os.environ, "COLUMNS": str(columns)}
    done = processes.run("judgesense", "report", log, environment=narrow)

    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= columns


def test_report_writes_the_datasheet_by_suffix(log, tmp_path):
    done = run("report", log, "-o", "a/sheet.json", "-o", "b.jsonl", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    sheet = json.loads((tmp_path / "a/sheet.json").read_text(encoding="utf-8"))
    assert sheet["schema"] == "judgesense/datasheet/1"
    assert len((tmp_path / "b.jsonl").read_text(encoding="utf-8").splitlines()) == 8
    again = run("report", "b.jsonl", "-o", "c.json", cwd=tmp_path)
    assert again.returncode == 0
    assert (tmp_path / "c.json").read_bytes() == (tmp_path / "a/sheet.json").read_bytes()


def test_report_writes_markdown_and_a_badge_of_a_log_that_holds_no_checks(log, tmp_path):
    done = run("report", log, "-o", "x.md", "--badge", "a/b.svg", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    text = (tmp_path / "x.md").read_text(encoding="utf-8")
    # As in the terminal: 4 of 4 pairs.
    assert "| `jss` | | 4/4 | 1.000 |" in text
    badge = (tmp_path / "a/b.svg").read_text(encoding="utf-8")
    assert "<title>judge toy-judge: no checks</title>" in badge
    assert "badge written: a/b.svg" in done.stdout


def test_report_tells_the_checks_of_datasheets_and_makes_a_badge_of_them(tmp_path):
    check = {"check": "jss_floor[0.9]", "suite": "s", "explanation": "jss = \x1b[2J"}
    for name, outcome in (("one", "pass"), ("two", "fail")):
        entry = {"judge": {"name": name}, "checks": [{**check, "outcome": outcome}]}
        sheet = {"schema": "judgesense/datasheet/1", "judges": [entry]}
        (tmp_path / f"{name}.json").write_text(json.dumps(sheet))
    done = run("report", "one.json", "two.json", "--badge", "b.svg", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        r"PASS  judge one, s, jss_floor[0.9]: jss = \x1b[2J",
        r"FAIL  judge two, s, jss_floor[0.9]: jss = \x1b[2J",
        "1 of 2 checks fails",
        "badge written: b.svg",
    ]
    assert "<title>2 judges: 1 of 2 checks fails</title>" in (tmp_path / "b.svg").read_text()


def test_report_tells_what_changed_since_a_baseline_and_what_was_not_compared(tmp_path):
    check = {"check": "no_regression[jss]", "suite": "s", "outcome": "fail", "explanation": "worse"}
    against = {"summary": "the model changed"}
    left_out = {"check": "no_regression[kappa]", "suite": "s", "reason": "no parent"}
    entry = {
        "judge": {"name": "j"},
        "checks": [{**check, "against": against}, {**check, "against": {"summary": ""}}],
        "not_compared": [left_out],
    }
    sheet = {"schema": "judgesense/datasheet/1", "judges": [entry]}
    (tmp_path / "x.json").write_text(json.dumps(sheet))
    done = run("report", "x.json", cwd=tmp_path)
    assert done.stdout.splitlines() == [
        "FAIL  judge j, s, no_regression[jss]: worse; the model changed",
        "FAIL  judge j, s, no_regression[jss]: worse",
        "NOT COMPARED  judge j, s, no_regression[kappa]: no parent",
        "2 of 2 checks fail",
    ]


@pytest.mark.parametrize("left_out", [3, {}, [{}], [{"check": "c", "suite": "s", "reason": 1}]])
def test_a_datasheet_with_something_else_that_was_not_compared_is_refused(tmp_path, left_out):
    entry = {"judge": {"name": "j"}, "checks": [], "not_compared": left_out}
    sheet = {"schema": "judgesense/datasheet/1", "judges": [entry]}
    (tmp_path / "x.json").write_text(json.dumps(sheet))
    done = run("report", "x.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert "x.json is not a datasheet" in done.stderr


def test_a_datasheet_with_a_check_that_lacks_a_field_is_refused(tmp_path):
    check = {"check": "jss_floor[0.9]", "explanation": "jss = 1", "outcome": "pass"}
    entry = {"judge": {"name": "j"}, "checks": [{**check, "suite": "s"}, check]}
    sheet = {"schema": "judgesense/datasheet/1", "judges": [entry]}
    (tmp_path / "x.json").write_text(json.dumps(sheet))
    done = run("report", "x.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert "x.json is not a datasheet" in done.stderr
    assert "outcome, suite, check, explanation of each" in done.stderr


def test_a_datasheet_is_no_log_and_a_broken_one_is_a_broken_file(log, tmp_path):
    (tmp_path / "x.json").write_text('{"schema": "judgesense/datasheet/1", "judges": [{}]}')
    for wrong, said in (
        (["x.json", log], "judgment logs and datasheets are not reported on together"),
        (["x.json", "--ranking"], "a datasheet has no judgments to rank, to export or to write"),
    ):
        done = run("report", *wrong, cwd=tmp_path)
        assert done.returncode == 2
        assert said in done.stderr
    done = run("report", "x.json", "-o", "y.html", cwd=tmp_path)
    assert done.returncode == 3
    assert "found:    no 'measures'" in done.stderr
    assert not (tmp_path / "y.html").exists()
    for path, code in (("x.json", 3), ("missing.json", 2)):
        done = run("report", path, cwd=tmp_path)
        assert done.returncode == code
        assert "Traceback" not in done.stderr


def test_a_wrong_suffix_is_a_wrong_command(log, tmp_path):
    done = run("report", log, "-o", tmp_path / "x.txt")

    assert done.returncode == 2
    assert ".json" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("text", ["{", '{"trial": 1}'])
def test_a_broken_log_is_exit_code_3_and_names_the_line(tmp_path, text):
    path = tmp_path / "broken.jsonl"
    path.write_text(text, encoding="utf-8")

    done = run("report", path)

    assert done.returncode == 3
    assert f"{path}:1" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_log_that_is_not_there_is_a_wrong_command(tmp_path):
    done = run("report", tmp_path / "none.jsonl")

    assert done.returncode == 2
    assert "none.jsonl" in done.stderr


def test_an_empty_log_is_a_wrong_command(tmp_path):
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")

    assert run("report", tmp_path / "empty.jsonl").returncode == 2


SHAPE_NAMES = [shape.name for shape in SHAPES]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "usage: judgesense"),
        (["nonsense"], "choose from 'init', 'plan'"),
        (
            ["import", ".", "--format", "unknown", "-o", "y"],
            f"one of: {', '.join(sorted((*BUILT_IN.importers, *SHAPE_NAMES)))}",
        ),
    ],
)
def test_a_wrong_command_is_exit_code_2_with_the_valid_names(arguments, said):
    done = run(*arguments)

    assert done.returncode == 2
    # Python 3.12 and later name choices without quotes.
    assert said.replace("'", "") in done.stderr.replace("'", "")


def test_import_of_a_folder_without_results_is_exit_code_3(tmp_path):
    done = run("import", tmp_path, "-o", tmp_path / "log.jsonl")

    assert done.returncode == 3
    assert not (tmp_path / "log.jsonl").exists()


@needs_llmbar
@pytest.mark.parametrize("reparse", [[], ["--reparse"]])
def test_llmbar_is_imported_and_reported(tmp_path, reparse):
    imported = run("import", LLMBAR, "-o", "log.jsonl", *reparse, cwd=tmp_path)
    reported = run("report", "log.jsonl", cwd=tmp_path)

    assert imported.returncode == 0, imported.stderr
    assert reported.returncode == 0, reported.stderr
    for judge in ("ChatGPT", "LLaMA2"):
        assert f"judge {judge}" in reported.stdout
    for measure in ("jss", "order_stable", "side_bias", "agreement", "unparsed_rate"):
        # Two judges on two subsets.
        assert len(re.findall(rf"^    {measure} ", reported.stdout, re.MULTILINE)) == 4


def test_serve_serves_on_loopback_until_it_is_interrupted():
    command = [sys.executable, "-u", "-m", "pytest_judgesense.commands", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[-1]
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1", url)
            prompt = (
                "<text>\nOne. Two.\n</text>\nRate from 1 to 5. Reply with one number from 1 to 5."
            )
            body = {"model": "clean", "messages": [{"role": "user", "content": prompt}]}
            reply = httpx.post(f"{url}/chat/completions", json=body, timeout=10).json()
            # Two sentences without a common stem or a connective: cohesion 0, the lowest label.
            assert reply["choices"][0]["message"]["content"] == "1"
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()


def test_a_port_in_use_is_a_wrong_command():
    command = [sys.executable, "-u", "-m", "pytest_judgesense.commands", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip().split(":")[-1].removesuffix("/v1")
            done = run("serve", "--port", port)
            assert done.returncode == 2
            assert f"port {port} cannot be served" in done.stderr
        finally:
            process.kill()


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps the folder of a process")
def test_a_working_folder_that_is_gone_is_said(tmp_path):
    (folder := tmp_path / "gone").mkdir()
    code = "import os, sys\nos.rmdir(os.getcwd())\n"
    code += "from pytest_judgesense.commands.main import main\nsys.exit(main(['explain', 'jss']))"
    # The program has no working folder on its path either.
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("judgesense: there is no working folder\n")
    assert "Traceback" not in done.stderr


def test_version():
    assert processes.run("judgesense", "--version").stdout.startswith("judgesense 0.")


def test_report_writes_a_page_that_says_that_a_log_holds_no_prompts(log, tmp_path):
    path = tmp_path / "x.html"
    done = run("report", log, "-o", path)
    assert done.returncode == 0, done.stderr
    assert f"datasheet written: {path}" in done.stdout
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "The judgment log holds no prompts" in text
    assert "4/4" in text  # see the report above


def test_a_page_that_cannot_be_drawn_costs_no_other_file(log, tmp_path):
    code = (
        "import sys, importlib.util as util; known = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'jinja2' else known(name, *rest)\n"
        "from pytest_judgesense.commands.main import main\n"
        f"sys.exit(main(['report', {str(log)!r}, '-o', 'x.html', '-o', 'x.md',"
        " '--badge', 'b.svg']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 2
    install = "jinja2 not installed; pip install 'pytest-judgesense[html]'"
    assert done.stderr == f"judgesense: x.html cannot be written: {install}\n"
    assert done.stdout.splitlines()[-2:] == ["datasheet written: x.md", "badge written: b.svg"]
    assert {"x.md", "b.svg"} <= {path.name for path in tmp_path.iterdir()}


def test_a_fault_of_a_renderer_is_one_line_of_the_report(log, tmp_path):
    (tmp_path / "odd.py").write_text(
        "from pytest_judgesense.report import page\n"
        "def broken(*_):\n"
        "    raise AttributeError('odd')\n"
        "page.page_text = broken\n"
    )
    given = ("report", log, "-o", "x.html", "-o", "x.json")
    done = processes.run("judgesense", "-p", "odd", *given, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    (error,) = done.stderr.splitlines()
    assert error.startswith("judgesense: x.html cannot be written: AttributeError: ")
    assert done.stdout.splitlines()[-1] == "datasheet written: x.json"
    again = processes.run("judgesense", "-p", "odd", *given, "-v", cwd=tmp_path)
    assert "Traceback" in again.stderr


def test_a_workflow_command_reaches_no_runner(
    log, monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    evil = "::error::pwn\u202e\x1b[2J##[add-mask]pwn\ud800"
    lines = [
        json.loads(line) | {"judge": evil, "suite": evil} for line in log.read_text().splitlines()
    ]
    log.write_text("\n".join(map(json.dumps, lines)))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    # The suite's name begins a line of an error, and the judge's stands within lines.
    for arguments in (["report", log], ["compare", log, tmp_path / "::warning::no\x1bfile.jsonl"]):
        done = processes.run("judgesense", *arguments)
        said = done.stdout + done.stderr
        assert "pwn" in said or "no\\x1bfile" in said
        assert "##[" not in said
        assert not [line for line in said.splitlines() if line.lstrip().startswith("::")]
        assert not set(said) & {"\u202e", "\x1b", "\ud800"}
    assert "Traceback" not in said


@pytest.mark.parametrize("words", [["plan", "x", "--{}"], ["{}"]])
def test_a_wrong_word_is_shown_without_what_it_commands(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of files that a shell has put in the place of a star."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    done = run(*(word.format("x\n::add-mask::x\x1b[2J##[error]") for word in words))
    assert done.returncode == 2
    assert "add-mask" in done.stderr
    assert not [line for line in done.stderr.splitlines() if line.startswith("::")]
    assert "##[" not in done.stderr
    assert "\x1b" not in done.stderr


COMMAND = (
    sys.executable,
    "-c",
    "import sys; from pytest_judgesense.commands.main import main; sys.exit(main())",
)
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")


@FULL
@pytest.mark.parametrize("buffered", [True, False])
def test_a_full_disk_is_told_and_no_traceback(*, buffered: bool) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"}
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*COMMAND, "explain", "jss"],
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 3
    told = done.stderr.splitlines()
    assert told[0] == "judgesense: the standard output cannot be written"
    assert "No space left" in told[1]
    assert len(told) == 3


@FULL
def test_the_exit_code_tells_where_errors_cannot_be_printed() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*COMMAND, "explain", "nothing"], stderr=full, stdout=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert done.stdout == b""


def test_a_pipe_whose_reader_has_left_is_no_fault() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}
    with os.fdopen(writing, "wb") as pipe:
        done = subprocess.run(
            [*COMMAND, "explain", "jss"],
            env=environment,
            stdout=pipe,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")
