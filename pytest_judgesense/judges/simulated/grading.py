r"""What the embedded judge makes of answers to a question, and how it replies in JSON.

It does so where the prompt holds a block ``<question>`` and shows the form of the reply,
``{"verdict": ...}`` or ``{"score": ...}``, with a ``"reason"`` first where one is asked for.

With r the content stems of what the prompt requires (the elements listed below the question and
those of a block ``<reference>``; failing both, the question itself), the support q of an answer is
the share of r that occurs in it. With s the sensitivity, a quarter more of it where a reason is
asked for:

- two answers: :math:`x = 4 s\,(q_A - q_B) + b + f\,(g_A - g_B) + z`, as in `observer`; logits
  :math:`x`, :math:`-x` and the criterion :math:`c` of a tie;
- one answer: :math:`-s\,(k - m)^2` for grade k, with :math:`m = 1 + 9 q + z`.

The answer is drawn with :math:`p(v) \propto \exp(a_v / T)`: the temperature of the request rescales
the logits and leaves their order. The reply is malformed with the probability
:math:`e + h\,T^2`, at most one half, where e is the format-error rate and h the heat of the
profile; under a prompt that asks for a reason h counts half. A malformed reply still shows what was
meant in one of two cases, and then whoever brings it into form finds it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from pytest_judgesense.judges.simulated.evidence import query_share

__all__ = [
    "REASONED_GAIN",
    "SUPPORT_SCALE",
    "form_asked_for",
    "malformed",
    "malformed_rate",
    "mended",
    "support",
    "written",
]

# Logits: one element of an answer weighs as much as a quarter of what is required.
SUPPORT_SCALE: Final = 4.0
REASONED_GAIN: Final = 1.25
_MOST_MALFORMED: Final = 0.5
_FORM: Final = re.compile(r'\{\s*(?P<reason>"reason":[^{}]*?,\s*)?"(?P<key>verdict|score)":')
_MENDING: Final = re.compile(r"\bBring the reply into form\b")
_HINT: Final = re.compile(r'"(?P<key>verdict|score)" => (?P<said>\w+)')
_HEDGES: Final = (
    "Both have something to say for themselves.",
    "That depends on what the reader values most.",
)


def form_asked_for(instruction: str, context: Mapping[str, str]) -> tuple[str, bool] | None:
    """Key of the JSON reply and whether a reason comes first; ``None`` for another prompt."""
    found = _FORM.search(instruction) if "question" in context else None
    return (found["key"], found["reason"] is not None) if found else None


def support(answer: str, elements: Sequence[str], context: Mapping[str, str]) -> float:
    """Share of what the prompt requires that occurs in ``answer``."""
    required = [*elements, context.get("reference", "")]
    wanted = "\n".join(text for text in required if text)
    return query_share(answer, wanted or context.get("question", ""))


def written(key: str, said: str, reason: str | None) -> str:
    """The reply in its form."""
    value: dict[str, str | int] = {} if reason is None else {"reason": reason}
    value[key] = int(said) if key == "score" else said
    return json.dumps(value)


def malformed_rate(base: float, heat: float, temperature: float, *, reasoned: bool) -> float:
    """Probability of a malformed reply."""
    share = heat / 2 if reasoned else heat
    return min(_MOST_MALFORMED, base + share * temperature**2)


def malformed(key: str, said: str, reason: str | None, draw: Random) -> str:
    """A reply that states no verdict in a form that a reader takes."""
    if draw.random() < 0.5:
        opening = "" if reason is None else f'"reason" => {reason} '
        return f'{opening}"{key}" => {said} //'
    if draw.random() < 0.5:
        text = written(key, said, reason or "The answers")
        return text[: len(text) // 3]
    return draw.choice(_HEDGES)


def mended(prompt: str, context: Mapping[str, str]) -> str | None:
    """The reply to a request to bring a reply into form; ``None`` for any other prompt."""
    if "reply" not in context or not _MENDING.search(prompt):
        return None
    found = _HINT.search(context["reply"])
    return written(found["key"], found["said"], None) if found else '{"verdict": "none"}'
