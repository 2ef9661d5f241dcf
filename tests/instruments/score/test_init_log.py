"""``judgesense init --from-log`` on a log of scores."""

from __future__ import annotations

from pathlib import Path

from tests.questions.init.test_from_log import line, log_of, made

DESIGN = {
    "kind": "score",
    "labels": ["0", "1"],
    "score": [0, 1],
    "pass_mark": 0.5,
}


def test_scores_become_a_suite_of_scores(tmp_path: Path) -> None:
    lines = [
        {**line(n, f"0.{n + 10}"), "design": DESIGN, "label": f"0.{n + 20}"} for n in range(40)
    ]
    log_of(tmp_path, *lines)
    suite = made(tmp_path, sample=10)
    assert suite.space.score == (0, 1)
    assert suite.space.pass_mark == 0.5
    assert suite.kind == DESIGN["kind"]
    assert len(suite.items) == 10
    assert {check.name for check in suite.checks} == {
        "unparsed_rate_ceiling",
        "score_error_bound",
        "score_correlation_floor",
        "mark_agreement_floor",
        "wording_distance_bound",
        "repeat_distance_bound",
        "no_regression",
    }
    # Scores are .10 to .49, 10 of them below .20, and 30 in the other fifth: 2 or 3 and the rest.
    low = sum(int(item.id) < 10 for item in suite.items)
    assert low in (2, 3)
