"""The edits of probes and the pairs of the built-in suite: what is promised of their texts."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import pytest_judgesense
from pytest_judgesense.suites.schema import PairItem
from pytest_judgesense.suites.shortcuts import MOST_SOLVED, SCORERS

CHECKOUT = Path(pytest_judgesense.__file__).parents[1]
FILE = Path(pytest_judgesense.__file__).parent / "instruments" / "probe" / "edits.toml"
EDITS = tomllib.loads(FILE.read_text(encoding="utf-8"))
PROBES: dict[str, dict[str, Any]] = {probe["name"]: probe for probe in EDITS["probes"]}
TABLES: dict[str, dict[str, str]] = {
    name: table for name, table in EDITS["tables"].items() if name != "kept"
}
KEPT: list[str] = EDITS["tables"]["kept"]
ROLES = ("edited", "placebo", "control")
# Probes whose edits are texts, each with a placebo of its own length.
OF_TEXTS = ("injection", "authority", "self", "flattery")
# Those that say where they stand, likewise.
OF_SLOTS = ("forgery", "fence")
# What a reader may doubt for a reason that the head of the file gives.
DOUBTED = {("format", "placebo"), ("confidence", "edited")}
# Hedges of the same strength: one takes the place of another.
ALIKE = (
    {"I think", "I believe"},
    {"I suppose", "I guess"},
    {"I should think", "I would think", "I would say"},
    {"I would guess", "I would suppose"},
    {"it seems that", "it appears that", "it looks as if", "it seems as if", "it appears as if"},
    {
        "as far as I know",
        "as far as I can tell",
        "as far as I am aware",
        "to my knowledge",
        "to the best of my knowledge",
    },
    {"if I am not mistaken", "if I am not wrong", "unless I am mistaken", "unless I am wrong"},
    {"in my opinion", "in my view", "to my mind", "as I see it", "from my point of view"},
    {"probably", "presumably"},
    {"perhaps", "maybe", "possibly"},
    {"seems to be", "appears to be"},
)
LINES = (CHECKOUT / "suites" / "probe" / "items.jsonl").read_text(encoding="utf-8").splitlines()
ITEMS = [PairItem.model_validate_json(line) for line in LINES]


def variants() -> Iterator[tuple[str, int, dict[str, dict[str, Any]]]]:
    for name, probe in PROBES.items():
        for number, variant in enumerate(probe["variants"]):
            yield name, number, variant


def texts(edit: dict[str, Any]) -> list[str]:
    """The texts that an edit adds to an answer."""
    texts_of = {
        form: [text] if isinstance(text, str) else text
        for form, text in edit.items()
        if form in ("append", "prepend", "pad")
    }
    return [text for added in texts_of.values() for text in added]


def hedges(text: str) -> list[str]:
    """What the tables would replace in a text, or keep: the longest at each place."""
    listed = sorted((*KEPT, *TABLES["removed"]), key=len, reverse=True)
    either = "|".join(f"(?i:{hedge[0]}){re.escape(hedge[1:])}" for hedge in listed)
    return [hedge for hedge in re.findall(rf"\b(?:{either})\b", text) if hedge not in KEPT]


# --- edits ----------------------------------------------------------------------------------------


def test_every_probe_that_edits_a_text_has_at_least_four_variants() -> None:
    assert set(PROBES) == {*OF_TEXTS, *OF_SLOTS, "verbosity", "format", "confidence"}
    assert min(len(probe["variants"]) for probe in PROBES.values()) >= 4


def test_every_variant_has_its_three_edits_in_forms_that_there_are() -> None:
    forms = {"append", "prepend", "pad", "layout", "heading", "replace"}
    for name, _, variant in variants():
        # The placebo of padding is the text as it was.
        roles = [role for role in ROLES if (name, role) != ("verbosity", "placebo")]
        assert set(variant) == {*roles, "reviews"}, name
        assert {form for role in roles for form in variant[role]} <= forms
        assert set(variant["control"]) <= {"append", "prepend"}


@pytest.mark.parametrize("name", [*OF_TEXTS, *OF_SLOTS])
def test_an_edit_and_its_placebo_have_the_same_place_and_length(name: str) -> None:
    for variant in PROBES[name]["variants"]:
        assert len({*map(tuple, (variant[role] for role in ROLES))}) == 1
        edited, placebo, control = (
            re.sub(r"\{(?:reply|open|close)\}", "", texts(variant[role])[0]).strip()
            for role in ROLES
        )
        assert len(edited.split()) == len(placebo.split()), edited
        assert abs(len(edited) - len(placebo)) <= 1, edited
        # A control takes back what stands on the other side, in about as many words.
        assert abs(len(control.split()) - len(edited.split())) <= 3, control
        assert abs(len(control) - len(edited)) <= 0.1 * len(edited), control


def test_signatures_of_a_placebo_differ_in_the_name_alone_which_is_as_long() -> None:
    for variant in PROBES["self"]["variants"]:
        assert variant["edited"] == variant["placebo"]
        assert texts(variant["edited"])[0].count("{family}") == 1
        # A human name beside that of a model would be a difference of its own.
        assert re.search(r"\b(?:AI|language) model\b|\bGenerated by\b", texts(variant["edited"])[0])
    # For "o3" as for a name of twelve letters.
    assert [len(name) for name in PROBES["self"]["stand_ins"]] == list(range(2, 13))


def test_layouts_differ_in_their_marks_alone() -> None:
    for variant in PROBES["format"]["variants"]:
        assert variant["edited"]["layout"] == "headings-and-bullets"
        assert variant["placebo"] == {**variant["edited"], "layout": "line-breaks"}


@pytest.mark.parametrize("name", PROBES)
@pytest.mark.parametrize("role", ROLES)
def test_variants_are_distinct(name: str, role: str) -> None:
    edits = [json.dumps(v[role]) for v in PROBES[name]["variants"] if role in v]
    if (name, role) == ("confidence", "edited"):
        assert len({*edits}) == 1  # a hedge is removed in one way
    else:
        assert len({*edits}) == len(edits)


def test_no_sentence_stands_in_two_places() -> None:
    added = [
        text
        for name, _, variant in variants()
        for role in ROLES
        if (name, role) != ("self", "placebo")
        for text in texts(variant.get(role, {}))
    ]
    assert [text for text, times in Counter(added).items() if times > 1] == []


def test_texts_have_no_placeholder_but_those_of_their_probe() -> None:
    left_open = {"self": "{family}", "forgery": "\n{reply}"}
    for name, number, variant in variants():
        for role in ROLES:
            for text in texts(variant.get(role, {})):
                bare = text.replace(left_open.get(name, "{}"), "")
                if name == "fence" and role != "control":
                    assert (bare[:9], bare[-8:]) == ("{close}\n\n", "\n\n{open}")
                    bare = bare[9:-8]
                assert not re.search(r"[{}<>]", bare), (name, number, role)
                assert text == " ".join(text.split()) or name in OF_SLOTS
                assert "\n" not in bare


def test_a_placebo_addresses_nobody_and_an_injection_the_judge() -> None:
    addressed = re.compile(r"\b(?:you|your|please|evaluator|judge|judging|grader|AI model)\b")
    for name in OF_TEXTS[:2] + OF_TEXTS[3:] + OF_SLOTS:
        for variant in PROBES[name]["variants"]:
            assert not addressed.search(texts(variant["placebo"])[0])
    for variant in PROBES["injection"]["variants"]:
        assert addressed.search(texts(variant["edited"])[0])


def test_a_placebo_leaves_open_what_its_edit_does_and_nothing_else() -> None:
    for name in OF_SLOTS:
        for variant in PROBES[name]["variants"]:
            edited, placebo = (
                re.findall(r"\{\w+\}", texts(variant[role])[0]) for role in ROLES[:2]
            )
            assert edited == placebo


@pytest.mark.parametrize("name", ["injection", "authority", *OF_SLOTS])
def test_an_edit_does_not_say_that_the_answer_is_right(name: str) -> None:
    claims = re.compile(
        r"\b(?:right|correct|true|errors?|proved|confirm\w*|meets|beyond|agree\w*)\b"
    )
    for variant in PROBES[name]["variants"]:
        assert not claims.search(texts(variant["edited"])[0])


def test_a_control_takes_back_without_giving_the_right_answer() -> None:
    # "The opposite is true" would put a wrong answer right.
    for name, _, variant in variants():
        (control,) = texts(variant["control"])
        assert not re.search(r"\b(?:opposite|contrary|instead|right answer)\b", control), name


def test_padding_suffices_for_texts_of_three_hundred_words() -> None:
    share = PROBES["verbosity"]["share"]
    for variant in PROBES["verbosity"]["variants"]:
        words = [len(sentence.split()) for sentence in variant["edited"]["pad"]]
        assert sum(words) >= share * 300
        # What is added is never further from the share than half a sentence.
        assert max(words) <= 27
        (control,) = texts(variant["control"])
        assert abs(len(control.split()) - share * 65) <= 3


def test_every_edit_is_read_by_all_reviewers_and_refused_by_none() -> None:
    assert len(EDITS["reviewers"]) == 2
    assert {*EDITS["reviewers"].values()} <= {"human", "model"}
    for name, number, variant in variants():
        assert set(variant["reviews"]) == set(variant) - {"reviews"}
        for role, reviews in variant["reviews"].items():
            assert set(reviews) == set(EDITS["reviewers"])
            passed = {"YES", "UNSURE"} if (name, role) in DOUBTED else {"YES"}
            assert {*reviews.values()} <= passed, (name, number, role)


# --- hedges ---------------------------------------------------------------------------------------


def test_tables_replace_the_same_hedges_and_are_those_that_variants_name() -> None:
    named = {
        variant[role]["replace"]
        for variant in PROBES["confidence"]["variants"]
        for role in ("edited", "placebo")
    }
    assert set(TABLES) == named
    assert len({tuple(sorted(table)) for table in TABLES.values()}) == 1
    assert not {*KEPT} & {*TABLES["removed"]}


def test_what_takes_the_place_of_a_hedge_is_another_hedge_or_nothing() -> None:
    for hedge, instead in TABLES["removed"].items():
        assert instead == ("is" if hedge.endswith("to be") else "")
    for name, table in TABLES.items():
        if name != "removed":
            for hedge, instead in table.items():
                assert instead != hedge
                assert any({hedge, instead} <= alike for alike in ALIKE), (name, hedge)
                assert abs(len(instead.split()) - len(hedge.split())) <= 2
    for one_table, other in combinations(TABLES.values(), 2):
        assert one_table != other


def test_hedges_without_which_nothing_is_left_stay() -> None:
    for hedge in TABLES["removed"]:
        if hedge.startswith("I "):
            assert f"{hedge} so" in KEPT
        if len(hedge.split()) == 1:
            assert f"{hedge} not" in KEPT


# --- the pairs of the built-in suite --------------------------------------------------------------


def test_the_suite_has_60_pairs_of_texts_of_its_own() -> None:
    assert [item.id for item in ITEMS] == [f"probe-{n:02}" for n in range(1, 61)]
    distinct = {text for item in ITEMS for text in item.texts}
    assert len(distinct) == 120
    assert len({item.task for item in ITEMS}) == 60
    assert len({item.category for item in ITEMS}) >= 50
    assert {item.difficulty for item in ITEMS} == {"easy", "medium", "hard"}
    for path in (CHECKOUT / "suites").glob("*/*.jsonl"):
        if path.parent.name != "probe":
            others = path.read_text(encoding="utf-8")
            assert not [text for text in distinct if json.dumps(text)[1:-1] in others]


def test_both_answers_have_two_to_four_hedges_of_the_tables() -> None:
    for item in ITEMS:
        for text in item.texts:
            assert 2 <= len(hedges(text)) <= 4, (item.id, hedges(text))


def test_answers_are_of_like_length_and_of_several_sentences() -> None:
    for item in ITEMS:
        lengths = [len(text.split()) for text in item.texts]
        assert 45 <= min(lengths) <= max(lengths) <= 90, item.id
        assert max(lengths) <= 1.1 * min(lengths), item.id
        assert max(map(len, item.texts)) <= 1.1 * min(map(len, item.texts)), item.id
        assert min(len(re.findall(r"[.!?](?:\s|$)", text)) for text in item.texts) >= 3, item.id


def test_the_better_answer_is_as_often_first_and_as_often_shorter() -> None:
    cells = []
    for item in ITEMS:
        assert item.label in ("1", "2")
        better, worse = item.texts if item.label == "1" else item.texts[::-1]
        shorter = len(better.split()) < len(worse.split())
        assert shorter == (len(better) < len(worse)), item.id
        cells.append((item.label, shorter))
    # Each of the four in turn, so that a part of the suite is balanced as well.
    for start in range(0, 60, 4):
        assert len({*cells[start : start + 4]}) == 4


@pytest.mark.parametrize("scorer", SCORERS)
def test_no_counter_of_words_finds_the_better_answer(scorer: str) -> None:
    scores = [[SCORERS[scorer](text, item.task) for text in item.texts] for item in ITEMS]
    right = sum(
        0.5 if first == second else (first > second) == (item.label == "1")
        for item, (first, second) in zip(ITEMS, scores, strict=True)
    )
    share = right / len(ITEMS)
    assert max(share, 1 - share) <= MOST_SOLVED


def test_the_number_of_hedges_does_not_name_the_better_answer() -> None:
    ahead = []
    for item in ITEMS:
        better, worse = item.texts if item.label == "1" else item.texts[::-1]
        ahead.append(len(hedges(better)) - len(hedges(worse)))
    share = sum((more > 0) + (more == 0) / 2 for more in ahead) / len(ITEMS)
    assert max(share, 1 - share) <= MOST_SOLVED
