"""The tables of prompts that are compared: a line a prompt, and a line a measure of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_judgesense.datasheets.published_design import Table
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.measures.shared import (
    FAILED_RATE,
    FIRST_SLOT_RATE,
    SIDE_BIAS,
    UNPARSED_RATE,
)
from pytest_judgesense.questions.compare.variants import MeasureChange, VariantChange, word_of
from pytest_judgesense.suites.suite import Suite

_NOT_TOLD_APART = "not told apart"


def table_of_prompts(
    judge: str,
    suite: Suite,
    estimates: Mapping[str, Sequence[Estimate]],
    verdicts: int,
    changes: Sequence[VariantChange],
) -> Table:
    """A line for each prompt, with what it is compared in.

    Args:
        judge: its name.
        suite: that the prompts were asked on.
        estimates: by prompt.
        verdicts: how many of them each prompt has.
        changes: of each prompt but the first.
    """
    columns = _columns(changes[0], estimates)
    items = f"{len(suite.items)} items, {verdicts:,} verdicts each"
    unlabelled = not any(item.label for item in suite.items)
    return Table(
        "prompts",
        f"{len(estimates)} prompts of judge {judge} on {suite.name}, {items}",
        ("prompt", *columns),
        tuple(zip(estimates, *columns.values(), strict=True)),
        ("no agreement: the items have no labels",) * unlabelled,
    )


def table_of_differences(changes: Sequence[VariantChange]) -> Table:
    """A line for each measure of each prompt, against the first."""
    return Table(
        "differences",
        f"each against {changes[0].first}; intervals over whole clusters, p by Holm over all lines",
        ("prompt", "measure", "change", "95% clustered", "p", "verdict"),
        tuple(
            (
                change.name,
                of_measure.measure.name,
                None if of_measure.difference is None else signed(of_measure.difference),
                of_measure.ends,
                f"{of_measure.pair.p:.3g}",
                of_measure.verdict or _NOT_TOLD_APART,
            )
            for change in changes
            for of_measure in change.changes
        ),
        keys=2,
    )


def rows_of_changes(changes: Iterable[VariantChange]) -> Iterator[dict[str, Any]]:
    """The differences as values, unrounded: the rows of the datasheet's table ``variants``."""
    for change in changes:
        for of_measure in change.changes:
            yield _row_of_change(change, of_measure)


def _row_of_change(change: VariantChange, of_measure: MeasureChange) -> dict[str, Any]:
    lower, upper = of_measure.ends or (None, None)
    return {
        "prompt": change.name,
        "first": change.first,
        "measure": of_measure.measure.name,
        "value_of_first": of_measure.values[0],
        "value": of_measure.values[1],
        "difference": of_measure.difference,
        "lower": lower,
        "upper": upper,
        "p": of_measure.pair.p,
        "verdict": of_measure.verdict or _NOT_TOLD_APART,
        "clusters": of_measure.pair.clusters,
        "clusters_that_differ": of_measure.pair.differ,
        "clusters_needed": of_measure.pair.needed,
    }


def signed(difference: float) -> str:
    """A difference as a table shows it: with its sign, unless it is none."""
    text = f"{difference:+.3f}"
    return text if float(text) else text[1:]


def _columns(
    change: VariantChange, estimates: Mapping[str, Sequence[Estimate]]
) -> dict[str, list[float | None]]:
    """The values of all prompts, by heading: of what is compared, and beside it."""
    headings: dict[str, str] = {}
    for of_measure in change.changes:
        measure = of_measure.measure
        if measure.name == SIDE_BIAS.name:
            headings[FIRST_SLOT_RATE.name] = "first slot"  # which one the bias is for
        headings[measure.name] = word_of(measure)
    headings |= {UNPARSED_RATE.name: "unparsed", FAILED_RATE.name: "failed"}
    columns = {
        heading: [_value(of_prompt, name) for of_prompt in estimates.values()]
        for name, heading in headings.items()
    }
    if not any(columns["failed"]):
        del columns["failed"]
    return columns


def _value(estimates: Sequence[Estimate], measure: str) -> float | None:
    estimate = find_estimate(estimates, measure)
    return None if estimate is None else estimate.value
