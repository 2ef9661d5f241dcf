"""``judgesense label``: the labels that a temperature suite lacks, given by a judge.

The judge is shown what the best template of the suite shows (a reference answer if the items have
one), in both presentation orders, at the lowest temperature and with the replicates of the design,
as a suite ``labels-NAME``. The label of an item is what more than half of its verdicts say, by
content; without such a majority it gets none. Its labels are marked as the judge's.
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pytest_judgesense.commands.equivalence import measured_aside
from pytest_judgesense.commands.options import add_asking, judges, show
from pytest_judgesense.commands.options import suite as suite_of
from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measurement import Measurement, Mode
from pytest_judgesense.output import write_text
from pytest_judgesense.suites.loading import stimuli_of
from pytest_judgesense.suites.suite import Suite, Template
from pytest_judgesense.trial import Failed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the judge, the suite and the file to write."""
    add_asking(parser, "a temperature suite")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Have a judge label the items that have no label."""
    (judge,) = judges(options, [options.judge_name])
    suite = suite_of(options, labelled=False)
    folder, mode = options.judge_cassettes, options.judge_mode
    return show(label_items(judge, suite, stimuli_of(suite), options.output, folder, mode))


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
        judge: gives the labels.
        suite: a temperature suite, loaded with items that lack labels.
        stimuli: its JSON Lines file.
        target: the file to write: the same lines, those that were labelled with ``label`` and
            ``gold = "judge:NAME"``.
        cassettes: folder of the recordings.
        mode: ``replay``, or ``record`` to ask what is not recorded.

    Returns:
        Lines that say how many were labelled, and which have no majority.

    Raises:
        UsageError: the suite is of another kind, every item has its label, or no template shows
            both candidates.
        JudgesenseError: as `measurement.measure`; the file cannot be written.
    """
    command = f"label {shlex.quote(str(suite.path))} -o {shlex.quote(str(target))}"
    given = _votes(measured_aside(judge, _labels_wanted(suite), command, cassettes, mode))
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
        # Its verdicts are read, its estimates are not.
        form=BUILT_IN.default.loaded(),
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
    return next((label for label, n in votes.items() if 2 * n > votes.total()), None)
