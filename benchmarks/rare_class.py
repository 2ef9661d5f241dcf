"""Is an unchanged judge called better or worse where one label is rare, and is half of it missed?

    python benchmarks/rare_class.py [--quick]

A judge labels 150 items, three calls each, then and now; the class has 8, 12 or 40 of them. Both
measurements are compared as the plugin does it: recall (by label), informedness, agreement with the
label and repeats that differ, each alone and as one family; and kappa and class bias against
people.

1. Nothing has changed. Six processes, each exchangeable within clusters:

   * ``noise``: each call is right by its class (.9 of the rare one, .97 of the rest), and differs
     from that by chance in the share that is given;
   * ``redrawn``: the verdict on an item is drawn once a session, with the same share, and all calls
     repeat it;
   * ``clusters``: items in fives share their chance of being judged rightly (correlation .5), and a
     tenth of the clusters are answered as a whole otherwise, anew in each session;
   * ``wrong labels``: as ``noise``, and a tenth of the labels of the rest are those of the class;
   * ``both rare``: two classes of so many items each, and no others;
   * ``three``: three labels, of which the second has twice as many items as the rarest.

   Bars: by each measure, and by the family, p-values of "no gain" and of "no loss" are at or below
   .05 in at most 5% each and 3 standard errors of so many sessions; kappa and class bias are looked
   at in a quarter of them.
2. Half of the class is lost: of the items of the class that the judge called so half are called
   otherwise in every call. Sessions are measured and compared from judgments. Bars: what
   `stats.lost_class.chance_of_half_lost` says is within .1 of what recall of the class or
   informedness finds in the family, beyond 3 standard errors; a perfect judge of 12 items in 150 is
   found in all sessions; 40 items, sensitivity .9 and specificity .97, in at least 80%.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import Bar, Bars, Ratios, print_table, run_parts
from pytest_judgesense.checks.regression import ALPHA, Side, adjust, compare
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.agreement import kappa_reach
from pytest_judgesense.stats.comparison import (
    ClusteredShare,
    Difference,
    folded_difference,
    jackknife_difference,
    paired_difference,
)
from pytest_judgesense.stats.joint_tests import SwapTest, adjusted
from pytest_judgesense.stats.lost_class import chance_of_half_lost
from pytest_judgesense.trial import LABEL, Design, Judgment, Trial, Verdict

SESSIONS, QUICK_SESSIONS = 1000, 10
LOSSES, QUICK_LOSSES = 100, 10
SIZES, QUICK_SIZES = (8, 12, 40), (12,)
OTHERS: Final = 4  # measures that are no means, in every so many sessions
ITEMS: Final = 150
CALLS: Final = 3
MARGIN: Final = 0.15
FAMILY: Final = ("recall", "informedness", "agreement", "repeat_flip_rate")
WORDS: Final = ("improved", "regressed")
LABELS: Final = ("yes", "no", "maybe")

Draw: TypeAlias = np.random.Generator
Codes: TypeAlias = NDArray[np.int64]


class Items(NamedTuple):
    """Items of a suite.

    Attributes:
        truth: the label of each that the judge goes by, as its place among `LABELS`.
        labels: the label that people gave it.
        clusters: of each.
    """

    truth: Codes
    labels: Codes
    clusters: Codes

    @classmethod
    def of(cls, *sizes: int) -> Items:
        """So many items of each label, each a cluster."""
        truth = np.repeat(np.arange(len(sizes)), sizes)
        return cls(truth, truth, np.arange(truth.size))

    @property
    def classes(self) -> int:
        return int(self.labels.max()) + 1


class Judge(NamedTuple):
    """How a judge answers.

    Attributes:
        right: the share of the rarest label that it knows, and of the others.
        noise: the share of calls, or of items in a session, that are answered otherwise.
        redrawn: whether all calls on an item repeat what was drawn for the session.
        together: whether items of a cluster are known together, and answered otherwise together.
    """

    right: tuple[float, float] = (0.9, 0.97)
    noise: float = 0.1
    redrawn: bool = False
    together: bool = False

    def known(self, items: Items, rng: Draw) -> Codes:
        """What it says of each item as a rule, in every session."""
        chance = np.where(items.truth == 0, *self.right)
        if self.together:
            shift = rng.choice([-0.3, 0.0], items.clusters.max() + 1, p=[0.3, 0.7])
            chance = np.clip(chance + shift[items.clusters], 0.0, 1.0)
        return self._other(items, items.truth, rng.random(items.truth.size) >= chance, rng)

    def session(self, items: Items, known: Codes, rng: Draw) -> Codes:
        """The answers of a session, shape (items, calls)."""
        size = (items.truth.size, 1 if self.redrawn else CALLS)
        otherwise = rng.random(size) < self.noise
        if self.together:
            otherwise |= (rng.random(items.clusters.max() + 1) < 0.1)[items.clusters, None]
        answers = self._other(items, np.broadcast_to(known[:, None], size), otherwise, rng)
        return np.broadcast_to(answers, (size[0], CALLS)) if self.redrawn else answers

    @staticmethod
    def _other(items: Items, answers: Codes, otherwise: NDArray[np.bool_], rng: Draw) -> Codes:
        moved = rng.integers(1, items.classes, answers.shape) if items.classes > 2 else 1
        return np.where(otherwise, (answers + moved) % items.classes, answers)


def mislabelled(items: Items, rng: Draw) -> Items:
    """The same with a tenth of the labels of the rest taken for the rare one."""
    wrong = (items.truth > 0) & (rng.random(items.truth.size) < 0.1)
    return items._replace(labels=np.where(wrong, 0, items.labels))


def in_fives(items: Items, rng: Draw) -> Items:
    """The same in clusters of five items of any label."""
    return items._replace(clusters=rng.permutation(items.truth.size) // 5)


class Process(NamedTuple):
    """A judge that does not change, and items of which so many are of a rare class."""

    name: str
    judge: Judge
    sizes: Callable[[int, int], tuple[int, ...]]
    change: Callable[[Items, Draw], Items] = lambda items, _: items


def _rest(size: int, items: int) -> tuple[int, ...]:
    return size, items - size


PROCESSES: Final = (
    Process("noise .05", Judge(noise=0.05), _rest),
    Process("noise .1", Judge(), _rest),
    Process("noise .3", Judge(noise=0.3), _rest),
    Process("redrawn .1", Judge(redrawn=True), _rest),
    Process("redrawn .3", Judge(noise=0.3, redrawn=True), _rest),
    Process("clusters", Judge(together=True), _rest, in_fives),
    Process("wrong labels", Judge(), _rest, mislabelled),
    Process("both rare", Judge(), lambda size, _: (size, size)),
    Process("both rare, redrawn", Judge(noise=0.3, redrawn=True), lambda size, _: (size, size)),
    Process("three", Judge(), lambda size, items: (size, items - 3 * size, 2 * size)),
)


def side(items: Items, answers: Codes, names: Sequence[str] = FAMILY) -> Side:
    """What was measured in a session, from its judgments."""
    labels = LABELS[: items.classes]
    judgments = tuple(
        Judgment(
            Trial(
                f"s/i{item}/t1/ab/r{call}",
                "s",
                f"i{item}",
                f"c{items.clusters[item]:03}",
                "t1",
                replicate=call,
                label=labels[items.labels[item]],
                people={LABEL: {"label": labels[items.labels[item]]}},
            ),
            "judge",
            Verdict(labels[code]),
        )
        for item, codes in enumerate(answers)
        for call, code in enumerate(codes.tolist(), start=1)
    )
    measures = tuple(m for m in BUILT_IN.measures_on("paraphrase") if m.name in names)
    return Side.of(Cell("judge", "s", Design("paraphrase", labels), judgments, 0, measures))


def differences_of(items: Items, then: Codes, now: Codes) -> dict[str, tuple[Difference, ...]]:
    """Of each measure the differences that are tested, one a label where it is compared by label.

    From arrays, as `checks.regression` finds them from judgments, and in a hundredth of the time.
    """
    right_then, right_now = (answers == items.labels[:, None] for answers in (then, now))
    change = (right_now.astype(float) - right_then).ravel()
    clusters, kind = (np.repeat(of_items, CALLS) for of_items in (items.clusters, items.labels))
    sizes = np.bincount(kind)
    flips = ((answers != answers[:, :1]).any(axis=1).astype(float) for answers in (now, then))
    return {
        "recall": tuple(
            paired(change[kind == code], clusters[kind == code]) for code in range(sizes.size)
        ),
        "informedness": (paired(change, clusters, kind.size / (sizes.size * sizes[kind])),),
        "agreement": (paired(change, clusters),),
        "repeat_flip_rate": (paired(-np.subtract(*flips), items.clusters),),
    }


def other_differences(items: Items, then: Codes, now: Codes) -> dict[str, tuple[Difference, ...]]:
    """The same of measures that are no means."""
    before, after = (by_cluster(items, answers) for answers in (then, now))
    return {
        "people_kappa": (kappa_change(before, after),),
        "class_bias": tuple(
            folded(given_too_often(before, code), given_too_often(after, code))
            for code in range(items.classes)
        ),
    }


def paired(
    change: NDArray[np.float64], clusters: Codes, weights: NDArray[np.float64] | None = None
) -> Difference:
    difference = paired_difference(change, clusters, weights=weights)
    assert difference is not None, "there are clusters enough"
    return difference


def by_cluster(items: Items, answers: Codes) -> NDArray[np.float64]:
    """How often each answer was given to items of each label, shape (clusters, answers, labels)."""
    counts = np.zeros((int(items.clusters.max()) + 1, items.classes, items.classes))
    labels = np.repeat(items.labels, CALLS)
    np.add.at(counts, (np.repeat(items.clusters, CALLS), answers.ravel(), labels), 1)
    return counts


def kappa(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cohen's, of tables of answers and labels, shape (..., labels, labels)."""
    n = counts.sum(axis=(-1, -2))
    chance = (counts.sum(axis=-1) * counts.sum(axis=-2)).sum(axis=-1) / n**2
    return np.asarray((np.trace(counts, axis1=-2, axis2=-1) / n - chance) / (1 - chance))


def kappa_change(before: NDArray[np.float64], after: NDArray[np.float64]) -> Difference:
    then, now = before.sum(axis=0), after.sum(axis=0)
    value = float(kappa(now) - kappa(then))
    left_out = kappa(now - after) - kappa(then - before)
    swapped = kappa(now - after + before) - kappa(then - before + after)
    changed = (before != after).any(axis=(1, 2)).tolist()
    reach = max(kappa_reach(table.astype(np.int64)) for table in (then, now))
    difference = jackknife_difference(value, left_out.tolist(), changed, reach, swapped.tolist())
    assert difference is not None, "kappa is defined without any cluster"
    return difference


def given_too_often(counts: NDArray[np.float64], code: int) -> ClusteredShare:
    """Half of how much oftener a label is given than by people, above one half."""
    sizes = counts.sum(axis=(1, 2))
    beyond = counts[:, code].sum(axis=-1) - counts[:, :, code].sum(axis=-1)
    return ClusteredShare((sizes + beyond) / 2, sizes)


def folded(then: ClusteredShare, now: ClusteredShare) -> Difference:
    difference = folded_difference(then, now)
    assert difference is not None, "there are clusters enough"
    return difference


def swap_test(difference: Difference, sign: int) -> SwapTest:
    p = difference.p_worse if sign > 0 else difference.p_better
    if difference.swaps is None:
        return SwapTest(p, "s")
    totals = {str(name): sign * total for name, total in difference.swaps.totals.items()}
    return SwapTest(p, "s", totals, difference.swaps.alone)


def called(differences: Mapping[str, Sequence[Difference]]) -> set[tuple[str, str]]:
    """By which measures alone, and by the family, a session is called better or worse."""
    words = set()
    for word, sign in zip(WORDS, (-1, 1), strict=True):
        tests = {name: [swap_test(d, sign) for d in of] for name, of in differences.items()}
        for name, of_measure in tests.items():
            for code, test in enumerate(of_measure):
                if len(of_measure) > 1 and test.p <= ALPHA:
                    words.add((f"{name} of {LABELS[code]}", word))
            if rejects(of_measure):
                words.add((name, word))
        if len(tests) == len(FAMILY) and rejects([*chain(*tests.values())]):
            words.add(("family", word))
    return words


def rejects(family: Sequence[SwapTest]) -> bool:
    return min(of_test.p for of_test in adjusted(family, ALPHA)) <= ALPHA


def shares_called(
    process: Process, size: int, sessions: int, rng: Draw
) -> dict[tuple[str, str], float]:
    """In how many sessions an unchanged judge is called better or worse, by measure."""
    counts: Counter[tuple[str, str]] = Counter()
    by_all = sessions // OTHERS
    for number in range(sessions):
        items = process.change(Items.of(*process.sizes(size, ITEMS)), rng)
        known = process.judge.known(items, rng)
        then, now = (process.judge.session(items, known, rng) for _ in range(2))
        counts.update(called(differences_of(items, then, now)))
        if number < by_all:
            others = called(other_differences(items, then, now))
            counts.update(dict.fromkeys(others, OTHERS))
    return {key: count / sessions for key, count in counts.items()}


def unchanged(*, quick: bool) -> tuple[Ratios, Bars]:
    """Part 1."""
    sessions, sizes = (QUICK_SESSIONS, QUICK_SIZES) if quick else (SESSIONS, SIZES)
    rows, most, by_few = [], 0.0, 0.0
    for number, (process, size) in enumerate(product(PROCESSES, sizes)):
        shares = shares_called(process, size, sessions, np.random.default_rng([7, number]))
        of_means = [share for (name, _), share in shares.items() if not is_other(name)]
        most, by_few = max([most, *of_means]), max([by_few, *shares.values()])
        names = dict.fromkeys(name for name, _ in sorted(shares))
        cells = (
            f"{name} {100 * shares.get((name, 'improved'), 0):.1f}, "
            f"{100 * shares.get((name, 'regressed'), 0):.1f}"
            for name in names
        )
        rows.append((process.name, str(size), "; ".join(cells)))
    error = math.sqrt(ALPHA * (1 - ALPHA) / sessions)
    print(f"1. nothing has changed, {sessions} sessions a line; better and worse, in %")
    print_table(("process", "of the class", "called better, worse"), rows)
    name = "an unchanged judge is called better, or worse"
    others = f"{name}, by any measure"
    bars = {
        name: Bar("at most", ALPHA + 3 * error),
        others: Bar("at most", ALPHA + 3 * math.sqrt(OTHERS) * error),
    }
    return {name: most, others: by_few}, bars


def is_other(name: str) -> bool:
    return name.startswith(("people_kappa", "class_bias"))


class Lost(NamedTuple):
    """A judge of which half of a class is lost, and in how much of sessions that must be found."""

    size: int
    right: tuple[float, float] = (0.9, 0.97)
    noise: float = 0.0
    at_least: float = 0.0


LOST: Final = (
    Lost(12, (1.0, 1.0), at_least=1.0),
    Lost(12, (1.0, 1.0), 0.02),
    Lost(12, noise=0.02),
    Lost(8),
    Lost(20),
    Lost(20, noise=0.1),
    Lost(40, noise=0.02, at_least=0.8),
)
QUICK_LOST: Final = LOST[:1]


def is_found(lost: Lost, rng: Draw) -> bool:
    """Whether a session is called worse by recall or by informedness."""
    items, judge = Items.of(lost.size, ITEMS - lost.size), Judge(lost.right, lost.noise)
    known = judge.known(items, rng)
    then, now = (judge.session(items, known, rng) for _ in range(2))
    called_so = np.flatnonzero((known == 0) & (items.truth == 0))
    now[rng.permutation(called_so)[: called_so.size // 2]] = 1
    sides = side(items, then), side(items, now)
    gated = FAMILY[:3]
    compared = [compare(*sides, BUILT_IN.measures[name]) for name in gated]
    family = adjust([("judge", comparison) for comparison in compared])
    verdicts = [c.verdict(MARGIN, a) for c, a in zip(compared, family, strict=True)]
    return "regressed" in verdicts[:2]


def half_lost(*, quick: bool) -> tuple[Ratios, Bars]:
    """Part 2."""
    sessions, cases = (QUICK_LOSSES, QUICK_LOST) if quick else (LOSSES, LOST)
    rows, gap, short = [], -1.0, -1.0
    for number, lost in enumerate(cases):
        rng = np.random.default_rng([8, number])
        found = float(np.mean([is_found(lost, rng) for _ in range(sessions)]))
        sensitivity, specificity = lost.right
        said = chance_of_half_lost(
            lost.size,
            ITEMS - lost.size,
            sensitivity=sensitivity,
            specificity=specificity,
            noise=lost.noise,
        )
        error = math.sqrt(max(said * (1 - said), found * (1 - found)) / sessions)
        gap, short = max(gap, abs(said - found) - 3 * error), max(short, lost.at_least - found)
        texts = (f"{number:g}" for number in (lost.size, *lost.right, lost.noise))
        rows.append((*texts, f"{said:.2f}", f"{found:.2f}"))
    print(f"\n2. half of a class is lost, {sessions} sessions a line")
    print_table(("of 150", "sensitivity", "specificity", "noise", "said", "found"), rows)
    ratios: Ratios = {"half lost: said to found, beyond chance": gap, "half lost: missed": short}
    return ratios, {
        "half lost: said to found, beyond chance": Bar("at most", 0.1),
        "half lost: missed": Bar("at most", 0.0),
    }


if __name__ == "__main__":
    parts = [unchanged, half_lost]
    sys.exit(run_parts("rare_class", str(__doc__), "end within 50 s", parts))
