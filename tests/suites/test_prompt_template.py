from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.suites.prompt_template import fill, placeholders


def test_placeholders_are_found_once_each_with_or_without_blanks() -> None:
    assert placeholders("{{a}} {{ b }} {{a}} {{\tc_1\n}}") == {"a", "b", "c_1"}


@pytest.mark.parametrize("text", ["{a}", "${a}", "$a", "{{ 1a }}", "{{}}", "{{a}", "{ {a} }"])
def test_what_is_no_placeholder_stays_as_it_is(text: str) -> None:
    assert placeholders(text) == frozenset()
    assert fill(text, {"a": "filled"}) == text


def test_a_json_example_in_a_prompt_survives() -> None:
    # Production prompts are full of them: {"verdict": "A"}.
    assert fill('Reply {"verdict": "A"} on {{a}}', {"a": "x"}) == 'Reply {"verdict": "A"} on x'


def test_a_stimulus_is_never_read_as_a_template() -> None:
    assert fill("{{a}}|{{b}}", {"a": "{{b}}", "b": "$a ${b} \\1"}) == "{{b}}|$a ${b} \\1"


def test_an_unknown_field_is_an_error_that_names_it() -> None:
    with pytest.raises(KeyError, match="missing"):
        fill("{{missing}}", {"a": "x"})


def test_triple_braces_keep_the_outer_pair() -> None:
    # The leftmost "{{" followed by a name is the placeholder: {+{{a}}+}.
    assert fill("{{{a}}}", {"a": "x"}) == "{x}"


@given(st.text(), st.text())
def test_whatever_the_texts_are_they_stand_in_the_prompt_unchanged(a: str, b: str) -> None:
    assert fill("<{{a}}|{{b}}>", {"a": a, "b": b}) == f"<{a}|{b}>"


@given(st.text().filter(lambda text: "{{" not in text))
def test_a_text_without_double_braces_is_its_own_filling(text: str) -> None:
    assert fill(text, {}) == text


def test_a_field_in_the_wrong_case_is_an_error_and_not_a_text_for_the_judge() -> None:
    assert placeholders("{{Text}}") == {"Text"}
    with pytest.raises(KeyError, match="Text"):
        fill("{{Text}}", {"text": "x"})
