"""The ranking in a session: printed, gated, the same from logs and under workers."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.datasheet_file import datasheet_json
from pytest_judgesense.report.joining import joined_datasheets
from tests import processes
from tests.report.replaying import replayed
from tests.suites.known import builtin_suites

NAMES = [part for name in ("clean", "mixed") for part in ("--judge-name", f"embedded:{name}")]
DEBATE = ["--judge-suite", "debate", *NAMES]
# Ranks by two checks more: of a judge that is named, and of configurations that there are or not.
MARKED = """
import pytest

@pytest.mark.ranked_first("mixed:p0", suite="debate")
def test_compares():
    pass

@pytest.mark.ranked_first("clean:p9", suite="debate")
def test_unknown():
    pass
"""


class Measured(NamedTuple):
    """A session on both judges: its folder with what it wrote there, and what it printed."""

    folder: Path
    text: str


def session(folder: Path, *arguments: str) -> tuple[int, str]:
    environment = {**os.environ, "COLUMNS": "100"}
    plugins = processes.PLUGINS[:2]
    done = processes.run("pytest", *arguments, cwd=folder, environment=environment, plugins=plugins)
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    folder = tmp_path_factory.mktemp("both")
    files = ("--judge-datasheet", "log.jsonl", "--judge-datasheet", "d.json")
    code, text = session(folder, *DEBATE, "-vv", *files)
    assert code == 0, text
    return Measured(folder, text)


def judges_of(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text(encoding="utf-8"))["judges"])


def ranking(text: str) -> list[str]:
    """The lines of the ranking."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("suite debate"))
    return lines[start : start + 12]  # two of the suite, the head, six rows, three of the advice


def test_the_ranking_stands_before_the_datasheet_and_comes_again_from_the_log(
    both: Measured, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text, log = both.text, both.folder / "log.jsonl"
    assert text.index("= judge ranking =") < text.index("= judge datasheet =")
    assert "1 to 3  clean:p2" in text
    assert "recommended: clean:p2" in text
    main(["report", "--ranking", str(log)])
    assert ranking(capsys.readouterr().out) == ranking(text)
    line = json.loads(log.read_text(encoding="utf-8").splitlines()[0])
    assert set(line["scores"]) == {"argument_quality", "evidence", "clash", "weighing"}


def test_the_datasheet_holds_the_ranking_of_all_judges_whoever_measured_them(
    both: Measured, tmp_path: Path
) -> None:
    pytest.importorskip("xdist")
    judges = judges_of(both.folder / "d.json")
    for judge in judges:
        tables = {table["analysis"]: table for table in judge["analyses"]}
        assert [row["rank"] for row in tables["ranking"]["rows"]] == [1, 2, 3, 4, 5, 6]
        assert tables["ranking_basis"]["rows"][0]["denominator"] == "n"
        assert {"anova", "post_hoc", "measure_pca"} <= set(tables)
    code, text = session(tmp_path, *DEBATE, "-n", "2", "--judge-datasheet", "d.json")
    assert code == 0, text
    assert judges_of(tmp_path / "d.json") == judges


def test_datasheets_of_single_judges_are_joined_to_the_ranking_of_all(both: Measured) -> None:
    # As a session computes them that writes a datasheet, each of one judge.
    sheets = [
        sheet_of([replayed(name, "debate").sheet], seed=0, mode="replay", secondary=True)
        for name in ("clean", "mixed")
    ]
    alone = [(sheet.judges[0].judge, json.loads(datasheet_json(sheet))) for sheet in sheets]
    joined = json.loads(joined_datasheets(alone))["judges"]
    analyses = [judge["analyses"] for judge in judges_of(both.folder / "d.json")]
    assert [judge["analyses"] for judge in joined] == analyses


def test_ranked_first_is_a_check_of_a_suite_and_a_marker_that_compares_the_judges(
    tmp_path: Path,
) -> None:
    # The shipped suite with one check more; a rank is no bar that every good judge clears.
    shipped = builtin_suites()["debate"]
    shutil.copytree(shipped.parent, tmp_path / "mine")
    suite = tmp_path / "mine" / shipped.name
    check = 'ranked_first = { config = "clean:p2" }\n'
    text = suite.read_text(encoding="utf-8")
    suite.write_text(text.replace("[checks]\n", f"[checks]\n{check}", 1), encoding="utf-8")
    (tmp_path / "test_marked.py").write_text(MARKED, encoding="utf-8")
    policy = ("--judge-policy", "confident")
    code, text = session(tmp_path, "mine", "test_marked.py", *NAMES, *policy, "-vv")
    assert code == 1, text
    # In the suite it belongs to the judge that it names.
    assert "::clean::ranked_first[clean:p2]" in text
    assert "::mixed::ranked_first" not in text
    assert "ranked_first[clean:p2] of judge clean on debate: inconclusive" in text
    words = " ".join(text.split())
    assert "rank (config=mixed:p0) = 6.000, wanted <= 1: fail" in words
    assert "beside it: instability (config=clean:p0)" in words
    assert "not among the configurations: clean:p2, clean:p0, clean:p1" in words
    # Both tests fail for both judges.
    for test in ("test_compares", "test_unknown"):
        assert text.count(f"FAILED test_marked.py::{test}[") == 2
