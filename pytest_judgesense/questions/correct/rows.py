"""The corrected rates of a judge, and whether a calibration holds of these outputs at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.label_errors import RateWithoutErrors
from pytest_judgesense.stats.mixture_fit import MixtureFit
from pytest_judgesense.trial import SYSTEM, Judgment

FitAnswer: TypeAlias = Literal["fits", "extrapolated", "cannot be tested"]
# How often outputs of another rate alone are taken for others.
_SIGNIFICANCE: Final = 0.05


class CalibrationFit(NamedTuple):
    """Whether answers are a mix of those on calibrated outputs, by label.

    Attributes:
        untested: why nothing says it; empty if something does.
        p_value: by Holm, where the outputs of several systems are tested.
        test: the test, with its own p.
    """

    untested: str = ""
    p_value: float = math.nan
    test: MixtureFit | None = None

    @property
    def answer(self) -> FitAnswer:
        """The answer in a word."""
        if self.test is None:
            return "cannot be tested"
        return "extrapolated" if self.p_value <= _SIGNIFICANCE else "fits"


@dataclass(frozen=True, slots=True)
class CorrectedRow:
    """A corrected share of one label, of all verdicts or of those on one system.

    Attributes:
        system: what produced the outputs; empty for all.
        raw: the judge's own share; ``None`` without a verdict.
        n: verdicts, or with labels items.
        missing: replies without a verdict among them.
        refused: why there is no corrected share; empty if there is one.
        labels: labels of people that were drawn from these verdicts.
        labels_only: the share from the labels alone, with its interval.
        without_errors: the share if people did not err, or why nobody knows it; ``None`` without
            labels of these verdicts.
        fit: whether the outputs are as hard to judge as those of a calibration; ``None`` of a rate
            by labels of its own.
    """

    system: str
    label: str
    raw: float | None
    n: int
    missing: int
    estimate: float | None = None
    interval: Clustered | None = None
    refused: str = ""
    labels: int | None = None
    labels_only: tuple[float, Clustered] | None = None
    without_errors: RateWithoutErrors | NotEstimable | None = None
    fit: CalibrationFit | None = None

    @property
    def may_gate(self) -> bool:
        """Whether the share is there, and is not extrapolated."""
        return not self.refused and (self.fit is None or self.fit.answer != "extrapolated")


@dataclass(frozen=True, slots=True)
class JudgeCorrection:
    """The corrected rates of a judge on a suite, or why they are refused.

    Attributes:
        judge: its name.
        suite: what it judged.
        by: in words, what the rates are corrected by.
        notices: what is to be said of the verdicts.
        rows: the rates.
        refusals: why nothing is corrected; empty if something is.
    """

    judge: str
    suite: str
    by: tuple[str, ...]
    notices: tuple[str, ...] = ()
    rows: tuple[CorrectedRow, ...] = ()
    refusals: tuple[str, ...] = ()

    @property
    def may_gate(self) -> bool:
        """Whether every rate is there, and none is extrapolated."""
        return not self.refusals and all(row.may_gate for row in self.rows)


def by_system(of_items: Mapping[str, Sequence[Judgment]]) -> dict[str, list[Sequence[Judgment]]]:
    """The judgments of all items, under an empty name, and of those of each system of several."""
    parts: dict[str, list[Sequence[Judgment]]] = {"": [*of_items.values()]}
    for judgments in of_items.values():
        if system := str(judgments[0].trial.condition.get(SYSTEM, "")):
            parts.setdefault(system, []).append(judgments)
    return parts if len(parts) > 2 else {"": parts[""]}
