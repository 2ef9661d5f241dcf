"""MT-bench's judgments and Chatbot Arena's votes, in the layouts of FastChat; invented texts."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.trial import LABEL, Unparsed
from tests.files.shapes.reading import counts, imported, judged, proposed, shapes_of, written

WINNERS = [
    ("model_1", "model_1"),
    ("model_2", "model_1"),
    ("tie", "model_2"),
    ("error", "model_2"),
]


def shown(turn: int, first: str, second: str) -> str:
    """A prompt of MT-bench, which marks the answers; of two turns it shows whole conversations."""
    if turn == 1:
        return "[User Question]\nWhat is rain?\n\n" + "\n\n".join(
            f"[The Start of Assistant {letter}'s Answer]\n{answer}\n"
            f"[The End of Assistant {letter}'s Answer]"
            for letter, answer in zip("AB", (first, second), strict=True)
        )
    return "\n\n\n".join(
        f"<|The Start of Assistant {letter}'s Conversation with User|>\n\n### User:\nWhat is rain?"
        f"\n\n### Assistant {letter}:\n{answer}\n\n"
        f"<|The End of Assistant {letter}'s Conversation with User|>"
        for letter, answer in zip("AB", (first, second), strict=True)
    )


def pair_rows(prompt: str = "pair-v2", judge: str = "gpt-4") -> list[dict[str, Any]]:
    """Four questions in two turns; the second turn has the winners of the first, turned round."""
    return [
        {
            "question_id": 81 + number,
            "model_1": "alpha",
            "model_2": "beta",
            "g1_winner": winners[0],
            "g2_winner": winners[1],
            "judge": [judge, prompt + "-multi-turn" * (turn - 1)],
            "g1_user_prompt": shown(turn, f"alpha {number}", f"beta {number}"),
            "g1_judgment": "I prefer one of them.",
            "g2_user_prompt": shown(turn, f"beta {number}", f"alpha {number}"),
            "g2_judgment": "$ERROR$" if "error" in winners else "I prefer one.",
            "turn": turn,
            "tstamp": 1.5,
        }
        for turn in (1, 2)
        for number, winners in enumerate(WINNERS[:: 1 if turn == 1 else -1])
    ]


def slot(winner: str, order: str) -> str | None:
    """Where the winner stood: model_1 is first in game 1, and second in game 2."""
    if winner in ("tie", "error"):
        return {"tie": "tie", "error": None}[winner]
    return "A" if (winner == "model_1") == (order == "ab") else "B"


def test_pairs_of_mt_bench_name_contents_in_both_orders(tmp_path: Path) -> None:
    rows = [*pair_rows(), *pair_rows(judge="claude-v1")]
    path = written(tmp_path / "gpt-4_pair.jsonl", rows)
    assert [shape.name for shape in shapes_of(path)] == ["mt-bench-pair"]
    expected = Counter(
        (row["judge"][0], order, slot(row[name], order))
        for row in rows
        for order, name in (("ab", "g1_winner"), ("ba", "g2_winner"))
    )
    judgments = judged(path)
    assert counts(judgments) == expected
    assert {judgment.trial.template for judgment in judgments} == {"pair-v2", "pair-v2-multi-turn"}
    assert {judgment.trial.suite for judgment in judgments} == {"mt-bench"}
    assert {judgment.trial.cluster for judgment in judgments} == {"81", "82", "83", "84"}
    first = judgments[0]
    assert first.trial.item == "81-1-alpha-beta"
    assert first.detail is not None
    prompt = first.detail["source"]["prompt"][0]["content"]
    assert prompt == shown(1, "alpha 0", "beta 0")
    errors = [judgment for judgment in judgments if judgment.verdict is None]
    assert len(errors) == 4  # one game of each turn and judge
    assert all(isinstance(judgment.outcome, Unparsed) for judgment in errors)


def test_answers_are_read_out_of_the_prompts_in_the_item_s_own_order(tmp_path: Path) -> None:
    for judgment in judged(written(tmp_path / "first.jsonl", pair_rows()[:4])):
        assert judgment.detail is not None
        number = judgment.trial.item[1]
        assert judgment.detail["source"]["fields"] == {
            "task": "What is rain?",
            "a": f"alpha {int(number) - 1}",
            "b": f"beta {int(number) - 1}",
        }
    # A prompt of two turns shows no question beside the conversations.
    second = judged(written(tmp_path / "second.jsonl", pair_rows()[4:]))[0]
    assert second.detail is not None
    assert second.detail["source"]["fields"] == {
        "a": "### User:\nWhat is rain?\n\n### Assistant:\nalpha 0",
        "b": "### User:\nWhat is rain?\n\n### Assistant:\nbeta 0",
    }


def test_a_list_in_a_cell_of_csv_is_the_judge_and_its_prompt(tmp_path: Path) -> None:
    path = tmp_path / "pair.csv"
    rows = [{**row, "judge": str(row["judge"]), "extra": 1} for row in pair_rows()]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    lines = written(tmp_path / "pair.jsonl", pair_rows())
    assert counts(judged(path)) == counts(judged(lines))
    assert {judgment.trial.template for judgment in judged(path)} == {
        "pair-v2",
        "pair-v2-multi-turn",
    }


def test_pairs_are_read_packed_as_an_array_and_without_newer_fields(tmp_path: Path) -> None:
    rows = [{k: v for k, v in r.items() if k not in ("turn", "judge")} for r in pair_rows()[:4]]
    array = tmp_path / "pair.json.gz"
    array.write_bytes(gzip.compress(json.dumps(rows).encode()))
    judgments = judged(array)
    assert [judgment.verdict for judgment in judgments] == [
        slot(winner, order)
        for winners in WINNERS
        for winner, order in zip(winners, ("ab", "ba"), strict=True)
    ]
    assert judgments[0].trial.item == "81-alpha-beta"


def single_rows(scores: list[Any], model: str = "alpha") -> list[dict[str, Any]]:
    """A rated answer a row, on two turns of each question."""
    return [
        {
            "question_id": 81 + number // 2,
            "model": model,
            "judge": ["gpt-4", "single-v1"],
            "user_prompt": f"Rate it: {number}",
            "judgment": f"Rating: [[{score}]]",
            "score": score,
            "turn": 1 + number % 2,
            "tstamp": 1.5,
        }
        for number, score in enumerate(scores)
    ]


def test_a_rating_of_minus_one_is_none(tmp_path: Path) -> None:
    scores = [10, 8.5, -1, 7, 3, 10.0]
    rows = [*single_rows(scores), *single_rows(scores[::-1], "beta")]
    path = written(tmp_path / "gpt-4_single.jsonl", rows)
    assert [shape.name for shape in shapes_of(path)] == ["mt-bench-single"]
    judgments = judged(path)
    assert len(judgments) == len(rows)
    stated = [float(j.verdict) for j in judgments if j.verdict is not None]
    # As FastChat's own mean: ratings of -1 are left out.
    assert sorted(stated) == sorted([score for score in scores if score != -1] * 2)
    assert judgments[1].trial.item == "81-2-alpha"
    assert judgments[1].trial.cluster == "81"
    assert judgments[1].trial.template == "single-v1"


def test_rows_that_were_appended_again_are_replicates(tmp_path: Path) -> None:
    rows = single_rows([5, 6]) + single_rows([7, 6])
    judgments = judged(written(tmp_path / "again.jsonl", rows))
    assert [(j.trial.item, j.trial.replicate, j.verdict) for j in judgments] == [
        ("81-1-alpha", 1, "5"),
        ("81-2-alpha", 1, "6"),
        ("81-1-alpha", 2, "7"),
        ("81-2-alpha", 2, "6"),
    ]


# --- votes ----------------------------------------------------------------------------------------


def vote(
    judge: str, winner: str, models: tuple[str, str] = ("alpha", "beta"), **more: Any
) -> dict[str, Any]:
    """A vote on one turn of one question."""
    conversations = {
        f"conversation_{letter}": [
            {"role": "user", "content": "What is rain?"},
            {"role": "assistant", "content": f"Water, says {model}."},
        ]
        for letter, model in zip("ab", models, strict=True)
    }
    return {
        "question_id": 81,
        "model_a": models[0],
        "model_b": models[1],
        "winner": winner,
        "judge": judge,
        **conversations,
        "turn": 1,
        **more,
    }


def test_votes_of_users_are_labels_and_no_judge_speaks(tmp_path: Path) -> None:
    votes = [
        vote(f"arena_user_{n}", winner, question_id=f"c{n}", anony=True, language="English")
        for n, winner in enumerate(["model_a", "model_b", "tie", "tie (bothbad)"])
    ]
    path = tmp_path / "clean_battle.json"
    path.write_text(json.dumps(votes))
    assert [shape.name for shape in shapes_of(path)] == ["chatbot-arena"]
    proposal = proposed(path)
    assert proposal.no_judge == "its votes are people's"
    settings = [shown.setting for shown in proposal.taken]
    assert ("map", ("label", "winner")) in settings
    assert ("map", ("item", "question_id")) in settings
    assert ("map", ("field.b", "conversation_b.1.content")) in settings
    assert ("value", ("tie (bothbad)", "tie")) in settings
    assert ("value", ("model_b", "2")) in settings


def test_what_people_said_stands_beside_the_judge_in_its_order_of_the_models(
    tmp_path: Path,
) -> None:
    human = [
        vote("expert_1", "model_a"),
        vote("author_2", "model_a", models=("beta", "alpha")),
        vote("expert_1", "tie", turn=2),
        vote("expert_3", "model_b", question_id=99),
    ]
    by_judge = [vote("gpt4_pair", "model_b"), vote("gpt4_pair", "tie (inconsistent)", turn=2)]
    paths = (written(tmp_path / "human.jsonl", human), written(tmp_path / "gpt4.jsonl", by_judge))
    judgments = judged(*paths)
    assert [(j.judge, j.trial.item, j.verdict) for j in judgments] == [
        ("gpt4_pair", "81-1-alpha-beta", "B"),
        ("gpt4_pair", "81-2-alpha-beta", "tie"),
    ]
    # The author's vote was on beta and alpha: its model_a is the judge's model_b.
    assert [j.trial.people for j in judgments] == [
        {LABEL: {"expert_1": "1", "author_2": "2"}},
        {LABEL: {"expert_1": "tie"}},
    ]
    notices = imported(*paths).notices
    assert not any("is not used" in notice for notice in notices)


@pytest.mark.parametrize(
    "columns",
    [
        {"model_a": "x", "model_b": "y", "winner": "model_a"},
        {"model_a": "x", "model_b": "y", "winner": "x", "judge": "gpt-4"},
    ],
)
def test_battles_that_say_neither_who_voted_nor_on_what_or_name_the_winner_are_anybodys(
    tmp_path: Path, columns: dict[str, str]
) -> None:
    assert shapes_of(written(tmp_path / "battles.jsonl", [columns])) == []
