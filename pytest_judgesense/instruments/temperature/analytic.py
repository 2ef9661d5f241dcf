"""Other temperatures, computed from the probabilities of a judge, without further calls.

At temperature T a token is drawn with p^(1/T) made to add up to 1, where p are the probabilities
that endpoints state. So of a template that is answered at once, with nothing drawn before the
verdict, for each question, template and order::

    p_T(v)      = p(v)^(1/T) / sum over verdicts u of p(u)^(1/T)       T = 0: the likeliest ones
    agreement   = mean p_T(label)              of the replies that state a verdict
    consistency = mean sum over v of p_T(v)^2  two replies give the same verdict

The means stand beside what was sampled under the same templates: ``agreement_parsed`` and
``pairwise_consistency``. It is given that a verdict is stated, so it holds at any T. How many
replies state none is another question: ``no_label`` is the mean of 1 - mass, at T = 1 alone, for
the stated tokens are too few to tell it where the others gain. A verdict among several tokens, or
under a ``top_p``, is drawn a little differently: the powers are those of the whole label.

A verdict that is not among the stated tokens has a probability that nobody knows: at least 0 and at
most u, that of the least likely verdict that is stated, or what all stated tokens leave. So above
T = 0 each such question has a range, and so has the mean: from ``agreement_least`` to
``agreement_most``, which lie together where everything is stated. With w the powers of the stated
probabilities and k verdicts that are not::

    p_T(stated v)     from w(v) / (sum w + k u^(1/T))     to  w(v) / sum w
    p_T(unstated v)   from 0                              to  u^(1/T) / (sum w + u^(1/T))
    consistency       from (sum w^2 + k u^(2/T)) / (sum w + k u^(1/T))^2  to  sum w^2 / (sum w)^2

``agreement`` is the middle of its range, and its interval reaches from the lower end of the least
values to the upper end of the most. Questions are not left out: those with verdicts that are not
stated are the ones on which a judge is sure.

A template is answered at once if none of its replies that tell probabilities has more than
`_MOST_WORDS` words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from operator import attrgetter
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from pytest_judgesense.datasheets.sections import Estimates, TableRow, TableRows
from pytest_judgesense.estimate import number_text
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.soft import (
    LabelProbabilities,
    has_token_probabilities,
    right_verdict,
)
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.inputs import Clusters
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment, grouped

_Asked: TypeAlias = tuple[str, str, str]

# '{"verdict": "A"}', "My verdict: A."
_MOST_WORDS: Final = 4
_WORD: Final = re.compile(r"\w+")
# The columns for the temperatures that were sampled.
_GRID: Final = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)


def tempered(probabilities: LabelProbabilities, temperature: float) -> dict[str, float]:
    """The probabilities at a temperature; those given are at 1."""
    top = max(probabilities.values())
    if temperature <= 0:
        weights = {v: float(p == top) for v, p in probabilities.items()}
    else:
        weights = {
            v: math.exp((math.log(p) - math.log(top)) / temperature) if p > 0 else 0.0
            for v, p in probabilities.items()
        }
    total = sum(weights.values())
    return {v: weight / total for v, weight in weights.items()}


def agreement_range(
    probabilities: LabelProbabilities, label: str, temperature: float, mass: float | None
) -> tuple[float, float]:
    """The least and the greatest probability of a label at a temperature; see the module."""
    of = tempered(probabilities, temperature)
    unstated, most = _unstated(probabilities, temperature, mass)
    if not unstated:
        value = of.get(label, 0.0)
        return value, value
    if probabilities.get(label):
        return of[label] / (1 + unstated * most), of[label]
    return 0.0, most / (1 + most)


def consistency_range(
    probabilities: LabelProbabilities, temperature: float, mass: float | None
) -> tuple[float, float]:
    """The least and the greatest probability that two replies at a temperature are the same."""
    same = sum(p * p for p in tempered(probabilities, temperature).values())
    unstated, most = _unstated(probabilities, temperature, mass)
    return (same + unstated * most**2) / (1 + unstated * most) ** 2, same


def _unstated(
    probabilities: LabelProbabilities, temperature: float, mass: float | None
) -> tuple[int, float]:
    """How many verdicts are not stated, and the most that each can weigh, of 1 that is stated."""
    unstated = sum(p <= 0 for p in probabilities.values())
    if not unstated or temperature <= 0:
        return 0, 0.0
    stated = [p for p in probabilities.values() if p > 0]
    most = min(stated)
    if mass:  # probabilities are of the mass, and what is not stated shares the rest
        most = min(most, max(0.0, 1 - mass) / mass)
    top = max(stated)
    total = sum(math.exp(math.log(p / top) / temperature) for p in stated)
    weight = math.exp(math.log(most / top) / temperature) if most > 0 else 0.0
    return unstated, weight / total


def rows(cell: Cell, _estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for each temperature: the expected values, and the sampled ones."""
    at_once = _at_once(cell)
    if not at_once:
        return None
    read = (judgment for judgment in cell.judgments if judgment.trial.template in at_once)
    by_prompt = grouped(read, attrgetter("trial.item", "trial.template", "trial.order"))
    with_chances = {
        key: some
        for key, every in by_prompt.items()
        if (some := [*filter(has_token_probabilities, every)])
    }
    sampled = {float(t) for t in cell.values_of("temperature") if not isinstance(t, str)}
    return [_row(cell, t, by_prompt, with_chances) for t in sorted({*_GRID, *sampled})]


def _at_once(cell: Cell) -> set[str]:
    """The templates whose replies are only a verdict."""
    with_chances = [*filter(has_token_probabilities, cell.judgments)]
    long = (
        judgment
        for judgment in with_chances
        if len(_WORD.findall(judgment.reply or "")) > _MOST_WORDS
    )
    return {judgment.trial.template for judgment in with_chances} - {
        judgment.trial.template for judgment in long
    }


def _row(
    cell: Cell,
    temperature: float,
    by_prompt: Mapping[_Asked, Sequence[Judgment]],
    with_chances: Mapping[_Asked, Sequence[Judgment]],
) -> TableRow:
    stated = [(some[0], _mean(some)) for some in with_chances.values()]
    agree = [
        agreement_range(p, right_verdict(cell, judgment), temperature, judgment.mass)
        for judgment, p in stated
        if judgment.trial.label is not None
    ]
    same = [consistency_range(p, temperature, judgment.mass) for judgment, p in stated]
    labelled = [
        judgment.trial.cluster for judgment, _ in stated if judgment.trial.label is not None
    ]
    row: dict[str, float | int | None] = {
        "temperature": temperature,
        "n": len(stated),
        **_range_row("agreement", agree, labelled),
        **_range_row("consistency", same, [judgment.trial.cluster for judgment, _ in stated]),
        **dict(_sampled(by_prompt.values(), temperature)),
    }
    if temperature == 1:
        masses = [
            judgment.mass
            for some in with_chances.values()
            for judgment in some
            if judgment.mass is not None
        ]
        row["no_label"] = 1 - float(np.mean(masses)) if masses else None
    return row


def _mean(judgments: Sequence[Judgment]) -> LabelProbabilities:
    """The mean of the probabilities of one prompt, which are the same ones every time or nearly."""
    stated = [judgment.probabilities or {} for judgment in judgments]
    return {v: sum(of.get(v, 0.0) for of in stated) / len(stated) for v in stated[0]}


def _range_row(
    name: str, ranges: Sequence[tuple[float, float]], clusters: Clusters
) -> dict[str, float | None]:
    """The mean of ranges: its middle, its ends, and the interval that holds both."""
    least, most = (share_row(name, [ends[end] for ends in ranges], clusters) for end in (0, 1))
    low, high = least[name], most[name]
    return {
        name: None if low is None or high is None else (low + high) / 2,
        f"{name}_least": low,
        f"{name}_most": high,
        f"{name}_lower": least[f"{name}_lower"],
        f"{name}_upper": most[f"{name}_upper"],
    }


def share_row(name: str, values: ArrayLike, clusters: Clusters) -> dict[str, float | None]:
    """The mean of numbers from 0 to 1 and the ends of its interval; ``None`` without any."""
    some = np.asarray(values, dtype=np.float64)
    interval = clustered_proportion(np.minimum(some, 1.0), clusters) if some.size else None
    return {
        name: float(some.mean()) if some.size else None,
        f"{name}_lower": None if interval is None else interval.lower,
        f"{name}_upper": None if interval is None else interval.upper,
    }


def _sampled(
    prompts: Iterable[Sequence[Judgment]], temperature: float
) -> Iterator[tuple[str, float | int | None]]:
    """The replies at a temperature, summarised; ``None`` if there are none."""
    right, same, replies = [], [], 0
    for every in prompts:
        sampled = [
            judgment
            for judgment in every
            if judgment.trial.condition.get("temperature") == temperature
        ]
        sampled = [judgment for judgment in sampled if judgment.verdict is not None]
        replies += len(sampled)
        right += [float(judgment.correct) for judgment in sampled if judgment.correct is not None]
        if pairs := [a.verdict == b.verdict for a, b in combinations(sampled, 2)]:
            same.append(float(np.mean(pairs)))
    yield "agreement_sampled", float(np.mean(right)) if right else None
    yield "consistency_sampled", float(np.mean(same)) if same else None
    yield "replies", replies


def lines(rows: TableRows) -> Iterator[str]:
    """Expected values at every temperature from probabilities, beside the sampled ones."""
    head = "".join(f"{word:<38}" for word in ("agreement (sampled)", "consistency (sampled)"))
    yield f"{'from probabilities':<26}{'n':>6}  {head}".rstrip()
    for row in rows:
        cells = "".join(f"{_expected(row, name):<38}" for name in ("agreement", "consistency"))
        name = f"temperature {row['temperature']:g}"
        yield f"{name:<26}{row['n']:>6}  {cells}".rstrip()
    yield "of prompts that are answered at once, given that a verdict is stated: without replicates"
    lost = next((row["no_label"] for row in rows if row.get("no_label") is not None), None)
    if lost is not None:
        yield f"at temperature 1 another token than a verdict's has probability {number_text(lost)}"


def _expected(row: TableRow, name: str) -> str:
    if row[name] is None:
        return "N/A"
    lower, upper, sampled = (row[f"{name}_{word}"] for word in ("lower", "upper", "sampled"))
    ends = "" if lower is None else f" [{number_text(lower)}, {number_text(upper)}]"
    # Where some verdicts are not stated the data only bound it.
    spans = dict.fromkeys(number_text(row[f"{name}_{end}"]) for end in ("least", "most"))
    return " to ".join(spans) + ends + ("" if sampled is None else f" ({number_text(sampled)})")
