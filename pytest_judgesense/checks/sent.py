"""What changed between two recordings of the same trials, told from the requests that were sent.

Never from a table, a placeholder or a digest of something else: two judges of one name may send
different prompts, and two tables with different texts the same one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from typing import Any, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from pytest_judgesense.cassettes.exchange import CALL, RETURN, RecordedRequest
from pytest_judgesense.files.limits import json_value

SentPart: TypeAlias = Literal[
    "endpoint", "model", "system prompt", "prompt", "settings", "reply form", "calls"
]
# By the name of the field at the top of a body; `_place` says what else is where.
_PARTS: Final[Mapping[str, SentPart]] = {
    "model": "model",
    "modelId": "model",
    **dict.fromkeys(("system", "systemInstruction", "instructions", "preamble"), "system prompt"),
    **dict.fromkeys(
        ("messages", "contents", "prompt", "input", "message", "inputText", "chat_history"),
        "prompt",
    ),
    **dict.fromkeys(
        ("response_format", "tools", "tool_choice", "toolConfig", "functions", "format", "text"),
        "reply form",
    ),
}
_FORMS: Final = ("responseSchema", "responseJsonSchema", "responseMimeType")  # of Gemini
_ROLES: Final = ("system", "developer")
# What a path has before the name of a model: Gemini and Bedrock, Azure.
_BEFORE_MODEL: Final = ("models", "model", "deployments")
# Trials whose texts are aligned word by word; in the others what was found is looked for.
_ALIGNED: Final = 50
_MOST_LINES: Final = 40
# Characters; a shorter text of an item may stand within other words.
LONG_TEXT: Final = 20

# Of one trial: its requests in the order of its calls.
Requests: TypeAlias = Sequence[RecordedRequest]
# Texts of an item by the names of its fields: they stand in prompts, and are no part of them.
Texts: TypeAlias = Mapping[str, str]


class SentChange(NamedTuple):
    """One part of the requests that changed.

    Attributes:
        part: which part.
        lines: how, as lines to be read: ``old -> new``, or a diff of the shared text.
        trials: in how many of the trials that both recordings hold.
        of: how many trials both hold.
    """

    part: SentPart
    lines: tuple[str, ...]
    trials: int
    of: int

    @property
    def shown(self) -> tuple[str, ...]:
        """What changed, in lines: the diff of a text stands below its heading."""
        is_text = self.part in ("prompt", "system prompt")
        return (self.summary, *(f"  {line}" for line in self.lines)) if is_text else (self.summary,)

    @property
    def summary(self) -> str:
        """One clause, as a heading shows it."""
        where = "" if self.trials == self.of else f", in {self.trials} of {self.of} trials"
        if self.part in ("prompt", "system prompt"):
            count = sum(line.startswith(("+", "-")) for line in self.lines)
            return f"the {self.part} changed ({count} line{'s' * (count != 1)}{where})"
        return f"the {self.part} changed: {'; '.join(self.lines)}{where}"


def changes_sent(trials: Sequence[tuple[Requests, Requests, Texts]]) -> list[SentChange]:
    """What differs between the old and the new requests of each trial; empty: nothing does.

    The texts of its item are shown as ``{{name}}`` in what changed, wherever they were put.
    """
    of = len(trials)
    texts: dict[SentPart, list[tuple[str, str]]] = {"system prompt": [], "prompt": []}
    values: dict[SentPart, Counter[str]] = {}
    trials_of: Counter[SentPart] = Counter()
    for old, new, of_item in trials:
        before, after = parts_sent(old), parts_sent(new)
        for part in dict.fromkeys((*before, *after)):
            then, now = before.get(part, {}), after.get(part, {})
            if then == now:
                continue
            trials_of[part] += 1
            if part in texts:
                both = ("\n".join(then.values()), "\n".join(now.values()))
                texts[part].append((masked(both[0], of_item), masked(both[1], of_item)))
            else:
                values.setdefault(part, Counter()).update(_moves(then, now))
        if before == after and _as_sent(old) != _as_sent(new):
            trials_of["settings"] += 1
            values.setdefault("settings", Counter())["roles, order or form of the messages"] += 1
    changes = [
        SentChange(part, _most_common(moves), trials_of[part], of) for part, moves in values.items()
    ]
    changes += [
        SentChange(part, shared_diff(pairs), trials_of[part], of)
        for part, pairs in texts.items()
        if pairs
    ]
    order = ("endpoint", "model", "system prompt", "prompt", "settings", "reply form", "calls")
    return sorted(changes, key=lambda change: order.index(change.part))


def parts_sent(requests: Requests) -> dict[SentPart, dict[str, str]]:
    """The values of a trial's requests, by part and field."""
    requests = [request for request in requests if request.method != RETURN]
    parts: dict[SentPart, dict[str, str]] = {"calls": {"calls of a trial": str(len(requests))}}
    by_call: dict[tuple[SentPart, str], dict[int, str]] = {}
    for number, request in enumerate(requests):
        for part, name, value in _fields(request):
            if part in ("prompt", "system prompt"):
                parts.setdefault(part, {})[f"{number}.{name}"] = value
            else:
                by_call.setdefault((part, name), {})[number] = value
    for (part, name), of_calls in by_call.items():
        # A field in which all calls say the same has one value, else that of each call.
        values = [of_calls.get(number, "not sent") for number in range(len(requests))]
        parts.setdefault(part, {})[name] = (
            values[0] if len({*values}) == 1 else ", then ".join(values)
        )
    return parts


def _as_sent(requests: Requests) -> list[tuple[str, str, Any]]:
    """The requests of a trial as values: what is equal was sent alike."""
    sent = []
    for request in requests:
        body: Any = request.body
        if isinstance(body, str):
            with suppress(ValueError):
                body = json_value(body)
        sent += [(request.method, request.url, body)] * (request.method != RETURN)
    return sent


def _fields(request: RecordedRequest) -> Iterator[tuple[SentPart, str, str]]:
    address = urlsplit(request.url)
    place, model = _without_model(address.path)
    yield "endpoint", "", f"{address.scheme}://{address.netloc}{place}"
    if model:
        yield "model", "model", model
    if address.query:
        yield "settings", "query", address.query
    body: Any = None
    if isinstance(request.body, str):
        try:
            body = json_value(request.body)
        except ValueError:
            body = request.body
    if not isinstance(body, dict):
        yield "prompt", "body", body if isinstance(body, str) else repr(request.body)
        return
    for name, value in body.items():
        yield from _of_field(name, value)


def _of_field(name: str, value: Any) -> Iterator[tuple[SentPart, str, str]]:
    part = _PARTS.get(name)
    if part in ("prompt", "system prompt"):
        # Messages are counted by part: a system prompt that is added moves no other text.
        seen: Counter[SentPart] = Counter()
        for message in value if isinstance(value, list) else [value]:
            kind = _kind_of(part, message)
            yield kind, f"{name}[{seen[kind]}]", "\n".join(_strings(message))
            seen[kind] += 1
    elif part is None and isinstance(value, dict):
        for key, inner in value.items():
            yield "reply form" if key in _FORMS else "settings", f"{name}.{key}", _plain(inner)
    else:
        yield part or "settings", name, _plain(value)


def prompt_texts(request: RecordedRequest) -> Iterator[tuple[SentPart, str]]:
    """The texts of the prompts of a request, each as one string of its body has it."""
    body: Any = None
    if isinstance(request.body, str):
        with suppress(ValueError):
            body = json_value(request.body)
    for name, value in body.items() if isinstance(body, dict) else ():
        part = _PARTS.get(name)
        if part not in ("prompt", "system prompt"):
            continue
        for message in value if isinstance(value, list) else [value]:
            yield from ((_kind_of(part, message), text) for text in _strings(message))


def texts_sent(request: RecordedRequest) -> list[tuple[SentPart, str]]:
    """The texts of a request: of its prompts; else, in a body of another API, of all its fields.

    Those of a function's call are the messages or the arguments that it was given.
    """
    if texts := list(prompt_texts(request)):
        return texts
    body: Any = request.body
    if isinstance(body, str):
        with suppress(ValueError):
            body = json_value(body)
    if isinstance(body, str):
        return [("prompt", body)] if body.strip() else []
    if request.method == CALL and isinstance(body, dict):
        settings = body.get("settings")
        body = settings.get("arguments") if isinstance(settings, dict) else None
    fields = body if isinstance(body, dict) else {}
    return [
        ("prompt", text)
        for name, value in fields.items()
        if name not in _PARTS
        for text in _named_strings(name, value)
    ]


def _named_strings(name: str, value: Any) -> Iterator[str]:
    """The strings in a field, each with the field's name before it."""
    if isinstance(value, str):
        yield f"{name}: {value}"
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _named_strings(f"{name}.{key}", inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _named_strings(name, inner)


def _kind_of(part: SentPart, message: Any) -> SentPart:
    """Whether a message of a field is of the prompt or of the system prompt."""
    role = message.get("role") if isinstance(message, dict) else None
    return "system prompt" if role in _ROLES or part == "system prompt" else "prompt"


def _strings(value: Any) -> Iterator[str]:
    """The texts of a message in their order; its role and the kinds of its parts are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in ("role", "type"):
                yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
    elif value is not None:
        yield _plain(value)


def _without_model(path: str) -> tuple[str, str]:
    """A path with ``...`` for the name of a model in it, and that name."""
    parts = path.split("/")
    for index, part in enumerate(parts[:-1]):
        if part in _BEFORE_MODEL:
            model, colon, method = parts[index + 1].rpartition(":")
            name = model if colon and method.isalpha() else parts[index + 1]
            parts[index + 1] = "..." + (f":{method}" if name == model else "")
            return "/".join(parts), name
    return path, ""


def _replaced_in(text: str, part: str, by: str) -> str:
    """``text`` with another text for a part of it; a short part counts as whole words alone."""
    pieces, start = [], 0
    while (place := text.find(part, start)) >= 0:
        end = place + len(part)
        before, after = text[place - 1 : place], text[end : end + 1]
        is_word = not (before.isalnum() or after.isalnum() or (before == "{" and after == "}"))
        whole = is_word or len(part) > LONG_TEXT
        pieces += [text[start:place], by if whole else part]
        start = end
    return "".join([*pieces, text[start:]])


def masked(text: str, of_item: Texts) -> str:
    """A prompt with ``{{name}}`` in place of each text of its item; short ones as whole words."""
    for name, value in sorted(of_item.items(), key=lambda pair: -len(pair[1])):
        for part in _forms_in(text, value.strip()):
            text = _replaced_in(text, part, f"{{{{{name}}}}}")
    return text


def _forms_in(text: str, part: str) -> Sequence[str]:
    """How a part may stand in a prompt: as it is, else as a string of JSON has it."""
    if not part:
        return ()
    if part in text:
        return (part,)
    return [json.dumps(part, ensure_ascii=ascii_alone)[1:-1] for ascii_alone in (False, True)]


def holds(text: str, part: str) -> bool:
    """Whether a prompt holds a text of its item; a short one as whole words."""
    return masked(text, {"part": part}) != text


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _moves(then: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys((*then, *now)):
        old, new = then.get(name, "not sent"), now.get(name, "not sent")
        if old != new:
            yield f"{name} {_cut(old)} -> {_cut(new)}".lstrip()


def _cut(text: str, most: int = 100) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _most_common(moves: Counter[str]) -> tuple[str, ...]:
    shown = [move for move, _ in moves.most_common(5)]
    more = len(moves) - len(shown)
    return (*shown, f"and {more} more") if more > 0 else tuple(shown)


# --- the diff of a text that trials share ---------------------------------------------------------


class _Hunk(NamedTuple):
    """What was removed and added at one place: whole lines, or words of a line."""

    removed: str
    added: str


def shared_diff(pairs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """What changed in texts that have most of their lines, or words, in common with one another.

    Each pair is the old and the new text of one trial. A change that several trials have is shown
    once, with the number of those that have it unless all do; what stands in one trial alone is
    the text of its item.
    """
    changed = [(old, new) for old, new in pairs if old != new]
    aligned = changed[:: max(1, len(changed) // _ALIGNED)]
    counts: Counter[_Hunk] = Counter()
    around: dict[_Hunk, set[tuple[str, str]]] = {}
    for old, new in aligned:
        hunks = dict(_hunks(old, new))
        counts.update(hunks.keys())
        for hunk, context in hunks.items():
            around.setdefault(hunk, set()).add(context)
    least = 2 if len(aligned) > 1 else 1
    shared = [hunk for hunk, count in counts.most_common() if count >= least] or [*counts]
    lines: list[str] = []
    for hunk in shared:
        count = sum(hunk.removed in old and hunk.added in new for old, new in changed)
        if count < len(changed):
            lines.append(f"in {count} of {len(changed)} trials:")
        # A word on either side is shown where it is the same in all trials.
        left, right = min(around[hunk]) if len(around[hunk]) == 1 else ("", "")
        for sign, text in (("-", hunk.removed), ("+", hunk.added)):
            shown = " ".join(filter(None, (left, text, right)))
            if text or left or right:
                lines += [f"{sign} {line}" for line in shown.splitlines()]
    if len(lines) > _MOST_LINES:
        lines[_MOST_LINES - 1 :] = [f"... and {len(lines) - _MOST_LINES + 1} lines more"]
    return tuple(lines)


def _hunks(old: str, new: str) -> Iterator[tuple[_Hunk, tuple[str, str]]]:
    """The lines that changed, or the words of a line that was changed in part; with what is beside
    them in their line.
    """
    for removed, added in _replaced(old.splitlines(), new.splitlines()):
        if len(removed) != len(added):
            yield _Hunk("\n".join(removed), "\n".join(added)), ("", "")
            continue
        for line, other in zip(removed, added, strict=True):
            yield from _words_changed(line, other)


def _words_changed(old: str, new: str) -> Iterator[tuple[_Hunk, tuple[str, str]]]:
    """A changed line whole if most of it changed, else the words that changed in it."""
    before, after = old.split(" "), new.split(" ")
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < 0.5:
        yield _Hunk(old, new), ("", "")
        return
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag != "equal":
            beside = "".join(before[start - 1 : start]), "".join(before[end : end + 1])
            yield _Hunk(" ".join(before[start:end]), " ".join(after[first:last])), beside


def _replaced(
    before: Sequence[str], after: Sequence[str]
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag != "equal":
            yield before[start:end], after[first:last]
