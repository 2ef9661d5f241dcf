"""What an installation unpacks into a temporary folder is nobody's suite, wherever it lies."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.suites import builtin

from .project import ids, parity_suite, run


@pytest.fixture
def unpacked(pytester: pytest.Pytester) -> Path:
    """A project whose TMPDIR lies in it, where two processes have unpacked the suites."""
    parity_suite(pytester.path, judges=["embedded:clean"])
    folder = pytester.path / "tmp"
    for name in ("judgesense-data-a1b2c3d4", "judgesense-data-left_by_a_kill"):
        parity_suite(folder / name / "suites" / "other", name="other", judges=["embedded:clean"])
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("tmp", "."),
        pytest.param((".",), marks=pytest.mark.long),
    ],
)
def test_no_suite_of_it_is_collected(
    pytester: pytest.Pytester, unpacked: Path, arguments: tuple[str, ...]
) -> None:
    collected = ids(run(pytester, "--collect-only", "-q", *arguments))
    assert collected == ["parity.suite.toml::clean::jss_floor[0.8]"]


@pytest.mark.long
def test_no_suite_of_it_is_collected_by_workers(pytester: pytest.Pytester, unpacked: Path) -> None:
    result = run(pytester, "--collect-only", "-q", "-n", "1")
    assert not [line for line in result.outlines if "other" in line]


def test_commands_that_search_a_folder_leave_it_out(
    pytester: pytest.Pytester, unpacked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["plan", "--lint", "."])
    shown = capsys.readouterr().out
    assert "parity" in shown
    assert "other" not in shown


def test_so_it_is_called_where_it_is_unpacked(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(pytester.path))
    folder = builtin._unpacked.__wrapped__()
    assert folder.parent == pytester.path
    assert builtin.is_unpacked(folder / "suites" / "coherence" / "coherence.suite.toml")
    shutil.rmtree(folder)
