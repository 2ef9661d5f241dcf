"""What words name where two candidates changed places, slots or contents, is stated.

``A`` in a column
of winners may be the slot, the candidate that the judge saw first, or the content, the first
candidate of the item whatever the order: many files map verdicts back. In presentation order ``ab``
both are the same; in order ``ba`` they are opposites, and the wrong reading turns a consistent
judge into one that follows the position. So it is stated (``--names``), or the file is not taken.
What the file itself shows, the slots that replies state and the items whose label stays in both
orders, stands in the error; a statement against it is told. The same error asks what the texts of
candidates are (`candidate_texts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from pytest_judgesense.errors import JudgesenseError
from pytest_judgesense.files.candidate_texts import (
    CONTENT,
    SLOT,
    OpenNaming,
    TextNaming,
    naming_asked_for,
)
from pytest_judgesense.files.synonyms import differing_words
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Judgment, Verdict

_SLOTS: Final = DecisionSpace(
    ("A", "B"), pairwise=True, tie=True, names={"A": ("Output (a)",), "B": ("Output (b)",)}
)
_NUMBERED: Final = DecisionSpace(("1", "2"), tie=True)
# Naming replies is the slowest part of an import; a systematic mapping shows in a few.
_MOST_REPLIES: Final = 500
# So many replies that all say the same show it.
_FEWEST_UNANIMOUS: Final = 5


@dataclass(frozen=True, slots=True)
class Naming:
    """What verdicts and labels of a suite name: `SLOT` or `CONTENT`.

    Attributes:
        notices: what contradicts the user's statement, one sentence each.
        objections: the error that asks for a statement, if one is needed and was not made.
    """

    verdict: str
    label: str
    notices: tuple[str, ...] = ()
    objections: tuple[JudgesenseError, ...] = ()


def naming_of(
    suite: str,
    judgments: Sequence[Judgment],
    words: tuple[str, str],
    stated: Mapping[str, str],
    texts: TextNaming,
) -> Naming:
    """What the two ``words`` name in the verdicts and labels of a suite.

    Args:
        suite: its name, for messages.
        judgments: all of it, verdicts and labels in the words of the file; labels ``1`` and ``2``
            beside the words ``A`` and ``B`` name contents.
        words: of the first candidate and of the second.
        stated: by field, ``verdict`` and ``label``, what the user says of it.
        texts: what the fields of the candidates' texts are; open ones are asked for as well.
    """
    swapped = [judgment for judgment in judgments if judgment.trial.order == "ba"]
    asked_of = {
        "verdict": any(judgment.verdict in words for judgment in swapped),
        "label": any(
            word in words
            for judgment in swapped
            for word in (judgment.trial.label, *_of_people(judgment))
        ),
    }
    verdict, label = stated.get("verdict", SLOT), stated.get("label", CONTENT)
    by_replies, shown, is_unanimous = _by_replies(swapped, words)
    contradicted = by_replies is not None and by_replies != stated.get("verdict", by_replies)
    notices = [
        f"--names verdict={verdict} contradicts what suite {suite} shows: {shown}"
    ] * contradicted
    of_texts = _by_texts(words, texts)
    shown_of = {"verdict": shown, "label": ""}
    pairs = {field: _pairs_by_field(judgments, words, field) for field in asked_of}
    sure = {"verdict": by_replies if is_unanimous else "", "label": _by_pairs(pairs["label"])}
    open_namings = [
        OpenNaming(
            field,
            f"{field}s",
            words[0],
            "; ".join(filter(None, (shown_of[field], of_texts, _alike(pairs[field], field)))),
            (SLOT if of_texts else sure[field]) or "",
        )
        for field, is_named in asked_of.items()
        if is_named and field not in stated
    ]
    open_namings += texts.open
    objections = (naming_asked_for(suite, open_namings),) if open_namings else ()
    return Naming(verdict, label, tuple(notices), objections)


def _of_people(judgment: Judgment) -> list[str]:
    """What people said, who need not have a majority."""
    return [label for labels in judgment.trial.people.values() for label in labels.values()]


def _by_texts(words: tuple[str, str], texts: TextNaming) -> str:
    """That the words name the texts of slots, of which the fields are called so; else nothing."""
    for pair in texts.pairs:
        named = differing_words(*pair)
        if texts.by_field.get(pair[0]) == SLOT and named == tuple(map(str.casefold, words)):
            return f"{words[0]} and {words[1]} name the texts {pair[0]} and {pair[1]}, of slots"
    return ""


def _by_replies(
    swapped: Iterable[Judgment], words: tuple[str, str]
) -> tuple[str | None, str, bool]:
    """What verdicts name by most replies in order ba, which state slots; and their counts.

    Last, whether there are enough replies, and all say the same.
    """
    counts: Counter[bool] = Counter()
    for judgment in swapped:
        if judgment.verdict in words and judgment.reply and counts.total() < _MOST_REPLIES:
            slot = _slot_stated(judgment.reply, words)
            if slot is not None:
                counts[slot == words.index(judgment.verdict)] += 1
    if not counts:
        return None, "", False
    same, other = counts[True], counts[False]
    likely = SLOT if same > other else CONTENT
    shown = f"of {same + other} replies in order ba {same} state the recorded word, {other} not"
    is_unanimous = min(same, other) == 0 and same + other >= _FEWEST_UNANIMOUS
    return likely, f"{shown}, as if it were the {likely}", is_unanimous


def _slot_stated(reply: str, words: tuple[str, str]) -> int | None:
    """The slot that a reply states, 0 or 1, by letter or, where verdicts are numbers, by number."""
    spaces = (_SLOTS, _NUMBERED) if words == _NUMBERED.labels else (_SLOTS,)
    for space in spaces:
        outcome = parse_reply(reply, space)
        if isinstance(outcome, Verdict) and outcome.value in space.labels:
            return space.labels.index(outcome.value)
    return None


class _Pairs(NamedTuple):
    """How many judgments there are in both orders, and in how many the word is the same."""

    same: int
    both: int


def _pairs_by_field(judgments: Iterable[Judgment], words: tuple[str, str], field: str) -> _Pairs:
    """How many items have the same word as their ``field`` in both orders."""
    by_item: dict[tuple[str, ...], dict[str, set[str]]] = {}
    for judgment in judgments:
        trial = judgment.trial
        word = judgment.verdict if field == "verdict" else trial.label
        if word in words:
            item = (judgment.judge, trial.item, trial.template, str(trial.replicate))
            by_item.setdefault(item, {}).setdefault(trial.order, set()).add(str(word))
    both = [by_order for by_order in by_item.values() if len(by_order) == 2]
    return _Pairs(sum(by_order["ab"] == by_order["ba"] for by_order in both), len(both))


def _alike(pairs: _Pairs, field: str) -> str:
    if not pairs.both:
        return ""
    return f"{pairs.same} of {pairs.both} pairs have the same {field} in both orders"


def _by_pairs(labels: _Pairs) -> str:
    """What labels name, where all pairs say the same: what is right does not follow the order.

    A label that stays in both orders names a content, one that changes with them a slot. Of
    verdicts this shows nothing: a judge may follow the order.
    """
    if labels.both < _FEWEST_UNANIMOUS:
        return ""
    return {labels.both: CONTENT, 0: SLOT}.get(labels.same, "")
