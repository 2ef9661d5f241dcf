"""The table of the judges of a panel, by hand."""

from __future__ import annotations

from pytest_judgesense.questions.report.panel.panel_answer import _judges
from pytest_judgesense.questions.report.panel.votes import JudgePanel, VotePrice, ballots_of

from .test_votes import cells_of

# Most say YES of a, NO of b, NO of c, where `mild` has no verdict.
SAID = {
    "mild": {"a": ("YES",), "b": ("YES",), "c": ("?",)},
    "strict": {"a": ("NO",), "b": ("NO",), "c": ("NO",)},
    "usual": {"a": ("YES",), "b": ("NO",), "c": ("NO",)},
}


def test_a_judge_is_against_most_where_it_votes_otherwise() -> None:
    ballots = ballots_of(cells_of(SAID, {"a": None, "b": None, "c": None}))
    panel = JudgePanel("s", ballots, (VotePrice(1.0, None, None),) * 3, alpha=0.05, seed=0)
    table = _judges(panel)
    judge, against, none = (table.columns.index(n) for n in ("judge", "against most", "no vote"))
    assert [(row[judge], row[against], row[none]) for row in table.rows] == [
        ("mild", 1, 1),
        ("strict", 1, 0),
        ("usual", 0, 0),
    ]
