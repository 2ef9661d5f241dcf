from __future__ import annotations

from collections import Counter

from pytest_judgesense.instruments.ladder.stimuli import LadderTask, QuarterTask, items_of
from tests.suites.files import ladder_task, ladder_text, quarter_task

TASK = LadderTask.model_validate(ladder_task())
OTHER = LadderTask.model_validate(ladder_task("other"))
FINE = QuarterTask.model_validate(quarter_task())


def test_the_judge_reads_the_request_and_the_numbered_elements() -> None:
    assert TASK.shown_task == (
        "Write a note.\nRequired elements:\n1. element 1\n2. element 2\n3. element 3\n"
        "4. element 4\n5. element 5"
    )


def test_a_task_makes_the_pairs_of_the_published_design() -> None:
    # Judge Datasheet (2606.15610): of six levels 15 pairs, 5, 4, 3, 2, 1 at distance 1 to 5;
    # 6 same-subset, 3 different-subset, 2 fillers: 26 in all.
    counts = Counter((i.condition["distance"], i.condition["subset"]) for i in items_of([TASK]))
    assert counts == {
        (1, "same"): 5,
        (2, "same"): 4,
        (3, "same"): 3,
        (4, "same"): 2,
        (5, "same"): 1,
        (0, "same"): 6,
        (0, "different"): 3,
        (0, "filler"): 2,
    }


def test_the_label_of_a_ladder_pair_points_at_the_higher_level() -> None:
    for item in items_of([TASK, OTHER]):
        if item.condition["distance"]:
            levels = [text.count("L") for text in item.contents]
            assert item.label == ("1" if levels[0] > levels[1] else "2")
            assert abs(levels[0] - levels[1]) == item.condition["distance"]


def test_no_fixed_answer_is_right_more_often_than_half_of_the_time_over_two_tasks() -> None:
    # 15 pairs are odd, so one task cannot be even; two tasks of opposite parity are.
    labels = Counter(i.label for i in items_of([TASK, OTHER]) if i.condition["distance"])
    assert labels == {"1": 15, "2": 15}


def test_pairs_of_one_distance_are_balanced_over_two_tasks() -> None:
    counts = Counter(
        (i.condition["distance"], i.label)
        for i in items_of([TASK, OTHER])
        if i.condition["distance"]
    )
    for distance, pairs in {1: 5, 2: 4, 3: 3, 4: 2, 5: 1}.items():
        assert counts[distance, "1"] == counts[distance, "2"] == pairs


def test_pairs_at_distance_zero_have_no_better_content() -> None:
    zero = [i for i in items_of([TASK]) if i.condition["distance"] == 0]
    assert {i.label for i in zero} == {None}


def test_a_same_subset_pair_shows_a_level_and_its_rewording() -> None:
    same = items_of([TASK], distances=[0], subsets=["same"])
    texts = [{ladder_text("L", q), ladder_text("R", q)} for q in range(6)]
    assert [set(i.contents) for i in same] == texts
    # The rewording stands first in every other pair.
    assert [i.contents[0][0].upper() for i in same] == ["R", "L", "R", "L", "R", "L"]


def test_a_different_subset_pair_shows_the_level_with_as_many_elements() -> None:
    different = items_of([TASK], subsets=["different"])
    others = [other.text for other in TASK.alternatives]
    assert [set(i.contents) for i in different] == [
        {text, ladder_text("L", q)} for q, text in enumerate(others, start=1)
    ]


def test_a_filler_is_content_two_of_its_level() -> None:
    fillers = items_of([TASK], subsets=["filler"])
    assert [i.contents for i in fillers] == [
        (ladder_text("L", q), filler.text) for q, filler in zip((2, 3), TASK.fillers, strict=True)
    ]


def test_distances_and_subsets_choose_among_the_items() -> None:
    chosen = items_of([TASK], distances=[0, 1, 5], subsets=["same"])
    assert len(chosen) == 6 + 5 + 1
    assert {i.condition["distance"] for i in chosen} == {0, 1, 5}


def test_a_chosen_item_is_the_same_as_in_the_whole_ladder() -> None:
    # The criterion suite takes items of the ladder and shares its recordings.
    whole = {item.id: item for item in items_of([TASK, OTHER])}
    for item in items_of([TASK, OTHER], distances=[0, 1, 5], subsets=["same"]):
        assert whole[item.id] == item


def test_ids_are_unique_and_the_cluster_is_the_task() -> None:
    items = items_of([TASK, OTHER])
    assert len({item.id for item in items}) == len(items) == 52  # 26 a task
    assert Counter(item.cluster for item in items) == {"note": 26, "other": 26}


def test_the_judge_reads_the_parts_behind_their_element() -> None:
    assert FINE.shown_task == (
        "Write a note.\nRequired elements:\n1. greeting\n2. place: street; house; floor; door"
    )


def test_a_task_in_quarters_makes_two_pairs_at_each_distance_one_of_each_label() -> None:
    items = items_of([FINE])
    counts = Counter((i.condition["distance"], i.label) for i in items)
    assert counts == {(d, label): 1 for d in (0.25, 0.5, 0.75) for label in "12"}
    assert {i.condition["subset"] for i in items} == {"same"}
    assert {i.cluster for i in items} == {"note"}
    assert len({i.id for i in items}) == 6


def test_the_label_of_a_quarter_pair_points_at_the_text_with_more_parts() -> None:
    for item in items_of([FINE]):
        # Parts that a text states are written Q1 to Q4; a quarter of an element each.
        parts = [text.count("Q") for text in item.contents]
        assert item.label == ("1" if parts[0] > parts[1] else "2")
        assert abs(parts[0] - parts[1]) / 4 == item.condition["distance"]


def test_quarter_pairs_begin_at_nothing_or_end_at_the_whole_element() -> None:
    ends = [sorted(text.count("Q") for text in item.contents) for item in items_of([FINE])]
    assert all(low == 0 or high == 4 for low, high in ends)


def test_distances_choose_among_the_quarters() -> None:
    chosen = items_of([FINE], distances=[0.25])
    assert {i.condition["distance"] for i in chosen} == {0.25}
    assert len(chosen) == 2
