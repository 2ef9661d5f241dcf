"""JudgeSense (arXiv 2604.23478) as one design: four tasks, 125 pairs of wordings each, three runs.

Its Table 1 has a row for each judge and task: the Judge Sensitivity Score with the percentile
bootstrap of the pair agreements, Cohen's kappa, and the flips. As section 4.2 says, pairs with an
inverted wording are left out of it; the score over all pairs, with the labels of these wordings
remapped, stands beside it. Section 4.3 sets the score as the labels stand (raw) against the
remapped one (corrected).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

from pytest_judgesense.datasheets.datasheet import Datasheet, JudgeSheet, SuiteSheet, wall_clock_s
from pytest_judgesense.datasheets.figures import ends_of
from pytest_judgesense.datasheets.published_design import Arm, LogForm, Paper, Table, Value
from pytest_judgesense.datasheets.sent_settings import settings_table
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.instruments.paraphrase.estimators import estimates as stability
from pytest_judgesense.instruments.paraphrase.judgesense import decisions_at, may_be_of_judgesense
from pytest_judgesense.instruments.paraphrase.measures import JSS, KAPPA
from pytest_judgesense.instruments.paraphrase.stimuli import PARAPHRASE
from pytest_judgesense.instruments.paraphrase.tables import tier_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.shared import UNPARSED_RATE
from pytest_judgesense.suites.suite import template_pairs

_TASKS: Final = ("factuality", "coherence", "relevance", "preference")
_ITEMS, _WORDINGS, _RUNS = 25, 5, 3
_CALLS: Final = _ITEMS * _WORDINGS * _RUNS
_FIT_FOR: Final = (
    "Tiers: high is fit for pipelines whose prompts vary; moderate only with one fixed prompt; low "
    "is a noise source wherever the wording varies."
)


def _task(suite: str) -> str:
    """The task that a suite asks about, without its preset."""
    return suite.partition("@")[0].removeprefix("judgesense-")


class _WithoutInverted(NamedTuple):
    """What a judge says of a task under the wordings whose labels mean what they say.

    Attributes:
        inverted: the wordings that are left out.
        estimates: over the pairs without one of these.
    """

    inverted: tuple[str, ...]
    estimates: Sequence[Estimate]


# By the names of judge and suite; of suites with an inverted wording alone.
_LeftOut: TypeAlias = Mapping[tuple[str, str], _WithoutInverted]


def tables(sheet: Datasheet, cells: Sequence[Cell]) -> Iterator[Table]:
    """Table 1, its scores by task, section 4.3, and the settings.

    Judges stand by name, tasks as the paper has them.
    """
    left_out = {
        (cell.judge, cell.suite): _without(cell, inverted)
        for cell in cells
        if (inverted := _inverted(cell))
    }
    yield _table_1(sheet, left_out)
    yield _by_task(sheet, left_out)
    yield from _polarity(sheet, left_out)
    yield settings_table(sheet, cells, "task", _task, _in_order)


def _inverted(cell: Cell) -> tuple[str, ...]:
    """The wordings whose labels mean the opposite."""
    return tuple(
        sorted(
            {
                judgment.trial.template
                for judgment in cell.judgments
                if "polarity" in judgment.trial.condition
            }
        )
    )


def _without(cell: Cell, inverted: tuple[str, ...]) -> _WithoutInverted:
    """The estimates over the pairs of the cell that hold none of the inverted wordings."""
    pairs = template_pairs(cell.templates, cell.design.pairs)
    kept = tuple(pair for pair in pairs if not {*pair} & {*inverted})
    part = cell.of(j for j in cell.judgments if j.trial.template not in inverted)
    design = replace(cell.design, pairs=kept)
    return _WithoutInverted(inverted, stability(replace(part, design=design), by_pair=False))


def _estimates(judge: JudgeSheet, part: SuiteSheet, left_out: _LeftOut) -> Sequence[Estimate]:
    """Those that Table 1 shows: without inverted wordings, if there are any."""
    without = left_out.get((judge.name, part.suite))
    return part.estimates if without is None else without.estimates


def _table_1(sheet: Datasheet, left_out: _LeftOut) -> Table:
    rows: list[tuple[Value, ...]] = []
    for judge in sheet.judges:
        for part in _in_order(judge):
            estimates = _estimates(judge, part, left_out)
            jss = find_estimate(estimates, "jss")
            if jss is None:
                continue
            remapped = find_estimate(part.estimates, "jss", {"polarity": "remapped"})
            rows.append(
                (
                    judge.name,
                    _task(part.suite),
                    jss.value,
                    ends_of(jss.interval),
                    _value(estimates, "kappa"),
                    None if jss.count is None else round(jss.n - jss.count),
                    jss.n,
                    _value(part.estimates, "unparsed_rate"),
                    _tier(jss, _value(estimates, "kappa")),
                    wall_clock_s([part.recorded]),
                    None if remapped is None else remapped.value,
                )
            )
    inverted = sorted({name for of in left_out.values() for name in of.inverted})
    names = f" ({', '.join(inverted)})" if inverted else ""
    return Table(
        "table-1",
        "Judge Sensitivity Score (JSS) by judge and task: the share of pairs of wordings under "
        "which the decision is the same, with the 95% interval of the paper, Cohen's kappa, the "
        "flips of n pairs, the rate of replies without a decision, the tier, and the wall-clock "
        f"time of the recording in seconds. Pairs with an inverted wording{names} are left out; "
        "JSS remapped is the score over all pairs with the labels of inverted wordings remapped.",
        (
            *("judge", "task", "JSS", "95% interval", "kappa", "flips", "n", "unparsed", "tier"),
            *("seconds", "JSS remapped"),
        ),
        tuple(rows),
        notes=(_FIT_FOR,),
        keys=2,
    )


def _tier(jss: Estimate, kappa: float | None) -> str | None:
    """The tier of the paper; ``degenerate`` where one label was given throughout."""
    if "degenerate" in jss.flags:
        return "degenerate"
    return None if jss.value is None or kappa is None else tier_of(jss.value, kappa)[0]


def _by_task(sheet: Datasheet, left_out: _LeftOut) -> Table:
    suites = {part.suite for judge in sheet.judges for part in judge.parts}
    columns = sorted({_task(suite) for suite in suites}, key=_place)
    rows = []
    for judge in sheet.judges:
        jss_by_task = {
            _task(part.suite): _value(_estimates(judge, part, left_out), "jss")
            for part in judge.parts
        }
        rows.append((judge.name, *(jss_by_task.get(task) for task in columns)))
    return Table(
        "jss-by-task",
        "Judge Sensitivity Score of each judge by task, as the heat map of the paper shows it: "
        "the scores of table-1.",
        ("judge", *columns),
        tuple(rows),
    )


def _polarity(sheet: Datasheet, left_out: _LeftOut) -> Iterator[Table]:
    rows: list[tuple[Value, ...]] = []
    for judge in sheet.judges:
        for part in _in_order(judge):
            raw = find_estimate(part.estimates, "jss", {"polarity": "raw"})
            corrected = find_estimate(part.estimates, "jss", {"polarity": "remapped"})
            without = find_estimate(_estimates(judge, part, left_out), "jss")
            if raw is None or corrected is None or without is None:
                continue
            rows.append(
                (
                    *(judge.name, _task(part.suite), raw.value, ends_of(raw.interval)),
                    *(corrected.value, ends_of(corrected.interval), corrected.n),
                    *(without.value, without.n),
                )
            )
    if rows:
        names = ", ".join(sorted({name for of in left_out.values() for name in of.inverted}))
        yield Table(
            "polarity",
            "Judge Sensitivity Score with the labels as they stand (raw), with those of inverted "
            f"wordings ({names}) remapped (corrected; in table-1: JSS remapped), and without those "
            "wordings (in table-1: JSS).",
            (
                *("judge", "task", "raw", "raw, 95%", "corrected", "corrected, 95%", "n"),
                *("without inverted", "n without"),
            ),
            tuple(rows),
            keys=2,
        )


def _in_order(judge: JudgeSheet) -> list[SuiteSheet]:
    """The suites of a judge in the order of the paper."""
    return sorted(judge.parts, key=lambda part: _place(_task(part.suite)))


def _place(task: str) -> int:
    """The place of a task in the paper; others behind."""
    return _TASKS.index(task) if task in _TASKS else len(_TASKS)


def _value(estimates: Iterable[Estimate], measure: str) -> float | None:
    estimate = find_estimate(estimates, measure)
    return None if estimate is None else estimate.value


PAPER: Final = Paper(
    "jss",
    "JudgeSense: A Benchmark for Prompt Sensitivity in LLM-as-a-Judge Systems",
    "JudgeSense: A Benchmark for Prompt Sensitivity in LLM-as-a-Judge Systems. arXiv:2604.23478",
    tuple(Arm(task, f"{task}@paper", _CALLS, _CALLS) for task in _TASKS),
    tables,
    kinds=(PARAPHRASE.name,),
    forms=(LogForm("decision logs of JudgeSense", may_be_of_judgesense, decisions_at),),
    measured_by={
        **dict.fromkeys(("JSS", "95% interval", "flips", *_TASKS), JSS.name),
        "kappa": KAPPA.name,
        "unparsed": UNPARSED_RATE.name,
    },
    why_absent={
        "JSS remapped": "no wording is known to be inverted",
        "seconds": "nothing says when the replies were there",
        "tier": "there is none without JSS and kappa",
    },
)
