"""JudgeSense (arXiv 2604.23478): stability under paraphrased prompts.

A unit is a pair of templates on one item, in one presentation order, of one replicate, whose two
replies both parsed::

    JSS       = mean 1[d_a = d_b]           flip rate = 1 - JSS
    kappa     = Cohen's, rater 1 the first template of each pair, rater 2 the second

Interval of JSS: percentile bootstrap of the pair agreements, 1,000 resamples (Wilson where all
agree or none). Beside it the clustered interval over items, which gates. Pairwise verdicts are
compared as slots within one order: a judge that always says A must not look stable because the
orders were balanced. A judge with one label throughout is flagged ``degenerate``, and its kappa
is undefined.

Templates of inverted polarity: the pooled estimate compares what the verdicts mean (labels
remapped); the condition ``polarity`` holds the raw one beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.judgment import Judgment
from pytest_judgesense.measures.cell import Cell, Units, rate, unavailable
from pytest_judgesense.stats.agreement import clustered_kappa, cohen_kappa
from pytest_judgesense.stats.estimate import Estimate, Interval
from pytest_judgesense.stats.resampling import percentile_bootstrap
from pytest_judgesense.suites.planning import template_pairs

__all__ = ["paraphrase_pairs", "wording_estimates"]

_NOTHING = "fewer than two templates were run on one item"


def paraphrase_pairs(cell: Cell) -> list[tuple[Judgment, Judgment]]:
    """Judgments of one item, order and replicate under the two templates of each pair."""
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


def meaning(cell: Cell, judgment: Judgment) -> str | None:
    """What a verdict says: the slot of pairwise suites, else the label, remapped if inverted."""
    if cell.design.pairwise or judgment.chosen is None:
        return judgment.verdict
    return judgment.chosen


def wording_estimates(cell: Cell) -> list[Estimate]:
    """JSS, flip rate and kappa of the cell; raw beside remapped where a template is inverted."""
    pairs = paraphrase_pairs(cell)
    estimates = _family(cell, pairs, {}, lambda judgment: meaning(cell, judgment))
    if any(judgment.trial.condition.get("polarity") for judgment in cell.judgments):
        for polarity, say in (
            ("raw", lambda judgment: judgment.verdict),
            ("remapped", lambda judgment: meaning(cell, judgment)),
        ):
            estimates += _family(cell, pairs, {"polarity": polarity}, say)
    return estimates


def _family(
    cell: Cell,
    pairs: list[tuple[Judgment, Judgment]],
    condition: dict[str, str],
    say: Callable[[Judgment], str | None],
) -> list[Estimate]:
    flags = ("degenerate",) if cell.degenerate or _says_one_thing(cell, say) else ()
    agree = Units.collect(pairs, lambda a, b: float(say(a) == say(b)))
    flip = Units.collect(pairs, lambda a, b: float(say(a) != say(b)))

    def bootstrap(values: NDArray[np.float64]) -> Interval:
        return percentile_bootstrap(values, cell.seed)

    return [
        rate("jss", cell, agree, condition, interval=bootstrap, flags=flags, nothing=_NOTHING),
        rate("flip_rate", cell, flip, condition, interval=bootstrap, flags=flags, nothing=_NOTHING),
        _kappa(cell, pairs, condition, say, agree),
    ]


def _says_one_thing(cell: Cell, say: Callable[[Judgment], str | None]) -> bool:
    """Whether all answers mean the same, be it in labels of both polarities."""
    said = [meant for judgment in cell.judgments if (meant := say(judgment)) is not None]
    return len(said) > 1 and len(set(said)) == 1


def _kappa(
    cell: Cell,
    pairs: list[tuple[Judgment, Judgment]],
    condition: dict[str, str],
    say: Callable[[Judgment], str | None],
    units: Units,
) -> Estimate:
    complete = [(a, b) for a, b in pairs if a.verdict is not None and b.verdict is not None]
    missing = units.missing()
    # The bounds of a rate are no bounds of kappa, which depends on the margins as well.
    missing = type(missing)(missing.unparsed, missing.failed, None, None, missing.share)
    if not complete:
        return unavailable("kappa", cell, _NOTHING, condition, missing=missing)
    first = [say(a) for a, _ in complete]
    second = [say(b) for _, b in complete]
    value = cohen_kappa(first, second)
    if value is None:
        reason = "undefined: both wordings gave one and the same label throughout"
        return unavailable("kappa", cell, reason, condition, missing=missing, flags=("degenerate",))
    flags = ("degenerate",) if cell.degenerate else ("negative",) if value < 0 else ()

    return Estimate(
        measure="kappa",
        suite=cell.suite,
        condition=condition,
        value=value,
        n=len(complete),
        unit="template pair",
        clustered=clustered_kappa(first, second, units.clusters),
        missing=missing,
        flags=flags,
    )
