"""``judgesense compare``: in which way it compares is said by an option, and by no other thing."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from pytest_judgesense.commands import compare, compare_sessions
from pytest_judgesense.commands.main import main
from pytest_judgesense.report.log import log_lines
from tests.measures.building import YES_NO, cell, worded


class AnotherWay:
    """One that ``--twice`` asks for, and that exits with 0."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--twice", action="store_true")

    def is_meant(self, options: argparse.Namespace) -> bool:
        return bool(options.twice)

    def run(self, options: argparse.Namespace) -> int:
        assert options.names
        return 0


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two logs, of one judge."""
    monkeypatch.chdir(tmp_path)
    for name, second in (("old", "YES"), ("new", "NO")):
        words = {f"i{k}": (("YES", second), ("NO", "NO"))[k % 2] for k in range(40)}
        judged = cell(YES_NO, worded(words))
        Path(f"{name}.jsonl").write_text("\n".join(log_lines(judged.judgments, judged.design)))
    return tmp_path


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["compare", *arguments]) == 2
    return " ".join(capsys.readouterr().err.split())


def test_the_option_says_the_way_and_two_at_once_are_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compare, "WAYS", (compare_sessions, AnotherWay()))
    assert main(["compare", "s", "--twice"]) == 0
    assert main(["compare", "old.jsonl", "new.jsonl"]) == 1
    told = error(capsys, "old.jsonl", "new.jsonl", "--anchors", "s", "--twice")
    assert "two comparisons are asked for at once found: --anchors and --twice" in told


def test_an_option_of_another_comparison_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    files = ("old.jsonl", "new.jsonl")
    told = error(capsys, *files, "--passes", "YES", "--strata", "kind")
    assert "an option belongs to another comparison found: --passes, --strata" in told
    assert "found: --margin" in error(capsys, *files, "--anchors", "s", "--margin", "0.1")
    for unused in (["--judge-mode", "record"], ["--judge-mode", "live"], ["--judge-name", "j"]):
        told = error(capsys, *files, *unused)
        assert (
            f"files are compared as they are, with all judges that they hold found: {unused[0]}"
            in told
        )


def test_what_no_option_says_is_an_error_that_proposes_each(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = error(capsys, "coherence")
    assert "there is no file coherence" in told
    for way in (
        "--prompts FILE FILE",
        "--judges NAME NAME",
        "--anchors SUITE",
        "git:REF coherence",
    ):
        assert way in told
    assert "one measurement or two are compared found: none" in error(capsys)
    assert "found: a b c" in error(capsys, "a", "b", "c")
    assert "judgesense compare git:HEAD" in error(capsys, "old.jsonl", "git:HEAD")
    assert "no session is named" in error(capsys, "--anchors", "vacuum")


def test_files_are_planned_without_a_call_and_written_as_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["compare", "old.jsonl", "new.jsonl", "--plan"]) == 0
    assert capsys.readouterr().out.startswith("no call: files and recordings are read")
    assert "a file that ends in .json" in error(capsys, "old.jsonl", "new.jsonl", "-o", "x.csv")
    assert main(["compare", "old.jsonl", "new.jsonl", "-o", "x.json"]) == 1
    assert capsys.readouterr().out.endswith("comparison written: x.json\n")
    written = json.loads(Path("x.json").read_text(encoding="utf-8"))
    assert written["worse"]
    (suite,) = written["suites"]
    assert (suite["trials_in_both"], len(suite["flips"])) == (80, 20)
    jss = next(measure for measure in suite["measures"] if measure["measure"] == "jss")
    assert (jss["old"], jss["new"], jss["verdict"]) == (1.0, 0.5, "regressed")
