"""What a branch may not leave out of a comparison by pytest's ini file.

What is typed chooses what runs. What the ini file of a branch newly leaves out (a suite that is
ignored, a judge that is not asked, a session that collects alone) would pass for compared: it is
refused, in one error, where anything was recorded at the revision.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest

from pytest_judgesense.errors import JudgesenseError, UsageError, listed
from pytest_judgesense.files.pytest_ini import pytest_options
from pytest_judgesense.plugin.messages import usage_error
from pytest_judgesense.plugin.settings import Settings

# Options that leave something out, each with a value behind it; and those without one.
_CHOOSING: Final = frozenset(
    "-k -m -p --deselect --ignore --ignore-glob --judge-name --judge-suite".split()
)
_LEAVING: Final = frozenset(
    "--co --collect-only --setup-plan --setup-only --lf --last-failed --sw --stepwise".split()
)
# Keys of ini files: more words choose more; of those below, they leave out more.
_WHERE: Final = ("testpaths", "judge_name", "judge_suite", "python_files", "python_functions")
_NOT_THERE: Final = "norecursedirs"


def refuse_narrowed(config: pytest.Config, settings: Settings) -> None:
    """Raise `pytest.UsageError` if the ini file leaves out what that of the revision does not."""
    from pytest_judgesense.earlier.past import ini_at
    from pytest_judgesense.earlier.successors import RecordedThen
    from pytest_judgesense.revisions.revision import Revision

    assert settings.revision is not None, "a revision is the baseline"
    _, own = pytest_options(start_of(config))
    with TemporaryDirectory(prefix="judgesense-revision-") as written:
        folder = Path(written)
        try:
            revision = Revision.read(settings.revision, settings.rootdir)
            then = ini_at(revision, start_of(config), folder)
            left_out = [*narrowed(own, then)]
            if not left_out or not RecordedThen.read(revision, settings.rootdir, folder).of_project:
                return
        except JudgesenseError:
            return  # the checks that compare say why
    error = UsageError(
        f"pytest's ini file leaves out what it did not leave out at {settings.revision}",
        found=listed(left_out),
        expected="the choice of then: what is left out is not compared",
        remedy="type it on the command line, or change it in a separate commit",
    )
    raise usage_error(error)


def start_of(config: pytest.Config) -> Path:
    """The folder from which pytest looks upward for its ini file."""
    if config.inipath and config.getoption("inifilename", None):
        return config.inipath.parent  # it was typed
    invocation = config.invocation_params.dir
    typed = (str(word).partition("::")[0] for word in config.invocation_params.args)
    paths = [invocation / word for word in typed if word and not word.startswith("-")]
    there = [str(path.resolve()) for path in paths if path.exists()]
    if not there:
        return invocation
    start = Path(os.path.commonpath(there))
    return start if start.is_dir() else start.parent


def narrowed(own: Mapping[str, Any], then: Mapping[str, Any]) -> Iterator[str]:
    """What an ini file leaves out that the one of then did not, in the words of the file."""
    before = {*_leaving_words(then)}
    yield from (f"addopts {word}" for word in _leaving_words(own) if word not in before)
    for key in _WHERE:
        words, were = _words(own.get(key, "")), _words(then.get(key, ""))
        if words and not (were and set(words) >= set(were)):
            yield f"{key} = {' '.join(words)}"
    words = _words(own.get(_NOT_THERE, ""))
    if set(words) - set(_words(then.get(_NOT_THERE, ""))):
        yield f"{_NOT_THERE} = {' '.join(words)}"


def _leaving_words(ini: Mapping[str, Any]) -> Iterator[str]:
    """The words of ``addopts`` that leave something out, each with its value."""
    words = _words(ini.get("addopts", ""))
    for place, word in enumerate(words):
        name, _, value = word.partition("=")
        if name in _LEAVING or (name in _CHOOSING and value):
            yield word
        elif word in _CHOOSING:
            yield " ".join(words[place : place + 2])
        elif word[:2] in _CHOOSING and not word.startswith("--"):
            yield word  # as in -kname
        elif _is_of_tests(word) and (place == 0 or words[place - 1] not in _CHOOSING):
            yield word


def _is_of_tests(word: str) -> bool:
    """Whether a word names a file of tests, or a test in it."""
    return not word.startswith("-") and ("::" in word or word.endswith((".suite.toml", ".py")))


def _words(value: Any) -> list[str]:
    """The words of a value: a text, or the list of a TOML file."""
    if not isinstance(value, str):
        return [str(word) for word in value] if isinstance(value, Iterable) else []
    try:
        return shlex.split(value)
    except ValueError:
        return value.split()  # pytest says what is wrong
