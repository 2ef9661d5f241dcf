"""Every gated measure by group: a table, what follows of each group in words, and notices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from pytest_judgesense.datasheets.sections import Estimates, TableRow, TableRows
from pytest_judgesense.errors import listed
from pytest_judgesense.estimate import Estimate, compact
from pytest_judgesense.instruments.groups.compared_groups import (
    MOST_GROUPS,
    FieldGroups,
    GroupComparison,
    comparisons,
    fields_of,
)
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.group_gaps import FEWEST_CLUSTERS, GroupGap
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import excerpt
from pytest_judgesense.text.shown_change import ends_text
from pytest_judgesense.trial import grouped

BY_GROUP: Final = "by_group"
NAMED: Final = "treated otherwise"
_HEADS: Final = ("group", "n", "value", "rest", "gap", "95% of all")
_WIDTHS: Final = (14, 5, 5, 5, 6, 14)


def by_group(cell: Cell, _estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for each gated measure in each group, and one for each group without a value."""
    fields = {groups.field: groups for groups in fields_of(cell)}
    if not fields:
        return None
    return [
        _row(comparison, fields[comparison.field], group.name)
        for comparison in comparisons(cell)
        for group in fields[comparison.field].groups
        if group.name in comparison.by_group
    ]


def _row(comparison: GroupComparison, groups: FieldGroups, name: str) -> dict[str, Any]:
    estimate = comparison.by_group[name]
    of_group = next(group for group in groups.groups if group.name == name)
    gap = next((gap for gap in comparison.gaps if gap.group == name), None)
    ends = estimate.clustered
    return {
        "field": comparison.field,
        "group": name,
        "items": of_group.items,
        "clusters": of_group.clusters,
        "measure": comparison.measure.name,
        "n": estimate.n,
        "unit": estimate.unit,
        "value": estimate.value,
        "lower": None if ends is None else ends.lower,
        "upper": None if ends is None else ends.upper,
        "rest": None if gap is None else gap.rest.mean,
        "gap": None if gap is None else gap.value,
        "gap_lower": None if gap is None else gap.ends[0],
        "gap_upper": None if gap is None else gap.ends[1],
        "named": gap is not None and gap.named,
        "unparsed": estimate.missing.unparsed,
        "failed": estimate.missing.failed,
        "verdict": _verdict(comparison, estimate, gap),
    }


def _verdict(comparison: GroupComparison, estimate: Estimate, gap: GroupGap | None) -> str:
    """What follows for a group, in words; of a gap that is not seen, how large it may be."""
    if gap is not None:
        if gap.named:
            return "named: worse" if _is_worse(comparison, gap) else "named: better"
        return f"up to {max(map(abs, gap.ends)):.2f} possible"
    if comparison.why_not:
        return f"not compared: {comparison.why_not}"
    clusters = 0 if estimate.clustered is None else estimate.clustered.clusters
    return f"not compared: {clusters} of {FEWEST_CLUSTERS} clusters"


def _is_worse(comparison: GroupComparison, gap: GroupGap) -> bool:
    return (gap.value < 0) == comparison.measure.floor


def group_lines(rows: TableRows) -> Iterator[str]:
    """A table for each field and measure that is compared; of the others the values in lines.

    The ends of a gap are those that decide, over all comparisons of the suite together.
    """
    for field, of_field in grouped(rows, lambda row: str(row["field"])).items():
        alike = []
        for measure, of_measure in grouped(of_field, lambda row: str(row["measure"])).items():
            if any(row["gap"] is not None for row in of_measure):
                yield f"{measure} by {field}"
                yield _line(_HEADS, "")
                yield from map(_row_line, of_measure)
            elif len({row["value"] for row in of_measure}) == 1:
                alike.append(f"{measure} {compact(of_measure[0]['value'])}")
            else:
                values = (f"{row['group']} {compact(row['value'])}" for row in of_measure)
                yield f"{measure} by {field}, {of_measure[0]['verdict']}: {listed(values)}"
        if alike:
            yield f"the same in every group by {field}: {', '.join(alike)}"


def _row_line(row: TableRow) -> str:
    gap = ["", "", ""]
    if row["gap"] is not None:
        ends = ends_text((row["gap_lower"], row["gap_upper"]), compact)
        gap = [compact(row["rest"]), compact(row["gap"]), ends]
    shown = (excerpt(row["group"], _WIDTHS[0]), str(row["n"]), compact(row["value"]), *gap)
    return _line(shown, row["verdict"])


def _line(cells: Iterable[str], last: str) -> str:
    aligned = (
        cell.ljust(width) if head == "group" else cell.rjust(width)
        for head, cell, width in zip(_HEADS, cells, _WIDTHS, strict=True)
    )
    return f"{' '.join(aligned)}  {last}".rstrip()


def groups_brief(rows: TableRows) -> str:
    """The groups that are treated otherwise; empty for none."""
    named_rows = grouped((row for row in rows if row["named"]), lambda row: str(row["group"]))
    return ", ".join(
        f"{group} {NAMED} ({', '.join(row['measure'] for row in named)})"
        for group, named in named_rows.items()
    )


# --- notices --------------------------------------------------------------------------------------


def group_notices(cell: Cell) -> Iterator[str]:
    """Groups that are too small to be compared, and items that belong to none."""
    for groups in fields_of(cell):
        small = [group for group in groups.groups if group.clusters < FEWEST_CLUSTERS]
        if small:
            sizes = listed(f"{group.name} {group.clusters}" for group in small)
            yield (
                f"{cell.suite}: {len(small)} of {len(groups.groups)} groups by {groups.field} are "
                f"not compared, they have fewer than {FEWEST_CLUSTERS} clusters of items: {sizes}"
            )
        if groups.further:
            yield (
                f"{cell.suite}: of {len(groups.groups) + len(groups.further)} groups by "
                f"{groups.field} the {MOST_GROUPS} largest are measured"
            )
        if groups.without:
            yield f"{cell.suite}: {groups.without} items have no {groups.field}, and no group by it"
