"""What people say, in tables, words and figures: agreement, verdicts by label, and rates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.sections import (
    Board,
    ComparedJudge,
    Estimates,
    TableRow,
    TableRows,
    tables_named,
)
from pytest_judgesense.estimate import compact, find_estimate, number_text
from pytest_judgesense.instruments import leaderboard
from pytest_judgesense.instruments.people import measures as of
from pytest_judgesense.instruments.people.human_rate import NOTHING_ADDED, Rate, rates
from pytest_judgesense.instruments.people.targets import Target, targets, targets_or_label
from pytest_judgesense.measures.calibration import label_error_row, without_errors_brief
from pytest_judgesense.measures.cell import FAILED, Cell, Units
from pytest_judgesense.measures.shared import AGREEMENT
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.suites.people import skipped_words
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.shown_change import ShownChange, farthest
from pytest_judgesense.trial import LABEL

STANDING: Final = "people_standing"
_AHEAD: Final = "people_"  # of the tables that compare judges
_SHOWN_PEOPLE: Final = 8


def _about(target: Target) -> dict[str, Any]:
    return {} if target.name == LABEL else {"criterion": target.name}


def agreement(cell: Cell, _estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for what people label, with their agreement, and one for each two people."""
    return [row for target in targets(cell) for row in _agreement(target)] or None


def _agreement(target: Target) -> Iterator[dict[str, Any]]:
    from pytest_judgesense.stats.ceiling import percent_agreement
    from pytest_judgesense.stats.krippendorff import clustered_alpha

    votes, clusters = target.by_person, target.clusters[target.first_judgments]
    labelled = (votes >= 0).any(axis=1)
    labels = [[None if code < 0 else code for code in row] for row in votes.tolist()]
    percent = percent_agreement(labels, clusters)
    numbers = [[None if np.isnan(g) else g for g in row] for row in target.grades.tolist()]
    alpha = clustered_alpha(
        numbers if target.scale else labels,
        clusters.tolist(),
        scale="interval" if target.scale else "nominal",
    )
    ends = alpha.interval if alpha else None
    yield {
        **_about(target),
        "persons": len(target.persons),
        "labels": int((votes >= 0).sum()),
        "labelled": int(labelled.sum()),
        "items": len(labels),
        "by_several": int(((votes >= 0).sum(axis=1) > 1).sum()),
        "without_majority": int((labelled & (target.stated < 0)).sum()),
        "agreement": None if isinstance(percent, NotEstimable) else percent.value,
        "alpha": alpha.value if alpha else None,
        "lower": ends.lower if ends else None,
        "upper": ends.upper if ends else None,
        "confusion": _confused(target),
    }
    for first, second in combinations(range(len(target.persons)), 2):
        both = (votes[:, first] >= 0) & (votes[:, second] >= 0)
        same = int((votes[both, first] == votes[both, second]).sum())
        names = [target.persons[first], target.persons[second]]
        yield {**_about(target), "people": names, "items": int(both.sum()), "alike": same}


def _confused(target: Target) -> dict[str, dict[str, int]]:
    """How often one person gives a label where another gives another, either way round."""
    count = len(target.labels)
    table = np.zeros((count, count), dtype=np.int64)
    for first, second in combinations(target.by_person.T, 2):
        both = (first >= 0) & (second >= 0)
        np.add.at(table, (first[both], second[both]), 1)
    return _named(table + table.T - np.diag(np.diag(table)), target.labels)


def _named(table: Any, labels: Sequence[str]) -> dict[str, dict[str, int]]:
    return {
        row: dict(zip(labels, counts, strict=True))
        for row, counts in zip(labels, table.tolist(), strict=True)
    }


def agreement_lines(rows: TableRows) -> Iterator[str]:
    """A line for what people label."""
    for row in rows:
        if "persons" not in row:
            continue
        of = f" of {row['criterion']}" if "criterion" in row else ""
        yield (
            f"people{of}: {row['persons']} {'person' if row['persons'] == 1 else 'people'}, "
            f"{row['labelled']} of {row['items']} items labelled, {row['by_several']} by several"
            + (f", {row['without_majority']} without a majority" * bool(row["without_majority"]))
        )
        if row["agreement"] is not None:
            alpha = "N/A" if row["alpha"] is None else number_text(row["alpha"])
            if row["lower"] is not None:
                alpha += f" [{number_text(row['lower'])}, {number_text(row['upper'])}]"
            share = f"{100 * row['agreement']:.1f}% of pairs"
            yield f"people agree{of} in {share}, Krippendorff's alpha {alpha}"


def confusion(cell: Cell, _estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for each label of people: how often the judge says what of such items.

    Where nobody is named, of the items' own labels.
    """
    rows: list[dict[str, Any]] = []
    for target in targets_or_label(cell):
        received = (target.label >= 0) & (target.cell.outcomes != FAILED)
        for code, label in enumerate(target.labels):
            answers = target.answers[received & (target.label == code)]
            silent, *counts = np.bincount(answers + 1, minlength=len(target.labels) + 1).tolist()
            if answers.size:
                verdicts = dict(zip(target.labels, counts, strict=True))
                about = {**_about(target), "label": label}
                about |= {} if target.persons else {"of_items": True}
                rows.append({**about, "verdicts": verdicts, "without_verdict": silent})
    return rows or None


def confusion_lines(rows: TableRows) -> Iterator[str]:
    """A line for each label."""
    for row in rows:
        counts = ", ".join(f"{label} {count}" for label, count in row["verdicts"].items() if count)
        silent = f", no verdict {row['without_verdict']}" * bool(row["without_verdict"])
        of = f" of {row['criterion']}" if "criterion" in row else ""
        who = "the label is" if row.get("of_items") else "people say"
        yield f"where {who} {row['label']}{of}, the judge says: {counts}{silent}"


def corrected(cell: Cell, _estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for each rate: the judge's own, the corrected one, and that of the labels alone."""
    rows: list[dict[str, Any]] = []
    for rate in rates(cell):
        row: dict[str, Any] = {"condition": dict(rate.condition), "raw": rate.judge}
        result = rate.result
        if isinstance(result, NotEstimable):
            rows.append({**row, "value": None, "reason": result.reason})
            continue
        alone = result.labels_only_interval
        rows.append(
            {
                **row,
                "value": result.estimate,
                "lower": result.interval.lower,
                "upper": result.interval.upper,
                "labels": result.labels,
                "items": result.units,
                "lambda": result.power_tuning,
                "labels_alone": result.labels_only,
                "labels_alone_lower": alone.lower,
                "labels_alone_upper": alone.upper,
                "adds_nothing": rate.adds_nothing,
                "biased": rate.biased,
                "bias": rate.bias and rate.bias.value,
                "bias_lower": rate.bias and rate.bias.ends and rate.bias.ends[0],
                "bias_upper": rate.bias and rate.bias.ends and rate.bias.ends[1],
                "skipped": rate.skipped,
                **label_error_row(rate.without_errors),
            }
        )
    return rows or None


def bias_of(row: TableRow) -> ShownChange | None:
    """What verdicts lie above the labels of people, as a row holds it."""
    if row.get("bias") is None:
        return None
    return ShownChange(row["bias"], (row["bias_lower"], row["bias_upper"]))


def corrected_lines(rows: TableRows) -> Iterator[str]:
    """A line for each rate."""
    for row in rows:
        where = ", ".join(f"{key} {value}" for key, value in row["condition"].items())
        raw = "N/A" if row["raw"] is None else number_text(row["raw"])
        head = f"corrected rate{f' ({where})' if where else ''}:"
        if row["value"] is None:
            yield f"{head} N/A, raw {raw}: {row['reason']}"
            continue
        ends = f"[{number_text(row['lower'])}, {number_text(row['upper'])}]"
        alone = f"[{number_text(row['labels_alone_lower'])}, "
        alone += f"{number_text(row['labels_alone_upper'])}]"
        yield (
            f"{head} {number_text(row['value'])} {ends}, raw {raw}{_bias_words(row)}, "
            f"from {row['labels']} labels of "
            f"{row['items']} items; labels alone {number_text(row['labels_alone'])} {alone}"
        )
        if row["skipped"]:
            yield f"{head} {skipped_words(row['skipped'])}"
        if row.get("without_errors") is not None:
            yield f"{head} {row['people_err']}"
    # What several rates share is said once.
    yield from dict.fromkeys(
        f"labels of people: {row['people_err']}"
        for row in rows
        if row.get("people_err") and row["without_errors"] is None
    )


def _bias_words(row: TableRow) -> str:
    """Whether the judge's own rate is biased, with the interval that says so."""
    bias = bias_of(row)
    return "" if bias is None or not bias.is_shown else f", biased (on labels {bias.numbers()})"


def corrected_brief(rows: TableRows) -> str:
    """The first rate with its interval, and the raw one; empty if there is none."""
    row = rows[0]
    if row["value"] is None:
        return ""
    where = "".join(f" ({key} {value})" for key, value in row["condition"].items())
    ends = f"[{compact(row['lower'])}, {compact(row['upper'])}]"
    beside = "; ".join(filter(None, (f"raw {compact(row['raw'])}", without_errors_brief(row))))
    return f"corrected rate{where} {compact(row['value'])} {ends} ({beside})"


def corrected_below(rows: TableRows) -> Iterator[str]:
    """The same on the first screen, where no notice tells it."""
    row = rows[0]
    if row["value"] is None:
        return
    worst = max(rows, key=lambda of: abs(of["raw"] - of["value"]) if of.get("biased") else 0.0)
    is_told = row["biased"] and worst is row
    if not is_told and (not row["adds_nothing"] or row["labels"] == row["items"]):
        yield corrected_brief(rows)


def _distance(rate: Rate) -> float:
    """How far a rate that is biased lies from that of people; 0 for any other."""
    if not rate.biased or rate.judge is None or isinstance(rate.result, NotEstimable):
        return 0.0
    return abs(rate.judge - rate.result.estimate)


def rate_notices(cell: Cell) -> Iterator[str]:
    """Whether the judge's own rate is that of people, in a sentence: the rate with most bias.

    Where none is biased it is the first, which is that of all items.
    """
    for rate in sorted(rates(cell), key=_distance, reverse=True)[:1]:
        result, raw = rate.result, "N/A" if rate.judge is None else compact(rate.judge)
        where = "".join(f" ({key} {value})" for key, value in rate.condition.items())
        if isinstance(result, NotEstimable):
            yield f"no corrected rate{where} beside the judge's own {raw}: {result.reason}"
            continue
        ends = f"[{compact(result.interval.lower)}, {compact(result.interval.upper)}]"
        corrected_words = f"people would give {compact(result.estimate)} {ends}"
        if without_errors := without_errors_brief(label_error_row(rate.without_errors)):
            corrected_words += f" ({without_errors})"
        in_vain = rate.adds_nothing and result.labels < result.units
        skipped = skipped_words(rate.skipped) if rate.skipped else ""
        beside = f"; {skipped}" if skipped else ""
        if rate.bias is not None and rate.biased:
            corrected_words += f", verdicts less labels {rate.bias.numbers(compact)}"
            beside = f"; {NOTHING_ADDED}{beside}" if in_vain else beside
            yield f"the judge's rate{where} {raw} is biased: {corrected_words}{beside}"
        elif in_vain:
            yield f"{NOTHING_ADDED}{where}: {corrected_words}, the judge {raw}{beside}"
        elif skipped:
            yield skipped


# --- judges compared by their agreement with people ----------------------------------------------


def rank_data(cell: Cell, estimates: Estimates, suite: Suite | None) -> TableRows | None:
    """The data of a judge's rank by agreement with people: all criteria together.

    None where judges are ranked by their agreement with the same labels anyway.
    """
    units = [*_units(cell)]
    ranked = leaderboard.rank_data(cell, estimates, suite) or [{"measure": ""}]
    is_same = ranked[0]["measure"] == AGREEMENT.name and not cell.design.criteria
    if not units or is_same:
        return None
    values = np.concatenate([unit.values for unit in units])
    codes = np.concatenate([np.asarray(unit.clusters) for unit in units])
    sums, sizes = np.bincount(codes, values), np.bincount(codes)
    names = cell.cluster_codes[1]
    ends = clustered_proportion(values, codes) if values.size else None
    kappa = find_estimate(estimates, of.PEOPLE_KAPPA.name)
    return [
        {
            "measure": "agreement with people",
            "higher": True,
            "stable": False,
            "value": float(values.mean()) if values.size else None,
            "n": int(values.size),
            "lower": ends.lower if ends else None,
            "upper": ends.upper if ends else None,
            "left_out": None if values.size else "no reply on an item that people labelled",
            "beside": {"kappa": kappa.value} if kappa else {},
            "clusters": {
                names[code]: [float(sums[code]), float(sizes[code])]
                for code in np.flatnonzero(sizes).tolist()
            },
        }
    ]


def _units(cell: Cell) -> Iterator[Units]:
    for target in targets(cell):
        part, labelled = target.cell, target.label >= 0
        calls = part.every_call().subset(labelled)
        right = (target.answers == target.label)[calls.positions]
        yield Units.of_groups(part, calls, right, usable=part.outcomes != FAILED)


def ranking(
    suite: str, judges: Sequence[ComparedJudge], seed: int, secondary: bool
) -> Mapping[str, TableRows]:
    """The judges of a suite by their agreement with people."""
    tables = leaderboard.leaderboard(suite, judges, seed, secondary, standing=STANDING)
    return {f"{_AHEAD}{name}": rows for name, rows in tables.items()}


def _plain(tables: Mapping[str, TableRows]) -> dict[str, TableRows]:
    return {name.removeprefix(_AHEAD): rows for name, rows in tables.items()}


def ranking_board(suite: str, tables: Mapping[str, TableRows]) -> Board:
    """The ranks for Markdown."""
    return leaderboard.board(suite, _plain(tables))


def ranking_lines(suite: str, tables: Mapping[str, TableRows]) -> Iterable[str]:
    """The ranks on a terminal."""
    return leaderboard.board_lines(suite, _plain(tables))


def ranking_brief(suite: str, tables: Mapping[str, TableRows]) -> Iterable[str]:
    """The ranks in one line of the summary."""
    return leaderboard.brief(suite, _plain(tables))


def table_of_rates(rows: Iterable[TableRow]) -> list[TableRow]:
    """The rates that have a value."""
    return [row for row in rows if row["value"] is not None]


CORRECTED: Final = "corrected_rates"
_ALONE: Final = 0.22


def rate_figures(sheet: Datasheet) -> Iterator[fig.Found]:
    """The corrected rates with the raw ones beside them; nothing without labels of people."""
    marks = [
        (_name(sheet, judge, suite, row), row)
        for judge, suite, rows in tables_named(sheet, CORRECTED)
        for row in table_of_rates(rows)
    ]
    if not marks:
        return

    def draw(axes: Any) -> None:
        axes.grid(visible=True, axis="x")
        axes.set_axisbelow(True)
        for line, (_, row) in enumerate(marks):
            first = not line
            ends, alone = ((row[f"{of}lower"], row[f"{of}upper"]) for of in ("", "labels_alone_"))
            axes.plot([row["raw"], row["value"]], [line, line], color=fig.INK, linewidth=0.5)
            fig.point(axes, 0, row["value"], line, across=ends, name="corrected" * first)
            uncorrected = "judge, uncorrected" * first
            fig.point(axes, 1, row["raw"], line, name=uncorrected, fillstyle="none")
            below = line + _ALONE
            name = "labels alone" * first
            fig.point(axes, 6, row["labels_alone"], below, across=alone, name=name)
        fig.ticks(axes, "y", [name for name, _ in marks])
        axes.set_xlim(-0.03, 1.03)
        fig.labels(axes, "rate", "", "raw and corrected")

    yield fig.Figure(
        fig.Head("corrected", "9", "Rates, raw and corrected by labels of people"),
        _finding(marks),
        "Hollow: the rate that the judge gives. Filled: the rate that people would give, with its "
        "95% interval over clusters. Below it the same from the labels alone.",
        (fig.Panel(draw, fig.height_of_rows(len(marks), 0.5)),),
        ("rate", "raw", *fig.named("corrected"), "labels", "labels alone", "lower", "upper"),
        tuple(
            (
                name,
                *(row[key] for key in ("raw", "value", "lower", "upper", "items", "labels")),
                *(row[f"labels_alone{end}"] for end in ("", "_lower", "_upper")),
            )
            for name, row in marks
        ),
    )


def _finding(marks: Sequence[tuple[str, TableRow]]) -> str:
    """Whether verdicts lie to one side of the labels of people, where they do so most."""
    biases = [(bias, name) for name, row in marks if (bias := bias_of(row)) is not None]
    if not biases:
        return "Whether a judge's rate is that of people is not known"
    bias, name = farthest(biases)
    return bias.sentence(
        above=f"{name}: verdicts lie above the labels of people",
        below=f"{name}: verdicts lie below the labels of people",
        neither=f"No judge's rate is told from that of people; farthest is {name}",
    )


def _name(sheet: Datasheet, judge: str, suite: str, row: TableRow) -> str:
    condition = "".join(f", {value}" for value in row["condition"].values())
    return f"{fig.called(sheet, judge, suite)} on {suite}{condition}"
