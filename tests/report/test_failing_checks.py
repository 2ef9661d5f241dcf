"""What a page shows of a failing check; of two texts, what is marked, and that they stay."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.datasheets.datasheet import CheckLine, GatedNumber
from pytest_judgesense.report.failing_checks import MOST_WORDS, Piece, _missed, contrasted


def gate(temperature: float, outcome: str, value: float | None) -> GatedNumber:
    return GatedNumber("agreement", {"temperature": temperature}, 0.65, "at least", outcome, value)


def test_the_bar_that_the_sentence_is_about_is_drawn_first() -> None:
    # The sentence of the terminal takes the failing one that is farthest from its bar.
    gates = (
        gate(0.01, "pass", 0.9),
        gate(0.5, "inconclusive", 0.1),
        gate(1.0, "fail", 0.6),
        gate(2.0, "fail", 0.26),
    )
    line = CheckLine(
        check="agreement_floor[0.65]",
        measure="agreement",
        suite="temperature",
        condition={},
        bar=0.65,
        outcome="fail",
        policy="estimate",
        explanation="",
        gates=gates,
    )
    assert [one.condition["temperature"] for one in _missed(line)] == [2.0, 1.0, 0.5]


WORDS = st.text(alphabet="ab \n", max_size=60)


@given(WORDS, WORDS)
def test_the_pieces_are_the_texts_and_what_is_not_marked_is_in_both(one: str, other: str) -> None:
    pieces = contrasted(one, other)
    assert tuple("".join(piece.text for piece in side) for side in pieces) == (one, other)
    bare = [[word for p in side if not p.marked for word in p.text.split()] for side in pieces]
    assert bare[0] == bare[1]


def test_the_words_that_differ_are_marked_and_blanks_are_not() -> None:
    assert contrasted("rate it from 1 to 5", "rate  it from 1 to 10") == (
        [Piece("rate it from 1 to", marked=False), Piece(" 5", marked=True)],
        [Piece("rate  it from 1 to", marked=False), Piece(" 10", marked=True)],
    )


def test_of_long_texts_all_between_the_common_ends_is_marked() -> None:
    middle = " ".join(f"w{n}" for n in range(MOST_WORDS + 1))
    one, other = contrasted(f"a {middle} z", f"a {middle} q z")
    assert [piece.marked for piece in other] == [False, True, False]
    assert [piece.text for piece in one] == [f"a {middle} z"]  # nothing of it is missing there
    shifted = " ".join(f"w{n}" for n in range(1, MOST_WORDS + 2))
    one, _ = contrasted(f"a {middle} z", f"a {shifted} z")
    assert [piece.text for piece in one] == ["a", f" {middle}", " z"]
