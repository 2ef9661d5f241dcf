"""Juries: what is declared, and the verdict that a rule makes of those of the members."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import Judge, measure
from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.calls import identity_of
from pytest_judgesense.judges.jury import jury_judgments, pooled, rule_on
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.resolving import declared_judges, resolve_judges, with_members
from pytest_judgesense.judges.spec import JudgeSpec, Jury
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import (
    TIE,
    Criterion,
    Failed,
    Judgment,
    JudgmentOutcome,
    ScoreRange,
    Trial,
    Unparsed,
    Verdict,
    is_refusal,
)
from tests.plugin.project import parity_suite
from tests.suites.known import load_suite

LABELS = DecisionSpace(("YES", "NO"))
PAIRS = DecisionSpace(("A", "B"), pairwise=True, tie=True)
GRADES = DecisionSpace(("1", "2", "3", "4", "5"), ordinal=True)
SCORES = DecisionSpace(("0", "1"), score=ScoreRange(0.0, 1.0))
NO_REPLY = Failed("HTTP 500")
NO_VERDICT = Unparsed("no verdict")


def outcomes(*stated: str | JudgmentOutcome) -> dict[str, Judgment]:
    """The judgments of members ``a``, ``b``, ... on one trial."""
    trial = Trial("s/i/t/ab/r1", "s", "i", "i", "t")
    return {
        name: Judgment(trial, name, Verdict(of) if isinstance(of, str) else of)
        for name, of in zip("abcde", stated, strict=False)
    }


def verdict_of(
    space: DecisionSpace, *stated: str | JudgmentOutcome, rule: Any = "majority", quorum: Any = None
) -> JudgmentOutcome:
    votes = outcomes(*stated)
    return pooled(Jury(tuple(votes), quorum=quorum), space, rule, votes)


def test_two_against_one() -> None:
    assert verdict_of(LABELS, "YES", "NO", "YES") == Verdict("YES")
    assert verdict_of(PAIRS, "B", "A", "B") == Verdict("B")
    # More than any other, and not more than half: 2 of 4.
    assert verdict_of(DecisionSpace(("x", "y", "z")), "x", "y", "x", "z") == Verdict("x")


def test_a_tie_by_rule_is_a_tie_where_there_may_be_one() -> None:
    assert verdict_of(PAIRS, "A", "B") == Verdict(TIE)
    assert verdict_of(PAIRS, "A", "B", "tie") == Verdict(TIE)
    assert verdict_of(LABELS, "YES", "NO") == Unparsed("tie of members: YES 1, NO 1")
    assert verdict_of(replace(PAIRS, tie=False), "A", "B") == Unparsed("tie of members: A 1, B 1")


def test_without_a_quorum_there_is_no_verdict() -> None:
    # By default all must state one.
    assert verdict_of(LABELS, "YES", "YES", NO_REPLY) == Failed(
        "no quorum: 2 of 3 members replied, 3 needed"
    )
    assert verdict_of(LABELS, "YES", "YES", NO_VERDICT) == Unparsed(
        "no quorum: 2 of 3 members state a verdict, 3 needed"
    )
    assert verdict_of(LABELS, "YES", "YES", NO_REPLY, quorum=2) == Verdict("YES")
    # Two replied, which would do, and one of them states no verdict.
    assert verdict_of(LABELS, "YES", NO_VERDICT, NO_REPLY, quorum=2) == Unparsed(
        "no quorum: 1 of 3 members state a verdict, 2 needed"
    )


def test_a_jury_refuses_where_those_without_a_verdict_do() -> None:
    refused = verdict_of(LABELS, "YES", "YES", Unparsed("refusal"))
    assert isinstance(refused, Unparsed)
    assert is_refusal(refused.reason)
    other = verdict_of(LABELS, "YES", NO_VERDICT, Unparsed("refusal"))
    assert isinstance(other, Unparsed)
    assert not is_refusal(other.reason)


@pytest.mark.parametrize(
    ("stated", "grade"),
    [
        (("4", "4", "5"), "4"),  # 4.33
        (("4", "5", "5"), "5"),  # 4.67
        (("4", "5"), "4"),  # 4.5: the lower of two that are as near
        (("1", "4"), "2"),  # 2.5
        (("3",), "3"),
    ],
)
def test_the_mean_of_grades_is_the_nearest_grade(stated: tuple[str, ...], grade: str) -> None:
    assert verdict_of(GRADES, *stated, rule="mean") == Verdict(grade)


@pytest.mark.parametrize(
    ("labels", "stated", "grade"),
    [
        (("5", "4", "3", "2", "1"), ("5", "4"), "4"),  # 4.5, as if the list ran upwards
        (("1", "3", "10"), ("1", "10", "10"), "10"),  # 7: 3 from 10, 4 from 3
        (("1", "3", "10"), ("1", "3", "3", "10"), "3"),  # 4.25
        (("0", "0.1", "0.2"), ("0.1", "0.2"), "0.1"),  # 0.15, which floats have nearer to 0.2
        # Words count by their places 0, 1, 2: the mean 1.5 is half way, and 1.67 is not.
        (("poor", "fair", "good"), ("fair", "good"), "fair"),
        (("poor", "fair", "good"), ("fair", "good", "good"), "good"),
    ],
)
def test_grades_that_are_numbers_count_as_such_and_words_by_their_places(
    labels: tuple[str, ...], stated: tuple[str, ...], grade: str
) -> None:
    scale = DecisionSpace(labels, ordinal=True)
    assert verdict_of(scale, *stated, rule="mean") == Verdict(grade)
    by_criterion = replace(scale, criteria=(Criterion("clear", labels),))
    votes = [json.dumps({"clear": of}) for of in stated]
    assert verdict_of(by_criterion, *votes, rule="mean") == Verdict(f'{{"clear":"{grade}"}}')


def test_the_mean_of_scores_is_a_score() -> None:
    # (0.2 + 0.9 + 0.4) / 3
    assert verdict_of(SCORES, "0.2", "0.9", "0.4", rule="mean") == Verdict("0.5")


def test_each_criterion_has_a_grade_of_its_own() -> None:
    scale = ("1", "2", "3")
    space = DecisionSpace(scale, criteria=(Criterion("clear", scale), Criterion("true", scale)))
    votes = [
        json.dumps({"clear": "1", "true": "3"}),
        json.dumps({"clear": "3", "true": None}),
        json.dumps({"clear": "3", "true": "3"}),
    ]
    # clear: mean 2.33, most often 3; true: two of three grade it.
    assert verdict_of(space, *votes, rule="mean", quorum=2) == Verdict('{"clear":"2","true":"3"}')
    assert verdict_of(space, *votes, quorum=2) == Verdict('{"clear":"3","true":"3"}')
    assert verdict_of(space, *votes, rule="mean") == Verdict('{"clear":"2","true":null}')


# --- what is declared -----------------------------------------------------------------------------


def declared(tmp_path: Path, jury: str, more: str = "") -> dict[str, JudgeSpec]:
    judges = "".join(
        f'[tool.judgesense.judges.{name}]\nprovider = "openai"\nmodel = "m-{name}"\n'
        for name in "abc"
    )
    text = f"{judges}[tool.judgesense.judges.panel]\n{jury}\n{more}"
    (tmp_path / "pyproject.toml").write_text(text)
    return declared_judges(tmp_path)


def test_a_table_with_members_is_a_jury(tmp_path: Path) -> None:
    judges = declared(tmp_path, 'members = ["a", "b", "embedded:clean"]\nquorum = 2')
    (panel,) = resolve_judges(["panel"], judges, {})
    assert [member.name for member in panel.members] == ["a", "b", "clean"]
    assert (panel.provider, panel.settings) == ("jury", {"rule": None, "quorum": 2})
    # Its members stand before it, once: those that are named stay where they are.
    both = resolve_judges(["b", "panel"], judges, {})
    assert [judge.name for judge in with_members(both)] == ["b", "a", "clean", "panel"]


@pytest.mark.parametrize(
    ("jury", "what"),
    [
        ('members = ["a", "b", "d"]', "jury 'panel' has a member that is no judge: 'd'"),
        ('members = ["a", "panel"]', "jury 'panel' has a member that is a jury: 'panel'"),
        ('members = ["a", "other"]', "jury 'panel' has a member that is a jury: 'other'"),
        ('members = ["embedded:clean", "embedded:clean"]', "is named twice: a member has one vote"),
        ('members = ["a"]', "jury 'panel' is declared wrongly"),
        ('members = "a"', "jury 'panel' is declared wrongly"),
        ('members = ["a", "b"]\nquorum = 3', "3 of 2 members can never state a verdict"),
        ('members = ["a", "b"]\nquorum = 0', "quorum: Input should be greater than or equal to 1"),
        ('members = ["a", "b"]\nrule = "vote"', "rule: Input should be 'majority' or 'mean'"),
        ('members = ["a", "b"]\ntemperature = 0', "temperature: no such key"),
        ('members = ["a", "b"]\nquorom = 2', "did you mean 'quorum'?"),
        ('provider = "openai"\nmodel = "m"\nrule = "mean"', "rule: no such key"),
    ],
)
def test_a_wrong_jury_says_what_to_do(tmp_path: Path, jury: str, what: str) -> None:
    other = '[tool.judgesense.judges.other]\nmembers = ["a", "b"]\n'
    with pytest.raises(UsageError, match=re.escape(what)) as caught:
        resolve_judges(["panel"], declared(tmp_path, jury, other), {})
    assert caught.value.remedy


def test_one_judge_under_two_names_is_one_member(tmp_path: Path) -> None:
    judges = declared(tmp_path, 'members = ["clean", "embedded:clean"]')
    clean = {"clean": resolve_judges(["embedded:clean"], {}, {})[0]}
    with pytest.raises(UsageError, match="has one member twice"):
        resolve_judges(["panel"], judges, clean)


@pytest.mark.parametrize("name", ["panel", "Panel"])
def test_a_member_has_another_name_than_its_jury(name: str) -> None:
    # Else one judge of the datasheet would be both, with the figures of both.
    panel = Judge("panel", members=[Judge(name, print), Judge("b", print)]).spec
    with pytest.raises(UsageError, match="jury 'panel' has a member of its own name") as caught:
        resolve_judges(["panel"], {}, {"panel": panel})
    assert caught.value.found == f"{name!r} among its members"


def test_a_member_that_is_another_judge_than_one_of_its_name_is_an_error() -> None:
    panel = Judge("panel", members=[Judge("a", print), Judge("b", print)]).spec
    objects = {"panel": panel, "a": Judge("a", print).spec}
    assert [judge.name for judge in resolve_judges([], {}, objects)] == ["panel", "a"]
    other = {"panel": panel, "a": Judge("a", repr).spec}
    with pytest.raises(UsageError, match="two judges share one name") as caught:
        resolve_judges([], {}, other)
    assert caught.value.found == (
        "callable:builtins:print and callable:builtins:repr, both called 'a'"
    )


def test_a_jury_is_known_by_what_its_members_are(tmp_path: Path) -> None:
    suite = load_suite(parity_suite(tmp_path))

    def identity(jury: str) -> Mapping[str, Any]:
        (panel,) = resolve_judges(["panel"], declared(tmp_path, jury), {})
        return identity_of(panel, suite) | {"name": "", "model": ""}

    first = identity('members = ["a", "b"]')
    assert first == identity('members = ["b", "a"]')
    assert first != identity('members = ["a", "c"]')
    assert first != identity('members = ["a", "b"]\nquorum = 1')
    assert first != identity('members = ["a", "b"]\nrule = "majority"')
    assert first["members"][0]["model"] == "m-a"


def test_a_rule_fits_the_verdicts_of_a_suite(tmp_path: Path) -> None:
    labels = load_suite(parity_suite(tmp_path))
    grades = replace(labels, space=GRADES)
    scores = replace(labels, space=SCORES)

    def rule(of: Any, suite: Any) -> str:
        return rule_on(JudgeSpec("panel", "jury", "", jury=Jury(("a", "b"), of)), suite)

    assert [rule(None, suite) for suite in (labels, grades, scores)] == ["majority", "mean", "mean"]
    assert rule("majority", grades) == "majority"
    with pytest.raises(UsageError, match="rule = 'mean' of jury 'panel' does not fit suite parity"):
        rule("mean", labels)
    with pytest.raises(UsageError, match="rule = 'majority' of jury 'panel' does not fit"):
        rule("majority", scores)


def test_members_that_are_asked_other_trials_make_no_jury(tmp_path: Path) -> None:
    suite = load_suite(parity_suite(tmp_path))
    wordings = '["Is {{number}} even?", "Even: {{number}}?"]'
    more = f"[tool.judgesense.judges.c.prompts]\nparaphrases = {wordings}\n"
    (panel,) = resolve_judges(["panel"], declared(tmp_path, 'members = ["a", "c"]', more), {})
    with pytest.raises(UsageError, match="in other wordings") as caught:
        suite_for_judge(suite, panel)
    assert caught.value.found == "a: t1, t2, t3; c: t1, t2"


def test_a_jury_of_python_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    suite = parity_suite(tmp_path, checks="agreement_floor = 0.9")

    def right(messages: list[dict[str, str]]) -> str:
        return "YES" if int(re.sub(r"\D", "", messages[-1]["content"])) % 2 == 0 else "NO"

    def never(messages: list[dict[str, str]]) -> str:
        return "NO"

    members = [Judge("first", right), Judge("second", right), Judge("third", never)]
    sheet = measure(Judge("panel", members=members), suite, mode="live")
    # Its members stand beside it without checks: nobody has named them.
    assert [judge.name for judge in sheet.judges] == ["first", "panel", "second", "third"]
    assert [(line.check, line.outcome) for line in sheet.checks] == [
        ("agreement_floor[0.9]", "pass")
    ]
    (cell,) = sheet.cells
    two = next(judgment for judgment in cell.judgments if judgment.trial.item == "p2")
    assert (two.verdict, two.reply) == ("YES", "first: YES\nsecond: YES\nthird: NO")


def test_trials_that_a_member_was_not_asked_are_none_of_the_jury(tmp_path: Path) -> None:
    suite = load_suite(parity_suite(tmp_path))
    votes = outcomes("YES", "YES")
    panel = JudgeSpec("panel", "jury", "", jury=Jury(("a", "b")))
    by_member = {"a": [votes["a"]], "b": []}
    assert jury_judgments(panel, suite, by_member) == ()
    (judgment,) = jury_judgments(panel, suite, {"a": [votes["a"]], "b": [votes["b"]]})
    assert (judgment.judge, judgment.verdict) == ("panel", "YES")
