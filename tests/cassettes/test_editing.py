"""Texts exchanged in a body."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.cassettes.editing import exchanged

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(TEXT, TEXT, st.text(st.characters(exclude_categories=["Cs"])), st.booleans())
def test_a_string_of_json_has_the_new_text_where_it_had_the_old(
    before: str, old: str, new: str, ascii_only: bool
) -> None:
    body = json.dumps({"prompt": before + old}, ensure_ascii=ascii_only).encode()
    changed, held = exchanged(body, [(old, new)])
    assert held == {old}
    # A text that is also a key of the body, or a piece of an escape, is exchanged there as well.
    if old not in '{"prompt": ' and "\\" not in json.dumps(before, ensure_ascii=ascii_only):
        assert json.loads(changed)["prompt"] == (before + old).replace(old, new)


def test_a_body_without_the_text_stays_as_it_is() -> None:
    body = b'{ "prompt" : "caf\\u00e9" }'
    assert exchanged(body, [("tea", "")]) == (body, set())
    assert exchanged(body, [("café", "tea")]) == (b'{ "prompt" : "tea" }', {"café"})
