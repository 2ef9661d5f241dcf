"""Tables of replies at several temperatures, in the terms of the study: read, and written.

The study (arXiv 2603.28304) publishes no log. A row here is a reply of a judge to a question: the
model, the judge type, the prompt, the temperature and the number of the repeat, ``judge_result``
(``A``, ``B``, or ``C`` for a tie; of graded answers the one with the higher grade), the label and
who gave it, and the reply. Columns of other tables that are called otherwise are taken by the names
below, with a notice of each.

- A result names the answer as the judge saw it, a label that of the question: they differ where
  ``order`` is ``ba``. Without such a column answers stand as the question has them.
- No result is a reply without a verdict; a row with an ``error`` has no reply.
- Repeats may count from 0; here they count from 1.
- Whether a reply keeps its form is not known of other tables: the errors of form are N/A.

What the form has no place for stands beside it where this package writes it (`files.own_fields`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import LogError, listed
from pytest_judgesense.files.first_sight import FirstSight
from pytest_judgesense.files.foreign_results import Exported, Imported, left_out, once, slug
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.own_fields import (
    DESIGN,
    KEY,
    design_of,
    own_fields,
    own_of,
    plain_design,
    with_own_fields,
)
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.tables import own_name, read_rows
from pytest_judgesense.instruments.temperature.stimuli import TEMPERATURE as KIND
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.registry import Importer
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import (
    TEMPERATURE,
    TIE,
    Design,
    Failed,
    Judgment,
    JudgmentOutcome,
    Order,
    Trial,
    Unparsed,
    Verdict,
    content_of_slot,
)

# By the field its columns: as it is written, then as others may call it.
_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "item": ("question_id", "item", "id", "question"),
    "judge": ("judge_model", "judge", "model"),
    "judge_type": ("judge_type",),
    "prompt_style": ("prompt", "prompt_style", "style"),
    "temperature": ("temperature", "temp"),
    "replicate": ("repeat", "replicate", "run", "run_number"),
    "verdict": ("judge_result", "verdict", "winner", "decision"),
    "reply": ("reply", "response", "output"),
    "label": ("label", "gold", "gold_label", "human_label"),
    "gold": ("label_by", "gold_source", "label_source"),
    "dataset": ("data_set", "dataset"),
    "order": ("order",),
    "failed": ("error", "failed"),
}
_REASON: Final = "judge_reason"
_NEEDED: Final = ("item", "temperature", "verdict")
_CONDITIONS: Final = ("judge_type", "prompt_style", "gold", "dataset")
_SLOTS: Final = {"a": "A", "b": "B", "c": TIE, "tie": TIE}
_CONTENTS: Final = {"a": "1", "b": "2", "c": TIE, "tie": TIE, "1": "1", "2": "2"}
_NO_RESULT: Final = frozenset({"", "none", "null", "nan", "n/a", "invalid", "error", "unparsed"})
_LETTERS: Final = {"A": "A", "B": "B", TIE: "C"}
_LABELS: Final = {"1": "A", "2": "B", TIE: "C"}
_ORDERS: Final[Mapping[str, Order]] = {"ab": "ab", "ba": "ba"}
_DESIGN: Final = Design(KIND.name, ("A", "B"), pairwise=True, pairs=(), others=True)
_FILE: Final = "replies.jsonl"


def imported_replies(options: ImportOptions) -> Imported:
    """The judgments that ``judgesense import`` reads of such tables."""
    return read_replies((options.path, *options.more))


def is_table_of_replies(sight: FirstSight) -> bool:
    """Whether a file is a table of replies at several temperatures."""
    columns = _columns_of(sight.rows.columns if sight.rows else ())
    return all(name in columns for name in _NEEDED)


def read_replies(paths: Sequence[Path]) -> Imported:
    """The judgments of tables of replies; the rows of several files follow one another.

    Raises:
        LogError: a field is missing or malformed, or a row repeats a trial.
    """
    table = read_rows(*paths)
    columns = _columns_of(table.columns)
    if missing := [name for name in _NEEDED if name not in columns]:
        raise LogError(
            f"{paths[0]} is no table of replies at several temperatures",
            found="columns " + listed(table.columns),
            expected=f"a column {' or '.join(_COLUMNS[missing[0]])}",
            remedy="judgesense import FILE --format table --map FIELD=COLUMN names the columns",
        )
    rows = [*table]
    first = min((_repeat(row, columns) for row in rows), default=1)
    suite = slug(own_name(paths[0]))
    places: dict[tuple[str, str], str] = {}
    designs: dict[str, Design] = {}
    read: list[Judgment] = []
    for row in rows:
        own = own_of(row)
        judgment = _judgment(row, columns, suite, offset=int(first == 0))
        judgment = with_own_fields(judgment, own, row)
        once(places, (judgment.judge, judgment.trial.id), row)
        if (design := design_of(row)) is not None:
            designs[judgment.trial.suite] = design
        read.append(judgment)
    named = [*columns.values(), KEY, _REASON]
    return Imported(
        tuple((judgment, designs.get(judgment.trial.suite, _DESIGN)) for judgment in read),
        (*table.notes, *_taken(columns), *left_out(rows, named)),
    )


def _columns_of(names: Sequence[str]) -> dict[str, str]:
    """The column of each field that a table has; a column holds one field."""
    columns: dict[str, str] = {}
    for field, called in _COLUMNS.items():
        column = next((name for name in called if name in names), None)
        if column is not None and column not in columns.values():
            columns[field] = column
    if "model" in names and columns.get("judge") != "model":
        columns["model"] = "model"
    return columns


def _taken(columns: Mapping[str, str]) -> Iterator[str]:
    """A notice of the columns that are called otherwise than this form calls them."""
    usual = {field: called[0] for field, called in _COLUMNS.items()}
    others = [
        f"{usual[field]} is column {column}"
        for field, column in columns.items()
        if field in usual and usual[field] != column
    ]
    if others:
        yield f"{listed(others)}; judgesense import --format table takes others by --map"


def _repeat(row: Row, columns: Mapping[str, str]) -> int:
    return row.number_in(columns["replicate"], 0) if "replicate" in columns else 1


def _judgment(row: Row, columns: Mapping[str, str], suite: str, *, offset: int) -> Judgment:
    def text(field: str) -> str:
        value = row.value.get(columns.get(field, ""))
        return "" if value is None else str(value).strip()

    temperature = _temperature(row, columns["temperature"])
    order = _word(row, columns.get("order"), text("order") or "ab", _ORDERS, "ab or ba")
    stated = {name: text(name) for name in (*_CONDITIONS, "model") if text(name)}
    condition: dict[str, str | int | float] = {**stated, TEMPERATURE: temperature}
    template = "-".join(filter(None, (text("judge_type"), text("prompt_style")))) or "t1"
    label = text("label")
    contents = "A, B, C or tie, or nothing"
    item, run = text("item"), _repeat(row, columns) + offset
    if not item:
        raise row.wrong(columns["item"], "the name of the question")
    trial = Trial(
        id=f"{suite}/{item}/{template}/{order}/t{temperature:g}/r{run}",
        suite=suite,
        item=item,
        cluster=item,
        template=template,
        order="ba" if order == "ba" else "ab",
        replicate=run,
        condition=condition,
        label=_word(row, columns["label"], label, _CONTENTS, contents) if label else None,
    )
    outcome = _outcome(row, columns["verdict"], text("verdict"), text("failed"))
    reply = row.value.get(columns.get("reply", ""))
    judgment = Judgment(
        trial,
        text("judge") or suite,
        outcome,
        reply=None if isinstance(outcome, Failed) or reply is None else str(reply),
    )
    if judgment.verdict is None:
        return judgment
    return replace(judgment, chosen=content_of_slot(judgment.verdict, trial.order))


def _temperature(row: Row, column: str) -> float:
    try:
        number = float(row.value[column])
    except (TypeError, ValueError, KeyError):
        number = -1.0
    if not 0 <= number < float("inf"):
        raise row.wrong(column, "a temperature: a number from 0")
    return number


def _word(row: Row, column: str | None, text: str, words: Mapping[str, str], expected: str) -> str:
    word = words.get(text.casefold())
    if word is None:
        raise row.wrong(column or "", expected)
    return word


def _outcome(row: Row, column: str, text: str, failed: str) -> JudgmentOutcome:
    if failed:
        return Failed(failed)
    if text.casefold() in _NO_RESULT:
        return Unparsed(f"recorded as {text or 'nothing'}")
    return Verdict(_word(row, column, text, _SLOTS, "A, B, C or tie, or nothing"))


# --- writing --------------------------------------------------------------------------------------


def exported_replies(cells: Sequence[Cell], _: Sequence[Suite] = ()) -> Exported:
    """The table of all replies to suites of this kind; cells of other kinds are left out.

    Raises:
        LogError: there are none.
    """
    swept = [cell for cell in cells if _is_swept(cell)]
    if not swept:
        raise LogError(
            "there are no replies at several temperatures to write",
            found=listed(dict.fromkeys(cell.suite for cell in cells)) or "no judgments",
            expected=f"judgments on a suite with kind = {KIND.name!r}",
        )
    lines: list[str] = []
    stated: set[str] = set()
    for cell in swept:
        for judgment in cell.judgments:
            row = _row(judgment)
            if cell.suite not in stated:
                stated.add(cell.suite)
                row[KEY] = {**row.get(KEY, {}), DESIGN: plain_design(cell.design)}
            lines.append(json.dumps(row, ensure_ascii=False))
    left = [cell.suite for cell in cells if cell not in swept]
    notice = f"suites of other kinds are left out: {listed(dict.fromkeys(left))}"
    return Exported({_FILE: "".join(f"{line}\n" for line in lines)}, (notice,) * bool(left))


def _is_swept(cell: Cell) -> bool:
    """Whether every judgment of a cell has its temperature."""
    conditions = (judgment.trial.condition for judgment in cell.judgments)
    return all(isinstance(of.get(TEMPERATURE), int | float) for of in conditions)


def _row(judgment: Judgment) -> dict[str, Any]:
    trial, outcome = judgment.trial, judgment.outcome
    fields = {
        "item": trial.item,
        "judge": judgment.judge,
        **{name: trial.condition.get(name) for name in _CONDITIONS},
        "temperature": trial.condition.get(TEMPERATURE),
        "replicate": trial.replicate,
        "verdict": _LETTERS.get(judgment.verdict or ""),
        "reply": judgment.reply,
        "label": _LABELS.get(trial.label or ""),
        "order": trial.order,
        "failed": outcome.reason if isinstance(outcome, Failed) else None,
    }
    row = {called[0]: fields[field] for field, called in _COLUMNS.items()}
    row[_REASON] = _reason(judgment.reply)
    usual = {field: called[0] for field, called in _COLUMNS.items()}
    read = _judgment(Row("", row), usual, slug(Path(_FILE).stem), offset=0)
    own = own_fields(judgment, read)
    return {**row, **({KEY: own} if own else {})}


def _reason(reply: str | None) -> str | None:
    """The reason in a reply that is one object with it."""
    with suppress(ValueError, TypeError, RecursionError):
        value = json.loads(reply or "")
        reason = value.get(_REASON) if isinstance(value, dict) else None
        return reason if isinstance(reason, str) else None
    return None


IMPORTERS: Final = (Importer("temperature", imported_replies, exported_replies),)
