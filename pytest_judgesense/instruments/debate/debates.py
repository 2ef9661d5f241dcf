"""Debates in JudgeBench's form to a suite, and the debates of suites in that form.

A file holds one debate, ``{debate_id}.json``; a folder holds such files, itself or below
``debates``, and perhaps ``debate_ids.json`` beside them, which says which of them count and in what
order. JSON Lines and lists are read as well. Debates that are not complete (``status``) are left
out. The suite asks as the built-in one does: its prompts, runs, temperature and checks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from pytest_judgesense.errors import LogError, UsageError, unknown_name
from pytest_judgesense.files.first_sight import FirstSight
from pytest_judgesense.files.foreign_results import left_out, slug
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.tables import malformed, read_document, read_rows
from pytest_judgesense.instruments.debate.stimuli import COMPLETE, DEBATE, DebateLine
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.loading import stimuli_of
from pytest_judgesense.suites.suite import Suite

LISTED: Final = "debate_ids.json"
_FOLDER: Final = "debates"
CONFIG: Final = "config.json"
_SUFFIX: Final = ".suite.toml"
_FORM: Final = "a debate: " + ", ".join(
    name for name, field in DebateLine.model_fields.items() if field.is_required()
)


@dataclass(frozen=True, slots=True)
class DebateFile:
    """A suite of debates, in their order, and notices."""

    debates: tuple[DebateLine, ...]
    notices: tuple[str, ...] = ()

    def files(self, target: Path) -> dict[Path, str]:
        """The suite file and its debates: in the folder ``target``, or as ``NAME.suite.toml``.

        Raises:
            UsageError: ``target`` is neither.
        """
        stem = target.name.removesuffix(_SUFFIX)
        if stem == target.name and target.suffix:
            raise UsageError(
                "debates become a suite, which is called NAME.suite.toml",
                found=str(target),
                expected="-o NAME.suite.toml, or a folder",
            )
        name = slug(stem)
        folder = target if stem == target.name else target.parent
        items = f"{name}.debates.jsonl"
        return {
            folder / f"{name}{_SUFFIX}": self._suite(name, items),
            folder / items: "".join(
                json.dumps(_values(debate), ensure_ascii=False) + "\n" for debate in self.debates
            ),
        }

    def _suite(self, name: str, items: str) -> str:
        """The built-in suite's text with these debates, without its judges and its presets."""
        # Its presets, which stand last, are of its own number of debates.
        text = read_text(builtin_suites()[DEBATE.name]).partition("\n[presets.")[0]
        topics = len({debate.resolution for debate in self.debates})
        description = (
            f"{len(self.debates)} debates of {topics} topics, judged as the built-in suite's are."
        )
        for key, value in {
            "name": name,
            "description": description,
            "judges": None,
            "file": items,
        }.items():
            line = "" if value is None else f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
            before, stated, after = re.split(rf"(?m)^({key} = .*\n)", text, maxsplit=1)
            assert stated, f"the built-in suite states its {key}"
            text = before + line + after
        return text


def holds_only_debates(sight: FirstSight) -> bool:
    """Whether a file, or the files of a folder, are debates."""
    columns = sight.columns
    if sight.is_folder:
        files = (*sight.path.glob("*.json"), *(sight.path / _FOLDER).glob("*.json"))
        file = next((file for file in files if file.name not in (LISTED, CONFIG)), None)
        debate = None if file is None else FirstSight(file).document
        columns = frozenset(debate if isinstance(debate, dict) else ())
    elif isinstance(sight.document, dict):
        columns = frozenset(sight.document)
    return columns.issuperset(
        name for name, field in DebateLine.model_fields.items() if field.is_required()
    )


def imported_debates(options: ImportOptions) -> DebateFile:
    """The suite that ``judgesense import --format debates`` makes of a folder or a file.

    Raises:
        LogError: there are no complete debates, or one is malformed; it names file and field.
    """
    path: Path = options.path
    rows = list(_rows(path))
    notices = [*left_out(rows, DebateLine.model_fields)]
    complete: list[Row] = []
    dropped: list[Row] = []
    for row in rows:
        whole = row.value.get("status", COMPLETE[0]) in COMPLETE
        (complete if whole else dropped).append(row)
    if dropped:
        first = dropped[0]
        notices.append(
            f"{len(dropped)} debates are not complete and are left out, the first is "
            f"{first.where}: status {json.dumps(first.value['status'])}"
        )
    if not complete:
        raise LogError(
            f"there are no complete debates at {path}",
            found=f"{len(rows)} debates",
            expected=f"files NAME.json with {_FORM}; status {' or '.join(COMPLETE)}",
        )
    debates = {}
    for row in complete:
        debate = _debate(row)
        if debate.id in debates:
            raise row.wrong("id", "every debate once")
        debates[debate.id] = debate
    return DebateFile(tuple(debates.values()), tuple(notices))


def _rows(path: Path) -> Iterator[Row]:
    """The debates as they are written, in the order of the list or of their names."""
    if not path.is_dir():
        yield from _rows_of_file(path)
        return
    folder = path / _FOLDER if (path / _FOLDER).is_dir() else path
    files = {file.name: file for file in sorted(folder.glob("*.json")) if file.name != LISTED}
    files.pop(CONFIG, None)
    rows = [Row(str(file), read_document(file, dict, _FORM)) for file in files.values()]
    listed = next((f for f in (path / LISTED, folder.parent / LISTED) if f.exists()), None)
    if listed is None:
        yield from rows
        return
    by_id = {row.text("id"): row for row in rows}
    for name in listed_debates(listed):
        if name not in by_id:
            raise unknown_name(f"debate in {listed}", name, by_id)
        yield by_id[name]


def _rows_of_file(path: Path) -> Iterator[Row]:
    if path.suffix == ".json":
        value = read_document(path, (dict, list), _FORM)
        if isinstance(value, dict):
            yield Row(str(path), value)
            return
    yield from read_rows(path)


def listed_debates(file: Path) -> list[str]:
    """The ids in ``debate_ids.json``: a list, or an object with the list under ``debate_ids``."""
    listed = read_document(file, (list, dict), "a JSON object")
    planned = listed.get("debate_ids") if isinstance(listed, dict) else listed
    if not isinstance(planned, list) or not all(isinstance(name, str) for name in planned):
        raise malformed(str(file), listed, "a list of ids of debates")
    return planned


def _debate(row: Row) -> DebateLine:
    try:
        return DebateLine.model_validate(row.value)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(map(str, problem["loc"])) or "speeches"
        raise row.wrong(place, problem["msg"].removeprefix("Value error, ")) from error


def _values(debate: DebateLine) -> dict[str, Any]:
    """The keys that a debate states, in the order of the form."""
    return debate.model_dump(exclude_unset=True)


def debates_of(suites: Iterable[Suite], wanted: Collection[str]) -> Mapping[str, dict[str, Any]]:
    """The ``wanted`` debates that suites hold, as JudgeBench's files, by id, in their order.

    A debate that a judge was shown is complete: ``status`` says so in the paper's word.
    """
    debates: dict[str, dict[str, Any]] = {}
    for suite in suites:
        if DebateLine not in suite.form.line_forms:
            continue
        for row in read_rows(stimuli_of(suite)):
            if row.value.get("id") in wanted:
                values = {**_values(_debate(row)), "status": COMPLETE[0]}
                debates.setdefault(values["id"], values)
    return debates
