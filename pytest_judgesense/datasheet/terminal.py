"""The datasheet on a terminal: lines of at most 100 columns, readable without colour. Pure.

Text of judges is untrusted: whatever is not printable is shown as an escape.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from pytest_judgesense.checks.explanation import WIDTH, indented
from pytest_judgesense.datasheet import numbers
from pytest_judgesense.datasheet.codec import prompts_digest
from pytest_judgesense.datasheet.profile import profile_sketch
from pytest_judgesense.datasheet.sheet import (
    CheckLine,
    Datasheet,
    JudgeSheet,
    SuiteSheet,
    changed_between,
    state_of,
)
from pytest_judgesense.datasheet.standing import analysis_lines, leaderboards, setting_notices
from pytest_judgesense.errors import printable
from pytest_judgesense.estimate import CENSORED, Estimate

__all__ = [
    "WIDTH",
    "bar_words",
    "condition_words",
    "datasheet_lines",
    "identity_words",
    "judge_name",
    "notes_of",
    "provenance_words",
    "ranking_lines",
    "totals_words",
    "worth_words",
]

_CHECK_COLUMN = 82
_NAME_COLUMN = 23
_SWEPT = {"temperature", "judge_type", "prompt_style", "gold", "model"}


def datasheet_lines(sheet: Datasheet, today: date | None = None) -> Iterator[str]:
    """The lines of all judges, a blank line between two.

    Args:
        sheet: the datasheet.
        today: the day in UTC from which the age of recordings is told; without it none is.
    """
    for index, judge in enumerate(sheet.judges):
        if index:
            yield ""
        yield from _judge_lines(judge, sheet, today)
    yield from _comparison_lines(sheet)


def ranking_lines(sheet: Datasheet) -> Iterator[str]:
    """The rankings of judge configurations, a suite each; nothing where there are none."""
    for suite, analyses in sheet.analyses.items():
        rows = {table["analysis"]: table["rows"] for table in analyses}
        if "ranking" in rows:
            yield from _ranking(suite, rows["ranking"], rows["ranking_basis"][0])


def _ranking(suite: str, rows: list[dict[str, Any]], basis: Mapping[str, Any]) -> Iterator[str]:
    runs = f"{basis['runs']} run{'s' * (basis['runs'] != 1)}"
    weights = ", ".join(f"{weight:g}" for weight in basis["weights"].values())
    yield from _wrapped(
        f"suite {suite}",
        [
            f"{len(rows)} configurations",
            f"{basis['debates']} debates of {basis['topics']} topics",
            runs,
            f"variances over {basis['denominator']}",
            f"weights {weights}",
        ],
    )
    yield (
        f"  rank  {'configuration':<24}{'instability':>12}{'flips':>14}{'side bias':>14}"
        f"{'score var':>11}{'conf var':>10}{'first':>8}"
    )
    for row in rows:
        flips = f"{row['repeat_flip_rate']:.1%} {row['repeat_flip_band']:<6}"
        bias = f"{row['side_bias']:.1%} {row['side_bias_band']:<6}"
        name = printable(row["configuration"])
        if len(name) > _NAME_COLUMN:
            yield from indented(name, width=8)
            name = ""
        yield (
            f"  {row['rank']:>4}  {name:<24}{row['instability']:>12.3f}{flips:>14}{bias:>14}"
            f"{row['score_variance']:>11.3f}{row['confidence_variance']:>10.4f}"
            f"{row['rank_shares'][0]:>8.1%}"
        )
    for name, reason in basis["excluded"].items():
        yield from indented(f"left out: {name}, {reason}", width=2)
    yield from indented(basis["recommendation"], width=2)


def _judge_lines(judge: JudgeSheet, sheet: Datasheet, today: date | None) -> Iterator[str]:
    yield from _wrapped(f"judge {judge.judge}", identity_words(judge))
    yield from _wrapped(
        "",
        [
            f"prompts {prompts_digest(judge) or 'unknown'}",
            *(provenance := provenance_words(judge, sheet.mode, today)),
            f"seed of intervals {sheet.seed}",
        ],
    )
    yield from _row("  measure", "count/n", "value", "95% interval", "95% clustered", "check")
    for part in judge.parts:
        own = provenance_words(part, sheet.mode, today)
        yield from _part_lines(part, [] if own == provenance else own)
    for notice in changed_between({part.suite: part.served for part in judge.parts}):
        yield from indented(f"notice: {notice}", width=2)
    sketch = profile_sketch(judge.estimates)
    yield from _wrapped(
        "  profile:", [sketch or "nothing that a profile is drawn from was measured"]
    )
    yield from _wrapped("  calls:", totals_words(judge))


def identity_words(judge: JudgeSheet) -> list[str]:
    """What the judge is: provider, model and settings, and what its replies named as the model."""
    identity = judge.identity
    parts = [f"{identity.get('provider', 'log')}:{identity.get('model') or judge.judge}"]
    parts += [
        f"{key} {identity[key]:g}" if isinstance(identity[key], float) else f"{key} {identity[key]}"
        for key in ("base_url", "temperature", "max_tokens", "reasoning", "seed")
        if identity.get(key) is not None
    ]
    if judge.served:
        parts.append("served as " + ", ".join(judge.served))
    if identity.get("own_prompts"):
        parts.append(f"own prompts {identity['own_prompts']}")
    return parts


def provenance_words(
    of: JudgeSheet | SuiteSheet, mode: str, today: date | None = None
) -> list[str]:
    """How judgments came, and when they were recorded."""
    state = state_of(mode, of.calls)
    if of.recorded is None:
        return [state]
    first, last = (moment[:10] for moment in of.recorded)
    if first == last:
        return [state, f"recorded {first}{numbers.age(first, today)}"]
    return [state, f"recorded {first} to {last}{numbers.age(first, today, 'the oldest ')}"]


def _row(
    name: str, count: str, value: str, interval: str, clustered: str, *checks: str
) -> Iterator[str]:
    """The cells in their columns; a check that does not fit stands on a line of its own."""
    line = f"{name:<32}{count:>9}{value:>8}  {interval:<15} {clustered:<15}"
    if len(line) > WIDTH:
        yield from indented(name.strip())
        line = line.removeprefix(name)
    for check in checks:
        if len(line) + 1 + len(check) <= WIDTH:
            line += f" {check}"
        else:
            yield line.rstrip()
            line = " " * max(6, min(_CHECK_COLUMN, WIDTH - len(check) - 1)) + f" {check}"
    yield line.rstrip()


def _part_lines(part: SuiteSheet, provenance: list[str]) -> Iterator[str]:
    yield from indented(": ".join(filter(None, [part.suite, ", ".join(provenance)])), width=2)
    gated: dict[tuple[str, tuple[tuple[str, Any], ...]], list[CheckLine]] = {}
    composite = []
    # What is estimated at every temperature stands in tables; a check of all is no row's own.
    swept = any(analysis["analysis"] == "temperature_table" for analysis in part.analyses)
    varied = {e.measure for e in part.estimates if swept and "temperature" in e.condition}
    for line in part.checks:
        of_all = line.measure in varied and "temperature" not in line.condition
        if isinstance(line.bar, float) and not of_all:
            gated.setdefault((line.measure, _key(line.condition)), []).append(line)
        else:
            composite.append(line)
    by_measure: dict[str, list[Estimate]] = {}
    for estimate in part.estimates:
        hidden = _SWEPT if swept else {"template_pair"}
        if not hidden & estimate.condition.keys() or (
            swept and (estimate.measure, _key(estimate.condition)) in gated
        ):
            by_measure.setdefault(estimate.measure, []).append(estimate)
    for measure, estimates in by_measure.items():
        if estimates[0].condition and len(estimates) > 1:
            yield from indented(measure, width=4)
        for estimate in estimates:
            alone = not estimate.condition or len(estimates) == 1
            key = (measure, _key(estimate.condition))
            yield from _estimate_lines(estimate, gated.pop(key, []), alone=alone)
        if measure == "jss":
            yield from _pair_lines(part, gated)
    if words := worth_words(part.estimates):
        yield from indented(words, width=4)
    for analysis in part.analyses:
        for words in analysis_lines(analysis):
            yield from indented(words, width=4)
    for lines in [*gated.values(), composite]:
        for line in lines:
            yield from indented(f"{line.check}: {line.outcome.upper()}", width=4)
            yield from indented(line.explanation)
            yield from _warnings([line])
    for notice in part.notices:
        yield from indented(f"notice: {notice}")


def worth_words(estimates: Iterable[Estimate]) -> str:
    """Independent units that the units of each pooled measure are worth, and the design effect.

    Empty where that is known of none.
    """
    parts = [
        f"{estimate.measure} {found.effective_n:.0f} ({found.design_effect:.1f})"
        for estimate in estimates
        if not estimate.condition
        and (found := estimate.clustered) is not None
        and found.effective_n is not None
        and found.design_effect is not None
    ]
    return "effective n (design effect): " + ", ".join(parts) if parts else ""


def _key(condition: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(condition.items()))


def _pair_lines(
    part: SuiteSheet, gated: dict[tuple[str, tuple[tuple[str, Any], ...]], list[CheckLine]]
) -> Iterator[str]:
    """JSS and kappa by template pair, unless none of them flips; flip rates are the rest to 1."""
    by_pair: dict[str, dict[str, Estimate]] = {}
    for estimate in part.estimates:
        if pair := estimate.condition.get("template_pair"):
            by_pair.setdefault(str(pair), {})[estimate.measure] = estimate
    pairs = [(e["jss"], numbers.value(e["kappa"])) for e in by_pair.values()]
    says_more = len(pairs) > 1 and any(j.value != 1 or any(_missing(j)) for j, _ in pairs)
    for jss, kappa in pairs:
        key = ("jss", _key(jss.condition))
        if not (says_more or key in gated):
            continue
        checks = gated.pop(key, [])
        yield from _estimate_lines(jss, checks, f"kappa {kappa}", alone=False)


def _comparison_lines(sheet: Datasheet) -> Iterator[str]:
    """What compares the judges of a run: leaderboards, and settings in which they differ."""
    boards = leaderboards((judge_name(judge), judge.analyses) for judge in sheet.judges)
    notices = setting_notices(judge.identity for judge in sheet.judges)
    if not boards and not notices:
        return
    yield ""
    yield from _wrapped("judges compared", [])
    for board in boards:
        yield from indented(f"{board['suite']}, by JSS", width=2)
        for row in board["rows"]:
            if row["rank"] is None:
                yield from indented(f"left out: {row['judge']}, {row['note']}", width=4)
            else:
                yield from _row(
                    printable(f"    {row['rank']}  {row['judge']}"),
                    f"n {row['n']}",
                    numbers.rate(row["jss"]),
                    f"kappa {numbers.rate(row['kappa'])}",
                    "" if row["lower"] is None else _ends(row["lower"], row["upper"]),
                    row["tier"],
                )
    for notice in notices:
        yield from indented(f"notice: {notice}", width=2)


def judge_name(judge: JudgeSheet) -> str:
    """The name under which a judge is compared with others."""
    return str(judge.identity.get("name") or judge.judge)


def _ends(lower: float, upper: float) -> str:
    return f"[{numbers.rate(lower)}, {numbers.rate(upper)}]"


def _estimate_lines(
    estimate: Estimate, checks: list[CheckLine], *beside: str, alone: bool
) -> Iterator[str]:
    """One estimate: by its measure, or below that by its condition; ``beside`` it, what else."""
    condition = printable(condition_words(estimate.condition))
    name = f"    {printable(estimate.measure)}" if alone else f"      {condition}"
    if alone and condition:
        name += f" ({condition})"
    if estimate.value is None:
        yield from indented(
            f"{name.strip()}: N/A, {estimate.unavailable}", width=4 + 2 * (not alone)
        )
        for line in checks:
            yield from indented(f"{line.check}: {line.outcome.upper()}")
    else:
        yield from _row(
            name,
            numbers.counts(estimate),
            numbers.value(estimate),
            numbers.interval(estimate.interval, estimate.flags),
            numbers.interval(estimate.clustered, estimate.flags),
            *(bar_words(line) for line in checks),
            *beside,
        )
    if notes := notes_of(estimate):
        yield from indented("; ".join(notes))
    yield from _warnings(checks)


def condition_words(condition: Mapping[str, Any]) -> str:
    """A condition as people read it; empty for a pooled estimate."""
    return ", ".join(
        f"{key} {value}" if key in ("distance", "k", "polarity", "temperature") else str(value)
        for key, value in condition.items()
    )


def notes_of(estimate: Estimate) -> list[str]:
    """The flags of an estimate, and what is missing."""
    # The numbers themselves say what is censored.
    return [*(flag for flag in estimate.flags if flag not in CENSORED), *_missing(estimate)]


def _missing(estimate: Estimate) -> Iterator[str]:
    """What is missing, with the worst cases where it could have moved the value."""
    missing = estimate.missing
    counted = [
        f"{number} {word}"
        for number, word in ((missing.unparsed, "unparsed"), (missing.failed, "failed"))
        if number
    ]
    low, high = missing.lower_bound, missing.upper_bound
    if counted and low is not None and high is not None and low != high:
        counted.append(f"worst cases {numbers.rate(low)} to {numbers.rate(high)}")
    # A bound that does not move: the measure counts the missing replies itself.
    if counted and (low is None or low != high):
        yield "missing: " + ", ".join(counted)


def bar_words(line: CheckLine) -> str:
    """The bar of a check of one number, and its outcome: ``>= 0.9 PASS``."""
    # The bar as written in the check's id; the sign follows from the kind of the check.
    sign = ">=" if line.check.partition("[")[0].endswith("_floor") else "<="
    return f"{sign} {line.bar:g} {line.outcome.upper()}"


def _warnings(checks: Iterable[CheckLine]) -> Iterator[str]:
    for line in checks:
        for warning in line.warnings:
            yield from indented(f"{line.check}: {warning}")


def totals_words(judge: JudgeSheet) -> list[str]:
    """Calls, tokens and cost of a judge."""
    calls = judge.calls
    parts = [f"{calls.made} made", f"{calls.replayed} replayed", f"{calls.failed} failed"]
    if calls.prompt_tokens is not None:
        parts.append(f"{calls.prompt_tokens:,} prompt tokens")
        parts.append(f"{calls.completion_tokens or 0:,} completion tokens")
    if calls.cost_usd is not None:
        parts.append(f"{calls.cost_usd:.4f} USD")
    return parts


def _wrapped(head: str, parts: list[str]) -> Iterator[str]:
    text = printable("  ".join(filter(None, [head, ", ".join(part for part in parts if part)])))
    indent = "    "
    start = indent if not head else ""
    yield from textwrap.wrap(
        text, WIDTH, initial_indent=start, subsequent_indent=indent, break_on_hyphens=False
    )
