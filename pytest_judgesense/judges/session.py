"""The trials that a session has called, shared by its processes so that none is called twice.

Cassettes hold answers. This holds the rest: trials that failed, which a later session is to ask
again and this one is not; how often a call was retried and how long it took; the notices of a
recording; and errors that ended a measurement. So it does not matter which worker of xdist measures
a suite first, nor which of two suites that share trials: each counts and says the same.

Without a folder a single process keeps them in memory. In a folder there is one file for each
cassette, read and appended by the process that holds the cassette; each line is written when a
trial has ended. A line starts with its line break, so a line left unfinished by a killed process
damages no other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pytest_judgesense import errors
from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.exchange import Exchange, text_id
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.errors import JudgesenseError
from pytest_judgesense.judges.client import unasked_endpoint
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Answer, refusal
from pytest_judgesense.trial import Failed, RequestCount, Trial


@dataclass(frozen=True, slots=True)
class AskedTrial:
    """A trial that was asked in this session, with the digest of the messages it was asked with.

    ``failed`` says why there is no reply; otherwise the cassette holds the reply.
    """

    trial: str
    prompt: str
    retried: int
    latency_s: float | None
    failed: str | None
    sent: int = 0
    timed_out: int = 0

    def again(self, answer: Answer) -> Answer:
        """``answer``, which a recording gave, as the session got it when it asked."""
        return replace(
            answer,
            latency_s=self.latency_s,
            made=True,
            retried=self.retried,
            sent=self.sent,
            timed_out=self.timed_out,
        )


class Refusals:
    """The cells of a temperature suite that an endpoint does not take, each with its words.

    A cell is a template at a temperature. Once one trial of it is refused, no other is asked.
    """

    def __init__(self) -> None:
        self._refused: dict[tuple[str, object], Failed] = {}

    def learn(self, trial: Trial, reply: Reply | Failed) -> None:
        """Note the outcome of ``trial`` if it was refused."""
        temperature = trial.condition.get("temperature")
        if temperature is not None and isinstance(reply, Failed) and refusal(reply.reason):
            self._refused.setdefault((trial.template, temperature), reply)

    def of(self, trial: Trial) -> Answer | None:
        """The outcome of ``trial`` without a call; ``None`` if its cell was not refused."""
        refused = self._refused.get((trial.template, trial.condition.get("temperature")))
        return None if refused is None else Answer(refused)


def refused_unasked(
    judge: JudgeSpec, cassette: Cassette, trials: Sequence[Trial]
) -> dict[str, Answer]:
    """The outcomes of ``trials`` that a recording lacks because their cell was refused."""
    recorded = cassette.trials
    left = [t for t in trials if "temperature" in t.condition and t.id not in recorded]
    if not left:
        return {}
    endpoint = unasked_endpoint(judge)
    refusals, by_id = Refusals(), {trial.id: trial for trial in trials}
    for exchange in read_exchanges(cassette.path):
        if exchange.trial in by_id and not exchange.answers:
            refusals.learn(by_id[exchange.trial], endpoint.reply_in(exchange))
    return {trial.id: answer for trial in left if (answer := refusals.of(trial))}


class AskedTrials:
    """The session's trials on one cassette. Use it only while holding the cassette."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        lines = list(_lines(file))
        self._notices = {line["notice"]: None for line in lines if "notice" in line}
        self._asked = {line["trial"]: AskedTrial(**line) for line in lines if "trial" in line}
        self._cut = {line["cut"]: RequestCount(*line["sent"]) for line in lines if "cut" in line}

    @property
    def failed(self) -> frozenset[str]:
        """Ids of the trials that were asked and have no reply."""
        return frozenset(id_ for id_, record in self._asked.items() if record.failed is not None)

    def of(self, trial: str, messages: Sequence[Mapping[str, str]]) -> AskedTrial | None:
        """The trial, if the session has asked it with the same ``messages``."""
        before = self._asked.get(trial)
        return before if before is not None and before.prompt == _digest(messages) else None

    def failure(self, trial: str, messages: Sequence[Mapping[str, str]]) -> Answer | None:
        """The outcome of the trial, if the session has called it and got no reply."""
        before = self.of(trial, messages)
        return before.again(Answer(Failed(before.failed))) if before and before.failed else None

    def add(self, trial: str, messages: Sequence[Mapping[str, str]], answer: Answer) -> None:
        """Note that the trial was called, and its outcome."""
        failed = answer.reply.reason if isinstance(answer.reply, Failed) else None
        record = AskedTrial(
            trial,
            _digest(messages),
            answer.retried,
            answer.latency_s,
            failed,
            answer.sent,
            answer.timed_out,
        )
        self._asked[trial] = record
        if self._file is not None:
            self._write(asdict(record))

    def add_cut(self, trial: str, requests: RequestCount) -> None:
        """Note the requests that were sent for a trial which a limit of the user has cut."""
        if requests.sent:
            self._cut[trial] = requests
            self._write({"cut": trial, "sent": requests})

    @property
    def requests(self) -> dict[str, RequestCount]:
        """By trial, the requests that the session has sent, with or without an answer."""
        answered = {
            id_: RequestCount(record.sent, record.retried, record.timed_out)
            for id_, record in self._asked.items()
        }
        return self._cut | answered

    def noted(self, notices: Iterable[str]) -> tuple[str, ...]:
        """The session's notices about this cassette so far, with ``notices`` added."""
        for notice in notices:
            if notice not in self._notices:
                self._notices[notice] = None
                self._write({"notice": notice})
        return tuple(self._notices)

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._file is not None:
            with self._file.open("a", encoding="utf-8", newline="\n") as file:
                file.write(f"\n{json.dumps(line)}")


class SessionCalls:
    """The session's trials on all cassettes.

    Its processes share a ``folder``; ``None`` where there is one process.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._here: dict[Path, AskedTrials] = {}
        self._errors: dict[tuple[str, ...], JudgesenseError] = {}
        self._look_ups: dict[str, dict[str, Exchange]] = {}
        self._told: dict[tuple[str, str], str] = {}

    def on(self, cassette: Path) -> AskedTrials:
        """The trials called on a cassette by any process; call it while holding the cassette."""
        if self._folder is not None:
            return AskedTrials(self._folder / f"asked-{text_id(str(cassette))}.jsonl")
        return self._here.setdefault(cassette, AskedTrials())

    def look_ups_of(self, judge: str) -> dict[str, Exchange]:
        """The look-ups that a judge has made in this process, by digest, to be added to.

        Another process makes them itself.
        """
        return self._look_ups.setdefault(judge, {})

    def tells(self, topic: str, judge: str, place: str) -> bool:
        """Whether ``place`` is where the session says something of a judge that it says once.

        The first place that asks is, and no other process says it once more.
        """
        key = topic, judge
        if key not in self._told:
            self._told[key] = place if self._is_first(key) else ""
        return self._told[key] == place

    def _is_first(self, key: tuple[str, ...]) -> bool:
        """Whether no other process has asked for ``key``."""
        if self._folder is None:
            return True
        try:
            (self._folder / f"told-{text_id(json.dumps(key))}").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def error(self, *key: str) -> JudgesenseError | None:
        """The error that was noted under ``key``, by this process or another."""
        if key not in self._errors and self._folder is not None:
            for line in _lines(self._file_of(key)):
                kind = getattr(errors, line.pop("kind"), JudgesenseError)
                self._errors[key] = kind(line.pop("what"), **line)
        return self._errors.get(key)

    def note_error(self, error: JudgesenseError, *key: str) -> None:
        """Note that ``error`` is the outcome of ``key``; the first one counts."""
        if self.error(*key) is not None:
            return
        self._errors[key] = error
        if self._folder is not None:
            parts = {name: getattr(error, name) for name in ("what", "found", "expected", "remedy")}
            line = json.dumps({"kind": type(error).__name__, **parts})
            self._file_of(key).write_text(line, encoding="utf-8")

    def _file_of(self, key: tuple[str, ...]) -> Path:
        assert self._folder is not None
        return self._folder / f"error-{text_id(json.dumps(key))}.json"


def _lines(file: Path | None) -> Iterable[dict[str, Any]]:
    """The complete lines of a file; empty if there is no such file."""
    if file is None or not file.exists():
        return
    for line in file.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue  # nothing before the first line break; or half a line of a killed process
        yield value


def _digest(messages: Sequence[Mapping[str, str]]) -> str:
    # Of a text that lives as long as the session: quicker than JSON, and as unambiguous.
    return text_id(repr([sorted(message.items()) for message in messages]))
