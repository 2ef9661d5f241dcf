"""Rows that stand in a cell, or in columns that are called alike: what makes judgments of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.judgment_fields import ROW_NUMBER
from pytest_judgesense.files.proposals import (
    OpenQuestion,
    PossibleReading,
    Proposal,
    Setting,
    ShownSetting,
)
from pytest_judgesense.files.rows import name_words
from pytest_judgesense.files.synonyms import candidates_among
from pytest_judgesense.files.tables import RowTable
from pytest_judgesense.questions.import_ import role_words as words_of
from pytest_judgesense.questions.import_.column_facts import ColumnFacts
from pytest_judgesense.questions.import_.finder import (
    is_of_people,
    says_answers,
    weight_of,
    words_in,
)
from pytest_judgesense.questions.import_.item_columns import REPEAT_NUMBER
from pytest_judgesense.questions.import_.wide_columns import of_wide_columns
from pytest_judgesense.trial import TIE

# Ids with one of these words are tried first.
_OF_ITEMS: Final = frozenset(("item", "question", "task", "example", "sample"))
_ORDERS: Final = ("ab", "ba")
_REPLICATE: Final = "replicate"
_PART: Final = "part"
_PLACE: Final = "place"
# So many columns, most of them called by so many words, are items.
_MANY_COLUMNS: Final = 20
_WORDS_OF_TEXT: Final = 4
# Of all cells, those of a possible verdict.
_LEAST_SHARE: Final = 0.01
# Words of columns whose lists hold what was said in several runs.
_LISTED_RUNS: Final = frozenset(
    "run runs vote votes sample samples replicate replicates repeat repeats judgment judgments "
    "judgement judgements verdict verdicts trial trials attempt attempts reply replies".split()
)
# Fields of objects in lists that tell which part of an item each is.
_PLACES: Final = frozenset(("rank", "position", "index", "idx", "id"))


def structure_of(
    table: RowTable, columns: Mapping[str, ColumnFacts], given: ImportOptions
) -> Proposal:
    """The rows that are in lists, in objects of lists, or in columns that are called alike.

    Args:
        table: the rows.
        columns: of the table.
        given: what the user says, and the shape of the file.
    """
    verdict = dict(given.map).get("verdict", "")
    if given.lists or given.grades or (verdict and table.has(verdict)):
        return Proposal()
    used = {column for _, column in given.map}
    for name in table.columns:
        if name in used:
            continue
        cells = [row.value.get(name) for row in table]
        for proposal in (_by_order(name, cells), _lists(name, cells, table, columns)):
            if proposal is not None:
                return proposal
    free = [facts for name, facts in columns.items() if name not in used]
    if not given.map and _are_items(free):
        return _items_of_columns(free, table)
    return of_wide_columns(free, table)


def _by_order(name: str, cells: Sequence[Any]) -> Proposal | None:
    """An object whose keys are the two orders, with a verdict or a list of runs below each."""
    objects = [cell for cell in cells if isinstance(cell, Mapping)]
    keys = dict.fromkeys(str(key) for cell in objects for key in cell)
    meant = {key: _order_of(key, keys) for key in keys}
    if not objects or len(objects) < len(cells) or sorted(map(str, meant.values())) != [*_ORDERS]:
        return None
    inner = [value for cell in objects for value in cell.values()]
    are_lists = all(isinstance(value, list) for value in inner)
    if not are_lists and any(isinstance(value, list) for value in inner):
        return None
    places = f"order,{_REPLICATE}" if are_lists else "order"
    shown = [ShownSetting(Setting("lists", (name, places)), f"keys {' and '.join(keys)}")]
    for key, order in meant.items():
        if key != order:
            shown.append(ShownSetting(Setting("value", (key, str(order))), "an order"))
    flat = [part for value in inner for part in (value if are_lists else [value])]
    if not any(isinstance(part, Mapping) for part in flat):
        shown.append(ShownSetting(Setting("map", ("verdict", name)), "what stands in the lists"))
    return Proposal(tuple(shown))


def _order_of(key: str, keys: Collection[str]) -> str | None:
    order = words_of.ORDERS.get(key.casefold())
    if order is None and key.casefold() in ("first", "1", "orig") and len(keys) == 2:
        return "ab"
    return order


def _lists(
    name: str, cells: Sequence[Any], table: RowTable, columns: Mapping[str, ColumnFacts]
) -> Proposal | None:
    """A list of verdicts, or of objects with a verdict each, in every cell."""
    lists = [cell for cell in cells if isinstance(cell, list)]
    if not lists or len(lists) < len(cells) or not all(lists):
        return None
    members = [member for cell in lists for member in cell]
    facts = _facts_of(name, members)
    if is_of_people(ColumnFacts(name, ())):
        return None
    if not facts:
        return _listed_replies(name, table, members)
    verdict = [Setting("map", ("verdict", name))] if facts[0].name == name else []
    runs = (Setting("lists", (name, _REPLICATE)), *verdict)
    if judge := _judge_field(members):
        why = f"each of {len(lists)} lists holds what several judges said, told by {judge}"
        return Proposal((ShownSetting(Setting("lists", (name, _PLACE)), why),))
    if {*ColumnFacts(name, ()).words} & _LISTED_RUNS:
        why = f"each of {len(lists)} lists holds what was said in several runs"
        return Proposal(tuple(ShownSetting(setting, why) for setting in runs))
    parts = (Setting("lists", (name, _PART)), *verdict)
    if place := _place_field(members):
        why = f"each of {len(lists)} lists holds parts of an item, told by {place}"
        return Proposal(tuple(ShownSetting(setting, why) for setting in parts))
    if {len(cell) for cell in lists} == {2} and any(map(_is_of_pair, facts)):
        return _orders_or_runs(name, table, verdict, runs)
    return _parts_or_runs(name, table, (*parts, *_items_of_parts(columns)), runs)


def _listed_replies(name: str, table: RowTable, members: Sequence[Any]) -> Proposal | None:
    """Lists of texts of which most are usual words of verdicts: a judge's replies, one a run."""
    if not all(isinstance(member, str) for member in members):
        return None
    replies = ColumnFacts(name, tuple(member for member in members if member.strip()))
    labels = _usual_replies([replies])
    said = sum(text.casefold() in labels for text in replies.stated)
    if len(labels) < 2 or 2 * said < len(replies.stated):
        return None
    reply = (Setting("map", ("reply", name)), Setting("labels", labels))
    runs, parts = ((Setting("lists", (name, place)), *reply) for place in (_REPLICATE, _PART))
    if {*replies.words} & _LISTED_RUNS:
        why = f"each of {len(table)} lists holds what was said in several runs"
        return Proposal(tuple(ShownSetting(setting, why) for setting in runs))
    return _parts_or_runs(name, table, parts, runs)


def _judge_field(members: Sequence[Any]) -> str:
    """The field of objects that names several judges; empty without one."""
    if not all(isinstance(member, Mapping) for member in members):
        return ""
    fields = dict.fromkeys(str(field) for member in members for field in member)
    for field in fields:
        facts = ColumnFacts(field, tuple(member.get(field) for member in members))
        is_name = words_in(facts, words_of.JUDGES) and facts.kind in ("words", "names")
        if is_name and len(facts.different) > 1 and not says_answers(facts):
            return field
    return ""


def _place_field(members: Sequence[Any]) -> str:
    """The field of objects that tells which part of an item each is; empty without one."""
    if not all(isinstance(member, Mapping) for member in members):
        return ""
    fields = dict.fromkeys(str(field) for member in members for field in member)
    named = (f for f in fields if f.rpartition("_")[2].casefold() in _PLACES)
    return next((f for f in named if not {*name_words(f)} & words_of.JUDGE), "")


def _is_of_pair(facts: ColumnFacts) -> bool:
    """Whether a column names one of two candidates."""
    said = {words_of.WORDS_OF_PAIRS.get(w.casefold(), w).casefold() for w in facts.different}
    return facts.kind != "numbers" and (said <= {"a", "b", TIE} or bool(candidates_among(said)))


def _orders_or_runs(
    name: str, table: RowTable, verdict: Sequence[Setting], runs: tuple[Setting, ...]
) -> Proposal:
    orders = (
        Setting("lists", (name, "order")),
        *verdict,
        Setting("value", ("1", "ab")),
        Setting("value", ("2", "ba")),
    )
    asks = f"what are the two members of {name}: the two orders of the candidates, or two runs?"
    readings = (
        PossibleReading(orders, "the candidates changed places in the second"),
        PossibleReading(runs, "the same was asked twice"),
    )
    return Proposal(questions=(OpenQuestion(asks, table.rows[0], readings),))


def _parts_or_runs(
    name: str, table: RowTable, parts: tuple[Setting, ...], runs: tuple[Setting, ...]
) -> Proposal:
    asks = f"what are the members of {name}: parts of the item, or several runs of it?"
    readings = (
        PossibleReading(parts, "each is about a part, such as one of several answers"),
        PossibleReading(runs, "the same was asked again"),
    )
    return Proposal(questions=(OpenQuestion(asks, table.rows[0], readings),))


def _items_of_parts(columns: Mapping[str, ColumnFacts]) -> list[Setting]:
    """What makes an item of each part: the column of an id that tells the rows, and its place."""
    ids = [
        facts.name
        for facts in columns.values()
        if facts.is_unique and words_in(facts, words_of.IDS) and facts.kind in ("numbers", "names")
    ]
    ids.sort(key=lambda name: not {*name_words(name)} & _OF_ITEMS)
    if not ids:
        return []
    item = Setting("map", ("item", f"{ids[0]},{_PART}"))
    return [item, Setting("map", ("cluster", ids[0]))]


def _facts_of(name: str, members: Sequence[Any]) -> list[ColumnFacts]:
    """The columns of answers that the members of lists hold."""
    if all(isinstance(member, Mapping) for member in members):
        fields = dict.fromkeys(str(field) for member in members for field in member)
        inner = [ColumnFacts(f, tuple(member.get(f) for member in members)) for f in fields]
        return [facts for facts in inner if facts.may_answer and weight_of(facts) > 1]
    if any(isinstance(member, Mapping | list) for member in members):
        return []
    facts = ColumnFacts(name, tuple(members))
    speaks = weight_of(facts) or says_answers(facts)
    return [facts] if facts.may_answer and speaks else []


# --- columns that are items ---------------------------------------------------------------------


def _are_items(columns: Sequence[ColumnFacts]) -> bool:
    """Whether columns are called by the texts of items, and all hold texts that somebody wrote."""
    texts = [facts for facts in columns if len(facts.words) >= _WORDS_OF_TEXT]
    are_many = len(columns) >= _MANY_COLUMNS and 2 * len(texts) > len(columns)
    return are_many and all(isinstance(c, str) for facts in columns for c in facts.cells if c)


def _items_of_columns(columns: Sequence[ColumnFacts], table: RowTable) -> Proposal:
    pattern = Setting("lists", ("{item}", "reply"))
    reply = Setting("map", ("reply", "reply"))
    labels = _usual_replies(columns)
    said = (Setting("labels", labels),) if len(labels) > 1 else ()
    runs = (Setting("map", ("item", "item")), Setting("map", (_REPLICATE, REPEAT_NUMBER)))
    alone = (Setting("map", ("item", ROW_NUMBER)), Setting("map", ("cluster", "item")))
    readings = (
        PossibleReading((pattern, reply, *runs, *said), "a row asks of every item again"),
        PossibleReading((pattern, reply, *alone, *said), "each cell is about an item of its own"),
    )
    asks = f"the {len(table.columns)} columns are called by texts: are they items, and rows runs?"
    return Proposal(questions=(OpenQuestion(asks, table.rows[0], readings),))


def _usual_replies(columns: Sequence[ColumnFacts]) -> tuple[str, ...]:
    """The usual words of verdicts that stand alone in many cells, the commonest first."""
    replies = Counter(text.casefold() for facts in columns for text in facts.stated)
    least = _LEAST_SHARE * replies.total()
    usual = words_of.VOCABULARY - {"1", "2"}
    return tuple(word for word, count in replies.most_common() if word in usual and count >= least)
