"""Which judgment a row is: its item, and what tells judgments of one item apart.

What tells rows apart is looked for, not what is called so: an ``id`` that stands in several rows is
an item with several orders, runs, wordings or judges, or with the outputs of several models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from pytest_judgesense.files.judgment_fields import PLACES, of_one_order
from pytest_judgesense.files.proposals import PossibleReading, Setting
from pytest_judgesense.files.rows import name_words
from pytest_judgesense.files.synonyms import candidate_pairs, candidates_among
from pytest_judgesense.files.tables import FILE_COLUMN
from pytest_judgesense.questions.import_ import role_words as words_of
from pytest_judgesense.questions.import_.column_facts import ColumnFacts
from pytest_judgesense.questions.import_.finder import (
    Finder,
    few,
    names_models,
    says_answers,
    words_in,
)
from pytest_judgesense.questions.import_.item_columns import (
    REPEAT_NUMBER,
    find_beside_item,
    find_item,
)
from pytest_judgesense.questions.import_.judge_of_file import judged_in_name
from pytest_judgesense.trial import ABSTAIN, TIE

# So many files may be of a judge each.
_FEWEST_JUDGES: Final = 2
_NUMBERED: Final = {"1", "2"}
# Words of columns of what a judge wrote, and not of who it was.
_WRITTEN: Final = words_of.REPLIES | words_of.WRITTEN | words_of.ANSWERS.keys()


def find_identity(finder: Finder) -> None:
    """Take order, judge and temperature, the item, and what else tells its rows apart."""
    _find_named_candidates(finder)
    _find_order(finder)
    if not finder.says("judge"):
        _find_judge(finder)
    temperatures = [f for f in finder.named(("temperature", "temp")) if f.kind == "numbers"]
    if temperatures and "temperature" not in finder.fields:
        finder.take("temperature", temperatures[0].name, temperatures[0].holds)
    model = None if finder.says("judge") else _model(finder)
    if model is not None and judged_in_name(finder.given.path, [model]):
        model = None  # it was judged, and is asked about
    if model is not None and len(model.different) == 1:
        finder.take("judge", model.name, model.different[0])
        model = None
    if "item" in finder.fields:
        find_beside_item(finder, model)
    else:
        find_item(finder, model)
    _note_unknown_order(finder)


def _note_unknown_order(finder: Finder) -> None:
    """Tell that repeats of a comparison may be its two orders, where nothing names these."""
    is_numbered = finder.fields.get("replicate") == REPEAT_NUMBER
    if is_numbered and not _tells_order(finder) and is_pairwise(finder):
        finder.notes.append(
            "no column says which candidate was shown first: rows taken for repeats may be the two "
            "orders"
        )


# --- the order of two candidates ------------------------------------------------------------------


def has_named_candidates(finder: Finder) -> bool:
    """Whether columns hold the names of the candidates that were shown first and second."""
    return all(finder.fields.get(place) for place in PLACES)


def _tells_order(finder: Finder) -> bool:
    return "order" in finder.fields or has_named_candidates(finder)


def is_pairwise(finder: Finder) -> bool:
    """Whether the verdicts name one of two candidates, or a tie."""
    if has_named_candidates(finder):
        return True
    verdict, label = finder.column_of("verdict"), finder.column_of("label")
    said = _candidates(finder, finder.labels if verdict is None else verdict.different)
    if not said:
        return False
    # A judge may name one of the two throughout: labels have the other.
    every = said | _candidates(finder, () if label is None else label.different)
    words = {*(candidates_among(said) or candidates_among(every) or ())}
    is_of_pairs = verdict is None or {*verdict.own_words} & words_of.OF_PAIRS
    if words == _NUMBERED and not is_of_pairs and not _has_ties(verdict):
        return False
    return said <= {"a", "b"} or said <= words


def _has_ties(verdict: ColumnFacts | None) -> bool:
    said = () if verdict is None else verdict.different
    return any(words_of.WORDS_OF_PAIRS.get(w.casefold(), w.casefold()) == TIE for w in said)


def _candidates(finder: Finder, words: Iterable[str]) -> set[str]:
    """What words mean, but ties and what names nobody."""
    stated = (word for word in words if not words_of.states_nothing(word))
    meant = (finder.renamed.get(word.casefold(), word).casefold() for word in stated)
    said = {words_of.WORDS_OF_PAIRS.get(word, word).casefold() for word in meant}
    return said - {TIE, ABSTAIN, "", "neither"}


def _find_named_candidates(finder: Finder) -> None:
    """Take two columns of names of which the verdict of each row names one, or neither."""
    verdict = finder.column_of("verdict")
    is_said = {"order", *PLACES} & finder.fields.keys()
    if verdict is None or verdict.kind not in ("words", "names") or is_said:
        return
    names = [f for f in finder.free.values() if f.kind in ("words", "names") and not f.missing]
    for pair in candidate_pairs(facts.name for facts in names):
        first, second = (finder.columns[name] for name in pair)
        rows = [*zip(verdict.texts, first.texts, second.texts, strict=True)]
        if all(a != b and _names_one(said, a, b) for said, a, b in rows):
            for field, facts in zip(PLACES, (first, second), strict=True):
                finder.take(field, facts.name, "the verdict names one of both")
            finder.show("names", ("verdict", "slot"), "the candidate is named, and so its slot")
            return


def _names_one(said: str | None, first: str | None, second: str | None) -> bool:
    """Whether a verdict names one of two candidates, or says that neither is better."""
    word = (said or TIE).casefold()
    meant = words_of.WORDS_OF_PAIRS.get(word, word)
    return word in ((first or "").casefold(), (second or "").casefold()) or meant == TIE


def _find_order(finder: Finder) -> None:
    if _tells_order(finder) or any(map(of_one_order, finder.fields)):
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
        for facts in finder.named(words_of.JUDGES | {"annotator"})
        if ("annotator" not in facts.words or names_models(facts))
        and facts.kind in ("words", "names")
        and not says_answers(facts)
        and not facts.is_unique
        and not {*facts.own_words} & _WRITTEN
    ]
    if judges:
        finder.take("judge", judges[0].name, few(judges[0].different))
        return
    files = finder.free.get(FILE_COLUMN)
    if files is None or len(files.different) < _FEWEST_JUDGES:
        return
    if all({*name_words(name)} & words_of.JUDGES for name in files.different):
        finder.take("judge", files.name, "each file is called after its judge")


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
