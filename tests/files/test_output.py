"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.output import (
    Outputs,
    alone,
    append_whole,
    replace_content,
    replace_text,
    write_text,
)


def test_a_file_is_replaced_in_one_step_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "new" / "x.json"
    replace_text(path, "old\n")
    before = path.stat().st_ino
    replace_text(path, "new\n")
    assert path.read_bytes() == b"new\n"
    assert path.stat().st_ino != before  # another file took its place
    assert [one.name for one in path.parent.iterdir()] == ["x.json"]


def test_two_writers_of_one_file_are_never_seen_mixed(tmp_path: Path) -> None:
    path, texts = tmp_path / "x.json", ["a" * 200_000, "b" * 200_000]
    failed: list[OSError] = []

    def write(text: str) -> None:
        try:
            for _ in range(40):
                replace_text(path, text)
        except OSError as error:
            failed.append(error)

    replace_text(path, texts[0])
    writers = [threading.Thread(target=write, args=(text,)) for text in texts]
    for writer in writers:
        writer.start()
    read = [path.read_text()]
    while any(writer.is_alive() for writer in writers):
        read.append(path.read_text())
    for writer in writers:
        writer.join()
    assert failed == []
    assert set(read) <= set(texts)
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "x.json"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_text(path, "half a file")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_half_of_a_surrogate_pair_is_replaced(tmp_path: Path) -> None:
    # U+1F600 is the pair D83D DE00; either half alone is no character.
    replace_text(tmp_path / "x", "a\udc00b \ud83d\ude00 \ud83d")
    assert (tmp_path / "x").read_text(encoding="utf-8") == "a\ufffdb \U0001f600 \ufffd"


def test_a_link_is_followed_and_the_rights_of_the_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "kept" / "x.json"
    path.parent.mkdir()
    path.write_text("old")
    path.chmod(0o640)
    (tmp_path / "link.json").symlink_to(path)
    replace_text(tmp_path / "link.json", "new")
    assert (tmp_path / "link.json").is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    replace_text(tmp_path / "x.json", "")
    rights = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "x.json")]
    assert rights[0] == rights[1]


def test_what_lies_under_a_name_that_was_guessed_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".x.json.tmp").symlink_to(tmp_path / "elsewhere")
    replace_text(tmp_path / "x.json", "new")
    assert not (tmp_path / "elsewhere").exists()


def test_a_place_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"x\.json cannot be written"):
        write_text(tmp_path / "file" / "x.json", "")


def test_each_output_succeeds_or_fails_on_its_own(tmp_path: Path) -> None:
    outputs = Outputs(verbose=False)
    outputs.write("page", tmp_path / "a", lambda: {}["feature"])
    outputs.write("page", tmp_path / "b", lambda: "text")
    assert outputs.written == [f"page written: {tmp_path / 'b'}"]
    assert outputs.problems == [
        f"{tmp_path / 'a'} cannot be written: KeyError: 'feature' (-v shows where)"
    ]
    assert outputs.is_broken
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_a_place_of_the_user_is_no_fault_of_a_renderer(tmp_path: Path) -> None:
    outputs = Outputs(verbose=True)
    outputs.write("page", tmp_path, lambda: "text")
    (line,) = outputs.problems
    assert line.startswith(f"{tmp_path} cannot be written: ")
    assert outputs.errors
    assert not outputs.is_broken


def test_a_link_out_of_the_folder_is_replaced(tmp_path: Path) -> None:
    kept, folder = tmp_path / ".profile", tmp_path / "reports"
    kept.write_text("export A=1\n")
    folder.mkdir()
    (folder / "x.json").symlink_to(kept)
    replace_content(folder / "x.json", b"{}")
    assert kept.read_text() == "export A=1\n"
    assert not (folder / "x.json").is_symlink()
    assert (folder / "x.json").read_bytes() == b"{}"


def test_lines_are_appended_where_a_held_lock_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on Windows, which removes no open file: the write has worked, and so does the next one.
    def refused(path: Path, *, missing_ok: bool = False) -> None:
        raise PermissionError(errno.EACCES, "used by another process", str(path))

    monkeypatch.setattr(Path, "unlink", refused)
    for text in ("a\n", "b\n"):
        with alone(tmp_path / "x", UsageError, expected="", remedy="", patience_s=1):
            append_whole(tmp_path / "x", text)
    assert (tmp_path / "x").read_bytes() == b"a\nb\n"
