"""From the verdicts of a jury's members to its own. Pure.

A jury is never asked. Its members are, each as a judge of its own, and a trial of the jury has the
verdict that its rule makes of theirs:

- ``majority``: the verdict that more members state than any other. Where two are stated as often,
  it is a tie if the suite permits one, else there is no verdict.
- ``mean``: of grades the one that is nearest to their mean, half way between two the lower; of
  scores the mean itself. It needs verdicts that are ordered. Grades that are words, which have no
  mean, count as their places on the scale.

Where a verdict grades several criteria, each criterion has its own. Members without a verdict have
no vote; with fewer votes than the quorum there is no verdict.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.judges.spec import JudgeSpec, Jury, JuryRule, table_of
from pytest_judgesense.suites.space import (
    DecisionSpace,
    grades_in,
    number_of,
    verdict_of_grades,
)
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import (
    TIE,
    Failed,
    Judgment,
    JudgmentOutcome,
    ScoreRange,
    Trial,
    Unparsed,
    Usage,
    Verdict,
    is_refusal,
    majority,
    score_of_text,
    score_text,
)


def rule_on(judge: JudgeSpec, suite: Suite) -> JuryRule:
    """The rule of a jury on a suite: as declared, else the one that fits its verdicts.

    Raises:
        UsageError: the declared rule fits no verdict of the suite.
    """
    assert judge.jury is not None, "only a jury has a rule"
    space = suite.space
    is_ordered = space.ordinal or bool(space.criteria) or space.score is not None
    fitting: JuryRule = "mean" if is_ordered else "majority"
    rule = judge.jury.rule or fitting
    if (rule == "mean" and not is_ordered) or (rule == "majority" and space.score is not None):
        verdicts = "scores" if space.score else f"the verdicts {listed(space.verdicts)}"
        raise UsageError(
            f"rule = {rule!r} of jury {judge.name!r} does not fit suite {suite.name}",
            found=f"{verdicts}, {'which have no order' if rule == 'mean' else 'any number'}",
            expected=f'"{fitting}"',
            remedy=f"leave rule out of {table_of(judge.name)}: each suite then has the one that "
            "fits; or leave out the suite",
        )
    return rule


def jury_judgments(
    judge: JudgeSpec, suite: Suite, by_member: Mapping[str, Sequence[Judgment]]
) -> tuple[Judgment, ...]:
    """The judgments of a jury, of the trials that all its members were asked.

    Args:
        judge: the jury.
        suite: as its members are asked.
        by_member: by name, the judgments of each member.
    """
    assert judge.jury is not None, "only a jury has members"
    rule = rule_on(judge, suite)
    votes_of = [{judgment.trial.id: judgment for judgment in of} for of in by_member.values()]
    first, *others = votes_of
    return tuple(
        _judgment(judge, suite, rule, dict(zip(by_member, votes, strict=True)))
        for id_, judgment in first.items()
        if all(id_ in of for of in others)
        for votes in [(judgment, *(of[id_] for of in others))]
    )


def _judgment(
    judge: JudgeSpec, suite: Suite, rule: JuryRule, votes: Mapping[str, Judgment]
) -> Judgment:
    """The judgment of a jury on one trial, from those of its members by name."""
    assert judge.jury is not None, "only a jury has members"
    trial: Trial = next(iter(votes.values())).trial
    outcome = pooled(judge.jury, suite.space, rule, votes)
    latencies = [vote.latency_s for vote in votes.values() if vote.latency_s is not None]
    return Judgment(
        trial=trial,
        judge=judge.name,
        outcome=outcome,
        chosen=suite.space.chosen(trial, outcome),
        reply="\n".join(f"{name}: {_vote_words(vote)}" for name, vote in votes.items()),
        usage=Usage.summed(vote.usage for vote in votes.values()),
        latency_s=max(latencies, default=None),
        recorded_at=max(filter(None, (vote.recorded_at for vote in votes.values())), default=None),
    )


def _vote_words(vote: Judgment) -> str:
    """What a member says, as the reply of its jury shows it."""
    outcome = vote.outcome
    if isinstance(outcome, Verdict):
        return outcome.value
    kind = "no reply" if isinstance(outcome, Failed) else "no verdict"
    return f"{kind} ({outcome.reason})"


def pooled(
    jury: Jury, space: DecisionSpace, rule: JuryRule, votes: Mapping[str, Judgment]
) -> JudgmentOutcome:
    """The outcome that the members' judgments of one trial make by a rule.

    Args:
        jury: of these members.
        space: the verdicts that there may be.
        rule: one that fits the space, see `rule_on`.
        votes: by name, the judgment of each member.
    """
    stated = [vote.verdict for vote in votes.values() if vote.verdict is not None]
    if len(stated) < jury.least:
        return _without_quorum(jury, votes, len(stated))
    if space.criteria:
        return _pooled_grades(jury, space, rule, stated)
    verdict = _by_rule(rule, stated, space.labels, space.score)
    if verdict is not None:
        return Verdict(verdict)
    if rule == "majority" and space.tie:
        return Verdict(TIE)
    return Unparsed(f"tie of members: {_counted(stated)}")


def _pooled_grades(
    jury: Jury, space: DecisionSpace, rule: JuryRule, stated: Sequence[str]
) -> JudgmentOutcome:
    """The verdict with a grade for each criterion that enough members grade."""
    grades: dict[str, str | None] = {}
    for criterion in space.criteria:
        given = [grade for verdict in stated if (grade := grades_in(verdict).get(criterion.name))]
        enough = given if len(given) >= jury.least else []
        grades[criterion.name] = _by_rule(rule, enough, criterion.labels, None)
    if not any(grades.values()):
        return Unparsed("no grade by rule: no criterion has one of enough members")
    return Verdict(verdict_of_grades(grades))


def _by_rule(
    rule: JuryRule, stated: Sequence[str], labels: Sequence[str], score: ScoreRange | None
) -> str | None:
    """The verdict that a rule makes of those stated; ``None`` for a tie, and for none of them."""
    if rule == "majority":
        return majority(stated)
    if score is not None:
        return score_text(math.fsum(map(score_of_text, stated)) / len(stated)) if stated else None
    values = _values(labels)
    graded = [values[grade] for grade in stated if grade in values]
    if not graded:
        return None
    mean = sum(graded, Fraction()) / len(graded)
    # Of two grades that are as near the lower one: more is not granted than the members do.
    return min(labels, key=lambda label: (abs(values[label] - mean), values[label]))


def _values(labels: Sequence[str]) -> dict[str, Fraction]:
    """What the grades of a scale count: if all are numbers these, else their places.

    A list of numbers may run downwards, or leave some out.
    """
    numbers = {label: number for label in labels if (number := number_of(label)) is not None}
    if len(numbers) < len(labels):
        return {label: Fraction(place) for place, label in enumerate(labels)}
    # As they are written: half way between 0.1 and 0.2 is as near to both.
    return {label: Fraction(str(number)) for label, number in numbers.items()}


def _without_quorum(jury: Jury, votes: Mapping[str, Judgment], stated: int) -> JudgmentOutcome:
    """Why there is no verdict: too few replied, or of those who did too few state one."""
    of, needed = len(votes), f"{jury.least} needed"
    lacking = {name: vote.outcome for name, vote in votes.items() if vote.verdict is None}
    failed = [name for name, outcome in lacking.items() if isinstance(outcome, Failed)]
    if of - len(failed) < jury.least:
        return Failed(f"no quorum: {of - len(failed)} of {of} members replied, {needed}")
    reason = f"no quorum: {stated} of {of} members state a verdict, {needed}"
    refused = [
        name
        for name, outcome in lacking.items()
        if isinstance(outcome, Unparsed) and is_refusal(outcome.reason)
    ]
    if len(refused) == len(lacking):
        return Unparsed("; ".join([f"refusal of {listed(refused)}", reason]))
    return Unparsed(reason)


def _counted(stated: Sequence[str]) -> str:
    """How often each verdict is stated, the most frequent first."""
    return ", ".join(f"{verdict} {count}" for verdict, count in Counter(stated).most_common())
