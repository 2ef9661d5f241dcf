"""Options that several commands share, and the judges, suites and plugins that they name."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_judgesense.display import complain_of, print_line
from pytest_judgesense.errors import JudgesenseError, UsageError, listed, printable, unknown_name
from pytest_judgesense.layout import Toned
from pytest_judgesense.pytest_ini import pytest_options

if TYPE_CHECKING:
    from pytest_judgesense.carrying_over import Plans
    from pytest_judgesense.judges.spec import JudgeSpec
    from pytest_judgesense.judges.trust import Trust
    from pytest_judgesense.output import Outputs
    from pytest_judgesense.registry import Registry
    from pytest_judgesense.suites.suite import Suite

BAR_FAILED: Final = 1
WRONG_COMMAND: Final = 2
INTERRUPTED: Final = 130  # as shells have it
BROKEN_FILE: Final = 3

_A_LINE_S: Final = 60.0  # between two lines on how far a command is

JUDGE: Final = "a judge that pyproject.toml declares, or provider:model"
OUTPUT: Final = "the file to write"
# Forms of arguments.
FILE: Final[dict[str, Any]] = {"type": Path, "metavar": "FILE"}
MANY: Final[dict[str, Any]] = {"action": "append", "default": []}
FLAG: Final[dict[str, Any]] = {"action": "store_true"}


def add_judge_and_suite(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add judge, suite and recordings, by the names of pytest's options."""
    parser.add_argument("--judge-name", required=required, metavar="NAME", help=JUDGE)
    suite_help = "a suite by name, NAME@PRESET, or its file"
    parser.add_argument("--judge-suite", required=required, metavar="NAME", help=suite_help)
    add_cassettes(parser)


def add_asking(parser: argparse.ArgumentParser, suite: str, *, required: bool = True) -> None:
    """Add the arguments of a command that asks a judge about a suite; ``suite`` is its help.

    Where a judge is not required, there may be several.
    """
    parser.add_argument("judge_suite", metavar="SUITE", help=suite)
    form: dict[str, Any] = {"required": True} if required else MANY
    parser.add_argument("--judge-name", metavar="NAME", help=JUDGE, **form)
    mode_help = "replay: recorded answers (the default); record: ask what is not recorded yet"
    parser.add_argument(
        "--judge-mode", choices=["replay", "record"], default="replay", help=mode_help
    )
    add_cassettes(parser)


def add_cassettes(parser: argparse.ArgumentParser) -> None:
    """Add the folder of the recordings."""
    form: dict[str, Any] = {"type": Path, "default": Path("cassettes"), "metavar": "DIR"}
    folder_help = "folder of the recordings (default: cassettes)"
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


def find_code_of_project() -> None:
    """Let code of the project be imported where pytest's ``pythonpath`` says.

    Only for commands that run it: a module there may be called like one of any library, which is
    imported in its place from now on.
    """
    sys.path[:0] = [folder for folder in pythonpath(Path.cwd()) if folder not in sys.path]


def judges_to_ask(options: argparse.Namespace, names: list[str]) -> list[JudgeSpec]:
    """The judges of these names, for a command that asks them: their code is found."""
    declared = judges(options, names)
    find_code_of_project()
    return declared


def judge_and_suite(
    options: argparse.Namespace, *, labelled: bool = True
) -> tuple[JudgeSpec, Suite]:
    """The judge that this folder's project declares, and the suite, as pytest would take them."""
    (judge,) = judges(options, [options.judge_name])
    return judge, suite(options, labelled=labelled)


def only_judge(options: argparse.Namespace) -> str:
    """The name of the one judge that this folder's project declares.

    Raises:
        UsageError: it declares none, or several.
    """
    from pytest_judgesense.judges.resolving import declared_judges

    declared = list(declared_judges(Path.cwd(), registry_of(options).providers))
    if len(declared) != 1:
        raise UsageError(
            "no judge is named",
            found=f"declared here: {listed(declared) or 'none'}",
            expected=f"--judge-name NAME: {JUDGE}",
        )
    return declared[0]


def judges(options: argparse.Namespace, names: list[str]) -> list[JudgeSpec]:
    """The judges of these names."""
    from pytest_judgesense.judges.resolving import declared_judges, resolve_judges

    providers = registry_of(options).providers
    return resolve_judges(names, declared_judges(Path.cwd(), providers), {}, (), providers)


def pythonpath(start: Path) -> list[str]:
    """The folders that pytest's ``pythonpath`` names in the nearest of its ini files upward."""
    path, settings = pytest_options(start)
    return [str((path.parent / part).resolve()) for part in _parts(settings.get("pythonpath", ()))]


def testpaths(start: Path) -> tuple[Path, list[str]]:
    """The nearest of pytest's ini files upward, and what it has for ``testpaths``."""
    path, settings = pytest_options(start)
    return path, _parts(settings.get("testpaths", ()))


def _parts(value: Any) -> list[str]:
    return value.split() if isinstance(value, str) else list(map(str, value))


def suite(options: argparse.Namespace, *, labelled: bool = True) -> Suite:
    """The suite; ``labelled``: every item of it must have a label."""
    return next(suites_named(options.judge_suite, options, labelled=labelled))


def suites_named(
    name: str, options: argparse.Namespace, *, labelled: bool = True
) -> Iterator[Suite]:
    """The suites that ``NAME`` or ``NAME@PRESET`` means, of a folder each; see `suite`."""
    from pytest_judgesense.suites.loading import load_suite

    base, _, preset = name.partition("@")
    kinds = registry_of(options).forms
    for file in suite_files(base):
        yield load_suite(file, preset or None, kinds, labelled=labelled)


def trust_of(options: argparse.Namespace) -> Trust:
    """What may be sent from this folder, given the path of a suite on the command line."""
    from pytest_judgesense.judges.trust import Trust

    return Trust.here(Path(options.judge_suite.partition("@")[0]))


def plans_of(options: argparse.Namespace) -> Plans:
    """Where this command's recordings are, and the suites of this folder's project."""
    from pytest_judgesense.carrying_over import Plans
    from pytest_judgesense.judges.resolving import project_folder

    return Plans(project_folder(), options.judge_cassettes, registry_of(options).forms)


def suite_files(name: str) -> list[Path]:
    """The suite files that a path or a name means: those of a folder, this project's, built-in."""
    from pytest_judgesense.suites.builtin import builtin_suites, is_unpacked, suite_file

    if (file := suite_file(name)) is not None:
        return [file]
    files = sorted(Path(name).rglob("*.suite.toml"))
    if packed := [file for file in files if not is_unpacked(file)]:
        return packed
    of_project = (path.parent for path in Path("suites").glob("*/*.suite.toml"))
    raise unknown_name("suite", name, {*builtin_suites(), *(folder.name for folder in of_project)})


def suites_here() -> list[Path]:
    """The suite files of this folder and of ``suites`` in it."""
    form = "*.suite.toml"
    return [*sorted(Path.cwd().glob(form)), *sorted(Path("suites").rglob(form))]


def recorded_suites(
    name: str | None, registry: Registry, cassettes: Path
) -> Iterator[tuple[JudgeSpec, Suite]]:
    """The suites here, or those that are named, each with its judges that are recorded."""
    from pytest_judgesense.judges.resolving import declared_judges, resolve_judges
    from pytest_judgesense.suites.builtin import cassettes_in
    from pytest_judgesense.suites.loading import load_suite

    for path in suite_files(name) if name else suites_here():
        suite = load_suite(path, None, registry.forms)
        declared = declared_judges(path.parent, registry.providers)
        for judge in resolve_judges((), declared, {}, suite.judges, registry.providers):
            paths = cassettes_in(cassettes, judge.slug, suite.recordings)
            if all(recording.is_file() for recording in paths.values()):
                yield judge, suite


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


def told_each_minute() -> Callable[[Callable[[float], str]], None]:
    """How far something is, on standard error, at most once a minute from now on.

    Returns:
        What takes a function from seconds since the beginning to a line, called if it is time.
    """
    last = started = time.monotonic()

    def tell(line: Callable[[float], str]) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _A_LINE_S:
            last = now
            complain(line(now - started))

    return tell


def by_criterion(text: str) -> list[tuple[str, str]]:
    """Criteria with the columns of their grades, ``clarity=anna+ben,tone``; empty for none."""
    pairs = [tuple(part.strip() for part in word.split("=", 1)) for word in text.split(",")]
    if not all(all(pair) for pair in pairs):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form CRITERION=COLUMN,...")
    return [(pair[0], pair[1] if len(pair) > 1 else "") for pair in pairs]


def assignment(text: str) -> tuple[str, str]:
    """A value of the form ``NAME=VALUE``, as `argparse` reads it."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name, value


def naming(text: str) -> tuple[str, str]:
    """``FIELD=slot`` or ``FIELD=content``, as `argparse` reads it."""
    field, named = assignment(text)
    if named not in ("slot", "content"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither {field}=slot nor {field}=content")
    return field, named
