"""The rules of a session against those of a revision."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_judgesense.plugin.revision_rules import SessionRules, rules_of

HERE = SessionRules("estimate", 0.05)


@pytest.mark.parametrize(
    ("own", "then", "typed", "rules"),
    [
        (HERE, {}, [], HERE),
        # The branch gave up a stricter policy, in the twin of the option or among the options.
        (
            HERE,
            {"judge_policy": "confident"},
            [],
            HERE._replace(
                policy="confident",
                loosened=("judge_policy confident -> estimate (confident holds)",),
            ),
        ),
        (
            HERE._replace(policy="refuted"),
            {"addopts": "-q --judge-policy confident"},
            [],
            HERE._replace(
                policy="confident",
                loosened=("judge_policy confident -> refuted (confident holds)",),
            ),
        ),
        # What is typed holds, and what is stricter is no matter.
        (HERE, {"judge_policy": "confident"}, ["judge-policy"], HERE),
        (HERE._replace(policy="confident"), {}, [], HERE._replace(policy="confident")),
        # More may be missing than by default, or than was said.
        (
            HERE._replace(most_missing=1.0),
            {},
            [],
            HERE._replace(loosened=("judge_max_missing 0.05 -> 1 (0.05 holds)",)),
        ),
        (
            HERE,
            {"addopts": ["--judge-max-missing=0.01"]},
            [],
            HERE._replace(
                most_missing=0.01, loosened=("judge_max_missing 0.01 -> 0.05 (0.01 holds)",)
            ),
        ),
        (HERE._replace(most_missing=1.0), {"judge_max_missing": "1"}, [], None),
        (HERE._replace(most_missing=1.0), {}, ["judge-max-missing"], None),
        (HERE, {"judge_max_missing": "many", "addopts": "'"}, [], HERE),
    ],
)
def test_what_a_branch_loosens_for_itself_holds_as_it_was(
    own: SessionRules, then: dict[str, Any], typed: list[str], rules: SessionRules | None
) -> None:
    assert rules_of(own, then, typed) == (rules or own)
