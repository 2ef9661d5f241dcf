r"""How the embedded judge judges a debate, and how it debates. From the text alone.

It reads the block ``<transcript>``, in which headings such as ``[PRO rebuttal]`` part the speeches,
and counts stems (see `evidence`). With C, R, S the stems of a side's constructive, rebuttal and
summary, those of the resolution left out, and O the stems of the opponent's constructive that are
neither in the resolution nor in C, the side has four shares:

=================  ==========================================================================
argument quality   share of its own points (sentences of its constructive) of which two stems
                   or more come back in R or S
evidence           share of its own points that the opponent's rebuttal does not answer; it
                   answers a point by two stems of it or more
clash              min(1, 3 \|O and R\| / \|O\|): the opponent's terms in the rebuttal
weighing           share of the opponent's points that the summary still touches, by one stem
=================  ==========================================================================

Score = 2 + 7 share + a normal draw of standard deviation 10 T / s, rounded to halves, within 0 and
10, with T the temperature of the request and s the observer's sensitivity. The margin is the mean
over the categories of PRO's score less CON's, plus (b + z) / s, with b the bias for the first slot,
here PRO, and z the shift by the wording. An instruction that asks what survives counts clash and
evidence twice; one that begins with weighing counts weighing twice. The side that the
margin favours wins; the confidence is 1 / (1 + exp(-s \|margin\| / 3)).

Names, lengths and the order of arguments do not count. For a known debate (`simulated.key`) the
shares of PRO lead those of CON by the known value, and the words count a quarter.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import cycle, islice
from random import Random
from typing import Any, Final

from pytest_judgesense.judges.simulated.evidence import content_stems, key_value, sentences, words
from pytest_judgesense.judges.simulated.observer import ObservedPrompt, Observer

_SIDES: Final = ("PRO", "CON")
_HEADING: Final = re.compile(r"^\[(PRO|CON) (constructive|rebuttal|summary)\]$", re.MULTILINE)
_WANTED: Final = re.compile(r"\bWrite the (PRO|CON) (constructive|rebuttal|summary)\b")
_LENGTH: Final = re.compile(r"\bat most (\d{1,6}) words")
_SURVIVES: Final = re.compile(r"\bsurviv\w+", re.IGNORECASE)
_FIRST: Final = re.compile(r"\b(?:begin|start|first)\b", re.IGNORECASE)
_WEIGHS: Final = re.compile(r"\bweigh", re.IGNORECASE)
_SHORTEST_POINT: Final = 3  # stems


def _speeches(transcript: str) -> dict[tuple[str, str], str]:
    """The speeches by side and kind; one that is missing is empty."""
    parts = _HEADING.split(transcript)[1:]
    return {
        (side, kind): text.strip()
        for side, kind, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    }


def shares(resolution: str, transcript: str) -> dict[str, dict[str, float]]:
    """The four shares of the module's docstring, by category and side."""
    speeches = _speeches(transcript)
    topic_stems = content_stems(resolution)

    def stems(side: str, *kinds: str) -> frozenset[str]:
        return (
            content_stems("\n".join(speeches.get((side, kind), "") for kind in kinds)) - topic_stems
        )

    def points(side: str, without: frozenset[str]) -> list[frozenset[str]]:
        spoken = sentences(speeches.get((side, "constructive"), ""))
        points_of_side = [content_stems(sentence) - topic_stems - without for sentence in spoken]
        return [point for point in points_of_side if len(point) >= _SHORTEST_POINT]

    def met(points_to_meet: list[frozenset[str]], stems_said: frozenset[str], least: int) -> float:
        return sum(len(point & stems_said) >= least for point in points_to_meet) / max(
            1, len(points_to_meet)
        )

    shares_of: dict[str, dict[str, float]] = defaultdict(dict)
    for side, other in (_SIDES, _SIDES[::-1]):
        ours, theirs = stems(side, "constructive"), stems(other, "constructive")
        # A point in its own words: words that both sides use do not show that one answers the
        # other.
        mine, targets = points(side, theirs), points(other, ours)
        terms, rebuttal = theirs - ours, stems(side, "rebuttal")
        taken_up = len(terms & rebuttal) / max(1, len(terms))
        shares_of["argument_quality"][side] = met(mine, stems(side, "rebuttal", "summary"), 2)
        shares_of["evidence"][side] = 1 - met(mine, stems(other, "rebuttal"), 2)
        shares_of["clash"][side] = min(1.0, 3 * taken_up)
        shares_of["weighing"][side] = met(targets, stems(side, "summary"), 1)
    return shares_of


def judge_debate(observer: Observer, question: ObservedPrompt) -> str | None:
    """The reply to a prompt with a transcript: an object of scores, winner and confidence."""
    context, instruction = question.parsed.context, question.parsed.instruction
    if "transcript" not in context:
        return None
    draw, sensitivity = question.draw(), observer.sensitivity
    shift = observer.slot_bias + observer.wording(instruction, context["transcript"])
    shares_of = shares(context.get("resolution", ""), context["transcript"])
    if (lead := key_value(context["transcript"])) is not None:
        shares_of = {category: _led(of, lead) for category, of in shares_of.items()}
    spread = 10 * question.temperature / sensitivity
    scores = {
        category: {side: _score(of[side], draw.gauss(0, spread)) for side in _SIDES}
        for category, of in shares_of.items()
    }
    counts = dict.fromkeys(scores, 1.0)
    if _SURVIVES.search(instruction):
        counts |= {"clash": 2.0, "evidence": 2.0}
    elif any(map(_weighs_first, instruction.split("."))):
        counts["weighing"] = 2.0
    margin = sum(counts[name] * (of["PRO"] - of["CON"]) for name, of in scores.items())
    margin = margin / sum(counts.values()) + shift / sensitivity
    winner = draw.choice(_SIDES) if margin == 0 else _SIDES[margin < 0]
    if draw.random() < observer.lapse_rate:
        winner = draw.choice(_SIDES)
    taken_up = {side: round(100 * shares_of["clash"][side] / 3) for side in _SIDES}
    value = {
        "scores": scores,
        "winner": winner,
        "confidence": round(1 / (1 + math.exp(-sensitivity * abs(margin) / 3)), 2),
        "short_reason": f"Terms taken up: PRO {taken_up['PRO']}% of CON's, CON {taken_up['CON']}%.",
    }
    if draw.random() < observer.format_error_rate:
        return _malformed(value, draw)
    return observer.style.format(json.dumps(value, separators=(",", ":")))


def _weighs_first(sentence: str) -> bool:
    stated = _FIRST.search(sentence)
    return stated is not None and _WEIGHS.search(sentence, stated.end()) is not None


def _led(of: Mapping[str, float], lead: float) -> dict[str, float]:
    """Shares with a ``lead`` of PRO; the shares from the words count a quarter."""
    middle = sum(of.values()) / 2
    ahead = {"PRO": lead / 2, "CON": -lead / 2}
    return {side: middle + ahead[side] + (share - middle) / 4 for side, share in of.items()}


def _score(share: float, noise: float) -> float:
    return min(10.0, max(0.0, round(2 * (2 + 7 * share + noise)) / 2))


def _malformed(value: Mapping[str, Any], draw: Random) -> str:
    """A reply that a reader cannot use, of one of the usual kinds."""
    text, scores = json.dumps(value), value["scores"]
    lacking = {name: of for name, of in scores.items() if name != "evidence"}
    beyond = {**scores, "clash": {**scores["clash"], "PRO": 12.0}}
    kinds = (
        text[: len(text) // 2],
        json.dumps({**value, "scores": lacking}),
        json.dumps({**value, "scores": beyond}),
        f"I would give it to {value['winner']}, on balance.",
    )
    return kinds[draw.randrange(4)]


# What the embedded debater says for and against any resolution: the point, and its reason.
_POINTS: Final = {
    "PRO": (
        ("harm", "the present rules leave preventable injury to strangers who never agreed to it"),
        ("precedent", "comparable measures elsewhere were adopted and nobody repealed them"),
        ("fairness", "burdens now fall on whoever has the least voice in the matter"),
        ("incentives", "actors respond to prices and duties, and today both point the wrong way"),
        ("transparency", "open standards let outsiders verify claims that insiders only assert"),
    ),
    "CON": (
        ("enforcement", "inspectors, courts and budgets for such a rule do not exist"),
        ("liberty", "adults lose a choice that they have handled responsibly"),
        ("displacement", "the activity moves abroad or underground instead of ending"),
        ("uncertainty", "forecasts behind the proposal rest on thin and contested studies"),
        ("alternatives", "education and voluntary codes reach the same goal at lower expense"),
    ),
}
_ANSWERED: Final = {"constructive": 0, "rebuttal": 3, "summary": 2}


def speech_wanted(prompt: str) -> tuple[str, str, int] | None:
    """Side, kind and word limit of the speech that a prompt asks for; ``None`` if for none."""
    match = _WANTED.search(prompt)
    limit = _LENGTH.search(prompt, match.end()) if match else None
    return (match[1], match[2], int(limit[1])) if match and limit else None


def speak(_: Observer, question: ObservedPrompt) -> str | None:
    """A speech of a fixed pattern: its points, then terms of the opponent's that it takes up."""
    wanted = speech_wanted(question.prompt)
    if wanted is None:
        return None
    side, kind, limit = wanted
    context, draw = question.parsed.context, question.draw()
    other = _SIDES[side == "PRO"]
    speeches = _speeches(context.get("transcript", ""))
    topic = context.get("resolution", "this resolution").rstrip(".")
    points = draw.sample(_POINTS[side], 3)
    if kind == "constructive":
        effect = "supports" if side == "PRO" else "counts against"
        parts = [f"Three things decide whether {topic[:1].lower()}{topic[1:]}."]
        parts += [f"On {name}: {ground}; that {effect} the motion." for name, ground in points]
    else:
        # It takes up one point fewer, or one more, as the draw has it: debates differ in clarity.
        number = max(0, _ANSWERED[kind] - draw.randrange(3))
        against = sentences(speeches.get((other, "constructive"), ""))[1:]
        parts = [_answer(point) for point in islice(against, number)]
        parts += [
            f"Our ground of {name} stands: {ground}." for name, ground in points[: 3 - number]
        ]
    return " ".join(" ".join(parts).split()[:limit])


def _answer(point: str) -> str:
    content_words = [word for word in words(point) if content_stems(word)]
    head = " ".join(islice(cycle(content_words), min(6, len(content_words))))
    return f"They say {head}; yet nothing shows that it follows, and the cases cut both ways."
