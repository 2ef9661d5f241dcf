"""Logs of inspect_ai, ``.eval`` or ``.json``: each score that a model gave is a grade.

Read are ``eval`` and ``results`` (of ``header.json``, where the log is an archive) and of every
sample ``id``, ``epoch``, ``input``, ``target``, ``metadata`` and ``scores``. A model-graded scorer
keeps its prompt and the reply in ``metadata.grading`` of the score; of other scorers the calls of
the model are looked for among the sample's events, beside the event of the score. A scorer that
called no model is no judge. A score that a person has edited holds the first value in ``history``.
Long texts stand in ``attachments``, and in their place ``attachment://`` with their digest.
The ``messages`` of a sample in which a tool was called, or a user spoke more than once, are its
``conversation``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Final

from pytest_judgesense.errors import LogError, UsageError, listed, unknown_name
from pytest_judgesense.files.conversation import conversation_text
from pytest_judgesense.files.first_sight import FirstSight
from pytest_judgesense.files.foreign_results import Imported, Total, messages_of, slug
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.messages import (
    CONVERSATION,
    NoConversation,
    holds_tools,
    messages_of_chat,
)
from pytest_judgesense.files.tables import malformed, read_document
from pytest_judgesense.instruments.paraphrase.tools.archive import members
from pytest_judgesense.instruments.paraphrase.tools.graded import (
    Grade,
    Graded,
    count_of,
    imported,
    is_figure,
    list_of,
    number_of,
    table_of,
    text_of,
)

# Of an archive, the file with the header; and, of one that is not finished, that which began it.
_HEADERS: Final = ("header.json", "_journal/start.json")
_ATTACHMENT: Final = "attachment://"
# How Inspect's metrics convert a value, in any case; C, P, I and N are kept.
_LETTERS: Final = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS: Final = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def is_of_inspect(sight: FirstSight) -> bool:
    """Whether a file is a log of Inspect, its archive or its JSON."""
    of_json = isinstance(sight.field("eval"), dict) and isinstance(sight.field("samples"), list)
    return of_json or not sight.archive.isdisjoint(_HEADERS)


def imported_inspect(options: ImportOptions) -> Imported:
    """The judgments of ``judgesense import --format inspect``."""
    log = _Log(options)
    header: Mapping[str, Any] = {}
    for name, value in _parts(options.path):
        if name is None:
            header = value
        else:
            log.read(name, value)
    return log.imported(header)


def _parts(path: Path) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    """The samples of a log, each with its place, and its header, without a place."""
    if path.suffix == ".json":
        log = read_document(path, dict, "a log of Inspect")
        samples = log.pop("samples", None) or []
        if not isinstance(samples, list) or not isinstance(log.get("eval"), dict):
            raise malformed(str(path), list(log)[:9], "a log of Inspect, with eval and samples")
        yield from (
            (f"{path}, sample {n}", _object(sample, path)) for n, sample in enumerate(samples, 1)
        )
        yield None, log
        return
    header = None
    for name, value in members(path):
        if name.startswith("samples/"):
            yield f"{path}, {name}", _object(value, path)
        elif name == _HEADERS[0] or (name == _HEADERS[1] and header is None):
            header = _object(value, path)
    if header is None:
        raise LogError(f"{path} has no header", expected="header.json, as Inspect writes it")
    yield None, header


def _object(value: Any, path: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise malformed(str(path), value, "an object")
    return value


@dataclass
class _Log:
    """The state of reading a log.

    Attributes:
        scores: of each scorer, by sample, the values as its metrics take them, edits included.
        unasked: samples without scores; ``broken``: those of them that ended with an error.
        unreadable: what is wrong with messages that are no conversation.
    """

    options: ImportOptions
    graded: list[tuple[str, Graded]] = field(default_factory=list)
    scores: dict[str, dict[str, list[Any]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    without_model: set[str] = field(default_factory=set)
    lists: set[str] = field(default_factory=set)
    unasked: int = 0
    broken: int = 0
    unreadable: list[str] = field(default_factory=list)

    def read(self, where: str, sample: Mapping[str, Any]) -> None:
        """Enter the scores of a sample."""
        read = _Sample(sample)
        fields = self._fields_of(where, read)
        name, epoch = sample.get("id"), sample.get("epoch", 1)
        if not isinstance(name, str | int) or not isinstance(epoch, int):
            raise malformed(f"{where}: id, epoch", [name, epoch], "a text or a number, a number")
        scores = sample.get("scores") or {}
        if not isinstance(scores, dict):
            raise malformed(f"{where}: scores", scores, "an object, a score for each scorer")
        self.unasked += not scores
        self.broken += not scores and bool(sample.get("error"))
        for scorer, score in scores.items():
            if not isinstance(score, dict) or "value" not in score:
                raise malformed(f"{where}: score {scorer}", score, "an object with a value")
            self.scores[scorer][str(name)].append(score["value"])
            history = list_of(score.get("history"))
            first = history[0] if history and isinstance(history[0], dict) else score
            call = read.call_of(scorer, first)
            if call is None and scorer not in self.options.scorer:
                self.without_model.add(scorer)
                continue
            place = f"{where}, score {scorer}"
            for part, value in _values(first.get("value")):
                if isinstance(value, list | dict):
                    self.lists.add(scorer + part)
                    continue
                now = dict(_values(score["value"])).get(part)
                grading = Graded(
                    where=place,
                    suite=scorer + part,
                    item=f"{name}-e{epoch}",
                    test=str(name),
                    grade=_grade(value, place),
                    score=_number(value, place),
                    human=_grade(now, place) if first is not score else None,
                    fields=fields,
                    columns=table_of(sample.get("metadata")),
                    **(call or {"judge": scorer}),
                )
                self.graded.append((scorer, grading))

    def _fields_of(self, where: str, sample: _Sample) -> dict[str, str]:
        """The texts of a sample, and its conversation where that is more than these."""
        try:
            conversation = sample.conversation()
        except NoConversation as error:
            self.unreadable.append(f"{where}: {error.found}")
            conversation = ""
        return {**sample.fields(), **({CONVERSATION: conversation} if conversation else {})}

    def imported(self, header: Mapping[str, Any]) -> Imported:
        """The judgments of the samples that were read."""
        about = header.get("eval")
        if not isinstance(about, dict):
            raise malformed(f"{self.options.path}: eval", about, "an object with the task")
        for scorer in self.options.scorer:
            if scorer not in self.scores:
                raise unknown_name("scorer", scorer, tuple(self.scores))
        wanted = self.options.scorer or tuple(self.scores)
        read = [(scorer, grading) for scorer, grading in self.graded if scorer in wanted]
        base = slug(str(self.options.suite or about.get("task") or self.options.path.stem))
        suites = list(dict.fromkeys(grading.suite for _, grading in read))
        names = {suite: base if len(suites) == 1 else slug(f"{base}-{suite}") for suite in suites}
        if len(set(names.values())) < len(names):
            raise UsageError(
                "two scorers of the log would be one suite",
                found=listed(suites),
                expected="scorers whose names differ in letters and digits",
                remedy="--scorer NAME, one at a time",
            )
        # Of several entries of one name the first counts.
        models = {
            str(scorer.get("name")): table_of(scorer.get("options"))
            for scorer in map(table_of, reversed(list_of(about.get("scorers"))))
        }
        options = {scorer: models.get(scorer, {}) for scorer in self.scores}
        # The model that a scorer was given, or several of a panel; else those that replied.
        panels = {scorer: _models(of.get("model")) for scorer, of in options.items()}
        declared = {scorer: "+".join(dict.fromkeys(of)) for scorer, of in panels.items()}
        epochs = len({grading.item for _, grading in read}) > len(
            {grading.test for _, grading in read}
        )
        graded = [
            replace(
                grading,
                suite=names[grading.suite],
                judge=declared[scorer] or grading.judge or "unknown",
                item=grading.item if epochs else grading.test,
                offered=("P",) if options[scorer].get("partial_credit") else (),
            )
            for scorer, grading in read
        ]
        notices = [
            *self._left_out(wanted),
            *(
                f"{scorer}: the verdict is that of a panel, the reply that of its first member"
                for scorer in dict.fromkeys(scorer for scorer, _ in read)
                if len(panels[scorer]) > 1
            ),
        ]
        if (status := header.get("status", "success")) != "success":
            notices.append(f"the run has not ended well: its status is {status!r}")
        counted = {scorer: self.scores[scorer] for scorer, _ in read}
        totals = list(_totals(header, counted, notices))
        return imported(graded, self.options, notices=notices, totals=totals)

    def _left_out(self, wanted: tuple[str, ...]) -> Iterator[str]:
        # Where scorers are named, the others are reported below.
        for scorer in sorted(self.without_model) if not self.options.scorer else ():
            yield (
                f"scorer {scorer} called no model that the log shows: left out; "
                f"--scorer {scorer} reads it nevertheless"
            )
        for name in sorted(self.lists):
            yield f"{name}: values that are lists are left out"
        if not_wanted := [name for name in self.scores if name not in wanted]:
            yield f"scorers that were not asked for: {', '.join(not_wanted)}"
        if self.unreadable:
            count = len(self.unreadable)
            yield f"conversations left out: {count}; {self.unreadable[0]}"
        if self.unasked:
            error = f", {self.broken} of them because of an error" * bool(self.broken)
            yield f"samples without a score: {self.unasked}{error}; no judge was asked about them"


class _Sample:
    """A sample: its texts, attachments put in, and its model calls, by reply and by span."""

    def __init__(self, sample: Mapping[str, Any]) -> None:
        self._sample = sample
        self._texts = table_of(sample.get("attachments"))
        self._messages = table_of(sample.get("events_data")).get("messages")
        self._by_reply: dict[str, Mapping[str, Any]] = {}
        self._by_span: dict[str, Mapping[str, Any]] = {}
        self._spans: dict[str, str] = {}
        for event in map(table_of, list_of(sample.get("events"))):
            span = str(event.get("span_id"))
            if event.get("event") == "model":
                self._by_span[span] = event
                if reply := _first_message(event):
                    self._by_reply[str(reply.get("id"))] = event
            elif event.get("event") == "score" and event.get("scorer"):
                self._spans[str(event["scorer"])] = span

    def _whole(self, text: str) -> str:
        whole = text
        if text.startswith(_ATTACHMENT):
            whole = self._texts.get(text.removeprefix(_ATTACHMENT), text)
        return whole if isinstance(whole, str) else text

    def _said(self, value: Any) -> list[dict[str, str]] | None:
        """Messages with their texts; ``None`` where they hold more."""
        messages = messages_of(value)
        return messages and [
            {**message, "content": self._whole(message["content"])} for message in messages
        ]

    def fields(self) -> dict[str, str]:
        """The parts of a sample that scorers show: question, answer and criterion."""
        target = self._sample.get("target")
        answer = table_of(self._sample.get("output")).get("completion")
        fields: dict[str, list[Any]] = {
            "question": [self._question()],
            "answer": [answer],
            "criterion": target if isinstance(target, list) else [target],
        }
        parts = {
            name: "".join(self._whole(text) for text in texts if isinstance(text, str))
            for name, texts in fields.items()
        }
        return {name: text for name, text in parts.items() if text}

    def _question(self) -> str:
        """The input; of messages what a user says last, though it may hold a picture as well."""
        stated = self._sample.get("input")
        if isinstance(stated, str):
            return stated
        try:
            messages = messages_of_chat(self._resolved(stated))
        except NoConversation:
            return ""
        texts = [message.text for message in messages if message.role == "user"]
        return texts[-1] if texts else ""

    def conversation(self) -> str:
        """The messages as one text; empty where they are a question and an answer alone.

        Raises:
            NoConversation: a message is wrong.
        """
        stated = list_of(self._sample.get("messages"))
        if not stated:
            return ""
        messages = messages_of_chat(self._resolved(stated))
        questions = sum(message.role == "user" for message in messages)
        return conversation_text(messages) if holds_tools(messages) or questions > 1 else ""

    def _resolved(self, value: Any) -> Any:
        """A value with the attachments put in, in whatever depth of it."""
        if isinstance(value, str):
            return self._whole(value)
        if isinstance(value, list):
            return [self._resolved(part) for part in value]
        if isinstance(value, dict):
            return {name: self._resolved(part) for name, part in value.items()}
        return value

    def call_of(self, scorer: str, score: Mapping[str, Any]) -> dict[str, Any] | None:
        """The model call of a scorer, as fields of a `Graded`; ``None`` if the log shows none."""
        grading = list_of(table_of(score.get("metadata")).get("grading"))
        if len(grading) >= 2 and isinstance(grading[-1], dict):
            event = self._by_reply.get(str(grading[-1].get("id")), {})
            model = event.get("model") or grading[-1].get("model")
            prompt, reply = grading[:-1], grading[-1]
        else:
            event = self._by_span.get(self._spans.get(scorer, ""), {})
            model, prompt, reply = event.get("model"), self._input(event), _first_message(event)
            if not reply:
                return None
        output, answer = table_of(event.get("output")), self._said([reply])
        usage, time = table_of(output.get("usage")), output.get("time")
        return {
            "judge": str(model or ""),
            "prompt": self._said(prompt),
            "reply": answer[0]["content"] if answer else None,
            "tokens": (count_of(usage.get("input_tokens")), count_of(usage.get("output_tokens"))),
            "latency_s": float(time) if isinstance(time, int | float) and 0 <= time < 1e9 else None,
        }

    def _input(self, event: Mapping[str, Any]) -> list[Any]:
        messages, refs = event.get("input"), event.get("input_refs")
        if messages or not isinstance(refs, list) or not isinstance(self._messages, list):
            return list_of(messages)
        whole: list[Any] = []
        for ref in refs:
            if isinstance(ref, list) and len(ref) == 2 and all(isinstance(n, int) for n in ref):
                whole += self._messages[max(ref[0], 0) : max(ref[1], 0)]
            if len(whole) > len(self._messages):
                return []  # no prompt holds a message twice
        return whole


def _first_message(event: Mapping[str, Any]) -> dict[str, Any]:
    """The reply of a model call; empty where there is none."""
    choices = list_of(table_of(event.get("output")).get("choices"))
    return table_of(table_of(choices[0] if choices else None).get("message"))


def _values(value: Any) -> Iterator[tuple[str, Any]]:
    """The values of a score, each with a suffix for the scorer's name: one, or one for each key."""
    if isinstance(value, dict):
        yield from ((f"-{key}", inner) for key, inner in value.items())
    else:
        yield "", value


def _grade(value: Any, where: str) -> Grade:
    if isinstance(value, bool):
        return "true" if value else "false"
    return (value.strip() or None) if isinstance(value, str) else number_of(value, where)


def _number(value: Any, where: str) -> float | None:
    """The number that Inspect's metrics use for a value; 0 for unknown words."""
    if isinstance(value, str):
        number = _LETTERS.get(value, _WORDS.get(value.lower()))
        if number is None and value.replace(".", "").isnumeric():
            try:
                return number_of(float(value), where)
            except ValueError:
                return 0.0
        return number or 0.0
    return float(value) if isinstance(value, bool) else number_of(value, where)


def _models(options: Any) -> list[str]:
    """The models that a scorer was given, by name or as objects with ``model``."""
    models = options if isinstance(options, list) else [options] if options else []
    return [text_of(table_of(model).get("model") or model) for model in models]


def _totals(
    header: Mapping[str, Any],
    scores: Mapping[str, Mapping[str, list[Any]]],
    notices: list[str],
) -> Iterator[Total]:
    """The metrics of the log that are means over samples, epochs averaged, and their error."""
    left: list[str] = []
    for total in map(table_of, list_of(table_of(header.get("results")).get("scores"))):
        name, scorer = str(total.get("name")), str(total.get("scorer"))
        if scorer not in scores:
            continue
        part = "" if name == scorer else f"-{name}"
        samples = []
        for values in scores[scorer].values():
            numbers = [_number(dict(_values(value)).get(part), scorer) for value in values]
            if stated := [number for number in numbers if number is not None]:
                samples.append(fmean(stated))
        n = len(samples)
        mean = fmean(samples) if n else 0.0
        error = stdev(samples) / sqrt(n) if n > 1 else 0.0
        known_metrics = {"accuracy": mean, "mean": mean, "stderr": error}
        for metric, value in table_of(total.get("metrics")).items():
            value_stated, plain = table_of(value).get("value"), not table_of(value).get("params")
            averaged = total.get("reducer") in (None, "mean")
            if metric in known_metrics and plain and averaged and is_figure(value_stated):
                yield Total(
                    f"{metric} of {name} over {n} samples", value_stated, known_metrics[metric]
                )
            else:
                left.append(f"{metric} of {name}")
    if left:
        notices.append(f"metrics that are not computed again: {', '.join(left)}")
