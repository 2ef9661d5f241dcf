"""Figures of what is compared: temperatures, and configurations of debate judges. Pure.

The tables of analyses that they are drawn from are plain values, as datasheets hold them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from pytest_judgesense.datasheet.page_figures import (
    SHARE,
    Absent,
    Axis,
    Figure,
    Found,
    Head,
    Mark,
    Panel,
    Series,
    name_of,
    percent,
    shown,
)
from pytest_judgesense.datasheet.sheet import Datasheet
from pytest_judgesense.errors import printable

__all__ = ["comparing_figures"]

_Row: TypeAlias = Mapping[str, Any]

_MOST_EFFECTS: Final = 24
_MOST_RANKS: Final = 20
_OUTCOMES: Final = ("agreement", "consistency", "error_rate")
# What the rows of `temperature_table` are told apart by, beside the temperature.
_CELL: Final = ("judge_type", "prompt_style", "model", "gold")


def comparing_figures(sheet: Datasheet) -> Iterator[Found]:
    """Figures 7 and 8."""
    yield _temperatures(sheet)
    yield _correlations(sheet)
    yield _effects(sheet)
    yield _attributions(sheet)
    yield from _rankings(sheet)


def _tables(sheet: Datasheet, name: str) -> list[tuple[str, str, Sequence[_Row]]]:
    """Judge (empty where it is not one judge's own), suite and rows of every analysis so named."""
    own = [
        (name_of(judge), str(table["suite"]), table["rows"])
        for judge in sheet.judges
        for table in judge.analyses
        if table["analysis"] == name
    ]
    return own + [
        ("", suite, table["rows"])
        for suite, tables in sorted(sheet.analyses.items())
        for table in tables
        if table["analysis"] == name
    ]


def _words(*parts: object) -> str:
    return ", ".join(printable(str(part)) for part in parts if part not in (None, "", "all"))


_NO_TEMPERATURES: Final = 'It needs a suite of several temperatures (kind = "temperature").'
_NO_EFFECTS: Final = (
    "It needs a suite of several temperatures, and: pip install 'pytest-judgesense[causal]'."
)


def _temperatures(sheet: Datasheet) -> Found:
    head = Head("temperature", "7a", "Agreement, consistency and errors by temperature")
    found: dict[str, dict[float, _Row]] = {}
    rows: list[tuple[Any, ...]] = []
    tables = _tables(sheet, "temperature_table")
    several = len({suite for _, suite, _ in tables}) > 1
    for judge, suite, table in tables:
        for row in table:
            if not isinstance(row.get("temperature"), int | float):
                continue  # a margin over temperatures
            known = [row.get(key) for key in _CELL]
            if None in known[:2] or "all" in known[:2]:
                continue  # a margin over prompts or types
            who = _words(judge, suite if several else "", *known) or suite
            found.setdefault(who, {})[float(row["temperature"])] = row
            values = [_number(row.get(f"{name}_mean")) for name in _OUTCOMES]
            rows.append((judge, suite, *known, float(row["temperature"]), *values, row.get("n")))
    if not found:
        return Absent(head, _NO_TEMPERATURES)
    panels = []
    for name in _OUTCOMES:
        series = tuple(
            Series(who, marks, style, joined=True)
            for style, (who, by) in enumerate(found.items())
            if (
                marks := tuple(
                    Mark(at, float(row[f"{name}_mean"]))
                    for at, row in sorted(by.items())
                    if row.get(f"{name}_mean") is not None
                )
            )
        )
        if series:
            label = f"{name.replace('_', ' ')} (share)"
            panels.append(Panel("points", Axis("temperature"), Axis(label, SHARE), series))
    falls = [
        (by[max(by)]["agreement_mean"] - by[min(by)]["agreement_mean"], who, by)
        for who, by in found.items()
        if by[max(by)].get("agreement_mean") is not None
        and by[min(by)].get("agreement_mean") is not None
    ]
    finding = "Agreement could not be measured at both ends of the temperatures"
    if falls:
        _, who, by = min(falls, key=lambda one: (one[0], one[1]))
        low, high = min(by), max(by)
        finding = (
            f"Agreement of {who} goes from {percent(by[low]['agreement_mean'])} at {low:g} to "
            f"{percent(by[high]['agreement_mean'])} at {high:g}"
        )
    return Figure(
        head,
        finding,
        "Agreement with the gold label, consistency of replicates, and replies without a usable "
        "verdict, by the temperature that was asked for.",
        tuple(panels),
        ("judge", "suite", *_CELL, "temperature", *_OUTCOMES, "n"),
        tuple(rows),
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _correlations(sheet: Datasheet) -> Found:
    head = Head("correlations", "7b", "Correlations")
    names = ("temperature", *_OUTCOMES)
    panels, rows, said = [], [], []
    for judge, suite, table in _tables(sheet, "temperature_correlations"):
        groups: dict[str, list[_Row]] = {}
        for row in table:
            groups.setdefault(_words(judge, row.get("model"), row.get("level")), []).append(row)
            ends = _words(judge), suite, row.get("level"), row.get("model"), row["x"], row["y"]
            rows.append((*ends, _number(row.get("r")), row.get("n")))
        for title, some in groups.items():
            cellz = {}
            for row in some:
                if row.get("r") is not None and {row["x"], row["y"]} <= {*names}:
                    x, y = names.index(row["x"]), names.index(row["y"])
                    cellz[x, y] = cellz[y, x] = float(row["r"])
                    if row["x"] != row["y"]:
                        said.append((abs(float(row["r"])), row["x"], row["y"], float(row["r"])))
            marks = tuple(Mark(x, y, size=r, label=shown(r)) for (x, y), r in sorted(cellz.items()))
            if marks:
                axis = Axis("", ticks=tuple(name.replace("_", " ") for name in names))
                panels.append(Panel("heat", axis, axis, (Series("", marks),), title))
    if not panels:
        return Absent(head, _NO_TEMPERATURES)
    finding = "Nothing is correlated with the temperature"
    if said:
        _, x, y, r = max(said, key=lambda one: (one[0], one[1:3]))
        finding = f"The strongest correlation is that of {x} and {y}: r {shown(r)}"
    return Figure(
        head,
        finding.replace("_", " "),
        "Pearson's r, from -1 to 1: over the means of cells, or over single rows.",
        tuple(panels),
        ("judge", "suite", "level", "model", "x", "y", "r", "n"),
        tuple(rows),
    )


def _effects(sheet: Datasheet) -> Found:
    head = Head("effects", "7c", "Effects of the temperature")
    columns = ("method", "outcome", "group", "level", "low", "high", "value", "lower", "upper", "n")
    rows, panels, said = [], [], []
    for judge, suite, table in _tables(sheet, "temperature_effects"):
        rows += [
            (judge, suite, *(row.get(key) for key in columns), row.get("unavailable"))
            for row in table
        ]
        for outcome in dict.fromkeys(row["outcome"] for row in table):
            some = [r for r in table if r["outcome"] == outcome and r.get("value") is not None]
            if len(some) > _MOST_EFFECTS:  # single pairs of temperatures are in the table
                some = [row for row in some if row["method"] != "pair"]
            methods = list(dict.fromkeys(row["method"] for row in some))
            names = [
                _words(
                    row["group"].replace("_", " "),
                    row.get("level"),
                    f"{row.get('low')} to {row.get('high')}",
                )
                for row in some
            ]
            series = tuple(
                Series(
                    method,
                    tuple(
                        Mark(float(row["value"]), place, across=_both(row))
                        for place, row in enumerate(some)
                        if row["method"] == method
                    ),
                    style,
                )
                for style, method in enumerate(methods)
            )
            if some:
                label = f"change of {outcome.replace('_', ' ')}"
                axis = Axis("", ticks=tuple(names))
                title = _words(judge, outcome.replace("_", " "))
                panels.append(Panel("points", Axis(label), axis, series, title, (("x", 0.0),)))
            said += [
                (row["outcome"] != "agreement", row["method"] != "aipw", row)
                for row in some
                if row["group"] == "overall"
            ]
    if not panels:
        return Absent(head, _NO_EFFECTS)
    finding = "No effect over all could be estimated"
    if said:
        row = min(said, key=lambda one: one[:2])[2]
        ends = _both(row)
        finding = f"A high temperature changes {row['outcome']} by {shown(float(row['value']))}"
        finding += f" [{shown(ends[0])}, {shown(ends[1])}]" if ends else ""
    return Figure(
        head,
        finding.replace("_", " "),
        "Effects overall and by judge type, prompt and model, with 95% intervals clustered by "
        "question. An interval that holds 0 shows no effect.",
        tuple(panels),
        ("judge", "suite", *columns, "unavailable"),
        tuple(rows),
    )


def _both(row: _Row) -> tuple[float, float] | None:
    if row.get("lower") is None or row.get("upper") is None:
        return None
    return float(row["lower"]), float(row["upper"])


def _attributions(sheet: Datasheet) -> Found:
    head = Head("attributions", "7d", "What predicts the outcome (SHAP)")
    points = _tables(sheet, "temperature_attribution_points")
    means = _tables(sheet, "temperature_attributions")
    rows = [
        (
            judge,
            suite,
            row["outcome"],
            row.get("feature"),  # an outcome that cannot be attributed has none
            *(_number(row.get(k)) for k in ("value", "se")),
            row.get("unavailable"),
        )
        for judge, suite, table in means
        for row in table
    ]
    panels = []
    for judge, _, table in points:
        for outcome in dict.fromkeys(row["outcome"] for row in table):
            some = [row for row in table if row["outcome"] == outcome]
            features = list(dict.fromkeys(row["feature"] for row in some))
            axis = Axis("", ticks=tuple(name.replace("_", " ") for name in features))
            title = _words(judge, outcome.replace("_", " "))
            marks = tuple(_bees(some, features))
            label = Axis("SHAP value (change of the prediction)")
            panels.append(Panel("points", label, axis, (Series("", marks),), title, (("x", 0.0),)))
    if not panels:
        return Absent(head, _NO_EFFECTS)
    finding = "No feature moves the prediction"
    if known := [row for row in rows if row[4] is not None]:
        top = max(known, key=lambda row: row[4] or 0.0)
        finding = f"{top[3]} moves the prediction of {top[2]} most: {shown(top[4])} on average"
    return Figure(
        head,
        finding.replace("_", " "),
        "Each point is a row of the data; the darker, the higher the value of the feature. The "
        "table holds mean absolute SHAP values.",
        tuple(panels),
        ("judge", "suite", "outcome", "feature", "mean |SHAP|", "se", "unavailable"),
        tuple(rows),
    )


def _bees(rows: Sequence[_Row], features: Sequence[str]) -> Iterator[Mark]:
    """Points beside one another where they would hide one another: always at the same places."""
    for place, feature in enumerate(features):
        own = sorted((r for r in rows if r["feature"] == feature), key=lambda row: row["shap"])
        values = [row["feature_value"] for row in own]
        order = {value: i for i, value in enumerate(sorted({*values}, key=_rank))}
        span = (own[-1]["shap"] - own[0]["shap"]) / 40 if own else 0.0
        filled: dict[int, int] = {}
        for row in own:
            column = round((row["shap"] - own[0]["shap"]) / span) if span else 0
            filled[column] = nth = filled.get(column, 0) + 1
            off = nth // 2 * (1 if nth % 2 else -1)
            size = order[row["feature_value"]] / max(1, len(order) - 1)
            yield Mark(float(row["shap"]), place + max(-0.4, min(0.4, off * 0.06)), size=size)


def _rank(value: Any) -> tuple[bool, Any]:
    return isinstance(value, str), value


def _rankings(sheet: Datasheet) -> Iterator[Found]:
    tables = [(suite, rows) for _, suite, rows in _tables(sheet, "ranking") if rows]
    if not tables:
        head = Head("ranking", "8", "Debate ranking")
        yield Absent(head, "It needs debates that were judged repeatedly: --judge-suite debate.")
    for index, (suite, rows) in enumerate(tables):
        tail = f"-{index + 1}" if index else ""
        names = tuple(printable(row["configuration"]) for row in rows)
        shares = [tuple(map(float, row["rank_shares"])) for row in rows]
        few = len(rows) <= _MOST_RANKS  # more numbers than these would write over one another
        marks = tuple(
            Mark(place, line, size=share, label=shown(share) if share >= 0.0005 and few else "")
            for line, row in enumerate(shares)
            for place, share in enumerate(row)
        )
        ranks = tuple(str(place + 1) for place in range(len(rows)))
        finding = f"{names[0]} is the most stable configuration, first in {percent(shares[0][0])}"
        yield Figure(
            Head(f"ranking{tail}", "8", f"Debate ranking: {suite}"),
            f"{finding} of resamples",
            "Each line is a configuration, the most stable on top: in which share of resamples of "
            "topics it takes which rank. Instability is the number behind its name.",
            (
                Panel(
                    "heat",
                    Axis("rank", ticks=ranks),
                    Axis(
                        "configuration",
                        ticks=tuple(
                            f"{name}  {shown(float(row['instability']))}"
                            for name, row in zip(names, rows, strict=True)
                        ),
                    ),
                    (Series("", marks),),
                ),
            ),
            ("configuration", "rank", "instability", *(f"share of rank {rank}" for rank in ranks)),
            tuple(
                (name, row["rank"], float(row["instability"]), *share)
                for name, row, share in zip(names, rows, shares, strict=True)
            ),
            wide=True,
        )
