"""The built-in profiles of the embedded judge, and how all of them judge answers to a question.

They reply in JSON if the prompt holds a block ``<question>`` and shows the format of the reply,
``{"verdict": ...}``, ``{"score": ...}`` or ``{"judge_result": ...}``, with a ``"reason"`` or
``"judge_reason"`` first if one is asked for. The support q of an answer is the share of the
required content stems that occur in it: those of the ``Required elements:`` below the question and
of a ``<reference>``; without both, those of the question. With s' = s, or 1.25 s if a reason is
asked for, and the other symbols of docs/embedded-judge.md: ::

    two answers    x = 4 s' (q_A - q_B) + b + f (g_A - g_B) + z;  logits x, -x, and c for a tie
    one answer     logit(k) = -s' (k - m)^2 for grade k, with m = 1 + 9 q + z
    temperature T  p(v) proportional to exp(logit(v) / T): it leaves the order of the logits
    malformed      with probability e + h T^2, at most 1/2; h counts half where a reason is asked

e is the ``format_error_rate``, h the ``heat``. Half of the malformed replies still show the
intended verdict, and a repair finds it; the others are cut off or state nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any, Final

from pytest_judgesense.errors import unknown_name
from pytest_judgesense.judges.simulated.evidence import key_value, query_share
from pytest_judgesense.judges.simulated.observer import (
    HEDGES,
    NOTHING_TO_JUDGE,
    ObservedPrompt,
    Observer,
    Skill,
    choose,
    required_elements,
)
from pytest_judgesense.judges.simulated.parsing import ParsedPrompt
from pytest_judgesense.trial import TIE

# Logits: one element of an answer counts as a quarter of the required content.
_SUPPORT_SCALE: Final = 4.0
_REASONED_GAIN: Final = 1.25
_MOST_MALFORMED: Final = 0.5
_KEYS: Final = r"verdict|score|judge_result"
_FORM: Final = re.compile(
    rf'\{{\s*(?P<reason>"(?:judge_)?reason":[^{{}}]*?,\s*)?"(?P<key>{_KEYS})":'
)
_REPAIRING: Final = re.compile(r"\bBring the reply into form\b")
_HINT: Final = re.compile(rf'"(?P<key>{_KEYS})" => (?P<said>[A-Za-z]+|\d{{1,9}})')


def form_asked_for(parsed: ParsedPrompt) -> tuple[str, bool] | None:
    """Key of the JSON reply and whether a reason comes first; ``None`` for another prompt."""
    form = _FORM.search(parsed.instruction) if "question" in parsed.context else None
    return (form["key"], form["reason"] is not None) if form else None


def support(answer: str, elements: Sequence[str], context: Mapping[str, str]) -> float:
    """Share of the required content that occurs in ``answer``; for a known answer from the key."""
    if (share := key_value(answer)) is not None:
        return share
    required = [*elements, context.get("reference", "")]
    wanted = "\n".join(text for text in required if text)
    return query_share(answer, wanted or context.get("question", ""))


def judge_answers(observer: Observer, observed: ObservedPrompt) -> str | None:
    """The reply in JSON to a prompt about answers to a question."""
    parsed = observed.parsed
    form = form_asked_for(parsed)
    if form is None or (form[0] == "verdict" and parsed.candidates is None):
        return None
    key, reasoned = form
    if observed.permitted:
        key, reasoned = "verdict", False
    logits, grounds = answer_logits(observer, parsed, reasoned=reasoned)
    logits = observed.permit(logits)
    if not logits:
        return NOTHING_TO_JUDGE
    # Replies at two temperatures are as independent as those at one.
    draw = observed.draw(observed.temperature)
    verdict = choose(logits, observed.temperature, draw)
    if draw.random() < observer.lapse_rate:
        verdict = draw.choice(list(logits))
    if observed.permitted:
        return _written(key, verdict, None)
    label = said_as(verdict, parsed)
    reason = grounds if reasoned else None
    sure = observer.how_sure(parsed, logits)
    rate = malformed_rate(
        observer.format_error_rate, observer.heat, observed.temperature, reasoned=reasoned
    )
    if draw.random() < rate:
        return _malformed(key, label, reason, draw)
    return observer.style.format(_written(key, label, reason, sure))


def said_as(verdict: str, parsed: ParsedPrompt) -> str:
    """How a verdict is called: a tie by the letter that the prompt has for it, if it has one."""
    asks = form_asked_for(parsed) is not None
    return "C" if asks and verdict == TIE and '"C"' in parsed.instruction else verdict


def answer_logits(
    observer: Observer, parsed: ParsedPrompt, *, reasoned: bool
) -> tuple[dict[str, float], str]:
    """The logits of a prompt about answers to a question, and a reason in a few words."""
    gain = observer.sensitivity * (_REASONED_GAIN if reasoned else 1.0)
    elements = required_elements(parsed)
    if parsed.candidates is None:
        answer = parsed.context.get("answer", "")
        share = support(answer, elements, parsed.context)
        latent = 1 + 9 * share + observer.wording(parsed.instruction, answer)
        logits = {str(k): -gain * (k - latent) ** 2 for k in range(1, 11)}
        return logits, f"Support {share:.2f}."
    a, b = parsed.candidates
    q_a, q_b = (support(text, elements, parsed.context) for text in (a, b))
    logits = observer.choice(gain * _SUPPORT_SCALE * (q_a - q_b), parsed, a, b)
    return logits, f"Support {q_a:.2f} and {q_b:.2f}."


def _written(
    key: str, label: str, reason: str | None, sure: Mapping[str, float] | None = None
) -> str:
    """The reply in its form; ``sure``: what it states of its confidence."""
    value: dict[str, str | int] = {} if reason is None else {_reason_key(key): reason}
    value[key] = int(label) if label.isdecimal() else label
    return json.dumps({**value, **(sure or {})})


def _reason_key(key: str) -> str:
    return "judge_reason" if key == "judge_result" else "reason"


def malformed_rate(base: float, heat: float, temperature: float, *, reasoned: bool) -> float:
    """Probability of a malformed reply."""
    share = heat / 2 if reasoned else heat
    return min(_MOST_MALFORMED, base + share * temperature**2)


def _malformed(key: str, label: str, reason: str | None, draw: Random) -> str:
    """A reply that states no verdict in a form that a reader takes."""
    if draw.random() < 0.5:
        opening = "" if reason is None else f'"{_reason_key(key)}" => {reason} '
        return f'{opening}"{key}" => {label} //'
    if draw.random() < 0.5:
        text = _written(key, label, reason or "The answers")
        return text[: len(text) // 3]
    return draw.choice(HEDGES)


def _contradicts(key: str, label: str) -> bool:
    """Whether a grade is no number, or a verdict is one."""
    return key != "judge_result" and (key == "score") != label.isdecimal()


def repair(_: Observer, observed: ObservedPrompt) -> str | None:
    """The reply to a request to bring a reply into form."""
    malformed = observed.parsed.context.get("reply")
    if malformed is None or not _REPAIRING.search(observed.prompt):
        return None
    hint = _HINT.search(malformed)
    if hint is None or _contradicts(hint["key"], hint["said"]):
        return '{"verdict": "none"}'
    return _written(hint["key"], hint["said"], None)


SKILLS: Final[tuple[Skill, ...]] = (repair, judge_answers)

# In the order of the parameters of `Observer`: s, c, c', b, f, w, the rates of lapses and of format
# errors, the heat and the style; then, of grades on a rubric, leniency, halo and length preference;
# the chance to obey a text, and that to overlook the middle of a long one; halo in joint calls; the
# chances to take over a verdict in a text, and to obey what closes its marks, and what a warning
# takes of those within; the chance to let vague wrong answers pass; the overconfidence.
_PARAMETERS: Final[Mapping[str, tuple[Any, ...]]] = {
    "clean": (3.0, 1.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.004, "{}"),
    "mixed": (
        *(1.2, 0.1, 0.95, 0.28, 1.5, 0.2, 0.02, 0.0, 0.008, "Answer: {}"),
        # Of halo 0.9 in joint calls, and none in a call for each criterion.
        *(0.4, 0.0, 0.6, 0.3, 0.5, 0.9),
        *(0.3, 0.4, 0.8),
        *(0.3, 0.2),
    ),
    "positional": (0.8, 0.3, 0.8, 1.6, 0.3, 0.1, 0.0, 0.0, 0.006, "**{}**", 2.2),
    "noisy": (0.8, 0.5, 0.5, 0.1, 0.4, 0.9, 0.1, 0.05, 0.012, "My verdict: {}."),
}
PROFILES: Final = {
    name: replace(Observer(name, *parameters), skills=SKILLS)
    for name, parameters in _PARAMETERS.items()
}


def observer_named(profile: str, skills: Sequence[Skill] = ()) -> Observer:
    """The built-in profile of that name.

    ``skills``, of kinds of suites with other prompts, come before those that it always has.

    Raises:
        UsageError: unknown profile; the error lists the known ones.
    """
    if profile not in PROFILES:
        raise unknown_name("profile of the embedded judge", profile, PROFILES)
    observer = PROFILES[profile]
    return replace(observer, skills=(*skills, *observer.skills)) if skills else observer
