"""The judgment log: one judgment a line, as JSON. What the plugin writes and reads back.

Beside the fields that name the trial and its outcome, a line holds ``design``: what the measures
must know of the suite. With it a log is measured like the run that it came from, with no suite
file and no judge.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import LogError
from pytest_judgesense.judges.parsing.debate import judgment_of_object as debate_reply_of
from pytest_judgesense.judgment import (
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


def _detail(value: Mapping[str, Any], where: str) -> dict[str, Any] | None:
    """What a line holds of a debate judge's reply beside its winner, in the form it had there."""
    if "scores" not in value:
        return None
    outcome, detail = debate_reply_of({**value, "winner": value.get("verdict")})
    if detail is None:
        raise LogError(
            f"{where}: the scores or the confidence are wrong",
            found=outcome.reason if isinstance(outcome, Unparsed) else "",
            expected="a score from 0 to 10 for each category and side, and a confidence",
            remedy="see docs/debates.md for the fields of a judgment on a debate",
        )
    return {**detail, "flags": value.get("flags", detail["flags"])}


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def read_log(path: Path) -> Iterator[tuple[Judgment, Design | None]]:
    """The judgments of a log, each with its design, or ``None`` where the line holds none.

    Raises:
        LogError: the file or a line of it cannot be read; it names file, line and field.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LogError(
            f"the judgment log {path} cannot be read",
            found=str(error),
            expected="JSON Lines in UTF-8",
        ) from error
    # Not splitlines(): a reply may hold a Unicode line separator inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"{path}:{number}"
            yield judgment_of_object(_object(where, line), where)


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


def judgment_of_object(value: Mapping[str, Any], where: str) -> tuple[Judgment, Design | None]:
    """The judgment of one line as an object, and its design where it holds one.

    Args:
        value: the object.
        where: how messages call it: file and line.

    Raises:
        LogError: a field is wrong; it names it.
    """

    def field(name: str, kind: type, default: Any = ...) -> Any:
        found = value.get(name, default)
        if found is ... or (found is not default and not isinstance(found, kind)):
            raise LogError(
                f"{where}: field {name!r} is wrong",
                found=json.dumps(value[name])[:80] if name in value else "no such field",
                expected=f"a {kind.__name__}",
                remedy="see docs/logs.md for the fields of a judgment",
            )
        return found

    order = field("order", str, "ab")
    if order not in ("ab", "ba"):
        raise LogError(f"{where}: field 'order' is wrong", found=repr(order), expected="ab or ba")
    item = field("item", str)
    trial = Trial(
        id=field("trial", str),
        suite=field("suite", str),
        item=item,
        cluster=field("cluster", str, item),
        template=field("template", str, "t1"),
        order=order,
        replicate=field("replicate", int, 1),
        condition=field("condition", dict, {}),
        label=field("label", str, None),
    )
    usage = field("usage", dict, {})
    judgment = Judgment(
        trial=trial,
        judge=field("judge", str),
        outcome=_outcome(value, where),
        chosen=field("chosen", str, None),
        reply=field("reply", str, None),
        usage=Usage(usage.get("prompt_tokens"), usage.get("completion_tokens")),
        latency_s=value.get("latency_s"),
        detail=_detail(value, where),
    )
    design = field("design", dict, None)
    return judgment, None if design is None else design_of_object(design, where)


def _outcome(value: Mapping[str, Any], where: str) -> Outcome:
    given = [name for name in _OUTCOMES if isinstance(value.get(name), str)]
    if len(given) != 1:
        raise LogError(
            f"{where} does not say what came of the trial",
            found=f"{len(given)} of {', '.join(_OUTCOMES)}",
            expected="exactly one of them, as text",
        )
    text = value[given[0]]
    kinds: dict[str, type[Outcome]] = {"verdict": Verdict, "unparsed": Unparsed, "failed": Failed}
    return kinds[given[0]](text)


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
