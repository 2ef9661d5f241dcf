"""Which judgment a row is: its item, and what tells judgments of one item apart.

What tells rows apart is looked for, not what is called so: an ``id`` that stands in several rows is
an item with several orders, runs, wordings or judges, or with the outputs of several models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from pytest_judgesense.files.judgment_fields import PLACES, of_one_order
from pytest_judgesense.files.proposals import PossibleReading, Setting
from pytest_judgesense.files.synonyms import candidates_among
from pytest_judgesense.questions.import_ import role_words as words_of
from pytest_judgesense.questions.import_.column_facts import ColumnFacts
from pytest_judgesense.questions.import_.finder import (
    Finder,
    few,
    is_of_people,
    says_answers,
    words_in,
)
from pytest_judgesense.trial import ABSTAIN, TIE

ROW_NUMBER: Final = "row number"
"""The column of the number of a row, where nothing else tells the items."""

# So many columns may tell rows together.
_MOST_BESIDE: Final = 3
_MOST_TEXTS: Final = 3
_NUMBERED: Final = {"1", "2"}
_SHORT: Final = ("words", "names", "numbers")
_OF_ITEM: Final = ("order", "replicate", "judge", "template", "temperature", "suite")
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
    "turn category dataset subset task domain language split side candidate answer method".split()
)


def find_identity(finder: Finder) -> None:
    """Take order, judge and temperature, the item, and what else tells its rows apart."""
    _find_order(finder)
    if not finder.says("judge"):
        _find_judge(finder)
    temperatures = [f for f in finder.named(("temperature", "temp")) if f.kind == "numbers"]
    if temperatures and "temperature" not in finder.fields:
        finder.take("temperature", temperatures[0].name, temperatures[0].holds)
    model = None if finder.says("judge") else _model(finder)
    if model is not None and len(model.different) == 1:
        finder.take("judge", model.name, model.different[0])
        model = None
    if "item" not in finder.fields:
        _find_item(finder, model)


# --- the order of two candidates ------------------------------------------------------------------


def is_pairwise(finder: Finder) -> bool:
    """Whether the verdicts name one of two candidates, or a tie."""
    verdict, label = finder.column_of("verdict"), finder.column_of("label")
    said = _candidates(finder, finder.labels if verdict is None else verdict.different)
    if not said:
        return False
    # A judge may name one of the two throughout: labels have the other.
    every = said | _candidates(finder, () if label is None else label.different)
    words = {*(candidates_among(said) or candidates_among(every) or ())}
    if words == _NUMBERED and verdict is not None and not {*verdict.own_words} & words_of.OF_PAIRS:
        return False
    return said <= {"a", "b"} or said <= words


def _candidates(finder: Finder, words: Iterable[str]) -> set[str]:
    """What words mean, but ties and what names nobody."""
    meant = (finder.renamed.get(word.casefold(), word).casefold() for word in words)
    said = {words_of.WORDS_OF_PAIRS.get(word, word).casefold() for word in meant}
    return said - {TIE, ABSTAIN, *words_of.NO_ANSWER, "", "neither"}


def _find_order(finder: Finder) -> None:
    is_said = "order" in finder.fields or PLACES[0] in finder.fields
    if is_said or any(map(of_one_order, finder.fields)):
        return
    for facts in finder.named(words_of.ORDER):
        meanings = _meanings(finder, facts)
        if not meanings:
            continue
        if not is_pairwise(finder):
            if facts.name == "order":
                finder.notes.append("column order is not used: verdicts are of no two candidates")
        elif all(meanings.values()):
            _take_order(finder, facts, meanings)
            return
        elif len(meanings) == 2 and not words_in(facts, words_of.IDS):
            _ask_order(finder, facts)
            return
        elif facts.name == "order":
            finder.notes.append(f"column order holds {facts.holds}, and not ab and ba: not used")


def _meanings(finder: Finder, facts: ColumnFacts) -> dict[str, str]:
    """By a word of a column the order that it means, or nothing."""
    if facts.kind in ("nothing", "lists", "objects", "texts"):
        return {}
    is_swap = bool(words_in(facts, words_of.SWAPPED))
    swaps = {"true": "ba", "false": "ab", "1": "ba", "0": "ab"} if is_swap else {}
    usual = {**words_of.ORDERS, **swaps, **finder.renamed}
    return {word: usual.get(word.casefold(), "") for word in facts.different}


def _take_order(finder: Finder, facts: ColumnFacts, meanings: Mapping[str, str]) -> None:
    counts = Counter(meanings.get(word, "") for word in facts.stated)
    why = ", ".join(f"{order} in {counts[order]}" for order in ("ab", "ba") if counts[order])
    finder.take("order", facts.name, f"{why} rows")
    for word, meaning in meanings.items():
        if word != meaning and word.casefold() not in finder.renamed:
            finder.show("value", (word, meaning), f"{facts.name} {word} is order {meaning}")


def _ask_order(finder: Finder, facts: ColumnFacts) -> None:
    first, second = facts.different
    mapped = Setting("map", ("order", facts.name))
    readings = [
        PossibleReading(
            (mapped, Setting("value", (own, "ab")), Setting("value", (exchanged, "ba"))),
            f"{facts.name} {own} shows the item's first candidate first",
        )
        for own, exchanged in ((first, second), (second, first))
    ]
    finder.ask(f"which order of the candidates is {facts.name} {first}?", readings)


# --- the judge, and the model whose output was judged ---------------------------------------------


def _find_judge(finder: Finder) -> None:
    judges = [
        facts
        for facts in finder.named(words_of.JUDGES)
        if facts.kind in ("words", "names") and not says_answers(facts) and not facts.is_unique
    ]
    if judges:
        finder.take("judge", judges[0].name, few(judges[0].different))


def _model(finder: Finder) -> ColumnFacts | None:
    """The column of a model that may be the judge, or who was judged."""
    models = [
        facts
        for facts in finder.named(("model",))
        if {*facts.words} <= {"model", "name", "id"} and facts.kind in ("words", "names")
    ]
    return models[0] if len(models) == 1 and not _names_authors(finder, models[0]) else None


def _names_authors(finder: Finder, model: ColumnFacts) -> bool:
    """Whether texts that were judged change with the model."""
    models_of: dict[str, set[str | None]] = {}
    for facts in finder.named(words_of.WRITTEN | {"answer"}):
        if facts.kind == "texts" and not words_in(facts, words_of.JUDGE | words_of.REPLIES):
            for text, name in zip(facts.texts, model.texts, strict=True):
                models_of.setdefault(text or "", set()).add(name)
    return bool(models_of) and all(len(names) == 1 for names in models_of.values())


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


# --- the item -------------------------------------------------------------------------------------


class _Beside(NamedTuple):
    """A column that tells rows of an item apart, and the field that it is."""

    field: str
    facts: ColumnFacts


def _find_item(finder: Finder, model: ColumnFacts | None) -> None:
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
    rows = [*zip(*(facts.texts for facts in columns), strict=True)]
    return len(set(rows)) == len(rows)


def _take_beside(
    finder: Finder,
    named: Sequence[ColumnFacts],
    stated: Sequence[ColumnFacts],
    model: ColumnFacts | None,
) -> bool:
    """Take an item and the columns beside it that tell rows apart; whether there are such."""
    beside = [
        _Beside(name, facts)
        for name, words in _BESIDE
        if not finder.says(name)
        for facts in finder.named(words)
        if _may_repeat(facts) and facts not in named[:1]
    ]
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


def _take_together(
    finder: Finder, named: Sequence[ColumnFacts], stated: Sequence[ColumnFacts]
) -> None:
    """Take several columns as the item; without any that tell, the best name or the row's number.

    Texts tell items that have no name: they are what was judged.
    """
    parts = [
        facts
        for facts in finder.free.values()
        if facts.kind in _SHORT and words_in(facts, _PARTS_OF_ITEM) and facts not in named
    ]
    texts = [
        facts
        for facts in finder.free.values()
        if facts.kind in ("texts", "names")
        and not words_in(facts, words_of.REPLIES | words_of.JUDGE)
        and facts not in (*named, *parts)
    ]
    some = _first_telling((*named, *parts), stated, named) or _first_telling(
        (*named, *texts), stated, named or texts
    )
    if some:
        _take_as_item(finder, some, named)
    elif named:
        finder.take("item", named[0].name, _counted(named[:1]))
    elif not finder.table.has(ROW_NUMBER):
        finder.also("item", ROW_NUMBER, "no column tells the items")


def _first_telling(
    columns: Sequence[ColumnFacts], stated: Sequence[ColumnFacts], first: Collection[ColumnFacts]
) -> tuple[ColumnFacts, ...]:
    """The fewest columns, beginning with one of ``first``, that tell all rows; or none."""
    for count in range(1, _MOST_TEXTS + 1):
        for some in combinations(columns, count):
            if some[0] in first and _tells((*some, *stated)):
                return some
    return ()


def _take_as_item(
    finder: Finder, columns: Sequence[ColumnFacts], named: Sequence[ColumnFacts]
) -> None:
    names = ",".join(facts.name for facts in columns)
    if columns[0] not in named:
        finder.also("item", names, "no id: its texts")
        return
    finder.also("item", names, _counted(columns))
    if not finder.says("cluster"):
        finder.also("cluster", columns[0].name, "of several items")
    for facts in columns:
        if facts.kind != "texts":
            finder.free.pop(facts.name, None)
