"""Pairs within strata: by hand, what a cluster is worth, and what may not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_judgesense.questions.compare.within_strata import (
    ByStratum,
    Strata,
    by_stratum,
    drawn,
    pairs_within,
)
from pytest_judgesense.stats.betting import FEWEST
from pytest_judgesense.trial import Judgment, Trial, Verdict


def judgment(item: str, cluster: str, kind: str | None) -> Judgment:
    condition = {} if kind is None else {"kind": kind}
    trial = Trial(f"s/{item}/t1/ab/r1", "s", item, cluster, "t1", condition=condition)
    return Judgment(trial, "judge", Verdict("YES"))


def kind_of(judgment: Judgment) -> str | None:
    kind = judgment.trial.condition.get("kind")
    return None if kind is None else str(kind)


def test_a_cluster_has_a_mean_in_each_of_its_strata() -> None:
    """Item a twice, (1 + 0) / 2, beside b with 1: (.5 + 1) / 2; a stratum that is not known: none.

    What has no stratum is a cluster all the same: it is counted as one that says nothing.
    """
    scored = [
        (judgment("a", "c", "easy"), 1.0),
        (judgment("a", "c", "easy"), 0.0),
        (judgment("b", "c", "easy"), 1.0),
        (judgment("d", "c", "hard"), 0.0),
        (judgment("e", "c", None), 0.0),
        (judgment("f", "other", None), 1.0),
    ]
    of_clusters = by_stratum(scored, kind_of, "then")
    assert of_clusters == {"cluster c": {"easy": 0.75, "hard": 0.0}, "cluster other": {}}


def test_an_output_that_is_a_cluster_by_itself_is_another_one_in_each_session() -> None:
    """Rows are numbered from 0 on every day: number 3 of two days has nothing in common."""
    names = [
        [*by_stratum([(judgment("3", "3", "easy"), 1.0)], kind_of, d)] for d in ("then", "now")
    ]
    assert names == [["then 3"], ["now 3"]]


def test_pairs_are_as_many_as_the_session_with_fewer_has_in_a_stratum() -> None:
    """Easy: four then, two now; each pair has two of then. Hard: one and three. Then alone: odd."""
    then = {f"t{n}": {"easy": 1.0} for n in range(4)} | {"t4": {"hard": 0.5}, "t5": {"odd": 0.0}}
    now = {f"n{n}": {"easy": 0.0} for n in range(2)} | {f"n{n}": {"hard": 0.2} for n in (2, 3, 4)}
    pairs = pairs_within(then, now, 0)
    both = sorted(zip(pairs.then, pairs.now, strict=True))
    assert both == [(0.5, pytest.approx(0.2)), (1.0, 0.0), (1.0, 0.0)]
    assert (pairs.strata, pairs.clusters, pairs.alone) == (2, (6, 5), (1, 0))


def test_a_cluster_of_both_sessions_is_held_against_itself_in_what_it_shares() -> None:
    """Thread x has easy and hard ones then, hard and odd ones now: hard alone is compared.

    Thread y has no stratum in common: it is held against others of its own strata, z.
    """
    then = {"x": {"easy": 0.9, "hard": 0.4}, "y": {"easy": 1.0}}
    now = {"x": {"hard": 0.1, "odd": 0.0}, "y": {"hard": 0.3}, "z": {"easy": 0.5}}
    pairs = pairs_within(then, now, 0)
    both = sorted(zip(pairs.then, pairs.now, strict=True))
    assert both == [(0.4, 0.1), (1.0, 0.5)]
    assert pairs.alone == (0, 1)


def test_a_cluster_of_several_strata_counts_each_alike_and_meets_its_equals() -> None:
    then = {"a": {"easy": 1.0, "hard": 0.0}, "b": {"easy, hard": 1.0}}
    now = {"c": {"hard": 0.5, "easy": 0.5}, "d": {"easy": 0.0}}
    pairs = pairs_within(then, now, 0)
    assert (pairs.then, pairs.now) == ([0.5], [0.5])
    # Neither a name that looks like two strata nor a part of them is the same.
    assert pairs.alone == (1, 1)


def test_how_many_pairs_are_needed() -> None:
    assert Strata("kind", kind_of).needed((200, 100)) == FEWEST
    assert Strata("question", kind_of, 0.5).needed((200, 101)) == 51
    assert Strata("question", kind_of, 0.5).needed((20, 20)) == FEWEST


clusters = st.dictionaries(
    st.sampled_from("abcdefghij"),
    st.dictionaries(st.sampled_from(["easy", "hard", "odd"]), st.integers(0, 4).map(float)),
)


@given(clusters, clusters, st.integers(0, 9))
def test_what_may_not_matter(then: ByStratum, now: ByStratum, seed: int) -> None:
    """Neither the order of a log nor scores move who is compared with whom; nobody is twice."""
    pairs = pairs_within(then, now, seed)
    backwards = [dict(reversed(list(side.items()))) for side in (then, now)]
    assert pairs_within(backwards[0], backwards[1], seed) == pairs
    others = {name: dict.fromkeys(of, 0.0) for name, of in then.items()}
    assert pairs_within(others, now, seed).now == pairs.now
    assert len(pairs.then) == len(pairs.now) <= min(len(then), len(now))
    for alone, count in zip(pairs.alone, pairs.clusters, strict=True):
        assert len(pairs.then) <= count - alone


@settings(max_examples=50)
@given(clusters, clusters, st.data())
def test_a_better_output_makes_no_pair_worse(
    then: ByStratum, now: ByStratum, data: st.DataObject
) -> None:
    places = [(name, stratum) for name, of in now.items() for stratum in of]
    if not places:
        return
    name, stratum = data.draw(st.sampled_from(places))
    better = now | {name: now[name] | {stratum: now[name][stratum] + 1}}
    first, second = pairs_within(then, now, 0), pairs_within(then, better, 0)
    assert second.then == first.then
    assert all(b >= a for a, b in zip(first.now, second.now, strict=True))


def test_the_mix_alone_changes_no_mean_within_strata() -> None:
    """Passes of .95 and .5, easy ones .8 then and .3 now: all lose .225, pairs nothing.

    Of 300 sessions with about 100 pairs each, the mean change has a standard error below .006:
    sqrt(2 * .25 / 30,000) = .0041.
    """
    rng = np.random.default_rng(3)

    def session(easy: float, name: str) -> dict[str, dict[str, float]]:
        hard = rng.random(200) >= easy
        passes = rng.random(200) < np.where(hard, 0.5, 0.95)
        kinds = zip(hard, passes, strict=True)
        return {
            f"{name}{n}": {"hard" if is_hard else "easy": float(is_passing)}
            for n, (is_hard, is_passing) in enumerate(kinds)
        }

    changes: list[float] = []
    for seed in range(300):
        pairs = pairs_within(session(0.8, "t"), session(0.3, "n"), seed)
        changes += np.subtract(pairs.now, pairs.then).tolist()
    assert abs(np.mean(changes)) < 4 * 0.0041
    assert 90 * 300 < len(changes) < 110 * 300


def test_the_order_is_that_of_the_seed_and_of_the_names() -> None:
    names = {f"c{n}": n for n in range(30)}
    assert drawn(names, 1) == drawn(dict(reversed(list(names.items()))), 1)
    assert sorted(drawn(names, 1)) == list(range(30))
    assert drawn(names, 1) != drawn(names, 2)
