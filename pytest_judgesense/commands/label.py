"""``judgesense label``: the labels that a temperature suite lacks, given by a judge.

The judge is shown the best template of the suite (with a reference answer if the items have one),
in both presentation orders, at the lowest temperature and with the replicates of the design, as a
suite ``labels-NAME``. The label of an item is the content that more than half of its verdicts
choose; without such a majority the item gets no label. The labels are marked as the judge's.
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator

from pytest_judgesense.commands.equivalence import measured_aside
from pytest_judgesense.commands.options import FILE, OUTPUT, add_asking, judge_and_suite
from pytest_judgesense.errors import UsageError
from pytest_judgesense.files import read_text
from pytest_judgesense.output import write_text
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.loading import stimuli_of
from pytest_judgesense.suites.suite import Suite, Template
from pytest_judgesense.trial import Failed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the judge, the suite and the file to write."""
    add_asking(parser, "a temperature suite")
    parser.add_argument("-o", "--output", required=True, help=OUTPUT, **FILE)


def run(options: argparse.Namespace) -> Iterator[str]:
    """Have a judge label the items that have no label, and write the lines of all items.

    Labelled items get ``label`` and ``gold = "judge:NAME"``. Returns how many were labelled, and
    which have no majority.
    """
    judge, suite = judge_and_suite(options, labelled=False)
    target, source = options.output, stimuli_of(suite)
    if source.suffix != ".jsonl":
        raise UsageError(
            f"the items of suite {suite.name} cannot be written with labels",
            found=str(source),
            expected="JSON Lines, to which labels are added line by line",
            remedy="write the items as .jsonl, each with its id",
        )
    command = f"label {shlex.quote(str(suite.path))} -o {shlex.quote(str(target))}"
    asking = {
        "items": _unlabelled(suite),
        "templates": (_template(suite),),
        "orders": "both",
        "temperatures": suite.temperatures[:1],
    }
    votes_by_item: dict[str, Counter[str]] = defaultdict(Counter)
    for judgment in measured_aside(options, judge, suite, "labels", command, **asking).judgments:
        votes = votes_by_item[judgment.trial.item]
        if judgment.chosen is not None and not isinstance(judgment.outcome, Failed):
            votes[judgment.chosen] += 1
    labels = {
        item: label
        for item, votes in votes_by_item.items()
        for label, count in votes.items()
        if 2 * count > votes.total()
    }
    lines = []
    for text in read_text(source).split("\n"):
        if not text.strip():
            continue
        line = json.loads(text)
        if label := labels.get(line["id"]):
            line |= {"label": label, "gold": f"judge:{judge.name}"}
        lines.append(json.dumps(line, ensure_ascii=False) if label else text)
    write_text(target, "".join(f"{line}\n" for line in lines))
    shown = Counter(labels.values())
    counts = ", ".join(f"{label}: {shown[label]}" for label in sorted(shown))
    of_items = f"{len(labels)} of {len(votes_by_item)} items"
    yield f"judge {judge.name} labelled {of_items} ({counts}): {target}"
    for item, votes in votes_by_item.items():
        if item not in labels:
            summary = ", ".join(f"{votes[vote]} {vote}" for vote in sorted(votes)) or "no verdict"
            yield f"  {item}: no majority ({summary}); write its label by hand, or leave it out"


def _unlabelled(suite: Suite) -> tuple[Item, ...]:
    unlabelled = tuple(item for item in suite.items if item.label is None)
    if suite.form.labelled is None or not unlabelled:
        every = f"{len(suite.items)} items, each with its label"
        raise UsageError(
            f"suite {suite.name} has no label to be given",
            found=f"kind {suite.kind!r}" if suite.form.labelled is None else every,
            expected="a temperature suite with items that have no label",
        )
    return unlabelled


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
        showing,
        key=lambda t: (
            t.condition.get("judge_type") != "reference",
            t.condition.get("prompt_style") != "reasoned",
            t.id,
        ),
    )
