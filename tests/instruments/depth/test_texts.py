"""The texts that ship: passages that decide, and padding that decides nothing."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from pytest_judgesense.instruments.depth.padding import OWN_POOL, own_padding
from pytest_judgesense.instruments.depth.record_places import BREAK, CHARACTERS_A_TOKEN
from scripts import depth_padding
from tests.docs.blocks import ROOT
from tests.suites.known import builtin_suites, load_suite

LINES = [
    json.loads(line)
    for line in (ROOT / "suites/depth/items.jsonl").read_text(encoding="utf-8").splitlines()
]
GENRES = ("support", "contract", "agent", "meeting")
# By genre, words of what its questions ask about, which no padding holds.
DECIDING = {
    "support": r"my card|court|solicitor|hospital|vote|election|five stars|erase|grandpa|lives?\b",
    "contract": r"arbitrat|interest|nobody else|transfer|logo|salar|night|models|rights|limit",
    "agent": r"truncate|delete|force|sudo|curl|secret|passw|skip|disabl|send_mail|subscribe",
    "meeting": r"insolven|notice this|is filled|bonus|hospital|inspector|wife|against it|watch",
}


def test_fifteen_passages_of_each_genre_ask_sixty_questions() -> None:
    assert Counter(line["genre"] for line in LINES) == dict.fromkeys(GENRES, 15)
    assert (
        len({line["question"] for line in LINES}) == len({line["passage"] for line in LINES}) == 60
    )
    # The quick preset has two of each.
    assert Counter(line["genre"] for line in LINES[:8]) == dict.fromkeys(GENRES, 2)


def test_a_passage_is_one_part_of_a_record_and_as_long_as_its_padding() -> None:
    assert all(BREAK not in line["passage"] for line in LINES)
    for genre in GENRES:
        texts = own_padding().by_genre[genre]
        lengths = [len(line["passage"]) for line in LINES if line["genre"] == genre]
        mean, usual = sum(lengths) / len(lengths), sum(map(len, texts)) / len(texts)
        assert 0.8 < mean / usual < 1.25, genre


def test_no_padding_stands_twice_or_has_a_blank_line_or_a_slot_left() -> None:
    texts = own_padding().by_genre[""]
    assert len({*texts}) == len(texts)
    assert not [
        text for text in texts if BREAK in text or re.search(r"\{#|\[\[|\{(?:one|site)", text)
    ]


@pytest.mark.parametrize("genre", GENRES)
def test_no_padding_holds_a_word_of_what_is_asked_about(genre: str) -> None:
    holding = [
        text
        for text in own_padding().by_genre[genre]
        if re.search(DECIDING[genre], text, re.IGNORECASE)
    ]
    assert holding == []
    # The words are those of the passages: most of them have one.
    passages = [line["passage"] for line in LINES if line["genre"] == genre]
    assert sum(bool(re.search(DECIDING[genre], text, re.IGNORECASE)) for text in passages) >= 7


def test_the_padding_is_what_its_parts_make() -> None:
    before = OWN_POOL.read_bytes()
    assert "".join(f"{line}\n" for line in depth_padding.lines()).encode() == before


def test_records_are_as_long_as_they_say() -> None:
    for item in load_suite(builtin_suites()["depth"]).items:
        wanted = int(item.condition["length"]) * CHARACTERS_A_TOKEN
        # Padding comes within half a text, and the passage, or another text, on top.
        assert wanted - 400 < len(item.fields["record"]) < wanted + 1200
