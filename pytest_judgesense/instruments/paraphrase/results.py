"""Foreign result files to judgments: rows of JSON Lines, JSON or CSV, read by field.

**llmbar** (``read_llmbar``): a file ``SUBSET/.../JUDGE/VARIANT/result.json`` is a list of records.
Each has ``label`` (the better output, 1 or 2) and ``results``, whose last stage holds the games
``swap = False`` and ``swap = True``, each with the ``completion`` and the ``winner`` by content:
``"1"``, ``"2"`` or null. A subset becomes a suite, a variant of the prompt a template, a record an
item, a game a presentation order; the judge is the judge. The recorded winners come from the
benchmark's own reading of the completions; ``reparse`` reads them anew, by the rule of `replies`.

**games** (``read_games``): a row is a pair that was judged twice, ``pair_id``, ``label`` and
``judgments``, the second game with the sides exchanged. A game's ``decision`` names slots: ``A>B``,
``B>A``, ``A=B`` or null (no verdict), its ``judgment`` holds ``judge_model`` and ``response``. The
label names the sides of the first game. A pair becomes an item, a game a presentation order.

**table** (``read_table``): a row is a judgment, and a mapping says which column holds which field
of a judgment log. A field that is not mapped is read from a column of the same name. What the judge
was shown (``prompt``, ``field.NAME``) and a number that it gave (``score``) are read where they are
mapped. Logs of other tools (`tools`) are such rows once they are read. What the words of two
candidates name where these changed places is settled in `candidates`.
"""

from __future__ import annotations

import math
import re
from argparse import Namespace
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, islice
from operator import attrgetter, itemgetter
from pathlib import Path
from shlex import quote
from types import NoneType
from typing import Any, Final

from pytest_judgesense.errors import JudgesenseError, LogError, UsageError, unknown_name
from pytest_judgesense.grouping import grouped
from pytest_judgesense.importers import (
    NO_VERDICT,
    Imported,
    Row,
    field_of,
    json_or_none,
    left_out,
    malformed,
    messages_of,
    once,
    read_json,
    read_rows,
    slug,
    without_common_value,
)
from pytest_judgesense.instruments.paraphrase.candidates import SLOT, Naming, naming_of
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.planning import trial_order
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import (
    ABSTAIN,
    TEMPERATURE,
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
    as_whole,
    content_of_slot,
    is_number,
    slot_of_content,
)

_ORDERS: Final[tuple[Order, Order]] = ("ab", "ba")
SPACE: Final = DecisionSpace(
    ("A", "B"), pairwise=True, names={"A": ("Output (a)",), "B": ("Output (b)",)}
)
DESIGN: Final = Design(kind="paraphrase", labels=("A", "B"), pairwise=True, pairs="all")
_CONTENTS: Final = {"1": "1", "2": "2", "tie": TIE, "equal": TIE}
_GAMES: Final = dict(zip(("swap = False", "swap = True"), _ORDERS, strict=True))


def placed(one: Judgment) -> Judgment:
    """``one`` of two candidates, with the content that its verdict points at."""
    chosen = None if one.verdict is None else content_of_slot(one.verdict, one.trial.order)
    return replace(one, chosen=chosen)


def all_rows(path: Path) -> list[Row]:
    """The rows of a file, or of all files of a folder."""
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    return [row for file in files for row in read_rows(file)]


def imported_llmbar(options: Namespace) -> Imported:
    """The judgments that ``judgesense import llmbar`` reads."""
    judgments = read_llmbar(options.path, reparse=options.reparse)
    return Imported(tuple((judgment, DESIGN) for judgment in judgments))


def read_llmbar(folder: Path, *, reparse: bool = False) -> Iterator[Judgment]:
    """The judgments of every ``result.json`` at or below ``folder``, in the order of their paths.

    Args:
        folder: a folder of the benchmark's results, at any level, or one file.
        reparse: parse the completions again instead of keeping the recorded winners.

    Raises:
        LogError: there is no such file, or a field is missing or malformed; it names file,
            record and field.
    """
    files = [folder] if folder.is_file() else sorted(folder.rglob("result.json"))
    if not files:
        raise LogError(
            f"there are no LLMBar results at {folder}",
            found="no result.json" if folder.exists() else "no such folder",
            expected="files SUBSET/JUDGE/VARIANT/result.json below it",
        )
    for file in files:
        yield from _llmbar_file(file, folder, reparse)


def _llmbar_file(file: Path, folder: Path, reparse: bool) -> Iterator[Judgment]:
    suite, judge, variant = _place(file, folder)
    for index, record in enumerate(read_json(file, list, "a list of records"), start=1):
        where, item = f"{file}, record {index}", f"{index:04d}"
        label = _content(_field(record, "label", where), f"{where}: label")
        stages = _field(record, "results", where)
        if not isinstance(stages, list) or not stages:
            raise malformed(f"{where}: results", stages, "a list with at least one stage")
        for key, order in _GAMES.items():
            game = _field(stages[-1], key, where)
            name = f"{suite}/{item}/{variant}/{order}/r1"
            trial = Trial(name, suite, item, item, variant, order, label=label)
            yield placed(_llmbar_game(game, f"{where}, {key}", trial, judge, reparse=reparse))


def _place(file: Path, folder: Path) -> tuple[str, str, str]:
    """Suite, judge and prompt variant, from the folders above a result file."""
    above = file.resolve().parent.parts
    if len(above) < 3:
        raise LogError(f"{file} does not lie in SUBSET/JUDGE/VARIANT", found=str(file.resolve()))
    *rest, judge, variant = above
    # A folder at or above the subset gives it its whole name; one below knows the nearest part.
    depth = len(file.resolve().parts) - 1 - len(folder.resolve().parts)
    subset = rest[len(rest) - max(depth - 2, 1) :]
    return "llmbar-" + "-".join(subset), judge, variant


def _field(record: Any, name: str, where: str) -> Any:
    if not isinstance(record, Mapping) or name not in record:
        raise malformed(where, record, f"an object with the field {name!r}")
    return record[name]


def _content(value: Any, where: str) -> str:
    text = str(value).strip().lower()
    if text not in _CONTENTS:
        raise malformed(where, value, "1, 2 or tie")
    return _CONTENTS[text]


def _llmbar_game(game: Any, where: str, trial: Trial, judge: str, *, reparse: bool) -> Judgment:
    completion = _field(game, "completion", where)
    # Some clients return the text together with other values: the text is the first.
    text = completion[0] if isinstance(completion, list) and completion else completion
    if not isinstance(text, str):
        raise malformed(f"{where}: completion", completion, "a text, or a list that begins with it")
    if reparse:
        return Judgment(trial, judge, parse_reply(text, SPACE), reply=text)
    winner = _field(game, "winner", where)
    outcome: Outcome = Unparsed("no winner recorded")
    if winner is not None:
        outcome = Verdict(slot_of_content(_content(winner, f"{where}: winner"), trial.order))
    return Judgment(trial, judge, outcome, reply=text)


def imported_games(options: Namespace) -> Imported:
    """The judgments that ``judgesense import games`` reads."""
    return read_games(all_rows(options.path), options.suite or options.path.stem)


def imported_table(options: Namespace) -> Imported:
    """The judgments that ``judgesense import table`` reads."""
    mapping, names = dict(options.map), dict(options.names)
    named = {"judge": options.judge, "suite": options.suite}
    for field, given in named.items():
        if given is not None and field in mapping:
            raise UsageError(
                f"the {field} is given twice",
                found=f"--{field} {given} and --map {field}={mapping[field]}",
                expected="one of the two",
            )
    values = dict(options.value)
    labels = options.labels or ()
    return read_table(options.path, mapping, **named, values=values, names=names, labels=labels)


def _each_once(read: Iterable[tuple[Row, Judgment]], **remedy: str) -> list[Judgment]:
    """The judgments of rows; each judge answers a trial in one row only."""
    known: dict[tuple[str, str], str] = {}
    judgments = []
    for row, judgment in read:
        once(known, (judgment.judge, judgment.trial.id), row, **remedy)
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
    return Imported(tuple((judgment, DESIGN) for judgment in judgments), notices)


def _games(row: Row, suite: str) -> Iterator[tuple[Row, Judgment]]:
    pair, label = row.text("pair_id"), row.value.get("label")
    if not isinstance(label, str) or label not in _DECISIONS:
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
    if not isinstance(decision, NoneType | str) or decision not in (None, *_DECISIONS):
        raise row.wrong("decision", f"{_DECISION}, or null")
    said = row.value.get("judgment")
    if not isinstance(said, dict):
        raise row.wrong("judgment", "an object with judge_model and response")
    if not isinstance(judge := said.get("judge_model"), str) or not judge:
        raise row.wrong("judgment.judge_model", "the name of the judge")
    reply = said.get("response", ...)
    if not isinstance(reply, NoneType | str):
        raise row.wrong("judgment.response", "the text of the reply, or null")
    outcome: Outcome = Unparsed(NO_VERDICT) if decision is None else Verdict(_DECISIONS[decision])
    return placed(Judgment(trial, judge, outcome, reply=reply))


# Fields of a judgment log that a column may hold; conditions are called condition.NAME.
FIELDS: Final = (
    "judge", "suite", "item", "cluster", "template", "order", "replicate", "label", "verdict",
    "failed", "reply", "prompt_tokens", "completion_tokens", "latency_s",
)  # fmt: skip

# Columns of words that --value renames; conditions are such columns too.
_WORDS: Final = frozenset(("verdict", "label", "order", "template"))
# Of these, words of the judge and of people: they mean the same in capitals, as numbers in 4.0.
_SAID: Final = ("verdict", "label")
# Besides, if mapped: the judge's input, and a number that it gave.
_SHOWN: Final = ("prompt", "score")
_CONDITION: Final = "condition."
# Conditions that may be mapped by their names alone: what sweeps compare.
_SWEPT: Final = (TEMPERATURE, "judge_type", "prompt_style", "model", "gold", "dataset")
_MOST_OTHERS: Final = 3
# A suite may have this many labels.
_MOST_LABELS: Final = 12
_FRACTION: Final = re.compile(r"-?\d*[.,]\d+")
# Whole numbers in other words: 4,0 of a spreadsheet with a decimal comma, and 4/5.
_IN_OTHER_WORDS: Final = re.compile(r"(-?\d{1,18})(?:,0+| ?/ ?\d+)")
# Cells of tables that usually state no verdict.
_SILENT: Final = frozenset(
    "error failed invalid n/a na none null unknown unparsed #n/a - ?".split()
)
# Fields that a row may leave out; each file that states them states them for some rows.
_SPARSE: Final = frozenset(
    ("failed", "reply", "label", "prompt_tokens", "completion_tokens", "latency_s")
)
# Of a nested object so many columns are proposed, and so deep.
_MOST_NESTED: Final = 100
_DEEPEST_NESTED: Final = 4
_MOST_SHOWN: Final = 5
_FIELD: Final = re.compile(r"field\.[a-z][a-z0-9_]*")
# A column of one order, in rows that hold both.
_OF_ORDER: Final = re.compile(
    r"(verdict|failed|reply|prompt|score|prompt_tokens|completion_tokens|latency_s)\.(ab|ba)"
)


def read_table(
    path: Path,
    mapping: Mapping[str, str],
    *,
    judge: str | None = None,
    suite: str | None = None,
    values: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
    labels: Sequence[str] = (),
) -> Imported:
    """The judgments of a table, a row each.

    Verdicts that are all ``A``, ``B``, ``tie`` or ``abstain``, or two words that end in ``1`` and
    ``2`` (``model_1``; ``1``, where a column holds the order), are of a pair. Whether they name
    slots or contents is told by ``names``, or settled by `candidates`; the same holds for a label
    in these words, and a label ``1`` or ``2`` beside ``A`` and ``B`` is a content. An empty verdict
    is an unparsed reply. Numbers make an ordinal space.

    A ``temperature`` is a number and part of the trial, so that a question may be asked at several;
    it and the other conditions of sweeps may be mapped by their names alone.

    A row may hold both orders of a pair: columns of ``verdict.ab`` and ``verdict.ba``, and of other
    fields of a reply by the same endings. A label ``A`` or ``B`` is then a slot of order ``ab``.

    Args:
        path: CSV, JSON Lines, or a JSON list.
        mapping: from a field of a judgment log to the column that holds it, or to several with
            commas between them, whose values are joined: ``{"item": "question_id,turn"}``. A column
            ``a.b`` is the field b of the objects in column a.
        judge: the judge of all rows, where no column names it; the file's name by default.
        suite: the suite of all rows, where no column names it.
        values: from the words in the columns (verdict, label, order, template and conditions) to
            the suite's.
        names: whether ``verdict`` and ``label`` name slots or contents, where candidates changed
            places.
        labels: the answers that a verdict may have, with ``tie`` and ``abstain`` where they are
            permitted: verdicts are read from the replies, and no column holds them.

    Raises:
        UsageError: the mapping names no field of a judgment, or a column that no row has.
        LogError: a field is missing or malformed, or a trial appears twice.
    """
    refuse_fields(mapping)
    mapping = {_CONDITION * (name in _SWEPT) + name: column for name, column in mapping.items()}
    rows = _rows_of(path)
    known = dict.fromkeys(str(column) for row in rows for column in row.value)
    joined = {one: one.split(",") for one in mapping.values() if one not in known and "," in one}
    mapped = [(name, one) for name, of in mapping.items() for one in joined.get(of, [of])]
    nested = [one for _, one in mapped if one not in known and _is_nested(rows, one)]
    for name, column in mapped:
        if column not in known and column not in nested:
            nearest = unknown_name("column", column, [*known, *_nested_columns(rows)])
            raise UsageError(
                f"no row has a column {column!r}, which is mapped to the {name}",
                expected=nearest.expected,
                remedy=nearest.remedy,
            )
    columns = {name: name for name in FIELDS if name in known} | dict(mapping)
    needed = ["reply" if labels else "verdict", "item"]
    if any(map(_OF_ORDER.fullmatch, mapping)):
        needed = [*(f"{needed[0]}.{order}" for order in _ORDERS), "item"]
        columns = {name: of for name, of in columns.items() if name not in ("order", "verdict")}
    if missing := [one for one in needed if one not in columns]:
        from_replies = missing[0] == "verdict"
        raise UsageError(
            f"no column holds the {missing[0]}",
            found="columns " + ", ".join(known),
            expected=f"--map {missing[0]}=COLUMN",
            remedy="if only the replies are there, name their column and the possible verdicts: "
            "--map reply=COLUMN --labels A,B,tie"
            if from_replies
            else "",
        )
    given = {"judge": judge, "suite": suite}
    stem = Path(path.name.removesuffix(".gz")).stem
    fixed = {name: value or slug(stem) for name, value in given.items()}
    notices = [
        f"no column holds the {name}: all rows are of {name} {fixed[name]!r}"
        for name, value in given.items()
        if name not in columns and value is None
    ]
    columns = {name: column for name, column in columns.items() if not given.get(name)}
    used = {*columns.values(), *chain.from_iterable(joined.values())}
    unused = left_out(rows, {*used, *(column.partition(".")[0] for column in nested)})
    rows = [_with_joined(_with_nested(row, nested), joined) for row in rows]
    if labels:
        if stated := [of for name, of in columns.items() if name.partition(".")[0] == "verdict"]:
            raise UsageError(
                "--labels is not used: a column holds the verdicts",
                found=f"{', '.join(stated)}, and --labels {','.join(labels)}",
                expected="--labels, to read verdicts from the replies, or a column of verdicts",
                remedy="leave out --labels, or the column",
            )
        rows = [_with_verdicts(row, columns, labels) for row in rows]
        columns |= {f"verdict{end}": f"(verdict{end})" for end in _endings(columns, "reply")}
        if {*SPACE.labels} <= {*labels}:
            names = {"verdict": SLOT} | dict(names or {})
    read = judgments_of(
        rows, columns, fixed, values or {}, names=names or {}, labels=_answers(labels)
    )
    return replace(read, notices=(*unused, *notices, *read.notices))


def _rows_of(path: Path) -> list[Row]:
    rows = list(read_rows(path))
    if not rows:
        raise LogError(f"{path} holds no rows", expected="at least one")
    return rows


def _is_nested(rows: Iterable[Row], column: str) -> bool:
    return any(field_of(row.value, column) is not ... for row in rows)


def _nested_columns(rows: Iterable[Row]) -> list[str]:
    """The fields of nested objects, as ``--map`` names them."""
    found: dict[str, None] = {}

    def enter(value: Any, name: str, depth: int) -> None:
        if isinstance(value, Mapping) and depth < _DEEPEST_NESTED and len(found) < _MOST_NESTED:
            for key, inner in value.items():
                enter(inner, f"{name}.{key}" if name else str(key), depth + 1)
        elif depth > 1:
            found[name] = None

    for row in islice(rows, _MOST_NESTED):
        enter(row.value, "", 0)
    return list(found)


def _with_nested(row: Row, columns: Iterable[str]) -> Row:
    """The row with fields of nested objects as columns, where it has them."""
    made = {one: value for one in columns if (value := field_of(row.value, one)) is not ...}
    return Row(row.where, {**row.value, **made}) if made else row


def _endings(columns: Iterable[str], field: str) -> list[str]:
    """The endings under which columns hold a field: none, or one for each order."""
    return [name.removeprefix(field) for name in columns if name.partition(".")[0] == field]


def _with_verdicts(row: Row, columns: Mapping[str, str], labels: Sequence[str]) -> Row:
    """The row with the verdict that its reply states, or each of its replies."""
    answers = _answers(labels)
    space = DecisionSpace(
        answers,
        ordinal=all(map(is_number, answers)),
        pairwise=answers == SPACE.labels,
        tie=TIE in labels,
        abstain=ABSTAIN in labels,
    )
    made = {}
    for end in _endings(columns, "reply"):
        reply = row.value.get(columns[f"reply{end}"])
        outcome = parse_reply(None if reply is None else str(reply), space)
        made[f"(verdict{end})"] = outcome.value if isinstance(outcome, Verdict) else None
    return Row(row.where, {**row.value, **made})


def _answers(labels: Iterable[str]) -> tuple[str, ...]:
    return tuple(label for label in labels if label not in (TIE, ABSTAIN))


def _with_joined(row: Row, joined: Mapping[str, Sequence[str]]) -> Row:
    """The row with columns of which each holds the values of several."""
    made = {}
    for name, parts in joined.items():
        if missing := [part for part in parts if row.value.get(part) in (None, "")]:
            raise row.wrong(missing[0], "a text or a number")
        made[name] = "-".join(str(row.value[part]) for part in parts)
    return Row(row.where, {**row.value, **made}) if made else row


def refuse_fields(names: Iterable[str]) -> None:
    """Raise a `UsageError` if one of ``names`` is not a field of a judgment that can be mapped."""
    for name in names:
        known = (
            name in {*FIELDS, *_SHOWN, *_SWEPT}
            or _FIELD.fullmatch(name)
            or _OF_ORDER.fullmatch(name)
        )
        if not known and not name.startswith(_CONDITION):
            every = (
                *FIELDS,
                *_SHOWN,
                *_SWEPT,
                "condition.NAME",
                "field.NAME",
                "verdict.ab",
                "verdict.ba",
            )
            raise unknown_name("field of a judgment", name, every)


def judgments_of(
    rows: Sequence[Row],
    columns: Mapping[str, str],
    fixed: Mapping[str, str],
    values: Mapping[str, str],
    designs: Mapping[str, Design] | None = None,
    *,
    names: Mapping[str, str],
    labels: Sequence[str] = (),
) -> Imported:
    """The judgments of rows.

    Args:
        rows: a judgment each.
        columns: the column of each field; ``source`` may name one with the source of the row.
        fixed: fields that no column holds.
        values: from the words in the columns to the suite's, as for `read_table`.
        designs: by suite, if known; otherwise derived from verdicts and labels.
        names: as for `read_table`.
        labels: the answers that a verdict may have, if known; otherwise those that occur.
    """
    notices: list[str] = []
    objections: list[JudgesenseError] = []
    by_orders = _by_orders(columns, fixed)
    if (column := columns.get("replicate")) is not None:
        rows, numbered = _numbered(rows, column)
        notices += numbered
    words = Renamed(values)
    ordered = "order" in columns or len(by_orders) > 1
    read = (
        (row, _cells(row, of_order, by_order, words))
        for row in rows
        for of_order, by_order in by_orders
    )
    if len(by_orders) > 1:
        read = ((row, _labelled(one, "ab")) for row, one in read)
    judgments = _each_once(
        read,
        remedy="name the column that tells them apart, by --map replicate=COLUMN, --map "
        "template=COLUMN, --map order=COLUMN (ab or ba) or --map temperature=COLUMN; or leave the "
        "line out",
    )
    by_suite = grouped(judgments, attrgetter("trial.suite"))
    by_suite = {suite: _spelt_alike(part) for suite, part in by_suite.items()}
    pairs = False
    for name, part in by_suite.items():
        if two := _candidates(part, ordered=ordered) if name not in (designs or {}) else None:
            pairs = True
            if two != SPACE.labels:
                notices.append(
                    f"verdicts of suite {name} are the candidates of a pair: {two[0]} the first, "
                    f"{two[1]} the second; if they are labels of something else, rename them: "
                    f"--value {two[0]}=WORD"
                )
            naming = naming_of(name, part, two, names)
            notices += naming.notices
            objections += naming.objections
            by_suite[name] = [_in_slots(one, two, naming) for one in part]
        elif name not in (designs or {}):
            objections += _unlike(name, part, {*words.values.values(), *labels})
            notices += _perhaps_others(
                name, _words(part), ordered=ordered, ties=any(one.verdict == TIE for one in part)
            )
    judgments = [one for part in by_suite.values() for one in part]
    known = {suite: _design(part, labels) for suite, part in by_suite.items()}
    known |= dict(designs or {})
    if names and not pairs:
        objections.append(_no_candidates(names, _words(judgments)))
    notices += words.unused(label for one in (designs or {}).values() for label in one.labels)
    designed = ((one, known[one.trial.suite]) for one in judgments)
    return Imported(
        tuple((placed(one) if design.pairwise else one, design) for one, design in designed),
        tuple(notices),
        objections=tuple(objections),
    )


class Renamed:
    """Words of a file by what they are called here; it notes which of them occur.

    Verdicts and labels mean the same in capitals.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values
        self._folded = {word.casefold(): word for word in values}
        self._occurred: set[str] = set()
        self._seen: dict[str, None] = {}

    def __call__(self, text: str, whole: str, *, folded: bool) -> str:
        """What ``text``, or the ``whole`` number that it is, is called."""
        self._seen[text] = None
        for word in (text, whole):
            given = word if word in self.values else None
            if given is None and folded:
                given = self._folded.get(word.casefold())
            if given is not None:
                self._occurred.add(given)
                return self.values[given]
        return whole

    def unused(self, labels: Iterable[str]) -> Iterator[str]:
        """A notice of words that do not occur; those that mean one of ``labels`` name labels."""
        known = {*labels}
        for word, meant in self.values.items():
            if word not in self._occurred and meant not in known:
                there = ", ".join(one[:40] for one in islice(self._seen, _MOST_SHOWN))
                unused = f"--value {word}={meant} is not used: nothing is called {word}"
                yield f"{unused}; the first words are {there}"


def _numbered(rows: Sequence[Row], column: str) -> tuple[Sequence[Row], list[str]]:
    """Rows with replicates from 1, and a notice if the file counts or names them otherwise."""
    texts = {
        text: as_whole(text)
        for row in rows
        if isinstance(value := row.value.get(column), str | int | float)
        if (text := str(value).strip()) not in ("", "nan")  # an empty cell of a table of numbers
    }
    whole = [int(number) for number in texts.values() if is_number(number)]
    if len(whole) == len(texts) and (not whole or min(whole) >= 1):
        return rows, []
    if len(whole) == len(texts) and min(whole) == 0:
        numbers = {text: int(number) + 1 for text, number in texts.items()}
        sentence = f"the {column} counts replicates from 0: {column} 0 is replicate 1"
    else:
        ordered = trial_order({*texts.values()})
        if len(whole) == len(texts):
            ordered.sort(key=int)
        places = {text: at for at, text in enumerate(ordered, start=1)}
        numbers = {text: places[number] for text, number in texts.items()}
        some = [
            f"{text} is {number}" for text, number in sorted(numbers.items(), key=itemgetter(1))
        ]
        more = len(some) - _MOST_SHOWN
        sentence = f"the {column} names replicates, which are numbered: "
        sentence += ", ".join(some[:_MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")

    def number(row: Row) -> Row:
        text = str(row.value.get(column)).strip()
        return Row(row.where, {**row.value, column: numbers[text]}) if text in numbers else row

    return [number(row) for row in rows], [sentence]


def _no_candidates(names: Mapping[str, str], words: Iterable[str]) -> UsageError:
    given = " ".join(f"--names {field}={naming}" for field, naming in names.items())
    return UsageError(
        f"{given} is not used: it is about two candidates",
        found="verdicts and labels " + ", ".join(sorted(words)[:_MOST_LABELS]),
        expected="A and B, or two words that end in 1 and 2",
        remedy="rename the verdicts that name candidates: --value WORD=A --value WORD=B",
    )


def _unlike(
    suite: str, judgments: Sequence[Judgment], meant: Collection[str]
) -> Iterator[JudgesenseError]:
    """An error if verdicts and labels cannot be compared.

    They have no common word, unless the user has named one of each as ``meant``; or verdicts name
    slots of both orders, and a label names no candidate.
    """
    verdicts = {str(one.verdict) for one in judgments} - {str(None), TIE, ABSTAIN}
    labels = {str(one.trial.label) for one in judgments} - {str(None), TIE, ABSTAIN}
    slots = verdicts <= {*SPACE.labels}
    swapped = slots and any(one.trial.order == "ba" for one in judgments)
    vouched = not verdicts.isdisjoint(meant) and not labels.isdisjoint(meant)
    comparable = vouched or not verdicts.isdisjoint(labels)
    if not verdicts or not labels or (comparable and not swapped):
        return
    others = sorted(labels - {"A", "B", "1", "2"} if slots else labels)
    written = {word: found[1] for word in verdicts if (found := _IN_OTHER_WORDS.fullmatch(word))}
    if slots and len(others) <= len(SPACE.labels):
        candidates = [f"{word}={place}" for word, place in _as_candidates(others)]
        remedy = f"if these labels are the candidates of the item: {_values(candidates)}"
    elif written:
        remedy = f"if they mean it: {_values(f'{a}={b}' for a, b in sorted(written.items()))}"
    elif alike := _alike_in_meaning(verdicts, labels):
        remedy = f"if they mean it: {_values(alike)}"
    else:
        remedy = "rename verdicts or labels, once for each word: --value SAID=MEANT"
    if not comparable and not swapped:
        as_they_are = [f"{word}={word}" for word in (min(verdicts), min(labels))]
        remedy += f"; if no verdict is ever right, name one of each: {_values(as_they_are)}"
    yield without_common_value(suite, verdicts, labels, remedy)


def _as_candidates(words: Sequence[str]) -> list[tuple[str, str]]:
    """Words with the candidates that they may name: by their ends, else in alphabetical order."""
    ends = {"1": "1", "a": "1", "2": "2", "b": "2"}
    places = [ends.get(word[-1:].casefold(), "") for word in words]
    if not all(places) or len({*places}) < len(places):
        places = ["1", "2"]
    return list(zip(words, places, strict=False))


# Words of two answers that files mix.
_YES: Final = ("yes", "true", "1", "pass", "passed", "correct", "good", "accurate")
_NO: Final = ("no", "false", "0", "fail", "failed", "incorrect", "bad", "inaccurate")


def _alike_in_meaning(verdicts: Iterable[str], labels: Iterable[str]) -> list[str]:
    """Proposals for ``--value`` where verdicts and labels are yes and no in other words."""
    sides = {word: words is _YES for words in (_YES, _NO) for word in words}
    by_side = {sides[word.casefold()]: word for word in labels if word.casefold() in sides}
    proposed = [
        f"{word}={by_side[side]}"
        for word in sorted(verdicts)
        if (side := sides.get(word.casefold())) in by_side
    ]
    return proposed if len(proposed) == len({*verdicts}) else []


def _by_orders(
    columns: Mapping[str, str], fixed: Mapping[str, str]
) -> list[tuple[Mapping[str, str], Mapping[str, str]]]:
    """The columns and fixed fields of the judgments in a row: of one, or of one in each order."""
    of_order = {name for name in columns if _OF_ORDER.fullmatch(name)}
    if not of_order:
        return [(columns, fixed)]
    shared = {name: column for name, column in columns.items() if name not in of_order}
    return [
        (
            shared | {one[:-3]: columns[one] for one in of_order if one.endswith(order)},
            {**fixed, "order": order},
        )
        for order in _ORDERS
    ]


def _labelled(one: Judgment, order: Order) -> Judgment:
    """``one`` with the content that its label names, if that is a slot of ``order``."""
    if one.trial.label is None:
        return one
    return replace(one, trial=replace(one.trial, label=content_of_slot(one.trial.label, order)))


def _cells(
    row: Row, columns: Mapping[str, str], fixed: Mapping[str, str], words: Renamed
) -> Judgment:
    def cell(name: str, *, required: bool = False) -> str | None:
        column = columns.get(name)
        if column is None:
            return fixed.get(name)
        if column not in row.value:
            if name in _SPARSE:
                return None
            raise row.wrong(column, f"the {name} of the judgment")
        found = row.value[column]
        text = "" if found is None else str(found).strip()
        if isinstance(found, bool):
            text = text.lower()
        if isinstance(found, float) and math.isinf(found):
            raise row.wrong(column, f"the {name} of the judgment: a text or a finite number")
        # The empty cell of a table of numbers.
        if text.casefold() == "nan" and (isinstance(found, float) or name in _SAID):
            text = ""
        if isinstance(found, list | dict) or (required and not text):
            raise row.wrong(column, f"the {name} of the judgment: a text or a number")
        whole = as_whole(text) if isinstance(found, float) or name in _SAID else text
        if name in _WORDS or name.startswith(_CONDITION):
            whole = words(text, whole, folded=name in _SAID) if text else whole
        if name in _SAID and whole.casefold() in (TIE, ABSTAIN):
            whole = whole.casefold()
        return whole or None

    def whole(name: str, least: int) -> int | None:
        return None if cell(name) is None else row.number(columns[name], least)

    suite, item = str(cell("suite", required=True)), str(cell("item", required=True))
    condition, at = _condition(row, columns, cell)
    # A judge type and a style are a prompt, where no column names it.
    prompt = [str(condition[one]) for one in ("judge_type", "prompt_style") if one in condition]
    template, order = cell("template") or "-".join(prompt) or "t1", cell("order") or "ab"
    if order not in _ORDERS:
        expected = f"ab or ba; words for them are renamed: --value {order}=ab"
        raise row.wrong(columns["order"], expected)
    replicate = whole("replicate", 1) or 1
    verdict, failed, label = cell("verdict"), cell("failed"), cell("label")
    outcome: Outcome = Unparsed(NO_VERDICT)
    if failed is not None:
        outcome = Failed(failed)
    elif verdict is not None:
        outcome = Verdict(verdict)
    latency = cell("latency_s")
    try:
        seconds = None if latency is None else float(latency)
    except ValueError:
        seconds = -1.0
    if seconds is not None and not 0 <= seconds < math.inf:
        raise row.wrong(columns["latency_s"], "seconds, at least 0")
    trial = Trial(
        id=f"{suite}/{item}/{template}/{order}{at}/r{replicate}",
        suite=suite,
        item=item,
        cluster=cell("cluster") or item,
        template=template,
        order="ab" if order == "ab" else "ba",
        replicate=replicate,
        condition=condition,
        label=label,
    )
    usage = Usage(whole("prompt_tokens", 0), whole("completion_tokens", 0))
    judge = str(cell("judge", required=True))
    source = _source(row, columns)
    detail = {"source": source} if source else None
    return Judgment(
        trial, judge, outcome, reply=cell("reply"), usage=usage, latency_s=seconds, detail=detail
    )


def _condition(
    row: Row, columns: Mapping[str, str], cell: Callable[[str], str | None]
) -> tuple[dict[str, str | float], str]:
    """The condition of a row, and what its temperature adds to the id of the trial."""
    condition: dict[str, str | float] = {
        name.removeprefix(_CONDITION): value
        for name in columns
        if name.startswith(_CONDITION) and (value := cell(name)) is not None
    }
    if (given := condition.get(TEMPERATURE)) is None:
        return condition, ""
    try:
        temperature = float(given)
    except ValueError:
        temperature = -1.0
    if not 0 <= temperature < math.inf:
        raise row.wrong(columns[_CONDITION + TEMPERATURE], "a temperature: a number from 0")
    return {**condition, TEMPERATURE: temperature}, f"/t{temperature:g}"


def _source(row: Row, columns: Mapping[str, str]) -> dict[str, Any]:
    """The judge's input, and a number that it gave, if the row holds them."""
    source: dict[str, Any] = (
        dict(row.value.get(columns["source"], {})) if "source" in columns else {}
    )
    if (column := columns.get("prompt")) and (said := row.value.get(column)) not in (None, ""):
        source["prompt"] = messages_of(said) or messages_of(json_or_none(said))
        if source["prompt"] is None:
            if not isinstance(said, str):
                raise row.wrong(column, "the prompt: a text, or a list of messages with content")
            source["prompt"] = [{"role": "user", "content": said}]
    fields = dict(source.get("fields", {}))
    for name, column in columns.items():
        if _FIELD.fullmatch(name):
            found = row.value.get(column)
            if isinstance(found, list | dict):
                raise row.wrong(column, "a text that the judge was shown")
            fields[name.partition(".")[2]] = "" if found is None else str(found)
    if fields:
        source["fields"] = fields
    if (column := columns.get("score")) and (said := row.value.get(column)) not in (None, ""):
        try:
            source["score"] = float(said)
        except (TypeError, ValueError) as error:
            raise row.wrong(column, "a number") from error
        if not math.isfinite(source["score"]):
            raise row.wrong(column, "a finite number")
    return source


def _spelt_alike(judgments: list[Judgment]) -> list[Judgment]:
    """The same, with words that differ in capitals alone spelt alike, as a label if there is one.

    The order of the alphabet decides among several, not how many there are: another file of the
    same suite has the same spelling.
    """
    labels = sorted({one.trial.label for one in judgments if one.trial.label})
    words = [*labels, *sorted({one.verdict for one in judgments if one.verdict})]
    spelt: dict[str, str] = {}
    for word in words:
        spelt.setdefault(word.casefold(), word)
    if len(spelt) == len({*words}):
        return judgments
    return [_in_words(one, lambda word: spelt[word.casefold()]) for one in judgments]


def _in_words(one: Judgment, word_for: Callable[[str], str]) -> Judgment:
    """``one`` with its verdict and its label in other words."""
    trial, outcome = one.trial, one.outcome
    if trial.label is not None:
        trial = replace(trial, label=word_for(trial.label))
    if isinstance(outcome, Verdict):
        outcome = Verdict(word_for(outcome.value))
    return replace(one, trial=trial, outcome=outcome)


def _words(judgments: Iterable[Judgment]) -> set[str]:
    """The values of verdicts and labels, except tie and abstention."""
    said = {word for one in judgments for word in (one.verdict, one.trial.label) if word}
    return said - {TIE, ABSTAIN}


def _candidates(judgments: Sequence[Judgment], *, ordered: bool) -> tuple[str, str] | None:
    """The words of the first and the second candidate of a pair; ``None`` if there is no pair.

    ``A`` and ``B``, two words that differ in a last ``1`` and ``2`` (``model_1``), or, of a table
    that says in which order the candidates stood, the numbers themselves.
    """
    if _design(judgments) is DESIGN:
        return "A", "B"
    words = sorted(_words(judgments))
    if len(words) != 2 or [word[-1:] for word in words] != ["1", "2"]:
        return None
    first, second = words
    if first[:-1] != second[:-1] or not (ordered or first[:-1].rstrip("0123456789")):
        return None
    return first, second


def _perhaps_others(suite: str, said: Iterable[str], *, ordered: bool, ties: bool) -> Iterator[str]:
    """A notice if verdicts that are read as labels look like slots, or like grades of a scale.

    Slots are two words that differ in a last ``a`` and ``b``, or any two if a column says in which
    order candidates stood. A few words beside slots or numbers state no verdict (``error``), unless
    they are letters: those are grades.
    """
    words = sorted(said)
    if words == ["1", "2"]:
        yield (
            f"verdicts of suite {suite} are read as a scale of 1 and 2; if they are the candidates "
            f"of a pair, rename them: {_values(['1=A', '2=B'])}"
        )
        return
    pairs = list(combinations(words, 2)) if words != ["A", "B"] else []
    sides = [pair for pair in pairs if _are_sides(*pair) and (len(pairs) > 1 or len(pair[0]) > 1)]
    if not sides and (ordered or ties) and len(pairs) == 1:
        sides = pairs
    numbers = [word for word in words if is_number(word)]
    others = [word for word in words if word not in (sides[0] if sides else numbers)]
    written = {word: found[1] for word in others if (found := _IN_OTHER_WORDS.fullmatch(word))}
    fractions = [word for word in others if _FRACTION.fullmatch(word) and word not in written]
    if written:
        grades = _values(f"{word}={number}" for word, number in written.items())
        yield f"verdicts of suite {suite} are labels and no scale; if they are grades: {grades}"
    if fractions:
        yield (
            f"verdicts of suite {suite} are labels and no scale, for {fractions[0]} is no whole "
            "number; multiply the scores in the file, half points by 2; of scores that pass or "
            "fail write which into a column of the file"
        )
    if written or fractions:
        return
    if len(words) > _MOST_LABELS and len(others) > _MOST_OTHERS:
        yield (
            f"verdicts of suite {suite} are {len(words)} different labels, such as "
            f"{others[0][:40]!r}; the text of a reply is no verdict: --map reply=COLUMN and "
            "--labels A,B,... read the verdicts from it, without --map verdict"
        )
    silent = [word for word in others if word.casefold() in _SILENT]
    if len(others) > _MOST_OTHERS or any(len(word) == 1 and word.isalpha() for word in others):
        others, sides, numbers = silent, [], []
    nothing = [f"{word}=" for word in others]
    if sides:
        new = [f"{word}={slot}" for word, slot in zip(sides[0], "AB", strict=True) if word != slot]
        also = ", and what states no verdict to nothing" * bool(others)
        yield (
            f"verdicts of suite {suite} are labels, {', '.join(words[:-1])} and {words[-1]}; if "
            f"they are the slots of a pair, rename them{also}: {_values(nothing + new)}"
        )
    elif others and len(numbers) > 1:
        yield (
            f"verdicts of suite {suite} are labels and no scale, for not all of them are whole "
            f"numbers; rename the others, or what states no verdict to nothing: {_values(nothing)}"
        )
    elif silent:
        yield (
            f"{' and '.join(silent)} of suite {suite} are labels like any other; if they state no "
            f"verdict, rename them to nothing: {_values(f'{word}=' for word in silent)}"
        )


def _values(renamed: Iterable[str]) -> str:
    # A dash at the start would look like an option.
    return " ".join(f"--value{'=' if one[0] == '-' else ' '}{quote(one)}" for one in renamed)


def _are_sides(first: str, second: str) -> bool:
    one, other = first.casefold(), second.casefold()
    return one[:-1] == other[:-1] and (one[-1], other[-1]) == ("a", "b")


def _in_slots(one: Judgment, words: tuple[str, str], naming: Naming) -> Judgment:
    """``one`` with the slot that its verdict means in its order, and the content as its label."""
    trial, outcome = one.trial, one.outcome
    label, verdict = trial.label, one.verdict
    if label in words:
        place = words.index(label)
        in_slot = naming.label == SLOT
        label = content_of_slot("AB"[place], trial.order) if in_slot else "12"[place]
    if verdict in words:
        place = words.index(verdict)
        in_slot = naming.verdict == SLOT
        outcome = Verdict("AB"[place] if in_slot else slot_of_content("12"[place], trial.order))
    return replace(one, trial=replace(trial, label=label), outcome=outcome)


def _design(judgments: Iterable[Judgment], answers: Sequence[str] = ()) -> Design:
    """The design of a suite in which these verdicts and labels occur; ``answers``: see above."""
    said = {(one.verdict, one.trial.label) for one in judgments}
    verdicts = {verdict for verdict, _ in said if verdict} - {TIE, ABSTAIN}
    labels = {label for _, label in said if label} - {TIE}
    if verdicts <= {"A", "B"} and labels <= {"A", "B", "1", "2"} and answers in ((), SPACE.labels):
        return DESIGN
    words = verdicts | labels
    ordinal = all(map(is_number, [*words, *answers]))
    ordered = sorted(words, key=int) if ordinal else sorted(words)
    if words <= {*answers}:
        ordered = sorted(answers, key=int) if ordinal else list(answers)
    return Design("paraphrase", tuple(ordered), ordinal, pairs="all")
