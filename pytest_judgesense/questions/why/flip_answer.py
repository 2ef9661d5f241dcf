"""The answer to why a verdict flipped: a search with its verdicts, on a screen and in a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.questions.why.flip import Flip, label_of
from pytest_judgesense.questions.why.flip_words import (
    cause_lines,
    changes_words,
    ends_words,
    verdicts_at_ends,
)
from pytest_judgesense.questions.why.prompt_path import PromptPath
from pytest_judgesense.stats.bisection import AFRESH, Cause, CauseSearch, Contrast
from pytest_judgesense.text.layout import indented


@dataclass(frozen=True)
class FlipAnswer(QuestionAnswer):
    """Which change turns the verdict, or that none does.

    Attributes:
        flip: the two ends.
        path: the changes between their prompts.
        search: the verdicts on hybrids of the two, and what they have come to.
    """

    flip: Flip
    path: PromptPath
    search: CauseSearch

    called: ClassVar[str] = "cause"  # in the line about its file

    @property
    def cause(self) -> Cause:
        """What turns the verdict, as far as the answers tell."""
        return self.search.cause

    def lines(self) -> Iterator[str]:
        """The ends, how far they are apart, and what the search has come to."""
        yield from indented(ends_words(self.flip), width=0)
        yield f"  {changes_words(self.path)}"
        yield from cause_lines(self.flip, self.path, self.search)

    def to_dict(self) -> Mapping[str, Any]:
        """The ends, the changes, what was asked of each, and what it came to."""
        cause, search = self.cause, self.search
        return {
            "judge": self.flip.judge.name,
            "ends": self._plain_ends(),
            "unit": self.path.unit,
            "changes": [
                {"part": change.part, "removed": change.removed, "added": change.added}
                for change in self.path.changes
            ],
            "outcome": cause.outcome,
            "p_ends": cause.p_ends,
            "change": cause.change,
            "probability": cause.probability,
            "span": None if cause.span is None else list(cause.span),
            "alone": cause.alone,
            "needed": list(cause.needed),
            "complete": cause.complete,
            "afresh": [_plain_contrast(contrast) for contrast in (*search.turns, *search.members)],
            "turned": None if cause.turned is None else cause.turned.label,
            "curve": [
                {"made": point.made, "count": point.count, "asked": point.asked}
                for point in cause.curve
            ],
            "answers": [
                {"made": list(answer.hybrid), "verdict": answer.verdict}
                for answer in search.answers
            ],
        }

    def text(self, path: Path) -> str:
        """What a file of the answer holds.

        Raises:
            UsageError: it is to be in another form than JSON.
        """
        if path.suffix != ".json":
            raise UsageError(
                "the cause of a flip cannot be written in this form",
                found=f"the suffix {path.suffix!r}",
                expected="a file that ends in .json",
            )
        return json.dumps(self.to_dict(), indent=2) + "\n"

    def _plain_ends(self) -> list[dict[str, Any]]:
        ends = zip((self.flip.old, self.flip.new), verdicts_at_ends(self.search), strict=True)
        return [
            {
                "name": end.name,
                "trial": end.judgment.trial.id,
                "recorded": label_of(end.judgment),
                "asked_again": verdicts,
            }
            for end, verdicts in ends
        ]


def _plain_contrast(contrast: Contrast) -> dict[str, Any]:
    """Eight answers without a change and eight with it, as a file holds them."""
    without, made = contrast.counts
    return {
        "without": {"made": list(contrast.without), "count": without, "asked": AFRESH},
        "with": {"made": list(contrast.made), "count": made, "asked": AFRESH},
        "p": contrast.p,
        "confirmed": contrast.is_confirmed,
    }
