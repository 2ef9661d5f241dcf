"""What columns and words of files may be called besides our own names."""

from __future__ import annotations

import pytest

from pytest_judgesense.files.synonyms import candidate_pairs, candidates_among, column_of


@pytest.mark.parametrize(
    ("names", "pair"),
    [
        (["answer_a", "answer_b"], ("answer_a", "answer_b")),
        (["question", "right", "left"], ("left", "right")),
        (["Model A", "Model B"], ("Model A", "Model B")),
        (["model_2", "model_1"], ("model_1", "model_2")),
        (["a", "b", "1", "2"], None),  # which of two pairs is meant is not guessed
        (["answer_a", "reply_b"], None),
        (["answer_a"], None),
        (["YES", "NO"], None),
    ],
)
def test_two_candidates_differ_in_one_word(names: list[str], pair: tuple[str, str] | None) -> None:
    assert candidates_among(names) == pair


@pytest.mark.parametrize(
    ("names", "pairs"),
    [
        (["b", "task", "a"], [("a", "b")]),
        (["a", "b", "source_a", "source_b"], [("a", "b"), ("source_a", "source_b")]),
        (["a", "b", "1", "2"], [("a", "b"), ("1", "2")]),
        (["a_1", "a_2", "b_1", "b_2"], []),  # which of them belong together is not guessed
        (["question", "answer"], []),
        (["a", "A"], []),
    ],
)
def test_every_two_names_of_candidates_are_a_pair(
    names: list[str], pairs: list[tuple[str, str]]
) -> None:
    assert candidate_pairs(names) == pairs


@pytest.mark.parametrize(
    ("field", "columns", "column"),
    [
        ("item", ["id", "item"], "item"),
        ("item", ["id", "text"], "id"),
        ("item", ["id", "item_id"], None),  # one of the two is not guessed
        ("label", ["score"], None),
        ("verdict", ["winner"], None),
    ],
)
def test_a_field_is_its_own_column_or_the_only_synonym(
    field: str, columns: list[str], column: str | None
) -> None:
    assert column_of(field, columns) == column
