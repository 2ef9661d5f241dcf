"""Joining recordings: shards of a CI run, or recordings of two machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from typing import Final

from pytest_judgesense.cassettes.exchange import LOOK_UP, Exchange, in_final_form
from pytest_judgesense.cassettes.matching import digest_of
from pytest_judgesense.errors import CassetteError
from pytest_judgesense.trial import grouped

# Characters of an answer in a message.
_LONGEST: Final = 160


def join(
    parts: Sequence[tuple[str, Iterable[Exchange]]],
    order: Callable[[Iterable[str]], Sequence[str]],
) -> list[Exchange]:
    """One recording from several: each trial once, in ``order``, independent of the order of parts.

    Two recordings of a trial agree if their answers are the same, or those of one are the first of
    the other, because a recording may have been interrupted. Errors of all recordings are kept.
    Look-ups are those of all parts, the earliest answer of each.
    Each of the ``parts`` has a name, for messages; ``order`` sorts ids of trials.

    Raises:
        CassetteError: a trial is recorded twice, and the recordings do not agree.
    """
    joined: dict[str, tuple[str, list[Exchange]]] = {}
    look_ups: list[Exchange] = []
    for name, exchanges in parts:
        by_call = sorted(exchanges, key=attrgetter("returns", "call"))
        by_trial = grouped(by_call, attrgetter("trial"))
        look_ups += by_trial.pop(LOOK_UP, [])
        for trial, of_trial in by_trial.items():
            first, earlier = joined.get(trial, (name, of_trial))
            joined[trial] = first, _agreed(earlier, of_trial, first, name)
    every = [*_earliest(look_ups), *chain.from_iterable(lines for _, lines in joined.values())]
    return list(in_final_form(every, order(joined)))


def _earliest(look_ups: Iterable[Exchange]) -> list[Exchange]:
    """Each look-up once, numbered, independent of their order."""
    by_request: dict[str, Exchange] = {}
    for exchange in sorted(look_ups, key=attrgetter("recorded_at", "response.body")):
        by_request.setdefault(digest_of(exchange.request), exchange)
    ordered = (by_request[digest] for digest in sorted(by_request))
    return [replace(exchange, call=call) for call, exchange in enumerate(ordered, start=1)]


def _agreed(
    earlier: list[Exchange], later: list[Exchange], first: str, second: str
) -> list[Exchange]:
    for a, b in zip(_answers(earlier), _answers(later), strict=False):
        if _content(a) != _content(b):
            raise CassetteError(
                f"trial {a.trial} is recorded twice, and not alike",
                found=f"{_shown(a, b)} in {first}, {_shown(b, a)} in {second}",
                expected="one recording of a trial, or several that agree",
                remedy="delete the lines of this trial from one of the two",
            )
    # Equal except for their dates: the earlier one, so that the order of the parts does not matter.
    fuller, rest = sorted(
        (earlier, later),
        key=lambda exchanges: (
            -len(_answers(exchanges)),
            -len(exchanges),
            [e.recorded_at for e in exchanges],
        ),
    )
    contents = {_content(exchange) for exchange in fuller if not exchange.answers}
    more = [e for e in rest if not (e.answers or e.returns or _content(e) in contents)]
    returned = [exchange for exchange in (*fuller, *rest) if exchange.returns][:1]
    # Errors come before the answer that was given in the end.
    calls = [*more, *(exchange for exchange in fuller if not exchange.returns)]
    numbered = (replace(exchange, call=call) for call, exchange in enumerate(calls, start=1))
    return [*numbered, *returned]


def _answers(exchanges: Iterable[Exchange]) -> list[Exchange]:
    return [exchange for exchange in exchanges if exchange.answers]


def _content(exchange: Exchange) -> tuple[str, int, str | bytes]:
    return digest_of(exchange.request), exchange.response.status, exchange.response.body


def _shown(exchange: Exchange, other: Exchange) -> str:
    """When it was recorded, and its answer, around the place where that of ``other`` differs."""
    text, against = _text(exchange), _text(other)
    if len(text) > _LONGEST:
        pairs = enumerate(zip(text, against, strict=False))
        alike = next(
            (place for place, (own, other_octet) in pairs if own != other_octet),
            min(len(text), len(against)),
        )
        begin = max(0, min(alike - _LONGEST // 4, len(text) - _LONGEST))
        end = begin + _LONGEST
        text = "... " * (begin > 0) + text[begin:end] + " ..." * (end < len(text))
    return f"{exchange.recorded_at}: {exchange.response.status} {text}"


def _text(exchange: Exchange) -> str:
    body = exchange.response.body
    return " ".join(body.split()) if isinstance(body, str) else f"{len(body)} bytes"
