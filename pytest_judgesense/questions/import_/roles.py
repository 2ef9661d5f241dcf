"""What each column of a table is taken for, by its name, and by what it holds.

A name proposes, the contents decide: a ``label`` beside a column ``human`` is what the judge said,
an ``answer`` that is a text is what was judged, an ``order`` of many numbers is no presentation
order. What two columns could be, or what only words without a meaning say, is a question.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.judgment_fields import FIELDS
from pytest_judgesense.files.proposals import Proposal
from pytest_judgesense.files.tables import RowTable
from pytest_judgesense.questions.import_.answer_words import rename_answers
from pytest_judgesense.questions.import_.answers import find_answers
from pytest_judgesense.questions.import_.column_facts import ColumnFacts, ColumnKind
from pytest_judgesense.questions.import_.finder import Finder, says_answers
from pytest_judgesense.questions.import_.labels import find_labels, take_single_people
from pytest_judgesense.questions.import_.retried_rows import set_failures_aside
from pytest_judgesense.questions.import_.row_identity import find_identity
from pytest_judgesense.questions.import_.texts import find_texts

# Of the fields, those for which the other columns matter as well.
_DECIDED_LATER: Final = ("verdict", "label", "order", "confidence")
_NAMES: Final = frozenset[ColumnKind](("numbers", "words", "names"))
_ANY: Final = _NAMES | frozenset[ColumnKind](("texts", "true or false"))
_WRITTEN: Final = frozenset[ColumnKind](("words", "names", "texts"))
_NUMBERS: Final = frozenset[ColumnKind](("numbers",))
# What a column holds that is taken for a field by its name alone.
_KINDS: Final[Mapping[str, frozenset[ColumnKind]]] = {
    "item": _ANY,
    "cluster": _ANY,
    "failed": _WRITTEN,
    "reply": _WRITTEN | _NUMBERS,
    "prompt_tokens": _NUMBERS,
    "completion_tokens": _NUMBERS,
    "latency_s": _NUMBERS,
}
_HOLE: Final = "{{"


def shown_by_columns(
    table: RowTable,
    columns: dict[str, ColumnFacts],
    given: ImportOptions,
    joined: Collection[str] = (),
) -> Proposal:
    """What the columns of a table show, of what nobody has said.

    Args:
        table: the rows, reshaped.
        columns: of the table.
        given: what the user says, and the shape of the file.
        joined: the columns of files that were joined.
    """
    finder = Finder(table, columns, given, frozenset(joined))
    _take_by_own_names(finder)
    if not given.grades:
        take_single_people(finder)
    find_answers(finder)
    if finder.has_answers and not finder.is_graded:
        find_labels(finder)
    set_failures_aside(finder)
    find_identity(finder)
    find_texts(finder)
    if finder.has_answers:
        rename_answers(finder)
    return Proposal(
        tuple(finder.taken), tuple(finder.questions), tuple(finder.notes), finder.no_judge
    )


def _take_by_own_names(finder: Finder) -> None:
    """Take the columns that are called as the fields of a judgment, and hold such."""
    for name in FIELDS:
        facts = finder.free.get(name)
        if name in _DECIDED_LATER or facts is None or finder.says(name):
            continue
        is_verdict = name == "judge" and (
            facts.kind not in _WRITTEN or facts.are_numbers or says_answers(facts)
        )
        is_text = name == "template" and any(_HOLE in text for text in facts.stated)
        if facts.kind in _KINDS.get(name, _NAMES) and not is_verdict and not is_text:
            finder.take(name, name, "its name")
