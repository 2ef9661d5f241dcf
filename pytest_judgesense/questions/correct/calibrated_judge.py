"""The judge that was calibrated, the verdicts that are corrected, and whether it gave them.

Verdicts are those of a judgment log, or of the recordings of suites. Their judge is the calibrated
one if the model that answered, the prompt, the settings and the form of the reply are the same. Of
a recording that is told from what was sent. A log does not hold it: who knows it states it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from pytest_judgesense.cassettes.exchange import models_of
from pytest_judgesense.checks.shared_request import (
    SharedRequest,
    different_settings,
    request_shared,
    shared_from,
)
from pytest_judgesense.datasheets.datasheet import SuiteSheet
from pytest_judgesense.earlier.past import measured_now
from pytest_judgesense.errors import LogError, UsageError, listed
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measures.calibration import Calibration
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.correct.drawn_labels import uncounted_words, verdict_words
from pytest_judgesense.questions.place import Place
from pytest_judgesense.report.datasheet_file import datasheet_from, datasheet_object
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import ABSTAIN, TIE

_LOG: Final = ".jsonl"


class JudgeVerdicts(NamedTuple):
    """The verdicts of one judge, and who it was as far as that is recorded.

    Attributes:
        cell: the verdicts.
        served: the models that answered; empty if not known.
        sent: what its requests share; ``None`` if not known.
        notices: what is to be said of them.
        items: what was judged; empty if not known.
    """

    cell: Cell
    served: tuple[str, ...] = ()
    sent: SharedRequest | None = None
    notices: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()


def verdicts_of_judges(
    source: str, judges: Sequence[str], place: Place, seed: int
) -> list[JudgeVerdicts]:
    """The verdicts of a log, or of the recordings of the suites of a name or a folder.

    Args:
        source: the log (``.jsonl``), or the suite.
        judges: whose verdicts are wanted; those of all if empty.
        place: where suites and recordings are.
        seed: of every random draw.

    Raises:
        UsageError: there are no verdicts, or none of one of the judges.
    """
    verdicts = [*_all_verdicts(source, place, seed)]
    names = [of_judge.cell.judge for of_judge in verdicts]
    if not verdicts or not {*judges} <= {*names}:
        raise UsageError(
            "there are no such verdicts",
            found=listed(f"{of.cell.judge} on {of.cell.suite}" for of in verdicts) or "none",
            expected=listed(judges) or "verdicts of a judge",
            remedy="name a judgment log, or a suite that is recorded in --judge-cassettes",
        )
    return [of_judge for of_judge in verdicts if not judges or of_judge.cell.judge in judges]


def _all_verdicts(source: str, place: Place, seed: int) -> Iterator[JudgeVerdicts]:
    path = Path(source)
    if path.suffix == _LOG:
        cells = cells_of_logs([path], seed, place.registry, replies=False)
        yield from map(JudgeVerdicts, cells)
        return
    for judge, suite in place.recorded(source):
        recorded = _recorded_verdicts(judge, suite, place, seed)
        if recorded is not None:
            yield recorded


def _recorded_verdicts(
    judge: JudgeSpec, suite: Suite, place: Place, seed: int
) -> JudgeVerdicts | None:
    """What a recording holds of a judge on a suite; ``None`` for no verdict."""
    measured, recorded = measured_now(judge, suite, place.cassettes, seed, place.registry)
    cell = measured.side.cell
    if cell is None or not cell.judgments:
        return None
    trials = [judgment.trial for judgment in cell.judgments]
    own_suite = suite_for_judge(suite, judge)
    exchanges = [exchange for trial in trials for exchange in recorded[trial.id]]
    models = models_of(exchanges).values()
    left_out = len(plan_trials(own_suite)) - len(trials)
    left_out_words = [f"{left_out} trials of {suite.name} are not recorded"] * bool(left_out)
    return JudgeVerdicts(
        cell,
        tuple(sorted({model for counts in models for model in counts})),
        None if judge.members else request_shared(judge, own_suite, trials, recorded),
        (*left_out_words, *uncounted_words(suite.uncounted)),
        suite.items,
    )


# What makes a judge the one that was calibrated.
PARTS: Final = ("model", "prompt", "settings", "form")
_NAMES: Final = {"model": "model served", "form": "reply form"}
# Clocks of two machines may differ, and so may what they take for UTC.
_MOST_DAYS_AHEAD: Final = 1.0


class CalibratedJudge(NamedTuple):
    """The calibration of a judge in a datasheet, with its part of it.

    Attributes:
        judge: its name there.
        part: the suite that calibrated it.
        errors: its answers by label.
        sent: what its requests shared; ``None`` if not known.
    """

    judge: str
    part: SuiteSheet
    errors: Calibration
    sent: SharedRequest | None


def calibrated_judge(path: Path, suite: str | None, cell: Cell, *, alone: bool) -> CalibratedJudge:
    """The calibration of the judge of a cell; by its name, or where there is one judge in both.

    Args:
        path: the datasheet.
        suite: which calibrated it, where the datasheet has several.
        cell: the verdicts.
        alone: whether the verdicts are those of one judge.

    Raises:
        LogError: the file is no datasheet.
        UsageError: it has no such calibration, or several.
    """
    every = _calibrated_judges(path)
    of_judge = [entry for entry in every if entry.judge == cell.judge]
    if not of_judge and alone and len({entry.judge for entry in every}) == 1:
        of_judge = every
    of_suite = [entry for entry in of_judge if suite in (None, entry.part.suite)]
    if len(of_suite) != 1:
        several = ", ".join(f"{entry.judge} on {entry.part.suite}" for entry in every)
        raise UsageError(
            f"{path} has {'several calibrations' if of_suite else 'no calibration'} of judge "
            f"{cell.judge}" + (f" on {suite}" if suite else ""),
            found=several or "no suite with labels of people",
            expected="one",
            remedy="name its suite: --calibration-suite NAME"
            if of_suite
            else "label items of a suite (judgesense label), and write its datasheet again",
        )
    return of_suite[0]


def _calibrated_judges(path: Path) -> list[CalibratedJudge]:
    value = datasheet_object(path)
    try:
        return [
            CalibratedJudge(judge.name, part, Calibration.of_plain(of), shared_from(of["sent"]))
            for judge in datasheet_from(value).judges
            for part in judge.parts
            if (of := part.calibration) is not None
        ]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise LogError(
            f"{path} is not a datasheet that can be read",
            found=f"{type(error).__name__}: {error}",
            expected="what --judge-datasheet wrote",
            remedy="write it again",
        ) from error


class SameJudge(NamedTuple):
    """The judge that was calibrated beside the one that gave the verdicts.

    Attributes:
        verdicts: what is to be corrected.
        calibrated: the judge that was calibrated.
        stated: the parts (of `PARTS`) that the user states to be the same.
        max_age: the days after which a calibration is refused; ``None`` for any.
    """

    verdicts: JudgeVerdicts
    calibrated: CalibratedJudge
    stated: Collection[str] = ()
    max_age: float | None = None

    def words(self) -> Iterator[str]:
        """What the verdicts are corrected by, and how it is known to be their judge."""
        errors, recorded = self.calibrated.errors, self.calibrated.part.recorded
        when = "of no known date"
        if recorded:
            when = f"recorded {recorded[0][:10]} to {recorded[1][:10]}"
        yield (
            f"calibrated on {self.calibrated.part.suite}: {errors.calls} calls with labels in "
            f"{errors.clusters} clusters, {when}"
        )
        pairs = self._recorded_parts()
        if pairs:
            yield f"compared with what was sent: {_names(pairs)}"
        if compared_by_nobody := [part for part in self.stated if part not in pairs]:
            yield f"stated to be the same, not compared: {_names(compared_by_nobody)}"
        if needless := [part for part in self.stated if part in pairs]:
            yield f"--same is not needed for what is recorded: {_names(needless)}"

    def refusals(self) -> Iterator[str]:
        """What is not as it was calibrated.

        Raises:
            UsageError: something is not recorded, and nobody states it.
        """
        pairs = self._recorded_parts()
        unknown = [part for part in PARTS if part not in pairs and part not in self.stated]
        if unknown:
            raise UsageError(
                f"nothing says that judge {self.verdicts.cell.judge} is the one that was "
                "calibrated",
                found=f"not recorded: {listed(_NAMES.get(part, part) for part in unknown)}",
                expected="the suite file of these verdicts, whose recording says what was sent",
                remedy=f"or state what you know to be the same: --same {','.join(unknown)}",
            )
        for part, (then, now) in pairs.items():
            if then != now:
                yield f"{_NAMES.get(part, part)}: {_difference(then, now)}"
        yield from self._other_forms()
        if self.max_age is not None:
            yield from _too_old(self.max_age, self.calibrated.part.recorded)

    def _recorded_parts(self) -> dict[str, tuple[object, object]]:
        """By part what was calibrated and what is there; parts alone that both sides know."""
        pairs: dict[str, tuple[object, object]] = {}
        if self.calibrated.part.served and self.verdicts.served:
            pairs["model"] = self.calibrated.part.served, self.verdicts.served
        then, now = self.calibrated.sent, self.verdicts.sent
        if then is not None and now is not None:
            pairs["prompt"] = then.prompt, now.prompt
            pairs["settings"] = dict(then.settings), dict(now.settings)
            pairs["form"] = then.form, now.form
        return pairs

    def _other_forms(self) -> Iterator[str]:
        """Verdicts in other words, or in other orders."""
        errors, cell = self.calibrated.errors, self.verdicts.cell
        words = verdict_words(cell)
        if errors.pairwise != cell.design.pairwise or words - {*errors.classes, TIE, ABSTAIN}:
            yield (
                f"reply form: verdicts {', '.join(sorted(words))}, "
                f"calibrated {', '.join(errors.classes)}"
            )
        orders = {judgment.trial.order for judgment in cell.judgments}
        if errors.pairwise and orders != {*errors.orders}:
            yield f"presentation orders: {', '.join(errors.orders)} -> {', '.join(sorted(orders))}"


def _names(parts: Iterable[str]) -> str:
    return ", ".join(_NAMES.get(part, part) for part in parts)


def _difference(then: object, now: object) -> str:
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        return "; ".join(different_settings(then, now))
    return " -> ".join(
        ", ".join(side) if isinstance(side, tuple) else str(side) for side in (then, now)
    )


def _too_old(limit: float, recorded: tuple[str, str] | None) -> Iterator[str]:
    if recorded is None:
        yield f"age: when it was calibrated is not recorded, --judge-max-age {limit:g} is passed"
    elif (ahead := -_days_since(recorded[1])) > _MOST_DAYS_AHEAD:
        yield f"age: calibrated {ahead:.1f} days in the future: nothing says how old it is"
    elif (age := _days_since(recorded[0])) > limit:
        yield f"age: calibrated {age:.1f} days ago, --judge-max-age {limit:g} is passed"


def _days_since(moment: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(moment)) / timedelta(days=1)
