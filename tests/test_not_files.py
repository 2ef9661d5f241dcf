"""What is no regular file is refused wherever a file is read: no pipe is waited for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_judgesense import errors
from pytest_judgesense.cassettes.batch_files import read_batch_results
from pytest_judgesense.cassettes.storage import Journal, read_exchanges
from pytest_judgesense.earlier.baseline import read_measured
from pytest_judgesense.files.opening import NotARegularFile, open_bytes, read_bytes, read_text
from pytest_judgesense.files.tables import read_rows
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.judge_table import judge_from_table
from pytest_judgesense.judges.resolving import declared_judges
from pytest_judgesense.report.datasheet_file import datasheet_object
from pytest_judgesense.report.log import read_log
from pytest_judgesense.suites.loading import load_suite
from tests.plugin.project import parity_suite

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no named pipes among the files")


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes("é\r\nb".encode())
    assert read_bytes(path) == b"\xc3\xa9\r\nb"
    assert read_text(path) == "é\nb"
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        open_bytes(tmp_path)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/tty", "/dev/null"])
def test_a_device_is_refused(device: str) -> None:
    with pytest.raises(OSError, match=device):  # without a terminal /dev/tty cannot be opened
        open_bytes(Path(device))
    with pytest.raises(NotARegularFile, match="/dev/zero is a device, and a file is expected"):
        open_bytes(Path("/dev/zero"))


def _prompt(path: Path) -> object:
    table = {"provider": "openai", "model": "m", "prompts": {"pairwise": {"file": path.name}}}
    return judge_from_table("mine", table, path.parent)


def _items(path: Path) -> object:
    suite = parity_suite(path.parent)
    stimuli = suite.with_name("parity.jsonl")
    stimuli.unlink()
    path.rename(stimuli)
    return load_suite(suite, None, BUILT_IN.forms)


READERS: dict[str, tuple[Callable[[Path], object], type[Exception]]] = {
    "cassette": (read_exchanges, errors.CassetteError),
    "cassette to be recorded": (Journal, errors.CassetteError),
    "results of a batch": (lambda path: list(read_batch_results(path)), errors.LogError),
    "log": (lambda path: list(read_log(path, BUILT_IN)), errors.LogError),
    "foreign log": (lambda path: list(read_rows(path)), errors.LogError),
    "datasheet": (datasheet_object, errors.LogError),
    "suite": (lambda path: load_suite(path, None, BUILT_IN.forms), errors.SuiteError),
    "items": (_items, errors.SuiteError),
    "prompt": (_prompt, errors.UsageError),
    # Neither is looked for unless it is a file.
    "baseline": (lambda path: read_measured(path, 0, BUILT_IN), errors.UsageError),
}


@pytest.mark.parametrize("what", READERS)
def test_a_pipe_is_refused_with_an_error_of_ours(pipe: Path, what: str) -> None:
    read, error = READERS[what]
    with pytest.raises(error) as caught:
        read(pipe)
    assert "a named pipe" in str(caught.value) or what == "baseline"


def test_a_pipe_instead_of_a_project_declares_no_judges(pipe: Path) -> None:
    pipe.rename(pipe.with_name("pyproject.toml"))
    assert declared_judges(pipe.parent / "x.py") == {}


def test_a_command_that_is_given_a_pipe_says_so_and_ends(pipe: Path) -> None:
    log = pipe.rename(pipe.with_suffix(".jsonl"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest_judgesense.commands", "report", str(log)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 3
    assert f"{log} is a named pipe, and a file is expected" in done.stderr
    assert "Traceback" not in done.stderr
