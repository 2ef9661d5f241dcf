"""A measure as one value: meaning, direction, unit, gate, bounds, sentence and evidence.

The module is light, and so is what declares measures: how one is estimated on the suites of a kind
is joined to it where the instrument lists its measures (`Measure.taken_by`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from pytest_judgesense.estimate import Estimate
    from pytest_judgesense.trial import Judgment

# From a `measures.cell.Cell`, which holds measures and is therefore not named here.
Estimator: TypeAlias = "Callable[[Any], Iterable[Estimate]]"
# From such a cell and the condition of an estimate to groups of judgments (`measures.every_suite`).
_Find: TypeAlias = "Callable[[Any, Mapping[str, Any]], Sequence[tuple[Judgment, ...]]]"

# The reason for a soft measure without an estimate.
NO_PROBABILITIES: Final = (
    "no judgment carries probabilities: they are read where a judge has logprobs = true, and its "
    "endpoint returns other tokens at the verdict, which tell the labels apart; or where a "
    "function returns, or a reply in JSON states, probabilities beside its verdict"
)
# Conditions by which a check may select an estimate.
CONDITION_KEYS: Final = tuple(
    "arm category criterion criterion_pair dataset distance epsilon gap_of gold group_field "
    "judge_type k label length model naming place polarity probe prompt_pair prompt_style sentence "
    "subset system system_pair temperature template_pair".split()
)
# The unit of measures that compare two wordings of a prompt.
WORDINGS: Final = "template pair"
_GATES: Final = {"higher": ("floor",), "lower": ("ceiling", "bound", "limit"), "construct": ()}


def alone(_estimates: tuple[Estimate, ...]) -> Mapping[str, Any]:
    """Only the measure itself beside a judge's rank."""
    return {}


def untaken(_cell: Any) -> Iterable[Estimate]:
    """No estimates: no instrument has taken the measure."""
    return ()


class Evidence(NamedTuple):
    """The judgments that count against a judge.

    Attributes:
        title: their title.
        find: from the judgments behind an estimate and its condition to groups of them: template
            pairs, canonical pairs, replicates or single calls; ``None`` for the units that the
            estimate counts against the judge, so that both are one number.
        within: a further condition on the judgments that are searched.
        whole: whether all judgments are searched, because ``find`` interprets the condition.
    """

    title: str
    find: _Find | None = None
    within: Mapping[str, Any] = MappingProxyType({})
    whole: bool = False


class Brief(NamedTuple):
    """The name of a measure in the line of a suite.

    Attributes:
        name: a word or two.
        condition: of the estimates shown there; if there are several, such as one for each
            temperature, the first and the last are shown.
        aside: a flag of estimates that are shown there only where a check is about the measure.
    """

    name: str
    condition: Mapping[str, Any] = MappingProxyType({})
    aside: str = ""


class Measure(NamedTuple):  # faster to create than a dataclass: every session creates all of them
    """A named quantity of a judge on a suite.

    Attributes:
        name: lower-case letters, digits and ``_``.
        direction: which way is better; ``construct`` if that depends on the purpose: such a measure
            has no check and is never called improved or regressed.
        unit: what its denominator counts, in the singular.
        estimator: from a cell to estimates of this measure; pure, with random draws only from the
            cell's seed. It returns ``unavailable`` if there is nothing to measure, also for a cell
            without judgments, because intervals leave out clusters in turn. Measures that are
            computed together share an estimator, which returns all of them. `untaken` until an
            instrument takes the measure.
        gate: the last word of the check's name: ``floor`` if higher is better, else ``ceiling``,
            ``bound`` or ``limit``; ``None`` for no check.
        suite: the suite of a check without ``suite=``; ``None`` if it must be given.
        kinds: the suite kinds of a measure of a plugin; empty for all. A measure of an instrument
            is taken on the suites of that instrument.
        bounds: the smallest and the largest bar.
        margin: the default margin of ``no_regression``.
        evidence: the judgments that count against the judge; ``None`` for the units that keep the
            measure from its best value, if the estimator returns units.
        stability: whether the same answer to everything would give the best value: then a
            degenerate judge fails its check.
        best: the result of an error-free judge, so that lint can tell which bars are decidable:
            ``units`` that are all at the best value, ``half`` of the answers for each slot,
            ``kappa`` of units that all agree; ``None`` if not known.
        conditional: whether its denominator depends on the answers, so that another measurement has
            other units.
        ranked: for a leaderboard by this measure: from the estimates of a judge to the columns
            beside its rank, such as `alone`, with the reason under ``left_out`` if it has no rank;
            ``None`` for no leaderboard.
        quiet: whether reports show it only if it is not 0 or is gated; JSON files always hold it.
        sentence: what a judge that fails its check does, in a plain sentence with numbers: a format
            of ``count``, ``rest`` (units that are not counted), ``n`` and ``value``, such as
            ``"{rest} of {n} verdicts change with the wording"``; ``silent`` says how many of them
            are replies without a verdict, if any, and ``notes`` is what the flags say.
        phrased: from an estimate to that sentence, where its words depend on more than numbers.
        aspect: for comparing judges over several suites: the kind of stability, ``wording`` or
            ``order``; empty if the measure is compared only on its suite.
        brief: its name in the line of a suite; ``None`` if it is not shown there.
        soft: whether it uses the probabilities behind verdicts: it has no estimate if no judgment
            has any, and a comparison compares probabilities instead of verdicts.
        decides: whether it counts decisions of tests, each of which may be wrong by chance: two of
            them are shown side by side, and never compared.
        gains_with: the measure that must be known, and not have fallen, for this one to be called
            improved; empty if it may be by itself.
        worst_over: the key of the condition of which the estimate without it is the worst, such as
            ``label``; it is compared under each of them. Empty for none.
        complement: the measure that it is one minus of, on the same units: with it, it is one
            quantity and counts once among the bars that policy ``refuted`` corrects for.
        needs: what a suite must have for it, and the line of the suite file that brings it; empty
            where that depends on the kind of suites alone.
        source: the plugin that provides it; empty for this package.
    """

    name: str
    direction: Literal["higher", "lower", "construct"]
    unit: str
    meaning: str
    estimator: Estimator = untaken
    gate: Literal["floor", "ceiling", "bound", "limit"] | None = None
    suite: str | None = None
    kinds: tuple[str, ...] = ()
    bounds: tuple[float, float] = (0.0, 1.0)
    margin: float = 0.1
    evidence: Evidence | None = None
    stability: bool = False
    best: Literal["units", "half", "kappa"] | None = None
    conditional: bool = False
    ranked: Callable[[tuple[Estimate, ...]], Mapping[str, Any]] | None = None
    quiet: bool = False
    sentence: str = ""
    phrased: Callable[[Estimate], str] | None = None
    brief: Brief | None = None
    soft: bool = False
    aspect: str = ""
    decides: bool = False
    gains_with: str = ""
    worst_over: str = ""
    complement: str = ""
    needs: str = ""
    source: str = ""

    @property
    def of_wordings(self) -> bool:
        """Whether it compares wordings of one prompt."""
        return self.unit == WORDINGS

    @property
    def check(self) -> str | None:
        """Name of the check that gates it."""
        return f"{self.name}_{self.gate}" if self.gate else None

    @property
    def floor(self) -> bool:
        return self.direction == "higher"

    @property
    def comparable(self) -> bool:
        """Whether one measurement of it may be called better or worse than another."""
        return self.direction != "construct" and not self.decides

    @property
    def needed(self) -> str:
        """What a suite must have for it, in a sentence; empty where that is not known."""
        return f"{self.name} needs {self.needs}" if self.needs else ""

    def taken_by(self, estimator: Estimator, find: _Find | None = None) -> Measure:
        """The same measure as an instrument estimates it, and finds the evidence of it."""
        evidence = self.evidence
        if find is not None:
            assert evidence is not None, f"{self.name} has no evidence to find"
            evidence = evidence._replace(find=find)
        return self._replace(estimator=estimator, evidence=evidence)

    def said_of(self, estimate: Estimate) -> str:
        """What the judge does, in a plain sentence with the numbers of the estimate."""
        if estimate.value is None:
            return f"no {self.name}: {estimate.unavailable}"
        if self.phrased is not None:
            return self.phrased(estimate)
        if self.sentence:
            return said_as(self.sentence, estimate)
        if estimate.count is None:
            return f"{self.name} is {_short(estimate.value)} ({self.meaning})"
        counted = _short(estimate.count)
        only = "only " * self.floor
        return f"{only}{counted} of {estimate.n} {self.unit}s: {self.meaning}"

    def fault(self) -> str | None:
        """What is malformed about it, in words."""
        plain = self.name.replace("_", "a")
        if not (plain.isascii() and plain.isalnum() and plain == plain.lower()) or not (
            self.name[0].isalpha()
        ):
            return f"the name of a measure is like my_measure, not {self.name!r}"
        if self.direction not in _GATES:
            return f"measure {self.name}: direction is one of {', '.join(_GATES)}"
        if self.gate is not None and self.gate not in _GATES[self.direction]:
            choices = ", ".join(_GATES[self.direction]) or "none"
            return f"measure {self.name}: with direction {self.direction} gate is one of: {choices}"
        if not (self.unit and self.meaning):
            return f"measure {self.name} has a unit and a meaning"
        if not callable(self.estimator) or self.estimator is untaken:
            return f"measure {self.name}: its estimator is a function"
        if isinstance(self.kinds, str):
            return f"measure {self.name}: kinds are several, as in kinds=({self.kinds!r},)"
        for field, kind in (("evidence", Evidence), ("brief", Brief)):
            if not isinstance(getattr(self, field), kind | None):
                return f"measure {self.name}: its {field} is of type {kind.__name__}"
        numbers = (*self.bounds, self.margin)
        if not (len(numbers) == 3 and all(isinstance(number, int | float) for number in numbers)):
            return f"measure {self.name}: bounds are two numbers, margin is one"
        if not (self.bounds[0] < self.bounds[1] and self.margin >= 0):
            return f"measure {self.name}: bounds are low and high, margin is at least 0"
        try:
            self.sentence.format(**_numbers(1, 2, 0.5), silent="", notes="")
        except (LookupError, ValueError, AttributeError):
            choices = ", ".join([*_numbers(1, 2, 0.5), "silent", "notes"])
            return f"measure {self.name}: its sentence is a format of {choices}"
        return None


def taken_by(estimator: Estimator, *measures: Measure) -> tuple[Measure, ...]:
    """Measures that an instrument estimates in one pass."""
    return tuple(measure.taken_by(estimator) for measure in measures)


def said_as(form: str, estimate: Estimate, **more: str) -> str:
    """A sentence about an estimate: ``form`` with its numbers, and ``more`` words of its own."""
    return form.format(**_words(estimate), **more)


def _words(estimate: Estimate) -> dict[str, str]:
    """What a sentence about an estimate may say."""
    assert estimate.value is not None, "an estimate without a value has another sentence"
    unread = estimate.missing.unparsed
    notes = (flag for flag in estimate.flags if "censored" not in flag)
    return {
        **_numbers(estimate.count, estimate.n, estimate.value),
        "silent": f", {unread} of them without a verdict" if unread else "",
        "notes": "; ".join(notes),
    }


def _numbers(count: float | None, n: int, value: float) -> dict[str, str]:
    """The numbers of a sentence; without a count the value takes its place."""
    counted = value * n if count is None else count
    numbers = {"count": counted, "rest": n - counted, "n": n, "value": value}
    return {name: _short(number) for name, number in numbers.items()}


def _short(number: float) -> str:
    return f"{round(number, 3 if abs(number) < 0.1 else 2):.12g}"
