"""What a function with the prompt in its own code sends, told from its recording on a suite."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_judgesense.cassettes.exchange import CALL, RETURN, Exchange, RecordedRequest
from pytest_judgesense.checks.sent import masked, prompt_texts
from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.ablation.stimuli import SentText
from pytest_judgesense.judges.functions import TEMPLATE, TEMPLATE_ID, binding_of, has_own_prompt
from pytest_judgesense.judges.functions import shown as signature
from pytest_judgesense.judges.remembered import recorded_trials
from pytest_judgesense.judges.resolving import function_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.prompt_template import placeholders
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial

# Where a text stands in the requests of a trial: the call, and the place among its texts.
_Place = tuple[int, int]


def texts_sent(judge: JudgeSpec, suite: Suite, cassettes: Path) -> tuple[SentText, ...]:
    """The prompts that a function has in its own code; empty for every other judge.

    Raises:
        UsageError: it is not recorded on the suite, or no request of it is.
    """
    if judge.provider != "callable":
        return ()
    function = function_of(judge)
    binding = binding_of(function, judge, suite)
    if not has_own_prompt(binding):
        return ()
    assert binding is not None, "a function of the messages has no prompt of its own"
    if TEMPLATE_ID in binding.fields.values():
        raise UsageError(
            f"the prompt of judge {judge.name!r} cannot be taken apart",
            found=f"{signature(function, judge.model)}, which chooses a prompt by {TEMPLATE_ID}",
            expected=f"a function that takes {TEMPLATE}, or one with a single prompt",
            remedy=f"give it a parameter {TEMPLATE}",
        )
    paths = cassettes_in(cassettes, judge.slug, suite.recordings)
    first = suite.templates[0].id
    trials = [trial for trial in plan_trials(suite) if trial.template == first]
    recorded = recorded_trials(path for path in paths.values() if path.is_file())
    requests = [
        (trial, sent)
        for trial in trials
        if (sent := _answered(recorded.get(trial.id, ()))) is not None
    ]
    if not any(sent for _, sent in requests):
        raise _unknown(judge, suite, signature(function, judge.model), bool(requests))
    return tuple(_shared(suite, requests))


def _answered(exchanges: Sequence[Exchange]) -> list[RecordedRequest] | None:
    """The requests that were answered, in their order; ``None`` where nothing is recorded."""
    if not exchanges:
        return None
    return [
        exchange.request
        for exchange in exchanges
        if exchange.answers and exchange.request.method not in (CALL, RETURN)
    ]


def _shared(
    suite: Suite, requests: Sequence[tuple[Trial, Sequence[RecordedRequest]]]
) -> Iterator[SentText]:
    """The texts that stand at one place in the requests of all trials."""
    items = {item.id: item for item in suite.items}
    fields = set.intersection(*({*item.texts("ab")} for item in suite.items))
    at_place: dict[_Place, list[tuple[str, str, str]]] = {}
    for trial, sent in requests:
        of_item = items[trial.item].texts(trial.order)
        for call, request in enumerate(sent):
            for number, (part, text) in enumerate(prompt_texts(request)):
                shown = (part, text, masked(text, of_item))
                at_place.setdefault((call, number), []).append(shown)
    several = max(call for call, _ in at_place) if at_place else 0
    for (call, _), texts in sorted(at_place.items()):
        if len(texts) == len(requests):
            of_system = texts[0][0] == "system prompt"
            # A text of one item may by chance be a word of the prompt: most do not.
            ((common, _),) = Counter(shown for _, _, shown in texts).most_common(1)
            where = "system" if of_system else "prompt"
            where += f" of call {call + 1}" * bool(several)
            yield SentText(where, _harmless(common, fields), [text for _, text, _ in texts])


def _harmless(text: str, fields: set[str]) -> str:
    """A text without braces that would ask for what not every item has."""
    for name in placeholders(text) - fields:
        text = text.replace("{{" + name + "}}", "{" + name + "}")
    return text


def _unknown(judge: JudgeSpec, suite: Suite, function: str, is_recorded: bool) -> UsageError:
    """The error of a function whose requests are not known."""
    if is_recorded:
        return UsageError(
            f"the prompt of judge {judge.name!r} is not in what is recorded of it",
            found=f"{function}, recorded on {suite.name} by what it returned",
            expected=f"a function whose requests are recorded, or one that takes {TEMPLATE} or "
            "messages",
            remedy=f"give it a parameter {TEMPLATE}",
        )
    named = (
        ["--judge-suite", suite.name]
        if suite.built_in is not None
        else [os.path.relpath(suite.path)]
    )
    command = shlex.join(["pytest", *named, "--judge-name", judge.name, "--judge-mode", "record"])
    return UsageError(
        f"the prompt of judge {judge.name!r} is in its own code, and is not known",
        found=f"{function}, which is not recorded on {suite.name}",
        expected="a recording, whose requests say what it sends about every item",
        remedy=f"record the suite first: {command}",
    )
