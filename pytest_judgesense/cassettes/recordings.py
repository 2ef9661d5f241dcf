"""The exchanges of a cassette, indexed: one is found in constant time.

The key is trial, request digest, occurrence. Only answers count as occurrences: an attempt that
ended in an error status and was made again is evidence, and replay goes straight to the answer.
Where a request of a trial never got an answer, its errors are replayed in turn and the last one
again for every further attempt: the trial fails as it failed when it was recorded.

Digests are computed when a trial is first looked up; a file is opened at the price of its parsing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pytest_judgesense.cassettes.exchange import Exchange
from pytest_judgesense.cassettes.key import request_digest

__all__ = ["Recordings", "digest_of"]


def digest_of(exchange: Exchange) -> str:
    """The request digest of ``exchange``."""
    request = exchange.request
    return request_digest(request.method, request.url, request.body)


@dataclass(slots=True)
class _Replies:
    """What one request of a trial was answered, in the order of the calls."""

    answers: list[Exchange] = field(default_factory=list)
    errors: list[Exchange] = field(default_factory=list)

    def add(self, exchange: Exchange) -> None:
        (self.answers if exchange.answers else self.errors).append(exchange)


@dataclass(slots=True)
class _OfTrial:
    """The exchanges of one trial with their lines; ``by_digest`` is ``None`` until needed."""

    numbered: list[tuple[Exchange, int | None]] = field(default_factory=list)
    by_digest: dict[str, _Replies] | None = None

    def index(self) -> dict[str, _Replies]:
        if self.by_digest is None:
            self.by_digest = {}
            for exchange, _ in sorted(self.numbered, key=lambda pair: pair[0].call):
                self.by_digest.setdefault(digest_of(exchange), _Replies()).add(exchange)
        return self.by_digest


class Recordings:
    """The exchanges of one cassette. Not safe with threads: the tape holds a lock around it."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        """Index ``exchanges``, which are in the order of their lines."""
        self._trials: dict[str, _OfTrial] = {}
        self._instants: list[str] = []
        for line, exchange in enumerate(exchanges, start=1):
            self._add(exchange, line)

    @property
    def trials(self) -> set[str]:
        """Ids of the trials of which anything is recorded."""
        return set(self._trials)

    @property
    def span(self) -> tuple[str, str] | None:
        """When the first and the last exchange were recorded; ``None`` if there is none."""
        return (min(self._instants), max(self._instants)) if self._instants else None

    def add(self, exchange: Exchange) -> None:
        """Add an exchange that was recorded just now."""
        self._add(exchange, None)

    def _add(self, exchange: Exchange, line: int | None) -> None:
        of_trial = self._trials.setdefault(exchange.trial, _OfTrial())
        of_trial.numbered.append((exchange, line))
        if of_trial.by_digest is not None:
            of_trial.by_digest.setdefault(digest_of(exchange), _Replies()).add(exchange)
        self._instants.append(exchange.recorded_at)

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
        of_trial = self._trials.get(trial)
        return sorted(of_trial.numbered, key=lambda pair: pair[0].call) if of_trial else []

    def last_call(self, trial: str) -> int:
        """The highest call number of ``trial``; 0 if nothing is recorded."""
        return max((exchange.call for exchange, _ in self.of(trial)), default=0)

    def complete(self, trial: str) -> bool:
        """Whether the last exchange of ``trial`` is an answer."""
        exchanges = self.of(trial)
        return bool(exchanges) and exchanges[-1][0].answers
