"""Grades by criterion, a judge's beside people's, and systems side by side: tables, words, figures.

How generous a judge is, is told of the replies on outputs that people graded, by criterion and
overall. A mean on a scale of numbers is a number of it, on a scale of words a share of the way up.
An output passes a criterion, or as a whole, if its share is at the pass mark or above it: for the
judge in a reply, for people by their mean grade.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.sections import Estimates, TableRow, TableRows, tables_named
from pytest_judgesense.estimate import compact, find_estimate, number_text
from pytest_judgesense.instruments.rubric.grades import (
    OVERALL,
    by_criterion,
    grade_at,
    parts,
    passes,
    scores,
)
from pytest_judgesense.instruments.rubric.halo import criterion_pairs
from pytest_judgesense.instruments.rubric.measures import HUMAN_BIAS
from pytest_judgesense.instruments.rubric.people import Compared, beside_people
from pytest_judgesense.instruments.rubric.separability import system_pairs
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.clustered import clustered_mean, clustered_proportion
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.shown_change import ShownChange, farthest
from pytest_judgesense.trial import is_number

BESIDE: Final = "grades_beside_people"
LEVELS: Final = "grades_by_level"

_Floats = NDArray[np.float64]


def on_scale(share: float, labels: Sequence[str]) -> float:
    """A share of the way up as a number of the scale; on a scale of words the share itself."""
    if not all(map(is_number, labels)):
        return share
    numbers = [float(label) for label in labels]
    return float(np.interp(share * (len(labels) - 1), range(len(labels)), numbers))


def mark_of(share: float, labels: Sequence[str]) -> str:
    """A pass mark as a grade of the scale; on a scale of words the lowest grade that passes."""
    if all(map(is_number, labels)):
        return f"{on_scale(share, labels):.4g}"
    return labels[math.ceil(round(share * (len(labels) - 1), 9))]


def beside(cell: Cell, estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for the overall score and one for each criterion."""
    names = (OVERALL, *(name for name in by_criterion(cell) if name != OVERALL))
    rows = [row for name in names if (row := _beside(cell, estimates, name))]
    return rows or None


def _beside(cell: Cell, estimates: Estimates, name: str) -> TableRow | None:
    labels, mark = parts(cell)[name].design.labels, cell.design.pass_mark
    compared = beside_people(cell, name)
    with_people = bool(compared.judge.size)
    if not with_people and mark is not None:
        compared = beside_people(cell, name, with_human=False)
    if not compared.judge.size or len(labels) < 2:
        return None
    bias = find_estimate(estimates, HUMAN_BIAS.name, {} if name == OVERALL else {"criterion": name})
    ends = bias.clustered if bias else None
    people = float(compared.human.mean()) if with_people else None
    return {
        "criterion": name,
        "scale": f"{labels[0]} to {labels[-1]}",
        "n": int(compared.judge.size),
        "judge": on_scale(float(compared.judge.mean()), labels),
        "people": None if people is None else on_scale(people, labels),
        "generosity": bias.value if bias else None,
        "lower": ends.lower if ends else None,
        "upper": ends.upper if ends else None,
        **({} if mark is None else _passing(compared, mark, mark_of(mark, labels))),
    }


def _passing(compared: Compared, mark: float, shown: str) -> TableRow:
    """How many outputs pass, by the judge and by people."""
    by_judge = passes(compared.judge, mark)
    ends = clustered_proportion(by_judge.astype(np.float64), compared.clusters)
    with_people = not np.isnan(compared.human).any()
    by_people = passes(compared.human, mark)
    return {
        "mark": shown,
        "passes": float(by_judge.mean()),
        "passes_lower": ends.lower if ends else None,
        "passes_upper": ends.upper if ends else None,
        "people_passes": float(by_people.mean()) if with_people else None,
        "passed_alone": int((by_judge & ~by_people).sum()) if with_people else None,
        "failed_alone": int((~by_judge & by_people).sum()) if with_people else None,
    }


def levels(cell: Cell, _estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for each grade of people, overall and by criterion: the judge's mean grade there."""
    rows: list[TableRow] = []
    for name in (OVERALL, *(name for name in by_criterion(cell) if name != OVERALL)):
        labels, compared = parts(cell)[name].design.labels, beside_people(cell, name)
        nearest = np.array([grade_at(share, labels) for share in compared.human.tolist()])
        for label in labels:
            chosen = nearest == label
            if not chosen.any():
                continue
            of_level, clusters = compared.judge[chosen], compared.clusters[chosen]
            ends = clustered_mean(of_level, clusters, (0.0, 1.0))
            rows.append(
                {
                    "criterion": name,
                    "labels": list(labels),
                    "grade": label,
                    "people": float(compared.human[chosen].mean()),
                    "judge": float(of_level.mean()),
                    "lower": max(0.0, ends.lower) if ends else None,
                    "upper": min(1.0, ends.upper) if ends else None,
                    "n": int(chosen.sum()),
                }
            )
    return rows or None


def signed(steps: float) -> str:
    """A distance with its sign."""
    return f"+{compact(steps)}" if steps > 0 else compact(steps)


def beside_lines(rows: TableRows) -> Iterator[str]:
    """A line for the overall score and for each criterion."""
    for row in rows:
        line = f"{row['criterion']} (scale {row['scale']}): mean grade {number_text(row['judge'])}"
        if row["generosity"] is not None:
            line += f", people {number_text(row['people'])}, generosity {signed(row['generosity'])}"
            if row["lower"] is not None:
                line += f" [{number_text(row['lower'])}, {number_text(row['upper'])}]"
        yield line + _pass_words(row)


def below(rows: TableRows) -> Iterator[str]:
    """What the summary shows below the line of the suite."""
    whole = next((row for row in rows if row["criterion"] == OVERALL), None)
    if whole is None:
        return
    words = []
    if whole["generosity"] is not None:
        words.append(f"generosity {signed(whole['generosity'])}")
        if whole["lower"] is not None:
            words[0] += f" [{compact(whole['lower'])}, {compact(whole['upper'])}]"
        of_each = [row for row in rows if row is not whole and row["generosity"] is not None]
        if of_each:
            worst = max(of_each, key=lambda row: abs(row["generosity"]))
            words.append(f"(most: {worst['criterion']} {signed(worst['generosity'])})")
    if text := " ".join(words) + _pass_words(whole, short=True):
        yield text.removeprefix("; ")


def _pass_words(row: TableRow, *, short: bool = False) -> str:
    if "mark" not in row:
        return ""
    words = f"; pass at {row['mark']}: judge {_share(row['passes'])}"
    if row["people_passes"] is None:
        return words
    words += f", people {_share(row['people_passes'])}"
    alone = (
        f" (judge alone {row['passed_alone']}, people alone {row['failed_alone']} of {row['n']})"
    )
    return words if short else words + alone


def _share(rate: float) -> str:
    return f"{100 * rate:.3g}%"


_SHOWN_PAIRS = 10
_SHOWN = ("ceiling_share", "levels_used", "jss", "kappa_quadratic", "human_kappa", "human_bias")


def grades(cell: Cell, estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for each criterion: how often each grade was given, and its measures."""
    rows: list[dict[str, Any]] = []
    for name, part in parts(cell).items():
        codes, words = part.coded("verdict")
        missing, *per_grade = np.bincount(codes + 1, minlength=len(words) + 1).tolist()
        counts = dict.fromkeys(part.design.labels, 0) | dict(zip(words, per_grade, strict=True))
        of = {
            measure: estimate and estimate.value
            for measure in _SHOWN
            for estimate in (find_estimate(estimates, measure, {"criterion": name}),)
        }
        rows.append({"criterion": name, "grades": counts, "missing": missing, **of})
    return rows


def grade_lines(rows: TableRows) -> Iterator[str]:
    """A line a criterion: its grades from the lowest to the highest, and its stability."""
    for row in rows:
        counts = ", ".join(f"{label}: {count}" for label, count in row["grades"].items())
        missing = f"; missing {row['missing']}" if row["missing"] else ""
        jss = "" if row["jss"] is None else f"; jss {number_text(row['jss'])}"
        yield f"grades of {row['criterion']}: {counts}{missing}{jss}"


def pairs(cell: Cell, _estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for each two criteria: how far their grades correlate, those most beyond it first."""
    rows: list[dict[str, Any]] = []
    for pair in criterion_pairs(cell):
        ends = pair.excess.clustered
        rows.append(
            {
                "first": pair.first,
                "second": pair.second,
                "judge": pair.judge,
                "expected": pair.people,
                "excess": pair.excess.value,
                "lower": ends.lower if ends else None,
                "upper": ends.upper if ends else None,
            }
        )
    return rows or None


def pair_lines(rows: TableRows) -> Iterator[str]:
    """A line for each two criteria; of many the first."""
    for row in rows[:_SHOWN_PAIRS]:
        ends = ""
        if row["lower"] is not None:
            ends = f" [{number_text(row['lower'])}, {number_text(row['upper'])}]"
        yield (
            f"halo of {row['first']} and {row['second']}: {number_text(row['excess'])}{ends}, "
            f"grades correlate {number_text(row['judge'])}, expected {number_text(row['expected'])}"
        )
    if len(rows) > _SHOWN_PAIRS:
        yield f"{len(rows) - _SHOWN_PAIRS} more pairs of criteria are in the JSON of the datasheet"


def systems(cell: Cell, _estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for each system with its mean overall score, the best first, and for each pair."""
    table = scores(cell)
    there = ~np.isnan(table.overall)
    codes = sorted({*table.systems[table.systems >= 0].tolist()})
    if len(codes) < 2:
        return None
    rows: list[dict[str, Any]] = []
    for code in codes:
        name, of_system = table.system_names[code], (table.systems == code) & there
        mean = float(table.overall[of_system].mean()) if of_system.any() else None
        rows.append({"system": name, "score": mean, "replies": int(of_system.sum())})
    rows.sort(key=lambda row: (row["score"] is None, -(row["score"] or 0.0)))
    return [*rows, *(pair._asdict() for pair in system_pairs(cell))]


def system_lines(rows: TableRows) -> Iterator[str]:
    """The systems by mean score, and the pairs without a significant difference."""
    ranked = [
        f"{row['system']} {'N/A' if row['score'] is None else number_text(row['score'])}"
        for row in rows
        if "system" in row
    ]
    yield f"systems by overall score (0 to 1): {', '.join(ranked)}"
    alike = [
        f"{row['first']} and {row['second']} (difference {number_text(row['difference'])}, "
        f"p {number_text(row['p'])})"
        for row in rows
        if "first" in row and not row["apart"]
    ]
    if alike:
        yield f"no clear difference between: {'; '.join(alike)}"


# Criteria whose curves can be told from one another.
_MOST_CURVES: Final = 6


def grade_figures(sheet: Datasheet) -> Iterator[fig.Found]:
    """The judge's mean grade at each grade of people; nothing without grades of people."""
    tables = [table for table in tables_named(sheet, LEVELS) if table[2]]
    if not tables:
        return
    panels = tuple(_panel(sheet, judge, suite, rows) for judge, suite, rows in tables)
    yield fig.Figure(
        fig.Head("grades", "10", "Grades by criterion against people's"),
        _finding(sheet),
        "At each grade of people, the mean of the judge's, with its 95% interval over clusters. On "
        "the dotted line the two are alike; above it the judge is generous, below it severe.",
        panels,
        ("judge", "suite", "criterion", "people's grade", *fig.named("judge's mean share")),
        tuple(
            (
                fig.called(sheet, judge, suite),
                suite,
                *(row[key] for key in ("criterion", "grade", "judge", "lower", "upper", "n")),
            )
            for judge, suite, rows in tables
            for row in rows
        ),
    )


def _panel(sheet: Datasheet, judge: str, suite: str, rows: Any) -> fig.Panel:
    names = list(dict.fromkeys(row["criterion"] for row in rows))
    names = [name for name in names if name != OVERALL or len(names) == 1][:_MOST_CURVES]
    shown = [row for row in rows if row["criterion"] in names]
    scales = {tuple(row["labels"]) for row in shown}

    def draw(axes: Any) -> None:
        fig.shares(axes)
        fig.dotted(axes)
        for number, name in enumerate(names):
            marks = [row for row in shown if row["criterion"] == name]
            people, of_judge = ([row[of] for row in marks] for of in ("people", "judge"))
            fig.curve(axes, number, people, of_judge, name)
            for row in marks:
                fig.point(axes, number, row["people"], row["judge"], along=_ends(row))
        if len(scales) == 1:
            (labels,) = scales
            places = [place / (len(labels) - 1) for place in range(len(labels))]
            axes.set_xticks(places, labels)
            axes.set_yticks(places, labels)
        unit = "grade" if len(scales) == 1 else "share of the way up the scale"
        title = f"{fig.called(sheet, judge, suite)} on {suite}"
        fig.labels(axes, f"people's {unit}", f"judge's mean {unit}", title)

    return fig.Panel(draw)


def _ends(row: TableRow) -> fig.IntervalEnds:
    return None if row["lower"] is None else (row["lower"], row["upper"])


def _finding(sheet: Datasheet) -> str:
    """The criterion on which a judge is farthest from people."""
    distances = [
        (
            ShownChange(row["generosity"], _ends(row)),
            (fig.called(sheet, judge, suite), row["criterion"]),
        )
        for judge, suite, rows in tables_named(sheet, BESIDE)
        for row in rows
        if row["generosity"] is not None
    ]
    steps, (judge, criterion) = farthest(distances)
    return steps.sentence(
        above=f"{judge} grades {criterion} above people, in steps",
        below=f"{judge} grades {criterion} below people, in steps",
        neither=f"{judge} is not visibly above or below people, farthest in {criterion}, in steps",
        text_of=compact,
    )
