"""The shipped labels against a logistic regression on three features that no reader needs.

`lint` tries one scorer at a time; here three weigh together: stems taken up from the request, the
number of words, and stems shared by neighbouring sentences. What is decided are pairs, as in
`suites.shortcuts`: the two candidates of an item, or two items with different labels. Five folds of
whole clusters, in orders that are drawn; a pair counts in the fold that holds all of it. Without an
intercept and with every pair in both directions no share but one half comes of position alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.shortcuts import SCORERS, _beside, _judged, _shown, solved
from pytest_judgesense.suites.suite import Suite
from tests.suites.known import builtin_suites, load_suite

FEATURES = ("overlap with the request", "length", "shared stems")
MOST = 0.75
FOLDS, ORDERS = 5, 5


class Pair(NamedTuple):
    """The features of one side less those of the other, which side is right, and whose it is."""

    features: NDArray[np.float64]
    sign: int
    clusters: tuple[str, ...]


def features(text: str, beside: str) -> NDArray[np.float64]:
    return np.array([SCORERS[name](text, beside) for name in FEATURES])


def pairs_of(suite: Suite) -> list[Pair]:
    if suite.space.pairwise:
        fields = sorted(_shown(suite) & {*suite.items[0].fields})
        return [
            Pair(one - other, 1 if item.label == "1" else -1, (item.cluster,))
            for item in suite.items
            if item.label in ("1", "2")
            for one, other in ([features(text, _beside(item, fields)) for text in item.contents],)
        ]
    text, *fields = _judged(suite)
    labels = suite.space.labels
    rated: list[tuple[NDArray[np.float64], int, Item]] = [
        (features(item.fields[text], _beside(item, fields)), labels.index(item.label), item)
        for item in suite.items
        if item.label in labels
    ]
    return [
        Pair(a - b, 1 if high > low else -1, (one.cluster, other.cluster))
        for (a, high, one), (b, low, other) in combinations(rated, 2)
        if high != low
    ]


def decided_rightly(pairs: Sequence[Pair], seed: int) -> float:
    """The share that a regression decides rightly of pairs that it has not been fitted on."""
    clusters = sorted({name for pair in pairs for name in pair.clusters})
    np.random.default_rng(seed).shuffle(clusters)
    folds = {name: at % FOLDS for at, name in enumerate(clusters)}
    right: list[bool] = []
    for fold in range(FOLDS):
        inside = [{folds[name] == fold for name in pair.clusters} for pair in pairs]
        fitted = [pair for pair, there in zip(pairs, inside, strict=True) if there == {False}]
        tried = [pair for pair, there in zip(pairs, inside, strict=True) if there == {True}]
        if not tried:
            continue
        rows = np.array([pair.features for pair in fitted])
        scale = rows.std(axis=0) + 1e-9
        signs = np.array([pair.sign for pair in fitted])
        model = LogisticRegression(fit_intercept=False)
        model.fit(np.vstack([rows, -rows]) / scale, np.concatenate([signs, -signs]))
        found = model.predict(np.array([pair.features for pair in tried]) / scale)
        right += [bool(sign == pair.sign) for sign, pair in zip(found, tried, strict=True)]
    return float(np.mean(right))


@pytest.mark.parametrize(
    "name",
    [
        # Suites of long records take as long as all others together.
        pytest.param(name, marks=pytest.mark.long if "\nlengths =" in path.read_text() else ())
        for name, path in sorted(builtin_suites().items())
    ],
)
def test_three_features_together_do_not_find_the_labels(name: str) -> None:
    suite = load_suite(builtin_suites()[name])
    if not solved(suite):
        pytest.skip(f"no label of {name} is decided by a reader")
    pairs = pairs_of(suite)
    shares = [decided_rightly(pairs, seed) for seed in range(ORDERS)]
    assert np.mean(shares) <= MOST, shares


def test_what_two_features_tell_together_is_found() -> None:
    # Right is whichever side is further ahead in words than in stems of the request: normal and
    # independent, each of the two alone decides 3/4, for the angle between them is 45 degrees.
    draw = np.random.default_rng(0)
    rows = draw.normal(size=(60, 3))
    planted = [
        Pair(row, 1 if row[1] - row[0] > 0 else -1, (f"c{at}",)) for at, row in enumerate(rows)
    ]
    assert np.mean([decided_rightly(planted, seed) for seed in range(ORDERS)]) > 0.9
