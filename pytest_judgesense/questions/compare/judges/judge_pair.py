"""The two judges that are compared, each with its judgments: recorded ones, or those of a log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.judges.local.models import JUDGES as LOCAL_JUDGES
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.questions.place import Place
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.suites.suite import Suite

_LOG: Final = ".jsonl"


class MeasuredJudge(NamedTuple):
    """The judgments of a judge, and its estimates."""

    cell: Cell
    estimates: Sequence[Estimate]

    @property
    def decided(self) -> set[str]:
        """The trials with a verdict, by their ids."""
        judgments = self.cell.judgments
        return {judgment.trial.id for judgment in judgments if judgment.verdict is not None}


def is_log(name: str) -> bool:
    """Whether a judge is named by its judgment log."""
    return name.endswith(_LOG)


def judges_to_ask(old: str, new: str, place: Place) -> dict[str, JudgeSpec]:
    """By name the judges that are no logs.

    Raises:
        UsageError: both are one judge, or one is not known here.
    """
    names = [name for name in (old, new) if not is_log(name)]
    _refuse_undeclared(names, place)
    specs = place.judges_to_ask(names) if names else []
    if old == new or len({spec.slug for spec in specs}) < len(names):
        raise UsageError(
            "a judge is not moved to itself",
            found=f"{old} and {new}",
            expected="two judges",
            remedy="how much a judge differs by itself: judgesense explain repeat_flip_rate",
        )
    return dict(zip(names, specs, strict=True))


def _refuse_undeclared(names: Sequence[str], place: Place) -> None:
    """Raise a `UsageError` if a judge has recordings, and nothing says any more what it is."""
    declared = place.declared
    for name in names:
        is_name = name not in declared and name not in LOCAL_JUDGES and Path(name).name == name
        if is_name and ":" not in name and (place.cassettes / name).is_dir():
            raise UsageError(
                f"judge {name} is recorded, and not declared",
                found=f"{place.cassettes / name}; declared here: {listed(declared) or 'none'}",
                expected=f"the table that it had, [tool.judgesense.judges.{name}]",
                remedy="declare it again, or name its judgment log (.jsonl) in its place",
            )


def by_name(specs: dict[str, JudgeSpec], sheet: MeasuredDatasheet) -> dict[str, MeasuredJudge]:
    """The judges of a datasheet, by the names with which they were asked for."""
    estimates = {judge_sheet.judge: judge_sheet.estimates for judge_sheet in sheet.judges}
    return {
        name: MeasuredJudge(cell, estimates[spec.slug])
        for (name, spec), cell in zip(specs.items(), sheet.cells, strict=True)
    }


def judge_of_log(path: Path, suite: Suite, place: Place, seed: int) -> MeasuredJudge:
    """The judge whose judgment log this is.

    Raises:
        LogError: the log cannot be read.
        UsageError: it has no judge on the suite, or several.
    """
    cells = cells_of_logs([path], seed, place.registry)
    of_suite = [cell for cell in cells if cell.suite == suite.name]
    if len(of_suite) != 1:
        raise UsageError(
            f"{path} is no log of one judge on {suite.name}",
            found=listed(f"{cell.judge} on {cell.suite}" for cell in cells) or "no judgments",
            expected="one judge on this suite",
            remedy="write it: pytest --judge-suite SUITE --judge-name NAME --judge-datasheet "
            f"{path}",
        )
    return MeasuredJudge(of_suite[0], estimate_all(of_suite[0]))


def on_common_trials(
    old: MeasuredJudge, new: MeasuredJudge
) -> tuple[MeasuredJudge, MeasuredJudge, int]:
    """Both judges on the trials that both were asked, and how many others there are.

    Raises:
        UsageError: no trial has a verdict of both.
    """
    if old.decided.isdisjoint(new.decided):
        raise _nothing_in_common(old, new)
    old_ids, new_ids = _asked(old), _asked(new)
    left_out = len(old_ids ^ new_ids)
    if not left_out:
        return old, new, 0
    common = old_ids & new_ids
    return _on_trials(old, common), _on_trials(new, common), left_out


def _asked(judge: MeasuredJudge) -> set[str]:
    """The trials that a judge was asked, by their ids."""
    return {judgment.trial.id for judgment in judge.cell.judgments}


def _on_trials(judge: MeasuredJudge, ids: set[str]) -> MeasuredJudge:
    """A judge on a part of its trials."""
    judgments = [judgment for judgment in judge.cell.judgments if judgment.trial.id in ids]
    cell = replace(judge.cell, judgments=judgments)
    return MeasuredJudge(cell, estimate_all(cell))


def _nothing_in_common(old: MeasuredJudge, new: MeasuredJudge) -> UsageError:
    return UsageError(
        f"there is no trial of {old.cell.suite} with a verdict of both judges",
        found=f"verdicts of {len(old.decided)} of {len(old.cell.judgments)} trials of "
        f"{old.cell.judge}, of {len(new.decided)} of {len(new.cell.judgments)} of "
        f"{new.cell.judge}",
        expected="the same items, templates, orders and replicates, by the ids of the trials",
    )
