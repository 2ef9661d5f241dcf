"""What can be found without reading: planted shortcuts and lost facts are found, and no others."""

from __future__ import annotations

import json
import time
import tracemalloc
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.suites import shortcuts
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.rules import lint_items
from pytest_judgesense.suites.shortcuts import evidence, facts, in_one_alone, solved
from pytest_judgesense.suites.suite import Suite

from .files import write_suite
from .known import builtin_suites, load_suite
from .linting import ASKED, COMPARED, HEAD, SLOTS, YES_NO, found, pairs, templates

PAIRWISE = SLOTS.format(more="") + templates(*COMPARED)
STATED = YES_NO + templates(*ASKED)


def compared(count: int, better: str, worse: str) -> list[dict[str, Any]]:
    """Pairs with the better text first and second in turn; ``{n}`` is the number of the pair."""
    rows = pairs(count)
    for n, row in enumerate(rows):
        texts = [better.format(n=n), worse.format(n=n)]
        row["texts"] = texts if row["label"] == "1" else texts[::-1]
    return rows


@pytest.mark.parametrize(
    ("scorer", "better", "worse"),
    [
        # Of the request "Task {n}." it repeats the one stem; the other text has as many words.
        ("overlap with the request", "A task of sorts, {n}.", "A word of sorts, {n}."),
        ("length", "Yes, it is so, {n}.", "Yes, {n}."),
        ("shared stems", "A garden is wet. A garden is {n}.", "A garden is wet. A house is {n}."),
        ("connectives", "It rains, therefore {n}.", "It rains, perhaps {n}."),
    ],
)  # fmt: skip
def test_a_planted_shortcut_is_named(tmp_path: Path, scorer: str, better: str, worse: str) -> None:
    finding = found(tmp_path, PAIRWISE, compared(20, better, worse))["lexical-shortcut"]
    assert finding.severity == "warning"
    assert f"{scorer} alone finds 100%" in finding.found


def test_a_scorer_that_is_always_wrong_is_a_shortcut_too(tmp_path: Path) -> None:
    rows = compared(20, "Yes, {n}.", "Yes, it is so, {n}.")
    assert "length alone finds 100%" in found(tmp_path, PAIRWISE, rows)["lexical-shortcut"].found


def test_at_the_bar_nothing_is_said(tmp_path: Path) -> None:
    # 13 of 20 pairs have the longer text on the better side: 0.65, which is not above the bar.
    rows = compared(20, "Yes, it is so, {n}.", "Yes, {n}.")
    for row in rows[:7]:
        row["texts"] = row["texts"][::-1]
    assert "lexical-shortcut" not in found(tmp_path, PAIRWISE, rows)
    rows[6]["texts"] = rows[6]["texts"][::-1]  # 14 of 20
    assert "length alone finds 70%" in found(tmp_path, PAIRWISE, rows)["lexical-shortcut"].found


def test_labels_are_ordered_by_every_two_of_them(tmp_path: Path) -> None:
    # 5 NO and 5 YES: of 25 pairs of unlike labels all have the longer text on the side of YES.
    rows = [
        {"id": f"i{n}", "text": f"It is {n}." + " Truly." * (n % 2), "label": ("NO", "YES")[n % 2]}
        for n in range(10)
    ]
    suite = load_suite(write_suite(tmp_path, HEAD.format(kind="paraphrase") + STATED, rows))
    assert solved(suite)["length"] == 1.0
    assert "overlap with the request" not in solved(suite), "nothing stands beside the text"


def test_few_items_say_nothing(tmp_path: Path) -> None:
    few = compared(8, "Yes, it is so, {n}.", "Yes, {n}.")
    assert "lexical-shortcut" not in found(tmp_path, PAIRWISE, few)


@pytest.mark.parametrize("name", builtin_suites())
def test_no_built_in_suite_can_be_solved_without_reading(name: str) -> None:
    scores = solved(load_suite(builtin_suites()[name]))
    assert all(share <= shortcuts.MOST_SOLVED for share in scores.values()), scores


# --- many items ---


def stated(rows: list[tuple[str, str]], folder: Path, labels: tuple[str, ...]) -> Suite:
    """A suite of single texts with these labels, in two wordings."""
    lines = [{"id": f"i{n}", "text": text, "label": label} for n, (text, label) in enumerate(rows)]
    toml = STATED.replace('["YES", "NO"]', json.dumps(labels))
    assert json.dumps(labels) in toml
    return load_suite(write_suite(folder, HEAD.format(kind="paraphrase") + toml, lines))


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from("a tree trees. so\nnow therefore".split(" ")), max_size=6),
            st.sampled_from("1234"),
        ),
        min_size=10,
        max_size=40,
    )
)
def test_ranks_say_what_counting_every_pair_says(rows: list[tuple[list[str], str]]) -> None:
    with TemporaryDirectory() as folder:
        texts = [(" ".join(words), label) for words, label in rows]
        suite = stated(texts, Path(folder), ("1", "2", "3", "4"))
    scores = solved(suite)
    unlike = [(a, b) for a, b in combinations(texts, 2) if a[1] != b[1]]
    assert set(scores) == (set(shortcuts.SCORERS) - OVERLAPS if unlike else set())
    for name, share in scores.items():
        scorer = shortcuts.SCORERS[name]
        # The pair is in order, tied, or not: 2, 1 or 0 halves.
        halves = 0
        for (one, low), (other, high) in unlike:
            ahead = (scorer(other, "") - scorer(one, "")) * (int(high) - int(low))
            halves += 2 * (ahead > 0) + (ahead == 0)
        right = halves / 2 / len(unlike)
        assert share == max(right, 1 - right)


OVERLAPS = {"overlap with the request", "share of overlap"}


def test_of_many_items_a_sample_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of 600 items 300 are labelled NO. The others have a longer text: length decides every pair.
    monkeypatch.setattr(shortcuts, "MOST_READ", 100)
    rows = [(f"It is {n}." + " Yes." * (n % 2 == 0), "NO YES".split()[n % 2 == 0])
            for n in range(600)]  # fmt: skip
    suite = stated(rows, tmp_path, ("NO", "YES"))
    assert solved(suite)["length"] == pytest.approx(1.0)
    (finding,) = [one for one in lint_items(suite) if one.rule == "lexical-shortcut"]
    assert finding.found.endswith(" (of a sample of 100 of 600 labelled items, seed 0)")


def test_of_many_pairs_a_sample_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortcuts, "MOST_READ", 40)
    suite = load_suite(
        write_suite(
            tmp_path,
            HEAD.format(kind="paraphrase") + PAIRWISE,
            compared(200, "Yes, it is so, {n}.", "Yes, {n}."),
        )
    )
    assert solved(suite)["length"] == 1.0
    assert shortcuts.sampled(suite) == " (of a sample of 40 of 200 labelled items, seed 0)"


def test_lint_of_many_items_takes_little_memory_and_time(tmp_path: Path) -> None:
    # A list of all pairs of 20,000 items would have 10^8 entries: 4 GB and two minutes. Twice the
    # prompts, which stand for all that grows with the items, are 20,000 x 2 x 100 bytes = 4 MB.
    rows = [(f"It is the number {n}, and nothing else. " * 2, "12"[n % 2]) for n in range(20_000)]
    suite = stated(rows, tmp_path, ("1", "2"))
    plan_trials(suite)
    tracemalloc.start()
    began = time.process_time()
    lint_items(suite)
    taken, (_, peak) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20e6, peak
    assert taken < 20, "with tracemalloc, on a busy machine"


# --- what stands in one of two texts alone --------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "lost"),
    [
        # The losses of the first ladder.
        ("They cost six pounds, or three for children.", "The cost is six pounds.", ["3"]),
        ("Please reply to the host, Nora, by Friday.", "Please reply.", ["nora", "friday"]),
        ("It was settled amicably.", "It was never settled.", ["a negation"]),
        ("If blisters form, see a doctor.", "For blisters, see a doctor.", ["a condition"]),
        ("Closed on Saturday 9 July.", "Closed on 9 July.", ["saturday"]),
    ],
)  # fmt: skip
def test_a_fact_in_one_text_alone_is_named(one: str, other: str, lost: list[str]) -> None:
    assert in_one_alone(one, other) == in_one_alone(other, one) == lost


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It costs six pounds.", "The price: 6 pounds."),
        ("Ask Ines Vogel on Mondays.", "On Monday, the one to ask is Ines Vogel."),
        ("Harbour Street is open.", "The branch in Harbour Street is open."),
        ("1. Boil it\n2. Drain it", "Boil it, then drain it."),
        ("Do not open it.", "Never open it."),
        ("We march in an august way.", "We walk in a stately way."),
    ],
)
def test_the_same_facts_in_other_words_are_the_same(one: str, other: str) -> None:
    assert in_one_alone(one, other) == []


@given(st.text())
def test_a_text_states_what_it_states(text: str) -> None:
    assert in_one_alone(text, text) == []
    assert evidence(text) >= 0
    assert set(facts(text)) == set(facts(""))


def test_evidence_counts_names_and_numbers() -> None:
    # Mona, Pell, 1992 and three; "The" begins a sentence, and "one" counts nothing.
    assert evidence("The mayor of Pell met Mona in 1992. One of three came.") == 4


def test_requests_that_are_made_twice_are_counted(tmp_path: Path) -> None:
    same = [
        {"id": f"v{n}", "task": f"T{n}.", "texts": ["", ""], "category": "empty"} for n in range(4)
    ]
    toml = SLOTS.format(more="tie = true\n") + templates("A, B or tie? {{task}} {{a}}|{{b}}")
    finding = found(tmp_path, toml, same, "vacuum")["repeated-prompts"]
    assert finding.found == "8 requests, 4 distinct: the real n is 4"
    for row in same:
        row["texts"] = ["", " "]
    assert "repeated-prompts" not in found(tmp_path, toml, same, "vacuum")


def test_lint_prints_every_score(tmp_path: Path) -> None:
    from pytest_judgesense.questions.lint_report import lint_report

    path = write_suite(
        tmp_path,
        HEAD.format(kind="paraphrase") + PAIRWISE,
        compared(20, "Yes, it is so, {n}.", "Yes, {n}."),
    )
    lines = list(lint_report([path], verbose=True).lines())
    shown = [line for line in lines if "decided without reading" in line]
    assert "  decided without reading: length 1.00" in shown
    assert len(shown) == len(shortcuts.SCORERS) + 1  # and the position
    assert str(lint_report([path])).count("decided without reading") == 0
