from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_judgesense.stats.comparison import (
    ClusteredShare,
    folded_difference,
    holm,
    paired_difference,
)
from pytest_judgesense.stats.losses import (
    PlannedComparison,
    PlannedGate,
    correlation_kept,
    correlation_of_slots,
)

LABELS = PlannedGate((1,) * 30, 30, 1, 3, pairs=False, bias=None, agreement=0.15, repeats=0.15)


def test_an_unchanged_judge_fails_as_often_as_its_test_rejects() -> None:
    # 1,000 clusters of a unit, p = 1/2: half of them change, more than 400, so the test is that of
    # the score, and the sign of a sum of 500 coins is beyond z(0.975) = 1.96 in 2.5% but for the
    # lumps of a coin. The margin of 0.005 is never shown to be kept: a bound is 1.645 * 0.022 wide.
    planned = PlannedComparison(0.5, 0.0, (1,) * 1000, 0.005, tests=2)
    # 2,048 sessions: three standard errors are 0.0104.
    assert planned.chance(0) == pytest.approx(0.025, abs=0.0104)
    # A margin of 0.2 is 9 standard errors away: whatever is lost by chance is no matter.
    assert PlannedComparison(0.5, 0.0, (1,) * 1000, 0.2).chance(0) == 0


def test_where_all_is_lost_it_is_found() -> None:
    # 12 clusters that were right throughout are wrong: p is 2^-12, and the bound lies below -0.5.
    for whole in (False, True):
        assert PlannedComparison(1.0, 0.0, (3,) * 12, 0.1, tests=3).chance(1.0, whole=whole) == 1
    # Three clusters never reject: 2^-3 is above 0.05.
    assert PlannedComparison(1.0, 0.0, (3,) * 3, 0.1).chance(1.0) == 0


def test_a_loss_within_the_margin_is_found_less_on_more_items() -> None:
    """A loss of 0.1 is no matter where the margin is 0.15: enough items say "unchanged"."""
    chances = [
        PlannedComparison(0.8, 0.3, (6,) * clusters, 0.15).chance(0.1)
        for clusters in (60, 120, 1000)
    ]
    assert chances[0] > chances[1] > chances[2]
    assert chances[2] < 0.01


# Of each plan one kind of loss stays in the gate: of clusters of one size, of unequal ones.
@pytest.mark.parametrize(
    ("sizes", "loss", "each", "whole"),
    [
        ((3,) * 20, 0.2, None, False),
        ((1,) * 40, 0.2, None, True),
        ((3,) * 30, 0.1, 1.0, True),
        ((2, 9, 4) * 9, 0.1, 2, False),
        pytest.param((3,) * 20, 0.2, None, True, marks=pytest.mark.long),
        pytest.param((1,) * 40, 0.2, None, False, marks=pytest.mark.long),
        pytest.param((3,) * 30, 0.1, 1.0, False, marks=pytest.mark.long),
        pytest.param((2, 9, 4) * 9, 0.1, 2, True, marks=pytest.mark.long),
    ],
)
def test_chances_are_those_of_simulated_comparisons(
    sizes: tuple[int, ...], loss: float, each: float | None, *, whole: bool
) -> None:
    """Beta-binomial judges of share 0.8 and correlation 0.3, compared as sessions are."""
    rng, sessions, share, margin = np.random.default_rng(0), 400, 0.8, 0.1
    codes = np.repeat(np.arange(len(sizes)), sizes)
    weight = 1 / 0.3 - 1
    regressed = 0
    for _ in range(sessions):
        then = rng.beta(share * weight, (1 - share) * weight, len(sizes))
        left = rng.random(len(sizes)) >= loss / share if whole else 1 - loss / share
        before, after = (rng.random(codes.size) < p[codes] for p in (then, then * left))
        difference = paired_difference(after.astype(float) - before, codes, each)
        assert difference is not None
        unchanged = difference.lower(0.05) > -margin
        regressed += not unchanged and 2 * difference.p_worse <= 0.05
    planned = PlannedComparison(share, 0.3, sizes, margin, tests=2, each=each)
    # Three standard errors of a share of 400 are at most 0.075.
    assert planned.chance(loss, whole=whole) == pytest.approx(regressed / sessions, abs=0.075)


@pytest.mark.parametrize(
    ("bias", "loss", "whole"),
    [
        pytest.param(0.0, 0.2, True, marks=pytest.mark.long),
        (0.1, 0.15, False),
        pytest.param(0.0, 0.2, False, marks=pytest.mark.long),
        pytest.param(0.1, 0.15, True, marks=pytest.mark.long),
    ],
)
def test_chances_of_a_side_bias_are_those_of_simulated_comparisons(
    bias: float, loss: float, *, whole: bool
) -> None:
    """Pairs in both orders, three times, of a judge that names the better content in 0.8."""
    rng, sessions, pairs = np.random.default_rng(1), 400, 40
    good_first = np.arange(6) % 2 == 0
    weight, taken, more = 1 / 0.3 - 1, 2 * bias, loss / (0.5 - bias)
    worse = 0
    for _ in range(sessions):
        right = rng.beta(0.8 * weight, 0.2 * weight, pairs)[:, None]
        before, after = (
            (rng.random((pairs, 6)) < taken) | (good_first == (rng.random((pairs, 6)) < right))
            for _ in range(2)
        )
        after |= rng.random((pairs, 1) if whole else (pairs, 6)) < more
        old, new = (
            ClusteredShare(named.sum(axis=1).astype(float), np.full(pairs, 6.0))
            for named in (before, after)
        )
        difference = folded_difference(old, new, each=2)
        assert difference is not None
        worse += difference.lower(0.05) <= -0.1 and 3 * difference.p_worse <= 0.05
    staying = correlation_of_slots(0.8, 0.3, bias)
    planned = PlannedComparison(
        0.5 - bias, staying, (6,) * pairs, 0.1, tests=3, each=2, folded=True
    )
    assert planned.chance(loss, whole=whole) == pytest.approx(worse / sessions, abs=0.075)


def test_slots_stay_as_contents_do() -> None:
    # A pair is named right in 0.8 and wrong in 0.2, the same every time: of either order the slot
    # stays, so what a call varies by when asked again is 0, and all is kept.
    assert correlation_of_slots(0.8, 1.0) == 1
    # Coins: 0.25 of 0.25.
    assert correlation_of_slots(0.5, 0.0) == 0
    # 0.8 by chance in each call: 0.16 of 0.25.
    assert correlation_of_slots(0.8, 0.0) == pytest.approx(1 - 0.16 / 0.25)


@pytest.mark.parametrize("whole", [False, True])
def test_a_gate_decides_its_measures_as_one_family(*, whole: bool) -> None:
    """Thirty labels, three calls each: agreement and repeats, by Holm over both."""
    rng, sessions, weight, loss = np.random.default_rng(2), 400, 1 / 0.3 - 1, 0.2
    worse = {"agreement": 0, "repeats": 0}
    for _ in range(sessions):
        then = rng.beta(0.8 * weight, 0.2 * weight, 30)
        now = np.where(rng.random(30) < loss / 0.8, 0, then) if whole else then * (1 - loss / 0.8)
        before, after = (rng.random((30, 3)) < p[:, None] for p in (then, now))
        flipped, flips = (calls.any(axis=1) & ~calls.all(axis=1) for calls in (before, after))
        of_calls = (after.astype(float) - before).ravel()
        agreement = paired_difference(of_calls, np.repeat(np.arange(30), 3), 1)
        repeats = paired_difference(flipped.astype(float) - flips, np.arange(30))
        assert agreement is not None
        assert repeats is not None
        both = {"agreement": agreement, "repeats": repeats}
        adjusted = holm([difference.p_worse for difference in both.values()])
        for (name, difference), of_loss in zip(both.items(), adjusted, strict=True):
            worse[name] += of_loss.p <= 0.05 and difference.lower(0.05) <= -0.15
    found = LABELS.wrong(loss, whole=whole)
    assert found.bias is None
    assert found.agreement == pytest.approx(worse["agreement"] / sessions, abs=0.075)
    assert found.repeats == pytest.approx(worse["repeats"] / sessions, abs=0.075)


@pytest.mark.parametrize(
    ("pairs", "whole"),
    [
        (True, False),
        (False, True),
        pytest.param(True, True, marks=pytest.mark.long),
        pytest.param(False, False, marks=pytest.mark.long),
    ],
)
def test_a_gate_finds_more_of_a_greater_loss_and_on_more_items(*, pairs: bool, whole: bool) -> None:
    def found(items: int, loss: float) -> list[float]:
        bias = 0.1 if pairs else None
        gate = PlannedGate((1,) * items, items, 1, 3, pairs, bias, agreement=0.15, repeats=0.15)
        shares = [gate.wrong(loss, whole=whole).agreement]
        if pairs:
            shares.append(gate.first_slot(loss, whole=whole).bias)
        return [share for share in shares if share is not None]

    for loss in (0.2, 0.3):  # beyond both margins
        by_items = np.array([found(items, loss) for items in (12, 20, 30, 45, 70)])
        assert by_items.shape == (5, 1 + pairs)
        # Half a point is lost in printing.
        assert (np.diff(by_items, axis=0) >= -0.005).all(), by_items
    by_loss = np.array([found(20, loss) for loss in (0.05, 0.1, 0.15, 0.2, 0.3, 0.4)])
    assert (np.diff(by_loss, axis=0) >= -0.005).all(), by_loss


def test_what_has_too_few_clusters_is_compared_by_nobody() -> None:
    gate = PlannedGate((1,) * 30, 1, 1, 3, pairs=False, bias=None, agreement=0.15, repeats=0.15)
    assert gate.wrong(0.2).agreement is None
    assert PlannedGate((5,), 5, 1, 3, False, None, 0.15, 0.15).wrong(0.2) == (None, None, None)


def test_clusters_of_items_are_lost_together() -> None:
    """Sixty items in twelve clusters tell less than sixty alone, and all of them lose in one."""
    alone, together = (
        PlannedGate(of, 60, 1, 3, pairs=False, bias=None, agreement=0.15, repeats=0.15)
        for of in ((1,) * 60, (5,) * 12)
    )
    for whole in (False, True):
        shares = [gate.wrong(0.2, whole=whole).agreement for gate in (together, alone)]
        assert shares == sorted(shares, key=lambda share: share or 0)
    assert (together.wrong(0.2, whole=True).agreement or 0) < 0.5


def test_the_smallest_loss_is_found_in_four_of_five() -> None:
    planned = PlannedComparison(0.8, 0.3, (6,) * 60, 0.15, tests=3)
    for whole in (False, True):
        smallest = planned.smallest_loss(whole=whole)
        assert smallest is not None
        # Ten steps of bisection leave 0.8 / 1024.
        step = 0.8 / 1024 * 1.01
        assert planned.chance(smallest, whole=whole) >= 0.8
        assert planned.chance(smallest - step, whole=whole) < 0.8
    # A tenth of a share is all that there is to lose, and no test of 20 units finds it.
    assert PlannedComparison(0.1, 0.0, (1,) * 20, 0.05).smallest_loss() is None


@settings(deadline=None, max_examples=8)
@given(
    st.floats(0.05, 1),
    st.floats(0, 1),
    st.lists(st.integers(1, 9), min_size=2, max_size=60),
    st.floats(0.01, 0.5),
    st.booleans(),
    st.booleans(),
)
def test_a_greater_loss_is_found_more_often(
    share: float,
    correlation: float,
    sizes: list[int],
    margin: float,
    whole: bool,
    folded: bool,
) -> None:
    share = share / 2 if folded else share
    of = share, correlation, tuple(sizes), margin
    planned = PlannedComparison(*of, tests=3, folded=folded)
    parts = (0.0, 0.25, 0.5, 0.75, 1.0)
    chances = [planned.chance(part * share, whole=whole) for part in parts]
    assert all(0 <= chance <= 1 for chance in chances)
    # The level of one of three, and three standard errors of the fewest sessions here (2,048).
    assert chances[0] <= 0.05 / 3 + 3 * math.sqrt(0.0164 / 2048)
    # A side that is mirrored by chance may be any of two; a share is monotone session by session.
    assert (np.diff(chances) >= (-0.005 if folded else 0)).all(), chances
    # What is not unchanged is regressed or open.
    confident = PlannedComparison(*of, tests=3, folded=folded, confident=True)
    assert confident.chance(share / 2, whole=whole) >= chances[2]


def test_what_stays_is_what_replicates_share() -> None:
    # Two clusters of a unit, three times each: 1, 1, 1 and 1, 0, 0. The second is 1/3, its squares
    # 4/9 + 1/9 + 1/9 = 2/3, times 3/2 of 6 units: 1/6. The share is 4/6 and s (1 - s) is 2/9.
    totals = [[1, 1, 1], [1, 0, 0]]
    assert correlation_kept(totals, np.ones((2, 3))) == pytest.approx(1 - (1 / 6) / (2 / 9))
    assert correlation_kept([[1, 1], [0, 0]], np.ones((2, 2))) == 1
    # Replicates that are opposites in every cluster: nothing stays.
    assert correlation_kept([[1, 0], [0, 1]], np.ones((2, 2))) == 0
