"""Items drawn to be labelled, and the line of the suite file that says so."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pytest_judgesense.errors import SuiteError, UsageError
from pytest_judgesense.questions.label.label_sample import (
    declare_gate,
    declare_random,
    drawn_as_contradicted,
    drawn_as_disputed,
    drawn_at_random,
)
from pytest_judgesense.trial import Judgment, Trial, Unparsed, Verdict
from tests.measures.building import SLOTS, both_orders, cell
from tests.questions.label.labelling import rows_of_pairs
from tests.suites.files import PAIRWISE, write_suite
from tests.suites.known import load_suite


def ids(drawn: object) -> list[str]:
    return [item.id for item in drawn.items]  # type: ignore[attr-defined]


def test_a_draw_is_the_beginning_of_the_order_of_its_seed(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, PAIRWISE, rows_of_pairs(30)))
    everything = drawn_at_random(suite, 0)
    assert everything.drawn == "random"
    assert sorted(ids(everything)) == sorted(item.id for item in suite.items)
    assert ids(drawn_at_random(suite, 0, 12)) == ids(everything)[:12]
    assert ids(drawn_at_random(suite, 1)) != ids(everything)


def test_items_that_are_added_leave_the_order_of_the_others(tmp_path: Path) -> None:
    few = load_suite(write_suite(tmp_path, PAIRWISE, rows_of_pairs(20)))
    (tmp_path / "more").mkdir()
    many = load_suite(write_suite(tmp_path / "more", PAIRWISE, rows_of_pairs(30)))
    before = ids(drawn_at_random(few, 0))
    assert [item for item in ids(drawn_at_random(many, 0)) if item in before] == before


def test_every_item_has_the_same_chance(tmp_path: Path) -> None:
    """2,000 seeds: each of 4 items is first 500 times but for five deviations of 19.4.

    The number is binomial with n = 2,000 and p = 1/4: its deviation is sqrt(2000 * 3/16) = 19.4.
    """
    suite = load_suite(write_suite(tmp_path, PAIRWISE, rows_of_pairs(4)))
    first = Counter(ids(drawn_at_random(suite, seed, 1))[0] for seed in range(2000))
    assert {item: abs(count - 500) < 97 for item, count in first.items()} == {
        f"p{n}": True for n in range(4)
    }


def test_more_than_there_are_cannot_be_drawn(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, PAIRWISE, rows_of_pairs(4)))
    with pytest.raises(UsageError, match="5 items cannot be drawn") as caught:
        drawn_at_random(suite, 0, 5)
    assert "--draw 4 at most" in str(caught.value)


def judged(
    item: str, template: str, chosen: str | None, judge: str = "j", *, n: int = 1
) -> Judgment:
    trial = Trial(f"pairs/{item}/{template}/ab/r{n}", "pairs", item, item, template)
    outcome = Unparsed("empty reply") if chosen is None else Verdict("A")
    return Judgment(trial, judge, outcome, chosen)


def test_what_every_reading_contradicts_is_chosen_that_of_most_judges_first(
    tmp_path: Path,
) -> None:
    suite = load_suite(write_suite(tmp_path, PAIRWISE, rows_of_pairs(6)))
    right, wrong = ("A", "B"), ("B", "A")
    # Content 1 is the label of all: one judge contradicts p4 and p5, another p5 alone.
    cells = [
        cell(SLOTS, both_orders("p", [right] * 4 + [wrong, wrong], label="1")),
        cell(SLOTS, both_orders("p", [right] * 5 + [wrong], label="1")),
    ]
    drawn = drawn_as_contradicted(suite, 0, cells)
    assert (ids(drawn), drawn.drawn) == (["p5", "p4"], "chosen")
    with pytest.raises(UsageError, match="no label of suite") as caught:
        drawn_as_contradicted(suite, 0, [cell(SLOTS, both_orders("p", [right] * 6, label="1"))])
    assert "6 labels that were read twice" in str(caught.value)


def test_what_judges_or_wordings_disagree_on_is_chosen_the_most_disputed_first(
    tmp_path: Path,
) -> None:
    suite = load_suite(write_suite(tmp_path, PAIRWISE, rows_of_pairs(5)))
    judgments = [
        # All agree, and who says nothing disputes nothing.
        *(judged("p0", f"t{n}", "1") for n in (1, 2, 3)),
        judged("p0", "t4", None),
        # One wording of three differs: 1/3.
        *(judged("p1", f"t{n}", chosen) for n, chosen in ((1, "2"), (2, "2"), (3, "1"))),
        # Two judges differ: 1/2.
        judged("p2", "t1", "1"),
        judged("p2", "t1", "tie", "k"),
        # A judge that is of two minds under one wording has the answer of most of its verdicts.
        *(judged("p3", "t1", chosen, n=n) for n, chosen in enumerate("112")),
        judged("p3", "t2", "1"),
        # One that is divided says something else than one that is not: 1/4.
        *(judged("p4", "t1", chosen, n=n) for n, chosen in enumerate("12")),
        *(judged("p4", f"t{n}", "1") for n in (2, 3, 4)),
    ]
    drawn = drawn_as_disputed(suite, 0, judgments)
    assert (ids(drawn), drawn.drawn) == (["p2", "p1", "p4"], "chosen")
    with pytest.raises(UsageError, match="nothing of suite pairs is disputed") as caught:
        drawn_as_disputed(suite, 0, judgments[:4])
    assert "each of 1 items" in str(caught.value)


def test_of_several_grades_the_most_disputed_one_counts(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, PAIRWISE, rows_of_pairs(3)))
    grades = {
        "p0": ('{"a": "1", "b": "5"}', '{"a": "1", "b": "5"}', '{"a": "1", "b": null}'),
        "p1": ('{"a": "1", "b": "5"}', '{"a": "1", "b": "4"}', '{"a": "1", "b": "3"}'),
        "p2": ('{"a": "1", "b": "5"}', '{"a": "2", "b": "5"}', '{"a": "1", "b": "5"}'),
    }
    judgments = [
        Judgment(Trial(f"{item}/t{n}", "s", item, item, f"t{n}"), "j", Verdict(verdict))
        for item, verdicts in grades.items()
        for n, verdict in enumerate(verdicts)
    ]
    # By b two thirds of p1 are not the most frequent grade, by a one third of p2.
    assert ids(drawn_as_disputed(suite, 0, judgments)) == ["p1", "p2"]


# --- the suite file -------------------------------------------------------------------------------

HIDDEN = (
    '''schema = "judgesense/suite/1"
description = """
[stimuli]
is a table.
"""

  [ stimuli ]  # the items
file = "items.jsonl"  # '''
    "\N{SNOWMAN}\n"
)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_one_line_is_put_below_the_header_and_every_other_byte_stays(
    tmp_path: Path, end: str
) -> None:
    path = tmp_path / "x.suite.toml"
    before = HIDDEN.replace("\n", end)
    path.write_bytes(before.encode())
    assert declare_random(path)
    header = f"  [ stimuli ]  # the items{end}"
    after = before.replace(header, f'{header}labelled = "random"{end}')
    assert path.read_bytes() == after.encode()
    # What it says stays.
    assert not declare_random(path)
    assert path.read_bytes() == after.encode()


def test_a_check_against_labels_is_put_among_the_others_once(tmp_path: Path) -> None:
    path = tmp_path / "x.suite.toml"
    path.write_text("[checks]  # each a test\njss_floor = 0.9\n")
    assert declare_gate(path)
    gate = "agreement_floor = { bar = 0.8, limit = 0.7 }"
    assert path.read_text() == f"[checks]  # each a test\n{gate}\njss_floor = 0.9\n"
    assert not declare_gate(path)


def test_a_file_without_the_header_is_left_to_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "x.suite.toml"
    text = 'stimuli = { file = "items.jsonl" }\n'
    path.write_text(text)
    with pytest.raises(SuiteError, match="has no place") as caught:
        declare_random(path)
    assert 'labelled = "random" in its table stimuli' in str(caught.value)
    assert path.read_text() == text
