"""Packs suites, recordings, templates, pages and schemas into one file of the wheel.

pytest reads the list of an installation's files at every start, so a wheel of few files starts
sooner. An editable install reads the checkout and needs no archive.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDERS = ("suites", "cassettes", "templates", "docs/measures", "docs/schemas")
# What `judgesense explain` shows besides the pages of measures and those that it makes of the
# schemas: `PAGES` of suites/builtin.py.
PAGES = (
    "docs/howto/drift.md",
    "docs/early-stopping.md",
    "docs/extending.md",
    "docs/juries.md",
    "docs/howto/migrate.md",
    "docs/howto/panel.md",
    "docs/howto/rubric.md",
)


class DataArchive(BuildHookInterface):
    """Adds ``pytest_judgesense/data.zip`` to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        self._folder = tempfile.TemporaryDirectory()
        archive = Path(self._folder.name) / "data.zip"
        with ZipFile(archive, "w", ZIP_DEFLATED) as packed:
            packed_files = [p for name in FOLDERS for p in (root / name).rglob("*")]
            for path in sorted([*packed_files, *(root / page for page in PAGES)]):
                if path.is_file() and not path.name.startswith("."):
                    # Without the file's own date: the same data are the same archive.
                    info = ZipInfo(path.relative_to(root).as_posix())
                    info.compress_type = ZIP_DEFLATED
                    packed.writestr(info, path.read_bytes())
        build_data["force_include"][str(archive)] = "pytest_judgesense/data.zip"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._folder.cleanup()
