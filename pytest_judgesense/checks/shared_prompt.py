"""The prompts that a judge was sent on a suite, without the texts of its items. Pure.

They are told from the recorded requests, so that those of a function, which are in its own code,
are known as well. The texts of an item are ``{{name}}`` in them. A line counts that a tenth of the
items under one wording have, and at least two of them, for what fewer have is of an item that was
not shown as it stands, a time, or the answer to an earlier call. So are whole prompts: a function
may have several. What remains is the same in whatever order the items stand, how often each is
asked, and when some come or go, unless that moves a line across the tenth.

A word of the prompt that is by chance a text of an item (the "5" of "from 1 to 5") is read as it is
for most other items.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from pytest_judgesense.cassettes.exchange import CALL, RETURN, Exchange, RecordedRequest
from pytest_judgesense.checks.sent import (
    LONG_TEXT,
    Requests,
    SentPart,
    Texts,
    masked,
    texts_sent,
)
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Order, Trial, grouped

_SHARE: Final = 0.1
_Line: TypeAlias = tuple[SentPart, str]
_Held = TypeVar("_Held")


class SentTrial(NamedTuple):
    """What was sent in one trial.

    Attributes:
        item: its id.
        wording: the id of the template.
        requests: in the order of the calls.
        texts: of the item, by the names of its fields.
    """

    item: str
    wording: str
    requests: Requests
    texts: Texts


class SentPrompt(NamedTuple):
    """A prompt with the places of an item's texts in it; empty parts were not sent."""

    system: str
    prompt: str


@dataclass(frozen=True, slots=True)
class WordingPrompts:
    """What was sent under one wording.

    Attributes:
        shared: the prompts that enough of the items have, the most frequent first.
        by_item: of each item the prompt of its first trial, as far as other items have its lines.
    """

    shared: tuple[SentPrompt, ...]
    by_item: Mapping[str, SentPrompt]


def sent_trials(
    suite: Suite, trials: Iterable[Trial], recorded: Mapping[str, Sequence[Exchange]]
) -> list[SentTrial]:
    """Those of the trials of which an answered request is recorded.

    Args:
        suite: with the prompts of the judge in place of its templates.
        trials: of the suite.
        recorded: the exchanges by trial.
    """
    items = {item.id: item for item in suite.items}
    return [
        SentTrial(trial.item, trial.template, requests, item_texts(items[trial.item], trial.order))
        for trial in trials
        if (requests := _answered(recorded.get(trial.id, ())))
    ]


def _answered(exchanges: Iterable[Exchange]) -> list[RecordedRequest]:
    """The requests that were answered; a repetition after a fault is none of its own."""
    return [
        exchange.request
        for exchange in exchanges
        if exchange.answers and exchange.request.method not in (CALL, RETURN)
    ]


def item_texts(item: Item, order: Order) -> dict[str, str]:
    """The texts of an item that a prompt may hold: its contents, and its fields that are taken.

    A long text of any other field counts as well, for a function may take what nobody can tell; a
    short one would stand for words of the prompt.
    """
    return {
        name: text
        for name, text in item.texts(order).items()
        if item.taken is None
        or name in item.taken
        or name not in item.fields
        or len(text) > LONG_TEXT
    }


def prompts_sent(
    suite: Suite, trials: Iterable[Trial], recorded: Mapping[str, Sequence[Exchange]]
) -> dict[str, Any]:
    """The prompts of a function as a datasheet has those of a judge: by wording, sorted.

    The arguments are those of `sent_trials`.

    Returns:
        Nothing where no request is recorded, as of a function that is recorded by what it returned:
        what it was given is not what it sent.
    """
    systems: dict[str, str] = {}
    templates: dict[str, str] = {}
    for wording, prompts in shared_prompts(sent_trials(suite, trials, recorded)).items():
        shared = sorted(prompts.shared)
        if system := _paragraphs(prompt.system for prompt in shared):
            systems[wording] = system
        if shared:
            templates[wording] = _paragraphs(prompt.prompt for prompt in shared)
    if not templates:
        return {}
    return {"system": "", "templates": templates, **({"systems": systems} if systems else {})}


def _paragraphs(texts: Iterable[str]) -> str:
    return "\n\n".join(dict.fromkeys(filter(None, texts)))


def shared_prompts(trials: Sequence[SentTrial]) -> dict[str, WordingPrompts]:
    """The prompts of each wording."""
    by_wording = grouped(trials, lambda trial: trial.wording)
    return {wording: _prompts_of(of_wording) for wording, of_wording in by_wording.items()}


def _prompts_of(trials: Sequence[SentTrial]) -> WordingPrompts:
    of = len({trial.item for trial in trials})
    lines = _alike(trials, [_masked_lines(trial) for trial in trials], of)
    shared_lines = {*_held_by(enough(of), _holders(trials, lines))}
    kept = [tuple(line for line in of_trial if line in shared_lines) for of_trial in lines]
    holders = _holders(trials, ([prompt] if prompt else [] for prompt in kept))
    # A function with many prompts has none that a tenth of the items share.
    least = min(enough(of), max(map(len, holders.values()), default=0))
    first = {trial.item: prompt for trial, prompt in zip(trials[::-1], kept[::-1], strict=True)}
    by_item = {item: _prompt_of(prompt) for item, prompt in first.items()}
    return WordingPrompts(tuple(map(_prompt_of, _held_by(least, holders))), by_item)


def _masked_lines(trial: SentTrial) -> list[_Line]:
    return [
        (part, line.strip())
        for request in trial.requests
        for part, text in texts_sent(request)
        for line in masked(text, trial.texts).splitlines()
        if line.strip()
    ]


def _alike(
    trials: Sequence[SentTrial], lines: Sequence[Sequence[_Line]], of: int
) -> list[list[_Line]]:
    """The lines of each trial, each as most items have it."""
    holders = _holders(trials, lines)
    ranks = {line: rank for rank, line in enumerate(_held_by(0, holders))}

    def usual(line: _Line, texts: Texts) -> _Line:
        if len(holders[line]) == of or "{{" not in line[1]:
            return line
        sent = _filled(line, texts)
        commoner = takewhile(lambda other: other != line, ranks)
        return next((other for other in commoner if _filled(other, texts) == sent), line)

    return [
        [usual(line, trial.texts) for line in of_trial]
        for trial, of_trial in zip(trials, lines, strict=True)
    ]


def _filled(line: _Line, texts: Texts) -> _Line:
    """A line with the texts of an item in their places."""
    part, text = line
    for name, value in texts.items():
        text = text.replace(f"{{{{{name}}}}}", value.strip())
    return part, text


def _holders(
    trials: Sequence[SentTrial], pieces: Iterable[Iterable[_Held]]
) -> dict[_Held, set[str]]:
    """Of what the trials hold, the items that hold it."""
    holders: dict[_Held, set[str]] = {}
    for trial, of_trial in zip(trials, pieces, strict=True):
        for value in of_trial:
            holders.setdefault(value, set()).add(trial.item)
    return holders


def _held_by(least: float, holders: Mapping[Any, set[str]]) -> list[Any]:
    """What at least so many items hold, the most frequent first."""
    values = [value for value, items in holders.items() if len(items) >= least]
    return sorted(values, key=lambda value: (-len(holders[value]), value))


def enough(of: int) -> float:
    """How many of so many have what they share."""
    return max(min(2, of), _SHARE * of)


def _prompt_of(lines: Iterable[_Line]) -> SentPrompt:
    texts: dict[SentPart, list[str]] = {"system prompt": [], "prompt": []}
    for part, line in lines:
        texts[part].append(line)
    return SentPrompt(*("\n".join(of_part) for of_part in texts.values()))
