"""Which calls take no part in the numbers, and why: a table for suites of every kind.

The papers gate validity by leaving calls out and saying how many; none defines a share beyond which
a number is invalid. Here `checks.outcome` has such a share for gates (``--judge-max-missing``), and
estimates keep their values with their worst cases. A row of the table::

    share = calls of that outcome and reason / all calls of the cell

Outcomes: ``unparsed``, a reply without a verdict; ``failed``, a call without a reply;
``incomplete``, a verdict that no number of canonical pairs uses, because the other presentation
order has none. Reasons are shown without their details (``several verdicts: ...``, ``HTTP 500:
...``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from pytest_judgesense.datasheets.sections import Estimates, TableRows
from pytest_judgesense.measures.cell import Cell, answered
from pytest_judgesense.measures.shared import ORDER_TIED
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Failed, Verdict

_SHOWN: Final = 3
_INCOMPLETE: Final = "incomplete"
# How the reason of a failure begins if an endpoint refused the call's settings.
_REFUSED: Final = "refused: "


def excluded(cell: Cell, _estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """The calls left out of a cell, the most frequent reason first; empty if there are none."""
    counts: Counter[tuple[str, str]] = Counter()
    for judgment in cell.judgments:
        if not isinstance(outcome := judgment.outcome, Verdict):
            word = "failed" if isinstance(outcome, Failed) else "unparsed"
            counts[word, _without_particulars(outcome.reason)] += 1
    rows = sorted(counts.items(), key=lambda counted: (-counted[1], counted[0]))
    if counts and ORDER_TIED.unit in {measure.unit for measure in cell.measures}:
        pairs = cell.both_orders()
        alone = sum(answered(ab) != answered(ba) for ab, ba in pairs)
        rows += [((_INCOMPLETE, "the other order has no verdict"), alone)] * bool(alone)
    calls = len(cell.judgments)
    return [
        {"outcome": word, "reason": reason, "calls": n, "of": calls, "share": n / calls}
        for (word, reason), n in rows
    ] or None


def _without_particulars(reason: str) -> str:
    refused = _REFUSED if reason.startswith(_REFUSED) else ""
    head, colon, _ = reason.removeprefix(refused).partition(": ")
    return f"{refused}{head}{colon and ': ...'}"


def excluded_lines(rows: TableRows) -> Iterator[str]:
    """How many calls are left out, and for which reasons."""
    missing = [row for row in rows if row["outcome"] != _INCOMPLETE]
    calls, of = sum(row["calls"] for row in missing), rows[0]["of"]
    reasons = [f"{row['calls']} {row['outcome']}, {row['reason']}" for row in missing[:_SHOWN]]
    if more := sum(row["calls"] for row in missing[_SHOWN:]):
        reasons.append(f"{more} for other reasons")
    yield f"excluded: {calls} of {of} calls ({calls / of:.1%}): {'; '.join(reasons)}"
    for row in rows:
        if row["outcome"] == _INCOMPLETE:
            share = f"{row['share']:.1%}"
            yield f"excluded from pairs: {row['calls']} more ({share}), {row['reason']}"
