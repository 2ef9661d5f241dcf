"""The judgment log: one judgment a line, as JSON, written and read by the plugin.

A line also holds ``design``, what the measures need to know about the suite: with it a log is
measured like the original run, without a suite file or a judge.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields, replace
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, Final, Required, TypeAlias, cast, get_type_hints

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from pydantic_core import PydanticSerializationError, from_json, to_json
from typing_extensions import TypedDict

from pytest_judgesense.errors import LogError, well_formed
from pytest_judgesense.files.limits import json_value, numbered_lines
from pytest_judgesense.files.opening import open_text
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.registry import Logged, Registry
from pytest_judgesense.trial import (
    LONGEST_NAME,
    MOST,
    MOST_WEIGHT,
    REASONED,
    Design,
    Failed,
    Judgment,
    JudgmentOutcome,
    Order,
    Trial,
    Unparsed,
    Usage,
    Verdict,
    content_of_slot,
)

# Probabilities of other logs may have few decimals.
_ROUNDED: Final = 0.01
# Ids are made of names.
_Name: TypeAlias = Annotated[str, Field(max_length=LONGEST_NAME)]
_Id: TypeAlias = Annotated[str, Field(max_length=6000)]
_Instant: TypeAlias = Annotated[
    str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]{1,6})?Z$")
]
# Sums of shares are rounded.
_Share: TypeAlias = Annotated[float, Field(ge=0, le=1 + 1e-9, allow_inf_nan=False)]


@with_config(ConfigDict(strict=True, extra="allow"))
class _Repair(TypedDict, total=False):
    """What came before a repair: why, by how many calls, and how these failed."""

    before: str | None
    failed: str | None
    calls: Annotated[int, Field(ge=0, le=MOST)]


@with_config(ConfigDict(strict=True, extra="allow"))
class _Line(TypedDict, total=False):
    """The format of a line; replies on suites of some kinds have further fields."""

    trial: Required[_Id]
    judge: Required[_Name]
    suite: Required[_Name]
    item: Required[_Name]
    cluster: _Name
    template: _Name
    order: Order
    replicate: Annotated[int, Field(ge=0, le=MOST)]
    condition: dict[str, Any]
    label: str | None
    verdict: str | None
    unparsed: str | None
    failed: str | None
    chosen: str | None
    reply: str | None
    usage: dict[str, int | None]
    latency_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None
    recorded_at: _Instant | None
    probabilities: dict[_Name, _Share] | None
    mass: _Share | None
    design: dict[str, Any] | None
    grades: dict[str, Any]
    repair: _Repair
    reasoned: _Name
    confidence: Any  # of some kinds it has a rule of its own
    unusable_confidence: _Name
    source: dict[str, Any]
    people: dict[_Name, dict[_Name, _Name]]
    stratum: _Name
    picked: bool
    skipped: bool
    groups: dict[_Name, _Name]


_REQUIRED: Final = frozenset(("trial", "judge", "suite", "item"))
_BESIDE: Final = ("grades", "repair", REASONED, "unusable_confidence", "source")
_SAID: Final[Mapping[Any, str]] = {Verdict: "verdict", Unparsed: "unparsed", Failed: "failed"}
_MARK: Final = ',"design":'
_PACKED: Final = (".gz", ".bz2", ".xz", ".zst", ".zip")
# What a foreign log may omit besides the cluster: an item is its own cluster.
_DEFAULTS: Final[Mapping[str, Any]] = {
    "template": "t1",
    "order": "ab",
    "replicate": 1,
    "condition": {},
    "label": None,
    "chosen": None,
    "reply": None,
    "usage": {},
    "latency_s": None,
}
_TRIAL: Final = itemgetter(
    *("trial", "suite", "item", "cluster", "template", "order", "replicate", "condition", "label")
)
_REPLY: Final = itemgetter("judge", "chosen", "reply", "usage", "latency_s")
# Fields of designs of few kinds: a line holds them where they are not as usual.
_RARE: Final = (
    *("ddof", "weights", "effect_threshold", "criteria", "pass_mark", "left_out", "forms"),
    *("labelled", "score"),
)
_USUAL: Final = {field.name: field.default for field in fields(Design)}


def log_lines(judgments: Iterable[Judgment], design: Design) -> Iterator[str]:
    """The lines of a log, without line ends."""
    for judgment in judgments:
        yield log_line(judgment, design)


def judgment_object(judgment: Judgment) -> dict[str, Any]:
    """The fields of a line but its design."""
    trial, outcome, usage = judgment.trial, judgment.outcome, judgment.usage
    fields_of_line = {
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
        _SAID[type(outcome)]: outcome.value if isinstance(outcome, Verdict) else outcome.reason,
        "chosen": judgment.chosen,
        "reply": judgment.reply,
        "usage": {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            **_where_stated("reasoning_tokens", usage.reasoning_tokens),
        },
        "latency_s": judgment.latency_s,
        **({} if judgment.recorded_at is None else {"recorded_at": judgment.recorded_at}),
        **({"people": trial.people} if trial.people else {}),
        **({"stratum": trial.stratum} if trial.stratum else {}),
        **({"picked": True} if trial.picked else {}),
        **({"skipped": True} if trial.skipped else {}),
        **({"groups": dict(trial.groups)} if trial.groups else {}),
        **(judgment.detail or {}),
    }
    if judgment.probabilities is not None:
        probabilities = dict(judgment.probabilities)
        fields_of_line |= {"probabilities": probabilities, "mass": judgment.mass}
    return fields_of_line


def _where_stated(name: str, count: int | None) -> dict[str, int]:
    return {} if count is None else {name: count}


def log_line(judgment: Judgment, design: Design) -> str:
    """One line of a log."""
    value = judgment_object(judgment)
    try:
        line = to_json(value).decode()
    except PydanticSerializationError:
        # A reply cut off inside a character can contain half of a surrogate pair, which is not
        # UTF-8.
        line = well_formed(json.dumps(value, separators=(",", ":"), ensure_ascii=False))
    return f"{line[:-1]}{_MARK}{_design_text(design)}}}"


@lru_cache(maxsize=256)
def _design_text(design: Design) -> str:
    """A design as JSON, made once for all lines of a suite."""
    return json.dumps(design_object(design), separators=(",", ":"))


def design_object(design: Design) -> dict[str, Any]:
    """A design as the fields of the object that a line holds."""
    return {k: v for k, v in asdict(design).items() if k not in _RARE or v != _USUAL[k]}


def read_log(
    path: Path,
    registry: Registry = BUILT_IN,
    keeps: Callable[[Design | None], bool] = lambda _: True,
) -> Iterator[tuple[Judgment, Design | None]]:
    """The judgments of a log, each with its design, or ``None`` where the line holds none.

    A log is read line by line. The texts of replies, most of a log, are skipped if ``keeps`` says
    so for the design.

    Raises:
        LogError: the file or a line of it cannot be read; it names file, line and field.
    """
    # Half a million lines are read into memory: the design on line after line is made once, and
    # known by the end of the line.
    end, shared, with_reply, place = "", None, True, str(path)
    stated = frozenset(logged.field for logged in registry.logged)
    validated = _without_further_fields(stated).validate_json
    for number, line in _numbered(path):
        where = f"{place}:{number}"
        same = end and line.endswith(end)
        try:
            text = line[: -len(end)] + "}" if same else line
            value = validated(text)
            if not value.keys().isdisjoint(stated):
                validated = _validator(_Line).validate_json
                value = validated(text)
        except ValidationError:  # something of it is wrong, or half of a surrogate pair
            same, value = False, _form(_object(where, line), where)
        design = shared if same else None
        if not same and (stated_design := value.get("design")) is not None:
            design = design_of_object(stated_design, where)
            shared = design = shared if design == shared else design
            tail = line.rpartition(_MARK)[2]
            end = f"{_MARK}{tail}" if _is_object(tail.rstrip()[:-1], stated_design) else ""
            with_reply = keeps(design)
        if not (with_reply if same else keeps(design)):
            value["reply"] = None
        yield _placed(_judgment(value, where, registry), design, where), design


def is_log(path: Path) -> bool:
    """Whether the first line of a file is a judgment; the rest may be malformed."""
    with suppress(LogError, ValueError):
        for _, line in _numbered(path):
            value = json_value(line)
            return isinstance(value, dict) and value.keys() >= _REQUIRED
    return False


def read_placed_log(
    path: Path, registry: Registry = BUILT_IN
) -> Iterator[tuple[str, Judgment, Design | None]]:
    """The judgments of a log as `read_log` gives them, each with its place: file and line."""
    for (number, _), line in zip(_numbered(path), read_log(path, registry), strict=True):
        yield f"{path}:{number}", *line


@lru_cache
def _validator(form: Any) -> Any:
    """Made for the first log that is read: most sessions read none."""
    return TypeAdapter(form).validator


@lru_cache(maxsize=16)
def _without_further_fields(stated: frozenset[str]) -> Any:
    """Reads lines without further fields, faster than `_Line`; ``stated``: those that it shows."""
    fields = get_type_hints(_Line, include_extras=True) | dict.fromkeys(stated, Any)
    form: Any = TypedDict  # of names that are known at run time
    config = ConfigDict(strict=True, extra="ignore")
    return TypeAdapter(with_config(config)(form("_Form", fields, total=False))).validator


def _is_object(text: str, value: Mapping[str, Any]) -> bool:
    with suppress(ValueError):
        return bool(from_json(text) == value)
    return False


def _numbered(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a log that hold something, numbered from 1."""
    problem, expected = f"the judgment log {path} cannot be read", "JSON Lines in UTF-8"
    is_packed = path.suffix in _PACKED
    unpack = f"unpack it: gunzip {path}, or what packed it"
    remedy = unpack if is_packed else f"if another tool wrote it: judgesense import {path}"
    missing = LogError.instead_of(OSError, problem, expected=expected, remedy=unpack * is_packed)
    no_text = LogError.instead_of(UnicodeDecodeError, problem, expected=expected, remedy=remedy)
    # A reply may hold a Unicode line separator inside a JSON string: no line ends there.
    with missing, no_text, open_text(path, newline="\n") as file:
        for number, line in numbered_lines(file, path, LogError):
            if not line.isspace():
                yield number, line


def _object(where: str, line: str) -> Mapping[str, Any]:
    with LogError.instead_of(ValueError, f"{where} is not JSON", expected="one judgment a line"):
        value = json_value(line)
    if not isinstance(value, dict):
        raise LogError(f"{where} is not a judgment", found=line[:80], expected="a JSON object")
    return value


def _form(value: Mapping[str, Any], where: str) -> _Line:
    try:
        line: _Line = _validator(_Line).validate_python(value)
    except ValidationError as error:
        wrong = [p for p in error.errors(include_url=False) if p["type"] != "string_unicode"]
        if not wrong:
            # Half a surrogate pair is text all the same. What else is wrong is not said beside it.
            whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
            _form(json.loads(whole), where)
            return cast("_Line", value)
        name = str(wrong[0]["loc"][0])
        raise LogError(
            f"{where}: field {name!r} is wrong",
            found=json.dumps(value[name])[:80] if name in value else "no such field",
            expected=wrong[0]["msg"].removeprefix("Input should be "),
            remedy="the fields of a judgment are listed by: judgesense explain files",
        ) from error
    return line


def judgment_of_object(
    value: Mapping[str, Any], where: str, registry: Registry = BUILT_IN
) -> tuple[Judgment, Design | None]:
    """The judgment of one line as an object, and its design where it holds one.

    Raises:
        LogError: a field is wrong; it names it.
    """
    form = _form(value, where)
    judgment, design = _judgment(form, where, registry), form.get("design")
    return judgment, None if design is None else design_of_object(design, where)


def cell_of_lines(
    lines: Sequence[str], suite: str, seed: int = 0, registry: Registry = BUILT_IN
) -> Cell:
    """The judgments of one judge on one suite, from their lines, which name their design."""
    read = [judgment_of_object(json_value(line), "a judgment", registry) for line in lines]
    judgments, design = tuple(judgment for judgment, _ in read), read[0][1]
    assert design is not None, "the lines of a session name their design"
    return Cell.with_controls_apart(judgments[0].judge, suite, design, judgments, seed)


def design_of_object(value: Mapping[str, Any], where: str) -> Design:
    """The design that a line holds; `LogError` if a key of it is missing or malformed."""
    try:
        design: Design = _validator(Design).validate_python(value)
        if not _is_of_a_suite(design):
            raise ValueError(design)  # noqa: TRY301
    except ValueError as error:
        raise LogError(
            f"{where}: field 'design' is wrong",
            found=json.dumps(dict(value))[:80],
            expected="kind, labels (one or more, all different), ordinal, pairwise and pairs; if "
            "given, ddof of 0 or 1, left_out from 0 on, weights from 0 to a million, a positive "
            "effect_threshold, a pass_mark up to 1, and criteria: names and labels (two or more) "
            "that differ, and positive weights; forms with one key or more; a score from low to "
            "high",
        ) from error
    return design


def _is_of_a_suite(design: Design) -> bool:
    """Whether the values of a design are such as suite files may give."""
    names = [criterion.name for criterion in design.criteria]
    scales = [criterion.labels for criterion in design.criteria]
    return (
        bool(design.labels)
        and all(len({*some}) == len(some) for some in (design.labels, names, *scales))
        and all(len(scale) > 1 for scale in scales)
        and all(0 < criterion.weight < math.inf for criterion in design.criteria)
        and all(form.keys for form in design.forms)
        and design.ddof in (0, 1)
        and design.left_out >= 0
        and all(0 <= weight <= MOST_WEIGHT for weight in design.weights or ())
        and 0 < (1 if design.effect_threshold is None else design.effect_threshold) < math.inf
        and 0 < (1 if design.pass_mark is None else design.pass_mark) <= 1
        and (design.score is None or -math.inf < design.score.low < design.score.high < math.inf)
    )


def _judgment(line: _Line, where: str, registry: Registry) -> Judgment:
    try:
        condition = line["condition"]
        line["condition"] = _shared(condition) if condition else _DEFAULTS["condition"]
        trial = Trial(*_TRIAL(line))
        if "people" in line or "stratum" in line or "skipped" in line:
            trial = replace(
                trial,
                people=line.get("people", {}),
                stratum=line.get("stratum", ""),
                picked=line.get("picked", False),
                skipped=line.get("skipped", False),
            )
        if groups := line.get("groups"):
            trial = replace(trial, groups=groups)
        judge, chosen, reply, counts, latency = _REPLY(line)
        usage = _usage(
            counts.get("prompt_tokens"),
            counts.get("completion_tokens"),
            counts.get("reasoning_tokens"),
        )
    except ValueError as error:
        raise LogError(
            f"{where}: field 'condition' or 'usage' is wrong",
            found=f"{line.get('condition')}, {line.get('usage')}"[:160],
            expected="finite numbers in a condition, counts of tokens from 0 on",
        ) from error
    except KeyError:
        completed = {**_DEFAULTS, "cluster": line["item"], **line}
        return _judgment(cast("_Line", completed), where, registry)
    verdict, is_other = line.get("verdict"), "unparsed" in line or "failed" in line
    return Judgment(
        trial,
        judge,
        _outcome(line, where) if verdict is None or is_other else _verdict(verdict),
        chosen,
        reply,
        usage,
        latency,
        _detail(line, where, registry.logged),
        *_probabilities_of(line, where),
        recorded_at=line.get("recorded_at"),
    )


def _placed(judgment: Judgment, design: Design | None, where: str) -> Judgment:
    """``judgment`` with the content that its verdict selects, if it is of two candidates."""
    if design is None or not design.pairwise:
        return judgment
    verdict, order = judgment.verdict, judgment.trial.order
    chosen = None if verdict is None else content_of_slot(verdict, order)
    if judgment.chosen == chosen:
        return judgment
    if judgment.chosen is None or chosen is None:
        return replace(judgment, chosen=chosen)
    raise LogError(
        f"{where}: field 'chosen' is wrong",
        found=f"{judgment.chosen!r}, with the verdict {verdict!r} in order {order}",
        expected=f"{chosen!r}, the content that this verdict selects",
        remedy="correct the verdict, the order or the content; or leave out chosen",
    )


def _probabilities_of(line: _Line, where: str) -> tuple[Mapping[str, float] | None, float | None]:
    """The probabilities of the verdicts, and their mass."""
    stated = line.get("probabilities")
    if stated is None:
        return None, None
    if not stated or abs(sum(stated.values()) - 1) > _ROUNDED:
        raise LogError(
            f"{where}: field 'probabilities' is wrong",
            found=json.dumps(stated)[:80],
            expected="the probability of each verdict, which add up to 1",
        )
    return stated, line.get("mass")


def _outcome(line: _Line, where: str) -> JudgmentOutcome:
    values: Mapping[str, Any] = line
    stated = [
        (kind, text) for kind, name in _SAID.items() if (text := values.get(name)) is not None
    ]
    if len(stated) != 1:
        raise LogError(
            f"{where} does not say what came of the trial",
            found=f"{len(stated)} of verdict, unparsed, failed",
            expected="exactly one of them, as text",
        )
    ((kind, text),) = stated
    outcome: JudgmentOutcome = kind(text)
    return outcome


def _shared(condition: dict[str, Any]) -> dict[str, Any]:
    try:
        return _condition(tuple(condition), *condition.values())
    except TypeError:  # a value that our conditions never have
        return condition


@lru_cache(maxsize=4096, typed=True)
def _condition(keys: tuple[str, ...], *values: Any) -> dict[str, Any]:
    for value in values:
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(value)
    return dict(zip(keys, values, strict=True))


# Values that are on many lines are created once.
_verdict: Final = lru_cache(maxsize=4096)(Verdict)


@lru_cache(maxsize=4096)
def _usage(*counts: int | None) -> Usage:
    if not all(0 <= (count or 0) <= MOST for count in counts):
        raise ValueError(*counts)
    return Usage(*counts)


def _detail(
    line: Mapping[str, Any], where: str, logged: tuple[Logged, ...]
) -> dict[str, Any] | None:
    """The part of a line about a reply besides its verdict, in its original form."""
    detail: dict[str, Any] = {}
    for field_of_kind in logged:
        if field_of_kind.field in line:
            detail |= field_of_kind.read(line, where)
    detail |= {name: line[name] for name in _BESIDE if name in line}
    if "confidence" not in detail and line.get("confidence") is not None:
        detail["confidence"] = _confidence_of(line["confidence"], where)
    return detail or None


def _confidence_of(stated: object, where: str) -> float:
    """How sure the judge is of its verdict, of a line that states it by itself."""
    if isinstance(stated, int | float) and not isinstance(stated, bool) and 0 <= stated <= 1:
        return float(stated)
    raise LogError(
        f"{where}: field 'confidence' is wrong",
        found=json.dumps(stated)[:80],
        expected="the probability that the verdict is right, from 0 to 1",
        remedy="divide per cents by 100; or leave the field out",
    )
