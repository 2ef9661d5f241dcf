"""Which files an import wrote, so that the same import with another option may write them again.

A hidden file beside it holds a digest of the sources and of what was written. Once a file holds
anything else, such as recordings that were added, it is nobody's to replace.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from pytest_judgesense.files.opening import read_bytes
from pytest_judgesense.files.output import replace_text


def note_written(path: Path, content: bytes, sources: Iterable[Path]) -> None:
    """Note that a file was written from some sources.

    Args:
        path: the file.
        content: all of it.
        sources: the files and folders that were imported.

    Raises:
        OSError: the note cannot be written.
    """
    replace_text(_note_of(path), f"{_digest(content, sources)}\n")


def was_written_from(path: Path, sources: Iterable[Path]) -> bool:
    """Whether a file holds what was written from the same sources, and nothing else."""
    note = _note_of(path)
    if not note.is_file():
        return False
    return read_bytes(note).decode("utf-8", "replace").strip() == _digest(read_bytes(path), sources)


def _note_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.imported")


def _digest(content: bytes, sources: Iterable[Path]) -> str:
    digest = sha256(content)
    for source in sources:
        digest.update(b"\0" + str(source.resolve()).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
