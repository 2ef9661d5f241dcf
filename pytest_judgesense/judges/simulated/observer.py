r"""The embedded judge: a psychometric observer with known parameters. No language model.

Decision model, from the evidence of `evidence` to the logits of the labels:

- two candidates: :math:`x = s\,(e_A - e_B) + b + f\,(g_A - g_B) + w\,z`, with :math:`e` the
  number of required elements that a candidate covers (or, where the prompt lists none, of query
  stems that it holds) and :math:`g` its surface feature; logits :math:`x` for A, :math:`-x` for
  B and the criterion :math:`c` for a tie where one is permitted (:math:`c + c'` under a strict
  instruction);
- YES/NO: :math:`x = s\,(1/2 - u) + w\,z`, with :math:`u` the unsupported stems of the statement,
  at most 3; logits :math:`x` and :math:`-x`, exchanged under an inverted instruction;
- a range: latent score :math:`m = lo + (hi - lo)\,cohesion + w\,z`; logit
  :math:`-s\,(k - m)^2` for label :math:`k`.

:math:`z` is a standard normal draw that the instruction and the stimulus fix (not the order of
the candidates): a reworded instruction shifts the same stimulus a little. The answer is drawn
from softmax(logits / T); T = 0 takes the largest. Then lapses and format errors.

Debates are scored by side and category instead: see `debate`. Answers to a question, with a reply
in JSON, are judged by `grading`.

Every draw is seeded by the prompt and the request's seed: equal requests get equal replies.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from pytest_judgesense.errors import unknown_name
from pytest_judgesense.judges.simulated.debate import (
    debate_judgment,
    malformed_judgment,
    speech,
    speech_wanted,
)
from pytest_judgesense.judges.simulated.evidence import (
    cohesion,
    content_stems,
    coverage,
    surface,
    unsupported,
)
from pytest_judgesense.judges.simulated.grading import (
    REASONED_GAIN,
    SUPPORT_SCALE,
    form_asked_for,
    malformed,
    malformed_rate,
    mended,
    support,
    written,
)
from pytest_judgesense.judges.simulated.reading import Reading, read_prompt
from pytest_judgesense.trial import TIE

__all__ = ["PROFILES", "Observer", "observer_named"]

_ELEMENTS: Final = re.compile(r"^\s*\d+[.)]\s+(.+)$", re.MULTILINE)
_MALFORMED: Final = (
    "Both have something to say for themselves.",
    "That depends on what the reader values most.",
    "",
    "Result: (see above)",
)
_MOST_UNSUPPORTED: Final = 3


@dataclass(frozen=True, slots=True)
class Observer:
    """The parameters of an embedded judge.

    Attributes:
        name: the model name that it answers to.
        sensitivity: logit per unit of evidence (s).
        tie_criterion: logit of a tie (c): below it, a difference is not reported.
        strict_shift: what a strict instruction adds to the criterion (c').
        slot_bias: logit in favour of the first slot (b).
        surface_preference: logit per letter of mean word length (f).
        wording_sensitivity: standard deviation of the shift by the wording (w).
        lapse_rate: probability of a uniformly random label.
        format_error_rate: probability of a reply that states no verdict.
        heat: what the square of the temperature adds to that, where a reply in JSON is asked for.
        style: how it writes a label; ``{}`` stands for the label.
    """

    name: str
    sensitivity: float = 3.0
    tie_criterion: float = 1.5
    strict_shift: float = 0.0
    slot_bias: float = 0.0
    surface_preference: float = 0.0
    wording_sensitivity: float = 0.0
    lapse_rate: float = 0.0
    format_error_rate: float = 0.0
    heat: float = 0.0
    style: str = "{}"

    def reply(self, prompt: str, *, temperature: float = 0.0, seed: int = 0) -> str:
        """The reply to ``prompt``; the same for the same prompt, temperature and seed."""
        reading = read_prompt(prompt)
        draw = random.Random(_digest(f"{seed}\n{prompt}"))
        if wanted := speech_wanted(prompt):
            return speech(reading.context, wanted, draw)
        if (mended_reply := mended(prompt, reading.context)) is not None:
            return mended_reply
        if "transcript" in reading.context:
            return self._judge_debate(reading, temperature, draw)
        if form := form_asked_for(reading.instruction, reading.context):
            # Replies at two temperatures are as independent as those at one.
            draw = random.Random(_digest(f"{seed}\n{temperature!r}\n{prompt}"))
            return self._judge_answers(reading, form, temperature, draw)
        logits = self.logits(reading)
        if not logits:
            return "I cannot find anything to judge in this prompt."
        if draw.random() < self.format_error_rate:
            return draw.choice(_MALFORMED)
        if draw.random() < self.lapse_rate:
            return self.style.format(draw.choice(list(logits)))
        return self.style.format(_choose(logits, temperature, draw))

    def _judge_debate(self, reading: Reading, temperature: float, draw: random.Random) -> str:
        transcript = reading.context["transcript"]
        value = debate_judgment(
            reading.context,
            reading.instruction,
            draw,
            sensitivity=self.sensitivity,
            temperature=temperature,
            shift=self.slot_bias + self._wording(reading.instruction, transcript),
            lapse_rate=self.lapse_rate,
        )
        if draw.random() < self.format_error_rate:
            return malformed_judgment(value, draw)
        return self.style.format(json.dumps(value, separators=(",", ":")))

    def _judge_answers(
        self, reading: Reading, form: tuple[str, bool], temperature: float, draw: random.Random
    ) -> str:
        key, reasoned = form
        logits, reason = self.answer_logits(reading, reasoned=reasoned)
        if not logits:
            return "I cannot find anything to judge in this prompt."
        said = _choose(logits, temperature, draw)
        if draw.random() < self.lapse_rate:
            said = draw.choice(list(logits))
        called = "C" if said == TIE and '"C"' in reading.instruction else said
        told = reason if reasoned else None
        rate = malformed_rate(self.format_error_rate, self.heat, temperature, reasoned=reasoned)
        if draw.random() < rate:
            return malformed(key, called, told, draw)
        return self.style.format(written(key, called, told))

    def answer_logits(self, reading: Reading, *, reasoned: bool) -> tuple[dict[str, float], str]:
        """The logits of a prompt about answers to a question, and a reason in a few words."""
        gain = self.sensitivity * (REASONED_GAIN if reasoned else 1.0)
        elements = _elements(reading)
        if reading.candidates is None:
            answer = reading.context.get("answer", "")
            share = support(answer, elements, reading.context)
            latent = 1 + 9 * share + self._wording(reading.instruction, answer)
            logits = {str(k): -gain * (k - latent) ** 2 for k in range(1, 11)}
            return logits, f"Support {share:.2f}."
        a, b = reading.candidates
        q_a, q_b = (support(text, elements, reading.context) for text in (a, b))
        x = gain * SUPPORT_SCALE * (q_a - q_b) + self._leaning(reading, a, b)
        logits = {"A": x, "B": -x}
        if reading.tie:
            logits[TIE] = self.tie_criterion + self.strict_shift * reading.strict
        return logits, f"Support {q_a:.2f} and {q_b:.2f}."

    def logits(self, reading: Reading) -> dict[str, float]:
        """The decision logit of every permitted label; empty if there is nothing to judge."""
        if reading.candidates is not None:
            return self._compare(reading, *reading.candidates)
        if reading.labels == ("YES", "NO"):
            return self._verify(reading)
        return self._grade(reading) if reading.labels else {}

    def _compare(self, reading: Reading, a: str, b: str) -> dict[str, float]:
        elements = _elements(reading)
        if elements:
            evidence = coverage(a, elements) - coverage(b, elements)
        else:
            wanted = content_stems(" ".join(reading.context.values()))
            evidence = len(wanted & content_stems(a)) - len(wanted & content_stems(b))
        x = self.sensitivity * evidence + self._leaning(reading, a, b)
        logits = {"A": x, "B": -x}
        if reading.tie:
            logits[TIE] = self.tie_criterion + self.strict_shift * reading.strict
        return logits

    def _leaning(self, reading: Reading, a: str, b: str) -> float:
        """What speaks for slot A beside the evidence."""
        shift = self._wording(reading.instruction, *sorted((a, b)))
        return (
            self.slot_bias
            + self.surface_preference * (surface(a) - surface(b))
            # The shift favours a content, not a slot: it survives an exchange of the order.
            + (shift if a <= b else -shift)
        )

    def _verify(self, reading: Reading) -> dict[str, float]:
        statement = reading.context.get("statement", "")
        source = reading.context.get("source", "")
        errors = min(unsupported(statement, source), _MOST_UNSUPPORTED)
        x = self.sensitivity * (0.5 - errors) + self._wording(reading.instruction, statement)
        return {"YES": -x, "NO": x} if reading.inverted else {"YES": x, "NO": -x}

    def _grade(self, reading: Reading) -> dict[str, float]:
        text = reading.context.get("text", "")
        low, high = int(reading.labels[0]), int(reading.labels[-1])
        latent = low + (high - low) * cohesion(text) + self._wording(reading.instruction, text)
        return {k: -self.sensitivity * (int(k) - latent) ** 2 for k in reading.labels}

    def _wording(self, instruction: str, *stimulus: str) -> float:
        if not self.wording_sensitivity:
            return 0.0
        uniform = (_digest("\0".join((instruction, *stimulus))) % (2**53) + 0.5) / 2**53
        return self.wording_sensitivity * NormalDist().inv_cdf(uniform)


def _elements(reading: Reading) -> list[str]:
    task = " \n".join(reading.context.values())
    _, marker, listed = task.partition("Required elements:")
    return _ELEMENTS.findall(listed) if marker else []


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def _choose(logits: dict[str, float], temperature: float, draw: random.Random) -> str:
    top = max(logits.values())
    if temperature <= 0:
        return draw.choice([label for label, logit in logits.items() if logit == top])
    weights = [math.exp((logit - top) / temperature) for logit in logits.values()]
    return draw.choices(list(logits), weights)[0]


PROFILES: Final = {
    observer.name: observer
    for observer in (
        Observer("clean", sensitivity=3.0, tie_criterion=1.5, strict_shift=0.5, heat=0.004),
        Observer(
            "mixed",
            sensitivity=1.2,
            tie_criterion=0.1,
            strict_shift=0.95,
            slot_bias=0.28,
            surface_preference=1.5,
            wording_sensitivity=0.2,
            lapse_rate=0.02,
            heat=0.008,
            style="Answer: {}",
        ),
        Observer(
            "positional",
            sensitivity=0.8,
            tie_criterion=0.3,
            strict_shift=0.8,
            slot_bias=1.6,
            surface_preference=0.3,
            wording_sensitivity=0.1,
            heat=0.006,
            style="**{}**",
        ),
        Observer(
            "noisy",
            sensitivity=0.8,
            tie_criterion=0.5,
            strict_shift=0.5,
            slot_bias=0.1,
            surface_preference=0.4,
            wording_sensitivity=0.9,
            lapse_rate=0.1,
            format_error_rate=0.05,
            heat=0.012,
            style="My verdict: {}.",
        ),
    )
}


def observer_named(profile: str) -> Observer:
    """The built-in profile of that name; raises `UsageError` with the valid names otherwise."""
    if profile not in PROFILES:
        raise unknown_name("profile of the embedded judge", profile, PROFILES)
    return PROFILES[profile]
