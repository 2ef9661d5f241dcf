"""Annotations of AlpacaEval and judgments of Arena-Hard; the texts are invented."""

from __future__ import annotations

import bz2
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

from pytest_judgesense.trial import Judgment
from tests.files.shapes.reading import counts, imported, judged, proposed, shapes_of, written

INSTRUCTIONS = ["Name a colour.", "Count to three.", "Say hello.", "Spell rain.", "What is 2+2?"]


def annotations(
    preferences: list[Any], annotator: Any = "alpaca_eval_gpt4", **more: Any
) -> list[dict[str, Any]]:
    """Two outputs for each instruction, and which of them an annotator prefers."""
    return [
        {
            "instruction": instruction,
            "output_1": f"first answer to {instruction}",
            "generator_1": "baseline",
            "dataset": "helpful_base",
            "output_2": f"second answer to {instruction}",
            "generator_2": "mine",
            "annotator": annotator,
            "preference": preference,
            "time_per_example": 0.5,
            "price_per_example": 0.01,
            **more,
        }
        for instruction, preference in zip(INSTRUCTIONS, preferences, strict=True)
    ]


def verdicts(judgments: list[Judgment]) -> list[str | None]:
    return [judgment.verdict for judgment in judgments]


def test_choices_of_alpaca_eval_are_pairs(tmp_path: Path) -> None:
    rows = annotations([1.0, 2.0, 0.0, None, 1.5], raw_completion="Output (a)")
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(rows))
    assert [shape.name for shape in shapes_of(path)] == ["alpaca-eval"]
    judgments = judged(path)
    # 0 is how a tie was written in older files, and null no annotation.
    assert verdicts(judgments) == ["A", "B", "tie", None, "tie"]
    assert {judgment.judge for judgment in judgments} == {"alpaca_eval_gpt4"}
    assert judgments[0].trial.item == "Name a colour.-baseline-mine"
    assert judgments[0].trial.cluster == "Name a colour."
    assert judgments[0].detail is not None
    assert judgments[0].detail["source"]["fields"] == {
        "task": "Name a colour.",
        "a": "first answer to Name a colour.",
        "b": "second answer to Name a colour.",
    }
    assert "order drawn at random" in proposed(path).notes[0]


def test_an_annotation_that_is_missing_in_a_table_of_numbers_is_none(tmp_path: Path) -> None:
    path = tmp_path / "annotations.parquet"
    pd.DataFrame(annotations([1, 2, 2, None, 1.5])).to_parquet(path)
    assert verdicts(judged(path)) == ["A", "B", "B", None, "tie"]


def test_older_annotations_state_the_order(tmp_path: Path) -> None:
    rows = [
        {**row, "is_switched_outputs": is_switched}
        for row, is_switched in zip(
            annotations([1, 2, 1, 2, 1.5]), [False, True, True, False, True], strict=True
        )
    ]
    path = written(tmp_path / "annotations.jsonl", rows)
    judgments = judged(path)
    # Preferences are of outputs: output 2 stood first where the outputs were switched.
    assert [(j.trial.order, j.verdict, j.chosen) for j in judgments] == [
        ("ab", "A", "1"),
        ("ba", "A", "2"),
        ("ba", "B", "1"),
        ("ab", "B", "2"),
        ("ba", "tie", "tie"),
    ]
    assert judgments[1].detail is not None
    assert judgments[1].detail["source"]["fields"]["a"] == "first answer to Count to three."
    assert proposed(path).notes == ()


def test_weighted_preferences_of_alpaca_eval_are_scores(tmp_path: Path) -> None:
    weighted = [1.0000442, 1.9312, 1.5, 1.4999, 1.88]
    tokens = {"raw_completion": {"logprobs": {"content": [{"token": "m"}]}}}
    rows = annotations(weighted, "weighted_alpaca_eval_gpt4_turbo", **tokens)
    path = written(tmp_path / "annotations.jsonl", rows)
    read = imported(path)
    numbers = [float(str(judgment.verdict)) for judgment, _ in read.judgments]
    assert numbers == weighted
    assert not any(design.pairwise for _, design in read.judgments)


def test_annotations_by_people_hold_no_judge_and_stand_beside_those_of_one(tmp_path: Path) -> None:
    people = annotations([1, 2, 1, 2, 1], annotator=17)
    path = written(tmp_path / "people.jsonl", people)
    proposal = proposed(path)
    assert proposal.no_judge == "its annotators are people, by number"
    assert ("map", ("label", "preference")) in [shown.setting for shown in proposal.taken]
    again = [
        {**row, "gold_preference": gold}
        for row, gold in zip(annotations([1, 1, 2, 2, 1]), [1, 2, 1.5, 2, 0], strict=True)
    ]
    judgments = judged(written(tmp_path / "again.jsonl", again))
    assert [(j.verdict, j.trial.label) for j in judgments] == [
        ("A", "1"), ("A", "2"), ("B", "tie"), ("B", "2"), ("A", "tie"),
    ]  # fmt: skip


def test_annotators_and_generators_of_one_file_are_told_apart(tmp_path: Path) -> None:
    rows = [
        *annotations([1, 2, 1, 2, 1]),
        *annotations([2, 2, 2, 2, 2], "claude"),
        *annotations([2, 1, 2, 1, 1], generator_2="another"),
    ]
    path = tmp_path / "annotations.json.bz2"
    path.write_bytes(bz2.compress(json.dumps(rows).encode()))
    assert counts(judged(path)) == Counter(
        (row["annotator"], "ab", "AB"[row["preference"] - 1]) for row in rows
    )
    assert len({judgment.trial.item for judgment in judged(path)}) == 2 * len(INSTRUCTIONS)


# --- Arena-Hard -----------------------------------------------------------------------------------

STEPS = [
    ("A>>B", "B>A"),
    ("A>B", "B>>A"),
    ("A=B", "A=B"),
    ("B>A", "A>B"),
    ("B>>A", "B>>A"),
    (None, "A>>B"),
]


def side(step: str | None) -> str | None:
    """What a step says, in slots: the letter before the greater-than signs."""
    if step is None or step[0] == step[-1]:
        return step
    if "=" in step:
        return "tie"
    return step[0] if ">" in step else step[-1]


def old_games(model: str) -> list[dict[str, Any]]:
    """As versions until 2025 write them."""
    return [
        {
            "question_id": f"q{number}",
            "model": model,
            "judge": "gpt-4-1106-preview",
            "games": [
                {
                    "user_prompt": f"game {game}",
                    "judgment": f"\nMy verdict: [[{step}]]",
                    "score": step,
                }
                for game, step in enumerate(steps, start=1)
            ],
        }
        for number, steps in enumerate(STEPS)
    ]


ANSWERS = ("the baseline's", "mine")


def shown(first: str, second: str) -> str:
    """A prompt of Arena-Hard, which marks the answers."""
    return "<|User Prompt|>\nWhat is rain?\n\n" + "\n\n".join(
        f"<|The Start of Assistant {letter}'s Answer|>\n{answer}\n"
        f"<|The End of Assistant {letter}'s Answer|>"
        for letter, answer in zip("AB", (first, second), strict=True)
    )


def new_games(judge: str, steps: list[tuple[str | None, str]]) -> list[dict[str, Any]]:
    """As versions since 2025 write them: a game that failed is null."""
    return [
        {
            "uid": f"u{number}",
            "category": "hard_prompt",
            "judge": judge,
            "model": "mine",
            "baseline": "o3-mini",
            "games": [
                None
                if step is None
                else {
                    "score": step,
                    "judgment": {"answer": f"My verdict: [[{step}]]"},
                    "prompt": [
                        {"role": "system", "content": "Judge."},
                        {"role": "user", "content": shown(*ANSWERS[:: 3 - 2 * game])},
                    ],
                }
                for game, step in enumerate(of_question, start=1)
            ],
        }
        for number, of_question in enumerate(steps)
    ]


def test_both_games_of_arena_hard_are_slots_of_their_order(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.jsonl", [*old_games("mine"), *old_games("other")])
    assert [shape.name for shape in shapes_of(path)] == ["arena-hard"]
    judgments = judged(path)
    assert counts(judgments) == Counter(
        ("gpt-4-1106-preview", order, side(step))
        for steps in [*STEPS, *STEPS]
        for order, step in zip(("ab", "ba"), steps, strict=True)
    )
    first, second = judgments[:2]
    assert (first.trial.item, first.trial.cluster) == ("q0-mine", "q0")
    # The baseline is content 1: it won game 1 as A, and game 2 as B.
    assert (first.chosen, second.chosen) == ("1", "1")
    assert second.reply == "My verdict: [[B>A]]"
    assert second.detail is not None
    assert second.detail["source"]["prompt"] == [{"role": "user", "content": "game 2"}]


def test_newer_steps_and_failed_games_of_arena_hard(tmp_path: Path) -> None:
    steps: list[tuple[str | None, str]] = [
        *STEPS,
        ("A<<B", "B<A"),
        ("A<B", "B<<A"),
        ("B=A", "A<>B"),
    ]
    rows = [*new_games("gpt-4.1", steps), *new_games("gemini-2.5", steps)]
    judgments = judged(written(tmp_path / "mine.jsonl", rows))
    sides = {"A<<B": "B", "B<A": "A", "A<B": "B", "B<<A": "A", "B=A": "tie", "A<>B": None}
    assert counts(judgments) == Counter(
        (row["judge"], order, sides.get(str(step), side(step)))
        for row, of_question in zip(rows, [*steps, *steps], strict=True)
        for order, step in zip(("ab", "ba"), of_question, strict=True)
    )
    assert judgments[0].trial.item == "u0-mine-o3-mini"
    assert judgments[0].reply == "My verdict: [[A>>B]]"
    for judgment in judgments:
        assert judgment.detail is not None
        # The baseline is content 1, also where its first game failed and the second shows it last.
        fields = judgment.detail["source"]["fields"]
        assert fields == {"task": "What is rain?", "a": ANSWERS[0], "b": ANSWERS[1]}


def test_a_single_game_with_a_number_is_a_grade(tmp_path: Path) -> None:
    rows = [
        {**row, "games": [{**row["games"][1], "score": score}]}
        for row, score in zip(old_games("mine"), [7, 9, 3, 10, None, 5], strict=True)
    ]
    judgments = judged(written(tmp_path / "mine.jsonl", rows))
    assert verdicts(judgments) == ["7", "9", "3", "10", None, "5"]
