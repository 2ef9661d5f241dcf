from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_judgesense.revision import NoParent, NoRevision, Revision
from tests.repository import commit, git, repository


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


def test_attributes_that_change_an_archive_change_nothing(root: Path, tmp_path: Path) -> None:
    # `git archive` would leave the one out and expand the other.
    (root / ".gitattributes").write_text("a.txt export-ignore\ns.txt export-subst\n")
    (root / "s.txt").write_bytes(b"$Format:%H$\r\n")
    commit(root)
    Revision.read("HEAD", root).write([root / "a.txt", root / "s.txt"], tmp_path / "then")
    assert (tmp_path / "then" / "a.txt").read_bytes() == b"new\n"
    assert (tmp_path / "then" / "s.txt").read_bytes() == b"$Format:%H$\r\n"


def test_the_environment_leads_to_no_other_repository(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in a hook of git, which sets these for the repository that it runs in.
    other = repository(tmp_path / "other")
    commit(other)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    monkeypatch.setenv("GIT_COMMON_DIR", str(tmp_path / "none"))
    assert Revision.read("HEAD", root).holds(root / "a.txt")


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


@pytest.mark.parametrize("name", ["nothing", "--help", "HEAD:a.txt", "", "-c core.pager=x"])
def test_what_is_no_commit_is_one_error(root: Path, name: str) -> None:
    with pytest.raises(NoRevision, match="there is no revision") as raised:
        Revision.read(name, root)
    # No command to paste in which git would take the name for something else.
    assert ("git fetch" in str(raised.value)) == (name == "nothing")


def test_no_repository_and_no_git_are_one_error(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(NoRevision, match="git cannot read"):
        Revision.read("HEAD", plain)
    monkeypatch.setenv("PATH", str(plain))
    with pytest.raises(NoRevision, match="there is no git"):
        Revision.read("HEAD", root)


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


def test_nothing_is_run_by_the_repository(root: Path, tmp_path: Path) -> None:
    """Filters, monitors and pagers of a repository's configuration stay asleep."""
    marker = tmp_path / "ran"
    for key in (
        "core.fsmonitor",
        "core.pager",
        "filter.x.smudge",
        "diff.x.textconv",
        "core.editor",
    ):
        git(root, "config", key, f"touch {marker}; cat")
    (root / ".gitattributes").write_text("* filter=x diff=x\n")
    subprocess.run(["git", "-C", str(root), "config", "filter.x.clean", "cat"], check=True)
    commit(root)
    marker.unlink(missing_ok=True)  # the commit itself may have run some
    Revision.read("HEAD", root).write([root / "a.txt"], tmp_path / "then")
    assert not marker.exists()
