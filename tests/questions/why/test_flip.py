"""Prompts, and what leads from one to another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.questions.why.flip import PromptPath, Unit, pieces_of

UNITS: list[Unit] = ["words", "sentences"]
TEXTS = st.text(st.sampled_from("ab .!?\n\t\u00e9"), max_size=30)


@pytest.mark.parametrize("unit", UNITS)
@given(text=TEXTS)
def test_pieces_lose_nothing(unit: Unit, text: str) -> None:
    assert "".join(pieces_of(text, unit)) == text


@pytest.mark.parametrize("unit", UNITS)
@given(old=TEXTS, new=TEXTS, system=TEXTS)
def test_no_change_is_the_old_prompt_and_all_are_the_new_one(
    unit: Unit, old: str, new: str, system: str
) -> None:
    path = PromptPath.between({"s": system, "p": old}, {"s": system, "p": new}, unit)
    assert path.hybrid(()) == {"s": system, "p": old}
    assert path.hybrid(range(len(path.changes))) == {"s": system, "p": new}
    assert (not path.changes) == (old == new)


def test_words_that_differ_are_changes_one_by_one() -> None:
    path = PromptPath.between(
        {"p": "Is the summary good? Say YES or NO."},
        {"p": "Is this text right? YES or NO, now."},
        "words",
    )
    assert [(change.removed, change.added) for change in path.changes] == [
        ("the ", "this "),
        ("summary ", "text "),
        ("good? ", "right? "),
        ("Say ", ""),
        ("NO.", "NO, "),
        ("", "now."),
    ]
    assert path.hybrid([0, 3]) == {"p": "Is this summary good? YES or NO."}
    # Two that stand side by side are shown as one.
    assert list(path.around([1, 2], words=1)) == [
        ("the ", "summary good? ", "text right? ", "Say ")
    ]


def test_eight_words_are_shown_on_either_side() -> None:
    named = [f"w{number} " for number in range(20)]
    path = PromptPath.between(
        {"p": "".join(named)}, {"p": "".join([*named[:10], "new ", *named[11:]])}, "words"
    )
    (shown,) = path.around([0])
    assert shown == ("".join(named[2:10]), "w10 ", "new ", "".join(named[11:19]))


def test_sentences_are_changed_as_a_whole() -> None:
    path = PromptPath.between(
        {"p": "Judge it. Be strict!\n\nSay YES."},
        {"p": "Judge it. Be kind!\n\nSay YES."},
        "sentences",
    )
    assert [(change.removed, change.added) for change in path.changes] == [
        ("Be strict!\n\n", "Be kind!\n\n")
    ]
