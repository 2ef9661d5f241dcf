"""Judgment logs as cells, of each judge and suite all judgments, and the datasheet of these."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from pytest_judgesense.datasheets.datasheet import Calls, Datasheet, SuiteSheet
from pytest_judgesense.errors import LogError
from pytest_judgesense.files.foreign_results import without_common_value
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.calibration import calibration_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.log import read_log, read_placed_log
from pytest_judgesense.report.number_designs import of_numbers
from pytest_judgesense.stats.inputs import joint_codes
from pytest_judgesense.suites.answer_kinds import InferredAnswers, as_steps, inferred_answers
from pytest_judgesense.trial import ABSTAIN, TIE, Design, Judgment

_NO_LABELS: Final = frozenset({TIE, ABSTAIN, None})


def cells_of_logs(
    paths: Iterable[Path],
    seed: int = 0,
    registry: Registry = BUILT_IN,
    *,
    replies: bool = True,
) -> list[Cell]:
    """The cells of all judges and suites in the logs, in the order in which they begin.

    Without ``replies`` their texts are left out, unless something measures them.

    A judgment that appears twice counts once. Raises a `LogError` if a log cannot be read, two
    lines contradict each other, a trial has two ids, or the lines of one suite have different
    designs.
    """
    paths = list(paths)

    def keeps(design: Design | None) -> bool:
        # Temperature sweeps count words of replies; measures of plugins may use them in any way.
        kind = registry.forms.get(design.kind) if design else None
        return replies or bool(registry.added) or bool(kind and kind.sweeps)

    lines = (
        LoggedJudgment(str(path), *line)
        for path in paths
        for line in read_log(path, registry, keeps)
    )
    return cells_of_judgments(lines, seed, registry, paths)


class LoggedJudgment(NamedTuple):
    """A judgment of a file, with the design of its suite where the file states it."""

    path: str
    judgment: Judgment
    design: Design | None


def cells_of_judgments(
    lines: Iterable[LoggedJudgment],
    seed: int = 0,
    registry: Registry = BUILT_IN,
    paths: Sequence[Path] = (),
) -> list[Cell]:
    """The same of judgments that are read; ``paths``: the logs among their files."""
    judgments: dict[tuple[str, str], dict[str, Judgment]] = defaultdict(dict)
    designs: dict[tuple[str, str], Design | None] = {}
    for path, judgment, design in lines:
        key = (judgment.judge, judgment.trial.suite)
        earlier = judgments[key].setdefault(judgment.trial.id, judgment)
        if earlier is not judgment and earlier.outcome != judgment.outcome:
            raise LogError(
                f"{path}: trial {judgment.trial.id} of judge {judgment.judge} appears twice",
                found=f"{judgment.outcome} and {earlier.outcome}",
                expected="one outcome for one trial",
                remedy="number replicates, or give the logs different suite names",
            )
        stated = designs.setdefault(key, design)
        if stated is not design and stated != design:
            raise LogError(
                f"{path}: suite {key[1]} of judge {key[0]} has lines of different designs",
                found=f"{design} and {stated}",
                expected="one design for a suite",
                remedy="give the logs different suite names",
            )
    cells = []
    for (judge, suite), of_suite in judgments.items():
        of_cell = tuple(of_suite.values())
        of_lines = designs[judge, suite]
        design = of_lines or _design(of_cell, registry)
        if of_lines is None:
            of_cell, design = _with_numbers(of_cell, design, registry)
        _refuse_unlike(suite, design, of_cell, is_stated=of_lines is not None)
        measures = registry.measures_on(design.kind, suite)
        cell = Cell.with_controls_apart(judge, suite, design, of_cell, seed, measures)
        _refuse_two_names(cell, paths, registry)
        cells.append(cell)
    return cells


def _refuse_two_names(cell: Cell, paths: Sequence[Path], registry: Registry) -> None:
    """Raise a `LogError` if a trial stands under two ids: measures would use one of the two."""
    number, _ = cell.coded("condition", lambda judgment: id(judgment.trial.condition))
    codes = (cell.coded(name)[0] for name in ("template", "order", "replicate"))
    same = joint_codes(cell.items, *codes, number)
    if int(same.max(initial=-1)) + 1 == same.size:
        return
    by_code: dict[int, Judgment] = {}
    for code, judgment in zip(same.tolist(), cell.judgments, strict=True):
        first = by_code.setdefault(code, judgment)
        if first is not judgment:
            break
    ids = first.trial.id, judgment.trial.id
    places = {
        placed.trial.id: where
        for path in paths
        for where, placed, _ in read_placed_log(path, registry)
        if (placed.judge, placed.trial.suite) == (cell.judge, cell.suite) and placed.trial.id in ids
    }
    trial = first.trial
    raise LogError(
        f"judge {cell.judge} on {cell.suite}: one trial has two ids",
        found="; ".join(": ".join((*filter(None, [places.get(name)]), name)) for name in ids),
        expected=f"once: item {trial.item}, template {trial.template}, order {trial.order}, "
        f"replicate {trial.replicate}",
        remedy="number replicates, or give the logs of two runs different suite names",
    )


def _refuse_unlike(
    suite: str, design: Design, judgments: Iterable[Judgment], *, is_stated: bool
) -> None:
    """Raise a `LogError` if no label is the word of a verdict, and the design does not know both.

    A suite states its labels, and a judge may be wrong throughout; a log without a design, or of
    another space, shows two files that were never compared.
    """
    verdicts = {
        judgment.verdict if judgment.chosen is None else judgment.chosen for judgment in judgments
    } - _NO_LABELS
    labels = {judgment.trial.label for judgment in judgments} - _NO_LABELS
    labels_of_design = {*design.labels} if is_stated else set()
    labels_of_design = {"1", "2"} if design.pairwise else labels_of_design
    if (
        design.score is None
        and verdicts
        and labels
        and verdicts.isdisjoint(labels)
        and not (verdicts | labels) <= labels_of_design
    ):
        raise without_common_value(
            suite,
            set(map(str, verdicts)),
            set(map(str, labels)),
            "write them in the same words; or name all labels of the suite in the design of the "
            "lines, as `judgesense import` and a session do",
        )


def _design(judgments: Sequence[Judgment], registry: Registry) -> Design:
    """The design of a log without one: read off the judgments, all template pairs compared."""
    pairwise = any(j.chosen is not None and "polarity" not in j.trial.condition for j in judgments)
    if pairwise:
        answers = InferredAnswers("labels", ("A", "B"))
    else:
        labels = (judgment.trial.label for judgment in judgments)
        stated = (judgment.verdict for judgment in judgments)
        words = [word for word in dict.fromkeys((*stated, *labels)) if word not in _NO_LABELS]
        answers = inferred_answers(map(str, words))
        answers = as_steps(map(str, words)) if answers.are_scores else answers
    return Design(
        kind=registry.default.name,
        labels=answers.labels,
        ordinal=answers.are_grades,
        pairwise=pairwise,
        pairs="all",
        others=True,
    )


def _with_numbers(
    judgments: tuple[Judgment, ...], design: Design, registry: Registry
) -> tuple[tuple[Judgment, ...], Design]:
    """The judgments and the design of a log without one, where plain numbers are its verdicts."""
    numbered = of_numbers(judgments, design, registry)
    return (judgments, design) if numbered is None else (tuple(numbered[0]), numbered[1])


def datasheet_of_cells(
    cells: Sequence[Cell], seed: int = 0, *, secondary: bool = False, registry: Registry = BUILT_IN
) -> Datasheet:
    """The datasheet of cells that come from logs; ``secondary``: see `sheet_of`."""
    parts = []
    for cell in cells:
        estimates = estimate_all(cell)
        notices = registry.report.notices_of(cell)
        if left_out := cell.design.left_out:
            # A log does not hold the looks at which the run could have stopped.
            early = f"the run was stopped early, with {left_out} clusters not asked: intervals of "
            early += "its log are not adjusted for its looks, and are too narrow; those of the "
            notices = (f"{early}run's own datasheet are", *notices)
        errors = calibration_of(cell)
        part = SuiteSheet(
            judge=cell.judge,
            suite=cell.suite,
            identity={"name": cell.judge, "provider": "log", "model": cell.judge},
            recorded=_recorded(cell),
            estimates=estimates,
            calls=Calls.of(cell.all_judgments),
            notices=notices,
            analyses=registry.report.analyses(cell, estimates),
            material=registry.report.material(cell),
            calibration=None if errors is None else errors.to_plain() | {"sent": None},
        )
        parts.append(part)
    return sheet_of(parts, seed=seed, mode="report", secondary=secondary, registry=registry)


def _recorded(cell: Cell) -> tuple[str, str] | None:
    """When the first and the last answer of a cell was recorded, where its log says it."""
    moments = [judgment.recorded_at for judgment in cell.all_judgments if judgment.recorded_at]
    return (min(moments), max(moments)) if moments else None
