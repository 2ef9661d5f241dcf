"""JudgeSense (arXiv 2604.23478): stability under paraphrased prompts.

A unit is a pair of templates on one item, in one presentation order and replicate, with two parsed
replies::

    JSS       = mean 1[d_a = d_b]           flip rate = 1 - JSS
    kappa     = Cohen's, rater 1 the first template of each pair, rater 2 the second

Interval of JSS: percentile bootstrap of the pair agreements, 1,000 resamples (Wilson where all
agree or none). Beside it the clustered interval over items, which gates. Pairwise verdicts are
compared as slots within one order: a judge that always says A must not look stable because the
orders were balanced. A judge with one label throughout is flagged ``degenerate``, and its kappa
is undefined. The condition ``template_pair`` (``t1~t2``) is each pair by itself.

The clustered interval holds the wordings fixed. A third one, ``new wordings``, is for wordings that
were not asked as well (`stats.new_wordings`): over all pairs of wordings, whichever the suite
compares.

Templates of inverted polarity: the pooled estimate compares the meanings of verdicts (labels
remapped); the condition ``polarity`` also has the raw one.

Ordinal labels, not in the paper: five labels show shifts that two hide. With p the position of a
label in the space, u = 1[p >= position of the cut]::

    jss_binary           = mean 1[u_a = u_b]            flagged with its cut
    within_one_agreement = mean 1[|p_a - p_b| <= 1]
    kappa_quadratic      = 1 - sum w O / sum w E, w = (p_a - p_b)^2 (see `stats.agreement`)

    agreement_within_one = mean 1[|p - p_label| <= 1]     over replies received, as `agreement`

Without a cut of the suite it is the first label above the middle: 4 of 1 to 5, 3 of 1 to 4.

Equivalence: pairs that reviewers find not equivalent are left out of everything here, and the
pooled estimates say how many. Worst cases of kappa are given for two labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Anew, Estimate, Missing, NewWordings
from pytest_judgesense.instruments.paraphrase import measures as of
from pytest_judgesense.measures.cell import (
    FAILED,
    VERDICT,
    Cell,
    Groups,
    Units,
    estimated,
    rate,
    unavailable,
)
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.stats.agreement import (
    clustered_kappa,
    kappa_bounds,
    kappa_reach,
    table_kappa,
)
from pytest_judgesense.stats.inputs import LEVEL, joint_codes
from pytest_judgesense.stats.new_wordings import METHOD, SampleSize, Spread, wording_spread
from pytest_judgesense.stats.resampling import percentile_bootstrap
from pytest_judgesense.suites.suite import template_pairs
from pytest_judgesense.trial import Condition, Judgment

JudgmentPair: TypeAlias = tuple[Judgment, Judgment]
Positions: TypeAlias = NDArray[np.int32]

_NOTHING = "fewer than two templates were run on one item"
_UNREAD = "no pair of templates has two verdicts: replies are unparsed, refused or failed"
_ALL_EXCLUDED = "reviewers hold every template pair not to be equivalent"
_BLOCK: Final = 1 << 20  # positions of judgments held at a time while pairing


def paraphrase_pairs(cell: Cell) -> list[JudgmentPair]:
    """Judgments of one item, order and replicate under the two templates of each pair.

    Pairs that reviewers find not equivalent are left out.
    """
    return [(a, b) for a, b in cell.judged(Groups.of_rows(pair_positions(cell)[0]))]


def pair_positions(cell: Cell, *, every: bool = False) -> tuple[Positions, Positions]:
    """Pairs of judgments by their positions in the cell, and the number of the template pair.

    Shapes (pairs, 2) and (pairs,); ``every``: with those that reviewers find not equivalent.
    """
    return cell.once(f"template pairs {every}", partial(_pair_positions, cell, every=every))


def _pair_positions(cell: Cell, *, every: bool) -> tuple[Positions, Positions]:
    codes, names = cell.coded("template")
    groups = cell.alike("order", "replicate")
    excluded = set() if every else set(map(frozenset, cell.design.excluded))
    pairs = [
        (number, names.index(a), names.index(b))
        for number, (a, b) in enumerate(template_pairs(cell.templates, cell.design.pairs))
        if a in names and b in names and frozenset((a, b)) not in excluded
    ]
    numbers, first, second = np.array(pairs, dtype=np.int32).reshape(-1, 3).T
    step = max(1, _BLOCK // max(1, len(names), len(pairs)))
    rows, of_pair = [np.zeros((0, 2), dtype=np.int32)], [np.zeros(0, dtype=np.int32)]
    ends = np.append(groups.starts, groups.positions.size)
    for begin in range(0, groups.starts.size, step):
        stop = min(begin + step, groups.starts.size)
        positions = groups.positions[ends[begin] : ends[stop]]
        row = np.repeat(np.arange(stop - begin), np.diff(ends[begin : stop + 1]))
        # The place of the judgment of each group under each template: the last, if there are more.
        table = np.full((stop - begin, len(names)), -1, dtype=np.int32)
        table[row, codes[positions]] = positions
        positions_of_pairs = np.stack([table[:, first], table[:, second]], axis=-1)
        both = (positions_of_pairs >= 0).all(axis=-1)
        rows.append(positions_of_pairs[both])
        of_pair.append(np.broadcast_to(numbers, both.shape)[both])
    return np.concatenate(rows), np.concatenate(of_pair)


def wording_notices(cell: Cell) -> tuple[str, ...]:
    """The flag that compared pairs include some on whose equivalence reviewers are unsure."""
    if not cell.design.unsure:
        return ()
    names = ", ".join(f"{a}~{b}" for a, b in cell.design.unsure)
    doubt = f"{cell.suite}: reviewers are unsure whether templates ask the same: {names}"
    return (f"{doubt}; flips there may be justified",)


def meaning(cell: Cell, judgment: Judgment) -> str | None:
    """The meaning of a verdict: the slot in pairwise suites, else the remapped label."""
    if cell.design.pairwise or judgment.chosen is None:
        return judgment.verdict
    return judgment.chosen


class VerdictCodes(NamedTuple):
    """The meaning of each judgment of a cell as a code, and the codes' values; -1: none."""

    codes: NDArray[np.int32]
    words: Sequence[str]

    @classmethod
    def raw(cls, cell: Cell) -> VerdictCodes:
        """The verdicts themselves."""
        return cls(*cell.coded("verdict"))

    @classmethod
    def meant(cls, cell: Cell) -> VerdictCodes:
        """What they mean."""
        return cls(*cell.coded("meaning", partial(meaning, cell)))

    @classmethod
    def halves(cls, cell: Cell) -> VerdictCodes:
        """On which side of the cut that lies."""
        meanings, labels, upper = cls.meant(cell), cell.design.labels, upper_half(cell)
        sides = [labels.index(word) >= upper for word in meanings.words]
        return cls(np.array([*sides, -1], dtype=np.int32)[meanings.codes], ("lower", "upper"))

    def texts(self, positions: Positions) -> list[str | None]:
        """The words of the judgments at ``positions``."""
        words = [*self.words, None]
        return [words[code] for code in self.codes[positions].tolist()]


def upper_half(cell: Cell) -> int:
    """Position of the lowest label of the upper half, where ordinal labels are cut in two."""
    labels, cut = cell.design.labels, cell.design.cut
    return labels.index(cut) if cut in labels else (len(labels) + 1) // 2


@dataclass(frozen=True)
class _Compared:
    """Template pairs that are estimated together, and what their judgments say.

    Attributes:
        condition: of their estimates; ``notes`` are flags of all of these.
        among: the judgments that decide whether the judge is degenerate; all by default.
    """

    cell: Cell
    pairs: Positions
    verdicts: VerdictCodes
    condition: Condition = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    among: NDArray[np.bool_] | None = None

    @cached_property
    def agree(self) -> Units:
        """Each pair with two verdicts, and whether they agree."""
        first, second = self.verdicts.codes[self.pairs].T
        return Units.of_groups(self.cell, Groups.of_rows(self.pairs), first == second)

    @cached_property
    def complete(self) -> Positions:
        """The pairs with two verdicts."""
        complete: Positions = self.pairs[(self.cell.outcomes[self.pairs] == VERDICT).all(axis=1)]
        return complete

    @property
    def nothing(self) -> str:
        """Why no pair counts: there is none, none that is equivalent, or none with two verdicts."""
        excluded = self.cell.design.excluded
        return _UNREAD if len(self.pairs) else _ALL_EXCLUDED if excluded else _NOTHING

    def degenerate(self, verdicts: VerdictCodes) -> tuple[str, ...]:
        """The flag of a judge that says, or means, one thing throughout."""

        def one_thing(codes: NDArray[np.int32]) -> bool:
            there = codes >= 0
            codes_counted = codes[there if self.among is None else self.among & there]
            return codes_counted.size > 1 and bool((codes_counted == codes_counted[0]).all())

        same = one_thing(self.cell.coded("verdict")[0]) or one_thing(verdicts.codes)
        return ("degenerate",) * same

    def estimates(self) -> list[Estimate]:
        """JSS, flip rate and kappa."""
        cell, agree = self.cell, self.agree
        flip = replace(agree, values=1.0 - agree.values)
        shown: dict[str, Any] = {
            "interval": partial(percentile_bootstrap, seed=cell.seed),
            "flags": (*self.degenerate(self.verdicts), *self.notes),
            "nothing": self.nothing,
        }
        return [
            rate(of.JSS, cell, agree, self.condition, **shown),
            rate(of.FLIP_RATE, cell, flip, self.condition, **shown),
            self._kappa(of.KAPPA, self.notes),
        ]

    def ordinal(self) -> list[Estimate]:
        """The measures of labels with an order."""
        cell, labels, upper = self.cell, self.cell.design.labels, upper_half(self.cell)
        reason = "the scale has one label" if len(labels) < 2 else ""
        if unknown := {*self.verdicts.words} - {*labels}:
            reason = f"a verdict is not a label of the scale: {min(unknown)}"
        if reason:
            names = (of.JSS_BINARY, of.WITHIN_ONE_AGREEMENT, of.KAPPA_QUADRATIC)
            return [unavailable(name, cell, reason) for name in names]
        halves = VerdictCodes.halves(cell)
        steps = np.array([*(labels.index(word) for word in self.verdicts.words), 0])

        def near(measure: Measure, codes: NDArray[Any], within: int, *flags: str) -> Estimate:
            first, second = codes[self.complete].T
            units = replace(self.agree, values=(np.abs(first - second) <= within).astype(float))
            return rate(measure, cell, units, flags=flags, nothing=self.nothing)

        cut = f"cut below {labels[upper]}"
        return [
            near(of.JSS_BINARY, halves.codes, 0, *self.degenerate(halves), cut),
            near(
                of.WITHIN_ONE_AGREEMENT,
                steps[self.verdicts.codes],
                1,
                *self.degenerate(self.verdicts),
            ),
            self._kappa(of.KAPPA_QUADRATIC, (), labels),
        ]

    def _kappa(
        self, measure: Measure, notes: tuple[str, ...], scale: Sequence[str] = ()
    ) -> Estimate:
        """Kappa of the first verdicts and the second ones; quadratic over ``scale`` if given."""
        complete, units, quadratic = self.complete, self.agree, bool(scale)
        stated = partial(estimated, measure, self.cell, self.condition, missing=self._missing())
        if not len(complete):
            return stated(unavailable=self.nothing, flags=notes)
        # Without a scale the labels are in alphabetical order.
        words, codes = [str(word) for word in self.verdicts.words], self.verdicts.codes[complete]
        labels = tuple(scale or sorted(words[code] for code in set(codes.ravel().tolist())))
        indices = [labels.index(word) if word in labels else -1 for word in words]
        first, second = np.array(indices, dtype=np.int16)[codes].T
        table = np.zeros((len(labels), len(labels)), dtype=np.int64)
        np.add.at(table, (first, second), 1)
        value = table_kappa(table, quadratic=quadratic)
        if value is None:
            reason = "undefined: both wordings gave one and the same label throughout"
            return stated(unavailable=reason, flags=("degenerate", *notes))
        negative = ("negative",) * (value < 0)
        # It outlives the units.
        emptied = replace(units, keys=(), values=units.values[:0].copy())
        return stated(
            value=value,
            n=len(complete),
            clustered=clustered_kappa(
                first, second, units.clusters, scale=range(len(labels)) if quadratic else ()
            ),
            anew=partial(_anew, first, second, emptied, labels, quadratic=quadratic),
            reach=kappa_reach(table, quadratic=quadratic),
            flags=(*(self.degenerate(VerdictCodes.raw(self.cell)) or negative), *notes),
        )

    def _missing(self) -> Missing:
        """The missing replies, with the worst cases of kappa for two labels."""
        missing, labels = self.agree.missing(bounded=False), self.cell.design.labels
        if len(labels) != 2 or self.cell.design.others:
            return missing
        first, second = map(self.verdicts.texts, self.pairs.T)
        if not {*first, *second} <= {*labels, None}:
            return missing
        lower, upper = kappa_bounds(first, second, (labels[0], labels[1])) or (None, None)
        return replace(missing, lower_bound=lower, upper_bound=upper)


def estimates(cell: Cell, *, by_pair: bool = True) -> list[Estimate]:
    """JSS, flip rate and kappa: pooled, by polarity, of ordinal labels, by template pair."""
    meanings, (pairs, of_pair) = VerdictCodes.meant(cell), pair_positions(cell)
    notes: tuple[str, ...] = ()
    if cell.design.excluded:
        names = ", ".join(f"{a}~{b}" for a, b in cell.design.excluded)
        left_out = len(pair_positions(cell, every=True)[0]) - len(pairs)
        notes = (f"{left_out} pairs excluded, not equivalent: {names}",)
    pooled = _Compared(cell, pairs, meanings, notes=notes)
    pooled_estimates = _for_new_wordings(cell, pooled.estimates())
    if any(cell.coded("has_polarity")[1]):
        for polarity, other in (("raw", VerdictCodes.raw(cell)), ("remapped", meanings)):
            pooled_estimates += _Compared(
                cell, pairs, other, {"polarity": polarity}, notes
            ).estimates()
    if cell.design.ordinal:
        pooled_estimates += pooled.ordinal()
    return [*pooled_estimates, *(_by_pair(cell, pairs, of_pair, meanings) if by_pair else ())]


def spread_of_wordings(cell: Cell) -> Spread | None:
    """How far verdicts vary with items and wordings; ``None`` where too little of either is known.

    All pairs of wordings count, but for those that reviewers find not equivalent: new wordings are
    a pair of any two, whichever the suite compares.
    """
    return cell.once("spread of wordings", lambda: wording_spread(*_pairs_by_wording(cell)))


def _pairs_by_wording(cell: Cell) -> NDArray[np.int64]:
    """Of each cluster and template the pairs that differ, and the pairs, with two verdicts each.

    Shape (2, clusters, templates).
    """
    meanings = VerdictCodes.meant(cell).codes
    repeated = cell.alike("template", "order", "replicate")
    # Of several judgments of one trial the last, as in `pair_positions`.
    calls = repeated.positions[np.append(repeated.starts[1:], repeated.positions.size) - 1]
    calls = calls[meanings[calls] >= 0]
    group = joint_codes(
        cell.items[calls], cell.coded("order")[0][calls], cell.coded("replicate")[0][calls]
    )
    answer = joint_codes(group, meanings[calls])
    together, alike = np.bincount(group)[group], np.bincount(answer)[answer]
    counts = np.stack([together - alike, together - 1])
    templates, names = cell.coded("template")
    place = np.full(int(group.max(initial=-1)) + 1, -1)
    for a, b in cell.design.excluded:
        if a not in names or b not in names:
            continue
        of_a, of_b = (np.flatnonzero(templates[calls] == names.index(name)) for name in (a, b))
        place[:] = -1
        place[group[of_a]] = of_a
        of_b = of_b[place[group[of_b]] >= 0]
        of_a = place[group[of_b]]
        differ = meanings[calls[of_a]] != meanings[calls[of_b]]
        for side in (of_a, of_b):
            counts[:, side] -= np.stack([differ, np.ones_like(differ)]).astype(np.int64)
    clusters, (shape, width) = (
        cell.cluster_codes[0][calls],
        (len(cell.cluster_codes[1]), len(names)),
    )
    places = clusters * width + templates[calls]
    sums = [np.bincount(places, count, shape * width).reshape(shape, width) for count in counts]
    return np.stack(sums).astype(np.int64)


def _differ_under(spread: Spread, clusters: int, wordings: int) -> tuple[float, float]:
    """The ends of the interval of the flip rate."""
    return spread.ends(SampleSize(clusters, wordings))


def _same_under(spread: Spread, clusters: int, wordings: int) -> tuple[float, float]:
    """The ends of the interval of the JSS."""
    low, high = spread.ends(SampleSize(clusters, wordings))
    return 1 - high, 1 - low


def _for_new_wordings(cell: Cell, estimates: Sequence[Estimate]) -> list[Estimate]:
    """Pooled estimates, JSS and flip rate with the interval for new wordings."""
    spread = spread_of_wordings(cell)
    if spread is None:
        return list(estimates)
    both = {of.JSS.name: _same_under, of.FLIP_RATE.name: _differ_under}

    def beside(estimate: Estimate) -> Estimate:
        if estimate.measure not in both or estimate.value is None:
            return estimate
        ends = partial(both[estimate.measure], spread)
        wordings = spread.measured.wordings
        new = NewWordings(METHOD, *ends(*spread.measured), LEVEL, wordings=wordings, at=ends)
        return replace(estimate, new_wordings=new)

    return [*map(beside, estimates)]


def _by_pair(
    cell: Cell, pairs: Positions, of_pair: Positions, verdicts: VerdictCodes
) -> Iterator[Estimate]:
    """The same of each template pair, in the order in which they are first asked."""
    templates = template_pairs(cell.templates, cell.design.pairs)
    unsure = set(map(frozenset, cell.design.unsure))
    codes, names = cell.coded("template")
    for number in dict.fromkeys(of_pair.tolist()):
        two = templates[number]
        among = np.isin(codes, [names.index(name) for name in two])
        notes = ("equivalence unsure",) * (frozenset(two) in unsure)
        condition, of_two = {"template_pair": "~".join(two)}, pairs[of_pair == number]
        yield from _Compared(cell, of_two, verdicts, condition, notes, among).estimates()


def _anew(
    first: Positions, second: Positions, units: Units, labels: Sequence[str], *, quadratic: bool
) -> Anew:
    """The data of kappa: for each cell of its table whether a unit is in it."""
    size = len(labels)
    columns = [(first == row) & (second == other) for row in range(size) for other in range(size)]

    def kappas(*sums: Any) -> Any:
        tables = np.stack(sums[:-1], axis=-1).astype(np.int64)
        kappas = [table_kappa(table.reshape(size, size), quadratic=quadratic) for table in tables]
        return np.array([np.nan if kappa is None else kappa for kappa in kappas])

    return Anew(units.cluster_names, columns, kappas)


def agreement_within_one(cell: Cell) -> list[Estimate]:
    """How often a verdict is at most one step from the label; of ordinal labels, if items have any.

    As in `measures.rates.agreement`, an unparsed reply is far from every label.
    """
    labels = cell.coded("label")[0]
    if not cell.design.ordinal or not (labels >= 0).any():
        return []
    calls = cell.every_call().subset(labels >= 0)
    near = _near_label(cell)[calls.positions]
    units = Units.of_groups(cell, calls, near, usable=cell.outcomes != FAILED)
    return [rate(of.AGREEMENT_WITHIN_ONE, cell, units)]


def _near_label(cell: Cell) -> NDArray[np.bool_]:
    """Of each judgment whether its verdict is at most one step from its label."""
    place = {label: step for step, label in enumerate(cell.design.labels)}

    def steps(column: str, missing: float) -> NDArray[np.float64]:
        codes, words = cell.coded(column)
        return np.array([*(place.get(word, missing) for word in words), missing])[codes]

    # What is no step is far from every step, and from what else is none.
    close: NDArray[np.bool_] = np.abs(steps("answer", -np.inf) - steps("label", 2**31)) <= 1
    return close


def flips(cell: Cell, condition: Mapping[str, Any]) -> list[JudgmentPair]:
    """Template pairs that differ in meaning, or, for raw labels, in the verdict itself."""
    raw = condition.get("polarity") == "raw"
    return _differing(cell, VerdictCodes.raw(cell) if raw else VerdictCodes.meant(cell))


def _differing(cell: Cell, verdicts: VerdictCodes) -> list[JudgmentPair]:
    pairs = _Compared(cell, pair_positions(cell)[0], verdicts).complete
    first, second = verdicts.codes[pairs].T
    return [(a, b) for a, b in cell.judged(Groups.of_rows(pairs[first != second]))]
