"""A suite of frozen outputs from a judgment log, for ``judgesense init --from-log``.

The graded outputs are the items, and grades by people are the labels. The first wording is a
template that the user gives, or else the judge's own prompt: the whole prompts are then the items.
No judge is called.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.commands.from_function import labels_of
from pytest_judgesense.commands.suite_file import (
    asked_words,
    compared_words,
    suite_table,
    written_suite,
)
from pytest_judgesense.errors import LogError, SuiteError, UsageError
from pytest_judgesense.foreign_results import messages_of, slug
from pytest_judgesense.grouping import grouped
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.shared import (
    AGREEMENT,
    ORDER_POSITIONAL,
    REPEAT_FLIP_RATE,
    UNPARSED_RATE,
)
from pytest_judgesense.report.log import read_log
from pytest_judgesense.suites.item import item_id
from pytest_judgesense.suites.loading import form_of
from pytest_judgesense.suites.prompt_template import placeholders
from pytest_judgesense.suites.schema import ContentItem
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.stimuli import Stimuli
from pytest_judgesense.synonyms import column_of
from pytest_judgesense.trial import ABSTAIN, TIE, Design, Judgment

_PROMPT: Final = "prompt"
_FIELD: Final = re.compile(r"[a-z][a-z0-9_]*")
_MOST_LABELS: Final = 101
# Wordings with the same question, for any prompt of the judge.
_WORDINGS: Final = (
    ("t2", "Read everything below before you decide.\n\n{}"),
    ("t3", "{}\n\nDecide with care, and reply in exactly the form that is asked for above."),
)
_COUNTED: Final = {
    "within_one_agreement_floor": "at most one step apart under two wordings",
    "jss_floor": "the same verdict under two wordings",
    ORDER_POSITIONAL.check: "pairs in which the same slot wins in both orders",
    REPEAT_FLIP_RATE.check: "outputs on which the replicates disagree",
    AGREEMENT.check: "the verdict is the grade of the person",
    UNPARSED_RATE.check: "replies in which no verdict is found",
}


@dataclass(frozen=True)
class JudgedOutput:
    """A graded output: the texts shown to the judge, and its verdict.

    Attributes:
        fields: the texts, those of two candidates by the names ``a`` and ``b``.
        prompt: the prompt that was sent; ``None`` if the log does not hold it.
    """

    item: str
    cluster: str
    verdict: str | None
    label: str | None
    fields: Mapping[str, str]
    prompt: Sequence[Mapping[str, str]] | None


@dataclass(frozen=True)
class FrozenSuite:
    """A suite that was made of a log, whose ``judges`` it names.

    Attributes:
        template: the first wording; ``source`` says where it is from.
        notes: what was left out or drawn, one sentence each.
    """

    name: str
    space: DecisionSpace
    outputs: Sequence[JudgedOutput]
    judges: Sequence[str]
    notes: Sequence[str]
    template: str = ""
    source: str = "the template that was given"
    system: str = ""

    @property
    def labelled(self) -> bool:
        """Whether a person has graded every output."""
        return all(output.label is not None for output in self.outputs)


def frozen_suites(
    log: Path,
    *,
    sample: int | None = None,
    seed: int = 0,
    labels: Sequence[str] = (),
    template: str | None = None,
) -> list[FrozenSuite]:
    """The suites of a log, one for each that it holds.

    Args:
        log: a judgment log.
        sample: number of outputs to draw, in proportion to the verdicts.
        seed: of that draw.
        labels: the permitted answers, if there are more than those in the log.
        template: the first wording, in place of the judge's own.

    Raises:
        LogError: the log cannot be read, or does not hold the judged texts.
        UsageError: an argument does not fit the log.
    """
    lines = list(read_log(log))
    if not lines:
        raise LogError(f"{log} holds no judgments", expected="at least one line")
    suites = []
    for name, part in grouped(lines, lambda line: line[0].trial.suite).items():
        judgments = [judgment for judgment, _ in part]
        pairwise = any(judgment.chosen is not None for judgment in judgments)
        design = part[-1][1] or Design("", ("A", "B") if pairwise else (), pairwise=pairwise)
        outputs, notes = _outputs(log, name, judgments, design)
        drawn = _drawn(outputs, sample, seed)
        if len(drawn) < len(outputs):
            notes.append(f"{len(drawn)} of {len(outputs)} outputs drawn by seed {seed}")
        words = {word for output in outputs for word in (output.verdict, output.label) if word}
        space = DecisionSpace(
            _labels(log, name, design, words - {TIE, ABSTAIN}, labels),
            ordinal=design.ordinal,
            pairwise=design.pairwise,
            tie=TIE in words,
            abstain=ABSTAIN in words,
        )
        judges = tuple(dict.fromkeys(judgment.judge for judgment in judgments))
        suite = FrozenSuite(slug(name), space, drawn, judges, tuple(notes))
        suites.append(_with_prompts(suite) if template is None else _with_template(suite, template))
    return suites


def _outputs(
    log: Path, name: str, judgments: Sequence[Judgment], design: Design
) -> tuple[list[JudgedOutput], list[str]]:
    """The outputs judged on a suite, each once, and notes about those left out."""
    if design.criteria:
        raise LogError(
            f"the replies on suite {name} in {log} give several grades each",
            found=", ".join(criterion.name for criterion in design.criteria),
            expected="replies of one verdict or one grade",
            remedy="begin with the suite that was asked: its file has the criteria; or with a "
            "table of the outputs: judgesense init --callable MODULE:FUNCTION --items FILE "
            "--grades "
            f"{','.join(f'{criterion.name}=COLUMN' for criterion in design.criteria)}",
        )
    by_item: dict[str, JudgedOutput] = {}
    silent = 0
    for judgment in judgments:
        output = _output(judgment, f"{log}, {judgment.trial.id}", design)
        if output is None:
            silent += 1
        elif (first := by_item.setdefault(output.item, output)).label is None and output.label:
            by_item[output.item] = replace(first, label=output.label)
    if not by_item:
        raise LogError(
            f"{log} does not hold what was judged on suite {name}",
            found=f"{len(judgments)} judgments without a prompt and without texts",
            expected="lines with source.prompt or source.fields",
            remedy="import it again: judgesense import inspect, promptfoo or deepeval; of a table "
            "with --map prompt=COLUMN, or --map field.NAME=COLUMN for each text; where a suite was "
            "asked, its file has the texts, and a preset with items = N takes some of them",
        )
    notes = [f"{silent} judgments do not say what was judged: left out"] if silent else []
    return [*by_item.values()], notes


def _output(judgment: Judgment, where: str, design: Design) -> JudgedOutput | None:
    """The judged output of a judgment; ``None`` if the log does not hold it."""
    trial, source = judgment.trial, (judgment.detail or {}).get("source") or {}
    texts, prompt = source.get("fields") or {}, messages_of(source.get("prompt") or [])
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise LogError(
            f"{where}: source.fields is malformed",
            found=json.dumps(texts)[:80],
            expected="texts by name",
        )
    if not texts and prompt is None:
        return None
    task = column_of("task", texts) if design.pairwise else None
    fields = {}
    for name, text in texts.items():
        plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        usable = _FIELD.fullmatch(plain) and plain not in {*ContentItem.model_fields, _PROMPT}
        fields["task" if name == task else plain if usable else f"field_{plain}"] = text
    item = item_id(trial.item)
    return JudgedOutput(item, trial.cluster, judgment.verdict, trial.label, fields, prompt)


def _drawn(outputs: Sequence[JudgedOutput], sample: int | None, seed: int) -> list[JudgedOutput]:
    """``sample`` of them, of each verdict as large a share as it has among all, in their order.

    The shares are rounded so that the largest remainders get one more (Hamilton's method).
    """
    if sample is None or sample >= len(outputs):
        return list(outputs)
    strata: dict[str, list[int]] = defaultdict(list)
    for place, output in enumerate(outputs):
        strata[output.verdict or ""].append(place)
    exact = {verdict: sample * len(part) / len(outputs) for verdict, part in strata.items()}
    sizes = {verdict: int(share) for verdict, share in exact.items()}
    rest = sorted(exact, key=lambda verdict: (sizes[verdict] - exact[verdict], verdict))
    for verdict in rest[: sample - sum(sizes.values())]:
        sizes[verdict] += 1
    chance = random.Random(seed)
    drawn = [chance.sample(strata[verdict], sizes[verdict]) for verdict in sorted(strata)]
    return [outputs[place] for place in sorted(chain.from_iterable(drawn))]


def _labels(
    log: Path, name: str, design: Design, words: set[str], stated: Sequence[str]
) -> tuple[str, ...]:
    if design.pairwise:
        return ("A", "B")
    labels = list(stated or design.labels)
    labels += sorted(words - {*labels})
    if design.ordinal and not stated:
        labels = labels_of(labels, ordinal=True)
    if not 2 <= len(labels) <= _MOST_LABELS:
        raise UsageError(
            f"the possible answers of the judge of suite {name} are not known",
            found=f"{', '.join(labels[:9]) or 'no verdict'} in {log}",
            expected=f"2 to {_MOST_LABELS} labels",
            remedy="name them: --labels YES,NO",
        )
    return tuple(labels)


def _with_template(suite: FrozenSuite, template: str) -> FrozenSuite:
    """``suite`` with the user's first wording."""
    names = frozenset.intersection(*(frozenset(output.fields) for output in suite.outputs))
    if suite.space.pairwise and not {"a", "b"} <= names:
        raise UsageError(
            f"the two candidates of suite {suite.name} are not told apart",
            found=", ".join(suite.outputs[0].fields) or "whole prompts",
            expected="fields a and b, to be shown in both orders",
            remedy="import the log again with --map field.a=COLUMN --map field.b=COLUMN",
        )
    if unknown := sorted(placeholders(template) - names):
        raise UsageError(
            f"the template shows what the outputs of suite {suite.name} do not have",
            found=", ".join(unknown),
            expected=", ".join(sorted(names)),
            remedy="rename the placeholders, or import the log with --map field.NAME=COLUMN",
        )
    return replace(suite, template=template)


def _with_prompts(suite: FrozenSuite) -> FrozenSuite:
    """``suite`` with the whole prompts of the log as its items, and what they share as system."""
    with_prompts = [(output, output.prompt) for output in suite.outputs if output.prompt]
    if not with_prompts or suite.space.pairwise:
        names = dict.fromkeys(name for output in suite.outputs for name in output.fields)
        raise UsageError(
            f"the log does not hold a prompt of the judge that suite {suite.name} could send"
            if not with_prompts
            else f"whole prompts of suite {suite.name} cannot be asked in another order",
            found=f"the texts {', '.join(names)}" if names else "no other text",
            expected="the first wording, with {{NAME}} for each text",
            remedy="write it into a file, and name that: --template FILE",
        )
    first = [prompt[0]["content"] for _, prompt in with_prompts if prompt[0]["role"] == "system"]
    shared = len(first) == len(with_prompts) and len({*first}) == 1
    shared = shared and all(len(prompt) > 1 for _, prompt in with_prompts)
    outputs = [
        replace(
            output, fields={_PROMPT: "\n\n".join(message["content"] for message in prompt[shared:])}
        )
        for output, prompt in with_prompts
    ]
    left = len(suite.outputs) - len(outputs)
    note = f"{left} output{'s' * (left > 1)} whose prompt the log does not hold: left out"
    return replace(
        suite,
        outputs=outputs,
        template=f"{{{{{_PROMPT}}}}}",
        source="the judge's own prompts, whole",
        system=first[0] if shared else "",
        notes=(*suite.notes, *[note] * bool(left)),
    )


def suite_files(suite: FrozenSuite) -> dict[str, str]:
    """The texts of the suite's files by name, the suite file last.

    Raises:
        LogError, SuiteError: no suite can be made of the log.
    """
    space, flags = suite.space, ("ordinal", "pairwise", "tie", "abstain")
    answers = {"labels": list(space.labels)} | {
        flag: True for flag in flags if getattr(space, flag)
    }
    wordings = {"t1": suite.template}
    for name, more in _WORDINGS:
        wordings[name] = more.format("\0").replace("\0", suite.template.strip("\n"))
    wording = BUILT_IN.measures["within_one_agreement" if space.ordinal else "jss"]
    second = ORDER_POSITIONAL if space.pairwise else REPEAT_FLIP_RATE
    gated = [wording, second, UNPARSED_RATE, *([AGREEMENT] if suite.labelled else [])]
    sizes = tuple(Counter(output.cluster for output in suite.outputs).values())
    table = suite_table(suite.name, answers, {"file": "items.jsonl"}, wordings, gated, sizes)
    table["description"] = f"Frozen outputs of a log of {', '.join(suite.judges)}"[:300]
    if suite.system:
        table["system"] = suite.system
    rows = [_row(output, pairwise=space.pairwise) for output in suite.outputs]
    try:
        form = form_of(table, BUILT_IN.forms, f"suite {suite.name}")
    except SuiteError as error:
        raise LogError(
            f"the judgments on suite {suite.name} make no suite",
            found=error.found,
            expected="a design that a suite can have",
        ) from error
    numbered = list(enumerate(rows, 1))
    list(BUILT_IN.forms[form.kind].items(Stimuli(form, Path("items.jsonl"), numbered)))
    comments = {
        "head": "Outputs that were judged before, frozen: what changes from here on is the judge.",
        "space": "What the judge may answer.",
        "design": f"Asked: {asked_words(table, len(suite.outputs))}",
        "templates": f"The first wording is {suite.source}.\n"
        "# The others ask for the same in a few words more: wordings of your own are better.",
    }
    items = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    labelled = sum(output.label is not None for output in suite.outputs)
    text = written_suite(table, comments, _COUNTED, compared_words(table, sizes, labelled))
    return {"items.jsonl": items, f"{suite.name}.suite.toml": text}


def _row(output: JudgedOutput, *, pairwise: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"id": output.item, "cluster": output.cluster}
    if output.label is not None:
        row["label"] = output.label
    fields = dict(output.fields)
    if not pairwise:
        return row | fields
    row |= {"task": fields.pop("task", ""), "texts": [fields.pop("a"), fields.pop("b")]}
    return row | ({"fields": fields} if fields else {})


def recognised(suite: FrozenSuite) -> Iterator[str]:
    """What the suite was made of, in lines."""
    verdicts = Counter(output.verdict or "none" for output in suite.outputs)
    counts = ", ".join(f"{verdict} {count}" for verdict, count in sorted(verdicts.items()))
    outputs, clusters = len(suite.outputs), len({output.cluster for output in suite.outputs})
    size = f"{outputs} output{'s' * (outputs > 1)} in {clusters} cluster{'s' * (clusters > 1)}"
    yield f"{size}; verdicts of the log: {counts}"
    yield f"wording t1 is {suite.source}"
    labels = sum(output.label is not None for output in suite.outputs)
    if not suite.labelled:
        yield f"grades of people: {labels or 'none'}; agreement is gated where every output has one"
    yield from suite.notes
