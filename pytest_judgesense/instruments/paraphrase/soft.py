"""How far another wording moves the probabilities of the verdicts::

    soft_jss = mean over template pairs of 1 - TV(p_a, p_b),   TV = 1/2 sum over v |p_a(v) - p_b(v)|

with p_a and p_b the probabilities under the two templates of a pair (`measures.soft`), on one
item, in one presentation order, of one replicate: the pairs of the JSS. 1 - TV is the greatest
probability with which two verdicts drawn from p_a and p_b can be made equal; where all
probabilities are 0 or 1, it is the JSS itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.paraphrase.estimators import paraphrase_pairs
from pytest_judgesense.instruments.paraphrase.measures import SOFT_JSS
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.soft import any_probabilities, meant, soft_rate, unlike, variation
from pytest_judgesense.trial import Judgment, grouped

_NOTHING = "fewer than two templates were run on one item"


def estimates(cell: Cell) -> list[Estimate]:
    """Soft JSS: pooled, and by template pair."""
    if not any_probabilities(cell):
        return []
    pairs = paraphrase_pairs(cell)
    by_pair = grouped(pairs, lambda pair: "~".join(judgment.trial.template for judgment in pair))
    flags = ("degenerate",) if cell.degenerate else ()

    def alike(a: Judgment, b: Judgment) -> float:
        return 1 - variation(meant(cell, a), meant(cell, b))

    of = partial(soft_rate, SOFT_JSS, value=alike, nothing=_NOTHING)
    return [
        of(cell, pairs, flags=flags),
        *(of(cell, some, condition={"template_pair": two}) for two, some in by_pair.items()),
    ]


def moved(cell: Cell, _: Mapping[str, Any]) -> list[tuple[Judgment, ...]]:
    """Template pairs with different probabilities, the largest difference first."""
    return unlike(cell, paraphrase_pairs(cell))
