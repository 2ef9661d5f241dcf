"""What is done before a suite is trusted: lint, and what a judge says of its wordings and labels.

A judge screens template pairs for equivalence; people decide. The question is a suite like any
other: its items are the template pairs of the suite in question, its labels YES, NO and UNSURE. So
it is asked, recorded, replayed and parsed like one. What comes back are rows of the suite file's
``equivalence``, with the reviews that stand there already.

A reference judge gives the labels that a temperature suite lacks, marked as its own. It is shown
what the best template of the suite shows (a reference answer if the items have one), in both
presentation orders, at the lowest temperature and with the replicates of the design, as a suite
``labels-NAME``. The label of an item is what more than half of its verdicts say, by content;
without such a majority it gets none.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Final

from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.checks.outcome import lint_suite
from pytest_judgesense.errors import JudgesenseError, UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.paraphrase.stimuli import PARAPHRASE
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.spec import JudgeSpec, Prompts
from pytest_judgesense.measurement import Measurement, Mode, measure
from pytest_judgesense.output import write_text
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.loading import load_suite, presets_of
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.suite import Suite, Template
from pytest_judgesense.trial import Failed, Verdict

__all__ = ["label_items", "lint_report", "screen_equivalence"]

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
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def lint_report(paths: Iterable[Path], registry: Registry = BUILT_IN) -> tuple[list[str], int, int]:
    """What is wrong with suites and their presets, in lines; a finding stands once a file.

    Returns:
        The lines, the last of them a summary; how many errors there are; how many files cannot be
        read.
    """
    kinds = registry.forms
    lines: list[str] = []
    found = {"error": 0, "warning": 0}
    suites = broken = 0
    for path in paths:
        told: set[tuple[str, str, str]] = set()
        try:
            for preset in (None, *presets_of(path, kinds)):
                suite = load_suite(path, preset, kinds)
                suites += 1
                all_found = lint_suite(suite, registry)
                new = [finding for finding in all_found if finding.key not in told]
                told |= {finding.key for finding in new}
                if new or preset is None:
                    lines.append(f"{suite.name}:{'' if new else ' nothing found'}")
                for finding in new:
                    found[finding.severity] += 1
                    lines += [f"  {line}" for line in finding.lines]
        except JudgesenseError as error:
            broken += 1
            lines += [f"{path}: broken", *(f"  {line}" for line in str(error).splitlines())]
    counted = [(suites, "suite or preset"), *((found[word], word) for word in found)]
    counted += [(broken, "broken file")] if broken else []
    plural = {"suite or preset": "suites and presets"}
    total = [f"{n} {word if n == 1 else plural.get(word, word + 's')}" for n, word in counted]
    return [*lines, ", ".join(total)], found["error"], broken


def screen_equivalence(
    judge: JudgeSpec, suite: Suite, cassettes: Path, mode: Mode = "replay"
) -> Iterator[str]:
    """Ask ``judge`` whether the compared template pairs of ``suite`` are equivalent.

    Args:
        judge: who is asked; its own prompts and system prompt are left aside.
        suite: whose template pairs.
        cassettes: folder of the recordings; it is recorded like a suite ``equivalence-NAME``.
        mode: ``replay``, or ``record`` to ask what is not recorded.

    Returns:
        Lines of TOML: what was said, and the rows of ``equivalence`` to paste.

    Raises:
        JudgesenseError: as `measurement.measure`.
    """
    asked_alone = replace(judge, prompts=Prompts(), system=None)
    found = _measured(
        asked_alone, _question(suite), f"equivalence {shlex.quote(suite.name)}", cassettes, mode
    )
    said = {tuple(judgment.trial.item.split("~")): judgment.outcome for judgment in found.judgments}
    counts = Counter(getattr(outcome, "value", "no verdict") for outcome in said.values())
    shown = ", ".join(f"{counts[word]} {word}" for word in sorted(counts))
    yield f"# judge {judge.name} on {len(said)} template pairs of {suite.name}: {shown}"
    reviews: dict[tuple[str, ...], dict[str, str]] = {
        review.pair: dict(review.verdicts) for review in suite.reviews
    }
    for (a, b), outcome in said.items():
        if isinstance(outcome, Verdict):
            known = (b, a) if (b, a) in reviews else (a, b)
            reviews.setdefault(known, {})[judge.slug] = outcome.value
        else:
            yield f"# {a}~{b}: no verdict, {outcome.reason}"
    yield "equivalence = ["
    for pair, verdicts in reviews.items():
        yield f"    {{ pair = {json.dumps(list(pair))}, reviews = {_inline(verdicts)} }},"
    yield "]"


def _inline(verdicts: Mapping[str, str]) -> str:
    def key(name: str) -> str:
        return name if _BARE.fullmatch(name) else json.dumps(name)

    pairs = ", ".join(f'{key(name)} = "{verdict}"' for name, verdict in verdicts.items())
    return f"{{ {pairs} }}"


def _measured(
    judge: JudgeSpec, question: Suite, command: str, cassettes: Path, mode: Mode
) -> Measurement:
    path = cassettes / judge.slug / f"{question.base}.jsonl"
    again = f"judgesense {command} --judge-name "
    again += f"{shlex.quote(judge.called or judge.name)} --judge-mode record"
    here = Recorder(uuid.uuid4().hex, os.getpid(), shlex.join(sys.argv))
    loop = AskingLoop()
    try:
        with recording_alone(path, here) if mode == "record" else nullcontext():
            return measure(
                judge,
                question,
                {question.base: path},
                loop,
                mode=mode,
                how_to_record=f"record it: {again}",
            )
    finally:
        loop.close()


def _question(suite: Suite) -> Suite:
    """The suite that asks whether the compared templates of ``suite`` are equivalent."""
    templates = {template.id: template for template in suite.templates}

    def item(a: str, b: str) -> Item:
        first, second = templates[a], templates[b]
        exchanged = first.polarity != second.polarity
        return Item(
            id=f"{a}~{b}",
            cluster=f"{a}~{b}",
            fields={
                "first": first.text,
                "second": second.text,
                "polarity": _EXCHANGED if exchanged else "",
            },
        )

    return replace(
        suite,
        name=f"equivalence-{suite.name}",
        base=f"equivalence-{suite.base}",
        form=PARAPHRASE,
        space=DecisionSpace(("YES", "NO", "UNSURE")),
        system=_SYSTEM,
        templates=(_QUESTION,),
        items=tuple(item(a, b) for a, b in suite.compared_pairs),
        pairs="all",
        orders="ab",
        replicates=1,
        checks=(),
        reviews=(),
    )


def label_items(
    judge: JudgeSpec,
    suite: Suite,
    stimuli: Path,
    target: Path,
    cassettes: Path,
    mode: Mode = "replay",
) -> Iterator[str]:
    """Have ``judge`` label the items of ``suite`` that have no label, and write all items.

    Args:
        judge: who gives the labels.
        suite: a temperature suite, loaded with items that lack labels.
        stimuli: its JSON Lines file; further lines of it are kept as they are.
        target: the file to write: the same lines, those that were labelled with ``label`` and
            ``gold = "judge:NAME"``.
        cassettes: folder of the recordings.
        mode: ``replay``, or ``record`` to ask what is not recorded.

    Returns:
        What there is to tell, in lines.

    Raises:
        UsageError: the suite is of another kind, every item has its label, or no template shows
            both candidates.
        JudgesenseError: as `measurement.measure`; the file cannot be written.
    """
    command = f"label {shlex.quote(str(suite.path))} -o {shlex.quote(str(target))}"
    given = _votes(_measured(judge, _labels_wanted(suite), command, cassettes, mode))
    labels = {item: label for item, votes in given.items() if (label := _majority(votes))}
    lines = []
    for text in stimuli.read_text(encoding="utf-8").split("\n"):
        line = json.loads(text) if text.strip() else None
        if line is not None and line["id"] in labels:
            line |= {"label": labels[line["id"]], "gold": f"judge:{judge.name}"}
            lines.append(json.dumps(line, ensure_ascii=False))
        elif text.strip():
            lines.append(text)
    write_text(target, "".join(f"{line}\n" for line in lines))
    shown = Counter(labels.values())
    counts = ", ".join(f"{label}: {shown[label]}" for label in sorted(shown))
    yield f"judge {judge.name} labelled {len(labels)} of {len(given)} items ({counts}): {target}"
    for item, votes in given.items():
        if item not in labels:
            said = ", ".join(f"{votes[vote]} {vote}" for vote in sorted(votes)) or "no verdict"
            yield f"  {item}: no majority ({said}); write its label by hand, or leave it out"


def _labels_wanted(suite: Suite) -> Suite:
    """The suite that asks for the labels."""
    unlabelled = tuple(item for item in suite.items if item.label is None)
    if suite.form.labelled is None or not unlabelled:
        raise UsageError(
            f"suite {suite.name} has no label to be given",
            found=f"kind {suite.kind!r}"
            if suite.form.labelled is None
            else f"{len(suite.items)} items, each with its label",
            expected="a temperature suite with items that have no label",
        )
    return replace(
        suite,
        name=f"labels-{suite.name}",
        base=f"labels-{suite.base}",
        items=unlabelled,
        templates=(_template(suite),),
        # What is estimated of it is looked at by nobody: its verdicts are.
        form=PARAPHRASE,
        pairs="all",
        orders="both",
        temperatures=suite.temperatures[:1],
        checks=(),
    )


def _template(suite: Suite) -> Template:
    """The one that shows most: a reference before none, a reason before a verdict alone."""
    showing = [template for template in suite.templates if not template.single]
    if not showing:
        raise UsageError(
            f"suite {suite.name} has no template that asks for a label",
            found="single-answer grading alone",
            expected='a template with judge_type = "reference" or "pairwise"',
        )
    return min(
        showing, key=lambda t: (t.judge_type != "reference", t.prompt_style != "reasoned", t.id)
    )


def _votes(found: Measurement) -> dict[str, Counter[str]]:
    votes: dict[str, Counter[str]] = {}
    for judgment in found.judgments:
        counted = votes.setdefault(judgment.trial.item, Counter())
        if judgment.chosen is not None and not isinstance(judgment.outcome, Failed):
            counted[judgment.chosen] += 1
    return votes


def _majority(votes: Counter[str]) -> str | None:
    if not votes:
        return None
    label, most = votes.most_common(1)[0]
    return label if 2 * most > votes.total() else None
