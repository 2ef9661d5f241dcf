"""What a person who labels sees of the prompt that a function has in its own code.

The templates of a suite may never be sent by a function, so the page shows those words of its
recorded requests that several items share. Only the first request of a trial counts: a later one
may quote the answer to it, and a person is blind to answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from pytest_judgesense.cassettes.exchange import CALL, RecordedRequest
from pytest_judgesense.checks.asked import requests_of, text_of, texts_held
from pytest_judgesense.checks.shared_prompt import (
    SentPrompt,
    SentTrial,
    WordingPrompts,
    item_texts,
    shared_prompts,
)
from pytest_judgesense.judges.remembered import recorded_trials
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial

_IN_CODE: Final = "What the judge asks is in its own code"
NOTHING_SENT: Final = f"Nothing was sent yet. {_IN_CODE}, and stands here once it is recorded."
NO_REQUEST: Final = f"No request is recorded. {_IN_CODE}; below is what it was given."


class ShownPrompt(NamedTuple):
    """What is shown of a prompt.

    Attributes:
        system: the system prompt.
        words: the prompt with its ``{{places}}``.
        fields: which fields of the item stand in it.
        notice: what is to be known of it; empty for nothing.
    """

    system: str
    words: str
    fields: frozenset[str]
    notice: str = ""


@dataclass(frozen=True, slots=True)
class SentQuestions:
    """The prompts of a function on a suite, as its recording has them.

    Attributes:
        prompts: by wording.
        fields: by item those that its first request holds.
        notice: why there are no prompts; empty where there are.
    """

    prompts: Mapping[str, WordingPrompts]
    fields: Mapping[str, frozenset[str]]
    notice: str = ""

    @classmethod
    def of(cls, suite: Suite, judges: Iterable[JudgeSpec], cassettes: Path) -> SentQuestions | None:
        """Those of the first of the judges that is recorded on the suite.

        ``None`` where a judge is sent the templates of the suite, and where there is no judge.

        Raises:
            CassetteError: a recording cannot be read.
        """
        functions = list(judges)
        if not functions or any(judge.provider != "callable" for judge in functions):
            return None
        trials = plan_trials(suite)
        for judge in functions:
            paths = cassettes_in(cassettes, judge.slug, suite.recordings).values()
            recorded = recorded_trials(path for path in paths if path.is_file())
            first = [
                (trial, request)
                for trial in trials
                if (request := _first(requests_of(recorded.get(trial.id, ()))))
            ]
            if first:
                return cls._of_requests(suite, first)
        return cls({}, {}, NOTHING_SENT)

    @classmethod
    def _of_requests(
        cls, suite: Suite, first: Sequence[tuple[Trial, RecordedRequest]]
    ) -> SentQuestions:
        items = {item.id: item for item in suite.items}
        fields = {
            trial.item: frozenset(texts_held(items[trial.item], trial, text_of([request])))
            for trial, request in first
        }
        sent = [
            SentTrial(
                trial.item, trial.template, [request], item_texts(items[trial.item], trial.order)
            )
            for trial, request in first
            if request.method != CALL
        ]
        return cls(shared_prompts(sent), fields, "" if sent else NO_REQUEST)

    def shown(self, item: Item, wording: str) -> ShownPrompt:
        """What is shown about an item; of one that is not recorded, what most items show."""
        fields = self.fields.get(item.id) or self._usual_fields() or self._taken(item)
        of_wording = self.prompts.get(wording) or next(iter(self.prompts.values()), None)
        if of_wording is None:
            return ShownPrompt("", "", fields, self.notice)
        usual = next(iter(of_wording.shared), SentPrompt("", ""))
        prompt = of_wording.by_item.get(item.id, usual)
        return ShownPrompt(prompt.system, prompt.prompt, fields)

    def _usual_fields(self) -> frozenset[str]:
        """The fields that at least half of the requests hold."""
        counts = Counter(name for names in self.fields.values() for name in names)
        least = len(self.fields) / 2
        return frozenset(name for name, count in counts.items() if count >= least)

    @staticmethod
    def _taken(item: Item) -> frozenset[str]:
        """The fields that the function takes, or a template shows."""
        return frozenset(name for name in item.fields if item.taken is None or name in item.taken)


def _first(requests: Iterable[RecordedRequest]) -> RecordedRequest | None:
    """The first request that holds a text."""
    return next((request for request in requests if text_of([request])), None)
