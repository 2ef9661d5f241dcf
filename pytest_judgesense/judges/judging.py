"""From a trial to the messages that ask it, and from an answer to its judgment. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_judgesense.cassettes.scrubbing import redact_url
from pytest_judgesense.judges.asking import Answer
from pytest_judgesense.judges.parsing import parse_reply
from pytest_judgesense.judges.parsing.debate import parse_debate
from pytest_judgesense.judges.prompts import render_messages
from pytest_judgesense.judges.spec import JudgeSpec, prompts_digest
from pytest_judgesense.judgment import (
    Failed,
    Judgment,
    Outcome,
    Trial,
    Unparsed,
    Verdict,
    content_of_slot,
)
from pytest_judgesense.suites.suite import Suite

__all__ = ["identity_of", "judgment_of", "renderer"]


def identity_of(judge: JudgeSpec) -> dict[str, Any]:
    """What makes the judge the judge that it is, for datasheets."""
    return {
        "name": judge.name,
        "provider": judge.provider,
        "model": judge.model,
        "base_url": judge.base_url and redact_url(judge.base_url),
        **judge.settings,
        "own_prompts": prompts_digest(
            {
                "system": judge.system,
                "pairwise": judge.prompts.pairwise,
                "strict": judge.prompts.strict,
                "paraphrases": dict(judge.prompts.paraphrases),
            }
        )
        if judge.system is not None or judge.prompts != type(judge.prompts)()
        else None,
    }


def judgment_of(suite: Suite, judge: str, trial: Trial, answer: Answer) -> Judgment:
    """The judgment that an answer amounts to."""
    reply = answer.reply
    if isinstance(reply, Failed):
        return Judgment(trial, judge, reply, latency_s=answer.latency_s)
    outcome: Outcome
    detail: dict[str, Any] | None = None
    if reply.text is None:
        outcome = Unparsed("refusal") if reply.refused else Unparsed("empty reply")
    elif suite.kind == "debate":
        outcome, detail = parse_debate(reply.text, truncated=reply.truncated)
    else:
        outcome = parse_reply(reply.text, suite.space, truncated=reply.truncated)
    return Judgment(
        trial=trial,
        judge=judge,
        outcome=outcome,
        chosen=_chosen(suite, trial, outcome),
        reply=reply.text if reply.text is not None else reply.refused,
        usage=reply.usage,
        latency_s=answer.latency_s,
        detail=detail,
    )


def _chosen(suite: Suite, trial: Trial, outcome: Outcome) -> str | None:
    if not isinstance(outcome, Verdict):
        return None
    if suite.space.pairwise:
        return content_of_slot(outcome.value, trial.order)
    labels = suite.space.labels
    if trial.condition.get("polarity") == "inverted" and outcome.value in labels:
        return labels[len(labels) - 1 - labels.index(outcome.value)]
    return None


def renderer(suite: Suite, judge: JudgeSpec) -> Callable[[Trial], list[dict[str, str]]]:
    """From a trial of ``suite`` under the judge's own prompts to the messages that ask it."""
    items = {item.id: item for item in suite.items}
    templates = {template.id: template for template in suite.templates}

    def messages(trial: Trial) -> list[dict[str, str]]:
        return render_messages(
            suite,
            items[trial.item],
            templates[trial.template],
            trial.order,
            system_role=judge.system_role,
        )

    return messages
