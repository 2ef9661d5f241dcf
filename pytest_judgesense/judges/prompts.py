"""From a suite and a judge to the messages of one trial. Pure.

The judge sees the rendered template and nothing else: no label, no level, no id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.parsing.debate import REPLY_SCHEMA
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judgment import Order
from pytest_judgesense.suites.prompt_template import fill, placeholders
from pytest_judgesense.suites.suite import Item, Suite, Template

__all__ = ["judge_for_suite", "render_messages", "suite_for_judge"]


def suite_for_judge(suite: Suite, judge: JudgeSpec) -> Suite:
    """``suite`` under the judge's own prompts, where it has any for it.

    Template ids stay where one prompt replaces one template, so that trials of the old and the
    new prompt pair up; wordings of a paraphrase suite are called ``t1``, ``t2``, ...

    Raises:
        UsageError: a prompt asks for a field that the suite does not have.
    """
    templates = _own_templates(suite, judge)
    _verify(suite, judge, templates)
    return suite.with_templates(templates, judge.system)


def judge_for_suite(judge: JudgeSpec, suite: Suite) -> JudgeSpec:
    """The judge as ``suite`` asks it: at the temperature of its design, with budget enough.

    A judge that sends no temperature at all (``None``) goes on sending none. Debate suites ask for
    structured output where the provider has it and the judge does not decline it.
    """
    temperature = judge.temperature
    if suite.temperature is not None and temperature is not None:
        temperature = suite.temperature
    return replace(
        judge,
        temperature=temperature,
        max_tokens=max(judge.max_tokens, suite.max_tokens or 0),
        reply_schema=REPLY_SCHEMA if suite.kind == "debate" and judge.gives_structure else None,
    )


def _own_templates(suite: Suite, judge: JudgeSpec) -> tuple[Template, ...]:
    prompts = judge.prompts
    # Of the kinds that compare two texts, each has one prompt, or one for each arm.
    if suite.kind in ("paraphrase", "debate") or not suite.space.pairwise:
        for_all = prompts.paraphrases.get("*") if suite.kind == "paraphrase" else None
        wordings = prompts.paraphrases.get(suite.base, for_all)
        if wordings is None:
            return suite.templates
        return tuple(Template(f"t{i}", text) for i, text in enumerate(wordings, start=1))
    return tuple(
        replace(template, text=own)
        if (own := prompts.strict if template.arm == "strict" else prompts.pairwise) is not None
        else template
        for template in suite.templates
    )


def _verify(suite: Suite, judge: JudgeSpec, templates: Sequence[Template]) -> None:
    given = set.intersection(*({*item.fields} for item in suite.items))
    required = {"a", "b"} if suite.space.pairwise else set()
    for template in templates:
        asked = placeholders(template.text)
        for wrong, what in (
            (asked - given - required, "asks for what suite"),
            (required - asked, "does not show what suite"),
        ):
            if wrong:
                raise UsageError(
                    f"prompt {template.id} of judge {judge.name!r} {what} {suite.name} "
                    f"{'does not have' if what.startswith('asks') else 'compares'}",
                    found="{{" + "}}, {{".join(sorted(wrong)) + "}}",
                    expected="of "
                    + ", ".join("{{" + name + "}}" for name in sorted(given | required)),
                    remedy="mend the prompt, or name the suite that it is for: "
                    f"prompts.paraphrases = {{ {suite.base} = [...] }}",
                )


def render_messages(
    suite: Suite, item: Item, template: Template, order: Order, *, system_role: bool = True
) -> list[dict[str, str]]:
    """The chat messages of one trial.

    Args:
        suite: for its system prompt.
        item: the stimulus.
        template: the wording.
        order: ``ab`` shows content 1 in slot A, ``ba`` content 2.
        system_role: without it the system prompt becomes the beginning of the user turn.
    """
    user = fill(template.text, item.texts(order))
    if not suite.system:
        return [{"role": "user", "content": user}]
    if not system_role:
        return [{"role": "user", "content": f"{suite.system}\n\n{user}"}]
    return [{"role": "system", "content": suite.system}, {"role": "user", "content": user}]
