"""A git repository of a test, with its own identity and no configuration of the machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        env=os.environ | ENVIRONMENT,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    return folder


def commit(folder: Path, message: str = "a commit") -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)


def remove_object(folder: Path, name: str) -> None:
    """Take an object, named as for ``git rev-parse``, out of a repository that holds it."""
    id_ = git(folder, "rev-parse", name).strip()
    objects = folder / ".git" / "objects"
    packs = [path.rename(folder / path.name) for path in (objects / "pack").glob("*.pack")]
    for pack in packs:
        with pack.open("rb") as content:
            command = ["git", "-C", str(folder), "unpack-objects", "-q"]
            subprocess.run(command, stdin=content, check=True)
        pack.unlink()
    for index in (objects / "pack").iterdir():
        index.unlink()
    (objects / id_[:2] / id_[2:]).unlink()
