"""What the requests of a judge on a suite have in common: the judge that a calibration is of.

It is told from what was sent, of a function as of a declared judge, and digested, so that a file
can hold it without a text. The prompts are those of `shared_prompt`. A value of a setting counts
that a tenth of the trials have, and at least two of them, which a request id is none of. The seed
is left out: it counts replicates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytest_judgesense.cassettes.exchange import Exchange
from pytest_judgesense.checks.sent import SentPart, parts_sent
from pytest_judgesense.checks.shared_prompt import SentTrial, enough, sent_trials, shared_prompts
from pytest_judgesense.datasheets.datasheet import digest
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial

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
