r"""From a trial to the messages that ask it, and from an answer to its judgment. Pure.

Most trials are one call. If the suite kind asks several questions, it combines their replies. A
judge with ``repair`` gets one more call for each malformed reply, which corrects the format without
judging again.

A reply is malformed if it states no verdict that can be read, or several, or is cut off: see
`_FORM` for the reasons of `Unparsed` that count. A refusal, an empty reply, and a verdict that the
prompt does not permit have no form to be repaired.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from pytest_judgesense.cassettes.redaction import scrub_url
from pytest_judgesense.files.conversation import as_chat, messages_in
from pytest_judgesense.judges.client import CallSequence
from pytest_judgesense.judges.functions import CRITERION, TEMPLATE, TEMPLATE_ID
from pytest_judgesense.judges.prompts import (
    judge_for_suite,
    render_messages,
    render_repair,
    sent_prompts,
)
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.spec import JudgeSpec, prompts_digest
from pytest_judgesense.judges.throttle import Answer, refusal
from pytest_judgesense.judges.trial_call import Call
from pytest_judgesense.replies import CUT_OFF, parse_reply
from pytest_judgesense.replies.confidence import (
    CONFIDENCE,
    PROBABILITIES,
    UNUSABLE,
    ConfidenceFault,
    stated_confidence,
)
from pytest_judgesense.replies.probabilities import probabilities
from pytest_judgesense.replies.reasoned import reasoned_verdict
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.suite import ParsedReply, Question, Suite, one_question
from pytest_judgesense.trial import (
    REASONED,
    Failed,
    Judgment,
    JudgmentOutcome,
    Trial,
    Unparsed,
    Usage,
    Verdict,
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


def identity_of(judge: JudgeSpec, suite: Suite) -> dict[str, Any]:
    """The identity of the judge, for datasheets; with its own prompts if ``suite`` sends any.

    Of a jury also those of its members, without their names and in an order that names have no part
    in: it is known by what they are.
    """
    if judge.members:
        return _identity_of_jury(judge, suite)
    return {
        "name": judge.name,
        "provider": judge.provider,
        "model": judge.model,
        "base_url": judge.base_url and scrub_url(judge.base_url, {})[0],
        **judge.settings,
        "own_prompts": prompts_digest(
            {
                "system": judge.system,
                "pairwise": judge.prompts.pairwise,
                "strict": judge.prompts.strict,
                "paraphrases": dict(judge.prompts.paraphrases),
            }
        )
        if judge.system is not None or sent_prompts(suite, judge)
        else None,
    }


def _identity_of_jury(jury: JudgeSpec, suite: Suite) -> dict[str, Any]:
    nameless = [identity_of(member, suite) | {"name": None} for member in jury.members]
    nameless.sort(key=lambda member: json.dumps(member, sort_keys=True))
    prompts = [member["own_prompts"] for member in nameless]
    beside = ("name", "own_prompts")
    return {
        "name": jury.name,
        "provider": jury.provider,
        "model": jury.model,
        **jury.settings,
        "members": [{k: v for k, v in of.items() if k not in beside} for of in nameless],
        "own_prompts": prompts_digest({"members": prompts}) if any(prompts) else None,
    }


_T = TypeVar("_T")

# The request for a question of a trial, or for the repair of a malformed reply to it.
_Ask: TypeAlias = Callable[[Trial, Question, str | None], _T]


def takes_one_call(suite: Suite, judge: JudgeSpec) -> bool:
    """Whether every trial of ``suite`` is one call with the judge's settings and its form."""
    asks_once = suite.form.questions is one_question and suite.apart is None
    return asks_once and judge.repair is None and not suite.temperatures


def _questions(suite: Suite, trial: Trial) -> tuple[Question, ...]:
    if (apart := suite.apart) is not None:
        return apart.questions(suite)
    return suite.form.questions(suite, trial)


def _course(
    suite: Suite, trial: Trial, ask: _Ask[_T], *, repairs: bool
) -> Generator[_T, Reply | Failed, ParsedReply]:
    """The calls for the questions, one after the other, and their combined outcome."""
    repaired: list[tuple[str, str | None]] = []
    outcomes: list[JudgmentOutcome] = []
    detail: dict[str, Any] | None = None
    for question in _questions(suite, trial):
        reply = yield ask(trial, question, None)
        outcome, detail = _parsed(suite, question, reply)
        if isinstance(outcome, Failed):
            return outcome, None
        malformed = _malformed(reply, outcome) if repairs else None
        if malformed is not None:
            again = yield ask(trial, question, malformed)
            assert isinstance(outcome, Unparsed), "what states a verdict is not repaired"
            repaired.append((outcome.reason, again.reason if isinstance(again, Failed) else None))
            second = _parsed(suite, question, again)
            if isinstance(second[0], Verdict):
                outcome, detail = second
        outcomes.append(outcome)
    if (apart := suite.apart) is not None:
        outcome, detail = apart.combine(suite.space.criteria, outcomes)
    elif len(outcomes) > 1:
        outcome, detail = suite.form.combine(trial, outcomes)
    if repaired:
        repair = {"before": "; ".join(before for before, _ in repaired), "calls": len(repaired)}
        if failed := [reason for _, reason in repaired if reason is not None]:
            repair["failed"] = "; ".join(failed)
        detail = {**(detail or {}), "repair": repair}
    return outcome, detail


def _malformed(reply: Reply | Failed, outcome: JudgmentOutcome) -> str | None:
    """The text of a reply whose form may be repaired; an empty one has no form."""
    is_of_form = isinstance(outcome, Unparsed) and outcome.reason.startswith(_FORM)
    if not is_of_form or not isinstance(reply, Reply) or not (reply.text or "").strip():
        return None
    return reply.text


def _parsed(suite: Suite, question: Question, reply: Reply | Failed) -> ParsedReply:
    if isinstance(reply, Failed):
        return reply, None
    parsed: ParsedReply
    if not (reply.text or "").strip() and reply.truncated:
        parsed = CUT_OFF, None  # in the words of every form: its budget went before the reply
    elif reply.text is None:
        parsed = Unparsed("empty reply"), None
    elif (form := question.reply or suite.reply) is None:
        parsed = _stated(reply.text, suite.space, truncated=reply.truncated)
    else:
        parsed = form.read(reply.text, reply.truncated)
    # An endpoint may cut a reply off and say so: then a missing verdict is not a format error.
    declined = reply.refused and isinstance(parsed[0], Unparsed)
    return (Unparsed("refusal"), None) if declined else parsed


def _stated(text: str, space: DecisionSpace, *, truncated: bool) -> ParsedReply:
    """The verdict of a reply without a form of its own, and what it states beside it.

    That is another verdict that its reasoning has, and how sure it is.
    """
    outcome = parse_reply(text, space, truncated=truncated)
    if not isinstance(outcome, Verdict):
        return outcome, None
    detail = _confidence_in(text, space, outcome.value)
    reasoned = reasoned_verdict(text, space)
    if reasoned is not None and reasoned != outcome.value:
        detail[REASONED] = reasoned
    return outcome, detail or None


def _confidence_in(text: str, space: DecisionSpace, verdict: str) -> dict[str, Any]:
    """The confidence that a reply states, and the probabilities; or why it is none."""
    stated = None if space.score else stated_confidence(text, space, verdict)
    if stated is None:
        return {}
    if isinstance(stated, ConfidenceFault):
        return {UNUSABLE: f"{stated.found}, not {stated.expected}"}
    parts = {CONFIDENCE: stated.in_verdict(verdict), PROBABILITIES: stated.probabilities}
    return {name: part for name, part in parts.items() if part is not None}


def judgment_of(
    suite: Suite, judge: JudgeSpec, trial: Trial, answer: Answer, recorded_at: str | None = None
) -> Judgment:
    """The judgment that an answer amounts to, which was recorded at that time."""
    replies = (answer.reply, *answer.later)
    outcome, beside = _followed(suite, judge, trial, replies)
    detail = {name: part for name, part in (beside or {}).items() if name != PROBABILITIES}
    replied = [reply for reply in replies if isinstance(reply, Reply)]
    texts = [reply.refused if reply.text is None else reply.text for reply in replied]
    shown = [text for text in texts if text is not None]
    if suite.temperatures and isinstance(outcome, Failed):
        outcome = Failed(refusal(outcome.reason) or outcome.reason)
    return Judgment(
        trial=trial,
        judge=judge.name,
        outcome=outcome,
        chosen=suite.space.chosen(trial, outcome),
        reply="\n\n".join(shown) if shown else None,
        usage=Usage.summed(reply.usage for reply in replied),
        latency_s=answer.latency_s,
        detail=detail or None,
        recorded_at=recorded_at,
        **(
            _probabilities_of(suite, judge, replies, outcome)
            or {PROBABILITIES: (beside or {}).get(PROBABILITIES)}
        ),
    )


def _probabilities_of(
    suite: Suite, judge: JudgeSpec, replies: Sequence[Reply | Failed], outcome: JudgmentOutcome
) -> dict[str, Any]:
    """The probabilities of the verdicts, from the tokens of a trial's single reply."""
    if not judge.logprobs or len(replies) > 1 or suite.space.score is not None:
        return {}
    if not isinstance(outcome, Verdict):
        return {}
    (reply,) = replies
    if not isinstance(reply, Reply):
        return {}
    constrained = judge_for_suite(judge, suite).reply_schema is not None
    likelihoods = probabilities(reply.tokens, suite.space, outcome.value, constrained=constrained)
    if likelihoods is None:
        return {}
    return {"probabilities": likelihoods.of, "mass": likelihoods.mass}


def _followed(
    suite: Suite, judge: JudgeSpec, trial: Trial, replies: Sequence[Reply | Failed]
) -> ParsedReply:
    questions = _questions(suite, trial)
    if len(questions) == len(replies) == 1 and judge.repair is None:
        return _parsed(suite, questions[0], replies[0])  # as of nearly every trial
    course = _course(suite, trial, lambda *_: None, repairs=judge.repair is not None)
    next(course)
    for reply in replies:
        try:
            course.send(reply)
        except StopIteration as end:
            parsed: ParsedReply = end.value
            return parsed
    return Failed("calls of this trial are missing"), None


def _rendering(suite: Suite, judge: JudgeSpec) -> Callable[[Trial, Question], list[dict[str, str]]]:
    items = {item.id: item for item in suite.items}
    templates = {template.id: template for template in suite.templates}
    return lambda trial, question: render_messages(
        suite,
        items[trial.item],
        templates[trial.template],
        trial.order,
        system_role=judge.system_role,
        content=question.content,
        criterion=question.criterion,
    )


def _as_given(texts: Mapping[str, str], fields: Collection[str]) -> dict[str, Any]:
    """The texts of an item as a function takes them: conversations are lists of chat messages."""
    # The candidate of a pair that is shown alone is one of both.
    names = {*fields, "answer"} if {"a", "b"} & {*fields} else {*fields}
    conversations = {name: messages_in(texts[name]) for name in names & texts.keys()}
    given = {name: as_chat(messages) for name, messages in conversations.items() if messages}
    return {**texts, **given}


def _asking(suite: Suite, judge: JudgeSpec) -> _Ask[Call]:
    rendered = _rendering(suite, judge)
    items = {item.id: item for item in suite.items}
    templates = {template.id: template for template in suite.templates}

    def ask(trial: Trial, question: Question, malformed: str | None) -> Call:
        if malformed is not None:
            form = question.reply or suite.reply or suite.space
            return Call(render_repair(malformed, form), trial.replicate, repairs=True)
        fields: dict[str, Any] = {}
        template = templates[trial.template]
        if judge.provider == "callable":
            template_id = template.asked_as or template.id
            wording = {TEMPLATE: template.text_for(question.criterion), TEMPLATE_ID: template_id}
            if question.criterion is not None:
                wording[CRITERION] = question.criterion
            texts = items[trial.item].texts(trial.order, question.content)
            fields = wording | _as_given(texts, suite.messages)
        condition = trial.condition.get("temperature")
        temperature = condition if isinstance(condition, int | float) else None
        messages = rendered(trial, question)
        return Call(
            messages,
            trial.replicate,
            temperature,
            form=question.reply,
            fields=fields,
            edits=template.edits,
        )

    return ask


def calls_of(suite: Suite, judge: JudgeSpec) -> Callable[[Trial], CallSequence]:
    """From a trial to its calls, as `Client.ask_calls` makes them."""
    ask, repairs = _asking(suite, judge), judge.repair is not None
    return lambda trial: _course(suite, trial, ask, repairs=repairs)


def first_calls(suite: Suite, judge: JudgeSpec) -> Callable[[Trial], list[Call]]:
    """From a trial to the calls that it takes at least: those that depend on no reply."""
    ask = _asking(suite, judge)
    return lambda trial: [ask(trial, question, None) for question in _questions(suite, trial)]


def renderer(suite: Suite, judge: JudgeSpec) -> Callable[[Trial], list[dict[str, str]]]:
    """From a trial of ``suite`` under the judge's prompts to the messages that ask it first."""
    rendered = _rendering(suite, judge)
    return lambda trial: rendered(trial, _questions(suite, trial)[0])
