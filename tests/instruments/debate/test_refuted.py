"""Policy ``refuted`` on a rank: what the resamples of topics give, at the level that is asked."""

from __future__ import annotations

import pytest

from pytest_judgesense.checks.outcome import DecisionRule
from pytest_judgesense.errors import UsageError
from tests.checks.known import declare_check
from tests.report.replaying import replayed


# By hand, from the recording: p2 has no flip, 78 of 150 calls for PRO, score variance 0.089, so its
# instability is 3 * 0 + 0.089 + 2 * 0.020 = 0.129; p0 3 * 1/50 + 0.086 + 2 * 4/150 = 0.199; p1 3 *
# 2/50 + 0.093 + 2 * 5/150 = 0.280 (variances of the confidence are below 0.002). In 20,000 draws of
# 25 topics by numpy p2 is first in 73%, p0 in 23%, p1 in 4%.
@pytest.mark.parametrize(
    ("config", "alpha", "word"),
    [
        ("clean:p2", 0.3, "inconclusive"),
        ("clean:p0", 0.15, "inconclusive"),
        ("clean:p0", 0.3, "fail"),
        ("clean:p1", 0.3, "fail"),
    ],
)
def test_a_rank_fails_where_no_resample_gives_it(config: str, alpha: float, word: str) -> None:
    check = declare_check("ranked_first", (), {"config": config})
    cells = {"clean": replayed("clean", "debate").cell}
    assert check.kind.judge is not None
    found = check.kind.judge(check, "debate", cells, DecisionRule("refuted", alpha=alpha))
    assert (found.outcome, found.fails) == (word, word == "fail")


def test_a_rank_cannot_be_a_known_failure() -> None:
    failure = {"known": "why", "at": 2, "until": "2026-12-01"}
    with pytest.raises(UsageError, match="no bar that a number could be held against"):
        declare_check("ranked_first", ("clean:p0",), failure)
