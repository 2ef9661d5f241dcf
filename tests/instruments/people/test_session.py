"""A suite with labels of people in a session: gated, the same from its log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import datasheet_of, measure
from pytest_judgesense.instruments.builtin import BUILT_IN
from tests.plugin.project import forked

SUITE = """
schema = "judgesense/suite/1"
name = "wins"
kind = "paraphrase"
[space]
labels = ["A", "B"]
pairwise = true
[stimuli]
file = "wins.csv"
columns = { people = ["anna", "ben"] }
labelled = "random"
[design]
orders = "ab"
[[templates]]
id = "t1"
text = "{{task}} {{a}} {{b}}"
[checks]
corrected_rate_floor = 0.6
people_kappa_floor = { bar = 0.4, limit = 0.1 }
"""
# A first slot that is preferred: 11 of the 30 pairs that content 2 wins are given to content 1.
MODULE = """
def slots(messages):
    number = int(messages[-1]["content"].split()[0])
    return "A" if number < 30 or number < 41 else "B"
"""
DECLARED = """
[tool.judgesense.judges.slots]
provider = "callable"
model = "prefers_the_first:slots"
"""


def rows() -> str:
    lines = ["task,a,b,anna,ben"]
    for number in range(60):
        label = ("2", "1")[number < 30] if number % 2 == 0 else ""
        lines.append(f"{number},x{number},y{number},{label},{label if number % 4 == 0 else ''}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    (pytester.path / "wins.csv").write_text(rows(), encoding="utf-8")
    (pytester.path / "wins.suite.toml").write_text(SUITE, encoding="utf-8")
    (pytester.path / "pyproject.toml").write_text(DECLARED, encoding="utf-8")
    (pytester.path / "prefers_the_first.py").write_text(MODULE, encoding="utf-8")
    return pytester


def estimates(path: Path) -> list[dict[str, Any]]:
    (judge,) = json.loads(path.read_text(encoding="utf-8"))["judges"]
    joined = {measure.name for measure in BUILT_IN.joined}
    found = [one for one in judge["measures"] if one["measure"] in joined]
    assert found
    return found


def test_a_biased_rate_is_named_on_the_first_screen_and_fails_its_check(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    files = [part for name in ("s.json", "s.jsonl", "s.md", "s.html") for part in
             ("--judge-datasheet", name)]  # fmt: skip
    done = forked(project, "wins.suite.toml", "--judge-mode", "record", *files)
    done.assert_outcomes(passed=1, failed=1)
    text = " ".join(done.stdout.str().split())
    assert "the rate that people would give is 0.49 (raw rate 0.683, biased: 0.19 too high" in text
    assert "corrected_rate 0.49 [0.3" in text
    assert "at least 0.60 wanted" in text
    # Both labels and how they were drawn stand in the log: read again it gives the same.
    line = json.loads((project.path / "s.jsonl").read_text("utf-8").splitlines()[0])
    assert line["people"] == {"label": {"anna": "1", "ben": "1"}}
    assert line["design"]["labelled"] == "random"
    again = datasheet_of(project.path / "s.jsonl")
    told = {
        (e["measure"], str(e["condition"])): e["value"] for e in estimates(project.path / "s.json")
    }
    assert told == {
        (e.measure, str(dict(e.condition))): e.value
        for e in again.estimates
        if (e.measure, str(dict(e.condition))) in told
    }
    assert "0.68 is biased: people would give 0.49" in (project.path / "s.md").read_text("utf-8")
    assert "Rates, raw and corrected" in (project.path / "s.html").read_text("utf-8")
    # Replayed with labels that changed: nothing is asked again, and the numbers are others.
    (project.path / "wins.csv").write_text(rows().replace("2,x2,y2,1,", "2,x2,y2,2,"), "utf-8")
    other = measure("slots", project.path / "wins.suite.toml", cassettes=project.path / "cassettes")
    assert other.judges[0].calls.made == 0
    assert [check.outcome for check in other.checks] == ["fail", "pass"]
    other.write(project.path / "w.json")
    assert estimates(project.path / "w.json") != estimates(project.path / "s.json")


RARE_SUITE = """
schema = "judgesense/suite/1"
name = "rare"
kind = "paraphrase"
[space]
labels = ["no", "yes"]
[stimuli]
file = "rare.csv"
columns = { people = ["person"] }
[design]
replicates = 3
[[templates]]
id = "t1"
text = "{{text}} no or yes?"
[checks]
no_regression = ["recall", "informedness", "agreement"]
"""
# Of sixty items twelve are called "yes", and six of these are lost once a file is there.
RARE_MODULE = """
from pathlib import Path

def judge(messages):
    number = int(messages[-1]["content"].split()[0])
    lost = 6 if Path("lost").exists() else 0
    return "yes" if lost <= number < 12 else "no"
"""
RARE_JUDGE = """
[tool.judgesense.judges.rare]
provider = "callable"
model = "finds_the_rare:judge"
"""


def test_half_of_a_rare_label_that_is_lost_fails_and_the_label_is_named(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    labels = "".join(f"{k} words,{'yes' if k < 12 else 'no'}\n" for k in range(60))
    written = {
        "rare.csv": f"text,person\n{labels}",
        "rare.suite.toml": RARE_SUITE,
        "pyproject.toml": RARE_JUDGE,
        "finds_the_rare.py": RARE_MODULE,
    }
    for name, text in written.items():
        (pytester.path / name).write_text(text, encoding="utf-8")
    live = ("rare.suite.toml", "--judge-mode", "live")
    assert forked(pytester, *live, "--judge-save-baseline", "base.json").ret == 0
    (pytester.path / "lost").touch()
    # Six of sixty are a tenth: of agreement that is the margin.
    worse = forked(pytester, *live, "--judge-baseline", "base.json")
    worse.assert_outcomes(failed=3)
    text = " ".join(worse.stdout.str().split())
    assert "worse than the baseline: recall (label=yes) 1.00 to 0.50 (-0.50 [" in text
    assert "worse than the baseline: informedness 1.00 to 0.50 (-0.50 [" in text
    # One of 2^6 swaps, in all that is compared: p is not multiplied by four.
    assert "p 0.0156 if there were no loss, corrected for 4 comparisons" in text
