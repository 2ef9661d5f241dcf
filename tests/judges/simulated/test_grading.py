"""What the embedded judge makes of answers to a question: evidence, temperature, and form."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest

from pytest_judgesense.instruments.temperature.stimuli import GRADES
from pytest_judgesense.judges.prompts import render_repair
from pytest_judgesense.judges.simulated.named_observers import (
    PROFILES,
    SKILLS,
    answer_logits,
    malformed_rate,
    support,
)
from pytest_judgesense.judges.simulated.observer import Observer
from pytest_judgesense.judges.simulated.parsing import read_prompt
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import TIE, Unparsed, Verdict

SPACE = DecisionSpace(("A", "B"), pairwise=True, tie=True, names={"tie": ("C",)})
QUESTION = """<question>
What do bees collect?
Required elements:
1. nectar and pollen
2. the hive
</question>
"""
PAIR = (
    QUESTION
    + """{reference}
<answer_a>
{a}
</answer_a>
<answer_b>
{b}
</answer_b>
Say "A" or "B", and "C" for a tie: {form}"""
)
ONE = QUESTION + "<answer>\n{a}\n</answer>\nGrade it from 1 to 10: {form}"
DIRECT, REASONED = '{"verdict": "A"}', '{"reason": "why", "verdict": "A"}'
SCORE = '{"score": 5}'
# Of the three stems required (nectar, pollen, hive) they hold 3, 1 and 0.
WHOLE, PART, NONE = "Nectar and pollen, for their hive.", "They fetch pollen.", "They sleep a lot."
CALM = Observer("calm", sensitivity=3.0, tie_criterion=1.5, skills=SKILLS)


def _pair(a: str, b: str, form: str = DIRECT, reference: str = "") -> str:
    return PAIR.format(a=a, b=b, form=form, reference=reference)


def _logits(prompt: str, *, reasoned: bool = False, observer: Observer = CALM) -> dict[str, float]:
    return answer_logits(observer, read_prompt(prompt), reasoned=reasoned)[0]


def test_support_is_the_share_of_the_required_stems() -> None:
    elements = ["nectar and pollen", "the hive"]
    assert [support(text, elements, {}) for text in (WHOLE, PART, NONE)] == [1, 1 / 3, 0]
    # A reference adds its own stems: nectar, pollen, hive, honey.
    assert support(PART, elements, {"reference": "Honey in the hive."}) == 1 / 4
    # Where nothing is required, the question is all there is: bee(s), collect.
    assert support("Bees!", [], {"question": "What do bees collect?"}) == 1 / 2


def test_the_logits_of_two_answers() -> None:
    # x = 4 s (1 - 1/3) = 4 * 3 * 2/3 = 8; a tie has the criterion 1.5.
    assert _logits(_pair(WHOLE, PART)) == pytest.approx({"A": 8, "B": -8, TIE: 1.5})
    assert _logits(_pair(PART, WHOLE)) == pytest.approx({"A": -8, "B": 8, TIE: 1.5})
    # A reason sharpens the evidence by a quarter.
    assert _logits(_pair(WHOLE, PART), reasoned=True)["A"] == pytest.approx(10)


def test_the_logits_of_a_grade() -> None:
    # m = 1 + 9/3 = 4, s = 3: -3 (k - 4)^2.
    found = _logits(ONE.format(a=PART, form=SCORE))
    assert found == pytest.approx({str(k): -3.0 * (k - 4) ** 2 for k in range(1, 11)})


@pytest.mark.parametrize(("form", "key"), [(DIRECT, "verdict"), (REASONED, "reason")])
def test_a_cold_judge_is_right_in_the_form_that_is_asked_for(form: str, key: str) -> None:
    for a, b, said in ((WHOLE, PART, "A"), (NONE, PART, "B"), (PART, PART + " ", TIE)):
        replies = {CALM.reply(_pair(a, b, form), temperature=0.01, seed=s) for s in range(20)}
        assert len(replies) == 1, "the same whatever the seed"
        (reply,) = replies
        assert f'"{key}"' in reply
        assert parse_reply(reply, SPACE) == Verdict(said)
    grades = {CALM.reply(ONE.format(a=WHOLE, form=SCORE), temperature=0.01, seed=s) for s in (1, 2)}
    assert grades == {'{"score": 10}'}


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0, 3.0])
def test_the_temperature_divides_the_logits(temperature: float) -> None:
    # x = 4 * 0.5 * 2/3 = 4/3: A against B against a tie of 0.5.
    observer = replace(CALM, sensitivity=0.5, tie_criterion=0.5)
    logits = {"A": 4 / 3, "B": -4 / 3, TIE: 0.5}
    weights = {label: math.exp(a / temperature) for label, a in logits.items()}
    prompt, n = _pair(WHOLE, PART), 3000
    said = Counter(
        parse_reply(observer.reply(prompt, temperature=temperature, seed=seed), SPACE)
        for seed in range(n)
    )
    for label, weight in weights.items():
        p = weight / sum(weights.values())
        # Four standard errors: three labels and four temperatures miss once in 1,300 such tests.
        assert abs(said[Verdict(label)] / n - p) < 4 * math.sqrt(p * (1 - p) / n)


def test_replies_at_two_temperatures_are_drawn_apart() -> None:
    observer = replace(CALM, sensitivity=0.1, tie_criterion=0.0)
    prompt = _pair(WHOLE, PART)
    hot, hotter = (
        [observer.reply(prompt, temperature=t, seed=s) for s in range(300)] for t in (2.9, 3.0)
    )
    assert 60 < sum(map(str.__eq__, hot, hotter)) < 140  # a third by chance, were they independent


def test_malformed_replies_grow_with_the_square_of_the_temperature() -> None:
    assert malformed_rate(0.0, 0.008, 3.0, reasoned=False) == pytest.approx(0.072)
    assert malformed_rate(0.0, 0.008, 3.0, reasoned=True) == pytest.approx(0.036)
    assert malformed_rate(0.05, 0.01, 0.0, reasoned=False) == 0.05
    assert malformed_rate(0.2, 1.0, 3.0, reasoned=False) == 0.5


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_half_of_the_malformed_replies_say_what_was_meant(name: str) -> None:
    sure = {"sensitivity": 50.0, "wording_sensitivity": 0.0, "lapse_rate": 0.0}
    observer = replace(PROFILES[name], format_error_rate=0.5, heat=1.0, **sure)
    for prompt, space, meant in (
        (_pair(WHOLE, NONE), SPACE, "A"),
        (_pair(WHOLE, NONE, REASONED), SPACE, "A"),
        (ONE.format(a=WHOLE, form=SCORE), GRADES, "10"),
    ):
        replies = [observer.reply(prompt, temperature=1.0, seed=seed) for seed in range(200)]
        broken = [r for r in replies if not isinstance(parse_reply(r, space), Verdict)]
        assert 60 < len(broken) < 140  # half of 200, by more than five standard errors
        repaired = [
            parse_reply(PROFILES["clean"].reply(render_repair(r, space)[0]["content"]), space)
            for r in broken
        ]
        found = [one for one in repaired if isinstance(one, Verdict)]
        assert 0.3 < len(found) / len(broken) < 0.7
        assert set(found) == {Verdict(meant)}


def test_prompts_without_a_question_or_a_form_are_answered_as_before() -> None:
    plain = _pair(WHOLE, PART, "Reply A, B or tie.")
    assert CALM.reply(plain) in ("A", "B", "tie")
    renamed = _pair(WHOLE, PART).replace("question>", "task>")
    assert CALM.reply(renamed) in ('{"verdict": "A"}', '{"verdict": "B"}', '{"verdict": "tie"}')


@pytest.mark.parametrize("said", ["good", "9" * 5_000])
def test_a_score_that_is_no_number_is_not_brought_into_form(said: str) -> None:
    space = DecisionSpace(("1", "2"), ordinal=True)
    (message,) = render_repair(f'"score" => {said} //', space)
    assert isinstance(parse_reply(PROFILES["clean"].reply(message["content"]), space), Unparsed)
