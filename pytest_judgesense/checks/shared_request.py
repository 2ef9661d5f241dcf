"""What the requests of a judge on a suite have in common: the judge that a calibration is of.

It is told from what was sent, of a function as of a declared judge, and digested, so that a file
can hold it without a text. In the prompts the texts of an item are ``{{name}}``; a line counts that
a tenth of the trials of one wording have, and at least two of them, for what fewer have is of an
item that was not shown as it stands. So are values of settings, which a request id is none of. The
seed is left out: it counts replicates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pytest_judgesense.cassettes.exchange import CALL, RETURN, Exchange, RecordedRequest
from pytest_judgesense.checks.sent import Requests, SentPart, Texts, masked, parts_sent
from pytest_judgesense.datasheet import digest
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial

_SHARE: Final = 0.1
# Settings of more characters are shown by a digest.
_LONGEST: Final = 60
_SEED: Final = "seed"
_PROMPTS: Final[tuple[SentPart, ...]] = ("system prompt", "prompt")
_Value = TypeVar("_Value")


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
    items = {item.id: item for item in suite.items}
    asked: list[tuple[str, Requests, Texts]] = [
        (trial.template, requests, items[trial.item].texts(trial.order))
        for trial in trials
        if (requests := _answered(recorded.get(trial.id, ())))
    ]
    ignored = {name.removeprefix("body.") for name in judge.ignore}
    return shared_of(asked, ignored) if asked else None


def shared_of(
    asked: Sequence[tuple[str, Requests, Texts]], ignored: Collection[str] = ()
) -> SharedRequest:
    """What requests share.

    Args:
        asked: of each trial the id of its wording, its requests, and the texts of its item.
        ignored: settings that do not count.
    """
    prompts: dict[str, list[list[str]]] = {}
    settings: dict[str, Counter[str]] = {}
    forms: dict[str, Counter[str]] = {}
    kinds: tuple[tuple[SentPart, dict[str, Counter[str]]], ...] = (
        ("settings", settings),
        ("reply form", forms),
    )
    for wording, requests, texts in asked:
        parts = parts_sent(requests)
        lines = [
            f"{part}: {line.strip()}"
            for part in _PROMPTS
            for text in parts.get(part, {}).values()
            for line in masked(text, texts).splitlines()
            if line.strip()
        ]
        prompts.setdefault(wording, []).append(lines)
        for part, values in kinds:
            for name, value in parts.get(part, {}).items():
                if name not in ignored and name.rpartition(".")[-1] != _SEED:
                    shown = value if len(value) <= _LONGEST else digest(value)
                    values.setdefault(name, Counter())[shown] += 1
    return SharedRequest(
        digest(sorted({text for texts in prompts.values() for text in _shared_texts(texts)})),
        _shared_values(settings, len(asked)),
        digest(_shared_values(forms, len(asked))),
    )


def _answered(exchanges: Iterable[Exchange]) -> list[RecordedRequest]:
    """The requests that were answered; a repetition after a fault is none of its own."""
    return [
        exchange.request
        for exchange in exchanges
        if exchange.answers and exchange.request.method not in (CALL, RETURN)
    ]


def _frequent(counts: Counter[_Value], of: int) -> set[_Value]:
    """What enough of so many trials have."""
    least = max(min(2, of), _SHARE * of)
    return {value for value, count in counts.items() if count >= least}


def _shared_texts(texts: Sequence[Sequence[str]]) -> set[str]:
    """The prompts of one wording without the lines of single items."""
    lines = _frequent(Counter(line for text in texts for line in {*text}), len(texts))
    kept = ["\n".join(line for line in text if line in lines) for text in texts]
    return _frequent(Counter(kept), len(texts))


def _shared_values(values: Mapping[str, Counter[str]], of: int) -> dict[str, str]:
    """The values of each setting, where trials share some."""
    shared = {name: sorted(_frequent(counts, of)) for name, counts in sorted(values.items())}
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
