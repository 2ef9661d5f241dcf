"""What the words of a foreign file name, where two candidates changed places: slots or contents.

``A`` in a column of winners may be the slot, the candidate that the judge saw first, or the
content, the first candidate of the item whatever the order: many files map verdicts back. In
presentation order ``ab`` both are the same; in order ``ba`` they are opposites, and the wrong
reading turns a consistent judge into one that follows the position. So it is stated (``--names``),
or settled by evidence, which a notice shows, or the file is not taken:

- **replies**: the replies in order ``ba`` state the slot, in the judge's own words. They settle it
  if nine in ten of those that can be read say the same, and nine in ten of order ``ab`` are read as
  recorded.
- **labels**, where they name contents: with the right reading verdicts agree with labels more often
  than chance has it. A liking for a slot moves one margin of the table of verdict and label, and
  never their association: Fisher's exact test on the items in order ``ba``, each once, at 1%; in
  order ``ab`` more than half must agree.

A label in such words is a content if items have it in both orders, and a slot if it changes with
the order. How often both orders have the same word settles nothing: that is what is measured.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from pytest_judgesense.errors import JudgesenseError, UsageError
from pytest_judgesense.grouping import grouped
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Judgment, Order, Verdict

SLOT: Final = "slot"
CONTENT: Final = "content"
# What `--names` says it of.
NAMING_FIELDS: Final = ("verdict", "label")
_EXPLAINED: Final = {
    SLOT: "slots, the candidates as the judge saw them",
    CONTENT: "contents, the candidates of the item whatever the order",
}
_OTHER: Final = {SLOT: CONTENT, CONTENT: SLOT}
_SLOTS: Final = DecisionSpace(
    ("A", "B"), pairwise=True, tie=True, names={"A": ("Output (a)",), "B": ("Output (b)",)}
)
_NUMBERED: Final = DecisionSpace(("1", "2"), tie=True)
# Naming replies is the slowest part of an import; a systematic mapping shows in a few.
_MOST_REPLIES: Final = 500
_NEARLY_ALL: Final = 0.9
_SIGNIFICANT: Final = 0.01


@dataclass(frozen=True, slots=True)
class Naming:
    """What verdicts and labels of a suite name: `SLOT` or `CONTENT`.

    Attributes:
        notices: the evidence, one sentence each.
        objections: what evidence leaves open, as errors that ask for it; the naming is then none.
    """

    verdict: str
    label: str
    notices: tuple[str, ...] = ()
    objections: tuple[JudgesenseError, ...] = ()


def naming_of(
    suite: str, judgments: Sequence[Judgment], words: tuple[str, str], stated: Mapping[str, str]
) -> Naming:
    """What the two ``words`` name in the verdicts and labels of a suite.

    Args:
        suite: its name, for messages.
        judgments: all of it, verdicts and labels in the words of the file; labels ``1`` and ``2``
            beside the words ``A`` and ``B`` name contents.
        words: of the first candidate and of the second.
        stated: by field what the user says of it.
    """
    notices: list[str] = []
    objections: list[JudgesenseError] = []

    def settled(field: str, evidence: str | None, shown: list[str]) -> str:
        told = stated.get(field)
        if evidence and not told:
            notices.append(
                f"{field}s of suite {suite} name {_EXPLAINED[evidence]}: {'; '.join(shown)}; "
                f"--names {field}={_OTHER[evidence]} reads them otherwise"
            )
        elif told and evidence and told != evidence:
            notices.append(
                f"--names {field}={told} contradicts what suite {suite} shows: {'; '.join(shown)}"
            )
        elif not told:
            objections.append(_open(suite, field, words, shown))
        return told or evidence or SLOT

    label, verdict = CONTENT, SLOT
    swapped = [one for one in judgments if one.trial.order == "ba"]
    if any(one.trial.label in words for one in swapped):
        label = settled("label", *_by_items(judgments, words))
    elif "label" in stated:
        label = stated["label"]
    if any(one.verdict in words for one in swapped):
        by_replies, shown = _by_replies(judgments, words)
        open_labels: tuple[str | None, list[str]] = (None, [])
        by_labels, more = open_labels if objections else _by_labels(judgments, words, label)
        agree = by_replies is None or by_labels in (None, by_replies)
        evidence = (by_replies or by_labels) if agree else None
        shown += more
        if evidence is None and "verdict" not in stated:
            shown += _alike(judgments, words)
        verdict = settled("verdict", evidence, shown)
    elif "verdict" in stated:
        verdict = stated["verdict"]
    return Naming(verdict, label, tuple(notices), tuple(objections))


def _open(suite: str, field: str, words: tuple[str, str], shown: Iterable[str]) -> UsageError:
    first, second = words
    return UsageError(
        f"it is open what {first} and {second} name in the {field}s of suite {suite}: the "
        "candidates changed places",
        found="; ".join(shown) or "nothing that shows it",
        expected=f"slots ({first} is the candidate that the judge saw first) or contents ({first} "
        "is the first candidate of the item, whatever the order)",
        remedy=f"say it: --names {field}=slot, or --names {field}=content",
    )


def _by_items(
    judgments: Sequence[Judgment], words: tuple[str, str]
) -> tuple[str | None, list[str]]:
    """What labels name, by whether those of an item change with the order."""
    constant = changed = 0
    for of_item in grouped(judgments, attrgetter("trial.item")).values():
        seen: dict[Order, set[str]] = {"ab": set(), "ba": set()}
        for one in of_item:
            if one.trial.label in words:
                seen[one.trial.order].add(str(one.trial.label))
        if len(seen["ab"]) == len(seen["ba"]) == 1:
            constant += seen["ab"] == seen["ba"]
            changed += seen["ab"] != seen["ba"]
    shown = [f"{constant} items have the same label in both orders, {changed} another one"]
    if bool(constant) == bool(changed):
        return None, shown
    return CONTENT if constant else SLOT, shown


def _by_replies(
    judgments: Sequence[Judgment], words: tuple[str, str]
) -> tuple[str | None, list[str]]:
    """What verdicts name, by what the replies state."""
    counts: dict[Order, Counter[bool]] = {"ab": Counter(), "ba": Counter()}
    for one in judgments:
        count = counts[one.trial.order]
        if one.verdict in words and one.reply and count.total() < _MOST_REPLIES:
            slot = _stated(one.reply, words)
            if slot is not None:
                count[slot == words.index(one.verdict)] += 1
    same, other = counts["ba"][True], counts["ba"][False]
    if not same + other:
        return None, []
    shown = [f"of {same + other} replies in order ba {same} state the recorded word, {other} not"]
    kept = counts["ab"]
    if kept.total() and kept[True] < _NEARLY_ALL * kept.total():
        few = f"but of {kept.total()} in order ab only {kept[True]} do"
        return None, [*shown, few]
    most = max(same, other)
    if most < _NEARLY_ALL * (same + other):
        return None, shown
    return SLOT if same == most else CONTENT, shown


def _stated(reply: str, words: tuple[str, str]) -> int | None:
    """The slot that a reply states, 0 or 1, by letter or, where verdicts are numbers, by number."""
    spaces = (_SLOTS, _NUMBERED) if words == _NUMBERED.labels else (_SLOTS,)
    for space in spaces:
        outcome = parse_reply(reply, space)
        if isinstance(outcome, Verdict) and outcome.value in space.labels:
            return space.labels.index(outcome.value)
    return None


def _by_labels(
    judgments: Sequence[Judgment], words: tuple[str, str], label: str
) -> tuple[str | None, list[str]]:
    """What verdicts name, by their agreement with labels."""
    tables: dict[Order, Counter[tuple[int, int]]] = {"ab": Counter(), "ba": Counter()}
    by_item = grouped(judgments, attrgetter("trial.item", "trial.order"))
    for (_, order), of_item in by_item.items():
        pairs = [
            (words.index(one.verdict), better)
            for one in of_item
            if one.verdict in words
            and (better := _better(one.trial.label, words, order, label)) is not None
        ]
        votes = Counter(pairs).most_common(2)
        if votes and (len(votes) == 1 or votes[0][1] > votes[1][1]):
            tables[order][votes[0][0]] += 1
    table = tables["ba"]
    if not table:
        return None, []
    same = table[0, 0] + table[1, 1]
    sentence = f"of {table.total()} items in order ba the labels agree with {table.total() - same} "
    shown = [f"{sentence}verdicts if these name slots, with {same} if contents"]
    straight = tables["ab"]
    agree = straight[0, 0] + straight[1, 1]
    if 2 * agree <= straight.total() or _chance(table) > _SIGNIFICANT:
        return None, shown
    positive = table[0, 0] * table[1, 1] > table[0, 1] * table[1, 0]
    return CONTENT if positive else SLOT, shown


def _better(label: str | None, words: tuple[str, str], order: Order, naming: str) -> int | None:
    """The better candidate of the item, 0 or 1; ``None`` where the label names none."""
    if label in words:
        place = words.index(label)
        return 1 - place if naming == SLOT and order == "ba" else place
    return {"1": 0, "2": 1}.get(label or "")


def _chance(table: Mapping[tuple[int, int], int]) -> float:
    """Fisher's exact test, two-sided: the chance of a table at least as unlikely.

    R. A. Fisher (1935), Journal of the Royal Statistical Society 98, 39-54.
    """
    a, b, c, d = (table[at] for at in ((0, 0), (0, 1), (1, 0), (1, 1)))
    rows, first, of = a + b, a + c, a + b + c + d

    def log_chance(x: int) -> float:
        return _log_ways(first, x) + _log_ways(of - first, rows - x) - _log_ways(of, rows)

    possible = range(max(0, rows + first - of), min(rows, first) + 1)
    seen = log_chance(a)
    return math.fsum(math.exp(chance) for x in possible if (chance := log_chance(x)) <= seen + 1e-9)


def _log_ways(of: int, chosen: int) -> float:
    return math.lgamma(of + 1) - math.lgamma(chosen + 1) - math.lgamma(of - chosen + 1)


def _alike(judgments: Sequence[Judgment], words: tuple[str, str]) -> list[str]:
    """How often both orders of a pair have the same word."""
    pairs = grouped(
        (one for one in judgments if one.verdict in words),
        attrgetter("judge", "trial.item", "trial.template", "trial.replicate"),
    )
    both = [
        of_pair
        for of_pair in pairs.values()
        if {one.trial.order for one in of_pair} == {"ab", "ba"}
    ]
    if not both:
        return []
    same = sum(len({one.verdict for one in of_pair}) == 1 for of_pair in both)
    sentence = f"{same} of {len(both)} pairs have the same word in both orders: a liking for a "
    return [f"{sentence}position if they name slots, consistency if they name contents"]
