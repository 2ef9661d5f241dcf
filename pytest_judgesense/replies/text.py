"""The preparation of a reply: thinking removed, one spelling of every character.

Everything here is linear in the length of any text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container
from functools import lru_cache
from itertools import chain, groupby, islice
from typing import Final

from pytest_judgesense.trial import ScoreRange

# What is neither ASCII nor a letter, a digit or a blank: punctuation, symbols and combining marks.
_SIGN: Final = re.compile(r"[^\w\s\x00-\x7f]")
_SPELLINGS: Final = {
    **dict.fromkeys("‘’‛‚´′", "'"),
    **dict.fromkeys("—―", " - "),  # these part clauses
    "∶": ":", "\u2212": "-", "≫": ">", "≪": "<", "≈": "=", "【": "[", "】": "]",
}  # fmt: skip
# Parts of the names of signs, and what such a sign is spelled as: the first that holds.
_BY_NAME: Final = (
    ("DECIMAL SEPARATOR", "."),
    ("THOUSANDS SEPARATOR", ","),
    ("QUESTION", "? "),
    ("INTERROBANG", "? "),
    ("INVERTED EXCLAMATION", " "),
    ("EXCLAMATION", "! "),
    ("SEMICOLON", "; "),
    ("COLON", ": "),
    ("COMMA", ", "),
    ("PERCENT", "%"),
    ("PER MILLE", "%"),
    ("PER TEN", "%"),
    ("IDEOGRAPHIC FULL STOP", ". "),
    ("FULLWIDTH FULL STOP", "."),  # it is also a decimal point
    *(
        (name, ". ")
        for name in ("FULL STOP", "DANDA", "SHAD", "SECTION", "KHAN", "PASUQ", "END OF")
    ),
)
_BY_CATEGORY: Final = {"Pd": "-", "Ps": "(", "Pe": ")", "Pi": '"', "Pf": '"', "Cf": "", "Me": ""}
# A box that was not ticked is before what was not chosen.
_OPEN_BOX: Final = re.compile(r"\[ \] ?(?=[\w*\"'])|[☐□▢◻⬜]")
_TICKED_BOX: Final = re.compile(r"\[[xX✓✔✅☑]\uFE0F?\] ?(?=[\w*\"'])")
# The root and the multiplication sign, which stand for a check mark and a cross.
_TICK: Final = re.compile(r"(?<!\d)(?<!\d )[√×](?! ?[\d(])")
# What a cross, a thumb that points down, or a red circle is called.
_REJECTING: Final = re.compile(
    "CROSS MARK|BALLOT X|MULTIPLICATION|SALTIRE|CANCELLATION|THUMBS DOWN|LARGE RED|NO ENTRY"
)
_MARKS_IN_A_ROW: Final = 30
_BLANKS: Final = re.compile(r"[^\S\n]+")
_SPECIAL_TOKENS: Final = re.compile(r"<\|[^<>|\n]{1,40}\|>|</?s>|\[/?INST\]")
_STRUCK_OUT: Final = re.compile(r"~~[^~\n]{1,200}~~")
_QUOTE_MARKS: Final = re.compile(r"^(?:> )+", re.MULTILINE)
_TEXT_COMMAND: Final = re.compile(r"\\(?:text|textbf|mathrm|mathbf|textit)\{([^{}\n]{0,80})\}")
# As tags, and as the special tokens of single models, which some servers leave in the text.
_THINKING: Final = re.compile(
    r"(?:^[ \t\ufeff\u200b]*|(?<=>)[ \t]*)"
    r"(?P<open><(?:seed:)?(?:think|thinking|thought|reasoning|analysis|scratchpad)>|\[THINK\]"
    r"|◁think▷|<\|START_THINKING\|>|<\|channel\|>(?:analysis|commentary)[^<\n]{0,80}<\|message\|>)"
    r"|</(?:seed:)?(?:think|thinking|thought|reasoning|analysis|scratchpad)>|\[/THINK\]"
    r"|◁/think▷"
    r"|<\|END_THINKING\|>|<\|channel\|>final<\|message\|>",
    re.IGNORECASE | re.MULTILINE,
)
# Some servers leave the name of a thinking block alone: where it ends is not known.
_BARE_THOUGHT: Final = re.compile(r"\s{0,9}(?:thought|thinking)[^\S\n]{0,9}\n", re.IGNORECASE)
# Quotes and underscores are markup at the ends of words alone. Every branch begins with a fixed
# character, which makes the search fast.
_QUOTES: Final = re.compile(r"'(?<!\w')|'(?!\w)")
_QUOTES_AND_UNDERSCORES: Final = re.compile(rf"_(?<!\w_)_*|_(?<=[^\W_]_)_*(?!\w)|{_QUOTES.pattern}")
# "I can't help", quoted, is what somebody else says.
_QUOTED_SPEECH: Final = re.compile(r'"(?:I|We|As an|Sorry)(?!\w)[^"\n]{0,200}"')
# "Answer A states: 'the winner is A'"
_REPORTED: Final = re.compile(
    r"\b(?:states|claims|argues|asserts)[:,] '[^'\n]{1,200}'(?!\w)", re.IGNORECASE
)
# Replaces removed parts that are not prose.
UNREADABLE: Final = "\ufffc"
# "<response_a>", "response_a": text under it may be a quotation of the judged text.
_BLOCK_NAME: Final = re.compile(r"(?:</?)?(?<!\w)[A-Za-z]{2,20}_[a-z0-9](?!\w)>?", re.IGNORECASE)
# The head of a section: the name of a block, complete or not, or a heading.
_BEGUN: Final = re.compile(r"</?[A-Za-z]{2,20}_[a-z0-9]>?|[^\n]*:", re.IGNORECASE)
_ABRUPT: Final = re.compile(r"(?:\w|[,(\-])$")
_LONGEST_END: Final = 30_000
# ".73", and "0,73" without a further comma or point beside it.
_BARE_POINT: Final = re.compile(r"(?<![\w.,])\.(?=\d)")
_DECIMAL_COMMA: Final = re.compile(
    r"(?<![\w.,])(?P<whole>[-+]?\d{1,9}),(?P<decimals>\d{1,9})(?![\d]|[.,]\d)"
)
_THOUSANDS: Final = 3
_SHORTEST_CUT: Final = 12


def _without_long_runs_of_marks(text: str) -> str:
    # Normalisation sorts every run of combining marks, and its sort is quadratic: a hostile
    # reply is one such run. Unicode's stream-safe format allows 30 of them, so does this.
    runs = groupby(text, lambda char: unicodedata.combining(char) > 0)
    shortened = (islice(run, _MARKS_IN_A_ROW if marks else None) for marks, run in runs)
    return "".join(chain.from_iterable(shortened))


@lru_cache(maxsize=4096)
def _spelling(sign: str) -> str:
    """The ASCII signs that mean what ``sign`` means; a symbol is decoration, and a blank.

    Combining marks stay, for they belong to letters, and mathematical symbols, for they change
    what a number says.
    """
    if sign in _SPELLINGS:
        return _SPELLINGS[sign]
    category, name = unicodedata.category(sign), unicodedata.name(sign, "")
    if category == "Po":
        for part, spelling in _BY_NAME:
            if part in name:
                return spelling
    if category == "So" and "QUESTION MARK" in name:
        return "? "
    if "RIGHTWARDS" in name and "ARROW" in name:
        return ":"
    normal = unicodedata.normalize("NFKC", sign)
    if normal != sign:
        return normal if normal.isascii() else _SIGN.sub(lambda match: _spelling(match[0]), normal)
    if category in ("Po", "So", "Sk"):
        return " "
    return "" if name.startswith("VARIATION SELECTOR") else _BY_CATEGORY.get(category, sign)


def symbols_of(text: str) -> set[str]:
    """The symbols in ``text``, which are decoration unless a label is spelled with them."""
    return {sign for sign in _SIGN.findall(text) if unicodedata.category(sign) == "So"}


def in_ascii_signs(text: str, symbols: Container[str] = (), *, candidates: bool = False) -> str:
    """``text`` in NFKC, with the signs of ASCII for those of any script; see `tidy`."""
    if text.isascii():
        return text

    def spelled(match: re.Match[str]) -> str:
        sign = match[0]
        if sign in symbols or sign == UNREADABLE:
            return sign
        rejects = candidates and _REJECTING.search(unicodedata.name(sign, ""))
        return (
            UNREADABLE if rejects else " " if _TICK.match(text, match.start()) else _spelling(sign)
        )

    text = _without_long_runs_of_marks(text)
    return unicodedata.normalize("NFKC", _SIGN.sub(spelled, text))


def tidy(text: str, symbols: Container[str] = (), *, candidates: bool = False) -> str:
    r"""``text`` in one spelling.

    NFKC (full-width letters become plain ones), the punctuation of any script as that of ASCII, no
    symbols but those in ``symbols``, single blanks, ``\n`` for line ends; special tokens of chat
    templates, quote marks at line starts and struck-out text are removed. An open tick box becomes
    `UNREADABLE`, and so does a cross or its like where labels are ``candidates``: it rejects one.
    """
    if "[" in text or not text.isascii():
        text = _TICKED_BOX.sub(" ", _OPEN_BOX.sub(UNREADABLE, text))
    text = in_ascii_signs(text, symbols, candidates=candidates)
    text = text.replace("\x00", "")
    lines = text.splitlines()
    text = "\n".join([line.removeprefix(" ").removesuffix(" ") for line in lines])
    if "  " in text or "\t" in text or "\x1f" in text or not text.isascii():
        text = _BLANKS.sub(" ", text)
    if "<" in text or "[" in text:
        text = _SPECIAL_TOKENS.sub(" ", text)
    if "~~" in text:
        text = _STRUCK_OUT.sub(" ", text)
    if "> " in text:
        text = _QUOTE_MARKS.sub("", text)
    return (_TEXT_COMMAND.sub(r"\1", text) if "\\" in text else text).strip()


def without_thinking(text: str) -> tuple[str, bool]:
    """``text`` without its thinking blocks, and whether the last of them never ends.

    A closing tag without an opening one ends thinking that began in the prompt: all before it
    goes. An opening tag counts only at the start of a line or right after another tag, for a
    judge may write about tags.
    """
    if _BARE_THOUGHT.match(text):
        return "", True
    if not ("<" in text or "[" in text or "◁" in text):
        return text.strip(), False
    answer: list[str] = []
    position = 0
    thinking = False
    for tag in _THINKING.finditer(text):
        if tag["open"] is None:
            if not thinking:
                answer.clear()
            thinking, position = False, tag.end()
        elif not thinking:
            answer.append(text[position : tag.start()])
            thinking = True
    if not thinking:
        answer.append(text[position:])
    return "".join(answer).strip(), thinking


def under_bare_thought(text: str) -> str | None:
    """What stands under a first line ``thought`` or ``thinking``; ``None`` without such a line.

    It is thinking, and the answer may follow in it.
    """
    name = _BARE_THOUGHT.match(text)
    return None if name is None else text[name.end() :]


def both_ends(text: str) -> str:
    """``text``, or its first and last 30,000 characters if it is more than twice as long."""
    if len(text) <= 2 * _LONGEST_END:
        return text
    # Whole words only: half a number is another number.
    head = text[:_LONGEST_END].rsplit(maxsplit=1)
    tail = text[-_LONGEST_END:].split(maxsplit=1)
    return f"{head[0]}\n{tail[-1]}"


def with_decimal_points(text: str, score: ScoreRange) -> str:
    """``text`` with ``0.73`` for ``.73``, and for ``0,73`` where its comma is surely a decimal one.

    It is one behind a zero, and before digits that are no score by themselves (``7,25`` of 0 to
    10). ``7,5`` may be two scores, and ``1,250`` a thousand: they stay as they are.
    """

    def pointed(match: re.Match[str]) -> str:
        whole, decimals = match["whole"], match["decimals"]
        thousands = len(decimals) == _THOUSANDS and whole.lstrip("+-") != "0"
        alone = decimals[0] != "0" and score.holds(float(decimals))
        is_decimal = whole.lstrip("+-") == "0" or not (alone or thousands)
        return f"{whole}.{decimals}" if is_decimal else match[0]

    return _DECIMAL_COMMA.sub(pointed, _BARE_POINT.sub("0.", text))


def ends_abruptly(text: str) -> bool:
    """Whether ``text`` looks cut: several words, and the last sentence does not end."""
    unclosed = text.startswith(("{", "```")) and text.count("{") > text.count("}")
    return unclosed or (bool(_ABRUPT.search(text)) and text.count(" ") >= _SHORTEST_CUT)


def only_begins(text: str) -> bool:
    """Whether ``text`` is only the name of a block or a heading, and so incomplete."""
    return _BEGUN.fullmatch(text) is not None


def is_block_name(text: str) -> bool:
    """Whether ``text`` looks like the name of a block, such as ``response_a``."""
    return _BLOCK_NAME.fullmatch(text) is not None


def without_markup(text: str, allowed: Container[str] = ()) -> str:
    """``text`` without emphasis and quotes; names of blocks of the prompt become `UNREADABLE`.

    Those in ``allowed`` (case folded) stay: they name candidates.
    """
    if '"' in text:
        text = _QUOTED_SPEECH.sub(UNREADABLE, text)
    if ": '" in text or ", '" in text:
        text = _REPORTED.sub(UNREADABLE, text)
    if "_" in text:
        text = _BLOCK_NAME.sub(lambda m: m[0] if m[0].casefold() in allowed else UNREADABLE, text)
        text = _QUOTES_AND_UNDERSCORES.sub("", text)
    elif "'" in text:
        text = _QUOTES.sub("", text)
    return text.replace("*", "").replace("`", "").replace('"', "")
