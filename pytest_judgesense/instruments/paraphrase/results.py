"""Foreign result files to judgments: rows of JSON Lines, JSON or CSV, read by field.

**decisions** (``read_decisions``): a row of a JudgeSense log is a prompt pair asked in one run. A
row with an error has no reply: it takes part in no rate, like a decision that is no label
(``UNCLEAR``), and both are counted. ``ab_swapped`` is the presentation order.

**games** (``read_games``): a row is a pair that was judged twice, ``pair_id``, ``label`` and
``judgments``, the second game with the sides exchanged. A game's ``decision`` names slots: ``A>B``,
``B>A``, ``A=B`` or null (no verdict), its ``judgment`` holds ``judge_model`` and ``response``. The
label names the sides of the first game. A pair becomes an item, a game a presentation order.

**table** (``read_table``): a row is a judgment, and a mapping says which column holds which field
of a judgment log. A field that is not mapped is read from a column of its own name.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
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
from pytest_judgesense.instruments.paraphrase.judgesense import (
    LOG_FIELDS,
    SWAPPED,
    PairFile,
    clusters_of,
    complete,
    holds_decisions,
    label_of,
    read_pairs,
    spaces_of,
)
from pytest_judgesense.suites.space import DecisionSpace
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

_NOT_DECIDED: Final = frozenset({"", "unclear", "unparsed", "unknown", "none", "null", "n/a"})


def imported_games(options: Namespace) -> Imported:
    """What ``judgesense import games`` reads."""
    return read_games(_rows(options.path), options.suite or options.path.stem)


def imported_pairs(options: Namespace) -> Imported | PairFile:
    """What ``judgesense import judgesense`` reads: a decision log, or a pair file."""
    rows = _rows(options.path)
    if holds_decisions(rows, options.path):
        return read_decisions(rows, options.pairs)
    return read_pairs(rows, options.path)


def imported_table(options: Namespace) -> Imported:
    """What ``judgesense import table`` reads."""
    mapping, values = dict(options.map), dict(options.value)
    return read_table(
        options.path, mapping, judge=options.judge, suite=options.suite, values=values
    )


def _rows(path: Path) -> list[Row]:
    """The rows of a file, or of all files of a folder."""
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    return [row for file in files for row in read_rows(file)]


def read_decisions(rows: Sequence[Row], pairs: Path | None = None) -> Imported:
    """The judgments of a JudgeSense decision log.

    Args:
        rows: the rows of one or more logs.
        pairs: the pair file, which tells the pairs that judge the same response.

    Raises:
        LogError: a field is missing or malformed, or a judge has answered a pair twice in a run.
    """
    complete(rows, LOG_FIELDS)
    spaces = spaces_of(rows, ("normalized_a", "normalized_b"))
    clusters = {} if pairs is None else clusters_of(pairs)
    known: dict[tuple[str, str], str] = {}
    judgments = []
    contradicted = []
    for row in rows:
        space = spaces[row.text("task_type")]
        design = Design("paraphrase", space.labels, space.ordinal, space.pairwise, (("a", "b"),))
        two = [_decision(row, side, space, clusters) for side in ("a", "b")]
        once(known, (two[0].judge, two[0].trial.id), row)
        judgments += [(one, design) for one in two]
        said = [one.verdict for one in two]
        if not isinstance(flipped := row.value["flipped"], bool) and flipped is not None:
            raise row.wrong("flipped", "true or false")
        if None not in said and flipped is not None and flipped != (said[0] != said[1]):
            contradicted.append(row.where)
    notices = list(left_out(rows, (*LOG_FIELDS, SWAPPED)))
    if contradicted:
        notices.append(
            f"{len(contradicted)} rows say of their decisions that they flip, or do not, against "
            f"what the decisions are, the first is {contradicted[0]}: the decisions are kept"
        )
    if pairs is None:
        notices.append(
            "a log does not say which pairs judge the same response: every pair counts as a "
            "cluster of its own; --pairs FILE names the file of the pairs, which does"
        )
    return Imported(tuple(judgments), tuple(notices))


def _decision(row: Row, side: str, space: DecisionSpace, clusters: Mapping[str, str]) -> Judgment:
    suite, pair = slug(f"judgesense-{row.text('task_type')}"), row.text("pair_id")
    if clusters and pair not in clusters:
        raise row.wrong("pair_id", "a pair of the file that --pairs names")
    order: Order = "ba" if row.value.get(SWAPPED) else "ab"
    run = row.number("run")
    trial = Trial(
        id=f"{suite}/{pair}/{side}/{order}/r{run}",
        suite=suite,
        item=pair,
        cluster=clusters.get(pair, pair),
        template=side,
        order=order,
        replicate=run,
    )
    raw, outcome = row.value[f"prompt_{side}_raw"], _outcome(row, side, space)
    if raw is not None and not isinstance(raw, str):
        raise row.wrong(f"prompt_{side}_raw", "the text of the reply, or null")
    reply = None if isinstance(outcome, Failed) else raw
    return _judgment(trial, row.text("model"), outcome, reply, pairwise=space.pairwise)


def _outcome(row: Row, side: str, space: DecisionSpace) -> Outcome:
    error = row.value["error"]
    if error is not None and not isinstance(error, str):
        raise row.wrong("error", "the text of the error, or null")
    if error is not None:
        broken = [s for s in "ab" if str(row.value[f"prompt_{s}_raw"] or "").startswith("ERROR")]
        # Where neither side is marked, it is not known which call ended: neither is taken.
        if side in broken or not broken:
            return Failed(error or "an error without a text")
    word = row.value[f"normalized_{side}"]
    if str(word if word is not None else "").strip().lower() in _NOT_DECIDED:
        return Unparsed(f"recorded as {word}")
    return Verdict(label_of(row, f"normalized_{side}", space))


SLOTS: Final = Design(kind="paraphrase", labels=("A", "B"), pairwise=True, pairs="all")
_DECISIONS: Final = {"A>B": "A", "B>A": "B", "A=B": TIE}
_DECISION: Final = "A>B, B>A or A=B"
_GAME_ORDERS: Final[tuple[Order, Order]] = ("ab", "ba")


def read_games(rows: Sequence[Row], suite: str) -> Imported:
    """The judgments of pairs with two games each.

    Raises:
        LogError: a field is missing or malformed, or a judge has judged a pair twice.
    """
    name = slug(suite)
    known: dict[tuple[str, str], str] = {}
    judgments = []
    for row in rows:
        pair = row.text("pair_id")
        label = row.value.get("label")
        if label not in _DECISIONS:
            raise row.wrong("label", _DECISION)
        games = row.value.get("judgments")
        if not isinstance(games, list) or len(games) != 2:
            raise row.wrong("judgments", "a list of two games")
        for order, game in zip(_GAME_ORDERS, games, strict=True):
            at = Row(f"{row.where}, game {order}", game if isinstance(game, dict) else {})
            made = _game(at, name, pair, order, content_of_slot(_DECISIONS[label], "ab"))
            once(known, (made.judge, made.trial.id), at)
            judgments.append((made, SLOTS))
    return Imported(tuple(judgments), left_out(rows, ("pair_id", "label", "judgments")))


def _game(row: Row, suite: str, pair: str, order: Order, label: str) -> Judgment:
    decision = row.value.get("decision", ...)
    if decision is not None and decision not in _DECISIONS:
        raise row.wrong("decision", f"{_DECISION}, or null")
    said = row.value.get("judgment")
    if not isinstance(said, dict):
        raise row.wrong("judgment", "an object with judge_model and response")
    if not isinstance(judge := said.get("judge_model"), str) or not judge:
        raise row.wrong("judgment.judge_model", "the name of the judge")
    reply = said.get("response", ...)
    if reply is not None and not isinstance(reply, str):
        raise row.wrong("judgment.response", "the text of the reply, or null")
    outcome: Outcome = Unparsed(NO_VERDICT) if decision is None else Verdict(_DECISIONS[decision])
    trial = Trial(f"{suite}/{pair}/t1/{order}/r1", suite, pair, pair, "t1", order, label=label)
    return _judgment(trial, judge, outcome, reply, pairwise=True)


def _judgment(
    trial: Trial, judge: str, outcome: Outcome, reply: str | None, *, pairwise: bool
) -> Judgment:
    chosen = None
    if pairwise and isinstance(outcome, Verdict):
        chosen = content_of_slot(outcome.value, trial.order)
    return Judgment(trial, judge, outcome, chosen=chosen, reply=reply)


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
    judgments = _table_judgments(rows, columns, fixed, values or {})
    return Imported(judgments, (*left_out(rows, columns.values()), *notices))


def _table_judgments(
    rows: list[Row], columns: Mapping[str, str], fixed: Mapping[str, str], values: Mapping[str, str]
) -> tuple[tuple[Judgment, Design], ...]:
    known: dict[tuple[str, str], str] = {}
    made = []
    for row in rows:
        one = _cells(row, columns, fixed, values)
        once(known, (one.judge, one.trial.id), row)
        made.append(one)
    said: dict[str, tuple[set[str | None], set[str | None]]] = {}
    for one in made:
        verdicts, labels = said.setdefault(one.trial.suite, (set(), set()))
        verdicts.add(one.verdict)
        labels.add(one.trial.label)
    designs = {name: _design(*words) for name, words in said.items()}
    return tuple((_placed(one, designs[one.trial.suite]), designs[one.trial.suite]) for one in made)


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

    def whole(name: str, default: int | None) -> int | None:
        if cell(name) is None:
            return default
        return row.number(columns[name])

    suite, item = cell("suite", required=True), cell("item", required=True)
    template, order = cell("template") or "t1", cell("order") or "ab"
    if order not in _GAME_ORDERS:
        raise row.wrong(columns["order"], "ab or ba")
    replicate = whole("replicate", 1)
    verdict, failed = cell("verdict"), cell("failed")
    outcome: Outcome = Unparsed(NO_VERDICT)
    if failed is not None:
        outcome = Failed(failed)
    elif verdict is not None:
        outcome = Verdict(values.get(verdict, verdict))
    label = cell("label")
    latency = cell("latency_s")
    try:
        seconds = None if latency is None else float(latency)
    except ValueError as error:
        raise row.wrong(columns["latency_s"], "seconds") from error
    trial = Trial(
        id=f"{suite}/{item}/{template}/{order}/r{replicate}",
        suite=str(suite),
        item=str(item),
        cluster=cell("cluster") or str(item),
        template=template,
        order="ab" if order == "ab" else "ba",
        replicate=replicate or 1,
        condition={
            name.removeprefix("condition."): str(cell(name))
            for name in columns
            if name.startswith("condition.") and cell(name) is not None
        },
        label=None if label is None else values.get(label, label),
    )
    usage = Usage(whole("prompt_tokens", None), whole("completion_tokens", None))
    judge = str(cell("judge", required=True))
    return Judgment(trial, judge, outcome, reply=cell("reply"), usage=usage, latency_s=seconds)


def _design(verdicts: Collection[str | None], labels: Collection[str | None]) -> Design:
    """The design of a suite in which these verdicts and labels occur."""
    verdicts, labels = set(verdicts) - {None, TIE, ABSTAIN}, set(labels) - {None, TIE}
    if verdicts <= {"A", "B"} and labels <= {"A", "B", "1", "2"}:
        return SLOTS
    words = {str(word) for word in verdicts | labels}
    if ordinal := all(word.lstrip("-").isdecimal() for word in words):
        return Design("paraphrase", tuple(sorted(words, key=int)), ordinal, pairs="all")
    return Design("paraphrase", tuple(sorted(words)), pairs="all")


def _placed(one: Judgment, design: Design) -> Judgment:
    """``one`` with slots mapped to contents, where ``design`` compares two."""
    if not design.pairwise:
        return one
    label = one.trial.label
    trial = replace(
        one.trial, label=None if label is None else content_of_slot(label, one.trial.order)
    )
    placed = _judgment(trial, one.judge, one.outcome, one.reply, pairwise=True)
    return replace(placed, usage=one.usage, latency_s=one.latency_s)
