"""The exchanges of a cassette, indexed: one is found in constant time.

The key is trial, request digest, occurrence. Only answers count as occurrences: an attempt that
ended in an error status and was made again is evidence, and replay goes straight to the answer.
Where a request of a trial never got an answer, its errors are replayed in turn and the last one
again for every further attempt: the trial fails as it failed when it was recorded.

Every line is verified when a file is opened, and kept as its bytes: a large cassette takes little
more memory than its size on the disk, whatever its characters. An exchange is made of its line when
its trial is looked up, and digests are computed only where the texts of two requests differ.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from pytest_judgesense.cassettes.bodies import Parts
from pytest_judgesense.cassettes.exchange import Body, Exchange, entry_of, is_answer
from pytest_judgesense.cassettes.journal import Line
from pytest_judgesense.cassettes.key import request_digest
from pytest_judgesense.errors import CassetteError

__all__ = ["Recordings", "digest_of", "join", "models_of"]


def digest_of(exchange: Exchange) -> str:
    """The request digest of ``exchange``."""
    request = exchange.request
    return request_digest(request.method, request.url, request.body)


def models_of(exchanges: Iterable[Exchange]) -> dict[str, Counter[str]]:
    """How many answers name each model, by the model that was asked for."""
    found: dict[str, Counter[str]] = {}
    for exchange in exchanges:
        if exchange.answers and exchange.models:
            asked, served = exchange.models
            found.setdefault(asked, Counter())[served] += 1
    return found


@dataclass(slots=True)
class _Replies:
    """What one request of a trial was answered, in the order of the calls."""

    answers: list[Exchange] = field(default_factory=list)
    errors: list[Exchange] = field(default_factory=list)

    def add(self, exchange: Exchange) -> None:
        (self.answers if exchange.answers else self.errors).append(exchange)


class _Entry(NamedTuple):
    """An exchange: its verified line, with what is asked of it often, or the exchange itself."""

    call: int
    answers: bool
    line: int | None
    at: str
    source: bytes | Exchange
    parts: Parts = MappingProxyType({})

    @property
    def exchange(self) -> Exchange:
        if isinstance(self.source, Exchange):
            return self.source
        return Exchange.from_entry(entry_of(self.source.decode()), self.parts)


@dataclass(slots=True)
class _OfTrial:
    """The exchanges of one trial by call; ``by_digest`` is ``None`` until needed."""

    entries: list[_Entry] = field(default_factory=list)
    by_digest: dict[str, _Replies] | None = None

    def add(self, entry: _Entry) -> None:
        if self.by_digest is not None:
            exchange = entry.exchange
            self.by_digest.setdefault(digest_of(exchange), _Replies()).add(exchange)
        self.entries.append(entry)
        if len(self.entries) > 1 and entry.call < self.entries[-2].call:
            self.entries.sort(key=lambda item: item.call)

    def index(self) -> dict[str, _Replies]:
        if self.by_digest is None:
            self.by_digest = {}
            for entry in self.entries:
                exchange = entry.exchange
                self.by_digest.setdefault(digest_of(exchange), _Replies()).add(exchange)
        return self.by_digest


class Recordings:
    """The exchanges of one cassette. Not safe with threads: the tape holds a lock around it."""

    def __init__(self, exchanges: Iterable[Exchange] = ()) -> None:
        """Index ``exchanges``, which are in the order of their lines."""
        self._trials: dict[str, _OfTrial] = {}
        self._span: tuple[str, str] | None = None
        for line, exchange in enumerate(exchanges, start=1):
            self._add_exchange(exchange, line)

    @classmethod
    def of_lines(cls, lines: Iterable[Line], parts: Parts = MappingProxyType({})) -> Recordings:
        """The exchanges of verified lines, as a file is read, and what their bodies refer to."""
        recordings = cls()
        for number, (line, entry) in enumerate(lines, start=1):
            response = entry["response"]
            answers = is_answer(response["status"], response["headers"])
            at = sys.intern(entry["recorded_at"])  # many lines share a second
            known = _Entry(entry["call"], answers, number, at, line, parts)
            recordings._add(entry["trial"], known)
        return recordings

    @property
    def trials(self) -> set[str]:
        """Ids of the trials of which anything is recorded."""
        return set(self._trials)

    @property
    def span(self) -> tuple[str, str] | None:
        """When the first and the last exchange were recorded; ``None`` if there is none."""
        return self._span

    def span_of(self, trials: Iterable[str]) -> tuple[str, str] | None:
        """When the first and the last answer to ``trials`` was recorded; ``None`` without any.

        An attempt that failed before its answer came is evidence, and makes the answer no older;
        of a trial that never got one, its errors count.
        """
        moments = []
        for trial in trials:
            entries = self._entries(trial)
            moments += [e.at for e in entries if e.answers] or [e.at for e in entries]
        return (min(moments), max(moments)) if moments else None

    def add(self, exchange: Exchange) -> None:
        """Add an exchange that was recorded just now."""
        self._add_exchange(exchange, None)

    def _add_exchange(self, exchange: Exchange, line: int | None) -> None:
        at = exchange.recorded_at
        self._add(exchange.trial, _Entry(exchange.call, exchange.answers, line, at, exchange))

    def _add(self, trial: str, entry: _Entry) -> None:
        of_trial = self._trials.get(trial)
        if of_trial is None:
            of_trial = self._trials[trial] = _OfTrial()
        of_trial.add(entry)
        first, last = self._span or (entry.at, entry.at)
        self._span = (min(first, entry.at), max(last, entry.at))

    def sole_answer(self, trial: str, method: str, url: str, body: Body) -> Exchange | None:
        """The answer to a request if it is the only one recorded of ``trial``, text for text.

        Of nearly every trial there is one exchange, and its request is asked as it was recorded:
        comparing the texts is all it takes.
        """
        of_trial = self._trials.get(trial)
        if of_trial is None or len(of_trial.entries) != 1 or not of_trial.entries[0].answers:
            return None
        exchange = of_trial.entries[0].exchange
        recorded = exchange.request
        same = recorded.body == body and recorded.url == url and recorded.method == method
        return exchange if same else None

    def find(
        self, trial: str, digest: str, occurrence: int, *, replay_errors: bool
    ) -> Exchange | None:
        """The exchange that answers the request ``digest`` of ``trial`` for this ``occurrence``.

        Args:
            trial: id of the trial.
            digest: digest of the request.
            occurrence: how often the trial has made this request before, from 0.
            replay_errors: whether errors stand in where there is no answer.
        """
        of_trial = self._trials.get(trial)
        replies = of_trial.index().get(digest) if of_trial else None
        if replies is None:
            return None
        if occurrence < len(replies.answers):
            return replies.answers[occurrence]
        if replies.answers or not replay_errors:
            return None
        return replies.errors[min(occurrence, len(replies.errors) - 1)]

    def knows(self, trial: str, digest: str) -> bool:
        """Whether ``trial`` has made the request ``digest``, answered or not."""
        of_trial = self._trials.get(trial)
        return of_trial is not None and digest in of_trial.index()

    def of(self, trial: str) -> list[tuple[Exchange, int | None]]:
        """The exchanges of ``trial`` by call, each with its line if it was read from the file."""
        return [(entry.exchange, entry.line) for entry in self._entries(trial)]

    def last_call(self, trial: str) -> int:
        """The highest call number of ``trial``; 0 if nothing is recorded."""
        entries = self._entries(trial)
        return entries[-1].call if entries else 0

    def complete(self, trial: str) -> bool:
        """Whether the last exchange of ``trial`` is an answer."""
        entries = self._entries(trial)
        return bool(entries) and entries[-1].answers

    def _entries(self, trial: str) -> list[_Entry]:
        of_trial = self._trials.get(trial)
        return of_trial.entries if of_trial else []


def join(
    parts: Sequence[tuple[str, Iterable[Exchange]]],
    order: Callable[[Iterable[str]], Sequence[str]],
) -> list[Exchange]:
    """One recording of several: each trial once, in ``order``, whatever the order of the parts.

    Two recordings of a trial agree if the answers of one are those of the other, or the first of
    them: a recording may have been interrupted. Errors are evidence of all of them, and are kept.

    Args:
        parts: exchanges, and the name of what they are from for messages.
        order: puts ids of trials in their order.

    Raises:
        CassetteError: a trial is recorded twice, and the recordings do not agree.
    """
    joined: dict[str, tuple[str, list[Exchange]]] = {}
    for name, exchanges in parts:
        for trial, given in _by_trial(exchanges).items():
            first, known = joined.get(trial, (name, given))
            joined[trial] = first, _agreed(known, given, first, name)
    return [
        replace(exchange, call=call)
        for trial in order(joined)
        for call, exchange in enumerate(joined[trial][1], start=1)
    ]


def _by_trial(exchanges: Iterable[Exchange]) -> dict[str, list[Exchange]]:
    trials: dict[str, list[Exchange]] = {}
    for exchange in sorted(exchanges, key=lambda one: one.call):
        trials.setdefault(exchange.trial, []).append(exchange)
    return trials


def _agreed(one: list[Exchange], other: list[Exchange], first: str, second: str) -> list[Exchange]:
    for a, b in zip(_answers(one), _answers(other), strict=False):
        if _content(a) != _content(b):
            raise CassetteError(
                f"trial {a.trial} is recorded twice, and not alike",
                found=f"{_shown(a)} in {first}, {_shown(b)} in {second}",
                expected="one recording of a trial, or several that agree",
                remedy="delete the lines of this trial from one of the two",
            )
    fuller, rest = sorted((one, other), key=_fullness)
    errors = [exchange for exchange in fuller if not exchange.answers]
    known = {_content(exchange) for exchange in errors}
    more = [e for e in rest if not e.answers and _content(e) not in known]
    # Errors come before the answer that was given in the end.
    return [*more, *fuller]


def _fullness(exchanges: list[Exchange]) -> tuple[int, int, list[str]]:
    # Alike but for their dates: the earlier one, so that the order of the parts does not matter.
    dates = [exchange.recorded_at for exchange in exchanges]
    return -len(_answers(exchanges)), -len(exchanges), dates


def _answers(exchanges: Iterable[Exchange]) -> list[Exchange]:
    return [exchange for exchange in exchanges if exchange.answers]


def _content(exchange: Exchange) -> tuple[str, int, Body]:
    return digest_of(exchange), exchange.response.status, exchange.response.body


def _shown(exchange: Exchange) -> str:
    body = exchange.response.body
    text = " ".join(body.split()) if isinstance(body, str) else f"{len(body)} bytes"
    shown = text if len(text) <= 160 else f"{text[:60]} ... {text[-90:]}"
    return f"{exchange.recorded_at}: {exchange.response.status} {shown}"
