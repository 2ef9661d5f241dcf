"""What the requests of a judge on a suite have in common: its prompts and its settings. Pure.

They are told from the recorded requests, so that those of a function, which are in its own code,
are known as well. The texts of an item are ``{{name}}`` in prompts. A line counts that a tenth of
the items under one wording have, and at least two of them, for what fewer have is of an item that
was not shown as it stands, a time, or the answer to an earlier call. So are whole prompts: a
function may have several. What remains is the same in whatever order the items stand, how often
each is asked, and when some come or go, unless that moves a line across the tenth. A word of the
prompt that is by chance a text of an item (the "5" of "from 1 to 5") is read as it is for most
other items.

Digested, so that a file can hold it without a text, it is the judge that a calibration is of. A
value of a setting counts that a tenth of the trials have, and at least two of them, which a request
id is none of. The seed is left out: it counts replicates.

What the trials of a function were asked, told from their recorded requests. Pure.

A function has its prompt in its own code: a template of its suite, and a column that it does not
take, may never have been sent. Of one that is recorded by what it returned only what it was given
is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from pytest_judgesense.cassettes.exchange import CALL, RETURN, Exchange, RecordedRequest
from pytest_judgesense.checks.sent import (
    LONG_TEXT,
    Requests,
    SentPart,
    Texts,
    holds,
    masked,
    parts_sent,
    texts_sent,
)
from pytest_judgesense.datasheets.datasheet import digest
from pytest_judgesense.files.conversation import messages_in
from pytest_judgesense.judges.spec import JudgeSpec
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


def _holders(trials: Sequence[SentTrial], held: Iterable[Iterable[_Held]]) -> dict[_Held, set[str]]:
    """Of what the trials hold, the items that hold it."""
    holders: dict[_Held, set[str]] = {}
    for trial, of_trial in zip(trials, held, strict=True):
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


# Settings of more characters are shown by a digest.
_LONGEST: Final = 60
_SEED: Final = "seed"


@dataclass(frozen=True, slots=True)
class SharedRequest:
    """What most requests of a judge on a suite have in common.

    Attributes:
        prompt: digest of the lines of all wordings, system prompts included.
        settings: the values of the fields of a request that are neither text nor model.
        form: digest of what asks for a form of reply: a schema, tools.
    """

    prompt: str
    settings: Mapping[str, str]
    form: str


def request_shared(
    judge: JudgeSpec,
    suite: Suite,
    trials: Iterable[Trial],
    recorded: Mapping[str, Sequence[Exchange]],
) -> SharedRequest | None:
    """What the recorded requests of these trials share.

    Args:
        judge: whose ``ignore`` names fields of its requests that do not count.
        suite: with the prompts of the judge in place of its templates.
        trials: of the suite.
        recorded: the exchanges by trial.

    Returns:
        ``None`` where no request is recorded: of a function that is recorded by its return, or of
        the embedded judge that was computed.
    """
    sent = sent_trials(suite, trials, recorded)
    ignored = {name.removeprefix("body.") for name in judge.ignore}
    return shared_of(sent, ignored) if sent else None


def shared_of(trials: Sequence[SentTrial], ignored: Collection[str] = ()) -> SharedRequest:
    """What requests share; ``ignored`` are settings that do not count."""
    settings: dict[str, Counter[str]] = {}
    forms: dict[str, Counter[str]] = {}
    kinds: tuple[tuple[SentPart, dict[str, Counter[str]]], ...] = (
        ("settings", settings),
        ("reply form", forms),
    )
    for trial in trials:
        parts = parts_sent(trial.requests)
        for part, values in kinds:
            for name, value in parts.get(part, {}).items():
                if name not in ignored and name.rpartition(".")[-1] != _SEED:
                    shown = value if len(value) <= _LONGEST else digest(value)
                    values.setdefault(name, Counter())[shown] += 1
    of_wordings = shared_prompts(trials).values()
    return SharedRequest(
        digest(sorted({prompt for prompts in of_wordings for prompt in prompts.shared})),
        _shared_values(settings, len(trials)),
        digest(_shared_values(forms, len(trials))),
    )


def _shared_values(values: Mapping[str, Counter[str]], of: int) -> dict[str, str]:
    """The values of each setting, where trials share some."""
    shared = {
        name: sorted(value for value, count in counts.items() if count >= enough(of))
        for name, counts in sorted(values.items())
    }
    return {name: " or ".join(several) for name, several in shared.items() if several}


def different_settings(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """What differs between the settings of two requests, as ``name old -> new``."""
    return [
        f"{name} {old.get(name, 'not sent')} -> {new.get(name, 'not sent')}"
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name)
    ]


def shared_from(value: Mapping[str, Any] | None) -> SharedRequest | None:
    """The shared request of a datasheet's file."""
    return None if value is None else SharedRequest(**value)


NOTHING_SENT: Final = "(nothing was sent)"
_WITHOUT_TEXT: Final = "(requests without a text)"
_GIVEN: Final = "(given; no request is recorded)"


def requests_of(exchanges: Sequence[Exchange]) -> list[RecordedRequest]:
    """The requests of a trial; of a function that made none its calls."""
    requests = [exchange.request for exchange in exchanges if exchange.request.method != RETURN]
    return [request for request in requests if request.method != CALL] or requests


def text_of(requests: Sequence[RecordedRequest]) -> str:
    """The texts of some requests in their order; a repeated one once."""
    texts = (text for request in requests for _, text in texts_sent(request))
    return "\n".join(dict.fromkeys(texts))


def texts_held(item: Item, trial: Trial, sent: str) -> dict[str, str]:
    """Those texts of an item that were sent, by the names of its fields."""
    texts = item_texts(item, trial.order)
    return {name: text for name, text in texts.items() if holds(sent, text) or _says(sent, text)}


def _says(sent: str, text: str) -> bool:
    """Whether a function sent all that is said in a conversation, in whatever form."""
    said = [message.text for message in messages_in(text) or () if len(message.text) > LONG_TEXT]
    return bool(said) and all(holds(sent, part) for part in said)


@dataclass(frozen=True, slots=True)
class AskedTexts:
    """What a function sent in each trial of a suite.

    Attributes:
        items: of the suite, by id.
        requests: by trial, see `requests_of`.
    """

    items: Mapping[str, Item]
    requests: Mapping[str, Sequence[RecordedRequest]]

    def prompt_of(self, trial: Trial) -> str:
        """All texts of its requests; in brackets where there are none."""
        requests = self.requests.get(trial.id)
        if not requests:
            return NOTHING_SENT
        text = text_of(requests) or _WITHOUT_TEXT
        return f"{_GIVEN}\n{text}" if requests[0].method == CALL else text

    def question_of(self, trial: Trial) -> str:
        """The texts of its item beside the answers that were sent; without such, the answers.

        Where none was sent as it stands, the whole prompt.
        """
        item = self.items[trial.item]
        held = texts_held(item, trial, self._text(trial))
        fields = [text for name, text in held.items() if name in item.fields]
        return " / ".join(fields or self.contents_of(trial)) or self.prompt_of(trial)

    def contents_of(self, trial: Trial) -> tuple[str, ...]:
        """Those contents of its item that were sent, in the item's own order."""
        sent = self._text(trial)
        contents = self.items[trial.item].contents_in(trial.order)
        return tuple(text for text in contents if holds(sent, text))

    def _text(self, trial: Trial) -> str:
        return text_of(self.requests.get(trial.id, ()))
