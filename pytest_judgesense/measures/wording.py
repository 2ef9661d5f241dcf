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

Two prompts of a judge of debates (JudgeBench)::

    prompt_disagreement = debates whose winners differ / debates; a prompt's winner is that of most
                          runs, and a debate in which either is undecided is left out and counted
    score_delta         = mean over sides and categories of |mean score a - mean score b|; mean over
                          debates
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.judgment import Judgment
from pytest_judgesense.measures.cell import Cell, Units, rate, unavailable
from pytest_judgesense.measures.debate import (
    mean_over_debates,
    score_matrix,
    units_of,
    winner_of,
)
from pytest_judgesense.stats.agreement import cohen_kappa
from pytest_judgesense.stats.clustered import clustered_jackknife, clustered_proportion
from pytest_judgesense.stats.estimate import Clustered, Estimate, Interval
from pytest_judgesense.stats.resampling import percentile_bootstrap
from pytest_judgesense.suites.planning import template_pairs

__all__ = ["paraphrase_pairs", "prompt_estimates", "wording_estimates"]

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

    def of(kept: NDArray[np.intp]) -> float:
        part = cohen_kappa([first[i] for i in kept], [second[i] for i in kept])
        return float("nan") if part is None else part

    return Estimate(
        measure="kappa",
        suite=cell.suite,
        condition=condition,
        value=value,
        n=len(complete),
        unit="template pair",
        clustered=_kappa_interval(of, units, value),
        missing=missing,
        flags=flags,
    )


def _kappa_interval(
    of: Callable[[NDArray[np.intp]], float], units: Units, value: float
) -> Clustered | None:
    """The jackknife; where no cluster changes kappa, that of the agreement at the chance seen."""
    jackknife = clustered_jackknife(of, units.clusters, lower=-1.0, upper=1.0)
    if jackknife is None or jackknife.effective_n is None:
        return jackknife
    agreement = clustered_proportion(units.values, units.clusters)
    assert agreement is not None, "the jackknife has found two clusters"
    observed = float(units.values.mean())
    # kappa = (po - pe) / (1 - pe), so 1 - pe = (1 - po) / (1 - kappa); at kappa 1 pe is taken as
    # 1/2: two balanced labels, the widest that kappa can be for a given width of the agreement.
    beyond = (1 - observed) / (1 - value) if value < 1 else 0.5

    def scaled(share: float) -> float:
        return max(-1.0, 1 - (1 - share) / beyond)

    return Clustered(
        method="korn-graubard-scaled",
        lower=scaled(agreement.lower),
        upper=scaled(agreement.upper),
        level=agreement.level,
        clusters=agreement.clusters,
        design_effect=agreement.design_effect,
        effective_n=agreement.effective_n,
        lower_bound=scaled(agreement.lower_bound),
        upper_bound=scaled(agreement.upper_bound),
    )


def prompt_estimates(cell: Cell) -> list[Estimate]:
    """What another prompt changes in the judgment of debates: pooled, then by pair of prompts."""
    pairs = list(combinations(cell.templates, 2))
    if not pairs:
        reason = "needs two or more prompts"
        return [unavailable(name, cell, reason) for name in ("prompt_disagreement", "score_delta")]
    by_debate = _by_debate(cell)
    return [
        find(cell, by_debate, some, condition)
        for find in (_disagreement, _score_delta)
        for some, condition in [
            (pairs, {}),
            *(([(a, b)], {"prompt_pair": f"{a}-{b}"}) for a, b in pairs),
        ]
    ]


def _by_debate(cell: Cell) -> dict[str, dict[str, list[Judgment]]]:
    found: dict[str, dict[str, list[Judgment]]] = defaultdict(lambda: defaultdict(list))
    for judgment in cell.judgments:
        found[judgment.trial.item][judgment.trial.template].append(judgment)
    return found


def _disagreement(
    cell: Cell,
    by_debate: Mapping[str, Mapping[str, list[Judgment]]],
    pairs: Sequence[tuple[str, str]],
    condition: dict[str, str],
) -> Estimate:
    values, clusters, undecided, differing, compared = [], [], 0, 0, 0
    for debate in by_debate.values():
        for a, b in pairs:
            one, other = winner_of(debate.get(a, ())), winner_of(debate.get(b, ()))
            if a not in debate or b not in debate:
                continue
            if one is None or other is None:
                undecided += 1
            else:
                values.append(float(one != other))
                clusters.append(debate[a][0].trial.cluster)
            verdicts = {j.trial.replicate: j.verdict for j in debate[b]}
            runs = [(j.verdict, verdicts.get(j.trial.replicate)) for j in debate[a]]
            both = [(x, y) for x, y in runs if x is not None and y is not None]
            compared += len(both)
            differing += sum(x != y for x, y in both)
    flags = [f"run by run {differing / compared:.3f} of {compared}"] if compared else []
    flags += [f"{undecided} undecided left out"] if undecided else []
    units = units_of(cell, values, clusters, undecided)
    return rate("prompt_disagreement", cell, units, condition, flags=tuple(flags))


def _score_delta(
    cell: Cell,
    by_debate: Mapping[str, Mapping[str, list[Judgment]]],
    pairs: Sequence[tuple[str, str]],
    condition: dict[str, str],
) -> Estimate:
    def mean(judgments: Sequence[Judgment]) -> NDArray[np.float64] | None:
        given = [score_matrix(j.detail) for j in judgments if j.detail is not None]
        return np.mean(given, axis=0) if given else None

    values = []
    for debate in by_debate.values():
        for a, b in pairs:
            one, other = mean(debate.get(a, ())), mean(debate.get(b, ()))
            if one is not None and other is not None:
                topic = next(iter(debate.values()))[0].trial.cluster
                values.append((float(np.abs(one - other).mean()), topic))
    reason = "no debate was scored under both prompts"
    return mean_over_debates("score_delta", cell, condition, values, 10.0, reason=reason)
