"""Foreign result files to judgments: rows of JSON Lines, JSON or CSV, read by field.

**games** (``read_games``): a row is a pair that was judged twice, ``pair_id``, ``label`` and
``judgments``, the second game with the sides exchanged. A game's ``decision`` names slots: ``A>B``,
``B>A``, ``A=B`` or null (no verdict), its ``judgment`` holds ``judge_model`` and ``response``. The
label names the sides of the first game. A pair becomes an item, a game a presentation order.

**table** (``read_table``): a row is a judgment, and a mapping says which column holds which field
of a judgment log. A field that is not mapped is read from a column of its own name.
"""

from __future__ import annotations

from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import Final

from pytest_judgesense.errors import LogError, UsageError, unknown_name
from pytest_judgesense.importers import (
    NO_VERDICT,
    Imported,
    Row,
    left_out,
    once,
    read_rows,
    slug,
)
from pytest_judgesense.instruments.paraphrase.judgesense import all_rows
from pytest_judgesense.instruments.paraphrase.llmbar import DESIGN as SLOTS
from pytest_judgesense.instruments.paraphrase.llmbar import placed
from pytest_judgesense.trial import (
    ABSTAIN,
    TIE,
    Design,
    Failed,
    Judgment,
    Order,
    Outcome,
    Trial,
    Unparsed,
    Usage,
    Verdict,
    content_of_slot,
)

_ORDERS: Final[tuple[Order, Order]] = ("ab", "ba")


def imported_games(options: Namespace) -> Imported:
    """What ``judgesense import games`` reads."""
    return read_games(all_rows(options.path), options.suite or options.path.stem)


def imported_table(options: Namespace) -> Imported:
    """What ``judgesense import table`` reads."""
    mapping, values = dict(options.map), dict(options.value)
    return read_table(
        options.path, mapping, judge=options.judge, suite=options.suite, values=values
    )


def _each_once(read: Iterable[tuple[Row, Judgment]]) -> list[Judgment]:
    """The judgments of rows, no trial of which a judge has answered in another row."""
    known: dict[tuple[str, str], str] = {}
    judgments = []
    for row, judgment in read:
        once(known, (judgment.judge, judgment.trial.id), row)
        judgments.append(judgment)
    return judgments


_DECISIONS: Final = {"A>B": "A", "B>A": "B", "A=B": TIE}
_DECISION: Final = "A>B, B>A or A=B"


def read_games(rows: Sequence[Row], suite: str) -> Imported:
    """The judgments of pairs with two games each.

    Raises:
        LogError: a field is missing or malformed, or a judge has judged a pair twice.
    """
    name = slug(suite)
    judgments = _each_once(game for row in rows for game in _games(row, name))
    notices = left_out(rows, ("pair_id", "label", "judgments"))
    return Imported(tuple((judgment, SLOTS) for judgment in judgments), notices)


def _games(row: Row, suite: str) -> Iterator[tuple[Row, Judgment]]:
    pair, label = row.text("pair_id"), row.value.get("label")
    if label not in _DECISIONS:
        raise row.wrong("label", _DECISION)
    games = row.value.get("judgments")
    if not isinstance(games, list) or len(games) != 2:
        raise row.wrong("judgments", "a list of two games")
    better = content_of_slot(_DECISIONS[label], "ab")
    for order, game in zip(_ORDERS, games, strict=True):
        name = f"{suite}/{pair}/t1/{order}/r1"
        trial = Trial(name, suite, pair, pair, "t1", order, label=better)
        at = Row(f"{row.where}, game {order}", game if isinstance(game, dict) else {})
        yield at, _game(at, trial)


def _game(row: Row, trial: Trial) -> Judgment:
    decision = row.value.get("decision", ...)
    if decision is not None and decision not in _DECISIONS:
        raise row.wrong("decision", f"{_DECISION}, or null")
    said = row.value.get("judgment")
    if not isinstance(said, dict):
        raise row.wrong("judgment", "an object with judge_model and response")
    if not isinstance(judge := said.get("judge_model"), str) or not judge:
        raise row.wrong("judgment.judge_model", "the name of the judge")
    reply = said.get("response", ...)
    if not isinstance(reply, (str, NoneType)):
        raise row.wrong("judgment.response", "the text of the reply, or null")
    outcome: Outcome = Unparsed(NO_VERDICT) if decision is None else Verdict(_DECISIONS[decision])
    return placed(Judgment(trial, judge, outcome, reply=reply))


# Fields of a judgment log that a column may hold; conditions are called condition.NAME.
FIELDS: Final = (
    "judge", "suite", "item", "cluster", "template", "order", "replicate", "label", "verdict",
    "failed", "reply", "prompt_tokens", "completion_tokens", "latency_s",
)  # fmt: skip


def read_table(
    path: Path,
    mapping: Mapping[str, str],
    *,
    judge: str | None = None,
    suite: str | None = None,
    values: Mapping[str, str] | None = None,
) -> Imported:
    """The judgments of a table, a row each.

    Verdicts that are all ``A``, ``B``, ``tie`` or ``abstain`` are slots; a label ``A`` or ``B``
    then names a slot as well, of the row's own order, and ``1`` or ``2`` a content. An empty
    verdict is an unparsed reply. Numbers make an ordinal space.

    Args:
        path: CSV, JSON Lines, or a JSON list.
        mapping: from a field of a judgment log to the column that holds it.
        judge: the judge of all rows, where no column names it; the file's name by default.
        suite: the suite of all rows, where no column names it.
        values: from what the columns of verdict and label say to the suite's words.

    Raises:
        UsageError: the mapping names no field of a judgment.
        LogError: a field is missing or malformed, or a trial stands twice.
    """
    for name in mapping:
        if name not in FIELDS and not name.startswith("condition."):
            raise unknown_name("field of a judgment", name, (*FIELDS, "condition.NAME"))
    rows = list(read_rows(path))
    if not rows:
        raise LogError(f"{path} holds no rows", expected="at least one")
    columns = {name: name for name in FIELDS if name in rows[0].value} | dict(mapping)
    if missing := [name for name in ("verdict", "item") if name not in columns]:
        raise UsageError(
            f"no column holds the {missing[0]}",
            found="columns " + ", ".join(map(str, rows[0].value)),
            expected=f"--map {missing[0]}=COLUMN",
        )
    fixed = {"judge": judge or slug(path.stem), "suite": suite or slug(path.stem)}
    notices = [
        f"no column holds the {name}: all rows are of {name} {fixed[name]!r}"
        for name, given in (("judge", judge), ("suite", suite))
        if name not in columns and given is None
    ]
    if given := {name for name, value in (("judge", judge), ("suite", suite)) if value}:
        columns = {name: column for name, column in columns.items() if name not in given}
    judgments = _each_once((row, _cells(row, columns, fixed, values or {})) for row in rows)
    by_suite: dict[str, list[Judgment]] = defaultdict(list)
    for one in judgments:
        by_suite[one.trial.suite].append(one)
    designs = {suite: _design(part) for suite, part in by_suite.items()}
    read = ((one, designs[one.trial.suite]) for one in judgments)
    return Imported(
        tuple((_by_content(one) if design.pairwise else one, design) for one, design in read),
        (*left_out(rows, columns.values()), *notices),
    )


def _cells(
    row: Row, columns: Mapping[str, str], fixed: Mapping[str, str], values: Mapping[str, str]
) -> Judgment:
    def cell(name: str, *, required: bool = False) -> str | None:
        column = columns.get(name)
        if column is None:
            return fixed.get(name)
        if column not in row.value:
            raise row.wrong(column, f"the {name} of the judgment")
        found = row.value[column]
        if isinstance(found, float) and found.is_integer():
            found = int(found)
        if isinstance(found, list | dict) or (required and found in (None, "")):
            raise row.wrong(column, f"the {name} of the judgment: a text or a number")
        return None if found in (None, "") else str(found).strip()

    def whole(name: str) -> int | None:
        return None if cell(name) is None else row.number(columns[name])

    suite, item = str(cell("suite", required=True)), str(cell("item", required=True))
    template, order = cell("template") or "t1", cell("order") or "ab"
    if order not in _ORDERS:
        raise row.wrong(columns["order"], "ab or ba")
    replicate = whole("replicate") or 1
    verdict, failed, label = cell("verdict"), cell("failed"), cell("label")
    outcome: Outcome = Unparsed(NO_VERDICT)
    if failed is not None:
        outcome = Failed(failed)
    elif verdict is not None:
        outcome = Verdict(values.get(verdict, verdict))
    latency = cell("latency_s")
    try:
        seconds = None if latency is None else float(latency)
    except ValueError as error:
        raise row.wrong(columns["latency_s"], "seconds") from error
    conditions = {name: cell(name) for name in columns if name.startswith("condition.")}
    trial = Trial(
        id=f"{suite}/{item}/{template}/{order}/r{replicate}",
        suite=suite,
        item=item,
        cluster=cell("cluster") or item,
        template=template,
        order="ab" if order == "ab" else "ba",
        replicate=replicate,
        condition={
            name.removeprefix("condition."): value
            for name, value in conditions.items()
            if value is not None
        },
        label=None if label is None else values.get(label, label),
    )
    usage = Usage(whole("prompt_tokens"), whole("completion_tokens"))
    judge = str(cell("judge", required=True))
    return Judgment(trial, judge, outcome, reply=cell("reply"), usage=usage, latency_s=seconds)


def _design(judgments: Iterable[Judgment]) -> Design:
    """The design of a suite in which these verdicts and labels occur."""
    said = {(one.verdict, one.trial.label) for one in judgments}
    verdicts = {verdict for verdict, _ in said if verdict} - {TIE, ABSTAIN}
    labels = {label for _, label in said if label} - {TIE}
    if verdicts <= {"A", "B"} and labels <= {"A", "B", "1", "2"}:
        return SLOTS
    words = verdicts | labels
    ordinal = all(word.lstrip("-").isdecimal() for word in words)
    ordered = sorted(words, key=int) if ordinal else sorted(words)
    return Design("paraphrase", tuple(ordered), ordinal, pairs="all")


def _by_content(one: Judgment) -> Judgment:
    """``one`` of two candidates, with slots mapped to contents."""
    trial = one.trial
    label = None if trial.label is None else content_of_slot(trial.label, trial.order)
    return placed(replace(one, trial=replace(trial, label=label)))
