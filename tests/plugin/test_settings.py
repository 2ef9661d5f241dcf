"""Options and their ini twins as one frozen value: what is read, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.plugin.options import OPTIONS
from pytest_judgesense.plugin.settings import Settings, resolve
from pytest_judgesense.plugin.state import state_of

from .project import Project, configured, no_traceback, run

ROOT, HERE = Path("/project"), Path("/project/here")


def settings(**given: Any) -> Settings:
    return resolve({name.replace("_", "-"): value for name, value in given.items()}, ROOT, HERE)


def test_without_options_all_is_as_documented() -> None:
    assert settings() == Settings(ROOT, HERE, ROOT / "cassettes")
    assert settings()[3:10] == ("replay", (), (), (), "estimate", 0, 8)
    assert settings().max_unparsed == 20
    assert settings().early_stop is False
    rest = settings()._replace(max_unparsed=None, early_stop=None)  # type: ignore[arg-type]
    assert set(rest[10:]) == {None}


def test_every_option_has_a_field_and_every_field_an_option() -> None:
    fields = {option.field for option in OPTIONS}
    assert fields == set(Settings._fields) - {"rootdir", "invocation", "revision"}


# What the command line gives is text; an ini file gives numbers and lists where it declares them.
@pytest.mark.parametrize(
    ("option", "given", "field", "value"),
    [
        ("judge_mode", "record", "mode", "record"),
        ("judge_name", ["a", "b"], "judges", ("a", "b")),
        ("judge_suite", ["a@p"], "suites", ("a@p",)),
        ("judge_cassettes", "tapes", "cassettes", ROOT / "tapes"),
        ("judge_datasheet", ["x.json", "/y.md"], "datasheets", (HERE / "x.json", Path("/y.md"))),
        ("judge_policy", "confident", "policy", "confident"),
        ("judge_policy", "refuted", "policy", "refuted"),
        ("judge_alpha", "0.01", "alpha", 0.01),
        ("judge_max_missing", "0.2", "max_missing", 0.2),
        ("judge_max_missing", "1", "max_missing", 1.0),
        ("judge_seed", "7", "seed", 7),
        ("judge_seed", 7, "seed", 7),
        ("judge_concurrency", "1", "concurrency", 1),
        ("judge_max_calls", "0", "max_calls", 0),
        ("judge_max_cost", 0.5, "max_cost", 0.5),
        ("judge_max_unparsed", "0", "max_unparsed", 0),
        ("judge_deadline", "1.5", "deadline", 1.5),
        ("judge_deadline", 0, "deadline", 0.0),
        ("judge_max_age", "0.5", "max_age", 0.5),
        ("judge_early_stop", True, "early_stop", True),
        ("judge_early_stop", False, "early_stop", False),
        ("judge_baseline", "b.json", "baseline", HERE / "b.json"),
        ("judge_baseline", "git:HEAD^", "revision", "HEAD^"),
        ("judge_save_baseline", "b.json", "save_baseline", HERE / "b.json"),
        ("judge_save_live", "kept", "save_live", HERE / "kept"),
        ("judge_save_live", "", "save_live", None),
    ],
)
def test_a_value_is_read(option: str, given: Any, field: str, value: Any) -> None:
    assert getattr(settings(**{option: given}), field) == value


@pytest.mark.parametrize(
    ("option", "wrong", "expected"),
    [
        ("judge_mode", ["offline", "Live"], "expected one of replay, record, live"),
        ("judge_policy", ["bold"], "expected one of estimate, confident, refuted"),
        ("judge_alpha", ["0", "0.5", "-0.1", "x", "nan", 1.0], "a number above 0 and below 0.5"),
        ("judge_seed", ["-1", "x", "1.5", -1], "expected a whole number, at least 0"),
        ("judge_concurrency", ["0", "-2", "x", 0], "expected a whole number, at least 1"),
        ("judge_max_calls", ["-1", "x", "1.5", -1], "expected a whole number, at least 0"),
        ("judge_verify", ["0", "-1", "x", "1.5", 0], "expected a whole number, at least 1"),
        ("judge_max_cost", ["-1", "x", "nan", "inf", -0.1], "expected a number, at least 0"),
        ("judge_deadline", ["-1", "x", "nan", "inf", -1.0], "expected a number, at least 0"),
        ("judge_max_age", ["-1", "x", "nan", "inf", -1.0], "expected a number, at least 0"),
        ("judge_max_missing", ["1.5", "-0.1", "nan", 2.0], "expected a share from 0 to 1"),
    ],
)
def test_a_wrong_value_is_refused_with_what_was_expected(
    option: str, wrong: list[Any], expected: str
) -> None:
    for value in wrong:
        with pytest.raises(pytest.UsageError) as caught:
            settings(**{option: value})
        assert option.replace("_", "-") in str(caught.value).replace("_", "-")
        assert str(value) in str(caught.value)
        assert expected in str(caught.value)


@pytest.mark.parametrize("name", ["x.pdf", "x", "x.JSON.txt"])
def test_an_unknown_form_of_the_datasheet_is_refused(name: str) -> None:
    with pytest.raises(pytest.UsageError) as caught:
        settings(judge_datasheet=["a.json", name])
    assert f"--judge-datasheet {name}: " in str(caught.value)
    forms = ".json, .html for a page, .md, .csv or .tex for tables, or .jsonl for the judgment log"
    assert str(caught.value).endswith(f"expected {forms}")


@pytest.mark.parametrize("mode", ["replay", "record", None])
def test_trials_are_asked_again_in_live_mode_alone(mode: str | None) -> None:
    with pytest.raises(pytest.UsageError) as caught:
        settings(judge_verify="5", judge_mode=mode)
    assert "--judge-verify 5" in str(caught.value)
    assert "expected --judge-mode live" in str(caught.value)


def test_what_is_asked_again_changes_no_check() -> None:
    found = settings(judge_verify="5", judge_mode="live")
    assert (found.verify, found.mode) == (5, "replay")


@pytest.mark.parametrize(
    ("arguments", "ini", "said"),
    [
        (["--judge-seed=x"], "", "--judge-seed x is wrong"),
        (["--judge-mode", "offline"], "", "invalid choice: 'offline'"),
        ([], "judge_mode = offline", "judge_mode = 'offline' is unknown"),
        ([], "judge_seed = x", "judge_seed (ini twin of --judge-seed) is wrong"),
    ],
)
def test_a_wrong_value_is_refused_before_the_session(
    pytester: pytest.Pytester, arguments: list[str], ini: str, said: str
) -> None:
    pytester.makeini(f"[pytest]\n{ini}\n")
    with pytest.raises(pytest.UsageError) as refused:
        configured(pytester, *arguments)
    assert said in str(refused.value)


def test_the_session_ends_before_anything_is_measured(project: Project) -> None:
    project.pytester.makeini("[pytest]\njudge_seed = x\n")
    result = project.run("parity.suite.toml", "--judge-mode", "record")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "judge_seed (ini twin of --judge-seed) is wrong" in result.stderr.str()
    no_traceback(result)
    assert project.server.asked == []


NATIVE = """
judge_mode = "live"
judge_name = ["embedded:noisy"]
judge_suite = ["vacuum@quick"]
judge_cassettes = "tapes"
judge_datasheet = ["sheet.json"]
judge_policy = "confident"
judge_max_missing = 0.9
judge_early_stop = false
judge_seed = 7
judge_concurrency = 2
judge_max_calls = 1000
judge_max_cost = 5
judge_max_unparsed = 0
judge_deadline = 60.5
judge_save_baseline = "baseline.json"
"""


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="pytest 9 brought tables with types")
@pytest.mark.parametrize(
    ("name", "table"), [("pyproject.toml", "tool.pytest"), ("pytest.toml", "pytest")]
)
def test_native_tables_of_pytest_have_the_types_of_toml(
    pytester: pytest.Pytester, name: str, table: str
) -> None:
    (pytester.path / name).write_text(f"[{table}]{NATIVE}", encoding="utf-8")
    folder = pytester.path
    assert state_of(configured(pytester)).settings == Settings(
        folder,
        folder,
        folder / "tapes",
        mode="live",
        judges=("embedded:noisy",),
        suites=("vacuum@quick",),
        datasheets=(folder / "sheet.json",),
        policy="confident",
        max_missing=0.9,
        early_stop=False,
        seed=7,
        concurrency=2,
        max_calls=1000,
        max_cost=5.0,
        max_unparsed=0,
        deadline=60.5,
        save_baseline=folder / "baseline.json",
    )


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="pytest 9 brought tables with types")
def test_a_session_does_what_a_native_table_says(pytester: pytest.Pytester) -> None:
    (pytester.path / "pyproject.toml").write_text(f"[tool.pytest]{NATIVE}", encoding="utf-8")
    run(pytester).assert_outcomes(failed=1)
    sheet = json.loads((pytester.path / "sheet.json").read_text(encoding="utf-8"))
    assert (sheet["mode"], sheet["seed"]) == ("live", 7)
    assert [one["judge"]["name"] for one in sheet["judges"]] == ["noisy"]
    assert (pytester.path / "baseline.json").is_file()
