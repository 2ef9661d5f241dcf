"""Rows that stand in a cell, or in columns that are called alike: what makes judgments of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.proposals import (
    OpenQuestion,
    PossibleReading,
    Proposal,
    Setting,
    ShownSetting,
)
from pytest_judgesense.files.rows import name_words
from pytest_judgesense.files.tables import RowTable
from pytest_judgesense.questions.import_ import role_words as words_of
from pytest_judgesense.questions.import_.column_facts import ColumnFacts, columns_of
from pytest_judgesense.questions.import_.finder import is_of_people, says_answers, weight_of
from pytest_judgesense.trial import grouped

_NUMBER: Final = re.compile(r"\d+")
_ORDERS: Final = ("ab", "ba")
_REPLICATE: Final = "replicate"
# Words of columns that are called alike, a run each.
_RUNS: Final = words_of.REPLICATE | words_of.JUDGE | frozenset(("verdict", "judgment", "winner"))


def structure_of(table: RowTable, given: ImportOptions) -> Proposal:
    """The rows that are in lists, in objects of lists, or in columns that are called alike."""
    if given.lists or given.grades:
        return Proposal()
    columns = columns_of(table)
    used = {column for _, column in given.map}
    for name in table.columns:
        if name in used:
            continue
        cells = [row.value.get(name) for row in table]
        for proposal in (_by_order(name, cells), _lists(name, cells, table)):
            if proposal is not None:
                return proposal
    free = [facts for name, facts in columns.items() if name not in used]
    return _by_judge(free, table) or _alike(free)


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


def _lists(name: str, cells: Sequence[Any], table: RowTable) -> Proposal | None:
    """A list of verdicts, or of objects with a verdict each, in every cell."""
    lists = [cell for cell in cells if isinstance(cell, list)]
    if not lists or len(lists) < len(cells) or not all(lists):
        return None
    members = [member for cell in lists for member in cell]
    facts = _facts_of(name, members)
    if not facts or is_of_people(ColumnFacts(name, ())):
        return None
    is_pair = {len(cell) for cell in lists} == {2}
    words = {*ColumnFacts(name, ()).words}
    verdict = [Setting("map", ("verdict", name))] if facts[0].name == name else []
    runs = (Setting("lists", (name, _REPLICATE)), *verdict)
    if not is_pair or words & _RUNS - words_of.JUDGE:
        why = f"each of {len(lists)} lists holds what was said in several runs"
        return Proposal(tuple(ShownSetting(setting, why) for setting in runs))
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


# --- columns that are called alike ----------------------------------------------------------------


def _alike(columns: Sequence[ColumnFacts]) -> Proposal:
    """Columns of verdicts that differ in a number alone, a run each."""
    for pattern, numbered in grouped(columns, _pattern).items():
        words = {word for facts in numbered for word in facts.words}
        if len(numbered) < 2 or not pattern or not words & _RUNS:
            continue
        if not all(facts.may_answer and not is_of_people(facts) for facts in numbered):
            continue
        numbers = {_NUMBER.findall(facts.name)[-1] for facts in numbered}
        why = f"{len(numbered)} columns are called alike"
        shown = [ShownSetting(Setting("lists", (pattern, "verdict")), why)]
        for other, texts in grouped(columns, _pattern).items():
            own = {_NUMBER.findall(facts.name)[-1] for facts in texts} if other else set()
            if other and other != pattern and own == numbers:
                shown.append(ShownSetting(Setting("lists", (other, "")), why))
        return Proposal(tuple(shown))
    return Proposal()


def _by_judge(columns: Sequence[ColumnFacts], table: RowTable) -> Proposal | None:
    """Columns of verdicts that differ in the name of a model alone, a judge each."""
    endings: dict[str, list[str]] = {}
    for facts in columns:
        model, separator, rest = facts.name.rpartition("_")
        of_model = {*name_words(model)} & words_of.MODELS
        if separator and of_model and facts.may_answer and weight_of(facts):
            endings.setdefault(rest, []).append(facts.name)
    alike = next(((rest, names) for rest, names in endings.items() if len(names) > 1), None)
    if alike is None or "judge" in table.columns:
        return None
    rest, names = alike
    pattern = (f"{{judge}}_{rest}", "verdict")
    if [c for c in table.columns if c.endswith(f"_{rest}")] != names:
        return None
    return Proposal((ShownSetting(Setting("lists", pattern), f"{len(names)} judges"),))


def _pattern(facts: ColumnFacts) -> str:
    """The name of a column with its last number replaced by a place; empty without one."""
    matches: Iterator[re.Match[str]] = _NUMBER.finditer(facts.name)
    last = [*matches][-1:]
    if not last or "." in facts.name:
        return ""
    match = last[0]
    return f"{facts.name[: match.start()]}{{{_REPLICATE}}}{facts.name[match.end() :]}"
