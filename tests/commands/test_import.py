"""`judgesense plan --lint` and `judgesense import`: what they print and how they exit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.recordings import told
from tests.commands.within import judgesense as run
from tests.foreign import decision_row, game_row, pair_rows, write_rows
from tests.plugin.project import parity_suite
from tests.suites.known import absent_suites


def test_lint_of_the_built_in_suites_has_no_errors(tmp_path: Path) -> None:
    done = run("plan", "--lint", cwd=tmp_path)
    absent = absent_suites()  # broken, for want of their kind
    assert done.returncode == (3 if absent else 0), done.stderr
    broken = f", {len(absent)} broken file" if absent else ""
    assert done.stdout.splitlines()[-1].endswith(f", 0 errors, 2 warnings{broken}")
    assert "factuality@inverted:" in done.stdout
    assert "factuality@paper:" in done.stdout  # its fourth wording is inverted as well


def test_lint_takes_names_files_and_folders_and_by_default_the_suites_here(tmp_path: Path) -> None:
    parity_suite(tmp_path / "suites" / "parity")
    for asked in ((), ("suites",), ("suites/parity/parity.suite.toml",), ("parity",)):
        done = run("plan", "--lint", *asked, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[0] == "parity:"
        # A bar of 0.8 on six numbers.
        assert lines[1].startswith("  warning undecidable-bar: jss_floor[0.8] of suite parity")
        assert lines[-1] == "1 suite or preset, 0 errors, 1 warning"


def test_lint_exits_with_1_on_errors_and_with_3_on_a_broken_file(tmp_path: Path) -> None:
    parity_suite(tmp_path, name="twins", wordings=("Is {{number}} even?",) * 2)
    assert run("plan", "--lint", "twins.suite.toml", cwd=tmp_path).returncode == 1
    (tmp_path / "broken.suite.toml").write_text("schema = 1", encoding="utf-8")
    done = run("plan", "--lint", cwd=tmp_path)
    assert done.returncode == 3
    assert "broken.suite.toml: broken" in done.stdout
    assert "error identical-sides" in done.stdout  # the others are linted all the same
    assert done.stdout.splitlines()[-1].endswith("1 broken file")


def test_lint_of_an_unknown_name_is_a_wrong_command(tmp_path: Path) -> None:
    done = run("plan", "--lint", "coherense", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean 'coherence'" in done.stderr


def test_a_pair_file_becomes_a_suite_that_is_linted(tmp_path: Path) -> None:
    write_rows(tmp_path / "pairs.jsonl", pair_rows("coherence"))
    done = run("import", "pairs.jsonl", "-o", "own.suite.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "125 pairs, 25 distinct" in done.stdout
    assert (tmp_path / "own.suite.toml").is_file()
    assert len((tmp_path / "own.items.jsonl").read_text().splitlines()) == 125


@pytest.mark.parametrize(
    ("kind", "row", "more", "told"),
    [
        ("judgesense", decision_row(1, 1, "YES", "NO"), (), "2 judgments of m-1"),
        ("games", game_row("p", "A>B", "A>B", None), (), "2 judgments of j-1 on own; 1 state no"),
        ("table", {"id": 1, "say": "YES"}, ("--map", "verdict=say", "--map", "item=id"), "1 judg"),
    ],
)
def test_foreign_results_become_a_log_that_is_reported(
    tmp_path: Path, kind: str, row: dict[str, object], more: tuple[str, ...], told: str
) -> None:
    write_rows(tmp_path / "own.jsonl", [row])
    done = run("import", "--format", kind, "own.jsonl", "-o", "log.jsonl", *more, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert told in done.stdout
    assert run("report", "log.jsonl", cwd=tmp_path).returncode == 0


def test_a_broken_row_is_exit_code_3_and_writes_nothing(tmp_path: Path) -> None:
    write_rows(tmp_path / "own.jsonl", [game_row("p", "A>B", "A>B")])
    done = run("import", "own.jsonl", "-o", "log.jsonl", cwd=tmp_path)
    assert done.returncode == 3
    assert "own.jsonl:1: field 'judgments' is malformed" in done.stderr
    assert not (tmp_path / "log.jsonl").exists()


@pytest.mark.parametrize("rows", [[], [{"a": 1}]])
def test_a_file_that_is_no_judgesense_file_is_exit_code_3(
    tmp_path: Path, rows: list[dict[str, int]]
) -> None:
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    named = ("own.jsonl", "--format", "judgesense")
    done = run("import", *named, "-o", "x.suite.toml", cwd=tmp_path)
    assert done.returncode == 3
    assert "prompt_a_decision" in done.stderr


def test_one_field_in_two_columns_is_a_wrong_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = write_rows(tmp_path / "t.jsonl", [{"item": "i", "one": "5", "two": "1"}])
    given = [arg for column in ("one", "two") for arg in ("--map", f"verdict={column}")]
    code, _, err = told(capsys, "import", table, "-o", tmp_path / "log.jsonl", *given)
    assert code == 2
    assert "several columns for the verdict" in err
    assert "found:    one, two" in err


def test_a_map_without_a_column_is_a_wrong_command(tmp_path: Path) -> None:
    done = run("import", "x.csv", "-o", "y", "--map", "verdict", cwd=tmp_path)
    assert done.returncode == 2
    assert "NAME=VALUE" in done.stderr


def test_a_file_without_a_judgment_writes_no_log(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text("[]", encoding="utf-8")
    for named, why in (("games",), "none.json holds no judgment"), ((), "none.json holds no rows"):
        form = ("--format", *named) if named else ()
        done = run("import", "none.json", "-o", "log.jsonl", *form, cwd=tmp_path)
        assert done.returncode == 3
        assert why in done.stderr
    assert not (tmp_path / "log.jsonl").exists()
