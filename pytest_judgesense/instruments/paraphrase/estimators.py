"""JudgeSense (arXiv 2604.23478): stability under paraphrased prompts.

A unit is a pair of templates on one item, in one presentation order, of one replicate, whose two
replies both parsed::

    JSS       = mean 1[d_a = d_b]           flip rate = 1 - JSS
    kappa     = Cohen's, rater 1 the first template of each pair, rater 2 the second

Interval of JSS: percentile bootstrap of the pair agreements, 1,000 resamples (Wilson where all
agree or none). Beside it the clustered interval over items, which gates. Pairwise verdicts are
compared as slots within one order: a judge that always says A must not look stable because the
orders were balanced. A judge with one label throughout is flagged ``degenerate``, and its kappa
is undefined. The condition ``template_pair`` (``t1~t2``) is each pair by itself.

Templates of inverted polarity: the pooled estimate compares what the verdicts mean (labels
remapped); the condition ``polarity`` has the raw one beside it.

Ordinal labels, beyond the paper, for five labels show shifts that two hide. With p the position
of a label in the space, u = 1[p >= position of the cut]::

    jss_binary           = mean 1[u_a = u_b]            flagged with its cut
    within_one_agreement = mean 1[|p_a - p_b| <= 1]
    kappa_quadratic      = 1 - sum w O / sum w E, w = (p_a - p_b)^2 (see `stats.agreement`)

Without a cut of the suite it is the first label above the middle: 4 of 1 to 5, 3 of 1 to 4.

Equivalence: pairs that reviewers find not equivalent are left out of everything here, and
the pooled estimates say how many. Worst cases of kappa stand where a verdict is one of two labels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from pytest_judgesense.estimate import Anew, Estimate, Missing
from pytest_judgesense.instruments.paraphrase import measures as of
from pytest_judgesense.measures.cell import Cell, Units, answered, estimated, rate, unavailable
from pytest_judgesense.measures.measure import Measure
from pytest_judgesense.stats.agreement import (
    clustered_kappa,
    cohen_kappa,
    kappa_bounds,
    table_kappa,
    weighted_kappa,
)
from pytest_judgesense.stats.resampling import percentile_bootstrap
from pytest_judgesense.suites.suite import template_pairs
from pytest_judgesense.trial import Condition, Judgment

Pair: TypeAlias = tuple[Judgment, Judgment]
Say: TypeAlias = Callable[[Judgment], str | None]

_NOTHING = "fewer than two templates were run on one item"
_UNREAD = "no pair of templates has two verdicts: replies are unparsed, refused or failed"
_ALL_EXCLUDED = "reviewers hold every template pair not to be equivalent"


def _why_nothing(cell: Cell, pairs: list[Pair]) -> str:
    """Why no pair counts: there is none, none that asks the same, or none with two verdicts."""
    return _UNREAD if pairs else _ALL_EXCLUDED if cell.design.excluded else _NOTHING


def paraphrase_pairs(cell: Cell) -> list[Pair]:
    """Judgments of one item, order and replicate under the two templates of each pair.

    Pairs that reviewers find not equivalent are left out.
    """
    excluded = set(map(frozenset, cell.design.excluded))
    return [pair for pair in _all_pairs(cell) if _templates(pair) not in excluded]


def _templates(pair: Pair) -> frozenset[str]:
    return frozenset(judgment.trial.template for judgment in pair)


def _all_pairs(cell: Cell) -> list[Pair]:
    asked: dict[tuple[str, str, int], dict[str, Judgment]] = defaultdict(dict)
    for judgment in cell.judgments:
        trial = judgment.trial
        asked[trial.item, trial.order, trial.replicate][trial.template] = judgment
    pairs = template_pairs(cell.templates, cell.design.pairs)
    return [
        (by_template[a], by_template[b])
        for by_template in asked.values()
        for a, b in pairs
        if a in by_template and b in by_template
    ]


def wording_notices(cell: Cell) -> tuple[str, ...]:
    """That pairs are compared of which reviewers are unsure whether they ask the same."""
    if not cell.design.unsure:
        return ()
    names = ", ".join(f"{a}~{b}" for a, b in cell.design.unsure)
    doubt = f"{cell.suite}: reviewers are unsure whether templates ask the same: {names}"
    return (f"{doubt}; flips there may be justified",)


def meaning(cell: Cell, judgment: Judgment) -> str | None:
    """What a verdict says: the slot of pairwise suites, else the label, remapped if inverted."""
    if cell.design.pairwise or judgment.chosen is None:
        return judgment.verdict
    return judgment.chosen


def _verdict(judgment: Judgment) -> str | None:
    return judgment.verdict


def upper_half(cell: Cell) -> int:
    """Position of the lowest label of the upper half, where ordinal labels are cut in two."""
    labels, cut = cell.design.labels, cell.design.cut
    return labels.index(cut) if cut in labels else (len(labels) + 1) // 2


def estimates(cell: Cell) -> list[Estimate]:
    """JSS, flip rate and kappa: pooled, by polarity, of ordinal labels, by template pair."""
    mean = partial(meaning, cell)
    pairs = paraphrase_pairs(cell)
    notes = _exclusions(cell, len(pairs))
    found = _family(cell, pairs, {}, mean, notes)
    if any(judgment.trial.condition.get("polarity") for judgment in cell.judgments):
        for polarity, say in (("raw", _verdict), ("remapped", mean)):
            found += _family(cell, pairs, {"polarity": polarity}, say, notes)
    if cell.design.ordinal:
        found += _ordinal_family(cell, pairs, mean)
    return [*found, *_by_pair(cell, pairs, mean)]


def _exclusions(cell: Cell, compared: int) -> tuple[str, ...]:
    """The count of what reviewers have excluded, to stand beside the pooled estimates."""
    if not cell.design.excluded:
        return ()
    names = ", ".join(f"{a}~{b}" for a, b in cell.design.excluded)
    return (f"{len(_all_pairs(cell)) - compared} pairs excluded, not equivalent: {names}",)


def _by_pair(cell: Cell, pairs: list[Pair], say: Say) -> Iterator[Estimate]:
    by_pair: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for a, b in pairs:
        by_pair[a.trial.template, b.trial.template].append((a, b))
    unsure = set(map(frozenset, cell.design.unsure))
    for two, of_pair in by_pair.items():
        part = replace(cell, judgments=tuple(j for j in cell.judgments if j.trial.template in two))
        notes = ("equivalence unsure",) * (frozenset(two) in unsure)
        yield from _family(part, of_pair, {"template_pair": "~".join(two)}, say, notes)


def _family(
    cell: Cell, pairs: list[Pair], condition: Condition, say: Say, notes: tuple[str, ...]
) -> list[Estimate]:
    agree = Units.collect(pairs, lambda a, b: say(a) == say(b))
    flip = Units.collect(pairs, lambda a, b: say(a) != say(b))
    shown: dict[str, Any] = {
        "interval": partial(percentile_bootstrap, seed=cell.seed),
        "flags": (*_degenerate(cell, say), *notes),
        "nothing": _why_nothing(cell, pairs),
    }
    return [
        rate(of.JSS, cell, agree, condition, **shown),
        rate(of.FLIP_RATE, cell, flip, condition, **shown),
        _kappa(of.KAPPA, cell, pairs, condition, say, agree, notes=notes),
    ]


def _degenerate(cell: Cell, say: Say) -> tuple[str, ...]:
    """The flag of a judge that says, or means, one thing throughout, labels of both polarities."""
    said = [meant for judgment in cell.judgments if (meant := say(judgment)) is not None]
    one_thing = len(said) > 1 and len(set(said)) == 1
    return ("degenerate",) if cell.degenerate or one_thing else ()


def _ordinal_family(cell: Cell, pairs: list[Pair], mean: Say) -> list[Estimate]:
    labels, at = cell.design.labels, upper_half(cell)
    if unknown := set(map(mean, cell.judgments)) - {*labels, None}:
        reason = f"a verdict is no label of the scale: {min(map(str, unknown))}"
        names = (of.JSS_BINARY, of.WITHIN_ONE_AGREEMENT, of.KAPPA_QUADRATIC)
        return [unavailable(name, cell, reason) for name in names]
    halves = partial(_half, cell)
    agree = Units.collect(pairs, lambda a, b: mean(a) == mean(b))
    binary = Units.collect(pairs, lambda a, b: halves(a) == halves(b))
    near = Units.collect(pairs, lambda a, b: _steps(cell, a, b) <= 1)
    nothing = _why_nothing(cell, pairs)
    cut = (*_degenerate(cell, halves), f"cut below {labels[at]}")
    return [
        rate(of.JSS_BINARY, cell, binary, flags=cut, nothing=nothing),
        rate(of.WITHIN_ONE_AGREEMENT, cell, near, flags=_degenerate(cell, mean), nothing=nothing),
        _kappa(of.KAPPA_QUADRATIC, cell, pairs, {}, mean, agree, scale=labels),
    ]


def _half(cell: Cell, judgment: Judgment) -> str | None:
    meant = meaning(cell, judgment)
    if meant is None:
        return None
    return "upper" if cell.design.labels.index(meant) >= upper_half(cell) else "lower"


def _steps(cell: Cell, a: Judgment, b: Judgment) -> int:
    """How far apart two answers stand on the scale."""
    one, other = (cell.design.labels.index(str(meaning(cell, judgment))) for judgment in (a, b))
    return abs(one - other)


def _kappa(
    measure: Measure,
    cell: Cell,
    pairs: list[Pair],
    condition: Condition,
    say: Say,
    units: Units,
    *,
    scale: Sequence[str] = (),
    notes: tuple[str, ...] = (),
) -> Estimate:
    """Kappa of the first verdicts and the second ones; quadratic over ``scale`` if it is given."""
    complete = [pair for pair in pairs if all(map(answered, pair))]
    missing = _kappa_missing(cell, pairs, say, units)
    if not complete:
        reason = _why_nothing(cell, pairs)
        return unavailable(measure, cell, reason, condition, missing=missing, flags=notes)
    first, second = (
        [str(say(judgment)) for judgment in side] for side in zip(*complete, strict=True)
    )
    value = weighted_kappa(first, second, scale) if scale else cohen_kappa(first, second)
    if value is None:
        reason = "undefined: both wordings gave one and the same label throughout"
        flags = ("degenerate", *notes)
        return unavailable(measure, cell, reason, condition, missing=missing, flags=flags)
    flags = ("degenerate",) if cell.degenerate else ("negative",) if value < 0 else ()
    return estimated(
        measure,
        cell,
        condition,
        value=value,
        n=len(complete),
        clustered=clustered_kappa(first, second, units.clusters, scale=scale),
        anew=partial(_anew, first, second, units.clusters, scale),
        missing=missing,
        flags=(*flags, *notes),
    )


def _anew(first: Sequence[str], second: Sequence[str], clusters: Any, scale: Sequence[str]) -> Anew:
    """What kappa is taken of: for each cell of its table whether a unit stands in it."""
    labels = scale or sorted({*first, *second})
    cells = [(one, other) for one in labels for other in labels]
    units = list(zip(first, second, strict=True))

    def kappas(*sums: Any) -> Any:
        tables = np.stack(sums[:-1], axis=-1).astype(np.int64)
        shape = (len(labels), len(labels))
        found = [table_kappa(table.reshape(shape), quadratic=bool(scale)) for table in tables]
        return np.array([np.nan if one is None else one for one in found])

    return Anew(clusters, [[unit == cell for unit in units] for cell in cells], kappas)


def _kappa_missing(cell: Cell, pairs: list[Pair], say: Say, units: Units) -> Missing:
    """What is missing, with the worst cases of kappa where a verdict is one of two labels."""
    missing = units.missing(bounded=False)
    labels = cell.design.labels
    first, second = [say(a) for a, _ in pairs], [say(b) for _, b in pairs]
    if len(labels) != 2 or cell.design.others or not {*first, *second} <= {*labels, None}:
        return missing
    lower, upper = kappa_bounds(first, second, (labels[0], labels[1])) or (None, None)
    return replace(missing, lower_bound=lower, upper_bound=upper)


def flips(cell: Cell, condition: Mapping[str, Any]) -> list[Pair]:
    """Template pairs that differ in what they say, or, of raw labels, in the verdict itself."""
    raw = condition.get("polarity") == "raw"
    return _differing(cell, _verdict if raw else partial(meaning, cell))


def flips_over_the_cut(cell: Cell, _: Mapping[str, Any]) -> list[Pair]:
    """Template pairs on different sides of the cut."""
    return _differing(cell, partial(_half, cell))


def flips_of_two_steps(cell: Cell, condition: Mapping[str, Any]) -> list[Pair]:
    """Template pairs more than one step apart."""
    return [pair for pair in flips(cell, condition) if _steps(cell, *pair) > 1]


def _differing(cell: Cell, say: Say) -> list[Pair]:
    return [
        (a, b)
        for a, b in paraphrase_pairs(cell)
        if answered(a) and answered(b) and say(a) != say(b)
    ]
