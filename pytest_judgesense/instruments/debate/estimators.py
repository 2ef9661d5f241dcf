"""How stable a judge of debates is: over runs, between sides, between prompts (JudgeBench).

A configuration is a judge with one prompt. Over its debates, with runs r of one debate::

    repeat_flip_rate    = debates whose runs name more than one winner / debates
    score_variance      = Var_r of one side's score; mean of the sides; [mean of the categories];
                          mean over debates
    confidence_variance = Var_r of the confidence; mean over debates
    side_bias           = |PRO wins / (PRO wins + CON wins) - 1/2| over all judgments
    instability         = 3 flip + 1 score variance + 1/2 confidence variance + 2 side bias

What the pairing of both assignments identifies: ``same_side_wins``, the share of topics in which
PRO, or CON, wins both debates, in contrast to ``same_model_wins``, in which one debater does.

A debate counts in variances and flips if two or more of its runs are parsed. Var divides by n, or
by n - 1 where the suite says so (`Design.ddof`); weights are those of the design. Pooled, a measure
is taken over the debates of all prompts. Clusters are topics: both assignments are one.

The debates that count against a configuration: those whose runs, or prompts, differ. Pure.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, zip_longest
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Anew, Clustered, Estimate
from pytest_judgesense.instruments.debate.measures import (
    CONFIDENCE_VARIANCE,
    INSTABILITY,
    SAME_MODEL_WINS,
    SAME_SIDE_WINS,
    SCORE_VARIANCE,
    WEIGHTS,
)
from pytest_judgesense.measures import every_suite
from pytest_judgesense.measures.cell import Cell, Units, estimated, missing_of, rate, unavailable
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.every_suite import Find, Group
from pytest_judgesense.measures.order import bias_of, no_preference
from pytest_judgesense.measures.rates import repeat_flip_rate
from pytest_judgesense.measures.shared import NOT_EXCHANGED, REPEAT_FLIP_RATE, SIDE_BIAS
from pytest_judgesense.stats.clustered import clustered_positive_mean, clustered_positive_statistic
from pytest_judgesense.trial import Judgment, grouped

# In the order of the weights; columns of `components`.
COMPONENTS: Final = tuple(
    measure.name for measure in (REPEAT_FLIP_RATE, SCORE_VARIANCE, CONFIDENCE_VARIANCE, SIDE_BIAS)
)
# The greatest variances there can be, dividing by n: half of the values at either end.
_MOST_SCORE: Final = 25.0
_MOST_CONFIDENCE: Final = 0.25
_FEW_RUNS: Final = "no debate has two parsed runs; set replicates in [design]"


class Tally(NamedTuple):
    """The runs of one configuration on one debate, summarised.

    Attributes:
        debate: id of the debate; ``cluster`` its topic, ``category`` that of the topic.
        runs: parsed runs; ``pro`` of them name PRO.
        variances: of the scores by category, in their order, mean of the sides; ``None`` with
            fewer than two runs.
        confidence: variance of the confidence, mean of the sides; ``None`` with fewer than
            two runs.
    """

    debate: str
    cluster: str
    category: str
    runs: int
    pro: int
    variances: tuple[float, ...] | None
    confidence: float | None

    @property
    def winner(self) -> str | None:
        """The side that most runs name; ``None`` if they are evenly split."""
        return _winner(self.pro, self.runs)

    @property
    def row(self) -> tuple[float, ...]:
        """Flip, debate counted, mean score variance, confidence variance, PRO wins, wins."""
        if self.variances is None or self.confidence is None:
            return (0.0, 0.0, 0.0, 0.0, self.pro, self.runs)
        mean = sum(self.variances) / len(self.variances)
        return (0 < self.pro < self.runs, 1.0, mean, self.confidence, self.pro, self.runs)

    def to_line(self) -> str:
        """It as JSON, for files and other processes."""
        return json.dumps(self, ensure_ascii=False)

    @classmethod
    def from_line(cls, line: str) -> Tally:
        """What `to_line` was given."""
        tally = cls._make(json.loads(line))
        return tally._replace(variances=tally.variances and tuple(tally.variances))


def _winner(pro: int, runs: int) -> str | None:
    return None if 2 * pro == runs else "PRO" if 2 * pro > runs else "CON"


def winner_of(judgments: Sequence[Judgment]) -> str | None:
    """The side that most runs of one debate name; ``None`` if they are evenly split, or none."""
    named = [judgment.verdict for judgment in judgments if judgment.verdict is not None]
    return _winner(named.count("PRO"), len(named))


def tallies_of(cell: Cell) -> dict[str, tuple[Tally, ...]]:
    """The tallies of every debate by template; debates in the order of the judgments."""
    by_template = grouped(cell.judgments, attrgetter("trial.template"))
    debates = {t: grouped(by_template[t], attrgetter("trial.item")) for t in cell.templates}
    return {
        template: tuple(_tally(runs, cell.design.ddof) for runs in of_debates.values())
        for template, of_debates in debates.items()
    }


def _tally(judgments: Sequence[Judgment], ddof: int) -> Tally:
    trial = judgments[0].trial
    parsed = [j for j in judgments if j.verdict is not None]
    detailed = scored(parsed)
    variances = confidence = None
    if len(detailed) > 1:
        scores = np.stack([score_matrix(detail) for detail in detailed])
        variances = tuple(scores.var(axis=0, ddof=ddof).mean(axis=1).tolist())
        confidence = float(np.var([detail["confidence"] for detail in detailed], ddof=ddof))
    category = str(trial.condition.get("category", ""))
    pro = sum(j.verdict == "PRO" for j in parsed)
    return Tally(trial.item, trial.cluster, category, len(parsed), pro, variances, confidence)


def scored(judgments: Iterable[Judgment]) -> list[Mapping[str, Any]]:
    """The details of those judgments that state scores; others may hold a repair or a source."""
    return [
        judgment.detail
        for judgment in judgments
        if judgment.detail is not None and "scores" in judgment.detail
    ]


def score_matrix(detail: Mapping[str, Mapping[str, Mapping[str, float]]]) -> NDArray[np.float64]:
    """Scores of one judgment, shape (categories, sides)."""
    return np.array([[of["PRO"], of["CON"]] for of in detail["scores"].values()])


def components(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The components of instability, in the order of `COMPONENTS`; NaN where nothing is counted.

    From rows of tallies (see `Tally.row`), added up, of shape (..., 6) to shape (..., 4).
    """
    flips, debates, scores, confidence, pro, wins = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [flips / debates, scores / debates, confidence / debates]
        return np.stack([*parts, np.abs(pro / wins - 0.5)], axis=-1)


def rows_of(tallies: Sequence[Tally]) -> NDArray[np.float64]:
    """The rows of tallies, shape (tallies, 6)."""
    return np.array([tally.row for tally in tallies], dtype=np.float64).reshape(-1, 6)


class _Part(NamedTuple):
    """The judgments that are estimated together: all of a cell, or those under one prompt."""

    cell: Cell
    condition: dict[str, str]
    tallies: Sequence[Tally]


def estimates(cell: Cell) -> list[Estimate]:
    """All of them, pooled first, then by prompt; between prompts see `ranking`."""
    tallies = tallies_of(cell)
    parts = [_Part(cell, {}, [tally for some in tallies.values() for tally in some])]
    if len(cell.templates) > 1:
        for template, some in tallies.items():
            under_template = cell.of(j for j in cell.judgments if j.trial.template == template)
            parts.append(_Part(under_template, {"prompt_style": template}, some))
    first = cell.design.labels[0]
    return [
        *map(_instability, parts),
        *(repeat_flip_rate(part.cell, part.condition) for part in parts),
        # The orders of the speeches are fixed: each topic is debated with exchanged sides.
        *(_side_bias(part, first) for part in parts),
        *(estimate for part in parts for estimate in _score_variances(part)),
        *map(_confidence_variance, parts),
        *(_same_wins(part, same) for same in (SAME_SIDE_WINS, SAME_MODEL_WINS) for part in parts),
    ]


def _side_bias(part: _Part, first: str) -> Estimate:
    """The side bias over all judgments, flagged if a topic lacks the debate with exchanged sides.

    A debater that wins every debate would then look like a liking for its more frequent side.
    """
    calls = part.cell.every_call().subset(~no_preference(part.cell))
    named = Units.of_groups(part.cell, calls, part.cell.having("verdict", first)[calls.positions])
    topics = [_sides(debates) for debates in _debates(part.cell)]
    stated = all(None not in sides for of_topic in topics for sides in of_topic)
    exchanged = (Counter(sides) == Counter(a[::-1] for a in sides) for sides in topics)
    whole = stated and all(exchanged)
    return bias_of(part.cell, named, part.condition, () if whole else (NOT_EXCHANGED,))


def mean_over_debates(
    measure: Measure,
    cell: Cell,
    condition: dict[str, str],
    values: Sequence[tuple[float, str]],
    most: float,
    *,
    flags: tuple[str, ...] = (),
    reason: str = _FEW_RUNS,
) -> Estimate:
    """The mean of a value for each debate, with the topic of each."""
    missing = missing_of(cell.outcomes)
    if not values:
        return unavailable(measure, cell, reason, condition, missing=missing)
    numbers, topics = map(list, zip(*values, strict=True))
    interval = clustered_positive_mean(numbers, topics, upper=most)
    return estimated(
        measure,
        cell,
        condition,
        value=float(np.mean(numbers)),
        n=len(numbers),
        clustered=interval,
        anew=lambda: Anew(topics, [numbers], lambda total, n: total / n),
        missing=missing,
        flags=(*flags, *_unless(interval)),
    )


def _unless(interval: Clustered | None) -> tuple[str, ...]:
    return () if interval else ("too few clusters",)


def _variance(
    measure: Measure, part: _Part, values: Sequence[tuple[float, str]], most: float, **within: str
) -> Estimate:
    cell, condition, ddof = part.cell, {**part.condition, **within}, part.cell.design.ddof
    # Shown only for the pooled value: elsewhere a list of numbers is easier to read.
    flags = () if condition else ("variance over n - 1" if ddof else "variance over n",)
    # Two runs, dividing by n - 1: twice the variance that dividing by n gives.
    return mean_over_debates(measure, cell, condition, values, most * (1 + ddof), flags=flags)


def _score_variances(part: _Part) -> Iterator[Estimate]:
    counted = [(t.variances, t.cluster) for t in part.tallies if t.variances is not None]
    means = [(sum(v) / len(v), cluster) for v, cluster in counted]
    yield _variance(SCORE_VARIANCE, part, means, _MOST_SCORE)
    details = scored(part.cell.judgments)
    for index, category in enumerate(details[0]["scores"] if details and counted else ()):
        of = [(variances[index], cluster) for variances, cluster in counted]
        yield _variance(SCORE_VARIANCE, part, of, _MOST_SCORE, category=category)


def _confidence_variance(part: _Part) -> Estimate:
    values = [(t.confidence, t.cluster) for t in part.tallies if t.confidence is not None]
    return _variance(CONFIDENCE_VARIANCE, part, values, _MOST_CONFIDENCE)


def most_instability(weights: Sequence[float], ddof: int = 0) -> float:
    """The greatest instability that there can be: each component at its own maximum.

    A flip rate is at most 1, a side bias 1/2. A variance is greatest with half of the values at
    either end of their range r, r^2 / 4: 25 of scores from 0 to 10, 1/4 of confidences from 0 to 1;
    dividing by n - 1, of two runs, twice that. With the published weights and n,
    3 + 25 + 0.5 / 4 + 2 / 2 = 29.125.
    """
    variances = (1 + ddof) * np.array([_MOST_SCORE, _MOST_CONFIDENCE])
    return float(np.array(weights) @ [1.0, *variances, 0.5])


def _instability(part: _Part) -> Estimate:
    cell, condition, tallies = part
    rows, weights = rows_of(tallies), np.array(cell.design.weights or WEIGHTS)
    missing = missing_of(cell.outcomes)

    def statistic(*columns: NDArray[np.float64], counts: NDArray[np.intp] | None = None) -> float:
        each = np.column_stack(columns)
        sums = each.sum(axis=0) if counts is None else counts @ each
        return float(components(sums) @ weights)

    value = statistic(*rows.T)
    if not np.isfinite(value):
        return unavailable(INSTABILITY, cell, _FEW_RUNS, condition, missing=missing)
    topics = [t.cluster for t in tallies]
    most = most_instability(weights.tolist(), cell.design.ddof)
    interval = clustered_positive_statistic(statistic, [*rows.T], topics, most)
    named = () if condition else ("weights " + ", ".join(f"{w:g}" for w in weights),)
    return estimated(
        INSTABILITY,
        cell,
        condition,
        value=value,
        n=int(rows[:, 1].sum()),
        clustered=interval,
        anew=lambda: Anew(
            topics,
            rows.T,
            lambda *sums: components(np.stack(sums[:-1], axis=-1)) @ weights,
        ),
        missing=missing,
        flags=(*named, *_unless(interval)),
    )


def _same_wins(part: _Part, same: Measure) -> Estimate:
    """Topics in which one side, or one debater, wins under both assignments."""
    cell, condition, _ = part
    exchanged = [of_topic for of_topic in _debates(cell) if _exchanged(of_topic)]
    if not exchanged:
        reason = "no topic was debated twice with exchanged sides"
        return unavailable(same, cell, reason, condition)
    values, clusters = [], []
    for first, second in exchanged:
        first_winner, other = winner_of(first), winner_of(second)
        if first_winner is not None and other is not None:
            # The sides are exchanged: one side in both debates is not one debater.
            values.append(float((first_winner == other) == (same is SAME_SIDE_WINS)))
            clusters.append(first[0].trial.cluster)
    units = units_of(cell, values, clusters, len(exchanged) - len(values))
    return rate(same, cell, units, condition)


def _debates(cell: Cell) -> list[list[list[Judgment]]]:
    """The runs of each debate of each topic under each prompt."""
    topics = grouped(cell.judgments, attrgetter("trial.cluster", "trial.template"))
    return [[*grouped(of, attrgetter("trial.item")).values()] for of in topics.values()]


def _exchanged(debates: Sequence[Sequence[Judgment]]) -> bool:
    sides = _sides(debates)
    return len(sides) == 2 and None not in sides[0] and sides[0] == sides[1][::-1] != sides[1]


def _sides(debates: Sequence[Sequence[Judgment]]) -> list[tuple[Any, Any]]:
    """Who argues for PRO and for CON in each debate; ``None`` where that is not stated."""
    conditions = [runs[0].trial.condition for runs in debates]
    return [(of.get("pro_model"), of.get("con_model")) for of in conditions]


def units_of(cell: Cell, values: list[float], clusters: list[str], dropped: int) -> Units:
    """Units of a rate over debates or topics, with the missing replies of the whole cell."""
    missing = missing_of(cell.outcomes)
    return Units(
        np.asarray(values, dtype=np.float64),
        clusters,
        dropped=dropped,
        unparsed=missing.unparsed,
        failed=missing.failed,
        calls=len(cell.judgments),
    )


def _runs(cell: Cell) -> dict[tuple[str, str], list[Judgment]]:
    """The judgments by prompt and debate."""
    return grouped(cell.judgments, attrgetter("trial.template", "trial.item"))


def _about(cell: Cell, condition: Mapping[str, Any]) -> Cell:
    """The judgments under the prompts of a condition: prompts are templates."""
    pairs = {f"{a}-{b}": (a, b) for a, b in combinations(cell.templates, 2)}
    style = condition.get("prompt_style")
    prompts = pairs.get(str(condition.get("prompt_pair")), (style,) if style else cell.templates)
    return cell.of(j for j in cell.judgments if j.trial.template in prompts)


def _under_its_prompts(find: Find) -> Find:
    """A finder that sees the judgments under the prompts of the condition alone."""
    return lambda cell, condition: find(_about(cell, condition), condition)


def _that_add(size: Callable[[Cell, Tally, Mapping[str, Any]], float]) -> Find:
    """The runs of each debate under one prompt that add to a measure, those that add most first."""

    def find(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
        runs = _runs(cell)
        added = {
            (template, tally.debate): size(cell, tally, condition)
            for template, tallies in tallies_of(cell).items()
            for tally in tallies
        }
        most = sorted(added, key=lambda key: -added[key])
        return [tuple(runs[key]) for key in most if added[key] > 0]

    return _under_its_prompts(find)


def _score_variance(cell: Cell, tally: Tally, condition: Mapping[str, Any]) -> float:
    category = condition.get("category")
    if category is None or tally.variances is None:
        return tally.row[2]
    scores = scored(cell.judgments)[0]["scores"]
    return tally.variances[list(scores).index(str(category))]


def _added_instability(cell: Cell, tally: Tally, _: Mapping[str, Any]) -> float:
    flip, _counted, score, confidence, *_wins = tally.row
    weights = cell.design.weights or WEIGHTS
    return weights[0] * flip + weights[1] * score + weights[2] * confidence


repeats = _under_its_prompts(every_suite.repeats)
positional = _under_its_prompts(every_suite.positional)
score_variance = _that_add(_score_variance)
confidence_variance = _that_add(lambda _, tally, __: tally.row[3])
instability = _that_add(_added_instability)


def _as_won(runs: list[Judgment]) -> list[Judgment]:
    """The runs of a debate, those that name its winner first."""
    winner = winner_of(runs)
    return sorted(runs, key=lambda run: run.verdict != winner)


@_under_its_prompts
def prompts_apart(cell: Cell, _: Mapping[str, Any]) -> list[Group]:
    """The runs of each debate under two prompts that name different winners."""
    runs = _runs(cell)
    groups = []
    for debate in dict.fromkeys(debate for _, debate in runs):
        for pair in combinations(cell.templates, 2):
            first_runs, other = (runs.get((template, debate), []) for template in pair)
            winners = {winner_of(first_runs), winner_of(other)}
            if None not in winners and len(winners) > 1:
                # The winner's verdict under either prompt first: they contradict each other.
                pairs = zip_longest(_as_won(first_runs), _as_won(other))
                groups.append(tuple(run for pair in pairs for run in pair if run is not None))
    return groups
