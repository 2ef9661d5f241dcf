"""Joining recordings: shards of a CI run, or recordings of two machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Final

from pytest_judgesense.cassettes.exchange import Exchange, renumbered
from pytest_judgesense.cassettes.matching import digest_of
from pytest_judgesense.errors import CassetteError
from pytest_judgesense.grouping import grouped

# Characters of an answer in a message.
_LONGEST: Final = 160


def join(
    parts: Sequence[tuple[str, Iterable[Exchange]]],
    order: Callable[[Iterable[str]], Sequence[str]],
) -> list[Exchange]:
    """One recording from several: each trial once, in ``order``, independent of the order of parts.

    Two recordings of a trial agree if their answers are the same, or those of one are the first of
    the other, because a recording may have been interrupted. Errors of all recordings are kept.
    Each of the ``parts`` has a name, for messages; ``order`` sorts ids of trials.

    Raises:
        CassetteError: a trial is recorded twice, and the recordings do not agree.
    """
    joined: dict[str, tuple[str, list[Exchange]]] = {}
    for name, exchanges in parts:
        by_call = sorted(exchanges, key=attrgetter("call"))
        for trial, given in grouped(by_call, attrgetter("trial")).items():
            first, known = joined.get(trial, (name, given))
            joined[trial] = first, _agreed(known, given, first, name)
    return list(renumbered(one for trial in order(joined) for one in joined[trial][1]))


def _agreed(one: list[Exchange], other: list[Exchange], first: str, second: str) -> list[Exchange]:
    for a, b in zip(_answers(one), _answers(other), strict=False):
        if _content(a) != _content(b):
            raise CassetteError(
                f"trial {a.trial} is recorded twice, and not alike",
                found=f"{_shown(a, b)} in {first}, {_shown(b, a)} in {second}",
                expected="one recording of a trial, or several that agree",
                remedy="delete the lines of this trial from one of the two",
            )
    # Equal except for their dates: the earlier one, so that the order of the parts does not matter.
    fuller, rest = sorted(
        (one, other),
        key=lambda given: (-len(_answers(given)), -len(given), [e.recorded_at for e in given]),
    )
    errors = [exchange for exchange in fuller if not exchange.answers]
    known = {_content(exchange) for exchange in errors}
    more = [e for e in rest if not e.answers and _content(e) not in known]
    # Errors come before the answer that was given in the end.
    return [*more, *fuller]


def _answers(exchanges: Iterable[Exchange]) -> list[Exchange]:
    return [exchange for exchange in exchanges if exchange.answers]


def _content(exchange: Exchange) -> tuple[str, int, str | bytes]:
    return digest_of(exchange.request), exchange.response.status, exchange.response.body


def _shown(exchange: Exchange, other: Exchange) -> str:
    """When it was recorded, and its answer, around the place where that of ``other`` differs."""
    text, against = _text(exchange), _text(other)
    if len(text) > _LONGEST:
        pairs = enumerate(zip(text, against, strict=False))
        alike = next((at for at, (one, two) in pairs if one != two), min(len(text), len(against)))
        begin = max(0, min(alike - _LONGEST // 4, len(text) - _LONGEST))
        end = begin + _LONGEST
        text = "... " * (begin > 0) + text[begin:end] + " ..." * (end < len(text))
    return f"{exchange.recorded_at}: {exchange.response.status} {text}"


def _text(exchange: Exchange) -> str:
    body = exchange.response.body
    return " ".join(body.split()) if isinstance(body, str) else f"{len(body)} bytes"
