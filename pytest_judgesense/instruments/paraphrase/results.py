"""Result files of two benchmarks to judgments: those of LLMBar, and pairs of games.

**llmbar** (``read_llmbar``): a file ``SUBSET/.../JUDGE/VARIANT/result.json`` is a list of records.
Each has ``label`` (the better output, 1 or 2) and ``results``, whose last stage holds the games
``swap = False`` and ``swap = True``, each with the ``completion`` and the ``winner`` by content:
``"1"``, ``"2"`` or null. A winner of two ratings has no completion. A subset becomes a suite, a
variant of the prompt a template, a record an item, a game a presentation order; the judge is the
judge. The benchmark's repository has the judges in a folder ``evaluators``, which names nothing.
The recorded winners come from the benchmark's own reading of the completions; ``reparse`` reads
them anew, by the rule of `replies`.

**games** (``read_games``): a row is a pair that was judged twice, ``pair_id``, ``label`` and
``judgments``, the second game with the sides exchanged. A game's ``decision`` names slots: ``A>B``,
``B>A``, ``A=B`` or null (no verdict), its ``judgment`` holds ``judge_model`` and ``response``. The
label names the sides of the first game. A pair becomes an item, a game a presentation order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import Any, Final

from pytest_judgesense.errors import LogError, listed, unknown_name
from pytest_judgesense.files.assignments import option_words
from pytest_judgesense.files.first_sight import FirstSight
from pytest_judgesense.files.foreign_results import NO_VERDICT, Imported, left_out, once, slug
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.judgment_fields import ROW_NUMBER
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.tables import malformed, read_document, read_rows
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import (
    TIE,
    Design,
    Judgment,
    JudgmentOutcome,
    Order,
    Trial,
    Unparsed,
    Verdict,
    content_of_slot,
    grouped,
    slot_of_content,
)

_ORDERS: Final[tuple[Order, Order]] = ("ab", "ba")
SPACE: Final = DecisionSpace(
    ("A", "B"), pairwise=True, names={"A": ("Output (a)",), "B": ("Output (b)",)}
)
DESIGN: Final = Design(kind="paraphrase", labels=("A", "B"), pairwise=True, pairs="all")
_CONTENTS: Final = {"1": "1", "2": "2", "tie": TIE, "equal": TIE}
_GAMES: Final = dict(zip(("swap = False", "swap = True"), _ORDERS, strict=True))
_EVALUATORS: Final = "evaluators"
_RESULT: Final = "result.json"
# A cell that may be part of an item is as long at most; so many columns are named.
_LONGEST_PART: Final = 80
_MOST_PARTS: Final = 4


def placed(judgment: Judgment) -> Judgment:
    """``one`` of two candidates, with the content that its verdict points at."""
    chosen = (
        None
        if judgment.verdict is None
        else content_of_slot(judgment.verdict, judgment.trial.order)
    )
    return replace(judgment, chosen=chosen)


def all_rows(path: Path) -> list[Row]:
    """The rows of a file, or of all files of a folder."""
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    return [row for file in files for row in read_rows(file)]


def is_of_llmbar(sight: FirstSight) -> bool:
    """Whether a file, or one below a folder, holds results of LLMBar."""
    files = sight.path.rglob(_RESULT) if sight.is_folder else (sight.path,)
    file = next(iter(files), None)
    if file is None or file.name != _RESULT:
        return False
    records = FirstSight(file).document if sight.is_folder else sight.document
    first = records[0] if isinstance(records, list) and records else None
    stages = first.get("results") if isinstance(first, dict) else None
    last = stages[-1] if isinstance(stages, list) and stages else None
    return isinstance(last, dict) and not last.keys().isdisjoint(_GAMES)


def imported_llmbar(options: ImportOptions) -> Imported:
    """The judgments of ``judgesense import --format llmbar``."""
    judgments = read_llmbar(options.path, reparse=options.reparse, variants=options.variant)
    return Imported(tuple((judgment, DESIGN) for judgment in judgments))


def read_llmbar(
    folder: Path, *, reparse: bool = False, variants: Collection[str] = ()
) -> Iterator[Judgment]:
    """The judgments of every ``result.json`` at or below ``folder``, in the order of their paths.

    Args:
        folder: a folder of the benchmark's results, at any level, or one file.
        reparse: parse the completions again instead of keeping the recorded winners.
        variants: of the prompt; all if there are none.

    Raises:
        LogError: there is no such file, or a field is missing or malformed; it names file,
            record and field.
        UsageError: there is no such variant.
    """
    files = [folder] if folder.is_file() else sorted(folder.rglob(_RESULT))
    if not files:
        raise LogError(
            f"there are no LLMBar results at {folder}",
            found="no result.json" if folder.exists() else "no such folder",
            expected="files SUBSET/JUDGE/VARIANT/result.json below it",
        )
    by_variant = grouped(files, lambda file: file.resolve().parent.name)
    for name in variants:
        if name not in by_variant:
            raise unknown_name("variant of the prompt", name, by_variant)
    for file in files:
        if not variants or file.resolve().parent.name in variants:
            yield from _llmbar_file(file, folder, reparse)


def _llmbar_file(file: Path, folder: Path, reparse: bool) -> Iterator[Judgment]:
    suite, judge, variant = _place(file, folder)
    for index, record in enumerate(read_document(file, list, "a list of records"), start=1):
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
    if rest[-1] == _EVALUATORS:
        rest.pop()
    # A folder at or above the subset gives it its whole name; one below knows the nearest part.
    beyond = len(above) - len(rest)
    depth = len(above) - len(folder.resolve().parts)
    subset = rest[len(rest) - max(depth - beyond, 1) :]
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
    rated = isinstance(game, Mapping) and "winner" in game and not reparse
    completion = game.get("completion") if rated else _field(game, "completion", where)
    # Some clients return the text together with other values: the text is the first.
    text = completion[0] if isinstance(completion, list) and completion else completion
    if not isinstance(text, str) and not (rated and text is None):
        raise malformed(f"{where}: completion", completion, "a text, or a list that begins with it")
    if reparse:
        return Judgment(trial, judge, parse_reply(text, SPACE), reply=text)
    winner = _field(game, "winner", where)
    outcome: JudgmentOutcome = Unparsed("no winner recorded")
    if winner is not None:
        outcome = Verdict(slot_of_content(_content(winner, f"{where}: winner"), trial.order))
    return Judgment(trial, judge, outcome, reply=text)


def is_of_games(sight: FirstSight) -> bool:
    """Whether a file, or the first of a folder, holds pairs with two games each."""
    rows = sight.rows.rows[:1] if sight.rows else ()
    games = [row.value.get("judgments") for row in rows]
    return sight.columns.issuperset(("pair_id", "label")) and all(
        isinstance(game, list) and all(isinstance(g, dict) and "decision" in g for g in game)
        for game in games
    )


def imported_games(options: ImportOptions) -> Imported:
    """The judgments of ``judgesense import --format games``."""
    return read_games(all_rows(options.path), options.suite or options.path.stem)


def each_once(
    rows: Iterable[tuple[Row, Judgment]],
    columns: Mapping[str, str] | None = None,
    **remedy: str,
) -> list[Judgment]:
    """The judgments of rows; each judge answers a trial in one row only.

    Args:
        rows: each with its judgment.
        columns: by field the column that holds it, where `remedy` may name an item of several.
        remedy: what is said of a row that repeats a trial.

    Raises:
        LogError: a row repeats a trial; it names the columns in which the two rows differ.
    """
    places: dict[tuple[str, str], str] = {}
    first_rows: dict[tuple[str, str], Row] = {}
    judgments = []
    judged = [*rows]
    for row, judgment in judged:
        key = (judgment.judge, judgment.trial.id)
        said = remedy
        if columns and key in first_rows:
            telling = _telling_apart(judged, first_rows[key], row, columns)
            said = {"remedy": telling + remedy["remedy"]}
        once(places, key, row, **said)
        first_rows[key] = row
        judgments.append(judgment)
    return judgments


def _telling_apart(
    rows: Sequence[tuple[Row, Judgment]], first: Row, second: Row, columns: Mapping[str, str]
) -> str:
    """An item by which all rows are told apart, of more columns or of the row's number; or nothing.

    It is proposed only if no trial is repeated then.
    """
    item = columns.get("item", "")
    differing = _short_columns([first, second], columns)
    if not item or item.startswith("("):  # of a tool's log, whose rows have no such columns
        return ""
    some: list[str] = []
    for name in dict.fromkeys((*differing, *_short_columns([row for row, _ in rows], columns))):
        if len(some) >= _MOST_PARTS or _are_told(rows, some):
            break
        some.append(name)
    names = f"{item},{','.join(some)}" if some and _are_told(rows, some) else ROW_NUMBER
    differ = f"the two rows differ in {listed(differing[:_MOST_PARTS])}: " if differing else ""
    why = "" if names != ROW_NUMBER else ", which makes an item of each row"
    return f"{differ}try {option_words('--map', 'item', names)}{why}; or "


def _short_columns(rows: Sequence[Row], columns: Mapping[str, str]) -> list[str]:
    """The columns of short cells that differ between rows and hold no field of a judgment."""
    used = {part for names in columns.values() for part in (names, *names.split(","))}
    cells = {name: [row.value.get(name) for row in rows] for name in rows[0].value}
    return [
        name
        for name, of_rows in cells.items()
        if name not in used
        and all(isinstance(cell, str | int) and len(str(cell)) <= _LONGEST_PART for cell in of_rows)
        and any(cell != of_rows[0] for cell in of_rows)
    ]


def _are_told(rows: Sequence[tuple[Row, Judgment]], names: Sequence[str]) -> bool:
    """Whether no two rows are of one trial if these columns are part of their items."""
    keys = {
        (judgment.judge, judgment.trial.id, *(str(row.value.get(name)) for name in names))
        for row, judgment in rows
    }
    return len(keys) == len(rows)


_DECISIONS: Final = {"A>B": "A", "B>A": "B", "A=B": TIE}
_DECISION: Final = "A>B, B>A or A=B"


def read_games(rows: Sequence[Row], suite: str) -> Imported:
    """The judgments of pairs with two games each.

    Raises:
        LogError: a field is missing or malformed, or a judge has judged a pair twice.
    """
    name = slug(suite)
    judgments = each_once(game for row in rows for game in _games(row, name))
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
        place = Row(f"{row.where}, game {order}", game if isinstance(game, dict) else {})
        yield place, _game(place, trial)


def _game(row: Row, trial: Trial) -> Judgment:
    decision = row.value.get("decision", ...)
    if not isinstance(decision, NoneType | str) or decision not in (None, *_DECISIONS):
        raise row.wrong("decision", f"{_DECISION}, or null")
    judged = row.value.get("judgment")
    if not isinstance(judged, dict):
        raise row.wrong("judgment", "an object with judge_model and response")
    if not isinstance(judge := judged.get("judge_model"), str) or not judge:
        raise row.wrong("judgment.judge_model", "the name of the judge")
    reply = judged.get("response", ...)
    if not isinstance(reply, NoneType | str):
        raise row.wrong("judgment.response", "the text of the reply, or null")
    outcome: JudgmentOutcome = (
        Unparsed(NO_VERDICT) if decision is None else Verdict(_DECISIONS[decision])
    )
    return placed(Judgment(trial, judge, outcome, reply=reply))
