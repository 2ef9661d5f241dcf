"""The probabilities that the embedded judge serves are those that its replies come from."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from pytest_judgesense.judges.calls import judgment_of
from pytest_judgesense.judges.prompts import judge_for_suite, render_messages
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.providers.builtin import EMBEDDED
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.simulated.endpoint import answer, chances
from pytest_judgesense.judges.simulated.named_observers import PROFILES
from pytest_judgesense.judges.simulated.observer import Observer
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment, Trial, Verdict
from tests.suites.known import builtin_suites, load_suite

PATH = "/v1/chat/completions"
PROMPT = (
    "<task>\nGreet.\nRequired elements:\n1. friendly hello\n</task>\n\n"
    "<response_a>\nHello.\n</response_a>\n\n<response_b>\nGo.\n</response_b>\n\n"
    "Which is better? Reply with A, B or tie."
)


def asked(suite: Suite, profile: str, trial: Trial) -> Judgment:
    """The judgment of a trial by a judge with log-probabilities, from the served body."""
    judge = replace(judge_from_name(f"embedded:{profile}"), logprobs=True, temperature=1.0)
    item = next(item for item in suite.items if item.id == trial.item)
    template = next(one for one in suite.templates if one.id == trial.template)
    messages = render_messages(suite, item, template, trial.order)
    spec = judge_for_suite(judge, suite)
    request = EMBEDDED.request(spec, "http://127.0.0.1/v1", None, messages, 0)
    status, body = answer(PATH, json.loads(request.body))
    reply = EMBEDDED.read(status, json.dumps(body))
    return judgment_of(suite, judge, trial, Answer(reply))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", ["vacuum", "ladder", "coherence", "factuality", "preference"])
def test_every_verdict_of_a_built_in_suite_has_its_probabilities(profile: str, name: str) -> None:
    suite = load_suite(builtin_suites()[name])
    for trial in plan_trials(suite)[:: max(1, len(plan_trials(suite)) // 12)]:
        found = asked(suite, profile, trial)
        if isinstance(found.outcome, Verdict):
            assert found.probabilities is not None, found.reply
            assert found.probabilities[found.outcome.value] > 0
            assert sum(found.probabilities.values()) == pytest.approx(1)
            assert found.mass == pytest.approx(1)


def test_what_is_served_is_lapses_and_the_softmax_of_the_logits() -> None:
    observer = Observer("o", tie_criterion=0.5, slot_bias=0.25, lapse_rate=0.1)
    # e_A - e_B = 0: logits .25, -.25 and .5.
    weights = [math.exp(x) for x in (0.25, -0.25, 0.5)]
    expected = [0.1 / 3 + 0.9 * weight / sum(weights) for weight in weights]
    assert chances(observer, PROMPT) == pytest.approx(
        dict(zip("A B tie".split(), expected, strict=True))
    )


@pytest.mark.parametrize("lapse", [0.0, 0.3])
def test_at_temperature_1_replies_come_as_often_as_is_served(lapse: float) -> None:
    observer = Observer("o", tie_criterion=0.5, slot_bias=0.25, lapse_rate=lapse)
    served = chances(observer, PROMPT)
    draws = 3000
    counts = Counter(observer.reply(PROMPT, temperature=1.0, seed=s) for s in range(draws))
    for label, chance in served.items():
        # Four standard errors: by chance outside in 1 of 16,000.
        assert abs(counts[label] / draws - chance) < 4 * math.sqrt(chance * (1 - chance) / draws)


def test_without_lapses_other_temperatures_take_the_power() -> None:
    observer = Observer("o", tie_criterion=0.5, slot_bias=0.25)
    heated = {label: chance ** (1 / 2) for label, chance in chances(observer, PROMPT).items()}
    draws = 3000
    counts = Counter(observer.reply(PROMPT, temperature=2.0, seed=s) for s in range(draws))
    for label, weight in heated.items():
        chance = weight / sum(heated.values())
        assert abs(counts[label] / draws - chance) < 4 * math.sqrt(chance * (1 - chance) / draws)


def test_log_probabilities_change_no_reply_and_are_served_to_nobody_else() -> None:
    body: dict[str, Any] = {"model": "mixed", "messages": [{"role": "user", "content": PROMPT}]}
    _, plain = answer(PATH, body)
    _, told = answer(PATH, body | {"logprobs": True, "top_logprobs": 2})
    (choice,) = told["choices"]
    content = choice.pop("logprobs")["content"]
    assert plain["choices"] == [choice]
    assert "".join(token["token"] for token in content) == choice["message"]["content"]
    assert max(len(token["top_logprobs"]) for token in content) == 2


def test_a_reply_without_a_verdict_names_no_label() -> None:
    observer = Observer("o", format_error_rate=1.0)
    _, body = answer(
        PATH,
        {"messages": [{"role": "user", "content": PROMPT}], "logprobs": True, "top_logprobs": 20},
        lambda _: observer,
    )
    (choice,) = body["choices"]
    assert all(len(token["top_logprobs"]) == 1 for token in choice["logprobs"]["content"])


def test_a_judge_that_does_not_ask_has_none() -> None:
    suite = load_suite(builtin_suites()["vacuum"])
    (trial, *_) = plan_trials(suite)
    found = asked(suite, "clean", trial)
    assert found.probabilities is not None
    plain = judge_from_name("embedded:clean")
    reply = Reply(found.reply, tokens=())
    assert judgment_of(suite, plain, trial, Answer(reply)).probabilities is None
