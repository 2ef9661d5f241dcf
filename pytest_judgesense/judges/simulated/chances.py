"""The probabilities that the embedded judge serves with a reply, as endpoints state them. Pure.

With the logits of its decision model over K labels and the lapse rate l, the probability of a label
before temperature is::

    p(k) = l / K + (1 - l) softmax(logits)(k)

That is how often it gives the label at temperature 1, of the replies that state one. Without lapses
it gives k at temperature T with p(k)^(1/T), made to add up to 1; lapses are the same at every
temperature, so with them that holds at 1 alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pytest_judgesense.judges.simulated.grading import (
    answer_logits,
    form_asked_for,
    judge_answers,
    said_as,
)
from pytest_judgesense.judges.simulated.observer import ObservedPrompt, Observer
from pytest_judgesense.judges.simulated.parsing import ParsedPrompt, read_prompt

_PIECES: Final = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")
# OpenAI's value for a token of probability 0.
_NEVER: Final = -9999.0


def chances(observer: Observer, prompt: str) -> dict[str, float]:
    """The probability of each label as written; empty if the reply states none.

    So it is of speeches, of verdicts on debates, and of repaired replies.
    """
    parsed = read_prompt(prompt)
    logits = _logits(observer, parsed, prompt)
    if not logits:
        return {}
    top = max(logits.values())
    weights = {label: math.exp(logit - top) for label, logit in logits.items()}
    total, lapse = sum(weights.values()), observer.lapse_rate
    return {
        said_as(label, parsed): lapse / len(weights) + (1 - lapse) * weight / total
        for label, weight in weights.items()
    }


def _logits(observer: Observer, parsed: ParsedPrompt, prompt: str) -> Mapping[str, float]:
    observed = ObservedPrompt(prompt, parsed, 0.0, 0)
    for skill in observer.skills:
        if skill(observer, observed) is None:
            continue
        form = form_asked_for(parsed)
        if skill is not judge_answers or form is None:
            return {}
        return answer_logits(observer, parsed, reasoned=form[1])[0]
    return observer.logits(parsed)


def logprobs(text: str, chances: Mapping[str, float], most: int) -> dict[str, Any]:
    """The tokens of a reply in the form of OpenAI, with at most ``most`` alternatives each.

    The last label in the text is a separate token, with the labels as alternatives. Everything
    else could not have been said otherwise.
    """
    labels = "|".join(re.escape(label) for label in sorted(chances, key=len, reverse=True))
    mentions = [*re.finditer(rf"(?<!\w)(?:{labels})(?!\w)", text)] if labels else []
    start, end = mentions[-1].span() if mentions else (len(text), len(text))
    content = [*_plain(text[:start], most)]
    if mentions:
        ranked = sorted(chances.items(), key=lambda pair: -pair[1])
        label = text[start:end]
        top = [_stated(token, chance) for token, chance in ranked[:most]]
        content.append({**_stated(label, chances[label]), "top_logprobs": top})
    return {"content": [*content, *_plain(text[end:], most)]}


def _plain(text: str, most: int) -> Iterator[dict[str, Any]]:
    for piece in _PIECES.findall(text):
        alone = _stated(piece, 1.0)
        yield {**alone, "top_logprobs": [alone] if most else []}


def _stated(token: str, chance: float) -> dict[str, Any]:
    logprob = math.log(chance) if chance > 0 else _NEVER
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}
