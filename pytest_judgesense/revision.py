"""Files as they stood at a revision of a git repository, without checking it out.

Read with ``git ls-tree`` and ``git cat-file``, for those take the bytes of a blob as they are:
``git archive`` runs smudge filters, leaves out what is marked ``export-ignore`` and expands
``export-subst``. Nothing is fetched, nothing in the repository is changed, and no variable of the
environment leads git to another repository.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from pytest_judgesense.errors import UsageError

# Put before the name of a revision, where a file could be named as well.
REVISION: Final = "git:"
_ELSEWHERE: Final = (
    "GIT_DIR",
    "GIT_COMMON_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
)
_TIMEOUT_S: Final = 60
_LINK, _SUBMODULE = "120000", "160000"
_POINTER: Final = b"version https://git-lfs.github.com/spec/"


class NoRevision(UsageError):
    """Git, the repository or the revision is not there, so nothing can be read of it."""


class NoParent(NoRevision):
    """The revision is that before the first commit: there is nothing to compare with."""


@dataclass(frozen=True)
class Revision:
    """A commit of the repository that holds ``folder``.

    Attributes:
        name: the revision as its user wrote it.
        commit: its full id.
        root: the folder at the top of the repository.
    """

    name: str
    commit: str
    root: Path
    _modes: Mapping[str, tuple[str, str]] = field(repr=False)  # (mode, object) by path

    @classmethod
    def read(cls, name: str, folder: Path) -> Revision:
        """The commit that ``name`` means in the repository around ``folder``.

        Raises:
            NoParent: ``name`` asks for the parent of a commit that has none.
            NoRevision: there is no git, no repository, or no such commit; it says what to do.
        """
        root = Path(_output(folder, "rev-parse", "--show-toplevel").decode().rstrip("\n"))
        commit = _commit(name, root)
        listed = _output(root, "ls-tree", "-r", "-z", "--full-tree", commit)
        modes = {}
        for entry in listed.split(b"\0"):
            if entry:
                head, _, path = entry.partition(b"\t")
                mode, _, blob = head.decode().split()
                modes[os.fsdecode(path)] = (mode, blob)
        return cls(name, commit, root, modes)

    def holds(self, path: Path) -> bool:
        """Whether a file stood at this path of the working tree."""
        return self._place(path) in self._modes

    def moved_from(self, path: Path) -> Path | None:
        """Where a file of this name stood that is there no more, if it was one: it was moved."""
        places = [place for place in self._modes if PurePosixPath(place).name == path.name]
        gone = [self.root / place for place in places if not (self.root / place).exists()]
        return gone[0] if len(gone) == 1 else None

    def write(self, paths: Iterable[Path], folder: Path) -> None:
        """Write the files as they stood, at their place below ``folder``.

        Raises:
            NoRevision: one is a link, belongs to a submodule, or is a pointer of Git LFS.
        """
        places = sorted({self._place(path) for path in paths})
        for place, content in zip(places, self._contents(places), strict=True):
            if content.startswith(_POINTER):
                raise NoRevision(
                    f"{place} is a pointer of Git LFS at {self.name}: its content is not in git",
                    expected="a file whose content git holds",
                    remedy="save a baseline instead: pytest --judge-save-baseline PATH, or take "
                    "the file out of LFS (.gitattributes)",
                )
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def place_in(self, folder: Path, path: Path) -> Path:
        """Where `write` puts a file of the working tree."""
        return folder / self._place(path)

    def contains(self, path: Path) -> bool:
        """Whether a path lies within the repository."""
        return _resolved(path).is_relative_to(_resolved(self.root))

    def _place(self, path: Path) -> str:
        if not self.contains(path):
            raise NoRevision(
                f"{path} lies outside the repository {self.root}",
                expected="suites, recordings and judges that are committed together",
                remedy="record into the repository (--judge-cassettes DIR), or save a baseline: "
                "pytest --judge-save-baseline PATH",
            )
        return PurePosixPath(_resolved(path).relative_to(_resolved(self.root))).as_posix()

    def _contents(self, places: Iterable[str]) -> list[bytes]:
        blobs = []
        for place in places:
            mode, blob = self._modes[place]
            if mode in (_LINK, _SUBMODULE):
                what = "a symbolic link" if mode == _LINK else "a submodule"
                raise NoRevision(
                    f"{place} is {what} at {self.name}",
                    expected="a file whose content this repository holds",
                    remedy="save a baseline instead: pytest --judge-save-baseline PATH",
                )
            blobs.append(blob)
        if not blobs:
            return []
        text = "".join(f"{blob}\n" for blob in blobs).encode()
        output = memoryview(_output(self.root, "cat-file", "--batch", given=text))
        contents, start = [], 0
        for _ in blobs:
            end = bytes(output[start : start + 200]).index(b"\n") + start
            size = int(bytes(output[start:end]).split()[2])
            contents.append(bytes(output[end + 1 : end + 1 + size]))
            start = end + 1 + size + 1
        return contents


def _resolved(path: Path) -> Path:
    """The path without links in its folders; its last part may be a link, which git stores."""
    return path.parent.resolve() / path.name if path.name else path.resolve()


def _commit(name: str, root: Path) -> str:
    found = _run(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if found.returncode == 0:
        return found.stdout.decode().strip()
    if _run(root, "rev-parse", "--verify", "--quiet", "HEAD").returncode:
        raise NoParent(f"{root} has no commit yet", expected="a commit to compare with")
    shallow = _output(root, "rev-parse", "--is-shallow-repository").strip() == b"true"
    if name in ("HEAD^", "HEAD~", "HEAD~1", "HEAD^1") and not shallow:
        raise NoParent(f"{name} is not there: HEAD has no parent", expected="an earlier commit")
    raise NoRevision(
        f"there is no revision {name!r} in {root}",
        found="a shallow clone, which holds the newest commits alone" if shallow else "",
        expected="a branch, a tag or a commit of this repository",
        remedy="fetch the history: fetch-depth: 0 in actions/checkout, or git fetch --unshallow"
        if shallow
        else _how_to_fetch(name),
    )


def _how_to_fetch(name: str) -> str:
    """What to do where a name is no revision; a command only where git takes it for a name."""
    short = name.removeprefix("origin/")
    if not re.fullmatch(r"\w[\w./-]*", short, re.ASCII):
        return "name another: git branch --all and git tag list them"
    return f"fetch it (git fetch origin {short}), or name another"


def _output(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    done = _run(folder, *arguments, given=given)
    if done.returncode == 0:
        return done.stdout
    raise NoRevision(
        f"git cannot read the repository of {folder}",
        found=done.stderr.decode("utf-8", "replace").strip() or f"exit {done.returncode}",
        expected="suites and recordings in a git repository",
        remedy="commit them to one (git init), or compare with a file: --judge-baseline PATH",
    )


def _run(folder: Path, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    git = shutil.which("git")
    if git is None:
        raise NoRevision(
            "there is no git on this machine",
            expected="the program git, which reads the revision",
            remedy="install it, or compare with a file: --judge-baseline PATH",
        )
    environment = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    # A clone that leaves objects out would fetch them: nothing here asks the network.
    environment |= {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        return subprocess.run(  # noqa: S603 - git, with arguments that are no options
            [git, "--no-pager", "-C", str(folder), *arguments],
            input=given,
            capture_output=True,
            check=False,
            timeout=_TIMEOUT_S,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        raise NoRevision(
            f"git took longer than {_TIMEOUT_S} s to read {folder}",
            expected="a repository that git can read",
            remedy="compare with a file: --judge-baseline PATH",
        ) from error
