"""Judgments of a temperature sweep in columns, and the series that they form.

A *configuration* is a judge type with a prompt style (and, in foreign logs, a model) at a
temperature; a *series* is one question under one configuration: its replicates, in order. Half a
million judgments are measured in one pass, so what is counted is counted on arrays of codes.

Worst cases of a series with missing replies: each equals its neighbours, or differs from both;
for pairs of replicates, each joins the most frequent verdict, or the rarest.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import comb
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.trial import Failed, Judgment, Unparsed, Verdict, content_of_slot

FACTORS: Final = ("judge_type", "prompt_style", "temperature")
SOURCES: Final = ("gold", "model")
# What came of a judgment; the last one: refused by the provider with its whole configuration.
VERDICT, UNPARSED, FAILED, OUT = range(4)
_REFUSED: Final = "refused:"

_Codes: TypeAlias = NDArray[np.intp]
_Array: TypeAlias = NDArray[np.float64]
_Value: TypeAlias = str | int | float


@dataclass(frozen=True)
class Sweep:
    """The judgments of a cell in columns, shape (judgments,) each.

    Attributes:
        state: a verdict, unparsed, failed, or refused with its whole configuration.
        content: code of the content that was judged better; -1 without a verdict.
        gold: code of the content that is better; -1 where no label says.
        slot: code of the verdict in the judge's own terms; -1 without one.
        question: code of the cluster; ``questions`` names them.
        series: code of the series; `Series.judgments` has their replicates in order.
        stratum: code of what a series shares with those of other temperatures: its question, its
            prompt and its model.
        repair: calls that were made to repair malformed replies; 0 where there were none.
        levels: for each factor and source that occurs its values in order, and their codes.
        reasons: what was said of replies without a verdict, and of calls without a reply.
        reason: code of it; -1 for a verdict.
    """

    cell: Cell
    state: NDArray[np.intc]
    content: NDArray[np.intc]
    gold: NDArray[np.intc]
    slot: NDArray[np.intc]
    question: _Codes
    questions: Sequence[str]
    series: _Codes
    stratum: _Codes
    replicate: _Codes
    repair: NDArray[np.intc]
    levels: Mapping[str, tuple[Sequence[_Value], _Codes]]
    reasons: Sequence[str]
    reason: _Codes

    def codes(self, keys: Sequence[str]) -> tuple[_Codes, list[dict[str, _Value]]]:
        """A code for each combination of ``keys`` that occurs, and the conditions in order."""
        code = np.zeros(self.state.size, dtype=np.intp)
        for key in keys:
            values, codes = self.levels[key]
            code = code * len(values) + codes
        found, first, inverse = np.unique(code, return_index=True, return_inverse=True)
        conditions = [
            {key: self.levels[key][0][self.levels[key][1][at]] for key in keys} for at in first
        ]
        return inverse.astype(np.intp).reshape(-1) if found.size else code, conditions


@dataclass(frozen=True)
class Series:
    """The series of a sweep, shape (series,) each; NaN where something is not defined.

    Attributes:
        first: position of the first judgment of each, where its conditions stand.
        question: code of its cluster.
        consistency: see `temperature`; ``least`` and ``most`` are its worst cases.
        pairwise: pairwise consistency; its worst cases are ``pairwise_least`` and
            ``pairwise_most``.
        agreement: share of the replies received that equal the gold label.
        error_rate: share of the replies received without a verdict.
        votes: replies for the gold content, for each other one, and without a verdict; shape
            (series, contents + 1).
        judgments: positions by series in order, each at ``bounds[i]`` to ``bounds[i + 1]``.
    """

    first: _Codes
    question: _Codes
    stratum: _Codes
    consistency: _Array
    least: _Array
    most: _Array
    pairwise: _Array
    pairwise_least: _Array
    pairwise_most: _Array
    agreement: _Array
    error_rate: _Array
    votes: _Codes
    labelled: NDArray[np.bool_]
    judgments: _Codes
    bounds: _Codes

    def outcome(self, name: str) -> _Array:
        """One of `measures.OUTCOMES` by its name."""
        values: _Array = getattr(self, name)
        return values


class _Coding(dict[Any, int]):
    """Codes by first appearance."""

    def __missing__(self, key: Any) -> int:
        self[key] = len(self)
        return self[key]


def _content(judgment: Judgment) -> str | None:
    verdict = judgment.verdict
    if judgment.chosen is not None or verdict is None:
        return judgment.chosen if verdict is not None else None
    return content_of_slot(verdict, judgment.trial.order)


def sweep_of(cell: Cell) -> Sweep:
    """The judgments of a cell in columns; made once for a cell."""
    return cell.once("sweep", lambda: _columns(cell))


def _columns(cell: Cell) -> Sweep:
    contents, slots, questions = _Coding(), _Coding(), _Coding()
    series, strata, reasons = _Coding(), _Coding(), _Coding()
    for name in ("1", "2", "tie"):
        contents[name]
    factors: dict[str, _Coding] = {key: _Coding() for key in (*FACTORS, *SOURCES)}
    refused: dict[tuple[object, ...], bool] = {}
    place: list[tuple[object, ...]] = []
    flat = array("i")
    # Conditions that a log shares between its lines are looked at once.
    known: dict[int, tuple[int, ...]] = {}
    for judgment in cell.judgments:
        trial, outcome, condition = judgment.trial, judgment.outcome, judgment.trial.condition
        where = (trial.template, condition.get("temperature"), condition.get("model"))
        state, reason, is_refused = VERDICT, -1, False
        if isinstance(outcome, Unparsed):
            state, reason = UNPARSED, reasons[outcome.reason]
        elif isinstance(outcome, Failed):
            state, reason = FAILED, reasons[outcome.reason]
            is_refused = outcome.reason.startswith(_REFUSED)
        refused[where] = refused.get(where, True) and is_refused
        place.append(where)
        said = _content(judgment)
        repair = judgment.detail.get("repair") if judgment.detail else None
        levels_of = known.get(id(condition))
        if levels_of is None:
            levels_of = tuple(factors[key][condition.get(key, "")] for key in factors)
            known[id(condition)] = levels_of
        flat.extend(
            (
                state,
                -1 if said is None else contents[said],
                -1 if trial.label is None else contents[trial.label],
                slots[outcome.value] if isinstance(outcome, Verdict) else -1,
                questions[trial.cluster],
                series[(trial.item, trial.order, condition.get("gold"), *where)],
                trial.replicate,
                int(repair.get("calls", 1)) if repair else 0,
                reason,
                strata[(trial.item, trial.order, trial.template, where[-1])],
                *levels_of,
            )
        )
    table = np.array(flat, dtype=np.intc).reshape(len(cell.judgments), 10 + len(factors))
    if any(refused.values()):
        table[[refused[where] for where in place], 0] = OUT
    columns = [np.ascontiguousarray(column) for column in table.T]
    levels = {}
    for key, column in zip(factors, columns[10:], strict=True):
        texts = any(isinstance(value, str) for value in factors[key])
        values = sorted(factors[key], key=lambda value: (isinstance(value, str), value))
        # A temperature that some lines do not say is none that anything can be compared by.
        if values and values != [""] and not (texts and key == "temperature"):
            place_of = np.array([values.index(value) for value in factors[key]], dtype=np.intp)
            levels[key] = (values, place_of[column])
    return Sweep(
        cell=cell,
        state=columns[0],
        content=columns[1],
        gold=columns[2],
        slot=columns[3],
        question=columns[4].astype(np.intp),
        questions=[str(name) for name in questions],
        series=columns[5].astype(np.intp),
        stratum=columns[9].astype(np.intp),
        replicate=columns[6].astype(np.intp),
        repair=columns[7],
        levels=levels,
        reasons=[str(reason) for reason in reasons],
        reason=columns[8].astype(np.intp),
    )


def series_of(sweep: Sweep) -> Series:
    """The series of a sweep, made once; one that was refused has none of the numbers."""
    return sweep.cell.once("series", lambda: _counted(sweep))


def _counted(sweep: Sweep) -> Series:
    # Positions by series, and within a series by replicate.
    order = np.lexsort((sweep.replicate, sweep.series))
    code = sweep.series[order]
    count = int(code[-1]) + 1 if code.size else 0
    bounds = np.searchsorted(code, np.arange(count + 1))
    state, content = sweep.state[order], sweep.content[order]
    asked = state != OUT
    parsed = state == VERDICT
    received = parsed | (state == UNPARSED)

    def total(of: NDArray[np.bool_], at: _Codes = code) -> _Array:
        return np.bincount(at[of], minlength=count).astype(np.float64)

    n, calls = total(parsed), total(asked)
    # Neighbours among the parsed replicates, and among all.
    verdicts, of = content[parsed], code[parsed]
    changes = total((of[1:] == of[:-1]) & (verdicts[1:] != verdicts[:-1]), of[1:])
    inside = (code[1:] == code[:-1]) & asked[1:]
    touching = inside & ~(parsed[1:] & parsed[:-1])
    shown = inside & ~touching & (content[1:] != content[:-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        consistency = np.where(n > 1, 1 - changes / (n - 1), np.nan)
        least = np.where(calls > 1, 1 - total(shown | touching, code[1:]) / (calls - 1), np.nan)
        most = np.where(calls > 1, 1 - changes / (calls - 1), np.nan)
        kinds = max(3, int(sweep.content.max(initial=-1)) + 1, int(sweep.gold.max(initial=-1)) + 1)
        by_content = np.bincount(of * kinds + verdicts, minlength=count * kinds).reshape(
            count, kinds
        )
        pairwise = _pairwise(by_content)
        few, many = by_content.copy(), by_content.copy()
        missing = (calls - n).astype(np.intp)
        many[np.arange(count), many.argmax(axis=1)] += missing
        for step in range(int(missing.max(initial=0))):
            at = np.flatnonzero(missing > step)
            few[at, few[at].argmin(axis=1)] += 1
        first = order[bounds[:-1]]
        gold = sweep.gold[first]
        labelled = gold >= 0
        replies = total(received)
        for_gold = np.where(labelled, by_content[np.arange(count), np.maximum(gold, 0)], 0)
        agreement = np.where(labelled & (replies > 0), for_gold / replies, np.nan)
        error_rate = np.where(replies > 0, (replies - n) / replies, np.nan)
    others = by_content.copy()
    others[np.arange(count), np.maximum(gold, 0)] = 0
    votes = np.column_stack([for_gold, np.sort(others, axis=1)[:, 1:], (replies - n)])
    return Series(
        first=first,
        question=sweep.question[first],
        stratum=sweep.stratum[first],
        consistency=consistency,
        least=least,
        most=most,
        pairwise=pairwise,
        pairwise_least=np.where(calls > 1, _pairwise(few), np.nan),
        pairwise_most=np.where(calls > 1, _pairwise(many), np.nan),
        agreement=agreement,
        error_rate=error_rate,
        votes=votes.astype(np.intp),
        labelled=labelled,
        judgments=order,
        bounds=bounds,
    )


def _pairwise(counts: _Codes) -> _Array:
    n = counts.sum(axis=1)
    same = (counts * (counts - 1)).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n > 1, same / (n * (n - 1)), np.nan)


@lru_cache(maxsize=4096)
def majority_share(k: int, gold: int, others: tuple[int, ...], silent: int) -> float:
    """Chance that the gold content wins the vote of ``k`` replies drawn without replacement.

    Args:
        k: how many vote; at most the replies that there are.
        gold: replies for the gold content.
        others: replies for each other content.
        silent: replies without a verdict.
    """
    sizes = (gold, *others)
    won = 0.0
    for votes in product(*(range(min(size, k) + 1) for size in sizes)):
        rest = k - sum(votes)
        if votes[0] and 0 <= rest <= silent and votes[0] >= max(votes):
            ways = comb(silent, rest)
            for size, vote in zip(sizes, votes, strict=True):
                ways *= comb(size, vote)
            won += ways / votes.count(votes[0])
    return won / comb(sum(sizes) + silent, k)


def paired_differences(
    series: Series, outcome: str, high: NDArray[np.bool_], low: NDArray[np.bool_]
) -> tuple[_Array, _Codes]:
    """For each question under one prompt and model, mean outcome of ``high`` less that of ``low``.

    Args:
        series: the series.
        outcome: one of `measures.OUTCOMES`.
        high: which series belong to the one side, shape (series,).
        low: which belong to the other.

    Returns:
        The differences where both sides have an outcome, and their clusters.
    """
    y = series.outcome(outcome)
    means = []
    for side in (high, low):
        at = side & np.isfinite(y)
        size = int(series.stratum.max(initial=-1)) + 1
        count = np.bincount(series.stratum[at], minlength=size)
        total = np.bincount(series.stratum[at], y[at], minlength=size)
        with np.errstate(divide="ignore", invalid="ignore"):
            means.append(np.where(count > 0, total / count, np.nan))
    difference = means[0] - means[1]
    known = np.flatnonzero(np.isfinite(difference))
    question = np.zeros(difference.size, dtype=np.intp)
    question[series.stratum] = series.question
    return difference[known], question[known]
