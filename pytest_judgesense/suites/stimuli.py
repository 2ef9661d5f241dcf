"""The lines of a stimuli file, as the suite that names it uses them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.files import read_text
from pytest_judgesense.limits import beyond, json_value, limits, well_formed_value
from pytest_judgesense.suites.schema import SuiteForm

_Line = TypeVar("_Line", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Stimuli:
    """What the items of a suite are made of.

    Attributes:
        lines: the numbers and the values of those lines that the design uses.
    """

    form: SuiteForm
    file: Path
    lines: Sequence[tuple[int, Any]]

    @property
    def rows(self) -> list[Any]:
        return [row for _, row in self.lines]

    def parse(self, model: type[_Line]) -> list[_Line]:
        """The lines as values of ``model``, which has an ``id``.

        Raises:
            SuiteError: a line is not of the form, or repeats an id; it names the line.
        """
        parsed: dict[str, tuple[int, _Line]] = {}
        for number, row in self.lines:
            try:
                line = model.model_validate(row)
            except ValidationError as error:
                raise not_of_the_form(f"{self.file}:{number}", error) from error
            identifier: str = line.id  # type: ignore[attr-defined]
            if identifier in parsed:
                raise SuiteError(
                    f"{self.file}:{number} repeats an id",
                    found=f"{identifier!r}, which line {parsed[identifier][0]} has",
                    expected="every id once: trial ids are made of it",
                )
            parsed[identifier] = number, line
        return [line for _, line in parsed.values()]


def read_lines(path: Path, form: SuiteForm) -> tuple[Stimuli, str]:
    """All lines of the stimuli file that the suite file at ``path`` names, and their text."""
    file = path.parent / form.stimuli.file
    try:
        raw = read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        raise SuiteError(
            f"the stimuli of suite {form.name} cannot be read",
            found=str(error),
            expected=f"JSON Lines in UTF-8 at {file}",
            remedy=f"fix [stimuli] file in {path}",
        ) from error
    lines: list[tuple[int, Any]] = []
    # Not splitlines(): a text may hold a Unicode line separator inside a JSON string.
    for number, line in enumerate(raw.split("\n"), start=1):
        if line.strip():
            if len(lines) == limits().trials:
                raise beyond(SuiteError, f"{file}:{number}: one item too many", "trials", "more")
            try:
                lines.append((number, well_formed_value(json_value(line))))
            except ValueError as error:
                raise SuiteError(
                    f"{file}:{number} is not JSON", found=str(error), expected="one object a line"
                ) from error
    if not lines:
        raise SuiteError(f"{file} holds no items", expected="at least one line")
    return Stimuli(form, file, lines), raw


def not_of_the_form(where: str, error: ValidationError) -> SuiteError:
    """The error that says which keys and values at ``where`` are wrong."""
    problems = []
    for problem in error.errors():
        place = ".".join(str(part) for part in problem["loc"]) or "(whole)"
        value = json.dumps(problem["input"], default=str)
        problems.append(f"{place}: {problem['msg']} (got {value[:80]})")
    return SuiteError(
        f"{where} is not of the form judgesense/suite/1",
        found="; ".join(problems),
        expected="the keys and values that docs/suites.md lists",
        remedy="fix the named keys",
    )
