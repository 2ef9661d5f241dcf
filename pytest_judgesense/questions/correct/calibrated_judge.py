"""The judge that was calibrated, and whether the one that gave the verdicts is it.

It is the same if the model that answered, the prompt, the settings and the form of the reply are.
Of a recording that is told from what was sent. A log does not hold it: who knows it states it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from pytest_judgesense.checks.shared_request import SharedRequest, different_settings, shared_from
from pytest_judgesense.datasheets.datasheet import SuiteSheet
from pytest_judgesense.errors import LogError, UsageError, listed
from pytest_judgesense.measures.calibration import Calibration
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.correct.drawn_labels import verdict_words
from pytest_judgesense.questions.correct.verdicts import JudgeVerdicts
from pytest_judgesense.report.datasheet_file import datasheet_from, datasheet_object
from pytest_judgesense.trial import ABSTAIN, TIE

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
