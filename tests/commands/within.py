"""The command line within this process: no fork, and what was imported or computed is shared."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import httpx

from pytest_judgesense import measure
from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.commands.main import main
from pytest_judgesense.suites.loading import _load


def judgesense(
    *arguments: object, cwd: Path | None = None, merged: bool = False
) -> CompletedProcess[str]:
    """What ``judgesense`` does with ``arguments``; modules of the folder are imported anew.

    Args:
        arguments: those of the command line.
        cwd: the folder in which it runs; the working folder if not given.
        merged: whether errors stand among the output, as on a terminal.
    """
    words = [str(argument) for argument in arguments]
    out = StringIO()
    errors = out if merged else StringIO()
    with chdir(cwd or Path.cwd()), as_new(), redirect_stdout(out), redirect_stderr(errors):
        try:
            code = main(words)
        except SystemExit as end:  # of the parser
            code = int(end.code or 0)
    err = "" if merged else errors.getvalue()
    return CompletedProcess(["judgesense", *words], code, out.getvalue(), err)


def measured(cwd: Path, *arguments: Any, **more: Any) -> MeasuredDatasheet:
    """What `measure` says in a folder, whose modules are imported anew: no session of pytest."""
    with chdir(cwd), as_new():
        return measure(*arguments, **more)


@contextmanager
def as_new() -> Iterator[None]:
    """Forget afterwards what was imported from the working folder, and where to import it from."""
    _load.cache_clear()  # files are told by their times, which may be the same after an edit
    folder, paths = Path.cwd(), [*sys.path]
    # What another test has imported from a folder of its own, under the name of a file of this one.
    for name in {path.stem for path in folder.glob("*.py")} & {*sys.modules}:
        if "pytest-of-" in (getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]
    before = {*sys.modules}
    try:
        yield
    finally:
        sys.path[:] = paths
        forget_modules(folder, lambda name: name in before or name.startswith("pytest_judgesense"))


def forget_modules(folder: Path, is_kept: Callable[[str], bool] = lambda _: False) -> None:
    """Let what was imported from ``folder`` be imported anew, but for the modules that are kept.

    Their clients are closed, as the end of a process closes them: an open socket would be found
    when garbage is collected, within any other test.
    """
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__file__", None)
        if is_kept(name) or not (isinstance(file, str) and Path(file).is_relative_to(folder)):
            continue
        for client in vars(module).values():
            if isinstance(client, httpx.Client):
                client.close()
        del sys.modules[name]
