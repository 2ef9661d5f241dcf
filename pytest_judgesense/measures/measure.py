"""A measure as one value: what it means, where better lies, how it is taken, gated and evidenced.

Light on purpose: declaring a measure imports nothing that estimates it (see `later`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from pytest_judgesense.estimate import Estimate
    from pytest_judgesense.measures.cell import Cell
    from pytest_judgesense.trial import Judgment

# Why a soft measure has no estimate.
NO_PROBABILITIES: Final = (
    "no judgment carries probabilities: they are read where a judge has logprobs = true"
)
# What a check may narrow its estimate by.
CONDITION_KEYS: Final = (
    "arm",
    "category",
    "criterion",
    "dataset",
    "distance",
    "gold",
    "judge_type",
    "k",
    "model",
    "polarity",
    "prompt_pair",
    "prompt_style",
    "subset",
    "temperature",
    "template_pair",
)
# The unit of what compares two wordings of a prompt.
WORDINGS: Final = "template pair"
_GATES: Final = {"higher": ("floor",), "lower": ("ceiling", "bound", "limit"), "construct": ()}


class _Later(NamedTuple):
    module: str
    name: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found = getattr(import_module(self.module), self.name)
        return found(*args, **kwargs) if callable(found) else found


def later(module: str, name: str) -> Any:
    """A function of a module that is imported when it is first called, or a value of one.

    Args:
        module: full name of the module.
        name: name of the function in it, or of the value, which is called for without arguments.

    Returns:
        A function; two of the same name are equal.
    """
    return _Later(module, name)


def alone(_estimates: tuple[Estimate, ...]) -> Mapping[str, Any]:
    """Nothing beside a judge's rank but the measure that it is ranked by."""
    return {}


class Evidence(NamedTuple):
    """Which judgments speak against a judge.

    Attributes:
        title: what to call them.
        find: from the judgments behind an estimate, and its condition, to those groups of them:
            template pairs, canonical pairs, replicates or single calls.
        within: the condition of the judgments that are searched, beside that of the estimate.
        whole: whether all judgments are searched: ``find`` itself knows what the condition means.
    """

    title: str
    find: Callable[[Cell, Mapping[str, Any]], list[tuple[Judgment, ...]]]
    within: Mapping[str, Any] = MappingProxyType({})
    whole: bool = False


class Brief(NamedTuple):
    """How the line of a suite names a measure.

    Attributes:
        name: a word or two.
        at: the condition of the estimates that stand there; of several, such as one for each
            temperature, the first and the last.
    """

    name: str
    at: Mapping[str, Any] = MappingProxyType({})


class Measure(NamedTuple):  # quicker to make than a dataclass: every session makes them all
    """A named quantity of a judge on a suite.

    Attributes:
        name: lower-case letters, digits and ``_``.
        direction: where better lies; ``construct`` where that depends on what is measured: such a
            measure has no check, and is never called improved or regressed.
        unit: what its denominator counts, in the singular.
        estimator: from a cell to estimates of this measure on it, pure and without a draw that the
            cell's seed does not decide. It gives ``unavailable`` where there is nothing to
            measure, for cells without a judgment too: intervals leave out clusters in turn.
            Measures that are taken in one pass share an estimator, which gives all of them.
        gate: the last word of the check's name: ``floor`` where higher is better, else
            ``ceiling``, ``bound`` or ``limit``; ``None`` for no check.
        suite: the suite that a check without ``suite=`` uses; ``None`` if it must be named.
        kinds: the kinds of suites that a measure given by itself is taken on; empty for all. A
            measure of a `SuiteKind` is taken on that kind.
        bounds: the least and the greatest bar.
        margin: the loss that ``no_regression`` overlooks unless it is given one.
        evidence: which judgments speak against the judge; ``None`` for the units that keep the
            measure from its best value, where the estimator gives its units.
        stability: whether one answer to everything would pass for the best value: a degenerate
            judge fails its floor.
        best: what a judge without error gives, so that lint can tell which bars are decidable:
            ``units`` that are all at the best value, ``half`` of the answers for each slot,
            ``kappa`` of units that all agree; ``None`` where it is not known.
        conditional: whether its denominator counts the answers themselves, so that its units are
            not the same ones when it is measured again.
        ranked: a leaderboard ranks judges by it: from the estimates of a judge to what stands
            beside its rank, by head, such as `alone`, and under ``left_out`` why it has none;
            ``None`` for no leaderboard.
        quiet: 0 is nothing to tell: people are shown it where it is not 0 or is gated; JSON files
            hold it always.
        sentence: what a judge that fails its check does, in a plain sentence with numbers: a format
            of ``count``, ``rest`` (of the units that are not counted), ``n`` and ``value``, such as
            ``"{rest} of {n} verdicts change with the wording"``.
        aspect: judges of several suites are compared by it over all of them, as how stable they
            are by this: ``wording``, ``order``; empty for a measure that is compared on its suite.
        brief: how the one line of a suite names it; ``None`` where it does not stand there.
        soft: whether it is taken of the probabilities behind verdicts: it gives nothing where no
            judgment carries any, and has changed where they have, though no verdict flipped.
        source: the plugin that gives it; empty for this package.
    """

    name: str
    direction: Literal["higher", "lower", "construct"]
    unit: str
    meaning: str
    estimator: Callable[[Cell], Iterable[Estimate]]
    gate: Literal["floor", "ceiling", "bound", "limit"] | None = None
    suite: str | None = None
    kinds: tuple[str, ...] = ()
    bounds: tuple[float, float] = (0.0, 1.0)
    margin: float = 0.05
    evidence: Evidence | None = None
    stability: bool = False
    best: Literal["units", "half", "kappa"] | None = None
    conditional: bool = False
    ranked: Callable[[tuple[Estimate, ...]], Mapping[str, Any]] | None = None
    quiet: bool = False
    sentence: str = ""
    brief: Brief | None = None
    soft: bool = False
    aspect: str = ""
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

    def taken_by(
        self, estimator: Callable[[Cell], Iterable[Estimate]], evidence: Evidence | None = None
    ) -> Measure:
        """The same measure as a kind of suites takes it that has an estimator of its own.

        Args:
            estimator: of that kind.
            evidence: where that of the measure does not find it in such suites.
        """
        return self._replace(estimator=estimator, evidence=evidence or self.evidence)

    def said_of(self, estimate: Estimate) -> str:
        """What the judge does, in a plain sentence with the numbers of the estimate."""
        if estimate.value is None:
            return f"{self.name} is not measured: {estimate.unavailable}"
        if self.sentence:
            return self.sentence.format(**_numbers(estimate.count, estimate.n, estimate.value))
        if estimate.count is None:
            return f"{self.name} is {_short(estimate.value)} ({self.meaning})"
        counted = _short(estimate.count)
        only = "only " * self.floor
        return f"{only}{counted} of {estimate.n} {self.unit}s: {self.meaning}"

    def fault(self) -> str | None:
        """What is ill-formed about it, in words."""
        plain = self.name.replace("_", "a")
        if not (plain.isascii() and plain.isalnum() and plain == plain.lower()) or not (
            self.name[0].isalpha()
        ):
            return f"the name of a measure is like my_measure, not {self.name!r}"
        if self.direction not in _GATES:
            return f"measure {self.name}: direction is one of {', '.join(_GATES)}"
        if self.gate is not None and self.gate not in _GATES[self.direction]:
            known = ", ".join(_GATES[self.direction]) or "none"
            return f"measure {self.name}: with direction {self.direction} gate is one of: {known}"
        if not (self.unit and self.meaning):
            return f"measure {self.name} has a unit and a meaning"
        if not (self.bounds[0] < self.bounds[1] and self.margin >= 0):
            return f"measure {self.name}: bounds are low and high, margin is at least 0"
        try:
            self.sentence.format(**_numbers(1, 2, 0.5))
        except (LookupError, ValueError, AttributeError):
            known = ", ".join(_numbers(1, 2, 0.5))
            return f"measure {self.name}: its sentence is a format of {known}"
        return None


def _numbers(count: float | None, n: int, value: float) -> dict[str, str]:
    """What a sentence is made of; without a count the value stands for it."""
    counted = value * n if count is None else count
    numbers = {"count": counted, "rest": n - counted, "n": n, "value": value}
    return {name: _short(number) for name, number in numbers.items()}


def _short(number: float) -> str:
    return f"{round(number, 3 if abs(number) < 0.1 else 2):.12g}"
