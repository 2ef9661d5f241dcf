"""Recorded trials found by what was asked, and not by their names: their answers serve again.

A trial that has a new name (its item was given an id, its suite was renamed) asks what another one
asked before it. Where nobody plans that one any more, its lines are written once more, under the
new name and with the old one in a header (`CARRIED`), so that they serve one trial and no second
one. Bodies and dates stay those of the answer; the old lines stay where they are.

What a function asks is known only when it runs, so its trials are found by what it was `Given`.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pytest_judgesense.cassettes.exchange import CALL, CARRIED, LOOK_UP, Exchange, RecordedRequest
from pytest_judgesense.cassettes.matching import Identity, RecordedTrials
from pytest_judgesense.cassettes.storage import CassetteLine, read_lines
from pytest_judgesense.errors import CassetteError

_DIGITS = 16
_CARRIED = f'"{CARRIED}"'.encode()


class Given(NamedTuple):
    """What a function was given in the calls of a trial.

    Attributes:
        digest: of the values of its parameters, or of the messages.
        names: its parameters; ``None`` where it took messages.
    """

    digest: str
    names: tuple[str, ...] | None

    @classmethod
    def in_calls(cls, calls: Sequence[RecordedRequest]) -> Given | None:
        """From calls as `call_of_function` writes them; ``None`` for none, or others."""
        values, names = [], None
        for call in calls:
            try:
                body = json.loads(call.body)
                arguments = body["settings"].get("arguments")
                names = None if arguments is None else tuple(map(str, arguments))
                values.append(body["messages"] if arguments is None else arguments)
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                return None
        text = json.dumps(values, sort_keys=True)
        return cls(hashlib.sha256(text.encode()).hexdigest()[:_DIGITS], names) if values else None

    @classmethod
    def of_text(cls, text: str) -> Given | None:
        """From its `text`; ``None`` where that is empty."""
        digest, *names = text.split(" ")
        return cls(digest, tuple(names) or None) if digest else None

    @property
    def text(self) -> str:
        """As the line of a return holds it: the digest and the parameters, parted by blanks."""
        return " ".join((self.digest, *(self.names or ())))


class RecordedTrial(NamedTuple):
    """A trial that a cassette holds completely.

    Attributes:
        path: the cassette; ``recordings`` are all that it holds.
    """

    id: str
    path: Path
    recordings: RecordedTrials

    @property
    def exchanges(self) -> list[Exchange]:
        """Its calls in their order, attempts that failed among them; without its return."""
        return [exchange for exchange, _ in self.recordings.of(self.id)]

    @property
    def returned(self) -> Exchange | None:
        """What its function returned or raised; ``None`` where that is not recorded."""
        return self.recordings.returned(self.id)

    @property
    def answers(self) -> Mapping[str, int]:
        """How many answers each of its requests got, by digest."""
        return self.recordings.answers_of(self.id)

    def answer(self, digest: str, occurrence: int) -> Exchange | None:
        """The answer to a request that was made ``occurrence`` times before, if there is one."""
        return self.recordings.find(self.id, digest, occurrence, replay_errors=False)

    @property
    def is_of_calls(self) -> bool:
        """Whether the calls of a function are recorded, which has made no request."""
        return all(exchange.request.method == CALL for exchange in self.exchanges)

    @property
    def look_ups(self) -> list[Exchange]:
        """What its cassette holds for any trial."""
        return [exchange for exchange, _ in self.recordings.of(LOOK_UP)]


class JudgeRecordings:
    """All cassettes of a judge in a folder, as they are now.

    Attributes:
        trials: the ids of all trials, complete or not.
        complete: those whose last exchange is an answer, that were not carried over before.
    """

    def __init__(self, folder: Path, identity: Identity) -> None:
        self.trials: set[str] = set()
        carried: set[str] = set()
        complete: list[RecordedTrial] = []
        for path in sorted(folder.glob("*.jsonl")):
            lines = _lines_of(path)
            recordings = RecordedTrials(lines, identity)
            self.trials |= recordings.trials
            carried.update(source for line in lines if (source := _source_of(line)))
            complete += [
                RecordedTrial(trial, path, recordings)
                for trial in dict.fromkeys(line.head.trial for line in lines)
                if trial != LOOK_UP and recordings.complete(trial)
            ]
        self.complete = [trial for trial in complete if trial.id not in carried]


@dataclass(frozen=True)
class FreeTrials:
    """Recorded trials by what they asked; each of them is taken once."""

    _by_key: dict[Hashable, deque[RecordedTrial]] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def add(self, trial: RecordedTrial, keys: Iterable[Hashable]) -> None:
        """Add a trial under each of the keys that find it."""
        for key in keys:
            self._by_key.setdefault(key, deque()).append(trial)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._by_key

    def take(
        self, keys: Sequence[Hashable], is_same: Callable[[RecordedTrial], bool]
    ) -> RecordedTrial | None:
        """The first trial with all of these keys that ``is_same``, taken; ``None`` if none is."""
        if not keys or any(key not in self._by_key for key in keys):
            return None
        # Many items may share one of their requests, and nearly none shares all.
        fewest = min((self._by_key[key] for key in keys), key=len)
        while fewest and fewest[0].id in self._taken:
            fewest.popleft()
        for trial in fewest:
            if trial.id not in self._taken and is_same(trial):
                self._taken.add(trial.id)
                return trial
        return None


def _lines_of(path: Path) -> list[CassetteLine]:
    """The lines of a cassette; none of one that cannot be read, which is not the one in use."""
    with suppress(CassetteError):
        # Another process may be writing its last line.
        return list(read_lines(path, torn=lambda *_: None))
    return []


def _source_of(line: CassetteLine) -> str | None:
    """The trial whose answer a line holds under another name; ``None`` for its own."""
    if _CARRIED not in line.data:  # as of nearly every line
        return None
    return line.exchange.response.headers.get(CARRIED)
