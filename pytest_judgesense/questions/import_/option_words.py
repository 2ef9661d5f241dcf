"""What is said of the options of an import, and that one which nothing reads is refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.row_options import ROW_OPTION_WORDS

_TOOLS: Final = "inspect, promptfoo, deepeval"
_ROWS: Final = f"table, {_TOOLS}"
NUMBERS: Final = f"{_TOOLS}, with numbers as grades"
_BY_COLUMN: Final = "the column of the {}; of a table --map {}=COLUMN"


class OptionWords(NamedTuple):
    """What is said of an option.

    Attributes:
        needs: the forms, and what their files must hold.
        does: what it does to them.
    """

    needs: str
    does: str

    def __str__(self) -> str:
        return f"{self.needs}: {self.does}"


OPTION_WORDS: Final[Mapping[str, OptionWords]] = MappingProxyType(
    {
        "reparse": OptionWords(
            "llmbar, judgebench", "parse recorded completions again; ignore recorded verdicts"
        ),
        "variant": OptionWords("llmbar", "only this variant of the prompt; may be repeated"),
        "pairs": OptionWords(
            "judgesense, with a decision log",
            "the file of its pairs, which has their templates, polarity, clusters and gold labels",
        ),
        "leave_out": OptionWords(
            "judgesense, with the pairs",
            "leave out the pairs with this template, such as t4; may be repeated",
        ),
        "validation": OptionWords(
            "judgesense, with a pair file",
            "a file of reviews of its pairs, which become those of the templates; may be repeated",
        ),
        "map": OptionWords(_ROWS, ROW_OPTION_WORDS["map"]),
        "value": OptionWords(_ROWS, ROW_OPTION_WORDS["value"]),
        "names": OptionWords(_ROWS, ROW_OPTION_WORDS["names"]),
        "labels": OptionWords(
            "table, without a column of verdicts",
            "the possible verdicts, to be read from the replies; with tie and abstain where these "
            "are permitted",
        ),
        "range": OptionWords(
            "table, with numbers as verdicts",
            "the ends of their scale, where not all values occur: 1,5 or 0,100; below 0 written "
            "--range=-1,1",
        ),
        "grades": OptionWords("table", "the judge's grades, a column a criterion"),
        "people": OptionWords(
            "table, with --grades", "people's grades, of each criterion a column a person"
        ),
        "pass_mark": OptionWords("table, with --grades", "the grade from which an output passes"),
        "lists": OptionWords("table", ROW_OPTION_WORDS["lists"]),
        "join": OptionWords("table", ROW_OPTION_WORDS["join"]),
        "replicate": OptionWords("table", "the replicate of all rows"),
        "judge": OptionWords(_ROWS, "the judge of all rows"),
        "suite": OptionWords(f"games, {_ROWS}", "the suite of all rows"),
        "cluster": OptionWords(_TOOLS, _BY_COLUMN.format("cluster", "cluster")),
        "order": OptionWords(
            _TOOLS, _BY_COLUMN.format("order of two candidates, ab or ba", "order")
        ),
        "label": OptionWords(_TOOLS, _BY_COLUMN.format("grade that a person gave", "label")),
        "scorer": OptionWords(
            _TOOLS, "only this scorer, metric or type of assertion; may be repeated"
        ),
        "scale": OptionWords(NUMBERS, "read scores as steps, 0 to N, from 0 to 1"),
        "threshold": OptionWords(NUMBERS, "read scores as pass, from T on, and fail"),
    }
)
"""By the field of `ImportOptions`; the option's name has hyphens."""


def option_name(field: str) -> str:
    """The option that gives a field."""
    return f"--{field.replace('_', '-')}"


def noting(options: ImportOptions) -> tuple[ImportOptions, set[str]]:
    """The options, and the names of those that have been read, which grow with every look at one.

    Who looks at all at once has read all.
    """
    read_names: set[str] = set()

    class Noting(ImportOptions):
        def __getattribute__(self, name: str) -> Any:
            read_names.add(name)
            return super().__getattribute__(name)

    noted = Noting(**{field.name: getattr(options, field.name) for field in fields(options)})
    read_names.clear()
    return noted, read_names


def refuse_unused(
    options: ImportOptions, read_names: Collection[str], form: str, what: str
) -> None:
    """Raise a `UsageError` for an option that was given and that the importer has not read.

    Args:
        options: as they were given.
        read_names: of the fields that were read.
        form: of the foreign files.
        what: they were read as.
    """
    if "__dict__" in read_names:
        return
    for option in fields(options):
        value = getattr(options, option.name)
        is_given = not (value is None or value is False or value == ())
        if option.name not in OPTION_WORDS or option.name in read_names or not is_given:
            continue
        name = option_name(option.name)
        given = _as_given(value if option.default == () else (value,))
        raise UsageError(
            f"{name} is not used: {options.path} was read as {what} of the form {form}",
            found=name if value is True else f"{name} {given}",
            expected=str(OPTION_WORDS[option.name]),
            remedy=f"leave out {name}, or import a file that it is for",
        )


def _as_given(values: Collection[Any]) -> str:
    parts = (value if isinstance(value, tuple) else (value,) for value in values)
    return ", ".join("=".join(map(str, part)) for part in parts)
