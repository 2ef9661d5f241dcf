"""Full disks, read-only places and edited files: a clear error, and what was there stays."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from pytest_judgesense.cassettes import opening
from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.interception import intercepting
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.storage import Journal, read_exchanges, replace_content, rewrite
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.errors import BrokenCassette, CassetteError
from pytest_judgesense.judges.resolving import judge_from_name
from tests.report.replaying import measured, recordings, suite_named

from .endpoint import Endpoint

OpenCassette = Callable[..., Cassette]


def exchange(trial: str, answer: str = "yes") -> Exchange:
    return Exchange(
        trial,
        1,
        RecordedRequest("POST", "https://h/", "{}"),
        RecordedResponse(200, {}, answer),
        "2026-01-31T12:00:00Z",
    )


def bytes_of(*trials: str) -> bytes:
    return "".join(f"{exchange(trial).to_line()}\n" for trial in trials).encode()


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[Path]:
    """A file system of its own on ``folder``; skips where this user may not mount."""
    folder.mkdir()
    mount = shutil.which("mount")
    command = [str(mount), "-t", "tmpfs", "-o", options, "judgesense-test", str(folder)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    # 64 kB are 16 pages of 4 kB.
    with mounted(tmp_path / "disk", "size=64k") as folder:
        yield folder


def fill(folder: Path) -> Path:
    """Fill the disk of ``folder`` to its last byte; the file to delete to have room again."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, pytest.raises(OSError) as full:
        while True:
            file.write(b"x" * 4096)
    assert full.value.errno == errno.ENOSPC
    return filler


def test_on_a_full_disk_a_line_is_written_whole_or_not_at_all(small_disk: Path) -> None:
    path = small_disk / "c.jsonl"
    journal = Journal(path)
    recorded = []
    with pytest.raises(CassetteError, match="No space left on device") as caught:
        # 60 lines of more than 1.2 kB are more than the 64 kB of the disk.
        for number in range(60):
            journal.append(exchange(f"t{number}", "x" * 1200))
            recorded.append(f"t{number}")
    # A page of 4 kB holds three of them: at least two pages were filled.
    assert len(recorded) > 6
    assert caught.value.what == (
        f"{path}: an exchange of trial t{len(recorded)} could not be recorded"
    )
    assert "resume with --judge-mode record" in caught.value.remedy
    # No part of the line that did not fit is left behind the others.
    assert [entry.trial for entry in read_exchanges(path)] == recorded
    assert path.read_bytes().endswith(b"\n")
    # The same journal goes on as soon as there is room (a page may have room for a short line).
    with pytest.raises(CassetteError):
        journal.append(exchange("long", "x" * 9000))
    assert [entry.trial for entry in read_exchanges(path)] == recorded


def test_on_a_full_disk_the_finished_file_replaces_nothing(small_disk: Path) -> None:
    path = small_disk / "c.jsonl"
    path.write_bytes(bytes_of("b", "a"))
    filler = fill(small_disk)
    with pytest.raises(CassetteError, match="could not be put into its final form") as caught:
        rewrite(path, [exchange("a"), exchange("b")])
    assert "No space left on device" in caught.value.found
    assert path.read_bytes() == bytes_of("b", "a")
    assert sorted(file.name for file in small_disk.iterdir()) == ["c.jsonl", "filler"]

    filler.unlink()
    rewrite(path, [exchange("a"), exchange("b")])
    assert path.read_bytes() == bytes_of("a", "b")


LIMITED = """
import resource, signal, sys
from pathlib import Path
from pytest_judgesense.cassettes.storage import Journal
from pytest_judgesense.errors import CassetteError
from tests.cassettes.test_disk import exchange
journal = Journal(Path(sys.argv[1]))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    journal.append(exchange("second"))
except CassetteError as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs limits of file sizes")
@pytest.mark.parametrize("room", [0, 1, 100])
def test_a_line_that_is_cut_by_a_limit_of_the_file_size_leaves_the_file_as_it_was(
    tmp_path: Path, room: int
) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(bytes_of("first"))
    command = [sys.executable, "-c", LIMITED, str(path), str(len(bytes_of("first")) + room)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{path}: an exchange of trial second could not be recorded" in done.stdout
    assert os.strerror(errno.EFBIG) in done.stdout
    assert path.read_bytes() == bytes_of("first")


# Places that cannot be written, each for a reason that holds for root as well.


@contextmanager
def read_only_mount(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "mount", "size=64k") as folder:
        (folder / "old.jsonl").write_bytes(bytes_of("old"))
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        yield folder


@contextmanager
def immutable(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "immutable"
    folder.mkdir()
    old = folder / "old.jsonl"
    old.write_bytes(bytes_of("old"))
    chattr = shutil.which("chattr")
    command = [str(chattr), "+i", str(old), str(folder)]
    if chattr is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this user or file system knows no immutable files")
    try:
        yield folder
    finally:
        subprocess.run([str(chattr), "-i", str(old), str(folder)], check=True)


@contextmanager
def without_permission(tmp_path: Path) -> Iterator[Path]:
    if os.access("/", os.W_OK):
        pytest.skip("permissions do not hold for root")
    folder = tmp_path / "denied"
    folder.mkdir()
    (folder / "old.jsonl").write_bytes(bytes_of("old"))
    (folder / "old.jsonl").chmod(0o444)
    folder.chmod(0o555)
    try:
        yield folder
    finally:
        folder.chmod(0o755)


@pytest.fixture(params=[read_only_mount, immutable, without_permission])
def read_only(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A folder that cannot be written, with the cassette ``old.jsonl`` in it."""
    with ExitStack() as stack:
        yield stack.enter_context(request.param(tmp_path))


def ask(tape: Cassette, endpoint: Endpoint, trial: str) -> httpx.Response:
    with intercepting(tape), tape.trial(trial):
        return httpx.post(f"{endpoint.url}/echo", json={"prompt": trial})


@pytest.mark.parametrize("name", ["old.jsonl", "new.jsonl", "folder/new.jsonl"])
def test_a_read_only_place_is_an_error_before_anything_is_asked(
    read_only: Path, endpoint: Endpoint, name: str
) -> None:
    path = read_only / name
    tape = RecordingCassette(path)
    with pytest.raises(CassetteError, match="cannot be recorded: nothing was asked") as caught:
        ask(tape, endpoint, "t")
    assert "is read-only" in caught.value.found
    assert "--judge-cassettes" in caught.value.remedy
    assert endpoint.hits == 0
    assert {file.name: file.read_bytes() for file in read_only.iterdir()} == {
        "old.jsonl": bytes_of("old")
    }


def test_what_is_recorded_whole_can_be_recorded_on_in_a_read_only_place(read_only: Path) -> None:
    tape = RecordingCassette(read_only / "old.jsonl")
    with tape.trial("old"):
        pass
    tape.finish(["old"])
    assert (read_only / "old.jsonl").read_bytes() == bytes_of("old")


def test_a_suite_that_is_recorded_whole_is_measured_in_a_read_only_place(tmp_path: Path) -> None:
    judge, suite = judge_from_name("embedded:clean"), suite_named("vacuum@quick")
    with mounted(tmp_path / "mount", "size=1m") as folder:
        cassettes = recordings(suite, folder)
        first = measured(judge, suite, cassettes, mode="record")
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        again = measured(judge, suite, cassettes, mode="record")
    assert len(first.asked) == len(first.judgments) > 0
    assert [(one.trial, one.outcome) for one in again.judgments] == [
        (one.trial, one.outcome) for one in first.judgments
    ]
    assert again.asked == {}


def test_a_torn_line_in_a_read_only_place_cannot_be_repaired(tmp_path: Path) -> None:
    with mounted(tmp_path / "mount", "size=64k") as folder:
        path = folder / "c.jsonl"
        path.write_bytes(bytes_of("a") + b'{"trial')
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        with pytest.raises(CassetteError, match="cannot be repaired") as caught:
            Journal(path)
        assert os.strerror(errno.EROFS) in caught.value.found
        assert path.read_bytes() == bytes_of("a") + b'{"trial'


def test_a_path_below_a_file_is_an_error_before_anything_is_asked(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    (tmp_path / "taken").write_text("a file")
    tape = RecordingCassette(tmp_path / "taken" / "judge" / "suite.jsonl")
    with pytest.raises(CassetteError, match="nothing was asked") as caught:
        ask(tape, endpoint, "t")
    assert caught.value.found == f"{tmp_path / 'taken'} is no folder"
    assert endpoint.hits == 0
    assert (tmp_path / "taken").read_text() == "a file"


def test_a_folder_where_the_cassette_should_be_is_an_error(tmp_path: Path) -> None:
    for opened in (read_exchanges, Journal):
        with pytest.raises(CassetteError, match="cannot be read"):
            opened(tmp_path)


def test_a_copy_that_cannot_be_made_leaves_the_older_one(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(CassetteError, match="could not be put into its final form"):
        replace_content(tmp_path / "taken" / "c.jsonl", b"new")
    assert (tmp_path / "taken").read_text() == "a file"


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(b"old")
    path.chmod(0o600)
    replace_content(path, b"new")
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_lies_under_a_name_that_was_guessed_is_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    for name in (".c.jsonl.tmp", f".c.jsonl.{'0' * 16}.tmp"):
        (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    replace_content(path, b"new")
    assert path.read_bytes() == b"new"
    assert not (tmp_path / "elsewhere").exists()


def test_a_link_to_nothing_makes_no_file(
    open_cassette: OpenCassette, endpoint: Endpoint, tmp_path: Path
) -> None:
    tape = open_cassette("record")
    tape.path.parent.mkdir(parents=True, exist_ok=True)
    tape.path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CassetteError, match="nothing was asked"):
        ask(tape, endpoint, "t")
    assert not (tmp_path / "elsewhere").exists()
    assert endpoint.hits == 0


@pytest.mark.parametrize("there", [True, False])
def test_nothing_is_recorded_through_a_link_out_of_the_folder(tmp_path: Path, there: bool) -> None:
    kept = tmp_path / ".profile"
    if there:
        kept.write_text("")  # an empty file passes for a recording of nothing
    folder = tmp_path / "cassettes"
    folder.mkdir()
    (folder / "c.jsonl").symlink_to(kept)
    with pytest.raises(CassetteError, match="leads out of its folder"):  # noqa: SIM117
        with recording_alone(folder / "c.jsonl", Recorder.here()):
            pytest.fail("it is held")
    assert kept.exists() is there
    # Within its folder a link is as good as the file.
    (folder / "d.jsonl").symlink_to(folder / "e.jsonl")
    with recording_alone(folder / "d.jsonl", Recorder.here()):
        pass


def test_a_link_to_a_file_that_is_no_cassette_leaves_it_as_it_was(tmp_path: Path) -> None:
    (tmp_path / ".profile").write_text("export A=1\n")
    (tmp_path / "c.jsonl").symlink_to(tmp_path / ".profile")
    with pytest.raises(BrokenCassette, match=":1: "):
        Journal(tmp_path / "c.jsonl")
    assert (tmp_path / ".profile").read_text() == "export A=1\n"


# Files that somebody edited.

GOOD = bytes_of("a", "b", "c")
EDITED = {
    "a line cut short": (GOOD.replace(b'"trial": "b"', b'"trial": "b'), 2),
    "a merge's marks": (b"<<<<<<< HEAD\n" + GOOD, 1),
    "an empty line": (GOOD.replace(b"\n", b"\n\n", 1), 2),
    "a renamed key": (GOOD.replace(b'"call": 1', b'"calls": 1', 1), 1),
    "a line that appears twice": (GOOD + bytes_of("b"), 4),
    # An editor left no line break behind it: closed, so it was not torn by a kill.
    "a last line closed too early": (GOOD + b'{"trial": "d"}', 4),
    "a last line of text": (GOOD + b"to do: record d", 4),
    # The damage in the middle comes before the torn end is touched.
    "a broken line and a torn one": (GOOD + b"nonsense\n" + b'{"trial": "d', 4),
}


@pytest.mark.parametrize("edit", EDITED)
@pytest.mark.parametrize("mode", ["replay", "record"])
def test_an_edited_file_names_its_line_and_stays_byte_for_byte(
    tmp_path: Path, edit: str, mode: str
) -> None:
    data, line = EDITED[edit]
    path = tmp_path / "c.jsonl"
    path.write_bytes(data)
    with pytest.raises(BrokenCassette) as caught:
        opening.open_cassette(path, mode)  # type: ignore[arg-type]
    assert caught.value.what.startswith(f"{path}:{line}: ")
    assert caught.value.found
    assert "restore the file" in caught.value.remedy
    assert path.read_bytes() == data


def test_a_file_that_is_edited_while_it_is_recorded_stays_as_it_was_edited(
    cassette: Path, endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    tape = open_cassette("record")
    ask(tape, endpoint, "t")
    data = b"edited\n" + cassette.read_bytes()
    cassette.write_bytes(data)
    with pytest.raises(BrokenCassette, match=r"suite\.jsonl:1: "):
        tape.finish(["t"])
    assert cassette.read_bytes() == data


@pytest.mark.long
@pytest.mark.parametrize("concurrency", [2, 32])
def test_the_finished_file_is_the_same_bytes_whatever_the_concurrency(
    cassette: Path, endpoint: Endpoint, open_cassette: OpenCassette, concurrency: int
) -> None:
    trials = [f"t{number:02}" for number in range(64)]

    def recorded(concurrency: int, order: list[str]) -> tuple[list[str], bytes]:
        # The clock of `open_cassette` stands still, so every byte is compared, dates included.
        tape = open_cassette("record")
        with (
            intercepting(tape),
            httpx.Client() as client,
            ThreadPoolExecutor(concurrency) as threads,
        ):

            def ask_one(trial: str) -> None:
                with tape.trial(trial):
                    client.post(f"{endpoint.url}/echo", json={"prompt": trial})

            list(threads.map(ask_one, order))
        arrived = [entry.trial for entry in read_exchanges(cassette)]
        tape.finish(trials)
        data = cassette.read_bytes()
        cassette.unlink()
        return arrived, data

    arrived, one_by_one = recorded(1, trials)
    assert arrived == trials
    arrived, together = recorded(concurrency, trials[::-1])
    assert arrived != trials
    assert together == one_by_one
