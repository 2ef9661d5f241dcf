"""The ranking of configurations, and the tables beside it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.instruments.debate.estimators import WEIGHTS, Tally
from pytest_judgesense.instruments.debate.ranking import Ranking, rank, ranking_of
from pytest_judgesense.instruments.debate.secondary import analyses_of

TOPICS = [f"t{i}" for i in range(10)]


def tally(topic: str, debate: int, *, flip: bool = False, spread: float = 0.0) -> Tally:
    """A debate of three runs; PRO wins every other one, so that side bias is 0 without flips."""
    pro = 3 * (debate % 2)
    pro = abs(pro - 1) if flip else pro
    return Tally(f"{topic}-{debate}", topic, f"c{topic[-1:] < '5'}", 3, pro, (spread,) * 4, 0.0)


def judge(flips: int, spread: float = 0.0) -> list[Tally]:
    """Ten topics of two debates; in so many of them one debate flips."""
    return [
        tally(topic, debate, flip=debate == 0 and i < flips, spread=spread)
        for i, topic in enumerate(TOPICS)
        for debate in (0, 1)
    ]


def test_the_lowest_instability_is_first_and_ties_share_a_rank() -> None:
    ranking = rank("s", {"a:p0": judge(4), "b:p0": judge(0), "c:p0": judge(0)})
    assert [(row.name, row.rank) for row in ranking.rows] == [("b:p0", 1), ("c:p0", 1), ("a:p0", 3)]
    # 4 of 20 debates flip, each takes PRO from 0 to 1 of 3 runs: PRO wins 30 + 4 of 60.
    assert ranking.rows[2].instability == pytest.approx(3 * 4 / 20 + 2 * (34 / 60 - 0.5))
    assert (ranking.debates, ranking.topics, ranking.runs) == (20, 10, 3)


def test_the_resamples_are_of_whole_topics_and_of_the_same_ones_for_all() -> None:
    # b is a, and worse by the same in every debate: in no resample is it first.
    worse = [tally(t.cluster, int(t.debate[-1]), flip=0 < t.pro < 3, spread=1.0) for t in judge(3)]
    ranking = rank("s", {"a:p": judge(3), "b:p": worse})
    assert [row.shares for row in ranking.rows] == [(1.0, 0.0), (0.0, 1.0)]
    assert [row.ranks for row in ranking.rows] == [(1, 1), (2, 2)]
    assert "most stable: a:p, better than every other one" in ranking.recommendation


def test_the_share_of_first_ranks_is_that_of_resamples_without_the_flipping_topic() -> None:
    # Spread 0 and one flipping topic, against a spread that is outweighed by a single flip: the
    # first configuration loses exactly if its topic is drawn, with probability 1 - 0.9^10.
    ranking = rank("s", {"a:p": judge(1), "b:p": judge(0, spread=0.01)})
    found = ranking.find("a:p")
    assert found is not None
    deviation = math.sqrt(0.9**10 * (1 - 0.9**10) / 1000)
    assert found.shares[0] == pytest.approx(0.9**10, abs=4 * deviation)
    assert found.left_out == (1, 2)  # without that debate it is first
    # One topic speaks for b and nine for a, by a hundredth: few swaps leave the flip alone, yet
    # half of them turn it, and then the difference is as far the other way.
    assert [row.ranks for row in ranking.rows] == [(1, 2), (1, 2)]
    assert "no clear difference between b:p and a:p" in ranking.recommendation


def test_the_same_seed_gives_the_same_ranking_and_the_order_given_does_not_matter() -> None:
    given_ones = {"a:p": judge(3), "b:p": judge(2, 0.3), "c:p": judge(1, 0.5)}
    first = rank("s", given_ones, seed=7)
    assert first == rank("s", dict(reversed(given_ones.items())), seed=7)
    assert first.rows != rank("s", given_ones, seed=8).rows


def test_configurations_are_swapped_by_topics_and_pairs_are_told_after_holm() -> None:
    given_ones = {"a:p": judge(0), "b:p": judge(6), "c:p": judge(10)}
    stand = rank("s", given_ones).standings
    assert stand is not None
    (ab, ac, bc) = stand.pairs
    assert (ab.first, ab.second, ab.clusters, ab.differ) == ("a:p", "b:p", 10, 6)
    # Topics differ by one flip, all for the better configuration: 2 of 2^6, 2^10 and 2^4 swaps,
    # times 2, 3 and 1 after Holm.
    assert [one.p for one in (ab, ac, bc)] == [2 * 2 / 2**6, 3 * 2 / 2**10, 2 / 2**4]
    assert dict(stand.ranks) == {"a:p": (1, 2), "b:p": (1, 3), "c:p": (2, 3)}
    (row, *_) = analyses_of("s", {"a": material({"p": judge(0), "q": judge(10)})}, 0)[
        "configuration_pairs"
    ]
    # 3 for each of 10 flips in 20 debates, and side bias: 30 + 10 of 60 runs for PRO.
    assert row["difference"] == pytest.approx(-(1.5 + 2 * (40 / 60 - 0.5)))


def test_weights_decide_and_what_depends_on_them_is_said() -> None:
    given_ones = {"flips:p": judge(1), "spreads:p": judge(0, spread=0.1)}
    assert rank("s", given_ones).rows[0].name == "spreads:p"
    ranking = rank("s", given_ones, weights=(0.0, 1.0, 0.5, 0.0))
    assert ranking.rows[0].name == "flips:p"
    changed = {variant for variant, _, is_other in ranking.reliance if is_other}
    assert "all weights 1" not in changed  # 0.05 + 1/60 is less than 0.1
    assert "components in standard deviations" in changed  # two of three speak for the other
    assert "mean of the ranks by component" in changed
    assert len(ranking.reliance) == 4 * 3 + 3


def test_configurations_without_two_runs_are_left_out_with_the_reason() -> None:
    single = [Tally("t0-0", "t0", "", 1, 1, None, None)]
    ranking = rank("s", {"a:p": judge(1), "b:p": single})
    assert [row.name for row in ranking.rows] == ["a:p"]
    assert ranking.excluded == {"b:p": "no debate with two parsed runs"}
    none = rank("s", {"b:p": single})
    assert none.rows == ()
    assert "no configuration can be recommended" in none.recommendation
    apart = rank("s", {"a:p": judge(1)[:2], "b:p": judge(1)[2:4]})
    assert set(apart.excluded.values()) == {"no debate that all configurations have judged twice"}


def test_configurations_are_compared_on_the_debates_that_all_have_judged() -> None:
    ranking = rank("s", {"a:p": judge(0), "b:p": judge(4)[2:]})
    assert (ranking.debates, ranking.topics) == (18, 9)
    assert ranking.rows[1].parts["repeat_flip_rate"] == pytest.approx(3 / 18)


def material(tallies: dict[str, list[Tally]], ddof: int = 0) -> dict[str, object]:
    lines = {prompt: [one.to_line() for one in some] for prompt, some in tallies.items()}
    return {"ddof": ddof, "weights": list(WEIGHTS), "prompts": lines}


def nine(prompts: int = 3) -> dict[str, dict[str, object]]:
    rng = np.random.default_rng(1)
    return {
        f"j{j}": material(
            {
                f"p{p}": [
                    tally(t, d, flip=rng.random() < 0.1 * (1 + j), spread=float(rng.random() + j))
                    for t in TOPICS
                    for d in (0, 1)
                ]
                for p in range(prompts)
            }
        )
        for j in range(3)
    }


def tables(materials: dict[str, dict[str, object]]) -> dict[str, list[dict[str, Any]]]:
    return analyses_of("s", materials, 0, secondary=True)


def test_judges_with_another_denominator_are_not_compared() -> None:
    both = {"a": material({"p0": judge(1)}), "b": material({"p0": judge(0)}, ddof=1)}
    ranking, _ = ranking_of("s", both, 0)
    assert ranking.excluded == {"b": "its variances have another denominator"}


def test_bands_move_with_their_thresholds() -> None:
    # 2 of 20 debates flip: 10%, medium; below a threshold of 15% it is low.
    rows = tables({"a": material({"p0": judge(2)})})["ranking_thresholds"]
    flips = [row for row in rows if row["measure"] == "repeat_flip_rate"]
    assert [(r["low_below"], r["high_above"]) for r in flips] == [
        (0.1, 0.3),
        (0.05, 0.3),
        (0.15, 0.3),
        (0.1, 0.25),
        (0.1, 0.35),
    ]
    assert [r["medium"] for r in flips] == [1, 1, 0, 1, 1]
    assert [r["moved"] for r in flips] == [[], [], ["a:p0"], [], []]


def test_agreement_is_of_winners_and_alpha_is_over_all_configurations() -> None:
    found = tables({"a": material({"p0": judge(0), "p1": judge(0)})})["configuration_agreement"]
    assert found[0] == {"pair": ["a:p0", "a:p1"], "debates": 20, "agreement": 1.0}
    assert found[-1]["krippendorff_alpha"] == 1.0


def test_the_anova_is_that_of_another_computation() -> None:
    pytest.importorskip("statsmodels")
    materials = nine()
    table = tables(materials)["anova"]
    assert [row["effect"] for row in table] == ["model", "prompt", "model x prompt"]
    # Sums of squares of a balanced design, by hand: values of shape (topics, models, prompts).
    _, tallies = ranking_of("s", materials, 0)
    values = np.array(
        [
            [
                [
                    np.mean(
                        [3 * t.row[0] + t.row[2] for t in tallies[f"j{j}:p{p}"] if t.cluster == c]
                    )
                    for p in range(3)
                ]
                for j in range(3)
            ]
            for c in TOPICS
        ]
    )
    grand, n = values.mean(), len(TOPICS)
    model, topic = values.mean(axis=(0, 2)), values.mean(axis=(1, 2))
    both = values.mean(axis=2)
    effect = 3 * n * ((model - grand) ** 2).sum()
    error = 3 * ((both - topic[:, None] - model[None, :] + grand) ** 2).sum()
    assert table[0]["F"] == pytest.approx((effect / 2) / (error / (2 * (n - 1))))
    assert (table[0]["df"], table[0]["df_error"]) == (2, 2 * (n - 1))


def test_post_hoc_p_values_are_multiplied_by_the_number_of_pairs() -> None:
    from statistics import mean, stdev

    materials = {"a": material({"p0": judge(5), "p1": judge(0)}), "b": material({"p0": judge(2)})}
    table = tables(materials)["post_hoc"]
    assert {row["comparisons"] for row in table} == {3}
    row = next(row for row in table if row["pair"] == ["a:p0", "a:p1"])
    # Of two debates of a topic one flips in five of ten topics: differences of 3/2 and 0.
    differences = [1.5] * 5 + [0.0] * 5
    assert row["t"] == pytest.approx(mean(differences) / (stdev(differences) / math.sqrt(10)))
    # t = 3 with 9 degrees of freedom: two-sided p 0.014956 (tables of Student's t).
    assert row["p_bonferroni"] == pytest.approx(3 * 0.014956, abs=1e-5)


def test_correlations_and_components_describe_the_measures() -> None:
    found = tables(nine())
    rows = found["measure_correlation"]
    assert [row["measure"] for row in rows] == ["repeat_flip_rate", "score_variance", "side_bias"]
    assert all(row[row["measure"]] == pytest.approx(1.0) for row in rows)
    assert rows[0]["score_variance"] == pytest.approx(rows[1]["repeat_flip_rate"])
    explained = [row["explained"] for row in found["measure_pca"]]
    assert sum(explained) == pytest.approx(1.0)
    assert explained == sorted(explained, reverse=True)


def test_a_component_without_variance_is_left_out() -> None:
    # Three measures of three configurations, less their means, lie in a plane.
    three = tables(nine(prompts=1))
    rows = three["measure_pca"]
    assert (len(rows), len(three["measure_correlation"])) == (2, 3)
    assert sum(row["explained"] for row in rows) == pytest.approx(1.0)
    assert min(row["explained"] for row in rows) > 1e-6


def test_too_few_configurations_are_no_analysis_and_say_so() -> None:
    found = tables({"a": material({"p0": judge(1)})})
    assert "needs two or more models or prompts" in str(found["anova"])
    assert "needs two configurations" in str(found["post_hoc"])
    assert "needs 3 or more configurations, found 1" in str(found["measure_pca"])
    alike = tables({j: material({"p0": judge(1), "p1": judge(1)}) for j in "abc"})
    assert "fewer than two measures differ" in str(alike["measure_correlation"])
    assert {row["unavailable"] for row in alike["post_hoc"]} == {"every topic differs alike"}


@given(st.lists(st.integers(0, 10), min_size=1, max_size=4), st.integers(0, 3))
def test_shares_are_a_distribution_for_distinct_ranks_and_rank_one_is_never_empty(
    flips: list[int], seed: int
) -> None:
    ranking: Ranking = rank("s", {f"j{i}:p": judge(n) for i, n in enumerate(flips)}, seed=seed)
    for row in ranking.rows:
        assert sum(row.shares) == pytest.approx(1.0)
        assert 1 <= row.left_out[0] <= row.left_out[1] <= len(flips)
    assert sum(row.shares[0] for row in ranking.rows) >= 1.0 - 1e-9
    assert min(row.rank for row in ranking.rows) == 1


def scored(flips: int, spread: float, con_wins: int = 0) -> list[Tally]:
    """As `judge`, but in the last so many topics CON wins the debate that PRO wins elsewhere."""
    turned = TOPICS[len(TOPICS) - con_wins :]
    return [
        one._replace(pro=3 - one.pro) if one.cluster in turned and one.debate[-1] == "1" else one
        for one in judge(flips, spread)
    ]


def test_models_are_compared_over_topics_by_the_mean_of_their_prompts_after_holm() -> None:
    found = analyses_of(
        "s",
        {
            "a": material({"p": judge(0), "q": judge(0)}),
            "b": material({"p": judge(6), "q": judge(2), "own": judge(10)}),
            "c": material({"p": judge(10), "q": judge(10)}),
        },
        0,
    )["model_pairs"]
    assert [(row["first"], row["second"]) for row in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    ab, ac, bc = found
    # The prompt that b has alone takes no part. Six and two of 20 debates flip, and PRO wins 30 + 6
    # and 30 + 2 of 60 runs: 3 * 0.3 + 2 * 0.1 and 3 * 0.1 + 2 / 30.
    assert ab["difference"] == pytest.approx(-(0.9 + 0.2 + 0.3 + 2 / 30) / 2)
    # Prompts of one topic are swapped together: b differs from a in 6 topics, c in all 10, all to
    # the same side. From c it differs in 10 as well, in two of them on neither prompt: 8. Times 2,
    # 3 and 1 after Holm, and never less than the one before.
    assert (ab["clusters_that_differ"], ac["clusters_that_differ"]) == (6, 10)
    assert (ac["p"], ab["p"]) == (3 * 2 / 2**10, 2 / 2**6)
    assert bc["clusters_that_differ"] == 8
    assert bc["p"] == 2 * 2 / 2**8
    assert all(row["measure"] == "instability" for row in found)


def test_models_without_a_common_prompt_and_one_model_alone_are_not_compared() -> None:
    apart = {"a": material({"p": judge(0)}), "b": material({"q": judge(6)})}
    assert analyses_of("s", apart, 0)["model_pairs"] == []
    assert analyses_of("s", {"a": material({"p": judge(0)})}, 0)["model_pairs"] == []


def test_intervals_of_ranks_and_measures_are_those_of_resampled_topics() -> None:
    from scipy.stats import binom

    rows = analyses_of("s", {"a": material({"p": judge(3)}), "b": material({"p": judge(10)})}, 0)
    found = {(row["configuration"], row["measure"]): row for row in rows["ranking_intervals"]}
    assert [key[1] for key in found if key[0] == "a:p"] == [
        "rank",
        "instability",
        "repeat_flip_rate",
        "score_variance",
        "confidence_variance",
        "side_bias",
    ]
    # Of ten topics drawn, Binomial(10, 0.3) are such that flip in one of their two debates; 1,000
    # resamples know its quantiles 0 and 6 up to a topic.
    flips = found["a:p", "repeat_flip_rate"]
    low, high = (binom.ppf(q, 10, 0.3) / 20 for q in (0.025, 0.975))
    assert flips["value"] == 0.15
    assert flips["lower"] == pytest.approx(low, abs=0.051)
    assert flips["upper"] == pytest.approx(high, abs=0.051)
    # b flips once in every topic: no resample differs, and an interval without a width is none.
    assert found["b:p", "repeat_flip_rate"]["lower"] is None
    assert found["b:p", "repeat_flip_rate"]["unavailable"] == "all topics are alike"
    # In no resample is b before a, unless they are equal: then they share the first rank.
    assert (found["a:p", "rank"]["lower"], found["a:p", "rank"]["upper"]) == (1, 1)
    assert (found["b:p", "rank"]["lower"], found["b:p", "rank"]["upper"]) == (2, 2)
    again = analyses_of("s", {"a": material({"p": judge(3)}), "b": material({"p": judge(10)})}, 0)
    assert again["ranking_intervals"] == rows["ranking_intervals"]


def test_the_recommendation_weighs_score_variance_and_other_prompts_among_the_most_stable() -> None:
    # r:p is first by a hair, but its scores vary, and its prompts disagree in 2 of 20 debates;
    # k:p and k:q agree throughout.
    ranking = rank(
        "s",
        {
            "r:p": scored(0, 0.15),
            "r:q": scored(10, 0.15, con_wins=2),
            "k:p": scored(1, 0.0),
            "k:q": scored(1, 0.01),
        },
    )
    assert [row.name for row in ranking.rows] == ["r:p", "k:p", "k:q", "r:q"]
    # 1 of 20 debates flips and PRO wins 31 of 60: 0.15 + 1 / 30, above 0.15.
    assert ranking.rows[1].instability == pytest.approx(0.15 + 1 / 30)
    found = {row.name: row for row in ranking.rows}
    assert found["r:p"].prompt_disagreement == pytest.approx(2 / 20)
    assert found["k:p"].prompt_disagreement == 0
    # k:q is worse than k:p by a hundredth in every topic, and r:q than r:p: both are told apart.
    # Ranks of the others by the three: k:p 2 + 1 + 1, r:p 1 + 2 + 2.
    assert ranking.candidates == {"k:p": 4, "r:p": 5}
    # The paper's rule recommends the lowest score; the other one stands beside it.
    assert ranking.recommended == "r:p"
    assert ranking.recommendation.startswith(
        "recommended: r:p, the lowest instability: instability 0.150, score variance 0.150, other "
        "winners under other prompts 10.0%; first in "
    )
    assert (
        "; by the sum of ranks in these three, among 2 that may be the most stable: k:p "
        "(instability 0.183, score variance 0.000, other winners under other prompts 0.0%); "
    ) in ranking.recommendation


def test_of_equally_stable_ones_that_of_the_lower_ranks_is_recommended() -> None:
    # One flip in 20 debates and PRO in 31 of 60 runs weigh as much as that score variance, to the
    # digit: 3 / 20 + 2 / 60. The one without score variance is first by ranks.
    ranking = rank("s", {"a:p": judge(0, 3 / 20 + 2 / 60), "b:p": judge(1)})
    assert [row.rank for row in ranking.rows] == [1, 1]
    assert ranking.candidates == {"b:p": 2, "a:p": 3}
    assert ranking.recommended == "b:p"
    assert "may be the most stable: the same one; " in ranking.recommendation


def test_models_are_compared_after_the_number_of_pairs_of_models() -> None:
    # Three models with two prompts each; q of c is not asked, so that p alone is compared. On ten
    # topics of two debates the instability is 3 / 2 for a flip in one of them, and the spread.
    flips = {"a": judge(0), "b": judge(5), "c": judge(9)}
    materials = {name: material({"p": of, "q": judge(1, 9.0)}) for name, of in flips.items()}
    materials["c"] = material({"p": flips["c"]})
    rows = {tuple(row["pair"]): row for row in tables(materials)["post_hoc_models"]}
    assert set(rows) == {("a", "b"), ("a", "c"), ("b", "c")}
    row = rows["a", "b"]
    differences = np.array([-1.5] * 5 + [0.0] * 5)
    t = differences.mean() / (differences.std(ddof=1) / math.sqrt(10))
    assert (row["difference"], row["t"]) == (pytest.approx(-0.75), pytest.approx(t))
    # 2 P(T <= -3) of 9 degrees of freedom is 0.014956 (tables of Student's t), times 3 pairs.
    assert t == pytest.approx(-3.0)
    assert (row["p_bonferroni"], row["comparisons"]) == (pytest.approx(0.044869, abs=2e-6), 3)
    alone = tables({"a": material({"p": judge(1)})})
    assert "needs two models" in str(alone["post_hoc_models"])


def test_prompts_without_a_debate_that_both_decide_have_no_disagreement() -> None:
    # Of two runs one names PRO, in every debate of p: it has no winner that q could have changed.
    undecided = [one._replace(runs=2, pro=1) for one in judge(0)]
    ranking = rank("s", {"a:p": undecided, "a:q": judge(0)})
    assert [row.prompt_disagreement for row in ranking.rows] == [None, None]


def test_one_that_is_told_apart_as_worse_is_not_recommended_and_a_single_prompt_has_no_other() -> (
    None
):
    ranking = rank("s", {"a:p": judge(0, 0.5), "b:p": judge(10)})
    assert [row.name for row in ranking.rows] == ["a:p", "b:p"]
    assert ranking.candidates == {"a:p": 2}  # first by both that are known
    assert ranking.recommendation.startswith(
        "recommended: a:p, the lowest instability: instability 0.500, score variance 0.500; first"
    )
    (first, second) = analyses_of(
        "s", {"a": material({"p": judge(0, 0.5)}), "b": material({"p": judge(10)})}, 0
    )["ranking_recommendation"]
    assert (first["recommended"], first["may_be_first"], first["prompt_disagreement"]) == (
        True,
        True,
        None,
    )
    assert (second["recommended"], second["may_be_first"], second["sum_of_ranks"]) == (
        False,
        False,
        None,
    )
