r"""Is a vote of several hot calls worth more than one cold call? (arXiv 2603.28304 proposes it.)

With a_c the agreement of one call at the lowest temperature of the grid and m_k that of a vote of k
replicates at a higher one (`estimators`: over all sets of k, exactly), both of one question under
one prompt::

    difference = mean (m_k - a_c)

over the questions and prompts that have k replies at the one and a reply at the other temperature.
Its interval is clustered by question. p is that of exchanging vote and call within whole questions
(`stats.ranks`), ``p_holm`` Holm's over all rows of the table; where the two disagree, the end next
to 0 is that of the test. ``calls`` are those that a verdict of
the vote takes in the mean, ``calls_cold`` those of the one verdict: two where answers are graded
one by one.
"""

from __future__ import annotations

import numpy as np

from pytest_judgesense.instruments.temperature.effects import Row, Rows, effect_row
from pytest_judgesense.instruments.temperature.estimators import VOTERS, calls_of
from pytest_judgesense.instruments.temperature.sweep import (
    Codes,
    Floats,
    Series,
    Sweep,
    majority_shares,
    on,
    paired_differences,
)
from pytest_judgesense.stats.comparison import Adjusted, agreeing_ends, holm
from pytest_judgesense.stats.ranks import p_of_swaps, share


def vote_contrasts(sweep: Sweep, series: Series) -> Rows:
    """A row for each temperature above the lowest and each k that the replicates allow."""
    cold, *hotter = series.levels["temperature"][0]
    usable, each = series.alive & series.labelled, calls_of(sweep, series)
    single = on(usable & (series.temperature == cold), series.values["agreement"])
    replies = series.votes.sum(axis=1)
    rows: Rows = []
    for hot in hotter:
        for k in VOTERS:
            enough = usable & (series.temperature == hot) & (replies >= k)
            vote = np.full(enough.size, np.nan)
            vote[enough] = majority_shares(series.votes[enough], k)
            values, questions = paired_differences(series, vote, single)
            if not values.size:
                continue
            won, _ = paired_differences(series, vote, on(np.isfinite(single), np.zeros(vote.size)))
            head = {"temperature": hot, "cold": cold, "k": k, "vote": float(won.mean())}
            row = effect_row({**head, "single": float((won - values).mean())}, values, questions)
            row["p"] = _p_of_exchange(values, questions, series.seed)
            row["calls"] = float(k * each[enough].mean())
            row["calls_cold"] = float(each[np.isfinite(single)].mean())
            rows.append(row)
    adjusted = holm([row["p"] for row in rows])
    return [_decided(row, step) for row, step in zip(rows, adjusted, strict=True)]


def _decided(row: Row, step: Adjusted) -> Row:
    """The row with Holm's p, its interval holding 0 exactly where that is above .05."""
    decided = {**row, "p_holm": step.p}
    if row["lower"] is not None:
        ends = agreeing_ends(row["value"], (row["lower"], row["upper"]), row["p"], step)
        decided |= {"lower": ends[0], "upper": ends[1]}
    return decided


def _p_of_exchange(differences: Floats, questions: Codes, seed: int) -> float:
    sums, sizes = (
        np.bincount(questions, weights=of).astype(np.float64) for of in (differences, None)
    )
    won = np.stack([sums, sizes], axis=1)[sizes > 0]
    even = won * (0.0, 1.0)
    moved = won[:, 0] != 0
    return p_of_swaps(won[moved], even[moved], won.sum(axis=0), even.sum(axis=0), share, seed)
