"""Foreign files as a question: what it reads, what it refuses, and that it writes nothing."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.tables import read_rows
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


def test_it_says_what_it_took_from_the_file_and_what_comes_next() -> None:
    answer = ImportQuestion(ImportOptions(Path("own.jsonl"), value=(("?", ""),)), LOG).answer()
    assert answer.taken == (
        "  --map verdict=say  2 values: YES, ?",
        "  --map item=id      a row each",
    )
    assert answer.next_steps == (
        "judgesense report log.jsonl",
        "no suite is made of this log: it holds no texts; --map field.NAME=COLUMN adds one",
    )


def test_a_log_with_texts_becomes_a_suite_by_the_next_command() -> None:
    rows = [{"id": n, "question": f"Is {n} an even number?", "say": "YES"} for n in (1, 2)]
    write_rows(Path("own.jsonl"), rows)
    steps = ImportQuestion(ImportOptions(Path("own.jsonl"))).answer().next_steps
    suite = "judgesense init --from-log own.judgments.jsonl"
    assert steps[1] == f"{suite} --template FILE, a prompt with {{{{question}}}}"
    asked = [row | {"judge_prompt": f"Say: {row['question']}"} for row in rows]
    write_rows(Path("own.jsonl"), asked)
    assert ImportQuestion(ImportOptions(Path("own.jsonl"))).answer().next_steps[1] == suite


def test_a_log_of_pairs_becomes_a_suite_by_the_next_command() -> None:
    rows = [
        {"id": n, "answer_a": f"It is {n}, I say.", "answer_b": f"It is {n + 1}.", "winner": said}
        for n, said in enumerate("ABA")
    ]
    write_rows(Path("own.jsonl"), rows)
    assert main(["import", "own.jsonl"]) == 0
    step = ImportQuestion(ImportOptions(Path("own.jsonl"))).answer().next_steps[1]
    command, _, texts = step.partition(", a prompt with ")
    assert texts == "{{a}}, {{b}}"
    Path("FILE").write_text(f"Which is better, A or B?\n{texts}\n", encoding="utf-8")
    _, *words = shlex.split(command)
    assert main(words) == 0
    items = read_rows(Path("suites/own/items.jsonl"))
    assert [item.value["texts"] for item in items] == [
        [row["answer_a"], row["answer_b"]] for row in rows
    ]


def test_a_log_of_pairs_without_their_texts_is_told_to_be_no_suite() -> None:
    rows = [{"id": n, "judge_prompt": f"Is {n} or 4 even?", "winner": "AB"[n]} for n in (0, 1)]
    write_rows(Path("own.jsonl"), rows)
    step = ImportQuestion(ImportOptions(Path("own.jsonl"))).answer().next_steps[1]
    assert "--map field.a=COLUMN --map field.b=COLUMN" in step


def test_what_is_not_known_is_asked_in_one_error() -> None:
    write_rows(Path("own.jsonl"), [{"id": n, "score": n, "rating": 4 - n} for n in (1, 2, 3)])
    with pytest.raises(UsageError, match="which column is what the judge said") as asked:
        ImportQuestion(ImportOptions(Path("own.jsonl")), LOG).answer()
    assert "--map verdict=score, or --map verdict=rating" in str(asked.value)
    write_rows(Path("own.jsonl"), [{"id": n, "gold": "yes"} for n in (1, 2, 3)])
    with pytest.raises(UsageError, match="is a judge's") as asked:
        ImportQuestion(ImportOptions(Path("own.jsonl")), LOG).answer()
    assert "--items own.jsonl --map label=gold" in str(asked.value)
    assert not LOG.exists()


def test_a_command_of_before_is_told_what_it_is_now() -> None:
    options = ImportOptions(Path("table"), more=(Path("own.jsonl"),))
    with pytest.raises(UsageError, match="nothing to import at table") as told:
        ImportQuestion(options, LOG).answer()
    assert "--format table" in str(told.value)


def test_a_repeated_trial_names_an_item_of_several_columns() -> None:
    rows = [{"id": 1, "style": style, "verdict": "yes"} for style in ("calm", "rude")]
    write_rows(Path("t.jsonl"), rows)
    question = ImportQuestion(ImportOptions(Path("t.jsonl"), map=(("item", "id"),)))
    with pytest.raises(LogError, match="differ in style: try --map item=id,style"):
        question.answer()
