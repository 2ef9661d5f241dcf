"""The first look at what is to be imported: enough to tell whose file it is, read once.

Each importer says by it whether a file or a folder is one of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

from pytest_judgesense.errors import JudgesenseError
from pytest_judgesense.files.opening import open_bytes
from pytest_judgesense.files.tables import RowTable, read_document, read_rows

_ARCHIVE: Final = b"PK\x03\x04"
_OF_DOCUMENTS: Final = ("{", "[")
_BEGINNING: Final = 2**10
_OF_FOLDERS: Final = "*.jsonl"
_PACKED_ROWS: Final = (".zip", ".xlsx")


class FirstSight:
    """What stands at a place.

    Attributes:
        path: the place; a part of a file, or a pattern of files, is none of a tool.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.path.is_dir()

    @cached_property
    def document(self) -> Any:
        """The value of a file that is one JSON value; ``None`` for any other."""
        if not self.path.is_file() or self._is_archive or self._begins_otherwise:
            return None
        with suppress(JudgesenseError):
            return read_document(self.path, object, "JSON")
        return None

    @cached_property
    def rows(self) -> RowTable | None:
        """The rows of a file, or of the first file of a folder; ``None`` if it holds none.

        An archive under another name than that of packed rows is a tool's: it is not unpacked.
        """
        file = self.path
        if self.is_folder:
            file = next(iter(sorted(self.path.rglob(_OF_FOLDERS))), self.path)
        if not file.is_file() or (self._is_archive and file.suffix.lower() not in _PACKED_ROWS):
            return None
        with suppress(JudgesenseError):
            return read_rows(file)
        return None

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns of its rows; none without rows."""
        return frozenset(self.rows.columns if self.rows else ())

    @cached_property
    def archive(self) -> frozenset[str]:
        """The names of the files of a ZIP archive; none for any other file."""
        if not self._is_archive:
            return frozenset()
        with suppress(OSError, BadZipFile, ValueError), open_bytes(self.path) as file:
            return frozenset(ZipFile(file).namelist())
        return frozenset()

    def field(self, name: str) -> Any:
        """A field of the document; ``None`` if that is no object, or has none."""
        return self.document.get(name) if isinstance(self.document, Mapping) else None

    @cached_property
    def _begins(self) -> bytes:
        if not self.path.is_file():
            return b""
        with suppress(OSError), open_bytes(self.path) as file:
            return file.read(_BEGINNING)
        return b""

    @property
    def _is_archive(self) -> bool:
        return self._begins.startswith(_ARCHIVE)

    @property
    def _begins_otherwise(self) -> bool:
        """Whether a text begins as no JSON; what is packed may be one."""
        text = self._begins.lstrip(b"\xef\xbb\xbf \t\r\n")
        is_text = text[:1].isascii() and text[:1].decode("ascii", "replace").isprintable()
        return is_text and not text.startswith(tuple(map(str.encode, _OF_DOCUMENTS)))
