"""From a suite and a judge to the messages of one trial. Pure.

The judge sees the rendered template and nothing else: no label, no level, no id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.judges.local import CONTEXT
from pytest_judgesense.judges.spec import DEFAULT_BUDGET, JudgeSpec, table_of
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.prompt_template import fill, placeholders
from pytest_judgesense.suites.rules import shown_candidates
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.suite import ReplyForm, Suite, Template
from pytest_judgesense.trial import Order

# Tokens that a reply has at least where probabilities are read from it: a verdict in JSON takes
# some 25, blanks and a fence around it included.
_WITH_LOGPROBS: Final = 40
_PARAPHRASES: Final = "prompts.paraphrases"
# English has about four; numbers and code have fewer.
_FEWEST_CHARACTERS_A_TOKEN: Final = 3
_CONTEXT_STEP: Final = 1024


def suite_for_judge(suite: Suite, judge: JudgeSpec) -> Suite:
    """``suite`` under the judge's own prompts, where it has any for it.

    Template ids stay where one prompt replaces one template, so that trials of the old and the
    new prompt pair up; wordings that replace all templates are called ``t1``, ``t2``, ...

    Under those of the members of a jury it is the suite as the first of them is asked.

    Raises:
        UsageError: a prompt asks for a field that the suite does not have, or is the only wording
            for a suite that compares several; or a jury can have no verdicts on the suite.
    """
    if judge.jury is not None:
        return _suite_for_jury(suite, judge)
    planned, suite = suite, suite.unexpanded or suite
    templates = _own_templates(suite, judge)
    _verify(suite, judge, templates)
    own_system = judge.system is not None and (
        judge.system != suite.system or any(t.system is not None for t in templates)
    )
    if templates != suite.templates or own_system:  # else it has cached derived values
        planned = suite.with_templates(templates, judge.system).arranged.expanded
    return planned.fitted("" if judge.provider == "callable" else judge.model)


def _suite_for_jury(suite: Suite, jury: JudgeSpec) -> Suite:
    """The suite as the members of a jury are asked, who must be asked the same trials."""
    from pytest_judgesense.judges.jury import rule_on  # few sessions have a jury

    rule_on(jury, suite)
    if suite.form.settling is not None:
        members = " ".join(f"--judge-name {of.called or of.name}" for of in jury.members)
        raise UsageError(
            f"jury {jury.name!r} has no verdicts on suite {suite.name}",
            found="texts of its items that follow from what each judge has answered before",
            expected="a suite that shows every judge the same",
            remedy=f"measure its members: {members}",
        )
    by_member = {member.name: suite_for_judge(suite, member) for member in jury.members}
    wordings = {name: [t.id for t in own.templates] for name, own in by_member.items()}
    first = next(iter(by_member))
    if other := next((name for name in wordings if wordings[name] != wordings[first]), None):
        raise UsageError(
            f"the members of jury {jury.name!r} are asked suite {suite.name} in other wordings",
            found=f"{first}: {', '.join(wordings[first])}; {other}: {', '.join(wordings[other])}",
            expected="as many wordings for each: verdicts are pooled trial by trial",
            remedy=f"let {_PARAPHRASES} of the members have as many wordings, or leave the suite "
            "out",
        )
    return by_member[first]


def judge_for_suite(judge: JudgeSpec, suite: Suite) -> JudgeSpec:
    """The judge as ``suite`` asks it: with the settings of its design, and budget enough.

    A judge that sends no temperature (``None``) sends none, unless the suite varies the
    temperature: then each trial sets it. A judge that declines seeds or ``top_p`` is sent none. A
    suite whose replies have a JSON schema asks for structured output if the provider supports it
    and the judge does not decline it; other suites ask for it if the judge declares it. Temperature
    sweeps never do, because they count malformed replies. A judge with log-probabilities gets
    enough tokens to reach the verdict in a structured reply. A model that is run here gets a
    context that holds the longest prompt and its reply.

    Raises:
        UsageError: a Python function is to be asked at the temperatures of the suite.
    """
    if suite.temperatures and judge.provider == "callable":
        raise UsageError(
            f"judge {judge.name!r} cannot be asked at the temperatures of suite {suite.name}",
            found="a Python function, which is given messages and nothing else",
            expected="a judge with a provider: temperature, seed and top_p are in its requests",
            remedy='declare it with provider = "openai" and a base_url, or leave the suite out',
        )
    budget = max(judge.max_tokens, suite.max_tokens or 0)
    if suite.most_tokens is not None and judge.reasoning is None and budget <= DEFAULT_BUDGET:
        budget = min(budget, suite.most_tokens)
    temperature = judge.temperature
    if suite.temperature is not None and temperature is not None:
        temperature = suite.temperature
    changed = replace(
        judge,
        temperature=temperature,
        max_tokens=max(budget, judge.logprobs * _WITH_LOGPROBS),
        seed=judge.seed if suite.seed is None or judge.seed is False else suite.seed,
        top_p=judge.top_p if suite.top_p is None or judge.top_p is False else suite.top_p,
        reply_schema=_reply_schema(judge, suite),
        context=_context(judge, suite, budget),
    )
    if judge.repair is None:
        return changed
    # The same judge repairs in its own words: a form that it has to fill would be filled somehow.
    other = judge.repair.spec or replace(changed, reply_schema=None)
    repairer = replace(
        other,
        temperature=None if other.temperature is None else judge.repair.temperature,
        max_tokens=max(other.max_tokens, changed.max_tokens),
        repair=None,
    )
    return replace(changed, repair=replace(judge.repair, spec=repairer))


def _context(judge: JudgeSpec, suite: Suite, budget: int) -> int | None:
    """The context that a model run here needs on ``suite``, where its judge states none.

    ``None`` where the usual one is enough.
    """
    if judge.provider != "local" or judge.base_url is not None or judge.context is not None:
        return judge.context
    shown = (
        sum(len(text) for name, text in item.fields.items() if name in (item.taken or item.fields))
        + sum(map(len, item.contents))
        for item in suite.items
    )
    texts = (text for t in suite.templates for text in (t.text, *t.by_criterion.values()))
    prompt = max(shown, default=0) + max(map(len, texts))
    needed = (prompt + len(suite.system)) // _FEWEST_CHARACTERS_A_TOKEN + budget
    return None if needed <= CONTEXT else -(-needed // _CONTEXT_STEP) * _CONTEXT_STEP


def _reply_schema(judge: JudgeSpec, suite: Suite) -> Mapping[str, Any] | None:
    if not judge.gives_structure or suite.form.sweeps:
        return None
    if suite.reply is not None:
        return suite.reply.schema
    return suite.space.schema if judge.structured or suite.structured else None


def _own_templates(suite: Suite, judge: JudgeSpec) -> tuple[Template, ...]:
    keys = sent_prompts(suite, judge)
    wordings = next((judge.prompts.paraphrases[_suite_in(k)] for k in keys if _suite_in(k)), None)
    if wordings is None:
        texts = {"prompts.pairwise": judge.prompts.pairwise, "prompts.strict": judge.prompts.strict}
        return tuple(
            replace(template, text=texts[key] or "")
            if (key := _key_for(template)) in keys
            else template
            for template in suite.templates
        )
    if suite.source:
        return (replace(suite.templates[0], text=wordings[0]),)
    if len(wordings) < 2 <= len(suite.templates):
        raise UsageError(
            f"prompts.paraphrases of judge {judge.name!r} has one wording, and suite {suite.name} "
            "compares wordings",
            found=f"1 wording in place of {len(suite.templates)}",
            expected="two or more wordings of the same prompt",
            remedy="add a wording; or, to measure this prompt alone, keep one of the [[templates]] "
            f"of {suite.path} and only checks that compare no wordings",
        )
    return tuple(Template(f"t{i}", text) for i, text in enumerate(wordings, start=1))


def own_prompts(judge: JudgeSpec) -> list[str]:
    """The keys of the judge's own prompts, such as ``prompts.paraphrases.coherence``."""
    prompts = judge.prompts
    keys = [f"prompts.{key}" for key in ("pairwise", "strict") if getattr(prompts, key) is not None]
    return keys + [_PARAPHRASES + (suite != "*") * f".{suite}" for suite in prompts.paraphrases]


def sent_prompts(suite: Suite, judge: JudgeSpec) -> list[str]:
    """Which of `own_prompts` the judge is sent on ``suite``; the others are for other suites."""
    if suite.temperatures:
        return []  # it compares its own prompts
    own = own_prompts(judge)
    if suite.source:
        pairwise = ["prompts.pairwise"] * suite.space.pairwise
        keys = [f"{_PARAPHRASES}.{suite.source}", _PARAPHRASES, *pairwise]
        return [key for key in keys if key in own][:1]
    # Where two texts are compared otherwise than by wordings, there is one prompt, or one an arm.
    if suite.form.wordings or not suite.space.pairwise:
        keys = [f"{_PARAPHRASES}.{suite.base}"] + [_PARAPHRASES] * suite.form.wordings
        if wordings := [key for key in keys if key in own][:1]:
            return wordings
        # One wording of pairs is the prompt, as production sends it; several are compared.
        if not suite.space.pairwise or len(suite.templates) > 1:
            return []
    return [key for key in own if key in map(_key_for, suite.templates)]


def unsent_prompts(judge: JudgeSpec, suites: Iterable[Suite]) -> list[str]:
    """Those of `own_prompts` that the judge is sent on none of ``suites``."""
    sent = {key for suite in suites for key in sent_prompts(suite, judge)}
    return [key for key in own_prompts(judge) if key not in sent]


def unsent_error(judge: JudgeSpec, suites: Sequence[Suite], unsent: Sequence[str]) -> UsageError:
    """The error for ``unsent`` prompts, which none of ``suites`` sends.

    A prompt that is declared and not sent would be taken for the one that was measured.
    """
    sent = ((suite, ", ".join(sent_prompts(suite, judge))) for suite in suites)
    prompts = "; ".join(f"{suite.name} {_sends(suite, keys)}" for suite, keys in sent)
    takes = next((suite for suite in suites if suite.form.wordings), None)
    named = f"prompts.paraphrases = {{ {takes.base} = [...] }}, or " if takes else ""
    return UsageError(
        f"judge {judge.name!r} has prompts that no suite sends",
        found=f"{listed(unsent)}; {prompts}",
        expected="pairwise for a suite that shows pairs under one wording, strict for one with a "
        "strict arm, paraphrases for a suite of wordings, by its name",
        remedy=f"name the suite that the prompt is for: {named}take it out of "
        f"{table_of(judge.name)}",
    )


def unsent_notices(judge: JudgeSpec, suite: Suite) -> Iterator[str]:
    """A line if the judge has prompts and is sent none of them on ``suite``."""
    own = own_prompts(judge)
    if own and not sent_prompts(suite, judge):
        yield f"{', '.join(own)} of judge {judge.name} not sent: {suite.name} {_sends(suite)}"


def _sends(suite: Suite, keys: str = "") -> str:
    """What a suite sends: the judge's prompts ``keys``, or its own."""
    if keys:
        return f"sends {keys}"
    if suite.temperatures:
        return "compares prompts of its own at several temperatures"
    wordings = f"under {(n := len(suite.templates))} wording{'s' * (n != 1)} of its own"
    shown = "pairs" if suite.space.pairwise else "one text a call"
    return f"shows {shown} {wordings}"


def _suite_in(key: str) -> str:
    """The suite that a key of `Prompts.paraphrases` is for; empty for another prompt."""
    if key == _PARAPHRASES:
        return "*"
    return key.removeprefix(f"{_PARAPHRASES}.") if key.startswith(_PARAPHRASES) else ""


def _key_for(template: Template) -> str:
    """The key of the prompt that replaces a template which shows two texts."""
    return "prompts.strict" if template.condition.get("arm") == "strict" else "prompts.pairwise"


def _verify(suite: Suite, judge: JudgeSpec, templates: Sequence[Template]) -> None:
    fields = set.intersection(*({*item.fields} for item in suite.items))
    for template in templates:
        required = shown_candidates(suite, template)
        names = placeholders(template.text)
        if wrong := names - fields - required:
            problem = f"asks for what suite {suite.name} does not have"
            braces = _as_placeholders(wrong)
        elif wrong := required - names:
            problem = f"does not show what suite {suite.name} compares"
            shown = _as_placeholders(names) or "no placeholder, which has two braces on each side"
            braces = f"{shown}, but not {_as_placeholders(wrong)}"
        else:
            continue
        raise UsageError(
            f"prompt {template.id} of judge {judge.name!r} {problem}",
            found=braces,
            expected=f"of {_as_placeholders(fields | required)}",
            remedy=_remedy(suite),
        )


def _remedy(suite: Suite) -> str:
    if not suite.form.wordings:
        return "fix the prompt"
    return (
        "fix the prompt, or name the suite that it is for: "
        f"prompts.paraphrases = {{ {suite.base} = [...] }}"
    )


def _as_placeholders(names: Iterable[str]) -> str:
    return ", ".join("{{" + name + "}}" for name in sorted(names))


def render_messages(
    suite: Suite,
    item: Item,
    template: Template,
    order: Order,
    *,
    system_role: bool = True,
    content: str | None = None,
    criterion: str | None = None,
) -> list[dict[str, str]]:
    """The chat messages of one trial.

    ``order`` ``ab`` shows content 1 in slot A, ``ba`` content 2; ``content`` is the candidate that
    is shown alone, ``1`` or ``2``; ``criterion`` the only one that is asked for. The system prompt
    is that of the template, or else of the suite; without ``system_role`` it becomes the beginning
    of the user turn.
    """
    user = fill(template.text_for(criterion), item.texts(order, content))
    system = suite.system if template.system is None else template.system
    if not system:
        return [{"role": "user", "content": user}]
    if not system_role:
        return [{"role": "user", "content": f"{system}\n\n{user}"}]
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


_REPAIR: Final = """
A judge was to give its verdict in a fixed form, and gave this reply instead.

<reply>
{reply}
</reply>

Bring the reply into form. Judge nothing yourself, correct nothing and add nothing: what counts is
the verdict that the reply itself states.
{form}
Reply with one JSON object and nothing around it: {example} If the reply states no verdict, or more
than one with no final one among them: {{"verdict": "none"}}
""".strip()


def render_repair(reply: str, form: ReplyForm | DecisionSpace) -> list[dict[str, str]]:
    """The messages that ask for the repair of a malformed reply, without the judged material.

    ``form`` is what it may state: a reply form, or a verdict of a decision space.
    """
    content = _REPAIR.format(reply=reply, form=form.described, example=form.example)
    return [{"role": "user", "content": content}]
