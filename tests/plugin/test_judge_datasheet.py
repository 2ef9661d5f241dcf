"""``--judge-datasheet`` and its ini twin: the files, and that they are the same every time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .project import BUILTIN, TRIALS, Project, flips_on_two, no_traceback, parity_suite, run


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first of several equal sessions leaves its datasheet for the others."""
    return tmp_path_factory.mktemp("datasheets") / "first.json"


def test_the_json_has_the_same_bytes_under_any_workers_and_at_any_run(
    pytester: pytest.Pytester, workers: tuple[str, ...], expected: Path
) -> None:
    for _ in range(1 if workers else 2):
        run(pytester, *BUILTIN, *workers, "--judge-datasheet", "x.json").assert_outcomes(passed=3)
        written = (pytester.path / "x.json").read_bytes()
        (pytester.path / "x.json").unlink()
        if not expected.exists():
            expected.write_bytes(written)
        assert written == expected.read_bytes()


def test_the_json_is_version_1_of_the_schema(project: Project) -> None:
    project.server.reply = flips_on_two
    project.record()
    result = project.run("parity.suite.toml", "--judge-datasheet", "out/x.json")
    result.assert_outcomes(passed=1)
    sheet = json.loads((project.path / "out" / "x.json").read_text(encoding="utf-8"))
    assert list(sheet) == ["schema", "seed", "mode", "versions", "judges"]
    assert (sheet["schema"], sheet["seed"], sheet["mode"]) == (
        "judgesense/datasheet/1",
        0,
        "replay",
    )
    (judge,) = sheet["judges"]
    assert judge["judge"]["name"] == "mine"
    assert judge["judge"]["model"] == "m-1"
    assert judge["judge"]["served"] == ["served-1"]
    assert judge["judge"]["recorded"].keys() == {"first", "last", "wall_clock_s"}
    (jss,) = [m for m in judge["measures"] if m["measure"] == "jss" and not m["condition"]]
    # 2 flips of 18 pairs; see `flips_on_two`.
    assert (jss["count"], jss["n"], jss["value"]) == (16, 18, 16 / 18)
    assert jss["clustered"]["clusters"] == 6  # the numbers 1 to 6
    assert jss["missing"] == {
        "unparsed": 0,
        "failed": 0,
        "lower_bound": 16 / 18,
        "upper_bound": 16 / 18,
    }
    (check,) = judge["checks"]
    assert (check["check"], check["outcome"], check["bar"]) == ("jss_floor[0.8]", "pass", 0.8)
    assert judge["calls"] == {
        "made": 0,
        "replayed": TRIALS,
        "retried": 0,
        "failed": 0,
        "prompt_tokens": 10 * TRIALS,  # the endpoint counts 10 and 1 a call
        "completion_tokens": TRIALS,
        "cost_usd": None,
    }


def test_unparsed_replies_are_counted_and_bounded(project: Project) -> None:
    # One reply without a verdict, of item p3 under t1, touches 2 of the 3 pairs of that item.
    project.server.reply = lambda prompt: (
        "Well..." if prompt.startswith("Is 3 ") else flips_on_two(prompt)
    )
    project.record()
    project.run("parity.suite.toml", "--judge-datasheet", "x.json")
    sheet = json.loads((project.path / "x.json").read_text(encoding="utf-8"))
    measures = sheet["judges"][0]["measures"]
    (jss,) = [m for m in measures if m["measure"] == "jss" and not m["condition"]]
    # 16 pairs remain, 14 agree; the two that are missing may disagree or agree: 14/18, 16/18.
    assert (jss["count"], jss["n"]) == (14, 16)
    assert jss["missing"] == {
        "unparsed": 1,
        "failed": 0,
        "lower_bound": 14 / 18,
        "upper_bound": 16 / 18,
    }


def test_the_log_holds_every_judgment(project: Project) -> None:
    project.record()
    project.run("parity.suite.toml", "--judge-datasheet", "x.jsonl").assert_outcomes(passed=1)
    lines = (project.path / "x.jsonl").read_text(encoding="utf-8").splitlines()
    log = [json.loads(line) for line in lines]
    assert len(log) == TRIALS
    first = log[0]
    assert first["trial"] == "parity/p1/t1/ab/r1"
    assert (first["judge"], first["suite"], first["item"]) == ("mine", "parity", "p1")
    assert (first["verdict"], first["label"], first["reply"]) == ("NO", "NO", "NO")
    assert first["usage"] == {"prompt_tokens": 10, "completion_tokens": 1}


def test_the_log_is_the_same_under_two_workers(project: Project) -> None:
    parity_suite(project.path, checks="jss_floor = 0.8\nagreement_floor = 0.8")
    parity_suite(project.path, name="second")
    project.record("second.suite.toml")
    written = []
    for workers in ((), ("-n", "2")):
        result = project.run(
            "parity.suite.toml", "second.suite.toml", *workers, "--judge-datasheet", "x.jsonl"
        )
        result.assert_outcomes(passed=3)
        written.append((project.path / "x.jsonl").read_bytes())
    assert written[0] == written[1]
    assert len(written[0].splitlines()) == 2 * TRIALS


def test_the_option_is_repeatable(project: Project) -> None:
    project.record()
    result = project.run(
        "parity.suite.toml", "--judge-datasheet", "x.json", "--judge-datasheet", "y.jsonl"
    )
    for name in ("x.json", "y.jsonl"):
        assert (project.path / name).exists()
        result.stdout.fnmatch_lines([f"datasheet written: *{name}"])


def test_the_ini_twin_names_files_too(project: Project) -> None:
    project.record()
    project.pytester.makeini("[pytest]\njudge_datasheet = x.json y.jsonl\n")
    project.run("parity.suite.toml").assert_outcomes(passed=1)
    assert (project.path / "x.json").exists()
    assert (project.path / "y.jsonl").exists()


@pytest.mark.parametrize("count", [(), ("-n", "2")], ids=["plain", "n2"])
def test_a_place_that_cannot_be_written_is_told_without_a_traceback(
    project: Project, count: tuple[str, ...]
) -> None:
    project.record()
    (project.path / "x.json").mkdir()
    result = project.run("parity.suite.toml", *count, "--judge-datasheet", "x.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"{project.path / 'x.json'} cannot be written" in result.stdout.str()
    # What was measured is shown all the same.
    result.stdout.fnmatch_lines(["*jss *18/18*", "*1 passed*"])
    no_traceback(result)


def test_a_datasheet_of_failing_checks_is_written(project: Project) -> None:
    project.server.reply = lambda prompt: "YES"
    project.record()
    result = project.run("parity.suite.toml", "--judge-datasheet", "x.json")
    result.assert_outcomes(failed=1)
    sheet = json.loads((project.path / "x.json").read_text(encoding="utf-8"))
    assert sheet["judges"][0]["checks"][0]["outcome"] == "fail"


def test_a_datasheet_of_nothing_is_not_written_and_that_is_said(
    project: Project, workers: tuple[str, ...]
) -> None:
    (project.path / "x.json").write_text("of another day")
    result = project.run("parity.suite.toml", "--judge-datasheet", "x.json", *workers)
    result.assert_outcomes(failed=1)  # nothing is recorded
    said = f"ERROR: datasheet not written, for nothing was measured: {project.path / 'x.json'}; "
    assert said in result.stdout.str()
    assert (project.path / "x.json").read_text() == "of another day"


def test_a_datasheet_that_is_asked_for_where_no_judge_is_measured_fails_the_session(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile("def test_ordinary(): pass")
    result = run(pytester, "--judge-datasheet", "x.json")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: datasheet not written, for nothing was measured: " in result.stdout.str()
    assert not (pytester.path / "x.json").exists()
    listed = run(pytester, "--judge-datasheet", "x.json", "--collect-only", "-q")
    assert listed.ret == pytest.ExitCode.OK


def test_a_datasheet_that_the_ini_file_asks_for_is_that_of_sessions_that_measure(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeini("[pytest]\njudge_datasheet = x.json\n")
    pytester.makepyfile("def test_ordinary(): pass")
    assert run(pytester).ret == pytest.ExitCode.OK
