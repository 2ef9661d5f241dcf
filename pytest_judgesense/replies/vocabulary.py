"""Which words of a reply name which verdict, for one decision space.

Two questions are answered here. `Vocabulary.read` says what a *whole* text names, once
punctuation, Markdown, quotes and brackets around it are gone. `Vocabulary.mark` finds the
mentions *inside* a text and puts one private-use character in the place of each, so that the
patterns of `statements` can be written over mentions instead of over spellings.

A label of one letter is only a mention where it cannot be an English word: after a noun such as
``Response``, in brackets, quotes or emphasis, or as a capital that neither follows a foreign noun
("Vitamin A") nor stands before one ("A good response").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pytest_judgesense.judgment import ABSTAIN, TIE, Unparsed, Verdict
from pytest_judgesense.replies.mentions import Mentions, Reading
from pytest_judgesense.replies.text import normal_form, peel
from pytest_judgesense.suites.space import DecisionSpace

__all__ = ["NOUN", "Vocabulary", "vocabulary_of"]

NOUN: Final = (
    r"(?:output|response|answer|assistant|option|model|summary|candidate|choice|text|completion"
    r"|reply|system|version|translation|story|essay|passage|document|argument|agent|chatbot"
    r"|article|description|solution|explanation|side|team|debater|speaker|sample|paragraph"
    r"|review|alternative|submission|ai|judge)"
)
_TIE_WORDS: Final = (
    "tie", "tied", "it is a tie", "it's a tie", "draw", "a draw", "a tie", "equal", "both",
    "both equal", "equally good", "equally bad", "both equally good", "both are equally good",
    "both are equally bad", "both are equal", "both are good", "both are bad", "neither",
    "neither is better", "no preference", "no difference", "same", "the same", "both the same",
    "equivalent", "they are equal", "they are equally good",
)  # fmt: skip
_ABSTAIN_WORDS: Final = (
    "abstain", "i abstain", "abstention", "cannot judge", "can't judge", "cannot decide",
    "can't decide", "cannot determine", "can't determine", "cannot say", "can't say",
    "cannot tell", "can't tell", "unable to judge", "unable to decide", "unable to determine",
    "undecided", "i cannot judge", "i can't judge", "i cannot decide", "i can't decide",
    "not enough information", "insufficient information", "cannot be determined",
)  # fmt: skip
_NUMBER_WORDS: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
)  # fmt: skip

# A capital letter is a mention after one of these words or after punctuation, and before one of
# those words or punctuation; elsewhere it may be an article or part of a name.
_BEFORE_LETTER: Final = re.compile(
    r"(?:^|[^\w ']|(?<!\w)(?:[a-z]|[a-z]+ly|course|case|short|is|are|was|be|been|that|than|over|to"
    r"|and|or|nor|neither|either|both|not|prefer|preferred|choose|chose|choosing|select|selected"
    r"|pick|picked|say|with|for|of|as|the|so|but|while|whereas|although|though|since|because"
    r"|therefore|thus|hence|then|however|overall|between|from|think|believe|feel|find|conclude"
    r"|vs\.?|versus|beats?|outperforms?|surpasses|favou?r|goes|by|if|whether|judge|vote|give|award"
    r"|makes?|making|declare|answer|answered|label|us|we|i|it's|it|recommend|towards?|rather"
    r"))[ ]?$",
    re.IGNORECASE,
)
_AFTER_LETTER: Final = re.compile(
    r"(?:'s)? ?(?:$|[^\w ']|(?:is|isn't|was|wasn't|are|wins|won|beats|outperforms|surpasses"
    r"|exceeds|outshines|prevails|has|does|doesn't|did|over|than|because|as|since|to|and|or|nor"
    r"|vs|versus|due|instead|rather|for|with|in|on|by|but|while|although|though|whereas|being"
    r"|would|should|will|can|could|may|might|must|seems|appears|remains|not|given|deserves|if"
    r"|when|[A-Z]|(?:clearly|definitely|easily|narrowly|slightly|also|still|simply|just|therefore)"
    r" (?:is|was|wins|won|beats|outperforms|surpasses|exceeds|outshines))(?![\w'])"
    r"|'s )"
)
_LINE_START: Final = re.compile(r"(?:^|\n)[^\w\n]*$")
_LINE_END: Final = re.compile(r"[^\w\n]*(?:\n|$)")
_AFTER_COLON: Final = re.compile(r"(?:[:=]|\bis)[^\w\n]*$", re.IGNORECASE)
_WINDOW: Final = 20

_EMPHASIS: Final = re.compile(r"[*`]+")
_SCALE: Final = re.compile(
    r"(?P<n>-?\d{1,9}(?:\.\d{1,9})?)(?: ?/ ?| out of )(?P<of>\d{1,9})(?:\.0)?"
)
_NUMBER: Final = (
    r"(?<![\w.,/])(?<![A-Za-z]-)-?\d{1,9}(?:\.\d{1,9})?"
    r"(?:(?: ?/ ?| out of )\d{1,9}(?:\.0)?)?(?!\w|%|[.,/]\d)"
)
_BARE_NUMBER: Final = re.compile(
    r"[^\w<>~+-]*(?:- )?[^\w<>~+-]*(" + _NUMBER + r")(?: (?:stars?|points?))?[^\w%+-]*",
)
_COMPARED: Final = re.compile(r"(?P<left>[^<>=]+)(?P<sign>[<>=])(?P=sign){0,2}(?P<right>[^<>=]+)")
_LONGEST_PHRASE: Final = 200


@dataclass(frozen=True, slots=True, eq=False)  # one a space, so identity is equality
class Vocabulary:
    """The words of one decision space.

    Attributes:
        phrases: what a whole text may say (in `normal_form`), and the verdict that it names.
        own: the labels and the names of this space alone, likewise.
        letters: the phrases of one letter.
        numbers: the labels by their value, if all labels are whole numbers; else empty.
        mention: finds the candidates for mentions inside a text.
        full_scale: finds "1 to 5" and the like, which name the scale and no label.
        slots: the two labels of a pairwise space, else empty.
        ties: whether a tie is something that this space can speak of.
    """

    phrases: Mapping[str, str]
    own: Mapping[str, str]
    letters: Mapping[str, str]
    numbers: Mapping[int, str]
    mention: re.Pattern[str]
    full_scale: re.Pattern[str] | None
    slots: tuple[str, ...]
    ties: bool

    def read(self, text: str) -> Reading | None:
        """What ``text`` as a whole names; ``None`` if it is no label (or more than one)."""
        if len(text) > 2 * _LONGEST_PHRASE:
            text = text.strip()
        if len(text) > 2 * _LONGEST_PHRASE:
            return None
        if self.numbers and (number := _BARE_NUMBER.fullmatch(text)):
            return self.number(number[1])
        core = peel(text)
        if self.numbers and (number := _BARE_NUMBER.fullmatch(_EMPHASIS.sub("", core))):
            return self.number(number[1])
        phrase = normal_form(core)
        value = self.phrases.get(phrase) or self._noun_phrase(phrase)
        return Verdict(value) if value else self._compared(core)

    def _compared(self, core: str) -> Reading | None:
        """What "A > B", "A << B" and "A = B" name in a pairwise space."""
        sides = _COMPARED.fullmatch(core) if self.slots else None
        if sides is None:
            return None
        left, right = self.read(sides["left"]), self.read(sides["right"])
        if not isinstance(left, Verdict) or not isinstance(right, Verdict) or left == right:
            return None
        if left.value not in self.slots or right.value not in self.slots:
            return None
        return {">": left, "<": right, "=": Verdict(TIE)}[sides["sign"]]

    def _noun_phrase(self, phrase: str) -> str | None:
        if not self.letters:
            return None
        found = re.fullmatch(rf"(?:the )?{NOUN} ?[(\[\"'*]*(\w)(?:[)\]\"'*]|'s {NOUN})*", phrase)
        return self.letters.get(found[1]) if found else None

    def number(self, text: str) -> Reading:
        """The reading of a number such as ``4``, ``4.0``, ``4/5`` or ``7`` in an ordinal space."""
        scale = _SCALE.fullmatch(text)
        if scale and int(scale["of"]) != max(self.numbers):
            return Unparsed(f"out of range: {text}")
        shown = scale["n"] if scale else text
        value = float(shown)
        if value.is_integer() and int(value) in self.numbers:
            return Verdict(self.numbers[int(value)])
        inside = min(self.numbers) <= value <= max(self.numbers)
        return Unparsed(f"{'not a label' if inside else 'out of range'}: {shown}")

    def extends(self, text: str) -> bool:
        """Whether ``text``, a label, is also how another label begins (``1`` and ``10``)."""
        core = peel(text)
        phrase = normal_form(core)
        return text.endswith(core) and any(
            longer != phrase and longer.startswith(phrase) and value != self.own.get(phrase)
            for longer, value in self.own.items()
        )

    def mark(self, text: str, mentions: Mentions) -> str:
        """``text`` with a private-use character of ``mentions`` in the place of each mention."""
        if self.full_scale is not None:
            text = self.full_scale.sub(" ", _EMPHASIS.sub("", text))
        return "".join(self._marked(text, mentions))

    def _marked(self, text: str, mentions: Mentions) -> Iterator[str]:
        position = 0
        for found in self.mention.finditer(text):
            reading = self._reading_of(text, found)
            if reading is not None:
                yield text[position : found.start()]
                yield mentions.code(reading)
                position = found.end()
        yield text[position:]

    def _reading_of(self, text: str, found: re.Match[str]) -> Reading | None:
        groups = found.groupdict()
        if groups.get("phrase"):
            return Verdict(self.phrases[normal_form(found["phrase"])])
        if groups.get("number"):
            return self.number(found["number"])
        for kind in ("noun_letter", "framed", "letter"):
            if groups.get(kind):
                return self._letter(text, found, kind)
        return None

    def _letter(self, text: str, found: re.Match[str], kind: str) -> Reading | None:
        letter = found[kind]
        value = self.letters.get(letter.lower())
        if value is None:
            return None
        before = text[max(0, found.start() - _WINDOW) : found.start()]
        after = text[found.end() : found.end() + _WINDOW]
        framed = kind == "framed" or (kind == "noun_letter" and not found[0].endswith(letter))
        alone = _LINE_END.match(after) and (
            _LINE_START.search(before) or _AFTER_COLON.search(before)
        )
        if framed or alone:
            return Verdict(value)
        if not _AFTER_LETTER.match(after):
            return None
        if kind == "noun_letter" or (letter.isupper() and _BEFORE_LETTER.search(before)):
            return Verdict(value)
        return None


def _phrase_pattern(phrases: list[str]) -> str:
    spelled = (
        r"[\s_-]".join(map(re.escape, phrase.split(" ")))
        for phrase in sorted(phrases, key=len, reverse=True)
    )
    return r"(?<![\w-])(?P<phrase>" + "|".join(spelled) + r")(?![\w-])"


def _mention_pattern(
    phrases: list[str], letters: Mapping[str, str], numbers: Mapping[int, str]
) -> re.Pattern[str]:
    kinds = [_phrase_pattern(phrases)] if phrases else []
    if letters:
        some = "[" + "".join(re.escape(c + c.upper()) for c in letters) + "]"
        frame, end = r"[\[({\"'*`_<>]{1,3}", r"[\])}\"'*`_<]{1,3}"
        kinds += [
            rf"(?<!\w){NOUN} (?:{frame})?(?P<noun_letter>{some})(?:{end})?(?!\w)(?!-\w)",
            rf"(?<!\w){frame}(?P<framed>{some}){end}(?!\w)",
            rf"(?<![\w'-])(?<!\w\.)(?P<letter>{some})(?!\w)(?!-\w)(?!\.\w)",
        ]
    if numbers:
        kinds.append(f"(?P<number>{_NUMBER})")
    return re.compile("|".join(kinds) or r"(?!)", re.IGNORECASE)


def _full_scale(numbers: Mapping[int, str]) -> re.Pattern[str] | None:
    if not numbers:
        return None
    low, high = min(numbers), max(numbers)
    note = r"(?: ?\([^()\n]{0,40}\))?"
    return re.compile(
        rf"(?<![\w.-]){low}{note} ?(?:-|to|through|and) ?{high}(?![\w.]){note}", re.IGNORECASE
    )


def _own(space: DecisionSpace) -> dict[str, str]:
    """The labels of ``space`` and its names for them; a phrase said twice means the first."""
    said = [(label, label) for label in space.labels]
    said += [(name, value) for value, names in space.names.items() for name in names]
    own: dict[str, str] = {}
    for phrase, value in said:
        own.setdefault(normal_form(phrase), value)
    return own


def _build(space: DecisionSpace) -> Vocabulary:
    own = _own(space)
    ties = space.pairwise or space.tie
    labels = space.labels
    numbers = {int(n): n for n in labels} if all(re.fullmatch(r"-?\d+", n) for n in labels) else {}
    # As `peel` leaves them: "Output (a)" loses its last bracket there.
    phrases = own | {normal_form(peel(phrase)) or phrase: value for phrase, value in own.items()}
    usual = {word: TIE for word in _TIE_WORDS if ties} | dict.fromkeys(_ABSTAIN_WORDS, ABSTAIN)
    usual |= {word: numbers[n] for n, word in enumerate(_NUMBER_WORDS) if n in numbers}
    letters = {p: value for p, value in own.items() if len(p) == 1 and p.isalpha()}
    inside = {p for p in own if p not in letters and not re.fullmatch(r"-?\d+", p)}
    inside |= {"abstain", "tie", "draw"} if ties else {"abstain"}
    return Vocabulary(
        phrases=usual | phrases,
        own=own,
        letters=letters,
        numbers=numbers,
        mention=_mention_pattern(sorted(inside), letters, numbers),
        full_scale=_full_scale(numbers),
        slots=labels if space.pairwise else (),
        ties=ties,
    )


@lru_cache(maxsize=64)
def _built(
    labels: tuple[str, ...],
    pairwise: bool,
    tie: bool,
    names: tuple[tuple[str, tuple[str, ...]], ...],
) -> Vocabulary:
    return _build(DecisionSpace(labels, pairwise=pairwise, tie=tie, names=dict(names)))


def vocabulary_of(space: DecisionSpace) -> Vocabulary:
    """The vocabulary of ``space``; built once for each space."""
    names = tuple(sorted((value, tuple(names)) for value, names in space.names.items()))
    return _built(space.labels, space.pairwise, space.tie, names)
