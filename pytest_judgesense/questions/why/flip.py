"""A flip of a judge: two trials of one item, or two recordings of one trial, that say otherwise.

What each of both was asked is told from what was sent, never from a template.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pytest_judgesense.cassettes.exchange import RecordedRequest
from pytest_judgesense.checks.sent import SentPart, parts_sent
from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.why.prompt_path import Prompt, PromptPath, Unit
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment

_TEXTS: Final[tuple[SentPart, ...]] = ("system prompt", "prompt")
# Of two requests, what no change of words explains.
_OTHERS: Final[tuple[SentPart, ...]] = ("endpoint", "model", "settings", "reply form")
_NOT_COMPARED: Final = "seed"


@dataclass(frozen=True, slots=True)
class FlipEnd:
    """One side of a flip.

    Attributes:
        name: of the wording, the order or the recording, where that differs.
        judgment: what was recorded.
        requests: what was sent.
    """

    name: str
    judgment: Judgment
    requests: tuple[RecordedRequest, ...]

    @property
    def texts(self) -> dict[str, str]:
        """The texts that were sent, by the part of the request."""
        parts = parts_sent(self.requests)
        texts = {part: parts.get(part, {}) for part in _TEXTS}
        return {f"{part} {name}": text for part in _TEXTS for name, text in texts[part].items()}


@dataclass(frozen=True, slots=True)
class Flip:
    """Two ends that say otherwise, of one judge.

    Attributes:
        suite: with the prompts of the judge.
        old: as it is asked today, where the ends are two trials; else the earlier recording.
        of_orders: whether the ends differ in the order of presentation.
    """

    judge: JudgeSpec
    suite: Suite
    old: FlipEnd
    new: FlipEnd
    of_orders: bool = False

    @property
    def prompts(self) -> tuple[Prompt, Prompt]:
        """The texts of both ends; a part that one of them lacks is empty there."""
        old, new = self.old.texts, self.new.texts
        parts = dict.fromkeys((*old, *new))
        return tuple({part: texts.get(part, "") for part in parts} for texts in (old, new))  # type: ignore[return-value]

    def path(self, unit: Unit) -> PromptPath:
        """The changes between the two prompts.

        Raises:
            UsageError: the ends were sent the same texts, or differ in more than texts.
        """
        old, new = (parts_sent(end.requests) for end in (self.old, self.new))
        for part in _OTHERS:
            if _compared(old.get(part, {})) != _compared(new.get(part, {})):
                raise UsageError(
                    f"what differs between {self.old.name} and {self.new.name} is no text",
                    found=f"the {part}: {_compared(old.get(part, {}))} and "
                    f"{_compared(new.get(part, {}))}",
                    expected="two requests that differ in their texts alone",
                    remedy="compare them: judgesense compare, or judgesense compare SUITE --judges",
                )
        path = PromptPath.between(*self.prompts, unit)
        if not path.changes:
            raise UsageError(
                f"{self.old.name} and {self.new.name} were sent the same texts",
                found=f"{label_of(self.old.judgment)} and {label_of(self.new.judgment)}",
                expected="two prompts that differ",
                remedy="how often the judge differs with itself is its repeat flip rate: "
                "judgesense explain repeat_flip_rate",
            )
        return path


def label_of(judgment: Judgment) -> str:
    """What a judgment says, in the judge's own terms."""
    return judgment.verdict if judgment.verdict is not None else "no verdict"


def _compared(values: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in values.items() if name.rpartition(".")[-1] != _NOT_COMPARED
    }
