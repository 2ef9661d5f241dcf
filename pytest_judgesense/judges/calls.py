r"""From a trial to the messages that ask it, and from an answer to its judgment. Pure.

Most trials are one call. Where the kind of a suite asks several questions, what their replies come
to is the kind's to say. A judge with ``repair`` has one call more for each reply that is malformed:
what it means is brought into form, and nothing is judged anew.

A reply is malformed if it states no verdict that can be read, or several, or is cut off: see
`_FORM` for the reasons of `Unparsed` that count. A refusal, an empty reply, and a verdict that the
prompt does not permit have no form to be repaired.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pytest_judgesense.cassettes.redaction import redact_url
from pytest_judgesense.judges.client import Answer, Call, Course
from pytest_judgesense.judges.prompts import render_messages, render_repair
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.spec import JudgeSpec, prompts_digest
from pytest_judgesense.judges.statuses import refusal
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.kind import Question, Reading
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import (
    Failed,
    Judgment,
    Outcome,
    Trial,
    Unparsed,
    Usage,
    Verdict,
    content_of_slot,
)

# How the reasons begin for which a reply is sent to be repaired.
_FORM: Final = (
    "no verdict",
    "several ",
    "cut off",
    "no JSON object",
    "truncated JSON",
    "malformed JSON",
    "not a number",
)


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


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one call of a trial asks: a question, or the form of the ``malformed`` reply to it."""

    question: Question
    malformed: str | None = None


_Replies: TypeAlias = Generator[_Asked, Reply | Failed, Reading]


def takes_one_call(suite: Suite, judge: JudgeSpec) -> bool:
    """Whether every trial of ``suite`` is one call with the judge's own settings."""
    return judge.repair is None and not suite.temperatures


def _questions(suite: Suite, trial: Trial) -> tuple[Question, ...]:
    with suite.form.blamed():
        return suite.form.questions(trial)


def _course(suite: Suite, trial: Trial, *, repairs: bool) -> _Replies:
    """The calls of a trial, each answered before the next one, and what they come to."""
    repaired: list[dict[str, Any]] = []
    outcomes = []
    detail: dict[str, Any] | None = None
    for question in _questions(suite, trial):
        outcome, detail = yield from _stated(suite, question, repaired, repairs=repairs)
        if isinstance(outcome, Failed):
            return outcome, None
        outcomes.append(outcome)
    if len(outcomes) > 1:
        with suite.form.blamed():
            outcome, detail = suite.form.combine(trial, outcomes)
    return outcome, _with_repair(detail, repaired)


def _stated(
    suite: Suite, question: Question, repaired: list[dict[str, Any]], *, repairs: bool
) -> _Replies:
    """What one question is answered, repaired if it has to be; ``repaired`` is added to."""
    reply = yield _Asked(question)
    outcome, detail = _parsed(suite, question, reply)
    if not repairs or not isinstance(outcome, Unparsed) or not outcome.reason.startswith(_FORM):
        return outcome, detail
    assert isinstance(reply, Reply), "only a reply is unparsed"
    again = yield _Asked(question, malformed=reply.text)
    repair: dict[str, Any] = {"before": outcome.reason}
    repaired.append(repair)
    if isinstance(again, Failed):
        repair["failed"] = again.reason
        return outcome, detail
    second, of_second = _parsed(suite, question, again)
    return (second, of_second) if isinstance(second, Verdict) else (outcome, detail)


def _with_repair(
    detail: dict[str, Any] | None, repaired: Sequence[dict[str, Any]]
) -> dict[str, Any] | None:
    if not repaired:
        return detail
    failed = [one["failed"] for one in repaired if "failed" in one]
    repair = {"before": "; ".join(one["before"] for one in repaired), "calls": len(repaired)}
    if failed:
        repair["failed"] = "; ".join(failed)
    return {**(detail or {}), "repair": repair}


def _parsed(suite: Suite, question: Question, reply: Reply | Failed) -> Reading:
    if isinstance(reply, Failed):
        return reply, None
    if reply.text is None:
        return Unparsed("refusal" if reply.refused else "empty reply"), None
    if (form := question.reply or suite.form.reply) is None:
        return parse_reply(reply.text, suite.space, truncated=reply.truncated), None
    with suite.form.blamed():
        return form.read(reply.text, reply.truncated)


def judgment_of(suite: Suite, judge: JudgeSpec, trial: Trial, answer: Answer) -> Judgment:
    """The judgment that an answer amounts to."""
    replies = (answer.reply, *answer.later)
    questions = _questions(suite, trial)
    if judge.repair is None and len(questions) == 1:
        outcome, detail = _parsed(suite, questions[0], answer.reply)
    else:
        course = _course(suite, trial, repairs=judge.repair is not None)
        outcome, detail = _followed(course, replies)
    texts = [text for reply in replies if (text := _text_of(reply)) is not None]
    if suite.temperatures and isinstance(outcome, Failed):
        outcome = Failed(refusal(outcome.reason) or outcome.reason)
    return Judgment(
        trial=trial,
        judge=judge.name,
        outcome=outcome,
        chosen=_chosen(suite, trial, outcome),
        reply="\n\n".join(texts) if texts else None,
        usage=_used(replies),
        latency_s=answer.latency_s,
        detail=detail,
    )


def _followed(course: _Replies, replies: Sequence[Reply | Failed]) -> Reading:
    next(course)
    for reply in replies:
        try:
            course.send(reply)
        except StopIteration as end:
            reading: Reading = end.value
            return reading
    course.close()
    return Failed("calls of this trial are missing"), None


def _text_of(reply: Reply | Failed) -> str | None:
    if isinstance(reply, Failed):
        return None
    return reply.text if reply.text is not None else reply.refused


def _used(replies: Sequence[Reply | Failed]) -> Usage:
    used = [reply.usage for reply in replies if isinstance(reply, Reply)]
    if len(used) == 1:
        return used[0]
    prompt = [u.prompt_tokens for u in used if u.prompt_tokens is not None]
    completion = [u.completion_tokens for u in used if u.completion_tokens is not None]
    return Usage(sum(prompt) if prompt else None, sum(completion) if completion else None)


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
    """From a trial of ``suite`` under the judge's own prompts to the messages that ask it first."""
    rendered = _renderer(suite, judge)
    return lambda trial: rendered(trial, _Asked(_questions(suite, trial)[0]))


def _renderer(suite: Suite, judge: JudgeSpec) -> Callable[[Trial, _Asked], list[dict[str, str]]]:
    items = {item.id: item for item in suite.items}
    templates = {template.id: template for template in suite.templates}

    def messages(trial: Trial, asked: _Asked) -> list[dict[str, str]]:
        if asked.malformed is not None:
            form = asked.question.reply or suite.form.reply
            return render_repair(asked.malformed, form or suite.space)
        return render_messages(
            suite,
            items[trial.item],
            templates[trial.template],
            trial.order,
            system_role=judge.system_role,
            content=asked.question.content,
        )

    return messages


def calls_of(suite: Suite, judge: JudgeSpec) -> Callable[[Trial], Course]:
    """From a trial to its calls, as `Client.ask_calls` makes them."""
    rendered = _renderer(suite, judge)

    def calls(trial: Trial) -> Course:
        course = _course(suite, trial, repairs=judge.repair is not None)
        asked = next(course)
        while True:
            reply = yield _call(trial, rendered(trial, asked), asked)
            try:
                asked = course.send(reply)
            except StopIteration:
                return

    return calls


def first_calls(suite: Suite, judge: JudgeSpec) -> Callable[[Trial], list[Call]]:
    """From a trial to the calls that it takes at least: those that depend on no reply."""
    rendered = _renderer(suite, judge)

    def calls(trial: Trial) -> list[Call]:
        first = map(_Asked, _questions(suite, trial))
        return [_call(trial, rendered(trial, asked), asked) for asked in first]

    return calls


def _call(trial: Trial, messages: list[dict[str, str]], asked: _Asked) -> Call:
    repairs = asked.malformed is not None
    temperature = None if repairs else trial.condition.get("temperature")
    return Call(
        messages,
        trial.replicate,
        temperature if isinstance(temperature, int | float) else None,
        repairs=repairs,
    )
