"""Judgments of a temperature sweep in columns, and the series that they form.

A *configuration* is a judge type with a prompt style (and, in foreign logs, a model) at a
temperature; a *series* is one question under one configuration: its replicates, in order. Half a
million judgments are measured in one pass, so what is counted is counted on arrays of codes.

Worst cases of a series with missing replies: each equals its neighbours, or differs from both;
for pairs of replicates, each joins the most frequent verdict, or the rarest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import comb
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.instruments.temperature.stimuli import form_codes
from pytest_judgesense.measures.cell import Cell, comparable, once_a_cell
from pytest_judgesense.stats.inputs import compact_codes, first_positions, joint_codes
from pytest_judgesense.trial import Condition, Judgment, content_of_slot

FACTORS: Final = ("judge_type", "prompt_style", "temperature")
SOURCES: Final = ("gold", "model", "dataset")
# What distinguishes series besides question and temperature: covariates, and moderators.
COVARIATES: Final = ("judge_type", "prompt_style", "model", "dataset")
# The outcome of a judgment; the last one: refused by the provider with its whole configuration.
VERDICT, UNPARSED, FAILED, OUT = range(4)
# From which temperature on it is high, unless the suite says otherwise.
_THRESHOLD: Final = 1.5
_REFUSED: Final = "refused:"
# With more judgments units are not paired: they would take more memory than the log.
_MOST_PAIRED: Final = 50_000

Codes: TypeAlias = NDArray[np.intp]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Value: TypeAlias = str | int | float


class Sweep(NamedTuple):
    """The judgments of a cell in columns, shape (judgments,) each.

    Attributes:
        questions: the names of the clusters by code.
        reasons: the reasons of replies without a verdict, and of failed calls.
        levels: for each factor and source that occurs its values in order, and their codes.
        keys: ids of the trials; none beyond `_MOST_PAIRED` judgments.
        content: code of the content that was judged better, ``gold`` of the one that is,
            ``reason`` of what was said; -1 without one.
        question: code of the cluster, ``series`` of the series.
        repair: calls that were made to repair malformed replies; 0 where there were none.
        stratum: code of what a series shares with those of other temperatures: its question, its
            prompt and its model.
        form: whether the reply keeps the prescribed form: 0 if it does, 1 if not, -1 if that cannot
            be told.
    """

    cell: Cell
    questions: tuple[str, ...]
    reasons: tuple[str, ...]
    levels: Mapping[str, tuple[Sequence[Value], Codes]]
    keys: NDArray[np.object_]
    state: Codes
    content: Codes
    gold: Codes
    question: Codes
    series: Codes
    replicate: Codes
    repair: Codes
    reason: Codes
    stratum: Codes
    form: Codes

    @property
    def threshold(self) -> float:
        """From which temperature on it is high."""
        return self.cell.design.effect_threshold or _THRESHOLD

    @property
    def temperatures(self) -> Floats:
        """Shape (judgments,); NaN where none is known."""
        if "temperature" not in self.levels:
            return np.full(self.state.size, np.nan)
        values, codes = self.levels["temperature"]
        return np.array([float(value) for value in values])[codes]

    def codes(self, keys: Sequence[str]) -> tuple[Codes, list[dict[str, Value]]]:
        """A code for each combination of ``keys`` that occurs, and the conditions in order."""
        code = np.zeros(self.state.size, dtype=np.intp)
        conditions: list[dict[str, Value]] = [{}] if code.size else []
        for key in keys:
            values, codes = self.levels[key]
            used, code = compact_codes(code * len(values) + codes)
            parts = (divmod(pair_code, len(values)) for pair_code in used.tolist())
            conditions = [conditions[row] | {key: values[level]} for row, level in parts]
        return code, conditions


@dataclass(frozen=True)
class PooledSeries:
    """Series of one judge or of several, shape (series,) each; NaN where something is not defined.

    Attributes:
        levels: for each factor and source its values in order, and their codes.
        question: code of its cluster.
        stratum: code of what it shares with series of other temperatures: question, prompt, model.
        alive: whether it was not refused by the provider.
        values: by name ``consistency`` and ``pairwise_consistency`` (see `estimators`); of the
            replies received the shares that equal the gold label (``agreement``), that state no
            verdict (``error_rate``) and, where a form is prescribed, that do not keep it
            (``format_error_rate``); of the parsed ones the share that equals the label
            (``agreement_parsed``).
        threshold: from which temperature on it is high.
    """

    levels: Mapping[str, tuple[Sequence[Value], Codes]]
    question: Codes
    stratum: Codes
    alive: Flags
    temperature: Floats
    values: Mapping[str, Floats]
    threshold: float
    seed: int

    @property
    def high(self) -> Flags:
        """Whether its temperature is at or above the threshold."""
        return self.temperature >= self.threshold

    def several(self, *keys: str) -> Iterator[tuple[str, Value, Flags]]:
        """Each level of each of the ``keys`` that has several, and which series are of it."""
        for key in keys:
            if key in self.levels and len(self.levels[key][0]) > 1:
                values, codes = self.levels[key]
                yield from ((key, value, codes == code) for code, value in enumerate(values))


@dataclass(frozen=True)
class Series(PooledSeries):
    """The series of a sweep.

    Attributes:
        first: position of the first judgment of each, where its conditions stand.
        keys: ids of its trials, one a line; none where those of the judgments are not known.
        worst: the worst cases of the two consistencies, at least and at most.
        broken: replies that do not keep the prescribed form, of the ``formed`` ones of which that
            can be told.
        votes: replies for the gold content, for each other one, and without a verdict; shape
            (series, contents + 1).
        judgments: positions by series in order.
    """

    first: Codes
    keys: NDArray[np.object_]
    worst: Mapping[str, tuple[Floats, Floats]]
    votes: Codes
    labelled: Flags
    judgments: Codes
    broken: Codes
    formed: Codes


def coded_levels(
    conditions: Sequence[Condition], key: str, condition: NDArray[Any]
) -> tuple[list[Value], Codes]:
    """The values of a key of conditions in order, and the code of each judgment or series.

    ``condition``: the place of that of each one.
    """
    values_of_key = comparable([condition_of.get(key, "") for condition_of in conditions])
    values = sorted(set(values_of_key), key=lambda value: (isinstance(value, str), value))
    return values, np.array([values.index(value) for value in values_of_key], dtype=np.intp)[
        condition
    ]


@once_a_cell
def sweep_of(cell: Cell) -> Sweep:
    """The judgments of a cell in columns."""
    # A log shares its conditions between its lines: what they hold is looked at once.
    number, _ = cell.coded("condition", lambda judgment: id(judgment.trial.condition))
    conditions = [
        cell.judgments[position].trial.condition for position in first_positions(number).tolist()
    ]
    coded = {key: coded_levels(conditions, key, number) for key in (*FACTORS, *SOURCES)}
    levels = {}
    for factor, (values, codes) in coded.items():
        # A temperature that some lines lack cannot be compared.
        texts = any(isinstance(value, str) for value in values)
        if values and values != [""] and not (texts and factor == "temperature"):
            levels[factor] = values, codes
    gold_of, temperature, model = (coded[key][1] for key in ("gold", "temperature", "model"))
    order, template = cell.coded("order")[0], cell.coded("template")[0]
    prompt = cell.items, order, template, model
    reason, reasons = cell.coded(
        "reason", lambda judgment: getattr(judgment.outcome, "reason", None)
    )
    # Trials that a provider refuses are refused under a prompt, temperature and model.
    declined = np.array([*(reason_text.startswith(_REFUSED) for reason_text in reasons), False])[
        reason
    ]
    place = joint_codes(template, temperature, model)
    answers = np.bincount(place, weights=~(declined & (cell.outcomes == FAILED)))
    state = np.where(answers[place] == 0, OUT, cell.outcomes).astype(np.intp)
    answer, words = cell.coded("content", _content)
    gold, labels = cell.coded("label")
    contents = [*dict.fromkeys(("1", "2", "tie", *words, *labels))]
    replicate, replicates = cell.coded("replicate")
    question, questions = cell.coded("cluster")
    repair, repairs = cell.coded("repair", _repairs)
    paired = cell.judgments if len(cell.judgments) <= _MOST_PAIRED else ()
    return Sweep(
        cell,
        tuple(questions),
        tuple(reasons),
        levels,
        np.array([judgment.trial.id for judgment in paired], dtype=object),
        state,
        np.array([*map(contents.index, words), -1])[answer],
        np.array([*map(contents.index, labels), -1])[gold],
        question.astype(np.intp),
        joint_codes(*prompt, gold_of, temperature),
        np.array(replicates, dtype=np.intp)[replicate],
        np.array(repairs, dtype=np.intp)[repair],
        reason.astype(np.intp),
        joint_codes(*prompt),
        form_codes(cell),
    )


def _content(judgment: Judgment) -> str | None:
    if judgment.verdict is None:
        return None
    return judgment.chosen or content_of_slot(judgment.verdict, judgment.trial.order)


def _repairs(judgment: Judgment) -> int:
    repair = judgment.detail.get("repair") if judgment.detail else None
    return int(repair.get("calls", 1)) if repair else 0


@once_a_cell
def series_of(cell: Cell) -> Series:
    """The series of a sweep; one that was refused has none of the numbers."""
    sweep = sweep_of(cell)
    # Positions by series, and within a series by replicate.
    order = np.lexsort((sweep.replicate, sweep.series))
    code = sweep.series[order]
    count = int(code[-1]) + 1 if code.size else 0
    bounds = np.searchsorted(code, np.arange(count + 1))
    state, content = sweep.state[order], sweep.content[order]
    included = state != OUT
    parsed = state == VERDICT
    received = parsed | (state == UNPARSED)

    form = np.where(included, sweep.form[order], -1)

    def total(of: Flags, rows_of: Codes = code) -> Floats:
        return np.bincount(rows_of[of], minlength=count).astype(np.float64)

    n, calls, replies = total(parsed), total(included), total(received)
    # Neighbours among the parsed replicates, and among all.
    verdicts, of = content[parsed], code[parsed]
    changes = total((of[1:] == of[:-1]) & (verdicts[1:] != verdicts[:-1]), of[1:])
    inside = (code[1:] == code[:-1]) & included[1:]
    touching = inside & ~(parsed[1:] & parsed[:-1])
    shown = inside & ~touching & (content[1:] != content[:-1])
    kinds = max(3, int(sweep.content.max(initial=-1)) + 1, int(sweep.gold.max(initial=-1)) + 1)
    cells = np.bincount(of * kinds + verdicts, minlength=count * kinds)
    by_content = cells.reshape(count, kinds)
    few, many = _completed(by_content, (calls - n).astype(np.intp))
    first = order[bounds[:-1]]
    gold = sweep.gold[first]
    labelled = gold >= 0
    lost = replies - n
    votes = _votes(by_content, gold, lost)
    keys = sweep.keys[order] if sweep.keys.size else sweep.keys
    parts = np.split(keys, bounds[1:-1]) if keys.size else []
    return Series(
        levels={key: (values, codes[first]) for key, (values, codes) in sweep.levels.items()},
        threshold=sweep.threshold,
        seed=sweep.cell.seed,
        first=first,
        question=sweep.question[first],
        stratum=sweep.stratum[first],
        keys=np.array(["\n".join(part) for part in parts], dtype=object),
        alive=sweep.state[first] != OUT,
        temperature=sweep.temperatures[first],
        values={
            **outcomes_of(
                replies,
                np.where(labelled, votes[:, 0], np.nan),
                lost,
                changes,
                *((total(form == 1), total(form >= 0)) if (form >= 0).any() else ()),
            ),
            "pairwise_consistency": _pairwise(by_content),
        },
        worst={
            "consistency": (
                _unchanged(total(shown | touching, code[1:]), calls),
                _unchanged(changes, calls),
            ),
            "pairwise_consistency": (_pairwise(few), _pairwise(many)),
        },
        votes=votes,
        labelled=labelled,
        judgments=order,
        broken=total(form == 1).astype(np.intp),
        formed=total(form >= 0).astype(np.intp),
    )


def outcomes_of(
    replies: Floats,
    right: Floats,
    lost: Floats,
    changes: Floats,
    broken: Floats | None = None,
    formed: Floats | None = None,
) -> dict[str, Floats]:
    """The outcomes of series, of their counts of replies.

    ``right`` is NaN without a label; of ``formed`` replies it can be told whether they keep the
    prescribed form, and ``broken`` ones do not.
    """
    outcomes = {
        "agreement": _shares(right, replies, replies > 0),
        "agreement_parsed": _shares(right, replies - lost, replies > lost),
        "consistency": _unchanged(changes, replies - lost),
        "error_rate": _shares(lost, replies, replies > 0),
    }
    if broken is not None and formed is not None:
        outcomes["format_error_rate"] = _shares(broken, formed, formed > 0)
    return outcomes


def _unchanged(changed: Floats, n: Floats) -> Floats:
    return 1 - _shares(changed, n - 1, n > 1)


def _shares(part: Floats | Codes, whole: Floats | Codes, defined: Flags) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, part / whole, np.nan)


def _completed(by_content: Codes, missing: Codes) -> tuple[Codes, Codes]:
    """The counts of verdicts with missing ones spread over all contents, and all on one."""
    spread, gathered = by_content.copy(), by_content.copy()
    gathered[np.arange(len(gathered)), gathered.argmax(axis=1)] += missing
    for step in range(int(missing.max(initial=0))):
        rows = np.flatnonzero(missing > step)
        spread[rows, spread[rows].argmin(axis=1)] += 1
    return spread, gathered


def _votes(by_content: Codes, gold: Codes, lost: Floats) -> Codes:
    """The verdicts of each series for its gold label, for the others in order, and for nothing."""
    every, column = np.arange(len(by_content)), np.maximum(gold, 0)
    for_gold = np.where(gold >= 0, by_content[every, column], 0)
    against = by_content.copy()
    against[every, column] = 0
    columns = (for_gold, np.sort(against, axis=1)[:, 1:], lost)
    return np.column_stack(columns).astype(np.intp)


def _pairwise(counts: Codes) -> Floats:
    n = counts.sum(axis=1)
    return _shares((counts * (counts - 1)).sum(axis=1), n * (n - 1), n > 1)


@lru_cache(maxsize=4096)
def majority_share(k: int, gold: int, rest_of: tuple[int, ...], silent: int) -> float:
    """Chance that the gold content wins the vote of ``k`` replies drawn without replacement.

    There are ``gold`` replies for it, ``others`` for each other content, and ``silent`` ones
    without a verdict: ``k`` of them or more.
    """
    sizes = (gold, *rest_of)
    won = 0.0
    for votes in product(*(range(min(size, k) + 1) for size in sizes)):
        rest = k - sum(votes)
        if votes[0] and 0 <= rest <= silent and votes[0] >= max(votes):
            ways = comb(silent, rest)
            for size, vote in zip(sizes, votes, strict=True):
                ways *= comb(size, vote)
            won += ways / votes.count(votes[0])
    return won / comb(sum(sizes) + silent, k)


def majority_shares(votes: Codes, k: int) -> Floats:
    """`majority_share` of each series, from its row of `Series.votes`."""
    which = joint_codes(*votes.T)
    kinds = votes[first_positions(which)].tolist()
    shares = [majority_share(k, of[0], tuple(of[1:-1]), of[-1]) for of in kinds]
    return np.array(shares, dtype=np.float64)[which]


def means_of(values: Floats, codes: Codes, count: int) -> Floats:
    """The means by code, ignoring NaN; NaN if there is nothing."""
    defined = np.isfinite(values)
    n = np.bincount(codes[defined], minlength=count)
    return _shares(np.bincount(codes[defined], values[defined], minlength=count), n, n > 0)


def paired_differences(pool: PooledSeries, high: Floats, low: Floats) -> tuple[Floats, Codes]:
    """For each question under one prompt and model, mean of ``high`` less that of ``low``.

    Both are outcomes of series, shape (series,), NaN where one does not belong to the side. Given
    are the differences where both sides have an outcome, and their clusters.
    """
    count = int(pool.stratum.max(initial=-1)) + 1
    of_high, of_low = (means_of(side, pool.stratum, count) for side in (high, low))
    difference = of_high - of_low
    defined = np.flatnonzero(np.isfinite(difference))
    question = np.zeros(difference.size, dtype=np.intp)
    question[pool.stratum] = pool.question
    return difference[defined], question[defined]


def on(side: Flags, values: Floats) -> Floats:
    """The values of one side; NaN where a series does not belong to it."""
    return np.where(side, values, np.nan)
