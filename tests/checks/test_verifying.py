"""What is asked again, and what is said of it, from judgments made by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

import pytest

from pytest_judgesense.checks.verifying import (
    NO_LONGER,
    Verification,
    compare,
    sampled,
    verification_from_plain,
    verification_lines,
)
from pytest_judgesense.trial import Failed, Judgment, JudgmentOutcome, Trial, Unparsed, Verdict

YES, NO = Verdict("YES"), Verdict("NO")
UNPARSED, FAILED = Unparsed("empty reply"), Failed("HTTP 500")


def judged(
    item: int, outcome: JudgmentOutcome, replicate: int = 1, reply: str | None = None
) -> Judgment:
    trial = Trial(
        id=f"s/i{item}/t1/ab/r{replicate}",
        suite="s",
        item=f"i{item}",
        cluster=f"i{item}",
        template="t1",
        replicate=replicate,
    )
    has_reply = not isinstance(outcome, Failed)
    said = outcome.value if isinstance(outcome, Verdict) else ""
    return Judgment(trial, "mine", outcome, reply=(reply or said) if has_reply else None)


def verified(
    recorded: Sequence[Judgment], fresh: Sequence[Judgment], count: int = 1000
) -> Verification:
    trials = sampled(recorded, count, seed=0)
    return compare(recorded, trials, fresh, "mine", "s", 0)


def said(found: Verification) -> str:
    lines = list(verification_lines(found))
    assert all(len(line) <= 100 and line.isprintable() for line in lines)
    return " ".join(" ".join(lines).split())


def test_a_sample_is_in_trial_order_and_of_the_size_asked_for() -> None:
    recorded = [judged(item, YES) for item in range(50)]
    chosen = sampled(recorded, 12, seed=3)
    assert len(chosen) == len({trial.id for trial in chosen}) == 12
    assert chosen == [j.trial for j in recorded if j.trial in chosen]


def test_a_larger_sample_holds_the_smaller_one_and_another_seed_draws_another() -> None:
    recorded = [judged(item, YES) for item in range(50)]
    ids = {trial.id for trial in sampled(recorded, 12, seed=3)}
    assert ids < {trial.id for trial in sampled(recorded, 20, seed=3)}
    assert ids != {trial.id for trial in sampled(recorded, 12, seed=4)}


def test_every_trial_is_sampled_about_as_often_as_any_other() -> None:
    # 10 of 50 under 1,000 seeds: 200 each, standard deviation sqrt(1,000 x 0.2 x 0.8) = 12.6; 5 of
    # these either side.
    recorded = [judged(item, YES) for item in range(50)]
    counts = dict.fromkeys((j.trial.id for j in recorded), 0)
    for seed in range(1000):
        for trial in sampled(recorded, 10, seed):
            counts[trial.id] += 1
    assert min(counts.values()) > 137
    assert max(counts.values()) < 263


def test_what_failed_when_it_was_recorded_is_not_asked_again() -> None:
    recorded = [judged(1, FAILED), judged(2, UNPARSED), judged(3, YES)]
    assert [trial.item for trial in sampled(recorded, 9, seed=0)] == ["i2", "i3"]


def test_without_replicates_there_is_an_exact_interval_and_no_p_value() -> None:
    recorded = [judged(item, YES) for item in range(10)]
    fresh = [judged(item, NO if item < 2 else YES) for item in range(10)]
    found = verified(recorded, fresh)
    assert found.p_value is None
    assert [change.trial for change in found.changes] == ["s/i0/t1/ab/r1", "s/i1/t1/ab/r1"]
    # Clopper and Pearson, 2 of 10 at 95%: 0.0252 to 0.5561.
    assert "2 of 10 verdicts changed 95% interval [0.025, 0.556] (Clopper-Pearson); no p" in said(
        found
    )


# 20 questions with the recorded replicates YES, YES. The first replicate of each is asked again and
# of these `changed` are NO: a lone dissenter of three each time, p = 3^-changed.
@pytest.mark.parametrize(
    ("changed", "p_value", "shown"),
    [
        (0, 1.0, "p = 1.0000: no more than its recorded replicates differ among themselves"),
        (2, 1 / 9, "p = 0.1111: no more than its recorded replicates differ among themselves"),
        (3, 1 / 27, f"p = 0.0370: {NO_LONGER}"),
        (9, 3**-9, f"p < 0.0001: {NO_LONGER}"),
    ],
)
def test_with_replicates_the_permutation_test_decides(
    changed: int, p_value: float, shown: str
) -> None:
    recorded = [judged(item, YES, r) for item in range(20) for r in (1, 2)]
    fresh = [judged(item, NO if item < changed else YES) for item in range(20)]
    found = compare(recorded, [j.trial for j in fresh], fresh, "mine", "s", 0)
    assert found.p_value == pytest.approx(p_value, rel=1e-12)
    assert found.groups == 20
    assert shown in said(found)


def test_a_judge_of_two_minds_has_not_changed_by_being_of_the_other_one() -> None:
    # YES, NO and again NO: the draw of YES would disagree with 2, a NO with 1, which is the least.
    recorded = [judged(item, v, r) for item in range(20) for r, v in ((1, YES), (2, NO))]
    fresh = [judged(item, NO) for item in range(20)]
    found = compare(recorded, [j.trial for j in fresh], fresh, "mine", "s", 0)
    assert len(found.changes) == 20
    assert found.p_value == 1


def test_a_recorded_failure_leaves_a_replicate_less() -> None:
    # YES and a failure against NO: one recorded reply, which says nothing; of the other question
    # YES, YES against NO p is 1/3.
    recorded = [judged(1, YES), judged(1, FAILED, 2), judged(2, YES), judged(2, YES, 2)]
    fresh = [judged(1, NO), judged(2, NO)]
    found = compare(recorded, [j.trial for j in fresh], fresh, "mine", "s", 0)
    assert found.p_value == pytest.approx(1 / 3)
    assert found.recorded == 3


def test_unparsed_failed_and_left_out_are_counted_apart() -> None:
    recorded = [judged(item, YES) for item in range(8)]
    fresh = [judged(0, YES), judged(1, UNPARSED), judged(2, UNPARSED), judged(3, FAILED)]
    found = verified(recorded, fresh)
    counts = (found.sampled, found.compared, found.unparsed, found.failed, found.left_out)
    assert counts == (8, 3, 2, 1, 4)
    # A verdict that became none has changed.
    assert [change.fresh for change in found.changes] == ["unparsed (empty reply)"] * 2
    assert "2 unparsed, 1 failed, 4 left out by a limit" in said(found)


def test_what_was_unparsed_and_is_again_has_not_changed() -> None:
    assert verified([judged(1, UNPARSED)], [judged(1, Unparsed("no label"))]).changes == ()


def test_long_replies_are_cut_and_the_rest_of_many_changes_is_counted() -> None:
    recorded = [judged(item, YES, reply="YES " + "because " * 50) for item in range(25)]
    fresh = [judged(item, NO, reply="NO\n\x1b[31m" + "since " * 50) for item in range(25)]
    lines = list(verification_lines(verified(recorded, fresh)))
    assert max(map(len, lines)) == 99  # a margin of 4, two columns of 46, a bar of 3
    assert sum(" | fresh NO: NO \\x1b[31msince" in line for line in lines) == 20
    assert lines[-1] == "  ... and 5 more"


def test_models_are_told_where_they_differ() -> None:
    recorded, fresh = [judged(1, YES)], [judged(1, YES)]
    trials = [recorded[0].trial]
    same = compare(recorded, trials, fresh, "mine", "s", 0, (("a",), ("a",)))
    other = compare(recorded, trials, fresh, "mine", "s", 0, (("a",), ("b",)))
    assert "served" not in said(same)
    assert "served as a when recorded, now as b" in said(other)


def test_it_survives_being_sent_as_json() -> None:
    recorded = [judged(item, YES) for item in range(3)]
    trials = [judgment.trial for judgment in recorded]
    found = compare(recorded, trials, [judged(0, NO)], "mine", "s", 0, (("a",), ("b",)))
    assert verification_from_plain(json.loads(json.dumps(asdict(found)))) == found
