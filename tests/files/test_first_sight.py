"""The first look at a file: what it is, whatever it is called."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from pytest_judgesense.files.first_sight import FirstSight


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_document_is_known_packed_or_not() -> None:
    text = json.dumps({"results": {"results": []}})
    Path("plain.json").write_text(f"\ufeff {text}", encoding="utf-8")
    Path("packed.json.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("plain.json", "packed.json.gz"):
        assert FirstSight(Path(name)).field("results") == {"results": []}
    assert FirstSight(Path("plain.json")).field("other") is None


def test_rows_have_columns_and_are_no_document() -> None:
    Path("t.csv").write_text("id,verdict\n1,A\n", encoding="utf-8")
    sight = FirstSight(Path("t.csv"))
    assert (sight.document, sight.columns) == (None, {"id", "verdict"})
    Path("t.jsonl").write_text('{"id": 1}\n{"id": 2}\n', encoding="utf-8")
    sight = FirstSight(Path("t.jsonl"))
    assert (sight.document, sight.columns) == (None, {"id"})


def test_an_archive_of_a_tool_is_not_unpacked_for_rows() -> None:
    for name, columns in (("rows.zip", {"id"}), ("log.eval", set())):
        with ZipFile(name, "w") as archive:
            archive.writestr("header.json", '[{"id": 1}, {"id": 2}]')
        assert FirstSight(Path(name)).columns == columns


def test_a_folder_has_the_rows_of_its_first_file() -> None:
    Path("runs/deep").mkdir(parents=True)
    Path("runs/deep/b.jsonl").write_text('{"b": 1}\n', encoding="utf-8")
    sight = FirstSight(Path("runs"))
    assert (sight.is_folder, sight.columns, sight.document) == (True, {"b"}, None)


def test_an_archive_has_the_names_of_its_files() -> None:
    with ZipFile("log.eval", "w") as archive:
        archive.writestr("header.json", "{}")
    sight = FirstSight(Path("log.eval"))
    assert (sight.archive, sight.document) == ({"header.json"}, None)
    Path("broken.eval").write_bytes(b"PK\x03\x04 and no more")
    assert FirstSight(Path("broken.eval")).archive == frozenset()


@pytest.mark.parametrize("name", ["absent.json", "runs/*.csv", "t.json#data"])
def test_what_is_no_file_is_nothing(name: str) -> None:
    sight = FirstSight(Path(name))
    assert (sight.document, sight.rows, sight.archive) == (None, None, frozenset())


def test_what_cannot_be_read_is_nothing() -> None:
    Path("half.json").write_text('{"a": [1, ', encoding="utf-8")
    sight = FirstSight(Path("half.json"))
    assert (sight.document, sight.columns) == (None, frozenset())
