"""Decision logs, pairs of games and tables become judgments that are measured as published."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.files.candidate_texts import NamingAskedFor
from pytest_judgesense.files.foreign_results import Imported
from pytest_judgesense.files.tables import read_rows
from pytest_judgesense.instruments.paraphrase.foreign_table import read_table
from pytest_judgesense.instruments.paraphrase.judgesense import read_decisions
from pytest_judgesense.instruments.paraphrase.results import read_games
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.report.log import log_line
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.trial import Failed, Unparsed, Usage
from tests.foreign import decision_row, game_row, pair_rows, write_rows

PUBLISHED = json.loads(
    (Path(__file__).parents[2] / "data" / "published.json").read_text(encoding="utf-8")
)


def decisions(folder: Path, rows: list[dict[str, Any]], *pairs: Path) -> Imported:
    return read_decisions(list(read_rows(write_rows(folder / "log.jsonl", rows))), pairs)


def games(folder: Path, rows: list[dict[str, Any]]) -> Imported:
    return read_games(list(read_rows(write_rows(folder / "games.jsonl", rows))), "games")


def estimates_of(folder: Path, read: Imported) -> tuple[Estimate, ...]:
    """The measures of what was read, by way of the log that an import writes."""
    log = folder / "judgments.jsonl"
    log.write_text("".join(log_line(*one) + "\n" for one in read.judgments), encoding="utf-8")
    (cell,) = cells_of_logs([log])
    return estimate_all(cell)


def estimate(folder: Path, read: Imported, measure: str) -> Estimate:
    """A pooled measure of what was read."""
    found = find_estimate(estimates_of(folder, read), measure)
    assert found is not None
    return found


# --- decision logs ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row", [r for r in PUBLISHED["judgesense"]["rows"] if r["task"] == "factuality"]
)
def test_arithmetic_of_flips_through_an_import(tmp_path: Path, row: dict[str, Any]) -> None:
    # Table 1 of arXiv 2604.23478: 125 pairs in three runs, so many of them flipped.
    rows = [
        decision_row(i % 125 + 1, i // 125 + 1, "YES", "NO" if i < row["flips"] else "YES")
        for i in range(row["n"])
    ]
    jss = estimate(tmp_path, decisions(tmp_path, rows), "jss")
    assert jss.n == row["n"]
    assert round(jss.value or 0, 3) == row["jss"]


def test_kappa_takes_the_first_prompt_for_the_first_rater(tmp_path: Path) -> None:
    said = ["YES YES", "YES NO", "NO NO", "NO NO", "YES YES", "NO YES", "YES YES", "YES NO"]
    rows = [decision_row(n, 1, *words.split()) for n, words in enumerate(said, start=1)]
    # Agree 5/8; first YES 5/8, second YES 4/8: chance 5/8 x 1/2 + 3/8 x 1/2 = 1/2;
    # kappa = (5/8 - 1/2) / (1 - 1/2) = 1/4.
    assert estimate(tmp_path, decisions(tmp_path, rows), "kappa").value == pytest.approx(0.25)


def test_rows_with_an_error_and_unclear_decisions_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [
        decision_row(1, 1, "YES", "YES"),
        decision_row(2, 1, "NO", "YES"),
        decision_row(3, 1, "YES", "UNCLEAR", prompt_b_raw="Hard to say."),
        decision_row(4, 1, "NO", "UNCLEAR", prompt_b_raw="ERROR: 429", error="ERROR: 429"),
        decision_row(5, 1, "YES", "YES", error="interrupted"),
    ]
    read = decisions(tmp_path, rows)
    jss = estimate(tmp_path, read, "jss")
    # Rows 3 to 5 take part in nothing: one of two pairs agrees.
    assert (jss.n, jss.value) == (2, 0.5)
    # Row 4 has lost one call, row 5 does not say which, so both.
    assert (jss.missing.unparsed, jss.missing.failed) == (1, 3)
    assert [type(j.outcome) for j, _ in read.judgments[5:8]] == [
        Unparsed,
        type(read.judgments[0][0].outcome),
        Failed,
    ]


@pytest.mark.parametrize(
    ("task", "said", "labels"),
    [
        ("coherence", ("score_4", "4"), ("1", "2", "3", "4", "5")),
        ("factuality", ("accurate", "YES"), ("YES", "NO")),
        ("preference", ("A", "A"), ("A", "B")),
        ("toxicity", ("NO", "no"), ("YES", "NO")),  # a task of its own, with known labels
    ],
)
def test_decisions_are_read_in_the_benchmarks_words(
    tmp_path: Path, task: str, said: tuple[str, str], labels: tuple[str, ...]
) -> None:
    ((first, design), (second, _)) = decisions(
        tmp_path, [decision_row(1, 1, *said, task_type=task, flipped=False)]
    ).judgments
    assert first.verdict == second.verdict
    assert design.labels == labels
    assert design.pairs == (("a", "b"),)


def test_a_swapped_row_is_the_other_presentation_order(tmp_path: Path) -> None:
    rows = [
        decision_row(n, 1, "A", "A", task_type="preference", ab_swapped=bool(n % 2)) for n in (1, 2)
    ]
    first, _, second, _ = (judgment for judgment, _ in decisions(tmp_path, rows).judgments)
    assert (first.trial.order, first.chosen) == ("ba", "2")
    assert (second.trial.order, second.chosen) == ("ab", "1")


def test_the_pair_file_gives_a_log_its_clusters(tmp_path: Path) -> None:
    pairs = write_rows(tmp_path / "pairs.jsonl", pair_rows("factuality"))
    rows = [decision_row(n, 1, "YES", "YES") for n in (1, 25, 26)]
    read = decisions(tmp_path, rows, pairs)
    # 25 rows a response.
    clusters = [judgment.trial.cluster for judgment, _ in read.judgments[::2]]
    assert clusters == ["response-1", "response-1", "response-2"]
    alone = decisions(tmp_path, rows).notices
    assert "--pairs FILE names the file of the pairs" in alone[-2]
    assert "the polarity of the wordings of factuality is not known" in alone[-1]


def test_a_log_with_its_pairs_has_templates_polarity_and_gold_labels(tmp_path: Path) -> None:
    # A judge that is always right: under the fourth wording, which asks for errors, it says NO of
    # an accurate response. That stands in two of the ring's five pairs: raw, 50 of 125 pairs flip
    # in every run, and corrected none does (section 4.3 of arXiv 2604.23478).
    known = pair_rows("factuality")
    rows = []
    for run in (1, 2, 3):
        for number, pair in enumerate(known, start=1):
            right = "YES" if pair["ground_truth_label"] == "accurate" else "NO"
            said = [
                {"YES": "NO", "NO": "YES"}[right] if "contain errors" in pair[prompt] else right
                for prompt in ("prompt_a", "prompt_b")
            ]
            rows.append(decision_row(number, run, *said))
    read = decisions(tmp_path, rows, write_rows(tmp_path / "pairs.jsonl", known))
    assert "labels of t4 mean the opposite" in read.notices[-1]
    first, second, third, fourth, *_ = (judgment.trial for judgment, _ in read.judgments)
    assert [t.template for t in (first, second, third, fourth)] == ["t1", "t2", "t3", "t4"]
    assert fourth.condition == {"polarity": "inverted"}
    assert fourth.label == "YES"
    estimates = estimates_of(tmp_path, read)
    values = {
        (e.measure, e.condition.get("polarity")): (e.count, e.n)
        for e in estimates
        if e.measure in ("jss", "agreement") and "template_pair" not in e.condition
    }
    assert values["jss", None] == values["jss", "remapped"] == (375, 375)
    assert values["jss", "raw"] == (225, 375)
    assert values["agreement", None] == (750, 750)
    by_pair = {e.condition["template_pair"] for e in estimates if "template_pair" in e.condition}
    assert by_pair == {"t1~t2", "t3~t4", "t5~t1", "t2~t3", "t4~t5"}
    kept = read_decisions(
        list(read_rows(tmp_path / "log.jsonl")), [tmp_path / "pairs.jsonl"], leave_out=["t4"]
    )
    assert len(kept.judgments) == 75 * 2 * 3
    assert "task factuality: 50 of 125 pairs are left out, those with t4" in kept.notices


@pytest.mark.parametrize(("swapped", "chosen"), [(False, "1"), (True, "2")])
def test_the_gold_label_of_a_pair_names_the_content(
    tmp_path: Path, *, swapped: bool, chosen: str
) -> None:
    # Row 2: with exchanged options the good reply stands in slot B, of order ba, which shows
    # content 1 there: the judge that says A chose content 2.
    pairs = write_rows(tmp_path / "pairs.jsonl", pair_rows("preference", swapped=swapped))
    row = decision_row(2, 1, "A", "A", task_type="preference", pair_id="pref_002")
    row |= {"ab_swapped": True} if swapped else {}
    (judgment, _), *_ = decisions(tmp_path, [row], pairs).judgments
    assert (judgment.chosen, judgment.trial.label) == (chosen, "1")


def test_a_flip_that_contradicts_its_decisions_is_told(tmp_path: Path) -> None:
    read = decisions(tmp_path, [decision_row(1, 1, "YES", "NO", flipped=False)])
    assert "1 rows say of their decisions that they flip" in read.notices[0]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("normalized_a", "maybe so"),
        ("run", 0),
        ("model", ""),
        ("flipped", "no"),
        ("error", 7),
        ("prompt_a_raw", 1),
    ],
)
def test_a_wrong_field_of_a_decision_is_named_with_its_line(
    tmp_path: Path, field: str, value: object
) -> None:
    rows = [decision_row(1, 1, "YES", "YES"), decision_row(2, 1, "YES", "NO")]
    rows[1][field] = value
    with pytest.raises(LogError, match=f":2: field '{field}' is malformed"):
        decisions(tmp_path, rows)


def test_a_missing_field_of_a_decision_is_named_with_its_line(tmp_path: Path) -> None:
    row = decision_row(1, 1, "YES", "YES")
    del row["normalized_b"]
    with pytest.raises(LogError, match=":1: field 'normalized_b' is missing"):
        decisions(tmp_path, [row])


# --- games -----------------------------------------------------------------------------------


def test_the_second_game_names_the_slot_of_the_exchanged_sides(tmp_path: Path) -> None:
    rows = [game_row("p", "A>B", "A>B", "A>B"), game_row("q", "B>A", "B>A", "A>B")]
    read = games(tmp_path, rows)
    # p: slot A twice, so both contents once; q: content 2 twice, which is its label.
    assert [j.chosen for j, _ in read.judgments] == ["1", "2", "2", "2"]
    assert [j.correct for j, _ in read.judgments] == [True, False, True, True]
    stable = estimate(tmp_path, read, "order_stable")
    assert (stable.count, stable.n) == (1, 2)


def test_ties_and_missing_decisions(tmp_path: Path) -> None:
    read = games(tmp_path, [game_row("p", "A=B", "A=B", None)])
    tie, missing = (judgment for judgment, _ in read.judgments)
    assert (tie.verdict, tie.correct) == ("tie", True)
    assert isinstance(missing.outcome, Unparsed)
    assert missing.reply == "I say None"


NO_RESPONSE = {"judge_model": "j"}


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (game_row("p", None, "A>B", "A>B"), "label"),
        (game_row("p", "A>B", "A>B"), "judgments"),
        (game_row("p", "A>B", "A>B", "first"), "decision"),
        ({**game_row("p", None, "A>B", "A>B"), "label": {"is": "A>B"}}, "label"),
        (game_row("p", "A>B", judgments=[{"decision": ["A>B"], "judgment": {}}] * 2), "decision"),
        (game_row("", "A>B", "A>B", "A>B"), "pair_id"),
        (game_row("p", "A>B", judgments=[{"decision": None, "judgment": {}}] * 2), "judge_model"),
        (
            game_row(
                "p", "A>B", judgments=[{"decision": None, "judgment": {"judge_model": "j"}}] * 2
            ),
            "response",
        ),
    ],
)
def test_a_wrong_field_of_a_game_is_named(tmp_path: Path, row: dict[str, Any], field: str) -> None:
    with pytest.raises(LogError, match=rf"games\.jsonl:1.*{field}"):
        games(tmp_path, [row])


def test_other_fields_of_games_are_kept_out(tmp_path: Path) -> None:
    read = games(tmp_path, [game_row("p", "A>B", "A>B", "B>A", question="?")])
    assert read.notices == ("fields kept out: question",)


# --- tables ----------------------------------------------------------------------------------


def read_as(suite: str, words: str) -> str:
    """The notice of verdicts that are no candidates."""
    return (
        f"verdicts of suite {suite} are read as {words}; --value WORD=A and --value WORD=B make "
        "candidates of them, --value WORD= takes out what states no verdict"
    )


CSV = 'id,winner,who,extra\n1,4,x,\n2,,x,\n3,"2",x,\n'


@pytest.mark.parametrize("word", ["9" * 5_000, "--1", "²"])
def test_what_python_reads_as_no_number_is_a_word(tmp_path: Path, word: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(f"item,judge,verdict\n1,x,4\n2,x,{word}\n", encoding="utf-8")
    read = read_table(path, {})
    assert read.judgments[0][1].labels == tuple(sorted(("4", word)))
    assert not read.judgments[0][1].ordinal


def test_a_csv_is_read_by_its_mapping(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(CSV, encoding="utf-8")
    read = read_table(path, {"verdict": "winner", "item": "id", "judge": "who"})
    judgments = [judgment for judgment, _ in read.judgments]
    assert [judgment.verdict for judgment in judgments] == ["4", None, "2"]
    assert {judgment.judge for judgment in judgments} == {"x"}
    # Two values are labels, whatever they are called.
    assert read.judgments[0][1].labels == ("2", "4")
    assert not read.judgments[0][1].ordinal
    assert read.notices == (
        "fields kept out: extra",
        "no column holds the suite: all rows are of suite 'scores'",
        read_as("scores", "labels: 2, 4"),
    )


def test_slots_of_a_table_are_mapped_to_contents_by_the_order(tmp_path: Path) -> None:
    rows = [
        {"item": 1, "won": "left", "order": order, "gold": gold, "judge": "j"}
        for order, gold in (("ab", "left"), ("ba", "right"))
    ]
    path = write_rows(tmp_path / "t.jsonl", rows)
    read = read_table(
        path,
        {"verdict": "won", "label": "gold"},
        values={"left": "A", "right": "B"},
        suite="own",
        names={"verdict": "slot", "label": "slot"},
    )
    first, second = (judgment for judgment, _ in read.judgments)
    assert (first.chosen, first.trial.label) == ("1", "1")
    assert (second.chosen, second.trial.label) == ("2", "1")  # slot B of ba holds content 1
    assert first.trial.id == "own/1/t1/ab/r1"


def test_conditions_and_replicates_of_a_table(tmp_path: Path) -> None:
    rows = [{"item": "i", "verdict": "YES", "run": n, "kind": "k"} for n in (1, 2)]
    path = write_rows(tmp_path / "t.jsonl", rows)
    read = read_table(path, {"replicate": "run", "condition.category": "kind"}, judge="j")
    assert [j.trial.replicate for j, _ in read.judgments] == [1, 2]
    assert read.judgments[0][0].trial.condition == {"category": "k"}


def test_a_field_may_be_in_no_column_whatever_columns_are_called(tmp_path: Path) -> None:
    rows = [{"item": n, "verdict": "YES", "label": "other"} for n in (1, 2)]
    read = read_table(write_rows(tmp_path / "t.jsonl", rows), {"label": ""})
    assert [judgment.trial.label for judgment, _ in read.judgments] == [None, None]


def test_rows_on_one_trial_are_an_error_that_names_both(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "t.jsonl", [{"item": "i", "verdict": "YES"}] * 2)
    with pytest.raises(LogError, match=r"t\.jsonl:2 repeats a trial") as caught:
        read_table(path, {})
    assert "t.jsonl:1" in str(caught.value)
    assert "--map replicate=COLUMN" in str(caught.value)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"verdikt": "v"}, "did you mean 'verdict'"),
        ({"verdict": "v"}, "no column holds the item"),
        ({"order": "w"}, "no row has a column 'w', which is mapped to the order"),
    ],
)
def test_a_mapping_that_cannot_be_is_a_wrong_command(
    tmp_path: Path, mapping: dict[str, str], message: str
) -> None:
    path = write_rows(tmp_path / "t.jsonl", [{"v": "YES"}])
    with pytest.raises(UsageError, match=message):
        read_table(path, mapping)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,verdict\n1\n", r"t\.csv:2 has another number of cells"),
        ("item,verdict\n1,2,3\n", r"t\.csv:2 has another number of cells"),
        ("item,item\n1,2\n", r"t\.csv:1 names a column twice"),
        ('item,verdict\n1,"2\n', r"is not CSV"),
        (
            "item,verdict,order\n1,A,aa\n",
            r"(?s)t\.csv:2: field 'order' is malformed.*--value aa=ab",
        ),
        ("item,verdict\n1,A\n2,B\x00\n", r"t\.csv:3 holds a NUL character"),
        ("item,verdict,prompt_tokens\n1,A,-1\n", r"(?s)'prompt_tokens' is malf.*number from 0 to"),
        ("item,verdict,latency_s\n1,A,soon\n", r"(?s)'latency_s' is malformed.*at least 0"),
        ("item,verdict,latency_s\n1,A,nan\n", r"'latency_s' is malformed"),
        ("item,verdict,latency_s\n1,A,-1\n", r"'latency_s' is malformed"),
        ("item,verdict\n,A\n", r"t\.csv:2: field 'item' is malformed"),
        ("", "holds no rows"),
    ],
)
def test_a_broken_csv_is_an_error_with_file_and_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LogError, match=message):
        read_table(path, {})


def test_a_reply_of_no_tokens_is_counted_as_such(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("item,judge,verdict,prompt_tokens,completion_tokens\nq1,j,A,7,0\n")
    read = read_table(path, {}, suite="s")
    assert [one.usage for one, _ in read.judgments] == [Usage(7, 0)]


def test_verdicts_that_name_contents_become_slots(tmp_path: Path) -> None:
    """q1: model_2 wins in both orders, slots B and A. q2: slot A wins in both orders."""
    path = tmp_path / "log.csv"
    path.write_text(
        "item,order,verdict,label\n"
        "q1,ab,model_2,model_2\nq1,ba,model_2,model_2\n"
        "q2,ab,model_1,model_2\nq2,ba,model_2,model_2\n"
    )
    read = read_table(path, {}, names={"verdict": "content", "label": "content"})
    assert [(one.verdict, one.chosen, one.trial.label) for one, _ in read.judgments] == [
        ("B", "2", "2"),
        ("A", "2", "2"),
        ("A", "1", "2"),
        ("A", "2", "2"),
    ]
    assert all(design is not None and design.pairwise for _, design in read.judgments)
    assert read.objections == ()


@pytest.mark.parametrize("words", [("model_a", "model_b"), ("left", "right"), ("YES", "NO")])
@pytest.mark.parametrize("header", ["item,verdict", "item,verdict,order"])
def test_words_that_are_read_as_labels_are_told(
    tmp_path: Path, words: tuple[str, str], header: str
) -> None:
    rows = [f"i{n},{words[n % 2]}{',ab' if 'order' in header else ''}\n" for n in range(4)]
    path = tmp_path / "log.csv"
    path.write_text(f"{header}\n{''.join(rows)}")
    read = read_table(path, {}, judge="j", suite="s")
    assert read.notices == (read_as("s", f"labels: {', '.join(sorted(words))}"),)
    renamed = read_table(path, {}, judge="j", suite="s", values={words[0]: "A", words[1]: "B"})
    assert renamed.notices == ()
    assert all(design is not None and design.pairwise for _, design in renamed.judgments)


def test_words_of_the_order_are_renamed_as_those_of_verdicts(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("item,order,verdict\nq1,original,1\nq1,swapped,1\n")
    with pytest.raises(LogError):
        read_table(path, {})
    values = {"original": "ab", "swapped": "ba", "1": "A"}
    read = read_table(path, {}, values=values, names={"verdict": "slot"})
    assert [one.trial.order for one, _ in read.judgments] == ["ab", "ba"]


@pytest.mark.parametrize(
    ("words", "others"),
    [
        # As MT-Bench writes them; a reply without a winner is an "error" there.
        (("model_a", "model_b", "tie", "error"), "--value error="),
        (("A", "B", "n/a"), "--value n/a="),
        (("A", "B", "not clear"), "--value 'not clear='"),
        (("1", "2", "-"), "--value=-="),
        (("A", "B", "C"), "--value C="),
        (("1", "good", "bad"), "--value 1= --value bad= --value good="),
        # Steps of a comparison mean what they say.
        (
            ("A=B", "A>>B", "B>A"),
            "--value '\"A=B\"=tie' --value 'A>>B=A' --value 'B>A=B'",
        ),
    ],
)
def test_where_candidates_changed_places_verdicts_are_of_two_candidates(
    tmp_path: Path, words: tuple[str, ...], others: str
) -> None:
    rows = [f"i{n},{order},{word}\n" for n, word in enumerate(words) for order in ("ab", "ba")]
    path = tmp_path / "log.csv"
    path.write_text(f"item,order,verdict\n{''.join(rows)}")
    (objection,) = read_table(path, {}, judge="j", suite="s").objections
    assert "are not of two candidates, and these changed places" in objection.what
    assert objection.remedy.endswith(f"where they state no verdict: {others}")
    if others.count("--value") == 1:
        word = shlex.split(re.sub("--value[ =]", "", others))[0].removesuffix("=")
        again = read_table(
            path, {}, judge="j", suite="s", values={word: ""}, names={"verdict": "slot"}
        )
        assert again.objections == ()
        assert all(design.pairwise for _, design in again.judgments if design)
        # One word, once in either order, states no verdict.
        assert sum(one.verdict is None for one, _ in again.judgments) == 2


def read_of(path: Path, content: str, **more: Any) -> Imported:
    path.write_text(content, encoding="utf-8")
    return read_table(path, {}, judge="j", suite="s", **more)


def said(read: Imported) -> list[tuple[str | None, str | None]]:
    return [(one.verdict, one.trial.label) for one, _ in read.judgments]


def test_whole_numbers_are_the_same_with_and_without_a_zero(tmp_path: Path) -> None:
    # Tables write a column of whole numbers with ".0" as soon as one cell is empty.
    content = "item,template,replicate,prompt_tokens,verdict,label\n"
    content += "1,t1,1.0,12.0,4.0,4\n1,t2,1.0,,,4\n2,t1,1.0,9.0,5.0,5\n2,t2,1.0,9.0,3.00,3\n"
    read = read_of(tmp_path / "log.csv", content)
    assert said(read) == [("4", "4"), (None, "4"), ("5", "5"), ("3", "3")]
    assert [one.usage.prompt_tokens for one, _ in read.judgments] == [12, None, 9, 9]
    assert {(design.ordinal, design.labels) for _, design in read.judgments} == {
        (True, ("3", "4", "5"))
    }
    assert read.notices == (read_as("s", "grades: 3, 4, 5"),)
    # A word that the user renames is the word in the file.
    renamed = read_of(tmp_path / "log.csv", content, values={"4.0": "1", "5": "2"})
    assert [verdict for verdict, _ in said(renamed)] == ["1", None, "2", "3"]
    rows = [{"item": 1, "verdict": 4.0, "label": "4.0"}, {"item": 2, "verdict": "4", "label": 4}]
    rows += [{"item": 3, "verdict": -0.0, "label": "-0.0"}]  # as rounding leaves it
    (tmp_path / "log.json").write_text(json.dumps(rows))
    assert said(read_table(tmp_path / "log.json", {})) == [("4", "4"), ("4", "4"), ("0", "0")]


def test_words_that_differ_in_capitals_are_one(tmp_path: Path) -> None:
    content = "item,template,verdict,label\n"
    content += "1,t1,YES,yes\n1,t2,Yes,yes\n2,t1,Yes,yes\n2,t2,no,No\n3,t1,no,no\n"
    read = read_of(tmp_path / "log.csv", content)
    # As a label is spelt, of several the first of the alphabet: in another file too.
    assert said(read) == [*[("yes", "yes")] * 3, ("No", "No"), ("No", "No")]
    fewer = read_of(tmp_path / "log.csv", "item,verdict,label\n1,YES,yes\n2,NO,No\n3,NO,no\n")
    assert {one for pair in said(fewer) for one in pair} == {"yes", "No"}
    unlabelled = read_of(tmp_path / "log.csv", "item,verdict\n1,yes\n2,yes\n3,Yes\n")
    assert {verdict for verdict, _ in said(unlabelled)} == {"Yes"}
    rows = [{"item": 1, "verdict": True}, {"item": 2, "verdict": "true"}]
    (tmp_path / "log.json").write_text(json.dumps(rows))
    assert len({verdict for verdict, _ in said(read_table(tmp_path / "log.json", {}))}) == 1


def test_a_tie_is_one_in_capitals_too(tmp_path: Path) -> None:
    content = "item,order,verdict\n1,ab,Model A\n1,ba,Tie\n2,ab,TIE\n2,ba,Model B\n"
    values = {"Model A": "A", "Model B": "B"}
    names = {"verdict": "slot"}
    read = read_of(tmp_path / "log.csv", content, values=values, names=names)
    assert [verdict for verdict, _ in said(read)] == ["A", "tie", "tie", "B"]
    assert read_of(tmp_path / "log.csv", content, names=names).judgments == read.judgments
    assert all(design.pairwise for _, design in read.judgments)
    named = "item,order,verdict\n1,ab,Response 1\n1,ba,Tie\n2,ab,Response 2\n"
    # The first candidate is in slot A where the order is ab.
    assert [one for one, _ in said(read_of(tmp_path / "log.csv", named))] == ["A", "tie", "B"]


def test_slots_with_contents_as_labels_are_a_pair_without_a_notice(tmp_path: Path) -> None:
    content = "item,order,verdict,label\n1,ab,A,1\n1,ba,A,1\n2,ab,B,2\n2,ba,A,2\n"
    read = read_of(tmp_path / "log.csv", content, names={"verdict": "slot"})
    assert (read.notices, read.objections) == ((), ())
    assert [one.correct for one, _ in read.judgments] == [True, False, True, True]


def test_the_empty_cell_of_a_table_of_numbers_is_no_label(tmp_path: Path) -> None:
    read = read_of(tmp_path / "log.csv", "item,verdict,label\n1,NaN,3\n2,4,nan\n")
    assert said(read) == [(None, "3"), ("4", None)]
    (tmp_path / "log.json").write_text('[{"item": 1, "verdict": NaN, "reply": NaN}]')
    ((one, _),) = read_table(tmp_path / "log.json", {}).judgments
    assert (one.verdict, one.reply) == (None, None)


def test_an_index_without_a_name_is_kept_out(tmp_path: Path) -> None:
    # The first column that `DataFrame.to_csv` writes.
    read = read_of(tmp_path / "log.csv", ",item,verdict\n0,q1,A\n1,q2,B\n")
    assert read.notices == ("fields kept out: one without a name",)
    assert [one.trial.item for one, _ in read.judgments] == ["q1", "q2"]


def test_a_cell_of_spaces_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text('item,verdict,label\nq1,"  "," "\n')
    ((one, _),) = read_table(path, {}).judgments
    assert (one.verdict, one.trial.label) == (None, None)
    path.write_text('item,verdict\n"  ",A\n')
    with pytest.raises(LogError, match="item"):
        read_table(path, {})


def wide_rows() -> list[dict[str, Any]]:
    """Rows as MT-Bench has them: both orders, winners by model, a label of the first order."""
    winners = [
        ("model_1", "model_1", "A"),  # stable
        ("model_1", "model_2", "A"),  # slot A in both orders
        ("tie", "model_2", "B"),  # one-sided
        ("error", "model_2", "B"),  # no verdict in one order
    ]
    return [
        {
            "question_id": 81 + number // 2,
            "turn": 1 + number % 2,
            "g1_winner": one,
            "g2_winner": other,
            "g1_judgment": f"first {number}",
            "g2_judgment": f"second {number}",
            "better": label,
        }
        for number, (one, other, label) in enumerate(winners)
    ]


WIDE = {
    "item": "question_id,turn",
    "cluster": "question_id",
    "verdict.ab": "g1_winner",
    "verdict.ba": "g2_winner",
    "reply.ab": "g1_judgment",
    "reply.ba": "g2_judgment",
}


def test_a_row_may_hold_both_orders(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "pairs.jsonl", wide_rows())
    names = {"verdict": "content"}
    read = read_table(path, WIDE, judge="j", suite="s", values={"error": ""}, names=names)
    judged = {(one.trial.item, one.trial.order): one for one, _ in read.judgments}
    assert len(judged) == 8
    assert {one.trial.cluster for one in judged.values()} == {"81", "82"}
    assert [judged["81-2", order].verdict for order in ("ab", "ba")] == ["A", "A"]
    assert [judged["81-1", order].verdict for order in ("ab", "ba")] == ["A", "B"]
    assert judged["82-2", "ab"].outcome == Unparsed("no verdict recorded")
    assert judged["82-1", "ba"].reply == "second 2"
    assert "fields kept out: better" in read.notices
    # Of the three pairs with both verdicts one is stable, one positional, one one-sided.
    for measure in ("order_stable", "order_positional", "order_one_sided"):
        found = estimate(tmp_path, read, measure)
        assert (found.count, found.n) == (1, 3)


def test_the_label_of_a_row_with_both_orders_is_a_slot_of_the_first(tmp_path: Path) -> None:
    rows = [
        {"item": "q1", "first": "A", "second": "B", "better": "A"},  # content 1 twice: right twice
        {"item": "q2", "first": "A", "second": "A", "better": "B"},  # content 1, then 2: right once
    ]
    path = write_rows(tmp_path / "pairs.jsonl", rows)
    mapping = {"verdict.ab": "first", "verdict.ba": "second", "label": "better"}
    read = read_table(path, mapping, judge="j", suite="s")
    assert [one.correct for one, _ in read.judgments] == [True, True, False, True]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"verdict.ba": None}, "no column holds the verdict.ba"),
        ({"item": None}, "no column holds the item"),
        ({"item": "question_id,tur"}, "no row has a column 'tur'"),
        ({"verdict.ac": "g1_winner"}, "verdict.ac"),
    ],
)
def test_what_is_wrong_in_columns_of_both_orders_is_told(
    tmp_path: Path, change: dict[str, str | None], told: str
) -> None:
    path = write_rows(tmp_path / "pairs.jsonl", wide_rows())
    mapping = {name: column for name, column in (WIDE | change).items() if column}
    with pytest.raises(UsageError, match=told):
        read_table(path, mapping, judge="j", suite="s")


def test_one_of_joined_columns_must_be_filled(tmp_path: Path) -> None:
    # WIDE joins question_id (81 in the first row) and turn for the item.
    path = write_rows(tmp_path / "pairs.jsonl", [wide_rows()[0] | {"turn": None}])
    read = read_table(path, WIDE, judge="j", suite="s")
    assert {judgment.trial.item for judgment, _ in read.judgments} == {"81-"}
    nothing = {"question_id": None, "turn": None}
    path = write_rows(tmp_path / "empty.jsonl", [wide_rows()[0] | nothing])
    with pytest.raises(LogError, match="question_id"):
        read_table(path, WIDE, judge="j", suite="s")


def test_one_number_alone_is_a_label_and_no_scale(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("item,template,verdict\nq1,t1,1\nq1,t2,1\n")
    read = read_table(path, {}, judge="j", suite="s")
    assert {design.ordinal for _, design in read.judgments} == {False}
    assert estimate(tmp_path, read, "jss").value == 1.0


def test_few_rows_may_hold_one_each_of_the_two_words_of_a_question(tmp_path: Path) -> None:
    read = read_of(tmp_path / "log.csv", "item,verdict,label\nq1,yes,no\nq2,yes,no\n")
    assert read.objections == ()
    read = read_of(tmp_path / "log.csv", "item,verdict,label\nq1,yes,good\nq2,yes,good\n")
    assert "not in the same words" in str(read.objections[0])


@pytest.mark.parametrize(("in_ba", "naming"), [("A", "content"), ("B", "slot")])
def test_labels_of_pairs_in_both_orders_show_what_they_name(
    tmp_path: Path, in_ba: str, naming: str
) -> None:
    """What is right stays when candidates change places; a slot does not. Five items show it."""
    rows = [
        f"q{number},{order},A,{label}"
        for number in range(5)
        for order, label in (("ab", "A"), ("ba", in_ba))
    ]
    text = "\n".join(["item,order,verdict,label", *rows, ""])
    (objection,) = read_of(tmp_path / "log.csv", text).objections
    assert isinstance(objection, NamingAskedFor)
    shown = {of_field.field: of_field.shown for of_field in objection.open_namings}
    # Of verdicts it shows nothing: a judge may follow the order.
    assert shown == {"verdict": "", "label": naming}


def test_a_confidence_out_of_range_in_a_reply_is_kept_as_unusable(tmp_path: Path) -> None:
    replies = ['{"verdict": "yes", "confidence": 0.9}', '{"verdict": "yes", "confidence": 90}']
    rows = [{"item": str(place), "text": reply} for place, reply in enumerate(replies)]
    path = write_rows(tmp_path / "log.jsonl", rows)
    read = read_table(path, {"reply": "text"}, judge="j", suite="s", labels=("yes", "no"))
    assert [judgment.detail for judgment, _ in read.judgments] == [
        {"confidence": 0.9},
        {"unusable_confidence": "confidence = 90, not a number from 0 to 1"},
    ]
