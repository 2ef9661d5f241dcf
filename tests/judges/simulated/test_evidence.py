"""What the embedded judge goes by: every number is worked by hand from the module's definitions.

And what it knows of built-in texts, and in which form it replies."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.judges.simulated import evidence
from pytest_judgesense.judges.simulated.evidence import (
    FUNCTION_WORDS,
    cohesion,
    content_stems,
    coverage,
    covers,
    extent,
    linked,
    parts_of,
    query_share,
    sentences,
    stem,
    surface,
    unsupported,
    words,
)
from pytest_judgesense.judges.simulated.observer import Observer
from pytest_judgesense.judges.simulated.parsing import written
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Verdict
from scripts import update_key
from tests.suites.known import builtin_suites, load_suite


def test_words_are_lower_case_with_numbers_and_apostrophes() -> None:
    assert words("The KEY's 2 rooms, re-used.") == ["the", "key's", "2", "rooms", "re", "used"]


def test_sentences_end_at_marks_before_a_blank_and_at_line_breaks() -> None:
    # A closing quote belongs to the break.
    text = 'One. Two!  Three? "Four." Five\nSix'
    assert sentences(text) == ["One.", "Two!", "Three?", '"Four.', "Five", "Six"]


def test_a_full_stop_inside_a_number_ends_nothing() -> None:
    assert sentences("It costs 3.50 today.") == ["It costs 3.50 today."]


def test_what_holds_no_word_is_no_sentence() -> None:
    assert sentences(" ... \n -- \n") == []


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("closing", "clos"),  # -ing
        ("closed", "clos"),  # -ed
        ("closure", "closur"),  # -e
        ("berries", "ber"),  # -ies leaves "berr", and a doubled consonant loses one
        ("planned", "plan"),  # -ed leaves "plann", likewise
        ("planning", "plan"),
        ("calling", "call"),  # l and s stay doubled
        ("passes", "pass"),
        ("library", "librar"),  # -y
        ("key's", "key"),  # the apostrophe ends the word
        ("key’s", "key"),
        ("2024", "2024"),  # numbers stay whole
        ("3rd", "3rd"),
        ("red", "red"),  # what is left of a word has three letters at least
        ("used", "used"),
    ],
)
def test_a_stem_is_the_word_without_its_ending(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_function_words_are_no_content() -> None:
    assert content_stems("The cat is on the mat and it sat") == {"cat", "mat", "sat"}
    assert content_stems(" ".join(FUNCTION_WORDS)) == frozenset()


# "first and last day" has the content stems first, last, day: two of three are enough.
@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("First day: 3 June; last day: 28 June.", True),  # 3 of 3
        ("The last day is Friday.", True),  # 2 of 3, just enough
        ("It lasts.", False),  # 1 of 3
        ("The first came. The last left. A day passed.", False),  # 3 of 3, but in three sentences
        ("", False),
    ],
)
def test_an_element_is_covered_by_one_sentence_with_two_thirds_of_its_stems(
    text: str, covered: bool
) -> None:
    assert covers(text, "first and last day") is covered


def test_an_element_without_content_is_covered_by_nothing() -> None:
    assert not covers("The one and the other.", "of the")


def test_coverage_counts_elements() -> None:
    elements = ["front door key", "outdoor tap", "water amount"]
    # Sentence 1 holds door and key (2 of 3), sentence 2 outdoor and tap; water stands alone.
    assert coverage("The key opens the door. An outdoor tap has water.", elements) == 2


# Two of four parts, each in a sentence of its own: 2/4; and an element without parts counts whole.
def test_an_element_with_listed_parts_is_covered_by_the_share_of_them() -> None:
    element = "return of books: place to leave them; latest day; charge; renewal by post"
    text = "Leave them at this place. The latest day is Friday. Post is slow."
    assert extent(text, element) == 0.5
    assert extent(text, "latest day") == 1.0
    assert coverage(text, [element, "latest day", "open branch"]) == 1.5


@pytest.mark.parametrize(
    ("element", "parts"),
    [
        ("books: place; day", ["place", "day"]),
        ("books: place; ", []),  # a single part is no list
        ("books: place, day", []),
        ("place; day", []),  # nothing that they are parts of
        ("books", []),
    ],
)
def test_parts_stand_behind_a_colon_and_between_semicolons(element: str, parts: list[str]) -> None:
    assert parts_of(element) == parts


def test_an_element_with_a_colon_alone_is_covered_as_before() -> None:
    # date, start, hour: two of three stems.
    assert extent("The start is at a late hour.", "date: start hour") == 1.0


def test_query_share_is_the_part_of_the_query_that_occurs() -> None:
    # Stems of the query: repair, tear, tent; the text holds tear and tent.
    assert query_share("A tent with a tear.", "how to repair a tear in a tent") == pytest.approx(
        2 / 3
    )
    assert query_share("A tent.", "how to") == 0.0


def test_unsupported_counts_the_stems_that_the_source_does_not_hold() -> None:
    source = "Visitors must wear felt slippers on the glass bridge."
    assert unsupported("Visitors wear slippers.", source) == 0
    # rubber and helmet are new; a visitor, wear and bridge are known.
    assert unsupported("A visitor wears rubber helmets on the bridge.", source) == 2


def test_sentences_are_linked_by_a_content_stem_or_an_opening_connective() -> None:
    assert linked("Boil the potatoes.", "Mash the potatoes.")  # potato
    assert linked("Boil the potatoes.", "Then drain them.")  # then
    assert not linked("Boil the potatoes.", "Camels drink.")
    assert not linked("Boil the potatoes.", "Camels drink then.")  # it does not open with it


def test_cohesion_is_the_share_of_linked_neighbours() -> None:
    # potatoes-potatoes linked, milk (potatoes - milk) not, camels not: 1 of 3.
    text = "Boil the potatoes. Mash the potatoes. Milk is white. Camels drink."
    assert cohesion(text) == pytest.approx(1 / 3)


@pytest.mark.parametrize("text", ["", "Only one sentence."])
def test_a_text_without_neighbours_is_whole(text: str) -> None:
    assert cohesion(text) == 1.0


def test_surface_is_the_mean_length_of_words() -> None:
    # 4 + 4 + 10 = 18 letters in 3 words.
    assert surface("Most fine literature.") == pytest.approx(6.0)
    assert surface(" \n\t") == 0.0


@given(st.text(alphabet="ab c.!?\n'", max_size=60), st.text(alphabet="ab c.!?\n'", max_size=60))
def test_features_stay_within_their_ranges_whatever_the_text(a: str, b: str) -> None:
    assert 0.0 <= query_share(a, b) <= 1.0
    assert 0.0 <= cohesion(a) <= 1.0
    assert coverage(a, [b]) in (0, 1)
    assert 0.0 <= extent(a, f"{b}: {a}; {b}") <= 1.0
    assert unsupported(a, a) == 0


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=40))
def test_a_stem_is_a_beginning_of_its_word(text: str) -> None:
    assert all(word.startswith(stem(word)) for word in words(text))


PLAIN = Observer("plain")
YES_NO = DecisionSpace(("YES", "NO"))


def pair(a: str, b: str) -> str:
    return (
        "<request>\nWhich river flows through Vienna?\n</request>\n"
        f"<response_a>\n{a}\n</response_a>\n"
        f"<response_b>\n{b}\n</response_b>\nReply with A or B and nothing else."
    )


def test_the_key_is_what_the_script_makes_of_the_suites() -> None:
    assert json.loads(update_key.KEY.read_text("utf-8")) == update_key.key_of_suites()


def test_the_key_holds_digests_and_numbers_alone() -> None:
    for digest, number in json.loads(update_key.KEY.read_text("utf-8")).items():
        assert re.fullmatch("[0-9a-f]{16}", digest)
        assert -1 <= number <= 5  # five elements of a ladder are the most, a lead may be negative


def test_a_known_text_is_judged_by_the_key_and_an_unknown_one_by_its_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer, echo = "The Danube.", "Vienna has a river that flows."
    assert PLAIN.reply(pair(answer, echo)) == "B"  # which takes up the words of the request
    known = {evidence.text_digest(answer): 3.0, evidence.text_digest(echo): 0.0}
    monkeypatch.setattr(evidence, "_key", lambda: known)
    assert (PLAIN.reply(pair(answer, echo)), PLAIN.reply(pair(echo, answer))) == ("A", "B")
    # White space apart it is the same text; with another word it is not.
    assert PLAIN.reply(pair(" The  Danube.\n", echo)) == "A"
    assert PLAIN.reply(pair("The Danube, yes.", echo)) == "B"


def test_errors_and_levels_are_known_too(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {evidence.text_digest("It is."): 0.0, evidence.text_digest("It was."): 2.0}
    monkeypatch.setattr(evidence, "_key", lambda: known | {evidence.text_digest("A. B."): 0.75})
    asked = "<question>\nIs it?\n</question>\n<answer>\n{}\n</answer>\nReply with YES or NO."
    assert PLAIN.reply(asked.format("It is.")) == "YES"
    assert PLAIN.reply(asked.format("It was.")) == "NO"
    # 0.75 of the way from 1 to 5.
    assert PLAIN.reply("<text>\nA. B.\n</text>\nGrade it from 1 to 5.") == "4"


@pytest.mark.parametrize(
    ("instruction", "reply"),
    [
        ("Reply with YES or NO and nothing else.", None),
        ('a JSON object: {"verdict": "YES"} or {"verdict": "NO"}', '{"verdict": "YES"}'),
        ("in double square brackets: [[YES]] or [[NO]].", "[[YES]]"),
        (
            'Then write "Verdict: YES" on the last line.',
            "That is how it looks to me.\nVerdict: YES",
        ),
        ("The first line of your reply holds YES or NO alone.", "YES"),
    ],
)
def test_the_form_that_a_prompt_asks_for_is_kept_and_read(
    instruction: str, reply: str | None
) -> None:
    assert written("YES", instruction) == reply
    if reply:
        assert parse_reply(reply, YES_NO) == Verdict("YES")


@pytest.mark.parametrize("name", ["coherence", "factuality", "preference", "relevance"])
def test_every_wording_of_the_four_tasks_is_answered_in_a_form_that_is_read(name: str) -> None:
    suite = load_suite(builtin_suites()[name])
    for template in suite.templates:
        instruction = " ".join(template.text.split())
        for label in suite.space.labels:
            said = written(label, instruction) or label
            assert parse_reply(said, suite.space) == Verdict(label), template.id


def test_no_text_is_known_in_two_ways() -> None:
    # The script ends where two suites say different things of one text.
    assert len(update_key.key_of_suites()) > 700
    assert Path(update_key.CHECKOUT, "suites").is_dir()
