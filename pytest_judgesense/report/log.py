"""The judgment log: one judgment a line, as JSON. What the plugin writes and reads back.

Beside the fields that name the trial and its outcome, a line holds ``design``: what the measures
must know of the suite. With it a log is measured like the run that it came from, with no suite
file and no judge.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import Any, Final

from pytest_judgesense.errors import LogError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.registry import Registry
from pytest_judgesense.trial import (
    Condition,
    Design,
    Failed,
    Judgment,
    Outcome,
    Trial,
    Unparsed,
    Usage,
    Verdict,
)

__all__ = ["design_of_object", "judgment_of_object", "log_line", "log_lines", "read_log"]

_OUTCOMES: Final = ("verdict", "unparsed", "failed")


def log_lines(judgments: Iterable[Judgment], design: Design) -> Iterator[str]:
    """The lines of a log, without line ends."""
    for judgment in judgments:
        yield log_line(judgment, design)


def log_line(judgment: Judgment, design: Design) -> str:
    """One line of a log."""
    trial, outcome = judgment.trial, judgment.outcome
    if isinstance(outcome, Verdict):
        said = {"verdict": outcome.value}
    elif isinstance(outcome, Unparsed):
        said = {"unparsed": outcome.reason}
    else:
        said = {"failed": outcome.reason}
    value = {
        "trial": trial.id,
        "judge": judgment.judge,
        "suite": trial.suite,
        "item": trial.item,
        "cluster": trial.cluster,
        "template": trial.template,
        "order": trial.order,
        "replicate": trial.replicate,
        "condition": dict(trial.condition),
        "label": trial.label,
        **said,
        "chosen": judgment.chosen,
        "reply": judgment.reply,
        "usage": {
            "prompt_tokens": judgment.usage.prompt_tokens,
            "completion_tokens": judgment.usage.completion_tokens,
        },
        "latency_s": judgment.latency_s,
        **(judgment.detail or {}),
        "design": {
            "kind": design.kind,
            "labels": list(design.labels),
            "ordinal": design.ordinal,
            "pairwise": design.pairwise,
            "pairs": design.pairs
            if isinstance(design.pairs, str)
            else [list(pair) for pair in design.pairs],
            "others": design.others,
            "cut": design.cut,
            "excluded": [list(pair) for pair in design.excluded],
            "unsure": [list(pair) for pair in design.unsure],
            **_of_kind(design),
        },
    }
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # A reply cut off inside a character can hold half of a surrogate pair, which no UTF-8 file can.
    return line if _encodable(line) else json.dumps(value, separators=(",", ":"))


def _of_kind(design: Design) -> dict[str, Any]:
    """What designs of one kind alone have."""
    if design.effect_threshold is not None:
        return {"effect_threshold": design.effect_threshold}
    if design.weights is None:
        return {}
    return {"ddof": design.ddof, "weights": list(design.weights)}


def _weights(
    flip: float, scores: float, confidence: float, side: float
) -> tuple[float, float, float, float]:
    return float(flip), float(scores), float(confidence), float(side)


def _detail(value: Mapping[str, Any], where: str, registry: Registry) -> dict[str, Any] | None:
    """What a line holds of a reply beside its verdict, in the form it had there."""
    stated: dict[str, Any] = {}
    for logged in registry.logged:
        if logged.field in value:
            stated |= logged.read(value, where)
    stated |= {name: value[name] for name in ("grades", "repair") if name in value}
    return stated or None


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def read_log(path: Path, registry: Registry = BUILT_IN) -> Iterator[tuple[Judgment, Design | None]]:
    """The judgments of a log, each with its design, or ``None`` where the line holds none.

    Args:
        path: the log.
        registry: what kinds of suites log beside verdicts.

    Raises:
        LogError: the file or a line of it cannot be read; it names file, line and field.
    """
    # What stands on line after line is made once: half a million lines are read into memory.
    raw: Any = None
    design: Design | None = None
    for number, line in _numbered(path):
        where = f"{path}:{number}"
        value = _object(where, line)
        if (given := _field(value, where, "design", dict, None)) != raw:
            raw, design = given, None if given is None else design_of_object(given, where)
        yield _judgment(value, where, registry), design


def _numbered(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a log that hold something, numbered from 1."""
    try:
        # A reply may hold a Unicode line separator inside a JSON string: no line ends there.
        with path.open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line
    except (OSError, UnicodeDecodeError) as error:
        raise LogError(
            f"the judgment log {path} cannot be read",
            found=str(error),
            expected="JSON Lines in UTF-8",
        ) from error


def _object(where: str, line: str) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise LogError(
            f"{where} is not JSON", found=str(error), expected="one judgment a line"
        ) from error
    if not isinstance(value, dict):
        raise LogError(f"{where} is no judgment", found=line[:80], expected="a JSON object")
    return value


def judgment_of_object(
    value: Mapping[str, Any], where: str, registry: Registry = BUILT_IN
) -> tuple[Judgment, Design | None]:
    """The judgment of one line as an object, and its design where it holds one.

    Args:
        value: the object.
        where: how messages call it: file and line.
        registry: what kinds of suites log beside verdicts.

    Raises:
        LogError: a field is wrong; it names it.
    """
    design = _field(value, where, "design", dict, None)
    judgment = _judgment(value, where, registry)
    return judgment, None if design is None else design_of_object(design, where)


def _field(value: Mapping[str, Any], where: str, name: str, kind: type, default: Any = ...) -> Any:
    found = value.get(name, default)
    if found is ... or (found is not default and not isinstance(found, kind)):
        raise LogError(
            f"{where}: field {name!r} is wrong",
            found=json.dumps(value[name])[:80] if name in value else "no such field",
            expected=f"a {kind.__name__}",
            remedy="see docs/logs.md for the fields of a judgment",
        )
    return found


def _judgment(value: Mapping[str, Any], where: str, registry: Registry) -> Judgment:
    def field(name: str, kind: type, default: Any = ...) -> Any:
        found = value.get(name)
        return found if type(found) is kind else _field(value, where, name, kind, default)

    def name(key: str, default: Any = ...) -> Any:
        found = field(key, str, default)
        return found if found is None else intern(found)

    order = field("order", str, "ab")
    if order not in ("ab", "ba"):
        raise LogError(f"{where}: field 'order' is wrong", found=repr(order), expected="ab or ba")
    item = name("item")
    trial = Trial(
        id=field("trial", str),
        suite=name("suite"),
        item=item,
        cluster=name("cluster", item),
        template=name("template", "t1"),
        order="ba" if order == "ba" else "ab",
        replicate=field("replicate", int, 1),
        condition=_shared(field("condition", dict, {})),
        label=name("label", None),
    )
    usage = field("usage", dict, {})
    return Judgment(
        trial=trial,
        judge=name("judge"),
        outcome=_outcome(value, where),
        chosen=name("chosen", None),
        reply=field("reply", str, None),
        usage=_usage(usage.get("prompt_tokens"), usage.get("completion_tokens")),
        latency_s=value.get("latency_s"),
        detail=_detail(value, where, registry),
    )


def _shared(condition: dict[str, Any]) -> Condition:
    try:
        return _condition(tuple(condition), *condition.values())
    except TypeError:  # a value that no condition of ours has
        return condition


@lru_cache(maxsize=4096, typed=True)
def _condition(keys: tuple[str, ...], *values: Any) -> Condition:
    return dict(zip(keys, values, strict=True))


@lru_cache(maxsize=4096, typed=True)
def _usage(prompt: Any, completion: Any) -> Usage:
    return Usage(prompt, completion)


@lru_cache(maxsize=4096)
def _verdict(text: str) -> Verdict:
    return Verdict(text)


def _outcome(value: Mapping[str, Any], where: str) -> Outcome:
    given = [name for name in _OUTCOMES if isinstance(value.get(name), str)]
    if len(given) != 1:
        raise LogError(
            f"{where} does not say what came of the trial",
            found=f"{len(given)} of {', '.join(_OUTCOMES)}",
            expected="exactly one of them, as text",
        )
    text = value[given[0]]
    if given[0] == "verdict":
        return _verdict(text)
    return Unparsed(intern(text)) if given[0] == "unparsed" else Failed(intern(text))


def design_of_object(value: Mapping[str, Any], where: str) -> Design:
    """The design that a line holds; `LogError` if a key of it is missing or malformed."""
    try:
        pairs = value.get("pairs", "all")
        weights = value.get("weights")
        return Design(
            kind=value["kind"],
            labels=tuple(value["labels"]),
            ordinal=bool(value.get("ordinal", False)),
            pairwise=bool(value.get("pairwise", False)),
            pairs=pairs if isinstance(pairs, str) else _pairs(pairs),
            others=bool(value.get("others", False)),
            cut=value.get("cut"),
            excluded=_pairs(value.get("excluded", ())),
            unsure=_pairs(value.get("unsure", ())),
            ddof=int(value.get("ddof", 0)),
            weights=None if weights is None else _weights(*weights),
            effect_threshold=value.get("effect_threshold"),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise LogError(
            f"{where}: field 'design' is wrong",
            found=json.dumps(dict(value))[:80],
            expected="kind, labels, ordinal, pairwise and pairs",
        ) from error


def _pairs(value: Iterable[Iterable[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((a, b) for a, b in value)
