from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_judgesense.revisions.repository import NoRevision, Repository, top_of
from tests.repository import commit, git, repository


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = repository(tmp_path / "project")
    (root / "sub").mkdir()
    (root / "sub" / "a.txt").write_text("mine\n")
    commit(root)
    return root


def newest(repository: Repository) -> str:
    (commit,) = repository.lines("rev-parse", "--verify", "HEAD")
    return commit


def lay_a_repository_into(folder: Path, other: Path, configuration: str) -> None:
    """What a branch can hold: the files of git's own folder, under any name but ``.git``."""
    for name in ("HEAD", "objects", "refs"):
        source = other / ".git" / name
        copy: Callable[[Path, Path], object] = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)
    (folder / "config").write_text(configuration)


@pytest.mark.parametrize("at", ["sub", "."])
@pytest.mark.parametrize(
    "configuration",
    [
        "[core]\n\tbare = true\n",
        "[core]\n\tbare = false\n\tworktree = .\n",
        "[core]\n\trepositoryformatversion = 9\n",
    ],
)
def test_files_of_a_branch_become_no_repository(
    root: Path, tmp_path: Path, at: str, configuration: str
) -> None:
    other = repository(tmp_path / "other")
    commit(other, "of an attacker")
    mine = newest(Repository.around(root))
    lay_a_repository_into(root / at, other, configuration)
    git(root, "add", "-A")  # git itself takes them for files of the project
    for folder in (root, root / "sub"):
        around = Repository.around(folder)
        assert around.root == root
        assert newest(around) == mine


def test_beside_a_broken_repository_they_are_none_either(root: Path, tmp_path: Path) -> None:
    inner = root / "sub"
    lay_a_repository_into(inner, root, "[core]\n\tbare = false\n\tworktree = .\n")
    (inner / ".git").mkdir()
    with pytest.raises(NoRevision, match="git cannot read the repository") as raised:
        Repository.around(inner)
    # Neither that which lies there nor the one around it.
    assert str(inner) in str(raised.value)


def test_a_worktree_and_a_submodule_are_repositories_of_their_own(
    root: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    git(root, "worktree", "add", "-q", str(tree))
    assert Repository.around(tree / "sub").root == tree
    outer = repository(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(root), "in")
    commit(outer)
    inner = Repository.around(outer / "in" / "sub")
    assert inner.root == outer / "in"
    assert newest(inner) == newest(Repository.around(root))
    assert newest(inner) != newest(Repository.around(outer))


def test_a_bare_mirror_is_one_error_and_a_worktree_of_it_is_read(
    root: Path, tmp_path: Path
) -> None:
    mirror, tree = tmp_path / "mirror.git", tmp_path / "tree"
    git(tmp_path, "clone", "-q", "--mirror", root.as_uri(), str(mirror))
    with pytest.raises(NoRevision, match="is in no working tree of git") as raised:
        Repository.around(mirror)
    assert "git worktree add" in raised.value.remedy
    git(mirror, "worktree", "add", "-q", str(tree), "main")
    assert newest(Repository.around(tree)) == newest(Repository.around(root))


def test_a_link_is_followed_to_the_repository_that_holds_the_folder(
    root: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(root / "sub")
    assert Repository.around(link).root == top_of(link) == root


def test_no_repository_and_no_git_are_one_error(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(NoRevision, match="plain is in no working tree of git"):
        Repository.around(plain)
    monkeypatch.setenv("PATH", str(plain))
    with pytest.raises(NoRevision, match="there is no git"):
        Repository.around(root)


def test_what_git_refuses_to_read_is_said_in_its_words(root: Path) -> None:
    git(root, "config", "core.repositoryFormatVersion", "9")
    with pytest.raises(NoRevision, match="git cannot read the repository") as raised:
        Repository.around(root)
    assert "Expected git repo version <= 1, found 9" in raised.value.found


def test_a_hook_s_variables_lead_to_no_other_repository(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = repository(tmp_path / "other")
    commit(other, "another")
    mine = newest(Repository.around(root))
    empty = tmp_path / "empty"
    empty.mkdir()
    for name, value in {
        "GIT_DIR": other / ".git",
        "GIT_WORK_TREE": other,
        "GIT_INDEX_FILE": other / ".git" / "index",
        "GIT_COMMON_DIR": empty,
        "GIT_OBJECT_DIRECTORY": empty,
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": empty,
        "GIT_SHALLOW_FILE": other / ".git" / "HEAD",
        "GIT_CEILING_DIRECTORIES": root.parent,
        "GIT_NAMESPACE": "other",
    }.items():
        monkeypatch.setenv(name, str(value))
    assert newest(Repository.around(root / "sub")) == mine


def test_the_user_s_configuration_in_the_environment_counts_and_ours_stands_above_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Containers allow a repository of another owner so: ``safe.directory``."""
    monkeypatch.setenv("GIT_CONFIG_COUNT", "2")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(root))
    monkeypatch.setenv("GIT_CONFIG_KEY_1", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_1", "true")
    around = Repository.around(root)
    assert around.lines("config", "--get-all", "safe.directory") == [str(root)]
    assert around.lines("config", "core.fsmonitor") == ["false"]


def test_a_hook_of_git_reads_the_repository_that_it_runs_in(root: Path, tmp_path: Path) -> None:
    """In a worktree, where git sets ``GIT_DIR`` and ``GIT_INDEX_FILE`` for it."""
    tree, said = tmp_path / "tree", tmp_path / "said"
    git(root, "worktree", "add", "-q", str(tree))
    program, hook = tmp_path / "hook.py", root / ".git" / "hooks" / "pre-commit"
    program.write_text(
        "import os, sys\n"
        "from pathlib import Path\n"
        "from pytest_judgesense.revisions.repository import Repository\n"
        "root = Repository.around(Path.cwd()).root\n"
        "Path(sys.argv[1]).write_text(os.environ['GIT_INDEX_FILE'] + ' ' + str(root))\n"
    )
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nexec {sys.executable} {program} {said}\n")
    hook.chmod(0o755)
    (tree / "sub" / "a.txt").write_text("changed\n")
    commit(tree)
    index, top = said.read_text().split()
    assert index.startswith(str(root / ".git" / "worktrees"))
    assert top == str(tree)
