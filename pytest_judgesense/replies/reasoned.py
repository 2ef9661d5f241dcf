r"""What the reasoning of a reply concludes, to be held against the verdict of its JSON object.

The object is the verdict (`parse_reply`). Reasoning that concludes with another verdict makes the
reply worth a look, and reports count it. Only what is a conclusion in so many words counts:
``[[B]]`` and its like, "Verdict: B", "Therefore, B is better", and a last sentence that is nothing
but "B is better". What weighs ("B is better in style", "B is better, but ...", a conclusion that
is taken back) is none, for it may well end in the verdict of the object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pytest_judgesense.replies.formal import formal, json_objects
from pytest_judgesense.replies.informal import sentences_of
from pytest_judgesense.replies.spellings import NOUN, Labels, agreed, labels_of
from pytest_judgesense.replies.statements import StatedVerdict, Weight
from pytest_judgesense.replies.text import both_ends, tidy, without_thinking
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Verdict

_I: Final = re.IGNORECASE
# Keys under which an object says why.
_REASONING_KEYS: Final = frozenset(
    """
    reason reasons reasoning explanation rationale analysis justification thought thoughts comment
    comments feedback critique
    """.split()
)
_CONCLUDING: Final = re.compile(
    r"(?:therefore|thus|hence|so|consequently|as a result|in conclusion|to conclude|in summary"
    r"|overall|ultimately|in the end|all in all|on balance|for (?:these|this) reasons?)[,:]? ",
    _I,
)
_OPINING: Final = re.compile(
    r"(?:i|we) (?:conclude|decide|find|judge|believe|think),? (?:that )?", _I
)
# No "answer": that of the question ("The answer is B, as response A says") is another one.
_UNDER_A_KEY: Final = re.compile(
    r"(?:(?:my|our|the) )?(?:(?:final|overall) )?(?:verdict|winner|judge?ment|preference|decision)"
    r"(?: ?[:=]| is:?| goes to) ?(?P<label>[^,;:]{1,40})",
    _I,
)
_DEGREES: Final = (
    "clearly|vastly|far|much|significantly|substantially|considerably|greatly|hugely|markedly"
    "|noticeably|decidedly|overwhelmingly|definitely|certainly|slightly|marginally|simply|the|an?"
)
_IS_BETTER: Final = re.compile(
    rf"(?P<label>[^,;:]{{1,40}}?) (?:wins|(?:is|was) (?:(?:{_DEGREES}) ){{0,3}}"
    r"(?:better|best|superior|stronger|strongest|preferred|preferable|winner)"
    rf"(?: {NOUN}| one)?)"
    r"(?: overall| by far| across the board| on (?:every|all) counts?"
    r"| in (?:every|all) (?:respects?|ways?|regards?|aspects?))?"
    r"(?: than (?P<other>[^,;:]{1,40}?))?(?:,? (?:because|since|due to)(?!\w).*)?",
    _I,
)
# What the prompt may call what is compared, and what has such a name itself.
_CALLED: Final = re.compile(
    r"(?:the )?(?!(?:class|grade|group|hepatitis|part|plan|schedule|series|type|vitamin) )"
    r"[^\W\d_]{2,20} (?=\w$)",
    _I,
)
# Words after which a conclusion may be taken back, or holds in part.
_TURNS: Final = re.compile(
    r"\b(?:but|however|yet|although|though|while|whereas|except|unless|if|still|nevertheless"
    r"|nonetheless|despite|instead|wait|actually|hm+|correction|reconsider\w*|on second thoughts?"
    r"|on reflection|that said|on the other hand|in contrast)\b",
    _I,
)
_FENCE: Final = re.compile(r"```\w{0,12}\s*$")
_TAG: Final = re.compile(r"<[^<>\n]{1,40}>|\[/?THINK\]")


def reasoned_verdict(text: str, space: DecisionSpace) -> str | None:
    """The verdict that the reasoning of a reply with one JSON object concludes with.

    Reasoning is what is said before the object, under its keys for reasons, and in the last
    sentence of thinking.

    Returns:
        The verdict; ``None`` if the reasoning concludes with none, or with several.
    """
    if "{" not in text:
        return None
    answer, still_thinking = without_thinking(text)
    objects = list(json_objects(answer))
    if still_thinking or len(objects) != 1:
        return None  # drafts and examples are not told from the verdict
    start, _, value = objects[0]
    if value is None:
        return None
    labels = labels_of(space)
    before = _FENCE.sub("", answer[:start])
    parts = [_last_thought(text, answer), before, *_reasons(value)]
    concluded = {_concluded(part, labels) for part in parts} - {None}
    return concluded.pop() if len(concluded) == 1 else None


def _last_thought(text: str, answer: str) -> str:
    """The last sentence of the thinking before ``answer``: what is thought earlier is weighed."""
    thinking = _TAG.sub("\n", text.removesuffix(answer)) if text.endswith(answer) else ""
    sentences = sentences_of(thinking.strip())
    return sentences[-1][1] if sentences else ""


def _reasons(value: Mapping[str, Any]) -> Iterator[str]:
    for key, reason in value.items():
        if isinstance(reason, str) and str(key).strip().lower() in _REASONING_KEYS:
            yield reason


def _concluded(part: str, labels: Labels) -> str | None:
    """The verdict that a part of the reasoning concludes with; ``None`` without one."""
    if not part.strip():
        return None
    words = both_ends(tidy(both_ends(part), labels.symbols, candidates=labels.candidates))
    statements, prose = formal(words, labels, labels.read)
    statements = [stated for stated in statements if stated.weight >= Weight.VERDICT]
    statements += _conclusions(prose, labels)
    if not statements:
        return None
    outcome = agreed([stated.outcome for stated in statements])
    last = max(stated.position for stated in statements)
    if not isinstance(outcome, Verdict) or _TURNS.search(prose, last):
        return None
    return outcome.value


def _conclusions(prose: str, labels: Labels) -> Iterator[StatedVerdict]:
    """The sentences that are conclusions, whole."""
    # "Here is my verdict:" leads to the object.
    sentences = [(start, text) for start, text in sentences_of(prose) if text[-1:] != ":"]
    for number, (start, sentence) in enumerate(sentences):
        claim = _OPINING.sub("", _CONCLUDING.sub("", sentence.strip(), count=1), count=1)
        claim = claim.rstrip(" .!")
        is_last = number == len(sentences) - 1
        under_a_key, better = _UNDER_A_KEY.fullmatch(claim), _IS_BETTER.fullmatch(claim)
        if under_a_key:
            outcome = labels.read(under_a_key["label"])
        elif better and labels.candidates and (is_last or _CONCLUDING.match(sentence.strip())):
            outcome = _better(better, labels)
        else:
            continue
        if outcome is not None:
            yield StatedVerdict(start, Weight.VERDICT, outcome)


def _better(claim: re.Match[str], labels: Labels) -> Verdict | None:
    """The candidate that ``claim`` says is better, if what it is better than is the other one."""
    outcomes = [
        labels.read(name) or labels.read(_CALLED.sub("", name, count=1))
        for name in (claim["label"], claim["other"])
        if name is not None
    ]
    better = outcomes[0]
    return better if isinstance(better, Verdict) and None not in outcomes else None
