"""What files are taken for: their form, what the user says of them, and what they would become."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.files import shapes
from pytest_judgesense.files.foreign_results import Imported
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.proposals import FileShape, Proposal, Setting, ShownSetting
from pytest_judgesense.files.tables import RowTable
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.questions.import_ import look as looking
from pytest_judgesense.questions.import_.look import Look, looked_at
from tests.foreign import decision_row, game_row, pair_rows, write_rows

ROWS = [{"id": 1, "said": "yes", "gold": "yes"}, {"id": 2, "said": "no", "gold": "yes"}]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def look(path: str, form: str | None = None, **options: Any) -> Look:
    return looked_at(ImportOptions(Path(path), **options), form, BUILT_IN)


def judgments(of: Look) -> list[tuple[str, str, str | None]]:
    assert isinstance(of.read, Imported)
    return [(one.trial.item, one.trial.order, one.verdict) for one, _ in of.read.judgments]


def test_a_table_is_read_as_it_would_be() -> None:
    write_rows(Path("t.jsonl"), ROWS)
    of = look("t.jsonl")
    assert (of.form, of.is_known, of.problem) == ("", True, None)
    assert judgments(of) == [("1", "ab", "yes"), ("2", "ab", "no")]
    assert of.proposed_output == Path("t.judgments.jsonl")
    assert of.command(Path("o.jsonl")) == (
        "judgesense import t.jsonl --map verdict=said --map label=gold --map item=id -o o.jsonl"
    )


def test_a_question_s_reading_stands_in_the_place_of_what_was_shown() -> None:
    write_rows(Path("t.jsonl"), ROWS)
    command = look("t.jsonl").command(None, (Setting("map", ("item", "id,said")),))
    assert "--map item=id,said" in command
    assert command.count("--map item=") == 1


@pytest.mark.parametrize(
    ("rows", "form"),
    [
        ([decision_row(1, 1, "YES", "NO")], "judgesense"),
        (pair_rows("coherence"), "judgesense"),
        ([game_row("p", "A>B", "A>B", None)], "games"),
    ],
)
def test_a_benchmark_s_own_file_is_recognised(rows: list[dict[str, Any]], form: str) -> None:
    write_rows(Path("own.jsonl"), rows)
    of = look("own.jsonl")
    assert (of.form, of.table, of.problem) == (form, None, None)
    assert of.read is not None


@pytest.mark.parametrize(
    ("document", "form"),
    [
        ({"results": {"results": []}}, "promptfoo"),
        ({"testCases": []}, "deepeval"),
        ({"testRunData": {"testCases": []}}, "deepeval"),
        ({"eval": {"task": "t"}, "samples": []}, "inspect"),
    ],
)
def test_a_tool_s_own_file_is_recognised(document: dict[str, Any], form: str) -> None:
    Path("own.json").write_text(json.dumps(document), encoding="utf-8")
    assert look("own.json").form == form


def test_a_form_that_is_named_decides() -> None:
    write_rows(Path("own.jsonl"), [decision_row(1, 1, "YES", "NO")])
    of = look("own.jsonl", "table", map=(("verdict", "normalized_a"), ("item", "pair_id")))
    assert (of.form, of.table is not None) == ("table", True)
    with pytest.raises(UsageError, match="no form of foreign files named 'tables'"):
        look("own.jsonl", "tables")


def test_a_log_of_ours_is_not_imported(tmp_path: Path) -> None:
    write_rows(tmp_path / "log.jsonl", [{"trial": "t/1/t1", "judge": "j", "suite": "t"}])
    with pytest.raises(UsageError, match="is a judgment log already"):
        look("log.jsonl")


def test_a_table_without_rows_is_none() -> None:
    Path("t.csv").write_text("id,verdict\n", encoding="utf-8")
    with pytest.raises(LogError, match="holds no rows"):
        look("t.csv")


def _shape(name: str, *columns: str) -> FileShape:
    def proposal(table: RowTable) -> Proposal:
        assert len(table) == 1  # of the rows that the shape takes
        shown = Setting("map", ("verdict", "said")), Setting("map", ("item", "gold"))
        return Proposal(tuple(ShownSetting(setting, "its form") for setting in shown))

    def first(table: RowTable) -> RowTable:
        return RowTable(table.rows[:1], table.columns, table.form)

    return FileShape(name, f"files of {name}", (), columns, proposal, first)


def test_a_shape_goes_before_what_columns_show_and_the_user_before_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_rows(Path("t.jsonl"), ROWS)
    monkeypatch.setattr(looking, "SHAPES", (_shape("mine", "said"), _shape("other", "absent")))
    assert judgments(look("t.jsonl")) == [("yes", "ab", "yes")]
    assert judgments(look("t.jsonl", map=(("item", "id"),))) == [("1", "ab", "yes")]
    assert look("t.jsonl").command(None) == "judgesense import t.jsonl --format mine"
    assert len(judgments(look("t.jsonl", "table"))) == 2
    assert judgments(look("t.jsonl", "mine")) == [("yes", "ab", "yes")]


def test_two_shapes_that_match_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(Path("t.jsonl"), ROWS)
    both = (_shape("mine", "said"), _shape("other", "gold"))
    monkeypatch.setattr(looking, "SHAPES", both)
    with pytest.raises(UsageError, match="may be of several forms") as several:
        look("t.jsonl")
    assert "--format mine, or --format other" in str(several.value)
    assert looking.SHAPES != shapes.SHAPES


def _swapped(first: str, second: str) -> list[dict[str, Any]]:
    """An item in both orders; its texts change places, and the better one is said."""
    texts = {first: "Wind is moving air, I say.", second: "Wind is nice, maybe, who knows."}
    exchanged = dict(zip(texts, [*texts.values()][::-1], strict=True))
    names = [name.partition("_")[0] for name in (first, second)]
    return [
        {"pair": "p", "shown": "ab", **texts, "pick": names[0], "gold": names[0]},
        {"pair": "p", "shown": "ba", **exchanged, "pick": names[1], "gold": names[1]},
    ]


def test_words_that_name_texts_of_slots_are_slots() -> None:
    write_rows(Path("t.jsonl"), _swapped("left_text", "right_text"))
    of = look("t.jsonl")
    # The judge and the label name the same content in both orders: the first.
    assert isinstance(of.read, Imported)
    assert [(one.chosen, one.trial.label) for one, _ in of.read.judgments] == [("1", "1")] * 2
    shown = [pair.setting.value for pair in of.shown if pair.setting.field == "names"]
    assert shown == [("verdict", "slot"), ("label", "slot")]


def test_what_words_name_is_asked_where_the_rows_do_not_show_it() -> None:
    rows = [{"id": 1, "order": order, "winner": "A"} for order in ("ab", "ba")]
    write_rows(Path("t.jsonl"), rows)
    of = look("t.jsonl")
    (question,) = of.questions
    assert "do the verdicts name slots or contents?" in question.asks
    assert question.example.value["order"] == "ba"
    assert of.objection is not None
    assert look("t.jsonl", names=(("verdict", "slot"),)).is_known


def test_what_prevents_a_reading_is_its_problem() -> None:
    write_rows(Path("t.jsonl"), [ROWS[0], ROWS[0]])
    of = look("t.jsonl", map=(("item", "id"),))
    assert isinstance(of.problem, LogError)
    assert "repeats a trial" in str(of.problem)
    assert of.columns.keys() == {"id", "said", "gold"}


def test_rows_without_a_name_are_told_by_their_number() -> None:
    write_rows(Path("t.jsonl"), [{"verdict": "yes"}, {"verdict": "no"}, {"verdict": "no"}])
    assert [item for item, _, _ in judgments(look("t.jsonl"))] == ["1", "2", "3"]


def test_a_file_that_is_called_after_the_judged_model_names_no_judge() -> None:
    rows = [{"id": n, "model_test": "google/gemma-2b-it", "score": n} for n in (1, 2, 3)]
    write_rows(Path("gemma-2b-it.jsonl"), rows)
    (question,) = look("gemma-2b-it.jsonl").questions
    assert [reading.settings for reading in question.readings] == [
        (("judge", "judge-of-gemma-2b-it"),),
        (("judge", "gemma-2b-it"),),
    ]
    assert look("gemma-2b-it.jsonl", judge="gpt-4o").is_known
    # A column that is called model is not taken for the judge then either.
    write_rows(Path("claude-1.jsonl"), [{"id": 1, "model": "claude-1", "score": 3}])
    assert "after claude-1, which was judged" in look("claude-1.jsonl").questions[0].asks
    write_rows(Path("grades.jsonl"), rows)
    assert look("grades.jsonl").is_known


def test_a_file_without_a_judge_is_joined_by_what_tells_its_rows() -> None:
    said = ("good", "bad", "bad")
    rows = [{"q": n // 2, "style": "xy"[n % 2], "judge_tone": said[n % 3]} for n in range(6)]
    write_rows(Path("judged.jsonl"), rows)
    people = [{"q": row["q"], "style": row["style"], "human_tone": "bad"} for row in rows[:4]]
    write_rows(Path("people.jsonl"), people)
    for files in (("judged.jsonl", "people.jsonl"), ("people.jsonl", "judged.jsonl")):
        of = look(files[0], more=(Path(files[1]),))
        assert of.given.join == ((Path("people.jsonl"), "q,style"),)
        assert any("people.jsonl holds nothing of a judge" in note for note in of.notes)
        assert of.command(None).startswith(
            "judgesense import judged.jsonl --join people.jsonl=q,style"
        )
        assert isinstance(of.read, Imported)
        # Four of the six rows have a verdict of a person.
        assert sum(judgment.trial.label == "bad" for judgment, _ in of.read.judgments) == 4
