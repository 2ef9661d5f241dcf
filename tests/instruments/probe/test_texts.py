"""What edits do to texts."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.instruments.probe.edited_side import VERSIONS
from pytest_judgesense.instruments.probe.edits import (
    laid_out,
    own_book,
    padding,
    read_book,
    replaced,
)

BOOK = own_book()[0]
HEDGES = {"I think": "", "perhaps": "", "seems to be": "is", "in my view": ""}


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("It is, I think, so.", "It is so."),
        ("It is so, I think.", "It is so."),
        ("I think it is so.", "It is so."),
        ("In my view, it is so.", "It is so."),
        ("So be it. Perhaps not.", "So be it. Not."),
        ("If so, perhaps we stay.", "If so, we stay."),
        ("It seems to be so.", "It is so."),
        ("I think that it is so.", "I think that it is so."),
        ("Rethinking: perhapses.", "Rethinking: perhapses."),
        ("perhaps", ""),
    ],
)
def test_hedges_go_with_the_commas_that_set_them_off(text: str, without: str) -> None:
    assert replaced(text, HEDGES, ("I think that",)) == without


def test_a_hedge_is_exchanged_in_its_place_with_its_capital() -> None:
    table = {"perhaps": "maybe", "maybe": "perhaps"}
    assert replaced("Perhaps so, maybe not.", table, ()) == "Maybe so, perhaps not."


def test_padding_comes_nearest_to_its_share() -> None:
    # 10 words; .4 of them are 4: one sentence of 3 words is nearer than two of 6.
    sentences = ["One two three.", "One two three.", "One two three."]
    assert padding("w " * 10, sentences, 0.4) == sentences[:1]
    assert padding("w " * 12, sentences, 0.4) == sentences[:2]  # 4.8 words
    assert padding("w", sentences, 0.4) == sentences[:1]
    assert padding("w " * 99, sentences, 0.4) == sentences


def test_layouts_have_the_same_words() -> None:
    text = "It rains. Take an umbrella!"
    assert laid_out(text, "Answer", marks=True) == (
        "## Answer\n\n- It **rains**.\n- Take an **umbrella**!"
    )
    assert laid_out(text, "Answer", marks=False) == "Answer\n\nIt rains.\nTake an umbrella!"


def test_signatures_give_the_family_and_the_placebo_a_name_of_its_length() -> None:
    probe = BOOK.by_name["self"]
    edited, placebo = (BOOK.applied("T.", probe, v, "item", "GPT") for v in VERSIONS[:2])
    assert "GPT" in edited
    assert placebo == edited.replace("GPT", "Zun")


def test_the_variant_of_an_item_is_the_same_everywhere_and_all_are_drawn() -> None:
    probe = BOOK.by_name["injection"]
    drawn = [probe.variants.index(probe.variant_of(f"item-{n}")) for n in range(40)]
    # The first eight bytes of the SHA-256 of "injection item-0" and so on, modulo 5.
    digests = [hashlib.sha256(f"injection item-{n}".encode()).digest()[:8] for n in range(40)]
    assert drawn == [int.from_bytes(digest) % 5 for digest in digests]
    assert {*drawn} == {*range(5)}


OWN = """
schema = "judgesense/edits/1"
[[probes]]
name = "smiles"
[[probes.variants]]
edited.append = ":-)"
placebo.append = ":-|"
control.append = "All wrong."
"""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("smiles", "names", "is no name of a probe"),
        ("smiles", "Smiles", "pattern"),
        ('edited.append = ":-)"', "edited = {}", "exactly one of"),
        ('edited.append = ":-)"', 'edited.pad = ["x"]', "needs a share"),
        ('edited.append = ":-)"', 'edited.replace = "no"', "names a table of this file"),
        ('edited.append = ":-)"', 'edited.append = "{family}"', "needs stand_ins"),
        ('edited.append = ":-)"', 'edited.layout = "line-breaks"', "has a heading"),
        ('placebo.append = ":-|"', 'placebo.apend = ":-|"', "apend"),
        ('edited.append = ":-)"', 'edited.append = ":-)"\nreviews = { edited = { me = "YES" } }',
         "me is missing"),
    ],
)  # fmt: skip
def test_a_wrong_file_of_edits_says_what_is_wrong(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    path = tmp_path / "edits.toml"
    path.write_text(OWN, encoding="utf-8")
    assert read_book(path)[0].by_name.keys() == {"smiles"}
    path.write_text(OWN.replace(old, new), encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        read_book(path)
    assert problem in str(caught.value)
    assert str(path) in caught.value.what


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="cannot be read"):
        read_book(tmp_path / "none.toml")
