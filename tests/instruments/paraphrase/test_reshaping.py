"""Tables of other shapes: lists in cells, people in another file, candidates named in the rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.files.foreign_results import Imported
from pytest_judgesense.instruments.paraphrase.foreign_table import read_table
from pytest_judgesense.trial import LABEL, Judgment, Unparsed
from tests.foreign import write_rows
from tests.instruments.paraphrase.test_results import estimate


def read(
    folder: Path, rows: list[dict[str, Any]], mapping: dict[str, str], **more: Any
) -> Imported:
    """The judgments of rows, by judge j on suite s."""
    return read_table(write_rows(folder / "t.jsonl", rows), mapping, judge="j", suite="s", **more)


def judged(read_rows: Imported) -> list[Judgment]:
    return [judgment for judgment, _ in read_rows.judgments]


@pytest.mark.parametrize("score", [10**400, "many", [1]])
def test_a_score_that_is_no_number_is_an_error(tmp_path: Path, score: Any) -> None:
    rows = [{"item": "q1", "verdict": "A", "grade": score}]
    with pytest.raises(LogError, match="field 'grade' is malformed"):
        read(tmp_path, rows, {"score": "grade"})


# --- lists in cells --------------------------------------------------------------------------

SCORED = [
    {"id": "q1", "scores": [[4, 4, 5], [2, 2, 2]]},
    {"id": "q2", "scores": [[3, None, 3], [1, 1, 1]]},
]
OF_SCORES = {"item": "id,answer", "cluster": "id", "replicate": "run", "verdict": "scores"}


def test_lists_in_lists_become_rows_with_their_places(tmp_path: Path) -> None:
    table = read(tmp_path, SCORED, OF_SCORES, lists={"scores": "answer,run"})
    judgments = judged(table)
    assert [j.trial.id for j in judgments][:4] == [
        "s/q1-1/t1/ab/r1",
        "s/q1-1/t1/ab/r2",
        "s/q1-1/t1/ab/r3",
        "s/q1-2/t1/ab/r1",
    ]
    assert {j.trial.cluster for j in judgments} == {"q1", "q2"}
    assert [j.verdict for j in judgments][:6] == ["4", "4", "5", "2", "2", "2"]
    assert judgments[7].outcome == Unparsed("no verdict recorded")
    # Of the four answers the first one of q1 alone got two scores.
    flips = estimate(tmp_path, table, "repeat_flip_rate")
    assert (flips.count, flips.n) == (1, 4)


def test_objects_in_lists_have_their_fields(tmp_path: Path) -> None:
    rows = [{"item": "q1", "runs": [{"winner": "A"}, {"winner": "B"}]}]
    mapping = {"replicate": "run", "verdict": "runs.winner"}
    judgments = judged(read(tmp_path, rows, mapping, lists={"runs": "run"}))
    assert [(j.trial.replicate, j.verdict) for j in judgments] == [(1, "A"), (2, "B")]


def test_a_list_may_be_a_field_of_objects(tmp_path: Path) -> None:
    rows = [{"item": "q1", "of": {"votes": ["A", "B"]}}]
    mapping = {"replicate": "run", "verdict": "of.votes"}
    judgments = judged(read(tmp_path, rows, mapping, lists={"of.votes": "run"}))
    assert [(j.trial.replicate, j.verdict) for j in judgments] == [(1, "A"), (2, "B")]


def test_a_cell_without_a_list_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="field 'scores' is malformed") as raised:
        read(tmp_path, [*SCORED, {"id": "q3", "scores": [4]}], OF_SCORES, lists={"scores": "a,b"})
    assert "t.jsonl:3, a 1" in str(raised.value)
    with pytest.raises(LogError, match="field 'score' is missing"):
        read(tmp_path, SCORED, OF_SCORES, lists={"score": "answer,run"})


def test_places_need_a_column_of_their_own(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is a column 'id' already"):
        read(tmp_path, SCORED, OF_SCORES, lists={"scores": "id,run"})
    for names in ("run,run", "run,", ""):
        with pytest.raises(UsageError, match="not told apart"):
            read(tmp_path, SCORED, OF_SCORES, lists={"scores": names})


# --- another file ----------------------------------------------------------------------------

VERDICTS = [
    {"idx": 0, "result": "1"},
    {"idx": 1, "result": "Tie"},
    {"idx": 2, "result": "2"},
    {"idx": 3, "result": "garbage"},
]
PEOPLE = [
    {"idx": 3, "anna": 1, "ben": 1, "cleo": 1},
    {"idx": 2, "anna": 1, "ben": 2, "cleo": 2},
    {"idx": 1, "anna": 0, "ben": 1, "cleo": 2},
    {"idx": 0, "anna": 1, "ben": 1, "cleo": None},
]
OF_PEOPLE = {"item": "idx", "verdict": "result"} | {
    f"people.{name}": name for name in ("anna", "ben", "cleo")
}
WORDS = {"1": "A", "2": "B", "0": "tie", "garbage": ""}


def test_labels_of_people_are_joined_from_another_file(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "people.jsonl", PEOPLE)
    table = read(tmp_path, VERDICTS, OF_PEOPLE, values=WORDS, joins=[(path, "idx")])
    judgments = judged(table)
    assert [j.verdict for j in judgments] == ["A", "tie", "B", None]
    # Contents, and the label of most: three people who disagree have none.
    assert [j.trial.people[LABEL] for j in judgments] == [
        {"anna": "1", "ben": "1"},
        {"anna": "tie", "ben": "1", "cleo": "2"},
        {"anna": "1", "ben": "2", "cleo": "2"},
        {"anna": "1", "ben": "1", "cleo": "1"},
    ]
    assert [j.trial.label for j in judgments] == ["1", None, "2", "1"]
    # Two of the three that people agree on are right, one states no verdict.
    agreement = estimate(tmp_path, table, "agreement")
    assert (agreement.count, agreement.n) == (2, 3)


def test_a_label_of_its_own_column_holds(tmp_path: Path) -> None:
    rows = [row | person | {"better": 2} for row, person in zip(VERDICTS, PEOPLE, strict=True)]
    judgments = judged(read(tmp_path, rows, OF_PEOPLE | {"label": "better"}, values=WORDS))
    assert {j.trial.label for j in judgments} == {"2"}


def test_people_who_name_slots_are_turned_with_the_candidates(tmp_path: Path) -> None:
    rows = [
        {"item": "q", "order": order, "verdict": slot, "anna": slot, "ben": "tie"}
        for order, slot in (("ab", "A"), ("ba", "B"))
    ]
    names = {"verdict": "slot", "label": "slot"}
    mapping = {"people.anna": "anna", "people.ben": "ben"}
    judgments = judged(read(tmp_path, rows, mapping, names=names))
    assert [j.trial.people[LABEL] for j in judgments] == [{"anna": "1", "ben": "tie"}] * 2
    assert [j.chosen for j in judgments] == ["1", "1"]


@pytest.mark.parametrize(
    ("people", "column", "told"),
    [
        ([{**PEOPLE[0], "idx": 9}], "idx", "has no row for any of the table, such as .*t.jsonl:1"),
        ([*PEOPLE, PEOPLE[0]], "idx", "people.jsonl:5 repeats a row of --join"),
        (PEOPLE, "id", "field 'id' is missing"),
        ([{**PEOPLE[0], "idx": None}], "idx", "field 'idx' is malformed"),
    ],
)
def test_rows_that_cannot_be_joined_are_told(
    tmp_path: Path, people: list[dict[str, Any]], column: str, told: str
) -> None:
    path = write_rows(tmp_path / "people.jsonl", people)
    with pytest.raises(LogError, match=told):
        read(tmp_path, VERDICTS, OF_PEOPLE, values=WORDS, joins=[(path, column)])


def test_people_who_labelled_some_of_the_rows_are_joined_and_the_rest_is_counted(
    tmp_path: Path,
) -> None:
    path = write_rows(tmp_path / "people.jsonl", PEOPLE[1:])
    table = read(tmp_path, VERDICTS, OF_PEOPLE, values=WORDS, joins=[(path, "idx")])
    assert f"{path} has no row for 1 of 4 rows, such as idx 3" in table.notices
    assert [len(j.trial.people.get(LABEL, {})) for j in judged(table)] == [2, 3, 3, 0]


def test_several_columns_tell_together_which_rows_belong_together(tmp_path: Path) -> None:
    rows = [{"q": n // 2, "style": "xy"[n % 2], "verdict": "AB"[n % 2]} for n in range(4)]
    people = [{**row, "verdict": "", "better": "A"} for row in reversed(rows)]
    path = write_rows(tmp_path / "people.jsonl", people)
    mapping = {"item": "q,style", "label": "better"}
    judgments = judged(read(tmp_path, rows, mapping, joins=[(path, "q,style")]))
    assert [(j.verdict, j.trial.label) for j in judgments] == [("A", "1"), ("B", "1")] * 2
    with pytest.raises(LogError, match="repeats a row of --join") as caught:
        read(tmp_path, rows, mapping, joins=[(path, "q")])
    # Verdicts are empty there: the two that tell its rows are these.
    assert "name what tells its rows: --join FILE=q,style" in caught.value.remedy


def test_a_column_of_both_files_is_read_from_the_table_and_told(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "people.jsonl", [row | {"result": "2"} for row in PEOPLE])
    table = read(tmp_path, VERDICTS, OF_PEOPLE, values=WORDS, joins=[(path, "idx")])
    assert [j.verdict for j in judged(table)] == ["A", "tie", "B", None]
    told = f"{path} has columns that the table has too: result is people.result"
    assert told in table.notices


# --- candidates that the rows name -----------------------------------------------------------

GAMES = [
    {"question": "q1", "A": "pine", "B": "fir", "reply": "Both are short. [[A]]"},
    {"question": "q1", "A": "fir", "B": "pine", "reply": "Both are short. [[B]]"},
    {"question": "q1", "A": "fir", "B": "oak", "reply": "Both are short. [[A]]"},
    {"question": "q1", "A": "oak", "B": "fir", "reply": "Both are short. [[C]]"},
]
OF_GAMES = {"item": "question", "first": "A", "second": "B", "reply": "reply"}
ANSWERS = ("A", "B", "tie")


def test_the_order_follows_from_the_names_of_the_candidates(tmp_path: Path) -> None:
    table = read(tmp_path, GAMES, OF_GAMES, labels=ANSWERS, values={"C": "tie"}, replicate=2)
    judgments = judged(table)
    assert [(j.trial.item, j.trial.order, j.verdict) for j in judgments] == [
        ("q1-fir-pine", "ba", "A"),
        ("q1-fir-pine", "ab", "B"),
        ("q1-fir-oak", "ab", "A"),
        ("q1-fir-oak", "ba", "tie"),
    ]
    # All pairs of a question are one cluster.
    assert {(j.trial.cluster, j.trial.replicate) for j in judgments} == {("q1", 2)}
    assert [j.chosen for j in judgments] == ["2", "2", "1", "tie"]
    assert not any("not used" in notice for notice in table.notices)


def test_a_word_for_a_tie_is_read_only_where_it_is_said(tmp_path: Path) -> None:
    table = read(tmp_path, GAMES, OF_GAMES, labels=ANSWERS)
    assert [j.verdict for j in judged(table)] == ["A", "B", "A", None]


def test_verdicts_and_labels_of_named_candidates_may_be_slots(tmp_path: Path) -> None:
    rows = [
        {"id": n, "model_a": a, "model_b": b, "pick": pick, "human": human}
        for n, (a, b, pick, human) in enumerate(
            [("oak", "fir", "A", "model_a"), ("fir", "oak", "B", "model_a")]
        )
    ]
    mapping = {"item": "id", "first": "model_a", "second": "model_b"}
    mapping |= {"verdict": "pick", "label": "human"}
    values = {"model_a": "A", "model_b": "B"}
    names = {"verdict": "slot", "label": "slot"}
    judgments = judged(read(tmp_path, rows, mapping, values=values, names=names))
    # In the order of the alphabet oak is content 2; people prefer it, then fir.
    assert [(j.chosen, j.trial.label, j.correct) for j in judgments] == [
        ("2", "2", True),
        ("2", "1", False),
    ]


def test_people_may_name_candidates_as_the_judge_does(tmp_path: Path) -> None:
    said = [
        ("oak", "fir", "oak", "Oak", "fir"),
        ("fir", "oak", "oak", "fir", "fir"),
        ("fir", "elm", "tie", "tie", "elm"),
        ("elm", "oak", "oak", "oak", "oak"),
    ]
    columns = ("l", "r", "pick", "anna", "ben")
    rows = [{"id": n, **dict(zip(columns, row, strict=True))} for n, row in enumerate(said)]
    mapping = {"item": "id", "first": "l", "second": "r", "verdict": "pick"}
    of_anna = read(tmp_path, rows, mapping | {"label": "anna"}, names={"verdict": "slot"})
    assert not of_anna.objections
    # Contents 1 and 2 are in the order of the alphabet: fir and oak, fir and oak, elm and fir, ...
    assert [j.trial.label for j in judged(of_anna)] == ["2", "1", "tie", "2"]
    assert [j.chosen for j in judged(of_anna)] == ["2", "2", "tie", "2"]
    # Judge and Anna say the same name but in the second row.
    agreement = estimate(tmp_path, of_anna, "agreement")
    assert (agreement.count, agreement.n) == (3, 4)
    people = {"people.anna": "anna", "people.ben": "ben"}
    of_both = judged(read(tmp_path, rows, mapping | people, names={"verdict": "slot"}))
    assert [j.trial.people[LABEL] for j in of_both] == [
        {"anna": "2", "ben": "1"},
        {"anna": "1", "ben": "1"},
        {"anna": "tie", "ben": "1"},
        {"anna": "2", "ben": "2"},
    ]
    # They are of one mind in the second row and in the last.
    assert [j.trial.label for j in of_both] == [None, "1", None, "2"]


def test_what_people_name_is_asked_also_where_they_have_no_majority(tmp_path: Path) -> None:
    rows = [
        {"id": "q1", "l": a, "r": b, "pick": "A", "anna": "A", "ben": "B"}
        for a, b in (("fir", "oak"), ("oak", "fir"))
    ]
    mapping = {"item": "id", "first": "l", "second": "r", "verdict": "pick"}
    mapping |= {"people.anna": "anna", "people.ben": "ben"}
    table = read(tmp_path, rows, mapping, names={"verdict": "slot"})
    assert any("the labels of suite s name slots" in str(error) for error in table.objections)
    stated = read(tmp_path, rows, mapping, names={"verdict": "slot", "label": "content"})
    assert not stated.objections


@pytest.mark.parametrize(
    "mapping",
    [
        {"item": "question", "first": "A", "reply": "reply"},
        OF_GAMES | {"order": "A"},
        OF_GAMES | {"reply.ab": "reply", "reply.ba": "reply"},
    ],
)
def test_two_names_tell_the_order_and_nothing_else_does(
    tmp_path: Path, mapping: dict[str, str]
) -> None:
    with pytest.raises(UsageError, match="the columns of two candidates' names"):
        read(tmp_path, GAMES, mapping, labels=ANSWERS)


def test_a_candidate_beside_itself_is_an_error(tmp_path: Path) -> None:
    rows = [GAMES[0] | {"B": "pine"}]
    with pytest.raises(LogError, match="field 'B' is malformed"):
        read(tmp_path, rows, OF_GAMES, labels=ANSWERS)
