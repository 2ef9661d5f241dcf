"""Several recordings of one judge on one suite, made one: of shards, and of two branches of git.

What one trial holds belongs together, and is taken or left as a whole. Shards are parts of one
recording, and must agree. Two branches began from a recording that both have changed; what they
changed in different ways is dropped, for then nobody knows the answer to what is asked now, and
``--judge-mode record`` asks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

from pytest_judgesense.cassettes.exchange import LOOK_UP, Exchange, in_final_form
from pytest_judgesense.cassettes.matching import digest_of
from pytest_judgesense.cassettes.storage import read_exchanges, replace_content, rewrite
from pytest_judgesense.errors import CassetteError
from pytest_judgesense.files.opening import read_bytes
from pytest_judgesense.trial import grouped, woven

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


# --- two branches ---------------------------------------------------------------------------------


class MergedRecording(NamedTuple):
    """A recording of two branches.

    Attributes:
        exchanges: in their final form.
        dropped: trials that both sides have asked anew, with different answers.
        undeleted: trials that one side has asked anew and the other has deleted; they are there.
    """

    exchanges: tuple[Exchange, ...]
    dropped: tuple[str, ...]
    undeleted: tuple[str, ...]


def merge_into(ours: Path, base: Path, theirs: Path) -> MergedRecording | None:
    """Write what two branches recorded in the place of ``ours``; ``None`` if no more than one did.

    Raises:
        BrokenCassette: one of the files is no recording; nothing is changed.
        CassetteError: one cannot be opened, or ``ours`` cannot be written.
    """
    recordings = [read_exchanges(path) for path in (base, ours, theirs)]
    before, own, other = (_content_of(path) for path in (base, ours, theirs))
    if other in (own, before):
        return None
    if own == before:
        replace_content(ours, other)
        return None
    merged = merged_recording(*recordings)
    rewrite(ours, merged.exchanges)
    return merged


def _content_of(path: Path) -> bytes:
    with CassetteError.instead_of(
        OSError, f"{path} cannot be read", expected="a recording: a file of lines"
    ):
        return read_bytes(path)


def merged_recording(
    base: Sequence[Exchange], ours: Sequence[Exchange], theirs: Sequence[Exchange]
) -> MergedRecording:
    """What two branches recorded, trial by trial, where ``base`` is what both began with.

    What one side alone has changed, added or deleted is as that side has it. What both have asked
    anew counts once if the answers are the same, else it is dropped; look-ups, which every
    recording makes again, are those that were answered first. What one side has deleted and the
    other asked anew is there.
    """
    sides = [grouped(side, attrgetter("trial")) for side in (base, ours, theirs)]
    look_ups = _merged_look_ups(*(side.pop(LOOK_UP, []) for side in sides))
    before, first, second = sides
    order = woven(first, second)
    merged: dict[str, list[Exchange]] = {}
    dropped, undeleted = [], []
    for trial in order:
        old, own, other = (side.get(trial, []) for side in (before, first, second))
        exchanges = _of_three(old, own, other)
        if exchanges is None:
            dropped.append(trial)
        else:
            merged[trial] = exchanges
            if old and exchanges and not (own and other):
                undeleted.append(trial)
    every = chain(look_ups, *merged.values())
    return MergedRecording(tuple(in_final_form(every, order)), tuple(dropped), tuple(undeleted))


def _of_three(
    old: list[Exchange], own: list[Exchange], other: list[Exchange]
) -> list[Exchange] | None:
    """What a trial holds; nothing of one that is deleted, ``None`` where the sides disagree."""
    if other in (own, old):
        return own
    if own == old:
        return other
    if not (own and other):
        return own or other
    returns = [[e.response for e in side if e.returns] for side in (own, other)]
    if all(returns) and returns[0] != returns[1]:
        return None
    try:
        return _agreed(own, other, "ours", "theirs")
    except CassetteError:
        return None


def _merged_look_ups(
    base: Sequence[Exchange], ours: Sequence[Exchange], theirs: Sequence[Exchange]
) -> list[Exchange]:
    """The look-ups of both sides, those that only one has as that side has them."""

    def by_request(side: Iterable[Exchange]) -> Mapping[str, list[Exchange]]:
        return grouped(side, lambda exchange: digest_of(exchange.request))

    before, first, second = map(by_request, (base, ours, theirs))
    merged: list[Exchange] = []
    for request in woven(first, second):
        old, own, other = (side.get(request, []) for side in (before, first, second))
        exchanges = _of_three(old, own, other)
        merged += _earliest([*own, *other]) if exchanges is None else exchanges
    return [replace(exchange, call=call) for call, exchange in enumerate(merged, start=1)]
