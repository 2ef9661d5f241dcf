"""From a suite, and recordings where there are any, to error rates and designs."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import binom, norm

from pytest_judgesense.checks.outcome import Policy
from pytest_judgesense.errors import UsageError
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.spec import JudgeSpec, Prices
from pytest_judgesense.measurement import cell_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.questions.plan.answer import planned_calls
from pytest_judgesense.questions.plan.chances import chances_of, split_lines
from pytest_judgesense.questions.plan.power import CheckPower, PowerAssumptions, powers
from pytest_judgesense.stats.chances import Chance
from pytest_judgesense.stats.losses import PlannedComparison
from pytest_judgesense.suites.planning import Plans, plan_trials
from pytest_judgesense.suites.suite import CheckDeclaration, Suite
from pytest_judgesense.trial import Judgment, Unparsed, Verdict
from tests.checks.undecidable import suite_with
from tests.shipped import CASSETTES
from tests.suites.known import builtin_suites, load_suite


def suite_of(name: str, *, replicates: int = 1, **checks: float) -> Suite:
    suite = load_suite(builtin_suites()[name])
    if not checks:
        return replace(suite, replicates=replicates)
    declared = tuple(CheckDeclaration(check, {"bar": bar}) for check, bar in checks.items())
    return replace(suite, replicates=replicates, checks=declared)


def flipping(suite: Suite, items: int, *, replicate: int | None = None) -> Cell:
    """A judge that answers t1 of the first items otherwise than the rest (in one replicate)."""
    named = [item.id for item in suite.items[:items]]
    judgments = []
    for trial in plan_trials(suite):
        flips = trial.item in named and trial.template == "t1"
        flips &= replicate in (None, trial.replicate)
        right = str(trial.label)
        other = {"YES": "NO", "NO": "YES"}[right]
        judgments.append(Judgment(trial, "toy", Verdict(other if flips else right)))
    return cell_of("toy", suite, judgments, 0)


def one(rows: list[CheckPower]) -> CheckPower:
    (row,) = rows
    return row


def test_new_items_may_flip_more_and_the_same_items_may_not() -> None:
    # 4 of 40 items flip two of their five pairs in both replicates: JSS = 1 - 16 / 400 = 0.96.
    suite = suite_of("factuality", replicates=2, jss_floor=0.95)
    row = one(powers(suite, PowerAssumptions(), flipping(suite, 4)))
    assert (row.name, row.value, row.clusters) == ("jss_floor[0.95]", pytest.approx(0.96), 40)
    assert isinstance(row.anew, Chance)
    assert isinstance(row.again, Chance)
    # All 80 cells of item and replicate agree. The bar of 380 is missed when five units move, each
    # with the chance u that 40 comparisons without a difference leave open.
    assert row.again.value == 0.0
    assert row.again.upper == pytest.approx(float(binom.sf(4, 80, 1 - 0.025 ** (1 / 40))))
    assert 0 < row.anew.value < row.anew.upper


def test_replicates_that_differ_make_asking_again_a_risk() -> None:
    # The same flips in one of two replicates: JSS = 1 - 8 / 400 = 0.98, where the bar is. In whole
    # units of 1/400 it is missed below 0.97875. Each of the four has sums 3 and 5, so
    # V = 2 * 4 * 2 / 400^2 = 0.0001: the bar is an eighth of an error away, and 1 / sqrt(10) of
    # that error is stated.
    suite = suite_of("factuality", replicates=2, jss_floor=0.98)
    row = one(powers(suite, PowerAssumptions(), flipping(suite, 4, replicate=1)))
    assert isinstance(row.again, Chance)
    assert row.again.value == pytest.approx(norm.cdf(-0.125 * math.sqrt(10)), abs=0.002)
    assert row.again.lower < 0.01
    assert row.again.upper > 0.99


def test_one_replicate_cannot_tell_and_says_how_it_could() -> None:
    suite = suite_of("factuality", jss_floor=0.95)
    row = one(powers(suite, PowerAssumptions(), flipping(suite, 4)))
    assert row.again == "needs two or more replicates; set replicates in [design]"


def test_a_floor_and_the_ceiling_of_its_complement_agree() -> None:
    suite = suite_of("factuality", jss_floor=0.9, flip_rate_bound=0.1)
    jss, flips = powers(suite, PowerAssumptions(), flipping(suite, 6))
    assert jss.anew == flips.anew
    assert jss.drop == flips.drop


def test_the_confident_policy_stops_smaller_drops_and_stops_more_often() -> None:
    suite = suite_of("factuality", jss_floor=0.9)
    plain = one(powers(suite, PowerAssumptions(), flipping(suite, 4)))
    strict = one(powers(suite, PowerAssumptions("confident"), flipping(suite, 4)))
    assert isinstance(plain.anew, Chance)
    assert isinstance(strict.anew, Chance)
    assert isinstance(plain.drop, float)
    assert isinstance(strict.drop, float)
    assert strict.anew.value > plain.anew.value
    assert strict.anew.lower > plain.anew.lower
    assert strict.drop < plain.drop


def test_the_policy_that_only_fails_what_is_refuted_stops_less() -> None:
    suite = suite_of("factuality", replicates=2, jss_floor=0.98)
    cell = flipping(suite, 4)  # 0.96 (see above): missed, and not refuted
    plain = one(powers(suite, PowerAssumptions(), cell))
    refuted = one(powers(suite, PowerAssumptions("refuted"), cell))
    assert isinstance(plain.anew, Chance)
    assert isinstance(refuted.anew, Chance)
    assert isinstance(refuted.again, Chance)
    assert isinstance(plain.drop, float)
    assert isinstance(refuted.drop, float)
    assert plain.anew.value > 0.8
    assert refuted.anew.value < 0.05
    assert refuted.again.value == 0
    assert plain.drop == 0
    assert refuted.drop > 0.02


@pytest.mark.long
def test_a_limit_has_the_power_of_its_bound_under_both_policies() -> None:
    def row(policy: Policy, **arguments: float) -> CheckPower:
        suite = suite_with("factuality", 30, "jss_floor", **arguments)
        return replace(
            one(powers(suite, PowerAssumptions(policy, shares={"jss": 0.95}, drop=0.2))), name=""
        )

    limit = row("estimate", bar=0.9, limit=0.8)
    assert limit == row("confident", bar=0.9, limit=0.8) == row("confident", bar=0.8)
    assert limit != row("estimate", bar=0.9)
    refuted = row("refuted", bar=0.9, limit=0.8)
    assert refuted == row("refuted", bar=0.8)


def test_missing_replies_take_from_the_power_of_a_limit() -> None:
    # All that was read agrees: the bound of forty clusters is 0.948 (see test_undecidable). The one
    # missing call agrees with no label: where its cluster is drawn, the bound lies below 0.945.
    suite = suite_with("factuality", 40, "agreement_floor", bar=0.99, limit=0.945)
    whole = flipping(suite, 0)
    first, *rest = whole.judgments
    gone = replace(whole, judgments=(replace(first, outcome=Unparsed("empty")), *rest))
    read, missing = (one(powers(suite, PowerAssumptions(), cell)).anew for cell in (whole, gone))
    assert isinstance(read, Chance)
    assert isinstance(missing, Chance)
    assert read.value == 0.0
    assert 0.9 < missing.value < 1.0


def test_complements_count_once_among_the_refuted_bars_that_are_planned() -> None:
    alone = suite_of("factuality", jss_floor=0.9)
    both = suite_of("factuality", jss_floor=0.9, flip_rate_bound=0.1)
    first, second = powers(both, PowerAssumptions("refuted"))
    assert first == one(powers(alone, PowerAssumptions("refuted")))
    assert second.anew == first.anew


def test_a_refuted_bar_gets_the_part_that_holm_leaves_to_the_first() -> None:
    # Two bars: each at 0.05 / 2, so that alone it would need an alpha of 0.025.
    both = suite_of("factuality", jss_floor=0.98, agreement_floor=0.02)
    alone = suite_of("factuality", jss_floor=0.98)
    cell = flipping(both, 14)
    row, _ = powers(both, PowerAssumptions("refuted"), cell)
    assert row == one(powers(alone, PowerAssumptions("refuted", alpha=0.025), cell))
    assert row.anew != one(powers(alone, PowerAssumptions("refuted"), cell)).anew


def test_numbers_that_are_no_shares_are_refuted_by_their_own_bounds() -> None:
    # 2 and 30 of 40 items flip in one of five wordings: kappa 0.96 and 0.4.
    suite = suite_of("factuality", kappa_floor=0.97)
    found = [
        one(powers(suite, PowerAssumptions("refuted"), flipping(suite, n))).anew for n in (2, 30)
    ]
    assert all(isinstance(chance, Chance) for chance in found)
    few, many = (chance.value for chance in found if isinstance(chance, Chance))
    assert few < 0.2
    assert many == 1.0


def test_a_judge_of_one_label_never_passes_a_floor_on_stability() -> None:
    suite = suite_of("factuality", jss_floor=0.5)
    judgments = [Judgment(trial, "toy", Verdict("YES")) for trial in plan_trials(suite)]
    row = one(powers(suite, PowerAssumptions(), cell_of("toy", suite, judgments, 0)))
    assert row.anew == row.again == Chance(1.0, 1.0, 1.0)


def test_kappa_has_a_chance_and_no_smallest_drop() -> None:
    suite = suite_of("factuality", kappa_floor=0.8)
    row = one(powers(suite, PowerAssumptions(), flipping(suite, 6)))
    assert isinstance(row.anew, Chance)
    assert row.anew.lower <= row.anew.value < 0.5 < row.anew.upper
    assert row.drop == "kappa is not a share of its units"


def test_a_plan_alone_takes_what_is_assumed() -> None:
    suite = suite_of("factuality", jss_floor=0.9, agreement_floor=0.9)
    jss, agreement = powers(suite, PowerAssumptions(shares={"jss": 0.91}))
    assert (jss.value, jss.clusters) == (0.91, 40)
    assert agreement.value == pytest.approx(0.95)  # half-way between bar and no error
    assert isinstance(jss.anew, Chance)
    assert isinstance(agreement.anew, Chance)
    assert jss.anew.value > agreement.anew.value > 0
    assert jss.anew.lower == jss.anew.value == jss.anew.upper  # of a share that is assumed
    assert jss.again == "a plan alone has no replies"


def test_the_order_of_the_suite_is_the_plan_of_a_pairwise_one() -> None:
    suite = suite_of("ladder", side_bias_limit=0.1, raw_false_preference_ceiling=0.2)
    side, raw = powers(
        suite, PowerAssumptions(shares={"side_bias": 0.05, "raw_false_preference": 0.1})
    )
    assert (side.clusters, raw.clusters) == (20, 20)
    assert isinstance(side.anew, Chance)
    assert isinstance(raw.anew, Chance)
    assert 0 < raw.anew.value < side.anew.value < 0.5


def test_more_clusters_are_needed_for_a_smaller_drop() -> None:
    suite = suite_of("factuality", jss_floor=0.9)
    shares = {"jss": 0.95}
    needed = [
        one(powers(suite, PowerAssumptions(drop=d, shares=shares))).needed for d in (0.08, 0.12)
    ]
    assert isinstance(needed[0], int)
    assert isinstance(needed[1], int)
    assert needed[0] >= needed[1]
    within = one(powers(suite, PowerAssumptions(drop=0.02, shares=shares))).needed
    assert within == "after such a drop the judge is still within the bar"


def test_all_bars_of_a_composite_check_stand_there() -> None:
    names = [row.name for row in powers(suite_of("criterion"), PowerAssumptions())]
    assert names == [
        "criterion_tradeoff: raw_false_preference",
        "criterion_tradeoff: target_sensitivity[distance=1]",
        "criterion_tradeoff: target_sensitivity[distance=5]",
    ]


def test_the_shipped_recordings_speak_and_the_seed_decides_the_draws() -> None:
    suite, judge = suite_of("coherence"), judge_from_name("embedded:mixed")
    lines = list(chances_of(suite, PowerAssumptions(), judge, CASSETTES).lines())
    assert lines == list(chances_of(suite, PowerAssumptions(), judge, CASSETTES).lines())
    assert lines[0] == "coherence, policy estimate: judge mixed, 200 judgments"
    # 8 of 40 items differ under one of five wordings, in two of their five pairs:
    # JSS = 1 - 16 / 200 = 0.92.
    assert lines[4].split()[:3] == ["jss_floor[0.9]", "0.920", "(1)"]
    assert "for judges like this recording" in lines[1]
    assert "%)" in lines[4]
    assert max(map(len, lines)) <= 100


def test_without_recordings_the_plan_speaks_and_says_so(tmp_path: Path) -> None:
    judge = JudgeSpec("mine", "openai", "some-model")
    lines = list(chances_of(suite_of("coherence"), PowerAssumptions(), judge, tmp_path).lines())
    assert lines[0].endswith("the plan alone")
    assert lines[1] == "  not all trials of judge mine are recorded as they would be asked now"


def test_the_variance_lies_with_the_items_where_the_items_differ() -> None:
    # Ten of 40 items are wrong under t1 alone, and no replicate differs.
    suite = suite_of("factuality", replicates=2)
    variance, _ = split_lines(flipping(suite, 10), 0.1)
    assert variance.startswith("variance of agreement: item 0.0")
    assert variance.endswith("replicate 0.0000")


@pytest.mark.parametrize(("wrong", "half_width"), [(0, 0.05), (40, 0.5)])
def test_where_no_two_items_differ_no_number_of_them_is_known(
    wrong: int, half_width: float
) -> None:
    # Without an error all components are 0, so that ten items would do, within +/-0.000. Where t1
    # is wrong on all 40 items and t2 on none, that of templates is 1/2, and 8 templates, for
    # 1.96 sqrt(1/16) = 0.49 < 0.5, would do on any number of items.
    suite = suite_of("factuality")
    judge = flipping(replace(suite, templates=suite.templates[:2]), wrong)
    variance, line = split_lines(judge, half_width)
    assert variance.startswith("variance of agreement: item 0.0000")
    assert line == (
        f"for a 95% interval of +/-{half_width:g}: not known, as no two items here differ in "
        "agreement"
    )


def test_a_precision_of_wordings_is_that_of_the_interval_for_new_wordings() -> None:
    cell = flipping(suite_of("factuality", replicates=2), 10)
    jss = find_estimate(estimate_all(cell), "jss")
    assert jss is not None
    new = jss.new_wordings
    assert new is not None
    assert new.at is not None
    # The plan of the design that was measured is the interval that was measured.
    assert new.at(40, 5) == (new.lower, new.upper)
    _, line = split_lines(cell, 0.1)
    match = re.fullmatch(
        r"for jss within \+/-0.1 for new wordings: (\d+) wordings x (\d+) clusters = (\d+) calls "
        r"\(\+/-(0.\d+)\)",
        line,
    )
    assert match
    wordings, clusters, calls = map(int, match.groups()[:3])
    # Two replicates: two calls on an item in a wording.
    assert calls == 2 * wordings * clusters
    low, high = new.at(clusters, wordings)
    assert float(match[4]) == pytest.approx((high - low) / 2, abs=5e-4)
    assert (high - low) / 2 <= 0.1
    # No design of fewer calls is so narrow.
    for other in range(2, 31):
        fewer = max(10, (calls - 1) // (2 * other))
        if 2 * other * fewer < calls:
            low, high = new.at(fewer, other)
            assert (high - low) / 2 > 0.1
    # What the recording has is not so narrow: a precision of its width asks for no more.
    _, line = split_lines(cell, (new.upper - new.lower) / 2)
    assert int(line.split(" = ")[1].split()[0]) <= 2 * 5 * 40


def test_a_loss_on_whole_clusters_is_found_later_than_a_scattered_one() -> None:
    # 20 of 40 items flip two of their pairs of one wording: the judge errs everywhere a little, so
    # that a scattered loss has a small variance, and one on whole items has the greatest.
    suite = suite_of("factuality", jss_floor=0.7)
    row = one(powers(suite, PowerAssumptions(), flipping(suite, 20)))
    assert isinstance(row.drop, float)
    assert isinstance(row.whole, float)
    assert 0.05 < row.drop < row.whole < 0.3


def test_vacuum_varies_in_its_decisive_answers() -> None:
    cell = _vacuum()
    variance, _ = split_lines(cell, 0.1)
    assert variance.startswith("variance of dark_current: item ")


def _vacuum() -> Cell:
    suite = suite_of("vacuum")
    judgments = []
    for i, trial in enumerate(plan_trials(suite)):
        said = "A" if i % 3 == 0 else "tie"
        judgments.append(Judgment(trial, "toy", Verdict(said), "1" if said == "A" else "tie"))
    return cell_of("toy", suite, judgments, 0)


def test_a_plan_counts_what_is_not_recorded_and_what_it_costs(tmp_path: Path) -> None:
    suite = suite_of("coherence")
    judge = JudgeSpec("mine", "openai", "some-model", max_tokens=10, prices=Prices(1.0, 10.0))
    plans = Plans(tmp_path, tmp_path, BUILT_IN.kinds)
    lines = list(planned_calls(judge, suite, tmp_path, plans).lines())
    assert lines[1] == "  trials: 200, of 40 items, 5 templates"
    assert lines[2] == "  calls to be made: 200 (0 are recorded)"
    tokens = int(lines[3].split()[2])
    assert lines[3] == f"  tokens: about {tokens} of prompts, at most 2000 of replies"
    # Dollars a million tokens: prompts alone, and 2,000 tokens of replies at 10.
    low = tokens / 1e6
    assert lines[4] == f"  cost: {low:.4f} to {low + 0.02:.4f} USD"


def test_a_plan_of_what_is_recorded_costs_nothing(tmp_path: Path) -> None:
    plans = Plans(tmp_path, CASSETTES, BUILT_IN.kinds)
    judge = judge_from_name("embedded:clean")
    lines = list(planned_calls(judge, suite_of("coherence"), CASSETTES, plans).lines())
    assert lines[2] == "  calls to be made: 0 (200 are recorded)"


def test_an_assumption_on_an_unknown_measure_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="did you mean 'jss'"):
        PowerAssumptions(shares={"jass": 0.9})
    with pytest.raises(UsageError, match="above 0"):
        PowerAssumptions(drop=0.0)


def test_a_comparison_has_the_power_of_its_test_beside_the_bars() -> None:
    # Of 40 items 4 flip t1 in the second of two replicates. Agreement is 396 of 400 calls; what a
    # unit varies by when asked again is that of 4 clusters with 4 and 5 right of 5: the sums of
    # squares are 4 * 2 * 0.25 = 2, times R / (R - 1) = 2, of 400 units: 0.01, and s (1 - s) is
    # 0.0099: nothing of it stays, and the correlation is 0.
    suite = suite_of("factuality", replicates=2, jss_floor=0.95)
    compared = CheckDeclaration("no_regression", {"measure": "agreement", "margin": 0.1})
    flips = CheckDeclaration("no_regression", {"measure": "repeat_flip_rate", "margin": 0.1})
    suite = replace(suite, checks=(*suite.checks, compared, flips))
    rows = powers(suite, PowerAssumptions(drop=0.2), flipping(suite, 4, replicate=1))
    assert [row.name for row in rows] == [
        "jss_floor[0.95]",
        "no_regression[agreement,0.1]",
        "no_regression[repeat_flip_rate,0.1]",
    ]
    planned = PlannedComparison(0.99, 0.0, (10,) * 40, 0.1, tests=2, each=5)
    _, row, _ = rows
    assert (row.value, row.clusters) == (pytest.approx(0.99), 40)
    assert isinstance(row.again, Chance)
    assert row.again.value == pytest.approx(planned.chance(0))
    assert row.drop == pytest.approx(planned.smallest_loss())
    assert row.whole == pytest.approx(planned.smallest_loss(whole=True))
    assert isinstance(row.needed, int)
    fewest = replace(planned, sizes=(10,) * row.needed)
    one_less = replace(planned, sizes=(10,) * (row.needed - 1))
    assert fewest.chance(0.2) >= 0.8 > one_less.chance(0.2)


def test_a_comparison_that_is_planned_assumes_a_judge_and_kappa_has_no_units() -> None:
    suite = suite_of("factuality", replicates=3, jss_floor=0.9)
    declared = [
        CheckDeclaration("no_regression", {"measure": measure, "margin": 0.1})
        for measure in ("agreement", "kappa")
    ]
    suite = replace(suite, checks=tuple(declared))
    agreement, _ = powers(suite, PowerAssumptions(drop=0.1))
    # 40 items, five wordings, three replicates; of two tests.
    planned = PlannedComparison(0.8, 0.3, (15,) * 40, 0.1, tests=2, each=5)
    assert agreement.value == pytest.approx(0.8)
    assert agreement.drop == pytest.approx(planned.smallest_loss())
    assert agreement.needed == "such a drop lies within the margin"
    recorded = powers(suite, PowerAssumptions(), flipping(suite, 4))[1]
    assert recorded.drop == "kappa is not a share of its units"
    bold = powers(suite, PowerAssumptions("confident", shares={"agreement": 0.9}))[0]
    certain = PlannedComparison(0.9, 0.3, (15,) * 40, 0.1, tests=2, each=5, confident=True)
    assert isinstance(bold.again, Chance)
    assert bold.again.value == pytest.approx(certain.chance(0))
