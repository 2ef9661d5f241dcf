"""Foreign files as a question: what it reads, what it refuses, and that it writes nothing."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.questions.import_.option_words import OPTION_WORDS
from pytest_judgesense.questions.import_.question import ImportQuestion
from tests.foreign import pair_rows, write_rows

MAP = (("verdict", "say"), ("item", "id"))
LOG, SUITE = Path("log.jsonl"), Path("own.suite.toml")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_rows(Path("own.jsonl"), [{"id": 1, "say": "YES"}, {"id": 2, "say": "?"}])


def test_it_gives_the_log_that_the_command_writes(capsys: pytest.CaptureFixture[str]) -> None:
    options = ImportOptions(Path("own.jsonl"), map=MAP, value=(("?", ""),), judge="m")
    answer = ImportQuestion(options, LOG).answer()
    assert not LOG.exists()
    told = answer.to_dict()
    assert (told["judges"], told["suites"]) == (["m"], ["own"])
    assert (told["judgments"], told["unparsed"]) == (2, 1)

    words = ["--map", "verdict=say", "--map", "item=id", "--value", "?=", "--judge", "m"]
    assert main(["import", "own.jsonl", "-o", str(LOG), *words]) == 0
    assert {LOG: LOG.read_text(encoding="utf-8")} == answer.files
    assert capsys.readouterr().out == f"{answer}\n"


def test_a_suite_is_files_without_judgments() -> None:
    write_rows(Path("pairs.jsonl"), pair_rows("coherence"))
    answer = ImportQuestion(ImportOptions(Path("pairs.jsonl")), SUITE).answer()
    assert answer.suites == [SUITE]
    assert (answer.judgments, answer.to_dict()["judgments"]) == ((), 0)
    assert {path.name for path in answer.files} == {"own.suite.toml", "own.items.jsonl"}


def test_what_nothing_reads_is_refused() -> None:
    options = ImportOptions(Path("own.jsonl"), map=MAP, judge="m", scale=4)
    with pytest.raises(UsageError, match="--scale is not used") as refused:
        ImportQuestion(options, LOG).answer()
    assert "--scale 4" in str(refused.value)
    with pytest.raises(UsageError, match="the judge is given twice"):
        twice = ImportOptions(Path("own.jsonl"), map=(*MAP, ("judge", "say")), judge="m")
        ImportQuestion(twice, LOG).answer()


def test_every_option_has_its_words() -> None:
    assert {field.name for field in fields(ImportOptions)} - {
        "path",
        "more",
        "looked_at",
    } == OPTION_WORDS.keys()
