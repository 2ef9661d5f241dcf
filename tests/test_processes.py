"""What tests run in stands without optional libraries, and says what else hinders it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import optional
from tests.optional import missing_library
from tests.processes import _import_if_installed, _Server


def test_a_library_that_is_missing_is_imported_by_no_server() -> None:
    _import_if_installed("not_installed_here.part")
    assert "not_installed_here" not in sys.modules


def test_a_library_that_lacks_another_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_installed.py").write_text("import not_installed_here\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_installed_here"):
        _import_if_installed("half_installed")


def test_a_server_that_does_not_start_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jinja2.py").write_text("raise ValueError('of another release')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"has not started(.|\n)*ValueError: of another release"):
        _Server()


def test_what_the_tests_import_is_told_from_what_the_package_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ModuleNotFoundError) as here:
        import shap  # noqa: F401
    assert missing_library(here.value) == "shap"
    package = compile("import shap", "pytest_judgesense/module.py", "exec")
    with pytest.raises(ModuleNotFoundError) as there:
        exec(package)
    assert missing_library(there.value) is None


def test_tests_of_a_missing_library_are_skipped_and_those_of_others_fail(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optional, "TESTS", pytester.path)
    pytester.makeconftest("import sys\nsys.modules['shap'] = None\n")
    pytester.makepyfile(
        test_whole="import shap\ndef test_it(): pass\n",
        test_parts="def test_one(): import shap.plots\ndef test_other(): import not_installed\n",
    )
    options = ("-rs", "-p", "tests.optional", "-p", "no:asyncio")
    result = pytester.runpytest_inprocess(*options)
    result.assert_outcomes(skipped=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*No module named 'not_installed'", "SKIPPED*: shap is not installed"]
    )
