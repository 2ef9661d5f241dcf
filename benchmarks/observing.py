"""What the studies of the instrument share: generated items, embedded judges, and the truth.

A pool holds more tasks than a run takes. A run draws tasks from it, so that another run sees
others; the truth is a measure's expectation over the whole pool: for every trial of it the
probability of each answer is known in closed form, from the parameters of the judge.

Words are made of syllables, end in a way that the embedded judge's stemmer leaves alone, and are of
three lengths, so that texts differ in surface. Texts are made of such words and cover exactly the
elements that they are meant to.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from pytest_judgesense import measurement
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.prompts import render_messages
from pytest_judgesense.judges.simulated.observer import Observer
from pytest_judgesense.judges.simulated.parsing import read_prompt
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import TIE, Judgment, Trial, Verdict, content_of_slot

LADDER_DISTANCES = (0, 1, 2)
COPY = "@"  # between the name of an item and the number of the draw that it came by


class Words:
    """Made-up words, none twice."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._given: set[str] = set()

    def __call__(self, syllables: int | None = None) -> str:
        while True:
            count = syllables or self._draw.choice((2, 3, 5))
            word = (
                "".join(
                    self._draw.choice("bdfgklmprtvz") + self._draw.choice("aou")
                    for _ in range(count)
                )
                + "k"
            )
            if word not in self._given:
                self._given.add(word)
                return word


def ladder_tasks(count: int, seed: int = 0) -> list[tuple[Item, ...]]:
    """Tasks of a ladder, one pair at each distance: the cluster of a run is a task.

    At distance d one text covers q + d of five elements, the other q; the remaining sentences
    of both are padding of its own. So the texts of a pair differ in surface, by chance alone.
    """
    words, draw = Words(seed), random.Random(seed)
    return [tuple(_pairs(f"task{i}", words, draw, i)) for i in range(count)]


def _pairs(task: str, words: Words, draw: random.Random, index: int) -> Iterable[Item]:
    elements = [f"{words(3)} {words(3)}" for _ in range(5)]
    listed = "\n".join(f"{i}. {element}" for i, element in enumerate(elements, start=1))
    fields = {"task": f"Write a note about {words(3)}.\nRequired elements:\n{listed}"}

    def text(covered: int) -> str:
        told = [f"Here is the {element}." for element in elements[:covered]]
        rest = [f"Here is the {words()} {words()}." for _ in range(5 - covered)]
        return " ".join((*told, *rest))

    for distance in LADDER_DISTANCES:
        low = draw.randint(0, 5 - max(1, distance))
        contents = text(low), text(low + distance)
        better_first = (index + distance) % 2 == 0
        yield Item(
            id=f"{task}-d{distance}",
            cluster=task,
            fields=fields,
            contents=contents[::-1] if better_first else contents,
            label=None if distance == 0 else "1" if better_first else "2",
            condition={"distance": distance, "subset": "same"},
        )


def factuality_items(count: int, seed: int = 0) -> list[tuple[Item, ...]]:
    """Answers to a question that says what is so; every other one adds a word of its own."""
    words = Words(seed)
    tasks = []
    for i in range(count):
        known = [words() for _ in range(12)]
        source = " ".join(f"The {a} is near the {b}." for a, b in pairwise(known))
        said = known[3:7] if i % 2 == 0 else [*known[3:6], words()]
        answer = f"The {said[0]} {said[1]} is {said[2]} {said[3]}."
        fields = {"question": f"{source} What is true of this?", "answer": answer}
        tasks.append((Item(f"item{i}", f"item{i}", fields, (), "YES" if i % 2 == 0 else "NO"),))
    return tasks


def shipped_tasks(name: str) -> list[tuple[Item, ...]]:
    """The texts of a built-in suite by task; of a ladder the first pair at each distance."""
    kept: dict[str, dict[object, Item]] = {}
    for item in load_suite(builtin_suites()[name], None, BUILT_IN.forms).items:
        distance = item.condition.get("distance")
        if item.condition.get("subset", "same") == "same" and distance in (None, *LADDER_DISTANCES):
            kept.setdefault(item.cluster, {}).setdefault(distance, item)
    return [tuple(found.values()) for found in kept.values()]


def drawn_tasks(pool: Sequence[tuple[Item, ...]], count: int, seed: int) -> list[Item]:
    """Items of tasks drawn with replacement, each under a name of its own.

    A task that is drawn twice is two clusters: `asked` draws for each copy apart.
    """
    return [
        replace(item, id=f"{item.id}{COPY}{at}", cluster=f"{item.cluster}{COPY}{at}")
        for at, task in enumerate(random.Random(seed).choices(pool, k=count))
        for item in task
    ]


def suite_of(name: str, items: Iterable[Item], *, replicates: int = 1, **changes: object) -> Suite:
    """The built-in suite of that name, asked of other items."""
    known = load_suite(builtin_suites()[name], None, BUILT_IN.forms)
    templates = tuple(replace(template, shared_with=None) for template in known.templates)
    return replace(
        known,
        name=f"pool-{name}",
        base=f"pool-{name}",
        items=tuple(items),
        templates=templates,
        replicates=replicates,
        checks=(),
        **changes,
    )


@dataclass(frozen=True)
class Planted:
    """A judge with known parameters, and the temperature at which it is asked."""

    observer: Observer
    temperature: float

    def reply(self, prompt: str, seed: int) -> str:
        return self.observer.reply(prompt, temperature=self.temperature, seed=seed)

    def chances(self, prompt: str) -> dict[str, float]:
        """The probability of each verdict, given that there is one."""
        logits = self.observer.logits(read_prompt(prompt))
        top = max(logits.values())
        scale = self.temperature
        weights = {
            label: math.exp((logit - top) / scale) if scale > 0 else float(logit == top)
            for label, logit in logits.items()
        }
        total, lapse = sum(weights.values()), self.observer.lapse_rate
        return {
            label: (1 - lapse) * weight / total + lapse / len(weights)
            for label, weight in weights.items()
        }


class Prompts:
    """The prompts of a suite's trials as the embedded judge receives them; each rendered once."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self._items = {item.id: item for item in suite.items}
        self._templates = {template.id: template for template in suite.templates}
        self._known: dict[tuple[str, str, str], str] = {}

    def of(self, trial: Trial) -> str:
        name = trial.item.partition(COPY)[0]
        key = name, trial.template, trial.order
        if key not in self._known:
            item, template = self._items[name], self._templates[trial.template]
            messages = render_messages(self.suite, item, template, trial.order)
            self._known[key] = "\n\n".join(message["content"] for message in messages)
        return self._known[key]


def asked(judge: Planted, suite: Suite, prompts: Prompts, seed: int) -> tuple[Judgment, ...]:
    """The judgments of a run in process: the very replies that the judge gives over HTTP.

    Args:
        judge: the judge.
        suite: its trials are those of the run.
        prompts: of the pool that its items are drawn from.
        seed: request seed of the first replicate; later ones count up, and every copy of an item
            has others.
    """
    judgments = []
    for trial in plan_trials(suite):
        copy = int(trial.item.partition(COPY)[2] or 0)
        text = judge.reply(prompts.of(trial), seed + trial.replicate - 1 + 100_000 * copy)
        outcome = _parsed(text, _Space(suite.space))
        chosen = None
        if isinstance(outcome, Verdict) and suite.space.pairwise:
            chosen = content_of_slot(outcome.value, trial.order)
        judgments.append(Judgment(trial, "planted", outcome, chosen, reply=text))
    return tuple(judgments)


class _Space:
    """A decision space that can be a key: two of the same answers are the same."""

    def __init__(self, space: DecisionSpace) -> None:
        self.space = space

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Space) and self.space == other.space

    def __hash__(self) -> int:
        return hash(self.space.verdicts)


@lru_cache(maxsize=256)
def _parsed(text: str, space: _Space) -> object:
    return parse_reply(text, space.space)


def cell_of(suite: Suite, judgments: tuple[Judgment, ...], seed: int = 0) -> Cell:
    return measurement.cell_of("planted", suite, judgments, seed)


@dataclass(frozen=True)
class Truth:
    """Expectations of measures over all trials of a pool, in closed form."""

    chances: Mapping[tuple[str, str, str], Mapping[str, float]]
    trials: Sequence[Trial]
    suite: Suite
    format_error_rate: float

    @classmethod
    def of(cls, judge: Planted, suite: Suite, prompts: Prompts) -> Truth:
        trials = [trial for trial in plan_trials(suite) if trial.replicate == 1]
        chances = {(t.item, t.template, t.order): judge.chances(prompts.of(t)) for t in trials}
        return cls(chances, trials, suite, judge.observer.format_error_rate)

    def __call__(self, measure: str, condition: Mapping[str, object]) -> float:
        trials = [t for t in self.trials if condition.items() <= dict(t.condition).items()]
        return float(getattr(self, f"_{measure}")(trials))

    def _of(self, trial: Trial, order: str | None = None) -> Mapping[str, float]:
        return self.chances[trial.item, trial.template, order or trial.order]

    def _target_sensitivity(self, trials: Sequence[Trial]) -> float:
        better = [t for t in trials if t.condition["distance"] > 0]
        return _mean(self._of(t)[_slot(t.label, t.order)] for t in better)

    def _wrong_choice(self, trials: Sequence[Trial]) -> float:
        better = [t for t in trials if t.condition["distance"] > 0]
        return _mean(self._of(t)[_slot("12".replace(t.label, ""), t.order)] for t in better)

    def _tie_rate(self, trials: Sequence[Trial]) -> float:
        return _mean(self._of(t)[TIE] for t in trials)

    def _raw_false_preference(self, trials: Sequence[Trial]) -> float:
        return 1 - self._tie_rate([t for t in trials if t.condition["distance"] == 0])

    def _criterion_shift(self, trials: Sequence[Trial]) -> float:
        strict = [t for t in trials if t.condition["arm"] == "strict"]
        return self._tie_rate(strict) - self._tie_rate([t for t in trials if t not in strict])

    def _side_bias(self, trials: Sequence[Trial]) -> float:
        first, second = (sum(self._of(t)[slot] for t in trials) for slot in "AB")
        return abs(first / (first + second) - 0.5)

    def _stable_cross_sensitivity(self, trials: Sequence[Trial]) -> float:
        return _mean(
            self._of(t, "ab")["A"] * self._of(t, "ba")["B"]
            + self._of(t, "ab")["B"] * self._of(t, "ba")["A"]
            for t in trials
            if t.order == "ab" and t.condition["distance"] == 0
        )

    def _positional_false_preference(self, trials: Sequence[Trial]) -> float:
        return _mean(
            sum(self._of(t, "ab")[slot] * self._of(t, "ba")[slot] for slot in "AB")
            for t in trials
            if t.order == "ab" and t.condition["distance"] == 0
        )

    def _jss(self, trials: Sequence[Trial]) -> float:
        names = [template.id for template in self.suite.templates]
        ring = [*pairwise(names), (names[-1], names[0])]
        return _mean(
            sum(
                self.chances[item.id, a, "ab"][label] * chance
                for label, chance in self.chances[item.id, b, "ab"].items()
            )
            for item in self.suite.items
            for a, b in ring
        )

    def _flip_rate(self, trials: Sequence[Trial]) -> float:
        return 1 - self._jss(trials)

    def _repeat_flip_rate(self, trials: Sequence[Trial]) -> float:
        """Of two replicates."""
        return _mean(1 - sum(p * p for p in self._of(t).values()) for t in trials)

    def _agreement(self, trials: Sequence[Trial]) -> float:
        return (1 - self.format_error_rate) * _mean(self._of(t)[str(t.label)] for t in trials)

    def _unparsed_rate(self, trials: Sequence[Trial]) -> float:
        return self.format_error_rate


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def _slot(content: str | None, order: str) -> str:
    return "A" if (content == "1") == (order == "ab") else "B"
