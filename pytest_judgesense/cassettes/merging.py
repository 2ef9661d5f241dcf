"""Joining recordings: shards of a CI run, or recordings of two machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter

from pytest_judgesense.cassettes.exchange import Exchange, renumbered
from pytest_judgesense.cassettes.matching import digest_of
from pytest_judgesense.errors import CassetteError
from pytest_judgesense.grouping import grouped


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
                found=f"{_shown(a)} in {first}, {_shown(b)} in {second}",
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


def _shown(exchange: Exchange) -> str:
    body = exchange.response.body
    text = " ".join(body.split()) if isinstance(body, str) else f"{len(body)} bytes"
    shown = text if len(text) <= 160 else f"{text[:60]} ... {text[-90:]}"
    return f"{exchange.recorded_at}: {exchange.response.status} {shown}"
