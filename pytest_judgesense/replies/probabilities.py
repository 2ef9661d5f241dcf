r"""From the tokens of a reply to the probability of each verdict. Pure.

An endpoint may return, for each token of a reply, the most likely tokens at its position. At the
position of the verdict, these are the other verdicts that it might have named.

**The place.** Tokens need not join to the reply (a fence around JSON is cut off, as blanks are),
so the verdict is looked for in the text that they do join to: the value under the likeliest key of
a JSON object; else, after any thinking, the one mention of a label, or the first of several that
all name the verdict; else a label alone at the very beginning, or at the very end. In any other
reply the position is unclear.

**The probabilities.** The first token there that tells the verdicts apart decides. A token counts
for a verdict if it begins a spelling of it, or ends one; what stands before the first letter
(blanks, quotes, stars; no sign, where labels are negative) is left out, and case too, unless the
reply was held to a schema: then nothing but the very labels, and the quote behind them, could be
drawn. Where the token that was drawn begins several labels (``1`` of 1 and 10, ``Output`` of two
names) the next one parts them: with p the probabilities at each token, over those that count yet::

    p(label) = product over tokens of p(token) / sum of p(tokens that begin a label)

The probability of labels at the deciding token, before normalisation, is the *mass*. A label that
is not among the returned tokens gets 0. The label behind another token that begins several labels
is unknown: if more than 1% of the mass is on such tokens, there is no answer. Nor is there one if
the reply ends with the drawn one, unless each longer label begins with another token as well: the
end of a reply is rarely among the tokens that are returned. So where the next token decides whether
a label ends (``0`` after ``1``), what is not returned may be the end: of it, too, at most 1%.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import accumulate
from typing import Final, NamedTuple

from pytest_judgesense.replies.formal import verdict_place
from pytest_judgesense.replies.text import without_thinking
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Token

# Maximum share of the mass on tokens whose label is unknown.
_MOST_UNSTATED: Final = 0.01
# No label takes more tokens.
_MOST_STEPS: Final = 40
_LONGEST: Final = 30_000
_LONGEST_VALUE: Final = 60
_AROUND: Final = " \n\t*_`\"'.,:;()[]{}"
_NOTHING: Final[tuple[set[str], set[str]]] = set(), set()
_LETTERS: Final = re.compile(r"[^\W_]")
# As `_LETTERS`, where labels are below zero.
_LETTERS_OR_SIGN: Final = re.compile(r"-|[^\W_]")
# "3.5" is not 3.
_GOES_ON: Final = re.compile(r"[^\W_]|[.,]\d")


class Probabilities(NamedTuple):
    """The probabilities of the verdicts from the tokens of a reply.

    Attributes:
        of: by verdict of the space; they add up to 1.
        mass: the probability that stood on tokens of verdicts, at most 1.
    """

    of: Mapping[str, float]
    mass: float


class _Spellings(NamedTuple):
    """The spellings of verdicts, and a pattern that finds them.

    Attributes:
        verdicts: by spelling, case folded if case is to be left out (``fold``).
        exact: the spellings as they are.
        ends: the characters that may follow a label; ``None`` for all except letters and digits.
        first: finds the first character of a label.
    """

    verdicts: Mapping[str, str]
    exact: frozenset[str]
    mention: re.Pattern[str]
    fold: bool
    first: re.Pattern[str]
    ends: str | None = None

    def trimmed(self, text: str) -> str:
        """``text`` from where a label may begin in it."""
        match = self.first.search(text)
        return text[match.start() :] if match else ""

    def _ended(self, rest: str) -> bool:
        return not _GOES_ON.match(rest) if self.ends is None else rest[:1] in self.ends

    def begun(self, text: str) -> tuple[set[str], set[str]]:
        """The verdicts that ``text`` begins or spells, and those that it spells completely."""
        folded = text.casefold() if self.fold else text
        some: set[str] = set()
        whole: set[str] = set()
        for spelling, verdict in self.verdicts.items():
            if spelling == folded or (
                folded.startswith(spelling) and self._ended(folded[len(spelling) :])
            ):
                whole.add(verdict)
            elif folded and spelling.startswith(folded):
                some.add(verdict)
        return some | whole, whole


def probabilities(
    tokens: Sequence[Token], space: DecisionSpace, verdict: str, *, constrained: bool = False
) -> Probabilities | None:
    """The probabilities of the verdicts of ``space`` where the reply names its own.

    Args:
        tokens: of the reply, in order, with the likeliest ones in the place of each.
        space: the permitted answers.
        verdict: the parsed verdict of the reply: a value of ``space.verdicts``.
        constrained: whether a JSON schema of the labels constrained the reply.

    Returns:
        The probabilities, or ``None`` if they cannot be determined.
    """
    text = "".join(token.text for token in tokens)
    if not text or len(text) > _LONGEST or verdict not in space.verdicts:
        return None
    named = (
        (verdict, names) for verdict, names in space.names.items() if verdict in space.verdicts
    )
    names = tuple((name, verdict) for verdict, names in named for name in names)
    spellings = _spellings(space.verdicts, names, not constrained)
    place = _place(text, spellings, verdict)
    if place is None:
        return None
    starts = [0, *accumulate(len(token.text) for token in tokens)]
    index = bisect_right(starts, place) - 1
    before = text[starts[index] : place]
    if constrained:
        # Nothing is before a label in a schema, and one of these follows.
        spellings = spellings._replace(ends='"' if text[place - 1 : place] == '"' else ",} \n")
    distribution = _distribution(
        tokens[index : index + _MOST_STEPS], spellings, partial(_after, before, spellings)
    )
    if distribution is None or not distribution.of.get(verdict):
        return None
    return Probabilities(
        {verdict: distribution.of.get(verdict, 0.0) for verdict in space.verdicts},
        distribution.mass,
    )


@lru_cache(maxsize=64)
def _spellings(
    verdicts: tuple[str, ...], names: tuple[tuple[str, str], ...], fold: bool
) -> _Spellings:
    written = dict(names) | {verdict: verdict for verdict in verdicts}
    longest_first = sorted(written, key=len, reverse=True)
    # Of single letters only capitals: "a" is an article.
    either = "|".join(
        re.escape(spelling) if len(spelling) == 1 else f"(?i:{re.escape(spelling)})"
        for spelling in longest_first
    )
    mention = re.compile(rf"(?<![^\W_])(?:{either})(?![^\W_])")
    by_spelling = {
        spelling.casefold() if fold else spelling: verdict for spelling, verdict in written.items()
    }
    signed = any(spelling.startswith("-") for spelling in written)
    first = _LETTERS_OR_SIGN if signed else _LETTERS
    return _Spellings(by_spelling, frozenset(written), mention, fold, first)


def _place(text: str, spellings: _Spellings, verdict: str) -> int | None:
    """The position at which ``text`` names the verdict; ``None`` if it is unclear."""
    if (start := verdict_place(text)) is not None:
        value = text[start : start + _LONGEST_VALUE]
        named = [(place, spelling) for place, _, spelling in _mentions(value, spellings)]
        return start + named[0][0] if named and named[0][1] == verdict else None
    answer, thinking = without_thinking(text)
    mentions = [] if thinking else list(_mentions(answer, spellings))
    if not mentions:
        return None
    start = text.rfind(answer)
    verdicts = {named for _, _, named in mentions}
    (first, first_end, opening), (last, last_end, closing) = mentions[0], mentions[-1]
    numbers = any(named.isdigit() for named in verdicts)
    if verdicts == {verdict} and (len(mentions) == 1 or not numbers):
        return start + first
    # "A", "A. It is ...", "**A**": a label alone, not the first word of a sentence.
    if opening == verdict and not _LETTERS.search(answer[:first]) and answer[first_end:][:1] != " ":
        return start + first
    if closing == verdict and not _LETTERS.search(answer[last_end:]):
        return start + last
    return None


def _mentions(text: str, spellings: _Spellings) -> Iterator[tuple[int, int, str]]:
    """Start and end of each mention of a verdict, and which; exact ones alone, if there are any."""
    by_folded = {spelling.casefold(): verdict for spelling, verdict in spellings.verdicts.items()}
    alone = text.strip(_AROUND)
    if len(alone) == 1 and alone.casefold() in by_folded:  # "a" alone is not an article
        yield text.index(alone), text.index(alone) + 1, by_folded[alone.casefold()]
        return
    mentions = list(spellings.mention.finditer(text))
    exact = [mention for mention in mentions if mention[0] in spellings.exact]
    for mention in exact or mentions:
        # The pattern takes the dotless i for an i, unlike all parsers of replies.
        if (verdict := by_folded.get(mention[0].casefold())) is not None:
            yield mention.start(), mention.end(), verdict


def _after(before: str, spellings: _Spellings, token: str) -> str | None:
    """The label information in a first token; ``before``: the text before it in the drawn one."""
    if token.startswith(before):
        begun = token[len(before) :]
        return begun if spellings.ends is not None else spellings.trimmed(begun)
    return None if _LETTERS.search(before) else spellings.trimmed(token)


def _distribution(
    tokens: Sequence[Token],
    spellings: _Spellings,
    said_by: Callable[[str], str | None],
    *,
    may_end: bool = False,
) -> Probabilities | None:
    """The probabilities from the first of ``tokens`` on.

    ``said_by``: from a token in its place to all that is said of the label then, if anything is.
    ``may_end``: whether a reply that ends in its place has named a label.
    """
    token, *later = tokens
    constrained = spellings.ends is not None  # to a schema, in which a reply does not end here
    begun = {
        text: spellings.begun(named)
        for text, _ in token.top
        if (named := said_by(text)) and not (constrained and not text)
    }
    spelt = set().union(*(whole for _, whole in begun.values()))
    stated: dict[str, float] = {}
    unstated = drawn = 0.0
    listed = sum(chance for _, chance in token.top)
    ended = max(0.0, 1.0 - listed) if may_end and not constrained else 0.0
    within: Probabilities | None = None
    for text, chance in token.top:
        labels, whole = begun.get(text, _NOTHING)
        if text and text == token.text and len(labels) != 1:
            built = said_by(text)
            if built is None or (built and not labels):
                return None  # no label at this position
            rivals = set().union(*(more for other, (more, _) in begun.items() if other != text))
            drawn, within = chance, _followed(later, spellings, built, rivals)
            if within is None:
                return None
        elif len(labels) == 1 or (len(whole) == 1 and (not text or labels - whole <= spelt)):
            # Where one token spells out 10, another one that spells out 1 says 1.
            (label,) = labels if len(labels) == 1 else whole
            stated[label] = stated.get(label, 0.0) + chance
        elif labels:
            unstated += chance
    total = sum(stated.values()) + drawn
    if ended > _MOST_UNSTATED * (total + ended):
        return None  # what is not returned may be the reply's end
    if within is not None and not stated:
        return within  # not distinguished before the next token
    if total <= 0.0 or unstated > _MOST_UNSTATED * (total + unstated):
        return None
    for label, chance in within.of.items() if within else ():
        stated[label] = stated.get(label, 0.0) + drawn * chance
    return Probabilities({k: p / total for k, p in stated.items()}, min(1.0, total))


def _followed(
    tokens: Sequence[Token], spellings: _Spellings, built: str, rivals: set[str]
) -> Probabilities | None:
    """The same after the beginning that several labels share; other tokens begin ``rivals``."""
    labels, whole = spellings.begun(built) if built else _NOTHING
    if tokens:
        return _distribution(
            tokens,
            spellings,
            lambda text: built + text if built else spellings.trimmed(text),
            may_end=bool(whole),
        )
    # The reply ends here. Without an alternative for its end, what else "1" might have become is
    # known only where another token spells 10.
    if len(whole) != 1 or not labels - whole <= rivals:
        return None
    return Probabilities(dict.fromkeys(whole, 1.0), 1.0)
