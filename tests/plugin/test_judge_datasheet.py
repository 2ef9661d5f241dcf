"""``--judge-datasheet`` and its ini twin: the files, and that they are the same every time."""

from __future__ import annotations

import json

import pytest

from .project import BUILTIN, SPREAD_AT_NIGHT, TRIALS, RecordedOnce, flips_on_two, no_traceback, run

FORMS = ("x.json", "x.jsonl", "x.html")


@pytest.fixture
def project(recorded_once: RecordedOnce) -> RecordedOnce:
    return recorded_once


@pytest.mark.parametrize("workers", [pytest.param("0", marks=pytest.mark.long), "2"])
def test_all_files_have_the_same_bytes_under_any_workers(
    pytester: pytest.Pytester, workers: str
) -> None:
    written = []
    options = [word for form in FORMS for word in ("--judge-datasheet", form)]
    for spread in ((), ("-n", workers)):
        result = run(pytester, *BUILTIN, *spread, *options, "--judge-save-baseline", "b.json")
        result.assert_outcomes(passed=3)
        written.append([(pytester.path / name).read_bytes() for name in (*FORMS, "b.json")])
        for name in (*FORMS, "b.json"):
            (pytester.path / name).unlink()
    assert written[0] == written[1]


def read(project: RecordedOnce) -> pytest.RunResult:
    """The datasheet and the log of a judge that flips once."""
    project.server.reply = flips_on_two
    project.record()
    forms = ("--judge-datasheet", "out/x.json", "--judge-datasheet", "y.jsonl")
    return project.run_once("parity.suite.toml", *forms)


def test_the_json_is_version_1_of_the_schema(project: RecordedOnce) -> None:
    read(project).assert_outcomes(passed=1)
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


def test_unparsed_replies_are_counted_and_bounded(project: RecordedOnce) -> None:
    # One reply without a verdict, of item p3 under t1, touches 2 of the 3 pairs of that item.
    project.server.reply = lambda prompt: (
        "Well..." if prompt.startswith("Is 3 ") else flips_on_two(prompt)
    )
    project.record("--judge-datasheet", "x.json")
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


def test_the_log_holds_every_judgment(project: RecordedOnce) -> None:
    read(project)
    lines = (project.path / "y.jsonl").read_text(encoding="utf-8").splitlines()
    log = [json.loads(line) for line in lines]
    assert len(log) == TRIALS
    first = log[0]
    assert first["trial"] == "parity/p1/t1/ab/r1"
    assert (first["judge"], first["suite"], first["item"]) == ("mine", "parity", "p1")
    assert (first["verdict"], first["label"], first["reply"]) == ("NO", "NO", "NO")
    assert first["usage"] == {"prompt_tokens": 10, "completion_tokens": 1}


def test_the_option_is_repeatable_and_every_file_is_named(project: RecordedOnce) -> None:
    result = read(project)
    for name in ("x.json", "y.jsonl"):
        result.stdout.fnmatch_lines([f"datasheet written: *{name}"])


@pytest.mark.parametrize(
    "count",
    [(), pytest.param(("-n", "2"), marks=pytest.mark.long)],
    ids=["plain", "n2"],
)
def test_a_place_that_cannot_be_written_is_told_without_a_traceback(
    project: RecordedOnce, count: tuple[str, ...]
) -> None:
    project.record()
    (project.path / "x.json").mkdir()
    result = project.run("parity.suite.toml", *count, "--judge-datasheet", "x.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"{project.path / 'x.json'} cannot be written" in result.stdout.str()
    # What was measured is shown all the same.
    result.stdout.fnmatch_lines(["*jss *18/18*", "*1 passed*"])
    no_traceback(result)


@SPREAD_AT_NIGHT
def test_a_datasheet_of_nothing_is_not_written_and_that_is_said(
    project: RecordedOnce, workers: tuple[str, ...]
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
