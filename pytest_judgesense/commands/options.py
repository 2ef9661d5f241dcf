"""Options that several commands share, and the judges, suites and plugins that they name."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_judgesense.errors import JudgesenseError, UsageError, listed, printable
from pytest_judgesense.files.assignments import NotTwoTexts, assigned
from pytest_judgesense.files.pytest_ini import usual_recordings
from pytest_judgesense.questions.place import JUDGE, Place, find_code_of_project
from pytest_judgesense.text.display import complain_of, print_line
from pytest_judgesense.text.layout import Toned

if TYPE_CHECKING:
    from pytest_judgesense.files.output import Outputs
    from pytest_judgesense.files.row_options import RowOptions
    from pytest_judgesense.registry import Registry

BAR_FAILED: Final = 1
WRONG_COMMAND: Final = 2
INTERRUPTED: Final = 130  # as shells have it
BROKEN_FILE: Final = 3

OUTPUT: Final = "the file to write"
# Forms of arguments.
FILE: Final[dict[str, Any]] = {"type": Path, "metavar": "FILE"}
MANY: Final[dict[str, Any]] = {"action": "append", "default": []}
FLAG: Final[dict[str, Any]] = {"action": "store_true"}


def add_judge(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add the judge, by the name of pytest's option."""
    if several:
        text = f"{JUDGE}; may be repeated (default: the declared ones)"
        parser.add_argument("--judge-name", metavar="NAME", help=text, **MANY)
        return
    text = f"{JUDGE} (default: the declared one)"
    parser.add_argument("--judge-name", metavar="NAME", help=text)


def add_suite(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Add the suite, as the next argument; ``more`` says what is done with it."""
    text = f"a suite by name, NAME@PRESET, or its file{more}"
    parser.add_argument("judge_suite", metavar="SUITE", help=text)


def only_suite(options: argparse.Namespace, compared: str, form: str) -> str:
    """The suite, where ``names`` has to hold it and nothing else.

    ``compared`` says what is compared on it, ``form`` the form of the command.

    Raises:
        UsageError: there is none, or there are several names.
    """
    if len(options.names) != 1:
        raise UsageError(
            f"{compared} are compared on one suite",
            found=listed(options.names) or "none",
            expected=form,
        )
    suite: str = options.names[0]
    return suite


def add_cassettes(parser: argparse._ActionsContainer) -> None:
    """Add the folder of the recordings."""
    form: dict[str, Any] = {"type": Path, "default": None, "metavar": "DIR"}
    folder_help = "folder of the recordings (default: that of pytest, cassettes if none is named)"
    parser.add_argument("--judge-cassettes", help=folder_help, **form)


def number(
    name: str, kind: type[int | float], most: float = sys.float_info.max, *, least: int = 0
) -> Callable[[str], Any]:
    """The reader of a number from ``least`` to ``most``, called ``name``, from the command line."""
    range_ = f", at least {least}" if most == sys.float_info.max else f" from {least} to {most}"

    def read(text: str) -> int | float:
        value = kind(text)
        if not least <= value <= most:
            whole = "whole number" if kind is int else "number"
            article = "an" if name[0] in "aeiou" else "a"
            raise argparse.ArgumentTypeError(f"{article} {name} is a {whole}{range_}")
        return value

    read.__name__ = name
    return read


seed: Final = number("seed", int)


def registry_of(options: argparse.Namespace) -> Registry:
    """The built-in values and those of plugins, installed or named by ``-p``; put together once."""
    from pytest_judgesense.instruments.builtin import BUILT_IN
    from pytest_judgesense.registry import loaded

    if "registry" not in options:
        # A project's own plugin need not be installed: who names it lets the project's code run.
        if not all(map(_is_installed, options.plugin)):
            find_code_of_project()
            sys.path.append(str(Path.cwd()))
        options.registry = loaded(BUILT_IN, options.plugin)
    registry: Registry = options.registry
    return registry


def _is_installed(module: str) -> bool:
    with suppress(ImportError, ValueError):
        return find_spec(module.partition(".")[0]) is not None
    return False


def place_of(options: argparse.Namespace) -> Place:
    """The project of this folder, its recordings where the options say."""
    folder: Path | None = getattr(options, "judge_cassettes", None)
    return Place(folder or usual_recordings(), registry_of(options))


def show(lines: Iterable[str]) -> int:
    """Print the lines; 0."""
    for line in lines:
        with _printing():
            print_line(printable(line), line.tone if isinstance(line, Toned) else "")
    with _printing():  # here, for at its end Python can only say that an exception is ignored
        sys.stdout.flush()
    return 0


@contextmanager
def _printing() -> Iterator[None]:
    """Turn a failure of the standard output into our error; a pipe's end is left to `main`."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        sys.stdout = None  # Python must not try once more at its end
        raise JudgesenseError(
            "the standard output cannot be written",
            found=str(error),
            remedy="print to another place, or make room",
        ) from error


def complain(problem: object) -> None:
    """Print a problem where errors go; if nothing can be printed there, the exit code tells."""
    if sys.stderr is None:
        return
    try:
        complain_of(f"judgesense: {problem}")
    except OSError:
        sys.stderr = None


def tell_of_outputs(outputs: Outputs) -> int:
    """Print what was written and what was not; the exit code."""
    show(outputs.written)
    for problem in outputs.problems:
        complain(problem)
    if not outputs.errors:
        return 0
    return BROKEN_FILE if outputs.is_broken else WRONG_COMMAND


def by_criterion(text: str) -> list[tuple[str, str]]:
    """Criteria with the columns of their grades, ``clarity=anna+ben,tone``; empty for none."""
    pairs = [tuple(part.strip() for part in word.split("=", 1)) for word in text.split(",")]
    if not all(all(pair) for pair in pairs):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form CRITERION=COLUMN,...")
    return [(pair[0], pair[1] if len(pair) > 1 else "") for pair in pairs]


def assignment(text: str) -> tuple[str, str]:
    """``NAME=VALUE``, as `argparse` reads it; a side with an equals sign in double quotes."""
    name, value = _assigned(text)
    if not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name, value


def _assigned(text: str) -> tuple[str, str]:
    """``NAME=VALUE`` or ``NAME=``."""
    try:
        return assigned(text)
    except NotTwoTexts as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _naming(text: str) -> tuple[str, str]:
    """``FIELD=slot`` or ``FIELD=content``."""
    field, named = assignment(text)
    if named not in ("slot", "content"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither {field}=slot nor {field}=content")
    return field, named


def _list_and_places(text: str) -> tuple[str, str]:
    """``COLUMN=NAME,...``, or a pattern of columns, which may go without a name."""
    return (text, "") if "{" in text and "=" not in text else assignment(text)


def _file_and_column(text: str) -> tuple[Path, str]:
    """``FILE=COLUMN``; a file may have ``=`` in its name."""
    file, column = text.rpartition("=")[::2]
    if '"' in text:
        file, column = _assigned(text)
    if not file or not column:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form FILE=COLUMN")
    return Path(file), column


_ROW_OPTION_FORMS: Final[Mapping[str, Mapping[str, Any]]] = {
    "map": {"type": assignment, "metavar": "FIELD=COLUMN"},
    "value": {"type": _assigned, "metavar": "SAID=MEANT"},
    "names": {"type": _naming, "metavar": "FIELD=slot|content"},
    "lists": {"type": _list_and_places, "metavar": "COLUMN=NAME,..."},
    "join": {"type": _file_and_column, "metavar": "FILE=COLUMN"},
}


def add_row_options(
    parser: argparse.ArgumentParser, files: str, *, may_be_nowhere: bool = False
) -> None:
    """Add how rows of foreign files are read, by the names that the options have everywhere.

    ``files`` says which files these are, ``may_be_nowhere`` whether ``--map FIELD=`` is allowed.
    """
    from pytest_judgesense.files.row_options import ROW_OPTION_WORDS  # most commands read no rows

    group = parser.add_argument_group(f"how the rows of {files} are read")
    map_form = {"map": {**_ROW_OPTION_FORMS["map"], "type": _assigned}} if may_be_nowhere else {}
    for field, form in {**_ROW_OPTION_FORMS, **map_form}.items():
        group.add_argument(f"--{field}", help=ROW_OPTION_WORDS[field], **MANY, **form)


def row_options_of(options: argparse.Namespace) -> RowOptions:
    """What the options of `add_row_options` say."""
    from pytest_judgesense.files.row_options import RowOptions  # most commands read no rows

    return RowOptions(**{field: tuple(getattr(options, field)) for field in _ROW_OPTION_FORMS})


def given_row_options(options: argparse.Namespace) -> list[str]:
    """The options of `add_row_options` that were given."""
    return [f"--{field}" for field in _ROW_OPTION_FORMS if getattr(options, field)]
