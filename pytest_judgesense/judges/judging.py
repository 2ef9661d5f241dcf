r"""From a trial to the messages that ask it, and from an answer to its judgment. Pure.

Most trials are one call. Candidates that are graded one by one take a call each; the verdict is the
comparison of the two grades, and equal grades are a tie. A judge with ``repair`` has one call more
for each reply that is malformed: what it means is brought into form, and nothing is judged anew.

A reply is malformed if it states no verdict that can be read, or several, or is cut off: see
`_FORM` for the reasons of `Unparsed` that count. A refusal, an empty reply, and a verdict that the
prompt does not permit have no form to be mended.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pytest_judgesense.cassettes.redaction import redact_url
from pytest_judgesense.judges.client import Answer, Call, Course
from pytest_judgesense.judges.parsing import parse_reply
from pytest_judgesense.judges.parsing.debate import parse_debate
from pytest_judgesense.judges.prompts import render_messages, render_repair
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.spec import JudgeSpec, prompts_digest
from pytest_judgesense.judges.statuses import refusal
from pytest_judgesense.judgment import (
    TIE,
    Failed,
    Judgment,
    Outcome,
    Trial,
    Unparsed,
    Usage,
    Verdict,
    content_of_slot,
)
from pytest_judgesense.suites.space import GRADES
from pytest_judgesense.suites.suite import Suite

__all__ = ["calls_of", "first_calls", "identity_of", "judgment_of", "renderer", "takes_one_call"]

# How the reasons begin that a reply is sent to be mended for.
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
class _Question:
    """One call of a trial.

    Attributes:
        content: the candidate that is shown, where it is one of them alone: ``1`` or ``2``.
        malformed: the reply that is to be brought into form; ``None`` to judge.
    """

    content: str | None = None
    malformed: str | None = None


@dataclass(frozen=True, slots=True)
class _Read:
    """What the replies of a trial come to."""

    outcome: Outcome
    detail: dict[str, Any] | None = None


_Course: TypeAlias = Generator[_Question, Reply | Failed, _Read]


def takes_one_call(suite: Suite, judge: JudgeSpec) -> bool:
    """Whether every trial of ``suite`` is one call with the judge's own settings."""
    return judge.repair is None and not suite.temperatures


def _course(suite: Suite, trial: Trial, *, repairs: bool) -> _Course:
    """The calls of a trial, each answered before the next one, and what they come to."""
    mended: list[dict[str, Any]] = []
    if trial.condition.get("judge_type") != "single":
        outcome, detail = yield from _stated(suite, None, mended, repairs=repairs)
        return _Read(outcome, _with_repair(detail, mended))
    grades: dict[str, int] = {}
    problems = []
    for content in ("1", "2"):
        outcome, _ = yield from _stated(suite, content, mended, repairs=repairs)
        if isinstance(outcome, Failed):
            return _Read(outcome)
        if isinstance(outcome, Verdict):
            grades[content] = int(outcome.value)
        else:
            problems.append(f"{outcome.reason} (answer {content})")
    if problems:
        return _Read(Unparsed("; ".join(problems)), _with_repair({"grades": grades}, mended))
    slots = ("A", "B") if trial.order == "ab" else ("B", "A")
    better = TIE if grades["1"] == grades["2"] else slots[grades["1"] < grades["2"]]
    return _Read(Verdict(better), _with_repair({"grades": grades}, mended))


def _stated(
    suite: Suite, content: str | None, mended: list[dict[str, Any]], *, repairs: bool
) -> Generator[_Question, Reply | Failed, tuple[Outcome, dict[str, Any] | None]]:
    """What one question is answered, mended if it has to be; ``mended`` is added to."""
    reply = yield _Question(content)
    outcome, detail = _parsed(suite, content, reply)
    if not repairs or not isinstance(outcome, Unparsed) or not outcome.reason.startswith(_FORM):
        return outcome, detail
    assert isinstance(reply, Reply), "only a reply is unparsed"
    again = yield _Question(content, malformed=reply.text)
    known: dict[str, Any] = {"before": outcome.reason}
    mended.append(known)
    if isinstance(again, Failed):
        known["failed"] = again.reason
        return outcome, detail
    second, of_second = _parsed(suite, content, again)
    return (second, of_second) if isinstance(second, Verdict) else (outcome, detail)


def _with_repair(
    detail: dict[str, Any] | None, mended: Sequence[dict[str, Any]]
) -> dict[str, Any] | None:
    if not mended:
        return detail
    failed = [one["failed"] for one in mended if "failed" in one]
    repair = {"before": "; ".join(one["before"] for one in mended), "calls": len(mended)}
    if failed:
        repair["failed"] = "; ".join(failed)
    return {**(detail or {}), "repair": repair}


def _parsed(
    suite: Suite, content: str | None, reply: Reply | Failed
) -> tuple[Outcome, dict[str, Any] | None]:
    if isinstance(reply, Failed):
        return reply, None
    if reply.text is None:
        return Unparsed("refusal" if reply.refused else "empty reply"), None
    if suite.kind == "debate":
        return parse_debate(reply.text, truncated=reply.truncated)
    space = suite.space if content is None else GRADES
    return parse_reply(reply.text, space, truncated=reply.truncated), None


def judgment_of(suite: Suite, judge: JudgeSpec, trial: Trial, answer: Answer) -> Judgment:
    """The judgment that an answer amounts to."""
    replies = (answer.reply, *answer.later)
    if judge.repair is None and trial.condition.get("judge_type") != "single":
        read = _Read(*_parsed(suite, None, answer.reply))
    else:
        read = _followed(_course(suite, trial, repairs=judge.repair is not None), replies)
    texts = [text for reply in replies if (text := _text_of(reply)) is not None]
    outcome = read.outcome
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
        detail=read.detail,
    )


def _followed(course: _Course, replies: Sequence[Reply | Failed]) -> _Read:
    next(course)
    for reply in replies:
        try:
            course.send(reply)
        except StopIteration as end:
            found: _Read = end.value
            return found
    course.close()
    return _Read(Failed("calls of this trial are missing"))


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
    return lambda trial: rendered(trial, _first(trial)[0])


def _first(trial: Trial) -> list[_Question]:
    """The questions that depend on no reply."""
    single = trial.condition.get("judge_type") == "single"
    return [_Question("1"), _Question("2")] if single else [_Question()]


def _renderer(suite: Suite, judge: JudgeSpec) -> Callable[[Trial, _Question], list[dict[str, str]]]:
    items = {item.id: item for item in suite.items}
    templates = {template.id: template for template in suite.templates}

    def messages(trial: Trial, question: _Question) -> list[dict[str, str]]:
        if question.malformed is not None:
            space = suite.space if question.content is None else GRADES
            return render_repair(question.malformed, None if suite.kind == "debate" else space)
        return render_messages(
            suite,
            items[trial.item],
            templates[trial.template],
            trial.order,
            system_role=judge.system_role,
            content=question.content,
        )

    return messages


def calls_of(suite: Suite, judge: JudgeSpec) -> Callable[[Trial], Course]:
    """From a trial to its calls, as `Client.ask_calls` makes them."""
    rendered = _renderer(suite, judge)

    def calls(trial: Trial) -> Course:
        course = _course(suite, trial, repairs=judge.repair is not None)
        question = next(course)
        while True:
            reply = yield _call(trial, rendered(trial, question), question)
            try:
                question = course.send(reply)
            except StopIteration:
                return

    return calls


def first_calls(suite: Suite, judge: JudgeSpec) -> Callable[[Trial], list[Call]]:
    """From a trial to the calls that it takes at least: those that depend on no reply."""
    rendered = _renderer(suite, judge)

    def calls(trial: Trial) -> list[Call]:
        return [_call(trial, rendered(trial, asked), asked) for asked in _first(trial)]

    return calls


def _call(trial: Trial, messages: list[dict[str, str]], question: _Question) -> Call:
    repairs = question.malformed is not None
    temperature = None if repairs else trial.condition.get("temperature")
    return Call(
        messages,
        trial.replicate,
        temperature if isinstance(temperature, int | float) else None,
        repairs=repairs,
    )
