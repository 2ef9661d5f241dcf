"""How generous a judge is: its grades beside people's, and what passes, in tables and words.

Of the replies on outputs that people graded, by criterion and overall. A mean on a scale of numbers
is a number of it, on a scale of words a share of the way up. An output passes a criterion, or as a
whole, if its share is at the pass mark or above it: for the judge in a reply, for people by their
mean grade.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from pytest_judgesense.datasheets.sections import Estimates, TableRow, TableRows
from pytest_judgesense.estimate import compact, find_estimate, number_text
from pytest_judgesense.instruments.rubric.grades import (
    OVERALL,
    by_criterion,
    grade_at,
    parts,
    passes,
)
from pytest_judgesense.instruments.rubric.measures import HUMAN_BIAS
from pytest_judgesense.instruments.rubric.people import Compared, beside_people
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.clustered import clustered_mean, clustered_proportion
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import is_number

BESIDE: Final = "grades_beside_people"
LEVELS: Final = "grades_by_level"


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
