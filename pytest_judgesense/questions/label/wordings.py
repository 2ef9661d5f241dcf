"""Whether the wordings of a suite ask the same, said by a judge.

A judge screens template pairs for equivalence; people decide. The question is a suite like any
other: its items are the template pairs of the suite, its labels YES, NO and UNSURE. So it is
recorded, replayed and parsed like any suite. The answer has rows for the suite file's
``equivalence``, together with the reviews that it already has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.output import toml_text
from pytest_judgesense.judges.spec import Prompts
from pytest_judgesense.questions.label.asked_aside import AskedAside, suite_aside
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import CallPlan
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.questions.terms import AskingTerms
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.suite import Suite, Template
from pytest_judgesense.trial import Judgment, JudgmentOutcome, Verdict

# The recording has this name.
_CALLED: Final = "equivalence"
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
_Pair = tuple[str, str]


@dataclass(frozen=True)
class WordingsQuestion:
    """Do the compared templates of a suite ask the same?

    The judge is called without its prompts and system prompt.

    Attributes:
        suite: a suite by name, or its file.
        judge: by name; the one that the project declares if ``None``.
        terms: how it is asked.
        place: where suites and recordings are.
    """

    suite: str
    judge: str | None = None
    terms: AskingTerms = field(default_factory=AskingTerms)
    place: Place = field(default_factory=Place)

    def plan(self) -> CallPlan:
        """The calls to be made and their price; nothing is asked."""
        return self._asked(self._compared_suite()).plan()

    def answer(self) -> WordingsAnswer:
        """What the judge says of each pair.

        Raises:
            UsageError: the suite compares no two templates.
            CassetteError: the judge is not recorded, and may not be asked.
            LimitReached: a call would pass a limit; the answers so far are recorded.
        """
        suite = self._compared_suite()
        asked = self._asked(suite)
        return WordingsAnswer(
            judge=asked.judge.name,
            suite=suite.name,
            outcomes={_pair_of(judgment): judgment.outcome for judgment in asked.judgments()},
            reviewer=asked.judge.slug,
            reviews={review.pair: review.verdicts for review in suite.reviews},
            reviewers=suite.reviewers,
        )

    def _compared_suite(self) -> Suite:
        suite = self.place.suite(self.suite)
        if not suite.compared_pairs:
            raise UsageError(
                f"suite {suite.name} compares no two templates",
                found=f"templates: {listed(template.id for template in suite.templates) or 'none'}",
                expected="two templates or more, of a kind with paraphrases",
                remedy="add a [[templates]] with another wording",
            )
        return suite

    def _asked(self, suite: Suite) -> AskedAside:
        judge = self.place.judge(self.judge)
        question = suite_aside(
            suite,
            _CALLED,
            self.place,
            space=DecisionSpace(("YES", "NO", "UNSURE")),
            system=_SYSTEM,
            templates=(_QUESTION,),
            items=tuple(_items(suite)),
            orders="ab",
            replicates=1,
            reviews=(),
            reviewers={},
        )
        asked_alone = replace(judge, prompts=Prompts(), system=None)
        words = ["judgesense", "label", self.suite, "--wordings"]
        return AskedAside(asked_alone, question, self.suite, words, self.place, self.terms)


def _items(suite: Suite) -> Iterator[Item]:
    """The compared pairs, each as an item."""
    templates = {template.id: template for template in suite.templates}
    for a, b in suite.compared_pairs:
        first, second = templates[a], templates[b]
        polarity = _EXCHANGED if first.polarity != second.polarity else ""
        fields = {"first": first.text, "second": second.text, "polarity": polarity}
        yield Item(f"{a}~{b}", f"{a}~{b}", fields)


def _pair_of(judgment: Judgment) -> _Pair:
    first, _, second = judgment.trial.item.partition("~")
    return first, second


@dataclass(frozen=True)
class WordingsAnswer(QuestionAnswer):
    """What a judge says of the compared pairs of a suite's templates.

    Attributes:
        judge: who says it.
        suite: its name.
        outcomes: by pair a verdict, ``YES``, ``NO`` or ``UNSURE``; or why there is none.
        reviewer: the judge as a reviewer of the suite file.
        reviews: what the suite file has already, by pair and reviewer.
        reviewers: of the suite file, with what each is.
    """

    judge: str
    suite: str
    outcomes: Mapping[_Pair, JudgmentOutcome]
    reviewer: str
    reviews: Mapping[_Pair, Mapping[str, str]]
    reviewers: Mapping[str, str]

    def lines(self) -> Iterator[str]:
        """TOML: the verdicts as comments, and the rows of ``equivalence`` to paste."""
        counts = Counter(_verdict(outcome) or "no verdict" for outcome in self.outcomes.values())
        shown = ", ".join(f"{counts[word]} {word}" for word in sorted(counts))
        pairs = f"{len(self.outcomes)} template pairs of {self.suite}"
        yield f"# judge {self.judge} on {pairs}: {shown}"
        for (first, second), outcome in self.outcomes.items():
            if not isinstance(outcome, Verdict):
                yield f"# {first}~{second}: no verdict, {outcome.reason}"
        if self.reviewers:
            yield f"reviewers = {toml_text(self._all_reviewers())}"
        yield "equivalence = ["
        yield from (f"    {toml_text(row)}," for row in self.rows())
        yield "]"

    def to_dict(self) -> Mapping[str, Any]:
        """The verdicts, and the tables of the suite file."""
        return {
            "judge": self.judge,
            "suite": self.suite,
            "verdicts": [
                {"pair": list(pair), "verdict": _verdict(outcome), "reason": _reason(outcome)}
                for pair, outcome in self.outcomes.items()
            ],
            "reviewers": self._all_reviewers(),
            "equivalence": self.rows(),
        }

    def rows(self) -> list[dict[str, Any]]:
        """The rows of ``equivalence``: what reviewers have said, and the judge."""
        reviews = {pair: dict(verdicts) for pair, verdicts in self.reviews.items()}
        for (first, second), outcome in self.outcomes.items():
            if isinstance(outcome, Verdict):
                turned = (second, first)
                pair = turned if turned in reviews else (first, second)
                reviews.setdefault(pair, {})[self.reviewer] = outcome.value
        return [{"pair": list(pair), "reviews": verdicts} for pair, verdicts in reviews.items()]

    def _all_reviewers(self) -> dict[str, str]:
        return {**self.reviewers, self.reviewer: "model"}


def _verdict(outcome: JudgmentOutcome) -> str | None:
    return outcome.value if isinstance(outcome, Verdict) else None


def _reason(outcome: JudgmentOutcome) -> str | None:
    """Why there is no verdict; ``None`` if there is one."""
    return None if isinstance(outcome, Verdict) else outcome.reason
