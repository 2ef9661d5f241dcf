"""Trials and the judgments that answer them. All frozen.

A *trial* is one verdict to be obtained. A *judgment* is a trial with its outcome: a `Verdict`;
`Unparsed` with the reason why the reply states none; or `Failed` with the reason why there is no
reply. This module computes no measures.
"""

from __future__ import annotations

import copyreg
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeVar

_Value = TypeVar("_Value")
_Key = TypeVar("_Key")
Order: TypeAlias = Literal["ab", "ba"]
Condition: TypeAlias = Mapping[str, str | int | float]
# Labels of people by criterion (`LABEL` where a reply has one verdict), then by person.
People: TypeAlias = Mapping[str, Mapping[str, str]]
# How the items that people labelled were drawn.
Drawn: TypeAlias = Literal["random", "stratified", "chosen"]

TIE: Final = "tie"
ABSTAIN: Final = "abstain"
LABEL: Final = "label"
# How the reasons of refusals begin: from the parser, and from logs.
_REFUSED: Final = ("refusal", "refused")
# The condition that holds what produced the judged text.
SYSTEM: Final = "system"
# The condition of controls, which are asked beside the items and are none of them.
CONTROL: Final = "control"
# The condition that holds the temperature of a trial.
TEMPERATURE: Final = "temperature"
# Names are in every row of a report; ours have at most 80 characters.
LONGEST_NAME: Final = 1000
# No run or count of tokens of one judgment is as high; sums of such numbers are exact.
MOST: Final = 10**12
# The most that a part of a debate judge's instability may weigh: sums of them are exact enough.
MOST_WEIGHT: Final = 1e6
_NUMBER: Final = re.compile(r"-?\d{1,18}")
_DECIMALS: Final = 12  # and digits, of a score
_WITH_ZEROS: Final = re.compile(r"(-?\d{1,18})\.0+")


def _read_only(table: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(table)


# Suites and judges, which are sent to other processes, hold read-only tables. Python cannot pickle
# these, only the data they are made of. Here, for whoever has either has imported this module.
copyreg.pickle(MappingProxyType, lambda table: (_read_only, (dict(table),)))


def is_number(label: str) -> bool:
    """Whether ``label`` is a whole number of at most 18 digits."""
    return _NUMBER.fullmatch(label) is not None


def as_whole(text: str) -> str:
    """``text``, or the whole number that ``4.0`` is: tables write 4 so beside empty cells."""
    match = _WITH_ZEROS.fullmatch(text)
    return text if match is None else "0" if int(match[1]) == 0 else match[1]


class ScoreRange(NamedTuple):
    """The numbers that a score may be, where verdicts are numbers and no labels of a list."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """How far the ends are apart; in its units errors are measured."""
        return self.high - self.low

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends, as verdicts are written."""
        return score_text(self.low), score_text(self.high)

    def holds(self, number: float) -> bool:
        """Whether a number lies between the ends, or is one of them."""
        return self.low <= number <= self.high

    def share(self, number: float) -> float:
        """The place of a number on the way up, from 0 to 1."""
        return (number - self.low) / self.width


def score_text(number: float) -> str:
    """A score as verdicts and labels have it: at most 12 digits, no exponent, ``4.0`` as ``4``.

    What is below the twelfth decimal is 0.
    """
    text = f"{round(number, _DECIMALS):.{_DECIMALS}g}"
    if "e" in text:
        text = f"{number:.{_DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def score_of_text(text: str | None) -> float:
    """The number of a verdict or a label that is a score; NaN where it is none."""
    try:
        number = float(text or "")
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judge's decision in its terms: a label, or the slot ``A``, ``B``, ``tie``."""

    value: str


@dataclass(frozen=True, slots=True)
class Unparsed:
    """The judge replied, and the reply states no usable verdict."""

    reason: str


def is_refusal(reason: str) -> bool:
    """Whether the reason of an `Unparsed` is a refusal to judge."""
    return any(part.startswith(_REFUSED) for part in reason.split("; "))


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no reply: the call ended in an error."""

    reason: str


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a reply, as the endpoint returns it.

    Attributes:
        text: the text that it adds to the reply; may be empty.
        top: the most likely tokens at its position, with their probabilities before temperature.
    """

    text: str
    top: tuple[tuple[str, float], ...] = ()


# The part of a judgment's detail that holds another verdict, with which its reasoning concludes.
REASONED: Final = "reasoned"

JudgmentOutcome: TypeAlias = Verdict | Unparsed | Failed


class RequestCount(NamedTuple):
    """The requests of a trial that were sent in a session, as its limits count them.

    Attributes:
        sent: all of them.
        retried: those of them that repeated one after a fault.
        timed_out: those of them, or calls of a function, without an answer in time.
    """

    sent: int = 0
    retried: int = 0
    timed_out: int = 0

    @property
    def words(self) -> list[str]:
        """How many calls were made, and how many of them were repeated or late."""
        words = [f"{self.sent:,} call{'s' * (self.sent != 1)} made"]
        words += [f"{self.retried:,} retried"] * bool(self.retried)
        return words + [f"{self.timed_out:,} timed out"] * bool(self.timed_out)

    @classmethod
    def summed(cls, counts: Iterable[tuple[int, int, int]]) -> RequestCount:
        """All of them together."""
        return cls(*map(sum, zip(*counts, strict=True)))


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call as counted by the endpoint; ``None`` if it gives no count.

    ``reasoning_tokens`` are those of ``completion_tokens`` that were spent before the reply.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None

    @classmethod
    def summed(cls, usages: Iterable[Usage]) -> Usage:
        """The tokens of several calls; ``None`` where none of them states a number."""
        counts = list(usages)
        if len(counts) == 1:
            return counts[0]
        return cls(
            _sum_of_stated(usage.prompt_tokens for usage in counts),
            _sum_of_stated(usage.completion_tokens for usage in counts),
            _sum_of_stated(usage.reasoning_tokens for usage in counts),
        )


def _sum_of_stated(counts: Iterable[int | None]) -> int | None:
    stated = [count for count in counts if count is not None]
    return sum(stated) if stated else None


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion for which a reply gives a grade: its scale, from the lowest grade to the highest,
    and its weight in the overall score.
    """

    name: str
    labels: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class PrescribedReply:
    """The JSON object that a template asks for: its keys, the last of which holds the verdict, and
    the words that the verdict may be; without ``values`` it is a grade of the kind of suite.
    """

    template: str
    keys: tuple[str, ...]
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Design:
    """What the measures need to know about a suite; every line of a judgment log holds it.

    Attributes:
        labels: the answers of the judge, in order; slots for pairwise spaces, both ends of the
            range of a score.
        pairwise: whether a verdict names one of two slots.
        pairs: the template pairs that are compared: ``ring``, ``all``, or the pairs themselves.
        others: whether there may be verdicts beside the labels: a tie, an abstention, or, if the
            design is guessed from a log, anything that the log does not show.
        cut: for ordinal labels: the lowest label of the upper half; ``None``: the first one above
            the middle.
        excluded: those of ``pairs`` that reviewers reject as not equivalent; they are not compared.
        unsure: those of ``pairs`` on which reviewers disagree: compared, with a notice.
        ddof: subtracted from n in variances over the replicates of a debate.
        weights: weights in the instability of a debate judge: repeat flips, score variance,
            confidence variance, side bias; ``None`` for other kinds.
        effect_threshold: the lowest temperature that counts as high; ``None``: the default.
        criteria: if a reply gives several grades.
        pass_mark: the share of the scale, or of the range, from which an overall score passes.
        left_out: clusters that were not asked because the run was stopped early.
        forms: what replies are to be exactly, by template, where templates prescribe it.
        labelled: how the items that people labelled were drawn; ``None`` if nobody says.
        score: the range of the verdicts where these are numbers; ``None`` for labels.
    """

    kind: str
    labels: tuple[str, ...]
    ordinal: bool = False
    pairwise: bool = False
    pairs: Literal["ring", "all"] | tuple[tuple[str, str], ...] = "all"
    others: bool = False
    cut: str | None = None
    excluded: tuple[tuple[str, str], ...] = ()
    unsure: tuple[tuple[str, str], ...] = ()
    ddof: int = 0
    weights: tuple[float, float, float, float] | None = None
    effect_threshold: float | None = None
    criteria: tuple[Criterion, ...] = ()
    pass_mark: float | None = None
    left_out: int = 0
    forms: tuple[PrescribedReply, ...] = ()
    labelled: Drawn | None = None
    score: ScoreRange | None = None

    @property
    def scale(self) -> tuple[str, ...]:
        """The labels in order; where a reply gives several grades, the longest of their scales."""
        return max((criterion.labels for criterion in self.criteria), key=len, default=self.labels)


@dataclass(frozen=True, slots=True)
class Trial:
    """One verdict to be obtained.

    Attributes:
        id: readable path, stable across machines: ``suite/item/template/order/rN``.
        cluster: the independent unit of inference that this trial belongs to.
        order: presentation order of the contents; ``ab`` if there is only one.
        replicate: counts from 1.
        condition: what the design varies in addition to template and order (distance, arm, ...).
        label: the correct answer: a label, or the better content ``1``, ``2`` or ``tie``; ``None``
            if there is none.
        people: what people said of the item, each label in the terms of ``label``; empty if nobody
            was asked. It reaches no judge.
        stratum: where the items that people labelled were drawn by strata, that of the item.
        picked: whether people labelled the item because it was chosen, although others were drawn.
        skipped: whether the item was drawn to be labelled, and whoever saw it gave no label.
        groups: the group of the item by each field that makes groups, such as its language.
    """

    id: str
    suite: str
    item: str
    cluster: str
    template: str
    order: Order = "ab"
    replicate: int = 1
    condition: Condition = field(default_factory=dict)
    label: str | None = None
    people: People = field(default_factory=dict)
    stratum: str = ""
    picked: bool = False
    skipped: bool = False
    groups: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgment:
    """A trial with its outcome.

    Attributes:
        chosen: for pairwise trials the content that the verdict selects, in the item's own order:
            ``1``, ``2``, ``tie`` or ``abstain``; otherwise ``None``.
        latency_s: seconds until the reply, as recorded; ``None`` if not measured.
        detail: what the reply states beside the verdict: for a debate ``scores`` (by category and
            side), ``short_reason`` and ``flags``; ``confidence``, the probability from 0 to 1 that
            its verdict is right, or ``unusable_confidence``, what is wrong with it; for contents
            graded one by one their ``grades``; for a repaired reply ``repair``; ``reasoned``, the
            verdict of its reasoning where that is another one; ``None`` if there is nothing.
        probabilities: of each verdict, in the judge's terms, given that a verdict is stated:
            they add up to 1. By the log-probabilities of its tokens, else as the reply states them;
            ``None`` where neither is there.
        mass: the total probability of the tokens that distinguish the verdicts; the rest belongs to
            other tokens or was not returned. ``None`` of probabilities that a reply states.
        recorded_at: when its last answer was recorded (UTC, ``2026-01-31T12:00:00Z``); ``None`` if
            it was not. Judgments are equal whenever they were recorded.
    """

    trial: Trial
    judge: str
    outcome: JudgmentOutcome
    chosen: str | None = None
    reply: str | None = None
    usage: Usage = Usage()
    latency_s: float | None = None
    detail: Mapping[str, Any] | None = None
    probabilities: Mapping[str, float] | None = None
    mass: float | None = None
    recorded_at: str | None = field(default=None, compare=False)

    @property
    def verdict(self) -> str | None:
        """The verdict's value, or ``None`` for an unparsed or failed judgment."""
        return self.outcome.value if isinstance(self.outcome, Verdict) else None

    @property
    def correct(self) -> bool | None:
        """Whether the verdict equals its label; ``None`` without a label. Unparsed is not equal."""
        if self.trial.label is None:
            return None
        return self.trial.label == (self.chosen if self.chosen is not None else self.verdict)


def majority(labels: Iterable[str]) -> str | None:
    """The label that more people give than any other; ``None`` for a tie, and for no label."""
    counted = Counter(labels).most_common(2)
    if not counted or (len(counted) == 2 and counted[0][1] == counted[1][1]):
        return None
    return counted[0][0]


def slot_of_content(content: str, order: Order) -> str:
    """The slot (``A``, ``B``) in which ``order`` shows content ``1`` or ``2``; ties stay ties."""
    if content not in ("1", "2"):
        return content
    return "A" if (content == "1") == (order == "ab") else "B"


def content_of_slot(slot: str, order: Order) -> str:
    """The content (``1``, ``2``) that ``order`` shows in slot ``A`` or ``B``; a tie stays a tie."""
    if slot not in ("A", "B"):
        return slot
    return "1" if (slot == "A") == (order == "ab") else "2"


def grouped(values: Iterable[_Value], key: Callable[[_Value], _Key]) -> dict[_Key, list[_Value]]:
    """The values of each key, in the order in which they come."""
    groups: dict[_Key, list[_Value]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups


def woven(leading: Iterable[str], following: Iterable[str]) -> list[str]:
    """The names of both, each once: the ``leading`` ones in their order.

    A name that ``following`` alone holds stands behind the one that it stands behind there.
    """
    order: dict[str | None, None] = {None: None, **dict.fromkeys(leading)}
    behind: dict[str | None, str] = {}
    before = None
    for name in dict.fromkeys(following):
        if name not in order:
            behind[before] = name
        before = name
    names: list[str] = []
    for place in order:
        names += [] if place is None else [place]
        while (place := behind.get(place)) is not None:
            names.append(place)
    return names
