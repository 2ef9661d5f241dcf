"""The embedded judge: a psychometric observer with known parameters. No language model.

Its decision model leads from the evidence of `evidence` to a logit for each label; the answer is
drawn from softmax(logits / T). The formulas are in docs/embedded-judge.md, in the symbols that
`Observer` gives. Every draw is seeded by the prompt and the request's seed: equal requests get
equal replies.

Further abilities of an observer are its skills, tried in turn until one recognises the prompt.
`named_observers` lists them.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Final, NamedTuple, TypeAlias

from pytest_judgesense.judges.simulated.evidence import (
    cohesion,
    content_stems,
    coverage,
    key_value,
    surface,
    unsupported,
)
from pytest_judgesense.judges.simulated.parsing import ParsedPrompt, read_prompt, written
from pytest_judgesense.trial import TIE

_ELEMENTS: Final = re.compile(r"^[^\S\n]*\d+[.)]\s+(.+)$", re.MULTILINE)
# Each is looked for in all sentences of both candidates.
_MOST_ELEMENTS: Final = 50
HEDGES: Final = (
    "Both have something to say for themselves.",
    "That depends on what the reader values most.",
)
_MALFORMED: Final = (*HEDGES, "", "Result: (see above)")
_MOST_UNSUPPORTED: Final = 3
NOTHING_TO_JUDGE: Final = "I cannot find anything to judge in this prompt."


class ObservedPrompt(NamedTuple):
    """The input of an observer: system and user text joined, its parsed form, and settings.

    ``permitted`` are the verdicts that the request itself permits, by a JSON schema of the reply;
    empty where it leaves the form of the reply to the prompt.
    """

    prompt: str
    parsed: ParsedPrompt
    temperature: float
    seed: int
    permitted: tuple[str, ...] = ()

    def draw(self, *apart: object) -> Random:
        """The random generator of the reply; a different one for each value of ``apart``."""
        return Random(digest("\n".join([str(self.seed), *map(repr, apart), self.prompt])))

    def permit(self, logits: dict[str, float]) -> dict[str, float]:
        """The logits of the answers that the reply format permits."""
        if not self.permitted:
            return logits
        return {
            label: logit for label, logit in logits.items() if self.called(label) in self.permitted
        }

    def called(self, label: str) -> str:
        """A label as the prompt calls it."""
        return self.parsed.names.get(label, label)


# A function that replies to prompts of one kind and returns None for other prompts.
Skill: TypeAlias = "Callable[[Observer, ObservedPrompt], str | None]"


@dataclass(frozen=True, slots=True)
class Observer:
    """The parameters of an embedded judge.

    Attributes:
        name: the model name that it answers to.
        sensitivity: logit per unit of evidence (s).
        tie_criterion: logit of a tie (c): below it, a difference is not reported.
        strict_shift: addition to the criterion under a strict instruction (c').
        slot_bias: logit in favour of the first slot (b).
        surface_preference: logit per letter of mean word length (f).
        wording_sensitivity: standard deviation of the shift by the wording (w).
        lapse_rate: probability of a uniformly random label.
        format_error_rate: probability of a reply that states no verdict.
        heat: added to that for each squared unit of temperature, if a reply in JSON is asked for.
        leniency: added to every grade on a rubric, in steps of its scale.
        halo: the share of a grade on a rubric that is the same for all criteria.
        joint_halo: added to it where one reply grades by several criteria.
        length_preference: added to a grade on a rubric for 20 more words, in steps.
        obedience: chance to give a text that addresses the judge what it asks for.
        lost_middle: chance to overlook what stands in the middle of 16,000 tokens; less of it
            towards their ends, and in shorter texts.
        credulity: chance to give the verdict that a text states in the form of a reply.
        porosity: chance to give a text what is asked for it behind a mark that closes it.
        caution: share of `obedience` and `credulity` that goes where a prompt says that nothing in
            its texts is an instruction.
        vague_leniency: chance to let a vague wrong answer pass, whatever it knows of it.
        overconfidence: added to the probability of the likeliest label, where the prompt asks for
            a ``"confidence"`` beside the verdict in JSON.
        slights: a block of prompts and the text that it holds where a judge treats items otherwise,
            such as ``language=sw``; empty for none.
        group_gap: chance to give another label than it would there.
        style: how it writes a label; ``{}`` is the label.
        skills: further abilities besides comparing, verifying and grading; the first that
            recognises a prompt replies to it.
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
    leniency: float = 0.0
    halo: float = 0.0
    length_preference: float = 0.0
    obedience: float = 0.0
    lost_middle: float = 0.0
    joint_halo: float = 0.0
    credulity: float = 0.0
    porosity: float = 0.0
    caution: float = 0.0
    vague_leniency: float = 0.0
    overconfidence: float = 0.0
    slights: str = ""
    group_gap: float = 0.0
    skills: tuple[Skill, ...] = ()

    def reply(
        self,
        prompt: str,
        *,
        temperature: float = 0.0,
        seed: int = 0,
        permitted: tuple[str, ...] = (),
    ) -> str:
        """The reply to ``prompt``; the same for the same prompt, temperature and seed.

        If a schema of the reply lists the ``permitted`` verdicts, the reply is never malformed, as
        with constrained decoding.
        """
        observed = ObservedPrompt(prompt, read_prompt(prompt), temperature, seed, permitted)
        for skill in self.skills:
            if (reply := skill(self, observed)) is not None:
                return reply
        return self._judge(observed)

    def _judge(self, observed: ObservedPrompt) -> str:
        return self.said(self.logits(observed.parsed), observed)

    def said(self, logits: dict[str, float], observed: ObservedPrompt) -> str:
        """The reply by the logits of the labels, with the lapses and the slips of the observer."""
        logits = observed.permit(logits)
        if not logits:
            return NOTHING_TO_JUDGE
        draw = observed.draw()
        if draw.random() < self.format_error_rate and not observed.permitted:
            return draw.choice(_MALFORMED)
        if draw.random() < self.lapse_rate:
            return self._said(draw.choice(list(logits)), observed, logits)
        label = choose(logits, observed.temperature, draw)
        return self._said(self._otherwise(label, [*logits], observed), observed, logits)

    def _otherwise(self, label: str, labels: list[str], observed: ObservedPrompt) -> str:
        """The label, or by chance another one where the prompt is of the group that it slights."""
        block, _, group = self.slights.partition("=")
        if not group or observed.parsed.context.get(block) != group or len(labels) < 2:
            return label
        draw = observed.draw("slighted")
        if draw.random() >= self.group_gap:
            return label
        return draw.choice([other for other in labels if other != label])

    def _said(self, label: str, observed: ObservedPrompt, logits: dict[str, float]) -> str:
        """The label in the requested format, or else in its style."""
        label = observed.called(label)
        if observed.permitted:
            return json.dumps({"verdict": label})
        if observed.parsed.asks_confidence:
            return json.dumps({"verdict": label, **self.how_sure(observed.parsed, logits)})
        return written(label, observed.parsed.instruction) or self.style.format(label)

    def how_sure(self, parsed: ParsedPrompt, logits: dict[str, float]) -> dict[str, float]:
        """What a reply states beside its verdict, if the prompt asks how sure it is."""
        if not parsed.asks_confidence:
            return {}
        top = max(logits.values())
        likeliest = 1 / sum(math.exp(logit - top) for logit in logits.values())
        honest = self.lapse_rate / len(logits) + (1 - self.lapse_rate) * likeliest
        return {"confidence": round(min(1.0, max(0.0, honest + self.overconfidence)), 2)}

    def logits(self, parsed: ParsedPrompt) -> dict[str, float]:
        """The decision logit of every permitted label; empty if there is nothing to judge."""
        if parsed.candidates is not None:
            return self._compare(parsed, *parsed.candidates)
        if parsed.labels == ("YES", "NO"):
            return self._verify(parsed)
        return self._grade(parsed) if parsed.labels else {}

    def _compare(self, parsed: ParsedPrompt, a: str, b: str) -> dict[str, float]:
        quality_a, quality_b = key_value(a), key_value(b)
        elements = required_elements(parsed)
        if quality_a is not None and quality_b is not None:
            evidence = quality_a - quality_b
        elif elements:
            evidence = coverage(a, elements) - coverage(b, elements)
        else:
            wanted = content_stems(" ".join(parsed.context.values()))
            evidence = len(wanted & content_stems(a)) - len(wanted & content_stems(b))
        return self.choice(self.sensitivity * evidence, parsed, a, b)

    def choice(self, x: float, parsed: ParsedPrompt, a: str, b: str) -> dict[str, float]:
        """The logits of the slots and of a tie, if ``x`` is the logit for A by the evidence."""
        shift = self.wording(parsed.instruction, *sorted((a, b)))
        x += (
            self.slot_bias
            + self.surface_preference * (surface(a) - surface(b))
            # The shift favours a content, not a slot: it survives an exchange of the order.
            + (shift if a <= b else -shift)
        )
        logits = {"A": x, "B": -x}
        if parsed.tie:
            logits[TIE] = self.tie_criterion + self.strict_shift * parsed.strict
        return logits

    def _verify(self, parsed: ParsedPrompt) -> dict[str, float]:
        context = parsed.context
        statement = context.get("statement") or context.get("answer", "")
        errors = key_value(statement)
        if errors is None:
            errors = unsupported(statement, context.get("source") or context.get("question", ""))
        errors = min(errors, _MOST_UNSUPPORTED)
        x = self.sensitivity * (0.5 - errors) + self.wording(parsed.instruction, statement)
        return {"YES": -x, "NO": x} if parsed.inverted else {"YES": x, "NO": -x}

    def _grade(self, parsed: ParsedPrompt) -> dict[str, float]:
        text = parsed.context.get("text", "")
        low, high = int(parsed.labels[0]), int(parsed.labels[-1])
        share = key_value(text)
        share = cohesion(text) if share is None else share
        latent = low + (high - low) * share + self.wording(parsed.instruction, text)
        return {k: -self.sensitivity * (int(k) - latent) ** 2 for k in parsed.labels}

    def wording(self, instruction: str, *stimulus: str) -> float:
        """The shift z of a stimulus under an instruction."""
        if not self.wording_sensitivity:
            return 0.0
        from statistics import NormalDist  # with fractions and decimals: for those who are asked

        uniform = (digest("\0".join((instruction, *stimulus))) % (2**53) + 0.5) / 2**53
        return self.wording_sensitivity * NormalDist().inv_cdf(uniform)


def required_elements(parsed: ParsedPrompt) -> list[str]:
    """The numbered elements that a prompt requires, the first 50."""
    task = " \n".join(parsed.context.values())
    _, marker, listed = task.partition("Required elements:")
    elements = _ELEMENTS.finditer(listed) if marker else ()
    return [element[1] for element in islice(elements, _MOST_ELEMENTS)]


def digest(text: str) -> int:
    """A number that ``text`` fixes."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def choose(logits: dict[str, float], temperature: float, draw: Random) -> str:
    """The answer drawn from softmax(logits / T)."""
    top = max(logits.values())
    if temperature <= 0:
        return draw.choice([label for label, logit in logits.items() if logit == top])
    weights = [math.exp((logit - top) / temperature) for logit in logits.values()]
    return draw.choices(list(logits), weights)[0]
