"""How other programs find and start the tests: editors, and pytest with its own ways to import."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

from .project import PYTHON_JUDGE, TRIALS, Project, forked, ids, parity_suite

# What the adapter of VS Code reads of each item (python_files/vscode_pytest/__init__.py:
# create_test_node, build_test_tree): name, path and its parent's, location, node id. An item with a
# `callspec` it takes for a parametrized function, and asks for its `originalname`.
ADAPTER = """
import json, os, pathlib

def pytest_collection_finish(session):
    found = []
    for item in session.items:
        line = item.location[1]
        found.append({
            "name": item.name,
            "path": os.fspath(item.path),
            "parent": os.fspath(item.parent.path),
            "lineno": "" if line is None else line + 1,
            "id": "::".join([os.fspath(item.path), *item.nodeid.split("::")[1:]]),
            "callspec": hasattr(item, "callspec"),
        })
    pathlib.Path("found.json").write_text(json.dumps(found))
"""


def test_an_editor_finds_items_with_place_and_id_and_runs_one_by_it(project: Project) -> None:
    folder = project.path / "suites"
    suite = parity_suite(folder, checks="jss_floor = 0.8\nagreement_floor = 0.9")
    project.suite.unlink()
    project.pytester.makeconftest(ADAPTER)
    result = project.run("--rootdir", project.path, "--collect-only", "-q", ".")
    assert ids(result) == [
        "suites/parity.suite.toml::mine::jss_floor[0.8]",
        "suites/parity.suite.toml::mine::agreement_floor[0.9]",
    ]
    found = json.loads((project.path / "found.json").read_text())
    assert [item["name"] for item in found] == ["jss_floor[0.8]", "agreement_floor[0.9]"]
    lines = suite.read_text().splitlines()
    for item in found:
        assert not item["callspec"]
        assert item["path"] == item["parent"] == str(suite)
        assert lines[item["lineno"] - 1].startswith(item["name"].partition("[")[0])
    # It starts what was chosen by these ids, with absolute paths.
    chosen = project.run(found[1]["id"], "--judge-mode", "record", "-v")
    chosen.assert_outcomes(passed=1)


def test_a_marked_test_is_an_ordinary_parametrized_one(project: Project) -> None:
    project.pytester.makeconftest(ADAPTER)
    project.pytester.makepyfile(
        test_one="import pytest\n\n"
        '@pytest.mark.jss_floor(0.8, suite="parity.suite.toml")\ndef test_it(): pass\n'
    )
    assert ids(project.run("test_one.py", "--collect-only", "-q")) == ["test_one.py::test_it[mine]"]
    (found,) = json.loads((project.path / "found.json").read_text())
    assert found["callspec"]
    assert found["lineno"] == 4 - 1  # of its first decorator, as for every test


def test_the_reporter_that_pycharm_uses_follows_suite_items(project: Project) -> None:
    if find_spec("teamcity") is None:
        pytest.skip("teamcity-messages is not installed: pip install '.[neighbours]'")
    project.record()
    result = project.pytester.runpytest_subprocess(
        *("-p", "no:randomly", "-p", "no:rerunfailures", "--teamcity", "parity.suite.toml")
    )
    result.assert_outcomes(passed=1)
    shown = result.stdout.str()
    # A bracket begins a parameter there, and a dot a level.
    assert "##teamcity[testStarted" in shown
    assert "name='parity_suite_toml.mine.jss_floor(0_8)'" in shown
    assert "##teamcity[testFailed" not in shown


def test_it_is_loaded_by_name_where_nothing_is_loaded_by_itself(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.record()
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in ("judgesense", "pytest_judgesense.plugin"):
        sheet = f"{name}.json"
        arguments = ("-p", name, "parity.suite.toml", "--judge-datasheet", sheet)
        result = project.pytester.runpytest_subprocess(*arguments)
        result.assert_outcomes(passed=1)
        assert (project.path / sheet).is_file()
    without = project.pytester.runpytest_subprocess("parity.suite.toml")
    assert without.ret == pytest.ExitCode.USAGE_ERROR or "not found" in without.stderr.str()


@pytest.mark.long
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "n2"])
def test_judges_are_imported_from_pythonpath_under_importlib(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    parity_suite(pytester.path / "checks")
    (pytester.path / "src" / "mine").mkdir(parents=True)
    (pytester.path / "src" / "mine" / "__init__.py").write_text("")
    source = PYTHON_JUDGE.partition("def pytest_judgesense_judges")[0]
    (pytester.path / "src" / "mine" / "judges.py").write_text(source)
    (pytester.path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\naddopts = "--import-mode=importlib"\npythonpath = ["src"]\n'
        '[tool.judgesense.judges.ours]\nprovider = "callable"\nmodel = "mine.judges:even"\n'
    )
    for folder in ("one", "two"):  # the same name twice, which needs importlib
        (pytester.path / folder).mkdir()
        (pytester.path / folder / "test_same.py").write_text(
            "import pytest\nfrom mine.judges import even\n\n"
            '@pytest.mark.jss_floor(0.8, suite="checks/parity.suite.toml")\n'
            "def test_it(judge):\n    assert judge.ask('Is 4 even?').text == 'YES'\n"
        )
    for mode in ("record", "replay"):
        result = forked(pytester, *workers, "--judge-mode", mode)
        result.assert_outcomes(passed=3)
        result.stdout.fnmatch_lines([f"*{TRIALS} made*" if mode == "record" else "* 0 made*"])
