"""Datasheets from judgment logs, with no judge at all."""

from __future__ import annotations

import json

import pytest

from pytest_judgesense.errors import LogError
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.measurement import measure
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.report.logged_cells import cells_of_logs, datasheet_of_cells
from tests.shipped import CASSETTES
from tests.suites.known import builtin_suites, load_suite

SUITES = ["coherence", "factuality", "preference", "vacuum", "ladder", "criterion"]


@pytest.fixture(scope="module")
def loop():
    loop = AskingLoop()
    yield loop
    loop.close()


@pytest.mark.parametrize("name", SUITES)
def test_a_log_of_the_plugin_gives_the_estimates_of_the_run(name, loop, tmp_path):
    suite = load_suite(builtin_suites()[name])
    folder = CASSETTES / "mixed"
    files = {"ladder": folder / "ladder.jsonl"} if name == "criterion" else {}
    files[name] = folder / f"{name}.jsonl"
    measured = measure(judge_from_name("embedded:mixed"), suite, files, loop, seed=7)
    log = tmp_path / "log.jsonl"
    log.write_text(
        "".join(line + "\n" for line in log_lines(measured.judgments, suite.design)),
        encoding="utf-8",
    )

    sheet = datasheet_of_cells(cells_of_logs([log], seed=7), seed=7)

    assert sheet.judges[0].estimates == measured.estimates
    assert sheet.judges[0].calls.prompt_tokens == measured.calls.prompt_tokens


def _line(**changes) -> str:
    value = {
        "trial": "s/i1/t1/ab/r1",
        "judge": "j",
        "suite": "s",
        "item": "i1",
        "template": "t1",
        "verdict": "YES",
        **changes,
    }
    return json.dumps({key: field for key, field in value.items() if field is not None}) + "\n"


def _write(tmp_path, *lines: str):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_a_line_needs_only_what_names_the_trial_and_its_outcome(tmp_path):
    path = _write(tmp_path, _line(), _line(trial="s/i1/t2/ab/r1", template="t2", verdict="NO"))

    (cell,) = cells_of_logs([path])

    # Not pairwise, labels read off the verdicts, all template pairs compared, the item its cluster.
    assert (cell.design.pairwise, cell.design.labels, cell.design.pairs) == (
        False,
        ("NO", "YES"),
        "all",
    )
    assert {judgment.trial.cluster for judgment in cell.judgments} == {"i1"}
    jss = next(e for e in datasheet_of_cells([cell]).judges[0].estimates if e.measure == "jss")
    # One pair, two verdicts that differ.
    assert (jss.value, jss.n) == (0.0, 1)


def test_a_judgment_that_stands_twice_counts_once(tmp_path):
    (cell,) = cells_of_logs([_write(tmp_path, _line(), _line())])

    assert len(cell.judgments) == 1


def test_one_trial_under_two_ids_names_both_lines(tmp_path):
    # Two runs joined, the replicate left at its default: which line measures used was chance.
    first, second = _line(trial="a/i1"), _line(trial="b/i1", verdict="NO")
    path = _write(tmp_path, first, _line(trial="s/i2", item="i2"), second)
    with pytest.raises(LogError, match="one trial has two ids") as error:
        cells_of_logs([path])
    assert error.value.found == f"{path}:1: a/i1; {path}:3: b/i1"
    # Numbered, or of two suites, they are two trials.
    (cell,) = cells_of_logs([_write(tmp_path, first, _line(trial="b/i1", replicate=2))])
    assert len(cell.judgments) == 2
    assert len(cells_of_logs([_write(tmp_path, first, _line(trial="b/i1", suite="t"))])) == 2
    # The same without a difference of answers is no other: one reply would count twice.
    with pytest.raises(LogError, match="two ids"):
        cells_of_logs([_write(tmp_path, first, _line(trial="b/i1"))])


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ((_line(), _line(verdict="NO")), "appears twice"),
        (("{\n",), ":1 is not JSON"),
        (("[]\n",), ":1 is not a judgment"),
        ((_line(), _line(trial=None)), ":2: field 'trial' is wrong"),
        ((_line(order="xy"),), "'ab' or 'ba'"),
        ((_line(verdict=None),), "exactly one of them"),
        ((_line(unparsed="no verdict"),), "exactly one of them"),
        ((_line(replicate="1"),), "field 'replicate' is wrong"),
        ((_line(design={"labels": ["A"]}),), "field 'design' is wrong"),
    ],
)
def test_a_wrong_line_is_an_error_that_names_file_and_place(tmp_path, lines, found):
    path = _write(tmp_path, *lines)

    with pytest.raises(LogError) as raised:
        cells_of_logs([path])

    assert str(path) in str(raised.value)
    assert found in str(raised.value)


def test_lines_of_one_suite_have_one_design(tmp_path):
    design = {"kind": "paraphrase", "labels": ["YES", "NO"], "pairs": "ring"}
    other = {**design, "pairs": "all"}
    path = _write(
        tmp_path, _line(design=design), _line(trial="s/i2/t1/ab/r1", item="i2", design=other)
    )

    with pytest.raises(LogError, match="different designs"):
        cells_of_logs([path])


def test_unparsed_and_failed_judgments_are_counted_in_a_report(tmp_path):
    path = _write(
        tmp_path,
        _line(),
        _line(trial="s/i2/t1/ab/r1", item="i2", verdict=None, unparsed="no verdict"),
        _line(trial="s/i3/t1/ab/r1", item="i3", verdict=None, failed="HTTP 500"),
    )

    (judge,) = datasheet_of_cells(cells_of_logs([path])).judges

    unparsed = next(e for e in judge.estimates if e.measure == "unparsed_rate")
    # One of the two replies received; the failed call stands beside.
    assert (unparsed.count, unparsed.n, unparsed.missing.failed) == (1, 2, 1)
    assert judge.calls.failed == 1
