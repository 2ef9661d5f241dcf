"""LLMBar's result files to judgments.

A file ``SUBSET/.../JUDGE/VARIANT/result.json`` is a list of records. Each has ``label`` (the better
output, 1 or 2) and ``results``, whose last stage holds the games ``swap = False`` and
``swap = True``, each with the ``completion`` and the ``winner`` by content: ``"1"``, ``"2"`` or
null. A subset becomes a suite, a variant of the prompt a template, a record an item, a game a
presentation order; the judge is the judge.

The recorded winners come from the benchmark's own reading of the completions; ``reparse`` reads
them anew, by the rule of `replies`.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import LogError
from pytest_judgesense.importers import Imported, malformed, read_json
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import (
    TIE,
    Design,
    Judgment,
    Order,
    Outcome,
    Trial,
    Unparsed,
    Verdict,
    content_of_slot,
    slot_of_content,
)

SPACE: Final = DecisionSpace(
    ("A", "B"), pairwise=True, names={"A": ("Output (a)",), "B": ("Output (b)",)}
)
DESIGN: Final = Design(kind="paraphrase", labels=("A", "B"), pairwise=True, pairs="all")

_GAMES: Final[tuple[tuple[str, Order], ...]] = (("swap = False", "ab"), ("swap = True", "ba"))
_NO_WINNER: Final = "no winner recorded"


def imported(options: Namespace) -> Imported:
    """What ``judgesense import llmbar`` reads."""
    judgments = read_llmbar(options.path, reparse=options.reparse)
    return Imported(tuple((judgment, DESIGN) for judgment in judgments))


def read_llmbar(folder: Path, *, reparse: bool = False) -> Iterator[Judgment]:
    """The judgments of every ``result.json`` at or below ``folder``, in the order of their paths.

    Args:
        folder: a folder of the benchmark's results, at any level, or one file.
        reparse: read the completions anew instead of keeping the recorded winners.

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
        yield from _file(file, folder, reparse)


def _file(file: Path, folder: Path, reparse: bool) -> Iterator[Judgment]:
    suite, judge, variant = _place(file, folder)
    for index, record in enumerate(read_json(file, list, "a list of records"), start=1):
        where, item = f"{file}, record {index}", f"{index:04d}"
        label = _content(_field(record, "label", where), f"{where}: label")
        stages = _field(record, "results", where)
        if not isinstance(stages, list) or not stages:
            raise malformed(f"{where}: results", stages, "a list with at least one stage")
        for key, order in _GAMES:
            game = _field(stages[-1], key, where)
            name = f"{suite}/{item}/{variant}/{order}/r1"
            trial = Trial(name, suite, item, item, variant, order, label=label)
            yield placed(_judgment(game, f"{where}, {key}", trial, judge, reparse=reparse))


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
    if text in ("1", "2"):
        return text
    if text in ("tie", "equal"):
        return TIE
    raise malformed(where, value, "1, 2 or tie")


def _judgment(game: Any, where: str, trial: Trial, judge: str, *, reparse: bool) -> Judgment:
    completion = _field(game, "completion", where)
    # Some judges' clients return the text with what came beside it: the text stands first.
    text = completion[0] if isinstance(completion, list) and completion else completion
    if not isinstance(text, str):
        raise malformed(f"{where}: completion", completion, "a text, or a list that begins with it")
    if reparse:
        return Judgment(trial, judge, parse_reply(text, SPACE), reply=text)
    winner = _field(game, "winner", where)
    outcome: Outcome = Unparsed(_NO_WINNER)
    if winner is not None:
        outcome = Verdict(slot_of_content(_content(winner, f"{where}: winner"), trial.order))
    return Judgment(trial, judge, outcome, reply=text)


def placed(one: Judgment) -> Judgment:
    """``one`` of two candidates, with the content that its verdict points at."""
    chosen = None if one.verdict is None else content_of_slot(one.verdict, one.trial.order)
    return replace(one, chosen=chosen)
