"""The parser of ``judgesense``, built from its commands."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from keyword import iskeyword
from shutil import get_terminal_size
from typing import Final, NoReturn

from pytest_judgesense import __version__
from pytest_judgesense.commands.options import (
    BROKEN_FILE,
    INTERRUPTED,
    MANY,
    WRONG_COMMAND,
    complain,
    show,
)
from pytest_judgesense.errors import JudgesenseError, UsageError, harmless
from pytest_judgesense.judges.termination import take_sigterm
from pytest_judgesense.text.layout import WIDTH, within

# Each is a module of this package (a keyword has a `_` behind it) with `add_arguments` and `run`,
# which gives the lines to print, or prints itself and gives the exit code.
COMMANDS: Final = {
    "init": "write a first judge, a first suite and a CI workflow",
    "plan": "before any call: calls, cost, chances of checks, faults of suites (--lint)",
    "compare": "what changed: measurements, revisions, sessions, prompts or judges",
    "why": "what in a prompt turns a verdict, or what each sentence of it does",
    "report": "the datasheet of what there is; --panel; --history",
    "label": "label items on a page, or have a judge label them or compare wordings",
    "correct": "rates that people would give, from verdicts and a calibration or labels",
    "import": "turn foreign files into a judgment log or suite",
    "explain": "what a measure means, and what to do when its check fails",
    "paper": "run the design of a published paper on your judges, with its tables",
    "recordings": "show, compare, merge, prune, rename, check and join recordings; batch files",
    "record": "record suites in shards, here or on a Ray cluster",
    "serve": "serve the embedded judge, or a model, on 127.0.0.1; fetch a model",
}

# What commands were called: by the old name, what to write now.
RENAMED: Final[dict[str, str]] = {
    "ablate": "why SUITE --leave-out --judge-name JUDGE",
    "batch": "recordings batch export SUITE -o FILE",
    "cassettes": "recordings check PATH...",
    "debates": "paper debates --generate --debater A --debater B -o FILE",
    "drift": "report --history FILE",
    "equivalence": "label SUITE --wordings",
    "lint": "plan --lint [SUITE...]",
    "merge": "recordings join PATH... -o PATH",
    "migrate": "compare SUITE --judges OLD NEW",
    "models": "serve --get NAME, or serve --list",
    "moved": "compare THEN NOW --anchors SUITE",
    "panel": "report FILE... --panel",
    "power": "plan [SUITE...]",
    "try": "compare SUITE --prompts P1 P2",
}


class _Parser(argparse.ArgumentParser):
    """A parser with harmless error messages: the arguments may be file names from a shell."""

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        super().exit(status, message and harmless(message))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if "_ARGCOMPLETE" in os.environ:
        # Answer a shell that completes a command line, and end; without argcomplete go on.
        with suppress(ImportError):
            from argcomplete import autocomplete

            autocomplete(build_parser())
    give_back = take_sigterm()
    try:
        _refuse_old_name(_command_in(words))
        options = build_parser(words).parse_args(words)
        run: Callable[[argparse.Namespace], Iterable[str] | int] = options.run
        with UsageError.instead_of(
            OSError, "there is no working folder", remedy="change to a folder that exists"
        ):
            os.getcwd()  # noqa: PTH109 - only whether there is one
        # As many columns as the terminal has, or as COLUMNS says; files and pipes have the most.
        with within(get_terminal_size((WIDTH, 24)).columns):
            done = run(options)
            return done if isinstance(done, int) else show(done)
    except JudgesenseError as error:
        complain(error)
        # A missing file is a wrong argument, like an unknown suite.
        missing = isinstance(error.__cause__, FileNotFoundError)
        return WRONG_COMMAND if missing or isinstance(error, UsageError) else BROKEN_FILE
    except BrokenPipeError:
        # The reader of a pipe has seen enough. Python must not complain when it flushes at exit.
        sys.stdout = None
        return 0
    except KeyboardInterrupt:
        complain("interrupted; run the same command again: answers that it recorded are kept")
        return INTERRUPTED
    finally:
        give_back()


def build_parser(words: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """The parser of the command line.

    Args:
        words: the arguments of the command line; ``None`` to build all commands. Other commands get
            no arguments, because their modules are not imported.
    """
    parser = _Parser(
        prog="judgesense",
        description="Beside pytest, which runs suites: begin one, check it before any call, report "
        "judgments that you have, and look after recordings.",
    )
    parser.add_argument("--version", action="version", version=f"judgesense {__version__}")
    plugin_help = "load a plugin that adds measures or providers; may be repeated"
    parser.add_argument("-p", "--plugin", metavar="MODULE", help=plugin_help, **MANY)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    named = None if words is None else _command_in(words)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        if words is None or name == named:
            module = import_module(f"{__package__}.{name}{'_' * iskeyword(name)}")
            command.set_defaults(run=getattr(module, "run", None))
            module.add_arguments(command)
    return parser


def _refuse_old_name(name: str | None) -> None:
    if name in RENAMED:
        raise UsageError(
            f"judgesense {name} has another name",
            found=name,
            expected=f"judgesense {RENAMED[name]}",
            remedy="judgesense --help lists the commands",
        )


def _command_in(words: Sequence[str]) -> str | None:
    """The first word that is no option, nor the module of one."""
    rest = iter(words)
    for word in rest:
        if word in ("-p", "--plugin"):
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return None
