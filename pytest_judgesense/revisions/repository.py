"""Git, asked about the repository around a folder; nothing is fetched, and no branch obeyed.

The repository is that of the nearest folder, at the given one or above, that holds ``.git``: a
folder, or in a worktree and a submodule a file. Git tracks nothing under that name. Left to itself
it takes a folder with ``HEAD``, ``objects`` and ``refs`` for a repository, and obeys the
``config`` beside them; a branch can hold files of these names.

Only questions are put that run nothing, whatever a configuration says: no filters, hooks, pagers
or drivers of diffs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Self

from pytest_judgesense.errors import UsageError

_TIMEOUT_S: Final = 60
# No repository that merely lies there, no monitor of files, and objects as their ids say.
_OPTIONS: Final = (
    "--no-pager",
    "--no-replace-objects",
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "core.fsmonitor=false"),
)
# Of git's variables the user's configuration alone (`safe.directory` often stands there), and where
# git is installed. A hook sets others for the repository that it runs in: they lead elsewhere.
_KEPT: Final = ("GIT_CONFIG_", "GIT_EXEC_PATH")

_SERVER: Final = "refs/remotes/origin/"
_USUAL_BRANCHES: Final = ("main", "master")


class NoRevision(UsageError):
    """Git, the repository or the revision is not there, so nothing can be read of it."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository with a working tree.

    Attributes:
        root: the folder at the top of the working tree, without links.
        is_shallow: whether it is a clone of the newest commits alone.
    """

    root: Path
    is_shallow: bool

    @classmethod
    def around(cls, folder: Path) -> Self:
        """The repository whose working tree holds ``folder``.

        Raises:
            NoRevision: there is none, there is no git, or git refuses to read it.
        """
        root = top_of(folder)
        if root is None:
            raise NoRevision(
                f"{folder} is in no working tree of git",
                found="no .git there, nor in a folder above",
                expected="suites and recordings in a working tree; a bare repository has none",
                remedy="commit them to a repository (git init; of a bare one: git worktree add), "
                "or compare with a file: --judge-baseline PATH",
            )
        return cls(root, _read(root, ("rev-parse", "--is-shallow-repository")) == ["true"])

    def ask(self, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """What git answers to these arguments, whatever its exit code, with ``given`` as input.

        Raises:
            NoRevision: git cannot be asked, or does not answer in time.
        """
        return _run(self.root, arguments, given)

    def copy_blob(self, blob: str, path: Path) -> subprocess.CompletedProcess[bytes]:
        """Write the content of a file, by its id, to a path; returns git's answer without it.

        It passes through no memory of this process, however large it is.

        Raises:
            NoRevision: git cannot be asked, or does not answer in time.
            OSError: the path cannot be written.
        """
        with path.open("wb") as file:
            return _run(self.root, ("cat-file", "blob", blob), content=file)

    def lines(self, *arguments: str) -> list[str]:
        """The lines that git answers to arguments that every repository can answer.

        Raises:
            NoRevision: git does not answer; as `around`.
        """
        return _read(self.root, arguments)


def top_of(folder: Path) -> Path | None:
    """The top of the working tree that holds ``folder``, if one does."""
    place = folder.resolve()
    return next((top for top in (place, *place.parents) if (top / ".git").exists()), None)


def default_branch(folder: Path) -> str:
    """The branch that others are merged into, as far as git knows it.

    What the server said of its own, when it was cloned; else the usual names (that of the user's
    configuration before ``main`` and ``master``), the first that is a branch here or at the server;
    else the branch that is checked out; else the name that the user's configuration gives.
    """
    top = top_of(folder)
    try:
        usual = _first_line(top or folder.resolve(), "config", "--get", "init.defaultBranch")
        if top is None:
            return usual or _USUAL_BRANCHES[0]
        if cloned := _first_line(top, "symbolic-ref", "--short", f"{_SERVER}HEAD"):
            return cloned.partition("/")[2]
        for branch in dict.fromkeys((*([usual] if usual else []), *_USUAL_BRANCHES)):
            for place in (_SERVER, "refs/heads/"):
                if _first_line(top, "rev-parse", "--verify", "--quiet", f"{place}{branch}"):
                    return branch
        here = _first_line(top, "symbolic-ref", "--short", "HEAD")
        return here or usual or _USUAL_BRANCHES[0]
    except NoRevision:
        return _USUAL_BRANCHES[0]


def _first_line(folder: Path, *arguments: str) -> str:
    """The first line of what git answers; empty where it does not."""
    answer = _run(folder, arguments)
    if answer.returncode:
        return ""
    return os.fsdecode(answer.stdout).partition("\n")[0]


def said(answer: subprocess.CompletedProcess[bytes]) -> str:
    """What git said of a question that it did not answer."""
    return answer.stderr.decode("utf-8", "replace").strip() or f"exit {answer.returncode}"


def _read(root: Path, arguments: tuple[str, ...]) -> list[str]:
    answer = _run(root, arguments)
    if answer.returncode:
        raise NoRevision(
            f"git cannot read the repository {root}",
            found=said(answer),
            expected="a repository that git reads as this user",
            remedy="do what git says, or compare with a file: --judge-baseline PATH",
        )
    return os.fsdecode(answer.stdout).split("\n")[:-1]  # each line has an end


def _environment(root: Path) -> dict[str, str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_KEPT)
    }
    return inherited | {
        # The repository is at the root, or there is none.
        "GIT_CEILING_DIRECTORIES": str(root.parent),
        # A clone that leaves objects out would fetch them. Versions that know no other way find
        # that no protocol is allowed, before they run what a configuration names.
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }


def _run(
    root: Path,
    arguments: tuple[str, ...],
    given: bytes = b"",
    content: BinaryIO | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """What git answers; with ``content`` that file receives what it writes."""
    git = shutil.which("git")
    if git is None:
        raise NoRevision(
            "there is no git on this machine",
            expected="the program git, which reads the revision",
            remedy="install it, or compare with a file: --judge-baseline PATH",
        )
    try:
        return subprocess.run(  # noqa: S603 - git, with arguments that are no options
            [git, *_OPTIONS, "-C", str(root), *arguments],
            input=given,
            stdout=subprocess.PIPE if content is None else content,
            stderr=subprocess.PIPE,
            check=False,
            timeout=_TIMEOUT_S,
            env=_environment(root),
        )
    except subprocess.TimeoutExpired as error:
        raise NoRevision(
            f"git took longer than {_TIMEOUT_S} s to read {root}",
            expected="a repository that git can read",
            remedy="compare with a file: --judge-baseline PATH",
        ) from error
    except (
        OSError,
        ValueError,
    ) as error:  # a name of many thousand characters, or with a zero byte
        raise NoRevision(
            "git cannot be asked",
            found=str(error),
            expected="a program that starts, and a name that git may have",
            remedy="name another revision, or compare with a file: --judge-baseline PATH",
        ) from error
