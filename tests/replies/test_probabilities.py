"""From tokens to the probabilities of verdicts, on replies written by hand and on real ones."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.providers.builtin import OPENAI
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.replies.probabilities import probabilities
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Token, Verdict

PAIR = DecisionSpace(("A", "B"), pairwise=True)
TIES = DecisionSpace(("A", "B"), pairwise=True, tie=True)
YES_NO = DecisionSpace(("YES", "NO"))
FIVE = DecisionSpace(tuple("12345"), ordinal=True)
TEN = DecisionSpace(tuple(map(str, range(1, 11))), ordinal=True)
WORDS = DecisionSpace(("GOOD", "GREAT", "BAD"))
NAMED = DecisionSpace(("A", "B"), pairwise=True, names={"A": ("Output (a)",), "B": ("Output (b)",)})


def said(*tokens: str | tuple[str, dict[str, float]]) -> list[Token]:
    """Tokens; a bare text could not have been another one."""
    pairs = [one if isinstance(one, tuple) else (one, {one: 1.0}) for one in tokens]
    return [Token(text, tuple(top.items())) for text, top in pairs]


def told(
    tokens: list[Token], space: DecisionSpace, verdict: str, **given: bool
) -> tuple[dict[str, float], float] | None:
    found = probabilities(tokens, space, verdict, **given)
    return found and ({k: round(p, 6) for k, p in found.of.items()}, round(found.mass, 6))


# --- where the token of the verdict is ----------------------------------------------------------

CHOICE = ("A", {"A": 0.6, "B": 0.2, "The": 0.1})
TOLD = ({"A": 0.75, "B": 0.25}, 0.8)  # .6 / .8, .2 / .8


@pytest.mark.parametrize(
    "tokens",
    [
        (CHOICE,),
        ("**", CHOICE, "**"),
        ("My", " verdict", ":", "\n", CHOICE, "."),
        ('{"', "verdict", '": "', CHOICE, '"}'),
        ('{"', "verdict", '": "', "Response ", CHOICE, '"}'),
        ("```", "json", "\n", '{"', "verdict", '":', ' "', CHOICE, '"', "}", "\n", "```"),
        ('{"reason": "B is short, A is not", "', "verdict", '": "', CHOICE, '"}'),
        ("<think>", "B? No.", "</think>", "\n", CHOICE),
        (CHOICE, ".", " B", " is", " short", "."),
        ("B is short, and A is not.", "\n", "Verdict: ", CHOICE, "."),
        ("Response ", CHOICE, " is better. I choose A."),
    ],
)
def test_the_token_that_names_the_verdict_is_found(tokens: Any) -> None:
    assert told(said(*tokens), PAIR, "A") == TOLD


@pytest.mark.parametrize(
    "tokens",
    [
        ("",),
        ("It depends.",),
        ("<think>", "A"),
        ("A and B are alike, A a little better, B shorter, so it is A for me"),
        ("A good text is B, a better one", " A", " or B maybe"),
        ('{"verdict": "B"}',),
    ],
)
def test_a_reply_that_names_it_nowhere_for_certain_has_none(tokens: Any) -> None:
    assert told(said(*tokens), PAIR, "A") is None


def test_a_verdict_that_the_space_does_not_hold_has_none() -> None:
    assert told(said(CHOICE), PAIR, "tie") is None


def test_a_number_in_the_reasons_is_not_the_grade() -> None:
    tokens = said("It has ", ("3", {"3": 0.9, "2": 0.1}), " errors. Grade: ", ("3", {"3": 1.0}))
    # Both mentions are 3: the last one, alone at the end, is where it is graded.
    assert told(tokens, FIVE, "3") == ({"1": 0, "2": 0, "3": 1, "4": 0, "5": 0}, 1)


# --- what a token says of a label ---------------------------------------------------------------


def test_blanks_quotes_and_case_are_left_out() -> None:
    drawn = (" Yes", {" Yes": 0.4, "YES": 0.1, ' "yes': 0.1, " No": 0.1, "no": 0.05, " Not": 0.2})
    # YES .6, NO .15; "Not" begins no label.
    assert told(said("Answer:", drawn), YES_NO, "YES") == ({"YES": 0.8, "NO": 0.2}, 0.75)


def test_a_reply_that_was_held_to_a_schema_could_name_nothing_but_the_very_labels() -> None:
    drawn = ("NO", {"yes": 0.5, "NO": 0.2, "No": 0.1, "Y": 0.1, "YES": 0.1})
    tokens = said('{"verdict": "', drawn, '"}')
    assert told(tokens, YES_NO, "NO", constrained=True) == ({"YES": 0.5, "NO": 0.5}, 0.4)
    assert told(tokens, YES_NO, "NO") == ({"YES": 0.7, "NO": 0.3}, 1.0)


def test_labels_that_begin_alike_are_told_apart_by_the_token_that_parts_them() -> None:
    tokens = said(
        ("G", {"G": 0.8, "B": 0.1, "The": 0.1}), ("REAT", {"REAT": 0.3, "OOD": 0.6, "O": 0.0})
    )
    # G of .9, then REAT of .9: GREAT 8/9 * 1/3, GOOD 8/9 * 2/3.
    of, mass = told(tokens, WORDS, "GREAT") or ({}, 0)
    assert of == pytest.approx({"GOOD": 16 / 27, "GREAT": 8 / 27, "BAD": 1 / 9}, abs=1e-6)
    assert mass == 0.9


def test_a_common_beginning_tells_nothing_and_has_no_mass() -> None:
    tokens = said(
        ("Output", {"Output": 0.5, "I": 0.5}), " (", ("b", {"b": 0.3, "a": 0.6, "c": 0.1}), ")"
    )
    of, mass = told(tokens, NAMED, "B") or ({}, 0)
    assert of == pytest.approx({"A": 2 / 3, "B": 1 / 3}, abs=1e-6)
    assert mass == 0.9


@pytest.mark.parametrize("end", ['"', "", "\n"])
def test_a_number_ends_where_the_next_token_is_no_digit(end: str) -> None:
    tokens = said(("1", {"1": 0.5, "2": 0.5}), (end, {end: 0.75, "0": 0.25}))
    of, _ = told(tokens, TEN, "1") or ({}, 0)
    assert (of["1"], of["10"], of["2"]) == (0.375, 0.125, 0.5)


def test_a_token_that_was_not_drawn_and_may_begin_two_labels_says_nothing() -> None:
    # Nobody knows whether 1 would have become 10.
    assert told(said(("7", {"7": 0.6, "1": 0.4})), TEN, "7") is None
    of, _ = told(said(("7", {"7": 0.995, "1": 0.005})), TEN, "7") or ({}, 0)
    assert of["7"] == 1
    # Where one token spells 10 out, 1 is 1.
    of, _ = told(said(("7", {"7": 0.6, "1": 0.3, "10": 0.1})), TEN, "7") or ({}, 0)
    assert (of["1"], of["7"], of["10"]) == (0.3, 0.6, 0.1)


def test_a_label_that_is_not_among_the_stated_tokens_has_nothing() -> None:
    assert told(said(CHOICE), TIES, "A") == ({"A": 0.75, "B": 0.25, "tie": 0}, 0.8)


# --- whatever an endpoint may state -------------------------------------------------------------

PIECES = st.sampled_from(["A", "B", " A", "tie", '"', "{", '{"verdict": "', '"}', "", " is", "\n"])
TOPS = st.lists(st.tuples(PIECES, st.floats(0, 1)), max_size=6, unique_by=lambda one: one[0])


@given(st.lists(st.builds(Token, PIECES, TOPS.map(tuple)), max_size=8), st.booleans())
def test_whatever_is_stated_gives_probabilities_or_nothing(
    tokens: list[Token], constrained: bool
) -> None:
    verdict = parse_reply("".join(token.text for token in tokens), TIES)
    value = verdict.value if isinstance(verdict, Verdict) else "A"
    found = probabilities(tokens, TIES, value, constrained=constrained)
    if found is not None:
        assert list(found.of) == ["A", "B", "tie"]
        assert sum(found.of.values()) == pytest.approx(1)
        assert found.of[value] > 0
        assert 0 < found.mass <= 1


@given(
    st.lists(st.floats(0.01, 1), min_size=3, max_size=3),
    st.sampled_from(["", "My verdict: ", '{"verdict": "']),
    st.sampled_from(["{}", " {}", "{}."]),
)
def test_the_shares_are_those_of_the_labels(weights: list[float], before: str, form: str) -> None:
    if before.startswith("{"):
        form = "{}"
    labels = dict(zip(("A", "B", "tie"), weights, strict=True))
    total = sum(weights) / 0.9
    top = {form.format(label): weight / total for label, weight in labels.items()} | {"x": 0.1}
    tokens = said(*((before,) * bool(before)), (form.format("B"), top))
    found = probabilities(tokens, TIES, "B")
    assert found is not None
    assert found.of == pytest.approx({k: w / sum(weights) for k, w in labels.items()})
    assert found.mass == pytest.approx(0.9)


PASS_FAIL = DecisionSpace(("pass", "fail"))
TURKISH = DecisionSpace(("İyi", "kötü"))


@pytest.mark.parametrize(
    ("space", "drawn", "verdict"),
    [
        (PASS_FAIL, "paſſ", "pass"),  # the long s is an s where case is left out
        (TIES, "tıe", "tie"),  # the dotless i is no i, though a pattern takes it for one
        (TURKISH, "IYI", "İyi"),
        (TURKISH, "iyi", "İyi"),
    ],
)
@pytest.mark.parametrize("form", ["{}", "Verdict: {}.", '{{"verdict": "{}"}}'])
def test_letters_that_are_alike_when_case_is_left_out_raise_nothing(
    space: DecisionSpace, drawn: str, verdict: str, form: str
) -> None:
    text = form.format(drawn)
    read = parse_reply(text, space)
    found = told(said((text, {text: 1.0})), space, verdict)
    # Who is read as no verdict has no probabilities; and never those of another one.
    assert found is None or (read == Verdict(verdict) and found[0][verdict] == 1.0)


def test_a_label_is_folded_to_the_length_that_it_has() -> None:
    space = DecisionSpace(("Straße", "Platz"))
    tokens = said(("Stra", {"Stra": 0.6, "Platz": 0.2}), "ße")
    assert told(tokens, space, "Straße") == ({"Straße": 0.75, "Platz": 0.25}, 0.8)
    tokens = said(("STRASSE", {"STRASSE": 0.3, "Straße": 0.3, "PLATZ": 0.4}))
    assert told(tokens, space, "Straße") is None  # written in no spelling: the place is not known
    tokens = said(("Platz", {"STRASSE": 0.3, "Straße": 0.3, "Platz": 0.4}))
    assert told(tokens, space, "Platz") == ({"Straße": 0.6, "Platz": 0.4}, 1.0)


# --- replies of a real model --------------------------------------------------------------------

REAL = {
    row["name"]: row["response"]
    for row in map(
        json.loads,
        (Path(__file__).parent / "data" / "smollm2-135m.jsonl")
        .read_text(encoding="utf-8")
        .splitlines(),
    )
}


def real(name: str) -> Reply:
    reply = OPENAI.read(200, json.dumps(REAL[name]))
    assert isinstance(reply, Reply)
    return reply


def place(reply: Reply, drawn: str) -> dict[str, float]:
    """The stated probabilities at the last token of that text, read off by hand."""
    return dict([token.top for token in reply.tokens if token.text == drawn][-1])


@pytest.mark.parametrize(
    ("name", "space", "drawn"),
    [("pair", PAIR, "B"), ("yes", YES_NO, "NO"), ("grade", FIVE, "1")],
)
def test_llama_cpp_states_probabilities_before_its_grammar(
    name: str, space: DecisionSpace, drawn: str
) -> None:
    """Replies of SmolLM2-135M held to a schema; its tokens hold a fence that the text does not."""
    reply = real(name)
    assert "".join(token.text for token in reply.tokens) != reply.text
    assert parse_reply(reply.text, space) == Verdict(drawn)
    stated = place(reply, drawn)
    # What the grammar permits: a beginning of a label, in its very letters.
    fitting = {
        label: sum(p for token, p in stated.items() if token and label.startswith(token))
        for label in space.labels
    }
    found = probabilities(reply.tokens, space, drawn, constrained=True)
    assert found is not None
    assert found.mass == pytest.approx(sum(fitting.values()))
    assert found.of == pytest.approx({k: p / found.mass for k, p in fitting.items()})


def test_a_real_reply_in_free_text() -> None:
    reply = real("yes_free")
    assert reply.text == "No."
    stated = place(reply, "No")
    found = probabilities(reply.tokens, YES_NO, "NO")
    assert found is not None
    # Beside " No" and "Yes" nothing among the twenty begins a label but "Y", and " No".
    no = sum(p for token, p in stated.items() if token.strip().lower() in ("no", "n"))
    yes = sum(p for token, p in stated.items() if token.strip().lower() in ("yes", "y", "ye"))
    assert found.of == pytest.approx({"YES": yes / (yes + no), "NO": no / (yes + no)})


def test_a_real_number_of_two_tokens() -> None:
    reply = real("ten")
    assert parse_reply(reply.text, TEN) == Verdict("10")
    drawn = [index for index, token in enumerate(reply.tokens) if token.text == "1"][-1]
    first, second = (dict(token.top) for token in reply.tokens[drawn : drawn + 2])
    found = probabilities(reply.tokens, TEN, "10", constrained=True)
    assert found is not None
    digits = {digit: first.get(digit, 0.0) for digit in "123456789"}
    assert found.mass == pytest.approx(sum(digits.values()))
    assert found.of["2"] == pytest.approx(digits["2"] / found.mass)
    one_or_ten = digits["1"] / found.mass
    assert found.of["1"] + found.of["10"] == pytest.approx(one_or_ten)
    ended = sum(p for token, p in second.items() if token[:1] == '"')
    assert found.of["10"] / found.of["1"] == pytest.approx(second["0"] / ended)
    assert math.isclose(sum(found.of.values()), 1)


# --- signs, digits and ends -----------------------------------------------------------------------

SIGNED = DecisionSpace(("-2", "-1", "0", "1", "2"), ordinal=True)


@pytest.mark.parametrize(
    ("tokens", "verdict", "expected"),
    [
        # The sign is a token of its own: .7 x .6 and .7 x .4.
        (
            (("-", {"-": 0.7, "1": 0.2, "2": 0.1}), ("2", {"2": 0.6, "1": 0.4})),
            "-2",
            {"-2": 0.42, "-1": 0.28, "0": 0.0, "1": 0.2, "2": 0.1},
        ),
        # It is one with its number.
        (
            (("-2", {"-2": 0.6, "2": 0.3, " -1": 0.1}),),
            "-2",
            {"-2": 0.6, "-1": 0.1, "0": 0.0, "1": 0.0, "2": 0.3},
        ),
        # What would have followed the other sign is unknown.
        ((("2", {"2": 0.6, "-": 0.4}),), "2", None),
    ],
)
def test_a_sign_belongs_to_its_number(
    tokens: tuple[tuple[str, dict[str, float]], ...],
    verdict: str,
    expected: dict[str, float] | None,
) -> None:
    found = told(said(*tokens), SIGNED, verdict)
    assert (found and found[0]) == expected


def test_where_a_reply_ends_without_a_token_what_else_it_might_have_become_is_unknown() -> None:
    """Where digits are tokens, 10 begins with the token of 1, and endpoints leave out the end."""
    assert told(said(("1", {"1": 0.6, "9": 0.4})), TEN, "1") is None
    # Another token spells 10, so the tokens are whole numbers.
    whole = told(said(("1", {"1": 0.6, "9": 0.3, "10": 0.1})), TEN, "1")
    assert whole is not None
    assert (whole[0]["1"], whole[0]["9"], whole[0]["10"]) == (0.6, 0.3, 0.1)
    # The next token says how likely 10 was: .6 x .1.
    ended = told(said(("1", {"1": 0.6, "9": 0.4}), (".", {".": 0.9, "0": 0.1})), TEN, "1")
    assert ended is not None
    assert (ended[0]["1"], ended[0]["9"], ended[0]["10"]) == (0.54, 0.4, 0.06)


def test_what_is_not_returned_where_a_label_may_end_may_be_the_end_of_the_reply() -> None:
    """10 was drawn as 1 and 0; that 1 ends the reply in 4 of 10 cases is not among the tokens."""
    first = ("1", {"1": 0.6, "9": 0.4})
    assert told(said(first, ("0", {"0": 0.6})), TEN, "10") is None
    assert told(said(first, (".", {".": 0.3, "0": 0.3})), TEN, "1") is None
    whole = told(said(first, ("0", {"0": 0.6, "": 0.4})), TEN, "10")
    assert whole is not None
    assert (whole[0]["1"], whole[0]["9"], whole[0]["10"]) == (0.24, 0.4, 0.36)
    # A hundredth may be missing; and a reply that is held to a schema ends behind its object.
    assert told(said(first, ("0", {"0": 0.591, ".": 0.4})), TEN, "10") is not None
    object_ = said('{"verdict": "', first, ("0", {"0": 0.6, '"': 0.2}), '"}')
    held = told(object_, TEN, "10", constrained=True)
    assert held is not None
    assert (held[0]["1"], held[0]["9"], held[0]["10"]) == (0.15, 0.4, 0.45)
    # Three digits: after 1, too, the reply may have ended.
    hundred = DecisionSpace(("1", "10", "100"), ordinal=True)
    assert told(said("1", ("0", {"0": 0.6}), ("0", {"0": 0.5, "": 0.5})), hundred, "100") is None


def test_a_fraction_is_not_the_label_that_it_begins_with() -> None:
    assert told(said(("4.", {"4.": 0.6, "3.5": 0.3, "3.": 0.2})), FIVE, "4") == (
        {"1": 0.0, "2": 0.0, "3": 0.25, "4": 0.75, "5": 0.0},  # .2 and .6 of .8
        0.8,
    )
