"""Files as they stood at a revision of a git repository, without checking it out.

Read with ``git ls-tree`` and ``git cat-file``, for those take the bytes of a blob as they are:
``git archive`` runs smudge filters, leaves out what is marked ``export-ignore`` and expands
``export-subst``. A name has one meaning or is refused: git would take a tag ``origin/main`` for the
branch of that name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from pytest_judgesense.errors import listed
from pytest_judgesense.files.limits import beyond, limits
from pytest_judgesense.revisions.repository import NoRevision, Repository, said

# Put before the name of a revision, where a file could be named as well.
REVISION: Final = "git:"
_LINK, _SUBMODULE = "120000", "160000"
_POINTER: Final = b"version https://git-lfs.github.com/spec/"
_PARENTS: Final = ("HEAD^", "HEAD~", "HEAD~1", "HEAD^1")
# Where git looks for a name, by gitrevisions(7).
_PLACES: Final = (
    "refs/{}",
    "refs/tags/{}",
    "refs/heads/{}",
    "refs/remotes/{}",
    "refs/remotes/{}/HEAD",
)
# What follows a name: its parents, its reflog, a path in it.
_SUFFIX: Final = re.compile(r"[\^~:]|@\{")
# A whole id has 40 digits or 64, and means its object whatever else is called so.
_ABBREVIATION: Final = re.compile(r"[0-9a-fA-F]{4,39}")


class NoParent(NoRevision):
    """The revision is that before the first commit: there is nothing to compare with."""


@dataclass(frozen=True)
class Revision:
    """A commit of the repository whose working tree holds a folder.

    Attributes:
        name: the revision as its user wrote it.
        commit: its full id.
    """

    name: str
    commit: str
    _repository: Repository = field(repr=False)
    _modes: Mapping[str, tuple[str, str]] = field(repr=False)  # (mode, object) by path

    @classmethod
    def read(cls, name: str, folder: Path) -> Revision:
        """The commit that ``name`` means in the repository around ``folder``.

        Raises:
            NoParent: ``name`` asks for the parent of a commit that has none.
            NoRevision: there is no git, no repository, no such commit or more than one, or objects
                of it are missing; it says what to do.
        """
        repository = Repository.around(folder)
        commit = _commit(name, repository)
        answer = repository.ask("ls-tree", "-r", "-z", "--full-tree", commit)
        if answer.returncode:
            raise _incomplete(name, repository, said(answer))
        modes = {}
        for entry in answer.stdout.split(b"\0"):
            if entry:
                head, _, path = entry.partition(b"\t")
                mode, _, blob = head.decode().split()
                modes[os.fsdecode(path)] = (mode, blob)
        return cls(name, commit, repository, modes)

    @property
    def root(self) -> Path:
        """The folder at the top of the working tree."""
        return self._repository.root

    @property
    def is_checked_out(self) -> bool:
        """Whether it is the commit of ``HEAD``, by whatever name."""
        return _id("HEAD^{commit}", self._repository) == self.commit

    def holds(self, path: Path) -> bool:
        """Whether a file stood at this path of the working tree."""
        return self._place(path) in self._modes

    @property
    def files(self) -> list[Path]:
        """All files that stood there, as paths of the working tree."""
        return [self.root / place for place in self._modes]

    def moved_from(self, path: Path) -> Path | None:
        """Where a file of this name stood that is there no more, if it was one: it was moved."""
        places = [place for place in self._modes if PurePosixPath(place).name == path.name]
        gone = [self.root / place for place in places if not (self.root / place).exists()]
        return gone[0] if len(gone) == 1 else None

    def write(self, paths: Iterable[Path], folder: Path) -> None:
        """Write the files as they stood, at their place below ``folder``.

        Raises:
            NoRevision: one is a link, belongs to a submodule, is a pointer of Git LFS, is larger
                than ``file_bytes``, or is missing in the repository.
        """
        blobs = {place: self._blob(place) for place in sorted({*map(self._place, paths)})}
        self._check_sizes(blobs)
        for place, blob in blobs.items():
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write_content(place, blob, path)

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

    def _blob(self, place: str) -> str:
        """The id of the content of a file."""
        mode, blob = self._modes[place]
        if mode in (_LINK, _SUBMODULE):
            what = "a symbolic link" if mode == _LINK else "a submodule"
            raise NoRevision(
                f"{place} is {what} at {self.name}",
                expected="a file whose content this repository holds",
                remedy="save a baseline instead: pytest --judge-save-baseline PATH",
            )
        return blob

    def _check_sizes(self, blobs: Mapping[str, str]) -> None:
        """Refuse contents that are missing or too large before one is read."""
        ids = "".join(f"{blob}\n" for blob in blobs.values())
        # A line each: its id, its kind and its size, or its id and `missing`.
        answer = self._repository.ask("cat-file", "--batch-check", given=ids.encode())
        if answer.returncode:
            raise _incomplete(self.name, self._repository, said(answer))
        for place, line in zip(blobs, answer.stdout.decode().splitlines(), strict=True):
            size = line.split()[-1]
            if size == "missing":
                raise _incomplete(self.name, self._repository, f"{place} is missing ({line})")
            if int(size) > limits().file_bytes:
                fault = f"{place} is too large at {self.name}"
                raise beyond(NoRevision, fault, "file_bytes", f"{size} bytes")

    def _write_content(self, place: str, blob: str, path: Path) -> None:
        answer = self._repository.copy_blob(blob, path)
        if answer.returncode:
            raise _incomplete(self.name, self._repository, said(answer))
        with path.open("rb") as file:
            is_pointer = file.read(len(_POINTER)) == _POINTER
        if is_pointer:
            raise NoRevision(
                f"{place} is a pointer of Git LFS at {self.name}: its content is not in git",
                expected="a file whose content git holds",
                remedy="save a baseline instead: pytest --judge-save-baseline PATH, or take "
                "the file out of LFS (.gitattributes)",
            )


def newest_versions(path: Path, most: int) -> list[str]:
    """The newest commits that changed the file at a path, ``most`` of them, the newest first.

    Raises:
        NoRevision: there is no git, no repository or no commit; it says what to do.
    """
    repository = Repository.around(path.parent)
    place = _resolved(path).relative_to(repository.root).as_posix()
    # Plumbing: no setting of a log decides what is shown, and no program of one is run.
    answer = repository.ask(
        "--literal-pathspecs", "rev-list", f"--max-count={most}", "HEAD", "--", place
    )
    if answer.returncode:
        raise NoRevision(
            f"{path} has no version in {repository.root}",
            found=said(answer),
            expected="a commit that holds it",
        )
    return answer.stdout.decode().split()


def _resolved(path: Path) -> Path:
    """The path without links in its folders; its last part may be a link, which git stores."""
    return path.parent.resolve() / path.name if path.name else path.resolve()


def _commit(name: str, repository: Repository) -> str:
    """The id of the commit that ``name`` means, which the repository holds."""
    meanings = _meanings(_SUFFIX.split(name)[0], repository)
    if len(meanings) > 1:
        raise NoRevision(
            f"{name!r} means several things in {repository.root}",
            found=listed(meanings),
            expected="the name of one branch, tag or commit",
            remedy=f"write the one that is meant in full: {REVISION}{meanings[-1]}",
        )
    # Git would go on to look for a tag that is called refs/...
    is_there = bool(meanings) or not name.startswith("refs/")
    commit = _id(f"{name}^{{commit}}", repository) if is_there else None
    if commit is None:
        raise _no_commit(name, repository)
    return commit


def _meanings(name: str, repository: Repository) -> list[str]:
    """The references that git could take for ``name``, and objects whose id begins so.

    None for a whole id and for ``HEAD``, which stand before all others.
    """
    if name in ("", "@", "HEAD"):
        return []
    places = [name] if name.startswith("refs/") else [place.format(name) for place in _PLACES]
    # A pattern also lists what lies below it.
    stored = repository.lines("for-each-ref", "--format=%(refname)", "--", *places)
    references = [place for place in places if place in stored]
    if references and _ABBREVIATION.fullmatch(name):
        return [*references, *repository.lines("rev-parse", f"--disambiguate={name}")]
    return references


def _id(name: str, repository: Repository) -> str | None:
    """The id that ``name`` stands for; git may not hold its object."""
    if name.startswith("^"):
        return None  # everything but that
    answer = repository.ask("rev-parse", "--verify", "--quiet", "--end-of-options", name)
    return answer.stdout.decode().strip() if answer.returncode == 0 else None


def _no_commit(name: str, repository: Repository) -> NoRevision:
    """The error for a name that stands for no commit that is there."""
    root, shallow = repository.root, repository.is_shallow
    if _has_no_commit(repository):
        return NoParent(f"{root} has no commit yet", expected="a commit to compare with")
    # What has no parent is known where the commit itself is there.
    if _lacks_object(name, repository) or (name in _PARENTS and _lacks_object("HEAD", repository)):
        return _incomplete(name, repository, "its commit is missing")
    if name in _PARENTS and not shallow:
        return NoParent(f"{name} is not there: HEAD has no parent", expected="an earlier commit")
    return NoRevision(
        f"there is no revision {name!r} in {root}",
        found="a shallow clone, which holds the newest commits alone" if shallow else "",
        expected="a branch, a tag or a commit of this repository",
        remedy="fetch the history: fetch-depth: 0 in actions/checkout, or git fetch --unshallow"
        if shallow
        else _how_to_fetch(name),
    )


def _has_no_commit(repository: Repository) -> bool:
    return _id("HEAD", repository) is None and not repository.lines("for-each-ref")


def _lacks_object(name: str, repository: Repository) -> bool:
    """Whether git knows which object a name means, and does not hold it.

    Of a whole id nobody knows whether there is such an object.
    """
    meant = _id(name, repository)
    if meant in (None, name.lower()):
        return False
    return repository.ask("cat-file", "-e", f"{meant}^{{}}").returncode != 0


def _incomplete(name: str, repository: Repository, missing: str) -> NoRevision:
    """The error for a revision of which the repository does not hold everything.

    Of what git said the last line counts: warnings stand before it.
    """
    return NoRevision(
        f"objects of {name} are missing in {repository.root}",
        found=missing.splitlines()[-1],
        expected="a clone that holds the files of the revision: nothing is fetched meanwhile",
        remedy="fetch them: git fetch --refetch --no-filter origin (git 2.36 or newer), or clone "
        "without --filter (actions/checkout: without filter and sparse-checkout)",
    )


def _how_to_fetch(name: str) -> str:
    """What to do where a name is no revision; a command only where git takes it for a name."""
    short = name.removeprefix("refs/remotes/").removeprefix("origin/")
    if not re.fullmatch(r"\w[\w./-]*", short, re.ASCII):
        return "name another: git branch --all and git tag list them"
    return f"fetch it (git fetch origin {short}), or name another"
