"""Recall, drops and false alarms on long records, counted by hand from judgments."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.depth import measures as of
from pytest_judgesense.instruments.depth.askings import drops
from pytest_judgesense.instruments.depth.estimators import alarm, dropped, missed
from pytest_judgesense.instruments.depth.tables import by_place, depth_brief, place_lines
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.trial import Judgment
from tests.instruments.depth.records import cell_of, judged

# Ten items: all are found at both ends of both lengths, five not in the middle of the longer ones,
# and one false alarm is raised at each length.
LOSING = [
    judgment
    for n in range(10)
    for length, words in (
        (2000, "YYY"),
        (16_000, "YNY" if n < 5 else "YYY"),
    )
    for judgment in judged(f"i{n}", words + ("Y" if n == 9 else "N"), length)
]


def estimate(cell: Cell, measure: str, **condition: str | int) -> Estimate:
    found = find_estimate(estimate_all(cell), measure, condition)
    assert found is not None, (measure, condition)
    return found


def test_passages_that_are_found_less_false_alarms() -> None:
    cell = cell_of(LOSING)
    middle = estimate(cell, "depth_recall", place="middle", length=16_000)
    # 5 of 10 are found, and 1 of 10 is seen where it is not.
    assert (middle.value, middle.n) == (pytest.approx(0.4), 10)
    start = estimate(cell, "depth_recall", place="start", length=16_000)
    assert start.value == pytest.approx(0.9)
    # Five places at .9 and one at .4.
    whole = estimate(cell, "depth_recall")
    assert (whole.value, whole.n) == (pytest.approx((5 * 0.9 + 0.4) / 6), 60)
    assert whole.clustered is not None
    assert whole.clustered.clusters == 10


def test_a_drop_is_against_the_other_places_of_its_length() -> None:
    cell = cell_of(LOSING)
    values = {tuple(drop.spot): drop.value for drop in drops(cell)}
    # Of the longer ones the middle has .5, the ends 1: 1 - .5, and for an end (1 + .5) / 2 - 1.
    assert values == {
        ("start", 2000): 0.0,
        ("middle", 2000): 0.0,
        ("end", 2000): 0.0,
        ("start", 16_000): pytest.approx(-0.25),
        ("middle", 16_000): pytest.approx(0.5),
        ("end", 16_000): pytest.approx(-0.25),
    }
    worst = estimate(cell, "depth_drop")
    assert worst.value == pytest.approx(0.5)
    assert "worst at middle 16000" in worst.flags


def test_a_drop_is_found_by_holm_over_all_places_and_lengths() -> None:
    # The middle misses five of ten alone: (1/3)^5 = .0041, of six places .025.
    found = estimate(cell_of(LOSING), "depth_drop", place="middle", length=16_000)
    assert of.FOUND in found.flags
    assert found.clustered is not None
    assert 0 < found.clustered.lower < 0.5
    # Four: (1/3)^4 = .012, of six .074.
    four = [j for j in LOSING if not j.trial.item.startswith("i3.")] + judged("i3", "YYYN", 16_000)
    unseen = estimate(cell_of(four), "depth_drop", place="middle", length=16_000)
    assert of.FOUND not in unseen.flags
    assert unseen.clustered is not None
    assert unseen.clustered.lower <= 0


def test_a_judge_that_always_says_yes_fails_by_its_false_alarms() -> None:
    cell = cell_of(j for n in range(10) for j in judged(f"i{n}", "YYYY"))
    alarms = estimate(cell, "depth_false_alarm")
    assert (alarms.value, alarms.count, alarms.n) == (1.0, 10, 10)
    assert estimate(cell, "depth_recall").value == 0.0
    drop = estimate(cell, "depth_drop")
    assert drop.value == 0.0
    assert "degenerate" in drop.flags
    assert [judgment.trial.item for judgment in cell.judgments if alarm(judgment)] == [
        f"i{n}.absent-2000" for n in range(10)
    ]


def test_a_reply_without_a_verdict_is_counted_and_bounded() -> None:
    judgments = [
        *(j for n in range(9) for j in judged(f"i{n}", "YYYN")),
        *judged("i9", "Y?YN"),
    ]
    cell = cell_of(judgments)
    drop = estimate(cell, "depth_drop", place="middle", length=2000)
    assert (drop.n, drop.missing.unparsed) == (9, 1)
    assert any("take no part" in flag for flag in drop.flags)
    # Missed there, it would be a drop of 1 in ten items; found, of none.
    assert (drop.missing.lower_bound, drop.missing.upper_bound) == (0.0, pytest.approx(0.1))
    recall = estimate(cell, "depth_recall", place="middle", length=2000)
    assert (recall.n, recall.value) == (9, 1.0)
    assert (recall.missing.lower_bound, recall.missing.upper_bound) == (pytest.approx(0.9), 1.0)


def test_missing_replies_at_another_place_count_against_the_worst() -> None:
    # Ten items at two lengths: at the longer one, two have no verdict in the middle, nothing drops.
    cell = cell_of(
        j
        for n in range(10)
        for length, words in ((2000, "YYYN"), (16_000, "Y?YN" if n < 2 else "YYYN"))
        for j in judged(f"i{n}", words, length)
    )
    worst = estimate(cell, "depth_drop")
    assert worst.value == 0.0
    # Missed there, two items of ten are a drop of .2; 2 of the 60 calls with a passage are missing.
    assert worst.missing.upper_bound == pytest.approx(0.2)
    assert (worst.missing.unparsed, worst.missing.share) == (2, pytest.approx(2 / 60))


def test_a_length_without_whole_askings_leaves_nothing_to_say_of_the_worst() -> None:
    cell = cell_of(
        j
        for n in range(10)
        for length, words in ((2000, "YYYN"), (16_000, "Y?YN" if n else "YYYN"))
        for j in judged(f"i{n}", words, length)
    )
    middle = estimate(cell, "depth_drop", place="middle", length=16_000)
    for drop in (estimate(cell, "depth_drop"), middle):
        assert "fewer than two clusters" in str(drop.unavailable)
        assert drop.missing.unparsed == 9
    assert estimate(cell, "depth_drop", place="start", length=2000).value == 0.0
    rows = by_place(cell, estimate_all(cell), None)
    assert rows is not None
    assert [row["verdict"] for row in rows[3:]] == ["not measured"] * 3
    lines = list(place_lines(rows))
    assert lines[5].split() == ["16,000", "middle", "0.00", "not", "measured"]
    assert lines[-1].endswith("take no part: 9")


def test_what_was_not_asked_is_unavailable() -> None:
    few = cell_of(judged("i0", "YYYN"))
    assert "fewer than two clusters" in str(estimate(few, "depth_drop").unavailable)
    without = cell_of(j for n in range(3) for j in judged(f"i{n}", "YYY-"))
    assert estimate(without, "depth_recall").value is None
    assert estimate(without, "depth_false_alarm").value is None
    # The drop needs no record without the passage.
    assert estimate(without, "depth_drop").value == 0.0
    silent = cell_of(j for n in range(3) for j in judged(f"i{n}", "????"))
    assert "where it stands and where it does not" in str(
        estimate(silent, "depth_recall").unavailable
    )


def test_items_of_one_cluster_are_one_unit_of_the_test() -> None:
    # Four items of one cluster miss the middle: one cluster of seven says so, 1/3.
    judgments = [
        *(j for n in range(4) for j in judged(f"i{n}", "YNYN", cluster="same")),
        *(j for n in range(4, 10) for j in judged(f"i{n}", "YYYN")),
    ]
    middle = drops(cell_of(judgments))[1]
    assert middle.value == pytest.approx(0.4)
    assert middle.measured.at.p == pytest.approx(1 / 3)


def test_replicates_are_askings_of_their_item() -> None:
    judgments = [j for r in (1, 2) for n in range(4) for j in judged(f"i{n}", "YNYN", replicate=r)]
    middle = drops(cell_of(judgments))[1]
    assert middle.measured.askings == 8
    # Each of four clusters has the totals 2, 0, 2: all zeros in the middle with (1/3)^4.
    assert middle.measured.at.p == pytest.approx(1 / 81)


def items(groups: Iterable[tuple[Judgment, ...]]) -> list[tuple[str, ...]]:
    return [tuple(judgment.trial.item for judgment in group) for group in groups]


def test_the_evidence_is_what_is_missed_and_where_it_was_found() -> None:
    cell = cell_of(LOSING)
    lost = [f"i{n}.middle-16000" for n in range(5)]
    assert items(missed(cell, {})) == [(item,) for item in lost]
    assert items(missed(cell, {"place": "start"})) == []
    assert items(dropped(cell, {})) == [(f"i{n}.start-16000", lost[n]) for n in range(5)]
    assert items(dropped(cell, {"place": "start", "length": 2000})) == []


def test_the_table_has_a_line_for_each_place_and_says_what_follows() -> None:
    cell = cell_of(LOSING)
    rows = by_place(cell, estimate_all(cell), None)
    assert rows is not None
    assert [(row["length"], row["place"], row["dropped"]) for row in rows] == [
        (length, place, (length, place) == (16_000, "middle"))
        for length in (2000, 16_000)
        for place in ("start", "middle", "end")
    ]
    middle = rows[4]
    assert (middle["found"], middle["false_alarms"]) == (pytest.approx(0.5), pytest.approx(0.1))
    assert middle["recall"] == pytest.approx(0.4)
    lines = list(place_lines(rows))
    assert len(lines) == 7
    assert lines[5].split()[:3] == ["16,000", "middle", "0.50"]
    assert lines[5].endswith("lost here")
    assert max(map(len, lines)) <= 74
    assert depth_brief(rows) == "loses the middle of 16,000"
    assert depth_brief(rows[:3]) == ""
    assert by_place(cell_of([]), (), None) is None


def test_sentences_say_no_more_than_the_test() -> None:
    cell = cell_of(LOSING)
    drop = BUILT_IN.measures["depth_drop"]
    worst = estimate(cell, "depth_drop")
    assert drop.said_of(worst) == (
        "in the middle of 16,000 tokens the share of passages found is 50 points lower than at the "
        "other places"
    )
    start = estimate(cell, "depth_drop", place="start", length=2000)
    assert "at the start of 2,000 tokens" in drop.said_of(start)
    assert "not visibly lower" in drop.said_of(start)
    alarms = BUILT_IN.measures["depth_false_alarm"].said_of(estimate(cell, "depth_false_alarm"))
    assert alarms == "the judge says so of 2 of 20 records that do not hold the passage"


def test_the_profile_names_what_is_lost_and_what_is_seen() -> None:
    def words(cell: Cell) -> set[str]:
        estimates = estimate_all(cell)
        of_room = BUILT_IN.of_rooms({"depth"}).report.words
        return {word.text for word in of_room if word.texts(estimates)}

    assert "loses the middle of long texts" in words(cell_of(LOSING))
    always = cell_of(j for n in range(10) for j in judged(f"i{n}", "YYYY"))
    assert "sees what is not there" in words(always)
    assert not {w for w in words(always) if w.startswith("loses")}
