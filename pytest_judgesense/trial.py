"""What flows through the project: trials, and the judgments that answer them. All frozen.

A *trial* is one verdict to be obtained. A *judgment* is a trial with what came of it: a
`Verdict`, or `Unparsed` with the reason why the reply states none, or `Failed` with the reason
why there is no reply. Nothing here computes; the measures do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

Order: TypeAlias = Literal["ab", "ba"]
Condition: TypeAlias = Mapping[str, str | int | float]

TIE: Final = "tie"
ABSTAIN: Final = "abstain"
_NUMBER: Final = re.compile(r"-?\d{1,18}")


def is_number(label: str) -> bool:
    """Whether ``label`` is a whole number, of at most 18 digits: no scale has more."""
    return _NUMBER.fullmatch(label) is not None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge decided, in its own terms: a label, or the slot ``A``, ``B``, ``tie``."""

    value: str


@dataclass(frozen=True, slots=True)
class Unparsed:
    """The judge replied, and the reply states no usable verdict."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no reply: the call ended in an error."""

    reason: str


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a reply, as the endpoint states it.

    Attributes:
        text: what it adds to the reply; may be empty.
        top: the likeliest tokens in its place, each with its probability before temperature.
    """

    text: str
    top: tuple[tuple[str, float], ...] = ()


Outcome: TypeAlias = Verdict | Unparsed | Failed


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call as the endpoint counted them; ``None`` where it did not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Criterion:
    """What one of several grades of a reply is about.

    Attributes:
        labels: its scale, from the lowest grade to the highest.
        weight: of its grade in the overall score.
    """

    name: str
    labels: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Design:
    """What the measures must know of a suite; it travels on every line of a judgment log.

    Attributes:
        kind: name of the suite's kind.
        labels: the answers of the judge, in order; slots for pairwise spaces.
        ordinal: whether the order of the labels means more and less.
        pairwise: whether a verdict names one of two slots.
        pairs: template pairs compared on one item: ``ring``, ``all``, or the pairs themselves.
        others: whether verdicts beside the labels are possible: a tie, an abstention, or, where the
            design is guessed from a log, whatever the log does not show.
        cut: ordinal spaces: the lowest label of the upper half where labels are cut into two;
            ``None`` for the first one above the middle.
        excluded: those of ``pairs`` that reviewers reject as not equivalent: not compared.
        unsure: those of ``pairs`` on which reviewers disagree: compared, with a notice.
        ddof: subtracted from n in a variance over the replicates of a debate.
        weights: of the instability of a debate judge: repeat flips, score variance, confidence
            variance, side bias; ``None`` for other kinds.
        effect_threshold: the lowest temperature that counts as high; ``None`` for the usual one.
        criteria: by which one reply grades, where it gives several grades.
        pass_mark: the share of the way up the scale from which an overall score passes.
        left_out: clusters that were not asked because the run was stopped early.
    """

    kind: str
    labels: tuple[str, ...]
    ordinal: bool = False
    pairwise: bool = False
    pairs: str | tuple[tuple[str, str], ...] = "all"
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


@dataclass(frozen=True, slots=True)
class Trial:
    """One verdict to be obtained.

    Attributes:
        id: readable path, stable across machines: ``suite/item/template/order/rN``.
        cluster: the independent unit of all inference that this trial belongs to.
        order: presentation order of the contents; ``ab`` where there is only one content.
        replicate: counts from 1.
        condition: what the design varies beside template and order (distance, arm, ...).
        label: the correct answer: a label, or the better content ``1``, ``2`` or ``tie``;
            ``None`` where there is no correct answer.
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


@dataclass(frozen=True, slots=True)
class Judgment:
    """A trial with its outcome.

    Attributes:
        chosen: for pairwise trials the content that the verdict points at, in the item's own
            order: ``1``, ``2``, ``tie`` (or ``abstain``); ``None`` otherwise.
        latency_s: seconds until the reply, as recorded; ``None`` where it was not measured.
        detail: what the reply states beside the verdict: of a debate ``scores`` (by category and
            side), ``confidence``, ``short_reason`` and ``flags``; of contents graded one by one
            their ``grades``; of a repaired reply ``repair``; ``None`` where there is nothing.
        probabilities: of each verdict, in the judge's own terms, given that it is one of them: they
            add up to 1. ``None`` where the reply does not tell them.
        mass: how much of the probability stood on tokens of verdicts where they part; the rest
            stood on others, or was not stated.
    """

    trial: Trial
    judge: str
    outcome: Outcome
    chosen: str | None = None
    reply: str | None = None
    usage: Usage = Usage()
    latency_s: float | None = None
    detail: Mapping[str, Any] | None = None
    probabilities: Mapping[str, float] | None = None
    mass: float | None = None

    @property
    def verdict(self) -> str | None:
        """The verdict's value, or ``None`` for an unparsed or failed judgment."""
        return self.outcome.value if isinstance(self.outcome, Verdict) else None

    @property
    def correct(self) -> bool | None:
        """Whether it equals its label; ``None`` without a label. Unparsed is not equal."""
        if self.trial.label is None:
            return None
        return self.trial.label == (self.chosen if self.chosen is not None else self.verdict)


def slot_of_content(content: str, order: Order) -> str:
    """The slot (``A``, ``B``) in which ``order`` shows content ``1`` or ``2``; ties stay ties."""
    if content not in ("1", "2"):
        return content
    return "A" if (content == "1") == (order == "ab") else "B"


def content_of_slot(slot: str, order: Order) -> str:
    """The content (``1``, ``2``) that slot ``A`` or ``B`` shows in ``order``; ties stay ties."""
    if slot not in ("A", "B"):
        return slot
    return "1" if (slot == "A") == (order == "ab") else "2"
