"""``judgesense compare``: baselines, logs and datasheets, then against now."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import norm

from pytest_judgesense.checks.regression import Side
from pytest_judgesense.datasheets.datasheet import Calls, SuiteSheet, merge_parts
from pytest_judgesense.earlier.baseline import SavedSuite, baseline_text
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.report.datasheet_file import datasheet_json
from pytest_judgesense.report.log import log_lines
from tests.commands.within import judgesense
from tests.measures.building import SLOTS, YES_NO, both_orders, cell, worded
from tests.repository import commit, repository
from tests.shipped import CASSETTES

STEADY, FLIPS = ("YES", "YES"), ("YES", "NO")


def compare(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return judgesense("compare", *arguments, cwd=cwd)


def judge(flips: int, items: int = 40) -> Cell:
    """A judge whose second wording flips on so many items; the others are YES and NO in turn."""
    words: Mapping[str, Sequence[str]] = {
        f"i{k}": FLIPS if k < flips else (STEADY, ("NO", "NO"))[k % 2] for k in range(items)
    }
    return cell(YES_NO, worded(words))


def sheet(of: Cell, model: str, template: str) -> SuiteSheet:
    return SuiteSheet(
        judge=of.judge,
        suite=of.suite,
        identity={"name": of.judge, "provider": "openai", "model": model, "temperature": 0.0},
        prompts={of.suite: {"system": "", "templates": {"t1": template}}},
        suite_digest="0" * 16,
        served=(),
        recorded=None,
        estimates=Side.of(of).estimates,
        calls=Calls(),
    )


def write(
    path: Path, of: Cell, *, model: str = "m-1", template: str = "Yes?", digest: str = "d" * 16
) -> None:
    """The measurement as the file that the suffix names."""
    part = sheet(of, model, template)
    log = list(log_lines(of.judgments, of.design))
    if path.suffix == ".jsonl":
        text = "\n".join(log) + "\n"
    elif path.name.startswith("sheet"):
        text = datasheet_json(merge_parts([part], seed=0, mode="replay", versions={}))
    else:
        text = baseline_text([SavedSuite(part, digest, of)], 0, {})
    path.write_text(text, encoding="utf-8")


def test_a_regression_is_exit_code_1_and_shows_what_changed_and_the_flips(tmp_path: Path) -> None:
    write(tmp_path / "a.json", judge(0), template="Is it so?\nReply YES or NO.")
    write(tmp_path / "b.json", judge(12), model="m-2", template="Is it true?\nReply YES or NO.")
    done = compare("a.json", "b.json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "judge j, suite s"
    assert "  judge: model m-1 -> m-2" in lines
    assert {"    -Is it so?", "    +Is it true?"} <= set(lines)
    (jss,) = [line.split() for line in lines if line.startswith("  jss ")]
    # 12 of 40 pairs flip, all for the worse: score z = sqrt(12), p 0.000266, the least of 5
    # quantities: jss (and flip_rate), kappa (2 x 2^-12 = 0.000488 by swaps), unparsed_rate (and
    # failed_rate: neither has changed), and two that are not measured.
    assert jss[1:4] == ["1.000", "0.700", "-0.300"]
    assert jss[-2:] == [f"{5 * norm.sf(math.sqrt(12)):.3g}", "regressed"]
    # Of each of the 12 items the second wording changed, or, of those that were NO, the first.
    assert "  changed verdicts (of 80 trials in both): 12, on 12 items" in lines
    assert "    s/i0/t2/ab/r1: YES -> NO" in lines
    assert max(map(len, lines)) <= 100


def test_the_same_measurement_is_unchanged_throughout_and_exit_code_0(tmp_path: Path) -> None:
    write(tmp_path / "a.json", judge(4))
    done = compare("a.json", "a.json", cwd=tmp_path)
    assert done.returncode == 0
    verdicts = {line.split()[-1] for line in done.stdout.splitlines() if line.startswith("  jss ")}
    assert verdicts == {"unchanged"}
    assert "all 80 trials in both have the same verdicts" in done.stdout
    assert "nothing else is known to differ" in done.stdout


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_a_log_is_compared_trial_by_trial_with_a_log_or_a_baseline(
    tmp_path: Path, suffix: str
) -> None:
    write(tmp_path / f"a.{suffix}", judge(0))
    write(tmp_path / "b.jsonl", judge(12))
    done = compare(f"a.{suffix}", "b.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    (jss,) = [line.split() for line in done.stdout.splitlines() if line.startswith("  jss ")]
    assert jss[-1] == "regressed"
    holds = "a log holds" if suffix == "json" else "both logs hold"
    assert f"  prompts and settings are not compared: {holds} none\n" in done.stdout
    assert "nothing else is known to differ" not in done.stdout


def test_datasheets_hold_no_judgments_and_are_compared_unpaired(tmp_path: Path) -> None:
    write(tmp_path / "sheet-a.json", judge(0, 200))
    write(tmp_path / "sheet-b.json", judge(100, 200))
    done = compare("sheet-a.json", "sheet-b.json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "unpaired: without the judgments" in done.stdout
    (jss,) = [line.split() for line in done.stdout.splitlines() if line.startswith("  jss ")]
    assert jss[1:4] == ["1.000", "0.500", "-0.500"]


def test_the_margin_may_be_given(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", judge(0))
    write(tmp_path / "b.jsonl", judge(12))
    assert compare("a.jsonl", "b.jsonl", "--margin", "1.9", cwd=tmp_path).returncode == 0
    assert compare("a.jsonl", "b.jsonl", "--margin", "-1", cwd=tmp_path).returncode == 2


def test_construct_dependent_measures_are_shown_and_not_judged(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", cell(SLOTS, both_orders("p", [("A", "B")] * 30)))
    write(tmp_path / "b.jsonl", cell(SLOTS, both_orders("p", [("A", "A")] * 30)))
    done = compare("a.jsonl", "b.jsonl", cwd=tmp_path)
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line.startswith("  o")}
    assert rows["order_stable"].endswith("not judged")
    assert rows["order_positional"].endswith("regressed")


def test_another_suite_digest_is_said_among_what_changed(tmp_path: Path) -> None:
    write(tmp_path / "a.json", judge(0), digest="a" * 16)
    write(tmp_path / "b.json", judge(0), digest="b" * 16)
    assert f"digest {'a' * 16} -> {'b' * 16}" in compare("a.json", "b.json", cwd=tmp_path).stdout


def test_what_cannot_be_compared_says_why(tmp_path: Path) -> None:
    write(tmp_path / "a.json", judge(0))
    (tmp_path / "old.json").write_text(json.dumps({"schema": "judgesense/baseline/0"}))
    (tmp_path / "odd.json").write_text("[1")
    for name, code, says in (
        ("none.json", 2, "there is no file"),
        ("none.jsonl", 2, "cannot be read"),
        ("old.json", 3, "judgesense/baseline/0"),
        ("odd.json", 3, "cannot be read"),
    ):
        done = compare("a.json", name, cwd=tmp_path)
        assert (done.returncode, says in done.stderr) == (code, True), done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("wrong", [{"templates": 3}, {"templates": {"t1": 3}}, {"system": 3}])
def test_prompts_of_another_kind_in_a_baseline_are_an_error(
    tmp_path: Path, wrong: dict[str, object]
) -> None:
    write(tmp_path / "a.json", judge(0))
    value = json.loads((tmp_path / "a.json").read_text())
    value["judges"][0]["suites"][0]["prompts"] |= wrong
    (tmp_path / "b.json").write_text(json.dumps(value))
    done = compare("a.json", "b.json", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "b.json is not of the form judgesense/baseline/1" in done.stderr
    assert f"prompts.{next(iter(wrong))}" in done.stderr


def test_trials_that_belong_to_other_clusters_are_not_paired_by_clusters(tmp_path: Path) -> None:
    """As somebody may group the items of a log anew."""
    write(tmp_path / "a.jsonl", judge(4))
    write(tmp_path / "b.jsonl", judge(6))
    lines = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    anew = [json.dumps(line | {"cluster": f"topic {line['item'][:2]}"}) for line in lines]
    (tmp_path / "b.jsonl").write_text("".join(f"{line}\n" for line in anew))
    done = compare("a.jsonl", "b.jsonl", cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1), done.stderr
    assert any(line.startswith("  kappa ") for line in done.stdout.splitlines())


def test_nothing_in_common_is_a_wrong_command(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", judge(0))
    text = (tmp_path / "a.jsonl").read_text().replace('"suite":"s"', '"suite":"other"')
    (tmp_path / "b.jsonl").write_text(text)
    done = compare("a.jsonl", "b.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    assert "j on s against j on other" in done.stderr
    assert "judgesense import ... --suite NAME" in done.stderr


def test_a_reply_with_control_characters_reaches_no_terminal_raw(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", judge(0))
    write(tmp_path / "b.jsonl", judge(2))
    text = (tmp_path / "b.jsonl").read_text().replace('"reply":null', '"reply":"\\u001b[2J"')
    (tmp_path / "b.jsonl").write_text(text)
    done = compare("a.jsonl", "b.jsonl", cwd=tmp_path)
    assert "\x1b" not in done.stdout
    assert "\\x1b[2J" in done.stdout


def test_two_different_judges_differ_and_neither_regressed(tmp_path: Path) -> None:
    """The regression of one judge, by two names: the first is better, and that is no failure."""
    write(tmp_path / "a.json", replace(judge(0), judge="one"))
    other = judge(12)
    renamed = tuple(replace(one, judge="other") for one in other.judgments)
    write(tmp_path / "b.json", replace(other, judge="other", judgments=renamed))
    done = compare("a.json", "b.json", cwd=tmp_path)
    assert done.returncode == 0
    assert "judges one and other, suite s" in done.stdout
    jss = next(line for line in done.stdout.splitlines() if line.startswith("  jss "))
    assert jss.endswith("differ: first better")
    assert "regressed" not in done.stdout


def test_two_judges_that_no_measure_ranks_are_compared_all_the_same(tmp_path: Path) -> None:
    """One wording, one order: neither stability nor position bias was measured of either."""
    words = {f"i{k}": (("YES", "NO")[k % 2],) for k in range(20)}
    for name in ("one", "other"):
        of = cell(YES_NO, worded(words))
        renamed = tuple(replace(one, judge=name) for one in of.judgments)
        write(tmp_path / f"{name}.jsonl", replace(of, judge=name, judgments=renamed))
    done = compare("one.jsonl", "other.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "judges one and other, suite s" in done.stdout
    # What neither has is no difference.
    assert "has no jss" not in done.stdout
    alone = compare("one.jsonl", cwd=tmp_path)
    assert alone.returncode == 2
    assert "there are no judges to rank" in alone.stderr


def test_notes_call_the_two_what_they_are(tmp_path: Path) -> None:
    """Units without a partner: of a judge measured twice, and of two judges."""
    write(tmp_path / "old.jsonl", judge(0, 40))
    write(tmp_path / "new.jsonl", judge(0, 38))
    done = compare("old.jsonl", "new.jsonl", cwd=tmp_path)
    said = " ".join(done.stdout.split())
    assert "of 80 trials of the old measurement and 76 of the new measurement the 76 in" in said
    other = judge(0, 38)
    renamed = tuple(replace(one, judge="other") for one in other.judgments)
    write(tmp_path / "other.jsonl", replace(other, judge="other", judgments=renamed))
    done = compare("old.jsonl", "other.jsonl", cwd=tmp_path)
    said = " ".join(done.stdout.split())
    assert "of 80 trials of the first judge and 76 of the second judge the 76 in both are" in said
    assert "baseline" not in said


def test_a_revision_is_compared_with_what_is_recorded_now(tmp_path: Path) -> None:
    """The present side is replayed, or read as it is recorded, whatever would be asked."""
    root = repository(tmp_path / "project")
    table = '[tool.judgesense.judges.mine]\nprovider = "embedded"\nmodel = "{}"\n'
    (root / "pyproject.toml").write_text(table.format("clean"))
    suite = root / "suites" / "vacuum.suite.toml"
    suite.parent.mkdir()
    shipped = CASSETTES.parent / "suites" / "vacuum"
    for file in shipped.iterdir():
        (suite.parent / file.name).write_bytes(file.read_bytes())
    cassette = root / "cassettes" / "mine" / "vacuum.jsonl"
    cassette.parent.mkdir(parents=True)
    cassette.write_bytes((CASSETTES / "clean" / "vacuum.jsonl").read_bytes())
    commit(root)
    cassette.write_bytes((CASSETTES / "positional" / "vacuum.jsonl").read_bytes())
    stale = compare("git:HEAD", cwd=root)
    assert stale.returncode == 3
    assert "the model changed since it was recorded" in stale.stderr
    assert "vacuum.suite.toml --judge-mode record" in stale.stderr
    assert compare("git:HEAD", "--no-code", cwd=root).returncode == 1
    (root / "pyproject.toml").write_text(table.format("positional"))
    read = compare("git:HEAD", "--no-code", cwd=root)
    result = compare("git:HEAD", cwd=root)
    assert result.returncode == read.returncode == 1, result.stdout + result.stderr
    # The same verdicts, with a line that says how they were read.
    said = "no code was run: the verdicts of functions are those that they had returned\n"
    assert read.stdout == result.stdout + said
    text = " ".join(result.stdout.split())
    assert "judge mine, suite vacuum" in text
    assert "the model changed" in text
    assert "the prompt changed" not in text
    assert "regressed" in text
    # The recordings are those that pytest would find from a folder of the project.
    below = compare("git:HEAD", cwd=root / "suites")
    assert (below.returncode, below.stdout) == (result.returncode, result.stdout)
    first = compare("git:HEAD^", cwd=root)
    assert first.returncode == 0  # there is nothing to compare with, and nobody's fault
    assert first.stdout == "HEAD^ is not there: HEAD has no parent: not compared\n"
    gone = compare("git:nothing", cwd=root)
    assert gone.returncode == 2
    assert "there is no revision 'nothing'" in gone.stderr
    assert "Traceback" not in gone.stderr
