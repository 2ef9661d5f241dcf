"""A person's sitting over a suite: what is shown of an item, and what is done with the answers.

The person sees what a judge is sent about an item, and never its label, its id, or what judges and
other people say. Candidates of a pair are shown in an order that the seed draws for the person and
item; answers are kept in the terms of the content. Each is appended to the file of people's labels
before the next item is shown, so a sitting can end anywhere. An item whose text has changed since
the person labelled it is shown again, with what differed. Items that were skipped, in this sitting
or before, are shown once more behind all others: each widens the interval of a rate.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from threading import Lock
from typing import Any, Final, TypeAlias

from pytest_judgesense.errors import UsageError, printable_lines, well_formed
from pytest_judgesense.questions.label.label_sample import (
    DrawnItems,
    SentQuestions,
    ShownPrompt,
    drawn_number,
)
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.labelled_texts import ids_by_text, matched
from pytest_judgesense.suites.people import (
    SKIPPED,
    PersonLabel,
    append_people,
    labelled_text,
    people_file,
    read_people,
)
from pytest_judgesense.suites.prompt_template import fill, placeholders
from pytest_judgesense.suites.suite import Suite, Template
from pytest_judgesense.trial import ABSTAIN, TIE, Order, content_of_slot

# From the lines of the file to those that are appended.
_MadeLines: TypeAlias = Callable[[tuple[PersonLabel, ...]], list[PersonLabel]]
# What a person said of an item, by criterion.
_Answer: TypeAlias = Mapping[str, PersonLabel]

_KEYS: Final = "1234567890"
_SLOTS: Final = ("A", "B")
# Where the question names the candidates.
_SHOWN_AS: Final = {"a": "first", "b": "second"}
# Lines of a prompt that hold fields, or tags around them, and no words.
_PLACES: Final = re.compile(r"(?:\{\{[^{}]*\}\}|<[^<>]*>|\s)*")
LONGEST_NOTE: Final = 4000


@dataclass(frozen=True, slots=True)
class Choice:
    """A possible answer: the key that gives it, its value, and how the page calls it."""

    key: str
    value: str
    name: str


@dataclass(frozen=True, slots=True)
class Ask:
    """What is to be answered about every item: by which criterion, if the suite has criteria."""

    criterion: str
    choices: tuple[Choice, ...]


def asks_of(suite: Suite) -> tuple[Ask, ...]:
    """What a person is asked about each item of a suite: a slot, a label, or grades.

    Raises:
        UsageError: a label of the suite is the word for an item that is skipped.
    """
    space = suite.space
    if space.pairwise:
        names = ("First", "Second", "Neither")
        slots = zip("120", (*_SLOTS, TIE), names, strict=True)
        return (Ask("", tuple(Choice(*slot) for slot in slots)),)
    scales: list[tuple[str, Sequence[str]]] = [
        (criterion.name, criterion.labels) for criterion in space.criteria
    ] or [("", [value for value in space.verdicts if value != ABSTAIN])]
    if any(SKIPPED in labels for _, labels in scales):
        raise UsageError(
            f"suite {suite.name} cannot be labelled",
            found=f"a label {SKIPPED!r}, which says that a person has not labelled an item",
            expected="labels that are answers",
            remedy="rename the label",
        )
    return tuple(Ask(name, tuple(_choices(labels, suite.space.names))) for name, labels in scales)


def _choices(labels: Sequence[str], names: Mapping[str, tuple[str, ...]]) -> list[Choice]:
    """A digit is its own key; others have the keys 1 to 9 and 0, and further ones have none."""
    are_digits = set(labels) <= set(_KEYS)
    keys = labels if are_digits else [*_KEYS, *[""] * len(labels)]
    return [
        Choice(key, label, names.get(label, (label,))[0])
        for key, label in zip(keys, labels, strict=False)
    ]


def _is_labelled(answer: _Answer) -> bool:
    return all(label.counts for label in answer.values())


def _has_words(line: str) -> bool:
    """Whether a line of a prompt is more than the place of a field, which is shown by itself."""
    return _PLACES.fullmatch(line) is None


def _worded(prompt: str) -> str:
    return "\n".join(filter(_has_words, prompt.split("\n")))


def _named_places(prompt: str, item: Item) -> str:
    """The words of a prompt that was sent; braces of its own are no places."""
    words = _worded(prompt)
    for name in item.texts("ab"):
        words = words.replace(f"{{{{{name}}}}}", f"[{_SHOWN_AS.get(name, name)}]")
    return words


class Sitting:
    """The items that were drawn, and one person's answers about them.

    Args:
        suite: of the items.
        person: who answers.
        draw: the items.
        seed: of the orders.
        earlier: items as they were, by the texts that the person labelled.
        sent: the prompts of a function; ``None`` where the templates of the suite are sent.
    """

    def __init__(
        self,
        suite: Suite,
        person: str,
        draw: DrawnItems,
        seed: int,
        earlier: Mapping[str, Item] | None = None,
        sent: SentQuestions | None = None,
    ) -> None:
        self.person = person
        self.path = people_file(suite.path)
        self.asks = asks_of(suite)
        self._suite = suite
        self._draw = draw
        self._seed = seed
        self._earlier = earlier or {}
        self._ids_by_text = ids_by_text(suite.items)
        self._sent = sent
        self._skipped_again: set[int] = set()  # places of skipped items that were shown once more
        self._alone = Lock()  # the requests of pages come in threads

    def state(self) -> dict[str, Any]:
        """What the page shows, as JSON: the item that comes next, and how far the person is."""
        with self._alone:
            return self._state(read_people(self.path))

    def answer(self, place: int, values: Mapping[str, str], note: str) -> bool:
        """Append an answer about the item at a place of the order: a value for each criterion.

        Returns:
            Whether it was appended. It is not if that item is not the next one: another page has
            answered it.

        Raises:
            ValueError: a value is no answer of the suite, or the note is too long.
            SuiteError: the file cannot be read or written.
        """
        skipped = dict.fromkeys(self._criteria, SKIPPED)
        valid = {ask.criterion: {choice.value for choice in ask.choices} for ask in self.asks}
        if values != skipped and (
            values.keys() != valid.keys()
            or any(value not in valid[criterion] for criterion, value in values.items())
        ):
            raise ValueError(f"no answer of suite {self._suite.name}: {json.dumps(values)[:200]}")
        if len(note) > LONGEST_NOTE:
            raise ValueError(f"a note has at most {LONGEST_NOTE} characters")

        is_again = False

        def lines(before: tuple[PersonLabel, ...]) -> list[PersonLabel]:
            nonlocal is_again
            answered = self._answered(before)
            if place != self._next(answered):
                return []
            is_again = place in answered
            item = self._draw.items[place]
            labels = {
                criterion: content_of_slot(value, self._order(item))
                if self._suite.space.pairwise
                else value
                for criterion, value in values.items()
            }
            return self._lines(item, labels, printable_lines(well_formed(note)).strip())

        is_appended = self._append(lines)
        if is_appended and is_again and values == skipped:
            self._skipped_again.add(place)
        return is_appended

    def undo(self, place: int) -> bool:
        """Withdraw the last answer, if it is that about the item at this place.

        Returns:
            Whether it was withdrawn.
        """

        def lines(before: tuple[PersonLabel, ...]) -> list[PersonLabel]:
            answered = self._answered(before)
            if not answered or place != [*answered][-1]:
                return []
            return self._lines(self._draw.items[place], dict.fromkeys(answered[place], ""), "")

        return self._append(lines)

    def counts(self) -> dict[str, int]:
        """How many items are ``labelled``, ``skipped`` and ``left``."""
        with self._alone:
            return self._counts(self._answered(read_people(self.path)))

    def labelled_by_others(self) -> int:
        """How many of the items that the person has labelled have labels of others too."""
        with self._alone:
            lines = read_people(self.path)
        of_file = matched(lines, self._ids_by_text).counted.values()
        others = {label.item for label in of_file if label.counts and label.person != self.person}
        answered = self._answered(lines)
        return sum(
            item.id in others or any({*of_item} - {self.person} for of_item in item.people.values())
            for place, item in enumerate(self._draw.items)
            if place in answered and all(label.counts for label in answered[place].values())
        )

    @property
    def _criteria(self) -> list[str]:
        return [ask.criterion for ask in self.asks]

    def _append(self, lines: _MadeLines) -> bool:
        added: list[PersonLabel] = []

        def made(before: tuple[PersonLabel, ...]) -> list[PersonLabel]:
            added.extend(lines(before))
            return added

        with self._alone:
            append_people(self.path, made)
        return bool(added)

    def _lines(self, item: Item, labels: Mapping[str, str], note: str) -> list[PersonLabel]:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        # A note is about the item: it stands in the first of its lines.
        about = (self._draw.drawn, now, labelled_text(item))
        return [
            PersonLabel(item.id, self.person, label, criterion, "" if n else note, *about)
            for n, (criterion, label) in enumerate(labels.items())
        ]

    def _answered(self, lines: Sequence[PersonLabel]) -> dict[int, dict[str, PersonLabel]]:
        """The whole answers of the person by place, the latest at the end."""
        places = {item.id: place for place, item in enumerate(self._draw.items)}
        answers: dict[int, dict[str, PersonLabel]] = {}
        counted = matched(lines, self._ids_by_text).counted
        for (item, person, criterion), label in counted.items():
            if person == self.person and item in places and criterion in self._criteria:
                answer = answers.pop(places[item], {})
                answers[places[item]] = answer | {criterion: label}
        whole = len(self.asks)
        return {place: answer for place, answer in answers.items() if len(answer) == whole}

    def _next(self, answered: Mapping[int, _Answer]) -> int | None:
        """The place that comes next: without an answer, and behind these skipped."""
        places = range(len(self._draw.items))
        unanswered = (place for place in places if place not in answered)
        return next(chain(unanswered, self._to_show_again(answered)), None)

    def _to_show_again(self, answered: Mapping[int, _Answer]) -> list[int]:
        """The places of skipped items that were not shown once more."""
        return sorted(
            place
            for place, answer in answered.items()
            if place not in self._skipped_again and not _is_labelled(answer)
        )

    def _counts(self, answered: Mapping[int, _Answer]) -> dict[str, int]:
        labelled = sum(map(_is_labelled, answered.values()))
        left = len(self._draw.items) - len(answered)
        return {"labelled": labelled, "skipped": len(answered) - labelled, "left": left}

    def _order(self, item: Item) -> Order:
        drawn = drawn_number(self._seed, self.person, item.id, "order")
        return "ab" if drawn % 2 == 0 else "ba"

    def _state(self, lines: Sequence[PersonLabel]) -> dict[str, Any]:
        answered = self._answered(lines)
        place = self._next(answered)
        state: dict[str, Any] = {
            "suite": self._suite.name,
            "person": self.person,
            "total": len(self._draw.items),
            "counts": self._counts(answered),
            "last": [*answered][-1] if answered else None,
            "asks": [asdict(ask) for ask in self.asks],
            "place": place,
            "again": len(self._to_show_again(answered)) if place in answered else 0,
            "longest_note": LONGEST_NOTE,
        }
        if place is None:
            return state
        item = self._draw.items[place]
        return state | self._shown(item, lines) | {"before": self._before(item, lines)}

    def _before(self, item: Item, lines: Sequence[PersonLabel]) -> dict[str, Any] | None:
        """What the person labelled of an item that shows another text now; ``None`` for nothing.

        ``is_held``: whether that text is still known; its fields and candidates if it is.
        """
        of_other_texts = matched(lines, self._ids_by_text).uncounted.of_other_texts
        answer = (item.id, self.person)
        texts = [label.text for label in of_other_texts if (label.item, label.person) == answer]
        if not texts:
            return None
        earlier = self._earlier.get(texts[-1])
        if earlier is None:
            return {"is_held": False, "fields": [], "candidates": []}
        shown = self._shown(replace(earlier, id=item.id), ())
        return {"is_held": True, "fields": shown["fields"], "candidates": shown["candidates"]}

    def _shown(self, item: Item, lines: Sequence[PersonLabel]) -> dict[str, Any]:
        """What is shown of an item: the question, its fields, its candidates, the last note."""
        prompt = self._prompt(item)
        order = self._order(item)
        candidates = item.contents_in(order)[:: 1 if order == "ab" else -1]
        notes = [
            line.note
            for line in lines
            if (line.item, line.person) == (item.id, self.person) and line.note
        ]
        return {
            "question": "\n".join(filter(None, map(str.strip, (prompt.system, prompt.words)))),
            "fields": [[name, text] for name, text in item.fields.items() if name in prompt.fields],
            "candidates": list(candidates),
            "notice": prompt.notice,
            "note": notes[-1] if notes else "",
        }

    def _prompt(self, item: Item) -> ShownPrompt:
        """The prompt with names in its places, without the lines that hold nothing else."""
        template = self._template(item)
        if self._sent is not None:
            prompt = self._sent.shown(item, template.id)
            system, words = (_named_places(text, item) for text in (prompt.system, prompt.words))
            return prompt._replace(system=system, words=words)
        named = placeholders(template.text)
        words = fill(
            _worded(template.text), {name: f"[{_SHOWN_AS.get(name, name)}]" for name in named}
        )
        system = self._suite.system if template.system is None else template.system
        return ShownPrompt(system, words, named)

    def _template(self, item: Item) -> Template:
        """The first wording that asks about the item with its labels as they are, and shows all."""
        templates = self._suite.templates
        return min(
            [template for template in templates if item.is_asked_in(template.id)] or templates,
            key=lambda template: (
                template.single,
                template.polarity == "inverted" or template.id in item.inverted,
            ),
        )
