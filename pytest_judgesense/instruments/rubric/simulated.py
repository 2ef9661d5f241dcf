r"""How the embedded judge grades an output on a rubric, from the text of the prompt alone.

It does so where the prompt holds a block ``<output>`` and shows the form of the reply, an object
with a criterion under each key and ``N`` for its grade, from the range that the prompt names; the
last such form counts. With q_c the quality of the output by criterion c, from 0 to 1, and q their
mean over all criteria::

    latent_c = low + (high - low) ((1 - h) q_c + h q) + l + k (words - 80) / 20 + z_c
    logit    = -s (grade - latent_c)^2

h is the observer's halo, to which its `joint_halo` is added where the form has several criteria;
l is its leniency, k its length preference, s its sensitivity, z_c the shift by the wording. Of an
output that is known (`simulated.key`) q_c and q are known; of any other they are the share of the
task's terms that it takes up, the same for every criterion.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from random import Random
from typing import Final

from pytest_judgesense.instruments.rubric.grades import OVERALL
from pytest_judgesense.judges.simulated.evidence import key_value, query_share, words
from pytest_judgesense.judges.simulated.observer import ObservedPrompt, Observer, choose
from pytest_judgesense.judges.simulated.parsing import ParsedPrompt

_FORM: Final = re.compile(r'\{\s*"[^"{}]{1,60}":\s*N\b(?:,\s*"[^"{}]{1,60}":\s*N\b){0,30}\s*\}')
_KEY: Final = re.compile(r'"([^"]+)":')
_USUAL_LENGTH, _PER_WORDS = 80, 20


def grade_output(observer: Observer, question: ObservedPrompt) -> str | None:
    """The reply in JSON to a prompt with an output to be graded."""
    parsed = question.parsed
    logits = grade_logits(observer, parsed)
    if logits is None:
        return None
    draw, grades = question.draw(), {}
    for name, of_criterion in logits.items():
        grade = choose(of_criterion, question.temperature, draw)
        if draw.random() < observer.lapse_rate:
            grade = draw.choice(parsed.labels)
        grades[name] = int(grade)
    if draw.random() < observer.format_error_rate:
        return _malformed(grades, int(parsed.labels[-1]), draw)
    return observer.style.format(json.dumps(grades))


def grade_logits(observer: Observer, parsed: ParsedPrompt) -> dict[str, dict[str, float]] | None:
    """By criterion that a prompt asks for, the logits of its grades; ``None`` for other prompts."""
    forms = _FORM.findall(parsed.instruction)
    output = parsed.context.get("output")
    if not forms or output is None or len(parsed.labels) < 2:
        return None
    low, high = int(parsed.labels[0]), int(parsed.labels[-1])
    terms = " ".join(text for name, text in parsed.context.items() if name != "output")
    quality = {}
    for name in dict.fromkeys(_KEY.findall(forms[-1])):
        share = key_value(f"{name}: {output}")  # as the key holds the quality by a criterion
        quality[name] = query_share(output, terms) if share is None else share
    halo, mean = _halo(observer, output, quality)
    lift = observer.leniency
    lift += observer.length_preference * (len(words(output)) - _USUAL_LENGTH) / _PER_WORDS
    logits = {}
    for name, share in quality.items():
        latent = low + (high - low) * ((1 - halo) * share + halo * mean)
        latent += lift + observer.wording(parsed.instruction, output, name)
        logits[name] = {k: -observer.sensitivity * (int(k) - latent) ** 2 for k in parsed.labels}
    return logits


def _halo(observer: Observer, output: str, quality: Mapping[str, float]) -> tuple[float, float]:
    """How much a grade takes of the quality by all criteria, and that quality."""
    mean = sum(quality.values()) / len(quality)
    if len(quality) > 1:
        return observer.halo + observer.joint_halo, mean
    of_all = key_value(f"{OVERALL}: {output}")  # of the criteria that the call does not name
    return observer.halo, mean if of_all is None else of_all


def _malformed(grades: dict[str, int], high: int, draw: Random) -> str:
    """A reply that lacks a grade, or all of them, in one of the usual ways."""
    *rest, last = grades
    kinds = (
        json.dumps({name: grades[name] for name in rest}),
        json.dumps({**grades, last: 2 * high}),
        json.dumps(grades)[: -len(last) // 2 - 4],
        "All in all a decent piece of work.",
    )
    return kinds[draw.randrange(len(kinds))]
