"""Who judged, where no column says it: a file that is called after the judged model tells nothing.

Files of results are often one for each model that was judged. Its name is then no judge's.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pytest_judgesense.files.foreign_results import slug
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.proposals import OpenQuestion, PossibleReading, Setting
from pytest_judgesense.files.tables import RowTable, own_name
from pytest_judgesense.questions.import_ import role_words as words_of
from pytest_judgesense.questions.import_.column_facts import ColumnFacts
from pytest_judgesense.questions.import_.finder import words_in

# Words of columns that name who wrote what was judged.
_JUDGED: Final = (words_of.MODEL - {"llm"}) | {"assistant"}
# What a judge is called whose name is not known; whoever knows it writes it in its place.
_ANOTHER: Final = "judge-of-{}"
# A shorter name may be part of any.
_SHORTEST: Final = 4


def judge_question(
    table: RowTable, columns: Iterable[ColumnFacts], chosen: ImportOptions
) -> OpenQuestion | None:
    """The question who judged, if the file is called after a model that was judged; else nothing.

    Args:
        table: the rows.
        columns: of the table.
        chosen: all that is known of the file.
    """
    is_known = chosen.judge is not None or dict(chosen.map).get("judge")
    judged = "" if is_known else judged_in_name(chosen.path, columns)
    if not judged:
        return None
    stem = slug(own_name(chosen.path))
    another = _ANOTHER.format(stem)
    readings = (
        PossibleReading(
            (Setting("judge", another),),
            f"{judged} was judged by another, whose name may stand in place of {another}",
        ),
        PossibleReading((Setting("judge", stem),), f"{judged} judged itself"),
    )
    asks = f"the file is called after {judged}, which was judged: who was the judge?"
    return OpenQuestion(asks, table.rows[0], readings)


def judged_in_name(path: Path, columns: Iterable[ColumnFacts]) -> str:
    """A judged model after which a file is called; empty if there is none."""
    if not path.name:
        return ""
    stem = slug(own_name(path)).casefold()
    for facts in columns:
        is_judges = words_in(facts, words_of.JUDGES | {"judged", "eval", "annotator"})
        if is_judges or not words_in(facts, _JUDGED) or facts.kind not in ("words", "names"):
            continue
        for name in facts.different:
            names = {slug(name).casefold(), slug(name.rpartition("/")[2]).casefold()}
            if any(len(part) >= _SHORTEST and part in stem for part in names):
                return name
    return ""
