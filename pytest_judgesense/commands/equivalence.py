"""``judgesense equivalence``: whether the wordings of a suite ask the same, said by a judge.

A judge screens template pairs for equivalence; people decide. The question is a suite like any
other: its items are the template pairs of the suite, its labels YES, NO and UNSURE. So it is
recorded, replayed and parsed like any suite. The results are rows for the suite file's
``equivalence``, together with the reviews that it already has.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.asking.inquiry import Asking
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.commands.live_calls import add_terms, terms_of
from pytest_judgesense.commands.options import add_judge, add_suite, place_of, show
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.toml_text import toml_text
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.spec import JudgeSpec, Prompts
from pytest_judgesense.judges.throttle import Throttle, stopping
from pytest_judgesense.measurement import Measurement, measure
from pytest_judgesense.questions.place import find_code_of_project, trust_of
from pytest_judgesense.questions.pricing import call_plan, how_to_record
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.planning import recording_aside
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.suite import Suite, Template
from pytest_judgesense.trial import Verdict

_SYSTEM: Final = "You compare instructions. Answer with one word."
_QUESTION: Final = Template(
    "screen",
    """
Two instructions ask a reader to judge the same material. A name in double braces marks a place
where it is put in.

<instruction_1>
{{first}}
</instruction_1>

<instruction_2>
{{second}}
</instruction_2>
{{polarity}}
Do both ask the same question, so that a careful reader gives the same answer to both, whatever the
material? Answer YES if they do, NO if they do not, and UNSURE if it depends on the material.
Reply with YES, NO or UNSURE and nothing else.
""".strip(),
)
_EXCHANGED: Final = """
The labels of the two instructions mean the opposite of each other. Read those of the second
exchanged before you compare.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the judge and the suite."""
    add_judge(parser)
    add_suite(parser, ", whose template pairs are compared")
    add_terms(parser)


def run(options: argparse.Namespace) -> Iterator[str]:
    """Ask a judge whether the compared template pairs of a suite are equivalent.

    The judge is called without its prompts and system prompt. The lines are TOML: the verdicts, and
    the rows of ``equivalence`` to paste.
    """
    place = place_of(options)
    judge, suite = place.judge(options.judge_name), place.suite(options.judge_suite)
    if not suite.compared_pairs:
        raise UsageError(
            f"suite {suite.name} compares no two templates",
            found=f"templates: {listed(template.id for template in suite.templates) or 'none'}",
            expected="two templates or more, of a kind with paraphrases",
            remedy="add a [[templates]] with another wording",
        )
    asked_alone = replace(judge, prompts=Prompts(), system=None)
    words = ["judgesense", "equivalence", options.judge_suite]
    asking = {
        "space": DecisionSpace(("YES", "NO", "UNSURE")),
        "system": _SYSTEM,
        "templates": (_QUESTION,),
        "items": tuple(_items(suite)),
        "orders": "ab",
        "replicates": 1,
        "reviews": (),
        "reviewers": {},
    }
    question = aside(suite, "equivalence", **asking)
    measurement = measured_aside(options, asked_alone, question, words)
    if measurement is None:
        return
    outcomes = {
        tuple(judgment.trial.item.split("~")): judgment.outcome
        for judgment in measurement.judgments
    }
    counts = Counter(getattr(outcome, "value", "no verdict") for outcome in outcomes.values())
    shown = ", ".join(f"{counts[word]} {word}" for word in sorted(counts))
    yield f"# judge {judge.name} on {len(outcomes)} template pairs of {suite.name}: {shown}"
    reviews: dict[tuple[str, ...], dict[str, str]] = {
        review.pair: dict(review.verdicts) for review in suite.reviews
    }
    for (a, b), outcome in outcomes.items():
        if isinstance(outcome, Verdict):
            order = (b, a) if (b, a) in reviews else (a, b)
            reviews.setdefault(order, {})[judge.slug] = outcome.value
        else:
            yield f"# {a}~{b}: no verdict, {outcome.reason}"
    if suite.reviewers:
        yield f"reviewers = {toml_text({**suite.reviewers, judge.slug: 'model'})}"
    yield "equivalence = ["
    for pair, verdicts in reviews.items():
        yield f"    {toml_text({'pair': list(pair), 'reviews': verdicts})},"
    yield "]"


def _items(suite: Suite) -> Iterator[Item]:
    templates = {template.id: template for template in suite.templates}
    for a, b in suite.compared_pairs:
        first, second = templates[a], templates[b]
        polarity = _EXCHANGED if first.polarity != second.polarity else ""
        fields = {"first": first.text, "second": second.text, "polarity": polarity}
        yield Item(f"{a}~{b}", f"{a}~{b}", fields)


def aside(suite: Suite, called: str, **asking: Any) -> Suite:
    """A question about a suite as a suite ``CALLED-NAME``, recorded beside it.

    ``asking`` is what it asks. Its verdicts are read, its estimates are not.
    """
    return replace(
        suite,
        name=f"{called}-{suite.name}",
        base=recording_aside(called, suite.base),
        form=BUILT_IN.default.form,
        pairs="all",
        checks=(),
        **asking,
    )


def measured_aside(
    options: argparse.Namespace, judge: JudgeSpec, question: Suite, words: Sequence[str]
) -> Measurement | None:
    """The judgments of a question about a suite; ``None`` where only its plan is wanted.

    It is recorded like any suite; ``words`` are those of the command that asks it.
    """
    place, terms = place_of(options), terms_of(options)
    plan = call_plan("", [(f"{judge.name} on {question.name}", judge, question)], place.cassettes)
    if options.plan:
        show(plan.lines())
        return None
    find_code_of_project()
    path = place.cassettes / judge.slug / f"{question.base}.jsonl"
    name = ["--judge-name", judge.called or judge.name]
    how = how_to_record([*words, *name], place.cassettes, plan)
    alone = recording_alone(path, Recorder.here()) if terms.asks else nullcontext()
    stop = stopping(terms.budget.deadline, [judge]) if terms.asks else None
    with closing(AskingLoop(on_interrupt=stop)) as loop, alone:
        throttle = Throttle(judge, terms.concurrency, budget=terms.budget)
        session = Asking(
            trust=trust_of(options.judge_suite),
            concurrency=terms.concurrency,
            how_to_record=how,
            throttle=throttle,
            max_unparsed=terms.max_unparsed,
        )
        return measure(
            judge, question, {question.base: path}, loop, mode=terms.mode, asking=session
        )
