"""Each parameter of the observer has the effect that its documentation says, and no other."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.simulated.named_observers import PROFILES, observer_named
from pytest_judgesense.judges.simulated.observer import Observer
from pytest_judgesense.judges.simulated.parsing import read_prompt

TASK = "Write a note.\nRequired elements:\n1. front door key\n2. outdoor tap\n3. water amount"
TIE = "Choose tie if neither is better.\nReply with A, B or tie and nothing else."
STRICT = (
    "Choose tie when the two differ only in wording, style or length.\n"
    "Reply with A, B or tie and nothing else."
)
KEY = "The front door key is under the mat."  # covers element 1
KEY_AND_TAP = f"{KEY} The outdoor tap works."  # covers elements 1 and 2
NONE = "Thank you for the help."  # covers nothing


def pair(a: str, b: str, instruction: str = TIE, task: str = TASK) -> str:
    return (
        f"<task>\n{task}\n</task>\n\n<response_a>\n{a}\n</response_a>\n\n"
        f"<response_b>\n{b}\n</response_b>\n\nDecide which response is better. {instruction}"
    )


def logits(observer: Observer, prompt: str) -> dict[str, float]:
    return observer.logits(read_prompt(prompt))


PLAIN = Observer("plain", sensitivity=2.0, tie_criterion=1.0)


# x = s (e_A - e_B) with s = 2; logits x, -x and the criterion 1.
@pytest.mark.parametrize(
    ("a", "b", "x"),
    [(KEY, NONE, 2.0), (NONE, KEY, -2.0), (KEY_AND_TAP, NONE, 4.0), (KEY, KEY, 0.0)],
)
def test_evidence_is_the_difference_of_covered_elements_times_the_sensitivity(
    a: str, b: str, x: float
) -> None:
    assert logits(PLAIN, pair(a, b)) == {"A": x, "B": -x, "tie": 1.0}


def test_without_required_elements_evidence_counts_the_stems_of_the_query() -> None:
    # Stems of the query: repair, canvas, tent. A holds tent and canvas, B holds repair: 2 - 1.
    prompt = pair("A canvas tent.", "They repair it.", "A or B?", task="how to repair canvas tents")
    assert logits(PLAIN, prompt) == {"A": 2.0, "B": -2.0}


def test_a_tie_has_a_logit_only_where_the_prompt_permits_it() -> None:
    assert set(logits(PLAIN, pair(KEY, NONE, "Reply with A or B."))) == {"A", "B"}


def test_a_strict_instruction_widens_the_criterion_and_nothing_else() -> None:
    observer = replace(PLAIN, strict_shift=0.75)
    assert logits(observer, pair(KEY, NONE)) == {"A": 2.0, "B": -2.0, "tie": 1.0}
    assert logits(observer, pair(KEY, NONE, STRICT)) == {"A": 2.0, "B": -2.0, "tie": 1.75}


def test_a_criterion_above_the_evidence_turns_a_preference_into_a_tie() -> None:
    # Evidence of one element is worth 2.
    assert replace(PLAIN, tie_criterion=1.9).reply(pair(KEY, NONE)) == "A"
    assert replace(PLAIN, tie_criterion=2.1).reply(pair(KEY, NONE)) == "tie"


def test_slot_bias_favours_the_first_slot_whatever_stands_in_it() -> None:
    observer = replace(PLAIN, slot_bias=1.5)
    assert logits(observer, pair(NONE, NONE))["A"] == 1.5
    assert logits(observer, pair(KEY, NONE))["A"] == 2.0 + 1.5
    assert logits(observer, pair(NONE, KEY))["A"] == -2.0 + 1.5
    assert observer.reply(pair(NONE, NONE)) == "A"


def test_surface_preference_favours_longer_words_whatever_the_slot() -> None:
    observer = replace(PLAIN, surface_preference=0.5)
    # Mean word length 6 ("Most fine literature.": 18 letters in 3 words) against 2 ("It is."):
    # 0.5 x (6 - 2) = 2.
    assert logits(observer, pair("Most fine literature.", "It is."))["A"] == pytest.approx(2.0)
    assert logits(observer, pair("It is.", "Most fine literature."))["A"] == pytest.approx(-2.0)


def test_without_wording_sensitivity_a_reworded_instruction_changes_nothing() -> None:
    assert logits(PLAIN, pair(KEY, NONE)) == logits(PLAIN, pair(KEY, NONE, f"Please. {TIE}"))


def test_wording_shifts_a_stimulus_by_a_standard_normal_draw_times_the_parameter() -> None:
    observer = replace(PLAIN, wording_sensitivity=0.5)
    shifts = [
        (logits(observer, pair(KEY, NONE, f"Wording {i}. {TIE}"))["A"] - 2.0) / 0.5
        for i in range(400)
    ]
    mean = sum(shifts) / 400
    variance = sum((shift - mean) ** 2 for shift in shifts) / 399
    # 400 draws of N(0, 1): the mean has a standard error of 1/20 = 0.05, the variance one of
    # sqrt(2/399) = 0.0708. The draws are fixed by the texts; four standard errors are allowed.
    assert abs(mean) < 4 * 0.05
    assert abs(variance - 1) < 4 * 0.0708


def test_a_wording_favours_a_content_and_survives_the_exchange_of_slots() -> None:
    observer = replace(PLAIN, sensitivity=0.0, wording_sensitivity=0.5)
    ab, ba = logits(observer, pair(KEY, NONE)), logits(observer, pair(NONE, KEY))
    assert ab["A"] == -ba["A"] != 0.0


def test_identical_candidates_and_a_wording_give_the_same_verdict_in_both_orders() -> None:
    observer = replace(PLAIN, wording_sensitivity=0.5)
    assert logits(observer, pair(KEY, KEY)) == logits(observer, pair(KEY, KEY))


def test_lapses_are_uniform_over_the_permitted_labels() -> None:
    observer = replace(PLAIN, lapse_rate=1.0)
    n = 1500
    counts = Counter(observer.reply(pair(KEY, NONE), seed=seed) for seed in range(n))
    assert set(counts) == {"A", "B", "tie"}
    # Binomial(n, 1/3): four standard deviations.
    for count in counts.values():
        assert abs(count - n / 3) < 4 * math.sqrt(n * (1 / 3) * (2 / 3))


def test_the_lapse_rate_is_the_share_of_lapsed_replies() -> None:
    observer = replace(PLAIN, sensitivity=50.0, lapse_rate=0.3)
    n = 1500
    wrong = sum(observer.reply(pair(KEY, NONE), seed=seed) != "A" for seed in range(n))
    # A lapse names one of the two other labels in 2 of 3 cases: 0.3 x 2/3 = 0.2.
    assert abs(wrong - 0.2 * n) < 4 * math.sqrt(n * 0.2 * 0.8)


def test_a_format_error_states_no_verdict_and_comes_at_its_rate() -> None:
    observer = replace(PLAIN, format_error_rate=0.25)
    n = 1500
    errors = sum(observer.reply(pair(KEY, NONE), seed=seed) != "A" for seed in range(n))
    assert abs(errors - 0.25 * n) < 4 * math.sqrt(n * 0.25 * 0.75)


@pytest.mark.parametrize("style", ["Answer: {}", "**{}**"])
def test_the_style_is_how_a_label_is_written(style: str) -> None:
    assert replace(PLAIN, style=style).reply(pair(KEY, NONE)) == style.format("A")


# --- temperature -----------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_temperature_rescales_the_logits_and_frequencies_follow_the_softmax(
    temperature: float,
) -> None:
    # Evidence of one element, s = 0.6, criterion 0.4: logits 0.6, -0.6 and 0.4.
    observer = Observer("o", sensitivity=0.6, tie_criterion=0.4)
    weights = {k: math.exp(v / temperature) for k, v in {"A": 0.6, "B": -0.6, "tie": 0.4}.items()}
    total = sum(weights.values())
    n = 2500
    prompt = pair(KEY, NONE)
    counts = Counter(
        observer.reply(prompt, temperature=temperature, seed=seed) for seed in range(n)
    )
    for label, weight in weights.items():
        p = weight / total
        assert abs(counts[label] - n * p) < 4 * math.sqrt(n * p * (1 - p)), label


def test_temperature_leaves_the_order_of_the_labels() -> None:
    observer = Observer("o", sensitivity=1.0, tie_criterion=0.0)
    n = 1000
    counts = Counter(
        observer.reply(pair(KEY, NONE), temperature=3.0, seed=seed) for seed in range(n)
    )
    # Logits 1, 0, -1 over 3: expected shares 0.45, 0.32, 0.23.
    assert counts["A"] > counts["tie"] > counts["B"] > 0


@pytest.mark.parametrize("seed", range(5))
def test_at_temperature_zero_the_largest_logit_wins(seed: int) -> None:
    assert PLAIN.reply(pair(KEY, NONE), temperature=0.0, seed=seed) == "A"
    assert PLAIN.reply(pair(NONE, KEY), temperature=0.0, seed=seed) == "B"
    assert PLAIN.reply(pair(KEY, KEY), temperature=0.0, seed=seed) == "tie"


def test_at_temperature_zero_equal_logits_are_decided_by_the_seed_alone() -> None:
    prompt = pair(KEY, KEY, "Reply with A or B.")
    counts = Counter(PLAIN.reply(prompt, seed=seed) for seed in range(400))
    # Binomial(400, 1/2): four standard deviations are 40.
    assert abs(counts["A"] - 200) < 40
    assert counts["A"] + counts["B"] == 400


def test_a_very_low_temperature_overflows_nothing() -> None:
    assert PLAIN.reply(pair(KEY, NONE), temperature=1e-300) == "A"


# --- determinism -----------------------------------------------------------------------------


def test_equal_requests_get_equal_replies() -> None:
    noisy = PROFILES["noisy"]
    prompts = [pair(KEY, NONE, f"{i}. {TIE}") for i in range(30)]
    first = [noisy.reply(prompt, temperature=1.0, seed=3) for prompt in prompts]
    again = [noisy.reply(prompt, temperature=1.0, seed=3) for prompt in reversed(prompts)]
    assert first == again[::-1]


def test_a_seed_makes_a_difference_where_there_is_something_to_draw() -> None:
    replies = {
        PROFILES["noisy"].reply(pair(KEY, KEY), temperature=1.0, seed=seed) for seed in range(20)
    }
    assert len(replies) > 1


# --- statements and grades -------------------------------------------------------------------


def statement(text: str, instruction: str = "Answer YES if it is supported, otherwise NO.") -> str:
    source = "Visitors must wear felt slippers on the glass bridge."
    return f"<source>\n{source}\n</source>\n\n<statement>\n{text}\n</statement>\n\n{instruction}"


# x = s (1/2 - u), u the stems without support, at most 3; s = 2.
@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("Visitors wear slippers.", 1.0),  # u = 0
        ("Visitors wear helmets.", -1.0),  # u = 1
        ("Visitors wear rubber helmets.", -3.0),  # u = 2
        ("Tall guests carry rubber helmets.", -5.0),  # u = 5, counted as 3
    ],
)
def test_a_statement_is_judged_by_its_unsupported_stems(text: str, x: float) -> None:
    assert logits(PLAIN, statement(text)) == {"YES": x, "NO": -x}


def test_an_inverted_instruction_exchanges_the_labels() -> None:
    inverted = "Answer YES if it contains an error and NO if it contains none."
    assert logits(PLAIN, statement("Visitors wear slippers.", inverted)) == {"YES": -1.0, "NO": 1.0}


def test_a_grade_is_drawn_around_the_latent_score_of_the_cohesion() -> None:
    # Two links of four: cohesion 1/2, latent 1 + 4 x 1/2 = 3; logit -s (k - 3)^2 with s = 2.
    text = (
        "Boil the potatoes. Mash the potatoes. Salt the potatoes. Camels drink. Clocks strike noon."
    )
    prompt = f"<text>\n{text}\n</text>\n\nRate the coherence from 1 to 5."
    assert logits(PLAIN, prompt) == {"1": -8.0, "2": -2.0, "3": 0.0, "4": -2.0, "5": -8.0}
    assert PLAIN.reply(prompt) == "3"


def test_it_states_how_sure_it_is_where_it_is_asked() -> None:
    # Logits 1 and -1: 1 / (1 + e^-2) = .881 for the likeliest label, whichever is given.
    asked = statement(
        "Visitors wear slippers.", 'YES or NO, as {"verdict": ..., "confidence": ...}.'
    )
    assert json.loads(PLAIN.reply(asked)) == {"verdict": "YES", "confidence": 0.88}
    modest = replace(PLAIN, overconfidence=-0.3)
    assert json.loads(modest.reply(asked))["confidence"] == 0.58
    # With lapses: .2 / 2 + .8 * .881; no more than 1, whatever is added.
    lapsing = replace(PLAIN, lapse_rate=0.2)
    assert json.loads(lapsing.reply(asked))["confidence"] == 0.8
    assert json.loads(replace(PLAIN, overconfidence=0.9).reply(asked))["confidence"] == 1.0
    assert (observer_named("mixed").overconfidence, PLAIN.overconfidence) == (0.2, 0.0)
    assert "confidence" not in PLAIN.reply(statement("Visitors wear slippers."))


def test_a_comparison_of_answers_states_it_too() -> None:
    form = 'Reply with {"verdict": "A" or "B", "confidence": 0.0}.'
    prompt = (
        f"<question>\nWhere is the key?\n</question>\n<answer_a>\n{KEY}\n</answer_a>\n"
        f"<answer_b>\n{NONE}\n</answer_b>\n{form}"
    )
    reply = json.loads(PROFILES["clean"].reply(prompt))
    assert reply["verdict"] == "A"
    assert 0.5 < reply["confidence"] <= 1


def test_where_there_is_nothing_to_judge_it_says_so() -> None:
    assert PLAIN.reply("Hello?") == "I cannot find anything to judge in this prompt."


# --- profiles --------------------------------------------------------------------------------


def test_the_profiles_are_the_documented_ones_under_their_own_names() -> None:
    assert sorted(PROFILES) == ["clean", "mixed", "noisy", "positional"]
    assert all(observer_named(name).name == name for name in PROFILES)


def test_an_unknown_profile_lists_the_valid_ones() -> None:
    with pytest.raises(UsageError, match="one of: clean, mixed, noisy, positional"):
        observer_named("claen")


def test_the_clean_profile_ties_on_equal_and_sees_every_difference() -> None:
    clean = PROFILES["clean"]
    assert clean.reply(pair(KEY, KEY)) == "tie"
    assert clean.reply(pair(KEY_AND_TAP, KEY)) == "A"
    assert clean.reply(pair(KEY_AND_TAP, KEY, STRICT)) == "A"


def test_the_positional_profile_answers_the_first_slot_where_nothing_differs() -> None:
    assert PROFILES["positional"].reply(pair(KEY, KEY)) == "**A**"


def test_a_group_that_is_slighted_gets_another_label_by_chance() -> None:
    slighting = replace(PLAIN, slights="language=sw", group_gap=0.3)
    prompts = [
        f"<language>{{}}</language>\n{pair(f'{KEY} It is note {n}.', NONE)}" for n in range(400)
    ]
    usual = [PLAIN.reply(prompt.format("sw")) for prompt in prompts]
    assert usual == ["A"] * 400
    assert [slighting.reply(prompt.format("de")) for prompt in prompts] == usual
    changed = sum(slighting.reply(prompt.format("sw")) != "A" for prompt in prompts)
    # 120 of 400 by the parameter; four standard errors of sqrt(400 * .3 * .7) = 9.2 on each side.
    assert abs(changed - 120) <= 37
