from __future__ import annotations

import os
import shutil
import subprocess
import tracemalloc
from pathlib import Path

import pytest

from pytest_judgesense.revisions.repository import NoRevision
from pytest_judgesense.revisions.revision import NoParent, Revision, newest_versions
from tests.repository import commit, git, remove_object, repository


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = repository(tmp_path / "project")
    (root / "a.txt").write_bytes(b"old\n")
    (root / "sub").mkdir()
    (root / "sub" / "b c.txt").write_bytes(b"in a folder\n")
    commit(root)
    git(root, "tag", "v1")
    (root / "a.txt").write_bytes(b"new\n")
    commit(root)
    return root


def test_files_are_read_as_they_stood(root: Path, tmp_path: Path) -> None:
    (root / "a.txt").write_text("dirty, not committed\n")
    revision = Revision.read("HEAD^", root / "sub")
    assert revision.root == root
    revision.write([root / "a.txt", root / "sub" / "b c.txt"], tmp_path / "then")
    assert (tmp_path / "then" / "a.txt").read_bytes() == b"old\n"
    assert (tmp_path / "then" / "sub" / "b c.txt").read_bytes() == b"in a folder\n"
    assert revision.holds(root / "sub" / "b c.txt")
    assert not revision.holds(root / "c.txt")
    assert Revision.read("v1", root).commit == revision.commit


def test_versions_of_a_file_are_the_commits_that_changed_it(root: Path) -> None:
    (root / "new.txt").write_text("beside it\n")
    commit(root)
    newest, oldest = (git(root, "rev-parse", name).strip() for name in ("HEAD~1", "v1"))
    assert newest_versions(root / "a.txt", 10) == [newest, oldest]
    assert newest_versions(root / "a.txt", 1) == [newest]
    assert newest_versions(root / "sub" / "b c.txt", 10) == [oldest]
    # A name is no pattern.
    assert newest_versions(root / "*.txt", 10) == []


def test_attributes_that_change_an_archive_change_nothing(root: Path, tmp_path: Path) -> None:
    # `git archive` would leave the one out and expand the other.
    (root / ".gitattributes").write_text("a.txt export-ignore\ns.txt export-subst\n")
    (root / "s.txt").write_bytes(b"$Format:%H$\r\n")
    commit(root)
    Revision.read("HEAD", root).write([root / "a.txt", root / "s.txt"], tmp_path / "then")
    assert (tmp_path / "then" / "a.txt").read_bytes() == b"new\n"
    assert (tmp_path / "then" / "s.txt").read_bytes() == b"$Format:%H$\r\n"


def test_a_worktree_and_a_submodule_are_repositories_of_their_own(
    root: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    git(root, "worktree", "add", "-q", str(tree), "v1")
    assert Revision.read("HEAD", tree).root == tree
    outer = repository(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(root), "sub")
    commit(outer)
    assert Revision.read("HEAD", outer / "sub").holds(outer / "sub" / "a.txt")
    with pytest.raises(NoRevision, match="sub is a submodule at HEAD"):
        Revision.read("HEAD", outer).write([outer / "sub"], tmp_path / "then")


def test_a_shallow_clone_says_how_to_fetch(root: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", root.as_uri(), str(clone))
    for name in ("HEAD^", "v1"):
        with pytest.raises(NoRevision, match="no revision") as raised:
            Revision.read(name, clone)
        assert "fetch-depth: 0" in raised.value.remedy
        assert not isinstance(raised.value, NoParent)


def test_before_the_first_commit_there_is_nothing(tmp_path: Path) -> None:
    root = repository(tmp_path / "project")
    with pytest.raises(NoParent, match="has no commit yet"):
        Revision.read("HEAD", root)
    commit(root)
    with pytest.raises(NoParent, match="HEAD has no parent"):
        Revision.read("HEAD^", root)


@pytest.mark.parametrize(
    "name", ["nothing", "--help", "HEAD:a.txt", "", "-c core.pager=x", "^HEAD", "^v1"]
)
def test_what_is_no_commit_is_one_error(root: Path, name: str) -> None:
    with pytest.raises(NoRevision, match="there is no revision") as raised:
        Revision.read(name, root)
    # No command to paste in which git would take the name for something else.
    assert ("git fetch" in str(raised.value)) == (name == "nothing")


def test_what_git_does_not_hold_is_one_error(root: Path, tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"
    (root / "large.jsonl").write_text(pointer)
    (root / "link.jsonl").symlink_to("/etc/hostname")
    commit(root)
    revision = Revision.read("HEAD", root)
    with pytest.raises(NoRevision, match="a pointer of Git LFS"):
        revision.write([root / "large.jsonl"], tmp_path / "then")
    with pytest.raises(NoRevision, match="a symbolic link"):
        revision.write([root / "link.jsonl"], tmp_path / "then")
    with pytest.raises(NoRevision, match="lies outside the repository"):
        revision.holds(tmp_path / "elsewhere.jsonl")


@pytest.fixture
def clone(root: Path, tmp_path: Path) -> Path:
    """A clone that has the branch ``main`` and ``refs/remotes/origin/main``, both at the newest."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", root.as_uri(), str(clone))
    return clone


@pytest.mark.parametrize(
    ("tag", "name", "other"),
    [
        ("main", "main", "refs/heads/main"),
        ("origin/main", "origin/main", "refs/remotes/origin/main"),
        ("origin/main", "origin/main~1", "refs/remotes/origin/main"),
        ("origin", "origin", "refs/remotes/origin/HEAD"),
        ("heads/main", "heads/main", "refs/heads/main"),
        ("remotes/origin/main", "remotes/origin/main", "refs/remotes/origin/main"),
    ],
)
def test_a_name_of_two_things_is_refused_and_both_are_named(
    clone: Path, tag: str, name: str, other: str
) -> None:
    before = Revision.read("HEAD~1", clone).commit
    meant = git(clone, "rev-parse", other).strip()
    assert Revision.read(name, clone).commit == git(clone, "rev-parse", name).strip()
    git(clone, "tag", tag, before)
    with pytest.raises(NoRevision, match="means several things") as raised:
        Revision.read(name, clone)
    assert {f"refs/tags/{tag}", other} == set(raised.value.found.split(", "))
    # Each full name means what it says, the tag's as well.
    assert Revision.read(other, clone).commit == meant
    assert Revision.read(f"refs/tags/{tag}", clone).commit == before


def test_a_tag_called_as_the_start_of_an_id_is_refused(root: Path) -> None:
    newest = Revision.read("HEAD", root).commit
    git(root, "tag", newest[:10], "HEAD^")
    with pytest.raises(NoRevision, match="means several things") as raised:
        Revision.read(newest[:10], root)
    assert raised.value.found == f"refs/tags/{newest[:10]}, {newest}"
    assert Revision.read(newest, root).commit == newest
    assert Revision.read(newest[:9], root).commit == newest


def test_a_tag_takes_the_place_of_no_full_name_and_of_no_head(clone: Path) -> None:
    """Git would find ``refs/tags/refs/...`` where the branch was not fetched."""
    newest = Revision.read("HEAD", clone).commit
    git(clone, "update-ref", "refs/tags/HEAD", "HEAD^")
    git(clone, "tag", "refs/remotes/origin/main", "HEAD^")
    assert Revision.read("HEAD", clone).commit == newest
    assert Revision.read("refs/remotes/origin/main", clone).commit == newest
    git(clone, "update-ref", "-d", "refs/remotes/origin/main")
    assert git(clone, "rev-parse", "--verify", "refs/remotes/origin/main").strip() != newest
    with pytest.raises(NoRevision, match="there is no revision") as raised:
        Revision.read("refs/remotes/origin/main", clone)
    assert "git fetch origin main" in raised.value.remedy


def test_a_branch_beside_which_others_begin_with_its_name_has_one_meaning(clone: Path) -> None:
    git(clone, "branch", "release/1", "HEAD^")
    git(clone, "update-ref", "refs/remotes/origin/main2", "HEAD^")
    newest = git(clone, "rev-parse", "HEAD").strip()
    for name in ("origin/main", "origin", "origin/HEAD", "main@{upstream}", "main^0", "@"):
        assert Revision.read(name, clone).commit == newest
    assert Revision.read("release/1", clone).commit != newest


def cured(clone: Path, error: NoRevision) -> None:
    """Do what the error says; the first command of its remedy."""
    command = error.remedy.partition("fetch them: git ")[2].partition(" (")[0]
    git(clone, *command.split())


def test_a_missing_file_is_one_error_whose_remedy_cures_it(clone: Path, tmp_path: Path) -> None:
    remove_object(clone, "HEAD~1:a.txt")
    revision = Revision.read("HEAD~1", clone)
    with pytest.raises(NoRevision, match="objects of HEAD~1 are missing") as raised:
        revision.write([clone / "a.txt", clone / "sub" / "b c.txt"], tmp_path / "then")
    assert raised.value.found.startswith("a.txt is missing")
    assert not (tmp_path / "then").exists()
    cured(clone, raised.value)
    revision.write([clone / "a.txt"], tmp_path / "then")
    assert (tmp_path / "then" / "a.txt").read_bytes() == b"old\n"


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("HEAD^", "HEAD^"),  # without it, HEAD seems to have no parent
        ("HEAD~1", "HEAD"),
        ("refs/remotes/origin/old", "refs/remotes/origin/old"),
        ("v2", "v2^{}"),
        ("HEAD~1", "HEAD~1^{tree}"),
        ("HEAD~1", "HEAD~1:sub"),
    ],
)
def test_a_missing_commit_or_folder_is_never_nothing_to_compare_with(
    root: Path, tmp_path: Path, name: str, missing: str
) -> None:
    git(root, "tag", "-a", "v2", "-m", "with an object of its own", "v1")
    git(root, "branch", "old", "v1")
    (root / "sub" / "b c.txt").write_text("another, so that the folder is another\n")
    commit(root)
    git(root, "reset", "-q", "--soft", "HEAD~2")
    commit(root)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", root.as_uri(), str(clone))
    whole = Revision.read(name, clone).commit
    remove_object(clone, missing)
    with pytest.raises(NoRevision, match=r"objects of .* are missing") as raised:
        Revision.read(name, clone)
    assert not isinstance(raised.value, NoParent)
    cured(clone, raised.value)
    assert Revision.read(name, clone).commit == whole


@pytest.mark.parametrize("leaving_out", ["blob:none", "tree:0"])
def test_a_partial_clone_fetches_nothing_and_says_how_to(
    root: Path, tmp_path: Path, leaving_out: str
) -> None:
    clone = partial_clone(root, tmp_path / "clone", leaving_out)
    with pytest.raises(NoRevision, match="objects of v1 are missing") as raised:
        Revision.read("v1", clone).write([clone / "a.txt"], tmp_path / "then")
    # What is there of it was not fetched by the question either.
    with pytest.raises(NoRevision):
        Revision.read("v1", clone).write([clone / "a.txt"], tmp_path / "then")
    cured(clone, raised.value)
    Revision.read("v1", clone).write([clone / "a.txt"], tmp_path / "then")
    assert (tmp_path / "then" / "a.txt").read_bytes() == b"old\n"


def partial_clone(root: Path, clone: Path, leaving_out: str) -> Path:
    git(root, "config", "uploadpack.allowFilter", "true")
    git(clone.parent, "clone", "-q", f"--filter={leaving_out}", root.as_uri(), str(clone))
    return clone


def test_a_git_that_knows_no_other_way_runs_nothing_to_fetch(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Older ones start a fetch, which a configuration gives a program; no protocol is allowed."""
    clone = partial_clone(root, tmp_path / "clone", "blob:none")
    marker, programs = tmp_path / "ran", tmp_path / "programs"
    git(clone, "config", "remote.origin.uploadpack", f"touch {marker}; git-upload-pack")
    programs.mkdir()
    old = programs / "git"
    old.write_text(f'#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec {shutil.which("git")} "$@"\n')
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    with pytest.raises(NoRevision, match="objects of v1 are missing"):
        Revision.read("v1", clone).write([clone / "a.txt"], tmp_path / "then")
    assert not marker.exists()
    # Left alone it fetches, by that program.
    git(clone, "cat-file", "blob", "v1:a.txt")
    assert marker.exists()


def test_a_file_is_not_read_that_is_too_large(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, programs = tmp_path / "log", tmp_path / "programs"
    programs.mkdir()
    logged = programs / "git"
    logged.write_text(f'#!/bin/sh\necho "$@" >>{log}\nexec {shutil.which("git")} "$@"\n')
    logged.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    revision = Revision.read("HEAD", root)
    # `new` and a line end have 4 bytes, the text in the folder 12.
    monkeypatch.setenv("JUDGESENSE_LIMITS", "file_bytes=4")
    paths = [root / "a.txt", root / "sub" / "b c.txt"]
    with pytest.raises(NoRevision, match=r"sub/b c\.txt is too large at HEAD") as raised:
        revision.write(paths, tmp_path / "then")
    assert raised.value.found == "12 bytes"
    assert "JUDGESENSE_LIMITS=file_bytes=" in raised.value.remedy
    assert "cat-file blob" not in log.read_text()
    revision.write(paths[:1], tmp_path / "then")
    assert (tmp_path / "then" / "a.txt").read_bytes() == b"new\n"
    assert "cat-file blob" in log.read_text()


def test_a_file_passes_through_no_memory(root: Path, tmp_path: Path) -> None:
    size = 8 * 2**20
    (root / "large.bin").write_bytes(b"x" * size)
    commit(root)
    revision = Revision.read("HEAD", root)
    tracemalloc.start()
    try:
        revision.write([root / "large.bin"], tmp_path / "then")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (tmp_path / "then" / "large.bin").stat().st_size == size
    # What git says of it, buffers of a file and of a process: far below one content.
    assert peak < size / 8


def test_an_object_is_what_its_id_says(root: Path, tmp_path: Path) -> None:
    """A replacement of objects is fetched with ``refs/replace/*``, as a branch is."""
    git(root, "replace", git(root, "rev-parse", "HEAD").strip(), "HEAD^")
    git(root, "replace", git(root, "rev-parse", "HEAD:a.txt").strip(), "v1:sub/b c.txt")
    Revision.read("main", root).write([root / "a.txt"], tmp_path / "then")
    assert (tmp_path / "then" / "a.txt").read_bytes() == b"new\n"


@pytest.mark.parametrize("name", ["HEAD\0", "x" * 200_000])
def test_a_name_that_no_program_can_be_given_is_one_error(root: Path, name: str) -> None:
    """The system takes 128 KiB of an argument."""
    with pytest.raises(NoRevision, match="git cannot be asked"):
        Revision.read(name, root)


def test_a_branch_without_a_commit_beside_others_has_something_to_compare_with(
    root: Path,
) -> None:
    git(root, "checkout", "-q", "--orphan", "new")
    with pytest.raises(NoRevision, match="there is no revision") as raised:
        Revision.read("HEAD", root)
    assert not isinstance(raised.value, NoParent)


def test_nothing_is_run_by_the_repository(root: Path, tmp_path: Path) -> None:
    """Filters, monitors and pagers of a repository's configuration stay asleep."""
    marker = tmp_path / "ran"
    for key in (
        "core.fsmonitor",
        "core.pager",
        "filter.x.smudge",
        "diff.x.textconv",
        "core.editor",
        "core.sshCommand",
        "core.alternateRefsCommand",
        "alias.rev-parse",
    ):
        git(root, "config", key, f"touch {marker}; cat")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {marker}\n")
        (hooks / name).chmod(0o755)
    git(root, "config", "core.hooksPath", str(hooks))
    (root / ".gitattributes").write_text("* filter=x diff=x\n")
    subprocess.run(["git", "-C", str(root), "config", "filter.x.clean", "cat"], check=True)
    commit(root)
    marker.unlink(missing_ok=True)  # the commit itself may have run some
    Revision.read("HEAD", root).write([root / "a.txt"], tmp_path / "then")
    assert not marker.exists()
