"""The verdicts that an edit moves: each beside that under the placebo. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_judgesense.instruments.probe.readings import ProbeResult, moved_calls, readings
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.evidence import Group


def moved_by_edits(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Pairs of judgments, placebo and edited; without a ``probe`` of the one that moves most."""
    return _moved(cell, "probe", condition)


def moved_by_names(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Pairs of judgments, under A and B and under other names of the slots."""
    return _moved(cell, "naming", condition)


def _moved(cell: Cell, key: str, condition: Mapping[str, Any]) -> list[Group]:
    def of_condition(reading: ProbeResult) -> bool:
        return bool(reading.naming) == (key == "naming") and condition.get(key) in (
            None,
            getattr(reading, key),
        )

    chosen = [r for r in readings(cell) if of_condition(r) and r.value is not None]
    if not chosen:
        return []
    worst = max(chosen, key=lambda reading: reading.value or 0.0)
    return [(call.before, call.after) for call in moved_calls(worst)]
