"""Labels that a judge gives to the items of a temperature suite that lack one.

It is shown the best template of the suite (with a reference answer if the items have one), in both
presentation orders, at the lowest temperature and with the replicates of the design, as a suite
``labels-NAME``. The label of an item is the content that more than half of its verdicts choose;
without such a majority the item gets no label. The labels are marked as the judge's.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.questions.label.asked_aside import AskedAside, suite_aside
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import CallPlan
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.questions.terms import AskingTerms
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.loading import stimuli_of
from pytest_judgesense.suites.planning import LABELS
from pytest_judgesense.suites.suite import Suite, Template
from pytest_judgesense.trial import Failed, Judgment


@dataclass(frozen=True)
class JudgeLabelsQuestion:
    """Which labels does a judge give to the items without one?

    Attributes:
        suite: a temperature suite by name, or its file.
        judge: by name.
        output: the file that the lines of all items are for.
        terms: how it is asked.
        place: where suites and recordings are.
    """

    suite: str
    judge: str
    output: Path
    terms: AskingTerms = field(default_factory=AskingTerms)
    place: Place = field(default_factory=Place)

    def plan(self) -> CallPlan:
        """The calls to be made and their price; nothing is asked."""
        return self._asked(self._unlabelled_suite()).plan()

    def answer(self) -> JudgeLabelsAnswer:
        """The labels, and the lines of all items with them.

        Raises:
            UsageError: the suite has no label to be given, or its items are no JSON Lines.
            CassetteError: the judge is not recorded, and may not be asked.
            LimitReached: a call would pass a limit; the answers so far are recorded.
        """
        suite = self._unlabelled_suite()
        asked = self._asked(suite)
        votes = _votes(asked.judgments())
        labels = {item: label for item, of_item in votes.items() if (label := _majority(of_item))}
        text = _labelled_lines(read_text(stimuli_of(suite)), labels, asked.judge.name)
        return JudgeLabelsAnswer(asked.judge.name, suite.name, votes, labels, self.output, text)

    def _unlabelled_suite(self) -> Suite:
        suite = self.place.suite(self.suite, labelled=False)
        source = stimuli_of(suite)
        if source.suffix != ".jsonl":
            raise UsageError(
                f"the items of suite {suite.name} cannot be written with labels",
                found=str(source),
                expected="JSON Lines, to which labels are added line by line",
                remedy="write the items as .jsonl, each with its id",
            )
        return suite

    def _asked(self, suite: Suite) -> AskedAside:
        judge = self.place.judge(self.judge)
        question = suite_aside(
            suite,
            LABELS,
            self.place,
            items=_unlabelled(suite),
            templates=(_best_template(suite),),
            orders="both",
            temperatures=suite.temperatures[:1],
        )
        words = ["judgesense", "label", str(suite.path), "-o", str(self.output)]
        return AskedAside(judge, question, self.suite, words, self.place, self.terms)


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


def _best_template(suite: Suite) -> Template:
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
        key=lambda template: (
            template.condition.get("judge_type") != "reference",
            template.condition.get("prompt_style") != "reasoned",
            template.id,
        ),
    )


def _votes(judgments: Iterable[Judgment]) -> dict[str, Counter[str]]:
    """By item how many verdicts choose which content."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for judgment in judgments:
        of_item = votes[judgment.trial.item]
        if judgment.chosen is not None and not isinstance(judgment.outcome, Failed):
            of_item[judgment.chosen] += 1
    return votes


def _majority(votes: Counter[str]) -> str | None:
    """What more than half of the verdicts choose."""
    return next((label for label, count in votes.items() if 2 * count > votes.total()), None)


def _labelled_lines(source: str, labels: Mapping[str, str], judge: str) -> str:
    """The lines of all items; those with a new label get ``label`` and ``gold = "judge:NAME"``."""
    lines = []
    for text in source.split("\n"):
        if not text.strip():
            continue
        line = json.loads(text)
        if label := labels.get(line["id"]):
            line |= {"label": label, "gold": f"judge:{judge}"}
        lines.append(json.dumps(line, ensure_ascii=False) if label else text)
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True)
class JudgeLabelsAnswer(QuestionAnswer):
    """The labels that a judge gives.

    Attributes:
        judge: who labels.
        suite: its name.
        votes: by item without a label how many verdicts choose which content.
        labels: by item the content with the majority.
        output: the file that ``text`` is for.
        text: the lines of all items, those with a new label marked as the judge's.
    """

    judge: str
    suite: str
    votes: Mapping[str, Counter[str]]
    labels: Mapping[str, str]
    output: Path
    text: str

    def lines(self) -> Iterator[str]:
        """How many were labelled, and which have no majority."""
        shown = Counter(self.labels.values())
        counts = ", ".join(f"{label}: {shown[label]}" for label in sorted(shown))
        of_items = f"{len(self.labels)} of {len(self.votes)} items"
        yield f"judge {self.judge} labelled {of_items} ({counts}): {self.output}"
        for item, votes in self.votes.items():
            if item not in self.labels:
                divided = ", ".join(f"{votes[vote]} {vote}" for vote in sorted(votes))
                summary = divided or "no verdict"
                yield (
                    f"  {item}: no majority ({summary}); write its label by hand, or leave it out"
                )

    def to_dict(self) -> Mapping[str, Any]:
        """The label of each item, ``None`` without a majority, and its votes."""
        return {
            "judge": self.judge,
            "suite": self.suite,
            "items": [
                {"item": item, "label": self.labels.get(item), "votes": dict(votes)}
                for item, votes in self.votes.items()
            ],
        }
