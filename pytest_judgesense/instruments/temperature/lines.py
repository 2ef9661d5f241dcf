"""The tables of a sweep over the temperature in words. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Final

from pytest_judgesense.estimate import number_text
from pytest_judgesense.grouping import grouped
from pytest_judgesense.instruments.temperature.effects import ALL
from pytest_judgesense.instruments.temperature.sweep import SOURCES
from pytest_judgesense.sections import Row, Rows

_COLUMNS: Final = {
    "agreement": "agreement",
    "agreement_parsed": "of the parsed",
    "consistency": "consistency",
    "error_rate": "error rate",
}
_LEVEL: Final = 0.05
_FEATURES: Final = 3  # of an attribution that are named


def table(rows: Rows) -> Iterator[str]:
    """By temperature; by judge type and prompt style over all of them."""
    named: list[tuple[str, Row]] = []
    by_prompt: list[tuple[str, Row]] = []
    for row in rows:
        kind, at = [str(row["judge_type"]), str(row["prompt_style"])], row["temperature"]
        if not {*SOURCES}.isdisjoint(row):
            continue
        if at == ALL and ALL not in kind:
            by_prompt.append((", ".join(kind), row))
        elif at != ALL and kind == [ALL, ALL]:
            named.append((f"temperature {at:g}", row))
    named += by_prompt
    head = "".join(f"{word:<16}" for word in _COLUMNS.values())
    yield f"{'mean (standard deviation)':<26}{'n':>6}  {head}".rstrip()
    for name, row in named:
        cells = "".join(f"{_spread(row, column):<16}" for column in _COLUMNS)
        yield f"{name:<26}{row['n']:>6}  {cells}".rstrip()
    by = "".join(f", by {key}" for key in SOURCES if any(key in row for row in rows))
    rest = len(rows) - len(named)
    yield f"{rest} further rows by temperature, judge type and prompt style{by}: in the files"


def _spread(row: Row, column: str) -> str:
    mean, sd = row[f"{column}_mean"], row[f"{column}_sd"]
    if mean is None:
        return "N/A"
    return number_text(mean) + ("" if sd is None else f" ({number_text(sd)})")


def majority(rows: Rows) -> Iterator[str]:
    """The agreement of a vote of several calls, and its cost."""
    known = (row for row in rows if row["agreement"] is not None)
    for temperature, some in grouped(known, itemgetter("temperature")).items():
        votes = [
            f"k {row['k']} {number_text(row['agreement'])} "
            f"({row['calls']:.3g} call{'s' * (row['calls'] != 1)})"
            for row in some
        ]
        yield f"agreement of a vote of k at temperature {temperature:g}: {', '.join(votes)}"


def votes(rows: Rows) -> Iterator[str]:
    """For each temperature the largest vote that differs from one call at the lowest one."""
    apart = {row["temperature"]: row for row in rows if row["k"] > 1 and row["p_holm"] <= _LEVEL}
    for at, row in apart.items():
        often = "more" if row["value"] > 0 else "less"
        yield (
            f"a vote of {row['k']} at temperature {at:g} agrees {often} often than one call at "
            f"{row['cold']:g}: {row['value']:+.3f} [{row['lower']:+.3f}, {row['upper']:+.3f}], "
            f"p {row['p_holm']:.3g} after Holm, {row['calls']:.3g} calls for "
            f"{row['calls_cold']:.3g}"
        )


def analytic(rows: Rows) -> Iterator[str]:
    """Expected values at every temperature from probabilities, beside the sampled ones."""
    head = "".join(f"{word:<30}" for word in ("agreement (sampled)", "consistency (sampled)"))
    yield f"{'from probabilities':<26}{'n':>6}  {head}".rstrip()
    for row in rows:
        cells = "".join(f"{_expected(row, name):<30}" for name in ("agreement", "consistency"))
        name = f"temperature {row['temperature']:g}"
        yield f"{name:<26}{row['n']:>6}  {cells}".rstrip()
    yield "of prompts that are answered at once, given that a verdict is stated: without replicates"
    lost = next((row["no_label"] for row in rows if row.get("no_label") is not None), None)
    if lost is not None:
        yield f"at temperature 1 another token than a verdict's has probability {number_text(lost)}"


def _expected(row: Row, name: str) -> str:
    if row[name] is None:
        return "N/A"
    lower, upper, sampled = (row[f"{name}_{word}"] for word in ("lower", "upper", "sampled"))
    ends = "" if lower is None else f" [{number_text(lower)}, {number_text(upper)}]"
    return number_text(row[name]) + ends + ("" if sampled is None else f" ({number_text(sampled)})")


def moderation(rows: Rows) -> Iterator[str]:
    """The factors whose levels differ in their effects."""
    for row in rows:
        if row["p_holm"] is not None and row["p_holm"] <= _LEVEL:
            yield (
                f"the effect on {row['outcome']} depends on {row['factor']}, {row['method']}: "
                f"{row['least']:+.3f} ({row['least_at']}) to {row['most']:+.3f} "
                f"({row['most_at']}), p {row['p_holm']:.3g} after Holm"
            )


def correlations(rows: Rows) -> Iterator[str]:
    """Correlations over the means of temperatures."""
    pairs = [
        f"{row['x']} and {row['y']} {number_text(row['r'])}"
        for row in rows
        if row["level"] == "means" and "model" not in row and row["r"] is not None
    ]
    if pairs:
        yield f"correlation of the means of temperatures: {', '.join(pairs)}"


def effects(rows: Rows) -> Iterator[str]:
    """The two effects of the threshold on each outcome; a shared reason is printed once."""
    reasons: dict[str, None] = {}
    for row in rows:
        if row["group"] != "overall" or row["method"] == "pair":
            continue
        if row["value"] is None:
            why = f"effect of a high temperature, {row['method']}: N/A, {row['unavailable']}"
            reasons[why] = None
            continue
        text = f"effect of {row['high']} on {row['outcome']}, {row['method']}: {row['value']:+.3f}"
        if row["lower"] is not None:
            text += f" [{row['lower']:+.3f}, {row['upper']:+.3f}]"
        text += f", n {row['n']} of {row['questions']} questions"
        if "propensity_min" in row:
            low, high = row["propensity_min"], row["propensity_max"]
            text += f", propensities {low:.2f} to {high:.2f}, {row['clipped']} clipped"
        yield text
    yield from reasons


def attributions(rows: Rows) -> Iterator[str]:
    """The features that affect each outcome most; a missing package is named with the effects."""
    of = grouped((row for row in rows if row.get("value", 0) > 0), itemgetter("outcome"))
    for outcome, features in of.items():
        moving = [
            f"{row['feature']} {number_text(row['value'])} (se {number_text(row['se'])}, "
            f"{'up' if row['direction'] > 0 else 'down'})"
            for row in sorted(features, key=lambda row: -row["value"])[:_FEATURES]
        ]
        yield f"{outcome} is moved by (mean |SHAP|): {', '.join(moving)}"


def recommendation(rows: Rows) -> Iterator[str]:
    """The recommended temperature under both policies."""
    for check in dict.fromkeys(row["check"] for row in rows):
        best = {
            key: f"{row['temperature']:g}"
            for row in rows
            for key in ("recommended", "recommended_confident")
            if row["check"] == check and row[key]
        }
        bars = check.partition("[")[2].rstrip("]")
        yield (
            f"recommended temperature ({bars}): {best.get('recommended', 'none')}; "
            f"with confidence {best.get('recommended_confident', 'none')}"
        )
