"""The design of JudgeSense's tables: 25 items, five wordings in a ring, three runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment, Verdict
from tests.measures.building import cell_of, estimate, perfect_judgments
from tests.suites.files import write_suite
from tests.suites.known import load_suite
from tests.suites.linting import HEAD, YES_NO, templates

PRESETS = """
[presets.published]
items = 25

[presets.published-three-runs]
items = 25
replicates = 3
"""
ROWS = [{"id": f"i{n:02}", "text": f"{n}.", "label": ("YES", "NO")[n % 2]} for n in range(40)]


@pytest.fixture
def load(tmp_path: Path) -> dict[str, Suite]:
    wordings = templates(*(f"Wording {n}. YES or NO? {{{{text}}}}" for n in range(5)))
    review = '[[equivalence]]\npair = ["t2", "t3"]\nreviews = { ann = "NO" }\n'
    suites = {}
    for name, more in (("all", ""), ("reviewed", review)):
        folder = tmp_path / name
        folder.mkdir()
        path = write_suite(
            folder, HEAD.format(kind="paraphrase") + YES_NO + wordings + more + PRESETS, ROWS
        )
        for preset in ("published", "published-three-runs"):
            suites[f"{name}@{preset}"] = load_suite(path, preset)
    return suites


def cell(suite: Suite, flipped: int = 0) -> Cell:
    """A judge that contradicts itself under t1 in the second run of so many items."""
    items = {f"i{n:02}" for n in range(flipped)}

    def said(one: Judgment) -> Judgment:
        trial = one.trial
        if (trial.template, trial.replicate) != ("t1", 2) or trial.item not in items:
            return one
        return replace(one, outcome=Verdict("NO" if one.verdict == "YES" else "YES"))

    judgments = map(said, perfect_judgments(suite))
    return cell_of(suite.name, suite.design, judgments)


def test_three_runs_are_375_pairs_over_25_items(load: dict[str, Suite]) -> None:
    # 25 items x 5 pairs of the ring x 3 runs. In one run of four items t1 says the opposite: it
    # belongs to two pairs of the ring, so 4 x 2 flips.
    of = cell(load["all@published-three-runs"], flipped=4)
    jss = estimate(of, "jss")
    assert (len(of.judgments), jss.n, jss.count) == (375, 375, 367)
    assert jss.interval is not None
    assert jss.clustered is not None
    assert (jss.interval.method, jss.clustered.clusters) == ("percentile-bootstrap", 25)
    assert estimate(of, "kappa").n == 375
    # What asking again changes by itself stands beside it: 25 items x 5 wordings, 4 of them flip.
    again = estimate(of, "repeat_flip_rate")
    assert (again.n, again.count) == (125, 4)


def test_the_first_of_three_runs_is_the_one_run_that_may_be_recorded(
    load: dict[str, Suite],
) -> None:
    one, three = (
        {trial.id for trial in plan_trials(load[f"all@{name}"])}
        for name in ("published", "published-three-runs")
    )
    assert (len(one), len(three)) == (125, 375)
    assert one == {trial for trial in three if trial.endswith("/r1")}


def test_a_pair_that_reviewers_reject_takes_75_pairs_with_it(load: dict[str, Suite]) -> None:
    assert estimate(cell(load["reviewed@published-three-runs"]), "jss").n == 300
