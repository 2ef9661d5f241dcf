r"""What a recording says to a reader: a line a trial, from the recording alone.

No suite is at hand: git shows a version of a recording from a temporary file outside of the
project. So what stands for a verdict is what the reply itself says: what a function returned, the
field of a reply whose form the request states, a verdict that is marked as one at the end
(``Verdict: A``, ``[[A]]``), a short reply; else the end of the reply. It is for reading: what is
measured is read from replies by the rules of a suite, see `replies`.

Git runs this once or twice for every file that it shows. Nothing of it imports a plugin, code of
the project, or what validates recordings: a line that cannot be read is listed as such, with the
reason, and git goes on.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from pytest_judgesense.cassettes.bodies import at_path
from pytest_judgesense.errors import BrokenCassette, CassetteError
from pytest_judgesense.files.limits import json_value, limits, numbered_lines
from pytest_judgesense.files.opening import open_bytes

# What git is told, once in a clone, so that it shows and merges recordings by their trials, and the
# attributes of the recordings that it does so with.
ATTRIBUTES: Final = "diff=judgesense merge=judgesense"
SHOWING: Final = 'git config diff.judgesense.textconv "judgesense recordings show"'
MERGING: Final = (
    'git config merge.judgesense.driver "judgesense recordings merge %O %A %B --name=%P"'
)

# As in `exchange`, which reads them with what validates them.
_LOOK_UP: Final = ""
_RETURN: Final = "RETURN"
_RETURNS: Final = "judgesense-returns"
_FAULT: Final = "judgesense-fault"
_FIRST_ANSWER, _FIRST_ERROR = 200, 400
_BREAK: Final = "\n\n"

# Characters of a reply, and of what an item asks, that are shown.
_LONGEST_WORDS: Final = 60
_LONGEST_TEXT: Final = 40
_DIGITS: Final = 8
# The end of a trial's id, see `suites.planning`.
_SETTING: Final = re.compile(r"/(ab|ba)(?:/t([^/]+))?(?:/(each))?/r([0-9]+)$")
# What replies call their verdict: in a field, or in their last line.
_NAMES: Final = ("verdict", "winner", "label", "grade", "rating", "score", "decision", "answer")
_MARKED: Final = re.compile(
    rf"(?:\b(?:{'|'.join(_NAMES)})\b[*_\s]*[:=]"
    r"|\[\[(?=[^\[\]]+\]\]\W*$))[*_\s]*([^\[\]]{1,40}?)(?:\]\])?[*_.\s]*$",
    re.IGNORECASE,
)

# Where replies are in the responses of the usual APIs and in the events of their streams, ``*`` for
# each part of a list: the arguments of a tool, which are a reply of a form, before texts.
_ARGUMENTS: Final = (
    "choices.0.message.tool_calls.*.function.arguments",
    "choices.0.delta.tool_calls.*.function.arguments",
    "content.*.input",
    "output.*.arguments",
    "candidates.0.content.parts.*.functionCall.args",
    "message.tool_calls.*.function.arguments",
    "output.message.content.*.toolUse.input",
    "delta.partial_json",
)
_TEXTS: Final = (
    "choices.0.message.content",
    "choices.0.message.content.*.text",
    "choices.0.delta.content",
    "choices.0.message.refusal",
    "choices.0.text",
    "output.*.content.*.text",
    "response.output.*.content.*.text",
    "output.message.content.*.text",
    "content.*.text",
    "delta.text",
    "delta",  # of OpenAI's responses, as a stream
    "candidates.0.content.parts.*.text",
    "message.content",
    "message.content.*.text",
    "response",
    "text",
    "generated_text",
)

_Texts: TypeAlias = dict[str, str]


class ListedTrial(NamedTuple):
    """A trial as a recording shows it.

    Attributes:
        id: of the trial.
        words: its verdict, else the end of its reply, or why there is none.
        request_digest: digest of all that was asked.
        item_digest: digest of what this trial asked and not all others of its wording did.
        text: the beginning of that.
    """

    id: str
    words: str
    request_digest: str
    item_digest: str
    text: str

    @property
    def item(self) -> str:
        """The item, as the id names it."""
        place, _, _ = self._parts
        return place.partition("/")[2].rpartition("/")[0] or place

    @property
    def wording(self) -> str:
        """The wording; empty for a trial of a test."""
        place, _, is_of_suite = self._parts
        return place.rpartition("/")[2] if is_of_suite else ""

    @property
    def setting(self) -> tuple[str, str, str, str]:
        """Presentation order, temperature, whether each criterion has a call, and replicate.

        Empty where there is none.
        """
        match = _SETTING.search(self.id)
        return (match[1], match[2] or "", match[3] or "", match[4]) if match else ("", "", "", "")

    def setting_words(self, varies: Sequence[bool]) -> str:
        """Those parts of the setting that vary among trials: ``ab t0.5 r2``."""
        named = zip(("", "t", "", "r"), self.setting, varies, strict=True)
        return " ".join(f"{name}{value}" for name, value, is_shown in named if is_shown and value)

    @property
    def _parts(self) -> tuple[str, str, bool]:
        match = _SETTING.search(self.id)
        return (self.id[: match.start()], match[0], True) if match else (self.id, "", False)


def varying_parts(trials: Iterable[ListedTrial]) -> list[bool]:
    """Of each part of the setting, whether trials differ in it."""
    return [len({*parts}) > 1 for parts in zip(*(trial.setting for trial in trials), strict=True)]


class Listing(NamedTuple):
    """What a recording holds, for a reader.

    Attributes:
        trials: in the order of the file.
        unread: lines that cannot be read, in words.
    """

    trials: tuple[ListedTrial, ...]
    unread: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """A line a trial: item, wording, what varies, the verdict, and what the item asks.

        The same trial has the same line in every version: columns are not aligned, and dates are
        left out.
        """
        varies = varying_parts(self.trials)
        for trial in self.trials:
            parts = (trial.item, trial.wording, trial.setting_words(varies), trial.words)
            yield "  ".join((*filter(None, parts), f"[{trial.item_digest} {trial.text}]"))
        yield from self.unread


def listed_recording(path: Path) -> Listing:
    """What a recording holds.

    Raises:
        CassetteError: the file cannot be opened.
        BrokenCassette: a line is longer than may be.
    """
    by_trial: dict[str, list[_Call]] = defaultdict(list)
    unread: list[str] = []
    texts: _Texts = {}
    wrong = CassetteError.instead_of(
        OSError, f"{path} cannot be read", expected="a recording: a file of lines"
    )
    with wrong, open_bytes(path) as file:
        for number, line in numbered_lines(file, path, BrokenCassette):
            try:
                call = _call_of(line, texts)
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                unread.append(f"line {number} is no exchange: {type(error).__name__}: {error}")
                continue
            if call is not None and call.trial != _LOOK_UP:
                by_trial[call.trial].append(call)
    return Listing(tuple(_listed(by_trial)), tuple(unread))


def shared_words(words: str) -> str:
    """Words on one line."""
    return " ".join(words.split())


@dataclass(frozen=True, slots=True)
class _Call:
    """A line of a recording.

    Attributes:
        asked: what the request says, line by line.
        schema_fields: the names of the fields that the request asks for, where it states a form.
    """

    trial: str
    returns: bool
    status: int
    headers: Mapping[str, Any]
    asked: tuple[str, ...]
    schema_fields: tuple[str, ...]
    body: Any

    @property
    def answers(self) -> bool:
        return _FIRST_ANSWER <= self.status < _FIRST_ERROR and _FAULT not in self.headers

    @property
    def words(self) -> str:
        """What the answer says, in short."""
        if not self.answers:
            reason = _end(_text_of(self.body))
            return f"failed: {reason}" if self.status == 0 else f"HTTP {self.status}: {reason}"
        if self.returns or self.status_of_function:
            returned = _text_of(self.body)
            # Of several returns the body is their list.
            several = self.body if isinstance(self.body, list) and _RETURNS in self.headers else []
            return " / ".join(_verdict(str(text), ()) for text in several or [returned])
        return _verdict(_reply(self.body), self.schema_fields)

    @property
    def status_of_function(self) -> bool:
        """Whether it is the call of a function that made no request."""
        return bool(self.asked) and self.asked[0].startswith("CALL ")


def _call_of(line: bytes, texts: _Texts) -> _Call | None:
    """The call of a line; ``None`` for a shared text, which is added to ``texts``."""
    entry = json_value(line)
    if "text" in entry and "trial" not in entry:
        texts[entry["id"]] = str(entry["text"])
        return None
    request, response = entry["request"], entry["response"]
    body = _value_of(request["body"], texts)
    request_lines = (f"{request['method']} {request['url']}", *_lines_in(body))
    return _Call(
        str(entry["trial"]),
        request["method"] == _RETURN,
        int(response["status"]),
        dict(response["headers"]),
        request_lines,
        tuple(_fields_of_form(body)),
        _value_of(response["body"], texts),
    )


# --- bodies ---------------------------------------------------------------------------------------


def _value_of(body: Any, texts: _Texts) -> Any:
    """The value of a body of JSON, with shared texts in their places; of another one its text."""
    if isinstance(body, str):
        try:
            return json_value(body) if body[:1] in ("{", "[") else body
        except ValueError:
            return body
    ((form, stored),) = body.items()
    if form == "base64":
        return base64.b64decode(stored).decode("utf-8", "replace")
    room = [limits().line_bytes]
    return _unfolded(stored, texts, room)


def _unfolded(value: Any, texts: _Texts, room: list[int]) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"texts"}:
            parts = [p if isinstance(p, str) else texts[p["id"]] for p in value["texts"]]
            room[0] -= sum(map(len, parts))
            if room[0] < 0:
                raise ValueError("its shared texts are longer than line_bytes together")
            return _BREAK.join(parts)
        return {key: _unfolded(inner, texts, room) for key, inner in value.items()}
    return [_unfolded(inner, texts, room) for inner in value] if isinstance(value, list) else value


def _lines_in(value: Any, name: str = "") -> Iterator[str]:
    """The lines of all texts in a request, each with the name of its field."""
    if isinstance(value, dict):
        for key in value:
            yield from _lines_in(value[key], str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _lines_in(inner, name)
    else:
        yield from (f"{name}: {line}" for line in str(value).split("\n"))


def _fields_of_form(value: Any) -> Iterator[str]:
    """The fields that a request asks for whose values are labels or numbers."""
    if isinstance(value, dict):
        properties = value.get("properties")
        for name, form in properties.items() if isinstance(properties, dict) else ():
            if isinstance(form, dict) and ("enum" in form or form.get("type") in _OF_VERDICTS):
                yield str(name)
        for inner in value.values():
            yield from _fields_of_form(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _fields_of_form(inner)


_OF_VERDICTS: Final = ("integer", "number", "boolean")


def _text_of(body: Any) -> str:
    return body if isinstance(body, str) else _json_text(body)


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _reply(body: Any) -> str:
    """The reply in a response: the arguments of a tool, else its text; else all of it."""
    events = [*objects_in(body)]
    for paths in (_ARGUMENTS, _TEXTS):
        for path in paths:
            parts = [part for event in events for part in at_path(event, path.split("."))]
            texts = [p if isinstance(p, str) else _json_text(p) for p in parts if _is_said(p)]
            if texts:
                return "".join(texts)
    return _text_of(body)


def _is_said(part: Any) -> bool:
    return isinstance(part, dict) or (isinstance(part, str) and bool(part))


def objects_in(body: Any) -> Iterator[Mapping[str, Any]]:
    """The JSON object that a body is, or those of its events."""
    if isinstance(body, dict):
        yield body
    elif isinstance(body, list):
        yield from (part for part in body if isinstance(part, dict))
    elif isinstance(body, str):
        for line in body.splitlines():
            text = line.removeprefix("data:").strip()
            if text.startswith("{"):
                try:
                    yield json_value(text)
                except ValueError:
                    continue


# --- words ----------------------------------------------------------------------------------------


def _verdict(reply: str, fields: Sequence[str]) -> str:
    """The verdict that a reply shows by itself, else its end; see the head of this file."""
    text = reply.strip()
    if text.startswith("{"):
        try:
            value = json_value(text)
        except ValueError:
            return _end(text)
        stated = {name: value[name] for name in fields if name in value}
        if len(stated) == 1:
            return _end(_plain(*stated.values()))
        if stated:
            return _end(" ".join(f"{name}={_plain(v)}" for name, v in stated.items()))
        named = (value[name] for name in _NAMES if isinstance(value.get(name), str | int | float))
        return _end(_plain(next(named, text)))
    lines = text.splitlines()
    marked = _MARKED.search(lines[-1]) if lines else None
    return marked[1].strip() if marked else _end(text)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else _json_text(value)


def _end(text: str) -> str:
    """The end of a text, on one line; ``(empty)`` for none."""
    line = shared_words(text)
    if len(line) > _LONGEST_WORDS:
        return f"...{line[-_LONGEST_WORDS:]}"
    return line or "(empty)"


def _listed(by_trial: Mapping[str, Sequence[_Call]]) -> Iterator[ListedTrial]:
    """The trials, each with what it alone asks of those of its wording."""
    lines_by_trial = {trial: _asked(calls) for trial, calls in by_trial.items()}
    shared = _shared_lines(lines_by_trial)
    for trial, calls in by_trial.items():
        of_wording = shared[_wording(trial)]
        own = [line for line in lines_by_trial[trial] if line not in of_wording]
        yield ListedTrial(
            trial,
            _words(calls),
            _digest(lines_by_trial[trial]),
            _digest(own),
            shared_words(max(own, key=len, default="").partition(": ")[2])[:_LONGEST_TEXT],
        )


def _asked(calls: Iterable[_Call]) -> list[str]:
    return [line for call in calls if not call.returns for line in call.asked]


def _wording(trial: str) -> str:
    return _SETTING.sub("", trial).rpartition("/")[2]


def _shared_lines(lines_by_trial: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    """By wording, the lines that all of its items ask; none of a wording of one item."""
    shared: dict[str, set[str]] = {}
    items: dict[str, set[str]] = defaultdict(set)
    for trial, lines in lines_by_trial.items():
        wording = _wording(trial)
        items[wording].add(ListedTrial(trial, "", "", "", "").item)
        shared[wording] = shared[wording] & {*lines} if wording in shared else {*lines}
    return {name: lines if len(items[name]) > 1 else set() for name, lines in shared.items()}


def _words(calls: Sequence[_Call]) -> str:
    """What a trial came to: what its function returned, else its answers, else its last failure."""
    returned = [call for call in calls if call.returns]
    if returned:
        return returned[-1].words
    answers = [call.words for call in calls if call.answers]
    return " / ".join(answers) or calls[-1].words


def _digest(lines: Iterable[str]) -> str:
    text = "\n".join(lines)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
