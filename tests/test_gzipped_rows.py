"""The size of gzipped tables."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from pytest_judgesense.errors import LogError
from pytest_judgesense.files.tables import read_rows


@pytest.mark.parametrize("size", [100, 101])
def test_a_gzipped_table_has_the_limit_of_a_plain_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setenv("JUDGESENSE_LIMITS", "file_bytes=100")
    path = tmp_path / "t.csv.gz"
    # A head of 3 bytes and a cell with its line break.
    path.write_bytes(gzip.compress(b"id\n" + b"x" * (size - 4) + b"\n"))
    if size == 100:
        assert [row.value["id"] for row in read_rows(path)] == ["x" * 96]
    else:
        with pytest.raises(LogError, match="holds too much"):
            list(read_rows(path))
