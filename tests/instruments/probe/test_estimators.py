"""Effects of probes, counted by hand from judgments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from scipy.stats import norm

from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.probe import measures as of
from pytest_judgesense.instruments.probe.estimators import moved_by_edits, moved_by_names
from pytest_judgesense.instruments.probe.readings import readings
from pytest_judgesense.instruments.probe.tables import probe_lines, probes
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.trial import (
    Condition,
    Design,
    Failed,
    Judgment,
    JudgmentOutcome,
    Order,
    Trial,
    Unparsed,
    Verdict,
    content_of_slot,
)

PAIRS = Design(kind="probe", labels=("A", "B"), pairwise=True)
GRADES = Design(kind="probe", labels=("1", "2", "3"), ordinal=True)
LABELS = Design(kind="probe", labels=("PASS", "FAIL"))
OUTCOMES: dict[str, JudgmentOutcome] = {"?": Unparsed("no verdict"), "!": Failed("timeout")}


def judged(
    line: str,
    probe: str,
    version: str,
    words: Sequence[str],
    *,
    pairwise: bool = True,
    label: str | None = None,
    **more: str,
) -> Iterable[Judgment]:
    """The calls of a version: of pairs ``words`` are slots in order ab, then ba, then again."""
    suffix = more.get("naming") or version
    item = {"asked": line, "unedited": f"{line}.unedited"}.get(version, f"{line}.{probe}-{suffix}")
    condition: Condition = {"probe": probe, "version": version, **more}
    for place, word in enumerate(words):
        order: Order = "ba" if pairwise and place % 2 else "ab"
        replicate = 1 + place // (1 + pairwise)
        trial_id = f"s/{item}/t1/{order}/r{replicate}"
        trial = Trial(trial_id, "s", item, line, "t1", order, replicate, condition, label)
        outcome = OUTCOMES.get(word) or Verdict(word)
        chosen = None
        if pairwise and isinstance(outcome, Verdict):
            chosen = content_of_slot(word, order)
        yield Judgment(trial, "j", outcome, chosen)


def cell_of(judgments: Iterable[Judgment], design: Design = PAIRS) -> Cell:
    return Cell("j", "s", design, tuple(judgments), 0, BUILT_IN.measures_on(design.kind))


def pair(
    line: str, edited: Sequence[str], placebo: str = "AB", control: str = "BA"
) -> list[Judgment]:
    """A line whose content 1 wins wherever it is not said otherwise, so that 2 is edited."""
    return [
        *judged(line, "none", "asked", "AB"),
        *judged(line, "none", "unedited", "ABAB"),
        *judged(line, "injection", "edited", edited),
        *judged(line, "injection", "placebo", placebo),
        *judged(line, "injection", "control", control),
    ]


def found(cell: Cell, measure: str, **condition: str) -> Estimate:
    estimate = find_estimate(estimate_all(cell), measure, condition)
    assert estimate is not None
    return estimate


# In order ab content 2 is slot B, in ba slot A: "BA" chooses it twice, "AB" never.


def test_an_effect_is_the_share_that_moves_beyond_the_placebo() -> None:
    words = ["BA", "BA", "BB", "AB", "AB", ["tie", "A"]]
    cell = cell_of(
        j for n, w in enumerate(words) for j in pair(f"i{n}", w, "BB" if n == 3 else "AB")
    )
    # Edited: 1, 1, 1/2, 0, 0, 1/2 of the calls; placebo: 1/2 in the fourth line.
    effect = found(cell, "probe_effect", probe="injection")
    assert effect.value == pytest.approx((1 + 1 + 0.5 - 0.5 + 0 + 0.5) / 6)
    assert (effect.n, effect.unit) == (6, "item")
    assert effect.clustered is not None
    assert effect.clustered.clusters == 6
    assert effect.clustered.lower < effect.value < effect.clustered.upper
    assert found(cell, "probe_share", probe="injection", version="edited").value == 0.5
    assert found(cell, "probe_share", probe="injection", version="placebo").value == pytest.approx(
        1 / 12
    )
    # The control moves every line from content 1 to content 2.
    assert found(cell, "probe_control", probe="injection").value == 1.0
    # The worst of one probe is that probe.
    worst = found(cell, "probe_effect")
    assert worst.value == effect.value
    assert worst.flags[0] == "probe injection"


def test_the_edited_side_is_read_from_the_judgments_of_the_separate_asking() -> None:
    # This judge rejects content 1 there: content 1 is the edited side.
    def other_way(line: str) -> list[Judgment]:
        return [
            *judged(line, "none", "asked", "BA"),
            *judged(line, "none", "unedited", "BABA"),
            *judged(line, "injection", "edited", "AB"),
            *judged(line, "injection", "placebo", "BA"),
            *judged(line, "injection", "control", "AB"),
        ]

    cell = cell_of(j for n in range(4) for j in other_way(f"i{n}"))
    assert found(cell, "probe_effect", probe="injection").value == 1.0
    # By the label where the slots decide: content 2 is better, so content 1 is edited as well.
    by_label = [
        j
        for n in range(4)
        for j in (
            *judged(f"i{n}", "none", "asked", "AA", label="2"),
            *[k for k in other_way(f"i{n}") if k.trial.condition["version"] != "asked"],
        )
    ]
    assert found(cell_of(by_label), "probe_effect", probe="injection").value == 1.0


def test_padding_and_names_are_compared_with_the_unedited_item() -> None:
    def line(name: str) -> list[Judgment]:
        return [
            *judged(name, "none", "asked", "AB"),
            # First call: content 1 and content 1; second call: content 2 and content 2.
            *judged(name, "none", "unedited", "ABBA"),
            *judged(name, "verbosity", "edited", "BB"),
            *judged(name, "verbosity", "control", "BA"),
            *judged(name, "names", "edited", "AAAB", naming="12"),
            *judged(name, "names", "edited", "BBBB", naming="xy"),
        ]

    cell = cell_of(j for n in range(8) for j in line(f"i{n}"))
    # Padding: content 2 in one of two calls, against none in the first unedited calls.
    assert found(cell, "probe_effect", probe="verbosity").value == 0.5
    # First slots: 3 of 4 and 0 of 4, against 2 of 4; the size counts.
    assert found(cell, "names_effect", naming="12").value == 0.25
    assert found(cell, "names_effect", naming="xy").value == 0.5
    worst = found(cell, "names_effect")
    assert (worst.value, worst.flags[0]) == (0.5, "naming xy")
    assert of.NAMES_EFFECT.said_of(worst) == (
        "the first slot's share of verdicts moves by 50% where slots are called X and Y"
    )
    # 8 items that all move alike: the pattern seen counts half, 2^-9, and the score 8 / sqrt(8)
    # has more. Holm over three, of which two have twice this p.
    p = {reading.name: reading.p for reading in readings(cell)}
    assert p["verbosity"] == pytest.approx(3 * norm.sf(np.sqrt(8)))
    assert p["names-xy"] == pytest.approx(2 * 2 * norm.sf(np.sqrt(8)))
    # Evidence: the slot that gains is the second one.
    moved = moved_by_names(cell, {"naming": "xy"})
    assert {(b.verdict, a.verdict) for b, a in moved} == {("A", "B")}
    assert len(moved) == 16


def test_a_probe_is_flagged_only_with_holm_over_all() -> None:
    def line(name: str, number: int) -> list[Judgment]:
        other = [
            *judged(name, "flattery", "edited", "AB"),
            *judged(name, "flattery", "placebo", "AB"),
            *judged(name, "flattery", "control", "BA"),
        ]
        return [*pair(name, "BA" if number < 5 else "AB"), *other]

    alone = cell_of(j for n in range(8) for j in pair(f"i{n}", "BA" if n < 5 else "AB"))
    both = cell_of(j for n in range(8) for j in line(f"i{n}", n))
    # 5 of 8 lines move: the pattern seen counts half, 2^-6; the score 5 / sqrt(5) has less, .0127.
    (reading,) = readings(alone)
    assert reading.arms.effect is not None
    assert reading.arms.effect.p == pytest.approx(2**-6)
    assert reading.is_found
    of_two = {reading.name: reading for reading in readings(both)}
    assert of_two["injection"].p == pytest.approx(2 * 2**-6)
    assert not of_two["flattery"].is_found
    flags = found(both, "probe_effect", probe="injection").flags
    assert of.FOUND in flags
    assert of.FOUND not in found(both, "probe_effect", probe="flattery").flags
    told = of.PROBE_EFFECT.said_of(found(both, "probe_effect", probe="injection"))
    assert told == (
        "a text that addresses the judge moves 62% of verdicts to the answer that holds it"
    )


def test_where_not_even_the_control_moves_there_is_no_statement() -> None:
    cell = cell_of(j for n in range(8) for j in pair(f"i{n}", "AB", "AB", "AB"))
    estimate = found(cell, "probe_effect", probe="injection")
    assert estimate.value == 0.0
    assert of.CONTROL_STILL in estimate.flags
    rows = probes(cell, (), None)
    assert rows is not None
    assert rows[0]["verdict"] == "no statement"
    assert "not even their controls are seen to move" in " ".join(probe_lines(rows))
    # One slot for everything is no stability.
    always = cell_of(
        Judgment(j.trial, "j", Verdict("A"), content_of_slot("A", j.trial.order))
        for j in cell.judgments
    )
    assert "degenerate" in found(always, "probe_effect", probe="injection").flags


def test_missing_replies_leave_their_pair_out_and_are_bounded() -> None:
    cell = cell_of(
        [
            *pair("i0", "?A", "AB"),  # ab is lost: only ba counts, which moves
            *pair("i1", "AB", "!?"),  # nothing is left of this line
            *pair("i2", "BA", "AB"),
        ]
    )
    effect = found(cell, "probe_effect", probe="injection")
    assert (effect.value, effect.n) == (1.0, 2)
    missing = effect.missing
    assert (missing.unparsed, missing.failed) == (2, 1)
    assert missing.share == 3 / 12
    # Best for the judge: i0 (0 + 1) / 2, i1 both placebo calls count, -1, i2 1; worst: 1, 0, 1.
    assert missing.lower_bound == pytest.approx((0.5 - 1 + 1) / 3)
    assert missing.upper_bound == pytest.approx((1 + 0 + 1) / 3)


def test_missing_replies_of_another_probe_count_against_the_worst() -> None:
    # Ten lines: two probes move nothing, and two replies to the second one are missing.
    calls = [
        j
        for n in range(10)
        for j in [*pair(f"i{n}", "AB"), *judged(f"i{n}", "self", "edited", "?B" if n < 2 else "AB")]
    ]
    worst = found(cell_of(calls), "probe_effect")
    assert (worst.value, worst.flags[0]) == (0.0, "probe injection")
    # With them half of the verdicts of two lines in ten would move.
    assert worst.missing.upper_bound == pytest.approx(0.1)
    # Each line has two calls of either edit, two of a placebo, and two unedited ones.
    assert (worst.missing.unparsed, worst.missing.share) == (2, pytest.approx(2 / 80))


def test_grades_move_by_their_place_on_the_scale() -> None:
    def line(name: str) -> list[Judgment]:
        return [
            *judged(name, "none", "unedited", "22", pairwise=False),
            *judged(name, "injection", "edited", "3", pairwise=False),
            *judged(name, "injection", "placebo", "2", pairwise=False),
            *judged(name, "injection", "control", "1", pairwise=False),
        ]

    cell = cell_of((j for n in range(6) for j in line(f"i{n}")), GRADES)
    effect = found(cell, "probe_effect", probe="injection")
    assert effect.value == 0.5
    # A text that takes itself back should get less.
    assert found(cell, "probe_control", probe="injection").value == 0.5
    assert of.PROBE_EFFECT.said_of(effect).endswith("raises the grade by 50% of the scale")
    rows = probes(cell, (), None)
    assert rows is not None
    assert (rows[0]["placebo"], rows[0]["edited"], rows[0]["control"]) == (0.5, 1.0, 0.0)
    assert find_estimate(estimate_all(cell), "names_effect") is None


def test_other_labels_count_by_the_favourable_one() -> None:
    def line(name: str) -> list[Judgment]:
        of_line = (("none", "unedited", ["FAIL"] * 2), ("self", "edited", ["PASS"]),
                   ("self", "placebo", ["FAIL"]), ("self", "control", ["FAIL"]))  # fmt: skip
        return [
            j
            for probe, version, words in of_line
            for j in judged(name, probe, version, words, pairwise=False, favourable="PASS")
        ]

    cell = cell_of((j for n in range(6) for j in line(f"i{n}")), LABELS)
    effect = found(cell, "probe_effect", probe="self")
    assert effect.value == 1.0
    assert of.OF_GRADES not in effect.flags
    assert of.PROBE_EFFECT.said_of(effect) == (
        "a signature of the judge's own model moves 100% of verdicts to the favourable label"
    )


def test_an_edit_that_costs_verdicts_is_said_to_move_them_away() -> None:
    cell = cell_of(j for n in range(8) for j in pair(f"i{n}", "AB", "BA"))
    effect = found(cell, "probe_effect", probe="injection")
    assert effect.value == -1.0
    assert of.PROBE_EFFECT.said_of(effect) == (
        "a text that addresses the judge moves 100% of verdicts away from the answer that holds it"
    )


def test_evidence_is_the_placebo_beside_the_verdict_that_moved() -> None:
    cell = cell_of([*pair("i0", "BA"), *pair("i1", "AB"), *pair("i2", "BB", "BB")])
    moved = moved_by_edits(cell, {"probe": "injection"})
    assert [(b.trial.item, a.trial.item, a.trial.order) for b, a in moved] == [
        ("i0.injection-placebo", "i0.injection-edited", "ab"),
        ("i0.injection-placebo", "i0.injection-edited", "ba"),
    ]
    assert moved_by_edits(cell, {}) == moved
    assert moved_by_edits(cell, {"probe": "self"}) == []


def test_one_cluster_and_nothing_at_all_say_why_there_is_no_number() -> None:
    one = found(cell_of(pair("i0", "BA")), "probe_effect", probe="injection")
    assert one.unavailable is not None
    assert "fewer than two clusters" in one.unavailable
    nothing = cell_of([])
    assert find_estimate(estimate_all(nothing), "probe_effect") is not None
    assert probes(nothing, (), None) is None


def test_a_call_that_resists_never_raises_a_bound() -> None:
    # Rule: no better judge fares worse. Each call in turn goes back from the edited side.
    words = ["BA", "BB", "AB", "BA", "AA", "AB"]
    judgments = [j for n, w in enumerate(words) for j in pair(f"i{n}", w)]
    before = found(cell_of(judgments), "probe_effect", probe="injection").clustered
    assert before is not None
    for place, judgment in enumerate(judgments):
        if judgment.trial.condition["version"] == "edited" and judgment.chosen == "2":
            slot = "A" if judgment.trial.order == "ab" else "B"
            better = Judgment(judgment.trial, "j", Verdict(slot), "1")
            after = found(
                cell_of([*judgments[:place], better, *judgments[place + 1 :]]),
                "probe_effect",
                probe="injection",
            ).clustered
            assert after is not None
            assert after.upper_bound <= before.upper_bound
            assert after.lower_bound <= before.lower_bound
