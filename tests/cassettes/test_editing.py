"""Texts exchanged in a body."""

from __future__ import annotations

import json

from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_judgesense.cassettes.editing import exchanged

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(TEXT, TEXT, st.text(st.characters(exclude_categories=["Cs"])), st.booleans())
def test_a_string_of_json_has_the_new_text_where_it_was_the_old(
    before: str, old: str, new: str, ascii_only: bool
) -> None:
    assume(old not in ("prompt", "longer"))
    value = {"prompt": old, "longer": before + old, old: 1}
    body = json.dumps(value, ensure_ascii=ascii_only).encode()
    changed, held = exchanged(body, [(old, new)])
    assert held == {old}
    # Neither a longer text, nor a key.
    expected = {key: new if text == old else text for key, text in value.items()}
    assert json.loads(changed) == expected


def test_several_texts_are_exchanged_at_once() -> None:
    body = b'["Judge.", "Judge. Read.", "See."]'
    edits = [("Judge.", "See."), ("See.", "Look."), ("Judge. Read.", "Judge.")]
    changed, held = exchanged(body, edits)
    assert json.loads(changed) == ["See.", "Judge.", "Look."]
    assert held == {"Judge.", "See.", "Judge. Read."}


def test_a_text_that_is_no_whole_string_is_exchanged_within_them() -> None:
    body = b'{"Judge": "Judge. Read \\u00e9."}'
    assert exchanged(body, [("Read é", "See"), ("no", "x")]) == (
        b'{"Judge": "Judge. See."}',
        {"Read é"},
    )


def test_a_body_without_the_text_stays_as_it_is() -> None:
    body = b'{ "prompt" : "caf\\u00e9" }'
    assert exchanged(body, [("tea", "")]) == (body, set())
    assert exchanged(body, [("café", "tea")]) == (b'{ "prompt" : "tea" }', {"café"})
