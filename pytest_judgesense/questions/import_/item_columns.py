"""Which columns name the item of a row, and what else tells rows of one item apart.

Where an id stands in several rows, the fewest columns that tell rows together with it are the item;
rows that are equal but for what the judge said are repeats, which are numbered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Final, NamedTuple

from pytest_judgesense.files.assignments import option_words
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.judgment_fields import ROW_NUMBER
from pytest_judgesense.files.proposals import PossibleReading, Setting
from pytest_judgesense.files.rows import LIST_COLUMN, Row, field_of
from pytest_judgesense.files.tables import FILE_COLUMN, RowTable
from pytest_judgesense.questions.import_ import role_words as words_of
from pytest_judgesense.questions.import_.column_facts import ColumnFacts
from pytest_judgesense.questions.import_.finder import (
    Finder,
    is_of_people,
    says_answers,
    weight_of,
    words_in,
)

REPEAT_NUMBER: Final = "repeat number"
"""The column of the number of a row among those of one judge, item, order and wording."""

# So many columns may tell rows together.
_MOST_BESIDE: Final = 3
_MOST_TOGETHER: Final = 3
# So many are added one after the other.
_MOST_ADDED: Final = 6
# More columns are not tried in threes.
_MOST_TRIED: Final = 24
_SHORT: Final = ("words", "names", "numbers")
_OF_ITEM: Final = (
    *("order", "first", "second", "replicate", "judge", "template", "temperature", "suite"),
)
TRIAL_FIELDS: Final = frozenset(("item", *_OF_ITEM))
"""The fields by which a judgment is told from others."""

# By which fields repeats are numbered.
_OF_TRIAL: Final = TRIAL_FIELDS - {"replicate"}
# What a column may be that tells rows of an item apart: the field, and words of its name.
_BESIDE: Final = (
    ("replicate", words_of.REPLICATE | {"seed"}),
    ("template", words_of.TEMPLATE - {"prompt"} | {"prompt"}),
    ("suite", words_of.CRITERION),
)
_WHY_BESIDE: Final = {
    "replicate": "runs of an item",
    "template": "wordings of an item",
    "suite": "criteria, a suite each",
}
_PARTS_OF_ITEM: Final = words_of.MODEL | frozenset(
    "turn category dataset subset task domain language split side candidate answer method "
    "part".split()
)
# Texts that tell items best.
_QUESTIONS: Final = frozenset("question prompt instruction task query input passage".split())
_NUMBERING: Final = frozenset("index idx no number num".split())
# Columns of the files, or lists, in which rows stand.
_OF_PLACES: Final = (FILE_COLUMN, LIST_COLUMN)
# Texts that are called so are as a judge wrote them.
_RAW: Final = frozenset(("raw", "reply", "replies", "completion"))
# What differs between calls, and not between items.
_OF_CALL: Final = words_of.COUNTS | words_of.FAILED | words_of.SECONDS


class _Beside(NamedTuple):
    """A column that tells rows of an item apart, and the field that it is."""

    field: str
    facts: ColumnFacts


def find_item(finder: Finder, model: ColumnFacts | None) -> None:
    """Take the item, with what else is needed to tell all rows apart."""
    stated = [finder.columns[n] for f in _OF_ITEM if (n := finder.fields.get(f)) in finder.columns]
    named = _named_items(finder)
    telling = [facts for facts in named if _tells((facts, *stated))]
    if stated:  # a row's own id is no item where judgments of one item are told apart
        telling.sort(key=lambda facts: facts.is_unique)
    if telling:
        finder.take("item", telling[0].name, _counted(telling[:1]))
    elif not (named and _take_beside(finder, named, stated, model)):
        _take_together(finder, named, stated)


def find_beside_item(finder: Finder, model: ColumnFacts | None) -> None:
    """Take what tells rows of an item apart, where it is said which columns are the item."""
    names = finder.fields["item"]
    parts = [names] if names in finder.columns else names.split(",")
    item = [finder.columns[part] for part in parts if part in finder.columns]
    fields = [name for name in _OF_ITEM if finder.fields.get(name) in finder.columns]
    stated = [finder.columns[finder.fields[name]] for name in fields]
    if len(item) < len(parts) or _tells((*item, *stated)):
        return
    beside = _beside(finder, item)
    for count in range(1, _MOST_BESIDE + 1):
        for some in combinations(beside, count):
            are_different = len({part.field for part in some}) == count
            if are_different and _tells((*item, *(part.facts for part in some), *stated)):
                for part in some:
                    finder.take(part.field, part.facts.name, _WHY_BESIDE[part.field])
                return
    if model is not None and _tells((*item, model, *stated)):
        _ask_model(finder, model)


def _beside(finder: Finder, items: Collection[ColumnFacts]) -> list[_Beside]:
    """The columns that may tell rows of an item apart, by the fields that they would be."""
    return [
        _Beside(name, facts)
        for name, words in _BESIDE
        if not finder.says(name)
        for facts in finder.named(words)
        if _may_repeat(facts) and facts not in items
    ]


def _named_items(finder: Finder) -> list[ColumnFacts]:
    """The columns that are called as ids or items are, the best name first."""
    named = [
        facts
        for facts in finder.free.values()
        if (words_in(facts, words_of.IDS) or {*facts.words} <= words_of.ITEM)
        and facts.kind in _SHORT
        and not facts.missing
        and not is_of_people(facts)
        and not words_in(facts, words_of.JUDGE - {"model"})
    ]
    return sorted(named, key=_rank)


def _rank(facts: ColumnFacts) -> int:
    if "item" in facts.words:
        return 0
    is_id = bool(words_in(facts, words_of.IDS))
    if is_id and words_in(facts, words_of.ITEM - words_of.IDS):
        return 1
    return 2 if {*facts.words} & {"id", "uid", "uuid", "qid"} else 3


def _tells(columns: Iterable[ColumnFacts]) -> bool:
    """Whether no two rows have the same cells in all of some columns."""
    together = [*columns]
    return _count(together) == len(together[0].cells)


def _count(columns: Iterable[ColumnFacts]) -> int:
    """How many rows some columns tell apart."""
    return len({*zip(*(facts.texts for facts in columns), strict=True)})


def _take_beside(
    finder: Finder,
    named: Sequence[ColumnFacts],
    stated: Sequence[ColumnFacts],
    model: ColumnFacts | None,
) -> bool:
    """Take an item and the columns beside it that tell rows apart; whether there are such."""
    beside = _beside(finder, named[:1])
    beside += [_Beside("", model)] if model else []
    for count in range(1, _MOST_BESIDE + 1):
        for some in combinations(beside, count):
            if len({part.field for part in some}) < count:
                continue
            for item in named:
                columns = [part.facts for part in some]
                if item not in columns and _tells((item, *columns, *stated)):
                    _take_parts(finder, item, some)
                    return True
    return False


def _may_repeat(facts: ColumnFacts) -> bool:
    """Whether a column has few short cells, which several rows have."""
    return facts.kind in _SHORT and len(facts.different) > 1 and not facts.is_unique


def _take_parts(finder: Finder, item: ColumnFacts, beside: Sequence[_Beside]) -> None:
    finder.take("item", item.name, _counted([item]))
    for name, facts in beside:
        if name:
            finder.take(name, facts.name, _WHY_BESIDE[name])
        else:
            finder.free.pop(facts.name)
            _ask_model(finder, facts)


def _counted(columns: Sequence[ColumnFacts]) -> str:
    rows = [*zip(*(facts.texts for facts in columns), strict=True)]
    items = len(set(rows))
    return "a row each" if items == len(rows) else f"{items} in {len(rows)} rows"


def _ask_model(finder: Finder, model: ColumnFacts) -> None:
    item, name = finder.fields.get("item", ""), model.stated[0]
    readings = (
        PossibleReading((Setting("map", ("judge", model.name)),), f"{name} is the judge"),
        PossibleReading(
            (Setting("map", ("item", f"{item},{model.name}")), Setting("map", ("cluster", item))),
            f"{name} wrote what was judged",
        ),
    )
    finder.ask(f"does column {model.name} name the judge, or who wrote the output?", readings)


class _Telling(NamedTuple):
    """Columns that may tell items: ids, parts of what is judged, other short cells, and texts."""

    named: Sequence[ColumnFacts]
    parts: Sequence[ColumnFacts]
    others: Sequence[ColumnFacts]
    texts: Sequence[ColumnFacts]


def _take_together(
    finder: Finder, named: Sequence[ColumnFacts], stated: Sequence[ColumnFacts]
) -> None:
    """Take several columns as the item; without any that tell, the best name or the row's number.

    Texts tell items that have no name: they are what was judged.
    """
    telling = _telling(finder, named)
    rows = len(finder.table)
    some = _first_telling(telling, stated, rows)
    if some:
        _take_as_item(finder, some, named)
    elif _take_repeats(finder, telling, stated):
        return
    elif named and (files := _several_places(finder)):
        _ask_files(finder, files, [named[0].name])
    elif named and _take_numbers(finder, named, stated):
        return
    elif named:
        finder.take("item", named[0].name, _counted(named[:1]))
    elif not finder.table.has(ROW_NUMBER):
        finder.also("item", ROW_NUMBER, "no column tells the items")


def _take_numbers(
    finder: Finder, named: Sequence[ColumnFacts], stated: Sequence[ColumnFacts]
) -> bool:
    """Take each row as an item where no columns tell rows, and say so; whether it is so."""
    # Few copies of rows of many ids are there by mistake rather.
    is_id = 2 * _count(named[:1]) >= len(finder.table)
    if is_id or finder.table.has(ROW_NUMBER) or _tells((*named, *stated)):
        return False
    finder.also("item", ROW_NUMBER, "no columns tell the rows: each is an item of its own")
    repeats = option_words("--map", "item", named[0].name)
    numbers = option_words("--map", "replicate", REPEAT_NUMBER)
    finder.notes.append(f"if rows of one {named[0].name} are repeats of it: {repeats} {numbers}")
    return True


def _telling(finder: Finder, named: Sequence[ColumnFacts]) -> _Telling:
    free = [facts for facts in finder.free.values() if facts not in named]
    free = [facts for facts in free if not facts.missing]  # what some rows lack names no item
    parts = [f for f in free if f.kind in _SHORT and words_in(f, _PARTS_OF_ITEM)]
    texts = [
        facts
        for facts in free
        if facts.kind in ("texts", "names")
        and not words_in(facts, words_of.REPLIES | words_of.JUDGE | _RAW)
        and facts not in parts
    ]
    texts.sort(key=lambda facts: not words_in(facts, _QUESTIONS))
    others = [f for f in free if _may_be_part(f) and f not in parts]
    others.sort(key=lambda facts: len(facts.different))  # what has many cells tells by chance
    return _Telling(named, parts, others[:_MOST_TRIED], texts[:_MOST_TRIED])


def _may_be_part(facts: ColumnFacts) -> bool:
    """Whether a column names something of what was judged: short cells that are no answers."""
    is_name = facts.kind in ("words", "names") or facts.are_whole_numbers
    is_answer = weight_of(facts) or says_answers(facts) or is_of_people(facts)
    of_judge = words_in(facts, _OF_CALL | words_of.JUDGE - {"model"})
    is_name = is_name and facts.name not in _OF_PLACES
    return is_name and not facts.missing and _may_repeat(facts) and not (is_answer or of_judge)


def _first_telling(
    telling: _Telling, stated: Sequence[ColumnFacts], rows: int
) -> tuple[ColumnFacts, ...]:
    """The fewest columns that tell so many rows, beginning with an id if there is one; or none."""
    named, parts, others, texts = telling
    for columns, first in (
        ((*named, *parts), named),
        ((*named, *parts, *others), named),
        ((*named, *texts) if named else (*texts, *parts), named or texts),
        ((*texts, *parts, *others), texts),
    ):
        for count in range(1, _MOST_TOGETHER + 1):
            for some in combinations(columns, count):
                if some[0] in first and _count((*some, *stated)) == rows:
                    return some
    return _more_telling(telling, stated, rows)


def _more_telling(
    telling: _Telling, stated: Sequence[ColumnFacts], rows: int
) -> tuple[ColumnFacts, ...]:
    """An id and more other columns than are tried together, that tell so many rows; or none.

    Each tells the most rows beside those before it; those without which all are told are left out.
    """
    if not telling.named:
        return ()
    some = [telling.named[0]]
    others = [*telling.named[1:], *telling.parts, *telling.others]
    while others and len(some) < _MOST_ADDED and _count((*some, *stated)) < rows:
        best = max(others, key=lambda facts: _count((*some, facts, *stated)))
        some.append(best)
        others.remove(best)
    for facts in some[1:]:
        without = [part for part in some if part is not facts]
        if _count((*without, *stated)) == rows:
            some = without
    return tuple(some) if _count((*some, *stated)) == rows else ()


def _take_as_item(
    finder: Finder, columns: Sequence[ColumnFacts], named: Sequence[ColumnFacts]
) -> None:
    names = ",".join(facts.name for facts in columns)
    is_named = columns[0] in named
    finder.also("item", names, _counted(columns) if is_named else "no id: its texts")
    if len(columns) > 1 and not finder.says("cluster"):
        finder.also("cluster", _cluster_among(columns).name, "of several items")
    if not is_named:
        return
    for facts in columns:
        if facts.kind != "texts":
            finder.free.pop(facts.name, None)


def _cluster_among(columns: Sequence[ColumnFacts]) -> ColumnFacts:
    """Of the columns of an item the one that several items share: a question, or the first.

    An ``answer_index`` beside a question numbers its answers.
    """
    first = columns[0]
    questions = [f for f in columns if words_in(f, _QUESTIONS) and not f.is_unique]
    is_number = bool(words_in(first, _NUMBERING)) and not words_in(first, _QUESTIONS)
    return questions[0] if questions and is_number else first


# --- repeats that nothing numbers -----------------------------------------------------------------


def _take_repeats(finder: Finder, telling: _Telling, stated: Sequence[ColumnFacts]) -> bool:
    """Take rows that are equal but for what the judge said as repeats, or ask; whether it is so."""
    has_item = telling.named or any(facts.kind == "texts" for facts in telling.texts)
    if not has_item or finder.says("replicate"):
        return False
    every = (*telling.named, *telling.parts, *telling.others, *telling.texts, *stated)
    rows = _count(every)
    if _count(finder.columns.values()) == rows:
        return False  # every such row is a copy of another, and may be there twice by mistake
    some = _first_telling(telling, stated, rows)
    differing = [facts for facts in finder.free.values() if _tells_more(facts, every, rows)]
    if files := next((facts for facts in differing if facts.name in _OF_PLACES), None):
        _ask_files(finder, files, [f.name for f in (some or telling.named[:1])])
        return True
    if some and not differing:
        _take_as_item(finder, some, telling.named)
        finder.also("replicate", REPEAT_NUMBER, "rows are equal but for what the judge said")
        return True
    if not telling.named:
        return False
    _ask_repeats(finder, telling.named[0], every)
    return True


def _several_places(finder: Finder) -> ColumnFacts | None:
    """The column of the files, or lists, that rows are of, where they are of several."""
    places = (facts for facts in finder.free.values() if facts.name in _OF_PLACES)
    return next((facts for facts in places if len(set(facts.stated)) > 1), None)


def _ask_files(finder: Finder, files: ColumnFacts, item: Sequence[str]) -> None:
    """Ask whether files of the same items are of a judge each, or hold items of their own."""
    together = ",".join((*item, files.name)) if item else ROW_NUMBER
    readings = (
        PossibleReading(
            (
                Setting("map", ("item", ",".join(item) or ROW_NUMBER)),
                Setting("map", ("judge", files.name)),
            ),
            f"{files.stated[0]} is what one judge said",
        ),
        PossibleReading(
            (Setting("map", ("item", together)),), f"the items of {files.stated[0]} are its own"
        ),
    )
    place = "file" if files.name == FILE_COLUMN else "list"
    asks = f"several {place}s hold rows of the same items: is each {place} a judge's?"
    finder.ask(asks, readings)


def _tells_more(facts: ColumnFacts, every: Sequence[ColumnFacts], rows: int) -> bool:
    """Whether a column that nothing says to be of the judge tells rows which others do not."""
    is_answer = weight_of(facts) or says_answers(facts) or is_of_people(facts)
    of_judge = words_in(facts, _OF_CALL | words_of.JUDGE | words_of.REPLIES | words_of.WRITTEN)
    return not (is_answer or of_judge) and facts not in every and _count((*every, facts)) > rows


def _ask_repeats(finder: Finder, item: ColumnFacts, every: Sequence[ColumnFacts]) -> None:
    """Ask whether rows of one item are repeats of it, by a row that is like one before it."""
    cells = [*zip(*(facts.texts for facts in every), strict=True)]
    again = next((place for place, row in enumerate(cells) if row in cells[:place]), 0)
    number = item.texts[again]
    repeats = (Setting("map", ("item", item.name)), Setting("map", ("replicate", REPEAT_NUMBER)))
    readings = (
        PossibleReading(repeats, f"{item.name} {number} was asked again"),
        PossibleReading((Setting("map", ("item", ROW_NUMBER)),), "the row is an item of its own"),
    )
    finder.ask(f"what are several rows of one {item.name}: repeats, or items?", readings, row=again)


# --- numbers of rows ------------------------------------------------------------------------------


def with_numbers(table: RowTable, chosen: ImportOptions) -> RowTable:
    """A table with the numbers of its rows, or of repeats, in a column, if that is to be read."""
    read = {column for _, column in chosen.map}
    if ROW_NUMBER in read:
        table = _with_column(table, ROW_NUMBER, range(1, len(table) + 1))
    if REPEAT_NUMBER in read:
        table = _with_column(table, REPEAT_NUMBER, _repeat_numbers(table, chosen))
    return table


def _with_column(table: RowTable, name: str, numbers: Iterable[int]) -> RowTable:
    if table.has(name):
        return table
    rows = tuple(
        replace(row, value={**row.value, name: number})
        for row, number in zip(table, numbers, strict=True)
    )
    return replace(table, rows=rows, columns=(*table.columns, name))


def _repeat_numbers(table: RowTable, chosen: ImportOptions) -> Iterable[int]:
    """The number of each row among those with the same cells in the columns of a trial."""
    names = [column for name, column in chosen.map if name in _OF_TRIAL]
    columns = [part for name in names for part in ([name] if table.has(name) else name.split(","))]
    seen: Counter[tuple[str, ...]] = Counter()
    for row in table:
        cells = tuple(_text_of(row, column) for column in columns)
        seen[cells] += 1
        yield seen[cells]


def _text_of(row: Row, column: str) -> str:
    cell: Any = field_of(row.value, column)
    return "" if cell is None or cell is ... else str(cell).strip()
