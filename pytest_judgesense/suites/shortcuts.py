r"""Could a suite be solved without reading it? The scores of word counters. Pure.

A scorer gives each text a number from its words alone. For an item with two candidates it chooses
the one with the larger number, or always the one with the smaller number; other labelled items are
ordered in pairs with different labels. Its score is the share that it decides correctly, with ties
counting half, in the better direction. One half is chance. Above 0.65 a suite may measure the
scorer's rule instead of judging: a *shortcut*.

The pairs are counted by ranks, not one by one: with two labels the share is the statistic of Mann
and Whitney over its maximum (Ann. Math. Statist. 18, 1947). Of more than `MOST_READ` labelled items
the texts of a sample are read, drawn by the seed `SEED`.

Words are runs of letters and digits; a stem is the first five letters of a word of four or more
letters that is not a function word. Sentences end at ``. ! ?`` or a line break.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from operator import itemgetter
from random import Random
from typing import Final, NamedTuple, TypeAlias

from pytest_judgesense.suites.finding import LintFinding
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.prompt_template import placeholders
from pytest_judgesense.suites.suite import Suite, derived

MOST_SOLVED: Final = 0.65
FEWEST_ITEMS: Final = 10
# Pairs of a few tasks share their texts: what decides them all may be an accident of one.
FEWEST_CLUSTERS: Final = 5
MOST_READ: Final = 2_000
SEED: Final = 0

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_FUNCTION_WORDS: Final = frozenset(
    """
    about above after again also although always among another because been before being below
    between both cannot could does doing done down during each either else enough even ever every
    few from further hence here hers however instead into itself just least less like made make many
    might more most much must neither never next nobody none nothing once only onto other otherwise
    ours over perhaps please quite rather same shall should since some still such than that their
    them then there therefore these they this those though through thus together toward towards
    under until upon very were what when where whether which while whose will with within without
    would your yours have having
    """.split()
)
_CONNECTIVES: Final = frozenset(
    """
    accordingly afterwards also although because besides consequently finally first furthermore
    hence however instead likewise meanwhile moreover nevertheless next otherwise second similarly
    since so still then therefore though thus yet
    """.split()
)

Scorer: TypeAlias = Callable[[str, str], float]


class _Blanks(dict[int, int]):
    """What `str.translate` makes of a character: a blank, unless words have it."""

    def __missing__(self, character: int) -> int:
        mapped = character if chr(character).isalnum() else ord(" ")
        return self.setdefault(character, mapped)


_BLANKS: Final = _Blanks()


def _split(text: str) -> list[str]:
    """The words, in a third of the time of a regular expression."""
    return text.translate(_BLANKS).split()


@lru_cache(maxsize=4)  # of one text several things are asked in turn
def _words(text: str) -> tuple[str, ...]:
    return tuple(_split(text.lower()))


class _Counted(NamedTuple):
    """What the scorers need of a text."""

    words: int
    stems: frozenset[str]
    connectives: int
    shared: float


@lru_cache(maxsize=1024)  # items, scorers and suites share their texts
def _counted(text: str) -> _Counted:
    parts = _SENTENCE_END.split(text.lower().strip())
    sentences = [_split(part) for part in parts if part]
    words = [word for sentence in sentences for word in sentence]
    stems = [
        frozenset([word[:5] for word in {*sentence} - _FUNCTION_WORDS if len(word) > 3])
        for sentence in sentences
    ]
    links = [bool(stem_set & other) for stem_set, other in pairwise(stems)]
    return _Counted(
        len(words),
        frozenset().union(*stems),
        sum(map(_CONNECTIVES.__contains__, words)),
        sum(links) / max(1, len(links)),
    )


def length(text: str) -> int:
    """Words of a text."""
    return len(_words(text))


def _overlap(text: str, beside: str) -> float:
    """Stems that the text shares with the text beside it."""
    return len(_counted(text).stems & _counted(beside).stems)


SCORERS: Final[Mapping[str, Scorer]] = {
    "overlap with the request": _overlap,
    # The part of the text's stems that these are.
    "share of overlap": lambda text, beside: (
        _overlap(text, beside) / max(1, len(_counted(text).stems))
    ),
    "length": lambda text, _: _counted(text).words,
    # The part of neighbouring sentences that share a stem.
    "shared stems": lambda text, _: _counted(text).shared,
    # Words that join sentences.
    "connectives": lambda text, _: _counted(text).connectives,
}
_POSITION: Final = "position"


@derived
def _labelled(suite: Suite) -> Sequence[Item]:
    if not suite.space.pairwise:
        labelled = (i for i in suite.items if i.label is not None and not i.is_control)
        return [i for i in labelled if suite.space.permits(str(i.label))]
    return [item for item in suite.items if item.label in ("1", "2") and len(item.contents) == 2]


def sampled(suite: Suite) -> str:
    """In brackets, which items the scores are of if they are not of all; else nothing."""
    if (count := len(_labelled(suite))) <= MOST_READ:
        return ""
    return f" (of a sample of {MOST_READ:,} of {count:,} labelled items, seed {SEED})"


@derived
def solved(suite: Suite) -> dict[str, float]:
    """The share of labelled items that each scorer decides correctly, from 1/2 to 1.

    Empty if fewer than `FEWEST_ITEMS` items, or `FEWEST_CLUSTERS` clusters, are decided.
    ``position`` always takes the candidate that is first in the items' own order. For large suites
    it is estimated, see `sampled`.
    """
    items = _labelled(suite)
    if len(items) > MOST_READ:
        items = Random(SEED).sample(items, MOST_READ)
    clusters = {item.cluster for item in items}
    if len(items) < FEWEST_ITEMS or len(clusters) < FEWEST_CLUSTERS:
        return {}
    if suite.space.pairwise:
        return _solved_pairs(suite, items)
    in_order: Sequence[str] = suite.space.labels
    if suite.space.score is not None:
        in_order = sorted({item.label for item in items if item.label}, key=float)
    places = {label: place for place, label in enumerate(in_order)}
    labels = [places[item.label] for item in items if item.label]
    if len({*labels}) < 2:
        return {}
    text, *beside_it = _judged(suite)
    pairs = [(item.fields.get(text, ""), _beside(item, beside_it)) for item in items]
    return {
        name: _ordered([scorer(shown, beside) for shown, beside in pairs], labels)
        for name, scorer in SCORERS.items()
        if beside_it or not name.endswith(("overlap", "request"))
    }


def _solved_pairs(suite: Suite, items: Sequence[Item]) -> dict[str, float]:
    """The same of items with two candidates."""
    signs = [1 if item.label == "1" else -1 for item in items]
    scorers = _beside_candidates(suite, items[0])
    scores: dict[str, list[float]] = {name: [] for name, _, _ in scorers}
    for item, sign in zip(items, signs, strict=True):  # what is asked of a text in turn
        first, second = item.contents
        for name, scorer, fields in scorers:
            beside = _beside(item, fields)
            scores[name].append(sign * (scorer(first, beside) - scorer(second, beside)))
    scores[_POSITION] = [float(sign) for sign in signs]
    return {name: _best(decided) for name, decided in scores.items()}


def _beside_candidates(suite: Suite, item: Item) -> list[tuple[str, Scorer, list[str]]]:
    """The scorers by name, with the fields of texts beside the candidates.

    Each separately: a reference is a different shortcut than a request.
    """
    shown = [name for name in sorted({*item.fields}) if name in _shown(suite)]
    return [
        (called, scorer, fields)
        for name, scorer in SCORERS.items()
        for called, fields in (
            {name: shown}
            if not name.startswith(("overlap", "share"))
            else {name if field == shown[0] else f"{name}: {field}": [field] for field in shown}
        ).items()
    ]


def _ordered(scores: Sequence[float], labels: Sequence[int]) -> float:
    """The share of the pairs of items with different labels that have their scores in order.

    In the better direction, with ties counting half.
    """
    lower = [0] * (max(labels) + 1)  # the items with a lower score, by label
    right = 0.0
    ranked = sorted(zip(scores, labels, strict=True))
    for _, alike in groupby(ranked, key=itemgetter(0)):
        of_label = Counter(label for _, label in alike)
        tied = 0
        for label, count in sorted(of_label.items()):
            right += count * (sum(lower[:label]) + tied / 2)
            tied += count
        for label, count in of_label.items():
            lower[label] += count
    pairs = (sum(lower) ** 2 - sum(count**2 for count in lower)) / 2
    return max(right / pairs, 1 - right / pairs)


def _shown(suite: Suite) -> frozenset[str]:
    return frozenset().union(*(placeholders(template.text) for template in suite.templates))


def _judged(suite: Suite) -> list[str]:
    """The field that is judged, the last that templates show by the items' order; the others."""
    names = [name for name in suite.items[0].fields if name in _shown(suite)]
    return [names[-1], *names[:-1]] if names else [""]


def _beside(item: Item, fields: list[str]) -> str:
    return "\n".join(item.fields.get(name, "") for name in fields)


def _best(decided: Sequence[float]) -> float:
    """The share above 0 or below 0, whichever is larger, with ties counting half."""
    share = sum((score > 0) + (score == 0) / 2 for score in decided) / len(decided)
    return max(share, 1 - share)


def lexical_shortcut(suite: Suite) -> Iterator[LintFinding]:
    """Labels that a scorer without a model finds."""
    above = {name: share for name, share in solved(suite).items() if share > MOST_SOLVED}
    if above:
        yield LintFinding(
            "warning",
            "lexical-shortcut",
            f"suite {suite.name}",
            "its labels can be found without reading",
            ", ".join(f"{name} alone finds {share:.0%} of them" for name, share in above.items())
            + sampled(suite),
            f"at most {MOST_SOLVED:.0%} by each; half are found by chance",
            "write items in which that feature is as often on the other side",
        )


# --- what stands in one of two texts alone --------------------------------------------------------

_NUMBER_WORDS: Final = dict(
    zip(
        """
        one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
        sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
        hundred thousand
        """.split(),
        [*map(str, range(1, 21)), *map(str, range(30, 100, 10)), "100", "1000"],
        strict=True,
    )
)
# With a capital: "august" and "march" are other words without one.
_DAY: Final = re.compile(
    r"\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|May(?= \d)"
    r"|June|July|August|September|October|November|December|[Nn]oon|[Mm]idnight)\b"
)
_LISTED: Final = re.compile(r"^[ \t]*\d{1,3}[.)][ \t]", re.MULTILINE)
_NEGATIONS: Final = frozenset("no not never none nobody nothing without neither nor cannot".split())
_CONDITIONS: Final = frozenset("if unless when whenever only until before except".split())
# It looks back from the capital letter, because capitals are found faster.
_NAME: Final = re.compile(r"[A-Z](?<=[a-z0-9,;:] [A-Z])[a-z]+")


def _numbers(words: Iterable[str]) -> list[str]:
    """The numbers among words, in digits."""
    return [_NUMBER_WORDS.get(w, w) for w in words if w in _NUMBER_WORDS or w[0].isdigit()]


@lru_cache(maxsize=1024)
def facts(text: str) -> Mapping[str, frozenset[str]]:
    """Numbers, names, days, and whether there are negations and conditions, that a text states.

    Number words count as digits. A name is a capitalised word within a sentence; then the same word
    counts anywhere. Numbers of list items do not count.
    """
    text = _LISTED.sub("", text)
    words = _words(text)
    days = frozenset(match[0].lower().removesuffix("s") for match in _DAY.finditer(text))
    return {
        "numbers": frozenset(_numbers(words)) - {"1"},
        "names": frozenset(name.lower() for name in _NAME.findall(_DAY.sub("", text))),
        "days and times": days,
        "negations": _whether("a negation", "n't" in text or _NEGATIONS.intersection(words)),
        "conditions": _whether("a condition", _CONDITIONS.intersection(words)),
    }


def _whether(called: str, there: object) -> frozenset[str]:
    return frozenset({called} if there else ())


def evidence(text: str) -> int:
    """How often a text names somebody or something, or states a number."""
    numbers = _numbers(_words(_LISTED.sub("", text)))
    return len(_NAME.findall(text)) + len(numbers) - numbers.count("1")


def in_one_alone(text: str, other: str) -> list[str]:
    """The facts of either text that the other does not state."""
    a, b = facts(text), facts(other)
    spoken = frozenset(_words(text)), frozenset(_words(other))
    alone: list[str] = []
    for kind in a:
        left = (a[kind] - b[kind], b[kind] - a[kind])
        for missing, elsewhere in zip(left, spoken[::-1], strict=True):
            # A name at the beginning of a sentence counts there as well.
            alone += sorted(fact for fact in missing if fact not in elsewhere)
    return alone
