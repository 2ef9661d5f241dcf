"""Prompts taken apart: what a part is, and that nothing of a text is lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_judgesense.instruments.ablation.parts import Part, parts_of, without

PLAIN = """You compare two answers. Prefer the one that is right, e.g. by its facts.
Length is no quality.

Question: {{task}}
Answer A: {{a}}
Answer B: {{b}}
Reply with A or B. Nothing else!"""


def shown(text: str) -> list[str]:
    """The parts as they stand: those that are kept in brackets, sections with a plus."""
    return [
        f"[{text[part.start : part.end]}]"
        if part.reason
        else "+" * part.is_section + text[part.start : part.end]
        for part in parts_of(text)
    ]


def left(text: str, beginning: str) -> str:
    """The text without the part that begins so."""
    (part,) = (p for p in parts_of(text) if text[p.start :].startswith(beginning) and not p.reason)
    return without(text, part)


def test_sentences_are_parts_and_what_shows_the_item_is_reason() -> None:
    assert shown(PLAIN) == [
        "You compare two answers.",
        "Prefer the one that is right, e.g. by its facts.",
        "Length is no quality.",
        "[Question: {{task}}]",
        "[Answer A: {{a}}]",
        "[Answer B: {{b}}]",
        "Reply with A or B.",
        "Nothing else!",
    ]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Judge fairly", ["Judge fairly"]),
        ("One? Two! Three\u2026 Four.", ["One?", "Two!", "Three\u2026", "Four."]),
        ('Say "yes." Then stop.', ['Say "yes."', "Then stop."]),
        ("Grade from 1 to 5. Say 3.5 if so.", ["Grade from 1 to 5.", "Say 3.5 if so."]),
        ("See i.e. This, and vs. That. Done.", ["See i.e. This, and vs. That.", "Done."]),
        ("Look at: 1. Order. 2. Tone. Go.", ["Look at: 1. Order.", "2. Tone.", "Go."]),
        ("It is so.not a part. \u00c4ndere das.", ["It is so.not a part.", "\u00c4ndere das."]),
        ("\u516c\u5e73\u3002\u7b80\u77ed\uff01", ["\u516c\u5e73\u3002", "\u7b80\u77ed\uff01"]),
        ("A line\nthat goes on. **Bold.** Next.", ["A line\nthat goes on.", "**Bold.**", "Next."]),
        ("- one\n- two. Three\n  more\n\n3) four", ["- one", "- two. Three\n  more", "3) four"]),
        ("- one\nReply with A.", ["- one", "Reply with A."]),
        ("Consider:\n* a\n* b {{x}}", ["Consider:", "* a", "[* b {{x}}]"]),
        ("Rate:\n5: good,\n  if so\n4 - fair", ["Rate:", "5: good,\n  if so", "4 - fair"]),
        ("{{q}}\nis that right? Say so.", ["[{{q}}\nis that right?]", "Say so."]),
        ("One.\n\n---\n\nTwo.", ["One.", "[---]", "Two."]),
        ("So:\n```\n{a. B}\n\n# c\n```\nNow.", ["So:", "```\n{a. B}\n\n# c\n```", "Now."]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_what_a_part_is(text: str, parts: list[str]) -> None:
    assert shown(text) == parts


SECTIONS = """# Judge
Be fair.

## Rules

- Facts first.
- No style.

## Answers
{{a}}

### Note
Short.

## Output
Reply A or B."""


def test_a_heading_goes_with_what_stands_under_it() -> None:
    assert shown(SECTIONS) == [
        "[# Judge]",  # the answers stand under it
        "Be fair.",
        "+## Rules\n\n- Facts first.\n- No style.",
        "- Facts first.",
        "- No style.",
        "[## Answers]",
        "[{{a}}]",
        "### Note\nShort.",  # one part with its heading
        "## Output\nReply A or B.",
    ]
    assert left(SECTIONS, "## Rules") == SECTIONS.replace(
        "## Rules\n\n- Facts first.\n- No style.\n\n", ""
    )
    assert parts_of(SECTIONS)[0].reason == "is around {{a}}"


def test_tags_are_sections_and_those_around_an_answer_are_reason() -> None:
    text = "<rules>\nBe fair. Be brief.\n</rules>\n<answer>\n{{answer}}\n</answer>\n<p>\nGo.\n</p>"
    assert shown(text) == [
        "+<rules>\nBe fair. Be brief.\n</rules>",
        "Be fair.",
        "Be brief.",
        "[</rules>]",
        "[<answer>]",
        "[{{answer}}]",
        "[</answer>]",
        "<p>\nGo.\n</p>",
    ]
    assert parts_of(text)[3].reason == "closes <rules>"
    assert left(text, "Be fair") == text.replace("Be fair. ", "")
    assert left(text, "<p>") == text.removesuffix("\n<p>\nGo.\n</p>")


@pytest.mark.parametrize(
    ("text", "beginning", "expected"),
    [
        ("A one. B two. C three.", "B", "A one. C three."),
        ("A one. B two.", "A", "B two."),
        ("A one. B two.", "B", "A one."),
        ("A one.\n\nB two. C three.", "B", "A one.\n\nC three."),
        ("A one.\n\nB two.\n\nC three.", "B", "A one.\n\nC three."),
        ("A one.\n\n\n\nB two.\n\nC three.", "B", "A one.\n\nC three."),
        ("- a\n  - b\n- c", "- b", "- a\n- c"),
        ("- a\n- b\n  - c", "- b", "- a\n  - c"),
        ("  A one. B two.\n", "A", "  B two.\n"),
        ("  A one. B two.\n", "B", "  A one.\n"),
        ("A one.", "A", ""),
        ("\u516c\u5e73\u3002\u7b80\u77ed\u3002", "\u7b80", "\u516c\u5e73\u3002"),
    ],
)
def test_what_is_left_is_joined_without_double_blank_lines(
    text: str, beginning: str, expected: str
) -> None:
    assert left(text, beginning) == expected


LINES = st.lists(
    st.sampled_from(
        [
            "You judge. Be fair!",
            "goes on. And ends",
            "# Head",
            "## Under it",
            "- item. Two",
            "  - inner",
            "{{a}}",
            "Text: {{b}}",
            "<t>",
            "</t>",
            "```",
            "",
            "---",
            "  \u516c\u5e73\u3002\u597d",
        ]
    ),
    max_size=14,
).map("\n".join)


@settings(max_examples=300, deadline=None)
@given(LINES | st.text(max_size=60))
def test_nothing_is_lost_and_no_placeholder_is_left_out(text: str) -> None:
    parts = parts_of(text)
    place = 0
    for number, part in enumerate(parts):
        # Parts stand in order: between two of them, and around all, is white space.
        assert not text[place : part.start].strip()
        assert text[part.start : part.end].strip() == text[part.start : part.end] != ""
        place = part.end
        if part.is_section:
            # Its heading stands in no other part.
            following = parts[number + 1]
            assert following.end <= part.end
            place = following.start
            assert text[part.start : place].strip() == text[part.start :].splitlines()[0].strip()
    assert not text[place:].strip()
    words = re.findall(r"\{\{[ab]\}\}", text)
    for part in parts:
        rest = without(text, part)
        if not part.reason:
            assert re.findall(r"\{\{[ab]\}\}", rest) == words
        # The whole is what is left, with the part where it stood.
        without_blanks = "".join(rest.split())
        before, behind = ("".join(t.split()) for t in (text[: part.start], text[part.end :]))
        assert without_blanks == before + behind
        blank_lines = len(re.findall(r"\n[^\S\n]*\n[^\S\n]*\n", rest))
        assert blank_lines <= len(re.findall(r"\n[^\S\n]*\n[^\S\n]*\n", text))


def test_a_part_is_a_value() -> None:
    assert Part(0, 3) == Part(0, 3, reason="", is_section=False)
