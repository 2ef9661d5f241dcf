r"""What each probe does to the verdicts of a judge. Pure.

Each call has a value: of a pair 1 if the verdict is the edited side, else 0, a tie and an
abstention included; of a grade its place on the scale, from 0 to 1; of another label 1 if it is the
favourable one. Of probes of names it is 1 for the first slot. With e and p the mean over an item's
calls under the edit and under its placebo::

    effect = mean over items of (e - p)

Calls are paired by template, order and replicate: a call whose partner states no verdict is left
out, so that both arms have as many. The placebo of an edit that has none, and of a naming, is the
unedited item, of which the first calls are taken. Which side is edited is read from the judgments
of the separate asking, as when the texts were made (`edited_side`).

A *control* is compared with the unedited item likewise: of a pair the edited side should win more
often where the other one takes itself back, a single output that takes itself back should get less.

Worst cases: a missing call under the edit is the edited side, and under the placebo it is not.
The effect with them is the upper bound, and the other way round the lower one.

Tests and intervals are those of `stats.placebo`; Holm's p is over all probes and namings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from pytest_judgesense.estimate import Anew, Missing, share_of
from pytest_judgesense.instruments.probe.edited_side import (
    ASKED,
    CONTROL,
    EDITED,
    NAMES,
    NO_PROBE,
    PLACEBO,
    side_without,
    sides_of,
)
from pytest_judgesense.instruments.probe.stimuli import UNEDITED, line_of
from pytest_judgesense.measures.cell import Cell, missing_among, once_a_cell
from pytest_judgesense.stats.comparison import Adjusted, agreeing_ends, end_of_test, holm
from pytest_judgesense.stats.inputs import LEVEL
from pytest_judgesense.stats.placebo import ProbeEffect, edit_effect, naming_effect
from pytest_judgesense.trial import Judgment

ALPHA: Final = 0.05

# Template, order and replicate of a call.
_Place: TypeAlias = tuple[str, str, int]
# The calls of each line.
_Arm: TypeAlias = dict[str, dict[_Place, Judgment]]
# The value of a judgment of a line; ``None`` where it states none.
_Value: TypeAlias = Callable[[str, Judgment], float | None]


class CallPair(NamedTuple):
    """Two calls that differ in the edit alone, with their values; ``None`` for no verdict."""

    before: Judgment
    after: Judgment
    values: tuple[float | None, float | None]

    @property
    def moves(self) -> bool:
        """Whether the verdict moves to the edit."""
        before, after = self.values
        return before is not None and after is not None and after > before


class Arms(NamedTuple):
    """Two versions of a suite's items, compared.

    Attributes:
        calls: of each line, those that differ in the version alone.
        clusters: of each line.
        effect: ``None`` if fewer than two clusters have a pair of verdicts.
        items: lines with such a pair.
        of_names: whether the values are shares of the first slot.
    """

    calls: Mapping[str, tuple[CallPair, ...]]
    clusters: Mapping[str, str]
    effect: ProbeEffect | None
    items: int
    of_names: bool

    @property
    def of_labels(self) -> bool:
        """Whether the values are shares of the favourable label."""
        calls = (call for of_line in self.calls.values() for call in of_line)
        return any("favourable" in call.after.trial.condition for call in calls)

    def anew(self) -> Anew:
        """The differences of the lines, for resampling."""
        means = {line: mean for line, calls in self.calls.items() if (mean := _means(calls))}
        differences = np.array([after - before for before, after in means.values()])
        return Anew(tuple(self.clusters[line] for line in means), [differences], share_of)

    @property
    def missing(self) -> Missing:
        """The calls without a verdict, and the effect in the worst cases."""
        if not self.calls:
            return Missing()
        low, high = self._at_worst(0.0, 1.0), self._at_worst(1.0, 0.0)
        if self.of_names:
            low, high = 0.0 if low <= 0 <= high else min(abs(low), abs(high)), max(-low, high)
        return replace(missing_calls([self]), lower_bound=low, upper_bound=high)

    def _at_worst(self, after: float, before: float) -> float:
        """The effect if calls without a verdict had these values."""

        def difference(call: CallPair) -> float:
            first, second = call.values
            return (after if second is None else second) - (before if first is None else first)

        means = [sum(map(difference, calls)) / len(calls) for calls in self.calls.values()]
        return sum(means) / len(means)


def missing_calls(compared: Iterable[Arms]) -> Missing:
    """The calls without a verdict, each once though several probes share it; no worst cases."""
    judgments = {
        judgment.trial.id: judgment
        for arms in compared
        for of_line in arms.calls.values()
        for call in of_line
        for judgment in (call.before, call.after)
    }
    return missing_among(judgments.values())


@dataclass(frozen=True)
class ProbeResult:
    """One probe, or one naming of the slots.

    Attributes:
        naming: empty for an edit.
        arms: the edit beside its placebo.
        control: the control beside the unedited item; ``None`` for a naming.
        lines: of the suite, some of which the edit may leave as they are.
        tested: Holm's p-value over all probes; ``None`` without an effect.
    """

    probe: str
    naming: str
    arms: Arms
    control: Arms | None
    lines: int
    tested: Adjusted | None = None

    @property
    def p(self) -> float | None:
        """Holm's p-value over all probes; ``None`` without an effect."""
        return None if self.tested is None else self.tested.p

    @property
    def name(self) -> str:
        """The probe, or the naming."""
        return f"{self.probe}-{self.naming}" if self.naming else self.probe

    @property
    def value(self) -> float | None:
        """The effect; of a naming its size."""
        if self.arms.effect is None:
            return None
        value = self.arms.effect.difference.value
        return abs(value) if self.naming else value

    @property
    def is_found(self) -> bool:
        """Whether the probe moves the judge, with Holm over all probes."""
        return self.p is not None and self.p < ALPHA and (self.value or 0.0) > 0

    @property
    def ends(self) -> tuple[float, float] | None:
        """The 95% interval of the effect, whose end next to 0 is that of the test.

        That of an edit lies above 0, and that of a naming on either side of it, exactly where the
        probe moves the judge.
        """
        effect = self.arms.effect
        if effect is None or self.tested is None:
            return None
        value, (low, high) = effect.difference.value, effect.difference.ends(LEVEL)
        if self.naming:
            return agreeing_ends(value, (low, high), effect.p, self.tested)
        if (low > 0) != self.is_found:
            low = end_of_test(value, effect.p, self.tested.alpha)
        return min(low, value), high

    @property
    def control_moves(self) -> bool | None:
        """Whether its control moves the judge; ``None`` for no control."""
        if self.control is None or self.control.effect is None:
            return None
        return self.control.effect.p < ALPHA


@once_a_cell
def readings(cell: Cell) -> tuple[ProbeResult, ...]:
    """The probes of a cell, in the order of its items, those of names last."""
    arms = _arms(cell)
    unedited = arms.pop((NO_PROBE, UNEDITED, ""), {})
    lines = {line for arm in (unedited, *arms.values()) for line in arm}
    value, first = _value_of(cell), _first_slot
    read: list[ProbeResult] = []
    for probe, version, naming in arms:
        if version != EDITED:
            continue
        before = arms.get((probe, PLACEBO, naming), unedited)
        compared = _compared(before, arms[probe, version, naming], first if naming else value)
        control = None
        if taken_back := arms.get((probe, CONTROL, naming)):
            both = (unedited, taken_back) if cell.design.pairwise else (taken_back, unedited)
            control = _compared(*both, value)
        read.append(ProbeResult(probe, naming, compared, control, len(lines)))
    effects = [(reading, reading.arms.effect) for reading in read]
    measured = [reading.name for reading, effect in effects if effect is not None]
    adjusted = holm([effect.p for _, effect in effects if effect is not None], ALPHA)
    tested = dict(zip(measured, adjusted, strict=True))
    return tuple(replace(reading, tested=tested.get(reading.name)) for reading in read)


def _arms(cell: Cell) -> dict[tuple[str, str, str], _Arm]:
    """The calls by probe, version and naming, then by line; without those that settle sides."""
    arms: dict[tuple[str, str, str], _Arm] = {}
    for judgment in cell.judgments:
        trial, condition = judgment.trial, judgment.trial.condition
        version = str(condition.get("version"))
        if "probe" not in condition or version == ASKED:
            continue
        key = str(condition["probe"]), version, str(condition.get("naming", ""))
        of_line = arms.setdefault(key, {}).setdefault(line_of(trial.item, condition), {})
        of_line[trial.template, trial.order, trial.replicate] = judgment
    names = {key: arm for key, arm in arms.items() if key[0] == NAMES}
    return {key: arm for key, arm in arms.items() if key not in names} | names


def _value_of(cell: Cell) -> _Value:
    """How a judgment counts that may move to the edit."""
    labels = cell.design.labels
    if cell.design.pairwise:
        sides = sides_of(cell.judgments)

        def of_pair(line: str, judgment: Judgment) -> float | None:
            side = sides.get(line) or side_without(line, None)
            return None if judgment.verdict is None else float(judgment.chosen == side)

        return of_pair

    def of_output(_: str, judgment: Judgment) -> float | None:
        favourable = judgment.trial.condition.get("favourable")
        if judgment.verdict is None:
            return None
        if favourable is not None:
            return float(judgment.verdict == favourable)
        if judgment.verdict not in labels:
            return None
        return labels.index(judgment.verdict) / (len(labels) - 1)

    return of_output


def _first_slot(_: str, judgment: Judgment) -> float | None:
    return None if judgment.verdict is None else float(judgment.verdict == "A")


def _compared(before: _Arm, after: _Arm, value: _Value) -> Arms:
    calls: dict[str, tuple[CallPair, ...]] = {}
    clusters: dict[str, str] = {}
    for line, of_line in after.items():
        both = before.get(line, {}).keys() & of_line.keys()
        if not both:
            continue
        pairs = [(before[line][place], of_line[place]) for place in sorted(both)]
        calls[line] = tuple(CallPair(b, a, (value(line, b), value(line, a))) for b, a in pairs)
        clusters[line] = pairs[0][1].trial.cluster
    of_names = value is _first_slot
    effect_of = naming_effect if of_names else edit_effect
    means = {line: mean for line, of_line in calls.items() if (mean := _means(of_line))}
    effect = None
    if means:
        first, second = np.array([*means.values()]).T
        effect = effect_of(second, first, [clusters[line] for line in means])
    return Arms(calls, clusters, effect, len(means), of_names)


def _means(calls: tuple[CallPair, ...]) -> tuple[float, float] | None:
    """The mean values before and after, over the pairs that state both."""
    stated = [(b, a) for call in calls for b, a in [call.values] if b is not None and a is not None]
    if not stated:
        return None
    first, second = np.array(stated).mean(axis=0).tolist()
    return first, second


def moved_calls(reading: ProbeResult) -> Iterator[CallPair]:
    """The pairs of calls whose verdict moves to the edit; of a naming, to the slot that gains."""
    sign = 1.0
    if reading.naming and reading.arms.effect is not None:
        sign = reading.arms.effect.difference.value
    for calls in reading.arms.calls.values():
        for call in calls:
            before, after = call.values
            if before is not None and after is not None and (after - before) * sign > 0:
                yield call
