"""The preparation of a reply: thinking removed, one spelling of every character.

Everything here is linear in the length of any text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container
from itertools import chain, groupby, islice
from typing import Final

_SPELLINGS: Final = str.maketrans(
    "‘’‛“”„«»‐‑‒–−→⇒≫≪≈【】",
    '\'\'\'"""""-----::><=[]',
    "\u200b\u200c\u200d\u2060\ufeff\ufe0f\x00",
) | dict.fromkeys(map(ord, "—―"), " - ")  # these part clauses
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
    r"|<\|START_THINKING\|>|<\|channel\|>(?:analysis|commentary)[^<\n]{0,80}<\|message\|>)"
    r"|</(?:seed:)?(?:think|thinking|thought|reasoning|analysis|scratchpad)>|\[/THINK\]"
    r"|<\|END_THINKING\|>|<\|channel\|>final<\|message\|>",
    re.IGNORECASE | re.MULTILINE,
)
# Quotes and underscores are markup at the ends of words alone. Every branch begins with a fixed
# character, which makes the search fast.
_QUOTES: Final = re.compile(r"'(?<!\w')|'(?!\w)")
_QUOTES_AND_UNDERSCORES: Final = re.compile(rf"_(?<!\w_)_*|_(?<=[^\W_]_)_*(?!\w)|{_QUOTES.pattern}")
# Replaces removed parts that are not prose.
UNREADABLE: Final = "\ufffc"
# "<response_a>", "response_a": text under it may be a quotation of the judged text.
_BLOCK_NAME: Final = re.compile(r"(?:</?)?(?<!\w)[A-Za-z]{2,20}_[a-z0-9](?!\w)>?", re.IGNORECASE)
# The head of a section: the name of a block, complete or not, or a heading.
_BEGUN: Final = re.compile(r"</?[A-Za-z]{2,20}_[a-z0-9]>?|[^\n]*:", re.IGNORECASE)
_ABRUPT: Final = re.compile(r"(?:\w|[,(\-])$")
_LONGEST_END: Final = 30_000
_SHORTEST_CUT: Final = 12


def _without_long_runs_of_marks(text: str) -> str:
    # Normalisation sorts every run of combining marks, and its sort is quadratic: a hostile
    # reply is one such run. Unicode's stream-safe format allows 30 of them, so does this.
    runs = groupby(text, lambda char: unicodedata.combining(char) > 0)
    shortened = (islice(run, _MARKS_IN_A_ROW if marks else None) for marks, run in runs)
    return "".join(chain.from_iterable(shortened))


def tidy(text: str) -> str:
    r"""``text`` in one spelling.

    NFKC (full-width letters become plain ones), straight quotes, hyphens for dashes, single
    blanks, ``\n`` for line ends; special tokens of chat templates, quote marks at line starts and
    struck-out text are removed.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _without_long_runs_of_marks(text))
    if not text.isascii() or "\x00" in text:
        text = text.translate(_SPELLINGS)
    lines = text.splitlines()
    text = "\n".join([line.removeprefix(" ").removesuffix(" ") for line in lines])
    if not text.isascii() or any(blanks in text for blanks in ("  ", "\t", "\x1f")):
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
    if "<" not in text and "[" not in text:
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


def both_ends(text: str) -> str:
    """``text``, or its first and last 30,000 characters if it is more than twice as long."""
    if len(text) <= 2 * _LONGEST_END:
        return text
    # Whole words only: half a number is another number.
    head = text[:_LONGEST_END].rsplit(maxsplit=1)
    tail = text[-_LONGEST_END:].split(maxsplit=1)
    return f"{head[0]}\n{tail[-1]}"


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
    if "_" in text:
        text = _BLOCK_NAME.sub(lambda m: m[0] if m[0].casefold() in allowed else UNREADABLE, text)
        text = _QUOTES_AND_UNDERSCORES.sub("", text)
    elif "'" in text:
        text = _QUOTES.sub("", text)
    return text.replace("*", "").replace("`", "").replace('"', "")
