"""The mark that keeps a pass rate: by hand, against every mark tried, and of a known scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from pytest_judgesense.stats.comparison import paired_difference
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.kept_mark import NOTHING, KeptMark, kept_mark

Floats = NDArray[np.float64]
GRADES = (1.0, 2.0, 3.0, 4.0, 5.0)


def mark_of(scores: Floats, passed: NDArray[np.bool_]) -> KeptMark:
    result = kept_mark(scores, passed, range(len(scores)), GRADES, within=0.02)
    assert isinstance(result, KeptMark)
    return result


def test_a_scale_that_moved_by_a_grade_keeps_everything_a_grade_higher() -> None:
    old = np.tile([1.0, 2.0, 3.0, 4.0], 25)
    same = mark_of(old, old >= 3)
    assert (same.nearest.mark, same.nearest.change, same.old_rate) == (3, 0, 0.5)
    moved = mark_of(old + 1, old >= 3)
    assert (moved.nearest.mark, moved.nearest.rate) == (4, 0.5)
    assert (moved.lowest, moved.highest) == (4, 4)
    assert not moved.not_kept.any()
    assert (moved.fewest.mark, moved.fewest.lost, moved.fewest.gained) == (4, 0, 0)
    assert [rate.mark for rate in moved.marks] == [*GRADES, NOTHING]
    # At 3, 75 of 100 pass; the 25 that failed with a 2 of the old one now pass.
    at_three = moved.marks[2]
    assert (at_three.rate, at_three.lost, at_three.gained) == (0.75, 0, 25)
    assert at_three.told_apart


def test_a_judge_of_one_grade_keeps_no_rate() -> None:
    passed = np.arange(100) < 40
    result = mark_of(np.full(100, 3.0), passed)
    assert (result.lowest, result.highest) == (None, None)
    # Nothing passes above all grades: .4 away; at 3 or below all do, which is .6 away.
    assert (result.nearest.mark, result.nearest.rate) == (4, 0.0)
    assert result.not_kept.tolist() == passed.tolist()
    assert result.fewest.lost == 40


def test_what_no_mark_of_the_range_keeps() -> None:
    # 60 units: alike but for two that change their places on the scale, 1 and 5.
    scores = np.tile([1.0, 5.0], 30)
    passed = scores == 5
    passed[:2] = ~passed[:2]
    result = mark_of(scores, passed)
    assert (result.lowest, result.highest) == (2, 5)
    assert np.flatnonzero(result.not_kept).tolist() == [0, 1]
    assert (result.fewest.lost, result.fewest.gained) == (1, 1)


def test_a_rate_is_kept_lost_or_undecided_and_more_items_would_tell() -> None:
    grades = np.tile([1.0, 2.0, 3.0, 4.0], 100)
    alike = kept_mark(grades, grades >= 3, range(400), GRADES, within=0.02, old_mark=3)
    assert isinstance(alike, KeptMark)
    # Of 400 none changes sides: the bound of a share of 0 is 1 - .025^(1/400) = .0092.
    assert alike.answer == "kept"
    assert alike.nearest.ends == pytest.approx((-0.0092, 0.0092), abs=1e-4)
    assert alike.clusters_to_decide(0.02) is None
    assert alike.at_old is not None
    assert alike.at_old.rate == 0.5
    few = kept_mark(grades[:40], grades[:40] >= 3, range(40), GRADES, within=0.02)
    assert isinstance(few, KeptMark)
    # 1 - .025^(1/40) = .0881: 40 (.0881 / .02)^2 = 776 of the same kind would decide.
    assert few.answer == "undecided"
    assert few.clusters_to_decide(0.02) == pytest.approx(776, abs=2)
    assert few.at_old is None
    # Nothing or everything passes, .4 and .6 from the old rate.
    lost = mark_of(np.full(100, 3.0), np.arange(100) < 40)
    assert lost.answer == "not kept"


def test_what_cannot_be_estimated_or_is_wrong() -> None:
    assert isinstance(kept_mark([1, 2], [0, 1], ["a", "a"], within=0), NotEstimable)
    with pytest.raises(ValueError, match="one a unit"):
        kept_mark([1, 2], [0], range(2), within=0)
    with pytest.raises(ValueError, match="finite"):
        kept_mark([1, np.inf], [0, 1], range(2), within=0)


def test_the_mark_of_a_known_scale_is_within_its_range() -> None:
    """Both judges see a normal quality with an error of variance .36: the mark is the old one."""
    rng = np.random.default_rng(6)
    inside = 0
    for _ in range(60):
        quality = rng.normal(size=150)
        passed = quality + 0.6 * rng.normal(size=150) >= 0.3
        result = kept_mark(quality + 0.6 * rng.normal(size=150), passed, range(150), within=0.02)
        assert isinstance(result, KeptMark)
        assert result.lowest is not None
        assert result.highest is not None
        inside += result.lowest <= 0.3 <= result.highest
    assert inside >= 51  # of 57 expected; 50 or fewer have a chance of .003


@given(
    hnp.arrays(np.float64, st.integers(4, 30), elements=st.sampled_from(GRADES)),
    st.data(),
)
def test_the_range_is_the_marks_that_are_not_told_apart(
    scores: Floats, data: st.DataObject
) -> None:
    passed = data.draw(hnp.arrays(np.bool_, len(scores)))
    clusters = data.draw(hnp.arrays(np.intp, len(scores), elements=st.integers(0, 8)))
    within = data.draw(st.sampled_from([0.0, 0.05, 0.2, 0.5]))
    result = kept_mark(scores, passed, clusters, GRADES, within=within)
    if isinstance(result, NotEstimable):
        assert len({*clusters.tolist()}) < 2
        return
    near, possible = [], []
    for mark in (*GRADES, NOTHING):
        difference = paired_difference((scores >= mark) * 1.0 - passed, clusters)
        assert difference is not None
        low, high = difference.ends(0.95)
        if low <= 0 <= high:
            near.append(mark)
        if low <= within and high >= -within:
            possible.append(mark)
        if mark == result.nearest.mark and max(-low, high) <= within:
            assert result.answer == "kept"
    assert (result.lowest, result.highest) == ((near[0], near[-1]) if near else (None, None))
    assert (result.answer == "not kept") == (not possible)
    rates = [abs((scores >= mark).mean() - passed.mean()) for mark in (*GRADES, NOTHING)]
    assert abs(result.nearest.rate - passed.mean()) == pytest.approx(min(rates))
    moved = [((scores >= mark) != passed).sum() for mark in (*GRADES, NOTHING)]
    assert result.fewest.lost + result.fewest.gained == min(moved)
    for mark in near:
        assert ((scores >= mark) != passed)[result.not_kept].all()
