"""How the labels of one decision space are spelled.

An outcome is what a piece of text names: a verdict, or the reason why it names none (a number
beyond the scale, several labels at once). Only whole pieces are read, never a word inside a
sentence: callers cut out the piece first. So the English word "a" is not a label.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from pytest_judgesense.replies.text import in_ascii_signs, is_block_name, symbols_of
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import ABSTAIN, TIE, ScoreRange, Unparsed, Verdict, score_text

ParseOutcome: TypeAlias = Verdict | Unparsed

_NOUNS: Final = (
    "output|response|answer|assistant|option|model|summary|candidate|choice|text|completion|reply"
    "|system|version|translation|story|essay|passage|document|argument|agent|solution|explanation"
    "|side|team|debater|speaker|sample|paragraph|review|alternative|submission"
)
NOUN: Final = f"(?:{_NOUNS})"
_TIES: Final = (
    "tie", "tied", "it is a tie", "it's a tie", "draw", "a draw", "a tie", "equal",
    "both equal", "equally good", "equally bad", "both equally good", "both are equally good",
    "both are equally bad", "both are equal", "both are good", "both are bad",
    "neither is better", "no preference", "no difference", "same", "the same", "both the same",
    "equivalent", "they are equal", "they are equally good",
)  # fmt: skip
_ABSTENTIONS: Final = (
    "abstain", "i abstain", "abstention", "undecided", "not enough information",
    "insufficient information", "cannot be determined",
    *(
        f"{who}{cannot} {judge}"
        for who in ("", "i ")
        for cannot in ("cannot", "can't", "unable to")
        for judge in ("judge", "decide", "determine", "say", "tell")
    ),
)  # fmt: skip

_LONGEST: Final = 200
_SHORT: Final = 24
_PERCENT: Final = 100
_MOST_SHOWN: Final = 5
# Around the number of "[[4]]/5" and "**4**/5".
_AFTER_NUMBER: Final = re.compile(r"[\])*]")
_OF_NO_NUMBER: Final = r"[^\w<>~+?\u2264\u2265\u2260\xac\xb1\xd7\xf7\u221a-]*"
# What is counted, where it follows a grade.
_UNITS: Final = (
    "stars?|points?|marks?|[Pp]unkte?n?|puntos?|pontos?|étoiles?|балл(?:а|ов)?|分|点|點|점|星"
)
_NUMBER: Final = re.compile(
    rf"{_OF_NO_NUMBER}(?P<dash>- )?{_OF_NO_NUMBER}"
    r"(?P<shown>(?P<n>[-+]?[0-9]{1,9}(?:\.[0-9]{1,20})?)"
    r"(?:[\])*]{0,3}(?: ?/ ?| out of )(?P<of>[0-9]{1,9})(?:\.0)?)?)"
    rf"(?P<percent> ?%)?(?: ?(?:{_UNITS}))?[^\w%+?-]*"
)
# A label whose value counts, and not its spelling: "1" for 1.0.
_NUMBER_LABEL: Final = re.compile(r"-?\d{1,9}(?:\.\d{1,9})?")
# "<3" and ">3" are bounds, and ".3" is a fraction; "<3>" and "=> 3" are not.
_BOUND: Final = re.compile(
    r"(?:[^\w<>]|[=-]>)*(?:[\u2264\u2265\xb1]|<(?![^\w<>]*\d[^<>]*>)|(?<![=-])>"
    r"|\.(?=\d))[^\w<>]*\d"
)
# Written so that every branch begins with given characters, which makes the search fast.
_SEPARATOR: Final = re.compile(
    r"[\n,;/|&]|-(?<=\d-)(?=\d)|[aotvAOTV](?<!\w\w)(?i:(?<=a)nd|(?<=o)r|(?<=t)o|(?<=v)s\.?"
    r"|(?<=v)ersus)\b"
)
_SEPARATING: Final = frozenset({"or", "and", "to", "vs", "versus"})
_NOUN_PHRASE: Final = re.compile(rf"(?:the )?{NOUN} ?[(\[\"'*]*(\w)(?:[)\]\"'*]|'s {NOUN})*")

_OPENERS: Final = " \n\t*_`\"'.,;:(){}[]<>|/\\$#="
_CLOSERS: Final = f"{_OPENERS}!"
_AROUND: Final = f"{_OPENERS}{_CLOSERS}-+"
# "{a}": a placeholder of a prompt.
_PLACEHOLDER: Final = re.compile(r"(?<!\w)\{[a-z]\}")
_BULLET: Final = re.compile(r"[-+](?: |(?=\*\*))")
_FENCE: Final = re.compile(r"```\w{0,12}\n?")
_TAGGED: Final = re.compile(r"<(\w{1,20})>([^<>]{1,200})</\1>")
_BOXED: Final = re.compile(r"\\boxed ?\{([^{}]{1,200})\}")
_JOINTS: Final = re.compile(r"(?<=[^\W_])[_-]+(?=[^\W_])")
_EMPHASIS: Final = re.compile(r"[*`]+")
# A fence, a tag or a box before the first word would be peeled off.
_FIRST_WORDS: Final = re.compile(r"[^\w`<\\]*([^\W_]+)(?: ([^\W_]+))?")
_SHELLS: Final = re.compile(r"[`<>=\\]")
# Words of "the output (a)'s output" and of "4 out of 5 points".
_LONGEST_NOUN_PHRASE: Final = 4
_LONGEST_NUMBER: Final = 5


@dataclass(frozen=True, slots=True, eq=False)  # one a space, so identity is equality
class Labels:
    """The spellings of one decision space.

    Attributes:
        phrases: whole texts, as `_normal` writes them, and the verdicts that they name.
        spoken: the labels and the names of this space alone.
        letters: the phrases of one letter.
        blocks: those that look like the name of a block of the prompt, such as "model_a".
        numbers: the labels by their value, if all labels are numbers; else empty.
        score: the range within which every number is a verdict; ``None`` for labels alone.
        slots: the two labels of a pairwise space, else empty.
        candidates: whether labels name what is compared: slots, or letters from A on.
        symbols: those that are part of a label or a name; all others are decoration.
        openings: the first words of texts that name a verdict, except numbers, and what may follow
            each of them.
        most_words: maximum number of words of such a text, without the punctuation around it.
    """

    phrases: Mapping[str, str]
    spoken: Mapping[str, str]
    letters: Mapping[str, str]
    blocks: frozenset[str]
    numbers: Mapping[float, str]
    score: ScoreRange | None
    slots: tuple[str, ...]
    candidates: bool
    symbols: frozenset[str]
    openings: Mapping[str, set[str]]
    most_words: int

    @property
    def signed(self) -> bool:
        """Whether some label is a number below zero."""
        return bool(self.numbers) and min(self.numbers) < 0

    def may_begin(self, text: str) -> bool:
        """Whether ``text`` may be a label as a whole, by its first two words: most end here."""
        return self.reach(text) >= len(text)

    def reach(self, text: str) -> int:
        """Where a label at the beginning of ``text`` ends at the latest, by its first two words.

        0 if none begins it; the end of the first word if the second does not go on with a label.
        """
        words = _FIRST_WORDS.match(text)
        if words is None or not words[0].isascii():
            return len(text)
        first, second = words[1].lower(), words[2]
        if first in _SEPARATING or (self.numbers and first[0].isdigit()):
            return len(text)
        seconds = self.openings.get(first)
        if seconds is None:
            return 0
        return words.end(1) if second and second.lower() not in seconds else len(text)

    def read(self, text: str) -> ParseOutcome | None:
        """The label that ``text`` is as a whole; ``None`` if it is not a label (or several)."""
        return _read_short(self, text) if len(text) <= _SHORT else self._read_long(text)

    def _read_long(self, text: str) -> ParseOutcome | None:
        return self._read(text) if self.may_begin(text) else None

    def _read(self, text: str) -> ParseOutcome | None:
        if len(text) > 2 * _LONGEST and len(text := text.strip()) > 2 * _LONGEST:
            return None
        if "{" in text and _PLACEHOLDER.search(text):
            return None
        words = text.strip(_AROUND).split(None, self.most_words)
        if len(words) > self.most_words and not _SHELLS.search(text):
            return None
        if self.numbers and _BOUND.match(text):
            return None
        core = _peeled(text)
        for shown in (text, _EMPHASIS.sub("", core)) if self.numbers else ():
            if number := _NUMBER.fullmatch(shown):
                return self._number(number)
        phrase = _normal(core)
        value = self.phrases.get(phrase)
        if value is None and self.letters and (noun := _NOUN_PHRASE.fullmatch(phrase)):
            value = self.letters.get(noun[1])
            # "Output (a)" is no label "A", unless it is one of two slots.
            if value and value.isupper() and not self.slots and core[1:].islower():
                return None
        if value is None and any(symbol in core for symbol in self.symbols):
            return self._beside_symbols(core)
        return None if value is None else Verdict(value)

    def _beside_symbols(self, core: str) -> ParseOutcome | None:
        """The outcome of a label beside symbols that are names of labels."""
        symbols = [self.phrases.get(sign) for sign in core if sign in self.symbols]
        beside = "".join(sign for sign in core if sign not in self.symbols)
        named = [Verdict(value) for value in symbols if value is not None]
        label = self._read(beside) if beside.strip(_AROUND) else None
        if len(named) < len(symbols) or (label is None and beside.strip(_AROUND)):
            return None
        return agreed([*named, label] if label else named)

    def read_several(self, text: str) -> ParseOutcome | None:
        """The outcome of a ``text`` of one label, or of only different labels."""
        short = len(text) <= _SHORT
        return _read_several_short(self, text) if short else self._read_several_long(text)

    def _read_several_long(self, text: str) -> ParseOutcome | None:
        if not self.may_begin(text):
            return None
        whole = self._read(text)
        if whole is not None or len(text) > _LONGEST:
            return whole
        different: dict[ParseOutcome, None] = {}
        parts = _SEPARATOR.split(text)
        for part in parts if len(parts) > 1 else ():
            if part.strip():
                outcome = self.read(part)
                if outcome is None:
                    return None
                different[outcome] = None
        return agreed([*different]) if len(different) > 1 else None

    def extends(self, text: str) -> bool:
        """Whether ``text``, a label, is also how another label begins (``1`` and ``10``)."""
        core = _peeled(text)
        phrase = _normal(core)
        return text.endswith(core) and any(
            longer != phrase and longer.startswith(phrase) and value != self.spoken.get(phrase)
            for longer, value in self.spoken.items()
        )

    def _number(self, number: re.Match[str]) -> ParseOutcome | None:
        """The outcome of ``4``, ``4.0``, ``4/5`` or ``7``."""
        unclear = number["dash"] if self.signed else number["n"].startswith("+")
        if unclear:
            return None
        if self.score is not None and (stated := _stated_score(number, self.score)) is not None:
            return _scored(stated, number["shown"], self.score)
        if number["percent"] and max(self.numbers) != _PERCENT:
            return None
        if number["of"] and int(number["of"]) != max(self.numbers):
            return Unparsed(f"out of range: {_AFTER_NUMBER.sub('', number['shown'])}")
        value = float(number["n"])
        if value in self.numbers:
            return Verdict(self.numbers[value])
        inside = min(self.numbers) <= value <= max(self.numbers)
        return Unparsed(f"{'not a label' if inside else 'out of range'}: {number['n']}")


def _stated_score(number: re.Match[str], score: ScoreRange) -> float | None:
    """The number that ``0.73``, ``73/100``, ``73%`` or ``4`` is; ``None`` on another scale.

    A fraction and a per cent are numbers from 0 to 1; where a score ends elsewhere they are only
    counted in its own steps (``73/100`` and ``73%`` of 0 to 100).
    """
    value = float(number["n"])
    whole = float(number["of"] or (_PERCENT if number["percent"] else 0))
    if not whole or whole == score.high:
        return value
    return value / whole if score == ScoreRange(0, 1) else None


def _scored(value: float, shown: str, score: ScoreRange) -> ParseOutcome:
    """The verdict of a number within the range; else that it is out of it."""
    if score.holds(value):
        return Verdict(score_text(value))
    return Unparsed(f"out of range: {_AFTER_NUMBER.sub('', shown)}")


@lru_cache(maxsize=1024)  # "A", "Verdict": the same few in nearly every reply
def _read_short(labels: Labels, text: str) -> ParseOutcome | None:
    return labels._read_long(text)


@lru_cache(maxsize=1024)
def _read_several_short(labels: Labels, text: str) -> ParseOutcome | None:
    return labels._read_several_long(text)


def agreed(outcomes: Sequence[ParseOutcome]) -> ParseOutcome:
    """The one outcome that all ``outcomes`` are; else that they are several."""
    if outcomes.count(outcomes[0]) == len(outcomes):
        return outcomes[0]
    shown = [r.value if isinstance(r, Verdict) else r.reason.split(": ")[-1] for r in outcomes]
    values = sorted({value for some in shown for value in some.split(", ")} - {"..."})
    listed = values if len(values) <= _MOST_SHOWN else [*values[:_MOST_SHOWN], "..."]
    return Unparsed("several verdicts: " + ", ".join(listed))


def _peeled(text: str) -> str:
    """``text`` without the punctuation, Markdown, brackets, tags and fences around it."""
    text = _FENCE.sub("", text).strip()
    while True:
        before = text
        whole = _TAGGED.fullmatch(text) or _BOXED.fullmatch(text.strip("$ "))
        text = whole[whole.re.groups] if whole else text
        text = _BULLET.sub("", text, count=1) if _BULLET.match(text) else text
        if "\\boxed" not in text:
            # A dash between blanks parted a symbol from the label.
            text = text.lstrip(_OPENERS).rstrip(_CLOSERS).removesuffix(" -")
        if text == before:
            return text


def _normal(text: str) -> str:
    """``text`` as phrases are compared: case folded, single blanks between words."""
    return _JOINTS.sub(" ", " ".join(text.casefold().split()))


def labels_of(space: DecisionSpace) -> Labels:
    """The spellings of ``space``; built once for each space."""
    names = tuple((value, tuple(names)) for value, names in space.names.items())
    return _built(space.labels, space.pairwise, space.tie, names, space.score)


@lru_cache(maxsize=64)
def _built(
    labels: tuple[str, ...],
    pairwise: bool,
    tie: bool,
    names: tuple[tuple[str, tuple[str, ...]], ...],
    score: ScoreRange | None = None,
) -> Labels:
    written = (*labels, *(phrase for _, phrases in names for phrase in phrases))
    symbols = frozenset(symbol for phrase in written for symbol in symbols_of(phrase))
    spoken: dict[str, str] = {}
    for label in labels:
        spoken.setdefault(_normal(in_ascii_signs(label, symbols)), label)
    for value, phrases in sorted(names):  # independent of the order of the suite's table
        for phrase in phrases:
            spoken.setdefault(_normal(in_ascii_signs(phrase, symbols)), value)
    numeric = all(map(_NUMBER_LABEL.fullmatch, labels))
    numbers = {float(n): n for n in labels} if numeric else {}
    numbers = numbers if len(numbers) == len(labels) else {}
    usual = dict.fromkeys(_TIES, TIE) if pairwise or tie else {}
    usual |= dict.fromkeys(_ABSTENTIONS, ABSTAIN)
    usual |= {"nope": spoken["no"]} if "no" in spoken else {}
    # As they are after peeling: "Output (a)" loses its last bracket there.
    peeled = {_normal(_peeled(phrase)) or phrase: value for phrase, value in spoken.items()}
    all_phrases = usual | spoken | peeled
    letters = {p: value for p, value in spoken.items() if len(p) == 1 and p.isalpha()}
    openings: dict[str, set[str]] = {}
    for phrase in all_phrases:
        if words := _FIRST_WORDS.match(phrase):
            openings.setdefault(words[1], set(_SEPARATING)).add(words[2])
    if letters:
        nouns = {noun + letter for noun in _NOUNS.split("|") for letter in ("", *letters)}
        for noun in nouns:
            openings.setdefault(noun, set(_SEPARATING)).update(letters)
        openings.setdefault("the", set()).update(nouns)
    return Labels(
        phrases=all_phrases,
        spoken=spoken,
        letters=letters,
        blocks=frozenset(spelling.casefold() for spelling in written if is_block_name(spelling)),
        numbers=numbers,
        score=score,
        slots=labels if pairwise else (),
        candidates=pairwise or "a" in letters,
        symbols=symbols,
        openings=openings,
        most_words=max(
            _LONGEST_NUMBER if numbers else _LONGEST_NOUN_PHRASE,
            *(len(phrase.split()) for phrase in all_phrases),
        ),
    )
