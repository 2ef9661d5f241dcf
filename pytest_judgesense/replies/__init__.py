r"""From the text of a judge's reply to its verdict: pure, linear in the text, and never a guess.

The rule is stated in docs/replies.md. In order: (1) characters are brought into one spelling, and
thinking blocks removed (`text`); (2) a reply that is nothing but one label is that verdict
(`labels`); (3) otherwise every statement of a verdict is collected (`formal`, `informal`), and (4)
the weightiest decide, or disagree (`statements`). (5) Where nothing is stated, an abstention counts
if the space permits it, and the outcome is `Unparsed` otherwise. A reply that was cut off gets a
verdict only if it had stated one in a sentence before the cut.

Reasons of `Unparsed`, a closed list:

=================================  ==========================================================
``empty reply``                    no text, or only blanks
``no verdict``                     nothing in it states a verdict
``several verdicts: A, B``         statements of the same weight disagree
``out of range: 7``                a number beyond the labels or the range of a score, or on
                                   another scale (``8/10``)
``not a label: 4.5``               a number between the labels
``tie not permitted``              a tie in a space without ties
``abstention not permitted``       "cannot judge" in a space without abstention
``refusal``                        the judge declines ("I'm sorry, I can't ...", "As an AI ...")
``cut off before the verdict``     the reply ends before it states one
=================================  ==========================================================
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pytest_judgesense.replies.formal import formal, from_last_object
from pytest_judgesense.replies.spellings import Labels, ParseOutcome, labels_of
from pytest_judgesense.replies.statements import Weight, beside_closing_form, decision
from pytest_judgesense.replies.text import (
    UNREADABLE,
    both_ends,
    ends_abruptly,
    only_begins,
    tidy,
    under_bare_thought,
    with_decimal_points,
    without_markup,
    without_thinking,
)
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import ABSTAIN, TIE, Unparsed, Verdict

CUT_OFF: Final = Unparsed("cut off before the verdict")
# Verdicts that a space need not permit.
_OPTIONAL: Final = {TIE: "tie", ABSTAIN: "abstention"}
# Characters of a reply that is worth keeping with its verdict.
_SHORT: Final = 80
_ITEM_NUMBER: Final = re.compile(r"(?m:^)[^\w\n]{0,3}\d{1,2}\.\Z")
_PARAGRAPH_ENDS: Final = re.compile(r"\n[^\S\n]*\n")
# A reply of so few words that is cut after a label was cut after its verdict ("Answer: A").
_FEW_WORDS: Final = 6


def parse_reply(
    text: str | None, space: DecisionSpace, *, truncated: bool = False
) -> Verdict | Unparsed:
    """The verdict that the reply ``text`` states, by the rule in the head of this module.

    Args:
        text: the reply; ``None`` if the endpoint sent none.
        space: the permitted answers. Labels and their names are matched in any case.
        truncated: whether the endpoint says that it cut the reply (``finish_reason: length``).

    Returns:
        The verdict (a label of ``space``, ``tie`` or ``abstain``), or `Unparsed`.
    """
    if text is None or not text.strip():
        return CUT_OFF if truncated else Unparsed("empty reply")
    read = _read if len(text) <= _SHORT else _read.__wrapped__
    return read(text, labels_of(space), space.verdicts, truncated)


@lru_cache(maxsize=1024)  # "A", "Verdict: A": a judge gives few short replies, and many times
def _read(
    text: str, labels: Labels, verdicts: tuple[str, ...], truncated: bool
) -> Verdict | Unparsed:
    answer, still_thinking = without_thinking(text)
    if still_thinking:
        concluded = None if truncated else _concluded(under_bare_thought(text) or "", labels)
        return CUT_OFF if concluded is None else _permitted(concluded, verdicts)
    symbols, candidates = labels.symbols, labels.candidates
    words = both_ends(tidy(both_ends(answer), symbols, candidates=candidates))
    if labels.score is not None:
        if truncated and words[-1:].isdigit():
            return CUT_OFF  # "0.7" may have gone on to 0.73
        words = with_decimal_points(words, labels.score)
    whole = labels.read_several(words)
    if truncated and isinstance(whole, Verdict) and (labels.extends(words) or only_begins(words)):
        return CUT_OFF
    stated = whole or _stated(words, labels, truncated=truncated)
    return _unstated(words, verdicts, truncated) if stated is None else _permitted(stated, verdicts)


def _concluded(thinking: str, labels: Labels) -> ParseOutcome | None:
    """The verdict that ends thinking of which the end is not known; ``None`` without one.

    The last JSON object that begins a line, the last line or the last paragraph: the first of them
    that is a verdict, or that states one as such. What ends in mid-sentence states none.
    """
    last_line = thinking.rstrip().rpartition("\n")[2]
    last_paragraph = _PARAGRAPH_ENDS.split(thinking.strip())[-1]
    for answer in (from_last_object(thinking), last_line, last_paragraph):
        words = both_ends(tidy(answer, labels.symbols, candidates=labels.candidates))
        stated = words and (labels.read_several(words) or _stated(words, labels, truncated=True))
        if stated:
            return stated
    return None


def _stated(words: str, labels: Labels, *, truncated: bool) -> ParseOutcome | None:
    """The outcome of the statements in ``words``; ``None`` if there are none."""
    # Most replies are a label alone, and the patterns of prose take time to compile.
    from pytest_judgesense.replies.informal import informal

    def read(value: str) -> ParseOutcome | None:
        prose = without_markup(value, labels.blocks)
        return labels.read(value) or decision([*informal(prose, labels)])

    statements, rest = formal(words, labels, read)
    if not truncated:
        prose = [*informal(rest, labels)]
        counted = beside_closing_form(prose, rest) if labels.numbers else prose
        return decision([*statements, *counted])
    if rest[-1:] not in ".!?" and (":" not in rest or rest.count(" ") > _FEW_WORDS):
        # The sentence that was cut may have gone on "is worse".
        rest = rest[: 1 + max(rest.rfind(end) for end in ("\n", ". ", "! ", "? "))]
        rest = _ITEM_NUMBER.sub("", rest)  # whose sentence was cut off
    statements += informal(f"{rest}\n{UNREADABLE}", labels)
    return decision([statement for statement in statements if statement.weight >= Weight.VERDICT])


def _permitted(outcome: ParseOutcome, verdicts: tuple[str, ...]) -> Verdict | Unparsed:
    value = outcome.value if isinstance(outcome, Verdict) else None
    if value in _OPTIONAL and value not in verdicts:
        return Unparsed(f"{_OPTIONAL[value]} not permitted")
    return outcome


def _unstated(words: str, verdicts: tuple[str, ...], truncated: bool) -> Verdict | Unparsed:
    """The outcome without any statement: an abstention, a refusal, cut off, or nothing."""
    from pytest_judgesense.replies.refusals import abstains, refuses

    if abstains(words):
        return _permitted(Verdict(ABSTAIN), verdicts)
    if refuses(words):
        return Unparsed("refusal")
    return CUT_OFF if truncated or ends_abruptly(words) else Unparsed("no verdict")
